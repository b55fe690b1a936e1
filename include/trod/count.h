/*
 * count.h - options of the analysis "count" (trod_analysis_find): how many of what.
 *
 * Implements trod-count(1): what basic_counts of DynamoRIO counts, for every format;
 * what a format does not say is absent.
 */
#ifndef TROD_COUNT_H
#define TROD_COUNT_H

#include "trod/analysis.h"

#ifdef __cplusplus
extern "C" {
#endif

enum trod_count_footprint {
    TROD_COUNT_AUTO,  /* unique bytes and lines, in bounded memory: estimates beyond it */
    TROD_COUNT_EXACT, /* exact, whatever memory it takes */
    TROD_COUNT_NONE   /* no unique bytes and lines; unique instructions in bounded memory */
};

enum trod_count_detail {
    TROD_COUNT_TABLE, /* threads as a table of what matters most */
    TROD_COUNT_WIDE,  /* threads as a table of everything */
    TROD_COUNT_LIST   /* threads one below the other, with everything */
};

struct trod_count_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    /* bytes of a cache line, a power of two up to 4096; 0: as the trace says, or 64 */
    uint64_t line;
    uint64_t top;  /* threads to show, those with most instructions first; 0: all */
    int footprint; /* enum trod_count_footprint */
    int detail;    /* enum trod_count_detail */
};

/* The table of the options; the defaults are all zero. */
extern const struct trod_option trod_count_option_table[];

#ifdef __cplusplus
}
#endif

#endif
