/*
 * often.h - the numbers that many rows of a block hold (values.h), with how many.
 */
#ifndef NAVIGATE_OFTEN_H
#define NAVIGATE_OFTEN_H

#include "navigate/values.h"

/* NULL: no memory. */
struct nav_often *nav_often_new(void);
void nav_often_free(struct nav_often *o);
/*
 * Those of V's block, which is number BLOCK, that NAV_VALUES_OFTEN rows have or more, to LIST, for
 * each kind of row. Returns 0 or TROD_ERR_NOMEM.
 */
int nav_often_list(struct nav_often *o, const struct nav_values *v, uint32_t block,
                   struct nav_postings *list);

/* Which counter a number of hash H has. */
static inline uint32_t nav_often_counter(uint64_t h)
{
    return (uint32_t)(h >> 50) & (NAV_VALUES_COUNTERS - 1);
}

#endif
