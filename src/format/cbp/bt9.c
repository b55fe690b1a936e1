/*
 * bt9.c - reading BT9 traces of branches (championship branch prediction 5): a graph, and the way
 * through it.
 *
 * Implements docs/formats/branch.md, "bt9". Branches and the edges between them stand in tables
 * before the sequence of edges: they are kept beside the state. src/export/cbp2016.c writes them.
 */
#include "format/memtext/refs.h"

#include <stdlib.h>

enum {
    TABLE_MAX = 1 << 26, /* nodes, edges */
    GAP_MAX = 1 << 16,   /* between their numbers: damaged ones ask for memory */
    STEP_MAX = 16,
    /* limit of instructions between two branches: damaged numbers would ask for endless rows */
    OTHERS_MAX = 1 << 14,
    READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC |
            TROD_COL_TARGET | TROD_COL_CODE | TROD_COL_RAW
};

#define MAGIC "BT9_SPA_TRACE_FORMAT"

enum phase { PHASE_HEAD, PHASE_NODES, PHASE_EDGES, PHASE_SEQUENCE };

struct node {
    uint64_t pc, opcode;
    uint8_t size, branch; /* enum trod_branch; COND: see the edge */
    bool known;
};

struct edge {
    uint64_t target;
    uint32_t src, dst, others; /* others: instructions that are no branches */
    bool taken, known;
};

/* What has no bound. */
struct tables {
    struct node *node;
    struct edge *edge;
    size_t nodes, edges;
};

struct dec {
    struct rl_dec line;
    struct tables *tables;
    uint8_t phase;
    uint32_t left; /* instructions without a branch that are due */
    uint64_t pc;   /* of the next of them */
    uint8_t step;  /* from one to the next; 0: not known */
};

static const char *const suffixes[] = {".bt9", NULL};
extern const struct trod_format trod_format_bt9;

static int bid(const struct trod_probe *probe, const char **dialect)
{
    const size_t n = sizeof MAGIC - 1;

    (void)dialect;
    return probe->head.n >= n && memcmp(probe->head.p, MAGIC, n) == 0 ? 64 : 0;
}

static int start(void *state, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    struct dec *d = state;

    (void)opt;
    (void)head;
    (void)diag;
    meta->addr_bits = 64;
    d->tables = calloc(1, sizeof *d->tables);
    return d->tables ? TROD_OK : TROD_ERR_NOMEM;
}

static void stop(void *state)
{
    struct dec *d = state;

    if (d->tables) {
        free(d->tables->node);
        free(d->tables->edge);
    }
    free(d->tables);
}

/* Element I of TABLE, which has *N of SIZE bytes; it grows. NULL: there is no memory. */
static void *element(void *table, size_t *n, uint64_t i, size_t size)
{
    void **t = table;

    if (i >= TABLE_MAX || i > *n + GAP_MAX)
        return NULL;
    if (i >= *n) {
        const size_t more = 2 * (size_t)i + 64;
        uint8_t *grown = realloc(*t, more * size);

        if (!grown)
            return NULL;
        memset(grown + *n * size, 0, (more - *n) * size);
        *t = grown;
        *n = more;
    }
    return (uint8_t *)*t + (size_t)i * size;
}

/* The number at *P, hex behind 0x, and the blanks behind it. */
static bool number(const uint8_t **p, const uint8_t *e, uint64_t *v)
{
    const bool good = rl_word(p, e, "0x") ? rl_hex(p, e, v) : rl_decimal(p, e, v);

    if (!good || (*p < e && **p != ' ' && **p != '\t'))
        return false;
    rl_skip_blanks(p, e);
    return true;
}

/* A physical address, or - where the trace has none. */
static bool physical(const uint8_t **p, const uint8_t *e)
{
    uint64_t v;

    if (!rl_word(p, e, "-"))
        return number(p, e, &v);
    rl_skip_blanks(p, e);
    return true;
}

/* "class: CALL+DIR+UCD" */
static uint8_t branch_of(const uint8_t *p, const uint8_t *e)
{
    enum { JMP, CALL, RET } what = JMP;
    bool indirect, conditional;

    if (!rl_word(&p, e, "class:"))
        return TROD_BR_NONE;
    rl_skip_blanks(&p, e);
    if (rl_word(&p, e, "CALL"))
        what = CALL;
    else if (rl_word(&p, e, "RET"))
        what = RET;
    else if (!rl_word(&p, e, "JMP"))
        return TROD_BR_OTHER;
    indirect = rl_word(&p, e, "+IND");
    if (!indirect)
        rl_word(&p, e, "+DIR");
    conditional = rl_word(&p, e, "+CND");
    if (conditional && what == JMP)
        return TROD_BR_COND;
    if (what == RET)
        return TROD_BR_RETURN;
    if (what == CALL)
        return indirect ? TROD_BR_ICALL : TROD_BR_CALL;
    return indirect ? TROD_BR_INDIRECT : TROD_BR_DIRECT;
}

/* "NODE id 0xPC - 0xOPCODE SIZE class: ..." */
static enum rl_line node_line(struct dec *d, const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    uint64_t id, size;
    struct node n = {.known = true}, *at;

    rl_skip_blanks(&p, e);
    if (!number(&p, e, &id) || !number(&p, e, &n.pc) || !physical(&p, e) ||
        !number(&p, e, &n.opcode) || !number(&p, e, &size) || size > 16)
        return rl_bad(r, p, "NODE has an id, a pc, an address or -, an opcode and a size");
    n.size = (uint8_t)size;
    n.branch = branch_of(p, e);
    at = element(&d->tables->node, &d->tables->nodes, id, sizeof *at);
    if (!at)
        return rl_bad(r, p, "there are too many nodes");
    *at = n;
    return RL_NOTHING;
}

/* "EDGE id SRC DST T|N 0xTARGET - NONBRANCHES ..." */
static enum rl_line edge_line(struct dec *d, const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    uint64_t id, src, dst, others;
    struct edge edge = {.known = true}, *at;

    rl_skip_blanks(&p, e);
    if (!number(&p, e, &id) || !number(&p, e, &src) || !number(&p, e, &dst) || src >= TABLE_MAX ||
        dst >= TABLE_MAX || p == e || (*p != 'T' && *p != 'N'))
        return rl_bad(r, p, "EDGE has an id, two nodes, and T or N");
    edge.taken = *p++ == 'T';
    rl_skip_blanks(&p, e);
    if (!number(&p, e, &edge.target) || !physical(&p, e) || !number(&p, e, &others) ||
        others > OTHERS_MAX)
        return rl_bad(r, p, "EDGE goes on with a target, an address or -, and a number");
    edge.src = (uint32_t)src;
    edge.dst = (uint32_t)dst;
    edge.others = (uint32_t)others;
    at = element(&d->tables->edge, &d->tables->edges, id, sizeof *at);
    if (!at)
        return rl_bad(r, p, "there are too many edges");
    *at = edge;
    return RL_NOTHING;
}

/* What comes before the sequence. */
static enum rl_line table_line(struct dec *d, const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    const uint8_t *q = p;

    if (rl_word(&q, e, "BT9_NODES"))
        d->phase = PHASE_NODES;
    else if (rl_word(&q, e, "BT9_EDGE_SEQUENCE"))
        d->phase = PHASE_SEQUENCE;
    else if (rl_word(&q, e, "BT9_EDGES"))
        d->phase = PHASE_EDGES;
    else if (d->phase == PHASE_NODES && rl_word(&q, e, "NODE"))
        return node_line(d, q, e, r);
    else if (d->phase == PHASE_EDGES && rl_word(&q, e, "EDGE"))
        return edge_line(d, q, e, r);
    else if (d->phase != PHASE_HEAD)
        return rl_bad(r, p, "it is no NODE and no EDGE");
    return RL_NOTHING;
}

/* The edge that the sequence names; RL_ROW: *EDGE is set. */
static enum rl_line step_line(struct dec *d, const uint8_t *p, const uint8_t *e, struct rl_row *r,
                              const struct edge **edge)
{
    const struct tables *t = d->tables;
    const uint8_t *q = p;
    uint64_t id;

    if (rl_word(&q, e, "EOF"))
        return RL_NOTHING;
    if (!number(&q, e, &id) || q != e)
        return rl_bad(r, p, "the sequence has the number of an edge on each line");
    if (id >= t->edges || !t->edge[id].known)
        return rl_bad(r, p, "there is no edge of this number");
    *edge = &t->edge[id];
    if ((*edge)->src >= t->nodes || !t->node[(*edge)->src].known)
        return rl_bad(r, p, "the edge comes from no node");
    return RL_ROW;
}

/* The row of the branch that EDGE comes from. False: the pool is full. */
static bool add_branch(struct dec *d, struct trod_batch *b, const struct edge *edge,
                       struct trod_slice raw)
{
    const struct node *n = &d->tables->node[edge->src];
    const uint32_t at = b->n;
    uint32_t has = TROD_COL_ADDR | TROD_COL_PC | (n->size ? (uint32_t)TROD_COL_SIZE : 0);

    if (n->opcode && n->size && n->size <= 8) {
        uint8_t *code = trod_batch_pool(b, n->size, &b->code[at]);

        if (!code)
            return false;
        for (unsigned i = 0; i < n->size; i++)
            code[i] = (uint8_t)(n->opcode >> 8 * i);
        has |= TROD_COL_CODE;
    }
    b->n++;
    b->has[at] = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_RAW | has |
                 (edge->taken ? (uint32_t)TROD_COL_TARGET : 0);
    b->kind[at] = TROD_INSTR;
    b->flags[at] = n->branch != TROD_BR_COND ? n->branch
                   : edge->taken             ? (uint32_t)TROD_BR_COND_TAKEN
                                             : (uint32_t)TROD_BR_COND_UNTAKEN;
    b->size[at] = n->size;
    b->addr[at] = b->pc[at] = n->pc;
    b->target[at] = edge->target;
    b->raw[at] = raw;
    return true;
}

/* The instructions behind it up to the next branch are due. */
static void set_due(struct dec *d, const struct edge *edge)
{
    const struct tables *t = d->tables;
    const bool ends = edge->dst == 0 || edge->dst >= t->nodes || !t->node[edge->dst].known;
    const uint64_t way = ends ? 0 : t->node[edge->dst].pc - edge->target;

    d->left = edge->others;
    d->pc = edge->target;
    d->step = edge->others && way % edge->others == 0 && way / edge->others <= STEP_MAX
                  ? (uint8_t)(way / edge->others)
                  : 0;
}

/* An instruction that is no branch; where it is, is known where all have one size. */
static void add_other(struct dec *d, struct trod_batch *b)
{
    const uint32_t at = b->n++;

    b->has[at] = TROD_COL_KIND | TROD_COL_FLAGS |
                 (d->step ? TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SIZE : 0);
    b->kind[at] = TROD_INSTR;
    b->flags[at] = 0;
    b->size[at] = d->step;
    b->addr[at] = b->pc[at] = d->pc;
    d->pc += d->step;
    d->left--;
}

/* The line [P, E). 1: it is done, 0: the batch is full, -1: it is bad. */
static int line(struct dec *d, struct trod_batch *b, const uint8_t *p, const uint8_t *e,
                struct trod_slice raw, struct rl_row *r)
{
    const uint8_t *comment = memchr(p, '#', (size_t)(e - p));
    const struct edge *edge = NULL;
    enum rl_line what;

    if (comment)
        e = comment;
    while (e > p && (e[-1] == '\r' || e[-1] == ' ' || e[-1] == '\t'))
        e--;
    rl_skip_blanks(&p, e);
    if (p == e)
        return 1;
    what = d->phase == PHASE_SEQUENCE ? step_line(d, p, e, r, &edge) : table_line(d, p, e, r);
    if (what != RL_ROW)
        return what == RL_NOTHING ? 1 : -1;
    if (edge->src != 0 && !add_branch(d, b, edge, raw))
        return 0;
    set_due(d, edge);
    return 1;
}

/* The line at *P that ends at NL (NULL: with the input). What decode() returns, or goes on (MORE).
 */
static int take(struct dec *d, struct trod_span *in, struct trod_batch *b, const uint8_t **p,
                const uint8_t *nl, struct trod_diag *diag)
{
    const uint8_t *const end = in->p + in->n, *const next = nl ? nl + 1 : end;
    struct rl_row r;
    int rc;

    if (b->n == b->cap || next - in->p >= TROD_SLICE_SHARED)
        return TROD_DEC_FULL;
    rc = line(d, b, *p, nl ? nl : end,
              (struct trod_slice){(uint32_t)(*p - in->p), (uint32_t)(next - *p)}, &r);
    if (rc == 0)
        return TROD_DEC_FULL;
    if (rc < 0) {
        const struct trod_span here = {*p, 0, in->offset + (uint64_t)(*p - in->p), false};

        rc = rl_report(&trod_format_bt9, &d->line, &here, *p, nl ? nl : end, &r, !nl, diag);
        if (!nl || (diag && diag->strict))
            return rc;
    }
    d->line.lines++;
    *p = next;
    return TROD_DEC_MORE;
}

static int decode(void *state, struct trod_span *in, struct trod_batch *b, struct trod_diag *diag)
{
    struct dec *d = state;
    const uint8_t *p = in->p, *const end = in->p + in->n;
    int rc = TROD_DEC_MORE;

    b->have = READS & (b->want | TROD_COL_KIND);
    while (rc == TROD_DEC_MORE) {
        const size_t left = (size_t)(end - p);
        const uint8_t *nl;

        while (d->left && b->n < b->cap)
            add_other(d, b);
        if (d->left)
            rc = TROD_DEC_FULL;
        if (d->left || left == 0)
            break;
        nl = memchr(p, '\n', left < RL_LINE_MAX || d->line.skipping ? left : RL_LINE_MAX);
        if (d->line.skipping) {
            d->line.skipping = !nl;
            d->line.lines += nl != NULL;
            p = nl ? nl + 1 : end;
        } else if (!nl && left >= RL_LINE_MAX) {
            rc = rl_report_long(&trod_format_bt9, &d->line, in, p, diag);
            if (!diag || !diag->strict) {
                d->line.skipping = true;
                rc = TROD_DEC_MORE;
            }
        } else if (!nl && !in->last) {
            break;
        } else {
            rc = take(d, in, b, &p, nl, diag);
        }
    }
    in->offset += (uint64_t)(p - in->p);
    in->n -= (size_t)(p - in->p);
    in->p = p;
    return rc;
}

const struct trod_format trod_format_bt9 = {
    .name = "bt9",
    .title = "BT9 trace of branches (championship branch prediction 5)",
    .suffixes = suffixes,
    .reads = READS,
    .kinds = 1u << TROD_INSTR,
    .flags = TROD_FMT_TEXT | TROD_FMT_MAGIC | TROD_FMT_BRANCHES,
    .dec_size = sizeof(struct dec),
    .bid = bid,
    .start = start,
    .decode = decode,
    .stop = stop,
};
