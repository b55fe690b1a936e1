/*
 * riscv.c - what decoders of RISC-V logs share.
 *
 * Implements riscv.h. Numbers of exceptions: The RISC-V Instruction Set Manual, volume II, "Machine
 * Cause Register"; their names are those that Spike prints.
 */
#include "format/lines/riscv.h"

/* Three bytes each. */
#define NAMES(c)                                                                                   \
    c "0 " c "1 " c "2 " c "3 " c "4 " c "5 " c "6 " c "7 " c "8 " c "9 " c "10" c "11" c "12" c   \
      "13" c "14" c "15" c "16" c "17" c "18" c "19" c "20" c "21" c "22" c "23" c "24" c "25" c   \
      "26" c "27" c "28" c "29" c "30" c "31"

enum {
    MODES = 3 * 32 * 3, /* where the names of modes begin */
    MODE_NAME = 18,     /* bytes of each */
    VIRTUAL = 4,
    DEBUG = 8
};

const char ln_rv_names[] = NAMES("x") NAMES("f") NAMES("v") /* modes: */
    "user              "
    "supervisor        "
    "reserved          "
    "machine           "
    "virtual user      "
    "virtual supervisor"
    "reserved          "
    "machine           "
    "debug             ";

struct trod_slice ln_rv_mode(unsigned mode, bool virtual, bool debug)
{
    const unsigned which = debug ? DEBUG : (mode & 3) | (virtual ? VIRTUAL : 0);
    const unsigned at = MODES + MODE_NAME * which;
    uint32_t n = MODE_NAME;

    while (ln_rv_names[at + n - 1] == ' ')
        n--;
    return (struct trod_slice){at | (uint32_t)TROD_SLICE_SHARED, n};
}

const struct ln_rv_op *ln_rv_decode(struct ln_rv_decoded *d, uint32_t opcode, enum trod_isa isa)
{
    struct ln_rv_op *op = &d->op[(opcode * 0x9e3779b1u) >> 24];

    if (!op->known || op->opcode != opcode) {
        const uint8_t code[] = {(uint8_t)opcode, (uint8_t)(opcode >> 8), (uint8_t)(opcode >> 16),
                                (uint8_t)(opcode >> 24)};
        struct trod_rv r;

        *op = (struct ln_rv_op){.opcode = opcode, .known = true};
        if (trod_rv_decode(code, sizeof code, isa == TROD_ISA_RISCV32 ? 32 : 64, &r)) {
            op->name = r.name;
            op->facts = r.facts;
        }
    }
    return op;
}

static const char *const causes[] = {"trap_instruction_address_misaligned",
                                     "trap_instruction_access_fault",
                                     "trap_illegal_instruction",
                                     "trap_breakpoint",
                                     "trap_load_address_misaligned",
                                     "trap_load_access_fault",
                                     "trap_store_address_misaligned",
                                     "trap_store_access_fault",
                                     "trap_user_ecall",
                                     "trap_supervisor_ecall",
                                     "trap_virtual_supervisor_ecall",
                                     "trap_machine_ecall",
                                     "trap_instruction_page_fault",
                                     "trap_load_page_fault",
                                     NULL,
                                     "trap_store_page_fault",
                                     "trap_double_trap",
                                     NULL,
                                     "trap_software_check",
                                     NULL,
                                     "trap_instruction_guest_page_fault",
                                     "trap_load_guest_page_fault",
                                     "trap_virtual_instruction",
                                     "trap_store_guest_page_fault"};

enum { CAUSES = sizeof causes / sizeof *causes };

bool ln_rv_cause(const uint8_t *name, size_t n, uint64_t *cause)
{
    for (size_t i = 0; i < CAUSES; i++)
        if (causes[i] && strlen(causes[i]) == n && memcmp(name, causes[i], n) == 0) {
            *cause = i;
            return true;
        }
    return false;
}

const char *ln_rv_cause_name(uint64_t cause)
{
    return cause < CAUSES ? causes[cause] : NULL;
}
