/*
 * ctf.c - the view "ctf": every row as an event of the Common Trace Format 1.8.
 *
 * Implements docs/exporting.md, "CTF"; document: Common Trace Format v1.8.3. A folder of the text
 * "metadata" and a file of packets a stream. Fields of events are packed (aligned to bytes),
 * numbers are little-endian. A file is opened for each packet, so that thousands of streams need no
 * more files than one.
 */
#include "export/ctf.h"
#include "core/endian.h"
#include "core/hash.h"
#include "export/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PACKET = 1 << 16, SMALL_PACKET = 1 << 13, MANY = 256, HEAD = 4 + 16 + 4 + 6 * 8 + 4 };

/* What a stream writes. */
struct file {
    struct trod_buf packet; /* with room for its head */
    uint64_t begin, now;    /* time of the packet's first event, of the last one */
    uint64_t packets;
    size_t untimed; /* the time of the last event of the packet without one; in it that before */
    bool timed;     /* a time was seen */
};

struct state {
    struct trod_export_context c;
    struct file *file; /* by stream */
    uint32_t n;
    uint64_t rows, held; /* rows whose time went back: that of the row before stands for it */
    uint64_t rounded;    /* rows whose time is no whole number of nanoseconds */
    uint8_t uuid[16];
    uint64_t epoch; /* taken off all times */
    uint8_t unit;
    bool timed; /* the format has times */
    bool known; /* unit and epoch are known */
};

/* drmemtrace counts from 1601, which is too far back for nanoseconds in 63 bits; so from 1970. */
static const uint64_t unix_epoch = UINT64_C(11644473600) * 1000000000;

static int init(void *st, const void *opt, const struct trod_export_context *c)
{
    struct state *s = st;
    uint64_t h = trod_fnv(TROD_FNV, c->source, strlen(c->source));

    (void)opt;
    s->c = *c;
    trod_store_le64(s->uuid, h);
    trod_store_le64(s->uuid + 8, trod_fnv(h, "trod", 4));
    s->unit = c->meta->unit;
    s->timed = c->meta->driver && c->meta->driver->reads & TROD_COL_TIME;
    return 0;
}

/* ---- packets */

static int failed(const struct state *s, const char *name)
{
    return trod_error(s->c.diag, TROD_ERR_IO, "export.ctf", NULL, "cannot write '%s': %s", name,
                      strerror(errno));
}

static int append(const struct state *s, const char *name, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    char path[4096];
    int fd, r = 0;

    if ((size_t)snprintf(path, sizeof path, "%s/%s", s->c.path, name) >= sizeof path) {
        errno = ENAMETOOLONG;
        return failed(s, name);
    }
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return failed(s, name);
    while (r == 0 && n > 0) {
        const ssize_t did = write(fd, p, n);

        if (did < 0 && errno == EINTR)
            continue;
        if (did < 0) {
            r = failed(s, name);
        } else {
            p += did;
            n -= (size_t)did;
        }
    }
    if (close(fd) < 0 && r == 0)
        r = failed(s, name);
    return r;
}

/* Events of F's packet that came before the first time get it. */
static void settle(struct file *f, uint64_t time)
{
    while (f->untimed) {
        uint8_t *p = f->packet.p + f->untimed;

        f->untimed = (size_t)trod_load_le64(p);
        trod_store_le64(p, time);
    }
    f->begin = time;
    f->timed = true;
}

/* Complete the head of the packet of STREAM and write it. */
static int end_packet(const struct state *s, uint32_t stream)
{
    struct file *f = &s->file[stream];
    uint8_t *p = f->packet.p;
    char name[24];
    int r;

    if (f->packet.n <= HEAD)
        return 0;
    if (!f->timed) {
        settle(f, 0);
        f->timed = false;
    }
    trod_store_le32(p, 0xC1FC1FC1);
    memcpy(p + 4, s->uuid, sizeof s->uuid);
    trod_store_le32(p + 20, 0);
    trod_store_le64(p + 24, f->begin);
    trod_store_le64(p + 32, f->now);
    trod_store_le64(p + 40, 8 * (uint64_t)f->packet.n);
    trod_store_le64(p + 48, 8 * (uint64_t)f->packet.n);
    trod_store_le64(p + 56, f->packets++);
    trod_store_le64(p + 64, 0);
    trod_store_le32(p + 72, stream);
    snprintf(name, sizeof name, "stream%u", (unsigned)stream);
    r = append(s, name, p, f->packet.n);
    f->packet.n = HEAD;
    f->untimed = 0;
    return r;
}

static struct file *file_of(struct state *s, uint32_t stream)
{
    if (stream >= s->n) {
        const uint32_t n = stream + stream / 2 + 16;
        struct file *p = realloc(s->file, n * sizeof *p);

        if (!p)
            return NULL;
        memset(p + s->n, 0, (n - s->n) * sizeof *p);
        s->file = p;
        s->n = n;
    }
    if (!s->file[stream].packet.p) {
        if (trod_buf_reserve(&s->file[stream].packet, SMALL_PACKET) != 0)
            return NULL;
        memset(s->file[stream].packet.p, 0, HEAD);
        s->file[stream].packet.n = HEAD;
    }
    return &s->file[stream];
}

/* ---- events */

static void put16(struct trod_buf *b, uint16_t v)
{
    trod_store_le16(b->p + b->n, v);
    b->n += 2;
}

static void put32(struct trod_buf *b, uint32_t v)
{
    trod_store_le32(b->p + b->n, v);
    b->n += 4;
}

static void put64(struct trod_buf *b, uint64_t v)
{
    trod_store_le64(b->p + b->n, v);
    b->n += 8;
}

static void put_bytes(struct trod_buf *b, const struct trod_batch *in, struct trod_slice s)
{
    put32(b, s.len);
    if (s.len)
        memcpy(b->p + b->n, trod_batch_bytes(in, s), s.len);
    b->n += s.len;
}

/* A text ends at its first NUL. */
static void put_string(struct trod_buf *b, const struct trod_batch *in, struct trod_slice s)
{
    const uint8_t *p = s.len ? trod_batch_bytes(in, s) : NULL;
    const uint8_t *nul = s.len ? memchr(p, 0, s.len) : NULL;
    const size_t n = nul ? (size_t)(nul - p) : s.len;

    if (n)
        memcpy(b->p + b->n, p, n);
    b->p[b->n + n] = 0;
    b->n += n + 1;
}

/* The address of the instruction that row I is, or belongs to. */
static bool pc_of(const struct state *s, const struct trod_batch *b, uint32_t i, uint64_t *pc)
{
    const uint32_t has = b->have & b->has[i];

    *pc = 0;
    if (has & TROD_COL_PC)
        *pc = b->pc[i];
    else if (b->kind[i] == TROD_INSTR && has & TROD_COL_ADDR)
        *pc = b->addr[i];
    else if (b->have & TROD_COL_SITE && b->site[i] != TROD_NO_SITE)
        *pc = trod_site_at(s->c.sites, b->site[i])->pc;
    else
        return false;
    return true;
}

/* The fields of row I, in the order of the layout of its kind (ctf_meta.c). */
static void put_fields(const struct state *s, struct trod_buf *out, const struct trod_batch *b,
                       uint32_t i)
{
    const uint32_t has = b->have & b->has[i];
    const struct trod_slice none = {0, 0};
    const enum ctf_layout layout = ctf_layout_of(b->kind[i]);
    uint64_t pc;
    const bool has_pc = pc_of(s, b, i, &pc);

    put32(out, (has & CTF_COLUMNS) | (has_pc ? TROD_COL_PC : 0u));
    put32(out, has & TROD_COL_FLAGS ? b->flags[i] : 0);
    put64(out, pc);
    put32(out, has & TROD_COL_SIZE ? b->size[i] : 0);
    if (layout == CTF_INSN) {
        put_bytes(out, b, has & TROD_COL_CODE ? b->code[i] : none);
        put_string(out, b, has & TROD_COL_TEXT ? b->text[i] : none);
        return;
    }
    if (layout != CTF_REG) {
        put64(out, has & TROD_COL_ADDR ? b->addr[i] : 0);
        put64(out, has & TROD_COL_PADDR ? b->paddr[i] : 0);
    }
    put64(out, has & TROD_COL_VALUE ? b->value[i] : 0);
    put_bytes(out, b, has & TROD_COL_DATA ? b->data[i] : none);
    if (layout == CTF_ACCESS)
        return;
    put_string(out, b, has & TROD_COL_TEXT ? b->text[i] : none);
    if (layout == CTF_OTHER) {
        put64(out, has & TROD_COL_TARGET ? b->target[i] : 0);
        put16(out, has & TROD_COL_SUB ? b->sub[i] : 0);
    }
}

/* The unit of the first time is that of the trace. */
static void learn(struct state *s, const struct trod_batch *b, uint32_t i)
{
    const struct trod_format *f = b->meta ? b->meta->driver : NULL;
    bool rounded;

    s->known = true;
    s->unit = export_unit(b, i);
    if (f && f->flags & TROD_FMT_TIMESTAMPS &&
        export_nanoseconds(s->unit, b->time[i], &rounded) >= unix_epoch)
        s->epoch = unix_epoch;
}

/* Go on to the time of row I, in nanoseconds; times do not go back in a stream. */
static void go_on(struct state *s, const struct trod_batch *b, uint32_t i, struct file *f)
{
    uint64_t t = s->rows;
    bool rounded;

    if (s->timed && !(b->have & b->has[i] & TROD_COL_TIME))
        return;
    if (s->timed) {
        if (!s->known)
            learn(s, b, i);
        t = export_nanoseconds(export_unit(b, i), b->time[i], &rounded);
        s->rounded += rounded;
        t = t < s->epoch ? 0 : t - s->epoch;
        t = t > INT64_MAX / 2 ? INT64_MAX / 2 : t; /* as much as readers count */
    }
    s->held += t < f->now;
    if (t > f->now)
        f->now = t;
    if (!f->timed)
        settle(f, f->now);
}

static int put_event(struct state *s, const struct trod_batch *b, uint32_t i)
{
    const uint32_t stream = trod_batch_stream(b, i), has = b->have & b->has[i];
    struct file *f = file_of(s, stream);
    size_t most = 128;

    if (!f)
        return TROD_ERR_NOMEM;
    most += has & TROD_COL_CODE ? b->code[i].len : 0;
    most += has & TROD_COL_DATA ? b->data[i].len : 0;
    most += has & TROD_COL_TEXT ? b->text[i].len : 0;
    if (f->packet.n + most > (s->n > MANY ? SMALL_PACKET : PACKET)) {
        const int r = end_packet(s, stream);

        if (r != 0)
            return r;
    }
    if (trod_buf_reserve(&f->packet, most) != 0)
        return TROD_ERR_NOMEM;
    go_on(s, b, i, f);
    if (f->packet.n == HEAD)
        f->begin = f->now;
    put16(&f->packet, b->kind[i]);
    put64(&f->packet, f->timed ? f->now : f->untimed);
    if (!f->timed)
        f->untimed = f->packet.n - 8;
    put_fields(s, &f->packet, b, i);
    s->rows++;
    return 0;
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    int r = 0;

    for (uint32_t i = from; r == 0 && i < to; i++)
        r = put_event(st, b, i);
    return r;
}

static int finish(void *st, const struct trod_meta *meta, struct trod_result *result)
{
    struct state *s = st;
    struct ctf_facts facts = {.source = s->c.source, .unit = s->unit, .timed = s->timed};
    struct trod_buf text = {0};
    uint64_t packets = 0;
    int r = 0;

    memcpy(facts.uuid, s->uuid, sizeof facts.uuid);
    for (uint32_t i = 0; r == 0 && i < s->n; i++) {
        r = end_packet(s, i);
        packets += s->file[i].packets;
    }
    if (r == 0)
        r = ctf_metadata(&text, &facts, meta);
    if (r == 0)
        r = append(s, "metadata", text.p, text.n);
    trod_buf_fini(&text);
    trod_result_u64(result, "events", s->rows);
    trod_result_u64(result, "packets", packets);
    trod_result_u64(result, "times_held", s->held);
    trod_result_u64(result, "times_rounded", s->rounded);
    export_report_rounded(s->c.diag, s->rounded);
    return r;
}

static void fini(void *st)
{
    struct state *s = st;

    for (uint32_t i = 0; i < s->n; i++)
        trod_buf_fini(&s->file[i].packet);
    free(s->file);
}

static const char *const suffixes[] = {".ctf", NULL};

const struct trod_export trod_view_ctf = {
    .name = "ctf",
    .title = "Common Trace Format 1.8: every row an event",
    .opens = "babeltrace2, Trace Compass",
    .leaves_out = "what no column has (fields in braces of trod view), how records were written, "
                  "times that go back",
    .suffixes = suffixes,
    .form = TROD_EXPORT_FOLDER,
    .state_size = sizeof(struct state),
    .needs = TROD_COL_KIND,
    .uses = CTF_COLUMNS | TROD_COL_UNIT | TROD_COL_SITE,
    .init = init,
    .feed = feed,
    .finish = finish,
    .fini = fini,
};
