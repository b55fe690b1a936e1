/*
 * records.c - how long a record of STF is.
 *
 * Implements records.h; docs/formats/stf.md.
 */
#include "format/stf/records.h"

#include <inttypes.h>
#include <stdio.h>

enum { VLEN_MAX = 1 << 16 };

/* A record of FIXED bytes and COUNT elements of SIZE, where COUNT has N bytes at AT. */
static int64_t counted(const uint8_t *p, size_t have, unsigned at, unsigned n, unsigned fixed,
                       unsigned size)
{
    uint64_t count = 0;
    int64_t all;

    if (have < at + n)
        return STF_CUT;
    for (unsigned i = 0; i < n; i++)
        count |= (uint64_t)p[at + i] << 8 * i;
    all = (int64_t)(fixed + count * size);
    return (uint64_t)all <= have ? all : STF_CUT;
}

static int64_t reg_length(const struct stf_widths *w, const uint8_t *p, size_t n)
{
    uint64_t size = 12;

    if (n < 4)
        return STF_CUT;
    if ((p[3] & 15) == STF_TYPE_V) {
        if (w->vlen == 0 || w->vlen > VLEN_MAX || w->vlen % 8)
            return STF_UNKNOWN;
        size = 4 + w->vlen / 8;
    }
    return size <= n ? (int64_t)size : STF_CUT;
}

int64_t stf_length(const struct stf_widths *w, const uint8_t *p, size_t n)
{
    static const uint8_t fixed[256] = {
        [STF_IDENTIFIER] = 4, [STF_VERSION] = 9,     [STF_ISA] = 3,         [STF_INST_IEM] = 3,
        [STF_FEATURES] = 9,   [STF_PROCESS] = 13,    [STF_FORCE_PC] = 9,    [STF_VLEN] = 5,
        [STF_END_HEADER] = 1, [STF_PC_TARGET] = 9,   [STF_READY_REG] = 3,   [STF_ACCESS] = 14,
        [STF_CONTENT] = 9,    [STF_BUS_ACCESS] = 18, [STF_BUS_CONTENT] = 9, [STF_EVENT_TARGET] = 9,
        [STF_MICRO_OP] = 6,   [STF_INST_32] = 5,     [STF_INST_16] = 3,
    };

    if (n == 0)
        return STF_CUT;
    if (fixed[p[0]])
        return fixed[p[0]] <= n ? fixed[p[0]] : STF_CUT;
    switch (p[0]) {
    case STF_COMMENT:
    case STF_ISA_EXTENDED:
        return counted(p, n, 1, 4, 5, 1);
    case STF_TRACE_INFO:
        return counted(p, n, 5, 2, 7, 1);
    case STF_REG:
        return reg_length(w, p, n);
    case STF_WALK:
        return counted(p, n, 21, 1, 22, 16);
    case STF_EVENT:
        return w->event32 ? counted(p, n, 5, 1, 6, 8) : counted(p, n, 9, 1, 10, 8);
    case STF_PROTOCOL:
    case STF_CLOCK:
    case STF_TRANSACTION:
    case STF_DEPENDENCY:
        return STF_OTHER;
    default:
        return STF_UNKNOWN;
    }
}

void stf_widen(struct stf_widths *w, const uint8_t *p)
{
    if (*p == STF_FEATURES)
        w->event32 = !(trod_load_le64(p + 1) & STF_FEATURE_EVENT64);
    else if (*p == STF_VLEN)
        w->vlen = trod_load_le32(p + 1);
}

unsigned stf_address_field(uint64_t id)
{
    static const uint8_t fields[24] = {1, 1, 1, 1, 3, 3, 3, 3, 0, 0, 0, 0,
                                       1, 3, 0, 3, 0, 0, 0, 0, 1, 3, 1, 3};

    return id < sizeof fields ? fields[id] : 0;
}

uint64_t stf_event(const struct stf_widths *w, const uint8_t *p, bool *mode)
{
    uint64_t id = w->event32 ? trod_load_le32(p + 1) : trod_load_le64(p + 1);
    const unsigned top = w->event32 ? 31 : 63;
    const bool interrupt = id >> top & 1;

    *mode = id >> (top - 1) & 1;
    id &= (UINT64_C(1) << (top - 1)) - 1;
    return id | (uint64_t)interrupt << 63;
}

int stf_file_stream(struct trod_meta *meta, uint32_t *stream)
{
    char name[16];
    const int n = snprintf(name, sizeof name, "%" PRIu32, meta->file);
    const int found = trod_meta_stream(meta, name, (size_t)n);

    if (found >= 0)
        *stream = (uint32_t)found;
    return found < 0 ? found : TROD_OK;
}
