/*
 * output.h - outputs of one writer: they share the threads that compress.
 */
#ifndef TROD_IO_OUTPUT_H
#define TROD_IO_OUTPUT_H

#include "pack.h"

/* As trod_output_create. CREW compresses, and outlives the output; NULL: OPT says who does. */
int trod_output_create_in(struct trod_output **out, const char *path,
                          const struct trod_output_options *opt, struct trod_crew *crew,
                          struct trod_diag *diag);

/* Problems of O are reported to DIAG from now on. */
void trod_output_tell(struct trod_output *o, struct trod_diag *diag);

#endif
