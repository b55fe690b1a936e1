/*
 * check.c - the analysis "check": rules of the trace's format over its rows.
 *
 * Implements check.h. It keeps a state a stream and a file, and hands runs of rows to the rules of
 * the family; what they find is collected in findings.c. Files are independent, so states of
 * different files merge. Memory is bounded by the number of streams and of findings kept.
 */
#include "check/parts.h"
#include "core/endian.h"
#include "core/sized.h"
#include "core/spare.h"
#include "core/zeroed.h"
#include "engine/stream_run.h"
#include "engine/streams.h"
#include "trod/drmemtrace.h"

#include <stdlib.h>
#include <string.h>

enum { KEEP = 20, FACTS_LEAST = 1 << 12, FACTS_MOST = 1 << 20, CODES = 1 << 13, CODES_SHIFT = 51 };

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static const struct chk_family *const families[] = {
    &chk_tarmac, &chk_amber, &chk_full, &chk_byu6, &chk_byu12, &chk_drm,
};

static bool selected(const struct trod_list *list, const char *id)
{
    for (size_t i = 0; i < list->n; i++) {
        size_t n = strlen(list->item[i]);

        if (n && strncmp(list->item[i], id, n) == 0 && (id[n] == '\0' || id[n - 1] == '.'))
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

int trod_check_options_valid(const struct trod_check_options *opt, struct trod_diag *diag)
{
    struct trod_check_options own;
    int rc = trod_sized(&own, sizeof own, sizeof own, opt)
                 ? check_names(&own.only, diag)
                 : trod_error(diag, TROD_ERR_USAGE, "check.options", NULL,
                              "options are of another version");

    if (rc == 0)
        rc = check_names(&own.skip, diag);
    if (rc == 0 && own.where) {
        struct trod_where *where;

        rc = trod_where_new(&where, own.where, NULL, diag);
        trod_where_free(where);
    }
    return rc;
}

static int init(void *st, const void *opt, const struct trod_context *context)
{
    struct chk *c = st;
    const struct trod_check_options *o = opt;
    int rc;

    c->keep = o->keep ? o->keep : KEEP;
    c->merged = o->merged;
    c->schedule.wanted = o->schedule;
    c->meta = context->meta;
    c->file = c->stream = UINT32_MAX;
    c->recording = context->recording;
    if (c->recording && c->meta->part && !(c->part = chk_part_new()))
        return TROD_ERR_NOMEM;
    if ((rc = trod_check_options_valid(o, context->diag)) < 0)
        return rc;
    if (o->where) {
        c->wanted = malloc(TROD_BATCH_ROWS);
        rc = c->wanted ? trod_where_new(&c->where, o->where, NULL, NULL) : TROD_ERR_NOMEM;
        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; i < CHK_RULES; i++) {
        const char *id = trod_rule_at(i)->id;

        c->on[i] = (o->only.n == 0 || selected(&o->only, id)) && !selected(&o->skip, id);
    }
    return TROD_OK;
}

static void release(struct chk *c, struct chk_stream *s)
{
    if (s->st && c->family->fini)
        c->family->fini(s->st);
    free(s->st);
    s->st = NULL;
}

static void fini(void *st)
{
    struct chk *c = st;

    for (uint32_t i = 0; i < c->n_streams; i++)
        release(c, &c->streams[i]);
    free(c->streams);
    free(c->files);
    free(c->lasts);
    free(c->counts);
    trod_where_free(c->where);
    free(c->wanted);
    free(c->found);
    trod_zeroed_free(c->facts, c->n_facts * sizeof *c->facts);
    trod_spare_give(c->codes, CODES * sizeof *c->codes);
    free(c->words);
    free(c->schedule.entry);
    chk_part_free(c->part);
    trod_insn_decoder_free(c->insn);
}

void chk_use_isa(struct chk *c, enum trod_isa isa)
{
    if (c->isa_known && c->isa == isa)
        return;
    trod_insn_decoder_free(c->insn);
    c->insn = NULL;
    c->insn_tried = false;
    c->isa_known = true;
    c->isa = isa;
    if (c->facts)
        memset(c->facts, 0, c->n_facts * sizeof *c->facts);
    if (c->codes)
        memset(c->codes, 0, CODES * sizeof *c->codes);
}

static const struct trod_insn *decode(struct chk *c, const struct trod_batch *b, uint32_t i)
{
    if (!c->insn_tried) {
        c->insn_tried = true;
        if (c->isa_known)
            trod_insn_decoder_new(&c->insn, c->isa, TROD_ENDIAN_LITTLE);
        else
            trod_insn_decoder_new(&c->insn, c->meta->isa, c->meta->endian);
    }
    if (!c->insn)
        return NULL;
    return trod_insn_decode(c->insn, (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT, b->addr[i],
                            trod_batch_bytes(b, b->code[i]), b->code[i].len);
}

/* Room for facts at place SLOT, as long as that is within reason. Fewer do, but are slower. */
static void grow_facts(struct chk *c, uint32_t slot)
{
    const size_t n = slot < FACTS_MOST ? (size_t)slot + 1 : FACTS_MOST;

    if (trod_zeroed_room(&c->facts, &c->n_facts, n, sizeof *c->facts) == TROD_OK)
        c->facts_mask = (uint32_t)c->n_facts - 1;
}

/* What row I is, whose opcode K has. */
static void fill_code(struct chk *c, const struct trod_batch *b, uint32_t i, struct chk_code *k)
{
    const uint32_t hint = TROD_INSN_PREFETCH | TROD_INSN_FLUSH;
    const struct trod_insn *insn = b->code[i].len ? decode(c, b, i) : NULL;

    k->facts = (struct chk_facts){.pc = b->addr[i], .valid = insn && insn->valid};
    if (!k->facts.valid)
        return;
    k->read_size = insn->read_size;
    k->write_size = insn->write_size;
    k->hint = (insn->flags & hint) != 0;
    k->facts.flags = insn->flags;
    k->facts.branch = insn->branch;
    k->facts.loads = (uint8_t)(insn->loads + k->hint);
    k->facts.stores = insn->stores;
    k->facts.target = insn->target;
    k->facts.op = *trod_batch_bytes(b, b->code[i]);
}

const struct chk_code *chk_code(struct chk *c, const struct trod_batch *b, uint32_t i)
{
    struct chk_code key = {.iset = (uint8_t)((b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT)};
    const struct trod_slice code = b->code[i];
    struct chk_code *k = &c->code;
    uint64_t h;

    if (code.len && code.len <= sizeof key.bytes &&
        (c->codes || (c->codes = trod_spare_zeroed(CODES * sizeof *c->codes)))) {
        key.len = (uint8_t)code.len;
        memcpy(key.bytes, trod_batch_bytes(b, code), code.len);
        h = trod_load_le64(key.bytes) * GOLDEN ^ trod_load_le64(key.bytes + 8);
        k = &c->codes[h * GOLDEN >> CODES_SHIFT];
        if (k->len == key.len && k->iset == key.iset &&
            memcmp(k->bytes, key.bytes, sizeof key.bytes) == 0 &&
            (k->facts.pc == b->addr[i] || !(k->facts.flags & TROD_INSN_TARGET)))
            return k;
    }
    *k = key;
    fill_code(c, b, i, k);
    return k;
}

const struct chk_facts *chk_facts_new(struct chk *c, const struct trod_batch *b, uint32_t i)
{
    const uint32_t off = b->code[i].off & ~(uint32_t)TROD_SLICE_SHARED;
    struct chk_facts *f;

    if (off >> 4 > c->facts_mask)
        grow_facts(c, off >> 4);
    f = &c->facts[off >> 4 & c->facts_mask];
    *f = chk_code(c, b, i)->facts;
    f->pc = b->addr[i];
    f->off = off;
    return f;
}

static void choose_family(struct chk *c)
{
    unsigned family = trod_rule_family(c->meta->format);

    c->chosen = true;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i]->families & family)
            c->family = families[i];
}

void chk_finish(struct chk *c)
{
    for (uint32_t i = 0; i < c->n_streams; i++) {
        if (!c->streams[i].st)
            continue;
        c->stream = i;
        c->file = c->streams[i].file;
        if (c->family->end)
            c->family->end(c, c->streams[i].st);
        release(c, &c->streams[i]);
    }
}

static int settle(void *st, uint32_t file)
{
    (void)file;
    chk_finish(st);
    return TROD_OK;
}

static int grow_files(struct chk *c, uint32_t file)
{
    uint32_t n = file < 4 ? 8 : 2 * file;
    size_t size = c->family->file_size;
    uint32_t *lasts = realloc(c->lasts, n * sizeof *lasts);
    uint64_t *counts;
    uint8_t *files;

    if (!lasts)
        return TROD_ERR_NOMEM;
    c->lasts = lasts;
    if (!(counts = realloc(c->counts, n * sizeof *counts)))
        return TROD_ERR_NOMEM;
    c->counts = counts;
    if (!(files = realloc(c->files, n * (size ? size : 1))))
        return TROD_ERR_NOMEM;
    c->files = files;
    memset(lasts + c->n_files, 0, (n - c->n_files) * sizeof *lasts);
    memset(counts + c->n_files, 0, (n - c->n_files) * sizeof *counts);
    memset(files + c->n_files * size, 0, (n - c->n_files) * size);
    c->n_files = n;
    return TROD_OK;
}

int chk_use_file(struct chk *c, uint32_t file)
{
    c->file = file;
    return file < c->n_files ? TROD_OK : grow_files(c, file);
}

/* Rows of FILE come. In file order the one before is over. */
static int enter_file(struct chk *c, uint32_t file, const struct trod_batch *b)
{
    if (!c->merged) {
        chk_finish(c);
        c->any = false;
        c->base = b->first;
        c->lines_known = c->family->text;
        c->lines = 1;
        c->lines_to = c->part ? b->offset : 0;
    }
    return chk_use_file(c, file);
}

/* The idle of all cores is one stream, of no file; other streams of its format are threads. */
static bool is_idle(const struct chk *c, uint32_t key)
{
    const struct trod_stream *s = chk_stream_of(c, key);

    return c->merged && c->family == &chk_drm && s && s->tid == TROD_NOWHERE;
}

/* Which file rows of the stream of KEY are from. */
static uint32_t file_of(const struct chk *c, uint32_t key)
{
    const struct trod_stream *s = chk_stream_of(c, key);

    if (!c->merged || !s)
        return c->meta->file;
    return is_idle(c, key) && c->file != UINT32_MAX ? c->file : s->file;
}

/* Rows [FROM, TO) of B are of the stream of KEY: where in their file they are. */
static void count_rows(struct chk *c, const struct trod_batch *b, uint32_t key, uint32_t from,
                       uint32_t to)
{
    if (!c->merged)
        return;
    c->base = b->first + from - c->counts[c->file];
    c->counts[c->file] += is_idle(c, key) ? 0 : to - from;
}

int chk_stream_state(struct chk *c, uint32_t key, void **out)
{
    struct chk_stream *s;

    if (key >= c->n_streams) {
        uint32_t n = key < 8 ? 16 : 2 * key;

        s = realloc(c->streams, n * sizeof *s);
        if (!s)
            return TROD_ERR_NOMEM;
        memset(s + c->n_streams, 0, (n - c->n_streams) * sizeof *s);
        c->streams = s;
        c->n_streams = n;
    }
    s = &c->streams[key];
    if (!s->st && !(s->st = calloc(1, c->family->stream_size)))
        return TROD_ERR_NOMEM;
    s->file = c->file;
    c->previous = c->lasts[c->file] - 1;
    c->switched = c->lasts[c->file] != 0 && c->previous != key;
    c->lasts[c->file] = key + 1;
    c->stream = key;
    *out = s->st;
    return TROD_OK;
}

/* At which of the rows [FROM, TO) of B findings count. */
static int judge(struct chk *c, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct trod_batch rows;
    int rc;

    if (!c->where)
        return TROD_OK;
    trod_batch_view(&rows, b, from, to - from);
    memset(c->wanted + from, 1, to - from);
    rc = trod_where_batch(c->where, &rows, b->first + from - c->base, c->wanted + from);
    return rc < 0 ? rc : TROD_OK;
}

int chk_use_facts(struct chk *c)
{
    if (!c->family->facts || c->facts)
        return TROD_OK;
    grow_facts(c, FACTS_LEAST - 1);
    return c->facts ? TROD_OK : TROD_ERR_NOMEM;
}

static int feed(void *st, const struct trod_batch *batch, uint32_t from, uint32_t end)
{
    struct trod_batch view;
    const struct trod_batch *b = trod_batch_rows(&view, batch, from, end);
    struct chk *c = st;
    int rc;

    if (!c->chosen)
        choose_family(c);
    if (!c->family)
        return TROD_OK;
    rc = chk_use_facts(c);
    for (uint32_t i = 0, to; rc == TROD_OK && i < b->n; i = to) {
        const uint32_t key = trod_stream_key(b, i), file = file_of(c, key);
        void *state;

        to = engine_stream_run(b, i, b->n);
        if (file != c->file || (!c->merged && !c->any))
            rc = enter_file(c, file, b);
        if (rc == TROD_OK)
            rc = chk_stream_state(c, key, &state);
        if (rc == TROD_OK) {
            count_rows(c, b, key, i, to);
            rc = judge(c, b, i, to);
        }
        if (rc < 0)
            break;
        c->any = true;
        rc = (c->part ? chk_part_rows : c->family->rows)(c, state, b, i, to);
        c->streams[key].last = b->first + to - 1 - c->base;
    }
    c->rows = b->first + b->n - c->base;
    if (c->lines_known)
        chk_count_lines(c, b, b->offset + b->bytes_n);
    return rc;
}

/* Columns that the rules for FORMAT look at; the record itself is quoted where it is text. */
static uint32_t rules_use(const char *format)
{
    if (trod_rule_family(format) == TROD_RULE_DRMEMTRACE)
        return TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
               TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_CODE | TROD_COL_RAW;
    return TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE;
}

static uint32_t uses_of(const char *format, const void *opt)
{
    const struct trod_check_options *o = opt;
    struct trod_where *where = NULL;
    uint32_t uses = rules_use(format);

    if (o && o->where && trod_where_new(&where, o->where, NULL, NULL) == 0)
        uses |= trod_where_want(where) & ~(uint32_t)TROD_COL_MADE;
    trod_where_free(where);
    return uses;
}

/* Where a choice of rows goes by their numbers, all that come before must be known. */
static bool records(const void *opt)
{
    const struct trod_check_options *o = opt;

    return !o->where && !o->merged;
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
    .sized = true,
    .defaults = &defaults,
    .state_size = sizeof(struct chk),
    .order = TROD_STREAM_ORDER,
    .direct = true,
    .needs = TROD_COL_KIND,
    .uses = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE,
    .uses_of = uses_of,
    .init = init,
    .feed = feed,
    .merge = chk_merge,
    .settle = settle,
    .save = chk_save,
    .load = chk_load,
    .result = chk_result,
    .fini = fini,
    .records = records,
    .recorded = chk_part_bytes,
};
