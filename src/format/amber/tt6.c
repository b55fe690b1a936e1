/*
 * tt6.c - TT6 and TT6E, Amber's traces of PowerPC instructions: one decoder for both.
 *
 * Implements docs/formats/amber.md, "TT6 and TT6E" (Amber, "TT6 trace format", "TT6E trace format",
 * "Thread Synchronization Records"). Here are the records that need a closer look; plain ones are
 * read in tt6_plain.c, passed over in tt6_pass.c, and written in tt6_encode.c. A record's address
 * is known only from the records before it, so there is no place in the middle where decoding could
 * begin by itself: no resync.
 */
#include "format/amber/tt6.h"

#include "core/endian.h"
#include "core/pack.h"
#include "trace/batch_own.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    ATTACHABLE = 1 << AMBER_ESC_DATA | 1 << AMBER_ESC_REAL_TARGET | 1 << AMBER_ESC_REAL_DATA |
                 1 << AMBER_ESC_REAL_PC
};

enum { NATIVE_WORDS = 64 };

static const char *const tt6_suffixes[] = {".tt6", NULL};
static const char *const tt6e_suffixes[] = {".tt6e", NULL};
static const char *const tt6_dialects[] = {"TT6", "TT6 (or TT6E)", NULL};
static const char *const tt6e_dialects[] = {"TT6E", "TT6E (or TT6)", NULL};

static int start(void *state, const struct amber_options *opt, struct trod_meta *meta,
                 bool extended, struct trod_diag *diag)
{
    struct tt6_dec *dec = state;
    int stream = amber_start(opt, meta, diag);

    if (stream < 0)
        return stream;
    dec->stream = (uint32_t)stream;
    dec->line = (uint32_t)opt->line;
    dec->extended = extended;
    tt6_tables_make(&dec->t, extended, dec->line);
    return TROD_OK;
}

static int start_tt6(void *dec, const void *opt, const struct trod_span *head,
                     struct trod_meta *meta, struct trod_diag *diag)
{
    (void)head;
    return start(dec, opt, meta, false, diag);
}

static int start_tt6e(void *dec, const void *opt, const struct trod_span *head,
                      struct trod_meta *meta, struct trod_diag *diag)
{
    (void)head;
    return start(dec, opt, meta, true, diag);
}

/* Begin a row of N bytes of record at P. */
static uint32_t add_row(struct trod_batch *out, enum trod_kind kind, uint32_t has, uint32_t pc,
                        const uint8_t *p, size_t n)
{
    uint32_t i = out->n++;

    out->has[i] = has;
    out->kind[i] = (uint8_t)kind;
    out->flags[i] = 0;
    out->pc[i] = pc;
    out->raw[i] = (struct trod_slice){(uint32_t)(p - out->bytes), (uint32_t)n};
    return i;
}

static void initial_pc(struct tt6_dec *dec, const uint8_t *p, struct trod_batch *out)
{
    uint32_t i;

    dec->begun = true;
    dec->pc = trod_load_be32(p);
    i = add_row(out, TROD_MARKER, TT6_ESCAPE | TROD_COL_VALUE, dec->pc, p, 4);
    out->sub[i] = AMBER_INITIAL_PC;
    out->value[i] = dec->pc;
}

/* Words of an escape record's payload as a number: one or two of them. */
static uint64_t payload_value(const uint8_t *p, unsigned words)
{
    return words == 1 ? trod_load_be32(p) : trod_load_be64(p);
}

static void escape(struct tt6_dec *dec, const uint8_t *p, struct trod_batch *out)
{
    uint32_t head = trod_load_be32(p), code = head >> 16, words = head & AMBER_ESC_WORDS;
    bool sync = words == 2 && (trod_sync_is_signal(code) || trod_sync_is_wait(code));
    uint32_t i =
        add_row(out, sync ? TROD_SYNC : TROD_MARKER, TT6_ESCAPE, dec->pc, p, 4 + 4 * words);

    out->sub[i] = (uint16_t)code;
    if (words > 0 && !sync) {
        out->has[i] |= TROD_COL_DATA;
        out->data[i] = (struct trod_slice){out->raw[i].off + 4, 4 * words};
    }
    if (sync) {
        out->has[i] |= TROD_COL_ADDR | TROD_COL_VALUE;
        out->addr[i] = trod_load_be32(p + 4);
        out->value[i] = trod_load_be32(p + 8);
    } else if (words == 1 || words == 2) {
        out->has[i] |= TROD_COL_VALUE;
        out->value[i] = payload_value(p + 4, words);
        if (code < 8 && (ATTACHABLE >> code & 1)) {
            dec->attached |= (uint8_t)(1u << code);
            dec->attach[code] = out->value[i];
        }
    }
}

/*
 * Are the record at P, behind a twi, and the one behind it synthetic? If the trace ends between the
 * two, the first one counts as synthetic.
 */
static bool trap_pair(const uint8_t *p, size_t n)
{
    return (trod_load_be32(p) & ~2u) == AMBER_B_700 &&
           (n < 12 || trod_load_be32(p + 8) == AMBER_RFI);
}

/* State of a trap and its return behind OPCODE; the flags that the row gets. */
static uint32_t step_trap(struct tt6_dec *dec, uint32_t opcode, const uint8_t *p, size_t n)
{
    uint32_t flags = 0;

    if (dec->extended && opcode >> 26 == AMBER_MAJOR_TWI) {
        dec->trap = 1;
    } else if (dec->trap == 1 && trap_pair(p, n)) {
        dec->trap = 2;
        flags = TROD_F_SYNTHETIC;
    } else {
        if (dec->trap == 2)
            flags = TROD_F_SYNTHETIC;
        dec->trap = 0;
    }
    return flags;
}

/*
 * Give the rows of an instruction what escapes say of it. I: its row; access: I + 1 is its access.
 */
static void attach(struct tt6_dec *dec, struct trod_batch *out, uint32_t i, bool access)
{
    uint8_t *detail;

    if (dec->attached >> AMBER_ESC_REAL_PC & 1) {
        out->has[i] |= TROD_COL_PADDR;
        out->paddr[i] = dec->attach[AMBER_ESC_REAL_PC];
    }
    if ((dec->attached >> AMBER_ESC_REAL_TARGET & 1) &&
        (detail = trod_batch_pool(out, 8, &out->detail[i]))) {
        out->has[i] |= TROD_COL_DETAIL;
        trod_store_be64(detail, dec->attach[AMBER_ESC_REAL_TARGET]);
    }
    if (access && (dec->attached >> AMBER_ESC_REAL_DATA & 1)) {
        out->has[i + 1] |= TROD_COL_PADDR;
        out->paddr[i + 1] = dec->attach[AMBER_ESC_REAL_DATA];
    }
    dec->attached = 0;
}

void tt6_access_row(struct trod_batch *out, uint32_t i, const struct amber_access *a, uint32_t ea)
{
    out->has[i] = TT6_ACCESS;
    out->kind[i] = a->kind;
    out->flags[i] = a->flags | TROD_F_CONT;
    out->size[i] = a->size;
    out->addr[i] = ea & a->mask;
    if (a->text.len) {
        out->has[i] |= TROD_COL_TEXT;
        out->text[i] = a->text;
    }
}

static void add_access(const struct tt6_dec *dec, struct trod_batch *out, uint32_t ea,
                       uint32_t third, uint32_t opcode)
{
    const struct amber_access a = amber_access_of(opcode, third, dec->line);

    out->pc[out->n] = dec->pc;
    tt6_access_row(out, out->n++, &a, ea);
}

/* The record at P, of LEN bytes, N being there. */
static void instruction(struct tt6_dec *dec, const uint8_t *p, size_t len, size_t n,
                        enum trod_ppc_class class, struct trod_batch *out)
{
    uint32_t opcode = trod_load_be32(p), word = len > 4 ? trod_load_be32(p + 4) : 0;
    uint32_t i = add_row(out, TROD_INSTR, TT6_INSTR, dec->pc, p, len), off = out->raw[i].off;
    bool access = class == TROD_PPC_MEMORY || class == TROD_PPC_MEMORY_EXTENDED;

    out->flags[i] = step_trap(dec, opcode, p, n);
    out->size[i] = 4;
    out->addr[i] = dec->pc;
    out->code[i] = (struct trod_slice){off, 4};
    if (access) {
        add_access(dec, out, word, len > 8 ? trod_load_be32(p + 8) : 0, opcode);
        out->detail[i + 1] = (struct trod_slice){off + 4, (uint32_t)len - 4};
    } else if ((dec->attached >> AMBER_ESC_DATA & 1) && class == TROD_PPC_COMPUTE &&
               dec->attach[AMBER_ESC_DATA] <= UINT32_MAX &&
               trod_ppc_access(opcode).kind != TROD_PPC_NONE) {
        /* the record has no address for its access, but an escape before it has */
        add_access(dec, out, (uint32_t)dec->attach[AMBER_ESC_DATA], 0, opcode);
        out->has[i + 1] &= ~(uint32_t)TROD_COL_DETAIL;
        access = true;
    }
    if (class == TROD_PPC_FLOW) {
        out->has[i] |= TROD_COL_TARGET;
        out->target[i] = word;
        out->flags[i] |= amber_branch_of(opcode, dec->pc, word);
    }
    if (dec->attached)
        attach(dec, out, i, access);
    dec->pc = class == TROD_PPC_FLOW ? word : dec->pc + 4;
}

static int truncated(const struct trod_span *in, size_t len, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_offset(NULL, in->offset);

    return trod_error(diag, TROD_ERR_TRUNCATED, "tt6.truncated", &at,
                      "trace ends %zu bytes into a record of %zu", in->n, len);
}

/* Bytes of the record that begins with OPCODE; *CLASS is set unless it is an escape. */
static size_t record_bytes(bool extended, uint32_t opcode, enum trod_ppc_class *class)
{
    if (opcode >> 26 == 0)
        return 4 + 4 * (size_t)(opcode & AMBER_ESC_WORDS);
    *class = trod_ppc_class(opcode, extended ? TROD_PPC_TT6E : TROD_PPC_TT6);
    return 4 * (size_t)trod_ppc_record_words(*class);
}

size_t tt6_record(bool extended, const uint8_t *p, size_t n)
{
    enum trod_ppc_class class;
    const size_t len = n < 4 ? 4 : record_bytes(extended, trod_load_be32(p), &class);

    return len <= n ? len : 0;
}

enum { GO_ON = 100 };

/* One record of any sort. Returns GO_ON, or what decode returns. */
static int one(struct tt6_dec *dec, struct trod_span *in, struct trod_batch *out,
               struct trod_diag *diag)
{
    enum trod_ppc_class class = TROD_PPC_COMPUTE;
    uint32_t opcode;
    size_t len = 4;

    if (in->n == 0)
        return TROD_DEC_MORE;
    if (out->cap - out->n < 2 || out->pool_cap - out->pool_n < 16)
        return TROD_DEC_FULL;
    if (in->n < 4)
        return in->last ? truncated(in, len, diag) : TROD_DEC_MORE;
    opcode = trod_load_be32(in->p);
    if (dec->begun)
        len = record_bytes(dec->extended, opcode, &class);
    if (in->n < len)
        return in->last ? truncated(in, len, diag) : TROD_DEC_MORE;
    if (dec->trap == 1 && (opcode & ~2u) == AMBER_B_700 && in->n < 12 && !in->last)
        return TROD_DEC_MORE; /* what it is depends on the opcode behind it */
    if (!dec->begun)
        initial_pc(dec, in->p, out);
    else if (opcode >> 26 == 0)
        escape(dec, in->p, out);
    else
        instruction(dec, in->p, len, in->n, class, out);
    amber_eat(in, len);
    return GO_ON;
}

int tt6_go(struct tt6_dec *dec, struct trod_span *in, struct trod_batch *out,
           struct trod_diag *diag, bool passes)
{
    struct tt6_block block;
    int rc = GO_ON;

    block.words = 0;

    if (trod_batch_constant(out, &trod_format_tt6, dec->stream, TROD_COL_STREAM))
        for (uint32_t i = 0; i < out->cap; i++)
            out->stream[i] = dec->stream;
    out->have = TT6_READS & out->want;
    out->shared = (const uint8_t *)amber_names;
    while (rc == GO_ON) {
        const bool plain = dec->begun && !dec->attached && !dec->trap;

        if (plain && passes)
            tt6_pass_plain(dec, in, out);
        else if (plain)
            tt6_decode_plain(dec, in, out, &block);
        rc = one(dec, in, out, diag);
    }
    return rc;
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    return tt6_go(dec, in, out, diag, false);
}

static int save(void *state, struct trod_buf *out, struct trod_buf *log)
{
    const struct tt6_dec *dec = state;
    int rc;

    (void)log;
    trod_pack(out, (uint64_t)dec->begun | (uint64_t)dec->trap << 1);
    trod_pack(out, dec->attached);
    rc = trod_pack(out, dec->pc);
    for (unsigned i = 0; i < 8; i++)
        rc = trod_pack(out, dec->attach[i]);
    return rc;
}

static int load(void *state, struct trod_span *in, struct trod_span *log)
{
    struct tt6_dec *dec = state;
    uint64_t v[11];

    (void)log;
    for (unsigned i = 0; i < 11; i++)
        if (trod_unpack(in, &v[i]) < 0)
            return TROD_ERR_CORRUPT;
    dec->begun = v[0] & 1;
    dec->trap = (uint8_t)(v[0] >> 1);
    dec->attached = (uint8_t)v[1];
    dec->pc = (uint32_t)v[2];
    memcpy(dec->attach, v + 3, sizeof dec->attach);
    return TROD_OK;
}

static int bid_tt6(const struct trod_probe *probe, const char **dialect)
{
    return amber_tt6_bid(probe, false, dialect);
}

static int bid_tt6e(const struct trod_probe *probe, const char **dialect)
{
    return amber_tt6_bid(probe, true, dialect);
}

static int begin_tt6(void *enc, const void *opt, const struct trod_meta *meta,
                     struct trod_diag *diag)
{
    return amber_tt6_begin(enc, opt, meta, false, diag);
}

static int begin_tt6e(void *enc, const void *opt, const struct trod_meta *meta,
                      struct trod_diag *diag)
{
    return amber_tt6_begin(enc, opt, meta, true, diag);
}

/* The documents' words for escape codes; INITIAL_PC is a record of its own. */
static const char *sub_name(unsigned kind, unsigned sub)
{
    static const char *const names[] = {
        [0x00] = "segment register",         [0x01] = "optional data address",
        [0x02] = "condition register value", [0x03] = "real address of branch target",
        [0x04] = "real data address",        [0x05] = "real address of instruction",
        [TROD_SYNC_SIGNAL] = "SYNC_SIGNAL",  [TROD_SYNC_BROADCAST] = "SYNC_BROADCAST_SIGNAL",
        [TROD_SYNC_WAIT] = "SYNC_WAIT",      [TROD_SYNC_TRY_WAIT] = "SYNC_TRY_WAIT",
    };

    if (kind != TROD_MARKER && kind != TROD_SYNC)
        return NULL;
    if (sub == AMBER_INITIAL_PC)
        return "INITIAL_PC";
    if (sub >= TROD_SYNC_SIGNAL && sub < 0x40 &&
        (sub >= sizeof names / sizeof *names || !names[sub]))
        return "reserved for thread synchronization";
    return sub < sizeof names / sizeof *names ? names[sub] : NULL;
}

static unsigned value_form(unsigned kind, unsigned sub)
{
    (void)sub;
    return kind == TROD_MARKER ? TROD_VALUE_HEX : TROD_VALUE_ANY;
}

/* The words of a record in hex, and what it is; of a long escape the first words. */
static int native(const struct trod_batch *b, uint32_t row, struct trod_room *out, bool extended)
{
    static const char *const classes[] = {"COMPUTE", "FLOW_ALTERING", "MEMORY", "MEMORY_EXTENDED"};
    enum trod_ppc_variant variant = extended ? TROD_PPC_TT6E : TROD_PPC_TT6;
    char line[9 * NATIVE_WORDS + 80], *q = line;
    const uint8_t *p;
    uint32_t words;

    if (row == TROD_NATIVE_END || !(b->have & b->has[row] & TROD_COL_RAW))
        return TROD_ENC_DONE;
    p = trod_batch_bytes(b, b->raw[row]);
    words = b->raw[row].len / 4;
    for (uint32_t i = 0; i < words && i < NATIVE_WORDS; i++)
        q += sprintf(q, "%08" PRIx32 " ", trod_load_be32(p + 4 * (size_t)i));
    q += sprintf(q, "%s", words > NATIVE_WORDS ? "... " : "");
    if (b->kind[row] == TROD_INSTR)
        q += sprintf(q, "%s\n", classes[trod_ppc_class(trod_load_be32(p), variant)]);
    else if (b->sub[row] == AMBER_INITIAL_PC)
        q += sprintf(q, "INITIAL_PC\n");
    else
        q += sprintf(q, "ESCAPE 0x%02x %s\n", b->sub[row],
                     sub_name(b->kind[row], b->sub[row]) ? sub_name(b->kind[row], b->sub[row])
                                                         : "unknown");
    if (out->end - out->p < q - line)
        return TROD_ENC_FULL;
    memcpy(out->p, line, (size_t)(q - line));
    out->p += q - line;
    return TROD_ENC_DONE;
}

/* The condition register of its escape, and XER, the third word of string accesses' records. */
static const char *register_told(const struct trod_batch *b, uint32_t i, uint32_t *value)
{
    const uint32_t said = b->have & b->has[i];
    const uint8_t *p;

    if (b->kind[i] == TROD_MARKER) {
        *value = (uint32_t)b->value[i];
        return b->sub[i] == AMBER_ESC_CONDITION && said & TROD_COL_VALUE ? "cr" : NULL;
    }
    /* PREFETCH has a register of the opcode there, which stands in another row */
    if (b->kind[i] != TROD_READ && b->kind[i] != TROD_WRITE)
        return NULL;
    p = trod_batch_bytes(b, b->detail[i]);
    *value = trod_load_be32(p + 4);
    return "xer";
}

static int native_tt6(struct trod_native *listing, const struct trod_batch *b, uint32_t row,
                      struct trod_room *out)
{
    (void)listing;
    return native(b, row, out, false);
}

static int native_tt6e(struct trod_native *listing, const struct trod_batch *b, uint32_t row,
                       struct trod_room *out)
{
    (void)listing;
    return native(b, row, out, true);
}

#define TT6_KINDS                                                                                  \
    (1u << TROD_NOTE | 1u << TROD_INSTR | 1u << TROD_SYNC | 1u << TROD_MARKER | 1u << TROD_READ |  \
     1u << TROD_WRITE | 1u << TROD_PREFETCH | 1u << TROD_FLUSH | 1u << TROD_CACHE_OP)

#define TT6_DRIVER                                                                                 \
    .reads = TT6_READS, .kinds = TT6_KINDS, .writes = TT6_READS,                                   \
    .isas = 1u << TROD_ISA_PPC32 | 1u << TROD_ISA_PPC64,                                           \
    .flags = TROD_FMT_PER_STREAM | TROD_FMT_ONE_STREAM | TROD_FMT_PUT_IN, .row_max = 128,          \
    .record_rows = 2, .options = amber_tt6_options, .options_size = sizeof(struct amber_options),  \
    .dec_size = sizeof(struct tt6_dec), .enc_size = sizeof(struct tt6_enc),                        \
    .defaults = &amber_defaults, .decode = decode, .encode = amber_tt6_encode,                     \
    .target = amber_tt6_target, .keeps = amber_tt6_keeps, .finish = amber_tt6_finish,              \
    .sub_name = sub_name, .value_form = value_form, .subs = AMBER_INITIAL_PC + 1,                  \
    .streams = "thread", .save = save, .load = load, .register_told = register_told,               \
    .told_detail = 8, .parts = &tt6_parts

const struct trod_format trod_format_tt6 = {
    .name = "tt6",
    .title = "Amber TT6 (PowerPC instructions)",
    .suffixes = tt6_suffixes,
    .dialects = tt6_dialects,
    .bid = bid_tt6,
    .start = start_tt6,
    .begin = begin_tt6,
    .native = native_tt6,
    TT6_DRIVER,
};

const struct trod_format trod_format_tt6e = {
    .name = "tt6e",
    .title = "Amber TT6E (PowerPC instructions, addresses of cache operations)",
    .suffixes = tt6e_suffixes,
    .dialects = tt6e_dialects,
    .bid = bid_tt6e,
    .start = start_tt6e,
    .begin = begin_tt6e,
    .native = native_tt6e,
    TT6_DRIVER,
};
