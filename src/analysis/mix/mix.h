/*
 * mix.h - what the analysis "mix" counts (mix.c), and its result (mix_result.c).
 */
#ifndef TROD_ANALYSIS_MIX_H
#define TROD_ANALYSIS_MIX_H

#include "trod/analysis.h"
#include "trod/buf.h"

/* Sizes of accesses are counted one by one below 64 bytes, the rest together. */
enum { MIX_SIZES = 65, MIX_BRANCHES = TROD_F_BRANCH + 1, MIX_ACCESSES = 3 };

struct mix_options {
    uint64_t line, page; /* bytes */
    uint64_t top;        /* 0: all */
};

/* Executions of sites by user and by kernel, as steps (by_site.h). */
struct mix_ran {
    uint64_t by[2];
};

/* Accesses of a site: reads, writes, atomic. */
struct mix_did {
    uint64_t n[MIX_ACCESSES];
};

struct mix_accesses {
    uint64_t size[MIX_SIZES];
    uint64_t misaligned, crosses_line, crosses_page;
};

/* 64-bit numbers only: they are merged and saved as an array. */
struct mix_sums {
    uint64_t nowhere[2]; /* instructions without a site, by user, by kernel */
    uint64_t skipped;
    uint64_t branch[MIX_BRANCHES];              /* by enum trod_branch */
    struct mix_accesses accesses[MIX_ACCESSES]; /* reads, writes, atomic */
};

struct mix_state {
    const struct mix_options *opt;
    struct trod_sites *sites; /* or NULL */
    struct trod_symbols *symbols;
    struct mix_ran *ran; /* by site */
    size_t n_ran;
    enum trod_by by;
    struct mix_did *did; /* by site + 1, [0]: without one; only where results are wanted by owner */
    size_t n_did;
    struct mix_sums sums;
};

/* What an instruction is for: one of those that mix_category_name() has names of. */
unsigned mix_category(const struct trod_site *site, const struct trod_insn *insn);
/* NULL past the last. */
const char *mix_category_name(unsigned category);

/* owners.c. 0 or TROD_ERR_NOMEM. */
int mix_put_owners(const struct mix_state *s, uint64_t total, struct trod_result *r);

int mix_result(const void *st, struct trod_result *r);

#endif
