/*
 * registry.c - the list of analyses, from analyses.def.
 */
#include "trod/analysis.h"

#include <string.h>

#define TROD_ANALYSIS(name) extern const struct trod_analysis trod_analysis_##name;
#include "analysis/analyses.def"
#undef TROD_ANALYSIS

static const struct trod_analysis *const analyses[] = {
#define TROD_ANALYSIS(name) &trod_analysis_##name,
#include "analysis/analyses.def"
#undef TROD_ANALYSIS
};

enum { ANALYSES = sizeof analyses / sizeof *analyses };

const struct trod_analysis *trod_analysis_at(size_t i)
{
    return i < ANALYSES ? analyses[i] : NULL;
}

const struct trod_analysis *trod_analysis_find(const char *name, size_t len)
{
    for (size_t i = 0; i < ANALYSES; i++)
        if (strlen(analyses[i]->name) == len && memcmp(analyses[i]->name, name, len) == 0)
            return analyses[i];
    return NULL;
}
