/*
 * steps.c - places inside a block from which decoding can go on. Implements index.h.
 *
 * The steps of a block stand together, compressed: for each one row, instruction, line, offset and
 * log, less those of the step before (the first: of the block), largest time and number in the
 * block before it, bytes of the decoder's state, bytes of all its state (packed, core/pack.h), then
 * the state.
 */
#include "navigate/index.h"

#include "core/pack.h"

#include <string.h>

int nav_steps_put(const struct nav_step *s, const struct nav_step *before, struct trod_buf *out)
{
    const uint64_t v[] = {s->row - before->row,
                          s->insn - before->insn,
                          s->line - before->line,
                          s->offset - before->offset,
                          s->log - before->log,
                          s->time_max,
                          s->number_max,
                          s->decoder,
                          s->state.n};
    int rc = TROD_OK;

    for (unsigned i = 0; rc == TROD_OK && i < sizeof v / sizeof *v; i++)
        rc = trod_pack(out, v[i]);
    return rc < 0 || s->state.n == 0 ? rc : trod_buf_add(out, s->state.p, s->state.n);
}

static bool get(struct trod_span *in, const struct nav_step *before, struct nav_step *s)
{
    uint64_t v[9];

    for (unsigned i = 0; i < sizeof v / sizeof *v; i++)
        if (trod_unpack(in, &v[i]) < 0)
            return false;
    if (v[0] == 0 || v[8] > in->n || v[7] > v[8])
        return false;
    *s = (struct nav_step){.row = before->row + v[0],
                           .insn = before->insn + v[1],
                           .line = before->line + v[2],
                           .offset = before->offset + v[3],
                           .log = before->log + v[4],
                           .time_max = v[5],
                           .number_max = v[6],
                           .decoder = (size_t)v[7],
                           .state = {.p = in->p, .n = (size_t)v[8], .last = true}};
    in->p += v[8];
    in->n -= (size_t)v[8];
    return true;
}

static int load(struct nav_steps *s, const struct nav_index *x, const struct nav_block *b)
{
    struct trod_span in;
    int rc = TROD_OK;

    s->state.n = s->more.n = 0;
    if (b->state_raw || b->steps_raw)
        rc = nav_index_check_at(x, b->state_raw ? b->state : b->steps);
    if (rc == TROD_OK && b->state_raw)
        rc = nav_unsqueeze(x, x->file + b->state, b->state_n, b->state_raw, &s->state);
    if (rc == TROD_OK && b->steps_raw)
        rc = nav_unsqueeze(x, x->file + b->steps, b->steps_n, b->steps_raw, &s->more);
    if (rc < 0)
        return rc;
    s->at[0] = (struct nav_step){.row = b->row,
                                 .insn = b->insn,
                                 .line = b->line,
                                 .offset = b->offset,
                                 .log = b->log,
                                 .decoder = b->decoder,
                                 .state = {.p = s->state.p, .n = s->state.n, .last = true}};
    in = (struct trod_span){.p = s->more.p, .n = s->more.n, .last = true};
    for (s->n = 1; in.n; s->n++) {
        const struct nav_step *before = &s->at[s->n - 1];

        if (s->n == NAV_STEPS || !get(&in, before, &s->at[s->n]) ||
            s->at[s->n].row - b->row >= b->rows || s->at[s->n].log > x->log_n)
            return TROD_ERR_CORRUPT;
    }
    return TROD_OK;
}

int nav_steps_load(struct nav_steps *s, const struct nav_index *x, size_t k)
{
    int rc;

    if (s->n && s->block == k)
        return TROD_OK;
    s->block = k;
    rc = load(s, x, &x->block[k]);
    s->n = rc < 0 ? 0 : s->n;
    return rc;
}

void nav_steps_fini(struct nav_steps *s)
{
    trod_buf_fini(&s->state);
    trod_buf_fini(&s->more);
    s->n = 0;
}

size_t nav_steps_find(const struct nav_steps *s, uint64_t row)
{
    size_t i = s->n;

    while (i > 1 && s->at[i - 1].row > row)
        i--;
    return i - 1;
}
