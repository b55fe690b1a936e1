/*
 * nav_check.h - questions to a trace that is moved about in, against the oracle of nav_events.h.
 * For cmocka tests: what is wrong fails the test.
 */
#ifndef NAV_CHECK_H
#define NAV_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nav_events.h"

static void check_byte(struct trod_nav *nav, const struct events *es, struct trod_gen *g)
{
    struct trod_nav_byte got[24], parts[24];
    const uint64_t row = gen_u64(g) % es->n;
    const uint64_t some = es->at[gen_u64(g) % es->n].addr,
                   addr = (some ? some : 0x8000) - gen_u64(g) % 16;
    const struct trod_nav_run runs[] = {{addr + 9, 7}, {addr, 5}, {addr + 4, 2}};

    assert_int_equal(trod_nav_memory(nav, row, addr, 24, got), 0);
    assert_int_equal(trod_nav_memory_runs(nav, row, runs, 3, parts), 0);
    for (unsigned i = 0, k = 0; i < 3; i++)
        for (unsigned at = (unsigned)(runs[i].addr - addr), n = 0; n < runs[i].count; n++, k++) {
            assert_int_equal(parts[k].value, got[at + n].value);
            assert_int_equal(parts[k].row, got[at + n].row);
        }
    for (unsigned i = 0; i < 24; i++) {
        const struct trod_nav_byte want = events_byte(es, row, addr + i);

        assert_int_equal(got[i].from, want.from);
        assert_int_equal(got[i].value, want.value);
        assert_int_equal(got[i].row, want.row);
        assert_int_equal(got[i].since, want.since);
    }
}

static void check_state(struct trod_nav *nav, const struct events *es, struct trod_gen *g)
{
    const uint64_t row = gen_u64(g) % es->n;
    const unsigned cpu = gen_u64(g) % EV_CPUS;
    struct trod_nav_state *s;
    uint64_t written;

    assert_int_equal(trod_nav_state(nav, row, cpu, &s), 0);
    for (unsigned reg = 0; reg < EV_REGS; reg++) {
        const size_t size = reg < EV_X ? 8 : 16;
        uint8_t value[16], known[16], got[16], got_known[16];
        char name[16];
        size_t n;

        snprintf(name, sizeof name, "%c%u", reg < EV_X ? 'x' : 'q', reg < EV_X ? reg : reg - EV_X);
        if (!events_register(es, row, cpu, reg, value, known, &written)) {
            assert_false(trod_nav_state_named(s, name, got, got_known, 16, &n));
            continue;
        }
        assert_true(trod_nav_state_named(s, name, got, got_known, 16, &n));
        assert_int_equal(n, size);
        assert_memory_equal(got, value, size);
        assert_memory_equal(got_known, known, size);
        /* the part by its own name */
        name[0] = reg < EV_X ? 'w' : 's';
        assert_true(trod_nav_state_named(s, name, got, got_known, 16, &n));
        assert_int_equal(n, 4);
        assert_memory_equal(got, value, 4);
    }
    trod_nav_state_free(s);
}

static void check_find(struct trod_nav *nav, const struct events *es, struct trod_gen *g)
{
    static const char *const names[] = {"x0", "x1", "x2", "x3", "x4", "x5",
                                        "x6", "x7", "v0", "v1", "v2", "v3"};
    struct trod_nav_query q = {.access = gen_u64(g) % 2 ? TROD_NAV_WRITES : TROD_NAV_READS};
    const bool back = gen_u64(g) % 2;
    uint64_t row = gen_u64(g) % (es->n + 1);
    struct trod_nav_hit hit[3];
    size_t n;

    q.one_stream = gen_u64(g) % 2;
    q.stream = (uint32_t)(gen_u64(g) % EV_CPUS);
    switch (gen_u64(g) % 3) {
    case 0:
        q.access = TROD_NAV_VISITS;
        q.lo = 0x1000 + 4 * (gen_u64(g) % EV_PCS);
        break;
    case 1:
        q.access = TROD_NAV_WRITES;
        q.reg = names[gen_u64(g) % EV_REGS];
        break;
    default:
        q.lo = es->at[gen_u64(g) % es->n].addr;
        q.hi = q.lo + gen_u64(g) % 8;
    }
    assert_int_equal(trod_nav_find(nav, &q, row, back, hit, 3, &n), 0);
    for (size_t i = 0; i < 3; i++) {
        row = events_find(es, &q, row, back);
        if (row == TROD_NOWHERE) {
            assert_int_equal(n, i);
            return;
        }
        assert_in_range(n, i + 1, 3);
        assert_int_equal(hit[i].row, row);
        assert_int_equal(hit[i].stream, es->at[row].cpu);
        assert_int_equal(hit[i].time, es->at[row].time);
    }
}

/* Rows by what they are: the Kth, the last before and the first behind a row. */
static void check_kind(struct trod_nav *nav, const struct events *es, struct trod_gen *g)
{
    static const uint8_t kinds[] = {[EV_INSTR] = TROD_INSTR,
                                    [EV_READ] = TROD_READ,
                                    [EV_WRITE] = TROD_WRITE,
                                    [EV_REG] = TROD_REG};
    const unsigned kind = (unsigned)(gen_u64(g) % 4);
    const uint64_t at = gen_u64(g) % es->n;
    uint64_t k = 1 + gen_u64(g) % es->n, last = TROD_NOWHERE, next = TROD_NOWHERE, row;
    const struct trod_nav_query q = {.access = TROD_NAV_KIND, .lo = kinds[kind]};
    struct trod_nav_hit hit;
    char place[64];
    size_t n;

    snprintf(place, sizeof place, "kind:%s:%llu", trod_kind_name(kinds[kind]),
             (unsigned long long)k);
    for (uint64_t i = 0; i < es->n; i++) {
        if (es->at[i].kind != kind)
            continue;
        last = i < at ? i : last;
        next = i > at && next == TROD_NOWHERE ? i : next;
        if (k && --k == 0) {
            assert_int_equal(trod_nav_place(nav, place, &row), 1);
            assert_int_equal(row, i);
        }
    }
    if (k)
        assert_int_equal(trod_nav_place(nav, place, &row), 0);
    assert_int_equal(trod_nav_find(nav, &q, at, true, &hit, 1, &n), 0);
    assert_int_equal(n, last != TROD_NOWHERE);
    if (n)
        assert_int_equal(hit.row, last);
    assert_int_equal(trod_nav_find(nav, &q, at, false, &hit, 1, &n), 0);
    assert_int_equal(n, next != TROD_NOWHERE);
    if (n)
        assert_int_equal(hit.row, next);
}

static void check_places(struct trod_nav *nav, const struct events *es, struct trod_gen *g)
{
    const uint64_t pc = 0x1000 + 4 * (gen_u64(g) % EV_PCS), k = 1 + gen_u64(g) % 8;
    const uint64_t time = gen_u64(g) % (es->at[es->n - 1].time + 2), at = gen_u64(g) % es->n;
    const struct trod_batch *b;
    uint64_t want, row, line;
    uint32_t i;
    int rc;

    want = events_visit(es, pc, k);
    rc = trod_nav_visit(nav, pc, k, &row);
    assert_int_equal(rc, want != TROD_NOWHERE);
    if (rc)
        assert_int_equal(row, want);
    want = events_time(es, time);
    rc = trod_nav_time(nav, time, &row);
    assert_int_equal(rc, want != TROD_NOWHERE);
    if (rc)
        assert_int_equal(row, want);
    /* every event is a line of its own */
    assert_int_equal(trod_nav_line(nav, at + 1, &row), 1);
    assert_int_equal(row, at);
    assert_int_equal(trod_nav_line_of(nav, at, &line), 1);
    assert_int_equal(line, at + 1);
    assert_int_equal(trod_nav_row(nav, at, &b, &i), 1);
    assert_int_equal(b->addr[i], es->at[at].kind == EV_REG ? b->addr[i] : es->at[at].addr);
    assert_int_equal(b->time[i], es->at[at].time);
    assert_int_equal(b->first + i, at);
}

/* One random question of each kind. */
static inline void nav_check(struct trod_nav *nav, const struct events *es, struct trod_gen *g)
{
    check_byte(nav, es, g);
    check_state(nav, es, g);
    check_find(nav, es, g);
    check_places(nav, es, g);
    check_kind(nav, es, g);
}

#endif
