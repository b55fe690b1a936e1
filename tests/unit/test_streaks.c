/*
 * test_streaks.c - sites and streaks of batches (engine/sites.h, trod/streak.h) against a slow
 * oracle.
 *
 * Invented programs run here: code that goes straight on, jumps, repeats itself, changes, is of the
 * kernel, runs in several threads, goes round loops; rows of other kinds come in between, and
 * columns are missing.
 * What is said of every row of a batch must be what a walk row by row finds; streaks cover the rows
 * once, whatever the batches are, and any part of a batch is the part of its streaks.
 */

#include <stdlib.h>
#include <string.h>

#include "engine/sites.h"
#include "engine/streaks.h"
#include "gen.h"
#include "trod/trod.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { CODE = 600, ROWS = 20000, STREAMS = 3, BASE = 0x1000 };

/* A place of the program's code: instructions lie on even addresses. */
struct code {
    uint8_t size, version, branch;
};

struct machine {
    struct trod_gen g;
    struct code code[CODE]; /* by address / 2; size 0: none */
    uint32_t pc[STREAMS];   /* by stream: index of the next */
    int32_t last[STREAMS];  /* by stream: the row executed last, -1: none */
    unsigned stream;
    bool kernel;
    unsigned odds; /* rare rows: one in so many */
};

/* One row of a program as it is to be found again. */
struct row {
    uint8_t kind;
    uint32_t has, flags, stream, size;
    uint64_t addr;
    uint8_t code[2];
    uint64_t site_pc; /* of the instruction it belongs to; UINT64_MAX: none */
    uint8_t site_version;
};

static struct row rows[ROWS];

static bool rare(struct machine *m)
{
    return m->odds && gen_below(&m->g, m->odds) == 0;
}

static void begin(struct machine *m, uint64_t seed, unsigned odds)
{
    *m = (struct machine){.g = gen_seed(seed), .odds = odds};
    for (unsigned i = 0; i < CODE; i += m->code[i].size / 2) {
        m->code[i].size = (uint8_t)(2 + 2 * gen_below(&m->g, 3));
        m->code[i].branch = gen_below(&m->g, 6) == 0 ? TROD_BR_COND : TROD_BR_NONE;
        if (i + m->code[i].size / 2 > CODE)
            m->code[i].size = 2;
    }
    for (unsigned s = 0; s < STREAMS; s++)
        m->last[s] = -1;
}

static uint32_t jump(struct machine *m)
{
    uint32_t to = (uint32_t)gen_below(&m->g, CODE / 8) * 8; /* few targets: things repeat */

    while (!m->code[to].size)
        to--;
    return to;
}

static struct row instruction(struct machine *m)
{
    uint32_t *pc = &m->pc[m->stream];
    struct code *c = &m->code[*pc];
    struct row r = {.kind = TROD_INSTR,
                    .flags = c->branch,
                    .size = c->size,
                    .addr = BASE + 2 * *pc,
                    .code = {(uint8_t)*pc, c->version}};

    if (rare(m))
        r.flags |= 1u << (unsigned[]){10, 17, 19, 21}[gen_below(&m->g, 4)];
    if (rare(m)) /* other code at the same place */
        r.code[1] = ++c->version;
    *pc += c->size / 2u;
    if (*pc >= CODE || (c->branch && gen_below(&m->g, 3)) || rare(m))
        *pc = jump(m);
    return r;
}

static struct row other(struct machine *m)
{
    static const uint8_t kinds[] = {TROD_READ,  TROD_WRITE,  TROD_ATOMIC, TROD_PREFETCH,
                                    TROD_FLUSH, TROD_MARKER, TROD_NOTE,   TROD_REG};
    const bool usual = gen_below(&m->g, 20) != 0 || !m->odds;

    return (struct row){.kind = usual ? TROD_READ : kinds[gen_below(&m->g, sizeof kinds)],
                        .addr = gen_u64(&m->g),
                        .flags = rare(m) ? (uint32_t)TROD_F_IFETCH : 0,
                        .size = 8};
}

/* Run M for N rows. NEW: opcodes are said where they are new only. */
static void run(struct machine *m, uint32_t n, bool new)
{
    static uint8_t known[CODE]; /* 1 + version that was said */

    memset(known, 0, sizeof known);
    for (uint32_t i = 0; i < n; i++) {
        struct row r;

        if (rare(m))
            m->stream = (unsigned)gen_below(&m->g, STREAMS);
        m->kernel ^= rare(m);
        r = gen_below(&m->g, 4) ? instruction(m) : other(m);
        r.has = TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_STREAM;
        r.stream = m->stream;
        r.flags |= m->kernel ? TROD_F_KERNEL : 0;
        if (r.kind != TROD_INSTR && rare(m))
            r.has &= ~(uint32_t)(gen_below(&m->g, 2) ? TROD_COL_SIZE : TROD_COL_ADDR);
        r.site_pc = UINT64_MAX;
        if (r.kind == TROD_INSTR) {
            const uint32_t at = (uint32_t)(r.addr - BASE) / 2;

            if (!new || known[at] != 1 + r.code[1])
                r.has |= TROD_COL_CODE;
            known[at] = (uint8_t)(1 + r.code[1]);
            m->last[m->stream] = (int32_t)i;
        }
        if ((r.kind == TROD_INSTR || (r.kind >= TROD_READ && r.kind <= TROD_REG)) &&
            m->last[m->stream] >= 0) {
            const struct row *by = r.kind == TROD_INSTR ? &r : &rows[m->last[m->stream]];

            r.site_pc = by->addr;
            r.site_version = by->code[1];
        }
        rows[i] = r;
    }
}

static void fill(struct trod_batch *b, uint32_t from, uint32_t n)
{
    static uint8_t bytes[TROD_BATCH_ROWS * 2];

    trod_batch_clear(b);
    b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_STREAM |
              TROD_COL_CODE;
    b->first = from;
    b->bytes = bytes;
    b->bytes_n = sizeof bytes;
    for (uint32_t i = 0; i < n; i++) {
        const struct row *r = &rows[from + i];

        b->kind[i] = r->kind;
        b->has[i] = r->has;
        b->flags[i] = r->flags;
        b->size[i] = r->has & TROD_COL_SIZE ? r->size : UINT32_MAX;
        b->addr[i] = r->has & TROD_COL_ADDR ? r->addr : UINT64_MAX;
        b->stream[i] = r->stream;
        b->code[i] = (struct trod_slice){2 * i, 2};
        memcpy(bytes + 2 * i, r->code, 2);
    }
    b->n = n;
}

/* ---- checks */

static void check_sites(const struct trod_sites *sites, const struct trod_batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        const struct row *r = &rows[b->first + i];

        if (r->site_pc == UINT64_MAX) {
            assert_int_equal(b->site[i], TROD_NO_SITE);
            continue;
        }
        assert_true(b->site[i] < trod_sites_count(sites));
        assert_int_equal(trod_site_at(sites, b->site[i])->pc, r->site_pc);
        assert_int_equal(trod_site_at(sites, b->site[i])->code[1], r->site_version);
    }
}

/* May row I of B be part of a streak, or be listed as an access? */
static bool is_plain(const struct trod_batch *b, uint32_t i)
{
    const uint32_t needs = TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR;
    const uint32_t odd = TROD_F_SYNTHETIC | TROD_F_SKIPPED | TROD_F_NOFETCH | TROD_F_IFETCH;

    return (b->has[i] & needs) == needs && !(b->flags[i] & odd);
}

/* The instructions of S follow each other; they are marked in SEEN. */
static void check_streak(const struct trod_batch *b, const struct trod_streak *s, uint8_t *seen)
{
    uint32_t n = 0, before = 0;

    for (uint32_t i = s->row; i <= s->last; i++) {
        if (b->kind[i] != TROD_INSTR) {
            assert_true(b->kind[i] >= TROD_READ && b->kind[i] <= TROD_REG);
            continue;
        }
        assert_true(is_plain(b, i));
        assert_int_equal(b->site[i], s->site + n);
        assert_int_equal(b->stream[i], b->stream[s->row]);
        assert_int_equal(b->flags[i] & TROD_F_KERNEL, b->flags[s->row] & TROD_F_KERNEL);
        if (n++) {
            assert_int_equal(b->addr[i], b->addr[before] + b->size[before]);
            assert_false(b->flags[before] & TROD_F_BRANCH);
        }
        before = i;
        assert_false(seen[i]++);
    }
    assert_int_equal(n, s->n);
    assert_int_equal(b->kind[s->row], TROD_INSTR);
    assert_int_equal(b->kind[s->last], TROD_INSTR);
}

/* Each of rows [FROM, TO) is there once. */
static void check_part(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    static uint8_t seen[TROD_BATCH_ROWS];
    struct trod_streak_walk walk;
    const struct trod_streak *s;
    const uint16_t *access;
    uint32_t n, last = from;

    memset(seen, 0, sizeof seen);
    trod_streak_walk_begin(&walk, b, from, to);
    while ((s = trod_streak_next(&walk))) {
        assert_true(s->row >= last && s->row <= s->last && s->last < to);
        last = s->row;
        if (s->n)
            check_streak(b, s, seen);
        else
            assert_false(seen[s->row]++);
    }
    access = trod_streak_accesses(b, from, to, &n);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(access[i] >= from && access[i] < to);
        assert_true(i == 0 || access[i] > access[i - 1]);
        assert_true(b->kind[access[i]] >= TROD_READ && b->kind[access[i]] <= TROD_FLUSH);
        assert_true(is_plain(b, access[i]));
        assert_false(seen[access[i]]++);
    }
    for (uint32_t i = 0; i < b->n; i++)
        assert_int_equal(seen[i], i >= from && i < to && b->kind[i] != TROD_REG);
}

static void check_same(const struct trod_streaks *a, const struct trod_streaks *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->n_accesses, b->n_accesses);
    assert_memory_equal(a->at, b->at, a->n * sizeof *a->at);
    assert_memory_equal(a->access, b->access, a->n_accesses * sizeof *a->access);
}

/* O meets so much code elsewhere that what comes behind branches is looked up ahead of the rows. */
static void enlarge(struct engine_owner *o, struct trod_batch *b)
{
    enum { SITES = 1 << 15, ELSEWHERE = 1 << 20 };

    for (uint32_t from = 0; from < SITES; from += b->n) {
        for (uint32_t i = 0; i < TROD_BATCH_ROWS; i++)
            rows[i] = (struct row){.kind = TROD_INSTR,
                                   .has = TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR |
                                          TROD_COL_STREAM | TROD_COL_CODE,
                                   .stream = STREAMS,
                                   .size = 2,
                                   .addr = ELSEWHERE + 2 * (uint64_t)(from + i)};
        fill(b, 0, TROD_BATCH_ROWS);
        assert_int_equal(engine_owner_fill(o, b, NULL), TROD_OK);
    }
}

/* LARGE: the program is only a part of what ran. */
static void check_run(struct machine *m, uint32_t n, uint32_t most, bool large)
{
    static struct row program[ROWS];
    static struct trod_streaks streaks, again;
    struct engine_owner *with, *without;
    struct trod_sites *sites;
    struct trod_meta meta;
    struct trod_batch *b;
    uint64_t instructions = 0, counted = 0;

    trod_meta_init(&meta);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), TROD_OK);
    assert_int_equal(engine_sites_new(&sites, &meta, NULL), TROD_OK);
    assert_int_equal(engine_owner_new(&with, sites, false), TROD_OK);
    assert_int_equal(engine_owner_new(&without, sites, false), TROD_OK);
    b->meta = &meta;
    if (large) {
        memcpy(program, rows, sizeof rows);
        enlarge(with, b);
        enlarge(without, b);
        memcpy(rows, program, sizeof rows);
    }
    for (uint32_t from = 0, rows_n; from < n; from += rows_n) {
        rows_n = 1 + (uint32_t)gen_below(&m->g, most);
        rows_n = rows_n < n - from ? rows_n : n - from;
        fill(b, from, rows_n);
        assert_int_equal(engine_owner_fill(without, b, NULL), TROD_OK);
        check_sites(sites, b);
        fill(b, from, rows_n);
        assert_int_equal(engine_owner_fill(with, b, &streaks), TROD_OK);
        assert_ptr_equal(b->streaks, &streaks);
        check_sites(sites, b);
        check_part(b, 0, b->n);
        engine_streaks_make(&again, b);
        check_same(&streaks, &again);
        for (unsigned k = 0; k < 4; k++) {
            const uint32_t at = (uint32_t)gen_below(&m->g, b->n + 1);

            check_part(b, at, at + (uint32_t)gen_below(&m->g, b->n - at + 1));
        }
        for (uint32_t i = 0; i < again.n; i++)
            counted += again.at[i].n;
        for (uint32_t i = 0; i < b->n; i++)
            instructions += b->kind[i] == TROD_INSTR && is_plain(b, i);
    }
    assert_int_equal(counted, instructions);
    engine_owner_free(with);
    engine_owner_free(without);
    engine_sites_free(sites);
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

static void programs(void **state)
{
    static const unsigned odds[] = {0, 1000, 200, 20, 3};

    (void)state;
    for (unsigned k = 0; k < sizeof odds / sizeof *odds; k++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct machine m;

            begin(&m, seed, odds[k]);
            run(&m, ROWS, seed != 4);
            check_run(&m, ROWS, seed == 1 ? 40 : TROD_BATCH_ROWS, seed == 3);
        }
}

/* ---- loops: what comes again and again is compared with the last time */

enum { LOOPS = 5, BODY = 12 };

/* Loops of up to BODY instructions, each with up to two accesses: INSN by loop and instruction. */
struct bodies {
    struct {
        uint8_t size, version, known, accesses, kind[2];
    } insn[LOOPS][BODY];
    uint32_t n[LOOPS];
};

static void begin_bodies(struct bodies *p, struct machine *m)
{
    memset(p, 0, sizeof *p);
    for (unsigned l = 0; l < LOOPS; l++) {
        p->n[l] = 1 + (uint32_t)gen_below(&m->g, BODY);
        for (unsigned i = 0; i < p->n[l]; i++) {
            p->insn[l][i].size = (uint8_t)(1 + gen_below(&m->g, rare(m) ? 60 : 8));
            p->insn[l][i].accesses = (uint8_t)(gen_below(&m->g, 8) * gen_below(&m->g, 8) / 20);
            p->insn[l][i].kind[0] = (uint8_t)(TROD_READ + gen_below(&m->g, 2));
            p->insn[l][i].kind[1] = TROD_WRITE;
        }
    }
}

/* R becomes row I. */
static void put_row(struct machine *m, uint32_t i, struct row r)
{
    const int32_t last = m->last[m->stream];

    r.has |= TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_STREAM;
    r.stream = m->stream;
    r.site_pc = UINT64_MAX;
    if (r.kind == TROD_INSTR) {
        m->last[m->stream] = (int32_t)i;
        r.site_pc = r.addr;
        r.site_version = r.code[1];
    } else if (r.kind != TROD_MARKER && last >= 0) {
        r.site_pc = rows[last].addr;
        r.site_version = rows[last].code[1];
    }
    rows[i] = r;
}

/* A round of loop L to the rows from I on, as far as there is room. Rare: a part of it, or another
 * instruction, branch, size, access or row. Returns the row behind it. */
static uint32_t put_round(struct machine *m, struct bodies *p, unsigned l, uint32_t i)
{
    uint64_t pc = BASE * (1 + l);

    for (unsigned k = 0; k < p->n[l] && i < ROWS; pc += p->insn[l][k++].size) {
        const uint8_t size = p->insn[l][k].size;
        unsigned accesses = p->insn[l][k].accesses + rare(m);
        struct row r = {.kind = TROD_INSTR, .addr = pc, .size = size, .code = {(uint8_t)k, 0}};

        if (rare(m))
            p->insn[l][k].version++;
        r.code[1] = p->insn[l][k].version;
        r.has = p->insn[l][k].known != 1 + r.code[1] ? TROD_COL_CODE : 0;
        p->insn[l][k].known = (uint8_t)(1 + r.code[1]);
        if ((k + 1 == p->n[l]) != rare(m))
            r.flags = TROD_BR_COND;
        if (rare(m))
            r.size++;
        put_row(m, i++, r);
        if (rare(m))
            accesses = 0;
        for (unsigned a = 0; a < accesses && i < ROWS; a++)
            put_row(m, i++,
                    (struct row){.kind = rare(m) ? TROD_PREFETCH : p->insn[l][k].kind[a % 2],
                                 .addr = gen_u64(&m->g),
                                 .size = 8});
        if (rare(m) && i < ROWS)
            put_row(m, i++, (struct row){.kind = gen_below(&m->g, 2) ? TROD_MARKER : TROD_REG});
        if (rare(m))
            break;
    }
    return i;
}

static void loops(void **state)
{
    static const unsigned odds[] = {0, 3000, 300, 40};

    (void)state;
    for (unsigned o = 0; o < sizeof odds / sizeof *odds; o++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            struct bodies bodies;
            struct machine m;

            begin(&m, seed, odds[o]);
            begin_bodies(&bodies, &m);
            for (uint32_t i = 0; i < ROWS;) {
                const unsigned l = (unsigned)gen_below(&m.g, LOOPS);
                const uint64_t rounds = 1 + gen_below(&m.g, gen_below(&m.g, 2) ? 6 : 60);

                if (rare(&m))
                    m.stream = (unsigned)gen_below(&m.g, STREAMS);
                for (uint64_t k = 0; k < rounds && i < ROWS; k++)
                    i = put_round(&m, &bodies, l, i);
            }
            check_run(&m, ROWS, seed == 1 ? 40 : TROD_BATCH_ROWS, seed == 3);
        }
}

/* An address may be the last there is, behind which nothing comes. */
static void last_address(void **state)
{
    static struct trod_streaks streaks;
    struct engine_owner *owner;
    struct trod_sites *sites;
    struct trod_meta meta;
    struct trod_batch *b;

    (void)state;
    for (uint32_t i = 0; i < 300; i++)
        rows[i] = (struct row){.kind = TROD_INSTR,
                               .has = TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR |
                                      TROD_COL_STREAM | (i < 3 ? TROD_COL_CODE : 0),
                               .flags = i % 3 == 1 ? TROD_BR_COND : 0,
                               .addr = i % 3 == 2 ? UINT64_MAX : BASE + i % 3,
                               .size = 1};
    trod_meta_init(&meta);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), TROD_OK);
    assert_int_equal(engine_sites_new(&sites, &meta, NULL), TROD_OK);
    assert_int_equal(engine_owner_new(&owner, sites, false), TROD_OK);
    b->meta = &meta;
    fill(b, 0, 300);
    assert_int_equal(engine_owner_fill(owner, b, &streaks), TROD_OK);
    check_part(b, 0, b->n);
    for (uint32_t i = 0; i < b->n; i++) {
        assert_int_not_equal(b->site[i], TROD_NO_SITE);
        assert_int_equal(trod_site_at(sites, b->site[i])->pc, b->addr[i]);
    }
    engine_owner_free(owner);
    engine_sites_free(sites);
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs),
        cmocka_unit_test(loops),
        cmocka_unit_test(last_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
