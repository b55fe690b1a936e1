/*
 * walks.c - the same sums twice, by rows and by columns of a matrix, and a list on the heap: the
 * program that docs/caches.md looks at.
 */
#include <stdlib.h>

enum { N = 64, LINKS = 100 };

struct link {
    struct link *next;
    long value, unused[6];
};

static volatile double grid[N][N] __attribute__((aligned(64)));
static volatile double total;

__attribute__((noinline)) static double by_rows(void)
{
    double sum = 0;

    for (int row = 0; row < N; row++)
        for (int column = 0; column < N; column++)
            sum += grid[row][column];
    return sum;
}

__attribute__((noinline)) static double by_columns(void)
{
    double sum = 0;

    for (int column = 0; column < N; column++)
        for (int row = 0; row < N; row++)
            sum += grid[row][column];
    return sum;
}

__attribute__((noinline)) static struct link *make_list(void)
{
    struct link *first = NULL;

    for (int i = 0; i < LINKS; i++) {
        struct link *l = malloc(sizeof *l);

        if (!l)
            exit(1);
        l->next = first;
        l->value = i;
        first = l;
    }
    return first;
}

int main(void)
{
    long values = 0;

    total = by_rows() + by_columns();
    for (struct link *l = make_list(); l; l = l->next)
        values += l->value;
    return values != LINKS * (LINKS - 1) / 2;
}
