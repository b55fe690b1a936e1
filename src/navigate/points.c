/*
 * points.c - points of compressed files for their index, found on a thread of their own while the
 * rows are read. Implements build.h.
 */
#include "io/points.h"

#include "core/temp.h"
#include "navigate/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Windows wait, compressed, in a temporary file until the rows are written: there is one for each
 * 256 KiB of a compressed file, and the memory of an index is bounded.
 */
static int keep_window(struct nav_builder *b)
{
    const int fd = b->windows ? -1 : trod_temp_open();

    if (fd >= 0 && !(b->windows = fdopen(fd, "w+")))
        close(fd);
    if (!b->windows || fwrite(b->window.p, 1, b->window.n, b->windows) != b->window.n) {
        b->windows_lost = errno ? errno : EIO;
        return TROD_ERR_IO;
    }
    return TROD_OK;
}

static int add_point(void *user, const struct trod_point *p)
{
    struct nav_builder *b = user;
    struct nav_access_point to = {.file = b->points_file,
                                  .packed = p->packed,
                                  .decoded = p->decoded,
                                  .bits = p->bits,
                                  .window_raw = p->window_n};
    int rc;

    b->window.n = 0;
    rc = nav_squeeze(p->window, p->window_n, &b->window);
    to.window_n = b->window.n;
    if (rc == TROD_OK)
        rc = keep_window(b);
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

/* The window of point I, the next one in the temporary file. Returns 0 or an error. */
static int put_window(struct nav_builder *b, size_t i)
{
    struct nav_access_point p;
    int rc;

    memcpy(&p, b->points.p + i * sizeof p, sizeof p);
    b->window.n = 0;
    if (trod_buf_reserve(&b->window, (size_t)p.window_n) < 0)
        return TROD_ERR_NOMEM;
    if (fread(b->window.p, 1, (size_t)p.window_n, b->windows) != p.window_n) {
        b->windows_lost = errno ? errno : EIO;
        return TROD_ERR_IO;
    }
    p.window = trod_output_offset(b->out);
    rc = nav_put_section(b, NAV_S_WINDOW, (uint32_t)i, b->window.p, (size_t)p.window_n,
                         (size_t)p.window_raw);
    memcpy(b->points.p + i * sizeof p, &p, sizeof p);
    return rc;
}

int nav_points_put(struct nav_builder *b)
{
    const size_t n = b->points.n / sizeof(struct nav_access_point);
    int rc = b->points_rc;

    if (rc == TROD_OK && b->windows && fseek(b->windows, 0, SEEK_SET) != 0) {
        b->windows_lost = errno ? errno : EIO;
        rc = TROD_ERR_IO;
    }
    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        rc = put_window(b, i);
    if (b->windows_lost)
        return trod_error(b->opt->diag, rc, "index.temporary", NULL,
                          "parts of the index cannot be kept in a temporary file (in $TMPDIR, or "
                          "/tmp): %s",
                          strerror(b->windows_lost));
    if (rc == TROD_OK)
        rc = nav_align(b);
    return rc < 0 ? rc : nav_put_section(b, NAV_S_ACCESS, 0, b->points.p, b->points.n, b->points.n);
}
