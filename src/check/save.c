/*
 * save.c - the state of the analysis "check" as bytes and back, for other processes.
 *
 * What is saved are counts and findings: files are whole where states are handed on. "TRODchk" and
 * a version byte; findings to keep; rules by name with their counts; findings; what schedule files
 * should say: wanted, unknown, narrow and windows as bits, entries. Numbers are written
 * seven bits a byte, lowest first. Rules that this build does not know make a state unreadable, not
 * wrong.
 */
#include "check/check_int.h"

#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

static const char magic[8] = "TRODchk\2";

static int save_text(struct trod_buf *out, const char *s)
{
    int rc = trod_pack(out, strlen(s));

    return rc < 0 ? rc : trod_buf_add(out, s, strlen(s));
}

static int save_finding(struct trod_buf *out, const struct trod_finding *f)
{
    const uint64_t numbers[] = {f->ordinal, f->offset, f->line, f->file};
    int rc = save_text(out, f->rule->id);

    for (size_t i = 0; rc == TROD_OK && i < sizeof numbers / sizeof *numbers; i++)
        rc = trod_pack(out, numbers[i]);
    if (rc == TROD_OK)
        rc = save_text(out, f->stream);
    if (rc == TROD_OK)
        rc = save_text(out, f->message);
    return rc < 0 ? rc : save_text(out, f->text);
}

static int save_schedule(struct trod_buf *out, const struct chk_schedule *s)
{
    int rc = trod_pack(out, (s->wanted ? 1 : 0) | (s->unknown ? 2 : 0) | (s->narrow ? 4 : 0) |
                                (s->windows ? 8 : 0));

    if (rc == TROD_OK)
        rc = trod_pack(out, s->n);
    for (size_t i = 0; rc == TROD_OK && i < s->n; i++) {
        const struct trod_schedule_entry *e = &s->entry[i];
        const uint64_t numbers[] = {e->thread, e->time, e->cpu, e->start};

        for (size_t k = 0; rc == TROD_OK && k < 4; k++)
            rc = trod_pack(out, numbers[k]);
    }
    return rc;
}

static int load_schedule(struct trod_span *in, struct chk_schedule *s)
{
    uint64_t bits, n;

    if (trod_unpack(in, &bits) < 0 || bits > 15 || trod_unpack(in, &n) < 0 || n > in->n)
        return TROD_ERR_CORRUPT;
    s->wanted = bits & 1;
    s->unknown = bits & 2;
    s->narrow = bits & 4;
    s->windows = bits & 8;
    for (; n; n--) {
        struct trod_schedule_entry e;

        if (trod_unpack(in, &e.thread) < 0 || trod_unpack(in, &e.time) < 0 ||
            trod_unpack(in, &e.cpu) < 0 || trod_unpack(in, &e.start) < 0)
            return TROD_ERR_CORRUPT;
        chk_schedule_add(s, &e);
    }
    return s->nomem ? TROD_ERR_NOMEM : TROD_OK;
}

int chk_save(const void *st, struct trod_buf *out)
{
    const struct chk *c = st;
    uint64_t n = 0;
    int rc = trod_buf_add(out, magic, sizeof magic);

    for (size_t i = 0; i < CHK_RULES; i++)
        n += c->count[i] != 0;
    if (rc == TROD_OK)
        rc = trod_pack(out, c->keep);
    if (rc == TROD_OK)
        rc = trod_pack(out, n);
    for (size_t i = 0; rc == TROD_OK && i < CHK_RULES; i++) {
        if (c->count[i] == 0)
            continue;
        rc = save_text(out, trod_rule_at(i)->id);
        if (rc == TROD_OK)
            rc = trod_pack(out, c->count[i]);
    }
    if (rc == TROD_OK)
        rc = trod_pack(out, c->n_found);
    for (size_t i = 0; rc == TROD_OK && i < c->n_found; i++)
        rc = save_finding(out, &c->found[i]);
    return rc < 0 ? rc : save_schedule(out, &c->schedule);
}

/* A text of at most CAP - 1 bytes, none of them 0. */
static int load_text(struct trod_span *in, char *out, size_t cap)
{
    uint64_t n;

    if (trod_unpack(in, &n) < 0 || n > in->n || n >= cap || memchr(in->p, 0, (size_t)n))
        return TROD_ERR_CORRUPT;
    memcpy(out, in->p, (size_t)n);
    out[n] = '\0';
    in->p += n;
    in->n -= (size_t)n;
    return TROD_OK;
}

static int load_rule(struct trod_span *in, size_t *rule)
{
    char id[64];

    if (load_text(in, id, sizeof id) < 0)
        return TROD_ERR_CORRUPT;
    for (*rule = 0; *rule < CHK_RULES; ++*rule)
        if (strcmp(trod_rule_at(*rule)->id, id) == 0)
            return TROD_OK;
    return TROD_ERR_CORRUPT;
}

static int load_finding(struct chk *c, struct trod_span *in)
{
    uint64_t numbers[4], count;
    struct trod_finding *f;
    size_t rule;

    if (load_rule(in, &rule) < 0 || c->kept[rule] >= c->count[rule] || c->kept[rule] >= c->keep)
        return TROD_ERR_CORRUPT;
    count = c->count[rule];
    f = chk_finding(c, rule);
    c->count[rule] = count;
    if (!f)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < 4; i++)
        if (trod_unpack(in, &numbers[i]) < 0)
            return TROD_ERR_CORRUPT;
    if (numbers[3] > UINT32_MAX)
        return TROD_ERR_CORRUPT;
    f->ordinal = numbers[0];
    f->offset = numbers[1];
    f->line = numbers[2];
    f->file = (uint32_t)numbers[3];
    if (load_text(in, f->stream, sizeof f->stream) < 0 ||
        load_text(in, f->message, sizeof f->message) < 0)
        return TROD_ERR_CORRUPT;
    return load_text(in, f->text, sizeof f->text);
}

int chk_load(void *st, struct trod_span in, const uint32_t *sites)
{
    struct chk *c = st;
    uint64_t n, at_least = 0;
    int rc = TROD_OK;

    (void)sites;
    if (in.n < sizeof magic || memcmp(in.p, magic, sizeof magic) != 0)
        return TROD_ERR_CORRUPT;
    in.p += sizeof magic;
    in.n -= sizeof magic;
    memset(c->on, 1, sizeof c->on);
    if (trod_unpack(&in, &c->keep) < 0 || c->keep == 0 || trod_unpack(&in, &n) < 0)
        return TROD_ERR_CORRUPT;
    for (; n; n--) {
        size_t rule;

        /* in their order, each once: what is saved again is the same */
        if (load_rule(&in, &rule) < 0 || rule < at_least || trod_unpack(&in, &c->count[rule]) < 0 ||
            c->count[rule] == 0)
            return TROD_ERR_CORRUPT;
        at_least = rule + 1;
    }
    if (trod_unpack(&in, &n) < 0)
        return TROD_ERR_CORRUPT;
    for (; n && rc == TROD_OK; n--)
        rc = load_finding(c, &in);
    if (rc == TROD_OK)
        rc = load_schedule(&in, &c->schedule);
    return rc == TROD_OK && in.n ? TROD_ERR_CORRUPT : rc;
}
