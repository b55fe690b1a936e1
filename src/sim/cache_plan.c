/*
 * cache_plan.c - what follows from the options before there is a simulation: the configuration, the
 * order of the rows, the columns, how the work may be shared out.
 *
 * Implements trod/cache.h and cache_int.h.
 */
#include "core/sized.h"
#include "sim/cache_int.h"
#include "sim/own/first.h"
#include "sim/refs.h"
#include "sim/sweep.h"
#include "trod/io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CONFIG_MAX = 1 << 24 };

int trod_cache_version(struct trod_diag *diag)
{
    return trod_error(diag, TROD_ERR_USAGE, "cache.options", NULL,
                      "options are of another version");
}

/* The whole of file PATH. */
int trod_cache_file(const char *path, struct trod_buf *out, struct trod_diag *diag)
{
    struct trod_input *in;
    struct trod_span span;
    int rc = trod_input_open(&in, path, &(struct trod_input_options){.no_thread = true}, diag);

    if (rc < 0)
        return rc;
    while ((rc = trod_input_ahead(in, 0, &span)) == 0 && span.n) {
        if (out->n + span.n > CONFIG_MAX) {
            rc = trod_error(diag, TROD_ERR_LIMIT, "cache.config", NULL,
                            "'%s' has more than 16 MiB: it is no configuration", path);
            break;
        }
        if ((rc = trod_buf_add(out, span.p, span.n)) < 0)
            break;
        trod_input_consume(in, span.n);
    }
    trod_input_close(in);
    return rc;
}

/* The whole of the configuration at PATH, which is read again for each part of the simulation. */
static int read_configuration(const char *path, struct trod_buf *out, struct trod_diag *diag)
{
    struct stat st;

    if (strcmp(path, "-") == 0 ||
        (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return trod_error(diag, TROD_ERR_USAGE, "cache.config", NULL,
                          "'%s' is no file, but a pipe or a device: a configuration is read more "
                          "than once, so write it to a file",
                          path);
    return trod_cache_file(path, out, diag);
}

/* Options WITH, and the configuration file that they name. */
int trod_cache_configure_dr(struct trod_dr_config *k, const char *with, struct trod_diag *diag)
{
    struct trod_buf text = {0};
    int rc;

    trod_dr_config_init(k);
    rc = trod_dr_config_options(k, with ? with : "", diag);
    if (rc == 0 && k->config_file)
        rc = read_configuration(k->config_file, &text, diag);
    if (rc == 0 && k->config_file)
        rc = trod_dr_config_read(k, (const char *)text.p, text.n, k->config_file, diag);
    trod_buf_fini(&text);
    return rc;
}

int trod_cache_configure(struct trod_own_config *c, const struct trod_cache_options *o,
                         struct trod_diag *diag)
{
    const char *name = o->config ? o->config : o->preset ? o->preset : "default";
    struct trod_buf text = {0};
    int rc;

    if (o->config) {
        rc = read_configuration(o->config, &text, diag);
    } else {
        const char *preset = trod_own_preset(name);

        rc = preset ? trod_buf_add(&text, preset, strlen(preset))
                    : trod_error(diag, TROD_ERR_USAGE, "cache.preset", NULL,
                                 "no preset is called '%s'", name);
    }
    if (rc == 0)
        rc = trod_own_config_read(c, (const char *)text.p, text.n, name, diag);
    trod_buf_fini(&text);
    return rc;
}

/* Do options O ask for nothing but the counts of the plain hierarchy C? */
bool trod_cache_plain(const struct trod_cache_options *o, const struct trod_own_config *c)
{
    return !o->skip && !o->window_every && !o->warm_full && !o->memory && !o->classify &&
           !o->physical && !o->by && !o->sharing && !o->interval && trod_first_fits(c);
}

int trod_cache_order(const struct trod_cache_options *options, enum trod_order *order,
                     uint32_t *cores, struct trod_diag *diag)
{
    struct trod_cache_options given;
    const struct trod_cache_options *o = &given;
    struct trod_own_config own;
    struct trod_dr_config k;
    int rc = 0;

    *cores = 0;
    *order = TROD_ORDER_FILE;
    if (!trod_sized(&given, sizeof given, sizeof given, options))
        return trod_cache_version(diag);
    if (o->like == TROD_CACHE_OWN && !o->sweep) {
        rc = trod_cache_configure(&own, o, diag);
        if (rc == 0 && own.cores > 1)
            *order = TROD_ORDER_TIME;
    } else if (o->like == TROD_CACHE_DRCACHESIM) {
        rc = trod_cache_configure_dr(&k, o->with, diag);
        *order = k.by_thread || k.cpu_scheduling ? TROD_ORDER_TIME : TROD_ORDER_DYNAMIC;
        *cores = k.schedule_cores;
        trod_dr_config_fini(&k);
    }
    return rc;
}

bool trod_cache_records(const struct trod_cache_options *options)
{
    struct trod_cache_options given;
    struct trod_own_config own;

    if (!trod_sized(&given, sizeof given, sizeof given, options) || given.like != TROD_CACHE_OWN ||
        given.warm || given.warm_rows)
        return false;
    if (given.sweep)
        return trod_sweep_records(given.sweep);
    return trod_cache_configure(&own, &given, NULL) == 0 && trod_cache_plain(&given, &own);
}

unsigned trod_cache_shards(const struct trod_cache_options *options, unsigned jobs)
{
    struct trod_cache_options given;
    struct trod_own_config own;
    unsigned shift, bits;

    if (!trod_sized(&given, sizeof given, sizeof given, options) || given.like != TROD_CACHE_OWN)
        return 1;
    /* all parts find the references: of a small sweep that is more work than the simulation */
    if (given.sweep && trod_sweep_small(given.sweep))
        jobs = jobs > 3 ? jobs - 1 : 1;
    if (given.sweep)
        return trod_sweep_shards(given.sweep, jobs);
    if (given.warm_full || given.classify || given.physical || given.by >= TROD_CACHE_BY_DATA ||
        given.memory || trod_cache_configure(&own, &given, NULL) < 0)
        return 1;
    bits = trod_own_sim_classes(&own, &shift);
    /* one thread decodes; skipping references of other shards costs more where fewer are plain */
    jobs = jobs > (trod_cache_plain(&given, &own) ? 1 : 3) ? jobs - 1 : 1;
    return jobs < 1u << bits ? jobs : 1u << bits;
}

/*
 * More parts than threads: none waits long for another one to end the last of them. MERGING: so
 * many threads merge what one of them reads: with fewer, one can do it beside reading.
 */
enum { TAKERS = 2, MERGING = 4 };

/* The same of a hierarchy C: a power of two, by which its parts sort what they keep. */
static unsigned takers_of(const struct trod_own_config *c, unsigned jobs)
{
    unsigned shift, n = 1;
    const unsigned bits = trod_own_sim_classes(c, &shift);

    while (jobs >= MERGING && n < TROD_FIRST_SHARDS && n < 1u << bits && 2 * n <= TAKERS * jobs)
        n *= 2;
    return n;
}

unsigned trod_cache_takers(const struct trod_cache_options *options, unsigned jobs)
{
    struct trod_cache_options given;
    struct trod_own_config own;

    if (!trod_sized(&given, sizeof given, sizeof given, options) || given.like != TROD_CACHE_OWN)
        return 1;
    if (given.sweep)
        return trod_sweep_parts(given.sweep) ? 0 : trod_sweep_shards(given.sweep, TAKERS * jobs);
    return trod_cache_configure(&own, &given, NULL) < 0 ? 1 : takers_of(&own, jobs);
}

uint32_t trod_cache_uses(const char *format, const struct trod_cache_options *options)
{
    struct trod_cache_options given;
    struct trod_own_config own;

    if (!trod_sized(&given, sizeof given, sizeof given, options) || given.like != TROD_CACHE_OWN ||
        given.by >= TROD_CACHE_BY_DATA)
        return TROD_REFS_COLUMNS | (given.by >= TROD_CACHE_BY_DATA ? TROD_WHOSE_COLUMNS : 0);
    return given.sweep ||
                   (trod_cache_configure(&own, &given, NULL) == 0 && trod_cache_plain(&given, &own))
               ? TROD_TOUCHED_COLUMNS | trod_ref_physical(format)
               : TROD_REFS_COLUMNS;
}

int trod_cache_future_new(struct trod_cache_future **out, const struct trod_cache_options *options,
                          struct trod_diag *diag)
{
    struct trod_cache_options given;
    struct trod_own_config own;
    struct trod_cache_future *f;
    int rc;

    *out = NULL;
    if (!trod_sized(&given, sizeof given, sizeof given, options))
        return trod_cache_version(diag);
    if (given.like != TROD_CACHE_OWN || given.sweep)
        return 0;
    rc = trod_cache_configure(&own, &given, diag);
    if (rc < 0 || !trod_own_config_looks_ahead(&own))
        return rc;
    if (!(f = calloc(1, sizeof *f)))
        return TROD_ERR_NOMEM;
    rc = trod_own_future_init(&f->of, trod_own_sim_ahead(&own), diag);
    if (rc < 0)
        trod_cache_future_free(f);
    else
        *out = f;
    return rc;
}

int trod_cache_future_turn(struct trod_cache_future *f, struct trod_diag *diag)
{
    return trod_own_future_turn(&f->of, diag);
}

void trod_cache_future_free(struct trod_cache_future *f)
{
    if (f)
        trod_own_future_fini(&f->of);
    free(f);
}
