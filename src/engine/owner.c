/*
 * owner.c - the site column: which static instruction each row belongs to.
 *
 * An instruction is looked up by address and opcode bytes in a table of the sites met last; only
 * what is not there goes to the table of all (sites.c). Accesses and register writes belong to the
 * instruction executed last in their stream, unless they say another address themselves.
 */
#include "engine/sites.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE = 1 << 15 };

/* Marks CODE as an offset into the shared pool, which stands for the bytes (types.h). */
static const uint64_t shared_key = UINT64_C(1) << 63;

struct entry {
    uint64_t pc;
    uint64_t code; /* shared_key and offset, or up to 8 opcode bytes */
    uint32_t len;  /* of the opcode; UINT32_MAX: the entry is empty */
    uint32_t site;
};

/* The instruction executed last by a stream. */
struct last {
    uint64_t pc;
    uint32_t site;
};

struct engine_owner {
    struct trod_sites *sites;
    const uint8_t *shared; /* what shared offsets of the entries refer to */
    uint32_t file;
    struct last *last; /* by stream + 1; [0]: rows without a stream */
    uint32_t n_last;
    struct entry entry[CACHE];
};

static void forget(struct engine_owner *o)
{
    for (size_t i = 0; i < CACHE; i++)
        o->entry[i].len = UINT32_MAX;
}

int engine_owner_new(struct engine_owner **out, struct trod_sites *sites)
{
    struct engine_owner *o = calloc(1, sizeof *o);

    *out = o;
    if (!o)
        return TROD_ERR_NOMEM;
    o->sites = sites;
    forget(o);
    return TROD_OK;
}

void engine_owner_free(struct engine_owner *o)
{
    if (o)
        free(o->last);
    free(o);
}

static struct last *last_of(struct engine_owner *o, uint32_t stream)
{
    if (stream >= o->n_last) {
        uint32_t n = o->n_last ? o->n_last : 16;
        struct last *p;

        while (n <= stream)
            n *= 2;
        p = realloc(o->last, n * sizeof *p);
        if (!p)
            return NULL;
        for (uint32_t i = o->n_last; i < n; i++)
            p[i] = (struct last){.site = TROD_NO_SITE};
        o->last = p;
        o->n_last = n;
    }
    return &o->last[stream];
}

/* The entry of the table of all sites for row I, an instruction at PC. */
static uint32_t find(struct engine_owner *o, const struct trod_batch *b, uint32_t i, uint64_t pc)
{
    uint32_t said = b->have & b->has[i];
    struct trod_site site = {.pc = pc};

    if (b->kind[i] == TROD_INSTR) {
        if (said & TROD_COL_SIZE)
            site.size = b->size[i];
        if (said & TROD_COL_CODE) {
            site.code_n =
                (uint8_t)(b->code[i].len < TROD_INSN_CODE ? b->code[i].len : TROD_INSN_CODE);
            memcpy(site.code, trod_batch_bytes(b, b->code[i]), site.code_n);
        }
        if (said & TROD_COL_FLAGS) {
            site.iset = (uint8_t)((b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT);
            site.branch = (uint8_t)(b->flags[i] & TROD_F_BRANCH);
        }
    }
    if (said & TROD_COL_STREAM)
        site.stream = b->stream[i];
    if (b->meta)
        engine_sites_learn(o->sites, b->meta->isa, b->meta->endian);
    return trod_sites_add(o->sites, &site);
}

/* Opcode bytes as a key: where the pool is shared, their place stands for them. */
static inline uint64_t key_of(const struct trod_batch *b, struct trod_slice s)
{
    uint64_t key = 0;

    if (s.off & TROD_SLICE_SHARED)
        return shared_key | s.off;
    memcpy(&key, trod_batch_bytes(b, s), s.len < sizeof key ? s.len : sizeof key);
    return key & ~(s.len > sizeof key ? shared_key : 0);
}

static uint32_t instr_site(struct engine_owner *o, const struct trod_batch *b, uint32_t i)
{
    uint32_t said = b->have & b->has[i];
    uint64_t pc = b->addr[i], code = 0;
    uint32_t len = 0;
    struct entry *e = &o->entry[(pc ^ pc >> 15) & (CACHE - 1)];

    if (said & TROD_COL_CODE) {
        len = b->code[i].len;
        code = key_of(b, b->code[i]);
    }
    /* an opcode longer than its key is compared whole by the table of all */
    if (e->pc == pc && e->code == code && e->len == len && (len <= 8 || (code & shared_key)) &&
        !((said & TROD_COL_FLAGS) && (b->flags[i] & TROD_F_NEWCODE)))
        return e->site;
    *e = (struct entry){pc, code, len, find(o, b, i, pc)};
    return e->site;
}

static inline bool belongs(unsigned kind)
{
    return (1u << kind & (1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC |
                          1u << TROD_PREFETCH | 1u << TROD_FLUSH | 1u << TROD_REG)) != 0;
}

/* The site of row I, which is no instruction. */
static uint32_t owned_site(struct engine_owner *o, const struct trod_batch *b, uint32_t i,
                           struct last *l)
{
    unsigned kind = b->kind[i];

    if (belongs(kind)) {
        if ((b->have & b->has[i] & TROD_COL_PC) && (l->site == TROD_NO_SITE || b->pc[i] != l->pc))
            *l = (struct last){b->pc[i], find(o, b, i, b->pc[i])};
        return l->site;
    }
    if (kind == TROD_BRANCH && (b->have & b->has[i] & TROD_COL_ADDR)) {
        *l = (struct last){b->addr[i], find(o, b, i, b->addr[i])};
        return l->site;
    }
    return TROD_NO_SITE;
}

int engine_owner_fill(struct engine_owner *o, struct trod_batch *b)
{
    uint32_t key = UINT32_MAX;
    struct last *l = NULL;

    if (o->shared != b->shared || (b->meta && o->file != b->meta->file)) {
        forget(o);
        o->shared = b->shared;
        o->file = b->meta ? b->meta->file : 0;
    }
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t said = b->have & b->has[i];
        uint32_t stream = said & TROD_COL_STREAM ? b->stream[i] + 1 : 0;

        if (stream != key && !(l = last_of(o, key = stream)))
            return TROD_ERR_NOMEM;
        if (b->kind[i] != TROD_INSTR) {
            b->site[i] = owned_site(o, b, i, l);
        } else if (said & TROD_COL_ADDR) {
            b->site[i] = instr_site(o, b, i);
            *l = (struct last){b->addr[i], b->site[i]};
        } else {
            b->site[i] = TROD_NO_SITE;
            l->site = TROD_NO_SITE;
        }
    }
    b->have |= TROD_COL_SITE;
    return TROD_OK;
}
