/*
 * bench_driver.h - a format driver over memory, decoding and encoding, against copying the bytes.
 */
#ifndef TROD_BENCH_DRIVER_H
#define TROD_BENCH_DRIVER_H

#include "bench.h"

#include "trod/trod.h"

#include <stdbool.h>

/* The driver F on the N bytes at IN; OUT has room for what one batch becomes. */
struct bench_driver {
    const struct trod_format *f;
    const void *opt;
    uint8_t *in, *out;
    size_t n, room;
    bool encode; /* else decode only */
    bool add_up; /* the sizes of the rows, into bytes */
    size_t written;
    uint64_t rows, bytes;
};

static inline int bench_batches(struct bench_driver *j, void *dec, void *enc, struct trod_batch *b)
{
    struct trod_span in = {j->in, j->n, 0, true};
    int rc;

    if (j->f->start(dec, j->opt, &in, b->meta, NULL) < 0 ||
        (j->f->begin && j->f->begin(enc, j->opt, b->meta, NULL) < 0))
        return 1;
    j->rows = j->bytes = j->written = 0;
    do {
        struct trod_room room = {j->out, j->out + j->room};
        uint32_t row = 0;

        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = in.n;
        rc = j->f->decode(dec, &in, b, NULL);
        j->rows += b->n;
        for (uint32_t i = 0; j->add_up && i < b->n; i++)
            j->bytes += b->size[i];
        if (j->encode && j->f->encode(enc, b, &row, &room, NULL) != TROD_ENC_DONE)
            return 1;
        j->written += (size_t)(room.p - j->out);
    } while (rc == TROD_DEC_FULL);
    return rc;
}

/* All of it once. For bench_best(), as the next one. */
static inline int bench_drive(void *user)
{
    struct bench_driver *j = user;
    void *dec = calloc(1, j->f->dec_size), *enc = calloc(1, j->f->enc_size);
    struct trod_batch *b = NULL;
    struct trod_meta meta;
    int rc = 1;

    trod_meta_init(&meta);
    meta.format = j->f->name;
    if (dec && enc && trod_batch_new(&b, TROD_BATCH_ROWS) == 0) {
        b->meta = &meta;
        rc = bench_batches(j, dec, enc, b);
    }
    if (j->f->stop)
        j->f->stop(dec);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(dec);
    free(enc);
    return rc;
}

/* The yardstick: copy the bytes. */
static inline int bench_copy(void *user)
{
    const struct bench_driver *j = user;

    for (size_t i = 0; i < j->n; i += 1 << 20)
        memcpy(j->out, j->in + i, j->n - i < 1 << 20 ? j->n - i : 1 << 20);
    return j->out[0] == j->in[0] + 300; /* so that the copies are not left out */
}

#endif
