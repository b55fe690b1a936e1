/*
 * option_help.c - help texts made from option tables.
 *
 * Implements docs/design.md, rule 6: what --help says is what the parser takes.
 */
#include <string.h>

#include "trod/buf.h"
#include "trod/option.h"

enum { LEFT_MAX = 26 }; /* widest "-x, --name ARG" that the text stands beside */

static int pad(struct trod_buf *out, size_t n)
{
    return trod_buf_printf(out, "%*s", (int)n, "");
}

int trod_wrap(struct trod_buf *out, const char *text, unsigned column, unsigned indent,
              unsigned width)
{
    unsigned at = column;
    int r = 0;

    while (*text && r == 0) {
        size_t word = strcspn(text, " \n");

        if (*text == '\n') {
            r = trod_buf_add(out, "\n", 1);
            at = 0;
            text++;
            if (*text && *text != '\n') {
                r |= pad(out, indent);
                at = indent;
            }
            continue;
        }
        if (*text == ' ') {
            /* blanks at the start of a line are wanted, others separate words */
            if (at == indent && text[1] == ' ') {
                size_t lead = strspn(text, " ");

                r = pad(out, lead);
                at += (unsigned)lead;
                text += lead;
                continue;
            }
            text += strspn(text, " ");
            if (at > indent && at + 1 + strcspn(text, " \n") <= width) {
                r = trod_buf_add(out, " ", 1);
                at++;
            } else if (at > indent) {
                r = trod_buf_add(out, "\n", 1);
                r |= pad(out, indent);
                at = indent;
            }
            continue;
        }
        r = trod_buf_add(out, text, word);
        at += (unsigned)word;
        text += word;
    }
    return r;
}

/* "-j, --jobs N": how the option is written. */
static int left_side(struct trod_buf *out, const struct trod_option *o, const char *prefix)
{
    bool dashes = prefix[0] == '-';
    int r = 0;

    if (dashes)
        r = o->letter ? trod_buf_printf(out, "-%c, ", o->letter) : trod_buf_printf(out, "    ");
    r |= trod_buf_printf(out, "%s%s", prefix, o->name);
    if (o->type == TROD_OPT_BOOL)
        return r;
    r |= trod_buf_printf(out, "%c", dashes ? ' ' : '=');
    if (o->type == TROD_OPT_ENUM && !o->arg) {
        for (size_t i = 0; o->choices[i]; i++)
            r |= trod_buf_printf(out, "%s%s", i ? "|" : "", o->choices[i]);
        return r;
    }
    return r | trod_buf_printf(out, "%s", o->arg ? o->arg : "VALUE");
}

static unsigned left_width(const struct trod_option_ref *all, size_t n, const char *prefix)
{
    unsigned width = 0;

    for (size_t i = 0; i < n; i++) {
        struct trod_buf left = {0};

        if (left_side(&left, all[i].option, prefix) == 0 && left.n <= LEFT_MAX && left.n > width)
            width = (unsigned)left.n;
        trod_buf_fini(&left);
    }
    return width;
}

int trod_option_help(const struct trod_option *table, const char *prefix, unsigned width,
                     struct trod_buf *out)
{
    struct trod_option_ref all[TROD_OPTIONS];
    size_t n = trod_option_flatten(table, all, TROD_OPTIONS);
    unsigned left = left_width(all, n, prefix), indent = left + 4;
    const char *group = NULL;
    int r = 0;

    if (width < 40)
        width = 40;
    for (size_t i = 0; i < n && r == 0; i++) {
        size_t from;

        if (all[i].group && (!group || strcmp(all[i].group, group) != 0)) {
            group = all[i].group;
            r |= trod_buf_printf(out, "%s%s:\n", i ? "\n" : "", group);
        }
        r |= trod_buf_add(out, "  ", 2);
        from = out->n;
        r |= left_side(out, all[i].option, prefix);
        if (out->n - from > left) {
            r |= trod_buf_add(out, "\n", 1);
            r |= pad(out, indent);
        } else {
            r |= pad(out, left + 2 - (out->n - from));
        }
        r |= trod_wrap(out, all[i].option->text, indent, indent, width);
        r |= trod_buf_add(out, "\n", 1);
    }
    return r ? TROD_ERR_NOMEM : 0;
}
