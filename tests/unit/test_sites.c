/*
 * test_sites.c - the sites of a run: what they decode to (trod/site.h), the same as if each were
 * decoded by itself, though sites with the same opcode share it; and that each has one number,
 * whoever adds it.
 *
 * The decoder of trod/insn.h is asked for every site anew. Opcodes are branches of x86-64 with all
 * displacements of a byte and some longer ones, with and without prefixes, and bytes at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/sites.h"
#include "trod/trod.h"

enum { SITES = 6000 };

static uint64_t next(uint64_t *s)
{
    *s ^= *s >> 12;
    *s ^= *s << 25;
    *s ^= *s >> 27;
    return *s * UINT64_C(2685821657736338717);
}

/* Beginnings of branches, and bytes of what follows. */
static const struct {
    uint8_t n, code[4], more;
} branches[] = {
    {1, {0xeb}, 1},       {1, {0x74}, 1},       {1, {0x7f}, 1},       {1, {0xe3}, 1},
    {1, {0xe8}, 4},       {1, {0xe9}, 4},       {2, {0x0f, 0x84}, 4}, {2, {0x0f, 0x8f}, 4},
    {2, {0xf2, 0xe9}, 4}, {2, {0x2e, 0x75}, 1}, {2, {0x66, 0xe9}, 2}, {3, {0x3e, 0x0f, 0x85}, 4},
    {2, {0x0f, 0x85}, 2}, {1, {0xe8}, 3},       {1, {0x90}, 0},       {1, {0xe2}, 1},
};

static void make(struct trod_site *site, uint64_t *seed)
{
    const size_t kinds = sizeof branches / sizeof *branches, k = next(seed) % (kinds + 2);

    *site = (struct trod_site){.pc = next(seed) >> (next(seed) % 3 * 16)};
    if (k < kinds) {
        memcpy(site->code, branches[k].code, branches[k].n);
        site->code_n = branches[k].n + branches[k].more;
        for (unsigned i = branches[k].n; i < site->code_n; i++)
            site->code[i] = (uint8_t)next(seed);
    } else {
        site->code_n = (uint8_t)(next(seed) % 8);
        for (unsigned i = 0; i < site->code_n; i++)
            site->code[i] = (uint8_t)(next(seed) >> 40);
    }
}

static void same(const struct trod_insn *a, const struct trod_insn *b)
{
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->valid, b->valid);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->branch, b->branch);
    assert_int_equal(a->loads, b->loads);
    assert_int_equal(a->stores, b->stores);
    assert_int_equal(a->read_size, b->read_size);
    assert_int_equal(a->write_size, b->write_size);
    if (a->flags & TROD_INSN_TARGET)
        assert_int_equal(a->target, b->target);
    assert_int_equal(a->n_reads, b->n_reads);
    assert_int_equal(a->n_writes, b->n_writes);
    assert_memory_equal(a->reads, b->reads, a->n_reads * sizeof *a->reads);
    assert_memory_equal(a->writes, b->writes, a->n_writes * sizeof *a->writes);
    assert_ptr_equal(a->extension, b->extension);
}

static void decode_all(enum trod_isa isa)
{
    struct trod_meta meta = {.isa = isa, .endian = TROD_ENDIAN_LITTLE};
    struct trod_insn_decoder *decoder;
    struct trod_sites *sites;
    uint64_t seed = 1;

    if (trod_insn_decoder_new(&decoder, isa, TROD_ENDIAN_LITTLE) == TROD_ERR_UNSUPPORTED)
        skip(); /* built without the disassembler */
    assert_int_equal(engine_sites_new(&sites, &meta, NULL), TROD_OK);
    for (unsigned i = 0; i < SITES; i++) {
        struct trod_site site;

        make(&site, &seed);
        trod_sites_add(sites, &site);
    }
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t i = 0; i < trod_sites_count(sites); i++) {
            const struct trod_site *site = trod_site_at(sites, i);
            const struct trod_insn none = {.valid = 0};

            same(trod_site_insn(sites, i),
                 site->code_n
                     ? trod_insn_decode(decoder, site->iset, site->pc, site->code, site->code_n)
                     : &none);
        }
    engine_sites_free(sites);
    trod_insn_decoder_free(decoder);
}

static void test_x86_64(void **state)
{
    (void)state;
    decode_all(TROD_ISA_X86_64);
}

static void test_x86_32(void **state)
{
    (void)state;
    decode_all(TROD_ISA_X86_32);
}

/* Without an opcode the rest of what the trace says tells sites at one address apart. */
static bool is(const struct trod_site *a, const struct trod_site *b)
{
    if (a->pc != b->pc || a->code_n != b->code_n)
        return false;
    return a->code_n ? memcmp(a->code, b->code, a->code_n) == 0
                     : a->size == b->size && a->branch == b->branch && a->iset == b->iset;
}

/* The first of the N sites ALL that is SITE; N: none is. *OTHER: does one lie there that is not? */
static uint32_t met(const struct trod_site *all, uint32_t n, const struct trod_site *site,
                    bool *other)
{
    uint32_t found = n;

    for (uint32_t i = n; i-- > 0;)
        if (is(&all[i], site))
            found = i;
        else
            *other |= all[i].pc == site->pc && all[i].code_n + site->code_n == 0;
    return found;
}

/*
 * Some sites are added by one who knows that he has not added them before (engine_sites_add_new),
 * alone at first, the rest by others. Numbers are those of a list that is searched. What others
 * have behind an opcode does not count.
 */
static void test_numbers(void **state)
{
    enum { ALL = 8000, ALONE = 3000 };
    struct trod_meta meta = {.isa = TROD_ISA_X86_64, .endian = TROD_ENDIAN_LITTLE};
    struct trod_site *all = calloc(ALL, sizeof *all);
    bool *his = calloc(ALL + 1, sizeof *his);
    struct trod_sites *sites;
    uint32_t n = 0, mine = 0;
    uint64_t seed = 1;

    (void)state;
    assert_non_null(all);
    assert_non_null(his);
    assert_int_equal(engine_sites_new(&sites, &meta, NULL), TROD_OK);
    for (unsigned i = 0; i < ALL; i++) {
        const unsigned what = next(&seed) % 8;
        struct trod_site site = {.pc = next(&seed) % 4000, .code_n = what < 4};
        const bool alone = i < ALONE, by_him = alone || next(&seed) % 2;
        bool other = false, others = false;
        uint32_t number, want;

        if (site.code_n)
            site.code[0] = (uint8_t)(what % 2);
        else
            *(what % 2 ? &site.branch : &site.iset) = what / 2 % 2;
        site.size = what;
        want = met(all, n, &site, &other);
        assert_int_equal(engine_sites_is(sites, want, &site), want < n);
        if (want > 0)
            assert_false(engine_sites_is(sites, want - 1, &site));
        if (by_him && his[want])
            continue;
        if (site.code_n && !by_him) {
            site.code[1] = (uint8_t)next(&seed); /* behind the opcode */
            number = trod_sites_add(sites, &site);
            other = false;
        } else {
            number = by_him ? engine_sites_add_new(sites, &site, &mine, &others)
                            : engine_sites_add(sites, &site, &others);
        }
        assert_int_equal(number, want);
        if (!alone)
            assert_int_equal(others, other);
        his[want] |= by_him;
        if (want == n) {
            all[n++] = site;
            his[n] = false;
        }
        assert_int_equal(trod_sites_count(sites), n);
        assert_int_equal(trod_site_at(sites, number)->pc, site.pc);
    }
    engine_sites_free(sites);
    free(all);
    free(his);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_x86_64),
        cmocka_unit_test(test_x86_32),
        cmocka_unit_test(test_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
