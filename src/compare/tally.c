/*
 * tally.c - where differences are most frequent.
 *
 * Implements tally.h: open addressing; what comes when a table is half full is not counted by name.
 */
#include "compare/tally.h"

#include "core/hash.h"

#include <stdlib.h>
#include <string.h>

/* The slot of KEY; a new one, counted in N, if there is room. */
static struct cmp_tally_slot *slot_of(struct cmp_tally_slot *table, size_t *n, uint64_t key)
{
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 40) % CMP_TALLY;

    while (table[at].n && table[at].key != key)
        at = (at + 1) % CMP_TALLY;
    if (table[at].n == 0) {
        if (*n == CMP_TALLY / 2)
            return NULL;
        ++*n;
        table[at].key = key;
    }
    return &table[at];
}

static void count_name(struct cmp_tally_slot *s, const char *name, size_t len)
{
    if (s && s->n++ == 0) {
        len = len < sizeof s->place.name - 1 ? len : sizeof s->place.name - 1;
        memcpy(s->place.name, name, len);
        s->place.name[len] = '\0';
    }
}

void cmp_tally_register(struct cmp_tally *t, uint64_t id, const char *name, size_t len, int only)
{
    struct cmp_tally_slot *s = slot_of(t->regs, &t->n_regs, id);

    count_name(s, name, len);
    if (s && only >= 0)
        s->place.only[only]++;
}

void cmp_tally_field(struct cmp_tally *t, const char *name)
{
    const size_t len = strlen(name);

    count_name(slot_of(t->fields, &t->n_fields, trod_fnv(TROD_FNV, name, len)), name, len);
}

void cmp_tally_pc(struct cmp_tally *t, uint64_t pc)
{
    struct cmp_tally_slot *s = slot_of(t->pcs, &t->n_pcs, pc);

    if (s) {
        s->n++;
        s->place.pc = pc;
    }
}

/* Most frequent first; then by name and address, so that reports do not depend on hashes. */
static int by_count(const void *a, const void *b)
{
    const struct cmp_tally_slot *p = a, *q = b;
    int names = strcmp(p->place.name, q->place.name);

    if (p->n != q->n)
        return p->n > q->n ? -1 : 1;
    if (names)
        return names;
    return p->place.pc < q->place.pc ? -1 : p->place.pc > q->place.pc;
}

static size_t best(struct cmp_tally_slot *table, struct trod_compare_place *out)
{
    size_t used = 0, n = 0;

    for (size_t i = 0; i < CMP_TALLY; i++)
        if (table[i].n)
            table[used++] = table[i];
    qsort(table, used, sizeof *table, by_count);
    for (; n < TROD_COMPARE_TOP && n < used; n++) {
        out[n] = table[n].place;
        out[n].n = table[n].n;
    }
    return n;
}

void cmp_tally_report(struct cmp_tally *t, struct trod_compare_summary *sum)
{
    sum->n_registers = best(t->regs, sum->registers);
    sum->n_pcs = best(t->pcs, sum->pcs);
    sum->n_fields = best(t->fields, sum->fields);
}
