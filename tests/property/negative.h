/*
 * negative.h - binary data that is no trace.
 */
#ifndef TROD_TEST_NEGATIVE_H
#define TROD_TEST_NEGATIVE_H

#include "trod/buf.h"

/* Make sample I in B (replaced). Returns its name, NULL past the last. */
const char *negative_make(size_t i, struct trod_buf *b);

#endif
