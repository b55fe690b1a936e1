/*
 * fields.c - fields by name, and details field by field.
 *
 * Implements fields.h and trod_compare_field_name of compare.h.
 */
#include "compare/fields.h"

#include "compare/short.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Names that stand for columns. */
static const struct {
    const char *name;
    uint32_t columns;
} column_names[] = {
    {"time", TROD_COL_TIME | TROD_COL_UNIT},
    {"unit", TROD_COL_UNIT},
    {"index", TROD_COL_INDEX},
    {"addr", TROD_COL_ADDR},
    {"address", TROD_COL_ADDR},
    {"paddr", TROD_COL_PADDR},
    {"pc", TROD_COL_PC},
    {"target", TROD_COL_TARGET},
    {"size", TROD_COL_SIZE},
    {"value", TROD_COL_VALUE | TROD_COL_DATA},
    {"data", TROD_COL_VALUE | TROD_COL_DATA},
    {"code", TROD_COL_CODE},
    {"opcode", TROD_COL_CODE},
    {"sub", TROD_COL_SUB},
    {"name", TROD_COMPARE_NAME},
    {"text", TROD_COL_TEXT},
    {"mode", TROD_COMPARE_MODE},
    {"stream", TROD_COL_STREAM},
    {"pid", TROD_COMPARE_PID},
    {"flags", TROD_COL_FLAGS},
    {"detail", TROD_COL_DETAIL},
    {"all", TROD_COL_ALL | TROD_COMPARE_NAME | TROD_COMPARE_MODE | TROD_COMPARE_PID},
};

enum { COLUMN_NAMES = sizeof column_names / sizeof *column_names };

/* Flags that say how records are cut, or what the value says of itself, are not among them. */
static const struct {
    const char *name;
    uint32_t bits;
} flag_names[] = {
    {"branch", TROD_F_BRANCH},       {"iset", TROD_F_ISET},         {"security", TROD_F_SEC},
    {"skipped", TROD_F_SKIPPED},     {"aborted", TROD_F_ABORTED},   {"exclusive", TROD_F_EXCLUSIVE},
    {"unprivileged", TROD_F_UNPRIV}, {"locked", TROD_F_LOCKED},     {"privileged", TROD_F_PRIV},
    {"synthetic", TROD_F_SYNTHETIC}, {"kernel", TROD_F_KERNEL},     {"nofetch", TROD_F_NOFETCH},
    {"fetch", TROD_F_IFETCH},        {"uncached", TROD_F_UNCACHED}, {"io", TROD_F_IO},
};

enum { FLAG_NAMES = sizeof flag_names / sizeof *flag_names };

static const char *or_unknown(const char *name)
{
    return name ? name : "unknown";
}

static bool compared(const struct trod_detail_field *f)
{
    return f->type != TROD_FIELD_MASK && f->type != TROD_FIELD_WRITING;
}

const char *trod_compare_field_name(size_t i)
{
    const struct trod_detail_struct *s;

    if (i < COLUMN_NAMES)
        return column_names[i].name;
    i -= COLUMN_NAMES;
    if (i < FLAG_NAMES)
        return flag_names[i].name;
    i -= FLAG_NAMES;
    for (size_t k = 0; (s = trod_detail_at(k)) != NULL; k++)
        for (unsigned j = 0; j < s->n; j++)
            if (compared(&s->field[j]) && i-- == 0)
                return s->field[j].name;
    return NULL;
}

/* A number of WIDTH bytes as the host has it. */
static uint64_t number(const uint8_t *p, unsigned width)
{
    uint64_t v8;
    uint32_t v4;
    uint16_t v2;

    switch (width) {
    case 1:
        return *p;
    case 2:
        memcpy(&v2, p, sizeof v2);
        return v2;
    case 4:
        memcpy(&v4, p, sizeof v4);
        return v4;
    default:
        memcpy(&v8, p, sizeof v8);
        return v8;
    }
}

/* A text field: its bytes, and how many. */
static const uint8_t *text_of(const struct cmp_detail *d, const struct trod_detail_field *f,
                              uint32_t *n)
{
    struct trod_slice s;

    memcpy(&s, d->p + f->at, sizeof s);
    *n = s.len;
    if (s.len == 0)
        return (const uint8_t *)"";
    return d->b ? trod_batch_bytes(d->b, s) : d->text + s.off;
}

static bool is_given(const struct cmp_detail *d, const struct trod_detail_field *f)
{
    struct trod_slice s;

    if (!trod_field_is_slice(f->type))
        return f->given == 0 || d->p[f->given];
    memcpy(&s, d->p + f->at, sizeof s);
    return s.len != 0;
}

/* Is F, a field of D, the address in a bracket (address:index)? */
static bool is_serial(const struct cmp_detail *d, const struct trod_detail_field *f)
{
    return d->of->kind == TROD_INSTR && d->of->len == sizeof(struct trod_detail_instr) &&
           f->at == offsetof(struct trod_detail_instr, id) &&
           (d->p[offsetof(struct trod_detail_instr, style)] & TROD_INSTR_SERIAL);
}

bool cmp_detail_plain_serial(const struct cmp_detail *d, unsigned k)
{
    return is_serial(d, &d->of->field[k]) && !is_given(d, &d->of->field[k]);
}

/* As text_of, as far as it counts: the index in a bracket is a column. */
static const uint8_t *compared_text(const struct cmp_detail *d, const struct trod_detail_field *f,
                                    uint32_t *n)
{
    const uint8_t *p = text_of(d, f, n), *colon = is_serial(d, f) ? memchr(p, ':', *n) : NULL;

    if (colon)
        *n = (uint32_t)(colon - p);
    return p;
}

static unsigned low_bits(const struct cmp_detail *d, const struct trod_detail_field *f)
{
    return d->p[f->at] & ((1u << f->width) - 1);
}

static bool same_field(const struct cmp_detail *a, const struct cmp_detail *b,
                       const struct trod_detail_field *f)
{
    const uint8_t *s, *t;
    uint32_t n, m;

    switch (f->type) {
    case TROD_FIELD_TEXT:
        s = compared_text(a, f, &n);
        t = compared_text(b, f, &m);
        return n == m &&
               (n == 0 || (n <= 8 ? cmp_short(s, n) == cmp_short(t, n) : memcmp(s, t, n) == 0));
    case TROD_FIELD_FLAG:
    case TROD_FIELD_WRITE:
        return !a->p[f->at] == !b->p[f->at];
    case TROD_FIELD_LOW:
        return low_bits(a, f) == low_bits(b, f);
    case TROD_FIELD_BYTES:
        return memcmp(a->p + f->at, b->p + f->at, f->width) == 0;
    default:
        return number(a->p + f->at, f->width) == number(b->p + f->at, f->width);
    }
}

struct cmp_detail cmp_detail_of(const struct trod_batch *b, uint32_t i)
{
    struct cmp_detail d = {.p = trod_batch_detail(b, i), .b = b};

    d.len = d.p ? b->detail[i].len : 0;
    if (d.p)
        d.of = trod_detail_struct_of(b->kind[i], b->detail[i].len);
    return d;
}

uint32_t cmp_detail_differs(const struct cmp_detail *a, const struct cmp_detail *b,
                            const struct cmp_fields *f)
{
    const struct trod_detail_struct *of = a->of;
    uint32_t differ = 0;

    for (uint32_t left = f->detail[of->number], k = 0; left; left >>= 1, k++) {
        const struct trod_detail_field *field = &of->field[k];
        bool ga, gb;

        if (!(left & 1))
            continue;
        ga = is_given(a, field);
        gb = is_given(b, field);
        if (ga && gb ? !same_field(a, b, field)
                     : ga != gb && ((f->given_detail[of->number] >> k & 1) ||
                                    cmp_detail_plain_serial(ga ? b : a, k)))
            differ |= 1u << k;
    }
    return differ;
}

bool cmp_detail_bytes_differ(const struct cmp_detail *a, const struct cmp_detail *b)
{
    return a->p && b->p && !a->of && !b->of &&
           (a->len != b->len || memcmp(a->p, b->p, a->len) != 0);
}

uint32_t cmp_detail_given(const struct cmp_detail *d)
{
    uint32_t given = 0;

    for (unsigned k = 0; k < d->of->n; k++)
        if (is_given(d, &d->of->field[k]))
            given |= 1u << k;
    return given;
}

const char *cmp_detail_text(const struct cmp_detail *d, unsigned k, uint32_t *n)
{
    *n = 0;
    if (d->of->field[k].type != TROD_FIELD_TEXT)
        return NULL;
    return (const char *)compared_text(d, &d->of->field[k], n);
}

size_t cmp_detail_size(const struct cmp_detail *d)
{
    size_t n = d->len;

    for (unsigned k = 0; d->of && k < d->of->n; k++)
        if (d->of->field[k].type == TROD_FIELD_TEXT) {
            uint32_t len;

            text_of(d, &d->of->field[k], &len);
            n += len;
        }
    return n;
}

void cmp_detail_copy(const struct cmp_detail *d, uint8_t *to, struct cmp_detail *out)
{
    uint32_t at = d->len;

    memcpy(to, d->p, d->len);
    for (unsigned k = 0; d->of && k < d->of->n; k++) {
        const struct trod_detail_field *f = &d->of->field[k];
        struct trod_slice s = {at, 0};
        const uint8_t *text;

        if (!trod_field_is_slice(f->type))
            continue;
        if (f->type == TROD_FIELD_TEXT) {
            text = text_of(d, f, &s.len);
            memcpy(to + at, text, s.len);
            at += s.len;
        }
        memcpy(to + f->at, &s, sizeof s);
    }
    *out = (struct cmp_detail){.of = d->of, .p = to, .len = d->len, .text = to};
}

static void put_cache(unsigned bits, char *out, size_t n)
{
    static const char letters[] = "wrcbs";
    char word[sizeof letters];

    for (unsigned i = 0; i < 5; i++)
        word[i] = bits >> (4 - i) & 1 ? letters[i] : '-';
    word[5] = '\0';
    snprintf(out, n, "%s", word);
}

static void put_bytes(const uint8_t *p, unsigned width, char *out, size_t n)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < width; i++)
        v = v << 8 | p[i];
    snprintf(out, n, "0x%" PRIx64, v);
}

void cmp_detail_put(const struct cmp_detail *d, unsigned k, char *out, size_t n)
{
    const struct trod_detail_field *f = &d->of->field[k];
    const uint8_t *p = d->p + f->at;

    out[0] = '\0';
    if (!is_given(d, f))
        return;
    switch (f->type) {
    case TROD_FIELD_BYTES:
        put_bytes(p, f->width, out, n);
        break;
    case TROD_FIELD_FLAG:
        snprintf(out, n, "%s", *p ? "yes" : "no");
        break;
    case TROD_FIELD_WRITE:
        snprintf(out, n, "%s", *p ? "write" : "read");
        break;
    case TROD_FIELD_SEC:
        snprintf(out, n, "%s", or_unknown(trod_sec_name(*p)));
        break;
    case TROD_FIELD_CACHE:
        put_cache(*p, out, n);
        break;
    case TROD_FIELD_LOW:
        snprintf(out, n, "%u", low_bits(d, f));
        break;
    case TROD_FIELD_LETTER:
        snprintf(out, n, "%c", isprint(*p) ? *p : '-');
        break;
    default:
        snprintf(out, n, f->type == TROD_FIELD_HEX ? "0x%" PRIx64 : "%" PRIu64,
                 number(p, f->width));
    }
}

/* What FLAGS, as a row has them, say of what flag_names[K] stands for. */
static const char *flag_said(size_t k, uint32_t flags)
{
    switch (flag_names[k].bits) {
    case TROD_F_BRANCH:
        return or_unknown(trod_branch_name(flags & TROD_F_BRANCH));
    case TROD_F_ISET:
        return or_unknown(trod_iset_name((flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT));
    case TROD_F_SEC:
        return or_unknown(trod_sec_name((flags & TROD_F_SEC) >> TROD_F_SEC_SHIFT));
    default:
        return flags & flag_names[k].bits ? "yes" : "no";
    }
}

size_t cmp_flags_put(uint32_t a, uint32_t b, uint32_t differ,
                     struct trod_compare_field out[TROD_COMPARE_FIELDS], size_t n)
{
    for (size_t k = 0; k < FLAG_NAMES && n < TROD_COMPARE_FIELDS; k++) {
        if (!(differ & flag_names[k].bits))
            continue;
        out[n].name = flag_names[k].name;
        snprintf(out[n].said[0], TROD_COMPARE_SAID, "%s", flag_said(k, a));
        snprintf(out[n].said[1], TROD_COMPARE_SAID, "%s", flag_said(k, b));
        n++;
    }
    return n;
}

/* NAME counts (ON) or not, wherever it stands. False: there is none of that name. */
static bool turn(struct cmp_fields *f, const char *name, bool on)
{
    const struct trod_detail_struct *s;
    uint32_t columns = 0, flags = 0;
    bool found = false;

    for (size_t i = 0; i < COLUMN_NAMES; i++)
        if (strcmp(column_names[i].name, name) == 0)
            columns |= column_names[i].columns;
    for (size_t i = 0; i < FLAG_NAMES; i++)
        if (strcmp(flag_names[i].name, name) == 0 || (columns & TROD_COL_FLAGS))
            flags |= flag_names[i].bits;
    for (size_t i = 0; (s = trod_detail_at(i)) != NULL; i++)
        for (unsigned k = 0; k < s->n; k++) {
            const bool this = strcmp(s->field[k].name, name) == 0;

            if (!compared(&s->field[k]) || !(this || (columns & TROD_COL_DETAIL)))
                continue;
            found = found || this;
            f->detail[i] = (uint16_t)(on ? f->detail[i] | 1u << k : f->detail[i] & ~(1u << k));
        }
    f->flags = on ? f->flags | flags : f->flags & ~flags;
    f->columns = on ? f->columns | columns : f->columns & ~columns;
    /* One flag, or one field of details, is not all of them. */
    if (on && flags)
        f->columns |= TROD_COL_FLAGS;
    if (on && found)
        f->columns |= TROD_COL_DETAIL;
    return found || columns || flags;
}

int cmp_fields_choose(struct cmp_fields *f, const struct trod_compare_options *opt,
                      uint32_t defaults, struct trod_diag *diag)
{
    uint32_t columns = opt->compare ? opt->compare : defaults;

    f->columns = columns & ~(uint32_t)(TROD_COL_FLAGS | TROD_COL_DETAIL);
    if (columns & TROD_COL_FLAGS)
        turn(f, "flags", true);
    if (columns & TROD_COL_DETAIL)
        turn(f, "detail", true);
    for (size_t i = 0; i < opt->n_also; i++)
        if (!turn(f, opt->also[i], true))
            return trod_error(diag, TROD_ERR_USAGE, "compare.field", NULL,
                              "no field is called '%s'", opt->also[i]);
    for (size_t i = 0; i < opt->n_ignore; i++)
        if (!turn(f, opt->ignore[i], false))
            return trod_error(diag, TROD_ERR_USAGE, "compare.field", NULL,
                              "no field is called '%s'", opt->ignore[i]);
    /* Never: how the source wrote it, numbers of ours. */
    f->columns &= ~(uint32_t)(TROD_COL_RAW | TROD_COL_SITE | TROD_COL_KIND);
    /* The mode of an instruction is compared as one, however it is spelled. */
    for (size_t i = 0; trod_detail_at(i); i++)
        for (unsigned k = 0; trod_detail_at(i)->kind == TROD_INSTR && k < trod_detail_at(i)->n; k++)
            if (strcmp(trod_detail_at(i)->field[k].name, "mode") == 0)
                f->detail[i] &= (uint16_t) ~(1u << k);
    return TROD_OK;
}
