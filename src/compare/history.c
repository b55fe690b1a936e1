/*
 * history.c - last writers, for the report of the first divergence.
 *
 * Implements history.h. It is fed on the fast path, so an entry costs a hash of at most eight
 * bytes and one store; names are kept as their first eight bytes in lower case, which tells all
 * registers apart that a tracer writes often.
 */
#include "compare/history.h"

#include <stdlib.h>
#include <string.h>

enum { REGS = 1 << 10, WORDS = 1 << 16 };

struct cmp_written {
    uint64_t key; /* 0: empty */
    uint64_t ordinal[2], pc, addr, value;
    uint32_t size;
};

int cmp_history_init(struct cmp_history *h)
{
    h->regs = calloc(REGS, sizeof *h->regs);
    h->words = calloc(WORDS, sizeof *h->words);
    if (h->regs && h->words)
        return TROD_OK;
    cmp_history_fini(h);
    return TROD_ERR_NOMEM;
}

void cmp_history_fini(struct cmp_history *h)
{
    free(h->regs);
    free(h->words);
    *h = (struct cmp_history){0};
}

/* The first eight bytes of a name; letters in lower case. */
static uint64_t name_key(const void *name, size_t len)
{
    uint64_t key = 0;

    memcpy(&key, name, len < 8 ? len : 8);
    return key | 0x2020202020202020u;
}

static size_t spread(uint64_t key, size_t size)
{
    return (size_t)(key * 0x9e3779b97f4a7c15u >> 40) & (size - 1);
}

void cmp_history_note(struct cmp_history *h, const struct trod_batch *a, uint32_t i,
                      const struct trod_batch *b, uint32_t j)
{
    uint32_t has = a->have & a->has[i];
    struct cmp_written *w;
    uint64_t key;

    if (a->kind[i] == TROD_REG) {
        if (!(has & TROD_COL_TEXT))
            return;
        key = name_key(trod_batch_bytes(a, a->text[i]), a->text[i].len);
        w = &h->regs[spread(key, REGS)];
    } else {
        key = (a->addr[i] >> 3) + 1;
        w = &h->words[spread(key, WORDS)];
    }
    w->key = key;
    w->ordinal[0] = a->first + i;
    w->ordinal[1] = b->first + j;
    w->pc = has & TROD_COL_PC ? a->pc[i] : 0;
    w->addr = has & TROD_COL_ADDR ? a->addr[i] : 0;
    w->value = has & TROD_COL_VALUE ? a->value[i] : 0;
    w->size = has & TROD_COL_SIZE ? a->size[i] : 0;
}

void cmp_history_note_rows(struct cmp_history *h, const struct cmp_row *a, const struct cmp_row *b)
{
    bool reg = a->pub.kind == TROD_REG;
    uint64_t key = reg ? name_key(a->name, a->pub.name_len) : (a->pub.addr >> 3) + 1;

    if (!reg && a->pub.kind != TROD_WRITE && a->pub.kind != TROD_ATOMIC)
        return;
    *(reg ? &h->regs[spread(key, REGS)] : &h->words[spread(key, WORDS)]) =
        (struct cmp_written){.key = key,
                             .ordinal = {a->pub.ordinal, b->pub.ordinal},
                             .pc = a->pub.pc,
                             .addr = a->pub.addr,
                             .value = a->pub.value,
                             .size = a->pub.size};
}

static bool tell(const struct cmp_written *w, uint64_t key, struct trod_last_write *out)
{
    if (w->key != key)
        return false;
    *out =
        (struct trod_last_write){{w->ordinal[0], w->ordinal[1]}, w->pc, w->addr, w->value, w->size};
    return true;
}

bool cmp_history_register(const struct cmp_history *h, const char *name, size_t len,
                          struct trod_last_write *out)
{
    uint64_t key = name_key(name, len);

    return tell(&h->regs[spread(key, REGS)], key, out);
}

bool cmp_history_memory(const struct cmp_history *h, uint64_t addr, uint32_t size,
                        struct trod_last_write *out)
{
    struct trod_last_write w;
    bool found = false;

    for (uint64_t word = addr >> 3; word <= (addr + (size ? size : 1) - 1) >> 3; word++) {
        if (!tell(&h->words[spread(word + 1, WORDS)], word + 1, &w) ||
            (found && w.ordinal[0] < out->ordinal[0]))
            continue;
        *out = w;
        found = true;
    }
    return found;
}
