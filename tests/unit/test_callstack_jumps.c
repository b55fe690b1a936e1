/*
 * The call stack where jumps go to other places of the same function, to the function before it and
 * to the one behind, all of them close by: rows fed one by one, all at once, and anything between.
 */
#include "trod/callstack.h"
#include "trod/meta.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What happens: "+" where an activation begins, of which kind, where, when; "-" where it ends. */
struct log {
    char text[1024];
    size_t n;
};

static int enter(void *ctx, struct trod_frame *f)
{
    struct log *l = ctx;

    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "+%s %llx %llu ",
                             trod_frame_kind_name(f->kind), (unsigned long long)f->entry.pc,
                             (unsigned long long)f->entry.time);
    return 0;
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct log *l = ctx;

    (void)f;
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "-%llu ",
                             (unsigned long long)end->last.time);
    return 0;
}

static const struct insn {
    uint64_t pc;
    uint32_t size;
    unsigned branch;
} insn[] = {
    {0x1000, 5, TROD_BR_CALL},       {0x2000, 1, TROD_BR_RETURN},
    {0x1005, 5, TROD_BR_CALL},       {0x2020, 1, TROD_BR_RETURN},
    {0x100a, 5, TROD_BR_CALL},       {0x2040, 1, TROD_BR_RETURN},
    {0x100f, 5, TROD_BR_CALL},       {0x2020, 2, TROD_BR_COND_TAKEN},
    {0x2028, 2, TROD_BR_DIRECT},     {0x2024, 2, TROD_BR_COND_TAKEN},
    {0x2030, 2, TROD_BR_DIRECT},     {0x2000, 2, TROD_BR_COND_TAKEN},
    {0x2008, 2, TROD_BR_DIRECT},     {0x2040, 2, TROD_BR_COND_TAKEN},
    {0x2048, 2, TROD_BR_COND_TAKEN}, {0x2044, 1, TROD_BR_RETURN},
    {0x1014, 5, TROD_BR_OTHER},
};

enum { N = sizeof insn / sizeof *insn };

/*
 * Follow all instructions, AT_ONCE of them fed in one go. Their times are their numbers, from 1, or
 * all 7 (ONE_TIME). Returns how often control was transferred.
 */
static uint64_t follow(struct log *l, uint32_t at_once, bool one_time)
{
    const struct trod_callstack_sink sink = {l, enter, leave, NULL};
    struct trod_callstack_counts seen;
    struct trod_callstack *c;
    struct trod_batch *b;
    struct trod_meta meta;

    *l = (struct log){.n = 0};
    trod_meta_init(&meta);
    meta.isa = TROD_ISA_X86_64;
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    trod_batch_clear(b);
    b->meta = &meta;
    b->want = b->have =
        TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_TIME | TROD_COL_ADDR;
    for (uint32_t i = 0; i < N; i++) {
        b->has[i] = b->have;
        b->kind[i] = TROD_INSTR;
        b->addr[i] = insn[i].pc;
        b->size[i] = insn[i].size;
        b->flags[i] = insn[i].branch;
        b->time[i] = one_time ? 7 : i + 1;
    }
    b->n = N;
    assert_int_equal(trod_callstack_new(&c, &sink, NULL, false), 0);
    for (uint32_t i = 0; i < N; i += at_once)
        assert_int_equal(trod_callstack_feed(c, b, i, N - i < at_once ? N : i + at_once), 0);
    assert_int_equal(trod_callstack_end(c), 0);
    trod_callstack_count(c, &seen);
    trod_callstack_free(c);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    return seen.transfers;
}

static void jumps_to_neighbours(void **state)
{
    struct log l;

    (void)state;
    for (uint32_t at_once = 1; at_once <= N; at_once++) {
        assert_int_equal(follow(&l, at_once, false), N - 1);
        assert_string_equal(l.text, "+root 1000 1 +call 2000 2 -2 +call 2020 4 -4 +call 2040 6 -6 "
                                    "+call 2020 8 +tail 2000 12 +tail 2040 14 -16 -16 -16 -17 ");
        assert_int_equal(follow(&l, at_once, true), N - 1);
        assert_string_equal(l.text, "+root 1000 7 +call 2000 7 -7 +call 2020 7 -7 +call 2040 7 -7 "
                                    "+call 2020 7 +tail 2000 7 +tail 2040 7 -7 -7 -7 -7 ");
    }
}

/* Times that fall, or are missing, on the way to a call: the largest so far counts. */
static void times_that_fall(void **state)
{
    static const struct {
        uint64_t pc, time;
        unsigned branch;
    } row[] = {
        {0x1000, 5, TROD_BR_NONE},   {0x1004, 20, TROD_BR_NONE}, {0x1008, TROD_NOWHERE, 0},
        {0x100c, 9, TROD_BR_CALL},   {0x2000, 12, TROD_BR_NONE}, {0x2004, 30, TROD_BR_NONE},
        {0x2008, 1, TROD_BR_RETURN}, {0x1010, 2, TROD_BR_NONE},
    };
    enum { ROWS = sizeof row / sizeof *row };
    struct log l;
    const struct trod_callstack_sink sink = {&l, enter, leave, NULL};
    struct trod_callstack *c;
    struct trod_batch *b;
    struct trod_meta meta;

    (void)state;
    trod_meta_init(&meta);
    meta.isa = TROD_ISA_X86_64;
    assert_int_equal(trod_batch_new(&b, ROWS), 0);
    trod_batch_clear(b);
    b->meta = &meta;
    b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_TIME | TROD_COL_ADDR;
    for (uint32_t i = 0; i < ROWS; i++) {
        b->has[i] = b->have & ~(uint32_t)(row[i].time == TROD_NOWHERE ? TROD_COL_TIME : 0);
        b->kind[i] = TROD_INSTR;
        b->addr[i] = row[i].pc;
        b->size[i] = 4;
        b->flags[i] = row[i].branch;
        b->time[i] = row[i].time;
    }
    b->n = ROWS;
    for (uint32_t at_once = 1; at_once <= ROWS; at_once++) {
        l.n = 0;
        assert_int_equal(trod_callstack_new(&c, &sink, NULL, false), 0);
        for (uint32_t i = 0; i < ROWS; i += at_once)
            assert_int_equal(trod_callstack_feed(c, b, i, ROWS - i < at_once ? ROWS : i + at_once),
                             0);
        assert_int_equal(trod_callstack_end(c), 0);
        trod_callstack_free(c);
        assert_string_equal(l.text, "+root 1000 5 +call 2000 20 -30 -30 ");
    }
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jumps_to_neighbours),
        cmocka_unit_test(times_that_fall),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
