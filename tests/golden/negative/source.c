/* queue.c - a queue in a ring. */
#include <stdint.h>
#include <stdio.h>

#define SIZE 64

struct queue {
    uint32_t head, tail;
    uint64_t item[SIZE];
};

static int put(struct queue *q, uint64_t v)
{
    if (q->head - q->tail == SIZE)
        return -1;
    q->item[q->head++ % SIZE] = v;
    return 0;
}

static int get(struct queue *q, uint64_t *v)
{
    if (q->head == q->tail)
        return -1;
    *v = q->item[q->tail++ % SIZE];
    return 0;
}

int main(void)
{
    struct queue q = {0, 0, {0}};
    uint64_t v;

    for (uint64_t i = 0; i < 1000; i++) {
        put(&q, i * 0x1000);
        if (i % 3 == 0 && get(&q, &v) == 0)
            printf("%8llu clk R r%d %08llx\n", (unsigned long long)i, (int)(i % 16),
                   (unsigned long long)v);
    }
    return 0;
}
