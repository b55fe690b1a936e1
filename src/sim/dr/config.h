/*
 * config.h - the options and the configuration file of DynamoRIO's simulators.
 *
 * Follows drcachesim's common/options.cpp and reader/config_reader.cpp.
 */
#ifndef TROD_SIM_DR_CONFIG_H
#define TROD_SIM_DR_CONFIG_H

#include "sim/dr/cache.h"
#include "trod/diag.h"

enum { TROD_DR_NAME = 64, TROD_DR_CACHES = 4096, TROD_DR_CORES = 1024 };

enum trod_dr_tool { TROD_DR_CACHE, TROD_DR_TLB, TROD_DR_MISS_ANALYZER };

/* A cache that is asked for. */
struct trod_dr_spec {
    char name[TROD_DR_NAME], parent[TROD_DR_NAME]; /* "": memory */
    unsigned line;                                 /* of the configuration file */
    uint8_t side;
    int core; /* -1: of no core */
    uint64_t size;
    uint32_t ways;
    bool inclusive, exclusive, prefetches;
    struct trod_repl_options policy;
    char *miss_file;
};

struct trod_dr_tlb_options {
    uint32_t code_entries, code_ways, data_entries, data_ways, l2_entries, l2_ways;
    struct trod_repl_options policy;
};

struct trod_dr_config {
    uint8_t tool;
    uint32_t cores, line_size;
    unsigned cores_line; /* of the configuration file, where it has num_cores */
    unsigned last_line;  /* where its last statement begins; 0: there is none */
    uint64_t skip_refs, warmup_refs, sim_refs, page_size;
    double warmup_fraction;
    bool coherent, cpu_scheduling, physical;
    bool by_thread;          /* -no_core_sharded: threads take cores, in the order of time */
    uint32_t schedule_cores; /* cores that threads are scheduled onto where not by_thread */
    struct trod_dr_spec *spec;
    size_t n_spec, cap_spec;
    struct trod_dr_tlb_options tlb;
    char *config_file, *v2p_file, *miss_file;
    uint64_t miss_count_threshold;
    double miss_fraction, confidence;
};

/* A configuration with the simulator's defaults. */
void trod_dr_config_init(struct trod_dr_config *c);
void trod_dr_config_fini(struct trod_dr_config *c);

/*
 * Options as DynamoRIO's launcher takes them, separated by white space: "-L1I_size 1K -cores 2".
 * Options that name what is read (-indir, -infile, -tool drcachesim) are understood. The hierarchy
 * of the options, unless -config_file names another, which the caller reads
 * (trod_dr_config_read). Returns 0, TROD_ERR_USAGE (reported) or TROD_ERR_NOMEM.
 */
int trod_dr_config_options(struct trod_dr_config *c, const char *text, struct trod_diag *diag);

/*
 * The configuration file of N bytes TEXT, called PATH in messages. Returns 0, TROD_ERR_USAGE or
 * TROD_ERR_NOMEM, reported with path and line.
 */
int trod_dr_config_read(struct trod_dr_config *c, const char *text, size_t n, const char *path,
                        struct trod_diag *diag);

/* A policy by DynamoRIO's name, N bytes at NAME; false: there is none. */
bool trod_dr_policy(struct trod_repl_options *o, const char *name, size_t n);
/* Its name. */
const char *trod_dr_policy_name(const struct trod_repl_options *o);

/* "32K": *VALUE; suffixes K, M, G. false: no number. */
bool trod_dr_size(const char *text, size_t n, uint64_t *value);

#endif
