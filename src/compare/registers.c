/*
 * registers.c - which register a name stands for in this run: aliases, banks, masks.
 *
 * Implements the cmp_name functions of row.h. Traces name few registers very often, so what a name
 * of up to eight bytes stands for is kept in a table under the bytes as they are.
 */
#include "compare/row.h"

#include "trace/banks.h"

#include <string.h>

enum { CANONICAL = 32 };

static uint64_t aliased(const struct cmp_rules *rules, uint64_t id)
{
    for (size_t i = 0; i < rules->opt->n_aliases; i++)
        if (rules->alias[0][i] == id)
            return rules->alias[1][i];
    return id;
}

struct cmp_name cmp_name_of(const struct cmp_rules *rules, const char *name, size_t len)
{
    struct cmp_name n = {.mask = UINT64_MAX};
    char canonical[CANONICAL];
    size_t base;

    len = trod_register_canonical(rules->isa, name, len, canonical, &n.bits);
    base = trod_name_without_bank(canonical, len);
    n.id = aliased(rules, cmp_id_of(canonical, len));
    n.base = base == len ? n.id : aliased(rules, cmp_id_of(canonical, base));
    n.banked = base != len && n.id != n.base;
    for (size_t i = 0; i < rules->opt->n_masks; i++)
        if (rules->mask_name[i] == n.id || rules->mask_name[i] == n.base)
            n.mask &= rules->opt->masks[i].mask;
    for (size_t i = 0; i < rules->opt->n_ignore_registers; i++)
        n.ignored |= rules->ignored[i] == n.id || rules->ignored[i] == n.base;
    return n;
}

const struct cmp_name *cmp_name_find(struct cmp_rules *rules, const char *name, size_t len)
{
    static const uint64_t spread = 0x9e3779b97f4a7c15u;
    struct cmp_name *slot;
    uint64_t key = 0;

    if (len == 0 || len > 8 || name[0] == '\0') {
        /* The last slot is for names that the table cannot hold. */
        slot = &rules->names[CMP_NAMES - 1];
        *slot = cmp_name_of(rules, name, len);
        return slot;
    }
    memcpy(&key, name, len);
    slot = &rules->names[(key * spread >> 40) % (CMP_NAMES - 1)];
    if (slot->key != key) {
        *slot = cmp_name_of(rules, name, len);
        slot->key = key;
    }
    return slot;
}

void cmp_names_prepare(struct cmp_rules *rules)
{
    const struct trod_compare_options *opt = rules->opt;
    struct trod_compare_options none = {0};

    /* The names the user gives are not subject to what they say. */
    rules->opt = &none;
    for (size_t i = 0; i < opt->n_aliases; i++) {
        rules->alias[0][i] = cmp_name_of(rules, opt->aliases[i].a, strlen(opt->aliases[i].a)).id;
        rules->alias[1][i] = cmp_name_of(rules, opt->aliases[i].b, strlen(opt->aliases[i].b)).id;
    }
    none.n_aliases = opt->n_aliases;
    for (size_t i = 0; i < opt->n_masks; i++)
        rules->mask_name[i] = cmp_name_of(rules, opt->masks[i].name, strlen(opt->masks[i].name)).id;
    for (size_t i = 0; i < opt->n_ignore_registers; i++)
        rules->ignored[i] =
            cmp_name_of(rules, opt->ignore_registers[i], strlen(opt->ignore_registers[i])).id;
    rules->opt = opt;
}
