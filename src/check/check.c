/*
 * check.c - the analysis "check": rules of the trace's format over its rows.
 *
 * Implements check.h. It keeps a state a stream, hands runs of rows to the rules of the family and
 * collects what they find. Streams are independent, so states of different files merge.
 */
#include "check/check_int.h"

#include "trod/buf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEEP = 20, FACTS = 1 << 14 };

static const struct chk_family *const families[] = {
    &chk_tarmac, &chk_amber, &chk_full, &chk_byu6, &chk_byu12, &chk_drm,
};

static bool selected(const struct trod_list *list, const char *id)
{
    for (size_t i = 0; i < list->n; i++) {
        size_t n = strlen(list->item[i]);

        if (strncmp(list->item[i], id, n) == 0 && (id[n] == '\0' || id[n - 1] == '.'))
            return true;
    }
    return false;
}

/* A name that selects no rule is a slip. */
static int check_names(const struct trod_list *list, struct trod_diag *diag)
{
    for (size_t i = 0; i < list->n; i++) {
        struct trod_list one = {.n = 1, .item = {list->item[i]}};
        bool any = false;

        for (size_t k = 0; k < CHK_RULES && !any; k++)
            any = selected(&one, trod_rule_at(k)->id);
        if (!any)
            return trod_error(diag, TROD_ERR_USAGE, "check.rule", NULL,
                              "unknown rule '%s'; `trod check --rules` lists them", list->item[i]);
    }
    return TROD_OK;
}

static int init(void *st, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    struct chk *c = st;
    const struct trod_check_options *o = opt;
    int rc;

    c->opt = o;
    c->meta = meta;
    if ((rc = check_names(&o->only, diag)) < 0 || (rc = check_names(&o->skip, diag)) < 0)
        return rc;
    for (size_t i = 0; i < CHK_RULES; i++) {
        const char *id = trod_rule_at(i)->id;

        c->on[i] = (o->only.n == 0 || selected(&o->only, id)) && !selected(&o->skip, id);
    }
    return TROD_OK;
}

static void fini(void *st)
{
    struct chk *c = st;

    for (uint32_t i = 0; i < c->n_streams; i++) {
        if (c->streams[i].st && c->family->fini)
            c->family->fini(c->streams[i].st);
        free(c->streams[i].st);
    }
    free(c->streams);
    free(c->found);
    free(c->facts);
    trod_insn_decoder_free(c->insn);
}

static const struct trod_insn *decode(struct chk *c, const struct trod_batch *b, uint32_t i)
{
    if (!c->insn_tried) {
        c->insn_tried = true;
        trod_insn_decoder_new(&c->insn, c->meta->isa, c->meta->endian);
    }
    if (!c->insn)
        return NULL;
    return trod_insn_decode(c->insn, (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT, b->addr[i],
                            trod_batch_bytes(b, b->code[i]), b->code[i].len);
}

const struct trod_insn *chk_insn(struct chk *c, const struct trod_batch *b, uint32_t i)
{
    const struct trod_insn *insn;

    if (!chk_has(b, i, TROD_COL_CODE) || b->code[i].len == 0)
        return NULL;
    insn = decode(c, b, i);
    return insn && insn->valid ? insn : NULL;
}

/* Decode row I into F. */
static void fill_facts(struct chk *c, const struct trod_batch *b, uint32_t i, struct chk_facts *f)
{
    const struct trod_insn *insn = chk_insn(c, b, i);

    f->pc = b->addr[i];
    f->code = trod_batch_bytes(b, b->code[i]);
    f->valid = insn != NULL;
    if (!insn)
        return;
    f->flags = insn->flags;
    f->branch = insn->branch;
    f->loads = insn->loads;
    f->stores = insn->stores;
    f->target = insn->target;
}

const struct chk_facts *chk_facts_of(struct chk *c, const struct trod_batch *b, uint32_t i)
{
    struct chk_facts *f;

    if (!chk_has(b, i, TROD_COL_CODE) || b->code[i].len == 0)
        return NULL;
    if (!c->facts && !(c->facts = calloc(FACTS, sizeof *c->facts)))
        return NULL;
    f = &c->facts[(b->addr[i] ^ b->addr[i] >> 14) & (FACTS - 1)];
    /* Shared bytes stay what they are until a row says otherwise. */
    if (!(b->code[i].off & TROD_SLICE_SHARED) || (b->flags[i] & TROD_F_NEWCODE) ||
        f->pc != b->addr[i] || f->code != trod_batch_bytes(b, b->code[i]))
        fill_facts(c, b, i, f);
    return f->valid ? f : NULL;
}

/* A place for a finding of RULE, or NULL when enough are kept. */
static struct trod_finding *new_finding(struct chk *c, size_t rule)
{
    uint64_t keep = c->opt->keep ? c->opt->keep : KEEP;

    if (c->count[rule]++ >= keep)
        return NULL;
    if (c->n_found == c->cap_found) {
        size_t cap = c->cap_found ? 2 * c->cap_found : 64;
        struct trod_finding *f = realloc(c->found, cap * sizeof *f);

        if (!f)
            return NULL;
        c->found = f;
        c->cap_found = cap;
    }
    memset(&c->found[c->n_found], 0, sizeof *c->found);
    c->found[c->n_found].rule = trod_rule_at(rule);
    return &c->found[c->n_found++];
}

static void name_stream(struct chk *c, struct trod_finding *f)
{
    if (c->stream >= c->meta->n_streams)
        return;
    snprintf(f->stream, sizeof f->stream, "%s", c->meta->streams[c->stream].name);
    f->file = c->meta->streams[c->stream].file;
}

/* The record as text, where it is text. */
static void quote(struct trod_finding *f, const struct trod_batch *b, uint32_t i)
{
    uint32_t n, at = 0;
    const uint8_t *p;

    if (!chk_has(b, i, TROD_COL_RAW))
        return;
    p = trod_batch_bytes(b, b->raw[i]);
    n = b->raw[i].len < sizeof f->text - 1 ? b->raw[i].len : (uint32_t)sizeof f->text - 1;
    for (; at < n && p[at] >= ' ' && p[at] <= '~'; at++)
        f->text[at] = (char)p[at];
    if (at < n && p[at] != '\n' && p[at] != '\r')
        at = 0;
    f->text[at] = '\0';
}

void chk_report(struct chk *c, enum chk_rule rule, const struct trod_batch *b, uint32_t i,
                const char *fmt, ...)
{
    struct trod_finding *f;
    va_list args;

    if (!c->on[rule] || !(f = new_finding(c, rule)))
        return;
    va_start(args, fmt);
    vsnprintf(f->message, sizeof f->message, fmt, args);
    va_end(args);
    name_stream(c, f);
    f->ordinal = c->stream < c->n_streams ? c->streams[c->stream].last : 0;
    if (b) {
        f->ordinal = b->first + i;
        quote(f, b, i);
    }
}

int trod_check_add(void *st, const struct trod_rule *rule, uint64_t ordinal, const char *stream,
                   const char *message)
{
    struct chk *c = st;
    size_t i = 0;
    struct trod_finding *f;

    while (i < CHK_RULES && trod_rule_at(i) != rule)
        i++;
    if (i == CHK_RULES || !c->on[i] || !(f = new_finding(c, i)))
        return TROD_OK;
    f->ordinal = ordinal;
    snprintf(f->message, sizeof f->message, "%s", message);
    snprintf(f->stream, sizeof f->stream, "%s", stream ? stream : "");
    return TROD_OK;
}

static void choose_family(struct chk *c)
{
    unsigned family = trod_rule_family(c->meta->format);

    c->chosen = true;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i]->families & family)
            c->family = families[i];
}

static int stream_state(struct chk *c, uint32_t stream, struct chk_stream **out)
{
    if (stream >= c->n_streams) {
        uint32_t n = stream < 8 ? 16 : 2 * stream;
        struct chk_stream *s = realloc(c->streams, n * sizeof *s);

        if (!s)
            return TROD_ERR_NOMEM;
        memset(s + c->n_streams, 0, (n - c->n_streams) * sizeof *s);
        c->streams = s;
        c->n_streams = n;
    }
    *out = &c->streams[stream];
    if (!(*out)->st && !((*out)->st = calloc(1, c->family->stream_size)))
        return TROD_ERR_NOMEM;
    return TROD_OK;
}

static int feed(void *st, const struct trod_batch *b, struct trod_diag *diag)
{
    struct chk *c = st;

    (void)diag;
    if (!c->chosen)
        choose_family(c);
    if (!c->family)
        return TROD_OK;
    for (uint32_t i = 0, to; i < b->n; i = to) {
        uint32_t stream = b->have & TROD_COL_STREAM ? b->stream[i] : 0;
        struct chk_stream *s;
        int rc;

        for (to = i + 1; to < b->n && (!(b->have & TROD_COL_STREAM) || b->stream[to] == stream);)
            to++;
        if ((rc = stream_state(c, stream, &s)) < 0)
            return rc;
        c->switched = c->any && c->stream != stream;
        c->previous = c->stream;
        c->any = true;
        c->stream = stream;
        if ((rc = c->family->rows(c, s->st, b, i, to)) < 0)
            return rc;
        s->rows += to - i;
        s->last = b->first + to - 1;
    }
    return TROD_OK;
}

/* The streams end: once, when somebody asks what was found. */
static void finish(const void *st)
{
    struct chk *c = (struct chk *)(uintptr_t)st;

    if (c->ended || !c->family)
        return;
    c->ended = true;
    for (uint32_t i = 0; i < c->n_streams; i++) {
        c->stream = i;
        if (c->streams[i].st && c->family->end)
            c->family->end(c, c->streams[i].st);
    }
}

/* FROM's findings behind INTO's: its streams are others. */
static int merge(void *into, const void *from)
{
    struct chk *a = into;
    const struct chk *b = from;
    uint64_t keep = a->opt->keep ? a->opt->keep : KEEP, had[CHK_RULES];

    finish(into);
    finish(from);
    memcpy(had, a->count, sizeof had);
    for (size_t i = 0; i < b->n_found; i++) {
        size_t rule = 0;
        struct trod_finding *f;

        while (trod_rule_at(rule) != b->found[i].rule)
            rule++;
        if (a->count[rule] < keep && (f = new_finding(a, rule)))
            *f = b->found[i];
    }
    for (size_t i = 0; i < CHK_RULES; i++)
        a->count[i] = had[i] + b->count[i];
    return TROD_OK;
}

uint64_t trod_check_count(const void *st, const struct trod_rule *rule)
{
    const struct chk *c = st;

    finish(st);
    for (size_t i = 0; i < CHK_RULES; i++)
        if (trod_rule_at(i) == rule)
            return c->count[i];
    return 0;
}

const struct trod_finding *trod_check_finding(const void *st, size_t i)
{
    const struct chk *c = st;

    finish(st);
    return i < c->n_found ? &c->found[i] : NULL;
}

uint64_t trod_check_total(const void *st, enum trod_rule_severity severity)
{
    const struct chk *c = st;
    uint64_t n = 0;

    finish(st);
    for (size_t i = 0; i < CHK_RULES; i++)
        if (trod_rule_at(i)->severity >= severity)
            n += c->count[i];
    return n;
}

static void report_counts(const struct chk *c, struct trod_emit *e)
{
    static const char *const columns[] = {"rule", "severity", "findings"};

    trod_emit_table(e, "rules", "rules broken", columns, 3);
    for (size_t i = 0; i < CHK_RULES; i++) {
        if (c->count[i] == 0)
            continue;
        trod_emit_str(e, "rule", trod_rule_at(i)->id);
        trod_emit_str(e, "severity", trod_rule_severity_name(trod_rule_at(i)->severity));
        trod_emit_u64(e, "findings", c->count[i]);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static int report(const void *st, struct trod_emit *e)
{
    const struct chk *c = st;

    finish(st);
    trod_emit_list(e, "findings", NULL);
    for (size_t i = 0; i < c->n_found; i++) {
        const struct trod_finding *f = &c->found[i];

        trod_emit_open(e, NULL, f->rule->id);
        trod_emit_str(e, "rule", f->rule->id);
        trod_emit_str(e, "severity", trod_rule_severity_name(f->rule->severity));
        trod_emit_u64(e, "record", f->ordinal);
        if (f->stream[0])
            trod_emit_str(e, "stream", f->stream);
        trod_emit_str(e, "message", f->message);
        if (f->text[0])
            trod_emit_str(e, "text", f->text);
        trod_emit_close(e);
    }
    trod_emit_list_close(e);
    report_counts(c, e);
    return TROD_OK;
}

/* Columns that the rules for FORMAT look at; the record itself is quoted where it is text. */
static uint32_t uses_of(const char *format)
{
    if (trod_rule_family(format) == TROD_RULE_DRMEMTRACE)
        return TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
               TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_CODE;
    return TROD_COL_ALL & ~(uint32_t)TROD_COL_SITE;
}

static const struct trod_option options[] = {
    {"only", 0, TROD_OPT_LIST, offsetof(struct trod_check_options, only), "RULE,...",
     "apply only these rules, or the ones whose name begins so (drm.)", NULL, NULL},
    {"skip", 0, TROD_OPT_LIST, offsetof(struct trod_check_options, skip), "RULE,...",
     "do not apply these rules", NULL, NULL},
    {"keep", 0, TROD_OPT_U64, offsetof(struct trod_check_options, keep), "N",
     "findings of each rule to show (default 20); all are counted", NULL, NULL},
    {.type = TROD_OPT_END},
};

static const struct trod_check_options defaults = {.keep = KEEP};

const struct trod_analysis trod_analysis_check = {
    .name = "check",
    .title = "rules of the format that the trace breaks",
    .options = options,
    .options_size = sizeof(struct trod_check_options),
    .defaults = &defaults,
    .state_size = sizeof(struct chk),
    .needs = TROD_COL_KIND,
    .uses = TROD_COL_ALL & ~(uint32_t)TROD_COL_SITE,
    .uses_of = uses_of,
    .init = init,
    .feed = feed,
    .merge = merge,
    .report = report,
    .fini = fini,
};
