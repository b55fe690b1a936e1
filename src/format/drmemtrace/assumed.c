/*
 * assumed.c - implements assumed.h.
 */
#include "format/drmemtrace/assumed.h"

#include "core/endian.h"
#include "core/grow.h"

#include <stdlib.h>

struct drm_assumed {
    struct drm_dec state; /* that the decoder began with */
    struct drm_thread thread;
    struct drm_proofs plain; /* instructions that are assumed to be known, and no system calls */
    uint64_t *calls;         /* instructions that are assumed to be known system calls */
    size_t n_calls, cap_calls;
};

/* What cannot be told without what comes before. */
enum { UNKNOWN = TROD_COL_TIME | TROD_COL_INDEX | TROD_COL_CODE };

void drm_assumed_free(struct drm_assumed *a)
{
    if (!a)
        return;
    drm_proofs_free(&a->plain);
    free(a->calls);
    free(a);
}

/* The encoding of a system call, which stands for that of each. LEN 0: ISA is not known. */
static const uint8_t *a_call(unsigned isa, uint32_t *len)
{
    static const uint8_t x86[DRM_SLOT] = {0x0f, 0x05}, x86_32[DRM_SLOT] = {0xcd, 0x80},
                         a64[DRM_SLOT] = {0x01, 0x00, 0x00, 0xd4};

    *len = isa == TROD_ISA_A64 ? 4 : isa == TROD_ISA_X86_64 || isa == TROD_ISA_X86_32 ? 2 : 0;
    return isa == TROD_ISA_A64 ? a64 : isa == TROD_ISA_X86_32 ? x86_32 : x86;
}

bool drm_may_assume(const void *dec, uint32_t want)
{
    const struct drm_dec *d = dec;
    uint32_t len;

    a_call(d->meta->isa, &len);
    return !(want & UNKNOWN) && drm_is_plain(d) && !d->headless && !d->bad_header &&
           d->chunk_size == 0 && !(d->filetype & TROD_DRM_CORE_SHARDED) &&
           !drm_side_many_threads(d->side) &&
           (!(d->filetype & TROD_DRM_ENCODINGS) ||
            (d->filetype & TROD_DRM_SYSCALL_NUMBERS && len > 0));
}

int drm_assume(void *dec)
{
    struct drm_dec *d = dec;
    struct drm_assumed *a = calloc(1, sizeof *a);

    if (!a || !drm_proofs_new(&a->plain)) {
        free(a);
        return TROD_ERR_NOMEM;
    }
    drm_past_free(d->side->past); /* what it says may have changed before the cut */
    d->side->past = NULL;
    d->instrs = d->records = 0;
    d->bad_header = false;
    a->state = *d;
    a->thread = d->side->thread[d->thread];
    d->side->assumed = a;
    return TROD_OK;
}

/* Does a SYSCALL marker follow the instruction whose entry is P, perhaps behind times? */
static bool calls(const struct drm_call *c, const uint8_t *p)
{
    const size_t width = c->d->width;

    for (unsigned i = 0; i < DRM_CALL_ENTRIES && (size_t)(c->end - p) >= 2 * width; i++) {
        unsigned marker;

        p += width;
        marker = trod_load_le16(p + 2);
        if (trod_load_le16(p) != DRM_MARKER)
            return false;
        if (marker != TROD_DRM_TIMESTAMP && marker != TROD_DRM_CPU_ID)
            return marker == TROD_DRM_SYSCALL;
    }
    return false;
}

/* The instruction at PC is a system call, like others that are known. False: no memory. */
static bool assume_call(struct drm_side *s, uint64_t pc, unsigned isa)
{
    struct drm_assumed *a = s->assumed;
    struct trod_slice code;
    uint32_t len;
    const uint8_t *bytes = a_call(isa, &len);

    if (!trod_grow(&a->calls, a->n_calls, &a->cap_calls, sizeof *a->calls, 64))
        return false;
    a->calls[a->n_calls++] = pc;
    return drm_side_learn(s, pc, bytes, len, &code) == TROD_OK;
}

uint32_t drm_assume_code(struct drm_call *c, const uint8_t *p, uint64_t pc)
{
    struct drm_side *s = c->d->side;
    const struct drm_proof *page;

    if (calls(c, p)) {
        s->failed |= !assume_call(s, pc, c->d->meta->isa);
        return TROD_BR_SYSCALL;
    }
    page = drm_proofs_page(&s->assumed->plain, pc >> DRM_PROOF_SHIFT);
    if (page->bits)
        *drm_proof_word(page, pc) |= UINT64_C(1) << (pc & 63);
    s->failed |= !page->bits;
    drm_side_prove(s, pc);
    return 0;
}

/* Is the state that B ends with the one that A began with, as far as rows depend on it? */
static bool same_state(const struct drm_assumed *a, const struct drm_dec *b)
{
    const struct drm_dec *s = &a->state;
    const struct drm_thread *t = &b->side->thread[b->thread];

    return drm_is_plain(b) && !drm_side_many_threads(b->side) && t->tid == a->thread.tid &&
           t->pid == a->thread.pid && t->has_pid == a->thread.has_pid &&
           t->skip == a->thread.skip && b->shift == s->shift && b->footer == s->footer &&
           b->in_syscall == s->in_syscall && b->in_switch == s->in_switch && b->depth == s->depth &&
           b->entered == s->entered && b->jumped == s->jumped && b->flush_type == s->flush_type &&
           b->chunks == s->chunks && b->chunk_size == s->chunk_size && b->filetype == s->filetype &&
           b->version == s->version;
}

/* Are all instructions of PAGE, which are assumed to be no system calls, known in P? */
static bool all_known(const struct drm_proof *page, const struct drm_past *p, unsigned isa)
{
    const uint64_t from = page->number << DRM_PROOF_SHIFT;

    for (unsigned i = 0; i < DRM_PROOF_WORDS; i++) {
        uint64_t left = page->bits[i];

        for (const struct drm_past *q = p; left && q; q = q->before) {
            const struct drm_proof *proven = drm_proofs_place(&q->proofs, page->number);

            left &= proven->bits ? ~proven->bits[i] : UINT64_MAX;
        }
        for (; left; left &= left - 1) {
            const uint64_t pc = from + 64 * i + (unsigned)__builtin_ctzll(left);
            const uint8_t *code;
            const struct drm_known *k = drm_past_known(p, pc, &code);

            if (!k || drm_is_syscall(isa, code, k->len))
                return false;
        }
    }
    return true;
}

/* Are the encodings of P such as A assumed? */
static bool same_code(const struct drm_assumed *a, const struct drm_past *p, unsigned isa)
{
    for (uint32_t i = 0; i <= a->plain.mask; i++)
        if (a->plain.page[i].bits && !all_known(&a->plain.page[i], p, isa))
            return false;
    for (const struct drm_past *q = p; q; q = q->before)
        for (size_t i = 0; i < q->n_calls; i++)
            if (drm_proofs_has(&a->plain, q->calls[i]))
                return false;
    for (size_t i = 0; i < a->n_calls; i++) {
        const uint8_t *code;
        const struct drm_known *k = drm_past_known(p, a->calls[i], &code);

        if (!k || !drm_is_syscall(isa, code, k->len))
            return false;
    }
    return true;
}

int drm_assumed(void *dec, void *before)
{
    struct drm_dec *d = dec, *b = before;
    struct drm_side *s = d->side;

    if (!same_state(s->assumed, b) || (s->source && b->side->vague))
        return 0;
    if (b->side->known_n && drm_side_end(b->side) < 0)
        return TROD_ERR_NOMEM;
    if (!same_code(s->assumed, b->side->past, d->meta->isa))
        return 0;
    if (b->side->past)
        atomic_fetch_add_explicit(&b->side->past->users, 1, memory_order_relaxed);
    drm_past_free(s->past);
    s->past = b->side->past;
    s->vague |= b->side->vague;
    return 1;
}
