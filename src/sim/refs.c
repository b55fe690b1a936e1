/*
 * refs.c - rows of a trace to references.
 *
 * Implements refs.h. Rows that say nothing about memory become TROD_OP_OTHER, so that each row of
 * a thread is seen by the models that give threads to cores.
 */
#include "sim/refs.h"

#include "trod/drmemtrace.h"
#include "trod/format.h"
#include "trod/meta.h"

#include <string.h>

enum { CANONICAL_BIT = 47, PREFETCH_CODE = 9, MISC = 3, COPY_BACK, INVALIDATE };

static uint64_t canonical(uint64_t addr)
{
    return (uint64_t)((int64_t)(addr << (63 - CANONICAL_BIT)) >> (63 - CANONICAL_BIT));
}

/* Markers that the simulators know, of traces whose markers have numbers. */
static uint8_t marker(struct trod_refs *s, const struct trod_batch *b, uint32_t row,
                      struct trod_sim_ref *r)
{
    r->value = b->value[row];
    switch (b->sub[row]) {
    case TROD_DRM_CPU_ID:
        return (int32_t)(uint32_t)r->value < 0 ? TROD_OP_OTHER : TROD_OP_CPU;
    case TROD_DRM_PAGE_SIZE:
        return TROD_OP_PAGE_SIZE;
    case TROD_DRM_PHYSICAL_ADDRESS:
        s->physical = r->value;
        return TROD_OP_OTHER;
    case TROD_DRM_PHYSICAL_NOT_AVAILABLE:
        r->addr = r->value;
        r->value = TROD_NOWHERE;
        return TROD_OP_MAPPING;
    case TROD_DRM_VIRTUAL_ADDRESS:
        r->addr = r->value;
        r->value = s->physical;
        return TROD_OP_MAPPING;
    default:
        return TROD_OP_OTHER;
    }
}

static uint32_t flags_of(const struct trod_batch *b, uint32_t row)
{
    return b->have & b->has[row] & TROD_COL_FLAGS ? b->flags[row] : 0;
}

static uint8_t prefetch(const struct trod_batch *b, uint32_t row, bool numbered)
{
    if (!(flags_of(b, row) & TROD_F_IFETCH))
        return TROD_OP_PREFETCH;
    return !numbered || b->sub[row] == PREFETCH_CODE ? TROD_OP_PREFETCH_CODE : TROD_OP_PREFETCH;
}

/* Rows of Dinero's traces that are no accesses (docs/formats/dinero.md). */
static uint8_t labelled(const struct trod_refs *s, const struct trod_batch *b, uint32_t row)
{
    static const uint8_t ops[] = {
        [MISC] = TROD_OP_MISC, [COPY_BACK] = TROD_OP_COPY_BACK, [INVALIDATE] = TROD_OP_INVALIDATE};
    const char *format = b->meta->format;

    if (!(s->flags & TROD_REFS_LABELS) || !(b->have & b->has[row] & TROD_COL_SUB) || !format ||
        strncmp(format, "dinero", 6) != 0 || b->sub[row] < MISC || b->sub[row] > INVALIDATE)
        return TROD_OP_OTHER;
    return ops[b->sub[row]];
}

static uint8_t op_of(struct trod_refs *s, const struct trod_batch *b, uint32_t row, bool numbered,
                     struct trod_sim_ref *r)
{
    const uint32_t flags = flags_of(b, row);

    r->cycle = false;
    switch (b->kind[row]) {
    case TROD_INSTR:
        return flags & TROD_F_SYNTHETIC    ? TROD_OP_OTHER
               : flags & TROD_NO_REFERENCE ? TROD_OP_NOTHING
                                           : TROD_OP_FETCH;
    case TROD_BUS:
        r->cycle = true;
        return flags & TROD_F_IFETCH && !(flags & TROD_NO_REFERENCE) ? TROD_OP_FETCH
                                                                     : TROD_OP_OTHER;
    case TROD_READ:
    case TROD_ATOMIC:
        return flags & TROD_NO_REFERENCE ? TROD_OP_OTHER : TROD_OP_READ;
    case TROD_WRITE:
        return flags & TROD_NO_REFERENCE ? TROD_OP_OTHER : TROD_OP_WRITE;
    case TROD_PREFETCH:
        return prefetch(b, row, numbered);
    case TROD_FLUSH:
        return flags_of(b, row) & TROD_F_IFETCH ? TROD_OP_FLUSH_CODE : TROD_OP_FLUSH;
    case TROD_MARKER:
        return numbered && b->have & TROD_COL_SUB ? marker(s, b, row, r) : TROD_OP_OTHER;
    case TROD_THREAD:
        return b->sub[row] ? TROD_OP_EXIT : TROD_OP_OTHER;
    case TROD_NOTE:
    case TROD_CACHE_OP:
        return labelled(s, b, row);
    default:
        return TROD_OP_OTHER;
    }
}

uint32_t trod_ref_physical(const char *format)
{
    const struct trod_format *f = trod_format_find(format, strlen(format));

    return f && !(f->flags & TROD_FMT_PHYSICAL) ? 0 : TROD_COL_PADDR;
}

bool trod_refs_sharded(const struct trod_batch *b)
{
    const struct trod_format *f = b->meta->driver;

    return f && f->flags & TROD_FMT_MARKERS && b->meta->filetype & TROD_DRM_CORE_SHARDED &&
           !(b->have & TROD_COL_CORE);
}

/* Thread and process of STREAM, looked up when it changes. */
static void name_stream(struct trod_refs *s, const struct trod_meta *meta, uint32_t stream)
{
    s->named = stream + 1;
    s->tid = s->pid = stream == TROD_REF_UNSAID ? 0 : stream;
    if (stream < meta->n_streams && meta->streams[stream].tid != TROD_NOWHERE) {
        s->tid = meta->streams[stream].tid;
        s->pid = meta->streams[stream].pid;
    }
}

size_t trod_refs_get(struct trod_refs *s, const struct trod_batch *b, uint32_t from, uint32_t to,
                     struct trod_sim_ref *out)
{
    const bool numbered = b->meta->driver && (b->meta->driver->flags & TROD_FMT_MARKERS);
    const bool sharded = trod_refs_sharded(b);
    const bool has_pc = b->have & TROD_COL_PC, has_size = b->have & TROD_COL_SIZE;
    const struct trod_sim_ref *const begin = out;

    for (uint32_t i = from; i < to; i++) {
        const uint32_t has = b->has[i];
        const uint32_t stream = b->have & has & TROD_COL_STREAM ? b->stream[i] : TROD_REF_UNSAID;
        struct trod_sim_ref *r = out++;

        if (s->named != stream + 1)
            name_stream(s, b->meta, stream);
        r->tid = s->tid;
        r->pid = s->pid;
        if (s->whose)
            r->owner = trod_whose_row(s->whose, b, i);
        r->stream = stream;
        r->shard = b->have & has & TROD_COL_CORE ? b->core[i] : 0;
        if (sharded && stream < b->meta->n_streams)
            r->shard = b->meta->streams[stream].file;
        r->addr = trod_ref_place(b, i, b->have & has);
        r->physical = false;
        r->size = has_size && has & TROD_COL_SIZE ? b->size[i] : 1;
        if (b->kind[i] == TROD_INSTR) {
            r->pc = s->pc = r->addr;
            s->stream = trod_ref_is_placed(b->have & has, TROD_INSTR) ? stream + 1 : 0;
            r->no_pc = s->stream == 0;
        } else if (has_pc && has & TROD_COL_PC) {
            r->pc = b->pc[i];
            r->no_pc = false;
        } else {
            r->no_pc = stream + 1 != s->stream;
            r->pc = r->no_pc ? 0 : s->pc;
        }
        r->op = op_of(s, b, i, numbered, r);
        if (r->cycle) {
            r->pc = r->addr;
            r->no_pc = false;
        }
        if (!(has & TROD_COL_ADDR) && r->op <= TROD_OP_FLUSH_CODE) {
            r->physical = trod_ref_is_placed(b->have & has, b->kind[i]);
            r->op = r->physical ? r->op : TROD_OP_OTHER;
        }
        if (s->flags & TROD_REFS_PHYSICAL && r->op <= TROD_OP_FLUSH_CODE)
            r->value = b->have & has & TROD_COL_PADDR ? b->paddr[i] : TROD_NOWHERE;
        if (s->flags & TROD_REFS_CANONICAL) {
            r->addr = r->physical ? r->addr : canonical(r->addr);
            r->pc = canonical(r->pc);
        }
        if (b->kind[i] == TROD_ATOMIC && r->op == TROD_OP_READ) {
            *out = *r;
            out++->op = TROD_OP_WRITE;
        }
    }
    return (size_t)(out - begin);
}
