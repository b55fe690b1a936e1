/*
 * history.c - last writers, for the report of a divergence.
 *
 * Implements history.h. It is fed on the fast path, so an entry costs a hash of at most eight bytes
 * and one store; names are kept as their first eight bytes, which tells all registers apart that a
 * tracer writes often. What a name stands for is found out when somebody asks.
 */
#include "compare/history.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_OF_ONE = 8 };

struct cmp_written {
    uint64_t key; /* 0: empty */
    uint64_t ordinal[2], pc, addr, value;
    uint32_t size;
    int pair;
};

int cmp_history_init(struct cmp_history *h)
{
    h->regs = calloc(CMP_REGS, sizeof *h->regs);
    h->words = calloc(CMP_WORDS, sizeof *h->words);
    if (h->regs && h->words)
        return TROD_OK;
    cmp_history_fini(h);
    return TROD_ERR_NOMEM;
}

void cmp_history_fini(struct cmp_history *h)
{
    free(h->regs);
    free(h->words);
    h->regs = h->words = NULL;
}

/* The first eight bytes of a name as a number. */
static uint64_t name_key(const void *name, size_t len)
{
    uint64_t key = 0;

    memcpy(&key, name, len < 8 ? len : 8);
    return key;
}

static size_t spread(uint64_t key, size_t size)
{
    return (size_t)(key * 0x9e3779b97f4a7c15u >> 40) & (size - 1);
}

static void note_register(struct cmp_history *h, uint64_t key, const struct cmp_written *w)
{
    struct cmp_written *to = &h->regs[spread(key + (uint64_t)w->pair, CMP_REGS)];

    if (to->key == 0 && h->n_used < CMP_REGS)
        h->used[h->n_used++] = (uint16_t)(to - h->regs);
    *to = *w;
    to->key = key;
}

static void note_memory(struct cmp_history *h, const struct cmp_written *w)
{
    uint64_t word = w->addr >> 3, last = (w->addr + (w->size ? w->size - 1 : 0)) >> 3;

    for (unsigned i = 0; i < WORDS_OF_ONE; i++, word++) {
        struct cmp_written *to = &h->words[spread(word + 1, CMP_WORDS)];

        *to = *w;
        to->key = word + 1;
        if (word == last)
            return;
    }
}

void cmp_history_note(struct cmp_history *h, int pair, const struct trod_batch *a, uint32_t i,
                      const struct trod_batch *b, uint32_t j)
{
    uint32_t has = a->have & a->has[i];
    const struct cmp_written w = {.ordinal = {a->first + i, b->first + j},
                                  .pc = has & TROD_COL_PC ? a->pc[i] : 0,
                                  .addr = has & TROD_COL_ADDR ? a->addr[i] : 0,
                                  .value = has & TROD_COL_VALUE ? a->value[i] : 0,
                                  .size = has & TROD_COL_SIZE ? a->size[i] : 0,
                                  .pair = pair};

    if (a->kind[i] != TROD_REG)
        note_memory(h, &w);
    else if (has & TROD_COL_TEXT)
        note_register(h, name_key(trod_batch_bytes(a, a->text[i]), a->text[i].len), &w);
}

void cmp_history_note_rows(struct cmp_history *h, int pair, const struct cmp_row *a,
                           const struct cmp_row *b)
{
    const struct cmp_written w = {.ordinal = {a->pub.ordinal, b->pub.ordinal},
                                  .pc = a->pub.pc,
                                  .addr = a->pub.addr,
                                  .value = a->pub.value,
                                  .size = a->pub.size,
                                  .pair = pair};

    if (a->pub.kind == TROD_WRITE || a->pub.kind == TROD_ATOMIC)
        note_memory(h, &w);
    else if (a->pub.kind == TROD_REG && a->pub.name_len)
        note_register(h, name_key(a->pub.name, a->pub.name_len), &w);
}

static void tell(const struct cmp_written *w, struct trod_last_write *out)
{
    *out =
        (struct trod_last_write){{w->ordinal[0], w->ordinal[1]}, w->pc, w->addr, w->value, w->size};
}

bool cmp_history_register(const struct cmp_history *h, struct cmp_rules *rules, int pair,
                          const char *name, size_t len, struct trod_last_write *out)
{
    const struct cmp_name wanted = cmp_name_of(rules, name, len);
    bool found = false;

    for (unsigned i = 0; i < h->n_used; i++) {
        const struct cmp_written *w = &h->regs[h->used[i]];
        size_t n = 8;
        char raw[8];
        const struct cmp_name *is;

        if (w->pair != pair || (found && w->ordinal[0] < out->ordinal[0]))
            continue;
        memcpy(raw, &w->key, sizeof raw);
        while (n && raw[n - 1] == '\0')
            n--;
        is = cmp_name_find(rules, raw, n);
        if (is->id != wanted.id && (is->base != wanted.base || is->banked == wanted.banked))
            continue;
        tell(w, out);
        found = true;
    }
    return found;
}

bool cmp_history_memory(const struct cmp_history *h, uint64_t addr, uint32_t size,
                        struct trod_last_write *out)
{
    uint64_t end = addr + (size ? size : 1) - 1;
    bool found = false;

    for (uint64_t word = addr >> 3, i = 0; i < WORDS_OF_ONE; i++, word++) {
        const struct cmp_written *w = &h->words[spread(word + 1, CMP_WORDS)];

        if (w->key == word + 1 && w->addr <= end && w->addr + (w->size ? w->size : 1) > addr &&
            (!found || w->ordinal[0] > out->ordinal[0])) {
            tell(w, out);
            found = true;
        }
        if (word == end >> 3)
            break;
    }
    return found;
}
