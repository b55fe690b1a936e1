/*
 * detect.c - which format is this?
 *
 * Implements docs/design.md, "Detection": the formats bid bits of evidence on the first bytes; the
 * best is accepted when it has enough and leads by enough. A suffix breaks ties, and settles what
 * has little evidence.
 */
#include "io/filter.h"
#include "trace/trace_impl.h"
#include "trod/format.h"
#include "trod/io.h"

#include <string.h>

enum { HEAD_LARGE = 1 << 20 };

/* Does PATH end with SUFFIX, perhaps with one of compression behind it? */
static bool has_suffix(const char *path, const char *suffix)
{
    const size_t n = strlen(path), bare = trod_filter_bare(path, n, true), m = strlen(suffix);

    return (n >= m && memcmp(path + n - m, suffix, m) == 0) ||
           (bare >= m && memcmp(path + bare - m, suffix, m) == 0);
}

static bool suffix_of(const struct trod_format *f, const char *path)
{
    for (size_t i = 0; path && f->suffixes && f->suffixes[i]; i++)
        if (has_suffix(path, f->suffixes[i]))
            return true;
    return false;
}

/* Candidates by falling evidence; equal ones by name, so that the order of drivers is nothing. */
static size_t collect(const struct trod_probe *probe, const struct trod_format *const *list,
                      size_t n, struct trod_candidate *c)
{
    size_t count = 0;

    for (size_t i = 0; list ? i < n : trod_format_at(i) != NULL; i++) {
        struct trod_candidate new = {list ? list[i] : trod_format_at(i), NULL, 0};
        size_t at;

        if (!new.format->bid || count == TROD_CANDIDATES)
            continue;
        new.bits = new.format->bid(probe, &new.dialect);
        if (new.bits <= 0)
            continue;
        for (at = count++; at > 0; at--) {
            const struct trod_candidate *before = &c[at - 1];

            if (before->bits > new.bits ||
                (before->bits == new.bits &&strcmp(before->format->name, new.format->name) < 0))
                break;
            c[at] = *before;
        }
        c[at] = new;
    }
    return count;
}

/* Of the candidates that no other leads enough, the only one whose suffix fits; NULL if several. */
static const struct trod_candidate *break_tie(const struct trod_candidate *c, size_t close,
                                              const char *path)
{
    const struct trod_candidate *found = NULL;

    for (size_t i = 0; i < close; i++) {
        if (!suffix_of(c[i].format, path))
            continue;
        if (found)
            return NULL;
        found = &c[i];
    }
    return found;
}

/* The names of the first N of C: "a, b or c". */
static void list_names(const struct trod_candidate *c, size_t close, char *names, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < close; i++) {
        const char *name = c[i].format->name;
        size_t len = strlen(name), sep = i ? (i + 1 == close ? 4 : 2) : 0;

        if (n + len + sep >= size)
            break;
        memcpy(names + n, sep == 4 ? " or " : ", ", sep);
        memcpy(names + n + sep, name, len);
        n += len + sep;
    }
    names[n] = '\0';
}

static int ambiguous(const struct trod_candidate *c, size_t close, const char *path,
                     struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(path);
    char names[256];

    list_names(c, close, names, sizeof names);
    return trod_error(diag, TROD_ERR_AMBIGUOUS, "detect.ambiguous", &at,
                      "format is ambiguous: may be %s; say which with --from", names);
}

/* What to say of an input that is no trace: files that people mistake for one by their name. */
static const char *not_known(const struct trod_probe *probe)
{
    static const struct {
        const char *magic, *message;
    } others[] = {
        {"\177ELF", "this is an ELF program, not a trace; trod record makes a trace of its run"},
        {"#!", "this is a script, not a trace; trod record makes a trace of its run"},
        {"PERFILE2", "this is a recording of perf, not an execution trace"},
        {"%PDF-", "this is a PDF document, not a trace"},
        {"!<arch>\n", "this is an archive of object files, not a trace"},
        {"SQLite format 3", "this is a SQLite database, not a trace"},
        {"\377\376", "this is text in UTF-16; make it UTF-8 first: iconv -f UTF-16 -t UTF-8"},
        {"\376\377", "this is text in UTF-16; make it UTF-8 first: iconv -f UTF-16 -t UTF-8"},
        {"BZh", "this is compressed with bzip2, which trod does not read; bunzip2 it first"},
    };

    if (probe->head.n == 0)
        return "format not recognised: the input is empty";
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        size_t n = strlen(others[i].magic);

        if (probe->head.n >= n && memcmp(probe->head.p, others[i].magic, n) == 0)
            return others[i].message;
    }
    return "format not recognised; name it with --from if you know it";
}

/*
 * Nobody is sure. What some could read is taken where the name says the same, else they are named.
 */
static int unsure(const struct trod_probe *probe, const struct trod_candidate *c, size_t count,
                  struct trod_candidate *best, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(probe->path);
    const struct trod_candidate *winner;
    char names[256];
    size_t likely = 0;

    while (likely < count && c[likely].bits >= TROD_BID_NAMED)
        likely++;
    if ((winner = break_tie(c, likely, probe->path)) != NULL) {
        *best = *winner;
        return TROD_OK;
    }
    if (likely == 0)
        return trod_error(diag, TROD_ERR_UNKNOWN, "detect.unknown", &at, "%s", not_known(probe));
    list_names(c, likely, names, sizeof names);
    return trod_error(diag, TROD_ERR_UNKNOWN, "detect.unknown", &at,
                      "format not recognised: it may be %s, but other data looks the same; say "
                      "which with --from",
                      names);
}

/* A text whose lines end in CR alone, as on old Macs, has only one line for every reader. */
static bool has_bare_cr(const struct trod_span *head)
{
    size_t n = 0;

    for (size_t i = 0; i < head->n; i++) {
        const uint8_t c = head->p[i];

        if (c == '\n' || (c < ' ' && c != '\t' && c != '\r'))
            return false;
        n += c == '\r';
    }
    return n > 1;
}

int trod_detect(const struct trod_probe *probe, const struct trod_format *const *list, size_t n,
                struct trod_candidate *best, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(probe->path);
    struct trod_candidate c[TROD_CANDIDATES];
    size_t count, close = 0;

    if (has_bare_cr(&probe->head))
        return trod_error(diag, TROD_ERR_UNKNOWN, "detect.cr", &at,
                          "lines of this text end in CR alone; make them end in LF first: "
                          "tr '\\r' '\\n'");
    count = collect(probe, list, n, c);
    if (count == 0 || c[0].bits < TROD_BID_ACCEPT)
        return unsure(probe, c, count, best, diag);
    while (close < count && c[close].bits > c[0].bits - TROD_BID_LEAD)
        close++;
    if (close > 1) {
        const struct trod_candidate *winner = break_tie(c, close, probe->path);

        if (!winner || winner->bits < TROD_BID_ACCEPT)
            return ambiguous(c, close, probe->path, diag);
        *best = *winner;
        return TROD_OK;
    }
    *best = c[0];
    return TROD_OK;
}

int trod_look_at_head(struct trod_input *in, size_t n, struct trod_span *head)
{
    const int rc = trod_input_ahead(in, n, head);

    if (rc == TROD_OK && head->n > n) {
        head->n = n;
        head->last = false;
    }
    return rc;
}

int trod_detect_input(struct trod_input *in, struct trod_candidate *best, struct trod_diag *diag)
{
    struct trod_probe probe = {.path = trod_input_path(in),
                               .size = trod_input_filter(in, 0) ? TROD_NOWHERE
                                                                : trod_input_file_size(in)};
    int rc = trod_look_at_head(in, TROD_HEAD_SMALL, &probe.head);

    if (rc < 0)
        return rc;
    if (trod_detect(&probe, NULL, 0, best, NULL) == TROD_OK)
        return TROD_OK;
    rc = trod_look_at_head(in, HEAD_LARGE, &probe.head);
    if (rc < 0 || trod_detect(&probe, NULL, 0, best, NULL) == TROD_OK)
        return rc;
    /* of what little came before the damage nothing can be said but that it is damaged */
    rc = trod_input_end(in);
    return rc < 0 ? rc : trod_detect(&probe, NULL, 0, best, diag);
}
