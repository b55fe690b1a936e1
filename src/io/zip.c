/*
 * zip.c - the members of a zip archive as one stream of bytes.
 *
 * Implements zip.h. Members come in the order of the central directory; where there is none (a cut
 * file, a pipe) in the order they lie. What is damaged is kept as a problem for the thread that
 * reports, and the next member goes on: of a damaged one so much is delivered that records of 8, 12
 * or 24 bytes stay in step.
 */
#include "zip_int.h"

#include "core/endian.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 1 << 10, SIGNATURE_N = 4 };

int zip_problem(struct zip *z, size_t member, int status, const char *kind, const char *fmt, ...)
{
    const bool whole = member == SIZE_MAX;
    struct trod_damage d = {.at = z->delivered + z->coming,
                            .member = whole ? NULL : z->list.member[member].name,
                            .whole = whole,
                            .left = whole ? TROD_LEFT_SOUND : z->left,
                            .status = status,
                            .kind = kind,
                            .text = "zip member "};
    const size_t n = whole ? 0 : strlen(d.text);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(d.text + n, sizeof d.text - n, fmt, ap);
    va_end(ap);
    trod_damages_add(&z->damages, &d);
    z->left = TROD_LEFT_GAP;
    return status;
}

/* The member being read ends here; what is held back of it is delivered if it is SOUND. */
static void end_member(struct zip *z, bool sound)
{
    z->open = false;
    z->sound = sound;
}

/* Begin reading member NEXT, which is as z->now says, and whose bytes are at hand. */
static void begin_member(struct zip *z)
{
    const struct trod_zip_member *m = &z->now;
    const int rc = zip_decode_begin(&z->dec, m);

    pthread_mutex_lock(&z->lock);
    z->list.member[z->next++].start = z->delivered;
    pthread_mutex_unlock(&z->lock);
    z->n_hold = 0;
    z->open = true;
    z->inside = false;
    if (m->flags & ZIP_ENCRYPTED) {
        zip_problem(z, z->next - 1, TROD_ERR_UNSUPPORTED, "zip.unsupported", "is encrypted");
        end_member(z, false);
    } else if (rc < 0) {
        zip_problem(z, z->next - 1, TROD_ERR_UNSUPPORTED, "zip.unsupported",
                    "uses compression method %u, which this build cannot undo", m->method);
        end_member(z, false);
    } else if (m->method == TROD_ZIP_STORED && m->packed == TROD_NOWHERE) {
        zip_problem(z, z->next - 1, TROD_ERR_UNSUPPORTED, "zip.unsupported",
                    "is stored without saying its size");
        end_member(z, false);
    }
}

/* Open the next member of the directory. False: there is none. */
static bool open_listed(struct zip *z)
{
    while (z->next < z->list.n) {
        if (zip_place(z, z->next)) {
            begin_member(z);
            return true;
        }
        pthread_mutex_lock(&z->lock);
        z->list.member[z->next++].start = z->delivered;
        pthread_mutex_unlock(&z->lock);
    }
    return false;
}

/* Go to the next signature of a header. False: there is none. */
static bool find_header(struct zip *z)
{
    while (trod_zip_need(&z->dec.in, SIGNATURE_N) >= SIGNATURE_N) {
        const uint8_t *p = trod_zip_at(&z->dec.in);
        size_t n = z->dec.in.n - z->dec.in.at;

        for (size_t i = 0; i + SIGNATURE_N <= n; i++) {
            if (p[i] != 'P' || p[i + 1] != 'K')
                continue;
            z->dec.in.at += i;
            if ((p[i + 2] == 3 && p[i + 3] == 4) || (p[i + 2] == 1 && p[i + 3] == 2) ||
                (p[i + 2] == 5 && p[i + 3] == 6))
                return true;
            z->dec.in.at -= i;
        }
        z->dec.in.at += n - (SIGNATURE_N - 1);
    }
    return false;
}

/* Open the member that comes next in the archive. False: there is none. */
static bool open_found(struct zip *z)
{
    struct trod_zip_member m;
    const uint8_t descriptor[SIGNATURE_N] = {'P', 'K', 7, 8};
    int rc;

    if (trod_zip_need(&z->dec.in, SIGNATURE_N) >= SIGNATURE_N &&
        memcmp(trod_zip_at(&z->dec.in), descriptor, SIGNATURE_N) == 0)
        z->dec.in.at += SIGNATURE_N;
    while ((rc = trod_zip_local(&z->dec.in, &m)) == 0) {
        size_t n = trod_zip_need(&z->dec.in, SIGNATURE_N);
        const uint8_t *p = trod_zip_at(&z->dec.in);

        if (n < SIGNATURE_N || (p[0] == 'P' && p[1] == 'K' && (p[2] == 1 || p[2] == 5)))
            return false;
        /* sizes and checksum of a member may stand between; all else is damage */
        z->dec.in.at++;
        if (!find_header(z))
            return false;
    }
    pthread_mutex_lock(&z->lock);
    if (rc == 1)
        rc = trod_zip_list_add(&z->list, &m) < 0 ? TROD_ERR_NOMEM : 1;
    pthread_mutex_unlock(&z->lock);
    if (rc < 0) {
        z->dec.in.status = trod_fault_nomem(z->dec.in.fault, "the list of zip members");
        return false;
    }
    z->now = m;
    begin_member(z);
    return true;
}

/* Without directory the checksum of a member may stand behind it, after a signature or none. */
static bool descriptor_agrees(struct zip *z)
{
    size_t n = trod_zip_need(&z->dec.in, 8);
    const uint8_t *p = trod_zip_at(&z->dec.in);

    return (n >= 4 && trod_load_le32(p) == z->dec.crc) ||
           (n >= 8 && trod_load_le32(p + 4) == z->dec.crc);
}

/* What is delivered before a problem: MADE bytes and those held back, if the member ends SOUND. */
static void comes(struct zip *z, size_t made, bool sound)
{
    const size_t n = z->n_hold + made;

    z->coming = sound ? n : n - n % TROD_ZIP_STEP;
}

/* All of the member has been made, MADE bytes of it now: is it what the directory says? */
static void check_member(struct zip *z, size_t made)
{
    const struct trod_zip_member *m = &z->now;
    const bool whole = m->size == TROD_NOWHERE || z->dec.made == m->size;
    /* it has ended by itself: a checksum that is right is of all its bytes */
    const bool sound =
        whole || (m->method != TROD_ZIP_STORED && !z->inside && z->dec.crc == m->crc);

    comes(z, made, sound);
    z->left = m->size == TROD_NOWHERE || !sound ? TROD_LEFT_GAP
              : whole                           ? TROD_LEFT_WRONG
                                                : TROD_LEFT_SOUND;
    if (m->size == TROD_NOWHERE && !z->inside && !descriptor_agrees(z))
        zip_problem(z, z->next - 1, TROD_ERR_CORRUPT, "zip.crc",
                    "has checksum %08" PRIx32 ", which is not the one given after it", z->dec.crc);
    else if (!whole)
        zip_problem(z, z->next - 1, TROD_ERR_CORRUPT, "zip.size",
                    "has %" PRIu64 " bytes instead of %" PRIu64, z->dec.made, m->size);
    else if (m->size != TROD_NOWHERE && !z->inside && z->dec.crc != m->crc)
        zip_problem(z, z->next - 1, TROD_ERR_CORRUPT, "zip.crc",
                    "has checksum %08" PRIx32 " instead of %08" PRIx32, z->dec.crc, m->crc);
    z->left = TROD_LEFT_GAP;
    end_member(z, sound);
}

/*
 * The member does not end where its SIZES, of compressed bytes or of all, say. It is sound if it
 * ends by itself with the right checksum: then it is read on, which is reported.
 */
static bool longer(struct zip *z)
{
    struct trod_zip_member whole = z->now;

    whole.packed = whole.size = TROD_NOWHERE;
    if (whole.method == TROD_ZIP_STORED || !zip_decodes(z, &whole, z->dec.begun, &whole.size))
        return false;
    z->left = TROD_LEFT_SOUND;
    zip_problem(z, z->next - 1, TROD_ERR_CORRUPT, "zip.size",
                "is longer than it says: it has %" PRIu64 " bytes, as its checksum confirms",
                whole.size);
    z->now = whole;
    z->dec.left = TROD_NOWHERE;
    return true;
}

/* One step of the member being read, into CAP bytes at OUT. Returns bytes made. */
static size_t step(struct zip *z, uint8_t *out, size_t cap)
{
    const struct trod_zip_member *m = &z->now;
    const uint64_t said = m->size;
    const char *why = "";
    size_t made = cap;
    bool ends = false;
    enum zip_step did;

    if (z->ahead && (made = zip_ahead_take(z, out, cap, &ends)) != 0)
        did = ends ? ZIP_ENDS : ZIP_GOES_ON;
    else {
        made = cap;
        did = zip_decode(&z->dec, m, out, &made, &why);
        if (z->ahead)
            zip_ahead_start(z);
    }
    switch (did) {
    case ZIP_CORRUPT:
        comes(z, made, false);
        zip_problem(z, z->next - 1, TROD_ERR_CORRUPT, "zip.corrupt",
                    "is corrupt near offset %" PRIu64 ": %s", trod_zip_tell(&z->dec.in), why);
        end_member(z, false);
        break;
    case ZIP_TOO_LONG:
        comes(z, made, true);
        if (longer(z))
            return made + (size_t)(z->dec.made - said);
        z->left = TROD_LEFT_WRONG;
        zip_problem(z, z->next - 1, TROD_ERR_CORRUPT, "zip.size", "has more than %" PRIu64 " bytes",
                    m->size);
        end_member(z, true);
        break;
    case ZIP_ENDS:
        check_member(z, made);
        break;
    case ZIP_STARVED:
        comes(z, 0, false);
        if (z->dec.left == 0 && longer(z))
            return 0;
        zip_problem(z, z->next - 1, TROD_ERR_TRUNCATED, "zip.truncated",
                    "is cut after %" PRIu64 " bytes", z->dec.made);
        end_member(z, false);
        break;
    case ZIP_GOES_ON:
        break;
    }
    return made;
}

/*
 * Up to CAP bytes (more than TROD_ZIP_STEP) to P. What is no multiple of TROD_ZIP_STEP of a member
 * is held back until the next piece, or its end, shows that it is sound so far.
 */
static size_t read_some(struct zip *z, uint8_t *p, size_t cap)
{
    for (;;) {
        size_t n, odd;

        if (!z->open) {
            if (!(z->scanning ? open_found(z) : open_listed(z)))
                return 0;
            if (!z->open)
                continue;
            if (z->ahead)
                zip_ahead_adopt(z);
        }
        n = z->n_hold;
        memcpy(p, z->hold, n);
        n += step(z, p + n, cap - n);
        z->coming = 0;
        odd = z->open || !z->sound ? n % TROD_ZIP_STEP : 0;
        n -= odd;
        memcpy(z->hold, p + n, odd);
        z->n_hold = z->open ? odd : 0;
        z->delivered += n;
        if (n)
            return n;
    }
}

static int zip_read(struct trod_source *s, uint8_t *p, size_t cap, size_t *n,
                    struct trod_fault *fault)
{
    struct zip *z = zip_of(s);

    z->dec.in.fault = fault;
    *n = 0;
    if (cap < SMALL && z->small_at == z->n_small) {
        z->n_small = read_some(z, z->small, SMALL);
        z->small_at = 0;
    }
    if (z->small_at < z->n_small) {
        *n = z->n_small - z->small_at < cap ? z->n_small - z->small_at : cap;
        memcpy(p, z->small + z->small_at, *n);
        z->small_at += *n;
    } else if (cap >= SMALL) {
        *n = read_some(z, p, cap);
    }
    atomic_store_explicit(&s->offset, trod_zip_tell(&z->dec.in), memory_order_relaxed);
    return *n ? TROD_OK : z->dec.in.status;
}

/* Where member K begins, as far as sizes say; TROD_NOWHERE where they do not. */
static uint64_t start_of(const struct zip *z, size_t k)
{
    uint64_t at;
    size_t i = k < z->next ? k : z->next;

    if (z->next == 0)
        at = 0;
    else if (k < z->next)
        return z->list.member[k].start;
    else
        at = z->list.member[--i].start;
    for (; i < k && at != TROD_NOWHERE; i++)
        at = z->list.member[i].size == TROD_NOWHERE ? TROD_NOWHERE : at + z->list.member[i].size;
    return at;
}

/* Member K goes on at the point; it begins at its beginning if it cannot. */
static void enter_point(struct zip *z, size_t k)
{
    const struct trod_point *p = z->point;
    const uint64_t start = start_of(z, k), at = p->packed - (p->bits != 0);
    struct trod_fault *fault = z->dec.in.fault, none = {0};

    if (z->list.member[k].method != TROD_ZIP_DEFLATE || start == TROD_NOWHERE)
        return;
    z->dec.in.fault = &none;
    z->open = false;
    z->next = k;
    z->delivered = start;
    zip_ahead_moved(z);
    if (open_listed(z) && z->next == k + 1 && z->open && !trod_zip_enter(z, at))
        z->open = false;
    if (!z->open) { /* from its beginning */
        z->next = k;
        z->n_hold = 0;
        z->delivered = start;
    }
    z->dec.in.fault = fault;
}

static bool zip_seek(struct trod_source *s, uint64_t offset, uint64_t *reached)
{
    struct zip *z = zip_of(s);
    size_t k = z->next ? z->next - 1 : 0;
    uint64_t at;

    if (z->scanning || z->list.n == 0 || offset < z->delivered)
        return false;
    while (k + 1 < z->list.n && start_of(z, k + 1) <= offset)
        k++;
    if (k + 1 > z->next) { /* not the member being read */
        at = start_of(z, k);
        if (at == TROD_NOWHERE)
            return false;
        pthread_mutex_lock(&z->lock);
        for (size_t i = z->next; i < k; i++)
            z->list.member[i].start = start_of(z, i);
        pthread_mutex_unlock(&z->lock);
        z->open = false;
        z->n_hold = 0;
        z->next = k;
        z->delivered = at;
        zip_ahead_moved(z);
    }
    if (z->point && z->point->decoded > z->delivered && z->point->decoded <= offset &&
        z->point->decoded > start_of(z, k))
        enter_point(z, k);
    z->n_small = z->small_at = 0;
    *reached = z->delivered;
    return true;
}

static void zip_interrupt(struct trod_source *s)
{
    struct zip *z = zip_of(s);

    if (z->inner.ops->interrupt)
        z->inner.ops->interrupt(&z->inner);
}

static void zip_close(struct trod_source *s)
{
    struct zip *z = zip_of(s);

    zip_ahead_free(z->ahead);
    trod_source_close(&z->inner);
    trod_zip_codec_free(z->dec.codec);
    trod_zip_list_fini(&z->list);
    pthread_mutex_destroy(&z->lock);
    free(z->dec.in.buf);
    free(z->small);
    free(z->found);
    trod_damages_fini(&z->damages);
    free(z->point);
    free(z);
}

static const struct trod_source_ops zip_ops = {
    .read = zip_read,
    .seek = zip_seek,
    .interrupt = zip_interrupt,
    .close = zip_close,
};

/* Do the bytes at hand begin an archive? An empty one is nothing but its end. */
static bool begins(struct trod_zip_bytes *b)
{
    const uint8_t *p;

    if (trod_zip_need(b, SIGNATURE_N) < SIGNATURE_N)
        return false;
    p = trod_zip_at(b);
    return p[0] == 'P' && p[1] == 'K' && ((p[2] == 3 && p[3] == 4) || (p[2] == 5 && p[3] == 6));
}

/* Find out where the members are. */
static int find_members(struct zip *z)
{
    int rc = trod_zip_directory(&z->dec.in, &z->list);

    if (rc == TROD_OK)
        zip_shift(z);
    if (rc == TROD_OK || rc == TROD_ERR_NOMEM)
        return rc;
    z->scanning = true;
    if (z->dec.in.random)
        zip_problem(
            z, SIZE_MAX, rc, "zip.directory",
            rc == TROD_ERR_TRUNCATED
                ? "zip archive is cut: it has no directory, its members are read as they lie"
                : "directory of the zip archive is damaged: its members are read as they lie");
    trod_zip_list_fini(&z->list);
    return trod_zip_go(&z->dec.in, 0) ? TROD_OK : TROD_ERR_IO;
}

int trod_zip_wrap(struct trod_source *s, size_t window, bool lean, struct trod_fault *fault)
{
    const size_t cap = window && window < TROD_ZIP_BUFFER ? window : TROD_ZIP_BUFFER;
    struct zip *z;
    uint8_t first = 0;
    int rc;

    if (!trod_source_peek(s, &first, 1, fault) || first != 'P')
        return TROD_OK;
    z = calloc(1, sizeof *z);
    if (!z)
        return trod_fault_nomem(fault, "a zip archive");
    z->dec.in = (struct trod_zip_bytes){.in = s,
                                        .random = s->regular || s->mem,
                                        .size = s->size,
                                        .buf = malloc(cap),
                                        .cap = cap,
                                        .fault = fault};
    z->small = malloc(SMALL);
    trod_damages_init(&z->damages);
    rc = z->dec.in.buf && z->small ? trod_zip_codec_new(&z->dec.codec, lean) : TROD_ERR_NOMEM;
    if (rc == TROD_OK && !begins(&z->dec.in)) {
        rc = z->dec.in.random ? TROD_OK : trod_source_push(s, z->dec.in.buf, z->dec.in.n, fault);
        goto no_archive;
    }
    pthread_mutex_init(&z->lock, NULL);
    if (rc == TROD_OK)
        rc = find_members(z);
    if (rc < 0) {
        trod_zip_list_fini(&z->list);
        pthread_mutex_destroy(&z->lock);
        rc = rc == TROD_ERR_NOMEM ? trod_fault_nomem(fault, "a zip archive") : rc;
        goto no_archive;
    }
    z->inner = *s;
    z->dec.in.in = &z->inner;
    memset(s, 0, sizeof *s);
    s->ops = &zip_ops;
    s->archive = z;
    s->size = z->inner.size;
    s->fd = s->wake[0] = s->wake[1] = -1;
    s->regular = z->inner.regular;
    return TROD_OK;

no_archive:
    trod_zip_codec_free(z->dec.codec);
    trod_damages_fini(&z->damages);
    free(z->dec.in.buf);
    free(z->small);
    free(z);
    return rc;
}

void trod_zip_doze(struct trod_source *s, const char *path)
{
    trod_source_doze(&zip_of(s)->inner, path);
}

bool trod_zip_is(const struct trod_source *s)
{
    return s->ops == &zip_ops;
}

size_t trod_zip_members(const struct trod_source *s)
{
    struct zip *z = zip_of(s);
    size_t n;

    pthread_mutex_lock(&z->lock);
    n = z->list.n;
    pthread_mutex_unlock(&z->lock);
    return n;
}

size_t trod_zip_member_at(const struct trod_source *s, uint64_t offset)
{
    struct zip *z = zip_of(s);
    size_t lo = 0, hi;

    pthread_mutex_lock(&z->lock);
    for (hi = z->next; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;

        if (z->list.member[mid].start <= offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    pthread_mutex_unlock(&z->lock);
    return lo ? lo - 1 : SIZE_MAX;
}

bool trod_zip_member(const struct trod_source *s, size_t k, const char **name, uint64_t *offset,
                     uint64_t *size)
{
    struct zip *z = zip_of(s);
    bool yes;

    pthread_mutex_lock(&z->lock);
    yes = k < z->list.n;
    if (yes) {
        *name = z->list.member[k].name;
        *offset = start_of(z, k);
        *size = z->list.member[k].size;
    }
    pthread_mutex_unlock(&z->lock);
    return yes;
}

struct trod_damages *trod_zip_damages(const struct trod_source *s)
{
    return &zip_of(s)->damages;
}
