/*
 * rules.c - the table of rules, from rules.def.
 *
 * Implements the rule functions of check.h.
 */
#include "check/check_int.h"

#include <string.h>

static const struct trod_rule rules[] = {
#define RULE(name, id, severity, families, text, source)                                           \
    {id, TROD_RULE_##severity, families, text, source},
#include "check/rules.def"
#undef RULE
};

const struct trod_rule *trod_rule_at(size_t i)
{
    return i < CHK_RULES ? &rules[i] : NULL;
}

const struct trod_rule *trod_rule_find(const char *id, size_t len)
{
    for (size_t i = 0; i < CHK_RULES; i++)
        if (strlen(rules[i].id) == len && memcmp(rules[i].id, id, len) == 0)
            return &rules[i];
    return NULL;
}

const char *trod_rule_severity_name(unsigned severity)
{
    static const char *const names[] = {"note", "warning", "error"};

    return severity < 3 ? names[severity] : NULL;
}

unsigned trod_rule_family(const char *format)
{
    static const struct {
        const char *format;
        unsigned family;
    } families[] = {
        {"drmemtrace", TROD_RULE_DRMEMTRACE},
        {"tarmac", TROD_RULE_TARMAC},
        {"matcher", TROD_RULE_MATCHER},
        {"tt6", TROD_RULE_TT6},
        {"tt6e", TROD_RULE_TT6},
        {"full", TROD_RULE_FULL},
        {"byu6", TROD_RULE_BYU6},
        {"byu12", TROD_RULE_BYU12},
    };

    for (size_t i = 0; format && i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].format, format) == 0)
            return families[i].family;
    return 0;
}
