/*
 * loop.c - implements loop.h.
 */
#include "sim/branch/loop.h"

#include "sim/branch/branch.h"

enum { TAG = 0x3fff, MOST = 0x3fff, SURE = 3, SHORTEST = 3, AGE = 7 };

static uint16_t tag_of(uint64_t x)
{
    return (uint16_t)(x / TROD_BP_LOOP_SETS & TAG);
}

/* The way of branch X; TROD_BP_LOOP_WAYS: it has none. */
static unsigned way_of(const struct trod_bp_loop *l, uint64_t x)
{
    unsigned way = 0;

    while (way < TROD_BP_LOOP_WAYS && !(l->entry[x % TROD_BP_LOOP_SETS][way].age &&
                                        l->entry[x % TROD_BP_LOOP_SETS][way].tag == tag_of(x)))
        way++;
    return way;
}

bool trod_bp_loop_predict(const struct trod_bp_loop *l, uint64_t x, bool *taken)
{
    const unsigned way = way_of(l, x), set = x % TROD_BP_LOOP_SETS;

    if (way == TROD_BP_LOOP_WAYS || l->entry[set][way].confidence < SURE)
        return false;
    *taken = l->entry[set][way].now + 1 == l->entry[set][way].past ? !l->entry[set][way].body
                                                                   : l->entry[set][way].body;
    return true;
}

/* A mispredicted branch may be the end of a loop: it gets an entry, if one may be replaced. */
static void allocate(struct trod_bp_loop *l, uint64_t x, bool taken)
{
    const unsigned set = x % TROD_BP_LOOP_SETS;

    for (unsigned way = 0; way < TROD_BP_LOOP_WAYS; way++)
        if (l->entry[set][way].age == 0) {
            l->entry[set][way].tag = tag_of(x);
            l->entry[set][way].past = l->entry[set][way].now = 0;
            l->entry[set][way].confidence = 0;
            l->entry[set][way].age = AGE;
            l->entry[set][way].body = !taken;
            return;
        }
    for (unsigned way = 0; way < TROD_BP_LOOP_WAYS; way++)
        l->entry[set][way].age--;
}

void trod_bp_loop_update(struct trod_bp_loop *l, uint64_t x, bool taken, bool predicted)
{
    const unsigned way = way_of(l, x), set = x % TROD_BP_LOOP_SETS;
    bool said;

    if (trod_bp_loop_predict(l, x, &said)) {
        if (said != predicted)
            l->use = trod_bp_step(l->use, said == taken, 63);
        if (said != taken) {
            l->entry[set][way].age = 0;
            return;
        }
        if (predicted != taken && l->entry[set][way].age < AGE)
            l->entry[set][way].age++;
    }
    if (way == TROD_BP_LOOP_WAYS) {
        if (predicted != taken)
            allocate(l, x, taken);
        return;
    }
    l->entry[set][way].now++;
    if (l->entry[set][way].now == MOST) { /* too long */
        l->entry[set][way].age = 0;
        return;
    }
    if (taken == l->entry[set][way].body)
        return;
    if (l->entry[set][way].now < SHORTEST) {
        l->entry[set][way].age = 0;
    } else if (l->entry[set][way].now == l->entry[set][way].past) {
        l->entry[set][way].confidence = trod_bp_count(l->entry[set][way].confidence, true, SURE);
    } else {
        l->entry[set][way].past = l->entry[set][way].past ? 0 : l->entry[set][way].now;
        l->entry[set][way].confidence = 0;
    }
    l->entry[set][way].now = 0;
}
