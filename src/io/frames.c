/*
 * frames.c - implements frames.h by going through the headers of a file.
 */
#include "frames.h"

#include "trod/io.h"

#include <stdlib.h>
#include <string.h>

bool trod_frame_look(struct trod_source *s, uint64_t at, uint8_t *p, size_t n)
{
    struct trod_fault fault = {0};
    size_t got = 0;

    return trod_source_pread(s, p, n, at, &got, &fault) == TROD_OK && got == n;
}

bool trod_frames_add(struct trod_frames *f, uint64_t packed, uint64_t decoded)
{
    if (f->n && decoded - f->at[f->n - 1].decoded < TROD_FRAME_APART)
        return true;
    if (f->n == f->cap) {
        size_t cap = f->cap ? 2 * f->cap : 64;
        struct trod_io_frame *at = realloc(f->at, cap * sizeof *at);

        if (!at)
            return false;
        f->at = at;
        f->cap = cap;
    }
    f->at[f->n++] = (struct trod_io_frame){packed, decoded};
    return true;
}

void trod_frames_find(struct trod_frames *f, struct trod_source *s,
                      const struct trod_filter *filter)
{
    uint64_t packed = 0, decoded = 0, looks = 0;
    bool sound = s->regular && s->size != TROD_NOWHERE && s->size && filter->frame;

    f->looked = true;
    f->size = TROD_NOWHERE;
    while (sound && packed < s->size) {
        uint64_t bytes = 0, makes = 0;

        sound = looks++ < TROD_FRAME_LOOKS && trod_frames_add(f, packed, decoded) &&
                filter->frame(s, packed, &bytes, &makes) && bytes && bytes <= s->size - packed &&
                makes < (UINT64_C(1) << 60);
        packed += bytes;
        decoded += makes;
    }
    if (sound) {
        f->size = decoded;
        return;
    }
    f->n = 0;
    if (s->regular && s->size != TROD_NOWHERE && s->size && filter->find &&
        !filter->find(f, s, &f->size)) {
        f->n = 0;
        f->size = TROD_NOWHERE;
    }
}

bool trod_frames_agree(const struct trod_frames *f, uint64_t packed, uint64_t decoded)
{
    size_t lo = 0, hi = f->n;

    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;

        if (f->at[mid].packed < packed)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo == f->n || f->at[lo].packed != packed || f->at[lo].decoded == decoded;
}

uint64_t trod_frames_behind(const struct trod_frames *f, uint64_t decoded)
{
    const struct trod_io_frame *at = trod_frames_before(f, decoded) + 1;

    return at < f->at + f->n ? at->decoded : TROD_NOWHERE;
}

bool trod_frames_copy(struct trod_frames *to, const struct trod_frames *from)
{
    struct trod_io_frame *at = from->n ? malloc(from->n * sizeof *at) : NULL;

    if (from->n && !at)
        return false;
    if (from->n)
        memcpy(at, from->at, from->n * sizeof *at);
    free(to->at);
    *to = *from;
    to->at = at;
    to->cap = from->n;
    return true;
}

const struct trod_io_frame *trod_frames_before(const struct trod_frames *f, uint64_t offset)
{
    size_t lo = 0, hi = f->n;

    while (hi - lo > 1) {
        const size_t mid = lo + (hi - lo) / 2;

        if (f->at[mid].decoded <= offset)
            lo = mid;
        else
            hi = mid;
    }
    return &f->at[lo];
}

void trod_frames_fini(struct trod_frames *f)
{
    free(f->at);
    *f = (struct trod_frames){.at = NULL};
}
