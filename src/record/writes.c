/*
 * writes.c - which registers an instruction writes: answers to the plugin's questions.
 *
 * Implements the rec_answers functions of record.h. The plugin reads registers but knows nothing of
 * instructions; it asks for each instruction once, when QEMU translates it, and waits. A thread of
 * the recorder answers. What the kernel writes for a system call counts as the instruction's.
 */

#include "record/record.h"

#include "isa/ppc.h"
#include "trod/insn.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAMES_AT = 64, NAME = 8, SPINS = 3000 };

struct rec_answers {
    struct rec_shared *shared;
    struct trod_insn_decoder *decoder;
    enum rec_isa set;
    pthread_t thread;
    _Atomic bool stop;
};

/* --- names: none for what is not reported, as the pc --- */

static void name_ppc(unsigned i, char *out)
{
    static const char *const special[] = {"", "msr", "cr", "lr", "ctr", "xer", "fpscr"};

    if (i < 32)
        snprintf(out, NAME, "r%u", i);
    else if (i < 64)
        snprintf(out, NAME, "f%u", i - REC_PPC_FPR);
    else if (i < REC_PPC_VR)
        snprintf(out, NAME, "%s", special[i - 64]);
    else if (i < REC_PPC_VSCR)
        snprintf(out, NAME, "v%u", i - REC_PPC_VR);
    else if (i <= REC_PPC_VRSAVE)
        snprintf(out, NAME, "%s", i == REC_PPC_VSCR ? "vscr" : "vrsave");
}

static void name_mips(unsigned i, char *out)
{
    if (i < 32)
        snprintf(out, NAME, "r%u", i);
    else if (i == REC_MIPS_LO || i == REC_MIPS_HI)
        snprintf(out, NAME, i == REC_MIPS_LO ? "lo" : "hi");
    else if (i < REC_MIPS_F)
        return;
    else if (i < REC_MIPS_F + 32)
        snprintf(out, NAME, "f%u", i - REC_MIPS_F);
    else if (i == REC_MIPS_F + 32)
        snprintf(out, NAME, "fcsr");
}

/* As Fast Models call them in traces of programs (EL0, USR). */
static void name_arm(enum rec_isa set, unsigned i, char *out)
{
    if (set == REC_ARM && i < 15)
        snprintf(out, NAME, i == 13 || i == 14 ? "r%u_usr" : "r%u", i);
    else if (set == REC_ARM && i == REC_ARM_CPSR)
        snprintf(out, NAME, "cpsr");
    else if (set == REC_A64 && i < REC_A64_SP)
        snprintf(out, NAME, "X%u", i);
    else if (set == REC_A64 && i == REC_A64_SP)
        snprintf(out, NAME, "SP_EL0");
    else if (set == REC_A64 && i == REC_A64_CPSR)
        snprintf(out, NAME, "cpsr");
    else if (set == REC_A64 && i >= REC_A64_V && i < REC_A64_V + 32)
        snprintf(out, NAME, "q%u", i - REC_A64_V);
    else if (set == REC_A64 && (i == REC_A64_FPSR || i == REC_A64_FPCR))
        snprintf(out, NAME, i == REC_A64_FPSR ? "FPSR" : "FPCR");
    else if (set == REC_ARM && i >= REC_ARM_D && i < REC_ARM_D + 32)
        snprintf(out, NAME, "d%u", i - REC_ARM_D);
    else if (set == REC_ARM && i == REC_ARM_FPSCR)
        snprintf(out, NAME, "fpscr");
}

static void name_all(struct rec_shared *s, enum rec_isa set)
{
    char *at = (char *)rec_log(s) + NAMES_AT;

    for (unsigned i = 0; i < REC_REGS; i++, at += NAME) {
        if (set == REC_PPC)
            name_ppc(i, at);
        else if (set == REC_MIPS || set == REC_MIPSEL)
            name_mips(i, at);
        else
            name_arm(set, i, at);
    }
}

struct trod_slice rec_register_name(const struct rec_shared *s, unsigned number)
{
    const char *at =
        (const char *)rec_log((struct rec_shared *)(uintptr_t)s) + NAMES_AT + (size_t)NAME * number;

    return (struct trod_slice){(uint32_t)(NAMES_AT + NAME * number) | (uint32_t)TROD_SLICE_SHARED,
                               (uint32_t)strnlen(at, NAME)};
}

/* --- what instructions write --- */

static void add(struct rec_writes *w, unsigned number)
{
    for (unsigned i = 0; i < w->n; i++)
        if (w->reg[i] == number)
            return;
    if (w->n < REC_WRITES)
        w->reg[w->n++] = (uint16_t)number;
}

static void add_bank(struct rec_writes *w, uint32_t bits, unsigned first)
{
    for (unsigned i = 0; i < 32; i++)
        if (bits >> i & 1)
            add(w, first + i);
}

static void writes_ppc(const struct rec_insn *in, struct rec_writes *w)
{
    static const struct {
        uint32_t bits;
        unsigned number;
    } special[] = {
        {TROD_PPC_LR, REC_PPC_LR},       {TROD_PPC_CTR, REC_PPC_CTR},
        {TROD_PPC_XER_ALL, REC_PPC_XER}, {TROD_PPC_FPSCR, REC_PPC_FPSCR},
        {TROD_PPC_VSCR, REC_PPC_VSCR},   {TROD_PPC_VRSAVE, REC_PPC_VRSAVE},
    };
    const uint8_t *p = in->code;
    struct trod_ppc_insn insn;

    if (!trod_ppc_decode((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3],
                         &insn)) {
        w->any = 1;
        return;
    }
    w->jumps = insn.branch != TROD_PPC_BRANCH_NONE;
    if (p[0] >> 2 == 17) { /* sc: the result, and whether it is an error */
        add(w, 3);
        add(w, REC_PPC_CR);
        w->jumps = 0;
        return;
    }
    add_bank(w, insn.writes.gpr, 0);
    add_bank(w, insn.writes.fpr, REC_PPC_FPR);
    add_bank(w, insn.writes.vr, REC_PPC_VR);
    if (insn.writes.cr)
        add(w, REC_PPC_CR);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (insn.writes.special & special[i].bits)
            add(w, special[i].number);
}

/* NAME is one of LETTERS and a number below END: the number, else -1. */
static int numbered(const char *name, const char *letters, int end)
{
    char *rest;
    long n;

    if (!*name || !strchr(letters, *name) || name[1] < '0' || name[1] > '9')
        return -1;
    n = strtol(name + 1, &rest, 10);
    return *rest == '\0' && n < end ? (int)n : -1;
}

static int listed(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] && strcmp(list[i], name) == 0)
            return (int)i;
    return -1;
}

/* The number of the register that the decoder calls NAME, or -1. */
static int number_of(enum rec_isa set, const char *name)
{
    static const char *const arm[] = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                      NULL, "sb", "sl", "fp", "ip", "sp", "lr"};
    static const char *const mips[] = {"zero", "at", "v0", "v1", "a0", "a1", "a2", "a3",
                                       "t0",   "t1", "t2", "t3", "t4", "t5", "t6", "t7",
                                       "s0",   "s1", "s2", "s3", "s4", "s5", "s6", "s7",
                                       "t8",   "t9", "k0", "k1", "gp", "sp", "fp", "ra"};
    int n = -1;

    if (set == REC_A64) {
        if (strcmp(name, "nzcv") == 0)
            return REC_A64_CPSR;
        if (strcmp(name, "sp") == 0 || strcmp(name, "wsp") == 0)
            return REC_A64_SP;
        if (strcmp(name, "fp") == 0 || strcmp(name, "lr") == 0)
            return name[0] == 'f' ? 29 : 30;
        if ((n = numbered(name, "xw", 31)) >= 0)
            return n;
        if (strcmp(name, "fpsr") == 0 || strcmp(name, "fpcr") == 0)
            return name[2] == 's' ? REC_A64_FPSR : REC_A64_FPCR;
        n = numbered(name, "vqdshb", 32);
        return n < 0 ? n : REC_A64_V + n;
    }
    if (set == REC_ARM) {
        if (strcmp(name, "cpsr") == 0)
            return REC_ARM_CPSR;
        if (strncmp(name, "apsr", 4) == 0 || strncmp(name, "fpscr", 5) == 0)
            return name[0] == 'a' ? REC_ARM_CPSR : REC_ARM_FPSCR;
        if ((n = numbered(name, "dsq", 32)) >= 0)
            return REC_ARM_D + (name[0] == 'd' ? n : name[0] == 's' ? n / 2 : 2 * n);
        n = numbered(name, "r", 15);
        return n >= 0 ? n : listed(name, arm, sizeof arm / sizeof *arm);
    }
    if (strcmp(name, "lo") == 0 || strcmp(name, "hi") == 0)
        return name[0] == 'l' ? REC_MIPS_LO : REC_MIPS_HI;
    if (strcmp(name, "ac0") == 0)
        return REC_MIPS_LO;
    if ((n = numbered(name, "f", 32)) >= 0)
        return REC_MIPS_F + n;
    return listed(name, mips, sizeof mips / sizeof *mips);
}

static void writes_other(const struct rec_answers *a, const struct rec_insn *in,
                         struct rec_writes *w)
{
    const unsigned iset = a->set == REC_A64   ? TROD_ISET_A64
                          : a->set != REC_ARM ? TROD_ISET_NONE
                          : in->thumb         ? TROD_ISET_T32
                                              : TROD_ISET_A32;
    const struct trod_insn *what;

    /* what depends on the IT block, which the opcode does not show */
    if (a->set == REC_ARM && in->thumb)
        add(w, REC_ARM_CPSR | REC_MAYBE);
    what = a->decoder ? trod_insn_decode(a->decoder, iset, in->pc, in->code, in->size) : NULL;
    if (!what || !what->valid) { /* one that is later than the decoder */
        w->any = 1;
        return;
    }
    for (unsigned i = 0; i < what->n_writes; i++) {
        const char *name = trod_insn_reg_name(a->decoder, iset, what->writes[i]);
        int n = number_of(a->set, name);

        if (n >= 0)
            add(w, (unsigned)n);
        if (a->set == REC_ARM && name[0] == 'q') /* two of 8 bytes */
            add(w, (unsigned)n + 1);
        if (n == REC_MIPS_LO && a->set != REC_A64 && a->set != REC_ARM && strcmp(name, "ac0") == 0)
            add(w, REC_MIPS_HI);
    }
    w->jumps = what->branch != TROD_BR_NONE && what->branch != TROD_BR_SYSCALL;
    if (what->branch == TROD_BR_ERET)
        w->any = 1;
    if (what->branch == TROD_BR_SYSCALL) {
        w->any = 1; /* some return more than a value */
        add(w, a->set == REC_MIPS || a->set == REC_MIPSEL ? 2 : 0);
        if (a->set == REC_MIPS || a->set == REC_MIPSEL)
            add(w, 7); /* whether it is an error */
    }
}

/* --- the thread that answers --- */

static void answer(const struct rec_answers *a, uint32_t place)
{
    const uint64_t at = 8 * (uint64_t)place;
    struct rec_segment *s;
    struct rec_writes *w;

    if (at + sizeof *s + sizeof s->insn[0] + sizeof *w > REC_LOG_BYTES)
        return;
    s = (struct rec_segment *)(void *)(rec_log(a->shared) + at);
    w = (struct rec_writes *)(void *)(s->insn + 1);
    w->n = 0;
    w->jumps = w->any = 0;
    if (a->set == REC_PPC)
        writes_ppc(s->insn, w);
    else
        writes_other(a, s->insn, w);
    atomic_store_explicit(&w->known, 1, memory_order_release);
}

static void answer_all(const struct rec_answers *a)
{
    for (unsigned i = 0; i < REC_ASKS; i++) {
        uint32_t place = atomic_load(&a->shared->asks[i]);

        if (place == 0)
            continue;
        answer(a, place);
        atomic_store(&a->shared->asks[i], 0);
    }
}

static void *work(void *user)
{
    struct rec_answers *a = user;
    unsigned idle = 0;

    while (!atomic_load(&a->stop)) {
        struct timespec t;

        /* questions come in crowds: it is not worth while to sleep between them */
        if (sem_trywait(&a->shared->ask) == 0) {
            answer_all(a);
            idle = 0;
            continue;
        }
        if (++idle < SPINS)
            continue;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_sec++;
        if (sem_timedwait(&a->shared->ask, &t) == 0)
            idle = 0;
        answer_all(a);
    }
    return NULL;
}

int rec_answers_begin(struct rec_answers **out, struct rec_shared *s, const struct rec_target *t,
                      struct trod_diag *diag)
{
    struct rec_answers *a = calloc(1, sizeof *a);

    *out = NULL;
    if (!a)
        return trod_error(diag, TROD_ERR_NOMEM, "record.memory", NULL, "out of memory");
    a->shared = s;
    a->set = t->plain;
    if (trod_insn_decoder_new(&a->decoder, t->isa, t->endian) < 0)
        a->decoder = NULL;
    name_all(s, a->set);
    if (pthread_create(&a->thread, NULL, work, a) != 0) {
        trod_insn_decoder_free(a->decoder);
        free(a);
        return trod_error(diag, TROD_ERR_NOMEM, "record.thread", NULL, "cannot start a thread");
    }
    *out = a;
    return TROD_OK;
}

void rec_answers_end(struct rec_answers *a)
{
    if (!a)
        return;
    atomic_store(&a->stop, true);
    sem_post(&a->shared->ask);
    pthread_join(a->thread, NULL);
    trod_insn_decoder_free(a->decoder);
    free(a);
}
