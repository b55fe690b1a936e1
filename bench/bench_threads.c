/*
 * bench_threads.c - commands with two threads on one file: seconds on the clock with `-j 1` and
 * `-j 2`, beside two processes at once that each read a file half as long.
 *
 * The processes share nothing: what they reach is what two threads could reach on this machine. On
 * free cores they take half as long as one process with all of it; on hyperthreads, beside other
 * work, or where memory is the limit, they take longer. Inputs are made by trod-gen. TROD names the
 * command.
 */
#include "bench_command.h"
#include "bench_drm.h"

#include <libgen.h>

enum { RECORDS = 40000000, LINES = 4000000, WORDS = 8 };

static const char *trod, *gen;
static char dir[BENCH_PATH];

/* The command of WORDS once for each of N files, at most two, at the same time. */
struct at_once {
    const char *const *words;
    const char *jobs, *file[2];
    unsigned n;
};

static pid_t start(const struct at_once *a, unsigned k)
{
    const char *argv[WORDS + 5] = {trod};
    unsigned n = 1;

    for (unsigned i = 0; a->words[i]; i++)
        argv[n++] = a->words[i];
    argv[n++] = "-j";
    argv[n++] = a->jobs;
    argv[n++] = a->file[k];
    return bench_start(argv);
}

static int at_once(const struct at_once *a)
{
    pid_t pid[2];
    int bad = 0;

    for (unsigned k = 0; k < a->n; k++)
        pid[k] = start(a, k);
    for (unsigned k = 0; k < a->n; k++) {
        int status;

        if (waitpid(pid[k], &status, 0) != pid[k])
            bench_die("waitpid");
        bad |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    return bad;
}

/* What trod-gen writes for KIND, N records, to PATH. */
static void make(const char *path, const char *kind, unsigned n)
{
    static char text[8 * BENCH_PATH];

    if (snprintf(text, sizeof text, "'%s' %s --records %u >'%s'", gen, kind, n, path) < 0 ||
        system(text) != 0)
        bench_die("trod-gen failed");
}

/* The command WORDS, called NAME, of KIND. */
static void command(const char *name, const char *const *words, const char *kind,
                    const char *const *path)
{
    const struct at_once one = {words, "1", {path[0]}, 1}, two = {words, "2", {path[0]}, 1},
                         halves = {words, "1", {path[1], path[2]}, 2};
    const struct at_once *const ways[] = {&one, &two, &halves};
    double best[] = {1e300, 1e300, 1e300};
    char label[96];

    for (int i = bench_rounds(); i > 0; i--) /* by turns: machines are not as fast all the time */
        for (unsigned k = 0; k < 3; k++) {
            const double begin = bench_wall();
            double took;

            if (at_once(ways[k]) != 0)
                bench_die("the measured command failed");
            took = bench_wall() - begin;
            best[k] = took < best[k] ? took : best[k];
        }
    snprintf(label, sizeof label, "threads.%s.%s.j1", name, kind);
    bench_ratio(label, best[0] * 1e3, "ms", "-j 2", best[0] / best[1], NULL);
    snprintf(label, sizeof label, "threads.%s.%s.j2", name, kind);
    bench_ratio(label, best[1] * 1e3, "ms", "two processes", best[1] / best[2], "<= 1.11");
}

static void all(const char *kind, unsigned n)
{
    static const char *const commands[][WORDS] = {
        {"count"},    {"mix"},   {"hot"},
        {"check"},    {"cache"}, {"cache", "--sweep", "size=4K..64K,ways=1..4"},
        {"locality"}, {"calls"},
    };
    char path[3][2 * BENCH_PATH];
    const char *const paths[] = {path[0], path[1], path[2]};

    for (unsigned i = 0; i < 3; i++) {
        snprintf(path[i], sizeof path[i], "%s/%u", dir, i);
        make(path[i], kind, i ? n / 2 : n);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        command(commands[i][1] ? "sweep" : commands[i][0], commands[i], kind, paths);
    for (unsigned i = 0; i < 3; i++)
        unlink(path[i]);
}

int main(int argc, char **argv)
{
    static char self[BENCH_PATH], other[BENCH_PATH + 32];

    (void)argc;
    trod = getenv("TROD");
    if (!trod) {
        fprintf(stderr, "bench_threads: TROD does not name the command; scripts/bench sets it\n");
        return 1;
    }
    snprintf(self, sizeof self, "%s", argv[0]);
    snprintf(other, sizeof other, "%s/../tests/gen/trod-gen", dirname(self));
    gen = other;
    bench_scratch(dir, "");
    if (access(gen, X_OK) != 0 || mkdir(dir, 0700) != 0)
        bench_die("no trod-gen, or no folder for inputs");
    all("drm-small", RECORDS);
    all("drm-large", RECORDS);
    all("tarmac-fm", LINES);
    rmdir(dir);
    return 0;
}
