/*
 * analysis.h - anything that eats batches: batches in, numbers out.
 *
 * Implements docs/design.md, "Analyses". One const descriptor an analysis, listed in
 * src/analysis/analyses.def.
 */
#ifndef TROD_ANALYSIS_H
#define TROD_ANALYSIS_H

#include "trod/batch.h"
#include "trod/emit.h"
#include "trod/meta.h"
#include "trod/option.h"

struct trod_buf; /* growable bytes: trod/buf.h */

struct trod_analysis {
    const char *name, *title;
    const struct trod_option *options;
    size_t options_size, state_size;
    const void *defaults;
    uint32_t needs; /* columns without which it says nothing */
    uint32_t uses;  /* columns it makes use of where a format has them */
    /* The same for the format called FORMAT, where that is fewer. NULL: uses. */
    uint32_t (*uses_of)(const char *format);

    /* Prepare ST (state_size zero bytes). META outlives ST and grows; a state that is only merged
     * into has the meta of the whole trace. 0 or an error, reported. */
    int (*init)(void *st, const void *opt, const struct trod_meta *meta, struct trod_diag *diag);
    /* Count the rows of B. 0, or TROD_ERR_NOMEM. */
    int (*feed)(void *st, const struct trod_batch *b, struct trod_diag *diag);
    /* A file may be parted among states (meta->part), which are merged in its order. */
    bool parts;
    /* Add FROM to INTO (both stay valid). NULL: serial only. */
    int (*merge)(void *into, const void *from);
    /* Rows of file FILE will not come again, here or in what is merged in: what belongs to it alone
     * may be summed up. NULL: nothing to do. */
    int (*settle)(void *st, uint32_t file);
    /* To bytes and back, for other processes: load(save(x)) saves the same bytes. ST of load is
     * state_size zero bytes; fini is due after it, whatever it returns. What is no saved state is
     * TROD_ERR_CORRUPT. */
    int (*save)(const void *st, struct trod_buf *out);
    int (*load)(void *st, struct trod_span in);
    int (*report)(const void *st, struct trod_emit *e);
    void (*fini)(void *st);
};

/* Analysis I in the order of analyses.def, NULL past the last; by name, NULL if none. */
const struct trod_analysis *trod_analysis_at(size_t i);
const struct trod_analysis *trod_analysis_find(const char *name, size_t len);

#endif
