/*
 * drm_oracle.c - what a reader of DynamoRIO traces must see: one entry after the other, slowly.
 *
 * After the format's description (reader model); beyond it stands what this library adds: entries
 * of unknown types are kept as notes, and so are hidden entries that no record follows or of which
 * there are 64 in a row.
 */
#include "drm.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, KNOWN = 4096, HIDDEN_MAX = 64 };

struct thread {
    uint64_t tid, pid;
    bool skip;
};

struct known {
    uint64_t pc;
    uint8_t code[16];
    uint32_t n;
};

struct oracle {
    unsigned width;
    struct drm_seen_list out;
    struct thread thread[THREADS];
    size_t n_threads, cur;
    struct known known[KNOWN];
    size_t n_known;
    struct drm_seen last; /* instruction */
    bool have_last;
    uint8_t code[64];
    uint32_t code_n;
    bool has_target, has_time, has_pc, in_syscall, in_switch, footed;
    uint64_t target, time, pc, instrs, records, filetype, chunk, in_chunk, chunks, next_pc;
    uint64_t flush_at;
    unsigned flush_type, depth, hidden;
};

static bool among(unsigned type, const char *set)
{
    for (; *set; set += 2)
        if (type >= (unsigned char)set[0] && type <= (unsigned char)set[1])
            return true;
    return false;
}

static bool is_instr(unsigned t)
{
    return among(t, "\x0a\x10\x1f\x1f\x30\x31");
}

static bool is_data(unsigned t)
{
    return t <= 9 || (t >= 32 && t <= 46) || t == 27;
}

static uint64_t address(const struct oracle *o, uint64_t a)
{
    unsigned bit = o->filetype & 8 ? 55 : 47;

    if (o->width == 8)
        return a;
    return a >> bit & 1 ? a | ~UINT64_C(0) << bit : a & ((UINT64_C(1) << bit) - 1);
}

static void switch_to(struct oracle *o, uint64_t tid)
{
    for (o->cur = 0; o->cur < o->n_threads; o->cur++)
        if (o->thread[o->cur].tid == tid)
            return;
    if (o->n_threads == THREADS)
        test_die("oracle: too many threads");
    o->thread[o->n_threads++] = (struct thread){tid, TROD_NOWHERE, false};
}

static struct drm_seen *add(struct oracle *o, unsigned type)
{
    struct drm_seen *s;

    if (o->out.n == o->out.cap) {
        o->out.cap = o->out.cap ? o->out.cap * 2 : 256;
        o->out.item = realloc(o->out.item, o->out.cap * sizeof *o->out.item);
        if (!o->out.item)
            test_die("out of memory");
    }
    s = &o->out.item[o->out.n++];
    *s = (struct drm_seen){.type = type,
                           .tid = o->thread[o->cur].tid,
                           .pid = o->thread[o->cur].pid,
                           .pc = o->pc,
                           .has_pc = o->has_pc,
                           .time = o->time,
                           .has_time = o->has_time,
                           .instrs = o->instrs,
                           .kernel = o->in_syscall || o->in_switch || o->depth};
    o->records++;
    o->hidden = 0;
    o->footed = false;
    return s;
}

static struct known *find(struct oracle *o, uint64_t pc)
{
    for (size_t i = 0; i < o->n_known; i++)
        if (o->known[i].pc == pc)
            return &o->known[i];
    return NULL;
}

static void take_code(struct oracle *o, struct drm_seen *s)
{
    struct known *k = find(o, s->addr);

    if (o->code_n) {
        s->fresh = true;
        if (!k) {
            if (o->n_known == KNOWN)
                test_die("oracle: too many instructions");
            k = &o->known[o->n_known++];
        }
        k->pc = s->addr;
        k->n = o->code_n;
        memcpy(k->code, o->code, o->code_n);
        o->out.problems += o->code_n != s->size && !(o->filetype & 0x20000);
        o->code_n = 0;
    }
    if (k) {
        memcpy(s->code, k->code, k->n);
        s->code_n = k->n;
    } else if ((o->filetype & 0x10200) == 0x200) {
        o->out.problems++;
    }
}

static void instr(struct oracle *o, unsigned type, uint32_t size, uint64_t pc)
{
    struct drm_seen *s;

    o->pc = pc;
    o->has_pc = true;
    if (size == 0) {
        o->hidden++;
        return;
    }
    o->next_pc = pc + size;
    o->instrs += is_instr(type);
    s = add(o, type);
    s->addr = pc;
    s->size = size;
    take_code(o, s);
    if ((type == 12 || type == 15 || type == 16) && o->has_target) {
        s->target = o->target;
        s->has_target = true;
        o->has_target = false;
    }
    o->last = *s;
    o->have_last = true;
}

static void note(struct oracle *o, unsigned type)
{
    add(o, type)->note = true;
    o->out.problems++;
}

static void bundle(struct oracle *o, uint32_t count, const uint8_t *lengths)
{
    if (!o->have_last || count == 0 || count > o->width - 4) {
        note(o, 17);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct drm_seen *s;

        o->pc = o->next_pc;
        o->next_pc += lengths[i];
        o->instrs++;
        s = add(o, o->last.type);
        s->addr = o->pc;
        s->size = lengths[i];
        s->target = o->last.target;
        s->has_target = o->last.has_target;
        s->fresh = o->last.fresh;
        s->code_n = o->last.code_n;
        memcpy(s->code, o->last.code, 16);
    }
}

static void marker(struct oracle *o, unsigned m, uint64_t v)
{
    struct thread *t = &o->thread[o->cur];
    size_t cur = o->cur;

    if (m == 29) {
        o->target = address(o, v);
        o->has_target = true;
    }
    if (m == 22 && o->chunk && o->instrs != o->in_chunk) { /* the chunk's end is missing */
        o->out.problems++;
        o->in_chunk += o->chunk;
        o->instrs = o->in_chunk;
        o->chunks++;
        t->skip = true;
    } else if (m == 22 && v != o->records) {
        o->out.problems++;
    }
    if (m == 22)
        o->records = v;
    if (m == 2 && (!t->skip || !o->has_time)) {
        o->time = v;
        o->has_time = true;
    }
    if (m == 29 || m == 22 || ((m == 2 || m == 3) && t->skip)) {
        t->skip = t->skip && m != 3;
        o->hidden++;
        return;
    }
    if (m == 9)
        o->filetype = v;
    if (m == 20)
        o->chunk = v;
    if (m == 21) {
        o->out.problems += v != o->chunks;
        o->out.problems += o->chunk && o->instrs - o->in_chunk != o->chunk;
        o->chunks = v + 1;
        o->in_chunk = o->instrs;
        t->skip = o->chunk > 0;
    }
    if (m == 33)
        switch_to(o, TROD_NOWHERE);
    o->in_syscall = o->in_syscall || m == 27;
    o->in_switch = o->in_switch || m == 34;
    o->depth += m == 43;
    {
        static const uint8_t addresses[] = {0, 1, 5, 13, 15, 17, 24, 29, 43, 44};
        struct drm_seen *s = add(o, 28);

        s->size = m;
        s->value = v;
        for (size_t i = 0; i < sizeof addresses; i++)
            if (m == addresses[i])
                s->value = address(o, v);
    }
    o->in_syscall = o->in_syscall && m != 28;
    o->in_switch = o->in_switch && m != 35;
    o->depth -= m == 44 && o->depth;
    o->cur = cur;
}

static void entry(struct oracle *o, unsigned type, uint32_t size, uint64_t a, const uint8_t *bytes)
{
    uint64_t wide = o->width == 8 && a == UINT32_MAX ? TROD_NOWHERE : a;

    if (is_data(type)) {
        struct drm_seen *s = add(o, type);

        s->addr = address(o, a);
        s->size = size;
    } else if (is_instr(type) || type == 29) {
        instr(o, type, size, address(o, a));
    } else if (type == 30) {
        instr(o, o->has_pc && o->pc == address(o, a) ? 29 : 10, size, address(o, a));
    } else if (type == 17) {
        bundle(o, size, bytes);
    } else if ((type == 18 || type == 20) && size == 0) {
        o->flush_at = address(o, a);
        o->flush_type = type;
        o->hidden++;
    } else if (type >= 18 && type <= 21) {
        bool end = type == 19 || type == 21;

        if (end && (o->flush_type != type - 1 || address(o, a) - o->flush_at > UINT32_MAX)) {
            note(o, type);
        } else {
            struct drm_seen *s = add(o, end ? type - 1 : type);

            s->addr = end ? o->flush_at : address(o, a);
            s->size = end ? (uint32_t)(address(o, a) - o->flush_at) : size;
        }
        if (end)
            o->flush_type = 0;
    } else if (type == 22) {
        switch_to(o, wide);
        o->hidden++;
    } else if (type == 24) {
        o->thread[o->cur].pid = wide;
        o->hidden++;
    } else if (type == 23) {
        switch_to(o, a);
        add(o, 23)->value = a;
    } else if (type == 25 || type == 26) {
        o->hidden++;
    } else if (type == 28) {
        marker(o, size, a);
    } else if (type == 47) {
        uint32_t room = o->width - 4, n = size > room ? room : size;

        if (n > 15 - o->code_n)
            n = 15 - o->code_n;
        o->out.problems += n != size;
        memcpy(o->code + o->code_n, bytes, n);
        o->code_n += n;
        o->hidden++;
    } else {
        note(o, type);
    }
}

static unsigned u16(const uint8_t *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static uint64_t value(const uint8_t *p, unsigned width)
{
    uint64_t v = 0;

    for (unsigned i = width; i-- > 4;)
        v = v << 8 | p[i];
    return v;
}

struct drm_seen_list drm_oracle(const uint8_t *p, size_t n, unsigned width)
{
    struct oracle *o = calloc(1, sizeof *o);
    struct drm_seen_list out;
    bool footer = false;

    if (!o)
        test_die("out of memory");
    o->width = width;
    switch_to(o, 0);
    /* the header's thread and process hold for its markers */
    for (size_t i = 0; (i + 1) * width <= n && i < 64; i++) {
        unsigned type = u16(p + i * width);
        uint64_t v = value(p + i * width, width);

        v = width == 8 && v == UINT32_MAX ? TROD_NOWHERE : v;
        if (type == 22)
            switch_to(o, v);
        else if (type == 24)
            o->thread[o->cur].pid = v;
        else if (type != 25 && type != 28)
            break;
        if (type == 24)
            break;
    }
    for (size_t i = 0; i + width <= n; i += width) {
        footer = u16(p + i) == 26;
        if (footer && o->out.n && o->hidden == 0 && !o->footed) {
            o->footed = true; /* goes with the record before it */
            continue;
        }
        entry(o, u16(p + i), u16(p + i + 2), value(p + i, width), p + i + 4);
        if (o->hidden == HIDDEN_MAX)
            note(o, 0);
    }
    if (o->hidden)
        note(o, 0);
    o->out.problems += !footer;
    out = o->out;
    free(o);
    return out;
}
