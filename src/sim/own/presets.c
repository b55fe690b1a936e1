/*
 * presets.c - hierarchies of real machines.
 *
 * Implements own/config.h, trod_own_preset. Replacement is LRU where its maker does not say which
 * it is; prefetchers are left out. Of docs/caches.md, "Machines that are known by name", which says
 * what was read there:
 *   i7-6700      what a processor of that kind says itself (CPUID leaf 4); L3 of 4 cores
 *   zen2         the same (CPUID leaf 8000001D): a complex of 4 cores; AMD, Software Optimization
 *                Guide for AMD Family 17h Models 30h and Greater Processors (56305)
 *   cortex-a53   Arm Cortex-A53 MPCore Processor Technical Reference Manual (DDI 0500), 2.1, 6.7,
 *                7.6: first levels pseudo-random; sizes are of those that it offers; data come to
 *                L2 when they are evicted, code when it is fetched; caches for code are not kept
 *                coherent
 *   cortex-a72   Arm Cortex-A72 MPCore Processor Technical Reference Manual (100095), 6.1 and 7.1:
 *                L2 (1 MiB of 512 KiB to 4 MiB) is inclusive of the data caches, and knows of no
 *                others
 *   neoverse-n1  Arm Neoverse N1 Core Technical Reference Manual (100616), 7.1 and 8.1: L2 (1024
 *                KiB of 256 to 1024) is strictly inclusive of the data cache, and of that for
 *                code where it is kept coherent
 */
#include "sim/own/config.h"

#include <string.h>

static const struct {
    const char *name, *title, *text;
} presets[] = {
    {"default", "L1 32K+32K 8 ways, LL 8M 16 ways",
     "cache L1I code size=32K ways=8\ncache L1D data size=32K ways=8\n"
     "cache LL shared size=8M ways=16\n"},
    {"i7-6700", "Intel Core i7-6700 (Skylake): L1 32K+32K, L2 256K, L3 8M inclusive",
     "cores 4\ncoherence on\ncache L1I code size=32K ways=8\ncache L1D data size=32K ways=8\n"
     "cache L2 size=256K ways=4\ncache L3 shared size=8M ways=16 inclusion=inclusive\n"},
    {"zen2", "AMD Zen 2, a complex of 4 cores: L1 32K+32K, L2 512K inclusive, L3 16M of victims",
     "cores 4\ncoherence on\ncache L1I code size=32K ways=8\ncache L1D data size=32K ways=8\n"
     "cache L2 size=512K ways=8 inclusion=inclusive\n"
     "cache L3 shared size=16M ways=16 inclusion=exclusive\n"},
    {"cortex-a53", "Arm Cortex-A53, 4 cores: L1 32K+32K, L2 1M shared, of evicted data and code",
     "cores 4\ncoherence on\ncache L1I code size=32K ways=2 policy=random coherent=no\n"
     "cache L1D data size=32K ways=4 policy=random seed=1\n"
     "cache L2 shared size=1M ways=16 inclusion=evicted\n"},
    {"cortex-a72", "Arm Cortex-A72, 4 cores: L1 48K+32K, L2 1M shared, inclusive of data",
     "cores 4\ncoherence on\ncache L1I code size=48K ways=3 coherent=no\ncache L1D data size=32K "
     "ways=2\n"
     "cache L2 shared size=1M ways=16 inclusion=data\n"},
    {"neoverse-n1", "Arm Neoverse N1, a core: L1 64K+64K, L2 1M inclusive",
     "cache L1I code size=64K ways=4\ncache L1D data size=64K ways=4\n"
     "cache L2 size=1M ways=8 inclusion=inclusive\n"},
};

const char *trod_own_preset(const char *name)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(presets[i].name, name) == 0)
            return presets[i].text;
    return NULL;
}

const char *trod_own_preset_at(size_t i, const char **title)
{
    if (i >= sizeof presets / sizeof *presets)
        return NULL;
    *title = presets[i].title;
    return presets[i].name;
}
