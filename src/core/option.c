/*
 * option.c - option tables: values from text, names found, shared tables laid flat.
 *
 * Implements docs/design.md, rule 6. Help texts are made in option_help.c; the splitting of a
 * command line into options and operands is the command's business.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "trod/buf.h"
#include "trod/option.h"

static const char *const bool_words[] = {"no", "yes", "off", "on", "false", "true", "0", "1"};

static size_t flatten(const struct trod_option *table, size_t base, const char *group,
                      struct trod_option_ref *out, size_t cap, size_t n)
{
    for (; table->type != TROD_OPT_END; table++) {
        if (table->type == TROD_OPT_GROUP) {
            group = table->text;
        } else if (table->type == TROD_OPT_FUNC) {
            n = flatten(table->more, base + table->offset, table->text ? table->text : group, out,
                        cap, n);
        } else if (n < cap) {
            out[n].option = table;
            out[n].offset = base + table->offset;
            out[n].group = group;
            n++;
        }
    }
    return n;
}

size_t trod_option_flatten(const struct trod_option *table, struct trod_option_ref *out, size_t cap)
{
    return table ? flatten(table, 0, NULL, out, cap, 0) : 0;
}

bool trod_option_find(const struct trod_option *table, const char *name, size_t len,
                      struct trod_option_ref *out)
{
    struct trod_option_ref all[TROD_OPTIONS];
    size_t n = trod_option_flatten(table, all, TROD_OPTIONS);

    for (size_t i = 0; i < n; i++) {
        if (strlen(all[i].option->name) == len && memcmp(all[i].option->name, name, len) == 0) {
            *out = all[i];
            return true;
        }
    }
    return false;
}

bool trod_option_letter(const struct trod_option *table, char letter, struct trod_option_ref *out)
{
    struct trod_option_ref all[TROD_OPTIONS];
    size_t n = trod_option_flatten(table, all, TROD_OPTIONS);

    for (size_t i = 0; i < n; i++) {
        if (letter && all[i].option->letter == letter) {
            *out = all[i];
            return true;
        }
    }
    return false;
}

/* Edit distance of A and B with neighbours swapped as one step; both at most 31 long. */
static size_t distance(const char *a, size_t an, const char *b, size_t bn)
{
    size_t row[3][32];

    for (size_t j = 0; j <= bn; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= an; i++) {
        size_t *now = row[i % 3], *up = row[(i - 1) % 3], *up2 = row[(i + 1) % 3];

        now[0] = i;
        for (size_t j = 1; j <= bn; j++) {
            size_t best = up[j - 1] + (a[i - 1] != b[j - 1]);

            if (up[j] + 1 < best)
                best = up[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[an % 3][bn];
}

const char *trod_suggest(const char *name, size_t len, const char *const *list, size_t n)
{
    const char *best = NULL;
    size_t least = SIZE_MAX;

    if (len == 0 || len > 31)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t m = strlen(list[i]), d;

        if (m > 31)
            continue;
        /* a beginning of the name is what an abbreviation looks like */
        d = len >= 2 && m > len && strncasecmp(name, list[i], len) == 0
                ? 1
                : distance(name, len, list[i], m);
        if (d < least && d <= 1 + len / 4) {
            least = d;
            best = list[i];
        }
    }
    return best;
}

const char *trod_option_suggest(const struct trod_option *table, const char *name, size_t len)
{
    struct trod_option_ref all[TROD_OPTIONS];
    const char *names[TROD_OPTIONS];
    size_t n = trod_option_flatten(table, all, TROD_OPTIONS);

    for (size_t i = 0; i < n; i++)
        names[i] = all[i].option->name;
    return trod_suggest(name, len, names, n);
}

/* 1000, or 1024 if it says so or what is measured is BYTES, to the power that SUFFIX says; 0: none
 */
static uint64_t factor_of(const char *suffix, bool bytes)
{
    static const char letters[] = "kMG";
    const char *at = strchr(letters, *suffix == 'K' ? 'k' : *suffix);
    const uint64_t base = bytes || suffix[1] == 'i' ? 1024 : 1000;
    uint64_t factor = base;

    if (!at || strcmp(suffix + 1, suffix[1] == 'i' && *suffix != 'k' ? "i" : "") != 0)
        return 0;
    for (const char *p = letters; p < at; p++)
        factor *= base;
    return factor;
}

static int parse_number(const char *text, bool bytes, uint64_t *out)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *p = hex ? text + 2 : text, *first = p;
    uint64_t v = 0, base = hex ? 16 : 10;

    for (;; p++) {
        unsigned digit;

        if (*p >= '0' && *p <= '9')
            digit = (unsigned)(*p - '0');
        else if (hex && ((*p >= 'a' && *p <= 'f') || (*p >= 'A' && *p <= 'F')))
            digit = (unsigned)((*p | 0x20) - 'a') + 10;
        else
            break;
        if (v > (UINT64_MAX - digit) / base)
            return TROD_ERR_USAGE;
        v = v * base + digit;
    }
    if (p == first)
        return TROD_ERR_USAGE;
    if (*p) {
        const uint64_t factor = factor_of(p, bytes);

        if (factor == 0 || v > UINT64_MAX / factor)
            return TROD_ERR_USAGE;
        v *= factor;
    }
    *out = v;
    return 0;
}

int trod_option_number(const char *text, uint64_t *out)
{
    return parse_number(text, false, out);
}

int trod_option_bytes(const char *text, uint64_t *out)
{
    return parse_number(text, true, out);
}

int trod_option_range(const char *text, struct trod_range *out)
{
    const char *dots = strstr(text, "..");
    struct trod_range r = {true, 0, UINT64_MAX};
    char low[64];

    if (!dots) {
        if (trod_option_number(text, &r.lo) != 0)
            return TROD_ERR_USAGE;
        r.hi = r.lo;
        *out = r;
        return 0;
    }
    if ((dots == text && dots[2] == 0) || (size_t)(dots - text) >= sizeof low)
        return TROD_ERR_USAGE;
    memcpy(low, text, (size_t)(dots - text));
    low[dots - text] = 0;
    if ((low[0] && trod_option_number(low, &r.lo) != 0) ||
        (dots[2] && trod_option_number(dots + 2, &r.hi) != 0) || r.lo > r.hi)
        return TROD_ERR_USAGE;
    *out = r;
    return 0;
}

static int bad_value(const struct trod_option_ref *ref, const char *prefix, const char *value,
                     const char *wanted, struct trod_diag *diag)
{
    return trod_error(diag, TROD_ERR_USAGE, "option.bad-value", NULL,
                      "option '%s%s': '%s' is not %s", prefix, ref->option->name, value, wanted);
}

static int set_bool(const struct trod_option_ref *ref, bool *field, const char *prefix,
                    const char *value, struct trod_diag *diag)
{
    if (!value) {
        *field = true;
        return 0;
    }
    for (size_t i = 0; i < sizeof bool_words / sizeof bool_words[0]; i++) {
        if (strcasecmp(value, bool_words[i]) == 0) {
            *field = i & 1;
            return 0;
        }
    }
    return bad_value(ref, prefix, value, "yes or no", diag);
}

static int set_enum(const struct trod_option_ref *ref, int *field, const char *prefix, char *value,
                    struct trod_diag *diag)
{
    const char *const *choices = ref->option->choices;
    char *colon = ref->option->more ? strchr(value, ':') : NULL;
    const size_t len = colon ? (size_t)(colon - value) : strlen(value);
    struct trod_buf list = {0};
    const char *near;
    size_t n = 0;

    for (; choices[n]; n++) {
        if (strlen(choices[n]) == len && strncasecmp(choices[n], value, len) == 0) {
            *field = (int)n;
            /* what follows is of the option's own table, in the struct that FIELD is in */
            return colon ? trod_option_spec(ref->option->more, (char *)field - ref->option->offset,
                                            colon + 1, diag)
                         : 0;
        }
    }
    for (size_t i = 0; i < n; i++)
        trod_buf_printf(&list, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", choices[i]);
    near = trod_suggest(value, strlen(value), choices, n);
    trod_error(diag, TROD_ERR_USAGE, "option.bad-choice", NULL,
               "option '%s%s': '%s' is not one of %.*s%s%s%s", prefix, ref->option->name, value,
               (int)list.n, list.n ? (const char *)list.p : "", near ? "; did you mean '" : "",
               near ? near : "", near ? "'?" : "");
    trod_buf_fini(&list);
    return TROD_ERR_USAGE;
}

static int set_list(const struct trod_option_ref *ref, struct trod_list *list, const char *prefix,
                    char *value, struct trod_diag *diag)
{
    while (value) {
        char *comma = strchr(value, ',');

        if (comma)
            *comma++ = 0;
        if (!*value)
            return trod_error(diag, TROD_ERR_USAGE, "option.no-value", NULL,
                              "option '%s%s': a value is missing", prefix, ref->option->name);
        if (list->n == TROD_LIST_MAX)
            return trod_error(diag, TROD_ERR_USAGE, "option.long-list", NULL,
                              "option '%s%s': more than %d values", prefix, ref->option->name,
                              (int)TROD_LIST_MAX);
        list->item[list->n++] = value;
        value = comma;
    }
    return 0;
}

int trod_option_assign(const struct trod_option_ref *ref, void *base, const char *prefix,
                       char *value, struct trod_diag *diag)
{
    /* the table promises that a field of the option's type lies at that offset */
    void *field = (char *)base + ref->offset;
    uint64_t number;

    if (!value && ref->option->type != TROD_OPT_BOOL)
        return trod_error(diag, TROD_ERR_USAGE, "option.no-value", NULL,
                          "option '%s%s' needs a value", prefix, ref->option->name);
    switch (ref->option->type) {
    case TROD_OPT_BOOL:
        return set_bool(ref, field, prefix, value, diag);
    case TROD_OPT_U64:
        if (trod_option_number(value, field) != 0)
            return bad_value(ref, prefix, value, "a number", diag);
        return 0;
    case TROD_OPT_BYTES:
        if (trod_option_bytes(value, field) != 0)
            return bad_value(ref, prefix, value, "a number of bytes", diag);
        return 0;
    case TROD_OPT_COUNT:
        if (trod_option_number(value, &number) != 0 || number == 0)
            return bad_value(ref, prefix, value, "a number from 1", diag);
        memcpy(field, &number, sizeof number);
        return 0;
    case TROD_OPT_SIZE:
        if (trod_option_bytes(value, &number) != 0 || number == 0)
            return bad_value(ref, prefix, value, "a number of bytes from 1", diag);
        memcpy(field, &number, sizeof number);
        return 0;
    case TROD_OPT_STR:
    case TROD_OPT_JOINED:
        *(const char **)field = value;
        return 0;
    case TROD_OPT_ENUM:
        return set_enum(ref, field, prefix, value, diag);
    case TROD_OPT_RANGE:
        if (trod_option_range(value, field) != 0)
            return bad_value(ref, prefix, value, "a range (A..B, A.., ..B or A)", diag);
        return 0;
    case TROD_OPT_LIST:
        return set_list(ref, field, prefix, value, diag);
    case TROD_OPT_END:
    case TROD_OPT_GROUP:
    case TROD_OPT_FUNC:
        break;
    }
    return TROD_ERR_USAGE;
}

int trod_option_set(const struct trod_option *table, void *base, const char *key, char *value,
                    struct trod_diag *diag)
{
    struct trod_option_ref ref;
    const char *near;

    if (trod_option_find(table, key, strlen(key), &ref))
        return trod_option_assign(&ref, base, "", value, diag);
    near = trod_option_suggest(table, key, strlen(key));
    if (near)
        return trod_error(diag, TROD_ERR_USAGE, "option.unknown", NULL,
                          "unknown option '%s'; did you mean '%s'?", key, near);
    return trod_error(diag, TROD_ERR_USAGE, "option.unknown", NULL, "unknown option '%s'", key);
}

/* Is TEXT, up to a comma, KEY=VALUE? */
static bool is_setting(const char *text)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t n = strspn(text, word);

    return n && text[n] == '=';
}

/* Does the list that begins with FIRST go on with what stands at TEXT? */
static bool goes_on(const struct trod_option *table, const char *first, const char *text)
{
    const size_t n = strcspn(text, "=,");
    struct trod_option_ref ref;

    return *text && *text != ',' && is_setting(first) == is_setting(text) &&
           !trod_option_find(table, text, n, &ref);
}

/* The comma behind the option of TABLE that stands at SPEC; NULL: it is the last. */
static char *option_end(const struct trod_option *table, char *spec)
{
    const size_t n = strcspn(spec, "=,");
    char *end = strchr(spec, ',');
    struct trod_option_ref ref;

    if (spec[n] != '=' || !trod_option_find(table, spec, n, &ref) ||
        (ref.option->type != TROD_OPT_LIST && ref.option->type != TROD_OPT_JOINED))
        return end;
    while (end && goes_on(table, spec + n + 1, end + 1))
        end = strchr(end + 1, ',');
    return end;
}

int trod_option_spec(const struct trod_option *table, void *base, char *spec,
                     struct trod_diag *diag)
{
    while (spec) {
        char *next = option_end(table, spec), *value;
        int r;

        if (next)
            *next++ = 0;
        value = strchr(spec, '=');
        if (value)
            *value++ = 0;
        if (!*spec)
            return trod_error(diag, TROD_ERR_USAGE, "option.no-name", NULL,
                              "the name of an option is missing after ':' or ','");
        r = trod_option_set(table, base, spec, value, diag);
        if (r != 0)
            return r;
        spec = next;
    }
    return 0;
}
