/*
 * vcd.c - signals as lines of a value change dump (IEEE 1364-2005, 18.2): declared, and written
 * where they have changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/grow.h"
#include "trod/put.h"
#include "waves/waves.h"

enum { LETTERS = 94, LINE = 4 * WAVE_TEXT + 8 * WAVE_WIDEST + 32 };

/* Number N in the printable characters, the least digit first. */
static void identifier(uint64_t n, char *id)
{
    do {
        *id++ = (char)('!' + n % LETTERS);
        n /= LETTERS;
    } while (n > 0);
    *id = '\0';
}

int wave_declare(struct trod_waves *w, struct wave_signal *s, unsigned type, uint32_t bits,
                 const char *name, struct trod_buf *out)
{
    static const char *const types[] = {"wire", "reg", "string"};
    const uint32_t room = type == WAVE_STRING ? WAVE_TEXT : (bits + 7) / 8;

    identifier(w->ids++, s->id);
    s->type = (uint8_t)type;
    s->bits = bits;
    s->size = type == WAVE_STRING ? 0 : room;
    s->on = true;
    s->now = calloc(4, room);
    if (!s->now)
        return TROD_ERR_NOMEM;
    s->known = s->now + room;
    s->was = s->known + room;
    s->was_known = s->was + room;
    w->sum.signals++;
    if (type == WAVE_STRING || bits == 1)
        return trod_buf_printf(out, "$var %s 1 %s %s $end\n", types[type], s->id, name);
    return trod_buf_printf(out, "$var %s %u %s %s [%u:0] $end\n", types[type], bits, s->id, name,
                           bits - 1);
}

static void touch(struct trod_waves *w, struct wave_signal *s)
{
    if (s->dirty)
        return;
    if (!trod_grow(&w->changed, w->n_changed, &w->cap_changed, sizeof(struct wave_signal *), 64)) {
        w->status = TROD_ERR_NOMEM;
        return;
    }
    w->changed[w->n_changed++] = s;
    s->dirty = true;
}

void wave_set(struct trod_waves *w, struct wave_signal *s, const uint8_t *v, const uint8_t *known,
              uint32_t n)
{
    if (!s->on)
        return;
    if (n > s->size)
        n = s->size;
    memcpy(s->now, v, n);
    memset(s->now + n, 0, s->size - n);
    if (known)
        memcpy(s->known, known, n);
    else
        memset(s->known, 0xff, n);
    memset(s->known + n, s->type == WAVE_REG ? 0 : 0xff, s->size - n);
    touch(w, s);
}

void wave_set_number(struct trod_waves *w, struct wave_signal *s, uint64_t v)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(v >> (8 * i));
    wave_set(w, s, bytes, NULL, 8);
}

void wave_set_text(struct trod_waves *w, struct wave_signal *s, const char *p, size_t n)
{
    if (!s->on)
        return;
    while (n > 0 && p[n - 1] == ' ')
        n--;
    s->size = 0;
    for (size_t i = 0; i < n && s->size < WAVE_TEXT; i++)
        if (p[i] != ' ' || (i > 0 && p[i - 1] != ' ')) /* runs of blanks are one */
            s->now[s->size++] = (uint8_t)p[i];
    touch(w, s);
}

/* A text has no blanks in a dump: those and what cannot be printed are octal numbers. */
static char *put_text(char *p, const uint8_t *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t c = s[i];

        if (c > ' ' && c < 0x7f && c != '\\') {
            *p++ = (char)c;
            continue;
        }
        *p++ = '\\';
        if (c == '\\') {
            *p++ = '\\';
            continue;
        }
        *p++ = (char)('0' + (c >> 6));
        *p++ = (char)('0' + (c >> 3 & 7));
        *p++ = (char)('0' + (c & 7));
    }
    return p;
}

/* Bit K of S as a character. */
static char bit(const struct wave_signal *s, uint32_t k)
{
    return !(s->known[k / 8] >> (k % 8) & 1) ? 'x' : s->now[k / 8] >> (k % 8) & 1 ? '1' : '0';
}

/* Leading digits that follow from the one behind them are left out: 0 before 0 or 1, x before x. */
static char *put_bits(char *p, const struct wave_signal *s)
{
    uint32_t k = s->bits - 1;

    while (k > 0 &&
           (bit(s, k) == 'x' ? bit(s, k - 1) == 'x' : bit(s, k) == '0' && bit(s, k - 1) != 'x'))
        k--;
    for (;; k--) {
        *p++ = bit(s, k);
        if (k == 0)
            return p;
    }
}

static int write_signal(struct trod_waves *w, struct wave_signal *s)
{
    char *line, *p;

    if (trod_buf_reserve(w->out, LINE) < 0)
        return TROD_ERR_NOMEM;
    p = line = (char *)w->out->p + w->out->n;
    if (s->type == WAVE_STRING) {
        *p++ = 's';
        p = put_text(p, s->now, s->size);
        *p++ = ' ';
    } else if (s->bits == 1) {
        *p++ = bit(s, 0);
    } else {
        *p++ = 'b';
        p = put_bits(p, s);
        *p++ = ' ';
    }
    memcpy(p, s->id, strlen(s->id));
    p += strlen(s->id);
    *p++ = '\n';
    w->out->n += (size_t)(p - line);
    memcpy(s->was, s->now, s->size);
    if (s->type != WAVE_STRING)
        memcpy(s->was_known, s->known, s->size);
    s->was_size = s->size;
    w->sum.changes++;
    return 0;
}

static bool differs(const struct wave_signal *s)
{
    if (s->size != s->was_size || memcmp(s->now, s->was, s->size) != 0)
        return true;
    return s->type != WAVE_STRING && memcmp(s->known, s->was_known, s->size) != 0;
}

int wave_flush(struct trod_waves *w)
{
    bool any = false;
    int r = w->status;

    for (size_t i = 0; i < w->n_changed; i++) {
        struct wave_signal *s = w->changed[i];

        s->dirty = false;
        if (r < 0 || !differs(s))
            continue;
        if (!any)
            r = trod_buf_printf(w->out, "#%llu\n", (unsigned long long)w->now);
        any = true;
        if (r == 0)
            r = write_signal(w, s);
    }
    w->n_changed = 0;
    return r;
}

static int dump_signal(struct trod_waves *w, struct wave_signal *s)
{
    if (!s->on)
        return 0;
    s->was_size = s->size;
    return s->type == WAVE_STRING ? trod_buf_printf(w->out, "s %s\n", s->id)
           : s->bits == 1         ? trod_buf_printf(w->out, "x%s\n", s->id)
                                  : trod_buf_printf(w->out, "bx %s\n", s->id);
}

int wave_begin_dump(struct trod_waves *w)
{
    int r = trod_buf_printf(w->out, "#%llu\n$dumpvars\n", (unsigned long long)w->now);

    for (uint32_t i = 0; i < w->n_streams; i++) {
        struct wave_stream *s = &w->stream[i];

        for (unsigned k = 0; k < OWNS && r == 0; k++)
            r = dump_signal(w, &s->own[k]);
        for (uint32_t k = 0; k < s->n_regs && r == 0; k++)
            r = dump_signal(w, &s->reg[k]);
    }
    return r == 0 ? trod_buf_printf(w->out, "$end\n") : r;
}
