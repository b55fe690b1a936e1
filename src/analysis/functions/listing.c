/*
 * listing.c - calls of functions as DynamoRIO's func_view prints them (drmemtrace, section 20.9).
 *
 * A line a call, four blanks for each call it is inside; the result stands on the line of the call
 * where nothing was printed in between. A call whose function never returns is left when its thread
 * calls the next. All lines are kept until the end.
 */
#include "analysis/functions/functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 32 };

/* The name of F into BUF where it has none. */
static const char *name_of(const struct fun_function *f, char buf[NAME])
{
    if (f->name)
        return f->name;
    snprintf(buf, NAME, "%" PRIu64, f->id);
    return buf;
}

/* End the line that is open; NEWLINE where nothing of the same call follows. */
static int close_line(struct fun_state *s, bool newline)
{
    int rc = 0;

    if (s->open_line)
        rc = trod_buf_printf(&s->lines, "%s", newline ? ")\n" : ")");
    s->open_line = 0;
    return rc;
}

static int begin_line(struct fun_state *s, const struct fun_thread *t)
{
    return trod_buf_printf(&s->lines, "T%-8" PRIu64 "%*s", t->tid, (int)(4 * t->nest), "");
}

int fun_list_call(struct fun_state *s, struct fun_thread *t, uint32_t stream, uint64_t returns)
{
    const struct fun_function *f = &s->function[t->function];
    char name[NAME];
    int rc = close_line(s, true);

    if (t->noret && t->nest)
        t->nest--;
    if (rc == 0)
        rc = begin_line(s, t);
    if (rc == 0)
        rc = trod_buf_printf(&s->lines, "0x%" PRIx64 " => %s(", returns, name_of(f, name));
    t->noret = f->noret;
    t->nest += t->nest < FUN_DEPTH;
    s->open_line = stream + 1;
    return rc;
}

int fun_list_arg(struct fun_state *s, struct fun_thread *t, uint64_t value)
{
    const bool first = s->lines.n && s->lines.p[s->lines.n - 1] == '(';

    if (!t->arguments || !s->open_line)
        return 0;
    return trod_buf_printf(&s->lines, "%s0x%" PRIx64, first ? "" : ", ", value);
}

int fun_list_return(struct fun_state *s, struct fun_thread *t, uint32_t stream, uint64_t value)
{
    const bool same = s->open_line == stream + 1;
    int rc = close_line(s, !same);

    t->nest -= t->nest != 0;
    t->noret = false;
    if (rc == 0 && !same)
        rc = begin_line(s, t);
    return rc ? rc : trod_buf_printf(&s->lines, "%s=> 0x%" PRIx64 "\n", same ? " " : "", value);
}

static int by_calls(const void *a, const void *b)
{
    const struct fun_function *x = *(const struct fun_function *const *)a,
                              *y = *(const struct fun_function *const *)b;

    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    if (x->returns != y->returns)
        return x->returns < y->returns ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

int fun_layout(const void *st, struct trod_buf *out)
{
    const struct fun_state *s = st;
    const struct fun_function **order;
    char name[NAME];
    int rc;

    if (s->opt->like != FUN_LIKE_FUNC_VIEW)
        return 0;
    order = calloc(s->n_functions + 1, sizeof *order);
    rc = order ? trod_buf_add(out, s->lines.p, s->lines.n) : TROD_ERR_NOMEM;
    if (rc == 0)
        rc = trod_buf_printf(out, "%sFunction view tool results:\n", s->open_line ? ")\n" : "");
    for (size_t i = 0; order && i < s->n_functions; i++)
        order[i] = &s->function[i];
    if (order && s->n_functions)
        qsort(order, s->n_functions, sizeof(const struct fun_function *), by_calls);
    for (size_t i = 0; rc == 0 && i < s->n_functions; i++)
        rc = trod_buf_printf(
            out, "Function id=%" PRIu64 ": %s\n%9" PRIu64 " calls\n%9" PRIu64 " returns\n",
            order[i]->id, name_of(order[i], name), order[i]->calls, order[i]->returns);
    free(order);
    return rc < 0 ? rc : 1;
}
