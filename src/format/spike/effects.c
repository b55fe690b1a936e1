/*
 * effects.c - what an instruction did, as Spike's log has it behind the opcode.
 *
 * Implements spike_effects of spike.h; docs/formats/spike.md.
 */
#include "format/spike/spike.h"

/* Bytes that the load OPCODE reads; 0: not known. */
static unsigned load_size(struct spike_dec *d, uint64_t opcode)
{
    const uint32_t facts = ln_rv_decode(&d->decoded, (uint32_t)opcode, d->meta->isa)->facts;

    return facts & (RV_LOAD | RV_LR | RV_AMO) ? facts & RV_SIZE : 0;
}

/* "x5  0x...", "x 5 0x...": the class's letter is at the cursor. */
static enum ln_result put_register(struct ln_line *l, struct ln_row r, unsigned class)
{
    uint64_t number;
    enum ln_result rc;

    l->p++;
    ln_blanks(l);
    if (!ln_dec(l, &number) || number > 31)
        return ln_bad(l, "the number of a register is due here");
    ln_blanks(l);
    if (!ln_word(l, "0x"))
        return ln_bad(l, "the value of a register is due here");
    r.kind = TROD_REG;
    r.has |= TROD_COL_TEXT | TROD_COL_SIZE;
    r.text = ln_rv_register(class, (unsigned)number);
    rc = ln_value(l, &r, &r.size);
    return rc == LN_OK ? spike_put(l, &r) : rc;
}

/* "c773_mtvec 0x..." */
static enum ln_result put_csr(struct ln_line *l, struct ln_row r)
{
    const uint8_t *name;
    uint64_t number;
    enum ln_result rc;

    l->p++;
    if (!ln_dec(l, &number) || number > 4095 || !ln_is(l, '_'))
        return ln_bad(l, "the number of a CSR and _ are due here");
    name = l->p;
    while (l->p < l->e && *l->p != ' ')
        l->p++;
    r.kind = TROD_REG;
    r.has |= TROD_COL_TEXT | TROD_COL_SIZE | TROD_COL_SUB;
    r.text = ln_slice(l, name, l->p);
    r.sub = (uint16_t)number;
    ln_blanks(l);
    if (!ln_word(l, "0x"))
        return ln_bad(l, "the value of a CSR is due here");
    rc = ln_value(l, &r, &r.size);
    return rc == LN_OK ? spike_put(l, &r) : rc;
}

/* "mem 0xADDR", "mem 0xADDR 0xVALUE": mem was read. */
static enum ln_result put_access(struct spike_dec *d, struct ln_line *l, struct ln_row r,
                                 uint64_t opcode)
{
    unsigned digits;
    enum ln_result rc;

    if (!ln_0x(l, &r.addr, &digits))
        return ln_bad(l, "the address of an access is due here");
    r.has |= TROD_COL_ADDR;
    if (l->e - l->p > 2 && l->p[0] == ' ' && l->p[1] == '0' && l->p[2] == 'x') {
        l->p += 3;
        r.kind = TROD_WRITE;
        r.has |= TROD_COL_SIZE;
        rc = ln_value(l, &r, &r.size);
        return rc == LN_OK ? spike_put(l, &r) : rc;
    }
    r.kind = TROD_READ;
    r.size = load_size(d, opcode);
    if (r.size)
        r.has |= TROD_COL_SIZE;
    return spike_put(l, &r);
}

enum ln_result spike_effects(struct spike_dec *d, struct ln_line *l, struct ln_row r,
                             const struct spike_head *h)
{
    enum ln_result rc = LN_OK;

    r.has |= TROD_COL_PC;
    r.pc = h->pc;
    while (rc == LN_OK) {
        ln_blanks(l);
        if (l->p == l->e)
            break;
        if (l->b->n - l->first >= SPIKE_ROWS_MAX) {
            l->warning = "instruction does more than there is room for: 2048 rows are given";
            break;
        }
        switch (*l->p) {
        case 'x':
            rc = put_register(l, r, LN_RV_X);
            break;
        case 'f':
            rc = put_register(l, r, LN_RV_F);
            break;
        case 'v':
            rc = put_register(l, r, LN_RV_V);
            break;
        case 'c':
            rc = put_csr(l, r);
            break;
        case 'e': /* e64 m1 l4: how vectors are used; no row */
        case 'l':
            while (l->p < l->e && *l->p != ' ')
                l->p++;
            break;
        case 'm':
            if (ln_word(l, "mem "))
                rc = put_access(d, l, r, h->opcode);
            else
                while (l->p < l->e && *l->p != ' ')
                    l->p++;
            break;
        default:
            return ln_bad(l, "a register, a CSR or mem is due here");
        }
    }
    return rc;
}
