/*
 * enc_loss.c - what drmemtrace entries cannot hold of the rows they are written from.
 *
 * Implements docs/formats/drmemtrace-writing.md, "What is lost". Nothing is written here.
 */
#include "format/drmemtrace/encode.h"

#include <string.h>

static const char no_place[] = "the format has no record for it";

void drm_lose(struct drm_enc *e, const struct trod_batch *b, uint32_t row)
{
    trod_loss_row(e->loss, b, row, no_place);
}

uint32_t drm_lose_width(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                        uint32_t column, uint64_t v)
{
    if (drm_fits(e, v))
        return 0;
    if (e->width == DRM_ENTRY_32)
        return trod_loss_columns(e->loss, b, row, column,
                                 "it does not fit the 32 bits of an entry");
    if (column == TROD_COL_VALUE)
        return 0;
    return trod_loss_columns(e->loss, b, row, column, "it has more bits than an address");
}

uint32_t drm_lose_size(struct drm_enc *e, const struct trod_batch *b, uint32_t row, uint64_t n,
                       uint64_t most)
{
    if ((n > 0 || e->native) && n <= most)
        return 0;
    return trod_loss_columns(e->loss, b, row, TROD_COL_SIZE,
                             n ? "it does not fit the 16 bits of a size"
                               : "an instruction of 0 bytes is only an address");
}

void drm_lose_event(struct drm_enc *e, const struct trod_batch *b, uint32_t row)
{
    const unsigned number = b->sub[row];

    if (e->native && (number == TROD_DRM_KERNEL_EVENT || number == TROD_DRM_KERNEL_XFER) &&
        (e->meta->version <= DRM_VERSION_NO_KERNEL_PC) != (e->version <= DRM_VERSION_NO_KERNEL_PC))
        trod_loss_columns(e->loss, b, row, TROD_COL_VALUE,
                          "up to version 2 it is an offset in a module, then an address");
}

uint32_t drm_lose_instr(struct drm_enc *e, const struct trod_batch *b, uint32_t row)
{
    const uint32_t has = b->have & b->has[row];
    uint32_t lost = 0;

    if (has & TROD_COL_ADDR)
        lost |= drm_lose_width(e, b, row, TROD_COL_ADDR, b->addr[row]);
    if (has & TROD_COL_ADDR)
        lost |= fmt_own_pc(e->loss, b, row, drm_read_back(e, b->addr[row]));
    if (has & TROD_COL_SIZE)
        lost |= drm_lose_size(e, b, row, b->size[row], UINT16_MAX);
    if (!e->native && has & TROD_COL_FLAGS && b->flags[row] & TROD_F_BRANCH)
        lost |= trod_loss_branch(e->loss, b, row, drm_flow_branch(e), !drm_lose_code(e),
                                 "no type of record stands for this kind of branch");
    if (drm_lose_code(e))
        lost |= trod_loss_columns(e->loss, b, row, TROD_COL_CODE,
                                  "the trace is written without opcodes");
    else if (has & TROD_COL_CODE && b->code[row].len > DRM_CODE_MAX)
        lost |=
            trod_loss_columns(e->loss, b, row, TROD_COL_CODE, "no opcode is longer than 15 bytes");
    if (drm_code_sized(e) && has & TROD_COL_CODE && has & TROD_COL_SIZE && b->code[row].len &&
        b->size[row] && (b->size[row] != b->code[row].len || b->size[row] > DRM_CODE_MAX))
        lost |= trod_loss_columns(e->loss, b, row, TROD_COL_SIZE, "the opcode has another one");
    return lost;
}

void drm_keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    const uint32_t place = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM |
                           TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SUB;

    (void)opt;
    k->columns[TROD_READ] &= ~(uint32_t)(TROD_COL_VALUE | TROD_COL_DATA);
    k->columns[TROD_WRITE] &= ~(uint32_t)(TROD_COL_VALUE | TROD_COL_DATA);
    if (!meta->format || strcmp(meta->format, "drmemtrace") == 0)
        return;
    /* times stand in markers only: rows have none of their own */
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        k->columns[i] = place;
        k->flags[i] = 0;
    }
    k->lost |= TROD_COL_TIME;
    k->columns[TROD_INSTR] |= TROD_COL_CODE | TROD_COL_TARGET;
    k->flags[TROD_INSTR] = TROD_F_BRANCH;
    k->flags[TROD_PREFETCH] = k->flags[TROD_FLUSH] = k->flags[TROD_BUS] = TROD_F_IFETCH;
}
