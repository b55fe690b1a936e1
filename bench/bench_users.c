/*
 * bench_users.c - the command as users run it: processor time of `trod count` and `trod info`,
 * start and all threads included, beside inflating alone and beside naive parsers (naive_*.c).
 *
 * Inputs come from trod-gen: a small program (128 KiB of code) and a large one (4 MiB), its data
 * addresses in order (which gzip likes) or random (which it does not), in one file or in many, and
 * Tarmac in two dialects. TROD names the command. Times are user and system time of the child;
 * the least of the rounds counts, which is what a busy machine disturbs least.
 */
#include "bench_command.h"
#include "bench_drm.h"

#include <libgen.h>

enum { RECORDS = 6000000, LINES = 4000000, MANY = 12 };

enum data { ORDERED, RANDOM };

static const char *trod, *gen, *naive; /* the command, the generator, the folder of the parsers */
static char dir[BENCH_PATH];

/* Seconds of the command A B C D E FILE, arguments up to the first NULL. */
static double seconds(const char *a, const char *b, const char *c, const char *d, const char *file)
{
    const char *const words[] = {a, b, c, d};
    struct bench_command command = {.argv = {NULL}};
    unsigned n = 0;

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i])
            command.argv[n++] = words[i];
    command.argv[n] = file;
    return bench_best(bench_children, bench_command, &command);
}

/* ---- inputs */

/* The data addresses of N entries at P become those of a loop over an array, or random ones. */
static void scatter(uint8_t *p, size_t n, enum data data)
{
    static uint64_t seed = 11, i;

    for (; n-- > 0; p += BENCH_ENTRY) {
        uint64_t r = bench_rand(&seed);

        if (p[0] <= BENCH_WRITE && p[1] == 0)
            bench_entry_at(p, p[0], p[2],
                           0x10000000 + (data == RANDOM ? r % (8 << 20) : 8 * (i++ % 8192)));
    }
}

/* What trod-gen writes for KIND, N records (ALTERED: scatter), compressed or not, to dir/NAME. */
static void make(const char *name, const char *kind, unsigned n, bool altered, enum data data,
                 bool gzip)
{
    static uint8_t block[BENCH_ENTRY * 4096];
    struct trod_output_options opt = {.compress = gzip ? "gzip" : "none"};
    struct trod_output *out;
    char text[2 * BENCH_PATH];
    size_t got;
    FILE *f;

    snprintf(text, sizeof text, "'%s' %s --records %u", gen, kind, n);
    f = popen(text, "r");
    snprintf(text, sizeof text, "%s/%s", dir, name);
    if (!f || trod_output_create(&out, text, &opt, NULL) < 0)
        bench_die("cannot make the input");
    while ((got = fread(block, 1, sizeof block, f)) > 0) {
        if (altered)
            scatter(block, got / BENCH_ENTRY, data);
        bench_put(out, block, got);
    }
    if (pclose(f) != 0 || trod_output_commit(out) < 0)
        bench_die("trod-gen failed");
}

static int inflate(void *path)
{
    return bench_inflate(path);
}

/* ---- figures */

static void figure(const char *name, double t, double n, const char *yardstick, double of,
                   const char *want)
{
    bench_ratio(name, t / n * 1e9, "ns", yardstick, t / of, want);
}

/* One file of drmemtrace, compressed. */
static void compressed(const char *name, const char *kind, enum data data)
{
    char path[2 * BENCH_PATH], label[64];
    double alone, all;

    make("one.gz", kind, RECORDS, true, data, true);
    snprintf(path, sizeof path, "%s/one.gz", dir);
    alone = bench_best(bench_thread, inflate, path);
    all = seconds(trod, "count", "-j", "1", path);
    snprintf(label, sizeof label, "users.%s", name);
    figure(label, all, RECORDS, "inflate alone", alone, NULL);
    snprintf(label, sizeof label, "users.%s.beyond", name);
    figure(label, all - alone, RECORDS, "12 ns a record", RECORDS * 12e-9, "<= 1");
    unlink(path);
}

/*
 * The same rows in many files: nothing is shared out, so that the sum of the work is seen. As
 * threads on invented cores they are compared with the time that DynamoRIO's schedule_stats took
 * for a record of pthread-5-threads on such a machine.
 */
static void many(void)
{
    char path[2 * BENCH_PATH], name[16];
    const char *file[MANY];
    struct bench_command command = {.argv = {trod, "count", "-j", "1"}};
    double alone = 0, all;

    _Static_assert(MANY + 4 <= sizeof command.argv / sizeof *command.argv, "room for the files");
    for (unsigned i = 0; i < MANY - 1; i++) {
        snprintf(name, sizeof name, "%u.gz", i);
        make(name, "drm-small", RECORDS / (MANY - 1), true, ORDERED, true);
        snprintf(path, sizeof path, "%s/%s", dir, name);
        file[i] = strdup(path);
        command.argv[4 + i] = file[i];
        alone += bench_best(bench_thread, inflate, path);
    }
    all = bench_best(bench_children, bench_command, &command);
    figure("users.many-files", all, RECORDS, "inflate alone", alone, NULL);
    command.argv[1] = "schedule";
    command.argv[2] = "--order";
    command.argv[3] = "dynamic:all";
    all = bench_best(bench_children, bench_command, &command);
    figure("users.schedule.dynamic", all, RECORDS, "DynamoRIO's, 222 ns", RECORDS * 222e-9,
           "<= 0.1");
    for (unsigned i = 0; i < MANY - 1; i++) {
        unlink(file[i]);
        free((void *)(uintptr_t)file[i]);
    }
}

/* KIND, not compressed, beside the naive parser NAME. */
static void plain(const char *kind, const char *parser, double n, const char *want)
{
    char path[2 * BENCH_PATH], program[2 * BENCH_PATH], label[64];
    double all, lean, yardstick;

    make("plain", kind, (unsigned)n, false, ORDERED, false);
    snprintf(path, sizeof path, "%s/plain", dir);
    snprintf(program, sizeof program, "%s/%s", naive, parser);
    yardstick = seconds(program, NULL, NULL, NULL, path);
    all = seconds(trod, "count", "-j", "1", path);
    lean = seconds(trod, "count", "-j1", "--footprint=none", path);
    snprintf(label, sizeof label, "users.%s.naive", kind);
    bench_value(label, yardstick / n * 1e9, "ns");
    snprintf(label, sizeof label, "users.%s.count", kind);
    figure(label, all, n, parser, yardstick, NULL);
    snprintf(label, sizeof label, "users.%s.no-footprint", kind);
    figure(label, lean, n, parser, yardstick, want);
    snprintf(label, sizeof label, "users.%s.info", kind);
    figure(label, seconds(trod, "info", NULL, NULL, path), n, parser, yardstick, NULL);
    unlink(path);
}

int main(int argc, char **argv)
{
    static char self[BENCH_PATH], other[BENCH_PATH + 32];

    (void)argc;
    trod = getenv("TROD");
    if (!trod) {
        fprintf(stderr, "bench_users: TROD does not name the command; scripts/bench sets it\n");
        return 1;
    }
    snprintf(self, sizeof self, "%s", argv[0]);
    naive = dirname(self);
    snprintf(other, sizeof other, "%s/../tests/gen/trod-gen", naive);
    gen = other;
    bench_scratch(dir, "");
    if (access(gen, X_OK) != 0 || mkdir(dir, 0700) != 0)
        bench_die("no trod-gen, or no folder for inputs");
    compressed("small-code.ordered", "drm-small", ORDERED);
    compressed("small-code.random", "drm-small", RANDOM);
    compressed("large-code.ordered", "drm-large", ORDERED);
    compressed("large-code.random", "drm-large", RANDOM);
    many();
    plain("drm-small", "naive_drm", RECORDS, NULL);
    plain("drm-large", "naive_drm", RECORDS, NULL);
    plain("tarmac-fm", "naive_tarmac", LINES, "<= 0.75");
    rmdir(dir);
    return 0;
}
