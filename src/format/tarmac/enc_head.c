/*
 * enc_head.c - the head of a line: time, unit, source.
 *
 * Implements docs/formats/tarmac.md, "Writing". Rows of the same dialect get the head of their own
 * record; others one made from their columns.
 */
#include "format/tarmac/encode.h"

enum { STREAM_NAME_MAX = 256, ES_INDENT = 20, ES_TIME = 11 };

static void put_time(struct tm_put *o, uint64_t v, unsigned decimals)
{
    uint64_t scale = 1;

    for (unsigned i = 0; i < decimals; i++)
        scale *= 10;
    tm_put_decimal(o, v / scale);
    if (!decimals)
        return;
    tm_putc(o, '.');
    for (v %= scale; decimals-- > 0; v %= scale) {
        scale /= 10;
        tm_putc(o, (char)('0' + v / scale));
    }
}

/* Is C written as it is in a name from another dialect or format? */
static bool plain(uint8_t c)
{
    return (uint8_t)((c | 0x20) - 'a') < 26 || (uint8_t)(c - '0') < 10 ||
           memchr("_.[]/-<>#", c, 9) != NULL;
}

bool tm_ask_name(struct tm_enc *e, uint32_t stream)
{
    const struct trod_stream *s = stream < e->meta->n_streams ? &e->meta->streams[stream] : NULL;
    size_t i = 0;

    while (s && i < s->name_len && i < STREAM_NAME_MAX && plain((uint8_t)s->name[i]))
        i++;
    e->asked = stream + 1;
    e->keeps_name = !s || i == s->name_len;
    return e->keeps_name;
}

/*
 * Write the LEN bytes at NAME, a name from another dialect or format, as a word that is read back
 * as a name, to TO, which has room for more. Returns its length.
 */
static size_t name_for(const char *name, size_t len, uint8_t *to)
{
    const uint8_t *const word = to + 3;

    memcpy(to, "cpu", 3);
    for (size_t i = 0; i < len; i++) {
        const uint8_t c = (uint8_t)name[i];

        to[3 + i] = plain(c) ? c : '_';
    }
    if (tm_named((struct tm_word){word, len}) == TM_NO_NAME)
        return len + 3;
    memmove(to, word, len);
    return len;
}

/* Would the name of STREAM be read as a unit behind a time that has none? */
static bool needs_unit(const struct tm_put *o, uint32_t stream)
{
    const struct tm_enc *e = o->e;
    const struct trod_stream *s = stream < e->meta->n_streams ? &e->meta->streams[stream] : NULL;
    uint8_t name[STREAM_NAME_MAX + 3];
    size_t len;

    if (e->flavour->matcher || !s || !s->name_len || s->name_len > STREAM_NAME_MAX)
        return false;
    len = name_for(s->name, s->name_len, name);
    return tm_named((struct tm_word){name, len}) != TM_CPU_NAME;
}

/* The name of STREAM, as a word; for Trace Matcher a number. */
static void put_source(struct tm_put *o, uint32_t stream)
{
    const struct tm_enc *e = o->e;
    const struct trod_stream *s = stream < e->meta->n_streams ? &e->meta->streams[stream] : NULL;
    size_t len = s ? s->name_len < STREAM_NAME_MAX ? s->name_len : STREAM_NAME_MAX : 0, digits = 0;

    while (digits < len && (uint8_t)(s->name[len - 1 - digits] - '0') < 10)
        digits++;
    if (e->flavour->matcher && !e->same) {
        bool cpu = s && digits && len - digits == 3 && memcmp(s->name, "cpu", 3) == 0;

        if (s && digits == len && len)
            tm_put_bytes(o, (const uint8_t *)s->name, len);
        else if (cpu)
            tm_put_bytes(o, (const uint8_t *)s->name + 3, digits);
        else
            tm_put_decimal(o, stream);
    } else if (!s || !len || (digits == len && !e->same)) {
        tm_puts(o, "cpu");
        if (s && len)
            tm_put_bytes(o, (const uint8_t *)s->name, len);
        else
            tm_put_decimal(o, stream);
    } else if (e->same) {
        for (size_t i = 0; i < len; i++)
            tm_putc(o, (uint8_t)s->name[i] > ' ' ? s->name[i] : '_');
    } else {
        uint8_t name[STREAM_NAME_MAX + 3];

        tm_put_bytes(o, name, name_for(s->name, len, name));
    }
    tm_putc(o, ' ');
}

/* Unit of row O: its own, the trace's where rows of other formats carry none, clk at last. */
static uint8_t unit_of(const struct tm_put *o)
{
    if (o->has & TROD_COL_UNIT)
        return o->b->unit[o->row];
    if (o->e->own || !(o->has & TROD_COL_TIME))
        return TROD_UNIT_NONE;
    return o->e->meta->unit & 0xf ? o->e->meta->unit : (uint8_t)TROD_UNIT_CLK;
}

/* Did the record leave its time to the line before it? */
static bool time_before(const struct tm_put *o)
{
    return o->e->same && (o->flags & TROD_F_TIME_BEFORE);
}

/* The same of its cpu. */
static bool stream_before(const struct tm_put *o)
{
    return o->e->same && (o->flags & TROD_F_STREAM_BEFORE);
}

/* Is the time of row O another than a line without one is read to have? */
static bool other_time(const struct tm_put *o)
{
    return (o->has & TROD_COL_TIME) && !tm_knows_time(o->e, o->b->time[o->row], unit_of(o));
}

/* Is the cpu of row O another than a line without one is read to have? */
static bool other_stream(const struct tm_put *o)
{
    const uint8_t kind = o->b->kind[o->row];

    return (o->has & TROD_COL_STREAM) &&
           !(tm_knows_stream(o->e, o->b->stream[o->row]) &&
             (kind == TROD_REG || kind == TROD_READ || kind == TROD_WRITE || kind == TROD_ATOMIC));
}

static bool says_more(const struct tm_put *o)
{
    return (time_before(o) && other_time(o)) || (stream_before(o) && other_stream(o));
}

/* Whether the line has a time. */
static bool says_time(const struct tm_put *o)
{
    return (o->has & TROD_COL_TIME) && (!time_before(o) || other_time(o));
}

/* Whether a line of the same dialect has a cpu: with a time that its record did not say, it does.
 */
static bool says_stream(const struct tm_put *o)
{
    return (o->has & TROD_COL_STREAM) &&
           (!stream_before(o) || other_stream(o) || (time_before(o) && other_time(o)));
}

bool tm_says_head(const struct tm_put *o)
{
    return says_time(o) || says_stream(o);
}

static bool wants_source(const struct tm_put *o, bool instruction)
{
    const struct tm_enc *e = o->e;

    if (!(o->has & TROD_COL_STREAM))
        return false;
    if (e->same)
        return says_stream(o);
    if (!e->flavour->matcher || instruction)
        return true;
    return other_stream(o); /* the format has no place: see the page */
}

/* Whether the line begins a new time in the es dialect; else it goes below the last one. */
static bool es_timed(const struct tm_put *o)
{
    const struct tm_enc *e = o->e;

    if (!(o->has & TROD_COL_TIME) && (o->has & TROD_COL_UNIT) && e->same)
        return true; /* a time was lost */
    if (!says_time(o))
        return !e->own && o->b->kind[o->row] == TROD_INSTR;
    if (!e->gather || o->b->kind[o->row] == TROD_INSTR)
        return true;
    return other_time(o) || ((o->has & TROD_COL_STREAM) && o->b->stream[o->row] != e->last_stream);
}

static void put_unit(struct tm_put *o, uint8_t unit)
{
    const char *name = trod_meta_unit_name(o->e->meta, unit);

    if (!*name)
        return;
    tm_puts(o, name);
    tm_putc(o, ' ');
}

/* A line that names STREAM has been written. */
static void named(struct tm_enc *e, uint32_t stream, uint8_t kind)
{
    e->last_stream = stream;
    e->sourced = e->sourced || (kind != TROD_NOTE && e->lines < TM_HEAD_LINES);
}

/* Is STREAM called in the output as it was in the source? */
static bool same_name(const struct tm_put *o, uint32_t stream)
{
    const struct trod_meta *meta = o->e->meta;
    uint8_t text[STREAM_NAME_MAX + 16];
    struct tm_put name = {.e = o->e, .p = text};
    const struct trod_stream *s = stream < meta->n_streams ? &meta->streams[stream] : NULL;

    put_source(&name, stream);
    return s && (size_t)(name.p - text) == s->name_len + 1 &&
           memcmp(text, s->name, s->name_len) == 0;
}

void tm_follow(const struct tm_put *o)
{
    struct tm_enc *e = o->e;

    if (!(o->flags & TROD_F_TIME_BEFORE) && (o->has & (TROD_COL_TIME | TROD_COL_UNIT))) {
        if (o->has & TROD_COL_TIME) {
            e->time = o->b->time[o->row];
            e->timed = true;
        }
        e->unit = o->has & TROD_COL_UNIT ? o->b->unit[o->row] : (uint8_t)TROD_UNIT_NONE;
    }
    if ((o->has & TROD_COL_STREAM) && !(o->flags & TROD_F_STREAM_BEFORE)) {
        const uint32_t stream = o->b->stream[o->row];

        named(e, e->same || same_name(o, stream) ? stream : TM_NO_STREAM, o->b->kind[o->row]);
    }
}

/* The source of O, which the line names. */
static void name_source(struct tm_put *o)
{
    put_source(o, o->b->stream[o->row]);
    named(o->e, o->b->stream[o->row], o->b->kind[o->row]);
}

/* A time, with DECIMALS digits behind the point; in the es dialect to the right of its column. */
static void put_column(struct tm_put *o, uint64_t time, unsigned decimals, bool es)
{
    uint8_t *from = o->p;

    put_time(o, time, decimals);
    if (es && o->p - from < ES_TIME) {
        size_t pad = (size_t)(ES_TIME - (o->p - from));

        memmove(from + pad, from, (size_t)(o->p - from));
        memset(from, ' ', pad);
        o->p += pad;
    }
    tm_putc(o, ' ');
}

void tm_put_head(struct tm_put *o, bool instruction)
{
    struct tm_enc *e = o->e;
    const bool es = e->dialect == TM_ES && !e->flavour->matcher;
    const bool source = wants_source(o, instruction), made = !e->same || says_more(o);
    bool timed = says_time(o);
    uint8_t unit = time_before(o) && !timed ? TROD_UNIT_NONE : unit_of(o);

    e->instructions += instruction;
    if (es && !es_timed(o)) {
        tm_put_blanks(o, ES_INDENT);
        if (e->gather ? other_stream(o) : source)
            name_source(o);
        return;
    }
    if (timed) {
        e->time = o->b->time[o->row];
        e->unit = unit;
        e->timed = true;
    } else if (e->fill && e->timed) {
        timed = true;
        unit = e->unit;
    } else if (!e->own) {
        /* formats without time: the count of instructions stands for clk */
        timed = e->timed = true;
        e->time = e->instructions;
        unit = e->unit = TROD_UNIT_CLK;
    } else if (unit) {
        e->unit = unit; /* a time was lost */
    }
    if (timed && !*trod_meta_unit_name(e->meta, unit) && source && made &&
        needs_unit(o, o->b->stream[o->row]))
        unit |= TROD_UNIT_CLK;
    if (timed)
        put_column(o, e->time, trod_unit_decimals(unit), es);
    put_unit(o, unit);
    if (!source)
        return;
    if (e->flavour->matcher && (!e->same || stream_before(o)) &&
        !(timed && *trod_meta_unit_name(e->meta, unit)))
        tm_lose(o, TROD_COL_STREAM,
                "a number without a unit of time before it would be read as the time");
    else
        name_source(o);
}
