/*
 * amber.c - what the drivers of the Amber formats share: options, accesses, branches, names.
 *
 * Implements docs/formats/amber.md. Facts of opcodes come from trod/ppc.h; here they become rows.
 */
#include "format/amber/amber.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const registers_choices[] = {"diff", "none", NULL};

#define LINE_OPTION                                                                                \
    {                                                                                              \
        "line", 0, TROD_OPT_BYTES, offsetof(struct amber_options, line), "BYTES",                  \
            "bytes of a cache line, which cache operations act on (32)", NULL, NULL                \
    }

const struct trod_option amber_tt6_options[] = {
    LINE_OPTION,
    {"join", 0, TROD_OPT_BOOL, offsetof(struct amber_options, join), "BOOL",
     "bridge breaks in the flow with a b 0 when writing (yes); without, they are an error", NULL,
     NULL},
    {.type = TROD_OPT_END},
};

const struct trod_option amber_full_options[] = {
    LINE_OPTION,
    {"registers", 0, TROD_OPT_ENUM, offsetof(struct amber_options, registers), "HOW",
     "rows for register writes: diff, or none (diff)", registers_choices, NULL},
    {.type = TROD_OPT_END},
};

const struct amber_options amber_defaults = {.line = 32, .join = true};

const char amber_names[AMBER_NAMES][8] = {"dcba", "dcbi", "dcbst", TROD_PPC_STATE_NAMES};

struct trod_slice amber_name(enum amber_name name)
{
    const char *s = amber_names[name];
    uint32_t n = 2; /* the shortest */

    while (n < sizeof amber_names[0] && s[n])
        n++;
    return (struct trod_slice){(uint32_t)name * sizeof amber_names[0] | TROD_SLICE_SHARED, n};
}

int amber_start(const struct amber_options *opt, struct trod_meta *meta, struct trod_diag *diag)
{
    if (opt->line < 4 || opt->line > AMBER_LINE_MOST || (opt->line & (opt->line - 1)))
        return trod_error(
            diag, TROD_ERR_USAGE, "amber.line", NULL,
            "a cache line of %" PRIu64 " bytes: it should be a power of two, 4 to 4096", opt->line);
    meta->isa = TROD_ISA_PPC32;
    meta->endian = TROD_ENDIAN_BIG;
    meta->addr_bits = 32;
    meta->line_size = (uint32_t)opt->line;
    meta->page_size = 4096;
    return amber_stream(meta);
}

int amber_stream(struct trod_meta *meta)
{
    char name[16];
    int n = snprintf(name, sizeof name, "%" PRIu32, meta->file);

    return trod_meta_stream(meta, name, (size_t)n);
}

bool amber_source(const struct trod_meta *meta)
{
    return meta && meta->format &&
           (strcmp(meta->format, "tt6") == 0 || strcmp(meta->format, "tt6e") == 0 ||
            strcmp(meta->format, "full") == 0);
}

int amber_check_isa(const struct trod_meta *meta, const char *name, struct trod_diag *diag)
{
    if (!meta || meta->isa == TROD_ISA_UNKNOWN || meta->isa == TROD_ISA_PPC32 ||
        meta->isa == TROD_ISA_PPC64)
        return TROD_OK;
    return trod_error(diag, TROD_ERR_UNSUPPORTED, "amber.isa", NULL,
                      "%s holds instructions of PowerPC: these are of %s", name,
                      trod_isa_name(meta->isa));
}

/* Cache operations: what kind of row, by minor opcode of major 31. */
static void cache_operation(unsigned minor, struct amber_access *a)
{
    switch (minor) {
    case 86: /* dcbf */
        a->kind = TROD_FLUSH;
        break;
    case 982: /* icbi */
        a->kind = TROD_FLUSH;
        a->flags = TROD_F_IFETCH;
        break;
    case 1014: /* dcbz: stores a line of zeros */
        a->kind = TROD_WRITE;
        break;
    default:
        a->kind = TROD_CACHE_OP;
        a->text = amber_name(minor == 758   ? AMBER_NAME_DCBA
                             : minor == 470 ? AMBER_NAME_DCBI
                                            : AMBER_NAME_DCBST);
    }
}

struct amber_access amber_access_of(uint32_t opcode, uint32_t third, uint32_t line)
{
    const struct trod_ppc_access a = trod_ppc_access(opcode);
    struct amber_access out = {.kind = TROD_NOTE, .mask = UINT32_MAX};
    unsigned minor = opcode >> 1 & 0x3ff;

    switch (a.kind) {
    case TROD_PPC_LOAD:
        out.kind = TROD_READ;
        break;
    case TROD_PPC_STORE:
        out.kind = TROD_WRITE;
        break;
    case TROD_PPC_RESERVE:
        out.kind = TROD_READ;
        out.flags = TROD_F_EXCLUSIVE;
        break;
    case TROD_PPC_COND:
        out.kind = TROD_WRITE;
        out.flags = TROD_F_EXCLUSIVE;
        break;
    case TROD_PPC_PREFETCH:
        out.kind = TROD_PREFETCH;
        break;
    case TROD_PPC_CACHE:
        cache_operation(minor, &out);
        break;
    default:
        return out;
    }
    if (opcode >> 26 == 31 && (minor == 310 || minor == 438)) /* eciwx, ecowx: external control */
        out.flags |= TROD_F_IO;
    out.size = a.rule == TROD_PPC_STREAM ? trod_ppc_stream_of(third).size
                                         : trod_ppc_access_bytes(opcode, a, third, line);
    if (a.rule == TROD_PPC_VECTOR || a.rule == TROD_PPC_LINE)
        out.mask = ~(out.size - 1);
    return out;
}

enum { NO, B = 8, BC = 16, BCLR = 24, BCCTR = 32, SC = 40, RFI = 48 };

/* By LK, "branch always" (bit 1), next address is pc + 4 (bit 2). */
const uint8_t amber_branches[56] = {
    [B] = TROD_BR_DIRECT,
    [B + 1] = TROD_BR_CALL,
    [B + 2] = TROD_BR_DIRECT,
    [B + 3] = TROD_BR_CALL,
    [B + 4] = TROD_BR_DIRECT,
    [B + 5] = TROD_BR_CALL,
    [B + 6] = TROD_BR_DIRECT,
    [B + 7] = TROD_BR_CALL,
    [BC] = TROD_BR_COND_TAKEN,
    [BC + 1] = TROD_BR_CALL,
    [BC + 2] = TROD_BR_DIRECT,
    [BC + 3] = TROD_BR_CALL,
    [BC + 4] = TROD_BR_COND_UNTAKEN,
    [BC + 5] = TROD_BR_COND_UNTAKEN,
    [BC + 6] = TROD_BR_DIRECT,
    [BC + 7] = TROD_BR_CALL,
    [BCLR] = TROD_BR_RETURN,
    [BCLR + 1] = TROD_BR_ICALL,
    [BCLR + 2] = TROD_BR_RETURN,
    [BCLR + 3] = TROD_BR_ICALL,
    [BCLR + 4] = TROD_BR_COND_UNTAKEN,
    [BCLR + 5] = TROD_BR_COND_UNTAKEN,
    [BCLR + 6] = TROD_BR_RETURN,
    [BCLR + 7] = TROD_BR_ICALL,
    [BCCTR] = TROD_BR_INDIRECT,
    [BCCTR + 1] = TROD_BR_ICALL,
    [BCCTR + 2] = TROD_BR_INDIRECT,
    [BCCTR + 3] = TROD_BR_ICALL,
    [BCCTR + 4] = TROD_BR_COND_UNTAKEN,
    [BCCTR + 5] = TROD_BR_COND_UNTAKEN,
    [BCCTR + 6] = TROD_BR_INDIRECT,
    [BCCTR + 7] = TROD_BR_ICALL,
    [SC] = TROD_BR_SYSCALL,
    [SC + 1] = TROD_BR_SYSCALL,
    [SC + 2] = TROD_BR_SYSCALL,
    [SC + 3] = TROD_BR_SYSCALL,
    [SC + 4] = TROD_BR_SYSCALL,
    [SC + 5] = TROD_BR_SYSCALL,
    [SC + 6] = TROD_BR_SYSCALL,
    [SC + 7] = TROD_BR_SYSCALL,
    [RFI] = TROD_BR_ERET,
    [RFI + 1] = TROD_BR_ERET,
    [RFI + 2] = TROD_BR_ERET,
    [RFI + 3] = TROD_BR_ERET,
    [RFI + 4] = TROD_BR_ERET,
    [RFI + 5] = TROD_BR_ERET,
    [RFI + 6] = TROD_BR_ERET,
    [RFI + 7] = TROD_BR_ERET,
};

unsigned amber_branch_base(uint32_t opcode)
{
    switch (opcode >> 26) {
    case 16:
        return BC;
    case 17:
        return SC;
    case 18:
        return B;
    case 19:
        break;
    default:
        return NO;
    }
    switch (opcode >> 1 & 0x3ff) {
    case 16:
        return BCLR;
    case 528:
        return BCCTR;
    case 18:
    case 50:
        return RFI;
    default:
        return NO;
    }
}

unsigned amber_branch_of(uint32_t opcode, uint32_t pc, uint32_t next)
{
    return amber_branches[amber_branch_base(opcode) + amber_branch_index(opcode, pc, next)];
}
