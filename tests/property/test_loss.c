/*
 * test_loss.c - the account of a conversion is what a comparison row by row finds.
 *
 * Every golden file, and random rows of every format, are written in every format (and in the
 * dialects of Tarmac) with losses allowed, and read again. Nothing of the product is used for the
 * comparison but its decoders. By kind, the rows that are not in the output must be as many as the
 * writer says; by kind and column, the rows that are there but do not say what they said.
 *
 * A row is in the output when the rows there, from one on, are what it becomes:
 *   - the row itself, of its kind, with its address and what else identifies it (same_event);
 *   - bus traces: a reference for each run of bytes in a bus word, an instruction or a prefetch of
 *     code being a fetch (BUS), an atomic access a READ and a WRITE; the es dialect of Tarmac:
 *     pictures of 16 bytes;
 *   - memory tracers' lines: a fetch on a bus is an INSTR, an atomic access a READ and a WRITE
 * where there is no line for it; a text may be cut to its first word;
 *   - ChampSim: the loads of an instruction come before its stores; cbp2025: its access comes
 * before its registers and may be several neighbouring ones; their names are in lower case there
 * and in Trace Matcher;
 *   - drmemtrace: a fetch on a bus is an INSTR, an atomic access a READ and a WRITE, and
 *     neighbouring accesses may be one.
 * What other rows show is not asked for: in Tarmac and Trace Matcher the pc of an access or a
 * register, which is that of the instruction before it, or it is lost; in Tarmac and drmemtrace
 * where an instruction goes on, which the next one shows, or it is lost. The pc of an instruction
 * on a bus is the address of its fetch. Of names of cpus only the letters of words are kept. The
 * kind of a branch may be that of its opcode. Streams may be numbered anew. The times of byu12
 * are differences; drmemtrace has none of a row's own. Details are compared by presence, and taken
 * as the same within a family of formats. Rows that the target makes up are left out (made_up).
 *
 * Where rows are alike, it cannot be seen which of them an output row is, and which are lost. The
 * account is right if it is that of any pairing (search).
 */
#include "loss_rows.h"

#include <unistd.h>

enum { GENERATED = 10 };

/* The trace has physical addresses in other records than those of its rows. */
static bool physical;

static int load(struct rows *l, const char *path, const char *from)
{
    const struct trod_trace_options opt = {
        .from = from, .want = TROD_COL_ALL, .beside.more = physical};
    struct trod_diag quiet;
    struct trod_trace *t;
    struct trod_batch *b;
    int rc;

    *l = (struct rows){0};
    trod_diag_init(&quiet, NULL, NULL);
    rc = trod_trace_open(&t, &path, 1, &opt, &quiet);
    if (rc != TROD_OK)
        return rc;
    l->format = trod_trace_format(t);
    l->big = trod_trace_meta(t)->endian == TROD_ENDIAN_BIG;
    l->little = trod_trace_meta(t)->endian == TROD_ENDIAN_LITTLE;
    while ((rc = trod_trace_next(t, &b)) > 0)
        for (uint32_t i = 0; i < b->n; i++)
            loss_rows_add(l, b, i);
    l->isa = trod_trace_meta(t)->isa != TROD_ISA_UNKNOWN; /* drmemtrace: known with its rows */
    trod_trace_close(t);
    return TROD_OK;
}

/*
 * The rows of B to W, BY at a time; 0: all at once. The first half is put in one go: what is
 * written depends on whether an instruction among the first rows has an opcode.
 */
static int put(struct trod_writer *w, const struct trod_batch *b, uint32_t by)
{
    int rc = TROD_OK;

    for (uint32_t i = 0, n; rc == TROD_OK && i < b->n; i += n) {
        struct trod_batch view;

        n = by && by < b->n - i ? by : b->n - i;
        n = by && i == 0 && b->n > 1 ? b->n / 2 : n;
        rc = trod_writer_put(w, trod_batch_rows(&view, b, i, i + n));
    }
    return rc;
}

/* IN as the format TO says, with losses allowed or not, rows put BY at a time. */
static int convert_by(const char *in, const char *from, const char *out, const char *to, bool allow,
                      uint32_t by, struct trod_writer_summary *sum)
{
    const struct trod_trace_options opt = {
        .from = from, .want = TROD_COL_ALL, .beside.more = physical};
    struct trod_writer_options w = {.to = to, .allow_loss = allow};
    struct trod_writer *writer;
    struct trod_diag quiet;
    struct trod_trace *t;
    struct trod_batch *b;
    int rc, rc_in;

    trod_diag_init(&quiet, NULL, NULL);
    if (trod_trace_open(&t, &in, 1, &opt, &quiet) != TROD_OK)
        return TROD_ERR_UNKNOWN;
    w.source = trod_trace_format(t);
    w.source_options = trod_trace_format_options(t);
    rc = trod_writer_open(&writer, out, &w, trod_trace_meta(t), &quiet);
    if (rc == TROD_OK)
        trod_trace_want(t, trod_writer_want(writer));
    while (rc == TROD_OK && (rc_in = trod_trace_next(t, &b)) > 0)
        rc = put(writer, b, by);
    if (rc == TROD_OK)
        rc = trod_writer_commit(writer, sum);
    else
        trod_writer_discard(writer);
    trod_trace_close(t);
    return rc;
}

static int convert(const char *in, const char *from, const char *out, const char *to, bool allow,
                   struct trod_writer_summary *sum)
{
    return convert_by(in, from, out, to, allow, 0, sum);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* How far the comparison is from the account. */
static uint64_t distance(const struct pair *p, const struct trod_loss *l)
{
    uint64_t sum = apart(p->invented, l->invented) + (p->n_out - p->at);

    for (unsigned k = 0; k < TROD_KINDS; k++) {
        sum += apart(p->rows[k], l->rows[k]);
        for (unsigned c = 0; c < TROD_COLUMNS; c++)
            sum += apart(p->columns[k][c], l->columns[k][c]);
    }
    return sum;
}

/*
 * Pair the rows of P. Each output row is that of the first input row that may become it; as long as
 * this is not what the account says, the input row is taken as lost that brings it nearest to that.
 */
static void search(struct pair *p, const struct trod_loss *l)
{
    uint64_t best, before;

    p->most_invented = l->invented;
    loss_align(p);
    best = distance(p, l);
    do {
        size_t at = p->n_in;

        before = best;
        for (size_t i = 0; best > 0 && i < p->n_in; i++) {
            uint64_t now;

            if (p->gone[i] || !l->rows[p->in[i].kind])
                continue;
            p->gone[i] = 1;
            loss_align(p);
            now = distance(p, l);
            at = now < best ? i : at;
            best = now < best ? now : best;
            p->gone[i] = 0;
        }
        if (at < p->n_in)
            p->gone[at] = 1;
        loss_align(p);
    } while (best > 0 && best < before);
}

static unsigned say(const struct pair *p, const char *what, unsigned kind, const char *column,
                    uint64_t is, uint64_t said)
{
    if (is == said)
        return 0;
    fprintf(stderr, "%s to %s: %s %s %s: %llu, the account says %llu\n", p->name, p->to, what,
            trod_kind_name(kind), column, (unsigned long long)is, (unsigned long long)said);
    return 1;
}

/* Differences between the comparison and the account. */
static unsigned check(const struct pair *p, const struct trod_loss *l)
{
    unsigned wrong = say(p, "accesses invented,", 0, "", p->invented, l->invented);

    for (unsigned k = 0; k < TROD_KINDS; k++) {
        wrong += say(p, "rows lost,", k, "", p->rows[k], l->rows[k]);
        for (unsigned c = 0; c < TROD_COLUMNS; c++)
            wrong +=
                say(p, "lost of rows,", k, trod_column_name(c), p->columns[k][c], l->columns[k][c]);
    }
    if (p->at < p->n_out) {
        fprintf(stderr, "%s to %s: output row %zu of %zu, %s at 0x%llx, is of no input row\n",
                p->name, p->to, p->at, p->n_out, trod_kind_name(p->out[p->at].kind),
                (unsigned long long)p->out[p->at].addr);
        wrong++;
    }
    return wrong;
}

static void prepare(struct pair *p, const struct rows *in, struct rows *out)
{
    size_t n = 0;

    p->from = in->format;
    p->target = out->format;
    p->bus = loss_family(p->target) == 3;
    p->drm = loss_family(p->target) == 4;
    p->amber = loss_family(p->target) == 1;
    p->turned = p->amber && in->little;
    p->memory = loss_family(p->target) == 6;
    p->big = in->big;
    p->isa = in->isa;
    p->es = strstr(p->to, "dialect=es") != NULL;
    p->in = in->row;
    p->n_in = in->n;
    p->out = calloc(out->n + 1, sizeof *p->out);
    p->gone = calloc(in->n + 1, 1);
    if (!p->out || !p->gone)
        test_die("out of memory");
    for (size_t i = 0; i < out->n; i++)
        if (!loss_made_up(p, &out->row[i]))
            p->out[n++] = out->row[i];
    p->n_out = n;
}

struct job {
    char *dir, *in;
    const struct golden *golden;
    unsigned pairs, wrong;
};

/* A file's name for the format TO: one file, whatever the streams. */
static char *name_for(const struct job *j, const char *stem, const char *to)
{
    const struct trod_format *f = trod_format_find(to, strcspn(to, ":"));
    char name[64];

    snprintf(name, sizeof name, "%s%s", stem, f->suffixes[0]);
    return test_path(j->dir, name);
}

/* Without --allow-loss: refused, and no output, exactly when something is lost. */
static unsigned refused(const struct job *j, const struct pair *p, const struct trod_loss *l)
{
    struct trod_writer_summary sum;
    char *out = name_for(j, "refused", p->to);
    const int rc = convert(j->in, j->golden->format->name, out, p->to, false, &sum);
    const bool there = access(out, F_OK) == 0;
    const bool wrong = trod_loss_any(l) ? rc != TROD_ERR_LOSS || there : !there && rc == TROD_OK;

    if (wrong)
        fprintf(stderr, "%s to %s: not refused as it should be: status %d\n", p->name, p->to, rc);
    if (there)
        unlink(out);
    free(out);
    return wrong;
}

static bool same_account(const struct trod_loss *a, const struct trod_loss *b)
{
    return memcmp(a->rows, b->rows, sizeof a->rows) == 0 &&
           memcmp(a->columns, b->columns, sizeof a->columns) == 0 &&
           memcmp(a->left, b->left, sizeof a->left) == 0;
}

/*
 * PATH, which SUM tells of, is the same where rows are put a few at a time: the encoder of
 * drmemtrace has a loop for many rows, and does without it for few. Of packets of gem5 few have an
 * opcode, the first of them often in the second half.
 */
static unsigned few(const struct job *j, const struct pair *p, const char *path,
                    const struct trod_writer_summary *sum)
{
    char *out = name_for(j, "few", p->to);
    struct trod_writer_summary of_few;
    struct trod_buf a = test_load(path), b;
    bool same;

    assert_int_equal(convert_by(j->in, j->golden->format->name, out, p->to, true, 3, &of_few),
                     TROD_OK);
    b = test_load(out);
    same = a.n == b.n && memcmp(a.p, b.p, a.n) == 0 && same_account(&sum->loss, &of_few.loss);
    if (!same)
        fprintf(stderr, "%s to %s: otherwise where few rows are put at a time\n", p->name, p->to);
    trod_buf_fini(&a);
    trod_buf_fini(&b);
    unlink(out);
    free(out);
    return !same;
}

/*
 * What was written as TO, from IN. Texts of opcodes as numbers do not say in which byte order the
 * opcodes were: who reads them does.
 */
static int load_written(struct rows *out, const char *path, const char *to, const struct rows *in)
{
    const struct trod_format *f = trod_format_find(to, strcspn(to, ":"));
    char from[64];

    if (!in->big || !(loss_is(f, "tarmac") || loss_is(f, "matcher")))
        return load(out, path, to);
    snprintf(from, sizeof from, "%s%cendian=big", to, strchr(to, ':') ? ',' : ':');
    return load(out, path, from);
}

static void try_pair(struct job *j, const char *to)
{
    struct pair *p = calloc(1, sizeof *p);
    struct trod_writer_summary sum;
    char *path = name_for(j, "out", to);
    struct rows in, out;

    if (!p)
        test_die("out of memory");
    p->name = j->golden->name;
    p->to = to;
    if (convert(j->in, j->golden->format->name, path, to, true, &sum) == TROD_OK) {
        assert_int_equal(load(&in, j->in, j->golden->format->name), TROD_OK);
        assert_int_equal(load_written(&out, path, to, &in), TROD_OK);
        prepare(p, &in, &out);
        search(p, &sum.loss);
        j->pairs++;
        j->wrong += check(p, &sum.loss) + refused(j, p, &sum.loss);
        if (p->drm && !loss_is(p->from, "gem5packet"))
            j->wrong += few(j, p, path, &sum);
        loss_rows_fini(&in);
        loss_rows_fini(&out);
        unlink(path);
    }
    free(path);
    free(p->out);
    free(p->gone);
    free(p);
}

static unsigned wrong, pairs;

static void try_all(const struct golden *g)
{
    static const char *const dialects[] = {"tarmac:dialect=fm", "tarmac:dialect=es",
                                           "tarmac:dialect=gem5"};
    struct job j = {.golden = g};

    if (g->damaged || strstr(g->name, "core-sharded"))
        return;
    /* tables may say of any kind of row what no trace says of it */
    if (strstr(g->name, "csv, random rows") || strstr(g->name, "kinds.canonical.csv"))
        return;
    /* which of the instructions without an address is there cannot be told */
    if (strstr(g->name, "bt9/variants"))
        return;
    physical = strstr(g->name, "physical") != NULL;
    j.dir = test_tmpdir();
    j.in = test_path(j.dir, "in");
    test_save(j.in, g->data.p, g->data.n);
    for (size_t i = 0; trod_format_at(i); i++)
        if (trod_format_at(i)->begin && !loss_is(trod_format_at(i), "tarmac"))
            try_pair(&j, trod_format_at(i)->name);
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
        try_pair(&j, dialects[i]);
    wrong += j.wrong;
    pairs += j.pairs;
    test_remove(j.dir);
    free(j.dir);
    free(j.in);
}

static void test_account(void **state)
{
    (void)state;
    golden_each(GENERATED, try_all);
    print_message("%u conversions\n", pairs);
    assert_true(pairs > 100);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_account)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
