/*
 * fuzz_matcher.c - Trace Matcher traces drawn from the grammar: see tarmac_fuzz.h.
 */
#include "tarmac_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_trace("matcher", data, size);
    return 0;
}
