/*
 * model.c - a trace that is browsed: opening it, and what it tells the user. Implements model.h.
 */
#include "browse/model.h"
#include "browse/folds.h"
#include "browse/marks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void browse_say(struct browse *b, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(b->log.text[b->log.n++ % BROWSE_LOG], BROWSE_TEXT, fmt, args);
    va_end(args);
}

const char *browse_said(const struct browse *b, uint64_t n)
{
    return b->log.n > n ? b->log.text[(b->log.n - 1) % BROWSE_LOG] : "";
}

static void show_problem(void *user, const struct trod_problem *p)
{
    struct browse *b = user;

    if (b->nav && strcmp(p->kind, "index.not-used") == 0)
        return; /* opened again, as it has grown: the browser makes the index again itself */
    if (p->at.line != TROD_NOWHERE)
        browse_say(b, "line %llu: %s", (unsigned long long)p->at.line, p->message);
    else if (p->at.offset != TROD_NOWHERE)
        browse_say(b, "byte %llu: %s", (unsigned long long)p->at.offset, p->message);
    else
        browse_say(b, "%s", p->message);
}

/* How long the trace is, of one that may still grow: a file. 0: nobody knows. */
static uint64_t length(const struct browse *b)
{
    struct stat st;

    return stat(b->path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

bool browse_grown(const struct browse *b)
{
    return length(b) > b->length;
}

static int open_nav(struct browse *b, struct trod_nav **out)
{
    const char *path = b->path;
    const struct trod_nav_options opt = {.struct_size = sizeof opt,
                                         .trace = b->opt.trace,
                                         .symbols = b->opt.symbols,
                                         .index_dir = b->opt.index_dir,
                                         .no_index = b->opt.no_index,
                                         .tick = b->opt.tick,
                                         .tick_user = b->opt.user};

    b->length = length(b);
    return trod_nav_open(out, &path, 1, &opt, &b->diag);
}

/* How many rows there are, where an index says it. */
static void count(struct browse *b)
{
    struct trod_index_info x;

    if (trod_index_about(b->nav, &x))
        b->rows = x.rows;
}

int browse_open(struct browse **out, const char *path, const struct browse_options *opt)
{
    struct browse *b = calloc(1, sizeof *b);
    const struct trod_batch *batch;
    uint32_t i;
    int rc;

    *out = b;
    if (!b)
        return TROD_ERR_NOMEM;
    b->opt = *opt;
    b->only = -1;
    b->other = b->rows = TROD_NOWHERE;
    trod_diag_init(&b->diag, show_problem, b);
    b->diag.strict = opt->strict;
    b->line = malloc(TROD_SHOW_LINE);
    b->path = malloc(strlen(path) + 1);
    if (!b->line || !b->path)
        return TROD_ERR_NOMEM;
    memcpy(b->path, path, strlen(path) + 1);
    rc = open_nav(b, &b->nav);
    if (rc == 0) {
        count(b);
        rc = trod_nav_row(b->nav, 0, &batch, &i);
        if (rc == 0)
            b->rows = 0;
    }
    if (rc >= 0)
        browse_marks_load(b);
    return rc < 0 ? rc : 0;
}

void browse_close(struct browse *b)
{
    if (!b)
        return;
    trod_nav_state_free(b->state);
    trod_nav_state_free(b->before);
    trod_nav_state_free(b->held);
    trod_nav_state_free(b->second);
    trod_show_free(b->show);
    trod_disasm_free(b->disasm);
    trod_insn_decoder_free(b->decoder);
    trod_nav_close(b->nav);
    browse_folds_fini(b);
    browse_marks_fini(b);
    free(b->path);
    free(b->line);
    free(b);
}

int browse_reopen(struct browse *b)
{
    struct trod_nav *nav;
    const uint64_t was = b->length;
    int rc = open_nav(b, &nav);

    if (rc < 0) {
        b->length = was;
        return rc;
    }
    trod_show_free(b->show);
    b->show = NULL;
    trod_nav_close(b->nav);
    b->nav = nav;
    b->rows = TROD_NOWHERE;
    count(b);
    if (b->marks.n == 0) { /* they may be where the index is */
        browse_marks_fini(b);
        browse_marks_load(b);
    }
    return 0;
}

uint64_t browse_code_address(const struct browse *b, uint64_t addr)
{
    return trod_nav_meta(b->nav)->isa == TROD_ISA_ARM ? addr & ~UINT64_C(1) : addr;
}

void browse_symbol(const struct browse *b, uint64_t address, char *out, size_t size)
{
    const char *name;
    uint64_t offset;

    out[0] = '\0';
    if (!b->opt.symbols || !trod_symbols_find(b->opt.symbols, address, &name, &offset))
        return;
    if (offset)
        snprintf(out, size, "%s+0x%llx", name, (unsigned long long)offset);
    else
        snprintf(out, size, "%s", name);
}
