/*
 * loads_by_page.c - which pages of memory a program reads most: rows of a trace, batch by batch.
 *
 *   loads_by_page TRACE...
 *
 * Prints the loads of each page of 4 KiB, the busiest page first, as "PAGE LOADS".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <trod/trod.h>

enum { PAGE_BITS = 12 };

struct page {
    uint64_t number, loads; /* loads 0: a free place */
};

/* Pages by their number: open addressing, a power of two of places. */
struct table {
    struct page *place;
    size_t n, places;
};

static struct page *find(const struct table *t, uint64_t number)
{
    size_t i = (size_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (t->places - 1);

    while (t->place[i].loads && t->place[i].number != number)
        i = (i + 1) & (t->places - 1);
    return &t->place[i];
}

static int grow(struct table *t)
{
    struct table larger = {.n = t->n, .places = t->places ? 2 * t->places : 1024};

    larger.place = calloc(larger.places, sizeof *larger.place);
    if (!larger.place)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < t->places; i++)
        if (t->place[i].loads)
            *find(&larger, t->place[i].number) = t->place[i];
    free(t->place);
    *t = larger;
    return TROD_OK;
}

/* Count the loads of B. What a row does not say stands in no column: has tells. */
static int count(struct table *t, const struct trod_batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        struct page *p;

        if (b->kind[i] != TROD_READ || !(b->has[i] & TROD_COL_ADDR))
            continue;
        if (2 * t->n >= t->places && grow(t) != TROD_OK)
            return TROD_ERR_NOMEM;
        p = find(t, b->addr[i] >> PAGE_BITS);
        t->n += p->loads == 0;
        p->number = b->addr[i] >> PAGE_BITS;
        p->loads++;
    }
    return TROD_OK;
}

static int busiest_first(const void *a, const void *b)
{
    const struct page *x = a, *y = b;

    if (x->loads != y->loads)
        return x->loads < y->loads ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The library prints nothing: it tells each problem to a function like this one. */
static void problem(void *user, const struct trod_problem *p)
{
    (void)user;
    fprintf(stderr, "%s: %s\n", p->at.path ? p->at.path : "loads_by_page", p->message);
}

int main(int argc, char **argv)
{
    const struct trod_trace_options options = {
        .struct_size = sizeof options,
        .want = TROD_COL_KIND | TROD_COL_ADDR, /* nothing else is decoded */
    };
    struct table table = {0};
    struct trod_trace *trace;
    struct trod_batch *batch;
    struct trod_diag diag;
    int r;

    if (argc < 2) {
        fprintf(stderr, "usage: loads_by_page TRACE...\n");
        return 2;
    }
    trod_diag_init(&diag, problem, NULL);
    r = trod_trace_open(&trace, (const char *const *)argv + 1, (size_t)argc - 1, &options, &diag);
    if (r != TROD_OK)
        return 2;
    while ((r = trod_trace_next(trace, &batch)) > 0 && (r = count(&table, batch)) == TROD_OK)
        continue;
    trod_trace_close(trace);
    if (table.n)
        qsort(table.place, table.places, sizeof *table.place, busiest_first);
    for (size_t i = 0; i < table.n; i++)
        printf("0x%" PRIx64 " %" PRIu64 "\n", table.place[i].number << PAGE_BITS,
               table.place[i].loads);
    free(table.place);
    return r < 0 || diag.errors ? 2 : 0;
}
