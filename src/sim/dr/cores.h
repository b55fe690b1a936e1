/*
 * cores.h - which simulated core a thread runs on.
 *
 * Follows core_for_thread of drcachesim's simulator/simulator.cpp; docs/caches.md, "Who runs
 * where".
 */
#ifndef TROD_SIM_DR_CORES_H
#define TROD_SIM_DR_CORES_H

#include "sim/lineset.h"
#include "sim/ref.h"

enum trod_dr_mode { TROD_DR_BY_SHARD, TROD_DR_BY_THREAD, TROD_DR_BY_CPU };

struct trod_dr_core {
    uint32_t live, ever; /* threads */
    uint64_t *cpu;       /* traced cpus that run on it, in the order they came */
    uint32_t n_cpu;
};

struct trod_dr_cores {
    uint8_t mode;
    uint32_t n;
    struct trod_dr_core *core;
    struct trod_lines thread; /* tid to core */
    struct trod_lines cpu;    /* cpu to core */
    bool failed;              /* no memory */
};

int trod_dr_cores_init(struct trod_dr_cores *c, uint32_t n, uint8_t mode);
void trod_dr_cores_fini(struct trod_dr_cores *c);

/* The core of thread TID, given one if it has none. */
uint32_t trod_dr_cores_of(struct trod_dr_cores *c, uint64_t tid);
/* Thread TID runs on CPU. */
void trod_dr_cores_cpu(struct trod_dr_cores *c, uint64_t tid, uint64_t cpu);
void trod_dr_cores_exit(struct trod_dr_cores *c, uint64_t tid);

#endif
