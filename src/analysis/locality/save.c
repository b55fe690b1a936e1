/*
 * save.c - counts of parts as bytes, for other processes (locality.h).
 *
 * A state of all rows or of a stream is one lane; those of --like are the lanes of the files.
 * Options that need all references one by one, in order, cannot be cut into parts and are not
 * saved.
 */
#include "sim/locality/save.h"
#include "analysis/locality/locality.h"
#include "core/pack.h"

static int save_lane(const struct loc_lane *l, struct trod_buf *out)
{
    int rc = l->stack ? trod_stack_save(l->stack, out) : TROD_OK;

    return rc == TROD_OK && l->times ? trod_times_save(l->times, out) : rc;
}

static int load_lane(struct loc_lane *l, struct trod_span *in)
{
    int rc = l->stack ? trod_stack_load(l->stack, in) : TROD_OK;

    return rc == TROD_OK && l->times ? trod_times_load(l->times, in) : rc;
}

int loc_save(const void *st, struct trod_buf *out)
{
    const struct loc_state *s = st;
    int rc;

    if (!loc_parts(s->opt))
        return trod_error(s->context.diag, TROD_ERR_UNSUPPORTED, "locality.save", NULL,
                          "what --shared, --sample, --memory, --window, --ways, --touched, "
                          "--strides, --per and --limit-lines find is not made of parts and cannot "
                          "be saved");
    if (!s->opt->like)
        return save_lane(&s->own, out);
    rc = trod_pack(out, s->n_files);
    for (size_t i = 0; rc == TROD_OK && i < s->n_files; i++) {
        rc = trod_pack(out, s->file[i]->file);
        if (rc == TROD_OK)
            rc = trod_pack(out, s->file[i]->tid);
        if (rc == TROD_OK)
            rc = save_lane(s->file[i], out);
    }
    return rc;
}

int loc_load(void *st, struct trod_span in, const uint32_t *sites)
{
    struct loc_state *s = st;
    uint64_t n = 1, file, tid;
    int rc = TROD_OK;

    (void)sites;
    if (!loc_parts(s->opt))
        return TROD_ERR_CORRUPT;
    if (!s->opt->like)
        rc = load_lane(&s->own, &in);
    else
        rc = trod_unpack(&in, &n);
    for (uint64_t i = 0; rc == TROD_OK && s->opt->like && i < n; i++) {
        struct loc_lane *l;

        if (trod_unpack(&in, &file) < 0 || trod_unpack(&in, &tid) < 0 || file > UINT32_MAX)
            return TROD_ERR_CORRUPT;
        l = loc_lane_of_file(s, (uint32_t)file, tid);
        if (!l)
            return TROD_ERR_NOMEM;
        if (loc_lane_refs(l, LOC_ALL))
            return TROD_ERR_CORRUPT; /* a file is there once */
        rc = load_lane(l, &in);
    }
    if (rc == TROD_OK && in.n)
        rc = TROD_ERR_CORRUPT;
    return rc;
}
