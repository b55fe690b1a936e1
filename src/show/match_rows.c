/*
 * match_rows.c - matching: which rows of a batch are wanted. Implements trod/match.h, with match.c.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "show/match.h"

#include "core/origin.h"
#include "show/where/where_int.h"
#include "trod/detail.h"
#include "trod/format.h"

enum { TEXT_MAX = 4096 }; /* bytes of a text that a pattern is looked for in */

bool match_is_stream(const struct trod_meta *meta, uint32_t i, const char *item)
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
            p[i] |= match_is_stream(meta, i, list->item[k]);
    }
    m->n_streams = meta->n_streams;
    return 0;
}

static bool has(const struct trod_batch *b, uint32_t i, uint32_t column)
{
    return b->have & b->has[i] & column;
}

/* Rows that name no stream are of the first one. */
static bool of_stream(const struct trod_match *m, const struct trod_batch *b, uint32_t i)
{
    if (!has(b, i, TROD_COL_STREAM))
        return m->unnamed;
    return b->stream[i] < m->n_streams && m->stream[b->stream[i]];
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

bool match_touches(const struct match_ranges *r, const struct trod_batch *b, uint32_t i)
{
    uint64_t at, size = has(b, i, TROD_COL_SIZE) && b->size[i] ? b->size[i] : 1;

    if (has(b, i, TROD_COL_ADDR))
        at = b->addr[i];
    else if (has(b, i, TROD_COL_PADDR))
        at = b->paddr[i];
    else
        return false;
    if (has(b, i, TROD_COL_FLAGS) && (b->flags[i] & TROD_F_HOLES) && trod_batch_detail(b, i)) {
        for (size_t k = 0; k < r->n; k++)
            if (touches_some(trod_batch_detail(b, i), at, &r->at[k]))
                return true;
        return false;
    }
    for (size_t k = 0; k < r->n; k++)
        if (at <= r->at[k].hi && (at + size - 1 >= r->at[k].lo || at + size - 1 < at))
            return true;
    return false;
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

/* Is row I of an instruction in one of R? */
static bool is_at(const struct match_ranges *r, const struct trod_batch *b, uint32_t i)
{
    for (size_t k = 0; k < r->n && has(b, i, TROD_COL_PC); k++)
        if (in_range(&r->at[k], b->pc[i]))
            return true;
    return false;
}

static bool is_register(const struct trod_list *list, const struct trod_batch *b, uint32_t i)
{
    const char *name;

    if (b->kind[i] != TROD_REG || !has(b, i, TROD_COL_TEXT))
        return false;
    name = (const char *)trod_batch_bytes(b, b->text[i]);
    for (size_t k = 0; k < list->n; k++)
        if (strlen(list->item[k]) == b->text[i].len &&
            strncasecmp(list->item[k], name, b->text[i].len) == 0)
            return true;
    return false;
}

/* The disassembly of row I, an instruction that has no text; "" where there is none. */
static const char *disassembly(struct trod_match *m, const struct trod_batch *b, uint32_t i,
                               size_t *n)
{
    const struct trod_meta *meta = b->meta;
    unsigned iset = has(b, i, TROD_COL_FLAGS) ? (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT
                                              : TROD_ISET_NONE;

    *n = 0;
    if (b->kind[i] != TROD_INSTR || !has(b, i, TROD_COL_CODE) || b->code[i].len == 0)
        return "";
    if (!m->disasm_tried && meta->isa != TROD_ISA_UNKNOWN && meta->isa != TROD_ISA_REGDEPS) {
        m->disasm_tried = true;
        trod_disasm_new(&m->disasm, meta->isa, meta->endian, NULL);
    }
    if (!m->disasm)
        return "";
    return trod_disasm_text(m->disasm, iset, has(b, i, TROD_COL_ADDR) ? b->addr[i] : 0,
                            trod_batch_bytes(b, b->code[i]), b->code[i].len, n);
}

static bool text_matches(struct trod_match *m, const struct trod_batch *b, uint32_t i)
{
    char text[TEXT_MAX + 1];
    const char *p;
    size_t n;

    if (has(b, i, TROD_COL_TEXT) && b->text[i].len) {
        p = (const char *)trod_batch_bytes(b, b->text[i]);
        n = b->text[i].len;
    } else {
        p = disassembly(m, b, i, &n);
    }
    if (n == 0)
        return false;
    if (n > TEXT_MAX)
        n = TEXT_MAX;
    if (!show_literal_in(&m->literal, p, n))
        return false;
    memcpy(text, p, n);
    text[n] = 0;
    return regexec(&m->text, text, 0, NULL, 0) == 0;
}

static bool matches(struct trod_match *m, const struct trod_batch *b, uint32_t i)
{
    const struct trod_match_options *f = m->filter;

    if (f->kinds.n) {
        m->kinds_seen |= 1u << b->kind[i];
        if (!of_kind(m, b, i))
            return false;
    }
    if (m->address.n && !match_touches(&m->address, b, i))
        return false;
    if (f->instructions.set &&
        !(has(b, i, TROD_COL_INDEX) && in_range(&f->instructions, b->index[i])))
        return false;
    if (m->pc.n && !is_at(&m->pc, b, i))
        return false;
    if (m->without.n && is_at(&m->without, b, i))
        return false;
    if (f->time.set && !(has(b, i, TROD_COL_TIME) && in_range(&f->time, b->time[i])))
        return false;
    if (f->streams.n && !of_stream(m, b, i))
        return false;
    if (f->registers.n && !is_register(&f->registers, b, i))
        return false;
    return !m->has_text || text_matches(m, b, i);
}

int trod_match_may(struct trod_match *m, const struct trod_batch *b, uint8_t *keep)
{
    const uint32_t kinds = m->filter->kinds.n ? match_kinds(m) : UINT32_MAX;

    for (uint32_t i = 0; i < b->n; i++)
        keep[i] = (kinds >> b->kind[i] & 1) &&
                  (!m->filter->registers.n || is_register(&m->filter->registers, b, i)) &&
                  (!m->has_text || text_matches(m, b, i));
    return m->where && m->own_kinds && m->where->shapes
               ? trod_where_batch(m->where->shapes, b, 0, keep)
               : TROD_OK;
}

int trod_match_class(struct trod_match *m, const struct trod_batch *b, const uint8_t *flow,
                     uint8_t *keep)
{
    struct trod_where *w = m->where ? m->where->classes : NULL;
    int rc;

    if (m->filter->streams.n && judge_streams(m, b->meta) != 0)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < b->n; i++)
        keep[i] = (!m->filter->kinds.n || of_kind(m, b, i)) &&
                  (!m->filter->streams.n || of_stream(m, b, i));
    if (!w)
        return TROD_OK;
    w->flow = flow;
    rc = trod_where_batch(w, b, 0, keep);
    w->flow = NULL;
    return rc;
}

/* Row I matches: is it in the window of rows wanted? */
static bool in_window(struct trod_match *m)
{
    if (m->skip > 0) {
        m->skip--;
        return false;
    }
    if (m->take == 0)
        return false;
    if (m->take != UINT64_MAX)
        m->take--;
    return true;
}

int trod_match_batch(struct trod_match *m, const struct trod_batch *b)
{
    /* what the trace was told to skip is not seen, but counts */
    return trod_match_batch_at(m, b, b->first > m->seen ? b->first : m->seen);
}

int trod_match_batch_at(struct trod_match *m, const struct trod_batch *b, uint64_t first)
{
    const struct trod_range *r = &m->filter->range;
    const struct trod_range *in = &m->filter->instructions;
    int n = 0;

    m->seen = first + trod_origin_end(b) - b->first;
    if (m->all) {
        memset(m->keep, 1, b->n);
        return (int)b->n;
    }
    m->done = m->seen >= m->end || match_unnumbered(m, b->meta) || (r->set && m->seen > r->hi) ||
              (m->where && m->seen > trod_where_last(m->where)) ||
              (in->set && m->single && !(b->meta && b->meta->n_streams) && b->n &&
               has(b, b->n - 1, TROD_COL_INDEX) && b->index[b->n - 1] > in->hi);
    if (m->filter->streams.n && judge_streams(m, b->meta) != 0)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < b->n; i++)
        m->keep[i] =
            m->plain || ((!r->set || in_range(r, first + trod_origin_row(b, i) - b->first)) &&
                         matches(m, b, i));
    if (m->where && trod_where_batch(m->where, b, first, m->keep) < 0)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < b->n; i++) {
        m->found += m->keep[i];
        m->keep[i] = m->keep[i] && in_window(m);
        n += m->keep[i];
    }
    m->done |= m->take == 0;
    return n;
}
