/*
 * text.h - text to an output; the first failure is remembered and what follows is dropped.
 */
#ifndef TROD_EXPORT_TEXT_H
#define TROD_EXPORT_TEXT_H

#include "trod/io.h"

struct export_text {
    struct trod_output *out;
    int status; /* 0, or the first error */
};

/* A text, N bytes of one, a number in decimal and in hexadecimal ("0x1f"), printf. */
void export_put(struct export_text *t, const char *text);
void export_putn(struct export_text *t, const char *p, size_t n);
void export_number(struct export_text *t, uint64_t v);
void export_hex(struct export_text *t, uint64_t v);
void export_print(struct export_text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* N bytes at P as a JSON string, with its quotes. */
void export_json(struct export_text *t, const char *p, size_t n);
/* TEXT with every character of BAD, control bytes too, replaced by INSTEAD. */
void export_clean(struct export_text *t, const char *text, const char *bad, char instead);

#endif
