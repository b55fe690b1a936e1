/*
 * effects.c - what an instruction did, as Spike's log has it behind the opcode.
 *
 * Implements spike_effects of spike.h; docs/formats/spike.md.
 */
#include "format/spike/spike.h"
#include "isa/riscv.h"

/* Names of registers, where batches find them: three bytes each. */
#define NAMES(c)                                                                                   \
    c "0 " c "1 " c "2 " c "3 " c "4 " c "5 " c "6 " c "7 " c "8 " c "9 " c "10" c "11" c "12" c   \
      "13" c "14" c "15" c "16" c "17" c "18" c "19" c "20" c "21" c "22" c "23" c "24" c "25" c   \
      "26" c "27" c "28" c "29" c "30" c "31"

const char spike_names[] = NAMES("x") NAMES("f") NAMES("v");

/* Bytes that the load OPCODE reads; 0: not known. */
static unsigned load_size(struct spike_dec *d, uint64_t opcode)
{
    const uint32_t w = (uint32_t)opcode;
    const unsigned at = (w * 0x9e3779b1u) >> 24;

    if (!d->sizes[at].known || d->sizes[at].opcode != w) {
        const uint8_t code[] = {(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16),
                                (uint8_t)(w >> 24)};
        const unsigned bits = d->meta->isa == TROD_ISA_RISCV32 ? 32 : 64;
        struct trod_rv r;
        const bool known = trod_rv_decode(code, sizeof code, bits, &r);

        d->sizes[at].known = 1;
        d->sizes[at].opcode = w;
        d->sizes[at].size = known && r.facts & (RV_LOAD | RV_LR | RV_AMO) ? r.facts & RV_SIZE : 0;
    }
    return d->sizes[at].size;
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
    r.text.off = (uint32_t)(3 * (32 * class + number)) | (uint32_t)TROD_SLICE_SHARED;
    r.text.len = number < 10 ? 2 : 3;
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
            rc = put_register(l, r, 0);
            break;
        case 'f':
            rc = put_register(l, r, 1);
            break;
        case 'v':
            rc = put_register(l, r, 2);
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
