/*
 * ranks.c - one run shared out to the processes that mpirun or srun started.
 *
 * Each rank is two processes. The child does what `trod run --part I/N --save` does, and knows
 * nothing of MPI; the parent hands on what the child found. So a child that dies, because memory
 * was short or a file server was gone, ends as a message that names its files, not as a run that
 * hangs. Where a whole rank is lost, the launcher ends all; rank 0 then says which files were still
 * missing. States are merged in the order of the ranks, which is that of the trace, so that results
 * are those of one process.
 */
#define _GNU_SOURCE /* prctl */
#include "ranks.h"

#include "ranks/ranks.h"
#include "ranks_wire.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static const char library[] = "libtrod-mpi.so";

static volatile int ended; /* the signal that is to end this rank */

static void end_by(int signal)
{
    ended = signal;
}

/* ---- who started this? */

static unsigned number_in(const char *name)
{
    const char *text = getenv(name);
    unsigned long n = text ? strtoul(text, NULL, 10) : 0;

    return n < UINT_MAX ? (unsigned)n : 0;
}

/* As Open MPI, MPICH and its kin, and Slurm with PMIx say it. */
unsigned cli_ranks(void)
{
    unsigned n = number_in("OMPI_COMM_WORLD_SIZE");

    if (n == 0)
        n = number_in("PMI_SIZE");
    if (n == 0 && getenv("PMIX_RANK"))
        n = number_in("SLURM_STEP_NUM_TASKS");
    return n > 1 ? n : 0;
}

static unsigned rank_said(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return number_in(names[i]);
    return 0;
}

static const struct trod_ranks *load(struct trod_diag *diag)
{
    static const char *const places[] = {"../lib/trod", "../" TROD_LIBDIR "/trod", "../ranks"};
    const struct trod_ranks *driver = NULL;
    char self[PATH_BYTES], path[2 * PATH_BYTES];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    void *so = NULL;
    char *slash;

    self[n < 0 ? 0 : n] = '\0';
    if ((slash = strrchr(self, '/')))
        *slash = '\0';
    for (size_t i = 0; !so && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", self, places[i], library);
        if (access(path, R_OK) == 0)
            so = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* MPI loads parts of itself in turn */
    }
    if (so)
        driver = dlsym(so, "trod_ranks");
    if (driver && driver->version == TROD_RANKS_VERSION)
        return driver;
    /* one of them tells it */
    if (rank_said() == 0)
        trod_error(diag, TROD_ERR_UNSUPPORTED, "ranks.library", NULL,
                   "started as one of %u processes, but %s, which they would talk through, cannot "
                   "be loaded from beside '%s'%s%s",
                   cli_ranks(), library, self, so ? "" : ": ", so ? "" : dlerror());
    return NULL;
}

int cli_ranks_refuse(struct cli *c, const char *why)
{
    const struct trod_ranks *driver = load(&c->diag);
    unsigned rank, ranks;

    if (!driver)
        return CLI_TROUBLE;
    if (driver->begin(&rank, &ranks) < 0) {
        trod_error(&c->diag, TROD_ERR_IO, "ranks.begin", NULL, "MPI cannot be started");
        return CLI_TROUBLE;
    }
    if (rank == 0)
        trod_error(&c->diag, TROD_ERR_UNSUPPORTED, "ranks.alone", NULL,
                   "started as one of %u processes: %s", ranks, why);
    /* the launcher ends all when the first one fails: it waits until rank 0 has said why */
    driver->end(&ended);
    return CLI_TROUBLE;
}

/* ---- the child: reads its part */

struct child {
    int fd;
    struct trod_buf out;
    bool failed;
};

static void note(struct child *k, int r)
{
    k->failed |= r < 0;
}

static void flush_child(struct child *k)
{
    const uint8_t *p = k->out.p;
    ssize_t done = 0;

    for (size_t left = k->out.n; left; left -= (size_t)done, p += done) {
        done = write(k->fd, p, left);
        if (done < 0 && errno == EINTR)
            done = 0;
        else if (done <= 0)
            _exit(CLI_TROUBLE); /* nobody is there any more */
    }
    k->out.n = 0;
}

static void child_problem(void *user, const struct trod_problem *p)
{
    note(user, wire_put_problem(&((struct child *)user)->out, p));
}

static void child_planned(void *user, const char *first, const char *last)
{
    struct child *k = user;
    struct trod_buf text = {0};

    if (!first)
        note(k, trod_buf_printf(&text, "no files"));
    else if (strcmp(first, last) == 0)
        note(k, trod_buf_printf(&text, "file '%s'", first));
    else
        note(k, trod_buf_printf(&text, "files '%s' to '%s'", first, last));
    note(k, wire_put(&k->out, WIRE_FILES, text.p, text.n));
    trod_buf_fini(&text);
    flush_child(k);
}

/*
 * What was found, behind the problems. A run that was cut short found nothing; one that was refused
 * has no states, which trod_run_save says. A file that could not be read is no reason: what others
 * have counts.
 */
static int child_found(void *user, const struct trod_run *run, const struct trod_diag *diag, int rc)
{
    struct child *k = user;
    struct trod_buf state = {0};
    int r = rc;

    if (rc != TROD_ERR_NOMEM && rc != TROD_ERR_USAGE && !trod_run_stopped(run) &&
        (r = trod_run_save(run, &state)) == 0)
        note(k, wire_put(&k->out, WIRE_STATE, state.p, state.n));
    for (uint32_t i = 0; i < diag->n_counts; i++)
        if (diag->counts[i].n > TROD_DIAG_SHOWN)
            note(k, wire_put_more(&k->out, &diag->counts[i], diag->worst));
    trod_buf_fini(&state);
    return r;
}

static int child(struct cli *c, const struct cli_analyse *o, const struct cli_planned *plan,
                 size_t n, int fd)
{
    struct child k = {.fd = fd};
    const struct cli_share share = {
        .problem = child_problem, .planned = child_planned, .found = child_found, .user = &k};
    struct cli_parts parts = {.share = &share};
    uint32_t place[2];
    int r;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(fd, place, sizeof place) != (ssize_t)sizeof place)
        return CLI_TROUBLE;
    parts.part = place[0];
    parts.parts = place[1];
    r = cli_analyse(c, o, plan, n, &parts);
    note(&k, wire_put_number(&k.out, WIRE_END, (uint64_t)(r != CLI_YES)));
    if (!k.failed)
        flush_child(&k);
    return k.failed ? CLI_TROUBLE : r;
}

/* ---- the parent of each rank: hands on */

struct rank {
    const struct trod_ranks *driver;
    unsigned rank, ranks;
    int fd;
    pid_t pid;
    struct trod_buf in; /* what the child said; the first FILES bytes of it were handed on */
    size_t files;
    const struct trod_span *file_names; /* rank 0: the files of each rank, as messages name them */
};

/* Read from the child until it has said which files are its (FILES), or all. False: interrupted. */
static bool hear(struct rank *k, bool files)
{
    char block[65536];

    while (!ended) {
        const uint8_t *p = k->in.p;
        size_t left = k->in.n;
        enum wire_frame what;
        struct trod_span text;
        ssize_t n;

        if (files && wire_take(&p, &left, &what, &text)) {
            k->files = k->in.n - left;
            return true;
        }
        n = read(k->fd, block, sizeof block);
        if (n == 0 || (n < 0 && errno != EINTR))
            return true;
        if (n > 0 && trod_buf_add(&k->in, block, (size_t)n) < 0)
            return true; /* it does not end with what all must end with */
    }
    return false;
}

/* The child is no more: say how it ended where it could not. */
static void bury(struct rank *k)
{
    const uint8_t *p = k->in.p;
    size_t left = k->in.n;
    enum wire_frame what = WIRE_FILES;
    struct trod_span text;
    int status = 0;

    close(k->fd);
    while (waitpid(k->pid, &status, 0) < 0 && errno == EINTR)
        ;
    while (wire_take(&p, &left, &what, &text))
        ;
    if (what == WIRE_END && left == 0)
        return;
    k->in.n -= left;
    if (wire_put_number(&k->in, WIRE_DIED, (uint64_t)status) < 0)
        k->in.n = 0;
}

static int hand_on(struct rank *k)
{
    bool there = hear(k, true);

    if (there && k->driver->send(k->in.p, k->files, &ended) == 0)
        there = hear(k, false);
    if (!there)
        return CLI_TROUBLE;
    bury(k);
    if (k->driver->send(k->in.p + k->files, k->in.n - k->files, &ended) < 0)
        return CLI_TROUBLE;
    return k->driver->end(&ended) == 0 ? CLI_YES : CLI_TROUBLE;
}

/* ---- rank 0: puts together */

struct gathering {
    struct rank *self;
    struct cli *c;
    struct trod_span *files, *found; /* by rank: its messages, owned; last: it came */
    unsigned next;                   /* ranks before this one came */
    bool over;                       /* what still comes does not count */
    bool lost;
};

/* The next message of rank I. False: it will not come. */
static bool await(struct gathering *g, unsigned i, struct trod_span *out)
{
    struct rank *k = g->self;
    uint64_t n = 0;
    void *p = NULL;
    int r = 0;

    if (out->last)
        return true;
    while (r == 0 && !ended)
        r = k->driver->take(i, &p, &n);
    *out = (struct trod_span){.p = p, .n = (size_t)n, .last = r == 1};
    return r == 1;
}

static struct trod_span files_of(struct gathering *g, unsigned i)
{
    const uint8_t *p = g->files[i].p;
    size_t n = g->files[i].n;
    enum wire_frame what;
    struct trod_span text;

    if (wire_take(&p, &n, &what, &text) && what == WIRE_FILES)
        return text;
    return (struct trod_span){.p = (const uint8_t *)"files it had not chosen", .n = 23};
}

/* About as many milliseconds rank 0 still waits for names of files when it is to end. */
enum { LAST_TRIES = 200 };

/*
 * Take the names of files that the other ranks have sent. MPI fetches what has come while it is
 * asked, and says so only when it is asked again.
 */
static void take_names(struct gathering *g)
{
    bool missing = true;

    for (unsigned tries = 0; missing && tries < LAST_TRIES;) {
        missing = false;
        for (unsigned i = g->next ? g->next : 1; i < g->self->ranks; i++) {
            void *p;
            uint64_t n;
            int r;

            if (g->files[i].last)
                continue;
            r = g->self->driver->take(i, &p, &n);
            if (r == 1)
                g->files[i] = (struct trod_span){.p = p, .n = (size_t)n, .last = true};
            missing |= r == 0;
            tries += r == 0;
        }
    }
}

/* The launcher ends all ranks when one is lost, this one too, but not at once. */
static int tell_lost(struct gathering *g, struct trod_diag *diag)
{
    g->lost = true;
    take_names(g);
    for (unsigned i = g->next; i < g->self->ranks; i++) {
        const struct trod_span text = files_of(g, i);

        trod_error(diag, TROD_ERR_TRUNCATED, "ranks.lost", NULL,
                   "ended by signal %d before rank %u had found anything: %.*s", ended, i,
                   (int)text.n, (const char *)text.p);
    }
    return TROD_ERR_USAGE;
}

static int tell_died(struct gathering *g, unsigned i, int status, struct trod_diag *diag)
{
    struct trod_span text = files_of(g, i);

    if (WIFSIGNALED(status))
        return trod_error(diag, TROD_ERR_TRUNCATED, "ranks.died", NULL,
                          "rank %u died of signal %d before it had read its part: %.*s", i,
                          WTERMSIG(status), (int)text.n, (const char *)text.p);
    return trod_error(diag, TROD_ERR_TRUNCATED, "ranks.died", NULL,
                      "rank %u ended with status %d before it had read its part: %.*s", i,
                      WEXITSTATUS(status), (int)text.n, (const char *)text.p);
}

/* What rank I found. Its problems stand before its state. */
static int merge_rank(struct gathering *g, unsigned i, struct trod_run *run, struct trod_diag *diag)
{
    const uint8_t *p = g->found[i].p;
    size_t left = g->found[i].n;
    enum wire_frame what;
    struct trod_span text;
    bool state = false;
    int r = 0;

    while (r == 0 && wire_take(&p, &left, &what, &text)) {
        if (what == WIRE_PROBLEM)
            r = wire_problem(text, diag);
        else if (what == WIRE_MORE)
            r = wire_more(text, diag);
        else if (what == WIRE_STATE && (state = true))
            r = trod_run_merge(run, text);
        else if (what == WIRE_DIED)
            r = tell_died(g, i, (int)wire_number(text), diag);
        else if (what == WIRE_END && wire_number(text)) {
            g->c->trouble = true;
            g->over |= diag->strict;
        }
    }
    if (r == 0 && !state) {
        text = files_of(g, i);
        r = trod_error(diag, TROD_ERR_TRUNCATED, "ranks.nothing", NULL,
                       "rank %u could not read its part: %.*s", i, (int)text.n,
                       (const char *)text.p);
    }
    return r;
}

/* The messages of rank I; those of this rank come from its own child. */
static bool receive(struct gathering *g, unsigned i)
{
    struct rank *k = g->self;

    if (i)
        return await(g, i, &g->files[i]) && await(g, i, &g->found[i]);
    if (!hear(k, true))
        return false;
    g->files[0] = (struct trod_span){.p = k->in.p, .n = k->files, .last = true};
    if (!hear(k, false))
        return false;
    bury(k);
    g->files[0].p = k->in.p;
    g->found[0] =
        (struct trod_span){.p = k->in.p + k->files, .n = k->in.n - k->files, .last = true};
    return true;
}

/* A part that is missing makes all of it wrong: no results then. */
static int gather(void *user, struct trod_run *run, struct trod_diag *diag)
{
    struct gathering *g = user;
    size_t first, last;
    int r = trod_run_share(run, &first, &last), worst = 0;

    for (unsigned i = 0; r >= 0 && i < g->self->ranks; i++) {
        if (!receive(g, i))
            return ended ? tell_lost(g, diag)
                         : trod_error(diag, TROD_ERR_IO, "ranks.receive", NULL,
                                      "what rank %u found cannot be received", i);
        g->next = i + 1;
        if (!g->over && worst == 0)
            worst = merge_rank(g, i, run, diag);
    }
    return r < 0 || worst < 0 ? TROD_ERR_USAGE : 0;
}

/* Let those that still have something to say do so. */
static void drain(struct gathering *g)
{
    for (unsigned i = g->next; i < g->self->ranks && !g->lost; i++)
        g->lost = !receive(g, i);
}

static int put_together(struct cli *c, const struct cli_analyse *o, const struct cli_planned *plan,
                        size_t n, struct rank *k)
{
    struct gathering g = {.self = k, .c = c};
    const struct cli_share share = {.gather = gather, .user = &g};
    const struct cli_parts parts = {.parts = k->ranks, .share = &share};
    int r = CLI_TROUBLE;

    g.files = calloc(k->ranks, sizeof *g.files);
    g.found = calloc(k->ranks, sizeof *g.found);
    if (g.files && g.found) {
        r = cli_analyse(c, o, plan, n, &parts);
        drain(&g);
        if (g.lost || k->driver->end(&ended) < 0)
            _exit(CLI_TROUBLE); /* MPI would wait for those that are gone */
    }
    for (unsigned i = 1; g.files && g.found && i < k->ranks; i++) {
        free((void *)(uintptr_t)g.files[i].p);
        free((void *)(uintptr_t)g.found[i].p);
    }
    free(g.files);
    free(g.found);
    return r;
}

/* ---- */

static int parent(struct cli *c, const struct cli_analyse *o, const struct cli_planned *plan,
                  size_t n, struct rank *k)
{
    const struct sigaction a = {.sa_handler = end_by};
    uint32_t place[2];
    int r;

    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGINT, &a, NULL);
    k->driver = load(&c->diag);
    if (!k->driver)
        return CLI_TROUBLE;
    if (k->driver->begin(&k->rank, &k->ranks) < 0) {
        trod_error(&c->diag, TROD_ERR_IO, "ranks.begin", NULL, "MPI cannot be started");
        return CLI_TROUBLE;
    }
    sigaction(SIGTERM, &a, NULL); /* MPI may have its own */
    place[0] = k->rank;
    place[1] = k->ranks;
    if (write(k->fd, place, sizeof place) != (ssize_t)sizeof place)
        ended = SIGPIPE;
    r = k->rank ? hand_on(k) : put_together(c, o, plan, n, k);
    trod_buf_fini(&k->in);
    return r;
}

int cli_ranks_analyse(struct cli *c, const struct cli_analyse *o, const struct cli_planned *plan,
                      size_t n)
{
    struct rank k = {.fd = -1};
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || (k.pid = fork()) < 0) {
        trod_error(&c->diag, TROD_ERR_IO, "ranks.process", NULL, "no process can be started: %s",
                   strerror(errno));
        return CLI_TROUBLE;
    }
    if (k.pid == 0) {
        close(pair[0]);
        _exit(child(c, o, plan, n, pair[1]));
    }
    close(pair[1]);
    k.fd = pair[0];
    return parent(c, o, plan, n, &k);
}
