/*
 * made.c - the source of an input whose bytes are made of another one. See made.h.
 */
#include "made.h"

#include <stdlib.h>

struct made {
    struct trod_input *of;
    const struct trod_maker *maker;
    void *state;
};

static int made_read(struct trod_source *s, uint8_t *p, size_t cap, size_t *n,
                     struct trod_fault *fault)
{
    const struct made *m = s->archive;
    const int rc = m->maker->make(m->state, p, cap, n, fault);

    atomic_store_explicit(&s->offset, trod_input_file_offset(m->of), memory_order_relaxed);
    return rc;
}

static void made_close(struct trod_source *s)
{
    struct made *m = s->archive;

    m->maker->close(m->state);
    trod_input_close(m->of);
    free(m);
}

static const struct trod_source_ops made_ops = {.read = made_read, .close = made_close};

int trod_source_made(struct trod_source *s, struct trod_input *of, const struct trod_maker *m,
                     void *state, struct trod_fault *fault)
{
    struct made *made = malloc(sizeof *made);

    if (!made) {
        m->close(state);
        trod_input_close(of);
        return trod_fault_nomem(fault, "an input");
    }
    *made = (struct made){of, m, state};
    *s = (struct trod_source){.ops = &made_ops,
                              .size = trod_input_file_size(of),
                              .fd = -1,
                              .wake = {-1, -1},
                              .archive = made};
    return TROD_OK;
}

struct trod_input *trod_source_maker_of(const struct trod_source *s)
{
    const struct made *m = s->ops == &made_ops ? s->archive : NULL;

    return m ? m->of : NULL;
}

void *trod_source_maker(const struct trod_source *s, const struct trod_maker *m)
{
    const struct made *made = s->ops == &made_ops ? s->archive : NULL;

    return made && made->maker == m ? made->state : NULL;
}
