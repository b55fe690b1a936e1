/*
 * fault.h - a problem on its way from the thread that met it to the one that reports it.
 *
 * A diag belongs to one thread (core/diag.c), the stages of an input and the encoder of an output
 * often run on another. They keep the first thing that went wrong here.
 */
#ifndef TROD_IO_FAULT_H
#define TROD_IO_FAULT_H

#include "trod/diag.h"

struct trod_fault {
    int status;       /* TROD_OK: nothing happened */
    const char *kind; /* static, "io.truncated" and the like */
    const char
        *verb; /* static: what could not be done to the file, TEXT being the reason; or NULL */
    char text[200];
    bool quiet; /* it is not reported */
};

/* Keep the problem unless there is one already. Returns STATUS. */
int trod_fault_set(struct trod_fault *f, int status, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* TROD_ERR_NOMEM in WHAT. */
int trod_fault_nomem(struct trod_fault *f, const char *what);

/* The operating system's error ERRNUM; VERB, static, says in what: "cannot read". */
int trod_fault_errno(struct trod_fault *f, const char *verb, int errnum);

/* The one who reads wants no more (trod_inputs_interrupt): TROD_ERR_IO, which is not reported. */
int trod_fault_interrupted(struct trod_fault *f);

/* Hand F to DIAG as a problem of PATH; OFFSET may be TROD_NOWHERE. Returns its status. */
int trod_fault_report(const struct trod_fault *f, struct trod_diag *diag, const char *path,
                      uint64_t offset);

#endif
