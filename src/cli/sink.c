/*
 * sink.c - where listings go.
 */
#include "sink.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 2 * CLI_SINK_ROOM, FULL = 1 << 18 };

int cli_sink_open(struct cli_sink *s, struct cli *c, const char *path)
{
    int r = cli_not_input(c, path, &c->diag);

    memset(s, 0, sizeof *s);
    if (r < 0)
        return r;
    s->c = c;
    s->buf = malloc(BUFFER);
    if (!s->buf)
        return trod_error(&c->diag, TROD_ERR_NOMEM, "sink.memory", NULL, "out of memory");
    if (path && strcmp(path, "-") != 0)
        r = trod_output_create(&s->file, path, NULL, &c->diag);
    if (r != 0)
        free(s->buf);
    return r;
}

static void write_out(struct cli_sink *s, const uint8_t *p, size_t n)
{
    if (s->failed)
        return;
    if (s->file) {
        s->failed = trod_output_write(s->file, p, n) != 0;
        return;
    }
    cli_progress_erase(s->c);
    while (n > 0) {
        ssize_t did = write(STDOUT_FILENO, p, n);

        if (did < 0 && errno == EINTR)
            continue;
        if (did < 0) {
            s->failed = true;
            trod_error(&s->c->diag, TROD_ERR_IO, "sink.write", NULL, "standard output: %s",
                       strerror(errno));
            return;
        }
        p += did;
        n -= (size_t)did;
    }
}

void cli_sink_flush(struct cli_sink *s)
{
    write_out(s, s->buf, s->n);
    s->n = 0;
}

char *cli_sink_room(struct cli_sink *s, size_t n)
{
    if (s->n >= FULL || s->n + n > BUFFER)
        cli_sink_flush(s);
    return (char *)s->buf + s->n;
}

void cli_sink_advance(struct cli_sink *s, const char *p)
{
    s->n = (size_t)(p - (const char *)s->buf);
}

void cli_sink_write(struct cli_sink *s, const void *p, size_t n)
{
    if (s->n + n > BUFFER || n >= FULL)
        cli_sink_flush(s);
    if (n >= FULL) {
        write_out(s, p, n);
        return;
    }
    memcpy(s->buf + s->n, p, n);
    s->n += n;
}

int cli_sink_close(struct cli_sink *s, bool keep)
{
    int r;

    cli_sink_flush(s);
    r = s->failed ? TROD_ERR_IO : 0;
    if (s->file && r == 0 && keep)
        r = trod_output_commit(s->file);
    else
        trod_output_discard(s->file);
    free(s->buf);
    return r;
}
