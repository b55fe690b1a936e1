/*
 * build.c - an index, made in one pass over its trace. Implements index.h.
 *
 * Here the trace is read and parted into blocks; what is made of their rows is the business of
 * lanes.c, on this thread or on others (pipe.c). The table of sections comes last, so that a file
 * that is cut has none.
 */
#include "navigate/build.h"

#include "core/wide.h"
#include "io/crc32c.h"
#include "navigate/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

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

int nav_align(struct nav_builder *b)
{
    static const uint8_t none[8];
    const size_t n = (size_t)(-trod_output_offset(b->out) & 7);

    return n ? nav_put_section(b, NAV_S_PADDING, 0, none, n, n) : TROD_OK;
}

int nav_put_squeezed(struct nav_builder *b, unsigned id, const struct trod_buf *raw)
{
    struct trod_buf bytes = {0};
    int rc = nav_squeeze(raw->p, raw->n, &bytes);

    if (rc == TROD_OK)
        rc = nav_put_section(b, id, 0, bytes.p, bytes.n, raw->n);
    trod_buf_fini(&bytes);
    return rc;
}

/* ---- reading */

/* The decoder's state, where reading could go on from here. */
static int mark(struct nav_builder *b, struct nav_item *it, bool start)
{
    struct nav_block *k = &it->block;
    int rc;

    if (start) {
        k->flags = NAV_B_START;
        return TROD_OK;
    }
    rc = trod_trace_mark(b->trace, &k->offset, &it->mark, &b->log);
    if (rc == TROD_ERR_UNSUPPORTED) {
        it->mark.n = 0;
        k->offset = b->counted; /* where its first line begins all the same */
        return TROD_OK;
    }
    k->flags = NAV_B_MARKED;
    return rc;
}

/* A block begins with what comes next: where, and with what state. START: with its file. */
static int begin_block(struct nav_builder *b, struct nav_item *it, bool start)
{
    int rc;

    it->begins = true;
    it->step = false;
    it->mark.n = 0;
    it->block = (struct nav_block){
        .row = b->row,
        .line = b->newlines,
        .time_min = UINT64_MAX,
        .first = UINT64_MAX,
        .file = b->file,
    };
    rc = mark(b, it, start);
    it->block.log = b->log.n;
    it->block.decoder = it->mark.n;
    return rc;
}

/* A step begins with what comes next, if decoding can go on from here. */
static int begin_step(struct nav_builder *b, struct nav_item *it)
{
    int rc;

    it->mark.n = 0;
    it->block = (struct nav_block){.row = b->row, .line = b->newlines};
    rc = trod_trace_mark(b->trace, &it->block.offset, &it->mark, &b->log);
    it->step = rc == TROD_OK;
    it->block.log = b->log.n;
    return rc == TROD_ERR_UNSUPPORTED ? TROD_OK : rc;
}

static uint64_t line_ends_plain(const uint8_t *p, const uint8_t *end)
{
    uint64_t n = 0;

    for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    return n;
}

#if TROD_AVX2
/* The same, 32 bytes at once. */
static TROD_WIDE uint64_t line_ends_wide(const uint8_t *p, const uint8_t *end)
{
    const __m256i line = _mm256_set1_epi8('\n');
    uint64_t n = 0;

    for (; end - p >= 32; p += 32) {
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);

        n += (unsigned)__builtin_popcount(
            (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, line)));
    }
    return n + line_ends_plain(p, end);
}
#else
static uint64_t line_ends_wide(const uint8_t *p, const uint8_t *end)
{
    return line_ends_plain(p, end);
}
#endif

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
    b->newlines += trod_wide() ? line_ends_wide(p, end) : line_ends_plain(p, end);
}

/* The rows to come are of file FILE: a block begins with it. */
static int enter_file(struct nav_builder *b, struct nav_item *it, size_t file)
{
    for (; b->file < file; b->file++) {
        b->source[b->file + 1].row = b->row;
        b->source[b->file + 1].log = b->log.n;
    }
    b->newlines = b->counted = 0;
    return begin_block(b, it, true);
}

/* Rows up to the end of the block or of the step. */
static uint32_t rows_wanted(const struct nav_builder *b, uint64_t first, uint64_t step)
{
    const uint64_t end = first + b->block_rows, next = step + b->step_rows;

    return (uint32_t)((next < end && next > b->row ? next : end) - b->row);
}

/* The trace, one plain file, is longer than it was when it was bound: to SIZE, if it is. */
static bool has_grown(const struct nav_builder *b, uint64_t *size)
{
    struct trod_trace_progress progress;
    struct stat st;

    trod_trace_progress(b->trace, &progress);
    if (b->n_sources != 1 || progress.filters[0] || stat(trod_trace_path(b->trace, 0), &st) != 0 ||
        !S_ISREG(st.st_mode))
        return false;
    *size = (uint64_t)st.st_size;
    return *size > b->source[0].bound.size;
}

/*
 * Who writes a text trace may be in the middle of a line. Of one that grows, what was there in
 * whole lines is read, but for the last few: some rows at a time where they are near. Returns
 * whether reading is over; else *ROWS are what to read next at most.
 */
static bool near_the_end(const struct nav_builder *b, uint32_t *rows)
{
    enum { NEAR = 1 << 20, NEXT = 1 << 16, FEW = 1 << 13, SOME = 64 };
    const uint64_t at = trod_trace_position(b->trace);
    uint64_t size;

    if (!b->lines_end || at + NEAR < b->lines_end || !has_grown(b, &size))
        return false;
    if (*rows > SOME)
        *rows = SOME;
    if (at + NEXT >= b->lines_end)
        *rows = 1;
    return at + FEW >= b->lines_end;
}

/* Where the last whole line of the trace's only file, a text of SIZE bytes, ends; 0: nowhere. */
static uint64_t end_of_lines(const char *path, uint64_t size)
{
    enum { LONGEST = 1 << 16 };
    const uint64_t from = size > LONGEST ? size - LONGEST : 0;
    char *room = malloc(LONGEST);
    FILE *f = fopen(path, "rb");
    size_t n = 0;

    if (room && f && fseeko(f, (off_t)from, SEEK_SET) == 0)
        n = fread(room, 1, (size_t)(size - from), f);
    while (n && room[n - 1] != '\n')
        n--;
    if (f)
        fclose(f);
    free(room);
    return n ? from + n : 0;
}

/* All rows to P. */
static int read_rows(struct nav_builder *b, struct nav_pipe *p, struct nav_item *it)
{
    struct trod_trace_progress progress;
    uint64_t first = b->row, step = b->row; /* of the block; of the step */
    bool inside = false;
    uint32_t most;
    int rc = TROD_OK;

    for (;;) {
        if (!inside)
            rc = begin_block(b, it, b->row == 0);
        else if (b->row - step >= b->step_rows)
            rc = begin_step(b, it);
        if (rc < 0)
            return rc;
        first = inside ? first : b->row;
        step = !inside || it->step ? b->row : step;
        most = rows_wanted(b, first, step);
        if (near_the_end(b, &most))
            return TROD_OK;
        trod_trace_limit(b->trace, most);
        if ((rc = trod_trace_next(b->trace, &it->b)) <= 0)
            return rc;
        if (trod_trace_at(b->trace) != b->file) {
            if ((rc = enter_file(b, it, trod_trace_at(b->trace))) < 0)
                return rc;
            first = step = b->row;
        }
        count_lines(b, it->b);
        it->row = b->row;
        b->row += it->b->n;
        inside = b->row - first < b->block_rows;
        if ((rc = nav_pipe_put(p, it)) < 0)
            return rc;
        it->begins = it->step = false;
        if (b->opt->progress) {
            trod_trace_progress(b->trace, &progress);
            b->opt->progress(b->opt->user, &progress);
        }
    }
}

static int rows(struct nav_builder *b)
{
    struct nav_item it = {0};
    struct nav_pipe *p;
    int rc = nav_pipe_new(&p, b), done;

    if (rc < 0)
        return rc;
    trod_trace_settle_windows(b->trace);
    rc = read_rows(b, p, &it);
    if (rc == TROD_OK) {
        it.b = NULL;
        it.begins = it.step = false;
        it.over = true;
        it.row = b->row;
        rc = nav_pipe_put(p, &it);
    }
    done = nav_pipe_end(p);
    trod_buf_fini(&it.mark);
    return rc < 0 ? rc : done;
}

/* ---- the end of the file */

static int put_table(struct nav_builder *b)
{
    struct nav_footer foot = {.magic = NAV_FOOT};
    int rc = nav_align(b);

    foot.table = trod_output_offset(b->out);
    foot.sections = (uint32_t)(b->sections.n / sizeof(struct nav_section));
    foot.sum = trod_crc32c(b->sections.p, b->sections.n);
    if (rc == TROD_OK)
        rc = trod_output_write(b->out, b->sections.p, b->sections.n);
    return rc < 0 ? rc : trod_output_write(b->out, &foot, sizeof foot);
}

/* What the trace is; all of it is summed meanwhile (points.c). */
static int bind(struct nav_builder *b)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < b->n_sources; i++) {
        const char *path = trod_trace_path(b->trace, i);

        rc = nav_bind(path, false, &b->source[i].bound);
        if (rc == TROD_ERR_IO)
            trod_error(b->opt->diag, rc, "index.read", NULL, "'%s' cannot be read", path);
    }
    /* what was written after that since may not be read any more */
    if (rc == TROD_OK && b->opt->before)
        b->source[0].bound = *b->opt->before;
    return rc;
}

/* The trace was only written on: B is of its first bytes, as far as rows were read. */
static int bind_beginning(struct nav_builder *b)
{
    struct nav_bound *bound = &b->source[0].bound, was, read;
    const char *path = trod_trace_path(b->trace, 0);
    const uint64_t end = trod_trace_position(b->trace);
    uint64_t size;

    if (!has_grown(b, &size) || end == 0 || end > size ||
        nav_bind_as(path, bound->size, &was) != TROD_OK || was.edges != bound->edges ||
        nav_bind_as(path, end, &read) != TROD_OK)
        return TROD_ERR_IO;
    bound->size = end;
    bound->edges = read.edges;
    bound->whole = read.whole;
    trod_warning(b->opt->diag, TROD_OK, "index.grows", NULL,
                 "'%s' is being written: the index is of its first %llu bytes, and 'trod index' "
                 "continues it",
                 path, (unsigned long long)end);
    return TROD_OK;
}

static bool same_time(const struct nav_bound *a, const struct nav_bound *b)
{
    return a->mtime_s == b->mtime_s && a->mtime_ns == b->mtime_ns;
}

/*
 * What the file at PATH is now, which was WAS. A write sets the time of a file before its size: a
 * new time with the old size may be that of a write that is not over yet, which is waited for.
 */
static bool bind_now(const char *path, const struct nav_bound *was, struct nav_bound *now)
{
    enum { TRIES = 50, WAIT_NS = 2000000 };
    const struct timespec wait = {.tv_nsec = WAIT_NS};
    int rc = nav_bind(path, false, now);

    for (int i = 0; i < TRIES && rc == TROD_OK && now->size == was->size && !same_time(now, was);
         i++) {
        nanosleep(&wait, NULL);
        rc = nav_bind(path, false, now);
    }
    return rc == TROD_OK;
}

/* Nobody wrote to the trace meanwhile, or only after what was there. */
static int still_the_same(struct nav_builder *b)
{
    struct nav_bound now;

    for (uint32_t i = 0; i < b->n_sources; i++) {
        const struct nav_bound *was = &b->source[i].bound;
        const char *path = trod_trace_path(b->trace, i);

        if (bind_now(path, was, &now) && (now.size != was->size || !same_time(&now, was)) &&
            bind_beginning(b) < 0)
            return trod_error(b->opt->diag, TROD_ERR_IO, "index.changed", NULL,
                              "'%s' changed while it was indexed", path);
    }
    return TROD_OK;
}

static int finish(struct nav_builder *b)
{
    struct trod_buf content = {0};
    int rc = still_the_same(b);

    if (rc == TROD_OK)
        rc = nav_put_squeezed(b, NAV_S_LOG, &b->log);
    if (rc == TROD_OK)
        rc = nav_align(b);
    if (rc == TROD_OK)
        rc = nav_put_section(b, NAV_S_BLOCKS, 0, b->block, b->n_blocks * sizeof *b->block,
                             b->n_blocks * sizeof *b->block);
    if (rc == TROD_OK)
        rc = nav_trees_put(b);
    if (rc == TROD_OK)
        rc = nav_functions_put(b);
    if (rc == TROD_OK)
        rc = nav_points_put(b);
    if (rc == TROD_OK)
        rc = nav_meta_save(b, &content);
    if (rc == TROD_OK)
        rc = nav_put_section(b, NAV_S_META, 0, content.p, content.n, content.n);
    if (rc == TROD_OK)
        rc = put_table(b);
    trod_buf_fini(&content);
    return rc;
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
    if (b->text && b->n_sources == 1)
        b->lines_end = end_of_lines(trod_trace_path(b->trace, 0), b->source[0].bound.size);
    nav_names_init(&b->names, b->isa);
    nav_regs_init(&b->regs, &b->names);
    if (b->isa != TROD_ISA_UNKNOWN && b->isa != TROD_ISA_REGDEPS &&
        trod_insn_decoder_new(&b->insn, b->isa, b->endian) == TROD_ERR_NOMEM)
        return TROD_ERR_NOMEM;
    b->regs.insn = b->insn;
    nav_regs_of(&b->regs, f);
    rc = nav_shapes_init(&b->shapes);
    if (rc == TROD_OK)
        rc = nav_spread_init(&b->spread);
    if (rc == TROD_OK)
        rc = nav_classes_init(&b->classes, f);
    if (rc == TROD_OK)
        rc = nav_tally_init(&b->tally, &b->regs, b->insn, &b->shapes, &b->classes, &b->spread, f);
    if (rc == TROD_OK)
        rc = nav_touch_init(&b->touch, b->endian == TROD_ENDIAN_BIG);
    if (rc == TROD_OK)
        rc = nav_values_init(&b->values);
    if (rc == TROD_OK)
        rc = nav_calls_new(&b->calls, true, NULL);
    if (rc == TROD_OK && nav_functions(b->opt->symbols))
        rc = nav_calls_new(&b->named, true, b->opt->symbols);
    return rc < 0 ? rc : trod_output_write(b->out, &head, sizeof head);
}

static void end(struct nav_builder *b)
{
    nav_tally_fini(&b->tally);
    nav_shapes_fini(&b->shapes);
    nav_classes_fini(&b->classes);
    nav_touch_fini(&b->touch);
    nav_values_fini(&b->values);
    nav_calls_free(b->calls);
    nav_calls_free(b->named);
    nav_regs_fini(&b->regs);
    nav_names_fini(&b->names);
    trod_insn_decoder_free(b->insn);
    free(b->block);
    free(b->source);
    free(b->lines.at);
    free(b->at.sites.at);
    free(b->at.regs.at);
    free(b->at.marks.at);
    free(b->at.shapes.at);
    free(b->at.classes.at);
    free(b->memory.at);
    free(b->at.pieces.at);
    free(b->at.within.at);
    trod_buf_fini(&b->at.within.payload);
    nav_spread_fini(&b->spread);
    trod_buf_fini(&b->memory.payload);
    trod_buf_fini(&b->state);
    trod_buf_fini(&b->states);
    trod_buf_fini(&b->steps);
    for (unsigned i = 0; i < NAV_CONTENTS; i++)
        trod_buf_fini(&b->content[i].bytes);
    trod_buf_fini(&b->log);
    trod_buf_fini(&b->sections);
    trod_buf_fini(&b->segments);
    trod_buf_fini(&b->points);
    trod_buf_fini(&b->window);
    if (b->windows)
        fclose(b->windows);
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
    b->step_rows = (b->block_rows + NAV_STEPS - 1) / NAV_STEPS;
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
