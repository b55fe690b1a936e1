/*
 * rows_text.c - what lines of Tarmac and Trace Matcher have besides: disassembly, mode.
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

int rec_rows_text_begin(struct rec_rows *r, const struct rec_target *t)
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
    if (n && (in->text = rec_rows_keep(r->shared, text, n)) != 0)
        in->text_len = (uint8_t)n;
}
