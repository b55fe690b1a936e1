/*
 * wide.h - whether a function may be compiled for AVX2 beside its portable form, and whether this
 * processor has it.
 *
 * The portable form is the definition: a wide one gives the same results, and is taken where
 * TROD_AVX2 is set and trod_wide says so. Compile with TROD_SCALAR to leave all wide forms out.
 * What is TROD_HOT goes into its caller, and so is compiled once for each form.
 */
#ifndef TROD_CORE_WIDE_H
#define TROD_CORE_WIDE_H

#include <stdbool.h>

#if defined(__GNUC__)
#define TROD_HOT static inline __attribute__((always_inline))
#else
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
#else
#define TROD_AVX2 0
#define TROD_WIDE

static inline bool trod_wide(void)
{
    return false;
}
#endif

#endif
