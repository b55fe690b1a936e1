/*
 * bench_cache.c - references a second of the cache models, one thread, over memory.
 *
 * The references are made here: instructions in loops of a few lines, data that follows a Zipf-like
 * law. Caches: 32 KiB of 8 ways for instructions and for data, 8 MiB of 16 ways behind, LRU. The
 * yardstick is a plain simulation of the same: for each cache an array of lines searched from the
 * last used one on. The sweep has 144 geometries for instructions and as many for data.
 */
#include "bench.h"

#include "sim/din/sim.h"
#include "sim/dr/sim.h"
#include "sim/own/sim.h"
#include "sim/sweep.h"

enum { REFS = 1 << 22, BATCH = 4096 };

static struct trod_sim_ref *refs;

static void make_refs(void)
{
    uint64_t seed = 88172645463325252u, pc = 0x400000, loop = pc;

    refs = calloc(REFS, sizeof *refs);
    if (!refs)
        bench_die("no memory");
    for (size_t i = 0; i < REFS; i++) {
        const uint64_t x = bench_rand(&seed);

        if (x % 4) {
            pc += 4;
            if (x >> 8 & 15) {
                if (pc > loop + 200)
                    pc = loop;
            } else {
                pc = loop = 0x400000 + ((x >> 12) % 4096 & (x >> 24)) * 64;
            }
            refs[i] = (struct trod_sim_ref){.addr = pc, .pc = pc, .size = 4, .op = TROD_OP_FETCH};
        } else {
            const unsigned bits = (unsigned)((x >> 8) % 24);

            refs[i] = (struct trod_sim_ref){.addr = 0x10000000 + ((x >> 16) & ((1u << bits) - 1)),
                                            .pc = pc,
                                            .size = 8,
                                            .op = x >> 60 & 1 ? TROD_OP_WRITE : TROD_OP_READ};
        }
    }
}

/* --- the plain simulation --- */

struct plain {
    unsigned sets, ways;
    uint64_t *line;
};

static bool plain_ref(struct plain *c, uint64_t line)
{
    uint64_t *set = c->line + line % c->sets * c->ways;
    unsigned w = 0;

    while (w < c->ways - 1 && set[w] != line)
        w++;
    const bool hit = set[w] == line;

    memmove(set + 1, set, w * sizeof *set);
    set[0] = line;
    return hit;
}

static void plain_run(void)
{
    struct plain c[3] = {{64, 8, NULL}, {64, 8, NULL}, {8192, 16, NULL}};

    for (unsigned i = 0; i < 3; i++)
        if (!(c[i].line = calloc((size_t)c[i].sets * c[i].ways, 8)))
            bench_die("no memory");
    for (size_t i = 0; i < REFS; i++) {
        const uint64_t last = (refs[i].addr + refs[i].size - 1) / 64;

        for (uint64_t line = refs[i].addr / 64; line <= last; line++)
            if (!plain_ref(&c[refs[i].op != TROD_OP_FETCH], line))
                plain_ref(&c[2], line);
    }
    for (unsigned i = 0; i < 3; i++)
        free(c[i].line);
}

/* --- the models --- */

static void own_run(void)
{
    const char *text = trod_own_preset("default");
    struct trod_own_config config;
    struct trod_own_sim s;

    if (trod_own_config_read(&config, text, strlen(text), "default", NULL) < 0 ||
        trod_own_sim_init(&s, &config) < 0)
        bench_die("no caches");
    for (size_t i = 0; i < REFS; i += BATCH)
        trod_own_sim_feed(&s, refs + i, BATCH, false);
    trod_own_sim_fini(&s);
}

static void dr_run(void)
{
    struct trod_dr_config config;
    struct trod_dr_sim s;

    trod_dr_config_init(&config);
    if (trod_dr_config_options(&config, "-no_core_sharded -cores 1", NULL) < 0 ||
        trod_dr_sim_init(&s, &config, NULL, NULL) < 0)
        bench_die("no caches");
    for (size_t i = 0; i < REFS; i += BATCH)
        trod_dr_sim_feed(&s, refs + i, BATCH, NULL);
    trod_dr_sim_fini(&s);
    trod_dr_config_fini(&config);
}

static void din_run(void)
{
    static struct trod_din_sim s;

    memset(&s, 0, sizeof s);
    if (trod_din_sim_init(&s,
                          "-l1-isize 32K -l1-ibsize 64 -l1-iassoc 8 -l1-dsize 32K -l1-dbsize 64 "
                          "-l1-dassoc 8 -l2-usize 8M -l2-ubsize 64 -l2-uassoc 16",
                          NULL) < 0)
        bench_die("no caches");
    for (size_t i = 0; i < REFS; i += BATCH)
        trod_din_sim_feed(&s, refs + i, BATCH);
    trod_din_sim_end(&s);
    trod_din_sim_fini(&s);
}

static void sweep_run(void)
{
    struct trod_sweep *s = malloc(sizeof *s);

    if (!s || trod_sweep_init(s, "size=8K..2M,ways=1..16,line=64", 0, 1, NULL) < 0)
        bench_die("no caches");
    for (size_t i = 0; i < REFS; i += BATCH)
        trod_sweep_feed(s, refs + i, BATCH);
    trod_sweep_end(s);
    trod_sweep_fini(s);
    free(s);
}

static int timed(void *user)
{
    (*(void (**)(void))user)();
    return 0;
}

/* Millions of references a second. */
static double rate(void (*run)(void))
{
    return REFS / bench_best(bench_thread, timed, &run) / 1e6;
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } models[] = {
        {"caches, own rules", own_run},
        {"caches, as DynamoRIO", dr_run},
        {"caches, as Dinero IV", din_run},
        {"caches, sweep of 45 geometries twice", sweep_run},
    };
    double plain;

    make_refs();
    plain = rate(plain_run);
    bench_value("caches, plain simulation", plain, "M refs/s");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const double r = rate(models[i].run);

        bench_ratio(models[i].name, r, "M refs/s", "plain simulation", r / plain, NULL);
    }
    free(refs);
    return 0;
}
