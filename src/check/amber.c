/*
 * amber.c - rules of TT6, TT6E and FULL traces.
 *
 * Implements the "amber." rules. Whether the signals and waits of a set have a legal order is found
 * by reading it in order "sync".
 */
#include "check/check_int.h"
#include "isa/ppc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 1 << 10, THREAD_WORDS = 40, LR_WORD = 36, CTR_WORD = 37, CR_WORD = 34 };

/* The first and the last signal that a thread gave on points; direct-mapped. */
struct point {
    uint64_t addr, count;
    uint64_t first_addr, first_count;
    bool used;
};

struct tt6 {
    struct point *points;
    uint32_t before; /* opcode of the instruction before */
    bool synthetic;  /* a synthetic b 0x700 waits for its rfi */
    bool begun;      /* there was an instruction: where the next is stands in its record */
};

static uint32_t opcode_of(const struct trod_batch *b, uint32_t i)
{
    const uint8_t *p = trod_batch_bytes(b, b->code[i]);

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Whether INSN insists on addresses that are multiples of its unit. */
static uint32_t alignment_of(const struct trod_ppc_insn *insn)
{
    if (insn->access.kind == TROD_PPC_RESERVE || insn->access.kind == TROD_PPC_COND)
        return insn->access.size;
    return insn->access.rule == TROD_PPC_MULTI ? 4 : 1;
}

static void check_address(struct chk *c, const struct trod_ppc_insn *insn,
                          const struct trod_batch *b, uint32_t i)
{
    uint32_t align = alignment_of(insn);

    if (align > 1 && b->addr[i] % align)
        chk_report(c, CHK_TT6_EA, b, i, "%s accesses 0x%" PRIx64 ", no multiple of %" PRIu32,
                   trod_ppc_op_name(insn->op), b->addr[i], align);
}

static void check_flow(struct chk *c, const struct trod_ppc_insn *insn, const struct trod_batch *b,
                       uint32_t i)
{
    uint32_t target, pc = (uint32_t)b->addr[i], next = (uint32_t)b->target[i];

    if (!chk_has(b, i, TROD_COL_TARGET))
        return;
    if (next & 3)
        chk_report(c, CHK_TT6_ALIGN, b, i, "next address 0x%08" PRIx32 " is no multiple of 4",
                   next);
    if ((b->flags[i] & TROD_F_SYNTHETIC) || !trod_ppc_target(insn, pc, &target))
        return;
    if (next == target)
        return;
    if ((insn->branch == TROD_PPC_BRANCH_COND || insn->branch == TROD_PPC_BRANCH_COND_CALL) &&
        next == pc + 4)
        return;
    /* b 0 with another address behind it is where acid joins two traces. */
    if (insn->opcode == 0x48000000)
        return;
    chk_report(c, CHK_TT6_CHAIN, b, i, "branch to 0x%08" PRIx32 " goes on at 0x%08" PRIx32, target,
               next);
}

static void instruction(struct chk *c, struct tt6 *s, const struct trod_batch *b, uint32_t i,
                        struct trod_ppc_insn *insn)
{
    if (!chk_has(b, i, TROD_COL_CODE) || b->code[i].len != 4)
        return;
    trod_ppc_decode(opcode_of(b, i), insn);
    if (insn->op == 0)
        chk_report(c, CHK_TT6_OPCODE, b, i, "opcode 0x%08" PRIx32 " is no instruction",
                   insn->opcode);
    if (!s->begun && (b->addr[i] & 3))
        chk_report(c, CHK_TT6_ALIGN, b, i, "first address 0x%08" PRIx64 " is no multiple of 4",
                   b->addr[i]);
    s->begun = true;
    check_flow(c, insn, b, i);
    if (s->synthetic && insn->branch != TROD_PPC_BRANCH_RFI)
        chk_report(c, CHK_TT6_TWI, b, i, "synthetic branch to 0x700 is not followed by rfi");
    s->synthetic = s->before >> 26 == 3 && (insn->opcode | 2) == 0x48000702;
    s->before = insn->opcode;
}

static int signal_given(struct chk *c, struct tt6 *s, const struct trod_batch *b, uint32_t i)
{
    struct point *p;

    if (!s->points && !(s->points = calloc(POINTS, sizeof *s->points)))
        return TROD_ERR_NOMEM;
    p = &s->points[(b->addr[i] >> 2) & (POINTS - 1)];
    if (p->used && p->addr == b->addr[i] && b->value[i] <= p->count)
        chk_report(c, CHK_TT6_SYNC, b, i,
                   "signal %" PRIu64 " on sync point 0x%" PRIx64 " follows signal %" PRIu64,
                   b->value[i], b->addr[i], p->count);
    if (!p->used)
        *p = (struct point){.first_addr = b->addr[i], .first_count = b->value[i], .used = true};
    p->addr = b->addr[i];
    p->count = b->value[i];
    return TROD_OK;
}

static void escape(struct chk *c, const struct trod_batch *b, uint32_t i)
{
    uint32_t words = chk_has(b, i, TROD_COL_DATA) ? b->data[i].len / 4 : 0;
    unsigned code = b->sub[i];

    if (code >= 0x400) /* INITIAL_PC */
        return;
    if (trod_sync_is_signal(code) || trod_sync_is_wait(code))
        chk_report(c, CHK_TT6_ESCAPE, b, i, "synchronization record of %" PRIu32 " words", words);
    else if (code <= 5 && (words == 0 || words > 2))
        chk_report(c, CHK_TT6_ESCAPE, b, i, "escape record 0x%02x of %" PRIu32 " words", code,
                   words);
    else if (code > 5)
        chk_report(c, CHK_TT6_ESCAPE_CODE, b, i, "escape code 0x%02x is not known", code);
}

static int rows(struct chk *c, void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct trod_ppc_insn insn = {0};
    struct tt6 *s = st;
    int rc = TROD_OK;

    for (uint32_t i = from; i < to && rc == TROD_OK; i++) {
        switch (b->kind[i]) {
        case TROD_INSTR:
            instruction(c, s, b, i, &insn);
            break;
        case TROD_READ:
        case TROD_WRITE:
            if (b->flags[i] & TROD_F_CONT)
                check_address(c, &insn, b, i);
            break;
        case TROD_SYNC:
            if (trod_sync_is_signal(b->sub[i]))
                rc = signal_given(c, s, b, i);
            break;
        case TROD_MARKER:
            escape(c, b, i);
            break;
        default:
            break;
        }
    }
    return rc;
}

static void fini(void *st)
{
    free(((struct tt6 *)st)->points);
}

static void seam(void *to, void *st)
{
    struct tt6 *s = st;

    *(struct tt6 *)to = *s;
    ((struct tt6 *)to)->points = NULL;
    free(s->points);
    s->points = NULL;
}

/*
 * FROM gets the points that only S has, and S has none any more. False: the first signal of FROM on
 * one breaks a rule.
 */
static bool join_points(struct tt6 *s, struct tt6 *from)
{
    for (unsigned i = 0; s->points && from->points && i < POINTS; i++) {
        struct point *p = &s->points[i], *next = &from->points[i];

        if (!next->used)
            *next = *p;
        else if (p->used && next->first_addr == p->addr && next->first_count <= p->count)
            return false;
    }
    if (from->points)
        free(s->points);
    else
        from->points = s->points;
    s->points = NULL;
    return true;
}

static bool join(struct chk *c, void *into, const void *thought, void *from)
{
    const struct tt6 *t = thought;
    struct tt6 *s = into, *f = from;

    (void)c;
    if (s->before != t->before || s->synthetic != t->synthetic || s->begun != t->begun ||
        !join_points(s, f))
        return false;
    *s = *f;
    f->points = NULL;
    return true;
}

const struct chk_family chk_amber = {
    .families = TROD_RULE_TT6,
    .stream_size = sizeof(struct tt6),
    .rows = rows,
    .fini = fini,
    .seam = seam,
    .join = join,
};

/* ---- FULL ---- */

struct full {
    struct trod_ppc_insn insn; /* of the record before */
    uint32_t pc;
    struct trod_ppc_flow flow;
    bool known;
};

static uint32_t word(const uint8_t *p, unsigned i)
{
    p += 4 * (size_t)i;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Register NAME (N bytes) with LETTER and a number: the number, or 32. */
static unsigned number_of(const uint8_t *name, uint32_t n, char letter)
{
    unsigned v = 0;

    if (n < 2 || n > 3 || name[0] != (uint8_t)letter)
        return 32;
    for (uint32_t i = 1; i < n; i++) {
        if (name[i] < '0' || name[i] > '9')
            return 32;
        v = 10 * v + (unsigned)(name[i] - '0');
    }
    return v < 32 ? v : 32;
}

static bool is(const uint8_t *name, uint32_t n, const char *what)
{
    return n == strlen(what) && memcmp(name, what, n) == 0;
}

/* May the instruction change the register? What the kernel may change at any time counts as may. */
static bool may_write(const struct trod_ppc_insn *insn, const uint8_t *name, uint32_t n)
{
    const struct trod_ppc_regs *w = &insn->writes;
    unsigned k;

    if (insn->op == 0 || insn->branch == TROD_PPC_BRANCH_SYSCALL)
        return true;
    if ((k = number_of(name, n, 'r')) < 32)
        return w->gpr >> k & 1;
    if ((k = number_of(name, n, 'f')) < 32)
        return w->fpr >> k & 1;
    if ((k = number_of(name, n, 'v')) < 32)
        return w->vr >> k & 1;
    if (is(name, n, "cr"))
        return w->cr != 0;
    if (is(name, n, "xer"))
        return (w->special & TROD_PPC_XER_ALL) != 0;
    if (is(name, n, "lr"))
        return (w->special & TROD_PPC_LR) != 0;
    if (is(name, n, "ctr"))
        return (w->special & TROD_PPC_CTR) != 0;
    return true;
}

static void next_pc(struct chk *c, const struct full *s, const struct trod_batch *b, uint32_t i)
{
    uint32_t next;

    if (!s->known || !trod_ppc_next(&s->insn, s->pc, &s->flow, &next, NULL) ||
        next == (uint32_t)b->addr[i])
        return;
    chk_report(c, CHK_FULL_NEXT, b, i,
               "instruction at 0x%08" PRIx32 " leads to 0x%08" PRIx32
               ", the next is at 0x%08" PRIx64,
               s->pc, next, b->addr[i]);
}

static void full_instruction(struct chk *c, struct full *s, const struct trod_batch *b, uint32_t i)
{
    next_pc(c, s, b, i);
    s->known = chk_has(b, i, TROD_COL_CODE) && b->code[i].len == 4;
    if (!s->known)
        return;
    trod_ppc_decode(opcode_of(b, i), &s->insn);
    s->pc = (uint32_t)b->addr[i];
    if (s->insn.op == 0)
        chk_report(c, CHK_TT6_OPCODE, b, i, "opcode 0x%08" PRIx32 " is no instruction",
                   s->insn.opcode);
    if (s->pc & 3)
        chk_report(c, CHK_TT6_ALIGN, b, i, "address 0x%08" PRIx32 " is no multiple of 4", s->pc);
}

static int full_rows(struct chk *c, void *st, const struct trod_batch *b, uint32_t from,
                     uint32_t to)
{
    struct full *s = st;

    for (uint32_t i = from; i < to; i++) {
        const uint8_t *name = trod_batch_bytes(b, b->text[i]);

        if (b->kind[i] == TROD_INSTR) {
            full_instruction(c, s, b, i);
        } else if (b->kind[i] == TROD_STATE && b->data[i].len >= 4 * THREAD_WORDS) {
            const uint8_t *p = trod_batch_bytes(b, b->data[i]);

            s->flow = (struct trod_ppc_flow){word(p, LR_WORD), word(p, CTR_WORD), word(p, CR_WORD)};
        } else if (b->kind[i] == TROD_REG && s->known &&
                   !may_write(&s->insn, name, b->text[i].len)) {
            chk_report(c, CHK_FULL_WRITES, b, i,
                       "%.*s changes by %s at 0x%08" PRIx32 ", which does not write it",
                       (int)b->text[i].len, name, trod_ppc_op_name(s->insn.op), s->pc);
        } else if ((b->kind[i] == TROD_READ || b->kind[i] == TROD_WRITE) && s->known) {
            check_address(c, &s->insn, b, i);
        }
    }
    return TROD_OK;
}

static void full_seam(void *to, void *st)
{
    *(struct full *)to = *(struct full *)st;
}

static bool full_join(struct chk *c, void *into, const void *thought, void *from)
{
    const struct full *t = thought;
    struct full *s = into;

    (void)c;
    if (s->known != t->known || s->pc != t->pc || s->insn.opcode != t->insn.opcode ||
        s->flow.lr != t->flow.lr || s->flow.ctr != t->flow.ctr || s->flow.cr != t->flow.cr)
        return false;
    *s = *(struct full *)from;
    return true;
}

const struct chk_family chk_full = {
    .families = TROD_RULE_FULL,
    .stream_size = sizeof(struct full),
    .rows = full_rows,
    .seam = full_seam,
    .join = full_join,
};
