/*
 * straight.c - the straight way through rows: instructions that lead on, and jumps inside
 * functions.
 *
 * Most rows are these. What they cost is what following calls costs.
 */
#include "callstack/callstack_int.h"

#include "core/origin.h"
#include "core/wide.h"
#include "trod/format.h"

/* Could row I be the write of a register that matters? Most names differ in their first letter. */
static inline bool register_row(const struct cs_lane *l, const struct trod_batch *b, uint32_t i)
{
    const bool arm = l->isa == TROD_ISA_A64 || l->isa == TROD_ISA_ARM;
    const uint8_t *name;

    if (!(b->have & b->has[i] & TROD_COL_TEXT) || b->text[i].len < 2)
        return false;
    name = trod_batch_bytes(b, b->text[i]);
    switch (name[0] | 32) {
    case 'x': /* x30, xsp, x31; RISC-V x1, x2 */
        return name[1] == '3' || (name[1] | 32) == 's' || (b->text[i].len == 2 && !arm);
    case 'r': /* r13, r14, r29, r31, r1, ra, rsp */
        return (b->text[i].len == 2 && !arm) || name[1] == '1' || name[1] == '2' ||
               name[1] == '3' || (name[1] | 32) == 's';
    case 's':
    case 'm':
    case 'p':
    case 'e':
        return (name[1] | 32) == 's' || (name[1] | 32) == 'p';
    case 'l':
    case '$':
    case '2':
    case '3':
        return true;
    default:
        return false;
    }
}

/* A time of L: times never fall. */
static void pass(struct cs_lane *l, const struct trod_batch *b, uint32_t row)
{
    if (b->have & b->has[row] & TROD_COL_TIME &&
        (l->time == TROD_NOWHERE || b->time[row] > l->time))
        l->time = cs_time(b->time[row]);
}

/*
 * Where neither link register nor stack pointers are known, a jump to an address in the opcode only
 * matters if a function is entered there (cs_transfer, jump).
 */
static bool jumps_are_plain(const struct trod_callstack *c, const struct cs_lane *l)
{
    return !c->given && !l->n_banks && !l->lr_at && !cs_delay_slots(l) && cs_top(l) &&
           cs_all_marked(&l->known);
}

/* May an instruction with FLAGS have led elsewhere by such a jump? */
static inline bool is_jump(uint32_t flags)
{
    const uint32_t jumps = 1u << TROD_BR_DIRECT | 1u << TROD_BR_COND | 1u << TROD_BR_COND_TAKEN |
                           1u << TROD_BR_COND_UNTAKEN;

    return jumps >> (flags & TROD_F_BRANCH) & 1 && !(flags & TROD_F_SKIPPED);
}

/* L jumped to PC, far from where it was: is no function entered there? Then *GAP is around it. */
static bool lands(struct trod_callstack *c, struct cs_lane *l, uint64_t pc, struct cs_gap *gap)
{
    if (cs_entered_at(&l->known, c->symbols, pc))
        return false;
    *gap = cs_gap(&l->known, c->symbols, pc);
    return true;
}

/* The last of N jumps led L to row I of B, instruction NUMBER of its stream. */
static void jumped(struct trod_callstack *c, struct cs_lane *l, const struct trod_batch *b,
                   uint32_t i, uint64_t number, uint64_t n)
{
    l->iset = (uint8_t)((b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT);
    l->run = b->addr[i];
    l->transfer_at = number;
    l->rseq = false;
    c->counts.transfers += n;
}

/* The times of rows that are not RISING are looked at one by one. */
static inline uint32_t straight(struct trod_callstack *c, struct cs_lane *l,
                                const struct trod_batch *b, uint32_t from, uint32_t to, bool rising)
{
    const uint8_t *const restrict kind = b->kind;
    const uint32_t *const restrict size = b->size, *const restrict flags = b->flags;
    const uint64_t *const restrict addr = b->addr;
    bool plain_jumps = jumps_are_plain(c, l);
    struct cs_gap gap = l->gap;
    uint64_t next = l->next, count = l->count, jumped_at = 0, jumps = 0;
    uint32_t last = l->last_row, before = l->before_row, jump = 0, i = from;

    if (!l->began)
        return from;
    for (; i < to; i++) {
        if (kind[i] == TROD_INSTR) {
            if (flags[i] & (TROD_F_SYNTHETIC | TROD_F_NOFETCH))
                continue;
            if (size[i] == 0 || l->pending)
                break;
            if (addr[i] != next) {
                if (last == CS_NO_INDEX || !plain_jumps || !is_jump(flags[last]))
                    break;
                if (addr[i] - gap.from >= gap.to - gap.from) {
                    if (!lands(c, l, addr[i], &gap))
                        break;
                    plain_jumps = cs_all_marked(&l->known);
                }
                jump = i;
                jumped_at = count;
                jumps++;
                next = addr[i];
            } else if (next >= gap.to) {
                break;
            }
            next += size[i];
            before = last;
            last = i;
            count++;
            if (!rising)
                pass(l, b, i);
        } else if (kind[i] == TROD_REG) {
            if (register_row(l, b, i))
                break;
        } else if (kind[i] == TROD_EXCEPTION || kind[i] == TROD_MARKER) {
            break;
        }
    }
    if (jumps)
        jumped(c, l, b, jump, jumped_at, jumps);
    if (last != CS_NO_INDEX) {
        l->row = trod_origin_row(b, last) + 1;
        pass(l, b, last);
    }
    l->gap = gap;
    l->next = next;
    l->count = count;
    l->last_row = last;
    l->before_row = before;
    return i;
}

uint32_t cs_straight(struct trod_callstack *c, struct cs_lane *l, const struct trod_batch *b,
                     uint32_t from, uint32_t to, struct cs_alike alike)
{
    return alike.rising ? straight(c, l, b, from, to, true) : straight(c, l, b, from, to, false);
}

TROD_HOT struct cs_alike alike_of(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const uint32_t needs = TROD_COL_FLAGS | TROD_COL_ADDR | TROD_COL_SIZE;
    const uint32_t *const restrict has = b->has, *const restrict stream = b->stream;
    const uint64_t *const restrict time = b->time;
    const uint8_t *const restrict kind = b->kind;
    const uint32_t first = b->have & has[from];
    uint32_t all = b->have & needs, differ = 0, said = 0;
    uint64_t times = 0, falls = 0;
    bool timed;

    if (all != needs)
        return (struct cs_alike){.plain = false};
    for (uint32_t i = from; i < to; i++) {
        all &= has[i] | (kind[i] == TROD_INSTR ? 0 : UINT32_MAX);
        said |= has[i] ^ has[from];
    }
    for (uint32_t i = from; b->have & TROD_COL_STREAM && i < to; i++)
        differ |= stream[i] ^ stream[from];
    for (uint32_t i = from; first & TROD_COL_TIME && i < to; i++)
        times |= time[i] ^ time[from];
    for (uint32_t i = from + 1; times && i < to; i++)
        falls |= time[i] | (time[i] - time[i - 1]); /* the highest bit: one falls, or may */
    timed = !(said & b->have & TROD_COL_TIME);
    return (struct cs_alike){
        .plain = all == needs && !(said & b->have & TROD_COL_STREAM) &&
                 (differ == 0 || !(first & TROD_COL_STREAM)),
        .rising = !(falls >> 63) && timed,
    };
}

#if TROD_AVX2
TROD_WIDE static struct cs_alike alike_wide(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    return alike_of(b, from, to);
}
#endif

struct cs_alike cs_alike(const struct trod_batch *b, uint32_t from, uint32_t to)
{
#if TROD_AVX2
    if (trod_wide())
        return alike_wide(b, from, to);
#endif
    return alike_of(b, from, to);
}
