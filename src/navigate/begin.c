/*
 * begin.c - where others begin to read a trace, by its index. Implements trod_nav_begin.
 */
#include "navigate/begin.h"
#include "navigate/nav.h"

#include "io/points.h"
#include "trod/drmemtrace.h"
#include "trod/format.h"

#include <stdlib.h>
#include <string.h>

/* Rows that are read back, at most, for the last instruction of each stream. */
enum { BACK = 1 << 18 };

void nav_begin_free(struct nav_begin *b)
{
    if (!b)
        return;
    pthread_mutex_destroy(&b->lock);
    free(b->point);
    trod_buf_fini(&b->state);
    free(b);
}

/* ---- the instructions that rows belong to */

struct owners {
    const struct trod_meta *meta;
    bool apart;        /* a file has streams of its own */
    uint8_t *executed; /* by stream + 1 (0: rows of none): an instruction was met */
    uint32_t left;     /* streams that have none so far */
};

/* Streams whose rows may come in file FILE and after it, and began before. */
static void open_streams(struct owners *o, uint32_t file)
{
    o->left = o->meta->n_streams == 0;
    o->executed[0] = !o->left;
    for (uint32_t s = 0; s < o->meta->n_streams; s++) {
        o->executed[s + 1] = o->apart && o->meta->streams[s].file != file;
        o->left += !o->executed[s + 1];
    }
}

static int executed(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct owners *o = user;

    (void)row;
    for (const uint32_t end = i + n; i < end && o->left; i++) {
        const uint32_t s = nav_has(b, i, TROD_COL_STREAM) ? b->stream[i] + 1 : 0;

        if (b->kind[i] != TROD_INSTR || s > o->meta->n_streams || o->executed[s])
            continue;
        o->executed[s] = 1;
        o->left--;
    }
    return o->left != 0;
}

/* Take *ROW back to where all streams have an instruction before it. 0, or 1: they have not. */
static int to_owners(struct trod_nav *nav, uint64_t *row)
{
    const struct trod_format *f = trod_nav_format(nav);
    struct owners o = {.meta = trod_nav_meta(nav)};
    const struct nav_block *b = &nav->index->block[nav_block_of(nav, *row)];
    const uint64_t least = nav->index->source[b->file].row;
    uint64_t from = *row, back = 0, end;
    int rc = TROD_OK;

    o.apart = f->flags & TROD_FMT_PER_STREAM && !(o.meta->filetype & TROD_DRM_CORE_SHARDED);
    if (!(o.executed = calloc((size_t)o.meta->n_streams + 1, 1)))
        return TROD_ERR_NOMEM;
    open_streams(&o, (uint32_t)b->file);
    while (rc >= 0 && o.left && *row > least && back < BACK) {
        rc = nav_step_of(nav, *row - 1, 0, &from, &end);
        if (rc >= 0)
            rc = nav_scan(nav, from, *row, executed, &o);
        back += *row - from;
        *row = from;
    }
    /* a stream may have begun in a file before, which is not looked at */
    if (rc >= 0)
        rc = o.left && (*row > least || !o.apart);
    free(o.executed);
    return rc;
}

/* ---- the place */

/* 0, 1 (the trace begins there), or an error. */
static int mark(struct trod_nav *nav, uint64_t row, struct nav_begin *b)
{
    const struct nav_index *x = nav->index;
    struct trod_mark *m = &b->at.mark;
    size_t k = nav_block_of(nav, row), i;
    int rc = nav_steps_load(nav->steps, x, k);

    if (rc < 0)
        return rc;
    i = nav_steps_find(nav->steps, row);
    free(b->point);
    b->point = NULL;
    rc = nav_index_mark(x, &k, i, nav->steps, m, &b->point);
    b->state.n = 0;
    if (rc == TROD_OK && m->state.n)
        rc = trod_buf_add(&b->state, m->state.p, m->state.n);
    if (rc < 0)
        return rc;
    m->state.p = b->state.p; /* the steps may become those of another block */
    m->point = b->point;
    i = nav_steps_find(nav->steps, m->rows);
    b->at.instructions = nav->steps->at[i].insn;
    b->at.meta = &x->meta;
    b->at.known = nav->n_files == 1 && !nav->topt.from ? &nav->known : NULL;
    return m->rows == 0;
}

/* Can the trace be opened there? What an index says may not fit, although its sums are right. */
static int try(struct trod_nav *nav, uint64_t row)
{
    struct trod_trace *t;
    uint64_t first;
    const int rc = nav_open_at(nav, row, &t, &first, NULL);

    if (rc == TROD_OK)
        trod_trace_close(t);
    return rc;
}

const struct trod_begin *trod_nav_begin(struct trod_nav *nav, uint64_t row, bool owners,
                                        uint64_t *first)
{
    int rc = TROD_OK;

    *first = 0;
    if (!nav->index || nav->index->n_blocks == 0)
        return NULL;
    if (!nav->begin) {
        if (!(nav->begin = calloc(1, sizeof *nav->begin)))
            return NULL;
        pthread_mutex_init(&nav->begin->lock, NULL);
    }
    if (owners)
        rc = to_owners(nav, &row);
    if (rc == TROD_OK)
        rc = try(nav, row);
    if (rc == TROD_OK)
        rc = mark(nav, row, nav->begin);
    nav_distrust(nav, rc);
    if (rc != TROD_OK)
        return NULL;
    *first = nav->begin->at.mark.rows;
    nav->begin->at.symbols = nav->follow;
    nav->begin->at.calls = nav_given(nav, *first, &nav->begin->calls) ? &nav->begin->calls : NULL;
    return nav->index ? &nav->begin->at : NULL;
}

bool trod_nav_begin_calls(const struct trod_nav *nav)
{
    return nav->index && nav->begin && nav->begin->at.calls;
}
