/*
 * buf.h - growable bytes.
 */
#ifndef TROD_BUF_H
#define TROD_BUF_H

#include <stdarg.h>

#include "trod/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_buf {
    uint8_t *p;
    size_t n, cap;
    /* Takes the N bytes at P, 0 or an error; NULL: all bytes stay until the caller takes them. */
    int (*drain)(void *user, const uint8_t *p, size_t n);
    void *user;
};

/* An empty buffer is all zero. Release with trod_buf_fini, empty with b->n = 0. */
void trod_buf_fini(struct trod_buf *b);
/* Make room for N more bytes. Returns 0 or TROD_ERR_NOMEM. */
int trod_buf_reserve(struct trod_buf *b, size_t n);
/* Append N bytes, or a printf-style text without its NUL. Return 0 or TROD_ERR_NOMEM. */
int trod_buf_add(struct trod_buf *b, const void *p, size_t n);
int trod_buf_printf(struct trod_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int trod_buf_vprintf(struct trod_buf *b, const char *fmt, va_list args);
/*
 * What is in B will not be changed any more: if it is much and B has a drain, that takes it and B
 * is empty. For long texts, which need not be in memory as a whole. Returns 0 or the drain's error.
 */
int trod_buf_pour(struct trod_buf *b);

#ifdef __cplusplus
}
#endif

#endif
