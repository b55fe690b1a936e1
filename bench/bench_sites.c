/*
 * bench_sites.c - analyses that count by instruction, beside counting rows: processor time of
 * `trod mix`, `trod hot`, `trod deps` and of mix, hot, syscalls and phases in one pass as multiples
 * of that of `trod count`, start and all threads included.
 *
 * Inputs come from trod-gen: a small program (128 KiB of code), a large one (4 MiB), and the large
 * one as long as a tenth of its instructions are executed for the first time; beside them the
 * shared trace pthread-5-threads, where it is there. The commands take turns; the least of the
 * rounds counts. TROD names the command.
 */
#include "bench_command.h"
#include "bench_drm.h"

#include <libgen.h>

enum { COMMANDS = 5 };

static const struct {
    const char *name, *argv[3], *want;
} commands[COMMANDS] = {
    {"count", {"count"}, NULL},
    {"mix", {"mix"}, "<= 1.5"},
    {"hot", {"hot"}, "<= 1.5"},
    {"deps", {"deps"}, "<= 4"},
    {"mix-hot-syscalls-phases", {"run", "mix,hot,syscalls,phases"}, "<= 3"},
};

static const struct {
    const char *name, *kind;
    unsigned records;
} inputs[] = {
    {"small-code", "drm-small", 6000000},
    {"large-code", "drm-large", 6000000},
    {"new-code", "drm-large", 1300000},
};

static double children(void)
{
    struct rusage u;

    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* Seconds of command K on FILE, once. */
static double once(const char *trod, unsigned k, const char *file)
{
    struct bench_command c = {.argv = {trod}};
    unsigned n = 1;
    double t = children();

    for (unsigned i = 0; i < 3 && commands[k].argv[i]; i++)
        c.argv[n++] = commands[k].argv[i];
    c.argv[n++] = "-j1";
    c.argv[n] = file;
    if (bench_command(&c) != 0)
        bench_die("the command failed");
    return children() - t;
}

static void measure(const char *trod, const char *name, const char *file)
{
    double best[COMMANDS];
    char label[96];

    for (int round = 0, n = bench_rounds(); round < n; round++)
        for (unsigned k = 0; k < COMMANDS; k++) {
            const double t = once(trod, k, file);

            best[k] = round == 0 || t < best[k] ? t : best[k];
        }
    snprintf(label, sizeof label, "sites.%s.count", name);
    bench_value(label, best[0], "s");
    for (unsigned k = 1; k < COMMANDS; k++) {
        snprintf(label, sizeof label, "sites.%s.%s", name, commands[k].name);
        bench_ratio(label, best[k], "s", "count", best[k] / best[0], commands[k].want);
    }
}

int main(int argc, char **argv)
{
    static char self[BENCH_PATH], dir[BENCH_PATH], text[4 * BENCH_PATH], path[2 * BENCH_PATH],
        shared[BENCH_PATH];
    const char *trod = getenv("TROD");

    (void)argc;
    if (!trod) {
        fprintf(stderr, "bench_sites: TROD does not name the command; scripts/bench sets it\n");
        return 1;
    }
    snprintf(self, sizeof self, "%s", argv[0]);
    bench_scratch(dir, "");
    if (mkdir(dir, 0700) != 0)
        bench_die("no folder for inputs");
    snprintf(path, sizeof path, "%s/trace", dir);
    for (unsigned i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        snprintf(text, sizeof text, "'%s/../tests/gen/trod-gen' %s --records %u >'%s'",
                 dirname(self), inputs[i].kind, inputs[i].records, path);
        snprintf(self, sizeof self, "%s", argv[0]);
        if (system(text) != 0)
            bench_die("trod-gen failed");
        measure(trod, inputs[i].name, path);
    }
    unlink(path);
    rmdir(dir);
    if (bench_shared_trace(shared))
        measure(trod, "pthread-5-threads", shared);
    return 0;
}
