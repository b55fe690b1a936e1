/*
 * nothing.c - why a region or a warm-up left nothing to count, or nothing to cut.
 *
 * The reason stands in the result; where all counts are zero because of it there is a warning too.
 */
#include "engine/run_int.h"

#include <stdio.h>

static const char *const units[] = {"instructions", "rows", "time"};
static const char *const unit[] = {"instruction", "row", "time"};

/*
 * Does OPTION of R, which says WHAT in instructions, have none to count, although rows were read?
 * Then TEXT says so.
 */
static bool uncounted(const struct trod_run *r, enum trod_measure in, const char *what,
                      const char *option, char *text, size_t size)
{
    if (in != TROD_IN_INSTRUCTIONS || r->read.instructions != 0)
        return false;
    snprintf(text, size,
             "the trace has no instructions that %s could be counted in: %s:rows counts rows", what,
             option);
    return true;
}

bool engine_nothing(const struct trod_run *r, char *text, size_t size)
{
    const struct trod_run_options *o = &r->opt;
    const bool region = o->region_from || o->region_to;

    *text = '\0';
    if (o->region_from && r->begun && !r->met) { /* an index led there: R counts rows of its own */
        snprintf(text, size, "the trace has no rows in the region (--region)");
        return true;
    }
    if (r->read.rows == 0)
        return false;
    if (region && uncounted(r, o->region_in, "a region", "--region FROM..TO", text, size))
        return true;
    if (region && !r->met) {
        snprintf(text, size, "none of the rows read is in the region, which begins with %s %llu",
                 unit[o->region_in], (unsigned long long)o->region_from);
        return true;
    }
    if (o->warmup && uncounted(r, o->warmup_in, "a warm-up", "--warmup N", text, size))
        return true;
    if (o->warmup && r->warming) {
        snprintf(text, size,
                 "nothing is counted: what was read ended within the warm-up (--warmup) of %llu %s",
                 (unsigned long long)o->warmup,
                 o->warmup == 1 ? unit[o->warmup_in] : units[o->warmup_in]);
        return true;
    }
    if (o->interval)
        (void)uncounted(r, o->interval_in, "intervals", "--interval N", text, size);
    return false;
}
