/*
 * programs.c - implements programs.h: basic blocks, visited in a random walk.
 *
 * The small program has its code in 128 KiB, the large one in 4 MiB. Every block always has the
 * same instructions, which access what their opcodes say; data lies on a stack and in a heap of
 * 8 MiB. drmemtrace entries are those of docs/formats/drmemtrace.md, "Entries"; Tarmac lines those
 * of docs/formats/tarmac.md.
 *
 * The program of calls (drm-calls, tarmac-calls) has functions of six levels. Each has eight calls
 * of functions of the next level, any of which may be left out, or of some of the last but one
 * level, of itself, up to 400 deep; a function returns or goes on with another one (a tail call).
 * Four cpus of Tarmac take turns.
 */
#include "programs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LEVELS = 6, GROUPS = 170, FUNCTIONS = LEVELS * GROUPS, SITES = 8, RECURSIVE = 8 };
enum { CPUS = 4, DEEP = 400, TURN_INSNS = 500 };
enum { BLOCKS_MAX = 8192, BLOCK_BYTES = 512, TID = 1000, TURN = 4096 };

struct walk {
    uint64_t seed, left, block, time;
    unsigned blocks;
    int thread;               /* drmemtrace: one of many; -1: alone */
    bool es, arm, calls;      /* dialect; Tarmac; the program of calls */
    uint8_t seen[BLOCKS_MAX]; /* drmemtrace: BODY, LEFT_NEXT */
    unsigned cpu;             /* of the program of calls: which runs, */
    struct caller {
        unsigned site[DEEP + 1]; /* where each open call is: SITES * function + number; */
        unsigned depth, cap;     /* about how deep it goes at the moment */
    } caller[CPUS];
    uint8_t coded[FUNCTIONS * (SITES + 1)]; /* drmemtrace: the same, with encodings written */
};

/* xorshift64* */
static uint64_t next(uint64_t *s)
{
    *s ^= *s >> 12;
    *s ^= *s << 25;
    *s ^= *s >> 27;
    return *s * UINT64_C(2685821657736338717);
}

/*
 * Every block ends with a conditional branch to some other block and behind it, for when that is
 * not taken, a jump to the next block.
 */
static uint64_t block_pc(uint64_t k)
{
    return 0x400000 + BLOCK_BYTES * k;
}

static uint64_t far_block(const struct walk *w)
{
    return (w->block * UINT64_C(0x9e3779b97f4a7c15) >> 40) % w->blocks;
}

static uint64_t next_block(const struct walk *w)
{
    return (w->block + 1) % w->blocks;
}

/* ---- drmemtrace */

/* Types of entries. */
enum {
    READ = 0,
    WRITE = 1,
    INSTR = 10,
    JUMP = 11,
    CALL = 14,
    RETURN = 16,
    THREAD = 22,
    EXIT = 23,
    PID = 24,
    HEADER = 25,
    FOOTER = 26,
    MARKER = 28,
    CODE = 47,
    TAKEN = 48,
    UNTAKEN = 49
};

/* Instructions of x86-64, what they access and how many bytes of it. */
static const struct {
    uint8_t size, access, bytes, code[8];
} insns[8] = {{1, 0, 0, {0x90}},
              {4, READ, 8, {0x48, 0x8b, 0x04, 0x24}},
              {3, READ, 4, {0x8b, 0x04, 0x24}},
              {4, WRITE, 8, {0x48, 0x89, 0x04, 0x24}},
              {3, 0, 0, {0x48, 0x01, 0xc8}},
              {4, 0, 0, {0x48, 0x83, 0xc0, 0x01}},
              {5, 0, 0, {0xb8, 1, 2, 3, 4}},
              {2, 0, 0, {0x31, 0xc0}}};

static void entry(unsigned type, unsigned size, uint64_t addr)
{
    uint8_t p[12] = {(uint8_t)type, (uint8_t)(type >> 8), (uint8_t)size, (uint8_t)(size >> 8)};

    for (int i = 0; i < 8; i++)
        p[4 + i] = (uint8_t)(addr >> (8 * i));
    fwrite(p, 1, sizeof p, stdout);
}

static uint64_t data(struct walk *w)
{
    uint64_t r = next(&w->seed);

    return (r & 1 ? UINT64_C(0x7ffc00000000) + (r >> 8) % 4096
                  : UINT64_C(0x55550000000) + (r >> 8) % (8 << 20)) &
           ~UINT64_C(7);
}

/* Instruction K of the table at PC. */
static void drm_instr(struct walk *w, unsigned k, uint64_t pc, bool known)
{
    uint64_t code = 0;

    for (unsigned i = 0; i < 8; i++)
        code |= (uint64_t)insns[k].code[i] << (8 * i);
    if (!known)
        entry(CODE, insns[k].size, code);
    entry(INSTR, insns[k].size, pc);
    w->left--;
    if (insns[k].bytes) {
        entry(insns[k].access, insns[k].bytes, data(w));
        w->left -= w->left > 0;
    }
}

/* A branch of SIZE bytes to TARGET, with OPCODE before its displacement of 4 bytes. */
static void drm_branch(struct walk *w, unsigned type, unsigned size, uint32_t opcode, uint64_t pc,
                       uint64_t target, bool known)
{
    uint32_t displacement = (uint32_t)(target - pc - size);

    if (!w->left)
        return;
    if (!known)
        entry(CODE, size, opcode | (uint64_t)displacement << (8 * (size - 4)));
    entry(type, size, pc);
    w->left--;
}

/* Whose encodings have been written. */
enum { BODY = 1, LEFT_NEXT = 2 };

static void call_step(struct walk *w);

static void drm_block(struct walk *w)
{
    uint64_t shape = w->block * UINT64_C(0x9e3779b97f4a7c15) | 1, pc = block_pc(w->block);
    unsigned n = 3 + (unsigned)(shape >> 60);
    uint8_t *seen = &w->seen[w->block];
    bool taken = next(&w->seed) >> 32 & 1;

    for (unsigned i = 0; i < n && w->left; i++) {
        unsigned k = (unsigned)(next(&shape) >> 32) % 8;

        drm_instr(w, k, pc, *seen & BODY);
        pc += insns[k].size;
    }
    drm_branch(w, taken ? TAKEN : UNTAKEN, 6, 0x850f, pc, block_pc(far_block(w)), *seen & BODY);
    *seen |= BODY;
    if (!taken) {
        drm_branch(w, JUMP, 5, 0xe9, pc + 6, block_pc(next_block(w)), *seen & LEFT_NEXT);
        *seen |= LEFT_NEXT;
    }
    w->block = taken ? far_block(w) : next_block(w);
}

static void drm(struct walk *w)
{
    const uint64_t tid = TID + (uint64_t)(w->thread < 0 ? 0 : w->thread);
    const struct {
        unsigned type, size;
        uint64_t value;
    } head[] = {{HEADER, 0, 7},     {MARKER, 12, 7}, {MARKER, 9, 0xe40},
                {THREAD, 4, tid},   {PID, 4, TID},   {MARKER, 10, 64},
                {MARKER, 18, 4096}, {MARKER, 2, 1},  {MARKER, 3, 0}};
    const size_t n = sizeof head / sizeof *head;
    uint64_t turn = 0;

    for (size_t i = 0; i < (w->thread < 0 ? n : n - 2); i++)
        entry(head[i].type, head[i].size, head[i].value);
    while (w->left) {
        /* threads take turns, a basic block each */
        if (w->thread >= 0) {
            entry(MARKER, 2, ++turn * TURN + (uint64_t)w->thread);
            entry(MARKER, 3, 0);
        }
        if (w->calls)
            call_step(w);
        else
            drm_block(w);
    }
    entry(EXIT, 4, tid);
    entry(FOOTER, 0, 0);
}

/* ---- Tarmac */

enum { OPS = 6 };

/* Instructions of AArch64; B.EQ and B come behind them. */
static const struct {
    const char *text;
    uint32_t code;
    char access; /* R, W or 0: 8 bytes */
    int result;  /* register; -1: none */
} arm[OPS] = {
    {"LDR      x9,[sp,#8]", 0xf94007e9, 'R', 9},  {"ADD      x0,x0,#1", 0x91000400, 0, 0},
    {"STR      x0,[x8,#0]", 0xf9000100, 'W', -1}, {"SUBS     w10,w9,#0xff", 0x7103fd2a, 0, 10},
    {"MOV      w1,wzr", 0x2a1f03e1, 0, 1},        {"AND      w8,w8,#0xff", 0x12001d08, 0, 8}};

static void arm_instr(struct walk *w, uint64_t pc, uint32_t code, bool executed, const char *text)
{
    w->time++;
    if (w->es)
        printf("%11" PRIu64 " tic ES  (%016" PRIx64 ":%08" PRIx32 ") O el3h_s:  %s %s\n", w->time,
               pc, code, executed ? "      " : "CCFAIL", text);
    else
        printf("%" PRIu64 " clk cpu%u %s (%" PRIu64 ") %08" PRIx64 ":%012" PRIx64 " %08" PRIx32
               " O EL3h_s : %s\n",
               w->time, w->cpu, executed ? "IT" : "IS", w->time, pc, pc, code, text);
    w->left--;
}

static void arm_access(struct walk *w, char access, uint64_t r)
{
    uint64_t at = 0xff000 + (r & 0xff0);
    unsigned high = (unsigned)(r >> 40), low = (unsigned)(r >> 12 & UINT32_MAX);

    if (w->es)
        printf("                    %s %016" PRIx64 " ........ ........ %08x %08x    S:%011" PRIx64
               "    nGnRnE OSH\n",
               access == 'W' ? "ST" : "LD", at, high, low, at);
    else
        printf("%" PRIu64 " clk cpu0 M%c8 %08" PRIx64 ":%012" PRIx64 " %08x_%08x\n", w->time,
               access, at, at, high, low);
    w->left -= w->left > 0;
}

static void arm_result(struct walk *w, int number, uint64_t r)
{
    if (w->es)
        printf("                    R X%d %016" PRIx64 "\n", number, r >> 20);
    else
        printf("%" PRIu64 " clk cpu%u R X%d %016" PRIX64 "\n", w->time, w->cpu, number, r >> 20);
    w->left -= w->left > 0;
}

static void arm_branch(struct walk *w, uint64_t pc, uint64_t to, bool always, bool executed)
{
    uint32_t words = (uint32_t)((to - pc) >> 2);
    char text[64];

    if (!w->left)
        return;
    snprintf(text, sizeof text, "%s 0x%" PRIx64, always ? "B       " : "B.EQ    ", to);
    arm_instr(w, pc,
              always ? 0x14000000 | (words & 0x3ffffff) : 0x54000000 | (words & 0x7ffff) << 5,
              executed, text);
}

static void arm_block(struct walk *w)
{
    uint64_t shape = w->block * UINT64_C(0x9e3779b97f4a7c15) | 1, pc = block_pc(w->block);
    unsigned n = 3 + (unsigned)(shape >> 60);
    bool taken = next(&w->seed) >> 32 & 1;

    for (unsigned i = 0; i < n && w->left; i++, pc += 4) {
        unsigned k = (unsigned)(next(&shape) >> 32) % OPS;
        uint64_t r = next(&w->seed);

        arm_instr(w, pc, arm[k].code, true, arm[k].text);
        if (arm[k].access)
            arm_access(w, arm[k].access, r);
        if (arm[k].result >= 0)
            arm_result(w, arm[k].result, r);
    }
    arm_branch(w, pc, block_pc(far_block(w)), false, taken);
    if (!taken)
        arm_branch(w, pc + 4, block_pc(next_block(w)), true, true);
    w->block = taken ? far_block(w) : next_block(w);
}

static void tarmac(struct walk *w)
{
    if (w->es)
        printf("Tarmac Text Rev 3t\n");
    while (w->left)
        arm_block(w);
}

/* ---- the program of calls */

enum { DRM_SITE = 7, ARM_SITE = 8, FUNCTION_BYTES = 128 };

/* Site K of function F: a branch over a call; the last one: over a jump, behind it a return. */
static uint64_t site_pc(const struct walk *w, unsigned f, unsigned k)
{
    return 0x400000 + (uint64_t)FUNCTION_BYTES * f + k * (w->arm ? ARM_SITE : DRM_SITE);
}

static unsigned level(unsigned f)
{
    return f % LEVELS;
}

static bool recursive(unsigned f, unsigned k)
{
    return k == 0 && level(f) == LEVELS - 2 && f / LEVELS % RECURSIVE == 0;
}

/* What is called there. The bottom begins again instead of a tail call, the last level has none. */
static unsigned callee(unsigned f, unsigned k)
{
    const uint64_t r = (f * (SITES + 1) + k / 2 + 1) * UINT64_C(0x9e3779b97f4a7c15);

    if (recursive(f, k) || level(f) == LEVELS - 1 || (f == 0 && k == SITES))
        return f;
    return LEVELS * ((unsigned)(r >> 32) % GROUPS) + level(f) + 1;
}

/* The return address on the stack of the call that is D deep. */
static void drm_pushed(struct walk *w, unsigned type, unsigned d)
{
    entry(type, 8, UINT64_C(0x7ffc00000000) - 8 * (uint64_t)d);
    w->left -= w->left > 0;
}

/* The branch and, unless it is TAKEN, the call or jump to function TO. */
static void drm_site(struct walk *w, unsigned f, unsigned k, bool taken, unsigned to)
{
    uint8_t *coded = &w->coded[f * (SITES + 1) + k];
    const uint64_t pc = site_pc(w, f, k);

    if (!(*coded & BODY))
        entry(CODE, 2, 0x0574);
    entry(taken ? TAKEN : UNTAKEN, 2, pc);
    w->left--;
    *coded |= BODY;
    if (taken || !w->left)
        return;
    if (!(*coded & LEFT_NEXT))
        entry(CODE, 5,
              (k < SITES ? 0xe8 : 0xe9) | (uint64_t)(uint32_t)(site_pc(w, to, 0) - pc - DRM_SITE)
                                              << 8);
    *coded |= LEFT_NEXT;
    entry(k < SITES ? CALL : JUMP, 5, pc + 2);
    w->left--;
    if (k < SITES)
        drm_pushed(w, WRITE, w->caller[0].depth + 1);
}

static void arm_site(struct walk *w, unsigned f, unsigned k, bool taken, unsigned to)
{
    const uint64_t pc = site_pc(w, f, k), target = site_pc(w, to, 0);
    char text[64];

    arm_branch(w, pc, pc + ARM_SITE, false, taken);
    if (taken || !w->left)
        return;
    if (k == SITES) {
        arm_branch(w, pc + 4, target, true, true);
        return;
    }
    snprintf(text, sizeof text, "BL       0x%" PRIx64, target);
    arm_instr(w, pc + 4, 0x94000000 | ((uint32_t)((target - pc - 4) >> 2) & 0x3ffffff), true, text);
    arm_result(w, 30, (pc + ARM_SITE) << 20);
}

static void give_back(struct walk *w, unsigned f, uint64_t to)
{
    const uint64_t pc = site_pc(w, f, SITES) + (w->arm ? ARM_SITE : DRM_SITE);

    if (!w->left)
        return;
    if (w->arm) {
        arm_result(w, 30, to << 20);
        arm_instr(w, pc, 0xd65f03c0, true, "RET");
        return;
    }
    entry(MARKER, 29, to);
    entry(CODE, 1, 0xc3);
    entry(RETURN, 1, pc);
    w->left--;
    drm_pushed(w, READ, w->caller[0].depth + 1);
}

/* Is the call at site K of F left out? How deep recursion goes changes now and then. */
static bool left_out(struct walk *w, struct caller *c, unsigned f, unsigned k)
{
    const uint64_t r = next(&w->seed);

    if (r >> 56 == 0)
        c->cap = (unsigned)(r >> 40) % (DEEP - LEVELS);
    if (k == SITES)
        return f && (r % 8 || level(f) == LEVELS - 1);
    if (recursive(f, k))
        return c->depth >= c->cap || r % 64 == 0;
    return r % 16 >= 3 || level(f) == LEVELS - 1;
}

/* One site of the function that runs, and what follows from it. */
static void call_step(struct walk *w)
{
    struct caller *c = &w->caller[w->cpu];
    unsigned *site = &c->site[c->depth];
    const unsigned f = *site / (SITES + 1), k = *site % (SITES + 1), to = callee(f, k);
    const bool out = left_out(w, c, f, k);

    (w->arm ? arm_site : drm_site)(w, f, k, out, to);
    if (!out && k < SITES) {
        c->site[++c->depth] = to * (SITES + 1);
    } else if (!out) {
        *site = to * (SITES + 1);
    } else if (k < SITES) {
        ++*site;
    } else {
        site--;
        c->depth--;
        ++*site;
        give_back(w, f, site_pc(w, *site / (SITES + 1), *site % (SITES + 1)));
    }
}

static void tarmac_calls(struct walk *w)
{
    for (unsigned k = 0; w->left; k = (k + 1) % TURN_INSNS) {
        if (k == 0)
            w->cpu = (w->cpu + 1) % CPUS;
        call_step(w);
    }
}

bool programs_write(const char *format, uint64_t records, int thread)
{
    static struct walk w;
    const bool large = strcmp(format, "drm-large") == 0;

    w = (struct walk){.seed = 88172645463325252u,
                      .left = records,
                      .blocks = large ? BLOCKS_MAX : BLOCKS_MAX / 32,
                      .thread = thread,
                      .time = 1000000,
                      .es = strcmp(format, "tarmac-es") == 0,
                      .arm = strncmp(format, "tarmac-", 7) == 0,
                      .calls = strcmp(format + strcspn(format, "-"), "-calls") == 0};
    if (large || strcmp(format, "drm-small") == 0 || strcmp(format, "drm-calls") == 0)
        drm(&w);
    else if (strcmp(format, "tarmac-calls") == 0)
        tarmac_calls(&w);
    else if (w.es || strcmp(format, "tarmac-fm") == 0)
        tarmac(&w);
    else
        return false;
    return true;
}
