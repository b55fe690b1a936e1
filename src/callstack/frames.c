/*
 * frames.c - activations: entering, leaving, telling the sink.
 */
#include "callstack/callstack_int.h"
#include "core/grow.h"

static unsigned stick_of(uint64_t ra)
{
    return (unsigned)(ra * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

/* One frame more, or one fewer, that returns to RA. A count that was full once stays so. */
static void stick(struct cs_context *x, uint64_t ra, bool more)
{
    uint16_t *n = &x->returns[stick_of(ra)];

    if (*n != UINT16_MAX)
        *n = (uint16_t)(more ? *n + 1 : *n - 1);
}

/* Whether one of its frames may return to RA: false is certain. */
bool cs_may_return(const struct cs_context *x, uint64_t ra)
{
    return x->returns[stick_of(ra)] != 0;
}

int cs_context_new(struct cs_lane *l)
{
    struct cs_context **p, *x;

    p = realloc(l->context, (l->n_contexts + 1) * sizeof(struct cs_context *));
    if (!p)
        return TROD_ERR_NOMEM;
    l->context = p;
    x = calloc(1, sizeof *x);
    if (!x)
        return TROD_ERR_NOMEM;
    l->context[l->n_contexts++] = x;
    return TROD_OK;
}

void cs_context_free(struct cs_context *x)
{
    free(x->frame);
    free(x->saved);
    free(x);
}

/* Rows up to TO of the batch belong to the innermost frame of L. */
int cs_tell(struct trod_callstack *c, struct cs_lane *l, uint32_t to)
{
    const uint32_t from = c->told;

    c->told = to;
    if (from >= to || !c->sink.rows)
        return TROD_OK;
    return c->sink.rows(c->sink.ctx, c->batch, from, to, l ? cs_top(l) : NULL);
}

/* The function that PC lies in, or that is entered there; CS_NO_INDEX: no memory. */
static uint32_t function_at(struct trod_callstack *c, struct cs_lane *l, uint64_t pc)
{
    const uint32_t at = cs_function(&l->known, c->symbols, pc);
    const struct cs_function *f = at == CS_NO_INDEX ? NULL : &l->known.function[at];

    return f && f->hi && f->lo != pc ? cs_function(&l->known, c->symbols, f->lo) : at;
}

int cs_push(struct trod_callstack *c, struct cs_lane *l, const struct cs_push *p)
{
    struct cs_context *x = cs_now(l);
    const uint32_t function = function_at(c, l, p->entry.pc);
    struct cs_function *f;
    struct trod_frame *frame;
    uint64_t sp = 0;
    uint32_t bank = CS_NO_INDEX;
    bool has_sp;
    int rc;

    if (function == CS_NO_INDEX || !trod_grow(&x->frame, x->n, &x->cap, sizeof *x->frame, 32))
        return TROD_ERR_NOMEM;
    if (c->told < c->at && (rc = cs_tell(c, l, c->at)) < 0)
        return rc;
    has_sp = cs_sp(l, &sp, &bank);
    f = &l->known.function[function];
    if ((p->kind == TROD_FRAME_CALL || p->kind == TROD_FRAME_MANUAL) &&
        (rc = cs_called(&l->known, c->symbols, function)) < 0)
        return rc;
    if (p->has_ra)
        stick(x, p->ra, true);
    x->exceptions += p->kind == TROD_FRAME_EXCEPTION;
    frame = &x->frame[x->n];
    frame->stream = l->stream; /* one by one: compilers clear large structs slowly */
    frame->file = l->file;
    frame->context = l->now;
    frame->depth = x->n;
    frame->kind = p->kind;
    frame->sure = p->sure;
    frame->under = p->under;
    frame->has_ra = p->has_ra;
    frame->has_sp = has_sp;
    frame->again = f->open++;
    frame->entry = p->entry;
    frame->site = p->site ? *p->site : (struct trod_moment){.pc = TROD_NOWHERE};
    frame->function = f->pc;
    frame->ra = p->ra;
    frame->sp = sp;
    frame->user = 0;
    frame->own[OWN_FUNCTION] = function;
    frame->own[OWN_BANK] = bank;
    /* its place was put there before */
    frame->own[OWN_SAVED] = p->kind == TROD_FRAME_EXCEPTION ? x->n_saved - 1 : 0;
    frame->own[OWN_LANE] = l->slot;
    x->n++;
    c->counts.entered[p->kind]++;
    return c->sink.enter ? c->sink.enter(c->sink.ctx, frame) : TROD_OK;
}

int cs_pop(struct trod_callstack *c, struct cs_lane *l, unsigned how, unsigned sure,
           const struct trod_moment *last, const struct trod_moment *next)
{
    struct cs_context *x = cs_now(l);
    struct trod_frame *f = &x->frame[x->n - 1];
    const struct trod_frame_left end = {
        .how = (uint8_t)how, .sure = (uint8_t)sure, .last = *last, .next = *next};
    int rc = c->told < c->at ? cs_tell(c, l, c->at) : TROD_OK;

    if (rc == TROD_OK && c->sink.leave)
        rc = c->sink.leave(c->sink.ctx, f, &end);
    l->known.function[f->own[OWN_FUNCTION]].open--;
    if (f->has_ra)
        stick(x, f->ra, false);
    if (f->kind == TROD_FRAME_EXCEPTION) {
        x->exceptions--;
        x->n_saved = (uint32_t)f->own[OWN_SAVED];
    }
    c->counts.left[how]++;
    x->n--;
    return rc;
}

int cs_pop_to(struct trod_callstack *c, struct cs_lane *l, uint32_t n, unsigned how, unsigned sure,
              const struct trod_moment *last, const struct trod_moment *next)
{
    int rc = TROD_OK;

    while (rc == TROD_OK && cs_now(l)->n > n)
        rc = cs_pop(c, l, how, sure, last, next);
    cs_now(l)->over = 0;
    return rc;
}
