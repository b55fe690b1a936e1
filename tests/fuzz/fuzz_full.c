/*
 * fuzz_full.c - FULL traces drawn from the input: what REG rows say was written turns each state
 * into the next one, and the file comes back byte for byte.
 */
#include "fuzz.h"

enum { RECORD = 1004, RECORDS = 12 };

static uint8_t file[4 + RECORDS * RECORD];

/* Records that differ from the one before in a few bytes. Returns how many there are. */
static size_t draw(struct trod_gen *g)
{
    size_t n = 0;

    memcpy(file, "\xa1\x11\x8e\x17", 4);
    for (; n < RECORDS && (n == 0 || gen_more(g)); n++) {
        uint8_t *p = file + 4 + n * RECORD;

        if (n)
            memcpy(p, p - RECORD, RECORD);
        else
            memset(p, 0, RECORD);
        for (uint64_t k = gen_below(g, 8); k > 0; k--)
            p[gen_below(g, RECORD)] = (uint8_t)gen_raw(g, 1);
    }
    return n;
}

/* Offset in the state of the register called NAME. */
static size_t place(const char *name)
{
    static const char *const special[] = {"cr", "xer", "lr", "ctr", "mq", "vrsave"};
    size_t n = (size_t)strtoul(name + 1, NULL, 10);

    for (size_t i = 0; i < 6; i++)
        if (strcmp(name, special[i]) == 0)
            return 136 + 4 * i;
    if (strcmp(name, "srr1") == 0)
        return 4;
    if (strcmp(name, "fpscr") == 0)
        return 420;
    if (strcmp(name, "vscr") == 0)
        return 936;
    if (strcmp(name, "vrvalid") == 0)
        return 968;
    return name[0] == 'r' ? 8 + 4 * n : name[0] == 'f' ? 160 + 8 * n : 424 + 16 * n;
}

static void apply(const struct trod_batch *b, uint32_t i, uint8_t *state)
{
    char name[16] = "";
    size_t at;

    memcpy(name, trod_batch_bytes(b, b->text[i]), b->text[i].len);
    at = place(name);
    for (uint32_t k = 0; k < b->size[i]; k++) {
        uint32_t byte = b->size[i] - 1 - k;

        state[at + k] = b->has[i] & TROD_COL_DATA ? trod_batch_bytes(b, b->data[i])[byte]
                                                  : (uint8_t)(b->value[i] >> (8 * byte));
    }
}

/* Whether two states are the same but for the pc and what is no register. */
static bool same_registers(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a + 4, b + 4, 412) == 0 && memcmp(a + 420, b + 420, 532) == 0 &&
           memcmp(a + 968, b + 968, 4) == 0;
}

static void check(size_t n)
{
    const struct trod_format *f = trod_format_find("full", 4);
    struct trod_span in = {file, n, 0, true};
    struct trod_meta meta;
    struct trod_batch *b;
    void *dec = calloc(1, f->dec_size);
    uint8_t state[RECORD - 4] = {0};
    bool first = true;
    int rc = TROD_DEC_FULL;

    trod_meta_init(&meta);
    if (!dec || trod_batch_new(&b, f->record_rows) < 0)
        test_die("out of memory");
    b->meta = &meta;
    fuzz_true(f->start(dec, f->defaults, &in, &meta, NULL) == 0, "not started");
    while (rc == TROD_DEC_FULL) {
        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = in.n;
        rc = f->decode(dec, &in, b, NULL);
        for (uint32_t i = 0; i < b->n; i++) {
            if (b->kind[i] == TROD_REG)
                apply(b, i, state);
            if (b->kind[i] != TROD_STATE)
                continue;
            fuzz_true(first || same_registers(state, trod_batch_bytes(b, b->data[i])),
                      "the registers written do not make the next state");
            memcpy(state, trod_batch_bytes(b, b->data[i]), sizeof state);
            first = false;
        }
    }
    fuzz_true(rc == TROD_DEC_MORE, "another end");
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(dec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const targets[] = {"full", "tt6", "tt6e", "byu6"};
    struct trod_gen g = gen_bytes(data, size);
    size_t n = 4 + draw(&g) * RECORD;
    const struct test_input in = {.format = trod_format_find("full", 4), .p = file, .n = n};
    struct trod_buf out = {0};

    check(n);
    for (int i = 0; i < 4; i++) {
        int rc =
            test_recode(&in, trod_format_find(targets[i], strlen(targets[i])), NULL, &out, NULL);

        fuzz_true(rc == TROD_OK, "not converted");
        fuzz_true(i > 0 || (out.n == n && memcmp(out.p, file, n) == 0), "not given back");
    }
    trod_buf_fini(&out);
    return 0;
}
