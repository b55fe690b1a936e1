/*
 * raw_rseq.c - restartable sequences of raw files: what was recorded is not always what was
 * executed.
 *
 * Implements raw_int.h after docs/formats/drmemtrace-raw.md, "Restartable sequences". The tracer
 * runs such a sequence twice and records the first time; where the second run ended follows from
 * the entries behind. Until then the entries of the sequence are kept.
 */
#include "format/drmemtrace/raw_int.h"

#include "core/grow.h"

#include <string.h>

enum { JUMP_BYTES = 5, A64_JUMP_BYTES = 4 };

void raw_rseq_fini(struct raw_rseq *r)
{
    trod_buf_fini(&r->buf);
    free(r->branch);
    free(r->seen);
}

int raw_rseq_begin(struct raw *c, uint64_t end)
{
    struct raw_rseq *r = &c->rseq;
    int rc = TROD_OK;

    if (raw_separate(c))
        return TROD_OK;
    if (r->on)
        rc = raw_rseq_end(c, end, false); /* a loop over it */
    r->on = r->ever = true;
    r->end = end;
    c->sink = &r->buf;
    return rc;
}

static unsigned type_at(const struct raw_rseq *r, size_t at)
{
    return trod_load_le16(r->buf.p + at);
}

static bool is_insn(unsigned type)
{
    return drm_is_instr(type) || type == DRM_NO_FETCH;
}

static bool is_marker(const struct raw_rseq *r, size_t at, unsigned marker)
{
    return type_at(r, at) == DRM_MARKER && trod_load_le16(r->buf.p + at + 2) == marker;
}

/* Is the entry part of an instruction, or of the beginning of a buffer? */
static bool belongs(const struct raw_rseq *r, size_t at)
{
    const unsigned type = type_at(r, at);
    const struct drm_type_info *info = drm_type_info(type);

    return type == DRM_ENCODING || is_insn(type) || info->class == DRM_C_DATA ||
           is_marker(r, at, TROD_DRM_TIMESTAMP) || is_marker(r, at, TROD_DRM_CPU_ID) ||
           is_marker(r, at, TROD_DRM_BRANCH_TARGET);
}

static uint64_t address_at(const struct raw *c, size_t at)
{
    const uint8_t *p = c->rseq.buf.p + at + 4;

    return c->width == DRM_ENTRY_64 ? trod_load_le64(p) : trod_load_le32(p);
}

/* Forget that the encoding of the instruction at PC was written. */
static void forget(struct raw *c, uint64_t pc)
{
    const struct raw_rseq *r = &c->rseq;

    for (size_t i = r->n_seen; i-- > 0;)
        if (r->seen[i].pc == pc) {
            raw_site_forget(c->blocks, r->seen[i].site);
            return;
        }
}

/* Take back the entries from FROM to TO, both rounded up to the end of an instruction. */
static void take_back(struct raw *c, size_t from, size_t to)
{
    struct raw_rseq *r = &c->rseq;
    bool encoded = false;

    while (from < r->buf.n && type_at(r, from) != DRM_ENCODING && !is_insn(type_at(r, from)) &&
           !is_marker(r, from, TROD_DRM_TIMESTAMP))
        from += c->width;
    to = to < from ? from : to;
    while (to < r->buf.n && belongs(r, to))
        to += c->width;
    for (size_t i = from; i < to; i += c->width) {
        const unsigned type = type_at(r, i);

        if (is_insn(type) && encoded)
            forget(c, address_at(c, i));
        encoded = type == DRM_ENCODING || (encoded && !is_insn(type));
    }
    memmove(r->buf.p + from, r->buf.p + to, r->buf.n - to);
    r->buf.n -= to - from;
}

/*
 * The branch by which execution left the sequence for NEXT. *SKIPS: no branch goes there, but this
 * one jumps forward inside the sequence. NULL: none.
 */
static const struct raw_branch *exit_of(const struct raw_rseq *r, uint64_t next, bool *skips)
{
    const struct raw_branch *found = NULL;

    *skips = false;
    for (size_t i = 0; i < r->n; i++)
        if (r->branch[i].has_target && r->branch[i].target == next)
            found = &r->branch[i];
    for (size_t i = 0; i < r->n && !found; i++)
        if (r->branch[i].has_target && r->branch[i].target > r->branch[i].pc &&
            r->branch[i].target < r->end) {
            found = &r->branch[i];
            *skips = true;
        }
    return found;
}

/* A jump from PC to NEXT that was not recorded, with a made-up encoding. */
static int add_jump(struct raw *c, uint64_t pc, uint64_t next)
{
    const bool a64 = c->filetype & TROD_DRM_AARCH64;
    const unsigned n = a64 ? A64_JUMP_BYTES : JUMP_BYTES;
    uint8_t code[8] = {0xe9};
    int rc;

    if (a64)
        trod_store_le32(code, 0x14000000 | ((uint32_t)(next - pc) >> 2 & 0x03ffffff));
    else
        trod_store_le32(code + 1, (uint32_t)(next - pc - JUMP_BYTES));
    /* its real encoding must be written when it is executed */
    raw_sites_forget(c->blocks, pc);
    rc = raw_add(c, &c->rseq.buf, DRM_ENCODING, n, trod_load_le64(code));
    if (rc == TROD_OK && c->width == DRM_ENTRY_32) {
        trod_store_le16(c->rseq.buf.p + c->rseq.buf.n - c->width + 2, 4);
        rc = raw_add(c, &c->rseq.buf, DRM_ENCODING, 1, code[4]);
    }
    return rc < 0 ? rc : raw_add(c, &c->rseq.buf, DRM_DIRECT_JUMP, n, pc);
}

/* It was left in the middle, for NEXT. */
static int leave(struct raw *c, uint64_t next)
{
    struct raw_rseq *r = &c->rseq;
    bool skips;
    const struct raw_branch *b = exit_of(r, next, &skips);
    size_t at, size;

    if (!b)
        return raw_damage(c, TROD_ERR_CORRUPT, "drmemtrace.raw-rseq",
                          "restartable sequence was left where no branch leads to");
    for (at = b->at; at < r->buf.n && !is_insn(type_at(r, at)); at += c->width)
        ;
    if (at >= r->buf.n)
        return TROD_OK;
    trod_store_le16(r->buf.p + at, skips ? DRM_UNTAKEN_JUMP : DRM_TAKEN_JUMP);
    size = trod_load_le16(r->buf.p + at + 2);
    take_back(c, at + c->width, r->past_end ? r->commit : at + c->width);
    return skips ? add_jump(c, b->pc + size, next) : TROD_OK;
}

int raw_rseq_end(struct raw *c, uint64_t next, bool abort)
{
    struct raw_rseq *r = &c->rseq;
    int rc = TROD_OK;

    if (abort || (!r->ever && r->past_end && next == r->commit_pc)) {
        if (r->past_end)
            take_back(c, r->commit, r->commit);
    } else if (r->on && next != r->end && (r->past_end || (next >= r->start && next < r->end))) {
        rc = leave(c, next);
    }
    if (rc == TROD_OK && r->buf.n)
        rc = trod_buf_add(&c->out, r->buf.p, r->buf.n);
    c->sink = &c->out;
    r->on = r->past_end = false;
    r->start = r->end = r->commit_pc = 0;
    r->buf.n = r->n = r->n_seen = r->commit = 0;
    return rc;
}

int raw_rseq_step(struct raw *c, const struct raw_insn *n)
{
    struct raw_rseq *r = &c->rseq;

    if (r->past_end || n->pc < r->start || n->pc >= r->end)
        return raw_rseq_end(c, n->pc, false);
    if (r->buf.n > (size_t)RAW_RSEQ_MAX * c->width) {
        const int rc = raw_damage(c, TROD_ERR_CORRUPT, "drmemtrace.raw-rseq",
                                  "restartable sequence does not end");

        return rc < 0 ? rc : raw_rseq_end(c, r->end, false);
    }
    if (!trod_grow(&r->seen, r->n_seen, &r->cap_seen, sizeof *r->seen, 16))
        return TROD_ERR_NOMEM;
    r->seen[r->n_seen++] = (struct raw_seen){n->pc, n->site};
    if (n->flags & RAW_INSN_BRANCH) {
        if (!trod_grow(&r->branch, r->n, &r->cap, sizeof *r->branch, 16))
            return TROD_ERR_NOMEM;
        r->branch[r->n++] = (struct raw_branch){.at = r->buf.n,
                                                .pc = n->pc,
                                                .target = n->target,
                                                .has_target = n->flags & RAW_INSN_TARGET};
    }
    if (r->start == 0)
        r->start = n->pc;
    if (n->pc + n->len == r->end) {
        r->commit_pc = n->pc;
        r->past_end = true;
        r->commit = r->buf.n;
    }
    return TROD_OK;
}
