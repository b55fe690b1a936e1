/*
 * by_site.h - arrays with an element for each site, and numbers by site that are kept as
 * differences.
 *
 * Differences ("steps"): a count for all sites of a streak (trod/streak.h) is added at the first
 * site and subtracted behind the last. The number of a site is the sum of the steps up to it;
 * adding such arrays adds the numbers.
 */
#ifndef TROD_ANALYSIS_BY_SITE_H
#define TROD_ANALYSIS_BY_SITE_H

#include "trod/batch.h"
#include "trod/buf.h"
#include "trod/meta.h"
#include "trod/site.h"
#include "trod/types.h"

#include <stdlib.h>
#include <string.h>

/*
 * Room for N elements of SIZE bytes in the array of *HAVE at the address ARRAY; new ones are all
 * zero. Returns 0 or TROD_ERR_NOMEM; then nothing has changed.
 */
static inline int trod_by_site_room(void *array, size_t *have, size_t n, size_t size)
{
    size_t cap = *have ? *have : 1024;
    char *p;

    if (n <= *have)
        return TROD_OK;
    while (cap < n)
        cap *= 2;
    memcpy(&p, array, sizeof p);
    p = realloc(p, cap * size);
    if (!p)
        return TROD_ERR_NOMEM;
    memset(p + *have * size, 0, (cap - *have) * size);
    memcpy(array, &p, sizeof p);
    *have = cap;
    return TROD_OK;
}

/*
 * Do B and the rows before it say what the opcode of site NUMBER is, if it has one? SITES may know
 * the instruction set already from rows behind B, which another thread decodes: what rows count as
 * must not depend on how far that has come.
 */
static inline bool trod_by_site_told(const struct trod_sites *sites, uint32_t number,
                                     const struct trod_batch *b)
{
    return !b->meta || b->meta->isa != TROD_ISA_UNKNOWN || trod_site_at(sites, number)->code_n == 0;
}

/*
 * The N elements at ARRAY, each WIDTH numbers of 64 bits and nothing else, as bytes: by site + 1,
 * the first for rows without a site. 0 or TROD_ERR_NOMEM.
 */
int trod_by_site_save(struct trod_buf *out, const void *array, size_t n, unsigned width);
/*
 * Add such elements from IN to those of the array at the address ARRAY, *HAVE of them; SITES: the
 * numbers that their sites have here. 0, TROD_ERR_NOMEM or TROD_ERR_CORRUPT.
 */
int trod_by_site_load(struct trod_span *in, void *array, size_t *have, unsigned width,
                      const uint32_t *sites);

#endif
