/*
 * unplaced.h - warning of position-independent symbol files that were given no load address, if no
 * instruction ran at the addresses in the file.
 */
#ifndef TROD_ENGINE_UNPLACED_H
#define TROD_ENGINE_UNPLACED_H

#include "engine/sites.h"
#include "trod/batch.h"
#include "trod/symbols.h"
#include "trod/trace.h"

struct engine_unplaced;

/* Watch those files of SYMBOLS (may be NULL); *OUT is NULL if there are none. 0 or TROD_ERR_NOMEM.
 */
int engine_unplaced_new(struct engine_unplaced **out, const struct trod_symbols *symbols);
void engine_unplaced_free(struct engine_unplaced *u);
/* Note the instructions in B. May be called from any thread; U may be NULL. */
void engine_unplaced_rows(struct engine_unplaced *u, const struct trod_batch *b);
/*
 * T has been read. Warn of each file in which no instruction ran, with its address in the list of
 * modules beside T; and warn if SITES have opcodes of an unknown instruction set. U and SITES may
 * be NULL.
 */
void engine_code_tell(struct engine_unplaced *u, const struct trod_sites *sites,
                      const struct trod_trace *t, struct trod_diag *diag);

#endif
