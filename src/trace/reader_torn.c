/*
 * reader_torn.c - records that damage of the input has cut off, or begins in the middle of.
 *
 * Implements reader_int.h. What is left of such a record is passed over and counted: half a line
 * may well be another one.
 */
#include "trace/reader_int.h"

#include <string.h>

/* Behind damage the input goes on: where a record begins, in an archive, or within one. */
static void go_on(struct trod_reader *r)
{
    const struct trod_format *f = r->spec.format;

    if (trod_input_members(r->in))
        return;
    r->resync = f->resync != NULL;
    r->torn = !r->resync && (f->flags & TROD_FMT_TEXT);
}

void trod_reader_tear(struct trod_reader *r, size_t eaten, size_t n)
{
    r->skipped += n;
    r->eaten = eaten + n;
    r->want = 1;
    go_on(r);
}

bool trod_reader_whole_lines(const struct trod_reader *r, struct trod_span *span)
{
    size_t n = span->n;

    if (!(r->spec.format->flags & TROD_FMT_TEXT))
        return true;
    while (n && span->p[n - 1] != '\n')
        n--;
    if (n)
        span->n = n;
    return n != 0;
}

void trod_reader_next_line(struct trod_reader *r, struct trod_span *span)
{
    const uint8_t *nl = span->n ? memchr(span->p, '\n', span->n) : NULL;
    const size_t n = nl ? (size_t)(nl - span->p) + 1 : span->n;

    r->torn = !nl;
    r->skipped += n;
    r->eaten = n;
    r->done = span->n == 0;
}
