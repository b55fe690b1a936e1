/*
 * view.h - the browser on a terminal: what its files share.
 *
 * The view draws what the model says (model.h) and turns keys into questions to it. One thread
 * draws and asks; others make the index and compare two traces (background.h, pair.h).
 */
#ifndef BROWSE_VIEW_H
#define BROWSE_VIEW_H

#include "browse/background.h"
#include "browse/browse.h"
#include "browse/calls.h"
#include "browse/colours.h"
#include "browse/model.h"
#include "browse/pair.h"
#include "browse/source.h"

enum { VIEW_KEYS = 256, VIEW_ROWS = 1000, VIEW_HISTORY = 32, VIEW_LINE = 256 };
enum { VIEW_LEAST_WIDTH = 40, VIEW_LEAST_HEIGHT = 8, VIEW_WHEEL = 3 /* lines */ };

enum view_focus { FOCUS_ROWS, FOCUS_REGISTERS, FOCUS_RIGHT, FOCUS_N };

enum view_layout { LAYOUT_AUTO, LAYOUT_BRIEF, LAYOUT_FULL, LAYOUTS };

/* What the pane at the right shows. */
enum view_pane { PANE_MEMORY, PANE_SOURCE, PANE_CODE, PANE_REGISTERS, PANE_CALLS, PANES };

struct view {
    const struct browse_setup *setup;
    struct browse *b[2];         /* the traces */
    unsigned n, at;              /* how many; which one has the cursor */
    struct browse_pair *pair;    /* NULL: there is one trace */
    struct browse_pair *later;   /* of the traces as they have grown, until it is done */
    bool later_again;            /* they have grown since it began */
    struct background *index[2]; /* that are being made; NULL: none */
    uint64_t index_of[2];        /* how long the trace was when it was begun, in bytes */
    bool single;                 /* of two traces only that with the cursor is seen */
    struct browse_source source[2];
    char expression[VIEW_LINE]; /* what was looked for last */
    int height, width;          /* of the screen */
    int panes;                  /* lines of the panes */
    int shift;                  /* columns that rows are shifted to the left */
    unsigned focus, pane, layout;
    bool colour;
    struct browse_style style[BROWSE_PARTS];
    int key[VIEW_KEYS]; /* typed while something was read */
    unsigned n_keys;
    bool patient;        /* what is read is wanted: only Esc stops it */
    bool done;           /* the user wants to go */
    bool tail;           /* the cursor stays at the end of a trace that grows */
    uint64_t look_again; /* when it is looked at next, in milliseconds */
    bool cleared;        /* draw everything again */
    bool searching;      /* the status line tells how far reading is */
    uint64_t asked;      /* when tick looked last, in milliseconds */
    uint64_t shown;      /* lines of the log that the user has seen */
    uint64_t good_cursor, good_top;
    uint64_t row[VIEW_ROWS]; /* by line of the window */
    unsigned n_rows;
    size_t reg, reg_top;         /* register that is chosen; the first line that is shown */
    char reg_name[32];           /* its name, wherever it stands; "": that of number REG */
    size_t reg_lines, reg_count; /* lines of the pane; registers there are */
    size_t byte;                 /* byte of memory that is chosen */
    unsigned unit;               /* bytes of memory that are chosen together: 1, 2, 4, 8 */
    unsigned per_line;           /* bytes of memory in a line */
    uint64_t read_row;           /* row that the memory pane is of */
    size_t read_bytes;
    struct browse_frame *frame; /* calls that the pane shows, the innermost first */
    size_t n_frames;
    uint64_t frames_row; /* that they are of */
    bool stale;          /* the panes are to be read again */
    char history[VIEW_HISTORY][VIEW_LINE];
    unsigned n_history;
};

static inline struct browse *view_model(struct view *v)
{
    return v->b[v->at];
}

/* ---- screen.c: the terminal */

int screen_begin(struct view *v, struct trod_diag *diag);
void screen_end(void);
/* The signal that ends the run; 0: none came. */
int screen_signal(void);
/* TEXT in columns [X, X + WIDTH) of line Y, padded. */
void screen_put(struct view *v, int y, int x, int width, const char *text, unsigned part);
void screen_put_on(struct view *v, int y, int x, int width, const char *text, unsigned part,
                   bool chosen);
/* The next key, -1: none within MS milliseconds (-1: wait). */
int screen_key(struct view *v, int ms);
/* Has a key been typed? */
bool screen_typed(struct view *v);
uint64_t screen_clock(void);
/* While the model reads: tick of struct browse_options. */
int screen_tick(void *user, uint64_t row);

/* ---- draw.c, panes.c, code.c, side.c */

void draw_all(struct view *v);
void draw_status(struct view *v, const char *text);
/* TEXT in the status line while rows are read: no row is asked for, as for where the cursor is. */
void draw_reading(struct view *v, const char *text);
/* Read what the panes show, and draw them. */
void draw_panes(struct view *v);
/* A click at column X of line Y, in the panes: what stands there is chosen. */
void panes_click(struct view *v, int y, int x);
/* The wheel over the registers, over the pane at the right. */
void panes_wheel(struct view *v, bool up, bool right);
/* Memory, where it is shown, LINES further down. */
void panes_scroll(struct view *v, int lines);
/* Are two traces seen side by side? */
bool view_sides(const struct view *v);
int draw_sides(struct view *v);
/* What the pane from column X, line Y on shows, its title to TITLE. */
void draw_source(struct view *v, int x, int y, char *title, size_t size);
void draw_code(struct view *v, int x, int y, char *title, size_t size);
void draw_calls(struct view *v, int x, int y, char *title, size_t size);
/* The calls at the cursor, for draw_calls: 0, or an error of reading them. */
int view_read_calls(struct view *v);
/* Is byte K of the memory pane among those that are chosen together? */
bool view_chosen_byte(const struct view *v, size_t k);
int view_rows_height(const struct view *v);
int view_rows_top(void);
int view_left_width(struct view *v);

/* ---- view.c */

/* Rows that a program which still runs has added since the traces were opened are there from now
 * on; two traces are compared again, and stand beside each other as before until that is done. */
void view_look_again(struct view *v);
/* Is the comparison one of the traces as they are? What it has found to *OUT. */
void view_compared(struct view *v, struct browse_pair_state *out);
/* Has an index been made that is not used so far? */
bool view_index_made(struct view *v);

/* ---- prompt.c: a line that the user types */

/*
 * The line into OUT (VIEW_LINE bytes), which holds what stands there first; Tab goes on with words
 * of WORDS (enum browse_words). False: given up.
 */
bool prompt(struct view *v, const char *question, unsigned words, char *out);
/* A list to look through: LINE gives line I. Returns the line chosen, -1: none; *KEY: by what. */
struct view_list {
    const char *title;
    size_t n, at;
    const char *(*line)(void *user, size_t i);
    void *user;
    const char *keys; /* that choose, besides Enter */
    bool choose;
    size_t indent; /* of what is left of a line that is too long (not where one is chosen); 0: 2 */
};
long list_show(struct view *v, const struct view_list *list, int *key);

/* ---- keys.c */

void key_run(struct view *v, int key);

#endif
