/*
 * jump.c - rows shown from a place on. Implements jump.h.
 */
#include "jump.h"

#include <string.h>

#define AT(field) offsetof(struct cli_jump, field)

const struct trod_option cli_jump_options[] = {
    {"at", 0, TROD_OPT_STR, AT(at), "PLACE",
     "from this place on: a row, line:N, time:T, insn:N, kind:NAME:K, marker:NAME:K, N%, start, "
     "end, ADDRESS:K or "
     "SYMBOL:K "
     "(its "
     "Kth execution)",
     NULL, NULL},
    CLI_INDEX_OPTIONS,
    {.type = TROD_OPT_END},
};

/* Where rows that FILTER chooses begin, and end. */
static int limits(struct cli_nav *n, const struct trod_match_options *filter, uint64_t *from,
                  uint64_t *end)
{
    uint64_t row;
    int r = 1;

    *from = filter->range.set ? filter->range.lo : 0;
    if (filter->time.set) {
        r = trod_nav_time(n->nav, filter->time.lo, &row);
        if (r == 0)
            r = trod_nav_count(n->nav, &row) < 0 ? TROD_ERR_IO : 1;
        if (r > 0 && row > *from)
            *from = row;
        *end = trod_nav_time_end(n->nav, filter->time.hi);
    }
    return r < 0 ? r : 0;
}

int cli_jump(struct cli *c, const struct cli_input *in, const struct cli_jump *j,
             struct trod_match_options *filter, struct trod_trace **out, uint64_t *end,
             struct trod_diag *diag)
{
    const struct cli_nav_options o = {.symbols = filter->symbols,
                                      .index = j->index,
                                      .no_index = j->no_index,
                                      .index_only = !j->at};
    bool piped = false;
    struct cli_nav n;
    uint64_t from;
    int r;

    *out = NULL;
    *end = UINT64_MAX;
    for (size_t i = 0; i < c->n_operands; i++)
        piped |= strcmp(c->operands[i], "-") == 0;
    if (!j->at && (piped || j->no_index || in->order != TROD_ORDER_FILE ||
                   !((filter->range.set && filter->range.lo) || filter->time.set)))
        return 0;
    if (j->at && filter->range.set)
        return trod_error(diag, TROD_ERR_USAGE, "args.at", NULL,
                          "options '--at' and '--range' cannot be used together");
    r = cli_nav_open(&n, c, in, &o, c->operands, c->n_operands);
    if (r == 0 && j->at) {
        filter->range = (struct trod_range){.set = true, .hi = UINT64_MAX};
        r = trod_nav_place(n.nav, j->at, &filter->range.lo);
        r = r == 0 ? TROD_ERR_USAGE : r < 0 ? r : 0;
    }
    if (r == 0 && trod_nav_index(n.nav)) {
        r = limits(&n, filter, &from, end);
        if (r == 0)
            r = trod_nav_trace(n.nav, from, TROD_COL_ALL, diag, out, &from);
    }
    cli_nav_close(&n, r == TROD_ERR_UNKNOWN ? 0 : r, 0);
    return r == TROD_ERR_UNKNOWN && !j->at ? 0 : r;
}
