/*
 * drm_check.c - see drm_check.h. Legacy files (version 1) are not for this.
 *
 * Targets of direct branches are worked out for x86-64 and A64 only, by the few lines below.
 */
#include "drm_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEN = 1 << 16, DEPTH = 64 };

struct seen {
    uint64_t pc;
    uint32_t part; /* + 1; 0: an empty place */
    uint8_t n, code[15];
};

struct state {
    struct drm_checked *out;
    unsigned width;
    bool zip, failed;
    size_t part;
    uint64_t at; /* entry */
    uint64_t footers, in_chunk;
    bool footer_last, exit_seen, end_seen, pid_seen, line_seen, page_seen, count_seen;
    uint64_t count;
    unsigned header; /* entries of the header seen */
    unsigned hide;   /* of the entries repeated at the beginning of a chunk: still to come */
    uint64_t time, cpu;
    bool has_time, has_cpu;
    unsigned before[2]; /* the two visible entries before: type | marker << 16 */
    /* encoding that waits, target that waits */
    uint8_t code[16];
    unsigned code_n;
    bool has_target;
    uint64_t target;
    struct seen *seen;
    size_t n_seen, mask;
    /* the last instruction */
    bool has_last, time_between, moved, event_between;
    unsigned type, size;
    uint64_t pc, last_target;
    uint8_t last_code[15];
    unsigned last_n;
    uint64_t event[DEPTH];
    unsigned depth;
};

static void fault(struct state *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void fault(struct state *s, const char *fmt, ...)
{
    va_list ap;
    int n;

    if (s->failed)
        return;
    s->failed = true;
    n = snprintf(s->out->fault, sizeof s->out->fault, "part %zu, entry %" PRIu64 ": ", s->part,
                 s->at);
    va_start(ap, fmt);
    vsnprintf(s->out->fault + n, sizeof s->out->fault - (size_t)n, fmt, ap);
    va_end(ap);
}

static uint64_t load(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < n; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

static bool is_instr(unsigned t)
{
    return (t >= 10 && t <= 16) || t == 31 || t == 48 || t == 49;
}

static bool is_branch(unsigned t)
{
    return (t >= 11 && t <= 16) || t == 48 || t == 49;
}

static bool is_indirect(unsigned t)
{
    return t == 12 || t == 15 || t == 16;
}

static bool ifiltered(const struct state *s)
{
    return s->out->filetype & 0x81;
}

static struct seen *find(struct state *s, uint64_t pc)
{
    size_t at = (size_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 20);

    if (!s->seen || 2 * s->n_seen > s->mask) {
        size_t size = s->mask ? 2 * (s->mask + 1) : SEEN;
        struct seen *old = s->seen;
        size_t n = s->mask ? s->mask + 1 : 0;

        s->seen = calloc(size, sizeof *s->seen);
        if (!s->seen)
            abort();
        s->mask = size - 1;
        for (size_t i = 0; i < n; i++) {
            size_t k = (size_t)((old[i].pc * UINT64_C(0x9e3779b97f4a7c15)) >> 20);

            if (!old[i].part)
                continue;
            while (s->seen[k & s->mask].part)
                k++;
            s->seen[k & s->mask] = old[i];
        }
        free(old);
    }
    while (s->seen[at & s->mask].part && s->seen[at & s->mask].pc != pc)
        at++;
    return &s->seen[at & s->mask];
}

static uint64_t extend(uint64_t v, unsigned bits)
{
    uint64_t top = UINT64_C(1) << (bits - 1);

    v &= 2 * top - 1;
    return (v ^ top) - top;
}

/* The target of the direct branch at PC. False: not worked out here. */
static bool direct_target(const struct state *s, uint64_t pc, const uint8_t *code, unsigned n,
                          uint64_t *target)
{
    if (s->out->filetype & 0x8 && n == 4) {
        uint32_t w = (uint32_t)load(code, 4);

        if ((w & 0x7c000000) == 0x14000000)
            *target = pc + (extend(w, 26) << 2);
        else if ((w & 0x7e000000) == 0x36000000)
            *target = pc + (extend(w >> 5, 14) << 2);
        else
            *target = pc + (extend(w >> 5, 19) << 2);
        return true;
    }
    if (s->out->filetype & 0x40 && n >= 2) {
        unsigned i = 0;

        while (i + 1 < n && (code[i] == 0x2e || code[i] == 0x3e || code[i] == 0x66 ||
                             code[i] == 0xf2 || code[i] == 0xf3 || (code[i] & 0xf0) == 0x40))
            i++;
        if (n - i == 2 && (code[i] == 0xeb || (code[i] & 0xf0) == 0x70 || (code[i] & 0xfc) == 0xe0))
            *target = pc + n + extend(code[n - 1], 8);
        else if (n - i >= 5)
            *target = pc + n + extend(load(code + n - 4, 4), 32);
        else
            return false;
        return true;
    }
    return false;
}

/* May NEXT come after the last instruction? */
static bool follows(const struct state *s, uint64_t next)
{
    uint64_t fall = s->pc + s->size, target;

    if (s->type == 31)
        return true;
    if (!is_branch(s->type) || s->type == 49)
        return next == fall;
    if (s->type == 13)
        return true;
    if (is_indirect(s->type))
        return s->out->version < 5 || next == s->last_target;
    return s->last_n == 0 || !direct_target(s, s->pc, s->last_code, s->last_n, &target) ||
           next == target;
}

static void visible(struct state *s, unsigned type, unsigned marker)
{
    s->out->visible++;
    s->before[0] = s->before[1];
    s->before[1] = type | marker << 16;
}

static void encoding(struct state *s, unsigned type, unsigned size, uint64_t pc)
{
    struct seen *k = find(s, pc);
    bool encoded = s->out->filetype & 0x200;

    (void)type;
    if (s->code_n) {
        s->out->encodings++;
        if (!encoded)
            fault(s, "an encoding where the file type says none");
        if (s->code_n != size && !(s->out->filetype & 0x20000))
            fault(s, "encoding of %u bytes, instruction of %u", s->code_n, size);
        s->n_seen += k->part == 0;
        k->pc = pc;
        k->part = (uint32_t)s->part + 1;
        k->n = (uint8_t)s->code_n;
        memcpy(k->code, s->code, s->code_n);
    } else if (encoded && k->part == 0) {
        fault(s, "no encoding for 0x%" PRIx64, pc);
    } else if (encoded && s->zip && k->part != s->part + 1) {
        fault(s, "no encoding for 0x%" PRIx64 " in this chunk", pc);
    }
    s->last_n = k->part && encoded ? k->n : 0;
    memcpy(s->last_code, k->code, sizeof s->last_code);
    s->code_n = 0;
}

static void flow(struct state *s, unsigned type, uint64_t pc)
{
    bool again = type == 29 && pc == s->pc;

    if (!s->has_last || ifiltered(s) || again || s->moved)
        return;
    if (!follows(s, pc))
        fault(s, "0x%" PRIx64 " cannot follow 0x%" PRIx64 " (type %u, %u bytes)", pc, s->pc,
              s->type, s->size);
    if (is_branch(s->type) && s->time_between)
        fault(s, "time between a branch and what follows it");
}

static void instr(struct state *s, unsigned type, unsigned size, uint64_t pc)
{
    if (size == 0) {
        if (!ifiltered(s) && !(s->out->filetype & 0x100))
            fault(s, "an instruction of no bytes in a trace that is not filtered");
        return;
    }
    visible(s, type, 0);
    if (!s->has_time || !s->has_cpu)
        fault(s, "an instruction before the first time and cpu");
    if (type == 13 && s->out->version >= 5 && !ifiltered(s))
        fault(s, "a conditional branch without its direction");
    if (is_indirect(type) && s->out->version >= 5 && !ifiltered(s) && !s->has_target)
        fault(s, "an indirect branch without its target");
    if (s->has_target && !is_indirect(type))
        fault(s, "a target for type %u", type);
    flow(s, type, pc);
    encoding(s, type, size, pc);
    s->has_last = true;
    s->time_between = s->moved = s->event_between = false;
    s->type = type;
    s->size = size;
    s->pc = pc;
    s->last_target = s->target;
    s->has_target = false;
    if (type == 29) {
        s->out->nofetch++;
        return;
    }
    s->out->instrs++;
    s->in_chunk++;
    if (s->zip && s->out->chunk && s->in_chunk > s->out->chunk)
        fault(s, "more than %" PRIu64 " instructions in a chunk", s->out->chunk);
}

static void chunk_footer(struct state *s, uint64_t value)
{
    if (value != s->footers)
        fault(s, "footer of chunk %" PRIu64 " instead of %" PRIu64, value, s->footers);
    if (s->out->chunk == 0 || s->in_chunk != s->out->chunk)
        fault(s, "chunk of %" PRIu64 " instructions", s->in_chunk);
    s->footers++;
    s->in_chunk = 0;
    s->footer_last = true;
    s->hide = 3;
}

/* The three entries that begin a chunk. */
static void repeated(struct state *s, unsigned type, unsigned marker, uint64_t value)
{
    static const unsigned wanted[] = {3, 2, 22};
    uint64_t low = s->width == 12 ? UINT64_MAX : UINT32_MAX;
    uint64_t expect = s->hide == 3 ? s->out->visible : s->hide == 2 ? s->time : s->cpu & UINT32_MAX;

    s->hide--;
    if (type != 28 || marker != wanted[s->hide] || value != (expect & low))
        fault(s, "chunk begins with type %u, marker %u, value %" PRIu64 " instead of %" PRIu64,
              type, marker, value, expect);
}

static void time_entry(struct state *s, unsigned marker, uint64_t value)
{
    if (marker == 3) {
        if ((s->before[1] & 0xffff) != 28 || (s->before[1] >> 16 != 2 && s->before[1] >> 16 != 14))
            fault(s, "a cpu without a time before it");
        s->cpu = value;
        s->has_cpu = true;
        return;
    }
    if (s->has_time && value < s->time && s->width == 12)
        fault(s, "time runs backwards");
    s->time = value;
    s->has_time = true;
    s->out->times++;
    s->time_between = s->time_between || !s->event_between;
}

static void event(struct state *s, unsigned marker, uint64_t value)
{
    if (value == 0)
        fault(s, "marker %u without an address", marker);
    s->out->events++;
    if (marker == 0) {
        bool known = s->has_last && !s->moved && !ifiltered(s) && s->out->version >= 3;

        if (known && !follows(s, value) && value != s->pc)
            fault(s, "event at 0x%" PRIx64 " after 0x%" PRIx64, value, s->pc);
    }
    s->event_between = true;
    s->moved = true;
}

static void describe(struct state *s, unsigned m, uint64_t value)
{
    if (m == 12 && value != s->out->version)
        fault(s, "version %" PRIu64 " and %" PRIu64, value, s->out->version);
    if (m == 9 && s->out->visible == 2)
        s->out->filetype = value;
    if (m == 20)
        s->out->chunk = value;
    s->line_seen = s->line_seen || m == 10;
    s->page_seen = s->page_seen || m == 18;
    if (m == 11 && s->count_seen && value < s->count)
        fault(s, "instruction count runs backwards");
    if (m == 11) {
        s->count = value;
        s->count_seen = true;
    }
}

static void marker(struct state *s, unsigned m, uint64_t value)
{
    unsigned before = s->before[0], last = s->before[1];

    if (m == 29) {
        if (value == 0 || s->has_target)
            fault(s, "a target of 0, or two");
        s->has_target = true;
        s->target = value;
        return;
    }
    if (m == 22)
        fault(s, "a record number that begins no chunk");
    visible(s, 28, m);
    s->out->markers++;
    if (m == 2 || m == 3) {
        s->before[1] = last;
        s->before[0] = before;
        time_entry(s, m, value);
        s->before[0] = last;
        s->before[1] = 28u | m << 16;
    }
    describe(s, m, value);
    if (m == 21)
        chunk_footer(s, value);
    if (m <= 1 || m == 43 || m == 44)
        event(s, m, value);
    if (m == 13 || m == 14 || m == 27 || m == 28 || m == 34 || m == 35)
        s->moved = true;
    if (m == 25 && s->out->version >= 6 && (before != (28u | 2u << 16) || last != (28u | 3u << 16)))
        fault(s, "a system call without the time before it");
    if (m == 8 || m == 42 || m == 45 || m == 32 || m == 33)
        fault(s, "marker %u in a file of a thread", m);
}

/* HEADER, VERSION, FILETYPE, THREAD, PID, line size, chunk size, page size. */
static void header(struct state *s, unsigned type, unsigned size, uint64_t value)
{
    static const struct {
        unsigned type, size;
    } wanted[] = {{25, 0}, {28, 12}, {28, 9}, {22, 4}, {24, 4}, {28, 10}, {28, 20}, {28, 18}};

    if (type != wanted[s->header].type || size != wanted[s->header].size)
        fault(s, "header entry %u is type %u, size %u", s->header, type, size);
    if (s->header == 0)
        s->out->version = value;
    if (s->header == 3)
        s->out->tid = value;
    if (s->header == 4)
        s->out->pid = value;
    s->header++;
}

static void entry(struct state *s, unsigned type, unsigned size, uint64_t value, const uint8_t *p)
{
    unsigned piece = s->width - 4;

    s->footer_last = false;
    if (s->end_seen)
        fault(s, "type %u behind the footer", type);
    if (s->header < 8)
        header(s, type, size, value);
    if (s->hide) {
        repeated(s, type, size, value);
        return;
    }
    if (s->exit_seen && type != 26)
        fault(s, "type %u behind the end of the thread", type);
    if ((s->code_n || s->has_target) && !is_instr(type) && type != 29 && type != 47 &&
        !(type == 28 && size == 29))
        fault(s, "type %u between an instruction and what belongs before it", type);
    if (type == 47) {
        if (size == 0 || size > piece || s->code_n + size > 15)
            fault(s, "encoding of %u bytes", size);
        else
            memcpy(s->code + s->code_n, p + 4, size);
        s->code_n += size <= piece && s->code_n + size <= 15 ? size : 0;
    } else if (is_instr(type) || type == 29) {
        instr(s, type, size, value);
    } else if (type == 28) {
        marker(s, size, value);
    } else if (type <= 9 || (type >= 32 && type <= 46) || type == 18 || type == 20) {
        visible(s, type, 0);
        s->out->reads += type == 0;
        s->out->writes += type == 1;
    } else if (type == 23) {
        visible(s, type, 0);
        s->exit_seen = true;
        if (value != s->out->tid)
            fault(s, "end of another thread");
    } else if (type == 26) {
        s->end_seen = true;
    } else if (type != 22 && type != 24 && type != 25 && type != 19 && type != 21) {
        fault(s, "type %u", type);
    }
}

bool drm_check(const struct drm_part *part, size_t n, unsigned width, bool zip,
               struct drm_checked *out)
{
    struct state s = {.out = out, .width = width, .zip = zip};

    *out = (struct drm_checked){0};
    for (s.part = 0; s.part < n && !s.failed; s.part++) {
        const struct drm_part *p = &part[s.part];

        if (p->n % width)
            fault(&s, "%zu bytes are no whole number of entries", p->n);
        for (size_t at = 0; at + width <= p->n && !s.failed; at += width, s.at++) {
            const uint8_t *q = p->p + at;

            out->entries++;
            entry(&s, (unsigned)load(q, 2), (unsigned)load(q + 2, 2), load(q + 4, width - 4), q);
        }
        if (!s.failed && s.part + 1 < n && !s.footer_last)
            fault(&s, "a part ends without the footer of its chunk");
    }
    s.part = n;
    if (!s.failed && (!s.exit_seen || !s.end_seen))
        fault(&s, "no end of the thread or no footer");
    if (!s.failed && (!s.line_seen || !s.page_seen))
        fault(&s, "no line size or no page size");
    if (!s.failed && ifiltered(&s) && !s.count_seen)
        fault(&s, "filtered, and no instruction count");
    free(s.seen);
    return !s.failed;
}
