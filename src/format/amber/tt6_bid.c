/*
 * tt6_bid.c - is this TT6 or TT6E, and which?
 *
 * Implements docs/formats/amber.md, "Detection". Neither has a magic number. What speaks for them
 * is the chain of addresses: a branch whose target its opcode tells is followed by that target, or
 * by the next instruction where it is conditional. In foreign data one such agreement is a chance
 * of some 2^-15 at the least (32 bits agree, but small numbers are frequent).
 *
 * The two formats differ in the length of the records of cache operations and in what stands behind
 * a twi. Both readings of the whole window are judged by the same marks; what they read alike
 * cancels. Where they differ and neither is better by TROD_BID_LEAD bits, both bid the same, which
 * trod_detect reports as ambiguous: a wrong reading invents or swallows instructions.
 */
#include "format/amber/amber.h"

#include "core/endian.h"

#include <string.h>

enum { MOST = 60, EITHER = 12, TAIL = 8, PLACES = 1024, TEXT = 1024, FLOW = 8 };

/* Bits that one sign weighs. */
enum {
    CHAIN = 15,  /* a branch chains, or does not; an address has two opcodes */
    UNKNOWN = 8, /* an opcode or escape that is in no table: our tables may lack one */
    CUT = 4,     /* the data ends inside a record: files are cut now and then */
    NO_PAIR = 6, /* TT6E: a twi without its synthetic return */
    TRAP_PAIR =
        30 /* TT6: a synthetic return, behind a twi or where its twi passes for an operand */
};

static const struct {
    const char *sure, *either;
} dialects[2] = {{"TT6", "TT6 (or TT6E)"}, {"TT6E", "TT6E (or TT6)"}};

/* How one of the two readings goes. */
struct reading {
    uint32_t good, bad;   /* branches that chain, and that do not */
    uint32_t joins;       /* b 0, which chains with anything */
    uint32_t odd;         /* opcodes and escapes that are in no table */
    uint32_t known;       /* instructions and synchronization records that are none of these */
    uint32_t traps, bare; /* synthetic returns, twi without one */
    uint32_t changed;     /* instructions at addresses that held another one before */
    bool cut;             /* ends inside a record */
    uint64_t hash;        /* of where its records begin */
    struct {
        uint32_t pc, opcode;
    } place[PLACES]; /* the last instruction at each address; direct-mapped, opcode 0: none */
};

/* An escape record whose code has no meaning. */
static bool odd_escape(uint32_t head)
{
    uint32_t code = head >> 16;

    return code > 5 && (code < 0x20 || code > 0x3f);
}

/* A synthetic return at P, or as much of one as is there, but its first word. */
static bool is_return(const uint8_t *p, const uint8_t *end)
{
    if (end - p < 4 || (trod_load_be32(p) & ~2u) != AMBER_B_700)
        return false;
    return end - p < 12 || trod_load_be32(p + 8) == AMBER_RFI;
}

/* A twi at P with its synthetic return behind it, or with as much of one as is there. */
static bool is_trap(const uint8_t *p, const uint8_t *end)
{
    return trod_load_be32(p) >> 26 == AMBER_MAJOR_TWI && is_return(p + 4, end);
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
        r->joins++;
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

/* Code does not change: an address that comes again has the same opcode. */
static void judge_place(struct reading *r, uint32_t opcode, uint32_t pc)
{
    uint32_t at = (pc >> 2) % PLACES;

    r->changed += r->place[at].opcode && r->place[at].pc == pc && r->place[at].opcode != opcode;
    r->place[at].pc = pc;
    r->place[at].opcode = opcode;
}

/* What the record at P, of CLASS, says beside its flow. Returns its bytes. */
static size_t judge_record(struct reading *r, const uint8_t *p, uint32_t pc,
                           enum trod_ppc_class class)
{
    uint32_t opcode = trod_load_be32(p);
    struct trod_ppc_insn insn;

    if (opcode >> 26 == 0) {
        r->odd += odd_escape(opcode);
        r->known += opcode >> 16 >= 0x20 && !odd_escape(opcode);
        return 4 + 4 * (size_t)(opcode & AMBER_ESC_WORDS);
    }
    if (class != TROD_PPC_FLOW) {
        const bool known = trod_ppc_decode(opcode, &insn);

        r->known += known;
        r->odd += !known;
    }
    judge_place(r, opcode, pc);
    return 4 * (size_t)trod_ppc_record_words(class);
}

/*
 * Are there so many branches that do not chain that the LEFT bytes to come, FLOW of them for each
 * branch that chains, cannot outweigh them?
 */
static bool hopeless(const struct reading *r, size_t left)
{
    return r->bad > (r->good + r->joins + 2 * r->traps + left / FLOW + 1) / 4;
}

/* STOP: as soon as nothing can come of it. */
static void read_head(struct reading *r, const struct trod_probe *probe, bool extended, bool stop)
{
    enum trod_ppc_variant variant = extended ? TROD_PPC_TT6E : TROD_PPC_TT6;
    const uint8_t *p = probe->head.p, *end = p + probe->head.n;
    const uint8_t *returns = NULL; /* the synthetic return of the last twi */
    uint32_t pc = trod_load_be32(p);

    memset(r, 0, sizeof *r);
    for (p += 4; end - p >= 4;) {
        uint32_t opcode = trod_load_be32(p), word = end - p >= 8 ? trod_load_be32(p + 4) : 0;
        enum trod_ppc_class class = trod_ppc_class(opcode, variant);
        size_t len = judge_record(r, p, pc, class);

        r->hash = (r->hash ^ (uint64_t)(p - probe->head.p)) * UINT64_C(0x100000001b3);
        if (is_trap(p, end)) {
            if (end - p < 20)
                break;
            r->traps++;
            if (extended) { /* where it returns to is for the tracer to say */
                pc = trod_load_be32(p + 16);
                p += 20;
                continue;
            }
            returns = p + 4;
        } else {
            r->traps += !extended && p != returns && end - p >= 12 && is_return(p, end);
            r->bare += opcode >> 26 == AMBER_MAJOR_TWI && end - p >= 8;
        }
        if (len > (size_t)(end - p)) {
            r->cut = probe->head.last;
            /* more is missing than a cut record lacks */
            r->odd += probe->head.last && len - (size_t)(end - p) > TAIL;
            return;
        }
        if (class == TROD_PPC_FLOW)
            judge_flow(r, opcode, pc, word);
        pc = class == TROD_PPC_FLOW ? word : opcode >> 26 == 0 ? pc : pc + 4;
        p += len;
        if (stop && hopeless(r, (size_t)(end - p)))
            return;
    }
    r->cut = probe->head.last && p != end;
}

static int bits_of(const struct reading *r)
{
    uint32_t good = r->good + r->joins + 2 * r->traps;

    if (r->bad > good / 4)
        return 0;
    return good > MOST / CHAIN ? MOST : CHAIN * (int)good;
}

/* Only known records, and no branch: the name of the file can decide. */
static bool plain(const struct reading *r)
{
    return r->good + r->joins + r->bad + r->traps + r->odd + r->changed == 0 && !r->cut && r->known;
}

/* What speaks for a reading, in bits. Only differences between two of the same data count. */
static int64_t marks_of(const struct reading *r, bool extended)
{
    return CHAIN * ((int64_t)r->good - r->bad - r->changed) - (int64_t)UNKNOWN * r->odd -
           (r->cut ? CUT : 0) -
           (extended ? (int64_t)NO_PAIR * r->bare : (int64_t)TRAP_PAIR * r->traps);
}

/* TEXT bytes of printable characters: addresses and opcodes have others. */
static bool is_text(const struct trod_span *head)
{
    for (size_t i = 0; i < TEXT && i < head->n; i++)
        if ((head->p[i] < ' ' && head->p[i] != '\n' && head->p[i] != '\t' && head->p[i] != '\r') ||
            head->p[i] > '~')
            return false;
    return head->n >= TEXT;
}

int amber_tt6_bid(const struct trod_probe *probe, bool extended, const char **dialect)
{
    struct reading mine, other;
    int64_t lead;
    int bits, others;

    if (probe->head.n < 8 || (trod_load_be32(probe->head.p) & 3) || is_text(&probe->head))
        return 0;
    *dialect = dialects[extended].sure;
    read_head(&mine, probe, extended, true);
    bits = bits_of(&mine);
    if (bits == 0 && !plain(&mine))
        return 0;
    read_head(&other, probe, !extended, false);
    if (bits == 0)
        return marks_of(&mine, extended) < marks_of(&other, !extended) ? 0 : TROD_BID_NAMED;
    others = bits_of(&other);
    if (mine.hash == other.hash && mine.traps + other.traps + mine.bare == 0) {
        *dialect = dialects[extended].either;
        if (extended) /* a name can make it TT6E */
            bits = bits > EITHER + TROD_BID_NAMED ? bits - EITHER : TROD_BID_NAMED;
        return bits;
    }
    lead = marks_of(&mine, extended) - marks_of(&other, !extended);
    if (bits < others)
        bits = others;
    if (lead >= 0)
        return bits;
    return lead > -bits ? bits + (int)lead : 0;
}
