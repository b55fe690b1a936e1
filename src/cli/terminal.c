/*
 * terminal.c - how wide a terminal is, and whether to colour what goes to it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

enum { WIDTH_DEFAULT = 80, WIDTH_MIN = 60, HEIGHT_DEFAULT = 24 };

unsigned cli_width(int fd)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    uint64_t n;

    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
    if (columns && trod_option_number(columns, &n) == 0 && n >= WIDTH_MIN && n < 10000)
        return (unsigned)n;
    return WIDTH_DEFAULT;
}

unsigned cli_height(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : HEIGHT_DEFAULT;
}

bool cli_colour(const struct cli *c, int fd)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

    if (c->common && (c->common->no_color || c->common->color == 2))
        return false;
    if (c->common && c->common->color == 1)
        return true;
    return isatty(fd) && !(none && *none) && term && strcmp(term, "dumb") != 0;
}
