/*
 * execlog.c - what QEMU's execlog plugin prints: instructions with their accesses and registers.
 *
 * Implements docs/formats/qemu.md, "execlog". Reading only.
 */
#include "format/lines/lines.h"

enum {
    READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
            TROD_COL_PADDR | TROD_COL_PC | TROD_COL_VALUE | TROD_COL_CODE | TROD_COL_DATA |
            TROD_COL_TEXT | TROD_COL_RAW,
    ROWS_MAX = 600 /* of one line: vectors, and all registers of a processor */
};

struct options {
    struct ln_isa isa;
};

struct decoder {
    struct ln_state lines;
    struct trod_meta *meta;
    struct ln_cpus cpus;
};

static const char *const suffixes[] = {".execlog", NULL};
static const struct trod_option options[] = {
    {"isa", 0, TROD_OPT_ENUM, offsetof(struct options, isa.isa), "NAME",
     "what the instructions are: auto (from the disassembly), arm, a64, ppc32, ppc64, x86_32, "
     "x86_64, mips32, mips64, riscv64 or riscv32",
     ln_isa_choices, NULL},
    {.type = TROD_OPT_END},
};

static const struct ln_names names = LN_NAMES("execlog");

/* The head of a line: CPU, 0xPC, 0xOPCODE, "DISASM". */
struct head {
    uint64_t cpu, pc, opcode;
    const uint8_t *text, *text_end;
};

/* The quotation mark that ends the disassembly at P; NULL: there is none. */
static const uint8_t *closing(const uint8_t *p, const uint8_t *e)
{
    for (; p < e; p++) {
        p = memchr(p, '"', (size_t)(e - p));
        if (!p || p + 1 == e || p[1] == ',')
            return p;
    }
    return NULL;
}

static enum ln_result parse_head(struct ln_line *l, struct head *h)
{
    unsigned digits;

    if (!ln_dec(l, &h->cpu) || !ln_word(l, ", "))
        return ln_bad(l, "the number of a cpu and a comma are due here");
    if (!ln_0x(l, &h->pc, &digits) || !ln_word(l, ", "))
        return ln_bad(l, "the address of an instruction and a comma are due here");
    if (!ln_0x(l, &h->opcode, &digits) || digits > 8 || !ln_word(l, ", "))
        return ln_bad(l, "an opcode of up to 8 digits and a comma are due here");
    if (!ln_is(l, '"'))
        return ln_bad(l, "disassembly in quotation marks is due here");
    h->text = l->p;
    h->text_end = closing(l->p, l->e);
    if (!h->text_end)
        return ln_bad(l, "the quotation mark that ends the disassembly is missing");
    l->p = h->text_end + 1;
    while (h->text_end > h->text && h->text_end[-1] == ' ')
        h->text_end--;
    return LN_OK;
}

/* Bytes of the instruction whose first four are OPCODE; 0: they do not tell. */
static unsigned length_of(enum trod_isa isa, uint64_t opcode)
{
    switch (isa) {
    case TROD_ISA_A64:
    case TROD_ISA_PPC32:
    case TROD_ISA_PPC64:
    case TROD_ISA_MIPS32:
    case TROD_ISA_MIPS64:
        return 4;
    case TROD_ISA_RISCV32:
    case TROD_ISA_RISCV64:
        return (opcode & 3) == 3 ? 4 : 2;
    default:
        return 0;
    }
}

static enum ln_result put_instr(struct decoder *d, struct ln_line *l, const struct head *h,
                                struct ln_row *r)
{
    const unsigned n = length_of(d->meta->isa, h->opcode);

    r->kind = TROD_INSTR;
    r->has |= TROD_COL_ADDR | TROD_COL_PC;
    r->addr = r->pc = h->pc;
    if (h->text < h->text_end) {
        r->has |= TROD_COL_TEXT;
        r->text = ln_slice(l, h->text, h->text_end);
    }
    if (n) {
        r->has |= TROD_COL_SIZE;
        r->size = n;
        if (!ln_code(l, r, h->opcode, n, false))
            return LN_FULL;
    }
    return ln_put(l, r) ? LN_OK : LN_FULL;
}

/* load or store was read: the address, and what is there. */
static enum ln_result put_access(struct ln_line *l, struct ln_row *r)
{
    const uint8_t *here, *end;
    uint64_t addr;
    unsigned digits;

    if (!ln_word(l, ", ") || !ln_0x(l, &addr, &digits))
        return ln_bad(l, "the address of an access is due here");
    here = l->p;
    r->has |= TROD_COL_ADDR;
    r->addr = addr;
    if (ln_word(l, ", ")) {
        const uint8_t *name = l->p;

        end = memchr(name, ',', (size_t)(l->e - name));
        end = end ? end : l->e;
        if (ln_word(l, "load") || ln_word(l, "store") || ln_find(name, end, " -> ", 4)) {
            l->p = here; /* the next item, no device */
        } else {
            r->has = (r->has & ~(uint32_t)TROD_COL_ADDR) | TROD_COL_PADDR | TROD_COL_TEXT;
            r->paddr = addr;
            r->text = ln_slice(l, name, end);
            l->p = end;
        }
    }
    return ln_put(l, r) ? LN_OK : LN_FULL;
}

/* Registers have an even number of bytes or one: an odd one is the byte too many of QEMU 9.0. */
static bool has_extra_byte(const struct ln_line *l)
{
    const uint8_t *q = l->p;

    while (q < l->e && ln_digit(*q) < 16)
        q++;
    return q - l->p > 2 && (q - l->p) % 4 == 2;
}

static enum ln_result put_register(struct ln_line *l, struct ln_row *r)
{
    const uint8_t *name = l->p, *arrow = ln_find(name, l->e, " -> ", 4);
    enum ln_result result;

    if (!arrow || arrow == name)
        return ln_bad(l, "load, store or a register is due here");
    r->kind = TROD_REG;
    r->has |= TROD_COL_TEXT | TROD_COL_SIZE;
    r->text = ln_slice(l, name, arrow);
    l->p = arrow + 4;
    if (!ln_word(l, "0x"))
        return ln_bad(l, "a hexadecimal number with 0x is due here");
    if (has_extra_byte(l))
        l->p += 2;
    result = ln_value(l, r, &r->size);
    if (result != LN_OK)
        return result;
    return ln_put(l, r) ? LN_OK : LN_FULL;
}

static enum ln_result line(void *dec, struct ln_line *l)
{
    struct decoder *d = dec;
    struct ln_row base = {.has = 0};
    struct head h;
    enum ln_result rc;

    if (l->start == l->e)
        return LN_OK;
    if (*l->start < '0' || *l->start > '9' ||
        !ln_find(l->start, l->e, ", 0x", 4)) /* of the program, or of QEMU itself */
        return ln_note(l);
    rc = parse_head(l, &h);
    if (rc == LN_OK)
        rc = ln_stream(&d->cpus, l, d->meta, h.cpu, &base);
    if (rc == LN_OK) {
        struct ln_row r = base;

        rc = put_instr(d, l, &h, &r);
    }
    l->keep = rc == LN_OK; /* damage behind the instruction does not take it away */
    while (rc == LN_OK && l->p < l->e) {
        struct ln_row r = base;

        r.has |= TROD_COL_PC;
        r.pc = h.pc;
        if (!ln_word(l, ", "))
            return ln_bad(l, "a comma is due here");
        r.kind = TROD_READ;
        if (ln_word(l, "load,") || ln_word(l, "store,")) {
            r.kind = l->p[-2] == 'd' ? TROD_READ : TROD_WRITE;
            l->p--;
            rc = put_access(l, &r);
        } else {
            rc = put_register(l, &r);
        }
    }
    return rc;
}

static int weigh(struct ln_line *l)
{
    struct head h;

    if (*l->start < '0' || *l->start > '9')
        return 0;
    /* digits, four separators of two or more characters, two 0x, quotation marks */
    return parse_head(l, &h) == LN_OK && (l->p == l->e || *l->p == ',') ? 40 : -1;
}

static int bid(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return ln_bid(&probe->head, weigh);
}

static int start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    struct decoder *d = dec;
    const struct options *o = opt;

    (void)diag;
    d->meta = meta;
    ln_isa_settle(o ? &o->isa : NULL, head, meta);
    return TROD_OK;
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    struct decoder *d = dec;

    return ln_decode(&d->lines, d, in, out, READS, &names, diag, line);
}

static size_t resync(const void *dec, const uint8_t *p, size_t n)
{
    (void)dec;
    return ln_resync(p, n);
}

static int save(void *dec, struct trod_buf *state, struct trod_buf *log)
{
    (void)log;
    return ln_save(&((struct decoder *)dec)->lines, state);
}

static int load(void *dec, struct trod_span *state, struct trod_span *log)
{
    (void)log;
    return ln_load(&((struct decoder *)dec)->lines, state);
}

const struct trod_format trod_format_execlog = {
    .name = "execlog",
    .title = "QEMU execlog plugin's text",
    .suffixes = suffixes,
    .reads = READS,
    .kinds =
        1u << TROD_NOTE | 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_REG,
    .flags = TROD_FMT_TEXT | TROD_FMT_FOLLOWS | TROD_FMT_PHYSICAL,
    .record_rows = ROWS_MAX,
    .options = options,
    .options_size = sizeof(struct options),
    .dec_size = sizeof(struct decoder),
    .bid = bid,
    .start = start,
    .decode = decode,
    .resync = resync,
    .cuts = true,
    .save = save,
    .load = load,
};
