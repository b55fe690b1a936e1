/*
 * driver.c - the descriptor of Trace Matcher (ISP RAS) traces.
 *
 * Implements docs/formats/trace-matcher.md. Lines are so near to Tarmac's that decoder and encoder
 * are those of ../tarmac; what differs is in the flavour: X means privileged, cpus are numbers,
 * data are not divided, opcodes may be of either byte order.
 */
#include "format/tarmac/encode.h"

#include <string.h>

static const char *const problems[TM_PROBLEMS] = {
    [TM_BAD_TIME] = "matcher.bad-time",
    [TM_BAD_NUMBER] = "matcher.bad-number",
    [TM_BAD_FIELD] = "matcher.bad-field",
    [TM_MISSING_FIELD] = "matcher.missing-field",
    [TM_TOO_WIDE] = "matcher.too-wide",
    [TM_LONG_LINE] = "matcher.long-line",
    [TM_TRUNCATED] = "matcher.truncated",
    [TM_TOO_MANY_STREAMS] = "matcher.too-many-cpus",
    [TM_TOO_MANY_UNITS] = "matcher.too-many-units",
    [TM_SHORT_VALUE] = "matcher.short-value",
};

static const struct tm_flavour flavour = {"matcher", true, problems};

static const char *const suffixes[] = {".trace", ".matcher", NULL};
static const char *const endian_choices[] = {"auto", "little", "big", NULL};
static const char *const isa_choices[] = {"unknown", "arm",    "a64",     "ppc32",   "ppc64",
                                          "mips32",  "mips64", "riscv64", "riscv32", NULL};
static const uint8_t isa_of[] = {TROD_ISA_UNKNOWN, TROD_ISA_ARM,     TROD_ISA_A64,
                                 TROD_ISA_PPC32,   TROD_ISA_PPC64,   TROD_ISA_MIPS32,
                                 TROD_ISA_MIPS64,  TROD_ISA_RISCV64, TROD_ISA_RISCV32};

static const struct trod_option options[] = {
    {"endian", 0, TROD_OPT_ENUM, offsetof(struct tm_options, endian), "ORDER",
     "byte order of opcodes in memory: little or big (reading: little; writing: the trace's)",
     endian_choices, NULL},
    {"isa", 0, TROD_OPT_ENUM, offsetof(struct tm_options, isa), "NAME",
     "what the instructions are: arm, a64, ppc32, ppc64, mips32, mips64, riscv64 or riscv32",
     isa_choices, NULL},
    {NULL, 0, TROD_OPT_END, 0, NULL, NULL, NULL, NULL},
};

/* Is a file at PATH called NAME.matcher, whatever it is compressed with? */
static bool named(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL,
               *at = path ? strstr(slash ? slash : path, suffixes[1]) : NULL,
               *end = at ? at + strlen(suffixes[1]) : NULL;

    return end && (*end == '\0' || *end == '.');
}

/* Where every line is one of either format, the trace is Tarmac's unless its name says otherwise.
 */
static int bid(const struct trod_probe *probe, const char **dialect)
{
    struct tm_evidence found;

    (void)dialect;
    tm_weigh(&probe->head, &found);
    return found.either && named(probe->path) ? found.tarmac : found.matcher;
}

static int start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    const struct tm_options *o = opt;

    (void)diag;
    if (o && o->isa)
        meta->isa = isa_of[o->isa];
    meta->endian = o && o->endian == TM_BIG ? TROD_ENDIAN_BIG : TROD_ENDIAN_LITTLE;
    return tm_start(dec, &flavour, opt, head, meta);
}

/*
 * The format has no letter for A64, and an A beside instructions of any set: where the option says
 * A64, those with an A are A64.
 */
static int decode(void *dec, struct trod_span *in, struct trod_batch *b, struct trod_diag *diag)
{
    const uint32_t a32 = (uint32_t)TROD_ISET_A32 << TROD_F_ISET_SHIFT,
                   a64 = (uint32_t)TROD_ISET_A64 << TROD_F_ISET_SHIFT;
    const struct tm_dec *d = dec;
    uint32_t i = b->n;
    const int rc = tm_decode(dec, in, b, diag);

    for (; isa_of[d->opt.isa] == TROD_ISA_A64 && b->have & TROD_COL_FLAGS && i < b->n; i++)
        if (b->kind[i] == TROD_INSTR && (b->flags[i] & TROD_F_ISET) == a32)
            b->flags[i] = (b->flags[i] & ~(uint32_t)TROD_F_ISET) | a64;
    return rc;
}

static int begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    (void)diag;
    return tm_begin_encoding(enc, &flavour, opt, meta);
}

static void keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    (void)opt;
    tm_keeps(-1, meta, k);
}

static bool verbatim(const void *opt_in, const char *dialect_in, const void *opt_out)
{
    const struct tm_options *in = opt_in, *out = opt_out;

    (void)dialect_in;
    return tm_same_order(in, out);
}

const struct trod_format trod_format_matcher = {
    .name = "matcher",
    .title = "Trace Matcher trace (ISP RAS)",
    .suffixes = suffixes,
    .reads = TM_READS,
    .writes = TM_WRITES & ~(TROD_COL_PADDR | TROD_COL_TARGET | TROD_COL_SUB),
    .flags = TROD_FMT_TEXT,
    .row_max = 4096,
    .record_rows = TM_ROWS_MAX,
    .options = options,
    .options_size = sizeof(struct tm_options),
    .dec_size = sizeof(struct tm_dec),
    .enc_size = sizeof(struct tm_enc),
    .bid = bid,
    .start = start,
    .decode = decode,
    .resync = tm_resync,
    .cuts = true,
    .save = tm_save,
    .load = tm_load,
    .begin = begin,
    .encode = tm_encode,
    .target = tm_target,
    .keeps = keeps,
    .finish = tm_finish,
    .drop = tm_drop,
    .verbatim = verbatim,
    .copies = tm_copies,
};
