/*
 * colours.h - what is shown how: the parts of the screen and their colours.
 */
#ifndef BROWSE_COLOURS_H
#define BROWSE_COLOURS_H

#include "trod/trod.h"

enum browse_part {
    BROWSE_PLAIN,
    BROWSE_TITLE,
    BROWSE_HEADER,
    BROWSE_CURSOR,
    BROWSE_CHANGED,
    BROWSE_REG,
    BROWSE_READ,
    BROWSE_WRITE,
    BROWSE_EVENT,
    BROWSE_OTHER,
    BROWSE_FOLD,
    BROWSE_MARK,
    BROWSE_MESSAGE,
    BROWSE_DIFFERS,
    BROWSE_PARTS
};

enum { BROWSE_BOLD = 1, BROWSE_DIM = 2, BROWSE_UNDERLINE = 4, BROWSE_REVERSE = 8 };

/* Colours are numbers of the terminal's palette; -1: its own. */
struct browse_style {
    short front, back;
    unsigned how; /* BROWSE_BOLD, ... */
};

/* "title"; NULL past the last. */
const char *browse_part_name(unsigned part);
void browse_colours_default(struct browse_style style[BROWSE_PARTS]);
/*
 * TEXT is "PART=STYLE,...", a style FRONT[/BACK][+HOW]...: colours by name or number, HOW bold,
 * dim, underline or reverse. Returns 0 or TROD_ERR_USAGE, reported.
 */
int browse_colours_parse(struct browse_style style[BROWSE_PARTS], const char *text,
                         struct trod_diag *diag);
/* What rows of KIND are shown as (-1: a fold). */
unsigned browse_part_of(int kind);

#endif
