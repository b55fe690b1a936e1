/*
 * read.c - an index that is there: opened, checked, looked into. Implements index.h.
 */
#include "navigate/build.h"

#include "io/crc32c.h"
#include "io/points.h"
#include "trace/mark.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECTIONS = 1 << 20 };

/*
 * The first look at a page of a mapping costs as much as some ten copies of a few KiB, but brings
 * the pages around it, 64 KiB on Linux: looks that are farther apart than this are copies.
 */
enum { APART = 8 << 10 };

/* The file is mapped: what no question is about is not read again. It is replaced, never changed.
 */
static int load(struct nav_index *x, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    int rc = TROD_ERR_IO;

    if (fd < 0)
        return rc;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        void *p = st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;

        rc = p == MAP_FAILED ? TROD_ERR_IO : TROD_OK;
        if (rc == TROD_OK) {
            x->file = p;
            x->size = (size_t)st.st_size;
            x->fd = fd;
            return rc;
        }
    }
    close(fd);
    return rc;
}

bool nav_index_few(uint64_t looks, uint64_t bytes)
{
    return looks < bytes / APART;
}

const uint8_t *nav_index_copy(const struct nav_index *x, const uint8_t *p, size_t n, bool few,
                              struct trod_buf *room)
{
    room->n = 0;
    if (!few || trod_buf_reserve(room, n) < 0 ||
        pread(x->fd, room->p, n, p - x->file) != (ssize_t)n)
        return p;
    room->n = n;
    return room->p;
}

/*
 * The BYTES of numbers at AT of the file: where they lie, if they lie at a multiple of 8, else a
 * copy, which *COPY is then. NULL: no memory.
 */
static const void *numbers(const struct nav_index *x, uint64_t at, size_t bytes, void **copy)
{
    if (at % sizeof(uint64_t) == 0)
        return x->file + at;
    *copy = malloc(bytes + 1); /* as older programs wrote it */
    return *copy ? memcpy(*copy, x->file + at, bytes) : NULL;
}

static int table(struct nav_index *x, const char **why)
{
    struct nav_head head;
    struct nav_footer foot;

    *why = "it is no index";
    if (x->size < sizeof head)
        return TROD_ERR_CORRUPT;
    memcpy(&head, x->file, sizeof head);
    if (memcmp(head.magic, NAV_HEAD, sizeof head.magic) != 0)
        return TROD_ERR_CORRUPT;
    *why = "it is of another version";
    if (head.version != NAV_INDEX_VERSION || head.reader != NAV_INDEX_VERSION)
        return TROD_ERR_CORRUPT;
    *why = "it is cut";
    if (x->size < sizeof head + sizeof foot)
        return TROD_ERR_CORRUPT;
    memcpy(&foot, x->file + x->size - sizeof foot, sizeof foot);
    if (memcmp(foot.magic, NAV_FOOT, sizeof foot.magic) != 0 || foot.sections > SECTIONS ||
        foot.table > x->size - sizeof foot ||
        x->size - sizeof foot - foot.table != foot.sections * sizeof(struct nav_section))
        return TROD_ERR_CORRUPT;
    *why = "it is damaged";
    x->n_sections = foot.sections;
    x->section =
        numbers(x, foot.table, foot.sections * sizeof *x->section, &x->copy[NAV_COPY_SECTIONS]);
    x->checked = calloc((size_t)foot.sections + 1, 1);
    if (!x->section || !x->checked)
        return TROD_ERR_NOMEM;
    return trod_crc32c(x->section, foot.sections * sizeof *x->section) == foot.sum
               ? TROD_OK
               : TROD_ERR_CORRUPT;
}

/* Sections lie one after the other. */
static int sections(const struct nav_index *x)
{
    uint64_t at = sizeof(struct nav_head);

    for (uint32_t i = 0; i < x->n_sections; i++) {
        const struct nav_section *s = &x->section[i];

        if (s->offset < at || s->offset > x->size || s->length > x->size - s->offset)
            return TROD_ERR_CORRUPT;
        at = s->offset + s->length;
    }
    return TROD_OK;
}

/* The N bytes at P have the sum SUM, unless what was CHECKED of section S has one of BITS. */
static int check(const struct nav_index *x, const struct nav_section *s, unsigned bits,
                 const uint8_t *p, size_t n, uint32_t sum)
{
    if (x->checked[s - x->section] & bits || trod_crc32c(p, n) == sum)
        return TROD_OK;
    x->checked[x->n_sections] = 1;
    return TROD_ERR_CORRUPT;
}

int nav_index_check(const struct nav_index *x, const struct nav_section *s)
{
    const int rc = check(x, s, NAV_CHECKED, x->file + s->offset, s->length, s->sum);

    if (rc == TROD_OK)
        x->checked[s - x->section] |= NAV_CHECKED;
    return rc;
}

int nav_index_check_part(const struct nav_index *x, const struct nav_section *s, const uint8_t *p,
                         size_t n, uint32_t sum)
{
    return check(x, s, NAV_CHECKED, p, n, sum);
}

int nav_index_check_directory(const struct nav_index *x, const struct nav_section *s,
                              const uint8_t *p, size_t n, uint32_t sum)
{
    const int rc = check(x, s, NAV_CHECKED | NAV_CHECKED_DIRECTORY, p, n, sum);

    if (rc == TROD_OK)
        x->checked[s - x->section] |= NAV_CHECKED_DIRECTORY;
    return rc;
}

int nav_index_check_at(const struct nav_index *x, uint64_t at)
{
    uint32_t lo = 0, hi = x->n_sections;

    /* the last section that does not begin after AT, and has bytes */
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;

        if (x->section[mid].offset <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo && x->section[lo - 1].length == 0)
        lo--;
    return lo ? nav_index_check(x, &x->section[lo - 1]) : TROD_ERR_CORRUPT;
}

int nav_index_check_all(const struct nav_index *x)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < x->n_sections; i++)
        rc = nav_index_check(x, &x->section[i]);
    return rc;
}

static int blocks(struct nav_index *x, const struct nav_section *s)
{
    uint64_t row = 0;

    if (s->length % sizeof *x->block || s->length / sizeof *x->block > UINT32_MAX)
        return TROD_ERR_CORRUPT;
    x->n_blocks = (uint32_t)(s->length / sizeof *x->block);
    x->block = numbers(x, s->offset, s->length, &x->copy[NAV_COPY_BLOCKS]);
    if (!x->block)
        return TROD_ERR_NOMEM;
    x->silent = true;
    for (uint32_t k = 0; k < x->n_blocks; k++) {
        const struct nav_block *b = &x->block[k];

        if (b->row != row || b->rows == 0 || b->state > x->size ||
            b->state_n > x->size - b->state || b->decoder > b->state_raw || b->steps > x->size ||
            b->steps_n > x->size - b->steps)
            return TROD_ERR_CORRUPT;
        row += b->rows;
        x->silent &= (b->flags & NAV_B_SILENT) != 0;
    }
    return TROD_OK;
}

static int points(struct nav_index *x, const struct nav_section *s)
{
    if (!s || s->length == 0)
        return TROD_OK;
    if (s->length % sizeof *x->point || s->length / sizeof *x->point > UINT32_MAX)
        return TROD_ERR_CORRUPT;
    x->point = numbers(x, s->offset, s->length, &x->copy[NAV_COPY_POINTS]);
    if (!x->point)
        return TROD_ERR_NOMEM;
    x->n_points = (uint32_t)(s->length / sizeof *x->point);
    for (uint32_t i = 0; i < x->n_points; i++) {
        const struct nav_access_point *p = &x->point[i];

        if (p->bits > 7 || p->packed == 0 || p->window_raw > TROD_POINT_WINDOW ||
            p->window > x->size || p->window_n > x->size - p->window)
            return TROD_ERR_CORRUPT;
        if (i && (p->file < p[-1].file || (p->file == p[-1].file && p->decoded <= p[-1].decoded)))
            return TROD_ERR_CORRUPT;
    }
    return TROD_OK;
}

/* Files and blocks of them lie one after the other, and the log with them. */
static int places(const struct nav_index *x, uint64_t log)
{
    for (uint32_t i = 0; i < x->n_sources; i++) {
        const struct nav_source *s = &x->source[i];

        if (s->row > x->rows || s->log > log || (i && (s->row < s[-1].row || s->log < s[-1].log)))
            return TROD_ERR_CORRUPT;
    }
    for (uint32_t k = 0; k < x->n_blocks; k++) {
        const struct nav_block *b = &x->block[k];
        const struct nav_source *s = b->file < x->n_sources ? &x->source[b->file] : NULL;

        if (!s || (k && b->file < b[-1].file) || b->row < s->row || b->log < s->log || b->log > log)
            return TROD_ERR_CORRUPT;
        if (k == 0 && !(b->flags & NAV_B_START))
            return TROD_ERR_CORRUPT;
    }
    return TROD_OK;
}

static int content(struct nav_index *x)
{
    const struct nav_section *meta = NULL, *list = NULL, *log = NULL, *access = NULL;
    struct trod_buf room = {0};
    int rc;

    for (uint32_t i = 0; i < x->n_sections; i++) {
        const struct nav_section *s = &x->section[i];

        meta = s->id == NAV_S_META ? s : meta;
        list = s->id == NAV_S_BLOCKS ? s : list;
        log = s->id == NAV_S_LOG ? s : log;
        access = s->id == NAV_S_ACCESS ? s : access;
    }
    if (!meta || !list || !log)
        return TROD_ERR_CORRUPT;
    rc = nav_index_check(x, meta);
    if (rc == TROD_OK)
        rc = nav_index_check(x, list);
    if (rc == TROD_OK)
        rc = nav_index_check(x, log);
    if (rc == TROD_OK && access)
        rc = nav_index_check(x, access);
    if (rc == TROD_OK)
        rc = blocks(x, list);
    if (rc == TROD_OK)
        rc = points(x, access);
    if (rc == TROD_OK)
        rc = nav_meta_load(x, (struct trod_span){.p = x->file + meta->offset, .n = meta->length});
    if (rc == TROD_OK)
        rc = places(x, log->raw);
    if (rc == TROD_OK && x->n_blocks &&
        x->block[x->n_blocks - 1].row + x->block[x->n_blocks - 1].rows != x->rows)
        rc = TROD_ERR_CORRUPT;
    if (rc == TROD_OK && log->raw)
        rc = nav_unsqueeze(x, x->file + log->offset, log->length, log->raw, &room);
    x->log = room.p;
    x->log_n = room.n;
    return rc;
}

int nav_index_open(struct nav_index **out, const char *path, const char **why)
{
    struct nav_index *x = calloc(1, sizeof *x);
    int rc = x ? TROD_OK : TROD_ERR_NOMEM;

    *out = NULL;
    *why = "it cannot be read";
    if (!x)
        return rc;
    x->fd = -1;
    trod_meta_init(&x->meta);
    if ((x->path = malloc(strlen(path) + 1)))
        memcpy(x->path, path, strlen(path) + 1);
    else
        rc = TROD_ERR_NOMEM;
    if (rc == TROD_OK)
        rc = nav_unpacker_new(&x->unpacker);
    if (rc == TROD_OK)
        rc = load(x, path);
    if (rc == TROD_OK)
        rc = table(x, why);
    if (rc == TROD_OK)
        rc = sections(x);
    if (rc == TROD_OK)
        rc = content(x);
    if (rc < 0)
        nav_index_close(x);
    else
        *out = x;
    return rc;
}

void nav_index_close(struct nav_index *x)
{
    if (!x)
        return;
    trod_meta_fini(&x->meta);
    nav_names_fini(&x->names);
    free(x->path);
    if (x->file)
        munmap((void *)(uintptr_t)x->file, x->size);
    if (x->fd >= 0)
        close(x->fd);
    nav_unpacker_free(x->unpacker);
    free(x->checked);
    for (unsigned i = 0; i < NAV_COPIES; i++)
        free(x->copy[i]);
    free(x->segment);
    free(x->source);
    free(x->log);
    free(x);
}

int nav_index_point(const struct nav_index *x, uint64_t file, uint64_t offset,
                    struct trod_point **out)
{
    struct trod_buf window = {0};
    const struct nav_access_point *from;
    uint32_t k = 0;
    int rc;

    /* those that are not after it */
    for (uint32_t to = x->n_points; k < to;) {
        const uint32_t mid = k + (to - k) / 2;

        if (x->point[mid].file < file ||
            (x->point[mid].file == file && x->point[mid].decoded <= offset))
            k = mid + 1;
        else
            to = mid;
    }
    if (k == 0 || x->point[k - 1].file != file)
        return TROD_OK;
    from = &x->point[k - 1];
    if (!(*out = calloc(1, sizeof **out)))
        return TROD_ERR_NOMEM;
    rc = from->window_n ? nav_index_check_at(x, from->window) : TROD_OK;
    if (rc == TROD_OK)
        rc = nav_unsqueeze(x, x->file + from->window, from->window_n, from->window_raw, &window);
    if (rc == TROD_OK) {
        (*out)->packed = from->packed;
        (*out)->decoded = from->decoded;
        (*out)->bits = (uint32_t)from->bits;
        (*out)->window_n = (uint32_t)window.n;
        if (window.n)
            memcpy((*out)->window, window.p, window.n);
    }
    trod_buf_fini(&window);
    return rc;
}

int nav_index_mark(const struct nav_index *x, size_t *k, size_t i, struct nav_steps *s,
                   struct trod_mark *m, struct trod_point **point)
{
    const struct nav_source *source;
    const struct nav_step *at;
    const struct nav_block *b;
    int rc;

    *point = NULL;
    i = x->block[*k].flags & (NAV_B_START | NAV_B_MARKED) ? i : 0;
    while (*k && !(x->block[*k].flags & (NAV_B_START | NAV_B_MARKED)))
        --*k;
    if ((rc = nav_steps_load(s, x, *k)) < 0)
        return rc;
    b = &x->block[*k];
    source = &x->source[b->file];
    at = &s->at[i];
    *m = (struct trod_mark){
        .file = b->file,
        .start = i == 0 && !(b->flags & NAV_B_MARKED),
        .offset = at->offset,
        .rows = at->row,
        .file_rows = source->row,
        .state = {.p = at->state.p, .n = at->decoder, .last = true},
        .log = {.p = x->log ? x->log + source->log : NULL,
                .n = at->log - source->log,
                .last = true},
    };
    if (!m->start)
        rc = nav_index_point(x, b->file, at->offset, point);
    m->point = *point;
    return rc;
}
