/*
 * side.h - what a drmemtrace decoder knows that has no bound: encodings by pc, threads by number.
 *
 * Implements docs/design.md, "A format driver" (state beside the plain state). Copies of a decoder
 * share one side. Encodings are 16-byte slots of an append-only pool that batches call `shared`: a
 * slot is given to another instruction only after its own changed and no row speaks of it any more.
 */
#ifndef TROD_DRMEMTRACE_SIDE_H
#define TROD_DRMEMTRACE_SIDE_H

#include "core/recent.h"
#include "format/drmemtrace/entries.h"
#include "trod/batch.h"

#include <stdatomic.h>
#include <string.h>

struct drm_past;

enum { DRM_SLOT = 16 }; /* bytes */

#define DRM_POOL_MAX ((size_t)TROD_SLICE_SHARED - DRM_SLOT)

enum { DRM_FIRST_KNOWN = 1 << 6, DRM_FIRST_PROOFS = 1 << 6 }; /* places of empty tables */

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

/*
 * Instructions whose encoding has come and is no system call: a bit for each pc, in pages, with the
 * words looked at last in a table before them (side->recent).
 */
enum { DRM_PROOF_SHIFT = 12, DRM_PROOF_WORDS = (1 << DRM_PROOF_SHIFT) / 64 };

struct drm_proof {
    uint64_t number; /* of the page: pc >> DRM_PROOF_SHIFT */
    uint64_t *bits;  /* DRM_PROOF_WORDS; NULL: an empty place */
};

/* What the hot loop looks up by type: 16 bytes. */
struct drm_hot {
    uint32_t flags;
    uint32_t
        least; /* sizes below are none of the hot loop's: types that it leaves alone have all */
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
    struct trod_recent *recent;
    struct drm_proof *proofs; /* open addressing */
    uint32_t proof_mask, n_proofs;
    struct drm_proof proved; /* the one of the last proof */
    uint32_t n_coded;        /* rows of the run going on that say their opcode, where few do */
    uint32_t coded[TROD_BATCH_ROWS];
    struct trod_slice marker_text[TROD_DRM_MARKERS];
    struct trod_slice note_text[3]; /* by enum drm_note */

    uint8_t *shared;
    size_t shared_n, shared_cap;
    struct drm_known *known;
    uint32_t known_mask, known_n;
    uint32_t *retired; /* slots replaced: the first n_free of them may be used again */
    size_t cap_retired;
    uint32_t n_retired, n_free;
    struct drm_past *past; /* what is not in known may be there; NULL: nowhere */
    uint64_t source;       /* core/origin.h; 0: not all instructions that are new are told */
    uint64_t given;        /* rows of it */
    bool tells;            /* opcodes are told once by each side: proofs of the past do not count */
    bool vague;            /* passed over: not all that is known was executed in one window */
    bool failed;           /* there was no memory for what is there */

    struct drm_thread *thread;
    uint32_t n_threads, cap_threads;
    uint32_t *thread_slot; /* hash: index + 1 */
    uint32_t thread_mask;

    bool tracked;      /* somebody saves states: */
    uint64_t *learned; /* instructions whose encodings came since the last one */
    size_t n_learned, cap_learned;
};

/*
 * Encodings that came before the decoders began that know of them: nothing of it changes any more,
 * and several sides, of different threads, share it. What came later stands in front of what came
 * before.
 */
struct drm_past {
    struct drm_past *before; /* NULL: none */
    atomic_uint users;
    uint8_t *shared;
    size_t shared_n; /* of this one and all before */
    size_t shared_cap;
    struct drm_known *known;
    uint32_t known_mask, known_n; /* known_n: of this one and all before */
    struct drm_proof *proofs;     /* pages that are newer than those before */
    uint32_t proof_mask;
};

/* past.c: the newest page NUMBER of the past; bits NULL: there is none. */
struct drm_proof drm_past_proof(const struct drm_past *p, uint64_t number);

/* side.c: an empty table of N places, a power of two, and its end. NULL: no memory, or no table. */
struct drm_known *drm_known_new(uint32_t n);
void drm_known_free(struct drm_known *table, uint32_t mask);

/* side.c: the place of page NUMBER in TABLE. */
struct drm_proof *drm_proof_place(struct drm_proof *table, uint32_t mask, uint64_t number);
void drm_proofs_free(struct drm_proof *table, uint32_t mask);

enum drm_note { DRM_NOTE_UNKNOWN, DRM_NOTE_LEFTOVER, DRM_NOTE_SKIPPED, DRM_NOTES };

/* Returns 0 or TROD_ERR_NOMEM. */
int drm_side_new(struct drm_side **out);
void drm_side_free(struct drm_side *s);

/*
 * past.c: TO, which is new, knows what FROM knows: threads, and encodings, which both share from
 * here on. 0 or TROD_ERR_NOMEM.
 */
int drm_side_fork(struct drm_side *to, struct drm_side *from);
void drm_past_free(struct drm_past *p);

/*
 * side.c: S becomes a source (core/origin.h) if it is none and has learned no instruction itself.
 * What it knows from its past was executed in rows of the decoders before it, which are put
 * together with its own: of which thread and window is not known, so there must be only one.
 */
void drm_side_begin(struct drm_side *s);

/* side.c: the rows of OUT from HAD on come from S; where it PASSES over rows it is no source. */
void drm_side_gave(struct drm_side *s, struct trod_batch *out, uint32_t had, bool passes);

/* side.c: the texts that rows speak of, at the beginning of an empty shared pool. */
int drm_side_texts(struct drm_side *s);

/* No row given before speaks of the shared bytes any more: retired slots may be used again. */
void drm_side_turn(struct drm_side *s);

/*
 * Whether the encoding of the instruction at PC is known to have come: first what side->recent
 * says, then what all pages say, which side->recent learns from it.
 */
static inline bool drm_proven(const struct drm_side *s, uint64_t pc)
{
    return trod_recent_has(s->recent, pc, 0);
}
bool drm_side_recall(struct drm_side *s, uint64_t pc);

/* The word of PAGE with the bit of PC. */
static inline uint64_t *drm_proof_word(const struct drm_proof *page, uint64_t pc)
{
    return &page->bits[pc >> 6 & (DRM_PROOF_WORDS - 1)];
}

/* side.c: its page is another than that of the last proof. */
void drm_side_prove_page(struct drm_side *s, uint64_t pc);

/* It has come. Without memory for its page only side->recent knows. */
static inline void drm_side_prove(struct drm_side *s, uint64_t pc)
{
    const uint64_t bit = UINT64_C(1) << (pc & 63);

    trod_recent_put(s->recent, pc, 0, bit);
    if (s->proved.bits && s->proved.number == pc >> DRM_PROOF_SHIFT)
        *drm_proof_word(&s->proved, pc) |= bit;
    else
        drm_side_prove_page(s, pc);
}

/* Index of thread TID, added if new; TROD_ERR_NOMEM or TROD_ERR_LIMIT. */
int drm_side_thread(struct drm_side *s, uint64_t tid);

static inline uint32_t drm_side_hash(uint64_t pc)
{
    return (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/*
 * What is known of the encoding of the instruction at PC, as far as it came to this side; length 0
 * where none did.
 */
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
 * The instruction at PC has the encoding CODE of LEN bytes (1 to DRM_CODE_MAX), with zeros behind
 * it up to DRM_SLOT, from here on. *OUT is where they lie. Returns 0, TROD_ERR_NOMEM, or
 * TROD_ERR_LIMIT past 512 MiB of encodings.
 */
static inline int drm_side_learn(struct drm_side *s, uint64_t pc, const uint8_t *code, uint32_t len,
                                 struct trod_slice *out)
{
    struct drm_known *k = drm_side_known(s, pc);
    const size_t at = s->shared_n;

    if (k->len || 2 * s->known_n > s->known_mask || s->n_free || s->tracked || s->past ||
        s->shared_cap - at < DRM_SLOT || at >= DRM_POOL_MAX)
        return drm_side_learn_any(s, pc, code, len, out);
    s->known_n++;
    s->shared_n = at + DRM_SLOT;
    memcpy(s->shared + at, code, DRM_SLOT);
    *out = (struct trod_slice){(uint32_t)(at | (size_t)TROD_SLICE_SHARED), len};
    *k = (struct drm_known){pc, out->off, (uint16_t)len, false};
    return TROD_OK;
}

/* The same of an encoding that came before, which S gets from there: see drm_side_find. */
struct drm_known *drm_side_inherit(struct drm_side *s, uint64_t pc);

/* What is known of the encoding of the instruction at PC; length 0 where none came. */
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
