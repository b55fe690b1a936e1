/*
 * raw.c - the final trace that is made of a raw file: header, markers, times, the end.
 *
 * Implements raw.h after docs/formats/drmemtrace-raw.md. The output is the entries of a trace
 * without chunks; the driver decodes them, and copying them cuts them into chunks. Not made: system
 * calls from Intel PT data.
 */
#include "format/drmemtrace/raw.h"

#include "format/drmemtrace/raw_int.h"
#include "io/made.h"
#include "trod/syscalls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 64, TIME_SLIP = 10 };

static const uint64_t chunk_instructions = 10000000, value_mask = UINT64_MAX >> 3;

const char raw_dialect[] = "raw";

bool raw_begins(const uint8_t *p, size_t n)
{
    uint64_t e, next;

    if (n < 16)
        return false;
    e = trod_load_le64(p);
    next = raw_kind(trod_load_le64(p + 8));
    if (raw_kind(e) != RAW_EXTENDED || next == RAW_MEMREF || next == RAW_PC ||
        next == RAW_MEMREF_HIGH)
        return false;
    if (raw_ext(e) == RAW_HEADER)
        return raw_b(e) >= RAW_VERSION_LEAST && raw_b(e) <= RAW_VERSION_LIKELY &&
               raw_a(e) >> DRM_FILETYPE_BITS == 0;
    return raw_ext(e) == RAW_HEADER_OLD && raw_a(e) >= RAW_VERSION_LEAST &&
           raw_a(e) <= RAW_VERSION_MAX;
}

int raw_add(const struct raw *c, struct trod_buf *b, unsigned type, unsigned size, uint64_t addr)
{
    const int rc = trod_buf_reserve(b, c->width);

    if (rc < 0)
        return rc;
    raw_put(b->p + b->n, c->width, type, size, addr);
    b->n += c->width;
    return TROD_OK;
}

int raw_damage(struct raw *c, int status, const char *kind, const char *what)
{
    const struct trod_place at = trod_place_offset(c->path, c->offset);

    if (c->diag && c->diag->strict)
        return trod_fault_set(c->fault, status, kind, "%s, near byte %" PRIu64, what, c->offset);
    trod_error(c->diag, status, kind, &at, "%s", what);
    return TROD_OK;
}

bool raw_marker_at(const struct raw *c, size_t i, unsigned *number, uint64_t *value, size_t *n)
{
    uint64_t e, high = 0, pc;

    *n = 1;
    if (!raw_peek(c, i, &e) || !raw_is_ext(e, RAW_MARKER))
        return false;
    if (raw_b(e) == TROD_DRM_SPLIT_VALUE) {
        high = raw_a(e) << 32;
        *n = 2;
        if (!raw_peek(c, i + 1, &e) || !raw_is_ext(e, RAW_MARKER))
            return false;
    }
    *number = raw_b(e) == TROD_DRM_KERNEL_EVENT_RAW ? TROD_DRM_KERNEL_EVENT : raw_b(e);
    *value = high | raw_a(e);
    if ((*number == TROD_DRM_KERNEL_EVENT || *number == TROD_DRM_RSEQ_ABORT ||
         *number == TROD_DRM_KERNEL_XFER) &&
        c->version >= RAW_VERSION_EVENT_PC && c->version < RAW_VERSION_ABSOLUTE_PC &&
        c->width == DRM_ENTRY_64 && raw_code_address(c->code, *value, &pc))
        *value = pc;
    return true;
}

/* --- markers --- */

/* Is it a call that may wait? As the tracer's documents list them. */
static bool may_block(const struct raw *c, uint64_t number)
{
    static const char *const names[] = {
        "accept",       "accept4",   "close",       "creat",   "epoll_pwait", "epoll_wait",
        "epoll_pwait2", "fcntl",     "fcntl64",     "flock",   "fsync",       "futex",
        "getpmsg",      "ioctl",     "membarrier",  "mq_open", "msgrcv",      "msgsnd",
        "msync",        "nanosleep", "open",        "openat",  "openat2",     "pause",
        "poll",         "ppoll",     "pread64",     "preadv",  "pselect6",    "putpmsg",
        "pwrite64",     "pwritev",   "read",        "readv",   "recv",        "recvfrom",
        "recvmmsg",     "recvmsg",   "sched_yield", "select",  "semctl",      "semget",
        "semop",        "send",      "sendmmsg",    "sendmsg", "sendto",      "wait4",
        "waitid",       "waitpid",   "write",       "writev",
    };
    const enum trod_isa isa = c->filetype & TROD_DRM_AARCH64  ? TROD_ISA_A64
                              : c->filetype & TROD_DRM_ARM32  ? TROD_ISA_ARM
                              : c->filetype & TROD_DRM_X86_32 ? TROD_ISA_X86_32
                                                              : TROD_ISA_X86_64;
    const char *name = trod_syscall_name(isa, number);

    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/*
 * Do what a marker changes, before it is written. Returns 1 if it is not to be written, 0, or an
 * error.
 */
static int before_marker(struct raw *c, unsigned number, uint64_t value)
{
    const struct trod_place at = trod_place_offset(c->path, c->offset);
    int rc = TROD_OK;

    switch (number) {
    case TROD_DRM_MIDBLOCK_END_PC:
        return 1;
    case TROD_DRM_SYSCALL_IDX:
        if (!c->pt_told)
            trod_warning(c->diag, TROD_ERR_UNSUPPORTED, "drmemtrace.raw-pt", &at,
                         "what Intel PT recorded of the kernel (kernel.raw) is left out: it takes "
                         "Intel's decoder and the kernel's image; drraw2trace has both");
        c->pt_told = true;
        return 1;
    case TROD_DRM_KERNEL_EVENT:
        rc = raw_release(c, value, true);
        return rc == TROD_OK && c->rseq.past_end ? raw_rseq_end(c, value, false) : rc;
    case TROD_DRM_KERNEL_XFER:
        return raw_release(c, 0, false);
    case TROD_DRM_WINDOW_ID:
        if (value != c->window)
            rc = raw_release(c, 0, false);
        c->window = value;
        return rc;
    case TROD_DRM_RSEQ_ABORT:
        return c->rseq.on ? raw_rseq_end(c, value, true) : TROD_OK;
    case TROD_DRM_RSEQ_ENTRY:
        return raw_rseq_begin(c, value);
    case TROD_DRM_FILTER_ENDPOINT:
        c->filetype &= ~(uint64_t)(TROD_DRM_IFILTERED | TROD_DRM_DFILTERED | TROD_DRM_FILTERED);
        raw_blocks_retype(c->blocks, c->filetype);
        return TROD_OK;
    default:
        return TROD_OK;
    }
}

static int marker(struct raw *c)
{
    struct trod_buf *to;
    unsigned number;
    uint64_t value;
    size_t n;
    int rc;

    if (!raw_marker_at(c, 0, &number, &value, &n)) {
        rc = raw_damage(c, TROD_ERR_CORRUPT, "drmemtrace.raw-marker",
                        "upper half of a value without its lower half");
        raw_skip(c, 1);
        return rc;
    }
    if (c->in_call &&
        (number == TROD_DRM_KERNEL_EVENT || number == TROD_DRM_KERNEL_XFER ||
         (number == TROD_DRM_FUNC_ID && c->call_funcs++ > 0)) &&
        (rc = raw_inject(c)) < 0)
        return rc;
    rc = before_marker(c, number, value);
    raw_skip(c, n);
    if (rc != 0)
        return rc < 0 ? rc : TROD_OK;
    /* markers behind a branch stay behind it; which cpu it is belongs to the time before it */
    to = c->held.n && number != TROD_DRM_CPU_ID ? &c->held : c->sink;
    rc = raw_add(c, to, DRM_MARKER, number, value);
    if (number == TROD_DRM_SYSCALL && c->templates) {
        c->in_call = true;
        c->call = value;
        c->call_funcs = 0;
    }
    if (rc == TROD_OK && number == TROD_DRM_SYSCALL && may_block(c, value))
        rc = raw_add(c, to, DRM_MARKER, TROD_DRM_MAYBE_BLOCKING, 0);
    return rc;
}

/* --- beginning and end --- */

/* Times that step back a little come from processors whose clocks differ. */
static int put_time(struct raw *c, uint64_t time)
{
    const int rc = raw_inject(c);

    if (time < c->time && c->time - time <= TIME_SLIP)
        time = c->time;
    c->time = time;
    return rc < 0 ? rc : raw_add(c, c->sink, DRM_MARKER, TROD_DRM_TIMESTAMP, time);
}

static int put_header(struct raw *c, bool has_time)
{
    const unsigned version =
        c->version < RAW_VERSION_EVENT_PC ? DRM_VERSION_NO_KERNEL_PC : DRM_VERSION_RETIRED_ONLY;
    const struct {
        uint16_t type, size;
        uint64_t addr;
    } head[] = {
        {DRM_HEADER, 0, version},
        {DRM_MARKER, TROD_DRM_VERSION, version},
        {DRM_MARKER, TROD_DRM_FILETYPE, c->filetype},
        {DRM_THREAD, 4, c->tid},
        {DRM_PID, 4, c->pid},
        {DRM_MARKER, TROD_DRM_CACHE_LINE_SIZE, c->line_size},
        {DRM_MARKER, TROD_DRM_CHUNK_INSTR_COUNT, chunk_instructions},
    };
    int rc = TROD_OK;

    for (size_t i = 0; i < sizeof head / sizeof *head && rc == TROD_OK; i++)
        rc = raw_add(c, &c->out, head[i].type, head[i].size, head[i].addr);
    return rc == TROD_OK && has_time ? put_time(c, c->time) : rc;
}

/* Refuse raw files of unknown versions. */
static int check_version(const struct raw *c)
{
    const struct trod_place at = trod_place_path(c->path);

    if (c->version <= RAW_VERSION_MAX)
        return TROD_OK;
    return trod_error(c->diag, TROD_ERR_UNSUPPORTED, "drmemtrace.raw-version", &at,
                      "raw file of version %u, newer than %d: what its tracer leaves out (of "
                      "repeated string instructions at least) is not known; convert it with "
                      "drraw2trace",
                      c->version, RAW_VERSION_MAX);
}

/* The first entries: header, in old files a time, thread, process, line size. */
static int begin(struct raw *c)
{
    uint64_t e, value, time = 0;
    unsigned number;
    size_t n;
    int rc;

    c->begun = true;
    raw_peek(c, 0, &e);
    c->version = raw_ext(e) == RAW_HEADER ? raw_b(e) : (unsigned)raw_a(e);
    c->filetype = (raw_ext(e) == RAW_HEADER ? raw_a(e) : raw_b(e)) | TROD_DRM_ENCODINGS;
    if ((rc = check_version(c)) < 0)
        return rc;
    c->width = c->filetype & (TROD_DRM_ARM32 | TROD_DRM_X86_32) ? DRM_ENTRY_32 : DRM_ENTRY_64;
    c->line_size = LINE_BYTES;
    raw_skip(c, 1);
    if (raw_peek(c, 0, &e) && raw_kind(e) == RAW_TIMESTAMP) {
        time = e & value_mask;
        raw_skip(c, 1);
    }
    if (raw_peek(c, 0, &e) && raw_kind(e) == RAW_THREAD) {
        c->tid = e & value_mask;
        raw_skip(c, 1);
    }
    if (raw_peek(c, 0, &e) && raw_kind(e) == RAW_PID) {
        c->pid = e & value_mask;
        raw_skip(c, 1);
    }
    /* what Intel PT recorded of the kernel is left out, and what the file type says of it */
    c->filetype &= ~(uint64_t)(TROD_DRM_KERNEL_SYSCALLS | TROD_DRM_KERNEL_INSTR_ONLY);
    if ((rc = raw_blocks_new(&c->blocks, c->code, c->filetype, c->version, c->diag)) < 0 ||
        (rc = raw_templates_open(&c->templates, c->path, c->width, c->diag)) < 0)
        return rc;
    if (c->templates)
        c->filetype |= raw_templates_filetype(c->templates);
    if (raw_marker_at(c, 0, &number, &value, &n) && number == TROD_DRM_CACHE_LINE_SIZE) {
        c->line_size = (uint32_t)value;
        raw_skip(c, n);
    }
    c->time = time;
    return put_header(c, time != 0);
}

/* End of the thread: regular, or (CUT) because the file ends. */
static int end(struct raw *c, bool cut)
{
    int rc = TROD_OK;

    c->ended = true;
    if (cut)
        rc = raw_damage(c, TROD_ERR_TRUNCATED, "drmemtrace.raw-cut",
                        "raw trace ends without a footer: it is cut short");
    if (rc == TROD_OK)
        rc = raw_release(c, 0, false);
    if (rc == TROD_OK)
        rc = raw_inject(c);
    if (rc == TROD_OK && c->rseq.on)
        rc = raw_rseq_end(c, c->rseq.end, false);
    if (rc == TROD_OK)
        rc = raw_add(c, &c->out, DRM_THREAD_EXIT, 4, c->tid);
    if (rc == TROD_OK)
        rc = raw_add(c, &c->out, DRM_FOOTER, 0, 0);
    if (rc == TROD_OK && !cut && c->n)
        rc = raw_damage(c, TROD_ERR_CORRUPT, "drmemtrace.raw-trailing",
                        "data after the footer of a raw trace is left out");
    return rc;
}

/* --- entry by entry --- */

/* An access outside of a block: of instructions that are not known, or damage. */
static int stray(struct raw *c, uint64_t e)
{
    int rc = TROD_OK;

    if (!c->blind)
        rc = raw_damage(c, TROD_ERR_CORRUPT, "drmemtrace.raw-access",
                        "access that belongs to no instruction is left out");
    else if (!c->blind_told)
        rc = raw_add(c, c->sink, DRM_INSTR, 0, c->blind_pc);
    if (rc == TROD_OK && c->blind)
        rc = raw_add(c, c->sink, DRM_READ, 1, e);
    c->blind_told = c->blind;
    raw_skip(c, 1);
    return rc;
}

static int unknown(struct raw *c, const char *what)
{
    const int rc = raw_damage(c, TROD_ERR_CORRUPT, "drmemtrace.raw-entry", what);

    raw_skip(c, 1);
    return rc;
}

/* Code from START to the next entry's address was flushed (32-bit Arm). */
static int flush(struct raw *c, uint64_t start)
{
    uint64_t e;
    int rc;

    if (!raw_peek(c, 1, &e) || raw_kind(e) != RAW_PC_TOP)
        return unknown(c, "flush without its end");
    rc = raw_add(c, c->sink, DRM_INSTR_FLUSH, 0, start & UINT32_MAX);
    if (rc == TROD_OK)
        rc = raw_add(c, c->sink, DRM_INSTR_FLUSH_END, 0, e & UINT32_MAX);
    raw_skip(c, 2);
    return rc;
}

static int extended(struct raw *c, uint64_t e)
{
    switch (raw_ext(e)) {
    case RAW_FOOTER:
        raw_skip(c, 1);
        return end(c, false);
    case RAW_MARKER:
        return marker(c);
    case RAW_BASE:
        raw_skip(c, 1);
        return TROD_OK;
    default:
        return unknown(c, "entry of a kind that cannot stand here is left out");
    }
}

static int step(struct raw *c)
{
    uint64_t e;

    if (!raw_peek(c, 0, &e))
        return end(c, true);
    switch (raw_kind(e)) {
    case RAW_PC_TOP:
        return c->width == DRM_ENTRY_32 ? flush(c, e) : raw_block_rows(c);
    case RAW_PC:
        return raw_block_rows(c);
    case RAW_MEMREF:
    case RAW_MEMREF_HIGH:
        return stray(c, e);
    case RAW_TIMESTAMP:
        raw_skip(c, 1);
        return put_time(c, e & value_mask);
    case RAW_EXTENDED:
        return extended(c, e);
    default:
        return unknown(c, "thread or process in the middle of a raw trace is left out");
    }
}

/* --- the input --- */

/* See to the entries that one block can need. */
static void refill(struct raw *c)
{
    struct trod_span span;

    if (c->n >= RAW_AHEAD || c->last)
        return;
    trod_input_consume(c->in, c->used);
    /* an error is reported by the input; what comes before it is all there is */
    c->last = trod_input_ahead(c->in, RAW_WINDOW, &span) < 0 || span.n < RAW_WINDOW;
    c->used = 0;
    c->p = span.p;
    c->n = span.n;
    c->offset = span.offset;
}

int raw_make(struct raw *c, struct trod_fault *fault)
{
    int rc = TROD_OK;

    c->fault = fault;
    c->given = c->out.n = 0;
    while (rc == TROD_OK && !c->ended && c->out.n < RAW_PIECE) {
        refill(c);
        rc = c->begun ? step(c) : begin(c);
    }
    c->fault = NULL;
    if (rc < 0) {
        c->ended = true;
        if (fault->status == TROD_OK)
            trod_fault_set(fault, rc, "drmemtrace.raw",
                           rc == TROD_ERR_NOMEM ? "out of memory making a trace of raw data"
                                                : "raw trace cannot be read");
    }
    return rc;
}

static int make(void *state, uint8_t *out, size_t cap, size_t *n, struct trod_fault *fault)
{
    struct raw *c = state;
    const int rc = c->given == c->out.n ? raw_make(c, fault) : TROD_OK;

    *n = c->out.n - c->given < cap ? c->out.n - c->given : cap;
    if (*n)
        memcpy(out, c->out.p + c->given, *n);
    c->given += *n;
    c->handed += *n;
    return rc;
}

static void close_raw(void *state)
{
    struct raw *c = state;

    raw_blocks_free(c->blocks);
    raw_code_close(c->code);
    raw_templates_close(c->templates);
    trod_buf_fini(&c->out);
    trod_buf_fini(&c->held);
    raw_rseq_fini(&c->rseq);
    free(c->branch);
    free(c->modules_told);
    free(c);
}

static const struct trod_maker maker = {make, close_raw};

struct raw *raw_of(const struct trod_input *in)
{
    return trod_input_maker(in, &maker);
}

int drm_remake(struct trod_input **in, const char *dialect, const struct trod_files *files,
               const struct trod_beside_options *opt, struct trod_diag *diag)
{
    struct trod_input *of = *in;
    struct raw *c;
    int rc;

    if (!dialect || strcmp(dialect, raw_dialect) != 0)
        return TROD_OK;
    c = calloc(1, sizeof *c);
    if (!c || !(c->modules_told = calloc(1, RAW_FILES_MAX / 8))) {
        free(c);
        return TROD_ERR_NOMEM;
    }
    c->in = of;
    c->path = trod_input_path(of);
    c->diag = diag;
    c->sink = &c->out;
    if ((rc = raw_code_open(&c->code, c->path, files, opt, diag)) < 0) {
        close_raw(c);
        return rc;
    }
    *in = NULL;
    return trod_input_made(in, of, &maker, c, diag);
}
