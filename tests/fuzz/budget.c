/*
 * budget.c - where every fuzz target is entered: a slow unit is a finding.
 *
 * An input may take processor time in proportion to its size, far more than any takes in a build
 * with sanitizers on a loaded machine, and far less than work that grows with the square of it.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int fuzz_input(const uint8_t *data, size_t size);

static const uint64_t base_us = 4000000, byte_us = 50;

static uint64_t microseconds(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint64_t begin = microseconds(), allowed = base_us + byte_us * size;
    const int r = fuzz_input(data, size);
    const uint64_t used = microseconds() - begin;

    if (used > allowed) {
        fprintf(stderr,
                "fuzz: %zu bytes took %" PRIu64 " ms of processor time, allowed are %" PRIu64
                " ms\n",
                size, used / 1000, allowed / 1000);
        abort();
    }
    return r;
}
