/*
 * optspec.h - "name[:option=value,...]": a format and its options, as --from and --to give them.
 */
#ifndef TROD_TRACE_OPTSPEC_H
#define TROD_TRACE_OPTSPEC_H

#include "trod/format.h"

struct trod_optspec {
    const struct trod_format *format;
    void *options; /* options_size bytes, NULL if none */
    char *text;    /* what string options point into */
};

/*
 * Parse SPEC. Returns 0, TROD_ERR_USAGE (reported) or TROD_ERR_NOMEM. Release with fini, also
 * after an error.
 */
int trod_optspec_init(struct trod_optspec *s, const char *spec, struct trod_diag *diag);
/* The defaults of FORMAT. */
int trod_optspec_default(struct trod_optspec *s, const struct trod_format *format);
void trod_optspec_fini(struct trod_optspec *s);

#endif
