/*
 * sizes.c - the analysis "sizes": data accesses by how many bytes they touch.
 *
 * Implements docs/adding-an-analysis.md, "The question". Prefetches and flushes are not counted.
 */
#include "trod/analysis.h"
#include "trod/buf.h"

enum { SIZES = 65 }; /* 0 to 63 bytes, and 64 or more */

struct state {
    uint64_t n[2][SIZES]; /* reads, writes */
};

static int init(void *st, const void *opt, const struct trod_context *context)
{
    (void)st; /* all zero already */
    (void)opt;
    (void)context;
    return TROD_OK;
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct state *s = st;

    for (uint32_t i = from; i < to; i++) {
        const uint8_t kind = b->kind[i];

        if ((kind != TROD_READ && kind != TROD_WRITE && kind != TROD_ATOMIC) ||
            !(b->has[i] & TROD_COL_SIZE))
            continue;
        const uint32_t size = b->size[i] < SIZES ? b->size[i] : SIZES - 1;

        s->n[0][size] += kind != TROD_WRITE; /* an atomic access reads and writes */
        s->n[1][size] += kind != TROD_READ;
    }
    return TROD_OK;
}

static int merge(void *into, const void *from)
{
    struct state *s = into;
    const struct state *t = from;

    for (unsigned size = 0; size < SIZES; size++) {
        s->n[0][size] += t->n[0][size];
        s->n[1][size] += t->n[1][size];
    }
    return TROD_OK;
}

static int save(const void *st, struct trod_buf *out)
{
    const struct state *s = st;
    uint8_t bytes[sizeof s->n];

    for (size_t i = 0; i < sizeof bytes; i++) /* the lowest first, on every machine */
        bytes[i] = (uint8_t)(s->n[i / 8 / SIZES][i / 8 % SIZES] >> 8 * (i % 8));
    return trod_buf_add(out, bytes, sizeof bytes);
}

static int load(void *st, struct trod_span in, const uint32_t *sites)
{
    struct state *s = st; /* all zero */

    (void)sites; /* nothing is counted by site */
    if (in.n != sizeof s->n)
        return TROD_ERR_CORRUPT;
    for (size_t i = 0; i < in.n; i++)
        s->n[i / 8 / SIZES][i / 8 % SIZES] |= (uint64_t)in.p[i] << 8 * (i % 8);
    return TROD_OK;
}

static int result(const void *st, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"size", TROD_COLUMN_X, "bytes", "of the access; 64: or more"},
        {"reads", TROD_COLUMN_MEASURE, "accesses", NULL},
        {"writes", TROD_COLUMN_MEASURE, "accesses", NULL},
    };
    const struct state *s = st;

    trod_result_table(r, "sizes", "accesses by size", columns, 3);
    for (unsigned size = 0; size < SIZES; size++) {
        if (s->n[0][size] + s->n[1][size] == 0)
            continue;
        trod_result_u64(r, "size", size);
        trod_result_u64(r, "reads", s->n[0][size]);
        trod_result_u64(r, "writes", s->n[1][size]);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    return TROD_OK;
}

const struct trod_analysis trod_analysis_sizes = {
    .name = "sizes",
    .title = "data accesses by size",
    .about = "Counts reads and writes by the number of bytes they touch. An atomic access is one\n"
             "of each.",
    .state_size = sizeof(struct state),
    .order = TROD_ANY_ORDER,
    .needs = TROD_COL_KIND | TROD_COL_SIZE,
    .init = init,
    .feed = feed,
    .merge = merge,
    .save = save,
    .load = load,
    .result = result,
};

const struct trod_analysis *const trod_plugin_analyses[] = {&trod_analysis_sizes, NULL};
const unsigned trod_plugin_interface = TROD_PLUGIN_INTERFACE;
