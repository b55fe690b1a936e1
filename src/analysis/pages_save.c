/*
 * pages_save.c - sets of bytes of an address space: to bytes and back (pages.h).
 */
#include "analysis/pages.h"

#include "core/endian.h"
#include "core/pack.h"

#include <stdlib.h>

#define PAGE_LAST (UINT64_MAX >> TROD_PAGE_SHIFT)

static int by_number(const void *a, const void *b)
{
    uint64_t x = ((const struct trod_page *)a)->number, y = ((const struct trod_page *)b)->number;

    return x < y ? -1 : x > y;
}

/* The pages of S in rising order (s->n of them, to be freed), NULL when memory is out. */
static struct trod_page *sorted(const struct trod_pages *s)
{
    struct trod_page *list = malloc((s->n + 1) * sizeof *list);
    uint32_t n = 0;

    if (!list)
        return NULL;
    for (uint32_t i = 0; i < s->size; i++)
        if (s->at[i].number != TROD_NO_PAGE)
            list[n++] = s->at[i];
    qsort(list, n, sizeof *list, by_number);
    return list;
}

/* A plane: which words have bits, then these. */
static int save_plane(const uint64_t *w, struct trod_buf *out)
{
    uint8_t word[8];
    uint64_t some = 0;
    int rc;

    for (unsigned i = 0; i < TROD_PAGE_WORDS; i++)
        some |= (uint64_t)(w[i] != 0) << i;
    rc = trod_pack(out, some);
    for (unsigned i = 0; i < TROD_PAGE_WORDS && rc == TROD_OK; i++)
        if (w[i]) {
            trod_store_le64(word, w[i]);
            rc = trod_buf_add(out, word, sizeof word);
        }
    return rc;
}

int trod_pages_save(const struct trod_pages *s, struct trod_buf *out)
{
    struct trod_page *list = sorted(s);
    uint64_t last = 0;
    int rc = list ? TROD_OK : TROD_ERR_NOMEM;

    if (rc == TROD_OK)
        rc = trod_pack(out, s->planes);
    if (rc == TROD_OK)
        rc = trod_pack(out, s->cap);
    if (rc == TROD_OK)
        rc = trod_pack(out, s->level);
    if (rc == TROD_OK)
        rc = trod_pack(out, s->n);
    for (uint32_t i = 0; rc == TROD_OK && i < s->n; i++) {
        rc = trod_pack(out, list[i].number - last);
        last = list[i].number;
        for (unsigned k = 0; rc == TROD_OK && k < s->planes; k++)
            rc = save_plane(list[i].word + k * TROD_PAGE_WORDS, out);
    }
    free(list);
    for (unsigned k = 0; rc == TROD_OK && k < s->planes; k++) {
        trod_page_runs_order(s->run[k]);
        rc = trod_page_runs_save(s->run[k], out);
    }
    return rc;
}

static int load_plane(struct trod_pages *s, uint64_t number, unsigned plane, struct trod_span *in)
{
    uint64_t some;
    int rc = trod_unpack(in, &some);

    for (unsigned i = 0; i < TROD_PAGE_WORDS && rc == TROD_OK; i++) {
        const uint64_t *w;

        if (!(some >> i & 1))
            continue;
        if (in->n < 8)
            return TROD_ERR_CORRUPT;
        if (!(w = trod_pages_get(s, number)))
            return TROD_ERR_NOMEM;
        trod_pages_set(s, number, w + plane * TROD_PAGE_WORDS + i, trod_load_le64(in->p));
        in->p += 8;
        in->n -= 8;
    }
    return rc;
}

static int load_pages(struct trod_pages *s, uint64_t n, struct trod_span *in)
{
    uint64_t number = 0, step;
    int rc = TROD_OK;

    for (uint64_t i = 0; rc == TROD_OK && i < n; i++) {
        const uint64_t *w;

        rc = trod_unpack(in, &step);
        if (rc < 0 || (i && step == 0) || step > PAGE_LAST - number)
            return TROD_ERR_CORRUPT;
        number += step;
        if (!(w = trod_pages_get(s, number)))
            return TROD_ERR_NOMEM;
        if (w == s->full) /* a new page that is full is one that is not sampled */
            return TROD_ERR_CORRUPT;
        for (unsigned k = 0; rc == TROD_OK && k < s->planes; k++)
            rc = load_plane(s, number, k, in);
    }
    return rc;
}

int trod_pages_load(struct trod_pages **out, struct trod_span *in)
{
    uint64_t planes, cap, level, n;
    int rc;

    *out = NULL;
    if (trod_unpack(in, &planes) < 0 || trod_unpack(in, &cap) < 0 || trod_unpack(in, &level) < 0 ||
        trod_unpack(in, &n) < 0 || planes < 1 || planes > 2 || cap > UINT32_MAX ||
        level > TROD_PAGE_LEVEL_MAX || (cap && n > cap))
        return TROD_ERR_CORRUPT;
    *out = trod_pages_new((unsigned)planes, (uint32_t)cap);
    if (!*out)
        return TROD_ERR_NOMEM;
    (*out)->level = (unsigned)level;
    rc = load_pages(*out, n, in);
    for (unsigned k = 0; rc == TROD_OK && k < planes; k++)
        rc = trod_page_runs_load(&(*out)->run[k], in);
    if (rc < 0) {
        trod_pages_free(*out);
        *out = NULL;
    }
    return rc;
}
