/*
 * navigating.c - places and rows for the commands that move about in a trace.
 *
 * Implements navigating.h.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "navigating.h"

enum { KEPT = 64 << 20 };

#define AT(field) offsetof(struct cli_nav_options, field)

const struct trod_option cli_nav_options[] = {
    {"stream", 's', TROD_OPT_STR, AT(stream), "NAME",
     "of this cpu or thread: a name, a thread id, or #N as trod info numbers them", NULL, NULL},
    {"symbols", 'S', TROD_OPT_LIST, AT(symbols), "ELF[@ADDRESS],...",
     "symbols of these files, for names of places and of memory; ADDRESS (position-independent "
     "files need it) is where the file's first "
     "segment lies in the trace",
     NULL, NULL},
    {.type = TROD_OPT_FUNC, .offset = AT(index), .more = cli_index_options},
    {.type = TROD_OPT_END},
};

/*
 * A question reads a few parts of the trace, one after the other: memory of one is for the next,
 * instead of pages that are new each time.
 */
void cli_nav_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, KEPT / 2);
    mallopt(M_TRIM_THRESHOLD, KEPT);
#endif
}

static int may_look(void *user, const struct trod_batch *b, uint8_t *keep)
{
    return trod_match_may(user, b, keep);
}

static int may_be(void *user, const struct trod_batch *b, const uint8_t *flow, uint8_t *keep)
{
    return trod_match_class(user, b, flow, keep);
}

void cli_nav_match(struct trod_nav *nav, struct trod_match *m)
{
    if (trod_match_shapes(m))
        trod_nav_shapes(nav, may_look, m);
    if (trod_match_classes(m))
        trod_nav_classes(nav, may_be, m);
}

/* The operand that is no file, if there is one and files besides; SIZE_MAX: none, N: several. */
static size_t operand_place(const struct cli *c)
{
    size_t at = SIZE_MAX;

    for (size_t i = 0; c->n_operands > 1 && i < c->n_operands; i++)
        if (strcmp(c->operands[i], "-") != 0 && access(c->operands[i], F_OK) != 0)
            at = at == SIZE_MAX ? i : c->n_operands;
    return at;
}

int cli_nav_places(struct cli *c, const char *option, const struct trod_list *list,
                   const char *place[2], const char **files, size_t *n)
{
    const size_t at = list->n == 1 ? operand_place(c) : SIZE_MAX;

    if (list->n > 2 || (list->n == 1 && at == SIZE_MAX))
        return trod_error(&c->diag, TROD_ERR_USAGE, "args.places", NULL,
                          "option '--%s' needs two places: --%s 100,200", option, option);
    if (list->n == 1 && at == c->n_operands)
        return trod_error(&c->diag, TROD_ERR_USAGE, "args.places", NULL,
                          "option '--%s %s': several operands are no files, and one of them is "
                          "its second place; write both as in --%s 100,200",
                          option, list->item[0], option);
    for (size_t i = *n = 0; i < c->n_operands; i++)
        if (i != at)
            files[(*n)++] = c->operands[i];
    if (list->n) {
        place[0] = list->item[0];
        place[1] = list->n == 2 ? list->item[1] : c->operands[at];
    }
    return TROD_OK;
}

int cli_nav_open(struct cli_nav *n, struct cli *c, const struct cli_input *in,
                 const struct cli_nav_options *o, const char *const *paths, size_t count)
{
    struct trod_trace_options topt = cli_trace_options(in, TROD_COL_ALL);
    struct trod_nav_options opt = {.struct_size = sizeof opt, .trace = &topt};
    char *modules = NULL;
    size_t added;
    int r = 0;

    memset(n, 0, sizeof *n);
    n->c = c;
    cli_nav_memory();
    cli_diag_init(c, &n->diag);
    n->diag.strict = in->strict;
    if (!o->symbols.n)
        modules = cli_modules(c, in);
    if (o->symbols.n || modules)
        r = trod_symbols_new(&n->symbols);
    if (r == 0 && modules)
        r = trod_symbols_modules(n->symbols, modules, &added, &n->diag);
    free(modules);
    for (size_t i = 0; r == 0 && i < o->symbols.n; i++)
        r = trod_symbols_add(n->symbols, o->symbols.item[i], &n->diag);
    opt.symbols = n->symbols;
    opt.index_dir = o->index.index;
    opt.no_index = o->index.no_index;
    return r < 0 ? r : trod_nav_open(&n->nav, paths, count, &opt, &n->diag);
}

int cli_nav_close(struct cli_nav *n, int r, int status)
{
    int end;

    if (r == TROD_ERR_NOMEM)
        trod_error(&n->diag, r, "navigate.memory", NULL, "out of memory");
    end = cli_diag_end(n->c, &n->diag);
    trod_disasm_free(n->disasm);
    trod_nav_close(n->nav);
    trod_symbols_free(n->symbols);
    return r < 0 || end == CLI_TROUBLE ? CLI_TROUBLE : status;
}

/* ---- streams */

static bool is_stream(const struct trod_meta *meta, uint32_t i, const char *name)
{
    const struct trod_stream *s = &meta->streams[i];
    uint64_t number;

    if (name[0] == '#')
        return trod_option_number(name + 1, &number) == 0 && number == i;
    if (s->name_len && strlen(name) == s->name_len && memcmp(s->name, name, s->name_len) == 0)
        return true;
    return trod_option_number(name, &number) == 0 &&
           (s->tid != TROD_NOWHERE ? number == s->tid : !s->name_len && number == i);
}

static bool find_stream(const struct cli_nav *n, const char *name, uint32_t *stream)
{
    const struct trod_meta *meta = trod_nav_meta(n->nav);

    /* all rows of a trace that names no streams are those of the first */
    if (meta->n_streams == 0 && strcmp(name, "#0") == 0) {
        *stream = 0;
        return true;
    }
    for (uint32_t i = 0; i < meta->n_streams; i++)
        if (is_stream(meta, i, name)) {
            *stream = i;
            return true;
        }
    return false;
}

int cli_nav_stream(struct cli_nav *n, const char *name, uint32_t *stream)
{
    uint64_t rows;
    int r;

    if (find_stream(n, name, stream))
        return 0;
    /* it may come up later */
    r = trod_nav_count(n->nav, &rows);
    if (r < 0 || find_stream(n, name, stream))
        return r;
    return trod_error(&n->diag, TROD_ERR_USAGE, "navigate.stream", NULL,
                      "no thread or cpu of the trace is called '%s'", name);
}

void cli_nav_register(struct cli_nav *n, const struct trod_nav_state *s, const char *name)
{
    if (!trod_nav_state_has(s, name))
        trod_warning(
            &n->diag, TROD_OK, "navigate.register", NULL,
            "'%s' is no register or flag that every program has, and up to the place asked "
            "about the trace shows none of that name",
            name);
}

/* ---- addresses */

int cli_nav_range(struct cli_nav *n, const char *option, const char *text, uint64_t *lo,
                  uint64_t *hi)
{
    struct trod_range range;
    uint64_t at, size;

    if (trod_option_range(text, &range) == 0) {
        *lo = range.lo;
        *hi = range.hi;
        return 0;
    }
    if (n->symbols && trod_symbols_address(n->symbols, text, &at, &size)) {
        *lo = at;
        *hi = at + (size ? size - 1 : 0);
        return 0;
    }
    return trod_error(&n->diag, TROD_ERR_USAGE, "navigate.range", NULL,
                      "option '--%s': '%s' is no range LO..HI%s", option, text,
                      n->symbols ? ", and no symbol has that name" : "; names need --symbols ELF");
}

bool cli_nav_symbol(const struct cli_nav *n, uint64_t address, char *out, size_t size)
{
    const char *name;
    uint64_t offset;

    if (!n->symbols || !trod_symbols_find(n->symbols, address, &name, &offset))
        return false;
    if (offset)
        snprintf(out, size, "%s+0x%llx", name, (unsigned long long)offset);
    else
        snprintf(out, size, "%s", name);
    return true;
}

/* ---- rows */

static bool says(const struct trod_batch *b, uint32_t i, uint32_t column)
{
    return (b->have & b->has[i] & column) != 0;
}

static void copy_text(char *out, size_t size, const char *p, size_t n)
{
    size_t k = 0;

    while (n && *p == ' ') {
        p++;
        n--;
    }
    for (; n && k + 1 < size; p++, n--)
        if (*p != ' ' || (k && out[k - 1] != ' '))
            out[k++] = *p == '\t' ? ' ' : *p;
    while (k && out[k - 1] == ' ')
        k--;
    out[k] = '\0';
}

static void disassemble(struct cli_nav *n, const struct trod_batch *b, uint32_t i, char *out,
                        size_t size)
{
    const struct trod_meta *meta = trod_nav_meta(n->nav);
    const uint32_t flags = says(b, i, TROD_COL_FLAGS) ? b->flags[i] : 0;
    const char *text;
    size_t len;

    if (!n->disasm && !n->no_disasm)
        n->no_disasm = meta->isa == TROD_ISA_UNKNOWN || meta->isa == TROD_ISA_REGDEPS ||
                       trod_disasm_new(&n->disasm, meta->isa, meta->endian, &n->diag) != 0;
    if (!n->disasm)
        return;
    text = trod_disasm_text(n->disasm, (flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT, b->addr[i],
                            trod_batch_bytes(b, b->code[i]), b->code[i].len, &len);
    copy_text(out, size, text, len);
}

int cli_nav_text(struct cli_nav *n, uint64_t row, char *out, size_t size)
{
    const struct trod_batch *b;
    uint32_t i;
    int r = trod_nav_row(n->nav, row, &b, &i);

    out[0] = '\0';
    if (r <= 0)
        return r;
    if (says(b, i, TROD_COL_TEXT) && b->text[i].len)
        copy_text(out, size, (const char *)trod_batch_bytes(b, b->text[i]), b->text[i].len);
    else if (b->kind[i] == TROD_INSTR && says(b, i, TROD_COL_CODE) && b->code[i].len)
        disassemble(n, b, i, out, size);
    return 1;
}

int cli_nav_fields(struct cli_nav *n, struct trod_emit *e, uint64_t row)
{
    const struct trod_batch *b;
    char text[256];
    uint64_t line;
    uint32_t i;
    int r = trod_nav_line_of(n->nav, row, &line);

    trod_emit_u64(e, "row", row);
    if (r > 0)
        trod_emit_u64(e, "line", line);
    if (r < 0 || (r = trod_nav_row(n->nav, row, &b, &i)) <= 0)
        return r;
    trod_emit_str(e, "kind", trod_kind_name(b->kind[i]));
    if (says(b, i, TROD_COL_TIME))
        trod_emit_u64(e, "time", b->time[i]);
    if (says(b, i, TROD_COL_STREAM)) {
        trod_nav_stream_name(n->nav, b->stream[i], text, sizeof text);
        trod_emit_str(e, cli_stream_word(trod_nav_meta(n->nav)), text);
    }
    return 0;
}

int cli_nav_whose(struct cli_nav *n, struct trod_emit *e, uint64_t row,
                  const struct trod_nav_state *s)
{
    const uint32_t stream = trod_nav_state_stream(s);
    const struct trod_batch *b;
    char name[256];
    uint32_t i;
    const int r = trod_nav_row(n->nav, row, &b, &i);

    if (r <= 0 || !trod_nav_meta(n->nav)->n_streams ||
        (says(b, i, TROD_COL_STREAM) && b->stream[i] == stream))
        return r < 0 ? r : 0;
    trod_nav_stream_name(n->nav, stream, name, sizeof name);
    trod_emit_str(e, "state_of", name);
    return 0;
}
