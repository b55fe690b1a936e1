/*
 * ranks_wire.c - frames of ranks_wire.h, written and read.
 */
#include "ranks_wire.h"

#include <string.h>

static void put_u64(uint8_t to[8], uint64_t v)
{
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t get_u64(const uint8_t p[8])
{
    uint64_t v = 0;

    for (int i = 0; i < 8; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static int add_u64(struct trod_buf *out, uint64_t v)
{
    uint8_t bytes[8];

    put_u64(bytes, v);
    return trod_buf_add(out, bytes, sizeof bytes);
}

/* Length, bytes and a zero; no string: the length is TROD_NOWHERE. */
static int add_text(struct trod_buf *out, const void *p, size_t n)
{
    int r = add_u64(out, p ? n : TROD_NOWHERE);

    if (r == 0 && p && n)
        r = trod_buf_add(out, p, n);
    return r == 0 && p ? trod_buf_add(out, "", 1) : r;
}

static int add_string(struct trod_buf *out, const char *s)
{
    return add_text(out, s, s ? strlen(s) : 0);
}

int wire_put(struct trod_buf *out, enum wire_frame what, const void *p, size_t n)
{
    const char letter = (char)what;
    int r = trod_buf_add(out, &letter, 1);

    if (r == 0)
        r = add_u64(out, n);
    return r == 0 && n ? trod_buf_add(out, p, n) : r;
}

int wire_put_number(struct trod_buf *out, enum wire_frame what, uint64_t n)
{
    uint8_t bytes[8];

    put_u64(bytes, n);
    return wire_put(out, what, bytes, sizeof bytes);
}

int wire_put_problem(struct trod_buf *out, const struct trod_problem *p)
{
    const struct trod_place *at = &p->at;
    const uint64_t numbers[] = {
        p->severity, (uint64_t) - (int64_t)p->status, at->offset, at->record, at->line, at->caret};
    struct trod_buf b = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof numbers / sizeof *numbers; i++)
        r = add_u64(&b, numbers[i]);
    if (r == 0)
        r = add_string(&b, p->kind);
    if (r == 0)
        r = add_string(&b, p->message);
    if (r == 0)
        r = add_string(&b, at->path);
    if (r == 0)
        r = add_string(&b, at->member);
    if (r == 0)
        r = add_text(&b, at->text, at->text_len);
    if (r == 0)
        r = wire_put(out, WIRE_PROBLEM, b.p, b.n);
    trod_buf_fini(&b);
    return r;
}

int wire_put_more(struct trod_buf *out, const struct trod_diag_count *count, int status)
{
    const uint64_t numbers[] = {count->severity, (uint64_t) - (int64_t)status,
                                count->n - TROD_DIAG_SHOWN};
    struct trod_buf b = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof numbers / sizeof *numbers; i++)
        r = add_u64(&b, numbers[i]);
    if (r == 0)
        r = add_string(&b, count->kind);
    if (r == 0)
        r = wire_put(out, WIRE_MORE, b.p, b.n);
    trod_buf_fini(&b);
    return r;
}

/* ---- back */

int wire_take(const uint8_t **p, size_t *n, enum wire_frame *what, struct trod_span *text)
{
    uint64_t length;

    if (*n < 9 || (length = get_u64(*p + 1)) > *n - 9)
        return 0;
    *what = (enum wire_frame) * *p;
    *text = (struct trod_span){.p = *p + 9, .n = (size_t)length};
    *p += 9 + length;
    *n -= 9 + (size_t)length;
    return 1;
}

static bool take_u64(struct trod_span *in, uint64_t *v)
{
    if (in->n < 8)
        return false;
    *v = get_u64(in->p);
    in->p += 8;
    in->n -= 8;
    return true;
}

/* A string, which may be missing. *N may be NULL. */
static bool take_text(struct trod_span *in, const char **s, size_t *n)
{
    uint64_t length;

    *s = NULL;
    if (!take_u64(in, &length))
        return false;
    if (length == TROD_NOWHERE)
        return true;
    if (length >= in->n || in->p[length] != '\0')
        return false;
    *s = (const char *)in->p;
    if (n)
        *n = (size_t)length;
    in->p += length + 1;
    in->n -= (size_t)length + 1;
    return true;
}

uint64_t wire_number(struct trod_span text)
{
    uint64_t v = 0;

    take_u64(&text, &v);
    return v;
}

static int status_of(uint64_t negated)
{
    return -(int)(int64_t)negated;
}

int wire_problem(struct trod_span text, struct trod_diag *diag)
{
    uint64_t severity, status, caret;
    const char *kind, *message, *line;
    struct trod_place at = {0};

    if (!take_u64(&text, &severity) || !take_u64(&text, &status) || !take_u64(&text, &at.offset) ||
        !take_u64(&text, &at.record) || !take_u64(&text, &at.line) || !take_u64(&text, &caret) ||
        !take_text(&text, &kind, NULL) || !take_text(&text, &message, NULL) ||
        !take_text(&text, &at.path, NULL) || !take_text(&text, &at.member, NULL) ||
        !take_text(&text, &line, &at.text_len) || !kind || !message || severity > TROD_SEV_ERROR)
        return TROD_ERR_CORRUPT;
    at.text = (const uint8_t *)line;
    at.caret = (size_t)caret;
    trod_diag_report(diag, (enum trod_severity)severity, status_of(status), kind, &at, "%s",
                     message);
    return 0;
}

int wire_more(struct trod_span text, struct trod_diag *diag)
{
    uint64_t severity, status, n;
    const char *kind;

    if (!take_u64(&text, &severity) || !take_u64(&text, &status) || !take_u64(&text, &n) ||
        !take_text(&text, &kind, NULL) || !kind || severity > TROD_SEV_ERROR)
        return TROD_ERR_CORRUPT;
    trod_diag_more(diag, (enum trod_severity)severity, status_of(status), kind, n);
    return 0;
}
