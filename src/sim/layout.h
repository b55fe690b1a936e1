/*
 * layout.h - results as the tools print them that the models are like.
 */
#ifndef TROD_SIM_LAYOUT_H
#define TROD_SIM_LAYOUT_H

#include "sim/cg/sim.h"
#include "sim/din/sim.h"
#include "sim/dr/sim.h"
#include "trod/buf.h"

/* As DynamoRIO's simulators (print_results in their sources). 0 or TROD_ERR_NOMEM. */
int trod_layout_dr(const struct trod_dr_sim *s, struct trod_buf *out);

/* What DynamoRIO's miss analyzer writes to its file. 0 or TROD_ERR_NOMEM. */
int trod_layout_dr_hints(const struct trod_dr_sim *s, struct trod_buf *out);

/* As Dinero IV, from its summary of options on (the banner is left out). The run must have ended.
 */
int trod_layout_din(const struct trod_din_sim *s, struct trod_buf *out);

/* Its tables alone, as -stat-interval prints them. 0 or TROD_ERR_NOMEM. */
int trod_layout_din_stats(const struct trod_din_sim *s, struct trod_buf *out);

/* As Cachegrind or Callgrind, without the process number and the banner. */
int trod_layout_cg(const struct trod_cg_sim *s, struct trod_buf *out);

#endif
