/*
 * members.c - units that read some members of an archive, which may be damaged.
 */
#include "engine/run_int.h"

bool run_damaged(const struct trod_run *r, const struct run_unit *u, const struct run_piece *piece)
{
    return piece->cut == RUN_MEMBERS && r->opt.parts < 2 && u->keeper.diag.errors &&
           u->rc != TROD_ERR_NOMEM && !run_asked_to_stop(r);
}
