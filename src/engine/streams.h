/*
 * streams.h - streams and units of time of one trace in another one, and streams as bytes: traces
 * number their own.
 */
#ifndef TROD_ENGINE_STREAMS_H
#define TROD_ENGINE_STREAMS_H

#include "trod/batch.h"
#include "trod/buf.h"
#include "trod/meta.h"

/* trod_stream_run (stream_run.h), as this processor does it best. */
uint32_t engine_stream_run(const struct trod_batch *b, uint32_t from, uint32_t to);

/* The stream of TO, made if new, that is stream NUMBER of FROM. Below 0: an error. */
int engine_stream_same(struct trod_meta *to, const struct trod_meta *from, uint32_t number);
/* The same for keys (trod_stream_key): rows that say no stream are nobody else's in TO either. */
int engine_stream_same_key(struct trod_meta *to, const struct trod_meta *from, uint32_t key);

/* Is there room in WHOLE for the units of time that FROM has and WHOLE lacks? */
bool engine_units_fit(const struct trod_meta *whole, const struct trod_meta *from);

/*
 * The stream of KEY (trod_stream_key) in M as bytes: 1, its thread, process, file, cpu and name; 2
 * and its number where M says nothing of it; 0 for rows that say no stream. 0 or TROD_ERR_NOMEM.
 */
int engine_stream_save(struct trod_buf *out, const struct trod_meta *m, uint32_t key);
/* The key of the stream of IN in M, where it is made if new. Below 0: an error. */
int engine_stream_load(struct trod_meta *m, struct trod_span *in);

#endif
