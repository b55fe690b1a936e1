/*
 * rows_names.c - texts of whole machines that are in the log once: modes, their registers, events.
 *
 * Implements the functions of rows.h that say so.
 */
#include "record/rows.h"

#include "trod/detail.h"

#include <stdio.h>
#include <stdlib.h>

/* The name of the mode that REC_MODE_BITS say. Returns its length. */
static size_t name_of(uint32_t mode, char name[8])
{
    static const char *const a32[16] = {"usr", "fiq", "irq", "svc", "0", "0", "mon", "abt",
                                        "0",   "0",   "hyp", "und", "0", "0", "0",   "sys"};

    if (mode & 0x10)
        return (size_t)snprintf(name, 8, "%s", a32[mode & 15]);
    return (size_t)snprintf(name, 8, "EL%u%c", (unsigned)(mode >> 2 & 3), mode & 1 ? 'h' : 't');
}

struct trod_slice rec_rows_once(struct rec_rows *r, struct trod_slice *known, const void *p,
                                size_t len)
{
    const uint32_t at = known->len ? 0 : rec_rows_keep(r->shared, p, len);

    if (at)
        *known = (struct trod_slice){at | (uint32_t)TROD_SLICE_SHARED, (uint32_t)len};
    return *known;
}

static struct trod_slice mode_name(struct rec_rows *r, uint32_t mode)
{
    struct trod_slice text = {0};
    char name[8];

    return rec_rows_once(r, &text, name, name_of(mode, name));
}

struct trod_slice rec_rows_mode(struct rec_rows *r, uint32_t mode)
{
    struct trod_slice *known = &r->names->modes[mode];
    struct trod_detail_instr detail = {0};

    if (known->len)
        return *known;
    detail.mode = mode_name(r, mode);
    return rec_rows_once(r, known, &detail, sizeof detail);
}

struct trod_slice rec_rows_change(struct rec_rows *r, uint32_t mode)
{
    struct trod_slice *known = &r->names->changes[mode];
    struct trod_detail_event detail = {.what = TROD_EVENT_MODE};

    if (known->len)
        return *known;
    detail.mode = mode_name(r, mode);
    return rec_rows_once(r, known, &detail, sizeof detail);
}

bool rec_rows_named(struct rec_rows *r)
{
    return r->names || (r->names = calloc(1, sizeof *r->names));
}

/* A32: r13 and r14 are those of the mode, in FIQ r8 to r12 too. */
static bool is_banked(uint32_t mode, unsigned number)
{
    if (number < REC_BANKED || number >= REC_BANKED_END)
        return false;
    return number >= 13 || (mode & 15) == 1;
}

struct trod_slice rec_rows_register_name(struct rec_rows *r, const struct rec_stream *st,
                                         unsigned number)
{
    const uint32_t mode = st->mode - 1, level = mode & 1 ? mode >> 2 & 3 : 0;
    char name[16], bank[8];

    if (st->mode == 0 || !rec_rows_named(r))
        return rec_register_name(r->shared, number);
    if (r->set == REC_A64 && number == REC_A64_SP)
        return rec_rows_once(r, &r->names->stacks[level], name,
                             (size_t)snprintf(name, sizeof name, "SP_EL%u", (unsigned)level));
    if (r->set != REC_ARM || !is_banked(mode, number))
        return rec_register_name(r->shared, number);
    name_of((mode & 15) == 15 ? 0x10 : mode, bank); /* sys: those of usr */
    return rec_rows_once(r, &r->names->banked[mode & 15][number - REC_BANKED], name,
                         (size_t)snprintf(name, sizeof name, "r%u_%s", number, bank));
}
