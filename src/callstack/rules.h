/*
 * rules.h - what rules.c and switch.c share: one step of a lane.
 */
#ifndef TROD_CALLSTACK_RULES_H
#define TROD_CALLSTACK_RULES_H

#include "callstack/callstack_int.h"

struct cs_run {
    struct trod_callstack *c;
    struct cs_lane *l;
    struct cs_step *s;
    const struct trod_moment *site; /* the instruction that transferred */
};

/* ---- rules.c: SITE, of class CLASS, led to the instruction NOW; a call there returns to RA. */
int cs_transfer(struct cs_run *r, enum cs_class class, const struct trod_moment *site, uint64_t ra);
/* A function is entered at NOW, which lies after the last instruction: was it called or jumped to?
 */
int cs_onward(struct cs_run *r);
bool cs_in_function(const struct cs_lane *l, const struct trod_frame *f, uint64_t pc);

/* ---- switch.c */

/* An exception took the instruction NOW; it returns to RA, if it is TOLD where. */
int cs_interrupt(struct cs_run *r, uint64_t ra, bool told, unsigned sure);
/* A transfer by an instruction that is no branch: nobody said that it was interrupted. */
int cs_interrupted(struct cs_run *r);
/* A system call instruction led to PC; the one after it is RA. */
int cs_syscall(struct cs_run *r, uint64_t pc, uint64_t ra);
/* Return from an exception to PC; MARKED: a marker says so, not an instruction. */
int cs_back(struct cs_run *r, uint64_t pc, bool marked);
/* Whether a return to PC that matches no call ends a handler. */
bool cs_handler_returns(const struct cs_run *r, uint64_t pc);

/* Class, address and return address of the instruction that ended a run, delay slots heeded. */
enum cs_class cs_branch(struct trod_callstack *c, const struct cs_lane *l,
                        const struct cs_insn *last, const struct cs_insn *before,
                        const struct trod_moment **site, uint64_t *ra);

#endif
