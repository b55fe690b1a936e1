/*
 * terminal.c - how wide a terminal is, and whether to colour what goes to it.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

enum { WIDTH_DEFAULT = 80, WIDTH_MIN = 60, HEIGHT_DEFAULT = 24 };

bool cli_terminal(int fd)
{
    /* Open MPI gives those it starts a terminal of its own, whose other end is a file or a pipe */
    return isatty(fd) && !getenv("OMPI_COMM_WORLD_SIZE");
}

unsigned cli_width(int fd)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    uint64_t n;

    if (cli_terminal(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
    if (columns && trod_option_number(columns, &n) == 0 && n >= WIDTH_MIN && n < 10000)
        return (unsigned)n;
    return WIDTH_DEFAULT;
}

unsigned cli_fold(void)
{
    static unsigned width;
    static bool known;

    if (!known && cli_terminal(STDOUT_FILENO))
        width = cli_width(STDOUT_FILENO);
    known = true;
    return width;
}

void cli_put_folded(FILE *to, unsigned width, const char *text, unsigned at, unsigned indent)
{
    while (width > at && strlen(text) + at > width) {
        size_t n = width - at;

        while (n > 0 && text[n] != ' ')
            n--;
        if (n == 0)
            n = strcspn(text, " ");
        if (!text[n])
            break;
        fprintf(to, "%.*s\n%*s", (int)n, text, (int)indent, "");
        text += n + 1;
        at = indent;
    }
    fprintf(to, "%s\n", text);
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
    return cli_terminal(fd) && !(none && *none) && term && strcmp(term, "dumb") != 0;
}

bool cli_unicode(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !(locale && *locale); i++)
        locale = getenv(names[i]);
    for (; locale && *locale; locale++)
        if (strncasecmp(locale, "utf-8", 5) == 0 || strncasecmp(locale, "utf8", 4) == 0)
            return true;
    return false;
}
