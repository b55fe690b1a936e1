/*
 * raw_copy.c - writes the final trace that is made of a raw file directly, without rows.
 *
 * Implements the copy callback of struct trod_format after docs/formats/drmemtrace-raw.md and
 * drmemtrace-writing.md, "Chunks": an archive is cut before the first instruction that a chunk has
 * no room for, and each chunk has the encodings of its instructions. The translator learns when to
 * write encodings anew; for entries that it had made before, they are put in here.
 */
#include "format/drmemtrace/encode.h"
#include "format/drmemtrace/raw_int.h"
#include "trod/io.h"

#include <string.h>

enum { NO_ROW = -1, SLACK = 1 << 12 };

struct copying {
    struct drm_enc *e;
    struct raw *c;
    struct trod_copy *to;
    struct trod_diag *diag;
    uint64_t careful; /* bytes that may lack encodings which their chunk has not */
};

/* The kind of the row that an entry gives; NO_ROW: it belongs to another one. Not for markers. */
static int kind_of(unsigned type, bool sized)
{
    const struct drm_type_info *info = drm_type_info(type);

    if (info->class == DRM_C_DATA || type == DRM_THREAD_EXIT)
        return info->kind;
    if (info->class == DRM_C_INSTR || type == DRM_INSTR_FLUSH || type == DRM_DATA_FLUSH)
        return sized ? info->kind : NO_ROW;
    return type == DRM_INSTR_FLUSH_END || type == DRM_DATA_FLUSH_END ? TROD_FLUSH : NO_ROW;
}

static uint64_t value_at(const struct copying *y, const uint8_t *p)
{
    return y->e->width == DRM_ENTRY_64 ? trod_load_le64(p + 4) : trod_load_le32(p + 4);
}

enum { SIZELESS = 64, TALLIES = 2 * SIZELESS };

static uint64_t instructions(const uint32_t *tally)
{
    uint64_t n = 0;

    for (unsigned type = 0; tally && type < SIZELESS; type++)
        n += drm_is_instr(type) ? tally[type] : 0;
    return n;
}

/* Count the marker at P, behind TALLY entries (NULL: none) that the encoder has not counted yet. */
static int see_marker(struct copying *y, const uint8_t *p, const uint32_t *tally)
{
    const unsigned number = trod_load_le16(p + 2);
    struct drm_enc *e = y->e;

    if (number == TROD_DRM_BRANCH_TARGET)
        return TROD_OK;
    y->to->rows[TROD_MARKER]++;
    e->records++;
    if (number == TROD_DRM_TIMESTAMP) {
        e->time = value_at(y, p);
        e->has_time = true;
    } else if (number == TROD_DRM_CPU_ID) {
        const struct drm_schedule entry = {y->c->tid, e->time, value_at(y, p),
                                           e->instrs + instructions(tally)};

        e->cpu = entry.cpu;
        e->has_cpu = true;
        return drm_schedule_add(e->side, &entry);
    }
    return TROD_OK;
}

/* --- entries as they are: counted --- */

/*
 * Count the entries of WIDTH bytes from P on by type and by whether they have a size, until a
 * marker comes, or END. Returns where.
 */
static inline const uint8_t *tally_entries(const uint8_t *p, const uint8_t *end, unsigned width,
                                           uint32_t tally[static TALLIES])
{
    for (; p < end; p += width) {
        const uint32_t key = trod_load_le32(p);

        if ((uint16_t)key == DRM_MARKER)
            break;
        if (key <= UINT16_MAX) /* nearly never */
            tally[SIZELESS + (key & (SIZELESS - 1))]++;
        else
            tally[key & (SIZELESS - 1)]++;
    }
    return p;
}

/* Count the N bytes of whole entries at P. *ENCODINGS: there are some. Returns 0 or an error. */
static int count(struct copying *y, const uint8_t *p, size_t n, bool *encodings)
{
    const unsigned width = y->e->width;
    const uint8_t *const end = p + n;
    uint32_t tally[TALLIES] = {0};
    int rc = TROD_OK;

    while (rc == TROD_OK) {
        p = width == DRM_ENTRY_64 ? tally_entries(p, end, DRM_ENTRY_64, tally)
                                  : tally_entries(p, end, DRM_ENTRY_32, tally);
        if (p >= end)
            break;
        rc = see_marker(y, p, tally);
        p += width;
    }
    for (unsigned i = 0; i < TALLIES; i++) {
        const int kind = kind_of(i % SIZELESS, i < SIZELESS);

        if (kind == NO_ROW)
            continue;
        y->to->rows[kind] += tally[i];
        y->e->records += tally[i];
    }
    y->e->instrs += instructions(tally);
    *encodings = tally[DRM_ENCODING] != 0;
    return rc;
}

/* --- entries of chunks --- */

/* The encoding that stands before an instruction. */
struct code {
    uint8_t bytes[DRM_CODE_MAX];
    unsigned n, entries;
};

static void add_code(struct code *code, const uint8_t *p)
{
    const unsigned size = trod_load_le16(p + 2), room = DRM_CODE_MAX - code->n;
    const unsigned n = size < room ? size : room;

    memcpy(code->bytes + code->n, p + 4, n);
    code->n += n;
    code->entries++;
}

static void keep_code(struct drm_enc *e, struct drm_seen *s, const struct code *code)
{
    memcpy(s->code, code->bytes, code->n);
    s->len = (uint8_t)code->n;
    s->epoch = e->side->epoch;
    s->added = false;
}

/* Remember the encodings in the N bytes at P. Returns 0 or TROD_ERR_NOMEM. */
static int learn(struct copying *y, const uint8_t *p, size_t n)
{
    const unsigned width = y->e->width;
    struct code code = {.n = 0};

    for (const uint8_t *const end = p + n; p < end; p += width) {
        const unsigned type = trod_load_le16(p);

        if (type == DRM_ENCODING) {
            add_code(&code, p);
        } else if (drm_type_info(type)->class == DRM_C_INSTR && code.n) {
            struct drm_seen *s = drm_seen_at(y->e->side, value_at(y, p));

            if (!s)
                return TROD_ERR_NOMEM;
            keep_code(y->e, s, &code);
            code.n = code.entries = 0;
        }
    }
    return TROD_OK;
}

static int put(struct copying *y, const uint8_t *from, const uint8_t *to)
{
    return from < to ? trod_output_write(y->to->out, from, (size_t)(to - from)) : TROD_OK;
}

/* End the chunk and begin the next one. REST: bytes already made that follow. */
static int cut(struct copying *y, size_t rest)
{
    struct drm_enc *e = y->e;
    struct trod_room room;
    uint8_t *from;
    int rc = trod_output_room(y->to->out, DRM_ROW_MAX, &room);

    if (rc < 0)
        return rc;
    from = room.p;
    drm_chunk_end(e, &room);
    trod_output_advance(y->to->out, (size_t)(room.p - from));
    if ((rc = y->to->part(y->to->user)) < 0 ||
        (rc = trod_output_room(y->to->out, DRM_ROW_MAX, &room)) < 0)
        return rc;
    from = room.p;
    drm_chunk_begin(e, &room);
    trod_output_advance(y->to->out, (size_t)(room.p - from));
    raw_sites_anew(y->c->blocks);
    /* entries that wait come before those made from now on */
    y->careful = rest + y->c->held.n + y->c->rseq.buf.n + SLACK;
    return TROD_OK;
}

static int put_encoding(struct copying *y, struct drm_seen *s)
{
    struct trod_room room;
    const uint8_t *from;
    int rc = trod_output_room(y->to->out, DRM_ROW_MAX, &room);

    if (rc < 0)
        return rc;
    from = room.p;
    drm_put_encoding(y->e, &room, s);
    trod_output_advance(y->to->out, (size_t)(room.p - from));
    s->added = true;
    return TROD_OK;
}

/*
 * The instruction at P, whose own entries begin at FIRST and whose encoding is CODE; END is the end
 * of the entries made. Those before *START are written; it is moved on.
 */
static int chunk_insn(struct copying *y, const uint8_t **start, const uint8_t *first,
                      const uint8_t *p, const uint8_t *end, const struct code *code)
{
    struct drm_enc *e = y->e;
    struct drm_seen *s = drm_seen_at(e->side, value_at(y, p));
    int rc = s ? TROD_OK : TROD_ERR_NOMEM;

    if (rc == TROD_OK && drm_chunk_full(e)) {
        rc = put(y, *start, first);
        *start = first;
        if (rc == TROD_OK)
            rc = cut(y, (size_t)(end - first));
    }
    if (rc < 0)
        return rc;
    if (code->n && s->added && s->epoch == e->side->epoch && s->len == code->n &&
        memcmp(s->code, code->bytes, code->n) == 0) {
        /* it came earlier, from here */
        rc = put(y, *start, first);
        *start = first + (size_t)code->entries * e->width;
        s->added = false;
    } else if (code->n) {
        keep_code(e, s, code);
    } else if (s->len && s->epoch != e->side->epoch) {
        rc = put(y, *start, first);
        *start = first;
        if (rc == TROD_OK)
            rc = put_encoding(y, s);
    }
    e->instrs += drm_is_instr(trod_load_le16(p));
    return rc;
}

/* Write the N bytes of whole entries at P, which may have to be cut or lack encodings. */
static int put_with_care(struct copying *y, const uint8_t *p, size_t n)
{
    const uint8_t *const end = p + n, *start = p, *first = NULL;
    const unsigned width = y->e->width;
    struct code code = {.n = 0};
    int rc = TROD_OK;

    for (; p < end && rc == TROD_OK; p += width) {
        const unsigned type = trod_load_le16(p), size = trod_load_le16(p + 2);
        int kind;

        if (type == DRM_ENCODING || (type == DRM_MARKER && size == TROD_DRM_BRANCH_TARGET)) {
            first = first ? first : p;
            if (type == DRM_ENCODING)
                add_code(&code, p);
            continue;
        }
        kind = kind_of(type, size != 0);
        if (kind == TROD_INSTR)
            rc = chunk_insn(y, &start, first ? first : p, p, end, &code);
        if (type == DRM_MARKER && rc == TROD_OK)
            rc = see_marker(y, p, NULL);
        if (kind != NO_ROW) {
            y->to->rows[kind]++;
            y->e->records++;
        }
        first = NULL;
        code.n = code.entries = 0;
    }
    y->careful = y->careful > n ? y->careful - n : 0;
    return rc == TROD_OK ? put(y, start, end) : rc;
}

/* --- */

/* Write what C has made, N bytes of whole entries at P. */
static int put_piece(struct copying *y, const uint8_t *p, size_t n)
{
    const struct drm_enc *e = y->e;
    bool encodings;
    int rc;

    if (e->parts && (y->careful || e->instrs - e->chunk_base + n / e->width >= e->chunk_size))
        return put_with_care(y, p, n);
    rc = count(y, p, n, &encodings);
    if (rc == TROD_OK && encodings && e->parts)
        rc = learn(y, p, n);
    return rc == TROD_OK ? put(y, p, p + n) : rc;
}

/* The header says how many instructions a chunk has: as many as were asked for. */
static void set_chunk_size(struct copying *y, uint8_t *p, size_t n)
{
    struct drm_enc *e = y->e;

    for (size_t i = 0; i + e->width <= n && i < (size_t)16 * e->width; i += e->width)
        if (trod_load_le16(p + i) == DRM_MARKER &&
            trod_load_le16(p + i + 2) == TROD_DRM_CHUNK_INSTR_COUNT) {
            if (e->width == DRM_ENTRY_64)
                trod_store_le64(p + i + 4, e->chunk_size);
            else
                trod_store_le32(p + i + 4, (uint32_t)e->chunk_size);
        }
}

/* Write what was made when the trace was opened: the beginning in IN, and the rest that C holds. */
static int put_begun(struct copying *y, struct trod_input *in)
{
    struct trod_buf begun = {0};
    struct raw *c = y->c;
    int rc = TROD_OK;

    while (rc == TROD_OK && begun.n < c->handed) {
        struct trod_span span;

        rc = trod_input_ahead(in, 1, &span);
        if (rc == TROD_OK && span.n == 0)
            break;
        if (rc == TROD_OK)
            rc = trod_buf_add(&begun, span.p, span.n);
        if (rc == TROD_OK)
            trod_input_consume(in, span.n);
    }
    if (rc == TROD_OK)
        rc = trod_buf_add(&begun, c->out.p + c->given, c->out.n - c->given);
    c->given = c->out.n;
    if (rc == TROD_OK && begun.n) {
        y->e->width = c->width;
        set_chunk_size(y, begun.p, begun.n);
        rc = put_piece(y, begun.p, begun.n);
    }
    trod_buf_fini(&begun);
    if (rc == TROD_OK && c->ended) /* there may have been an error */
        rc = trod_input_end(in);
    return rc;
}

int drm_copy(void *enc, struct trod_input *in, struct trod_copy *copy, struct trod_diag *diag)
{
    struct drm_enc *e = enc;
    struct raw *c = raw_of(in);
    struct copying y = {.e = e, .c = c, .to = copy, .diag = diag};
    struct trod_fault fault = {.status = TROD_OK};
    int rc;

    if (!c || c->width == 0 || e->drops || e->opt->version || e->opt->entry || e->opt->encodings)
        return 1;
    if (!copy)
        return TROD_OK;
    e->parts = copy->part != NULL;
    e->chunk_size = e->opt->chunk ? e->opt->chunk : DRM_CHUNK_DEFAULT;
    e->copy = true; /* nothing is left to be written at the end */
    rc = put_begun(&y, in);
    while (rc == TROD_OK && !c->ended) {
        const int status = raw_make(c, &fault);

        rc = put_piece(&y, c->out.p, c->out.n);
        c->given = c->out.n;
        if (status < 0 && rc == TROD_OK)
            rc = trod_fault_report(&fault, diag, c->path, TROD_NOWHERE);
        if (copy->tick)
            copy->tick(copy->user, trod_input_file_offset(c->in));
    }
    return rc;
}
