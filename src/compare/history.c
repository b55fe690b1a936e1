/*
 * history.c - last writers, for the report of a divergence.
 *
 * Implements history.h. It is fed on the fast path, so an entry costs a hash of at most eight bytes
 * and one store; names are kept as their first seven bytes, which tells all registers apart that a
 * tracer writes often. What a name stands for is found out when somebody asks.
 */
#include "compare/history.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_OF_ONE = 8, NAME = 7 };

struct cmp_written {
    uint64_t key; /* word + 1, or the name with its length; 0: empty */
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

/*
 * The first seven bytes of a name, and how many there are, as a number (never 0). Names of two or
 * three letters are most.
 */
static inline uint64_t name_key(const void *name, size_t len)
{
    const uint8_t *b = name;
    uint64_t key;

    if (len == 2)
        return b[0] | (uint64_t)b[1] << 8 | (uint64_t)2 << 56;
    if (len == 3)
        return b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)3 << 56;
    len = len < NAME ? len : NAME;
    key = (uint64_t)len << 56;
    for (size_t i = 0; i < len; i++)
        key |= (uint64_t)b[i] << (8 * i);
    return key;
}

static size_t spread(uint64_t key, size_t size)
{
    return (size_t)(key * 0x9e3779b97f4a7c15u >> 40) & (size - 1);
}

/* The slot of register KEY, taken for PAIR. */
static inline struct cmp_written *register_slot(struct cmp_history *h, uint64_t key, int pair)
{
    struct cmp_written *to = &h->regs[spread(key + (uint64_t)pair, CMP_REGS)];

    if (to->key == 0)
        h->used[h->n_used++] = (uint16_t)(to - h->regs);
    to->key = key;
    return to;
}

/* The slot of the word that ADDR lies in. */
static inline struct cmp_written *word_slot(struct cmp_history *h, uint64_t addr)
{
    struct cmp_written *to = &h->words[spread((addr >> 3) + 1, CMP_WORDS)];

    to->key = (addr >> 3) + 1;
    return to;
}

/* W, a write at ADDR of SIZE bytes, stands for the words behind its first as well. */
static void spread_out(struct cmp_history *h, const struct cmp_written *w)
{
    uint64_t last = (w->addr + w->size - 1) >> 3, word = w->addr >> 3;
    const struct cmp_written first = *w;

    for (unsigned i = 1; word != last && i < WORDS_OF_ONE; i++) {
        struct cmp_written *to = word_slot(h, ++word << 3);
        uint64_t key = to->key;

        *to = first;
        to->key = key;
    }
}

void cmp_history_note(struct cmp_history *h, int pair, uint64_t pc, const struct trod_batch *a,
                      uint32_t i, const struct trod_batch *b, uint32_t j)
{
    uint32_t has = a->have & a->has[i];
    const bool reg = a->kind[i] == TROD_REG;
    struct cmp_written *to;

    if (reg && (!(has & TROD_COL_TEXT) || a->text[i].len == 0))
        return;
    if (reg)
        to = register_slot(h, name_key(trod_batch_bytes(a, a->text[i]), a->text[i].len), pair);
    else
        to = word_slot(h, a->addr[i]);
    /* Field by field into place: this is done for every write of both traces. */
    to->ordinal[0] = a->first + i;
    to->ordinal[1] = b->first + j;
    to->pc = has & TROD_COL_PC ? a->pc[i] : pc;
    to->addr = has & TROD_COL_ADDR ? a->addr[i] : 0;
    to->value = has & TROD_COL_VALUE ? a->value[i] : 0;
    to->size = has & TROD_COL_SIZE ? a->size[i] : 0;
    to->pair = pair;
    if (!reg && (to->addr & 7) + to->size > 8)
        spread_out(h, to);
}

void cmp_history_note_rows(struct cmp_history *h, int pair, const struct cmp_row *a,
                           const struct cmp_row *b)
{
    const struct cmp_written w = {
        .ordinal = {a->pub.ordinal, b->pub.ordinal},
        .pc = (a->pub.has & TROD_COL_PC) || !a->owner ? a->pub.pc : a->owner->pub.addr,
        .addr = a->pub.addr,
        .value = a->pub.value,
        .size = a->pub.size,
        .pair = pair};
    const bool reg = a->pub.kind == TROD_REG;
    struct cmp_written *to;
    uint64_t key;

    if (reg ? a->pub.name_len == 0 : a->pub.kind != TROD_WRITE && a->pub.kind != TROD_ATOMIC)
        return;
    to =
        reg ? register_slot(h, name_key(a->pub.name, a->pub.name_len), pair) : word_slot(h, w.addr);
    key = to->key;
    *to = w;
    to->key = key;
    if (!reg && (w.addr & 7) + w.size > 8)
        spread_out(h, to);
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
        const struct cmp_name *is;
        char raw[8];

        if (w->pair != pair || (found && w->ordinal[0] < out->ordinal[0]))
            continue;
        for (unsigned k = 0; k < sizeof raw; k++)
            raw[k] = (char)(w->key >> (8 * k));
        is = cmp_name_find(rules, raw, w->key >> 56);
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
