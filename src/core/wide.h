/*
 * wide.h - whether a function may be compiled for AVX2 or AVX-512 beside its portable form, and
 * whether this processor has it.
 *
 * The portable form is the definition: a wide one gives the same results, and is taken where
 * TROD_AVX2 is set and trod_wide says so (AVX-512: TROD_WIDEST, trod_widest). Compile with
 * TROD_SCALAR to leave all wide forms out. What is TROD_HOT goes into its caller, and so is
 * compiled once for each form; what is TROD_APART stays out of it.
 */
#ifndef TROD_CORE_WIDE_H
#define TROD_CORE_WIDE_H

#include <stdbool.h>

#if defined(__GNUC__)
#define TROD_HOT   static inline __attribute__((always_inline))
#define TROD_APART __attribute__((noinline))
#else
#define TROD_APART
#define TROD_HOT static inline
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(TROD_SCALAR)
#include <immintrin.h>
#define TROD_AVX2 1
#define TROD_WIDE __attribute__((target("avx2,bmi,bmi2,popcnt")))

static inline bool trod_wide(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

#define TROD_WIDEST                                                                                \
    __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi,bmi2,popcnt")))

static inline bool trod_widest(void)
{
    return trod_wide() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#else
#define TROD_AVX2 0
#define TROD_WIDE
#define TROD_WIDEST

static inline bool trod_wide(void)
{
    return false;
}

static inline bool trod_widest(void)
{
    return false;
}
#endif

/* What tests want left out. */
enum trod_without { TROD_WITHOUT_NONE, TROD_WITHOUT_WIDEST, TROD_WITHOUT_WIDE };

static inline bool trod_wide_unless(unsigned without)
{
    return without < TROD_WITHOUT_WIDE && trod_wide();
}

static inline bool trod_widest_unless(unsigned without)
{
    return without < TROD_WITHOUT_WIDEST && trod_widest();
}

#endif
