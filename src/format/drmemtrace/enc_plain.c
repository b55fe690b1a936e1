/*
 * enc_plain.c - rows that no rule of writing concerns: instructions that go straight on, and their
 * accesses.
 *
 * What drm_flow_instr and access_row do with such rows, and nothing else: where a row needs more
 * than this the loop ends before it, and encode.c goes on.
 */
#include "core/wide.h"
#include "format/drmemtrace/encode.h"

/* What each row changes of the encoder, held here as long as there are such. */
struct plain {
    uint8_t *p;
    uint64_t records, instrs, last_pc, next_pc;
    bool has_last, last_branch;
    bool ran; /* an instruction was put */
};

/* What stays. */
struct fixed {
    struct drm_enc *e;
    struct trod_room *out;
    const struct trod_batch *b;
    struct drm_seen *seen;
    uint32_t mask, epoch, instr, access; /* columns that instructions and accesses must have */
    uint32_t exact; /* bits in which the size of an instruction is that of its encoding */
    uint64_t full;  /* instructions with which the chunk is full */
    bool native, encodings, wide; /* WIDE: entries of 64 bits */
};

/* May there be such rows, as far as the state of E and the columns of B say? */
static bool may_be(const struct drm_enc *e, const struct trod_batch *b, uint32_t needs)
{
    return e->begun && !drm_lose_code(e) && !e->ifiltered && !e->keep_all && !e->new_chunk &&
           !e->n_late && !e->orphans && !e->transfer && !e->n_kept && e->has_time && e->has_cpu &&
           (e->side->seen || !e->encodings) && (b->have & needs) == needs;
}

TROD_HOT struct plain begin(const struct fixed *f)
{
    const struct drm_enc *e = f->e;

    return (struct plain){f->out->p,  e->records,  e->instrs,      e->last_pc,
                          e->next_pc, e->has_last, e->last_branch, false};
}

/* The encoder as it is behind the rows so far. */
TROD_HOT void end(const struct plain *s, const struct fixed *f)
{
    struct drm_enc *e = f->e;

    if (s->records != e->records)
        e->time_state = 0;
    f->out->p = s->p;
    e->records = s->records;
    if (!s->ran)
        return;
    e->instrs = s->instrs;
    e->last_pc = e->pc = s->last_pc;
    e->next_pc = s->next_pc;
    e->has_last = e->has_pc = true;
    e->last_branch = s->last_branch;
}

/* Are the N bytes at A and B the same? N is at least 1 and DRM_CODE_MAX at the most. */
TROD_HOT bool same_code(const uint8_t *a, const uint8_t *b, uint32_t n)
{
    if (n >= 8)
        return trod_load_le64(a) == trod_load_le64(b) &&
               trod_load_le64(a + n - 8) == trod_load_le64(b + n - 8);
    if (n >= 4)
        return trod_load_le32(a) == trod_load_le32(b) &&
               trod_load_le32(a + n - 4) == trod_load_le32(b + n - 4);
    return a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1];
}

/* What is known of the code of ROW, an instruction; NULL where that is not what it was. */
TROD_HOT struct drm_seen *known(const struct fixed *f, uint32_t row)
{
    const struct trod_batch *b = f->b;
    const struct trod_slice code = b->code[row];
    const uint64_t pc = b->addr[row];
    struct drm_seen *s;
    uint32_t at = drm_side_hash(pc);

    for (s = &f->seen[at & f->mask]; s->pc != pc || !s->used; s = &f->seen[++at & f->mask])
        if (!s->used)
            return NULL;
    return code.len && s->len == code.len &&
                   s->iset == (b->flags[row] & TROD_F_ISET) >> TROD_F_ISET_SHIFT &&
                   same_code(s->code, trod_batch_bytes(b, code), code.len)
               ? s
               : NULL;
}

/*
 * The type of ROW, an instruction whose code is SEEN (NULL: not written), where what follows it
 * need not be known; else DRM_INVALID.
 */
TROD_HOT unsigned type_of(const struct fixed *f, uint32_t row, const struct drm_seen *seen)
{
    const unsigned type = f->native ? f->b->sub[row] : DRM_INSTR;
    const struct drm_type_info *info = drm_type_info(type);

    if (!f->native)
        return seen->known && seen->branch == TROD_BR_NONE &&
                       !(f->b->flags[row] & (TROD_F_NOFETCH | TROD_F_BRANCH))
                   ? DRM_INSTR
                   : DRM_INVALID;
    return info->class == DRM_C_INSTR && (f->e->version < DRM_VERSION_BRANCH_INFO ||
                                          (type != DRM_CONDITIONAL_JUMP && !info->indirect))
               ? drm_old_type(f->e, type)
               : DRM_INVALID;
}

/* Is the time of ROW, an instruction behind INSTRS others, to be written before it? */
TROD_HOT bool time_due(const struct fixed *f, uint32_t row, uint64_t instrs)
{
    const struct drm_enc *e = f->e;

    if (f->native)
        return f->b->have & f->b->has[row] & TROD_COL_TIME && drm_time_on(e, f->b->time[row]);
    return instrs - e->time_at >= DRM_TIME_EVERY && drm_time_on(e, drm_enc_time(e, f->b, row));
}

/* Does an entry hold address V as a reader takes it? */
TROD_HOT bool fits(const struct fixed *f, uint64_t v)
{
    return f->native && f->wide ? true : drm_fits(f->e, v);
}

TROD_HOT void put(const struct fixed *f, struct plain *s, unsigned type, uint32_t size,
                  uint64_t addr)
{
    trod_store_le32(s->p, type | size << 16);
    if (f->wide) {
        trod_store_le64(s->p + 4, addr);
        s->p += DRM_ENTRY_64;
    } else {
        trod_store_le32(s->p + 4, (uint32_t)addr);
        s->p += DRM_ENTRY_32;
    }
    s->records++;
}

/* The access that waits for the next one goes where it belongs. No branch is held. */
TROD_HOT void put_pending(const struct fixed *f, struct plain *s)
{
    struct drm_enc *e = f->e;

    if (e->pending && e->pending_size > UINT16_MAX) { /* it may become two entries */
        end(s, f);
        drm_put_pending(e, f->out);
        *s = begin(f);
    } else if (e->pending) {
        put(f, s, e->pending_type, e->pending_size, e->pending_addr);
    }
    e->pending = false;
}

/* What waits for the instruction at PC goes before it. */
static void release(const struct fixed *f, struct plain *s, uint64_t pc)
{
    end(s, f);
    drm_flow_pending(f->e, f->out);
    drm_flow_settle(f->e, f->out, true, pc);
    *s = begin(f);
}

/* SEEN has not been written in its chunk. */
static void put_encoding(const struct fixed *f, struct plain *s, struct drm_seen *seen)
{
    end(s, f);
    drm_put_encoding(f->e, f->out, seen);
    s->p = f->out->p;
}

/* Does ROW, an instruction of another source, say what the next one, or nothing, shows? */
TROD_HOT bool says_more(const struct fixed *f, uint32_t row)
{
    const struct trod_batch *b = f->b;
    const uint32_t has = b->have & b->has[row];

    return has & TROD_COL_TARGET || (has & TROD_COL_PC && b->pc[row] != b->addr[row]);
}

/* ROW, an instruction. False: it needs more. */
TROD_HOT bool put_instr(const struct fixed *f, struct plain *s, uint32_t row)
{
    const struct trod_batch *b = f->b;
    const uint64_t pc = b->addr[row];
    const uint32_t size = b->size[row];
    struct drm_seen *seen = NULL;
    unsigned type;

    if ((b->has[row] & f->instr) != f->instr || b->flags[row] & TROD_F_ABORTED ||
        size - 1 >= UINT16_MAX || !fits(f, pc) || (f->encodings && !(seen = known(f, row))) ||
        (f->encodings && (b->code[row].len ^ size) & f->exact) ||
        (type = type_of(f, row, seen)) == DRM_INVALID ||
        (!f->native && (f->e->aims.waiting || says_more(f, row))))
        return false;
    if (f->e->held.any)
        release(f, s, pc);
    put_pending(f, s);
    if (s->instrs >= f->full || (!f->native && s->has_last && pc != s->next_pc) ||
        time_due(f, row, s->instrs))
        return false;
    if (seen && seen->epoch != f->epoch)
        put_encoding(f, s, seen);
    put(f, s, type, size, pc);
    s->instrs += drm_is_instr(type);
    s->last_pc = pc;
    s->next_pc = pc + size;
    s->has_last = s->ran = true;
    s->last_branch = drm_turns(type);
    return true;
}

/* ROW, a read or a write. False: it needs more. */
TROD_HOT bool put_access(const struct fixed *f, struct plain *s, uint32_t row)
{
    const struct trod_batch *b = f->b;
    const unsigned type = f->native                    ? b->sub[row]
                          : b->kind[row] == TROD_WRITE ? DRM_WRITE
                                                       : DRM_READ;

    if (f->e->held.any || (b->has[row] & f->access) != f->access ||
        b->flags[row] & (TROD_F_IO | TROD_F_ABORTED) || b->size[row] - 1 >= UINT16_MAX ||
        !fits(f, b->addr[row]))
        return false;
    if (!f->native && (b->pc[row] != s->last_pc || !s->ran) && b->have & b->has[row] & TROD_COL_PC)
        return false; /* to a reader it may be of another instruction */
    if (!f->e->merge) {
        put(f, s, type, b->size[row], b->addr[row]);
    } else if (!drm_merges(f->e, type, b->size[row], b->addr[row])) {
        put_pending(f, s);
        drm_pend(f->e, type, b->size[row], b->addr[row]);
    }
    return true;
}

/* NATIVE, ENCODINGS, WIDE: those of F, constants here. */
TROD_HOT uint32_t rows(struct fixed f, uint32_t row, const bool native, const bool encodings,
                       const bool wide)
{
    const struct trod_batch *b = f.b;
    const uint8_t *const kind = b->kind, *const most = f.out->end - DRM_ROW_MAX;
    const uint32_t stream = f.e->stream, n = b->n;
    struct plain s = begin(&f);
    bool done = true;

    f.native = native;
    f.encodings = encodings;
    f.wide = wide;
    while (done && row < n && s.p <= most && b->stream[row] == stream) {
        if (encodings && row + DRM_SOON < n && kind[row + DRM_SOON] == TROD_INSTR)
            __builtin_prefetch(&f.seen[drm_side_hash(b->addr[row + DRM_SOON]) & f.mask], 1);
        if (kind[row] == TROD_INSTR)
            done = put_instr(&f, &s, row);
        else
            done = (kind[row] == TROD_READ || kind[row] == TROD_WRITE) && put_access(&f, &s, row);
        row += done;
    }
    end(&s, &f);
    return row;
}

uint32_t drm_enc_plain(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                       struct trod_room *out)
{
    const uint32_t access =
        TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_FLAGS | (e->native ? TROD_COL_SUB : 0u);
    const uint32_t instr = access | (e->encodings ? TROD_COL_CODE : 0u);
    const struct fixed f = {
        .e = e,
        .out = out,
        .b = b,
        .seen = e->side->seen,
        .mask = e->side->mask,
        .epoch = e->side->epoch,
        .instr = instr,
        .access = access,
        .exact = drm_code_sized(e) ? UINT32_MAX : 0,
        .full = e->parts && e->chunk_size ? e->chunk_base + e->chunk_size : UINT64_MAX,
    };

    if (!may_be(e, b, instr) || out->end - out->p < DRM_ROW_MAX)
        return row;
    if (e->width != DRM_ENTRY_64)
        return rows(f, row, e->native, e->encodings, false);
    if (!e->native)
        return rows(f, row, false, true, true);
    return e->encodings ? rows(f, row, true, true, true) : rows(f, row, true, false, true);
}
