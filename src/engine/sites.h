/*
 * sites.h - numbering the static instructions of a run, and telling rows which one they belong to.
 */
#ifndef TROD_ENGINE_SITES_H
#define TROD_ENGINE_SITES_H

#include "trod/batch.h"
#include "trod/format.h"
#include "trod/site.h"
#include "trod/streak.h"

/* A table for the trace with META; SYMBOLS may be NULL. Both outlive it. 0 or TROD_ERR_NOMEM. */
int engine_sites_new(struct trod_sites **out, const struct trod_meta *meta,
                     struct trod_symbols *symbols);
void engine_sites_free(struct trod_sites *s);
/* Replace *SITES by an empty table for the same trace, which is read again. 0 or TROD_ERR_NOMEM. */
int engine_sites_again(struct trod_sites **sites);

/*
 * Sites are added between lock and unlock, all new ones of a range of rows at once. In between,
 * only trod_site_at and trod_sites_count may be called for S besides the functions that add. The
 * instruction set is learned from META, which may be NULL.
 */
void engine_sites_lock(struct trod_sites *s, const struct trod_meta *meta);
void engine_sites_unlock(struct trod_sites *s);
/* Has any site of S an opcode? */
bool engine_sites_coded(const struct trod_sites *s);
/*
 * Does any site of S, of a trace with META, have an opcode or the kind of a branch, or would it
 * have one if it were a branch? Some formats say system calls only.
 */
static inline bool engine_sites_say_branches(const struct trod_sites *s,
                                             const struct trod_meta *meta)
{
    const struct trod_format *f = meta ? meta->driver : NULL;
    const uint32_t n = trod_sites_count(s);
    bool said = engine_sites_coded(s) || (f && f->flags & TROD_FMT_BRANCHES);

    for (uint32_t k = 0; k < n && !said; k++) {
        const unsigned branch = trod_site_at(s, k)->branch;

        said = branch != TROD_BR_NONE && branch != TROD_BR_SYSCALL;
    }
    return said;
}
/* Is ISA unknown, or that of the opcodes of S? */
bool engine_sites_are_of(const struct trod_sites *s, enum trod_isa isa);
/* Is SITE the one with this NUMBER? False if there is none. May be called without the lock. */
bool engine_sites_is(const struct trod_sites *s, uint32_t number, const struct trod_site *site);
/*
 * As trod_sites_add, but a SITE of which only the address is known is taken for any site without an
 * opcode at that address. *OTHER becomes true if there are several of them, or if another site has
 * the address of a SITE without an opcode.
 */
uint32_t engine_sites_add(struct trod_sites *s, const struct trod_site *site, bool *other);
/*
 * The same for a SITE that is none of the *MINE sites which its caller has added (updated). If
 * these are all sites of the table, nothing has to be looked up.
 */
uint32_t engine_sites_add_new(struct trod_sites *s, const struct trod_site *site, uint32_t *mine,
                              bool *other);

struct trod_trace;
/* Read the list of modules beside T, once. 0 or what trod_trace_modules returns. */
int engine_sites_modules(struct trod_sites *s, const struct trod_trace *t, struct trod_diag *diag);
/* Does trod_sites_module know any? */
bool engine_sites_modules_known(const struct trod_sites *s);

/* The trace has been read: warn where there are opcodes and nobody said of what instruction set. */
void engine_sites_report_unknown(const struct trod_sites *s, struct trod_diag *diag);

/*
 * What the code of S is: the first that is known counts. Readers of files and parts know it before
 * the meta of the whole trace does.
 */
void engine_sites_learn(struct trod_sites *s, enum trod_isa isa, enum trod_endian endian);
/* The same of what META, of the whole trace, says when all of it was read. S may be NULL. */
void engine_sites_meta(struct trod_sites *s, const struct trod_meta *meta);
void engine_sites_isa(struct trod_sites *s, enum trod_isa *isa, enum trod_endian *endian);

/*
 * What one decoding thread remembers: the sites it met last by address and opcode bytes, and the
 * instruction executed last by each stream.
 */
struct engine_owner;

/* MERGED: rows of several files alternate. 0 or TROD_ERR_NOMEM. */
int engine_owner_new(struct engine_owner **out, struct trod_sites *sites, bool merged);
void engine_owner_free(struct engine_owner *o);
/* The rows of O begin inside a file. */
void engine_owner_inside(struct engine_owner *o);
/*
 * O handles a part of a file; FIRST: its first part. OWNED: an analysis uses the sites of rows that
 * belong to instructions. Rows given before engine_owner_follow is called come before the part.
 */
void engine_owner_part(struct engine_owner *o, bool first, bool owned);
/*
 * The part begins: each stream goes on after the instruction that O saw it execute last. FROM
 * (NULL: no rows came before) numbers the streams of the rows so far, TO those of the part, and
 * learns streams. 0 or TROD_ERR_NOMEM.
 */
int engine_owner_follow(struct engine_owner *o, const struct trod_meta *from, struct trod_meta *to);
/*
 * What O has met may be something else where the file is read in one go: an instruction of a later
 * part that says no opcode is met for the first time, it is not what another part takes the same
 * opcode there for, or a row belongs to an instruction that was not seen.
 */
bool engine_owner_lost(const struct engine_owner *o);
/* O has met an instruction without an opcode in a later part: it is lost if other sites have one.
 */
bool engine_owner_codeless(const struct engine_owner *o);
/* Columns that filling the site column of a batch needs. */
enum {
    ENGINE_SITE_COLUMNS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM |
                          TROD_COL_ADDR | TROD_COL_PC | TROD_COL_CODE
};
/*
 * Fill the site column of B, the next batch of O's rows; its streaks (streaks.h) go to STREAKS, if
 * that is not NULL. Returns 0 or TROD_ERR_NOMEM.
 */
int engine_owner_fill(struct engine_owner *o, struct trod_batch *b, struct trod_streaks *streaks);

#endif
