/*
 * registers.c - link register and stack pointers, from the rows of kind REG.
 *
 * A stack pointer has banks (SP_EL1, r13_svc, MSP, PSP), each named by its register. The one
 * written last is in use; a return from an exception takes up the one that was interrupted.
 */
#include "callstack/callstack_int.h"

enum { LONGEST = 16 };

enum cs_role { NO_ROLE, LINK, STACK };

/* The name of row I in lower case, into NAME; without a leading '$'. Returns its length. */
static unsigned lower(const struct trod_batch *b, uint32_t i, char name[LONGEST + 1])
{
    const uint8_t *p = trod_batch_bytes(b, b->text[i]);
    unsigned n = b->text[i].len;

    if (*p == '$') {
        p++;
        n--;
    }
    for (unsigned k = 0; k < n; k++)
        name[k] = (char)(p[k] >= 'A' && p[k] <= 'Z' ? p[k] + 32 : p[k]);
    name[n] = '\0';
    return n;
}

static bool is(const char *name, const char *what, bool banked)
{
    while (*what && *name == *what) {
        name++;
        what++;
    }
    return !*what && (!*name || (banked && *name == '_'));
}

static enum cs_role arm(const struct cs_lane *l, const char *name)
{
    const bool narrow = cs_arm32(l);

    if (is(name, "sp", true) || is(name, "r13", true) || is(name, "xsp", false) ||
        is(name, "msp", true) || is(name, "psp", true) || is(name, "x31", false))
        return STACK;
    if (is(name, "lr", true) || (narrow && is(name, "r14", true)) ||
        (!narrow && is(name, "x30", false)))
        return LINK;
    return NO_ROLE;
}

static enum cs_role role(const struct cs_lane *l, const char *name)
{
    switch (l->isa) {
    case TROD_ISA_ARM:
    case TROD_ISA_A64:
        return arm(l, name);
    case TROD_ISA_MIPS32:
    case TROD_ISA_MIPS64:
        return is(name, "sp", false) || is(name, "r29", false) || is(name, "29", false)   ? STACK
               : is(name, "ra", false) || is(name, "r31", false) || is(name, "31", false) ? LINK
                                                                                          : NO_ROLE;
    case TROD_ISA_RISCV64:
        return is(name, "sp", false) || is(name, "x2", false)   ? STACK
               : is(name, "ra", false) || is(name, "x1", false) ? LINK
                                                                : NO_ROLE;
    case TROD_ISA_PPC32:
    case TROD_ISA_PPC64:
        return is(name, "r1", false) || is(name, "sp", false) ? STACK
               : is(name, "lr", false)                        ? LINK
                                                              : NO_ROLE;
    case TROD_ISA_X86_32:
    case TROD_ISA_X86_64:
        return is(name, "rsp", false) || is(name, "esp", false) ? STACK : NO_ROLE;
    default:
        return NO_ROLE;
    }
}

static uint64_t pack(const char *name)
{
    uint64_t v = 0;

    for (; *name; name++)
        v = v << 7 ^ v >> 57 ^ (uint8_t)*name;
    return v;
}

static void write_sp(struct cs_lane *l, uint64_t name, bool known, uint64_t value)
{
    uint32_t i = 0;

    while (i < l->n_banks && l->bank[i].name != name)
        i++;
    if (i == l->n_banks) {
        if (i == CS_BANKS) {
            l->on_bank = CS_NO_INDEX;
            return;
        }
        l->n_banks++;
    }
    l->bank[i] = (struct cs_bank){name, value, known};
    l->on_bank = i;
}

void cs_register(struct cs_lane *l, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i];
    const bool known = said & TROD_COL_VALUE &&
                       !(said & TROD_COL_FLAGS && b->flags[i] & (TROD_F_UNKNOWN | TROD_F_PARTIAL));
    char name[LONGEST + 1];

    if (!(said & TROD_COL_TEXT) || b->text[i].len < 2 || b->text[i].len > LONGEST)
        return;
    lower(b, i, name);
    switch (role(l, name)) {
    case STACK:
        write_sp(l, pack(name), known, known ? b->value[i] : 0);
        break;
    case LINK:
        l->lr = known ? b->value[i] : 0;
        l->lr_at = known ? l->count : 0;
        break;
    default:
        break;
    }
}

bool cs_sp(const struct cs_lane *l, uint64_t *sp, uint32_t *bank)
{
    if (l->on_bank >= l->n_banks || !l->bank[l->on_bank].known)
        return false;
    *sp = l->bank[l->on_bank].sp;
    *bank = l->on_bank;
    return true;
}
