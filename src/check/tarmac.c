/*
 * tarmac.c - rules of Tarmac and Trace Matcher traces.
 *
 * Implements the "tarmac." rules: order, flow, accesses, registers (TarmacTrace, sections of each
 * record). Translations, caches and TLBs stand in tarmac_memory.c.
 */
#include "check/tarmac.h"

#include "core/times.h"
#include "trod/disasm.h"
#include "trod/put.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_LEAST = 1 << 12, WORDS_MOST = 1 << 18 };

/* A word of the mode, in lower case, as a number: "EL3h" and "el3h_s" are the same. */
static uint64_t mode_word(const uint8_t *p, uint32_t n)
{
    uint64_t word = 0;

    for (uint32_t i = 0; i < n && i < 8 && p[i] != '_'; i++)
        word = word << 8 | (uint8_t)tolower(p[i]);
    return word;
}

static uint64_t mode_of(const struct trod_batch *b, uint32_t i)
{
    const struct trod_detail_instr *d = trod_batch_detail(b, i);

    return d && d->mode.len ? mode_word(trod_batch_bytes(b, d->mode), d->mode.len) : 0;
}

/* Exception level of an A64 mode ("el1h"), -1 for others. */
static int level_of(uint64_t mode)
{
    return (mode >> 16 & 0xffff) == ('e' << 8 | 'l') && (mode >> 8 & 0xff) >= '0' &&
                   (mode >> 8 & 0xff) <= '3'
               ? (int)(mode >> 8 & 0xff) - '0'
               : -1;
}

/* A line of the debugger (CADI): the simulator writes it, with a time that is not the cpu's. */
static bool of_debugger(const struct trod_batch *b, uint32_t i)
{
    const struct trod_detail_event *d = b->kind[i] == TROD_MARKER ? trod_batch_detail(b, i) : NULL;

    return d && b->detail[i].len == sizeof *d && d->what == TROD_EVENT_DEBUGGER;
}

/* The time of row I, in UNIT, is before T, the last one that it can be compared with. */
static void report_time(struct chk *c, const struct tarmac_time *t, const struct trod_batch *b,
                        uint32_t i, uint8_t unit)
{
    const bool same = (unit & 15) == (t->unit & 15); /* no need to say which */
    char before[TROD_PUT_TIME + 1], now[TROD_PUT_TIME + 1];

    *trod_put_fixed(before, t->last, trod_unit_decimals(t->unit)) = '\0';
    *trod_put_fixed(now, b->time[i], trod_unit_decimals(unit)) = '\0';
    chk_report(c, CHK_TARMAC_TIME, b, i, "time goes back from %s%s%s to %s%s%s", before,
               same ? "" : " ", same ? "" : trod_meta_unit_name(c->meta, t->unit), now,
               same ? "" : " ", same ? "" : trod_meta_unit_name(c->meta, unit));
}

/* The time of row I, in UNIT, against the last one of those that can be compared. */
static __attribute__((noinline)) void
time_order(struct chk *c, struct tarmac *t, const struct trod_batch *b, uint32_t i, uint8_t unit)
{
    struct tarmac_time *last;

    t->time_class = (uint8_t)trod_time_class(unit);
    last = &t->times[t->time_class];
    if (!last->known) {
        last->first = b->time[i];
        last->first_unit = unit;
        last->known = true;
    } else if (trod_time_before(b->time[i], unit, last->last, last->unit)) {
        report_time(c, last, b, i, unit);
    }
    last->last = b->time[i];
    last->unit = unit;
}

static void order(struct chk *c, struct tarmac *t, const struct trod_batch *b, uint32_t i)
{
    if (chk_has(b, i, TROD_COL_TIME) && !of_debugger(b, i)) {
        const uint8_t unit = chk_has(b, i, TROD_COL_UNIT) ? b->unit[i] : TROD_UNIT_NONE;
        struct tarmac_time *last = &t->times[t->time_class];

        if (last->known && last->unit == unit && last->last <= b->time[i]) /* most lines */
            last->last = b->time[i];
        else
            time_order(c, t, b, i, unit);
    }
    if (b->kind[i] == TROD_INSTR && chk_has(b, i, TROD_COL_INDEX)) {
        if (t->index_known && b->index[i] <= t->index)
            chk_report(c, CHK_TARMAC_INDEX, b, i,
                       "instruction index %" PRIu64 " follows index %" PRIu64, b->index[i],
                       t->index);
        t->index = b->index[i];
        t->index_known = true;
    }
}

static void not_continued(struct chk *c, const struct tarmac *t, const struct trod_batch *b,
                          uint32_t i)
{
    chk_report(c, CHK_TARMAC_PC, b, i,
               "instruction at 0x%" PRIx64 " does not follow the one at 0x%" PRIx64, b->addr[i],
               t->pc);
}

/*
 * MIPS: behind a branch comes its delay slot (which a branch-likely that is not taken leaves out),
 * then what it leads to. True when PC is where it may be.
 */
static bool delayed_flow(struct tarmac *t, uint64_t pc)
{
    const struct chk_word *slot = &t->slot;
    bool in_slot = t->slot_known;

    t->slot_known = false;
    if (in_slot) {
        if (!(slot->flags & TROD_INSN_TARGET) || pc == slot->target)
            return true;
        return slot->branch == TROD_BR_COND && pc == t->pc + t->size;
    }
    switch (t->insn.branch) {
    case TROD_BR_NONE:
        return pc == t->pc + t->size || (t->insn.flags & TROD_INSN_TRAP);
    case TROD_BR_ERET:
    case TROD_BR_SYSCALL:
        return true;
    default:
        t->slot_known = pc == t->pc + t->size;
        t->slot = t->insn;
        return t->slot_known || (t->insn.branch == TROD_BR_COND && pc == t->pc + 2u * t->size);
    }
}

static bool has_delay_slots(const struct chk *c)
{
    return c->meta->isa == TROD_ISA_MIPS32 || c->meta->isa == TROD_ISA_MIPS64;
}

/* Where the instruction before may lead, against where PC is. */
static void flow(struct chk *c, struct tarmac *t, const struct trod_batch *b, uint32_t i)
{
    uint64_t pc = b->addr[i], next = t->pc + t->size;
    bool target = (t->insn.flags & TROD_INSN_TARGET) && pc == t->insn.target;

    if (!t->insn_known || t->event) {
        t->slot_known = false;
        return;
    }
    if (has_delay_slots(c)) {
        if (!delayed_flow(t, pc))
            not_continued(c, t, b, i);
        return;
    }
    if (t->skipped && t->insn.branch && pc != next) {
        chk_report(c, CHK_TARMAC_SKIPPED, b, i,
                   "instruction at 0x%" PRIx64 " follows a skipped branch at 0x%" PRIx64, pc,
                   t->pc);
        return;
    }
    switch (t->insn.branch) {
    case TROD_BR_INDIRECT:
    case TROD_BR_ICALL:
    case TROD_BR_RETURN:
    case TROD_BR_ERET:
    case TROD_BR_SYSCALL:
    case TROD_BR_OTHER:
        return;
    case TROD_BR_DIRECT:
    case TROD_BR_CALL:
        if (target || ((t->insn.flags & TROD_INSN_PREDICATED) && pc == next))
            return;
        break;
    default:
        if (pc == next || (t->insn.branch == TROD_BR_COND && target))
            return;
        break;
    }
    if (!(t->insn.flags & TROD_INSN_TRAP))
        not_continued(c, t, b, i);
}

/* What the first word of a disassembly claims the instruction to be. */
static bool text_says(const char *text, uint32_t n, const char *const *words)
{
    for (; *words; words++) {
        size_t len = strlen(*words);

        if (n >= len) {
            size_t k = 0;

            while (k < len && tolower((unsigned char)text[k]) == (*words)[k])
                k++;
            if (k == len)
                return true;
        }
    }
    return false;
}

static bool text_class(struct chk *c, const struct chk_word *insn, const struct trod_batch *b,
                       uint32_t i)
{
    static const char *const loads[] = {"ld",  "pop", "cas", "swp", "vld", "vpop",
                                        "rfe", "st",  "l",   "ret", "tb",  NULL};
    static const char *const stores[] = {"st",  "push",  "ld",  "cas", "swp",
                                         "vst", "vpush", "srs", "s",   NULL};
    static const char *const branches[] = {"b",   "cb",  "tb",  "ret", "eret", "j",  "mov",
                                           "pop", "ld",  "sub", "add", "rfe",  "sc", "svc",
                                           "hvc", "smc", "sys", "swi", "drps", NULL};
    /* words that mean nothing else in any instruction set */
    static const char *const accesses_memory[] = {"ldr",  "ldp",  "ldur", "str ",
                                                  "strb", "strh", "stp ", NULL};
    static const char *const only_branches[] = {"b.", "bl ", "cbz", "cbnz", "ret", "eret", NULL};
    const char *text = (const char *)trod_batch_bytes(b, b->text[i]);
    uint32_t n = b->text[i].len;
    const char *what = NULL;

    if (!chk_has(b, i, TROD_COL_TEXT) || n == 0)
        return true;
    while (n && *text == ' ') {
        text++;
        n--;
    }
    if (insn->branch && !text_says(text, n, branches))
        what = "a branch";
    else if (!insn->branch && (insn->flags & TROD_INSN_COUNTS) && !insn->loads && !insn->stores &&
             !(insn->flags & TROD_INSN_PREFETCH) && text_says(text, n, accesses_memory))
        what = "no access to memory";
    else if (!insn->branch && !(insn->flags & TROD_INSN_TRAP) && text_says(text, n, only_branches))
        what = "no branch";
    else if (!insn->branch && insn->loads && !text_says(text, n, loads))
        what = "a load";
    else if (!insn->branch && insn->stores && !text_says(text, n, stores))
        what = "a store";
    if (what)
        chk_report(c, CHK_TARMAC_TEXT, b, i, "opcode is %s, the text says '%.*s'", what,
                   (int)(n < 24 ? n : 24), text);
    return what == NULL;
}

/* Whether the accesses that follow are those of the last instruction, and its opcode tells them. */
static bool judged(const struct tarmac *t)
{
    return t->insn_known && !t->skipped && !t->event && !t->unsure &&
           (t->insn.flags & TROD_INSN_COUNTS);
}

/* The value of an access, other than those of RTL and pictures, is of its size. */
static void value_digits(struct chk *c, const struct trod_batch *b, uint32_t i)
{
    const struct trod_detail_mem *d = trod_batch_detail(b, i);

    if (d && d->style < TROD_MEM_RTL && d->num.digits && d->num.digits < 2 * (uint64_t)b->size[i])
        chk_report(c, CHK_TARMAC_SHORT, b, i,
                   "value has %" PRIu32 " digits, an access of %" PRIu32 " bytes has %" PRIu64,
                   d->num.digits, b->size[i], 2 * (uint64_t)b->size[i]);
}

/* An access: does the instruction make such ones? Told once an instruction. */
static void access(struct chk *c, struct tarmac *t, const struct trod_batch *b, uint32_t i)
{
    bool read = b->kind[i] == TROD_READ;
    uint64_t *bytes = read ? &t->read : &t->written;

    if (*bytes == 0 && judged(t) && !(read ? t->insn.loads : t->insn.stores))
        chk_report(c, CHK_TARMAC_ACCESS, b, i,
                   "instruction at 0x%" PRIx64 " %s memory, its opcode does not", t->pc,
                   read ? "reads" : "writes");
    *bytes += chk_has(b, i, TROD_COL_SIZE) ? b->size[i] : 0;
    chk_tarmac_translation(c, t, b, i);
}

/* The accesses of the last instruction are complete: as many bytes as its opcode says? */
static void accesses(struct chk *c, const struct tarmac *t, const struct trod_batch *b, uint32_t i)
{
    const struct chk_word *n = &t->insn;

    if (!judged(t) || (t->read && !n->loads) || (t->written && !n->stores) ||
        !(n->flags & TROD_INSN_SIZES) || (n->flags & TROD_INSN_PREDICATED))
        return;
    if ((t->read && t->read != n->read_size) || (t->written && t->written != n->write_size))
        chk_report(c, CHK_TARMAC_SIZE, b, i,
                   "instruction at 0x%" PRIx64 " accesses %" PRIu64 " bytes, its opcode %" PRIu32,
                   t->pc, t->read ? t->read : t->written, t->read ? n->read_size : n->write_size);
}

static void modes(struct chk *c, struct tarmac *t, const struct trod_batch *b, uint32_t i)
{
    uint64_t mode = mode_of(b, i);

    if (mode && t->new_mode && mode != t->new_mode)
        chk_report(c, CHK_TARMAC_MODE, b, i,
                   "instruction is not in the mode that was changed to before it");
    if (mode && t->mode && !t->event && level_of(mode) > level_of(t->mode) &&
        level_of(t->mode) >= 0 && t->insn.branch != TROD_BR_SYSCALL) {
        t->rises |= !t->events;
        if (t->events)
            chk_report(c, CHK_TARMAC_EXCEPTION, b, i,
                       "exception level rises from %d to %d without an exception",
                       level_of(t->mode), level_of(mode));
    }
    t->new_mode = 0;
    if (mode)
        t->mode = mode;
}

static uint64_t text_key(const struct trod_batch *b, uint32_t i)
{
    uint64_t key = 0;

    if (chk_has(b, i, TROD_COL_TEXT) && b->text[i].len)
        memcpy(&key, trod_batch_bytes(b, b->text[i]), b->text[i].len < 8 ? b->text[i].len : 8);
    return key;
}

/* Decode row I and look at its disassembly. */
static void fill_word(struct chk *c, const struct trod_batch *b, uint32_t i, struct chk_word *w)
{
    const struct chk_code *code = NULL;

    /* Tarmac lines say what their instructions are; the meta may know only later, from other lines
     */
    if (trod_rule_family(c->meta->format) == TROD_RULE_TARMAC)
        chk_use_isa(c, TROD_ISA_ARM);
    if ((!c->isa_known || w->iset != TROD_ISET_NONE) && w->len)
        code = chk_code(c, b, i);
    w->valid = code && code->facts.valid;
    w->flags = 0;
    w->branch = TROD_BR_NONE;
    w->text_right = true;
    if (!w->valid)
        return;
    w->flags = code->facts.flags;
    w->branch = code->facts.branch;
    w->loads = (uint8_t)(code->facts.loads - code->hint);
    w->stores = code->facts.stores;
    w->read_size = code->read_size;
    w->write_size = code->write_size;
    w->target = code->facts.target;
    w->text_right = text_class(c, w, b, i);
}

/* The table is too small for the program: another of twice the size. */
static void grow_words(struct chk *c)
{
    uint32_t n = 2 * (c->words_mask + 1);
    struct chk_word *words = calloc(n, sizeof *words);

    c->words_missed = 0;
    if (!words)
        return;
    free(c->words);
    c->words = words;
    c->words_mask = n - 1;
}

/*
 * Facts of row I. Lines repeat: what was found good of the same opcode and text at the same address
 * is not looked at again. Opcodes wider than four bytes are decoded each time.
 */
static const struct chk_word *word_of(struct chk *c, const struct trod_batch *b, uint32_t i)
{
    const uint8_t *p = trod_batch_bytes(b, b->code[i]);
    struct chk_word *w, key = {.pc = b->addr[i],
                               .text = text_key(b, i),
                               .iset = (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT};

    if (chk_has(b, i, TROD_COL_CODE))
        key.len = b->code[i].len <= 4 ? (uint8_t)b->code[i].len : UINT8_MAX;
    if (key.len <= 4 && key.len)
        memcpy(&key.code, p, key.len);
    w = &c->words[(key.pc >> 1 ^ key.pc >> 19) & c->words_mask];
    if (w->text_right && w->pc == key.pc && w->code == key.code && w->len == key.len &&
        w->iset == key.iset && w->text == key.text && key.len <= 4)
        return w;
    if (w->len && ++c->words_missed > c->words_mask && c->words_mask + 1 < WORDS_MOST) {
        grow_words(c);
        return word_of(c, b, i);
    }
    *w = key;
    fill_word(c, b, i, w);
    return w;
}

static int instruction(struct chk *c, struct tarmac *t, const struct trod_batch *b, uint32_t i)
{
    if (!chk_has(b, i, TROD_COL_ADDR))
        return TROD_OK;
    if (!c->words) {
        if (!(c->words = calloc(WORDS_LEAST, sizeof *c->words)))
            return TROD_ERR_NOMEM;
        c->words_mask = WORDS_LEAST - 1;
    }
    accesses(c, t, b, i);
    flow(c, t, b, i);
    modes(c, t, b, i);
    t->insn = *word_of(c, b, i);
    t->pc = b->addr[i];
    t->size = chk_has(b, i, TROD_COL_SIZE) ? b->size[i] : 4;
    t->skipped = b->flags[i] & TROD_F_SKIPPED;
    t->insn_known = t->insn.valid;
    t->event = t->unsure = false;
    t->read = t->written = 0;
    if (!t->insn_known && c->insn && t->insn.len && (!c->isa_known || t->insn.iset))
        chk_report(c, CHK_TARMAC_OPCODE, b, i, "the disassembler (%s) does not know the opcode",
                   trod_disasm_version());
    return TROD_OK;
}

/* Width in bits that a register's name implies; 0: none is known. */
static unsigned name_bits(const uint8_t *p, uint32_t n)
{
    char letter = n ? (char)tolower(p[0]) : 0;

    if (n < 2 || n > 3)
        return 0;
    for (uint32_t k = 1; k < n; k++)
        if (!isdigit(p[k]))
            return 0;
    switch (letter) {
    case 'r':
    case 'w':
    case 's':
        return 32;
    case 'x':
    case 'e':
    case 'd':
        return 64;
    case 'q':
        return 128;
    default:
        return 0;
    }
}

static void reg(struct chk *c, const struct trod_batch *b, uint32_t i)
{
    const uint8_t *name = trod_batch_bytes(b, b->text[i]);
    unsigned bits = chk_has(b, i, TROD_COL_TEXT) ? name_bits(name, b->text[i].len) : 0;
    uint32_t top = 0;

    if (!bits)
        return;
    if (chk_has(b, i, TROD_COL_DATA)) {
        const uint8_t *p = trod_batch_bytes(b, b->data[i]);

        for (uint32_t k = 0; k < b->data[i].len; k++)
            if (p[k])
                top = 8 * k + 8;
    } else if (chk_has(b, i, TROD_COL_VALUE) && b->value[i] >> 32) {
        top = 64;
    }
    if (top > bits)
        chk_report(c, CHK_TARMAC_REG_WIDTH, b, i, "value of %.*s does not fit into %u bits",
                   (int)b->text[i].len, name, bits);
}

static void event(struct tarmac *t, const struct trod_batch *b, uint32_t i)
{
    t->event = true;
    t->events = true;
    t->new_mode = 0;
    if (b->kind[i] == TROD_MODE) {
        const struct trod_detail_event *d = trod_batch_detail(b, i);

        if (d && d->mode.len)
            t->new_mode = mode_word(trod_batch_bytes(b, d->mode), d->mode.len);
    }
}

static int rows(struct chk *c, void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct tarmac *t = st;

    for (uint32_t i = from; i < to; i++) {
        order(c, t, b, i);
        switch (b->kind[i]) {
        case TROD_INSTR:
            if (instruction(c, t, b, i) < 0)
                return TROD_ERR_NOMEM;
            break;
        case TROD_READ:
        case TROD_WRITE:
            value_digits(c, b, i);
            if (!(b->flags[i] & TROD_F_ABORTED))
                access(c, t, b, i);
            break;
        case TROD_ATOMIC:
            t->unsure = true;
            break;
        case TROD_REG:
            reg(c, b, i);
            chk_tarmac_register(t, b, i);
            break;
        case TROD_EXCEPTION:
        case TROD_MODE:
            event(t, b, i);
            break;
        case TROD_CACHE_LINE:
        case TROD_TLB:
            if (chk_tarmac_line(c, t, b, i) < 0)
                return TROD_ERR_NOMEM;
            break;
        default:
            break;
        }
        if (b->flags[i] & TROD_F_ABORTED)
            t->unsure = t->event = true;
    }
    return TROD_OK;
}

static void end(struct chk *c, void *st)
{
    accesses(c, st, NULL, 0);
}

static void fini(void *st)
{
    chk_tarmac_fini(st);
}

const struct chk_family chk_tarmac = {
    .families = TROD_RULE_TARMAC | TROD_RULE_MATCHER,
    .text = true,
    .stream_size = sizeof(struct tarmac),
    .rows = rows,
    .end = end,
    .fini = fini,
    .seam = chk_tarmac_seam,
    .join = chk_tarmac_join,
};
