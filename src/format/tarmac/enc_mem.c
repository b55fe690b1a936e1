/*
 * enc_mem.c - lines of memory accesses: one-line style and pictures of 16 bytes.
 *
 * Implements docs/formats/tarmac.md, "Writing".
 */
#include "format/tarmac/encode.h"

enum { PICTURE = 16, SIZE_MAX_DIGITS = 9999, PADDR_DIGITS = 10 };

static const struct trod_detail_mem no_mem;
static const struct trod_detail_atomic no_atomic;

/* Bytes the access is about, as its type word says. */
static uint32_t size_of(const struct tm_put *o, uint32_t row)
{
    uint32_t has = o->b->has[row] & o->b->have;

    return has & TROD_COL_SIZE ? o->b->size[row] : tm_row_size(o, row);
}

static void put_addresses(struct tm_put *o, unsigned addr_digits, unsigned paddr_digits, bool upper)
{
    tm_put_vaddr(o, o->b->addr[o->row], addr_digits, upper);
    if (!(o->has & TROD_COL_PADDR))
        return;
    if (o->e->flavour->matcher && !o->e->same)
        return;
    tm_putc(o, ':');
    tm_put_paddr(o, o->b->paddr[o->row], paddr_digits, upper);
    tm_put_sec(o, (o->flags & TROD_F_SEC) >> TROD_F_SEC_SHIFT);
}

/* MR4X: the letters are those of the format. */
static void put_type(struct tm_put *o, uint32_t size)
{
    bool matcher = o->e->flavour->matcher;

    tm_puts(o, o->b->kind[o->row] == TROD_WRITE ? "MW" : "MR");
    tm_put_decimal(o, size);
    if (o->flags & TROD_F_IFETCH)
        tm_puts(o, "_I");
    else if (o->flags & (matcher ? TROD_F_PRIV : TROD_F_EXCLUSIVE))
        tm_putc(o, 'X');
    if (!(o->flags & TROD_F_IFETCH) && (o->flags & TROD_F_UNPRIV))
        tm_putc(o, 'T');
    if (!(o->flags & TROD_F_IFETCH) && (o->flags & TROD_F_LOCKED))
        tm_putc(o, 'L');
    if (o->flags & TROD_F_IFETCH &&
        o->flags & (TROD_F_EXCLUSIVE | TROD_F_PRIV | TROD_F_UNPRIV | TROD_F_LOCKED))
        tm_lose(o, TROD_COL_FLAGS, "a fetch has no other letter");
}

/* The value, in memory order where an RTL type word says so; separate words in address order. */
static void put_value(struct tm_put *o, const struct trod_detail_mem *d, bool typed, uint32_t size)
{
    uint8_t memory[8];
    struct tm_number n;

    tm_row_number(o, o->row, &d->num, d->mask, size, memory, &n);
    if (!typed && n.digits > size * 2) { /* MR2_I of a Cortex-M0: the whole word of the bus */
        tm_lose(o, TROD_COL_VALUE, "the bus shows more bytes than the access has");
        n.digits = size * 2;
    }
    tm_number_unwritten(o, d->unwritten, &n);
    n.reversed = typed && d->turned && n.digits == size * 2;
    n.words = typed && !n.reversed && n.sep == ' ' && n.group == 8 && n.digits == 16;
    tm_put_number(o, &n);
}

/* Has D anything that only its own dialect can write: letters of RTL, or the instruction? */
static bool of_rtl(const struct trod_detail_mem *d)
{
    enum { TYPE = 8 };

    return d->has_insn || (d->type.len == TYPE && d->style < TROD_MEM_PICTURE);
}

bool tm_write_mem(struct tm_put *o)
{
    const struct trod_detail_mem *d = o->detail ? o->detail : &no_mem;
    bool picture = d->style >= TROD_MEM_PICTURE, typed = o->e->same && d->type.len && !picture;
    bool upper = o->e->same && !picture && d->num.upper;
    uint32_t size = size_of(o, o->row);
    bool valued = (o->has & (TROD_COL_VALUE | TROD_COL_DATA)) != 0;
    struct trod_detail_mem plain;

    if (!(o->has & TROD_COL_ADDR) || size > SIZE_MAX_DIGITS || size == 0)
        return false;
    tm_leave_out(o, picture ? d->note.len > 0 : !o->e->same && of_rtl(d));
    if (picture) {
        plain = no_mem;
        plain.mask = d->mask;
        d = &plain;
    }
    tm_put_head(o, false);
    if (typed)
        tm_put_slice(o, d->type);
    else
        put_type(o, size);
    tm_putc(o, ' ');
    if (typed && d->has_insn) {
        tm_putc(o, '(');
        tm_put_hex(o, d->insn, d->insn >> 32 ? 16 : 8, false);
        tm_putc(o, ':');
        tm_put_hex(o, d->serial, d->serial >> 32 ? 16 : 8, false);
        tm_puts(o, ") ");
    }
    put_addresses(o, d->addr_digits, d->paddr_digits, upper);
    if (valued || d->num.digits || d->num.unknown || d->num.sep || d->num.prefix ||
        o->flags & TROD_F_PARTIAL || !((d->note.len && !d->bare) || (o->flags & TROD_F_ABORTED))) {
        tm_putc(o, ' ');
        put_value(o, d, typed, size);
    }
    if (d->note.len) {
        tm_puts(o, d->bare ? " " : " (");
        tm_put_slice(o, d->note);
        tm_puts(o, d->bare ? "" : ")");
    } else if (o->flags & TROD_F_ABORTED) {
        tm_puts(o, " (ABORTED)");
    }
    return true;
}

bool tm_write_atomic(struct tm_put *o)
{
    const struct trod_detail_atomic *d = o->detail ? o->detail : &no_atomic;
    uint32_t size = size_of(o, o->row);
    struct tm_number n;
    uint8_t memory[8];

    if (!(o->has & TROD_COL_ADDR) || !(o->has & TROD_COL_TEXT) || !o->b->text[o->row].len ||
        size > SIZE_MAX_DIGITS || size == 0)
        return false;
    tm_put_head(o, false);
    tm_puts(o, "MU");
    tm_put_decimal(o, size);
    tm_putc(o, '_');
    tm_put_name(o, o->b->text[o->row], "");
    tm_putc(o, ' ');
    put_addresses(o, d->addr_digits, d->paddr_digits, false);
    tm_puts(o, d->named ? " old=" : " ");
    tm_row_number(o, o->row, &d->num, d->mask, size, memory, &n);
    tm_put_number(o, &n);
    if (d->more.len) {
        tm_putc(o, ' ');
        tm_put_slice(o, d->more);
    }
    return true;
}

/* What 16 bytes from BASE are. */
struct picture {
    uint64_t base;
    uint8_t byte[PICTURE], state[PICTURE]; /* 0: not accessed, 1: known, 2: not known */
};

/* The bytes of ROW that lie in the picture. */
static void draw(const struct tm_put *o, uint32_t row, struct picture *pic)
{
    const struct trod_batch *b = o->b;
    const struct trod_detail_mem *d = &no_mem;
    uint32_t has = b->has[row] & b->have, size = size_of(o, row), len = 0;
    const uint8_t *p = NULL, *mask = NULL;
    uint8_t memory[8];

    if ((has & TROD_COL_DETAIL) && b->detail[row].len == sizeof *d)
        d = trod_batch_detail(b, row);
    if (d->mask.len)
        mask = trod_batch_bytes(b, d->mask);
    if ((has & TROD_COL_DATA) && b->data[row].len) {
        p = trod_batch_bytes(b, b->data[row]);
        len = b->data[row].len;
    } else if (has & TROD_COL_VALUE) {
        trod_store_le64(memory, b->value[row]);
        p = memory;
        len = 8;
    }
    for (uint64_t i = 0; i < size; i++) {
        uint64_t at = b->addr[row] + i - pic->base;

        if (at >= PICTURE)
            continue;
        pic->byte[at] = p && i < len ? p[i] : 0;
        pic->state[at] = p && !(mask && i < d->mask.len && mask[i]) ? 1 : 2;
    }
}

static void put_picture(struct tm_put *o, const struct picture *pic, bool upper)
{
    for (unsigned i = PICTURE; i-- > 0;) {
        if (pic->state[i] == 1)
            tm_put_hex(o, pic->byte[i], 2, upper);
        else
            tm_puts(o, pic->state[i] ? "##" : "..");
        if (i % 4 == 0 && i)
            tm_putc(o, ' ');
    }
}

/* Physical address of the base and attributes. */
static void put_picture_tail(struct tm_put *o, const struct trod_detail_mem *d, uint64_t base)
{
    unsigned sec = (o->flags & TROD_F_SEC) >> TROD_F_SEC_SHIFT, digits = PADDR_DIGITS;
    uint64_t paddr;

    if (o->has & TROD_COL_PADDR) {
        paddr = o->b->paddr[o->row] - (o->b->addr[o->row] - base);
        if (o->e->same && d->style >= TROD_MEM_PICTURE) {
            sec = d->sec_prefix;
            digits = d->paddr_digits && d->paddr_digits <= 16 ? d->paddr_digits : digits;
        }
        tm_puts(o, sec == 1 ? "    S:" : sec == 2 ? "    NS:" : "    ");
        while (digits < 16 && paddr >> digits * 4)
            digits++;
        tm_put_hex(o, paddr, digits, o->e->same && d->num.upper);
    }
    if (d->style >= TROD_MEM_PICTURE && d->note.len) {
        tm_puts(o, "    ");
        tm_put_slice(o, d->note);
    }
}

/* One line: the picture of BASE, with the rows of the record from the first one on in it. */
static void put_line(struct tm_put *o, const struct trod_detail_mem *d, uint64_t base, bool more)
{
    struct tm_enc *e = o->e;
    struct picture pic = {.base = base};
    bool same = e->same && d->style >= TROD_MEM_PICTURE;
    unsigned digits = e->meta->isa == TROD_ISA_A64 || base >> 32 ? 16 : 8;
    uint8_t kind = o->b->kind[o->row];
    uint8_t *from = o->glued ? o->line : o->p;

    if (same && d->addr_digits)
        digits = d->addr_digits > 16 ? 16 : d->addr_digits;
    for (uint32_t i = 0; i < o->n; i++)
        draw(o, o->row + i, &pic);
    if (more) {
        tm_put_blanks(o, e->picture_column);
    } else {
        if (!o->glued)
            tm_put_head(o, false);
        tm_puts(o, kind == TROD_READ ? "LD " : "ST ");
        e->picture_column = (uint32_t)(o->p - from);
    }
    while (digits < 16 && base >> digits * 4)
        digits++;
    tm_put_hex(o, base, digits, same && d->num.upper);
    tm_putc(o, ' ');
    put_picture(o, &pic, same && d->num.upper);
    put_picture_tail(o, d, base);
    e->picture = kind;
}

/*
 * What a picture cannot say of an access: who may see it besides secure and others, and digits: it
 * says of whole bytes that they are not known, and of none that it is not written.
 */
static void lose_in_picture(struct tm_put *o, const struct trod_detail_mem *d)
{
    const uint8_t *mask = d->mask.len ? trod_batch_bytes(o->b, d->mask) : NULL;
    const bool valued = o->has & (TROD_COL_VALUE | TROD_COL_DATA);
    bool half = false;

    for (uint32_t i = 0; i < d->mask.len; i++)
        half = half || (mask[i] != 0 && mask[i] != 0xff);
    if (half)
        tm_lose(o, TROD_COL_VALUE | TROD_COL_DATA, "of a byte that is known in part all is lost");
    else if (valued && (o->flags & TROD_F_PARTIAL))
        tm_lose(o, TROD_COL_VALUE | TROD_COL_DATA, "what is not written becomes unknown");
    if ((o->flags & TROD_F_SEC) >> TROD_F_SEC_SHIFT > TROD_SEC_NONSECURE)
        tm_lose(o, TROD_COL_FLAGS, "pictures are secure or not");
    else if (!valued && (o->flags & TROD_F_PARTIAL))
        tm_lose(o, TROD_COL_FLAGS, "what is not written becomes unknown");
}

bool tm_write_pictures(struct tm_put *o)
{
    const struct trod_detail_mem *d = o->detail ? o->detail : &no_mem;
    uint32_t size = size_of(o, o->row);
    bool drawn = o->e->same && d->style >= TROD_MEM_PICTURE;
    uint64_t base, end;

    if (!(o->has & TROD_COL_ADDR) || size > SIZE_MAX_DIGITS || (size == 0 && !drawn))
        return false;
    if (!drawn) {
        tm_leave_out(o, of_rtl(d) || d->bare);
        o->n = 1;
        lose_in_picture(o, d);
    }
    base = drawn ? d->base : o->b->addr[o->row] & ~(uint64_t)(PICTURE - 1);
    if (drawn) {
        put_line(o, d, base,
                 d->style == TROD_MEM_PICTURE_CONT && o->e->picture == o->b->kind[o->row] &&
                     !tm_says_head(o));
        return true;
    }
    end = o->b->addr[o->row] + size - base;
    put_line(o, d, base, false);
    for (uint64_t at = PICTURE; at < end; at += PICTURE) {
        tm_putc(o, '\n');
        o->e->lines++;
        put_line(o, d, base + at, true);
    }
    return true;
}
