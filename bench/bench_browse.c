/*
 * bench_browse.c - how long the browser takes from its start to the first screen, and to far
 * places, on a large Tarmac trace with an index and without one; what making that index costs.
 *
 * The trace is one of trod-gen, TROD_BENCH_MB of it (2,000 without it; 10,000 for the figures of
 * docs/performance.md). TROD names the command, which runs on a terminal of 40 lines made here.
 * Times are on the clock: of each the best of TROD_BENCH_ROUNDS (5).
 */
#define _XOPEN_SOURCE 700 /* terminals */

#include "bench_command.h"

#include <errno.h>
#include <libgen.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>

enum { PATH = 4096, SCREEN = 1 << 16, LONGEST = 600, QUIET = 300 };

static const char *trod;
static char dir[PATH], gen[2 * PATH], trace[2 * PATH], sidecar[3 * PATH];

/* A browser on a terminal of its own. */
struct browser {
    int terminal;
    pid_t pid;
    double start;
    char said[SCREEN + 1]; /* since the last key */
    size_t n;
};

/* The child: TERMINAL is its end. */
static _Noreturn void browse(const char *terminal, const char *option)
{
    int fd;

    setsid();
    fd = open(terminal, O_RDWR);
    if (fd < 0 || dup2(fd, 0) < 0 || dup2(fd, 1) < 0)
        _exit(127);
    setenv("TERM", "xterm", 1);
    unsetenv("LINES");
    unsetenv("COLUMNS");
    execlp(trod, trod, "browse", trace, option, (char *)NULL);
    _exit(127);
}

static void begin(struct browser *b, const char *option)
{
    const struct winsize size = {.ws_row = 40, .ws_col = 120};
    const char *name;

    b->terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (b->terminal < 0 || grantpt(b->terminal) < 0 || unlockpt(b->terminal) < 0 ||
        !(name = ptsname(b->terminal)) || ioctl(b->terminal, TIOCSWINSZ, &size) < 0)
        bench_die_errno("terminal");
    b->n = 0;
    b->start = bench_wall();
    b->pid = fork();
    if (b->pid < 0)
        bench_die_errno("fork");
    if (b->pid == 0)
        browse(name, option);
}

/* Seconds until TEXT stands on the screen. */
static double until(struct browser *b, const char *text)
{
    for (;;) {
        struct pollfd p = {.fd = b->terminal, .events = POLLIN};
        ssize_t n;

        b->said[b->n] = '\0';
        if (strstr(b->said, text))
            return bench_wall() - b->start;
        if (b->n == SCREEN) { /* what is looked for is short */
            memmove(b->said, b->said + SCREEN / 2, SCREEN / 2);
            b->n = SCREEN / 2;
        }
        if (poll(&p, 1, LONGEST * 1000) <= 0)
            bench_die("the browser says nothing");
        n = read(b->terminal, b->said + b->n, SCREEN - b->n);
        if (n <= 0)
            bench_die("the browser has ended");
        for (ssize_t i = 0; i < n; i++)
            if (!b->said[b->n + (size_t)i])
                b->said[b->n + (size_t)i] = ' ';
        b->n += (size_t)n;
    }
}

/* Seconds until the last of what a key changes: then nothing comes for QUIET ms. */
static double settled(struct browser *b)
{
    struct pollfd p = {.fd = b->terminal, .events = POLLIN};
    double last = 0;

    while (poll(&p, 1, last > 0 ? QUIET : LONGEST * 1000) > 0) {
        if (read(b->terminal, b->said, SCREEN) <= 0)
            bench_die("the browser has ended");
        last = bench_wall() - b->start;
    }
    return last;
}

/* Seconds until the index stands beside the trace. */
static double until_indexed(struct browser *b)
{
    struct stat st;

    while (stat(sidecar, &st) < 0) {
        struct pollfd p = {.fd = b->terminal, .events = POLLIN};

        if (poll(&p, 1, 10) > 0 && read(b->terminal, b->said, SCREEN) <= 0)
            bench_die("the browser has ended");
    }
    return bench_wall() - b->start;
}

static void type(struct browser *b, const char *keys)
{
    b->n = 0;
    b->start = bench_wall();
    if (write(b->terminal, keys, strlen(keys)) < 0)
        bench_die_errno("key");
}

/* The most memory that it took, in MiB. */
static double end(struct browser *b)
{
    struct rusage usage;
    char rest[4096];
    int status;

    if (write(b->terminal, "q", 1) < 0)
        bench_die_errno("key");
    while (read(b->terminal, rest, sizeof rest) > 0) /* until it has closed its end */
        continue;
    close(b->terminal);
    if (wait4(b->pid, &status, 0, &usage) != b->pid || !WIFEXITED(status) || WEXITSTATUS(status))
        bench_die("the browser failed");
    return (double)usage.ru_maxrss / 1024;
}

/* ---- what is measured */

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void started(const char *name, double seconds)
{
    bench_ratio(name, seconds * 1e3, "ms", "1 s", seconds, "<= 1");
}

/* The trace as it is, without an index. */
static void without(struct browser *b)
{
    double first = 1e9, waiting = 1e9, key = 1e9, indexed = 1e9;

    for (int i = 0, n = bench_rounds(); i < n; i++) {
        begin(b, "--no-index");
        first = least(first, until(b, "registers at row"));
        end(b);
        begin(b, "--");
        waiting = least(waiting, until(b, "registers at row"));
        type(b, "\x1b[6~"); /* a page down */
        key = least(key, settled(b));
        indexed = least(indexed, until_indexed(b));
        end(b);
        unlink(sidecar);
    }
    started("browse.no-index.start", first);
    started("browse.indexing.start", waiting);
    bench_value("browse.indexing.key", key * 1e3, "ms");
    bench_value("browse.indexing.done", indexed, "s");
}

/* An index is made. */
static void make(double bytes)
{
    struct bench_command c = {.argv = {trod, "index", "-q", trace}};
    double best = 1e9;
    struct stat st;

    for (int i = 0, n = bench_rounds(); i < n; i++) {
        const double t = bench_wall();

        unlink(sidecar);
        if (bench_command(&c) != 0)
            bench_die("trod index failed");
        best = least(best, bench_wall() - t);
    }
    if (stat(sidecar, &st) < 0)
        bench_die_errno(sidecar);
    bench_value("browse.index", bytes / best * 1e-6, "MB/s");
    bench_value("browse.index.memory", (double)c.peak / 1024, "MiB");
    bench_value("browse.index.size", (double)st.st_size * 1e-6, "MB");
}

static void with(struct browser *b)
{
    double first = 1e9, last = 1e9, middle = 1e9, memory = 0;

    for (int i = 0, n = bench_rounds(); i < n; i++) {
        double m;

        begin(b, "--");
        first = least(first, until(b, "registers at row"));
        type(b, "\x1bOF"); /* End */
        last = least(last, settled(b));
        type(b, "g50%\n");
        middle = least(middle, settled(b));
        m = end(b);
        memory = m > memory ? m : memory;
    }
    started("browse.indexed.start", first);
    started("browse.indexed.end", last);
    started("browse.indexed.middle", middle);
    bench_value("browse.indexed.memory", memory, "MiB");
}

int main(int argc, char **argv)
{
    static struct browser b;
    static char self[PATH], text[8 * PATH];
    const char *tmp = getenv("TMPDIR");
    struct stat st;

    (void)argc;
    trod = getenv("TROD");
    if (!trod)
        bench_die("TROD does not name the command");
    snprintf(self, sizeof self, "%s", argv[0]);
    snprintf(gen, sizeof gen, "%s/../tests/gen/trod-gen", dirname(self));
    snprintf(dir, sizeof dir, "%s/trod-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        bench_die_errno("mkdtemp");
    snprintf(trace, sizeof trace, "%s/a.tarmac", dir);
    snprintf(sidecar, sizeof sidecar, "%s.trodx", trace);
    snprintf(text, sizeof text, "'%s' tarmac-fm --records %.0f >'%s'", gen,
             (double)bench_bytes(2000) / 68.7, trace);
    if (system(text) != 0 || stat(trace, &st) < 0) /* NOLINT(cert-env33-c) the benchmark's own */
        bench_die("trod-gen failed");
    without(&b);
    make((double)st.st_size);
    with(&b);
    unlink(trace);
    unlink(sidecar);
    rmdir(dir);
    return 0;
}
