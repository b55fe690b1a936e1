/*
 * random_rows.c - rows that nobody traced: every kind, columns present or not, values of every
 * width. Implements test_random_rows of golden.h.
 */
#include "golden.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, DATA_MAX = 512, ROOM = 1 << 12 };

static const char *const words[] = {"r0", "X17", "MOV r0,#1", "cpsr",  "Z3", "CPU_Reset", "LDADD",
                                    "IC", "nop", "BusWait",   "ITLB",  "p0", "S0",        "fp12",
                                    "x",  "WFI", "lui t0,1",  "signal"};

static struct trod_slice bytes_of(struct trod_batch *b, const void *p, uint32_t n)
{
    struct trod_slice s = {0, 0};
    void *q = n ? trod_batch_pool(b, n, &s) : NULL;

    if (q)
        memcpy(q, p, n);
    return s;
}

static struct trod_slice random_bytes(struct trod_gen *g, struct trod_batch *b, uint32_t n)
{
    uint8_t p[DATA_MAX];

    for (uint32_t i = 0; i < n; i++)
        p[i] = (uint8_t)gen_raw(g, 1);
    return bytes_of(b, p, n);
}

static void random_slices(struct trod_gen *g, struct trod_batch *b, uint32_t row)
{
    const char *word = words[gen_below(g, sizeof words / sizeof *words)];

    if (b->has[row] & TROD_COL_CODE)
        b->code[row] = random_bytes(g, b, b->size[row] <= 16 ? b->size[row] : 4);
    if (b->has[row] & TROD_COL_DATA)
        b->data[row] = random_bytes(g, b, b->size[row] <= DATA_MAX ? b->size[row] : DATA_MAX);
    if (b->has[row] & TROD_COL_TEXT)
        b->text[row] = bytes_of(b, word, (uint32_t)strlen(word));
}

/* Sizes that make sense for the kind, most times. */
static uint32_t random_size(struct trod_gen *g, uint8_t kind)
{
    if (gen_once_in(g, 32))
        return (uint32_t)gen_wide(g);
    if (kind == TROD_INSTR)
        return gen_below(g, 2) ? 4 : 2;
    return 1u << gen_below(g, 7);
}

static void random_row(struct trod_gen *g, struct trod_batch *b)
{
    uint32_t row = b->n++;
    uint32_t absent = (uint32_t)gen_raw(g, 3) & (uint32_t)gen_raw(g, 3);
    uint8_t kind = (uint8_t)gen_below(g, TROD_KINDS);

    b->has[row] = b->have & ~(absent & ~(uint32_t)(TROD_COL_KIND | TROD_COL_FLAGS));
    b->kind[row] = kind;
    b->flags[row] = (uint32_t)(gen_below(g, 12) | gen_below(g, 5) << TROD_F_ISET_SHIFT |
                               gen_below(g, 5) << TROD_F_SEC_SHIFT);
    if (gen_once_in(g, 4))
        b->flags[row] |= 1u << (10 + gen_below(g, 15));
    b->size[row] = random_size(g, kind);
    b->stream[row] = (uint32_t)gen_below(g, b->meta->n_streams);
    b->time[row] = gen_wide(g);
    b->unit[row] = (uint8_t)gen_below(g, TROD_UNITS);
    b->index[row] = gen_wide(g);
    b->addr[row] = gen_wide(g);
    b->paddr[row] = gen_wide(g);
    b->pc[row] = gen_below(g, 2) ? b->addr[row] : gen_wide(g);
    b->target[row] = gen_wide(g);
    b->value[row] = gen_wide(g);
    b->sub[row] = (uint16_t)gen_below(g, 40);
    b->site[row] = row;
    /* A value of more than 64 bits is data. */
    b->has[row] &= ~(uint32_t)(b->size[row] > 8 ? TROD_COL_VALUE : TROD_COL_DATA);
    random_slices(g, b, row);
}

static int put(const struct trod_format *to, void *enc, const struct trod_batch *b,
               struct trod_buf *out, struct trod_diag *diag)
{
    size_t n = to->row_max > ROOM ? to->row_max : ROOM;
    uint32_t row = 0;
    int rc = TROD_ENC_FULL;

    while (rc == TROD_ENC_FULL) {
        struct trod_room room;
        uint32_t before = row;

        if (trod_buf_reserve(out, n) < 0)
            test_die("out of memory");
        room = (struct trod_room){out->p + out->n, out->p + out->n + n};
        rc = b ? to->encode(enc, b, &row, &room, diag) : to->finish(enc, &room, diag);
        if (room.p > room.end || room.p < out->p + out->n)
            test_die("%s: the encoder went beyond its room", to->name);
        if (row == before && room.p == out->p + out->n)
            n *= 2;
        if (n > (size_t)1 << 26)
            test_die("%s: a row does not fit 64 MiB", to->name);
        out->n = (size_t)(room.p - out->p);
    }
    return rc;
}

int test_random_rows(struct trod_gen *g, uint32_t rows, const struct trod_format *to,
                     const void *opt, struct trod_buf *out)
{
    struct trod_meta meta;
    struct trod_diag diag;
    struct trod_batch *b;
    void *enc = calloc(1, to->enc_size ? to->enc_size : 1), *o = test_options(to, opt);
    int rc;

    out->n = 0;
    trod_meta_init(&meta);
    trod_diag_init(&diag, NULL, NULL);
    if (!enc || trod_batch_new(&b, BATCH) < 0 || trod_meta_stream(&meta, "cpu0", 4) < 0 ||
        trod_meta_stream(&meta, "cpu1", 4) < 0)
        test_die("out of memory");
    rc = to->begin(enc, o, &meta, &diag);
    while (rc == TROD_OK && rows > 0 && gen_more(g)) {
        trod_batch_clear(b);
        b->meta = &meta;
        b->have = (to->writes | TROD_COL_KIND | TROD_COL_FLAGS) &
                  ~(uint32_t)(TROD_COL_DETAIL | TROD_COL_RAW);
        while (b->n < b->cap && rows > 0 && gen_more(g)) {
            random_row(g, b);
            rows--;
        }
        rc = put(to, enc, b, out, &diag);
    }
    if (rc == TROD_OK && to->finish)
        rc = put(to, enc, NULL, out, &diag);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    if (to->drop)
        to->drop(enc);
    free(enc);
    free(o);
    return rc;
}
