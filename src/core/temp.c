/*
 * temp.c - implements temp.h.
 */
#include "core/temp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int trod_temp_open(void)
{
    const char *dir = getenv("TMPDIR");
    char path[4096];
    int fd;

    if (!dir || !*dir || strlen(dir) > sizeof path - 32)
        dir = "/tmp";
    snprintf(path, sizeof path, "%s/trod-XXXXXX", dir);
    fd = mkstemp(path);
    if (fd >= 0)
        unlink(path);
    return fd;
}
