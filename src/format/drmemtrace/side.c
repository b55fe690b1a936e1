/*
 * side.c - encodings by pc and threads by number.
 *
 * Implements side.h: two hashes with open addressing, from which nothing is ever removed.
 */
#include "format/drmemtrace/side.h"

#include "format/drmemtrace/assumed.h"

#include "core/grow.h"
#include "core/origin.h"
#include "core/spare.h"
#include "core/zeroed.h"
#include "trod/batch.h"
#include "trod/meta.h"

#include <stdlib.h>
#include <string.h>

enum { SLOT = DRM_SLOT, FIRST_THREADS = 1 << 4 };

/*
 * Parts of a file know about the same instructions: a table of several parts that are read at once
 * grows to the size that the last one had, if not many sides exist.
 */
enum { FEW_SIDES = 16, MANY_KNOWN = TROD_SPARE_LEAST / sizeof(struct drm_known) };
static atomic_uint sides, last_size;

static const char *const notes[DRM_NOTES] = {"unknown record type", "entries without a record",
                                             "no records"};

/* Append N bytes to the shared pool. Returns their offset, or SIZE_MAX. */
static size_t share(struct drm_side *s, const void *p, size_t n)
{
    const size_t at = s->shared_n;

    if (trod_zeroed_room(&s->shared, &s->shared_cap, at + n, 1) < 0)
        return SIZE_MAX;
    memcpy(s->shared + at, p, n);
    s->shared_n = at + n;
    return at;
}

static int share_text(struct drm_side *s, const char *text, struct trod_slice *out)
{
    size_t len = strlen(text);
    size_t at = share(s, text, len);

    if (at == SIZE_MAX)
        return TROD_ERR_NOMEM;
    *out = (struct trod_slice){(uint32_t)at | (uint32_t)TROD_SLICE_SHARED, (uint32_t)len};
    return TROD_OK;
}

int drm_side_texts(struct drm_side *s)
{
    static const uint8_t zeros[SLOT];
    int rc = TROD_OK;

    for (unsigned i = 0; i < TROD_DRM_MARKERS && rc == TROD_OK; i++)
        rc = share_text(s, drm_marker_name(i), &s->marker_text[i]);
    for (unsigned i = 0; i < DRM_NOTES && rc == TROD_OK; i++)
        rc = share_text(s, notes[i], &s->note_text[i]);
    if (rc == TROD_OK && share(s, zeros, SLOT - s->shared_n % SLOT) == SIZE_MAX)
        rc = TROD_ERR_NOMEM;
    return rc;
}

static void fill_hot(struct drm_side *s)
{
    for (unsigned i = 0; i < 64; i++) {
        const struct drm_type_info *t = &drm_types[i];
        const bool instr = t->class == DRM_C_INSTR, hot = instr || t->class == DRM_C_DATA;

        s->hot[i] = (struct drm_hot){
            .flags = t->flags,
            .least = hot ? instr : UINT32_MAX,
            .counts = t->counts,
            .kind = t->kind,
            .instr = instr,
        };
        s->look[i / 16][i % 16] = hot ? (uint8_t)(t->kind | t->flags >> 16) : DRM_LOOK_OTHER;
        s->look[i / 16][16 + i % 16] = (uint8_t)t->flags;
        if (hot)
            s->pass[i % 16] |= (uint8_t)((t->counts ? 0x11 : 1) << i / 16);
    }
}

struct drm_known *drm_known_new(uint32_t n)
{
    return trod_zeroed_new(n * sizeof(struct drm_known));
}

void drm_known_free(struct drm_known *table, uint32_t mask)
{
    trod_zeroed_free(table, ((size_t)mask + 1) * sizeof *table);
}

int drm_side_make(struct drm_side *s, uint32_t places)
{
    s->known = drm_known_new(places);
    s->known_mask = places - 1;
    s->recent = trod_recent_new();
    return drm_proofs_new(&s->proofs) && s->known && s->recent ? drm_side_texts(s) : TROD_ERR_NOMEM;
}

void drm_side_drop(struct drm_side *s)
{
    drm_proofs_free(&s->proofs);
    s->proved = (struct drm_proof){0};
    trod_recent_free(s->recent);
    s->recent = NULL;
    trod_zeroed_free(s->shared, s->shared_cap);
    s->shared = NULL;
    s->shared_n = s->shared_cap = 0;
    drm_known_free(s->known, s->known_mask);
    s->known = NULL;
}

int drm_side_new(struct drm_side **out)
{
    struct drm_side *s = calloc(1, sizeof *s);
    int rc;

    *out = NULL;
    if (!s)
        return TROD_ERR_NOMEM;
    atomic_fetch_add_explicit(&sides, 1, memory_order_relaxed);
    s->thread_slot = calloc(FIRST_THREADS, sizeof *s->thread_slot);
    s->thread_mask = FIRST_THREADS - 1;
    rc = s->thread_slot ? drm_side_make(s, DRM_FIRST_KNOWN) : TROD_ERR_NOMEM;
    if (rc < 0) {
        drm_side_free(s);
        return rc;
    }
    fill_hot(s);
    *out = s;
    return TROD_OK;
}

void drm_side_free(struct drm_side *s)
{
    if (!s)
        return;
    atomic_fetch_sub_explicit(&sides, 1, memory_order_relaxed);
    atomic_store_explicit(&last_size, s->known_mask + 1, memory_order_relaxed);
    drm_side_drop(s);
    drm_past_free(s->past);
    drm_assumed_free(s->assumed);
    free(s->calls);
    free(s->retired);
    free(s->thread);
    free(s->thread_slot);
    free(s->learned);
    free(s->rest);
    free(s->coded);
    free(s);
}

bool drm_side_many_threads(const struct drm_side *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_threads; i++)
        n += s->thread[i].stream >= 0;
    return n > 1;
}

void drm_side_begin(struct drm_side *s)
{
    static atomic_uint_fast64_t last;

    if (s->source || s->known_n || (s->past && (s->vague || drm_side_many_threads(s))))
        return;
    s->source = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    s->given = 0;
}

void drm_side_gave(struct drm_side *s, struct trod_batch *out, uint32_t had, bool passes)
{
    if (passes)
        s->source = 0;
    s->given += out->n - had;
    if (had == 0 || trod_origin_of(out).number == s->source)
        trod_origin_set(out, s->source, s->given);
    else
        trod_origin_none(out);
}

int drm_side_turn(struct drm_side *s, uint32_t rows)
{
    s->n_free = s->n_retired;
    if (rows > s->cap_coded) {
        free(s->coded);
        s->coded = malloc(rows * sizeof *s->coded);
        s->cap_coded = s->coded ? rows : 0;
    }
    return s->cap_coded >= rows ? TROD_OK : TROD_ERR_NOMEM;
}

/* The places of a table that has N and is full; 0: there can be no more. */
static uint32_t larger(uint32_t n)
{
    const uint32_t last = atomic_load_explicit(&last_size, memory_order_relaxed);

    if (2 * n >= MANY_KNOWN && 2 * n < last &&
        atomic_load_explicit(&sides, memory_order_relaxed) <= FEW_SIDES)
        return last;
    return 2 * n;
}

static int grow_known(struct drm_side *s)
{
    const uint32_t size = larger(s->known_mask + 1);
    struct drm_known *table = size ? drm_known_new(size) : NULL;
    const struct drm_side grown = {.known = table, .known_mask = size - 1};

    if (!table)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i <= s->known_mask; i++)
        if (s->known[i].len)
            *drm_side_known(&grown, s->known[i].pc) = s->known[i];
    drm_known_free(s->known, s->known_mask);
    s->known = table;
    s->known_mask = size - 1;
    return TROD_OK;
}

/*
 * Copy PAGE, which came from the past, to unused places of side->recent: a decoder that begins in
 * the middle would otherwise look up its words one by one.
 */
static void recall_page(struct drm_side *s, const struct drm_proof *page)
{
    uint64_t pc = page->number << DRM_PROOF_SHIFT;

    for (unsigned i = 0; i < DRM_PROOF_WORDS; i++, pc += 64)
        if (page->bits[i] && !trod_recent_at(s->recent, pc)->bits)
            trod_recent_put(s->recent, pc, 0, page->bits[i]);
}

/*
 * Page NUMBER of S, or a copy of the past's; if there is none and MAKE is set, a new one. bits
 * NULL: none.
 */
static struct drm_proof *proof_page(struct drm_side *s, uint64_t number, bool make)
{
    struct drm_proof *page = drm_proofs_place(&s->proofs, number);
    struct drm_proof past;

    if (page->bits)
        return page;
    past = drm_past_proof(s->tells ? NULL : s->past, number);
    if (!past.bits && !make)
        return page;
    page = drm_proofs_page(&s->proofs, number);
    if (page->bits && past.bits) {
        memcpy(page->bits, past.bits, DRM_PROOF_WORDS * sizeof *page->bits);
        recall_page(s, page);
    }
    return page;
}

bool drm_side_recall(struct drm_side *s, uint64_t pc)
{
    const struct drm_proof *page = proof_page(s, pc >> DRM_PROOF_SHIFT, false);

    if (!page->bits)
        return false;
    trod_recent_put(s->recent, pc, 0, *drm_proof_word(page, pc));
    return drm_proven(s, pc);
}

void drm_side_prove_page(struct drm_side *s, uint64_t pc)
{
    s->proved = *proof_page(s, pc >> DRM_PROOF_SHIFT, true);
    if (s->proved.bits)
        *drm_proof_word(&s->proved, pc) |= UINT64_C(1) << (pc & 63);
}

/* The encoding of the instruction at PC has changed. */
static void disprove(struct drm_side *s, uint64_t pc)
{
    const struct drm_proof *page = proof_page(s, pc >> DRM_PROOF_SHIFT, false);
    const uint64_t bit = UINT64_C(1) << (pc & 63);

    if (page->bits)
        *drm_proof_word(page, pc) &= ~bit;
    if (drm_proven(s, pc))
        trod_recent_at(s->recent, pc)->bits &= ~bit;
}

/* A slot that no row points to. Returns its shared offset, or a negative status. */
static int64_t new_slot(struct drm_side *s)
{
    static const uint8_t zeros[SLOT];
    const size_t most = DRM_POOL_MAX - (s->past ? s->past->shared_n : 0);
    size_t at;

    if (s->shared_cap - s->shared_n >= SLOT && s->shared_n < most && !s->n_free) {
        at = s->shared_n;
        s->shared_n += SLOT;
        return (int64_t)(at | (size_t)TROD_SLICE_SHARED);
    }
    if (s->n_free) {
        uint32_t slot = s->retired[--s->n_free];

        s->retired[s->n_free] = s->retired[--s->n_retired];
        s->changes++;
        return slot;
    }
    if (s->shared_n >= most)
        return TROD_ERR_LIMIT;
    at = share(s, zeros, SLOT);
    return at == SIZE_MAX ? TROD_ERR_NOMEM : (int64_t)(at | (size_t)TROD_SLICE_SHARED);
}

static int retire(struct drm_side *s, uint32_t off)
{
    if (!trod_grow(&s->retired, s->n_retired, &s->cap_retired, sizeof *s->retired, 64))
        return TROD_ERR_NOMEM;
    s->retired[s->n_retired++] = off;
    return TROD_OK;
}

int drm_side_learn_any(struct drm_side *s, uint64_t pc, const uint8_t *code, uint32_t len,
                       struct trod_slice *out)
{
    struct drm_known *k = drm_side_known(s, pc);
    int64_t slot;
    uint8_t *bytes;
    int rc;

    if (k->len) {
        bytes = s->shared + (k->off & ~(uint32_t)TROD_SLICE_SHARED);
        if (k->len == len && memcmp(bytes, code, SLOT) == 0) {
            *out = (struct trod_slice){k->off, len};
            return TROD_OK;
        }
        if ((rc = retire(s, k->off)) < 0)
            return rc;
        disprove(s, pc); /* it was another instruction's */
        s->changes++;
    } else {
        if (2 * s->known_n > s->known_mask) {
            if ((rc = grow_known(s)) < 0)
                return rc;
            k = drm_side_known(s, pc);
        }
        s->known_n++;
        if (s->past || s->assumed)
            disprove(s, pc); /* it may have been another instruction's there */
    }
    if (s->tracked) {
        if (!trod_grow(&s->learned, s->n_learned, &s->cap_learned, sizeof *s->learned, 1024)) {
            s->known_n -= k->len == 0;
            return TROD_ERR_NOMEM;
        }
        s->learned[s->n_learned++] = pc;
    }
    slot = new_slot(s);
    if (slot < 0) {
        s->known_n -= k->len == 0;
        return (int)slot;
    }
    *k = (struct drm_known){pc, (uint32_t)slot, (uint16_t)len, false};
    bytes = s->shared + (k->off & ~(uint32_t)TROD_SLICE_SHARED);
    memcpy(bytes, code, SLOT);
    *out = (struct trod_slice){k->off, len};
    return TROD_OK;
}

void drm_side_call(struct drm_side *s, uint64_t pc)
{
    if (!trod_grow(&s->calls, s->n_calls, &s->cap_calls, sizeof *s->calls, 64))
        s->failed = true;
    else
        s->calls[s->n_calls++] = pc;
}

static uint32_t *thread_place(const struct drm_side *s, uint64_t tid)
{
    for (uint32_t at = drm_side_hash(tid);; at++) {
        uint32_t *slot = &s->thread_slot[at & s->thread_mask];

        if (*slot == 0 || s->thread[*slot - 1].tid == tid)
            return slot;
    }
}

static int grow_threads(struct drm_side *s)
{
    uint32_t cap = s->cap_threads ? s->cap_threads * 2 : FIRST_THREADS / 2;
    struct drm_thread *t = realloc(s->thread, cap * sizeof *t);
    uint32_t *slots;

    if (!t)
        return TROD_ERR_NOMEM;
    s->thread = t;
    s->cap_threads = cap;
    slots = calloc((size_t)cap * 2, sizeof *slots);
    if (!slots)
        return TROD_ERR_NOMEM;
    free(s->thread_slot);
    s->thread_slot = slots;
    s->thread_mask = cap * 2 - 1;
    for (uint32_t i = 0; i < s->n_threads; i++)
        *thread_place(s, s->thread[i].tid) = i + 1;
    return TROD_OK;
}

int drm_side_thread(struct drm_side *s, uint64_t tid)
{
    uint32_t *slot = thread_place(s, tid);
    int rc;

    if (*slot)
        return (int)*slot - 1;
    if (s->n_threads >= TROD_STREAM_MAX)
        return TROD_ERR_LIMIT;
    if (s->n_threads == s->cap_threads) {
        if ((rc = grow_threads(s)) < 0)
            return rc;
        slot = thread_place(s, tid);
    }
    s->thread[s->n_threads] = (struct drm_thread){.tid = tid, .stream = -1};
    *slot = ++s->n_threads;
    return (int)s->n_threads - 1;
}
