/*
 * banks.c - which bank of a register an instruction means: its stack pointer, its link register.
 *
 * Implements nav_bank_of and nav_bank_other (nav.h): Arm ARM, "The stack pointer registers", "The
 * general-purpose registers, the PC, and the Processor modes".
 */
#include "navigate/nav.h"

#include "trod/detail.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The bank of stack pointers in A64: "el1h" has one of its own, "el1t" that of EL0. */
static bool a64_bank(const char *mode, char out[NAV_NAME])
{
    if (mode[0] != 'e' || mode[1] != 'l' || mode[2] < '0' || mode[2] > '3' || mode[4] ||
        (mode[3] != 't' && mode[3] != 'h'))
        return false;
    snprintf(out, NAV_NAME, "sp_el%c", mode[3] == 't' ? '0' : mode[2]);
    return true;
}

static bool a32_bank(const char *mode, const char *reg, char out[NAV_NAME])
{
    static const char *const own[] = {"fiq", "irq", "svc", "abt", "und", "mon"};
    const bool user = strcmp(mode, "usr") == 0 || strcmp(mode, "sys") == 0;

    /* the hypervisor's mode has a stack pointer of its own, and the user's link register */
    if (strcmp(mode, "hyp") == 0) {
        snprintf(out, NAV_NAME, "%s_%s", reg, reg[2] == '3' ? "hyp" : "usr");
        return true;
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(mode, own[i]) == 0) {
            snprintf(out, NAV_NAME, "%.4s_%s", reg, mode);
            return true;
        }
    if (user)
        snprintf(out, NAV_NAME, "%.4s_usr", reg);
    return user;
}

bool nav_bank_of(const struct trod_batch *b, uint32_t i, const char *reg, char out[NAV_NAME])
{
    const struct trod_detail_instr *d = trod_batch_detail(b, i);
    const bool a64 = strcmp(reg, "sp") == 0;
    const char *text;
    char mode[8] = {0};
    uint32_t n = 0;

    if ((!a64 && strcmp(reg, "r13") != 0 && strcmp(reg, "r14") != 0) || b->kind[i] != TROD_INSTR ||
        !d || b->detail[i].len != sizeof *d)
        return false;
    text = (const char *)trod_batch_bytes(b, d->mode);
    for (; n < d->mode.len && text[n] != '_'; n++) {
        if (n + 1 >= sizeof mode)
            return false;
        mode[n] = (char)tolower((unsigned char)text[n]);
    }
    return a64 ? a64_bank(mode, out) : a32_bank(mode, reg, out);
}

bool nav_bank_other(const char *name, const char *bank)
{
    static const char *const modes[] = {"el0", "el1", "el2", "el3", "usr", "sys", "fiq",
                                        "irq", "svc", "abt", "und", "mon", "hyp"};
    const char *mine = strchr(bank, '_') + 1, *its = strchr(name, '_');

    if (!its)
        return false;
    its++;
    if (strncmp(its, "sys", 3) == 0 && strcmp(mine, "usr") == 0)
        return false;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strncmp(its, modes[i], 3) == 0 && (!its[3] || its[3] == '_'))
            return strcmp(mine, modes[i]) != 0;
    return false;
}
