/*
 * unplaced.h - position-independent files of symbols that were given no address: did anything run
 * at those that they have by themselves?
 */
#ifndef TROD_ENGINE_UNPLACED_H
#define TROD_ENGINE_UNPLACED_H

#include "engine/sites.h"
#include "trod/batch.h"
#include "trod/symbols.h"
#include "trod/trace.h"

struct engine_unplaced;

/* The files of SYMBOLS, which may be NULL, that are so; *OUT is NULL where none is. 0 or
 * TROD_ERR_NOMEM. */
int engine_unplaced_new(struct engine_unplaced **out, const struct trod_symbols *symbols);
void engine_unplaced_free(struct engine_unplaced *u);
/* The rows of B ran. Callable from any thread; U may be NULL. */
void engine_unplaced_rows(struct engine_unplaced *u, const struct trod_batch *b);
/*
 * T has been read. Warn of each file in which nothing ran, with the address that the list of
 * modules beside T has, and where nobody said what instruction set the opcodes of SITES are of. U
 * and SITES may be NULL.
 */
void engine_code_tell(struct engine_unplaced *u, const struct trod_sites *sites,
                      const struct trod_trace *t, struct trod_diag *diag);

#endif
