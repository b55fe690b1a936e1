/*
 * riscv.c - RISC-V instructions decoded, and written as text.
 *
 * Implements riscv.h. Texts are those of the assembler without aliases ("addi a0, zero, 1", not
 * "li"), so that one instruction has one name; targets of jumps and branches are addresses.
 */
#include "isa/riscv.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *operands;
    uint32_t mask, match, facts;
} table[] = {
#define RISCV_OP(name, mask, match, operands, facts) {name, operands, mask, match, facts},
#include "isa/riscv_ops.def"
#undef RISCV_OP
};

enum { CSRS = 1 << 12 };

static const struct {
    uint16_t number;
    const char *name;
} csrs[] = {
    {0x001, "fflags"},     {0x002, "frm"},      {0x003, "fcsr"},       {0x008, "vstart"},
    {0x009, "vxsat"},      {0x00a, "vxrm"},     {0x00f, "vcsr"},       {0x100, "sstatus"},
    {0x104, "sie"},        {0x105, "stvec"},    {0x106, "scounteren"}, {0x10a, "senvcfg"},
    {0x140, "sscratch"},   {0x141, "sepc"},     {0x142, "scause"},     {0x143, "stval"},
    {0x144, "sip"},        {0x180, "satp"},     {0x300, "mstatus"},    {0x301, "misa"},
    {0x302, "medeleg"},    {0x303, "mideleg"},  {0x304, "mie"},        {0x305, "mtvec"},
    {0x306, "mcounteren"}, {0x30a, "menvcfg"},  {0x310, "mstatush"},   {0x320, "mcountinhibit"},
    {0x340, "mscratch"},   {0x341, "mepc"},     {0x342, "mcause"},     {0x343, "mtval"},
    {0x344, "mip"},        {0x7a0, "tselect"},  {0x7a1, "tdata1"},     {0x7a2, "tdata2"},
    {0x7a3, "tdata3"},     {0x7b0, "dcsr"},     {0x7b1, "dpc"},        {0x7b2, "dscratch0"},
    {0x7b3, "dscratch1"},  {0xb00, "mcycle"},   {0xb02, "minstret"},   {0xb80, "mcycleh"},
    {0xb82, "minstreth"},  {0xc00, "cycle"},    {0xc01, "time"},       {0xc02, "instret"},
    {0xc20, "vl"},         {0xc21, "vtype"},    {0xc22, "vlenb"},      {0xc80, "cycleh"},
    {0xc81, "timeh"},      {0xc82, "instreth"}, {0xf11, "mvendorid"},  {0xf12, "marchid"},
    {0xf13, "mimpid"},     {0xf14, "mhartid"},  {0xf15, "mconfigptr"},
};

/* CSRs that have a number in their name: pmpcfg0 to pmpcfg15, ... */
static const struct {
    uint16_t first, last;
    uint8_t from; /* number of the first */
    const char *name, *behind;
} rows_of_csrs[] = {
    {0x3a0, 0x3af, 0, "pmpcfg", ""},       {0x3b0, 0x3ef, 0, "pmpaddr", ""},
    {0x323, 0x33f, 3, "mhpmevent", ""},    {0xb03, 0xb1f, 3, "mhpmcounter", ""},
    {0xb83, 0xb9f, 3, "mhpmcounter", "h"}, {0xc03, 0xc1f, 3, "hpmcounter", ""},
    {0xc83, 0xc9f, 3, "hpmcounter", "h"},
};

const char *trod_rv_x(unsigned n)
{
    static const char *const names[] = {"zero", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
                                        "s0",   "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
                                        "a6",   "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
                                        "s8",   "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

    return names[n & 31];
}

const char *trod_rv_f(unsigned n)
{
    static const char *const names[] = {"ft0", "ft1", "ft2",  "ft3",  "ft4", "ft5", "ft6",  "ft7",
                                        "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
                                        "fa6", "fa7", "fs2",  "fs3",  "fs4", "fs5", "fs6",  "fs7",
                                        "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

    return names[n & 31];
}

/* Is an instruction of these OPERANDS none of 32-bit code? A shift by 32 or more is not, too. */
static bool not_of_32(uint32_t w, uint32_t facts, const char *operands)
{
    return facts & RV_64 || (strchr(operands, '6') && w >> 25 & 1);
}

bool trod_rv_decode(const uint8_t *code, size_t n, unsigned bits, struct trod_rv *out)
{
    if (n < 2)
        return false;
    *out = (struct trod_rv){.word = code[0] | (uint32_t)code[1] << 8, .size = 2};
    if ((code[0] & 3) != 3) {
        out->word = trod_rv_expand((uint16_t)out->word, bits, &out->name, &out->operands);
        if (!out->word)
            return false;
    } else {
        if (n < 4)
            return false;
        out->word |= (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
        out->size = 4;
    }
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        if ((out->word & table[i].mask) != table[i].match ||
            (bits == 32 && not_of_32(out->word, table[i].facts, table[i].operands)))
            continue;
        out->facts = table[i].facts;
        if (!out->name) {
            out->name = table[i].name;
            out->operands = table[i].operands;
        }
        return true;
    }
    return false;
}

int32_t trod_rv_jump(uint32_t w)
{
    const uint32_t off =
        (w & 0xff000) | (w >> 20 & 1) << 11 | (w >> 21 & 0x3ff) << 1 | (w >> 31) << 20;

    return (int32_t)(off << 11) >> 11;
}

int32_t trod_rv_branch(uint32_t w)
{
    const uint32_t off =
        (w >> 7 & 1) << 11 | (w >> 8 & 15) << 1 | (w >> 25 & 63) << 5 | (w >> 31) << 12;

    return (int32_t)(off << 19) >> 19;
}

static int32_t store_offset(uint32_t w)
{
    return (int32_t)((w >> 25 << 5 | trod_rv_rd(w)) << 20) >> 20;
}

/* ---- text */

struct text {
    char *p;
    size_t n;
};

static void __attribute__((format(printf, 2, 3))) put(struct text *t, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(t->p + t->n, TROD_RV_TEXT - t->n, fmt, args);
    va_end(args);
    if (n > 0)
        t->n = t->n + (size_t)n < TROD_RV_TEXT ? t->n + (size_t)n : TROD_RV_TEXT - 1;
}

static void put_csr(struct text *t, unsigned number)
{
    for (unsigned i = 0; i < sizeof csrs / sizeof *csrs; i++)
        if (csrs[i].number == number) {
            put(t, "%s", csrs[i].name);
            return;
        }
    for (unsigned i = 0; i < sizeof rows_of_csrs / sizeof *rows_of_csrs; i++)
        if (number >= rows_of_csrs[i].first && number <= rows_of_csrs[i].last) {
            put(t, "%s%u%s", rows_of_csrs[i].name,
                number - rows_of_csrs[i].first + rows_of_csrs[i].from, rows_of_csrs[i].behind);
            return;
        }
    put(t, "%u", number);
}

size_t trod_rv_csr(char *buf, unsigned number)
{
    struct text t = {buf, 0};

    put_csr(&t, number);
    return t.n;
}

/* Is NAME, of N characters, that of CSR NUMBER? */
static bool is_csr(const char *name, size_t n, unsigned number)
{
    char text[TROD_RV_TEXT];

    return number < CSRS && trod_rv_csr(text, number) == n && memcmp(text, name, n) == 0;
}

/* The decimal number that NAME, of N characters, has at AT. */
static unsigned decimal_at(const char *name, size_t n, size_t at)
{
    unsigned v = 0;

    while (at < n && name[at] >= '0' && name[at] <= '9' && v < CSRS)
        v = 10 * v + (unsigned)(name[at++] - '0');
    return v;
}

int trod_rv_csr_number(const char *name, size_t n)
{
    unsigned number;

    if (n == 0)
        return -1;
    for (unsigned i = 0; i < sizeof csrs / sizeof *csrs; i++)
        if (csrs[i].name[0] == name[0] && strlen(csrs[i].name) == n &&
            memcmp(csrs[i].name, name, n) == 0)
            return csrs[i].number;
    for (unsigned i = 0; i < sizeof rows_of_csrs / sizeof *rows_of_csrs; i++) {
        const size_t before = strlen(rows_of_csrs[i].name);

        number = rows_of_csrs[i].first + decimal_at(name, n, before) - rows_of_csrs[i].from;
        if (name[0] == rows_of_csrs[i].name[0] && n > before && is_csr(name, n, number))
            return (int)number;
    }
    number = decimal_at(name, n, 0);
    return is_csr(name, n, number) ? (int)number : -1;
}

static void put_fence(struct text *t, uint32_t w)
{
    for (unsigned side = 0; side < 2; side++) {
        const uint32_t set = w >> (side ? 20 : 24) & 15;

        put(t, "%s%s%s%s%s%s", side ? ", " : "", set & 8 ? "i" : "", set & 4 ? "o" : "",
            set & 2 ? "r" : "", set & 1 ? "w" : "", set ? "" : "0");
    }
}

static void put_operand(struct text *t, char c, uint32_t w, uint64_t pc, uint64_t mask)
{
    static const char *const modes[] = {"rne", "rtz", "rdn", "rup", "rmm", "5", "6", "dyn"};

    switch (c) {
    case 'd':
    case 's':
    case 't':
        put(t, "%s", trod_rv_x(c == 'd' ? w >> 7 : c == 's' ? w >> 15 : w >> 20));
        break;
    case 'D':
    case 'S':
    case 'T':
    case 'R':
        put(t, "%s",
            trod_rv_f(c == 'D'   ? w >> 7
                      : c == 'S' ? w >> 15
                      : c == 'T' ? w >> 20
                                 : w >> 27));
        break;
    case 'i':
        put(t, "%d", (int32_t)w >> 20);
        break;
    case 'u':
        put(t, "%u", w >> 12);
        break;
    case 'j':
        put(t, "%d(%s)", (int32_t)w >> 20, trod_rv_x(trod_rv_rs1(w)));
        break;
    case 'q':
        put(t, "%d(%s)", store_offset(w), trod_rv_x(trod_rv_rs1(w)));
        break;
    case 'A':
        put(t, "(%s)", trod_rv_x(trod_rv_rs1(w)));
        break;
    case 'a':
    case 'b':
        put(t, "0x%" PRIx64,
            (pc + (uint64_t)(int64_t)(c == 'a' ? trod_rv_jump(w) : trod_rv_branch(w))) & mask);
        break;
    case 'm':
        put(t, "%s", modes[w >> 12 & 7]);
        break;
    case '6':
        put(t, "%u", w >> 20 & 63);
        break;
    case '5':
        put(t, "%u", trod_rv_rs2(w));
        break;
    case 'c':
        put_csr(t, w >> 20);
        break;
    case 'z':
        put(t, "%u", trod_rv_rs1(w));
        break;
    default:
        put_fence(t, w);
        break;
    }
}

size_t trod_rv_format(char *buf, const struct trod_rv *r, uint64_t pc, unsigned bits)
{
    static const char *const orders[] = {"", ".rl", ".aq", ".aqrl"};
    const bool atomic = r->facts & (RV_AMO | RV_LR | RV_SC);
    struct text t = {buf, 0};

    put(&t, "%s%s", r->name, atomic ? orders[r->word >> 25 & 3] : "");
    for (const char *o = r->operands; *o; o++) {
        put(&t, "%s", o == r->operands ? " " : ", ");
        put_operand(&t, *o, r->word, pc, bits == 64 ? UINT64_MAX : UINT32_MAX);
    }
    return t.n;
}
