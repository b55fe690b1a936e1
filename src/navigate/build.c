/*
 * build.c - an index, made in one pass over its trace. Implements index.h.
 *
 * A segment of blocks is kept in memory, then written: its states, and its postings sorted by key.
 * The table of sections comes last, so that a file that is cut has none.
 */
#include "navigate/build.h"

#include "io/crc32c.h"

#include <stdlib.h>
#include <string.h>

/* ---- sections */

int nav_put_section(struct nav_builder *b, unsigned id, uint32_t segment, const void *p, size_t n,
                    size_t raw)
{
    struct nav_section s = {.id = id,
                            .segment = segment,
                            .offset = trod_output_offset(b->out),
                            .length = n,
                            .raw = raw,
                            .sum = trod_crc32c(p, n)};

    if (trod_buf_add(&b->sections, &s, sizeof s) < 0)
        return TROD_ERR_NOMEM;
    return n ? trod_output_write(b->out, p, n) : TROD_OK;
}

static int put_postings(struct nav_builder *b, unsigned id, struct nav_postings *p)
{
    struct trod_buf content = {0};
    int rc = nav_postings_sort(p);

    if (rc == TROD_OK)
        rc = nav_postings_encode(p, id, b->segment_from, &content);
    p->told.n = 0;
    if (rc == TROD_OK)
        rc = nav_put_section(b, id, b->n_segments, content.p, content.n, content.n);
    p->n = 0;
    trod_buf_fini(&content);
    return rc;
}

static int put_calls(struct nav_builder *b)
{
    struct trod_buf raw = {0}, content = {0};
    int rc = nav_calls_save(b->calls, &raw);

    if (rc == TROD_OK)
        rc = nav_squeeze(raw.p, raw.n, &content);
    if (rc == TROD_OK)
        rc = nav_put_section(b, NAV_S_CALLS, b->n_segments, content.p, content.n, raw.n);
    trod_buf_fini(&raw);
    trod_buf_fini(&content);
    return rc;
}

static int end_segment(struct nav_builder *b)
{
    const uint32_t range[2] = {b->segment_from, b->n_blocks};
    const uint64_t at = trod_output_offset(b->out);
    int rc;

    if (b->segment_from == b->n_blocks)
        return TROD_OK;
    for (uint32_t k = b->segment_from; k < b->n_blocks; k++)
        b->block[k].state += at;
    rc = nav_put_section(b, NAV_S_STATES, b->n_segments, b->states.p, b->states.n, b->states.n);
    b->states.n = 0;
    if (rc == TROD_OK)
        rc = put_postings(b, NAV_S_LINES, &b->lines);
    if (rc == TROD_OK)
        rc = put_postings(b, NAV_S_SITES, &b->sites);
    if (rc == TROD_OK)
        rc = put_postings(b, NAV_S_REGS, &b->regs_at);
    if (rc == TROD_OK)
        rc = put_postings(b, NAV_S_MEMORY, &b->memory);
    nav_memory_forget(&b->tally.memory);
    if (rc == TROD_OK)
        rc = put_calls(b);
    if (rc == TROD_OK)
        rc = put_postings(b, NAV_S_MARKS, &b->marks);
    if (rc == TROD_OK)
        rc = trod_buf_add(&b->segments, range, sizeof range);
    b->n_segments++;
    b->segment_from = b->n_blocks;
    return rc;
}

/* ---- blocks */

/* The decoder's state, where reading could go on from here. */
static int mark(struct nav_builder *b, struct nav_block *k, bool start, struct trod_buf *raw)
{
    int rc;

    if (start) {
        k->flags = NAV_B_START;
        return TROD_OK;
    }
    rc = trod_trace_mark(b->trace, &k->offset, raw, &b->log);
    if (rc == TROD_ERR_UNSUPPORTED) {
        raw->n = 0;
        k->offset = b->counted; /* where its first line begins all the same */
        return TROD_OK;
    }
    k->flags = NAV_B_MARKED;
    return rc;
}

/* A block begins with what comes next: where, and with what state. START: with its file. */
static int begin_block(struct nav_builder *b, bool start)
{
    struct trod_buf raw = {0};
    struct nav_block *k;
    const size_t at = b->states.n;
    int rc;

    if (!trod_grow(&b->block, b->n_blocks, &b->cap_blocks, sizeof *b->block, 256))
        return TROD_ERR_NOMEM;
    k = &b->block[b->n_blocks];
    *k = (struct nav_block){
        .row = b->row,
        .insn = b->insns,
        .line = b->newlines,
        .time_min = UINT64_MAX,
        .file = b->file,
    };
    rc = mark(b, k, start, &raw);
    k->log = b->log.n;
    k->decoder = raw.n;
    if (rc == TROD_OK)
        rc = nav_regs_save(&b->regs, &raw);
    k->state_raw = raw.n;
    if (rc == TROD_OK)
        rc = nav_squeeze(raw.p, raw.n, &b->states);
    k->state = at;
    k->state_n = b->states.n - at;
    trod_buf_fini(&raw);
    b->open = rc == TROD_OK;
    b->tally.first = b->row;
    return rc;
}

/*
 * How much of what the block K leaves in memory is kept: of formats that have no values, only rows
 * are told.
 */
static uint64_t memory_most(const struct nav_builder *b, const struct nav_block *k)
{
    const struct trod_format *f = trod_trace_format(b->trace);
    const bool values = !f || f->reads & (TROD_COL_VALUE | TROD_COL_DATA);

    if (b->opt->memory)
        return b->opt->memory;
    return NAV_MEMORY_FLOOR + (values ? NAV_MEMORY_ROW : 1) * k->rows;
}

static bool segment_is_full(const struct nav_builder *b)
{
    return b->n_blocks - b->segment_from == b->segment_most ||
           b->lines.n + b->sites.n >= NAV_POSTINGS || b->memory.told.n >= NAV_MEMORY_SEGMENT ||
           nav_calls_events(b->calls) >= NAV_EVENTS;
}

static int end_block(struct nav_builder *b)
{
    struct nav_block *k = &b->block[b->n_blocks];
    bool whole = false;
    int rc;

    if (!b->open)
        return TROD_OK;
    b->open = false;
    k->rows = b->row - k->row;
    if (k->rows == 0) {
        b->states.n = (size_t)k->state;
        return TROD_OK;
    }
    b->incomplete |= !k->flags;
    rc = nav_tally_end(&b->tally, b->n_blocks, &b->lines, &b->sites, &b->regs_at, &b->marks);
    if (rc == TROD_OK)
        rc = nav_memory_end(&b->tally.memory, b->n_blocks, memory_most(b, k), &b->memory, &whole);
    if (whole)
        k->flags |= NAV_B_MEMORY;
    b->n_blocks++;
    if (rc == TROD_OK && segment_is_full(b))
        rc = end_segment(b);
    return rc;
}

/* Ends of lines in what was eaten for B; without a gap since what was eaten before. */
static void count_lines(struct nav_builder *b, const struct trod_batch *batch)
{
    const uint64_t to = trod_trace_position(b->trace);
    const uint8_t *p = batch->bytes, *end;

    if (!b->text || !b->lines_known)
        return;
    if (batch->offset != b->counted || to < batch->offset || to - batch->offset > batch->bytes_n) {
        b->lines_known = false;
        return;
    }
    b->counted = to;
    end = p + (to - batch->offset);
    for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        b->newlines++;
}

static void note(struct nav_block *k, const struct trod_batch *b, uint32_t i)
{
    if (nav_has(b, i, TROD_COL_TIME)) {
        uint64_t t = b->time[i];

        if (nav_has(b, i, TROD_COL_UNIT))
            for (unsigned d = trod_unit_decimals(b->unit[i]); d; d--)
                t /= 10;
        if (t > k->time_max)
            k->time_max = t;
        if (t < k->time_min)
            k->time_min = t;
    }
    if (b->kind[i] == TROD_INSTR && nav_has(b, i, TROD_COL_INDEX) && b->index[i] > k->number_max)
        k->number_max = b->index[i];
}

static int feed(struct nav_builder *b, const struct trod_batch *batch)
{
    struct nav_block *k = &b->block[b->n_blocks];
    int rc = nav_calls_feed(b->calls, batch, 0, batch->n, b->row);

    count_lines(b, batch);
    for (uint32_t i = 0; rc == TROD_OK && i < batch->n; i++, b->row++) {
        b->insns += batch->kind[i] == TROD_INSTR;
        note(k, batch, i);
        rc = nav_tally_row(&b->tally, batch, i, b->row);
    }
    return rc;
}

/* The rows to come are of file FILE: a block ends with its file. */
static int enter_file(struct nav_builder *b, size_t file)
{
    int rc = end_block(b);

    for (; b->file < file; b->file++)
        b->source[b->file + 1] =
            (struct nav_source){b->source[b->file + 1].bound, b->row, b->log.n};
    b->newlines = b->counted = 0;
    return rc < 0 ? rc : begin_block(b, true);
}

static int rows(struct nav_builder *b)
{
    struct trod_batch *batch;
    struct trod_trace_progress p;
    int rc = TROD_OK;

    while (rc >= 0) {
        if (!b->open && (rc = begin_block(b, b->row == 0)) < 0)
            break;
        trod_trace_limit(b->trace, (uint32_t)(b->block[b->n_blocks].row + b->block_rows - b->row));
        if ((rc = trod_trace_next(b->trace, &batch)) <= 0)
            break;
        if (trod_trace_at(b->trace) != b->file && (rc = enter_file(b, trod_trace_at(b->trace))) < 0)
            break;
        rc = feed(b, batch);
        if (b->opt->progress) {
            trod_trace_progress(b->trace, &p);
            b->opt->progress(b->opt->user, &p);
        }
        if (rc == TROD_OK && b->open && b->row - b->block[b->n_blocks].row >= b->block_rows)
            rc = end_block(b);
    }
    return rc < 0 ? rc : end_block(b);
}

/* ---- the end of the file */

static int put_table(struct nav_builder *b)
{
    const struct nav_footer foot = {.table = trod_output_offset(b->out),
                                    .sections =
                                        (uint32_t)(b->sections.n / sizeof(struct nav_section)),
                                    .sum = trod_crc32c(b->sections.p, b->sections.n),
                                    .magic = NAV_FOOT};
    int rc = trod_output_write(b->out, b->sections.p, b->sections.n);

    return rc < 0 ? rc : trod_output_write(b->out, &foot, sizeof foot);
}

/* What the trace is. */
static int bind(struct nav_builder *b)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < b->n_sources; i++) {
        const char *path = trod_trace_path(b->trace, i);

        rc = nav_bind(path, true, &b->source[i].bound);
        if (rc == TROD_ERR_IO)
            trod_error(b->opt->diag, rc, "index.read", NULL, "'%s' cannot be read", path);
    }
    return rc;
}

/* Nobody wrote to the trace meanwhile. */
static int still_the_same(struct nav_builder *b)
{
    struct nav_bound now;

    for (uint32_t i = 0; i < b->n_sources; i++) {
        const struct nav_bound *was = &b->source[i].bound;
        const char *path = trod_trace_path(b->trace, i);

        if (nav_bind(path, false, &now) == TROD_OK &&
            (now.size != was->size || now.mtime_s != was->mtime_s || now.mtime_ns != was->mtime_ns))
            return trod_error(b->opt->diag, TROD_ERR_IO, "index.changed", NULL,
                              "'%s' changed while it was indexed", path);
    }
    return TROD_OK;
}

static int finish(struct nav_builder *b)
{
    struct trod_buf content = {0};
    int rc = end_segment(b);

    if (rc == TROD_OK)
        rc = nav_squeeze(b->log.p, b->log.n, &content);
    if (rc == TROD_OK)
        rc = nav_put_section(b, NAV_S_LOG, 0, content.p, content.n, b->log.n);
    if (rc == TROD_OK)
        rc = nav_put_section(b, NAV_S_BLOCKS, 0, b->block, b->n_blocks * sizeof *b->block,
                             b->n_blocks * sizeof *b->block);
    content.n = 0;
    if (rc == TROD_OK)
        rc = nav_points_put(b);
    if (rc == TROD_OK)
        rc = nav_meta_save(b, &content);
    if (rc == TROD_OK)
        rc = nav_put_section(b, NAV_S_META, 0, content.p, content.n, content.n);
    if (rc == TROD_OK)
        rc = put_table(b);
    trod_buf_fini(&content);
    return rc < 0 ? rc : still_the_same(b);
}

static int begin(struct nav_builder *b, const char *path)
{
    static const struct nav_head head = {NAV_HEAD, NAV_INDEX_VERSION, NAV_INDEX_VERSION};
    const struct trod_output_options opt = {.struct_size = sizeof opt, .compress = "none"};
    const struct trod_format *f = trod_trace_format(b->trace);
    int rc = trod_output_create(&b->out, path, &opt, b->opt->diag);

    if (rc < 0)
        return rc;
    b->text = f && f->flags & TROD_FMT_TEXT;
    b->lines_known = b->text;
    nav_names_init(&b->names, b->isa);
    nav_regs_init(&b->regs, &b->names);
    if (b->isa != TROD_ISA_UNKNOWN && b->isa != TROD_ISA_REGDEPS &&
        trod_insn_decoder_new(&b->insn, b->isa, b->endian) == TROD_ERR_NOMEM)
        return TROD_ERR_NOMEM;
    b->regs.insn = b->insn;
    b->regs.markers = f && f->flags & TROD_FMT_MARKERS;
    rc = nav_tally_init(&b->tally, &b->regs, b->insn, f, b->endian == TROD_ENDIAN_BIG);
    if (rc == TROD_OK)
        rc = nav_calls_new(&b->calls, true);
    return rc < 0 ? rc : trod_output_write(b->out, &head, sizeof head);
}

static void end(struct nav_builder *b)
{
    nav_tally_fini(&b->tally);
    nav_calls_free(b->calls);
    nav_regs_fini(&b->regs);
    nav_names_fini(&b->names);
    trod_insn_decoder_free(b->insn);
    free(b->block);
    free(b->source);
    free(b->lines.at);
    free(b->sites.at);
    free(b->regs_at.at);
    free(b->memory.at);
    free(b->marks.at);
    trod_buf_fini(&b->memory.told);
    trod_buf_fini(&b->states);
    trod_buf_fini(&b->log);
    trod_buf_fini(&b->sections);
    trod_buf_fini(&b->segments);
    trod_buf_fini(&b->points);
    trod_buf_fini(&b->windows);
    free(b);
}

int nav_index_build(struct trod_trace *t, const char *path, const struct nav_build_options *opt)
{
    struct nav_builder *b = calloc(1, sizeof *b);
    const uint64_t errors = opt->diag ? opt->diag->errors : 0;
    int rc;

    if (!b)
        return TROD_ERR_NOMEM;
    b->trace = t;
    b->opt = opt;
    b->block_rows = opt->block_rows ? opt->block_rows : NAV_BLOCK_ROWS;
    b->segment_most = opt->segment ? opt->segment : NAV_SEGMENT;
    b->isa = opt->isa;
    b->endian = opt->endian;
    b->n_sources = (uint32_t)trod_trace_files(t);
    b->source = calloc((size_t)b->n_sources + 1, sizeof *b->source);
    rc = b->source ? bind(b) : TROD_ERR_NOMEM;
    if (rc == TROD_OK)
        rc = begin(b, path);
    if (rc == TROD_OK && opt->of)
        rc = nav_builder_continue(b, opt->of);
    if (rc == TROD_OK)
        rc = nav_points_begin(b);
    if (rc == TROD_OK)
        rc = rows(b);
    nav_points_end(b);
    b->problems += opt->diag ? opt->diag->errors - errors : 0;
    if (rc == TROD_OK)
        rc = finish(b);
    if (b->out && rc == TROD_OK)
        rc = trod_output_commit(b->out);
    else
        trod_output_discard(b->out);
    end(b);
    return rc;
}
