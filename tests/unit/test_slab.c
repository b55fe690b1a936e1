/*
 * test_slab.c - blocks out of huge pages (core/slab.h): blocks do not overlap and keep what is in
 * them, zeroed ones are all zero, and memory that was given back is used again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/rng.h"
#include "core/slab.h"

/* Every byte of a block is the number of its place in the list. */
struct held {
    unsigned char *p;
    size_t bytes;
};

static void check_filled(const struct held *h, unsigned char with)
{
    for (size_t i = 0; i < h->bytes; i++)
        if (h->p[i] != with)
            fail_msg("byte %zu of a block of %zu is %d, not %d", i, h->bytes, h->p[i], with);
}

static void take(struct held *h, size_t bytes, bool zeroed, unsigned char fill)
{
    *h = (struct held){zeroed ? trod_slab_zeroed(bytes) : trod_slab_take(bytes), bytes};
    assert_non_null(h->p);
    assert_int_equal((uintptr_t)h->p % 64, 0);
    if (zeroed)
        check_filled(h, 0);
    memset(h->p, fill, bytes);
}

/* Sizes around those where memory comes from somewhere else, twice each: used memory comes back. */
static void sizes(void **state)
{
    static const size_t sizes[] = {1,       16383,   16384,   16385,   32768,   524288,  1048575,
                                   1048576, 1048577, 2097151, 2097152, 2097153, 5000000, 1 << 23};

    (void)state;
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        struct held h;

        take(&h, sizes[i / 2], true, 0xff);
        trod_slab_give(h.p, h.bytes);
    }
    trod_slab_give(NULL, 1);
    trod_slab_give(NULL, 1 << 16);
    trod_slab_give(NULL, 1 << 22);
    assert_null(trod_slab_take(SIZE_MAX));
    assert_null(trod_slab_zeroed(SIZE_MAX / 2 + 1));
}

/* 100 blocks of any size at any time, mostly small, in any order. */
static void any_order(void **state)
{
    enum { HELD = 100, STEPS = 20000 };
    static struct held held[HELD];
    struct trod_rng rng;

    (void)state;
    trod_rng_seed(&rng, 7);
    for (unsigned step = 0; step < STEPS; step++) {
        const unsigned k = (unsigned)trod_rng_below(&rng, HELD);

        if (held[k].p) {
            if (held[k].bytes < 1 << 17 || step % 16 == 0)
                check_filled(&held[k], (unsigned char)k);
            trod_slab_give(held[k].p, held[k].bytes);
            held[k].p = NULL;
        } else {
            const unsigned log = 10 + (unsigned)trod_rng_below(&rng, step % 8 ? 7 : 12);

            take(&held[k], 1 + (size_t)trod_rng_below(&rng, UINT64_C(1) << log), step % 3 == 0,
                 (unsigned char)k);
        }
    }
    for (unsigned k = 0; k < HELD; k++) {
        if (held[k].p)
            check_filled(&held[k], (unsigned char)k);
        trod_slab_give(held[k].p, held[k].bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(any_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
