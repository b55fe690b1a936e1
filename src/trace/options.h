/*
 * options.h - options that nothing could be read with are refused before anything is opened.
 */
#ifndef TROD_TRACE_OPTIONS_H
#define TROD_TRACE_OPTIONS_H

#include "trod/trace.h"

/* Returns 0 or TROD_ERR_USAGE, reported. */
int trod_trace_check_options(const struct trod_trace_options *o, struct trod_diag *diag);

/* Rows that a batch must have for any format: the rows of a record are never parted. */
uint32_t trod_trace_least_rows(void);

#endif
