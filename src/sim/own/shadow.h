/*
 * shadow.h - kinds of misses: compulsory, capacity, conflict (Hill and Smith, 1989).
 *
 * Beside a cache there is a fully associative LRU cache of as many lines, and the set of all lines
 * ever seen. A miss of a line never seen is compulsory; one that the fully associative cache has as
 * well is capacity; any other is conflict.
 */
#ifndef TROD_SIM_OWN_SHADOW_H
#define TROD_SIM_OWN_SHADOW_H

#include "sim/store.h"

enum trod_own_class {
    TROD_OWN_COMPULSORY,
    TROD_OWN_CAPACITY,
    TROD_OWN_CONFLICT,
    TROD_OWN_COHERENCE,
    TROD_OWN_CLASSES
};

struct trod_own_shadow {
    struct trod_store full;
    struct trod_lines seen;
    bool failed;
};

int trod_own_shadow_init(struct trod_own_shadow *s, uint64_t lines);
void trod_own_shadow_fini(struct trod_own_shadow *s);

/* A reference to LINE: the kind of miss that it would be. To be called for hits as well. */
enum trod_own_class trod_own_shadow_ref(struct trod_own_shadow *s, uint64_t line);

#endif
