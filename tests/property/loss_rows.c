/*
 * loss_rows.c - what became of each row in a conversion, by comparing. Implements loss_rows.h after
 * the rules in test_loss.c.
 */
#include "loss_rows.h"

bool loss_is(const struct trod_format *f, const char *name)
{
    return strcmp(f->name, name) == 0;
}

/* An atomic access that becomes a read and a write. */
static bool two_rows(const struct pair *p, const struct row *row)
{
    return row->kind == TROD_ATOMIC && (p->drm || loss_family(p->target) == 7 ||
                                        (p->memory && !(p->target->kinds & 1u << TROD_ATOMIC)));
}

unsigned loss_becomes(const struct pair *p, const struct row *row)
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
    const bool physical = p->bus ? loss_says(row, TROD_COL_PADDR) : !loss_says(row, TROD_COL_ADDR);

    *at = physical ? row->paddr : row->addr;
    if (p->bus || p->amber || loss_is(p->target, "dinerob"))
        *at &= UINT32_MAX;
    return loss_says(row, physical ? TROD_COL_PADDR : TROD_COL_ADDR);
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
    return loss_becomes(p, a) == b->kind && same_place(p, a, b) &&
           (!loss_says(a, TROD_COL_VALUE) || !loss_says(b, TROD_COL_VALUE) ||
            a->value == b->value || (p->amber && (uint32_t)a->value == b->value)) &&
           (!loss_says(a, TROD_COL_TARGET) || !loss_says(b, TROD_COL_TARGET) ||
            a->kind == TROD_INSTR || a->target == b->target) &&
           (!loss_says(a, TROD_COL_CODE) || !loss_says(b, TROD_COL_CODE) ||
            loss_same_code(p, a->code, b->code)) &&
           (!loss_says(a, TROD_COL_TEXT) || !loss_says(b, TROD_COL_TEXT) || p->memory ||
            loss_same_text(p, a, b) || loss_same_register(p, a, b)) &&
           (a->kind != TROD_NOTE || loss_family(p->target) != 2 || loss_says(b, TROD_COL_RAW));
}

/*
 * Output rows of KIND from AT on that are A's bytes, one run after the other, each in a word of
 * WORD bytes: how many, 0: they are not there.
 */
static size_t runs(const struct pair *p, const struct row *a, unsigned kind, size_t at,
                   uint32_t word)
{
    /* a picture of an access whose size nobody says has four unknown bytes */
    const uint32_t bytes = loss_says(a, TROD_COL_SIZE) ? a->size : p->es ? 4 : 1;
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
    const uint32_t said = loss_says(a, TROD_COL_SIZE) ? a->size : 1;
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

    if (!part(p, a, loss_becomes(p, a), &at))
        return false;
    size = b->done - before;
    if (a->kind == TROD_ATOMIC && !part(p, a, TROD_WRITE, &at))
        return false;
    as = *b;
    as.addr += before;
    loss_columns(p, a, &as, 1, size);
    p->at = at;
    return true;
}

/* A's references of a bus, or pictures. */
static bool found_runs(struct pair *p, const struct row *a)
{
    const uint32_t word = p->bus ? 8 : 16;
    size_t n = runs(p, a, loss_becomes(p, a), p->at, word), more = 0;

    if (n && p->bus && a->kind == TROD_ATOMIC && !(more = runs(p, a, TROD_WRITE, p->at + n, word)))
        n = 0;
    if (!n)
        return false;
    loss_columns(p, a, &p->out[p->at], n, total(&p->out[p->at], n));
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
    loss_columns(p, a, &p->out[p->at], 1, p->out[p->at].size);
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

/*
 * A, an access, in a record of cbp2025, which has one address and size for neighbours of one
 * direction.
 */
static bool found_total(struct pair *p, const struct row *a)
{
    const uint32_t size = loss_says(a, TROD_COL_SIZE) ? a->size : 0;
    struct row *b = &p->out[p->at], as;

    for (; b < p->out + p->n_out && b->kind != TROD_INSTR; b++)
        if (b->kind == a->kind && a->addr >= b->addr && size <= b->size &&
            a->addr - b->addr <= b->size - size && (size ? b->done + size <= b->size : !b->done))
            break;
    if (b == p->out + p->n_out || b->kind == TROD_INSTR)
        return false;
    as = *b;
    as.addr = a->addr;
    loss_columns(p, a, &as, 1, b->size ? size : 0);
    b->done += size ? size : 1;
    return true;
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
        loss_columns(p, a, &p->out[p->at], 1, p->out[p->at].size);
        p->at++;
        return true;
    }
    if (loss_is(p->target, "cbp2025") && p->from != p->target && loss_says(a, TROD_COL_ADDR) &&
        (a->kind == TROD_READ || a->kind == TROD_WRITE))
        return found_total(p, a);
    second.kind = TROD_WRITE;
    if (!(one = slot_of(p, a)) || (a->kind == TROD_ATOMIC && !(two = slot_of(p, &second))))
        return false;
    loss_columns(p, a, one, 1, one->size);
    one->done = 1;
    if (two)
        two->done = 1;
    return true;
}

static bool found(struct pair *p, const struct row *a)
{
    const unsigned kind = loss_becomes(p, a);

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
    loss_columns(p, a, &p->out[p->at], 1, p->out[p->at].size);
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
    if (loss_is(p->from, "tt6e") && is_access(b->kind) && !loss_says(b, TROD_COL_DETAIL))
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
