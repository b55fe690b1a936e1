/*
 * loss_rows.c - what became of each row in a conversion, by comparing. Implements loss_rows.h after
 * the rules in test_loss.c.
 */
#include "loss_rows.h"

#include <strings.h>

bool loss_is(const struct trod_format *f, const char *name)
{
    return strcmp(f->name, name) == 0;
}

int loss_family(const struct trod_format *f)
{
    static const struct {
        const char *name;
        int family;
    } all[] = {{"tt6", 1},        {"tt6e", 1},         {"full", 1},
               {"tarmac", 2},     {"matcher", 2},      {"byu6", 3},
               {"byu12", 3},      {"drmemtrace", 4},   {"dinero", 6},
               {"dinerox", 6},    {"dinerob", 6},      {"lackey", 6},
               {"pinatrace", 6},  {"memtrace_x86", 6}, {"memtrace_simple", 6},
               {"instrace", 6},   {"ramulator", 6},    {"dramsim3", 6},
               {"gem5packet", 6}, {"champsim", 7},     {"cloudsuite", 7},
               {"csv", 8}};

    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (loss_is(f, all[k].name))
            return all[k].family;
    return 5;
}

/* Does the output row B say COLUMN? What its format does not write it may say by chance. */
static bool kept(const struct pair *p, const struct row *b, uint32_t column)
{
    return (b->has & column) && (p->target->writes & column || p->from == p->target);
}

static bool says(const struct row *r, uint32_t column)
{
    return r->has & column;
}

static bool same_bytes(struct trod_span a, struct trod_span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Opcodes of Amber's formats are big-endian, whatever those of the source are. */
static bool same_code(const struct pair *p, struct trod_span a, struct trod_span b)
{
    if (!p->turned || a.n != 4 || b.n != 4)
        return same_bytes(a, b);
    return a.p[0] == b.p[3] && a.p[1] == b.p[2] && a.p[2] == b.p[1] && a.p[3] == b.p[0];
}

/* cbp2025: registers have names of their own, in lower case. */
static bool has_registers(const struct pair *p, const struct row *a)
{
    return loss_is(p->target, "cbp2025") && a->kind == TROD_REG;
}

/* The register that NAME is: parts and views of one are the same. */
static struct trod_span same_register(struct trod_span name, char out[16])
{
    size_t n = name.n < 15 ? name.n : 15;

    for (size_t i = 0; i < n; i++)
        out[i] = (char)(name.p[i] >= 'A' && name.p[i] <= 'Z' ? name.p[i] + 32 : name.p[i]);
    out[n] = '\0';
    if (strcmp(out, "cpsr") == 0)
        strcpy(out, "nzcv");
    else if (strncmp(out, "sp_el", 5) == 0 || strcmp(out, "wsp") == 0)
        strcpy(out, "sp");
    else if (strcmp(out, "lr") == 0 || strcmp(out, "fp") == 0)
        strcpy(out, out[0] == 'l' ? "x30" : "x29");
    else if (n > 1 && out[1] >= '0' && out[1] <= '9' && strchr("wqds", out[0]))
        out[0] = out[0] == 'w' ? 'x' : 'v';
    return (struct trod_span){(const uint8_t *)out, strlen(out), 0, false};
}

static bool register_is(const struct row *a, const struct row *b)
{
    char one[16], two[16];

    return same_bytes(same_register(a->text, one), same_register(b->text, two));
}

/* A name of another format's marker, as a word. */
static bool same_text(const struct pair *p, const struct row *a, const struct row *b)
{
    static const char marker[] = "MARKER_";
    struct trod_span out = b->text;

    if ((has_registers(p, a) || (loss_is(p->target, "matcher") && a->kind == TROD_REG)) &&
        a->text.n == out.n)
        return strncasecmp((const char *)a->text.p, (const char *)out.p, out.n) == 0;
    if (loss_family(p->target) == 2 && loss_family(p->from) != 2 && a->kind == TROD_MARKER &&
        out.n >= sizeof marker - 1 && memcmp(out.p, marker, sizeof marker - 1) == 0) {
        out.p += sizeof marker - 1;
        out.n -= sizeof marker - 1;
    }
    return same_bytes(a->text, out);
}

/* An atomic access that becomes a read and a write. */
static bool two_rows(const struct pair *p, const struct row *row)
{
    return row->kind == TROD_ATOMIC && (p->drm || loss_family(p->target) == 7 ||
                                        (p->memory && !(p->target->kinds & 1u << TROD_ATOMIC)));
}

/* The kind that the first of the rows has which ROW becomes; TROD_KINDS: it becomes none. */
static unsigned becomes(const struct pair *p, const struct row *row)
{
    const bool fetch = row->flags & TROD_F_IFETCH;

    if (p->bus)
        switch (row->kind) {
        case TROD_INSTR:
            return TROD_BUS;
        case TROD_READ:
            return fetch && !(row->flags & TROD_F_IO) ? TROD_BUS : TROD_READ;
        case TROD_PREFETCH:
            return fetch ? TROD_BUS : TROD_READ;
        case TROD_ATOMIC:
            return TROD_READ;
        default:
            return row->kind;
        }
    if (p->drm && row->kind == TROD_BUS && loss_family(p->from) == 3)
        return TROD_INSTR;
    if (p->memory && row->kind == TROD_BUS && fetch)
        return TROD_INSTR;
    if (two_rows(p, row))
        return TROD_READ;
    return row->kind;
}

/* The address that is written of ROW. */
static bool place(const struct pair *p, const struct row *row, uint64_t *at)
{
    const bool physical = p->bus ? says(row, TROD_COL_PADDR) : !says(row, TROD_COL_ADDR);

    *at = physical ? row->paddr : row->addr;
    if (p->bus || p->amber || loss_is(p->target, "dinerob"))
        *at &= UINT32_MAX;
    return says(row, physical ? TROD_COL_PADDR : TROD_COL_ADDR);
}

static bool same_place(const struct pair *p, const struct row *a, const struct row *b)
{
    uint64_t x, y;
    const bool has_x = place(p, a, &x), has_y = place(p, b, &y);

    if (p->bus && a->kind == TROD_MARKER) /* the byte of the word says which cycle it is */
        return true;
    if (p->amber && a->kind != TROD_INSTR) /* vectors and lines are aligned */
        x |= 127, y |= 127;
    if (p->drm)
        x &= UINT32_MAX, y &= UINT32_MAX;
    return !has_x || !has_y || x == y;
}

static bool same_event(const struct pair *p, const struct row *a, const struct row *b)
{
    return becomes(p, a) == b->kind && same_place(p, a, b) &&
           (!says(a, TROD_COL_VALUE) || !says(b, TROD_COL_VALUE) || a->value == b->value ||
            (p->amber && (uint32_t)a->value == b->value)) &&
           (!says(a, TROD_COL_TARGET) || !says(b, TROD_COL_TARGET) || a->kind == TROD_INSTR ||
            a->target == b->target) &&
           (!says(a, TROD_COL_CODE) || !says(b, TROD_COL_CODE) || same_code(p, a->code, b->code)) &&
           (!says(a, TROD_COL_TEXT) || !says(b, TROD_COL_TEXT) || p->memory || same_text(p, a, b) ||
            (has_registers(p, a) && register_is(a, b))) &&
           (a->kind != TROD_NOTE || loss_family(p->target) != 2 || says(b, TROD_COL_RAW));
}

/*
 * Output rows of KIND from AT on that are A's bytes, one run after the other, each in a word of
 * WORD bytes: how many, 0: they are not there.
 */
static size_t runs(const struct pair *p, const struct row *a, unsigned kind, size_t at,
                   uint32_t word)
{
    /* a picture of an access whose size nobody says has four unknown bytes */
    const uint32_t bytes = says(a, TROD_COL_SIZE) ? a->size : p->es ? 4 : 1;
    uint32_t done = 0;
    uint64_t from;
    size_t n = 0;

    if (!place(p, a, &from))
        return 0;
    while (at + n < p->n_out && (n == 0 || done < bytes)) {
        const struct row *b = &p->out[at + n];
        const uint64_t next = p->bus ? (uint32_t)(from + done) : from + done;
        const bool hole = a->flags & TROD_F_HOLES && b->addr / word == from / word;

        const bool word_only = loss_is(p->target, "byu6") && bytes == 0;

        if (word_only)
            from = from & ~UINT64_C(7);
        if (b->kind != kind || (b->addr != next && !hole && !(word_only && b->addr == from)) ||
            done + b->size > bytes || (b->size == 0 && bytes > 0))
            break;
        done += b->size;
        n++;
    }
    return done == bytes ? n : 0;
}

/* Accesses of drmemtrace, which may be parts of one. True: A is there. */
static bool part(struct pair *p, const struct row *a, unsigned kind, size_t *at)
{
    const uint32_t said = says(a, TROD_COL_SIZE) ? a->size : 1;
    const uint32_t size = said > UINT16_MAX && kind != TROD_FLUSH ? UINT16_MAX : said;
    struct row *b = &p->out[*at];
    uint64_t x, y;

    if (*at >= p->n_out || b->kind != kind || !place(p, a, &x) || !place(p, b, &y) ||
        (uint32_t)x != (uint32_t)(y + b->done) || b->done + size > b->size)
        return false;
    b->done += size;
    *at += b->done == b->size;
    return true;
}

/* --- columns --- */

static void lost(struct pair *p, const struct row *a, uint32_t column)
{
    p->columns[a->kind][__builtin_ctz(column)]++;
}

static bool same_stream(struct pair *p, const struct row *a, const struct row *b)
{
    uint32_t *to = &p->map[a->stream % STREAMS], *back = &p->back[b->stream % STREAMS];

    if (!says(b, TROD_COL_STREAM))
        return false;
    if (!*to && !*back) {
        *to = b->stream + 1;
        *back = a->stream + 1;
    }
    return *to == b->stream + 1 && *back == a->stream + 1;
}

/* The time of A in ticks of gem5's packets, picoseconds; a clock counts as a nanosecond. */
static bool in_ticks(const struct row *a, uint64_t *tick)
{
    static const uint64_t units[TROD_UNITS] = {[TROD_UNIT_FS] = 1,
                                               [TROD_UNIT_PS] = 1000,
                                               [TROD_UNIT_US] = 1000000000,
                                               [TROD_UNIT_MS] = 1000000000000,
                                               [TROD_UNIT_S] = 1000000000000000,
                                               [TROD_UNIT_CS] = 10000000000000};
    const unsigned unit = a->unit & 15;
    uint64_t by = unit < TROD_UNITS && units[unit] ? units[unit] : 1000000, divide = 1000, v;

    for (unsigned i = 0; i < a->unit >> 4; i++)
        divide *= 10;
    for (; by % 10 == 0 && divide % 10 == 0; by /= 10)
        divide /= 10;
    if (__builtin_mul_overflow(a->time, by, &v))
        return false;
    *tick = v / divide;
    return v % divide == 0;
}

static bool same_time(struct pair *p, const struct row *a, const struct row *b)
{
    uint64_t tick;
    bool same;

    if ((p->drm && p->from != p->target) || !says(b, TROD_COL_TIME))
        return false;
    if (loss_is(p->target, "gem5packet") && p->from != p->target)
        return in_ticks(a, &tick) && tick == b->time;
    if (!loss_is(p->target, "byu12"))
        return a->time == b->time && a->unit >> 4 == b->unit >> 4;
    same = !p->timed || a->time - p->time_in == b->time - p->time_out;
    p->timed = true;
    p->time_in = a->time;
    p->time_out = b->time;
    return same;
}

/* Flags OTHERWISE are said by what the row becomes. */
static bool same_flags(const struct row *a, const struct row *b, uint32_t otherwise)
{
    const uint32_t fields = TROD_F_ISET | TROD_F_SEC;
    const uint32_t counted = TROD_LOSS_FLAGS & ~fields & ~otherwise;

    return !(a->flags & ~b->flags & counted) &&
           (!(a->flags & TROD_F_ISET) || (a->flags & TROD_F_ISET) == (b->flags & TROD_F_ISET)) &&
           (!(a->flags & TROD_F_SEC) || (a->flags & TROD_F_SEC) == (b->flags & TROD_F_SEC));
}

/* The value of A against those of the N output rows B, byte by byte where these are parts. */
static bool same_value(const struct row *a, const struct row *b, size_t n)
{
    uint64_t at = 0;

    if (n == 1 && says(a, TROD_COL_VALUE) && says(b, TROD_COL_VALUE))
        return a->value == b->value;
    for (size_t i = 0; i < n; i++) {
        const uint64_t len = says(&b[i], TROD_COL_DATA) ? b[i].data.n : b[i].size;

        if (!says(&b[i], TROD_COL_VALUE | TROD_COL_DATA))
            return false;
        for (uint64_t k = 0; k < len; k++, at++) {
            const unsigned y = says(&b[i], TROD_COL_DATA) ? b[i].data.p[k]
                               : k < 8                    ? b[i].value >> 8 * k & 0xff
                                                          : 0;
            const unsigned x = says(a, TROD_COL_DATA) ? (at < a->data.n ? a->data.p[at] : 0)
                               : at < 8               ? a->value >> 8 * at & 0xff
                                                      : 0;

            if (x != y)
                return false;
        }
    }
    return !says(a, TROD_COL_DATA) || at >= a->data.n;
}

/* The target's lines name no pc, and the source has no fetches that could stand in front. */
static bool no_fetches(const struct pair *p)
{
    return p->memory && p->from != p->target && (p->target->flags & TROD_FMT_FOLLOWS) &&
           p->from->kinds && !(p->from->kinds & 1u << TROD_INSTR);
}

/* Columns that follow from the row's place in the output, where its format has them at all. */
static void derived(struct pair *p, const struct row *a)
{
    const bool strays = loss_astray(p, a);

    if (says(a, TROD_COL_PC) && (!(p->target->writes & TROD_COL_PC) || no_fetches(p) || strays))
        lost(p, a, TROD_COL_PC);
    if (says(a, TROD_COL_DETAIL) && loss_is(p->from, "cloudsuite") &&
        loss_is(p->target, "champsim")) /* which has places for fewer registers */
        lost(p, a, TROD_COL_DETAIL);
    if (p->bus && p->from != p->target && a->record.n)
        loss_bus_record(p, a);
    else if (says(a, TROD_COL_DETAIL) && (p->bus || loss_family(p->target) == 5
                                              ? p->from != p->target
                                              : loss_family(p->from) != loss_family(p->target)))
        lost(p, a, TROD_COL_DETAIL);
}

/* A line that is not understood: its cpu is called as the other format calls them. */
static bool as_it_was(const struct pair *p, const struct row *a)
{
    return a->kind == TROD_NOTE && p->from != p->target && loss_family(p->target) == 2;
}

/* A is the N output rows from B on, which have SIZE bytes of it. */
static void columns(struct pair *p, const struct row *a, const struct row *b, size_t n,
                    uint64_t size)
{
    const bool written = p->bus && says(a, TROD_COL_PADDR);

    derived(p, a);
    if (!same_flags(a, b,
                    p->bus                                              ? TROD_F_HOLES
                    : (p->drm || p->memory) && becomes(p, a) != a->kind ? TROD_F_IFETCH
                                                                        : 0))
        lost(p, a, TROD_COL_FLAGS);
    if (says(a, TROD_COL_SIZE) && (!kept(p, b, TROD_COL_SIZE) || a->size != size))
        lost(p, a, TROD_COL_SIZE);
    if (says(a, TROD_COL_STREAM) && (as_it_was(p, a) || !same_stream(p, a, b)))
        lost(p, a, TROD_COL_STREAM);
    if (says(a, TROD_COL_TIME) && !same_time(p, a, b))
        lost(p, a, TROD_COL_TIME);
    if (says(a, TROD_COL_INDEX) &&
        ((p->drm && p->from != p->target) || !kept(p, b, TROD_COL_INDEX) || a->index != b->index))
        lost(p, a, TROD_COL_INDEX);
    if (says(a, TROD_COL_ADDR) &&
        (!kept(p, b, TROD_COL_ADDR) ||
         (a->flags & TROD_F_HOLES && !written ? false : a->addr != b->addr)))
        lost(p, a, TROD_COL_ADDR);
    if (says(a, TROD_COL_PADDR) && (!kept(p, b, TROD_COL_PADDR) || a->paddr != b->paddr))
        lost(p, a, TROD_COL_PADDR);
    if (says(a, TROD_COL_TARGET) &&
        (a->kind == TROD_INSTR ? !(p->target->writes & TROD_COL_TARGET)
                               : !kept(p, b, TROD_COL_TARGET) || a->target != b->target))
        lost(p, a, TROD_COL_TARGET);
    if (says(a, TROD_COL_VALUE) && !same_value(a, b, n))
        lost(p, a, TROD_COL_VALUE);
    if (says(a, TROD_COL_DATA) &&
        (!same_value(a, b, n) || (a->kind == TROD_MARKER && !kept(p, b, TROD_COL_DATA) &&
                                  !(loss_is(p->target, "csv") && loss_data_is_value(p, a)))))
        lost(p, a, TROD_COL_DATA);
    if (says(a, TROD_COL_CODE) && (!kept(p, b, TROD_COL_CODE) || !same_code(p, a->code, b->code)))
        lost(p, a, TROD_COL_CODE);
    if (says(a, TROD_COL_TEXT) && (!kept(p, b, TROD_COL_TEXT) || !same_text(p, a, b)))
        lost(p, a, TROD_COL_TEXT);
    /* in tables without that column, what nothing else tells of the row */
    if (loss_is(p->target, "csv") && says(a, TROD_COL_SUB) && !says(b, TROD_COL_SUB) &&
        (a->kind == TROD_CACHE_LINE || a->kind == TROD_TLB || a->kind == TROD_SYNC ||
         (a->kind == TROD_MARKER && !(says(a, TROD_COL_TEXT) && a->text.n))))
        lost(p, a, TROD_COL_SUB);
}

static uint64_t total(const struct row *b, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += b[i].size;
    return sum;
}

/* --- rows --- */

static bool is_access(unsigned kind)
{
    return kind >= TROD_READ && kind <= TROD_FLUSH;
}

/* A's accesses in drmemtrace. */
static bool found_parts(struct pair *p, const struct row *a)
{
    const struct row *b = &p->out[p->at];
    const uint32_t before = p->at < p->n_out ? b->done : 0;
    size_t at = p->at;
    uint64_t size;
    struct row as;

    if (!part(p, a, becomes(p, a), &at))
        return false;
    size = b->done - before;
    if (a->kind == TROD_ATOMIC && !part(p, a, TROD_WRITE, &at))
        return false;
    as = *b;
    as.addr += before;
    columns(p, a, &as, 1, size);
    p->at = at;
    return true;
}

/* A's references of a bus, or pictures. */
static bool found_runs(struct pair *p, const struct row *a)
{
    const uint32_t word = p->bus ? 8 : 16;
    size_t n = runs(p, a, becomes(p, a), p->at, word), more = 0;

    if (n && p->bus && a->kind == TROD_ATOMIC && !(more = runs(p, a, TROD_WRITE, p->at + n, word)))
        n = 0;
    if (!n)
        return false;
    columns(p, a, &p->out[p->at], n, total(&p->out[p->at], n));
    p->at += n + more;
    return true;
}

/* An atomic access as a line that reads and one that writes. */
static bool found_two(struct pair *p, const struct row *a)
{
    struct row second = *a;

    if (p->at + 1 >= p->n_out || !same_event(p, a, &p->out[p->at]))
        return false;
    second.kind = TROD_WRITE;
    if (!same_event(p, &second, &p->out[p->at + 1]))
        return false;
    columns(p, a, &p->out[p->at], 1, p->out[p->at].size);
    p->at += 2;
    return true;
}

/* Does the output give the rows of an instruction in an order of its own? */
static bool has_slots(const struct pair *p)
{
    return loss_family(p->target) == 7 || loss_is(p->target, "cbp2025");
}

/* An output row that is A, of those behind its instruction; NULL: there is none. */
static struct row *slot_of(struct pair *p, const struct row *a)
{
    for (size_t i = p->at; i < p->n_out && p->out[i].kind != TROD_INSTR; i++)
        if (!p->out[i].done && same_event(p, a, &p->out[i]))
            return &p->out[i];
    return NULL;
}

/* A in a record of ChampSim, all loads before all stores; of cbp2025, accesses before registers. */
static bool found_slots(struct pair *p, const struct row *a)
{
    struct row second = *a, *one, *two = NULL;

    if (a->kind == TROD_INSTR) {
        while (p->at < p->n_out && p->out[p->at].done)
            p->at++;
        if (p->at == p->n_out || !same_event(p, a, &p->out[p->at]))
            return false;
        columns(p, a, &p->out[p->at], 1, p->out[p->at].size);
        p->at++;
        return true;
    }
    second.kind = TROD_WRITE;
    if (!(one = slot_of(p, a)) || (a->kind == TROD_ATOMIC && !(two = slot_of(p, &second))))
        return false;
    columns(p, a, one, 1, one->size);
    one->done = 1;
    if (two)
        two->done = 1;
    return true;
}

static bool found(struct pair *p, const struct row *a)
{
    const unsigned kind = becomes(p, a);

    if (has_slots(p))
        return found_slots(p, a);

    if (p->memory && two_rows(p, a))
        return found_two(p, a);

    if (p->drm && is_access(kind) && p->from != p->target)
        return found_parts(p, a);
    if (a->kind != TROD_MARKER &&
        ((p->bus && p->from != p->target) || (p->es && (kind == TROD_READ || kind == TROD_WRITE))))
        return found_runs(p, a);
    if (p->at == p->n_out || !same_event(p, a, &p->out[p->at]))
        return false;
    columns(p, a, &p->out[p->at], 1, p->out[p->at].size);
    p->at++;
    return true;
}

/* What stands between traces that were joined. */
static bool is_bridge(const struct pair *p, const struct row *row)
{
    static const uint8_t bridge[] = {0x48, 0, 0, 0};

    return p->amber && row->kind == TROD_INSTR && row->code.n == sizeof bridge &&
           memcmp(row->code.p, bridge, sizeof bridge) == 0;
}

bool loss_made_up(const struct pair *p, const struct row *b)
{
    if (p->from == p->target)
        return false;
    if (p->drm)
        return b->kind == TROD_MARKER || b->kind == TROD_THREAD;
    if (!p->amber)
        return false;
    if (b->kind == TROD_MARKER && b->sub == 0x400 &&
        (loss_family(p->from) != 1 || loss_is(p->from, "full")))
        return true;
    /* an escape that TT6 has as well may give an address to a cache operation there */
    if (loss_is(p->from, "tt6e") && is_access(b->kind) && !says(b, TROD_COL_DETAIL))
        return true;
    return is_bridge(p, b);
}

/* The header of the es dialect heads no other. */
static bool is_header(const struct pair *p, const struct row *a)
{
    static const char header[] = "Tarmac Text Rev";

    return a->kind == TROD_NOTE && loss_family(p->target) == 2 && a->raw.n >= sizeof header - 1 &&
           memcmp(a->raw.p, header, sizeof header - 1) == 0;
}

static void begin(struct pair *p)
{
    p->at = 0;
    p->timed = false;
    p->invented = 0;
    memset(p->map, 0, sizeof p->map);
    memset(p->back, 0, sizeof p->back);
    memset(p->last, 0, sizeof p->last);
    memset(p->rows, 0, sizeof p->rows);
    memset(p->columns, 0, sizeof p->columns);
    for (size_t i = 0; i < p->n_out; i++)
        p->out[i].done = 0;
}

void loss_align(struct pair *p)
{
    begin(p);
    for (size_t i = 0; i < p->n_in; i++) {
        /* what was written at an address that nobody knows */
        while (p->amber && p->invented < p->most_invented && p->at < p->n_out &&
               is_access(p->out[p->at].kind) && p->out[p->at].addr == 0 &&
               !same_event(p, &p->in[i], &p->out[p->at])) {
            p->invented++;
            p->at++;
        }
        if (is_bridge(p, &p->in[i]) && p->from != p->target)
            continue;
        if ((p->gone[i] || !found(p, &p->in[i])) && !is_header(p, &p->in[i]))
            p->rows[p->in[i].kind]++;
    }
    for (; p->amber && p->at < p->n_out && p->out[p->at].addr == 0; p->at++)
        p->invented++;
    while (has_slots(p) && p->at < p->n_out && p->out[p->at].done)
        p->at++;
}
