/*
 * record.c - runs a program and writes its trace: takes blocks from the shared memory, in the order
 * of each thread, until every process of the program has ended.
 *
 * Implements trod/record.h and docs/recording.md, "How it works". One thread waits for processes,
 * the caller's makes rows and writes them.
 */
#include "record/record.h"

#include "core/sized.h"
#include "trod/drmemtrace.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GROW = 64, PATIENCE_MS = 200 };

struct recorder {
    const struct trod_record_options *opt;
    struct trod_record_result *result;
    struct trod_diag *diag;
    const struct rec_target *target;
    struct rec_shared *shared;
    int fd;
    struct trod_meta meta;
    struct rec_rows *rows;
    struct rec_answers *answers;
    struct rec_control control;
    struct rec_functions functions;
    struct rec_places *places;
    struct rec_modules *modules;
    struct trod_writer *writer;
    struct rec_out out;
    pid_t pid;
    pthread_t reaper;
    _Atomic int status;        /* of waitpid */
    _Atomic bool reaped, gone; /* the program; all its processes */
    bool reported;             /* what QEMU can tell has been said */
    int rc;
};

/* --- processes --- */

/* Orphans of the program become ours (PR_SET_CHILD_SUBREAPER): all are seen to end. */
static void *reap(void *user)
{
    struct recorder *r = user;
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, 0)) > 0 || (pid < 0 && errno == EINTR)) {
        if (pid == r->pid && (WIFEXITED(status) || WIFSIGNALED(status))) {
            atomic_store(&r->status, status);
            atomic_store(&r->reaped, true);
        }
        sem_post(&r->shared->full);
    }
    atomic_store(&r->gone, true);
    sem_post(&r->shared->full);
    return NULL;
}

/* --- blocks --- */

static void stop(struct recorder *r)
{
    atomic_store(&r->shared->stop, 1);
    for (int i = 0; i < 64; i++) /* whoever waits for a block sees it */
        sem_post(&r->shared->free);
}

static void take(struct recorder *r, uint32_t i)
{
    struct rec_block *b = rec_block(r->shared, i);
    int rc = TROD_OK;

    if (r->rc == TROD_OK && !atomic_load(&r->shared->stop))
        rc = rec_rows_block(r->rows, b);
    b->words = 0;
    atomic_store_explicit(&rec_states(r->shared)[i], REC_FREE, memory_order_release);
    sem_post(&r->shared->free);
    if (rc == 0 && r->opt->size_limit && trod_writer_bytes(r->writer) >= r->opt->size_limit) {
        r->result->trouble |= TROD_RECORD_SIZE;
        stop(r);
    }
    if (rc == 0)
        return;
    if (rc < 0)
        r->rc = rc;
    else
        r->result->trouble |= TROD_RECORD_TAKEN;
    stop(r);
}

/* All blocks that have been handed over and whose turn it is. Were there any? */
static bool drain(struct recorder *r)
{
    _Atomic uint32_t *state = rec_states(r->shared);
    bool any = false, more = true;

    while (more) {
        uint32_t n = atomic_load(&r->shared->n_blocks);

        more = false;
        for (uint32_t i = 0; i < n; i++) {
            const struct rec_block *b = rec_block(r->shared, i);

            if (atomic_load_explicit(&state[i], memory_order_acquire) != REC_FULL ||
                b->slot >= REC_SLOTS || b->seq != rec_rows_seq(r->rows, b->slot))
                continue;
            take(r, i);
            any = more = true;
        }
    }
    return any;
}

/* The block that slot S was writing to when its process ended is ours. */
static bool inherit(struct recorder *r, uint32_t number)
{
    struct rec_slot *s = rec_slots(r->shared) + number;
    uint32_t i = s->block;

    if (i >= REC_BLOCKS || atomic_load(&rec_states(r->shared)[i]) != REC_OWNED + number)
        return false;
    s->block = UINT32_MAX;
    if (s->p >= s->base && s->p < s->base + REC_BLOCK_WORDS)
        rec_block(r->shared, i)->words = (uint64_t)(s->p - s->base);
    atomic_store(&rec_states(r->shared)[i], REC_FULL);
    return true;
}

/* Blocks of processes that have ended; ALL: of every process. */
static bool harvest(struct recorder *r, bool all)
{
    uint32_t n = atomic_load(&r->shared->n_slots);
    bool any = false;

    for (uint32_t i = 0; i < n && i < REC_SLOTS; i++) {
        struct rec_slot *s = rec_slots(r->shared) + i;

        if (atomic_load(&s->state) != REC_SLOT_LIVE)
            continue;
        if (!all && (kill((pid_t)s->pid, 0) == 0 || errno != ESRCH))
            continue;
        any |= inherit(r, i);
        atomic_store(&s->state, REC_SLOT_ENDED);
    }
    return any;
}

/* Once the plugin has begun. */
static void tell_able(struct recorder *r)
{
    const uint32_t started = atomic_load(&r->shared->started);
    const uint32_t gives = atomic_load(&r->shared->gives);
    const struct trod_record_able able = {.qemu = r->result->target.qemu,
                                          .api = started - 1,
                                          .registers = gives & REC_GIVES_REGISTERS,
                                          .vectors = gives & REC_GIVES_VECTORS,
                                          .values = gives & REC_GIVES_VALUES};

    if (r->reported || !started)
        return;
    r->reported = true;
    if (r->opt->able)
        r->opt->able(r->opt->user, &able);
}

static void tell(struct recorder *r)
{
    struct trod_record_progress p;

    tell_able(r);
    if (!r->opt->progress)
        return;
    rec_rows_count(r->rows, &p);
    p.bytes = trod_writer_bytes(r->writer);
    r->opt->progress(r->opt->user, &p);
}

static void wait_a_while(struct recorder *r)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += PATIENCE_MS * 1000000L;
    if (t.tv_nsec >= 1000000000L) {
        t.tv_nsec -= 1000000000L;
        t.tv_sec++;
    }
    sem_timedwait(&r->shared->full, &t);
}

static void collect(struct recorder *r)
{
    while (!atomic_load(&r->gone)) {
        int free = 0;

        if (drain(r)) {
            tell(r);
            continue;
        }
        sem_getvalue(&r->shared->free, &free);
        if (free == 0 && !harvest(r, false))
            rec_share_grow(r->shared, GROW);
        wait_a_while(r);
        tell(r);
    }
    tell_able(r);
    drain(r);
    harvest(r, true);
    drain(r);
    if (WIFSIGNALED(atomic_load(&r->status)))
        rec_rows_cut(r->rows);
    if (r->rc == TROD_OK)
        r->rc = rec_rows_flush(r->rows);
}

/* --- begin and end --- */

static int open_writer(struct recorder *r, const char *out)
{
    /* who names a format wants what it holds: see tell_unwritten() */
    struct trod_writer_options w = {
        .to = r->opt->to, .output = r->opt->output, .allow_loss = true, .columns = TROD_COL_KIND};
    const struct trod_format *f = trod_format_find(r->opt->to, strcspn(r->opt->to, ":"));

    if (!rec_out_begin(&r->out, out, rec_amber(f) || rec_full(f), &w.output))
        return trod_error(r->diag, TROD_ERR_NOMEM, "record.memory", NULL, "out of memory");

    r->meta.isa = r->target->isa;
    r->meta.endian = r->target->endian;
    r->meta.addr_bits = r->target->addr_bits;
    r->meta.unit = TROD_UNIT_US;
    r->meta.filetype =
        TROD_DRM_SYSCALL_NUMBERS | (r->opt->no_memory ? TROD_DRM_INSTRUCTION_ONLY : 0);
    r->meta.page_size = 4096;
    r->meta.line_size = 64;
    return trod_writer_open(&r->writer, r->out.used, &w, &r->meta, r->diag);
}

/* What is looked for while the program runs: functions by name and, where wanted, MODULES. */
static int want_places(struct recorder *r, bool modules)
{
    int rc = rec_places_new(&r->places, r->shared, r->diag);

    if (rc < 0)
        return rc;
    if (r->control.start.sought)
        rec_places_want(r->places, r->control.start.sought, REC_AT_START);
    if (r->control.stop.sought)
        rec_places_want(r->places, r->control.stop.sought, REC_AT_STOP);
    r->shared->placed = r->control.start.given || r->control.stop.given;
    r->shared->follow.no_children = r->opt->no_children;
    rec_functions_want(&r->functions, r->places, r->shared);
    if (r->opt->pthreads)
        rc = rec_pthreads_want(r->places, r->shared, r->opt, &r->result->target, r->diag);
    if (rc == TROD_OK && modules && !r->target->system) {
        if (rec_modules_new(&r->modules) < 0)
            return trod_error(r->diag, TROD_ERR_NOMEM, "record.memory", NULL, "out of memory");
        rec_places_tell(r->places, r->modules);
    }
    return rc < 0 ? rc : rec_places_begin(r->places);
}

/* What was looked for and never found is reported: the trace does not have what was asked for. */
static void tell_missing(struct recorder *r)
{
    const struct rec_place *const places[] = {&r->control.start, &r->control.stop};

    for (uint32_t i = 0; i < 2; i++)
        if (places[i]->sought && !rec_places_found(r->shared, REC_AT_START + i, REC_AT_START + i))
            trod_error(r->diag, TROD_ERR_LOSS, "record.place", NULL,
                       "neither '%s' nor a library that it loaded has a function '%s'",
                       r->result->target.program, places[i]->sought);
    rec_functions_missing(&r->functions, r->shared, r->result->target.program, r->diag);
    if (r->opt->pthreads)
        rec_pthreads_missing(r->shared, r->result->target.program, r->diag);
}

/* Can the registers that were asked for be had, and written as F? */
static int check_registers(struct recorder *r, const struct trod_format *f)
{
    const enum rec_isa isa = r->target->plain;

    if (isa == REC_X86 || isa == REC_X86_64)
        return trod_error(r->diag, TROD_ERR_UNSUPPORTED, "record.registers", NULL,
                          "registers of %s programs are not recorded: leave out --registers; "
                          "--values records the values of accesses",
                          r->result->target.isa);
    if (f && f->kinds && !(f->kinds >> TROD_REG & 1))
        return trod_error(r->diag, TROD_ERR_USAGE, "record.registers", NULL,
                          "%s has no place for registers: tarmac, matcher and full have", f->name);
    return TROD_OK;
}

/* Has F a word for the program's instruction set, or is that said to be all the same? */
static int check_isa(struct recorder *r, const struct trod_format *f)
{
    const enum trod_isa isa = r->target->isa;
    const bool only_ppc = rec_amber(f) || rec_full(f); /* their records are its opcodes */
    char names[256];
    size_t n = 0;

    if (!f || trod_format_has_isa(f, isa) || (r->opt->allow_loss && !only_ppc))
        return TROD_OK;
    for (size_t i = 0; trod_format_at(i); i++) {
        const struct trod_format *other = trod_format_at(i);

        if (other->begin && trod_format_has_isa(other, isa) &&
            n + strlen(other->name) + 3 < sizeof names)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", other->name);
    }
    return trod_error(r->diag, TROD_ERR_LOSS, "record.isa", NULL,
                      "%s has no word for %s instructions: use --to with one of %s%s", f->name,
                      r->result->target.isa, names, only_ppc ? "" : ", or say --allow-loss");
}

static int prepare(struct recorder *r, const char *out)
{
    size_t len = strcspn(r->opt->to, ":");
    const struct trod_format *f = trod_format_find(r->opt->to, len);
    uint32_t sources = 0;
    bool registers, memory, values;
    int rc = rec_sources_of(&sources, r->opt, f, r->diag);

    if (rc == TROD_OK)
        rc = check_isa(r, f);
    registers = sources & REC_SOURCE_REGISTERS || rec_full(f);
    memory = sources & (REC_SOURCE_MEMORY | REC_SOURCE_UPDATES) && !rec_full(f);
    values = registers || r->opt->values;

    if (rc == TROD_OK && r->control.calls.any && f && !(f->flags & TROD_FMT_TIMESTAMPS))
        rc = trod_error(r->diag, TROD_ERR_USAGE, "record.syscalls", NULL,
                        "%s has no place for system calls: drmemtrace has", f->name);

    if (rc == TROD_OK)
        rc = rec_functions_of(&r->functions, r->opt, f, r->diag);
    if (rc == TROD_OK && registers)
        rc = check_registers(r, f);
    if (rc == TROD_OK && r->opt->values)
        rc = rec_values_check(r->opt, f, memory, r->diag);
    if (rc == TROD_OK)
        rc = rec_share_new(&r->shared, &r->fd, r->target, memory, registers, values, r->diag);
    if (rc == TROD_OK)
        rc = want_places(r, f && f->flags & TROD_FMT_TIMESTAMPS);
    if (rc == TROD_OK && registers)
        rc = rec_answers_begin(&r->answers, r->shared, r->target, r->diag);
    if (rec_amber(f) || rec_full(f))
        r->meta.format = f->name; /* rows come with the words of its records */
    if (rc == TROD_OK)
        rc = open_writer(r, out);
    if (rc == TROD_OK) {
        rc = rec_rows_new(&r->rows, r->shared, r->target, &r->meta, &r->control, f, sources,
                          r->out.single);
        if (rc == TROD_OK)
            rec_rows_writer(r->rows, r->writer);
        else
            trod_error(r->diag, rc, "record.memory", NULL, "out of memory");
    }
    return rc;
}

/* Programs that were executed and are not in the trace. */
static void tell_lost(struct recorder *r)
{
    static const char *const reasons[REC_LOST_REASONS] = {
        [REC_LOST_ISA] = "it is of another instruction set, and a trace has one",
        [REC_LOST_FORM] = "it is neither an ELF program nor a script",
        [REC_LOST_RIGHTS] = "it runs with other rights (set-user-ID, set-group-ID, capabilities)",
        [REC_LOST_READ] = "its file or its arguments cannot be read",
        [REC_LOST_SYSTEM] = "QEMU could not be started for it with the memory of the recording"};
    const enum trod_severity severity = r->opt->allow_loss ? TROD_SEV_WARNING : TROD_SEV_ERROR;
    const uint32_t n = atomic_load(&r->shared->lost);
    uint32_t named = 0;

    for (uint32_t i = 0; i < REC_LOSSES; i++) {
        const uint32_t why = atomic_load(&r->shared->losses[i].why);

        if (why == REC_LOST_NONE || why >= REC_LOST_REASONS)
            continue;
        named++;
        trod_diag_report(r->diag, severity, TROD_ERR_LOSS, "record.exec", NULL,
                         "'%.*s' was executed and is not in the trace: %s", REC_LOST_NAME - 1,
                         r->shared->losses[i].path, reasons[why]);
    }
    if (n > named)
        trod_diag_report(r->diag, severity, TROD_ERR_LOSS, "record.exec", NULL,
                         "%u more programs were executed and are not in the trace",
                         (unsigned)(n - named));
}

static void count_threads(struct recorder *r)
{
    uint32_t n = atomic_load(&r->shared->n_slots), last = 0;

    for (uint32_t i = 0; i < n && i < REC_SLOTS; i++) {
        const struct rec_slot *s = rec_slots(r->shared) + i;

        if (s->tid == 0)
            continue;
        r->result->threads++;
        if (r->shared->system)
            r->result->processes = 1;
        if (s->pid != last && s->pid == s->tid)
            r->result->processes++;
        last = s->pid;
    }
}

static void conclude(struct recorder *r)
{
    struct trod_record_progress p;
    int status = atomic_load(&r->status);
    uint32_t trouble = atomic_load(&r->shared->trouble);

    r->result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (WIFSIGNALED(status))
        r->result->trouble |= TROD_RECORD_KILLED;
    if (trouble & (REC_LOG_FULL | REC_NO_SLOT))
        r->result->trouble |= TROD_RECORD_LIMIT;
    if (atomic_load(&r->shared->lost))
        r->result->trouble |= TROD_RECORD_LOST;
    if (rec_rows_never(r->rows))
        r->result->trouble |= TROD_RECORD_NEVER;
    r->result->api = atomic_load(&r->shared->started);
    if (r->result->api)
        r->result->api--;
    r->result->executed = atomic_load(&r->shared->images);
    r->result->unrecorded = atomic_load(&r->shared->lost);
    rec_rows_count(r->rows, &p);
    r->result->instructions = p.instructions;
    r->result->accesses = p.accesses;
    r->result->passed = p.passed;
    r->result->unnamed = p.unnamed;
    r->result->untold = p.untold;
    count_threads(r);
}

static int run(struct recorder *r, char *const line[], char *const argv[], const char *plugin)
{
    const struct trod_record_target *target = &r->result->target;
    const char *cpu = rec_target_cpu(r->target);
    int rc;

    if (!target->system)
        rec_tell_follow(r->shared, target, cpu, plugin);
    rc = rec_launch(target, cpu, line, argv, plugin, r->fd, &r->pid, r->diag);
    if (rc < 0)
        return rc;
    if (r->opt->started)
        r->opt->started(r->opt->user, (long)r->pid);
    if (pthread_create(&r->reaper, NULL, reap, r) != 0) {
        kill(r->pid, SIGKILL);
        waitpid(r->pid, NULL, 0);
        return trod_error(r->diag, TROD_ERR_NOMEM, "record.thread", NULL, "cannot start a thread");
    }
    collect(r);
    pthread_join(r->reaper, NULL);
    conclude(r);
    if (atomic_load(&r->shared->trouble) & REC_NO_REGISTERS)
        return trod_error(r->diag, TROD_ERR_UNSUPPORTED, "record.no-registers", NULL,
                          "'%s' shows no registers of %s programs: that takes QEMU 9.2 or later, "
                          "which scripts/build-qemu builds, or 7.2 as Debian 12 has it",
                          r->result->target.qemu, r->result->target.isa);
    if (!atomic_load(&r->shared->started))
        return trod_error(r->diag, TROD_ERR_UNSUPPORTED, "record.no-plugins", NULL,
                          "'%s' did not load the plugin '%s': it must be QEMU 7.2 or later, "
                          "dynamically linked, built with plugins",
                          r->result->target.qemu, plugin);
    return r->rc;
}

/* The program ARGV and what OPT wants of it; LINE and PLUGIN (N bytes) for rec_launch. */
static int look(struct recorder *r, char *const argv[], char *line[REC_LINE], char *plugin,
                size_t n)
{
    const struct trod_record_options *opt = r->opt;
    struct trod_record_target *info = &r->result->target;
    int rc = rec_system_wanted(opt) ? rec_system_of(argv, opt, &r->target, info, r->diag)
                                    : rec_target_of(argv, opt, &r->target, info, line, r->diag);

    if (rc == TROD_OK)
        rc = rec_plugin_path(opt->plugin, plugin, n, r->diag);
    if (rc == TROD_OK)
        rc = rec_control_of(&r->control, opt, r->target, info, r->diag);
    return rc == TROD_OK ? rec_calls_of(&r->control.calls, &opt->syscalls, r->target, r->diag) : rc;
}

/*
 * Only rows of kinds that the format has, and that are missing all the same, make a recording
 * incomplete: what it has no place for is left out.
 */
static void tell_unwritten(const struct recorder *r, const struct trod_loss *loss)
{
    const struct trod_format *f = trod_format_find(r->opt->to, strcspn(r->opt->to, ":"));
    char why[256];

    for (unsigned i = 0; f && i < TROD_KINDS && !r->opt->allow_loss; i++) {
        if (!loss->rows[i] || (f->kinds && !(f->kinds >> i & 1)))
            continue;
        why[0] = '\0';
        if (loss->first.why && loss->first.kind == i)
            snprintf(why, sizeof why, " (the first, row %llu: %s)",
                     (unsigned long long)loss->first.row, loss->first.why);
        trod_error(r->diag, TROD_ERR_LOSS, "record.lost-rows", NULL,
                   "%s has no place for %llu %s rows%s", f->name, (unsigned long long)loss->rows[i],
                   trod_kind_name(i), why);
    }
}

/* The program has ended: the trace gets what is written last, and its name OUT. */
static int complete(struct recorder *r, const char *out)
{
    struct trod_record_result *result = r->result;
    struct trod_writer_summary sum = {0};
    int rc;

    tell_missing(r);
    tell_lost(r);
    rc = rec_functions_list(&r->functions, r->shared, r->places, &r->meta);
    if (rc == TROD_OK && r->modules)
        rc = rec_modules_list(r->modules, &r->meta);
    if (rc < 0)
        return rc;
    if (rec_rows_missed(r->rows))
        trod_error(r->diag, TROD_ERR_LOSS, "record.one-thread", NULL,
                   "'%s' holds one thread: all other threads are left out: write to a file or a "
                   "folder",
                   out);
    rc = trod_writer_commit(r->writer, &sum);
    r->writer = NULL;
    result->rows = sum.rows;
    result->bytes = sum.bytes;
    result->files = sum.files;
    result->loss = sum.loss;
    if (rc == TROD_OK)
        tell_unwritten(r, &sum.loss);
    return rc == TROD_OK ? rec_out_commit(&r->out, &result->folder, r->diag) : rc;
}

static void release(struct recorder *r)
{
    trod_writer_discard(r->writer);
    rec_out_end(&r->out);
    rec_answers_end(r->answers);
    rec_places_end(r->places);
    rec_modules_free(r->modules);
    rec_rows_free(r->rows);
    rec_share_free(r->shared, r->fd);
    trod_meta_fini(&r->meta);
}

int trod_record(const char *out, char *const argv[], const struct trod_record_options *opt,
                struct trod_record_result *result, struct trod_diag *diag)
{
    struct trod_record_options own;
    struct recorder r = {.opt = &own, .result = result, .diag = diag, .fd = -1};
    char *line[REC_LINE] = {NULL}, plugin[4096];
    int rc;

    memset(result, 0, sizeof *result);
    if (!trod_sized(&own, sizeof own, sizeof own, opt))
        return trod_error(diag, TROD_ERR_USAGE, "record.options", NULL,
                          "options are of another version");
    trod_meta_init(&r.meta);
    rc = look(&r, argv, line, plugin, sizeof plugin);
    if (rc == TROD_OK)
        rc = prepare(&r, out);
    if (rc == TROD_OK) {
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        rc = run(&r, line, argv, plugin);
        prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    }
    if (rc == TROD_OK)
        rc = complete(&r, out);
    release(&r);
    for (size_t i = 0; i < REC_LINE; i++)
        free(line[i]);
    return rc;
}
