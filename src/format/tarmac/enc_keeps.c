/*
 * enc_keeps.c - what lines of Tarmac and Trace Matcher keep of rows of each kind.
 *
 * Implements docs/formats/tarmac.md, "What is lost". What single rows cannot say is counted where
 * their line is written (tm_lose).
 */
#include "format/tarmac/encode.h"

/* Columns that any line has, then those of each kind of line. */
enum {
    ANY = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_TIME | TROD_COL_UNIT |
          TROD_COL_SUB | TROD_COL_RAW,
    FLOW = TROD_COL_PC, /* it is the address, or that of the instruction whose line is before */
    PLACE = TROD_COL_ADDR | TROD_COL_PADDR,
    NUMBER = TROD_COL_VALUE | TROD_COL_DATA
};

static const uint32_t lines[TROD_KINDS] = {
    [TROD_NOTE] = TROD_COL_ALL,
    [TROD_INSTR] = FLOW | PLACE | TROD_COL_SIZE | TROD_COL_INDEX | TROD_COL_CODE | TROD_COL_TEXT |
                   TROD_COL_TARGET,
    [TROD_READ] = FLOW | PLACE | TROD_COL_SIZE | NUMBER,
    [TROD_WRITE] = FLOW | PLACE | TROD_COL_SIZE | NUMBER,
    [TROD_ATOMIC] = FLOW | PLACE | TROD_COL_SIZE | NUMBER | TROD_COL_TEXT,
    [TROD_REG] = FLOW | TROD_COL_SIZE | NUMBER | TROD_COL_TEXT,
    [TROD_BRANCH] = FLOW | PLACE | TROD_COL_INDEX | TROD_COL_TARGET,
    [TROD_EXCEPTION] = PLACE | TROD_COL_VALUE | TROD_COL_TEXT,
    [TROD_MODE] = PLACE | TROD_COL_VALUE | TROD_COL_TEXT,
    [TROD_MARKER] = TROD_COL_VALUE | TROD_COL_TEXT,
    [TROD_CACHE_OP] = PLACE | TROD_COL_VALUE | TROD_COL_TEXT,
    [TROD_CACHE_LINE] = TROD_COL_PADDR | TROD_COL_VALUE | TROD_COL_TEXT,
    [TROD_WALK] = TROD_COL_PADDR | TROD_COL_VALUE | TROD_COL_TEXT,
    [TROD_TLB] = PLACE | TROD_COL_SIZE | TROD_COL_TEXT,
    [TROD_BUS] = TROD_COL_PADDR | TROD_COL_SIZE | NUMBER,
};

static uint32_t flags_of(unsigned kind, bool matcher, bool es)
{
    const uint32_t access = TROD_F_UNPRIV | TROD_F_LOCKED | TROD_F_IFETCH | TROD_F_ABORTED;
    const uint32_t sec = matcher ? 0 : TROD_F_SEC;

    switch (kind) {
    case TROD_INSTR:
        return TROD_F_ISET | TROD_F_SKIPPED | (es ? 0 : sec);
    case TROD_READ:
    case TROD_WRITE:
        if (es)
            return sec;
        return sec | access | (matcher ? TROD_F_PRIV : TROD_F_EXCLUSIVE);
    case TROD_BUS:
        return sec | TROD_F_IFETCH | TROD_F_LOCKED | TROD_F_EXCLUSIVE | TROD_F_PRIV |
               TROD_F_ABORTED;
    case TROD_WALK: /* its result says so */
        return sec | TROD_F_ABORTED;
    case TROD_BRANCH:
        return sec | TROD_F_ISET | TROD_F_BRANCH;
    case TROD_NOTE:
        return UINT32_MAX;
    default:
        return sec;
    }
}

void tm_keeps(int dialect, const struct trod_meta *meta, struct trod_keeps *k)
{
    const bool matcher = dialect < 0, es = dialect == TM_ES;
    const bool from_tarmac = meta->format && strcmp(meta->format, "tarmac") == 0;
    const bool from_matcher = meta->format && strcmp(meta->format, "matcher") == 0;
    const uint32_t writes = matcher ? ~(uint32_t)(TROD_COL_PADDR | TROD_COL_TARGET) : TROD_COL_ALL;

    if (!meta->format || (matcher && from_matcher) ||
        (!matcher && from_tarmac && dialect == tm_written_dialect(NULL, meta)))
        return;
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        /* within one family lines and details have the same fields */
        k->columns[i] = (from_tarmac || from_matcher ? TROD_COL_ALL : ANY | lines[i]) & writes;
        k->flags[i] = flags_of(i, matcher, es);
    }
    if (es) {
        k->columns[TROD_INSTR] &= ~(uint32_t)(TROD_COL_INDEX | TROD_COL_PADDR);
        k->lost |= TROD_COL_INDEX | TROD_COL_PADDR;
    }
}
