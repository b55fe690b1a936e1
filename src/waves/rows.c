/*
 * rows.c - what the signals are from row to row: the second time through.
 *
 * Rows of one time are one point of the waves: what a signal is last at that time is what is
 * written. An access shows for as long as its stream stays at its time.
 */
#include <string.h>

#include "trod/detail.h"
#include "trod/disasm.h"
#include "waves/waves.h"

static bool says(const struct trod_batch *b, uint32_t i, uint32_t column)
{
    return (b->have & b->has[i] & column) != 0;
}

/* Is row I of a kind that waves show? Others (a note behind the last instruction) hide nothing. */
static bool shown(const struct trod_batch *b, uint32_t i)
{
    static const uint32_t kinds = 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE |
                                  1u << TROD_ATOMIC | 1u << TROD_REG | 1u << TROD_STATE |
                                  1u << TROD_EXCEPTION | 1u << TROD_MODE;

    return kinds >> b->kind[i] & 1;
}

/* The time goes on to that of row I of stream S. */
static void advance(struct trod_waves *w, struct wave_stream *s, const struct trod_batch *b,
                    uint32_t i)
{
    const bool instr = b->kind[i] == TROD_INSTR;
    uint64_t t = w->now;

    if (w->opt.cycles || !w->any_time) {
        t = w->instructions - (w->instructions > 0 && !instr);
        w->instructions += instr;
    } else if (wave_time(w, b, i, &t) && t < w->now) {
        w->sum.back += shown(b, i);
        t = w->now;
    }
    if (t != w->now || !w->begun) {
        if (w->begun)
            w->status = wave_flush(w);
        w->now = t;
        if (!w->begun && w->status == 0)
            w->status = wave_begin_dump(w);
        w->begun = true;
    }
    if (s->timed && s->time != t && s->accessed) {
        wave_set_number(w, &s->own[OWN_MEM_READ], 0);
        wave_set_number(w, &s->own[OWN_MEM_WRITE], 0);
        s->accessed = false;
    }
    if (instr) {
        w->sum.shared += s->executed && s->instruction_time == t;
        s->executed = true;
        s->instruction_time = t;
    }
    s->timed = true;
    s->time = t;
}

static void reversed(uint8_t *to, const uint8_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = from[n - 1 - i];
}

/* The opcode as a number: x86 has its first byte first, others are words or halfwords. */
static void opcode(struct trod_waves *w, struct wave_stream *s, const struct trod_batch *b,
                   uint32_t i, unsigned iset)
{
    const uint8_t *code = trod_batch_bytes(b, b->code[i]);
    const enum trod_isa isa = b->meta->isa;
    const uint32_t n = b->code[i].len;
    uint8_t v[16];

    if (n > sizeof v)
        return;
    memcpy(v, code, n);
    if (isa == TROD_ISA_X86_32 || isa == TROD_ISA_X86_64 ||
        (b->meta->endian == TROD_ENDIAN_BIG && iset != TROD_ISET_A64)) {
        reversed(v, code, n);
    } else if ((iset == TROD_ISET_T32 || iset == TROD_ISET_T32EE) && n == 4) {
        v[0] = code[2];
        v[1] = code[3];
        v[2] = code[0];
        v[3] = code[1];
    }
    wave_set(w, &s->own[OWN_OPCODE], v, NULL, n);
}

static void instruction(struct trod_waves *w, struct wave_stream *s, const struct trod_batch *b,
                        uint32_t i)
{
    const uint32_t flags = says(b, i, TROD_COL_FLAGS) ? b->flags[i] : 0;
    const unsigned iset = (flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT;
    const struct trod_detail_instr *d = trod_batch_detail(b, i);
    const bool code = says(b, i, TROD_COL_CODE) && b->code[i].len > 0;
    const char *text = "";
    size_t n = 0;

    if (says(b, i, TROD_COL_ADDR))
        wave_set_number(w, &s->own[OWN_PC], b->addr[i]);
    if (code)
        opcode(w, s, b, i, iset);
    if (says(b, i, TROD_COL_TEXT) && b->text[i].len) {
        text = (const char *)trod_batch_bytes(b, b->text[i]);
        n = b->text[i].len;
    } else if (code && s->own[OWN_INSN].on) {
        if (!w->disasm_tried && b->meta->isa != TROD_ISA_UNKNOWN) {
            w->disasm_tried = true;
            trod_disasm_new(&w->disasm, b->meta->isa, b->meta->endian, NULL);
        }
        if (w->disasm)
            text = trod_disasm_text(w->disasm, iset, says(b, i, TROD_COL_ADDR) ? b->addr[i] : 0,
                                    trod_batch_bytes(b, b->code[i]), b->code[i].len, &n);
    }
    wave_set_text(w, &s->own[OWN_INSN], text, n);
    wave_set_number(w, &s->own[OWN_EXECUTED], !(flags & TROD_F_SKIPPED));
    if (d && b->detail[i].len == sizeof *d && d->mode.len)
        wave_set_text(w, &s->own[OWN_MODE], (const char *)trod_batch_bytes(b, d->mode),
                      d->mode.len);
}

/* Data of an access: of those bytes the signal is that are known. */
static void data(struct trod_waves *w, struct wave_signal *s, const struct trod_batch *b,
                 uint32_t i)
{
    const struct trod_detail_mem *d = trod_batch_detail(b, i);
    uint32_t n = says(b, i, TROD_COL_SIZE) ? b->size[i] : 8;
    uint8_t v[WAVE_WIDEST] = {0}, known[WAVE_WIDEST];

    if (n > WAVE_WIDEST || n == 0)
        return;
    memset(known, 0, sizeof known);
    if (says(b, i, TROD_COL_DATA) && b->data[i].len) {
        const uint32_t have = b->data[i].len < n ? b->data[i].len : n;

        memcpy(v, trod_batch_bytes(b, b->data[i]), have);
        memset(known, 0xff, have);
    } else if (says(b, i, TROD_COL_VALUE)) {
        for (uint32_t k = 0; k < n; k++) {
            v[k] = k < 8 ? (uint8_t)(b->value[i] >> (8 * k)) : 0;
            known[k] = 0xff;
        }
    }
    if (d && b->detail[i].len == sizeof *d && b->kind[i] != TROD_ATOMIC && d->mask.len)
        for (uint32_t k = 0; k < n && k < d->mask.len; k++)
            known[k] &= (uint8_t)~trod_batch_bytes(b, d->mask)[k];
    wave_set(w, s, v, known, n);
}

static void access(struct trod_waves *w, struct wave_stream *s, const struct trod_batch *b,
                   uint32_t i)
{
    const bool read = b->kind[i] != TROD_WRITE,
               write = b->kind[i] == TROD_WRITE || b->kind[i] == TROD_ATOMIC;

    if (says(b, i, TROD_COL_ADDR))
        wave_set_number(w, &s->own[OWN_MEM_ADDR], b->addr[i]);
    else if (says(b, i, TROD_COL_PADDR))
        wave_set_number(w, &s->own[OWN_MEM_ADDR], b->paddr[i]);
    if (b->kind[i] == TROD_READ)
        data(w, &s->own[OWN_MEM_RDATA], b, i);
    else
        data(w, &s->own[OWN_MEM_WDATA], b, i);
    wave_set_number(w, &s->own[OWN_MEM_READ], read);
    wave_set_number(w, &s->own[OWN_MEM_WRITE], write);
    s->accessed = true;
}

static void event(struct trod_waves *w, struct wave_stream *s, const struct trod_batch *b,
                  uint32_t i)
{
    const struct trod_detail_event *d = trod_batch_detail(b, i);

    if (b->kind[i] == TROD_EXCEPTION && says(b, i, TROD_COL_TEXT))
        wave_set_text(w, &s->own[OWN_EXCEPTION], (const char *)trod_batch_bytes(b, b->text[i]),
                      b->text[i].len);
    if (b->kind[i] == TROD_MODE && says(b, i, TROD_COL_TEXT))
        wave_set_text(w, &s->own[OWN_MODE], (const char *)trod_batch_bytes(b, b->text[i]),
                      b->text[i].len);
    if (d && b->detail[i].len == sizeof *d && d->mode.len)
        wave_set_text(w, &s->own[OWN_MODE], (const char *)trod_batch_bytes(b, d->mode),
                      d->mode.len);
}

/* The registers that the row just fed to w->regs wrote. */
static void registers(struct trod_waves *w, struct wave_stream *s, uint32_t stream)
{
    const struct nav_file *f = stream < w->regs.n_files ? w->regs.file[stream] : NULL;

    for (uint32_t k = 0; f && k < w->regs.n_wrote; k++) {
        const uint32_t id = w->regs.wrote[k];

        if (id < s->n_regs && id < f->n && f->reg[id].bytes)
            wave_set(w, &s->reg[id], f->reg[id].bytes, f->reg[id].bytes + f->reg[id].cap,
                     f->reg[id].size);
    }
}

static void function(struct trod_waves *w, struct wave_stream *s, const struct trod_frame *f)
{
    char name[TROD_FUNCTION_NAME];
    const char *p;

    if (!s->own[OWN_FUNCTION].on || (s->in_function && s->function == f->function))
        return;
    s->in_function = true;
    s->function = f->function;
    p = trod_function_name(w->opt.symbols, f->function, name);
    wave_set_text(w, &s->own[OWN_FUNCTION], p, strlen(p));
}

int wave_rows(void *ctx, const struct trod_batch *b, uint32_t from, uint32_t to,
              struct trod_frame *f)
{
    struct trod_waves *w = ctx;

    for (uint32_t i = from; i < to && w->status == 0; i++) {
        const uint32_t stream = trod_batch_stream(b, i);
        struct wave_stream *s = stream < w->n_streams ? &w->stream[stream] : NULL;

        if (!s)
            continue;
        advance(w, s, b, i);
        if (nav_regs_row(&w->regs, b, i, b->first + i) < 0)
            w->status = TROD_ERR_NOMEM;
        if (f && b->kind[i] == TROD_INSTR)
            function(w, s, f);
        switch (b->kind[i]) {
        case TROD_INSTR:
            instruction(w, s, b, i);
            break;
        case TROD_READ:
        case TROD_WRITE:
        case TROD_ATOMIC:
            access(w, s, b, i);
            break;
        case TROD_EXCEPTION:
        case TROD_MODE:
            event(w, s, b, i);
            break;
        default:
            break;
        }
        registers(w, s, stream);
    }
    return w->status;
}
