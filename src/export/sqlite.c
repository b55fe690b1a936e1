/*
 * sqlite.c - the view "sqlite": the rows of a trace as tables of a database.
 *
 * Implements docs/exporting.md, "SQLite". One transaction; what repeats (instructions, streams,
 * kinds) stands once in a table of its own; indexes are made when all rows are there. SQLite's
 * integers are signed: numbers from 2^63 on are stored as negative ones.
 */
#include "trod/export.h"

#include "core/lazy.h"
#include "trod_config.h"

#if TROD_HAVE_SQLITE

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 512 }; /* bytes of a disassembly */

struct state {
    struct trod_export_context c;
    sqlite3 *db;
    sqlite3_stmt *row;
    uint64_t n;
    uint8_t unit; /* of times, by the meta or the first row that says one */
    bool unit_known;
    char **text; /* by site: as the trace writes it */
    uint32_t n_text;
};

#define FUNCTIONS(F)                                                                               \
    F(sqlite3_open_v2)                                                                             \
    F(sqlite3_close)                                                                               \
    F(sqlite3_errcode)                                                                             \
    F(sqlite3_errmsg)                                                                              \
    F(sqlite3_exec)                                                                                \
    F(sqlite3_prepare_v2)                                                                          \
    F(sqlite3_step)                                                                                \
    F(sqlite3_reset)                                                                               \
    F(sqlite3_finalize)                                                                            \
    F(sqlite3_clear_bindings) F(sqlite3_bind_int64) F(sqlite3_bind_text) F(sqlite3_bind_blob)

static struct {
    FUNCTIONS(TROD_LAZY_MEMBER)
} lib;
static const char *const names[] = {FUNCTIONS(TROD_LAZY_NAME)};
static struct trod_lazy library = TROD_LAZY(TROD_SQLITE_SONAME, names, &lib);

/* The parameters of the statement that inserts a row. */
enum {
    P_N = 1,
    P_KIND,
    P_STREAM,
    P_TIME,
    P_UNIT,
    P_IDX,
    P_SITE,
    P_PC,
    P_ADDR,
    P_PADDR,
    P_SIZE,
    P_VALUE,
    P_DATA,
    P_TARGET,
    P_SUB,
    P_FLAGS,
    P_TEXT,
    P_CORE
};

static const char schema[] =
    "PRAGMA page_size=8192; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA application_id=0x74726f64; PRAGMA user_version=1;"
    "BEGIN;"
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE stream(id INTEGER PRIMARY KEY, name TEXT, tid INTEGER, pid INTEGER,"
    " cpu INTEGER);"
    "CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE site(id INTEGER PRIMARY KEY, pc INTEGER, code BLOB, text TEXT, symbol TEXT,"
    " symoff INTEGER, branch TEXT);"
    "CREATE TABLE row(n INTEGER PRIMARY KEY, kind INTEGER NOT NULL, stream INTEGER, time INTEGER,"
    " unit INTEGER, idx INTEGER, site INTEGER, pc INTEGER, addr INTEGER, paddr INTEGER,"
    " size INTEGER, value INTEGER, data BLOB, target INTEGER, sub INTEGER, flags INTEGER,"
    " text TEXT, core INTEGER);";

static const char views[] =
    "CREATE INDEX row_addr ON row(addr) WHERE addr IS NOT NULL;"
    "CREATE INDEX row_site ON row(site);"
    "CREATE VIEW instr AS SELECT r.n, st.name AS stream, r.time, r.idx, s.pc,"
    " printf('0x%x', s.pc) AS pc_hex, s.symbol, s.symoff, s.text, r.target"
    " FROM row r JOIN site s ON s.id = r.site LEFT JOIN stream st ON st.id = r.stream"
    " WHERE r.kind = 1;"
    "CREATE VIEW access AS SELECT r.n, k.name AS kind, st.name AS stream, r.time, r.idx, r.addr,"
    " printf('0x%x', r.addr) AS addr_hex, r.size, r.value, s.pc, s.symbol"
    " FROM row r JOIN kind k ON k.id = r.kind LEFT JOIN stream st ON st.id = r.stream"
    " LEFT JOIN site s ON s.id = r.site WHERE r.kind IN (2, 3, 4, 5, 6);"
    "PRAGMA analysis_limit=1000; ANALYZE; COMMIT;";

static int fault(const struct state *s)
{
    const int code = lib.sqlite3_errcode(s->db);

    if (code == SQLITE_NOMEM)
        return TROD_ERR_NOMEM;
    return trod_error(s->c.diag, TROD_ERR_IO, "export.sqlite", NULL,
                      "cannot write the database: SQLite: %s", lib.sqlite3_errmsg(s->db));
}

static int run_sql(const struct state *s, const char *sql)
{
    return lib.sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fault(s);
}

/* ---- binding; a number of 2^63 and more becomes negative */

static void put_number(sqlite3_stmt *q, int at, uint64_t v)
{
    lib.sqlite3_bind_int64(q, at, (sqlite3_int64)v);
}

static void put_known(sqlite3_stmt *q, int at, uint64_t v)
{
    if (v != TROD_NOWHERE)
        put_number(q, at, v);
}

static void put_text(sqlite3_stmt *q, int at, const char *p, size_t n)
{
    if (n && n <= INT_MAX)
        lib.sqlite3_bind_text(q, at, p, (int)n, SQLITE_TRANSIENT);
}

/* Run Q with what is bound and make it ready for the next row. */
static int step(const struct state *s, sqlite3_stmt *q)
{
    const int r = lib.sqlite3_step(q);

    lib.sqlite3_reset(q);
    lib.sqlite3_clear_bindings(q);
    return r == SQLITE_DONE ? 0 : fault(s);
}

static int prepare(const struct state *s, sqlite3_stmt **q, const char *sql)
{
    return lib.sqlite3_prepare_v2(s->db, sql, -1, q, NULL) == SQLITE_OK ? 0 : fault(s);
}

/* ---- rows */

static int init(void *st, const void *opt, const struct trod_export_context *c)
{
    struct state *s = st;
    int r;

    (void)opt;
    s->c = *c;
    if (!trod_lazy_need(&library))
        return trod_error(c->diag, TROD_ERR_UNSUPPORTED, "export.sqlite", NULL,
                          "%s, which writes databases, cannot be loaded", TROD_SQLITE_SONAME);
    if (lib.sqlite3_open_v2(c->path, &s->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return s->db ? fault(s) : TROD_ERR_NOMEM;
    r = run_sql(s, schema);
    if (r == 0)
        r = prepare(s, &s->row, "INSERT INTO row VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    return r;
}

/* The text of an instruction stands once, beside its site. */
static int keep_text(struct state *s, uint32_t site, const uint8_t *p, size_t n)
{
    if (site >= s->n_text) {
        const uint32_t more = site + site / 2 + 64;
        char **list = realloc(s->text, more * sizeof *list);

        if (!list)
            return TROD_ERR_NOMEM;
        memset(list + s->n_text, 0, (more - s->n_text) * sizeof *list);
        s->text = list;
        s->n_text = more;
    }
    if (!s->text[site])
        s->text[site] = strndup((const char *)p, n);
    return s->text[site] ? 0 : TROD_ERR_NOMEM;
}

static void bind_time(struct state *s, const struct trod_batch *b, uint32_t i, uint32_t has)
{
    const uint8_t unit = has & TROD_COL_UNIT ? b->unit[i] : b->meta ? b->meta->unit : 0;

    if (!s->unit_known) {
        s->unit = unit;
        s->unit_known = true;
    }
    put_number(s->row, P_TIME, b->time[i]);
    if (unit != s->unit)
        put_number(s->row, P_UNIT, unit);
}

static void bind_numbers(struct state *s, const struct trod_batch *b, uint32_t i, uint32_t has)
{
    sqlite3_stmt *q = s->row;

    if (has & TROD_COL_STREAM)
        put_number(q, P_STREAM, b->stream[i]);
    if (has & TROD_COL_TIME)
        bind_time(s, b, i, has);
    if (has & TROD_COL_INDEX)
        put_number(q, P_IDX, b->index[i]);
    if (has & TROD_COL_PADDR)
        put_number(q, P_PADDR, b->paddr[i]);
    if (has & TROD_COL_SIZE)
        put_number(q, P_SIZE, b->size[i]);
    if (has & TROD_COL_VALUE)
        put_number(q, P_VALUE, b->value[i]);
    if (has & TROD_COL_TARGET)
        put_number(q, P_TARGET, b->target[i]);
    if (has & TROD_COL_SUB)
        put_number(q, P_SUB, b->sub[i]);
    if (has & TROD_COL_FLAGS && b->flags[i])
        put_number(q, P_FLAGS, b->flags[i]);
    if (has & TROD_COL_CORE)
        put_number(q, P_CORE, b->core[i]);
}

static int feed_row(struct state *s, const struct trod_batch *b, uint32_t i)
{
    const uint32_t has = b->have & b->has[i];
    const uint32_t site = b->have & TROD_COL_SITE ? b->site[i] : TROD_NO_SITE;
    const bool instr = b->kind[i] == TROD_INSTR && site != TROD_NO_SITE;

    put_number(s->row, P_N, s->n++);
    put_number(s->row, P_KIND, b->kind[i]);
    bind_numbers(s, b, i, has);
    if (site != TROD_NO_SITE)
        put_number(s->row, P_SITE, (uint64_t)site + 1);
    else if (has & TROD_COL_PC)
        put_number(s->row, P_PC, b->pc[i]);
    /* that of an instruction is its site's */
    if (has & TROD_COL_ADDR && !instr)
        put_number(s->row, P_ADDR, b->addr[i]);
    if (has & TROD_COL_DATA && b->data[i].len <= INT_MAX)
        lib.sqlite3_bind_blob(s->row, P_DATA, trod_batch_bytes(b, b->data[i]), (int)b->data[i].len,
                              SQLITE_STATIC);
    if (has & TROD_COL_TEXT && b->text[i].len) {
        const uint8_t *text = trod_batch_bytes(b, b->text[i]);

        if (!instr)
            lib.sqlite3_bind_text(s->row, P_TEXT, (const char *)text, (int)b->text[i].len,
                                  SQLITE_STATIC);
        else if (keep_text(s, site, text, b->text[i].len) != 0)
            return TROD_ERR_NOMEM;
    }
    return step(s, s->row);
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    int r = 0;

    for (uint32_t i = from; r == 0 && i < to; i++)
        r = feed_row(st, b, i);
    return r;
}

/* ---- the other tables */

static int put_kinds(const struct state *s)
{
    sqlite3_stmt *q;
    int r = prepare(s, &q, "INSERT INTO kind VALUES(?,?)");

    for (unsigned i = 0; r == 0 && i < TROD_KINDS; i++) {
        const char *name = trod_kind_name(i);

        put_number(q, 1, i);
        put_text(q, 2, name, strlen(name));
        r = step(s, q);
    }
    lib.sqlite3_finalize(q);
    return r;
}

static int put_streams(const struct state *s, const struct trod_meta *meta)
{
    sqlite3_stmt *q;
    int r = prepare(s, &q, "INSERT INTO stream VALUES(?,?,?,?,?)");

    for (uint32_t i = 0; r == 0 && i < meta->n_streams; i++) {
        const struct trod_stream *t = &meta->streams[i];

        put_number(q, 1, i);
        put_text(q, 2, t->name, t->name_len);
        put_known(q, 3, t->tid);
        put_known(q, 4, t->pid);
        put_known(q, 5, t->cpu);
        r = step(s, q);
    }
    lib.sqlite3_finalize(q);
    return r;
}

static unsigned branch_of(struct trod_sites *sites, uint32_t i)
{
    const struct trod_site *site = trod_site_at(sites, i);
    const struct trod_insn *insn;

    if (site->branch)
        return site->branch;
    insn = trod_site_insn(sites, i);
    return insn->valid ? insn->branch : TROD_BR_NONE;
}

static int put_site(const struct state *s, sqlite3_stmt *q, uint32_t i)
{
    const struct trod_site *site = trod_site_at(s->c.sites, i);
    const unsigned branch = branch_of(s->c.sites, i);
    const char *name;
    uint64_t offset;
    char text[TEXT_MAX];

    put_number(q, 1, (uint64_t)i + 1);
    put_number(q, 2, site->pc);
    if (site->code_n)
        lib.sqlite3_bind_blob(q, 3, site->code, site->code_n, SQLITE_TRANSIENT);
    if (i < s->n_text && s->text[i])
        put_text(q, 4, s->text[i], strlen(s->text[i]));
    else
        put_text(q, 4, text, trod_site_text(s->c.sites, i, text, sizeof text));
    if (trod_site_function(s->c.sites, i, &name, &offset)) {
        put_text(q, 5, name, strlen(name));
        put_number(q, 6, offset);
    }
    if (branch != TROD_BR_NONE)
        put_text(q, 7, trod_branch_name(branch), strlen(trod_branch_name(branch)));
    return step(s, q);
}

static int put_sites(const struct state *s)
{
    sqlite3_stmt *q;
    int r = prepare(s, &q, "INSERT INTO site VALUES(?,?,?,?,?,?,?)");

    for (uint32_t i = 0; r == 0 && s->c.sites && i < trod_sites_count(s->c.sites); i++)
        r = put_site(s, q, i);
    lib.sqlite3_finalize(q);
    return r;
}

static int put_meta(const struct state *s, const struct trod_meta *meta)
{
    char rows[24], decimals[24];
    const char *const facts[][2] = {
        {"addresses", "unsigned, stored as signed: negative is 2^64 more"},
        {"format", meta->format},
        {"dialect", meta->dialect},
        {"isa", meta->isa ? trod_isa_name(meta->isa) : NULL},
        {"source", s->c.source},
        {"unit", s->unit & 15 ? trod_meta_unit_name(meta, s->unit) : NULL},
        {"unit_decimals", decimals},
        {"rows", rows},
    };
    sqlite3_stmt *q;
    int r = prepare(s, &q, "INSERT INTO meta VALUES(?,?)");

    snprintf(rows, sizeof rows, "%llu", (unsigned long long)s->n);
    snprintf(decimals, sizeof decimals, "%u", trod_unit_decimals(s->unit));
    for (size_t i = 0; r == 0 && i < sizeof facts / sizeof *facts; i++) {
        if (!facts[i][1])
            continue;
        put_text(q, 1, facts[i][0], strlen(facts[i][0]));
        put_text(q, 2, facts[i][1], strlen(facts[i][1]));
        r = step(s, q);
    }
    lib.sqlite3_finalize(q);
    return r;
}

static int finish(void *st, const struct trod_meta *meta, struct trod_result *result)
{
    struct state *s = st;
    int r = put_kinds(s);

    if (r == 0)
        r = put_streams(s, meta);
    if (r == 0)
        r = put_sites(s);
    if (r == 0)
        r = put_meta(s, meta);
    if (r == 0)
        r = run_sql(s, views);
    lib.sqlite3_finalize(s->row);
    s->row = NULL;
    if (r == 0 && lib.sqlite3_close(s->db) != SQLITE_OK)
        return fault(s);
    if (r == 0)
        s->db = NULL;
    trod_result_u64(result, "table_rows", s->n);
    trod_result_u64(result, "sites", s->c.sites ? trod_sites_count(s->c.sites) : 0);
    trod_result_u64(result, "streams", meta->n_streams);
    return r;
}

static void fini(void *st)
{
    struct state *s = st;

    if (s->db) {
        lib.sqlite3_finalize(s->row);
        lib.sqlite3_close(s->db);
    }
    for (uint32_t i = 0; i < s->n_text; i++)
        free(s->text[i]);
    free(s->text);
}

#else

struct state {
    char unused;
};

static int init(void *st, const void *opt, const struct trod_export_context *c)
{
    (void)st;
    (void)opt;
    return trod_error(c->diag, TROD_ERR_UNSUPPORTED, "export.unsupported", NULL,
                      "databases cannot be written: this trod was built without SQLite");
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    (void)st;
    (void)b;
    (void)from;
    (void)to;
    return 0;
}

static int finish(void *st, const struct trod_meta *meta, struct trod_result *result)
{
    (void)st;
    (void)meta;
    (void)result;
    return 0;
}

static void fini(void *st)
{
    (void)st;
}

#endif

static const char *const suffixes[] = {".sqlite", ".sqlite3", ".db", NULL};

const struct trod_export trod_view_sqlite = {
    .name = "sqlite",
    .title = "SQLite database: a table of rows, one of instructions, views in hexadecimal",
    .opens = "sqlite3, Python, DuckDB, Datasette, DB Browser for SQLite",
    .leaves_out = "what no column has (fields in braces of trod view), how records were written",
    .suffixes = suffixes,
    .form = TROD_EXPORT_FILE,
    .state_size = sizeof(struct state),
    .needs = TROD_COL_KIND,
    .uses = TROD_COL_ALL & ~(uint32_t)(TROD_COL_DETAIL | TROD_COL_RAW),
    .init = init,
    .feed = feed,
    .finish = finish,
    .fini = fini,
};
