/*
 * output.c - outputs: buffers, writing beside the caller, names at the end.
 *
 * Implements trod/io.h (trod_output_*). Blocks are filled by the caller and written by a thread,
 * which is started when the first block is full: short outputs need none. What is compressed goes
 * through pack.h instead.
 */
#include "trod/io.h"

#include "core/sized.h"
#include "filter.h"
#include "outfile.h"
#include "output.h"
#include "pack.h"
#include "thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCKS = 3,
    PROMPT = 1 << 16 /* bytes after which what is written to a pipe or a terminal is handed on */
};

struct out_block {
    uint8_t *p;
    size_t n;
};

struct trod_output {
    char *path;
    struct trod_diag *diag;
    struct trod_outfile file;
    const struct trod_filter *filter; /* NULL: none */
    struct trod_pack *pack;           /* with a filter: instead of blocks and thread */
    struct trod_crew *crew;           /* of this output alone, or NULL */
    struct trod_sink sink;
    struct trod_fault fault; /* of who writes */
    bool reported;
    uint64_t offset;
    bool parked; /* no thread, no blocks, no file descriptor */
    bool sealed; /* parked for good: only the name is missing */

    struct out_block blocks[BLOCKS];
    uint64_t filled; /* blocks handed on; block number FILLED is the caller's */
    bool threads, running;
    pthread_t thread;
    pthread_mutex_t lock; /* over what follows, where there is a thread */
    pthread_cond_t wake;
    uint64_t given, written; /* blocks: to be written, done */
    int status;              /* of the first block that could not be written */
    bool no_more;
};

static int sink_put(struct trod_sink *sink, const uint8_t *p, size_t n)
{
    struct trod_output *o =
        (struct trod_output *)((char *)sink - offsetof(struct trod_output, sink));
    return trod_outfile_write(&o->file, p, n, &o->fault);
}

static int sink_patch(struct trod_sink *sink, uint64_t offset, const uint8_t *p, size_t n)
{
    struct trod_output *o =
        (struct trod_output *)((char *)sink - offsetof(struct trod_output, sink));
    return trod_outfile_patch(&o->file, offset, p, n, &o->fault);
}

static int put_block(struct trod_output *o, const struct out_block *b)
{
    return b->n ? trod_outfile_write(&o->file, b->p, b->n, &o->fault) : TROD_OK;
}

static void *run(void *user)
{
    struct trod_output *o = user;
    pthread_mutex_lock(&o->lock);
    for (;;) {
        while (o->given == o->written && !o->no_more)
            pthread_cond_wait(&o->wake, &o->lock);
        if (o->given == o->written)
            break;
        const struct out_block *b = &o->blocks[o->written % BLOCKS];
        int status = o->status;
        pthread_mutex_unlock(&o->lock);
        if (status == TROD_OK) /* after an error the rest is only taken away */
            status = put_block(o, b);
        pthread_mutex_lock(&o->lock);
        o->status = status;
        o->written++;
        pthread_cond_broadcast(&o->wake);
    }
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

static void start(struct trod_output *o)
{
    o->running = trod_thread_start(&o->thread, run, o);
    o->threads = o->running;
}

/* What the thread has met with so far. */
static int status_now(struct trod_output *o)
{
    pthread_mutex_lock(&o->lock);
    const int status = o->status;
    pthread_mutex_unlock(&o->lock);
    return status;
}

static void stop(struct trod_output *o)
{
    if (!o->running)
        return;
    pthread_mutex_lock(&o->lock);
    o->no_more = true;
    pthread_cond_broadcast(&o->wake);
    pthread_mutex_unlock(&o->lock);
    pthread_join(o->thread, NULL);
    o->running = false;
}

static int output_report(struct trod_output *o, int status)
{
    if (status != TROD_OK && !o->reported) {
        o->reported = true;
        trod_fault_report(&o->fault, o->diag,
                          strcmp(o->path, "-") == 0 ? "standard output" : o->path, TROD_NOWHERE);
    }
    return status;
}

/* Hand on the caller's block and give it another one. */
static int hand_on(struct trod_output *o)
{
    struct out_block *b = &o->blocks[o->filled % BLOCKS];
    int status;
    if (b->n == 0)
        return TROD_OK;
    if (!o->running && o->threads)
        start(o);
    if (!o->running) {
        status = o->status;
        if (status == TROD_OK)
            status = put_block(o, b);
        o->status = status;
    } else {
        pthread_mutex_lock(&o->lock);
        o->given = ++o->filled;
        pthread_cond_broadcast(&o->wake);
        while (o->given - o->written == BLOCKS)
            pthread_cond_wait(&o->wake, &o->lock);
        status = o->status;
        pthread_mutex_unlock(&o->lock);
    }
    o->blocks[o->filled % BLOCKS].n = 0;
    return output_report(o, status);
}

/* *FILTER is the compression COMPRESS, or that of PATH by its suffix; NULL: none. */
static int choose_filter(const char *path, const char *compress, const struct trod_filter **filter,
                         struct trod_fault *fault)
{
    *filter = NULL;
    if (!compress) {
        *filter = trod_writes_of_path(path);
    } else if (strcmp(compress, "none") != 0) {
        *filter = trod_writes_find(compress);
        if (!*filter)
            return trod_fault_set(fault, TROD_ERR_USAGE, "io.compression",
                                  "unknown compression '%.40s'", compress);
    }
    if (*filter && !(*filter)->enc_open)
        return trod_fault_set(fault, TROD_ERR_UNSUPPORTED, "io.unsupported",
                              "this build cannot write %s data", (*filter)->name);
    return TROD_OK;
}

int trod_output_compression(const char *path, const char *compress, struct trod_diag *diag)
{
    const struct trod_filter *filter;
    struct trod_fault fault = {.status = TROD_OK};
    const int rc = choose_filter(path, compress, &filter, &fault);

    if (rc < 0)
        trod_fault_report(&fault, diag, path, TROD_NOWHERE);
    return rc;
}

/* Without a crew, and where one is asked for, O gets its own. */
static int pack_begin(struct trod_output *o, const struct trod_output_options *opt,
                      struct trod_crew *crew)
{
    if (!crew && !opt->no_thread) {
        if (trod_crew_new(&o->crew, opt->jobs) < 0)
            return trod_fault_nomem(&o->fault, "an output");
        crew = o->crew;
    }
    return trod_pack_new(&o->pack, o->filter, opt->level, crew, &o->sink);
}

static int output_begin(struct trod_output *o, const struct trod_output_options *opt,
                        struct trod_crew *crew)
{
    int status = choose_filter(o->path, opt->compress, &o->filter, &o->fault);
    if (status == TROD_OK)
        status = trod_outfile_open(&o->file, o->path, true, &o->fault);
    if (status != TROD_OK)
        return status;
    if ((opt->binary || o->filter) && isatty(o->file.fd))
        return trod_fault_set(
            &o->fault, TROD_ERR_USAGE, "io.terminal",
            "binary data is not written to a terminal: name a file, or pipe it on");
    if (o->file.direct && trod_output_has_parts(o) && o->filter->archive->goes_back)
        return trod_fault_set(&o->fault, TROD_ERR_USAGE, "io.goes_back",
                              "%s needs a file, in which the sizes of its members are filled in "
                              "later: name one, or compress with zip or zip-zstd",
                              o->filter->name);
    if (!o->file.direct)
        o->sink.patch = sink_patch;
    return o->filter ? pack_begin(o, opt, crew) : TROD_OK;
}

static void output_free(struct trod_output *o)
{
    stop(o);
    trod_pack_free(o->pack);
    trod_crew_free(o->crew);
    trod_outfile_discard(&o->file);
    for (int i = 0; i < BLOCKS; i++)
        free(o->blocks[i].p);
    pthread_mutex_destroy(&o->lock);
    pthread_cond_destroy(&o->wake);
    free(o->path);
    free(o);
}

static struct trod_output *output_new(const char *path, struct trod_diag *diag)
{
    struct trod_output *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->diag = diag;
    o->file.fd = -1;
    o->sink = (struct trod_sink){.put = sink_put, .fault = &o->fault};
    o->path = strdup(path);
    if (!o->path || pthread_mutex_init(&o->lock, NULL) != 0) {
        free(o->path);
        free(o);
        return NULL;
    }
    if (pthread_cond_init(&o->wake, NULL) != 0) {
        pthread_mutex_destroy(&o->lock);
        free(o->path);
        free(o);
        return NULL;
    }
    return o;
}

int trod_output_create_in(struct trod_output **out, const char *path,
                          const struct trod_output_options *options, struct trod_crew *crew,
                          struct trod_diag *diag)
{
    struct trod_output_options own;
    const struct trod_output_options *opt = &own;
    const bool known = trod_sized(&own, sizeof own, sizeof own, options);
    *out = NULL;
    struct trod_output *o = output_new(path, diag);
    if (!o) {
        struct trod_fault f = {0};
        trod_fault_nomem(&f, "an output");
        return trod_fault_report(&f, diag, path, TROD_NOWHERE);
    }
    o->threads = !opt->no_thread;
    const int status = known ? output_begin(o, opt, crew)
                             : trod_fault_set(&o->fault, TROD_ERR_USAGE, "io.options",
                                              "options are of another version");
    if (status != TROD_OK) {
        output_report(o, status);
        output_free(o);
        return status;
    }
    *out = o;
    return TROD_OK;
}

int trod_output_create(struct trod_output **out, const char *path,
                       const struct trod_output_options *options, struct trod_diag *diag)
{
    return trod_output_create_in(out, path, options, NULL, diag);
}

/* All that was given is written; no thread of this output runs. END: nothing comes any more. */
static int settle(struct trod_output *o, bool end)
{
    stop(o);
    int status = o->status;
    struct out_block *b = &o->blocks[o->filled % BLOCKS];
    if (status == TROD_OK && o->pack)
        status = end ? trod_pack_finish(o->pack) : trod_pack_drain(o->pack);
    else if (status == TROD_OK)
        status = put_block(o, b);
    b->n = 0;
    o->status = status;
    return status;
}

static void free_blocks(struct trod_output *o)
{
    for (int i = 0; i < BLOCKS; i++) {
        free(o->blocks[i].p);
        o->blocks[i].p = NULL;
    }
}

int trod_output_park(struct trod_output *o)
{
    if (o->parked)
        return o->status;
    if (o->file.direct)
        return status_now(o);
    int status = settle(o, false);
    if (status == TROD_OK)
        status = trod_outfile_park(&o->file, &o->fault);
    free_blocks(o);
    o->parked = true;
    o->status = status;
    return output_report(o, status);
}

static int unpark(struct trod_output *o)
{
    int status = o->status;
    if (!o->parked)
        return status;
    if (status == TROD_OK)
        status = trod_outfile_unpark(&o->file, &o->fault);
    o->parked = status != TROD_OK;
    o->no_more = false;
    o->status = status;
    return output_report(o, status);
}

bool trod_output_has_parts(const struct trod_output *o)
{
    return o->filter && o->filter->archive;
}

int trod_output_part(struct trod_output *o, const char *name)
{
    int status = o->parked ? unpark(o) : TROD_OK;
    if (status != TROD_OK || !trod_output_has_parts(o))
        return status;
    o->status = trod_pack_part(o->pack, name);
    return output_report(o, o->status);
}

static int no_memory(struct trod_output *o)
{
    const struct trod_place at = trod_place_offset(o->path, o->offset);
    return trod_error(o->diag, TROD_ERR_NOMEM, "io.memory", &at, "out of memory in an output");
}

int trod_output_room(struct trod_output *o, size_t min, struct trod_room *room)
{
    *room = (struct trod_room){0};
    if (min > TROD_WINDOW) {
        const struct trod_place at = trod_place_offset(o->path, o->offset);
        return trod_error(o->diag, TROD_ERR_LIMIT, "io.room", &at,
                          "room for %zu bytes is more than the limit of %d", min, TROD_WINDOW);
    }
    if (o->parked) {
        const int status = unpark(o);
        if (status != TROD_OK)
            return status;
    }
    if (o->pack) {
        if (o->status == TROD_OK)
            o->status = trod_pack_room(o->pack, min, room);
        return output_report(o, o->status);
    }
    const size_t n = o->blocks[o->filled % BLOCKS].n;
    if (TROD_WINDOW - n < min || n == TROD_WINDOW || (o->file.direct && n >= PROMPT)) {
        const int status = hand_on(o);
        if (status != TROD_OK)
            return status;
    }
    struct out_block *b = &o->blocks[o->filled % BLOCKS];
    if (!b->p && !(b->p = malloc(TROD_WINDOW)))
        return no_memory(o);
    *room = (struct trod_room){.p = b->p + b->n, .end = b->p + TROD_WINDOW};
    return TROD_OK;
}

void trod_output_advance(struct trod_output *o, size_t n)
{
    if (o->pack)
        trod_pack_advance(o->pack, n);
    else
        o->blocks[o->filled % BLOCKS].n += n;
    o->offset += n;
}

int trod_output_write(struct trod_output *o, const void *p, size_t n)
{
    const uint8_t *q = p;
    while (n) {
        struct trod_room room;
        const int status = trod_output_room(o, 1, &room);
        if (status != TROD_OK)
            return status;
        const size_t space = (size_t)(room.end - room.p);
        const size_t some = n < space ? n : space;
        memcpy(room.p, q, some);
        trod_output_advance(o, some);
        q += some;
        n -= some;
    }
    return TROD_OK;
}

void trod_output_tell(struct trod_output *o, struct trod_diag *diag)
{
    o->diag = diag;
}

int trod_output_flush(struct trod_output *o)
{
    return o->pack ? o->status : hand_on(o);
}

uint64_t trod_output_offset(const struct trod_output *o)
{
    return o->offset;
}

int trod_output_seal(struct trod_output *o)
{
    if (o->sealed)
        return o->status;
    /* the last block is written here, the ones before it by the thread, if there is one */
    int status = o->parked ? unpark(o) : TROD_OK; /* settling says what the thread met with */
    if (status == TROD_OK)
        status = settle(o, true);
    free_blocks(o);
    if (status == TROD_OK && !o->file.direct)
        status = trod_outfile_park(&o->file, &o->fault);
    o->sealed = true;
    o->status = status;
    return output_report(o, status);
}

int trod_output_commit(struct trod_output *o)
{
    int status = o->sealed ? o->status : o->parked ? unpark(o) : TROD_OK;
    if (status == TROD_OK && !o->sealed)
        status = settle(o, true);
    if (status == TROD_OK)
        status = trod_outfile_commit(&o->file, &o->fault);
    output_report(o, status);
    output_free(o);
    return status;
}

void trod_output_discard(struct trod_output *o)
{
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    o->status = TROD_ERR_IO; /* what waits to be written is not worth it any more */
    pthread_mutex_unlock(&o->lock);
    output_free(o);
}
