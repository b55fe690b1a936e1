/*
 * csv.c - the descriptor of CSV tables of rows, and their detection.
 *
 * Implements docs/formats/csv.md.
 */
#include "format/csv/csv.h"

#include <string.h>

const char *const csv_names[CSV_FIELDS] = {
    [CSV_ROW] = "row",   [CSV_KIND] = "kind",     [CSV_STREAM] = "stream", [CSV_TIME] = "time",
    [CSV_UNIT] = "unit", [CSV_INDEX] = "index",   [CSV_PC] = "pc",         [CSV_ADDR] = "addr",
    [CSV_SIZE] = "size", [CSV_VALUE] = "value",   [CSV_TARGET] = "target", [CSV_CODE] = "code",
    [CSV_TEXT] = "text", [CSV_PADDR] = "paddr",   [CSV_SUB] = "sub",       [CSV_FLAGS] = "flags",
    [CSV_DATA] = "data", [CSV_BRANCH] = "branch",
};

const char *const csv_dialects[] = {"usual", "branch", "all", NULL};
uint8_t csv_branch(const char *name, size_t n)
{
    for (uint8_t i = TROD_BR_NONE + 1; trod_branch_name(i); i++)
        if (strlen(trod_branch_name(i)) == n && memcmp(trod_branch_name(i), name, n) == 0)
            return i;
    return TROD_BR_NONE;
}

static const char *const suffixes[] = {".csv", NULL};
static const char *const columns_choices[] = {"auto", "usual", "branch", "all", NULL};
static const struct csv_options defaults = {CSV_COLUMNS_AUTO, "READ"};

static const struct trod_option options[] = {
    {"columns", 0, TROD_OPT_ENUM, offsetof(struct csv_options, columns), "WHICH",
     "columns that are written: usual, those and branch, all, or what the source needs (auto)",
     columns_choices, NULL},
    {"kind", 0, TROD_OPT_STR, offsetof(struct csv_options, kind), "KIND",
     "kind of rows where the table has no column for it (READ)", NULL, NULL},
    {.type = TROD_OPT_END},
};

const struct trod_format trod_format_csv = {
    .name = "csv",
    .title = "rows as a table, comma-separated values",
    .suffixes = suffixes,
    .dialects = csv_dialects,
    .reads = CSV_COLS | TROD_COL_RAW,
    .writes = CSV_COLS & ~TROD_COL_FLAGS, /* not CONT */
    .flags = TROD_FMT_TEXT | TROD_FMT_PHYSICAL,
    .row_max = 1 << 10,
    .record_rows = 2,
    .options = options,
    .options_size = sizeof(struct csv_options),
    .defaults = &defaults,
    .dec_size = sizeof(struct csv_dec),
    .enc_size = sizeof(struct csv_enc),
    .bid = csv_bid,
    .start = csv_start,
    .decode = csv_decode,
    .begin = csv_begin,
    .encode = csv_encode,
    .finish = csv_finish,
    .target = csv_target,
    .keeps = csv_keeps,
    .drop = csv_drop,
};
