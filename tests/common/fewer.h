/*
 * fewer.h - sizes of tests that take long: TROD_TEST_FEWER=N (set in an emulator by
 * tests/CMakeLists.txt, elsewhere by scripts/check) makes about one of N of what is repeated or
 * drawn. What is checked stays the same.
 */
#ifndef TROD_TEST_FEWER_H
#define TROD_TEST_FEWER_H

#include <stddef.h>
#include <stdlib.h>

/* One of how many: 1 where nothing is said. */
static inline size_t test_step(void)
{
    const char *said = getenv("TROD_TEST_FEWER");
    const int n = said ? atoi(said) : 1;

    return n > 1 ? (size_t)n : 1;
}

/* N, or the part of it that is tried here, which is not less than LEAST (of N at most). */
static inline size_t test_fewer(size_t n, size_t least)
{
    const size_t few = n / test_step();

    return few > least ? few : n < least ? n : least;
}

#endif
