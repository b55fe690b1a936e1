/*
 * listing.c - calls of functions as DynamoRIO's func_view prints them (drcachesim,
 * tools/func_view.cpp).
 *
 * A line a call, four blanks for each call it is inside; the result stands on the line of the call
 * where its thread printed nothing in between. Each thread ends its own lines only: where another
 * thread comes before the result, its line goes on behind the call. A call whose function never
 * returns is left when its thread calls the next. All lines are kept until the end.
 */
#include "analysis/functions/functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 32 };

/* The first name of F; where it has none its number, in BUF. */
static const char *name_of(const struct fun_function *f, char buf[NAME], int *n)
{
    const char *comma = f->names ? strstr(f->names, ", ") : NULL;

    if (!f->names)
        snprintf(buf, NAME, "%" PRIu64, f->id);
    *n = comma ? (int)(comma - f->names) : (int)strlen(f->names ? f->names : buf);
    return f->names ? f->names : buf;
}

/* The arguments of a function that the list does not have end where something else comes. */
static int close_arguments(struct fun_state *s, struct fun_thread *t)
{
    const bool paren = t->paren;

    t->paren = false;
    return paren ? trod_buf_printf(&s->lines, ")") : 0;
}

static int begin_line(struct fun_state *s, const struct fun_thread *t)
{
    return trod_buf_printf(&s->lines, "T%-8" PRIu64 "%*s", t->tid, (int)(4 * t->nest), "");
}

void fun_list_group(const struct fun_state *s, struct fun_thread *t)
{
    if (t->function == UINT32_MAX)
        return;
    if (t->listed)
        t->noret = s->function[t->listed - 1].noret;
    t->listed = t->function + 1;
}

int fun_list_call(struct fun_state *s, struct fun_thread *t, uint64_t returns)
{
    const struct fun_function *f = &s->function[t->function];
    const bool listed = f->arguments != (uint32_t)FUN_UNLISTED, inside = t->nest > 0;
    char buf[NAME];
    int n, rc = close_arguments(s, t);
    const char *name = name_of(f, buf, &n);

    if (t->noret && t->nest)
        t->nest--;
    if (rc == 0 && inside && t->open)
        rc = trod_buf_printf(&s->lines, "\n");
    if (rc == 0)
        rc = begin_line(s, t);
    if (rc == 0)
        rc = trod_buf_printf(&s->lines, "0x%" PRIx64 " => %.*s(%s", returns, n, name,
                             f->arguments == 0 ? ")" : "");
    t->nest += t->nest < FUN_DEPTH;
    t->given = 0;
    t->paren = !listed;
    t->open = t->open || !listed || f->arguments == 0;
    return rc;
}

int fun_list_arg(struct fun_state *s, struct fun_thread *t, uint64_t value)
{
    const struct fun_function *f = &s->function[t->function];
    int rc = trod_buf_printf(&s->lines, "%s0x%" PRIx64, t->given ? ", " : "", value);

    t->open = true;
    if (rc < 0 || ++t->given != f->arguments)
        return rc;
    t->open = !f->noret;
    return trod_buf_printf(&s->lines, f->noret ? ")\n" : ")");
}

int fun_list_return(struct fun_state *s, struct fun_thread *t, uint64_t value)
{
    const bool same = t->open;
    int rc = close_arguments(s, t);

    t->nest -= t->nest != 0;
    t->open = false;
    if (rc == 0 && !same)
        rc = begin_line(s, t);
    return rc ? rc : trod_buf_printf(&s->lines, "%s=> 0x%" PRIx64 "\n", same ? " " : "", value);
}

int fun_list_exit(struct fun_state *s, struct fun_thread *t)
{
    const bool open = t->open;

    t->open = t->paren = false;
    return open ? trod_buf_printf(&s->lines, t->noret ? ")\n" : ") <no return>\n") : 0;
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
    const bool cut = s->lines.n && s->lines.p[s->lines.n - 1] != '\n';
    char name[NAME];
    int rc, n;

    if (s->opt->like != FUN_LIKE_FUNC_VIEW)
        return 0;
    order = calloc(s->n_functions + 1, sizeof *order);
    rc = order ? trod_buf_add(out, s->lines.p, s->lines.n) : TROD_ERR_NOMEM;
    if (rc == 0)
        rc = trod_buf_printf(out, "%sFunction view tool results:\n", cut ? "\n" : "");
    for (size_t i = 0; order && i < s->n_functions; i++)
        order[i] = &s->function[i];
    if (order && s->n_functions)
        qsort(order, s->n_functions, sizeof(const struct fun_function *), by_calls);
    for (size_t i = 0; rc == 0 && i < s->n_functions; i++)
        rc = trod_buf_printf(
            out, "Function id=%" PRIu64 ": %s\n%9" PRIu64 " calls\n%9" PRIu64 " returns\n",
            order[i]->id, order[i]->names ? order[i]->names : name_of(order[i], name, &n),
            order[i]->calls, order[i]->returns);
    free(order);
    return rc < 0 ? rc : 1;
}
