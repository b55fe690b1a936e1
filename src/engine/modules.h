/*
 * modules.h - where files of code lay while the program ran, as a list beside the trace says.
 */
#ifndef TROD_ENGINE_MODULES_H
#define TROD_ENGINE_MODULES_H

#include "trod/trace.h"

struct engine_modules {
    struct trod_module *at; /* by address; paths are owned */
    size_t n, cap;
    bool read;
};

/* Read the list beside T, where it was not read before. 0 or what trod_trace_modules returns. */
int engine_modules_read(struct engine_modules *m, const struct trod_trace *t,
                        struct trod_diag *diag);
/* As trod_sites_module. */
bool engine_modules_find(const struct engine_modules *m, uint64_t address, const char **path,
                         uint64_t *offset);
/* Where the first file that is called as PATH, whatever folder it is in, lay; false: not known. */
bool engine_modules_base(const struct engine_modules *m, const char *path, uint64_t *base);
void engine_modules_free(struct engine_modules *m);

#endif
