/*
 * decode.c - entries to rows.
 *
 * Implements docs/formats/drmemtrace.md, "Rows". Most entries are data and instruction records with
 * no hidden entries before them: the hot loop turns each into a row without a branch on its type.
 * All others form tiles: a row and the hidden entries before it. A tile is only begun when all of
 * it is certainly in the window, so that nothing is ever taken back and rows do not depend on how
 * the input was cut. Nothing here knows containers: chunks are recognised by their footers.
 */
#include "format/drmemtrace/assumed.h"

#include "core/endian.h"
#include "trace/batch_own.h"

#include <inttypes.h>

#if defined(__GNUC__)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define UNLIKELY(x) (x)
#endif

TROD_HOT void set_all(uint32_t *p, uint32_t value, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        p[i] = value;
}

TROD_HOT void set_all_64(uint64_t *p, uint64_t value, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        p[i] = value;
}

TROD_HOT void or_all(uint32_t *p, uint32_t bits, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        p[i] |= bits;
}

/* Rows [FROM, n) have columns, thread, time and kernel flag in common: fill those at once. */
TROD_HOT void fill_columns(struct drm_call *c, uint32_t from)
{
    const struct drm_dec *d = c->d;
    struct trod_batch *out = c->out;
    const uint32_t have = out->have, n = out->n;
    const uint32_t stream = (uint32_t)d->side->thread[d->thread].stream;
    const uint32_t untimed = d->time_known ? 0 : TROD_COL_TIME;
    const uint32_t says =
        have & ~untimed &
        (TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_SUB | TROD_COL_INDEX |
         TROD_COL_RAW | TROD_COL_TIME | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC);

    if (have & TROD_COL_CODE && !drm_once(c)) /* which some of the rows say */
        or_all(out->has + from, says, n - from);
    else
        set_all(out->has + from, says, n - from);
    for (; d->side->n_coded; d->side->n_coded--)
        out->has[d->side->coded[d->side->n_coded - 1]] |= TROD_COL_CODE;
    if (have & TROD_COL_STREAM)
        set_all(out->stream + from, stream, n - from);
    if (have & TROD_COL_TIME)
        set_all_64(out->time + from, d->time, n - from);
    if (d->in_syscall || d->in_switch || d->depth)
        or_all(out->flags + from, TROD_F_KERNEL, n - from);
}

static TROD_WIDE void fill_run_wide(struct drm_call *c, uint32_t from)
{
    fill_columns(c, from);
}

static void fill_run(struct drm_call *c, uint32_t from)
{
    if (trod_wide())
        fill_run_wide(c, from);
    else
        fill_columns(c, from);
}

/*
 * Remember the last instruction of the rows from FROM on: accesses behind it belong to it, and a
 * bundle may follow it.
 */
static void remember(struct drm_dec *d, const struct trod_batch *out, uint32_t from)
{
    for (uint32_t i = out->n; i-- > from;) {
        if (out->kind[i] != TROD_INSTR)
            continue;
        d->next_pc = out->addr[i] + out->size[i];
        d->last_type = out->sub[i];
        d->last_flags = out->flags[i] & ~(uint32_t)TROD_F_KERNEL;
        d->last_has = out->has[i];
        d->last_target = 0;
        d->last_pc = out->addr[i];
        d->pc = d->last_pc;
        return;
    }
}

uint32_t drm_prove(struct drm_call *c, const uint8_t *p, uint32_t n, uint64_t pc,
                   uint32_t type_flags)
{
    struct drm_side *side = c->d->side;
    struct trod_slice code;
    uint32_t flags;

    if (drm_side_recall(side, pc))
        return 0;
    code = drm_side_code(side, pc);
    flags = drm_code_flags(c, code, 0); /* a later entry may give it another type */
    if (code.len == 0 && side->assumed)
        flags = drm_assume_code(c, p, pc);
    else if (code.len == 0)
        drm_missing(c, p, n, pc);
    else if (flags == 0)
        drm_side_prove(side, pc);
    if (c->once && code.len) {
        c->out->code[n] = code;
        side->coded[side->n_coded++] = n;
    }
    return type_flags & TROD_F_BRANCH ? 0 : flags;
}

/* The columns that the hot loop writes: held in registers, as they do not overlap. */
struct columns {
    uint8_t *restrict kind;
    uint16_t *restrict sub;
    uint32_t *restrict flags, *restrict size;
    uint64_t *restrict addr, *restrict pc, *restrict index;
    struct trod_slice *restrict raw;
};

/*
 * The instruction at PC, whose entry is P and which becomes row N, has the encoding K, and K is
 * seen for the first time, is a system call, or is missing. Returns the flags that it adds to
 * TYPE_FLAGS.
 */
static uint32_t look_at_code(struct drm_call *c, const uint8_t *p, uint32_t n, uint64_t pc,
                             uint32_t type_flags, struct drm_known *k)
{
    const unsigned isa = c->d->meta->isa;
    const struct trod_slice code = {k->off, k->len};

    if (code.len == 0)
        drm_missing(c, p, n, pc);
    else if (isa != TROD_ISA_UNKNOWN)
        k->plain = !drm_is_syscall(
            isa, c->d->side->shared + (code.off & ~(uint32_t)TROD_SLICE_SHARED), code.len);
    return code.len ? drm_code_flags(c, code, type_flags) : 0;
}

TROD_HOT uint32_t take_code(struct drm_call *c, const uint8_t *p, uint32_t n, uint64_t addr,
                            uint32_t type_flags)
{
    struct drm_known *k = drm_side_find(c->d->side, addr);

    c->out->code[n] = (struct trod_slice){k->off, k->len};
    c->out->has[n] = k->len ? TROD_COL_CODE : 0;
    return k->plain ? 0 : look_at_code(c, p, n, addr, type_flags, k);
}

uint32_t drm_take_code(struct drm_call *c, const uint8_t *p, uint32_t n, uint64_t addr,
                       uint32_t type_flags)
{
    return take_code(c, p, n, addr, type_flags);
}

/*
 * Number of entries of WIDTH bytes from P on for which there is room, leaving one more in the
 * window, or what tells a system call.
 */
static uint32_t rows_at_most(const struct drm_call *c, const uint8_t *p, size_t width)
{
    const size_t there = (size_t)(c->end - p) / width;
    const size_t more = c->last ? 0 : c->d->side->assumed ? DRM_CALL_ENTRIES : 1;
    const uint32_t room = c->out->cap - c->out->n;

    if (there <= more)
        return 0;
    return there - more < room ? (uint32_t)(there - more) : room;
}

/*
 * Make rows of plain entries from P on, as long as there is room and one more entry is in the
 * window. Returns where it stopped. WIDTH, LEVEL and PROVES (encodings must have come) are
 * constants at the calls.
 */
TROD_HOT const uint8_t *run(struct drm_call *c, const uint8_t *p, const size_t width,
                            const enum drm_level level, const bool proves)
{
    struct drm_dec *d = c->d;
    struct trod_batch *out = c->out;
    const struct columns to = {out->kind, out->sub, out->flags, out->size,
                               out->addr, out->pc,  out->index, out->raw};
    const struct drm_hot *const hot = d->side->hot;
    const unsigned shift = d->shift;
    struct drm_hot_run h = {
        .n = out->n, .end = out->n + rows_at_most(c, p, width), .instrs = d->instrs, .pc = d->pc};
    uint32_t n;
    uint64_t pc, instrs;

    if (width == DRM_ENTRY_64)
        p = drm_wide_rows(c, p, &h, level, proves);
    n = h.n;
    pc = h.pc;
    instrs = h.instrs;
    for (; n < h.end; p += width, n++) {
        uint32_t key = trod_load_le32(p);
        uint32_t size = key >> 16, type = key & 0xffff, flags;
        const struct drm_hot *type_of = &hot[type < 64 ? type : 63];
        uint64_t addr;

        if (UNLIKELY(size < type_of->least))
            break;
        if (width == DRM_ENTRY_64)
            addr = (uint64_t)((int64_t)(trod_load_le64(p + 4) << shift) >> shift);
        else
            addr = trod_load_le32(p + 4);
        instrs += type_of->counts;
        flags = type_of->flags;
        if (proves && type_of->instr && UNLIKELY(!drm_proven(d->side, addr)))
            flags |= drm_prove(c, p, n, addr, flags);
        if (level == DRM_CODE) {
            out->has[n] = 0;
            flags |= type_of->instr ? take_code(c, p, n, addr, flags) : 0;
        }
        to.kind[n] = type_of->kind;
        to.sub[n] = (uint16_t)type;
        to.flags[n] = flags;
        to.size[n] = size;
        to.addr[n] = addr;
        if (level == DRM_LEAN)
            continue;
        pc = type_of->instr ? addr : pc;
        to.pc[n] = pc;
        to.index[n] = instrs;
        to.raw[n] = (struct trod_slice){(uint32_t)(p - c->base), (uint32_t)width};
    }
    d->instrs = instrs;
    d->records += n - out->n;
    d->footer = d->footer && n == out->n;
    out->n = n;
    return p;
}

TROD_HOT const uint8_t *run_level(struct drm_call *c, const uint8_t *p, const size_t width,
                                  const enum drm_level level)
{
    return c->d->filetype & TROD_DRM_ENCODINGS ? run(c, p, width, level, true)
                                               : run(c, p, width, level, false);
}

static const uint8_t *run_64(struct drm_call *c, const uint8_t *p)
{
    const uint32_t more = TROD_COL_PC | TROD_COL_INDEX | TROD_COL_RAW;

    if (c->out->have & TROD_COL_CODE && !drm_once(c))
        return run(c, p, DRM_ENTRY_64, DRM_CODE, false);
    return c->out->have & more ? run_level(c, p, DRM_ENTRY_64, DRM_FULL)
                               : run_level(c, p, DRM_ENTRY_64, DRM_LEAN);
}

static const uint8_t *run_32(struct drm_call *c, const uint8_t *p)
{
    return c->out->have & TROD_COL_CODE && !drm_once(c) ? run(c, p, DRM_ENTRY_32, DRM_CODE, false)
                                                        : run_level(c, p, DRM_ENTRY_32, DRM_FULL);
}

/* A FOOTER directly behind a row belongs to its bytes. */
static const uint8_t *take_footer(struct drm_call *c, const uint8_t *p)
{
    struct drm_dec *d = c->d;
    uint32_t row = c->out->n - 1;

    if ((size_t)(c->end - p) < d->width || trod_load_le16(p) != DRM_FOOTER)
        return p;
    while (c->out->flags[row] & TROD_F_CONT)
        row--; /* of a bundle the first row has the bytes */
    c->out->raw[row].len += d->width;
    d->footer = true;
    return p + d->width;
}

static const uint8_t *plain_rows(struct drm_call *c, const uint8_t *p)
{
    const uint32_t from = c->out->n;
    const uint8_t *q;

    do {
        if (c->passes)
            p = drm_pass_rows(c, p);
        q = p = c->d->width == DRM_ENTRY_64 ? run_64(c, p) : run_32(c, p);
        p = drm_coded_rows(c, p);
    } while (p != q);
    if (c->out->n == from)
        return p;
    fill_run(c, from);
    remember(c->d, c->out, from);
    return take_footer(c, p);
}

/*
 * Decode the tile at *P, which lies in the window completely, and set *P behind it. Hidden entries
 * that no row follows, or more of them than a tile may have, become a note.
 */
static int tile(struct drm_call *c, const uint8_t **p)
{
    struct drm_dec *d = c->d;
    const uint8_t *from = *p, *q = from;
    const uint8_t *most = from + (size_t)(DRM_TILE - 1) * d->width;
    int rc = DRM_HIDDEN;

    while (rc == DRM_HIDDEN && (size_t)(c->end - q) >= d->width && q <= most) {
        d->footer = trod_load_le16(q) == DRM_FOOTER;
        rc = drm_entry(c, from, q);
        q += d->width;
    }
    if (rc == DRM_HIDDEN && q > from) {
        const struct trod_place at = drm_place(c, from);

        trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.leftover", &at,
                   "entries without a record follow");
        rc = drm_note(c, from, q, DRM_NOTE_LEFTOVER);
    }
    if (rc < 0)
        return rc;
    *p = rc == DRM_ROW ? take_footer(c, q) : q;
    return TROD_OK;
}

static uint64_t value_of(const struct drm_call *c, const uint8_t *p)
{
    return c->d->width == DRM_ENTRY_64 ? trod_load_le64(p + 4) : trod_load_le32(p + 4);
}

/* HEADER and VERSION say the same number. */
static void check_version(struct drm_call *c, const uint8_t *p, uint64_t version)
{
    const struct trod_place at = drm_place(c, p);

    if (trod_load_le16(p + 2) == TROD_DRM_VERSION && value_of(c, p) != version)
        trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.version", &at,
                   "version marker says %" PRIu64 ", the header %" PRIu64, value_of(c, p), version);
}

/*
 * VERSION and FILETYPE come before THREAD and PID but belong to that thread: look for those first.
 */
static int header(struct drm_call *c, const uint8_t *p)
{
    struct drm_dec *d = c->d;
    bool done = false;
    uint64_t version = 0;
    int rc = TROD_OK;

    for (unsigned i = 0; i < DRM_TILE && !done && rc == TROD_OK; i++, p += d->width) {
        unsigned type;

        if ((size_t)(c->end - p) < d->width)
            break;
        type = i == 0 && d->bad_header ? DRM_HEADER : trod_load_le16(p);
        done = type == DRM_PID;
        if (type == DRM_THREAD || type == DRM_PID)
            rc = drm_entry(c, p, p);
        else if (type == DRM_HEADER)
            version = d->version;
        else if (type == DRM_MARKER)
            check_version(c, p, version);
        else
            break;
    }
    d->begun = true;
    return rc < 0 ? rc : TROD_OK;
}

/*
 * The record at P has an unknown type. If the records behind it make sense it is kept by itself (a
 * newer tracer may have written it); if not, the stream is out of step: then the bytes up to the
 * next place where enough records in a row make sense, or as far as can be seen, become a note.
 * Returns how many bytes, 0 if it is in step.
 */
static size_t out_of_step(const struct drm_call *c, const uint8_t *p)
{
    enum { LOOK = 8, NEEDED = 12 };
    const size_t width = c->d->width;
    const size_t all = (size_t)(c->end - p);
    const size_t n = all < DRM_TILE * width ? all : DRM_TILE * width;
    unsigned good = 0, seen = n / width < LOOK ? (unsigned)(n / width) : LOOK;

    if (drm_type_info(trod_load_le16(p))->class != DRM_C_UNKNOWN)
        return 0;
    for (unsigned i = 1; i < seen; i++)
        good += drm_type_info(trod_load_le16(p + i * width))->class != DRM_C_UNKNOWN;
    if (2 * good + 1 >= seen)
        return 0;
    for (size_t i = 1; i + NEEDED * width <= n; i++) {
        unsigned k = 0;

        while (k < NEEDED &&
               drm_type_info(trod_load_le16(p + i + k * width))->class != DRM_C_UNKNOWN)
            k++;
        if (k == NEEDED)
            return i;
    }
    return n < (NEEDED + 1) * width ? n : n - NEEDED * width;
}

/* Make a note of N bytes at P that are no records. */
static int skip(struct drm_call *c, const uint8_t *p, size_t n)
{
    const struct trod_place at = drm_place(c, p);

    trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.out-of-step", &at,
               "%zu bytes make no sense as records: passed over", n);
    return drm_note(c, p, p + n, DRM_NOTE_SKIPPED);
}

/* The whole input has been eaten. */
static int end(struct drm_call *c, const uint8_t *p)
{
    struct drm_dec *d = c->d;
    const struct trod_place at = drm_place(c, p);

    if (p < c->end)
        return trod_error(c->diag, TROD_ERR_TRUNCATED, "drmemtrace.cut", &at,
                          "record is cut after %zu of %u bytes", (size_t)(c->end - p), d->width);
    if (!d->ended && d->begun && !d->footer && !d->meta->part_cut)
        trod_error(c->diag, TROD_ERR_TRUNCATED, "drmemtrace.no-footer", &at,
                   "trace ends without its footer after %" PRIu64 " records", d->records);
    d->ended |= !d->meta->part_cut;
    return TROD_DEC_MORE;
}

/* Behind a jump, a record number says how many rows were left out: those behind it begin a new
 * batch. */
static bool jumps(const struct drm_call *c, const uint8_t *p)
{
    uint64_t value = c->d->width == DRM_ENTRY_64 ? trod_load_le64(p + 4) : trod_load_le32(p + 4);

    return trod_load_le16(p) == DRM_MARKER && trod_load_le16(p + 2) == TROD_DRM_RECORD_ORDINAL &&
           value != c->d->records;
}

/* Number of damaged records reported so far. */
static uint64_t damaged(const struct drm_call *c)
{
    return c->diag ? c->diag->errors - c->lacking : 0;
}

/* Does damage end the trace, where BEFORE records were damaged? */
static bool ended_by_damage(const struct drm_call *c, uint64_t before)
{
    return c->diag && c->diag->strict && !c->passes && damaged(c) > before;
}

static int decode(struct drm_call *c, const uint8_t **at)
{
    struct drm_dec *d = c->d;
    const size_t width = d->width;
    const uint8_t *p = *at;
    int rc;

    for (;; *at = p) {
        uint64_t before;
        uint32_t rows;
        size_t n;

        if (drm_is_plain(d) && !d->bad_header)
            *at = p = plain_rows(c, p);
        n = (size_t)(c->end - p);
        if (c->last && n < width)
            return end(c, p);
        if (!c->last && n < (DRM_TILE + 1) * width)
            return TROD_DEC_MORE;
        if (c->out->n + DRM_BUNDLE_MAX > c->out->cap)
            return TROD_DEC_FULL; /* the tile may end in a bundle */
        if (!d->begun && (rc = header(c, p)) < 0)
            return rc;
        before = damaged(c);
        if (d->bad_header) {
            const struct trod_place at_header = drm_place(c, p);

            d->bad_header = false;
            trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.header", &at_header,
                       "header is damaged: the marker behind it says the version");
            if (ended_by_damage(c, before))
                return TROD_ERR_CORRUPT;
            p += width;
            continue;
        }
        if (d->jumped && jumps(c, p)) {
            if (c->out->n)
                return TROD_DEC_FULL;
            if ((rc = drm_entry(c, p, p)) < 0)
                return rc;
            c->out->first = d->records;
        }
        n = out_of_step(c, p);
        rows = c->out->n;
        if (n > 0)
            rc = c->passes ? TROD_ERR_CORRUPT : skip(c, p, n);
        else
            rc = tile(c, &p);
        if (rc < 0)
            return rc;
        if (ended_by_damage(c, before)) {
            c->out->n = rows;
            return TROD_ERR_CORRUPT;
        }
        p += n;
    }
}

int drm_go(struct drm_dec *dec, struct trod_span *in, struct trod_batch *out,
           struct trod_diag *diag, bool passes)
{
    struct drm_call c = {.d = dec,
                         .out = out,
                         .diag = diag,
                         .base = in->p,
                         .end = in->p + in->n,
                         .offset = in->offset,
                         .last = in->last,
                         .passes = passes,
                         .once = out->want & TROD_WANT_NEW_CODE && out->want & TROD_COL_CODE};
    const uint8_t *p = in->p;
    const uint32_t had = out->n;
    int rc;

    if ((rc = drm_side_turn(c.d->side, out->cap)) < 0)
        return rc;
    c.d->side->tells = c.once && !passes;
    out->have = DRM_READS & out->want;
    rc = decode(&c, &p);
    out->shared = c.d->side->shared;
    drm_side_gave(c.d->side, out, had, passes);
    trod_batch_shares(out, c.d->side->shared_n);
    in->offset += (uint64_t)(p - in->p);
    in->n -= (size_t)(p - in->p);
    in->p = p;
    return c.d->side->failed ? TROD_ERR_NOMEM : rc;
}

int drm_decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    return drm_go(dec, in, out, diag, false);
}
