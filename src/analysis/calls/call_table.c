/*
 * call_table.c - the tables of the analysis "syscalls": calls by number, failures, saved states.
 *
 * Numbers of system calls are few. Damaged traces invent others: from the 65,536th on they share
 * one entry, so that memory stays bounded.
 */
#include "analysis/calls/calls.h"

#include "analysis/by_site.h"

#include "core/grow.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

enum { SUMS = sizeof(struct sys_sums) / sizeof(uint64_t) };

struct sys_call *sys_call(struct sys_state *s, int64_t number)
{
    uint32_t h, i;

    if (s->n_calls >= SYS_NUMBERS)
        number = s->call[SYS_NUMBERS - 1].number;
    h = trod_map_hash((uint64_t)number);
    for (size_t at = h; trod_map_next(&s->map, h, &at, &i);)
        if (s->call[i].number == number)
            return &s->call[i];
    if (!trod_grow(&s->call, s->n_calls, &s->cap_calls, sizeof *s->call, 32) ||
        !trod_map_put(&s->map, h, (uint32_t)s->n_calls))
        return NULL;
    s->call[s->n_calls] = (struct sys_call){.number = number, .least = UINT64_MAX};
    return &s->call[s->n_calls++];
}

int sys_failed(struct sys_state *s, int64_t number, int64_t error, uint64_t n)
{
    for (size_t i = 0; i < s->n_failures; i++)
        if (s->failure[i].number == number && s->failure[i].error == error) {
            s->failure[i].n += n;
            return TROD_OK;
        }
    if (s->n_failures >= SYS_NUMBERS / 16) { /* no system has so many: the trace is damaged */
        s->failure[s->n_failures - 1].n += n;
        return TROD_OK;
    }
    if (!trod_grow(&s->failure, s->n_failures, &s->cap_failures, sizeof *s->failure, 16))
        return TROD_ERR_NOMEM;
    s->failure[s->n_failures++] = (struct sys_failure){number, error, n};
    return TROD_OK;
}

void sys_add(struct sys_sums *into, const struct sys_sums *from)
{
    uint64_t a[SUMS], b[SUMS];

    memcpy(a, into, sizeof a);
    memcpy(b, from, sizeof b);
    for (size_t i = 0; i < SUMS; i++)
        a[i] += b[i];
    memcpy(into, a, sizeof a);
}

void sys_subtract(struct sys_sums *from, const struct sys_sums *what)
{
    uint64_t a[SUMS], b[SUMS];

    memcpy(a, from, sizeof a);
    memcpy(b, what, sizeof b);
    for (size_t i = 0; i < SUMS; i++)
        a[i] -= b[i];
    memcpy(from, a, sizeof a);
}

int sys_room(struct sys_state *s, size_t n)
{
    return trod_by_site_room(&s->ran, &s->n_ran, n, sizeof *s->ran);
}

static int merge_call(struct sys_state *s, const struct sys_call *from)
{
    struct sys_call *c = sys_call(s, from->number);

    if (!c)
        return TROD_ERR_NOMEM;
    sys_add(&c->n, &from->n);
    c->least = from->least < c->least ? from->least : c->least;
    c->most = from->most > c->most ? from->most : c->most;
    return TROD_OK;
}

/* By number: a thread has no intervals of those before it began. */
static int merge_intervals(struct sys_state *s, const struct sys_state *t)
{
    for (size_t i = 0, at = 0; i < t->n_intervals; i++, at++) {
        const struct sys_interval *v = &t->interval[i];

        while (at < s->n_intervals && s->interval[at].number < v->number)
            at++;
        if (at < s->n_intervals && s->interval[at].number == v->number) {
            sys_add(&s->interval[at].n, &v->n);
            s->interval[at].ran += v->ran;
            continue;
        }
        if (!trod_grow(&s->interval, s->n_intervals, &s->cap_intervals, sizeof *s->interval, 64))
            return TROD_ERR_NOMEM;
        memmove(&s->interval[at + 1], &s->interval[at],
                (s->n_intervals++ - at) * sizeof *s->interval);
        s->interval[at] = *v;
    }
    return TROD_OK;
}

int sys_merge(void *into, const void *from)
{
    struct sys_state *s = into;
    const struct sys_state *t = from;
    int rc = sys_room(s, t->n_ran);

    if (rc == TROD_OK)
        rc = trod_by_site_room(&s->from, &s->n_from, t->n_from, sizeof *s->from);

    s->isa = s->isa ? s->isa : t->isa;
    s->marked = s->marked || t->marked;
    s->numbered = s->numbered || t->numbered;
    s->instructions += t->instructions;
    sys_add(&s->sums, &t->sums);
    for (size_t i = 0; rc == TROD_OK && i < t->n_calls; i++)
        rc = merge_call(s, &t->call[i]);
    for (size_t i = 0; rc == TROD_OK && i < t->n_failures; i++)
        rc = sys_failed(s, t->failure[i].number, t->failure[i].error, t->failure[i].n);
    for (size_t i = 0; rc == TROD_OK && i < t->n_ones && s->n_ones < s->opt->list; i++) {
        if (!trod_grow(&s->one, s->n_ones, &s->cap_ones, sizeof *s->one, 64))
            return TROD_ERR_NOMEM;
        s->one[s->n_ones++] = t->one[i];
    }
    for (size_t i = 0; rc == TROD_OK && i < t->n_ran; i++)
        s->ran[i] += t->ran[i];
    for (size_t i = 0; rc == TROD_OK && t->from && i < t->n_from && i < s->n_from; i++) {
        s->from[i].instructions += t->from[i].instructions;
        s->from[i].calls += t->from[i].calls;
        s->from[i].failed += t->from[i].failed;
        s->from[i].blocking += t->from[i].blocking;
        s->from[i].time += t->from[i].time;
    }
    return rc < 0 ? rc : merge_intervals(s, t);
}

/* --- saved states --- */

static int pack_sums(struct trod_buf *out, const struct sys_sums *sums)
{
    uint64_t a[SUMS];
    int rc = TROD_OK;

    memcpy(a, sums, sizeof a);
    for (size_t i = 0; rc == TROD_OK && i < SUMS; i++)
        rc = trod_pack(out, a[i]);
    return rc;
}

static int unpack_sums(struct trod_span *in, struct sys_sums *sums)
{
    uint64_t a[SUMS];
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < SUMS; i++)
        rc = trod_unpack(in, &a[i]);
    if (rc == TROD_OK)
        memcpy(sums, a, sizeof a);
    return rc;
}

enum { ONE_TIMED = 1, ONE_RESULT = 2, ONE_FAILED = 4, ONE_BLOCKING = 8, ONE_BITS = 15 };

/* The calls that are kept for the list. */
static int save_ones(const struct sys_state *s, struct trod_buf *out)
{
    int rc = trod_pack(out, s->n_ones);

    for (size_t i = 0; i < s->n_ones; i++) {
        const struct sys_one *c = &s->one[i];
        const unsigned bits = (c->has_time ? ONE_TIMED : 0) | (c->has_result ? ONE_RESULT : 0) |
                              (c->failed ? ONE_FAILED : 0) | (c->blocking ? ONE_BLOCKING : 0);

        rc |= trod_pack(out, (uint64_t)c->number) | trod_pack(out, c->tid) | trod_pack(out, bits) |
              trod_pack(out, c->time) | trod_pack(out, c->result) | trod_pack(out, c->error) |
              trod_pack(out, c->n_args);
        for (unsigned k = 0; k < c->n_args; k++)
            rc |= trod_pack(out, c->arg[k]);
    }
    return rc;
}

/*
 * Saved: sums, calls, failures, the list of single calls, sites that ran, callers where results are
 * by owner.
 */
int sys_save(const void *st, struct trod_buf *out)
{
    const struct sys_state *s = st;
    size_t n = s->n_ran;
    int rc = trod_pack(out, s->isa);

    while (n && !s->ran[n - 1])
        n--;
    rc |= trod_pack(out, (uint64_t)s->marked | (uint64_t)s->numbered << 1);
    rc |= trod_pack(out, s->instructions) | pack_sums(out, &s->sums) | trod_pack(out, s->n_calls);
    for (size_t i = 0; i < s->n_calls; i++) {
        const struct sys_call *c = &s->call[i];

        rc |= trod_pack(out, (uint64_t)c->number) | pack_sums(out, &c->n) |
              trod_pack(out, c->least) | trod_pack(out, c->most);
    }
    rc |= trod_pack(out, s->n_failures);
    for (size_t i = 0; i < s->n_failures; i++)
        rc |= trod_pack(out, (uint64_t)s->failure[i].number) |
              trod_pack(out, (uint64_t)s->failure[i].error) | trod_pack(out, s->failure[i].n);
    rc |= save_ones(s, out) | trod_pack(out, n);
    for (size_t i = 0; i < n; i++)
        rc |= trod_pack(out, s->ran[i]);
    if (s->by >= TROD_BY_MODULE)
        rc |= trod_by_site_save(out, s->from, s->n_from, SYS_FROM);
    return rc ? TROD_ERR_NOMEM : TROD_OK;
}

static int load_calls(struct sys_state *s, struct trod_span *in)
{
    uint64_t n, number, error, count;

    if (trod_unpack(in, &n) < 0 || n > SYS_NUMBERS)
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; i < n; i++) {
        struct sys_call c;

        if (trod_unpack(in, &number) < 0 || unpack_sums(in, &c.n) < 0 ||
            trod_unpack(in, &c.least) < 0 || trod_unpack(in, &c.most) < 0)
            return TROD_ERR_CORRUPT;
        c.number = (int64_t)number;
        if (merge_call(s, &c) < 0)
            return TROD_ERR_NOMEM;
        if (s->n_calls != i + 1)
            return TROD_ERR_CORRUPT;
    }
    if (trod_unpack(in, &n) < 0 || n > SYS_NUMBERS)
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; i < n; i++) {
        if (trod_unpack(in, &number) < 0 || trod_unpack(in, &error) < 0 ||
            trod_unpack(in, &count) < 0)
            return TROD_ERR_CORRUPT;
        if (sys_failed(s, (int64_t)number, (int64_t)error, count) < 0)
            return TROD_ERR_NOMEM;
        if (s->n_failures != i + 1)
            return TROD_ERR_CORRUPT;
    }
    return TROD_OK;
}

static int load_one(struct sys_one *c, struct trod_span *in)
{
    uint64_t number, bits, n;

    if (trod_unpack(in, &number) < 0 || trod_unpack(in, &c->tid) < 0 ||
        trod_unpack(in, &bits) < 0 || bits > ONE_BITS || trod_unpack(in, &c->time) < 0 ||
        trod_unpack(in, &c->result) < 0 || trod_unpack(in, &c->error) < 0 ||
        trod_unpack(in, &n) < 0 || n > SYS_ARGS)
        return TROD_ERR_CORRUPT;
    c->number = (int64_t)number;
    c->has_time = bits & ONE_TIMED;
    c->has_result = bits & ONE_RESULT;
    c->failed = bits & ONE_FAILED;
    c->blocking = bits & ONE_BLOCKING;
    for (; c->n_args < n; c->n_args++)
        if (trod_unpack(in, &c->arg[c->n_args]) < 0)
            return TROD_ERR_CORRUPT;
    return TROD_OK;
}

static int load_ones(struct sys_state *s, struct trod_span *in)
{
    uint64_t n;

    if (trod_unpack(in, &n) < 0 || n > s->opt->list)
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; i < n; i++) {
        struct sys_one c = {0};

        if (load_one(&c, in) < 0)
            return TROD_ERR_CORRUPT;
        if (!trod_grow(&s->one, s->n_ones, &s->cap_ones, sizeof *s->one, 64))
            return TROD_ERR_NOMEM;
        s->one[s->n_ones++] = c;
    }
    return TROD_OK;
}

int sys_load(void *st, struct trod_span in, const uint32_t *sites)
{
    struct sys_state *s = st;
    uint64_t bits, n, v;
    int rc;

    if (trod_unpack(&in, &s->isa) < 0 || s->isa >= TROD_ISAS || trod_unpack(&in, &bits) < 0 ||
        bits > 3 || trod_unpack(&in, &s->instructions) < 0 || unpack_sums(&in, &s->sums) < 0)
        return TROD_ERR_CORRUPT;
    s->marked = bits & 1;
    s->numbered = bits >> 1;
    if ((rc = load_calls(s, &in)) < 0 || (rc = load_ones(s, &in)) < 0)
        return rc;
    if (trod_unpack(&in, &n) < 0 || n > in.n || (n && !sites))
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; i < n; i++) {
        if (sites[i] == TROD_NO_SITE || trod_unpack(&in, &v) < 0)
            return TROD_ERR_CORRUPT;
        if (v && sys_room(s, (size_t)sites[i] + 1) < 0)
            return TROD_ERR_NOMEM;
        if (v)
            s->ran[sites[i]] += v;
    }
    rc = TROD_OK;
    if (s->by >= TROD_BY_MODULE)
        rc = trod_by_site_load(&in, &s->from, &s->n_from, SYS_FROM, sites);
    return rc < 0 ? rc : in.n ? TROD_ERR_CORRUPT : TROD_OK;
}
