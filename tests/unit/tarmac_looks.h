/*
 * tarmac_looks.h - lines that look alike, for test_tarmac_fast.c.
 */
#ifndef TROD_TEST_TARMAC_LOOKS_H
#define TROD_TEST_TARMAC_LOOKS_H

#include "gen.h"
#include "testlib.h"
#include "trod/buf.h"

#include <stdio.h>

/* Where lines of one look have their digits. */
struct look {
    unsigned vaddr, paddr, code, index;
    const char *sec, *mode;
    bool upper; /* values of registers */
};

/* N lower case digits, now and then with zeros at the left. */
static void digits(struct trod_gen *g, char *to, unsigned n)
{
    const unsigned zeros = gen_once_in(g, 4) ? (unsigned)gen_below(g, n) : 0;

    for (unsigned i = 0; i < n; i++)
        to[i] = i < zeros ? '0' : "0123456789abcdef"[gen_below(g, 16)];
    to[n] = '\0';
}

/* A value of COUNT words of 64 bits, divided by '_' or not, in upper case or not. */
static void wide_value(struct trod_gen *g, char *to, unsigned count, bool divided, bool upper)
{
    for (unsigned i = 0; i < 2 * count; i++) {
        digits(g, to, 8);
        for (unsigned k = 0; upper && k < 8; k++)
            to[k] = (char)(to[k] - (to[k] >= 'a' ? 'a' - 'A' : 0));
        to += 8;
        if (divided && i + 1 < 2 * count)
            *to++ = '_';
    }
    *to = '\0';
}

/* Lines of a look that are not of the most frequent kinds, their values of up to 512 bits. */
static int rare_line(struct trod_gen *g, const struct look *l, unsigned time, const char *address,
                     char *line, size_t size)
{
    static const char *const names[] = {"Q0", "V31", "Z7", "ZCR_EL1", "q10", "za_row.3"};
    static const char *const events[] = {"00000084 CoreEvent_CURRENT_SPx_SYNC",
                                         "00000088 CoreEvent_LOWER_64_SYNC",
                                         "000001a5 CoreEvent_Other",
                                         "000001a5 Other_Event",
                                         "0000000e ImpDataAbort",
                                         "0000000e 0badcafe",
                                         "0000000e 0badcafe0badcafe0badcafe",
                                         "0000000 CoreEvent_Other",
                                         "00000084 CoreEvent_CURRENT_SPx_SYNC more"};
    static const char *const modes[] = {"", "", "abt ", "fe ", "EL1h ", "beef "};
    const unsigned count = gen_below(g, 3) ? 2 : 1u << gen_below(g, 4);
    const char *mode = modes[gen_below(g, 6)];
    char value[160], first[16];

    wide_value(g, value, count, l->index & 1, l->upper && gen_below(g, 8));
    digits(g, first, 8);
    if (gen_below(g, 3) == 0)
        return snprintf(line, size, "%u clk cpu0 R %s %s\n", time, names[gen_below(g, 6)], value);
    if (gen_below(g, 2))
        return snprintf(line, size, "%u clk cpu0 M%c%u %s %s\n", time, gen_below(g, 2) ? 'R' : 'W',
                        8 * count, address, value);
    if (gen_below(g, 2))
        return snprintf(line, size, "%u clk cpu0 E %s %s%s 00000019 CoreEvent_ModeChange\n", time,
                        address, mode, gen_below(g, 2) ? first : "00000001");
    return snprintf(line, size, "%u clk cpu0 E %s %s%s\n", time, address, mode,
                    events[gen_below(g, 9)]);
}

static void look_line(struct trod_gen *g, const struct look *l, unsigned i, struct trod_buf *out)
{
    static const char *const names[] = {"spsr_el", "X", "r1", "r1_svc", "AMAIR2_EL", "CPSR"};
    char vaddr[24], paddr[24], code[24], more[24], address[64], line[320];
    const unsigned size = 1u << gen_below(g, 4);
    int n;

    digits(g, vaddr, l->vaddr);
    digits(g, paddr, l->paddr);
    digits(g, code, l->code);
    digits(g, more, 8);
    snprintf(address, sizeof address, l->paddr ? "%s:%s%s" : "%s", vaddr, paddr, l->sec);
    if (gen_once_in(g, 4)) {
        digits(g, more, 2 * size);
        for (unsigned k = 0; l->upper && more[k]; k++)
            more[k] = (char)(more[k] - (more[k] >= 'a' ? 'a' - 'A' : 0));
        n = snprintf(line, sizeof line, "%u clk cpu0 R %s%u %s\n", 1000 + i / 2,
                     gen_below(g, 5) ? "X" : names[gen_below(g, 6)], (unsigned)gen_below(g, 31),
                     more);
    } else if (l->index & 2 && gen_once_in(g, 3)) {
        n = rare_line(g, l, 1000 + i / 2, address, line, sizeof line);
    } else if (gen_below(g, 3)) {
        n = snprintf(line, sizeof line, "%u clk cpu0 I%c (%u) %s %s O %s : ADD x0\n", 1000 + i / 2,
                     gen_below(g, 5) ? 'T' : 'S', l->index + i, address, code, l->mode);
    } else {
        digits(g, code, size < 8 ? 2 * size : 8);
        n = snprintf(line, sizeof line, "%u clk cpu0 M%c%u%s %s %s%s%s\n", 1000 + i / 2,
                     gen_below(g, 2) ? 'R' : 'W', size, gen_once_in(g, 5) ? "X" : "", address, code,
                     size == 8 ? "_" : "", size == 8 ? more : "");
    }
    if (gen_once_in(g, 12)) /* one character is another */
        line[gen_below(g, (uint64_t)n - 1)] = "0fFg:_ ("[gen_below(g, 8)];
    assert_int_equal(trod_buf_add(out, line, (size_t)n), 0);
}

/* A line of the ES dialect: an instruction, a register, a picture; LOOK says which of each. */
static void es_line(struct trod_gen *g, unsigned look, unsigned time, struct trod_buf *out)
{
    static const char *const isets[] = {"O", "A", "T"};
    static const char *const modes[] = {"el3h_s:         ", "svc_s:   CCFAIL ",
                                        "m: ", "m:CCFAILED "};
    static const char *const words[] = {
        "MOV  r0,#1", "MOV  r0,#1", "CCMP x0,#0,#4,NE",
        "CMP  r0,#1", "",           "B    {pc}+0x20 ; 0x202e0 here"};
    static const char *const tails[] = {
        "    S:%s    nGnRnE OSH",
        "    NS:%s",
        "",
        "    %s    NM ",
        "    S:%s    nGnRnE OSH of the outer domain",
        "    S:%s    nGnRnE OSH of the outer domain, too",
        "    S:%s    NM ISH IWBRWA OWBRWA, and more than 64 characters of what may follow",
        "    S:%s    NM OSH"};
    char address[24], code[24], bytes[40], line[240], tail[120], paddr[24];
    const char *head = look & 1 ? "" : look & 2 ? "cpu1 " : "cpu0 ";
    unsigned tail_of;
    int n;

    digits(g, address, look & 4 ? 16 : 8);
    if (look & 8)
        memset(address, '0', 8);
    digits(g, code, look & 16 && gen_below(g, 2) ? 4 : 8);
    digits(g, paddr, look & 32 ? 11 : 12);
    for (unsigned i = 0; i < 35; i++)
        bytes[i] = "0123456789abcdef"[gen_below(g, 16)];
    for (unsigned i = 0; i < 16; i++)
        if (gen_below(g, 2) || i < 4)
            memcpy(bytes + 2 * i + i / 4, "..", 2);
    bytes[8] = bytes[17] = bytes[26] = ' ';
    bytes[35] = '\0';
    tail_of = look % 5 == 0 ? 4 + (unsigned)gen_below(g, 4) : look >> 6 & 3;
    snprintf(tail, sizeof tail, tails[gen_once_in(g, 12) ? gen_below(g, 8) : tail_of], paddr);
    switch (gen_below(g, 5)) {
    case 4:
        n = snprintf(line, sizeof line, "%20sBR (%s) %s\n", "", address, isets[look % 3]);
        break;
    case 0:
        n = snprintf(line, sizeof line, "%20sR X%u %s%s\n", "", (unsigned)gen_below(g, 31), address,
                     code);
        break;
    case 1:
        n = snprintf(line, sizeof line, "%20s%s %s %s%s\n", "", gen_below(g, 2) ? "LD" : "ST",
                     address, bytes, tail);
        break;
    default:
        n = snprintf(line, sizeof line, "%11u %s %sES  (%s:%s) %s %s%s%s\n", time,
                     gen_once_in(g, 60) ? "ns" : "tic", head, address, code, isets[look % 3],
                     modes[gen_once_in(g, 4) ? gen_below(g, 4) : 0], words[gen_below(g, 6)],
                     gen_once_in(g, 9) ? " " : "");
    }
    if (gen_once_in(g, 12))
        line[gen_below(g, (uint64_t)n - 1)] = "0fFg:_ (\tS#.\r"[gen_below(g, 13)];
    assert_int_equal(trod_buf_add(out, line, (size_t)n), 0);
}

#endif
