/*
 * log.c - the lines of a QEMU log.
 *
 * Implements log.h, docs/formats/qemu.md.
 */
#include "format/qemu/log.h"

enum { COUNT_FIELDS = 4, GROUP_MAX = 8 };

/* The N digits at P, as bytes in memory order, to OUT. */
static void put_group(const uint8_t *p, unsigned n, bool big, uint8_t *out)
{
    const unsigned bytes = n / 2;

    for (unsigned i = 0; i < bytes; i++)
        out[big || bytes == 1 ? i : bytes - 1 - i] =
            (uint8_t)(ln_digit(p[2 * i]) << 4 | ln_digit(p[2 * i + 1]));
}

/* Digits of the group at the cursor; 0: there is none. */
static unsigned group_digits(const struct ln_line *l)
{
    const uint8_t *p = l->p;

    while (p < l->e && p - l->p <= GROUP_MAX && ln_digit(*p) < 16)
        p++;
    if (p < l->e && *p != ' ')
        return 0;
    switch (p - l->p) {
    case 2:
    case 4:
    case 8:
        return (unsigned)(p - l->p);
    default:
        return 0;
    }
}

enum ln_result ql_parse_code(struct ln_line *l, bool big, struct ql_code *out)
{
    unsigned digits, n;

    if (!ln_0x(l, &out->pc, &digits) || !ln_is(l, ':'))
        return ln_bad(l, "an address and a colon are due here");
    ln_blanks(l);
    out->code_n = 0;
    n = group_digits(l); /* none: QEMU shows no opcodes of MIPS */
    out->iset = n == 4 ? TROD_ISET_T32 : n == 8 ? TROD_ISET_A32 : TROD_ISET_NONE;
    while (n) {
        if (out->code_n + n / 2 > sizeof out->code)
            return ln_bad(l, "instruction has more than 16 bytes");
        put_group(l->p, n, big, out->code + out->code_n);
        out->code_n += n / 2;
        l->p += n;
        if (l->e - l->p < 2 || l->p[1] == ' ')
            break;
        l->p++;
        n = group_digits(l);
    }
    ln_blanks(l);
    out->text = l->p;
    out->text_end = l->e;
    while (out->text_end > out->text && out->text_end[-1] == ' ')
        out->text_end--;
    if (out->code_n == 0 && out->text == out->text_end)
        return ln_bad(l, "an instruction is due here");
    return LN_OK;
}

/* A number of hexadecimal digits, with 0x or without. */
static bool number(struct ln_line *l, uint64_t *out)
{
    unsigned digits;

    return ln_0x(l, out, &digits) || ln_hex(l, out, &digits);
}

enum ln_result ql_parse_trace(struct ln_line *l, struct ql_trace_line *out)
{
    uint64_t field[COUNT_FIELDS] = {0};
    unsigned n = 0;
    bool old;

    if (!ln_word(l, "Trace "))
        return ln_bad(l, "Trace is due here");
    old = l->e - l->p > 2 && l->p[1] == 'x'; /* 2.x: Trace HOST [CPU: PC] SYM */
    out->cflags = TROD_NOWHERE;
    if (!old && (!ln_dec(l, &out->cpu) || !ln_word(l, ": ")))
        return ln_bad(l, "the number of a cpu and a colon are due here");
    if (!number(l, &out->host) || !ln_word(l, " ["))
        return ln_bad(l, "an address and a bracket are due here");
    if (old) {
        const uint8_t *const first = l->p;

        if (!ln_dec(l, &out->cpu) || !ln_word(l, ": ")) { /* before 2.8 without the cpu */
            out->cpu = 0;
            l->p = first;
        }
        if (!number(l, &out->pc) || !ln_is(l, ']'))
            return ln_bad(l, "a cpu, the address of a block and a bracket are due here");
        return LN_OK;
    }
    do {
        if (!number(l, &field[n]))
            return ln_bad(l, "a hexadecimal number is due here");
    } while (++n < COUNT_FIELDS && ln_is(l, '/'));
    if (n < 3 || !ln_is(l, ']'))
        return ln_bad(l, "three or four numbers and a bracket are due here");
    out->pc = field[1];
    if (n == COUNT_FIELDS)
        out->cflags = field[3];
    return LN_OK;
}

enum ln_result ql_parse_stopped(struct ln_line *l, uint64_t *pc)
{
    uint64_t host;

    if (!ln_word(l, "Stopped execution of TB chain before ") || !number(l, &host) ||
        !ln_word(l, " [") || !number(l, pc) || !ln_is(l, ']'))
        return ln_bad(l, "the addresses of the block that was stopped are due here");
    return LN_OK;
}
