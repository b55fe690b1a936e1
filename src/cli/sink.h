/*
 * sink.h - where listings go: standard output (through a pager on a terminal) or a file that
 * appears when it is complete.
 */
#ifndef CLI_SINK_H
#define CLI_SINK_H

#include "cli.h"

enum { CLI_SINK_ROOM = 1 << 20 }; /* the most that may be asked for at once */

struct cli_sink {
    struct cli *c;
    struct trod_output *file; /* NULL: standard output */
    uint8_t *buf;
    size_t n;
    bool failed;
};

/* PATH: NULL or "-" for standard output. Returns 0 or an error, reported. */
int cli_sink_open(struct cli_sink *s, struct cli *c, const char *path);
/* Room for N bytes (up to CLI_SINK_ROOM), never NULL. */
char *cli_sink_room(struct cli_sink *s, size_t n);
/* P is what the pointer of cli_sink_room has become. */
void cli_sink_advance(struct cli_sink *s, const char *p);
/* N bytes as they are, any number of them. */
void cli_sink_write(struct cli_sink *s, const void *p, size_t n);
/* Let readers see what there is. */
void cli_sink_flush(struct cli_sink *s);
/* Flush and end; a file gets its name, with KEEP false it does not appear. 0 or an error. */
int cli_sink_close(struct cli_sink *s, bool keep);

#endif
