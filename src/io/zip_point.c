/*
 * zip_point.c - places inside large members of a zip archive from which inflating can go on: found,
 * and entered. Implements points.h for archives.
 */
#include "zip_int.h"

#include <stdlib.h>
#include <string.h>

bool trod_zip_enter(struct zip *z, uint64_t at)
{
    const struct trod_zip_member *m = &z->now;
    const struct trod_point *p = z->point;
    const uint64_t made = p->decoded - z->list.member[z->next - 1].start;
    uint8_t first = 0;

    if (at < z->dec.begun || (m->packed != TROD_NOWHERE && at - z->dec.begun > m->packed) ||
        (m->size != TROD_NOWHERE && made > m->size) || !trod_zip_go(&z->dec.in, at))
        return false;
    if (p->bits) {
        if (trod_zip_need(&z->dec.in, 1) == 0)
            return false;
        first = *trod_zip_at(&z->dec.in);
        z->dec.in.at++;
    }
    if (!trod_zip_codec_enter(z->dec.codec, p, first))
        return false;
    if (z->dec.left != TROD_NOWHERE)
        z->dec.left = m->packed - (trod_zip_tell(&z->dec.in) - z->dec.begun);
    z->inside = true;
    z->dec.made = made;
    /* what is held back is counted from the beginning of the member */
    z->n_hold = made % TROD_ZIP_STEP;
    if (z->n_hold > p->window_n)
        return false;
    memcpy(z->hold, p->window + (p->window_n - z->n_hold), z->n_hold);
    z->delivered = p->decoded - z->n_hold;
    return true;
}

bool trod_zip_sound(const struct trod_source *s, uint64_t upto)
{
    return trod_damages_none(trod_zip_damages(s), upto);
}

int trod_zip_point(struct trod_source *s, const struct trod_point *point)
{
    struct zip *z = zip_of(s);

    free(z->point);
    z->point = malloc(sizeof *z->point);
    if (!z->point)
        return TROD_ERR_NOMEM;
    *z->point = *point;
    return TROD_OK;
}

bool trod_zip_pointed(const struct trod_source *s, uint64_t offset)
{
    const struct trod_point *point = zip_of(s)->point;

    return point && point->decoded > offset;
}

int trod_zip_points(const char *path, uint64_t apart, trod_point_fn *fn, void *user)
{
    struct trod_fault fault = {0};
    struct trod_source s = {0};
    struct trod_zip_list list = {0};
    struct trod_zip_bytes b = {.in = &s, .random = true, .cap = TROD_ZIP_BUFFER, .fault = &fault};
    uint64_t start = 0;
    int rc = trod_source_open(&s, path, &fault);

    b.size = s.size;
    if (rc == TROD_OK && !(b.buf = malloc(b.cap)))
        rc = TROD_ERR_NOMEM;
    if (rc == TROD_OK && trod_zip_directory(&b, &list) == TROD_OK)
        for (size_t k = 0; rc == TROD_OK && k < list.n && start != TROD_NOWHERE; k++) {
            const struct trod_zip_member *m = &list.member[k];
            struct trod_zip_member local;

            if (m->method == TROD_ZIP_DEFLATE && m->size != TROD_NOWHERE && m->size > apart &&
                trod_zip_go(&b, m->header) && trod_zip_local(&b, &local) == 1) {
                free(local.name);
                rc = trod_points_raw(path, trod_zip_tell(&b), start, apart, fn, user);
            }
            start = m->size == TROD_NOWHERE ? m->size : start + m->size;
        }
    trod_zip_list_fini(&list);
    free(b.buf);
    trod_source_close(&s);
    return rc;
}
