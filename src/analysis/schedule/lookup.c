/*
 * lookup.c - finds the thread and the core that a row belongs to (schedule.h).
 */
#include "analysis/schedule/schedule.h"

#include "core/grow.h"
#include "trod/drmemtrace.h"
#include "trod/format.h"

#include <stdlib.h>
#include <string.h>

enum { SEARCHED = 4096, MOST_CORES = 4096 };

bool sch_sharded(const struct trod_meta *m)
{
    return m->driver && (m->driver->flags & TROD_FMT_MARKERS) &&
           (m->filetype & TROD_DRM_CORE_SHARDED);
}

/*
 * The existing thread for STREAM: where files are scheduled the one of its file, where files are
 * cores the one of its thread number.
 */
static uint32_t find_thread(const struct sch_state *s, const struct trod_meta *m,
                            const struct trod_stream *of)
{
    const size_t n = s->n_threads < SEARCHED ? s->n_threads : SEARCHED;

    for (size_t i = 0; of && i < n; i++)
        if (s->placed ? s->thread[i].letter == of->file
                      : sch_sharded(m) && s->thread[i].tid == of->tid)
            return (uint32_t)i;
    return SCH_NONE;
}

/* What the I-th thread is called by: in the words of another tool, the letter of its input. */
static uint32_t letter_of(const struct sch_state *s, const struct trod_meta *m,
                          const struct trod_stream *of, uint32_t i)
{
    if (s->opt->like == SCH_LIKE_SCHEDULE_STATS && !s->placed && sch_sharded(m) && of)
        return (uint32_t)(of->tid % SCH_LETTERS);
    if (s->opt->like == SCH_LIKE_NONE && !s->placed && sch_sharded(m))
        return i;
    return of && (s->placed || m->n_files > 1) ? of->file : i;
}

static uint32_t new_thread(struct sch_state *s, const struct trod_meta *m, uint32_t stream)
{
    const struct trod_stream *of = stream < m->n_streams ? &m->streams[stream] : NULL;
    uint32_t i = find_thread(s, m, of);

    if (i != SCH_NONE)
        return i;
    if (!trod_grow(&s->thread, s->n_threads, &s->cap_threads, sizeof *s->thread, 16))
        return SCH_NONE;
    i = (uint32_t)s->n_threads++;
    s->thread[i] = (struct sch_thread){
        .tid = of && of->tid != TROD_NOWHERE ? of->tid : stream,
        .letter = letter_of(s, m, of, i),
        .direct = TROD_NOWHERE,
        .core = SCH_NONE,
        .ran = SCH_NONE,
        .call = -1,
    };
    return i;
}

/* The thread of STREAM; NULL: no memory. */
struct sch_thread *sch_thread_of(struct sch_state *s, const struct trod_meta *m, uint32_t stream)
{
    if (stream >= s->n_streams) {
        const size_t n = stream < 8 ? 16 : 2 * (size_t)stream;
        uint32_t *by = realloc(s->by_stream, n * sizeof *by);

        if (!by)
            return NULL;
        memset(by + s->n_streams, 0, (n - s->n_streams) * sizeof *by);
        s->by_stream = by;
        s->n_streams = n;
    }
    if (!s->by_stream[stream]) {
        const uint32_t i = new_thread(s, m, stream);

        if (i == SCH_NONE)
            return NULL;
        s->by_stream[stream] = i + 1;
    }
    return &s->thread[s->by_stream[stream] - 1];
}

/* The core called NUMBER; NULL: no memory. Beyond MOST_CORES they share the last. */
struct sch_core *sch_core_of(struct sch_state *s, uint64_t number)
{
    if (number < s->n_cores && s->core[number].number == number)
        return &s->core[number];
    for (size_t i = 0; i < s->n_cores; i++)
        if (s->core[i].number == number)
            return &s->core[i];
    if (s->n_cores == MOST_CORES)
        return &s->core[MOST_CORES - 1];
    if (!trod_grow(&s->core, s->n_cores, &s->cap_cores, sizeof *s->core, 8))
        return NULL;
    s->core[s->n_cores] =
        (struct sch_core){.number = number, .thread = SCH_NONE, .stream = SCH_NONE};
    return &s->core[s->n_cores++];
}

/* The core that a row of T is on. */
struct sch_core *sch_core_at(struct sch_state *s, const struct trod_batch *b, uint32_t row,
                             const struct sch_thread *t)
{
    const struct trod_meta *m = b->meta;
    const uint32_t stream = trod_batch_stream(b, row);
    const struct trod_stream *of = stream < m->n_streams ? &m->streams[stream] : NULL;

    if (b->have & b->has[row] & TROD_COL_CORE)
        return sch_core_of(s, b->core[row]);
    if (sch_sharded(m))
        return sch_core_of(s, of ? of->file : 0);
    if (s->marked)
        return t->core != SCH_NONE ? &s->core[t->core] : sch_core_of(s, SCH_UNKNOWN);
    return sch_core_of(s, of && of->tid == TROD_NOWHERE ? stream : 0);
}
