/*
 * zip_ahead.c - members of an archive that threads decode while those before them are read.
 *
 * Who reads an archive in order waits mostly for one thread that inflates. Here further threads
 * begin the members behind the one being read, each up to MOST bytes. The reader goes on from
 * where they got; of a member in which anything is wrong it takes nothing, and decodes it itself,
 * so that what is said of damage is the same with and without threads.
 */
#include "zip_int.h"

#include "core/spare.h"
#include "thread.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST = 1 << 26,      /* bytes decoded ahead of one member */
    THREADS = 3,         /* who consumes the bytes takes as long as so many threads inflate */
    FAR = 16,            /* members behind the one being read that are looked at */
    PIECE = 1 << 18,     /* bytes decoded at a time: what the caches hold */
    LEAST = 1 << 20,     /* bytes of a member worth a thread */
    START_FROM = 1 << 22 /* bytes read in order before members are begun: some read but the head */
};

/* A thread, and what it made of a member. */
struct slot {
    struct trod_zip_member member;    /* without its name */
    const struct trod_zip_list *list; /* which has it */
    size_t number;                    /* of the member; SIZE_MAX: the slot is free */
    bool running;
    atomic_bool quit;
    pthread_t thread;
    struct zip_decoder dec;
    struct trod_fault fault;
    uint8_t *buf;
    size_t n, given; /* bytes made, and those of them that the reader has taken */
    bool ends, odd;  /* the member ends behind them; something is wrong with it */
};

struct zip_ahead {
    unsigned n;
    uint64_t from;        /* byte of the decoded stream from which on it is read in order */
    struct slot *adopted; /* of the member being read; NULL: it has none */
    struct slot slot[THREADS];
};

/* Decode as much of the member of S as there is room for. */
static void *run(void *user)
{
    struct slot *s = user;
    struct zip_decoder *d = &s->dec;
    const char *why;

    s->odd = !zip_agrees(&d->in, s->list, s->number);
    if (s->odd)
        return NULL;
    s->odd = zip_decode_begin(d, &s->member) < 0;
    while (!s->odd && !s->ends && s->n < MOST && !atomic_load(&s->quit)) {
        size_t made = MOST - s->n < PIECE ? MOST - s->n : PIECE;
        const enum zip_step did = zip_decode(d, &s->member, s->buf + s->n, &made, &why);

        s->n += made;
        s->ends = did == ZIP_ENDS;
        s->odd = did != ZIP_ENDS && did != ZIP_GOES_ON;
    }
    return NULL;
}

static void stop(struct slot *s)
{
    if (!s->running)
        return;
    atomic_store(&s->quit, true);
    pthread_join(s->thread, NULL);
    s->running = false;
}

static void let_go(struct slot *s)
{
    stop(s);
    s->number = SIZE_MAX;
}

/* Give S what it needs to decode a member of Z. False: no memory. */
static bool equip(struct slot *s, struct zip *z)
{
    struct trod_zip_bytes *in = &s->dec.in;

    if (!s->buf)
        s->buf = trod_spare_take(MOST);
    if (!in->buf) {
        *in = (struct trod_zip_bytes){.random = true, .cap = TROD_ZIP_BUFFER};
        in->buf = malloc(in->cap);
    }
    in->in = &z->inner;
    in->size = z->inner.size;
    in->fault = &s->fault;
    in->status = TROD_OK;
    return s->buf && in->buf &&
           (s->dec.codec || trod_zip_codec_new(&s->dec.codec, false) == TROD_OK);
}

/* A thread of S begins member NUMBER of Z. */
static void begin(struct slot *s, struct zip *z, size_t number)
{
    if (!equip(s, z))
        return;
    s->member = z->list.member[number];
    s->member.name = NULL;
    s->n = s->given = 0;
    s->ends = s->odd = false;
    atomic_store(&s->quit, false);
    s->list = &z->list;
    s->number = number;
    s->running = trod_thread_start(&s->thread, run, s);
    if (!s->running)
        s->number = SIZE_MAX;
}

/* Is M large enough for a thread of its own, and does it say how large it is? */
static bool suits(const struct trod_zip_member *m)
{
    return (m->method == TROD_ZIP_DEFLATE || m->method == TROD_ZIP_ZSTD) &&
           !(m->flags & ZIP_ENCRYPTED) && m->size != TROD_NOWHERE && m->size >= LEAST &&
           m->packed != TROD_NOWHERE;
}

static bool is_begun(const struct zip_ahead *a, size_t number)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->slot[i].number == number)
            return true;
    return false;
}

void zip_ahead_start(struct zip *z)
{
    struct zip_ahead *a = z->ahead;
    size_t number = z->next;

    if (z->scanning || z->delivered - a->from < START_FROM)
        return;
    for (unsigned i = 0; i < a->n; i++) {
        struct slot *s = &a->slot[i];

        if (s->number != SIZE_MAX)
            continue;
        while (number < z->list.n && number < z->next + FAR &&
               (is_begun(a, number) || !suits(&z->list.member[number])))
            number++;
        if (number >= z->list.n || number >= z->next + FAR)
            return;
        begin(s, z, number);
    }
}

void zip_ahead_adopt(struct zip *z)
{
    struct zip_ahead *a = z->ahead;
    const size_t number = z->next - 1;

    for (unsigned i = 0; i < a->n; i++) {
        struct slot *s = &a->slot[i];

        if (s->number == SIZE_MAX || (s->number > number && s->number < z->next + FAR))
            continue;
        stop(s);
        if (s->number == number && !s->odd && s->n) {
            const struct zip_decoder own = z->dec;

            z->dec = s->dec;
            z->dec.in.fault = own.in.fault;
            s->dec = own;
            a->adopted = s;
        } else {
            let_go(s);
        }
    }
}

static void drop(struct zip_ahead *a)
{
    if (a->adopted)
        let_go(a->adopted);
    a->adopted = NULL;
}

size_t zip_ahead_take(struct zip *z, uint8_t *out, size_t cap, bool *ends)
{
    struct slot *s = z->ahead->adopted;
    size_t n;

    if (!s)
        return 0;
    n = s->n - s->given < cap ? s->n - s->given : cap;
    memcpy(out, s->buf + s->given, n);
    s->given += n;
    if (s->given == s->n) {
        *ends = s->ends;
        drop(z->ahead);
        zip_ahead_start(z);
    }
    return n;
}

void zip_ahead_moved(struct zip *z)
{
    if (!z->ahead)
        return;
    drop(z->ahead);
    z->ahead->from = z->delivered;
}

void zip_ahead_free(struct zip_ahead *a)
{
    if (!a)
        return;
    for (unsigned i = 0; i < a->n; i++) {
        struct slot *s = &a->slot[i];

        let_go(s);
        trod_spare_give(s->buf, MOST);
        free(s->dec.in.buf);
        trod_zip_codec_free(s->dec.codec);
    }
    free(a);
}

void trod_zip_ahead(struct trod_source *s, unsigned threads)
{
    struct zip *z = s->archive;

    if (z->ahead || z->scanning || threads == 0 || !(z->ahead = calloc(1, sizeof *z->ahead)))
        return;
    z->ahead->n = threads < THREADS ? threads : THREADS;
    for (unsigned i = 0; i < z->ahead->n; i++)
        z->ahead->slot[i].number = SIZE_MAX;
}
