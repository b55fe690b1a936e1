/*
 * clock.c - times of a trace as nanoseconds. Implements clock.h.
 */
#include "export/clock.h"

#include "core/times.h"
#include "trod/put.h"

#include <string.h>

bool export_is_time(uint8_t unit)
{
    int power;

    return trod_time_power(unit, &power);
}

uint64_t export_nanoseconds(uint8_t unit, uint64_t t, bool *rounded)
{
    const int power = trod_time_exponent(unit) + (export_is_time(unit) ? 9 : 0);
    const uint64_t to = trod_time_scale(t, power);

    *rounded = power < 0 && trod_time_scale(to, -power) != t;
    return to;
}

void export_report_rounded(struct trod_diag *diag, uint64_t n)
{
    if (n)
        trod_diag_report(diag, TROD_SEV_NOTE, TROD_OK, "export.rounded", NULL,
                         "%llu times are rounded down to whole nanoseconds, which this view counts "
                         "in",
                         (unsigned long long)n);
}

const char *export_decimal(char out[EXPORT_DECIMAL], uint64_t number, int power)
{
    const size_t behind = power < 0 ? (size_t)(2 - power) / 3 * 3 : 0; /* digits, in threes */
    char digits[EXPORT_DECIMAL];
    size_t n = 0, m = 0;

    for (; n <= behind; n++) /* one digit is before the point */
        digits[n] = '0';
    n = (size_t)(trod_put_u64(digits + n, number) - digits);
    for (power += (int)behind; number && power > 0; power--)
        digits[n++] = '0';
    while (m + behind + 1 < n && digits[m] == '0')
        m++;
    memcpy(out, digits + m, n - behind - m);
    m = n - behind - m;
    for (size_t end = n; end > n - behind; end -= 3)
        if (memcmp(digits + end - 3, "000", 3) != 0) {
            out[m++] = '.';
            memcpy(out + m, digits + n - behind, end - (n - behind));
            m += end - (n - behind);
            break;
        }
    out[m] = 0;
    return out;
}
