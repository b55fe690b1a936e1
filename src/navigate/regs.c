/*
 * regs.c - the registers of every stream. Implements regs.h.
 */
#include "navigate/regs.h"

#include "core/endian.h"
#include "core/pack.h"
#include "trod/detail.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 8 * NAV_WIDEST };

void nav_regs_init(struct nav_regs *r, struct nav_names *names)
{
    memset(r, 0, sizeof *r);
    r->names = names;
}

void nav_regs_fini(struct nav_regs *r)
{
    for (uint32_t i = 0; i < r->n_files; i++) {
        struct nav_file *f = r->file[i];

        for (uint32_t k = 0; f && k < f->n; k++)
            free(f->reg[k].bytes);
        if (f)
            free(f->reg);
        free(f);
    }
    free(r->file);
    free(r->spoiled);
    r->spoiled = NULL;
    r->file = NULL;
    r->n_files = 0;
}

struct nav_file *nav_regs_file(struct nav_regs *r, uint32_t stream)
{
    if (stream >= r->n_files) {
        uint32_t n = stream + 8;
        struct nav_file **p = realloc(r->file, n * sizeof *p);

        if (!p)
            return NULL;
        memset(p + r->n_files, 0, (n - r->n_files) * sizeof(*p));
        r->file = p;
        r->n_files = n;
    }
    if (!r->file[stream])
        r->file[stream] = calloc(1, sizeof **r->file);
    return r->file[stream];
}

/* Register ID with room for SIZE bytes. NULL: no memory. */
static struct nav_value *value_of(struct nav_file *f, uint32_t id, uint32_t size)
{
    struct nav_value *v;

    if (id >= f->n) {
        uint32_t n = id + 32;
        struct nav_value *p = realloc(f->reg, n * sizeof *p);

        if (!p)
            return NULL;
        memset(p + f->n, 0, (n - f->n) * sizeof *p);
        f->reg = p;
        f->n = n;
    }
    v = &f->reg[id];
    if (size > v->cap) {
        uint32_t cap = size < 8 ? 8 : size;
        uint8_t *p = calloc(2, cap);

        if (!p)
            return NULL;
        if (v->size) {
            memcpy(p, v->bytes, v->size);
            memcpy(p + cap, v->bytes + v->cap, v->size);
        }
        free(v->bytes);
        v->bytes = p;
        v->cap = cap;
    }
    if (size > v->size)
        v->size = size;
    return v;
}

int nav_regs_put(struct nav_file *f, uint32_t id, uint32_t off, const uint8_t *p,
                 const uint8_t *mask, uint32_t n, enum trod_nav_source from, uint64_t row)
{
    struct nav_value *v = value_of(f, id, off + n);

    if (!v)
        return TROD_ERR_NOMEM;
    if (p)
        memcpy(v->bytes + off, p, n);
    else
        memset(v->bytes + off, 0, n);
    for (uint32_t i = 0; i < n; i++) {
        v->bytes[v->cap + off + i] = mask ? (uint8_t)~mask[i] : 0xff;
        v->bytes[off + i] &= v->bytes[v->cap + off + i];
    }
    v->from = (uint8_t)from;
    v->row = row;
    return TROD_OK;
}

void nav_regs_forget(struct nav_file *f, uint32_t id)
{
    if (id >= f->n || !f->reg[id].size)
        return;
    memset(f->reg[id].bytes, 0, 2 * (size_t)f->reg[id].cap);
    f->reg[id].size = 0;
    f->reg[id].from = TROD_NAV_UNKNOWN;
}

void nav_regs_forget_bits(struct nav_file *f, uint32_t id, uint32_t at, uint8_t bits)
{
    struct nav_value *v = id < f->n ? &f->reg[id] : NULL;
    uint8_t left = 0;

    if (!v || at >= v->size)
        return;
    v->bytes[at] &= (uint8_t)~bits;
    v->bytes[v->cap + at] &= (uint8_t)~bits;
    for (uint32_t k = 0; k < v->size; k++)
        left |= v->bytes[v->cap + k];
    if (!left)
        nav_regs_forget(f, id);
}

/* What a register row says: bits [lo, lo + bits) of the register, with masks. */
struct write {
    const uint8_t *value, *unknown, *unwritten; /* NULL: all known, all written */
    uint8_t word[8];
    uint32_t n; /* bytes that value has */
    uint64_t lo, bits;
    bool nothing_known, nothing_written, has_range;
};

static const uint8_t *slice(const struct trod_batch *b, struct trod_slice s, uint32_t n)
{
    return s.len >= n && s.len ? trod_batch_bytes(b, s) : NULL;
}

static void parse(const struct trod_batch *b, uint32_t i, const struct nav_part *part,
                  struct write *w)
{
    const struct trod_detail_reg *d = trod_batch_detail(b, i);
    const uint32_t has = b->have & b->has[i], flags = has & TROD_COL_FLAGS ? b->flags[i] : 0;

    memset(w, 0, sizeof *w);
    if (d && b->detail[i].len != sizeof *d)
        d = NULL;
    w->n = has & TROD_COL_SIZE ? b->size[i] : 8;
    if (has & TROD_COL_DATA) {
        w->value = trod_batch_bytes(b, b->data[i]);
        if (b->data[i].len < w->n)
            w->n = b->data[i].len;
    } else if (has & TROD_COL_VALUE) {
        for (unsigned k = 0; k < 8; k++)
            w->word[k] = (uint8_t)(b->value[i] >> (8 * k));
        w->value = w->word;
        if (w->n > 8)
            w->n = 8;
    } else if ((flags & TROD_F_PARTIAL) && !(flags & TROD_F_UNKNOWN)) {
        w->nothing_written = true;
    } else {
        w->nothing_known = true;
    }
    if (w->n > NAV_WIDEST)
        w->n = NAV_WIDEST;
    if (d && d->mask.len && w->value) {
        w->unknown = slice(b, d->mask, w->n);
        w->unwritten = d->unwritten.len         ? slice(b, d->unwritten, w->n)
                       : flags & TROD_F_UNKNOWN ? NULL
                                                : w->unknown;
    }
    w->lo = 8 * (uint64_t)part->off;
    w->bits = 8 * (uint64_t)w->n;
    if (d && d->has_range) {
        w->has_range = true;
        w->lo += d->lo;
        w->bits = (uint64_t)d->hi - d->lo + 1;
        if (w->bits > 8 * (uint64_t)w->n)
            w->bits = 8 * (uint64_t)w->n;
    } else if (part->bits && part->bits < w->bits) {
        w->bits = part->bits;
    }
}

/* NZCV, APSR (N bits): the rest of the status register stays as it is. */
static void only_flags(struct write *w, unsigned n)
{
    static const uint8_t nzcv[4] = {0xff, 0xff, 0xff, 0x0f}, nzcvq[4] = {0xff, 0xff, 0xff, 0x07};

    if (w->n < 4) { /* the four bits by themselves */
        w->lo = 28;
        w->bits = 4;
    } else {
        w->bits = 32;
        w->unwritten = n == 4 ? nzcv : nzcvq;
    }
}

static int put_bits(struct nav_value *v, const struct write *w)
{
    uint8_t *known = v->bytes + v->cap;

    for (uint64_t k = 0; k < w->bits; k++) {
        const uint64_t at = w->lo + k, byte = at >> 3;
        const uint8_t bit = (uint8_t)(1u << (at & 7)), from = (uint8_t)(1u << (k & 7));
        const uint64_t src = k >> 3;

        if (w->unwritten && (w->unwritten[src] & from))
            continue;
        known[byte] &= (uint8_t)~bit;
        v->bytes[byte] &= (uint8_t)~bit;
        if (w->nothing_known || (w->unknown && (w->unknown[src] & from)))
            continue;
        known[byte] |= bit;
        if (w->value[src] & from)
            v->bytes[byte] |= bit;
    }
    return TROD_OK;
}

/* The rest of the register after what is written becomes zero; of W2<15:0> what is not W2. */
static void clear_rest(struct nav_value *v, const struct nav_part *part, uint64_t end)
{
    if (!part->clears || (end & 7))
        return;
    for (uint64_t k = end >> 3; k < v->size; k++) {
        v->bytes[k] = 0;
        v->bytes[v->cap + k] = 0xff;
    }
}

/* How many bytes the whole register has at the least. */
static uint32_t least_size(const struct nav_regs *r, const char *name)
{
    if (r->names->isa == TROD_ISA_A64 || r->names->isa == TROD_ISA_ARM) {
        if (name[0] == 'x' && name[1] >= '0' && name[1] <= '9')
            return 8;
        if ((name[0] == 'v' || name[0] == 'q') && name[1] >= '0' && name[1] <= '9')
            return 16;
    }
    return r->names->isa == TROD_ISA_X86_64 && name[0] == 'r' ? 8 : 0;
}

/*
 * Most rows: a number, all known and written, for a whole register that was written before. False:
 * not such a row.
 */
static bool write_number(struct nav_regs *r, struct nav_file *f, const struct trod_batch *b,
                         uint32_t i, const struct nav_part *part, uint64_t row)
{
    const struct trod_detail_reg *d = trod_batch_detail(b, i);
    const uint32_t has = b->have & b->has[i], n = has & TROD_COL_SIZE ? b->size[i] : 8;
    struct nav_value *v = part->id < f->n ? &f->reg[part->id] : NULL;

    if (d && b->detail[i].len == sizeof *d && (d->mask.len || d->has_range))
        return false;
    if (part->flags || (has & (TROD_COL_VALUE | TROD_COL_DATA)) != TROD_COL_VALUE || !v ||
        v->size != n || (n != 4 && n != 8) || part->off || (part->bits && part->bits < 8 * n))
        return false;
    if (n == 8) {
        trod_store_le64(v->bytes, b->value[i]);
        trod_store_le64(v->bytes + v->cap, UINT64_MAX);
    } else {
        trod_store_le32(v->bytes, (uint32_t)b->value[i]);
        trod_store_le32(v->bytes + v->cap, UINT32_MAX);
    }
    v->from = TROD_NAV_WRITTEN;
    v->row = row;
    r->wrote[0] = part->id;
    r->n_wrote = 1;
    r->hi = part->clears ? BITS : 8 * n;
    return true;
}

static int write_row(struct nav_regs *r, struct nav_file *f, const struct trod_batch *b, uint32_t i,
                     uint64_t row)
{
    const struct trod_detail_reg *d = trod_batch_detail(b, i);
    struct trod_slice name = b->text[i], note = {0, 0};
    struct nav_part part;
    struct nav_value *v;
    struct write w;
    uint32_t size;

    if (!(b->have & b->has[i] & TROD_COL_TEXT) || name.len == 0)
        return TROD_OK;
    if (d && b->detail[i].len == sizeof *d) {
        if (d->system_op)
            return TROD_OK;
        note = d->note;
    }
    if (!nav_names_part(r->names, (const char *)trod_batch_bytes(b, name), name.len,
                        note.len ? (const char *)trod_batch_bytes(b, note) : "", note.len, true,
                        &part))
        return TROD_OK;
    if (write_number(r, f, b, i, &part, row))
        return TROD_OK;
    parse(b, i, &part, &w);
    if (part.flags)
        only_flags(&w, part.flags);
    /* 32 bits of a register that has a name of its own for them are a write of that one */
    if (r->names->isa == TROD_ISA_A64 && !part.bits && w.bits == 32 && !part.off && w.lo == 0 &&
        r->names->at[part.id].text[0] == 'x' && f->iset != TROD_ISET_A32 &&
        f->iset != TROD_ISET_T32 && !(d && b->detail[i].len == sizeof *d && d->has_range))
        part.clears = 1;
    /* a write of V is one of Z, whose other bits become zero (Arm ARM, "SVE vector registers") */
    if (r->names->isa == TROD_ISA_A64 && !part.bits && w.bits == 128 && w.lo == 0 &&
        (*trod_batch_bytes(b, name) | 32) == 'v' && r->names->at[part.id].text[0] == 'v' &&
        !(d && b->detail[i].len == sizeof *d && d->has_range))
        part.clears = 1;
    if (w.nothing_written || w.lo + w.bits > 8 * (uint64_t)NAV_WIDEST)
        return TROD_OK;
    size = least_size(r, r->names->at[part.id].text);
    if (8 * (uint64_t)size < w.lo + w.bits)
        size = (uint32_t)((w.lo + w.bits + 7) / 8);
    v = value_of(f, part.id, size);
    if (!v)
        return TROD_ERR_NOMEM;
    if ((w.lo & 7) == 0 && (w.bits & 7) == 0 && !w.unknown && !w.unwritten && !w.nothing_known) {
        memcpy(v->bytes + w.lo / 8, w.value, w.bits / 8);
        memset(v->bytes + v->cap + w.lo / 8, 0xff, w.bits / 8);
    } else {
        put_bits(v, &w);
    }
    clear_rest(v, &part, w.has_range && part.bits > w.lo + w.bits ? part.bits : w.lo + w.bits);
    v->from = TROD_NAV_WRITTEN;
    v->row = row;
    r->wrote[0] = part.id;
    r->n_wrote = 1;
    r->lo = w.lo;
    r->masked = w.lo + w.bits;
    r->hi = part.clears ? BITS : r->masked;
    r->unwritten = w.unwritten;
    return TROD_OK;
}

bool nav_regs_wrote(const struct nav_regs *r, uint64_t lo, uint64_t hi)
{
    const uint64_t from = lo > r->lo ? lo : r->lo, to = hi < r->hi ? hi : r->hi;

    if (from >= to)
        return false;
    if (!r->unwritten || to > r->masked)
        return true;
    for (uint64_t k = from - r->lo; k < to - r->lo; k++)
        if (!(r->unwritten[k >> 3] >> (k & 7) & 1))
            return true;
    return false;
}

void nav_regs_of(struct nav_regs *r, const struct trod_format *f)
{
    r->markers = f && f->flags & TROD_FMT_MARKERS;
    r->format = f && f->register_told ? f : NULL;
}

int nav_regs_row(struct nav_regs *r, const struct trod_batch *b, uint32_t i, uint64_t row)
{
    const uint8_t kind = b->kind[i];
    struct nav_file *f;

    r->n_wrote = 0;
    r->lo = 0;
    r->hi = BITS;
    r->unwritten = NULL;
    if (kind != TROD_REG && kind != TROD_INSTR && kind != TROD_STATE &&
        !(kind == TROD_MARKER && r->markers))
        return nav_regs_tells(r, b, i) ? nav_regs_told(r, b, i, row) : TROD_OK;
    f = nav_regs_file(r, trod_batch_stream(b, i));
    if (!f)
        return TROD_ERR_NOMEM;
    if (kind == TROD_REG)
        return write_row(r, f, b, i, row);
    if (kind == TROD_MARKER)
        return nav_regs_marker(r, f, b, i, row);
    if (kind == TROD_STATE)
        return nav_regs_state(r, f, b, i, row);
    if (!(b->has[i] & TROD_COL_ADDR))
        return TROD_OK;
    f->has_pc = true;
    f->pc = b->addr[i];
    f->pc_row = row;
    f->iset = b->have & b->has[i] & TROD_COL_FLAGS
                  ? (uint8_t)((b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT)
                  : 0;
    if (f->known)
        nav_regs_spoil(r, f, b, i);
    return TROD_OK;
}

/* ---- as bytes */

static int save_file(const struct nav_file *f, struct trod_buf *out)
{
    uint32_t n = 0;
    int rc = TROD_OK;

    for (uint32_t i = 0; i < f->n; i++)
        n += f->reg[i].size > 0;
    trod_pack(out, (uint64_t)f->has_pc | (uint64_t)f->has_state << 1);
    trod_pack(out, f->iset);
    trod_pack(out, f->pc);
    trod_pack(out, f->pc_row);
    trod_pack(out, f->function);
    trod_pack(out, f->argument);
    trod_pack(out, f->known);
    if (f->has_state)
        trod_buf_add(out, f->state, sizeof f->state);
    rc = trod_pack(out, n);
    for (uint32_t i = 0; i < f->n; i++) {
        const struct nav_value *v = &f->reg[i];

        if (!v->size)
            continue;
        trod_pack(out, i);
        trod_pack(out, v->size);
        trod_pack(out, v->from);
        trod_pack(out, v->row);
        trod_buf_add(out, v->bytes, v->size);
        rc = trod_buf_add(out, v->bytes + v->cap, v->size);
    }
    return rc;
}

int nav_regs_save(const struct nav_regs *r, struct trod_buf *out)
{
    uint32_t n = 0;
    int rc = TROD_OK;

    for (uint32_t i = 0; i < r->n_files; i++)
        n += r->file[i] != NULL;
    rc = trod_pack(out, n);
    for (uint32_t i = 0; rc == TROD_OK && i < r->n_files; i++)
        if (r->file[i]) {
            trod_pack(out, i);
            rc = save_file(r->file[i], out);
        }
    return rc;
}

static int load_value(struct nav_regs *r, struct nav_file *f, struct trod_span *in)
{
    uint64_t id, size, from, row;
    struct nav_value *v;

    if (trod_unpack(in, &id) < 0 || trod_unpack(in, &size) < 0 || trod_unpack(in, &from) < 0 ||
        trod_unpack(in, &row) < 0 || id >= r->names->n || size > NAV_WIDEST || size == 0 ||
        from > TROD_NAV_UNTRACED || in->n < 2 * size)
        return TROD_ERR_CORRUPT;
    if (!(v = value_of(f, (uint32_t)id, (uint32_t)size)))
        return TROD_ERR_NOMEM;
    memcpy(v->bytes, in->p, size);
    memcpy(v->bytes + v->cap, in->p + size, size);
    v->from = (uint8_t)from;
    v->row = row;
    in->p += 2 * size;
    in->n -= 2 * size;
    return TROD_OK;
}

static int load_file(struct nav_regs *r, struct nav_file *f, struct trod_span *in)
{
    uint64_t v[7], n;
    int rc = TROD_OK;

    for (unsigned i = 0; i < 7; i++)
        if (trod_unpack(in, &v[i]) < 0)
            return TROD_ERR_CORRUPT;
    f->has_pc = v[0] & 1;
    f->has_state = v[0] >> 1 & 1;
    f->iset = (uint8_t)v[1];
    f->pc = v[2];
    f->pc_row = v[3];
    f->function = v[4];
    f->argument = (uint32_t)v[5];
    f->known = (uint32_t)v[6];
    if (f->has_state) {
        if (in->n < sizeof f->state)
            return TROD_ERR_CORRUPT;
        memcpy(f->state, in->p, sizeof f->state);
        in->p += sizeof f->state;
        in->n -= sizeof f->state;
    }
    if (trod_unpack(in, &n) < 0)
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; rc == TROD_OK && i < n; i++)
        rc = load_value(r, f, in);
    return rc;
}

int nav_regs_load(struct nav_regs *r, struct trod_span *in)
{
    uint64_t n, stream;
    int rc = trod_unpack(in, &n);

    for (uint64_t i = 0; rc == TROD_OK && i < n; i++) {
        struct nav_file *f;

        if (trod_unpack(in, &stream) < 0 || stream >= TROD_STREAM_MAX)
            return TROD_ERR_CORRUPT;
        f = nav_regs_file(r, (uint32_t)stream);
        rc = f ? load_file(r, f, in) : TROD_ERR_NOMEM;
    }
    return rc;
}
