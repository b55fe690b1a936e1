/*
 * fuzz_check.c - any bytes as a trace of any format through the rules of `trod check`, and as a
 * saved state.
 *
 * The first byte says which format. What is checked of every input: the same findings for every
 * size of batches; what is saved loads again, to the same bytes; what is no state is refused.
 */
#include "checking.h"
#include "fuzz.h"

static const struct trod_analysis *analysis(void)
{
    return trod_analysis_find("check", 5);
}

static void saved(const void *st)
{
    struct trod_buf once = {0}, twice = {0};
    void *loaded = check_state();

    fuzz_true(analysis()->save(st, &once) == TROD_OK, "a state cannot be saved");
    fuzz_true(analysis()->load(loaded, (struct trod_span){.p = once.p, .n = once.n}, NULL) ==
                  TROD_OK,
              "a saved state cannot be loaded");
    fuzz_true(analysis()->save(loaded, &twice) == TROD_OK, "a loaded state cannot be saved");
    fuzz_true(once.n == twice.n && memcmp(once.p, twice.p, once.n) == 0,
              "a loaded state is not what was saved");
    check_release(loaded);
    trod_buf_fini(&once);
    trod_buf_fini(&twice);
}

static void as_state(const uint8_t *data, size_t size)
{
    void *st = check_state();

    if (analysis()->load(st, (struct trod_span){.p = data, .n = size}, NULL) == TROD_OK)
        saved(st);
    check_release(st);
}

static void as_trace(const char *from, const uint8_t *data, size_t size)
{
    static const uint32_t rows[] = {1, 2, 7, 64};
    struct trod_gen g = fuzz_gen(data, size);
    void *a = check_state(), *b = check_state();
    const struct check_counts whole = check_memory(a, from, data, size, 0);
    const struct check_counts cut = check_memory(b, from, data, size, rows[gen_below(&g, 4)]);

    if (whole.total != cut.total || strcmp(whole.text, cut.text) != 0) {
        fprintf(stderr, "%s: '%s' but '%s'\n", from, whole.text, cut.text);
        fuzz_true(false, "findings depend on the size of batches");
    }
    saved(a);
    check_release(a);
    check_release(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t formats = 0;

    if (size == 0)
        return 0;
    while (trod_format_at(formats))
        formats++;
    if (data[0] % (formats + 1) == formats)
        as_state(data + 1, size - 1);
    else
        as_trace(trod_format_at(data[0] % (formats + 1))->name, data + 1, size - 1);
    return 0;
}
