/*
 * fast.c - the canonical lines of Fast Models, gem5 and the ES dialect, decoded in one pass.
 *
 * Instructions, register writes, memory accesses and pictures in their usual form: a time and a
 * head that parse.c has met before, or none; numbers of the usual number of digits (addresses also
 * of 16), lower case (upper case values of registers), one carriage return at most before the
 * line's end. Everything else is left to parse.c, line by line; the rows are the same as from there
 * (tests/unit/test_tarmac_fast.c).
 *
 * The functions may read TM_AHEAD bytes beyond the line: a line is taken only if there is so much
 * and more. Each is compiled for all columns, for kind and addresses only, and for any set; and for
 * processors with AVX2 and others.
 */
#include "format/tarmac/fast_form.h"

/* IT (index) address opcode iset mode : text; Q is behind the type word. */
TM_INLINE const uint8_t *instr(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                               uint32_t flags, const uint32_t want, const bool wide)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    const unsigned n_index = tm_decimal_run(q + 1);
    const uint8_t *index = q + 1, *text, *end, *nl;
    struct instr_line l;
    uint32_t has;

    q += 1 + n_index;
    if (n_index == 0 || n_index > 15)
        return NULL;
    if (!wide || !shaped_instr(&r->instr, q, &l, want)) {
        if (!take_instr(q, &l))
            return NULL;
        if (wide)
            keep_instr(&r->instr, q, &l);
    }
    if (!(r->d->isets >> l.iset & 1) || (l.a.vaddr >> 32 && !r->d->wide))
        return NULL;
    text = l.text;
    nl = wide ? tm_line_end32(text, TM_TEXT_MAX) : tm_find16(text, text + TM_TEXT_MAX, '\n');
    if (nl == text + TM_TEXT_MAX)
        return NULL;
    has = l.a.has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_INDEX | TROD_COL_PC |
          TROD_COL_CODE | TROD_COL_TEXT | TROD_COL_DETAIL | TROD_COL_RAW | r->has;
    end = tm_text_end(nl);
    if (want & (TROD_COL_DETAIL | TROD_COL_TEXT) && !trim_text(&text, &end))
        return NULL;
    if (want & (TROD_COL_DETAIL | TROD_COL_CODE) &&
        !put_details(r, n, &l, (unsigned)(text - l.text), (unsigned)(tm_text_end(nl) - end), want))
        return NULL;
    if (want & TROD_COL_TEXT) {
        b->text[n] = (struct trod_slice){(uint32_t)(text - r->base), (uint32_t)(end - text)};
        has = text == end ? has & ~(uint32_t)TROD_COL_TEXT : has;
    }
    b->has[n] = has & r->want;
    b->kind[n] = TROD_INSTR;
    if (want & TROD_COL_FLAGS)
        b->flags[n] = r->flags | flags | l.a.sec | l.iset << TROD_F_ISET_SHIFT;
    if (want & TROD_COL_SIZE)
        b->size[n] = l.op_n / 2;
    if (want & TROD_COL_INDEX)
        b->index[n] = tm_decimal(index, n_index);
    if (want & TROD_COL_ADDR)
        b->addr[n] = l.a.vaddr;
    if (want & TROD_COL_PC)
        b->pc[n] = l.a.vaddr;
    if (want & TROD_COL_PADDR)
        b->paddr[n] = l.a.paddr;
    tm_put_line(r, line, nl + 1, want);
    return nl + 1;
}

/* R name value; Q is at the name. */
TM_INLINE const uint8_t *reg(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                             const uint32_t want, const bool wide)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    const unsigned len = tm_name_before(q, wide);
    const uint8_t *next, *nl;
    struct tm_hexrun v;
    uint32_t has;

    if (!len)
        return NULL;
    v = tm_hex_run(q + len + 1);
    next = q + len + 1 + v.n;
    nl = tm_end_at(next);
    if (!nl && (*next == '_' || v.n == 16))
        return tm_wide_reg(r, line, q, len, want);
    if (!nl || v.n == 0 || v.n % 2)
        return NULL;
    has = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_VALUE | TROD_COL_TEXT |
          TROD_COL_RAW | r->has;
    if (v.upper) {
        has |= TROD_COL_DETAIL;
        if (want & TROD_COL_DETAIL && !put_upper(r, n))
            return NULL;
    }
    b->has[n] = has & r->want;
    b->kind[n] = TROD_REG;
    if (want & TROD_COL_FLAGS)
        b->flags[n] = r->flags;
    if (want & TROD_COL_SIZE)
        b->size[n] = v.n / 2;
    if (want & TROD_COL_VALUE)
        b->value[n] = v.value;
    if (want & TROD_COL_TEXT)
        b->text[n] = (struct trod_slice){(uint32_t)(q - r->base), len};
    tm_put_line(r, line, nl + 1, want);
    return nl + 1;
}

/* MR4X address data; Q is at the M. */
TM_INLINE const uint8_t *mem(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                             const uint32_t want, const bool wide)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    const bool write = q[1] == 'W';
    unsigned size = q[2] - '0';
    uint32_t flags = 0, has;
    struct mem_line l;

    if (q[1] != 'R' && !write)
        return NULL;
    if (tm_is_digit(q[3]))
        return size < 10 ? tm_wide_mem(r, line, q, want) : NULL;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return NULL;
    q += 3;
    if (*q != ' ') {
        flags = tm_mem_flags(r->d, *q);
        if (!flags || q[1] != ' ')
            return NULL;
        q++;
    }
    if (!mem_fields(r, q + 1, size, &l, want, wide))
        return NULL;
    has = l.a.has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_VALUE | TROD_COL_RAW |
          r->has;
    if (!put_mem_detail(r, n, size, &l, &has, want))
        return NULL;
    b->has[n] = has & r->want;
    b->kind[n] = write ? TROD_WRITE : TROD_READ;
    if (want & TROD_COL_FLAGS)
        b->flags[n] = r->flags | flags | l.a.sec;
    if (want & TROD_COL_SIZE)
        b->size[n] = size;
    if (want & TROD_COL_ADDR)
        b->addr[n] = l.a.vaddr;
    if (want & TROD_COL_PADDR)
        b->paddr[n] = l.a.paddr;
    if (want & TROD_COL_VALUE)
        b->value[n] = l.value;
    tm_put_line(r, line, l.nl + 1, want);
    return l.nl + 1;
}

/* A line whose type word is at Q; the first cases are the most frequent ones. */
TM_INLINE const uint8_t *typed(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                               const uint32_t want, const bool wide)
{
    if (q[0] == 'I') {
        if ((q[1] != 'T' && q[1] != 'S') || q[2] != ' ' || q[3] != '(')
            return NULL;
        r->h.picture = 0;
        return instr(r, line, q + 3, q[1] == 'S' ? TROD_F_SKIPPED : 0, want, wide);
    }
    if (q[0] == 'R') {
        r->h.picture = 0;
        tm_no_source(r);
        return q[1] == ' ' ? reg(r, line, q + 2, want, wide) : NULL;
    }
    if (q[0] == 'M') {
        r->h.picture = 0;
        tm_no_source(r);
        return mem(r, line, q, want, wide);
    }
    if (q[0] == 'E') {
        r->h.picture = 0;
        if (q[1] == ' ')
            return tm_fast_event(r, line, q + 2, want);
        return q[1] == 'S' && q[2] == ' ' ? tm_fast_es(r, line, q + 2, want, wide) : NULL;
    }
    if (q[0] == 'B') {
        r->h.picture = 0;
        return q[1] == 'R' ? tm_fast_br(r, line, q + 2, want) : NULL;
    }
    if (q[0] == 'L')
        return q[1] == 'D' && q[2] == ' ' ? tm_fast_picture(r, line, q + 2, TROD_READ, want, wide)
                                          : NULL;
    if (q[0] == 'S')
        return q[1] == 'T' && q[2] == ' ' ? tm_fast_picture(r, line, q + 2, TROD_WRITE, want, wide)
                                          : NULL;
    return NULL;
}

/* One line at P; NULL: it is for parse.c. */
TM_INLINE const uint8_t *one(struct tm_run *r, const uint8_t *p, const uint32_t want,
                             const bool wide)
{
    const uint8_t *q = p;

    if (*q == ' ') {
        q += (unsigned)__builtin_ctz(~tm_mask16(q, ' '));
        while (*q == ' ' && q - p < 32)
            q++;
    }
    if (q > p && r->h.picture && (uint32_t)(q - p) == r->h.picture_column)
        return NULL; /* it may go on with the picture above */
    if (tm_is_digit(*q)) {
        if (!(q = tm_take_head(r, q, want, wide)))
            return NULL;
    } else {
        tm_no_head(r);
    }
    return typed(r, p, q, want, wide);
}

/*
 * Lines that have a form, apart from the loop for others: for all columns, for few (TM_NARROW), for
 * instructions alone (TM_SITES), for the names of rows (TM_NAMED), for any.
 */
static TROD_WIDE TROD_APART const uint8_t *formed_all(struct tm_run *r, const uint8_t *p,
                                                      const uint8_t *end)
{
    return r->d->es_forms ? formed_lines(r, p, end, TROD_COL_ALL, true)
                          : formed_lines(r, p, end, TROD_COL_ALL, false);
}

static TROD_WIDE TROD_APART const uint8_t *formed_narrow(struct tm_run *r, const uint8_t *p,
                                                         const uint8_t *end)
{
    return r->d->es_forms ? formed_lines(r, p, end, TM_NARROW, true)
                          : formed_lines(r, p, end, TM_NARROW, false);
}

static TROD_WIDE TROD_APART const uint8_t *formed_sites(struct tm_run *r, const uint8_t *p,
                                                        const uint8_t *end)
{
    return r->d->es_forms ? formed_lines(r, p, end, TM_SITES, true)
                          : formed_lines(r, p, end, TM_SITES, false);
}

static TROD_WIDE TROD_APART const uint8_t *formed_named(struct tm_run *r, const uint8_t *p,
                                                        const uint8_t *end)
{
    return r->d->es_forms ? formed_lines(r, p, end, TM_NAMED, true)
                          : formed_lines(r, p, end, TM_NAMED, false);
}

static TROD_WIDE TROD_APART const uint8_t *formed_some(struct tm_run *r, const uint8_t *p,
                                                       const uint8_t *end)
{
    return r->d->es_forms ? formed_lines(r, p, end, r->want, true)
                          : formed_lines(r, p, end, r->want, false);
}

TM_INLINE const uint8_t *formed(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                                const uint32_t want)
{
    if (!(r->d->type_at | r->d->bare_at) || r->h.unit != r->d->forms_unit)
        return p;
    if (want == TROD_COL_ALL)
        return formed_all(r, p, end);
    if (want == TM_NARROW)
        return formed_narrow(r, p, end);
    if (!(r->want & ~(uint32_t)TM_SITES))
        return formed_sites(r, p, end);
    return r->want & ~(uint32_t)TM_NAMED ? formed_some(r, p, end) : formed_named(r, p, end);
}

TM_INLINE const uint8_t *lines(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                               const uint32_t want, const bool wide)
{
    const uint32_t cap = r->b->cap;

    while (r->n < cap && end - p >= TM_MARGIN) {
        uint32_t pool_n;
        uint8_t picture;
        const uint8_t *next;

        if (wide) {
            p = formed(r, p, end, want);
            if (r->n == cap || end - p < TM_MARGIN)
                break;
        }
        pool_n = r->b->pool_n;
        picture = r->h.picture;
        r->changed = false;
        next = one(r, p, want, wide);
        if (!next) {
            /* the line may turn out damaged: lines behind it inherit nothing from here */
            r->b->pool_n = pool_n;
            if (r->changed)
                r->h = r->kept;
            r->h.picture = picture;
            break;
        }
        if (wide)
            form_learn(r, p);
        p = next;
        r->n++;
        r->lines++;
    }
    return p;
}

/* The loop for the columns that R wants. */
TM_INLINE const uint8_t *lines_for(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                                   const bool wide)
{
    if ((r->want & TM_READS) == TM_READS)
        return lines(r, p, end, TROD_COL_ALL, wide);
    if ((r->want & ~(uint32_t)TM_NARROW) == 0)
        return lines(r, p, end, TM_NARROW, wide);
    return lines(r, p, end, r->want, wide);
}

static const uint8_t *lines_plain(struct tm_run *r, const uint8_t *p, const uint8_t *end)
{
    return lines_for(r, p, end, false);
}

static TROD_WIDE const uint8_t *lines_wide(struct tm_run *r, const uint8_t *p, const uint8_t *end)
{
    return lines_for(r, p, end, TROD_AVX2);
}

/* The forms of D are to put the columns of WANT. */
static void forms_want(struct tm_dec *d, uint32_t want)
{
    for (unsigned i = 0; i < TM_FORMS; i++) {
        d->forms[0][i].put = d->forms[0][i].has & want;
        d->forms[1][i].put = d->forms[1][i].has & want;
    }
    d->forms_want = want;
}

const uint8_t *tm_fast(struct tm_dec *d, const uint8_t *p, const uint8_t *end, struct trod_batch *b)
{
    const uint32_t first = b->n;
    struct tm_run r; /* of shapes and tops only what says that there is none */

    if (d->heads_next == 0 || end - p < TM_MARGIN || d->opt.endian == TM_BIG)
        return p;
    r.d = d;
    r.b = b;
    r.base = b->bytes;
    r.n = first;
    r.want = b->have;
    r.lines = 0;
    r.before = NULL;
    r.before_len = r.has = r.flags = 0;
    r.changed = false;
    r.first = r.other = NULL;
    r.top.head = NULL;
    r.top.wait = 0;
    r.h = (struct tm_handed){.head = &d->heads[d->head],
                             .time = d->time,
                             .stream = d->stream,
                             .picture = d->picture,
                             .picture_column = d->picture_column,
                             .unit = d->unit,
                             .timed = d->timed,
                             .source_seen = d->source_seen};
    r.kept = r.h;
    tm_shape_none(&r.instr);
    for (unsigned i = 0; i < 4; i++)
        tm_shape_none(&r.mem[i]);
    if (d->forms_want != b->have)
        forms_want(d, b->have);
    p = trod_wide() ? lines_wide(&r, p, end) : lines_plain(&r, p, end);
    if (r.n == first)
        return p;
    d->time = r.h.time;
    d->head = (uint32_t)(r.h.head - d->heads);
    d->unit = r.h.unit;
    d->timed = r.h.timed;
    d->stream = r.h.stream;
    d->source_seen = r.h.source_seen;
    d->picture = r.h.picture;
    d->picture_column = r.h.picture_column;
    d->lines += r.lines;
    d->rows += r.n - first;
    b->n = r.n;
    return p;
}
