/*
 * calls.c - calls of allocation functions, as markers have them, to blocks.
 *
 * A call is FUNC_ID, FUNC_RETADDR and FUNC_ARG, its return FUNC_ID and FUNC_RETVAL (enum
 * trod_drm_marker). Of allocation functions inside each other the outer one says who asked: it
 * returns last. What is freed is gone as soon as the call says it.
 */
#include "sim/whose/whose_int.h"
#include "trod/drmemtrace.h"
#include "trod/meta.h"

#include <string.h>

static enum trod_alloc kind_of(const struct trod_meta *m, uint64_t id)
{
    for (uint32_t i = 0; i < m->n_functions; i++)
        if (m->functions[i].id == id && m->functions[i].name)
            return trod_alloc_of(m->functions[i].name);
    return TROD_ALLOC_OTHER;
}

/* The block that begins at AT is given back. */
static void give_back(struct trod_whose *w, struct trod_areas *s, uint64_t at)
{
    uint64_t from = 0, to = UINT64_MAX;
    const uint32_t i = trod_areas_find(s, at, &from, &to);

    if (!i || s->at[i].from != at)
        return;
    w->change++;
    if (!trod_areas_cut(s, from, to))
        w->failed = true;
}

static void call(struct whose_lane *l, uint64_t returns)
{
    l->arguments = l->kind != TROD_ALLOC_OTHER;
    if (!l->arguments)
        return;
    if (l->n_calls == WHOSE_DEPTH) /* the oldest has lost its return */
        memmove(l->call, l->call + 1, --l->n_calls * sizeof *l->call);
    l->call[l->n_calls++] = (struct whose_call){.id = l->id, .returns = returns, .kind = l->kind};
}

static void argument(struct trod_whose *w, struct whose_lane *l, uint64_t value)
{
    struct whose_call *c;

    if (!l->arguments)
        return;
    c = &l->call[l->n_calls - 1];
    if (c->n_args == WHOSE_ARGS)
        return;
    c->arg[c->n_args++] = value;
    if (c->kind == TROD_ALLOC_FREE && c->n_args == 1) {
        give_back(w, &w->space[l->space]->heap, value);
        l->n_calls--; /* its return says nothing more */
        l->arguments = false;
    }
}

/* SIZE bytes at AT were given to the call C. */
static void receive(struct trod_whose *w, struct whose_space *p, const struct whose_call *c,
                    uint64_t at, uint64_t size)
{
    const bool mapped = c->kind == TROD_ALLOC_MMAP, each = w->by == TROD_WHOSE_BLOCK;
    const enum whose_kind kind =
        mapped ? (each ? WHOSE_MAPPED : WHOSE_MAPPING) : (each ? WHOSE_BLOCK : WHOSE_HEAP);
    const uint64_t key = w->by == TROD_WHOSE_REGION ? 0 : each ? w->n_owners : c->returns;
    const uint32_t owner = whose_owner(w, kind, key);
    struct trod_areas *s = mapped ? &p->maps : &p->heap;

    if (!owner)
        return;
    size = size ? size : 1;
    size = size > UINT64_MAX - at ? UINT64_MAX - at : size;
    w->owner[owner].caller = c->returns;
    if (each) {
        w->owner[owner].at = at;
        w->owner[owner].size = size;
    }
    w->change++;
    if (!trod_areas_put(s, at, at + size, owner))
        w->failed = true;
}

static void give_result(struct trod_whose *w, struct whose_lane *l, uint64_t value)
{
    struct whose_space *p = w->space[l->space];
    uint32_t at = l->n_calls;
    const struct whose_call *c;
    enum trod_alloc kind;

    while (at && l->call[at - 1].id != l->id)
        at--;
    if (at == 0)
        return;
    l->n_calls = at - 1; /* calls inside that have not returned never will */
    l->arguments = false;
    c = &l->call[at - 1];
    kind = (enum trod_alloc)c->kind;
    if (c->n_args == 0 || trod_alloc_fails(kind, c->arg, c->n_args, value))
        return;
    if (kind == TROD_ALLOC_OUT) /* the address is that of what it called for it */
        value = c->n_args > 2 && c->arg[1] && c->inner % c->arg[1] == 0 ? c->inner : 0;
    if (kind == TROD_ALLOC_MUNMAP) {
        w->change++;
        if (!trod_areas_cut(&p->maps, c->arg[0],
                            c->arg[1] > UINT64_MAX - c->arg[0] ? UINT64_MAX
                                                               : c->arg[0] + c->arg[1]))
            w->failed = true;
        return;
    }
    if (kind == TROD_ALLOC_REALLOC && c->arg[0])
        give_back(w, &p->heap, c->arg[0]);
    if (!value)
        return;
    receive(w, p, c, value, trod_alloc_size(kind, c->arg, c->n_args));
    if (l->n_calls && kind != TROD_ALLOC_MMAP)
        l->call[l->n_calls - 1].inner = value;
}

void whose_marker(struct trod_whose *w, struct whose_lane *l, const struct trod_batch *b,
                  uint32_t row)
{
    const uint64_t value = b->value[row];
    const uint64_t base = TROD_DRM_SYSCALL_BASE(b->meta->addr_bits);

    switch (b->sub[row]) {
    case TROD_DRM_FUNC_ID:
        l->id = value;
        l->kind = (uint8_t)(value >= base ? TROD_ALLOC_OTHER : kind_of(b->meta, value));
        l->arguments = false;
        l->grouped = true;
        break;
    case TROD_DRM_FUNC_RETADDR:
        if (l->grouped)
            call(l, value);
        break;
    case TROD_DRM_FUNC_ARG:
        argument(w, l, value);
        break;
    case TROD_DRM_FUNC_RETVAL:
        if (l->grouped && l->kind != TROD_ALLOC_OTHER)
            give_result(w, l, value);
        break;
    default:
        break;
    }
}
