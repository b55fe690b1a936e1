/*
 * points.c - points of compressed files for their index, found on a thread of their own while the
 * rows are read. Implements build.h.
 */
#include "io/points.h"

#include "navigate/build.h"

#include <stdlib.h>
#include <string.h>

/* Windows are kept, compressed, until the rows are written. */
static int add_point(void *user, const struct trod_point *p)
{
    struct nav_builder *b = user;
    struct nav_access_point to = {.file = b->points_file,
                                  .packed = p->packed,
                                  .decoded = p->decoded,
                                  .bits = p->bits,
                                  .window = b->windows.n,
                                  .window_raw = p->window_n};
    int rc = nav_squeeze(p->window, p->window_n, &b->windows);

    to.window_n = b->windows.n - to.window;
    if (rc == TROD_OK)
        rc = trod_buf_add(&b->points, &to, sizeof to);
    return rc;
}

static void *find(void *arg)
{
    struct nav_builder *b = arg;
    const uint64_t apart = b->opt->apart ? b->opt->apart : NAV_APART;

    for (size_t i = 0; i < b->n_sources; i++) {
        const char *path = trod_trace_path(b->trace, i);
        struct nav_bound now;
        int rc = nav_bind(path, true, &now);

        b->points_file = i;
        b->source[i].bound.whole = now.whole;
        if (rc == TROD_OK)
            rc = trod_points_find(path, apart, add_point, b);
        if (rc < 0 && rc != TROD_ERR_UNSUPPORTED && b->points_rc == TROD_OK)
            b->points_rc = rc;
    }
    return NULL;
}

int nav_points_begin(struct nav_builder *b)
{
    b->points_begun = true;
    b->points_apart = b->opt->jobs != 1 && pthread_create(&b->points_thread, NULL, find, b) == 0;
    return TROD_OK;
}

void nav_points_end(struct nav_builder *b)
{
    if (b->points_apart)
        pthread_join(b->points_thread, NULL);
    else if (b->points_begun)
        find(b);
    b->points_apart = b->points_begun = false;
}

int nav_points_put(struct nav_builder *b)
{
    const size_t n = b->points.n / sizeof(struct nav_access_point);
    int rc = b->points_rc;

    for (size_t i = 0; rc == TROD_OK && i < n; i++) {
        struct nav_access_point p;
        const uint64_t at = trod_output_offset(b->out);

        memcpy(&p, b->points.p + i * sizeof p, sizeof p);
        rc = nav_put_section(b, NAV_S_WINDOW, (uint32_t)i, b->windows.p + p.window,
                             (size_t)p.window_n, (size_t)p.window_raw);
        p.window = at;
        memcpy(b->points.p + i * sizeof p, &p, sizeof p);
    }
    return rc < 0 ? rc : nav_put_section(b, NAV_S_ACCESS, 0, b->points.p, b->points.n, b->points.n);
}
