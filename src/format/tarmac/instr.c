/*
 * instr.c - instructions and program flow: IT IS IF, ES, FD FI FR, BR.
 *
 * Implements docs/formats/tarmac.md, "Instructions" (TarmacTrace, "Instruction
 * trace" and "Program flow trace", and the forms of RTL, Cycle Models and ARMulator).
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

#include <strings.h>

enum { OPCODE_BYTES = 16 };

/* An opcode as written: hex digits, perhaps in two halves, or dashes. */
struct opcode {
    uint8_t byte[OPCODE_BYTES]; /* the highest first */
    unsigned digits;
    uint8_t split; /* character between the halves */
    bool unknown, upper, prefix;
};

static bool all_dashes(struct tm_word w)
{
    for (size_t i = 0; i < w.n; i++)
        if (w.p[i] != '-')
            return false;
    return w.n > 0;
}

/* W without the 0x that may stand before an opcode. */
static struct tm_word without_prefix(struct tm_word w, bool *prefix)
{
    *prefix = w.n > 2 && w.p[0] == '0' && (w.p[1] | 0x20) == 'x';
    return *prefix ? (struct tm_word){w.p + 2, w.n - 2} : w;
}

/* Whether W looks like an opcode (or half of one): 2, 4, 8 or 16 digits, f000_b800, or dashes. */
static bool opcode_like(struct tm_word w)
{
    bool prefix;

    w = without_prefix(w, &prefix);
    if (w.n == 9 && w.p[4] == '_')
        return tm_is_hex((struct tm_word){w.p, 4}) && tm_is_hex((struct tm_word){w.p + 5, 4});
    return (w.n == 2 || w.n == 4 || w.n == 8 || w.n == 16) && (tm_is_hex(w) || all_dashes(w));
}

/*
 * Could W be an opcode of unusual width, rather than the first word of a disassembly? Letters alone
 * are one where an instruction set follows: LETTER.
 */
static bool odd_opcode_like(struct tm_word w, bool letter)
{
    size_t digits = 0;

    if (w.n % 2 || w.n > 2 * OPCODE_BYTES)
        return false;
    for (size_t i = 0; i < w.n; i++)
        digits += w.p[i] >= '0' && w.p[i] <= '9';
    return all_dashes(w) || (tm_is_hex(w) && (w.n > 8 || digits > 0 || letter));
}

/* Is the next word of L the letter of an instruction set? L stays where it is. */
static bool letter_follows(struct tm_line *l)
{
    const uint8_t *back = l->p;
    bool wide;
    const bool is = tm_iset_letter(tm_word(l), &wide) >= 0;

    l->p = back;
    return is;
}

/* Append the digits of W (an even number) to those of OP. */
static void add_digits(struct opcode *op, struct tm_word w)
{
    for (size_t i = 0; i < w.n; i++) {
        uint8_t *byte = &op->byte[op->digits / 2];

        *byte = (uint8_t)(*byte << 4 | tm_hex_table[w.p[i]]);
        op->upper |= w.p[i] >= 'A' && w.p[i] <= 'F';
        op->digits++;
    }
}

static int parse_opcode(struct tm_line *l, struct tm_word w, struct opcode *out)
{
    memset(out, 0, sizeof *out);
    if (!w.n)
        return tm_bad(l, TM_MISSING_FIELD, w.p, "an opcode is missing");
    w = without_prefix(w, &out->prefix);
    if (!opcode_like(w) && (w.n % 2 || w.n > 2 * OPCODE_BYTES || !(tm_is_hex(w) || all_dashes(w))))
        return tm_bad(l, TM_BAD_NUMBER, w.p, "opcode is not an even number of hexadecimal digits");
    if (all_dashes(w)) {
        out->unknown = true;
        out->digits = (unsigned)w.n;
        return TM_OK;
    }
    if (w.n == 9) {
        out->split = '_';
        add_digits(out, (struct tm_word){w.p, 4});
        w = (struct tm_word){w.p + 5, 4};
    }
    add_digits(out, w);
    return TM_OK;
}

/* A second half that follows as a word of its own: f000 b800. */
static void second_half(struct tm_line *l, struct opcode *op)
{
    const uint8_t *back = l->p;
    struct tm_word w = tm_word(l);

    if (op->digits == 4 && !op->unknown && w.n == 4 && tm_is_hex(w)) {
        add_digits(op, w);
        op->split = ' ';
        return;
    }
    l->p = back;
}

/* How OP was written. */
static void put_style(struct trod_detail_instr *detail, const struct opcode *op)
{
    if (op->split) {
        detail->style |= TROD_INSTR_SPLIT;
        detail->pad_code = op->split;
    }
    if (op->upper)
        detail->style |= TROD_INSTR_UPPER;
    detail->code_digits = op->unknown ? (uint8_t)op->digits : 0;
    detail->code_prefix = op->prefix;
}

/* Opcode bytes in memory order: code and size of ROW. */
static int put_code(struct tm_line *l, struct tm_row *row, const struct opcode *op, int iset)
{
    uint32_t n = op->digits / 2;
    bool big = l->d->opt.endian == TM_BIG, halves;
    uint8_t *p;

    row->size = n;
    row->has |= TROD_COL_SIZE;
    if (op->unknown)
        return TM_OK;
    if (!(p = trod_batch_pool(l->b, n, &row->code)))
        return TM_FULL;
    row->has |= TROD_COL_CODE;
    for (uint32_t i = 0; i < n; i++)
        p[i] = op->byte[big ? i : n - 1 - i];
    halves = iset == TROD_ISET_T32 || iset == TROD_ISET_T32EE || op->split ||
             (iset == TROD_ISET_NONE && (row->addr & 2)); /* where only Thumb has instructions */
    if (n % 2 == 0 && halves && !big)
        for (uint32_t i = 0; i < n; i += 2) { /* the first halfword comes first */
            p[i] = op->byte[i + 1];
            p[i + 1] = op->byte[i];
        }
    return TM_OK;
}

/* The instruction set that the options give to a line without one. */
static int default_iset(const struct tm_line *l)
{
    return l->d->opt.iset == 1   ? TROD_ISET_A32
           : l->d->opt.iset == 2 ? TROD_ISET_T32
                                 : TROD_ISET_NONE;
}

/*
 * Disassembly: the rest of the line. Blanks around it are counted, less the USUAL ones before it.
 */
static void put_text(struct tm_line *l, struct tm_row *row, struct trod_detail_instr *detail,
                     size_t usual)
{
    const uint8_t *from = l->p, *e = l->e;
    size_t blanks;

    while (from < e && (*from == ' ' || *from == '\t'))
        from++;
    while (e > from && (e[-1] == ' ' || e[-1] == '\t' || e[-1] == '\r'))
        e--;
    blanks = (size_t)(from - l->p);
    detail->tight = blanks < usual;
    detail->pad_before = (uint8_t)(blanks < usual         ? 0
                                   : blanks - usual > 255 ? 255
                                                          : blanks - usual);
    detail->pad_after = (uint8_t)(l->e - e > 255 ? 255 : l->e - e);
    if (from < e) {
        row->text = tm_slice(l, (struct tm_word){from, (size_t)(e - from)});
        row->has |= TROD_COL_TEXT;
    }
    l->p = l->e;
}

/* Whether W is the name of a mode, as the manuals have them. */
static bool mode_like(struct tm_word w)
{
    static const char *const modes[] = {"svc",  "irq",  "fiq",    "usr",  "mon",     "sys",  "abt",
                                        "und",  "hyp",  "el0t",   "el1t", "el1h",    "el2t", "el2h",
                                        "el3t", "el3h", "thread", "thrd", "handler", "hndl", "---"};
    static const char *const ends[] = {"", "_s", "_ns", "_n", "_rt", "_rl", "_-"};

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        size_t n = strlen(modes[i]);

        if (w.n < n || strncasecmp((const char *)w.p, modes[i], n) != 0)
            continue;
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            if (w.n == n + strlen(ends[k]) && memcmp(w.p + n, ends[k], w.n - n) == 0)
                return true;
    }
    return false;
}

/*
 * Whether the colon stands without a blank behind the mode that begins W ("EL1h_n: NOP",
 * "svc:NOP"): then W becomes the mode, and the line goes on behind the colon.
 */
static bool tight_colon(struct tm_line *l, struct tm_word *w)
{
    const uint8_t *colon = w->n ? memchr(w->p, ':', w->n) : NULL;
    struct tm_word mode = {w->p, colon ? (size_t)(colon - w->p) : 0};

    if (!colon || (colon + 1 < w->p + w->n ? !mode_like(mode) : !mode.n))
        return false;
    *w = mode;
    l->p = colon + 1;
    return true;
}

/* Iset, mode, colon and disassembly, any but the last of which may be missing. */
static int put_tail(struct tm_line *l, struct tm_row *row, struct trod_detail_instr *detail,
                    const struct opcode *op)
{
    const uint8_t *back = l->p;
    struct tm_word w = tm_word(l);
    bool wide, colon = false;
    int iset = tm_iset_letter(w, &wide);

    if (iset < 0) {
        l->p = back;
        iset = default_iset(l);
        detail->style |= TROD_INSTR_NO_COLON;
    } else {
        back = l->p;
        w = tm_word(l);
        if (tm_is(w, ":")) {
            colon = true; /* no mode */
        } else if (tight_colon(l, &w)) {
            colon = true;
            detail->mode = tm_slice(l, w);
        } else if (w.n) {
            struct tm_word next = tm_word(l);

            colon = tm_is(next, ":") || (next.n && *next.p == ':' && mode_like(w));
            if (colon)
                l->p = next.p + 1;
            if (colon || (!next.n && mode_like(w))) {
                detail->mode = tm_slice(l, w);
                back = w.p + w.n;
            }
        }
        if (!colon) {
            l->p = back;
            detail->style |= TROD_INSTR_NO_COLON;
        }
        if (wide)
            detail->style |= TROD_INSTR_WIDE;
    }
    put_text(l, row, detail, 1);
    row->flags |= (uint32_t)iset << TROD_F_ISET_SHIFT;
    return put_code(l, row, op, iset);
}

static int put_address(struct tm_line *l, struct tm_row *row, struct trod_detail_instr *detail,
                       struct tm_word w)
{
    struct tm_addr a;
    int rc = detail->style & TROD_INSTR_ES ? tm_address(l, w, &a) : tm_fetch_address(l, w, &a);

    if (rc != TM_OK)
        return rc;
    tm_address_row(row, &a);
    row->pc = row->addr;
    row->has |= TROD_COL_PC;
    detail->addr_digits = tm_vdigits(a.vaddr, a.digits);
    detail->paddr_digits = a.has_paddr ? tm_pdigits(a.paddr, a.pdigits) : 0;
    detail->has_paddr2 = a.has_paddr2;
    detail->paddr2 = a.paddr2;
    detail->sec2 = a.sec2;
    if (a.upper)
        detail->style |= TROD_INSTR_UPPER;
    return TM_OK;
}

/*
 * (address:index) of RTL, both hexadecimal, before the address of ROW. A bracket that says another
 * address than the line does is kept as written.
 */
static int serial_bracket(struct tm_line *l, struct tm_row *row, struct trod_detail_instr *detail,
                          struct tm_word in)
{
    const uint8_t *colon = memchr(in.p, ':', in.n);
    struct tm_word address = {in.p, (size_t)(colon - in.p)},
                   serial = {colon + 1, (size_t)(in.p + in.n - colon - 1)};
    uint64_t at;
    int rc = tm_hex(l, address, &at);

    if (rc != TM_OK)
        return rc;
    if (at != row->addr)
        detail->id = tm_slice(l, in);
    row->has |= TROD_COL_INDEX;
    return tm_hex(l, serial, &row->index);
}

/*
 * The bracket and the address. What the bracket holds follows from the fields behind it: an address
 * and an opcode (then it is the index) or only the opcode (then it is the address).
 */
static int bracket_and_address(struct tm_line *l, struct tm_row *row,
                               struct trod_detail_instr *detail, struct tm_word *op)
{
    struct tm_word in, w, next;
    const uint8_t *behind;
    bool wide;
    int rc = tm_bracket(l, &in);

    if (rc != TM_OK)
        return rc;
    w = tm_word(l);
    behind = l->p;
    next = tm_word(l);
    if (memchr(in.p, ':', in.n) && tm_is_hex(w)) {
        detail->style |= TROD_INSTR_SERIAL;
        *op = next;
        rc = put_address(l, row, detail, w);
        return rc == TM_OK ? serial_bracket(l, row, detail, in) : rc;
    }
    if (tm_is_hex(in) && in.n >= 8 && opcode_like(w) && w.n <= 9 &&
        (tm_iset_letter(next, &wide) >= 0 ||
         !(opcode_like(next) || odd_opcode_like(next, letter_follows(l))) ||
         (w.n == 4 && next.n == 4 && in.n >= 8))) {
        detail->style |= TROD_INSTR_BRACKET;
        *op = w;
        l->p = behind;
        return put_address(l, row, detail, in);
    }
    *op = next;
    if (tm_is_hex(in) && !tm_is_decimal(in)) {
        detail->id = tm_slice(l, in); /* no document says what number it is */
        return put_address(l, row, detail, w);
    }
    row->has |= TROD_COL_INDEX;
    if ((rc = tm_decimal_number(l, in, &row->index)) != TM_OK)
        return rc;
    return put_address(l, row, detail, w);
}

int tm_parse_instr(struct tm_line *l, struct tm_word type)
{
    struct tm_row *row = tm_begin(l, TROD_INSTR);
    struct trod_detail_instr *detail;
    const uint8_t *back = l->p;
    struct tm_word w = tm_word(l), op_word;
    struct opcode op;
    int rc;

    l->p = back;

    if (w.n && *w.p != '(' && !tm_is_hex((struct tm_word){w.p, w.n < 8 ? w.n : 8}))
        return tm_parse_exc(l, type, tm_is(w, "EXC") ? TROD_EVENT_IT : TROD_EVENT_IT_NAME);
    if (!(detail = tm_detail(l, row, sizeof *detail)))
        return TM_FULL;
    if (tm_is(type, "IS"))
        row->flags |= TROD_F_SKIPPED;
    detail->folded = tm_is(type, "IF");
    if (w.n && *w.p == '(') {
        rc = bracket_and_address(l, row, detail, &op_word);
    } else {
        detail->style |= TROD_INSTR_BARE;
        rc = put_address(l, row, detail, tm_word(l));
        op_word = tm_word(l);
    }
    if (rc != TM_OK || (rc = parse_opcode(l, op_word, &op)) != TM_OK)
        return rc;
    second_half(l, &op);
    put_style(detail, &op);
    if ((rc = put_tail(l, row, detail, &op)) == TM_OK)
        tm_add(l);
    return rc;
}

/* What stands between the colon of an ES line and its disassembly. */
static void es_text(struct tm_line *l, struct tm_row *row, struct trod_detail_instr *detail,
                    size_t mode_len)
{
    /* mode and colon fill 9 columns, CCFAIL or 6 blanks follow, then a blank */
    size_t usual = mode_len + 1 < 9 ? 8 - mode_len : 0;
    const uint8_t *at = l->p;

    if (tm_is(tm_word(l), "CCFAIL")) {
        row->flags |= TROD_F_SKIPPED;
        put_text(l, row, detail, 1);
        detail->tight = 0;
        return;
    }
    l->p = at;
    put_text(l, row, detail, usual + 7);
    if (!(row->has & TROD_COL_TEXT)) {
        detail->pad_before = detail->pad_after = 0;
    }
    detail->tight = 0;
}

int tm_parse_es(struct tm_line *l, struct tm_word type)
{
    struct tm_row *row = tm_begin(l, TROD_INSTR);
    struct trod_detail_instr *detail;
    struct tm_word in, w, op_word;
    const uint8_t *colon;
    struct opcode op;
    bool wide;
    int rc, iset;

    tm_blanks(l);
    if (l->p == l->e)
        return tm_bad(l, TM_MISSING_FIELD, l->p, "'(' is missing");
    if (*l->p != '(') {
        const uint8_t *back = l->p;
        bool exc = tm_is(tm_word(l), "EXC");

        l->p = back;
        return tm_parse_exc(l, type, exc ? TROD_EVENT_ES : TROD_EVENT_ES_NAME);
    }
    if (!(detail = tm_detail(l, row, sizeof *detail)))
        return TM_FULL;
    detail->style = TROD_INSTR_ES;
    if ((rc = tm_bracket(l, &in)) != TM_OK)
        return rc;
    colon = memchr(in.p, ':', in.n);
    if (!colon)
        return tm_bad(l, TM_MISSING_FIELD, in.p + in.n, "':' is missing in (address:opcode)");
    w = (struct tm_word){in.p, (size_t)(colon - in.p)};
    op_word = (struct tm_word){colon + 1, in.n - w.n - 1};
    if ((rc = put_address(l, row, detail, w)) != TM_OK ||
        (rc = parse_opcode(l, op_word, &op)) != TM_OK)
        return rc;
    put_style(detail, &op);
    w = tm_word(l);
    iset = tm_iset_letter(w, &wide);
    if (iset < 0)
        return tm_bad(l, w.n ? TM_BAD_FIELD : TM_MISSING_FIELD, w.p,
                      "instruction set is none of A, T, X, O and J");
    row->flags |= (uint32_t)iset << TROD_F_ISET_SHIFT;
    if (wide)
        detail->style |= TROD_INSTR_WIDE;
    w = tm_word(l);
    if (w.n && (colon = memchr(w.p, ':', w.n)) != NULL) {
        w.n = (size_t)(colon - w.p);
        detail->mode = tm_slice(l, w);
        l->p = colon + 1;
    } else {
        l->p = w.p;
        w.n = 0;
        detail->style |= TROD_INSTR_NO_COLON;
    }
    es_text(l, row, detail, w.n);
    if (op.unknown)
        row->flags |= TROD_F_ABORTED;
    if ((rc = put_code(l, row, &op, iset)) == TM_OK)
        tm_add(l);
    return rc;
}

/* Where a branch goes. */
static void put_target(struct tm_row *row, struct trod_detail_branch *detail,
                       const struct tm_addr *to)
{
    row->target = to->vaddr;
    row->has |= TROD_COL_TARGET;
    detail->target_paddr = to->paddr;
    detail->has_target_paddr = to->has_paddr;
    detail->target_sec = to->sec;
    detail->target_digits = tm_vdigits(to->vaddr, to->digits);
    detail->target_paddr_digits = to->has_paddr ? tm_pdigits(to->paddr, to->pdigits) : 0;
}

/* The instruction set there, if the line says it. */
static int branch_iset(struct tm_line *l, struct tm_row *row, struct trod_detail_branch *detail)
{
    struct tm_word w = tm_word(l);
    bool wide;
    int iset;

    if (w.n == 0)
        return TM_OK;
    if ((iset = tm_iset_letter(w, &wide)) < 0)
        return tm_bad(l, TM_BAD_FIELD, w.p, "instruction set is none of A, T, X, O and J");
    detail->has_iset = 1;
    row->flags |= (uint32_t)iset << TROD_F_ISET_SHIFT;
    return TM_OK;
}

int tm_parse_flow(struct tm_line *l, struct tm_word type)
{
    struct tm_row *row = tm_begin(l, TROD_BRANCH);
    struct trod_detail_branch *detail = tm_detail(l, row, sizeof *detail);
    struct tm_addr from, to;
    struct tm_word in;
    int rc;

    if (!detail)
        return TM_FULL;
    row->flags |= tm_is(type, "FD")   ? TROD_BR_DIRECT
                  : tm_is(type, "FI") ? TROD_BR_INDIRECT
                                      : TROD_BR_ERET;
    tm_blanks(l);
    if (l->p < l->e && *l->p == '(') {
        if ((rc = tm_bracket(l, &in)) != TM_OK ||
            (rc = tm_decimal_number(l, in, &row->index)) != TM_OK)
            return rc;
        row->has |= TROD_COL_INDEX;
    }
    if ((rc = tm_address(l, tm_word(l), &from)) != TM_OK ||
        (rc = tm_address(l, tm_word(l), &to)) != TM_OK)
        return rc;
    row->has |= TROD_COL_PC;
    tm_address_row(row, &from);
    row->pc = row->addr;
    detail->addr_digits = tm_vdigits(from.vaddr, from.digits);
    detail->paddr_digits = from.has_paddr ? tm_pdigits(from.paddr, from.pdigits) : 0;
    put_target(row, detail, &to);
    if ((rc = branch_iset(l, row, detail)) != TM_OK || (rc = tm_end(l)) != TM_OK)
        return rc;
    tm_add(l);
    return TM_OK;
}

int tm_parse_br(struct tm_line *l, struct tm_word type)
{
    struct tm_row *row = tm_begin(l, TROD_BRANCH);
    struct trod_detail_branch *detail = tm_detail(l, row, sizeof *detail);
    struct tm_addr to;
    struct tm_word in;
    int rc;

    (void)type;
    if (!detail)
        return TM_FULL;
    if ((rc = tm_bracket(l, &in)) != TM_OK || (rc = tm_address(l, in, &to)) != TM_OK)
        return rc;
    row->flags |= TROD_BR_OTHER;
    detail->target_only = 1;
    put_target(row, detail, &to);
    if ((rc = branch_iset(l, row, detail)) != TM_OK || (rc = tm_end(l)) != TM_OK)
        return rc;
    tm_add(l);
    return TM_OK;
}
