/*
 * absent.c - the browser where trod is built without ncursesw. Implements browse.h.
 */
#include "browse/browse.h"

bool browse_there(void)
{
    return false;
}

int browse_run(const struct browse_setup *s, struct trod_diag *diag)
{
    (void)s;
    return trod_error(diag, TROD_ERR_UNSUPPORTED, "browse.absent", NULL,
                      "this trod is built without ncursesw, which the browser needs; 'trod view' "
                      "and 'trod state' show the same");
}
