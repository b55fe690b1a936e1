/*
 * fast_form.h - the loop for lines that have a known form (form.h).
 *
 * See fast.c.
 */
#ifndef TROD_FORMAT_TARMAC_FAST_FORM_H
#define TROD_FORMAT_TARMAC_FAST_FORM_H

#include "format/tarmac/fast_rows.h"

#if TROD_AVX2

/* Rows of a stretch of lines that have forms. */
struct formed {
    struct trod_batch *b;       /* of the run: known not to change */
    const struct tm_hand *hand; /* of the last line with a time */
    uint64_t time;
    size_t n, more;                /* rows; of them beyond one a line */
    size_t pictured;               /* rows there were behind the last picture */
    const struct tm_form *picture; /* the form of that */
};

/* Give row s->n, whose other columns are set, the columns of the head in S. */
TM_INLINE void formed_head(struct tm_run *r, struct formed *s, const uint32_t want)
{
    struct trod_batch *b = s->b;
    const size_t n = s->n++;

    if (want & TROD_COL_STREAM)
        b->stream[n] = s->hand->stream;
    if (want & TROD_COL_UNIT)
        b->unit[n] = r->h.unit;
    if (want & TROD_COL_TIME)
        b->time[n] = s->time;
}

/* The rows of S are there. */
TM_INLINE void formed_end(struct tm_run *r, const struct formed *s, const uint32_t want)
{
    const struct tm_head *const head = &r->d->heads[s->hand->head % TM_HEADS];

    if (s->n == r->n)
        return;
    r->h.head = head;
    if (head->number != s->hand->head) /* stream and unit are not what this one would set */
        r->top.head = NULL;
    r->h.timed = true;
    r->h.stream = s->hand->stream;
    r->h.source_seen |= s->hand->source;
    r->h.picture = 0;
    if (s->pictured == s->n) {
        r->h.picture = r->b->kind[s->n - 1];
        r->h.picture_column = s->picture->vaddr.at;
    }
    if (want & TROD_COL_TIME)
        r->h.time = r->b->time[s->n - 1];
    r->before = NULL;
    r->lines += s->n - r->n - s->more;
    r->n = (uint32_t)s->n;
}

/* Row N is the line at P, which has the form F and is no picture. BARE: it has no time. */
TM_INLINE bool formed_row(struct tm_run *r, struct trod_batch *b, const struct tm_form *f,
                          const uint8_t *p, size_t n, uint32_t *has, const uint8_t **next,
                          const uint32_t want, const bool es, const bool bare)
{
    if (!bare && f->kind == TM_FORM_INSTR) /* the most frequent first */
        return formed_instr(r, b, f, p, n, has, next, want);
    if (f->kind == TM_FORM_REG)
        return formed_reg(r, b, f, p, n, has, next, want);
    if (f->kind == TM_FORM_MEM)
        return formed_mem(r, b, f, p, n, has, next, want);
    if (es && f->kind == TM_FORM_BR)
        return formed_br(r, f, p, n, next, want);
    if (bare && f->kind == TM_FORM_ES)
        return formed_es(r, b, f, p, n, has, next, want);
    if (bare && f->kind == TM_FORM_INSTR)
        return formed_instr(r, b, f, p, n, has, next, want);
    return f->kind == TM_FORM_EVENT && formed_event(r, f, p, n, next);
}

/* What a picture has become. */
struct pictured {
    const uint8_t *next; /* NULL: it is for others */
    size_t rows;
};

/* Set the columns of a picture of the form F that do not depend on its bytes and addresses. */
TM_INLINE struct tm_picture formed_bytes(const struct tm_form *f)
{
    return (struct tm_picture){.has = f->put,
                               .flags = f->flags,
                               .kind = f->row,
                               .base_digits = f->vaddr.n,
                               .tail = {.digits = f->paddr.n, .prefix = f->prefix}};
}

/*
 * Rows from N on of a picture, but for the columns of the head. A function of its own, so that the
 * loop keeps its registers for other lines; for any set of columns.
 */
TM_INLINE struct pictured formed_picture(struct tm_run *r, const struct tm_form *f,
                                         const uint8_t *p, size_t n, const uint32_t want)
{
    struct tm_picture m = formed_bytes(f);
    uint32_t rows;

    m.tail.nl = m.tail.from = m.tail.end = p + f->len - 1;
    if (!tm_take_bytes32(p + f->code.at, &m.bytes))
        return (struct pictured){NULL, 0};
    if (f->open && !tm_take_attributes(m.tail.nl, &m.tail, want, true))
        return (struct pictured){NULL, 0};
    m.base = tm_form_addresses(f, p, &m.tail.paddr);
    rows = tm_picture_rows(r, n, &m, p, want);
    return (struct pictured){rows ? m.tail.nl + 1 : NULL, rows};
}

static TROD_WIDE TROD_APART struct pictured picture_all(struct tm_run *r, const struct tm_form *f,
                                                        const uint8_t *p, size_t n)
{
    return formed_picture(r, f, p, n, TROD_COL_ALL);
}

static TROD_WIDE TROD_APART struct pictured picture_some(struct tm_run *r, const struct tm_form *f,
                                                         const uint8_t *p, size_t n)
{
    return formed_picture(r, f, p, n, r->want);
}

/*
 * The line end behind the attributes at P of a picture of the form F, where they are not wanted. It
 * is looked for in these 32 characters, and then other lines may end so. NULL: not found.
 */
static TROD_WIDE TROD_APART const uint8_t *attributes_other(struct tm_form *f, const uint8_t *p)
{
    const uint32_t near = tm_equal_mask32(tm_load32(p), tm_bytes.line);
    uint32_t far;

    if (near) {
        form_ending(f, p, (size_t)__builtin_ctz(near) + 1);
        return p + __builtin_ctz(near);
    }
    far = tm_equal_mask32(tm_load32(p + TM_PART), tm_bytes.line);
    return far ? p + TM_PART + __builtin_ctz(far) : NULL;
}

/* Does P, behind the part of a picture that the form F describes, end as the last one did? */
static inline TROD_WIDE bool attributes_same(const struct tm_form *f, const uint8_t *p)
{
    return (tm_equal_mask32(tm_load32(p), f->ending) | f->beyond) == UINT32_MAX;
}

/* How many of KNOWN bytes, the first of which is at ADDR, are one access. */
TM_INLINE unsigned formed_run(uint32_t known, uint64_t addr)
{
    const unsigned side_by_side = (unsigned)__builtin_ctz(~known);
    const unsigned most = 8 - (unsigned)(addr & 7);

    return side_by_side < most ? side_by_side : most;
}

/* Row N is SIZE bytes of a picture of the form F. */
TM_INLINE void formed_place(struct trod_batch *b, const struct tm_form *f, size_t n, uint32_t flags,
                            uint64_t addr, uint64_t paddr, unsigned size, const uint32_t want)
{
    if (want & TROD_COL_FLAGS)
        b->flags[n] = flags;
    if (want & TROD_COL_SIZE)
        b->size[n] = size;
    if (want & TROD_COL_ADDR)
        b->addr[n] = addr;
    if (want & TROD_COL_PADDR)
        b->paddr[n] = paddr;
    b->has[n] = f->put;
    b->kind[n] = f->row;
}

/*
 * The rows from N on of a picture but the first, without the columns of the head: of the KNOWN
 * bytes from ADDR and PADDR on. Returns how many; 0: there is no room.
 */
static TROD_WIDE TROD_APART size_t formed_others(struct trod_batch *b, const struct tm_form *f,
                                                 size_t n, uint32_t known, uint64_t addr,
                                                 uint64_t paddr)
{
    const size_t first = n;

    while (known) {
        const unsigned from = (unsigned)__builtin_ctz(known);
        const unsigned len = formed_run(known >> from, addr + from);

        if (n == b->cap)
            return 0;
        formed_place(b, f, n++, f->flags | TROD_F_CONT, addr + from, paddr + from, len, b->have);
        known = known >> from >> len;
        addr += from + len;
        paddr += from + len;
    }
    return n - first;
}

/*
 * Make the next rows of S from the picture at *AT, which has the form F, where no column is wanted
 * that depends on the values of its bytes. False: it is left to the other paths.
 */
TM_INLINE bool formed_places(struct tm_run *r, struct tm_form *f, const uint8_t **at,
                             struct formed *s, const uint32_t want, const bool bare)
{
    const uint8_t *p = *at, *nl = p + f->len - 1;
    struct trod_batch *b = s->b;
    uint32_t known = tm_take_known32(p + f->code.at);
    uint64_t addr, paddr;
    unsigned from, len;
    size_t more = 0;

    if (!known)
        return false;
    if (attributes_same(f, nl))
        nl += f->ending_n;
    else if (!(nl = attributes_other(f, nl)))
        return false;
    addr = tm_form_addresses(f, p, &paddr);
    from = (unsigned)__builtin_ctz(known);
    len = formed_run(known >> from, addr += from);
    paddr += from;
    known = known >> from >> len;
    formed_place(b, f, s->n, f->flags, addr, paddr, len, want);
    if (known && !(more = formed_others(b, f, s->n + 1, known, addr + len, paddr + len)))
        return false;
    if (!bare) {
        s->hand = &f->hand;
        if (want & TROD_COL_TIME)
            s->time = tm_form_decimal(f->pick_time, p + f->time.at);
    }
    formed_head(r, s, want);
    for (; more; more--, s->more++)
        formed_head(r, s, want);
    s->pictured = s->n;
    s->picture = f;
    *at = nl + 1;
    return true;
}

/*
 * Make the next rows of S from the picture at *AT, which has the form F. False: it is left to the
 * other paths.
 */
TM_INLINE bool formed_pictures(struct tm_run *r, const struct tm_form *f, const uint8_t **at,
                               struct formed *s, const uint32_t want)
{
    const uint8_t *p = *at;
    const struct pictured is =
        want == TROD_COL_ALL ? picture_all(r, f, p, s->n) : picture_some(r, f, p, s->n);

    if (!is.next)
        return false;
    if (!f->bare) {
        s->hand = &f->hand;
        if (want & TROD_COL_TIME)
            s->time = tm_form_decimal(f->pick_time, p + f->time.at);
    }
    s->more += is.rows - 1;
    formed_head(r, s, want);
    for (size_t i = is.rows; --i;)
        formed_head(r, s, want);
    s->pictured = s->n;
    s->picture = f;
    *at = is.next;
    return true;
}

/* The form of the line at P, if it is not form K of FORMS, which KEY chooses first; NULL: none. */
static TROD_WIDE struct tm_form *form_other(struct tm_form *forms, unsigned k, const uint8_t *p,
                                            const uint8_t *key)
{
    struct tm_form *f;

    if (key[2] == 'R') {
        const unsigned len = tm_name_len(key + 4);

        f = &forms[tm_form_of_name(len, key[4 + len + 9] < ' ')];
        return f->kind && tm_form_fits(f, p) ? f : NULL;
    }
    for (unsigned i = 1; i < TM_WAYS; i++) {
        f = &forms[k ^ i];
        if (f->kind && tm_form_fits(f, p))
            return f;
    }
    return NULL;
}

/*
 * The same. If another form than the one that KEY chooses first is found often, the two are to
 * change places; NULL then, too, because lines that refer to them must become rows before.
 */
static TROD_WIDE TROD_APART struct tm_form *formed_other(struct tm_run *r, struct tm_form *forms,
                                                         const uint8_t *p, const uint8_t *key)
{
    const unsigned k = tm_form_of(key);
    struct tm_form *f = form_other(forms, k, p, key);

    if (!f || ++forms[k].others < TM_FORM_OTHERS)
        return f;
    r->first = &forms[k];
    r->other = f;
    return NULL;
}

/* Forms change places. */
static TROD_APART void form_swap(struct tm_run *r)
{
    struct tm_form *forms = r->d->forms[r->other->bare], was = *r->first;
    const unsigned k = (unsigned)(r->first - forms);

    was.others = 0;
    *r->first = *r->other;
    r->first->others = 0;
    if (was.kind == TM_FORM_REG || r->other - forms >= TM_KEYS)
        *form_beside(forms, &was, k) = was;
    else
        *r->other = was;
    r->first = r->other = NULL;
}

/*
 * Make the next rows of S from the line at *AT, which is moved behind it; KEY: its type word less
 * two. False: it has no known form.
 */
TM_INLINE bool formed_line(struct tm_run *r, struct tm_form *forms, const uint8_t **at,
                           const uint8_t *key, struct formed *s, const uint32_t want, const bool es,
                           const bool bare)
{
    struct tm_form *f = &forms[tm_form_of(key)];
    struct trod_batch *b = s->b;
    const size_t n = s->n;
    uint32_t has = 0; /* beyond those of the form */
    const uint8_t *p = *at, *next;

    if (!tm_form_fits(f, p) && !(f = formed_other(r, forms, p, key)))
        return false;
    if (es && !bare && f->kind == TM_FORM_ES) { /* the most frequent first */
        if (!formed_es(r, b, f, p, n, &has, &next, want))
            return false;
    } else if (es && bare && f->kind == TM_FORM_REG) {
        if (!formed_reg(r, b, f, p, n, &has, &next, want))
            return false;
    } else if (es && f->picture) {
        return want == TM_NARROW || want == TM_SITES || want == TM_NAMED
                   ? formed_places(r, f, at, s, want, bare)
                   : formed_pictures(r, f, at, s, want);
    } else {
        if (!formed_row(r, b, f, p, n, &has, &next, want, es, bare))
            return false;
    }
    b->has[n] = f->put | (has & r->want);
    if (want & TROD_COL_SIZE)
        b->size[n] = f->size;
    if (want & TROD_COL_RAW)
        b->raw[n] = (struct trod_slice){(uint32_t)(p - r->base), (uint32_t)(next - p)};
    if (!bare) {
        if (want & TROD_COL_TIME)
            s->time = tm_form_decimal(f->pick_time, p + f->time.at);
        s->hand = &f->hand;
    }
    formed_head(r, s, want);
    *at = next;
    return true;
}

/*
 * Number of lines for which it need not be checked again that there is room for their rows and that
 * they lie in the input: at least one. ROWS: room for rows; BYTES: of input, more than one line
 * takes.
 */
TM_INLINE size_t formed_room(size_t rows, size_t bytes)
{
    const size_t fit = rows / TM_PICTURE_ROWS, in = bytes / TM_MARGIN;
    const size_t lines = fit < in ? fit : in;

    return lines ? lines : 1;
}

/*
 * Decode lines of known forms from P on, up to one that has none: all have a type word, so none
 * continues a picture above. ES: also lines without a time and those that only the ES dialect has.
 */
TM_INLINE const uint8_t *formed_stretch(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                                        const uint32_t want, const bool es)
{
    const struct tm_hand first = {.head = r->h.head->number, .stream = r->h.stream};
    struct tm_form *timed = r->d->forms[0], *bares = r->d->forms[1];
    const size_t type = r->d->type_at ? r->d->type_at - 2 : 0;
    const size_t bare = r->d->bare_at ? r->d->bare_at - 2 : 0, cap = r->b->cap;
    const uint8_t *stop = end - TM_MARGIN;
    struct formed s = {.b = r->b, .n = r->n, .hand = &first, .time = r->h.time};

    while (s.n < cap && p <= stop) {
        const size_t most = s.n + formed_room(cap - s.n, (size_t)(stop - p));

        do {
            if (es && p[type] == ' ') {
                if (!formed_line(r, bares, &p, p + bare, &s, want, es, true))
                    goto end;
            } else if (!formed_line(r, timed, &p, p + type, &s, want, es, false)) {
                goto end;
            }
        } while (s.n < most);
    }
end:
    formed_end(r, &s, want);
    return p;
}

TM_INLINE const uint8_t *formed_lines(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                                      const uint32_t want, const bool es)
{
    for (;;) {
        p = formed_stretch(r, p, end, want, es);
        if (!r->first)
            return p;
        form_swap(r);
    }
}

#else

TM_INLINE const uint8_t *formed_lines(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                                      const uint32_t want, const bool es)
{
    (void)r, (void)end, (void)want, (void)es;
    return p;
}

#endif

#endif
