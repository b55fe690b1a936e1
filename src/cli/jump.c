/*
 * jump.c - rows shown from a place on. Implements jump.h.
 */
#include "jump.h"

#define AT(field) offsetof(struct cli_jump, field)

const struct trod_option cli_jump_options[] = {
    {"at", 0, TROD_OPT_STR, AT(at), "PLACE",
     "from this place on: a row, line:N, time:T, insn:N, kind:NAME:K, marker:NAME:K, N%, start, "
     "end, ADDRESS:K or "
     "SYMBOL:K "
     "(its "
     "Kth execution)",
     NULL, NULL},
    {.type = TROD_OPT_FUNC, .offset = AT(index), .more = cli_index_options},
    {.type = TROD_OPT_END},
};

int cli_jump(struct cli *c, const struct cli_input *in, const struct cli_jump *j,
             struct trod_match_options *filter, struct cli_nav *n, struct trod_diag *diag)
{
    const struct cli_nav_options o = {.symbols = filter->symbols, .index = j->index};
    int r;

    if (!j->at)
        return 0;
    if (filter->range.set)
        return trod_error(diag, TROD_ERR_USAGE, "args.at", NULL,
                          "options '--at' and '--range' cannot be used together");
    r = cli_nav_open(n, c, in, &o, c->operands, c->n_operands);
    if (r < 0)
        return r;
    filter->range = (struct trod_range){.set = true, .hi = UINT64_MAX};
    r = trod_nav_place(n->nav, j->at, &filter->range.lo);
    return r == 0 ? TROD_ERR_USAGE : r < 0 ? r : 0;
}
