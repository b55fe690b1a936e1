/*
 * drm_samples.c - the catalogue of drm.h.
 */
#include "drm.h"

#define I(type, size, pc)                                                                          \
    {                                                                                              \
        type, size, pc                                                                             \
    }
#define M(marker, value)                                                                           \
    {                                                                                              \
        28, marker, value                                                                          \
    }
#define CODE(n, bytes)                                                                             \
    {                                                                                              \
        47, n, bytes                                                                               \
    }
#define BEGIN(version, filetype, tid, pid)                                                         \
    {25, 0, version}, M(12, version), M(9, filetype), {22, 4, tid}, {24, 4, pid}, M(10, 64),       \
        M(20, 10000000), M(18, 4096)
#define TIME(t, cpu) M(2, t), M(3, cpu)
#define END(tid)                                                                                   \
    {23, 4, tid},                                                                                  \
    {                                                                                              \
        26, 0, 0                                                                                   \
    }

enum { READ = 0, WRITE = 1, INSTR = 10, JUMP = 11, CALL = 14, RET = 16 };

/* Before version 2: several threads in one file, a string instruction, no markers of the header. */
static const struct drm_raw legacy[] = {
    {25, 0, 1},
    {22, 4, 100},
    {24, 4, 90},
    TIME(1000, 2),
    I(10, 3, 0x401000),
    {READ, 8, 0x7fff0000},
    {WRITE, 8, 0x7fff0000},
    I(13, 2, 0x401003),
    I(10, 2, 0x401005),
    {READ, 1, 0x500000},
    {WRITE, 1, 0x600000},
    I(29, 2, 0x401005),
    {READ, 1, 0x500001},
    {WRITE, 1, 0x600001},
    {22, 4, 101},
    {24, 4, 90},
    TIME(1010, 3),
    I(14, 5, 0x402000),
    {WRITE, 8, 0x7ffe0000},
    {22, 4, 100},
    TIME(1020, 2),
    I(16, 1, 0x401007),
    {READ, 8, 0x7fff0008},
    {22, 4, 101},
    I(10, 4, 0x402100),
    {23, 4, 101},
    {22, 4, 100},
    END(100),
};

/* Version 2: kernel events carry offsets of modules; function markers without encodings. */
static const struct drm_raw version2[] = {
    BEGIN(2, 0x40, 7, 7),
    TIME(2000, 0),
    M(4, 3),
    M(5, 0x4005d0),
    M(6, 0x11),
    M(6, 0x22),
    I(INSTR, 1, 0x4004),
    I(RET, 1, 0x4005),
    {READ, 8, 0x7f00},
    M(4, 3),
    M(7, 0x33),
    M(0, 0x15f),
    TIME(2001, 0),
    I(INSTR, 2, 0x5000),
    M(1, 0x160),
    TIME(2002, 0),
    I(INSTR, 2, 0x4006),
    END(7),
};

/* Version 4: encodings, an instruction given again, then changed. */
static const struct drm_raw encodings[] = {
    BEGIN(4, 0x240, 11, 10),
    TIME(3000, 4),
    CODE(3, 0xe78948),
    I(INSTR, 3, 0x1000),
    CODE(5, 0x00000cb8e8),
    I(CALL, 5, 0x1003),
    {WRITE, 8, 0x7ffeb4cc56d8},
    CODE(8, 0x4020002534048d48),
    CODE(2, 0xc390),
    I(INSTR, 10, 0x1cc0),
    I(INSTR, 3, 0x1000),
    CODE(3, 0xe78948),
    I(INSTR, 3, 0x1000),
    CODE(3, 0x909090),
    I(INSTR, 3, 0x1000),
    I(INSTR, 3, 0x1000),
    END(11),
};

/* Version 7: system calls, a signal with the instruction it interrupted, branches, two chunks. */
static const struct drm_raw version7[] = {
    {25, 0, 7},
    M(12, 7),
    M(9, 0xe40),
    {22, 4, 872805},
    {24, 4, 872800},
    M(10, 64),
    M(20, 4),
    M(18, 4096),
    TIME(13386385969186755, 5),
    M(4, 0x1000000ca),
    M(7, 0xfffffffffffffffc),
    M(30, 4),
    CODE(2, 0x050f),
    I(INSTR, 2, 0x7f0000001000),
    TIME(13386385969186760, 5),
    M(25, 1),
    M(26, 0),
    M(4, 0x100000001),
    M(6, 1),
    M(6, 0x402000),
    M(4, 0x100000001),
    M(7, 13),
    TIME(13386385969186790, 6),
    CODE(2, 0xd975),
    I(48, 2, 0x7f0000001002),
    M(29, 0x7f0000002000),
    CODE(1, 0xc3),
    I(RET, 1, 0x7f0000000fdd),
    {READ, 8, 0x7ffd00000000},
    CODE(2, 0x0275),
    I(49, 2, 0x7f0000002000),
    {READ, 8, 0x7ffd00000008},
    M(21, 0),
    M(22, 28),
    TIME(13386385969186790, 6),
    M(29, 0x7f0000003000),
    CODE(6, 0x000000001525ff),
    I(12, 6, 0x7f0000002002),
    {READ, 8, 0x7f0000005000},
    M(41, 0x0000000000000b0f),
    M(0, 0x7f0000003000),
    M(40, 11),
    TIME(13386385969186800, 6),
    CODE(2, 0x050f),
    I(INSTR, 2, 0x7f0000004000),
    TIME(13386385969186801, 6),
    M(25, 15),
    M(1, 0x7f0000004002),
    TIME(13386385969186802, 6),
    END(872805),
};

/* 32-bit entries, x86: encodings in pieces of four bytes, thread number -1 for the idle. */
static const struct drm_raw x86_32[] = {
    BEGIN(7, 0xe20, 77, 70), TIME(0xfffffff0, 1),     CODE(4, 0x0824448b),
    I(INSTR, 4, 0x8048000),  {READ, 4, 0xffffd000},   CODE(4, 0x0001c781),
    CODE(2, 0x0000),         I(INSTR, 6, 0x8048004),  CODE(2, 0x80cd),
    I(31, 2, 0x804800a),     TIME(0x10, 1),           M(25, 4),
    M(4, 0x10004),           M(6, 0xffffffff),        TIME(0x11, 0xffffffff),
    M(29, 0x8048000),        CODE(1, 0xc3),           I(RET, 1, 0x804800c),
    {READ, 4, 0xffffd004},   M(0, 0x8048000),         TIME(0x12, 1),
    I(INSTR, 4, 0x8048000),  {0, 0xffff, 0xfffffffc}, END(77),
};

/* 32-bit Arm with bundles, as old pipes had them: up to four lengths an entry. */
static const struct drm_raw bundles32[] = {
    {25, 0, 2},          {22, 4, 5},          {24, 4, 5},         TIME(10, 0),
    I(INSTR, 4, 0x8000), {17, 3, 0x00040204}, {READ, 4, 0x20000}, {17, 1, 0x04},
    I(29, 2, 0x8100),    {17, 4, 0x02020202}, I(JUMP, 4, 0x810a), END(5),
};

static const struct drm_raw bundles[] = {
    {25, 0, 3},          {22, 4, 5},
    {24, 4, 5},          TIME(10, 0),
    I(INSTR, 4, 0x8000), {17, 8, 0x0807060504030201},
    {WRITE, 4, 0x9000},  M(2, 11),
    {17, 2, 0x0303},     END(5),
};

/* Bundles of nothing, of too many, and before any instruction. */
static const struct drm_raw bad_bundles[] = {
    {25, 0, 3},   {22, 4, 5},          {24, 4, 5},    {17, 2, 0x0202},     TIME(10, 0),
    {17, 0, 0x1}, I(INSTR, 4, 0x8000), {17, 9, 0x01}, I(INSTR, 4, 0x8004), END(5),
};

/* A filtered trace: entries that only set the pc, counts of the unfiltered instructions, the end of
 * the filtered part. */
static const struct drm_raw filtered[] = {
    BEGIN(7, 0x2180 | 0x40, 21, 20),
    TIME(5000, 1),
    M(11, 1000),
    I(INSTR, 0, 0x401000),
    {READ, 8, 0x600000},
    I(INSTR, 3, 0x401080),
    {READ, 8, 0x600040},
    I(INSTR, 0, 0x401100),
    {WRITE, 8, 0x600080},
    I(RET, 0, 0x401104),
    {READ, 8, 0x600088},
    TIME(5100, 1),
    M(11, 2000),
    M(23, 0),
    I(INSTR, 4, 0x401200),
    {READ, 4, 0x600100},
    I(INSTR, 0, 0x401300),
    M(29, 0x401400),
    I(RET, 0, 0x401304),
    I(RET, 1, 0x401304),
    M(11, 2002),
    END(21),
};

/* Tracing windows in one file; the id stands between time and cpu. */
static const struct drm_raw windows[] = {
    BEGIN(6, 0x40, 31, 30),
    M(2, 100),
    M(14, 0),
    M(3, 1),
    I(INSTR, 2, 0x10),
    I(INSTR, 2, 0x12),
    M(2, 200),
    M(14, 1),
    M(3, 2),
    I(INSTR, 2, 0x50),
    M(2, 300),
    M(14, 1),
    M(3, 2),
    I(INSTR, 2, 0x52),
    END(31),
};

/* Physical addresses in pairs, one that is not known, pairs between an instruction and its data. */
static const struct drm_raw physical[] = {
    BEGIN(7, 0x40, 41, 40),
    TIME(100, 1),
    M(15, 0x1c000),
    M(17, 0x401000),
    M(16, 0xffffffffff600000),
    I(INSTR, 2, 0x401010),
    M(15, 0x99a10),
    M(17, 0x7ffe0a10),
    {READ, 8, 0x7ffe0a10},
    END(41),
};

/* REGDEPS: encodings of another length than the instructions, with no real ISA. */
static const struct drm_raw regdeps[] = {
    BEGIN(7, 0x20200, 51, 50), TIME(100, 0xffffffffffffffff), CODE(8, 0x0000030201000411),
    I(INSTR, 3, 0x401000),     {READ, 8, 0x7ffe0000},         CODE(4, 0x00002000),
    I(48, 6, 0x401003),        CODE(8, 0x0807060504038842),   CODE(4, 0x000b0a09),
    I(INSTR, 1, 0x401100),     I(INSTR, 1, 0x401100),         M(29, 0x401000),
    CODE(4, 0x00002010),       I(RET, 1, 0x401101),           END(51),
};

/* One file a core: idle first, threads change, their headers and ends in mid-file. */
static const struct drm_raw core_sharded[] = {
    {25, 0, 7},
    M(12, 7),
    M(9, 0x10e40),
    {22, 0, 0xffffffffffffffff},
    {24, 0, 0xffffffffffffffff},
    M(10, 64),
    M(20, 10000000),
    M(18, 4096),
    TIME(0xffffffffffffffff, 0xffffffffffffffff),
    M(33, 0),
    M(33, 0),
    M(33, 0),
    {22, 0, 61},
    {24, 0, 60},
    {25, 0, 7},
    M(12, 7),
    M(9, 0x10e40),
    M(10, 64),
    TIME(100, 0),
    CODE(2, 0x9066),
    I(INSTR, 2, 0x401000),
    {READ, 8, 0x600000},
    M(33, 0),
    M(33, 0),
    {22, 0, 62},
    {24, 0, 60},
    TIME(110, 0),
    CODE(1, 0x90),
    I(INSTR, 1, 0x402000),
    M(33, 0),
    {22, 0, 61},
    {24, 0, 60},
    I(INSTR, 2, 0x401000),
    {23, 4, 61},
    {26, 0, 0},
    {22, 0, 62},
    {24, 0, 60},
    I(INSTR, 1, 0x402001), /* its encoding never came: tolerated in such files */
    M(33, 0),
    {26, 0, 0},
};

/* Kernel code: of system calls, of thread switches; restartable sequences; scheduling hints. */
static const struct drm_raw kernel[] = {
    BEGIN(7, 0x1e40, 71, 70),
    TIME(100, 1),
    CODE(2, 0x050f),
    I(INSTR, 2, 0x401000),
    TIME(101, 1),
    M(25, 202),
    M(26, 0),
    M(37, 0),
    M(39, 250),
    M(27, 202),
    CODE(3, 0xf8010f),
    I(INSTR, 3, 0xffffffff81000000),
    {READ, 8, 0xffff888000001000},
    M(29, 0x401002),
    CODE(3, 0x070f48),
    I(12, 3, 0xffffffff81000003),
    M(28, 202),
    TIME(102, 1),
    M(34, 1),
    CODE(1, 0x90),
    I(INSTR, 1, 0xffffffff82000000),
    M(29, 0x401002),
    CODE(1, 0xc3),
    I(RET, 1, 0xffffffff82000001),
    M(35, 1),
    M(24, 0x401020),
    CODE(1, 0x90),
    I(INSTR, 1, 0x401002),
    M(13, 0x401003),
    M(0, 0x401003),
    TIME(103, 1),
    CODE(1, 0x90),
    I(INSTR, 1, 0x401100),
    M(31, 72),
    M(38, 73),
    M(46, 0x600000),
    M(36, 32),
    END(71),
};

/* The whole system: events of the hardware, one within the other. */
static const struct drm_raw whole_system[] = {
    BEGIN(7, 0x40240, 81, 80),
    TIME(100, 1),
    CODE(1, 0x90),
    I(INSTR, 1, 0x401000),
    M(43, 0x401001),
    CODE(1, 0x90),
    I(INSTR, 1, 0xffffffff81000000),
    M(43, 0xffffffff81000001),
    CODE(1, 0xf4),
    I(INSTR, 1, 0xffffffff81001000),
    M(44, 1),
    I(INSTR, 1, 0xffffffff81000000),
    M(44, 1),
    I(INSTR, 1, 0x401000),
    M(44, 1),
    I(INSTR, 1, 0x401000),
    END(81),
};

/* A file of templates: no thread ends in it, and its footer follows a marker. */
static const struct drm_raw templates[] = {
    {25, 0, 7},
    M(12, 7),
    M(9, 0x4240),
    {22, 4, 1},
    {24, 4, 1},
    M(18, 4096),
    M(27, 0),
    CODE(1, 0x90),
    I(INSTR, 1, 0xffffffff81000000),
    M(29, 0),
    CODE(2, 0xe0ff),
    I(12, 2, 0xffffffff81000001),
    M(28, 0),
    M(27, 0x0fffffff),
    CODE(1, 0xc3),
    M(29, 0x1000),
    I(RET, 1, 0xffffffff81000010),
    M(28, 0x0fffffff),
    {26, 0, 0xdeadbeef},
};

/* AArch64 with tagged addresses, prefetches, flushes with a size and as ranges. */
static const struct drm_raw aarch64[] = {
    BEGIN(7, 0x208, 91, 90),
    M(36, 32),
    TIME(100, 1),
    CODE(4, 0xd503201f),
    I(INSTR, 4, 0x0000aaaa00001000),
    {READ, 16, 0xb400ffff80001000},
    {2, 1, 0x1000},
    {8, 1, 0x2000},
    {9, 1, 0x3000},
    {35, 1, 0x4000},
    {46, 1, 0x5000},
    {27, 64, 0x6000},
    CODE(4, 0xd50b7e21),
    I(INSTR, 4, 0x0000aaaa00001004),
    {20, 64, 0xffff80002000},
    {18, 0, 0xffff80002040},
    {19, 0, 0xffff80002100},
    {20, 0, 0xffff80003000},
    {21, 0, 0xffff80003000},
    {WRITE, 64, 0xffff80004000},
    CODE(4, 0xd65f03c0),
    M(29, 0x00ffff8000001234),
    I(RET, 4, 0x0000aaaa00001008),
    M(0, 0x00ff800000001234),
    END(91),
};

/* Online leftovers: instructions of which it is not known whether they were fetched. */
static const struct drm_raw maybe_fetched[] = {
    {25, 0, 3},       {22, 4, 3},        {24, 4, 3},          TIME(1, 0),
    I(30, 2, 0x1000), {READ, 1, 0x5000}, I(30, 2, 0x1000),    {READ, 1, 0x5001},
    I(30, 2, 0x1000), I(30, 2, 0x1002),  I(INSTR, 0, 0x1004), I(30, 2, 0x1004),
    END(3),
};

/* Types and markers nobody knows, and the one that must not be; kept all of them. */
static const struct drm_raw unknown[] = {
    BEGIN(7, 0x40, 1, 1), TIME(100, 1),        M(99, 7),      M(150, 8),
    M(65535, 9),          I(INSTR, 2, 0x1000), {51, 3, 4},    {READ, 8, 0x2000},
    {50, 0, 0},           I(INSTR, 2, 0x1002), {40000, 1, 2}, {READ, 8, 0x2008},
    {19, 0, 0x3000},      I(INSTR, 2, 0x1004), END(1),
};

/* Chunks that hold too few instructions, are numbered wrongly, and count records wrongly. */
static const struct drm_raw wrong_chunks[] = {
    {25, 0, 6},
    M(12, 6),
    M(9, 0x40),
    {22, 4, 1},
    {24, 4, 1},
    M(20, 2),
    TIME(100, 1),
    I(INSTR, 1, 0x1000),
    I(INSTR, 1, 0x1001),
    M(21, 0),
    M(22, 8),
    TIME(100, 1),
    I(INSTR, 1, 0x1002),
    M(21, 1), /* one instruction short */
    M(22, 10),
    TIME(100, 1),
    I(INSTR, 1, 0x1003),
    I(INSTR, 1, 0x1004),
    M(21, 5),  /* not the next number */
    M(22, 99), /* not so many records */
    TIME(100, 1),
    I(INSTR, 1, 0x1005),
    END(1),
};

/* Encodings that are too long, of the wrong length, or never come. */
static const struct drm_raw wrong_encodings[] = {
    BEGIN(6, 0x240, 1, 1),       TIME(100, 1),
    CODE(3, 0x909090),           I(INSTR, 2, 0x1000),         /* three bytes for two */
    I(INSTR, 2, 0x2000),                                      /* none */
    CODE(8, 0x9090909090909090), CODE(8, 0x9090909090909090), /* sixteen */
    I(INSTR, 15, 0x3000),        CODE(9, 0x90),               /* more than an entry holds */
    I(INSTR, 8, 0x4000),         END(1),
};

/* No footer: the file was cut. */
static const struct drm_raw no_footer[] = {
    BEGIN(7, 0x40, 1, 1),
    TIME(100, 1),
    I(INSTR, 2, 0x1000),
    CODE(2, 0x9090),
};

#define SAMPLE(name, width, entries, errors)                                                       \
    {                                                                                              \
        name, width, entries, sizeof entries / sizeof *entries, errors                             \
    }

static const struct drm_sample samples[] = {
    SAMPLE("legacy-threads.trace", 12, legacy, 0),
    SAMPLE("version2.trace", 12, version2, 0),
    SAMPLE("encodings.trace", 12, encodings, 0),
    SAMPLE("version7.canonical.trace", 12, version7, 0),
    SAMPLE("x86-32.trace", 8, x86_32, 0),
    SAMPLE("bundles-32.trace", 8, bundles32, 0),
    SAMPLE("bundles.trace", 12, bundles, 0),
    SAMPLE("bundles.damaged.trace", 12, bad_bundles, 3),
    SAMPLE("filtered.trace", 12, filtered, 0),
    SAMPLE("windows.trace", 12, windows, 0),
    SAMPLE("physical.trace", 12, physical, 0),
    SAMPLE("regdeps.trace", 12, regdeps, 0),
    SAMPLE("core-sharded.trace", 12, core_sharded, 0),
    SAMPLE("kernel.trace", 12, kernel, 0),
    SAMPLE("whole-system.trace", 12, whole_system, 0),
    SAMPLE("templates.trace", 12, templates, 0),
    SAMPLE("aarch64.trace", 12, aarch64, 0),
    SAMPLE("maybe-fetched.trace", 12, maybe_fetched, 0),
    SAMPLE("unknown.damaged.trace", 12, unknown, 4),
    SAMPLE("chunks.damaged.trace", 12, wrong_chunks, 3),
    SAMPLE("encodings.damaged.trace", 12, wrong_encodings, 4),
    SAMPLE("no-footer.damaged.trace", 12, no_footer, 2),
};

const struct drm_sample *drm_sample(size_t i)
{
    return i < sizeof samples / sizeof *samples ? &samples[i] : NULL;
}

void drm_put(struct trod_buf *b, unsigned width, unsigned type, unsigned size, uint64_t addr)
{
    uint8_t e[12];

    e[0] = (uint8_t)type;
    e[1] = (uint8_t)(type >> 8);
    e[2] = (uint8_t)size;
    e[3] = (uint8_t)(size >> 8);
    for (unsigned i = 4; i < 12; i++)
        e[i] = (uint8_t)(addr >> (8 * (i - 4)));
    if (trod_buf_add(b, e, width) < 0)
        test_die("out of memory");
}

void drm_put_sample(struct trod_buf *b, const struct drm_sample *s)
{
    for (size_t i = 0; i < s->n; i++)
        drm_put(b, s->width, s->entry[i].type, s->entry[i].size, s->entry[i].addr);
}
