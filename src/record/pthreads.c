/*
 * pthreads.c - records of thread synchronization (Amber, "-p"): the functions whose calls they are.
 *
 * Implements the rec_pthreads functions of record.h. C libraries have several names for the same
 * function.
 */
#include "record/record.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

int rec_pthreads_want(struct rec_places *places, struct rec_shared *shared,
                      const struct trod_record_options *opt,
                      const struct trod_record_target *program, struct trod_diag *diag)
{
    static const char *const before[] = {"", "__", "___"};
    static const struct {
        const char *name;
        uint32_t code;
    } known[] = {
        {"pthread_mutex_unlock", REC_SIGNAL},      {"pthread_cond_signal", REC_SIGNAL},
        {"pthread_cond_broadcast", REC_BROADCAST}, {"pthread_mutex_lock", REC_WAIT},
        {"pthread_mutex_trylock", REC_TRY_WAIT},   {"pthread_cond_wait", REC_WAIT},
    };
    char name[64];

    if (!rec_amber(trod_format_find(opt->to, strcspn(opt->to, ":"))))
        return trod_error(diag, TROD_ERR_USAGE, "record.pthreads", NULL,
                          "records of thread synchronization are for tt6 and tt6e");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (size_t k = 0; k < sizeof before / sizeof *before; k++) {
            snprintf(name, sizeof name, "%s%s", before[k], known[i].name);
            rec_places_want(places, name, known[i].code);
        }
    }
    shared->pthreads = 1;
    shared->placed = 1;
    if (program->dynamic || rec_places_has(places, program->program))
        return TROD_OK;
    return trod_error(diag, TROD_ERR_UNSUPPORTED, "record.pthreads", NULL,
                      "'%s' has no pthread functions: for records of thread synchronization a "
                      "statically linked program must have symbols",
                      program->program);
}

void rec_pthreads_missing(const struct rec_shared *shared, const char *program,
                          struct trod_diag *diag)
{
    if (!rec_places_found(shared, REC_SIGNAL, REC_TRY_WAIT))
        trod_error(diag, TROD_ERR_LOSS, "record.pthreads", NULL,
                   "neither '%s' nor a library that it loaded has pthread functions: the trace has "
                   "no records of thread synchronization",
                   program);
}
