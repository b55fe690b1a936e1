/*
 * tarmac_memory.c - rules of Tarmac on translations, caches and TLBs.
 *
 * Implements tarmac.h. Memory is bounded: pages are remembered in a table of fixed size, lines and
 * entries up to a number that no cache has.
 */
#include "check/tarmac.h"

#include "core/hash.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct tarmac_page {
    uint64_t key, page, generation; /* key: virtual page and mode; page: physical */
};

void chk_tarmac_fini(struct tarmac *t)
{
    free(t->pages);
    free(t->met);
    free(t->lines);
}

void chk_tarmac_memory_seam(struct tarmac *seam, struct tarmac *t)
{
    seam->pages = seam->met = NULL;
    seam->lines = NULL;
    chk_tarmac_fini(t);
    t->pages = NULL;
    t->met = calloc(TARMAC_PAGES, sizeof *t->met);
    t->lines = NULL;
    t->n_lines = t->cap_lines = 0;
    t->generation = 0;
}

/* What T remembers of a page is right for the first access of FROM in its place. */
static bool meets(const struct tarmac *t, const struct tarmac *from, size_t i)
{
    const struct tarmac_page *p = &t->pages[i], *m = &from->met[i];

    return p->key != m->key || p->generation != t->generation || p->page == m->page;
}

bool chk_tarmac_memory_join(struct tarmac *into, const struct tarmac *from)
{
    if (!from->met)
        return false;
    if (from->pages && !into->pages && !(into->pages = calloc(TARMAC_PAGES, sizeof *into->pages)))
        return false;
    for (size_t i = 0; from->pages && i < TARMAC_PAGES; i++) {
        const struct tarmac_page *p = &from->pages[i];

        if (from->met[i].key && !meets(into, from, i))
            return false;
        if (p->key)
            into->pages[i] =
                (struct tarmac_page){p->key, p->page, into->generation + p->generation};
    }
    into->generation += from->generation;
    return true;
}

static uint64_t mix(uint64_t h)
{
    h *= 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

void chk_tarmac_translation(struct chk *c, struct tarmac *t, const struct trod_batch *b, uint32_t i)
{
    struct tarmac_page *p;
    uint64_t key;

    if (!chk_has(b, i, TROD_COL_ADDR) || !chk_has(b, i, TROD_COL_PADDR))
        return;
    if ((b->addr[i] ^ b->paddr[i]) & 0xfff) {
        chk_report(c, CHK_TARMAC_PAGE, b, i,
                   "address 0x%" PRIx64 " is translated to 0x%" PRIx64
                   ": another place in its page",
                   b->addr[i], b->paddr[i]);
        return;
    }
    if (!chk_on(c, CHK_TARMAC_PADDR))
        return;
    if (!t->pages && !(t->pages = calloc(TARMAC_PAGES, sizeof *t->pages)))
        return;
    key = mix(b->addr[i] >> 12 ^ mix(t->mode)) | 1;
    p = &t->pages[key >> 16 & (TARMAC_PAGES - 1)];
    if (p->key == key && p->generation == t->generation && p->page != b->paddr[i] >> 12)
        chk_report(c, CHK_TARMAC_PADDR, b, i,
                   "page of 0x%" PRIx64 " lay at 0x%" PRIx64 " and lies at 0x%" PRIx64
                   ", and nothing changed the translation",
                   b->addr[i], p->page << 12, b->paddr[i] & ~(uint64_t)0xfff);
    if (t->met && p->key == 0 && t->generation == 0)
        t->met[p - t->pages] = (struct tarmac_page){.key = key, .page = b->paddr[i] >> 12};
    *p = (struct tarmac_page){key, b->paddr[i] >> 12, t->generation};
}

void chk_tarmac_register(struct tarmac *t, const struct trod_batch *b, uint32_t i)
{
    static const char *const names[] = {"ttbr", "ttbcr", "tcr_",       "sctlr", "vttbr", "vtcr",
                                        "hcr",  "tlbi",  "contextidr", "dacr",  "scr",   "mair"};
    const uint8_t *p;

    /* general registers have shorter names */
    if (!chk_has(b, i, TROD_COL_TEXT) || b->text[i].len < 3)
        return;
    p = trod_batch_bytes(b, b->text[i]);
    if (!memchr("tTsSvVhHcCdDmM", p[0], 14))
        return;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t n = strlen(names[k]), m = 0;

        while (m < n && m < b->text[i].len && tolower(p[m]) == names[k][m])
            m++;
        if (m == n) {
            t->generation++;
            return;
        }
    }
}

/* Which line of which cache, which entry of which TLB. */
static uint64_t line_key(const struct trod_batch *b, uint32_t i)
{
    uint32_t n = chk_has(b, i, TROD_COL_TEXT) ? b->text[i].len : 0;
    const uint8_t *p = n ? trod_batch_bytes(b, b->text[i]) : NULL;
    uint64_t h = b->kind[i];

    h = trod_fnv(h, p, n);
    if (b->kind[i] == TROD_TLB)
        h ^= (chk_has(b, i, TROD_COL_ADDR) ? mix(b->addr[i]) : 0) ^
             (chk_has(b, i, TROD_COL_SIZE) ? b->size[i] : 0);
    else
        h ^= chk_has(b, i, TROD_COL_VALUE) ? mix(b->value[i] + 1) : 0;
    return mix(h) | 1;
}

static uint64_t *slot_of(uint64_t *lines, uint32_t cap, uint64_t key)
{
    uint32_t at = (uint32_t)(key >> 20) & (cap - 1);

    while (lines[at] && lines[at] != key)
        at = (at + 1) & (cap - 1);
    return &lines[at];
}

static int remember(struct tarmac *t, uint64_t key)
{
    uint64_t *slot;

    if (t->n_lines * 2 >= t->cap_lines && t->cap_lines < 2 * TARMAC_LINES) {
        uint32_t cap = t->cap_lines ? 2 * t->cap_lines : 1024;
        uint64_t *lines = calloc(cap, sizeof *lines);

        if (!lines)
            return TROD_ERR_NOMEM;
        for (uint32_t k = 0; k < t->cap_lines; k++)
            if (t->lines[k])
                *slot_of(lines, cap, t->lines[k]) = t->lines[k];
        free(t->lines);
        t->lines = lines;
        t->cap_lines = cap;
    }
    if (t->n_lines >= TARMAC_LINES)
        return TROD_OK;
    slot = slot_of(t->lines, t->cap_lines, key);
    t->n_lines += *slot == 0;
    *slot = key;
    return TROD_OK;
}

static bool remembered(const struct tarmac *t, uint64_t key)
{
    return t->n_lines >= TARMAC_LINES ||
           (t->cap_lines && *slot_of(t->lines, t->cap_lines, key) == key);
}

int chk_tarmac_line(struct chk *c, struct tarmac *t, const struct trod_batch *b, uint32_t i)
{
    uint64_t key = line_key(b, i);
    bool tlb = b->kind[i] == TROD_TLB, comes;

    if (c->part) /* what was filled before it decides */
        c->part->lost = true;
    if (tlb)
        comes = b->sub[i] == TROD_TLB_FILL || b->sub[i] == TROD_WALKCACHE_FILL;
    else
        comes = b->sub[i] == TROD_LINE_ALLOC || b->sub[i] == TROD_LINE_FILL;
    if (tlb)
        t->generation++;
    if (comes)
        return remember(t, key);
    if (!remembered(t, key))
        chk_report(c, tlb ? CHK_TARMAC_TLB : CHK_TARMAC_CACHE, b, i,
                   tlb ? "TLB entry goes that was never filled"
                       : "cache line is used or goes that was never allocated");
    return TROD_OK;
}
