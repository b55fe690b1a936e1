/*
 * isa.c - which instruction set is the disassembly of a log written in?
 *
 * Implements ln_isa_settle of lines.h. QEMU's and gem5's logs show instructions as text and do not
 * say for which processor. Each instruction set has frequent words that the others do not have:
 * the one most of whose words occur is taken if it leads clearly; otherwise it stays unknown.
 */
#include "format/lines/lines.h"

enum { WORDS = 14, LEAST = 3, LEAD = 2, WORD_MAX = 12, HEAD_MAX = 1 << 16 };

const char *const ln_isa_choices[] = {"auto",   "arm",    "a64",    "ppc32",   "ppc64",   "x86_32",
                                      "x86_64", "mips32", "mips64", "riscv64", "riscv32", NULL};

static const uint8_t isa_of[] = {TROD_ISA_UNKNOWN, TROD_ISA_ARM,    TROD_ISA_A64,
                                 TROD_ISA_PPC32,   TROD_ISA_PPC64,  TROD_ISA_X86_32,
                                 TROD_ISA_X86_64,  TROD_ISA_MIPS32, TROD_ISA_MIPS64,
                                 TROD_ISA_RISCV64, TROD_ISA_RISCV32};

/* Words that no other of these instruction sets has, and those of its 64-bit form alone. */
static const struct {
    uint8_t isa, isa64; /* isa64 0: there is one form */
    const char *word[WORDS], *word64[WORDS];
} tables[] = {
    {TROD_ISA_ARM,
     0,
     {"r4", "r5", "r7", "ip", "fp", "lr", "bx", "blx", "push", "pop", "ldm", "stm", "movw", "movt"},
     {NULL}},
    {TROD_ISA_A64,
     0,
     {"x0", "x1", "x2", "x3", "w0", "w1", "w2", "x29", "x30", "adrp", "stp", "ldp", "cbz", "cbnz"},
     {NULL}},
    {TROD_ISA_PPC32,
     TROD_ISA_PPC64,
     {"mflr", "mtlr", "stw", "stwu", "lwz", "bdnz", "blr", "bctrl", "mtctr", "cmpwi", "cmplwi",
      "rlwinm", "lis", "slwi"},
     {"std", "stdu", "ld", "cmpdi", "cmpld", "rldicl", "rldicr", "clrldi", "sldi"}},
    {TROD_ISA_X86_32,
     TROD_ISA_X86_64,
     {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "pushl", "movl", "popl", "leal",
      "calll", "retl"},
     {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r12", "callq", "movq",
      "retq"}},
    {TROD_ISA_MIPS32,
     TROD_ISA_MIPS64,
     {"v0", "v1", "at", "gp", "addiu", "addu", "subu", "sltiu", "lui", "sltu", "jr", "lhu", "sll",
      "bal"},
     {"daddiu", "sd", "ld", "dsll", "daddu", "dsubu", "dsrl", "dsll32"}},
    {TROD_ISA_RISCV64,
     0,
     {"auipc", "addi", "mv", "ecall", "a5", "a6", "a7", "s10", "s11", "slli", "srli", "jalr",
      "sext", "csrrw"},
     {NULL}},
};

enum { TABLES = sizeof tables / sizeof *tables };

static bool is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static uint32_t bit_of(const char *const *words, const uint8_t *p, size_t n)
{
    for (unsigned w = 0; w < WORDS && words[w]; w++)
        if (strlen(words[w]) == n && memcmp(words[w], p, n) == 0)
            return 1u << w;
    return 0;
}

/* Words that occurred, by table. */
struct seen {
    uint32_t word[TABLES], word64[TABLES];
};

static void count(const struct trod_span *head, struct seen *s)
{
    const size_t n = head->n < HEAD_MAX ? head->n : HEAD_MAX;

    for (size_t i = 0; i < n;) {
        const size_t from = i;

        while (i < n && is_word(head->p[i]))
            i++;
        for (unsigned t = 0; i > from && i - from < WORD_MAX && t < TABLES; t++) {
            s->word[t] |= bit_of(tables[t].word, head->p + from, i - from);
            s->word64[t] |= bit_of(tables[t].word64, head->p + from, i - from);
        }
        i += i == from;
    }
}

static enum trod_isa guess(const struct trod_span *head)
{
    struct seen s = {{0}, {0}};
    int best = 0, most = 0, second = 0;

    count(head, &s);
    for (unsigned t = 0; t < TABLES; t++) {
        int words = __builtin_popcount(s.word[t]);

        /* the 64-bit words of one are those of others too: they count beside its own alone */
        if (words > 1 || tables[t].isa == TROD_ISA_X86_32)
            words += __builtin_popcount(s.word64[t]);
        if (words > most) {
            second = most;
            most = words;
            best = (int)t;
        } else if (words > second) {
            second = words;
        }
    }
    if (most < LEAST || most - second < LEAD)
        return TROD_ISA_UNKNOWN;
    return (enum trod_isa)(s.word64[best] ? tables[best].isa64 : tables[best].isa);
}

void ln_isa_settle(const struct ln_isa *o, const struct trod_span *head, struct trod_meta *meta)
{
    if (o && o->isa)
        meta->isa = (enum trod_isa)isa_of[o->isa];
    else if (meta->isa == TROD_ISA_UNKNOWN)
        meta->isa = guess(head);
    if (meta->endian == TROD_ENDIAN_UNKNOWN && meta->isa != TROD_ISA_UNKNOWN)
        meta->endian = meta->isa == TROD_ISA_PPC32 || meta->isa == TROD_ISA_PPC64
                           ? TROD_ENDIAN_BIG
                           : TROD_ENDIAN_LITTLE;
}
