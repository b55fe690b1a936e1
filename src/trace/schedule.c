/*
 * schedule.c - schedule files: entries of 32 bytes, thread, time, cpu and first instruction.
 *
 * Implements schedule.h and trod_trace_schedule. Old files count instructions anew in each chunk of
 * ten million: a thread whose numbers fall has begun another chunk.
 */
#include "trace/schedule.h"

#include "core/endian.h"
#include "core/grow.h"
#include "trace/files.h"
#include "trace/trace_impl.h"
#include "trod/io.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { ENTRY = 32, OLD_CHUNK = 10000000 };

/* A growing list of entries. */
struct list {
    struct trod_schedule_entry *entry;
    size_t n, cap;
};

static int add(struct list *l, const uint8_t *p)
{
    if (!trod_grow(&l->entry, l->n, &l->cap, sizeof *l->entry, 256))
        return TROD_ERR_NOMEM;
    l->entry[l->n++] = (struct trod_schedule_entry){.thread = trod_load_le64(p),
                                                    .time = trod_load_le64(p + 8),
                                                    .cpu = trod_load_le64(p + 16),
                                                    .start = trod_load_le64(p + 24)};
    return TROD_OK;
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_time(const void *a, const void *b)
{
    const struct trod_turn *x = a, *y = b;
    int c = compare(x->time, y->time);

    c = c ? c : compare(x->cpu, y->cpu);
    c = c ? c : compare(x->thread, y->thread);
    return c ? c : compare(x->start, y->start);
}

static void join(struct trod_schedule *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++)
        if (n == 0 || s->turn[n - 1].thread != s->turn[i].thread ||
            s->turn[n - 1].cpu != s->turn[i].cpu)
            s->turn[n++] = s->turn[i];
    s->n = n;
}

int trod_schedule_load(struct trod_schedule_entry **out, size_t *n, const char *path,
                       struct trod_diag *diag)
{
    const struct trod_input_options opt = {.no_thread = true};
    struct list list = {NULL, 0, 0};
    const struct trod_place file = trod_place_path(path);
    struct trod_input *in;
    struct trod_span span;
    struct stat st;
    int rc;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) /* a pipe would not come to an end */
        return trod_error(diag, TROD_ERR_IO, "schedule.file", &file, "schedule is no regular file");
    if ((rc = trod_input_open(&in, path, &opt, diag)) < 0)
        return rc;
    while ((rc = trod_input_ahead(in, ENTRY, &span)) == TROD_OK && span.n >= ENTRY) {
        size_t whole = span.n - span.n % ENTRY;

        for (size_t i = 0; i < whole && rc == TROD_OK; i += ENTRY)
            rc = add(&list, span.p + i);
        trod_input_consume(in, whole);
        if (rc < 0)
            break;
    }
    if (rc == TROD_OK && span.n && (rc = trod_input_end(in)) == TROD_OK) {
        const struct trod_place at = trod_place_offset(path, span.offset);

        rc = trod_error(diag, TROD_ERR_TRUNCATED, "schedule.cut", &at,
                        "schedule is cut: %zu bytes are no entry", span.n);
    }
    trod_input_close(in);
    if (rc < 0) {
        free(list.entry);
        return rc;
    }
    *out = list.entry;
    *n = list.n;
    return TROD_OK;
}

int trod_schedule_read(struct trod_schedule *s, const char *path, struct trod_diag *diag)
{
    struct trod_schedule_entry *entry;
    size_t n;
    int rc = trod_schedule_load(&entry, &n, path, diag);

    *s = (struct trod_schedule){0};
    if (rc < 0)
        return rc;
    s->turn = n < UINT32_MAX ? calloc(n ? n : 1, sizeof *s->turn) : NULL;
    for (size_t i = 0; s->turn && i < n; i++)
        s->turn[s->n++] = (struct trod_turn){.thread = entry[i].thread,
                                             .time = entry[i].time,
                                             .cpu = entry[i].cpu,
                                             .start = entry[i].start};
    free(entry);
    if (!s->turn)
        return TROD_ERR_NOMEM;
    qsort(s->turn, s->n, sizeof *s->turn, by_time);
    join(s);
    return TROD_OK;
}

/* Instruction numbers of a thread do not fall, except in old files. */
static void unwrap(struct trod_schedule *s, uint32_t n_inputs)
{
    uint64_t *last = calloc(n_inputs, sizeof *last), *base = calloc(n_inputs, sizeof *base);

    for (uint32_t i = 0; last && base && i < s->n; i++) {
        struct trod_turn *t = &s->turn[i];

        if (t->start < last[t->input])
            base[t->input] += OLD_CHUNK;
        last[t->input] = t->start;
        t->start += base[t->input];
    }
    free(last);
    free(base);
}

static void link(struct trod_schedule *s, uint32_t n_inputs)
{
    uint32_t *next = malloc(n_inputs * sizeof *next);

    for (uint32_t i = 0; next && i < n_inputs; i++)
        next[i] = UINT32_MAX;
    for (uint32_t i = s->n; i-- > 0;) {
        s->turn[i].next = next ? next[s->turn[i].input] : UINT32_MAX;
        if (next)
            next[s->turn[i].input] = i;
    }
    free(next);
}

/* An input and its thread. */
struct owner {
    uint64_t thread;
    uint32_t input;
};

static int by_thread(const void *a, const void *b)
{
    const struct owner *x = a, *y = b;
    int c = compare(x->thread, y->thread);

    return c ? c : compare(x->input, y->input);
}

/* The first input of THREAD; UINT32_MAX: none. */
static uint32_t input_of(const struct owner *owner, uint32_t n, uint64_t thread)
{
    uint32_t lo = 0, hi = n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (owner[mid].thread < thread)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && owner[lo].thread == thread ? owner[lo].input : UINT32_MAX;
}

int trod_schedule_bind(struct trod_schedule *s, const uint64_t *thread, uint32_t n_inputs,
                       const char *path, struct trod_diag *diag)
{
    struct owner *owner = malloc((n_inputs ? n_inputs : 1) * sizeof *owner);
    uint32_t n = 0;

    if (!owner)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < n_inputs; i++)
        owner[i] = (struct owner){thread[i], i};
    qsort(owner, n_inputs, sizeof *owner, by_thread);
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t k = input_of(owner, n_inputs, s->turn[i].thread);

        if (k == UINT32_MAX) {
            const struct trod_place at = trod_place_path(path);

            trod_warning(diag, TROD_ERR_CORRUPT, "schedule.thread", &at,
                         "schedule names thread %" PRIu64 ", of which there is no file",
                         s->turn[i].thread);
            continue;
        }
        s->turn[i].input = k;
        s->turn[n++] = s->turn[i];
    }
    free(owner);
    s->n = n;
    join(s);
    unwrap(s, n_inputs);
    link(s, n_inputs);
    return TROD_OK;
}

/* The turns of MORE, bound to other inputs, behind those of S. */
static int append(struct trod_schedule *s, const struct trod_schedule *more)
{
    const size_t n = (size_t)s->n + more->n;
    struct trod_turn *turn;

    if (n >= UINT32_MAX || !(turn = realloc(s->turn, (n ? n : 1) * sizeof *turn)))
        return TROD_ERR_NOMEM;
    s->turn = turn;
    for (uint32_t i = 0; i < more->n; i++) {
        turn[s->n + i] = more->turn[i];
        if (turn[s->n + i].next != UINT32_MAX)
            turn[s->n + i].next += s->n;
    }
    s->n = (uint32_t)n;
    return TROD_OK;
}

/*
 * Add the schedule PATH. Where inputs lie in its folder it is of those: each window of a trace has
 * a schedule of its own.
 */
static int add_file(struct trod_schedule *s, const struct trod_trace *t, const uint64_t *thread,
                    const char *path)
{
    struct trod_schedule one;
    uint64_t *near;
    bool any = false;
    int rc = trod_schedule_read(&one, path, t->diag);

    if (rc < 0)
        return rc;
    near = malloc(t->n_inputs * sizeof *near);
    for (size_t i = 0; near && i < t->n_inputs; i++)
        any = any || trod_files_together(path, t->files.file[i].path);
    for (size_t i = 0; near && i < t->n_inputs; i++)
        near[i] =
            !any || trod_files_together(path, t->files.file[i].path) ? thread[i] : TROD_NOWHERE;
    rc = near ? trod_schedule_bind(&one, near, (uint32_t)t->n_inputs, path, t->diag)
              : TROD_ERR_NOMEM;
    free(near);
    if (rc == TROD_OK)
        rc = append(s, &one);
    trod_schedule_fini(&one);
    return rc;
}

int trod_schedule_of(struct trod_schedule *s, const struct trod_trace *t, const uint64_t *thread,
                     enum trod_role first)
{
    const enum trod_role second =
        first == TROD_ROLE_SERIAL_SCHEDULE ? TROD_ROLE_CPU_SCHEDULE : TROD_ROLE_SERIAL_SCHEDULE;
    const enum trod_role roles[] = {first, second};
    bool found = false;

    if (t->opt.schedule)
        return add_file(s, t, thread, t->opt.schedule);
    for (size_t k = 0; k < 2 && !found; k++)
        for (size_t i = t->n_inputs; i < t->files.n; i++) {
            int rc;

            if (t->files.file[i].role != roles[k])
                continue;
            if ((rc = add_file(s, t, thread, t->files.file[i].path)) < 0)
                return rc;
            found = true;
        }
    if (!found)
        return trod_error(t->diag, TROD_ERR_USAGE, "trace.no-schedule", NULL,
                          "trace has no schedule file: order 'time' merges by the times in it");
    return TROD_OK;
}

void trod_schedule_fini(struct trod_schedule *s)
{
    free(s->turn);
    *s = (struct trod_schedule){0};
}

int trod_trace_schedule(const struct trod_trace *t, bool serial, struct trod_schedule_entry **out,
                        size_t *n, const char **path, struct trod_diag *diag)
{
    const enum trod_role role = serial ? TROD_ROLE_SERIAL_SCHEDULE : TROD_ROLE_CPU_SCHEDULE;
    struct trod_schedule_entry *all = NULL, *p;
    size_t n_all = 0;
    bool found = false;

    for (size_t i = t->n_inputs; i < t->files.n; i++) {
        struct trod_schedule_entry *entry = NULL;
        size_t more = 0;
        int rc;

        if (t->files.file[i].role != role)
            continue;
        if (!found)
            *path = t->files.file[i].path;
        found = true;
        rc = trod_schedule_load(&entry, &more, t->files.file[i].path, diag);
        p = rc < 0 || !more ? all : realloc(all, (n_all + more) * sizeof *all);
        if (rc == TROD_OK && more && !p)
            rc = TROD_ERR_NOMEM;
        if (rc < 0) {
            free(entry);
            free(all);
            return rc;
        }
        all = p;
        if (more)
            memcpy(all + n_all, entry, more * sizeof *all);
        n_all += more;
        free(entry);
    }
    *out = all;
    *n = n_all;
    return found;
}
