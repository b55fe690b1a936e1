/*
 * banks.c - names of registers with the bank that they end with.
 *
 * Implements banks.h. The banks are those of Arm's exception levels and modes, of its security
 * states, and of the stack pointers of its M profile.
 */
#include "trace/banks.h"

#include "core/suffix.h"

size_t trod_name_without_bank(const char *name, size_t len)
{
    static const char *const banks[] = {"_el0", "_el1", "_el2", "_el3",  "_usr",    "_svc",
                                        "_abt", "_und", "_irq", "_fiq",  "_mon",    "_hyp",
                                        "_sys", "_s",   "_ns",  "_main", "_process"};

    for (size_t i = 0; i < sizeof banks / sizeof *banks; i++)
        if (trod_ends_with(name, len, banks[i]))
            return len - strlen(banks[i]);
    return len;
}
