/*
 * rows_detail.c - the fields of the detail column as names and values (trod/detail.h).
 *
 * A detail struct is identified by its kind of row and its length. How a number was written
 * (digits, separators, style) is not shown: `trod view --native` shows records as they are.
 */
#include <string.h>

#include "isa/ppc.h"
#include "show/rows.h"
#include "trod/detail.h"

struct notes {
    const struct trod_batch *b;
    struct show_note *out;
    size_t n;
    uint32_t row;
};

static struct show_note *add(struct notes *x, const char *name, enum show_note_type type)
{
    struct show_note *n = &x->out[x->n < SHOW_NOTES ? x->n++ : SHOW_NOTES - 1];

    n->name = name;
    n->type = type;
    return n;
}

static void text(struct notes *x, const char *name, struct trod_slice s)
{
    struct show_note *n;

    if (s.len == 0)
        return;
    n = add(x, name, SHOW_NOTE_TEXT);
    n->text.p = (const char *)trod_batch_bytes(x->b, s);
    n->text.cut = s.len > SHOW_NOTE_TEXT_MAX;
    n->text.n = n->text.cut ? SHOW_NOTE_TEXT_MAX : s.len;
}

static void word(struct notes *x, const char *name, const char *value)
{
    struct show_note *n = add(x, name, SHOW_NOTE_TEXT);

    n->text.p = value;
    n->text.n = strlen(value);
    n->text.cut = false;
}

static void number(struct notes *x, const char *name, uint64_t v)
{
    add(x, name, SHOW_NOTE_NUMBER)->number = v;
}

static void hex(struct notes *x, const char *name, uint64_t v)
{
    add(x, name, SHOW_NOTE_HEX)->number = v;
}

static void byte(struct notes *x, const char *name, unsigned v)
{
    add(x, name, SHOW_NOTE_BYTE)->number = v;
}

/* A number that may be negative. */
static void whole(struct notes *x, const char *name, int32_t v)
{
    add(x, name, SHOW_NOTE_SIGNED)->number = (uint64_t)(int64_t)v;
}

static void flag(struct notes *x, const char *name, bool set)
{
    if (set)
        add(x, name, SHOW_NOTE_FLAG);
}

static void sec(struct notes *x, const char *name, unsigned value)
{
    if (show_sec_name(value))
        word(x, name, show_sec_name(value));
}

static void of_instr(struct notes *x, const void *detail)
{
    const struct trod_detail_instr *d = detail;

    text(x, "mode", d->mode);
    text(x, "id", d->id);
    flag(x, "folded", d->folded);
    if (d->has_paddr2) {
        hex(x, "pa2", d->paddr2);
        sec(x, "pa2_security", d->sec2);
    }
}

static void of_branch(struct notes *x, const void *detail)
{
    const struct trod_detail_branch *d = detail;

    if (d->has_target_paddr) {
        hex(x, "target_pa", d->target_paddr);
        sec(x, "target_security", d->target_sec);
    }
}

static void of_reg(struct notes *x, const void *detail)
{
    const struct trod_detail_reg *d = detail;

    if (d->has_range) {
        number(x, "hi", d->hi);
        number(x, "lo", d->lo);
    }
    text(x, "note", d->note);
    text(x, "comment", d->comment);
}

static void of_mem(struct notes *x, const void *detail)
{
    const struct trod_detail_mem *d = detail;

    text(x, "type", d->type);
    text(x, d->bare ? "more" : "note", d->note);
    if (show_has(x->b, x->row, TROD_COL_SIZE) && d->num.digits &&
        d->num.digits != 2 * x->b->size[x->row])
        number(x, "digits", d->num.digits); /* fewer than the access has bytes for */
    if (d->has_insn) {
        hex(x, "insn", d->insn);
        number(x, "serial", d->serial);
    }
}

static void of_atomic(struct notes *x, const void *detail)
{
    const struct trod_detail_atomic *d = detail;

    text(x, "more", d->more);
}

/* "wrcbs" with dashes for what is not set. */
static const char *cacheability(unsigned bits)
{
    static const char names[32][6] = {
        "-----", "----s", "---b-", "---bs", "--c--", "--c-s", "--cb-", "--cbs",
        "-r---", "-r--s", "-r-b-", "-r-bs", "-rc--", "-rc-s", "-rcb-", "-rcbs",
        "w----", "w---s", "w--b-", "w--bs", "w-c--", "w-c-s", "w-cb-", "w-cbs",
        "wr---", "wr--s", "wr-b-", "wr-bs", "wrc--", "wrc-s", "wrcb-", "wrcbs",
    };

    return names[bits & 31];
}

static void of_bus(struct notes *x, const void *detail)
{
    const struct trod_detail_bus *d = detail;

    if (!d->idle)
        word(x, "direction", d->write ? "write" : "read");
    flag(x, "idle", d->idle);
    flag(x, "coprocessor", d->coprocessor);
    if (d->has_cache) {
        word(x, "inner", cacheability(d->inner));
        word(x, "outer", cacheability(d->outer));
    }
    text(x, "master", d->master);
    text(x, "type", d->type);
    text(x, "note", d->note);
    if (d->has_insn) {
        hex(x, "insn", d->insn);
        number(x, "serial", d->serial);
    }
}

static void of_cache_op(struct notes *x, const void *detail)
{
    const struct trod_detail_cache_op *d = detail;

    text(x, "pagesize", d->pagesize);
    text(x, "memtype", d->memtype);
}

static void of_cache_line(struct notes *x, const void *detail)
{
    const struct trod_detail_cache_line *d = detail;

    text(x, "op", d->op);
}

static void of_walk(struct notes *x, const void *detail)
{
    const struct trod_detail_walk *d = detail;

    text(x, "side", d->side);
    text(x, "format", d->format);
    number(x, "stage", d->stage);
    number(x, "level", d->level);
    flag(x, "update", d->update);
    text(x, "attrs", d->attrs);
}

static void of_tlb(struct notes *x, const void *detail)
{
    const struct trod_detail_tlb *d = detail;

    if (d->size)
        number(x, "region", d->size);
    sec(x, "virtual_security", d->sec);
    text(x, "el", d->el);
    if (d->has_vmid)
        number(x, "vmid", d->vmid);
    if (d->has_asid)
        number(x, "asid", d->asid);
    flag(x, "nonglobal", d->non_global);
    text(x, "memtype", d->memtype);
    text(x, "attrs", d->attrs);
}

static void of_event(struct notes *x, const void *detail)
{
    const struct trod_detail_event *d = detail;

    text(x, "mode", d->mode);
    if (d->has_value1)
        hex(x, "value1", d->value1);
    text(x, "rest", d->rest);
}

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The effective address as recorded, where it is not that of the row: low bits do not count. */
static void of_ppc_address(struct notes *x, const void *detail)
{
    const struct trod_detail_ppc_access *d = detail;

    if (!show_has(x->b, x->row, TROD_COL_ADDR) || x->b->addr[x->row] != be32(d->address))
        hex(x, "ea", be32(d->address));
}

/* The third word: XER of a load or store, rB of a stream of AltiVec. */
static void of_ppc_extended(struct notes *x, const void *detail)
{
    const struct trod_detail_ppc_access *d = detail;
    uint32_t third = be32(d->third);

    of_ppc_address(x, detail);
    if (x->b->kind[x->row] != TROD_PREFETCH) {
        hex(x, "xer", third);
        return;
    }
    hex(x, "rb", third);
    number(x, "count", trod_ppc_stream_of(third).count);
    whole(x, "stride", trod_ppc_stream_of(third).stride);
}

static void of_ppc_instr(struct notes *x, const void *detail)
{
    const struct trod_detail_ppc_instr *d = detail;

    hex(x, "target_pa", (uint64_t)be32(d->target_paddr) << 32 | be32(d->target_paddr + 4));
}

static void of_byu6(struct notes *x, const void *detail)
{
    const struct trod_detail_byu6 *d = detail;

    byte(x, "enables", d->enables);
    if (d->control & 15)
        number(x, "control_low", d->control & 15);
}

static void of_byu12(struct notes *x, const void *detail)
{
    static const char *const memory[] = {"uncacheable", "write-through", "write-protect",
                                         "write-back"};
    const struct trod_detail_byu12 *d = detail;

    word(x, "memory", memory[d->attributes & 3]);
    if (d->attributes & ~3)
        byte(x, "attributes", d->attributes);
}

static const struct {
    uint8_t kind;
    uint32_t len;
    void (*say)(struct notes *x, const void *detail);
} details[] = {
    {TROD_INSTR, sizeof(struct trod_detail_instr), of_instr},
    {TROD_BRANCH, sizeof(struct trod_detail_branch), of_branch},
    {TROD_REG, sizeof(struct trod_detail_reg), of_reg},
    {TROD_READ, sizeof(struct trod_detail_mem), of_mem},
    {TROD_WRITE, sizeof(struct trod_detail_mem), of_mem},
    {TROD_ATOMIC, sizeof(struct trod_detail_atomic), of_atomic},
    {TROD_BUS, sizeof(struct trod_detail_bus), of_bus},
    {TROD_CACHE_OP, sizeof(struct trod_detail_cache_op), of_cache_op},
    {TROD_CACHE_LINE, sizeof(struct trod_detail_cache_line), of_cache_line},
    {TROD_WALK, sizeof(struct trod_detail_walk), of_walk},
    {TROD_TLB, sizeof(struct trod_detail_tlb), of_tlb},
    {TROD_EXCEPTION, sizeof(struct trod_detail_event), of_event},
    {TROD_MODE, sizeof(struct trod_detail_event), of_event},
    {TROD_MARKER, sizeof(struct trod_detail_event), of_event},
    {TROD_INSTR, sizeof(struct trod_detail_ppc_instr), of_ppc_instr},
#define PPC(kind)                                                                                  \
    {kind, 4, of_ppc_address},                                                                     \
    {                                                                                              \
        kind, 8, of_ppc_extended                                                                   \
    }
    PPC(TROD_READ),
    PPC(TROD_WRITE),
    PPC(TROD_PREFETCH),
    PPC(TROD_FLUSH),
    PPC(TROD_CACHE_OP),
#undef PPC
#define BYU(kind)                                                                                  \
    {kind, sizeof(struct trod_detail_byu6), of_byu6},                                              \
    {                                                                                              \
        kind, sizeof(struct trod_detail_byu12), of_byu12                                           \
    }
    BYU(TROD_NOTE),
    BYU(TROD_READ),
    BYU(TROD_WRITE),
    BYU(TROD_BUS),
    BYU(TROD_MARKER),
#undef BYU
};

size_t show_notes_of(const struct trod_batch *b, uint32_t i, struct show_note *out)
{
    const void *detail = trod_batch_detail(b, i);
    struct notes x = {b, out, 0, i};

    for (size_t k = 0; detail && k < sizeof details / sizeof details[0]; k++) {
        if (details[k].kind == b->kind[i] && details[k].len == b->detail[i].len) {
            details[k].say(&x, detail);
            break;
        }
    }
    return x.n;
}

static void set_bits(const struct trod_batch *b, struct show_unknown *out,
                     const struct trod_detail_number *num, struct trod_slice mask,
                     struct trod_slice unwritten)
{
    out->mask = mask.len ? trod_batch_bytes(b, mask) : NULL;
    out->n = mask.len;
    out->unwritten = unwritten.len ? trod_batch_bytes(b, unwritten) : NULL;
    out->unwritten_n = unwritten.len;
    out->digits = num->digits;
}

bool show_unknown_digits(const struct trod_batch *b, uint32_t i, struct show_unknown *out)
{
    const void *detail = trod_batch_detail(b, i);
    const struct trod_slice none = {0, 0};
    uint32_t flags = show_has(b, i, TROD_COL_FLAGS) ? b->flags[i] : 0;

    memset(out, 0, sizeof *out);
    if (!(flags & (TROD_F_UNKNOWN | TROD_F_PARTIAL)))
        return false;
    out->whole = !show_has(b, i, TROD_COL_VALUE | TROD_COL_DATA);
    out->dashes = !(flags & TROD_F_UNKNOWN);
    if (!detail)
        return out->whole;
    if (b->kind[i] == TROD_REG && b->detail[i].len == sizeof(struct trod_detail_reg)) {
        const struct trod_detail_reg *d = detail;

        set_bits(b, out, &d->num, d->mask, d->unwritten);
    } else if ((b->kind[i] == TROD_READ || b->kind[i] == TROD_WRITE) &&
               b->detail[i].len == sizeof(struct trod_detail_mem)) {
        const struct trod_detail_mem *d = detail;

        set_bits(b, out, &d->num, d->mask, d->unwritten);
    } else if (b->kind[i] == TROD_ATOMIC && b->detail[i].len == sizeof(struct trod_detail_atomic)) {
        const struct trod_detail_atomic *d = detail;

        set_bits(b, out, &d->num, d->mask, none);
    } else if (b->kind[i] == TROD_BUS && b->detail[i].len == sizeof(struct trod_detail_bus)) {
        const struct trod_detail_bus *d = detail;

        set_bits(b, out, &d->num, d->mask, none);
    }
    return out->mask || out->whole;
}

char *show_put_signed(char *p, uint64_t v)
{
    if (v >> 63)
        *p++ = '-';
    return trod_put_u64(p, v >> 63 ? 0 - v : v);
}

char *show_put_note(const struct show_note *n, char *p)
{
    size_t len = strlen(n->name);
    bool quote;

    memcpy(p, n->name, len);
    p += len;
    if (n->type == SHOW_NOTE_FLAG)
        return p;
    *p++ = '=';
    if (n->type == SHOW_NOTE_NUMBER)
        return trod_put_u64(p, n->number);
    if (n->type == SHOW_NOTE_SIGNED)
        return show_put_signed(p, n->number);
    if (n->type == SHOW_NOTE_HEX || n->type == SHOW_NOTE_BYTE) {
        *p++ = '0';
        *p++ = 'x';
        return trod_put_hex(p, n->number, n->type == SHOW_NOTE_HEX ? 8 : 2);
    }
    quote = memchr(n->text.p, ' ', n->text.n) != NULL;
    if (quote)
        *p++ = '"';
    p = trod_put_visible(p, n->text.p, n->text.n);
    if (quote)
        *p++ = '"';
    return p;
}
