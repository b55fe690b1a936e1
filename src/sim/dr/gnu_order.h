/*
 * gnu_order.h - the order in which a GNU C++ hash table of integers is walked.
 *
 * DynamoRIO's miss analyzer prints, and chooses among equals, in that order, so that equal results
 * need it. It is that of libstdc++'s unordered_map with std::hash of an integer: a new element goes
 * to the front of its bucket, or, in an empty bucket, to the front of all; when there are more
 * elements than buckets, the number of buckets becomes the next prime of a table and all elements
 * are moved in order.
 */
#ifndef TROD_SIM_DR_GNU_ORDER_H
#define TROD_SIM_DR_GNU_ORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * ORDER[i] = index in KEY of the i-th element of a table into which the N different keys were put
 * one after the other. MOST: number of elements that it held before it was cleared, because it
 * keeps its buckets then; 0: it is new. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_gnu_order(const uint64_t *key, size_t n, size_t most, uint32_t *order);

#endif
