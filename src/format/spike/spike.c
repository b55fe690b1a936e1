/*
 * spike.c - logs of Spike, the RISC-V simulator: what it fetched (-l) and what it committed
 * (--log-commits).
 *
 * Implements docs/formats/spike.md. Reading only.
 */
#include "format/spike/spike.h"

enum {
    READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
            TROD_COL_PC | TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_CODE | TROD_COL_DATA |
            TROD_COL_TEXT | TROD_COL_RAW,
    NEXT_MAX = 256,  /* bytes of a line with tval */
    SHORT_DIGITS = 8 /* of addresses in 32-bit code */
};

enum { LOG_AUTO, LOG_COMMITS, LOG_FETCHES };

struct options {
    int log;
};

static const char *const suffixes[] = {".spike", ".spikelog", NULL};
static const char *const logs[] = {"auto", "commits", "fetches", NULL};
static const struct trod_option options[] = {
    {"log", 0, TROD_OPT_ENUM, offsetof(struct options, log), "WHICH",
     "what instructions are: commits (--log-commits), fetches (-l), auto (commits if there are "
     "any)",
     logs, NULL},
    {.type = TROD_OPT_END},
};

static const struct ln_names names = LN_NAMES("spike");

/* ---- lines */

/* "core   0: ": the hart's number. */
static bool parse_core(struct ln_line *l, uint64_t *hart)
{
    if (!ln_word(l, "core"))
        return false;
    ln_blanks(l);
    return ln_dec(l, hart) && ln_word(l, ": ");
}

/* "3 0x0000000080000000 (0x00000297)", without the privilege where it is a fetch. */
static enum ln_result parse_head(struct ln_line *l, struct spike_head *h)
{
    h->commit = l->e - l->p > 1 && *l->p >= '0' && *l->p <= '9' && l->p[1] == ' ';
    if (h->commit) {
        h->privilege = *l->p - (unsigned)'0';
        l->p += 2;
    }
    if (!ln_0x(l, &h->pc, &h->pc_digits))
        return ln_bad(l, "the address of an instruction is due here");
    if (!ln_word(l, " (") || !ln_0x(l, &h->opcode, &h->opcode_digits) || !ln_is(l, ')') ||
        h->opcode_digits < 4)
        return ln_bad(l, "an opcode in parentheses is due here");
    return LN_OK;
}

/* ---- instructions */

static enum ln_result put_instr(struct ln_line *l, const struct spike_head *h, struct ln_row r,
                                const uint8_t *text, size_t text_n)
{
    const unsigned size = ln_rv_length(h->opcode, h->opcode_digits);

    r.kind = TROD_INSTR;
    r.has |= TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SIZE;
    r.addr = r.pc = h->pc;
    r.size = size;
    if (h->commit) {
        r.has |= TROD_COL_SUB;
        r.sub = (uint16_t)h->privilege;
    }
    if (!ln_code(l, &r, h->opcode, size, false))
        return LN_FULL;
    if (text_n) {
        r.has |= TROD_COL_TEXT;
        if (l->b->have & TROD_COL_TEXT) {
            uint8_t *out = trod_batch_pool(l->b, (uint32_t)text_n, &r.text);

            if (!out)
                return LN_FULL;
            memcpy(out, text, text_n);
        }
    }
    return spike_put(l, &r);
}

/* Keep what is fetched, with the disassembly at the cursor. */
static void keep(struct spike_fetched *f, const struct ln_line *l, const struct spike_head *h)
{
    const uint8_t *e = l->e, *p = l->p;
    size_t n;

    while (p < e && *p == ' ')
        p++;
    while (e > p && e[-1] == ' ')
        e--;
    n = (size_t)(e - p) < SPIKE_TEXT_MAX ? (size_t)(e - p) : SPIKE_TEXT_MAX;
    *f = (struct spike_fetched){.hart = h->hart, .pc = h->pc, .opcode = h->opcode, .known = 1};
    f->text_n = (uint8_t)n;
    memcpy(f->text, p, n);
}

static enum ln_result fetch_line(struct spike_dec *d, struct ln_line *l, const struct spike_head *h)
{
    struct spike_fetched now;
    struct ln_row r = {.has = 0};
    enum ln_result rc;

    keep(&now, l, h);
    if (d->commits) {
        d->fetched[0] = now;
        return LN_OK;
    }
    rc = ln_stream(&d->cpus, l, d->meta, h->hart, &r);
    if (rc == LN_OK)
        rc = put_instr(l, h, r, now.text, now.text_n);
    if (rc == LN_OK)
        d->fetched[h->hart % SPIKE_HARTS] = now;
    return rc;
}

static enum ln_result commit_line(struct spike_dec *d, struct ln_line *l, struct spike_head *h)
{
    const struct spike_fetched *f = &d->fetched[0];
    const bool fetched =
        d->commits && f->known && f->pc == h->pc && (!h->has_hart || f->hart == h->hart);
    struct ln_row r = {.has = 0};
    enum ln_result rc = LN_OK;

    if (h->has_hart || fetched)
        rc = ln_stream(&d->cpus, l, d->meta, h->has_hart ? h->hart : f->hart, &r);
    if (rc == LN_OK && d->commits)
        rc = put_instr(l, h, r, f->text, fetched ? f->text_n : 0);
    l->keep = rc == LN_OK;
    return rc == LN_OK ? spike_effects(d, l, r, h) : rc;
}

/* ---- exceptions and what else there is */

/* The number of the exception or interrupt called so; false: no name that Spike has. */
static bool cause_of(struct ln_line *l, uint64_t *cause, bool *interrupt)
{
    *interrupt = ln_word(l, "interrupt #");
    if (*interrupt || ln_word(l, "trap #"))
        return ln_dec(l, cause);
    return ln_rv_cause(l->p, (size_t)(l->e - l->p), cause);
}

/*
 * The value that goes with the exception of HART, from the line behind L. LN_BAD: there is none.
 * LN_WAIT: that line is not here yet.
 */
static enum ln_result tval_behind(const struct ln_line *l, uint64_t hart, uint64_t *tval)
{
    const size_t n = (size_t)(l->limit - l->next);
    const uint8_t *nl = n ? memchr(l->next, '\n', n < NEXT_MAX ? n : NEXT_MAX) : NULL;
    struct ln_line next = {.p = l->next, .start = l->next, .e = nl ? nl : l->limit};
    uint64_t other;
    unsigned digits;

    if (!nl && !l->last && n < NEXT_MAX)
        return LN_WAIT;
    if (!parse_core(&next, &other) || other != hart)
        return LN_BAD;
    ln_blanks(&next);
    return ln_word(&next, "tval ") && ln_0x(&next, tval, &digits) ? LN_OK : LN_BAD;
}

static enum ln_result exception_line(struct spike_dec *d, struct ln_line *l, uint64_t hart)
{
    static const char epc[] = ", epc 0x";
    const uint8_t *name = l->p, *end = ln_find(name, l->e, epc, sizeof epc - 1);
    struct ln_line word = {.p = name, .start = name, .e = end};
    struct ln_row r = {.kind = TROD_EXCEPTION, .has = TROD_COL_TEXT | TROD_COL_PC};
    bool interrupt = false;
    unsigned digits;
    enum ln_result rc;

    if (!end)
        return ln_bad(l, "the name of an exception and epc are due here");
    l->p = end + 6;
    if (!ln_0x(l, &r.pc, &digits))
        return ln_bad(l, "the address of an instruction is due here");
    rc = ln_stream(&d->cpus, l, d->meta, hart, &r);
    if (rc != LN_OK)
        return rc;
    r.text = ln_slice(l, name, end);
    if (cause_of(&word, &r.value, &interrupt)) {
        r.has |= TROD_COL_VALUE;
        if (interrupt)
            r.value |= UINT64_C(1) << (digits <= SHORT_DIGITS ? 31 : 63);
    }
    rc = tval_behind(l, hart, &r.addr);
    if (rc == LN_WAIT)
        return rc;
    if (rc == LN_OK)
        r.has |= TROD_COL_ADDR;
    return spike_put(l, &r);
}

/* "Executed N times": the instruction that the hart fetched last, N - 1 times more. */
static enum ln_result executed_line(struct spike_dec *d, struct ln_line *l, uint64_t hart)
{
    const struct spike_fetched *f = &d->fetched[hart % SPIKE_HARTS];
    struct spike_head h = {.hart = hart, .pc = f->pc, .opcode = f->opcode};
    struct ln_row r = {.has = 0};
    uint64_t times;
    enum ln_result rc = LN_OK;

    if (!ln_dec(l, &times) || !ln_word(l, " times"))
        return ln_bad(l, "a number of times is due here");
    if (d->commits || times < 2)
        return LN_OK;
    if (!f->known || f->hart != hart)
        return ln_note(l);
    if (times > SPIKE_ROWS_MAX) {
        times = SPIKE_ROWS_MAX;
        l->warning =
            "instruction was executed more often than there is room for: 2048 rows are given";
    }
    rc = ln_stream(&d->cpus, l, d->meta, hart, &r);
    for (; rc == LN_OK && times > 1; times--)
        rc = put_instr(l, &h, r, f->text, f->text_n);
    return rc;
}

/* A line that begins with the hart and is no instruction. */
static enum ln_result core_line(struct spike_dec *d, struct ln_line *l, uint64_t hart)
{
    if (ln_word(l, ">>>>")) {
        struct ln_row r = {.kind = TROD_MARKER, .has = TROD_COL_TEXT};
        enum ln_result rc = ln_stream(&d->cpus, l, d->meta, hart, &r);

        ln_blanks(l);
        r.text = ln_slice(l, l->p, l->e);
        return rc == LN_OK ? spike_put(l, &r) : rc;
    }
    if (ln_word(l, "exception "))
        return exception_line(d, l, hart);
    if (ln_word(l, "Executed "))
        return executed_line(d, l, hart);
    ln_blanks(l);
    return ln_word(l, "tval ") ? LN_OK : ln_note(l); /* tval: of the exception before */
}

/* Is L an instruction that was committed, as it was written before the end of 2020? */
static bool is_old_commit(const struct ln_line *l)
{
    return l->e - l->p > 4 && *l->p >= '0' && *l->p <= '3' && memcmp(l->p + 1, " 0x", 3) == 0;
}

/* Whether an instruction comes at the cursor. */
static bool is_instr(const struct ln_line *l)
{
    return l->e - l->p > 4 && (memcmp(l->p, "0x", 2) == 0 || is_old_commit(l));
}

static enum ln_result line(void *dec, struct ln_line *l)
{
    struct spike_dec *d = dec;
    struct spike_head h = {.hart = 0};
    enum ln_result rc;

    if (l->start == l->e)
        return LN_OK;
    h.has_hart = parse_core(l, &h.hart);
    if (!h.has_hart)
        l->p = l->start;
    if (h.has_hart ? is_instr(l) : is_old_commit(l)) {
        rc = parse_head(l, &h);
        if (rc == LN_OK && !h.commit)
            return fetch_line(d, l, &h);
        if (rc == LN_OK)
            rc = commit_line(d, l, &h);
    } else {
        rc = h.has_hart ? core_line(d, l, h.hart) : ln_note(l);
    }
    if (d->commits && (rc == LN_OK || rc == LN_BAD))
        d->fetched[0].known = 0; /* a commit follows its fetch at once */
    return rc;
}

/* ---- detection */

/* Is L an instruction, and which kind? False: something else. */
static bool look(struct ln_line *l, struct spike_head *h)
{
    h->has_hart = parse_core(l, &h->hart);
    if (!h->has_hart)
        l->p = l->start;
    return (h->has_hart ? is_instr(l) : is_old_commit(l)) && parse_head(l, h) == LN_OK;
}

static int weigh(struct ln_line *l)
{
    struct spike_head h;

    if (look(l, &h))
        return (h.pc_digits == 8 || h.pc_digits == 16) && (l->p == l->e || *l->p == ' ') ? 48 : -1;
    return 0;
}

static int bid(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return ln_bid(&probe->head, weigh);
}

/* What the head of the log shows: commits, and addresses of how many digits. */
static void look_at_head(struct spike_dec *d, const struct trod_span *head)
{
    const uint8_t *const end = head->p + head->n;
    struct ln_line l = {.next = head->p};
    unsigned digits = 0;

    while (l.next < end && !(d->commits && digits)) {
        const uint8_t *nl = memchr(l.next, '\n', (size_t)(end - l.next));
        struct spike_head h;

        l.start = l.p = l.next;
        l.e = nl ? nl : end;
        l.next = nl ? nl + 1 : end;
        if (!look(&l, &h))
            continue;
        d->commits = d->commits || h.commit;
        digits = digits ? digits : h.pc_digits;
    }
    d->meta->isa = digits && digits <= SHORT_DIGITS ? TROD_ISA_RISCV32 : TROD_ISA_RISCV64;
    d->meta->addr_bits = d->meta->isa == TROD_ISA_RISCV32 ? 32 : 64;
}

static int start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    struct spike_dec *d = dec;
    const struct options *o = opt;

    (void)diag;
    d->meta = meta;
    look_at_head(d, head);
    if (o && o->log != LOG_AUTO)
        d->commits = o->log == LOG_COMMITS;
    meta->endian = TROD_ENDIAN_LITTLE;
    return TROD_OK;
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    struct spike_dec *d = dec;

    out->shared = (const uint8_t *)ln_rv_names;
    return ln_decode(&d->lines, d, in, out, READS, &names, diag, line);
}

/* The line at P whose end lies before END, into L. False: it ends behind it. */
static bool whole_line(struct ln_line *l, const uint8_t *p, const uint8_t *end)
{
    l->start = l->p = p;
    l->e = memchr(p, '\n', (size_t)(end - p));
    l->next = l->e ? l->e + 1 : NULL;
    return l->e != NULL;
}

/*
 * Where decoding can begin. Logs of commits: at a line of a fetch, which forgets the one before, or
 * at any line behind one that is neither and so has used up the one before; but not at tval, which
 * belongs to the line before it. Logs of fetches: nowhere, because "Executed N times" may refer to
 * any line.
 */
static size_t resync(const void *dec, const uint8_t *p, size_t n)
{
    const struct spike_dec *d = dec;
    const uint8_t *nl = memchr(p, '\n', n);
    struct spike_head h;
    struct ln_line l = {0};
    bool clean = false;

    if (!d->commits || !nl || !whole_line(&l, nl + 1, p + n))
        return SIZE_MAX;
    do {
        uint64_t hart;

        if (look(&l, &h) && !h.commit)
            return (size_t)(l.start - p);
        l.p = l.start;
        if (clean && !(parse_core(&l, &hart) && (ln_blanks(&l), ln_word(&l, "tval "))))
            return (size_t)(l.start - p);
        clean = true;
    } while (whole_line(&l, l.next, p + n));
    return SIZE_MAX;
}

const struct trod_format trod_format_spike = {
    .name = "spike",
    .title = "Spike's log (-l, --log-commits)",
    .suffixes = suffixes,
    .reads = READS,
    .kinds = 1u << TROD_NOTE | 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE |
             1u << TROD_REG | 1u << TROD_EXCEPTION | 1u << TROD_MARKER,
    .isas = 1u << TROD_ISA_RISCV64 | 1u << TROD_ISA_RISCV32,
    .flags = TROD_FMT_TEXT | TROD_FMT_FOLLOWS,
    .record_rows = SPIKE_ROWS_MAX,
    .options = options,
    .options_size = sizeof(struct options),
    .dec_size = sizeof(struct spike_dec),
    .bid = bid,
    .start = start,
    .decode = decode,
    .resync = resync,
    .cuts = true,
    .streams = "core",
};
