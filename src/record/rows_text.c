/*
 * rows_text.c - what lines of Tarmac and Trace Matcher have besides: disassembly, mode, letters of
 * accesses, atomic operations, program flow; which kinds of lines are written.
 *
 * Implements the functions of rows.h that say so. An instruction is disassembled once, its text is
 * kept in the log, where rows of it point to.
 */
#include "record/rows.h"

#include "trod/detail.h"

#include <string.h>

uint32_t rec_rows_keep(struct rec_shared *s, const void *p, size_t n)
{
    const uint64_t at = atomic_fetch_add(&s->log_used, (n + 7) & ~(size_t)7);

    if (at + n > REC_LOG_BYTES || at > UINT32_MAX >> 3)
        return 0;
    memcpy(rec_log(s) + at, p, n);
    return (uint32_t)at;
}

/*
 * What the mnemonics of A64's atomic memory operations begin with behind "ld" or "st", and the
 * names that the TarmacTrace document has for them ("Processor memory update trace").
 */
static const struct {
    const char *mnemonic, *name;
} atomics[REC_ATOMICS] = {
    {"ldadd", "ADD"},   {"ldclr", "BIC"},   {"cas", "CAS"}, {"ldeor", "EOR"},   {"ldset", "ORR"},
    {"ldsmax", "SMAX"}, {"ldsmin", "SMIN"}, {"swp", "SWP"}, {"ldumax", "UMAX"}, {"ldumin", "UMIN"}};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Which of atomics[] TEXT, of A64, is; REC_ATOMICS: none. */
static unsigned atomic_of(const char *text)
{
    unsigned i = 0;

    while (i < REC_ATOMICS && !begins(text, atomics[i].mnemonic) &&
           !(atomics[i].mnemonic[0] == 'l' && begins(text, "st") &&
             begins(text + 2, atomics[i].mnemonic + 2)))
        i++;
    return i;
}

/* Flags of the accesses of an Arm instruction TEXT: the letters of Tarmac's M lines. */
static uint32_t access_flags(const char *text)
{
    static const struct {
        const char *mnemonic;
        uint32_t flag;
    } known[] = {
        {"ldx", TROD_F_EXCLUSIVE},   {"ldax", TROD_F_EXCLUSIVE},  {"stx", TROD_F_EXCLUSIVE},
        {"stlx", TROD_F_EXCLUSIVE},  {"ldrex", TROD_F_EXCLUSIVE}, {"ldaex", TROD_F_EXCLUSIVE},
        {"strex", TROD_F_EXCLUSIVE}, {"stlex", TROD_F_EXCLUSIVE}, {"ldtr", TROD_F_UNPRIV},
        {"sttr", TROD_F_UNPRIV},     {"ldrt", TROD_F_UNPRIV},     {"ldrbt", TROD_F_UNPRIV},
        {"ldrht", TROD_F_UNPRIV},    {"ldrsbt", TROD_F_UNPRIV},   {"ldrsht", TROD_F_UNPRIV},
        {"strt", TROD_F_UNPRIV},     {"strbt", TROD_F_UNPRIV},    {"strht", TROD_F_UNPRIV},
        {"swp", TROD_F_LOCKED}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (begins(text, known[i].mnemonic))
            return known[i].flag;
    return 0;
}

static void keep_names(struct rec_rows *r)
{
    for (size_t i = 0; i < REC_ATOMICS; i++) {
        const uint32_t n = (uint32_t)strlen(atomics[i].name);
        const uint32_t at = rec_rows_keep(r->shared, atomics[i].name, n);

        r->atomics[i] = (struct trod_slice){at | (uint32_t)TROD_SLICE_SHARED, at ? n : 0};
    }
}

struct trod_slice rec_rows_atomic(const struct rec_rows *r, const struct rec_insn *in)
{
    const unsigned i = atomic_of((const char *)rec_log(r->shared) + in->text);

    return i < REC_ATOMICS ? r->atomics[i] : (struct trod_slice){0, 0};
}

int rec_rows_text_begin(struct rec_rows *r, const struct rec_target *t,
                        const struct trod_format *format)
{
    /* programs of a user are executed there */
    const char *mode = t->system                ? NULL
                       : t->isa == TROD_ISA_A64 ? "EL0t"
                       : t->isa == TROD_ISA_ARM ? "usr"
                                                : NULL;
    struct trod_detail_instr detail = {.mode.len = mode ? (uint32_t)strlen(mode) : 0};
    uint32_t at;
    int rc = trod_disasm_new(&r->disasm, t->isa, t->endian, NULL);

    if (rc == TROD_ERR_NOMEM)
        return rc;
    if (rc < 0)
        r->disasm = NULL;
    r->letters = strcmp(format->name, "tarmac") == 0;
    if (t->isa == TROD_ISA_A64 && r->letters)
        keep_names(r);
    if (!mode || !(detail.mode.off = rec_rows_keep(r->shared, mode, detail.mode.len)))
        return TROD_OK;
    detail.mode.off |= (uint32_t)TROD_SLICE_SHARED;
    if ((at = rec_rows_keep(r->shared, &detail, sizeof detail)) != 0)
        r->mode = (struct trod_slice){at | (uint32_t)TROD_SLICE_SHARED, sizeof detail};
    return TROD_OK;
}

void rec_rows_text(struct rec_rows *r, struct rec_insn *in)
{
    const unsigned iset = (in->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT;
    const uint32_t size = in->length < REC_INSN_CODE ? in->length : REC_INSN_CODE;
    const char *text;
    size_t n;

    in->text = 0;
    in->text_len = 0;
    if (!r->disasm)
        return;
    text = trod_disasm_text(r->disasm, iset, in->pc, in->code, size, &n);
    /* with a NUL: mnemonics are compared */
    if (n && (in->text = rec_rows_keep(r->shared, text, n + 1)) != 0)
        in->text_len = (uint8_t)n;
    if (in->text_len == 0 || begins(text, ".byte")) {
        in->flags |= (uint32_t)UNNAMED;
        return;
    }
    if (r->set != REC_A64 && r->set != REC_ARM)
        return;
    if (r->atomics[0].len && atomic_of(text) < REC_ATOMICS)
        in->flags |= REC_ATOMIC;
    else if (r->letters)
        in->flags |= access_flags(text);
}

void rec_rows_branch(struct rec_rows *r, const struct rec_stream *st, const struct rec_insn *next)
{
    const struct rec_insn *in = st->last;
    const uint32_t branch = in->flags & TROD_F_BRANCH;
    struct trod_detail_branch *d;
    struct trod_batch *b = r->b;
    const uint32_t i = b->n;
    const uint32_t iset = r->set == REC_A64   ? (uint32_t)TROD_ISET_A64
                          : r->set != REC_ARM ? (uint32_t)TROD_ISET_NONE
                          : next->thumb       ? (uint32_t)TROD_ISET_T32
                                              : (uint32_t)TROD_ISET_A32;

    if (branch == TROD_BR_NONE || branch == TROD_BR_SYSCALL || next->pc == in->pc + in->size)
        return;
    d = trod_batch_pool(b, sizeof *d, &b->detail[i]);
    if (!d)
        return;
    *d = (struct trod_detail_branch){.has_iset = iset != TROD_ISET_NONE};
    b->n++;
    b->has[i] = ROW_COMMON | TROD_COL_ADDR | TROD_COL_PC | TROD_COL_TARGET | TROD_COL_INDEX |
                TROD_COL_DETAIL;
    b->kind[i] = TROD_BRANCH;
    b->flags[i] = (branch == TROD_BR_COND ? (uint32_t)TROD_BR_COND_TAKEN : branch) |
                  iset << TROD_F_ISET_SHIFT;
    b->stream[i] = st->number;
    b->time[i] = st->time;
    b->addr[i] = b->pc[i] = in->pc;
    b->target[i] = next->pc;
    b->index[i] = st->executed;
}

void rec_rows_choose(struct rec_rows *r)
{
    struct trod_batch *b = r->b;
    uint8_t keep[ROWS];

    for (uint32_t i = 0; i < b->n; i++)
        keep[i] = r->kinds >> b->kind[i] & 1;
    trod_batch_keep(b, keep);
}
