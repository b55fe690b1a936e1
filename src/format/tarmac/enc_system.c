/*
 * enc_system.c - lines of caches, translation, bus and events.
 *
 * Implements docs/formats/tarmac.md, "Writing".
 */
#include "format/tarmac/encode.h"
#include "format/tarmac/scan.h"

enum { BUS_SIZE_MAX = 9999, EVENT_MODE_CHANGE = 0x19 };

static const struct trod_detail_bus no_bus;
static const struct trod_detail_cache_op no_cache_op;
static const struct trod_detail_cache_line no_cache_line;
static const struct trod_detail_walk no_walk;
static const struct trod_detail_tlb no_tlb;
static const struct trod_detail_event no_event;

static unsigned sec_of(const struct tm_put *o)
{
    return (o->flags & TROD_F_SEC) >> TROD_F_SEC_SHIFT;
}

/* V in DIGITS digits, more if it needs them. */
static void put_wide(struct tm_put *o, uint64_t v, unsigned digits, bool upper)
{
    while (digits < 16 && v >> digits * 4)
        digits++;
    tm_put_hex(o, v, digits > 16 ? 16 : digits, upper);
}

static bool has_text(const struct tm_put *o)
{
    return (o->has & TROD_COL_TEXT) && o->b->text[o->row].len;
}

/* What else the line said, if anything. */
static void put_more(struct tm_put *o, struct trod_slice s)
{
    if (!s.len)
        return;
    tm_putc(o, ' ');
    tm_put_slice(o, s);
}

/* A name of another format that would be read as the operation's data ("dcba"). */
static bool name_is_number(const struct tm_put *o)
{
    const struct trod_slice text = o->b->text[o->row];
    const uint8_t *p = trod_batch_bytes(o->b, text);
    uint32_t n = 0;

    while (n < text.len && tm_hex_table[p[n]] < 16)
        n++;
    return !o->detail && n >= 4 && n == text.len;
}

bool tm_write_cache_op(struct tm_put *o)
{
    const struct trod_detail_cache_op *d = o->detail ? o->detail : &no_cache_op;

    if (!has_text(o) || name_is_number(o) || !(o->has & (TROD_COL_ADDR | TROD_COL_VALUE)))
        return false;
    tm_put_head(o, false);
    tm_puts(o, "CACHE MAINTENANCE ");
    if (o->detail)
        tm_put_slice(o, o->b->text[o->row]);
    else
        tm_put_name(o, o->b->text[o->row], "");
    if (!o->detail && !(o->has & TROD_COL_PADDR))
        tm_lose(o, TROD_COL_ADDR, "its name does not say that it is by address");
    tm_puts(o, d->prefix && o->e->same ? " 0x" : " ");
    if (o->has & TROD_COL_ADDR) {
        tm_put_vaddr(o, o->b->addr[o->row], d->addr_digits, false);
        if (o->has & TROD_COL_PADDR) {
            tm_putc(o, ':');
            tm_put_paddr(o, o->b->paddr[o->row], d->paddr_digits, false);
            tm_put_sec(o, sec_of(o));
        }
    } else {
        tm_put_vaddr(o, o->b->value[o->row], d->addr_digits, false);
    }
    put_more(o, d->pagesize);
    put_more(o, d->memtype);
    return true;
}

bool tm_write_cache_line(struct tm_put *o)
{
    static const char *const ops[] = {"OTHER", "ALLOC", "INVAL", "DIRTY", "CLEAN", "FILL", "EVICT"};
    const struct trod_detail_cache_line *d = o->detail ? o->detail : &no_cache_line;
    unsigned op = o->has & TROD_COL_SUB ? o->b->sub[o->row] : 0;

    if (!has_text(o) || !(o->has & TROD_COL_VALUE) || !(o->has & TROD_COL_PADDR))
        return false;
    tm_put_head(o, false);
    tm_puts(o, "CACHE ");
    tm_put_name(o, o->b->text[o->row], "");
    tm_puts(o, " LINE ");
    put_wide(o, o->b->value[o->row], o->e->same && d->line_digits ? d->line_digits : 4, false);
    tm_putc(o, ' ');
    if (d->op.len)
        tm_put_slice(o, d->op);
    else
        tm_puts(o, ops[op < sizeof ops / sizeof *ops ? op : 0]);
    tm_puts(o, " 0x");
    tm_put_paddr(o, o->b->paddr[o->row], d->paddr_digits, false);
    tm_put_sec(o, sec_of(o));
    return true;
}

bool tm_write_walk(struct tm_put *o)
{
    const struct trod_detail_walk *d = o->detail ? o->detail : &no_walk;

    if (!has_text(o) || !(o->has & TROD_COL_PADDR) || !d->side.len || !d->format.len)
        return false;
    tm_put_head(o, false);
    tm_puts(o, d->update ? "TTU " : "TTW ");
    tm_put_slice(o, d->side);
    tm_putc(o, ' ');
    tm_put_slice(o, d->format);
    tm_putc(o, ' ');
    tm_putc(o, (char)('0' + d->stage % 10));
    tm_putc(o, ':');
    tm_putc(o, (char)('0' + d->level % 10));
    tm_putc(o, ' ');
    tm_put_paddr(o, o->b->paddr[o->row], d->paddr_digits, false);
    tm_put_sec(o, sec_of(o));
    if (o->has & TROD_COL_VALUE) {
        tm_putc(o, ' ');
        put_wide(o, o->b->value[o->row], o->e->same && d->value_digits ? d->value_digits : 16,
                 false);
    }
    tm_puts(o, " : ");
    tm_put_slice(o, o->b->text[o->row]);
    put_more(o, d->attrs);
    return true;
}

bool tm_write_tlb(struct tm_put *o)
{
    const struct trod_detail_tlb *d = o->detail ? o->detail : &no_tlb;
    unsigned op = o->has & TROD_COL_SUB ? o->b->sub[o->row] : 0;
    bool fill = op == TROD_TLB_FILL || op == TROD_WALKCACHE_FILL;

    if (!has_text(o) || !(o->has & TROD_COL_ADDR) || (fill && !(o->has & TROD_COL_PADDR)) ||
        (!d->size_text.len && (!(o->has & TROD_COL_SIZE) || !o->b->size[o->row])))
        return false;
    tm_put_head(o, false);
    tm_puts(o, op >= TROD_WALKCACHE_FILL ? "WALKCACHE " : "TLB ");
    tm_puts(o, fill ? "FILL " : "EVICT ");
    tm_put_name(o, o->b->text[o->row], "");
    tm_putc(o, ' ');
    if (d->size_text.len)
        tm_put_slice(o, d->size_text);
    else
        tm_put_decimal(o, o->b->size[o->row]);
    tm_putc(o, ' ');
    if (d->regime.len) {
        tm_put_slice(o, d->regime);
    } else {
        tm_puts(o, "0x");
        put_wide(o, o->b->addr[o->row], 8, false);
    }
    if (!fill)
        return true;
    tm_puts(o, ":0x");
    put_wide(o, o->b->paddr[o->row], o->e->same && d->paddr_digits ? d->paddr_digits : 10, false);
    tm_put_sec(o, sec_of(o));
    put_more(o, d->memtype);
    put_more(o, d->attrs);
    return true;
}

static void put_cache_attributes(struct tm_put *o, char side, unsigned bits)
{
    static const char letters[] = "WRCBS";

    tm_putc(o, side);
    for (unsigned i = 0; i < 5; i++)
        tm_putc(o, bits >> (4 - i) & 1 ? letters[i] : '_');
    tm_putc(o, ' ');
}

/* Bytes in address order, the first one first; RTL: as words. */
static void put_data(struct tm_put *o, const struct trod_detail_bus *d, uint32_t size, bool typed)
{
    uint8_t memory[8];
    struct tm_number n;

    tm_row_number(o, o->row, &d->num, d->mask, size, memory, &n);
    n.reversed = !typed;
    n.words = typed && n.sep == ' ' && size == 8;
    tm_put_number(o, &n);
}

/* Type word and all that depends on it, for cycles whose word is kept. */
static void put_typed_bus(struct tm_put *o, const struct trod_detail_bus *d, uint32_t size)
{
    uint8_t memory[8];
    struct tm_number n;

    tm_put_slice(o, d->type);
    if (d->has_insn) {
        tm_puts(o, " (");
        put_wide(o, d->insn, 8, false);
        tm_putc(o, ':');
        put_wide(o, d->serial, 8, false);
        tm_putc(o, ')');
    }
    if (d->coprocessor && d->note.len) {
        tm_putc(o, ' ');
        tm_put_slice(o, d->note);
        tm_putc(o, ' ');
        tm_row_number(o, o->row, &d->num, d->mask, size, memory, &n);
        tm_put_number(o, &n);
        return;
    }
    if (o->has & TROD_COL_PADDR) {
        tm_putc(o, ' ');
        put_wide(o, o->b->paddr[o->row], d->paddr_digits ? d->paddr_digits : 8, false);
    }
    if (d->note.len) {
        tm_puts(o, " (");
        tm_put_slice(o, d->note);
        tm_putc(o, ')');
    } else if (!d->idle) {
        tm_putc(o, ' ');
        put_data(o, d, size, true);
    }
}

bool tm_write_bus(struct tm_put *o)
{
    const struct trod_detail_bus *d = o->detail ? o->detail : &no_bus;
    uint32_t size = tm_row_size(o, o->row);
    uint64_t paddr;

    if (o->detail && d->type.len && o->e->own) {
        tm_put_head(o, false);
        put_typed_bus(o, d, size);
        return true;
    }
    if (!(o->has & (TROD_COL_PADDR | TROD_COL_ADDR)) || size > BUS_SIZE_MAX)
        return false;
    paddr = o->has & TROD_COL_PADDR ? o->b->paddr[o->row] : o->b->addr[o->row];
    if ((o->has & TROD_COL_SIZE) && o->b->size[o->row] != size)
        tm_lose(o, TROD_COL_SIZE, "a cycle has bytes");
    tm_put_head(o, false);
    tm_putc(o, 'B');
    tm_putc(o, d->write ? 'W' : 'R');
    tm_put_decimal(o, size);
    tm_putc(o, o->flags & TROD_F_IFETCH ? 'I' : 'D');
    tm_putc(o, o->flags & TROD_F_LOCKED ? 'L' : o->flags & TROD_F_EXCLUSIVE ? 'X' : '_');
    tm_putc(o, o->flags & TROD_F_PRIV ? 'P' : '_');
    tm_putc(o, sec_of(o) == TROD_SEC_NONSECURE ? 'N' : 'S');
    o->e->secure += sec_of(o) == TROD_SEC_NONE;
    tm_putc(o, ' ');
    put_cache_attributes(o, 'I', d->inner);
    put_cache_attributes(o, 'O', d->outer);
    if (d->master.len)
        tm_put_slice(o, d->master);
    else
        tm_putc(o, '0');
    tm_putc(o, ' ');
    tm_put_paddr(o, paddr, d->paddr_digits, false);
    tm_putc(o, ' ');
    put_data(o, d, size, false);
    return true;
}

/*
 * The name of an exception, the rest of its line: of other formats, what would not be read as a
 * part of it becomes '_', blanks at its ends, and what looks like a vector where there is none.
 */
static void put_exc_name(struct tm_put *o, struct trod_slice name)
{
    const uint8_t *p = trod_batch_bytes(o->b, name);
    const bool vector = !(o->has & TROD_COL_VALUE) &&
                        (*p == '[' || (name.len > 1 && *p == '0' && (p[1] | 0x20) == 'x'));
    uint32_t from = vector ? 1 : 0, to = name.len;
    bool changed = false;

    if (o->e->read) {
        tm_put_slice(o, name);
        return;
    }
    while (from < to && p[from] <= ' ')
        from++;
    while (to > from && p[to - 1] <= ' ')
        to--;
    for (uint32_t i = 0; i < name.len; i++) {
        const bool good = i >= from && i < to && p[i] >= ' ';

        changed = changed || !good;
        tm_putc(o, good ? (char)p[i] : '_');
    }
    if (changed)
        tm_lose(o, TROD_COL_TEXT,
                "a name has no blanks at its ends, and does not begin as a number");
}

/* EXC [vector] name and its kin. */
static bool write_exc(struct tm_put *o, const struct trod_detail_event *d)
{
    static const char *const words[] = {"EXC", "ES  EXC", "ES ", "EXC", "IT EXC", "IT"};
    unsigned digits = d->value_digits & 0x3f;

    if (!has_text(o) && !(d->value_digits && (o->has & TROD_COL_VALUE)))
        return false;
    if (o->b->kind[o->row] == TROD_MODE && !o->detail)
        return false; /* it would be an exception */
    tm_put_head(o, false);
    tm_puts(o, words[d->style < sizeof words / sizeof *words ? d->style : 0]);
    if (o->has & TROD_COL_VALUE) {
        bool bare = d->value_digits & 0x40;

        tm_puts(o, bare ? " 0x" : d->value_digits & 0x80 ? " [" : " [0x");
        put_wide(o, o->b->value[o->row], digits ? digits : 2, false);
        if (!bare)
            tm_putc(o, ']');
    }
    if (has_text(o)) {
        tm_putc(o, ' ');
        put_exc_name(o, o->b->text[o->row]);
    }
    return true;
}

/* A name and a state: signals, debug events, markers of other formats. */
static bool write_marker(struct tm_put *o, const struct trod_detail_event *d)
{
    const struct trod_slice text = has_text(o) ? o->b->text[o->row] : (struct trod_slice){0, 0};

    tm_put_head(o, false);
    if (o->detail && d->what == TROD_EVENT_LINE) {
        tm_puts(o, "SIGNAL: SIGNAL=");
        tm_put_name(o, text, "?");
        tm_puts(o, o->b->value[o->row] ? " STATE=Y" : " STATE=N");
        return true;
    }
    tm_puts(o, o->detail && d->what == TROD_EVENT_DEBUGGER ? "CADI E " : "E ");
    if (!o->detail) {
        tm_puts(o, "MARKER_");
        if (!text.len)
            tm_put_decimal(o, o->has & TROD_COL_SUB ? o->b->sub[o->row] : 0);
    }
    tm_put_name(o, text, "");
    if (o->has & TROD_COL_VALUE) {
        uint64_t v = o->b->value[o->row];

        tm_putc(o, ' ');
        put_wide(o, v, d->value_digits ? d->value_digits : v >> 32 ? 16 : 8, false);
    }
    put_more(o, d->rest);
    return true;
}

/* Would an E line of the exception NUMBER of another format, whose name is no CoreEvent_, be none?
 */
static bool wants_core(const struct tm_put *o, uint64_t number)
{
    static const char word[] = "CoreEvent_";
    const struct trod_slice text = has_text(o) ? o->b->text[o->row] : (struct trod_slice){0, 0};

    if (o->detail || o->b->kind[o->row] != TROD_EXCEPTION ||
        tm_event_kind(number, false) == TROD_EXCEPTION)
        return false;
    return text.len < sizeof word - 1 ||
           memcmp(trod_batch_bytes(o->b, text), word, sizeof word - 1) != 0;
}

bool tm_write_event(struct tm_put *o)
{
    const struct trod_detail_event *d = o->detail ? o->detail : &no_event;
    uint8_t kind = o->b->kind[o->row];
    /* an E line that was read has an address or a dash */
    const bool dashed = o->detail && d->style == TROD_EVENT_E && d->what == tm_event_what(kind);
    uint64_t number;

    if (kind == TROD_MARKER && (!o->detail || d->what != TROD_EVENT_CORE))
        return write_marker(o, d);
    if (d->style != TROD_EVENT_E || (!(o->has & TROD_COL_ADDR) && !dashed) ||
        (kind == TROD_EXCEPTION && !(o->has & TROD_COL_VALUE)))
        return write_exc(o, d);
    number = o->has & TROD_COL_VALUE ? o->b->value[o->row] : EVENT_MODE_CHANGE;
    tm_put_head(o, false);
    tm_puts(o, d->angle && o->e->same ? "E <" : "E ");
    if (o->has & TROD_COL_ADDR)
        tm_put_vaddr(o, o->b->addr[o->row], d->addr_digits, false);
    else
        tm_putc(o, '-');
    if (o->has & TROD_COL_PADDR) {
        tm_putc(o, ':');
        tm_put_paddr(o, o->b->paddr[o->row], d->paddr_digits, false);
        tm_put_sec(o, sec_of(o));
    }
    if (d->angle && o->e->same)
        tm_putc(o, '>');
    put_more(o, d->mode);
    if (d->has_value1) {
        tm_putc(o, ' ');
        put_wide(o, d->value1, d->value1_digits ? d->value1_digits : 8, false);
    }
    tm_putc(o, ' ');
    put_wide(o, number, d->value_digits ? d->value_digits : 8, o->e->same && d->upper);
    if (wants_core(o, number)) {
        tm_puts(o, " CoreEvent_");
        if (has_text(o))
            tm_put_name(o, o->b->text[o->row], "");
        else
            tm_put_decimal(o, number);
    } else if (has_text(o)) {
        tm_putc(o, ' ');
        if (o->detail)
            tm_put_slice(o, o->b->text[o->row]);
        else
            tm_put_name(o, o->b->text[o->row], "");
    }
    put_more(o, d->rest);
    return true;
}
