/*
 * temps.h - what outputs have on the disk before they are complete: temporary files and folders.
 */
#ifndef TROD_IO_TEMPS_H
#define TROD_IO_TEMPS_H

#include <stdbool.h>

/*
 * Between these a name is made and remembered, or removed and forgotten, so that
 * trod_output_abandon finds all there are. Short, and never nested.
 */
void trod_temps_lock(void);
void trod_temps_unlock(void);

/* PATH (copied) is there from now on. False: no memory; it is made all the same. */
bool trod_temps_add(const char *path);
/* It is there no longer. Nothing if it is not known. */
void trod_temps_forget(const char *path);

/* Remove the file PATH, or the folder PATH with all that is in it. Links are not followed. */
void trod_temps_remove(const char *path);

#endif
