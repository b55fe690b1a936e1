/*
 * save.h - stacks and reuse times of a part of a stream as bytes, for other processes.
 */
#ifndef TROD_SIM_LOCALITY_SAVE_H
#define TROD_SIM_LOCALITY_SAVE_H

#include "stack.h"
#include "times.h"
#include "trod/buf.h"

/*
 * Append to OUT, or load from IN, which is advanced, into a new one with the same options, what
 * trod_stack_append and trod_times_append need of S and T, which have been fed with a part. 0,
 * TROD_ERR_CORRUPT or TROD_ERR_NOMEM.
 */
int trod_stack_save(const struct trod_stack *s, struct trod_buf *out);
int trod_stack_load(struct trod_stack *s, struct trod_span *in);
int trod_times_save(const struct trod_times *t, struct trod_buf *out);
int trod_times_load(struct trod_times *t, struct trod_span *in);

#endif
