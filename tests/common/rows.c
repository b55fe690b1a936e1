/*
 * rows.c - a row as text, and as a number that equal rows share. Implements a part of testlib.h.
 *
 * Columns that a row does not say do not go in, nor does where its bytes lie. The structs of the
 * detail column hold slices of their own; these go in as the bytes they stand for.
 */
#include "testlib.h"

#include "trod/detail.h"

#include <inttypes.h>
#include <string.h>

enum { INNER_MAX = TROD_DETAIL_SLICES };

static const char *const slice_names[] = {"code", "data", "text", "detail", "raw"};
static const uint32_t slice_bits[] = {TROD_COL_CODE, TROD_COL_DATA, TROD_COL_TEXT, TROD_COL_DETAIL,
                                      TROD_COL_RAW};
enum { SLICES = 5, DETAIL = 3 };

static struct trod_slice slice_of(const struct trod_batch *b, uint32_t row, int i)
{
    const struct trod_slice *const columns[] = {b->code, b->data, b->text, b->detail, b->raw};

    return columns[i][row];
}

static const char *const number_names[] = {"flags", "size", "stream", "time", "unit",
                                           "index", "addr", "paddr",  "pc",   "target",
                                           "value", "sub",  "site"};
static const uint32_t number_bits[] = {
    TROD_COL_FLAGS, TROD_COL_SIZE, TROD_COL_STREAM, TROD_COL_TIME, TROD_COL_UNIT,
    TROD_COL_INDEX, TROD_COL_ADDR, TROD_COL_PADDR,  TROD_COL_PC,   TROD_COL_TARGET,
    TROD_COL_VALUE, TROD_COL_SUB,  TROD_COL_SITE};
enum { NUMBERS = 13 };

static uint64_t number_of(const struct trod_batch *b, uint32_t row, int i)
{
    switch (number_bits[i]) {
    case TROD_COL_FLAGS:
        return b->flags[row];
    case TROD_COL_SIZE:
        return b->size[row];
    case TROD_COL_STREAM:
        return b->stream[row];
    case TROD_COL_TIME:
        return b->time[row];
    case TROD_COL_UNIT:
        return b->unit[row];
    case TROD_COL_INDEX:
        return b->index[row];
    case TROD_COL_ADDR:
        return b->addr[row];
    case TROD_COL_PADDR:
        return b->paddr[row];
    case TROD_COL_PC:
        return b->pc[row];
    case TROD_COL_TARGET:
        return b->target[row];
    case TROD_COL_VALUE:
        return b->value[row];
    case TROD_COL_SUB:
        return b->sub[row];
    default:
        return b->site[row];
    }
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9fb21c651e98df25);
    return h ^ h >> 29;
}

static uint64_t mix_bytes(uint64_t h, const uint8_t *p, size_t n)
{
    h = mix(h, n);
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return mix(h, 0);
}

/* The detail struct of a row with the places in its inner slices taken out, their lengths left. */
static size_t detail_plain(const struct trod_batch *b, uint32_t row, uint8_t *out, size_t cap,
                           struct trod_slice *slices)
{
    size_t n = b->detail[row].len;
    struct trod_slice s;

    if (n > cap)
        test_die("detail struct of %zu bytes", n);
    memcpy(out, trod_batch_bytes(b, b->detail[row]), n);
    memset(slices, 0, INNER_MAX * sizeof *slices);
    for (unsigned i = 0; trod_detail_slice(b->kind[row], n, i); i++) {
        size_t at = trod_detail_slice(b->kind[row], n, i);

        memcpy(&s, out + at, sizeof s);
        slices[i] = s;
        s.off = 0;
        memcpy(out + at, &s, sizeof s);
    }
    return n;
}

static uint64_t hash_detail(const struct trod_batch *b, uint32_t row, uint64_t h)
{
    struct trod_slice s[INNER_MAX];
    uint8_t plain[4096];
    size_t n = detail_plain(b, row, plain, sizeof plain, s);

    h = mix_bytes(h, plain, n);
    for (int i = 0; i < INNER_MAX; i++)
        if (s[i].len)
            h = mix_bytes(h, trod_batch_bytes(b, s[i]), s[i].len);
    return h;
}

uint64_t test_row_hash(const struct trod_batch *b, uint32_t row, uint32_t mask)
{
    uint32_t has = b->has[row] & b->have & mask & ~(uint32_t)TROD_COL_KIND;
    const uint64_t all = UINT64_MAX, heads = TROD_F_TIME_BEFORE | TROD_F_STREAM_BEFORE;
    const uint64_t flags = mask & TEST_ANY_HEAD ? ~heads : all;
    uint64_t h = mix(has, mask & TROD_COL_KIND ? b->kind[row] + 1u : 0);

    for (int i = 0; i < NUMBERS; i++)
        if (has & number_bits[i])
            h = mix(h, number_of(b, row, i) & (number_bits[i] == TROD_COL_FLAGS ? flags : all));
    for (int i = 0; i < SLICES; i++) {
        struct trod_slice s;

        if (!(has & slice_bits[i]))
            continue;
        s = slice_of(b, row, i);
        if (i == DETAIL && s.len)
            h = hash_detail(b, row, h);
        else if (s.len)
            h = mix_bytes(h, trod_batch_bytes(b, s), s.len);
        else
            h = mix(h, 0);
    }
    return h;
}

static void add_bytes(struct trod_buf *out, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] >= ' ' && p[i] < 0x7f && p[i] != '\\')
            trod_buf_printf(out, "%c", p[i]);
        else
            trod_buf_printf(out, "\\%02x", p[i]);
}

static void add_detail(const struct trod_batch *b, uint32_t row, struct trod_buf *out)
{
    struct trod_slice s[INNER_MAX];
    uint8_t plain[4096];
    size_t n = detail_plain(b, row, plain, sizeof plain, s);

    for (size_t i = 0; i < n; i++)
        trod_buf_printf(out, "%02x%s", plain[i], i % 8 == 7 && i + 1 < n ? "." : "");
    for (int i = 0; i < INNER_MAX; i++)
        if (s[i].len) {
            trod_buf_printf(out, "+\"");
            add_bytes(out, trod_batch_bytes(b, s[i]), s[i].len);
            trod_buf_printf(out, "\"");
        }
}

void test_row_text(const struct trod_batch *b, uint32_t row, uint32_t mask, struct trod_buf *out)
{
    uint32_t has = b->has[row] & b->have & mask & ~(uint32_t)TROD_COL_KIND;
    const char *kind = trod_kind_name(b->kind[row]);

    trod_buf_printf(out, "%s", mask & TROD_COL_KIND ? (kind ? kind : "?") : "row");
    for (int i = 0; i < NUMBERS; i++)
        if (has & number_bits[i])
            trod_buf_printf(out, " %s=%" PRIx64, number_names[i], number_of(b, row, i));
    for (int i = 0; i < SLICES; i++) {
        struct trod_slice s;

        if (!(has & slice_bits[i]))
            continue;
        s = slice_of(b, row, i);
        trod_buf_printf(out, " %s=\"", slice_names[i]);
        if (i == DETAIL && s.len)
            add_detail(b, row, out);
        else if (s.len)
            add_bytes(out, trod_batch_bytes(b, s), s.len);
        trod_buf_printf(out, "\"");
    }
    trod_buf_printf(out, "\n");
}
