/*
 * keeper.h - problems of a worker, kept until it is their turn.
 */
#ifndef TROD_CORE_KEEPER_H
#define TROD_CORE_KEEPER_H

#include "trod/diag.h"

struct trod_kept;

/* A diag of its own that keeps what is reported to it. */
struct trod_keeper {
    struct trod_diag diag;
    struct trod_diag *through; /* where problems go at once from now on; NULL: they are kept */
    struct trod_kept *first, **last;
};

void trod_keeper_init(struct trod_keeper *k, bool strict);
/* Does anything that is kept say a line? */
bool trod_keeper_has_lines(const struct trod_keeper *k);
/*
 * What is kept was found behind LINES lines and RECORDS records that were not counted
 * (TROD_NOWHERE: nobody knows how many).
 */
void trod_keeper_shift(struct trod_keeper *k, uint64_t lines, uint64_t records);
/* What FROM keeps is TO's, which kept nothing, and TO has counted what FROM has. */
void trod_keeper_move(struct trod_keeper *to, struct trod_keeper *from);
/* Report what is kept to TO and release it. TO NULL: release only. */
void trod_keeper_tell(struct trod_keeper *k, struct trod_diag *to);
/* The same of what is kept of other files than the N ones FILES. */
void trod_keeper_tell_others(struct trod_keeper *k, const char *const *files, size_t n,
                             struct trod_diag *to);
/* As trod_keeper_tell at the end: TO counts what was reported to K beyond what is passed on as
 * well. */
void trod_keeper_end(struct trod_keeper *k, struct trod_diag *to);

#endif
