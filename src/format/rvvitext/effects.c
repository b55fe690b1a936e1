/*
 * effects.c - what an instruction did, as RVVI-TEXT has it behind the opcode.
 *
 * Implements elements of event.h; docs/formats/rvvitext.md.
 */
#include "format/rvvitext/event.h"

enum { CSRS_MAX = 4096 };

/* ---- modes and registers */

/* MODE, VIRT, DM */
enum ln_result rvvi_mode(struct rvvi_event *ev, enum rvvi_key key)
{
    struct rvvi_mode *m, before;
    struct ln_row r;
    unsigned digits;
    uint64_t v;
    enum ln_result rc = rvvi_hex(ev->l, &v, &digits, "the number of a mode is due here");

    if (rc == LN_OK && v > (key == RVVI_MODE ? 3 : 1))
        rc = ln_bad(ev->l, key == RVVI_MODE ? "mode is not 0 to 3" : "mode is not 0 or 1");
    if (rc == LN_OK)
        rc = rvvi_row(ev, &r, TROD_MODE);
    if (rc != LN_OK)
        return rc;
    m = rvvi_mode_of(ev->d, ev->now.hart);
    before = *m;
    if (key == RVVI_MODE) {
        m->known = 1;
        m->mode = (uint8_t)v;
        if (!rvvi_leads(ev, RVVI_MODE, !ev->instr) && rvvi_amend(ev, TROD_COL_SUB))
            ev->l->b->sub[ev->row] = (uint16_t)v;
    } else if (key == RVVI_VIRT) {
        m->virtual = (uint8_t)v;
    } else {
        m->debug = (uint8_t)v;
    }
    if (m->known == before.known && m->mode == before.mode && m->virtual == before.virtual &&
        m->debug == before.debug)
        return LN_OK;
    r.has |= TROD_COL_SUB;
    r.sub = (uint16_t)(m->virtual | m->debug << 1);
    if (m->known) {
        r.has |= TROD_COL_VALUE;
        r.value = m->mode;
    }
    if (m->known || m->debug) {
        r.has |= TROD_COL_TEXT;
        r.text = ln_rv_mode(m->mode, m->virtual, m->debug);
    }
    return rvvi_put(ev, &r);
}

/* The number of a register: decimal, or hexadecimal behind 0x. */
static enum ln_result register_number(struct ln_line *l, uint64_t *number)
{
    static const char why[] = "the number of a register, 0 to 31, is due here";
    const uint8_t *from;
    unsigned digits;
    enum ln_result rc = rvvi_space(l);

    if (rc != LN_OK)
        return rc;
    from = l->p;
    rc = l->e - from > 1 && (from[1] | 0x20) == 'x' ? rvvi_hex(l, number, &digits, why)
                                                    : rvvi_dec(l, number, why);
    if (rc == LN_OK && *number > 31) {
        l->p = from;
        rc = ln_bad(l, why);
    }
    return rc;
}

/* The value of a register into R, whose register has so many BITS (0: as the digits say). */
static enum ln_result register_value(struct rvvi_event *ev, struct ln_row *r, uint64_t bits)
{
    struct ln_line *l = ev->l;
    const uint8_t *from;
    enum ln_result rc = rvvi_space(l);

    if (rc != LN_OK)
        return rc;
    from = l->p;
    if (l->e - from > 1 && *from == '0' && (from[1] | 0x20) == 'x')
        l->p += 2;
    r->has |= TROD_COL_SIZE;
    rc = ln_value(l, r, &r->size);
    if (rc == LN_OK && !rvvi_ends(l))
        rc = ln_bad(l, "a hexadecimal number is due here");
    if (rc == LN_OK && r->has & TROD_COL_VALUE && r->size < bits / 8)
        r->size = (uint32_t)bits / 8;
    return rc == LN_OK ? rvvi_put(ev, r) : rc;
}

/* "X 5 0xf00d" */
enum ln_result rvvi_reg(struct rvvi_event *ev, enum ln_rv_class class)
{
    uint64_t number;
    struct ln_row r;
    enum ln_result rc = register_number(ev->l, &number);

    if (rc == LN_OK)
        rc = rvvi_row(ev, &r, TROD_REG);
    if (rc != LN_OK)
        return rc;
    r.has |= TROD_COL_TEXT;
    r.text = ln_rv_register(class, (unsigned)number);
    return register_value(ev, &r,
                          class == LN_RV_X   ? ev->now.xlen
                          : class == LN_RV_F ? ev->now.flen
                                             : 0);
}

/* The name of CSR NUMBER becomes the text of R. */
static enum ln_result csr_text(struct rvvi_event *ev, struct ln_row *r, unsigned number)
{
    struct rvvi_dec *d = ev->d;
    const unsigned at = number % RVVI_CSRS;

    if (d->csrs[at].n == 0 || d->csrs[at].number != number) {
        char name[TROD_RV_TEXT];
        const size_t n = trod_rv_csr(name, number);

        d->csrs[at].number = (uint16_t)number;
        d->csrs[at].n = (uint8_t)(n < RVVI_CSR_NAME ? n : RVVI_CSR_NAME);
        memcpy(d->csrs[at].name, name, d->csrs[at].n);
    }
    return rvvi_text(ev, r, d->csrs[at].name, d->csrs[at].n);
}

/* "C 342 00000004": what it says of the exception is kept for that. */
enum ln_result rvvi_csr(struct rvvi_event *ev)
{
    unsigned digits;
    uint64_t number;
    struct ln_row r;
    enum ln_result rc = rvvi_hex(ev->l, &number, &digits, "the number of a CSR is due here");

    if (rc == LN_OK && number >= CSRS_MAX)
        rc = ln_bad(ev->l, "number of a CSR is above fff");
    if (rc == LN_OK)
        rc = rvvi_row(ev, &r, TROD_REG);
    if (rc == LN_OK)
        rc = csr_text(ev, &r, (unsigned)number);
    if (rc != LN_OK)
        return rc;
    r.has |= TROD_COL_SUB;
    r.sub = (uint16_t)number;
    rc = register_value(ev, &r, ev->now.xlen);
    if (rc != LN_OK || !(r.has & TROD_COL_VALUE))
        return rc;
    if (number == 0x342 || number == 0x142 || number == 0x242) {
        ev->has_cause = true;
        ev->cause = r.value;
    } else if (number == 0x343 || number == 0x143 || number == 0x243) {
        ev->has_tval = true;
        ev->tval = r.value;
    }
    return LN_OK;
}

/* ---- memory */

/* What an access of OP is. */
static enum trod_kind access_kind(const struct ln_rv_op *op)
{
    /* vectors, half precision, short ones of Zcb and Zcmp: what the tables do not have */
    static const struct {
        uint16_t mask, value;
        uint8_t kind;
    } others[] = {
        {0x7f, 0x03, TROD_READ},      {0x7f, 0x07, TROD_READ},      {0x7f, 0x23, TROD_WRITE},
        {0x7f, 0x27, TROD_WRITE},     {0x7f, 0x2f, TROD_ATOMIC},    {0xe803, 0x8000, TROD_READ},
        {0xe803, 0x8800, TROD_WRITE}, {0xff03, 0xb802, TROD_WRITE}, {0xff03, 0xba02, TROD_READ},
        {0xff03, 0xbc02, TROD_READ},  {0xff03, 0xbe02, TROD_READ}};

    if (op->facts & RV_AMO)
        return TROD_ATOMIC;
    if (op->facts & (RV_STORE | RV_SC))
        return TROD_WRITE;
    if (op->facts & (RV_LOAD | RV_LR))
        return TROD_READ;
    if (op->facts & RV_PREFETCH)
        return TROD_PREFETCH;
    if (op->facts & RV_FLUSH)
        return TROD_FLUSH;
    for (size_t i = 0; !op->name && i < sizeof others / sizeof *others; i++)
        if ((op->opcode & others[i].mask) == others[i].value)
            return (enum trod_kind)others[i].kind;
    return TROD_NOTE;
}

/* An access of the instruction: what it is, its opcode says. KEY is the word MEM. */
static enum ln_result put_access(struct rvvi_event *ev, struct ln_row *r, const uint8_t *key)
{
    const struct ln_rv_op *op = NULL;
    enum trod_kind kind = TROD_NOTE;
    enum ln_result rc = LN_OK;

    if (ev->instr) {
        op = ln_rv_decode(&ev->d->decoded, (uint32_t)ev->opcode, ev->d->meta->isa);
        kind = access_kind(op);
    }
    r->kind = (uint8_t)kind;
    r->has |= TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PADDR;
    if (op && op->facts & (RV_LR | RV_SC))
        r->flags |= TROD_F_EXCLUSIVE;
    if (kind == TROD_NOTE) {
        r->has |= TROD_COL_TEXT;
        r->text = ln_slice(ev->l, key, key + 3);
    } else if (kind == TROD_ATOMIC && op && op->name) {
        rc = rvvi_text(ev, r, op->name, strlen(op->name));
    }
    return rc == LN_OK ? rvvi_put(ev, r) : rc;
}

/* "MEM D 4 0x10000 0x10000 0", "MEM I 4 80 80 1 PTE 1234"; KEY is the word MEM. */
enum ln_result rvvi_mem(struct rvvi_event *ev, const uint8_t *key)
{
    struct ln_line *l = ev->l;
    uint64_t bytes, count;
    unsigned digits, bus = 0;
    struct ln_row r;
    enum ln_result rc = rvvi_space(l);

    if (rc == LN_OK && l->p < l->e)
        bus = *l->p++ & 0xdfu;
    if (rc == LN_OK && ((bus != 'D' && bus != 'I') || !rvvi_ends(l)))
        rc = ln_bad(l, "D or I is due here");
    if (rc == LN_OK)
        rc = rvvi_dec(l, &bytes, "a number of bytes is due here");
    if (rc == LN_OK && bytes > UINT32_MAX)
        rc = ln_bad(l, "access has too many bytes");
    if (rc == LN_OK)
        rc = rvvi_row(ev, &r, TROD_NOTE);
    if (rc == LN_OK)
        rc = rvvi_hex(l, &r.addr, &digits, "the address of an access is due here");
    if (rc == LN_OK)
        rc = rvvi_hex(l, &r.paddr, &digits, "the physical address of an access is due here");
    if (rc == LN_OK)
        rc = rvvi_dec(l, &count, "a number of attributes is due here");
    if (rc == LN_OK)
        rc = rvvi_words(l, count < LN_LINE_MAX ? 2 * count : LN_LINE_MAX);
    if (rc != LN_OK)
        return rc;
    r.size = (uint32_t)bytes;
    if (bus == 'D')
        return put_access(ev, &r, key);
    if (ev->instr && r.addr == ev->pc && rvvi_amend(ev, TROD_COL_PADDR))
        l->b->paddr[ev->row] = r.paddr;
    return LN_OK;
}
