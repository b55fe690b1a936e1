/*
 * tarmac_gen.c - lines of traces from a grammar. Implements tarmac_gen.h.
 */
#include "tarmac_gen.h"

#include "testlib.h"

#include <inttypes.h>
#include <string.h>

#define PICK(g, list) ((list)[gen_below((g), sizeof(list) / sizeof *(list))])

static void put(struct trod_buf *out, const char *s)
{
    if (trod_buf_add(out, s, strlen(s)) < 0)
        test_die("out of memory");
}

static void hex(struct trod_gen *g, struct trod_buf *out, unsigned digits)
{
    bool upper = gen_once_in(g, 6);

    for (unsigned i = 0; i < digits; i++) {
        unsigned d = gen_below(g, 3) ? (unsigned)gen_below(g, 16) : 0;

        trod_buf_printf(out, upper ? "%X" : "%x", d);
    }
}

/* Digits with separators, or some of them unknown. */
static void value(struct trod_gen *g, struct trod_buf *out, unsigned digits, bool plain)
{
    static const char seps[] = {'_', '_', ':', ' '};
    static const char marks[] = {'x', '-', '.', '?', 'X'};
    char sep = plain ? '_' : PICK(g, seps);
    bool divided = digits > 8 && gen_below(g, 2), unknown = !plain && gen_once_in(g, 8);

    for (unsigned i = 0; i < digits; i += 8) {
        unsigned n = digits - i < 8 ? digits - i : 8;

        if (i && divided)
            trod_buf_printf(out, "%c", sep);
        if (unknown && gen_below(g, 2))
            for (unsigned k = 0; k < n; k++)
                trod_buf_printf(out, "%c", marks[digits % 5]);
        else
            hex(g, out, n);
    }
}

static void address(struct trod_gen *g, struct trod_buf *out, bool plain)
{
    static const char *const secs[] = {"", "", "_NS", "_NS", "_S", "_RT", "_RL"};
    static const unsigned digits[] = {8, 8, 8, 16, 10, 4, 1};

    hex(g, out, plain ? (gen_once_in(g, 6) ? 16 : 8) : PICK(g, digits));
    if (gen_below(g, 2))
        return;
    put(out, ":");
    hex(g, out, plain || gen_below(g, 2) ? 12 : (unsigned)gen_below(g, 16) + 1);
    put(out, plain ? secs[gen_below(g, 4)] : PICK(g, secs));
}

static void head(struct trod_gen *g, struct trod_buf *out, enum tarmac_gen sort)
{
    static const char *const units[] = {"clk", "clk",    "ns",  "ps",    "us",
                                        "s",   "cycles", "tic", "ticks", "half-cycles"};
    static const char *const sources[] = {"cpu0", "cpu1",   "cluster0.cpu1", "system.cpu",
                                          "CPU0", "cpu[0]", "a/cpu0",        "core"};

    if (sort == TARMAC_GEN_FAST) {
        trod_buf_printf(out, "%" PRIu64 " clk ",
                        gen_below(g, 3) ? 1000 + gen_below(g, 3) : gen_wide(g));
        put(out, gen_once_in(g, 5) ? "" : gen_below(g, 4) ? "cpu0 " : "cpu1 ");
        return;
    }
    if (sort == TARMAC_GEN_ES) {
        if (gen_below(g, 3))
            put(out, "                    ");
        else
            trod_buf_printf(out, "%*" PRIu64 " tic ", gen_once_in(g, 9) ? 1 : 11,
                            gen_once_in(g, 9) ? gen_wide(g) : gen_below(g, 3) + 70000);
        put(out, gen_once_in(g, 20) ? "cpu1 " : "");
        return;
    }
    if (gen_below(g, 8)) {
        trod_buf_printf(out, "%" PRIu64, gen_below(g, 2) ? gen_below(g, 100) : gen_wide(g));
        if (gen_once_in(g, 6))
            trod_buf_printf(out, ".%u", (unsigned)gen_below(g, 1000));
        if (gen_below(g, 8))
            trod_buf_printf(out, "%s%s", gen_below(g, 4) ? " " : "", PICK(g, units));
        put(out, " ");
    } else if (gen_once_in(g, 3)) {
        put(out, "                    ");
    }
    if (sort != TARMAC_GEN_MATCHER && gen_below(g, 2))
        trod_buf_printf(out, "%s ", PICK(g, sources));
}

static void instr(struct trod_gen *g, struct trod_buf *out, enum tarmac_gen sort)
{
    static const char *const modes[] = {"EL3h_s", "EL1h_n", "svc_s", "usr_ns", "thread", "---_-"};
    static const char *const texts[] = {
        "NOP", "LDR      x0,[sp,#8]", "  MOVZ   X0, #16", "", "RET  ", "B {pc}-0x2c ; 0x23038",
        "MOV"};
    static const char *const isets[] = {"O", "A", "T", "O", "X", "T16"};
    bool plain = sort == TARMAC_GEN_FAST;

    if (sort == TARMAC_GEN_MATCHER)
        trod_buf_printf(out, "%u ", (unsigned)gen_below(g, 3));
    put(out, gen_once_in(g, 5) ? "IS " : !plain && gen_once_in(g, 9) ? "IF " : "IT ");
    if (plain || gen_below(g, 4)) {
        trod_buf_printf(out, "(%" PRIu64 ") ",
                        gen_below(g, 4) ? gen_below(g, 100000) : gen_wide(g));
        address(g, out, plain);
    } else if (gen_below(g, 2)) {
        put(out, "(");
        hex(g, out, 16);
        put(out, ")");
    } else {
        hex(g, out, 8);
    }
    put(out, " ");
    if (!plain && gen_once_in(g, 9))
        put(out, "--------");
    else
        hex(g, out, gen_below(g, 3) ? 8 : 4);
    trod_buf_printf(out, " %s", isets[gen_below(g, plain ? 4 : 6)]);
    if (plain || gen_below(g, 5))
        trod_buf_printf(out, " %s", PICK(g, modes));
    put(out, plain || gen_below(g, 5) ? " : " : " ");
    put(out, PICK(g, texts));
}

static void reg(struct trod_gen *g, struct trod_buf *out, bool plain)
{
    static const char *const names[] = {"X0",        "r13_svc",    "cpsr",     "SP_EL3",  "z31",
                                        "TTBR0_EL1", "V0<127:64>", "R1 (USR)", "DC CVAU", "p0"};
    static const unsigned digits[] = {8, 16, 16, 4, 2, 32, 64, 3, 9, 1, 17, 512};
    static const char *const tails[] = {"", "", "", " (MSP)", " __C_"};

    trod_buf_printf(out, "R %s ", names[gen_below(g, plain ? 6 : 10)]);
    value(g, out, digits[gen_below(g, plain ? 5 : 12)], plain);
    put(out, plain ? "" : PICK(g, tails));
}

static void mem(struct trod_gen *g, struct trod_buf *out, enum tarmac_gen sort)
{
    static const unsigned sizes[] = {1, 2, 4, 8, 8, 16, 3, 64};
    static const char *const attrs[] = {"", "", "", "X", "T", "L", "_I", "_D"};
    static const char *const notes[] = {"", "", "", " (ABORTED)", " (EXCLUSIVE FAIL)"};
    bool plain = sort == TARMAC_GEN_FAST;
    unsigned size = sizes[gen_below(g, plain ? 5 : 8)];

    trod_buf_printf(out, "M%c%u%s ", gen_below(g, 2) ? 'R' : 'W', size,
                    attrs[gen_below(g, plain ? 6 : 8)]);
    address(g, out, plain);
    put(out, " ");
    value(g, out, plain || gen_below(g, 6) ? size * 2 : 8, plain);
    put(out, plain ? "" : PICK(g, notes));
}

static void picture(struct trod_gen *g, struct trod_buf *out)
{
    put(out, gen_below(g, 2) ? "LD " : "ST ");
    hex(g, out, 7);
    put(out, "0");
    for (int i = 0; i < 16; i++) {
        if (i % 4 == 0)
            put(out, " ");
        if (gen_below(g, 3) == 0)
            hex(g, out, 2);
        else
            put(out, gen_once_in(g, 8) ? "##" : "..");
    }
    if (gen_below(g, 2)) {
        put(out, gen_below(g, 2) ? "    S:" : "    NS:");
        hex(g, out, 10);
    }
    put(out, gen_below(g, 2) ? "    nGnRnE OSH" : "");
}

static void es_instr(struct trod_gen *g, struct trod_buf *out)
{
    put(out, "ES  (");
    hex(g, out, gen_below(g, 2) ? 8 : 16);
    put(out, ":");
    hex(g, out, gen_below(g, 2) ? 8 : 4);
    put(out, gen_below(g, 2) ? ") A svc_s:          " : ") O el3h_s:   CCFAIL ");
    put(out, "MOV      r0,#1");
}

/* A line of the ES dialect as its producers write it, now and then with something unusual in it. */
static void es_line(struct trod_gen *g, struct trod_buf *out)
{
    static const char *const modes[] = {"svc_s:          ", "el3h_s:         ", "svc_s:   CCFAIL ",
                                        "thrd_s: ",         "EL1h_ns: CCFAIL ", "m:\t",
                                        "handler_mode: "};
    static const char *const texts[] = {
        "MOV      r0,#1", "B {pc}-0x2c ; 0x23038", "RET  ", "", "CCFAILED", "\tNOP"};
    static const char *const tails[] = {"    S:%h", "    NS:%h    nGnRnE OSH", "    %h    NM ISH",
                                        "",         "    NM ISH INC ",         "  NS:%h \t"};

    switch (gen_below(g, 4)) {
    case 0:
        trod_buf_printf(out, "ES%s(", gen_below(g, 6) ? "  " : " ");
        hex(g, out, gen_below(g, 2) ? 8 : 16);
        put(out, ":");
        hex(g, out, gen_below(g, 3) ? 8 : 4);
        trod_buf_printf(out, ") %c ", "AOT"[gen_below(g, 3)]);
        put(out, modes[gen_below(g, gen_below(g, 4) ? 3 : 7)]);
        put(out, texts[gen_below(g, gen_below(g, 4) ? 2 : 6)]);
        break;
    case 1:
        reg(g, out, gen_below(g, 6) != 0);
        break;
    default:
        put(out, gen_below(g, 30) ? gen_below(g, 2) ? "LD " : "ST " : "   ");
        hex(g, out, gen_below(g, 2) ? 15 : 7);
        put(out, gen_below(g, 6) ? "0" : "3");
        for (int i = 0; i < 16; i++) {
            if (i % 4 == 0)
                put(out, " ");
            if (gen_below(g, 3) == 0)
                hex(g, out, 2);
            else
                put(out, gen_once_in(g, 90) ? "##" : "..");
        }
        for (const char *p = tails[gen_below(g, gen_below(g, 4) ? 4 : 6)]; *p; p++)
            if (p[0] == '%') {
                hex(g, out, gen_once_in(g, 9) ? 3 : 10);
                p++;
            } else {
                trod_buf_printf(out, "%c", *p);
            }
    }
}

/* Records of which a few examples, with their numbers drawn, are enough. */
static void other(struct trod_gen *g, struct trod_buf *out)
{
    static const char *const forms[] = {
        "CACHE cpu.cpu0.l1icache LINE %h4 ALLOC 0x%hc",
        "CACHE l2 LINE %h4 EVICT 0x%hc_NS",
        "CACHE MAINTENANCE Data cache Clean by MVA to PoC %h8:%hc 4K Normal",
        "CACHE MAINTENANCE Instruction cache Invalidate All to PoU %h8",
        "TTW ITLB LPAE 1:3 %hc %hg : BLOCK ATTRIDX=0 NS=0",
        "TTU DTLB VMSA 1:2 %hc %h8 : FAULT",
        "TLB FILL cpu.DTLB 64K 0x%h8, nG asid=0x%h2:0x%ha_NS Normal Inner=WriteBack xn=0",
        "TLB FILL d 4K 0x%h8_NS EL1_n vmid=12:0x%ha Device-nGnRnE (StronglyOrdered) Cont =0",
        "TLB EVICT l2 4K 0x%h8_NS EL1_n vmid=0x%h2",
        "WALKCACHE FILL w 1G 0x%h8 EL2_n:0x%ha",
        "E %h8 00000084 CoreEvent_CURRENT_SPx_SYNC",
        "E %h8:%hc abt 00000019 CoreEvent_ModeChange",
        "E %h8 %h8 10005",
        "E <%h8:%hc> 00000084 CoreEvent_CURRENT_SPx_SYNC",
        "E HRESETn %h1",
        "E DebugEvent_HaltingDebugState %h8",
        "CADI E simulation_stopped",
        "SIGNAL: SIGNAL=Abort STATE=Y",
        "FD (12) %h8:%hc %h8 A",
        "FR (12) %h8 %hg O",
        "BR (%h8) A",
        "BR4D__S I_____ O__CBS 3 %hc %h8",
        "BW8IXPN IWRCBS O_____ m %hc %h8_%h8",
        "BNR4O___ %h8 %h8",
        "BNR8____ %h8 %h8 %h8",
        "MNW4___D (%h8:%h8) %h8 %h8",
        "MNR8____ %h8 %h8 %h8",
        "MSW2____ %h8 (wait)",
        "MI",
        "MCW4___R (%h8:%h8) TRANSFER %h8",
        "W04 X %h8 %h8",
        "R08 %hg %hg",
        "MU4_LDADD %h8:%hc %h8",
        "MU8_CAS %h8 %h8_%h8 %h8_%h8",
        "MU16_CASP %h8 %h8_%h8_%h8_%h8",
        "MU4_SWP %h8 old=%h8 new=%h8",
        "EXC [0x%h2] Synchronous",
        "EXC 0x%h2",
        "ES EXC 0x%h2 Reset",
        "IT (a%h2) %h8 0x%h8 A svc_s : NOP",
        "IT (12) %h8 %h4 J svc_s",
        "MR2_I %h8 %h8",
        "R Q0 -------- xxxxxxxx %h8 --------",
        "IT (12) %h8 %hg T svc_s : LONG",
        "ES EXC Reset",
        "INFO_EXCEPTION_REASON %h8",
        "# %h8",
        "Tarmac Text Rev 3t",
    };
    const char *p = PICK(g, forms);

    for (; *p; p++) {
        if (p[0] == '%' && p[1] == 'h') {
            hex(g, out,
                p[2] == 'c'   ? 12
                : p[2] == 'g' ? 16
                : p[2] == 'a' ? 10
                              : (unsigned)(p[2] - '0'));
            p += 2;
        } else {
            trod_buf_printf(out, "%c", *p);
        }
    }
}

static void mutate(struct trod_gen *g, struct trod_buf *out, size_t from)
{
    static const char chars[] = "0123456789abcdefxX _:()<>[],.-?#RWMITESB\t\r";

    for (int i = (int)gen_below(g, 3); i >= 0 && out->n > from; i--) {
        size_t at = from + gen_below(g, out->n - from);

        if (gen_below(g, 2)) {
            out->p[at] = gen_once_in(g, 9) ? (uint8_t)gen_raw(g, 1)
                                           : (uint8_t)chars[gen_below(g, sizeof chars - 1)];
        } else if (gen_below(g, 2)) {
            memmove(out->p + at, out->p + at + 1, out->n - at - 1);
            out->n--;
        } else {
            out->n = at; /* cut off */
        }
    }
}

void tarmac_gen_line(struct trod_gen *g, enum tarmac_gen sort, struct trod_buf *out)
{
    size_t from = out->n;

    head(g, out, sort);
    if (sort == TARMAC_GEN_ES && gen_below(g, 16)) {
        es_line(g, out);
        put(out, gen_once_in(g, 60) ? "\r\n" : "\n");
        return;
    }
    switch (gen_below(g, sort == TARMAC_GEN_FAST || sort == TARMAC_GEN_MATCHER ? 7 : 12)) {
    case 0:
    case 1:
        instr(g, out, sort);
        break;
    case 2:
    case 3:
        reg(g, out, sort == TARMAC_GEN_FAST);
        break;
    case 4:
    case 5:
        mem(g, out, sort);
        break;
    case 6:
        if (sort == TARMAC_GEN_FAST || sort == TARMAC_GEN_MATCHER)
            put(out, gen_once_in(g, 4) ? "E 00001000 00000007 CoreEvent_IRQ" : "R r0 00000001");
        else
            es_instr(g, out);
        break;
    case 7:
    case 8:
        picture(g, out);
        break;
    default:
        other(g, out);
    }
    if (sort == TARMAC_GEN_MUTATED && gen_below(g, 3) == 0)
        mutate(g, out, from);
    put(out, gen_once_in(g, 40) ? "\r\n" : "\n");
}
