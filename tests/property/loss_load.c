/*
 * loss_load.c - rows of a trace, kept, and what other rows show of one. Implements loss_rows.h
 * (loss_family, loss_rows_add, loss_rows_fini, loss_data_is_value, loss_pc_gone, loss_branch_gone,
 * loss_target_gone).
 */
#include "loss_rows.h"

int loss_family(const struct trod_format *f)
{
    static const struct {
        const char *name;
        int family;
    } all[] = {{"tt6", 1},        {"tt6e", 1},         {"full", 1},
               {"tarmac", 2},     {"matcher", 2},      {"byu6", 3},
               {"byu12", 3},      {"drmemtrace", 4},   {"dinero", 6},
               {"dinerox", 6},    {"dinerob", 6},      {"lackey", 6},
               {"pinatrace", 6},  {"memtrace_x86", 6}, {"memtrace_simple", 6},
               {"instrace", 6},   {"ramulator", 6},    {"dramsim3", 6},
               {"gem5packet", 6}, {"champsim", 7},     {"cloudsuite", 7},
               {"csv", 8}};

    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (loss_is(f, all[k].name))
            return all[k].family;
    return 5;
}

/* Is the name of STREAM, in META, of letters, digits and what a path in a model has? */
static bool is_word(const struct trod_meta *meta, uint32_t stream)
{
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789_.[]/-<>#";
    const struct trod_stream *s = meta && stream < meta->n_streams ? &meta->streams[stream] : NULL;

    for (size_t i = 0; s && i < s->name_len; i++)
        if (!s->name[i] || !strchr(all, s->name[i]))
            return false;
    return true;
}

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
    r->no_word = has & TROD_COL_STREAM && !is_word(b->meta, r->stream);
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

/*
 * A in lines of text, which name the pc of instructions only: it is that of the instruction before
 * it in its stream, for what instructions do. In a trace of that family the rows have none.
 */
static bool gone_in_lines(struct pair *p, const struct row *a, const struct row *b)
{
    uint64_t *last = &p->last[a->stream % STREAMS];

    if (loss_family(p->from) == 2)
        return false;
    if (a->kind == TROD_INSTR)
        *last = b->addr;
    if ((a->kind >= TROD_READ && a->kind <= TROD_FLUSH) || a->kind == TROD_REG)
        return a->pc != *last;
    return !(b->has & TROD_COL_PC) || a->pc != b->pc;
}

bool loss_pc_gone(struct pair *p, const struct row *a, const struct row *b)
{
    if (loss_family(p->target) == 2)
        return gone_in_lines(p, a, b);
    if (p->bus && a->kind == TROD_INSTR) /* it is the address */
        return a->pc != b->addr;
    return !(p->target->writes & TROD_COL_PC) || !(b->has & TROD_COL_PC) || a->pc != b->pc;
}

/* What lines of Tarmac for changes of flow tell of a branch of kind IS. */
static int word_of(unsigned is)
{
    return is == TROD_BR_ERET ? 3
           : is == TROD_BR_INDIRECT || is == TROD_BR_ICALL || is == TROD_BR_RETURN ||
                   is == TROD_BR_OTHER
               ? 2
               : is != 0;
}

bool loss_branch_gone(const struct pair *p, const struct row *a, const struct row *b)
{
    const unsigned is = a->flags & TROD_F_BRANCH, now = b->flags & TROD_F_BRANCH;
    const bool flow = a->kind == TROD_INSTR || (a->kind == TROD_BRANCH && is != TROD_BR_OTHER);
    const bool coded = a->has & b->has & p->target->writes & TROD_COL_CODE;
    /* somebody says whose opcodes these are: the source, or the target, whose are all alike */
    const bool isa = p->isa || a->flags & TROD_F_ISET || p->amber || loss_is(p->target, "stf");

    if (p->from == p->target || !is || !flow || (coded && isa))
        return false;
    /* what follows in the output shows which way it went */
    if (is == TROD_BR_COND && (now == TROD_BR_COND_TAKEN || now == TROD_BR_COND_UNTAKEN))
        return false;
    if (loss_family(p->target) == 2 && a->kind == TROD_BRANCH)
        return word_of(is) != word_of(now);
    return is != now;
}

bool loss_target_gone(const struct pair *p, const struct row *a, const struct row *b)
{
    const struct row *next = b + 1, *end = p->out + p->n_out;

    if (b->has & TROD_COL_TARGET)
        return a->target != b->target;
    while (next < end && (next->kind != TROD_INSTR || next->stream != b->stream))
        next++;
    return next >= end || next->addr != a->target;
}
