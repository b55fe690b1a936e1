/*
 * dump.h - bytes of memory at a place of a trace, as rows and fields of a report (`trod state`).
 */
#ifndef CLI_DUMP_H
#define CLI_DUMP_H

#include "cli.h"

enum { CLI_DUMP = 16 }; /* bytes of a line */

/* What enum trod_nav_source is called. */
const char *cli_dump_source(unsigned from);
/* A row: the CLI_DUMP bytes from BASE on, of which BYTES are those from LO to HI. */
void cli_dump_line(struct trod_emit *e, uint64_t base, const struct trod_nav_byte *bytes,
                   uint64_t lo, uint64_t hi);
/* A table: where runs of the N bytes from LO on are known from. */
void cli_dump_sources(struct trod_emit *e, const struct trod_nav_byte *bytes, uint64_t lo,
                      size_t n);
/* A field: N bytes, CLI_DUMP at the most. */
void cli_dump_bytes(struct trod_emit *e, const struct trod_nav_byte *b, size_t n);

/*
 * N bytes, least significant first, as one number into OUT (2 N + 3 bytes); digits that are not
 * KNOWN are "-".
 */
const char *cli_dump_number(char *out, const uint8_t *value, const uint8_t *known, size_t n);

#endif
