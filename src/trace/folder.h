/*
 * folder.h - a folder of output files that appears when all of them are complete.
 */
#ifndef TROD_TRACE_FOLDER_H
#define TROD_TRACE_FOLDER_H

#include "trod/diag.h"

#include <stdbool.h>

struct trod_folder {
    char *target; /* the folder asked for, without slashes at its end */
    char *work;   /* where its files are made: beside it, or in it where it was there before */
    bool inside;
};

/*
 * Begin the folder PATH; if EMPTY, one that is there must have nothing in it. Files are made in
 * f->work. F is released by one of the two below, also after an error. Returns 0 or an error,
 * reported.
 */
int trod_folder_open(struct trod_folder *f, const char *path, bool empty, struct trod_diag *diag);

/*
 * All files are complete: give the folder its name, or move what was made in it to its place.
 * Returns 0 or TROD_ERR_IO, reported.
 */
int trod_folder_commit(struct trod_folder *f, struct trod_diag *diag);

/* Leave no trace of it. Nothing after a commit that succeeded. */
void trod_folder_discard(struct trod_folder *f);

#endif
