/*
 * gnu_order.h - the order in which a GNU C++ hash table of whole numbers is walked.
 *
 * DynamoRIO's miss analyzer prints, and chooses among equals, in that order; so it has to be known
 * for equal results. What libstdc++'s unordered_map does with std::hash of an integer: a new
 * element goes to the front of its bucket, or, in an empty bucket, to the front of all; when there
 * are more elements than buckets, the next prime of a table is taken and all elements are moved in
 * order.
 */
#ifndef TROD_SIM_DR_GNU_ORDER_H
#define TROD_SIM_DR_GNU_ORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * ORDER[i] = index in KEY of the i-th element of a table that the N different keys were put into
 * one after the other. MOST: so many elements were in it before it was cleared, which leaves it its
 * buckets; 0: it is new. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_gnu_order(const uint64_t *key, size_t n, size_t most, uint32_t *order);

#endif
