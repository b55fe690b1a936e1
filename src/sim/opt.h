/*
 * opt.h - the optimal replacement (Belady, "A study of replacement algorithms for a virtual-storage
 * computer", 1966): the line whose next reference is farthest away is replaced. Two passes: from
 * the end, when each reference's line comes next; then the simulation.
 *
 * Memory: 16 bytes a reference. A line is always placed, even where bypassing the cache would be
 * better, as in all other policies here.
 */
#ifndef TROD_SIM_OPT_H
#define TROD_SIM_OPT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The misses of references LINE[0] to LINE[N - 1] (line numbers) in SETS sets of WAYS ways. MISS,
 * if not NULL, has N elements and says of each reference whether it missed. Returns 0 and *MISSES,
 * or TROD_ERR_NOMEM.
 */
int trod_opt_run(const uint64_t *line, size_t n, uint64_t sets, uint32_t ways, uint64_t *misses,
                 uint8_t *miss);

#endif
