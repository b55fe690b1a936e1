/*
 * text.c - text to an output. Implements text.h.
 */
#include "export/text.h"

#include "trod/put.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 1024 };

void export_putn(struct export_text *t, const char *p, size_t n)
{
    if (t->status == 0)
        t->status = trod_output_write(t->out, p, n);
}

void export_put(struct export_text *t, const char *text)
{
    export_putn(t, text, strlen(text));
}

void export_number(struct export_text *t, uint64_t v)
{
    char text[TROD_PUT_U64];

    export_putn(t, text, (size_t)(trod_put_u64(text, v) - text));
}

void export_hex(struct export_text *t, uint64_t v)
{
    char text[2 + 16] = "0x";

    export_putn(t, text, (size_t)(trod_put_hex(text + 2, v, 1) - text));
}

void export_print(struct export_text *t, const char *fmt, ...)
{
    char text[4096];
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n > 0)
        export_putn(t, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void export_json(struct export_text *t, const char *p, size_t n)
{
    char text[6 * PIECE];

    export_put(t, "\"");
    while (n > 0) {
        size_t k = n < PIECE ? n : PIECE;

        /* not in the middle of a character */
        while (k < n && k > PIECE - 4 && ((uint8_t)p[k] & 0xc0) == 0x80)
            k--;
        export_putn(t, text, (size_t)(trod_put_json(text, p, k) - text));
        p += k;
        n -= k;
    }
    export_put(t, "\"");
}

void export_clean(struct export_text *t, const char *text, const char *bad, char instead)
{
    for (const char *from = text;; text++) {
        if (*text && (unsigned char)*text >= ' ' && !strchr(bad, *text))
            continue;
        export_putn(t, from, (size_t)(text - from));
        if (!*text)
            return;
        export_putn(t, &instead, 1);
        from = text + 1;
    }
}
