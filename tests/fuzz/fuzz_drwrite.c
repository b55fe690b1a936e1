/*
 * fuzz_drwrite.c - the drmemtrace encoder: made-up programs and wild rows, any chunk size.
 *
 * The input draws a program and how it runs (x86_walk.h), the encoder's options, and now and then a
 * row of another kind. What is written must be valid for the oracle on entries (drm_check.h).
 */
#include "drm_check.h"
#include "fuzz.h"
#include "x86_walk.h"

enum { ROWS = 3000, ROOM = 1 << 13, PARTS = 4096 };

struct job {
    const struct trod_format *f;
    void *enc;
    struct trod_buf out;
    size_t begin[PARTS];
    size_t n;
};

/* What encode or finish put into a room of its own. Returns what it returned. */
static int step(struct job *j, const struct trod_batch *b, uint32_t *row, struct trod_diag *diag)
{
    uint8_t *block = malloc(ROOM);
    struct trod_room room = {block, block + ROOM};
    int rc;

    if (!block)
        test_die("out of memory");
    rc = b ? j->f->encode(j->enc, b, row, &room, diag) : j->f->finish(j->enc, &room, diag);
    fuzz_true(room.p >= block && room.p <= block + ROOM, "beyond its room");
    if (trod_buf_add(&j->out, block, (size_t)(room.p - block)) < 0)
        test_die("out of memory");
    free(block);
    if (rc == TROD_ENC_PART && j->n + 1 < PARTS)
        j->begin[j->n++] = j->out.n;
    return rc;
}

static void drain(struct job *j, const struct trod_batch *b, struct trod_diag *diag)
{
    uint32_t row = 0;
    int rc;

    do
        rc = step(j, b, &row, diag);
    while (rc == TROD_ENC_FULL || rc == TROD_ENC_PART);
    fuzz_true(rc == TROD_ENC_DONE, "an error of the encoder");
}

/* A row that says something else: nothing of it may break what is written. */
static void odd_row(struct trod_gen *g, struct trod_batch *b)
{
    static const uint8_t kinds[] = {TROD_EXCEPTION, TROD_REG,   TROD_BRANCH, TROD_MODE,
                                    TROD_PREFETCH,  TROD_FLUSH, TROD_THREAD, TROD_WALK,
                                    TROD_NOTE,      TROD_ATOMIC};
    const uint32_t n = b->n;

    b->kind[n] = kinds[gen_below(g, sizeof kinds)];
    b->has[n] = b->have & ~(uint32_t)(TROD_COL_CODE | (gen_below(g, 2) ? TROD_COL_ADDR : 0));
    b->flags[n] = gen_once_in(g, 4) ? TROD_F_IO : 0;
    b->size[n] = (uint32_t)gen_below(g, 70000);
    b->stream[n] = 0;
    b->time[n] = gen_wide(g);
    b->addr[n] = gen_wide(g);
    b->pc[n] = gen_wide(g);
    b->sub[n] = (uint16_t)gen_below(g, 3);
    b->n++;
}

static void check(struct job *j)
{
    static struct drm_part part[PARTS];
    struct drm_checked c;

    for (size_t i = 0; i < j->n; i++) {
        size_t end = i + 1 < j->n ? j->begin[i + 1] : j->out.n;

        part[i] = (struct drm_part){j->out.p + j->begin[i], end - j->begin[i]};
    }
    if (drm_check(part, j->n, 12, true, &c))
        return;
    fprintf(stderr, "%s\n", c.fault);
    fuzz_true(false, "not a valid trace");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct walk w;
    struct trod_gen g = gen_bytes(data, size);
    struct job j = {.f = trod_format_find("drmemtrace", 10), .n = 1};
    struct trod_target target = {.parts = true, .single = true};
    char spec[32];
    struct trod_meta meta;
    struct trod_diag diag;
    struct trod_batch *b;
    void *opt = test_options(j.f, NULL);

    trod_diag_init(&diag, NULL, NULL);
    snprintf(spec, sizeof spec, "chunk=%llu", 1 + (unsigned long long)gen_below(&g, 200));
    walk_init(&w, &g, 1);
    w.surprises = (uint32_t)gen_below(&g, 40);
    walk_meta(&w, &meta);
    j.enc = calloc(1, j.f->enc_size);
    if (!j.enc || !opt || trod_batch_new(&b, TROD_BATCH_ROWS) < 0 ||
        trod_option_spec(j.f->options, opt, spec, &diag) < 0 ||
        j.f->begin(j.enc, opt, &meta, &diag) < 0 || j.f->target(j.enc, &target, &diag) < 0)
        test_die("cannot begin");
    for (int rows = 0; rows < ROWS && gen_more(&g);) {
        trod_batch_clear(b);
        b->meta = &meta;
        for (uint32_t n = 1 + (uint32_t)gen_below(&g, 500); n > 0; n--, rows++) {
            struct walk_row r = walk_next(&w);

            if (!walk_append(b, &r))
                break;
            b->have |= TROD_COL_SUB;
            if (w.next_pending == w.n_pending && gen_once_in(&g, 20))
                odd_row(&g, b);
        }
        drain(&j, b, &diag);
    }
    drain(&j, NULL, &diag);
    check(&j);
    j.f->drop(j.enc);
    trod_buf_fini(&j.out);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(j.enc);
    free(opt);
    return 0;
}
