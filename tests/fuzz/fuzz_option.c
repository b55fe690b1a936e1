/*
 * fuzz_option.c - any text as "option=value,..." for a table of every type and for each format.
 */
#include "fuzz.h"

struct all {
    bool flag;
    uint64_t number;
    const char *text;
    int choice;
    struct trod_range range;
    struct trod_list list;
};

static const char *const choices[] = {"fm", "es", "gem5", NULL};

static const struct trod_option more[] = {
    {.name = "number", .type = TROD_OPT_U64, .offset = offsetof(struct all, number), .arg = "N"},
    {.name = "text", .type = TROD_OPT_STR, .offset = offsetof(struct all, text), .arg = "S"},
    {.type = TROD_OPT_END},
};

static const struct trod_option table[] = {
    {.type = TROD_OPT_GROUP, .text = "all"},
    {.name = "flag", .letter = 'f', .type = TROD_OPT_BOOL, .offset = offsetof(struct all, flag)},
    {.name = "choice",
     .type = TROD_OPT_ENUM,
     .offset = offsetof(struct all, choice),
     .choices = choices},
    {.name = "range", .type = TROD_OPT_RANGE, .offset = offsetof(struct all, range)},
    {.name = "list", .type = TROD_OPT_LIST, .offset = offsetof(struct all, list)},
    {.type = TROD_OPT_FUNC, .text = "more", .more = more},
    {.type = TROD_OPT_END},
};

static char *text_of(const uint8_t *data, size_t size)
{
    char *s = malloc(size + 1);

    if (!s)
        test_die("out of memory");
    if (size)
        memcpy(s, data, size);
    s[size] = '\0';
    return s;
}

/* What stands in the fields lies in their types, and texts lie in the text given. */
static void check(const struct all *a, const char *spec, size_t size)
{
    fuzz_true(a->choice >= 0 && a->choice < 3, "a choice that there is not");
    fuzz_true(!a->range.set || a->range.lo <= a->range.hi, "a range that ends before it begins");
    fuzz_true(a->list.n <= TROD_LIST_MAX, "a list that is too long");
    for (size_t i = 0; i < a->list.n; i++)
        fuzz_true(a->list.item[i] >= spec && a->list.item[i] <= spec + size, "a list item astray");
    fuzz_true(!a->text || (a->text >= spec && a->text <= spec + size), "a text astray");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trod_diag diag;
    struct all all = {0};
    uint64_t number;
    char *spec = text_of(data, size);

    trod_diag_init(&diag, NULL, NULL);
    trod_option_number(spec, &number);
    if (trod_option_spec(table, &all, spec, &diag) == TROD_OK)
        check(&all, spec, size);
    free(spec);
    for (size_t i = 0; trod_format_at(i); i++) {
        const struct trod_format *f = trod_format_at(i);
        void *opt = test_options(f, NULL);

        spec = text_of(data, size);
        if (f->options)
            trod_option_spec(f->options, opt, spec, &diag);
        free(spec);
        free(opt);
    }
    return 0;
}
