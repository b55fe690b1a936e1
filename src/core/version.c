/*
 * version.c - the version of the library, as CMakeLists.txt states it.
 */
#include "trod/trod.h"
#include "trod_config.h"

const char *trod_version(void)
{
    return TROD_VERSION;
}
