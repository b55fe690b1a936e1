/*
 * plan.c - cutting the files of a trace into pieces of work, and selecting those of this process.
 *
 * Implements docs/design.md, "The engine", units. Of the files, only as much is read as is needed
 * to find the cuts (trod_trace_cuts).
 */
#include "engine/run_int.h"

#include "trace/cuts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Parts of a plain file for each thread, so that all threads finish at about the same time. */
enum { TURNS = 8 };

/*
 * Time to decode rows and count them, find their sites, simulate what depends on their order, keep
 * their lines in the order of their last use (large states), or find where they are in the file
 * (places), in per cent of the first (trod_parts.cost). A chained part is read by a thread that has
 * made the outline of the part before it first, so the first part, which has none before it, is
 * longer.
 */
enum { COUNTING = 100, FINDING_SITES = 175, SIMULATING = 225, STACKING = 300, PLACING = 1250 };

/*
 * Groups of archive members for each thread if each group must learn again what others have
 * learned: all instructions of the program, or, at a higher cost, the data that large states
 * describe.
 */
enum { SITE_TURNS = 2, LARGE_TURNS = 1 };

/*
 * The bytes of a piece that is recorded: of a plain file, also where each piece learns all
 * instructions again (SITES). TOO_LARGE, PACKED: the most, of a plain file that cannot have more
 * pieces, and of a compressed one.
 */
enum {
    PLAIN_RECORDED = 64 << 20,
    SITES_RECORDED = 256 << 20,
    PLAIN_TOO_LARGE = 512 << 20,
    PACKED_RECORDED = 64 << 20
};

/* Are cuts chosen to suit the threads of this process? Otherwise all processes must cut alike. */
static bool for_threads(const struct trod_run *r)
{
    return r->opt.parts < 2 && !r->opt.piece;
}

/* Does an analysis keep rows of pieces that cover CUT, to be processed when they are merged? */
static bool records(const struct trod_run *r, enum run_cut cut)
{
    for (size_t i = 0; i < r->n_items; i++)
        if (engine_item_records(&r->item[i], cut) && r->item[i].keeps)
            return true;
    return false;
}

/* Does it record most rows? A direct analysis records only the few rows that it is not sure of. */
static bool records_much(const struct trod_run *r, enum run_cut cut)
{
    for (size_t i = 0; i < r->n_items; i++)
        if (engine_item_records(&r->item[i], cut) && r->item[i].keeps &&
            !r->item[i].analysis->direct)
            return true;
    return false;
}

/* Is all that is recorded merged by all threads, so that none waits for the merging? */
static bool shared(const struct trod_run *r)
{
    for (size_t i = 0; i < r->n_items; i++)
        if (r->item[i].records && run_takers(r, &r->item[i]) < r->opt.jobs)
            return false;
    return true;
}

/* Does R have an analysis that finds where rows are in a file (direct), and is fed by parts? */
static bool places(const struct trod_run *r)
{
    for (size_t i = 0; i < r->n_items; i++)
        if (engine_item_records(&r->item[i], RUN_BYTES) && r->item[i].analysis->direct)
            return true;
    return false;
}

/* Does R have an analysis with large states? */
static bool has_large(const struct trod_run *r)
{
    for (size_t i = 0; i < r->n_items; i++)
        if (r->item[i].analysis->take)
            return true;
    return false;
}

/* Time for what R does with rows: one of those above. */
static unsigned time_for_rows(const struct trod_run *r)
{
    if (places(r))
        return PLACING;
    for (size_t i = 0; i < r->n_items; i++)
        if (r->item[i].order != TROD_ANY_ORDER)
            return SIMULATING;
    if (has_large(r))
        return STACKING;
    return r->sites ? FINDING_SITES : COUNTING;
}

/*
 * From this number of files on, files are not cut if an analysis would record rows of their parts
 * because it needs the order of streams: of whole files it records nothing.
 */
enum { WHOLE_FILES = 4 };

/* Can parts of a plain file of format F be decoded by themselves? */
static bool stands_alone(const struct trod_format *f)
{
    return f->parts ? f->parts->enter != NULL : f->cuts || f->stride;
}

/* May the run be repeated after rows were fed to item IT? */
static bool may_repeat(const struct engine_item *it)
{
    return !it->analysis->acts || !it->analysis->acts(it->opt);
}

/*
 * May several threads decode parts of the file whose rows are then fed in order (in_order.c)? This
 * needs a single analysis that requires the order, uses no sites, and cannot be divided by rows or
 * shards; and one plain file of a format whose parts can be decoded independently.
 */
static bool may_go_in_order(const struct trod_run *r)
{
    const struct trod_format *f = trod_trace_format(r->whole);
    const struct engine_item *it = &r->item[0];

    return r->opt.parts < 2 && r->opt.jobs > 1 && r->n_items == 1 &&
           trod_trace_files(r->whole) == 1 && f && stands_alone(f) && !r->sites && !r->again &&
           it->order != TROD_ANY_ORDER && !it->records && it->shards == 1 &&
           !it->analysis->direct && !it->analysis->light && (!f->parts || may_repeat(it));
}

/* May files be cut into parts? If whole files would not keep all threads busy, and all analyses
 * allow it. */
static bool may_part(const struct trod_run *r)
{
    const size_t files = trod_trace_files(r->whole);

    if (r->opt.parts < 2 &&
        (r->opt.jobs < 2 || files >= 4 * (size_t)r->opt.jobs ||
         (files >= WHOLE_FILES && records(r, RUN_BYTES) && !records(r, RUN_WHOLE))))
        return false;
    for (size_t i = 0; i < r->n_items && !r->in_order; i++)
        if (r->item[i].order != TROD_ANY_ORDER && !r->item[i].records)
            return false;
    return true;
}

/* The bytes of a piece of a plain file whose rows are recorded, where it may have enough pieces. */
static uint64_t plain_recorded(const struct trod_run *r)
{
    return r->sites ? SITES_RECORDED : PLAIN_RECORDED;
}

/* The least bytes of a chained part for which the cost of learning its instructions again is small.
 */
enum { LEARNT = 64 << 20 };

/*
 * The most parts that FILE, a plain file of format F, is cut into. If parts are chained, or decode
 * all instructions, there are as many as threads, because each part has to learn the code and data
 * of the program. If they record much, there are more, so that the records of one part are merged
 * while others are read.
 */
static size_t parts_of(const struct trod_run *r, size_t file, const struct trod_format *f)
{
    const size_t jobs = r->opt.jobs;
    const uint64_t recorded = trod_trace_bytes(r->whole, file) / plain_recorded(r);
    const bool much = records_much(r, RUN_BYTES), relearns = (f && f->parts) || places(r);
    size_t n = relearns && (!much || shared(r)) ? jobs : jobs * TURNS;

    if (r->in_order) { /* as small as parts are: a unit keeps little (in_order.c) */
        const uint64_t some = trod_trace_bytes(r->whole, file) / TROD_RUN_PIECE;

        n = some > n ? (size_t)some : n;
        return n < RUN_PARTS_IN_ORDER ? n : RUN_PARTS_IN_ORDER;
    }
    if (!for_threads(r) || jobs < 2)
        return RUN_PARTS;
    if (much && n < recorded + 1) {
        n = (size_t)recorded + 1;
        n += (jobs - n % jobs) % jobs; /* the same number for each thread */
    }
    return n < RUN_PARTS ? n : RUN_PARTS;
}

/* The number of groups that the MEMBERS of FILE, an archive, are divided into. */
static size_t groups_of(const struct trod_run *r, size_t file, uint64_t members)
{
    const uint64_t jobs = r->opt.jobs;
    uint64_t n = members < RUN_PARTS ? members : RUN_PARTS, some = n;

    if (for_threads(r) && jobs > 1) {
        if (r->sites) {
            some = trod_trace_bytes(r->whole, file) / PACKED_RECORDED + 1;
            some = jobs * SITE_TURNS > some ? jobs * SITE_TURNS : some;
        } else if (places(r)) {
            some = jobs * SITE_TURNS; /* it decodes all instructions of the program, too */
        } else if (has_large(r)) {
            some = jobs * LARGE_TURNS;
        }
    }
    n = n < some ? n : some;
    return (size_t)n;
}

/*
 * Is FILE, a plain file of format F, better decoded by one thread while others run the analyses? If
 * parts are chained and sites are wanted, each part learns all instructions again. With analyses
 * that need an order, that pays only if parts are large, and if they do not record.
 */
static bool keep_whole(const struct trod_run *r, size_t file, const struct trod_format *f)
{
    const bool small = trod_trace_bytes(r->whole, file) / r->opt.jobs < LEARNT;

    return f && f->parts && r->sites && run_is_ordered(r) &&
           (small || (records(r, RUN_BYTES) && !shared(r))) && for_threads(r);
}

/* The cuts of a file: piece k is [AT[k], AT[k + 1]); rows before it are read from BEFORE[k] on. */
struct cuts {
    uint64_t at[RUN_PARTS_IN_ORDER + 1], before[RUN_PARTS_IN_ORDER + 1];
};

/* The number of pieces of at least BYTES that file I can be cut into; MOST + 1 at the most. */
static size_t pieces_of(const struct trod_run *r, size_t i, uint64_t bytes, size_t most)
{
    const uint64_t size = trod_trace_bytes(r->whole, i);
    const uint64_t n = size == TROD_NOWHERE ? 0 : size / bytes;

    return n < most + 1 ? (size_t)n : most + 1;
}

/*
 * Cut file I into PIECES chained parts, one for each thread, so that all threads finish at the same
 * time. Otherwise as trod_trace_cuts.
 */
static size_t cut_for_threads(const struct trod_run *r, size_t i, size_t pieces, uint64_t *at,
                              struct run_piece *piece)
{
    const double size = (double)trod_trace_bytes(r->whole, i);
    const unsigned cost = piece->assumes ? 0 : trod_trace_format(r->whole)->parts->cost;
    const double other = 1 - (double)cost / time_for_rows(r);
    const double first = 1 / (1 + (double)(pieces - 1) * other);
    uint64_t want[RUN_PARTS];
    size_t n = 0;

    for (size_t k = 0; k + 1 < pieces; k++)
        want[k] = (uint64_t)(first * (1 + (double)k * other) * size);
    if (pieces < 2 || !trod_trace_cuts_near(r->whole, i, want, pieces - 1, at, &piece->as))
        return 0;
    for (size_t k = 0; k + 1 < pieces; k++)
        if (at[k] != TROD_NOWHERE)
            at[n++] = at[k];
    return n;
}

/*
 * Cut file I, if it is a plain one; as cut_file. A cut may separate an instruction from its
 * accesses. If these need their site, rows before the cut are read first (lead.c); chained parts
 * begin with an instruction instead.
 */
static size_t cut_plain(const struct trod_run *r, size_t i, struct cuts *c, size_t most,
                        struct run_piece *piece)
{
    const uint64_t bytes = r->opt.piece ? r->opt.piece : TROD_RUN_PIECE;
    const struct trod_format *f = trod_trace_format(r->whole);
    const size_t pieces = pieces_of(r, i, bytes, most);
    size_t n;

    if (r->owned && !(f && f->parts))
        return run_lead_cuts(r, i, pieces, &c->at[1], &c->before[1], &piece->as);
    n = f && f->parts && most == r->opt.jobs - 1 && for_threads(r)
            ? cut_for_threads(r, i, pieces, &c->at[1], piece)
            : trod_trace_cuts(r->whole, i, bytes, false, &c->at[1], most, &piece->as);
    memcpy(&c->before[1], &c->at[1], n * sizeof *c->at);
    return r->owned && n && !piece->as.format->parts ? 0 : n;
}

/* May compressed files of format F be cut at frames? */
static bool may_cut_frames(const struct trod_run *r, const struct trod_format *f)
{
    return r->opt.parts < 2 && !r->again && !r->in_order && f && stands_alone(f) &&
           (!r->owned || f->parts); /* their parts begin with an instruction */
}

/*
 * Cut file I at C; returns the number of pieces. Frames of a compressed file, and parts whose
 * opcodes may stand in earlier parts, are tried only if this process reads the whole trace: only
 * then can it repeat the run if a part cannot be read by itself. With several processes, the cuts
 * depend on the file alone.
 */
static size_t cut_file(struct trod_run *r, size_t i, struct cuts *c, struct run_piece *piece)
{
    const uint64_t bytes = r->opt.piece ? r->opt.piece : TROD_RUN_PIECE;
    const struct trod_format *f = trod_trace_format(r->whole);
    uint64_t members = trod_trace_members(r->whole, i);
    const size_t most = parts_of(r, i, f) - 1;
    size_t n = r->in_order || r->again ? 1 : groups_of(r, i, members);

    piece->cut = n > 1 ? RUN_MEMBERS : RUN_WHOLE;
    r->tentative |= n > 1; /* they may prove damaged (members.c) */
    for (size_t k = 0; k <= n; k++)
        c->at[k] = members * k / n;
    if (n > 1 || (r->sites && (r->opt.parts > 1 || r->again)))
        return n ? n : 1;
    piece->assumes = run_assume_ask(r, i);
    n = cut_plain(r, i, c, most, piece);
    if (n && keep_whole(r, i, f)) {
        c->at[1] = members;
        return 1;
    }
    if (n && piece->as.format->parts) {
        const bool enters = piece->as.format->parts->enter != NULL;

        piece->apart = r->opt.parts < 2 && !r->again && enters;
        piece->chained = r->opt.parts > 1 || (!r->again && !enters && !piece->assumes);
        r->tentative |= piece->chained || piece->apart || piece->assumes;
        n = piece->chained || piece->apart || piece->assumes ? n : 0;
    }
    piece->assumes &= n > 0;
    if (n == 0 && may_cut_frames(r, f)) {
        n = trod_trace_cuts(r->whole, i, bytes, true, &c->at[1], RUN_PARTS - 1, &piece->as);
        memcpy(&c->before[1], &c->at[1], n * sizeof *c->at);
        piece->apart = n && piece->as.format->parts;
        piece->packed = n > 0;
        r->tentative |= n > 0;
    }
    r->tentative |= n && r->sites;
    piece->cut = n ? RUN_BYTES : RUN_WHOLE;
    c->at[n + 1] = TROD_NOWHERE;
    return n + 1;
}

/* Append the pieces of file I, cut at C if PART. LINKS: the number of links so far. */
static int plan_file(struct trod_run *r, size_t i, bool part, struct cuts *c, uint32_t *links)
{
    const uint64_t bytes = r->opt.parts > 1 ? trod_trace_bytes(r->whole, i) : 0;
    struct run_piece piece = {.file = i};
    const size_t n = part ? cut_file(r, i, c, &piece) : 1;
    struct run_piece *p = realloc(r->piece, (r->n_units + n) * sizeof *p);

    if (!p)
        return TROD_ERR_NOMEM;
    r->piece = p;
    r->gives_up |= n > 1 && places(r);
    r->too_large |= records_much(r, piece.cut) &&
                    trod_trace_bytes(r->whole, i) / n >
                        (piece.cut == RUN_BYTES ? PLAIN_TOO_LARGE : PACKED_RECORDED);
    for (size_t k = 0; k < n; k++) {
        piece.number = r->n_units;
        piece.from = c->at[k];
        piece.before = c->before[k];
        piece.to = c->at[k + 1];
        piece.part = (uint32_t)k;
        piece.last = k + 1 == n;
        piece.link = piece.chained && k ? ++*links : 0;
        piece.weight = bytes / n + 1;
        p[r->n_units++] = piece;
    }
    return TROD_OK;
}

/* Plan the pieces of all files. 0 or TROD_ERR_NOMEM. */
static int plan_pieces(struct trod_run *r)
{
    const size_t files = trod_trace_files(r->whole);
    const bool part = may_part(r);
    struct cuts *c = malloc(sizeof *c);
    uint32_t links = 0;
    int rc = c ? TROD_OK : TROD_ERR_NOMEM;

    r->too_large = false;
    for (size_t i = 0; rc == TROD_OK && i < files; i++) {
        memset(c, 0, sizeof *c);
        rc = plan_file(r, i, part, c, &links);
    }
    free(c);
    return rc;
}

/* The file of R that cannot be read again and again; NULL: all can. */
static const char *read_once(const struct trod_run *r, const char **why)
{
    for (size_t i = 0; i < trod_trace_files(r->whole); i++) {
        const char *path = trod_trace_path(r->whole, i);

        if (trod_trace_bytes(r->whole, i) != TROD_NOWHERE)
            continue;
        *why = strcmp(path, "-") != 0 && access(path, F_OK) != 0
                   ? "a file that is not there"
                   : "a pipe, or what else can be read once only";
        return path;
    }
    return NULL;
}

/* What is to be saved, as parts are, and cannot be; as run_whole. */
static const char *unsavable(const struct trod_run *r, const char **what)
{
    if (r->opt.by == TROD_BY_CORE)
        return "results of cores (--by core)";
    for (size_t i = 0; i < r->n_items; i++) {
        const struct trod_analysis *a = r->item[i].analysis;

        if (a->merge && !(a->save && a->load)) {
            *what = a->name;
            return "an analysis that cannot save what it finds";
        }
    }
    return NULL;
}

const char *run_whole(const struct trod_run *r, const char **what)
{
    const struct trod_run_options *o = &r->opt;
    const char *why = NULL;

    *what = NULL;
    if (o->region_from || o->region_to)
        return "a region (--region, --limit, or --range of an analysis that follows calls)";
    if (o->interval || o->warmup)
        return o->interval ? "intervals (--interval)" : "a warm-up (--warmup)";
    if (o->filter)
        return "options that choose rows (--kind, --range, --where, ...)";
    if (o->trace.order != TROD_ORDER_FILE)
        return "an order of rows other than --order file";
    if (o->trace.skip_rows || o->trace.skip_instructions || r->begun)
        return "a beginning inside the trace";
    if ((*what = read_once(r, &why)) || (o->parts > 1 && (why = unsavable(r, what))))
        return why;
    for (size_t i = 0; i < r->n_items; i++)
        if (!r->in_order && (!r->item[i].analysis->merge ||
                             (r->item[i].order == TROD_GLOBAL_ORDER && !r->item[i].records))) {
            *what = r->item[i].analysis->name;
            return "an analysis that, with its options, needs all rows in order";
        }
    return NULL;
}

/* May units read the trace? */
static bool may_use_units(const struct trod_run *r)
{
    const char *what;

    if (r->isa_late && run_is_ordered(r) && r->opt.parts < 2)
        return false;
    return (r->opt.parts >= 2 || (r->opt.jobs >= 2 && !r->opt.serial)) && !run_whole(r, &what);
}

size_t run_unsound(const struct trod_run *r)
{
    size_t n = 0;

    for (size_t i = 0; i < trod_trace_files(r->whole); i++)
        n += r->sound[i] == RUN_UNSOUND;
    return n;
}

/* The number of pieces from P on, before END, that are of the same file as P. */
static size_t same_file(const struct run_piece *p, const struct run_piece *end)
{
    const struct run_piece *q = p;

    while (q < end && q->file == p->file)
        q++;
    return (size_t)(q - p);
}

/*
 * Append the N pieces at index I, which are all pieces of one file that are of this process.
 * Chained pieces are joined into one for each thread, so that the thread learns the code and data
 * of the program once. A file that is not sound becomes one piece, of the process that has its
 * first.
 */
static void own_file(struct trod_run *r, size_t i, size_t n)
{
    struct run_piece *const p = r->piece;
    const size_t some = p[i].chained ? (n + r->opt.jobs - 1) / r->opt.jobs : 1;
    const bool whole = p[i].chained && r->sound[p[i].file] == RUN_UNSOUND;

    for (size_t k = 0; k < n && !whole; k += some) {
        const struct run_piece *end = &p[i + (k + some < n ? k + some : n) - 1];
        struct run_piece piece = p[i + k];

        piece.to = end->to;
        piece.last = end->last;
        piece.link = piece.chained && piece.part ? ++r->n_links : 0;
        r->tentative |= piece.chained;
        p[r->n_units++] = piece;
    }
    if (whole && p[i].part == 0)
        p[r->n_units++] = (struct run_piece){
            .file = p[i].file, .number = p[i].number, .weight = p[i].weight, .last = true};
}

/* Make pieces [FROM, TO) those of this process. False: no memory. */
static bool own_pieces(struct trod_run *r, size_t from, size_t to)
{
    struct run_piece *p = realloc(r->piece, (r->n_pieces + to - from + 1) * sizeof *p);

    if (!p)
        return false;
    r->piece = p;
    r->first_unit = r->n_units = r->n_pieces;
    r->n_links = 0;
    for (size_t i = from, n; i < to; i += n) {
        n = same_file(&p[i], &p[to]);
        own_file(r, i, n);
    }
    return true;
}

/*
 * Select the pieces of this process: consecutive ones, so that results of processes are merged in
 * order. A piece belongs to the process whose share of the bytes has its middle. False: no memory.
 */
static bool take_part(struct trod_run *r)
{
    double all = 0, before = 0;
    size_t n = r->n_units, from = 0, to = 0;

    r->n_pieces = n;
    if (r->opt.parts < 2)
        return true;
    for (size_t i = 0; i < n; i++)
        all += (double)r->piece[i].weight;
    for (size_t i = 0; i < n; i++) {
        double middle = before + (double)r->piece[i].weight / 2;
        unsigned part = (unsigned)(middle / all * r->opt.parts);

        part = part < r->opt.parts ? part : r->opt.parts - 1;
        from += part < r->opt.part;
        to += part <= r->opt.part;
        before += (double)r->piece[i].weight;
    }
    r->tentative = false;
    r->n_unsound = run_unsound(r);
    if (!own_pieces(r, from, to))
        return false;
    r->next = r->merged = r->first_unit;
    if (r->first_unit < r->n_units && r->piece[r->first_unit].part)
        r->records = TROD_NOWHERE; /* another process counts them */
    return true;
}

/*
 * Files that do not say their instruction set are decoded as the first one that does says, whoever
 * reads them, and before or behind it. So are the first rows of a file that says it later.
 */
static void learn_isa(struct trod_run *r)
{
    const bool one = trod_trace_files(r->whole) < 2;

    if ((one ? !r->sites : r->opt.trace.order != TROD_ORDER_FILE) || r->begun ||
        !trod_trace_rewindable(r->whole))
        return;
    r->isa_late = trod_trace_first_isa(r->whole) && r->sites;
    engine_sites_meta(r->sites, trod_trace_meta(r->whole));
}

int run_plan_units(struct trod_run *r)
{
    if (r->planned)
        return TROD_OK;
    r->planned = true;
    run_ahead(r);
    learn_isa(r);
    if (r->again && r->sites && engine_sites_again(&r->sites) < 0)
        return TROD_ERR_NOMEM;
    r->in_order = may_go_in_order(r);
    if (!may_use_units(r))
        return TROD_OK;
    if (plan_pieces(r) < 0)
        return TROD_ERR_NOMEM;
    r->in_order = r->in_order && r->n_units > 1;
    if (r->opt.parts > 1 && !r->sound &&
        !(r->sound = calloc(trod_trace_files(r->whole), sizeof *r->sound)))
        return TROD_ERR_NOMEM;
    r->by_units = (r->n_units > 1 && !r->too_large) || r->opt.parts > 1;
    return take_part(r) ? TROD_OK : TROD_ERR_NOMEM;
}
