/*
 * names.c - where the names of functions come from when nobody says it: the list of modules beside
 * a trace.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

static char *copy(const char *s)
{
    char *p = malloc(strlen(s) + 1);

    return p ? strcpy(p, s) : NULL;
}

/* The list in the directory that is a trace. */
static char *of_directory(const char *path)
{
    struct trod_diag quiet = {0};
    struct trod_files files = {0};
    const struct trod_format *format;
    char *found = NULL;

    if (trod_resolve(path, &format, &files, &quiet) == 1)
        for (size_t i = 0; !found && i < files.n; i++)
            if (files.file[i].role == TROD_ROLE_MODULES)
                found = copy(files.file[i].path);
    trod_files_fini(&files);
    return found;
}

/* The list in the folder of a trace that is a file. */
static char *of_file(const char *path)
{
    static const char name[] = "modules.log";
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash + 1 - path) : 0;
    char *p = malloc(n + sizeof name);
    struct stat st;

    if (!p)
        return NULL;
    memcpy(p, path, n);
    memcpy(p + n, name, sizeof name);
    if (stat(p, &st) == 0 && S_ISREG(st.st_mode))
        return p;
    free(p);
    return NULL;
}

char *cli_modules_of(const char *path, const struct cli_input *in)
{
    struct stat st;

    if (in->modules)
        return copy(in->modules);
    if (stat(path, &st) != 0)
        return NULL;
    return S_ISDIR(st.st_mode) ? of_directory(path) : of_file(path);
}

char *cli_modules(const struct cli *c, const struct cli_input *in)
{
    if (c->n_operands == 1)
        return cli_modules_of(c->operands[0], in);
    return in->modules ? copy(in->modules) : NULL;
}

int cli_match_named(struct trod_match **out, const struct cli *c, const struct cli_input *in,
                    const struct trod_match_options *filter, struct trod_diag *diag)
{
    struct trod_match_options own = *filter;
    char *modules = filter->symbols.n ? NULL : cli_modules(c, in);
    int r;

    own.modules = modules;
    r = trod_match_new(out, &own, diag);
    free(modules);
    return r;
}
