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
};

/* An empty buffer is all zero. Release with trod_buf_fini, empty with b->n = 0. */
void trod_buf_fini(struct trod_buf *b);
/* Make room for N more bytes. Returns 0 or TROD_ERR_NOMEM. */
int trod_buf_reserve(struct trod_buf *b, size_t n);
/* Append N bytes, or a printf-style text without its NUL. Return 0 or TROD_ERR_NOMEM. */
int trod_buf_add(struct trod_buf *b, const void *p, size_t n);
int trod_buf_printf(struct trod_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int trod_buf_vprintf(struct trod_buf *b, const char *fmt, va_list args);

#ifdef __cplusplus
}
#endif

#endif
