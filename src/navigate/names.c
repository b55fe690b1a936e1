/*
 * names.c - what the names of registers stand for: the register, and which part of it.
 *
 * Implements regs.h. Aliases are those of trod_register_canonical; parts are those of the
 * architecture manuals: a write of W zeroes the upper half of X, one of S, D or Q the rest of V
 * (Arm ARM, "Registers in AArch64 state"); S and D of AArch32 are quarters and halves of Q; a write
 * of 32 bits zeroes the upper half of a register of x86-64.
 */
#include "navigate/regs.h"

#include "core/grow.h"
#include "core/hash.h"
#include "isa/capstone.h"
#include "trace/banks.h"
#include "trod/compare.h"

#include <ctype.h>
#include <stdio.h>

void nav_names_init(struct nav_names *n, enum trod_isa isa)
{
    memset(n, 0, sizeof *n);
    n->isa = isa;
}

void nav_names_fini(struct nav_names *n)
{
    free(n->at);
    n->at = NULL;
}

uint32_t nav_names_find(struct nav_names *n, const char *name, bool add)
{
    for (uint32_t i = 0; i < n->n; i++)
        if (strcmp(n->at[i].text, name) == 0)
            return i;
    if (!add || n->n >= NAV_REGS || !trod_grow(&n->at, n->n, &n->cap, sizeof *n->at, 64))
        return UINT32_MAX;
    memset(&n->at[n->n], 0, sizeof *n->at);
    snprintf(n->at[n->n].text, NAV_NAME, "%s", name);
    n->at[n->n].id = n->n;
    return n->n++;
}

/* Is NAME the letter C and a number less than MOST? */
static bool numbered(const char *name, const char *letters, unsigned most, unsigned *number)
{
    unsigned v = 0;
    const char *p = name + 1;

    if (!name[0] || !strchr(letters, name[0]) || !isdigit((unsigned char)*p) || (*p == '0' && p[1]))
        return false;
    for (; isdigit((unsigned char)*p) && v < 1000; p++)
        v = 10 * v + (unsigned)(*p - '0');
    *number = v;
    return *p == '\0' && v < most;
}

/* s3, d1: in the quadword registers of AArch32. */
static bool arm_vector(char *name, struct nav_part *out)
{
    unsigned v;

    if (!numbered(name, "sdq", 32, &v) || (name[0] == 'q' && v >= 16))
        return false;
    out->bits = name[0] == 's' ? 32 : name[0] == 'd' ? 64 : 128;
    out->off = name[0] == 's' ? v % 4 * 4 : name[0] == 'd' ? v % 2 * 8 : 0;
    snprintf(name, NAV_NAME, "q%u", name[0] == 's' ? v / 4 : name[0] == 'd' ? v / 2 : v);
    return true;
}

static bool x86_high(char *name, struct nav_part *out)
{
    if (strlen(name) != 2 || name[1] != 'h' || !strchr("abcd", name[0]))
        return false;
    out->bits = 8;
    out->off = 1;
    snprintf(name, NAV_NAME, "r%cx", name[0]);
    return true;
}

/* NAME in its canonical form to OUT's part, the register's own name to NAME. */
static void resolve(enum trod_isa isa, char name[NAV_NAME], struct nav_part *out)
{
    char canonical[NAV_NAME];
    unsigned bits = 0, v;
    bool w = isa == TROD_ISA_ARM && numbered(name, "xw", 31, &v);

    if (isa == TROD_ISA_ARM && arm_vector(name, out))
        return;
    if ((isa == TROD_ISA_X86_32 || isa == TROD_ISA_X86_64) && x86_high(name, out))
        return;
    if (isa == TROD_ISA_A64 && strcmp(name, "nzcv") == 0)
        out->flags = 4;
    /* a machine that has both states may begin in either */
    if (isa == TROD_ISA_ARM && strcmp(name, "nzcv") == 0) {
        out->flags = 4;
        snprintf(name, NAV_NAME, "cpsr");
        return;
    }
    if (isa == TROD_ISA_ARM && strncmp(name, "apsr", 4) == 0 && (!name[4] || name[4] == '_')) {
        out->flags = name[4] ? 4 : 5; /* apsr_nzcv */
        snprintf(name, NAV_NAME, "cpsr");
        return;
    }
    trod_register_canonical(w ? TROD_ISA_A64 : isa, name, strlen(name), canonical, &bits);
    out->bits = bits;
    out->clears = (isa == TROD_ISA_A64 || w) ? bits != 0 : isa == TROD_ISA_X86_64 && bits == 32;
    memcpy(name, canonical, NAV_NAME);
}

void nav_canonical(enum trod_isa isa, const char *name, char out[NAV_NAME])
{
    struct nav_part part = {0};

    memset(out, 0, NAV_NAME);
    for (size_t i = 0; i + 1 < NAV_NAME && name[i]; i++)
        out[i] = (char)tolower((unsigned char)name[i]);
    resolve(isa, out, &part);
}

bool nav_is_pc(enum trod_isa isa, const char *name)
{
    switch (isa) {
    case TROD_ISA_ARM:
        return strcmp(name, "r15") == 0;
    case TROD_ISA_X86_32:
    case TROD_ISA_X86_64:
        return strcmp(name, "rip") == 0;
    default:
        return strcmp(name, "pc") == 0;
    }
}

static bool is_bank(const char *note, size_t n)
{
    static const char *const banks[] = {"usr", "svc", "abt", "und", "irq", "fiq",
                                        "mon", "hyp", "sys", "s",   "ns"};

    for (size_t i = 0; i < sizeof banks / sizeof *banks; i++) {
        size_t k = 0;

        while (k < n && banks[i][k] && tolower((unsigned char)note[k]) == banks[i][k])
            k++;
        if (k == n && banks[i][k] == '\0')
            return true;
    }
    return false;
}

bool nav_names_part(struct nav_names *n, const char *name, size_t len, const char *note,
                    size_t note_len, bool add, struct nav_part *out)
{
    char canonical[NAV_NAME];
    struct nav_part *slot = NULL;
    size_t k = 0;

    if (!note_len || !is_bank(note, note_len))
        note_len = 0;
    if (len + note_len <= sizeof slot->raw) {
        uint64_t h =
            trod_fnv(trod_fnv(trod_fnv_byte(TROD_FNV, (uint8_t)len), name, len), note, note_len);

        slot = &n->cache[(h ^ h >> 29) % NAV_NAMES];
        if (slot->raw_len == len && slot->note_len == note_len && slot->raw_len &&
            memcmp(slot->raw, name, len) == 0 && memcmp(slot->raw + len, note, note_len) == 0) {
            *out = *slot;
            n->last = slot;
            return true;
        }
    }
    memset(canonical, 0, sizeof canonical);
    for (size_t i = 0; i < len && k + 1 < NAV_NAME; i++)
        canonical[k++] = (char)tolower((unsigned char)name[i]);
    if (note_len && k + 1 < NAV_NAME)
        canonical[k++] = '_';
    for (size_t i = 0; i < note_len && k + 1 < NAV_NAME; i++)
        canonical[k++] = (char)tolower((unsigned char)note[i]);
    memset(out, 0, sizeof *out);
    resolve(n->isa, canonical, out);
    out->id = nav_names_find(n, canonical, add);
    if (out->id == UINT32_MAX)
        return false;
    if (slot && len) {
        out->raw_len = (uint8_t)len;
        out->note_len = (uint8_t)note_len;
        memcpy(out->raw, name, len);
        memcpy(out->raw + len, note, note_len);
        *slot = *out;
        n->last = slot;
    }
    return true;
}

void nav_part_rest(const struct nav_part *part, uint8_t *value, uint8_t *known, size_t n)
{
    for (size_t k = 0; part->flags && k < n; k++) {
        const uint8_t rest = k == 3 ? (uint8_t)(0xff >> part->flags) : 0xff;

        value[k] &= (uint8_t)~rest;
        known[k] |= rest;
    }
}

bool nav_names_means(const struct nav_names *n, uint32_t id, const char *query)
{
    const char *name = n->at[id].text;
    size_t base = trod_name_without_bank(name, strlen(name));

    return strcmp(name, query) == 0 ||
           (name[base] && base == strlen(query) && memcmp(name, query, base) == 0);
}

static bool is_field(const char *whole, const char *field)
{
    const size_t n = strlen(whole);

    if (strncmp(whole, field, n) != 0)
        return false;
    if (strcmp(whole, "cr") == 0)
        return field[n] >= '0' && field[n] <= '7' && !field[n + 1];
    return strcmp(whole, "xer") == 0 && field[n] == '.';
}

bool nav_fields(enum trod_isa isa, const char *a, const char *b)
{
    return trod_is_ppc(isa) && (is_field(a, b) || is_field(b, a));
}

/* ---- what an architecture has */

/* A name, or a letter and as many numbers. */
struct family {
    const char *name;
    uint8_t count; /* 0: just the name */
    uint8_t from;
};

static const struct family arm[] = {{"r", 15, 0}, {"r15", 0, 0},   {"cpsr", 0, 0},
                                    {"q", 16, 0}, {"fpscr", 0, 0}, {NULL, 0, 0}};
static const struct family a64[] = {{"x", 31, 0},   {"sp", 0, 0},   {"cpsr", 0, 0}, {"v", 32, 0},
                                    {"fpcr", 0, 0}, {"fpsr", 0, 0}, {NULL, 0, 0}};
static const struct family ppc[] = {
    {"r", 32, 0}, {"cr", 0, 0},    {"lr", 0, 0}, {"ctr", 0, 0},  {"xer", 0, 0},    {"srr1", 0, 0},
    {"f", 32, 0}, {"fpscr", 0, 0}, {"v", 32, 0}, {"vscr", 0, 0}, {"vrsave", 0, 0}, {NULL, 0, 0}};
static const struct family mips[] = {
    {"r", 32, 0}, {"hi", 0, 0}, {"lo", 0, 0}, {"f", 32, 0}, {NULL, 0, 0}};
static const struct family x86_64[] = {
    {"rax", 0, 0},    {"rbx", 0, 0},  {"rcx", 0, 0}, {"rdx", 0, 0}, {"rsi", 0, 0},
    {"rdi", 0, 0},    {"rbp", 0, 0},  {"rsp", 0, 0}, {"r", 8, 8},   {"rip", 0, 0},
    {"rflags", 0, 0}, {"zmm", 32, 0}, {NULL, 0, 0}};
static const struct family x86_32[] = {
    {"rax", 0, 0}, {"rbx", 0, 0}, {"rcx", 0, 0}, {"rdx", 0, 0},    {"rsi", 0, 0}, {"rdi", 0, 0},
    {"rbp", 0, 0}, {"rsp", 0, 0}, {"rip", 0, 0}, {"rflags", 0, 0}, {"zmm", 8, 0}, {NULL, 0, 0}};
static const struct family riscv[] = {{"x", 32, 0}, {"f", 32, 0}, {NULL, 0, 0}};

const char *nav_base_name(enum trod_isa isa, size_t i, char room[NAV_NAME])
{
    static const struct family *const families[TROD_ISAS] = {
        [TROD_ISA_ARM] = arm,       [TROD_ISA_A64] = a64,       [TROD_ISA_PPC32] = ppc,
        [TROD_ISA_PPC64] = ppc,     [TROD_ISA_X86_32] = x86_32, [TROD_ISA_X86_64] = x86_64,
        [TROD_ISA_MIPS32] = mips,   [TROD_ISA_MIPS64] = mips,   [TROD_ISA_RISCV64] = riscv,
        [TROD_ISA_RISCV32] = riscv,
    };
    const struct family *f = (unsigned)isa < TROD_ISAS ? families[isa] : NULL;

    for (; f && f->name; f++) {
        size_t n = f->count ? f->count : 1;

        if (i >= n) {
            i -= n;
            continue;
        }
        if (f->count)
            snprintf(room, NAV_NAME, "%s%zu", f->name, i + f->from);
        else
            snprintf(room, NAV_NAME, "%s", f->name);
        return room;
    }
    return NULL;
}
