/*
 * diffs_json.c - differences through the emitter: JSON and CSV.
 *
 * Implements cli_diffs_emit of diffs.h. Names of fields are those of the listing of `trod view`
 * where they mean the same.
 */
#include <inttypes.h>

#include "diffs.h"

static void emit_code(struct trod_emit *e, const struct trod_compare_row *r)
{
    char hex[2 * sizeof r->code + 1] = "";

    for (unsigned i = 0; i < r->code_len; i++)
        snprintf(hex + 2 * i, 3, "%02x", r->code[i]);
    if (r->code_len)
        trod_emit_str(e, "code", hex);
}

static void emit_row(struct trod_emit *e, const struct cli_diffs *p, const char *key,
                     const struct trod_compare_row *r)
{
    char symbol[CLI_SYMBOL];

    trod_emit_open(e, key, NULL);
    trod_emit_u64(e, "record", r->ordinal);
    trod_emit_str(e, "kind", trod_kind_name(r->kind));
    if (r->has & TROD_COL_TIME)
        trod_emit_u64(e, "time", r->time);
    if (r->has & TROD_COL_ADDR)
        trod_emit_hex(e, "address", r->addr);
    if (r->kind == TROD_INSTR) {
        cli_diff_symbol(p, r->addr, symbol, sizeof symbol);
        if (symbol[0])
            trod_emit_str(e, "symbol", symbol);
    }
    if (r->has & TROD_COL_SIZE)
        trod_emit_u64(e, "size", r->size);
    if (r->has & TROD_COL_VALUE)
        trod_emit_hex(e, "value", r->value);
    emit_code(e, r);
    if (r->name_len)
        trod_emit_strn(e, "name", r->name, r->name_len);
    if (r->text_len)
        trod_emit_strn(e, "text", r->text, r->text_len);
    trod_emit_close(e);
}

static void emit_rows(const struct cli_diffs *p, const char *key, const struct trod_compare_row *r,
                      size_t n)
{
    if (n == 0)
        return;
    trod_emit_list(p->emit, key, NULL);
    for (size_t i = 0; i < n; i++)
        emit_row(p->emit, p, NULL, &r[i]);
    trod_emit_list_close(p->emit);
}

static void emit_input(const struct cli_diffs *p, const struct trod_compare_input *in)
{
    struct trod_emit *e = p->emit;
    char symbol[CLI_SYMBOL];

    trod_emit_open(e, NULL, NULL);
    if (in->name[0]) {
        trod_emit_str(e, "register", in->name);
    } else {
        trod_emit_hex(e, "address", in->addr);
        trod_emit_u64(e, "size", in->size);
    }
    if (in->written) {
        trod_emit_u64(e, "record_a", in->last.ordinal[0]);
        trod_emit_u64(e, "record_b", in->last.ordinal[1]);
        trod_emit_hex(e, "value", in->last.value);
        if (in->last.pc) {
            trod_emit_hex(e, "pc", in->last.pc);
            cli_diff_symbol(p, in->last.pc, symbol, sizeof symbol);
            if (symbol[0])
                trod_emit_str(e, "symbol", symbol);
        }
    }
    trod_emit_close(e);
}

static void emit_counts(struct trod_emit *e, const struct trod_difference *d)
{
    static const char *const rows[] = {"rows_a", "rows_b"};
    static const char *const instructions[] = {"instructions_a", "instructions_b"};
    static const char *const first[] = {"first_a", "first_b"};

    for (int side = 0; side < 2; side++) {
        trod_emit_u64(e, rows[side], d->count[side]);
        trod_emit_u64(e, instructions[side], d->instructions[side]);
        if (d->count[side])
            trod_emit_u64(e, first[side], d->first[side]);
    }
}

/* What the fields that differ say on either side; null: nothing. */
static void emit_fields(struct trod_emit *e, const struct trod_difference *d)
{
    static const char *const keys[] = {"a", "b"};

    if (d->n_fields == 0)
        return;
    trod_emit_list(e, "differs", NULL);
    for (size_t i = 0; i < d->n_fields; i++) {
        trod_emit_open(e, NULL, NULL);
        trod_emit_str(e, "field", d->field[i].name);
        for (int side = 0; side < 2; side++)
            if (d->field[i].said[side][0])
                trod_emit_str(e, keys[side], d->field[i].said[side]);
        trod_emit_close(e);
    }
    trod_emit_list_close(e);
}

static size_t shown_context(const struct cli_diffs *p, const struct trod_difference *d, int side)
{
    return d->n_context[side] < p->context ? d->n_context[side] : (size_t)p->context;
}

void cli_diffs_emit(const struct cli_diffs *p, const struct trod_difference *d)
{
    static const char *const context[] = {"context_a", "context_b"};
    static const char *const instruction[] = {"instruction_a", "instruction_b"};
    struct trod_emit *e = p->emit;
    const char *stream = cli_diff_stream(p, d);
    char title[512], fields[160];

    title[cli_diff_title(p, d, title, sizeof title)] = '\0';
    cli_diff_fields(d, fields, sizeof fields);
    trod_emit_open(e, NULL, NULL);
    trod_emit_u64(e, "number", d->number + 1);
    trod_emit_str(e, "type", cli_diff_name(d->type));
    if (d->of != TROD_NOWHERE)
        trod_emit_u64(e, "of", d->of + 1);
    if (stream)
        trod_emit_str(e, "stream", stream);
    trod_emit_str(e, "title", title);
    if (fields[0])
        trod_emit_str(e, "fields", fields);
    emit_fields(e, d);
    emit_counts(e, d);
    emit_rows(p, "a", d->rows[0], d->n_rows[0]);
    emit_rows(p, "b", d->rows[1], d->n_rows[1]);
    for (int side = 0; side < 2; side++) {
        size_t n = shown_context(p, d, side);

        emit_rows(p, context[side], d->context[side] + d->n_context[side] - n, n);
        if (d->instruction[side])
            emit_row(e, p, instruction[side], d->instruction[side]);
    }
    if (d->n_inputs) {
        trod_emit_list(e, "reads", NULL);
        for (size_t i = 0; i < d->n_inputs; i++)
            emit_input(p, &d->inputs[i]);
        trod_emit_list_close(e);
    }
    trod_emit_close(e);
    fflush(p->file);
}
