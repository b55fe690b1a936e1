/*
 * test_rvvitext.c - RVVI-TEXT, element by element (docs/formats/rvvitext.md). Rows are worked out
 * by hand; opcodes are assembled by hand from the tables of the RISC-V manual.
 */
#include "logs.h"

enum {
    WHAT = LOGS_WHAT | TROD_COL_PC | TROD_COL_SUB,
    PLACE = TROD_COL_ADDR | TROD_COL_PC | TROD_COL_TEXT
};

static void rvvi(const char *text, uint32_t mask, const char *rows)
{
    logs_expect("rvvitext", NULL, text, mask, rows, 0, 0);
}

/* The example of version 0.3: comments between all words; lw from an odd address traps. */
static void test_trap(void **state)
{
    (void)state;
    rvvi("RET  1012 '_start+18'       07228293 'addi    t0,t0,114'     X  5 't0' 00001080\n"
         "TRAP 1016 '_start+22'       0012a303 'lw      t1,1(t0)'      C 300 'mstatus' 00003800 "
         "C 341 'mepc' 00001016 C 342 'mcause' 00000004 C 343 'mtval' 00001081\n",
         WHAT,
         "INSTR size=4 addr=1012 pc=1012 code=\"\\93\\82\"\\07\"\n"
         "REG size=4 pc=1012 value=1080 text=\"x5\"\n"
         "INSTR size=4 addr=1016 pc=1016 code=\"\\03\\a3\\12\\00\"\n"
         "REG size=4 pc=1016 value=3800 sub=300 text=\"mstatus\"\n"
         "REG size=4 pc=1016 value=1016 sub=341 text=\"mepc\"\n"
         "REG size=4 pc=1016 value=4 sub=342 text=\"mcause\"\n"
         "REG size=4 pc=1016 value=1081 sub=343 text=\"mtval\"\n"
         "EXCEPTION addr=1081 pc=1016 value=4 text=\"trap_load_address_misaligned\"\n");
}

/* What failed is marked: the access (5: access fault), the fetch (c: page fault); of others not. */
static void test_aborted(void **state)
{
    (void)state;
    rvvi("TRAP 10 0012a303 MEM D 4 8 8 0 C 142 5\nTRAP 14 0 C 342 c\nTRAP 18 73 C 242 8\nTRAP 1c "
         "0012a303\n",
         TROD_COL_FLAGS | TROD_COL_VALUE | TROD_COL_PC,
         "INSTR flags=0 pc=10\nREAD flags=2400000 pc=10\nREG flags=2000000 pc=10 value=5\n"
         "EXCEPTION flags=2000000 pc=10 value=5\n"
         "INSTR flags=400000 pc=14\nREG flags=2000000 pc=14 value=c\nEXCEPTION flags=2000000 pc=14 "
         "value=c\n"
         "INSTR flags=0 pc=18\nREG flags=2000000 pc=18 value=8\nEXCEPTION flags=2000000 pc=18 "
         "value=8\n"
         "INSTR flags=0 pc=1c\nEXCEPTION flags=2000000 pc=1c\n");
}

/* Lines that are joined are one event: raw is all of it. The hart lasts until it is changed. */
static void test_harts(void **state)
{
    (void)state;
    rvvi("HART 0 RET 80 3e800093 HART 1 RET 10080 7d008113\n"
         "X 3 1\n"
         "HART 0 \\\r\n"
         "    ISSUE 0 RET 80 00000093 'li ra,0 \\' \\ \t\r\n"
         "    ISSUE 1 RET 84 00000113\\\n"
         "\n"
         "RET 88 00000013\n",
         TROD_COL_STREAM | TROD_COL_PC | TROD_COL_RAW,
         "INSTR stream=0 pc=80 raw=\"HART 0 RET 80 3e800093 HART 1 RET 10080 7d008113\\0a\"\n"
         "INSTR stream=1 pc=10080\n"
         "REG stream=1 raw=\"X 3 1\\0a\"\n"
         "INSTR stream=0 pc=80 raw=\"HART 0 \\5c\\0d\\0a    ISSUE 0 RET 80 00000093 "
         "'li ra,0 \\5c' \\5c \\09\\0d\\0a    ISSUE 1 RET 84 00000113\\5c\\0a\\0a\"\n"
         "INSTR stream=0 pc=84\n"
         "INSTR stream=0 pc=88 raw=\"RET 88 00000013\\0a\"\n");
}

/* Numbers of registers are decimal, or hexadecimal behind 0x; those of CSRs are hexadecimal. */
static void test_registers(void **state)
{
    (void)state;
    rvvi("RET 0x80 0x00000093 x 5 0xF00D X 31 0x0 F 10 3ff0000000000000 V 0x1f 7 V 10 "
         "000102030405060708090a0b0c0d0e0f C 7c0 1 C 0x305 80\n",
         TROD_COL_SIZE | TROD_COL_VALUE | TROD_COL_DATA | TROD_COL_TEXT | TROD_COL_SUB,
         "INSTR size=4\n"
         "REG size=2 value=f00d text=\"x5\"\nREG size=1 value=0 text=\"x31\"\n"
         "REG size=8 value=3ff0000000000000 text=\"f10\"\nREG size=1 value=7 text=\"v31\"\n"
         "REG size=10 data=\"\\0f\\0e\\0d\\0c\\0b\\0a\\09\\08\\07\\06\\05\\04\\03\\02\\01\\00\" "
         "text=\"v10\"\n"
         "REG size=1 value=1 sub=7c0 text=\"1984\"\n"
         "REG size=1 value=80 sub=305 text=\"mtvec\"\n");
    rvvi("PARAMS 2 XLEN 64 flen 32 X 5 0xF00D F 1 1 V 1 1\n", TROD_COL_SIZE | TROD_COL_TEXT,
         "NOTE text=\"PARAMS\"\nREG size=8 text=\"x5\"\nREG size=4 text=\"f1\"\n"
         "REG size=1 text=\"v1\"\n");
}

/* 16 bits where the lowest two are not 3, whatever the digits; 64 of them where they say so. */
static void test_lengths(void **state)
{
    (void)state;
    rvvi("RET 80 4501 RET 82 00004501 RET 84 13 RET 88 000000000000003f\n",
         TROD_COL_SIZE | TROD_COL_CODE,
         "INSTR size=2 code=\"\\01E\"\nINSTR size=2 code=\"\\01E\"\n"
         "INSTR size=4 code=\"\\13\\00\\00\\00\"\n"
         "INSTR size=8 code=\"?\\00\\00\\00\\00\\00\\00\\00\"\n");
}

/*
 * What an access is, the opcode says: lw, sd, amoadd.w, lr.w, sc.w, cbo.flush, vle64.v, vse64.v,
 * c.lw, c.lbu (Zcb, not in the tables), cm.push (Zcmp); addi and mret have none.
 */
static void test_memory(void **state)
{
    (void)state;
    rvvi("RET 80 0012a303 MEM D 4 8 1008 0\nRET 80 00533423 MEM D 8 10 1010 0\n"
         "RET 80 00b5202f MEM D 4 20 1020 2 PTE 1 GPTE 2\nRET 80 1005a52f MEM D 4 30 30 0\n"
         "RET 80 18c5a5af MEM D 4 30 30 0\nRET 80 0025a00f MEM D 64 40 40 0\n"
         "RET 80 0205f087 MEM D 16 50 50 0\nRET 80 0205f0a7 MEM D 16 60 60 0\n"
         "RET 80 4188 MEM D 4 70 70 0\nRET 80 8188 MEM D 1 80 80 0\nRET 80 b842 MEM D 4 90 90 0\n"
         "RET 80 3e800093 MEM D 4 a0 a0 0\nMEM D 4 b0 b0 0\n",
         TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_SIZE | TROD_COL_FLAGS | TROD_COL_TEXT,
         "INSTR flags=0 size=4 addr=80\nREAD flags=2000000 size=4 addr=8 paddr=1008\n"
         "INSTR flags=0 size=4 addr=80\nWRITE flags=2000000 size=8 addr=10 paddr=1010\n"
         "INSTR flags=0 size=4 addr=80\nATOMIC flags=2000000 size=4 addr=20 paddr=1020 "
         "text=\"amoadd.w\"\n"
         "INSTR flags=0 size=4 addr=80\nREAD flags=2000800 size=4 addr=30 paddr=30\n"
         "INSTR flags=0 size=4 addr=80\nWRITE flags=2000800 size=4 addr=30 paddr=30\n"
         "INSTR flags=0 size=4 addr=80\nFLUSH flags=2000000 size=40 addr=40 paddr=40\n"
         "INSTR flags=0 size=4 addr=80\nREAD flags=2000000 size=10 addr=50 paddr=50\n"
         "INSTR flags=0 size=4 addr=80\nWRITE flags=2000000 size=10 addr=60 paddr=60\n"
         "INSTR flags=0 size=2 addr=80\nREAD flags=2000000 size=4 addr=70 paddr=70\n"
         "INSTR flags=0 size=2 addr=80\nREAD flags=2000000 size=1 addr=80 paddr=80\n"
         "INSTR flags=0 size=2 addr=80\nWRITE flags=2000000 size=4 addr=90 paddr=90\n"
         "INSTR flags=0 size=4 addr=80\nNOTE flags=2000000 size=4 addr=a0 paddr=a0 text=\"MEM\"\n"
         "NOTE flags=0 size=4 addr=b0 paddr=b0 text=\"MEM\"\n");
    /* the fetch of the instruction gives it its physical address; another fetch gives nothing */
    rvvi("RET 80 13 MEM I 4 80 1080 0\nRET 84 13 MEM i 4 88 1088 0\n", TROD_COL_PADDR | TROD_COL_PC,
         "INSTR paddr=1080 pc=80\nINSTR pc=84\n");
}

/*
 * A mode that changes is a row; instructions have the mode as sub, which may stand before or behind
 * them, as the first one of the event does. Of each hart its own.
 */
static void test_modes(void **state)
{
    (void)state;
    rvvi("RET 80 13\nMODE 3 RET 84 13 MODE 1\nRET 88 13 MODE 1 VIRT 1\nRET 8c 13 MODE 0\n"
         "HART 1 RET 90 13 DM 1\nHART 0 RET 94 13 VIRT 0\n",
         TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_TEXT | TROD_COL_STREAM,
         "INSTR stream=0\n"
         "MODE stream=0 value=3 sub=0 text=\"machine\"\nINSTR stream=0 sub=3\n"
         "MODE stream=0 value=1 sub=0 text=\"supervisor\"\nINSTR stream=0 sub=1\n"
         "MODE stream=0 value=1 sub=1 text=\"virtual supervisor\"\n"
         "INSTR stream=0 sub=0\nMODE stream=0 value=0 sub=1 text=\"virtual user\"\n"
         "INSTR stream=1\nMODE stream=1 sub=2 text=\"debug\"\n"
         "INSTR stream=0 sub=0\nMODE stream=0 value=0 sub=0 text=\"user\"\n");
}

/* ORDER is the index of the instruction behind it or before it, whatever the number. */
static void test_order(void **state)
{
    (void)state;
    rvvi("ORDER 7 RET 80 13 ORDER 9 RET 84 13\nRET 88 13 X 1 1 ORDER 3 RET 8c 13\n"
         "HART 1 ORDER 0 HART 0 RET 90 13\n",
         TROD_COL_INDEX | TROD_COL_PC,
         "INSTR index=7 pc=80\nINSTR index=9 pc=84\nINSTR index=3 pc=88\nREG pc=88\n"
         "INSTR pc=8c\nINSTR pc=90\n");
}

/*
 * Differences add up. Behind rows, they are of those of the event before them; before all rows, of
 * what follows. From the first TIME on the time is TIME's, in TIMESCALE.
 */
static void test_time(void **state)
{
    (void)state;
    rvvi("RET 80 13\nCYCLE 5 RET 84 13 CYCLE 1 RET 88 13\nRET 8c 13 X 1 1 CYCLE 4 HART 1 RET 90 13 "
         "CYCLE 0\nRET 94 13\n",
         TROD_COL_TIME | TROD_COL_UNIT,
         "INSTR\nINSTR time=5 unit=a\nINSTR time=6 unit=a\nINSTR time=a unit=a\n"
         "REG time=a unit=a\nINSTR time=a unit=a\nINSTR time=a unit=a\n");
    rvvi("PARAMS 1 TIMESCALE us\nRET 80 13 CYCLE 1\nRET 84 13 CYCLE 1 TIME 10\nRET 88 13 TIME 10 "
         "CYCLE 1\n",
         TROD_COL_TIME | TROD_COL_UNIT,
         "NOTE\nINSTR time=1 unit=a\nINSTR time=a unit=5\nINSTR time=14 unit=5\n");
    rvvi("TIME 3 RET 80 13\n", TROD_COL_TIME | TROD_COL_UNIT, "INSTR time=3 unit=3\n");
}

/* What no row has is a note, with its key; quoted names may have keys and comment signs in them. */
static void test_notes(void **state)
{
    (void)state;
    rvvi("VERSION 0 4 VENDOR \"a 'RET' b\" 1 2 PARAMS 1 ILEN 32\n"
         "RET 80 13 META 4 VMEM 1083 4 deafcafe NET a.b[0] 1 STATE \"X 5\" \"Y\\\" X 5 1\n",
         TROD_COL_TEXT | TROD_COL_STREAM | TROD_COL_PC,
         "NOTE text=\"VERSION\"\nNOTE text=\"VENDOR\"\nNOTE text=\"PARAMS\"\n"
         "INSTR stream=0 pc=80\nNOTE stream=0 pc=80 text=\"META\"\n"
         "NOTE stream=0 pc=80 text=\"NET\"\nNOTE stream=0 pc=80 text=\"STATE\"\n"
         "REG stream=0 pc=80 text=\"x5\"\n");
}

/* An element that is not known is passed over up to the next key; newer versions are told. */
static void test_unknown(void **state)
{
    (void)state;
    logs_expect("rvvitext", NULL, "VERSION 0 5\nFOO 1 bar \"X 5\" RET 80 13 QUX X 1 1\nX 2 1 2\n",
                TROD_COL_PC | TROD_COL_TEXT,
                "NOTE text=\"VERSION\"\nINSTR pc=80\nREG pc=80 text=\"x1\"\nREG text=\"x2\"\n", 0,
                3);
}

/* What is wrong in an element costs that element; a bad instruction leaves what follows without. */
static void test_damage(void **state)
{
    (void)state;
    logs_expect("rvvitext", NULL,
                "RET 1000 13 X 1 zz X 2 5\n"
                "RET 10zz 13 X 1 1 RET 1004 13\n"
                "RET 1008 13 X 32 1 X 3 1\n"
                "RET 100c 13 'no end X 1 2\n"
                "RET 1010 13 MEM Q 4 10 10 0 X 1 3\n"
                "RET 1014 13 MEM D 4 10 10 99 PTE 1\n"
                "STATE \"no end\nMETA 99 1 2\nMODE 7\nDM 2\nCYCLE x\nTIME -1\nHART one\nC 1000 1\n"
                "RET 11112222333344445 13\nPARAMS 2 XLEN 64\nORDER\nISSUE\nMEM D 4294967296 0 0 0\n"
                "RET 1018 13 X 4 1 \\\n",
                PLACE,
                "INSTR addr=1000 pc=1000\nREG pc=1000 text=\"x2\"\n"
                "REG text=\"x1\"\nINSTR addr=1004 pc=1004\n"
                "INSTR addr=1008 pc=1008\nREG pc=1008 text=\"x3\"\n"
                "INSTR addr=100c pc=100c\n"
                "INSTR addr=1010 pc=1010\nREG pc=1010 text=\"x1\"\n"
                "INSTR addr=1014 pc=1014\n"
                "INSTR addr=1018 pc=1018\nREG pc=1018 text=\"x4\"\n",
                20, 0);
}

/* An event has 2048 rows at the most; time and hart go on behind it as if it had all. */
static void test_many_rows(void **state)
{
    enum { REGS = 3000 };
    struct trod_buf text = {0};
    struct test_input in = {.format = logs_format("rvvitext")};
    const struct test_how how = {.mask = TROD_COL_TIME};
    struct test_rows got;

    (void)state;
    for (int i = 0; i < REGS; i++)
        assert_int_equal(trod_buf_add(&text, "X 5 1 ", 6), TROD_OK);
    assert_int_equal(trod_buf_add(&text, "HART 1 TIME 7\nRET 80 13\n", 24), TROD_OK);
    in.p = text.p;
    in.n = text.n;
    got = test_decode(&in, &how);
    assert_int_equal(got.n, 2048 + 1);
    assert_int_equal(got.warnings, 1);
    assert_int_equal(got.errors, 0);
    test_rows_free(&got);
    trod_buf_fini(&text);
}

/* An event that is too long is passed over as one, whatever lines it has. */
static void test_long_event(void **state)
{
    enum { LINES = 40000 };
    static const char line[] = "X 5 0000000000000000000000001 \\\n", end[] = "X 6 1\nX 7 1\n";
    struct trod_buf text = {0};
    struct test_input in = {.format = logs_format("rvvitext")};
    const struct test_how how = {.mask = TROD_COL_TEXT},
                          cut = {.mask = TROD_COL_TEXT, .every = 997};
    struct test_rows got, again;

    (void)state;
    for (int i = 0; i < LINES; i++)
        assert_int_equal(trod_buf_add(&text, line, sizeof line - 1), TROD_OK);
    assert_int_equal(trod_buf_add(&text, end, sizeof end - 1), TROD_OK);
    in.p = text.p;
    in.n = text.n;
    got = test_decode(&in, &how);
    again = test_decode(&in, &cut);
    assert_int_equal(got.n, 1);
    assert_int_equal(got.errors, 1);
    assert_true(test_rows_equal(&got, 0, &again));
    test_rows_free(&got);
    test_rows_free(&again);
    trod_buf_fini(&text);
}

/* An event that finds no room in a batch comes again: nothing of it counts twice. */
static void test_no_room(void **state)
{
    enum { EVENTS = 4000, ROWS = 5 };
    static const uint32_t sizes[] = {2048, 2049, 2053, 3001, 4096};
    struct trod_buf text = {0};
    struct test_input in = {.format = logs_format("rvvitext")};
    const struct test_how whole = {.every = 100};
    struct test_rows base;

    (void)state;
    for (int i = 0; i < EVENTS; i++) {
        char event[128];
        const int n = snprintf(event, sizeof event,
                               "HART %d MODE %d TIME 3 RET %x 13 X 5 1 HART 7 VIRT %d X 6 2\n",
                               i % 3, i % 2, i * 4, i / 2 % 2);

        assert_int_equal(trod_buf_add(&text, event, (size_t)n), TROD_OK);
    }
    in.p = text.p;
    in.n = text.n;
    base = test_decode(&in, &whole); /* a few events a batch: all of them find room */
    assert_true(base.n > EVENTS * (ROWS - 1));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct test_how how = {.rows = sizes[i]};
        struct test_rows got = test_decode(&in, &how);

        assert_true(test_rows_equal(&base, 0, &got));
        test_rows_free(&got);
    }
    test_rows_free(&base);
    trod_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trap),      cmocka_unit_test(test_aborted),
        cmocka_unit_test(test_harts),     cmocka_unit_test(test_registers),
        cmocka_unit_test(test_lengths),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_modes),     cmocka_unit_test(test_order),
        cmocka_unit_test(test_time),      cmocka_unit_test(test_notes),
        cmocka_unit_test(test_unknown),   cmocka_unit_test(test_damage),
        cmocka_unit_test(test_many_rows), cmocka_unit_test(test_long_event),
        cmocka_unit_test(test_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
