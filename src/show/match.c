/*
 * match.c - choosing rows by number, kind, address, pc, time, cpu or thread. Implements
 * trod/match.h.
 */
#include "trod/match.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "trod/detail.h"
#include "trod/format.h"
#include "trod/writer.h"

struct trod_match {
    const struct trod_match_options *filter;
    uint32_t kinds;      /* bit by kind */
    bool fetches, named; /* fetches on a bus, records by their names were asked for */
    struct trod_range without[TROD_LIST_MAX]; /* filter->without_pc */
    uint8_t *stream;                          /* by stream: 1 wanted, 0 not */
    uint32_t n_streams;                       /* streams judged so far */
    uint64_t seen;                            /* rows so far */
    bool single;    /* the trace is one file: its instruction numbers rise */
    bool all, done; /* nothing is filtered out; nothing more can match */
    uint8_t keep[TROD_BATCH_ROWS];
};

#define AT(field) offsetof(struct trod_match_options, field)

const struct trod_option trod_match_option_table[] = {
    {"range", 'r', TROD_OPT_RANGE, AT(range), "A..B",
     "records A to B, counted from 0; reading stops after B", NULL, NULL},
    {"instructions", 0, TROD_OPT_RANGE, AT(instructions), "A..B",
     "records of instructions A to B, as the trace numbers them (in each file from 1)", NULL, NULL},
    {"kind", 'k', TROD_OPT_LIST, AT(kinds), "KIND,...",
     "records of these kinds: INSTR, READ, WRITE, REG, ...; MEMORY is READ, WRITE and ATOMIC, "
     "FETCH "
     "what a bus fetches of code; or the format's own word: D_WRITE, SYNC_WAIT, timestamp",
     NULL, NULL},
    {"address", 'a', TROD_OPT_RANGE, AT(address), "LO..HI",
     "records that touch these addresses (virtual if they have one, else physical)", NULL, NULL},
    {"pc", 0, TROD_OPT_RANGE, AT(pc), "LO..HI", "records of instructions at these addresses", NULL,
     NULL},
    {"without-pc", 0, TROD_OPT_LIST, AT(without_pc), "LO..HI,...",
     "leave out records of instructions at these addresses: of functions, say", NULL, NULL},
    {"time", 't', TROD_OPT_RANGE, AT(time), "A..B",
     "records at these times, in the trace's unit without decimals", NULL, NULL},
    {"stream", 's', TROD_OPT_LIST, AT(streams), "NAME,...",
     "records of these cpus or threads: a name, a thread id, or #N as trod info numbers them", NULL,
     NULL},
    {.type = TROD_OPT_END},
};

/* Is NAME what some format calls records of its own? */
static bool is_record_name(const char *name)
{
    const struct trod_format *f;

    for (size_t i = 0; (f = trod_format_at(i)); i++)
        for (unsigned sub = 0; f->sub_name && sub < f->subs; sub++)
            for (unsigned kind = 0; kind < TROD_KINDS; kind++) {
                const char *s = f->sub_name(kind, sub);

                if (s && strcasecmp(s, name) == 0)
                    return true;
            }
    return false;
}

static int add_kind(struct trod_match *m, const char *name, struct trod_diag *diag)
{
    const char *names[TROD_KINDS], *near;
    int kind = trod_kind_find(name, strlen(name));

    if (kind >= 0) {
        m->kinds |= 1u << kind;
        m->named |= is_record_name(name); /* FLUSH and SYNC are byu12's markers too */
        return 0;
    }
    if (strcmp(name, "MEMORY") == 0 || strcmp(name, "memory") == 0) {
        m->kinds |= 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC;
        return 0;
    }
    if (strcasecmp(name, "FETCH") == 0) {
        m->fetches = true;
        return 0;
    }
    if (is_record_name(name)) {
        m->named = true;
        return 0;
    }
    for (unsigned i = 0; i < TROD_KINDS; i++)
        names[i] = trod_kind_name(i);
    near = trod_suggest(name, strlen(name), names, TROD_KINDS);
    return trod_error(diag, TROD_ERR_USAGE, "filter.kind", NULL,
                      "option '--kind': no records are called '%s'%s%s%s", name,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int set(struct trod_match *m, struct trod_diag *diag)
{
    const struct trod_match_options *f = m->filter;

    for (size_t i = 0; i < f->kinds.n; i++) {
        int r = add_kind(m, f->kinds.item[i], diag);

        if (r != 0)
            return r;
    }
    for (size_t i = 0; i < f->without_pc.n; i++)
        if (trod_option_range(f->without_pc.item[i], &m->without[i]) != 0)
            return trod_error(diag, TROD_ERR_USAGE, "filter.range", NULL,
                              "option '--without-pc': '%s' is no range LO..HI",
                              f->without_pc.item[i]);
    m->all = !f->without_pc.n && !f->range.set && !f->instructions.set && !f->address.set &&
             !f->pc.set && !f->time.set && !f->kinds.n && !f->streams.n;
    return 0;
}

int trod_match_new(struct trod_match **out, const struct trod_match_options *opt,
                   struct trod_diag *diag)
{
    struct trod_match *m = calloc(1, sizeof *m);
    int r;

    *out = NULL;
    if (!m)
        return TROD_ERR_NOMEM;
    m->filter = opt;
    r = set(m, diag);
    if (r == 0)
        *out = m;
    else
        trod_match_free(m);
    return r;
}

void trod_match_free(struct trod_match *m)
{
    if (m)
        free(m->stream);
    free(m);
}

void trod_match_single(struct trod_match *m)
{
    m->single = true;
}

const uint8_t *trod_match_keep(const struct trod_match *m)
{
    return m->keep;
}

bool trod_match_all(const struct trod_match *m)
{
    return m->all;
}

bool trod_match_done(const struct trod_match *m)
{
    return m->done;
}

uint64_t trod_match_seen(const struct trod_match *m)
{
    return m->seen;
}

uint32_t trod_match_want(const struct trod_match *m)
{
    const struct trod_match_options *f = m->filter;

    return (m->kinds ? TROD_COL_KIND : 0u) |
           (m->fetches || m->named ? TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SUB : 0u) |
           (f->address.set
                ? TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_SIZE | TROD_COL_FLAGS | TROD_COL_DETAIL
                : 0u) |
           (f->instructions.set ? TROD_COL_INDEX : 0u) |
           (f->pc.set || f->without_pc.n ? TROD_COL_PC : 0u) | (f->time.set ? TROD_COL_TIME : 0u) |
           (f->streams.n ? TROD_COL_STREAM : 0u);
}

uint32_t trod_match_rows(const struct trod_match *m)
{
    const struct trod_range *r = &m->filter->range;

    return r->set && r->hi < TROD_BATCH_ROWS ? (uint32_t)r->hi + 1 : 0;
}

uint32_t trod_match_drops(const struct trod_match *m)
{
    const uint32_t data = 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC |
                          1u << TROD_PREFETCH | 1u << TROD_FLUSH;
    const struct trod_match_options *f = m->filter;
    uint32_t drops = 0;

    if (f->address.set || f->pc.set || f->without_pc.n)
        drops |= TROD_DROP_INSTR | TROD_DROP_DATA;
    if (f->kinds.n && !(m->kinds & 1u << TROD_INSTR))
        drops |= TROD_DROP_INSTR;
    if (f->kinds.n && (m->kinds & data) != data)
        drops |= TROD_DROP_DATA;
    if (f->kinds.n || f->streams.n)
        drops |= TROD_DROP_OTHER;
    if (f->range.set || f->time.set || f->instructions.set)
        drops |= TROD_DROP_SPAN;
    return drops;
}

/* Is stream I of META the one that ITEM means? */
static bool is_stream(const struct trod_meta *meta, uint32_t i, const char *item)
{
    const struct trod_stream *s = &meta->streams[i];
    uint64_t number, named;
    char name[24];

    if (item[0] == '#')
        return trod_option_number(item + 1, &number) == 0 && number == i;
    if (s->name_len && strlen(item) == s->name_len && memcmp(s->name, item, s->name_len) == 0)
        return true;
    if (trod_option_number(item, &number) != 0)
        return false;
    if (s->tid != TROD_NOWHERE)
        return number == s->tid;
    /* a name that is a number is meant by its name alone */
    if (s->name_len && s->name_len < sizeof name) {
        memcpy(name, s->name, s->name_len);
        name[s->name_len] = 0;
        if (trod_option_number(name, &named) == 0)
            return false;
    }
    return number == i;
}

/* Judge the streams that have come up since the last batch. */
static int judge_streams(struct trod_match *m, const struct trod_meta *meta)
{
    const struct trod_list *list = &m->filter->streams;
    uint8_t *p;

    if (m->n_streams == meta->n_streams)
        return 0;
    p = realloc(m->stream, meta->n_streams);
    if (!p)
        return TROD_ERR_NOMEM;
    m->stream = p;
    for (uint32_t i = m->n_streams; i < meta->n_streams; i++) {
        p[i] = 0;
        for (size_t k = 0; k < list->n; k++)
            p[i] |= is_stream(meta, i, list->item[k]);
    }
    m->n_streams = meta->n_streams;
    return 0;
}

static bool has(const struct trod_batch *b, uint32_t i, uint32_t column)
{
    return b->have & b->has[i] & column;
}

static bool in_range(const struct trod_range *r, uint64_t v)
{
    return v >= r->lo && v <= r->hi;
}

/* Of the bytes that a row of byu6 touches, which are not neighbours, is one in R? */
static bool touches_some(const struct trod_detail_byu6 *d, uint64_t addr,
                         const struct trod_range *r)
{
    for (unsigned k = 0; k < 8; k++)
        if (!(d->enables >> k & 1) && in_range(r, (addr & ~UINT64_C(7)) + k))
            return true;
    return false;
}

static bool touches(const struct trod_batch *b, uint32_t i, const struct trod_range *r)
{
    uint64_t at, size = has(b, i, TROD_COL_SIZE) && b->size[i] ? b->size[i] : 1;

    if (has(b, i, TROD_COL_ADDR))
        at = b->addr[i];
    else if (has(b, i, TROD_COL_PADDR))
        at = b->paddr[i];
    else
        return false;
    if (has(b, i, TROD_COL_FLAGS) && (b->flags[i] & TROD_F_HOLES) && trod_batch_detail(b, i))
        return touches_some(trod_batch_detail(b, i), at, r);
    return at <= r->hi && (at + size - 1 >= r->lo || at + size - 1 < at);
}

/* Is row I of a kind that was asked for, or of a record called so? */
static bool of_kind(const struct trod_match *m, const struct trod_batch *b, uint32_t i)
{
    const struct trod_format *f = b->meta ? b->meta->driver : NULL;
    const char *name;

    if (m->kinds >> b->kind[i] & 1)
        return true;
    if (m->fetches && b->kind[i] == TROD_BUS && has(b, i, TROD_COL_FLAGS) &&
        (b->flags[i] & TROD_F_IFETCH))
        return true;
    if (!m->named || !f || !f->sub_name || !has(b, i, TROD_COL_SUB) ||
        !(name = f->sub_name(b->kind[i], b->sub[i])))
        return false;
    for (size_t k = 0; k < m->filter->kinds.n; k++)
        if (strcasecmp(m->filter->kinds.item[k], name) == 0)
            return true;
    return false;
}

/* Is row I of an instruction that is left out? */
static bool is_without(const struct trod_match *m, const struct trod_batch *b, uint32_t i)
{
    for (size_t k = 0; k < m->filter->without_pc.n && has(b, i, TROD_COL_PC); k++)
        if (in_range(&m->without[k], b->pc[i]))
            return true;
    return false;
}

static bool matches(const struct trod_match *m, const struct trod_batch *b, uint32_t i)
{
    const struct trod_match_options *f = m->filter;

    if (f->kinds.n && !of_kind(m, b, i))
        return false;
    if (f->address.set && !touches(b, i, &f->address))
        return false;
    if (f->instructions.set &&
        !(has(b, i, TROD_COL_INDEX) && in_range(&f->instructions, b->index[i])))
        return false;
    if (f->pc.set && !(has(b, i, TROD_COL_PC) && in_range(&f->pc, b->pc[i])))
        return false;
    if (f->without_pc.n && is_without(m, b, i))
        return false;
    if (f->time.set && !(has(b, i, TROD_COL_TIME) && in_range(&f->time, b->time[i])))
        return false;
    return !f->streams.n ||
           (has(b, i, TROD_COL_STREAM) && b->stream[i] < m->n_streams && m->stream[b->stream[i]]);
}

int trod_match_batch(struct trod_match *m, const struct trod_batch *b)
{
    const struct trod_range *r = &m->filter->range;
    const struct trod_range *in = &m->filter->instructions;
    /* what the trace was told to skip is not seen, but counts */
    uint64_t first = b->first > m->seen ? b->first : m->seen;
    int n = 0;

    m->seen = first + b->n;
    if (m->all) {
        memset(m->keep, 1, b->n);
        return (int)b->n;
    }
    m->done = (r->set && m->seen > r->hi) ||
              (in->set && m->single && b->n && has(b, b->n - 1, TROD_COL_INDEX) &&
               b->index[b->n - 1] > in->hi);
    if (m->filter->streams.n && judge_streams(m, b->meta) != 0)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < b->n; i++) {
        m->keep[i] = (!r->set || in_range(r, first + i)) && matches(m, b, i);
        n += m->keep[i];
    }
    return n;
}
