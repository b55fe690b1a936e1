/* types.c - the list of predictors, and parsing of their names and parameters. */
#include "sim/branch/types.h"

#include "trod/option.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct trod_bp_type *const types[] = {
    &trod_bp_taken,      &trod_bp_btfn, &trod_bp_bimodal, &trod_bp_gshare, &trod_bp_local,
    &trod_bp_perceptron, &trod_bp_tage, &trod_bp_btb,     &trod_bp_ras,    &trod_bp_ittage};

enum { TYPES = sizeof types / sizeof *types };

static const struct trod_bp_type *find(const char *name, size_t n)
{
    for (size_t i = 0; i < TYPES; i++)
        if (strlen(types[i]->name) == n && memcmp(types[i]->name, name, n) == 0)
            return types[i];
    return NULL;
}

static int no_predictor(const char *name, size_t n, struct trod_diag *diag)
{
    const char *names[TYPES], *near;

    for (size_t i = 0; i < TYPES; i++)
        names[i] = types[i]->name;
    near = trod_suggest(name, n, names, TYPES);
    return trod_error(diag, TROD_ERR_USAGE, "branches.predictor", NULL,
                      "no predictor is called '%.*s'%s%s%s", (int)n, name,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* "key=value" (N bytes at TEXT) for C. */
static int set(struct trod_bp_choice *c, const char *text, size_t n, struct trod_diag *diag)
{
    const char *sign = memchr(text, '=', n);
    const size_t key = (size_t)(sign - text), rest = n - key - 1;
    const struct trod_bp_param *p;
    char number[32];
    uint64_t v;

    for (size_t i = 0; i < TROD_BP_PARAMS && (p = &c->type->param[i])->name; i++) {
        if (strlen(p->name) != key || memcmp(p->name, text, key) != 0)
            continue;
        memcpy(number, sign + 1, rest < sizeof number ? rest : 0);
        number[rest < sizeof number ? rest : 0] = '\0';
        if (trod_option_number(number, &v) == 0 && v >= p->least && v <= p->most) {
            c->value[i] = v;
            return TROD_OK;
        }
        return trod_error(diag, TROD_ERR_USAGE, "branches.parameter", NULL,
                          "'%.*s' of predictor '%s' is no number from %" PRIu64 " to %" PRIu64,
                          (int)n, text, c->type->name, p->least, p->most);
    }
    return trod_error(diag, TROD_ERR_USAGE, "branches.parameter", NULL,
                      "predictor '%s' has no parameter '%.*s'", c->type->name, (int)key, text);
}

/* What C is called: its type, and its parameters. */
static void name_it(struct trod_bp_choice *c)
{
    int at = snprintf(c->name, sizeof c->name, "%s", c->type->name);

    for (size_t i = 0; i < TROD_BP_PARAMS && c->type->param[i].name; i++)
        if (at > 0 && (size_t)at < sizeof c->name)
            at += snprintf(c->name + at, sizeof c->name - (size_t)at, ":%s=%" PRIu64,
                           c->type->param[i].name, c->value[i]);
}

int trod_bp_choose(struct trod_bp_choice *out, const char *spec, struct trod_diag *diag)
{
    int n = 0;

    for (size_t len; *spec; spec += len + (spec[len] != '\0')) {
        len = strcspn(spec, ",:+");
        if (memchr(spec, '=', len)) {
            if (n == 0)
                return no_predictor(spec, len, diag);
            if (set(&out[n - 1], spec, len, diag) < 0)
                return TROD_ERR_USAGE;
            continue;
        }
        if (n == TROD_BP_MOST)
            return trod_error(diag, TROD_ERR_USAGE, "branches.predictors", NULL,
                              "more than %d predictors", TROD_BP_MOST);
        out[n] = (struct trod_bp_choice){.type = find(spec, len)};
        if (!out[n].type)
            return no_predictor(spec, len, diag);
        for (size_t i = 0; i < TROD_BP_PARAMS; i++)
            out[n].value[i] = out[n].type->param[i].value;
        n++;
    }
    for (int i = 0; i < n; i++)
        name_it(&out[i]);
    return n;
}
