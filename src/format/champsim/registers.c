/*
 * registers.c - the registers in ChampSim's records: their numbers, and those that mark a branch
 * and its kind.
 *
 * Implements docs/formats/champsim.md, "Registers". The simulator derives the kind of a branch from
 * the stack pointer, the flags and the instruction pointer among its registers; so a branch has
 * those of its kind, whatever its opcode uses, and other instructions never have the instruction
 * pointer.
 */
#include "format/champsim/champsim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KNOWN = 1 << 13, /* static instructions kept, by address */
    NUMBERS = 1 << 10,
    UNKNOWN = 0xff, /* number not asked for yet; 255 is given to none */
    VECTORS = 32,   /* from CHS_OTHER on: first the general ones, then these */
    SPECIAL = 96,
    REST = 112
};

/* An instruction that was understood. */
struct known {
    uint64_t pc;
    uint8_t code[TROD_INSN_CODE];
    uint8_t len, iset;
    struct chs_insn insn;
};

struct chs_side {
    const struct trod_meta *meta;
    struct trod_insn_decoder *decoder;
    bool no_decoder;
    uint8_t number[NUMBERS];
    struct known known[KNOWN];
};

struct chs_side *chs_side_new(const struct trod_meta *meta)
{
    struct chs_side *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->meta = meta;
    memset(s->number, UNKNOWN, sizeof s->number);
    return s;
}

void chs_side_free(struct chs_side *s)
{
    if (s)
        trod_insn_decoder_free(s->decoder);
    free(s);
}

/* The number behind PREFIX in NAME, less than END; -1: it is something else. */
static int indexed(const char *name, const char *prefix, int end)
{
    const size_t n = strlen(prefix);
    const char *p = name + n;
    int v = 0;

    if (strncmp(name, prefix, n) != 0 || !*p || strlen(p) > 2)
        return -1;
    for (; *p; p++) {
        if (*p < '0' || *p > '9')
            return -1;
        v = 10 * v + (*p - '0');
    }
    return v < end ? v : -1;
}

/* Place of NAME in a list of names, each of them after a blank; -1: it is not there. */
static int listed(const char *name, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (strcmp(name, list[i]) == 0)
            return i;
    return -1;
}

/* The general register that the x86 register NAME is a part of; -1: it is none. */
static int general_x86(const char *name)
{
    static const char *const stems[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", NULL};
    static const char *const bytes[] = {"al", "cl", "dl", "bl", NULL};
    static const char *const high[] = {"ah", "ch", "dh", "bh", NULL};
    char stem[4];
    size_t n = strlen(name);
    int i;

    if ((i = listed(name, bytes)) >= 0 || (i = listed(name, high)) >= 0)
        return i;
    if (n >= 3 && (name[0] == 'r' || name[0] == 'e') && name[1] >= 'a') {
        name++;
        n--;
    }
    if (n == 3 && name[2] == 'l') { /* spl, bpl, sil, dil */
        memcpy(stem, name, 2);
        stem[2] = '\0';
        name = stem;
    }
    if ((i = listed(name, stems)) >= 0)
        return i;
    for (i = 8; i < 16; i++) { /* r8 to r15, and r8d, r8w, r8b */
        char number[4];

        snprintf(number, sizeof number, "%d", i);
        n = strlen(number);
        if (name[0] == 'r' && strncmp(name + 1, number, n) == 0 &&
            (name[1 + n] == '\0' || (name[2 + n] == '\0' && strchr("dwbl", name[1 + n]))))
            return i;
    }
    return -1;
}

/* Number of a vector register that may be known by several names; -1: it is none. */
static int vector(const char *name)
{
    static const char *const prefixes[] = {"v", "q",   "d",   "s",   "h",  "b", "z",
                                           "f", "xmm", "ymm", "zmm", "vs", NULL};
    int i = -1;

    for (int k = 0; prefixes[k] && i < 0; k++)
        i = indexed(name, prefixes[k], 32);
    return i;
}

/* A number computed from the letters of NAME, for names that no rule covers. */
static uint8_t any_other(const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    return (uint8_t)(CHS_OTHER + REST + hash % (UNKNOWN - CHS_OTHER - REST));
}

/* The general register NAME of ISA; -1: it is none. */
static int general(enum trod_isa isa, const char *name)
{
    static const char *const mips[] = {"zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0",
                                       "t1",   "t2", "t3", "t4", "t5", "t6", "t7", "s0", "s1",
                                       "s2",   "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0",
                                       "k1",   "gp", "sp", "fp", "ra", NULL};
    int i;

    switch (isa) {
    case TROD_ISA_X86_32:
    case TROD_ISA_X86_64:
        return general_x86(name);
    case TROD_ISA_A64:
        if ((i = indexed(name, "x", 31)) >= 0 || (i = indexed(name, "w", 31)) >= 0)
            return i;
        return strcmp(name, "fp") == 0 ? 29 : strcmp(name, "lr") == 0 ? 30 : -1;
    case TROD_ISA_ARM:
        if (strcmp(name, "sb") == 0 || strcmp(name, "sl") == 0)
            return name[1] == 'b' ? 9 : 10;
        if (strcmp(name, "fp") == 0 || strcmp(name, "ip") == 0)
            return name[0] == 'f' ? 11 : 12;
        return strcmp(name, "lr") == 0 ? 14 : indexed(name, "r", 16);
    case TROD_ISA_MIPS32:
    case TROD_ISA_MIPS64:
        return listed(name + (*name == '$'), mips);
    default:
        return indexed(name, "r", 32);
    }
}

/* What NAME is in a record; 0: it is not written (zero registers, the instruction pointer). */
static uint8_t number_of(enum trod_isa isa, const char *name)
{
    static const char *const none[] = {"xzr", "wzr", "zero", "$zero", "pc",
                                       "rip", "eip", "ip",   "",      NULL};
    static const char *const stack[] = {"sp", "wsp", "rsp", "esp", "spl", "$sp", "r13", NULL};
    static const char *const flags[] = {"nzcv", "cpsr", "rflags", "eflags", "flags", "cr", NULL};
    const bool arm = isa == TROD_ISA_ARM;
    int i;

    if (listed(name, flags) >= 0)
        return CHS_FLAGS;
    if ((strcmp(name, "r13") != 0 || arm) && listed(name, stack) >= 0)
        return CHS_SP;
    if ((isa == TROD_ISA_PPC32 || isa == TROD_ISA_PPC64) && strcmp(name, "r1") == 0)
        return CHS_SP;
    if (listed(name, none) >= 0 && !(arm && strcmp(name, "ip") == 0))
        return 0;
    if ((i = general(isa, name)) >= 0)
        return (uint8_t)(CHS_OTHER + i);
    if ((i = vector(name)) >= 0)
        return (uint8_t)(CHS_OTHER + VECTORS + i);
    return any_other(name);
}

/* The number of register REG of the decoder. */
static uint8_t number(struct chs_side *s, unsigned iset, unsigned reg)
{
    uint8_t n;

    if (s->meta->isa == TROD_ISA_REGDEPS)
        return reg == TROD_INSN_REGDEPS_FLAGS ? CHS_FLAGS : (uint8_t)(CHS_OTHER + reg % 128);
    if (reg >= NUMBERS)
        return CHS_OTHER + REST;
    n = s->number[reg];
    if (n == UNKNOWN)
        n = s->number[reg] = number_of(s->meta->isa, trod_insn_reg_name(s->decoder, iset, reg));
    return n;
}

/* Order in a record: the stack pointer, the others by number, the flags. */
static unsigned rank(uint8_t n)
{
    return n == CHS_SP ? 0 : n == CHS_FLAGS ? 256 : n;
}

/* Put the N registers REG into TO by rank, each once. Returns how many. */
static uint8_t collect(struct chs_side *s, unsigned iset, const uint16_t *reg, unsigned n,
                       uint8_t *to)
{
    uint8_t k = 0;

    for (unsigned i = 0; i < n; i++) {
        const uint8_t new = number(s, iset, reg[i]);
        unsigned at = k;

        if (new == 0 || memchr(to, new, k))
            continue;
        for (; at > 0 && rank(to[at - 1]) > rank(new); at--)
            to[at] = to[at - 1];
        to[at] = new;
        k++;
    }
    return k;
}

/* Registers of TO that are no mark of a branch: the first ones of them that there is room for. */
static uint8_t others(uint8_t *to, unsigned room, const uint8_t *from, unsigned n, bool flags)
{
    uint8_t k = 0;

    for (unsigned i = 0; i < n && k < room; i++)
        if (from[i] != CHS_SP && from[i] != CHS_IP && (from[i] != CHS_FLAGS || flags))
            to[k++] = from[i];
    return k;
}

/*
 * The registers that make INSN a branch of its kind, and those of its own that do not contradict
 * it.
 */
static void mark_branch(struct chs_insn *insn)
{
    uint8_t own[TROD_INSN_REGS];
    const uint8_t n = insn->n_src;

    memcpy(own, insn->src, n);
    insn->n_src = insn->n_dst = 0;
    switch (insn->branch) {
    case TROD_BR_DIRECT:
        break;
    case TROD_BR_OTHER: /* a branch that does not write the ip */
        insn->n_src = others(insn->src, CHS_SLOTS, own, n, true);
        return;
    case TROD_BR_COND:
    case TROD_BR_COND_TAKEN:
    case TROD_BR_COND_UNTAKEN:
        insn->src[0] = CHS_IP;
        insn->n_src = (uint8_t)(1 + others(insn->src + 1, CHS_SLOTS - 1, own, n, true));
        if (insn->n_src == 1)
            insn->src[insn->n_src++] = CHS_FLAGS;
        break;
    case TROD_BR_CALL:
    case TROD_BR_ICALL:
        insn->src[0] = CHS_SP;
        insn->src[1] = CHS_IP;
        insn->n_src = 2;
        if (insn->branch == TROD_BR_ICALL) {
            insn->n_src = (uint8_t)(2 + others(insn->src + 2, CHS_SLOTS - 2, own, n, false));
            if (insn->n_src == 2)
                insn->src[insn->n_src++] = CHS_OTHER;
        }
        break;
    case TROD_BR_RETURN:
        insn->src[insn->n_src++] = CHS_SP;
        break;
    default:
        insn->n_src = others(insn->src, CHS_SLOTS, own, n, false);
        if (insn->n_src == 0)
            insn->src[insn->n_src++] = CHS_OTHER;
    }
    if (insn->branch == TROD_BR_CALL || insn->branch == TROD_BR_ICALL ||
        insn->branch == TROD_BR_RETURN)
        insn->dst[insn->n_dst++] = CHS_SP;
    insn->dst[insn->n_dst++] = CHS_IP;
}

/* What the opcode says. */
static void decode(struct chs_side *s, struct known *k)
{
    const struct trod_insn *in;
    struct trod_insn regdeps;

    memset(&k->insn, 0, sizeof k->insn);
    if (s->meta->isa == TROD_ISA_REGDEPS) {
        trod_insn_regdeps(&regdeps, k->code, k->len);
        in = &regdeps;
    } else {
        if (!s->decoder && !s->no_decoder)
            s->no_decoder =
                trod_insn_decoder_new(&s->decoder, s->meta->isa, s->meta->endian) != TROD_OK;
        if (!s->decoder)
            return;
        in = trod_insn_decode(s->decoder, k->iset, k->pc, k->code, k->len);
    }
    if (!in->valid)
        return;
    k->insn.branch = in->branch;
    k->insn.n_src = collect(s, k->iset, in->reads, in->n_reads, k->insn.src);
    k->insn.n_dst = collect(s, k->iset, in->writes, in->n_writes, k->insn.dst);
}

/* Where the N bytes at CODE stand, understood. */
static const struct chs_insn *look_up(struct chs_side *s, uint64_t pc, unsigned iset,
                                      const uint8_t *code, uint32_t n)
{
    struct known *k = &s->known[(pc ^ pc >> 13) % KNOWN];
    const uint8_t len = n < TROD_INSN_CODE ? (uint8_t)n : TROD_INSN_CODE;

    if (k->pc == pc && k->len == len && k->iset == iset && memcmp(k->code, code, len) == 0)
        return &k->insn;
    k->pc = pc;
    k->len = len;
    k->iset = (uint8_t)iset;
    memcpy(k->code, code, len);
    decode(s, k);
    return &k->insn;
}

/* Can a record say that a branch is of KIND? */
static bool is_branch(unsigned kind)
{
    return kind != TROD_BR_NONE && kind != TROD_BR_SYSCALL;
}

void chs_understand(struct chs_side *s, const struct trod_batch *b, uint32_t row,
                    struct chs_insn *out)
{
    const uint32_t has = b->have & b->has[row];
    const uint32_t flags = has & TROD_COL_FLAGS ? b->flags[row] : 0;
    const unsigned said = flags & TROD_F_BRANCH;

    memset(out, 0, sizeof *out);
    if (s->meta && (has & TROD_COL_CODE) && b->code[row].len)
        *out = *look_up(s, b->addr[row], (flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT,
                        trod_batch_bytes(b, b->code[row]), b->code[row].len);
    if (said != TROD_BR_NONE)
        out->branch = (uint8_t)said;
    if (flags & TROD_F_SKIPPED && out->branch != TROD_BR_NONE)
        out->branch = TROD_BR_COND_UNTAKEN;
    if (is_branch(out->branch))
        mark_branch(out);
    else
        out->branch = TROD_BR_NONE;
}
