/*
 * temp.h - files for what is too much for memory.
 */
#ifndef TROD_CORE_TEMP_H
#define TROD_CORE_TEMP_H

/*
 * Open a file without a name, for reading and writing, in the folder that the environment names for
 * such (TMPDIR; /tmp without it). Returns it, or -1, with errno set.
 */
int trod_temp_open(void);

#endif
