/*
 * output.h - outputs of one writer: they share the threads that compress.
 */
#ifndef TROD_IO_OUTPUT_H
#define TROD_IO_OUTPUT_H

#include "pack.h"

/*
 * Can an output called PATH be compressed with COMPRESS (NULL: by its suffix)? 0, or what
 * trod_output_create returns, reported.
 */
int trod_output_compression(const char *path, const char *compress, struct trod_diag *diag);

/* As trod_output_create. CREW compresses, and outlives the output; NULL: OPT says who does. */
int trod_output_create_in(struct trod_output **out, const char *path,
                          const struct trod_output_options *opt, struct trod_crew *crew,
                          struct trod_diag *diag);

/* Problems of O are reported to DIAG from now on. */
void trod_output_tell(struct trod_output *o, struct trod_diag *diag);

#endif
