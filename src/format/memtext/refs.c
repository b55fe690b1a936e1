/*
 * refs.c - the parts of line formats that are not compiled into each of them: problems, detection,
 * resync, what rows are. Implements refs.h.
 */
#include "format/memtext/refs.h"
#include "core/pack.h"

enum { BID_LINES = 8, BID_LOOK = 64 };

/* clang-format off */
const uint8_t rl_hex_table[256] = {
#define X4 255, 255, 255, 255
#define X16 X4, X4, X4, X4
    X16, X16, X16,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 255, X4,
    255, 10, 11, 12, 13, 14, 15, 255, X4, X4, X16,
    255, 10, 11, 12, 13, 14, 15, 255, X4, X4, X16,
    X16, X16, X16, X16, X16, X16, X16, X16,
#undef X16
#undef X4
};
/* clang-format on */

static struct trod_place place(const struct rl_dec *d, const struct trod_span *in)
{
    struct trod_place at = trod_place_offset(NULL, in->offset);

    at.line = d->lines + 1;
    return at;
}

int rl_report(const struct trod_format *f, const struct rl_dec *d, const struct trod_span *in,
              const uint8_t *p, const uint8_t *e, const struct rl_row *r, bool truncated,
              struct trod_diag *diag)
{
    struct trod_place at = place(d, in);

    at.text = p;
    at.text_len = (size_t)(e - p);
    at.caret = (size_t)(r->fault - p);
    if (truncated)
        return trod_error(diag, TROD_ERR_TRUNCATED, "line.truncated", &at,
                          "line of %s is cut off: %s", f->name, r->why);
    return trod_error(diag, TROD_ERR_CORRUPT, "line.bad", &at, "not a line of %s: %s", f->name,
                      r->why);
}

int rl_report_long(const struct trod_format *f, const struct rl_dec *d, const struct trod_span *in,
                   const uint8_t *p, struct trod_diag *diag)
{
    struct trod_span here = *in;
    struct trod_place at;

    here.offset += (uint64_t)(p - in->p);
    at = place(d, &here);
    return trod_error(diag, TROD_ERR_LIMIT, "line.long", &at, "line of %s is longer than %d bytes",
                      f->name, RL_LINE_MAX);
}

/* The line at P of [P, END), without its end; NULL: it is cut off. */
static const uint8_t *line_end(const uint8_t *p, const uint8_t *end, bool last,
                               const uint8_t **next)
{
    const uint8_t *nl = memchr(p, '\n', (size_t)(end - p)), *e = nl ? nl : end;

    if (!nl && !last)
        return NULL;
    *next = nl ? nl + 1 : end;
    while (e > p && e[-1] == '\r')
        e--;
    return e;
}

int rl_bid(const struct trod_probe *probe, rl_parse_fn parse, int bits, unsigned kinds,
           const char *head)
{
    const uint8_t *p = probe->head.p, *end = p + probe->head.n, *next, *e, *before = NULL;
    size_t before_n = 0;
    uint32_t seen = 0;
    int good = 0, bad = 0, rows = 0, all;

    if (head && p < end && (e = line_end(p, end, false, &next)) != NULL &&
        (size_t)(e - p) == strlen(head) - 1 && memcmp(p, head, strlen(head) - 1) == 0)
        return 64; /* HEAD ends in its line end, which in the file may be CR LF */
    for (int lines = 0; p < end && lines < BID_LOOK; lines++, p = next) {
        struct rl_row r = {0};
        enum rl_line what;

        if (!(e = line_end(p, end, probe->head.last, &next)) || e - p >= RL_LINE_MAX)
            break;
        what = parse(p, e, &r);
        bad += what == RL_BAD && (next < end || end[-1] == '\n'); /* else it may be cut off */
        /* a line that is only kept, as it is, says nothing */
        rows += what == RL_ROW && (r.kind != TROD_NOTE || r.has & TROD_COL_ADDR);
        if (what != RL_ROW || r.kind == TROD_NOTE)
            continue;
        good += before_n != (size_t)(e - p) || memcmp(before, p, before_n) != 0;
        seen |= 1u << r.kind;
        before = p;
        before_n = (size_t)(e - p);
    }
    if ((unsigned)__builtin_popcount(seen) < kinds || 4 * bad > good)
        all = 0;
    else
        all = ((good < BID_LINES ? good : BID_LINES) - bad) * bits;
    return rows && !bad && all < TROD_BID_NAMED ? TROD_BID_NAMED : all;
}

size_t rl_resync(const struct trod_format *f, rl_parse_fn parse, const uint8_t *p, size_t n)
{
    const uint8_t *q = memchr(p, '\n', n), *end = p + n, *nl;

    if (!q)
        return SIZE_MAX;
    if (!(f->flags & TROD_FMT_FOLLOWS))
        return (size_t)(q + 1 - p) < n ? (size_t)(q + 1 - p) : SIZE_MAX;
    for (q++; (nl = memchr(q, '\n', (size_t)(end - q))) != NULL; q = nl + 1) {
        const uint8_t *e = nl;
        struct rl_row r = {0};

        while (e > q && e[-1] == '\r')
            e--;
        if (nl - q < RL_LINE_MAX && parse(q, e, &r) == RL_ROW && r.kind == TROD_INSTR)
            return (size_t)(q - p);
    }
    return SIZE_MAX;
}

int rl_start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
             struct trod_diag *diag)
{
    (void)dec;
    (void)opt;
    (void)head;
    (void)diag;
    meta->addr_bits = 64;
    return TROD_OK;
}

int rl_save(void *dec, struct trod_buf *state, struct trod_buf *log)
{
    const struct rl_dec *d = dec;
    const uint64_t v[] = {d->lines, d->pc, d->has_pc, d->skipping};
    int rc = TROD_OK;

    (void)log;
    for (unsigned i = 0; rc == TROD_OK && i < sizeof v / sizeof *v; i++)
        rc = trod_pack(state, v[i]);
    return rc;
}

int rl_load(void *dec, struct trod_span *state, struct trod_span *log)
{
    struct rl_dec *d = dec;
    uint64_t v[4];

    (void)log;
    for (unsigned i = 0; i < sizeof v / sizeof *v; i++)
        if (trod_unpack(state, &v[i]) < 0)
            return TROD_ERR_CORRUPT;
    if (v[2] > 1 || v[3] > 1)
        return TROD_ERR_CORRUPT;
    *d = (struct rl_dec){.lines = v[0], .pc = v[1], .has_pc = v[2], .skipping = v[3]};
    return TROD_OK;
}

int rl_begin(struct rl_enc *enc, const char *name, const struct trod_meta *meta)
{
    enc->own = meta && meta->format && strcmp(meta->format, name) == 0;
    return TROD_OK;
}

void rl_drop(void *enc)
{
    fmt_last_pc_fini(&((struct rl_enc *)enc)->last);
}

uint64_t rl_pc(struct rl_enc *enc, const struct trod_batch *b, uint32_t row)
{
    const uint32_t stream = rl_has(b, row, TROD_COL_STREAM) ? b->stream[row] : 0;

    if (b->kind[row] != TROD_INSTR) {
        if (rl_has(b, row, TROD_COL_PC))
            return b->pc[row];
        return fmt_last_pc_of(&enc->last, stream);
    }
    if (!rl_has(b, row, TROD_COL_ADDR))
        return 0;
    fmt_last_pc_set(&enc->last, stream, b->addr[row]);
    return fmt_last_pc_of(&enc->last, stream);
}

int rl_target(void *enc, const struct trod_target *t, struct trod_diag *diag)
{
    (void)diag;
    ((struct rl_enc *)enc)->loss = t->loss;
    return TROD_OK;
}

bool rl_verbatim(const void *opt_in, const char *dialect_in, const void *opt_out)
{
    (void)opt_in;
    (void)dialect_in;
    (void)opt_out;
    return true;
}

void rl_keeps(const struct trod_format *f, const struct trod_meta *meta, struct trod_keeps *k)
{
    const struct trod_format *from = meta->driver;
    const bool fetches = !from || !from->kinds || (from->kinds & 1u << TROD_INSTR);

    if (meta->format && strcmp(meta->format, f->name) == 0)
        return;
    for (unsigned i = 0; i < TROD_KINDS; i++)
        k->flags[i] = 0;
    k->flags[TROD_BUS] = TROD_F_IFETCH;
    for (unsigned i = 0; i < TROD_KINDS; i++)
        if (i != TROD_INSTR && i != TROD_BUS)
            k->columns[i] &= ~(uint32_t)TROD_COL_TEXT;
    /* if no fetch precedes them, lines that name no pc belong to no instruction */
    if ((f->flags & TROD_FMT_FOLLOWS) && !fetches)
        for (unsigned i = 0; i < TROD_KINDS; i++)
            k->columns[i] &= ~(uint32_t)TROD_COL_PC;
}

enum rl_what rl_what(const struct trod_batch *b, uint32_t row)
{
    switch (b->kind[row]) {
    case TROD_INSTR:
        return RL_FETCH;
    case TROD_READ:
        return RL_READ;
    case TROD_WRITE:
        return RL_WRITE;
    case TROD_ATOMIC:
        return RL_BOTH;
    case TROD_BUS:
        return rl_has(b, row, TROD_COL_FLAGS) && (b->flags[row] & TROD_F_IFETCH) ? RL_FETCH
                                                                                 : RL_NONE;
    default:
        return RL_NONE;
    }
}
