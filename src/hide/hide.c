/*
 * hide.c - anonymised rows.
 *
 * Implements trod/hide.h. What is not known to be harmless is removed: kinds of rows, markers and
 * columns are kept by name.
 */
#include "core/grow.h"
#include "core/hash.h"
#include "core/sized.h"
#include "core/times.h"
#include "hide/int.h"
#include "trod/drmemtrace.h"
#include "trod/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { GRANULE = 1 << 20, GRANULE_LEAST = 64, GRANULE_MOST = 1 << 30, PID = 1, FIRST_TID = 1 };

static const uint64_t epoch = UINT64_C(13300000000000000); /* microseconds since 1601 */

/* Kinds of rows that are what was executed and accessed. */
static const uint32_t kinds = 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE |
                              1u << TROD_ATOMIC | 1u << TROD_PREFETCH | 1u << TROD_FLUSH |
                              1u << TROD_BRANCH | 1u << TROD_SYNC | 1u << TROD_BUS |
                              1u << TROD_MARKER;

static uint64_t seed_of(const char *key)
{
    uint64_t seed = 0;

    if (key)
        return trod_fnv(TROD_FNV, key, strlen(key));
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed ^= (uint64_t)(uintptr_t)&seed;
    return seed;
}

static bool is_bus(const struct trod_meta *source)
{
    return source->driver && source->driver->flags & TROD_FMT_BUS;
}

int trod_hide_new(struct trod_hide **out, const struct trod_hide_options *opt,
                  const struct trod_meta *source, struct trod_diag *diag)
{
    struct trod_hide *h = calloc(1, sizeof *h);
    uint64_t granule;

    *out = NULL;
    if (!h)
        return TROD_ERR_NOMEM;
    trod_meta_init(&h->meta);
    if (!trod_sized(&h->opt, sizeof h->opt, sizeof h->opt, opt)) {
        trod_hide_free(h);
        return trod_error(diag, TROD_ERR_USAGE, "hide.options", NULL,
                          "options are of another version");
    }
    granule = h->opt.granule ? h->opt.granule : GRANULE;
    if (granule < GRANULE_LEAST || granule > GRANULE_MOST || granule & (granule - 1)) {
        trod_hide_free(h);
        return trod_error(diag, TROD_ERR_USAGE, "hide.granule", NULL,
                          "a granule of %" PRIu64 " bytes is no power of two from %d to %d",
                          granule, GRANULE_LEAST, GRANULE_MOST);
    }
    h->source = source;
    h->stamp0 = TROD_NOWHERE;
    hide_space_init(&h->space, seed_of(h->opt.key), granule, source->addr_bits);
    if (hide_codes_init(&h->codes) < 0 || trod_batch_new(&h->b, TROD_BATCH_ROWS) < 0) {
        trod_hide_free(h);
        return TROD_ERR_NOMEM;
    }
    h->meta.isa = h->opt.keep & TROD_HIDE_CODE ? source->isa : TROD_ISA_REGDEPS;
    h->meta.endian = source->endian;
    h->meta.addr_bits = source->addr_bits;
    h->meta.unit = source->unit;
    h->meta.line_size = source->line_size;
    h->meta.page_size = source->page_size;
    if (is_bus(source)) /* its rows have kinds of transactions, by number */
        h->meta.format = source->format;
    h->b->meta = &h->meta;
    h->b->have = trod_hide_columns(h);
    *out = h;
    return TROD_OK;
}

void trod_hide_free(struct trod_hide *h)
{
    if (!h)
        return;
    trod_batch_free(h->b);
    hide_codes_fini(&h->codes);
    trod_meta_fini(&h->meta);
    free(h->stream);
    free(h->cpu);
    free(h);
}

const struct trod_meta *trod_hide_meta(const struct trod_hide *h)
{
    return &h->meta;
}

uint32_t trod_hide_columns(const struct trod_hide *h)
{
    return TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_TIME |
           TROD_COL_UNIT | TROD_COL_INDEX | TROD_COL_ADDR | TROD_COL_PC | TROD_COL_TARGET |
           TROD_COL_SUB | TROD_COL_CODE | TROD_COL_VALUE |
           (h->opt.keep & TROD_HIDE_PHYSICAL && is_bus(h->source) ? TROD_COL_PADDR : 0) |
           (h->opt.keep & TROD_HIDE_VALUES ? TROD_COL_DATA : 0) |
           (h->opt.keep & TROD_HIDE_CODE ? TROD_COL_TEXT : 0);
}

/*
 * What the file type of a drmemtrace trace says of rows that are not there. It is as true of the
 * hidden ones, and without it a gap would be a jump.
 */
static uint64_t filetype_of(const struct trod_meta *source)
{
    return source->filetype &
           (TROD_DRM_FILTERED | TROD_DRM_IFILTERED | TROD_DRM_DFILTERED |
            TROD_DRM_INSTRUCTION_ONLY | TROD_DRM_BIMODAL | TROD_DRM_WHOLE_SYSTEM);
}

/* ---- numbers of threads and cpus */

static int new_stream(struct trod_hide *h, uint32_t stream)
{
    const struct trod_stream *s =
        stream < h->source->n_streams ? &h->source->streams[stream] : NULL;
    char name[32];
    int n, to;

    if (h->opt.keep & TROD_HIDE_NAMES && s)
        to = s->tid == TROD_NOWHERE ? trod_meta_stream(&h->meta, s->name, s->name_len)
                                    : trod_meta_thread(&h->meta, s->tid, s->pid, s->file);
    else if (s && s->tid != TROD_NOWHERE)
        to = trod_meta_thread(&h->meta, FIRST_TID + h->meta.n_streams, PID, s->file);
    else {
        n = snprintf(name, sizeof name, "cpu%u", h->meta.n_streams);
        to = trod_meta_stream(&h->meta, name, (size_t)n);
    }
    return to;
}

static int stream_of(struct trod_hide *h, uint32_t stream, uint32_t *to)
{
    if (stream >= h->n_streams) {
        const uint32_t n = 2 * stream + 16;
        uint32_t *p = realloc(h->stream, n * sizeof *p);

        if (!p)
            return TROD_ERR_NOMEM;
        memset(p + h->n_streams, 0, (n - h->n_streams) * sizeof *p);
        h->stream = p;
        h->n_streams = n;
    }
    if (!h->stream[stream]) {
        const int number = new_stream(h, stream);

        if (number < 0)
            return TROD_ERR_NOMEM;
        h->stream[stream] = (uint32_t)number + 1;
    }
    *to = h->stream[stream] - 1;
    return TROD_OK;
}

static int cpu_of(struct trod_hide *h, uint64_t cpu, uint64_t *to)
{
    size_t i = 0;

    while (i < h->n_cpus && h->cpu[i] != cpu)
        i++;
    if (i == h->n_cpus) {
        if (!trod_grow(&h->cpu, h->n_cpus, &h->cap_cpus, sizeof *h->cpu, 64))
            return TROD_ERR_NOMEM;
        h->cpu[h->n_cpus++] = cpu;
    }
    *to = i;
    return TROD_OK;
}

/* ---- rows */

/* A marker of drmemtrace whose value may be told. 1, 0: it goes, or an error. */
static int hide_marker(struct trod_hide *h, unsigned number, uint64_t *value)
{
    const bool deps = !(h->opt.keep & TROD_HIDE_CODE);

    switch (number) {
    case TROD_DRM_TIMESTAMP:
        if (h->opt.keep & TROD_HIDE_TIMES)
            return 1;
        if (h->stamp0 == TROD_NOWHERE)
            h->stamp0 = *value;
        *value = epoch + *value - h->stamp0; /* other threads may have begun before */
        return 1;
    case TROD_DRM_CPU_ID:
        if (deps) {
            *value = UINT64_MAX; /* such traces do not say it */
            return 1;
        }
        return h->opt.keep & TROD_HIDE_NAMES  ? 1
               : cpu_of(h, *value, value) < 0 ? TROD_ERR_NOMEM
                                              : 1;
    case TROD_DRM_WINDOW_ID:
    case TROD_DRM_INSTRUCTION_COUNT:
    case TROD_DRM_FILTER_ENDPOINT:
        return 1;
    case TROD_DRM_KERNEL_EVENT:
    case TROD_DRM_KERNEL_XFER:
    case TROD_DRM_HARDWARE_EVENT:
        *value = hide_address(&h->space, *value);
        return 1;
    case TROD_DRM_HARDWARE_RETURN:
        *value = 1; /* it says nothing, but is not 0 */
        return 1;
    default:
        return 0;
    }
}

/* The bytes FROM of B as they are. */
static int copy(struct trod_hide *h, const struct trod_batch *b, struct trod_slice from,
                struct trod_slice *to)
{
    uint8_t *p = trod_batch_pool(h->b, from.len, to);

    if (!p)
        return TROD_ERR_LIMIT;
    memcpy(p, trod_batch_bytes(b, from), from.len);
    return TROD_OK;
}

static int hide_code(struct trod_hide *h, const struct trod_batch *b, uint32_t i, uint32_t k)
{
    const unsigned iset =
        b->have & b->has[i] & TROD_COL_FLAGS ? (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT : 0;
    const struct hide_code *code;
    int r;

    if (h->opt.keep & TROD_HIDE_CODE)
        return copy(h, b, b->code[i], &h->b->code[k]);
    r = hide_codes_find(&h->codes, b->meta ? b->meta : h->source, iset,
                        trod_batch_bytes(b, b->code[i]), b->code[i].len, &code);
    if (r < 0)
        return r;
    h->b->code[k] = (struct trod_slice){code->at | (uint32_t)TROD_SLICE_SHARED, code->len};
    h->b->flags[k] &= ~(uint32_t)TROD_F_ISET;
    if (!(h->b->flags[k] & TROD_F_BRANCH)) /* the opcode told it, and is gone */
        h->b->flags[k] |= code->branch;
    if (code->leads != HIDE_NOWHERE && !(h->b->has[k] & TROD_COL_TARGET) &&
        h->b->has[k] & TROD_COL_PC) { /* so is where it leads to */
        const uint64_t to = code->target + (code->leads == HIDE_FAR ? b->pc[i] : 0);

        h->b->has[k] |= TROD_COL_TARGET;
        h->b->target[k] = hide_address(&h->space, to);
    }
    return TROD_OK;
}

/* A time in UNIT may be the first of all that can be compared with it. */
static void look_at_time(struct trod_hide *h, uint64_t time, uint8_t unit)
{
    struct hide_time *first = &h->first[trod_time_class(unit)];

    if (!first->any || trod_time_before(time, unit, first->time, first->unit)) {
        first->time = time;
        first->unit = unit;
    }
    if (!first->any || trod_time_exponent(unit) > trod_time_exponent(first->coarsest))
        first->coarsest = unit;
    first->any = true;
}

void trod_hide_look(struct trod_hide *h, const struct trod_batch *b)
{
    const uint32_t need = TROD_COL_TIME | TROD_COL_KIND;

    for (uint32_t i = 0; i < b->n; i++) {
        const uint32_t has = b->have & b->has[i];

        if ((has & need) == need && kinds >> b->kind[i] & 1)
            look_at_time(h, b->time[i], has & TROD_COL_UNIT ? b->unit[i] : h->source->unit);
    }
}

/*
 * TIME in UNIT, counted from the first, which is taken in the coarsest unit that there is: what is
 * subtracted is a whole number in each.
 */
static uint64_t hide_time(struct trod_hide *h, uint64_t time, uint8_t unit)
{
    const struct hide_time *first = &h->first[trod_time_class(unit)];
    int whole;
    uint64_t since;

    if (h->opt.keep & TROD_HIDE_TIMES)
        return time;
    if (!first->any)
        look_at_time(h, time, unit);
    whole = trod_time_exponent(first->coarsest);
    since = trod_time_scale(first->time, trod_time_exponent(first->unit) - whole);
    since = trod_time_scale(since, whole - trod_time_exponent(unit));
    if (time >= since)
        return time - since;
    h->early++;
    return 0;
}

/* The only address that row I has may be the physical one. */
static uint64_t address_of(const struct trod_batch *b, uint32_t i)
{
    return b->have & b->has[i] & TROD_COL_ADDR ? b->addr[i] : b->paddr[i];
}

static void hide_numbers(struct trod_hide *h, const struct trod_batch *b, uint32_t i, uint32_t k,
                         uint32_t has)
{
    struct trod_batch *to = h->b;

    to->flags[k] = has & TROD_COL_FLAGS ? b->flags[i] : 0;
    to->size[k] = has & TROD_COL_SIZE ? b->size[i] : 0;
    to->unit[k] = has & TROD_COL_UNIT ? b->unit[i] : h->source->unit;
    to->index[k] = has & TROD_COL_INDEX ? b->index[i] : 0;
    to->sub[k] = has & TROD_COL_SUB ? b->sub[i] : 0;
    to->value[k] = has & TROD_COL_VALUE ? b->value[i] : 0;
    to->addr[k] = has & TROD_COL_ADDR ? hide_address(&h->space, address_of(b, i)) : 0;
    if (has & TROD_COL_PADDR)
        to->paddr[k] = hide_address(&h->space, b->paddr[i]);
    to->pc[k] = has & TROD_COL_PC ? hide_address(&h->space, b->pc[i]) : 0;
    to->target[k] = has & TROD_COL_TARGET ? hide_address(&h->space, b->target[i]) : 0;
    if (has & TROD_COL_TIME)
        to->time[k] = hide_time(h, b->time[i], to->unit[k]);
}

/* Columns that row I of B may keep. */
static uint32_t columns_of(const struct trod_hide *h, const struct trod_batch *b, uint32_t i)
{
    uint32_t has = b->have & b->has[i] & trod_hide_columns(h);

    if (b->kind[i] == TROD_MARKER)
        return has & ~(uint32_t)(TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_TARGET | TROD_COL_TEXT);
    if (b->kind[i] != TROD_ATOMIC) /* the name of its operation, which its opcode says too */
        has &= ~(uint32_t)TROD_COL_TEXT;
    if (has & TROD_COL_PADDR) /* a bus has no others */
        has &= ~(uint32_t)TROD_COL_ADDR;
    else if (b->have & b->has[i] & TROD_COL_PADDR)
        has |= TROD_COL_ADDR;
    if (b->kind[i] != TROD_SYNC && !(h->opt.keep & TROD_HIDE_VALUES))
        has &= ~(uint32_t)(TROD_COL_VALUE | TROD_COL_DATA);
    return has;
}

/* Row I of B to the end of the hidden ones. 1, 0: it goes, or an error. */
static int hide_row(struct trod_hide *h, const struct trod_batch *b, uint32_t i)
{
    const uint32_t has = columns_of(h, b, i), k = h->b->n;
    int r;

    if (!(kinds >> b->kind[i] & 1))
        return 0;
    if (b->kind[i] == TROD_INSTR && b->have & b->has[i] & TROD_COL_FLAGS &&
        b->flags[i] & TROD_F_SYNTHETIC) {
        h->synthetic++;
        if (!(h->opt.keep & TROD_HIDE_SYNTHETIC))
            return 0;
    }
    h->b->has[k] = has | TROD_COL_KIND | TROD_COL_FLAGS;
    h->b->kind[k] = b->kind[i];
    hide_numbers(h, b, i, k, has);
    if (b->kind[i] == TROD_MARKER) {
        r = b->meta && b->meta->driver && b->meta->driver->flags & TROD_FMT_MARKERS
                ? hide_marker(h, b->sub[i], &h->b->value[k])
                : 0;
        if (r <= 0)
            return r;
    }
    if (has & TROD_COL_STREAM && (r = stream_of(h, b->stream[i], &h->b->stream[k])) < 0)
        return r;
    if (has & TROD_COL_CODE && b->kind[i] == TROD_INSTR && (r = hide_code(h, b, i, k)) < 0)
        return r;
    if (has & TROD_COL_DATA && (r = copy(h, b, b->data[i], &h->b->data[k])) < 0)
        return r;
    if (has & TROD_COL_TEXT && (r = copy(h, b, b->text[i], &h->b->text[k])) < 0)
        return r;
    h->b->n++;
    return 1;
}

int trod_hide_batch(struct trod_hide *h, const struct trod_batch *b, struct trod_batch **out)
{
    h->b->first += h->b->n;
    h->b->n = h->b->pool_n = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        const unsigned kind = b->kind[i] < TROD_KINDS ? b->kind[i] : TROD_NOTE;
        const int r = hide_row(h, b, i);

        if (r < 0)
            return r;
        h->kind[kind]++;
        h->gone[kind] += r == 0;
    }
    h->rows += b->n;
    h->kept += h->b->n;
    h->b->shared = h->codes.bytes;
    /* as far as they are known */
    h->meta.filetype = filetype_of(h->source);
    if (h->opt.keep & TROD_HIDE_CODE)
        h->meta.isa = h->source->isa;
    *out = h->b;
    return TROD_OK;
}

/* ---- what became of it */

int trod_hide_result(const struct trod_hide *h, struct trod_result *r)
{
    static const char *const columns[] = {"kind", "rows", "gone"};
    const uint32_t keep = h->opt.keep;
    const struct {
        const char *what, *how;
    } lines[] = {
        {"addresses", "moved; distances, lines, pages and sets stay"},
        {"opcodes", keep & TROD_HIDE_CODE ? "kept" : "what they read and write, and of what kind"},
        {"values", keep & TROD_HIDE_VALUES ? "kept" : "gone"},
        {"times", keep & TROD_HIDE_TIMES ? "kept" : "counted from the first"},
        {"threads_and_cpus", keep & TROD_HIDE_NAMES ? "kept" : "numbered as they appear"},
        {"synthetic_instructions", h->synthetic == 0            ? "none"
                                   : keep & TROD_HIDE_SYNTHETIC ? "kept"
                                                                : "gone"},
        {"registers_texts_symbols", "gone"},
    };

    trod_result_u64(r, "rows", h->rows);
    trod_result_u64(r, "rows_kept", h->kept);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        trod_result_str(r, lines[i].what, lines[i].how);
    trod_result_u64(r, "times_before_the_first", h->early);
    trod_result_u64(r, "different_opcodes", h->codes.used);
    trod_result_u64(r, "alignment", trod_isa_alignment(h->source->isa));
    trod_result_counts(r, "kinds", "rows by kind", columns, 3);
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        if (!h->kind[i])
            continue;
        trod_result_str(r, NULL, trod_kind_name(i));
        trod_result_u64(r, NULL, h->kind[i]);
        trod_result_u64(r, NULL, h->gone[i]);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    return trod_result_status(r);
}
