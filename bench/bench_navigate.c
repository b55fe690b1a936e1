/*
 * bench_navigate.c - questions about an indexed trace as users ask them: wall and processor time of
 * whole commands (`trod view`, `state`, `who`, `find`), start included, at random places; of each
 * question, and of all of a trace, the median, the 95th percentile and the longest.
 *
 * Traces are those of trod-gen, TROD_BENCH_MB of each before compression (2,000 without it):
 * Tarmac, the same in gzip, drmemtrace, the same as a zip archive, TT6, Tarmac of a program that
 * mostly calls. TROD names the command.
 * Arguments name the traces that are asked about (all without them). TROD_BENCH_TRACES names a
 * directory where traces and their indexes stay, and are taken from if they are there.
 * Processor time is what a busy machine disturbs least; places are the same in each run. Each
 * question is asked 20 times for each of the rounds (TROD_BENCH_ROUNDS, 5).
 */
#include "bench_command.h"

#include <libgen.h>

#include "trod/navigate.h"

enum { PATH = 4096, TIMES = 20, WORDS = 96, NEAR = 2000 };

static const char *trod;
static char dir[PATH], gen[2 * PATH];

/* A trace: KIND of trod-gen, BYTES of a record, how it is kept. */
struct input {
    const char *name, *kind, *suffix;
    double bytes;
    const char *pack; /* what compresses it: gzip or trod convert; NULL: nothing */
};

static const struct input inputs[] = {
    {"tarmac", "tarmac-fm", ".tarmac", 68.7, NULL},
    {"tarmac-gz", "tarmac-fm", ".tarmac.gz", 68.7, "gzip"},
    {"drm", "drm-small", ".trace", 12, NULL},
    {"drm-zip", "drm-small", ".trace.zip", 12, "convert"},
    {"tt6", "tt6", ".tt6", 7.74, NULL},
    {"calls", "tarmac-calls", ".tarmac", 69.5, NULL},
};

/* A place of the trace and what lies there. */
struct place {
    uint64_t row, pc, addr, time, value, number;
    uint64_t still; /* an instruction that accesses nothing */
    bool has_pc, has_addr, has_time, has_value, has_still, has_number;
};

/* What is asked: words of the command; of them these stand for the place. */
static const struct question {
    const char *name;
    const char *words[8];
} questions[] = {
    {"view-range", {"view", "--range", "ROWS"}},
    {"view-at", {"view", "--head", "20", "--at", "ROW"}},
    {"view-time", {"view", "--head", "20", "--at", "TIME"}},
    {"state", {"state", "--at", "ROW"}},
    {"state-pc", {"state", "--at", "PC"}},
    {"state-time", {"state", "--at", "TIME"}},
    {"state-memory-64", {"state", "--at", "ROW", "--memory", "BYTES64"}},
    {"state-memory-4096", {"state", "--at", "ROW", "--memory", "BYTES4096"}},
    {"state-diff", {"state", "--diff", "TWO"}},
    {"state-diff-far", {"state", "--diff", "FAR", "--memory", "BYTES4096"}},
    {"who-memory-before", {"who", "--memory", "BYTES8", "--before", "ROW"}},
    {"who-memory-after", {"who", "--memory", "BYTES8", "--after", "ROW"}},
    {"who-register", {"who", "--register", "x0", "--before", "ROW"}},
    {"who-executes", {"who", "--executes", "ADDRESS", "--before", "ROW"}},
    {"who-chain", {"who", "--register", "x0", "--before", "ROW", "--chain", "8"}},
    {"find-value", {"find", "VALUE", "--count"}},
    {"find-pc-first", {"find", "WRITES", "--range", "BEHIND", "--first"}},
    {"find-pc-kind", {"find", "STILL", "--count"}},
    {"find-disasm", {"find", "disasm ~ /^(crc32|frint|vpaddd).*/i", "--count"}},
    {"find-text", {"find", "text ~ /no such text/", "--count"}},
    {"find-opcode", {"find", "opcode == 0x12345678 || opcode == 0x0fc7", "--count"}},
    {"find-register-name", {"find", "register in {x77, q31}", "--count"}},
    {"calls", {"calls"}},
    {"calls-part", {"calls", "--range", "ROWS"}},
    {"calls-function", {"calls", "--function", "ENTRY", "--most", "20"}},
    {"calls-list", {"calls", "--list", "--depth", "3", "--most", "20"}},
    {"calls-final", {"calls", "--final-stack"}},
    {"profile", {"profile"}},
    {"flame", {"flame"}},
    {"flame-svg", {"flame", "--svg"}},
    {"find-size", {"find", "kind == WRITE && size in {4, 8}", "--count"}},
    {"find-size-first", {"find", "size == 3 && kind == READ", "--first"}},
    {"find-taken", {"find", "taken", "--count"}},
    {"find-stream", {"find", "stream == 0 && !(privileged || kind == READ)", "--count"}},
    {"find-since", {"find", "SINCE", "--count"}},
    {"find-above", {"find", "ABOVE", "--count"}},
    {"find-page", {"find", "PAGE", "--count"}},
    {"find-has", {"find", "has(value)", "--count"}},
    {"find-zero", {"find", "value == 0", "--count"}},
    {"find-other", {"find", "OTHER", "--count"}},
    {"find-more", {"find", "MORE", "--count"}},
    {"find-disasm-size", {"find", "disasm ~ /^(ldr|mov|lwz)/i && size == 4", "--count"}},
    {"find-all-three", {"find", "THREE", "--count"}},
    {"find-context", {"find", "THREE", "--first", "-C", "5"}},
    {"find-instructions", {"find", "kind == READ", "--count", "--instructions", "NUMBERS"}},
};

/* Directory where traces stay; NULL: they are removed. */
static const char *kept;

static bool run(const char *text)
{
    const int status = system(text); /* NOLINT(cert-env33-c) the benchmark's own command */

    return status == 0;
}

/* The trace and its index; its path to OUT. */
static void make(const struct input *in, char *out, size_t size)
{
    const double records = (double)bench_bytes(2000) / in->bytes;
    char text[8 * PATH], plain[2 * PATH];

    snprintf(plain, sizeof plain, "%s/%s%s", dir, in->name, in->pack ? "" : in->suffix);
    snprintf(out, size, "%s/%s%s", dir, in->name, in->suffix);
    snprintf(text, sizeof text, "%s.trodx", out);
    if (kept && access(out, R_OK) == 0 && access(text, R_OK) == 0)
        return;
    snprintf(text, sizeof text, "'%s' %s --records %.0f >'%s'", gen, in->kind, records, plain);
    if (!run(text))
        bench_die("trod-gen failed");
    if (in->pack) {
        if (strcmp(in->pack, "convert") == 0)
            snprintf(text, sizeof text, "'%s' convert -q '%s' '%s'", trod, plain, out);
        else
            snprintf(text, sizeof text, "gzip -1 -c '%s' >'%s'", plain, out);
        if (!run(text))
            bench_die("the trace cannot be compressed");
        unlink(plain);
    }
    snprintf(text, sizeof text, "'%s' index -q '%s'", trod, out);
    if (!run(text))
        bench_die("trod index failed");
}

/* An instruction with no access behind it, of the rows that are looked at: the last one so far is
 * *LAST, an instruction at PC where that is so. */
static void look_still(struct place *p, const struct trod_batch *b, uint32_t i, bool *last,
                       uint64_t *pc)
{
    const bool is = b->kind[i] == TROD_INSTR;

    if (!p->has_still && is && *last) {
        p->has_still = true;
        p->still = *pc;
    }
    if (is || b->kind[i] == TROD_READ || b->kind[i] == TROD_WRITE)
        *last = is;
    if (is)
        *pc = b->addr[i];
}

/* A random row, and the next instruction, access and time behind it. */
static void choose(struct trod_nav *nav, uint64_t rows, uint64_t *seed, struct place *p)
{
    const struct trod_batch *b;
    uint64_t before = 0;
    bool last = false;
    uint32_t i;

    *p = (struct place){.row = bench_rand(seed) % rows};
    for (uint64_t row = p->row; row < p->row + NEAR && trod_nav_row(nav, row, &b, &i) == 1; row++) {
        const uint32_t has = b->have & b->has[i];
        const bool access = b->kind[i] == TROD_READ || b->kind[i] == TROD_WRITE;

        look_still(p, b, i, &last, &before);
        if (!p->has_pc && b->kind[i] == TROD_INSTR && has & TROD_COL_ADDR) {
            p->has_pc = true;
            p->pc = b->addr[i];
        }
        if (!p->has_addr && access && has & TROD_COL_ADDR) {
            p->has_addr = true;
            p->addr = b->addr[i] < UINT64_MAX - 4096 ? b->addr[i] : 0;
        }
        if (!p->has_time && has & TROD_COL_TIME) {
            p->has_time = true;
            p->time = b->time[i];
        }
        if (!p->has_number && has & TROD_COL_INDEX) {
            p->has_number = true;
            p->number = b->index[i];
        }
        if (!p->has_value && has & TROD_COL_VALUE) {
            p->has_value = true;
            p->value = b->value[i];
        }
        if (p->has_pc && p->has_addr && p->has_time && p->has_value && p->has_still)
            break;
    }
}

/* WORD, or what it stands for at P. NULL: the place has none. */
static const char *fill(const char *word, const struct place *p, uint64_t rows, char room[WORDS])
{
    const unsigned long long row = p->row, addr = p->addr, pc = p->pc;
    unsigned n;

    if (strcmp(word, "ROW") == 0) {
        snprintf(room, WORDS, "%llu", row);
    } else if (strcmp(word, "ROWS") == 0) {
        snprintf(room, WORDS, "%llu..%llu", row, row + 20);
    } else if (strcmp(word, "NUMBERS") == 0) {
        snprintf(room, WORDS, "%llu..%llu", (unsigned long long)p->number,
                 (unsigned long long)p->number + 20);
        return p->has_number ? room : NULL;
    } else if (strcmp(word, "TWO") == 0) {
        snprintf(room, WORDS, "%llu,%llu", row, row + 500 < rows ? row + 500 : rows - 1);
    } else if (strcmp(word, "FAR") == 0) {
        snprintf(room, WORDS, "%llu,%llu", row, (row + rows / 2) % rows);
    } else if (strcmp(word, "TIME") == 0) {
        snprintf(room, WORDS, "time:%llu", (unsigned long long)p->time);
        return p->has_time ? room : NULL;
    } else if (strcmp(word, "PC") == 0) {
        snprintf(room, WORDS, "0x%llx:%llu", pc, 1 + row % 8);
        return p->has_pc ? room : NULL;
    } else if (strcmp(word, "ADDRESS") == 0) {
        snprintf(room, WORDS, "0x%llx", pc);
        return p->has_pc ? room : NULL;
    } else if (strcmp(word, "ENTRY") == 0) { /* of a function of the program of calls */
        snprintf(room, WORDS, "0x%llx", pc & ~127ull);
        return p->has_pc ? room : NULL;
    } else if (strcmp(word, "VALUE") == 0) {
        snprintf(room, WORDS, "value == 0x%llx", (unsigned long long)p->value);
        return p->has_value ? room : NULL;
    } else if (strcmp(word, "WRITES") == 0) {
        snprintf(room, WORDS, "pc in 0x%llx..0x%llx && kind == WRITE", pc, pc + 63);
        return p->has_pc ? room : NULL;
    } else if (strcmp(word, "STILL") == 0) {
        snprintf(room, WORDS, "pc == 0x%llx && kind == WRITE", (unsigned long long)p->still);
        return p->has_still ? room : NULL;
    } else if (strcmp(word, "OTHER") == 0) {
        snprintf(room, WORDS, "value != 0x%llx", (unsigned long long)p->value);
        return p->has_value ? room : NULL;
    } else if (strcmp(word, "SINCE") == 0) {
        snprintf(room, WORDS, "time >= %llu && kind == INSTR", (unsigned long long)p->time);
        return p->has_time ? room : NULL;
    } else if (strcmp(word, "ABOVE") == 0) {
        snprintf(room, WORDS, "addr >= 0x%llx && kind == READ", addr);
        return p->has_addr ? room : NULL;
    } else if (strcmp(word, "PAGE") == 0) {
        snprintf(room, WORDS, "addr >= 0x%llx && kind == READ", addr & ~0xfffull);
        return p->has_addr ? room : NULL;
    } else if (strcmp(word, "MORE") == 0) {
        snprintf(room, WORDS, "value > 0x%llx", (unsigned long long)p->value);
        return p->has_value ? room : NULL;
    } else if (strcmp(word, "THREE") == 0) {
        snprintf(room, WORDS, "kind == READ && addr == 0x%llx && value == 0x%llx", addr,
                 (unsigned long long)p->value);
        return p->has_addr && p->has_value ? room : NULL;
    } else if (strcmp(word, "BEHIND") == 0) {
        snprintf(room, WORDS, "%llu..", row);
    } else if (sscanf(word, "BYTES%u", &n) == 1) {
        snprintf(room, WORDS, "0x%llx..0x%llx", addr, addr + n - 1);
        return p->has_addr ? room : NULL;
    } else {
        return word;
    }
    return room;
}

static double children(void)
{
    struct rusage u;

    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void figures(const char *name, const char *clock, double *t, unsigned n, const char *want)
{
    char label[128];

    qsort(t, n, sizeof *t, ascending);
    snprintf(label, sizeof label, "%s.%s.p50", name, clock);
    bench_value(label, t[n / 2] * 1e3, "ms");
    snprintf(label, sizeof label, "%s.%s.p95", name, clock);
    bench_ratio(label, t[n * 95 / 100] * 1e3, "ms", "50 ms", t[n * 95 / 100] / 0.05, want);
    snprintf(label, sizeof label, "%s.%s.p100", name, clock);
    bench_value(label, t[n - 1] * 1e3, "ms");
}

/* Times of all questions about a trace. */
struct times {
    double *wall, *processor;
    unsigned n;
};

static void print(const char *input, const char *question, const struct times *t)
{
    char name[2 * WORDS];

    snprintf(name, sizeof name, "navigate.%s.%s", input, question);
    if (t->n) {
        figures(name, "wall", t->wall, t->n, "<= 1");
        figures(name, "processor", t->processor, t->n, NULL);
    }
}

/*
 * Ask Q of the trace PATH at N places; nothing is printed where they have not what it needs.
 * ALL_TIMES gets the times as well.
 */
static void ask(const struct input *in, const struct question *q, const char *path,
                const struct place *places, unsigned n, uint64_t rows, struct times *all_times)
{
    struct times t = {all_times->wall + all_times->n, all_times->processor + all_times->n, 0};
    char room[8][WORDS];

    for (unsigned i = 0; i < n; i++) {
        struct bench_command c = {.argv = {trod, q->words[0], path}};
        bool all = true;
        double at, used;
        int status;

        for (unsigned k = 1; q->words[k]; k++)
            all &= (c.argv[k + 2] = fill(q->words[k], &places[i], rows, room[k])) != NULL;
        if (!all)
            continue;
        used = children();
        at = bench_wall();
        status = bench_command(&c);
        t.wall[t.n] = bench_wall() - at;
        t.processor[t.n++] = children() - used;
        if (status > 1)
            bench_die(q->name);
    }
    print(in->name, q->name, &t);
    all_times->n += t.n;
}

static void measure(const struct input *in)
{
    enum { QUESTIONS = sizeof questions / sizeof *questions };
    const unsigned n = TIMES * (unsigned)bench_rounds();
    struct times all = {calloc((size_t)n * QUESTIONS, sizeof *all.wall),
                        calloc((size_t)n * QUESTIONS, sizeof *all.processor), 0};
    const struct trod_nav_options opt = {.struct_size = sizeof opt};
    struct place *places = calloc(n, sizeof *places);
    char path[2 * PATH];
    const char *paths[] = {path};
    struct trod_nav *nav;
    uint64_t rows, seed = 7;

    make(in, path, sizeof path);
    if (!places || !all.wall || !all.processor)
        bench_die("no memory");
    if (trod_nav_open(&nav, paths, 1, &opt, NULL) < 0 || trod_nav_count(nav, &rows) < 0 ||
        rows == 0)
        bench_die("the trace cannot be opened");
    for (unsigned i = 0; i < n; i++)
        choose(nav, rows, &seed, &places[i]);
    for (size_t i = 0; i < QUESTIONS; i++)
        if (strncmp(in->name, "tarmac", 6) == 0 || !strstr(questions[i].name, "register"))
            if (strncmp(in->name, "tarmac", 6) == 0 || !strstr(questions[i].name, "chain"))
                ask(in, &questions[i], path, places, n, rows, &all);
    print(in->name, "all", &all);
    trod_nav_close(nav);
    free(places);
    free(all.wall);
    free(all.processor);
    if (kept)
        return;
    unlink(path);
    strncat(path, ".trodx", sizeof path - strlen(path) - 1);
    unlink(path);
}

/* Whether a trace of this name is wanted: one of the arguments, or there are none. */
static bool wanted(const char *name, char **names)
{
    if (!*names)
        return true;
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    static char self[PATH];
    const char *tmp = getenv("TMPDIR");

    (void)argc;
    kept = getenv("TROD_BENCH_TRACES");
    trod = getenv("TROD");
    if (!trod)
        bench_die("TROD does not name the command");
    snprintf(self, sizeof self, "%s", argv[0]);
    snprintf(gen, sizeof gen, "%s/../tests/gen/trod-gen", dirname(self));
    snprintf(dir, sizeof dir, "%s/trod-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (kept)
        snprintf(dir, sizeof dir, "%s", kept);
    else if (!mkdtemp(dir))
        bench_die_errno("mkdtemp");
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (wanted(inputs[i].name, argv + 1))
            measure(&inputs[i]);
    if (!kept)
        rmdir(dir);
    return 0;
}
