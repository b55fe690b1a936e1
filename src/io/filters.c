/*
 * filters.c - the table of filters and what their bids share.
 */
#include "filter.h"

#include "core/endian.h"
#include "core/suffix.h"

#include <string.h>

#define TROD_FILTER(name) extern const struct trod_filter trod_filter_##name;
#include "filters.def"
#undef TROD_FILTER

static const struct trod_filter *const filters[] = {
#define TROD_FILTER(name) &trod_filter_##name,
#include "filters.def"
#undef TROD_FILTER
};

const struct trod_filter *trod_filter_at(size_t i)
{
    return i < sizeof filters / sizeof filters[0] ? filters[i] : NULL;
}

const struct trod_filter *trod_filter_find(const char *name)
{
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
        if (strcmp(filters[i]->name, name) == 0)
            return filters[i];
    return NULL;
}

const struct trod_filter *trod_filter_of_path(const char *path)
{
    const size_t n = strlen(path);

    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
        for (const char *const *s = filters[i]->suffixes; *s; s++)
            if (trod_ends_with(path, n, *s))
                return filters[i];
    return NULL;
}

const struct trod_filter *trod_writes_find(const char *name)
{
    for (size_t i = 0; trod_archive_at(i); i++)
        if (strcmp(trod_archive_at(i)->name, name) == 0)
            return trod_archive_at(i);
    return trod_filter_find(name);
}

const struct trod_filter *trod_writes_of_path(const char *path)
{
    const struct trod_filter *zip = trod_archive_at(0);

    return trod_ends_with(path, strlen(path), zip->suffixes[0]) ? zip : trod_filter_of_path(path);
}

static bool cut(const char *path, size_t *n, const struct trod_filter *f)
{
    for (const char *const *s = f->suffixes; *s && !f->replaces; s++)
        if (trod_ends_with(path, *n, *s)) {
            *n -= strlen(*s);
            return true;
        }
    return false;
}

size_t trod_filter_bare(const char *path, size_t n, bool archives)
{
    if (archives && cut(path, &n, trod_archive_at(0)))
        return n;
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
        if (cut(path, &n, filters[i]))
            break;
    return n;
}

int trod_bid_magic(const uint8_t *p, size_t n, const void *magic, size_t len)
{
    if (memcmp(p, magic, n < len ? n : len) != 0)
        return 0;
    return n < len ? TROD_BID_MORE : (int)(8 * len);
}

int trod_bid_skippable(const uint8_t *p, size_t n, size_t *at)
{
    /* zstd, RFC 8878 3.1.2, and lz4 frame, "Skippable Frames": 18 4D 2A 5x, length, data */
    size_t i = 0;
    while (n - i >= 4 && (trod_load_le32(p + i) & 0xfffffff0U) == 0x184d2a50U) {
        if (n - i < 8)
            return TROD_BID_MORE;
        const size_t len = trod_load_le32(p + i + 4);
        if (len > n - i - 8) {
            if (n < TROD_FEED / 2)
                return TROD_BID_MORE;
            *at = n;
            return 0;
        }
        i += 8 + len;
    }
    *at = i;
    return 0;
}
