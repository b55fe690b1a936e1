/*
 * system.c - what happens below the program: caches, translation tables, TLBs, the bus.
 *
 * Implements docs/formats/tarmac.md, "What each record becomes" (TarmacTrace, "Cache maintenance
 * trace", "Cache content trace", "Translation table walk trace", "TLB trace", "Memory bus trace").
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

enum { NAME_WORDS = 4 }; /* of a cache or a side of a walk, at the most */

/* The next word, which stays there. */
static struct tm_word peek(struct tm_line *l)
{
    const uint8_t *back = l->p;
    struct tm_word w = tm_word(l);

    l->p = back;
    return w;
}

/* Whether TEXT stands in W, in either case. */
static bool contains(struct tm_word w, const char *text)
{
    size_t n = strlen(text);

    for (size_t i = 0; i + n <= w.n; i++) {
        size_t k = 0;

        while (k < n && (w.p[i + k] | 0x20) == (text[k] | 0x20))
            k++;
        if (k == n)
            return true;
    }
    return false;
}

/* Whether W can be the data of a cache operation: an address, or 4 hex digits and more. */
static bool data_like(struct tm_word w)
{
    size_t digits = 0;

    if (w.n > 2 && w.p[0] == '0' && (w.p[1] | 0x20) == 'x')
        return tm_hex_table[w.p[2]] < 16;
    while (digits < w.n && tm_hex_table[w.p[digits]] < 16)
        digits++;
    return digits >= 4 && (digits == w.n || w.p[digits] == ':' || w.p[digits] == '_');
}

static int cache_op(struct tm_line *l)
{
    struct tm_row *row = tm_begin(l, TROD_CACHE_OP);
    struct trod_detail_cache_op *d = tm_detail(l, row, sizeof *d);
    struct tm_word text, w;
    struct tm_addr a;
    int rc;

    if (!d)
        return TM_FULL;
    tm_blanks(l);
    text = (struct tm_word){l->p, 0};
    for (w = tm_word(l); w.n && !data_like(w); w = tm_word(l))
        text.n = (size_t)(w.p + w.n - text.p);
    if (!text.n)
        return tm_bad(l, TM_MISSING_FIELD, w.p, "the name of a cache operation is missing");
    if (!w.n)
        return tm_bad(l, TM_MISSING_FIELD, w.p, "the data of a cache operation are missing");
    if ((rc = tm_address(l, w, &a)) != TM_OK)
        return rc;
    row->text = tm_slice(l, text);
    row->has |= TROD_COL_TEXT;
    d->prefix = w.n > 1 && (w.p[1] | 0x20) == 'x';
    d->data_side = contains(text, "data") || contains(text, "dcache");
    d->instr_side = contains(text, "instruction") || contains(text, "icache");
    d->clean = contains(text, "clean");
    d->invalidate = contains(text, "inval");
    d->addr_digits = tm_vdigits(a.vaddr, a.digits);
    w = tm_word(l);
    d->pagesize = tm_slice(l, w);
    d->memtype = tm_slice(l, tm_rest(l));
    d->by_address = a.has_paddr || w.n || contains(text, "MVA") || contains(text, "by VA");
    if (d->by_address) {
        tm_address_row(row, &a);
        d->paddr_digits = a.has_paddr ? tm_pdigits(a.paddr, a.pdigits) : 0;
    } else {
        row->value = a.vaddr;
        row->has |= TROD_COL_VALUE;
    }
    tm_add(l);
    return TM_OK;
}

static int line_op(struct tm_word w)
{
    static const char *const names[] = {"ALLOC", "INVAL", "DIRTY", "CLEAN", "FILL", "EVICT"};

    for (int i = 0; i < 6; i++)
        if (tm_is(w, names[i]))
            return i + TROD_LINE_ALLOC;
    return TROD_LINE_OTHER;
}

/* An address as 0x<paddr>{_NS}: PADDR of ROW. */
static int physical(struct tm_line *l, struct tm_word w, struct tm_row *row, uint8_t *digits)
{
    struct tm_addr a;
    size_t n = w.n;
    int rc;

    /* The suffix of a lone address is that of the physical one. */
    while (n > 0 && w.p[n - 1] != '_')
        n--;
    if (n > 0) {
        struct tm_word sec = {w.p + n, w.n - n};

        row->flags |= (uint32_t)(tm_is(sec, "NS")   ? TROD_SEC_NONSECURE
                                 : tm_is(sec, "S")  ? TROD_SEC_SECURE
                                 : tm_is(sec, "RT") ? TROD_SEC_ROOT
                                 : tm_is(sec, "RL") ? TROD_SEC_REALM
                                                    : TROD_SEC_NONE)
                      << TROD_F_SEC_SHIFT;
        if (!(row->flags & TROD_F_SEC))
            return tm_bad(l, TM_BAD_FIELD, sec.p,
                          "security of an address is none of _NS, _S, _RT and _RL");
        w.n = n - 1;
    } else {
        row->flags |= (uint32_t)TROD_SEC_SECURE << TROD_F_SEC_SHIFT;
    }
    if ((rc = tm_address(l, w, &a)) != TM_OK)
        return rc;
    if (a.has_paddr)
        return tm_bad(l, TM_BAD_FIELD, w.p, "a physical address is one number");
    row->paddr = a.vaddr;
    row->has |= TROD_COL_PADDR;
    *digits = a.digits;
    return TM_OK;
}

int tm_parse_cache(struct tm_line *l, struct tm_word type)
{
    struct tm_row *row = tm_begin(l, TROD_CACHE_LINE);
    struct trod_detail_cache_line *d;
    struct tm_word id = tm_word(l), w = tm_word(l), op;
    unsigned words = 1;
    uint8_t digits;
    int rc;

    (void)type;
    if (tm_is(id, "MAINTENANCE")) {
        l->p = w.p;
        return cache_op(l);
    }
    for (; w.n && !tm_is(w, "LINE") && words < NAME_WORDS; words++) { /* "L1 D" */
        id.n = (size_t)(w.p + w.n - id.p);
        w = tm_word(l);
    }
    if (!tm_is(w, "LINE"))
        return TM_OTHER;
    if (!(d = tm_detail(l, row, sizeof *d)))
        return TM_FULL;
    row->text = tm_slice(l, id);
    w = tm_word(l);
    if ((rc = tm_hex(l, w, &row->value)) != TM_OK)
        return rc;
    d->line_digits = tm_digits(w.n, 4);
    op = tm_word(l);
    row->sub = (uint16_t)line_op(op);
    if (row->sub == TROD_LINE_OTHER)
        d->op = tm_slice(l, op);
    if ((rc = physical(l, tm_word(l), row, &digits)) != TM_OK || (rc = tm_end(l)) != TM_OK)
        return rc;
    d->paddr_digits = tm_pdigits(row->paddr, digits);
    row->has |= TROD_COL_TEXT | TROD_COL_VALUE | TROD_COL_SUB;
    tm_add(l);
    return TM_OK;
}

static bool is_stage_level(struct tm_word w)
{
    return w.n == 3 && tm_is_digit(w.p[0]) && w.p[1] == ':' && tm_is_digit(w.p[2]);
}

/* <side> <format>: the last word before the stage is the format, what stands before it the side. */
static void side_and_format(struct tm_line *l, struct trod_detail_walk *d)
{
    struct tm_word w[NAME_WORDS + 1];
    const uint8_t *end[NAME_WORDS + 1];
    unsigned n = 0;

    while (n <= NAME_WORDS && (n < 2 || (w[n - 1].n && !is_stage_level(peek(l))))) {
        w[n] = tm_word(l);
        end[n++] = l->p;
    }
    if (!is_stage_level(peek(l)))
        n = 2; /* there is none: two words, as usual */
    l->p = end[n - 1];
    w[0].n = (size_t)(w[n - 2].p + w[n - 2].n - w[0].p);
    d->side = tm_slice(l, w[0]);
    d->format = tm_slice(l, w[n - 1]);
}

/* <stage>:<level> */
static int stage_level(struct tm_line *l, struct tm_word w, struct trod_detail_walk *d)
{
    if (!is_stage_level(w))
        return tm_bad(l, w.n ? TM_BAD_FIELD : TM_MISSING_FIELD, w.p,
                      "stage:level of a walk is expected here");
    d->stage = (uint8_t)(w.p[0] - '0');
    d->level = (uint8_t)(w.p[2] - '0');
    return TM_OK;
}

int tm_parse_walk(struct tm_line *l, struct tm_word type)
{
    struct tm_row *row = tm_begin(l, TROD_WALK);
    struct trod_detail_walk *d = tm_detail(l, row, sizeof *d);
    struct tm_word w, result;
    uint8_t digits;
    int rc;

    if (!d)
        return TM_FULL;
    d->update = tm_is(type, "TTU");
    side_and_format(l, d);
    if ((rc = stage_level(l, tm_word(l), d)) != TM_OK ||
        (rc = physical(l, tm_word(l), row, &digits)) != TM_OK)
        return rc;
    d->paddr_digits = tm_pdigits(row->paddr, digits);
    w = tm_word(l);
    if (!tm_is(w, ":")) {
        /* An aborted walk may come without the entry. */
        if ((rc = tm_hex_divided(l, w, &row->value)) != TM_OK)
            return rc;
        d->value_digits = tm_digits(w.n, 16);
        row->has |= TROD_COL_VALUE;
        w = tm_word(l);
    }
    if (!tm_is(w, ":"))
        return tm_bad(l, w.n ? TM_BAD_FIELD : TM_MISSING_FIELD, w.p, "':' is missing");
    result = tm_word(l);
    if (!result.n)
        return tm_bad(l, TM_MISSING_FIELD, l->e, "the result of a walk is missing");
    row->text = tm_slice(l, result);
    row->has |= TROD_COL_TEXT;
    if (tm_is(result, "ABORTED"))
        row->flags |= TROD_F_ABORTED;
    d->attrs = tm_slice(l, tm_rest(l));
    tm_add(l);
    return TM_OK;
}

/* 64K, 2M, 1G, 512, 0x1000: bytes; 0 if it is none of these. */
static uint64_t region_size(struct tm_word w)
{
    uint64_t v = 0;
    size_t i = 0;

    if (w.n > 2 && w.n <= 18 && w.p[0] == '0' && (w.p[1] | 0x20) == 'x') {
        for (i = 2; i < w.n && tm_hex_table[w.p[i]] < 16; i++)
            v = v << 4 | tm_hex_table[w.p[i]];
        return i == w.n ? v : 0;
    }
    for (; i < w.n && tm_is_digit(w.p[i]) && v < UINT64_MAX / 100; i++)
        v = v * 10 + (uint64_t)(w.p[i] - '0');
    if (i == w.n)
        return v;
    switch (w.p[i] & 0xdf) {
    case 'K':
        return v << 10;
    case 'M':
        return v << 20;
    case 'G':
        return v << 30;
    case 'T':
        return v << 40;
    default:
        return 0;
    }
}

/*
 * The number behind NAME in W: decimal, or hexadecimal behind 0x. TM_OTHER: NAME is not in W; where
 * it is, what follows must be a number.
 */
static int named_number(struct tm_line *l, struct tm_word w, const char *name, uint64_t *out)
{
    size_t n = strlen(name);

    for (size_t i = 0; i + n <= w.n; i++) {
        struct tm_word digits = {w.p + i + n, 0};

        if (memcmp(w.p + i, name, n) != 0)
            continue;
        while (digits.p + digits.n < w.p + w.n && !tm_is_blank(digits.p[digits.n]) &&
               digits.p[digits.n] != ',')
            digits.n++;
        if (digits.n > 2 && digits.p[0] == '0' && (digits.p[1] | 0x20) == 'x')
            return tm_hex(l, digits, out);
        return tm_decimal_number(l, digits, out);
    }
    return TM_OTHER;
}

static bool begins(struct tm_word w, const char *with)
{
    const size_t n = strlen(with);

    return w.n >= n && memcmp(w.p, with, n) == 0;
}

/*
 * The words of a regime behind its base: EL is the translation regime, with all up to the last word
 * that no document has; vmid= and asid= are read by their names.
 */
static void regime_words(struct tm_word w, struct tm_word *el, uint8_t *non_global)
{
    const uint8_t *p = w.p, *const end = w.p + w.n;

    *el = (struct tm_word){w.p, 0};
    while (p < end) {
        struct tm_word one = {p, 0};

        while (p + one.n < end && !tm_is_blank(p[one.n]) && p[one.n] != ',')
            one.n++;
        p += one.n + (one.n == 0);
        if (tm_is(one, "nG"))
            *non_global = 1;
        else if (one.n && !begins(one, "vmid=") && !begins(one, "asid="))
            *el = el->n ? (struct tm_word){el->p, (size_t)(p - el->p)} : one;
    }
}

/* 0x<vbase>{_NS} <el>{ vmid=..}{, nG asid=..} */
static int regime(struct tm_line *l, struct tm_word w, struct tm_row *row,
                  struct trod_detail_tlb *d)
{
    struct tm_word base = {w.p, 0}, el;
    const uint8_t *p;
    int rc;

    while (base.n < w.n && !tm_is_blank(w.p[base.n]) && w.p[base.n] != ',')
        base.n++;
    p = base.p + base.n;
    d->sec = TROD_SEC_SECURE;
    if (base.n > 3 && memcmp(p - 3, "_NS", 3) == 0) {
        d->sec = TROD_SEC_NONSECURE;
        base.n -= 3;
    } else if (base.n > 3 && (memcmp(p - 3, "_RT", 3) == 0 || memcmp(p - 3, "_RL", 3) == 0)) {
        d->sec = p[-1] == 'T' ? TROD_SEC_ROOT : TROD_SEC_REALM;
        base.n -= 3;
    }
    if ((rc = tm_hex(l, base, &row->addr)) != TM_OK)
        return rc;
    row->has |= TROD_COL_ADDR;
    regime_words((struct tm_word){p, (size_t)(w.p + w.n - p)}, &el, &d->non_global);
    if (el.n)
        d->el = tm_slice(l, el);
    if ((rc = named_number(l, w, "vmid=", &d->vmid)) == TM_BAD)
        return rc;
    d->has_vmid = rc == TM_OK;
    if ((rc = named_number(l, w, "asid=", &d->asid)) == TM_BAD)
        return rc;
    d->has_asid = rc == TM_OK;
    d->regime = tm_slice(l, w);
    return TM_OK;
}

/* The next word at I of W, and where it ends. */
static struct tm_word word_at(struct tm_word w, size_t i)
{
    struct tm_word one;

    while (i < w.n && tm_is_blank(w.p[i]))
        i++;
    one = (struct tm_word){w.p + i, 0};
    while (i + one.n < w.n && !tm_is_blank(one.p[one.n]))
        one.n++;
    return one;
}

/*
 * Where the memory type ends and attr=value begins; Inner= and Outer= are of the type. The manual's
 * own example has a blank before '=' ("ContiguousHint =0").
 */
static struct tm_word memory_type(struct tm_word w)
{
    size_t end = 0;

    for (;;) {
        struct tm_word one = word_at(w, end), next;

        if (!one.n)
            break;
        next = word_at(w, (size_t)(one.p + one.n - w.p));
        if ((memchr(one.p, '=', one.n) && !contains(one, "Inner=") && !contains(one, "Outer=")) ||
            (next.n && *next.p == '='))
            break;
        end = (size_t)(one.p + one.n - w.p);
    }
    return (struct tm_word){w.p, end};
}

int tm_parse_tlb(struct tm_line *l, struct tm_word type)
{
    struct tm_row *row = tm_begin(l, TROD_TLB);
    struct trod_detail_tlb *d = tm_detail(l, row, sizeof *d);
    bool walk = tm_is(type, "WALKCACHE"), fill;
    struct tm_word w = tm_word(l), id, rest;
    const uint8_t *colon = NULL;
    int rc;

    if (!d)
        return TM_FULL;
    fill = tm_is(w, "FILL");
    if (!fill && !tm_is(w, "EVICT"))
        return tm_bad(l, w.n ? TM_BAD_FIELD : TM_MISSING_FIELD, w.p,
                      "FILL or EVICT is expected here");
    row->sub = (uint16_t)((walk ? TROD_WALKCACHE_FILL : TROD_TLB_FILL) + !fill);
    id = tm_word(l);
    row->text = tm_slice(l, id);
    row->has |= TROD_COL_TEXT | TROD_COL_SUB;
    w = tm_word(l);
    d->size = region_size(w);
    d->size_text = tm_slice(l, w);
    if (!d->size)
        return tm_bad(l, w.n ? TM_BAD_NUMBER : TM_MISSING_FIELD, w.p,
                      "size of a region is expected here");
    if (d->size <= UINT32_MAX) {
        row->size = (uint32_t)d->size;
        row->has |= TROD_COL_SIZE;
    }
    rest = tm_rest(l);
    if (!rest.n)
        return tm_bad(l, TM_MISSING_FIELD, rest.p, "a virtual regime is missing");
    if (fill) {
        colon = memchr(rest.p, ':', rest.n);
        if (!colon)
            return tm_bad(l, TM_MISSING_FIELD, rest.p + rest.n, "':' is missing");
    }
    w = (struct tm_word){rest.p, colon ? (size_t)(colon - rest.p) : rest.n};
    if ((rc = regime(l, w, row, d)) != TM_OK)
        return rc;
    if (colon) {
        l->p = colon + 1;
        l->e = rest.p + rest.n;
        if ((rc = physical(l, tm_word(l), row, &d->paddr_digits)) != TM_OK)
            return rc;
        rest = tm_rest(l);
        w = memory_type(rest);
        d->memtype = tm_slice(l, w);
        l->p = rest.p + w.n;
        d->attrs = tm_slice(l, tm_rest(l));
    }
    tm_add(l);
    return TM_OK;
}
