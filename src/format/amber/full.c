/*
 * full.c - FULL, Amber's traces of instructions with all registers.
 *
 * Implements docs/formats/amber.md, "FULL" (Amber, "FULL trace format"; the layout of the states is
 * that of Mac OS X's mach/ppc/thread_status.h). A record is the state at its instruction, so what
 * the instruction did is known from the record behind it: where execution goes on, and which
 * registers it wrote. Records have one size and no marks: in the middle nothing shows where one
 * begins, so there is no resync. A part of a file begins where a record does if there are no joined
 * traces before it, of which each moves records by 4 bytes: then the part before it does not end at
 * its end.
 */
#include "format/amber/full.h"

#include "core/endian.h"
#include "trace/batch_own.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    RECORD = AMBER_FULL_RECORD,
    AHEAD = 8, /* bytes of the record behind that are looked at: opcode and srr0 */
    STATE = AMBER_FULL_STATE,
    WORDS = STATE / 4,
    ROWS = 3 + 108, /* instruction, state, access, every register */
    COMMON = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_PC,
    READS = COMMON | TROD_COL_ADDR | TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_CODE |
            TROD_COL_DATA | TROD_COL_TEXT | TROD_COL_DETAIL | TROD_COL_RAW
};

static const char *const suffixes[] = {".full", NULL};

struct dec {
    uint32_t line, stream;
    bool begun, registers;
};

static int bid(const struct trod_probe *probe, const char **dialect)
{
    const uint8_t *p = probe->head.p;

    (void)dialect;
    if (probe->head.n < 4 || trod_load_be32(p) != AMBER_FULL_MAGIC)
        return 0;
    return probe->head.n >= 12 && (p[11] & 3) ? 28 : 40;
}

static int start(void *state, const void *options, const struct trod_span *head,
                 struct trod_meta *meta, struct trod_diag *diag)
{
    const struct amber_options *opt = options;
    struct dec *dec = state;
    int stream = amber_start(opt, meta, diag);

    (void)head;
    if (stream < 0)
        return stream;
    dec->stream = (uint32_t)stream;
    dec->line = (uint32_t)opt->line;
    dec->registers = opt->registers == AMBER_REGS_DIFF;
    return TROD_OK;
}

static uint32_t add_row(struct trod_batch *out, enum trod_kind kind, uint32_t has, uint32_t flags,
                        uint32_t size, uint32_t pc)
{
    uint32_t i = out->n++;

    out->has[i] = COMMON | has;
    out->kind[i] = (uint8_t)kind;
    out->flags[i] = flags;
    out->size[i] = size;
    out->pc[i] = pc;
    return i;
}

bool full_access(uint32_t opcode, const uint8_t *state, uint32_t line, struct full_access *out)
{
    const struct trod_ppc_access facts = trod_ppc_access(opcode);
    struct trod_ppc_insn insn;
    uint32_t gpr[32];

    if (facts.kind == TROD_PPC_NONE || !trod_ppc_decode(opcode, &insn))
        return false;
    for (unsigned r = 0; r < 32; r++)
        gpr[r] = full_word(state, TROD_PPC_STATE_GPR + r);
    out->third = facts.rule == TROD_PPC_STREAM ? gpr[opcode >> 11 & 31]
                                               : full_word(state, TROD_PPC_STATE_XER);
    out->ea = trod_ppc_effective_address(&insn, gpr);
    out->rule = facts.rule;
    out->row = amber_access_of(opcode, out->third, line);
    return true;
}

/* The access of OPCODE in STATE, if it has one. */
static void add_access(const struct dec *dec, struct trod_batch *out, uint32_t opcode,
                       const uint8_t *state, uint32_t pc)
{
    struct full_access access;
    struct amber_access a;
    uint8_t *detail;
    uint32_t i;

    if (!full_access(opcode, state, dec->line, &access))
        return;
    a = access.row;
    i = add_row(out, (enum trod_kind)a.kind, TROD_COL_ADDR | TROD_COL_DETAIL, a.flags | TROD_F_CONT,
                a.size, pc);
    out->addr[i] = access.ea & a.mask;
    if (a.text.len) {
        out->has[i] |= TROD_COL_TEXT;
        out->text[i] = a.text;
    }
    detail =
        trod_batch_pool(out, access.rule == TROD_PPC_STREAM || access.rule == TROD_PPC_XER ? 8 : 4,
                        &out->detail[i]);
    trod_store_be32(detail, access.ea);
    if (out->detail[i].len > 4)
        trod_store_be32(detail + 4, access.third);
}

/* A register of up to 8 bytes at word W of the state NEXT. */
static void add_value(struct trod_batch *out, enum amber_name name, const uint8_t *next, unsigned w,
                      uint32_t size, uint32_t pc)
{
    uint32_t i = add_row(out, TROD_REG, TROD_COL_TEXT | TROD_COL_VALUE, TROD_F_CONT, size, pc);

    out->text[i] = amber_name(name);
    out->value[i] = size > 4 ? trod_load_be64(next + 4 * w) : full_word(next, w);
}

/* A register of 16 bytes; data has its least significant byte first. */
static void add_vector(struct trod_batch *out, enum amber_name name, const uint8_t *next,
                       unsigned w, uint32_t pc)
{
    uint32_t i = add_row(out, TROD_REG, TROD_COL_TEXT | TROD_COL_DATA, TROD_F_CONT, 16, pc);
    uint8_t *data = trod_batch_pool(out, 16, &out->data[i]);

    out->text[i] = amber_name(name);
    for (unsigned k = 0; k < 16; k++)
        data[k] = next[4 * w + 15 - k];
}

/* The register that word W of the state belongs to, written. Returns the first word after it. */
static unsigned add_register(struct trod_batch *out, const uint8_t *next, unsigned w, uint32_t pc)
{
    struct trod_ppc_state_register r;
    enum amber_name name;

    if (!trod_ppc_state_register(w, &r))
        return w + 1;
    name = (enum amber_name)(AMBER_NAME_REGISTER + r.number);
    if (r.words == 4)
        add_vector(out, name, next, r.first, pc);
    else
        add_value(out, name, next, r.first, 4 * r.words, pc);
    return r.first + r.words;
}

enum { PAIRS = 8, STEPS = 16 }; /* pairs of words a step; steps that cover the state */

/* First word of STEP. The last step would reach beyond the state: it begins a little earlier. */
static inline unsigned step_begin(unsigned step)
{
    return step + 1 < STEPS ? step * 2 * PAIRS : WORDS - 2 * PAIRS;
}

/* Which steps differ between two states, a bit each. */
static uint32_t differing_steps(const uint8_t *a, const uint8_t *b)
{
    uint32_t steps = 0;

    for (unsigned s = 0; s < STEPS; s++) {
        size_t at = 4 * (size_t)step_begin(s);
        uint64_t any = 0;

        for (size_t i = 0; i < PAIRS; i++)
            any |= trod_load_le64(a + at + 8 * i) ^ trod_load_le64(b + at + 8 * i);
        steps |= (uint32_t)(any != 0) << s;
    }
    return steps;
}

/* Which pairs of words differ in the step that begins at word W. */
static uint32_t differing_pairs(const uint8_t *a, const uint8_t *b, unsigned w)
{
    uint32_t pairs = 0;

    for (unsigned i = 0; i < PAIRS; i++) {
        size_t at = 4 * (size_t)w + 8 * (size_t)i;

        pairs |= (uint32_t)(trod_load_le64(a + at) != trod_load_le64(b + at)) << i;
    }
    return pairs;
}

/*
 * Rows for what differs between two states: what the instruction wrote. Steps, then pairs that
 * differ are found without a branch each; few do.
 */
static void add_registers(struct trod_batch *out, const uint8_t *state, const uint8_t *next,
                          uint32_t pc)
{
    unsigned done = TROD_PPC_STATE_SRR1; /* words before are dealt with */

    for (uint32_t steps = differing_steps(state, next); steps; steps &= steps - 1) {
        unsigned first = step_begin((unsigned)__builtin_ctz(steps));
        uint32_t pairs = differing_pairs(state, next, first);

        for (; pairs; pairs &= pairs - 1) {
            unsigned w = first + 2 * (unsigned)__builtin_ctz(pairs);

            if (w >= done && full_word(state, w) != full_word(next, w))
                done = add_register(out, next, w, pc);
            if (w + 1 >= done && full_word(state, w + 1) != full_word(next, w + 1))
                done = add_register(out, next, w + 1, pc);
        }
    }
}

/* The record at P; NEXT: the state behind it, or NULL. */
static void record(const struct dec *dec, const uint8_t *p, const uint8_t *next,
                   struct trod_batch *out)
{
    const uint8_t *state = p + 4;
    uint32_t opcode = trod_load_be32(p), pc = full_word(state, TROD_PPC_STATE_SRR0),
             off = (uint32_t)(p - out->bytes);
    bool flow = trod_ppc_class(opcode, TROD_PPC_TT6) == TROD_PPC_FLOW;
    uint32_t i = add_row(out, TROD_INSTR, TROD_COL_ADDR | TROD_COL_CODE | TROD_COL_RAW, 0, 4, pc);

    out->addr[i] = pc;
    out->code[i] = (struct trod_slice){off, 4};
    out->raw[i] = (struct trod_slice){off, RECORD};
    if (next && (flow || full_word(next, TROD_PPC_STATE_SRR0) != pc + 4)) {
        out->has[i] |= TROD_COL_TARGET;
        out->target[i] = full_word(next, TROD_PPC_STATE_SRR0);
    }
    if (flow) /* of the last one it is not known whether it is taken */
        out->flags[i] =
            amber_branch_of(opcode, pc, next ? full_word(next, TROD_PPC_STATE_SRR0) : pc + 8);
    if (flow && !next && out->flags[i] == TROD_BR_COND_TAKEN)
        out->flags[i] = TROD_BR_COND;
    i = add_row(out, TROD_STATE, TROD_COL_ADDR | TROD_COL_DATA, TROD_F_CONT, STATE, pc);
    out->addr[i] = pc;
    out->data[i] = (struct trod_slice){off + 4, STATE};
    add_access(dec, out, opcode, state, pc);
    if (next && dec->registers)
        add_registers(out, state, next, pc);
}

static int truncated(const struct trod_span *in, size_t len, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_offset(NULL, in->offset);

    return trod_error(diag, TROD_ERR_TRUNCATED, "full.truncated", &at,
                      "trace ends %zu bytes into %s of %zu", in->n,
                      len == 4 ? "a magic number" : "a record", len);
}

static int magic(struct dec *dec, struct trod_span *in, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_offset(NULL, in->offset);

    if (in->n < 4)
        return in->last ? truncated(in, 4, diag) : TROD_DEC_MORE;
    if (trod_load_be32(in->p) != AMBER_FULL_MAGIC) {
        const uint32_t other = trod_load_be32(in->p) ^ AMBER_FULL_MAGIC;
        const int rc = trod_error(diag, TROD_ERR_CORRUPT, "full.magic", &at,
                                  "magic number is 0x%08" PRIx32 " and not 0x%08" PRIx32,
                                  trod_load_be32(in->p), AMBER_FULL_MAGIC);

        /* not another format if only one byte differs: the records behind it are good */
        if (other >> (__builtin_ctz(other) & 24) > UINT8_MAX || (diag && diag->strict))
            return rc;
    }
    dec->begun = true;
    amber_eat(in, 4);
    return TROD_OK;
}

/*
 * Does another trace begin at P, where a record of the one before would, N bytes before the end of
 * what is there? Its magic number is an opcode too, a load: then the record behind it is that of
 * the instruction behind it.
 */
static bool begins_another(const uint8_t *p, size_t n)
{
    if (n < RECORD + 4 || trod_load_be32(p) != AMBER_FULL_MAGIC)
        return false;
    return n < RECORD + AHEAD || full_word(p + RECORD + 4, TROD_PPC_STATE_SRR0) !=
                                     full_word(p + 4, TROD_PPC_STATE_SRR0) + 4;
}

/* The next trace of several that were put one behind the other. */
static void next_trace(struct trod_span *in, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_offset(NULL, in->offset);

    trod_diag_report(diag, TROD_SEV_NOTE, TROD_OK, "full.joined", &at,
                     "another trace begins here: they are read as one");
    amber_eat(in, 4);
}

static int decode(void *state, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    struct dec *dec = state;
    int rc;

    if (trod_batch_constant(out, &trod_format_full, dec->stream, TROD_COL_STREAM))
        for (uint32_t i = 0; i < out->cap; i++)
            out->stream[i] = dec->stream;
    out->have = READS & out->want;
    out->shared = (const uint8_t *)amber_names;
    if (!dec->begun && ((rc = magic(dec, in, diag)) != TROD_OK || !dec->begun))
        return rc;
    while (in->n >= 2 * RECORD + AHEAD || (in->last && in->n >= RECORD)) {
        const uint8_t *next = in->p + RECORD;

        if (begins_another(in->p, in->n)) {
            next_trace(in, diag);
            continue;
        }
        if (out->cap - out->n < ROWS || out->pool_cap - out->pool_n < 16 * ROWS)
            return TROD_DEC_FULL;
        if (begins_another(next, in->n - RECORD))
            next += 4; /* as in the one trace that is written of them */
        record(dec, in->p, in->n >= 2 * RECORD ? next + 4 : NULL, out);
        amber_eat(in, RECORD);
    }
    return in->last && in->n > 0 ? truncated(in, RECORD, diag) : TROD_DEC_MORE;
}

static size_t cut(const void *state, uint64_t offset, const uint8_t *p, size_t n)
{
    const size_t at = (size_t)((RECORD + 4 - offset % RECORD) % RECORD);

    (void)state;
    (void)p;
    return n >= at + RECORD + AHEAD ? at : SIZE_MAX;
}

static int pass(void *state, struct trod_span *in, struct trod_batch *out)
{
    return decode(state, in, out, NULL);
}

static int fork_state(void *state, void *from)
{
    *(struct dec *)state = *(const struct dec *)from;
    return TROD_OK;
}

static void enter(void *state, const uint8_t *p)
{
    (void)p;
    ((struct dec *)state)->begun = true;
}

static const struct trod_parts parts = {
    .cut = cut, .pass = pass, .fork = fork_state, .ahead = RECORD + AHEAD, .enter = enter};

static int save(void *state, struct trod_buf *out, struct trod_buf *log)
{
    const struct dec *dec = state;
    const uint8_t begun = dec->begun;

    (void)log;
    return trod_buf_add(out, &begun, 1);
}

static int load(void *state, struct trod_span *in, struct trod_span *log)
{
    struct dec *dec = state;

    (void)log;
    if (in->n == 0 || *in->p > 1)
        return TROD_ERR_CORRUPT;
    dec->begun = *in->p;
    return TROD_OK;
}

/* The opcode, then the state word by word. */
static int native(struct trod_native *listing, const struct trod_batch *b, uint32_t row,
                  struct trod_room *out)
{
    char line[9 * (WORDS + 1) + 1], *q = line;
    const uint8_t *p;

    (void)listing;
    if (row == TROD_NATIVE_END || !(b->have & b->has[row] & TROD_COL_RAW) ||
        b->raw[row].len != RECORD)
        return TROD_ENC_DONE;
    p = trod_batch_bytes(b, b->raw[row]);
    for (unsigned w = 0; w <= WORDS; w++)
        q += sprintf(q, "%08" PRIx32 "%c", full_word(p, w), w < WORDS ? ' ' : '\n');
    if (out->end - out->p < q - line)
        return TROD_ENC_FULL;
    memcpy(out->p, line, (size_t)(q - line));
    out->p += q - line;
    return TROD_ENC_DONE;
}

const struct trod_format trod_format_full = {
    .name = "full",
    .title = "Amber FULL (PowerPC instructions with all registers)",
    .suffixes = suffixes,
    .reads = READS,
    .kinds = 1u << TROD_INSTR | 1u << TROD_REG | 1u << TROD_STATE | 1u << TROD_READ |
             1u << TROD_WRITE | 1u << TROD_PREFETCH | 1u << TROD_FLUSH | 1u << TROD_CACHE_OP,
    .writes = READS,
    .isas = 1u << TROD_ISA_PPC32 | 1u << TROD_ISA_PPC64,
    .flags = TROD_FMT_PER_STREAM | TROD_FMT_ONE_STREAM | TROD_FMT_MAGIC,
    .row_max = RECORD + 4,
    .record_rows = ROWS,
    .options = amber_full_options,
    .options_size = sizeof(struct amber_options),
    .dec_size = sizeof(struct dec),
    .enc_size = sizeof(struct full_enc),
    .defaults = &amber_defaults,
    .bid = bid,
    .start = start,
    .decode = decode,
    .begin = full_begin,
    .encode = full_encode,
    .target = full_target,
    .finish = full_finish,
    .native = native,
    .streams = "thread",
    .save = save,
    .load = load,
    .parts = &parts,
};
