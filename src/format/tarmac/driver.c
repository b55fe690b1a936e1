/*
 * driver.c - the descriptor of Tarmac.
 *
 * Implements docs/formats/tarmac.md.
 */
#include "format/tarmac/encode.h"

#include <string.h>

static const char *const problems[TM_PROBLEMS] = {
    [TM_BAD_TIME] = "tarmac.bad-time",
    [TM_BAD_NUMBER] = "tarmac.bad-number",
    [TM_BAD_FIELD] = "tarmac.bad-field",
    [TM_MISSING_FIELD] = "tarmac.missing-field",
    [TM_TOO_WIDE] = "tarmac.too-wide",
    [TM_LONG_LINE] = "tarmac.long-line",
    [TM_TRUNCATED] = "tarmac.truncated",
    [TM_TOO_MANY_STREAMS] = "tarmac.too-many-cpus",
    [TM_TOO_MANY_UNITS] = "tarmac.too-many-units",
    [TM_SHORT_VALUE] = "tarmac.short-value",
};

static const struct tm_flavour flavour = {"tarmac", false, problems};

static const char *const dialects[] = {"fm", "es", "gem5", NULL};
static const char *const suffixes[] = {".tarmac", ".tarmac.txt", NULL};
static const char *const dialect_choices[] = {"auto", "fm", "es", "gem5", NULL};
static const char *const endian_choices[] = {"auto", "little", "big", NULL};
static const char *const iset_choices[] = {"auto", "arm", "thumb", NULL};

static const struct trod_option options[] = {
    {"dialect", 0, TROD_OPT_ENUM, offsetof(struct tm_options, dialect), "NAME",
     "dialect: fm, es or gem5 (reading: as found; writing: the source's, else fm)", dialect_choices,
     NULL},
    {"iset", 0, TROD_OPT_ENUM, offsetof(struct tm_options, iset), "NAME",
     "instruction set of lines that name none: auto, arm or thumb", iset_choices, NULL},
    {"endian", 0, TROD_OPT_ENUM, offsetof(struct tm_options, endian), "ORDER",
     "byte order of opcodes in memory: little or big (reading: little; writing: the trace's)",
     endian_choices, NULL},
    {NULL, 0, TROD_OPT_END, 0, NULL, NULL, NULL, NULL},
};

static int bid(const struct trod_probe *probe, const char **dialect)
{
    struct tm_evidence found;

    tm_weigh(&probe->head, &found);
    if (dialect)
        *dialect = tm_dialect_name(found.dialect);
    return found.tarmac;
}

static int start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    (void)diag;
    return tm_start(dec, &flavour, opt, head, meta);
}

static int begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    (void)diag;
    return tm_begin_encoding(enc, &flavour, opt, meta);
}

static void keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    tm_keeps(tm_written_dialect(opt, meta), meta, k);
}

/* A line may be copied where its dialect is the one that is written. */
static bool verbatim(const void *opt_in, const char *dialect_in, const void *opt_out)
{
    const struct tm_options *in = opt_in, *out = opt_out;

    if (!tm_same_order(in, out))
        return false;
    if (!out || out->dialect == 0 || !dialect_in)
        return true;
    return strcmp(dialect_in, tm_dialect_name(out->dialect - 1)) == 0;
}

const struct trod_format trod_format_tarmac = {
    .name = "tarmac",
    .title = "Tarmac trace (Arm Fast Models, Cycle Models and RTL, gem5)",
    .suffixes = suffixes,
    .dialects = dialects,
    .reads = TM_READS,
    .writes = TM_WRITES,
    .isas = 1u << TROD_ISA_ARM | 1u << TROD_ISA_A64,
    .flags = TROD_FMT_TEXT | TROD_FMT_TRACERS,
    .row_max = 4096,
    .record_rows = TM_ROWS_MAX,
    .options = options,
    .options_size = sizeof(struct tm_options),
    .dec_size = sizeof(struct tm_dec),
    .enc_size = sizeof(struct tm_enc),
    .bid = bid,
    .start = start,
    .decode = tm_decode,
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
