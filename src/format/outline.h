/*
 * outline.h - making outlines of stretches of a file (struct trod_outline).
 */
#ifndef TROD_FORMAT_OUTLINE_H
#define TROD_FORMAT_OUTLINE_H

#include "core/grow.h"
#include "trod/format.h"

/*
 * Add N bytes at P to what O shows, behind what it hides: to its last piece, unless that hides
 * something already. False: no memory.
 */
static inline bool outline_show(struct trod_outline *o, const uint8_t *p, size_t n)
{
    if (o->n == 0 || o->piece[o->n - 1].hidden) {
        if (!trod_grow(&o->piece, o->n, &o->cap, sizeof *o->piece, 64))
            return false;
        o->piece[o->n++] = (struct trod_outline_piece){.shown = 0};
    }
    o->piece[o->n - 1].shown += n;
    return trod_buf_add(&o->bytes, p, n) == TROD_OK;
}

#endif
