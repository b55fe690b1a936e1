/*
 * The PowerPC decoder: classes, access facts, registers, addresses, flow, text.
 *
 * The class lists are typed from the TT6 and TT6E instruction class macros of the Amber format and
 * compared over all major and minor opcodes. What other disassemblers say is in tests/isa/.
 */
#include "isa/ppc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum { ANY = -1 };

struct opcode {
    int major, minor;
};

static const struct opcode flow[] = {
    {16, ANY}, {17, ANY}, {18, ANY}, {19, 16}, {19, 18}, {19, 50}, {19, 528},
};

static const struct opcode memory[] = {
    {31, 7},   {31, 20},  {31, 21},  {31, 23},  {31, 39},  {31, 53},  {31, 55},  {31, 71},
    {31, 84},  {31, 87},  {31, 103}, {31, 119}, {31, 135}, {31, 149}, {31, 150}, {31, 151},
    {31, 167}, {31, 181}, {31, 183}, {31, 199}, {31, 214}, {31, 215}, {31, 231}, {31, 247},
    {31, 279}, {31, 310}, {31, 311}, {31, 341}, {31, 343}, {31, 359}, {31, 373}, {31, 375},
    {31, 407}, {31, 438}, {31, 439}, {31, 487}, {31, 534}, {31, 535}, {31, 567}, {31, 597},
    {31, 599}, {31, 631}, {31, 662}, {31, 663}, {31, 695}, {31, 725}, {31, 727}, {31, 759},
    {31, 790}, {31, 918}, {31, 983}, {32, ANY}, {33, ANY}, {34, ANY}, {35, ANY}, {36, ANY},
    {37, ANY}, {38, ANY}, {39, ANY}, {40, ANY}, {41, ANY}, {42, ANY}, {43, ANY}, {44, ANY},
    {45, ANY}, {46, ANY}, {47, ANY}, {48, ANY}, {49, ANY}, {50, ANY}, {51, ANY}, {52, ANY},
    {53, ANY}, {54, ANY}, {55, ANY}, {58, ANY}, {62, ANY},
};

static const struct opcode extended[] = {
    {31, 342},
    {31, 374},
    {31, 533},
    {31, 661},
};

/* In TT6E besides: the DCBx instructions and icbi. */
static const struct opcode cache_ops[] = {
    {31, 54}, {31, 86}, {31, 246}, {31, 278}, {31, 470}, {31, 758}, {31, 982}, {31, 1014},
};

static bool listed(const struct opcode *list, size_t n, int major, int minor)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].major == major && (list[i].minor == ANY || list[i].minor == minor))
            return true;
    return false;
}

static enum trod_ppc_class expected_class(int major, int minor, enum trod_ppc_variant variant)
{
    if (listed(flow, COUNT(flow), major, minor))
        return TROD_PPC_FLOW;
    if (listed(extended, COUNT(extended), major, minor))
        return TROD_PPC_MEMORY_EXTENDED;
    if (listed(memory, COUNT(memory), major, minor))
        return TROD_PPC_MEMORY;
    if (variant == TROD_PPC_TT6E && listed(cache_ops, COUNT(cache_ops), major, minor))
        return TROD_PPC_MEMORY;
    return TROD_PPC_COMPUTE;
}

static void test_classes(void **state)
{
    static const uint32_t rest[] = {0, 1, 0x03fff800, 0x03fff801, 0x02a5a800, 0x015a5801};
    struct trod_ppc_insn insn;

    (void)state;
    for (int major = 0; major < 64; major++)
        for (int minor = 0; minor < 1024; minor++) {
            const enum trod_ppc_class tt6 = expected_class(major, minor, TROD_PPC_TT6);
            const enum trod_ppc_class tt6e = expected_class(major, minor, TROD_PPC_TT6E);

            for (size_t i = 0; i < COUNT(rest); i++) {
                const uint32_t w = (uint32_t)major << 26 | (uint32_t)minor << 1 | rest[i];

                if (trod_ppc_class(w, TROD_PPC_TT6) != tt6 ||
                    trod_ppc_class(w, TROD_PPC_TT6E) != tt6e)
                    fail_msg("class of 0x%08x", (unsigned)w);
                trod_ppc_decode(w, &insn);
                if (insn.tt6 != tt6 || insn.tt6e != tt6e)
                    fail_msg("decoded class of 0x%08x", (unsigned)w);
            }
        }
    assert_int_equal(trod_ppc_record_words(TROD_PPC_COMPUTE), 1);
    assert_int_equal(trod_ppc_record_words(TROD_PPC_FLOW), 2);
    assert_int_equal(trod_ppc_record_words(TROD_PPC_MEMORY), 2);
    assert_int_equal(trod_ppc_record_words(TROD_PPC_MEMORY_EXTENDED), 3);
}

/* A memory class and an access go together, but for lscbx, which is in no list. */
static void test_class_and_access(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 64 * 1024; i++) {
        const uint32_t w = (i >> 10) << 26 | (i & 1023) << 1;
        const struct trod_ppc_access a = trod_ppc_access(w);
        const enum trod_ppc_class c = trod_ppc_class_of(a, TROD_PPC_TT6E);
        const bool memory_class = c == TROD_PPC_MEMORY || c == TROD_PPC_MEMORY_EXTENDED;

        if (i == (31u << 10 | 277))
            continue;
        assert_int_equal(memory_class, a.kind != TROD_PPC_NONE);
        if (memory_class && (a.rule == TROD_PPC_SIZE || a.rule == TROD_PPC_VECTOR))
            assert_true(a.size && !(a.size & (a.size - 1)) && a.size <= 16);
    }
}

static void test_access_sizes(void **state)
{
    static const struct {
        uint32_t w, xer, bytes;
        enum trod_ppc_kind kind;
    } cases[] = {
        {0x80640008, 0, 4, TROD_PPC_LOAD},       /* lwz r3,8(r4) */
        {0xb8620008, 0, 116, TROD_PPC_LOAD},     /* lmw r3,8(r2) */
        {0xbfe40008, 0, 4, TROD_PPC_STORE},      /* stmw r31,8(r4) */
        {0x7ca404aa, 0, 32, TROD_PPC_LOAD},      /* lswi r5,r4,32 */
        {0x7c642daa, 0, 5, TROD_PPC_STORE},      /* stswi r3,r4,5 */
        {0x7c642c2a, 0x87, 7, TROD_PPC_LOAD},    /* lswx: the low 7 bits of XER */
        {0x7c642d2a, 0x80, 0, TROD_PPC_STORE},   /* stswx of nothing */
        {0x7c0428ce, 0, 16, TROD_PPC_LOAD},      /* lvx */
        {0x7c04294e, 0, 2, TROD_PPC_STORE},      /* stvehx */
        {0x7c642828, 0, 4, TROD_PPC_RESERVE},    /* lwarx */
        {0x7c6429ad, 0, 8, TROD_PPC_COND},       /* stdcx. */
        {0xe8640008, 0, 8, TROD_PPC_LOAD},       /* ld */
        {0xe8640009, 0, 8, TROD_PPC_LOAD},       /* ldu */
        {0xe864000a, 0, 4, TROD_PPC_LOAD},       /* lwa */
        {0xf8640009, 0, 8, TROD_PPC_STORE},      /* stdu */
        {0x7c002fec, 0, 128, TROD_PPC_CACHE},    /* dcbz */
        {0x7c002a2c, 0, 128, TROD_PPC_PREFETCH}, /* dcbt */
        {0x7c042aac, 0, 0, TROD_PPC_PREFETCH},   /* dst */
        {0x7c632a14, 0, 0, TROD_PPC_NONE},       /* add */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct trod_ppc_insn insn;

        assert_true(trod_ppc_decode(cases[i].w, &insn));
        assert_int_equal(insn.access.kind, cases[i].kind);
        assert_int_equal(trod_ppc_access_size(&insn, cases[i].xer, 128), cases[i].bytes);
    }
}

static void test_access_start(void **state)
{
    (void)state;
    assert_int_equal(trod_ppc_access_start(trod_ppc_access(0x7c0428ce), 0x1237, 32), 0x1230);
    assert_int_equal(trod_ppc_access_start(trod_ppc_access(0x7c04288e), 0x1237, 32), 0x1234);
    assert_int_equal(trod_ppc_access_start(trod_ppc_access(0x7c00286e), 0x1237, 32), 0x1237);
    assert_int_equal(trod_ppc_access_start(trod_ppc_access(0x7c002fec), 0x12f7, 128), 0x1280);
    assert_int_equal(trod_ppc_access_start(trod_ppc_access(0x80640008), 0x1237, 32), 0x1237);
}

static void test_streams(void **state)
{
    struct trod_ppc_stream s = trod_ppc_stream_of(0x0210ffe0);

    (void)state;
    assert_int_equal(s.size, 32);
    assert_int_equal(s.count, 16);
    assert_int_equal(s.stride, -32);
    s = trod_ppc_stream_of(0);
    assert_int_equal(s.size, 512);
    assert_int_equal(s.count, 256);
    assert_int_equal(s.stride, 32768);
}

static void test_addresses(void **state)
{
    static const struct {
        uint32_t w, ea;
    } cases[] = {
        {0x80640008, 0x4008},                           /* lwz r3,8(r4) */
        {0x8064fff8, 0x3ff8},                           /* lwz r3,-8(r4) */
        {0x80600008, 8},                                /* lwz r3,8(0) */
        {0x8060fff0, 0xfffffff0}, {0x7c64282e, 0x9000}, /* lwzx r3,r4,r5 */
        {0x7c60282e, 0x5000},                           /* lwzx r3,0,r5 */
        {0x94640010, 0x4010},                           /* stwu r3,16(r4) */
        {0xe864000a, 0x4008},                           /* lwa r3,8(r4): the low bits are opcode */
        {0x7ca404aa, 0x4000},                           /* lswi r5,r4,32: rB is a count */
        {0x7c042aac, 0x4000},                           /* dst r4,r5,0: rB is the stream */
        {0x7c0028ce, 0x5000},                           /* lvx v0,0,r5 */
        {0x7c632a14, 0},                                /* add */
    };
    uint32_t gpr[32];

    (void)state;
    for (uint32_t i = 0; i < 32; i++)
        gpr[i] = i * 0x1000;
    gpr[0] = 0xdead0000;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct trod_ppc_insn insn;

        assert_true(trod_ppc_decode(cases[i].w, &insn));
        assert_int_equal(trod_ppc_effective_address(&insn, gpr), cases[i].ea);
    }
}

struct effects {
    uint32_t w;
    struct trod_ppc_regs reads, writes;
};

#define G(mask) .gpr = (mask)
#define S(mask) .special = (mask)
#define OV      TROD_PPC_OV
#define CA      TROD_PPC_CA
#define CTR     TROD_PPC_CTR
#define LR      TROD_PPC_LR
#define FPSCR   TROD_PPC_FPSCR
#define VSCR    TROD_PPC_VSCR

static const struct effects effects[] = {
    {0x7c632a14, {G(0x28)}, {G(8)}},                                     /* add r3,r3,r5 */
    {0x7c632a15, {G(0x28), S(OV)}, {G(8), .cr = 1}},                     /* add. */
    {0x7c632e14, {G(0x28), S(OV)}, {G(8), S(OV)}},                       /* addo */
    {0x7c632914, {G(0x28), S(CA)}, {G(8), S(CA)}},                       /* adde */
    {0x38600001, {G(0)}, {G(8)}},                                        /* li r3,1 */
    {0x60000000, {G(0)}, {G(0)}},                                        /* nop */
    {0x80640008, {G(0x10)}, {G(8)}},                                     /* lwz r3,8(r4) */
    {0x84640008, {G(0x10)}, {G(0x18)}},                                  /* lwzu r3,8(r4) */
    {0x90640008, {G(0x18)}, {G(0)}},                                     /* stw r3,8(r4) */
    {0xc8240008, {G(0x10)}, {.fpr = 2}},                                 /* lfd f1,8(r4) */
    {0xbb840008, {G(0x10)}, {G(0xf0000000)}},                            /* lmw r28,8(r4) */
    {0xbf840008, {G(0xf0000010)}, {G(0)}},                               /* stmw r28,8(r4) */
    {0x7fc454aa, {G(0x10)}, {G(0xc0000001)}},                            /* lswi r30,r4,10 */
    {0x5064183e, {G(0x18)}, {G(0x10)}},                                  /* rlwimi r4,r3,3,0,31 */
    {0x2c030000, {G(8), S(OV)}, {.cr = 1}},                              /* cmpwi r3,0 */
    {0x2f830000, {G(8), S(OV)}, {.cr = 0x80}},                           /* cmpwi cr7,r3,0 */
    {0x4c853182, {.cr = 0x02}, {.cr = 0x02}},                            /* crxor 4,5,6 */
    {0x4182fff0, {.cr = 1}, {.cr = 0}},                                  /* beq */
    {0x4200fff0, {S(CTR)}, {S(CTR)}},                                    /* bdnz */
    {0x48000011, {.cr = 0}, {S(LR)}},                                    /* bl */
    {0x4e800020, {S(LR)}, {.cr = 0}},                                    /* blr */
    {0x4e800421, {S(CTR)}, {S(LR)}},                                     /* bctrl */
    {0x7c6802a6, {S(LR)}, {G(8)}},                                       /* mflr r3 */
    {0x7c6903a6, {G(8)}, {S(CTR)}},                                      /* mtctr r3 */
    {0x7c6102a6, {S(TROD_PPC_XER_ALL)}, {G(8)}},                         /* mfxer r3 */
    {0x7c600026, {.cr = 0xff}, {G(8)}},                                  /* mfcr r3 */
    {0x7c6c0120, {G(8)}, {.cr = 3}},                                     /* mtcrf 0xc0,r3 */
    {0xfc22182a, {.fpr = 0xc, S(FPSCR)}, {.fpr = 2, S(FPSCR)}},          /* fadd f1,f2,f3 */
    {0x10221806, {.vr = 0xc}, {.vr = 2}},                                /* vcmpequb v1,v2,v3 */
    {0x10221c06, {.vr = 0xc}, {.vr = 2, .cr = 0x40}},                    /* vcmpequb. */
    {0x10221a00, {.vr = 0xc, S(VSCR)}, {.vr = 2, S(VSCR)}},              /* vaddubs */
    {0x7c0428ce, {G(0x30)}, {.vr = 1}},                                  /* lvx v0,r4,r5 */
    {0x7c64292d, {G(0x38), S(OV)}, {.cr = 1}},                           /* stwcx. r3,r4,r5 */
    {0x4c000064, {S(TROD_PPC_SRR0 | TROD_PPC_SRR1)}, {S(TROD_PPC_MSR)}}, /* rfi */
};

static void same_regs(uint32_t w, const struct trod_ppc_regs *a, const struct trod_ppc_regs *b)
{
    if (a->gpr != b->gpr || a->fpr != b->fpr || a->vr != b->vr || a->special != b->special ||
        a->cr != b->cr)
        fail_msg("0x%08x: gpr %x %x fpr %x %x vr %x %x special %x %x cr %x %x", w, a->gpr, b->gpr,
                 a->fpr, b->fpr, a->vr, b->vr, a->special, b->special, a->cr, b->cr);
}

static void test_registers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(effects); i++) {
        struct trod_ppc_insn insn;

        assert_true(trod_ppc_decode(effects[i].w, &insn));
        same_regs(effects[i].w, &insn.reads, &effects[i].reads);
        same_regs(effects[i].w, &insn.writes, &effects[i].writes);
    }
}

struct flow_case {
    uint32_t w;
    enum trod_ppc_branch branch;
    struct trod_ppc_flow regs;
    bool known, taken;
    uint32_t next;
};

static const struct flow_case flow_cases[] = {
    {0x48000010, TROD_PPC_BRANCH_DIRECT, {0, 0, 0}, true, true, 0x1010},
    {0x4bfffff1, TROD_PPC_BRANCH_CALL, {0, 0, 0}, true, true, 0xff0},
    {0x48000702, TROD_PPC_BRANCH_DIRECT, {0, 0, 0}, true, true, 0x700},         /* ba */
    {0x41820010, TROD_PPC_BRANCH_COND, {0, 0, 0x20000000}, true, true, 0x1010}, /* beq */
    {0x41820010, TROD_PPC_BRANCH_COND, {0, 0, 0xd0000000}, true, false, 0x1004},
    {0x40820010, TROD_PPC_BRANCH_COND, {0, 0, 0xd0000000}, true, true, 0x1010}, /* bne */
    {0x419e0010, TROD_PPC_BRANCH_COND, {0, 0, 0x00000002}, true, true, 0x1010}, /* cr7 */
    {0x4200fff0, TROD_PPC_BRANCH_COND, {0, 1, 0}, true, false, 0x1004},         /* bdnz */
    {0x4200fff0, TROD_PPC_BRANCH_COND, {0, 0, 0}, true, true, 0xff0},
    {0x4240fff0, TROD_PPC_BRANCH_COND, {0, 1, 0}, true, true, 0xff0}, /* bdz */
    {0x4002fff0, TROD_PPC_BRANCH_COND, {0, 2, 0}, true, true, 0xff0}, /* bdnzf eq */
    {0x4002fff0, TROD_PPC_BRANCH_COND, {0, 2, 0x20000000}, true, false, 0x1004},
    {0x4e800020, TROD_PPC_BRANCH_RETURN, {0x2003, 0, 0}, true, true, 0x2000},  /* blr */
    {0x4d820020, TROD_PPC_BRANCH_RETURN, {0x2000, 0, 0}, true, false, 0x1004}, /* beqlr */
    {0x4e800420, TROD_PPC_BRANCH_INDIRECT, {0, 0x3000, 0}, true, true, 0x3000},
    {0x4e800421, TROD_PPC_BRANCH_INDIRECT_CALL, {0, 0x3000, 0}, true, true, 0x3000},
    {0x429f0005, TROD_PPC_BRANCH_CALL, {0, 0, 0}, true, true, 0x1004}, /* bcl 20,31 */
    {0x44000002, TROD_PPC_BRANCH_SYSCALL, {0, 0, 0}, false, false, 0},
    {0x4c000064, TROD_PPC_BRANCH_RFI, {0, 0, 0}, false, false, 0},
    {0x60000000, TROD_PPC_BRANCH_NONE, {0, 0, 0}, true, false, 0x1004},
};

static void test_flow(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(flow_cases); i++) {
        const struct flow_case *c = &flow_cases[i];
        struct trod_ppc_insn insn;
        uint32_t next = 0;
        bool taken = false;

        assert_true(trod_ppc_decode(c->w, &insn));
        assert_int_equal(insn.branch, c->branch);
        assert_int_equal(trod_ppc_next(&insn, 0x1000, &c->regs, &next, &taken), c->known);
        assert_int_equal(next, c->next);
        assert_int_equal(taken, c->taken);
    }
}

static void test_text(void **state)
{
    static const struct {
        uint32_t w;
        const char *text;
    } cases[] = {
        {0x80610008, "lwz r3,8(r1)"},
        {0x80600008, "lwz r3,8(0)"},
        {0x3860ffff, "li r3,-1"},
        {0x3c608000, "lis r3,-32768"},
        {0x7c832378, "mr r3,r4"},
        {0x60000000, "nop"},
        {0x7c832850, "sub r4,r5,r3"},
        {0x4e800020, "blr"},
        {0x4e800421, "bctrl"},
        {0x419e0010, "beq cr7,0x00001010"},
        {0x41c20010, "beq- 0x00001010"},
        {0x41e20010, "beq+ 0x00001010"},
        {0x4200fff0, "bdnz 0x00000ff0"},
        {0x48000703, "bla 0x00000700"},
        {0x5464103a, "slwi r4,r3,2"},
        {0x5464f0be, "srwi r4,r3,2"},
        {0x7c6802a6, "mflr r3"},
        {0x7c0004ac, "sync"},
        {0x7c2004ac, "lwsync"},
        {0x7fe00008, "trap"},
        {0x0fe30005, "twui r3,5"},
        {0x7c6ff120, "mtcr r3"},
        {0x10011484, "vor v0,v1,v2"},
        {0x10010c84, "vmr v0,v1"},
        {0x7e00066c, "dssall"},
        {0x00000000, ".long 0x00000000"},
        {0x7c70faa6, "mfspr r3,hid0"},
        {0x84000000, ".long 0x84000000"},
        {0x7c64282f, ".long 0x7c64282f"},
    };
    struct trod_ppc_insn insn;
    char buf[TROD_PPC_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *text = cases[i].text;

        trod_ppc_decode(cases[i].w, &insn);
        assert_int_equal(trod_ppc_format(buf, sizeof buf, &insn, 0x1000), strlen(text));
        assert_string_equal(buf, text);
    }
    trod_ppc_decode(0x80610008, &insn);
    assert_int_equal(trod_ppc_format(NULL, 0, &insn, 0), 12);
    memset(buf, 'z', sizeof buf);
    assert_int_equal(trod_ppc_format(buf, 4, &insn, 0), 12);
    assert_string_equal(buf, "lwz");
    assert_int_equal(buf[4], 'z');
}

static void check_one(uint32_t w, uint8_t *seen)
{
    struct trod_ppc_insn insn;
    char buf[TROD_PPC_TEXT_MAX];

    if (!trod_ppc_decode(w, &insn)) {
        assert_int_equal(insn.op, 0);
        assert_int_equal(insn.group, TROD_PPC_GROUP_NONE);
        return;
    }
    seen[insn.op] = 1;
    assert_true(trod_ppc_format(buf, sizeof buf, &insn, w) < sizeof buf);
    assert_int_equal(strncmp(buf, ".long", 5) == 0, (insn.flags & TROD_PPC_BAD_FORM) != 0);
    assert_int_equal(insn.branch != TROD_PPC_BRANCH_NONE, insn.group == TROD_PPC_GROUP_BRANCH);
    if (insn.tt6 == TROD_PPC_FLOW)
        assert_int_equal(insn.group, TROD_PPC_GROUP_BRANCH);
    if (insn.group == TROD_PPC_GROUP_LOAD)
        assert_true(insn.access.kind == TROD_PPC_LOAD || insn.access.kind == TROD_PPC_RESERVE);
    if (insn.group == TROD_PPC_GROUP_STORE)
        assert_true(insn.access.kind == TROD_PPC_STORE || insn.access.kind == TROD_PPC_COND);
}

/* The whole space: texts fit, group, branch and access agree, every row of the table is reached. */
static void test_whole_space(void **state)
{
    static uint8_t seen[4096];
    uint32_t random = 1;
    unsigned missing = 0;

    (void)state;
    assert_true(trod_ppc_op_count() < sizeof seen);
    for (uint32_t i = 0; i < 64u * 2048 * 16; i++) {
        random = random * 1664525 + 1013904223;
        check_one((i >> 15) << 26 | (i >> 4 & 2047) | (i & 15 ? random >> 6 & 0x03fff800 : 0),
                  seen);
    }
    for (unsigned op = 1; op < trod_ppc_op_count(); op++)
        if (!seen[op]) {
            print_error("never decoded: %s\n", trod_ppc_op_name(op));
            missing++;
        }
    assert_int_equal(missing, 0);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(trod_ppc_op_name(0), "invalid");
    assert_null(trod_ppc_op_name(trod_ppc_op_count()));
    assert_string_equal(trod_ppc_reg_name(TROD_PPC_GPR, 31), "r31");
    assert_string_equal(trod_ppc_reg_name(TROD_PPC_VR, 0), "v0");
    assert_string_equal(trod_ppc_reg_name(TROD_PPC_CR, 7), "cr7");
    assert_null(trod_ppc_reg_name(TROD_PPC_CR, 8));
    assert_string_equal(trod_ppc_reg_name(TROD_PPC_SPECIAL, 0), "lr");
    assert_string_equal(trod_ppc_reg_name(TROD_PPC_SPECIAL, 14), "spr");
    assert_null(trod_ppc_reg_name(TROD_PPC_SPECIAL, 15));
    assert_string_equal(trod_ppc_spr_name(8), "lr");
    assert_string_equal(trod_ppc_spr_name(0), "mq");
    assert_string_equal(trod_ppc_spr_name(1023), "pir");
    assert_null(trod_ppc_spr_name(2));
    for (unsigned g = TROD_PPC_GROUP_NONE; g <= TROD_PPC_GROUP_MMU; g++)
        assert_non_null(trod_ppc_group_name(g));
    assert_null(trod_ppc_group_name(TROD_PPC_GROUP_MMU + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),      cmocka_unit_test(test_class_and_access),
        cmocka_unit_test(test_access_sizes), cmocka_unit_test(test_access_start),
        cmocka_unit_test(test_streams),      cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_registers),    cmocka_unit_test(test_flow),
        cmocka_unit_test(test_text),         cmocka_unit_test(test_whole_space),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
