/*
 * event.c - exceptions, mode changes, signals, debug events.
 *
 * Implements docs/formats/tarmac.md, "What each record becomes" (TarmacTrace, "Event trace", EXC of
 * the ES family, signals of RTL, SIGNAL: and CADI lines).
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

enum { EVENT_MODE_CHANGE = 0x19, WORDS = 6 };

static bool starts(struct tm_word w, const char *text)
{
    size_t n = strlen(text);

    return w.n >= n && memcmp(w.p, text, n) == 0;
}

/* Kind of the row of event NUMBER (the table of "Event trace"); CORE: its name says CoreEvent_. */
uint8_t tm_event_kind(uint64_t number, bool core)
{
    const bool exception =
        (number >= 1 && number <= 8) || number == 0xe || (number >= 0x80 && number <= 0x8f);

    return number == EVENT_MODE_CHANGE ? TROD_MODE
           : exception || core         ? TROD_EXCEPTION
                                       : TROD_MARKER;
}

/* enum trod_event of a numbered event whose row is of KIND. */
uint8_t tm_event_what(uint8_t kind)
{
    return kind == TROD_MODE     ? TROD_EVENT_MODE
           : kind == TROD_MARKER ? TROD_EVENT_CORE
                                 : TROD_EVENT_EXCEPTION;
}

/* Name and state of a debug event or a signal: MARKER. */
static int marker(struct tm_line *l, struct tm_word name, struct tm_word value, uint8_t what)
{
    struct tm_row *row = tm_begin(l, TROD_MARKER);
    struct trod_detail_event *d = tm_detail(l, row, sizeof *d);
    int rc;

    if (!d)
        return TM_FULL;
    row->text = tm_slice(l, name);
    row->has |= TROD_COL_TEXT;
    d->what = what;
    if (value.n) {
        if ((rc = tm_hex(l, value, &row->value)) != TM_OK)
            return rc;
        row->has |= TROD_COL_VALUE;
        d->value_digits = tm_digits(value.n, 0);
    }
    d->rest = tm_slice(l, tm_rest(l));
    tm_add(l);
    return TM_OK;
}

/* Take the angle brackets off W; false: it has none. */
static bool angle_brackets(struct tm_word *w)
{
    if (w->n < 3 || w->p[0] != '<' || w->p[w->n - 1] != '>')
        return false;
    *w = (struct tm_word){w->p + 1, w->n - 2};
    return true;
}

/* The first WORDS words; returns how many there are. */
static int words_of(struct tm_line *l, struct tm_word *w)
{
    int n = 0;

    while (n < WORDS && (w[n] = tm_word(l)).n)
        n++;
    return n;
}

/* The value of an event, an address; where the manual's table has a dash there is none. */
static int event_address(struct tm_line *l, struct tm_word value, struct tm_row *row,
                         struct trod_detail_event *d)
{
    struct tm_addr a;
    int rc;

    if (tm_is(value, "-"))
        return TM_OK;
    if ((rc = tm_address(l, value, &a)) != TM_OK)
        return rc;
    tm_address_row(row, &a);
    d->addr_digits = tm_vdigits(a.vaddr, a.digits);
    d->paddr_digits = a.has_paddr ? tm_pdigits(a.paddr, a.pdigits) : 0;
    return TM_OK;
}

/*
 * <value> {<mode>} {<value1>} <number> <desc>. The number is the last hexadecimal word before the
 * name; ARMulator lines have no name.
 */
static int core_event(struct tm_line *l, const struct tm_word *w, int n)
{
    const bool lone = n > 1 && tm_is_hex(w[0]) && starts(w[1], "CoreEvent_"); /* no value */
    int number = lone ? 0 : n - 1, at = 1;
    struct tm_row *row;
    struct trod_detail_event *d;
    struct tm_word value = w[0];
    int rc;

    for (int i = 1; i < n && !lone; i++)
        if (!tm_is_hex(w[i]) && i > 1 && tm_is_hex(w[i - 1])) {
            number = i - 1;
            break;
        }
    if ((number < 1 && !lone) || !tm_is_hex(w[number]))
        return tm_bad(l, TM_MISSING_FIELD, n ? w[n - 1].p : l->e, "an event number is missing");
    row = tm_begin(l, TROD_EXCEPTION);
    if (!(d = tm_detail(l, row, sizeof *d)))
        return TM_FULL;
    d->angle = angle_brackets(&value);
    if ((!lone && (rc = event_address(l, value, row, d)) != TM_OK) ||
        (rc = tm_hex(l, w[number], &row->value)) != TM_OK)
        return rc;
    row->has |= TROD_COL_VALUE;
    d->value_digits = tm_digits(w[number].n, 8);
    for (size_t i = 0; i < w[number].n; i++)
        d->upper |= w[number].p[i] >= 'A' && w[number].p[i] <= 'F';
    if (at < number && (!tm_is_hex(w[at]) || w[at].n < 4))
        d->mode = tm_slice(l, w[at++]);
    if (at < number) {
        if ((rc = tm_hex(l, w[at], &d->value1)) != TM_OK)
            return rc;
        d->has_value1 = 1;
        d->value1_digits = tm_digits(w[at].n, 8);
        at++;
    }
    if (at < number)
        return tm_bad(l, TM_BAD_FIELD, w[at].p, "too many values before the event number");
    if (number + 1 < n) {
        row->text = tm_slice(l, w[number + 1]);
        row->has |= TROD_COL_TEXT;
        l->p = w[number + 1].p + w[number + 1].n;
        d->rest = tm_slice(l, tm_rest(l));
    }
    row->kind = tm_event_kind(row->value, number + 1 < n && starts(w[number + 1], "CoreEvent_"));
    d->what = tm_event_what(row->kind);
    tm_add(l);
    return TM_OK;
}

/* [vector] or 0xvector, as VALUE of ROW; TM_OTHER: there is none. */
static int vector(struct tm_line *l, struct tm_row *row, struct trod_detail_event *d, bool named)
{
    const uint8_t *back = l->p, *q;
    struct tm_word w;
    int rc;

    if (l->p == l->e || *l->p != '[') {
        w = tm_word(l);
        if (!named || w.n < 3 || w.p[0] != '0' || (w.p[1] | 0x20) != 'x' ||
            !tm_is_hex((struct tm_word){w.p + 2, w.n - 2})) {
            l->p = back;
            return TM_OTHER;
        }
        d->value_digits = 0x40;
    } else {
        q = memchr(l->p, ']', (size_t)(l->e - l->p));
        if (!q)
            return tm_bad(l, TM_BAD_FIELD, l->e, "']' is missing");
        w = (struct tm_word){l->p + 1, (size_t)(q - l->p - 1)};
        l->p = q + 1;
    }
    if ((rc = tm_hex(l, w, &row->value)) != TM_OK)
        return rc;
    row->has |= TROD_COL_VALUE;
    d->value_digits |= w.n > 1 && (w.p[1] | 0x20) == 'x' ? tm_digits(w.n - 2, 0)
                                                         : (uint8_t)(0x80 | tm_digits(w.n, 0));
    return TM_OK;
}

/* EXC [vector] name, or only a name; the cursor stands behind the word that STYLE names. */
int tm_parse_exc(struct tm_line *l, struct tm_word type, uint8_t style)
{
    struct tm_row *row;
    struct trod_detail_event *d;
    struct tm_word w;
    int rc;

    (void)type;
    if (style == TROD_EVENT_ES || style == TROD_EVENT_IT)
        tm_word(l); /* EXC */
    row = tm_begin(l, TROD_EXCEPTION);
    if (!(d = tm_detail(l, row, sizeof *d)))
        return TM_FULL;
    d->style = style;
    tm_blanks(l);
    rc = vector(l, row, d, style != TROD_EVENT_ES_NAME && style != TROD_EVENT_IT_NAME);
    if (rc == TM_BAD)
        return rc;
    w = tm_rest(l);
    if (!w.n && rc == TM_OTHER)
        return tm_bad(l, TM_MISSING_FIELD, l->e, "the name of an exception is missing");
    row->text = tm_slice(l, w);
    if (w.n)
        row->has |= TROD_COL_TEXT;
    tm_add(l);
    return TM_OK;
}

int tm_parse_event(struct tm_line *l, struct tm_word type)
{
    struct tm_word w[WORDS];
    const uint8_t *back = l->p;
    int n;

    if (tm_is(type, "EXC"))
        return tm_parse_exc(l, type, TROD_EVENT_EXC);
    n = words_of(l, w);
    if (n == 0)
        return tm_bad(l, TM_MISSING_FIELD, l->e, "the value of an event is missing");
    if (n <= 2 && !(n == 2 && tm_is_hex(w[0]) && w[0].n >= 8)) {
        struct tm_word none = {w[0].p, 0};
        bool debug = starts(w[0], "DebugEvent_");

        if (n == 2 && !tm_is_hex(w[1]))
            return TM_OTHER;
        l->p = w[n - 1].p + w[n - 1].n;
        return marker(l, w[0], n == 2 ? w[1] : none, debug ? TROD_EVENT_DEBUG : TROD_EVENT_SIGNAL);
    }
    l->p = back;
    if (starts(w[0], "DebugEvent_")) {
        l->p = w[1].p + w[1].n;
        return marker(l, w[0], w[1], TROD_EVENT_DEBUG);
    }
    return core_event(l, w, n);
}

/* CADI E simulation_stopped */
int tm_parse_cadi(struct tm_line *l, struct tm_word type)
{
    struct tm_word none = {l->p, 0}, name;

    (void)type;
    if (!tm_is(tm_word(l), "E"))
        return TM_OTHER;
    name = tm_word(l);
    return name.n ? marker(l, name, none, TROD_EVENT_DEBUGGER) : TM_OTHER;
}

/* SIGNAL: SIGNAL=Abort STATE=N */
int tm_parse_signal(struct tm_line *l, struct tm_word type)
{
    struct tm_word name = tm_word(l), state = tm_word(l);
    struct tm_row *row = &l->rows[l->n_rows];
    int rc;

    (void)type;
    if (!starts(name, "SIGNAL=") || state.n != 7 || !starts(state, "STATE=") ||
        (state.p[6] != 'Y' && state.p[6] != 'N'))
        return TM_OTHER;
    name.p += 7;
    name.n -= 7;
    rc = marker(l, name, (struct tm_word){state.p, 0}, TROD_EVENT_LINE);
    if (rc == TM_OK) {
        row->value = state.p[6] == 'Y';
        row->has |= TROD_COL_VALUE;
    }
    return rc;
}
