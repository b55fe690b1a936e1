/*
 * registry.c - the list of format drivers, from formats.def.
 */
#include "trod/format.h"

#include <string.h>

#define TROD_FORMAT(name) extern const struct trod_format trod_format_##name;
#include "format/formats.def"
#undef TROD_FORMAT

static const struct trod_format *const formats[] = {
#define TROD_FORMAT(name) &trod_format_##name,
#include "format/formats.def"
#undef TROD_FORMAT
    NULL,
};

const struct trod_format *trod_format_at(size_t i)
{
    size_t n = sizeof formats / sizeof *formats;

    return i < n ? formats[i] : NULL;
}

const struct trod_format *trod_format_find(const char *name, size_t len)
{
    for (size_t i = 0; formats[i]; i++)
        if (strlen(formats[i]->name) == len && memcmp(formats[i]->name, name, len) == 0)
            return formats[i];
    return NULL;
}
