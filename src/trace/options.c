/*
 * options.c - is a trace asked for that there can be? Implements options.h.
 */
#include "trace/options.h"

#include "core/sized.h"
#include "trod/format.h"

int trod_trace_check_options(const struct trod_trace_options *o, struct trod_diag *diag)
{
    struct trod_beside_options beside;

    if (o->batch_rows > TROD_BATCH_ROWS)
        return trod_error(diag, TROD_ERR_USAGE, "trace.batch-rows", NULL,
                          "%u rows a batch are too many: %d at the most", (unsigned)o->batch_rows,
                          TROD_BATCH_ROWS);
    if (o->cores > TROD_MOST_CORES)
        return trod_error(diag, TROD_ERR_USAGE, "trace.cores", NULL,
                          "%u cores are too many: %d at the most", (unsigned)o->cores,
                          TROD_MOST_CORES);
    if (!trod_sized(&beside, sizeof beside, sizeof beside, &o->beside))
        return trod_error(diag, TROD_ERR_USAGE, "trace.options", NULL,
                          "options (beside) are of another version");
    return TROD_OK;
}

uint32_t trod_trace_least_rows(void)
{
    uint32_t least = 1;

    for (size_t i = 0; trod_format_at(i); i++)
        if (trod_format_at(i)->record_rows > least)
            least = trod_format_at(i)->record_rows;
    return least;
}
