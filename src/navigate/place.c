/*
 * place.c - places in a trace by what people call them.
 *
 * Implements trod/navigate.h, "rows and places" (docs/navigating.md, "Places").
 */
#include "navigate/index.h"

#include "io/points.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what a scan looks for */

struct looking {
    uint64_t wanted; /* a time, the number of an instruction, an offset in the file */
    uint64_t left;   /* so many more */
    uint64_t row;    /* found; TROD_NOWHERE: not */
    uint32_t file;   /* that offsets are of */
    /* of markers: their number in SUB, or what stands in their text */
    bool by_sub, by_value;
    uint64_t sub, value;
    const char *text;
    size_t n_text;
};

static int by_time(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct looking *l = user;

    for (uint32_t end = i + n; i < end; i++, row++)
        if (nav_has(b, i, TROD_COL_TIME) && b->time[i] >= l->wanted) {
            l->row = row;
            return 0;
        }
    return 1;
}

static int by_pc(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct looking *l = user;

    for (uint32_t end = i + n; i < end; i++, row++)
        if (b->kind[i] == TROD_INSTR && nav_has(b, i, TROD_COL_ADDR) && b->addr[i] == l->wanted &&
            --l->left == 0) {
            l->row = row;
            return 0;
        }
    return 1;
}

static int by_number(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct looking *l = user;

    for (uint32_t end = i + n; i < end; i++, row++) {
        if (b->kind[i] != TROD_INSTR)
            continue;
        if (nav_has(b, i, TROD_COL_INDEX) ? b->index[i] >= l->wanted : --l->left == 0) {
            l->row = row;
            return 0;
        }
    }
    return 1;
}

static int by_offset(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct looking *l = user;

    for (uint32_t end = i + n; i < end; i++, row++)
        if (nav_has(b, i, TROD_COL_RAW) && b->raw[i].len &&
            !(b->raw[i].off & (TROD_SLICE_POOL | TROD_SLICE_SHARED)) &&
            b->offset + b->raw[i].off >= l->wanted) {
            l->row = row;
            return 0;
        }
    return 1;
}

static int by_kind(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct looking *l = user;

    for (uint32_t end = i + n; i < end; i++, row++)
        if (b->kind[i] == l->wanted && --l->left == 0) {
            l->row = row;
            return 0;
        }
    return 1;
}

/* Letters of any case, and '_' for '-'. */
static bool same_name(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int x = a[i] == '_' ? '-' : tolower((unsigned char)a[i]),
                  y = b[i] == '_' ? '-' : tolower((unsigned char)b[i]);

        if (x != y || !x)
            return false;
    }
    return true;
}

static bool is_marker(const struct looking *l, const struct trod_batch *b, uint32_t i)
{
    if (b->kind[i] != l->wanted ||
        (l->by_value && !(nav_has(b, i, TROD_COL_VALUE) && b->value[i] == l->value)))
        return false;
    if (l->by_sub)
        return nav_has(b, i, TROD_COL_SUB) && b->sub[i] == l->sub;
    return l->n_text == 0 ||
           (nav_has(b, i, TROD_COL_TEXT) && b->text[i].len == l->n_text &&
            same_name((const char *)trod_batch_bytes(b, b->text[i]), l->text, l->n_text));
}

static int by_marker(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct looking *l = user;

    for (uint32_t end = i + n; i < end; i++, row++)
        if (is_marker(l, b, i) && --l->left == 0) {
            l->row = row;
            return 0;
        }
    return 1;
}

static int look(struct trod_nav *nav, struct looking *l, uint64_t from, trod_nav_rows_fn fn,
                uint64_t *row)
{
    int rc;

    l->row = TROD_NOWHERE;
    rc = nav_scan(nav, from, TROD_NOWHERE, fn, l);
    if (rc < 0)
        return rc;
    *row = l->row;
    return l->row != TROD_NOWHERE;
}

int trod_nav_time(struct trod_nav *nav, uint64_t time, uint64_t *row)
{
    struct looking l = {.wanted = time};
    const int rc = look(nav, &l, nav_from_time(nav, time), by_time, row);

    return nav_distrust(nav, rc) ? trod_nav_time(nav, time, row) : rc;
}

int trod_nav_visit(struct trod_nav *nav, uint64_t pc, uint64_t k, uint64_t *row)
{
    struct looking l = {.wanted = pc, .left = k};
    uint64_t from = nav_from_visit(nav, pc, &l.left);

    int rc;

    if (k == 0 || from == TROD_NOWHERE)
        return 0;
    rc = look(nav, &l, from, by_pc, row);
    return nav_distrust(nav, rc) ? trod_nav_visit(nav, pc, k, row) : rc;
}

static int instruction(struct trod_nav *nav, uint64_t number, uint64_t *row)
{
    struct looking l = {.wanted = number, .left = number};
    uint64_t from = nav_from_instruction(nav, number, &l.left);

    return number ? look(nav, &l, from, by_number, row) : 0;
}

int trod_nav_executed(struct trod_nav *nav, uint64_t k, uint64_t *row)
{
    struct looking l = {.wanted = TROD_INSTR, .left = k};
    const uint64_t from = nav_from_executed(nav, &l.left);
    int rc;

    if (k == 0 || trod_nav_format(nav)->flags & TROD_FMT_PUT_IN)
        return 0;
    rc = look(nav, &l, from, by_kind, row);
    return nav_distrust(nav, rc) ? trod_nav_executed(nav, k, row) : rc;
}

/* ---- lines */

/* The trace's only file, open at decoded byte OFFSET, or at its end if that lies before. */
static int open_file(struct trod_nav *nav, uint64_t offset, struct trod_input **in)
{
    const struct trod_input_options opt = {.no_thread = true};
    struct trod_point *point = NULL;
    int rc = trod_input_open(in, trod_trace_path(nav->trace, 0), &opt, nav->diag);

    if (rc < 0)
        return rc;
    /* without a point all before is decompressed */
    if (nav->index && nav_index_point(nav->index, 0, offset, &point) == TROD_OK && point)
        (void)trod_input_point(*in, point);
    free(point);
    return trod_input_skip(*in, offset) == offset;
}

/* The offset at which line LINE (from 1) of the trace begins; TROD_NOWHERE: there are fewer. */
static int line_offset(struct trod_nav *nav, uint64_t offset, uint64_t before, uint64_t line,
                       uint64_t *out)
{
    struct trod_input *in;
    struct trod_span span;
    int rc = open_file(nav, offset, &in);

    *out = TROD_NOWHERE;
    if (rc < 0)
        return rc;
    if (rc == 0)
        before = line;
    while (before + 1 < line && (rc = trod_input_ahead(in, 1, &span)) == TROD_OK && span.n) {
        const uint8_t *p = span.p, *end = p + span.n;

        while (before + 1 < line && (p = memchr(p, '\n', (size_t)(end - p)))) {
            before++;
            p++;
            offset = span.offset + (uint64_t)(p - span.p);
        }
        trod_input_consume(in, span.n);
    }
    if (before + 1 == line)
        *out = offset;
    trod_input_close(in);
    return rc < 0 ? rc : TROD_OK;
}

static bool has_lines(const struct trod_nav *nav)
{
    const struct trod_format *f = trod_nav_format(nav);

    return f && (f->flags & TROD_FMT_TEXT) && trod_trace_files(nav->trace) == 1;
}

int trod_nav_line(struct trod_nav *nav, uint64_t line, uint64_t *row)
{
    struct looking l = {0};
    uint64_t from = 0, offset = 0, before = 0;
    int rc;

    if (!has_lines(nav) || line == 0)
        return 0;
    from = nav_from_line(nav, line, &offset, &before);
    rc = line_offset(nav, offset, before, line, &l.wanted);
    if (rc < 0 || l.wanted == TROD_NOWHERE)
        return rc;
    rc = look(nav, &l, from, by_offset, row);
    return nav_distrust(nav, rc) ? trod_nav_line(nav, line, row) : rc;
}

/* Ends of lines in the bytes [FROM, TO). */
static int count_lines(struct trod_nav *nav, uint64_t from, uint64_t to, uint64_t *n)
{
    struct trod_input *in;
    struct trod_span span;
    int rc = open_file(nav, from, &in);

    *n = 0;
    if (rc < 0)
        return rc;
    if (rc == 0)
        to = from;
    while (from < to && (rc = trod_input_ahead(in, 1, &span)) == TROD_OK && span.n) {
        const size_t some = span.n < to - from ? span.n : (size_t)(to - from);
        const uint8_t *p = span.p, *end = p + some;

        for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
            ++*n;
        trod_input_consume(in, some);
        from += some;
    }
    trod_input_close(in);
    return rc < 0 ? rc : TROD_OK;
}

/* A row that is looked for: where it lies in the file, and the ends of lines before it. */
struct line_of {
    uint64_t wanted, offset; /* OFFSET: of the last row with bytes of its own; TROD_NOWHERE: none */
    uint64_t at, n;          /* N lines end before byte AT, from where counting began */
    bool found, gap;         /* GAP: no batch showed the bytes between */
};

static uint64_t ends_of_lines(const struct trod_batch *b, uint64_t from, uint64_t to)
{
    const uint8_t *p = b->bytes + (from - b->offset), *end = b->bytes + (to - b->offset);
    uint64_t n = 0;

    for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    return n;
}

/* Count on to byte TO, or back: windows of batches overlap. */
static void count_to(struct line_of *l, const struct trod_batch *b, uint64_t to)
{
    const uint64_t first = l->at < to ? l->at : to, last = l->at < to ? to : l->at;

    l->gap |= first < b->offset || last > b->offset + b->bytes_n;
    if (l->gap)
        return;
    l->n += to == last ? ends_of_lines(b, first, last) : 0 - ends_of_lines(b, first, last);
    l->at = to;
}

static int line_of(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct line_of *l = user;

    for (uint32_t end = i + n; i < end && !l->found; i++, row++) {
        if (nav_has(b, i, TROD_COL_RAW) && b->raw[i].len &&
            !(b->raw[i].off & (TROD_SLICE_POOL | TROD_SLICE_SHARED)))
            l->offset = b->offset + b->raw[i].off;
        l->found = row == l->wanted;
    }
    count_to(l, b, l->found ? l->offset : b->offset + b->bytes_n);
    return !l->found;
}

int trod_nav_line_of(struct trod_nav *nav, uint64_t row, uint64_t *line)
{
    struct line_of l = {.wanted = row, .offset = TROD_NOWHERE};
    uint64_t before, from, offset;
    int rc;

    if (!has_lines(nav))
        return 0;
    from = nav_step_line(nav, row, &offset, &before);
    l.at = offset;
    /* further rows of a record have no bytes of their own */
    if (nav_blocks(nav) == 1 && row > 64)
        from = row - 64;
    rc = nav_scan(nav, from, row + 1, line_of, &l);
    if (nav_distrust(nav, rc))
        return trod_nav_line_of(nav, row, line);
    if (rc < 0 || !l.found || l.offset == TROD_NOWHERE)
        return rc;
    if (l.gap)
        rc = count_lines(nav, offset, l.offset, &l.n);
    *line = before + l.n + 1;
    return rc < 0 ? rc : 1;
}

/* ---- texts */

static bool number(const char *text, size_t len, uint64_t *out)
{
    char room[32];

    if (len == 0 || len >= sizeof room || !isdigit((unsigned char)text[0]))
        return false;
    memcpy(room, text, len);
    room[len] = '\0';
    return trod_option_number(room, out) == TROD_OK;
}

static bool is_hex(const char *text)
{
    return text[0] == '0' && (text[1] | 0x20) == 'x';
}

static int named(struct trod_nav *nav, const char *text, uint64_t *row)
{
    const char *colon = strrchr(text, ':');
    uint64_t k = 1, pc = 0, size = 0;
    size_t len = strlen(text);
    char name[512];

    if (colon && number(colon + 1, strlen(colon + 1), &k))
        len = (size_t)(colon - text);
    else
        colon = NULL;
    if (len >= sizeof name)
        return 0;
    memcpy(name, text, len);
    name[len] = '\0';
    if (!((is_hex(name) || colon) && number(name, len, &pc)) &&
        !(nav->symbols && trod_symbols_address(nav->symbols, name, &pc, &size)))
        return 0;
    /* symbols of Thumb code have bit 0 set */
    if (trod_nav_meta(nav)->isa == TROD_ISA_ARM)
        pc &= ~UINT64_C(1);
    return trod_nav_visit(nav, pc, k, row);
}

/* TEXT as "NAME" or "NAME:K": the Kth row of a kind. */
static int of_kind(struct trod_nav *nav, const char *text, uint64_t *row)
{
    const char *colon = strchr(text, ':');
    const int kind = trod_kind_find(text, colon ? (size_t)(colon - text) : strlen(text));
    struct looking l = {.wanted = (uint64_t)kind, .left = 1};
    uint64_t from;

    if (kind < 0 || (colon && !number(colon + 1, strlen(colon + 1), &l.left)) || l.left == 0)
        return 0;
    from = nav_from_kind(nav, (uint64_t)kind, &l.left);
    return from == TROD_NOWHERE ? 0 : look(nav, &l, from, by_kind, row);
}

/* The number of markers that the format calls by the text of L; false: it has no such name. */
static bool marker_number(const struct trod_nav *nav, struct looking *l)
{
    static const unsigned kinds[] = {TROD_MARKER, TROD_SYNC};
    const struct trod_format *f = trod_nav_format(nav);

    if (number(l->text, l->n_text, &l->sub))
        return true;
    for (unsigned k = 0; f && f->sub_name && k < sizeof kinds / sizeof *kinds; k++)
        for (unsigned sub = 0; sub < f->subs; sub++) {
            const char *name = f->sub_name(kinds[k], sub);

            if (name && same_name(name, l->text, l->n_text) && !name[l->n_text]) {
                l->wanted = kinds[k];
                l->sub = sub;
                return true;
            }
        }
    return false;
}

/* The rows of L in the blocks that have rows of KEY, one block after the other. */
static int in_blocks(struct trod_nav *nav, struct looking *l, uint64_t key, uint64_t *row)
{
    const struct trod_nav_query query = {.access = TROD_NAV_KIND, .lo = key};
    struct nav_candidates c;
    int rc = nav_candidates_init(&c, nav, &query, "");

    l->row = TROD_NOWHERE;
    for (size_t k = 0; rc == TROD_OK && l->row == TROD_NOWHERE && k < nav_blocks(nav); k++)
        if ((rc = nav_candidates_of(&c, nav, k)) > 0)
            rc = nav_scan(nav, nav_block_first(nav, k), nav_block_first(nav, k + 1), by_marker, l);
    nav_candidates_fini(&c);
    if (rc < 0)
        return rc;
    *row = l->row;
    return l->row != TROD_NOWHERE;
}

/* TEXT as "NAME", "NAME=VALUE", either with ":K": the Kth marker of that name, with that value. */
static int of_marker(struct trod_nav *nav, const char *text, uint64_t *row)
{
    const char *colon = strrchr(text, ':'), *end = text + strlen(text), *value;
    struct looking l = {.wanted = TROD_MARKER, .left = 1, .text = text};
    uint64_t key, from;

    if (colon && number(colon + 1, strlen(colon + 1), &l.left))
        end = colon;
    if (l.left == 0)
        return 0;
    for (value = end; value > text && *value != '=';)
        value--;
    if (*value == '=' && value < end) {
        l.by_value = number(value + 1, (size_t)(end - value - 1), &l.value);
        end = l.by_value ? value : end;
    }
    l.n_text = (size_t)(end - text);
    l.by_sub = l.n_text && marker_number(nav, &l);
    key = l.by_sub ? nav_mark(l.wanted, l.sub) : l.wanted;
    if (l.by_value || (l.n_text && !l.by_sub))
        return in_blocks(nav, &l, key, row);
    from = nav_from_kind(nav, key, &l.left);
    return from == TROD_NOWHERE ? 0 : look(nav, &l, from, by_marker, row);
}

static int fraction(struct trod_nav *nav, uint64_t percent, uint64_t *row)
{
    uint64_t rows;
    int rc = percent > 100 ? TROD_OK : trod_nav_count(nav, &rows);

    if (rc < 0 || percent > 100 || rows == 0)
        return rc;
    *row = (rows - 1) / 100 * percent + (rows - 1) % 100 * percent / 100;
    return 1;
}

static int exists(struct trod_nav *nav, uint64_t row)
{
    const struct trod_batch *b;
    uint32_t i;

    return nav->index ? row < nav->rows : trod_nav_row(nav, row, &b, &i);
}

/* TEXT as "WORD:N". */
static bool word(const char *text, const char *name, uint64_t *n)
{
    const size_t len = strlen(name);

    return strncasecmp(text, name, len) == 0 && text[len] == ':' &&
           number(text + len + 1, strlen(text + len + 1), n);
}

/* TEXT as "N%". */
static bool percentage(const char *text, uint64_t *n)
{
    const size_t len = strlen(text);

    return len > 1 && text[len - 1] == '%' && number(text, len - 1, n);
}

static int find(struct trod_nav *nav, const char *text, uint64_t *row)
{
    const size_t len = strlen(text);
    uint64_t n;

    if (strcasecmp(text, "start") == 0)
        return fraction(nav, 0, row);
    if (strcasecmp(text, "end") == 0)
        return fraction(nav, 100, row);
    if (percentage(text, &n))
        return fraction(nav, n, row);
    if (word(text, "line", &n))
        return trod_nav_line(nav, n, row);
    if (word(text, "time", &n))
        return trod_nav_time(nav, n, row);
    if (word(text, "insn", &n))
        return instruction(nav, n, row);
    if (strncasecmp(text, "kind:", 5) == 0)
        return of_kind(nav, text + 5, row);
    if (strncasecmp(text, "marker:", 7) == 0 && text[7])
        return of_marker(nav, text + 7, row);
    if (!word(text, "row", row) && !(!is_hex(text) && number(text, len, row)))
        return named(nav, text, row);
    return exists(nav, *row);
}

/* Is TEXT a name or an address, with or without ":K", that trod_nav_place can look for? */
static bool is_name(const struct trod_nav *nav, const char *text)
{
    char name[512];
    uint64_t pc, size, k;
    const char *colon = strrchr(text, ':');
    size_t len = strlen(text);

    if (colon && number(colon + 1, strlen(colon + 1), &k))
        len = (size_t)(colon - text);
    if (len >= sizeof name)
        return false;
    memcpy(name, text, len);
    name[len] = '\0';
    return number(name, len, &pc) ||
           (nav->symbols && trod_symbols_address(nav->symbols, name, &pc, &size));
}

/* Is TEXT a place that other traces have? */
static bool is_place(const struct trod_nav *nav, const char *text)
{
    static const char *const words[] = {"line", "time", "insn"};
    uint64_t n;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word(text, words[i], &n))
            return true;
    return strncasecmp(text, "kind:", 5) == 0 ||
           (strncasecmp(text, "marker:", 7) == 0 && text[7]) || is_name(nav, text);
}

/* TEXT is no place of the trace: why, as far as that can be told. */
static void tell_why(struct trod_nav *nav, const char *text)
{
    char why[96] = "";
    uint64_t n;

    if (percentage(text, &n) && n > 100) {
        snprintf(why, sizeof why, ": the whole is 100%%");
    } else if (word(text, "row", &n) || (!is_hex(text) && number(text, strlen(text), &n)) ||
               percentage(text, &n) || strcasecmp(text, "start") == 0 ||
               strcasecmp(text, "end") == 0) {
        if (trod_nav_count(nav, &n) < 0)
            return;
        snprintf(why, sizeof why, ": it has %llu row%s", (unsigned long long)n, n == 1 ? "" : "s");
    } else if (strncasecmp(text, "kind:", 5) == 0 &&
               trod_kind_find(text + 5, strcspn(text + 5, ":")) < 0) {
        snprintf(why, sizeof why, ": there is no such kind of row");
    } else if (word(text, "line", &n) && !has_lines(nav)) {
        snprintf(why, sizeof why, ": only a text trace of one file has lines");
    } else if (!is_place(nav, text)) {
        snprintf(why, sizeof why, ": it is %s",
                 nav->symbols ? "neither a place nor a symbol"
                              : "no place, and no symbols are given");
    }
    trod_error(nav->diag, TROD_ERR_USAGE, "navigate.place", NULL, "the trace has no place '%s'%s",
               text, why);
}

int trod_nav_place(struct trod_nav *nav, const char *text, uint64_t *row)
{
    int rc = nav->ticking ? TROD_ERR_USAGE : find(nav, text, row);

    if (nav_distrust(nav, rc))
        rc = find(nav, text, row);
    if (rc == 0)
        tell_why(nav, text);
    return rc;
}
