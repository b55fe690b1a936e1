/*
 * waves.c - from a trace to a value change dump: both times through, and the header between them.
 * Implements trod/waves.h.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sized.h"
#include "trod/disasm.h"
#include "trod/trod.h"
#include "waves/like.h"
#include "waves/waves.h"

int trod_waves_new(struct trod_waves **out, const struct trod_waves_options *opt,
                   const struct trod_meta *meta, struct trod_diag *diag)
{
    struct trod_waves *w = calloc(1, sizeof *w);

    *out = NULL;
    if (!w)
        return TROD_ERR_NOMEM;
    if (!trod_sized(&w->opt, sizeof w->opt, sizeof w->opt, opt)) {
        free(w);
        return trod_error(diag, TROD_ERR_USAGE, "waves.options", NULL,
                          "options are of another version");
    }
    w->meta = meta;
    w->diag = diag;
    nav_names_init(&w->names, meta->isa);
    nav_regs_init(&w->regs, &w->names);
    if (w->opt.tarmac && like_new(&w->like, &w->opt, diag) < 0) {
        trod_waves_free(w);
        return TROD_ERR_NOMEM;
    }
    *out = w;
    return 0;
}

void trod_waves_free(struct trod_waves *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; i < w->n_streams; i++) {
        for (unsigned k = 0; k < OWNS; k++)
            free(w->stream[i].own[k].now);
        for (uint32_t k = 0; k < w->stream[i].n_regs; k++)
            free(w->stream[i].reg[k].now);
        free(w->stream[i].reg);
    }
    free(w->stream);
    free(w->changed);
    nav_regs_fini(&w->regs);
    nav_names_fini(&w->names);
    trod_callstack_free(w->calls);
    like_free(w->like);
    trod_disasm_free(w->disasm);
    free(w);
}

uint32_t trod_waves_columns(const struct trod_waves *w)
{
    (void)w;
    return TROD_CALLSTACK_COLUMNS | TROD_COL_UNIT | TROD_COL_PADDR | TROD_COL_DATA |
           TROD_COL_DETAIL;
}

/* ---- the header */

/* What is declared: a list of those that were asked for, and of all names. */
struct declaring {
    struct trod_waves *w;
    struct trod_buf *out, vars, all;
    const char *scope;
    bool found[TROD_LIST_MAX];
    int r;
};

/* Was signal NAME of the scope at hand asked for? */
static bool wanted(struct declaring *d, const char *name)
{
    const struct trod_list *list = &d->w->opt.signals;
    char whole[2 * WAVE_NAME + 2];
    bool any = list->n == 0;

    snprintf(whole, sizeof whole, "%s.%s", d->scope, name);
    trod_buf_printf(&d->all, "%s%s", d->all.n ? ", " : "", whole);
    for (size_t i = 0; i < list->n; i++)
        if (fnmatch(list->item[i], name, 0) == 0 || fnmatch(list->item[i], whole, 0) == 0) {
            d->found[i] = true;
            any = true;
        }
    return any;
}

static void declare(struct declaring *d, struct wave_signal *s, unsigned type, uint32_t bits,
                    const char *name)
{
    if (d->r == 0 && wanted(d, name))
        d->r = wave_declare(d->w, s, type, bits, name, &d->vars);
}

static void declare_own(struct declaring *d, struct wave_stream *s)
{
    const uint32_t addr = d->w->meta->addr_bits && d->w->meta->addr_bits <= 32 ? 32 : 64;

    if (s->instr) {
        declare(d, &s->own[OWN_PC], WAVE_WIRE, addr, "pc");
        if (s->code)
            declare(d, &s->own[OWN_OPCODE], WAVE_WIRE, 8 * s->code, "opcode");
        if (s->text)
            declare(d, &s->own[OWN_INSN], WAVE_STRING, 1, "insn");
        declare(d, &s->own[OWN_FUNCTION], WAVE_STRING, 1, "function");
    }
    if (s->skipped)
        declare(d, &s->own[OWN_EXECUTED], WAVE_WIRE, 1, "executed");
    if (s->mode)
        declare(d, &s->own[OWN_MODE], WAVE_STRING, 1, "mode");
    if (s->exception)
        declare(d, &s->own[OWN_EXCEPTION], WAVE_STRING, 1, "exception");
    if (s->data) {
        declare(d, &s->own[OWN_MEM_ADDR], WAVE_WIRE, addr, "mem_addr");
        declare(d, &s->own[OWN_MEM_RDATA], WAVE_WIRE, 8 * s->data, "mem_rdata");
        declare(d, &s->own[OWN_MEM_WDATA], WAVE_WIRE, 8 * s->data, "mem_wdata");
        declare(d, &s->own[OWN_MEM_READ], WAVE_WIRE, 1, "mem_read");
        declare(d, &s->own[OWN_MEM_WRITE], WAVE_WIRE, 1, "mem_write");
    }
}

/* Does register X come before Y: by name, x2 before x10? */
static bool before(const char *x, const char *y)
{
    while (*x && *x == *y && !(*x >= '0' && *x <= '9')) {
        x++;
        y++;
    }
    if (*x >= '0' && *x <= '9' && *y >= '0' && *y <= '9') {
        const unsigned long m = strtoul(x, NULL, 10), n = strtoul(y, NULL, 10);

        if (m != n)
            return m < n;
    }
    return strcmp(x, y) < 0;
}

static void declare_registers(struct declaring *d, struct wave_stream *s, const struct nav_file *f)
{
    uint32_t *order = f && f->n ? calloc(f->n, sizeof *order) : NULL, n = 0;
    const struct nav_name *at = d->w->names.at;

    if (!f || f->n == 0)
        return;
    s->reg = calloc(f->n, sizeof *s->reg);
    if (!s->reg || !order) {
        free(order);
        d->r = TROD_ERR_NOMEM;
        return;
    }
    s->n_regs = f->n;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t k = n;

        if (!f->reg[i].size || f->reg[i].size > WAVE_WIDEST)
            continue;
        for (; k > 0 && before(at[i].text, at[order[k - 1]].text); k--)
            order[k] = order[k - 1];
        order[k] = i;
        n++;
    }
    for (uint32_t i = 0; i < n; i++) {
        char name[NAV_NAME];

        snprintf(name, sizeof name, "%s", at[order[i]].text);
        for (char *p = name; *p; p++)
            if (!((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9')))
                *p = '_';
        declare(d, &s->reg[order[i]], WAVE_REG, 8 * f->reg[order[i]].size, name);
    }
    free(order);
}

static int put_timescale(const struct trod_waves *w, struct trod_buf *out)
{
    static const char *const units[] = {"fs", "ps", "ns", "us", "ms", "s"};
    static const char *const tens[] = {"1", "10", "100"};
    const char *what = w->opt.cycles || !w->any_time ? "an instruction"
                       : !w->any_unit                ? "one of the trace's times"
                                                     : NULL;
    const int power = w->finest + 15;

    if (what)
        return trod_buf_printf(out, "$comment a tick is %s $end\n$timescale 1 ns $end\n", what);
    return trod_buf_printf(out, "$timescale %s %s $end\n", tens[power % 3],
                           units[power / 3 < 5 ? power / 3 : 5]);
}

/* A name that was asked for and is none. */
static int missing(struct declaring *d)
{
    enum { SHOWN = 600 };
    const struct trod_list *list = &d->w->opt.signals;

    for (size_t i = 0; i < list->n; i++)
        if (!d->found[i])
            return trod_error(d->w->diag, TROD_ERR_USAGE, "waves.signal", NULL,
                              "no signal is called '%s'; there are %.*s%s", list->item[i],
                              (int)(d->all.n < SHOWN ? d->all.n : SHOWN),
                              d->all.n ? (const char *)d->all.p : "none",
                              d->all.n > SHOWN ? " ..." : "");
    return 0;
}

int trod_waves_begin(struct trod_waves *w, struct trod_buf *out)
{
    const struct trod_callstack_sink sink = {.ctx = w, .rows = wave_rows};
    struct declaring d = {.w = w, .out = out};
    int r;

    if (w->like)
        return like_header(w->like, out);
    r = trod_buf_printf(out, "$version trod %s $end\n", trod_version());

    if (r == 0)
        r = put_timescale(w, out);
    for (uint32_t i = 0; i < w->n_streams && r == 0; i++) {
        struct wave_stream *s = &w->stream[i];

        if (!s->name[0])
            continue;
        d.scope = s->name;
        d.vars.n = 0;
        declare_own(&d, s);
        declare_registers(&d, s, i < w->regs.n_files ? w->regs.file[i] : NULL);
        r = d.r;
        if (r == 0 && d.vars.n)
            r = trod_buf_printf(out, "$scope module %s $end\n%.*s$upscope $end\n", s->name,
                                (int)d.vars.n, (const char *)d.vars.p);
    }
    if (r == 0)
        r = missing(&d);
    if (r == 0)
        r = trod_buf_printf(out, "$enddefinitions $end\n");
    trod_buf_fini(&d.vars);
    trod_buf_fini(&d.all);
    nav_regs_fini(&w->regs);
    nav_regs_init(&w->regs, &w->names);
    return r == 0 ? trod_callstack_new(&w->calls, &sink, w->opt.symbols, w->opt.merged) : r;
}

/* ---- the changes */

int trod_waves_feed(struct trod_waves *w, const struct trod_batch *b, struct trod_buf *out)
{
    int r;

    if (w->like)
        return like_feed(w->like, b, out);
    w->out = out;
    r = trod_callstack_feed(w->calls, b, 0, b->n);
    return r < 0 ? r : w->status;
}

int trod_waves_end(struct trod_waves *w, struct trod_buf *out)
{
    int r;

    if (w->like)
        return like_end(w->like, out);
    w->out = out;
    r = trod_callstack_end(w->calls);
    if (r == 0)
        r = wave_flush(w);
    /* viewers show the last values for as long as a further time says */
    return r == 0 && w->begun && w->now < UINT64_MAX
               ? trod_buf_printf(out, "#%llu\n", (unsigned long long)w->now + 1)
               : r;
}

void trod_waves_count(const struct trod_waves *w, struct trod_waves_summary *out)
{
    *out = w->sum;
}
