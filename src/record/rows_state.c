/*
 * rows_state.c - registers and the values of accesses: rows, and the states of FULL.
 *
 * Implements the functions of rows.h that say so. FULL: the layout of the state is that of the
 * Amber document, "FULL trace format" (docs/formats/amber.md).
 */
#include "record/rows.h"

#include "isa/ppc_state.h"

#include <stdlib.h>
#include <string.h>

bool rec_amber(const struct trod_format *format)
{
    return format && (strcmp(format->name, "tt6") == 0 || strcmp(format->name, "tt6e") == 0);
}

bool rec_full(const struct trod_format *format)
{
    return format && strcmp(format->name, "full") == 0;
}

/* One of floating point or vectors: reported at the beginning of a thread only where it is not 0.
 */
static bool is_other(const struct rec_rows *r, unsigned number)
{
    if (r->set == REC_PPC)
        return (number >= REC_PPC_FPR && number < REC_PPC_FPR + 32) || number >= REC_PPC_FPSCR;
    return number >= (r->set == REC_A64 ? REC_A64_V : r->set == REC_ARM ? REC_ARM_D : REC_MIPS_F);
}

static unsigned size_of(const struct rec_rows *r, unsigned number, unsigned words)
{
    if (words == 2)
        return 16;
    if (r->set == REC_A64)
        return number <= REC_A64_SP ? 8 : 4;
    if (r->set == REC_ARM)
        return number >= REC_ARM_D && number < REC_ARM_D + 32 ? 8 : 4;
    return r->set == REC_PPC && number >= REC_PPC_FPR && number < REC_PPC_FPR + 32 ? 8 : 4;
}

/* A row of register NUMBER of the instruction executed last. */
static int put_register(struct rec_rows *r, const struct rec_stream *st, unsigned number)
{
    const struct rec_registers *known = st->registers;
    struct trod_slice name =
        r->system ? rec_rows_register_name(r, st, number) : rec_register_name(r->shared, number);
    struct trod_batch *b = r->b;
    uint32_t i;
    int rc;

    if (name.len == 0)
        return TROD_OK;
    if (b->n + ROWS_KEPT > ROWS && (rc = rec_rows_flush(r)) < 0)
        return rc;
    i = b->n++;
    b->has[i] = ROW_COMMON | TROD_COL_SIZE | TROD_COL_TEXT | TROD_COL_PC;
    b->kind[i] = TROD_REG;
    b->flags[i] = 0;
    b->size[i] = size_of(r, number, known->words[number]);
    b->stream[i] = st->number;
    b->time[i] = st->time;
    b->text[i] = name;
    b->pc[i] = st->last->pc;
    if (known->words[number] == 2) {
        void *p = trod_batch_pool(b, 16, &b->data[i]);

        if (p) {
            memcpy(p, known->value[number], 16);
            b->has[i] |= TROD_COL_DATA;
        }
        return TROD_OK;
    }
    b->has[i] |= TROD_COL_VALUE;
    b->value[i] = known->value[number][0];
    return TROD_OK;
}

/* The bits of register NUMBER that say where in an IT block the next instruction is. */
static uint64_t it_state(const struct rec_rows *r, unsigned number)
{
    return r->set == REC_ARM && number == REC_ARM_CPSR ? 0x0600fc00 : 0;
}

/* Arm ARM, "Conditional execution": the flags that CPSR has are not what COND asks for. */
static bool fails(unsigned cond, uint32_t cpsr)
{
    const bool n = cpsr >> 31 & 1, z = cpsr >> 30 & 1, c = cpsr >> 29 & 1, v = cpsr >> 28 & 1;
    const bool holds[8] = {z, c, n, v, c && !z, n == v, n == v && !z, true};

    return cond < 14 && holds[cond >> 1] == (cond & 1);
}

/*
 * Where in an IT block IN is, as the processor has it before it (ITSTATE); 0: in none. QEMU does
 * not show it.
 */
static unsigned block_state(struct rec_stream *st, const struct rec_insn *in)
{
    const unsigned it = in->pc == st->next ? st->it : 0;

    st->next = in->pc + in->size;
    st->it = it & 7 ? (uint8_t)((it & 0xe0) | (it << 1 & 0x1f)) : 0;
    if (in->thumb && in->size == 2 && in->code[1] == 0xbf && (in->code[0] & 0xf))
        st->it = in->code[0];
    return it & 0xf ? it : 0;
}

bool rec_rows_skips(const struct rec_rows *r, struct rec_stream *st, const struct rec_insn *in)
{
    const struct rec_registers *known = st->registers;
    const uint8_t *p = in->code;
    uint32_t cpsr;
    unsigned it;

    if (r->set == REC_A64) /* b.cond */
        return known && p[3] == 0x54 && !(p[0] & 0x10) &&
               fails(p[0] & 0xf, (uint32_t)known->value[REC_A64_CPSR][0]);
    if (r->set != REC_ARM || !known || known->words[REC_ARM_CPSR] == 0)
        return false;
    cpsr = (uint32_t)known->value[REC_ARM_CPSR][0];
    if (!in->thumb)
        return fails(p[3] >> 4, cpsr);
    it = block_state(st, in);
    if (it)
        return fails(it >> 4, cpsr);
    if (in->size == 2)
        return p[1] >> 4 == 0xd && fails(p[1] & 0xf, cpsr); /* b<cond> */
    return (p[1] & 0xf8) == 0xf0 && (p[3] & 0xd0) == 0x80 &&
           fails((p[1] & 3u) << 2 | p[0] >> 6, cpsr); /* b<cond>.w */
}

int rec_rows_state(struct rec_rows *r, struct rec_stream *st, const uint64_t *p, uint32_t n,
                   bool all, bool recorded)
{
    struct rec_registers *known = st->registers;
    const uint64_t *end = p + n;
    int rc = TROD_OK;

    if (!known && !(known = st->registers = calloc(1, sizeof *known)))
        return TROD_ERR_NOMEM;
    while (p < end && rc == TROD_OK) {
        const unsigned number = (unsigned)*p & (REC_MAYBE - 1), words = (unsigned)(*p >> 16) & 3;
        const bool maybe = all || st->skipped || (*p & REC_MAYBE);
        const uint64_t low = words > 0 ? p[1] : 0, high = words > 1 ? p[2] : 0;
        bool changed;

        p += 1 + words;
        if (number >= REC_REGS || words == 0 || p > end)
            break;
        changed = known->words[number] != words ||
                  (known->value[number][0] ^ low) & ~it_state(r, number) ||
                  known->value[number][1] != high;
        known->words[number] = (uint8_t)words;
        known->value[number][0] = low;
        known->value[number][1] = high;
        if (recorded && !r->amber && !r->full && st->last && (changed || !maybe))
            rc = put_register(r, st, number);
    }
    return rc;
}

int rec_rows_told(struct rec_rows *r, struct rec_stream *st)
{
    const struct rec_registers *known = st->registers;
    int rc = TROD_OK;

    st->reported = true;
    if (r->amber || r->full)
        return TROD_OK;
    for (unsigned i = 0; i < REC_REGS && rc == TROD_OK; i++)
        if (known->words[i] && (!is_other(r, i) || known->value[i][0] || known->value[i][1]))
            rc = put_register(r, st, i);
    return rc;
}

void rec_rows_value(struct rec_rows *r, struct rec_stream *st, const uint64_t *p, uint32_t n)
{
    struct trod_batch *b = r->b;
    const uint32_t i = st->access - 1, size = st->moving;
    uint64_t value = 0;
    void *data;

    if (st->access == 0 || st->access != b->n || size == 0 || size > 8 * n)
        return;
    if (st->at + size <= REC_MOVED)
        memcpy(st->moved + st->at, p, size);
    st->n_moved += size;
    if (st->n_moved != b->size[i] || b->size[i] > REC_MOVED) {
        b->has[i] &= ~(uint32_t)(TROD_COL_VALUE | TROD_COL_DATA);
        return; /* parts of it are missing, so far */
    }
    if (st->n_moved <= 8) {
        for (uint32_t k = 0; k < st->n_moved; k++)
            value |= (uint64_t)st->moved[r->big ? st->n_moved - 1 - k : k] << 8 * k;
        b->value[i] = value;
        b->has[i] |= TROD_COL_VALUE;
        return;
    }
    b->has[i] &= ~(uint32_t)TROD_COL_VALUE;
    data = trod_batch_pool(b, st->n_moved, &b->data[i]);
    if (!data)
        return;
    for (uint32_t k = 0; k < st->n_moved; k++)
        ((uint8_t *)data)[k] = st->moved[r->big ? st->n_moved - 1 - k : k];
    b->has[i] |= TROD_COL_DATA;
}

static void store(uint8_t *state, unsigned word, uint64_t value)
{
    for (unsigned k = 0; k < 4; k++)
        state[4 * word + k] = (uint8_t)(value >> (24 - 8 * k));
}

/* The 16 bytes of register NUMBER, most significant first. */
static void store_vector(uint8_t *state, unsigned word, const uint64_t value[2])
{
    store(state, word, value[1] >> 32);
    store(state, word + 1, value[1]);
    store(state, word + 2, value[0] >> 32);
    store(state, word + 3, value[0]);
}

static void fill(uint8_t *state, const struct rec_registers *known, uint64_t pc)
{
    static const struct {
        unsigned number, word;
    } single[] = {{REC_PPC_MSR, TROD_PPC_STATE_SRR1},   {REC_PPC_CR, TROD_PPC_STATE_CR},
                  {REC_PPC_XER, TROD_PPC_STATE_XER},    {REC_PPC_LR, TROD_PPC_STATE_LR},
                  {REC_PPC_CTR, TROD_PPC_STATE_CTR},    {REC_PPC_VRSAVE, TROD_PPC_STATE_VRSAVE},
                  {REC_PPC_FPSCR, TROD_PPC_STATE_FPSCR}};
    uint32_t valid = 0;

    memset(state, 0, REC_FULL_BYTES);
    store(state, TROD_PPC_STATE_SRR0, pc);
    if (!known)
        return;
    for (unsigned i = 0; i < 32; i++) {
        store(state, TROD_PPC_STATE_GPR + i, known->value[i][0]);
        store(state, TROD_PPC_STATE_FPR + 2 * i, known->value[REC_PPC_FPR + i][0] >> 32);
        store(state, TROD_PPC_STATE_FPR + 2 * i + 1, known->value[REC_PPC_FPR + i][0]);
        if (known->words[REC_PPC_VR + i])
            valid |= 1u << i;
        store_vector(state, TROD_PPC_STATE_VR + 4 * i, known->value[REC_PPC_VR + i]);
    }
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        store(state, single[i].word, known->value[single[i].number][0]);
    if (valid)
        store_vector(state, TROD_PPC_STATE_VSCR, known->value[REC_PPC_VSCR]);
    store(state, TROD_PPC_STATE_VRVALID, valid);
}

void rec_rows_full(struct rec_rows *r, struct rec_stream *st, const struct rec_insn *in)
{
    struct trod_batch *b = r->b;
    uint32_t i = b->n++;
    const uint32_t at = r->n_states++ * REC_FULL_BYTES;

    fill(r->states + at, st->registers, in->pc);
    b->has[i] = ROW_COMMON | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC | TROD_COL_DATA;
    b->kind[i] = TROD_STATE;
    b->flags[i] = TROD_F_CONT;
    b->size[i] = REC_FULL_BYTES;
    b->stream[i] = st->number;
    b->time[i] = st->time;
    b->addr[i] = in->pc;
    b->pc[i] = in->pc;
    b->data[i] = (struct trod_slice){at, REC_FULL_BYTES};
}

void rec_rows_cut(struct rec_rows *r)
{
    struct trod_batch *b = r->b;
    const uint32_t last = b->n - 1;

    for (uint32_t i = 0; b->n && i < REC_SLOTS; i++) {
        const struct rec_stream *st = &r->streams[i];

        if (!st->last || st->progress != REC_SHOWN || st->row != b->n)
            continue;
        if (st->last->access == 0 || b->kind[last] != TROD_INSTR || b->stream[last] != st->number ||
            b->pc[last] != st->last->pc)
            continue;
        b->n--;
        r->instructions--;
        return;
    }
}
