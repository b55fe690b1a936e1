/*
 * fast_rows.h - lines that have a form (form.h) as rows, but for pictures and what heads say.
 *
 * See fast.c and fast_form.h.
 */
#ifndef TROD_FORMAT_TARMAC_FAST_ROWS_H
#define TROD_FORMAT_TARMAC_FAST_ROWS_H

#include "format/tarmac/fast_learn.h"
#include "format/tarmac/wide_picture.h"

#if TROD_AVX2

/* The number that the digits FIELD of the line at P are; all of them lower case, or all upper. */
TM_INLINE uint64_t form_number(const uint8_t *p, struct tm_field field)
{
    return tm_shape_number(p, (struct tm_digits){field.at, (uint8_t)(64 - 4 * (unsigned)field.n)});
}

/* Addresses of row N; l->digits too where details are wanted. */
TM_INLINE void formed_addresses(struct trod_batch *b, const struct tm_form *f, const uint8_t *p,
                                size_t n, struct address *a, const uint32_t want)
{
    if (!(want & (TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_PC | TROD_COL_DETAIL)))
        return;
    a->vaddr = tm_form_addresses(f, p, &a->paddr);
    a->digits = f->vaddr.n == 16 && !(a->vaddr >> 32) ? 16 : 0;
    a->paddr_digits = f->paddr.n == 16 && !(a->paddr >> 48) ? 16 : 0;
    if (want & TROD_COL_ADDR)
        b->addr[n] = a->vaddr;
    if (want & TROD_COL_PADDR)
        b->paddr[n] = a->paddr;
}

/*
 * Row N is the instruction in the line at P, which has the form F. *NEXT: the next line. False: it
 * is left to the other paths.
 */
TM_INLINE bool formed_instr(struct tm_run *r, struct trod_batch *b, const struct tm_form *f,
                            const uint8_t *p, size_t n, uint32_t *has, const uint8_t **next,
                            const uint32_t want)
{
    struct instr_line l = {.iset = f->iset, .op_n = 2 * f->size, .mode_len = f->name.n};
    const uint8_t *text = p + f->len, *nl = tm_line_end32(text, TM_TEXT_MAX), *end = nl;

    if (nl == text + TM_TEXT_MAX)
        return false;
    formed_addresses(b, f, p, n, &l.a, want);
    if (want & (TROD_COL_DETAIL | TROD_COL_TEXT)) {
        end = tm_text_end(nl);
        if (!trim_text(&text, &end))
            return false;
    }
    if (want & (TROD_COL_DETAIL | TROD_COL_CODE)) {
        l.mode = p + f->name.at;
        l.op = (uint32_t)form_number(p, f->code);
        if (!put_details(r, n, &l, (unsigned)(text - p - f->len), (unsigned)(tm_text_end(nl) - end),
                         want))
            return false;
    }
    if (want & TROD_COL_TEXT) {
        b->text[n] = (struct trod_slice){(uint32_t)(text - r->base), (uint32_t)(end - text)};
        *has |= text == end ? 0 : (uint32_t)TROD_COL_TEXT;
    }
    if (want & TROD_COL_FLAGS)
        b->flags[n] = f->flags | (p[f->pair_at] & 1u) * TROD_F_SKIPPED;
    if (want & TROD_COL_INDEX)
        b->index[n] = tm_form_decimal(f->pick_index, p + f->index.at);
    if (want & TROD_COL_PC)
        b->pc[n] = l.a.vaddr;
    b->kind[n] = TROD_INSTR;
    *next = nl + 1;
    return true;
}

/* The value of more than 64 bits in the line at P becomes the data of row N. */
static TROD_WIDE TROD_APART bool formed_data(struct tm_run *r, const struct tm_form *f,
                                             const uint8_t *p, size_t n)
{
    uint8_t *to = trod_batch_pool(r->b, f->size, &r->b->data[n]);

    for (unsigned i = 0; to && i < f->size; i += 8) {
        uint64_t word = form_number(p, f->code);

        if (f->divided)
            word |= form_number(p - 9, f->code) << 32;
        p -= f->divided ? 18 : 16;
        trod_store_le64(to + i, word);
    }
    return to;
}

/* Whether there is a letter in the value of more than 64 bits in the line at P. */
static TROD_WIDE bool formed_letters(const struct tm_form *f, const uint8_t *p)
{
    for (unsigned i = 0; i < 2 * f->size; i += f->code.n) {
        if (tm_letters(p + f->code.at, f->code.n))
            return true;
        p -= f->code.n + (f->divided ? 1u : 0);
    }
    return false;
}

/* Row N is the write of a register of more than 64 bits: set what depends on its value. */
static TROD_WIDE TROD_APART bool formed_wide_reg(struct tm_run *r, const struct tm_form *f,
                                                 const uint8_t *p, size_t n, uint32_t *has)
{
    const bool upper = f->upper && r->want & TROD_COL_DETAIL && formed_letters(f, p);

    if (r->want & TROD_COL_DATA && !formed_data(r, f, p, n))
        return false;
    return tm_wide_style(r, n, f->divided, upper, has, r->want);
}

/* The same for a register's write. */
TM_INLINE bool formed_reg(struct tm_run *r, struct trod_batch *b, const struct tm_form *f,
                          const uint8_t *p, size_t n, uint32_t *has, const uint8_t **next,
                          const uint32_t want)
{

    if (want & TM_WIDE_COLUMNS && f->size > 8) {
        if (!formed_wide_reg(r, f, p, n, has))
            return false;
    } else {
        if (want & TROD_COL_DETAIL && f->upper && tm_letters(p + f->code.at, f->code.n)) {
            *has |= TROD_COL_DETAIL;
            if (!put_upper(r, n))
                return false;
        }
        if (want & TROD_COL_VALUE)
            b->value[n] = form_number(p, f->code);
    }
    if (want & TROD_COL_TEXT)
        b->text[n] = (struct trod_slice){(uint32_t)(p + f->name.at - r->base), f->name.n};
    if (want & TROD_COL_FLAGS)
        b->flags[n] = f->flags;
    b->kind[n] = TROD_REG;
    *next = p + f->len;
    return true;
}

/* The same for an access. */
TM_INLINE bool formed_mem(struct tm_run *r, struct trod_batch *b, const struct tm_form *f,
                          const uint8_t *p, size_t n, uint32_t *has, const uint8_t **next,
                          const uint32_t want)
{
    struct mem_line l = {.divided = f->divided};

    formed_addresses(b, f, p, n, &l.a, want);
    if (want & TROD_COL_DETAIL && !put_mem_detail(r, n, f->size, &l, has, want))
        return false;
    if (want & TROD_COL_DATA && f->size > 8 && !formed_data(r, f, p, n))
        return false;
    if (want & TROD_COL_VALUE && f->size <= 8) {
        l.value = form_number(p, f->code);
        if (f->size == 8 && f->divided)
            l.value |= form_number(p - 9, f->code) << 32;
        b->value[n] = l.value;
    }
    if (want & TROD_COL_FLAGS)
        b->flags[n] = f->flags;
    b->kind[n] = (uint8_t)(TROD_READ + (p[f->pair_at] & 1) * (TROD_WRITE - TROD_READ));
    *next = p + f->len;
    return true;
}

/* Where the text of an ES line is not wanted: the line's end, and whether CCFAIL stands before. */
struct es_end {
    const uint8_t *nl; /* NULL: the line is for others */
    bool failed;
};

static TROD_WIDE TROD_APART struct es_end es_end_far(const uint8_t *p, unsigned mode_len)
{
    struct tm_es_text t;

    if (!tm_take_es_text(p, mode_len, &t, 0, true))
        return (struct es_end){NULL, false};
    return (struct es_end){t.nl, t.failed};
}

/*
 * The end of the line at P. False: it is not in the next 64 characters, or CCFAIL may stand before
 * it. Few texts begin with two C.
 */
static inline TROD_WIDE bool es_end_near(const uint8_t *p, const uint8_t **nl)
{
    const __m256i v = tm_load32(p);
    uint32_t line = tm_equal_mask32(v, tm_bytes.line);
    /* neither a blank nor a tab; characters beyond the line's end may count, which does no harm */
    const uint32_t text =
        (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(v, tm_load32(tm_bytes.blank)));

    *nl = p;
    if (!line) {
        line = tm_equal_mask32(tm_load32(p + 32), tm_bytes.line);
        if (!line || !text)
            return false;
        *nl += 32;
    }
    *nl += __builtin_ctz(line); /* a carriage return before it is text, if that */
    return trod_load_le16(p + _tzcnt_u64(text)) != ('C' | 'C' << 8);
}

/* The same for an instruction of the ES dialect. */
TM_INLINE bool formed_es(struct tm_run *r, struct trod_batch *b, const struct tm_form *f,
                         const uint8_t *p, size_t n, uint32_t *has, const uint8_t **next,
                         const uint32_t want)
{
    struct tm_es_line l = {.iset = f->iset, .addr_n = f->vaddr.n, .op_n = 2 * f->size};
    struct tm_es_text t = {.nl = NULL};

    if (want & (TROD_COL_DETAIL | TROD_COL_TEXT)) {
        if (!tm_take_es_text(p + f->len, f->name.n, &t, want, true))
            return false;
    } else if (es_end_near(p + f->len, &t.nl)) {
        t.failed = false;
    } else {
        const struct es_end e = es_end_far(p + f->len, f->name.n);

        if (!e.nl)
            return false;
        t.nl = e.nl;
        t.failed = e.failed;
    }
    if (want & (TROD_COL_ADDR | TROD_COL_PC | TROD_COL_DETAIL))
        l.addr = tm_form_address(f, p);
    if (want & TROD_COL_ADDR)
        b->addr[n] = l.addr;
    if (want & (TROD_COL_DETAIL | TROD_COL_CODE)) {
        l.mode = p + f->name.at;
        l.mode_len = f->name.n;
        l.op = (uint32_t)form_number(p, f->code);
        if (!tm_put_es_details(r, n, &l, &t, want))
            return false;
    }
    if (want & TROD_COL_TEXT) {
        b->text[n] = (struct trod_slice){(uint32_t)(t.from - r->base), (uint32_t)(t.end - t.from)};
        *has |= t.end == t.from ? 0 : (uint32_t)TROD_COL_TEXT;
    }
    if (want & TROD_COL_FLAGS)
        b->flags[n] = f->flags | (t.failed ? (uint32_t)TROD_F_SKIPPED : 0);
    if (want & TROD_COL_PC)
        b->pc[n] = l.addr;
    b->kind[n] = TROD_INSTR;
    *next = t.nl + 1;
    return true;
}

/* The same for where a branch goes. */
TM_INLINE bool formed_br(struct tm_run *r, const struct tm_form *f, const uint8_t *p, size_t n,
                         const uint8_t **next, const uint32_t want)
{
    const uint64_t target = tm_form_address(f, p);

    *next = p + f->len;
    return tm_put_br(r, n, target, f->vaddr.n, f->flags, want);
}

/* The same for an event. */
static TROD_WIDE TROD_APART bool formed_event(struct tm_run *r, const struct tm_form *f,
                                              const uint8_t *p, size_t n, const uint8_t **next)
{
    const uint32_t want = r->want;
    struct trod_batch *b = r->b;
    struct tm_event e = {.mode = p + f->name.at, .mode_len = f->name.n, .has_value1 = f->code.n};

    formed_addresses(b, f, p, n, &e.a, want);
    if (e.has_value1)
        e.value1 = form_number(p, f->code);
    if (want & TROD_COL_DETAIL && !tm_put_event(r, n, &e, f->row))
        return false;
    if (want & TROD_COL_VALUE)
        b->value[n] = f->number;
    if (want & TROD_COL_TEXT)
        b->text[n] = (struct trod_slice){(uint32_t)(p + f->text.at - r->base), f->text.n};
    if (want & TROD_COL_FLAGS)
        b->flags[n] = f->flags;
    b->kind[n] = f->row;
    *next = p + f->len;
    return true;
}

#endif

#endif
