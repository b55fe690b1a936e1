/*
 * test_deps.c - the analysis "deps" against an oracle that looks back from every use for what made
 * it and lays every instruction into its machine by the definition, on programs made at random; and
 * closed forms: chains, independent instructions, windows, widths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trod/trod.h"

#include "engine/sites.h"
#include "engine/streaks.h"

#include "../common/gen.h"

enum { SITES = 40, MOST = 3000, REGS = 7, GROUP = 5, LOAD = 4, SPACE = 48, LARGE = 100 };

struct access {
    uint8_t kind;
    uint32_t addr, size;
};

/* A static instruction: bits of registers. */
struct op {
    unsigned reads, writes, latency;
    bool load, store, branch, fp;
};

struct step {
    unsigned op;
    unsigned n;
    struct access access[3];
};

struct program {
    struct trod_meta meta;
    struct trod_diag diag;
    struct trod_sites *sites;
    struct op op[SITES];
    struct step *step;
    size_t n;
    struct trod_result *result;
};

/* ---- programs: REGDEPS encodings say what is read and written */

static void add_site(struct program *p, unsigned i)
{
    const struct op *o = &p->op[i];
    struct trod_site site = {.pc = 0x1000 + 4 * i, .size = 4};
    uint32_t head = 0, n = 5, to = 0, from = 0;

    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned r = 0; r < REGS; r++)
            if ((pass ? o->reads : o->writes) >> r & 1) {
                site.code[n++] = (uint8_t)(r + 1);
                to += pass == 0;
                from += pass == 1;
            }
    head = to | from << 4 | (o->fp ? 1u : 0) << 10 | (o->load ? 2u : 0) << 10 |
           (o->store ? 4u : 0) << 10;
    for (unsigned k = 0; k < 4; k++)
        site.code[k] = (uint8_t)(head >> 8 * k);
    site.code_n = (uint8_t)((n + 3) & ~3u);
    site.branch = o->branch ? TROD_BR_DIRECT : TROD_BR_NONE;
    assert_int_equal(trod_sites_add(p->sites, &site), i);
}

static void begin(struct program *p)
{
    memset(p, 0, sizeof *p);
    trod_meta_init(&p->meta);
    trod_diag_init(&p->diag, NULL, NULL);
    p->meta.isa = TROD_ISA_REGDEPS;
    p->meta.addr_bits = 64;
    p->step = calloc(MOST, sizeof *p->step);
    assert_non_null(p->step);
    assert_int_equal(engine_sites_new(&p->sites, &p->meta, NULL), TROD_OK);
}

static void end(struct program *p)
{
    trod_result_free(p->result);
    engine_sites_free(p->sites);
    trod_meta_fini(&p->meta);
    free(p->step);
}

/* Accesses have 1 to 8 bytes, or, if MIXED, any number up to LARGE as well. */
static void make(struct program *p, uint64_t seed, bool mixed)
{
    struct trod_gen source = gen_seed(seed), *g = &source;

    for (unsigned i = 0; i < SITES; i++) {
        struct op *o = &p->op[i];
        const uint64_t r = gen_u64(g);

        o->load = r % 4 == 0;
        o->store = r / 4 % 4 == 0;
        o->branch = r / 16 % 8 == 0;
        o->fp = r / 128 % 4 == 0;
        o->reads = gen_u64(g) & gen_u64(g) & ((1 << REGS) - 1);
        o->writes = gen_u64(g) & gen_u64(g) & ((1 << REGS) - 1);
        while (__builtin_popcount(o->reads) + __builtin_popcount(o->writes) > 8)
            o->reads &= o->reads - 1;
        o->latency = o->branch ? 1 : o->load ? LOAD : o->store ? 1 : o->fp ? 4 : 1;
        add_site(p, i);
    }
    p->n = MOST;
    for (size_t i = 0; i < p->n; i++) {
        struct step *s = &p->step[i];

        s->op = (unsigned)(gen_u64(g) % SITES);
        s->n = (unsigned)(gen_u64(g) % 3);
        for (unsigned k = 0; k < s->n; k++) {
            const uint64_t r = gen_u64(g);

            s->access[k] = (struct access){
                .kind = (uint8_t)(r % 8 == 0   ? TROD_ATOMIC
                                  : r % 2 == 0 ? TROD_READ
                                               : TROD_WRITE),
                .addr = 0x7c0 + (uint32_t)(r >> 8) % SPACE * ((r >> 5) % 2 ? 4 : 1),
                .size =
                    mixed && r >> 20 & 1 ? 1 + (uint32_t)(r >> 24) % LARGE : 1u << (r >> 16) % 4,
            };
        }
    }
}

/* ---- through the analysis */

static void put(struct trod_batch *b, unsigned kind, uint64_t addr, uint32_t size, uint32_t site)
{
    const uint32_t i = b->n++;

    b->kind[i] = (uint8_t)kind;
    b->has[i] = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_SITE;
    b->flags[i] = 0;
    b->addr[i] = addr;
    b->size[i] = size;
    b->site[i] = site;
}

/* The options TEXT of "deps", as they are given to trod run. */
static void *options_of(const struct trod_analysis *a, char *text, struct trod_diag *diag)
{
    void *opt = calloc(1, a->options_size);

    assert_non_null(opt);
    memcpy(opt, a->defaults, a->options_size);
    assert_int_equal(trod_option_spec(a->options, opt, text, diag), TROD_OK);
    return opt;
}

static void run(struct program *p, char *text)
{
    static struct trod_streaks streaks;
    const struct trod_analysis *a = trod_analysis_find("deps", 4);
    struct trod_context c = {.meta = &p->meta, .sites = p->sites, .diag = &p->diag, .shards = 1};
    void *st[2], *opt = options_of(a, text, &p->diag);
    struct trod_buf saved = {0}, again = {0};
    struct trod_batch *b;

    assert_int_equal(trod_batch_new(&b, 64), TROD_OK);
    b->meta = &p->meta;
    b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_SITE;
    for (int i = 0; i < 2; i++) {
        st[i] = calloc(1, a->state_size);
        assert_non_null(st[i]);
        assert_int_equal(a->init(st[i], opt, &c), TROD_OK);
    }
    for (size_t i = 0; i < p->n; i++) {
        const struct step *s = &p->step[i];

        put(b, TROD_INSTR, 0x1000 + 4 * s->op, 4, s->op);
        for (unsigned k = 0; k < s->n; k++)
            put(b, s->access[k].kind, s->access[k].addr, s->access[k].size, s->op);
        if (b->n > 50 || i + 1 == p->n) {
            engine_streaks_make(&streaks, b);
            assert_int_equal(a->feed(st[0], b, 0, b->n), TROD_OK);
            b->n = 0;
        }
    }
    /* what is saved and loaded, and merged into nothing, is the same */
    assert_int_equal(a->save(st[0], &saved), TROD_OK);
    assert_int_equal(a->load(st[1], (struct trod_span){.p = saved.p, .n = saved.n}, NULL), TROD_OK);
    assert_int_equal(a->save(st[1], &again), TROD_OK);
    assert_int_equal(saved.n, again.n);
    assert_memory_equal(saved.p, again.p, saved.n);
    for (size_t n = 0; n < saved.n; n += 7) {
        void *cut = calloc(1, a->state_size);

        assert_int_equal(a->init(cut, opt, &c), TROD_OK);
        assert_int_not_equal(a->load(cut, (struct trod_span){.p = saved.p, .n = n}, NULL), TROD_OK);
        a->fini(cut);
        free(cut);
    }
    trod_result_free(p->result);
    assert_int_equal(trod_result_new(&p->result), TROD_OK);
    assert_int_equal(a->result(st[1], p->result), TROD_OK);
    for (int i = 0; i < 2; i++) {
        a->fini(st[i]);
        free(st[i]);
    }
    trod_buf_fini(&saved);
    trod_buf_fini(&again);
    trod_batch_free(b);
    free(opt);
}

static uint64_t value(const struct program *p, const char *path)
{
    const struct trod_node *n = trod_result_find(p->result, path);

    assert_non_null(n);
    return n->value.is.u64;
}

/* Cell COLUMN of the row of table PATH whose first column is number KEY; 0 where there is none. */
static uint64_t cell(const struct program *p, const char *path, uint64_t key, const char *column)
{
    const struct trod_node *t = trod_result_find(p->result, path);
    const int c = t ? trod_result_column(t, column) : -1;

    assert_true(c >= 0);
    for (size_t i = 0; i < t->n_rows; i++)
        if (t->cells[i * t->n_columns].is.u64 == key)
            return t->cells[i * t->n_columns + (size_t)c].is.u64;
    return 0;
}

static uint64_t named(const struct program *p, const char *path, const char *key,
                      const char *second, const char *column)
{
    const struct trod_node *t = trod_result_find(p->result, path);
    const int c = t ? trod_result_column(t, column) : -1;

    assert_true(c >= 0);
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct trod_value *row = &t->cells[i * t->n_columns];

        if (strcmp(row[0].is.str, key) == 0 && (!second || strcmp(row[1].is.str, second) == 0))
            return row[c].is.u64;
    }
    fail_msg("no row %s of %s", key, path);
    return 0;
}

/* ---- the oracle */

struct truth {
    uint64_t registers[MOST], load_use[MOST], forward[MOST], overlap[4];
    uint64_t stall, group, refetch, split, misaligned, loads, stores;
    uint64_t done[MOST], cycles, critical[SITES], path;
    size_t from[MOST]; /* what it waits for, + 1 */
};

/* The instruction before I that wrote register R last; SIZE_MAX: none. */
static size_t writer(const struct program *p, size_t i, unsigned r)
{
    while (i-- > 0)
        if (p->op[p->step[i].op].writes >> r & 1)
            return i;
    return SIZE_MAX;
}

/* Which registers instruction O loads: those that it does not read, or all. */
static unsigned loaded(const struct op *o)
{
    if (!o->load || o->branch)
        return 0;
    return o->writes & ~o->reads ? o->writes & ~o->reads : o->writes;
}

/* The store before I that wrote byte ADDR last: instruction * 4 + access; SIZE_MAX: none. */
static size_t storer(const struct program *p, size_t i, uint32_t addr)
{
    while (i-- > 0)
        for (unsigned k = p->step[i].n; k-- > 0;) {
            const struct access *a = &p->step[i].access[k];

            if (a->kind != TROD_READ && addr >= a->addr && addr < a->addr + a->size)
                return 4 * i + k;
        }
    return SIZE_MAX;
}

/* Where the group of each instruction begins. */
static void groups(const struct program *p, size_t *of)
{
    size_t first = 0;
    bool ended = false;

    for (size_t i = 0; i < p->n; i++) {
        const bool branch = p->op[p->step[i].op].branch;

        if (ended || i - first >= GROUP || (!branch && i - first == GROUP - 1))
            first = i;
        ended = branch;
        of[i] = first;
    }
}

static void wait_for(struct truth *t, size_t i, size_t from, uint64_t *start)
{
    if (t->done[from] > *start) {
        *start = t->done[from];
        t->from[i] = from + 1;
    }
}

static void look_at_load(const struct program *p, struct truth *t, size_t i, const struct access *a,
                         size_t group, uint64_t *start)
{
    size_t young = SIZE_MAX, only = SIZE_MAX;
    unsigned known = 0;
    bool several = false;
    const struct access *s;

    t->loads++;
    for (uint32_t k = 0; k < a->size; k++) {
        const size_t by = storer(p, i, a->addr + k);

        if (by == SIZE_MAX)
            continue;
        known++;
        several = several || (only != SIZE_MAX && by != only);
        only = by;
        young = young == SIZE_MAX || by / 4 > young / 4 ? by : young;
        wait_for(t, i, by / 4, start);
    }
    if (young == SIZE_MAX)
        return;
    s = &p->step[young / 4].access[young % 4];
    t->forward[i - young / 4]++;
    t->overlap[several                                    ? 3
               : known < a->size                          ? 2
               : s->addr == a->addr && s->size == a->size ? 0
                                                          : 1]++;
    t->split += several || known < a->size;
    t->refetch += young / 4 >= group;
}

static void look(const struct program *p, struct truth *t)
{
    size_t *group = calloc(p->n + 1, sizeof *group), best = 0;

    memset(t, 0, sizeof *t);
    groups(p, group);
    for (size_t i = 0; i < p->n; i++) {
        const struct op *o = &p->op[p->step[i].op];
        uint64_t start = 0;
        bool in_group = false;

        for (unsigned r = 0; r < REGS; r++) {
            const size_t w = o->reads >> r & 1 ? writer(p, i, r) : SIZE_MAX;
            bool used = false;

            if (w == SIZE_MAX)
                continue;
            t->registers[i - w]++;
            in_group = in_group || w >= group[i];
            wait_for(t, i, w, &start);
            for (size_t k = w + 1; k < i; k++)
                used = used || p->op[p->step[k].op].reads >> r & 1;
            if (used || !(loaded(&p->op[p->step[w].op]) >> r & 1))
                continue;
            t->load_use[i - w]++;
            t->stall += i - w < LOAD ? LOAD - (i - w) : 0;
        }
        t->group += in_group;
        for (unsigned k = 0; k < p->step[i].n; k++) {
            const struct access *a = &p->step[i].access[k];

            t->misaligned += (a->size & (a->size - 1)) == 0 && a->addr % a->size != 0;
            t->stores += a->kind != TROD_READ;
            if (a->kind != TROD_WRITE)
                look_at_load(p, t, i, a, group[i], &start);
        }
        t->done[i] = start + o->latency;
        best = t->done[i] > t->done[best] ? i : best;
        t->cycles = t->done[best];
    }
    for (size_t at = best + 1; at; at = t->from[at - 1]) {
        t->critical[p->step[at - 1].op] += p->op[p->step[at - 1].op].latency;
        t->path += p->op[p->step[at - 1].op].latency;
    }
    free(group);
}

/* The machine by its definition: cycle by cycle and instruction by instruction. */
static uint64_t machine(const struct program *p, size_t window, size_t width)
{
    uint64_t *enter = calloc(p->n, sizeof *enter), *done = calloc(p->n, sizeof *done), all = 0;

    for (size_t i = 0; i < p->n; i++) {
        const struct op *o = &p->op[p->step[i].op];
        uint64_t start;
        size_t same = 0;

        enter[i] = i ? enter[i - 1] : 0;
        for (size_t k = 0; window && k + window <= i; k++)
            enter[i] = done[k] > enter[i] ? done[k] : enter[i];
        for (size_t k = i; k-- > 0 && enter[k] == enter[i];)
            same++;
        enter[i] += width && same >= width;
        start = enter[i];
        for (unsigned r = 0; r < REGS; r++) {
            const size_t w = o->reads >> r & 1 ? writer(p, i, r) : SIZE_MAX;

            start = w != SIZE_MAX && done[w] > start ? done[w] : start;
        }
        for (unsigned k = 0; k < p->step[i].n; k++) {
            const struct access *a = &p->step[i].access[k];

            for (uint32_t n = 0; a->kind != TROD_WRITE && n < a->size; n++) {
                const size_t by = storer(p, i, a->addr + n);

                start = by != SIZE_MAX && done[by / 4] > start ? done[by / 4] : start;
            }
        }
        done[i] = start + o->latency;
        all = done[i] > all ? done[i] : all;
    }
    free(enter);
    free(done);
    return all;
}

/* The table's bin of distance D begins here. */
static uint64_t bin(uint64_t d)
{
    uint64_t least = 16;

    if (d < 16)
        return d;
    while (2 * least <= d)
        least *= 2;
    return least;
}

static void same_distances(const struct program *p, const char *path, const uint64_t *want)
{
    for (uint64_t d = 0; d < MOST; d++) {
        uint64_t n = 0;

        if (bin(d) != d)
            continue;
        for (uint64_t k = d; k < MOST && bin(k) == d; k++)
            n += want[k];
        assert_int_equal(cell(p, path, d, "count"), n);
    }
}

/* What P gave is what the oracle says. */
static void same_truth(const struct program *p, const struct truth *t)
{
    assert_int_equal(value(p, "instructions"), p->n);
    assert_int_equal(value(p, "unknown"), 0);
    assert_int_equal(value(p, "loads"), t->loads);
    assert_int_equal(value(p, "stores"), t->stores);
    same_distances(p, "register_distance", t->registers);
    same_distances(p, "load_use", t->load_use);
    same_distances(p, "forwarding_distance", t->forward);
    assert_int_equal(named(p, "forwarding", "exact", NULL, "count"), t->overlap[0]);
    assert_int_equal(named(p, "forwarding", "inside", NULL, "count"), t->overlap[1]);
    assert_int_equal(named(p, "forwarding", "partial", NULL, "count"), t->overlap[2]);
    assert_int_equal(named(p, "forwarding", "several", NULL, "count"), t->overlap[3]);
    assert_int_equal(value(p, "load_use_stalls"), t->stall);
    assert_int_equal(
        named(p, "bad_sequences", "use of a register of the same group", NULL, "count"), t->group);
    assert_int_equal(named(p, "bad_sequences", "load of a store of the same group", NULL, "count"),
                     t->refetch);
    assert_int_equal(
        named(p, "bad_sequences", "load of bytes that no one store has", NULL, "count"), t->split);
    assert_int_equal(named(p, "bad_sequences", "misaligned operand", NULL, "count"), t->misaligned);
    assert_int_equal(named(p, "parallelism", "unlimited", "unlimited", "cycles"), t->cycles);
    assert_int_equal(t->path, t->cycles);
    for (unsigned i = 0; i < SITES; i++)
        assert_int_equal(cell(p, "critical_instructions", 0x1000 + 4 * i, "cycles"),
                         t->critical[i]);
}

/* With machines rows are looked at one by one, without them by streaks. */
static void at_random(void **state)
{
    struct truth *t = malloc(sizeof *t);
    uint64_t seen[4] = {0}; /* kinds of overlaps: soon all bytes are known, and none is partial */

    (void)state;
    assert_non_null(t);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct program p;
        char text[] = "window=1,window=7,window=64,window=unlimited,width=3,width=unlimited,top=0";
        char by_streaks[] = "top=0";

        begin(&p);
        make(&p, seed, seed % 2 == 0);
        look(&p, t);
        for (unsigned k = 0; k < 4; k++)
            seen[k] += t->overlap[k];
        run(&p, by_streaks);
        same_truth(&p, t);
        run(&p, text);
        same_truth(&p, t);
        assert_int_equal(named(&p, "parallelism", "1", "3", "cycles"), machine(&p, 1, 3));
        assert_int_equal(named(&p, "parallelism", "7", "3", "cycles"), machine(&p, 7, 3));
        assert_int_equal(named(&p, "parallelism", "7", "unlimited", "cycles"), machine(&p, 7, 0));
        assert_int_equal(named(&p, "parallelism", "64", "unlimited", "cycles"), machine(&p, 64, 0));
        assert_int_equal(named(&p, "parallelism", "unlimited", "3", "cycles"), machine(&p, 0, 3));
        end(&p);
    }
    assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
    free(t);
}

/* ---- closed forms */

static void closed(unsigned reads, unsigned writes, const char *window, const char *width,
                   uint64_t cycles)
{
    struct program p;
    char text[] = "window=16,window=64,width=4,width=unlimited";

    begin(&p);
    p.op[0] = (struct op){.reads = reads, .writes = writes, .latency = 1};
    add_site(&p, 0);
    p.n = 1024;
    run(&p, text);
    assert_int_equal(named(&p, "parallelism", window, width, "cycles"), cycles);
    end(&p);
}

static void chains(void **state)
{
    (void)state;
    closed(1, 1, "64", "4", 1024); /* each waits for the one before: one a cycle */
    closed(1, 1, "16", "unlimited", 1024);
    closed(1, 1, "unlimited", "unlimited", 1024);
    closed(0, 1, "64", "4", 256); /* none waits: as many as are taken in */
    closed(0, 1, "16", "unlimited", 64);
    closed(0, 1, "64", "unlimited", 16);
    closed(0, 1, "unlimited", "unlimited", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_random),
        cmocka_unit_test(chains),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
