/*
 * x86_walk.h - the trace of a made-up x86-64 program, as a recorder would hand it on: instructions
 * with their opcodes and accesses, and nothing said of branches.
 */
#ifndef TROD_TEST_X86_WALK_H
#define TROD_TEST_X86_WALK_H

#include "gen.h"
#include "trod/batch.h"
#include "trod/meta.h"

enum { WALK_CODE = 400, WALK_THREADS = 4096 };

struct walk_code {
    uint64_t pc;
    uint8_t n, bytes[8];
    uint8_t what; /* enum in x86_walk.c */
    uint32_t target;
};

struct walk_row {
    uint8_t kind;
    bool branch;
    uint32_t thread, size;
    uint64_t addr, time;
    const struct walk_code *code; /* of the instruction, or of that of the access */
    bool again;                   /* a further iteration */
    bool jumped;                  /* nothing leads here from the instruction before */
};

struct walk {
    struct trod_gen *g;
    struct walk_code code[WALK_CODE];
    uint32_t threads;
    uint32_t at[WALK_THREADS];
    uint64_t time;
    uint32_t surprises; /* one in so many instructions is where nothing leads to; 0: none */
    struct walk_row pending[16];
    uint32_t n_pending, next_pending;
    uint32_t thread, stay;
};

void walk_init(struct walk *w, struct trod_gen *g, uint32_t threads);
/* The next row. */
struct walk_row walk_next(struct walk *w);
/* Append R to B, which has room; its code goes to the pool. False: the pool is full. */
bool walk_append(struct trod_batch *b, const struct walk_row *r);
/* A stream a thread in M. */
void walk_meta(const struct walk *w, struct trod_meta *m);

#endif
