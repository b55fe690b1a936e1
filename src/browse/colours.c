/*
 * colours.c - what is shown how. Implements colours.h.
 */
#include "browse/colours.h"

#include <string.h>

static const char *const parts[] = {
    "plain", "title", "header", "cursor", "changed", "reg",     "read",
    "write", "event", "other",  "fold",   "mark",    "message", "differs",
};

const char *browse_part_name(unsigned part)
{
    return part < BROWSE_PARTS ? parts[part] : NULL;
}

void browse_colours_default(struct browse_style style[BROWSE_PARTS])
{
    static const struct browse_style defaults[BROWSE_PARTS] = {
        [BROWSE_PLAIN] = {-1, -1, 0},
        [BROWSE_TITLE] = {-1, -1, BROWSE_REVERSE},
        [BROWSE_HEADER] = {-1, -1, BROWSE_UNDERLINE},
        [BROWSE_CURSOR] = {-1, -1, BROWSE_REVERSE},
        [BROWSE_CHANGED] = {3, -1, BROWSE_BOLD},
        [BROWSE_REG] = {2, -1, 0},
        [BROWSE_READ] = {6, -1, 0},
        [BROWSE_WRITE] = {5, -1, 0},
        [BROWSE_EVENT] = {1, -1, BROWSE_BOLD},
        [BROWSE_OTHER] = {-1, -1, BROWSE_DIM},
        [BROWSE_FOLD] = {4, -1, BROWSE_BOLD},
        [BROWSE_MARK] = {3, -1, 0},
        [BROWSE_MESSAGE] = {-1, -1, BROWSE_BOLD},
        [BROWSE_DIFFERS] = {1, -1, BROWSE_BOLD},
    };

    memcpy(style, defaults, sizeof defaults);
}

static int find(const char *const *names, size_t n, const char *text, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == len && memcmp(names[i], text, len) == 0)
            return (int)i;
    return -1;
}

static bool colour(const char *text, size_t len, short *out)
{
    static const char *const names[] = {"default", "black",   "red",  "green", "yellow",
                                        "blue",    "magenta", "cyan", "white"};
    const int i = find(names, sizeof names / sizeof *names, text, len);
    char room[8];
    uint64_t n;

    if (i >= 0) {
        *out = (short)(i - 1);
        return true;
    }
    if (len == 0 || len >= sizeof room)
        return false;
    memcpy(room, text, len);
    room[len] = '\0';
    if (trod_option_number(room, &n) != 0 || n > 255)
        return false;
    *out = (short)n;
    return true;
}

/* FRONT[/BACK][+HOW]... of LEN bytes. */
static bool parse_style(const char *text, size_t len, struct browse_style *out)
{
    static const char *const hows[] = {"bold", "dim", "underline", "reverse"};
    const char *end = text + len, *plus = memchr(text, '+', len);
    const char *slash = memchr(text, '/', plus ? (size_t)(plus - text) : len);
    const char *back_end = plus ? plus : end, *front_end = slash ? slash : back_end;

    *out = (struct browse_style){-1, -1, 0};
    if (front_end != text && !colour(text, (size_t)(front_end - text), &out->front))
        return false;
    if (slash && !colour(slash + 1, (size_t)(back_end - slash - 1), &out->back))
        return false;
    while (plus) {
        const char *word = plus + 1;
        int i;

        plus = memchr(word, '+', (size_t)(end - word));
        i = find(hows, 4, word, (size_t)((plus ? plus : end) - word));
        if (i < 0)
            return false;
        out->how |= 1u << i;
    }
    return true;
}

int browse_colours_parse(struct browse_style style[BROWSE_PARTS], const char *text,
                         struct trod_diag *diag)
{
    while (*text) {
        const size_t len = strcspn(text, ",");
        const char *equals = memchr(text, '=', len);
        const int part = equals ? find(parts, BROWSE_PARTS, text, (size_t)(equals - text)) : -1;

        if (len &&
            (part < 0 || !parse_style(equals + 1, len - (size_t)(equals + 1 - text), &style[part])))
            return trod_error(diag, TROD_ERR_USAGE, "browse.colours", NULL,
                              "'%.*s' is no colour: PART=FRONT[/BACK][+bold]", (int)len, text);
        text += len + (text[len] == ',');
    }
    return 0;
}

unsigned browse_part_of(int kind)
{
    switch (kind) {
    case -1:
        return BROWSE_FOLD;
    case TROD_INSTR:
        return BROWSE_PLAIN;
    case TROD_REG:
    case TROD_STATE:
        return BROWSE_REG;
    case TROD_READ:
    case TROD_PREFETCH:
        return BROWSE_READ;
    case TROD_WRITE:
    case TROD_ATOMIC:
        return BROWSE_WRITE;
    case TROD_EXCEPTION:
    case TROD_MODE:
    case TROD_SYNC:
        return BROWSE_EVENT;
    default:
        return BROWSE_OTHER;
    }
}
