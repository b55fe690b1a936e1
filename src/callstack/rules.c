/*
 * rules.c - what a transfer of control does to the stack.
 *
 * Implements docs/navigating.md, "What a call is": call, return, manual call, exception, unwinding,
 * tail call, unmatched return; the first that fits. Contexts (exceptions, tasks): switch.c.
 */
#include "callstack/rules.h"

static bool in_symbol(const struct cs_lane *l, const struct trod_frame *f, uint64_t pc)
{
    const struct cs_function *x = &l->known.function[f->own[OWN_FUNCTION]];

    return x->hi && pc >= x->lo && pc < x->hi;
}

bool cs_in_function(const struct cs_lane *l, const struct trod_frame *f, uint64_t pc)
{
    const struct cs_function *x = &l->known.function[f->own[OWN_FUNCTION]];

    if (x->hi)
        return pc >= x->lo && pc < x->hi;
    return cs_code_of(&l->known, pc) == f->own[OWN_FUNCTION];
}

/* Stack pointer, where it may be compared with that of F. */
static bool comparable(const struct cs_lane *l, const struct trod_frame *f, uint64_t *sp)
{
    uint32_t bank;

    return cs_sp(l, sp, &bank) && f->has_sp && f->own[OWN_BANK] == bank;
}

/* ---- calls */

/* A call from the same place with the same stack: the one that is open there is over. */
static int end_same(struct cs_run *r, const struct trod_moment *site)
{
    const struct cs_context *x = cs_now(r->l);
    uint64_t sp;

    for (uint32_t i = x->n; i-- > 1;) {
        const struct trod_frame *f = &x->frame[i];

        if (!comparable(r->l, f, &sp) || f->sp > sp)
            break;
        if (f->site.pc == site->pc && f->sp == sp)
            return cs_pop_to(r->c, r->l, i, TROD_FRAME_UNWOUND, TROD_SURE_REGISTER, &r->s->last->at,
                             &r->s->now);
    }
    return TROD_OK;
}

static bool deep(struct cs_run *r)
{
    struct cs_context *x = cs_now(r->l);

    if (x->n < TROD_CALLSTACK_DEPTH)
        return false;
    x->over++;
    r->c->counts.too_deep++;
    return true;
}

static int enter(struct cs_run *r, const struct trod_moment *site, uint64_t ra, unsigned kind,
                 unsigned sure)
{
    const struct cs_push p = {.kind = (uint8_t)kind,
                              .sure = (uint8_t)sure,
                              .has_ra = true,
                              .ra = ra,
                              .site = site,
                              .entry = r->s->now};
    int rc = end_same(r, site);

    if (rc < 0 || deep(r))
        return rc;
    rc = cs_returns(&r->l->known, ra, (uint32_t)cs_top(r->l)->own[OWN_FUNCTION]);
    return rc < 0 ? rc : cs_push(r->c, r->l, &p);
}

/* Link register, where it was written after the last instruction and points after it. */
static uint64_t linked(const struct cs_lane *l, uint64_t ra)
{
    const uint64_t lr = cs_plain(l, l->lr);

    return l->lr_at && l->lr_at == l->count && lr - ra + 64 < 128 ? lr : ra;
}

/* ---- returns */

/* The frame of the context that a jump of class CLASS to PC returns from; CS_NO_INDEX: none. */
static uint32_t returning(const struct cs_run *r, enum cs_class class, uint64_t pc)
{
    const struct cs_context *x = cs_now(r->l);
    uint32_t found = CS_NO_INDEX;
    uint64_t sp;

    if (!cs_may_return(x, pc))
        return CS_NO_INDEX;
    for (uint32_t i = x->n; i-- > 0 && x->frame[i].kind != TROD_FRAME_EXCEPTION;) {
        const struct trod_frame *f = &x->frame[i];
        const bool compared = comparable(r->l, f, &sp);

        if (found != CS_NO_INDEX && (!compared || f->sp > sp))
            break;
        if (!f->has_ra || f->ra != pc)
            continue;
        if (compared && f->sp == sp)
            return i;
        if (found == CS_NO_INDEX && (class == CS_RETURN || !compared))
            found = i;
        if (found != CS_NO_INDEX && !compared)
            break;
    }
    return found;
}

/* Frame N returns, and those below it that had jumped to it. */
static int pop_chain(struct cs_run *r, uint32_t n, unsigned sure)
{
    unsigned how = TROD_FRAME_RETURNED;
    int rc = TROD_OK;
    bool tail;

    (void)n;
    do {
        tail = cs_top(r->l)->kind == TROD_FRAME_TAIL;
        rc = cs_pop(r->c, r->l, how, sure, &r->s->last->at, &r->s->now);
        how = TROD_FRAME_TAILED;
    } while (rc == TROD_OK && tail && cs_now(r->l)->n);
    return rc;
}

/* Was F entered where a function symbol is? */
static bool symbol_at(const struct cs_lane *l, const struct trod_frame *f)
{
    return f->entry.pc == f->function && l->known.function[f->own[OWN_FUNCTION]].symbol_entry;
}

/*
 * Frame I returns, with those above it: they were left, or, where the stack says that a call was
 * used as a jump, ended by returning in the place of their caller.
 */
static int return_from(struct cs_run *r, enum cs_class class, uint32_t i)
{
    const struct cs_context *x = cs_now(r->l);
    const unsigned sure = class == CS_RETURN ? TROD_SURE_CLASS : TROD_SURE_REGISTER;
    bool jumped = class == CS_RETURN;
    uint64_t sp;
    int rc;

    for (uint32_t k = i + 1; jumped && k < x->n; k++)
        jumped = x->frame[k].kind == TROD_FRAME_TAIL || !symbol_at(r->l, &x->frame[k]);
    jumped = jumped && comparable(r->l, &x->frame[i], &sp) && sp == x->frame[i].sp;
    if (i + 1 == x->n)
        return pop_chain(r, i, sure);
    if (!jumped) {
        rc = cs_pop_to(r->c, r->l, i + 1, TROD_FRAME_UNWOUND, sure, &r->s->last->at, &r->s->now);
        return rc < 0 ? rc : pop_chain(r, i, sure);
    }
    rc = cs_pop(r->c, r->l, TROD_FRAME_RETURNED, sure, &r->s->last->at, &r->s->now);
    return rc < 0 ? rc
                  : cs_pop_to(r->c, r->l, i, TROD_FRAME_TAILED, sure, &r->s->last->at, &r->s->now);
}

/* ---- manual calls */

static bool manual(const struct cs_run *r, uint64_t ra)
{
    const struct cs_lane *l = r->l;
    const struct trod_frame *top = cs_top(l);
    const uint64_t lr = cs_plain(l, l->lr);

    if (r->site != &r->s->last->at && r->site != &r->s->before->at)
        return false; /* it was interrupted: the handler has restored its link register */
    return l->lr_at > l->transfer_at && l->count - l->lr_at < 8 && lr - ra + 63 < 127 &&
           lr != r->s->now.pc && !(top->has_ra && lr == top->ra);
}

/* ---- unwinding */

/* The function whose code is at PC, though it does not begin there; CS_NO_INDEX. */
static uint32_t inside(struct cs_run *r, uint64_t pc)
{
    struct trod_symbol_range range;

    if (cs_entered_at(&r->l->known, r->c->symbols, pc))
        return CS_NO_INDEX;
    if (r->c->symbols && trod_symbols_function(r->c->symbols, pc, &range))
        return cs_function(&r->l->known, r->c->symbols, range.begin);
    return cs_code_of(&r->l->known, pc);
}

/* The innermost frame but the last that is FUNCTION; CS_NO_INDEX. */
static uint32_t frame_of(const struct cs_run *r, uint32_t function)
{
    const struct cs_context *x = cs_now(r->l);

    if (!r->l->known.function[function].open)
        return CS_NO_INDEX;
    for (uint32_t i = x->n; i-- > 0;)
        if (x->frame[i].own[OWN_FUNCTION] == function)
            return i + 1 == x->n ? CS_NO_INDEX : i;
    return CS_NO_INDEX;
}

/* The frame that a jump to PC goes back to, by the stack pointer. */
static uint32_t back_by_sp(struct cs_run *r, uint64_t pc)
{
    const struct cs_context *x = cs_now(r->l);
    uint64_t sp;
    uint32_t function, found = CS_NO_INDEX;

    if (!comparable(r->l, cs_top(r->l), &sp) || cs_top(r->l)->sp > sp)
        return CS_NO_INDEX;
    function = inside(r, pc);
    if (function == CS_NO_INDEX || frame_of(r, function) == CS_NO_INDEX)
        return CS_NO_INDEX;
    for (uint32_t i = x->n; i-- > 1;) {
        const struct trod_frame *f = &x->frame[i - 1];

        if (!comparable(r->l, &x->frame[i], &sp) || x->frame[i].sp > sp)
            break;
        if (x->frame[i].kind == TROD_FRAME_TAIL || (comparable(r->l, f, &sp) && f->sp < sp))
            continue; /* its stack is released too */
        if (!cs_in_function(r->l, f, pc) || f->entry.pc == pc)
            continue;
        if (x->frame[i].sp == sp) /* as it was when F called */
            return i - 1;
        if (found == CS_NO_INDEX)
            found = i - 1;
    }
    return found;
}

/* The same without it: where an indirect jump leads to is known from before, or by symbol. */
static uint32_t back_by_place(struct cs_run *r, uint64_t pc)
{
    uint32_t function = cs_returns_to(&r->l->known, pc), frame;
    struct trod_symbol_range range;

    if (function != CS_NO_INDEX && (frame = frame_of(r, function)) != CS_NO_INDEX)
        return frame;
    if (!r->c->symbols || !trod_symbols_function(r->c->symbols, pc, &range) || range.begin == pc)
        return CS_NO_INDEX;
    function = cs_function(&r->l->known, r->c->symbols, range.begin);
    return function == CS_NO_INDEX ? CS_NO_INDEX : frame_of(r, function);
}

enum { ARGUMENTS = 256 }; /* bytes that a caller may take from its stack after a call */

/*
 * The frame that a jump to PC, where nothing was executed so far, goes back to: the stack pointer
 * is as it was when this frame called, and all above it has been released (a handler of C++
 * exceptions that is met for the first time).
 */
static uint32_t back_by_release(const struct cs_run *r, uint64_t pc)
{
    const struct cs_context *x = cs_now(r->l);
    const bool pushed = r->l->isa == TROD_ISA_X86_32 || r->l->isa == TROD_ISA_X86_64;
    uint32_t i = x->n;
    uint64_t sp;

    if (!comparable(r->l, cs_top(r->l), &sp) || cs_top(r->l)->sp >= sp ||
        cs_code_of(&r->l->known, pc) != CS_NO_INDEX)
        return CS_NO_INDEX;
    while (i > 1) { /* where return addresses lie on the stack, theirs must be gone too */
        const struct trod_frame *f = &x->frame[i - 1];

        if (f->kind == TROD_FRAME_EXCEPTION || !comparable(r->l, f, &sp) || f->sp > sp ||
            (pushed && f->sp == sp))
            break;
        i--;
    }
    if (i == x->n || x->frame[i].kind == TROD_FRAME_EXCEPTION ||
        sp - x->frame[i].sp > (pushed ? ARGUMENTS : 0))
        return CS_NO_INDEX;
    return i - 1;
}

/*
 * The same without stack pointers: of the functions that were called the next one before PC is open
 * further out, and called from a place near PC. Two frames at least are left by an exception; one
 * would be a coroutine's. Short linkage code leads to functions not called so far.
 */
static uint32_t back_by_nearness(const struct cs_run *r, uint64_t pc)
{
    enum { NEAR = 1 << 12, SHORT = 16 }; /* bytes; instructions */
    const struct cs_context *x = cs_now(r->l);
    const uint32_t function = cs_called_before(&r->l->known, pc);
    const uint32_t frame = function == CS_NO_INDEX ? CS_NO_INDEX : frame_of(r, function);

    if (frame == CS_NO_INDEX || frame + 3 > x->n || pc >= x->frame[frame + 1].site.pc + NEAR ||
        r->s->now.instruction - cs_top(r->l)->entry.instruction <= SHORT)
        return CS_NO_INDEX;
    for (uint32_t i = frame + 1; i < x->n; i++)
        if (x->frame[i].kind == TROD_FRAME_EXCEPTION)
            return CS_NO_INDEX;
    return frame;
}

/* Do neither symbols nor earlier calls say anything about the code at PC? */
static bool is_unknown_code(struct cs_run *r, uint64_t pc)
{
    struct trod_symbol_range range;

    return !cs_entered_at(&r->l->known, r->c->symbols, pc) &&
           !(r->c->symbols && trod_symbols_function(r->c->symbols, pc, &range));
}

/* 1: done; 0: no unwinding; else an error. */
static int unwind(struct cs_run *r, enum cs_class class)
{
    const uint64_t pc = r->s->now.pc;
    struct trod_frame *top = cs_top(r->l);
    uint32_t frame = CS_NO_INDEX;
    unsigned sure = TROD_SURE_REGISTER;
    uint64_t sp;
    int rc;

    if (top->depth == 0)
        return 0;
    if (comparable(r->l, top, &sp)) {
        frame = back_by_sp(r, pc);
        if (frame == CS_NO_INDEX && (class == CS_RETURN || class == CS_INDIRECT) &&
            is_unknown_code(r, pc))
            frame = back_by_release(r, pc);
    } else if (class != CS_JUMP && class != CS_NONE) {
        frame = back_by_place(r, pc);
        if (frame == CS_NO_INDEX && (class == CS_RETURN || class == CS_INDIRECT) &&
            is_unknown_code(r, pc))
            frame = back_by_nearness(r, pc);
        sure = TROD_SURE_GUESS;
    }
    if (frame == CS_NO_INDEX)
        return 0;
    rc = cs_pop_to(r->c, r->l, frame + 1, TROD_FRAME_UNWOUND, sure, &r->s->last->at, &r->s->now);
    return rc < 0 ? rc : 1;
}

/* ---- tail calls */

enum { LONGEST_CHAIN = 256 };

/*
 * A chain of tail calls holds each function once: where one is jumped to again, what it had jumped
 * to is over.
 */
static int shorten(struct cs_run *r, uint64_t function)
{
    const struct cs_context *x = cs_now(r->l);

    for (uint32_t i = x->n, k = 0; i-- > 0 && k < LONGEST_CHAIN; k++) {
        const bool tail = x->frame[i].kind == TROD_FRAME_TAIL;

        if (x->frame[i].own[OWN_FUNCTION] == function || (tail && k + 1 == LONGEST_CHAIN))
            return cs_pop_to(r->c, r->l, tail ? i : i + 1, TROD_FRAME_TAILED, TROD_SURE_CLASS,
                             &r->s->last->at, &r->s->now);
        if (!tail)
            break;
    }
    return TROD_OK;
}

static int tail(struct cs_run *r, uint32_t function)
{
    const struct cs_function *f = &r->l->known.function[function];
    struct cs_push p = {.kind = TROD_FRAME_TAIL,
                        .sure = f->symbol_entry ? TROD_SURE_SYMBOL : TROD_SURE_GUESS,
                        .site = r->site,
                        .entry = r->s->now};
    const struct trod_frame *top;
    int rc = shorten(r, function);

    if (rc < 0 || deep(r))
        return rc;
    top = cs_top(r->l);
    if (top->kind != TROD_FRAME_EXCEPTION) {
        p.has_ra = top->has_ra;
        p.ra = top->ra;
    }
    return cs_push(r->c, r->l, &p);
}

/* Another function than the innermost that is entered at PC; CS_NO_INDEX. */
static uint32_t other_function(struct cs_run *r, uint64_t pc)
{
    const struct trod_frame *top = cs_top(r->l);
    uint32_t f;

    if (in_symbol(r->l, top, pc))
        return CS_NO_INDEX;
    f = cs_entry(&r->l->known, r->c->symbols, pc);
    return f == top->own[OWN_FUNCTION] ? CS_NO_INDEX : f;
}

/* ---- returns that nobody waits for */

/*
 * A handler, frame I, returns to code that nobody called from, which ends it (a signal's). What it
 * had jumped to returns in its place.
 */
static int return_handler(struct cs_run *r, uint32_t i)
{
    int rc;

    if (cs_now(r->l)->n == i + 1)
        return TROD_OK;
    rc = cs_pop(r->c, r->l, TROD_FRAME_RETURNED, TROD_SURE_CLASS, &r->s->last->at, &r->s->now);
    return rc < 0 ? rc
                  : cs_pop_to(r->c, r->l, i + 1, TROD_FRAME_TAILED, TROD_SURE_CLASS,
                              &r->s->last->at, &r->s->now);
}

/* The trace begins inside a function that returns: its caller was there before. */
static int unmatched(struct cs_run *r)
{
    const struct cs_context *x = cs_now(r->l);
    const struct cs_push root = {
        .kind = TROD_FRAME_ROOT, .sure = TROD_SURE_CLASS, .under = true, .entry = r->s->now};
    uint32_t i = x->n - 1;
    int rc;

    while (i > 0 && x->frame[i].kind == TROD_FRAME_TAIL)
        i--;
    if (x->frame[i].kind == TROD_FRAME_EXCEPTION)
        return return_handler(r, i);
    if (i > 0 || x->frame[0].kind != TROD_FRAME_ROOT) {
        r->c->counts.unmatched++;
        return r->c->unmatched ? cs_tell_unmatched(r->c, r->l, &r->s->now) : TROD_OK;
    }
    rc = cs_pop(r->c, r->l, TROD_FRAME_RETURNED, TROD_SURE_CLASS, &r->s->last->at, &r->s->now);
    if (rc == TROD_OK)
        rc = cs_pop_to(r->c, r->l, 0, TROD_FRAME_TAILED, TROD_SURE_CLASS, &r->s->last->at,
                       &r->s->now);
    return rc < 0 ? rc : cs_push(r->c, r->l, &root);
}

/* ---- transfers */

/* Where a call leads: not into the middle of the function that it stands in. */
static bool calls(const struct cs_run *r)
{
    const struct trod_frame *top = cs_top(r->l);
    const uint64_t pc = r->s->now.pc;

    return !in_symbol(r->l, top, pc) || r->l->known.function[top->own[OWN_FUNCTION]].lo == pc;
}

/* A transfer that is no call, return or exception. */
static int jump(struct cs_run *r, enum cs_class class)
{
    uint32_t function;
    int rc = unwind(r, class);

    if (rc != 0)
        return rc < 0 ? rc : TROD_OK;
    function = other_function(r, r->s->now.pc);
    if (function != CS_NO_INDEX)
        return class == CS_NONE ? cs_interrupted(r) : tail(r, function);
    return class == CS_RETURN ? unmatched(r) : TROD_OK;
}

int cs_transfer(struct cs_run *r, enum cs_class class, const struct trod_moment *site, uint64_t ra)
{
    struct cs_context *x = cs_now(r->l);
    const uint64_t pc = r->s->now.pc;
    uint32_t frame;

    r->site = site;
    if (class == CS_ERET)
        return cs_back(r, pc, false);
    if (class == CS_SYSCALL)
        return cs_syscall(r, pc, ra);
    if (x->over && (class == CS_CALL || class == CS_RETURN)) {
        x->over += class == CS_CALL ? 1 : -(uint64_t)1;
        return TROD_OK;
    }
    if (class == CS_CALL && pc != ra && calls(r))
        return enter(r, site, linked(r->l, ra), TROD_FRAME_CALL, TROD_SURE_CLASS);
    if (class == CS_RETURN || class == CS_INDIRECT || class == CS_UNKNOWN) {
        frame = returning(r, class, pc);
        if (frame != CS_NO_INDEX)
            return return_from(r, class, frame);
        if (class == CS_RETURN && cs_handler_returns(r, pc))
            return cs_back(r, pc, false);
    }
    if (class != CS_CALL && manual(r, ra) && calls(r))
        return enter(r, site, cs_plain(r->l, r->l->lr), TROD_FRAME_MANUAL, TROD_SURE_REGISTER);
    return jump(r, class);
}

int cs_onward(struct cs_run *r)
{
    struct trod_callstack *c = r->c;
    struct cs_lane *l = r->l;
    const struct cs_insn *last = r->s->last;
    const struct trod_moment *site;
    uint64_t ra;
    const enum cs_class class = cs_branch(c, l, last, r->s->before, &site, &ra);
    const uint32_t function = other_function(r, r->s->now.pc);

    if (function == CS_NO_INDEX || (class != CS_CALL && class != CS_JUMP && class != CS_INDIRECT) ||
        (class == CS_CALL && !l->known.function[function].symbol_entry) ||
        !cs_surely(c, site == &last->at ? last : r->s->before))
        return TROD_OK;
    r->s->onward = true;
    r->site = site;
    c->counts.transfers++;
    if (l->n_banks &&
        cs_code(&l->known, l->run, last->at.pc, (uint32_t)cs_top(l)->own[OWN_FUNCTION]) < 0)
        return TROD_ERR_NOMEM;
    return class == CS_CALL ? enter(r, site, linked(l, ra), TROD_FRAME_CALL, TROD_SURE_CLASS)
                            : tail(r, function);
}
