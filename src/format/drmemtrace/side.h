/*
 * side.h - the part of a drmemtrace decoder's state that has no bound: encodings by pc, threads by
 * number.
 *
 * Implements docs/design.md, "A format driver" (state beside the plain state). Copies of a decoder
 * share one side. Encodings are 16-byte slots of an append-only pool that batches call `shared`: a
 * slot is reused only when its instruction has changed and no row points to it.
 */
#ifndef TROD_DRMEMTRACE_SIDE_H
#define TROD_DRMEMTRACE_SIDE_H

#include "core/recent.h"
#include "format/drmemtrace/entries.h"
#include "format/drmemtrace/proofs.h"
#include "trod/batch.h"

#include <stdatomic.h>
#include <string.h>

struct drm_assumed;
struct drm_past;
struct drm_rest;

enum { DRM_SLOT = 16 }; /* bytes */

#define DRM_POOL_MAX ((size_t)TROD_SLICE_SHARED - DRM_SLOT)

enum { DRM_FIRST_KNOWN = 1 << 6 }; /* places of an empty table */

/* Where the encoding of the instruction at pc lies: a shared slice. len 0: an empty place. */
struct drm_known {
    uint64_t pc;
    uint32_t off;
    uint16_t len;
    uint8_t plain; /* it is known to be no system call */
};

struct drm_thread {
    uint64_t tid, pid;
    bool has_pid;
    bool skip;      /* a chunk began: its repeated TIMESTAMP and CPU_ID are hidden */
    int32_t stream; /* in the meta; -1: no row yet */
};

/* What the hot loop looks up by type: 16 bytes. */
struct drm_hot {
    uint32_t flags;
    uint32_t
        /* sizes below this are not for the hot loop; of types that it does not handle no size is */
        least;
    uint32_t counts;
    uint8_t kind, instr;
};

/*
 * The same for 16 entries at a time (wide.c): bytes by type, of 16 types a row. The first half of a
 * row is the kind, with DRM_LOOK_OTHER where the hot loop does not know the type, and the third
 * byte of the flags; the second half is their first byte.
 */
enum { DRM_LOOK_KIND = 0x07, DRM_LOOK_FLAGS = 0x28, DRM_LOOK_OTHER = 0x80 };

struct drm_side {
    struct drm_hot hot[64];
    uint8_t look[4][32];
    uint8_t pass[16]; /* the same for pass.c: see there */
    /*
     * Instructions whose encoding has come and is no system call; the words looked up last are in a
     * table in front of them, recent.
     */
    struct trod_recent *recent;
    struct drm_proofs proofs;
    struct drm_proof proved; /* the page of the last proof */
    uint32_t n_coded;        /* rows of the run going on that say their opcode, where few do */
    uint32_t *coded;
    uint32_t cap_coded; /* as many as a batch has rows */
    struct trod_slice marker_text[TROD_DRM_MARKERS];
    struct trod_slice note_text[3]; /* by enum drm_note */

    uint8_t *shared;
    size_t shared_n, shared_cap;
    struct drm_known *known;
    uint32_t known_mask, known_n;
    uint32_t *retired; /* replaced slots; the first n_free of them may be reused */
    size_t cap_retired;
    uint32_t n_retired, n_free;
    struct drm_past *past; /* encodings that are not in known may be there; NULL: no past */
    struct drm_rest *rest; /* rest.c: what was known when it rested; known NULL: it rests */
    uint32_t changes;      /* of slots: left by an instruction, or used again */
    uint64_t source;       /* core/origin.h; 0: some new instructions are not marked as new */
    uint64_t given;        /* rows of it */
    bool tells;            /* opcodes are given once by each side: the past does not count */
    bool vague;  /* known instructions may be of several windows, or may not have been fetched */
    bool failed; /* there was no memory for what is there */
    struct drm_assumed *assumed; /* assumed.h; NULL: all that came before is known */
    uint64_t *calls;             /* instructions whose encoding, that of a system call, has come */
    size_t n_calls, cap_calls;

    struct drm_thread *thread;
    uint32_t n_threads, cap_threads;
    uint32_t *thread_slot; /* hash: index + 1 */
    uint32_t thread_mask;

    bool tracked;      /* somebody saves states: */
    uint64_t *learned; /* instructions whose encodings came since the last one */
    size_t n_learned, cap_learned;
};

/*
 * Encodings from before the fork, which never change: several sides, on different threads, share
 * them. Newer parts come before older ones.
 */
struct drm_past {
    struct drm_past *before; /* NULL: none */
    atomic_uint users;
    uint8_t *shared;
    size_t shared_n; /* of this one and all before */
    size_t shared_cap;
    struct drm_known *known;
    uint32_t known_mask, known_n; /* known_n: of this one and all before */
    struct drm_proofs proofs;     /* pages that are newer than those before */
    uint64_t *calls;
    size_t n_calls;
};

/* past.c: the newest encoding of the instruction at PC in P, or NULL; its bytes are at *CODE. */
const struct drm_known *drm_past_known(const struct drm_past *p, uint64_t pc, const uint8_t **code);

/* past.c: the newest page NUMBER of the past; bits NULL: there is none. */
struct drm_proof drm_past_proof(const struct drm_past *p, uint64_t number);

/* side.c: an empty table of N places, a power of two, and its end. NULL: no memory, or no table. */
struct drm_known *drm_known_new(uint32_t n);
void drm_known_free(struct drm_known *table, uint32_t mask);

enum drm_note { DRM_NOTE_UNKNOWN, DRM_NOTE_LEFTOVER, DRM_NOTE_SKIPPED, DRM_NOTES };

/* Returns 0 or TROD_ERR_NOMEM. */
int drm_side_new(struct drm_side **out);
void drm_side_free(struct drm_side *s);

/*
 * side.c: the tables of S, which has none, with room for PLACES encodings, a power of two; and give
 * them up. Returns 0 or TROD_ERR_NOMEM; then drop what was made.
 */
int drm_side_make(struct drm_side *s, uint32_t places);
void drm_side_drop(struct drm_side *s);

/*
 * past.c: give TO, which is empty, the threads and encodings of FROM; both share the encodings from
 * here on. 0 or TROD_ERR_NOMEM.
 */
int drm_side_fork(struct drm_side *to, struct drm_side *from);
void drm_past_free(struct drm_past *p);

/* past.c: what S has learned becomes the newest part of its past. 0 or TROD_ERR_NOMEM. */
int drm_side_end(struct drm_side *s);

/*
 * side.c: make S a source (core/origin.h), unless it is one or has learned an instruction itself.
 * The instructions in its past were executed in rows of the decoders before it; of which thread and
 * window is not known, so there must be only one of each.
 */
void drm_side_begin(struct drm_side *s);

/*
 * side.c: mark the rows of OUT from HAD on as coming from S; where it PASSES over rows it is no
 * source.
 */
void drm_side_gave(struct drm_side *s, struct trod_batch *out, uint32_t had, bool passes);

/* side.c: put the texts that rows refer to at the beginning of an empty shared pool. */
int drm_side_texts(struct drm_side *s);

/*
 * Rows given before are gone: retired slots may be reused. The next batch has up to ROWS. Returns 0
 * or TROD_ERR_NOMEM.
 */
int drm_side_turn(struct drm_side *s, uint32_t rows);

/*
 * Is the encoding of the instruction at PC known to have come? side->recent is asked first, then
 * the pages, whose answer side->recent keeps.
 */
static inline bool drm_proven(const struct drm_side *s, uint64_t pc)
{
    return trod_recent_has(s->recent, pc, 0);
}
bool drm_side_recall(struct drm_side *s, uint64_t pc);

/* side.c: the same where the page is not that of the last proof. */
void drm_side_prove_page(struct drm_side *s, uint64_t pc);

/* Remember that it has come. Without memory for its page only side->recent has it. */
static inline void drm_side_prove(struct drm_side *s, uint64_t pc)
{
    const uint64_t bit = UINT64_C(1) << (pc & 63);

    trod_recent_put(s->recent, pc, 0, bit);
    if (s->proved.bits && s->proved.number == pc >> DRM_PROOF_SHIFT)
        *drm_proof_word(&s->proved, pc) |= bit;
    else
        drm_side_prove_page(s, pc);
}

/* side.c: the encoding of a system call has come for the instruction at PC. */
void drm_side_call(struct drm_side *s, uint64_t pc);

/* Have rows of more than one thread come? */
bool drm_side_many_threads(const struct drm_side *s);

/* Index of thread TID, added if new; TROD_ERR_NOMEM or TROD_ERR_LIMIT. */
int drm_side_thread(struct drm_side *s, uint64_t tid);

static inline uint32_t drm_side_hash(uint64_t pc)
{
    return (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* The encoding of the instruction at PC if this side itself has learned it; else length 0. */
static inline struct drm_known *drm_side_known(const struct drm_side *s, uint64_t pc)
{
    for (uint32_t at = drm_side_hash(pc);; at++) {
        struct drm_known *k = &s->known[at & s->known_mask];

        if (k->pc == pc || k->len == 0)
            return k;
    }
}

/* side.c: drm_side_learn, whatever the state of S. */
int drm_side_learn_any(struct drm_side *s, uint64_t pc, const uint8_t *code, uint32_t len,
                       struct trod_slice *out);

/*
 * Set the encoding of the instruction at PC to the LEN bytes at CODE (1 to DRM_CODE_MAX), with
 * zeros behind them up to DRM_SLOT. *OUT is their slice. Returns 0, TROD_ERR_NOMEM, or
 * TROD_ERR_LIMIT past 512 MiB of encodings.
 */
static inline int drm_side_learn(struct drm_side *s, uint64_t pc, const uint8_t *code, uint32_t len,
                                 struct trod_slice *out)
{
    struct drm_known *k = drm_side_known(s, pc);
    const size_t at = s->shared_n;

    if (k->len || 2 * s->known_n > s->known_mask || s->n_free || s->tracked || s->past ||
        s->assumed || s->shared_cap - at < DRM_SLOT || at >= DRM_POOL_MAX)
        return drm_side_learn_any(s, pc, code, len, out);
    s->known_n++;
    s->shared_n = at + DRM_SLOT;
    memcpy(s->shared + at, code, DRM_SLOT);
    *out = (struct trod_slice){(uint32_t)(at | (size_t)TROD_SLICE_SHARED), len};
    *k = (struct drm_known){pc, out->off, (uint16_t)len, false};
    return TROD_OK;
}

/* The same for an encoding that S takes over from its past: see drm_side_find. */
struct drm_known *drm_side_inherit(struct drm_side *s, uint64_t pc);

/* The encoding of the instruction at PC, also from the past; length 0 where none came. */
static inline struct drm_known *drm_side_find(struct drm_side *s, uint64_t pc)
{
    struct drm_known *k = drm_side_known(s, pc);

    return k->len || !s->past ? k : drm_side_inherit(s, pc);
}

static inline struct trod_slice drm_side_code(struct drm_side *s, uint64_t pc)
{
    const struct drm_known *k = drm_side_find(s, pc);

    return (struct trod_slice){k->off, k->len};
}

#endif
