/*
 * access.c - accesses as bytes in memory. Implements nav.h (docs/navigating.md, "Memory").
 *
 * A value is a number; which byte of it lies at which address follows from the byte order of the
 * trace (docs/formats/tarmac.md, "Memory accesses").
 */
#include "navigate/nav.h"

#include "trod/detail.h"

#include <string.h>

/* The value after an atomic operation, where the line says it: old=.. new=... */
static bool new_value(const struct trod_batch *b, const struct trod_detail_atomic *d, uint64_t *v)
{
    const uint8_t *p, *end;
    unsigned digits = 0;

    if (!d->named || d->more.len < 5)
        return false;
    p = trod_batch_bytes(b, d->more);
    end = p + d->more.len;
    if (memcmp(p, "new=", 4) != 0)
        return false;
    for (*v = 0, p += 4; p < end && *p != ' '; p++) {
        unsigned c = *p | 0x20, digit = c >= '0' && c <= '9'   ? c - '0'
                                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                               : 16;

        if (*p == '_')
            continue;
        if (digit == 16 || ++digits > 16)
            return false;
        *v = *v << 4 | digit;
    }
    return digits > 0;
}

static void atomic(const struct trod_batch *b, uint32_t i, struct nav_access *out)
{
    const struct trod_detail_atomic *d = trod_batch_detail(b, i);
    uint64_t v;

    out->reads = out->writes = true;
    out->values = false;
    out->valueless = true;
    if (d && b->detail[i].len == sizeof *d && new_value(b, d, &v) && out->size <= 8) {
        for (unsigned k = 0; k < 8; k++)
            out->room[k] = (uint8_t)(v >> (8 * k));
        out->value = out->room;
        out->valueless = false;
        out->values = true;
    }
    out->unknown = out->unwritten = NULL;
}

static void masks(const struct trod_batch *b, uint32_t i, uint32_t flags, struct nav_access *out)
{
    const struct trod_detail_mem *d = trod_batch_detail(b, i);

    if (!d || b->detail[i].len != sizeof *d || d->mask.len < out->size)
        return;
    out->unknown = trod_batch_bytes(b, d->mask);
    if (d->unwritten.len >= out->size)
        out->unwritten = trod_batch_bytes(b, d->unwritten);
    else if ((flags & TROD_F_PARTIAL) && !(flags & TROD_F_UNKNOWN))
        out->unwritten = out->unknown;
}

bool nav_access_of(const struct trod_batch *b, uint32_t i, bool big, struct nav_access *out)
{
    const uint8_t kind = b->kind[i];
    const uint32_t flags = nav_has(b, i, TROD_COL_FLAGS) ? b->flags[i] : 0;

    if (kind != TROD_READ && kind != TROD_WRITE && kind != TROD_ATOMIC)
        return false;
    if ((flags & TROD_F_ABORTED) || !nav_has(b, i, TROD_COL_SIZE) || b->size[i] == 0)
        return false;
    memset(out, 0, sizeof *out);
    if (nav_has(b, i, TROD_COL_ADDR))
        out->addr = b->addr[i];
    else if (nav_has(b, i, TROD_COL_PADDR))
        out->addr = b->paddr[i];
    else
        return false;
    out->size = b->size[i];
    if (out->addr > UINT64_MAX - (out->size - 1))
        out->size = (uint32_t)(UINT64_MAX - out->addr + 1);
    out->reads = kind == TROD_READ;
    out->writes = kind == TROD_WRITE;
    out->big = big;
    if (nav_has(b, i, TROD_COL_DATA) && b->data[i].len >= out->size) {
        out->value = trod_batch_bytes(b, b->data[i]);
    } else if (nav_has(b, i, TROD_COL_VALUE) && out->size <= 8) {
        for (unsigned k = 0; k < 8; k++)
            out->room[k] = (uint8_t)(b->value[i] >> (8 * k));
        out->value = out->room;
    }
    out->values = out->value != NULL;
    out->valueless = !out->values;
    if (kind == TROD_ATOMIC) {
        atomic(b, i, out);
        return true;
    }
    if (!out->values && out->writes && (flags & TROD_F_PARTIAL) && !(flags & TROD_F_UNKNOWN))
        return false; /* nothing but dashes: nothing was written */
    if (flags & (TROD_F_UNKNOWN | TROD_F_PARTIAL))
        masks(b, i, flags, out);
    return true;
}

int nav_access_byte(const struct nav_access *a, uint32_t k, uint8_t *value)
{
    const uint32_t at = a->big ? a->size - 1 - k : k;

    if (a->unwritten && a->unwritten[at] == 0xff)
        return -1;
    if (!a->values || (a->unknown && a->unknown[at]))
        return 0;
    *value = a->value[at];
    return 1;
}
