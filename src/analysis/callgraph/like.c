/*
 * like.c - the event groups and the call matching of Arm's Tarmac Trace Utilities (like.h).
 *
 * A call is a transfer of control behind a write of the link register that points near it; its
 * return is a transfer to that address with the same stack pointer. Calls that never return are no
 * calls.
 */
#include "analysis/callgraph/like.h"

#include "core/grow.h"
#include "core/tarmac_time.h"
#include "trod/detail.h"
#include "trod/format.h"

#include <stdlib.h>
#include <string.h>

enum { R13, R14, X30, XSP, NO_REG, OTHER_REG };

/* ---- registers */

static bool named(const char *name, size_t n, const char *what)
{
    return strlen(what) == n && memcmp(name, what, n) == 0;
}

/*
 * The four registers that matter; OTHER_REG: another one that these tools know, NO_REG: none. They
 * look at letters and at the digits behind them only.
 */
static unsigned register_of(const uint8_t *p, size_t len, uint32_t size)
{
    char name[8];
    size_t n = 0, i = 0;
    unsigned number = 0;

    for (; i < len && i < 6 && ((p[i] | 32) >= 'a' && (p[i] | 32) <= 'z'); i++)
        name[n++] = (char)(p[i] | 32);
    if (i == len || p[i] < '0' || p[i] > '9') {
        if (named(name, n, "sp"))
            return size == 8 ? XSP : R13;
        if (named(name, n, "xsp"))
            return XSP;
        if (named(name, n, "lr"))
            return R14; /* of 8 bytes: x14, whose lower half it is */
        if (named(name, n, "msp"))
            return R13;
        return named(name, n, "wsp") ? XSP
               : named(name, n, "psr") || named(name, n, "cpsr") || named(name, n, "fpscr") ||
                       named(name, n, "fpcr") || named(name, n, "fpsr") || named(name, n, "vpr")
                   ? OTHER_REG
                   : NO_REG;
    }
    for (; i < len && p[i] >= '0' && p[i] <= '9' && number < 100; i++)
        number = 10 * number + (unsigned)(p[i] - '0');
    if (n != 1)
        return NO_REG;
    switch (name[0]) {
    case 'r':
    case 'w':
    case 'x':
    case 'e':
        if (number > (name[0] == 'r' ? 15u : 30u))
            return NO_REG;
        return number == 13 ? R13 : number == 14 ? R14 : number == 30 ? X30 : OTHER_REG;
    case 'v':
    case 'q':
    case 'd':
    case 's':
    case 'z':
        return number < 32 ? OTHER_REG : NO_REG;
    case 'p':
        return number < 16 ? OTHER_REG : NO_REG;
    default:
        return NO_REG;
    }
}

static bool known(const struct cg_like *k, unsigned reg, uint64_t *v)
{
    const uint8_t all = reg == R13 || reg == R14 ? 0x0f : 0xff;

    *v = all == 0x0f ? k->snap.value[reg] & UINT32_MAX : k->snap.value[reg];
    return (k->snap.known[reg] & all) == all;
}

/* The stack below V is gone. */
static void drop(struct cg_like *k, uint64_t v)
{
    while (k->n_pending && k->pending[k->n_pending - 1].sp < v)
        k->n_pending--;
}

static void write_register(struct cg_like *k, unsigned reg, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i], size = said & TROD_COL_SIZE ? b->size[i] : 0;
    uint64_t v;

    if (reg == (k->narrow ? R14 : X30))
        k->n = 0;
    if (reg == (k->narrow ? R13 : XSP) && known(k, reg, &v))
        drop(k, v);
    if (reg > XSP || !(said & TROD_COL_VALUE))
        return;
    if (size >= 8) {
        k->reg.value[reg] = b->value[i];
        k->reg.known[reg] = 0xff;
    } else if (size == 4) {
        k->reg.value[reg] = (k->reg.value[reg] & ~(uint64_t)UINT32_MAX) | (uint32_t)b->value[i];
        k->reg.known[reg] |= 0x0f;
    }
}

/* ---- transfers */

static int add_mark(struct cg_like *k, bool call, size_t of)
{
    if (!trod_grow(&k->mark, k->n_marks, &k->cap_marks, sizeof *k->mark, 256))
        return TROD_ERR_NOMEM;
    k->mark[k->n_marks] = (struct cg_mark){.at = k->now, .before = k->before, .call = call};
    k->n_marks++;
    if (!call)
        k->mark[of].other = k->n_marks;
    return TROD_OK;
}

/* The first pending call from I down whose stack pointer is not below SP. */
static size_t place_of(const struct cg_like *k, uint64_t sp)
{
    size_t i = k->n_pending;

    while (i > 0 && k->pending[i - 1].sp < sp)
        i--;
    return i;
}

static int insert(struct cg_like *k, uint64_t sp, uint64_t ra)
{
    size_t i = place_of(k, sp);

    for (size_t j = i; j-- > 0 && k->pending[j].sp == sp;)
        if (k->pending[j].ra == ra)
            return TROD_OK; /* the older one stays */
    if (!trod_grow(&k->pending, k->n_pending, &k->cap_pending, sizeof *k->pending, 64))
        return TROD_ERR_NOMEM;
    memmove(k->pending + i + 1, k->pending + i, (k->n_pending - i) * sizeof *k->pending);
    k->pending[i] = (struct cg_pending){sp, ra, k->n_marks, k->now.line};
    k->n_pending++;
    return add_mark(k, true, 0);
}

static int say(struct cg_core *core, const char *format, uint64_t a, uint64_t b, uint64_t c)
{
    return core->opt->debug ? trod_buf_printf(&core->like->debug, format, (unsigned long long)a,
                                              (unsigned long long)b, (unsigned long long)c)
                            : TROD_OK;
}

static int transfer(struct cg_core *core, uint64_t pc)
{
    struct cg_like *k = core->like;
    const uint64_t behind = k->next | k->last_thumb;
    uint64_t sp, lr;
    size_t i;
    int rc;

    if (!known(k, k->narrow ? R13 : XSP, &sp))
        sp = UINT64_MAX;
    rc = say(core, "transfer of control @ %llu, sp=%llx, pc=%llx\n", k->now.line - k->header, sp,
             pc);
    for (i = place_of(k, sp); rc == TROD_OK && i-- > 0 && k->pending[i].sp == sp;) {
        if (k->pending[i].ra != pc)
            continue;
        rc = say(core, "  looks like return for call @ %llu\n", k->pending[i].line - k->header, 0,
                 0);
        if (rc == TROD_OK)
            rc = add_mark(k, false, k->pending[i].mark);
        memmove(k->pending + i, k->pending + i + 1, (--k->n_pending - i) * sizeof *k->pending);
        k->n = 8;
        return rc;
    }
    if (rc == TROD_OK && known(k, k->narrow ? R14 : X30, &lr) && k->n < 8 &&
        lr - behind + 63 < 127) {
        rc = say(core, "  inserting as pending call with sp=%llx lr=%llx\n", sp, lr, 0);
        if (rc == TROD_OK)
            rc = insert(k, sp, lr);
    }
    k->n = 8;
    return rc;
}

/* ---- groups */

/* Visits of the group's address were asked for. */
static int visit(struct cg_core *core)
{
    struct cg_like *k = core->like;

    for (uint32_t i = 0; i < k->n_names; i++) {
        if (!k->name[i].found || (k->now.pc & ~(uint64_t)1) != (k->name[i].address & ~(uint64_t)1))
            continue;
        if (k->skip[i] == k->now.line) {
            k->skip[i] = 0;
            continue;
        }
        k->skip[i] = k->now.line + 1;
        if (!trod_grow(&k->visit, k->n_visits, &k->cap_visits, sizeof *k->visit, 64))
            return TROD_ERR_NOMEM;
        k->visit[k->n_visits++] = (struct cg_visit){k->now.time, k->now.line, k->now.pos, i};
    }
    return TROD_OK;
}

/* An event at TIME; INSN: an instruction. */
static void event(struct cg_like *k, uint64_t time, uint64_t line, uint64_t pos, bool insn)
{
    if (k->began && time < k->now.time)
        time = k->now.time;
    if (!k->began)
        k->header = line - 1;
    if (k->began && time == k->now.time && !(insn && k->has_insn))
        return;
    k->before = k->now;
    k->now = (struct cg_group){time, line, pos, 2};
    k->snap = k->reg;
    k->has_insn = false;
    k->began = true;
}

static int instruction(struct cg_core *core, const struct trod_batch *b, uint32_t i)
{
    struct cg_like *k = core->like;
    const uint32_t said = b->have & b->has[i];
    const unsigned iset =
        said & TROD_COL_FLAGS ? (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT : TROD_ISET_NONE;
    const bool thumb = iset == TROD_ISET_T32 || iset == TROD_ISET_T32EE;
    const uint64_t pc = b->addr[i] | thumb;
    int rc = TROD_OK;

    k->has_insn = true;
    k->now.pc = pc;
    if (!k->has_first)
        k->first = k->now;
    k->has_first = true;
    k->narrow = thumb || iset == TROD_ISET_A32;
    k->n += k->n < 8;
    if (k->have_last && b->addr[i] != k->next)
        rc = transfer(core, pc);
    k->have_last = true;
    k->next = b->addr[i] + (said & TROD_COL_SIZE ? b->size[i] : 4);
    k->last_thumb = thumb;
    return rc < 0 ? rc : visit(core);
}

/* ---- rows */

/* Lines of a source that these tools do not recognise as a cpu are plain text for them. */
static bool foreign(const struct trod_batch *b, uint32_t i)
{
    const struct trod_stream *s;

    if (!(b->have & b->has[i] & TROD_COL_STREAM) || !b->meta || b->stream[i] >= b->meta->n_streams)
        return false;
    s = &b->meta->streams[b->stream[i]];
    return s->name && s->name_len && (s->name_len < 3 || memcmp(s->name, "cpu", 3) != 0);
}

/* Values of 16 bytes are two words for these tools; where they are one, the tools give up. */
static int refused(struct cg_core *core, const struct trod_batch *b, uint32_t i, uint64_t line)
{
    const struct trod_detail_mem *d = trod_batch_detail(b, i);
    struct trod_place at = trod_place_path(NULL);

    if ((b->kind[i] != TROD_READ && b->kind[i] != TROD_WRITE) ||
        !(b->have & b->has[i] & TROD_COL_SIZE) || b->size[i] != 16 ||
        (d &&
         (d->num.sep == ' ' || d->style == TROD_MEM_PICTURE || d->style == TROD_MEM_PICTURE_CONT)))
        return TROD_OK;
    at.line = line;
    core->like->refused = true;
    return trod_error(core->context.diag, TROD_ERR_UNSUPPORTED, "like.tarmac", &at,
                      "expected second word of memory contents: Arm's tools read no further");
}

static int row(struct cg_core *core, const struct trod_batch *b, uint32_t i)
{
    struct cg_like *k = core->like;
    const uint32_t said = b->have & b->has[i];
    const struct trod_slice raw = said & TROD_COL_RAW ? b->raw[i] : (struct trod_slice){0, 0};
    const uint8_t *p = raw.len ? trod_batch_bytes(b, raw) : NULL;
    const uint64_t line = k->lines + 1, pos = k->bytes;
    const bool text = foreign(b, i);
    unsigned reg = OTHER_REG;

    for (const uint8_t *end = p + raw.len; p && (p = memchr(p, '\n', (size_t)(end - p))) != NULL;
         p++)
        k->lines++;
    k->bytes += raw.len;
    if (said & TROD_COL_TIME)
        k->time = trod_tarmac_time(b, i);
    if (b->kind[i] == TROD_NOTE && said & TROD_COL_TEXT && b->text[i].len == 6 &&
        memcmp(trod_batch_bytes(b, b->text[i]), "Tarmac", 6) == 0)
        return TROD_OK;
    if (b->kind[i] == TROD_REG && !text) {
        reg = said & TROD_COL_TEXT ? register_of(trod_batch_bytes(b, b->text[i]), b->text[i].len,
                                                 said & TROD_COL_SIZE ? b->size[i] : 0)
                                   : NO_REG;
        if (reg == NO_REG)
            return TROD_OK;
    }
    event(k, k->time, line, pos, b->kind[i] == TROD_INSTR && !text);
    if (text)
        return TROD_OK;
    if (refused(core, b, i, line) < 0)
        return TROD_ERR_UNSUPPORTED;
    if (b->kind[i] == TROD_REG)
        write_register(k, reg, b, i);
    return b->kind[i] == TROD_INSTR && said & TROD_COL_ADDR ? instruction(core, b, i) : TROD_OK;
}

int cg_like_feed(struct cg_core *core, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    int rc = TROD_OK;

    for (uint32_t i = from; rc == TROD_OK && i < to; i++)
        rc = row(core, b, i);
    return rc;
}

/* ---- names that are asked for */

/* The symbol NAME or NAME#K, a number 0xADDRESS. */
static void look_up(struct cg_core *core, struct cg_like_name *n, const char *text)
{
    const char *hash = strrchr(text, '#');
    size_t len = hash ? (size_t)(hash - text) : strlen(text);
    unsigned long k = hash ? strtoul(hash + 1, NULL, 10) : 0;
    struct trod_symbol_raw raw;

    n->name = text;
    if (trod_option_number(text, &n->address) == TROD_OK) {
        n->found = true;
        return;
    }
    n->is_name = true;
    for (size_t i = 0; core->context.symbols && trod_symbols_raw(core->context.symbols, i, &raw);
         i++)
        if (strlen(raw.name) == len && memcmp(raw.name, text, len) == 0 && k-- == 0) {
            n->address = raw.address;
            n->size = raw.size;
            n->found = true;
            return;
        }
}

/* May there be writes of Arm's link register and stack pointer? Without these there is no call. */
static bool may_follow(const struct trod_meta *meta)
{
    const struct trod_format *f = meta ? meta->driver : NULL;

    if (!f)
        return true;
    return (!f->kinds || f->kinds >> TROD_REG & 1) &&
           (meta->isa == TROD_ISA_ARM || meta->isa == TROD_ISA_A64 ||
            meta->isa == TROD_ISA_UNKNOWN);
}

int cg_like_init(struct cg_core *core)
{
    const struct trod_meta *meta = core->context.meta;
    struct cg_like *k;

    if (!may_follow(meta)) {
        /* where the format has no registers the instruction set does not matter */
        const bool isa = !meta->driver->kinds || meta->driver->kinds >> TROD_REG & 1;

        return trod_error(core->context.diag, TROD_ERR_USAGE, "like.registers", NULL,
                          "'--like tarmac' follows writes of Arm's link register and stack "
                          "pointer, which this trace of format %s%s%s does not have; without the "
                          "option calls of every trace are followed",
                          meta->driver->name, isa ? " and instruction set " : "",
                          isa ? trod_isa_name(meta->isa) : "");
    }
    core->like = k = calloc(1, sizeof *k);
    if (!k)
        return TROD_ERR_NOMEM;
    k->n = 8;
    k->n_names = core->opt->function.n;
    k->skip = calloc(k->n_names + 1, sizeof *k->skip);
    for (size_t i = 0; i < k->n_names; i++)
        look_up(core, &k->name[i], core->opt->function.item[i]);
    return k->skip ? TROD_OK : TROD_ERR_NOMEM;
}

void cg_like_fini(struct cg_core *core)
{
    struct cg_like *k = core->like;

    if (!k)
        return;
    free(k->mark);
    free(k->pending);
    free(k->visit);
    free(k->skip);
    trod_buf_fini(&k->debug);
    free(k);
}

enum trod_order_need cg_like_order(const void *opt)
{
    const struct cg_options *o = opt;

    return o && o->like ? TROD_GLOBAL_ORDER : TROD_STREAM_ORDER;
}
