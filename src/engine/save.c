/*
 * save.c - the states of a run as bytes and back, for other processes.
 *
 * "TRODrun" and a version byte; the number of rows read; ISA and byte order; the number of sites,
 * each with its address, size, instruction set, branch class and opcode bytes; the number of
 * analyses, each with its name and its state, length first; where there is a state for each stream
 * their number and each with its stream, since streams go on in the next part, after the state of
 * all rows where that is not their sum. Numbers are written seven bits a byte, lowest first
 * (core/pack.h). A site has another number in every process: whoever loads a state is given the
 * numbers of its own.
 */
#include "engine/run_int.h"

#include "core/pack.h"
#include "engine/streams.h"

#include <stdlib.h>
#include <string.h>

static const char magic[8] = "TRODrun\14";

static int save_bytes(struct trod_buf *out, const void *p, size_t n)
{
    int rc = trod_pack(out, n);

    return rc < 0 ? rc : trod_buf_add(out, p, n);
}

static int save_sites(struct trod_buf *out, struct trod_sites *s)
{
    uint32_t n = s ? trod_sites_count(s) : 0;
    enum trod_isa isa = TROD_ISA_UNKNOWN;
    enum trod_endian endian = TROD_ENDIAN_UNKNOWN;
    int rc;

    if (s)
        engine_sites_isa(s, &isa, &endian);
    rc = trod_pack(out, isa);
    if (rc == TROD_OK)
        rc = trod_pack(out, endian);
    if (rc == TROD_OK)
        rc = trod_pack(out, n);

    for (uint32_t i = 0; rc == TROD_OK && i < n; i++) {
        const struct trod_site *site = trod_site_at(s, i);
        const uint64_t numbers[] = {site->pc, site->size, site->iset, site->branch};

        for (size_t k = 0; rc == TROD_OK && k < 4; k++)
            rc = trod_pack(out, numbers[k]);
        if (rc == TROD_OK)
            rc = save_bytes(out, site->code, site->code_n);
    }
    return rc;
}

static int save_state(struct trod_buf *out, const struct trod_analysis *a, const void *st)
{
    struct trod_buf state = {0};
    int rc = a->save(st, &state);

    if (rc == TROD_OK)
        rc = save_bytes(out, state.p, state.n);
    trod_buf_fini(&state);
    return rc;
}

static int save_item(struct trod_buf *out, const struct engine_item *it)
{
    const struct engine_instance *in = &it->instance[0];
    int rc = save_bytes(out, it->analysis->name, strlen(it->analysis->name));
    uint64_t n = 0;

    if (rc == TROD_OK && (!in->keyed || in->both))
        rc = save_state(out, it->analysis, in->st);
    if (rc < 0 || !in->keyed)
        return rc;
    for (uint32_t i = 0; i < in->n_streams; i++)
        n += in->stream[i] != NULL;
    rc = trod_pack(out, n);
    for (uint32_t i = 0; rc == TROD_OK && i < in->n_streams; i++) {
        if (!in->stream[i])
            continue;
        rc = engine_stream_save(out, in->context.meta, i);
        if (rc == TROD_OK)
            rc = save_state(out, it->analysis, in->stream[i]);
    }
    return rc;
}

/* Rows that were read, and those of saved runs that were merged. */
static uint64_t rows_of(const struct trod_run *r)
{
    struct trod_trace_progress whole;

    if (r->unit)
        return r->done.rows + r->loaded;
    trod_trace_progress(r->whole, &whole);
    return whole.rows + r->loaded;
}

int trod_run_savable(const struct trod_run *r)
{
    for (size_t i = 0; i < r->n_items; i++) {
        const struct trod_analysis *a = r->item[i].analysis;

        if (!a->save || !a->load || !a->merge)
            return trod_error(r->diag, TROD_ERR_UNSUPPORTED, "run.save", NULL,
                              "what analysis '%s' found cannot be saved", a->name);
        if (r->opt.interval || r->opt.by == TROD_BY_CORE)
            return trod_error(r->diag, TROD_ERR_UNSUPPORTED, "run.save", NULL,
                              "results of intervals, and those by core, cannot be saved");
    }
    return TROD_OK;
}

int trod_run_save(const struct trod_run *r, struct trod_buf *out)
{
    int rc = trod_run_savable(r);

    if (rc < 0)
        return rc;
    if (!r->n_items && !r->gone)
        return TROD_ERR_USAGE;
    for (size_t i = 0; i < r->n_items; i++)
        if (!r->item[i].instance || !r->item[i].instance[0].st)
            return TROD_ERR_USAGE;
    rc = trod_buf_add(out, magic, sizeof magic);
    if (rc == TROD_OK)
        rc = trod_pack(out, rows_of(r));
    if (rc == TROD_OK)
        rc = save_sites(out, r->sites);
    if (rc == TROD_OK)
        rc = trod_pack(out, r->n_items);
    for (size_t i = 0; rc == TROD_OK && i < r->n_items; i++) {
        rc = save_item(out, &r->item[i]);
        if (rc == TROD_ERR_UNSUPPORTED)
            trod_error(r->diag, rc, "run.save", NULL,
                       "what analysis '%s' found with these options cannot be saved",
                       r->item[i].analysis->name);
    }
    return rc;
}

/* ---- back */

static int load_bytes(struct trod_span *in, struct trod_span *out)
{
    uint64_t n;
    int rc = trod_unpack(in, &n);

    if (rc < 0 || n > in->n)
        return TROD_ERR_CORRUPT;
    *out = (struct trod_span){.p = in->p, .n = (size_t)n, .last = true};
    in->p += n;
    in->n -= (size_t)n;
    return TROD_OK;
}

static int load_site(struct trod_span *in, struct trod_site *site)
{
    uint64_t numbers[4];
    struct trod_span code;
    int rc = TROD_OK;

    for (size_t k = 0; rc == TROD_OK && k < 4; k++)
        rc = trod_unpack(in, &numbers[k]);
    if (rc == TROD_OK)
        rc = load_bytes(in, &code);
    if (rc < 0 || code.n > TROD_INSN_CODE || numbers[1] > UINT32_MAX || numbers[2] > UINT8_MAX ||
        numbers[3] > UINT8_MAX)
        return TROD_ERR_CORRUPT;
    *site = (struct trod_site){.pc = numbers[0],
                               .size = (uint32_t)numbers[1],
                               .iset = (uint8_t)numbers[2],
                               .branch = (uint8_t)numbers[3],
                               .code_n = (uint8_t)code.n};
    memcpy(site->code, code.p, code.n);
    return TROD_OK;
}

/* Add the sites of IN to R: *MAP (to be freed) has their numbers there by those they had, and
 * TROD_NO_SITE behind the last one. */
static int load_sites(struct trod_run *r, struct trod_span *in, uint32_t **map)
{
    uint64_t n = 0, isa = 0, endian = 0;
    int rc = trod_unpack(in, &isa);

    if (rc == TROD_OK)
        rc = trod_unpack(in, &endian);
    if (rc == TROD_OK && (isa >= TROD_ISAS || endian > TROD_ENDIAN_BIG))
        rc = TROD_ERR_CORRUPT;
    if (rc == TROD_OK)
        rc = trod_unpack(in, &n);
    *map = NULL;
    if (rc < 0 || n > in->n / 5 || (n && !r->sites))
        return TROD_ERR_CORRUPT;
    if (r->sites)
        engine_sites_learn(r->sites, (enum trod_isa)isa, (enum trod_endian)endian);
    *map = malloc((n + 1) * sizeof **map);
    if (!*map)
        return TROD_ERR_NOMEM;
    (*map)[n] = TROD_NO_SITE;
    for (uint64_t i = 0; i < n; i++) {
        struct trod_site site;

        if ((rc = load_site(in, &site)) < 0)
            return rc;
        (*map)[i] = trod_sites_add(r->sites, &site);
        if ((*map)[i] == TROD_NO_SITE)
            return TROD_ERR_NOMEM;
    }
    return TROD_OK;
}

static int load_streams(struct trod_run *r, struct engine_instance *loaded, struct trod_span *in,
                        const uint32_t *map)
{
    struct trod_meta *m = (struct trod_meta *)(uintptr_t)trod_trace_meta(r->whole);
    uint64_t n;
    int rc = trod_unpack(in, &n);

    for (uint64_t i = 0; rc == TROD_OK && i < n; i++) {
        const int key = engine_stream_load(m, in);
        struct trod_span state;
        void *st;

        if (key < 0)
            return key;
        if ((rc = load_bytes(in, &state)) < 0)
            return rc;
        if (!(st = engine_instance_stream(loaded, (uint32_t)key)))
            return loaded->rc;
        rc = loaded->analysis->load(st, state, map);
    }
    return rc;
}

static int load_item(struct trod_run *r, const struct engine_item *it, struct trod_span *in,
                     const uint32_t *map)
{
    struct trod_span name, state;
    struct engine_instance loaded;
    const bool keyed = it->instance[0].keyed, whole = !keyed || it->instance[0].both;
    int rc = load_bytes(in, &name);

    if (rc == TROD_OK && whole)
        rc = load_bytes(in, &state);
    if (rc < 0 || name.n != strlen(it->analysis->name) ||
        memcmp(name.p, it->analysis->name, name.n) != 0)
        return TROD_ERR_CORRUPT;
    rc = engine_instance_begin(&loaded, r, it, trod_trace_meta(r->whole), 0);
    loaded.base = rows_of(r);
    if (rc == TROD_OK && whole)
        rc = it->analysis->load(loaded.st, state, map);
    if (rc == TROD_OK && keyed)
        rc = load_streams(r, &loaded, in, map);
    it->instance[0].stale = !whole;
    if (rc == TROD_OK)
        rc = engine_instance_merge(&it->instance[0], &loaded, false);
    engine_instance_end(&loaded);
    return rc;
}

static int load_run(struct trod_run *r, struct trod_span in)
{
    uint32_t *map = NULL;
    uint64_t n = 0, rows;
    int rc = TROD_OK;

    if (in.n < sizeof magic || memcmp(in.p, magic, sizeof magic) != 0)
        return TROD_ERR_CORRUPT;
    in.p += sizeof magic;
    in.n -= sizeof magic;
    rc = trod_unpack(&in, &rows);
    if (rc == TROD_OK)
        rc = load_sites(r, &in, &map);
    if (rc == TROD_OK)
        rc = trod_unpack(&in, &n);
    if (rc == TROD_OK && n != r->n_items)
        rc = TROD_ERR_CORRUPT;
    for (size_t i = 0; rc == TROD_OK && i < r->n_items; i++)
        rc = load_item(r, &r->item[i], &in, map);
    if (rc == TROD_OK && in.n)
        rc = TROD_ERR_CORRUPT;
    if (rc == TROD_OK)
        r->loaded += rows;
    free(map);
    return rc;
}

int trod_run_merge(struct trod_run *r, struct trod_span saved)
{
    int rc = TROD_OK;

    for (size_t i = 0; i < r->n_items; i++)
        if (!r->item[i].analysis->load || !r->item[i].analysis->merge)
            return trod_error(r->diag, TROD_ERR_UNSUPPORTED, "run.save", NULL,
                              "analysis '%s' cannot be loaded", r->item[i].analysis->name);
    if (r->broken)
        return TROD_ERR_USAGE;
    if (!r->gone) {
        r->gone = true;
        rc = run_begin_items(r, true);
    }
    if (rc == TROD_OK)
        rc = load_run(r, saved);
    r->broken = rc < 0;
    if (rc == TROD_ERR_CORRUPT)
        trod_error(r->diag, rc, "run.saved", NULL,
                   "not a saved state of a run of these analyses on this trace");
    return rc;
}
