/*
 * schedule.c - the analysis "schedule": which thread ran on which core, for how long, and why it
 * left (rows.c).
 *
 * Implements docs/analysing.md, "schedule", after DynamoRIO's schedule_stats (drcachesim,
 * tools/schedule_stats.cpp). Cores are those of the order of the trace ("dynamic"), the files of a
 * trace that is sharded by core, or else those that the trace's CPU_ID markers name, threads being
 * followed in the order of their time stamps. Wall-clock times of a simulation are not known here.
 *
 * A thread of an order that says the core is what that order schedules: a file. With recorded cpus
 * a switch is seen at the first instruction behind the marker that names the cpu.
 */
#include "analysis/schedule/schedule.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct sch_options, field)

static const char *const like_names[] = {"none",         "schedule_stats", "serial_schedule",
                                         "cpu_schedule", "record_file",    NULL};

static const struct trod_option options[] = {
    {"chart", 0, TROD_OPT_BOOL, AT(chart), NULL,
     "draw which thread ran where and when instead, in text output", NULL, NULL},
    {"width", 0, TROD_OPT_COUNT, AT(width), "N",
     "characters of a line of the chart (default: the terminal's)", NULL, NULL},
    {"like", 0, TROD_OPT_ENUM, AT(like), "TOOL",
     "print as DynamoRIO's schedule_stats does, or what its files serial_schedule, cpu_schedule "
     "and "
     "record_file hold",
     like_names, NULL},
    {.type = TROD_OPT_END},
};

static const struct sch_options defaults = {.width = 80};

static int init(void *st, const void *opt, const struct trod_context *context)
{
    struct sch_state *s = st;

    s->opt = opt ? opt : &defaults;
    s->meta = context->meta;
    s->diag = context->diag;
    s->last_core = SCH_NONE;
    return TROD_OK;
}

static void fini(void *st)
{
    struct sch_state *s = st;

    for (size_t i = 0; i < s->n_cores; i++) {
        struct sch_core *c = &s->core[i];

        free(c->since_hist.bin);
        sch_map_free(&c->by_thread);
        sch_map_free(&c->switched);
        sch_map_free(&c->stayed);
        free(c->threads);
        free(c->bucket);
        free(c->run);
        trod_buf_fini(&c->letters);
    }
    free(s->core);
    free(s->thread);
    free(s->by_stream);
    free(s->entry);
    free(s->interval);
    s->core = NULL;
    s->thread = NULL;
    s->by_stream = NULL;
    s->entry = NULL;
    s->interval = NULL;
    s->n_cores = s->n_threads = 0;
}

/* The warm-up is over: threads stay on their cores, counts begin anew. */
static void count_anew(struct sch_state *s)
{
    for (size_t i = 0; i < s->n_cores; i++) {
        struct sch_core *c = &s->core[i];

        c->instructions = c->user = c->idle = c->waits = c->since = 0;
        c->switches = c->voluntary = c->direct = 0;
        c->to_input = c->to_idle = c->from_idle = 0;
        c->calls = c->blocking = c->requests = c->migrations = 0;
        c->since_hist.n = 0;
        c->letters.n = 0;
        sch_map_free(&c->by_thread);
        sch_map_free(&c->switched);
        sch_map_free(&c->stayed);
    }
    for (size_t i = 0; i < s->n_threads; i++)
        s->thread[i].instructions = s->thread[i].switches = s->thread[i].waited = 0;
    s->instructions = 0;
}

static int boundary(void *st, const struct trod_boundary *at)
{
    struct sch_state *s = st;

    if (at->type == TROD_BOUNDARY_WARM)
        count_anew(s);
    if (at->type == TROD_BOUNDARY_INTERVAL) {
        if (!trod_grow(&s->interval, s->n_intervals, &s->cap_intervals, sizeof *s->interval, 64))
            return TROD_ERR_NOMEM;
        s->interval[s->n_intervals] = sch_sum(s);
        s->interval[s->n_intervals].number = at->number;
        s->interval[s->n_intervals++].end = at->instructions;
    }
    return TROD_OK;
}

static int layout(const void *st, struct trod_buf *out)
{
    const struct sch_state *s = st;
    int rc;

    if (s->opt->like == SCH_LIKE_SCHEDULE_STATS)
        rc = sch_like(s, out);
    else if (s->opt->like)
        rc = sch_file(s, out);
    else if (s->opt->chart)
        rc = sch_chart_print(s, out);
    else
        return 0;
    return rc < 0 ? rc : 1;
}

const struct trod_analysis trod_analysis_schedule = {
    .name = "schedule",
    .title = "which thread ran on which core, and when",
    .about = "Shows which thread ran where: instructions, threads and switches of each core,\n"
             "instructions between switches, system calls and how long they took with and\n"
             "without a switch, migrations, idle steps; --chart draws it.\n"
             "\n"
             "Cores are those that the trace recorded, threads being merged by their time\n"
             "stamps; with --order recorded those of the trace's schedule files, waiting\n"
             "for each other; with --order dynamic those that DynamoRIO's scheduler would\n"
             "run the threads on.\n"
             "--like schedule_stats prints the lines of DynamoRIO's tool; with\n"
             "--like serial_schedule, cpu_schedule or record_file and -o FILE the schedule is\n"
             "written as such a file.",
    .examples = "  trod schedule app.dir\n"
                "  trod schedule --chart --order recorded app.dir\n"
                "  trod schedule --order dynamic --like schedule_stats app.dir\n",
    .options = options,
    .options_size = sizeof(struct sch_options),
    .defaults = &defaults,
    .state_size = sizeof(struct sch_state),
    .order = TROD_GLOBAL_ORDER,
    .light = true,
    .idle = true,
    .timed = true,
    .needs = TROD_COL_KIND | TROD_COL_FLAGS,
    .uses = TROD_COL_STREAM | TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_CORE,
    .init = init,
    .feed = sch_feed,
    .boundary = boundary,
    .result = sch_result,
    .layout = layout,
    .fini = fini,
};
