/*
 * info.h - the inside of the analysis "info": rows by kind, name and stream, spans of time.
 */
#ifndef TROD_ANALYSIS_INFO_INFO_H
#define TROD_ANALYSIS_INFO_INFO_H

#include "analysis/named.h"
#include "trod/analysis.h"
#include "trod/buf.h"
#include "trod/format.h"

enum { INFO_NAME = 40, INFO_NAMES = 4096, INFO_UNITS = 257, INFO_UNSAID = 256 };

/* Rows of which the source says what they are, in words: the first INFO_NAME bytes of them. */
struct info_name {
    uint64_t hash, n;
    uint32_t len;
    char name[INFO_NAME];
};

/*
 * A bounded table of names, sorted by hash. If there are too many, those with the lowest hashes are
 * kept, with exact numbers: which they are does not depend on how the work was divided.
 */
struct info_names {
    struct info_name *at;
    size_t n;
    uint64_t others; /* rows of names beyond what it holds */
};

/* Count N rows of the name S (LEN bytes). Returns 0 or TROD_ERR_NOMEM. */
int info_names_add(struct info_names *t, const uint8_t *s, uint32_t len, uint64_t n);
int info_names_merge(struct info_names *into, const struct info_names *from);

/* Times of one unit, and the rows that said the first and the last. */
struct info_span {
    uint64_t n, first, last, least, most, first_at, last_at;
};

struct info_state {
    const struct trod_meta *meta; /* of the rows that are fed; NULL: loaded */
    struct trod_meta own; /* set when states are merged: its numbers are used from then on */
    bool owned;
    uint64_t rows, synthetic, kind[TROD_KINDS];
    uint64_t named[TROD_KINDS][NAMED_SLOTS]; /* by sub, where the format has names for them */
    uint64_t *stream;                        /* rows by stream of the meta */
    size_t n_streams, cap_streams;
    struct info_span time[INFO_UNITS]; /* by the unit column; UNSAID: the unit of the trace */
    struct info_names notes, markers;
};

/* The meta whose streams and units of time the numbers of S are. */
static inline const struct trod_meta *info_meta(const struct info_state *s)
{
    return s->owned ? &s->own : s->meta;
}

/* info.c: N rows of STREAM. Returns 0 or TROD_ERR_NOMEM. */
int info_add_stream(struct info_state *s, size_t stream, uint64_t n);

/* save.c: FROM, whose rows begin at row BASE of those of TO. */
void info_merge_span(struct info_span *to, const struct info_span *from, uint64_t base);
int info_merge(void *into, const void *from);
int info_save(const void *st, struct trod_buf *out);
int info_load(void *st, struct trod_span in, const uint32_t *sites);

/* info_result.c */
int info_result(const void *st, struct trod_result *r);

#endif
