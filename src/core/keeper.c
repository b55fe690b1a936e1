/*
 * keeper.c - problems of a worker, kept until it is their turn. A diag keeps no more than
 * TROD_DIAG_SHOWN of a kind; the rest is counted.
 */
#include "core/keeper.h"

#include <stdlib.h>
#include <string.h>

struct trod_kept {
    struct trod_kept *next;
    struct trod_problem is;
    char bytes[]; /* message, path, member, line */
};

static const char *put(char **to, const char *s, size_t n)
{
    char *at = *to;

    memcpy(at, s, n);
    at[n] = '\0';
    *to += n + 1;
    return at;
}

static size_t length(const char *s)
{
    return s ? strlen(s) : 0;
}

static void keep(void *user, const struct trod_problem *p)
{
    struct trod_keeper *k = user;
    const size_t text = p->at.text ? p->at.text_len : 0; /* drivers bound lines */
    struct trod_kept *kept;
    size_t n;
    char *to;

    if (k->through) {
        trod_diag_report(k->through, p->severity, p->status, p->kind, &p->at, "%s", p->message);
        return;
    }
    n = length(p->message) + length(p->at.path) + length(p->at.member) + text + 4;
    kept = malloc(sizeof *kept + n);
    if (!kept)
        return; /* it is counted all the same */
    kept->next = NULL;
    kept->is = *p;
    to = kept->bytes;
    kept->is.message = put(&to, p->message, length(p->message));
    if (p->at.path)
        kept->is.at.path = put(&to, p->at.path, length(p->at.path));
    if (p->at.member)
        kept->is.at.member = put(&to, p->at.member, length(p->at.member));
    if (p->at.text)
        kept->is.at.text = (const uint8_t *)put(&to, (const char *)p->at.text, text);
    kept->is.at.text_len = text;
    *k->last = kept;
    k->last = &kept->next;
}

void trod_keeper_init(struct trod_keeper *k, bool strict)
{
    *k = (struct trod_keeper){.first = NULL};
    k->last = &k->first;
    trod_diag_init(&k->diag, keep, k);
    k->diag.strict = strict;
}

bool trod_keeper_has_lines(const struct trod_keeper *k)
{
    for (const struct trod_kept *p = k->first; p; p = p->next)
        if (p->is.at.line != TROD_NOWHERE)
            return true;
    return false;
}

void trod_keeper_shift(struct trod_keeper *k, uint64_t lines, uint64_t records)
{
    for (struct trod_kept *p = k->first; p; p = p->next) {
        if (p->is.at.line == TROD_NOWHERE)
            continue; /* numbered by where it lies */
        p->is.at.line += lines;
        if (records == TROD_NOWHERE)
            p->is.at.record = TROD_NOWHERE;
        else if (p->is.at.record != TROD_NOWHERE)
            p->is.at.record += records;
    }
}

void trod_keeper_move(struct trod_keeper *to, struct trod_keeper *from)
{
    to->first = from->first;
    to->last = from->first ? from->last : &to->first;
    from->first = NULL;
    from->last = &from->first;
    to->diag.worst = from->diag.worst;
    to->diag.n_counts = from->diag.n_counts;
    memcpy(to->diag.counts, from->diag.counts, from->diag.n_counts * sizeof *from->diag.counts);
}

static void tell(const struct trod_problem *p, struct trod_diag *to)
{
    trod_diag_report(to, p->severity, p->status, p->kind, &p->at, "%s", p->message);
}

static bool is_among(const char *path, const char *const *files, size_t n)
{
    for (size_t i = 0; path && i < n; i++)
        if (strcmp(path, files[i]) == 0)
            return true;
    return false;
}

void trod_keeper_tell_others(struct trod_keeper *k, const char *const *files, size_t n,
                             struct trod_diag *to)
{
    struct trod_kept **at = &k->first, *p;

    while ((p = *at)) {
        if (is_among(p->is.at.path, files, n)) {
            at = &p->next;
            continue;
        }
        tell(&p->is, to);
        *at = p->next;
        free(p);
    }
    k->last = at;
}

void trod_keeper_tell(struct trod_keeper *k, struct trod_diag *to)
{
    for (const struct trod_kept *p = k->first; to && p; p = p->next)
        tell(&p->is, to);
    while (k->first) {
        struct trod_kept *next = k->first->next;

        free(k->first);
        k->first = next;
    }
    k->last = &k->first;
}

void trod_keeper_end(struct trod_keeper *k, struct trod_diag *to)
{
    trod_keeper_tell(k, to);
    for (uint32_t i = 0; to && i < k->diag.n_counts; i++) {
        const struct trod_diag_count *c = &k->diag.counts[i];

        if (c->n > TROD_DIAG_SHOWN)
            trod_diag_more(to, c->severity, k->diag.worst, c->kind, c->n - TROD_DIAG_SHOWN);
    }
}
