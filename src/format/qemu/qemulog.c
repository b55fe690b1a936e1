/*
 * qemulog.c - QEMU's log of blocks: -d in_asm,exec,nochain, and -singlestep -d exec,nochain.
 *
 * Implements docs/formats/qemu.md, "qemulog". A block is shown once, when it is translated; each
 * time it is executed a line names it, which becomes a row for each of its instructions. Reading
 * only.
 */
#include "core/pack.h"
#include "format/qemu/log.h"

enum {
    READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
            TROD_COL_PC | TROD_COL_CODE | TROD_COL_TEXT | TROD_COL_RAW,
    STOPPED_MAX = 4096,  /* bytes of a line that says that a block was not executed */
    CFLAGS_COUNT = 0x1ff /* how many instructions a block may have; 0: any */
};

enum { ORDER_AUTO, ORDER_LITTLE, ORDER_BIG };

struct options {
    struct ln_isa isa;
    int endian;
};

struct decoder {
    struct ln_state lines;
    struct trod_meta *meta;
    struct ql_blocks *blocks;
    struct ln_cpus cpus;
    bool big;
    bool in_block; /* lines of code belong to a block of the program */
};

static const char *const suffixes[] = {".qemulog", ".qemu", NULL};
static const char *const orders[] = {"auto", "little", "big", NULL};
static const struct trod_option options[] = {
    {"isa", 0, TROD_OPT_ENUM, offsetof(struct options, isa.isa), "NAME",
     "what the instructions are: auto (from the disassembly), arm, a64, ppc32, ppc64, x86_32, "
     "x86_64, mips32, mips64, riscv64 or riscv32",
     ln_isa_choices, NULL},
    {"endian", 0, TROD_OPT_ENUM, offsetof(struct options, endian), "ORDER",
     "byte order of opcodes in memory: auto (big for PowerPC and MIPS), little or big", orders,
     NULL},
    {.type = TROD_OPT_END},
};

static const struct ln_names names = LN_NAMES("qemulog");

static enum ln_result fatal(struct ln_line *l, int status)
{
    l->status = status;
    l->why = status == TROD_ERR_NOMEM ? "out of memory"
                                      : "more than 512 MiB of different code and disassembly";
    return LN_FATAL;
}

static enum ln_result code_line(struct decoder *d, struct ln_line *l)
{
    struct ql_code c;
    const enum ln_result result = ql_parse_code(l, d->big, &c);
    int rc;

    if (result != LN_OK)
        return result;
    if (ql_more(d->blocks, &c))
        return LN_OK;
    if (d->meta->isa != TROD_ISA_ARM)
        c.iset = TROD_ISET_NONE;
    rc = ql_add(d->blocks, &c);
    if (rc == TROD_ERR_LIMIT && d->blocks->n_insns - d->blocks->open_insns >= QL_BLOCK_MAX) {
        l->p = l->start;
        return ln_bad(l, "block has more than 512 instructions");
    }
    return rc < 0 ? fatal(l, rc) : LN_OK;
}

/*
 * Does the line behind L say that the block at PC, which L names, was not executed after all?
 * LN_BAD: it does not. LN_WAIT: it is not here yet.
 */
static enum ln_result stopped(const struct ln_line *l, uint64_t pc)
{
    static const char word[] = "Stopped";
    struct ln_line next = {.p = l->next, .start = l->next, .e = l->limit};
    const size_t n = (size_t)(l->limit - l->next), seen = n < sizeof word - 1 ? n : sizeof word - 1;
    const uint8_t *nl;
    uint64_t at;

    if (memcmp(l->next, word, seen) != 0)
        return LN_BAD;
    if (seen < sizeof word - 1)
        return l->last ? LN_BAD : LN_WAIT;
    nl = memchr(l->next, '\n', n < STOPPED_MAX ? n : STOPPED_MAX);
    if (!nl && !l->last && n < STOPPED_MAX)
        return LN_WAIT;
    if (nl)
        next.e = nl;
    return ql_parse_stopped(&next, &at) == LN_OK && at == pc ? LN_OK : LN_BAD;
}

static enum ln_result put_block(const struct decoder *d, struct ln_line *l, struct ln_row *r,
                                const struct ql_block *b)
{
    const uint32_t has = r->has;

    for (uint32_t i = 0; i < b->n; i++) {
        const struct ql_insn *insn = &d->blocks->insn[b->first + i];

        r->addr = r->pc = insn->pc;
        r->size = insn->code_n;
        r->code.off = insn->code | (uint32_t)TROD_SLICE_SHARED;
        r->code.len = insn->code_n;
        r->text.off = insn->text | (uint32_t)TROD_SLICE_SHARED;
        r->text.len = insn->text_n;
        r->flags = (uint32_t)insn->iset << TROD_F_ISET_SHIFT;
        r->has = has | (insn->text_n ? (uint32_t)TROD_COL_TEXT : 0) |
                 (insn->code_n ? (uint32_t)(TROD_COL_SIZE | TROD_COL_CODE) : 0);
        if (!ln_put(l, r))
            return LN_FULL;
    }
    return LN_OK;
}

static enum ln_result trace_line(struct decoder *d, struct ln_line *l)
{
    struct ln_row r = {.kind = TROD_INSTR, .has = TROD_COL_ADDR | TROD_COL_PC};
    struct ql_trace_line t;
    const struct ql_block *b;
    enum ln_result result = ql_parse_trace(l, &t);
    int rc;

    if (result != LN_OK)
        return result;
    result = ln_stream(&d->cpus, l, d->meta, t.cpu, &r);
    if (result != LN_OK)
        return result;
    result = stopped(l, t.pc);
    if (result != LN_BAD)
        return result; /* LN_OK: no row */
    b = ql_find(d->blocks, t.pc, t.host);
    if (!b) {
        r.addr = r.pc = t.pc;
        if (t.cflags == TROD_NOWHERE || (t.cflags & CFLAGS_COUNT) != 1)
            l->warning = "log does not show the instructions of this block, of which the first "
                         "stands for all: record with -d in_asm,exec,nochain";
        return ln_put(l, &r) ? LN_OK : LN_FULL;
    }
    result = put_block(d, l, &r, b);
    if (result != LN_OK)
        return result;
    rc = ql_bind(d->blocks, b, t.host);
    return rc < 0 ? fatal(l, rc) : LN_OK;
}

/* A line between blocks, and what begins and ends them. */
static enum ln_result other_line(struct decoder *d, struct ln_line *l)
{
    int rc;

    if (l->start == l->e || ln_word(l, "----------------")) {
        rc = ql_end(d->blocks);
        d->in_block = false;
        return rc < 0 ? fatal(l, rc) : LN_OK;
    }
    if (ln_word(l, "IN:")) {
        rc = ql_begin(d->blocks);
        d->in_block = true;
        return rc < 0 ? fatal(l, rc) : LN_OK;
    }
    return ln_note(l);
}

static enum ln_result line(void *dec, struct ln_line *l)
{
    struct decoder *d = dec;
    const size_t n = (size_t)(l->e - l->p);
    uint64_t pc;
    int rc;

    if (n > 6 && memcmp(l->p, "Trace ", 6) == 0) {
        rc = ql_end(d->blocks);
        d->in_block = false;
        return rc < 0 ? fatal(l, rc) : trace_line(d, l);
    }
    if (n > 2 && d->in_block && l->p[0] == '0' && l->p[1] == 'x')
        return code_line(d, l);
    if (n > 18 && memcmp(l->p, "Stopped execution ", 18) == 0)
        return ql_parse_stopped(l, &pc);
    return other_line(d, l);
}

static int weigh(struct ln_line *l)
{
    struct ql_code c;
    struct ql_trace_line t;
    uint64_t pc;

    switch (*l->start) {
    case '0':
        return ql_parse_code(l, false, &c) == LN_OK && c.text < c.text_end && c.code_n ? 6 : 0;
    case 'T':
        return ql_parse_trace(l, &t) == LN_OK ? 40 : 0;
    case 'S':
        return ql_parse_stopped(l, &pc) == LN_OK ? 40 : 0;
    case '-':
        return ln_word(l, "----------------") && l->p == l->e ? 1 : 0;
    case 'I':
        return ln_word(l, "IN: ") ? 6 : 0;
    default:
        return 0;
    }
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
    const int order = o ? o->endian : ORDER_AUTO;

    d->meta = meta;
    if (order != ORDER_AUTO)
        meta->endian = order == ORDER_BIG ? TROD_ENDIAN_BIG : TROD_ENDIAN_LITTLE;
    ln_isa_settle(o ? &o->isa : NULL, head, meta);
    if (order == ORDER_AUTO && (meta->isa == TROD_ISA_MIPS32 || meta->isa == TROD_ISA_MIPS64))
        meta->endian = TROD_ENDIAN_BIG;
    d->big = meta->endian == TROD_ENDIAN_BIG;
    if (ql_blocks_new(&d->blocks) < 0)
        return trod_error(diag, TROD_ERR_NOMEM, names.limit, NULL, "out of memory");
    return TROD_OK;
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    struct decoder *d = dec;
    const int rc = ln_decode(&d->lines, d, in, out, READS, &names, diag, line);

    out->shared = d->blocks->pool;
    return rc;
}

static int save(void *dec, struct trod_buf *state, struct trod_buf *log)
{
    struct decoder *d = dec;
    int rc = ln_save(&d->lines, state);

    if (rc == TROD_OK)
        rc = trod_pack(state, d->in_block);
    return rc < 0 ? rc : ql_save(d->blocks, state, log);
}

static int load(void *dec, struct trod_span *state, struct trod_span *log)
{
    struct decoder *d = dec;
    uint64_t in_block;

    if (ln_load(&d->lines, state) < 0 || trod_unpack(state, &in_block) < 0 || in_block > 1)
        return TROD_ERR_CORRUPT;
    d->in_block = in_block;
    return ql_load(d->blocks, state, log);
}

static void stop(void *dec)
{
    struct decoder *d = dec;

    ql_blocks_free(d->blocks);
    d->blocks = NULL;
}

const struct trod_format trod_format_qemulog = {
    .name = "qemulog",
    .title = "QEMU log (-d in_asm,exec,nochain)",
    .suffixes = suffixes,
    .reads = READS,
    .kinds = 1u << TROD_NOTE | 1u << TROD_INSTR,
    .flags = TROD_FMT_TEXT,
    .record_rows = QL_BLOCK_MAX,
    .options = options,
    .options_size = sizeof(struct options),
    .dec_size = sizeof(struct decoder),
    .bid = bid,
    .start = start,
    .decode = decode,
    .stop = stop,
    .save = save,
    .load = load,
};
