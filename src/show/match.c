/*
 * match.c - options that choose rows: their meaning, and warnings about names that the trace does
 * not have.
 *
 * Implements trod/match.h, with match_rows.c.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/sized.h"
#include "show/match.h"
#include "show/where/where_int.h"
#include "trod/buf.h"
#include "trod/format.h"
#include "trod/writer.h"

enum { FEW = 1024 }; /* rows wanted that are worth smaller batches */

#define AT(field) offsetof(struct trod_match_options, field)

const struct trod_option trod_match_option_table[] = {
    {"range", 'r', TROD_OPT_RANGE, AT(range), "A..B",
     "rows A to B, counted from 0; reading stops after B", NULL, NULL},
    {"instructions", 0, TROD_OPT_RANGE, AT(instructions), "A..B",
     "rows of instructions A to B, as the trace numbers them (in each file from 1)", NULL, NULL},
    {"kind", 'k', TROD_OPT_LIST, AT(kinds), "KIND,...",
     "rows of these kinds: INSTR, READ, WRITE, REG, ...; MEMORY is READ, WRITE and ATOMIC, "
     "FETCH "
     "what a bus fetches of code; or the format's own word: D_WRITE, SYNC_WAIT, timestamp",
     NULL, NULL},
    {"address", 'a', TROD_OPT_LIST, AT(address), "LO..HI|NAME,...",
     "rows that touch these addresses (virtual if they have one, else physical); NAME: an "
     "object "
     "of --symbols",
     NULL, NULL},
    {"pc", 0, TROD_OPT_LIST, AT(pc), "LO..HI|NAME,...",
     "rows of instructions at these addresses; NAME: a function of --symbols", NULL, NULL},
    {"without-pc", 0, TROD_OPT_LIST, AT(without_pc), "LO..HI|NAME,...",
     "leave out rows of instructions at these addresses", NULL, NULL},
    {"time", 't', TROD_OPT_RANGE, AT(time), "A..B",
     "rows at these times, in the trace's unit without decimals", NULL, NULL},
    {"stream", 's', TROD_OPT_LIST, AT(streams), "NAME,...",
     "rows of these cpus or threads: a name, a thread id, or #N as trod info numbers them", NULL,
     NULL},
    {"register", 0, TROD_OPT_LIST, AT(registers), "NAME,...",
     "rows of these registers (kind REG), in upper or lower case", NULL, NULL},
    {"text", 0, TROD_OPT_STR, AT(text), "PATTERN",
     "rows whose text (disassembly, name) matches an extended regular expression", NULL, NULL},
    {"where", 0, TROD_OPT_STR, AT(where), "EXPRESSION",
     "rows for which EXPRESSION holds, as 'kind == WRITE && value == 42'; see trod-where(7)", NULL,
     NULL},
    {"symbols", 'S', TROD_OPT_LIST, AT(symbols), "ELF[@ADDRESS],...",
     "symbols of these files: names for --pc and --address, and a column of view; ADDRESS "
     "(position-independent files need it) is where the file's first segment lies in the trace; or "
     "of the files in a modules.log",
     NULL, NULL},
    {.type = TROD_OPT_END},
};

static uint32_t kinds_of(const struct trod_format *f, const char *name)
{
    uint32_t kinds = 0;

    for (unsigned sub = 0; f->sub_name && sub < f->subs; sub++)
        for (unsigned kind = 0; kind < TROD_KINDS; kind++) {
            const char *s = f->sub_name(kind, sub);

            if (s && strcasecmp(s, name) == 0)
                kinds |= 1u << kind;
        }
    return kinds;
}

uint32_t match_record_kinds(const struct trod_format *f, const char *name)
{
    uint32_t kinds = 0;

    if (f)
        return kinds_of(f, name);
    for (size_t i = 0; (f = trod_format_at(i)); i++)
        kinds |= kinds_of(f, name);
    return kinds;
}

bool match_is_record_name(const char *name)
{
    return match_record_kinds(NULL, name) != 0;
}

static int add_kind(struct trod_match *m, const char *name, struct trod_diag *diag)
{
    const char *names[TROD_KINDS], *near;
    int kind = trod_kind_find(name, strlen(name));

    m->kinds_named |= match_record_kinds(NULL, name);
    if (kind >= 0) {
        m->kinds |= 1u << kind;
        m->named |= match_is_record_name(name); /* FLUSH and SYNC are byu12's markers too */
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
    if (match_is_record_name(name)) {
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

/* ITEM of --OPTION: a range, or a symbol. */
static int add_range(struct trod_match *m, struct match_ranges *to, const char *option,
                     const char *item, struct trod_diag *diag)
{
    struct trod_range *r = &to->at[to->n];
    uint64_t at, size;

    if (trod_option_range(item, r) == 0) {
        to->n++;
        return 0;
    }
    if (!m->symbols)
        return trod_error(diag, TROD_ERR_USAGE, "filter.range", NULL,
                          "option '--%s': '%s' is no range LO..HI; names need --symbols ELF",
                          option, item);
    if (!trod_symbols_address(m->symbols, item, &at, &size))
        return trod_error(diag, TROD_ERR_USAGE, "filter.symbol", NULL,
                          "option '--%s': '%s' is no range LO..HI, and no symbol has that name",
                          option, item);
    *r = (struct trod_range){true, at, at + (size ? size - 1 : 0)};
    to->n++;
    return 0;
}

static int add_ranges(struct trod_match *m, struct match_ranges *to, const char *option,
                      const struct trod_list *list, struct trod_diag *diag)
{
    int r = 0;

    for (size_t i = 0; i < list->n && r == 0; i++)
        r = add_range(m, to, option, list->item[i], diag);
    return r;
}

static int open_symbols(struct trod_match *m, struct trod_diag *diag)
{
    const struct trod_list *list = &m->filter->symbols;
    const char *modules = m->filter->modules;
    int r = list->n || modules ? trod_symbols_new(&m->symbols) : 0;
    size_t added;

    for (size_t i = 0; i < list->n && r == 0; i++)
        r = trod_symbols_add(m->symbols, list->item[i], diag);
    if (r == 0 && modules)
        r = trod_symbols_modules(m->symbols, modules, &added, diag);
    return r;
}

static int set_text(struct trod_match *m, struct trod_diag *diag)
{
    char why[200];
    int r;

    if (!m->filter->text)
        return 0;
    r = regcomp(&m->text, m->filter->text, REG_EXTENDED | REG_NOSUB);
    if (r != 0) {
        regerror(r, &m->text, why, sizeof why);
        return trod_error(diag, TROD_ERR_USAGE, "filter.text", NULL, "option '--text': '%s': %s",
                          m->filter->text, why);
    }
    m->has_text = true;
    m->literal = show_literal_of(m->filter->text, false);
    return 0;
}

static int set_where(struct trod_match *m, struct trod_diag *diag)
{
    const struct trod_where_options opt = {.symbols = m->symbols};

    return m->filter->where ? trod_where_new(&m->where, m->filter->where, &opt, diag) : 0;
}

static int set(struct trod_match *m, struct trod_diag *diag)
{
    const struct trod_match_options *f = m->filter;
    int r = open_symbols(m, diag);

    m->take = m->end = UINT64_MAX;
    for (size_t i = 0; i < f->kinds.n && r == 0; i++)
        r = add_kind(m, f->kinds.item[i], diag);
    if (r == 0)
        r = add_ranges(m, &m->address, "address", &f->address, diag);
    if (r == 0)
        r = add_ranges(m, &m->pc, "pc", &f->pc, diag);
    if (r == 0)
        r = add_ranges(m, &m->without, "without-pc", &f->without_pc, diag);
    if (r == 0)
        r = set_text(m, diag);
    if (r == 0)
        r = set_where(m, diag);
    m->plain = !m->without.n && !f->range.set && !f->instructions.set && !m->address.n &&
               !m->pc.n && !f->time.set && !f->kinds.n && !f->streams.n && !f->registers.n &&
               !f->text;
    m->all = m->plain && !f->where;
    return r;
}

static bool is_first(const char *stream)
{
    return strcmp(stream, "#0") == 0;
}

int trod_match_new(struct trod_match **out, const struct trod_match_options *opt,
                   struct trod_diag *diag)
{
    struct trod_match *m = calloc(1, sizeof *m);
    int r;

    *out = NULL;
    if (!m)
        return TROD_ERR_NOMEM;
    m->filter = &m->own;
    r = trod_sized(&m->own, sizeof m->own, sizeof m->own, opt)
            ? set(m, diag)
            : trod_error(diag, TROD_ERR_USAGE, "match.options", NULL,
                         "options are of another version");
    for (size_t i = 0; r == 0 && i < m->own.streams.n; i++)
        m->unnamed |= is_first(m->own.streams.item[i]);
    if (r == 0)
        *out = m;
    else
        trod_match_free(m);
    return r;
}

void trod_match_free(struct trod_match *m)
{
    if (!m)
        return;
    if (m->has_text)
        regfree(&m->text);
    trod_where_free(m->where);
    trod_disasm_free(m->disasm);
    trod_symbols_free(m->symbols);
    free(m->stream);
    free(m);
}

struct trod_symbols *trod_match_symbols(const struct trod_match *m)
{
    return m->symbols;
}

void trod_match_window(struct trod_match *m, uint64_t skip, uint64_t take)
{
    m->skip = skip;
    m->take = take;
    if (skip > 0 || take < UINT64_MAX)
        m->all = false;
}

void trod_match_end(struct trod_match *m, uint64_t end)
{
    m->end = end;
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

uint64_t trod_match_found(const struct trod_match *m)
{
    return m->all ? m->seen : m->found;
}

bool trod_match_apart(const struct trod_match *m)
{
    return !m->filter->range.set && !m->filter->instructions.set && m->skip == 0 &&
           m->take == UINT64_MAX && (!m->where || where_apart(m->where));
}

void trod_match_join(struct trod_match *m, const struct trod_match *other)
{
    m->kinds_seen |= other->kinds_seen;
    m->found += other->found;
    if (m->seen < other->seen)
        m->seen = other->seen;
}

void trod_match_format(struct trod_match *m, const struct trod_format *f)
{
    m->own_kinds = true;
    for (size_t i = 0; i < m->filter->kinds.n; i++)
        m->own_kinds &= !match_record_kinds(f, m->filter->kinds.item[i]);
    for (size_t i = 0; m->where && i < m->where->n_tests; i++)
        for (size_t k = 0; m->where->test[i]->column == COL_KIND && k < m->where->test[i]->n; k++)
            m->own_kinds &= !match_record_kinds(f, m->where->test[i]->item[k]);
}

uint32_t match_kinds(const struct trod_match *m)
{
    return m->kinds | (m->own_kinds ? 0 : m->kinds_named) | (m->fetches ? 1u << TROD_BUS : 0);
}

void trod_match_need(const struct trod_match *m, struct trod_match_need *out)
{
    struct trod_match_need n = {.kinds = UINT32_MAX, .hi = UINT64_MAX};
    uint64_t lo = UINT64_MAX, hi = 0;

    if (m->where)
        n = match_need_both(n, m->own_kinds ? m->where->plain : m->where->need);
    if (m->filter->kinds.n)
        n.kinds &= match_kinds(m);
    if (m->filter->registers.n)
        n.kinds &= 1u << TROD_REG;
    for (size_t i = 0; i < m->address.n; i++) {
        lo = m->address.at[i].lo < lo ? m->address.at[i].lo : lo;
        hi = m->address.at[i].hi > hi ? m->address.at[i].hi : hi;
    }
    if (m->address.n)
        n = match_need_both(n, match_need_bytes(lo, hi));
    n = match_need_both(n, (struct trod_match_need){.kinds = UINT32_MAX,
                                                    .hi = UINT64_MAX,
                                                    .rows = m->filter->range,
                                                    .times = m->filter->time,
                                                    .numbers = m->filter->instructions});
    if (m->pc.n) {
        struct trod_match_spans pcs = {.set = true};

        for (size_t i = 0; i < m->pc.n; i++)
            match_spans_add(&pcs, m->pc.at[i].lo, m->pc.at[i].hi);
        n.pcs = match_spans_both(&n.pcs, &pcs);
    }
    n.owners = m->where && m->where->places && n.kinds & ~(1u << TROD_INSTR);
    *out = n;
}

bool trod_match_shapes(const struct trod_match *m)
{
    return m->has_text || m->filter->registers.n || (m->where && m->own_kinds && m->where->shapes);
}

bool trod_match_classes(const struct trod_match *m)
{
    return m->filter->streams.n || (m->filter->kinds.n && (m->named || m->fetches)) ||
           (m->where && m->where->classes &&
            (m->where->more || !m->own_kinds || m->where->exact & WHERE_CLASSES));
}

bool trod_match_exact(const struct trod_match *m)
{
    const unsigned classes = WHERE_CLASSES | WHERE_TIMES | WHERE_ADDRS,
                   values = WHERE_VALUES | WHERE_CLASSES | WHERE_TIMES,
                   lists = WHERE_LOOKS | WHERE_VALUES | WHERE_PCS;
    const struct trod_match_options *f = m->filter;
    unsigned parts = m->where ? m->where->exact : WHERE_ROWS;

    if (!parts || m->address.n || m->pc.n || m->without.n || f->instructions.set)
        return false;
    if (trod_match_shapes(m))
        parts |= WHERE_LOOKS;
    if (trod_match_classes(m))
        parts |= WHERE_CLASSES;
    if (f->time.set)
        parts |= WHERE_TIMES;
    if (!(parts & lists))
        return true;
    parts &= lists | classes;
    return m->own_kinds && ((parts & (parts - 1)) == 0 || parts == (WHERE_LOOKS | WHERE_CLASSES) ||
                            (parts & WHERE_VALUES && !(parts & ~values)));
}

void trod_match_jump(struct trod_match *m)
{
    if (m->where)
        where_forget(m->where);
}

bool trod_match_anywhere(const struct trod_match *m)
{
    return m->skip == 0 && m->take == UINT64_MAX;
}

uint32_t trod_match_want(const struct trod_match *m)
{
    const struct trod_match_options *f = m->filter;

    return (f->kinds.n ? TROD_COL_KIND : 0u) | (m->where ? trod_where_want(m->where) : 0u) |
           (m->fetches || m->named ? TROD_COL_FLAGS | TROD_COL_SUB : 0u) |
           (m->address.n
                ? TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_SIZE | TROD_COL_FLAGS | TROD_COL_DETAIL
                : 0u) |
           (f->instructions.set ? TROD_COL_INDEX : 0u) |
           (m->pc.n || m->without.n ? TROD_COL_PC : 0u) | (f->time.set ? TROD_COL_TIME : 0u) |
           (f->streams.n ? TROD_COL_STREAM : 0u) |
           (f->registers.n ? TROD_COL_KIND | TROD_COL_TEXT : 0u) |
           (m->has_text
                ? TROD_COL_KIND | TROD_COL_TEXT | TROD_COL_CODE | TROD_COL_ADDR | TROD_COL_FLAGS
                : 0u);
}

uint32_t trod_match_rows(const struct trod_match *m)
{
    const struct trod_range *r = &m->filter->range;

    if (r->set && r->hi < TROD_BATCH_ROWS)
        return (uint32_t)r->hi + 1;
    /* the first few rows of all */
    if (m->take < FEW && m->skip == 0 && !m->where && !m->filter->kinds.n && !m->filter->streams.n)
        return m->take ? (uint32_t)m->take : 1;
    return 0;
}

uint32_t trod_match_drops(const struct trod_match *m)
{
    const uint32_t data = 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC |
                          1u << TROD_PREFETCH | 1u << TROD_FLUSH;
    const struct trod_match_options *f = m->filter;
    uint32_t drops = 0;

    if (m->address.n || m->pc.n || m->without.n || m->has_text || m->skip)
        drops |= TROD_DROP_INSTR | TROD_DROP_DATA;
    if (m->where)
        drops |= TROD_DROP_INSTR | TROD_DROP_DATA | TROD_DROP_OTHER | TROD_DROP_SPAN;
    if (f->registers.n)
        drops |= TROD_DROP_INSTR | TROD_DROP_DATA | TROD_DROP_OTHER;
    if (f->kinds.n && !(m->kinds & 1u << TROD_INSTR))
        drops |= TROD_DROP_INSTR;
    if (f->kinds.n && (m->kinds & data) != data)
        drops |= TROD_DROP_DATA;
    if (f->kinds.n || f->streams.n || m->has_text)
        drops |= TROD_DROP_OTHER;
    if (m->skip || m->take < UINT64_MAX)
        drops |= TROD_DROP_SPAN;
    if (f->range.set || f->time.set || f->instructions.set)
        drops |= TROD_DROP_SPAN;
    return drops;
}

/* The kinds of MASK by name, separated by commas. */
static void put_kinds(struct trod_buf *b, uint32_t mask)
{
    for (unsigned i = 0; i < TROD_KINDS; i++)
        if (mask >> i & 1)
            trod_buf_printf(b, "%s%s", b->n ? ", " : "", trod_kind_name(i));
}

static void explain_kinds(const struct trod_match *m, struct trod_diag *diag)
{
    const uint32_t bus = 1u << TROD_BUS;
    struct trod_buf wanted = {0}, there = {0};

    for (size_t i = 0; i < m->filter->kinds.n; i++)
        trod_buf_printf(&wanted, "%s%s", i ? ", " : "", m->filter->kinds.item[i]);
    put_kinds(&there, m->kinds_seen);
    trod_warning(diag, TROD_OK, "filter.no-kind", NULL,
                 "no %.*s rows among the %llu read; there are %.*s%s", (int)wanted.n,
                 (const char *)wanted.p, (unsigned long long)m->seen, (int)there.n,
                 there.n ? (const char *)there.p : "",
                 m->kinds & 1u << TROD_BRANCH && m->kinds_seen & 1u << TROD_INSTR
                     ? " (branches are INSTR rows here; trod count counts them)"
                 : m->kinds_seen & bus ? " (accesses on a bus are BUS rows)"
                                       : "");
    trod_buf_fini(&wanted);
    trod_buf_fini(&there);
}

enum { STREAMS_NAMED = 8 };

/* ITEM of --stream named no stream. */
static void explain_stream(const char *item, const struct trod_meta *meta, struct trod_diag *diag)
{
    static const char none[] = "none";
    struct trod_buf b = {0};
    uint32_t shown = 0;

    for (uint32_t i = 0; i < meta->n_streams && shown < STREAMS_NAMED; i++) {
        const struct trod_stream *s = &meta->streams[i];

        if (s->name_len)
            trod_buf_printf(&b, "%s%.*s", shown++ ? ", " : "", (int)s->name_len, s->name);
        else if (s->tid != TROD_NOWHERE)
            trod_buf_printf(&b, "%s%llu", shown++ ? ", " : "", (unsigned long long)s->tid);
        else
            trod_buf_printf(&b, "%s#%u", shown++ ? ", " : "", i);
    }
    trod_warning(diag, TROD_OK, "filter.no-stream", NULL,
                 "no thread or cpu is called '%s'; there are %.*s%s", item,
                 (int)(b.n ? b.n : sizeof none - 1), b.n ? (const char *)b.p : none,
                 shown < meta->n_streams ? ", ..." : "");
    trod_buf_fini(&b);
}

bool match_unnumbered(const struct trod_match *m, const struct trod_meta *meta)
{
    return m->filter->instructions.set && meta && meta->driver &&
           !(meta->driver->reads & TROD_COL_INDEX);
}

void trod_match_explain(const struct trod_match *m, const struct trod_meta *meta,
                        struct trod_diag *diag)
{
    const struct trod_match_options *f = m->filter;
    bool told = match_unnumbered(m, meta);

    if (told)
        trod_warning(diag, TROD_OK, "filter.no-numbers", NULL,
                     "option '--instructions': format %s does not number instructions, and no row "
                     "has a number; trod view --at insn:N goes to the Nth one",
                     meta->driver->name);
    for (size_t k = 0; k < f->streams.n; k++) {
        bool any = meta->n_streams == 0 && is_first(f->streams.item[k]);

        for (uint32_t i = 0; i < meta->n_streams && !any; i++)
            any = match_is_stream(meta, i, f->streams.item[k]);
        if (!any)
            explain_stream(f->streams.item[k], meta, diag);
        told |= !any;
    }
    /* rows before those wanted may have been passed over */
    if (m->found > 0 || m->all ||
        (m->seen == 0 && !f->instructions.set && !(f->range.set && f->range.lo)) || told)
        return;
    if (f->kinds.n && !(m->kinds & m->kinds_seen))
        explain_kinds(m, diag);
    else if (m->seen == 0 || (m->single && f->instructions.set) ||
             m->end != UINT64_MAX) /* not all was read */
        trod_warning(diag, TROD_OK, "filter.nothing", NULL,
                     "none of the rows that were read matches the options that choose rows");
    else
        trod_warning(diag, TROD_OK, "filter.nothing", NULL,
                     "none of the %llu rows read matches the options that choose rows",
                     (unsigned long long)m->seen);
}
