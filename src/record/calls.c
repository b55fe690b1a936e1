/*
 * calls.c - which system calls are recorded with their arguments and results.
 *
 * Implements rec_calls_of() of record.h. Numbers and names are those of the program's instruction
 * set.
 */
#include "record/record.h"

#include "trod/syscalls.h"

#include <stdlib.h>
#include <string.h>

/* The number of the system call NAME of N bytes; REC_CALLS: there is none. */
static unsigned number_of(enum trod_isa isa, const char *name, size_t n)
{
    char *end;
    const unsigned long number = strtoul(name, &end, 0);

    if (n > 0 && end == name + n)
        return number < REC_CALLS ? (unsigned)number : REC_CALLS;
    for (unsigned i = 0; i < REC_CALLS; i++) {
        const char *known = trod_syscall_name(isa, i);

        if (known && strlen(known) == n && memcmp(known, name, n) == 0)
            return i;
    }
    return REC_CALLS;
}

int rec_calls_of(struct rec_calls *c, const struct trod_list *list, const struct rec_target *t,
                 struct trod_diag *diag)
{
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < list->n; i++) {
        const char *item = list->item[i];
        const size_t n = strcspn(item, ":");
        char *end = (char *)(uintptr_t)(item + n);
        unsigned long args = REC_CALL_ARGS;
        unsigned number;

        if (item[n] == ':' && item[n + 1] >= '0' && item[n + 1] <= '9')
            args = strtoul(item + n + 1, &end, 10);
        if (*end || args > REC_CALL_ARGS)
            return trod_error(diag, TROD_ERR_USAGE, "record.syscalls", NULL,
                              "'%s': after the colon comes how many arguments are recorded, 0 to "
                              "%d",
                              item, REC_CALL_ARGS);
        c->any = true;
        if (n == 3 && memcmp(item, "all", 3) == 0) {
            memset(c->args, 1 + (int)args, sizeof c->args);
            continue;
        }
        number = number_of(t->isa, item, n);
        if (number == REC_CALLS)
            return trod_error(
                diag, TROD_ERR_USAGE, "record.syscalls", NULL,
                "'%.*s' is no system call of %s programs: give a name, a number below "
                "%d, or all",
                (int)n, item, t->isa_name, REC_CALLS);
        c->args[number] = (uint8_t)(1 + args);
    }
    return TROD_OK;
}
