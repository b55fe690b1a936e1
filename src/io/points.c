/*
 * points.c - places inside deflate data from which inflating can go on: found. Implements points.h.
 */
#include "points.h"

#include "trod_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if TROD_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>

enum {
    CHUNK = 1 << 16,
    GZIP_WINDOW = 15 + 16,
    RAW_WINDOW = -15,
    LAST_BLOCK = 64,
    BETWEEN_BLOCKS = 128
};

struct finding {
    z_stream z;
    FILE *file;
    bool raw;                                  /* no gzip around it */
    uint64_t start;                            /* bytes decoded before */
    uint64_t taken, made, last;                /* bytes read; made; made at the last point */
    uint8_t in[CHUNK], out[TROD_POINT_WINDOW]; /* OUT: a ring */
    struct trod_point point;
};

static void set_point(struct finding *f)
{
    const size_t at = TROD_POINT_WINDOW - f->z.avail_out; /* next byte of the ring */
    struct trod_point *p = &f->point;

    p->packed = f->taken - f->z.avail_in;
    p->decoded = f->start + f->made;
    p->bits = (uint32_t)f->z.data_type & 7;
    p->window_n = f->made < TROD_POINT_WINDOW ? (uint32_t)f->made : TROD_POINT_WINDOW;
    if (p->window_n == TROD_POINT_WINDOW) {
        memcpy(p->window, f->out + at, TROD_POINT_WINDOW - at);
        memcpy(p->window + TROD_POINT_WINDOW - at, f->out, at);
    } else {
        memcpy(p->window, f->out, p->window_n);
    }
}

static int go(struct finding *f, uint64_t apart, trod_point_fn *fn, void *user)
{
    for (;;) {
        uint64_t before;
        int r;

        if (f->z.avail_in == 0) {
            f->z.next_in = f->in;
            f->z.avail_in = (uInt)fread(f->in, 1, sizeof f->in, f->file);
            f->taken += f->z.avail_in;
            if (f->z.avail_in == 0)
                return ferror(f->file) ? TROD_ERR_IO : TROD_OK;
        }
        if (f->z.avail_out == 0) {
            f->z.next_out = f->out;
            f->z.avail_out = TROD_POINT_WINDOW;
        }
        before = f->z.avail_out;
        r = inflate(&f->z, Z_BLOCK);
        f->made += before - f->z.avail_out;
        if (r == Z_STREAM_END && (f->raw || inflateReset2(&f->z, GZIP_WINDOW) != Z_OK))
            return TROD_OK;
        if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
            return r == Z_MEM_ERROR ? TROD_ERR_NOMEM : TROD_OK;
        if (r == Z_OK && (f->z.data_type & BETWEEN_BLOCKS) && !(f->z.data_type & LAST_BLOCK) &&
            f->made - f->last >= apart) {
            set_point(f);
            f->last = f->made;
            if ((r = fn(user, &f->point)) < 0)
                return r;
        }
    }
}

static int find(const char *path, uint64_t from, uint64_t start, bool raw, uint64_t apart,
                trod_point_fn *fn, void *user)
{
    struct finding *f = calloc(1, sizeof *f);
    int rc = f ? TROD_OK : TROD_ERR_NOMEM;

    if (!f)
        return rc;
    f->raw = raw;
    f->taken = from;
    f->start = start;
    f->file = fopen(path, "rb");
    if (!f->file || fseeko(f->file, (off_t)from, SEEK_SET) != 0)
        rc = TROD_ERR_IO;
    else if (inflateInit2(&f->z, raw ? RAW_WINDOW : GZIP_WINDOW) != Z_OK)
        rc = TROD_ERR_NOMEM;
    if (rc == TROD_OK) {
        rc = go(f, apart, fn, user);
        inflateEnd(&f->z);
    }
    if (f->file)
        fclose(f->file);
    free(f);
    return rc;
}

int trod_points_raw(const char *path, uint64_t from, uint64_t start, uint64_t apart,
                    trod_point_fn *fn, void *user)
{
    return find(path, from, start, true, apart, fn, user);
}

int trod_points_find(const char *path, uint64_t apart, trod_point_fn *fn, void *user)
{
    const struct trod_input_options opt = {.no_thread = true, .window = 1 << 12};
    struct trod_input *in;
    const char *filter;
    bool gzip, zip;
    int rc = trod_input_open(&in, path, &opt, NULL);

    if (rc < 0)
        return rc;
    filter = trod_input_filter(in, 0);
    gzip = filter && strcmp(filter, "gzip") == 0 && !trod_input_filter(in, 1) &&
           trod_input_decoded(in) == TROD_NOWHERE;
    zip = filter && strcmp(filter, "zip") == 0 && !trod_input_filter(in, 1);
    trod_input_close(in);
    if (gzip)
        return find(path, 0, 0, false, apart, fn, user);
    return zip ? trod_zip_points(path, apart, fn, user) : TROD_OK;
}
#else
int trod_points_find(const char *path, uint64_t apart, trod_point_fn *fn, void *user)
{
    (void)path;
    (void)apart;
    (void)fn;
    (void)user;
    return TROD_ERR_UNSUPPORTED;
}

int trod_points_raw(const char *path, uint64_t from, uint64_t start, uint64_t apart,
                    trod_point_fn *fn, void *user)
{
    (void)from;
    (void)start;
    return trod_points_find(path, apart, fn, user);
}
#endif
