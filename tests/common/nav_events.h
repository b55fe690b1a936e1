/*
 * nav_events.h - random Tarmac traces whose events are known, and a slow oracle that answers
 * questions from the list of events alone.
 *
 * The oracle implements docs/navigating.md by looking at every event for every question. It shares
 * nothing with the library: it never sees the text that it stands for.
 */
#ifndef NAV_EVENTS_H
#define NAV_EVENTS_H

#include "gen.h"
#include "trod/buf.h"
#include "trod/navigate.h"

enum ev_kind { EV_INSTR, EV_READ, EV_WRITE, EV_REG };

enum { EV_CPUS = 2, EV_X = 8, EV_V = 4, EV_REGS = EV_X + EV_V, EV_PCS = 24 };

struct event {
    enum ev_kind kind;
    unsigned cpu;
    uint64_t time, addr; /* INSTR: pc */
    unsigned size;
    uint8_t value[16], unknown[16], unwritten[16]; /* by byte, least significant first */
    unsigned reg;                                  /* 0 to 7: x, then v */
    unsigned width;                                /* bytes of the name that was written */
};

struct events {
    struct event *at;
    size_t n;
    struct trod_buf text;
};

/* N events. WIDE: over much memory. Released with events_fini. */
void events_make(struct events *e, struct trod_gen *g, size_t n, bool wide);
void events_fini(struct events *e);

struct trod_nav_byte events_byte(const struct events *e, uint64_t row, uint64_t addr);
/* Register REG of CPU after ROW: value, and mask of what is known, 16 bytes. False: nothing is. */
bool events_register(const struct events *e, uint64_t row, unsigned cpu, unsigned reg,
                     uint8_t value[16], uint8_t known[16], uint64_t *written);
/* The next row that QUERY describes, from ROW on in one direction; TROD_NOWHERE: none. */
uint64_t events_find(const struct events *e, const struct trod_nav_query *query, uint64_t row,
                     bool back);
uint64_t events_visit(const struct events *e, uint64_t pc, uint64_t k);
uint64_t events_time(const struct events *e, uint64_t time);

#endif
