/*
 * mix_result.c - what the sites that ran are: mnemonics, categories, lengths (mix.h).
 *
 * Implements docs/analysing.md, "mix".
 */
#include "analysis/mix/mix.h"

#include "core/grow.h"
#include "core/hash.h"
#include "core/map.h"
#include "engine/near.h"

#include <stdlib.h>
#include <string.h>

enum { NAME = 32, LENGTHS = TROD_INSN_CODE + 1 };

enum category {
    UNKNOWN,
    SYSTEM_CALL,
    CONDITIONAL,
    JUMP,
    CALL,
    INDIRECT,
    INDIRECT_CALL,
    RETURN,
    EXCEPTION_RETURN,
    OTHER_BRANCH,
    TRAP,
    CRYPTO,
    ATOMIC,
    STRING,
    CACHE_HINT,
    SYSTEM,
    SIMD,
    FLOATING,
    LOAD_STORE,
    LOAD,
    STORE,
    INTEGER,
    CATEGORIES
};

static const char *const category_names[CATEGORIES] = {
    "unknown",        "system call", "conditional branch",
    "jump",           "call",        "indirect jump",
    "indirect call",  "return",      "exception return",
    "other branch",   "trap",        "crypto",
    "atomic",         "string",      "cache hint",
    "system",         "simd",        "floating point",
    "load and store", "load",        "store",
    "integer"};

static const uint8_t category_of_branch[MIX_BRANCHES] = {
    [TROD_BR_DIRECT] = JUMP,
    [TROD_BR_INDIRECT] = INDIRECT,
    [TROD_BR_COND] = CONDITIONAL,
    [TROD_BR_COND_TAKEN] = CONDITIONAL,
    [TROD_BR_COND_UNTAKEN] = CONDITIONAL,
    [TROD_BR_CALL] = CALL,
    [TROD_BR_ICALL] = INDIRECT_CALL,
    [TROD_BR_RETURN] = RETURN,
    [TROD_BR_SYSCALL] = SYSTEM_CALL,
    [TROD_BR_ERET] = EXCEPTION_RETURN,
    [TROD_BR_OTHER] = OTHER_BRANCH,
};

struct name {
    char text[NAME];
    uint64_t by[2];
};

/* The mnemonic of an opcode. */
enum { MEMOS = 4096, NAMES_FIRST = 1024 };

struct memo {
    uint8_t n, iset; /* n 0: none */
    uint8_t code[TROD_INSN_CODE];
    uint32_t name; /* its number */
};

/* Few names: extensions, groups, classes. */
enum { EXTENSION, GROUP, TT6, TT6E, KEYS, KEYS_MOST = 64 };

struct keyed {
    const char *name;
    uint64_t by[2];
};

struct tables {
    struct name *name;
    size_t n, cap;
    struct trod_map map; /* names by their text */
    struct memo *memo;   /* MEMOS places */
    struct keyed keyed[KEYS][KEYS_MOST];
    size_t n_keyed[KEYS];
    uint64_t category[CATEGORIES][2], length[LENGTHS][2];
};

/* Is the word of N bytes at P a prefix that is written before the mnemonic? */
static bool is_prefix(const char *p, size_t n)
{
    static const char *const prefixes[] = {"rep",   "repe", "repz", "repne",
                                           "repnz", "lock", "bnd",  "notrack"};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strlen(prefixes[i]) == n && memcmp(prefixes[i], p, n) == 0)
            return true;
    return false;
}

/* The mnemonic of SITE, prefixes included, from its disassembly. */
static void disassemble(struct trod_sites *sites, uint32_t site, char out[NAME])
{
    char text[160];
    size_t n, word;

    trod_site_text(sites, site, text, sizeof text);
    n = word = strcspn(text, " \t");
    if (is_prefix(text, word) && text[n] != '\0')
        n += 1 + strcspn(text + n + 1, " \t");
    if (n == 0)
        memcpy(out, "(unknown)", sizeof "(unknown)");
    else {
        n = n < NAME ? n : NAME - 1;
        memcpy(out, text, n);
        out[n] = '\0';
    }
    for (char *p = out; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p + 'a' - 'A');
}

/* The name that reads TEXT. NULL: no memory. */
static struct name *name_of(struct tables *t, const char *text)
{
    const uint32_t h = trod_map_hash(trod_fnv(TROD_FNV, text, strlen(text)));
    uint32_t i;

    for (size_t at = h; trod_map_next(&t->map, h, &at, &i);)
        if (strcmp(t->name[i].text, text) == 0)
            return &t->name[i];
    if (!trod_grow(&t->name, t->n, &t->cap, sizeof *t->name, NAMES_FIRST) ||
        !trod_map_put(&t->map, h, (uint32_t)t->n))
        return NULL;
    t->name[t->n] = (struct name){.by = {0, 0}};
    memcpy(t->name[t->n].text, text, strlen(text) + 1);
    return &t->name[t->n++];
}

/* The mnemonic of site NUMBER: that of its opcode, of which programs have few. NULL: no memory. */
static struct name *mnemonic(struct trod_sites *sites, uint32_t number, struct tables *t)
{
    const struct trod_site *site = trod_site_at(sites, number);
    const uint32_t near = trod_sites_meta(sites)->isa == TROD_ISA_X86_64
                              ? engine_near_branch(site->code, site->code_n)
                              : 0;
    const uint32_t n = near ? near : site->code_n;
    const uint64_t h = trod_fnv(TROD_FNV ^ (uint64_t)site->iset << 8 ^ site->code_n, site->code, n);
    struct memo *m = &t->memo[(h ^ h >> 32) % MEMOS];
    struct name *name;
    char text[NAME];

    if (m->n && m->n == site->code_n && m->iset == site->iset &&
        memcmp(m->code, site->code, n) == 0)
        return &t->name[m->name];
    disassemble(sites, number, text);
    name = name_of(t, text);
    if (!name)
        return NULL;
    m->n = site->code_n;
    m->iset = site->iset;
    m->name = (uint32_t)(name - t->name);
    memcpy(m->code, site->code, m->n);
    return name;
}

/* The first that fits. */
static const struct {
    uint32_t flags; /* any of these */
    enum category category;
} families[] = {
    {TROD_INSN_TRAP, TRAP},
    {TROD_INSN_CRYPTO, CRYPTO},
    {TROD_INSN_ATOMIC, ATOMIC},
    {TROD_INSN_STRING, STRING},
    {TROD_INSN_PREFETCH | TROD_INSN_FLUSH, CACHE_HINT},
    {TROD_INSN_SYSTEM, SYSTEM},
    {TROD_INSN_SIMD, SIMD},
    {TROD_INSN_FP, FLOATING},
};

const char *mix_category_name(unsigned category)
{
    return category < CATEGORIES ? category_names[category] : NULL;
}

unsigned mix_category(const struct trod_site *site, const struct trod_insn *insn)
{
    const unsigned branch = insn->valid && insn->branch ? insn->branch : site->branch;

    if (branch != TROD_BR_NONE && branch < MIX_BRANCHES)
        return category_of_branch[branch] ? category_of_branch[branch] : OTHER_BRANCH;
    if (!insn->valid)
        return UNKNOWN;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (insn->flags & families[i].flags)
            return families[i].category;
    if (insn->loads && insn->stores)
        return LOAD_STORE;
    return insn->loads ? LOAD : insn->stores ? STORE : INTEGER;
}

static void add(uint64_t into[2], const uint64_t by[2])
{
    into[0] += by[0];
    into[1] += by[1];
}

static int by_count(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    const uint64_t n = x->by[0] + x->by[1], m = y->by[0] + y->by[1];

    if (n != m)
        return n < m ? 1 : -1;
    return strcmp(x->text, y->text);
}

/* BY more of NAME; NULL has no line. */
static void add_key(struct tables *t, unsigned key, const char *name, const uint64_t by[2])
{
    struct keyed *list = t->keyed[key];
    size_t i = 0;

    while (name && i < t->n_keyed[key] && strcmp(list[i].name, name) != 0)
        i++;
    if (!name || i == KEYS_MOST)
        return;
    if (i == t->n_keyed[key])
        list[t->n_keyed[key]++] = (struct keyed){.name = name};
    add(list[i].by, by);
}

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    const uint64_t n = x->by[0] + x->by[1], m = y->by[0] + y->by[1];

    return n != m ? (n < m ? 1 : -1) : strcmp(x->name, y->name);
}

static void add_keys(struct tables *t, const struct trod_insn *insn, const uint64_t by[2])
{
    add_key(t, EXTENSION,
            !insn->valid      ? "unknown"
            : insn->extension ? insn->extension
                              : "base",
            by);
    add_key(t, GROUP, insn->group, by);
    add_key(t, TT6, insn->tt6, by);
    add_key(t, TT6E, insn->tt6e, by);
}

/* Site NUMBER was executed BY. */
static int add_site(struct trod_sites *sites, uint32_t number, const uint64_t by[2],
                    struct tables *t)
{
    const struct trod_site *site = trod_site_at(sites, number);
    const struct trod_insn *insn = trod_site_insn(sites, number);
    struct name *name = mnemonic(sites, number, t);

    if (!name)
        return TROD_ERR_NOMEM;
    add(name->by, by);
    add(t->category[mix_category(site, insn)], by);
    add_keys(t, insn, by);
    add(t->length[site->size < LENGTHS ? site->size : 0], by);
    return TROD_OK;
}

static int add_nowhere(const uint64_t nowhere[2], struct tables *t)
{
    struct name *name = name_of(t, "(unknown)");

    if (!name)
        return TROD_ERR_NOMEM;
    add(name->by, nowhere);
    add(t->category[UNKNOWN], nowhere);
    add(t->length[0], nowhere);
    add_key(t, EXTENSION, "unknown", nowhere);
    return TROD_OK;
}

static int decode(const struct mix_state *s, struct tables *t)
{
    const uint64_t *nowhere = s->sums.nowhere;
    uint64_t by[2] = {0, 0};
    int rc = TROD_OK;

    t->memo = calloc(MEMOS, sizeof *t->memo);
    if (!t->memo)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; rc == TROD_OK && i < s->n_ran; i++) {
        add(by, s->ran[i].by);
        if (by[0] | by[1])
            rc = add_site(s->sites, i, by, t);
    }
    if (rc == TROD_OK && nowhere[0] | nowhere[1])
        rc = add_nowhere(nowhere, t);
    for (unsigned i = 0; i < KEYS; i++)
        qsort(t->keyed[i], t->n_keyed[i], sizeof t->keyed[i][0], by_key);
    if (t->n)
        qsort(t->name, t->n, sizeof *t->name, by_count);
    return rc;
}

/* The cells behind the key: all, share of TOTAL, user, kernel. */
static void put(struct trod_result *r, const uint64_t by[2], uint64_t total)
{
    const uint64_t n = by[0] + by[1];

    trod_result_u64(r, NULL, n);
    trod_result_f64(r, NULL, total ? 100 * (double)n / (double)total : 0, 2);
    trod_result_u64(r, NULL, by[0]);
    trod_result_u64(r, NULL, by[1]);
    trod_result_row_end(r);
}

static void begin(struct trod_result *r, const char *key, const char *title, const char *column)
{
    const struct trod_result_column columns[] = {
        {column, TROD_COLUMN_KEY, NULL, NULL},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all instructions"},
        {"user", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"kernel", TROD_COLUMN_MEASURE, "instructions", NULL},
    };

    trod_result_table(r, key, title, columns, 5);
}

/* Groups and classes are those of PowerPC: others have none of these tables. */
static void put_keys(const struct tables *t, uint64_t total, struct trod_result *r)
{
    static const char *const keys[KEYS][3] = {
        {"extensions", "instructions by extension of the instruction set", "extension"},
        {"groups", "PowerPC instructions by what they are for", "group"},
        {"tt6_classes", "PowerPC instructions by their class in TT6", "class"},
        {"tt6e_classes", "PowerPC instructions by their class in TT6E", "class"},
    };

    for (unsigned k = 0; k < KEYS; k++) {
        if (!t->n_keyed[k] && k != EXTENSION)
            continue;
        begin(r, keys[k][0], keys[k][1], keys[k][2]);
        for (size_t i = 0; i < t->n_keyed[k]; i++) {
            trod_result_str(r, NULL, t->keyed[k][i].name);
            put(r, t->keyed[k][i].by, total);
        }
        trod_result_table_close(r);
    }
}

static void put_instructions(const struct mix_state *s, const struct tables *t, uint64_t total,
                             struct trod_result *r)
{
    begin(r, "mnemonics", "instructions by mnemonic", "mnemonic");
    for (size_t i = 0; i < t->n && (s->opt->top == 0 || i < s->opt->top); i++) {
        trod_result_str(r, NULL, t->name[i].text);
        put(r, t->name[i].by, total);
    }
    trod_result_table_close(r);
    begin(r, "categories", "instructions by category", "category");
    for (unsigned i = 0; i < CATEGORIES; i++)
        if (t->category[i][0] | t->category[i][1]) {
            trod_result_str(r, NULL, category_names[i]);
            put(r, t->category[i], total);
        }
    trod_result_table_close(r);
    put_keys(t, total, r);
    begin(r, "lengths", "instructions by length in bytes; 0: not said", "length");
    for (unsigned i = 0; i < LENGTHS; i++)
        if (t->length[i][0] | t->length[i][1]) {
            trod_result_u64(r, NULL, i);
            put(r, t->length[i], total);
        }
    trod_result_table_close(r);
}

static void put_branches(const struct mix_state *s, uint64_t total, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"branch", TROD_COLUMN_KEY, NULL, NULL},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all instructions"},
    };

    trod_result_table(r, "branches", "branches by kind, as the trace says it", columns, 3);
    for (unsigned i = TROD_BR_NONE + 1; i < MIX_BRANCHES; i++) {
        const char *name = trod_branch_name(i);

        if (!s->sums.branch[i])
            continue;
        trod_result_str(r, NULL, name ? name : "?");
        trod_result_u64(r, NULL, s->sums.branch[i]);
        trod_result_f64(r, NULL, 100 * (double)s->sums.branch[i] / (double)total, 2);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_accesses(const struct mix_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"size", TROD_COLUMN_X, "bytes", "64: or more"},
        {"reads", TROD_COLUMN_MEASURE, "accesses", NULL},
        {"writes", TROD_COLUMN_MEASURE, "accesses", NULL},
        {"atomic", TROD_COLUMN_MEASURE, "accesses", NULL},
    };
    static const char *const kinds[MIX_ACCESSES] = {"read", "write", "atomic"};
    static const char *const how[] = {"access", "misaligned", "crosses_line", "crosses_page"};
    const struct mix_accesses *a = s->sums.accesses;

    trod_result_table(r, "access_sizes", "accesses by size", columns, 4);
    for (unsigned size = 0; size < MIX_SIZES; size++) {
        if (!(a[0].size[size] | a[1].size[size] | a[2].size[size]))
            continue;
        trod_result_u64(r, NULL, size);
        for (unsigned c = 0; c < MIX_ACCESSES; c++)
            trod_result_u64(r, NULL, a[c].size[size]);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    trod_result_counts(r, "alignment", "accesses by alignment", how, 4);
    for (unsigned c = 0; c < MIX_ACCESSES; c++) {
        trod_result_str(r, NULL, kinds[c]);
        trod_result_u64(r, NULL, a[c].misaligned);
        trod_result_u64(r, NULL, a[c].crosses_line);
        trod_result_u64(r, NULL, a[c].crosses_page);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static int put_all(const struct mix_state *s, const struct tables *t, struct trod_result *r)
{
    uint64_t by[2] = {0, 0};

    for (size_t i = 0; i < t->n; i++)
        add(by, t->name[i].by);
    trod_result_u64(r, "instructions", by[0] + by[1]);
    trod_result_u64(r, "user", by[0]);
    trod_result_u64(r, "kernel", by[1]);
    trod_result_u64(r, "skipped", s->sums.skipped);
    put_instructions(s, t, by[0] + by[1], r);
    put_branches(s, by[0] + by[1], r);
    put_accesses(s, r);
    return s->by >= TROD_BY_MODULE ? mix_put_owners(s, by[0] + by[1], r) : TROD_OK;
}

int mix_result(const void *st, struct trod_result *r)
{
    struct tables t = {0};
    int rc = decode(st, &t);

    if (rc == TROD_OK)
        rc = put_all(st, &t, r);
    free(t.name);
    trod_map_fini(&t.map);
    free(t.memo);
    return rc;
}
