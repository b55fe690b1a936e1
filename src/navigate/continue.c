/*
 * continue.c - an index of a trace that has grown: what it said of all but its last segment stays.
 *
 * Implements nav_builder_continue of build.h. The result is the index that would be made again.
 */
#include "navigate/build.h"

#include <stdlib.h>
#include <string.h>

#include "trod/callstack.h"

static const struct nav_section *section_of(const struct nav_index *x, unsigned id,
                                            uint32_t segment)
{
    for (uint32_t i = 0; i < x->n_sections; i++)
        if (x->section[i].id == id && x->section[i].segment == segment)
            return &x->section[i];
    return NULL;
}

static int copy_segment(struct nav_builder *b, const struct nav_index *x, uint32_t s)
{
    static const unsigned ids[] = {
        NAV_S_STATES,     NAV_S_LINES,  NAV_S_SITES,  NAV_S_REGS,     NAV_S_MEMORY, NAV_S_CALLS,
        NAV_S_MARKS,      NAV_S_BLOOM,  NAV_S_VALUES, NAV_S_SHAPES,   NAV_S_TEXTS,  NAV_S_CLASSES,
        NAV_S_CLASS_ROWS, NAV_S_SPREAD, NAV_S_WITHIN, NAV_S_EXECUTED, NAV_S_NAMED};
    const uint32_t range[2] = {x->segment[s].from, x->segment[s].to};
    int rc = TROD_OK;

    for (unsigned i = 0; rc == TROD_OK && i < sizeof ids / sizeof *ids; i++) {
        const struct nav_section *from = section_of(x, ids[i], s);
        const uint64_t at = trod_output_offset(b->out);

        if (ids[i] == NAV_S_NAMED && !b->named)
            continue;
        if (!from)
            return TROD_ERR_CORRUPT;
        for (uint32_t k = range[0]; i == 0 && k < range[1]; k++) {
            b->block[k].state = b->block[k].state - from->offset + at;
            b->block[k].steps = b->block[k].steps - from->offset + at;
        }
        rc = nav_put_section(b, ids[i], s, x->file + from->offset, from->length, from->raw);
    }
    if (rc == TROD_OK)
        rc = nav_shapes_of(&b->shapes, x, &x->segment[s]);
    if (rc == TROD_OK)
        rc = nav_classes_of(&b->classes, x, &x->segment[s]);
    return rc < 0 ? rc : trod_buf_add(&b->segments, range, sizeof range);
}

/* Names, log, blocks and counts up to block K. */
static int copy_before(struct nav_builder *b, const struct nav_index *x, uint32_t k)
{
    for (uint32_t i = 0; i < x->names.n; i++)
        if (nav_names_find(&b->names, x->names.at[i].text, true) != i)
            return TROD_ERR_NOMEM;
    for (b->n_blocks = 0; b->n_blocks < k; b->n_blocks++) {
        if (!trod_grow(&b->block, b->n_blocks, &b->cap_blocks, sizeof *b->block, 256))
            return TROD_ERR_NOMEM;
        b->block[b->n_blocks] = x->block[b->n_blocks];
    }
    b->segment_from = k;
    b->row = x->block[k].row;
    b->insns = x->block[k].insn;
    b->newlines = x->block[k].line;
    b->counted = x->block[k].offset;
    b->lines_known = x->lines_known;
    b->problems = x->problems;
    return x->block[k].log ? trod_buf_add(&b->log, x->log, (size_t)x->block[k].log) : TROD_OK;
}

/*
 * Calls are followed from the beginning: what their stacks have learnt is kept nowhere, nor which
 * instruction each stream executed last.
 */
static int follow_calls(struct nav_builder *b, uint64_t rows)
{
    struct trod_buf none = {0};
    struct trod_batch *batch;
    struct trod_trace *t;
    uint64_t row = 0;
    int rc = trod_trace_open_file(&t, b->trace, 0, NULL, NULL);

    if (rc < 0)
        return rc;
    trod_trace_want(t, TROD_CALLSTACK_COLUMNS | TROD_COL_PC);
    while (rc == TROD_OK && row < rows) {
        uint32_t n;

        if ((rc = trod_trace_next(t, &batch)) <= 0)
            break;
        n = batch->n < rows - row ? batch->n : (uint32_t)(rows - row);
        rc = nav_calls_feed(b->calls, batch, 0, n, row);
        if (rc == TROD_OK && b->named)
            rc = nav_calls_feed(b->named, batch, 0, n, row);
        for (uint32_t i = 0; rc == TROD_OK && i < n; i++)
            rc = nav_tally_follow(&b->tally, batch, i);
        row += n;
    }
    trod_trace_close(t);
    if (rc == TROD_OK)
        rc = row == rows ? nav_calls_save(b->calls, &none) : TROD_ERR_CORRUPT;
    none.n = 0;
    if (rc == TROD_OK && b->named)
        rc = nav_calls_save(b->named, &none);
    trod_buf_fini(&none);
    return rc;
}

int nav_builder_continue(struct nav_builder *b, const struct nav_index *x)
{
    const uint32_t kept = x->n_segments - 1, k = x->segment[kept].from;
    struct trod_point *point = NULL;
    struct nav_steps steps = {0};
    struct trod_mark m;
    struct trod_span in;
    size_t at = k;
    int rc = copy_before(b, x, k);

    for (uint32_t s = 0; rc == TROD_OK && s < kept; s++)
        rc = copy_segment(b, x, s);
    b->n_segments = kept;
    if (rc == TROD_OK)
        rc = nav_index_mark(x, &at, 0, &steps, &m, &point);
    if (rc == TROD_OK && at != k)
        rc = TROD_ERR_CORRUPT;
    if (rc == TROD_OK) {
        in = steps.at[0].state;
        in.p += steps.at[0].decoder;
        in.n -= steps.at[0].decoder;
        rc = nav_regs_load(&b->regs, &in);
    }
    if (rc == TROD_OK)
        rc = trod_trace_resume(b->trace, &m, &x->meta);
    if (rc == TROD_OK)
        rc = follow_calls(b, x->block[k].row);
    nav_steps_fini(&steps);
    free(point);
    return rc;
}
