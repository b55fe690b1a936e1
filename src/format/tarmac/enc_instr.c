/*
 * enc_instr.c - lines of instructions, branches and register writes.
 *
 * Implements docs/formats/tarmac.md, "Writing".
 */
#include "format/tarmac/encode.h"

enum { CODE_BYTES = 16, ES_MODE = 9 };

static const struct trod_detail_instr no_instr;
static const struct trod_detail_branch no_branch;
static const struct trod_detail_reg no_reg;

static char iset_letter(unsigned iset)
{
    static const char letters[] = "?ATXOJ";

    return iset < 6 ? letters[iset] : '?';
}

/*
 * The instruction set of a line that names none, as far as it shows: only Thumb has opcodes of 16
 * bits, in two halves, or at odd halfwords, and one of 32 bits begins with 111 and not 00 there.
 */
static unsigned shown_iset(const struct tm_put *o, const struct trod_detail_instr *d)
{
    const bool coded = (o->has & TROD_COL_CODE) && o->b->code[o->row].len;
    const uint32_t size = coded                    ? o->b->code[o->row].len
                          : o->has & TROD_COL_SIZE ? o->b->size[o->row]
                                                   : 0;
    const uint8_t *p = coded ? trod_batch_bytes(o->b, o->b->code[o->row]) : NULL;
    uint32_t op;

    if (size == 2 || (d->style & TROD_INSTR_SPLIT) || (o->b->addr[o->row] & 2))
        return TROD_ISET_T32;
    if (!coded || size != 4)
        return TROD_ISET_NONE;
    op = o->e->opt.endian == TM_BIG ? trod_load_be32(p) : trod_load_le32(p);
    return op >> 29 == 7 && op >> 27 != 0x1c ? TROD_ISET_NONE : TROD_ISET_A32;
}

/*
 * The same, or where nothing shows that of the trace: rows are counted whose line names it (STYLE).
 */
__attribute__((noinline)) static unsigned
guessed_iset(const struct tm_put *o, const struct trod_detail_instr *d, unsigned style)
{
    const unsigned shown = o->e->meta->isa == TROD_ISA_A64 ? o->e->iset : shown_iset(o, d);

    o->e->guessed += shown == TROD_ISET_NONE && !(style & TROD_INSTR_NO_COLON);
    return shown ? shown : o->e->iset;
}

/* The instruction set that the letter of a line stands for. */
static unsigned iset_of(const struct tm_put *o, const struct trod_detail_instr *d, unsigned style)
{
    const unsigned iset = (o->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT;

    if (iset || !o->e->read)
        return iset ? iset : o->e->iset;
    return guessed_iset(o, d, style);
}

/* Is the line written without an instruction set, and read as Thumb's for its odd halfword? */
static bool nameless_thumb(const struct tm_put *o, const struct trod_detail_instr *d, unsigned iset)
{
    return o->e->same &&
           (d->style & (TROD_INSTR_NO_COLON | TROD_INSTR_ES)) == TROD_INSTR_NO_COLON &&
           !(o->flags & TROD_F_ISET) && iset != TROD_ISET_A32 && (o->b->addr[o->row] & 2);
}

/* The opcode as a number of its own width. */
static void put_code(struct tm_put *o, const struct trod_detail_instr *d, unsigned iset, bool upper)
{
    const uint8_t *p = trod_batch_bytes(o->b, o->b->code[o->row]);
    uint32_t n = o->has & TROD_COL_CODE ? o->b->code[o->row].len : 0, size = 4;
    bool big = o->e->opt.endian == TM_BIG, halves;

    if (d->code_prefix && o->e->same)
        tm_puts(o, "0x");
    if (n == 0) {
        if ((o->has & TROD_COL_SIZE) && o->b->size[o->row] && o->b->size[o->row] <= CODE_BYTES)
            size = o->b->size[o->row];
        if ((o->has & TROD_COL_SIZE) && size != o->b->size[o->row])
            tm_lose(o, TROD_COL_SIZE, "no opcode is of so many bytes");
        memset(o->p, '-', size * 2);
        o->p += size * 2;
        return;
    }
    if (n && (o->has & TROD_COL_SIZE) && n != o->b->size[o->row])
        tm_lose(o, TROD_COL_SIZE, "the opcode has another one");
    if (n > CODE_BYTES) {
        n = CODE_BYTES;
        tm_lose(o, TROD_COL_CODE, "no opcode has more than 16 bytes");
    }
    halves = n % 2 == 0 && !big &&
             (iset == TROD_ISET_T32 || iset == TROD_ISET_T32EE || (d->style & TROD_INSTR_SPLIT) ||
              nameless_thumb(o, d, iset));
    for (uint32_t i = 0; halves && i < n; i += 2) {
        if (i == 2 && (d->style & TROD_INSTR_SPLIT) && o->e->same)
            tm_putc(o, (char)d->pad_code);
        tm_put_hex(o, trod_load_le16(p + i), 4, upper);
    }
    for (uint32_t i = 0; !halves && i < n; i++)
        tm_put_hex(o, p[big ? i : n - 1 - i], 2, upper);
}

static void put_text(struct tm_put *o, const struct trod_detail_instr *d)
{
    const struct trod_slice text = o->b->text[o->row];
    const uint8_t *p;

    tm_put_blanks(o, o->e->same ? d->pad_before : 0);
    if ((o->has & TROD_COL_TEXT) && text.len) {
        if (o->e->dialect == TM_GEM5 && !o->e->same && !o->e->flavour->matcher)
            tm_put_blanks(o, 2);
        p = trod_batch_bytes(o->b, text);
        tm_put_bytes(o, p, text.len);
        for (uint8_t *q = o->p - text.len; !o->e->own && q < o->p; q++)
            *q = *q < ' ' ? ' ' : *q; /* no line ends inside */
    }
    tm_put_blanks(o, o->e->same ? d->pad_after : 0);
}

/* Iset, mode, colon and disassembly of an IT line. */
static void put_tail(struct tm_put *o, const struct trod_detail_instr *d, unsigned style,
                     unsigned iset)
{
    bool named = (o->flags & TROD_F_ISET) || !(style & TROD_INSTR_NO_COLON);

    if (named && (style & TROD_INSTR_WIDE)) {
        tm_puts(o, (o->has & TROD_COL_CODE) && o->b->code[o->row].len == 4 ? " T32" : " T16");
    } else if (named) {
        tm_putc(o, ' ');
        tm_putc(o, iset_letter(iset));
    }
    if (d->mode.len) {
        tm_putc(o, ' ');
        tm_put_slice(o, d->mode);
    }
    if (!(style & TROD_INSTR_NO_COLON))
        tm_puts(o, " :");
    if (!(o->e->same && d->tight))
        tm_putc(o, ' ');
    put_text(o, d);
}

static void put_addresses(struct tm_put *o, const struct trod_detail_instr *d, bool upper)
{
    tm_put_vaddr(o, o->b->addr[o->row], d->addr_digits, upper);
    if ((o->has & TROD_COL_PADDR) && !(o->e->flavour->matcher && !o->e->same)) {
        tm_putc(o, ':');
        tm_put_paddr(o, o->b->paddr[o->row], d->paddr_digits, upper);
        tm_put_sec(o, (o->flags & TROD_F_SEC) >> TROD_F_SEC_SHIFT);
    }
    if (d->has_paddr2 && !(o->e->flavour->matcher && !o->e->same)) {
        tm_putc(o, ',');
        tm_put_paddr(o, d->paddr2, 0, upper);
        tm_put_sec(o, d->sec2);
    }
}

static bool write_es(struct tm_put *o, const struct trod_detail_instr *d, unsigned iset)
{
    bool same = o->e->same, upper = same && (d->style & TROD_INSTR_UPPER);
    size_t filled;

    tm_leave_out(o, !same && (d->folded || d->has_paddr2 || d->id.len));
    tm_put_head(o, true);
    tm_puts(o, "ES  (");
    if (same)
        tm_put_vaddr(o, o->b->addr[o->row], d->addr_digits, upper);
    else
        tm_put_hex(o, o->b->addr[o->row],
                   iset == TROD_ISET_A64 || o->b->addr[o->row] >> 32 ? 16 : 8, false);
    tm_putc(o, ':');
    put_code(o, d, iset, upper);
    tm_puts(o, ") ");
    if (same && (d->style & TROD_INSTR_WIDE))
        tm_puts(o, (o->has & TROD_COL_CODE) && o->b->code[o->row].len == 4 ? "T32" : "T16");
    else
        tm_putc(o, iset_letter(iset));
    tm_putc(o, ' ');
    filled = d->mode.len + 1;
    if (d->mode.len || !(same && (d->style & TROD_INSTR_NO_COLON))) {
        tm_put_slice(o, d->mode);
        tm_putc(o, ':');
    }
    if (!(o->has & TROD_COL_TEXT) && !(o->flags & TROD_F_SKIPPED))
        return true;
    if (filled < ES_MODE)
        tm_put_blanks(o, ES_MODE - filled);
    tm_puts(o, o->flags & TROD_F_SKIPPED ? "CCFAIL " : "       ");
    put_text(o, d);
    return true;
}

/* Which count the instruction belongs to. */
static size_t stream_slot(const struct tm_put *o)
{
    return o->has & TROD_COL_STREAM ? o->b->stream[o->row] % TM_COUNTS : 0;
}

/* (index): the row's, or the word that stood there instead, or the count of instructions. */
static void put_index(struct tm_put *o, const struct trod_detail_instr *d)
{
    tm_putc(o, '(');
    if (d->id.len && o->e->same)
        tm_put_slice(o, d->id);
    else
        tm_put_decimal(o,
                       o->has & TROD_COL_INDEX ? o->b->index[o->row] : o->e->count[stream_slot(o)]);
    tm_puts(o, ") ");
}

bool tm_write_instr(struct tm_put *o)
{
    const struct trod_detail_instr *d = o->detail ? o->detail : &no_instr;
    bool drawn = d->style & TROD_INSTR_ES;
    unsigned style = o->e->same && !drawn ? d->style : 0, iset;
    bool upper = style & TROD_INSTR_UPPER;

    if (!(o->has & TROD_COL_ADDR))
        return false;
    iset = iset_of(o, d, style);
    if (o->e->same ? drawn : o->e->dialect == TM_ES && !o->e->flavour->matcher)
        return write_es(o, d, iset);
    tm_leave_out(o, !o->e->same && (d->id.len || (d->has_paddr2 && o->e->flavour->matcher)));
    tm_put_head(o, true);
    tm_puts(o, o->flags & TROD_F_SKIPPED ? "IS " : d->folded ? "IF " : "IT ");
    o->e->count[stream_slot(o)]++;
    if (style & TROD_INSTR_BRACKET) {
        tm_putc(o, '(');
        put_addresses(o, d, upper);
        tm_puts(o, ") ");
    } else if ((style & TROD_INSTR_SERIAL) && (o->has & TROD_COL_INDEX) && !d->id.len) {
        tm_putc(o, '(');
        tm_put_hex(o, o->b->addr[o->row], o->b->addr[o->row] >> 32 ? 16 : 8, upper);
        tm_putc(o, ':');
        tm_put_hex(o, o->b->index[o->row], o->b->index[o->row] >> 32 ? 16 : 8, upper);
        tm_puts(o, ") ");
    } else if (!(style & TROD_INSTR_BARE)) {
        put_index(o, d);
    }
    if (!(style & TROD_INSTR_BRACKET)) {
        put_addresses(o, d, upper);
        tm_putc(o, ' ');
    }
    put_code(o, d, iset, upper);
    put_tail(o, d, style, iset);
    return true;
}

/* BR (target) iset */
static bool write_br(struct tm_put *o, const struct trod_detail_branch *d)
{
    unsigned iset = (o->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT;
    uint64_t target = o->b->target[o->row];

    tm_put_head(o, false);
    tm_puts(o, "BR (");
    if (o->e->same)
        tm_put_vaddr(o, target, d->target_digits, false);
    else
        tm_put_hex(o, target, iset == TROD_ISET_A64 || target >> 32 ? 16 : 8, false);
    if (d->has_target_paddr) {
        tm_putc(o, ':');
        tm_put_paddr(o, d->target_paddr, d->target_paddr_digits, false);
        tm_put_sec(o, d->target_sec);
    }
    tm_putc(o, ')');
    if (iset) {
        tm_putc(o, ' ');
        tm_putc(o, iset_letter(iset));
    }
    return true;
}

bool tm_write_branch(struct tm_put *o)
{
    const struct trod_detail_branch *d = o->detail ? o->detail : &no_branch;
    unsigned iset = (o->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT;
    const char *word = "FD ";

    if (!(o->has & TROD_COL_TARGET))
        return false;
    if (d->target_only || !(o->has & TROD_COL_ADDR)) {
        trod_loss_branch(o->e->loss, o->b, o->row, TROD_BR_OTHER, false, "BR lines do not tell it");
        return write_br(o, d);
    }
    switch (o->flags & TROD_F_BRANCH) {
    case TROD_BR_COND_UNTAKEN:
        return false;
    case TROD_BR_INDIRECT:
    case TROD_BR_ICALL:
    case TROD_BR_RETURN:
    case TROD_BR_OTHER:
        word = "FI ";
        break;
    case TROD_BR_ERET:
        word = "FR ";
        break;
    default:
        break;
    }
    tm_put_head(o, false); /* what the branch is besides, as a call, is no matter of these lines */
    tm_puts(o, word);
    if (o->has & TROD_COL_INDEX) {
        tm_putc(o, '(');
        tm_put_decimal(o, o->b->index[o->row]);
        tm_puts(o, ") ");
    }
    tm_put_vaddr(o, o->b->addr[o->row], d->addr_digits, false);
    if (o->has & TROD_COL_PADDR) {
        tm_putc(o, ':');
        tm_put_paddr(o, o->b->paddr[o->row], d->paddr_digits, false);
        tm_put_sec(o, (o->flags & TROD_F_SEC) >> TROD_F_SEC_SHIFT);
    }
    tm_putc(o, ' ');
    tm_put_vaddr(o, o->b->target[o->row], d->target_digits, false);
    if (d->has_target_paddr) {
        tm_putc(o, ':');
        tm_put_paddr(o, d->target_paddr, d->target_paddr_digits, false);
        tm_put_sec(o, d->target_sec);
    }
    if (iset) {
        tm_putc(o, ' ');
        tm_putc(o, iset_letter(iset));
    }
    return true;
}

/* The name of a register, which Trace Matcher has in lower case. */
static void put_register(struct tm_put *o)
{
    uint8_t *p = o->p;

    tm_put_name(o, o->b->text[o->row], "");
    for (; o->e->flavour->matcher && !o->e->from_matcher && p < o->p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p |= 0x20;
}

bool tm_write_reg(struct tm_put *o)
{
    const struct trod_detail_reg *d = o->detail ? o->detail : &no_reg;
    struct tm_number n;
    uint8_t memory[8];

    if (!(o->has & TROD_COL_TEXT) || !o->b->text[o->row].len)
        return false;
    tm_put_head(o, false);
    tm_puts(o, "R ");
    if (d->system_op)
        tm_put_slice(o, o->b->text[o->row]);
    else
        put_register(o);
    if (d->note.len) {
        tm_puts(o, " (");
        tm_put_slice(o, d->note);
        tm_putc(o, ')');
    }
    if (d->has_range) {
        tm_putc(o, '<');
        tm_put_decimal(o, d->hi);
        tm_putc(o, ':');
        tm_put_decimal(o, d->lo);
        tm_putc(o, '>');
    }
    if (!d->system_op || (o->has & (TROD_COL_SIZE | TROD_COL_VALUE | TROD_COL_DATA))) {
        tm_row_number(o, o->row, &d->num, d->mask, tm_row_size(o, o->row), memory, &n);
        tm_number_unwritten(o, d->unwritten, &n);
        if (!o->e->same && n.sep == ' ' && !(o->has & (TROD_COL_VALUE | TROD_COL_DATA))) {
            n.digits = 16; /* a value of dashes would be read together with the next word */
            n.sep = 0;
            tm_lose(o, TROD_COL_SIZE, "what is not known is no list of words");
        }
        tm_putc(o, ' ');
        tm_put_number(o, &n);
    }
    if (d->comment.len) {
        tm_putc(o, ' ');
        tm_put_slice(o, d->comment);
    }
    return true;
}
