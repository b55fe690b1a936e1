/*
 * nothing.c - why a region or a warm-up left nothing to count, or nothing to cut.
 *
 * The reason stands in the result; where all counts are zero because of it there is a warning too.
 */
#include "engine/run_int.h"

#include <stdio.h>

static const char *const units[] = {"instructions", "rows", "time"};
static const char *const unit[] = {"instruction", "row", "time"};

/* Does an option of R count instructions, although the rows that were read have none? */
static bool uncounted(const struct trod_run *r, bool wanted, enum trod_measure in)
{
    return wanted && in == TROD_IN_INSTRUCTIONS && r->read.instructions == 0;
}

bool engine_nothing(const struct trod_run *r, char *text, size_t size)
{
    const struct trod_run_options *o = &r->opt;
    const bool region = o->region_from || o->region_to;
    const bool warmup = o->warmup != 0, interval = o->interval != 0;

    *text = '\0';
    if (o->region_from && r->begun && !r->met) { /* an index led there: R counts rows of its own */
        snprintf(text, size, "the trace has no rows in the region (--region)");
        return true;
    }
    if (r->read.rows == 0)
        return false;
    if (uncounted(r, region, o->region_in)) {
        snprintf(text, size,
                 "the trace has no instructions that a region could be counted in: --region "
                 "FROM..TO:rows counts rows");
        return true;
    }
    if (region && !r->met) {
        snprintf(text, size, "none of the rows read is in the region, which begins with %s %llu",
                 unit[o->region_in], (unsigned long long)o->region_from);
        return true;
    }
    if (uncounted(r, warmup, o->warmup_in)) {
        snprintf(text, size,
                 "the trace has no instructions that a warm-up could be counted in: --warmup "
                 "N:rows counts rows");
        return true;
    }
    if (warmup && r->warming) {
        snprintf(text, size,
                 "nothing is counted: what was read ended within the warm-up (--warmup) of %llu %s",
                 (unsigned long long)o->warmup,
                 o->warmup == 1 ? unit[o->warmup_in] : units[o->warmup_in]);
        return true;
    }
    if (uncounted(r, interval, o->interval_in))
        snprintf(text, size,
                 "the trace has no instructions that intervals could be counted in: --interval "
                 "N:rows counts rows");
    return false;
}
