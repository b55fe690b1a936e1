/*
 * points.h - places inside a gzip file or a member of a zip archive from which inflating can go on:
 * a position in bits and the 32 KiB before it.
 *
 * After "zran", Mark Adler's example of zlib: deflate blocks begin where nothing of the blocks
 * before is needed but the window (RFC 1951, section 2).
 */
#ifndef TROD_IO_POINTS_H
#define TROD_IO_POINTS_H

#include "trod/io.h"

enum { TROD_POINT_WINDOW = 1 << 15 };

struct trod_point {
    uint64_t packed;  /* first whole byte of the file to be read */
    uint64_t decoded; /* bytes made before it */
    uint32_t bits;    /* of the byte before that belong to what comes */
    uint32_t window_n;
    uint8_t window[TROD_POINT_WINDOW]; /* what was made last */
};

/* Returns 0 or an error that ends what called it. */
typedef int trod_point_fn(void *user, const struct trod_point *p);

/*
 * Go through the gzip file, or the large deflated members of the zip archive, PATH and give points
 * that are APART decoded bytes or more from each other to FN; of another file there are none.
 * Damage ends it without an error. Returns 0, what FN returned, TROD_ERR_IO, TROD_ERR_NOMEM or
 * TROD_ERR_UNSUPPORTED (built without zlib).
 */
int trod_points_find(const char *path, uint64_t apart, trod_point_fn *fn, void *user);
/* The same for deflate data that begins at byte FROM of PATH, START bytes being decoded before. */
int trod_points_raw(const char *path, uint64_t from, uint64_t start, uint64_t apart,
                    trod_point_fn *fn, void *user);
/* The same for a zip archive that has its directory. */
int trod_zip_points(const char *path, uint64_t apart, trod_point_fn *fn, void *user);

/*
 * IN, a gzip file or a zip archive and nothing more, may go to POINT when bytes are skipped; it
 * keeps a copy. Returns 0, TROD_ERR_NOMEM or TROD_ERR_UNSUPPORTED (another file).
 */
int trod_input_point(struct trod_input *in, const struct trod_point *point);
/* No damage was met before byte UPTO: what lies behind can be reached by skipping to it. */
bool trod_input_sound(const struct trod_input *in, uint64_t upto);
/* Where the first damage of a member lies that was told so far; TROD_NOWHERE: there is none. */
uint64_t trod_input_damage(const struct trod_input *in);

#endif
