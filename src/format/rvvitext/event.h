/*
 * event.h - an event of RVVI-TEXT while it is read: what its elements share.
 */
#ifndef TROD_FORMAT_RVVITEXT_EVENT_H
#define TROD_FORMAT_RVVITEXT_EVENT_H

#include "format/rvvitext/rvvitext.h"

enum { RVVI_NO_ROW = -1 };

enum { RVVI_CLOCK_CYCLE, RVVI_CLOCK_TIME, RVVI_CLOCKS };

/* An event, as far as it is read. */
struct rvvi_event {
    struct rvvi_dec *d;
    struct ln_line *l;
    struct rvvi_now now;
    const uint8_t *caret;          /* of the first fault */
    const char *why;               /* NULL: there was none */
    uint32_t seen;                 /* bits 1 << enum rvvi_key: elements that stood here */
    uint32_t leading;              /* those that stand before what they are of */
    uint32_t untimed[RVVI_CLOCKS]; /* first row that the next one of a clock is of */
    uint32_t stream;
    bool has_stream, has_order;
    uint64_t order; /* of the instruction that comes next */
    /* the instruction that elements belong to */
    bool instr, trap, has_cause, has_tval;
    int64_t row; /* its row; RVVI_NO_ROW: there was no room */
    uint64_t pc, opcode, cause, tval;
};

/* R is a row of KIND, of the hart and the instruction that it is about. LN_OK, LN_BAD, LN_FATAL. */
enum ln_result rvvi_row(struct rvvi_event *ev, struct ln_row *r, enum trod_kind kind);
/* The N bytes at TEXT become the text of R. LN_OK or LN_FULL. */
enum ln_result rvvi_text(struct rvvi_event *ev, struct ln_row *r, const char *text, size_t n);

static inline bool rvvi_has_room(const struct rvvi_event *ev)
{
    return ev->l->b->n - ev->l->first < RVVI_ROWS_MAX;
}

/* Append R; where the event has too many rows, there is a warning. LN_OK or LN_FULL. */
static inline enum ln_result rvvi_put(struct rvvi_event *ev, const struct ln_row *r)
{
    if (rvvi_has_room(ev))
        return ln_put(ev->l, r) ? LN_OK : LN_FULL;
    ev->l->warning = "event does more than there is room for: 2048 rows are given";
    ev->l->warned = NULL;
    return LN_OK;
}

/*
 * Does KEY stand before the element it belongs to in this event, as it did the first time? BEFORE:
 * here it must.
 */
static inline bool rvvi_leads(struct rvvi_event *ev, enum rvvi_key key, bool before)
{
    const uint32_t bit = UINT32_C(1) << key;

    if (!(ev->seen & bit) && before)
        ev->leading |= bit;
    ev->seen |= bit;
    return before || ev->leading & bit;
}

/*
 * The instruction's row has the columns COL, which the caller is about to set; false: they are not
 * wanted.
 */
static inline bool rvvi_amend(const struct rvvi_event *ev, uint32_t col)
{
    if (!ev->instr || ev->row == RVVI_NO_ROW || !(ev->l->b->have & col))
        return false;
    ev->l->b->has[ev->row] |= col;
    return true;
}

/* Elements, each behind its key. LN_OK; LN_BAD, LN_FULL, LN_FATAL. */
enum ln_result rvvi_mode(struct rvvi_event *ev, enum rvvi_key key); /* MODE, VIRT, DM */
enum ln_result rvvi_reg(struct rvvi_event *ev, enum ln_rv_class class);
enum ln_result rvvi_csr(struct rvvi_event *ev);
enum ln_result rvvi_mem(struct rvvi_event *ev, const uint8_t *key); /* KEY is the word MEM */

#endif
