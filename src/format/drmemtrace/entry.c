/*
 * entry.c - one entry of a drmemtrace trace, with all that it changes.
 *
 * Implements docs/formats/drmemtrace.md, "The reader's state". The hot loop of decode.c deals with
 * plain data and instruction records; everything else comes here.
 */
#include "core/endian.h"
#include "format/drmemtrace/assumed.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    COMMON = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_SUB | TROD_COL_INDEX |
             TROD_COL_RAW | TROD_COL_TIME,
    ACCESS = COMMON | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC
};

/* A row as it is put together; absent columns are not in has. */
struct row {
    const uint8_t *from, *to; /* its entries */
    uint8_t kind;
    uint16_t sub;
    uint32_t has, flags, size;
    uint64_t addr, target, value;
    struct trod_slice code, text;
};

static bool is_kernel(const struct drm_dec *d)
{
    return d->in_syscall || d->in_switch || d->depth;
}

int drm_switch(struct drm_dec *d, uint64_t tid)
{
    int i = drm_side_thread(d->side, tid);

    if (i < 0)
        return i;
    d->thread = (uint32_t)i;
    return TROD_OK;
}

/* Each file has one of its own: where files are cores it tells which of them was idle. */
static int idle_stream(const struct drm_dec *d)
{
    char name[24];
    const int n = d->file ? snprintf(name, sizeof name, "idle.%" PRIu32, d->file)
                          : snprintf(name, sizeof name, "idle");

    return trod_meta_stream(d->meta, name, (size_t)n);
}

int drm_stream(struct drm_call *c)
{
    struct drm_thread *t = &c->d->side->thread[c->d->thread];

    if (t->stream < 0) {
        struct trod_meta *m = c->d->meta;

        t->stream =
            t->tid == TROD_NOWHERE
                ? idle_stream(c->d)
                : trod_meta_thread(m, t->tid, t->has_pid ? t->pid : TROD_NOWHERE, c->d->file);
        if (t->stream < 0)
            return trod_error(c->diag, t->stream, "drmemtrace.threads", NULL,
                              "thread %" PRIu64 " cannot be kept: too many threads", t->tid);
    }
    return t->stream;
}

static uint64_t canonical(const struct drm_dec *d, uint64_t addr)
{
    uint64_t sign = UINT64_C(1) << (63 - d->shift);
    uint64_t low = (sign << 1) - 1;

    return d->shift == 0 ? addr : ((addr & low) ^ sign) - sign;
}

/* Append ROW; room for it has been seen to. Returns DRM_ROW or an error. */
static int add(struct drm_call *c, const struct row *r)
{
    struct drm_dec *d = c->d;
    struct trod_batch *out = c->out;
    uint32_t n = out->n;
    uint32_t has = r->has;
    int stream = drm_stream(c);

    if (stream < 0)
        return stream;
    if (!d->time_known)
        has &= ~(uint32_t)TROD_COL_TIME;
    if (!d->pc_known)
        has &= ~(uint32_t)TROD_COL_PC;
    out->has[n] = has & out->have;
    out->kind[n] = r->kind;
    out->flags[n] = r->flags | (is_kernel(d) ? TROD_F_KERNEL : 0);
    out->size[n] = r->size;
    out->stream[n] = (uint32_t)stream;
    out->time[n] = d->time;
    out->index[n] = d->instrs;
    out->addr[n] = r->addr;
    out->pc[n] = d->pc;
    out->target[n] = r->target;
    out->value[n] = r->value;
    out->sub[n] = r->sub;
    out->code[n] = r->code;
    out->text[n] = r->text;
    out->raw[n] = (struct trod_slice){(uint32_t)(r->from - c->base), (uint32_t)(r->to - r->from)};
    out->n = n + 1;
    d->records++;
    return DRM_ROW;
}

int drm_note(struct drm_call *c, const uint8_t *from, const uint8_t *to, enum drm_note what)
{
    const uint8_t *p = to - c->d->width; /* the entry that tells what it is */
    struct row r = {.from = from,
                    .to = to,
                    .kind = TROD_NOTE,
                    .has = COMMON | TROD_COL_TEXT | TROD_COL_SIZE,
                    .text = c->d->side->note_text[what],
                    .size = (uint32_t)(to - from)};

    if (what == DRM_NOTE_UNKNOWN) {
        r.has |= TROD_COL_VALUE;
        r.sub = trod_load_le16(p);
        r.size = trod_load_le16(p + 2);
        r.value = c->d->width == DRM_ENTRY_64 ? trod_load_le64(p + 4) : trod_load_le32(p + 4);
    }
    return add(c, &r);
}

/* The pending encoding belongs to the instruction at PC. */
static int learn(struct drm_call *c, const uint8_t *p, uint64_t pc, uint32_t size,
                 struct trod_slice *out)
{
    struct drm_dec *d = c->d;
    const struct trod_place at = drm_place(c, p);
    const uint32_t n = d->code_n;
    uint8_t code[DRM_SLOT] = {0};
    int rc;

    memcpy(code, d->code, n);
    rc = drm_side_learn(d->side, pc, code, n, out);

    d->code_n = 0;
    if (rc < 0)
        return trod_error(c->diag, rc, "drmemtrace.encodings", &at,
                          "encodings cannot be kept: too many instructions");
    if (n != size && !(d->filetype & TROD_DRM_REGDEPS))
        trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.encoding-length", &at,
                   "encoding of %u bytes belongs to an instruction of %u bytes", n, size);
    return TROD_OK;
}

/* The cached encoding of an instruction that comes without one. */
static struct trod_slice known(struct drm_call *c, const uint8_t *p, uint64_t pc)
{
    struct drm_dec *d = c->d;
    struct trod_slice code = drm_side_code(d->side, pc);

    if (code.len)
        return code;
    if (!d->side->assumed)
        drm_missing(c, p, c->out->n, pc);
    else if (d->filetype & TROD_DRM_ENCODINGS && !drm_side_recall(d->side, pc) &&
             drm_assume_code(c, p, pc))
        code = drm_side_code(d->side, pc);
    return code;
}

uint32_t drm_code_flags(const struct drm_call *c, struct trod_slice code, uint32_t type_flags)
{
    const uint8_t *p = c->d->side->shared + (code.off & ~(uint32_t)TROD_SLICE_SHARED);

    if (type_flags & TROD_F_BRANCH)
        return 0;
    return drm_is_syscall(c->d->meta->isa, p, code.len) ? TROD_BR_SYSCALL : 0;
}

void drm_missing(struct drm_call *c, const uint8_t *p, uint32_t n, uint64_t pc)
{
    struct trod_place at;

    c->d->side->source = 0;
    if ((c->d->filetype & (TROD_DRM_ENCODINGS | TROD_DRM_CORE_SHARDED)) != TROD_DRM_ENCODINGS)
        return;
    at = drm_place(c, p);
    at.record += n - c->out->n;
    c->lacking++;
    trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.no-encoding", &at,
               "encoding of the instruction at 0x%" PRIx64 " never came", pc);
}

/* An instruction record of TYPE, which is_instr or NO_FETCH, with a size. */
static int instruction(struct drm_call *c, const uint8_t *tile, const uint8_t *p, unsigned type,
                       uint32_t size, uint64_t addr)
{
    const struct drm_type_info *info = drm_type_info(type);
    struct drm_dec *d = c->d;
    struct row r = {.from = tile,
                    .to = p + d->width,
                    .kind = TROD_INSTR,
                    .sub = (uint16_t)type,
                    .has = ACCESS,
                    .flags = info->flags,
                    .size = size,
                    .addr = addr};
    int rc;

    d->pc = addr;
    d->pc_known = true;
    d->next_pc = addr + size;
    d->instrs += info->counts;
    if (d->code_n) {
        if ((rc = learn(c, p, addr, size, &r.code)) < 0)
            return rc;
        r.flags |= TROD_F_NEWCODE;
        d->side->vague |= (info->flags & TROD_F_NOFETCH) != 0;
        if (drm_code_flags(c, r.code, 0))
            drm_side_call(d->side, addr);
    } else {
        r.code = known(c, p, addr);
    }
    if (r.code.len) {
        r.has |= TROD_COL_CODE;
        r.flags |= drm_code_flags(c, r.code, r.flags);
    }
    if (info->indirect && d->has_target) {
        r.has |= TROD_COL_TARGET;
        r.target = d->target;
        d->has_target = false;
    }
    d->last_type = (uint16_t)type;
    d->last_flags = r.flags;
    d->last_target = r.target;
    d->last_pc = addr;
    d->last_has = r.has;
    return add(c, &r);
}

/*
 * A bundle: further instructions behind the last one, their number and a length each. They have
 * everything of the last one but address and length.
 */
static int bundle(struct drm_call *c, const uint8_t *tile, const uint8_t *p, uint32_t count)
{
    struct drm_dec *d = c->d;
    const struct trod_place at = drm_place(c, p);
    uint32_t room = d->width - 4u;
    struct trod_slice code = {0, 0};
    int rc;

    if (!d->pc_known || d->next_pc == 0 || count == 0 || count > room) {
        trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.bundle", &at,
                   "bundle of %u instructions: %s", count,
                   count == 0     ? "there must be one"
                   : count > room ? "an entry has no room for their lengths"
                                  : "there is no instruction before it");
        return drm_note(c, tile, p + d->width, DRM_NOTE_UNKNOWN);
    }
    if (c->out->have & TROD_COL_CODE)
        code = drm_side_code(d->side, d->last_pc);
    d->side->source = 0; /* nothing says which of them are new */
    for (uint32_t i = 0; i < count; i++) {
        struct row r = {.from = i ? p + d->width : tile,
                        .to = p + d->width,
                        .kind = TROD_INSTR,
                        .sub = d->last_type,
                        .has = d->last_has & ~(uint32_t)(i ? TROD_COL_RAW : 0),
                        .flags = d->last_flags | (i ? TROD_F_CONT : 0),
                        .size = p[4 + i],
                        .addr = d->next_pc,
                        .target = d->last_target,
                        .code = code};

        d->pc = d->next_pc;
        d->next_pc += r.size;
        d->instrs++;
        if ((rc = add(c, &r)) < 0)
            return rc;
    }
    return DRM_ROW;
}

/* A flush: with its size, or as a range whose exclusive end follows. */
static int flush(struct drm_call *c, const uint8_t *tile, const uint8_t *p, unsigned type,
                 uint32_t size, uint64_t addr)
{
    struct drm_dec *d = c->d;
    bool end = type == DRM_INSTR_FLUSH_END || type == DRM_DATA_FLUSH_END;
    struct row r = {.from = tile,
                    .to = p + d->width,
                    .kind = TROD_FLUSH,
                    .sub = (uint16_t)(end ? type - 1 : type),
                    .has = ACCESS,
                    .flags = drm_type_info(type)->flags,
                    .size = size,
                    .addr = addr};

    if (!end && size == 0) {
        d->flush_addr = addr;
        d->flush_type = (uint8_t)type;
        return DRM_HIDDEN;
    }
    if (end && (d->flush_type != type - 1 || addr - d->flush_addr > UINT32_MAX)) {
        const struct trod_place at = drm_place(c, p);

        trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.flush-range", &at,
                   "end of a flush at 0x%" PRIx64 " has no beginning", addr);
        d->flush_type = 0;
        return drm_note(c, tile, p + d->width, DRM_NOTE_UNKNOWN);
    }
    if (end) {
        r.addr = d->flush_addr;
        r.size = (uint32_t)(addr - d->flush_addr);
        d->flush_type = 0;
    }
    return add(c, &r);
}

static int encoding(struct drm_call *c, const uint8_t *p, uint32_t size)
{
    struct drm_dec *d = c->d;
    uint32_t room = d->width - 4u;

    if (size > room || d->code_n + size > DRM_CODE_MAX) {
        const struct trod_place at = drm_place(c, p);

        trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.encoding-length", &at,
                   "encoding has more than %u bytes", size > room ? room : (unsigned)DRM_CODE_MAX);
        size = size > room ? room : size;
        if (d->code_n + size > DRM_CODE_MAX)
            size = DRM_CODE_MAX - d->code_n;
    }
    memcpy(d->code + d->code_n, p + 4, size);
    d->code_n = (uint8_t)(d->code_n + size);
    return DRM_HIDDEN;
}

/* THREAD, PID, HEADER and FOOTER change the state of the reader and give no rows. */
static int structure(struct drm_call *c, const uint8_t *p, unsigned type, uint64_t addr)
{
    struct drm_dec *d = c->d;
    struct drm_thread *t;

    if (d->width == DRM_ENTRY_32 && addr == UINT32_MAX)
        addr = TROD_NOWHERE;
    if (type == DRM_THREAD) {
        int rc = drm_switch(d, addr);

        if (rc < 0) {
            const struct trod_place at = drm_place(c, p);

            return trod_error(c->diag, rc, "drmemtrace.threads", &at,
                              "thread %" PRIu64 " cannot be kept: too many threads", addr);
        }
    } else if (type == DRM_PID) {
        t = &d->side->thread[d->thread];
        if (!t->has_pid || t->pid != addr)
            t->stream = -1;
        t->pid = addr;
        t->has_pid = true;
    }
    return DRM_HIDDEN;
}

static int thread_exit(struct drm_call *c, const uint8_t *tile, const uint8_t *p, uint64_t thread)
{
    const int rc = drm_switch(c->d, thread);
    const struct row r = {.from = tile,
                          .to = p + c->d->width,
                          .kind = TROD_THREAD,
                          .sub = 1,
                          .has = COMMON | TROD_COL_VALUE,
                          .value = thread};

    return rc < 0 ? rc : add(c, &r);
}

int drm_entry(struct drm_call *c, const uint8_t *tile, const uint8_t *p)
{
    struct drm_dec *d = c->d;
    unsigned type = trod_load_le16(p);
    uint32_t size = trod_load_le16(p + 2);
    uint64_t addr = d->width == DRM_ENTRY_64 ? trod_load_le64(p + 4) : trod_load_le32(p + 4);
    const struct drm_type_info *info = drm_type_info(type);

    if (type == DRM_MARKER)
        return drm_marker(c, tile, p, size, addr);
    if (type == DRM_ENCODING)
        return encoding(c, p, size);
    if (type >= DRM_THREAD && type <= DRM_FOOTER && type != DRM_THREAD_EXIT)
        return structure(c, p, type, addr);
    if (type == DRM_BUNDLE)
        return bundle(c, tile, p, size);
    if (type != DRM_THREAD_EXIT)
        addr = canonical(d, addr);
    if (type == DRM_MAYBE_FETCH) {
        type = d->pc_known && addr == d->pc ? DRM_NO_FETCH : DRM_INSTR;
        info = drm_type_info(type);
    }
    if (info->class == DRM_C_INSTR) {
        if (size)
            return instruction(c, tile, p, type, size, addr);
        d->pc = addr;
        d->pc_known = true;
        return DRM_HIDDEN;
    }
    if (type >= DRM_INSTR_FLUSH && type <= DRM_DATA_FLUSH_END)
        return flush(c, tile, p, type, size, addr);
    if (type == DRM_THREAD_EXIT)
        return thread_exit(c, tile, p, addr);
    if (info->class == DRM_C_DATA) {
        const struct row r = {.from = tile,
                              .to = p + d->width,
                              .kind = info->kind,
                              .sub = (uint16_t)type,
                              .has = ACCESS,
                              .flags = info->flags,
                              .size = size,
                              .addr = addr};

        return add(c, &r);
    }
    {
        const struct trod_place at = drm_place(c, p);

        trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.unknown-type", &at,
                   "record has the unknown type %u", type);
    }
    return drm_note(c, tile, p + d->width, DRM_NOTE_UNKNOWN);
}

/* --- markers --- */

/* Numbers that describe the trace. False when MARKER is none of them. */
static bool describe(struct drm_call *c, const uint8_t *p, unsigned marker, uint64_t value)
{
    struct drm_dec *d = c->d;
    struct trod_meta *m = d->meta;

    switch (marker) {
    case TROD_DRM_VERSION:
        d->version = value;
        m->version = m->version ? m->version : (uint32_t)value;
        return true;
    case TROD_DRM_FILETYPE:
        d->filetype = value;
        drm_filetype(c, value, p);
        return true;
    case TROD_DRM_CACHE_LINE_SIZE:
        m->line_size = m->line_size ? m->line_size : (uint32_t)value;
        return true;
    case TROD_DRM_PAGE_SIZE:
        m->page_size = m->page_size ? m->page_size : (uint32_t)value;
        return true;
    case TROD_DRM_CHUNK_INSTR_COUNT:
        d->chunk_size = value;
        return true;
    default:
        return false;
    }
}

/* Where kernel code begins and ends. The bounds themselves belong to it. */
static void enter_kernel(struct drm_dec *d, unsigned marker)
{
    d->in_syscall = d->in_syscall || marker == TROD_DRM_SYSCALL_TRACE_START;
    d->in_switch = d->in_switch || marker == TROD_DRM_CONTEXT_SWITCH_START;
    d->depth += marker == TROD_DRM_HARDWARE_EVENT && d->depth < UINT32_MAX;
}

static void leave_kernel(struct drm_dec *d, unsigned marker)
{
    if (marker == TROD_DRM_SYSCALL_TRACE_END)
        d->in_syscall = false;
    if (marker == TROD_DRM_CONTEXT_SWITCH_END)
        d->in_switch = false;
    if (marker == TROD_DRM_HARDWARE_RETURN && d->depth)
        d->depth--;
}

/* The end of a chunk: it must be the next one and hold as many instructions as announced. */
static void chunk_end(struct drm_call *c, const uint8_t *p, uint64_t value)
{
    struct drm_dec *d = c->d;
    const struct trod_place at = drm_place(c, p);

    if (value != d->chunks && !(d->headless && d->chunks == 0))
        trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.chunk-order", &at,
                   "chunk %" PRIu64 " ends where chunk %" PRIu64 " should", value, d->chunks);
    if (d->chunk_size && d->instrs - d->chunk_base != d->chunk_size)
        trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.chunk-count", &at,
                   "chunk %" PRIu64 " holds %" PRIu64 " instructions instead of %" PRIu64, value,
                   d->instrs - d->chunk_base, d->chunk_size);
    d->chunks = value + 1;
    d->chunk_base = d->instrs;
    d->side->thread[d->thread].skip = d->chunk_size > 0 || d->headless;
}

/*
 * RECORD_ORDINAL: number of rows before a chunk. The first one behind a jump sets the count. Where
 * the chunk before has no end (it was damaged) the numbers go on with this one.
 */
static void ordinal(struct drm_call *c, const uint8_t *p, uint64_t value)
{
    struct drm_dec *d = c->d;
    const struct trod_place at = drm_place(c, p);

    if (d->chunk_size && d->instrs != d->chunk_base && !d->entered) {
        trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.chunk-end", &at,
                   "chunk %" PRIu64 " has no end: %" PRIu64 " of its %" PRIu64
                   " instructions were read",
                   d->chunks, d->instrs - d->chunk_base, d->chunk_size);
        d->instrs = d->chunk_base += d->chunk_size;
        d->chunks++;
        d->side->thread[d->thread].skip = true;
    } else if (d->records != value && !d->entered) {
        trod_error(c->diag, TROD_ERR_CORRUPT, "drmemtrace.record-ordinal", &at,
                   "record number says %" PRIu64 " after %" PRIu64 " records", value, d->records);
    }
    d->records = value;
    d->entered = d->jumped = false;
}

/* Markers that are no rows. */
static bool hidden(struct drm_call *c, const uint8_t *p, unsigned marker, uint64_t value)
{
    struct drm_dec *d = c->d;
    struct drm_thread *t = &d->side->thread[d->thread];

    switch (marker) {
    case TROD_DRM_BRANCH_TARGET:
        d->target = canonical(d, value);
        d->has_target = true;
        return true;
    case TROD_DRM_RECORD_ORDINAL:
        ordinal(c, p, value);
        return true;
    case TROD_DRM_TIMESTAMP:
        if (t->skip && !d->time_known) {
            d->time = value;
            d->time_known = true;
        }
        return t->skip;
    case TROD_DRM_CPU_ID:
        d->cpu = value;
        if (!t->skip)
            return false;
        t->skip = false;
        return true;
    default:
        return false;
    }
}

int drm_marker(struct drm_call *c, const uint8_t *tile, const uint8_t *p, unsigned marker,
               uint64_t value)
{
    struct drm_dec *d = c->d;
    uint32_t thread = d->thread;
    struct row r = {.from = tile,
                    .to = p + d->width,
                    .kind = TROD_MARKER,
                    .sub = (uint16_t)marker,
                    .has = COMMON | TROD_COL_VALUE,
                    .value = value};
    int rc;

    if (hidden(c, p, marker, value))
        return DRM_HIDDEN;
    d->side->vague |= marker == TROD_DRM_WINDOW_ID;
    if (describe(c, p, marker, value)) {
        /* a row like any other */
    } else if (marker == TROD_DRM_TIMESTAMP) {
        d->time = value;
        d->time_known = true;
    } else if (marker == TROD_DRM_CHUNK_FOOTER) {
        chunk_end(c, p, value);
    } else if (marker == TROD_DRM_CORE_IDLE && (rc = drm_switch(d, TROD_NOWHERE)) < 0) {
        return rc;
    }
    if (drm_marker_is_address(marker))
        r.value = canonical(d, value);
    if (marker < TROD_DRM_MARKERS) {
        r.text = d->side->marker_text[marker];
        r.has |= TROD_COL_TEXT;
    }
    enter_kernel(d, marker);
    rc = add(c, &r);
    leave_kernel(d, marker);
    d->thread = thread;
    return rc;
}
