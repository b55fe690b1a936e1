/*
 * zip_data.h - zip archives for tests, put together byte by byte after PKWARE's description
 * (APPNOTE), and what an input gives of them.
 *
 * Compressed data comes from the gzip filter without its wrapper.
 */
#ifndef ZIP_DATA_H
#define ZIP_DATA_H

#include "core/endian.h"
#include "io_data.h"
#include "trod/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { STORED = 0, DEFLATE = 8 };

struct part {
    const char *name;
    unsigned method;
    struct trod_buf data;
    /* filled in */
    uint64_t at;
    struct trod_buf packed;
    uint32_t crc;
};

static inline void le(struct trod_buf *b, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t c = (uint8_t)(v >> (8 * i));

        assert_int_equal(trod_buf_add(b, &c, 1), 0);
    }
}

static inline void add(struct trod_buf *b, const void *p, size_t n)
{
    assert_int_equal(trod_buf_add(b, p, n), 0);
}

/* The checksum bit by bit, as the standard defines it. */
static inline uint32_t slow_crc(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;

    while (n--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

static inline void pack(struct part *p)
{
    p->crc = slow_crc(p->data.p, p->data.n);
    if (p->method == DEFLATE) {
        struct trod_buf gz = {0};

        data_encode(trod_filter_find("gzip"), 1, p->data.p, p->data.n, 1 << 16, &gz);
        assert_true(gz.n > 18 && gz.p[3] == 0); /* no optional fields */
        add(&p->packed, gz.p + 10, gz.n - 18);
        trod_buf_fini(&gz);
    } else {
        add(&p->packed, p->data.p, p->data.n);
    }
}

static inline void local(struct trod_buf *z, struct part *p, bool descriptor)
{
    p->at = z->n;
    le(z, 4, 0x04034b50);
    le(z, 2, 20);
    le(z, 2, descriptor ? 8 : 0);
    le(z, 2, p->method);
    le(z, 4, 0x00210000);
    le(z, 4, descriptor ? 0 : p->crc);
    le(z, 4, descriptor ? 0 : p->packed.n);
    le(z, 4, descriptor ? 0 : p->data.n);
    le(z, 2, strlen(p->name));
    le(z, 2, 0);
    add(z, p->name, strlen(p->name));
    add(z, p->packed.p, p->packed.n);
    if (descriptor) {
        le(z, 4, 0x08074b50);
        le(z, 4, p->crc);
        le(z, 4, p->packed.n);
        le(z, 4, p->data.n);
    }
}

static inline void central(struct trod_buf *z, const struct part *p, bool wide)
{
    le(z, 4, 0x02014b50);
    le(z, 2, 20);
    le(z, 2, 20);
    le(z, 2, 0);
    le(z, 2, p->method);
    le(z, 4, 0x00210000);
    le(z, 4, p->crc);
    le(z, 4, wide ? UINT32_MAX : p->packed.n);
    le(z, 4, wide ? UINT32_MAX : p->data.n);
    le(z, 2, strlen(p->name));
    le(z, 2, wide ? 36 : 0);
    le(z, 2, 5); /* comment */
    le(z, 2, 0);
    le(z, 2, 0);
    le(z, 4, 0);
    le(z, 4, wide ? UINT32_MAX : p->at);
    add(z, p->name, strlen(p->name));
    if (wide) {
        le(z, 2, 0x5455); /* another field first */
        le(z, 2, 4);
        le(z, 4, 0);
        le(z, 2, 1);
        le(z, 2, 24);
        le(z, 8, p->data.n);
        le(z, 8, p->packed.n);
        le(z, 8, p->at);
    }
    add(z, "hello", 5);
}

static inline void finish(struct trod_buf *z, uint64_t n, uint64_t from, bool wide,
                          const char *comment)
{
    uint64_t end = z->n;

    if (wide) {
        le(z, 4, 0x06064b50);
        le(z, 8, 44);
        le(z, 2, 45);
        le(z, 2, 45);
        le(z, 4, 0);
        le(z, 4, 0);
        le(z, 8, n);
        le(z, 8, n);
        le(z, 8, end - from);
        le(z, 8, from);
        le(z, 4, 0x07064b50);
        le(z, 4, 0);
        le(z, 8, end);
        le(z, 4, 1);
    }
    le(z, 4, 0x06054b50);
    le(z, 4, 0);
    le(z, 2, wide ? UINT16_MAX : n);
    le(z, 2, wide ? UINT16_MAX : n);
    le(z, 4, wide ? UINT32_MAX : end - from);
    le(z, 4, wide ? UINT32_MAX : from);
    le(z, 2, strlen(comment));
    add(z, comment, strlen(comment));
}

/* N parts whose data lies in the archive in rising order and in the directory in falling order. */
static inline struct trod_buf archive(struct part *p, size_t n, bool wide, bool descriptor,
                                      const char *comment)
{
    struct trod_buf z = {0};
    uint64_t from;

    for (size_t i = 0; i < n; i++) {
        pack(&p[i]);
        local(&z, &p[i], descriptor);
    }
    from = z.n;
    for (size_t i = n; i-- > 0;)
        central(&z, &p[i], wide);
    finish(&z, n, from, wide, comment);
    return z;
}

enum { PARTS = 4, SAID = 100001 - 121 };

static inline void make_parts(struct part *p)
{
    static const char *const names[PARTS] = {"chunk.0003", "chunk.0000", "dir/sequence1", "empty"};
    static const size_t sizes[PARTS] = {300000, 24, 100001, 0};

    for (size_t i = 0; i < PARTS; i++) {
        p[i] = (struct part){.name = names[i], .method = i == 1 ? STORED : DEFLATE};
        p[i].data = data_make(i == 0 ? DATA_TEXT : DATA_RANDOM, sizes[i], i + 1);
    }
}

static inline void drop_parts(struct part *p)
{
    for (size_t i = 0; i < PARTS; i++) {
        trod_buf_fini(&p[i].data);
        trod_buf_fini(&p[i].packed);
    }
}

/* What an input of the N bytes at P gives, and what it reports: members by name. */
struct got {
    struct trod_buf data;
    struct trod_diag diag;
    char members[256]; /* of the problems, with a blank behind each */
};

static inline void note(void *user, const struct trod_problem *problem)
{
    struct got *g = user;
    size_t n = strlen(g->members);

    snprintf(g->members + n, sizeof g->members - n, "%s ",
             problem->at.member ? problem->at.member : "-");
}

static inline void read_all(struct trod_input *in, struct got *g, size_t min)
{
    struct trod_span s;

    while (trod_input_ahead(in, min, &s) == TROD_OK && s.n) {
        add(&g->data, s.p, s.n);
        trod_input_consume(in, s.n);
    }
    trod_input_close(in);
}

static inline void read_memory(struct got *g, const uint8_t *p, size_t n, bool thread)
{
    const struct trod_input_options opt = {.no_thread = !thread};
    struct trod_input *in;

    memset(g, 0, sizeof *g);
    trod_diag_init(&g->diag, note, g);
    assert_int_equal(trod_input_memory(&in, p, n, "zip", &opt, &g->diag), 0);
    assert_string_equal(trod_input_filter(in, 0), "zip");
    read_all(in, g, 1 + n % 100);
}

#endif
