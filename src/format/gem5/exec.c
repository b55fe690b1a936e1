/*
 * exec.c - the text that gem5 prints of instructions (--debug-flags=Exec).
 *
 * Implements docs/formats/gem5.md, "gem5exec". Reading only.
 */
#include "format/lines/lines.h"

#include <stdio.h>

enum {
    READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_TIME | TROD_COL_ADDR |
            TROD_COL_PC | TROD_COL_VALUE | TROD_COL_INDEX | TROD_COL_TEXT | TROD_COL_RAW,
    ROWS_MAX = 4,
    STREAMS = 64,
    NAME_MAX = 200,
    NO_UPC = -1
};

struct options {
    struct ln_isa isa;
};

struct decoder {
    struct ln_state lines;
    struct trod_meta *meta;
    struct {
        uint64_t pc;
        uint32_t stream; /* and 1; 0: none */
        bool macro;      /* the line was that of the whole instruction */
    } before[STREAMS];   /* by number of the stream: its last line */
};

/* A line taken apart. */
struct parts {
    uint64_t tick, thread, pc;
    const uint8_t *object, *object_end, *text, *text_end, *class, *class_end;
    int upc;          /* number of the micro-operation; NO_UPC: it is none */
    bool has_pc, ran; /* ran: there is more behind the text */
};

static const char *const suffixes[] = {".gem5exec", ".exec", NULL};
static const struct trod_option options[] = {
    {"isa", 0, TROD_OPT_ENUM, offsetof(struct options, isa.isa), "NAME",
     "what the instructions are: auto (from the disassembly), arm, a64, ppc32, ppc64, x86_32, "
     "x86_64, mips32, mips64, riscv64 or riscv32",
     ln_isa_choices, NULL},
    {.type = TROD_OPT_END},
};

static const struct ln_names names = LN_NAMES("gem5exec");

/* ---- a line */

/* "  1000: system.cpu0: ", the object with or without its colon. */
static bool parse_object(struct ln_line *l, struct parts *p)
{
    ln_blanks(l);
    if (!ln_dec(l, &p->tick) || !ln_word(l, ": "))
        return false;
    p->object = l->p;
    while (l->p < l->e && *l->p != ' ')
        l->p++;
    p->object_end = l->p;
    if (p->object_end > p->object && p->object_end[-1] == ':')
        p->object_end--;
    return p->object_end > p->object && ln_is(l, ' ');
}

/* "T0 : ", "A12 T0 : ", "+ T0 : " or nothing, up to the address or the symbol. */
static bool parse_thread(struct ln_line *l, struct parts *p)
{
    uint64_t asid;

    p->thread = 0;
    ln_word(l, "ExecEnable: ");
    if (l->e - l->p > 2 && (*l->p == '+' || *l->p == '-') && l->p[1] == ' ')
        l->p += 2;
    if (ln_is(l, 'A') && !(ln_dec(l, &asid) && ln_is(l, ' ')))
        return false;
    if (ln_is(l, 'T') && !(ln_dec(l, &p->thread) && ln_word(l, " : ")))
        return false;
    return l->e - l->p > 2 && (*l->p == '@' || (l->p[0] == '0' && l->p[1] == 'x'));
}

/* "0x1004 @main+4   ", "0x1004 @main+4. 1", "@main+4   " up to the colon. */
static bool parse_place(struct ln_line *l, struct parts *p)
{
    const uint8_t *colon = ln_find(l->p, l->e, " : ", 3);
    unsigned digits;

    if (!colon)
        return false;
    p->has_pc = *l->p == '0';
    if (p->has_pc && !ln_0x(l, &p->pc, &digits))
        return false;
    p->upc = NO_UPC;
    /* a micro-operation's number stands right before the colon, else there are three blanks */
    if (colon - l->p >= 3 && ln_digit(colon[-1]) < 10 && colon[-3] == '.' &&
        (colon[-2] == ' ' || ln_digit(colon[-2]) < 10))
        p->upc = (colon[-2] == ' ' ? 0 : (int)ln_digit(colon[-2]) * 10) + (int)ln_digit(colon[-1]);
    else if (colon - l->p >= 4 && ln_digit(colon[-1]) < 10 && ln_digit(colon[-2]) < 10 &&
             ln_digit(colon[-3]) < 10 && colon[-4] == '.')
        p->upc = (int)(ln_digit(colon[-3]) * 100 + ln_digit(colon[-2]) * 10 + ln_digit(colon[-1]));
    l->p = colon + 3;
    return true;
}

/* Is [P, E) the name of a class of operations ("IntAlu")? */
static bool is_class(const uint8_t *p, const uint8_t *e)
{
    static const char *const begin[] = {"Int",  "Mem", "Float",  "Simd", "No_",
                                        "Inst", "Ipr", "Matrix", "Sys",  "Vector"};

    for (const uint8_t *q = p; q < e; q++)
        if (*q == ' ')
            return false;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) {
        const size_t n = strlen(begin[i]);

        if ((size_t)(e - p) >= n && memcmp(p, begin[i], n) == 0)
            return true;
    }
    return false;
}

/* The last " : " in [P, E), or " :" at its end; NULL: none. */
static const uint8_t *last_colon(const uint8_t *p, const uint8_t *e)
{
    for (const uint8_t *q = e - 2; q >= p; q--)
        if (q[0] == ' ' && q[1] == ':' && (q + 2 == e || q[2] == ' '))
            return q;
    return NULL;
}

/* Disassembly, class; the cursor goes to what the instruction did. */
static void parse_text(struct ln_line *l, struct parts *p)
{
    const uint8_t *from = l->p, *end = l->e, *colon = NULL;

    p->class = p->class_end = NULL;
    if (end - from >= 2)
        colon = last_colon(from, end);
    p->ran = colon != NULL;
    l->p = l->e;
    if (colon) {
        const uint8_t *before = colon - from >= 2 ? last_colon(from, colon) : NULL;

        if (before && before + 3 <= colon && is_class(before + 3, colon)) {
            p->class = before + 3;
            p->class_end = colon;
            end = before;
            l->p = colon + 2;
        } else if (colon + 3 <= l->e && is_class(colon + 3, l->e)) { /* nothing behind the class */
            p->class = colon + 3;
            p->class_end = l->e;
            end = colon;
        } else if (colon + 2 == l->e || (l->e - colon > 5 && colon[4] == '=') ||
                   (l->e - colon > 6 && colon[3] == ' ')) { /* what it did, without a class */
            end = colon;
            l->p = colon + 2;
        }
    }
    while (from < end && *from == ' ')
        from++;
    while (end > from && end[-1] == ' ')
        end--;
    p->text = from;
    p->text_end = end;
}

static bool parse(struct ln_line *l, struct parts *p)
{
    if (!parse_object(l, p) || !parse_thread(l, p) || !parse_place(l, p))
        return false;
    parse_text(l, p);
    return true;
}

/* What an instruction did: " D=0x...", " A=0x...", and words that say nothing of rows. */
struct did {
    uint64_t data, addr, seq;
    bool has_data, has_addr, has_seq, skipped;
};

static enum ln_result parse_did(struct ln_line *l, struct did *d)
{
    unsigned digits;

    for (;;) {
        ln_blanks(l);
        if (l->p == l->e)
            return LN_OK;
        if (ln_word(l, "D=0x")) {
            if (!ln_hex(l, &d->data, &digits))
                return ln_bad(l, "up to 16 hexadecimal digits are due here");
            d->has_data = true;
        } else if (ln_word(l, "A=")) {
            if (!ln_0x(l, &d->addr, &digits))
                return ln_bad(l, "the address of an access is due here");
            d->has_addr = true;
        } else if (ln_word(l, "CPSeq=")) {
            d->has_seq = ln_dec(l, &d->seq);
            if (!d->has_seq)
                return ln_bad(l, "a number is due here");
        } else {
            if (ln_word(l, "Predicated False")) {
                d->skipped = true;
                continue;
            }
            while (l->p < l->e && *l->p != ' ')
                l->p++;
        }
    }
}

/* ---- rows */

/* The stream of P into R and *NUMBER. */
static enum ln_result stream_of(struct decoder *d, struct ln_line *l, const struct parts *p,
                                struct ln_row *r)
{
    char name[NAME_MAX + 24];
    size_t n = (size_t)(p->object_end - p->object);
    int stream;

    if (n > NAME_MAX)
        n = NAME_MAX;
    if (p->thread == 0) {
        stream = trod_meta_stream(d->meta, (const char *)p->object, n);
    } else {
        memcpy(name, p->object, n);
        n += (size_t)snprintf(name + n, sizeof name - n, ".T%llu", (unsigned long long)p->thread);
        stream = trod_meta_stream(d->meta, name, n);
    }
    return ln_stream_found(l, stream, r);
}

/* Does an access of class [P, E) write? -1: it is no access. */
static int writes(const uint8_t *p, const uint8_t *e)
{
    if (ln_find(p, e, "Write", 5) || ln_find(p, e, "Store", 5))
        return 1;
    return ln_find(p, e, "Read", 4) || ln_find(p, e, "Load", 4) ? 0 : -1;
}

/* Does the micro-operation P go on with the instruction of the line before of its stream? */
static bool goes_on(const struct decoder *d, const struct parts *p, uint32_t stream)
{
    const unsigned at = stream % STREAMS;

    return p->upc != NO_UPC && d->before[at].stream == stream + 1 && d->before[at].pc == p->pc &&
           (p->upc > 0 || d->before[at].macro);
}

static enum ln_result put_access(struct ln_line *l, struct ln_row r, const struct parts *p,
                                 const struct did *did, bool write)
{
    r.kind = write ? TROD_WRITE : TROD_READ;
    r.has |= TROD_COL_ADDR;
    r.addr = did->addr;
    if (p->has_pc) {
        r.has |= TROD_COL_PC;
        r.pc = p->pc;
    }
    if (did->has_data) {
        r.has |= TROD_COL_VALUE;
        r.value = did->data;
    }
    return ln_put(l, &r) ? LN_OK : LN_FULL;
}

static enum ln_result put_instr(struct ln_line *l, struct ln_row r, const struct parts *p,
                                const struct did *did, bool access, bool part)
{
    r.kind = part ? TROD_NOTE : TROD_INSTR;
    if (p->has_pc) {
        r.has |= part ? TROD_COL_PC : TROD_COL_PC | TROD_COL_ADDR;
        r.addr = r.pc = p->pc;
    }
    if (p->text < p->text_end) {
        r.has |= TROD_COL_TEXT;
        r.text = ln_slice(l, p->text, p->text_end);
    }
    if (did->has_seq && !part) {
        r.has |= TROD_COL_INDEX;
        r.index = did->seq;
    }
    if (did->has_data && !access) {
        r.has |= TROD_COL_VALUE;
        r.value = did->data;
    }
    r.flags = did->skipped && !part ? (uint32_t)TROD_F_SKIPPED : 0;
    return ln_put(l, &r) ? LN_OK : LN_FULL;
}

static enum ln_result line(void *dec, struct ln_line *l)
{
    struct decoder *d = dec;
    struct ln_row r = {.has = TROD_COL_TIME};
    struct did did = {.has_data = false};
    struct parts p = {.tick = 0};
    enum ln_result rc, damage;
    bool part, access;
    int way;

    if (l->start == l->e)
        return LN_OK;
    if (!parse(l, &p))
        return ln_note(l);
    r.time = p.tick;
    rc = stream_of(d, l, &p, &r);
    if (rc != LN_OK)
        return rc;
    damage = parse_did(l, &did);
    way = p.class ? writes(p.class, p.class_end) : -1;
    access = did.has_addr && way >= 0;
    part = goes_on(d, &p, r.stream);
    if (!part || !access)
        rc = put_instr(l, r, &p, &did, access, part);
    if (rc == LN_OK && access)
        rc = put_access(l, r, &p, &did, way > 0);
    if (rc != LN_OK)
        return rc;
    d->before[r.stream % STREAMS].pc = p.pc;
    d->before[r.stream % STREAMS].stream = p.has_pc ? r.stream + 1 : 0;
    d->before[r.stream % STREAMS].macro = p.upc == NO_UPC;
    l->keep = true;
    return damage;
}

static int weigh(struct ln_line *l)
{
    struct parts p;

    return parse(l, &p) && p.text < p.text_end ? 32 : 0;
}

static int bid(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return ln_bid(&probe->head, weigh);
}

static int start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    struct decoder *d = dec;
    const struct options *o = opt;

    (void)diag;
    d->meta = meta;
    meta->unit = TROD_UNIT_TIC;
    ln_isa_settle(o ? &o->isa : NULL, head, meta);
    return TROD_OK;
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    struct decoder *d = dec;

    return ln_decode(&d->lines, d, in, out, READS, &names, diag, line);
}

const struct trod_format trod_format_gem5exec = {
    .name = "gem5exec",
    .title = "gem5's text of instructions (--debug-flags=Exec)",
    .suffixes = suffixes,
    .reads = READS,
    .kinds = 1u << TROD_NOTE | 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE,
    .flags = TROD_FMT_TEXT | TROD_FMT_FOLLOWS,
    .record_rows = ROWS_MAX,
    .options = options,
    .options_size = sizeof(struct options),
    .dec_size = sizeof(struct decoder),
    .bid = bid,
    .start = start,
    .decode = decode,
};
