/*
 * control.c - which instructions of a program are recorded: places, counts, windows.
 *
 * Implements the rec_control functions of record.h and docs/recording.md, "What part is recorded".
 * A place is an address or the name of a function, of the program or, if that has none such and is
 * dynamically linked, of a library (places.c). Where the program is loaded
 * elsewhere than it was linked for (PIE), the plugin tells where that is.
 */
#include "record/record.h"

#include "trod/symbols.h"

#include <stdlib.h>
#include <string.h>

/* WHERE as an address, or as a symbol of the program. */
static int resolve(struct rec_place *to, const char *where, const struct trod_record_target *info,
                   struct trod_symbols **symbols, struct trod_diag *diag)
{
    const char *program = info->program;
    char *end;
    int rc;

    if (!where)
        return TROD_OK;
    to->given = true;
    if (where[0] == '0' && (where[1] | 0x20) == 'x') {
        to->address = strtoull(where, &end, 16);
        if (*end || !where[2])
            return trod_error(diag, TROD_ERR_USAGE, "record.place", NULL,
                              "'%s' is no address: give 0x and hexadecimal digits, or a symbol",
                              where);
        return TROD_OK;
    }
    if (!*symbols) {
        if ((rc = trod_symbols_new(symbols)) < 0 ||
            (rc = trod_symbols_add(*symbols, program, diag)) < 0)
            return rc;
    }
    to->linked = true;
    if (trod_symbols_named(*symbols, where, &to->address, 1) == 0) {
        to->sought = where;
        if (info->dynamic)
            return TROD_OK;
        return trod_error(diag, TROD_ERR_USAGE, "record.place", NULL,
                          "'%s' has no symbol '%s': give an address as 0x...", program, where);
    }
    to->address &= to->mask;
    return TROD_OK;
}

static int list_threads(struct rec_control *c, const struct trod_list *list, struct trod_diag *diag)
{
    for (size_t i = 0; i < list->n; i++) {
        char *end;
        const unsigned long n = strtoul(list->item[i], &end, 10);

        if (*end || end == list->item[i] || n >= 8 * sizeof c->threads)
            return trod_error(diag, TROD_ERR_USAGE, "record.threads", NULL,
                              "'%s' is no number of a thread (0 to %zu, in the order in which they "
                              "begin)",
                              list->item[i], 8 * sizeof c->threads - 1);
        c->threads[n / 8] |= (uint8_t)(1u << n % 8);
    }
    c->all_threads = list->n == 0;
    return TROD_OK;
}

int rec_control_of(struct rec_control *c, const struct trod_record_options *opt,
                   const struct rec_target *t, const struct trod_record_target *info,
                   struct trod_diag *diag)
{
    struct trod_symbols *symbols = NULL;
    int rc;

    memset(c, 0, sizeof *c);
    c->skip = opt->skip;
    c->take = opt->take ? opt->take : UINT64_MAX;
    c->no_children = opt->no_children;
    /* the lowest bit of a symbol of ARM says which instruction set it is in */
    c->start.mask = c->stop.mask = t->isa == TROD_ISA_ARM ? ~UINT64_C(1) : UINT64_MAX;
    rc = resolve(&c->start, opt->start, info, &symbols, diag);
    if (rc == TROD_OK)
        rc = resolve(&c->stop, opt->stop, info, &symbols, diag);
    if (rc == TROD_OK)
        rc = list_threads(c, &opt->threads, diag);
    trod_symbols_free(symbols);
    c->windows = opt->windows ? opt->windows : c->start.given ? UINT64_MAX : 1;
    c->linked = info->code;
    c->limited = c->start.given || c->stop.given || c->skip || opt->take;
    c->phase = !c->limited ? REC_RECORDING : c->start.given ? REC_WAITING : REC_SKIPPING;
    return rc;
}

bool rec_place_is(const struct rec_place *p, uint64_t pc, uint64_t slide)
{
    return p->given && !p->sought && pc == p->address + (p->linked ? slide : 0);
}

bool rec_control_wants(struct rec_control *c, bool at_start, bool at_stop)
{
    if (c->phase == REC_RECORDING && (at_stop || c->count >= c->take)) {
        c->done++;
        c->count = 0;
        c->phase = c->done >= c->windows ? REC_OVER : c->start.given ? REC_WAITING : REC_SKIPPING;
    }
    if (c->phase == REC_WAITING && at_start)
        c->phase = REC_SKIPPING;
    if (c->phase == REC_SKIPPING && c->count >= c->skip) {
        c->phase = REC_RECORDING;
        c->count = 0;
    }
    c->count += c->phase == REC_RECORDING || c->phase == REC_SKIPPING;
    return c->phase == REC_RECORDING;
}
