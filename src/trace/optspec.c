/*
 * optspec.c - parsing of "name[:option=value,...]".
 */
#include "trace/optspec.h"

#include <stdlib.h>
#include <string.h>

int trod_optspec_default(struct trod_optspec *s, const struct trod_format *format)
{
    *s = (struct trod_optspec){.format = format};
    if (format->options_size == 0)
        return TROD_OK;
    s->options = calloc(1, format->options_size);
    if (!s->options)
        return TROD_ERR_NOMEM;
    if (format->defaults)
        memcpy(s->options, format->defaults, format->options_size);
    return TROD_OK;
}

static int unknown(const char *name, size_t len, struct trod_diag *diag)
{
    const char *names[64], *near;
    size_t n = 0;

    for (; n < 64 && trod_format_at(n); n++)
        names[n] = trod_format_at(n)->name;
    near = trod_suggest(name, len, names, n);
    return trod_error(diag, TROD_ERR_USAGE, "format.unknown-name", NULL,
                      "unknown format '%.*s'; %s%s%s", (int)len, name,
                      near ? "did you mean '" : "`trod formats` lists them", near ? near : "",
                      near ? "'?" : "");
}

int trod_optspec_init(struct trod_optspec *s, const char *spec, struct trod_diag *diag)
{
    const struct trod_format *format;
    size_t len;
    int rc;

    *s = (struct trod_optspec){0};
    if (!spec)
        return trod_error(diag, TROD_ERR_USAGE, "format.none", NULL, "no format is named");
    len = strcspn(spec, ":");
    format = trod_format_find(spec, len);
    if (!format)
        return unknown(spec, len, diag);
    rc = trod_optspec_default(s, format);
    if (rc < 0 || spec[len] == '\0')
        return rc;
    if (!format->options)
        return trod_error(diag, TROD_ERR_USAGE, "format.no-options", NULL,
                          "format '%s' has no options", format->name);
    s->text = malloc(strlen(spec + len + 1) + 1);
    if (!s->text)
        return TROD_ERR_NOMEM;
    memcpy(s->text, spec + len + 1, strlen(spec + len + 1) + 1);
    return trod_option_spec(format->options, s->options, s->text, diag);
}

void trod_optspec_fini(struct trod_optspec *s)
{
    free(s->options);
    free(s->text);
    *s = (struct trod_optspec){0};
}
