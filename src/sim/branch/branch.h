/*
 * branch.h - branch predictors: their input, their predictions, and which there are.
 *
 * A predictor is a state machine that is given every branch of one thread or cpu in turn. Before it
 * learns the outcome of a branch it makes a prediction; run() does both for many branches and says
 * which predictions were wrong. Nothing here knows traces: events come from src/analysis/branches.
 * Predictions are those of a processor that knows each outcome before the next branch is predicted,
 * without delay and without wrong paths.
 */
#ifndef TROD_SIM_BRANCH_H
#define TROD_SIM_BRANCH_H

#include "trod/diag.h"

enum trod_bp_kind {
    TROD_BP_COND,     /* conditional, direct */
    TROD_BP_JUMP,     /* unconditional, direct */
    TROD_BP_CALL,     /* direct */
    TROD_BP_INDIRECT, /* jump to an address from a register or memory */
    TROD_BP_ICALL,
    TROD_BP_RETURN,
    TROD_BP_KINDS
};

struct trod_bp_event {
    uint64_t pc, target; /* of the branch; where it leads to (0: not known) when it is taken */
    uint64_t next;       /* address of the instruction after it, where a call returns to */
    uint32_t site;
    uint8_t kind; /* enum trod_bp_kind */
    bool taken;
};

/* Which branches a predictor is judged by. */
enum trod_bp_class {
    TROD_BP_DIRECTION, /* conditional ones: taken or not */
    TROD_BP_TARGETS,   /* taken ones with a known target: the target */
    TROD_BP_RETURNS,   /* of these, returns */
    TROD_BP_INDIRECTS  /* of these, indirect jumps and calls, not returns */
};

static inline bool trod_bp_judged(enum trod_bp_class class, const struct trod_bp_event *e)
{
    switch (class) {
    case TROD_BP_DIRECTION:
        return e->kind == TROD_BP_COND;
    case TROD_BP_RETURNS:
        return e->taken && e->target && e->kind == TROD_BP_RETURN;
    case TROD_BP_INDIRECTS:
        return e->taken && e->target && (e->kind == TROD_BP_INDIRECT || e->kind == TROD_BP_ICALL);
    default:
        return e->taken && e->target;
    }
}

enum { TROD_BP_PARAMS = 6, TROD_BP_NAME = 96, TROD_BP_MOST = 24 };

struct trod_bp_param {
    const char *name; /* NULL: past the last */
    uint64_t value, least, most;
};

struct trod_bp_rest;

struct trod_bp_type {
    const char *name;
    enum trod_bp_class class;
    struct trod_bp_param param[TROD_BP_PARAMS];
    /* A state with the values P of the parameters; addresses of branches are multiples of
     * 1 << SHIFT. NULL: no memory. Released with trod_bp_free(). */
    void *(*make)(const uint64_t *p, unsigned shift);
    /* STATE was copied to where it is: its pointers into itself follow. NULL: it has none. */
    void (*moved)(void *state);
    /*
     * Run the N branches at E: WRONG[i] becomes 1 where branch i was mispredicted, else 0, as for
     * branches that this kind of predictor does not predict.
     */
    void (*run)(void *state, const struct trod_bp_event *e, size_t n, uint8_t *wrong);
    /* Bits of storage that a processor needs for it, without histories. */
    uint64_t (*bits)(const uint64_t *p);
    /* about how many times the instructions of the cheapest predictor a branch costs here */
    unsigned cost;
};

/* One that was asked for: "gshare:log=14:history=14". */
struct trod_bp_choice {
    const struct trod_bp_type *type;
    uint64_t value[TROD_BP_PARAMS];
    char name[TROD_BP_NAME];
};

/*
 * The predictors of SPEC: names, each with its parameters as "key=value", separated by commas,
 * colons or plus signs. At most TROD_BP_MOST. Returns how many, or TROD_ERR_USAGE, reported.
 */
int trod_bp_choose(struct trod_bp_choice *out, const char *spec, struct trod_diag *diag);

void trod_bp_free(void *state);

/*
 * ---- rest.c: states of threads that wait
 *
 * What STATE has come to, as far as it differs from FRESH, a new one with the same parameters;
 * STATE is released. NULL: it stays as it is, as that would not be much smaller, or for want of
 * memory.
 */
struct trod_bp_rest *trod_bp_rest(void *state, const void *fresh);
/* The state of TYPE again; REST is released. NULL: no memory, REST stays. */
void *trod_bp_wake(const struct trod_bp_type *type, struct trod_bp_rest *rest, const void *fresh);

/* ---- for the predictors */

/* A state of N bytes, all zero. NULL: no memory. */
void *trod_bp_new(size_t n);

/* A saturating counter from 0 to MOST, one step up or down; the upper half predicts taken. */
static inline uint8_t trod_bp_count(uint8_t counter, bool up, uint8_t most)
{
    return up ? (uint8_t)(counter + (counter < most)) : (uint8_t)(counter - (counter > 0));
}

/* The same from -MOST - 1 to MOST. */
static inline int8_t trod_bp_step(int8_t counter, bool up, int most)
{
    return up ? (int8_t)(counter + (counter < most)) : (int8_t)(counter - (counter > -most - 1));
}

#endif
