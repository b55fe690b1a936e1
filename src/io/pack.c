/*
 * pack.c - implements pack.h: pieces of outputs, queues of them, and the threads that compress.
 *
 * A piece goes from its pack to the queue of the crew and, compressed, back: who ends the piece
 * whose turn it is writes it and those behind it that are ready. One lock is over all of this; it
 * is held neither to compress nor to write.
 */
#include "pack.h"

#include "thread.h"
#include "trod/buf.h"
#include "trod/run.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE = 2 /* pieces that wait while each thread has one */ };

/* Of an archive where nobody names one. */
static const char first_part[] = "chunk.00000000";

struct piece {
    struct trod_pack *pack;
    struct piece *next;       /* of the pack, or among those that are free */
    struct piece *next_to_do; /* in the queue of the crew */
    uint8_t *in;
    size_t n, cap;
    struct trod_buf packed;
    char part[TROD_PART_NAME]; /* that it begins; "": none */
    bool ends;                 /* the part */
    bool done;
    struct trod_fault fault;
};

/* A compressor and what it was made for. */
struct tool {
    const struct trod_filter *filter;
    int level;
    void *state;
};

struct worker {
    struct trod_crew *crew;
    pthread_t thread;
    struct tool tool;
};

struct trod_crew {
    pthread_mutex_t lock;
    pthread_cond_t work; /* a piece to be compressed, or the end */
    pthread_cond_t turn; /* a piece was written */
    struct worker *worker;
    unsigned most, n, idle;
    size_t busy;                 /* pieces on their way */
    struct piece *first, **last; /* to be compressed */
    struct piece *free;
    bool end;
};

struct trod_pack {
    const struct trod_filter *filter;
    int level;
    size_t piece; /* bytes of one */
    struct trod_crew *crew;
    struct trod_sink *sink;
    struct tool tool; /* of the thread that gives the pieces */
    bool own;         /* the crew is nobody else's */
    void *archive;    /* state of an archive */
    struct piece *filling;
    bool any;  /* a piece was made */
    bool put;  /* a piece was written */
    bool open; /* a part has begun */
    /* under the lock of the crew */
    struct piece *first, **last; /* not written yet, in their order */
    bool writing;
    int status;
};

struct piece_sink {
    struct trod_sink sink;
    struct trod_buf *out;
};

static int keep(struct trod_sink *sink, const uint8_t *p, size_t n)
{
    struct piece_sink *s = (struct piece_sink *)sink;

    if (trod_buf_add(s->out, p, n) < 0)
        return trod_fault_nomem(sink->fault, "an output filter");
    return TROD_OK;
}

static int keep_over(struct trod_sink *sink, uint64_t offset, const uint8_t *p, size_t n)
{
    struct piece_sink *s = (struct piece_sink *)sink;

    memcpy(s->out->p + offset, p, n);
    return TROD_OK;
}

static void tool_close(struct tool *t)
{
    if (t->state)
        t->filter->enc_close(t->state);
    t->state = NULL;
}

/* Compress P with T. What goes wrong is in its fault. */
static void compress(struct tool *t, struct piece *p)
{
    const struct trod_pack *pack = p->pack;
    struct piece_sink out = {{keep, keep_over, &p->fault}, &p->packed};
    int status = TROD_OK;

    if (t->state && (t->filter != pack->filter || t->level != pack->level))
        tool_close(t);
    if (!t->state) {
        t->filter = pack->filter;
        t->level = pack->level;
        status = t->filter->enc_open(&t->state, t->level, &p->fault);
        if (status != TROD_OK)
            t->state = NULL;
    }
    if (status == TROD_OK)
        status = t->filter->enc_write(t->state, p->n ? p->in : (const uint8_t *)"", p->n,
                                      !pack->archive || p->ends, &out.sink);
    if (status != TROD_OK)
        trod_fault_set(&p->fault, status, "io.compress", "cannot compress");
}

/* Write what was made of P. */
static int put(struct trod_pack *pack, const struct piece *p)
{
    const struct trod_archive *a = pack->filter->archive;
    const size_t once = pack->put ? pack->filter->enc_once : 0;
    int status = TROD_OK;

    if (p->fault.status != TROD_OK) {
        if (pack->sink->fault->status == TROD_OK)
            *pack->sink->fault = p->fault;
        return p->fault.status;
    }
    if (a && p->part[0])
        status = a->part(pack->archive, p->part, pack->sink);
    if (a && status == TROD_OK)
        status =
            a->piece(pack->archive, p->in, p->n, p->ends, p->packed.p, p->packed.n, pack->sink);
    if (!a)
        status = pack->sink->put(pack->sink, p->packed.p + once, p->packed.n - once);
    pack->put = true;
    return status;
}

/* --- the crew; its lock is held --- */

static void give_back(struct trod_crew *c, struct piece *p)
{
    p->next = c->free;
    c->free = p;
    c->busy--;
    pthread_cond_broadcast(&c->turn);
}

/* Write the pieces of PACK whose turn it is. */
static void deliver(struct trod_crew *c, struct trod_pack *pack)
{
    if (pack->writing)
        return;
    pack->writing = true;
    while (pack->first && pack->first->done) {
        struct piece *p = pack->first;
        int status = pack->status;

        if (status == TROD_OK) { /* after an error the rest is only taken away */
            pthread_mutex_unlock(&c->lock);
            status = put(pack, p);
            pthread_mutex_lock(&c->lock);
            if (pack->status == TROD_OK)
                pack->status = status;
        }
        pack->first = p->next;
        if (!pack->first)
            pack->last = &pack->first;
        give_back(c, p);
    }
    pack->writing = false;
}

/* Compress the first piece of the queue, and write it if it is its turn. */
static void do_one(struct trod_crew *c, struct tool *t)
{
    struct piece *p = c->first;
    bool worth;

    c->first = p->next_to_do;
    if (!c->first)
        c->last = &c->first;
    worth = p->pack->status == TROD_OK;
    pthread_mutex_unlock(&c->lock);
    if (worth)
        compress(t, p);
    pthread_mutex_lock(&c->lock);
    p->done = true;
    deliver(c, p->pack);
}

static void *work(void *user)
{
    struct worker *w = user;
    struct trod_crew *c = w->crew;

    pthread_mutex_lock(&c->lock);
    for (;;) {
        c->idle++;
        while (!c->first && !c->end)
            pthread_cond_wait(&c->work, &c->lock);
        c->idle--;
        if (!c->first)
            break;
        do_one(c, &w->tool);
    }
    pthread_mutex_unlock(&c->lock);
    tool_close(&w->tool);
    return NULL;
}

static bool start(struct trod_crew *c)
{
    struct worker *w = &c->worker[c->n];
    bool started;

    w->crew = c;
    started = trod_thread_start(&w->thread, work, w);
    c->n += started;
    return started;
}

/* With no threads at all those who give pieces compress them. */
static int crew_new(struct trod_crew **out, unsigned threads)
{
    struct trod_crew *c = calloc(1, sizeof *c);

    *out = NULL;
    if (!c)
        return TROD_ERR_NOMEM;
    c->most = threads < TROD_CREW_MOST ? threads : TROD_CREW_MOST;
    c->worker = calloc(c->most + 1, sizeof *c->worker);
    c->last = &c->first;
    if (!c->worker || pthread_mutex_init(&c->lock, NULL) != 0) {
        free(c->worker);
        free(c);
        return TROD_ERR_NOMEM;
    }
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->turn, NULL);
    *out = c;
    return TROD_OK;
}

int trod_crew_new(struct trod_crew **out, unsigned threads)
{
    return crew_new(out, threads ? threads : trod_processors());
}

static void piece_free(struct piece *p)
{
    if (!p)
        return;
    free(p->in);
    trod_buf_fini(&p->packed);
    free(p);
}

void trod_crew_free(struct trod_crew *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->end = true;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    for (unsigned i = 0; i < c->n; i++)
        pthread_join(c->worker[i].thread, NULL);
    while (c->free) {
        struct piece *p = c->free;

        c->free = p->next;
        piece_free(p);
    }
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->work);
    pthread_cond_destroy(&c->turn);
    free(c->worker);
    free(c);
}

/* --- a pack --- */

int trod_pack_new(struct trod_pack **out, const struct trod_filter *f, int level,
                  struct trod_crew *crew, struct trod_sink *sink)
{
    struct trod_pack *p = calloc(1, sizeof *p);
    int status = TROD_OK;

    *out = NULL;
    if (!p)
        return trod_fault_nomem(sink->fault, "an output filter");
    p->filter = f;
    p->level = level;
    p->piece = f->enc_piece(level);
    p->sink = sink;
    p->last = &p->first;
    p->tool = (struct tool){f, level, NULL};
    p->crew = crew;
    p->own = !crew;
    if (!crew && crew_new(&p->crew, 0) < 0)
        status = trod_fault_nomem(sink->fault, "an output filter");
    if (status == TROD_OK && f->archive)
        status = f->archive->open(&p->archive, f->archive, sink->fault);
    /* what cannot be compressed at all is said at once */
    if (status == TROD_OK && f->enc_open(&p->tool.state, level, sink->fault) != TROD_OK) {
        p->tool.state = NULL;
        status = sink->fault->status;
    }
    if (status != TROD_OK) {
        trod_pack_free(p);
        return status;
    }
    *out = p;
    return TROD_OK;
}

/* A piece to be filled, with all its memory. */
static int get_piece(struct trod_pack *p)
{
    const size_t cap = p->piece + TROD_WINDOW;
    struct piece *q;

    pthread_mutex_lock(&p->crew->lock);
    q = p->crew->free;
    if (q)
        p->crew->free = q->next;
    pthread_mutex_unlock(&p->crew->lock);
    if (!q)
        q = calloc(1, sizeof *q);
    if (q && q->cap < cap) {
        free(q->in);
        q->in = malloc(cap);
        q->cap = q->in ? cap : 0;
    }
    if (!q || !q->in) {
        piece_free(q);
        return trod_fault_nomem(p->sink->fault, "an output filter");
    }
    q->pack = p;
    q->next = q->next_to_do = NULL;
    q->n = q->packed.n = 0;
    q->part[0] = '\0';
    q->ends = q->done = false;
    q->fault.status = TROD_OK;
    p->filling = q;
    return TROD_OK;
}

/*
 * Q to the crew, which is not given more than it can do soon. LAST: who gives it waits for it, and
 * no thread is started for it.
 */
static void give(struct trod_pack *p, struct piece *q, bool last)
{
    struct trod_crew *c = p->crew;

    pthread_mutex_lock(&c->lock);
    while (c->busy >= c->most + SPARE)
        pthread_cond_wait(&c->turn, &c->lock);
    c->busy++;
    *p->last = *c->last = q;
    p->last = &q->next;
    c->last = &q->next_to_do;
    if (c->idle == 0 && c->n < c->most && !last)
        start(c);
    if (c->n == 0)
        do_one(c, &p->tool);
    else
        pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->lock);
}

/*
 * What is being filled is a piece; what it has too much begins the next one. ENDS: with it the part
 * does, and LAST: who gives it waits for it.
 */
static int hand_on(struct trod_pack *p, bool ends, bool last)
{
    struct piece *q = p->filling;
    const size_t more = q->n > p->piece ? q->n - p->piece : 0;
    int status = TROD_OK;

    p->filling = NULL;
    if (more) {
        status = get_piece(p);
        if (status != TROD_OK) {
            piece_free(q);
            return status;
        }
        memcpy(p->filling->in, q->in + p->piece, more);
        p->filling->n = more;
        q->n = p->piece;
    }
    if (p->archive && !p->open && !q->part[0])
        memcpy(q->part, first_part, sizeof first_part);
    p->open = p->archive && !(ends && !more);
    q->ends = ends && !more;
    p->any = true;
    give(p, q, last && !more);
    return more && (ends || last) ? hand_on(p, ends, last) : TROD_OK;
}

/* The error of what was given before. */
static int status_of(const struct trod_pack *p)
{
    int status;

    pthread_mutex_lock(&p->crew->lock);
    status = p->status;
    pthread_mutex_unlock(&p->crew->lock);
    return status;
}

int trod_pack_room(struct trod_pack *p, size_t min, struct trod_room *room)
{
    int status = TROD_OK;
    size_t n, to;

    /* not before there is a byte of the next one: where pieces end does not depend on the calls */
    if (p->filling && p->filling->n > p->piece) {
        status = hand_on(p, false, false);
        if (status == TROD_OK)
            status = status_of(p);
    }
    if (status == TROD_OK && !p->filling)
        status = get_piece(p);
    if (status != TROD_OK)
        return status;
    n = p->filling->n;
    to = n + (min ? min : 1);
    *room = (struct trod_room){.p = p->filling->in + n,
                               .end = p->filling->in + (to > p->piece ? to : p->piece)};
    return TROD_OK;
}

void trod_pack_advance(struct trod_pack *p, size_t n)
{
    p->filling->n += n;
}

int trod_pack_part(struct trod_pack *p, const char *name)
{
    int status = TROD_OK;

    if (!p->archive)
        return TROD_OK;
    if (!p->filling)
        status = get_piece(p);
    if (status == TROD_OK && (p->open || p->filling->n || p->filling->part[0])) {
        status = hand_on(p, true, false);
        if (status == TROD_OK)
            status = get_piece(p);
    }
    if (status != TROD_OK)
        return status;
    memset(p->filling->part, 0, sizeof p->filling->part);
    memcpy(p->filling->part, name, strnlen(name, sizeof p->filling->part - 1));
    return status_of(p);
}

/* Wait until all pieces are written, and compress with the others meanwhile. */
static int all_written(struct trod_pack *p)
{
    struct trod_crew *c = p->crew;
    int status;

    pthread_mutex_lock(&c->lock);
    while (p->first) {
        if (c->first)
            do_one(c, &p->tool);
        else
            pthread_cond_wait(&c->turn, &c->lock);
    }
    status = p->status;
    if (p->filling) {
        p->filling->next = c->free;
        c->free = p->filling;
        p->filling = NULL;
    }
    pthread_mutex_unlock(&c->lock);
    tool_close(&p->tool);
    return status;
}

int trod_pack_drain(struct trod_pack *p)
{
    int status = TROD_OK;

    if (p->filling && (p->filling->n || p->filling->part[0]))
        status = hand_on(p, false, true);
    if (status == TROD_OK)
        status = all_written(p);
    return status;
}

int trod_pack_finish(struct trod_pack *p)
{
    const bool begun = p->filling && (p->filling->n || p->filling->part[0]);
    int status = TROD_OK;

    /* an empty stream is one; an archive may have no parts */
    if (!p->filling && (p->open || (!p->archive && !p->any)))
        status = get_piece(p);
    if (status == TROD_OK && p->filling && (begun || p->open || (!p->archive && !p->any)))
        status = hand_on(p, true, true);
    if (status == TROD_OK)
        status = all_written(p);
    if (status == TROD_OK && p->archive)
        status = p->filter->archive->finish(p->archive, p->sink);
    return status;
}

void trod_pack_free(struct trod_pack *p)
{
    if (!p)
        return;
    if (p->crew) {
        pthread_mutex_lock(&p->crew->lock);
        if (p->status == TROD_OK)
            p->status = TROD_ERR_IO; /* what waits to be written is not worth it any more */
        pthread_mutex_unlock(&p->crew->lock);
        all_written(p);
    }
    tool_close(&p->tool);
    if (p->archive)
        p->filter->archive->close(p->archive);
    if (p->own)
        trod_crew_free(p->crew);
    free(p);
}
