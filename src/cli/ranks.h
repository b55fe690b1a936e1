/*
 * ranks.h - one run shared out to the processes that mpirun or srun started.
 *
 * Implements docs/scaling.md. The command itself knows nothing of MPI: it loads libtrod-mpi.so.
 */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include "analyse.h"

/* Is this process one of several that a launcher of MPI programs started? How many; 0: it is not.
 */
unsigned cli_ranks(void);

/*
 * As cli_analyse, together with the other ranks: each reads its part of the trace, rank 0 prints
 * the results and all messages; the others say nothing and return CLI_YES. Call it before there are
 * threads.
 */
int cli_ranks_analyse(struct cli *c, const struct cli_analyse *o, const struct cli_planned *plan,
                      size_t n);

/*
 * What this process was told to do cannot be shared out: WHY is said once, by rank 0. Returns
 * CLI_TROUBLE in all ranks.
 */
int cli_ranks_refuse(struct cli *c, const char *why);

#endif
