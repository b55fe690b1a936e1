/*
 * sync_dot.c - the order graph as DOT, written while the rows go by.
 *
 * Implements sync.h. A signal's node is named after its sync point and count, so that a wait can
 * point at it without anything being remembered but the last node of each thread.
 */
#include "trod/sync.h"

#include "core/origin.h"
#include "trod/buf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 64 };

struct trod_sync_dot {
    struct trod_output *out;
    const struct trod_meta *meta;
    struct trod_buf text;
    char (*last)[NAME]; /* by stream: its last node */
    uint32_t n_last;
};

static int flush(struct trod_sync_dot *d)
{
    int rc = trod_output_write(d->out, d->text.p, d->text.n);

    d->text.n = 0;
    return rc;
}

int trod_sync_dot_new(struct trod_sync_dot **dot, struct trod_output *out,
                      const struct trod_meta *meta)
{
    struct trod_sync_dot *d = calloc(1, sizeof *d);
    int rc;

    *dot = NULL;
    if (!d)
        return TROD_ERR_NOMEM;
    *d = (struct trod_sync_dot){.out = out, .meta = meta};
    rc = trod_buf_printf(&d->text, "digraph sync {\n  node [shape=box, fontsize=10];\n");
    if (rc < 0) {
        free(d);
        return rc;
    }
    *dot = d;
    return TROD_OK;
}

static int room_for(struct trod_sync_dot *d, uint32_t stream)
{
    uint32_t n = stream < 8 ? 16 : 2 * stream;
    char(*last)[NAME];

    if (stream < d->n_last)
        return TROD_OK;
    last = realloc(d->last, n * sizeof *last);
    if (!last)
        return TROD_ERR_NOMEM;
    memset(last + d->n_last, 0, (n - d->n_last) * sizeof *last);
    d->last = last;
    d->n_last = n;
    return TROD_OK;
}

static const char *verb_of(unsigned sub)
{
    switch (sub) {
    case TROD_SYNC_SIGNAL:
        return "signal";
    case TROD_SYNC_BROADCAST:
        return "broadcast";
    case TROD_SYNC_WAIT:
        return "wait";
    default:
        return "try wait";
    }
}

/* One SYNC row: its node, the edge from the node before it, the edge from its signal. */
static int add(struct trod_sync_dot *d, const struct trod_batch *b, uint32_t row)
{
    uint32_t stream = b->stream[row];
    bool wait = trod_sync_is_wait(b->sub[row]);
    char name[NAME];
    int rc = room_for(d, stream);

    if (rc < 0)
        return rc;
    if (wait)
        snprintf(name, sizeof name, "w%" PRIu64, trod_origin_row(b, row));
    else
        snprintf(name, sizeof name, "s%" PRIx64 "_%" PRIu64, b->addr[row], b->value[row]);
    rc = trod_buf_printf(&d->text,
                         "  %s [label=\"%s 0x%" PRIx64 "\\n%" PRIu64 "\", group=t%" PRIu32 "];\n",
                         name, verb_of(b->sub[row]), b->addr[row], b->value[row], stream);
    if (rc == TROD_OK && d->last[stream][0])
        rc = trod_buf_printf(&d->text, "  %s -> %s;\n", d->last[stream], name);
    if (rc == TROD_OK && wait && b->value[row])
        rc = trod_buf_printf(&d->text, "  s%" PRIx64 "_%" PRIu64 " -> %s [style=dashed];\n",
                             b->addr[row], b->value[row], name);
    memcpy(d->last[stream], name, sizeof name);
    return rc;
}

int trod_sync_dot_feed(struct trod_sync_dot *d, const struct trod_batch *b)
{
    int rc = TROD_OK;

    for (uint32_t row = 0; row < b->n && rc == TROD_OK; row++)
        if (b->kind[row] == TROD_SYNC &&
            (trod_sync_is_signal(b->sub[row]) || trod_sync_is_wait(b->sub[row])))
            rc = add(d, b, row);
    return rc < 0 ? rc : flush(d);
}

/* A heading for each thread, pointing at nothing: the columns are the groups. */
static int headings(struct trod_sync_dot *d)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; i < d->n_last && i < d->meta->n_streams && rc == TROD_OK; i++)
        if (d->last[i][0])
            rc = trod_buf_printf(&d->text,
                                 "  t%" PRIu32 " [label=\"end of %.*s\", shape=plaintext, "
                                 "group=t%" PRIu32 "];\n  %s -> t%" PRIu32 " [style=dotted];\n",
                                 i, (int)d->meta->streams[i].name_len, d->meta->streams[i].name, i,
                                 d->last[i], i);
    return rc;
}

int trod_sync_dot_end(struct trod_sync_dot *d)
{
    int rc;

    if (!d)
        return TROD_OK;
    rc = headings(d);
    if (rc == TROD_OK)
        rc = trod_buf_printf(&d->text, "}\n");
    if (rc == TROD_OK)
        rc = flush(d);
    trod_buf_fini(&d->text);
    free(d->last);
    free(d);
    return rc;
}
