/*
 * inputs.h - the files that a trace is read from, which nothing is written over.
 */
#ifndef TROD_CORE_INPUTS_H
#define TROD_CORE_INPUTS_H

#include "trod/io.h"
#include "trod/meta.h"

/* Is PATH one of the files of the trace with META? */
static inline bool trod_is_input(const struct trod_meta *meta, const char *path)
{
    for (uint32_t i = 0; i < meta->n_files; i++)
        if (trod_same_file(meta->files[i], path))
            return true;
    return false;
}

#endif
