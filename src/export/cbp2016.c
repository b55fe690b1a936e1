/*
 * cbp2016.c - the view "cbp2016": the branches of one stream as a BT9 trace, for the simulators of
 * the championship in branch prediction of 2016 (CBP-5).
 *
 * Implements docs/exporting.md, "cbp2016". Branches (nodes) and what lies between two of them
 * (edges) stand in tables before the sequence of edges, with how often each was passed: they are
 * kept, the sequence waits in a temporary file.
 */
#include "export/flow.h"
#include "export/text.h"
#include "trod/export.h"

#include "core/grow.h"
#include "core/map.h"
#include "core/temp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CHUNK = 4096, /* numbers of the sequence that are read at a time */
    NO_SIZE = 4,  /* size of a branch of unknown size: 0 marks the end of a trace */
    CODE_MAX = 8  /* bytes of an opcode that a number has */
};

/* A branch. Node 0 is where the trace begins and ends. */
struct node {
    uint64_t pc, opcode;
    uint64_t taken, untaken, targets;
    uint32_t recent; /* number + 1 of the edge that left it last; 0: none */
    uint8_t size, branch;
    bool conditional;
};

/* The outcome of the branch SRC, and the number of instructions that are no branches before DST. */
struct edge {
    uint64_t target, others, passed;
    uint32_t src, dst;
    bool taken;
};

struct state {
    struct trod_export_context c;
    struct export_flow flow;
    struct node *node;
    struct edge *edge;
    size_t nodes, nodes_cap, edges, edges_cap;
    struct trod_map by_pc, by_edge;
    FILE *sequence; /* numbers of edges, 4 bytes each */
    uint64_t passed, instructions;

    struct edge at;   /* being passed: all but dst is known, and how far it goes */
    uint64_t behind;  /* address behind the branch it leaves */
    bool asks, aimed; /* the next instruction says whether it is taken; its target is known */
    bool started;
    uint32_t stream;
};

static int init(void *st, const void *opt, const struct trod_export_context *c)
{
    struct state *s = st;
    int fd;

    (void)opt;
    s->c = *c;
    s->flow.sites = c->sites;
    fd = trod_temp_open();
    s->sequence = fd < 0 ? NULL : fdopen(fd, "w+");
    if (fd >= 0 && !s->sequence)
        close(fd);
    if (!s->sequence)
        return trod_error(c->diag, TROD_ERR_IO, "export.cbp2016", NULL,
                          "cannot make a temporary file for the sequence of branches: %s",
                          strerror(errno));
    if (!trod_grow(&s->node, s->nodes, &s->nodes_cap, sizeof *s->node, 64))
        return TROD_ERR_NOMEM;
    s->node[s->nodes++] = (struct node){.branch = TROD_BR_DIRECT};
    return 0;
}

/* ---- tables */

/* The opcode as a number, its first byte lowest. */
static uint64_t opcode_of(const struct trod_site *site)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < site->code_n && i < CODE_MAX; i++)
        v |= (uint64_t)site->code[i] << 8 * i;
    return v;
}

/* The number of the branch of STEP; readers know one for an address. UINT32_MAX: no memory. */
static uint32_t node_of(struct state *s, const struct export_step *step)
{
    const uint32_t hash = trod_map_hash(step->pc);
    uint32_t i;

    for (size_t at = hash; trod_map_next(&s->by_pc, hash, &at, &i);)
        if (s->node[i].pc == step->pc)
            return i;
    i = (uint32_t)s->nodes;
    if (i >= UINT32_MAX - 1 || !trod_grow(&s->node, s->nodes, &s->nodes_cap, sizeof *s->node, 64) ||
        !trod_map_put(&s->by_pc, hash, i))
        return UINT32_MAX;
    s->node[s->nodes++] = (struct node){
        .pc = step->pc,
        .opcode = opcode_of(trod_site_at(s->flow.sites, step->site)),
        .size = (uint8_t)(step->size ? step->size : NO_SIZE),
        .branch = step->branch,
        .conditional = step->branch == TROD_BR_COND,
    };
    return i;
}

static bool same_edge(const struct edge *a, const struct edge *b)
{
    return a->src == b->src && a->dst == b->dst && a->taken == b->taken && a->target == b->target &&
           a->others == b->others;
}

/* The number of the edge E, added if it is new. UINT32_MAX: no memory. */
static uint32_t edge_of(struct state *s, const struct edge *e)
{
    struct node *n = &s->node[e->src];
    const uint32_t hash =
        trod_map_hash(e->target * 31 + e->others * 7 +
                      ((uint64_t)e->src << 33 | (uint64_t)e->dst << 1 | e->taken));
    uint32_t i;

    if (n->recent && same_edge(&s->edge[n->recent - 1], e))
        return n->recent - 1;
    for (size_t at = hash; trod_map_next(&s->by_edge, hash, &at, &i);)
        if (same_edge(&s->edge[i], e)) {
            n->recent = i + 1;
            return i;
        }
    i = (uint32_t)s->edges;
    if (i >= UINT32_MAX - 1 || !trod_grow(&s->edge, s->edges, &s->edges_cap, sizeof *s->edge, 64) ||
        !trod_map_put(&s->by_edge, hash, i))
        return UINT32_MAX;
    s->edge[s->edges++] = *e;
    n->recent = i + 1;
    return i;
}

/* ---- the way */

/* The edge that is being passed ends at node DST. */
static int arrive(struct state *s, uint32_t dst)
{
    struct node *n = &s->node[s->at.src];
    uint32_t i;

    s->at.dst = dst;
    if (s->at.taken)
        n->taken++;
    else
        n->untaken++;
    n->conditional = n->conditional || !s->at.taken;
    i = edge_of(s, &s->at);
    if (i == UINT32_MAX)
        return TROD_ERR_NOMEM;
    s->edge[i].passed++;
    s->passed++;
    if (fwrite(&i, sizeof i, 1, s->sequence) != 1)
        return trod_error(s->c.diag, TROD_ERR_IO, "export.cbp2016", NULL,
                          "cannot keep the sequence of branches: %s", strerror(errno));
    return 0;
}

/* The instruction behind the branch that was left is at PC. */
static void settle(struct state *s, uint64_t pc)
{
    if (s->asks)
        s->at.taken = pc != s->behind;
    if (s->at.taken && !s->aimed)
        s->at.target = pc;
    else if (!s->at.taken)
        s->at.target = s->behind;
    s->asks = false;
    s->aimed = true;
}

/* The trace begins at PC. */
static void begin(struct state *s, uint64_t pc)
{
    s->at = (struct edge){.taken = true, .target = pc};
    s->aimed = true;
    s->started = true;
}

/* Leave the branch NODE, which is row I of B. */
static void leave(struct state *s, const struct export_step *step, uint32_t node,
                  const struct trod_batch *b, uint32_t i)
{
    const uint32_t has = b->have & b->has[i];
    const uint32_t flags = has & TROD_COL_FLAGS ? b->flags[i] : 0;
    const unsigned said = flags & TROD_F_BRANCH;
    const bool untaken = said == TROD_BR_COND_UNTAKEN || flags & TROD_F_SKIPPED;

    s->at = (struct edge){.src = node, .taken = !untaken};
    s->behind = step->pc + step->size;
    s->asks = step->branch == TROD_BR_COND && said != TROD_BR_COND_TAKEN && !untaken;
    s->aimed = untaken || has & TROD_COL_TARGET;
    s->at.target = untaken ? s->behind : has & TROD_COL_TARGET ? b->target[i] : 0;
}

/* Branches that a class of BT9 stands for; calls of a system and the like count as others. */
static bool is_branch(uint8_t branch)
{
    return branch == TROD_BR_DIRECT || branch == TROD_BR_INDIRECT || branch == TROD_BR_COND ||
           branch == TROD_BR_CALL || branch == TROD_BR_ICALL || branch == TROD_BR_RETURN;
}

static int check_stream(struct state *s, uint32_t stream)
{
    if (!s->started || stream == s->stream)
        return 0;
    return trod_error(
        s->c.diag, TROD_ERR_USAGE, "export.streams", NULL,
        "a BT9 trace holds one stream, and these rows are of several: choose one with "
        "--stream (trod info lists them)");
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct state *s = st;

    for (uint32_t i = from; i < to; i++) {
        const uint32_t has = b->have & b->has[i];
        struct export_step step;
        uint32_t node;
        int r;

        if (b->kind[i] != TROD_INSTR || (has & TROD_COL_FLAGS && b->flags[i] & TROD_F_NOFETCH))
            continue;
        if ((r = check_stream(s, trod_batch_stream(b, i))) != 0 ||
            (r = export_flow_row(&s->flow, b, i, &step)) < 0)
            return r;
        s->stream = trod_batch_stream(b, i);
        s->instructions++;
        if (!s->started)
            begin(s, r ? step.pc : 0);
        else if (r)
            settle(s, step.pc);
        if (!r || !is_branch(step.branch)) {
            s->at.others++;
            continue;
        }
        node = node_of(s, &step);
        if (node == UINT32_MAX || (r = arrive(s, node)) != 0)
            return node == UINT32_MAX ? TROD_ERR_NOMEM : r;
        leave(s, &step, node, b, i);
    }
    return 0;
}

/* ---- the file */

/* By branch, and where it went; edges that end the trace come last. */
static int by_way(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if ((x->dst == 0) != (y->dst == 0))
        return x->dst == 0 ? 1 : -1;
    if (x->taken != y->taken)
        return x->taken ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

/*
 * Count the targets of each branch, and into *TWICE the edges of the same branch, direction and
 * target that differ in what comes then: an exception came between.
 */
static int compare_edges(struct state *s, uint64_t *twice)
{
    struct edge *e = malloc((s->edges + 1) * sizeof *e);

    if (!e)
        return TROD_ERR_NOMEM;
    *twice = 0;
    for (size_t i = 0; i < s->edges; i++)
        e[i] = s->edge[i];
    qsort(e, s->edges, sizeof *e, by_way);
    for (size_t i = 0; i < s->edges; i++) {
        const bool same = i > 0 && e[i].src == e[i - 1].src && e[i].taken == e[i - 1].taken &&
                          (!e[i].taken || e[i].target == e[i - 1].target);

        s->node[e[i].src].targets += e[i].taken && !same;
        *twice += same && e[i].dst != 0;
    }
    free(e);
    return 0;
}

static void put_head(const struct state *s, struct export_text *t)
{
    const char *name = strrchr(s->c.source, '/');

    export_put(t, "BT9_SPA_TRACE_FORMAT\nbt9_minor_version: 0\nhas_physical_address: 0\n"
                  "md5_checksum:\nconversion_date:\noriginal_stf_input_file: ");
    export_clean(t, name ? name + 1 : s->c.source, "#", '_');
    export_print(t,
                 "\ntotal_instruction_count: %llu\nbranch_instruction_count: %llu\nBT9_NODES\n"
                 "NODE 0 0 - 0 0\n",
                 (unsigned long long)s->instructions, (unsigned long long)s->passed);
}

static void put_node(const struct node *n, size_t id, struct export_text *t)
{
    const bool call = n->branch == TROD_BR_CALL || n->branch == TROD_BR_ICALL;
    const bool returns = n->branch == TROD_BR_RETURN;
    const bool indirect = returns || n->branch == TROD_BR_ICALL || n->branch == TROD_BR_INDIRECT;

    export_print(t,
                 "NODE %zu 0x%llx - 0x%llx %u class: %s+%s+%s behavior: %s+%s taken_cnt: %llu "
                 "not_taken_cnt: %llu tgt_cnt: %llu\n",
                 id, (unsigned long long)n->pc, (unsigned long long)n->opcode, n->size,
                 call      ? "CALL"
                 : returns ? "RET"
                           : "JMP",
                 indirect ? "IND" : "DIR", n->conditional ? "CND" : "UCD",
                 !n->untaken ? "AT"
                 : n->taken  ? "DYN"
                             : "ANT",
                 n->targets > 1 ? "IND" : "DIR", (unsigned long long)n->taken,
                 (unsigned long long)n->untaken, (unsigned long long)n->targets);
}

static int put_sequence(const struct state *s, struct export_text *t)
{
    uint32_t *id = malloc(CHUNK * sizeof *id);
    size_t n = 0;

    if (!id)
        return TROD_ERR_NOMEM;
    export_put(t, "BT9_EDGE_SEQUENCE\n");
    rewind(s->sequence);
    while (t->status == 0 && (n = fread(id, sizeof *id, CHUNK, s->sequence)) > 0)
        for (size_t i = 0; i < n; i++) {
            export_number(t, id[i]);
            export_put(t, "\n");
        }
    free(id);
    export_put(t, "EOF\n");
    return !ferror(s->sequence)
               ? t->status
               : trod_error(s->c.diag, TROD_ERR_IO, "export.cbp2016", NULL,
                            "cannot read the sequence of branches again: %s", strerror(errno));
}

static int finish(void *st, const struct trod_meta *meta, struct trod_result *result)
{
    struct state *s = st;
    struct export_text t = {.out = s->c.out};
    uint64_t twice;
    int r = s->started ? arrive(s, 0) : 0;

    (void)meta;
    if (r == 0)
        r = compare_edges(s, &twice);
    if (r != 0)
        return r;
    put_head(s, &t);
    for (size_t i = 1; i < s->nodes; i++)
        put_node(&s->node[i], i, &t);
    export_put(&t, "BT9_EDGES\n");
    for (size_t i = 0; i < s->edges; i++)
        export_print(&t, "EDGE %zu %u %u %c 0x%llx - %llu traverse_cnt: %llu\n", i,
                     (unsigned)s->edge[i].src, (unsigned)s->edge[i].dst,
                     s->edge[i].taken ? 'T' : 'N', (unsigned long long)s->edge[i].target,
                     (unsigned long long)s->edge[i].others, (unsigned long long)s->edge[i].passed);
    r = put_sequence(s, &t);
    trod_result_u64(result, "instructions", s->instructions);
    trod_result_u64(result, "branches", s->passed - s->started);
    trod_result_u64(result, "nodes", s->nodes);
    trod_result_u64(result, "edges", s->edges);
    trod_result_u64(result, "edges_twice", twice);
    if (twice && r == 0)
        trod_warning(s->c.diag, TROD_OK, "export.cbp2016.twice", NULL,
                     "%llu times a branch went where it had gone before, and other instructions "
                     "followed (an exception came, or code changed): the championship's reader "
                     "refuses such a trace; choose a part without, with --instructions",
                     (unsigned long long)twice);
    return r;
}

static void fini(void *st)
{
    struct state *s = st;

    export_flow_fini(&s->flow);
    trod_map_fini(&s->by_pc);
    trod_map_fini(&s->by_edge);
    free(s->node);
    free(s->edge);
    if (s->sequence)
        fclose(s->sequence);
}

static const char *const suffixes[] = {".bt9.trace", NULL};

const struct trod_export trod_view_cbp2016 = {
    .name = "cbp2016",
    .title = "BT9 trace of one stream's branches, for branch predictors",
    .opens = "simulators of the championship of 2016 (CBP-5)",
    .leaves_out = "addresses and opcodes of instructions that are no branches, all data, "
                  "times",
    .suffixes = suffixes,
    .form = TROD_EXPORT_TEXT,
    .state_size = sizeof(struct state),
    .needs = TROD_COL_KIND | TROD_COL_ADDR | TROD_COL_SITE,
    .uses = EXPORT_FLOW_COLUMNS | TROD_COL_TARGET,
    .init = init,
    .feed = feed,
    .finish = finish,
    .fini = fini,
};
