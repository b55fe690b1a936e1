/*
 * test_index_told.c - registers that other rows than register writes tell, of TT6: the condition
 * register by its escape, XER by string accesses, both until an instruction writes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/endian.h"
#include "gen.h"
#include "nav_index.h"
#include "testlib.h"

enum { RECORDS = 600 };

/* A register as rows told it. */
struct told {
    uint32_t known, value; /* bits */
    uint64_t row;
};

struct trace {
    struct trod_buf bytes;
    struct {
        struct told cr, xer;
    } at[2 * RECORDS + 1]; /* after each row */
    size_t rows;
    uint32_t pc;
};

static void word(struct trace *t, uint32_t v)
{
    uint8_t p[4];

    trod_store_be32(p, v);
    trod_buf_add(&t->bytes, p, sizeof p);
}

/* One more row, with what is known after it. */
static void row(struct trace *t, struct told cr, struct told xer)
{
    t->at[t->rows].cr = cr;
    t->at[t->rows++].xer = xer;
}

static void record(struct trace *t, struct trod_gen *g, struct told *cr, struct told *xer)
{
    const uint32_t value = (uint32_t)gen_u64(g);

    switch (gen_u64(g) % 9) {
    case 0: /* condition register value */
        word(t, 0x00020001);
        word(t, value);
        *cr = (struct told){UINT32_MAX, value, t->rows};
        row(t, *cr, *xer);
        return;
    case 1: /* lswx r3,0,r4 */
        word(t, 0x7c60242a);
        word(t, 0x20000000);
        word(t, (value & ~127u) | 5);
        row(t, *cr, *xer);
        *xer = (struct told){UINT32_MAX, (value & ~127u) | 5, t->rows};
        row(t, *cr, *xer);
        break;
    case 2: /* cmpwi crf,r3,0: field 0 has the upper bits */
        word(t, 0x2c030000 | (value % 8) << 23);
        cr->known &= ~(UINT32_C(0xf) << (28 - 4 * (value % 8)));
        row(t, *cr, *xer);
        break;
    case 3: /* addic r3,r3,1: CA */
        word(t, 0x30630001);
        xer->known &= ~UINT32_C(0x20000000);
        row(t, *cr, *xer);
        break;
    case 6: /* mtcrf 0xff,r3 */
        word(t, 0x7c6ff120);
        cr->known = 0;
        row(t, *cr, *xer);
        break;
    case 4: /* lwz r3,0(r4): an access that tells none */
        word(t, 0x80640000);
        word(t, 0x20000010);
        row(t, *cr, *xer);
        row(t, *cr, *xer);
        break;
    case 5: /* b .+8 */
        word(t, 0x48000008);
        word(t, t->pc += 8);
        row(t, *cr, *xer);
        return;
    default: /* addi r3,r3,1 */
        word(t, 0x38630001);
        row(t, *cr, *xer);
        break;
    }
    t->pc += 4;
}

static void same(const struct trod_nav_state *s, const char *name, const struct told *want)
{
    struct trod_nav_register reg;
    bool found = false;

    for (size_t i = 0; trod_nav_state_register(s, i, &reg); i++) {
        if (strcmp(reg.name, name) != 0 || reg.size == 0)
            continue;
        found = true;
        assert_int_equal(reg.size, 4);
        assert_int_equal(trod_load_le32(reg.known), want->known);
        assert_int_equal(trod_load_le32(reg.value), want->value & want->known);
        assert_int_equal(reg.from, TROD_NAV_READ);
        assert_int_equal(reg.row, want->row);
    }
    assert_int_equal(found, want->known != 0);
}

static void test_told(void **state)
{
    struct nav_files f = nav_files_new(1, ".tt6");

    (void)state;
    for (unsigned seed = 0; seed < 6; seed++) {
        struct trod_gen g = gen_seed(500 + seed);
        struct told cr = {0, 0, 0}, xer = {0, 0, 0};
        struct trace *t = calloc(1, sizeof *t);
        struct trod_nav *nav[2];

        assert_non_null(t);
        word(t, t->pc = 0x1000);
        row(t, cr, xer);
        for (unsigned i = 0; i < RECORDS; i++)
            record(t, &g, &cr, &xer);
        test_save(f.path[0], t->bytes.p, t->bytes.n);
        assert_true(index_files(f.path, 1, 40 + 30 * seed, 3, 0));
        for (unsigned k = 0; k < 2; k++) {
            nav[k] = open_nav(f.path[0], k == 1);
            assert_non_null(nav[k]);
            assert_int_equal(trod_nav_index(nav[k]) != NULL, k == 0);
            for (size_t i = 0; i < t->rows; i += 1 + gen_u64(&g) % 7) {
                struct trod_nav_state *s;

                assert_int_equal(trod_nav_state(nav[k], i, TROD_NAV_ROW_STREAM, &s), 0);
                same(s, "cr", &t->at[i].cr);
                same(s, "xer", &t->at[i].xer);
                trod_nav_state_free(s);
            }
            trod_nav_close(nav[k]);
        }
        trod_buf_fini(&t->bytes);
        free(t);
    }
    nav_files_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
