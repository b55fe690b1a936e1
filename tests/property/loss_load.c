/*
 * loss_load.c - rows of a trace, kept. Implements loss_rows.h (loss_rows_add, loss_rows_fini,
 * loss_data_is_value, loss_astray).
 */
#include "loss_rows.h"

static struct trod_span keep(const struct trod_batch *b, struct trod_slice s)
{
    uint8_t *p = malloc(s.len + 1);

    if (!p)
        test_die("out of memory");
    if (s.len)
        memcpy(p, trod_batch_bytes(b, s), s.len);
    return (struct trod_span){p, s.len, 0, false};
}

void loss_rows_add(struct rows *l, const struct trod_batch *b, uint32_t i)
{
    const uint32_t has = b->have & b->has[i];
    struct row *r;

    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 1024;
        l->row = realloc(l->row, l->cap * sizeof *l->row);
        if (!l->row)
            test_die("out of memory");
    }
    r = &l->row[l->n++];
    *r = (struct row){.kind = b->kind[i], .has = has, .flags = b->flags[i]};
#define TAKE(column, field)                                                                        \
    if (has & (column))                                                                            \
    r->field = b->field[i]
    TAKE(TROD_COL_SIZE, size);
    TAKE(TROD_COL_STREAM, stream);
    TAKE(TROD_COL_TIME, time);
    TAKE(TROD_COL_UNIT, unit);
    if (!(has & TROD_COL_UNIT))
        r->unit = b->meta ? b->meta->unit : 0;
    TAKE(TROD_COL_INDEX, index);
    TAKE(TROD_COL_ADDR, addr);
    TAKE(TROD_COL_PADDR, paddr);
    TAKE(TROD_COL_PC, pc);
    TAKE(TROD_COL_TARGET, target);
    TAKE(TROD_COL_VALUE, value);
    TAKE(TROD_COL_SUB, sub);
#undef TAKE
    if (has & TROD_COL_CODE)
        r->code = keep(b, b->code[i]);
    if (has & TROD_COL_DATA)
        r->data = keep(b, b->data[i]);
    if (has & TROD_COL_TEXT)
        r->text = keep(b, b->text[i]);
    if (has & TROD_COL_RAW && r->kind == TROD_NOTE)
        r->raw = keep(b, b->raw[i]);
    if (has & TROD_COL_DETAIL && b->meta && strncmp(b->meta->format, "byu", 3) == 0)
        r->record = keep(b, b->detail[i]);
}

void loss_rows_fini(struct rows *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free((void *)(uintptr_t)l->row[i].code.p);
        free((void *)(uintptr_t)l->row[i].data.p);
        free((void *)(uintptr_t)l->row[i].text.p);
        free((void *)(uintptr_t)l->row[i].raw.p);
        free((void *)(uintptr_t)l->row[i].record.p);
    }
    free(l->row);
    *l = (struct rows){0};
}

bool loss_data_is_value(const struct pair *p, const struct row *a)
{
    uint64_t v = 0;

    if (!(a->has & TROD_COL_VALUE) || a->data.n > sizeof v)
        return false;
    for (size_t i = 0; i < a->data.n; i++)
        v |= (uint64_t)a->data.p[p->big ? a->data.n - 1 - i : i] << 8 * i;
    return v == a->value;
}

bool loss_astray(struct pair *p, const struct row *a)
{
    uint64_t *last = &p->last[a->stream % STREAMS];

    if (loss_family(p->target) != 2 || loss_family(p->from) == 2)
        return false;
    if (a->kind == TROD_INSTR)
        *last = a->addr;
    return a->kind >= TROD_READ && a->kind <= TROD_FLUSH && a->pc != *last;
}
