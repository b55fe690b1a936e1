/*
 * rows.c - the parts of a row that the listing, JSON and CSV share.
 */
#include "show/rows.h"

#include "core/sized.h"
#include "core/times.h"
#include "trod/format.h"

#include <stdlib.h>
#include <string.h>

enum { OPCODE_MAX = 1024 }; /* bytes shown */

int trod_show_new(struct trod_show **out, const struct trod_show_options *opt)
{
    struct trod_show_options own;
    struct trod_show *s;

    *out = NULL;
    if (!trod_sized(&own, sizeof own, sizeof own, opt))
        return TROD_ERR_USAGE;
    opt = &own;
    *out = s = calloc(1, sizeof *s);
    if (!s)
        return TROD_ERR_NOMEM;
    s->meta = opt->meta;
    s->symbols = opt->symbols;
    s->times = opt->times;
    s->colour = opt->colour;
    s->compact = opt->compact;
    show_prepare(s);
    return 0;
}

void trod_show_free(struct trod_show *s)
{
    if (s)
        free(s->site);
    free(s);
}

void trod_show_disasm(struct trod_show *s, struct trod_disasm *d)
{
    s->disasm = d;
    free(s->site); /* what was shown without */
    s->site = NULL;
}

static const struct {
    uint32_t bit;
    const char *name;
} flags[] = {
    {TROD_F_SKIPPED, "skipped"},     {TROD_F_ABORTED, "aborted"},   {TROD_F_EXCLUSIVE, "exclusive"},
    {TROD_F_UNPRIV, "unprivileged"}, {TROD_F_LOCKED, "locked"},     {TROD_F_PRIV, "privileged"},
    {TROD_F_UNKNOWN, "unknown"},     {TROD_F_PARTIAL, "partial"},   {TROD_F_SYNTHETIC, "synthetic"},
    {TROD_F_KERNEL, "kernel"},       {TROD_F_NOFETCH, "nofetch"},   {TROD_F_NEWCODE, "newcode"},
    {TROD_F_IFETCH, "fetch"},        {TROD_F_UNCACHED, "uncached"}, {TROD_F_IO, "io"},
    {TROD_F_HOLES, "holes"},
};

static const char *const line_ops[] = {NULL, "alloc", "inval", "dirty", "clean", "fill", "evict"};
static const char *const tlb_ops[] = {"fill", "evict", "walkcache-fill", "walkcache-evict"};
static const char *const thread_ops[] = {"begin", "end"};

#define NAME_OF(table, i) ((i) < sizeof(table) / sizeof(table)[0] ? (table)[i] : NULL)

const char *show_iset_name(unsigned iset)
{
    return iset == TROD_ISET_NONE ? NULL : trod_iset_name(iset);
}

const char *show_sec_name(unsigned sec)
{
    return sec == TROD_SEC_NONE ? NULL : trod_sec_name(sec);
}

const char *show_sub_name(unsigned kind, unsigned sub)
{
    switch (kind) {
    case TROD_CACHE_LINE:
        return NAME_OF(line_ops, sub);
    case TROD_TLB:
        return NAME_OF(tlb_ops, sub);
    case TROD_THREAD:
        return NAME_OF(thread_ops, sub);
    default:
        return NULL;
    }
}

const char *show_record_name(const struct trod_batch *b, uint32_t i)
{
    const struct trod_format *f = b->meta ? b->meta->driver : NULL;

    return f && f->sub_name && show_has(b, i, TROD_COL_SUB) ? f->sub_name(b->kind[i], b->sub[i])
                                                            : NULL;
}

const char *show_stream_word(const struct trod_meta *m)
{
    return m->driver && m->driver->streams ? m->driver->streams : "cpu";
}

size_t show_flag_names(const struct trod_batch *b, uint32_t i, const char **names)
{
    size_t n = 0;

    if (!show_has(b, i, TROD_COL_FLAGS) || !(b->flags[i] >> 10))
        return 0;
    for (size_t k = 0; k < sizeof flags / sizeof flags[0]; k++) {
        if (b->flags[i] & flags[k].bit)
            names[n++] = flags[k].name;
    }
    return n;
}

static char *words(char *p, const uint8_t *code, uint32_t n, uint32_t unit)
{
    for (uint32_t i = 0; i < n; i += unit)
        p = trod_put_bytes_reversed(p, code + i, n - i < unit ? n - i : unit);
    return p;
}

char *show_put_opcode(const struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p)
{
    const uint8_t *code = trod_batch_bytes(b, b->code[i]);
    uint32_t n = b->code[i].len;
    unsigned iset = show_has(b, i, TROD_COL_FLAGS)
                        ? (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT
                        : TROD_ISET_NONE;

    if (n > OPCODE_MAX)
        n = OPCODE_MAX;
    if (r->meta->isa == TROD_ISA_X86_32 || r->meta->isa == TROD_ISA_X86_64 ||
        (r->meta->endian == TROD_ENDIAN_BIG && iset != TROD_ISET_A64))
        return trod_put_bytes(p, code, n);
    /* Thumb opcodes are halfwords, the first first; A64 is little-endian whatever the data is */
    if (iset == TROD_ISET_T32 || iset == TROD_ISET_T32EE)
        return words(p, code, n, 2);
    /* what names its instruction set, and what is of an unknown one, may have opcodes of 64 bits */
    return words(p, code, n,
                 (iset != TROD_ISET_NONE || r->meta->isa == TROD_ISA_UNKNOWN) && n <= 8 ? 8 : 4);
}

/*
 * How the value of row I is read. Where the format does not say: values that count or name
 * something are decimal; markers without a name may be anything.
 */
static unsigned value_form(const struct trod_batch *b, uint32_t i)
{
    const struct trod_format *f = b->meta ? b->meta->driver : NULL;
    unsigned kind = b->kind[i], form = TROD_VALUE_ANY;

    if (f && f->value_form && show_has(b, i, TROD_COL_SUB))
        form = f->value_form(kind, b->sub[i]);
    if (form != TROD_VALUE_ANY)
        return form;
    return kind == TROD_SYNC || kind == TROD_THREAD ||
                   (kind == TROD_MARKER && show_has(b, i, TROD_COL_TEXT))
               ? TROD_VALUE_DECIMAL
               : TROD_VALUE_HEX;
}

/* Of the result V of a call: the error code, 0 if it is none. */
static unsigned error_code(const struct trod_batch *b, uint64_t v)
{
    uint64_t minus = b->meta && b->meta->addr_bits == 32 ? (uint32_t)(0 - v) : 0 - v;

    return minus > 0 && minus < 4096 ? (unsigned)minus : 0;
}

/*
 * The digits of row I's value that are not known, of the DIGITS that stand at P, become '?' or,
 * where the record says that they are not written, '-'. FORWARD: the first two are of the byte with
 * the lowest address.
 */
static void hide_unknown(const struct trod_batch *b, uint32_t i, size_t digits, char *p,
                         bool forward)
{
    struct show_unknown u;

    if (!show_unknown_digits(b, i, &u))
        return;
    for (size_t k = 0; k < digits; k++) {
        unsigned shift = k & 1 ? 4 : 0;
        size_t at = k / 2;
        bool dash = u.unwritten ? at < u.unwritten_n && u.unwritten[at] >> shift & 15 : u.dashes;

        if (u.mask ? at < u.n && u.mask[at] >> shift & 15 : u.whole)
            p[forward ? 2 * at + !(k & 1) : digits - 1 - k] = dash ? '-' : '?';
    }
}

/* A value of which no digit is known, as wide as the record shows it; P unchanged if it is none. */
static char *put_unknown(const struct trod_batch *b, uint32_t i, char *p)
{
    bool bus = b->kind[i] == TROD_BUS;
    struct show_unknown u;
    size_t n;

    if (!show_unknown_digits(b, i, &u) || !u.whole)
        return p;
    n = u.digits ? u.digits : show_has(b, i, TROD_COL_SIZE) ? 2 * (size_t)b->size[i] : 0;
    if (n == 0 || n > TROD_SHOW_TEXT / 2)
        return p;
    if (!bus) {
        *p++ = '0';
        *p++ = 'x';
    }
    memset(p, '?', n);
    hide_unknown(b, i, n, p, bus);
    return p + n;
}

char *show_put_value(const struct trod_batch *b, uint32_t i, char *p)
{
    if (show_has(b, i, TROD_COL_VALUE)) {
        unsigned digits = 1, form = value_form(b, i);
        char *start;

        if (form == TROD_VALUE_DECIMAL)
            return trod_put_u64(p, b->value[i]);
        if (form == TROD_VALUE_RESULT && error_code(b, b->value[i])) {
            *p++ = '-';
            return trod_put_u64(p, error_code(b, b->value[i]));
        }
        if (b->kind[i] == TROD_CACHE_LINE)
            digits = 4; /* as the manual's examples have it */
        else if (show_has(b, i, TROD_COL_SIZE) && b->size[i] <= 8)
            digits = b->size[i] ? 2 * b->size[i] : 1;
        *p++ = '0';
        *p++ = 'x';
        start = p;
        p = trod_put_hex(p, b->value[i], digits);
        hide_unknown(b, i, (size_t)(p - start), start, false);
        return p;
    }
    if (show_has(b, i, TROD_COL_DATA) && b->data[i].len) {
        const uint8_t *data = trod_batch_bytes(b, b->data[i]);
        /* in the order of addresses, of the file */
        bool forward =
            b->kind[i] == TROD_BUS || b->kind[i] == TROD_STATE || b->kind[i] == TROD_MARKER;
        size_t n = b->data[i].len;
        bool cut = n > TROD_SHOW_TEXT / 2;
        char *start;

        if (cut)
            n = TROD_SHOW_TEXT / 2;
        if (!forward) {
            *p++ = '0';
            *p++ = 'x';
        }
        start = p;
        p = forward ? trod_put_bytes(p, data, n) : trod_put_bytes_reversed(p, data, n);
        if (!cut)
            hide_unknown(b, i, 2 * n, start, forward);
        if (cut) {
            memcpy(p, "...", 3);
            p += 3;
        }
        return p;
    }
    return put_unknown(b, i, p);
}

static uint8_t unit_of(const struct trod_batch *b, uint32_t i, const struct trod_meta *m)
{
    return show_has(b, i, TROD_COL_UNIT) ? b->unit[i] : m->unit;
}

void show_turn(struct trod_show *r, const struct trod_batch *b, uint32_t i)
{
    struct show_time *t;
    uint8_t unit;

    if (r->times == TROD_SHOW_ABSOLUTE || !show_has(b, i, TROD_COL_TIME))
        return;
    unit = unit_of(b, i, r->meta);
    t = &r->clock[trod_time_class(unit)];
    if (!t->known) {
        t->since = b->time[i];
        t->since_unit = unit;
    } else if (r->times == TROD_SHOW_PREVIOUS) {
        t->since = t->last;
        t->since_unit = t->last_unit;
    }
    t->last = b->time[i];
    t->last_unit = unit;
    t->known = true;
}

char *show_put_time(const struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p)
{
    const uint8_t unit = unit_of(b, i, r->meta);
    const struct show_time *t;
    struct trod_gap gap;

    if (r->times == TROD_SHOW_ABSOLUTE)
        return trod_put_fixed(p, b->time[i], trod_unit_decimals(unit));
    t = &r->clock[trod_time_class(unit)];
    gap = trod_time_gap(t->since, t->since_unit, b->time[i], unit);
    if (gap.back) /* clocks of several cores need not rise from row to row */
        *p++ = '-';
    return trod_put_fixed(p, gap.number, gap.decimals);
}

const char *show_unit(const struct trod_batch *b, uint32_t i, const struct trod_meta *m)
{
    return trod_meta_unit_name(m, unit_of(b, i, m));
}

char *show_put_stream(const struct trod_batch *b, uint32_t i, const struct trod_meta *m, char *p)
{
    uint32_t n = b->stream[i];

    if (n < m->n_streams && m->streams[n].name_len) {
        size_t len = m->streams[n].name_len;

        return trod_put_visible(p, m->streams[n].name,
                                len > SHOW_NAME_MAX / 4 ? SHOW_NAME_MAX / 4 : len);
    }
    if (n < m->n_streams && m->streams[n].tid != TROD_NOWHERE)
        return trod_put_u64(p, m->streams[n].tid);
    *p++ = '#';
    return trod_put_u64(p, n);
}

char *show_put_symbol(struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p)
{
    const char *name;
    uint64_t offset;
    size_t n;

    if (!r->symbols || !show_has(b, i, TROD_COL_ADDR) ||
        !trod_symbols_find(r->symbols, b->addr[i], &name, &offset))
        return p;
    n = strlen(name);
    p = trod_put_visible(p, name, n > TROD_SHOW_TEXT / 8 ? TROD_SHOW_TEXT / 8 : n);
    if (offset) {
        memcpy(p, "+0x", 3);
        p = trod_put_hex(p + 3, offset, 1);
    }
    return p;
}

static struct show_text slice_text(const struct trod_batch *b, struct trod_slice s)
{
    struct show_text t = {(const char *)trod_batch_bytes(b, s), s.len, s.len > TROD_SHOW_TEXT};

    if (t.cut)
        t.n = TROD_SHOW_TEXT;
    return t;
}

struct show_text show_text_of(struct trod_show *r, const struct trod_batch *b, uint32_t i)
{
    struct show_text t = {"", 0, false};

    if (b->kind[i] == TROD_NOTE && show_has(b, i, TROD_COL_RAW) && b->raw[i].len) {
        t = slice_text(b, b->raw[i]);
        while (t.n && (t.p[t.n - 1] == '\n' || t.p[t.n - 1] == '\r'))
            t.n--;
        return t;
    }
    if (show_has(b, i, TROD_COL_TEXT) && b->text[i].len)
        return slice_text(b, b->text[i]);
    if (show_record_name(b, i)) {
        t.p = show_record_name(b, i);
        t.n = strlen(t.p);
        return t;
    }
    if (r->disasm && b->kind[i] == TROD_INSTR && show_has(b, i, TROD_COL_CODE) && b->code[i].len) {
        unsigned iset = show_has(b, i, TROD_COL_FLAGS)
                            ? (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT
                            : TROD_ISET_NONE;

        t.p = trod_disasm_text(r->disasm, iset, show_has(b, i, TROD_COL_ADDR) ? b->addr[i] : 0,
                               trod_batch_bytes(b, b->code[i]), b->code[i].len, &t.n);
    }
    return t;
}
