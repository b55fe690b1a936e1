/*
 * like.c - when Arm's tarmac-truncate considers a machine stuck (trod/loops.h).
 *
 * Implements docs/navigating.md, "truncate": an instruction at one of the last 16 addresses since a
 * register changed, or 8 to 15 lines of text that repeat those before. Accesses do not count.
 */
#include "show/loops/loops.h"

#include "core/hash.h"

#include <string.h>

enum { CORE = 8, VECTOR = 256, FIRST_VECTOR = 40 * CORE, PREDICATES = FIRST_VECTOR + 32 * VECTOR };

static bool named(const uint8_t *p, uint32_t n, const char *what)
{
    for (; n && *what && (*p | 32) == *what; n--, p++)
        what++;
    return !*what && (n == 0 || *p == '_');
}

/* Where register P (N bytes of name) lies in the space of registers; -1: it is not known. */
static int place_of(const uint8_t *p, uint32_t n)
{
    static const char *const others[] = {"psr", "cpsr", "fpscr", "fpcr", "fpsr", "vpr", NULL};
    const uint8_t letter = n ? p[0] | 32 : 0;
    unsigned number = 0;
    uint32_t i = 1;

    for (; i < n && i < 3 && p[i] >= '0' && p[i] <= '9'; i++)
        number = 10 * number + (unsigned)(p[i] - '0');
    if (i > 1 && strchr("rwxe", letter) && letter && number < 31)
        return (int)(number * CORE);
    if (i > 1 && strchr("vqdsz", letter) && letter && number < 32)
        return (int)(FIRST_VECTOR + number * VECTOR);
    if (i > 1 && letter == 'p' && number < 16)
        return (int)(PREDICATES + number * 32);
    if (named(p, n, "sp") || named(p, n, "xsp") || named(p, n, "wsp"))
        return 31 * CORE;
    if (named(p, n, "msp"))
        return 13 * CORE;
    if (named(p, n, "lr"))
        return 14 * CORE;
    for (int k = 0; others[k]; k++)
        if (named(p, n, others[k]))
            return (32 + k) * CORE;
    return -1;
}

/* A write of N bytes at AT: a change is another value in what was written before. */
static void write_at(struct loops_like *k, uint32_t at, const uint8_t *p, uint32_t n)
{
    if (at + n > sizeof k->reg)
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (at + i < k->seen && k->reg[at + i] != p[i])
            k->n_pc = 0;
        k->reg[at + i] = p[i];
    }
    if (at + n > k->seen)
        k->seen = at + n;
}

static void write_register(struct loops_like *k, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i];
    const int at =
        said & TROD_COL_TEXT ? place_of(trod_batch_bytes(b, b->text[i]), b->text[i].len) : -1;
    uint8_t value[8];

    if (at < 0)
        return;
    k->n_text = 0;
    if (said & TROD_COL_DATA) {
        write_at(k, (uint32_t)at, trod_batch_bytes(b, b->data[i]), b->data[i].len);
        return;
    }
    if (!(said & TROD_COL_VALUE))
        return;
    for (unsigned n = 0; n < 8; n++)
        value[n] = (uint8_t)(b->value[i] >> 8 * n);
    write_at(k, (uint32_t)at, value, said & TROD_COL_SIZE && b->size[i] < 8 ? b->size[i] : 8);
}

static int instruction(struct loops_like *k, const struct trod_batch *b, uint32_t i)
{
    const uint64_t pc = b->have & b->has[i] & TROD_COL_ADDR ? b->addr[i] : 0;

    k->n_text = 0;
    for (unsigned n = 0; n < k->n_pc; n++)
        if (k->pc[n] == pc)
            return 1;
    if (k->n_pc == LOOPS_STEPS)
        memmove(k->pc, k->pc + 1, --k->n_pc * sizeof *k->pc);
    k->pc[k->n_pc++] = pc;
    return 0;
}

static int text(struct loops_like *k, const struct trod_batch *b, uint32_t i)
{
    memmove(k->text + 1, k->text, (LOOPS_TEXTS - 1) * sizeof *k->text);
    k->text[0] = loops_row(b, i, 0);
    if (k->n_text < LOOPS_TEXTS)
        k->n_text++;
    for (unsigned n = 8; n < 16; n++)
        if (k->n_text > 2 * n && memcmp(k->text, k->text + n, n * sizeof *k->text) == 0)
            return 1;
    return 0;
}

int loops_like_row(struct loops_like *k, const struct trod_batch *b, uint32_t i)
{
    switch (b->kind[i]) {
    case TROD_INSTR:
        return instruction(k, b, i);
    case TROD_REG:
        write_register(k, b, i);
        return 0;
    case TROD_READ:
    case TROD_WRITE:
    case TROD_ATOMIC:
    case TROD_EXCEPTION:
    case TROD_MODE:
        return 0;
    default:
        return text(k, b, i);
    }
}
