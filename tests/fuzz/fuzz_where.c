/*
 * fuzz_where.c - any text as an expression over rows; where it is one, rows are judged by it: the
 * same in one batch and in several, and none that was not asked for.
 */
#include "fuzz.h"

enum { ROWS = 600 };

static struct trod_batch *batch;
static struct trod_meta meta;

/* Rows that say some of their columns. */
static void rows(void)
{
    static const char text[] = "ldr x0,[sp]";
    struct trod_gen g = gen_seed(7);

    if (batch)
        return;
    trod_meta_init(&meta);
    trod_meta_thread(&meta, 3, 1, 0);
    trod_meta_stream(&meta, "cpu1", 4);
    meta.isa = TROD_ISA_A64;
    meta.endian = TROD_ENDIAN_LITTLE;
    if (trod_batch_new(&batch, ROWS) != 0)
        test_die("out of memory");
    batch->meta = &meta;
    batch->bytes = (const uint8_t *)text;
    batch->bytes_n = sizeof text;
    batch->have = TROD_COL_ALL & ~(uint32_t)(TROD_COL_DETAIL | TROD_COL_MADE);
    batch->n = ROWS;
    for (uint32_t i = 0; i < ROWS; i++) {
        batch->has[i] = (batch->have & (uint32_t)gen_u64(&g)) | TROD_COL_KIND;
        batch->kind[i] = (uint8_t)(gen_u64(&g) % TROD_KINDS);
        batch->unit[i] = TROD_UNIT_CLK;
        batch->sub[i] = (uint16_t)(gen_u64(&g) & 7);
        batch->flags[i] = (uint32_t)gen_u64(&g);
        batch->size[i] = (uint32_t)gen_u64(&g) & 15;
        batch->stream[i] = (uint32_t)gen_u64(&g) & 1;
        batch->time[i] = batch->index[i] = i;
        batch->addr[i] = batch->paddr[i] = batch->pc[i] = batch->target[i] = gen_u64(&g) & 0xffff;
        batch->value[i] = gen_u64(&g) & 63;
        batch->code[i] = (struct trod_slice){(uint32_t)gen_u64(&g) & 7, 4};
        batch->data[i] = batch->text[i] = batch->raw[i] = (struct trod_slice){0, sizeof text - 1};
    }
}

static void judge(const char *text, uint32_t most, uint8_t *keep)
{
    struct trod_where *w;

    if (trod_where_new(&w, text, NULL, NULL) != 0)
        test_die("refused the second time");
    for (uint32_t i = 0; i < ROWS; i++)
        keep[i] = i % 3 != 0;
    for (uint32_t at = 0; at < ROWS; at += most) {
        struct trod_batch view;

        trod_batch_view(&view, batch, at, ROWS - at < most ? ROWS - at : most);
        fuzz_true(trod_where_batch(w, &view, at, keep + at) >= 0, "rows cannot be judged");
    }
    trod_where_free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t whole[ROWS], parts[ROWS];
    struct trod_where *w;
    char *text = malloc(size + 1);

    if (!text)
        test_die("out of memory");
    rows();
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    /* what the C library takes for counts and back references in patterns is not ours to limit */
    if (strchr(text, '~') && strpbrk(text, "{\\")) {
        free(text);
        return 0;
    }
    if (trod_where_new(&w, text, NULL, NULL) == 0) {
        trod_where_free(w);
        judge(text, ROWS, whole);
        judge(text, 97, parts);
        fuzz_true(memcmp(whole, parts, ROWS) == 0, "the cut of the batch matters");
        for (uint32_t i = 0; i < ROWS; i++)
            fuzz_true(whole[i] <= (i % 3 != 0), "a row that was not asked for");
    }
    free(text);
    return 0;
}
