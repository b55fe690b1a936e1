/*
 * script.c - the text of perf script: branch stacks, branches, memory samples, traced instructions.
 *
 * Implements docs/formats/perf.md. Reading only.
 */
#include "format/perf/script.h"
#include "core/pack.h"

enum {
    READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_TIME |
            TROD_COL_UNIT | TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_PC | TROD_COL_TARGET |
            TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_CODE | TROD_COL_TEXT | TROD_COL_RAW
};

struct options {
    struct ln_isa isa;
};

struct decoder {
    struct ln_state lines;
    struct trod_meta *meta;
    bool shows; /* the last sample stands on several lines: what is indented belongs to it */
};

static const char *const suffixes[] = {".perfscript", ".perf", NULL};
static const struct trod_option options[] = {
    {"isa", 0, TROD_OPT_ENUM, offsetof(struct options, isa.isa), "NAME",
     "what the instructions are: auto (unknown), arm, a64, ppc32, ppc64, x86_32, x86_64, mips32, "
     "mips64, riscv64 or riscv32",
     ln_isa_choices, NULL},
    {.type = TROD_OPT_END},
};

static const struct ln_names names = LN_NAMES("perfscript");

/* ---- rows */

static enum ln_result put(struct ln_line *l, const struct ln_row *r)
{
    return ln_put(l, r) ? LN_OK : LN_FULL;
}

/* The newest branch stands first: from the last on. */
static enum ln_result put_branches(struct ln_line *l, struct ln_row r, const struct ps_sample *s)
{
    r.kind = TROD_BRANCH;
    r.has |= TROD_COL_ADDR | TROD_COL_PC | TROD_COL_TARGET;
    for (unsigned i = s->n_branches; i > 0; i--) {
        const struct ps_branch *b = &s->branch[i - 1];

        r.addr = r.pc = b->from;
        r.target = b->to;
        r.flags = b->kind;
        r.has &= ~(uint32_t)(TROD_COL_SUB | TROD_COL_VALUE);
        if (b->predicted) {
            r.has |= TROD_COL_SUB;
            r.sub = b->predicted;
        }
        if (b->has_cycles) {
            r.has |= TROD_COL_VALUE;
            r.value = b->cycles;
        }
        if (!ln_put(l, &r))
            return LN_FULL;
    }
    return LN_OK;
}

static enum ln_result put_code(struct ln_line *l, struct ln_row r, const struct ps_sample *s)
{
    uint8_t *out;

    r.kind = TROD_INSTR;
    r.has |= TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SIZE | TROD_COL_CODE;
    r.addr = r.pc = s->ip;
    r.size = s->code_n;
    if (l->b->have & TROD_COL_CODE) {
        out = trod_batch_pool(l->b, s->code_n, &r.code);
        if (!out)
            return LN_FULL;
        memcpy(out, s->code, s->code_n);
    }
    return put(l, &r);
}

static enum ln_result put_sample(struct ln_line *l, struct ln_row r, const struct ps_sample *s)
{
    if (s->has_ip) {
        r.has |= TROD_COL_PC;
        r.pc = s->ip;
    }
    if (s->has_target && s->has_ip) {
        r.kind = TROD_BRANCH;
        r.has |= TROD_COL_ADDR | TROD_COL_TARGET;
        r.addr = s->ip;
        r.target = s->target;
        r.flags = TROD_BR_OTHER;
        return put(l, &r);
    }
    if (s->op && s->has_addr) {
        r.kind = s->op == PS_STORE ? TROD_WRITE : TROD_READ;
        r.has |= TROD_COL_ADDR;
        r.addr = s->addr;
        if (s->has_paddr) {
            r.has |= TROD_COL_PADDR;
            r.paddr = s->paddr;
        }
        return put(l, &r);
    }
    r.kind = TROD_MARKER;
    if (s->event < s->event_end) {
        r.has |= TROD_COL_TEXT;
        r.text = ln_slice(l, s->event, s->event_end);
    }
    if (s->has_period) {
        r.has |= TROD_COL_VALUE;
        r.value = s->period;
    }
    return put(l, &r);
}

static enum ln_result rows_of(struct decoder *d, struct ln_line *l, const struct ps_sample *s)
{
    struct ln_row r = {.has = 0};
    enum ln_result rc = LN_OK;

    if (s->has_time) {
        r.has |= TROD_COL_TIME | TROD_COL_UNIT;
        r.time = s->time;
        r.unit = s->decimals == 6 ? TROD_UNIT_US : TROD_UNIT_NS;
    }
    if (s->has_tid)
        rc = ln_stream_found(l, trod_meta_thread(d->meta, s->tid, s->pid, d->meta->file), &r);
    if (rc != LN_OK)
        return rc;
    if (s->code_n && s->has_ip)
        return put_code(l, r, s);
    return s->n_branches ? put_branches(l, r, s) : put_sample(l, r, s);
}

static enum ln_result line(void *dec, struct ln_line *l)
{
    struct decoder *d = dec;
    struct ps_sample s;
    enum ln_result rc;

    if (l->start == l->e) {
        d->shows = false;
        return LN_OK;
    }
    if (*l->start == '\t' && d->shows)
        return LN_OK; /* a caller of the sample's place */
    rc = ps_parse(l, &s);
    if (rc == LN_BAD && !l->why)
        return ln_note(l);
    if (rc == LN_OK)
        rc = rows_of(d, l, &s);
    if (rc == LN_OK || rc == LN_BAD)
        d->shows = true;
    return rc;
}

static int weigh(struct ln_line *l)
{
    struct ps_sample s;

    if (*l->start == '\t')
        return 0;
    l->why = NULL;
    if (ps_parse(l, &s) != LN_OK)
        return 0;
    if (s.n_branches)
        return 40;
    if (!s.has_time || !(s.code_n || s.event < s.event_end))
        return 0;
    return s.has_cpu ? 30 : 20;
}

static int bid(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return ln_bid(&probe->head, weigh);
}

static int start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    static const struct trod_span nothing = {.p = (const uint8_t *)""};
    struct decoder *d = dec;
    const struct options *o = opt;

    (void)diag;
    (void)head; /* names of functions and files are no words of an instruction set */
    d->meta = meta;
    ln_isa_settle(o ? &o->isa : NULL, &nothing, meta);
    return TROD_OK;
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    struct decoder *d = dec;

    return ln_decode(&d->lines, d, in, out, READS, &names, diag, line);
}

static int save(void *dec, struct trod_buf *state, struct trod_buf *log)
{
    const struct decoder *d = dec;
    int rc = ln_save(&d->lines, state);

    (void)log;
    return rc < 0 ? rc : trod_pack(state, d->shows);
}

static int load(void *dec, struct trod_span *state, struct trod_span *log)
{
    struct decoder *d = dec;
    uint64_t shows;

    (void)log;
    if (ln_load(&d->lines, state) < 0 || trod_unpack(state, &shows) < 0 || shows > 1)
        return TROD_ERR_CORRUPT;
    d->shows = shows;
    return TROD_OK;
}

const struct trod_format trod_format_perfscript = {
    .name = "perfscript",
    .title = "perf script's text",
    .suffixes = suffixes,
    .reads = READS,
    .kinds = 1u << TROD_NOTE | 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE |
             1u << TROD_BRANCH | 1u << TROD_MARKER,
    .flags = TROD_FMT_TEXT | TROD_FMT_BRANCHES,
    .record_rows = PS_BRANCHES,
    .options = options,
    .options_size = sizeof(struct options),
    .dec_size = sizeof(struct decoder),
    .bid = bid,
    .start = start,
    .decode = decode,
    .save = save,
    .load = load,
    .streams = "thread",
};
