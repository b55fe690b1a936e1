/*
 * tarmac_rows.c - rows as short lines. Implements tarmac_rows.h.
 */
#include "tarmac_rows.h"

#include "trod/detail.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const sec_names[] = {"", "S", "NS", "RT", "RL"};

static void bytes(const struct trod_batch *b, struct trod_slice s, const char *name,
                  struct trod_buf *out)
{
    const uint8_t *p = trod_batch_bytes(b, s);

    trod_buf_printf(out, " %s=", name);
    for (uint32_t i = 0; i < s.len; i++)
        trod_buf_printf(out, "%02x", p[i]);
}

static void text(const struct trod_batch *b, struct trod_slice s, const char *name,
                 struct trod_buf *out)
{
    const uint8_t *p = trod_batch_bytes(b, s);
    bool quote = memchr(p, ' ', s.len) != NULL;

    trod_buf_printf(out, " %s=%s", name, quote ? "\"" : "");
    for (uint32_t i = 0; i < s.len; i++)
        trod_buf_printf(out, p[i] < ' ' || p[i] > '~' ? "\\%02x" : "%c", p[i]);
    if (quote)
        trod_buf_printf(out, "\"");
}

/* NAME=TEXT unless there is none. */
static void some(const struct trod_batch *b, struct trod_slice s, const char *name,
                 struct trod_buf *out)
{
    if (s.len)
        text(b, s, name, out);
}

static void number(bool there, const char *name, uint64_t v, struct trod_buf *out)
{
    if (there)
        trod_buf_printf(out, " %s=%" PRIx64, name, v);
}

static void flag(bool there, const char *name, struct trod_buf *out)
{
    if (there)
        trod_buf_printf(out, " %s", name);
}

static void time_of(const struct trod_batch *b, uint32_t row, uint32_t has, struct trod_buf *out)
{
    unsigned decimals = has & TROD_COL_UNIT ? trod_unit_decimals(b->unit[row]) : 0;
    unsigned unit = has & TROD_COL_UNIT ? b->unit[row] & 0xf : 0;
    uint64_t scale = 1;

    for (unsigned i = 0; i < decimals; i++)
        scale *= 10;
    if (has & TROD_COL_TIME) {
        trod_buf_printf(out, " t=%" PRIu64, b->time[row] / scale);
        if (decimals)
            trod_buf_printf(out, ".%0*" PRIu64, (int)decimals, b->time[row] % scale);
        trod_buf_printf(out, "%s%s", trod_meta_unit_name(b->meta, unit),
                        b->flags[row] & TROD_F_TIME_BEFORE && has & TROD_COL_FLAGS ? "^" : "");
    } else if (unit) {
        trod_buf_printf(out, " u=%s", trod_meta_unit_name(b->meta, unit));
    }
}

static void flags_of(uint32_t flags, struct trod_buf *out)
{
    static const char *const isets[] = {"", "A32", "T32", "T32EE", "A64", "JAZELLE"};
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {
        {TROD_F_SKIPPED, "skipped"}, {TROD_F_EXCLUSIVE, "exclusive"}, {TROD_F_UNPRIV, "unpriv"},
        {TROD_F_LOCKED, "locked"},   {TROD_F_PRIV, "priv"},           {TROD_F_UNKNOWN, "unknown"},
        {TROD_F_PARTIAL, "partial"}, {TROD_F_IFETCH, "ifetch"},       {TROD_F_ABORTED, "aborted"}};
    unsigned iset = (flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT, branch = flags & TROD_F_BRANCH;
    const char *sep = " fl=";

    if (branch) {
        trod_buf_printf(out, "%s%s", sep, trod_branch_name(branch));
        sep = ",";
    }
    if (iset) {
        trod_buf_printf(out, "%s%s", sep, isets[iset]);
        sep = ",";
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (flags & names[i].flag) {
            trod_buf_printf(out, "%s%s", sep, names[i].name);
            sep = ",";
        }
}

static void mem_detail(const struct trod_batch *b, const struct trod_detail_mem *d,
                       struct trod_buf *out)
{
    some(b, d->note, "note", out);
    if (d->mask.len)
        bytes(b, d->mask, "mask", out);
    if (d->unwritten.len)
        bytes(b, d->unwritten, "unwritten", out);
    number(d->has_insn, "insn", d->insn, out);
    number(d->has_insn, "serial", d->serial, out);
    if (d->attr)
        trod_buf_printf(out, " attr=%c", d->attr);
    number(d->style >= TROD_MEM_PICTURE, "base", d->base, out);
}

static void bus_detail(const struct trod_batch *b, const struct trod_detail_bus *d,
                       struct trod_buf *out)
{
    flag(d->write, "write", out);
    flag(d->idle, "idle", out);
    flag(d->coprocessor, "coprocessor", out);
    number(d->has_cache, "inner", d->inner, out);
    number(d->has_cache, "outer", d->outer, out);
    some(b, d->master, "master", out);
    some(b, d->note, "note", out);
    if (d->mask.len)
        bytes(b, d->mask, "mask", out);
    number(d->has_insn, "insn", d->insn, out);
    number(d->has_insn, "serial", d->serial, out);
}

static void tlb_detail(const struct trod_batch *b, const struct trod_detail_tlb *d,
                       struct trod_buf *out)
{
    number(true, "bytes", d->size, out);
    some(b, d->el, "el", out);
    trod_buf_printf(out, " sec=%s", sec_names[d->sec]);
    number(d->has_vmid, "vmid", d->vmid, out);
    flag(d->non_global, "nG", out);
    number(d->has_asid, "asid", d->asid, out);
    some(b, d->memtype, "memtype", out);
    some(b, d->attrs, "attrs", out);
}

static void event_detail(const struct trod_batch *b, const struct trod_detail_event *d,
                         struct trod_buf *out)
{
    static const char *const what[] = {"exception", "mode", "debug",   "signal",
                                       "line",      "core", "debugger"};

    trod_buf_printf(out, " %s", what[d->what]);
    some(b, d->mode, "mode", out);
    number(d->has_value1, "value1", d->value1, out);
    some(b, d->rest, "rest", out);
}

static void reg_detail(const struct trod_batch *b, const struct trod_detail_reg *d,
                       struct trod_buf *out)
{
    some(b, d->note, "note", out);
    if (d->has_range)
        trod_buf_printf(out, " bits=%u:%u", d->hi, d->lo);
    some(b, d->comment, "comment", out);
    if (d->mask.len)
        bytes(b, d->mask, "mask", out);
    if (d->unwritten.len)
        bytes(b, d->unwritten, "unwritten", out);
    flag(d->system_op, "system", out);
}

/* What the detail of ROW says, each with a blank before it. */
static void detail_of(const struct trod_batch *b, uint32_t row, struct trod_buf *out)
{
    const void *p = trod_batch_detail(b, row);

    switch (b->kind[row]) {
    case TROD_INSTR: {
        const struct trod_detail_instr *d = p;

        some(b, d->mode, "mode", out);
        some(b, d->id, "id", out);
        number(d->has_paddr2, "paddr2", d->paddr2, out);
        if (d->has_paddr2)
            trod_buf_printf(out, ":%s", sec_names[d->sec2]);
        flag(d->folded, "folded", out);
        break;
    }
    case TROD_BRANCH: {
        const struct trod_detail_branch *d = p;

        number(d->has_target_paddr, "to", d->target_paddr, out);
        if (d->has_target_paddr)
            trod_buf_printf(out, ":%s", sec_names[d->target_sec]);
        break;
    }
    case TROD_REG:
        reg_detail(b, p, out);
        break;
    case TROD_READ:
    case TROD_WRITE:
        mem_detail(b, p, out);
        break;
    case TROD_ATOMIC: {
        const struct trod_detail_atomic *d = p;

        some(b, d->more, "more", out);
        if (d->mask.len)
            bytes(b, d->mask, "mask", out);
        break;
    }
    case TROD_BUS:
        bus_detail(b, p, out);
        break;
    case TROD_CACHE_OP: {
        const struct trod_detail_cache_op *d = p;

        flag(d->data_side, "data", out);
        flag(d->instr_side, "instr", out);
        flag(d->clean, "clean", out);
        flag(d->invalidate, "invalidate", out);
        some(b, d->pagesize, "page", out);
        some(b, d->memtype, "memtype", out);
        break;
    }
    case TROD_CACHE_LINE:
        some(b, ((const struct trod_detail_cache_line *)p)->op, "op", out);
        break;
    case TROD_WALK: {
        const struct trod_detail_walk *d = p;

        flag(d->update, "update", out);
        some(b, d->side, "side", out);
        some(b, d->format, "format", out);
        trod_buf_printf(out, " %u:%u", d->stage, d->level);
        some(b, d->attrs, "attrs", out);
        break;
    }
    case TROD_TLB:
        tlb_detail(b, p, out);
        break;
    default:
        event_detail(b, p, out);
    }
}

void tarmac_row_text(const struct trod_batch *b, uint32_t row, struct trod_buf *out)
{
    uint32_t has = b->has[row] & b->have, flags = has & TROD_COL_FLAGS ? b->flags[row] : 0;

    trod_buf_printf(out, "%s", trod_kind_name(b->kind[row]));
    flag(flags & TROD_F_CONT, "+", out);
    time_of(b, row, has, out);
    if (has & TROD_COL_STREAM)
        trod_buf_printf(out, " s=%s%s", b->meta->streams[b->stream[row]].name,
                        flags & TROD_F_STREAM_BEFORE ? "^" : "");
    if (has & TROD_COL_INDEX)
        trod_buf_printf(out, " i=%" PRIu64, b->index[row]);
    number(has & TROD_COL_ADDR, "a", has & TROD_COL_ADDR ? b->addr[row] : 0, out);
    if (has & TROD_COL_PADDR)
        trod_buf_printf(out, " p=%" PRIx64 ":%s", b->paddr[row],
                        sec_names[(flags & TROD_F_SEC) >> TROD_F_SEC_SHIFT]);
    if ((has & TROD_COL_PC) && b->pc[row] != b->addr[row])
        trod_buf_printf(out, " pc=%" PRIx64, b->pc[row]);
    number(has & TROD_COL_TARGET, "to", has & TROD_COL_TARGET ? b->target[row] : 0, out);
    if (has & TROD_COL_SIZE)
        trod_buf_printf(out, " n=%u", b->size[row]);
    number(has & TROD_COL_VALUE, "v", has & TROD_COL_VALUE ? b->value[row] : 0, out);
    if (has & TROD_COL_DATA)
        bytes(b, b->data[row], "d", out);
    number(has & TROD_COL_SUB, "sub", has & TROD_COL_SUB ? b->sub[row] : 0, out);
    if (has & TROD_COL_CODE)
        bytes(b, b->code[row], "c", out);
    flags_of(flags, out);
    if (has & TROD_COL_TEXT)
        text(b, b->text[row], "x", out);
    if (trod_batch_detail(b, row)) {
        size_t at = out->n;

        trod_buf_printf(out, " [");
        detail_of(b, row, out);
        if (out->n == at + 2)
            out->n = at; /* nothing but how it was written */
        else
            trod_buf_printf(out, " ]");
    }
    trod_buf_printf(out, "\n");
}

static void note_problem(void *user, const struct trod_problem *p)
{
    struct trod_buf *out = user;

    trod_buf_printf(out, "! %s line %" PRIu64, p->kind, p->at.line);
    if (p->at.text)
        trod_buf_printf(out, " caret %zu", p->at.caret);
    trod_buf_printf(out, "\n");
}

void tarmac_rows_of(const struct trod_format *f, const char *opt, const void *p, size_t n,
                    struct trod_buf *out)
{
    struct trod_span in = {p, n, 0, true};
    void *dec = calloc(1, f->dec_size), *o = test_options(f, NULL);
    char *spec = malloc(strlen(opt) + 1);
    struct trod_meta meta;
    struct trod_diag diag;
    struct trod_batch *b;
    int rc;

    if (!dec || !spec || trod_batch_new(&b, TROD_BATCH_ROWS) < 0)
        test_die("out of memory");
    strcpy(spec, opt);
    trod_meta_init(&meta);
    trod_diag_init(&diag, note_problem, out);
    if (*opt && trod_option_spec(f->options, o, spec, &diag) < 0)
        test_die("options '%s'", opt);
    if (f->start(dec, o, &in, &meta, &diag) < 0)
        test_die("start");
    b->want = TROD_COL_ALL;
    do {
        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = in.n;
        b->offset = in.offset;
        b->meta = &meta;
        rc = f->decode(dec, &in, b, &diag);
        for (uint32_t i = 0; i < b->n; i++)
            tarmac_row_text(b, i, out);
    } while (rc == TROD_DEC_FULL);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(dec);
    free(spec);
    free(o);
}
