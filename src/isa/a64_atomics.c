/*
 * a64_atomics.c - text of A64's atomic memory operations (FEAT_LSE), which Capstone 4 does not
 * know.
 *
 * Implements a64_atomics.h: Arm Architecture Reference Manual, "Atomic memory operations", "Compare
 * and swap", "Compare and swap pair".
 */
#include "isa/a64_atomics.h"

#include <stdbool.h>
#include <stdio.h>

enum { WHOLE_TEXT = 96, ZERO = 31 };

/* Register NUMBER as Xn or Wn; 31 is the zero register, or of addresses the stack pointer. */
static void name_of(char *out, unsigned number, bool wide, bool address)
{
    if (number == ZERO)
        snprintf(out, 8, "%s", address ? "sp" : wide ? "xzr" : "wzr");
    else
        snprintf(out, 8, "%c%u", wide || address ? 'x' : 'w', number);
}

/* OP with what it orders and how wide it is: ldaddalh. */
static int opcode(char *out, const char *op, bool acquire, bool release, unsigned size)
{
    return snprintf(out, WHOLE_TEXT, "%s%s%s%s ", op, acquire ? "a" : "", release ? "l" : "",
                    size == 0   ? "b"
                    : size == 1 ? "h"
                                : "");
}

static int operation(uint32_t code, char *out)
{
    static const char *const loads[] = {"ldadd",  "ldclr",  "ldeor",  "ldset",
                                        "ldsmax", "ldsmin", "ldumax", "ldumin"};
    static const char *const stores[] = {"stadd",  "stclr",  "steor",  "stset",
                                         "stsmax", "stsmin", "stumax", "stumin"};
    unsigned size = code >> 30, what = code >> 12 & 15, rt = code & 31;
    bool acquire = code >> 23 & 1, release = code >> 22 & 1;
    char rs[8], target[8], base[8];
    int n;

    name_of(rs, code >> 16 & 31, size == 3, false);
    name_of(target, rt, size == 3, false);
    name_of(base, code >> 5 & 31, true, true);
    if (what < 8 && rt == ZERO && !acquire) {
        n = opcode(out, stores[what], false, release, size);
        return n + snprintf(out + n, (size_t)(WHOLE_TEXT - n), "%s, [%s]", rs, base);
    }
    n = opcode(out, what == 8 ? "swp" : loads[what], acquire, release, size);
    return n + snprintf(out + n, (size_t)(WHOLE_TEXT - n), "%s, %s, [%s]", rs, target, base);
}

static int compare_and_swap(uint32_t code, char *out)
{
    bool pair = !(code >> 23 & 1), wide = pair ? code >> 30 & 1 : code >> 30 == 3;
    bool acquire = code >> 22 & 1, release = code >> 15 & 1;
    unsigned s = code >> 16 & 31, t = code & 31;
    char rs[8], rt[8], rs2[8], rt2[8], base[8];
    int n;

    name_of(rs, s, wide, false);
    name_of(rt, t, wide, false);
    name_of(base, code >> 5 & 31, true, true);
    n = opcode(out, pair ? "casp" : "cas", acquire, release, pair ? 2 : code >> 30);
    if (!pair)
        return n + snprintf(out + n, (size_t)(WHOLE_TEXT - n), "%s, %s, [%s]", rs, rt, base);
    if (s & 1 || t & 1)
        return 0;
    name_of(rs2, s + 1, wide, false);
    name_of(rt2, t + 1, wide, false);
    return n + snprintf(out + n, (size_t)(WHOLE_TEXT - n), "%s, %s, %s, %s, [%s]", rs, rs2, rt, rt2,
                        base);
}

enum form { NONE, OPERATION, SWAP };

static enum form form_of(uint32_t code)
{
    if ((code & 0x3f200c00) == 0x38200000)
        return (code >> 12 & 15) > 8 ? NONE : OPERATION;
    return (code & 0x3fa07c00) == 0x08a07c00 || (code & 0xbfa07c00) == 0x08207c00 ? SWAP : NONE;
}

unsigned trod_a64_atomic_size(uint32_t code)
{
    const bool pair = form_of(code) == SWAP && !(code >> 23 & 1);

    if (form_of(code) == NONE)
        return 0;
    return pair ? code >> 30 & 1 ? 16 : 8 : 1u << (code >> 30);
}

size_t trod_a64_atomic_text(uint32_t code, char *out)
{
    const enum form form = form_of(code);
    int n = 0;

    if (form == OPERATION)
        n = operation(code, out);
    else if (form == SWAP)
        n = compare_and_swap(code, out);
    return n > 0 && n < WHOLE_TEXT ? (size_t)n : 0;
}
