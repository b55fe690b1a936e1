/*
 * trod_gen.c - trod-gen FORMAT [--records N] [--first N]: a valid trace of any length on standard
 * output.
 *
 *   tt6, tt6e   a small machine's program that has every instruction of the class lists, with every
 *               escape code in between; N instructions
 *   full        the same program, with all registers
 *   byu6, byu12 every transaction, enables of all sorts
 *   drm-small, drm-large, tarmac-fm, tarmac-es
 *               programs.h: for measuring; N records, in Tarmac lines
 *   drm-calls, tarmac-calls
 *               the same of a program with many calls, some of them deep
 *
 * Traces are periodic but for full, so that billions of records are written as fast as a pipe takes
 * them. --thread T of tt6 and tt6e puts in the sync points of thread T, of which two and two hand a
 * lock to and fro; that of drm-... makes the trace of one of 4,096 threads.
 */
#include "ppc_machine.h"
#include "programs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD_MAX = 1 << 20, EVERY = 61, LEAST = 4000 }; /* EVERY: instructions between escapes */

struct options {
    const char *format;
    uint64_t records;
    int thread; /* -1: none */
};

static void put(const void *p, size_t n)
{
    if (fwrite(p, 1, n, stdout) != n)
        exit(errno == EPIPE ? 0 : 1);
}

static void put32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

/* A period of a trace: its bytes, and where each record ends. */
struct period {
    uint8_t p[PERIOD_MAX];
    size_t n, end[PERIOD_MAX / 4];
    uint64_t records;
};

static void add_word(struct period *t, uint32_t word)
{
    put32(t->p + t->n, word);
    t->n += 4;
}

/* An escape of every code that has a meaning, and of some that have none, in turn. */
static void add_escape(struct period *t, uint32_t k, bool sync)
{
    static const uint8_t codes[] = {0x05, 0x04, 0x03, 0x01, 0x00, 0x02, 0x06,
                                    0x20, 0x21, 0x30, 0x31, 0x22, 0x3f};
    uint32_t code = codes[k % (sync ? sizeof codes : 7)];
    uint32_t words = code >= 0x20 && code <= 0x31 ? 2 : 1 + (k % 3 == 2);

    add_word(t, code << 16 | words);
    for (uint32_t i = 0; i < words; i++)
        add_word(t, words == 2 && i == 0 ? 0x1000 + code : k);
}

/* Instructions until the machine is where it began; with SYNC long enough for every escape. */
static void tt6_period(struct period *t, struct machine *m, bool extended, bool sync)
{
    uint32_t begin = m->pc, k = 0;

    do {
        struct machine_step s;
        uint32_t words[8];
        unsigned n;

        if (++k % EVERY == 0)
            add_escape(t, k / EVERY, sync);
        machine_step(m, &s);
        n = machine_tt6(&s, extended, words);
        for (unsigned i = 0; i < n; i++)
            add_word(t, words[i]);
        t->end[t->records++] = t->n;
    } while (m->pc != begin || (sync && t->records < LEAST));
}

static void repeat(const struct period *t, uint64_t records)
{
    for (; records >= t->records; records -= t->records)
        put(t->p, t->n);
    if (records)
        put(t->p, t->end[records - 1]);
}

/*
 * Threads 0 and 1, 2 and 3, ... take turns: the even one signals odd counts and waits for even
 * ones, the other one does it the other way.
 */
static void threaded(struct machine *m, bool extended, const struct options *o)
{
    static struct period t;
    uint64_t done = 0;

    for (uint32_t count = 1; done < o->records; count++) {
        bool mine = (int)(count & 1) != (o->thread & 1);

        t.n = 0;
        t.records = 0;
        add_word(&t, (mine ? 0x200002u : 0x300002u));
        add_word(&t, 0xbee0 + 8 * (uint32_t)(o->thread / 2));
        add_word(&t, count);
        tt6_period(&t, m, extended, false);
        put(t.p, t.n);
        done += t.records;
    }
}

static void tt6(const struct options *o, bool extended)
{
    static struct period t;
    static struct machine m;
    uint8_t pc[4];

    machine_init(&m);
    put32(pc, m.pc);
    put(pc, 4);
    if (o->thread >= 0) {
        threaded(&m, extended, o);
        return;
    }
    tt6_period(&t, &m, extended, true);
    repeat(&t, o->records);
}

static void full(const struct options *o)
{
    static struct machine m;
    uint8_t record[1004], magic[4];

    put32(magic, 0xa1118e17);
    put(magic, 4);
    machine_init(&m);
    for (uint64_t i = 0; i < o->records; i++) {
        struct machine_step s;

        machine_full(&m, record);
        put(record, sizeof record);
        machine_step(&m, &s);
    }
}

static void byu6(struct period *t)
{
    static const uint8_t codes[] = {0x80, 0x80, 0xc0, 0x90, 0xf0, 0xd0,
                                    0x80, 0xe0, 0x50, 0x70, 0x10, 0x30};

    for (uint32_t i = 0; i < 60000; i++) {
        uint8_t *p = t->p + t->n;

        put32(p, (0x100000 + i * 24) & ~7u);
        p[4] = (uint8_t)(i % 5 ? 0 : i * 7);
        p[5] = codes[i % sizeof codes];
        t->n += 6;
        t->end[t->records++] = t->n;
    }
}

static void byu12(struct period *t)
{
    static const uint8_t types[] = {0, 0, 1, 3, 2, 0, 0x20, 0x10, 0x11, 0x21, 0x33};

    for (uint32_t i = 0; i < 60000; i++) {
        uint8_t *p = t->p + t->n, type = types[i % sizeof types];

        memset(p, 0, 12);
        p[0] = (uint8_t)(i << 3);
        p[1] = (uint8_t)(i >> 5);
        p[2] = (uint8_t)(i >> 13);
        p[4] = type;
        p[5] = type < 0x20 ? 8 : 0;
        p[6] = 3;
        p[7] = i % 100 == 0;
        p[8] = (uint8_t)(1 + i % 200);
        t->n += 12;
        t->end[t->records++] = t->n;
    }
}

static int usage(void)
{
    fprintf(stderr, "usage: trod-gen tt6|tt6e|full|byu6|byu12|drm-small|drm-large|tarmac-fm|"
                    "tarmac-es|drm-calls|tarmac-calls [--records N] [--thread T]\n");
    return 2;
}

int main(int argc, char **argv)
{
    static struct period t;
    struct options o = {.records = 100000, .thread = -1};

    if (argc < 2)
        return usage();
    o.format = argv[1];
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--records") == 0)
            o.records = strtoull(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--thread") == 0)
            o.thread = atoi(argv[i + 1]);
        else
            return usage();
    }
    if (strcmp(o.format, "tt6") == 0 || strcmp(o.format, "tt6e") == 0) {
        tt6(&o, o.format[3] == 'e');
    } else if (strcmp(o.format, "full") == 0) {
        full(&o);
    } else if (strcmp(o.format, "byu6") == 0 || strcmp(o.format, "byu12") == 0) {
        (o.format[3] == '6' ? byu6 : byu12)(&t);
        repeat(&t, o.records);
    } else if (!programs_write(o.format, o.records, o.thread)) {
        return usage();
    }
    return fflush(stdout) == 0 || errno == EPIPE ? 0 : 1;
}
