/*
 * sites.c - the table of static instructions of a run.
 *
 * Implements trod/site.h. Sites stand in chunks that never move, so that threads read them without
 * a lock; adding one, and decoding it on first use, takes the lock. Both happen once a site.
 */
#include "engine/sites.h"

#include "engine/modules.h"
#include "engine/near.h"
#include "trod/disasm.h"
#include "trod/format.h"

#include "core/hash.h"
#include "core/zeroed.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_SHIFT = 10, CHUNK = 1 << CHUNK_SHIFT, CHUNKS = 1 << 16 };

/* The first chunks are memory of their own, the others lie together in slabs of a huge page. */
enum { ALONE = 32, SLAB = 1 << 21, SLAB_CHUNKS = SLAB / (CHUNK * sizeof(struct trod_site)) };

/* What the sites of a chunk decode to; made when one of them is asked for. NULL: not yet decoded.
 */
struct facts {
    _Atomic(const struct trod_insn *) insn[CHUNK];
};

enum { LIKE_BITS = 11, DECODED = 256 };

/* What an opcode decodes to, whatever its address. */
struct like {
    uint8_t n, iset; /* n 0: none */
    uint8_t code[TROD_INSN_CODE];
    const struct trod_insn *insn;
};

/* Instructions that were decoded: many sites have the same one. */
struct decoded {
    struct decoded *next;
    uint32_t n;
    struct trod_insn insn[DECODED];
};

enum { SLOTS_FIRST = 1 << 12, SLOTS_LARGE = 1 << 20 };

struct trod_sites {
    const struct trod_meta *meta;
    struct trod_symbols *symbols;
    pthread_mutex_t lock;
    atomic_uint_fast32_t n;
    struct trod_site *chunk[CHUNKS];
    _Atomic(struct facts *) facts[CHUNKS];
    struct decoded *decoded; /* the last one has room */
    uint32_t *slot;          /* number + 1 by hash of address and bytes, of the first n_found */
    uint32_t n_slots, n_found;
    struct trod_insn_decoder *decoder;
    struct like *like; /* by hash of the opcode; NULL: none so far */
    struct trod_disasm *disasm;
    bool decoder_tried, disasm_tried;
    struct engine_modules modules;
    atomic_bool coded; /* one has an opcode */
    atomic_int isa;    /* enum trod_isa; UNKNOWN until it is known */
    enum trod_endian endian;
};

static const struct trod_insn unknown_insn;

int engine_sites_new(struct trod_sites **out, const struct trod_meta *meta,
                     struct trod_symbols *symbols)
{
    struct trod_sites *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s)
        return TROD_ERR_NOMEM;
    s->meta = meta;
    s->isa = (int)meta->isa;
    s->endian = meta->endian;
    s->symbols = symbols;
    s->n_slots = SLOTS_FIRST;
    s->slot = trod_zeroed_new(s->n_slots * sizeof *s->slot);
    pthread_mutex_init(&s->lock, NULL);
    *out = s;
    if (s->slot)
        return TROD_OK;
    engine_sites_free(s);
    *out = NULL;
    return TROD_ERR_NOMEM;
}

void engine_sites_free(struct trod_sites *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < CHUNKS && s->chunk[i]; i++) {
        if (i < ALONE)
            free(s->chunk[i]);
        else if ((i - ALONE) % SLAB_CHUNKS == 0)
            trod_zeroed_free(s->chunk[i], SLAB);
        free(atomic_load_explicit(&s->facts[i], memory_order_relaxed));
    }
    for (struct decoded *d = s->decoded, *next; d; d = next) {
        next = d->next;
        free(d);
    }
    engine_modules_free(&s->modules);
    trod_insn_decoder_free(s->decoder);
    free(s->like);
    trod_disasm_free(s->disasm);
    pthread_mutex_destroy(&s->lock);
    trod_zeroed_free(s->slot, s->n_slots * sizeof *s->slot);
    free(s);
}

int engine_sites_again(struct trod_sites **sites)
{
    struct trod_sites *old = *sites;
    const int rc = engine_sites_new(sites, old->meta, old->symbols);

    if (rc < 0) {
        *sites = old;
        return rc;
    }
    (*sites)->modules = old->modules;
    old->modules = (struct engine_modules){.at = NULL};
    engine_sites_free(old);
    return TROD_OK;
}

uint32_t trod_sites_count(const struct trod_sites *s)
{
    return (uint32_t)atomic_load_explicit(&((struct trod_sites *)(uintptr_t)s)->n,
                                          memory_order_acquire);
}

const struct trod_site *trod_site_at(const struct trod_sites *s, uint32_t number)
{
    return &s->chunk[number >> CHUNK_SHIFT][number & (CHUNK - 1)];
}

int trod_site_compare(const struct trod_site *a, const struct trod_site *b)
{
    if (a->pc != b->pc)
        return a->pc < b->pc ? -1 : 1;
    if (a->code_n != b->code_n)
        return a->code_n < b->code_n ? -1 : 1;
    if (a->code_n)
        return memcmp(a->code, b->code, a->code_n);
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->branch != b->branch ? a->branch - b->branch : a->iset - b->iset;
}

const struct trod_meta *trod_sites_meta(const struct trod_sites *s)
{
    return s->meta;
}

/* Of its address and opcode, after which all is zero. */
static uint64_t hash_of(const struct trod_site *site)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t code[2], h;

    _Static_assert(sizeof site->code == sizeof code, "the opcode is hashed as two words");
    memcpy(code, site->code, sizeof code);
    h = (site->pc * odd ^ code[0] ^ site->code_n) * odd;
    h = (h ^ h >> 32 ^ code[1]) * odd;
    return h ^ h >> 32;
}

/* Where there is no opcode, what else the trace says tells instructions at one address apart. */
static bool same(const struct trod_site *a, const struct trod_site *b)
{
    return a->pc == b->pc && a->code_n == b->code_n &&
           (a->code_n ? memcmp(a->code, b->code, a->code_n) == 0
                      : a->size == b->size && a->branch == b->branch && a->iset == b->iset);
}

/* Room in the slots for N sites, of which half of them are in use at most. */
static bool grow_slots(struct trod_sites *s, uint32_t n)
{
    uint32_t slots = s->n_slots;
    uint32_t *slot;

    while (slots / 2 < n)
        slots *= slots < SLOTS_LARGE ? 4 : 2;
    if (slots == s->n_slots)
        return true;
    slot = trod_zeroed_new(slots * sizeof *slot);
    if (!slot)
        return false;
    trod_zeroed_free(s->slot, s->n_slots * sizeof *s->slot);
    s->slot = slot;
    s->n_slots = slots;
    s->n_found = 0; /* all are put in again */
    return true;
}

/* Put all N sites into the slots. The slots of SOME of them at a time are prefetched. */
static bool find_all(struct trod_sites *s, uint32_t n)
{
    enum { SOME = 16 };
    uint64_t at[SOME];

    if (!grow_slots(s, n + 1))
        return false;
    for (uint32_t some; s->n_found < n; s->n_found += some) {
        some = n - s->n_found < SOME ? n - s->n_found : SOME;
        for (uint32_t i = 0; i < some; i++) {
            at[i] = hash_of(trod_site_at(s, s->n_found + i));
            __builtin_prefetch(&s->slot[at[i] & (s->n_slots - 1)], 1);
        }
        for (uint32_t i = 0; i < some; i++) {
            while (s->slot[at[i] & (s->n_slots - 1)])
                at[i]++;
            s->slot[at[i] & (s->n_slots - 1)] = s->n_found + i + 1;
        }
    }
    return true;
}

/* Memory for chunk I, which there is not, after those that there are. NULL: none. */
static struct trod_site *new_chunk(const struct trod_sites *s, size_t i)
{
    if (i < ALONE)
        return malloc(CHUNK * sizeof **s->chunk);
    if ((i - ALONE) % SLAB_CHUNKS == 0)
        return trod_zeroed_new(SLAB);
    return s->chunk[i - 1] + CHUNK;
}

/* SITE is site N, the first that there is not. */
static uint32_t append(struct trod_sites *s, const struct trod_site *site, uint32_t n)
{
    struct trod_site **chunk = &s->chunk[n >> CHUNK_SHIFT];

    if (n >= (uint32_t)CHUNKS << CHUNK_SHIFT)
        return TROD_NO_SITE;
    if (!*chunk && !(*chunk = new_chunk(s, n >> CHUNK_SHIFT)))
        return TROD_NO_SITE;
    (*chunk)[n & (CHUNK - 1)] = *site;
    if (site->code_n)
        atomic_store_explicit(&s->coded, true, memory_order_relaxed);
    atomic_store_explicit(&s->n, n + 1, memory_order_release);
    return n;
}

/* Known only from other rows than its instruction's: it may be any site without an opcode there. */
static bool is_bare(const struct trod_site *site)
{
    return (site->size | site->branch | site->iset) == 0;
}

/*
 * The number of SITE, added if new; TROD_NO_SITE: no memory. The lock is held. *OTHER becomes true
 * where another one without an opcode is at its address, or several that a bare one may be.
 */
static uint32_t add(struct trod_sites *s, const struct trod_site *site, bool *other)
{
    const uint32_t n = (uint32_t)atomic_load_explicit(&s->n, memory_order_relaxed);
    uint32_t found = TROD_NO_SITE, may = TROD_NO_SITE;
    uint64_t at = hash_of(site);

    if (!find_all(s, n))
        return TROD_NO_SITE;
    for (; s->slot[at & (s->n_slots - 1)]; at++) {
        const uint32_t number = s->slot[at & (s->n_slots - 1)] - 1;
        const struct trod_site *is = trod_site_at(s, number);

        if (same(is, site)) {
            found = number;
            if (site->code_n)
                break;
        } else if (is->pc == site->pc && (is->code_n | site->code_n) == 0) {
            *other |= may != TROD_NO_SITE || !(is_bare(is) || is_bare(site));
            may = may == TROD_NO_SITE && (is_bare(is) || is_bare(site)) ? number : may;
        }
    }
    if (found == TROD_NO_SITE)
        found = may;
    return found != TROD_NO_SITE ? found : append(s, site, n);
}

/*
 * Note the instruction set and byte order, unless they are known. Where a processor of 64 bits
 * begins with A32, ARM becomes A64 later, until the first opcode is decoded. The lock is held.
 */
static void learn(struct trod_sites *s, enum trod_isa isa, enum trod_endian endian)
{
    const bool wider = isa == TROD_ISA_A64 && s->isa == TROD_ISA_ARM && !s->decoder_tried;

    if (isa == TROD_ISA_UNKNOWN || (s->isa && !wider))
        return;
    s->endian = endian;
    s->isa = (int)isa;
}

void engine_sites_learn(struct trod_sites *s, enum trod_isa isa, enum trod_endian endian)
{
    pthread_mutex_lock(&s->lock);
    learn(s, isa, endian);
    pthread_mutex_unlock(&s->lock);
}

void engine_sites_meta(struct trod_sites *s, const struct trod_meta *meta)
{
    if (s)
        engine_sites_learn(s, meta->isa, meta->endian);
}

void engine_sites_isa(struct trod_sites *s, enum trod_isa *isa, enum trod_endian *endian)
{
    pthread_mutex_lock(&s->lock);
    *isa = (enum trod_isa)s->isa;
    *endian = s->endian;
    pthread_mutex_unlock(&s->lock);
}

uint32_t trod_sites_add(struct trod_sites *s, const struct trod_site *site)
{
    struct trod_site clean = *site;
    uint32_t number;
    bool other = false;

    if (site->code_n < sizeof clean.code)
        memset(clean.code + site->code_n, 0, sizeof clean.code - site->code_n);
    pthread_mutex_lock(&s->lock);
    number = add(s, &clean, &other);
    pthread_mutex_unlock(&s->lock);
    return number;
}

void engine_sites_lock(struct trod_sites *s, const struct trod_meta *meta)
{
    pthread_mutex_lock(&s->lock);
    if (meta)
        learn(s, meta->isa, meta->endian);
}

bool engine_sites_coded(const struct trod_sites *s)
{
    return atomic_load_explicit(&s->coded, memory_order_relaxed);
}

bool engine_sites_are_of(const struct trod_sites *s, enum trod_isa isa)
{
    const int known = atomic_load_explicit(&s->isa, memory_order_relaxed);

    return isa == TROD_ISA_UNKNOWN || known == (int)isa ||
           (known == TROD_ISA_A64 && isa == TROD_ISA_ARM);
}

void engine_sites_unlock(struct trod_sites *s)
{
    pthread_mutex_unlock(&s->lock);
}

bool engine_sites_is(const struct trod_sites *s, uint32_t number, const struct trod_site *site)
{
    return number < trod_sites_count(s) && same(trod_site_at(s, number), site);
}

uint32_t engine_sites_add(struct trod_sites *s, const struct trod_site *site, bool *other)
{
    return add(s, site, other);
}

uint32_t engine_sites_add_new(struct trod_sites *s, const struct trod_site *site, uint32_t *mine,
                              bool *other)
{
    const uint32_t n = (uint32_t)atomic_load_explicit(&s->n, memory_order_relaxed);
    const uint32_t number = *mine == n ? append(s, site, n) : add(s, site, other);

    *mine += *mine == n && number == n;
    return number;
}

/* ---- what a site is. The lock is held. */

/* A copy of INSN that stays. NULL: no memory. */
static const struct trod_insn *keep(struct trod_sites *s, const struct trod_insn *insn)
{
    struct decoded *d = s->decoded;

    if (!d || d->n == DECODED) {
        d = malloc(sizeof *d);
        if (!d)
            return NULL;
        d->next = s->decoded;
        d->n = 0;
        s->decoded = d;
    }
    d->insn[d->n] = *insn;
    return &d->insn[d->n++];
}

/*
 * The facts of SITE, which has an opcode. Programs have few different ones: only where a branch
 * leads to depends on the address, and on x86-64 what most branches are not on the displacement.
 */
static const struct trod_insn *decode_code(struct trod_sites *s, const struct trod_site *site)
{
    const uint32_t near =
        s->isa == TROD_ISA_X86_64 ? engine_near_branch(site->code, site->code_n) : 0;
    const uint32_t n = near ? near : site->code_n;
    const uint64_t h = trod_fnv(TROD_FNV ^ (uint64_t)site->iset << 8 ^ site->code_n, site->code, n);
    struct trod_insn insn;
    struct like *l;

    if (!s->like)
        s->like = calloc(1u << LIKE_BITS, sizeof *s->like);
    l = s->like ? &s->like[h * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LIKE_BITS)] : NULL;
    if (l && l->n == site->code_n && l->iset == site->iset && memcmp(l->code, site->code, n) == 0) {
        if (!near)
            return l->insn;
        insn = *l->insn;
        insn.target = engine_near_target(site->pc, site->code, site->code_n, near);
        return keep(s, &insn);
    }
    insn = *trod_insn_decode(s->decoder, site->iset, site->pc, site->code, site->code_n);
    if (l && (near || !(insn.flags & TROD_INSN_TARGET))) {
        l->insn = keep(s, &insn);
        l->n = l->insn ? site->code_n : 0;
        l->iset = site->iset;
        memcpy(l->code, site->code, site->code_n);
        return l->insn;
    }
    return keep(s, &insn);
}

/* NULL: no memory. */
static const struct trod_insn *decode(struct trod_sites *s, uint32_t number)
{
    const struct trod_site *site = trod_site_at(s, number);

    if (s->isa == TROD_ISA_REGDEPS) {
        struct trod_insn insn;

        trod_insn_regdeps(&insn, site->code, site->code_n);
        return keep(s, &insn);
    }
    if (!s->decoder_tried && s->isa) {
        s->decoder_tried = true;
        trod_insn_decoder_new(&s->decoder, (enum trod_isa)s->isa, s->endian);
    }
    return s->decoder && site->code_n ? decode_code(s, site) : &unknown_insn;
}

/* Decode site NUMBER, for the first time. NULL: no memory. */
static const struct trod_insn *new_insn(struct trod_sites *s, uint32_t number)
{
    _Atomic(struct facts *) *const at = &s->facts[number >> CHUNK_SHIFT];
    struct facts *f = atomic_load_explicit(at, memory_order_relaxed);
    const struct trod_insn *insn;

    if (!f) {
        f = calloc(1, sizeof *f);
        if (!f)
            return NULL;
        atomic_store_explicit(at, f, memory_order_release);
    }
    insn = decode(s, number);
    if (insn && s->isa != TROD_ISA_UNKNOWN)
        atomic_store_explicit(&f->insn[number & (CHUNK - 1)], insn, memory_order_release);
    return insn;
}

const struct trod_insn *trod_site_insn(struct trod_sites *s, uint32_t number)
{
    struct facts *f = atomic_load_explicit(&s->facts[number >> CHUNK_SHIFT], memory_order_acquire);
    const struct trod_insn *insn =
        f ? atomic_load_explicit(&f->insn[number & (CHUNK - 1)], memory_order_acquire) : NULL;

    if (insn)
        return insn;
    pthread_mutex_lock(&s->lock);
    insn = new_insn(s, number);
    pthread_mutex_unlock(&s->lock);
    return insn ? insn : &unknown_insn;
}

const char *trod_site_register(struct trod_sites *s, uint32_t number, unsigned reg)
{
    const char *name = "";

    trod_site_insn(s, number);
    pthread_mutex_lock(&s->lock);
    if (s->decoder)
        name = trod_insn_reg_name(s->decoder, trod_site_at(s, number)->iset, reg);
    pthread_mutex_unlock(&s->lock);
    return name;
}

size_t trod_site_text(struct trod_sites *s, uint32_t number, char *buf, size_t n)
{
    const struct trod_site *site = trod_site_at(s, number);
    size_t len = 0;

    pthread_mutex_lock(&s->lock);
    if (!s->disasm_tried && s->isa) {
        s->disasm_tried = true;
        trod_disasm_new(&s->disasm, (enum trod_isa)s->isa, s->endian, NULL);
    }
    if (s->disasm && site->code_n && n) {
        const char *text =
            trod_disasm_text(s->disasm, site->iset, site->pc, site->code, site->code_n, &len);

        if (len > n - 1)
            len = n - 1;
        memcpy(buf, text, len);
    }
    pthread_mutex_unlock(&s->lock);
    if (n)
        buf[len] = '\0';
    return len;
}

bool trod_site_function(struct trod_sites *s, uint32_t number, const char **name, uint64_t *offset)
{
    bool found = false;

    if (!s->symbols)
        return false;
    pthread_mutex_lock(&s->lock);
    found = trod_symbols_find(s->symbols, trod_site_at(s, number)->pc, name, offset);
    pthread_mutex_unlock(&s->lock);
    return found;
}

/* ---- modules */

int engine_sites_modules(struct trod_sites *s, const struct trod_trace *t, struct trod_diag *diag)
{
    return engine_modules_read(&s->modules, t, diag);
}

bool engine_sites_modules_known(const struct trod_sites *s)
{
    return s->modules.n != 0;
}

bool trod_sites_module(const struct trod_sites *s, uint64_t address, const char **path,
                       uint64_t *offset)
{
    return engine_modules_find(&s->modules, address, path, offset);
}

size_t trod_site_where(struct trod_sites *s, uint32_t number, char *buf, size_t n)
{
    const char *name = NULL, *slash;
    uint64_t offset = 0;
    int len = 0;

    if (n)
        buf[0] = '\0';
    if (trod_site_function(s, number, &name, &offset)) {
        len = snprintf(buf, n, "%s", name);
    } else if (trod_sites_module(s, trod_site_at(s, number)->pc, &name, &offset)) {
        slash = strrchr(name, '/');
        len = snprintf(buf, n, "%s+0x%" PRIx64, slash && slash[1] ? slash + 1 : name, offset);
    }
    return len < 0 || n == 0 ? 0 : (size_t)len < n ? (size_t)len : n - 1;
}

/* ---- opcodes of no known instruction set */

/* Has the format of S's trace an option that says the instruction set? */
static bool may_say_isa(const struct trod_sites *s)
{
    const char *name = s->meta->format;
    const struct trod_format *f = name ? trod_format_find(name, strlen(name)) : NULL;

    for (const struct trod_option *o = f ? f->options : NULL; o && o->type != TROD_OPT_END; o++)
        if (o->name && strcmp(o->name, "isa") == 0)
            return true;
    return false;
}

void engine_sites_report_unknown(const struct trod_sites *s, struct trod_diag *diag)
{
    const size_t n = trod_sites_count(s);
    size_t i = 0;

    while (i < n && trod_site_at(s, (uint32_t)i)->code_n == 0)
        i++;
    if (i == n || s->isa != TROD_ISA_UNKNOWN || !may_say_isa(s))
        return;
    trod_warning(diag, TROD_OK, "sites.isa", NULL,
                 "the trace does not say what instruction set its opcodes are of: none is decoded; "
                 "name it: --from %s:isa=NAME (see trod formats %s)",
                 s->meta->format, s->meta->format);
}
