/*
 * encode.c - rows to drmemtrace entries.
 *
 * Implements docs/formats/drmemtrace-writing.md. Rows of a drmemtrace trace of which nothing was
 * left out are copied (enc_copy.c); all others are written anew from their columns. What the
 * format has no record for is counted and left out.
 */
#include "format/drmemtrace/encode.h"

#include "core/origin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint32_t isa_bits(enum trod_isa isa)
{
    switch (isa) {
    case TROD_ISA_A64:
        return TROD_DRM_AARCH64;
    case TROD_ISA_ARM:
        return TROD_DRM_ARM32;
    case TROD_ISA_X86_32:
        return TROD_DRM_X86_32;
    case TROD_ISA_X86_64:
        return TROD_DRM_X86_64;
    case TROD_ISA_REGDEPS:
        return TROD_DRM_REGDEPS;
    default:
        return 0;
    }
}

/* Does FORMAT record bus cycles, that is, only accesses that missed in caches? */
static bool is_bus(const char *format)
{
    return format && (strcmp(format, "byu6") == 0 || strcmp(format, "byu12") == 0);
}

/*
 * Do instructions have opcodes? As the first one of B from ROW on does; if there is none, as B
 * says.
 */
static bool has_code(const struct trod_batch *b, uint32_t row)
{
    for (uint32_t i = row; i < b->n; i++)
        if (b->kind[i] == TROD_INSTR)
            return (b->have & b->has[i] & TROD_COL_CODE) && b->code[i].len;
    return b->have & TROD_COL_CODE;
}

/*
 * Do the rows from ROW of B on come with opcodes? A drmemtrace trace says so, or has them from
 * files beside it, which counts where another version is asked for.
 */
static bool gives_code(const struct drm_enc *e, uint32_t arch, const struct trod_batch *b,
                       uint32_t row)
{
    if (e->native && (e->meta->filetype & TROD_DRM_ENCODINGS || !e->opt->version))
        return e->meta->filetype & TROD_DRM_ENCODINGS;
    return arch != 0 && !is_bus(e->meta->format) && b && has_code(b, row);
}

void drm_enc_describe(struct drm_enc *e, const struct trod_batch *b, uint32_t row)
{
    const struct trod_meta *m = e->meta;
    const uint32_t arch = isa_bits(m->isa);

    e->width = arch & (TROD_DRM_ARM32 | TROD_DRM_X86_32) ? DRM_ENTRY_32 : DRM_ENTRY_64;
    if (e->native && m->addr_bits == 32)
        e->width = DRM_ENTRY_32;
    if (e->native && m->addr_bits == 64)
        e->width = DRM_ENTRY_64;
    if (e->opt->entry)
        e->width = e->opt->entry == DRM_ENTRY_OPT_8 ? DRM_ENTRY_32 : DRM_ENTRY_64;
    e->version = DRM_VERSION_MAX;
    e->filetype = m->format ? arch : arch | m->filetype;
    if (e->native) {
        e->version = m->version < DRM_VERSION_NO_KERNEL_PC ? DRM_VERSION_NO_KERNEL_PC : m->version;
        e->filetype = m->filetype & ~(uint64_t)TROD_DRM_CORE_SHARDED;
    }
    if (e->opt->version)
        e->version = e->opt->version;
    e->encodings = e->version >= DRM_VERSION_ENCODINGS && gives_code(e, arch, b, row);
    if (e->opt->encodings)
        e->encodings = e->opt->encodings == DRM_YES;
    if (e->encodings)
        e->filetype |= TROD_DRM_ENCODINGS | arch;
    else
        e->filetype &= ~(uint64_t)TROD_DRM_ENCODINGS;
    if (is_bus(m->format))
        e->filetype |= TROD_DRM_IFILTERED | TROD_DRM_DFILTERED;
    else if (!e->markers && e->encodings)
        e->filetype |= TROD_DRM_DFILTERED; /* accesses need not match the operands */
    if (e->drops & TROD_DROP_INSTR)
        e->filetype |= TROD_DRM_IFILTERED;
    if (e->drops & TROD_DROP_DATA)
        e->filetype |= TROD_DRM_DFILTERED;
    /* register dependences are of one size, whatever the instruction's is */
    e->exact = e->native && drm_code_sized(e);
    e->ifiltered = (e->filetype & (TROD_DRM_FILTERED | TROD_DRM_IFILTERED)) != 0;
    e->merge = !e->native && (m->isa == TROD_ISA_ARM || m->isa == TROD_ISA_A64);
    e->keep_all = e->native && (e->drops & TROD_DROP_SPAN) && !e->ifiltered;
    e->chunk_size = e->opt->chunk ? e->opt->chunk : DRM_CHUNK_DEFAULT;
    if (e->version <= DRM_VERSION_LEGACY)
        e->chunk_size = 0; /* legacy traces have no chunks */
}

int drm_begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    struct drm_enc *e = enc;
    const char *format = meta->format;
    const uint64_t version = ((const struct drm_options *)opt)->version;

    if (version > DRM_VERSION_MAX)
        return trod_error(diag, TROD_ERR_USAGE, "drmemtrace.version", NULL,
                          "version=%" PRIu64 ": versions from %d to %d are written", version,
                          DRM_VERSION_LEGACY, DRM_VERSION_MAX);
    *e = (struct drm_enc){.opt = opt, .meta = meta};
    e->native = format && strcmp(format, "drmemtrace") == 0;
    e->markers = e->native || !format;
    e->single = true;
    e->copy =
        e->native && !e->opt->version && !e->opt->chunk && !e->opt->entry && !e->opt->encodings;
    return drm_enc_side_new(&e->side);
}

int drm_target(void *enc, const struct trod_target *target, struct trod_diag *diag)
{
    struct drm_enc *e = enc;

    (void)diag;
    e->parts = target->parts;
    e->single = target->single;
    e->key = target->key;
    e->drops = target->drops;
    e->loss = target->loss;
    if (e->drops)
        e->copy = false;
    return TROD_OK;
}

void drm_drop(void *enc)
{
    struct drm_enc *e = enc;

    drm_enc_side_free(e->side);
    e->side = NULL;
    fmt_aims_fini(&e->aims);
}

uint64_t drm_enc_time(const struct drm_enc *e, const struct trod_batch *b, uint32_t row)
{
    static const uint32_t per_us[TROD_UNITS] = {
        [TROD_UNIT_NS] = 1000, [TROD_UNIT_PS] = 1000000, [TROD_UNIT_FS] = 1000000000};
    const uint32_t has = b->have & b->has[row];
    unsigned unit;
    uint64_t t;

    if (!(has & TROD_COL_TIME))
        return e->native ? e->time : DRM_EPOCH + trod_origin_row(b, row) / 1000;
    t = b->time[row];
    if (e->native)
        return t;
    unit = has & TROD_COL_UNIT ? b->unit[row] : e->meta->unit;
    for (unsigned d = trod_unit_decimals((uint8_t)unit); d > 0; d--)
        t /= 10;
    unit &= 15;
    if (unit == TROD_UNIT_US)
        return DRM_EPOCH + t;
    if (unit == TROD_UNIT_MS)
        return DRM_EPOCH + t * 1000;
    if (unit == TROD_UNIT_S)
        return DRM_EPOCH + t * 1000000;
    return DRM_EPOCH + t / (unit < TROD_UNITS && per_us[unit] ? per_us[unit] : 1000);
}

/* --- rows --- */

/* Record type of an access that is of no drmemtrace trace. */
static unsigned access_type(unsigned kind, uint32_t flags)
{
    switch (kind) {
    case TROD_READ:
        return DRM_READ;
    case TROD_PREFETCH:
        return flags & TROD_F_IFETCH ? DRM_PREFETCH_INSTR : DRM_PREFETCH;
    case TROD_FLUSH:
        return flags & TROD_F_IFETCH ? DRM_INSTR_FLUSH : DRM_DATA_FLUSH;
    default:
        return DRM_WRITE;
    }
}

static int access_row(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                      struct trod_room *out)
{
    const uint32_t has = b->have & b->has[row], flags = has & TROD_COL_FLAGS ? b->flags[row] : 0;
    const unsigned kind = b->kind[row];
    const unsigned type = e->native && has & TROD_COL_SUB ? b->sub[row] : access_type(kind, flags);
    const uint32_t size = has & TROD_COL_SIZE ? b->size[row] : 1;
    uint32_t lost;
    uint64_t addr;
    struct trod_room hold, *to;
    int rc = TROD_OK;

    if (!(has & (TROD_COL_ADDR | TROD_COL_PADDR)) || flags & (TROD_F_IO | TROD_F_ABORTED)) {
        drm_lose(e, b, row);
        return TROD_OK;
    }
    if (e->orphans && !e->ifiltered) {
        trod_loss_row(e->loss, b, row,
                      "its instruction is left out, and it would be one of the instruction before");
        return TROD_OK;
    }
    addr = has & TROD_COL_ADDR ? b->addr[row] : b->paddr[row];
    lost = drm_lose_width(e, b, row, has & TROD_COL_ADDR ? TROD_COL_ADDR : TROD_COL_PADDR, addr);
    if (size) /* accesses of 0 bytes have records, like those of XSAVE */
        lost |= drm_lose_size(e, b, row, size, kind == TROD_FLUSH ? UINT32_MAX : UINT16_MAX);
    if (e->ifiltered && !e->has_time)
        rc = drm_put_now(e, out, drm_enc_time(e, b, row));
    to = drm_flow_room(e, out, &hold);
    if (e->ifiltered && has & TROD_COL_PC && (!e->has_pc || e->pc != b->pc[row])) {
        drm_put(e, to, DRM_INSTR, 0, b->pc[row]);
        e->pc = b->pc[row];
        e->has_pc = true;
    }
    if (!e->native && has & TROD_COL_PC &&
        (!e->has_pc || e->pc != b->pc[row] || !drm_fits(e, b->pc[row])))
        lost |= trod_loss_columns(e->loss, b, row, TROD_COL_PC,
                                  "its entry stands behind none of that instruction");
    drm_put_data(e, to, kind == TROD_ATOMIC ? DRM_READ : type, size, addr);
    if (kind == TROD_ATOMIC)
        drm_put_data(e, to, DRM_WRITE, size, addr);
    drm_flow_put(e, out, to);
    if (e->held.any)
        drm_flow_wait(e, b, row, lost);
    return rc;
}

/* A code fetch on the bus is a miss of the instruction cache. */
static int fetch_row(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                     struct trod_room *out)
{
    const uint32_t has = b->have & b->has[row];
    const uint32_t size = has & TROD_COL_SIZE ? b->size[row] : 0;
    uint64_t now = drm_enc_time(e, b, row);
    int rc = TROD_OK;

    if (!(has & (TROD_COL_ADDR | TROD_COL_PADDR)) || size == 0 ||
        (has & TROD_COL_FLAGS && b->flags[row] & TROD_F_ABORTED)) {
        drm_lose(e, b, row);
        return TROD_OK;
    }
    if (drm_chunk_full(e)) {
        drm_chunk_end(e, out);
        return DRM_FLOW_PART;
    }
    drm_lose_width(e, b, row, TROD_COL_ADDR, b->addr[row]);
    drm_lose_size(e, b, row, size, UINT16_MAX);
    if (e->new_chunk)
        drm_chunk_begin(e, out);
    if (!e->has_time || (drm_time_on(e, now) && e->instrs - e->time_at >= DRM_TIME_EVERY))
        rc = drm_put_now(e, out, now);
    drm_put_instr(e, out, DRM_INSTR, size > UINT16_MAX ? UINT16_MAX : size,
                  has & TROD_COL_ADDR ? b->addr[row] : b->paddr[row], NULL, false, 0);
    return rc;
}

/* An unknown record type is written as it was. */
static void unknown_row(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                        struct trod_room *out)
{
    const uint32_t needed = TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_SIZE;
    struct trod_room hold, *to;

    if (!e->native || (b->have & b->has[row] & needed) != needed) {
        drm_lose(e, b, row);
        return;
    }
    to = drm_flow_room(e, out, &hold);
    drm_put(e, to, b->sub[row], b->size[row] & UINT16_MAX, b->value[row]);
    e->records++;
    drm_flow_put(e, out, to);
    if (to != out)
        drm_flow_wait(e, b, row, 0);
}

/* Before the first instruction of a part only rows that say when and where it runs count. */
static bool waits_for_instr(const struct drm_enc *e, const struct trod_batch *b, uint32_t row)
{
    if (!e->keep_all || e->has_last || e->held.any || b->kind[row] == TROD_INSTR)
        return b->flags[row] & TROD_F_KERNEL && e->keep_all && !e->has_last && !e->held.any;
    if (b->kind[row] != TROD_MARKER)
        return b->kind[row] != TROD_THREAD;
    return b->sub[row] != TROD_DRM_TIMESTAMP && b->sub[row] != TROD_DRM_CPU_ID &&
           b->sub[row] != TROD_DRM_WINDOW_ID && b->sub[row] != TROD_DRM_VECTOR_LENGTH;
}

/*
 * Is there the encoding of ROW, an instruction, where its record needs one? A reader stops where it
 * never came, and takes one of another length for damage.
 */
static bool encoded(const struct drm_enc *e, const struct trod_batch *b, uint32_t row)
{
    const uint32_t has = b->have & b->has[row];

    if (!e->encodings)
        return true;
    return has & TROD_COL_CODE && b->code[row].len &&
           !(e->exact && has & TROD_COL_SIZE && b->code[row].len != b->size[row]);
}

/* The instruction of ROW is not written, so what it reads and writes would be another's. */
static void lose_instr(struct drm_enc *e, const struct trod_batch *b, uint32_t row)
{
    if (!e->native) {
        drm_lose(e, b, row);
        return;
    }
    trod_loss_row(e->loss, b, row,
                  "its encoding is missing or of another length, and readers stop there");
    e->orphans = true;
    e->passed += b->have & b->has[row] & TROD_COL_SUB && drm_is_instr(b->sub[row]);
}

static int instr_row(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                     struct trod_room *out)
{
    const int rc = drm_flow_instr(e, b, row, out);

    const uint32_t lost = rc == DRM_FLOW_DONE ? drm_lose_instr(e, b, row) : 0;

    if (rc == DRM_FLOW_DONE && e->held.any)
        e->held.row.lost = lost;
    return rc;
}

static int put_row(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                   struct trod_room *out)
{
    const unsigned kind = b->kind[row];
    const uint32_t has = b->have & b->has[row], flags = has & TROD_COL_FLAGS ? b->flags[row] : 0;

    if (waits_for_instr(e, b, row)) {
        trod_loss_left(e->loss, b, row);
        return DRM_FLOW_DONE;
    }
    if (e->pending && kind != TROD_READ && kind != TROD_WRITE)
        drm_flow_pending(e, out);
    switch (kind) {
    case TROD_INSTR:
        if (!(has & (TROD_COL_ADDR | TROD_COL_PC)) || flags & TROD_F_ABORTED) {
            drm_lose(e, b, row);
            return DRM_FLOW_DONE;
        }
        if (!encoded(e, b, row)) {
            lose_instr(e, b, row);
            return DRM_FLOW_DONE;
        }
        e->orphans = false;
        return instr_row(e, b, row, out);
    case TROD_BUS:
        if (flags & TROD_F_IFETCH && is_bus(e->meta->format))
            return fetch_row(e, b, row, out);
        drm_lose(e, b, row);
        return DRM_FLOW_DONE;
    case TROD_READ:
    case TROD_WRITE:
    case TROD_ATOMIC:
    case TROD_PREFETCH:
    case TROD_FLUSH:
        return access_row(e, b, row, out);
    case TROD_MARKER:
        return e->markers ? drm_enc_marker(e, b, row, out) : (drm_lose(e, b, row), DRM_FLOW_DONE);
    case TROD_EXCEPTION: /* its effect is in the rows behind it; its number and name are lost */
        e->held.event = true;
        if (!e->markers)
            drm_lose(e, b, row);
        return DRM_FLOW_DONE;
    case TROD_THREAD:
        e->exited = e->exited || b->sub[row] == 1;
        return DRM_FLOW_DONE;
    case TROD_NOTE:
        unknown_row(e, b, row, out);
        return DRM_FLOW_DONE;
    default: /* a BRANCH follows from its instruction, if there is one */
        if (!e->markers || kind != TROD_BRANCH)
            drm_lose(e, b, row);
        return DRM_FLOW_DONE;
    }
}

static bool idle(const struct trod_batch *b, uint32_t row)
{
    const struct trod_meta *m = b->meta;

    return b->kind[row] == TROD_MARKER && b->stream[row] < m->n_streams &&
           m->streams[b->stream[row]].tid == TROD_NOWHERE;
}

/* A file holds one thread. */
static void other_thread(struct drm_enc *e, const struct trod_batch *b, uint32_t row)
{
    if (e->native && idle(b, row))
        trod_loss_left(e->loss, b, row);
    else
        trod_loss_row(e->loss, b, row,
                      "it is of another thread, and a file holds one: write to a directory");
}

int drm_encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
               struct trod_diag *diag)
{
    struct drm_enc *e = enc;
    int rc;

    (void)diag;
    if (e->copy && !(in->have & TROD_COL_RAW))
        e->copy = false;
    if (e->copy && ((rc = drm_enc_copy(e, in, row, out)) != TROD_ENC_DONE || e->copy))
        return rc;
    for (; *row < in->n; ++*row) {
        if (in->n - *row >= DRM_PLAIN_LEAST) {
            *row = drm_enc_plain(e, in, *row, out);
            if (*row == in->n)
                break;
        }
        if (out->end - out->p < DRM_ROW_MAX)
            return TROD_ENC_FULL;
        if (*row + DRM_SOON < in->n && in->kind[*row + DRM_SOON] == TROD_INSTR)
            drm_seen_soon(e->side, in->addr[*row + DRM_SOON]);
        if (!e->begun) {
            if (e->native && idle(in, *row)) {
                trod_loss_left(e->loss, in, *row);
                continue;
            }
            drm_enc_describe(e, in, *row);
            drm_put_header(e, out, in->stream[*row]);
        } else if (in->stream[*row] != e->stream) {
            other_thread(e, in, *row);
            continue;
        }
        rc = e->n_kept ? drm_put_kept(e, out) : TROD_OK;
        if (rc == TROD_OK)
            rc = put_row(e, in, *row, out);
        if (rc == DRM_FLOW_PART)
            return TROD_ENC_PART;
        if (rc < 0)
            return rc;
    }
    return TROD_ENC_DONE;
}

/* A marker that is left out: most belong to the structure of the trace and stay. */
static void keep_marker(struct drm_enc *e, unsigned number, uint64_t value)
{
    if (number >= TROD_DRM_FUNC_ID && number <= TROD_DRM_FUNC_RETVAL)
        return;
    if (e->n_kept == DRM_KEPT_MAX) {
        memmove(e->kept, e->kept + 1, (DRM_KEPT_MAX - 1) * sizeof *e->kept);
        e->n_kept--;
    }
    e->kept[e->n_kept].number = number;
    e->kept[e->n_kept++].value = value;
}

void drm_pass(void *enc, const struct trod_batch *b, uint32_t from, uint32_t n)
{
    struct drm_enc *e = enc;

    for (uint32_t i = from; i < from + n && e->native; i++) {
        const uint32_t has = b->have & b->has[i];

        if (b->kind[i] == TROD_INSTR && has & TROD_COL_SUB)
            e->passed += drm_is_instr(b->sub[i]);
        if (b->kind[i] != TROD_MARKER || !(has & TROD_COL_VALUE))
            continue;
        if (!(e->drops & TROD_DROP_SPAN))
            keep_marker(e, b->sub[i], b->value[i]);
        else if (b->sub[i] == TROD_DRM_CPU_ID && !e->begun) {
            e->cpu = b->value[i]; /* where the first row that is kept is */
            e->has_cpu = true;
        }
    }
    if (e->held.any && e->held.type && b->kind[from] <= TROD_FLUSH && b->kind[from] >= TROD_READ &&
        b->have & b->has[from] & TROD_COL_PC && b->pc[from] == e->held.pc)
        e->cut_data = true;
}

int drm_finish(void *enc, struct trod_room *out, struct trod_diag *diag)
{
    struct drm_enc *e = enc;

    (void)diag;
    if (e->copy)
        return TROD_ENC_DONE;
    if (out->end - out->p < DRM_ROW_MAX)
        return TROD_ENC_FULL;
    if (!e->begun) {
        drm_enc_describe(e, NULL, 0);
        drm_put_header(e, out, 0);
    }
    drm_put_kept(e, out);
    drm_flow_end(e, out);
    if (e->new_chunk)
        drm_chunk_begin(e, out);
    drm_put_late(e, out);
    if (!e->has_time)
        drm_put_now(e, out, DRM_EPOCH);
    if (e->ifiltered && !(e->has_count && e->instrs + e->passed == e->counted))
        drm_put_marker(e, out, TROD_DRM_INSTRUCTION_COUNT, e->instrs + e->passed);
    drm_put(e, out, DRM_THREAD_EXIT, 4, e->tid);
    drm_put(e, out, DRM_FOOTER, 0, 0);
    return TROD_ENC_DONE;
}
