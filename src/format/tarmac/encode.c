/*
 * encode.c - rows to lines: heads, numbers, and which writer takes which row.
 *
 * Implements docs/formats/tarmac.md, "Writing". Three canonical styles (fm, es, gem5) and that of
 * Trace Matcher; rows of the same dialect repeat how they were written, as their detail says.
 */
#include "format/tarmac/encode.h"

#include <inttypes.h>

enum {
    LINE_FIXED = 1536,
    ROW_SIZE_MAX = 4096,
    PICTURE_LINE = 448, /* a further line of a picture, below one with the longest head */
    ACCESS_MAX = 9999   /* bytes of an access that a type word can say */
};

void tm_put_decimal(struct tm_put *o, uint64_t v)
{
    static const char pairs[] = "0001020304050607080910111213141516171819202122232425262728293031"
                                "3233343536373839404142434445464748495051525354555657585960616263"
                                "6465666768697071727374757677787980818283848586878889909192939495"
                                "96979899";
    char text[20];
    unsigned at = sizeof text;

    while (v >= 100) {
        at -= 2;
        memcpy(text + at, pairs + v % 100 * 2, 2);
        v /= 100;
    }
    if (v >= 10) {
        at -= 2;
        memcpy(text + at, pairs + v * 2, 2);
    } else {
        text[--at] = (char)('0' + v);
    }
    memcpy(o->p, text + at, sizeof text - at);
    o->p += sizeof text - at;
}

/* Digits that V needs, at least MIN. */
static unsigned natural(uint64_t v, unsigned min)
{
    unsigned n = v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;

    return n > min ? n : min;
}

/* A virtual address; DIGITS as its detail says, 0: the usual number. */
void tm_put_vaddr(struct tm_put *o, uint64_t v, unsigned digits, bool upper)
{
    if (!o->e->same || !digits || digits > 16)
        digits = o->e->dialect == TM_GEM5 && !o->e->same ? natural(v, 8) : v >> 32 ? 16 : 8;
    tm_put_hex(o, v, digits > natural(v, 1) ? digits : natural(v, 1), upper && o->e->same);
}

void tm_put_paddr(struct tm_put *o, uint64_t v, unsigned digits, bool upper)
{
    if (!o->e->same || !digits || digits > 16)
        digits = o->e->dialect == TM_GEM5 && !o->e->same ? natural(v, 12) : v >> 48 ? 16 : 12;
    tm_put_hex(o, v, digits > natural(v, 1) ? digits : natural(v, 1), upper && o->e->same);
}

/* The suffix of a physical address. None means secure (docs/formats/tarmac.md, "Instructions"). */
void tm_put_sec(struct tm_put *o, unsigned sec)
{
    static const char *const names[] = {"", "", "_NS", "_RT", "_RL"};

    if (sec < sizeof names / sizeof *names)
        tm_puts(o, names[sec]);
    o->e->secure += sec == TROD_SEC_NONE;
}

/* Text as one word (as lines have it; elsewhere blanks and brackets become '_'), or NONE. */
void tm_put_name(struct tm_put *o, struct trod_slice s, const char *none)
{
    const uint8_t *p = trod_batch_bytes(o->b, s);

    bool changed = false;

    if (!s.len)
        tm_puts(o, none);
    for (uint32_t i = 0; i < s.len; i++) {
        const bool good = o->e->read || (p[i] > ' ' && p[i] != '<' && p[i] != '(');

        changed = changed || !good;
        tm_putc(o, good ? (char)p[i] : '_');
    }
    if (changed)
        tm_lose(o, TROD_COL_TEXT, "a name is one word");
}

void tm_lose(struct tm_put *o, uint32_t columns, const char *why)
{
    trod_loss_columns(o->e->loss, o->b, o->row, columns, why);
}

/* Size of the access or value of ROW: the size column, or the bytes that its value needs. */
uint32_t tm_row_size(const struct tm_put *o, uint32_t row)
{
    uint32_t has = o->b->has[row] & o->b->have;

    if ((has & TROD_COL_DATA) && o->b->data[row].len)
        return o->b->data[row].len;
    if ((has & TROD_COL_SIZE) && o->b->size[row] && o->b->size[row] <= ROW_SIZE_MAX)
        return o->b->size[row];
    return (has & TROD_COL_VALUE) && o->b->value[row] >> 32 ? 8 : 4;
}

void tm_put_number(struct tm_put *o, const struct tm_number *n)
{
    static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
    const char *digits = n->upper ? upper : lower;

    if (n->prefix)
        tm_puts(o, "0x");
    if (n->p && !n->mask && n->len == 8 && !n->sep && n->digits <= 16 && !n->reversed) {
        tm_put_hex(o, trod_load_le64(n->p), n->digits, n->upper);
        return;
    }
    for (uint32_t i = n->digits; i-- > 0;) {
        uint32_t shift = (i & 1) * 4;
        uint32_t at = n->reversed ? (n->digits - 1) / 2 - i / 2 : n->words ? i / 2 ^ 4 : i / 2;
        bool known = n->p && !(n->mask && at < n->len && n->mask[at] >> shift & 0xf);

        bool dash = n->unwritten && at < n->unwritten_len && n->unwritten[at] >> shift & 0xf;

        tm_putc(o, !known        ? dash ? '-' : n->mark
                   : at < n->len ? digits[n->p[at] >> shift & 0xf]
                                 : '0');
        if (n->sep && i && i % n->group == 0)
            tm_putc(o, n->sep);
    }
}

/* The separator that the dialect puts into a number of DIGITS digits: only equal words have blanks
 * between them. */
static char usual_sep(const struct tm_enc *e, bool reg, uint32_t digits)
{
    if (e->flavour->matcher || e->dialect == TM_GEM5)
        return 0;
    if (reg)
        return digits <= 16 ? 0 : e->dialect == TM_ES && digits % 8 == 0 ? ' ' : '_';
    return digits > 8 ? '_' : 0;
}

void tm_row_number(const struct tm_put *o, uint32_t row, const struct trod_detail_number *style,
                   struct trod_slice mask, uint32_t size, uint8_t *memory, struct tm_number *n)
{
    const struct trod_batch *b = o->b;
    const struct tm_enc *e = o->e;
    uint32_t has = b->has[row] & b->have;
    bool reg = b->kind[row] == TROD_REG;
    bool unknown = (has & TROD_COL_FLAGS) && b->flags[row] & TROD_F_UNKNOWN;

    /* a dash is a digit that is not written */
    *n = (struct tm_number){.digits = size * 2, .group = 8, .mark = unknown ? 'x' : '-'};
    if ((has & TROD_COL_DATA) && b->data[row].len) {
        n->p = trod_batch_bytes(b, b->data[row]);
        n->len = b->data[row].len;
    } else if (has & TROD_COL_VALUE) {
        trod_store_le64(memory, b->value[row]);
        n->p = memory;
        n->len = 8;
    }
    if (style && style->digits && style->digits < 2 * ROW_SIZE_MAX)
        n->digits = style->digits;
    n->sep = usual_sep(e, reg, n->digits);
    if (style) {
        if (style->unknown && style->unknown != '-')
            n->mark = (char)style->unknown;
        if (e->same) {
            if (style->sep)
                n->sep = style->sep == '0' ? 0 : (char)style->sep;
            else
                n->sep = !e->flavour->matcher && n->digits > (reg ? 16u : 8u)
                             ? '_'
                             : 0; /* what no style stands for */
            n->group = style->group ? style->group : 8;
            n->prefix = style->prefix;
        }
        n->upper = style->upper && e->same;
    }
    if (mask.len) {
        n->mask = trod_batch_bytes(b, mask);
        n->len = mask.len < n->len ? mask.len : n->len;
    }
}

/* Size of the detail struct that rows of KIND have in these formats. */
static size_t detail_size(uint8_t kind)
{
    switch (kind) {
    case TROD_INSTR:
        return sizeof(struct trod_detail_instr);
    case TROD_READ:
    case TROD_WRITE:
        return sizeof(struct trod_detail_mem);
    case TROD_REG:
        return sizeof(struct trod_detail_reg);
    case TROD_BRANCH:
        return sizeof(struct trod_detail_branch);
    case TROD_ATOMIC:
        return sizeof(struct trod_detail_atomic);
    case TROD_BUS:
        return sizeof(struct trod_detail_bus);
    case TROD_CACHE_OP:
        return sizeof(struct trod_detail_cache_op);
    case TROD_CACHE_LINE:
        return sizeof(struct trod_detail_cache_line);
    case TROD_WALK:
        return sizeof(struct trod_detail_walk);
    case TROD_TLB:
        return sizeof(struct trod_detail_tlb);
    case TROD_EXCEPTION:
    case TROD_MODE:
    case TROD_MARKER:
        return sizeof(struct trod_detail_event);
    default:
        return 0;
    }
}

bool tm_pictured(const struct tm_enc *e, const struct trod_batch *b, uint32_t i)
{
    const struct trod_detail_mem *d = NULL;

    if (!e->same)
        return e->dialect == TM_ES && !e->flavour->matcher;
    if ((b->has[i] & b->have & TROD_COL_DETAIL) && b->detail[i].len == sizeof *d)
        d = trod_batch_detail(b, i);
    return d && d->style >= TROD_MEM_PICTURE;
}

/* The most bytes that the register write of row I, of WIDE bytes, can need. */
static size_t reg_bound(const struct tm_enc *e, const struct trod_batch *b, uint32_t i, size_t wide)
{
    const struct trod_detail_reg *d = trod_batch_detail(b, i);
    size_t digits = 2 * wide, group = 8, n = LINE_FIXED;

    if (b->has[i] & b->have & TROD_COL_TEXT)
        n += b->text[i].len;
    if (d && b->detail[i].len == sizeof *d) {
        digits =
            d->num.digits > digits && d->num.digits < 2 * ROW_SIZE_MAX ? d->num.digits : digits;
        group = e->same && d->num.group ? d->num.group : group;
        n += d->note.len + d->comment.len;
    }
    return n + digits + digits / group;
}

/* The most bytes that row I can need. */
static size_t bound(const struct tm_enc *e, const struct trod_batch *b, uint32_t i)
{
    uint32_t has = b->has[i] & b->have;
    size_t n = LINE_FIXED, wide = has & TROD_COL_DATA ? b->data[i].len : 0;

    if ((has & TROD_COL_SIZE) && b->size[i] <= ACCESS_MAX && b->size[i] > wide)
        wide = b->size[i];
    if (b->kind[i] == TROD_REG)
        return reg_bound(e, b, i, wide);
    n += wide * 4; /* two digits a byte, at the most as many separators */
    if (e->dialect == TM_ES && (b->kind[i] == TROD_READ || b->kind[i] == TROD_WRITE))
        n += (wide / 16 + 2) * PICTURE_LINE;
    if (has & TROD_COL_TEXT)
        n += b->text[i].len;
    if ((has & TROD_COL_RAW) && b->kind[i] == TROD_NOTE)
        n += b->raw[i].len;
    if (has & TROD_COL_DETAIL) {
        size_t at, len = b->detail[i].len;
        const uint8_t *d = trod_batch_bytes(b, b->detail[i]);

        if (b->kind[i] == TROD_INSTR && len == sizeof(struct trod_detail_instr))
            return n + ((const struct trod_detail_instr *)(const void *)d)->mode.len +
                   ((const struct trod_detail_instr *)(const void *)d)->id.len + 512;
        if (len == detail_size(b->kind[i]) && len >= sizeof(struct trod_detail_number)) {
            struct trod_detail_number num; /* what stands first, where there is one */

            memcpy(&num, d, sizeof num);
            n += num.digits < 2 * ROW_SIZE_MAX ? 2 * (size_t)num.digits : 0;
        }
        for (unsigned k = 0; (at = trod_detail_slice(b->kind[i], len, k)) != 0; k++) {
            struct trod_slice s;

            memcpy(&s, d + at, sizeof s);
            n += 4 * (size_t)s.len;
        }
    }
    return n;
}

/* "Tarmac Text Rev N" heads traces of the es dialect, and would make any trace one of es. */
static bool is_header(const struct tm_put *o)
{
    static const char header[] = "Tarmac Text Rev";
    struct trod_slice raw = o->b->raw[o->row];

    return !o->e->same && o->b->kind[o->row] == TROD_NOTE && (o->has & TROD_COL_RAW) &&
           raw.len >= sizeof header - 1 &&
           memcmp(trod_batch_bytes(o->b, raw), header, sizeof header - 1) == 0;
}

/* Write a row that was not understood as it was; false if it is no text of these formats. */
static bool write_note(struct tm_put *o)
{
    struct trod_slice raw = o->b->raw[o->row];
    const uint8_t *p;

    if (!o->e->own || !(o->has & TROD_COL_RAW))
        return false;
    p = trod_batch_bytes(o->b, raw);
    while (raw.len && (p[raw.len - 1] == '\n' || p[raw.len - 1] == '\r'))
        raw.len--;
    tm_put_bytes(o, p, raw.len);
    tm_follow(o);
    if (o->e->flavour->matcher != o->e->from_matcher)
        tm_lose(o, TROD_COL_STREAM, "the line is as it was, and cpus are called otherwise");
    return true;
}

static bool write_row(struct tm_put *o)
{
    const struct tm_enc *e = o->e;
    uint8_t kind = o->b->kind[o->row];

    if (e->flavour->matcher && !e->same && kind != TROD_INSTR && kind != TROD_READ &&
        kind != TROD_WRITE && kind != TROD_REG && kind != TROD_NOTE)
        return false;
    switch (kind) {
    case TROD_NOTE:
        return write_note(o);
    case TROD_INSTR:
        return tm_write_instr(o);
    case TROD_READ:
    case TROD_WRITE:
        return tm_pictured(e, o->b, o->row) ? tm_write_pictures(o) : tm_write_mem(o);
    case TROD_ATOMIC:
        return tm_write_atomic(o);
    case TROD_REG:
        return tm_write_reg(o);
    case TROD_BRANCH:
        return tm_write_branch(o);
    case TROD_EXCEPTION:
    case TROD_MODE:
    case TROD_MARKER:
        return tm_write_event(o);
    case TROD_CACHE_OP:
        return tm_write_cache_op(o);
    case TROD_CACHE_LINE:
        return tm_write_cache_line(o);
    case TROD_WALK:
        return tm_write_walk(o);
    case TROD_TLB:
        return tm_write_tlb(o);
    case TROD_BUS:
        return tm_write_bus(o);
    default:
        return false;
    }
}

/* Pictures of one record are written together: how many rows from I on. */
static uint32_t record_rows(const struct tm_enc *e, const struct trod_batch *b, uint32_t i)
{
    uint32_t n = 1;

    if ((b->kind[i] != TROD_READ && b->kind[i] != TROD_WRITE) || !tm_pictured(e, b, i))
        return 1;
    while (i + n < b->n && n < TM_ROWS_MAX && (b->flags[i + n] & TROD_F_CONT) &&
           b->kind[i + n] == b->kind[i])
        n++;
    return n;
}

/* The picture that the line of the register in row I goes on with: how many rows; 0: none. */
static uint32_t glued_rows(const struct tm_enc *e, const struct trod_batch *b, uint32_t i)
{
    const uint32_t next = i + 1;

    if (!e->same || b->kind[i] != TROD_REG || next >= b->n || !(b->flags[next] & TROD_F_CONT) ||
        (b->kind[next] != TROD_READ && b->kind[next] != TROD_WRITE) || !tm_pictured(e, b, next))
        return 0;
    return record_rows(e, b, next);
}

void tm_look_at(struct tm_put *o, uint32_t row, uint32_t n)
{
    const struct trod_batch *b = o->b;

    o->row = row;
    o->n = n;
    o->has = b->has[row] & b->have;
    o->flags = o->has & TROD_COL_FLAGS ? b->flags[row] : 0;
    o->detail = trod_batch_detail(b, row);
    if (o->detail && b->detail[row].len != detail_size(b->kind[row]))
        o->detail = NULL;
}

/* The picture of N rows behind the register that O has just written. */
static void put_glued(struct tm_put *o, uint32_t n)
{
    tm_look_at(o, o->row + 1, n);
    tm_put_blanks(o, 3);
    o->glued = true;
    if (!tm_write_pictures(o))
        for (uint32_t i = 0; i < n; i++)
            trod_loss_row(o->e->loss, o->b, o->row + i, "there is no such line");
    o->glued = false;
}

/*
 * Lines of accesses and registers do not name their instruction, it is the one before; those of
 * instructions not where they go on, it is the one behind. O, a row of another format, was written.
 */
static inline void follow_flow(struct tm_put *o)
{
    const uint32_t stream = o->has & TROD_COL_STREAM ? o->b->stream[o->row] : 0;
    const uint8_t kind = o->b->kind[o->row];
    struct fmt_last_pc *last = &o->e->last;

    if (o->has & TROD_COL_STREAM && !o->e->flavour->matcher && !tm_keeps_name(o->e, stream))
        tm_lose(o, TROD_COL_STREAM, "the name of a cpu is one word");
    if (kind == TROD_INSTR) {
        const uint64_t pc = o->b->addr[o->row];

        fmt_own_pc(o->e->loss, o->b, o->row, pc);
        if (o->e->aims.waiting)
            fmt_aims_settle(&o->e->aims, o->e->loss, stream, pc);
        if (o->has & TROD_COL_TARGET && !o->e->flavour->matcher)
            fmt_aims_set(&o->e->aims, o->e->loss, o->b, o->row, stream);
        if (stream < last->n)
            last->pc[stream] = pc;
        else
            fmt_last_pc_set(last, stream, pc);
    } else if (kind == TROD_BRANCH) {
        fmt_own_pc(o->e->loss, o->b, o->row, o->b->addr[o->row]);
    } else if ((kind >= TROD_READ && kind <= TROD_FLUSH) || kind == TROD_REG) {
        if (o->has & TROD_COL_PC && o->b->pc[o->row] != fmt_last_pc_of(last, stream))
            tm_lose(o, TROD_COL_PC, "the line stands behind no line of that instruction");
        o->e->unsized += kind != TROD_REG && !(o->has & (TROD_COL_SIZE | TROD_COL_DATA));
    }
}

int tm_encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
              struct trod_diag *diag)
{
    struct tm_enc *e = enc;
    struct tm_put o = {.e = e, .b = in, .diag = diag, .p = out->p};

    while (*row < in->n) {
        const uint32_t first = *row, n = record_rows(e, in, first),
                       glued = glued_rows(e, in, first);
        size_t need = 0;

        for (uint32_t i = first; i < first + n + glued; i++)
            need += bound(e, in, i);
        if ((size_t)(out->end - out->p) < need)
            return TROD_ENC_FULL;
        tm_look_at(&o, first, n);
        o.p = o.line = out->p;
        *row += n;
        if (is_header(&o)) {
            trod_loss_left(e->loss, in, first);
            continue;
        }
        if (write_row(&o)) {
            if (!e->own)
                follow_flow(&o);
            if (glued)
                put_glued(&o, glued);
            *row = o.row + o.n;
            tm_putc(&o, '\n');
            out->p = o.p;
            e->lines++;
        } else {
            for (uint32_t i = 0; i < n; i++)
                trod_loss_row(e->loss, in, first + i, "there is no such line");
        }
        if (in->kind[o.row] != TROD_READ && in->kind[o.row] != TROD_WRITE)
            e->picture = 0;
    }
    return TROD_ENC_DONE;
}

void tm_drop(void *enc)
{
    struct tm_enc *e = enc;

    fmt_last_pc_fini(&e->last);
    fmt_aims_fini(&e->aims);
}

int tm_target(void *enc, const struct trod_target *target, struct trod_diag *diag)
{
    (void)diag;
    ((struct tm_enc *)enc)->loss = target->loss;
    return TROD_OK;
}

int tm_finish(void *enc, struct trod_room *out, struct trod_diag *diag)
{
    struct tm_enc *e = enc;

    (void)out;
    fmt_aims_end(&e->aims, e->loss);
    if (e->omitted)
        trod_diag_report(diag, TROD_SEV_NOTE, TROD_OK, "tarmac.left-out", NULL,
                         "left out of %" PRIu64 " row%s, for which lines of this form have no "
                         "place: memory attributes after pictures, letters of RTL types and the "
                         "instructions of their accesses, second physical addresses, folds, words "
                         "NAME=VALUE after values",
                         e->omitted, e->omitted == 1 ? "" : "s");
    if (e->secure)
        trod_diag_report(diag, TROD_SEV_NOTE, TROD_OK, "tarmac.secure", NULL,
                         "%" PRIu64 " physical address%s, of which the source does not say whether "
                         "%s secure, %s written without a suffix, which means secure",
                         e->secure, e->secure == 1 ? "" : "es",
                         e->secure == 1 ? "it is" : "they are", e->secure == 1 ? "is" : "are");
    if (e->guessed)
        trod_diag_report(diag, TROD_SEV_NOTE, TROD_OK, "tarmac.iset", NULL,
                         "%" PRIu64 " instruction%s, of which neither the source nor the opcode "
                         "says the instruction set, %s written as %s: --from "
                         "tarmac:iset=thumb or iset=arm says which",
                         e->guessed, e->guessed == 1 ? "" : "s", e->guessed == 1 ? "is" : "are",
                         trod_iset_name(e->iset));
    if (e->unsized)
        trod_diag_report(diag, TROD_SEV_NOTE, TROD_OK, "tarmac.size", NULL,
                         "%" PRIu64 " access%s, of which the source does not say how large %s, "
                         "%s written with 4 bytes, or with 8 where the value needs them",
                         e->unsized, e->unsized == 1 ? "" : "es",
                         e->unsized == 1 ? "it is" : "they are", e->unsized == 1 ? "is" : "are");
    return TROD_ENC_DONE;
}

static int dialect_number(const char *name)
{
    for (int i = 0; name && i < TM_DIALECTS; i++)
        if (strcmp(name, tm_dialect_name(i)) == 0)
            return i;
    return TM_FM;
}

int tm_written_dialect(const struct tm_options *opt, const struct trod_meta *meta)
{
    const bool tarmac = meta->format && strcmp(meta->format, "tarmac") == 0;

    return opt && opt->dialect > 0 ? opt->dialect - 1
                                   : dialect_number(tarmac ? meta->dialect : NULL);
}

int tm_begin_encoding(struct tm_enc *e, const struct tm_flavour *flavour,
                      const struct tm_options *opt, const struct trod_meta *meta)
{
    bool tarmac = meta->format && strcmp(meta->format, "tarmac") == 0;
    int from = tarmac ? dialect_number(meta->dialect) : TM_FM;

    e->flavour = flavour;
    if (opt)
        e->opt = *opt;
    if (e->opt.endian == TM_AUTO)
        e->opt.endian = meta->endian == TROD_ENDIAN_BIG ? TM_BIG : TM_LITTLE;
    e->meta = meta;
    e->from_matcher = meta->format && strcmp(meta->format, "matcher") == 0;
    e->read = tarmac || e->from_matcher;
    e->own = e->read || !meta->format;
    if (flavour->matcher) {
        e->dialect = TM_FM;
        e->same = e->from_matcher;
    } else {
        e->dialect = tm_written_dialect(opt, meta);
        e->same = tarmac && e->dialect == from;
    }
    e->fill = tarmac && from == TM_ES && (flavour->matcher || e->dialect != TM_ES);
    e->gather = !flavour->matcher && e->dialect == TM_ES && !(tarmac && from == TM_ES);
    e->iset = meta->isa == TROD_ISA_A64 ? TROD_ISET_A64 : TROD_ISET_A32;
    e->last_stream = TM_NO_STREAM;
    return TROD_OK;
}
