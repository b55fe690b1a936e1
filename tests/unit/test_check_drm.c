/*
 * test_check_drm.c - for each rule of drmemtrace traces a trace that breaks it and one that almost
 * does.
 *
 * The entries are those of docs/formats/drmemtrace.md, the rules those of docs/checking.md; x86
 * encodings are from the Intel manual, volume 2: 90 nop, 0f 05 syscall, c3 ret, e8 call, eb jmp,
 * 75 jne, 48 8b 07 mov rax,[rdi], 48 0f 07 sysretq.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checking.h"
#include "trod/drmemtrace.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
#define M(marker, value)    {28, marker, value}
#define TIME(t)             M(2, t), M(3, 1)
/* The header: version, file type, instructions a chunk, cpu. Seven visible records. */
#define BEGIN(v, ft, chunk, cpu) \
    {25, 0, v}, M(12, v), M(9, ft), {22, 4, 7}, {24, 4, 7}, M(10, 64), M(20, chunk), M(18, 4096), \
    M(2, 1000), M(3, cpu)
#define HEAD(v, ft)         BEGIN(v, ft, 1000, 1)
#define TAIL                {23, 4, 7}, {26, 0, 0}
/* An instruction: record type, bytes, encoding, address. */
#define X(type, n, code, pc) {47, n, code}, {type, n, pc}
#define NOP(pc)             X(10, 1, 0x90, pc)
#define SYS(pc)             X(10, 2, 0x050f, pc)
#define CALLED              X(14, 5, 0x00000ffbe8, 0x1000), {1, 8, 0x7000} /* 0x2000 */
#define RET(pc, to)         M(29, to), X(16, 1, 0xc3, pc), {0, 8, 0x7000}
/* Kernel code of a system call: it goes back to TO. */
#define SYSRET(to)          M(29, to), X(12, 3, 0x070f48, K)
#define TRACE(n, to)        M(27, n), SYSRET(to), M(28, n)
#define K                   UINT64_C(0xffffffff81000000)
/* A handler gives control back: rt_sigreturn at PC. */
#define SIGRETURN(pc)       SYS(pc), TIME(1001), M(25, 15), M(1, (pc) + 2), TIME(1001)
/* A jump by two bytes, and the markers of a function that returns to BACK. */
#define ENTERED(pc, back)   X(11, 2, 0x02eb, pc), M(4, 1), M(5, back), NOP((pc) + 4)
#define LOAD(pc)            X(10, 3, 0x078b48, pc)
#define H5                  M(43, 0x1001), M(43, 0x1001), M(43, 0x1001), M(43, 0x1001), \
                            M(43, 0x1001)
#define F                   0xe40  /* x86-64, encodings, system call numbers, blocking */
#define FK                  0x1e40 /* and inlined kernel code */
#define ALL                 UINT64_C(0xffffffffffffffff)
#define E                   CHECK_ENTRIES
/* clang-format on */

static const struct check_pair stream[] = {
    {"read.damaged", "drmemtrace", E(HEAD(7, F), NOP(0x1000), {60, 0, 0}, TAIL),
     E(HEAD(7, F), NOP(0x1000), M(101, 0), TAIL)},
    {"drm.thread-id", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), {23, 4, 7}, {22, 4, 8}, {24, 4, 7}, NOP(0x2000), {23, 4, 8},
       {26, 0, 0}),
     E(HEAD(7, 0x10000 | F), NOP(0x1000), {23, 4, 7}, {22, 4, 8}, {24, 4, 7}, NOP(0x2000),
       {23, 4, 8}, {26, 0, 0})},
    /* a thread said again is the same thread */
    {"drm.thread-id", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), {23, 4, 7}, {22, 4, 8}, {24, 4, 7}, NOP(0x2000), {23, 4, 8},
       {26, 0, 0}),
     E(HEAD(7, F), NOP(0x1000), {22, 4, 7}, {24, 4, 7}, NOP(0x1001), TAIL)},
    {"drm.header", "drmemtrace",
     E({25, 0, 7}, M(12, 7), M(9, F), {22, 4, 7}, {24, 4, 7}, M(10, 64), TIME(1000), NOP(0x1000),
       TAIL),
     E({25, 0, 7}, M(12, 7), M(9, F), {22, 4, 7}, {24, 4, 7}, M(10, 64), M(18, 4096), TIME(1000),
       NOP(0x1000), TAIL)},
    {"drm.header", "drmemtrace", E(HEAD(7, F | 0x80), NOP(0x1000), TAIL),
     E(HEAD(7, F | 0x80), M(11, 5), NOP(0x1000), TAIL)},
    {"drm.filetype", "drmemtrace", E(HEAD(7, 0x41240), NOP(0x1000), TAIL),
     E(HEAD(7, 0x40240), NOP(0x1000), TAIL)},
    {"drm.filetype", "drmemtrace", E(HEAD(7, F), M(9, 0x640), NOP(0x1000), TAIL),
     E(HEAD(7, F), M(9, F), NOP(0x1000), TAIL)},
    {"drm.instruction-count", "drmemtrace",
     E(HEAD(7, F | 0x80), M(11, 100), NOP(0x1000), M(11, 99), TAIL),
     E(HEAD(7, F | 0x80), M(11, 100), NOP(0x1000), M(11, 100), TAIL)},
    {"drm.vector-length", "drmemtrace",
     E(HEAD(7, 0x608), M(36, 24), X(10, 4, 0xd503201f, 0x1000), TAIL),
     E(HEAD(7, 0x608), M(36, 256), X(10, 4, 0xd503201f, 0x1000), TAIL)},
    {"drm.vector-length", "drmemtrace", E(HEAD(7, F), M(36, 32), NOP(0x1000), TAIL),
     E(HEAD(7, 0x608), M(36, 16), X(10, 4, 0xd503201f, 0x1000), TAIL)},
    {"drm.filter-endpoint", "drmemtrace", E(HEAD(7, F), NOP(0x1000), M(23, 0), TAIL),
     E(HEAD(7, 0x2100 | F), NOP(0x1000), M(23, 0), TAIL)},
    {"drm.filter-endpoint", "drmemtrace", E(HEAD(7, 0x2100 | F), NOP(0x1000), TAIL),
     E(HEAD(7, 0x100 | F), NOP(0x1000), TAIL)},
    {"drm.hardware-events", "drmemtrace", E(HEAD(7, F), NOP(0x1000), M(43, 0x1001), NOP(K), TAIL),
     E(HEAD(7, 0x40240), NOP(0x1000), M(43, 0x1001), NOP(K), TAIL)},
    {"drm.hardware-events", "drmemtrace",
     E(HEAD(7, 0x40240), NOP(0x1000), H5, H5, H5, H5, H5, H5, NOP(K), TAIL),
     E(HEAD(7, 0x40240), NOP(0x1000), H5, H5, H5, H5, H5, M(43, 0x1001), M(43, 0x1001),
       M(43, 0x1001), M(43, 0x1001), NOP(K), TAIL)},
    {"drm.raw-marker", "drmemtrace", E(HEAD(7, F), NOP(0x1000), M(45, 0x1001), TAIL),
     E(HEAD(7, F), NOP(0x1000), M(46, 0x1001), TAIL)},
    {"drm.chunk-footer", "drmemtrace",
     E(BEGIN(7, F, 2, 1), NOP(0x1000), NOP(0x1001), M(21, 1), M(22, 10), TIME(1000), NOP(0x1002),
       TAIL),
     E(BEGIN(7, F, 2, 1), NOP(0x1000), NOP(0x1001), M(21, 0), M(22, 10), TIME(1000), NOP(0x1002),
       TAIL)},
    {"drm.chunk-size", "drmemtrace",
     E(BEGIN(7, F, 3, 1), NOP(0x1000), NOP(0x1001), M(21, 0), M(22, 10), TIME(1000), NOP(0x1002),
       TAIL),
     E(BEGIN(7, F, 2, 1), NOP(0x1000), NOP(0x1001), M(21, 0), M(22, 10), TIME(1000), NOP(0x1002),
       TAIL)},
    {"drm.timestamp", "drmemtrace", E(HEAD(7, F), NOP(0x1000), TIME(999), TAIL),
     E(HEAD(7, F), NOP(0x1000), TIME(1000), TAIL)},
    {"drm.physical-pair", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), M(15, 0x1c000), M(17, 0x401010), TAIL),
     E(HEAD(7, F), NOP(0x1000), M(15, 0x1c010), M(17, 0x401010), M(16, 0x402000), TAIL)},
    {"drm.physical-pair", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), M(15, 0x1c000), TIME(1001), TAIL),
     E(HEAD(7, F), NOP(0x1000), TIME(1001), M(15, 0x1c000), M(17, 0x401000), TIME(1001), TAIL)},
    {"drm.thread-exit", "drmemtrace", E(HEAD(7, F), NOP(0x1000), {26, 0, 0}),
     E(HEAD(7, F | 0x10000), NOP(0x1000), {26, 0, 0})},
    {"drm.no-instructions", "drmemtrace", E(HEAD(7, F), TAIL),
     E(HEAD(7, F | 0x80), M(11, 5), TAIL)},
};

static const struct check_pair syscalls[] = {
    {"drm.syscall-bit", "drmemtrace",
     E(HEAD(7, 0x240), SYS(0x1000), TIME(1001), M(25, 1), TIME(1002), NOP(0x1002), TAIL),
     E(HEAD(7, 0x640), SYS(0x1000), TIME(1001), M(25, 1), TIME(1002), NOP(0x1002), TAIL)},
    {"drm.blocking-bit", "drmemtrace",
     E(HEAD(7, 0x640), SYS(0x1000), TIME(1001), M(25, 0), M(26, 0), TIME(1002), NOP(0x1002), TAIL),
     E(HEAD(7, F), SYS(0x1000), TIME(1001), M(25, 0), M(26, 0), TIME(1002), NOP(0x1002), TAIL)},
    {"drm.syscall-instruction", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), TIME(1001), M(25, 1), TIME(1002), NOP(0x1001), TAIL),
     E(HEAD(7, F), SYS(0x1000), TIME(1001), M(25, 1), TIME(1002), NOP(0x1002), TAIL)},
    {"drm.syscall-timestamp", "drmemtrace",
     E(HEAD(7, F), SYS(0x1000), M(25, 1), TIME(1002), NOP(0x1002), TAIL),
     E(HEAD(5, F), SYS(0x1000), M(25, 1), TIME(1002), NOP(0x1002), TAIL)},
    {"drm.syscall-marker", "drmemtrace", E(HEAD(7, F), SYS(0x1000), NOP(0x1002), TAIL),
     E(HEAD(7, 0x240), SYS(0x1000), NOP(0x1002), TAIL)},
    /* the last instruction of a thread needs none */
    {"drm.syscall-marker", "drmemtrace", E(HEAD(7, F), SYS(0x1000), TIME(1001), NOP(0x1002), TAIL),
     E(HEAD(7, F), NOP(0x1000), SYS(0x1001), TAIL)},
    {"drm.blocking-order", "drmemtrace",
     E(HEAD(7, F), SYS(0x1000), TIME(1001), M(25, 0), M(38, 9), M(26, 0), NOP(0x1002), TAIL),
     E(HEAD(7, F), SYS(0x1000), TIME(1001), M(25, 0), M(26, 0), M(38, 9), NOP(0x1002), TAIL)},
    {"drm.syscall-twice", "drmemtrace",
     E(HEAD(7, F), SYS(0x1000), TIME(1001), M(25, 1), TIME(1002), SYS(0x1000), TAIL),
     E(HEAD(7, F), SYS(0x1000), TIME(1001), M(25, 1), TIME(1002), SYS(0x1002), TAIL)},
    {"drm.syscall-twice", "drmemtrace",
     E(HEAD(7, F | 0x80), M(11, 1), SYS(0x1000), TIME(1001), M(25, 1), TIME(1002), SYS(0x1000),
       TAIL),
     E(HEAD(7, F | 0x80), M(11, 1), SYS(0x1000), TIME(1001), M(25, 1), TIME(1002), NOP(0x1002),
       SYS(0x1000), TAIL)},
    {"drm.after-syscall-trace", "drmemtrace",
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), TRACE(1, 0x1002), M(37, 0), NOP(0x1002),
       TAIL),
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), M(37, 0), TRACE(1, 0x1002), NOP(0x1002),
       TAIL)},
    {"drm.kernel-bit", "drmemtrace",
     E(HEAD(7, F), SYS(0x1000), TIME(1001), M(25, 1), TRACE(1, 0x1002), NOP(0x1002), TAIL),
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), TRACE(1, 0x1002), NOP(0x1002), TAIL)},
    {"drm.kernel-nesting", "drmemtrace",
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), M(27, 1), SYSRET(0x1002), M(28, 2),
       NOP(0x1002), TAIL),
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 2), M(27, 2), SYSRET(0x1002), M(28, 2),
       NOP(0x1002), TAIL)},
    {"drm.kernel-nesting", "drmemtrace", E(HEAD(7, FK), NOP(0x1000), M(28, 1), TAIL),
     E(HEAD(7, FK), NOP(0x1000), TAIL)},
    {"drm.kernel-nesting", "drmemtrace",
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), TRACE(2, 0x1002), NOP(0x1002), TAIL),
     /* by number of the whole trace, not of the call */
     E(HEAD(7, FK | 0x8000), SYS(0x1000), TIME(1001), M(25, 1), TRACE(2, 0x1002), NOP(0x1002),
       TAIL)},
    {"drm.kernel-place", "drmemtrace",
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), TIME(1002), TRACE(1, 0x1002), NOP(0x1002),
       TAIL),
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), M(26, 0), M(39, 5), TRACE(1, 0x1002),
       NOP(0x1002), TAIL)},
    {"drm.kernel-place", "drmemtrace",
     E(HEAD(7, FK | 0x8000), SYS(0x1000), TIME(1001), M(25, 1), TRACE(1, 0x1002), TRACE(1, 0x1002),
       NOP(0x1002), TAIL),
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), TRACE(1, 0x1002), SYS(0x1002), TIME(1002),
       M(25, 1), TRACE(1, 0x1004), NOP(0x1004), TAIL)},
    {"drm.kernel-missing", "drmemtrace",
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), TIME(1002), NOP(0x1002), TAIL),
     E(HEAD(7, F), SYS(0x1000), TIME(1001), M(25, 1), TIME(1002), NOP(0x1002), TAIL)},
    {"drm.kernel-end", "drmemtrace",
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), M(27, 1), NOP(K), M(28, 1), NOP(0x1002),
       TAIL),
     E(HEAD(7, FK | 0x8000), SYS(0x1000), TIME(1001), M(25, 1), M(27, 1), NOP(K), M(28, 1),
       NOP(0x1002), TAIL)},
    {"drm.kernel-end", "drmemtrace",
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), TRACE(1, 0x1003), NOP(0x1002), TAIL),
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), TRACE(1, 0x1002), M(0, 0x1002), NOP(0x5000),
       TAIL)},
    /* where it leads is not known only if nothing follows */
    {"drm.kernel-end", "drmemtrace",
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), M(27, 1), X(12, 3, 0x070f48, K), M(28, 1),
       NOP(0x1002), TAIL),
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), M(27, 1), X(12, 3, 0x070f48, K), M(28, 1),
       TAIL)},
    /* what gives control back to an interrupted program leads behind itself, as all calls do, */
    {"drm.kernel-end", "drmemtrace",
     E(HEAD(7, FK), NOP(0x1000), M(0, 0x1001), SYS(0x5000), TIME(1001), M(25, 15),
       TRACE(15, 0x5003), M(1, 0x5002), NOP(0x1001), TAIL),
     E(HEAD(7, FK), NOP(0x1000), M(0, 0x1001), SYS(0x5000), TIME(1001), M(25, 15),
       TRACE(15, 0x5002), M(1, 0x5002), NOP(0x1001), TAIL)},
    /* or to the program; no other call leads there */
    {"drm.kernel-end", "drmemtrace",
     E(HEAD(7, FK), NOP(0x1000), M(0, 0x1001), SYS(0x5000), TIME(1001), M(25, 15),
       TRACE(15, 0x1001), NOP(0x5002), TAIL),
     E(HEAD(7, FK), NOP(0x1000), M(0, 0x1001), SYS(0x5000), TIME(1001), M(25, 15),
       TRACE(15, 0x1001), M(1, 0x5002), NOP(0x1001), TAIL)},
    /* an event lets the call begin again */
    {"drm.kernel-end", "drmemtrace",
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), TRACE(1, 0x1003), M(0, 0x1000), NOP(0x5000),
       TAIL),
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), TRACE(1, 0x1002), M(0, 0x1000), NOP(0x5000),
       TAIL)},
    {"drm.kernel-balance", "drmemtrace",
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), M(27, 1), NOP(K + 0x10), M(0, K + 0x11),
       SYSRET(0x1002), M(28, 1), NOP(0x1002), TAIL),
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), M(27, 1), NOP(K - 1), M(0, K),
       NOP(K + 0x100), M(1, K + 0x101), SYSRET(0x1002), M(28, 1), NOP(0x1002), TAIL)},
    {"drm.kernel-balance", "drmemtrace",
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), M(27, 1), NOP(K + 0x10), M(1, K + 0x11),
       SYSRET(0x1002), M(28, 1), NOP(0x1002), TAIL),
     /* hlt waits for an interrupt, which may lead anywhere */
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), M(27, 1), X(10, 1, 0xf4, K + 0x10),
       SYSRET(0x1002), M(28, 1), NOP(0x1002), TAIL)},
    {"drm.context-switch", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), M(34, 3), RET(K, K), M(35, 3), NOP(0x1001), TAIL),
     E(HEAD(7, F), NOP(0x1000), M(34, 2), RET(K, K), M(35, 2), NOP(0x1001), TAIL)},
    {"drm.context-switch", "drmemtrace",
     E(HEAD(7, FK | 0x10000), NOP(0x1000), {22, 0, 8}, {24, 0, 7}, NOP(0x2000), {26, 0, 0}),
     E(HEAD(7, FK | 0x10000), NOP(0x1000), {22, 0, 8}, {24, 0, 7}, M(34, 1), RET(K, K), M(35, 1),
       NOP(0x2000), M(33, 0), {26, 0, 0})},
    {"drm.templates", "drmemtrace",
     E({25, 0, 7}, M(12, 7), M(9, 0x4240), {22, 4, 1}, {24, 4, 1}, M(18, 4096), TRACE(3, 0x1000),
       {26, 0, 0}),
     E({25, 0, 7}, M(12, 7), M(9, 0x4240), {22, 4, 1}, {24, 4, 1}, M(18, 4096), TRACE(3, 0x1000),
       TRACE(0x0fffffff, 0x1000), {26, 0, 0})},
    {"drm.templates", "drmemtrace",
     E({25, 0, 7}, M(12, 7), M(9, 0x4240), {22, 4, 1}, {24, 4, 1}, M(18, 4096), M(34, 1), RET(K, K),
       M(35, 1), {26, 0, 0}),
     E({25, 0, 7}, M(12, 7), M(9, 0x4240), {22, 4, 1}, {24, 4, 1}, M(18, 4096), M(34, 1), RET(K, K),
       M(35, 1), M(34, 2), RET(K, K), M(35, 2), {26, 0, 0})},
};

static const struct check_pair flow[] = {
    {"drm.function-place", "drmemtrace", E(HEAD(7, F), NOP(0x1000), M(4, 1), NOP(0x1001), TAIL),
     E(HEAD(7, F), CALLED, M(4, 1), NOP(0x2000), TAIL)},
    /* a system call's follow no branch; at the beginning nothing is known */
    {"drm.function-place", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), M(4, 1), M(4, 0x100000001), NOP(0x1001), TAIL),
     E(HEAD(7, F), M(4, 1), NOP(0x1000), M(4, 0x100000001), M(6, 1), NOP(0x1001), TAIL)},
    {"drm.function-place", "drmemtrace",
     E(HEAD(7, F), X(14, 5, 0x00000ffbe8, 0x1000), M(4, 1), {1, 8, 0x7000}, NOP(0x2000), TAIL),
     E(HEAD(7, F), X(14, 5, 0x00000ffbe8, 0x1000), {1, 8, 0x7000}, M(4, 1), NOP(0x2000), TAIL)},
    /* back from a signal that interrupted a branch, or something else */
    {"drm.function-place", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), M(0, 0x1001), NOP(0x5000), M(1, 0x5001), M(4, 1), NOP(0x1001),
       TAIL),
     E(HEAD(7, F), CALLED, M(0, 0x2000), NOP(0x5000), M(1, 0x5001), M(4, 1), NOP(0x2000), TAIL)},
    /* a system call is no branch */
    {"drm.function-place", "drmemtrace",
     E(HEAD(7, F), SYS(0x1000), TIME(1001), M(25, 1), M(4, 1), TIME(1002), NOP(0x1002), TAIL),
     E(HEAD(7, F), SYS(0x1000), TIME(1001), M(25, 1), M(4, 0x100000001), TIME(1002), NOP(0x1002),
       TAIL)},
    {"drm.function-return", "drmemtrace",
     E(HEAD(7, F), CALLED, M(4, 1), M(5, 0x1006), NOP(0x2000), TAIL),
     E(HEAD(7, F), CALLED, M(4, 1), M(5, 0x1005), NOP(0x2000), TAIL)},
    /* a handler that returns takes the 0 of its event with it, one that does not leaves it */
    {"drm.function-return", "drmemtrace",
     E(HEAD(7, F), CALLED, M(0, 0x2000), RET(0x5000, 0x6000), SIGRETURN(0x6000),
       ENTERED(0x2000, 0x1006), TAIL),
     E(HEAD(7, F), CALLED, M(0, 0x2000), RET(0x5000, 0x6000), SIGRETURN(0x6000),
       ENTERED(0x2000, 0x1005), TAIL)},
    {"drm.function-return", "drmemtrace",
     E(HEAD(7, F), CALLED, M(0, 0x2000), SIGRETURN(0x6000), ENTERED(0x2000, 0), TAIL),
     E(HEAD(7, F), CALLED, M(0, 0x2000), SIGRETURN(0x6000), ENTERED(0x2000, 0x1005), TAIL)},
    /* the handler has calls of its own, and is interrupted there */
    {"drm.function-return", "drmemtrace",
     E(HEAD(7, F), CALLED, M(0, 0x2000), X(14, 5, 0x00000ffbe8, 0x5000), {1, 8, 0x7000},
       M(0, 0x6000), RET(0x8000, 0x9000), SIGRETURN(0x9000), ENTERED(0x6000, 0x1005), TAIL),
     E(HEAD(7, F), CALLED, M(0, 0x2000), X(14, 5, 0x00000ffbe8, 0x5000), {1, 8, 0x7000},
       M(0, 0x6000), RET(0x8000, 0x9000), SIGRETURN(0x9000), ENTERED(0x6000, 0x5005),
       RET(0x6005, 0x5005), RET(0x5005, 0x9000), SIGRETURN(0x9000), ENTERED(0x2000, 0x1005), TAIL)},
    {"drm.event-address", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), M(0, 0x1001), NOP(0x5000), M(1, 0), NOP(0x1001), TAIL),
     E(HEAD(7, F), NOP(0x1000), M(0, 0x1001), NOP(0x5000), M(1, 1), NOP(0x1001), TAIL)},
    {"drm.event-return", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), M(0, 0x1001), NOP(0x5000), M(1, 0x5001), NOP(0x1002), TAIL),
     E(HEAD(7, F), NOP(0x1000), M(0, 0x1001), NOP(0x5000), M(1, 0x5001), NOP(0x1001), TAIL)},
    /* a return that tracing did not see the event of leads anywhere */
    {"drm.event-return", "drmemtrace",
     E(HEAD(7, 0x40240), NOP(0x1000), M(43, 0x1001), NOP(K), M(1, K), NOP(0x1001), TAIL),
     E(HEAD(7, 0x40240), NOP(0x1000), M(1, 0x1001), NOP(0x5000), TAIL)},
    {"drm.event-pc", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), M(0, 0x1005), NOP(0x5000), M(1, 0x5001), NOP(0x1005), TAIL),
     E(HEAD(7, F), NOP(0x1000), M(0, 0x1000), NOP(0x5000), M(1, 0x5001), NOP(0x1000), TAIL)},
    /* a second signal comes where the first has returned to */
    {"drm.event-pc", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), M(0, 0x1001), NOP(0x5000), M(1, 0x5001), M(0, 0x1002), NOP(0x5000),
       TAIL),
     E(HEAD(7, F), NOP(0x1000), M(0, 0x1001), NOP(0x5000), M(1, 0x5001), M(0, 0x1001), NOP(0x5000),
       TAIL)},
    /* a taken branch is interrupted at its target */
    {"drm.event-pc", "drmemtrace",
     E(HEAD(7, F), X(11, 2, 0x02eb, 0x1000), M(0, 0x1002), NOP(0x5000), TAIL),
     E(HEAD(7, F), X(11, 2, 0x02eb, 0x1000), M(0, 0x1004), NOP(0x5000), TAIL)},
    {"drm.rseq-abort", "drmemtrace",
     E(HEAD(7, F), M(24, 0x1010), NOP(0x1000), M(13, 0x1001), TIME(1001), NOP(0x1001), TAIL),
     E(HEAD(7, F), M(24, 0x1010), NOP(0x1000), M(13, 0x1001), M(0, 0x1001), TIME(1001), NOP(0x2000),
       TAIL)},
    /* an event that comes late is of a sequence that was aborted */
    {"drm.rseq-abort", "drmemtrace",
     E(HEAD(7, F), M(24, 0x1010), NOP(0x1000), M(13, 0x1001), TIME(1001), M(0, 0x1001), NOP(0x2000),
       TAIL),
     E(HEAD(7, F), M(24, 0x1010), NOP(0x1000), M(13, 0x1001), M(0, 0x1001), TIME(1001),
       M(0, 0x2000), NOP(0x5000), TAIL)},
    /* what ended the sequence is not followed by its abort, unless it is what failed */
    {"drm.rseq-abort", "drmemtrace",
     E(HEAD(7, F), M(24, 0x1002), NOP(0x1000), NOP(0x1001), M(13, 0x1002), M(0, 0x1002),
       NOP(0x2000), TAIL),
     E(HEAD(7, F), M(24, 0x1002), NOP(0x1000), NOP(0x1001), M(13, 0x1001), M(0, 0x1001),
       NOP(0x2000), TAIL)},
    {"drm.rseq-region", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), M(24, 0x1010), M(0, 0x1001), NOP(0x5000), TAIL),
     E(HEAD(7, F), X(11, 2, 0x02eb, 0x1000), M(24, 0x1010), M(0, 0x1004), NOP(0x5000), TAIL)},
    {"drm.rseq-region", "drmemtrace",
     E(HEAD(7, F), M(24, 0x1010), NOP(0x1000), M(0, 0x1001), NOP(0x5000), TAIL),
     E(HEAD(7, F), M(24, 0x1010), NOP(0x1000), M(13, 0x1001), M(0, 0x1001), NOP(0x5000), TAIL)},
    /* it ends with its last instruction, and may be left by a branch */
    {"drm.rseq-region", "drmemtrace",
     E(HEAD(7, F), M(24, 0x1010), NOP(0x1000), M(0, 0x1001), NOP(0x5000), TAIL),
     E(HEAD(7, F), M(24, 0x1001), NOP(0x1000), NOP(0x1001), M(24, 0x1006), X(11, 2, 0x10eb, 0x1002),
       NOP(0x1014), TAIL)},
    {"drm.pc-continuity", "drmemtrace", E(HEAD(7, F), NOP(0x1000), NOP(0x1002), TAIL),
     E(HEAD(7, F), NOP(0x1000), NOP(0x1001), TAIL)},
    {"drm.pc-continuity", "drmemtrace", E(HEAD(7, F), X(48, 2, 0x0275, 0x1000), NOP(0x1002), TAIL),
     E(HEAD(7, F), X(48, 2, 0x0275, 0x1000), NOP(0x1004), X(49, 2, 0x0275, 0x1005), NOP(0x1007),
       TAIL)},
    {"drm.pc-continuity", "drmemtrace", E(HEAD(7, F), RET(0x1000, 0x3000), NOP(0x3001), TAIL),
     E(HEAD(7, F), RET(0x1000, 0x3000), NOP(0x3000), TAIL)},
    /* another window, a filtered trace, a repeated string instruction (rep movsb) */
    {"drm.pc-continuity", "drmemtrace", E(HEAD(7, F), NOP(0x1000), TIME(1001), NOP(0x2000), TAIL),
     E(HEAD(7, F), NOP(0x1000), M(2, 1001), M(14, 1), M(3, 1), NOP(0x2000),
       X(10, 2, 0xa4f3, 0x2001), {0, 1, 0x7000}, {1, 1, 0x8000}, {29, 2, 0x2001}, {0, 1, 0x7001},
       {1, 1, 0x8001}, TAIL)},
    /* buffers of one window: only another window may begin anywhere */
    {"drm.pc-continuity", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), M(2, 1001), M(14, 0), M(3, 1), NOP(0x2000), TAIL),
     E(HEAD(7, F), NOP(0x1000), M(2, 1001), M(14, 8), M(3, 1), NOP(0x2000), M(2, 1002), M(14, 8),
       M(3, 1), NOP(0x2001), TAIL)},
    /* a system call goes on behind itself, unless an event says where */
    {"drm.pc-continuity", "drmemtrace",
     E(HEAD(7, F), SYS(0x1000), TIME(1001), M(25, 1), TIME(1002), NOP(0x1003), TAIL),
     E(HEAD(7, F), SYS(0x1000), TIME(1001), M(25, 15), M(1, 0x1002), TIME(1002), NOP(0x2000),
       TAIL)},
    {"drm.branch-timestamp", "drmemtrace",
     E(HEAD(7, F), X(11, 2, 0x02eb, 0x1000), TIME(1001), NOP(0x1004), TAIL),
     E(HEAD(7, F), X(11, 2, 0x02eb, 0x1000), NOP(0x1004), TIME(1001), NOP(0x1005), TAIL)},
    {"drm.branch-type", "drmemtrace", E(HEAD(7, F), X(13, 2, 0x0275, 0x1000), NOP(0x1002), TAIL),
     E(HEAD(4, F), X(13, 2, 0x0275, 0x1000), NOP(0x1002), TAIL)},
    {"drm.branch-type", "drmemtrace", E(HEAD(7, F), X(16, 1, 0xc3, 0x1000), {0, 8, 0x7000}, TAIL),
     E(HEAD(4, F), X(16, 1, 0xc3, 0x1000), {0, 8, 0x7000}, NOP(0x1002), TAIL)},
    /* 06 is no instruction in 64-bit mode */
    {"drm.branch-type", "drmemtrace", E(HEAD(7, F), X(11, 2, 0x0606, 0x1000), NOP(0x1004), TAIL),
     E(HEAD(7, F), X(11, 2, 0x02eb, 0x1000), NOP(0x1004), TAIL)},
    {"drm.memory-references", "drmemtrace",
     E(HEAD(7, F), X(10, 3, 0x078b48, 0x1000), NOP(0x1003), TAIL),
     E(HEAD(7, F), X(10, 3, 0x078b48, 0x1000), {0, 8, 0x7000}, NOP(0x1003), TAIL)},
    /* the last instruction too; a write too many; none in data-filtered traces */
    {"drm.memory-references", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), X(10, 3, 0x078b48, 0x1001), TAIL),
     E(HEAD(7, F | 0x100), NOP(0x1000), X(10, 3, 0x078b48, 0x1001), TAIL)},
    {"drm.memory-references", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), {1, 8, 0x7000}, NOP(0x1001), TAIL),
     /* a skipped access makes the number uncertain */
     E(HEAD(7, F), X(10, 3, 0x078b48, 0x1000), M(46, 0x7000), NOP(0x1003), TAIL)},
    /* before version 7 what an event interrupts may be there without its accesses, */
    {"drm.memory-references", "drmemtrace",
     E(HEAD(7, F), NOP(0x1000), LOAD(0x1001), M(0, 0x1001), NOP(0x5000), TAIL),
     E(HEAD(6, F), NOP(0x1000), LOAD(0x1001), M(0, 0x1001), NOP(0x5000), TAIL)},
    /* but not with others; from then on what stands there is complete */
    {"drm.memory-references", "drmemtrace",
     E(HEAD(6, F), NOP(0x1000), {0, 8, 0x7000}, M(0, 0x1001), NOP(0x5000), TAIL),
     E(HEAD(6, F), LOAD(0x1000), {0, 8, 0x7000}, M(0, 0x1003), NOP(0x5000), TAIL)},
    {"drm.memory-references", "drmemtrace",
     E(HEAD(7, F), LOAD(0x1000), M(41, 0x078b48), M(0, 0x1003), NOP(0x5000), TAIL),
     E(HEAD(7, F), LOAD(0x1000), {0, 8, 0x7000}, M(41, 0x078b48), M(0, 0x1003), NOP(0x5000), TAIL)},
    /* inlined kernel code has its own accesses, and the instruction before it no more */
    {"drm.memory-references", "drmemtrace",
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), TRACE(1, 0x1002), {0, 8, 0x7000},
       NOP(0x1002), TAIL),
     E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), M(27, 1), LOAD(K - 3), {0, 8, 0x7000},
       SYSRET(0x1002), M(28, 1), NOP(0x1002), TAIL)},
    {"drm.memory-references", "drmemtrace",
     E(HEAD(7, F), LOAD(0x1000), {0, 8, 0x7000}, M(34, 2), RET(K, K), M(35, 2), {0, 8, 0x7000},
       NOP(0x1003), TAIL),
     E(HEAD(7, F), LOAD(0x1000), {0, 8, 0x7000}, M(34, 2), RET(K, K), M(35, 2), NOP(0x1003), TAIL)},
    /* prefetcht0 [rdi] has a record of its hint, clflush [rdi] of its line */
    {"drm.memory-references", "drmemtrace",
     E(HEAD(7, F), X(10, 3, 0x0f180f, 0x1000), NOP(0x1003), TAIL),
     E(HEAD(7, F), X(10, 3, 0x0f180f, 0x1000), {3, 1, 0x7000}, X(10, 3, 0x3fae0f, 0x1003),
       {20, 64, 0x7000}, NOP(0x1006), TAIL)},
    /* of register dependencies the category tells: 0x800 is a load */
    {"drm.memory-references", "drmemtrace",
     E(BEGIN(7, 0x20200, 100, ALL), X(10, 4, 0x80000, 0x1000), {0, 8, 0x7000}, TAIL),
     E(BEGIN(7, 0x20200, 100, ALL), X(10, 4, 0x800, 0x1000), {0, 8, 0x7000}, TAIL)},
    {"drm.regdeps", "drmemtrace", E(BEGIN(7, 0x20200, 100, 1), X(10, 4, 0x80000, 0x1000), TAIL),
     E(BEGIN(7, 0x20200, 100, ALL), X(10, 4, 0x80000, 0x1000), TAIL)},
    {"drm.regdeps", "drmemtrace", E(BEGIN(7, 0x20240, 100, ALL), X(10, 4, 0x80000, 0x1000), TAIL),
     E(BEGIN(7, 0x20200, 100, ALL), X(10, 4, 0x80000, 0x1000), TAIL)},
    /* one register: four bytes, the size of the operation, the register, padded */
    {"drm.regdeps", "drmemtrace", E(BEGIN(7, 0x20200, 100, ALL), X(10, 4, 0x80001, 0x1000), TAIL),
     E(BEGIN(7, 0x20200, 100, ALL), X(10, 8, 0x000003040080001, 0x1000), TAIL)},
    {"drm.regdeps", "drmemtrace",
     E(BEGIN(7, 0x20600, 100, ALL), X(10, 4, 0x80000, 0x1000), M(2, 1001), M(3, ALL), M(25, 1),
       TAIL),
     E(BEGIN(7, 0x20600, 100, ALL), X(10, 4, 0x80000, 0x1000), M(4, 0x1000000ca), M(6, 1), TAIL)},
};

static void test_rules(void **state)
{
    struct check_pair all[200];
    size_t n = 0;

    (void)state;
    memcpy(all + n, stream, sizeof stream);
    n += sizeof stream / sizeof *stream;
    memcpy(all + n, syscalls, sizeof syscalls);
    n += sizeof syscalls / sizeof *syscalls;
    memcpy(all + n, flow, sizeof flow);
    n += sizeof flow / sizeof *flow;
    assert_true(n <= sizeof all / sizeof *all);
    assert_int_equal(check_pairs(all, n, "drm."), 0);
    assert_int_equal(check_pairs(stream, 1, "read."), 0);
}

/* One place may break several rules, or one of them in several ways: each is a finding. */
static const struct {
    struct check_data bad;
    uint64_t total;
    const char *rules[2];
} several[] = {
    /* no target (rule 50 of section 19), and not that of what comes (48) */
    {E(HEAD(7, F), X(16, 1, 0xc3, 0x1000), {0, 8, 0x7000}, NOP(0x1002), TAIL),
     2,
     {"drm.branch-type 1 (", "drm.pc-continuity 1 ("}},
    /* the second trace of a call (30), which others stand before (28) */
    {E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), TRACE(1, 0x1002), TRACE(1, 0x1002),
       NOP(0x1002), TAIL),
     2,
     {"drm.kernel-place 2 ("}},
    /* a wrong number (27), and a time before it (28) */
    {E(HEAD(7, FK), SYS(0x1000), TIME(1001), M(25, 1), TIME(1002), TRACE(2, 0x1002), NOP(0x1002),
       TAIL),
     2,
     {"drm.kernel-nesting 1 (", "drm.kernel-place 1 ("}},
    /* neither the instruction (29) nor the marker (28) of a call */
    {E(HEAD(7, FK), NOP(0x1000), TRACE(1, 0x1001), NOP(0x1001), TAIL), 2, {"drm.kernel-place 2 ("}},
    /* the marker is missing before the next instruction too (22) */
    {E(HEAD(7, FK), SYS(0x1000), TRACE(1, 0x1002), NOP(0x1002), TAIL),
     2,
     {"drm.kernel-place 1 (", "drm.syscall-marker 1 ("}},
};

static void test_several(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        struct trod_buf trace = check_bytes(&several[i].bad);
        void *st = check_state();
        const struct check_counts got = check_memory(st, "drmemtrace", trace.p, trace.n, 0);
        bool same = got.total == several[i].total && got.problems == 0;

        for (unsigned k = 0; k < 2 && several[i].rules[k]; k++)
            same = same && strstr(got.text, several[i].rules[k]);
        if (!same)
            fail_msg("case %zu: '%s'", i, got.text);
        check_release(st);
        trod_buf_fini(&trace);
    }
}

static void put(struct trod_buf *out, unsigned type, unsigned size, uint64_t addr)
{
    drm_put(out, 12, type, size, addr);
}

static bool encodings; /* they come with the instructions */

static void instruction(struct trod_buf *out, unsigned type, unsigned size, uint64_t code,
                        uint64_t pc)
{
    if (encodings)
        put(out, 47, size, code);
    put(out, type, size, pc);
}

/*
 * Rounds of a loop that calls a function: nops, a load, a call that stores, a load and a return, a
 * jump back; now and then a marker or a fault.
 */
static void program(struct trod_gen *g, struct trod_buf *out)
{
    const unsigned rounds = 1 + (unsigned)gen_below(g, 60);

    for (unsigned i = 0; i < rounds; i++) {
        const bool taken = i + 1 < rounds && !gen_once_in(g, 40);

        encodings = out->n < 4000 || gen_once_in(g, 30);
        for (unsigned pc = 0x3ff0; pc < 0x3ffd; pc++)
            instruction(out, 10, 1, 0x90, pc);
        instruction(out, 10, 3, 0x078b48, 0x3ffd);
        put(out, 0, 8, 0x9000 + 8 * gen_below(g, 100));
        if (gen_once_in(g, 50))
            put(out, 0, 8, 0x9000);
        instruction(out, 14, 5, 0x00000ffbe8, 0x4000);
        put(out, 1, 8, 0x7000);
        if (gen_once_in(g, 9)) {
            put(out, 28, TROD_DRM_FUNC_ID, 7);
            put(out, 28, TROD_DRM_FUNC_RETADDR, gen_once_in(g, 5) ? 0x4004 : 0x4005);
        }
        instruction(out, 10, 1, 0x90, 0x5000);
        put(out, 28, 29, 0x4005); /* where the return leads */
        instruction(out, 16, 1, 0xc3, 0x5001);
        put(out, 0, 8, 0x7000);
        if (gen_once_in(g, 15)) { /* of a call that the trace does not have, mostly */
            put(out, 28, TROD_DRM_FUNC_ID, 8);
            put(out, 28, TROD_DRM_FUNC_RETADDR, 0x6000);
        }
        instruction(out, taken ? 48 : 49, 2, 0xe975, 0x4005);
        if (gen_once_in(g, 12)) {
            put(out, 28, TROD_DRM_TIMESTAMP, 2000 + gen_below(g, 50));
            put(out, 28, TROD_DRM_CPU_ID, gen_below(g, 3));
        }
    }
}

static void test_parts(void **state)
{
    const struct check_pair begin = {"drm.header", "drmemtrace", E(HEAD(7, F), NOP(0x1000)),
                                     E(HEAD(7, F), NOP(0x1000))};
    struct check_pair all[200] = {begin};
    struct check_parts opt = {.pairs = all,
                              .n = 1,
                              .from = "drmemtrace",
                              .bytes = 100000,
                              .filling = 4,
                              .filler = program,
                              .leave_out = {"drm.header"}};

    (void)state;
    assert_int_equal(check_in_parts(&opt, 4), 0);
    memcpy(all + opt.n, stream, sizeof stream);
    opt.n += sizeof stream / sizeof *stream;
    memcpy(all + opt.n, syscalls, sizeof syscalls);
    opt.n += sizeof syscalls / sizeof *syscalls;
    memcpy(all + opt.n, flow, sizeof flow);
    opt.n += sizeof flow / sizeof *flow;
    opt.filling = 3;
    assert_int_equal(check_in_parts(&opt, 10), 0);
}

/* Every rule is of a family that has a program like this one. */
static void test_families(void **state)
{
    static const char *const families[] = {"read.", "tarmac.", "amber.",
                                           "byu.",  "drm.",    "schedule."};

    (void)state;
    for (size_t i = 0; trod_rule_at(i); i++) {
        size_t k = 0;

        while (k < 6 && strncmp(trod_rule_at(i)->id, families[k], strlen(families[k])) != 0)
            k++;
        if (k == 6)
            fail_msg("no test has traces for %s", trod_rule_at(i)->id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
