/*
 * places.c - what instructions read and write, found out once a site (deps.h).
 *
 * Implements docs/analysing.md, "deps", "Registers" and "Latencies". A register is the whole
 * register, whatever part of it an instruction names; one that always reads as zero and the program
 * counter carry nothing.
 */
#include "analysis/deps/deps.h"

#include "trod/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ISETS = 8, NUMBERS = 1024, NOTHING = 255, TEXT = 160 };

struct deps_counts *deps_site_room(struct deps_places *p, uint32_t number)
{
    const size_t chunk = number / DEPS_SITES;

    if (chunk >= p->n_chunks) {
        const size_t n = 2 * chunk + 16;
        struct deps_chunk **to = realloc(p->chunk, n * sizeof *to);

        if (!to)
            return NULL;
        memset(to + p->n_chunks, 0, (n - p->n_chunks) * sizeof *to);
        p->chunk = to;
        p->n_chunks = n;
    }
    if (!p->chunk[chunk]) {
        p->chunk[chunk] = aligned_alloc(DEPS_LINE, sizeof **p->chunk);
        if (p->chunk[chunk])
            memset(p->chunk[chunk], 0, sizeof **p->chunk);
    }
    return deps_counts_at(p, number);
}

void deps_places_free(struct deps_places *p)
{
    for (size_t i = 0; i < p->n_chunks; i++)
        free(p->chunk[i]);
    free(p->chunk);
    free(p->pool);
    free(p->name);
    free(p->map);
    free(p->like);
    memset(p, 0, sizeof *p);
}

/* ---- registers */

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

/* N of "s12" where NAME is the letter and a number, else -1. */
static int number_behind(const char *name, char letter)
{
    char *end;
    long n;

    if (name[0] != letter || name[1] < '0' || name[1] > '9')
        return -1;
    n = strtol(name + 1, &end, 10);
    return *end || n > 63 ? -1 : (int)n;
}

/* One name for each register of ISA, without parts: NAME has room for 24 bytes. */
static void whole(enum trod_isa isa, char *name)
{
    static const char *const high[] = {"ah", "bh", "ch", "dh", NULL};
    int n;

    if ((isa == TROD_ISA_X86_32 || isa == TROD_ISA_X86_64) && is_one_of(name, high)) {
        snprintf(name, 24, "r%cx", (int)name[0]);
    } else if (isa == TROD_ISA_ARM) {
        if ((n = number_behind(name, 's')) >= 0)
            snprintf(name, 24, "q%d", n / 4);
        else if ((n = number_behind(name, 'd')) >= 0)
            snprintf(name, 24, "q%d", n / 2);
    }
}

/* Does register NAME of ISA carry no value? */
static bool carries_nothing(enum trod_isa isa, const char *name)
{
    static const char *const x86[] = {"rip", "riz", "eiz", "", NULL};
    static const char *const a64[] = {"xzr", "wzr", "pc", "", NULL};
    static const char *const arm[] = {"pc", "r15", "", NULL};
    static const char *const mips[] = {"r0", "zero", "pc", "", NULL};
    static const char *const other[] = {"", NULL};

    switch (isa) {
    case TROD_ISA_X86_32:
    case TROD_ISA_X86_64:
        return is_one_of(name, x86);
    case TROD_ISA_A64:
        return is_one_of(name, a64);
    case TROD_ISA_ARM:
        return is_one_of(name, arm) || is_one_of(name, a64);
    case TROD_ISA_MIPS32:
    case TROD_ISA_MIPS64:
        return is_one_of(name, mips);
    default:
        return is_one_of(name, other);
    }
}

/* The number of register NAME; NOTHING where it carries nothing, or there is no room. */
static uint8_t number_of(struct deps_places *p, enum trod_isa isa, const char *name)
{
    char canonical[64];
    unsigned bits;
    size_t n = trod_register_canonical(isa, name, strlen(name), canonical, &bits);

    canonical[n < 23 ? n : 23] = '\0';
    whole(isa, canonical);
    if (carries_nothing(isa, canonical))
        return NOTHING;
    for (unsigned i = 0; i < p->n_names; i++)
        if (strcmp(p->name[i], canonical) == 0)
            return (uint8_t)(i + 1);
    if (!p->name)
        p->name = calloc(NOTHING, sizeof *p->name);
    if (!p->name || p->n_names + 1 >= NOTHING)
        return NOTHING;
    memcpy(p->name[p->n_names], canonical, 24);
    return (uint8_t)++p->n_names;
}

/* The number of register REG of site NUMBER. */
static uint8_t register_of(struct deps_places *p, struct trod_sites *sites, uint32_t number,
                           enum trod_isa isa, uint16_t reg)
{
    const unsigned iset = trod_site_at(sites, number)->iset;
    char name[24];
    uint8_t *seen;

    if (iset >= ISETS || reg >= NUMBERS)
        return NOTHING;
    if (!p->map)
        p->map = calloc(ISETS * NUMBERS, 1);
    if (!p->map)
        return NOTHING;
    seen = &p->map[iset * NUMBERS + reg];
    if (*seen)
        return *seen;
    if (isa == TROD_ISA_REGDEPS) {
        snprintf(name, sizeof name, "v%u", reg);
        *seen = number_of(p, isa, name);
    } else {
        /* A64 in a trace of several instruction sets has registers of its own */
        *seen = number_of(p, iset == TROD_ISET_A64 ? TROD_ISA_A64 : isa,
                          trod_site_register(sites, number, reg));
    }
    return *seen;
}

static bool is_flags(const char *name)
{
    static const char *const flags[] = {"rflags", "cpsr",  "nzcv",   "fpsr", "apsr",
                                        "fpsw",   "fpscr", "xer.ca", "v256", NULL};

    return is_one_of(name, flags) || (name[0] == 'c' && name[1] == 'r' && name[2] != '\0');
}

static bool is_stack(enum trod_isa isa, const char *name)
{
    static const char *const x86[] = {"rsp", NULL}, *const a64[] = {"sp", NULL};
    static const char *const arm[] = {"r13", "sp", NULL}, *const ppc[] = {"r1", NULL};
    static const char *const mips[] = {"r29", "sp", NULL};

    switch (isa) {
    case TROD_ISA_X86_32:
    case TROD_ISA_X86_64:
        return is_one_of(name, x86);
    case TROD_ISA_A64:
        return is_one_of(name, a64);
    case TROD_ISA_ARM:
        return is_one_of(name, arm);
    case TROD_ISA_PPC32:
    case TROD_ISA_PPC64:
        return is_one_of(name, ppc);
    case TROD_ISA_MIPS32:
    case TROD_ISA_MIPS64:
        return is_one_of(name, mips);
    default:
        return false;
    }
}

static bool is_frame(enum trod_isa isa, const char *name)
{
    switch (isa) {
    case TROD_ISA_X86_32:
    case TROD_ISA_X86_64:
        return strcmp(name, "rbp") == 0;
    case TROD_ISA_A64:
        return strcmp(name, "x29") == 0;
    case TROD_ISA_ARM:
        return strcmp(name, "r11") == 0 || strcmp(name, "x29") == 0;
    case TROD_ISA_PPC32:
    case TROD_ISA_PPC64:
        return strcmp(name, "r31") == 0;
    case TROD_ISA_MIPS32:
    case TROD_ISA_MIPS64:
        return strcmp(name, "r30") == 0;
    default:
        return false;
    }
}

/* ---- classes */

/* The class of what is no branch and accesses no memory, by its mnemonic. */
static enum deps_class arithmetic(struct trod_sites *sites, uint32_t number,
                                  const struct trod_insn *insn)
{
    static const char *const slow[] = {"div", "sqrt", "mod", NULL};
    static const char *const products[] = {"mul", "madd", "msub", "mla", "mls", "mac", "dot", NULL};
    const bool fp = insn->flags & TROD_INSN_FP;
    char text[TEXT];

    trod_site_text(sites, number, text, sizeof text);
    text[strcspn(text, " \t")] = '\0';
    for (const char *const *w = slow; *w; w++)
        if (strstr(text, *w))
            return fp ? DEPS_FP_DIV : DEPS_DIV;
    for (const char *const *w = products; !fp && *w; w++)
        if (strstr(text, *w))
            return DEPS_MUL;
    return fp ? DEPS_FP : DEPS_INT;
}

static enum deps_class class_of(struct trod_sites *sites, uint32_t number,
                                const struct trod_insn *insn, unsigned branch)
{
    if (!insn->valid)
        return DEPS_UNKNOWN;
    if (branch == TROD_BR_SYSCALL || branch == TROD_BR_ERET || insn->flags & TROD_INSN_TRAP)
        return DEPS_SYSTEM;
    if (branch)
        return DEPS_BRANCH;
    if (insn->loads)
        return DEPS_LOAD;
    if (insn->stores || insn->flags & (TROD_INSN_PREFETCH | TROD_INSN_FLUSH))
        return DEPS_STORE;
    return arithmetic(sites, number, insn);
}

/* ---- sites */

/* Registers of a site: what it reads, what it writes of what it loads, what it writes otherwise. */
struct list {
    uint8_t reg[3 * TROD_INSN_REGS];
    unsigned n;
};

static void add(struct list *l, uint8_t reg)
{
    if (reg != NOTHING && !memchr(l->reg, reg, l->n))
        l->reg[l->n++] = reg;
}

/* Does register REG carry what a load gives? Flags and the stack pointer never do. */
static bool takes_data(const struct deps_places *p, enum trod_isa isa, uint8_t reg)
{
    const char *name = p->name[reg - 1];

    return !is_flags(name) && !is_stack(isa, name);
}

/*
 * The registers that a load writes, those that have what it loads first; *LOADED: how many they
 * are. They are those that it does not read, or, if it reads them all, all.
 */
static struct list loaded_first(const struct deps_places *p, const struct list *reads,
                                const struct list *writes, enum trod_isa isa, unsigned *loaded)
{
    struct list to = {.n = 0};

    for (unsigned pass = 0; pass < 2 && to.n == 0; pass++)
        for (unsigned k = 0; k < writes->n; k++)
            if (takes_data(p, isa, writes->reg[k]) &&
                (pass || !memchr(reads->reg, writes->reg[k], reads->n)))
                add(&to, writes->reg[k]);
    *loaded = to.n;
    for (unsigned k = 0; k < writes->n; k++)
        add(&to, writes->reg[k]);
    return to;
}

/* Keep LIST for site S: in it, or in the pool. */
static int keep(struct deps_places *p, struct deps_site *s, const struct list *list)
{
    size_t cap = p->cap_pool ? p->cap_pool : 1024;
    uint8_t *to = s->reg;

    if (list->n > DEPS_FIT) {
        while (cap < p->n_pool + list->n)
            cap *= 2;
        to = realloc(p->pool, cap * sizeof *to);
        if (!to)
            return TROD_ERR_NOMEM;
        p->pool = to;
        p->cap_pool = cap;
        s->pool = (uint32_t)p->n_pool;
        to += p->n_pool;
        p->n_pool += list->n;
    }
    memcpy(to, list->reg, list->n);
    return TROD_OK;
}

static unsigned shape_of(const struct deps_site *s)
{
    if (s->n_reads > DEPS_READS)
        return DEPS_SHAPE_ANY;
    if (s->n_loaded == 0 && s->n_writes <= DEPS_WRITES)
        return DEPS_SHAPE(s->n_reads, s->n_writes);
    return s->n_loaded == 1 && s->n_writes == 0 ? (unsigned)DEPS_SHAPE_LOAD + s->n_reads
                                                : (unsigned)DEPS_SHAPE_ANY;
}

static unsigned stack_of(const struct deps_places *p, const struct list *reads, enum trod_isa isa)
{
    unsigned flags = 0;

    for (unsigned k = 0; k < reads->n; k++) {
        const char *name = p->name[reads->reg[k] - 1];

        flags |= is_stack(isa, name) ? DEPS_STACK : is_frame(isa, name) ? DEPS_FRAME : 0;
    }
    return flags;
}

/* What site NUMBER reads and writes goes to S. */
static int put_registers(struct deps_places *p, struct deps_site *s, struct trod_sites *sites,
                         uint32_t number, enum trod_isa isa, bool branch)
{
    const struct trod_insn *insn = trod_site_insn(sites, number);
    struct list reads = {.n = 0}, writes = {.n = 0};
    unsigned loaded = 0;

    for (unsigned i = 0; i < insn->n_reads; i++)
        add(&reads, register_of(p, sites, number, isa, insn->reads[i]));
    for (unsigned i = 0; i < insn->n_writes; i++)
        add(&writes, register_of(p, sites, number, isa, insn->writes[i]));
    if (insn->loads && !branch)
        writes = loaded_first(p, &reads, &writes, isa, &loaded);
    if (!branch)
        s->flags |= (uint8_t)stack_of(p, &reads, isa);
    s->n_reads = (uint8_t)reads.n;
    s->n_loaded = (uint8_t)loaded;
    s->n_writes = (uint8_t)(writes.n - loaded);
    memcpy(reads.reg + reads.n, writes.reg, writes.n);
    reads.n += writes.n;
    return keep(p, s, &reads);
}

/*
 * Where the site is noted that was decoded last to INSN, as the engine shares it between sites that
 * have the same opcode. NULL: nowhere.
 */
static struct deps_like *like_of(struct deps_places *p, const struct trod_insn *insn)
{
    if (!p->like_bits || (p->n_met++ >> p->like_bits && p->like_bits < DEPS_LIKE_BITS)) {
        free(p->like); /* begun anew, larger */
        p->like_bits += p->like_bits ? 1 : DEPS_LIKE_LEAST;
        p->like = calloc(1u << p->like_bits, sizeof *p->like);
        p->n_met = 0;
    }
    return p->like && insn->valid
               ? &p->like[(uintptr_t)insn * UINT64_C(0x9e3779b97f4a7c15) >> (64 - p->like_bits)]
               : NULL;
}

struct deps_site *deps_site_new(struct deps_places *p, struct trod_sites *sites, uint32_t number,
                                enum trod_isa isa, const struct deps_limits *limits)
{
    const struct trod_insn *insn;
    struct deps_site *s;
    struct deps_like *like;
    unsigned branch;

    if (!deps_site_room(p, number))
        return NULL;
    s = deps_site_at(p, number);
    insn = trod_site_insn(sites, number);
    branch = insn->valid && insn->branch ? insn->branch : trod_site_at(sites, number)->branch;
    if (isa == TROD_ISA_ARM && trod_site_at(sites, number)->iset == TROD_ISET_A64)
        isa = TROD_ISA_A64;
    like = like_of(p, insn);
    if (like && like->insn == insn && like->isa == isa && like->branch == branch) {
        *s = *deps_site_at(p, like->site);
        s->ran = s->grouped = s->stalled = 0;
        return s;
    }
    s->flags = branch ? DEPS_JUMP : 0;
    s->class = (uint8_t)class_of(sites, number, insn, branch);
    s->latency = limits->latency[s->class];
    s->limit = (uint16_t)(limits->group - !branch);
    if (insn->valid && put_registers(p, s, sites, number, isa, branch) < 0)
        return NULL;
    s->shape = (uint8_t)shape_of(s);
    if (like)
        *like = (struct deps_like){insn, number, (uint8_t)isa, (uint8_t)branch};
    return s;
}
