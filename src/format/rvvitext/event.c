/*
 * event.c - what an event of RVVI-TEXT says, element by element.
 *
 * Implements rvvi_event of rvvitext.h; docs/formats/rvvitext.md.
 */
#include "format/rvvitext/event.h"

enum {
    LAST_MINOR = 4, /* the newest version that is known is 0.4 */
    /* bits by number of the exception: the fetch failed; the access of the instruction did */
    FETCH_FAULTS = 1 << 1 | 1 << 12 | 1 << 20,
    ACCESS_FAULTS = 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 13 | 1 << 15 | 1 << 21 | 1 << 23,
    FAULTS = 24
};

/* ---- rows */

/* R is a row of KIND, of the hart and the instruction that it is about. LN_OK, LN_BAD, LN_FATAL. */
enum ln_result rvvi_row(struct rvvi_event *ev, struct ln_row *r, enum trod_kind kind)
{
    *r = (struct ln_row){.kind = (uint8_t)kind};
    if (ev->now.timed) {
        r->has |= TROD_COL_TIME | TROD_COL_UNIT;
        r->time = ev->now.has_time ? ev->now.time : ev->now.cycles;
        r->unit = ev->now.has_time ? ev->now.unit : (uint8_t)TROD_UNIT_CYCLES;
    }
    if (ev->instr) {
        r->has |= TROD_COL_PC;
        r->pc = ev->pc;
    }
    if (!ev->has_stream) {
        const enum ln_result rc = ln_stream(&ev->d->cpus, ev->l, ev->d->meta, ev->now.hart, r);

        if (rc != LN_OK)
            return rc;
        ev->stream = r->stream;
        ev->has_stream = true;
    }
    r->has |= TROD_COL_STREAM;
    r->stream = ev->stream;
    return LN_OK;
}

/* The N bytes at TEXT become the text of R. */
enum ln_result rvvi_text(struct rvvi_event *ev, struct ln_row *r, const char *text, size_t n)
{
    char *out;

    r->has |= TROD_COL_TEXT;
    if (!(ev->l->b->have & TROD_COL_TEXT) || !rvvi_has_room(ev))
        return LN_OK;
    out = trod_batch_pool(ev->l->b, (uint32_t)n, &r->text);
    if (!out)
        return LN_FULL;
    memcpy(out, text, n);
    return LN_OK;
}

/* ---- instructions */

/* The exception of an instruction that did not retire, behind all that the event says of it. */
static enum ln_result end_instr(struct rvvi_event *ev)
{
    const struct trod_batch *b = ev->l->b;
    const uint32_t fault = ev->has_cause && ev->cause < FAULTS ? UINT32_C(1) << ev->cause : 0;
    const char *name = ev->has_cause ? ln_rv_cause_name(ev->cause) : NULL;
    struct ln_row r;
    enum ln_result rc;

    if (!ev->instr || !ev->trap) {
        ev->instr = false;
        return LN_OK;
    }
    if (ev->row != RVVI_NO_ROW && b->have & TROD_COL_FLAGS)
        for (uint32_t i = (uint32_t)ev->row; i < b->n; i++)
            if (b->kind[i] == TROD_INSTR ? fault & FETCH_FAULTS
                                         : b->kind[i] != TROD_REG && fault & ACCESS_FAULTS)
                b->flags[i] |= TROD_F_ABORTED;
    rc = rvvi_row(ev, &r, TROD_EXCEPTION);
    ev->instr = false;
    if (ev->has_cause) {
        r.has |= TROD_COL_VALUE;
        r.value = ev->cause;
    }
    if (ev->has_tval) {
        r.has |= TROD_COL_ADDR;
        r.addr = ev->tval;
    }
    if (rc == LN_OK && name)
        rc = rvvi_text(ev, &r, name, strlen(name));
    return rc == LN_OK ? rvvi_put(ev, &r) : rc;
}

/* "RET 80000b20 40000213", "TRAP ..." */
static enum ln_result instr(struct rvvi_event *ev, bool trap)
{
    const struct rvvi_mode *mode;
    uint64_t pc, opcode;
    unsigned digits;
    struct ln_row r;
    enum ln_result rc = end_instr(ev);

    if (rc == LN_OK)
        rc = rvvi_hex(ev->l, &pc, &digits, "the address of an instruction is due here");
    if (rc == LN_OK)
        rc = rvvi_hex(ev->l, &opcode, &digits, "an opcode is due here");
    if (rc == LN_OK)
        rc = rvvi_row(ev, &r, TROD_INSTR);
    if (rc != LN_OK)
        return rc;
    r.has |= TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SIZE;
    r.addr = r.pc = pc;
    r.size = ln_rv_length(opcode, digits);
    mode = rvvi_mode_of(ev->d, ev->now.hart);
    if (mode->known) {
        r.has |= TROD_COL_SUB;
        r.sub = mode->mode;
    }
    if (ev->has_order) {
        r.has |= TROD_COL_INDEX;
        r.index = ev->order;
    }
    if (rvvi_has_room(ev) && !ln_code(ev->l, &r, opcode, r.size, false))
        return LN_FULL;
    ev->row = rvvi_has_room(ev) ? (int64_t)ev->l->b->n : RVVI_NO_ROW;
    ev->instr = true;
    ev->trap = trap;
    ev->pc = pc;
    ev->opcode = opcode;
    ev->has_order = ev->has_cause = ev->has_tval = false;
    return rvvi_put(ev, &r);
}

static enum ln_result order(struct rvvi_event *ev)
{
    uint64_t n;
    const enum ln_result rc = rvvi_dec(ev->l, &n, "the order of an instruction is due here");

    if (rc != LN_OK)
        return rc;
    if (rvvi_leads(ev, RVVI_ORDER, !ev->instr)) {
        ev->has_order = true;
        ev->order = n;
    } else if (rvvi_amend(ev, TROD_COL_INDEX)) {
        ev->l->b->index[ev->row] = n;
    }
    return LN_OK;
}

/* "HART 1": what follows is its. */
static enum ln_result hart(struct rvvi_event *ev)
{
    uint64_t number;
    enum ln_result rc = end_instr(ev);

    if (rc == LN_OK)
        rc = rvvi_dec(ev->l, &number, "the number of a hart is due here");
    if (rc != LN_OK)
        return rc;
    ev->has_stream = ev->has_stream && number == ev->now.hart;
    ev->has_order = false;
    ev->now.hart = number;
    return LN_OK;
}

static enum ln_result issue(struct rvvi_event *ev)
{
    uint64_t slot;
    const enum ln_result rc = end_instr(ev);

    return rc == LN_OK ? rvvi_dec(ev->l, &slot, "the number of a slot is due here") : rc;
}

/* ---- time */

/* CYCLE, TIME: rows of this event that no such element was about, and what follows. */
static enum ln_result elapse(struct rvvi_event *ev, bool time)
{
    struct trod_batch *b = ev->l->b;
    const enum rvvi_key key = time ? RVVI_TIME : RVVI_CYCLE;
    uint64_t delta, *const sum = time ? &ev->now.time : &ev->now.cycles;
    const enum ln_result rc = rvvi_dec(ev->l, &delta, "an amount of time is due here");
    bool before;

    if (rc != LN_OK)
        return rc;
    *sum += delta;
    before = rvvi_leads(ev, key, b->n == ev->l->first);
    if (ev->now.has_time && !time)
        return LN_OK;
    ev->now.timed = 1;
    ev->now.has_time = time;
    for (uint32_t i = ev->untimed[time]; !before && i < b->n; i++) {
        b->has[i] |= b->have & (TROD_COL_TIME | TROD_COL_UNIT);
        if (b->have & TROD_COL_TIME)
            b->time[i] = *sum;
        if (b->have & TROD_COL_UNIT)
            b->unit[i] = time ? ev->now.unit : (uint8_t)TROD_UNIT_CYCLES;
    }
    ev->untimed[time] = b->n;
    return LN_OK;
}

/* ---- about the trace */

/* A NOTE whose text is the key up to KEY_END; of no hart where it is about the TRACE. */
static enum ln_result put_note(struct rvvi_event *ev, const uint8_t *key, const uint8_t *key_end,
                               bool trace)
{
    struct ln_row r = {.kind = TROD_NOTE};
    const enum ln_result rc = trace ? LN_OK : rvvi_row(ev, &r, TROD_NOTE);

    r.has |= TROD_COL_TEXT;
    r.text = ln_slice(ev->l, key, key_end);
    return rc == LN_OK ? rvvi_put(ev, &r) : rc;
}

static enum ln_result version(struct rvvi_event *ev)
{
    const uint8_t *const from = ev->l->p;
    uint64_t major, minor;
    enum ln_result rc = rvvi_dec(ev->l, &major, "the number of a version is due here");

    if (rc == LN_OK)
        rc = rvvi_dec(ev->l, &minor, "the second number of a version is due here");
    if (rc == LN_OK && (major > 0 || minor > LAST_MINOR)) {
        ev->l->warning = "version is newer than 0.4, the last one known: elements that it does "
                         "not have are passed over";
        ev->l->warned = from;
    }
    return rc;
}

/* Is the word [P, E) TEXT, in upper or lower case? */
static bool is_word(const uint8_t *p, const uint8_t *e, const char *text)
{
    while (p < e && (*p & 0xdf) == (uint8_t)*text) {
        p++;
        text++;
    }
    return p == e && !*text;
}

static uint8_t unit_of(const uint8_t *p, const uint8_t *e)
{
    const int unit = trod_unit_find((const char *)p, (size_t)(e - p));

    return unit >= TROD_UNIT_FS && unit <= TROD_UNIT_S ? (uint8_t)unit : (uint8_t)TROD_UNIT_PS;
}

/* "PARAMS 2 XLEN 64 TIMESCALE ns" */
static enum ln_result params(struct rvvi_event *ev)
{
    struct ln_line *l = ev->l;
    uint64_t n;
    enum ln_result rc = rvvi_dec(l, &n, "a number of parameters is due here");

    for (; rc == LN_OK && n > 0; n--) {
        const uint8_t *key, *key_end;

        rc = rvvi_space(l);
        key = l->p;
        if (rc == LN_OK)
            rc = rvvi_word(l);
        key_end = l->p;
        if (rc == LN_OK)
            rc = rvvi_space(l);
        if (rc != LN_OK)
            break;
        if (is_word(key, key_end, "XLEN")) {
            rc = rvvi_dec(l, &ev->now.xlen, "a number of bits is due here");
        } else if (is_word(key, key_end, "FLEN")) {
            rc = rvvi_dec(l, &ev->now.flen, "a number of bits is due here");
        } else {
            const uint8_t *value = l->p;

            rc = rvvi_word(l);
            if (rc == LN_OK && is_word(key, key_end, "TIMESCALE"))
                ev->now.unit = unit_of(value, l->p);
        }
    }
    return rc;
}

/* What RVVI-TEXT has and no row does; KEY_END is behind the key. */
static enum ln_result note(struct rvvi_event *ev, enum rvvi_key key, const uint8_t *from)
{
    const uint8_t *const key_end = ev->l->p;
    enum ln_result rc;
    uint64_t n;

    switch (key) {
    case RVVI_VERSION:
        rc = version(ev);
        break;
    case RVVI_PARAMS:
        rc = params(ev);
        break;
    case RVVI_VENDOR:
        rc = rvvi_words(ev->l, 3);
        break;
    case RVVI_META:
        rc = rvvi_dec(ev->l, &n, "a number of words is due here");
        if (rc == LN_OK)
            rc = rvvi_words(ev->l, n);
        break;
    default: /* NET, STATE */
        rc = rvvi_words(ev->l, 2);
    }
    if (rc != LN_OK)
        return rc;
    return put_note(ev, from, key_end,
                    key == RVVI_VERSION || key == RVVI_PARAMS || key == RVVI_VENDOR);
}

/* ---- elements */

/* LN_WAIT: the word at the cursor begins none. */
static enum ln_result element(struct rvvi_event *ev)
{
    const uint8_t *const from = ev->l->p;
    const enum rvvi_key key = rvvi_key_at(ev->l);

    switch (key) {
    case RVVI_NONE:
        return LN_WAIT;
    case RVVI_HART:
        return hart(ev);
    case RVVI_ISSUE:
        return issue(ev);
    case RVVI_ORDER:
        return order(ev);
    case RVVI_RET:
    case RVVI_TRAP:
        return instr(ev, key == RVVI_TRAP);
    case RVVI_X:
        return rvvi_reg(ev, LN_RV_X);
    case RVVI_F:
        return rvvi_reg(ev, LN_RV_F);
    case RVVI_V:
        return rvvi_reg(ev, LN_RV_V);
    case RVVI_C:
        return rvvi_csr(ev);
    case RVVI_MODE:
    case RVVI_VIRT:
    case RVVI_DM:
        return rvvi_mode(ev, key);
    case RVVI_CYCLE:
    case RVVI_TIME:
        return elapse(ev, key == RVVI_TIME);
    case RVVI_MEM:
        return rvvi_mem(ev, from);
    default:
        return note(ev, key, from);
    }
}

/* All elements. LN_OK, with what was wrong in EV; LN_FULL, LN_FATAL. */
static enum ln_result elements(struct rvvi_event *ev)
{
    struct ln_line *l = ev->l;

    for (;;) {
        enum ln_result rc = rvvi_space(l);

        if (rc == LN_OK && l->p == l->e)
            return LN_OK;
        if (rc == LN_OK)
            rc = element(ev);
        if (rc == LN_FULL || rc == LN_FATAL)
            return rc;
        if (rc == LN_WAIT && !l->warning) {
            l->warning = "element is not known: passed over up to the next one that is (they are "
                         "in docs/formats/rvvitext.md)";
            l->warned = l->p;
        }
        if (rc == LN_BAD && !ev->why) {
            ev->why = l->why;
            ev->caret = l->caret;
        }
        if (rc != LN_OK)
            rvvi_to_key(l);
    }
}

enum ln_result rvvi_event(struct rvvi_dec *d, struct ln_line *l)
{
    struct rvvi_event ev;
    enum ln_result rc;

    memset(&ev, 0, sizeof ev);
    ev.d = d;
    ev.l = l;
    ev.now = d->now;
    ev.untimed[RVVI_CLOCK_CYCLE] = ev.untimed[RVVI_CLOCK_TIME] = l->first;
    d->event++;
    rc = elements(&ev);
    if (rc == LN_OK)
        rc = end_instr(&ev);
    if (rc == LN_FULL)
        d->failed = d->event;
    if (rc != LN_OK)
        return rc;
    d->now = ev.now;
    if (!ev.why)
        return LN_OK;
    l->keep = true;
    l->why = ev.why;
    l->caret = ev.caret;
    return LN_BAD;
}
