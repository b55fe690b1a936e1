/*
 * miss_files.c - misses of DynamoRIO's caches to files (miss_files.h).
 */
#include "sim/miss_files.h"

#include "core/inputs.h"
#include "sim/layout.h"
#include "trod/buf.h"
#include "trod/io.h"

#include <inttypes.h>
#include <stdlib.h>

struct trod_miss_file {
    const char *path; /* of the configuration; NULL: none */
    struct trod_output *out;
    int failed; /* first error of writing */
};

static void write_miss(void *user, const struct trod_sim_ref *r, uint64_t addr)
{
    struct trod_miss_file *m = user;
    const uint64_t pc = r->op == TROD_OP_FETCH ? addr : r->pc;
    struct trod_buf line = {0};
    int rc = trod_buf_printf(&line, "%" PRIu64 ",0x%" PRIx64 ",0x%" PRIx64 "\n", r->pid, pc, addr);

    if (rc == 0)
        rc = trod_output_write(m->out, line.p, line.n);
    if (rc < 0 && m->failed == 0)
        m->failed = rc;
    trod_buf_fini(&line);
}

static int at_once(const struct trod_miss_files *f, const char *path)
{
    return trod_error(f->diag, TROD_ERR_USAGE, "cache.same-file", NULL,
                      "'%s' is input and output at once: give the misses another file", path);
}

/* PATH, of cache I, is neither read nor written otherwise. */
static int check(const struct trod_miss_files *f, size_t i, const char *path, const char *result)
{
    const struct trod_dr_config *k = f->sim->config;

    if ((k->config_file && trod_same_file(k->config_file, path)) ||
        (k->v2p_file && trod_same_file(k->v2p_file, path)))
        return at_once(f, path);
    if (result && trod_same_file(result, path))
        return trod_error(f->diag, TROD_ERR_USAGE, "cache.same-file", NULL,
                          "misses and the result both go to '%s': give the misses another file",
                          path);
    for (size_t n = 0; n < i; n++)
        if (f->of[n].path && trod_same_file(f->of[n].path, path))
            return trod_error(f->diag, TROD_ERR_USAGE, "cache.same-file", NULL,
                              "the misses of '%s' and of '%s' both go to '%s': give each cache a "
                              "file of its own",
                              k->spec[n].name, k->spec[i].name, path);
    return 0;
}

int trod_miss_files_begin(struct trod_miss_files *f, struct trod_dr_sim *sim, const char *result,
                          struct trod_diag *diag)
{
    const struct trod_dr_config *k = sim->config;
    int rc = 0;

    *f = (struct trod_miss_files){NULL, sim, diag};
    if (k->tool == TROD_DR_TLB)
        return 0;
    f->of = calloc(k->n_spec ? k->n_spec : 1, sizeof *f->of);
    if (!f->of)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; rc == 0 && i < k->n_spec; i++) {
        const char *path = k->spec[i].miss_file;

        if (!k->config_file && i + 1 == k->n_spec)
            path = k->miss_file; /* of the last level */
        if (!path || !*path)
            continue;
        if ((rc = check(f, i, path, result)) < 0)
            break;
        f->of[i].path = path;
        rc = trod_output_create(&f->of[i].out, path, NULL, diag);
        if (k->tool == TROD_DR_MISS_ANALYZER)
            continue; /* hints come at the end */
        sim->cache[i].missed = write_miss;
        sim->cache[i].user = &f->of[i];
    }
    return rc;
}

int trod_miss_files_apart(const struct trod_miss_files *f, const struct trod_meta *meta)
{
    for (size_t i = 0; f->of && i < f->sim->config->n_spec; i++)
        if (f->of[i].path && trod_is_input(meta, f->of[i].path))
            return at_once(f, f->of[i].path);
    return 0;
}

int trod_miss_files_failed(const struct trod_miss_files *f)
{
    for (size_t i = 0; f->of && i < f->sim->config->n_spec; i++)
        if (f->of[i].failed)
            return f->of[i].failed;
    return 0;
}

static int write_hints(const struct trod_miss_files *f, const struct trod_miss_file *m)
{
    struct trod_buf text = {0};
    int rc = trod_layout_dr_hints(f->sim, &text);

    if (rc == 0)
        rc = trod_output_write(m->out, text.p, text.n);
    trod_buf_fini(&text);
    return rc;
}

int trod_miss_files_end(struct trod_miss_files *f)
{
    int rc = 0;

    for (size_t i = 0; f->of && i < f->sim->config->n_spec; i++) {
        struct trod_output *out = f->of[i].out;
        int end = f->of[i].failed;

        if (!out)
            continue;
        if (f->sim->config->tool == TROD_DR_MISS_ANALYZER)
            end = write_hints(f, &f->of[i]);
        f->of[i].out = NULL;
        if (end < 0)
            trod_output_discard(out);
        else
            end = trod_output_commit(out);
        rc = rc == 0 ? end : rc;
    }
    return rc;
}

void trod_miss_files_fini(struct trod_miss_files *f)
{
    for (size_t i = 0; f->of && i < f->sim->config->n_spec; i++)
        if (f->of[i].out)
            trod_output_discard(f->of[i].out);
    free(f->of);
    f->of = NULL;
}
