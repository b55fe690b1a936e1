/*
 * heap.c - calls of allocation functions paired into lives of blocks (functions.h).
 *
 * Which functions allocate is known by their names (alloc.h). An allocation function inside another
 * (operator new, and malloc in it) gives the same block once: the outer one has asked for it. What
 * allocation functions themselves do to a freed block is no access after free. Mappings are kept
 * apart: heaps lie in them.
 */
#include "analysis/functions/functions.h"

#include "core/grow.h"

#include <stdlib.h>

static uint64_t size_of(const struct fun_function *f, const struct fun_frame *c)
{
    return trod_alloc_size((enum trod_alloc)f->kind, c->arg, c->n_args);
}

bool fun_fails(const struct fun_function *f, const struct fun_frame *c, uint64_t result)
{
    return trod_alloc_fails((enum trod_alloc)f->kind, c->arg, c->n_args, result);
}

static unsigned power(uint64_t v)
{
    unsigned n = 0;

    for (; v; v >>= 1)
        n++;
    return n;
}

/* The block at AT is given back by T; OWN: the library of the allocator does so by itself. */
static void give_back(struct fun_state *s, struct fun_heap *h, struct fun_thread *t, uint64_t at,
                      bool own)
{
    const uint32_t i = fun_find(h, at);

    if (at == 0)
        return;
    if (i && h->block[i].at == at && !h->block[i].freed) {
        h->frees++;
        t->frees++;
        h->lives[power(s->instructions - h->block[i].born)]++;
        fun_set_freed(h, i);
    } else if (t->freed == at && t->allocators > 1) {
        return; /* free, called by operator delete */
    } else if (own) {
        h->own_frees++;
    } else if (i && h->block[i].at == at) {
        h->double_frees++;
    } else {
        h->unknown_frees++;
    }
    t->freed = at;
    t->freed_at = s->instructions;
}

/* T was given SIZE bytes at AT, by the call C. */
static int receive(struct fun_state *s, struct fun_heap *h, struct fun_thread *t,
                   const struct fun_frame *c, uint64_t at, uint64_t size)
{
    const uint32_t i = fun_find(h, at);
    const bool inner = i && h->block[i].at == at && !h->block[i].freed &&
                       h->block[i].born >= c->began && h->block[i].function != c->function;
    const uint64_t born = inner ? h->block[i].born : s->instructions;
    struct fun_block *b;

    if (inner) { /* malloc, called by operator new: the same block */
        h->sizes[power(h->block[i].size)] -= h->sizes[power(h->block[i].size)] != 0;
        fun_remove(h, i);
    }
    if (!(b = fun_insert(h, at, size)))
        return TROD_ERR_NOMEM;
    b->born = born;
    b->caller = c->returns;
    b->function = c->function;
    h->sizes[power(b->size)]++;
    if (!inner) {
        h->allocations++;
        t->allocations++;
        t->bytes += size;
    }
    if (h->bytes > h->most_bytes) {
        h->most_bytes = h->bytes;
        h->most_at = s->instructions;
    }
    return TROD_OK;
}

/* The parts of blocks in [AT, AT + SIZE) are unmapped: whole ones, the others become smaller. */
static int unmap(struct fun_state *s, struct fun_thread *t, uint64_t at, uint64_t size)
{
    struct fun_heap *h = &s->maps;
    const uint32_t i = fun_find(h, at);

    if (!i || h->block[i].freed)
        return TROD_OK;
    if (h->block[i].at == at && size >= h->block[i].size)
        give_back(s, h, t, at, false);
    else if (h->block[i].at < at) {
        h->bytes -= h->block[i].at + h->block[i].size - at;
        h->block[i].size = at - h->block[i].at;
    }
    return TROD_OK;
}

int fun_heap_call(struct fun_state *s, struct fun_thread *t, const struct fun_frame *c)
{
    /* one inside a call of an allocation function is what the caller of that asked for */
    if (s->function[c->function].kind == TROD_ALLOC_FREE && c->n_args)
        give_back(s, &s->heap, t, c->arg[0], t->allocators == 1 && fun_calls_own(s, c->returns));
    return TROD_OK;
}

int fun_heap_return(struct fun_state *s, struct fun_thread *t, const struct fun_frame *c,
                    uint64_t result)
{
    const struct fun_function *f = &s->function[c->function];
    const bool maps = f->kind == TROD_ALLOC_MMAP || f->kind == TROD_ALLOC_MUNMAP;
    struct fun_heap *h = maps ? &s->maps : &s->heap;

    if (f->kind == TROD_ALLOC_OTHER || f->kind == TROD_ALLOC_FREE || c->n_args == 0)
        return TROD_OK;
    if (fun_fails(f, c, result)) {
        h->failed++;
        return TROD_OK;
    }
    if (f->kind == TROD_ALLOC_MUNMAP)
        return unmap(s, t, c->arg[0], c->arg[1]);
    if (f->kind == TROD_ALLOC_OUT) { /* where it is, the trace does not say */
        h->allocations++;
        t->allocations++;
        t->bytes += size_of(f, c);
        h->sizes[power(size_of(f, c))]++;
        return TROD_OK;
    }
    if (f->kind == TROD_ALLOC_REALLOC && c->arg[0]) {
        const uint32_t i = fun_find(h, c->arg[0]);

        const bool inside = t->freed == c->arg[0] && t->freed_at > c->began; /* it called free */

        h->resized++;
        if (!inside || (i && h->block[i].at == c->arg[0] && !h->block[i].freed))
            give_back(s, h, t, c->arg[0], false);
    }
    return result ? receive(s, h, t, c, result, size_of(f, c)) : TROD_OK;
}

int fun_heap_access(struct fun_state *s, const struct fun_thread *t, uint64_t addr, uint32_t size,
                    uint64_t pc)
{
    struct fun_heap *h = &s->heap;
    uint32_t i = fun_find(h, addr);

    if (!i && size > 1)
        i = fun_find(h, addr + size - 1);
    if (!i || !h->block[i].freed)
        return TROD_OK;
    if (t->allocators || fun_allocates(s, pc)) {
        h->inside++;
        return TROD_OK;
    }
    h->after_free++;
    for (size_t k = 0; k < h->n_accesses; k++)
        if (h->access[k].pc == pc && h->access[k].function == h->block[i].function) {
            h->access[k].n++;
            return TROD_OK;
        }
    if (h->n_accesses == FUN_SITES) {
        h->other_accesses++;
        return TROD_OK;
    }
    if (!trod_grow(&h->access, h->n_accesses, &h->cap_accesses, sizeof *h->access, 16))
        return TROD_ERR_NOMEM;
    h->access[h->n_accesses++] = (struct fun_access){pc, 1, h->block[i].at, h->block[i].function};
    return TROD_OK;
}
