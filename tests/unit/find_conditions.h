/*
 * find_conditions.h - random conditions about what some rows of a trace say.
 */
#ifndef FIND_CONDITIONS_H
#define FIND_CONDITIONS_H

#include "gen.h"
#include "trod/batch.h"
#include "trod/buf.h"

#include <string.h>

enum { SEEN = 64, TEXT = 48 };

/* What some rows of the trace are: expressions are about that. */
struct seen {
    unsigned kind;
    uint64_t pc, addr, value, opcode, row, time, size, flags, stream, sub, index;
    char text[TEXT];
};

static struct seen seen[SEEN];
static size_t n_seen;

static void note_row(const struct trod_batch *b, uint32_t i, uint64_t row, struct trod_gen *g)
{
    struct seen *s = n_seen < SEEN ? &seen[n_seen++] : &seen[gen_below(g, SEEN)];
    const uint32_t has = b->have & b->has[i];
    size_t n = 0;

    *s = (struct seen){.kind = b->kind[i], .row = row};
    s->pc = has & TROD_COL_PC ? b->pc[i] : has & TROD_COL_ADDR ? b->addr[i] : 0;
    s->addr = has & TROD_COL_ADDR ? b->addr[i] : 5;
    s->value = has & TROD_COL_VALUE ? b->value[i] : 1;
    s->time = has & TROD_COL_TIME ? b->time[i] : 7;
    s->size = has & TROD_COL_SIZE ? b->size[i] : 4;
    s->flags = has & TROD_COL_FLAGS ? b->flags[i] : 0;
    s->stream = has & TROD_COL_STREAM ? b->stream[i] : 0;
    s->sub = has & TROD_COL_SUB ? b->sub[i] : 3;
    s->index = has & TROD_COL_INDEX ? b->index[i] : 2;
    for (uint32_t k = 0; has & TROD_COL_CODE && k < b->code[i].len && k < 4; k++)
        s->opcode |= (uint64_t)trod_batch_bytes(b, b->code[i])[k] << 8 * k;
    for (uint32_t k = 0; has & TROD_COL_TEXT && k < b->text[i].len && n < 6; k++) {
        const uint8_t c = trod_batch_bytes(b, b->text[i])[k];

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
            s->text[n++] = (char)c;
        else if (n)
            break;
    }
    if (n == 0)
        memcpy(s->text, "mov", 4);
}

/* A condition about what many rows have in common, or about times and addresses of many. */
static void common(struct trod_gen *g, const struct seen *s, const struct seen *t,
                   struct trod_buf *out)
{
    static const char *const words[] = {"taken",
                                        "untaken",
                                        "conditional",
                                        "call",
                                        "indirect",
                                        "kernel",
                                        "user",
                                        "has(time)",
                                        "has(addr)",
                                        "has(target)",
                                        "thumb",
                                        "privileged",
                                        "branch == conditional",
                                        "has(branch)",
                                        "kind == FETCH",
                                        "has(size)",
                                        "has(type)",
                                        "security == s",
                                        "has(stream)",
                                        "kind in {SYNC, FLUSH}",
                                        "newcode",
                                        "iset == A64",
                                        "branch in {call, return}",
                                        "has(index)",
                                        "return"};
    const unsigned long long size = s->size, flags = s->flags, stream = s->stream, sub = s->sub,
                             lo = s->time < t->time ? s->time : t->time,
                             hi = s->time < t->time ? t->time : s->time,
                             first = s->addr < t->addr ? s->addr : t->addr,
                             last = s->addr < t->addr ? t->addr : s->addr,
                             least = s->value < t->value ? s->value : t->value,
                             most = s->value < t->value ? t->value : s->value, number = s->index,
                             some = gen_below(g, 50),
                             later = number < UINT64_MAX - some ? number + some : UINT64_MAX;
    const bool again = gen_below(g, 2);

    switch (gen_below(g, 18)) {
    case 0:
        trod_buf_printf(out, again ? "size == %llu" : "size > %llu", size);
        break;
    case 1:
        trod_buf_printf(out, again ? "flags == 0x%llx" : "flags & 0x%llx != 0", flags);
        break;
    case 2:
        trod_buf_printf(out, again ? "stream == %llu" : "tid != %llu", stream);
        break;
    case 3:
        trod_buf_printf(out, again ? "sub == %llu" : "sub * 2 < %llu", sub);
        break;
    case 4:
        trod_buf_printf(out, "time in %llu..%llu", lo, hi);
        break;
    case 5:
        trod_buf_printf(out, again ? "time < %llu" : "time >= %llu", hi);
        break;
    case 6:
        trod_buf_printf(out, "addr in 0x%llx..0x%llx", first, last);
        break;
    case 7:
        trod_buf_printf(out, "addr in 0x%llx..0x%llx", first & ~UINT64_C(0xfff), last | 0xfff);
        break;
    case 8:
        trod_buf_printf(out, again ? "addr <= 0x%llx" : "0x%llx < addr", first);
        break;
    case 9:
        trod_buf_printf(out, "value in 0x%llx..0x%llx", least, most);
        break;
    case 10:
        trod_buf_printf(out, again ? "value < 0x%llx" : "value > 0x%llx", again ? most : least);
        break;
    case 12:
        trod_buf_printf(out, "index in %llu..%llu", number, later);
        break;
    case 13:
        trod_buf_printf(out, again ? "index < %llu" : "%llu <= instruction", later);
        break;
    case 11:
        trod_buf_printf(out, "value in {..0x%llx, 0x%llx..}", least, most);
        break;
    default:
        trod_buf_printf(out, "%s", words[gen_below(g, sizeof words / sizeof *words)]);
    }
}

static void condition(struct trod_gen *g, unsigned depth, struct trod_buf *out)
{
    static const char *const texts[] = {"text", "disasm", "mnemonic", "register"};
    const struct seen *s = &seen[gen_below(g, n_seen)];
    const unsigned long long pc = s->pc, value = s->value, opcode = s->opcode, row = s->row;

    if (depth && gen_below(g, 3)) {
        const unsigned op = (unsigned)gen_below(g, 5);

        trod_buf_printf(out, op == 4 ? "!(" : "(");
        condition(g, depth - 1, out);
        if (op < 4) {
            trod_buf_printf(out, op == 3 ? " || " : " && ");
            condition(g, depth - 1, out);
        }
        trod_buf_printf(out, ")");
        return;
    }
    if (gen_below(g, 2)) {
        common(g, s, &seen[gen_below(g, n_seen)], out);
        return;
    }
    switch (gen_below(g, 16)) {
    case 0:
        trod_buf_printf(out, "pc == 0x%llx", pc);
        break;
    case 1:
        trod_buf_printf(out, "pc in 0x%llx..0x%llx", pc, pc > UINT64_MAX - 64 ? pc : pc + 64);
        break;
    case 2:
    case 3:
        trod_buf_printf(out, "kind %s %s", gen_below(g, 4) ? "==" : "!=", trod_kind_name(s->kind));
        break;
    case 4:
        trod_buf_printf(out, "kind in {%s, MEMORY}", trod_kind_name(s->kind));
        break;
    case 5:
    case 6:
        trod_buf_printf(out, "%s %s /%s%s/%s", texts[gen_below(g, 4)], gen_below(g, 4) ? "~" : "!~",
                        gen_below(g, 2) ? "^" : "", s->text, gen_below(g, 2) ? "i" : "");
        break;
    case 7:
        trod_buf_printf(out, "%s %s \"%s\"", texts[gen_below(g, 4)],
                        gen_below(g, 4) ? "==" : "!=", s->text);
        break;
    case 8:
        trod_buf_printf(out, "opcode %s 0x%llx", gen_below(g, 4) ? "==" : "<", opcode);
        break;
    case 9:
        trod_buf_printf(out, "opcode & 0xff == 0x%llx", opcode & 0xff);
        break;
    case 10:
        trod_buf_printf(out, "value == 0x%llx", value);
        break;
    case 11:
        trod_buf_printf(out, gen_below(g, 2) ? "value != 0x%llx" : "value >= 0x%llx", value);
        break;
    case 14:
        trod_buf_printf(out, "has(value)");
        break;
    case 15:
        trod_buf_printf(out, "addr >= 0x%llx", (unsigned long long)s->addr);
        break;
    case 12:
        trod_buf_printf(out, gen_below(g, 2) ? "row >= %llu" : "row < %llu", row);
        break;
    default:
        trod_buf_printf(out, "has(%s)", gen_below(g, 2) ? "opcode" : texts[gen_below(g, 4)]);
    }
}

#endif
