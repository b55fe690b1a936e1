/*
 * tt6_bid.c - is this TT6 or TT6E, and which?
 *
 * Implements docs/formats/amber.md, "Detection". Neither has a magic number. What speaks for them
 * is the chain of addresses: a branch whose target its opcode tells is followed by that target, or
 * by the next instruction where it is conditional. In foreign data one such agreement is a chance
 * of some 2^-15 at the least (32 bits agree, but small numbers are frequent). The two formats
 * differ in the length of the records of cache operations, so only one of them keeps chaining
 * behind one.
 */
#include "format/amber/amber.h"

#include "core/endian.h"

enum { BITS_A_BRANCH = 15, MOST = 60, LEAD = 12, TAIL = 8 };

static const struct {
    const char *sure, *either;
} dialects[2] = {{"TT6", "TT6 (or TT6E)"}, {"TT6E", "TT6E (or TT6)"}};

/* How one of the two readings goes. */
struct reading {
    uint32_t good, bad; /* branches that chain, and that do not */
    uint32_t odd;       /* opcodes and escapes that nobody knows: they only tell the two apart */
    uint32_t traps;     /* synthetic returns from traps */
};

/* An escape record whose code has no meaning. */
static bool odd_escape(uint32_t head)
{
    uint32_t code = head >> 16;

    return code > 5 && (code < 0x20 || code > 0x3f);
}

/* A twi at P with its synthetic return behind it, or with as much of one as is there. */
static bool is_trap(const uint8_t *p, const uint8_t *end)
{
    if (trod_load_be32(p) >> 26 != AMBER_MAJOR_TWI)
        return false;
    if (end - p < 8 || (trod_load_be32(p + 4) & ~2u) != AMBER_B_700)
        return false;
    return end - p < 16 || trod_load_be32(p + 12) == AMBER_RFI;
}

static void judge_flow(struct reading *r, uint32_t opcode, uint32_t pc, uint32_t next)
{
    struct trod_ppc_insn insn;
    uint32_t target;
    bool falls;

    if (next & 3) {
        r->bad++;
        return;
    }
    if (opcode == AMBER_B_ZERO) { /* stands between traces joined, and goes anywhere */
        r->good++;
        return;
    }
    if (!trod_ppc_decode(opcode, &insn) || !trod_ppc_target(&insn, pc, &target)) {
        r->odd += insn.op == 0;
        return;
    }
    falls = (insn.flags & TROD_PPC_CONDITIONAL) && next == pc + 4;
    r->good += next == target || falls;
    r->bad += next != target && !falls;
}

static struct reading read_head(const struct trod_probe *probe, bool extended)
{
    enum trod_ppc_variant variant = extended ? TROD_PPC_TT6E : TROD_PPC_TT6;
    const uint8_t *p = probe->head.p, *end = p + probe->head.n;
    struct reading r = {0, 0, 0, 0};
    struct trod_ppc_insn insn;
    uint32_t pc = trod_load_be32(p);

    for (p += 4; end - p >= 4;) {
        uint32_t opcode = trod_load_be32(p), word = end - p >= 8 ? trod_load_be32(p + 4) : 0;
        enum trod_ppc_class class = trod_ppc_class(opcode, variant);
        size_t len = 4 * (size_t)trod_ppc_record_words(class);

        if (opcode >> 26 == 0) {
            len = 4 + 4 * (size_t)(opcode & AMBER_ESC_WORDS);
            r.odd += odd_escape(opcode);
        } else if (class != TROD_PPC_FLOW) {
            r.odd += !trod_ppc_decode(opcode, &insn);
        }
        if (is_trap(p, end)) {
            if (end - p < 20)
                break;
            r.traps++;
            if (extended) { /* where it returns to is for the tracer to say */
                r.good += 2;
                pc = trod_load_be32(p + 16);
                p += 20;
                continue;
            }
        }
        if (len > (size_t)(end - p)) {
            /* more is missing than a cut record lacks */
            r.odd += probe->head.last && len - (size_t)(end - p) > TAIL;
            break;
        }
        if (class == TROD_PPC_FLOW)
            judge_flow(&r, opcode, pc, word);
        pc = class == TROD_PPC_FLOW ? word : opcode >> 26 == 0 ? pc : pc + 4;
        p += len;
    }
    return r;
}

static int bits_of(const struct reading *r)
{
    uint32_t bits = BITS_A_BRANCH * (r->good < 5 ? r->good : 5);

    if (r->bad > r->good / 4)
        return 0;
    return bits > MOST ? MOST : (int)bits;
}

static bool worse(const struct reading *a, const struct reading *b)
{
    return a->bad > b->bad || (a->bad == b->bad && a->odd > b->odd);
}

int amber_tt6_bid(const struct trod_probe *probe, bool extended, const char **dialect)
{
    struct reading mine, other;
    int bits, others;

    if (probe->head.n < 8 || (trod_load_be32(probe->head.p) & 3))
        return 0;
    mine = read_head(probe, extended);
    other = read_head(probe, !extended);
    bits = bits_of(&mine);
    others = bits_of(&other);
    *dialect = dialects[extended].sure;
    if (mine.traps > 0 && extended)
        return bits;
    if (mine.traps > 0 || bits < others || (bits == others && worse(&mine, &other)))
        return bits < others - LEAD ? bits : others - LEAD > 0 ? others - LEAD : 0;
    if (bits > others || worse(&other, &mine))
        return bits;
    *dialect = dialects[extended].either;
    return !extended ? bits : bits > LEAD ? bits - LEAD : 0;
}
