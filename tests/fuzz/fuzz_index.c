/*
 * fuzz_index.c - any bytes as a trace that is indexed, and as damage to an index whose sums are
 * right.
 *
 * The first byte says which: a format, or damage; the second how much memory of a block is kept.
 * What is checked: every question has the answer with the index that it has without; what a damaged
 * index says may be wrong, but does no harm.
 */
#include "fuzz.h"
#include "io/crc32c.h"
#include "navigate/attach.h"

#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_ROWS = 7, SEGMENT = 2, QUESTIONS = 3, BYTES = 40, EVENTS = 120 };

static char dir[64], trace_path[80], index_path[96];

static void save(const char *path, const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "wb");

    fuzz_true(f && (size == 0 || fwrite(data, 1, size, f) == size) && fclose(f) == 0,
              "no room for a file");
}

static void leave(void)
{
    unlink(trace_path);
    unlink(index_path);
    rmdir(dir);
}

static void begin(void)
{
    if (dir[0])
        return;
    snprintf(dir, sizeof dir, "/tmp/fuzz_index.%ld", (long)getpid());
    snprintf(trace_path, sizeof trace_path, "%s/t", dir);
    snprintf(index_path, sizeof index_path, "%s/t.trodx", dir);
    fuzz_true(mkdir(dir, 0700) == 0, "no folder");
    atexit(leave);
}

static struct trod_nav *open_nav(const char *from, bool no_index)
{
    const struct trod_trace_options topt = {
        .struct_size = sizeof topt, .from = from, .input.no_thread = true};
    const struct trod_nav_options opt = {
        .struct_size = sizeof opt, .trace = &topt, .no_index = no_index};
    const char *const paths[] = {trace_path};
    struct trod_nav *nav;

    return trod_nav_open(&nav, paths, 1, &opt, NULL) == 0 ? nav : NULL;
}

/*
 * An index of the trace with small blocks; MEMORY: bytes that what one leaves there may take.
 * False: it cannot be read.
 */
static bool make_index(const char *from, uint64_t memory)
{
    const struct trod_trace_options topt = {.struct_size = sizeof topt,
                                            .from = from,
                                            .input.no_thread = true,
                                            .want = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE};
    struct nav_build_options opt = {
        .options = from, .block_rows = BLOCK_ROWS, .segment = SEGMENT, .apart = 1, .jobs = 1};
    struct trod_nav *nav = open_nav(from, true);
    const char *const paths[] = {trace_path};
    struct trod_trace *t;
    int rc;

    unlink(index_path);
    if (!nav)
        return false;
    opt.memory = memory;
    opt.isa = trod_nav_meta(nav)->isa;
    opt.endian = trod_nav_meta(nav)->endian;
    trod_nav_close(nav);
    if (trod_trace_open(&t, paths, 1, &topt, NULL) < 0)
        return false;
    rc = nav_index_build(t, index_path, &opt);
    trod_trace_close(t);
    return rc == TROD_OK;
}

/* ---- questions */

static void put(struct trod_buf *out, const void *p, size_t n)
{
    fuzz_true(n == 0 || trod_buf_add(out, p, n) == TROD_OK, "no memory");
}

static void registers_at(struct trod_nav *nav, uint64_t row, struct trod_buf *out)
{
    struct trod_nav_register reg;
    struct trod_nav_state *s;

    if (trod_nav_state(nav, row, TROD_NAV_ROW_STREAM, &s) < 0)
        return;
    for (size_t i = 0; trod_nav_state_register(s, i, &reg); i++) {
        put(out, reg.name, strlen(reg.name));
        put(out, reg.value, reg.size);
        put(out, reg.known, reg.size);
        put(out, &reg.row, sizeof reg.row);
    }
    trod_nav_state_free(s);
}

static void calls_at(struct trod_nav *nav, uint64_t row, struct trod_buf *out)
{
    struct trod_nav_call *call;
    size_t n;

    if (trod_nav_calls(nav, row, TROD_NAV_ROW_STREAM, &call, &n) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        put(out, &call[i].row, sizeof call[i].row);
        put(out, &call[i].pc, sizeof call[i].pc);
        put(out, &call[i].site_row, sizeof call[i].site_row);
        put(out, &call[i].kind, 1);
    }
    free(call);
}

/* Where rows are about: an address that the row or one beside it has. */
static uint64_t address_near(struct trod_nav *nav, uint64_t row, struct trod_buf *out)
{
    const struct trod_batch *b;
    uint64_t addr = 0x1000;
    uint32_t i;

    if (trod_nav_row(nav, row, &b, &i) == 1) {
        put(out, &b->kind[i], 1);
        if (nav_has(b, i, TROD_COL_ADDR)) {
            addr = b->addr[i];
            put(out, &addr, sizeof addr);
        }
        if (nav_has(b, i, TROD_COL_STREAM))
            put(out, &b->stream[i], sizeof b->stream[i]);
    }
    nav->cache.n = 0; /* the rows that stay decoded would hide where reading began */
    return addr < UINT64_MAX - BYTES ? addr : 0;
}

static void memory_at(struct trod_nav *nav, uint64_t row, uint64_t addr, struct trod_buf *out)
{
    struct trod_nav_byte byte[BYTES];

    if (trod_nav_memory(nav, row, addr, BYTES, byte) < 0)
        return;
    for (unsigned i = 0; i < BYTES; i++) {
        put(out, &byte[i].value, 1);
        put(out, &byte[i].from, 1);
        put(out, &byte[i].row, sizeof byte[i].row);
        put(out, &byte[i].since, sizeof byte[i].since);
    }
}

static void find_from(struct trod_nav *nav, uint64_t row, uint64_t addr, struct trod_buf *out)
{
    for (unsigned how = 0; how < 6; how++) {
        const struct trod_nav_query q = {.access = how >= 4  ? TROD_NAV_KIND
                                                   : how & 1 ? TROD_NAV_VISITS
                                                             : TROD_NAV_WRITES | TROD_NAV_READS,
                                         .lo = how >= 4 ? row % TROD_KINDS : addr,
                                         .hi = addr + 7};
        struct trod_nav_hit hit[2];
        size_t n = 0;

        if (trod_nav_find(nav, &q, row, how & (how >= 4 ? 1 : 2), hit, 2, &n) < 0)
            continue;
        put(out, &n, sizeof n);
        for (size_t i = 0; i < n; i++) {
            put(out, &hit[i].row, sizeof hit[i].row);
            put(out, &hit[i].pc, sizeof hit[i].pc);
        }
    }
}

/* Rows that are searched for: that look so, or of these kinds and belong to these addresses. */
struct sought {
    bool looks;
    uint8_t letter;
    struct trod_match_need need;
    struct trod_buf *out;
};

static bool has_look(const struct sought *s, const struct trod_batch *b, uint32_t i)
{
    if (nav_has(b, i, TROD_COL_TEXT) && b->text[i].len)
        return trod_batch_bytes(b, b->text[i])[0] % 8 == s->letter % 8;
    return b->kind[i] == TROD_INSTR && nav_has(b, i, TROD_COL_CODE) && b->code[i].len &&
           trod_batch_bytes(b, b->code[i])[0] % 4 == s->letter % 4;
}

static int keep_shapes(void *user, const struct trod_batch *b, uint8_t *keep)
{
    for (uint32_t i = 0; i < b->n; i++)
        keep[i] = has_look(user, b, i);
    return TROD_OK;
}

static int sought_rows(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    const struct sought *s = user;

    for (uint32_t end = i + n; i < end; i++, row++)
        if (s->looks ? has_look(s, b, i)
                     : s->need.kinds >> b->kind[i] & 1 && nav_has(b, i, TROD_COL_PC) &&
                           b->pc[i] >= s->need.pcs.at[0].lo && b->pc[i] <= s->need.pcs.at[0].hi)
            put(s->out, &row, sizeof row);
    return 1;
}

static void search_near(struct trod_nav *nav, uint64_t row, uint64_t addr, struct trod_buf *out)
{
    struct sought s = {.looks = true,
                       .letter = (uint8_t)row,
                       .need = {.kinds = UINT32_MAX, .hi = UINT64_MAX},
                       .out = out};

    trod_nav_shapes(nav, keep_shapes, &s);
    trod_nav_search(nav, &s.need, 0, 0, sought_rows, &s);
    trod_nav_shapes(nav, NULL, NULL);
    s.looks = false;
    s.need.kinds = 1u << row % TROD_KINDS | 1u << TROD_INSTR;
    s.need.pcs = (struct trod_match_spans){.set = true, .n = 1, .at = {{addr, addr + 7}}};
    trod_nav_search(nav, &s.need, 0, 0, sought_rows, &s);
}

/* Rows that are counted: of some sizes and flags, with a time and an address in bounds. */
struct counted {
    uint8_t letter;
    struct trod_match_need need;
    uint64_t n;
};

static bool has_class(const struct counted *c, const struct trod_batch *b, uint32_t i)
{
    return nav_has(b, i, TROD_COL_SIZE)    ? b->size[i] % 4 == c->letter % 4
           : nav_has(b, i, TROD_COL_FLAGS) ? b->flags[i] % 8 != c->letter % 8
                                           : b->kind[i] % 2 == c->letter % 2;
}

static int keep_classes(void *user, const struct trod_batch *b, const uint8_t *flow, uint8_t *keep)
{
    (void)flow;
    for (uint32_t i = 0; i < b->n; i++)
        keep[i] = has_class(user, b, i);
    return TROD_OK;
}

static int counted_rows(void *user, const struct trod_batch *b, uint32_t i, uint32_t n,
                        uint64_t row)
{
    struct counted *c = user;

    (void)row;
    for (const uint32_t end = i + n; i < end; i++)
        c->n += has_class(c, b, i) && nav_has(b, i, TROD_COL_ADDR) && b->addr[i] >= c->need.lo &&
                b->addr[i] <= c->need.hi &&
                (!c->need.times.set ||
                 (nav_has(b, i, TROD_COL_TIME) && b->time[i] >= c->need.times.lo));
    return 1;
}

static void count_near(struct trod_nav *nav, uint64_t row, uint64_t addr, struct trod_buf *out)
{
    struct counted c = {.letter = (uint8_t)row,
                        .need = {.kinds = UINT32_MAX,
                                 .bounded = true,
                                 .lo = row % 2 ? addr & ~UINT64_C(0xfff) : addr,
                                 .hi = UINT64_MAX,
                                 .times = {row % 3 == 0, row % 100, UINT64_MAX}}};
    uint64_t n = 0;

    trod_nav_classes(nav, keep_classes, &c);
    trod_nav_tally(nav, &c.need, counted_rows, &c, &n);
    trod_nav_classes(nav, NULL, NULL);
    n += c.n;
    put(out, &n, sizeof n);
}

static struct trod_buf answers(struct trod_nav *nav, struct trod_gen g)
{
    struct trod_buf out = {0};
    uint64_t rows = 0, row;

    trod_nav_count(nav, &rows);
    put(&out, &rows, sizeof rows);
    for (unsigned i = 0; rows && i < QUESTIONS; i++) {
        uint64_t addr;

        row = gen_u64(&g) % rows;
        addr = address_near(nav, row, &out);
        registers_at(nav, row, &out);
        calls_at(nav, row, &out);
        memory_at(nav, row, addr, &out);
        find_from(nav, row, addr, &out);
        search_near(nav, row, addr, &out);
        count_near(nav, row, addr, &out);
        if (trod_nav_time(nav, gen_u64(&g) % 1000, &row) == 1)
            put(&out, &row, sizeof row);
        if (trod_nav_line(nav, 1 + gen_u64(&g) % 100, &row) == 1)
            put(&out, &row, sizeof row);
    }
    return out;
}

static int count_frame(void *ctx, struct trod_frame *f)
{
    *(uint64_t *)ctx += 1 + (f->depth ? f[-1].user : 0);
    f->user = f->depth;
    return TROD_OK;
}

static int add_sums(void *user, const struct trod_call_sum *at, size_t n, bool timed)
{
    for (size_t i = 0; i < n; i++) {
        fuzz_true(i ? at[i].parent < i : n > 0, "a stack stands on one that comes behind it");
        *(uint64_t *)user += at[i].calls + at[at[i].parent].function + timed;
    }
    return TROD_OK;
}

/* All calls, by the index alone. */
static void all_calls(struct trod_nav *nav)
{
    uint64_t n = 0;
    const struct trod_callstack_sink sink = {.ctx = &n, .enter = count_frame};
    struct trod_callstack_counts counts;

    trod_nav_callstack(nav, &sink, &counts);
    trod_nav_call_sums(nav, add_sums, &n, &counts);
}

static void as_trace(const char *from, uint64_t memory, const uint8_t *data, size_t size)
{
    const struct trod_gen g = fuzz_gen(data, size);
    struct trod_nav *with, *without;
    struct trod_buf a, b;

    save(trace_path, data, size);
    if (!make_index(from, memory))
        return;
    with = open_nav(from, false);
    without = open_nav(from, true);
    fuzz_true(with && without, "what was indexed cannot be opened");
    fuzz_true(trod_nav_index(with) != NULL, "the index is not used");
    a = answers(with, g);
    b = answers(without, g);
    if (a.n != b.n || (a.n && memcmp(a.p, b.p, a.n) != 0)) {
        size_t i = 0;

        while (i < a.n && i < b.n && a.p[i] == b.p[i])
            i++;
        fprintf(stderr, "%s: answers of %zu and %zu bytes differ at %zu\n", from, a.n, b.n, i);
        fuzz_true(false, "the answer is another with the index");
    }
    trod_buf_fini(&a);
    trod_buf_fini(&b);
    trod_nav_close(with);
    trod_nav_close(without);
}

/* ---- damage whose sums are right */

static struct trod_buf whole;

/* An index of a trace with calls, accesses and registers. */
static void begin_damage(void)
{
    struct trod_buf text = {0};
    struct trod_gen g = gen_seed(9);

    for (unsigned i = 0; i < EVENTS; i++) {
        const unsigned at = 0x1000 + (unsigned)gen_below(&g, 8) * 4;

        trod_buf_printf(&text, "%u clk IT (%u) %08x %s O EL1h_n : x\n", i, i, at,
                        i % 7 == 3   ? "94000004"
                        : i % 7 == 5 ? "d65f03c0"
                                     : "d503201f");
        trod_buf_printf(&text, "%u clk MW8 %016x %016x\n", i, 0x8000 + 8 * (i % 20), i);
        trod_buf_printf(&text, "%u clk MR8 %016x %016x\n", i, 0x7fc0 + 4 * (i % 40), i);
        trod_buf_printf(&text, "%u clk R X%u %016x\n", i, i % 5, i);
    }
    save(trace_path, text.p, text.n);
    trod_buf_fini(&text);
    fuzz_true(make_index("tarmac", 0), "no index");
    if (!whole.n)
        whole = test_load(index_path);
}

static void mend_sums(uint8_t *p, size_t n)
{
    struct nav_footer foot;
    struct nav_section s;

    memcpy(&foot, p + n - sizeof foot, sizeof foot);
    if (foot.table > n - sizeof foot || foot.sections > (n - sizeof foot - foot.table) / sizeof s)
        return;
    for (uint32_t i = 0; i < foot.sections; i++) {
        uint8_t *at = p + foot.table + i * sizeof s;

        memcpy(&s, at, sizeof s);
        if (s.offset > n || s.length > n - s.offset)
            continue;
        s.sum = trod_crc32c(p + s.offset, s.length);
        memcpy(at, &s, sizeof s);
    }
    foot.sum = trod_crc32c(p + foot.table, foot.sections * sizeof s);
    memcpy(p + n - sizeof foot, &foot, sizeof foot);
}

static void as_damage(const uint8_t *data, size_t size)
{
    struct trod_nav *nav;
    struct trod_buf out;
    uint8_t *p;

    begin_damage();
    if (!(p = malloc(whole.n)))
        return;
    memcpy(p, whole.p, whole.n);
    for (size_t i = 0; i + 3 <= size; i += 3)
        p[(data[i] | (size_t)data[i + 1] << 8) % whole.n] ^= data[i + 2];
    mend_sums(p, whole.n);
    save(index_path, p, whole.n);
    free(p);
    nav = open_nav("tarmac", false);
    if (!nav)
        return;
    all_calls(nav);
    out = answers(nav, fuzz_gen(data, size));
    trod_buf_fini(&out);
    trod_nav_close(nav);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t formats = 0;

    if (size < 2)
        return 0;
    begin();
    while (trod_format_at(formats))
        formats++;
    if (data[0] >= 200)
        as_damage(data + 1, size - 1);
    else
        as_trace(trod_format_at(data[0] % formats)->name, data[1] % 4 ? 0 : 1 + data[1], data + 2,
                 size - 2);
    return 0;
}
