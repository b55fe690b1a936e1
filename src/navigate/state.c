/*
 * state.c - the state at a row: registers, memory, what changed between two rows.
 *
 * Implements trod/navigate.h, "the state at a row".
 */
#include "navigate/lines.h"
#include "navigate/tally.h"

#include <stdlib.h>
#include <string.h>

struct trod_nav_state {
    struct nav_regs regs; /* owns its files; names are copied */
    struct nav_names names;
    uint64_t row;
    uint32_t stream;
    uint32_t
        *order; /* registers in the order of telling; UINT32_MAX: of the architecture, not met */
    char (*text)[NAV_NAME];
    size_t n;
};

struct replay {
    struct nav_regs *regs;
    uint32_t stream; /* of the row fed last */
    uint64_t row;
};

static int rows(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct replay *r = user;

    for (uint32_t end = i + n; i < end; i++, row++) {
        int rc = nav_regs_row(r->regs, b, i, row);

        if (rc < 0)
            return rc;
        r->stream = trod_batch_stream(b, i);
        r->row = row;
    }
    return 1;
}

static int by_name(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;

    for (; *x && *y; x++, y++) {
        if (*x >= '0' && *x <= '9' && *y >= '0' && *y <= '9') {
            unsigned long u = strtoul(x, NULL, 10), v = strtoul(y, NULL, 10);

            if (u != v)
                return u < v ? -1 : 1;
        }
        if (*x != *y)
            break;
    }
    return (unsigned char)*x - (unsigned char)*y;
}

static const struct nav_file *file_of(const struct trod_nav_state *s)
{
    return s->stream < s->regs.n_files ? s->regs.file[s->stream] : NULL;
}

static bool is_known(const struct nav_file *f, uint32_t id)
{
    return f && id < f->n && f->reg[id].size > 0;
}

/* How many bytes register NAME of ISA has if it is always 0, which no row need tell; else 0. */
static uint32_t zero_size(enum trod_isa isa, const char *name)
{
    char canonical[NAV_NAME];

    nav_canonical(isa, name, canonical);
    switch (isa) {
    case TROD_ISA_RISCV32:
    case TROD_ISA_RISCV64:
        return strcmp(canonical, "x0") != 0 ? 0 : isa == TROD_ISA_RISCV32 ? 4 : 8;
    case TROD_ISA_MIPS32:
    case TROD_ISA_MIPS64:
        return strcmp(canonical, "r0") != 0 ? 0 : isa == TROD_ISA_MIPS32 ? 4 : 8;
    case TROD_ISA_A64:
        return strcmp(name, "xzr") == 0 ? 8 : strcmp(name, "wzr") == 0 ? 4 : 0;
    default:
        return 0;
    }
}

/* Is register NAME of the architecture told as one of its banks (sp as sp_el1)? */
static bool told_by_bank(const struct trod_nav_state *s, const char *name)
{
    for (uint32_t id = 0; id < s->names.n; id++)
        if (is_known(file_of(s), id) && nav_names_means(&s->names, id, name))
            return true;
    return false;
}

/* First the registers of the architecture, then others that were met, by name. */
static int put_in_order(struct trod_nav_state *s)
{
    const struct nav_file *f = file_of(s);
    const char **others = calloc(s->names.n + 1, sizeof *others);
    char room[NAV_NAME];
    size_t base = 0, n = 0;

    while (nav_base_name(s->names.isa, base, room))
        base++;
    s->order = calloc(base + s->names.n + 1, sizeof *s->order);
    s->text = calloc(base + s->names.n + 1, sizeof *s->text);
    if (!others || !s->order || !s->text) {
        free(others);
        return TROD_ERR_NOMEM;
    }
    for (size_t i = 0; i < base; i++) {
        const char *name = nav_base_name(s->names.isa, i, room);
        uint32_t id = nav_names_find(&s->names, name, false);

        if (!is_known(f, id) &&
            (told_by_bank(s, name) || (nav_is_pc(s->names.isa, name) && f && f->has_pc)))
            continue;
        memcpy(s->text[s->n], name, strlen(name));
        s->order[s->n++] = is_known(f, id) ? id : UINT32_MAX;
    }
    for (uint32_t id = 0; id < s->names.n; id++) {
        bool told = false;

        for (size_t i = 0; i < base && !told; i++)
            told = strcmp(s->text[i], s->names.at[id].text) == 0;
        if (!told && is_known(f, id))
            others[n++] = s->names.at[id].text;
    }
    qsort(others, n, sizeof *others, by_name);
    for (size_t i = 0; i < n; i++) {
        memcpy(s->text[s->n], others[i], strlen(others[i]));
        s->order[s->n++] = nav_names_find(&s->names, others[i], false);
    }
    free(others);
    return TROD_OK;
}

/* The names as they are: those of the trace may grow. */
static int copy_names(struct trod_nav_state *s, const struct nav_names *names)
{
    s->names = *names;
    s->names.cap = names->n ? names->n : 1;
    s->names.at = calloc(s->names.cap, sizeof *s->names.at);
    if (!s->names.at)
        return TROD_ERR_NOMEM;
    if (names->n)
        memcpy(s->names.at, names->at, names->n * sizeof *names->at);
    s->regs.names = &s->names;
    return TROD_OK;
}

static int state_at(struct trod_nav *nav, uint64_t row, int64_t stream, struct trod_nav_state **out)
{
    struct trod_nav_state *s = calloc(1, sizeof *s);
    struct replay replay = {.row = TROD_NOWHERE};
    uint64_t first;
    int rc;

    *out = NULL;
    if (!s)
        return TROD_ERR_NOMEM;
    s->row = row;
    replay.regs = &s->regs;
    rc = nav_regs_at(nav, row, &s->regs, &first);
    if (rc == TROD_OK)
        rc = nav_scan(nav, first, row < TROD_NOWHERE ? row + 1 : row, rows, &replay);
    if (rc == TROD_OK && replay.row != row)
        rc = trod_error(nav->diag, TROD_ERR_USAGE, "navigate.row", NULL,
                        "the trace has no row %llu: it has %llu", (unsigned long long)row,
                        (unsigned long long)nav->rows);
    s->stream = stream < 0 ? replay.stream : (uint32_t)stream;
    if (rc == TROD_OK)
        rc = copy_names(s, &nav->names);
    if (rc == TROD_OK)
        rc = put_in_order(s);
    if (rc < 0)
        trod_nav_state_free(s);
    else
        *out = s;
    return rc;
}

int trod_nav_state(struct trod_nav *nav, uint64_t row, int64_t stream, struct trod_nav_state **out)
{
    const int rc = state_at(nav, row, stream, out);

    return nav_distrust(nav, rc) ? state_at(nav, row, stream, out) : rc;
}

void trod_nav_state_free(struct trod_nav_state *s)
{
    if (!s)
        return;
    nav_regs_fini(&s->regs);
    if (s->regs.names == &s->names)
        nav_names_fini(&s->names);
    free(s->order);
    free(s->text);
    free(s);
}

uint64_t trod_nav_state_row(const struct trod_nav_state *s)
{
    return s->row;
}

uint32_t trod_nav_state_stream(const struct trod_nav_state *s)
{
    return s->stream;
}

bool trod_nav_state_pc(const struct trod_nav_state *s, uint64_t *pc, uint64_t *row)
{
    const struct nav_file *f = file_of(s);

    if (!f || !f->has_pc)
        return false;
    *pc = f->pc;
    *row = f->pc_row;
    return true;
}

static void tell(const struct trod_nav_state *s, uint32_t id, struct trod_nav_register *out)
{
    static const uint8_t zero[8], all[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    const struct nav_file *f = file_of(s);
    const struct nav_value *v;

    if (!is_known(f, id)) {
        if ((out->size = zero_size(s->names.isa, out->name)) == 0)
            return;
        out->value = zero;
        out->known = all;
        out->from = TROD_NAV_ALWAYS;
        return;
    }
    v = &f->reg[id];
    out->value = v->bytes;
    out->known = v->bytes + v->cap;
    out->size = v->size;
    out->from = (enum trod_nav_source)v->from;
    out->row = v->row;
}

bool trod_nav_state_register(const struct trod_nav_state *s, size_t i,
                             struct trod_nav_register *out)
{
    memset(out, 0, sizeof *out);
    out->row = TROD_NOWHERE;
    if (i >= s->n)
        return false;
    out->name = s->text[i];
    tell(s, s->order[i], out);
    return true;
}

bool trod_nav_state_has(const struct trod_nav_state *s, const char *name)
{
    char query[NAV_NAME], room[NAV_NAME];
    unsigned bit;

    nav_canonical(s->names.isa, name, query);
    if (nav_is_pc(s->names.isa, query) || nav_flag(s->names.isa, name, &bit))
        return true;
    for (size_t i = 0; nav_base_name(s->names.isa, i, room); i++)
        if (strcmp(room, query) == 0)
            return true;
    for (uint32_t id = 0; id < s->names.n; id++)
        if (nav_names_means(&s->names, id, query))
            return true;
    return false;
}

/* One of the flags of a status register, the program counter, or a register that is always 0. */
static size_t implied(const struct trod_nav_state *s, const char *name, uint8_t *value,
                      uint8_t *known, size_t size)
{
    const struct nav_file *f = file_of(s);
    char query[NAV_NAME];
    const char *reg;
    unsigned bit;
    uint32_t zero;

    nav_canonical(s->names.isa, name, query);
    if (nav_is_pc(s->names.isa, query) && f && f->has_pc && size >= 8) {
        for (unsigned k = 0; k < 8; k++)
            value[k] = (uint8_t)(f->pc >> (8 * k));
        memset(known, 0xff, 8);
        return f->pc >> 32 ? 8 : 4;
    }
    if (size && (reg = nav_flag(s->names.isa, name, &bit)) != NULL) {
        const uint32_t id = nav_names_find((struct nav_names *)(uintptr_t)&s->names, reg, false);

        if (!is_known(f, id) || f->reg[id].size <= bit / 8 ||
            !(f->reg[id].bytes[f->reg[id].cap + bit / 8] >> bit % 8 & 1))
            return 0;
        *value = f->reg[id].bytes[bit / 8] >> bit % 8 & 1;
        *known = 0xff;
        return 1;
    }
    zero = zero_size(s->names.isa, name);
    zero = zero < size ? zero : (uint32_t)size;
    memset(value, 0, zero);
    memset(known, 0xff, zero);
    return zero;
}

/* Of the registers that NAME may mean (itself, its banks) the one written last; else UINT32_MAX. */
static uint32_t written_last(const struct trod_nav_state *s, const char *name)
{
    const struct nav_file *f = file_of(s);
    uint32_t last = UINT32_MAX;
    char query[NAV_NAME];

    nav_canonical(s->names.isa, name, query);
    for (uint32_t id = 0; id < s->names.n; id++)
        if (nav_names_means(&s->names, id, query) && is_known(f, id) &&
            (last == UINT32_MAX || f->reg[id].row >= f->reg[last].row))
            last = id;
    return last;
}

bool trod_nav_state_named(const struct trod_nav_state *s, const char *name, uint8_t *value,
                          uint8_t *known, size_t size, size_t *n)
{
    struct trod_nav_state *own = (struct trod_nav_state *)(uintptr_t)s;
    const struct nav_file *f = file_of(s);
    struct nav_part part;
    const struct nav_value *v;

    *n = 0;
    if (!nav_names_part(&own->names, name, strlen(name), "", 0, false, &part))
        memset(&part, 0, sizeof part);
    if (!part.bits) /* a whole register; names that only later rows tell are there too */
        part.id = written_last(s, name);
    if (!is_known(f, part.id))
        return (*n = implied(s, name, value, known, size)) > 0;
    if (part.off >= f->reg[part.id].size)
        return false;
    v = &f->reg[part.id];
    *n = part.bits ? part.bits / 8 : v->size;
    if (*n > v->size - part.off)
        *n = v->size - part.off;
    if (*n > size)
        *n = size;
    memcpy(value, v->bytes + part.off, *n);
    memcpy(known, v->bytes + v->cap + part.off, *n);
    nav_part_rest(&part, value, known, *n);
    return true;
}

/* ---- memory */

static int memory_at(struct trod_nav *nav, uint64_t row, const struct trod_nav_run *run, size_t n,
                     struct trod_nav_byte *out)
{
    const bool big = trod_nav_meta(nav)->endian == TROD_ENDIAN_BIG;
    struct nav_lines lines;
    int rc = nav_lines_init(&lines, big);

    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        rc = nav_lines_ask(&lines, run[i].addr, run[i].count);
    if (rc == TROD_OK)
        rc = nav_lines_solve(nav, &lines, row);
    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        for (size_t k = 0; k < run[i].count; k++) {
            const uint64_t at = run[i].addr + k;

            nav_line_byte(nav_lines_find(&lines, at / NAV_LINE), at % NAV_LINE, out++);
        }
    nav_lines_fini(&lines);
    return rc;
}

/* Are the N runs memory, and few enough? 0 or TROD_ERR_LIMIT, reported. */
static int check_runs(struct trod_nav *nav, const struct trod_nav_run *run, size_t n)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t before = bytes;

        if (run[i].count && run[i].addr + (run[i].count - 1) < run[i].addr)
            return trod_error(nav->diag, TROD_ERR_LIMIT, "navigate.memory", NULL,
                              "memory ends at 0x%llx: there are no %llu bytes from 0x%llx on",
                              (unsigned long long)UINT64_MAX, (unsigned long long)run[i].count,
                              (unsigned long long)run[i].addr);
        bytes += run[i].count;
        if (bytes < before) /* more than can be counted */
            bytes = UINT64_MAX;
    }
    if (bytes > TROD_NAV_MEMORY)
        return trod_error(nav->diag, TROD_ERR_LIMIT, "navigate.memory", NULL,
                          "%llu bytes of memory are too many: %d at the most",
                          (unsigned long long)bytes, TROD_NAV_MEMORY);
    return TROD_OK;
}

int trod_nav_memory_runs(struct trod_nav *nav, uint64_t row, const struct trod_nav_run *run,
                         size_t n, struct trod_nav_byte *out)
{
    int rc = check_runs(nav, run, n);

    if (rc < 0)
        return rc;
    rc = memory_at(nav, row, run, n, out);
    return nav_distrust(nav, rc) ? memory_at(nav, row, run, n, out) : rc;
}

int trod_nav_memory(struct trod_nav *nav, uint64_t row, uint64_t addr, size_t count,
                    struct trod_nav_byte *out)
{
    const struct trod_nav_run run = {addr, count};

    return trod_nav_memory_runs(nav, row, &run, 1, out);
}
