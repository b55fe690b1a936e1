/*
 * fuzz_tarmac.c - Tarmac traces drawn from the grammar: see tarmac_fuzz.h.
 */
#include "tarmac_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_trace("tarmac", data, size);
    return 0;
}
