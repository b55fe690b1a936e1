/*
 * sim.c - references to the caches of a run of Dinero IV.
 *
 * Implements din/sim.h.
 */
#include "sim/din/sim.h"

#include "sim/layout.h"

#include <string.h>

enum { WORD = 4 };

int trod_din_sim_init(struct trod_din_sim *s, const char *text, struct trod_diag *diag)
{
    int rc = trod_din_config_options(&s->config, text, diag);

    trod_gnu_random_init(&s->random);
    s->skip = s->config.skip;
    s->to_flush = s->config.flush;
    s->to_tell = s->config.interval;
    for (unsigned l = 0; rc == 0 && l < s->config.levels; l++)
        for (unsigned k = 0; rc == 0 && k < TROD_DIN_SIDES; k++) {
            if (s->config.spec[l][k].size == 0)
                continue;
            rc = trod_din_cache_init(&s->cache[l][k], &s->config.spec[l][k], &s->random);
            s->cache[l][k].code = k == TROD_DIN_CODE;
            if (s->config.narrow)
                s->cache[l][k].addresses = UINT32_MAX;
        }
    for (unsigned l = 0; rc == 0 && l + 1 < s->config.levels; l++)
        for (unsigned k = 0; k < TROD_DIN_SIDES; k++)
            s->cache[l][k].below = s->config.spec[l + 1][TROD_DIN_UNIFIED].size
                                       ? &s->cache[l + 1][TROD_DIN_UNIFIED]
                                       : &s->cache[l + 1][k];
    return rc;
}

void trod_din_sim_fini(struct trod_din_sim *s)
{
    trod_buf_fini(&s->printed);
    for (unsigned l = 0; l < TROD_DIN_LEVELS; l++)
        for (unsigned k = 0; k < TROD_DIN_SIDES; k++)
            trod_din_cache_fini(&s->cache[l][k]);
}

static struct trod_din_cache *first_level(struct trod_din_sim *s, bool code)
{
    if (s->config.spec[0][TROD_DIN_UNIFIED].size)
        return &s->cache[0][TROD_DIN_UNIFIED];
    return &s->cache[0][code ? TROD_DIN_CODE : TROD_DIN_DATA];
}

static void flush(struct trod_din_sim *s)
{
    struct trod_din_cache *code = first_level(s, true), *data = first_level(s, false);

    trod_din_cache_copy_back(data); /* code is never dirty */
    trod_din_cache_invalidate(code);
    if (code != data)
        trod_din_cache_invalidate(data);
}

/* What R, cut and narrowed to D, does. */
static void act(struct trod_din_sim *s, unsigned op, struct trod_din_ref *d)
{
    struct trod_din_cache *code = first_level(s, true), *data = first_level(s, false);
    const bool all = (uint16_t)d->size == 0;

    switch (op) {
    case TROD_OP_COPY_BACK:
        if (all)
            trod_din_cache_copy_back(data);
        else
            trod_din_cache_copy_block(data, d->addr);
        return;
    case TROD_OP_INVALIDATE:
        for (unsigned i = 0; i < 2; i++)
            if (all)
                trod_din_cache_invalidate(i ? data : code);
            else
                trod_din_cache_drop_block(i ? data : code, d->addr);
        return;
    default:
        d->type = op == TROD_OP_FETCH  ? TROD_DIN_INSTR
                  : op == TROD_OP_READ ? TROD_DIN_READ
                  : op == TROD_OP_MISC ? TROD_DIN_MISC
                                       : TROD_DIN_WRITE;
        trod_din_cache_ref(op == TROD_OP_FETCH ? code : data, d);
    }
}

static int one(struct trod_din_sim *s, const struct trod_sim_ref *r)
{
    struct trod_din_ref d = {.addr = r->addr, .size = r->size};
    int rc = 0;

    if (s->skip) {
        s->skip--;
        return 0;
    }
    if (s->config.most && s->taken >= s->config.most) {
        s->exceeded = s->over = true;
        return 0;
    }
    if (s->config.format == 'd') {
        d.addr &= ~(uint64_t)(WORD - 1);
        d.size = WORD;
    }
    if (s->config.narrow)
        d.addr = (uint32_t)d.addr;
    act(s, r->op, &d);
    s->taken++;
    if (s->config.interval && --s->to_tell == 0) {
        s->to_tell = s->config.interval;
        rc = trod_layout_din_stats(s, &s->printed);
    }
    if (s->config.flush && --s->to_flush == 0) {
        flush(s);
        s->to_flush = s->config.flush;
    }
    return rc;
}

/* Is R one of Dinero's references? */
static bool is_ref(const struct trod_sim_ref *r)
{
    return r->op == TROD_OP_COPY_BACK || r->op == TROD_OP_INVALIDATE ||
           (r->size && (r->op <= TROD_OP_WRITE || r->op == TROD_OP_MISC));
}

int trod_din_sim_feed(struct trod_din_sim *s, const struct trod_sim_ref *r, size_t n)
{
    bool failed = false;

    for (size_t i = 0; !s->over && i < n; i++)
        failed = (is_ref(&r[i]) && one(s, &r[i]) < 0) || failed;
    for (unsigned l = 0; l < s->config.levels; l++)
        for (unsigned k = 0; k < TROD_DIN_SIDES; k++)
            failed = failed || s->cache[l][k].failed;
    return failed ? TROD_ERR_NOMEM : 0;
}

void trod_din_sim_end(struct trod_din_sim *s)
{
    if (!s->ended)
        trod_din_cache_copy_back(first_level(s, false));
    s->ended = true;
}
