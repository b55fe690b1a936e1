/*
 * switch.c - exceptions, returns from them, and the stacks that they switch between.
 *
 * An exception is a frame on the context that it interrupts. Where the return from it goes to
 * another place than the one that was interrupted, a kernel switched tasks: the context is parked
 * with the place where it goes on, and the one that waits for this place is taken up, or a new one
 * begun.
 */
#include "callstack/rules.h"
#include "core/grow.h"

enum cs_class cs_branch(struct trod_callstack *c, const struct cs_lane *l,
                        const struct cs_insn *last, const struct cs_insn *before,
                        const struct trod_moment **site, uint64_t *ra)
{
    if (cs_delay_slots(l) && before->size && before->at.pc + before->size == last->at.pc) {
        const enum cs_class class = cs_class_of(c, l, before);

        if (class != CS_NONE && class != CS_UNKNOWN && class != CS_SYSCALL && class != CS_ERET) {
            *site = &before->at;
            *ra = last->at.pc + last->size;
            return class;
        }
    }
    *site = &last->at;
    *ra = last->at.pc + last->size;
    return cs_class_of(c, l, last);
}

static void save(const struct cs_run *r, struct cs_saved *saved)
{
    uint32_t bank;

    *saved = (struct cs_saved){.last = *r->s->last, .before = *r->s->before, .bank = r->l->on_bank};
    saved->has_sp = cs_sp(r->l, &saved->sp, &bank);
}

int cs_interrupt(struct cs_run *r, uint64_t ra, bool told, unsigned sure)
{
    struct cs_context *x = cs_now(r->l);
    const struct cs_push p = {.kind = TROD_FRAME_EXCEPTION,
                              .sure = (uint8_t)sure,
                              .has_ra = true,
                              .ra = ra,
                              .site = &r->s->last->at,
                              .entry = r->s->now};
    struct cs_saved *saved;

    if (x->n >= TROD_CALLSTACK_DEPTH)
        return TROD_OK;
    if (!trod_grow(&x->saved, x->n_saved, &x->cap_saved, sizeof *x->saved, 4))
        return TROD_ERR_NOMEM;
    saved = &x->saved[x->n_saved++];
    save(r, saved);
    saved->exc_return = cs_arm32(r->l) && r->l->lr_at && (uint32_t)r->l->lr >= 0xffffffe0;
    saved->guessed = sure == TROD_SURE_GUESS;
    saved->told = told;
    return cs_push(r->c, r->l, &p);
}

int cs_interrupted(struct cs_run *r)
{
    return cs_interrupt(r, r->s->last->at.pc + r->s->last->size, true, TROD_SURE_GUESS);
}

/* The innermost exception of the context; CS_NO_INDEX: none. */
static uint32_t innermost(const struct cs_context *x)
{
    uint32_t i = x->exceptions ? x->n : 0;

    while (i > 0)
        if (x->frame[--i].kind == TROD_FRAME_EXCEPTION)
            return i;
    return CS_NO_INDEX;
}

int cs_syscall(struct cs_run *r, uint64_t pc, uint64_t ra)
{
    const struct cs_context *x = cs_now(r->l);
    const uint32_t e = innermost(x);

    if (e != CS_NO_INDEX && x->frame[e].ra == pc)
        return cs_back(r, pc, true);
    return pc == ra ? TROD_OK : cs_interrupt(r, ra, true, TROD_SURE_CLASS);
}

bool cs_handler_returns(const struct cs_run *r, uint64_t pc)
{
    const struct cs_context *x = cs_now(r->l);
    uint32_t i = x->n - 1;
    const struct cs_saved *saved;

    while (i > 0 && x->frame[i].kind == TROD_FRAME_TAIL)
        i--;
    if (x->frame[i].kind != TROD_FRAME_EXCEPTION)
        return false;
    saved = &x->saved[x->frame[i].own[OWN_SAVED]];
    return saved->exc_return || (saved->guessed && x->frame[i].ra == pc);
}

/* Goes on after AT, which was interrupted: what it led to is NOW. */
static int go_on(struct cs_run *r, const struct cs_saved *at)
{
    const struct trod_moment *site;
    const uint64_t pc = r->s->now.pc;
    enum cs_class class;
    uint64_t ra;

    if (at->last.size == 0 || pc == at->last.at.pc + at->last.size || pc == at->last.at.pc)
        return TROD_OK;
    class = cs_branch(r->c, r->l, &at->last, &at->before, &site, &ra);
    if (class == CS_ERET || class == CS_SYSCALL || class == CS_NONE)
        return TROD_OK;
    return cs_transfer(r, class, site, ra);
}

/* Context number K runs. */
static void run(struct cs_lane *l, uint32_t k)
{
    l->now = k;
    l->context[k]->parked = false;
    l->on_bank = l->context[k]->at.bank;
}

/* How far the stack pointer that AT had in use is from there; UINT64_MAX: not known. */
static uint64_t sp_moved(const struct cs_lane *l, const struct cs_saved *at)
{
    const struct cs_bank *b = at->has_sp && at->bank < l->n_banks ? &l->bank[at->bank] : NULL;

    if (!b || !b->known)
        return UINT64_MAX;
    return b->sp > at->sp ? b->sp - at->sp : at->sp - b->sp;
}

/*
 * May context X, which was interrupted just after AT, go on at PC? If the trace did not say where
 * it would, the last instruction may have been a branch: RESUME is where it leads if not taken.
 */
static bool goes_on(const struct cs_run *r, const struct cs_context *x, uint64_t resume,
                    const struct cs_saved *at, uint64_t pc)
{
    const struct trod_moment *site;
    const struct cs_insn *branch;
    uint64_t ra, target;
    enum cs_class class;

    if (at->told || at->last.size == 0 || x->n == 0)
        return pc == resume;
    class = cs_branch(r->c, r->l, &at->last, &at->before, &site, &ra);
    if (class != CS_JUMP && class != CS_INDIRECT && class != CS_CALL && class != CS_RETURN)
        return pc == resume;
    branch = site == &at->last.at ? &at->last : &at->before;
    if (pc == resume && !cs_surely(r->c, branch))
        return true;
    if (cs_target(r->c, branch, &target))
        return pc == target;
    if (class == CS_RETURN && x->frame[x->n - 1].has_ra && x->frame[x->n - 1].ra == pc)
        return true;
    return sp_moved(r->l, at) == 0;
}

/*
 * The parked context that goes on at PC, where the task AT also would, if the stack is that one's
 * and not AT's: tasks that give way at the same place. CS_NO_INDEX: none.
 */
static uint32_t other_there(const struct cs_run *r, uint64_t pc, const struct cs_saved *at)
{
    const uint64_t moved = sp_moved(r->l, at);

    for (uint32_t i = 0; moved && moved != UINT64_MAX && i < r->l->n_contexts; i++) {
        const struct cs_context *x = r->l->context[i];

        if (x->parked && x->at.bank == at->bank && sp_moved(r->l, &x->at) == 0 &&
            goes_on(r, x, x->resume, &x->at, pc))
            return i;
    }
    return CS_NO_INDEX;
}

/* The parked context that goes on at PC, best where the stack pointer is near; CS_NO_INDEX. */
static uint32_t waiting(const struct cs_run *r, uint64_t pc)
{
    uint32_t best = CS_NO_INDEX, bank;
    uint64_t sp = 0;
    const bool has_sp = cs_sp(r->l, &sp, &bank);

    for (uint32_t i = 0; i < r->l->n_contexts; i++) {
        const struct cs_context *x = r->l->context[i];

        if (!x->parked || !goes_on(r, x, x->resume, &x->at, pc))
            continue;
        if (has_sp && x->at.has_sp && x->at.sp == sp)
            return i;
        best = i;
    }
    return best;
}

/* A context for a task that was not seen before; CS_NO_INDEX: there are too many. */
static uint32_t fresh(struct cs_lane *l)
{
    for (uint32_t i = 0; i < l->n_contexts; i++)
        if (l->context[i]->n == 0 && i != l->now)
            return i;
    return l->n_contexts < TROD_CALLSTACK_CONTEXTS && cs_context_new(l) == TROD_OK
               ? l->n_contexts - 1
               : CS_NO_INDEX;
}

/* Is PC, though not where AT was interrupted, a place of the same task? */
static bool same_task(const struct cs_run *r, const struct trod_frame *f, uint64_t ra,
                      const struct cs_saved *at)
{
    enum { FAR = 256 }; /* more than hardware puts onto a stack */
    const uint64_t pc = r->s->now.pc, moved = sp_moved(r->l, at);
    uint64_t sp;
    uint32_t bank;

    if (moved != UINT64_MAX && moved >= FAR)
        return false;
    if (pc - ra + 64 < 128 || (f && cs_in_function(r->l, f, pc)))
        return true;
    return cs_sp(r->l, &sp, &bank) && at->has_sp && bank == at->bank && sp == at->sp;
}

/* The same where an indirect call may lead to another function. */
static bool called(const struct cs_run *r, const struct cs_saved *at)
{
    const struct trod_moment *site;
    uint64_t ra, target;

    return !at->told && at->last.size &&
           cs_branch(r->c, r->l, &at->last, &at->before, &site, &ra) == CS_CALL &&
           !cs_target(r->c, site == &at->last.at ? &at->last : &at->before, &target) &&
           cs_entered_at(&r->l->known, r->c->symbols, r->s->now.pc);
}

static int switch_task(struct cs_run *r, uint32_t to, uint64_t ra, const struct cs_saved *at)
{
    const struct cs_push root = {
        .kind = TROD_FRAME_ROOT, .sure = TROD_SURE_CLASS, .entry = r->s->now};
    struct cs_context *x = cs_now(r->l);

    r->c->counts.switches++;
    x->parked = true;
    x->resume = ra;
    x->at = *at;
    if (r->l->context[to]->n == 0) {
        r->l->now = to;
        return cs_push(r->c, r->l, &root);
    }
    run(r->l, to);
    return go_on(r, &cs_now(r->l)->at);
}

/*
 * Leave the innermost exception of the context: AT is where it interrupted, RA where it would
 * return to. 0: there is none; 1; or an error.
 */
static int leave(struct cs_run *r, struct cs_saved *at, uint64_t *ra)
{
    struct cs_context *x = cs_now(r->l);
    const uint32_t e = innermost(x);
    int rc;

    if (e == CS_NO_INDEX)
        return 0;
    *ra = x->frame[e].ra;
    *at = x->saved[x->frame[e].own[OWN_SAVED]];
    rc = cs_pop_to(r->c, r->l, e + 1, TROD_FRAME_UNWOUND, TROD_SURE_CLASS, &r->s->last->at,
                   &r->s->now);
    if (rc == TROD_OK)
        rc = cs_pop(r->c, r->l, TROD_FRAME_RETURNED, TROD_SURE_CLASS, &r->s->last->at, &r->s->now);
    return rc < 0 ? rc : 1;
}

int cs_back(struct cs_run *r, uint64_t pc, bool marked)
{
    struct cs_saved at;
    uint64_t ra;
    uint32_t to;
    bool here;
    int rc = leave(r, &at, &ra);

    if (rc <= 0)
        return rc;
    here = goes_on(r, cs_now(r->l), ra, &at, pc);
    to = here && !marked ? other_there(r, pc, &at) : CS_NO_INDEX;
    if (to != CS_NO_INDEX)
        return switch_task(r, to, ra, &at);
    if (!here && !marked) {
        to = waiting(r, pc);
        if (to == CS_NO_INDEX && !same_task(r, cs_top(r->l), ra, &at) && !called(r, &at))
            to = fresh(r->l);
        if (to != CS_NO_INDEX)
            return switch_task(r, to, ra, &at);
    }
    r->l->on_bank = at.bank;
    return here || !at.told ? go_on(r, &at) : TROD_OK;
}

/* Leave N exceptions, or as many as there are: 1, and *AT and *RA of the last one; 0: none. */
static int leave_some(struct cs_run *r, unsigned n, struct cs_saved *at, uint64_t *ra)
{
    int rc = TROD_OK, left = 0;

    for (; n > 0 && (rc = leave(r, at, ra)) > 0; n--)
        left = 1;
    return rc < 0 ? rc : left;
}

/* An exception took the instruction NOW, after BACKS handlers had returned one after the other. */
static int take(const struct cs_run *r, unsigned backs)
{
    struct cs_lane *l = r->l;
    const bool told = l->has_preferred && l->preferred != r->s->now.pc;
    struct cs_saved at = {.told = false};
    struct cs_run now = *r;
    struct cs_step step = *r->s;
    uint64_t ra = l->next;
    const int left = leave_some(&now, backs, &at, &ra);

    if (left < 0)
        return left;
    if (left) { /* what the handlers had interrupted is interrupted again */
        step.last = &at.last;
        step.before = &at.before;
        now.s = &step;
        l->on_bank = at.bank;
    }
    return cs_interrupt(&now, told ? l->preferred : ra, told || at.told, TROD_SURE_CLASS);
}

int cs_step(struct trod_callstack *c, struct cs_lane *l, struct cs_step *s)
{
    struct cs_run r = {.c = c, .l = l, .s = s, .site = &s->last->at};
    const unsigned pending = l->pending, backs = l->backs;
    struct cs_saved at;
    const struct trod_moment *site;
    enum cs_class class;
    uint64_t ra;
    int rc;

    l->pending = CS_NOTHING;
    l->backs = 0;
    if (!cs_top(l)) {
        const struct cs_push root = {
            .kind = TROD_FRAME_ROOT, .sure = TROD_SURE_CLASS, .entry = s->now};

        return cs_push(c, l, &root);
    }
    if (pending == CS_BACK) {
        rc = leave_some(&r, backs - 1, &at, &ra);
        return rc < 0 ? rc : cs_back(&r, s->now.pc, true);
    }
    if (s->now.pc == l->next && !backs)
        return pending ? TROD_OK : cs_onward(&r);
    c->counts.transfers++;
    if (l->n_banks &&
        cs_code(&l->known, l->run, s->last->at.pc, (uint32_t)cs_top(l)->own[OWN_FUNCTION]) < 0)
        return TROD_ERR_NOMEM;
    if (pending == CS_EXCEPTION)
        return take(&r, backs);
    class = cs_branch(c, l, s->last, s->before, &site, &ra);
    return cs_transfer(&r, class, site, ra);
}
