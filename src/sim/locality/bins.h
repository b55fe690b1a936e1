/*
 * bins.h - log-linear bins of large numbers: exact below 2^8, then 2^7 bins for each power of two.
 *
 * A bin keeps the number of values in it and the sum of their distances from its beginning, so that
 * sums of max(0, value - w) are exact wherever w is the beginning of a bin.
 */
#ifndef TROD_SIM_BINS_H
#define TROD_SIM_BINS_H

#include <stdint.h>

enum {
    TROD_BINS_LOG = 7, /* bins an octave */
    TROD_BINS = (64 - TROD_BINS_LOG + 1) << TROD_BINS_LOG
};

struct trod_bin {
    uint64_t n, beyond; /* values; sum of (value - beginning of the bin) */
};

/* The bin of V. */
static inline unsigned trod_bin_of(uint64_t v)
{
    const unsigned octave =
        v >> TROD_BINS_LOG ? 63 - TROD_BINS_LOG - (unsigned)__builtin_clzll(v) : 0;

    return (octave << TROD_BINS_LOG) + (unsigned)(v >> octave);
}

/* Where bin I begins. */
static inline uint64_t trod_bin_begin(unsigned i)
{
    const unsigned octave = i >> TROD_BINS_LOG ? (i >> TROD_BINS_LOG) - 1 : 0;

    return (uint64_t)(i - (octave << TROD_BINS_LOG)) << octave;
}

static inline void trod_bin_count(struct trod_bin *bins, uint64_t v, uint64_t n)
{
    const unsigned i = trod_bin_of(v);

    bins[i].n += n;
    bins[i].beyond += n * (v - trod_bin_begin(i));
}

#endif
