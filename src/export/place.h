/*
 * place.h - where a view is written until it is complete: an output, a file, or a folder.
 */
#ifndef TROD_EXPORT_PLACE_H
#define TROD_EXPORT_PLACE_H

#include "trace/folder.h"
#include "trod/export.h"

struct export_place {
    enum trod_export_form form;
    struct trod_output *out; /* TEXT, BINARY */
    char *work;              /* FILE, FOLDER: the path to write to */
    char *target;            /* FILE: the name that it gets */
    struct trod_folder folder;
};

/*
 * Begin PATH for view V. P is released, also after an error, by one of the two below. Returns 0 or
 * an error, reported.
 */
int export_place_open(struct export_place *p, const struct trod_export *v, const char *path,
                      const struct trod_output_options *opt, struct trod_diag *diag);
/* All is written: give it its name; *BYTES is how much. Returns 0 or an error, reported. */
int export_place_commit(struct export_place *p, uint64_t *bytes, struct trod_diag *diag);
/* Leave no trace of it. */
void export_place_discard(struct export_place *p);

#endif
