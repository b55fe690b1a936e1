/*
 * buf.c - growable bytes.
 *
 * Implements trod/buf.h. A buffer doubles as it grows and never shrinks.
 */
#include "trod/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUF_FIRST = 256, BUF_MUCH = 1 << 18 };

void trod_buf_fini(struct trod_buf *b)
{
    free(b->p);
    *b = (struct trod_buf){0};
}

int trod_buf_reserve(struct trod_buf *b, size_t n)
{
    if (n <= b->cap - b->n)
        return TROD_OK;
    if (n > SIZE_MAX / 2 - b->n)
        return TROD_ERR_NOMEM;
    size_t cap = b->cap ? b->cap : BUF_FIRST;
    while (cap < b->n + n)
        cap *= 2;
    uint8_t *p = realloc(b->p, cap);
    if (!p)
        return TROD_ERR_NOMEM;
    b->p = p;
    b->cap = cap;
    return TROD_OK;
}

int trod_buf_add(struct trod_buf *b, const void *p, size_t n)
{
    if (n == 0)
        return TROD_OK;
    if (trod_buf_reserve(b, n) != TROD_OK)
        return TROD_ERR_NOMEM;
    memcpy(b->p + b->n, p, n);
    b->n += n;
    return TROD_OK;
}

int trod_buf_vprintf(struct trod_buf *b, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    /* the NUL that vsnprintf writes needs room too, though it is no part of the text */
    const size_t room = b->cap - b->n;
    const int n = vsnprintf(room ? (char *)b->p + b->n : NULL, room, fmt, args);
    int status = n < 0 ? TROD_ERR_NOMEM : TROD_OK;
    if (status == TROD_OK && (size_t)n >= room) {
        status = trod_buf_reserve(b, (size_t)n + 1);
        if (status == TROD_OK)
            vsnprintf((char *)b->p + b->n, (size_t)n + 1, fmt, again);
    }
    if (status == TROD_OK)
        b->n += (size_t)n;
    va_end(again);
    return status;
}

int trod_buf_printf(struct trod_buf *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int status = trod_buf_vprintf(b, fmt, args);
    va_end(args);
    return status;
}

int trod_buf_pour(struct trod_buf *b)
{
    const size_t n = b->n;

    if (!b->drain || n < BUF_MUCH)
        return TROD_OK;
    b->n = 0;
    return b->drain(b->user, b->p, n);
}
