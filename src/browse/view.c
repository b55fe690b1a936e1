/*
 * view.c - the browser's run: open the traces, draw, wait for a key, until the user goes.
 *
 * Implements browse.h.
 */
#include <curses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "browse/actions.h"
#include "browse/find.h"

enum { PANES_FIRST = 9, WAIT_MS = 200 };

bool browse_there(void)
{
    return true;
}

static int open_traces(struct view *v, struct trod_diag *diag)
{
    const struct browse_setup *s = v->setup;
    int rc = 0;

    for (unsigned k = 0; rc == 0 && k < s->n_paths; k++) {
        const struct browse_options opt = {.trace = s->trace[k],
                                           .symbols = s->symbols,
                                           .index_dir = s->index_dir,
                                           .no_index = s->no_index,
                                           .strict = s->strict,
                                           .source = s->source,
                                           .n_source = s->n_source,
                                           .tick = screen_tick,
                                           .user = v};

        v->n = k + 1;
        rc = browse_open(&v->b[k], s->paths[k], &opt);
        if (rc < 0 && v->b[k])
            trod_error(diag, rc, "browse.open", NULL, "%s",
                       v->b[k]->log.n ? browse_said(v->b[k], 0) : "the trace cannot be read");
    }
    return rc;
}

static int begin_place(struct view *v, struct trod_diag *diag)
{
    struct browse *b = view_model(v);
    int rc;

    if (!v->setup->at || b->rows == 0)
        return 0;
    v->patient = true;
    rc = browse_place(b, v->setup->at);
    v->patient = false;
    if (rc > 0 || rc == BROWSE_STOPPED)
        return 0;
    return trod_error(diag, rc < 0 ? rc : TROD_ERR_USAGE, "browse.at", NULL, "%s",
                      browse_said(b, 0));
}

/* Go to the first row from there on that --where chooses; it is what `f` looks for next. */
static int begin_where(struct view *v, struct trod_diag *diag)
{
    struct browse *b = view_model(v);
    int rc;

    if (!v->setup->where || b->rows == 0)
        return 0;
    if (strlen(v->setup->where) >= sizeof v->expression)
        return trod_error(diag, TROD_ERR_USAGE, "browse.where", NULL,
                          "option '--where': more than %zu characters", sizeof v->expression - 1);
    snprintf(v->expression, sizeof v->expression, "%s", v->setup->where);
    v->patient = true;
    rc = browse_find_here(b, v->setup->where);
    v->patient = false;
    if (rc >= 0 || rc == BROWSE_STOPPED)
        return 0;
    return trod_error(diag, rc, "browse.where", NULL, "%s", browse_said(b, 0));
}

/* Make the index of a trace that has none. */
static void begin_indexes(struct view *v)
{
    const struct browse_setup *s = v->setup;

    for (unsigned k = 0; k < v->n; k++) {
        struct browse *b = v->b[k];

        if (s->no_index || v->index[k] || trod_nav_index(b->nav) || b->rows == 0)
            continue;
        v->index[k] = background_begin(s->paths[k], s->trace[k], s->index_dir, s->jobs);
        v->index_of[k] = b->length;
    }
}

/* Compare once more; of two comparisons that go on the first one is waited for. */
static void compare_again(struct view *v)
{
    v->later_again = v->later != NULL;
    if (!v->later && browse_pair_begin(&v->later, v->setup->paths, v->setup->trace) < 0)
        browse_say(view_model(v), "the traces cannot be compared once more");
}

void view_look_again(struct view *v)
{
    bool grown = false;

    for (unsigned k = 0; k < v->n; k++) {
        struct browse *b = v->b[k];

        if (!browse_grown(b))
            continue;
        if (browse_reopen(b) < 0) {
            browse_say(view_model(v), "the trace has grown, and cannot be read");
            continue;
        }
        grown = true;
        v->stale = true;
        if (!v->tail)
            browse_say(view_model(v), "the trace has grown");
    }
    if (!grown)
        return;
    begin_indexes(v);
    if (v->pair)
        compare_again(v);
}

/* What was compared once more counts from here on. */
static void poll_pair(struct view *v)
{
    struct browse_pair_state s;

    if (!v->later)
        return;
    browse_pair_state(v->later, &s);
    if (!s.done)
        return;
    browse_pair_end(v->pair);
    v->pair = v->later;
    v->later = NULL;
    if (v->later_again)
        compare_again(v);
}

void view_compared(struct view *v, struct browse_pair_state *out)
{
    browse_pair_state(v->pair, out);
    if (v->later)
        out->done = false;
}

/*
 * An index that has been made is used from here on. Where the trace has grown since it was begun,
 * one of what the trace is now follows. True: some are still being made.
 */
static bool poll_indexes(struct view *v)
{
    bool runs = false, grown = false, again = false;

    for (unsigned k = 0; k < v->n; k++) {
        struct browse *b = v->b[k];
        enum background_state state;
        unsigned percent;
        const char *why;

        if (!v->index[k])
            continue;
        state = background_look(v->index[k], &percent, &why);
        runs |= state == BACKGROUND_RUNS;
        if (state == BACKGROUND_RUNS)
            continue;
        if (browse_grown(b))
            grown = true;
        else if (b->length != v->index_of[k])
            again = true;
        else if (state == BACKGROUND_FAILED)
            browse_say(b, "no index: %s", why);
        else if (browse_reopen(b) < 0)
            browse_say(b, "the index cannot be used");
        else /* it may have grown just now */
            again |= b->length != v->index_of[k];
        background_end(v->index[k]);
        v->index[k] = NULL;
        v->stale = true;
    }
    if (grown)
        view_look_again(v);
    else if (again)
        begin_indexes(v);
    return runs || grown || again;
}

bool view_index_made(struct view *v)
{
    bool made = false;

    for (unsigned k = 0; k < v->n; k++) {
        unsigned percent;
        const char *why;

        made |= v->index[k] && background_look(v->index[k], &percent, &why) == BACKGROUND_MADE;
    }
    return made;
}

/* Something goes on after the keys that the screen shows. */
static bool goes_on(struct view *v)
{
    struct browse_pair_state s = {.done = true};
    const bool runs = poll_indexes(v);

    poll_pair(v);
    if (v->pair)
        view_compared(v, &s);
    return runs || !s.done || v->stale;
}

static void end(struct view *v)
{
    browse_pair_end(v->pair);
    browse_pair_end(v->later);
    for (unsigned k = 0; k < v->n; k++) {
        background_end(v->index[k]);
        browse_source_fini(&v->source[k]);
        browse_close(v->b[k]);
    }
    free(v->frame);
    free(v);
}

/* The last row, which there may be more of now. */
static void stay_at_end(struct view *v)
{
    enum { SELDOM = 10 }; /* times as long as looking took: what has no index is read to its end */
    struct browse *b = view_model(v);
    const uint64_t now = screen_clock();

    if (now < v->look_again)
        return;
    view_look_again(v);
    if (b->rows == TROD_NOWHERE || b->cursor + 1 != b->rows) {
        v->patient = true;
        action_end(v, browse_end(b));
    }
    v->look_again = screen_clock() + SELDOM * (screen_clock() - now);
}

static void loop(struct view *v)
{
    while (!v->done && !screen_signal()) {
        const bool more = goes_on(v);
        int key;

        if (v->tail)
            stay_at_end(v);
        draw_all(v);
        if (!screen_typed(v))
            draw_panes(v);
        key = screen_key(v, more || v->stale || v->tail ? WAIT_MS : -1);
        if (key < 0)
            continue;
        v->tail = false;
        v->shown = view_model(v)->log.n;
        key_run(v, key);
    }
}

int browse_run(const struct browse_setup *s, struct trod_diag *diag)
{
    struct view *v = calloc(1, sizeof *v);
    int rc = v ? 0 : TROD_ERR_NOMEM, number = 0;

    if (rc < 0)
        return rc;
    v->setup = s;
    v->panes = PANES_FIRST;
    v->stale = true;
    v->unit = 1;
    v->frames_row = TROD_NOWHERE;
    browse_colours_default(v->style);
    if (s->colours)
        rc = browse_colours_parse(v->style, s->colours, diag);
    if (rc == 0)
        rc = open_traces(v, diag);
    if (rc == 0)
        rc = screen_begin(v, diag);
    if (rc == 0) {
        rc = begin_place(v, diag);
        if (rc == 0)
            rc = begin_where(v, diag);
        if (rc == 0)
            begin_indexes(v);
        if (rc == 0 && v->n == 2)
            rc = browse_pair_begin(&v->pair, s->paths, s->trace);
        if (rc == 0)
            loop(v);
        number = screen_signal();
        screen_end();
    }
    end(v);
    return rc < 0 ? rc : number;
}
