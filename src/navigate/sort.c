/*
 * sort.c - keys in ascending order, digit by digit. Implements index.h.
 */
#include "navigate/index.h"

#include <string.h>

enum { DIGITS = 6, DIGIT_BITS = 11, DIGIT_MASK = (1 << DIGIT_BITS) - 1 };
_Static_assert(NAV_SORT_COUNTS == DIGITS << DIGIT_BITS && DIGITS * DIGIT_BITS >= 64, "all digits");

/* How often the N of KEY have which digit, of all digits in one pass. */
static void count_digits(const struct nav_sort_key *key, size_t n, uint32_t count[NAV_SORT_COUNTS])
{
    memset(count, 0, NAV_SORT_COUNTS * sizeof *count);
    for (size_t i = 0; i < n; i++) {
        uint64_t k = key[i].key;

        for (unsigned d = 0; d < DIGITS; d++, k >>= DIGIT_BITS)
            count[d << DIGIT_BITS | (k & DIGIT_MASK)]++;
    }
}

/* Digits of the key from the lowest on; those that are the same in all keys are passed over. */
struct nav_sort_key *nav_sort(struct nav_sort_key *from, struct nav_sort_key *to, size_t n,
                              uint32_t count[NAV_SORT_COUNTS])
{
    count_digits(from, n, count);
    for (unsigned d = 0; d < DIGITS; d++, count += 1 << DIGIT_BITS) {
        const unsigned shift = d * DIGIT_BITS;
        struct nav_sort_key *other = from;
        uint32_t at = 0;

        if (n == 0 || count[from[0].key >> shift & DIGIT_MASK] == n)
            continue;
        for (size_t k = 0; k <= DIGIT_MASK; k++) {
            const uint32_t some = count[k];

            count[k] = at;
            at += some;
        }
        for (size_t i = 0; i < n; i++)
            to[count[from[i].key >> shift & DIGIT_MASK]++] = from[i];
        from = to;
        to = other;
    }
    return from;
}
