/*
 * nav_events.c - random Tarmac traces whose events are known, and the oracle. Implements
 * nav_events.h.
 */
#include "nav_events.h"

#include "testlib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t draw(struct trod_gen *g, uint64_t n)
{
    return gen_u64(g) % n;
}

/* Digits of the value, most significant byte first; masks by byte. */
static void put_value(struct trod_buf *out, const struct event *e, unsigned n)
{
    for (unsigned i = n; i-- > 0;) {
        if (n > 8 && i == 7)
            trod_buf_printf(out, "_");
        if (e->unwritten[i])
            trod_buf_printf(out, "--");
        else if (e->unknown[i])
            trod_buf_printf(out, "xx");
        else
            trod_buf_printf(out, "%02x", e->value[i]);
    }
    trod_buf_printf(out, "\n");
}

static void make_access(struct events *es, struct trod_gen *g, struct event *e, bool wide)
{
    e->size = 1u << draw(g, 4);
    e->addr = 0x8000 + draw(g, wide ? 1 << 20 : 192);
    for (unsigned i = 0; i < e->size; i++) {
        /* values that repeat: reads often agree with what was written */
        e->value[i] = (uint8_t)(draw(g, 8) ? e->addr + i : gen_u64(g));
        e->unknown[i] = draw(g, 24) == 0;
        e->unwritten[i] = !e->unknown[i] && e->kind == EV_WRITE && draw(g, 24) == 0;
    }
    trod_buf_printf(&es->text, "%llu clk cpu%u M%c%u %016llx ", (unsigned long long)e->time, e->cpu,
                    e->kind == EV_READ ? 'R' : 'W', e->size, (unsigned long long)e->addr);
    put_value(&es->text, e, e->size);
}

static void make_register(struct events *es, struct trod_gen *g, struct event *e)
{
    static const char v_names[] = "BHSDQ";
    unsigned form = (unsigned)draw(g, 5);
    const unsigned number = (unsigned)draw(g, e->reg = (unsigned)draw(g, 2) ? EV_X : EV_V);
    char name[16];

    if (e->reg == EV_X) {
        e->reg = number;
        e->width = form ? 8 : 4;
        snprintf(name, sizeof name, "%c%u", form ? 'X' : 'W', number);
    } else {
        e->reg = EV_X + number;
        e->width = 1u << form;
        snprintf(name, sizeof name, "%c%u", v_names[form], number);
    }
    for (unsigned i = 0; i < e->width; i++) {
        e->value[i] = (uint8_t)gen_u64(g);
        e->unknown[i] = draw(g, 32) == 0;
    }
    trod_buf_printf(&es->text, "%llu clk cpu%u R %s ", (unsigned long long)e->time, e->cpu, name);
    put_value(&es->text, e, e->width);
}

void events_make(struct events *es, struct trod_gen *g, size_t n, bool wide)
{
    uint64_t time = 0, number[EV_CPUS] = {0, 0};

    memset(es, 0, sizeof *es);
    es->at = calloc(n, sizeof *es->at);
    if (!es->at)
        test_die("no memory");
    for (es->n = 0; es->n < n; es->n++) {
        struct event *e = &es->at[es->n];

        time += draw(g, 3);
        e->time = time;
        e->cpu = (unsigned)draw(g, EV_CPUS);
        e->kind = es->n < EV_CPUS ? EV_INSTR : (enum ev_kind)draw(g, 4);
        if (es->n < EV_CPUS)
            e->cpu = (unsigned)es->n;
        if (e->kind == EV_INSTR) {
            e->addr = 0x1000 + 4 * draw(g, EV_PCS);
            trod_buf_printf(&es->text, "%llu clk cpu%u IT (%llu) %016llx d503201f O EL1h_n : NOP\n",
                            (unsigned long long)time, e->cpu, (unsigned long long)++number[e->cpu],
                            (unsigned long long)e->addr);
        } else if (e->kind == EV_REG) {
            make_register(es, g, e);
        } else {
            make_access(es, g, e, wide);
        }
    }
}

void events_fini(struct events *es)
{
    free(es->at);
    trod_buf_fini(&es->text);
}

/* Does E say something of the byte at ADDR? Its number in the access to *K. */
static bool says(const struct event *e, uint64_t addr, unsigned *k)
{
    if ((e->kind != EV_READ && e->kind != EV_WRITE) || addr < e->addr || addr >= e->addr + e->size)
        return false;
    *k = (unsigned)(addr - e->addr);
    return !e->unwritten[*k] && !(e->kind == EV_READ && e->unknown[*k]);
}

struct trod_nav_byte events_byte(const struct events *es, uint64_t row, uint64_t addr)
{
    const struct event *write = NULL, *read = NULL, *e;
    struct trod_nav_byte out = {0, TROD_NAV_UNKNOWN, TROD_NOWHERE, TROD_NOWHERE};
    unsigned k, wk = 0, rk = 0;

    for (e = es->at; e <= es->at + row; e++) {
        if (!says(e, addr, &k))
            continue;
        if (e->kind == EV_WRITE) {
            write = e;
            wk = k;
            read = NULL;
        } else {
            read = e;
            rk = k;
        }
    }
    if (read) {
        const bool wrote = write && !write->unknown[wk];

        out.value = read->value[rk];
        out.from = write ? TROD_NAV_WRITTEN : TROD_NAV_READ;
        out.row = (uint64_t)((write ? write : read) - es->at);
        if (wrote && write->value[wk] != read->value[rk]) {
            out.from = TROD_NAV_UNTRACED;
            out.row = (uint64_t)(read - es->at);
            out.since = (uint64_t)(write - es->at);
        }
        return out;
    }
    if (write && !write->unknown[wk])
        return (struct trod_nav_byte){write->value[wk], TROD_NAV_WRITTEN,
                                      (uint64_t)(write - es->at), TROD_NOWHERE};
    for (; e < es->at + es->n; e++) {
        if (!says(e, addr, &k))
            continue;
        if (e->kind == EV_READ)
            return (struct trod_nav_byte){e->value[k], TROD_NAV_LATER, (uint64_t)(e - es->at),
                                          TROD_NOWHERE};
        break;
    }
    if (write)
        out.row = (uint64_t)(write - es->at);
    return out;
}

bool events_register(const struct events *es, uint64_t row, unsigned cpu, unsigned reg,
                     uint8_t value[16], uint8_t known[16], uint64_t *written)
{
    const unsigned size = reg < EV_X ? 8 : 16;

    memset(value, 0, 16);
    memset(known, 0, 16);
    *written = TROD_NOWHERE;
    for (const struct event *e = es->at; e <= es->at + row; e++) {
        if (e->kind != EV_REG || e->cpu != cpu || e->reg != reg)
            continue;
        *written = (uint64_t)(e - es->at);
        for (unsigned i = 0; i < size; i++) {
            known[i] = i < e->width && e->unknown[i] ? 0 : 0xff;
            value[i] = i < e->width && !e->unknown[i] ? e->value[i] : 0;
        }
    }
    return *written != TROD_NOWHERE;
}

static bool matches(const struct event *e, const struct trod_nav_query *q)
{
    char name[16];

    if (q->one_stream && e->cpu != q->stream)
        return false;
    if (q->access & TROD_NAV_VISITS)
        return e->kind == EV_INSTR && e->addr == q->lo;
    if (q->reg) {
        if (e->kind != EV_REG || !(q->access & TROD_NAV_WRITES))
            return false;
        snprintf(name, sizeof name, "%c%u", e->reg < EV_X ? 'x' : 'v',
                 e->reg < EV_X ? e->reg : e->reg - EV_X);
        return strcmp(name, q->reg) == 0;
    }
    if (!(e->kind == EV_READ && (q->access & TROD_NAV_READS)) &&
        !(e->kind == EV_WRITE && (q->access & TROD_NAV_WRITES)))
        return false;
    for (uint64_t at = e->addr; at < e->addr + e->size; at++)
        if (at >= q->lo && at <= q->hi && !e->unwritten[at - e->addr])
            return true;
    return false;
}

uint64_t events_find(const struct events *es, const struct trod_nav_query *query, uint64_t row,
                     bool back)
{
    if (back) {
        for (uint64_t i = row < es->n ? row : es->n; i-- > 0;)
            if (matches(&es->at[i], query))
                return i;
        return TROD_NOWHERE;
    }
    for (uint64_t i = row + 1; i < es->n; i++)
        if (matches(&es->at[i], query))
            return i;
    return TROD_NOWHERE;
}

uint64_t events_visit(const struct events *es, uint64_t pc, uint64_t k)
{
    for (uint64_t i = 0; i < es->n; i++)
        if (es->at[i].kind == EV_INSTR && es->at[i].addr == pc && --k == 0)
            return i;
    return TROD_NOWHERE;
}

uint64_t events_time(const struct events *es, uint64_t time)
{
    for (uint64_t i = 0; i < es->n; i++)
        if (es->at[i].time >= time)
            return i;
    return TROD_NOWHERE;
}
