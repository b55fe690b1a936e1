/*
 * future.c - the lines of a first pass in a file, turned into when each comes again.
 *
 * Implements own/future.h. The file is turned in place, block by block from its end.
 */
#include "sim/own/future.h"

#include "core/temp.h"
#include "sim/lineset.h"
#include "sim/policy/opt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 15 };

static int report(struct trod_diag *diag, const char *what)
{
    return trod_error(diag, TROD_ERR_IO, "cache.future", NULL,
                      "the file for the optimal policy cannot be %s: %s", what, strerror(errno));
}

static int open_file(struct trod_own_coming *c, struct trod_diag *diag)
{
    c->file = trod_temp_open();
    return c->file < 0 ? report(diag, "made") : 0;
}

int trod_own_future_init(struct trod_own_future *f, uint32_t n, struct trod_diag *diag)
{
    int rc = 0;

    *f = (struct trod_own_future){.cache = calloc(n ? n : 1, sizeof *f->cache)};
    if (!f->cache)
        return TROD_ERR_NOMEM;
    for (f->n = 0; rc == 0 && f->n < n; f->n++) {
        struct trod_own_coming *c = &f->cache[f->n];

        c->file = -1;
        c->buffer = malloc(BLOCK * sizeof *c->buffer);
        rc = c->buffer ? open_file(c, diag) : TROD_ERR_NOMEM;
    }
    return rc;
}

void trod_own_future_fini(struct trod_own_future *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        if (f->cache[i].file >= 0)
            close(f->cache[i].file);
        free(f->cache[i].buffer);
    }
    free(f->cache);
    *f = (struct trod_own_future){0};
}

/* N references of the file from reference AT on, to or from V. */
static bool move(const struct trod_own_coming *c, uint64_t *v, size_t n, uint64_t at, bool out)
{
    char *p = (char *)v;
    size_t left = n * sizeof *v;
    off_t to = (off_t)(at * sizeof *v);

    while (left) {
        const ssize_t k = out ? pwrite(c->file, p, left, to) : pread(c->file, p, left, to);

        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        left -= (size_t)k;
        to += k;
    }
    return true;
}

static void write_held(struct trod_own_coming *c)
{
    if (!c->failed && !move(c, c->buffer, c->held, c->n - c->held, true))
        c->failed = errno ? errno : EIO;
    c->held = 0;
}

void trod_own_coming_note(struct trod_own_coming *c, uint64_t line)
{
    c->buffer[c->held++] = line;
    c->n++;
    if (c->held == BLOCK)
        write_held(c);
}

/* Lines of the file become the numbers of the next reference to each. */
static int turn(struct trod_own_coming *c)
{
    struct trod_lines next = {.map = true};
    uint64_t end = c->n;

    while (end) {
        const size_t n = end % BLOCK ? end % BLOCK : BLOCK;

        if (!move(c, c->buffer, n, end - n, false))
            break;
        for (size_t i = n; i-- > 0;) {
            uint64_t *v = trod_lines_at(&next, c->buffer[i]);
            const uint64_t at = end - n + i;

            if (!v) {
                trod_lines_fini(&next);
                return TROD_ERR_NOMEM;
            }
            c->buffer[i] = *v ? *v : TROD_OPT_NEVER;
            *v = at; /* 0 is that of the first reference, which nothing comes before */
        }
        if (!move(c, c->buffer, n, end - n, true))
            break;
        end -= n;
    }
    trod_lines_fini(&next);
    return end ? TROD_ERR_IO : 0;
}

int trod_own_future_turn(struct trod_own_future *f, struct trod_diag *diag)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < f->n; i++) {
        struct trod_own_coming *c = &f->cache[i];

        write_held(c);
        errno = c->failed;
        rc = c->failed ? TROD_ERR_IO : turn(c);
    }
    if (rc == TROD_ERR_IO)
        report(diag, "written or read");
    f->turned = rc == 0;
    trod_own_future_rewind(f);
    return rc;
}

void trod_own_future_rewind(struct trod_own_future *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        f->cache[i].at = f->cache[i].first = f->cache[i].held = 0;
}

uint64_t trod_own_coming_next(struct trod_own_coming *c)
{
    const uint64_t i = c->at++;

    if (i >= c->n) {
        c->failed = EINVAL; /* more references than in the first pass */
        return TROD_OPT_NEVER;
    }
    if (i - c->first >= c->held) {
        c->first = i;
        c->held = c->n - i < BLOCK ? (size_t)(c->n - i) : BLOCK;
        if (!move(c, c->buffer, c->held, i, false)) {
            c->failed = EIO;
            return TROD_OPT_NEVER;
        }
    }
    return c->buffer[i - c->first];
}
