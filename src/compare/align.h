/*
 * align.h - two sequences of keys: where they agree again, and what lies between.
 *
 * Pure functions over arrays; what a key stands for is the caller's business.
 */
#ifndef TROD_COMPARE_ALIGN_H
#define TROD_COMPARE_ALIGN_H

#include "trod/types.h"

/* A sequence that is known up to N keys; END: nothing follows them. */
struct trod_keys {
    const uint64_t *key;
    size_t n;
    bool end;
};

/*
 * The positions *I in A and *J in B with the smallest sum from which K keys agree. Behind the end
 * of a sequence stands an end mark, so two sequences that are known to their ends always agree
 * there. Returns 1, 0 when there is no such place in what is known, or TROD_ERR_NOMEM.
 */
int trod_align_find(struct trod_keys a, struct trod_keys b, size_t k, size_t *i, size_t *j);

enum trod_edit_type { TROD_EDIT_EQUAL, TROD_EDIT_DELETE, TROD_EDIT_INSERT, TROD_EDIT_CHANGE };

/* NA keys from A on stand against NB keys from B on. */
struct trod_edit {
    enum trod_edit_type type;
    size_t a, na, b, nb;
};

struct trod_edits {
    struct trod_edit *edit;
    size_t n, cap;
};

/*
 * A shortest edit script from the N keys A to the M keys B, deletions before insertions, a deletion
 * and an insertion side by side joined as a change. Where more than LIMIT edits would be needed (or
 * the sequences are too long to look for them) the whole is one change. Appends to OUT. Returns 0
 * or TROD_ERR_NOMEM.
 */
int trod_align_script(const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t limit,
                      struct trod_edits *out);

void trod_edits_fini(struct trod_edits *e);

#endif
