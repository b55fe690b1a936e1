/*
 * cmd_who.c - `trod who`: the rows that write and read a register or memory, before and after a
 * place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "chain.h"
#include "chosen.h"
#include "dump.h"
#include "trod/put.h"

struct options {
    struct cli_common common;
    struct cli_input input;
    struct cli_report report;
    struct cli_nav_options where;
    const char *reg, *memory, *executes, *kind;
    const char *before, *after, *expression;
    uint64_t count;
    bool writes, reads;
    uint64_t chain;
    const char *dot;
};

static const struct trod_option options[] = {
    {.type = TROD_OPT_GROUP, .text = "What"},
    {"register", 'r', TROD_OPT_STR, offsetof(struct options, reg), "NAME",
     "who writes and reads this register or flag, by any of its names", NULL, NULL},
    {"memory", 'm', TROD_OPT_STR, offsetof(struct options, memory), "LO..HI|NAME",
     "who writes and reads a byte of this memory; NAME: an object of --symbols", NULL, NULL},
    {"executes", 'x', TROD_OPT_STR, offsetof(struct options, executes), "ADDRESS|NAME",
     "when the instruction at this address is executed; NAME: a function of --symbols", NULL, NULL},
    {"kind", 0, TROD_OPT_STR, offsetof(struct options, kind), "KIND",
     "where rows of this kind are: EXCEPTION, MARKER, SYNC, ... (see trod view --help)", NULL,
     NULL},
    {"before", 'b', TROD_OPT_STR, offsetof(struct options, before), "PLACE",
     "the last ones before this place: a row, line:N, time:T, insn:N, kind:NAME:K, marker:NAME:K, "
     "N%, start, end, "
     "ADDRESS:K or "
     "SYMBOL:K; the default where --after is not given: after the end",
     NULL, NULL},
    {"after", 'a', TROD_OPT_STR, offsetof(struct options, after), "PLACE",
     "the next ones after this place", NULL, NULL},
    {"count", 'n', TROD_OPT_U64, offsetof(struct options, count), "N",
     "so many of each, the nearest first (default: 1)", NULL, NULL},
    {"where", 0, TROD_OPT_STR, offsetof(struct options, expression), "EXPRESSION",
     "only rows for which EXPRESSION holds, as 'value == 42'; with --chain: the write that it "
     "begins "
     "with; see trod-where(7)",
     NULL, NULL},
    {"writes", 0, TROD_OPT_BOOL, offsetof(struct options, writes), NULL, "writes only", NULL, NULL},
    {"reads", 0, TROD_OPT_BOOL, offsetof(struct options, reads), NULL, "reads only", NULL, NULL},
    {"chain", 0, TROD_OPT_U64, offsetof(struct options, chain), "K",
     "where the value before the place came from: back through at most K moves, loads, stores and "
     "other instructions",
     NULL, NULL},
    {"dot", 0, TROD_OPT_STR, offsetof(struct options, dot), "FILE",
     "with --chain: write it to FILE in the DOT language too (see dot(1))", NULL, NULL},
    CLI_NAV_OPTIONS,
    CLI_INPUT_OPTIONS,
    CLI_REPORT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

#define NO_CHAIN UINT64_MAX

static const struct options defaults = {.count = 1, .chain = NO_CHAIN};

enum { MOST = 1 << 20 };

/* Answers of one kind, in one direction. */
struct part {
    const char *when, *what;
    struct trod_nav_hit *hit;
    size_t n;
};

struct who {
    struct cli_nav n;
    const struct options *o;
    struct trod_nav_query query;
    uint32_t kinds;   /* with --kind: a bit a kind that the rows may have */
    char *expression; /* for which answers hold; NULL: all of them are meant */
    uint64_t before;  /* row */
    struct part part[4];
    size_t parts;
    bool units_differ; /* times need their unit */
};

enum { CHUNK = 64 }; /* answers that are judged at a time, at first */

/* Those of N answers for which the expression holds, to P. */
static int choose(struct who *w, struct part *p, const struct trod_nav_hit *hit, size_t n,
                  bool back)
{
    uint64_t *row = calloc(n + 1, sizeof *row);
    uint8_t *holds = calloc(n + 1, 1);
    int r = row && holds ? 0 : TROD_ERR_NOMEM;

    for (size_t i = 0; r == 0 && i < n; i++)
        row[i] = hit[back ? n - 1 - i : i].row;
    if (r == 0)
        r = cli_chosen_rows(&w->n, w->expression, row, n, holds);
    for (size_t i = 0; r == 0 && i < n && p->n < w->o->count; i++)
        if (holds[back ? n - 1 - i : i])
            p->hit[p->n++] = hit[i];
    free(row);
    free(holds);
    return r;
}

/* The answers from ROW on for which the expression holds: more and more are asked for. */
static int ask_chosen(struct who *w, struct part *p, uint64_t row, bool back)
{
    size_t room = w->o->count < CHUNK ? CHUNK : (size_t)w->o->count, n = room;
    int r = 0;

    while (r == 0 && n == room && p->n < w->o->count) {
        struct trod_nav_hit *hit = calloc(room, sizeof *hit);

        r = hit ? trod_nav_find(w->n.nav, &w->query, row, back, hit, room, &n) : TROD_ERR_NOMEM;
        if (r == 0)
            r = choose(w, p, hit, n, back);
        if (r == 0 && n == room) {
            row = hit[n - 1].row;
            room = room < MOST / 4 ? 4 * room : MOST;
            n = room;
        }
        free(hit);
    }
    return r;
}

/* Where there are several kinds: those of row A come before those of row B, or behind. */
static int by_row(const void *a, const void *b)
{
    const uint64_t x = ((const struct trod_nav_hit *)a)->row,
                   y = ((const struct trod_nav_hit *)b)->row;

    return (x > y) - (x < y);
}

static int by_row_back(const void *a, const void *b)
{
    return by_row(b, a);
}

/* The answers for the query, to P, which has room for K. */
static int answers(struct who *w, struct part *p, uint64_t row, bool back, size_t k)
{
    p->n = 0;
    return w->expression ? ask_chosen(w, p, row, back)
                         : trod_nav_find(w->n.nav, &w->query, row, back, p->hit, k, &p->n);
}

/* The rows of all kinds that are meant: the nearest ones of each, and of these the nearest. */
static int ask_kinds(struct who *w, struct part *p, uint64_t row, bool back)
{
    const size_t k = (size_t)w->o->count;
    struct trod_nav_hit *all = calloc(2 * k, sizeof *all);
    size_t n = 0;
    int r = all ? 0 : TROD_ERR_NOMEM;

    for (unsigned kind = 0; r == 0 && kind < TROD_KINDS; kind++) {
        if (!(w->kinds >> kind & 1))
            continue;
        w->query.lo = w->query.hi = kind;
        r = answers(w, p, row, back, k);
        memcpy(all + n, p->hit, p->n * sizeof *all);
        n += p->n;
        qsort(all, n, sizeof *all, back ? by_row_back : by_row);
        n = n < k ? n : k;
    }
    if (r == 0) {
        memcpy(p->hit, all, n * sizeof *all);
        p->n = n;
    }
    free(all);
    return r;
}

static int ask(struct who *w, unsigned access, uint64_t row, bool back)
{
    struct part *p = &w->part[w->parts++];
    const size_t k = (size_t)w->o->count;

    p->when = back ? "before" : "after";
    p->what = access == TROD_NAV_WRITES  ? "writes"
              : access == TROD_NAV_READS ? "reads"
              : access == TROD_NAV_KIND  ? "is"
                                         : "executes";
    p->hit = calloc(k, sizeof *p->hit);
    if (!p->hit)
        return TROD_ERR_NOMEM;
    w->query.access = access;
    return access == TROD_NAV_KIND ? ask_kinds(w, p, row, back) : answers(w, p, row, back, k);
}

static int ask_all(struct who *w, uint64_t row, bool back)
{
    const struct options *o = w->o;
    int r = 0;

    if (o->executes || o->kind)
        return ask(w, o->kind ? TROD_NAV_KIND : TROD_NAV_VISITS, row, back);
    if (o->writes || !o->reads)
        r = ask(w, TROD_NAV_WRITES, row, back);
    if (r == 0 && (o->reads || !o->writes))
        r = ask(w, TROD_NAV_READS, row, back);
    return r;
}

static void hex_or_absent(struct trod_emit *e, bool there, uint64_t v)
{
    if (there)
        trod_emit_hex(e, NULL, v);
    else
        trod_emit_absent(e);
}

static void str_or_absent(struct trod_emit *e, bool there, const char *text)
{
    if (there)
        trod_emit_str(e, NULL, text);
    else
        trod_emit_absent(e);
}

/* A value of more than 64 bits is what the register or memory holds at its row. */
static int put_wide(struct who *w, struct trod_emit *e, const struct trod_nav_hit *h)
{
    const size_t n = h->size;
    struct trod_nav_byte *at = calloc(n, sizeof *at);
    uint8_t *value = calloc(2, n);
    char *text = malloc(2 * n + 3);
    struct trod_nav_state *s = NULL;
    size_t have = n;
    int r = at && value && text ? 0 : TROD_ERR_NOMEM;

    if (r == 0 && w->o->memory)
        r = trod_nav_memory(w->n.nav, h->row, h->addr, n, at);
    else if (r == 0)
        r = trod_nav_state(w->n.nav, h->row, h->stream, &s);
    for (size_t i = 0; r == 0 && w->o->memory && i < n; i++) {
        value[i] = at[i].value;
        value[n + i] = at[i].from == TROD_NAV_UNKNOWN ? 0 : 0xff;
    }
    if (r == 0 && s)
        (void)trod_nav_state_named(s, w->o->reg, value, value + n, n, &have);
    if (r == 0)
        trod_emit_str(e, NULL, cli_dump_number(text, value, value + n, have));
    trod_nav_state_free(s);
    free(at);
    free(value);
    free(text);
    return r;
}

/* Do the rows that were found have times of more than one unit, or other decimals? */
static bool units_differ(const struct who *w)
{
    const struct trod_nav_hit *first = NULL;

    for (size_t i = 0; i < w->parts; i++)
        for (size_t k = 0; k < w->part[i].n; k++) {
            const struct trod_nav_hit *h = &w->part[i].hit[k];

            if (h->has_time && first && h->unit != first->unit)
                return true;
            first = h->has_time ? h : first;
        }
    return false;
}

/* The number is enough for places (time:T) where all times count the same. */
static void put_time(const struct who *w, struct trod_emit *e, const struct trod_nav_hit *h)
{
    char text[TROD_PUT_U64 + 16 + TROD_UNIT_NAME + 16], *p = text;

    if (!h->has_time) {
        trod_emit_absent(e);
    } else if (!w->units_differ) {
        trod_emit_u64(e, NULL, h->time);
    } else {
        p = trod_put_fixed(p, h->time, trod_unit_decimals(h->unit));
        snprintf(p, sizeof text - (size_t)(p - text), " %s",
                 trod_meta_unit_name(trod_nav_meta(w->n.nav), h->unit));
        trod_emit_str(e, NULL, text);
    }
}

static int put_hit(struct who *w, struct trod_emit *e, const struct part *p,
                   const struct trod_nav_hit *h)
{
    const bool memory = w->o->memory != NULL;
    char text[256];
    uint64_t line;
    int r = trod_nav_line_of(w->n.nav, h->row, &line);

    if (r < 0)
        return r;
    trod_emit_str(e, NULL, p->when);
    trod_emit_str(e, NULL, p->what);
    trod_emit_u64(e, NULL, h->row);
    if (r > 0)
        trod_emit_u64(e, NULL, line);
    else
        trod_emit_absent(e);
    put_time(w, e, h);
    trod_nav_stream_name(w->n.nav, h->stream, text, sizeof text);
    str_or_absent(e, trod_nav_meta(w->n.nav)->n_streams > 0, text);
    hex_or_absent(e, h->has_pc, h->pc);
    str_or_absent(e, h->has_pc && cli_nav_symbol(&w->n, h->pc, text, sizeof text), text);
    text[0] = '\0';
    r = h->insn == TROD_NOWHERE ? 0 : cli_nav_text(&w->n, h->insn, text, sizeof text);
    str_or_absent(e, text[0] != '\0', text);
    hex_or_absent(e, memory, h->addr);
    if (h->size && !w->o->executes && !w->o->kind)
        trod_emit_u64(e, NULL, h->size);
    else
        trod_emit_absent(e);
    if (r >= 0 && h->has_value && h->size > sizeof h->value)
        r = put_wide(w, e, h);
    else
        hex_or_absent(e, h->has_value, h->value);
    trod_emit_row_end(e);
    return r < 0 ? r : 0;
}

/* Reads that show that something wrote which the trace does not have. */
static int untraced(struct who *w, struct trod_emit *e)
{
    static const char *const columns[] = {"address", "bytes", "after_row", "before_row"};
    const size_t n = (size_t)(w->query.hi - w->query.lo) + 1;
    struct trod_nav_byte *b;
    bool any = false;
    int r;

    if (w->query.hi - w->query.lo >= TROD_NAV_MEMORY || w->before == 0)
        return 0;
    b = calloc(n, sizeof *b);
    r = b ? trod_nav_memory(w->n.nav, w->before - 1, w->query.lo, n, b) : TROD_ERR_NOMEM;
    for (size_t i = 0, end; r == 0 && i < n; i = end) {
        for (end = i + 1; end < n && b[end].from == b[i].from && b[end].row == b[i].row &&
                          b[end].since == b[i].since;)
            end++;
        if (b[i].from != TROD_NAV_UNTRACED)
            continue;
        if (!any)
            trod_emit_table(e, "untraced", "writes that are not traced", columns, 4);
        any = true;
        trod_emit_hex(e, NULL, w->query.lo + i);
        trod_emit_u64(e, NULL, end - i);
        trod_emit_u64(e, NULL, b[i].since);
        trod_emit_u64(e, NULL, b[i].row);
        trod_emit_row_end(e);
    }
    if (any)
        trod_emit_table_close(e);
    free(b);
    return r;
}

static int tell(struct who *w)
{
    static const char *const columns[] = {"when",        "what",    "row",  "line",
                                          "time",        NULL,      "pc",   "symbol",
                                          "instruction", "address", "size", "value"};
    const char *names[sizeof columns / sizeof *columns];
    struct cli_out out;
    int r = cli_report_begin(&out, w->n.c, &w->o->report), end;

    if (r != 0)
        return r;
    w->units_differ = units_differ(w);
    memcpy(names, columns, sizeof names);
    names[5] = cli_stream_word(trod_nav_meta(w->n.nav));
    trod_emit_table(out.emit, "who", NULL, names, sizeof names / sizeof *names);
    for (size_t i = 0; i < w->parts; i++)
        for (size_t k = 0; r == 0 && k < w->part[i].n; k++)
            r = put_hit(w, out.emit, &w->part[i], &w->part[i].hit[k]);
    trod_emit_table_close(out.emit);
    if (r == 0 && w->o->memory && !w->o->reads && !w->o->expression &&
        (w->o->before || !w->o->after))
        r = untraced(w, out.emit);
    end = cli_report_end(&out);
    return r < 0 ? r : end;
}

/* Nothing was found: is there such a register at all? */
static int doubt_register(struct who *w)
{
    struct trod_nav_state *s = NULL;
    uint64_t rows;
    int r = 0;

    for (size_t i = 0; i < w->parts; i++)
        if (!w->o->reg || w->part[i].n)
            return 0;
    r = trod_nav_count(w->n.nav, &rows);
    if (r == 0 && rows && (r = trod_nav_state(w->n.nav, rows - 1, TROD_NAV_ROW_STREAM, &s)) == 0)
        cli_nav_register(&w->n, s, w->o->reg);
    trod_nav_state_free(s);
    return r;
}

/* The kinds of rows whose records format F calls NAME. */
static uint32_t kinds_of_records(const struct trod_format *f, const char *name)
{
    uint32_t kinds = 0;

    for (unsigned sub = 0; f && f->sub_name && sub < f->subs; sub++)
        for (unsigned kind = 0; kind < TROD_KINDS; kind++) {
            const char *s = f->sub_name(kind, sub);

            if (s && strcasecmp(s, name) == 0)
                kinds |= 1u << kind;
        }
    return kinds;
}

/*
 * What --kind means, which is what it means to `trod view`: kinds of rows, and an expression where
 * not all rows of these are meant.
 */
static int settle_kind(struct who *w)
{
    const char *name = w->o->kind, *also = w->o->expression;
    const struct trod_match_options opt = {.struct_size = sizeof opt,
                                           .kinds = {.n = 1, .item = {name}}};
    const int kind = trod_kind_find(name, strlen(name));
    const uint32_t records = kinds_of_records(trod_nav_meta(w->n.nav)->driver, name);
    struct trod_match *match;
    size_t room;
    int r = trod_match_new(&match, &opt, &w->n.diag);

    if (r < 0)
        return r;
    trod_match_free(match);
    w->kinds = records;
    if (kind >= 0)
        w->kinds |= 1u << kind;
    else if (strcasecmp(name, "MEMORY") == 0)
        w->kinds |= 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC;
    else if (strcasecmp(name, "FETCH") == 0)
        w->kinds |= 1u << TROD_BUS;
    if (!records && strcasecmp(name, "FETCH") != 0)
        return 0;
    room = strlen(name) + (also ? strlen(also) : 0) + 32;
    free(w->expression);
    if (!(w->expression = malloc(room)))
        return TROD_ERR_NOMEM;
    snprintf(w->expression, room, "kind == \"%s\"%s%s%s", name, also ? " && (" : "",
             also ? also : "", also ? ")" : "");
    return 0;
}

static int settle_query(struct who *w)
{
    const struct options *o = w->o;
    uint32_t stream = 0;
    int r = 0;

    if (o->expression && !(w->expression = strdup(o->expression)))
        return TROD_ERR_NOMEM;
    w->query.reg = o->reg;
    if (o->memory)
        r = cli_nav_range(&w->n, "memory", o->memory, &w->query.lo, &w->query.hi);
    if (o->executes) {
        r = cli_nav_range(&w->n, "executes", o->executes, &w->query.lo, &w->query.hi);
        if (r == 0 && trod_nav_meta(w->n.nav)->isa == TROD_ISA_ARM)
            w->query.lo &= ~UINT64_C(1);
    }
    if (r == 0 && o->kind)
        r = settle_kind(w);
    if (r == 0 && o->where.stream) {
        r = cli_nav_stream(&w->n, o->where.stream, &stream);
        w->query.stream = stream;
        w->query.one_stream = true;
    }
    return r;
}

/* The chain of the last write for which the expression holds. */
static int chain(struct who *w)
{
    const struct options *o = w->o;
    uint64_t before = w->before;
    int r = 0;

    if (o->expression) {
        r = ask(w, TROD_NAV_WRITES, before, true);
        if (r == 0 && w->part[0].n == 0)
            r = trod_error(&w->n.diag, TROD_ERR_USAGE, "navigate.where", NULL,
                           "'--where' holds for no write before the place");
        if (r == 0)
            before = w->part[0].hit[0].row + 1;
    }
    return r < 0 ? r : cli_chain(&w->n, &w->query, before, o->chain, o->dot, &o->report);
}

static int work(struct who *w)
{
    const struct options *o = w->o;
    uint64_t row;
    int r = o->expression ? cli_chosen_check(&w->n, o->expression) : 0;

    if (r == 0)
        r = settle_query(w);
    w->before = TROD_NOWHERE;
    if (r == 0 && o->before && (r = trod_nav_place(w->n.nav, o->before, &w->before)) >= 0)
        r = r ? 0 : TROD_ERR_USAGE;
    if (r == 0 && o->chain != NO_CHAIN)
        return chain(w);
    if (r == 0 && (o->before || !o->after))
        r = ask_all(w, w->before, true);
    if (r == 0 && o->after) {
        r = trod_nav_place(w->n.nav, o->after, &row);
        r = r > 0 ? ask_all(w, row, false) : r < 0 ? r : TROD_ERR_USAGE;
    }
    if (r == 0)
        r = doubt_register(w);
    return r == 0 ? tell(w) : r;
}

/* What is wrong with the options; NULL: nothing. */
static const char *wrong(const struct options *o)
{
    const bool chain = o->chain != NO_CHAIN;

    if (!!o->reg + !!o->memory + !!o->executes + !!o->kind != 1)
        return "give one of --register, --memory, --executes and --kind";
    if ((chain && (o->executes || o->kind || o->after)) || (o->dot && !chain))
        return "option '--chain' goes with --register or --memory, and --before; '--dot' with it";
    if (o->chain == 0)
        return "option '--chain' takes 1 or more steps";
    if (chain && o->count != 1)
        return "option '--count' does not go with '--chain', which begins with one write";
    return NULL;
}

static int run(struct cli *c, const void *opt)
{
    struct who w = {.o = opt};
    const struct options *o = w.o;
    const char *what = wrong(o);
    int r;

    if (what) {
        trod_error(&c->diag, TROD_ERR_USAGE, "args.who", NULL, "%s", what);
        return CLI_TROUBLE;
    }
    if (o->count == 0 || o->count > MOST) {
        trod_error(&c->diag, TROD_ERR_USAGE, "args.count", NULL, "option '--count' takes 1 to %d",
                   MOST);
        return CLI_TROUBLE;
    }
    r = cli_nav_open(&w.n, c, &o->input, &o->where, c->operands, c->n_operands);
    if (r == 0)
        r = work(&w);
    for (size_t i = 0; i < w.parts; i++)
        free(w.part[i].hit);
    free(w.expression);
    return cli_nav_close(&w.n, r, CLI_YES);
}

const struct cli_command cli_command_who = {
    .name = "who",
    .title = "tell who wrote and who reads a register or memory",
    .operands = "FILE...",
    .about =
        "Find the rows nearest to a place of a trace that write or read a register or bytes of "
        "memory, execute an instruction, or are of a kind: the last ones before it, the next ones "
        "after it. "
        "Reads of registers are what the opcodes of instructions say; so are writes in formats "
        "without register records.",
    .examples = "  trod who run.tarmac --register x0 --before 1000\n"
                "  trod who run.tarmac --kind EXCEPTION --after 1000 --count 3\n"
                "  trod who run.tarmac --memory 0x8000..0x8003 --before end --count 5\n"
                "  trod who run.tarmac --register x0 --before 1000 --chain 8 --dot x0.dot\n"
                "  trod who run.tarmac --memory 0x8000 --where 'value == 0 && size == 4'\n"
                "  trod who run.tarmac --memory table --symbols prog.elf --after time:100\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
