/*
 * rows.c - rows of any format taken apart into bus references.
 *
 * Implements docs/formats/byu.md, "Writing rows of other formats". A reference lies within one
 * 8-byte bus word, but for the longer transfers of byu12. Addresses are physical where a row has
 * one, else virtual, and are cut to 32 bits: both are reported, once. It knows neither record
 * format.
 */
#include "format/byu/byu.h"

#include "core/endian.h"
#include "format/streams.h"

#include <string.h>

/* Byte enables of the special bus cycles of a Pentium (one byte of the word selects the cycle). */
static const uint8_t special_of_byte[BYU_WORD] = {
    BYU_SHUTDOWN, BYU_FLUSH, BYU_HALT, BYU_SYNC, BYU_FLUSH_ACK, BYU_BRANCH_TRACE, 0, 0};

const struct trod_option byu_options[] = {
    {"fetch", 0, TROD_OPT_BOOL, offsetof(struct byu_options, fetch), "BOOL",
     "write instructions of other formats as instruction fetches (yes)", NULL, NULL},
    {.type = TROD_OPT_END},
};

const struct byu_options byu_defaults = {.fetch = true};

void byu_rows_begin(struct byu_rows *r, const char *name, const struct byu_options *opt,
                    const struct trod_meta *meta)
{
    memset(r, 0, sizeof *r);
    r->name = name;
    r->fetches = opt ? opt->fetch : byu_defaults.fetch;
    r->recorded = meta && !meta->format;
    r->twelve = strcmp(name, "byu12") == 0;
    if (meta && meta->format && strcmp(meta->format, "byu6") == 0)
        r->source = BYU_FROM_6;
    if (meta && meta->format && strcmp(meta->format, "byu12") == 0)
        r->source = BYU_FROM_12;
}

void byu_rows_keeps(const char *name, const struct trod_meta *meta, struct trod_keeps *k)
{
    const bool bus =
        meta->format && (strcmp(meta->format, "byu6") == 0 || strcmp(meta->format, "byu12") == 0);

    if (meta->format && strcmp(meta->format, name) == 0)
        return;
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        if (!bus) /* of each other's records they say what is lost row by row */
            k->columns[i] &= ~(uint32_t)TROD_COL_DETAIL;
        k->flags[i] = bus ? (uint32_t)TROD_F_HOLES : 0; /* each run of bytes is a reference */
    }
    k->columns[TROD_INSTR] |= TROD_COL_PC; /* it is the address of the fetch */
    k->flags[TROD_INSTR] |= TROD_F_UNCACHED;
    k->flags[TROD_READ] |= TROD_F_IO | TROD_F_UNCACHED | TROD_F_IFETCH;
    k->flags[TROD_WRITE] |= TROD_F_IO | TROD_F_UNCACHED;
    k->flags[TROD_ATOMIC] |= TROD_F_UNCACHED;
    k->flags[TROD_PREFETCH] |= TROD_F_IFETCH | TROD_F_UNCACHED;
    k->flags[TROD_BUS] |= TROD_F_IFETCH | TROD_F_UNCACHED;
}

/* A marker of a BYU format: which cycle it is. */
static enum byu_op marker_op(const struct byu_rows *r, const struct trod_batch *b, uint32_t row)
{
    static const uint8_t types12[] = {
        [0x21] = BYU_INT_ACK, [0x23] = BYU_BRANCH_TRACE, [0x31] = BYU_SHUTDOWN, [0x32] = BYU_FLUSH,
        [0x33] = BYU_HALT,    [0x34] = BYU_SYNC,         [0x35] = BYU_FLUSH_ACK};
    unsigned sub = b->have & b->has[row] & TROD_COL_SUB ? b->sub[row] : 0;

    if (r->source == BYU_FROM_12)
        return sub < sizeof types12 ? (enum byu_op)types12[sub] : BYU_NONE;
    if (r->source == BYU_FROM_6 && sub == 1)
        return BYU_INT_ACK;
    if (r->source == BYU_FROM_6 && sub == 3 && b->size[row] == 1)
        return (enum byu_op)special_of_byte[b->addr[row] & 7];
    return BYU_NONE;
}

/* What ROW does on the bus; for an atomic access the read, then (pass 1) the write. */
static enum byu_op op_of(const struct byu_rows *r, const struct trod_batch *b, uint32_t row)
{
    uint32_t flags = b->have & b->has[row] & TROD_COL_FLAGS ? b->flags[row] : 0;

    switch (b->kind[row]) {
    case TROD_INSTR:
        return r->fetches ? BYU_FETCH : BYU_NONE;
    case TROD_READ:
        if (flags & TROD_F_IO)
            return BYU_IO_READ;
        if (flags & TROD_F_IFETCH)
            return BYU_FETCH;
        return r->source == BYU_FROM_12 && b->sub[row] == 2 ? BYU_READ_OWN : BYU_READ;
    case TROD_WRITE:
        return flags & TROD_F_IO ? BYU_IO_WRITE : BYU_WRITE;
    case TROD_ATOMIC:
        return r->pass ? BYU_WRITE : BYU_READ;
    case TROD_PREFETCH:
        return flags & TROD_F_IFETCH ? BYU_FETCH : BYU_READ;
    case TROD_BUS:
        return flags & TROD_F_IFETCH ? BYU_FETCH : BYU_NONE;
    case TROD_MARKER:
        return marker_op(r, b, row);
    default:
        return BYU_NONE;
    }
}

/* Instructions that are not wanted are no loss. */
static void lost(struct byu_rows *r, const struct trod_batch *b, uint32_t row)
{
    if (b->kind[row] == TROD_INSTR && !r->fetches)
        trod_loss_left(r->loss, b, row);
    else
        trod_loss_row(r->loss, b, row, "the bus has no such cycle");
}

/* Columns of ROW are lost; those in DONE, to which they are added, were lost before. */
static void lost_once(struct byu_rows *r, const struct trod_batch *b, uint32_t row,
                      uint32_t columns, uint32_t *done, const char *why)
{
    trod_loss_columns(r->loss, b, row, columns & ~*done, why);
    *done |= columns;
}

/*
 * Cycles that are no accesses: byu12 has no size for them, and in byu6 one byte of the word at AT
 * says which special cycle it is.
 */
static void lost_special(struct byu_rows *r, const struct trod_batch *b, uint32_t row, uint32_t at,
                         enum byu_op op, bool six, uint32_t *done)
{
    const uint32_t size = b->have & b->has[row] & TROD_COL_SIZE ? b->size[row] : 1;
    const bool special = six && op >= BYU_SHUTDOWN;

    if (special ? size != 1 : six ? (at & 7) + size > BYU_WORD : size != 0)
        trod_loss_columns(r->loss, b, row, TROD_COL_SIZE, "the cycle has another one");
    if (special && (at & 7) != (uint32_t)(op - BYU_SHUTDOWN))
        lost_once(r, b, row, TROD_COL_ADDR | TROD_COL_PADDR, done,
                  "the byte of the word says which cycle it is");
}

/* What the other format's record says of ROW beyond what a reference of OP says. */
static void lost_record(struct byu_rows *r, const struct trod_batch *b, uint32_t row,
                        uint32_t flags, enum byu_op op)
{
    enum { WRITE_BACK = 14, READ_FOR_OWNERSHIP = 2, WRITE_BACK_MEMORY = 3 };
    const bool cached = !(flags & TROD_F_UNCACHED) && op < BYU_IO_READ;
    const uint8_t *d = trod_batch_detail(b, row);

    if (!d || r->source == BYU_FROM_OTHER)
        return;
    if (b->sub[row] == (r->source == BYU_FROM_6 ? WRITE_BACK : READ_FOR_OWNERSHIP))
        trod_loss_columns(r->loss, b, row, TROD_COL_SUB, "the format has no such transaction");
    if (r->source == BYU_FROM_6 && ((d[5] & 15) || ((d[3] & 7) && d[4] != 0xff)))
        trod_loss_columns(r->loss, b, row, TROD_COL_DETAIL,
                          "bits of the record that mean nothing have no place");
    if (r->source == BYU_FROM_12 && d[6] != (cached ? WRITE_BACK_MEMORY : 0))
        trod_loss_columns(r->loss, b, row, TROD_COL_DETAIL, "attributes have no place");
}

/* What the references of ROW, at the address AT, do not say of it. */
static void lost_columns(struct byu_rows *r, const struct trod_batch *b, uint32_t row, uint64_t at,
                         uint32_t flags, enum byu_op op)
{
    const uint32_t has = b->have & b->has[row];
    const bool io = flags & TROD_F_IO, six = strcmp(r->name, "byu6") == 0;
    const bool word_only = six && has & TROD_COL_SIZE && b->size[row] == 0;
    uint32_t done = 0;

    if (at >> 32)
        lost_once(r, b, row,
                  has & TROD_COL_PADDR ? (uint32_t)TROD_COL_PADDR : (uint32_t)TROD_COL_ADDR, &done,
                  "it is cut to the 32 bits of an address");
    if (r->recorded)
        return;
    if ((has & TROD_COL_PADDR) && (has & TROD_COL_ADDR) && b->addr[row] != (uint32_t)at)
        lost_once(r, b, row, TROD_COL_ADDR, &done,
                  "there is one address, and the physical one is written");
    if (b->kind[row] == TROD_INSTR)
        fmt_own_pc(r->loss, b, row, word_only ? (uint32_t)at & ~7u : (uint32_t)at);
    if ((io && flags & (TROD_F_UNCACHED | TROD_F_IFETCH)) ||
        (six && flags & TROD_F_UNCACHED &&
         (b->kind[row] == TROD_WRITE || b->kind[row] == TROD_ATOMIC)))
        trod_loss_columns(r->loss, b, row, TROD_COL_FLAGS, "no code says both");
    if (word_only && at & 7)
        lost_once(r, b, row, TROD_COL_ADDR | TROD_COL_PADDR, &done,
                  "without bytes there is only the word");
    if (op >= BYU_INT_ACK)
        lost_special(r, b, row, (uint32_t)at, op, six, &done);
    lost_record(r, b, row, flags, op);
}

/* Address and bytes of ROW. False when it has more bytes than any access. */
static bool place_of(struct byu_rows *r, const struct trod_batch *b, uint32_t row, enum byu_op op,
                     uint32_t *address, uint32_t *bytes, struct trod_diag *diag)
{
    uint32_t has = b->have & b->has[row], flags = has & TROD_COL_FLAGS ? b->flags[row] : 0;
    uint64_t at = has & TROD_COL_PADDR ? b->paddr[row] : b->addr[row];

    *bytes = has & TROD_COL_SIZE ? b->size[row] : 1;
    *address = (uint32_t)at;
    if (*bytes > BYU_SPAN_MAX) {
        trod_loss_row(r->loss, b, row, "it is of more bytes than are written as references");
        return false;
    }
    if (!(has & TROD_COL_PADDR) && !r->said_virtual) {
        r->said_virtual = true;
        trod_diag_report(diag, TROD_SEV_NOTE, TROD_OK, "byu.virtual", NULL,
                         "physical addresses are not known: virtual ones are written as %s",
                         r->name);
    }
    if (r->done == 0 && r->pass == 0)
        lost_columns(r, b, row, at, flags, op);
    return true;
}

/* Byte enables of a row of byu6: its bytes need not be neighbours. 0x100: not known. */
static unsigned enables_of(const struct byu_rows *r, const struct trod_batch *b, uint32_t row)
{
    const uint8_t *d = r->source == BYU_FROM_6 ? trod_batch_detail(b, row) : NULL;

    return d ? d[4] : 0x100;
}

/* The next run of bytes requested, from bit FROM on: first, n. False when there is none. */
static bool next_run(unsigned enables, unsigned from, struct byu_reference *ref)
{
    unsigned to;

    while (from < BYU_WORD && (enables >> from & 1))
        from++;
    for (to = from; to < BYU_WORD && !(enables >> to & 1);)
        to++;
    ref->first = (uint8_t)from;
    ref->n = (uint8_t)(to - from);
    return to > from;
}

/*
 * Bytes of one reference that begins at AT, of a row that has BYTES more. In byu12 rows of 16 and
 * 32 bytes that begin with a bus word are one transfer (v1.1); what it said itself is not cut.
 */
static uint32_t most(const struct byu_rows *r, uint32_t at, uint32_t bytes)
{
    const uint32_t room = BYU_WORD - (at & 7);
    const bool burst = (at & 7) == 0 && (bytes == 16 || bytes == 32);

    if (!r->twelve || r->done || bytes > UINT8_MAX)
        return bytes < room ? bytes : room;
    return bytes <= room || burst || r->source == BYU_FROM_12 ? bytes : room;
}

/* The reference of the row's bytes from r->done on; with them all written, false. */
static bool piece(struct byu_rows *r, unsigned enables, uint32_t address, uint32_t bytes,
                  struct byu_reference *ref)
{
    uint32_t at = address + r->done;

    if (enables < 0xff) {
        ref->address = address & ~7u;
        if (!next_run(enables, r->done, ref))
            return false;
        r->done = (uint32_t)ref->first + ref->n;
        return true;
    }
    if (r->done >= bytes && (bytes > 0 || r->done > 0))
        return false;
    ref->address = at & ~7u;
    ref->first = at & 7;
    ref->n = (uint8_t)most(r, at, bytes - r->done);
    r->done += bytes ? ref->n : 1;
    return true;
}

bool byu_rows_next(struct byu_rows *r, const struct trod_batch *b, uint32_t row,
                   struct byu_reference *ref, struct trod_diag *diag)
{
    bool begins = r->done == 0 && r->pass == 0;
    enum byu_op op = op_of(r, b, row);
    uint32_t address, bytes;

    if (op == BYU_NONE || !(b->have & b->has[row] & (TROD_COL_PADDR | TROD_COL_ADDR))) {
        lost(r, b, row);
        return false;
    }
    if (!place_of(r, b, row, op, &address, &bytes, diag))
        return false;
    if (op >= BYU_INT_ACK && bytes > BYU_WORD - (address & 7)) /* one cycle, one record */
        bytes = BYU_WORD - (address & 7);
    if (!piece(r, enables_of(r, b, row), address, bytes, ref)) {
        r->done = 0;
        if (b->kind[row] != TROD_ATOMIC || r->pass) {
            r->pass = 0;
            return false;
        }
        r->pass = 1;
        op = BYU_WRITE;
        piece(r, 0x100, address, bytes, ref);
    }
    ref->op = (uint8_t)op;
    ref->begins = begins;
    ref->uncached = (b->have & b->has[row] & TROD_COL_FLAGS) && (b->flags[row] & TROD_F_UNCACHED);
    return true;
}
