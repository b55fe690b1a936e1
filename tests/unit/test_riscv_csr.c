/*
 * test_riscv_csr.c - names of RISC-V's control and status registers, and their numbers again.
 */
#include "isa/riscv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Names and numbers of the privileged architecture, volume II, "CSR Listing". */
static void test_listed(void **state)
{
    static const struct {
        const char *name;
        int number;
    } listed[] = {
        {"fflags", 0x001},      {"vstart", 0x008},        {"sstatus", 0x100},
        {"satp", 0x180},        {"mstatus", 0x300},       {"pmpcfg0", 0x3a0},
        {"pmpcfg15", 0x3af},    {"pmpaddr63", 0x3ef},     {"mhpmevent3", 0x323},
        {"mhpmevent31", 0x33f}, {"mhpmcounter3", 0xb03},  {"mhpmcounter31h", 0xb9f},
        {"cycle", 0xc00},       {"hpmcounter31", 0xc1f},  {"hpmcounter3h", 0xc83},
        {"vlenb", 0xc22},       {"mhpmcounter10", 0xb0a}, {"mhartid", 0xf14},
    };

    (void)state;
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        assert_int_equal(trod_rv_csr_number(listed[i].name, strlen(listed[i].name)),
                         listed[i].number);
}

/* Every number has a name of its own. */
static void test_every_number(void **state)
{
    char name[TROD_RV_TEXT];

    (void)state;
    for (unsigned number = 0; number < 4096; number++)
        assert_int_equal(trod_rv_csr_number(name, trod_rv_csr(name, number)), (int)number);
}

static void test_others(void **state)
{
    static const char *const others[] = {
        "",
        "x1",
        "x31",
        "r0",
        "mstatu",
        "mstatuss",
        "MSTATUS",
        "pmpcfg",
        "pmpcfg16",
        "pmpcfg00",
        "pmpcfg1h",
        "pmpaddr64",
        "mhpmevent",
        "mhpmevent2",
        "mhpmcounter0",
        "mhpmcounter2",
        "mhpmcounter32",
        "hpmcounter3x",
        "4096",
        "768",
        "04",
        "4 ",
        "-1",
        "4294967297",
    };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(trod_rv_csr_number(others[i], strlen(others[i])), -1);
    assert_int_equal(trod_rv_csr_number("mie\0x", 5), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listed),
        cmocka_unit_test(test_every_number),
        cmocka_unit_test(test_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
