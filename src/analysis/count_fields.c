/*
 * count_fields.c - which sums make which number of `trod count`.
 *
 * Implements DynamoRIO's basic_counts (rules of each field), and says for every other format which
 * of the numbers its rows can tell.
 */
#include "analysis/count_fields.h"

enum { FILETYPE_ENCODINGS = 0x200 };

/* drmemtrace: marker numbers with a field of their own. */
enum {
    M_KERNEL_EVENT = 0,
    M_KERNEL_XFER = 1,
    M_TIMESTAMP = 2,
    M_CPU_ID = 3,
    M_FUNC_ID = 4,
    M_FUNC_RETADDR = 5,
    M_FUNC_ARG = 6,
    M_FUNC_RETVAL = 7,
    M_PHYS = 15,
    M_PHYS_UNAVAILABLE = 16,
    M_VIRTUAL = 17,
    M_SYSCALL = 25,
    M_BLOCKING = 26,
    M_CORE_WAIT = 32,
    M_CORE_IDLE = 33,
    M_HARDWARE_EVENT = 43,
    M_HARDWARE_RETURN = 44,
    M_SKIPPED_MEMREF = 46
};

static const char *const names[COUNT_FIELDS] = {
    [COUNT_F_INSTRS] = "fetched_instructions",
    [COUNT_F_UNIQUE] = "unique_fetched_instructions",
    [COUNT_F_USER] = "userspace_instructions",
    [COUNT_F_KERNEL] = "kernel_instructions",
    [COUNT_F_NOFETCH] = "non_fetched_instructions",
    [COUNT_F_NOFETCH_USER] = "non_fetched_userspace_instructions",
    [COUNT_F_NOFETCH_KERNEL] = "non_fetched_kernel_instructions",
    [COUNT_F_PREFETCHES] = "prefetches",
    [COUNT_F_LOADS] = "data_loads",
    [COUNT_F_STORES] = "data_stores",
    [COUNT_F_IFLUSHES] = "icache_flushes",
    [COUNT_F_DFLUSHES] = "dcache_flushes",
    [COUNT_F_THREADS] = "threads",
    [COUNT_F_SCHED] = "timestamp_cpuid_markers",
    [COUNT_F_IDLE] = "idle_markers",
    [COUNT_F_WAIT] = "wait_markers",
    [COUNT_F_XFER] = "kernel_transfer_markers",
    [COUNT_F_HARDWARE] = "hardware_transfer_markers",
    [COUNT_F_FUNC_ID] = "function_id_markers",
    [COUNT_F_FUNC_RETADDR] = "function_return_address_markers",
    [COUNT_F_FUNC_ARG] = "function_argument_markers",
    [COUNT_F_FUNC_RETVAL] = "function_return_value_markers",
    [COUNT_F_PHYS] = "physical_address_virtual_address_marker_pairs",
    [COUNT_F_PHYS_UNAVAILABLE] = "physical_address_unavailable_markers",
    [COUNT_F_SYSCALL] = "system_call_number_markers",
    [COUNT_F_BLOCKING] = "blocking_system_call_markers",
    [COUNT_F_SKIPPED_MEMREF] = "skipped_memref_markers",
    [COUNT_F_OTHER_MARKERS] = "other_markers",
    [COUNT_F_ENCODINGS] = "encodings",
    [COUNT_F_SKIPPED] = "instructions_not_executed",
    [COUNT_F_SYNTHETIC] = "synthetic_instructions",
    [COUNT_F_BYTES_READ] = "bytes_read",
    [COUNT_F_BYTES_WRITTEN] = "bytes_written",
    [COUNT_F_ATOMICS] = "atomic_accesses",
    [COUNT_F_BYTES_ATOMIC] = "bytes_atomic",
    [COUNT_F_BUS] = "bus_transactions",
    [COUNT_F_BYTES_BUS] = "bytes_on_bus",
    [COUNT_F_BRANCHES] = "branches",
    [COUNT_F_DIRECT] = "direct_jumps",
    [COUNT_F_INDIRECT] = "indirect_jumps",
    [COUNT_F_COND] = "conditional_branches",
    [COUNT_F_TAKEN] = "conditional_taken",
    [COUNT_F_UNTAKEN] = "conditional_untaken",
    [COUNT_F_TAKEN_SHARE] = "conditional_taken_percent",
    [COUNT_F_CALLS] = "direct_calls",
    [COUNT_F_ICALLS] = "indirect_calls",
    [COUNT_F_RETURNS] = "returns",
    [COUNT_F_SYSCALL_INSTRS] = "system_call_instructions",
    [COUNT_F_ERETS] = "exception_returns",
    [COUNT_F_OTHER_BRANCHES] = "other_branches",
    [COUNT_F_CODE_BYTES] = "unique_code_bytes",
    [COUNT_F_CODE_LINES] = "unique_code_lines",
    [COUNT_F_DATA_BYTES] = "unique_data_bytes",
    [COUNT_F_DATA_LINES] = "unique_data_lines",
};

/* One marker number, one field; HARDWARE and others that are sums of two stand twice. */
static const struct {
    uint8_t marker, field;
} markers[] = {
    {M_KERNEL_EVENT, COUNT_F_XFER},
    {M_KERNEL_XFER, COUNT_F_XFER},
    {M_TIMESTAMP, COUNT_F_SCHED},
    {M_CPU_ID, COUNT_F_SCHED},
    {M_FUNC_ID, COUNT_F_FUNC_ID},
    {M_FUNC_RETADDR, COUNT_F_FUNC_RETADDR},
    {M_FUNC_ARG, COUNT_F_FUNC_ARG},
    {M_FUNC_RETVAL, COUNT_F_FUNC_RETVAL},
    {M_PHYS, COUNT_F_PHYS},
    {M_PHYS_UNAVAILABLE, COUNT_F_PHYS_UNAVAILABLE},
    {M_SYSCALL, COUNT_F_SYSCALL},
    {M_BLOCKING, COUNT_F_BLOCKING},
    {M_CORE_WAIT, COUNT_F_WAIT},
    {M_CORE_IDLE, COUNT_F_IDLE},
    {M_HARDWARE_EVENT, COUNT_F_HARDWARE},
    {M_HARDWARE_RETURN, COUNT_F_HARDWARE},
    {M_SKIPPED_MEMREF, COUNT_F_SKIPPED_MEMREF},
};

const char *trod_count_field_name(const struct count_state *s, unsigned field)
{
    /* a bus shows what missed the caches, so these are no loads and stores of the program */
    if (s->bus && field == COUNT_F_LOADS)
        return "bus_reads";
    if (s->bus && field == COUNT_F_STORES)
        return "bus_writes";
    if (s->bus && field == COUNT_F_BUS)
        return "bus_fetches";
    if (s->bus && field == COUNT_F_BYTES_BUS)
        return "bytes_fetched";
    return field < COUNT_FIELDS ? names[field] : NULL;
}

double trod_count_taken(const struct count_values *v)
{
    uint64_t all = v->v[COUNT_F_TAKEN] + v->v[COUNT_F_UNTAKEN];

    return 100.0 * (double)v->v[COUNT_F_TAKEN] / (double)all;
}

/* Fields FROM to TO are known. */
static void know(struct count_values *o, unsigned from, unsigned to)
{
    for (unsigned i = from; i <= to; i++)
        o->known[i] = true;
}

static void instructions(const struct count_sums *c, struct count_values *o)
{
    for (unsigned k = 0; k < COUNT_INSTR; k++) {
        uint64_t n = c->instr[k];

        if (k & COUNT_NEWCODE)
            o->v[COUNT_F_ENCODINGS] += n;
        if (k & COUNT_NOFETCH) {
            o->v[COUNT_F_NOFETCH] += n;
            o->v[k & COUNT_KERNEL ? COUNT_F_NOFETCH_KERNEL : COUNT_F_NOFETCH_USER] += n;
        } else {
            o->v[COUNT_F_INSTRS] += n;
            o->v[k & COUNT_KERNEL ? COUNT_F_KERNEL : COUNT_F_USER] += n;
        }
    }
    o->v[COUNT_F_SKIPPED] = c->skipped;
    o->v[COUNT_F_SYNTHETIC] = c->synthetic;
}

/* Branches by class, of instructions that were fetched and of rows that are only a branch. */
static void branches(const struct count_sums *c, struct count_values *o)
{
    static const uint8_t fields[COUNT_BRANCHES] = {
        [TROD_BR_DIRECT] = COUNT_F_DIRECT,
        [TROD_BR_INDIRECT] = COUNT_F_INDIRECT,
        [TROD_BR_COND] = COUNT_F_COND,
        [TROD_BR_COND_TAKEN] = COUNT_F_TAKEN,
        [TROD_BR_COND_UNTAKEN] = COUNT_F_UNTAKEN,
        [TROD_BR_CALL] = COUNT_F_CALLS,
        [TROD_BR_ICALL] = COUNT_F_ICALLS,
        [TROD_BR_RETURN] = COUNT_F_RETURNS,
        [TROD_BR_SYSCALL] = COUNT_F_SYSCALL_INSTRS,
        [TROD_BR_ERET] = COUNT_F_ERETS,
    };

    for (unsigned class = TROD_BR_DIRECT; class < COUNT_BRANCHES; class ++) {
        uint64_t n = c->branch[class];

        for (unsigned k = 0; k < COUNT_INSTR; k += 16)
            if (!(k & COUNT_NOFETCH))
                n += c->instr[k + class];
        o->v[fields[class] ? fields[class] : COUNT_F_OTHER_BRANCHES] += n;
        o->v[COUNT_F_BRANCHES] += n;
    }
    o->v[COUNT_F_COND] += o->v[COUNT_F_TAKEN] + o->v[COUNT_F_UNTAKEN];
    o->v[COUNT_F_TAKEN] += c->taken;
    o->v[COUNT_F_UNTAKEN] += c->untaken;
    if (o->v[COUNT_F_BRANCHES] > o->v[COUNT_F_OTHER_BRANCHES])
        know(o, COUNT_F_BRANCHES, COUNT_F_OTHER_BRANCHES);
    o->known[COUNT_F_BRANCHES] = o->v[COUNT_F_BRANCHES]; /* of what class may not be known */
    if (o->v[COUNT_F_TAKEN] + o->v[COUNT_F_UNTAKEN] == 0)
        o->known[COUNT_F_TAKEN] = o->known[COUNT_F_UNTAKEN] = o->known[COUNT_F_TAKEN_SHARE] = false;
}

static void drm_markers(const struct count_sums *c, struct count_values *o)
{
    uint64_t others = c->rows[TROD_MARKER] - c->marker[M_VIRTUAL];

    for (unsigned i = 0; i < sizeof markers / sizeof *markers; i++) {
        o->v[markers[i].field] += c->marker[markers[i].marker];
        others -= c->marker[markers[i].marker];
    }
    o->v[COUNT_F_OTHER_MARKERS] = others;
}

static void data(const struct count_sums *c, const struct count_feet *f, struct count_values *o)
{
    bool access = c->rows[TROD_READ] || c->rows[TROD_WRITE] || c->rows[TROD_ATOMIC];
    bool touch = access || c->rows[TROD_BUS];

    o->v[COUNT_F_LOADS] = c->rows[TROD_READ];
    o->v[COUNT_F_STORES] = c->rows[TROD_WRITE];
    o->v[COUNT_F_PREFETCHES] = c->rows[TROD_PREFETCH];
    o->v[COUNT_F_IFLUSHES] = c->code_flushes;
    o->v[COUNT_F_DFLUSHES] = c->rows[TROD_FLUSH] - c->code_flushes;
    o->v[COUNT_F_BYTES_READ] = c->read_bytes;
    o->v[COUNT_F_BYTES_WRITTEN] = c->write_bytes;
    o->v[COUNT_F_ATOMICS] = c->rows[TROD_ATOMIC];
    o->v[COUNT_F_BYTES_ATOMIC] = c->atomic_bytes;
    o->v[COUNT_F_BUS] = c->rows[TROD_BUS];
    o->v[COUNT_F_BYTES_BUS] = c->bus_bytes;
    o->v[COUNT_F_CODE_BYTES] = f->code_bytes;
    o->v[COUNT_F_CODE_LINES] = f->code_lines;
    o->v[COUNT_F_DATA_BYTES] = f->data_bytes;
    o->v[COUNT_F_DATA_LINES] = f->data_lines;
    o->known[COUNT_F_LOADS] = o->known[COUNT_F_STORES] = access;
    o->known[COUNT_F_PREFETCHES] = c->rows[TROD_PREFETCH];
    o->known[COUNT_F_IFLUSHES] = o->known[COUNT_F_DFLUSHES] = c->rows[TROD_FLUSH];
    o->known[COUNT_F_BYTES_READ] = o->known[COUNT_F_BYTES_WRITTEN] = access && !c->unsized_data;
    o->known[COUNT_F_ATOMICS] = c->rows[TROD_ATOMIC];
    o->known[COUNT_F_BYTES_ATOMIC] = c->rows[TROD_ATOMIC] && !c->unsized_data;
    o->known[COUNT_F_BUS] = c->rows[TROD_BUS];
    o->known[COUNT_F_BYTES_BUS] = c->rows[TROD_BUS] && !c->unsized_data;
    o->known[COUNT_F_DATA_LINES] = touch && f->data_lines;
    o->known[COUNT_F_DATA_BYTES] = touch && f->data_lines && !c->unsized_data;
}

void trod_count_values(const struct count_state *s, const struct count_sums *sums,
                       const struct count_feet *feet, uint64_t filetype, struct count_values *out)
{
    bool instr = sums->rows[TROD_INSTR];

    *out = (struct count_values){0};
    instructions(sums, out);
    branches(sums, out);
    data(sums, feet, out);
    out->v[COUNT_F_UNIQUE] = feet->starts;
    out->known[COUNT_F_INSTRS] = instr;
    out->known[COUNT_F_UNIQUE] = out->known[COUNT_F_CODE_LINES] = instr && feet->starts;
    out->known[COUNT_F_CODE_BYTES] = instr && feet->starts && !sums->unsized_code;
    out->known[COUNT_F_SKIPPED] = sums->skipped;
    out->known[COUNT_F_SYNTHETIC] = sums->synthetic;
    out->known[COUNT_F_ENCODINGS] = out->v[COUNT_F_ENCODINGS];
    out->known[COUNT_F_USER] = out->known[COUNT_F_KERNEL] = out->v[COUNT_F_KERNEL];
    if (!s->drm) {
        out->v[COUNT_F_OTHER_MARKERS] = sums->rows[TROD_MARKER];
        out->known[COUNT_F_OTHER_MARKERS] = sums->rows[TROD_MARKER];
        return;
    }
    drm_markers(sums, out);
    if (filetype != TROD_NOWHERE && !(filetype & FILETYPE_ENCODINGS))
        out->v[COUNT_F_ENCODINGS] = 0;
    /* types do not tell system calls from other instructions: only encodings do */
    if (out->v[COUNT_F_SYSCALL_INSTRS] == 0 && out->v[COUNT_F_ENCODINGS] == 0)
        out->known[COUNT_F_SYSCALL_INSTRS] = false;
    know(out, COUNT_F_INSTRS, COUNT_F_DFLUSHES);
    know(out, COUNT_F_SCHED, COUNT_F_ENCODINGS);
    know(out, COUNT_F_BYTES_READ, COUNT_F_BYTES_WRITTEN);
    know(out, COUNT_F_CODE_BYTES, COUNT_F_CODE_LINES);
    if (s->opt.footprint != TROD_COUNT_NONE)
        know(out, COUNT_F_DATA_BYTES, COUNT_F_DATA_LINES);
}
