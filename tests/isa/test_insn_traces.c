/*
 * test_insn_traces.c - facts of x86 instructions against what DynamoRIO recorded.
 *
 * Each instruction of the shared traces that have encodings came with its class and with the
 * accesses it really made: loads, stores, sizes and branch classes of trod/insn.h must say the
 * same. Skipped, saying so, without the traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trod/trod.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char traces[4096];

struct tally {
    uint64_t instructions, accesses, wrong;
    uint64_t
        unknown; /* AVX-512 that Capstone 4 does not know: mask registers, byte and word forms */
};

/* The instruction being looked at, and what it did so far. */
struct seen {
    bool any;
    uint64_t pc;
    uint8_t code[TROD_INSN_CODE];
    uint32_t n, flags, loads, stores, read_size, write_size;
};

static unsigned recorded_class(unsigned branch)
{
    return branch == TROD_BR_COND_TAKEN || branch == TROD_BR_COND_UNTAKEN ? TROD_BR_COND : branch;
}

/* Whether a mnemonic was told to be wrong in this way before. */
static bool told(const char *text, size_t len, const char *what)
{
    static char known[256][48];
    char now[48];

    snprintf(now, sizeof now, "%.*s %s", (int)(strcspn(text, " ") < len ? strcspn(text, " ") : len),
             text, what);
    for (size_t i = 0; i < 256; i++) {
        if (strcmp(known[i], now) == 0)
            return true;
        if (!known[i][0]) {
            memcpy(known[i], now, sizeof now);
            return false;
        }
    }
    return true;
}

static void complain(struct tally *t, struct trod_disasm *d, const struct seen *s, const char *what,
                     uint64_t said, uint64_t was)
{
    size_t len;
    const char *text = trod_disasm_text(d, TROD_ISET_NONE, s->pc, s->code, s->n, &len);

    t->wrong++;
    if (!told(text, len, what))
        fprintf(stderr, "0x%" PRIx64 " %.*s: %s %" PRIu64 ", recorded %" PRIu64 "\n", s->pc,
                (int)len, text, what, said, was);
}

static void judge(struct tally *t, struct trod_insn_decoder *d, struct trod_disasm *dis,
                  const struct seen *s)
{
    const struct trod_insn *i = trod_insn_decode(d, TROD_ISET_NONE, s->pc, s->code, s->n);
    unsigned recorded = recorded_class(s->flags & TROD_F_BRANCH), said = i->branch;

    t->instructions++;
    if (!i->valid && (s->code[0] == 0x62 || s->code[0] == 0xc4 || s->code[0] == 0xc5)) {
        t->unknown++;
        return;
    }
    if (!i->valid || i->size != s->n) {
        complain(t, dis, s, "size", i->size, s->n);
        return;
    }
    /* drmemtrace has no class of its own for system calls and returns from exceptions */
    if (said == TROD_BR_SYSCALL || said == TROD_BR_ERET)
        said = TROD_BR_NONE;
    if (recorded == TROD_BR_SYSCALL)
        recorded = TROD_BR_NONE;
    if (said != recorded)
        complain(t, dis, s, "branch class", said, recorded);
    if ((i->flags & (TROD_INSN_PREDICATED | TROD_INSN_REPEAT)) || !(i->flags & TROD_INSN_COUNTS))
        return;
    t->accesses++;
    if (i->loads != s->loads)
        complain(t, dis, s, "loads", i->loads, s->loads);
    if (i->stores != s->stores)
        complain(t, dis, s, "stores", i->stores, s->stores);
    if (!(i->flags & TROD_INSN_SIZES))
        return;
    if (i->read_size != s->read_size)
        complain(t, dis, s, "bytes read", i->read_size, s->read_size);
    if (i->write_size != s->write_size)
        complain(t, dis, s, "bytes written", i->write_size, s->write_size);
}

static void look(struct seen *s, const struct trod_batch *b, uint32_t row, struct tally *t,
                 struct trod_insn_decoder *d, struct trod_disasm *dis)
{
    switch (b->kind[row]) {
    case TROD_READ:
        s->loads++;
        s->read_size += b->size[row];
        return;
    case TROD_WRITE:
        s->stores++;
        s->write_size += b->size[row];
        return;
    case TROD_INSTR:
        break;
    case TROD_EXCEPTION:
    case TROD_MARKER:
        /* a signal may have cut the instruction short */
        if (b->kind[row] == TROD_EXCEPTION || b->sub[row] == 0)
            s->any = false;
        return;
    default:
        return;
    }
    if (s->any)
        judge(t, d, dis, s);
    memset(s, 0, sizeof *s);
    s->any = !(b->flags[row] & TROD_F_NOFETCH) && b->code[row].len > 0;
    s->pc = b->addr[row];
    s->flags = b->flags[row];
    s->n = b->code[row].len < sizeof s->code ? b->code[row].len : sizeof s->code;
    memcpy(s->code, trod_batch_bytes(b, b->code[row]), s->n);
}

static void run(const char *name)
{
    struct trod_insn_decoder *d;
    struct trod_disasm *dis;
    struct tally tally = {0};
    struct seen seen = {0};
    struct trod_trace *t;
    struct trod_batch *b;
    char path[8192];
    const char *paths[1] = {path};
    uint32_t stream = UINT32_MAX;

    snprintf(path, sizeof path, "%s/drmemtrace/%s", traces, name);
    assert_int_equal(trod_trace_open(&t, paths, 1, NULL, NULL), 0);
    assert_int_equal(trod_insn_decoder_new(&d, TROD_ISA_X86_64, TROD_ENDIAN_LITTLE), 0);
    assert_int_equal(trod_disasm_new(&dis, TROD_ISA_X86_64, TROD_ENDIAN_LITTLE, NULL), 0);
    while (trod_trace_next(t, &b) == 1)
        for (uint32_t i = 0; i < b->n; i++) {
            if (b->stream[i] != stream)
                seen.any = false;
            stream = b->stream[i];
            look(&seen, b, i, &tally, d, dis);
        }
    printf("%s: %" PRIu64 " instructions, accesses of %" PRIu64 " compared, %" PRIu64
           " wrong, %" PRIu64 " not decoded\n",
           name, tally.instructions, tally.accesses, tally.wrong, tally.unknown);
    assert_true(tally.instructions > 1000);
    assert_int_equal(tally.wrong, 0);
    assert_true(tally.unknown * 20 < tally.instructions);
    trod_insn_decoder_free(d);
    trod_disasm_free(dis);
    trod_trace_close(t);
}

static void test_threadsig(void **state)
{
    (void)state;
    run("drmemtrace.threadsig.x64.tracedir");
}

static void test_simple_app(void **state)
{
    (void)state;
    run("drmemtrace.simple_app.trace.zip");
}

static void test_pthread(void **state)
{
    (void)state;
    run("pthread-5-threads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threadsig),
        cmocka_unit_test(test_simple_app),
        cmocka_unit_test(test_pthread),
    };
    const char *dir = getenv("TROD_TRACES"), *source = getenv("TROD_SOURCE");
    char probe[8192];
    FILE *f;

    snprintf(traces, sizeof traces, "%s%s",
             dir      ? dir
             : source ? source
                      : ".",
             dir ? "" : "/../shared/traces");
    snprintf(probe, sizeof probe, "%s/drmemtrace/README.md", traces);
    f = fopen(probe, "r");
    if (!f) {
        printf("skipped: no traces in %s\n", traces);
        return 77;
    }
    fclose(f);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
