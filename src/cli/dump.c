/*
 * dump.c - bytes of memory in a report: the bytes, and where they are known from. Implements
 * dump.h.
 */
#include "dump.h"

#include <stdio.h>

const char *cli_dump_source(unsigned from)
{
    static const char *const names[] = {"unknown",    "written",  "read",
                                        "read later", "untraced", "always"};

    return names[from];
}

void cli_dump_line(struct trod_emit *e, uint64_t base, const struct trod_nav_byte *bytes,
                   uint64_t lo, uint64_t hi)
{
    char hex[3 * CLI_DUMP + 1], text[CLI_DUMP + 1];
    char *p = hex, *q = text;

    for (unsigned k = 0; k < CLI_DUMP; k++) {
        const uint64_t at = base + k;
        const bool in = at >= lo && at <= hi;
        const struct trod_nav_byte *b = in ? &bytes[at - lo] : NULL;

        p += snprintf(p, 4, k ? " " : "");
        if (!in)
            p += snprintf(p, 4, "  ");
        else if (b->from == TROD_NAV_UNKNOWN)
            p += snprintf(p, 4, "--");
        else
            p += snprintf(p, 4, "%02x", b->value);
        *q++ = (char)(!in                                ? ' '
                      : b->from == TROD_NAV_UNKNOWN      ? '-'
                      : b->value >= 32 && b->value < 127 ? b->value
                                                         : '.');
    }
    *q = '\0';
    while (p > hex && p[-1] == ' ')
        *--p = '\0';
    while (q > text && q[-1] == ' ')
        *--q = '\0';
    trod_emit_hex(e, NULL, base);
    trod_emit_str(e, NULL, hex);
    trod_emit_str(e, NULL, text);
    trod_emit_row_end(e);
}

void cli_dump_sources(struct trod_emit *e, const struct trod_nav_byte *bytes, uint64_t lo, size_t n)
{
    static const char *const columns[] = {"address", "bytes", "known_from", "row", "since"};

    trod_emit_table(e, "sources", "where from", columns, 5);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && bytes[end].from == bytes[i].from &&
                          bytes[end].row == bytes[i].row && bytes[end].since == bytes[i].since;)
            end++;
        trod_emit_hex(e, NULL, lo + i);
        trod_emit_u64(e, NULL, end - i);
        trod_emit_str(e, NULL, cli_dump_source(bytes[i].from));
        if (bytes[i].row != TROD_NOWHERE)
            trod_emit_u64(e, NULL, bytes[i].row);
        else
            trod_emit_absent(e);
        if (bytes[i].since != TROD_NOWHERE)
            trod_emit_u64(e, NULL, bytes[i].since);
        else
            trod_emit_absent(e);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

void cli_dump_bytes(struct trod_emit *e, const struct trod_nav_byte *b, size_t n)
{
    char text[3 * CLI_DUMP + 1] = "", *p = text;

    for (size_t i = 0; i < n; i++)
        p += b[i].from == TROD_NAV_UNKNOWN ? snprintf(p, 4, "%s--", i ? " " : "")
                                           : snprintf(p, 4, "%s%02x", i ? " " : "", b[i].value);
    trod_emit_str(e, NULL, text);
}

const char *cli_dump_number(char *out, const uint8_t *value, const uint8_t *known, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    char *p = out;

    *p++ = '0';
    *p++ = 'x';
    for (size_t i = 2 * n; i-- > 0;) {
        const unsigned shift = i % 2 * 4;

        *p++ = (known[i / 2] >> shift & 15) == 15 ? digits[value[i / 2] >> shift & 15] : '-';
    }
    *p = '\0';
    return out;
}
