/*
 * pb.h - messages of Protocol Buffers, written by hand.
 *
 * Document: Protocol Buffers, "Encoding". A message is built in a trod_buf; the caller puts it into
 * another as a field of bytes. Functions return 0 or TROD_ERR_NOMEM.
 */
#ifndef TROD_EXPORT_PB_H
#define TROD_EXPORT_PB_H

#include "core/endian.h"
#include "core/pack.h"

#include <string.h>

enum { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2 };

static inline int pb_number(struct trod_buf *out, unsigned field, uint64_t v)
{
    const int r = trod_pack(out, (uint64_t)field << 3 | PB_VARINT);

    return r == 0 ? trod_pack(out, v) : r;
}

static inline int pb_fixed(struct trod_buf *out, unsigned field, uint64_t v)
{
    uint8_t bytes[8];
    const int r = trod_pack(out, (uint64_t)field << 3 | PB_FIXED64);

    trod_store_le64(bytes, v);
    return r == 0 ? trod_buf_add(out, bytes, sizeof bytes) : r;
}

static inline int pb_bytes(struct trod_buf *out, unsigned field, const void *p, size_t n)
{
    int r = trod_pack(out, (uint64_t)field << 3 | PB_BYTES);

    if (r == 0)
        r = trod_pack(out, n);
    return r == 0 && n ? trod_buf_add(out, p, n) : r;
}

static inline int pb_text(struct trod_buf *out, unsigned field, const char *text)
{
    return pb_bytes(out, field, text, strlen(text));
}

/* MESSAGE, which is emptied, as field FIELD. */
static inline int pb_message(struct trod_buf *out, unsigned field, struct trod_buf *message)
{
    const int r = pb_bytes(out, field, message->p, message->n);

    message->n = 0;
    return r;
}

#endif
