/*
 * cmd_state.c - `trod state`: registers and memory at a place of a trace, and what changed between
 * two.
 */
#include <stdlib.h>
#include <string.h>

#include "chosen.h"
#include "dump.h"

struct options {
    struct cli_common common;
    struct cli_input input;
    struct cli_report report;
    struct cli_nav_options where;
    const char *at, *expression;
    struct trod_list memory, registers, diff;
    bool no_calls;
};

static const struct trod_option options[] = {
    {.type = TROD_OPT_GROUP, .text = "What"},
    {"at", 'a', TROD_OPT_STR, offsetof(struct options, at), "PLACE",
     "the place: a row, line:N, time:T, insn:N, kind:NAME:K, marker:NAME:K, N%, start, end, "
     "ADDRESS:K or SYMBOL:K (its Kth execution); the state is that after the row (default: end)",
     NULL, NULL},
    {"where", 0, TROD_OPT_STR, offsetof(struct options, expression), "EXPRESSION",
     "the last row up to the place (of --diff: to each) for which EXPRESSION holds, as 'kind == "
     "WRITE && value == 42'; see trod-where(7)",
     NULL, NULL},
    {"memory", 'm', TROD_OPT_LIST, offsetof(struct options, memory), "LO..HI|NAME,...",
     "memory at these addresses too; NAME: an object of --symbols", NULL, NULL},
    {"register", 'r', TROD_OPT_LIST, offsetof(struct options, registers), "NAME,...",
     "only these registers, by any of their names (w0, s3, sp; of banks that written last); with "
     "--diff, too",
     NULL, NULL},
    {"no-calls", 0, TROD_OPT_BOOL, offsetof(struct options, no_calls), NULL,
     "leave out which calls are open: without an index they are followed from the beginning", NULL,
     NULL},
    {"diff", 'd', TROD_OPT_LIST, offsetof(struct options, diff), "PLACE,PLACE",
     "what changed from one place to the other: registers, and memory (that of --memory, or all)",
     NULL, NULL},
    CLI_NAV_OPTIONS,
    CLI_INPUT_OPTIONS,
    CLI_REPORT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

enum { WIDEST = 1 << 16, VALUE = 2 * WIDEST + 8 };

struct state {
    struct cli_nav n;
    const struct options *o;
    struct cli_out out;
    char *value;    /* VALUE bytes */
    uint8_t *bytes; /* 2 WIDEST: of a register, and which bits of them are known */
};

static void register_row(struct state *st, const struct trod_nav_register *reg)
{
    struct trod_emit *e = st->out.emit;
    char flags[128];

    trod_emit_str(e, NULL, reg->name);
    trod_emit_str(e, NULL, cli_dump_number(st->value, reg->value, reg->known, reg->size));
    trod_emit_str(e, NULL, cli_dump_source(reg->from));
    (reg->row == TROD_NOWHERE) ? trod_emit_absent(e) : trod_emit_u64(e, NULL, reg->row);
    if (trod_nav_flags(trod_nav_meta(st->n.nav), reg, flags, sizeof flags))
        trod_emit_str(e, NULL, flags);
    else
        trod_emit_absent(e);
    trod_emit_row_end(e);
}

/* Register NAME in S as a number; "unknown" where nothing of it is known. */
static const char *named(struct state *st, const struct trod_nav_state *s, const char *name)
{
    size_t n, k = 0;

    if (!trod_nav_state_named(s, name, st->bytes, st->bytes + WIDEST, WIDEST, &n))
        return "unknown";
    while (k < n && !st->bytes[WIDEST + k])
        k++;
    return k < n ? cli_dump_number(st->value, st->bytes, st->bytes + WIDEST, n) : "unknown";
}

/* The registers that the user names. */
static void named_registers(struct state *st, const struct trod_nav_state *s)
{
    static const char *const columns[] = {"register", "value"};
    struct trod_emit *e = st->out.emit;

    trod_emit_table(e, "registers", "registers", columns, 2);
    for (size_t i = 0; i < st->o->registers.n; i++) {
        const char *name = st->o->registers.item[i];

        trod_emit_str(e, NULL, name);
        trod_emit_str(e, NULL, named(st, s, name));
        trod_emit_row_end(e);
        cli_nav_register(&st->n, s, name);
    }
    trod_emit_table_close(e);
}

static void all_registers(struct state *st, const struct trod_nav_state *s)
{
    static const char *const columns[] = {"register", "value", "known_from", "row", "flags"};
    struct trod_emit *e = st->out.emit;
    struct trod_nav_register reg;
    struct trod_buf unknown = {0};

    trod_emit_table(e, "registers", "registers", columns, 5);
    for (size_t i = 0; trod_nav_state_register(s, i, &reg); i++) {
        if (reg.size)
            register_row(st, &reg);
        else
            trod_buf_printf(&unknown, "%s%s", unknown.n ? " " : "", reg.name);
    }
    trod_emit_table_close(e);
    if (unknown.n)
        trod_emit_strn(e, "unknown", (const char *)unknown.p, unknown.n);
    trod_buf_fini(&unknown);
}

/* ---- memory */

/* The bytes of memory that TEXT names. */
static int range_of(struct state *st, const char *text, uint64_t *lo, uint64_t *hi)
{
    const int r = cli_nav_range(&st->n, "memory", text, lo, hi);

    if (r == 0 && *hi - *lo >= TROD_NAV_MEMORY)
        return trod_error(&st->n.diag, TROD_ERR_LIMIT, "navigate.memory", NULL,
                          "option '--memory': '%s' is more than %d bytes", text, TROD_NAV_MEMORY);
    return r;
}

/* Is all of --memory memory? Asked before anything is printed. */
static int ranges_are(struct state *st)
{
    uint64_t lo, hi;
    int r = 0;

    for (size_t i = 0; r == 0 && i < st->o->memory.n; i++)
        r = range_of(st, st->o->memory.item[i], &lo, &hi);
    return r;
}

static int fetch(struct state *st, const char *text, uint64_t row, uint64_t *lo, uint64_t *hi,
                 struct trod_nav_byte **bytes)
{
    const int r = range_of(st, text, lo, hi);

    *bytes = NULL;
    if (r < 0)
        return r;
    *bytes = calloc((size_t)(*hi - *lo) + 1, sizeof **bytes);
    return *bytes ? trod_nav_memory(st->n.nav, row, *lo, (size_t)(*hi - *lo) + 1, *bytes)
                  : TROD_ERR_NOMEM;
}

static int memory(struct state *st, const char *text, uint64_t row)
{
    static const char *const columns[] = {"address", "bytes", "text"};
    struct trod_emit *e = st->out.emit;
    struct trod_nav_byte *bytes;
    uint64_t lo, hi;
    int r = fetch(st, text, row, &lo, &hi, &bytes);

    if (r == 0) {
        trod_emit_open(e, NULL, text);
        trod_emit_hex(e, "from", lo);
        trod_emit_hex(e, "to", hi);
        trod_emit_table(e, "dump", NULL, columns, 3);
        for (uint64_t at = lo & ~(uint64_t)(CLI_DUMP - 1); at <= hi; at += CLI_DUMP) {
            cli_dump_line(e, at, bytes, lo, hi);
            if (at > UINT64_MAX - CLI_DUMP)
                break;
        }
        trod_emit_table_close(e);
        cli_dump_sources(e, bytes, lo, (size_t)(hi - lo) + 1);
        trod_emit_close(e);
    }
    free(bytes);
    return r;
}

/* ---- the state at a place */

static int place_fields(struct state *st, const char *key, uint64_t row,
                        const struct trod_nav_state *s)
{
    struct trod_emit *e = st->out.emit;
    char text[256];
    uint64_t pc, at;
    int r;

    trod_emit_open(e, key, key);
    r = cli_nav_fields(&st->n, e, row);
    if (r >= 0)
        r = cli_nav_whose(&st->n, e, row, s);
    if (trod_nav_state_pc(s, &pc, &at)) {
        trod_emit_hex(e, "pc", pc);
        if (cli_nav_symbol(&st->n, pc, text, sizeof text))
            trod_emit_str(e, "symbol", text);
        if (r >= 0 && (r = cli_nav_text(&st->n, at, text, sizeof text)) > 0 && text[0])
            trod_emit_str(e, "instruction", text);
    }
    trod_emit_close(e);
    return r < 0 ? r : 0;
}

/* Which calls are open, the innermost first. */
static int open_calls(struct state *st, uint64_t row, int64_t stream)
{
    static const char *const columns[] = {"depth", "function", "row",     "pc",
                                          "kind",  "from",     "from_row"};
    struct trod_emit *e = st->out.emit;
    struct trod_nav_call *call;
    char name[256];
    size_t n;
    int r = trod_nav_calls(st->n.nav, row, stream, &call, &n);

    if (r < 0 || n == 0)
        return r;
    trod_emit_table(e, "calls", "calls, the innermost first", columns, 7);
    for (size_t i = n; i-- > 0;) {
        trod_emit_u64(e, NULL, call[i].depth);
        if (cli_nav_symbol(&st->n, call[i].pc, name, sizeof name))
            trod_emit_str(e, NULL, name);
        else
            trod_emit_hex(e, NULL, call[i].pc);
        trod_emit_u64(e, NULL, call[i].row);
        trod_emit_hex(e, NULL, call[i].pc);
        trod_emit_str(e, NULL, trod_frame_kind_name(call[i].kind));
        if (call[i].site_row == TROD_NOWHERE) {
            trod_emit_absent(e);
            trod_emit_absent(e);
        } else {
            trod_emit_hex(e, NULL, call[i].site_pc);
            trod_emit_u64(e, NULL, call[i].site_row);
        }
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
    free(call);
    return r;
}

static int stream_of(struct state *st, int64_t *stream)
{
    uint32_t number;
    int r;

    *stream = TROD_NAV_ROW_STREAM;
    if (!st->o->where.stream)
        return 0;
    r = cli_nav_stream(&st->n, st->o->where.stream, &number);
    *stream = number;
    return r;
}

/* The row that PLACE names, or the last one up to it that is chosen. */
static int place_row(struct state *st, const char *place, uint64_t *row)
{
    int r = st->o->expression ? cli_chosen_check(&st->n, st->o->expression) : 0;

    if (r == 0 && (r = trod_nav_place(st->n.nav, place, row)) >= 0)
        r = r > 0 ? 0 : TROD_ERR_USAGE;
    if (r == 0 && st->o->expression)
        r = cli_chosen_last(&st->n, st->o->expression, row);
    return r;
}

static int show(struct state *st)
{
    const struct options *o = st->o;
    struct trod_nav_state *s = NULL;
    int64_t stream;
    uint64_t row;
    int r = place_row(st, o->at ? o->at : "end", &row);

    if (r < 0)
        return r;
    r = stream_of(st, &stream);
    if (r == 0)
        r = trod_nav_state(st->n.nav, row, stream, &s);
    if (r == 0)
        r = ranges_are(st);
    if (r == 0)
        r = cli_report_begin(&st->out, st->n.c, &o->report);
    if (r == 0) {
        int end;

        r = place_fields(st, "at", row, s);
        if (r == 0 && !o->no_calls)
            r = open_calls(st, row, stream);
        if (o->registers.n)
            named_registers(st, s);
        else
            all_registers(st, s);
        if (o->memory.n)
            trod_emit_list(st->out.emit, "memory", "memory");
        for (size_t i = 0; r == 0 && i < o->memory.n; i++)
            r = memory(st, o->memory.item[i], row);
        if (o->memory.n)
            trod_emit_list_close(st->out.emit);
        end = cli_report_end(&st->out);
        r = r < 0 ? r : end;
    }
    trod_nav_state_free(s);
    return r;
}

/* ---- differences */

static const char *value_or_unknown(struct state *st, const struct trod_nav_register *reg)
{
    return reg->size ? cli_dump_number(st->value, reg->value, reg->known, reg->size) : "unknown";
}

/* Is anything known of it? */
static bool is_known(const struct trod_nav_register *reg)
{
    for (uint32_t i = 0; i < reg->size; i++)
        if (reg->known[i])
            return true;
    return false;
}

static bool equal(const struct trod_nav_register *a, const struct trod_nav_register *b)
{
    if (!is_known(a) || !is_known(b))
        return is_known(a) == is_known(b);
    return a->size == b->size && memcmp(a->value, b->value, a->size) == 0 &&
           memcmp(a->known, b->known, a->size) == 0;
}

/* The register NAME of S, to *OUT; false: S does not have it, and nothing is known of it. */
static bool register_of(const struct trod_nav_state *s, const char *name,
                        struct trod_nav_register *out)
{
    for (size_t i = 0; trod_nav_state_register(s, i, out); i++)
        if (strcmp(out->name, name) == 0)
            return true;
    memset(out, 0, sizeof *out);
    return false;
}

static uint64_t diff_register(struct state *st, const char *name, const struct trod_nav_register *x,
                              const struct trod_nav_register *y)
{
    struct trod_emit *e = st->out.emit;

    if (equal(x, y))
        return 0;
    trod_emit_str(e, NULL, name);
    trod_emit_str(e, NULL, value_or_unknown(st, x));
    trod_emit_str(e, NULL, value_or_unknown(st, y));
    trod_emit_row_end(e);
    return 1;
}

/* Registers of A and B that differ: those that B has, then those that only A has. */
static uint64_t diff_registers(struct state *st, const struct trod_nav_state *a,
                               const struct trod_nav_state *b)
{
    static const char *const columns[] = {"register", "first", "second"};
    struct trod_nav_register x, y;
    uint64_t n = 0;

    trod_emit_table(st->out.emit, "registers", "registers that changed", columns, 3);
    for (size_t i = 0; trod_nav_state_register(b, i, &y); i++) {
        (void)register_of(a, y.name, &x);
        n += diff_register(st, y.name, &x, &y);
    }
    for (size_t i = 0; trod_nav_state_register(a, i, &x); i++)
        if (!register_of(b, x.name, &y))
            n += diff_register(st, x.name, &x, &y);
    trod_emit_table_close(st->out.emit);
    return n;
}

/* Those that the user names. */
static uint64_t diff_named(struct state *st, const struct trod_nav_state *a,
                           const struct trod_nav_state *b)
{
    static const char *const columns[] = {"register", "first", "second"};
    struct trod_emit *e = st->out.emit;
    uint64_t n = 0;

    trod_emit_table(e, "registers", "registers that changed", columns, 3);
    for (size_t i = 0; i < st->o->registers.n; i++) {
        const char *name = st->o->registers.item[i];
        char *first = strdup(named(st, a, name));

        if (first && strcmp(first, named(st, b, name)) != 0) {
            trod_emit_str(e, NULL, name);
            trod_emit_str(e, NULL, first);
            trod_emit_str(e, NULL, named(st, b, name));
            trod_emit_row_end(e);
            n++;
        }
        free(first);
        cli_nav_register(&st->n, b, name);
    }
    trod_emit_table_close(e);
    return n;
}

static bool differs(const struct trod_nav_byte *a, const struct trod_nav_byte *b)
{
    const bool x = a->from != TROD_NAV_UNKNOWN, y = b->from != TROD_NAV_UNKNOWN;

    return x != y || (x && a->value != b->value);
}

/* The bytes of a run, as they are at the two places. */
static void diff_bytes(struct state *st, const struct trod_nav_run *run,
                       const struct trod_nav_byte *a, const struct trod_nav_byte *b, uint64_t *n)
{
    struct trod_emit *e = st->out.emit;

    for (size_t i = 0, end; i < run->count; i = end) {
        end = i + 1;
        if (!differs(&a[i], &b[i]))
            continue;
        while (end < run->count && end - i < CLI_DUMP && differs(&a[end], &b[end]))
            end++;
        trod_emit_hex(e, NULL, run->addr + i);
        trod_emit_u64(e, NULL, end - i);
        cli_dump_bytes(e, &a[i], end - i);
        cli_dump_bytes(e, &b[i], end - i);
        trod_emit_row_end(e);
        ++*n;
    }
}

static int diff_runs(struct state *st, uint64_t first, uint64_t second,
                     const struct trod_nav_run *run, size_t count, uint64_t *n)
{
    struct trod_nav_byte *a; /* behind them those of the second place */
    size_t bytes = 0;
    int r;

    for (size_t i = 0; i < count; i++)
        bytes += run[i].count;
    a = calloc(2 * bytes + 1, sizeof *a);
    r = a ? trod_nav_memory_runs(st->n.nav, first, run, count, a) : TROD_ERR_NOMEM;
    if (r == 0)
        r = trod_nav_memory_runs(st->n.nav, second, run, count, a + bytes);
    for (size_t i = 0, at = 0; r == 0 && i < count; at += run[i++].count)
        diff_bytes(st, &run[i], a + at, a + bytes + at, n);
    free(a);
    return r;
}

/* All that was touched between the places. */
static int diff_touched(struct state *st, uint64_t first, uint64_t second, uint64_t *n)
{
    struct trod_nav_run *run;
    size_t count;
    const bool on = first < second;
    int r = trod_nav_touched(st->n.nav, on ? first : second, on ? second : first, &run, &count);

    if (r == 0)
        r = diff_runs(st, first, second, run, count, n);
    free(run);
    return r;
}

static int diff_memory(struct state *st, uint64_t first, uint64_t second, uint64_t *n)
{
    static const char *const columns[] = {"address", "bytes", "first", "second"};
    const struct trod_list *list = &st->o->memory;
    struct trod_nav_run run;
    uint64_t hi;
    int r = 0;

    trod_emit_table(st->out.emit, "memory", "memory that changed", columns, 4);
    for (size_t i = 0; r == 0 && i < list->n; i++) {
        r = range_of(st, list->item[i], &run.addr, &hi);
        run.count = r == 0 ? (size_t)(hi - run.addr) + 1 : 0;
        if (r == 0)
            r = diff_runs(st, first, second, &run, 1, n);
    }
    if (list->n == 0)
        r = diff_touched(st, first, second, n);
    trod_emit_table_close(st->out.emit);
    return r;
}

static int diff(struct state *st, const char *const place[2], uint64_t *n)
{
    struct trod_nav_state *s[2] = {NULL, NULL};
    uint64_t row[2];
    int64_t stream = TROD_NAV_ROW_STREAM;
    int r = 0;

    for (int k = 0; r == 0 && k < 2; k++)
        r = place_row(st, place[k], &row[k]);
    if (r == 0)
        r = stream_of(st, &stream);
    for (int k = 0; r == 0 && k < 2; k++) {
        r = trod_nav_state(st->n.nav, row[k], stream, &s[k]);
        if (r == 0 && k == 0 && stream == TROD_NAV_ROW_STREAM)
            stream = trod_nav_state_stream(s[0]);
    }
    if (r == 0)
        r = ranges_are(st);
    if (r == 0)
        r = cli_report_begin(&st->out, st->n.c, &st->o->report);
    if (r == 0) {
        int end;

        r = place_fields(st, "first", row[0], s[0]);
        if (r == 0)
            r = place_fields(st, "second", row[1], s[1]);
        *n = st->o->registers.n ? diff_named(st, s[0], s[1]) : diff_registers(st, s[0], s[1]);
        if (r == 0)
            r = diff_memory(st, row[0], row[1], n);
        end = cli_report_end(&st->out);
        r = r < 0 ? r : end;
    }
    trod_nav_state_free(s[0]);
    trod_nav_state_free(s[1]);
    return r;
}

static int run(struct cli *c, const void *opt)
{
    struct state st = {.o = opt};
    const char *place[2] = {NULL, NULL}, **files;
    size_t n_files = 0;
    uint64_t n = 0;
    int r;

    if (st.o->diff.n && st.o->at) {
        trod_error(&c->diag, TROD_ERR_USAGE, "args.diff", NULL,
                   "option '--diff' names its places: '--at' does not go with it");
        return CLI_TROUBLE;
    }
    files = calloc(c->n_operands, sizeof *files);
    if (!files || cli_nav_places(c, "diff", &st.o->diff, place, files, &n_files) < 0) {
        free(files);
        return CLI_TROUBLE;
    }
    r = cli_nav_open(&st.n, c, &st.o->input, &st.o->where, files, n_files);
    st.value = malloc(VALUE);
    st.bytes = malloc(2 * WIDEST);
    if (r == 0 && !(st.value && st.bytes))
        r = TROD_ERR_NOMEM;
    if (r == 0)
        r = st.o->diff.n ? diff(&st, place, &n) : show(&st);
    free(st.value);
    free(st.bytes);
    r = cli_nav_close(&st.n, r, n ? CLI_NO : CLI_YES);
    free(files);
    return r;
}

const struct cli_command cli_command_state = {
    .name = "state",
    .title = "show registers and memory at a place of a trace",
    .operands = "FILE...",
    .about =
        "Show what the registers of a cpu or thread and the memory hold at a place of a trace: "
        "after a row, at a time, at the Kth execution of an instruction. What the trace does "
        "not tell is said to be unknown, byte by byte. Of what is known it is said from where: "
        "a write, a read, a read after the place with no write between, or a read that shows "
        "that something wrote which is not traced.",
    .examples = "  trod state run.tarmac --at 1000 --memory 0x8000..0x80ff\n"
                "  trod state run.tarmac --at main:2 --symbols prog.elf\n"
                "  trod state run.tarmac --where 'function == memcpy' -S prog.elf\n"
                "  trod state run.tarmac --diff time:100,time:200\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
