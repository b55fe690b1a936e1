/*
 * drm_parts.c - rows of a part of a drmemtrace file (parts.h).
 *
 * Instructions that follow one another and keep every rule, and their data (chk_drm_plain), are
 * summed up as stretches; all other rows - markers, what is behind them, odd instructions - are
 * kept. The state that goes along with them is as good as the part can know it: it says which rows
 * are plain. Whether they are is seen where the state before goes over them.
 */
#include "check/drm.h"

#include "core/grow.h"

/* Traces of these types have hardly a plain row. */
static bool is_plain(const struct drm_file *f)
{
    return f->version >= 5 &&
           !(f->filetype & (TROD_DRM_REGDEPS | TROD_DRM_FILTERED | TROD_DRM_IFILTERED |
                            TROD_DRM_DFILTERED | TROD_DRM_INSTRUCTION_ONLY));
}

void chk_drm_part_begin(struct chk *c, struct drm *d)
{
    struct drm_file *f = d->file;

    c->schedule.wanted = false;
    f->version = c->meta->version;
    f->filetype = f->announced = c->meta->filetype;
    f->isa = chk_drm_isa(f->filetype);
    c->part->lost |= !is_plain(f);
    /* it may begin in an inlined trace, where no row is plain: the end of one says that it does
     * not go on */
    d->in_trace =
        f->filetype & (TROD_DRM_KERNEL_SYSCALLS | TROD_DRM_KERNEL_INSTR_ONLY | TROD_DRM_TEMPLATES);
}

void chk_drm_part_call(struct chk_part *p, unsigned branch, uint64_t back)
{
    const bool call = branch == TROD_BR_CALL || branch == TROD_BR_ICALL;

    if (!call && branch != TROD_BR_RETURN)
        return;
    if (trod_grow(&p->op, p->n_ops, &p->cap_ops, sizeof *p->op, 256))
        p->op[p->n_ops++] = (struct chk_op){back, call};
    else
        p->lost = true;
}

/* The stretch of rows of the stream that is being judged, made if another entry came last. */
static struct chk_stretch *stretch_of(struct chk *c, size_t first_op)
{
    struct chk_part *p = c->part;
    const struct chk_entry *e = p->n_entries ? &p->entry[p->n_entries - 1] : NULL;

    if (e && e->stretch && e->stream == c->stream)
        return &p->stretch[e->from];
    if (!trod_grow(&p->entry, p->n_entries, &p->cap_entries, sizeof *p->entry, 64) ||
        !trod_grow(&p->stretch, p->n_stretches, &p->cap_stretches, sizeof *p->stretch, 64))
        return NULL;
    p->entry[p->n_entries++] =
        (struct chk_entry){.stream = c->stream, .stretch = true, .from = (uint32_t)p->n_stretches};
    p->stretch[p->n_stretches] = (struct chk_stretch){.op = first_op, .isa = c->isa};
    return &p->stretch[p->n_stretches++];
}

/* Plain rows from FROM on. Returns the first that is not, or TO. */
static uint32_t plain(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t from,
                      uint32_t to)
{
    const uint64_t instructions = d->instructions;
    const size_t op = c->part->n_ops;
    const uint32_t end = chk_drm_plain(c, d, b, from, to);
    struct chk_stretch *s = end > from ? stretch_of(c, op) : NULL;

    if (s) {
        s->instructions += d->instructions - instructions;
        s->last = b->first + end - 1 - c->base;
        s->prev = d->prev;
        s->reads = d->reads;
        s->writes = d->writes;
        s->n_ops = c->part->n_ops - s->op;
    }
    c->part->lost |= end > from && !s;
    return end;
}

int chk_drm_part_rows(struct chk *c, struct drm *d, const struct trod_batch *b, uint32_t from,
                      uint32_t to)
{
    uint32_t i = from;
    int rc = TROD_OK;

    if (c->switched) { /* which is judged at the first row */
        rc = chk_part_keep(c, b, i, i + 1);
        chk_drm_judge(c, d, b, i, i + 1);
        i++;
    }
    while (i < to && rc == TROD_OK) {
        if (d->plain && (i = plain(c, d, b, i, to)) == to)
            break;
        rc = chk_part_keep(c, b, i, i + 1);
        chk_drm_row(c, d, b, i++);
    }
    return rc;
}

bool chk_drm_part_go_on(struct chk *c, void *st, const struct chk_part *p, uint32_t i)
{
    const struct chk_stretch *s = &p->stretch[i];
    struct drm *d = st;

    d->file = chk_file(c);
    if (!d->plain || d->file->isa != s->isa)
        return false;
    for (const struct chk_op *op = &p->op[s->op], *end = op + s->n_ops; op < end; op++) {
        if (op->call)
            chk_drm_call(d, op->back);
        else if (d->n_calls)
            d->n_calls--;
    }
    d->instructions += s->instructions;
    d->file->instructions += s->instructions;
    d->prev = s->prev;
    d->reads = s->reads;
    d->writes = s->writes;
    c->streams[c->stream].last = c->rows + s->last;
    return true;
}
