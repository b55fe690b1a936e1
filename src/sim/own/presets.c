/*
 * presets.c - hierarchies of real machines, as their makers publish them.
 *
 * Implements own/config.h, trod_own_preset. Policies are not published and are LRU here;
 * prefetchers are left out.
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
    {"cortex-a53", "Arm Cortex-A53, 4 cores: L1 32K+32K, L2 1M shared",
     "cores 4\ncoherence on\ncache L1I code size=32K ways=2\ncache L1D data size=32K ways=4\n"
     "cache L2 shared size=1M ways=16\n"},
    {"cortex-a72", "Arm Cortex-A72, 4 cores: L1 48K+32K, L2 1M shared",
     "cores 4\ncoherence on\ncache L1I code size=48K ways=3\ncache L1D data size=32K ways=2\n"
     "cache L2 shared size=1M ways=16\n"},
    {"neoverse-n1", "Arm Neoverse N1, a core: L1 64K+64K, L2 1M",
     "cache L1I code size=64K ways=4\ncache L1D data size=64K ways=4\n"
     "cache L2 size=1M ways=8\n"},
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
