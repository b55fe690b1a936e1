/*
 * events.h - entries and ends of calls, as an index keeps them: written while rows are followed,
 * read again in order.
 *
 * Implements docs/index-file.md, "The file", section 10. What events have is kept by columns, which
 * compress better; each segment begins again, so that it can be read by itself.
 */
#ifndef NAVIGATE_EVENTS_H
#define NAVIGATE_EVENTS_H

#include "core/map.h"
#include "trod/buf.h"
#include "trod/callstack.h"
#include "trod/io.h"

enum { NAV_OWN_LANE = 3 }; /* of trod_frame.own (struct trod_callstack_source) */

enum nav_event_what {
    NAV_ENTER,
    NAV_LEAVE,
    NAV_SWITCH,   /* another stack of its stream runs */
    NAV_UNMATCHED /* trod_callstack_counts.unmatched */
};

/* What calls have in common: a place that calls, and what is called from there. */
struct nav_call_key {
    uint64_t pc, site_pc; /* its first instruction; where it was entered from, or TROD_NOWHERE */
    uint8_t kind, sure;   /* enum trod_frame_kind, enum trod_frame_sure */
    bool under;           /* as in struct trod_frame */
};

struct nav_event {
    uint8_t what;  /* enum nav_event_what */
    uint32_t lane; /* stream + 1; 0: of rows that have none */
    uint64_t at;   /* from this row on it is so */
    /* ENTER: its first instruction; LEAVE, UNMATCHED: the one after, as in struct trod_frame_left.
     * No pc. SWITCH: only the row is known. */
    struct trod_moment now;
    struct nav_call_key call; /* ENTER */
    uint64_t site_row;        /* ENTER; TROD_NOWHERE: none */
    uint8_t how, sure;        /* LEAVE: enum trod_frame_end, enum trod_frame_sure */
    uint64_t last_time;       /* LEAVE: of the last instruction before */
    uint32_t context;         /* SWITCH: which stack */
};

enum nav_events_column {
    NAV_E_WHAT,  /* what it is, and which of the others have something of it: a byte each */
    NAV_E_ROW,   /* rows since the event before, less the instructions of the lane */
    NAV_E_INSN,  /* instructions since the event of the lane before */
    NAV_E_TIME,  /* time since then */
    NAV_E_LANE,  /* where it is another one */
    NAV_E_CALL,  /* numbers of call keys */
    NAV_E_KEY,   /* call keys that are new */
    NAV_E_SITE,  /* rows since the place of the call */
    NAV_E_LAST,  /* time since the last instruction of a call */
    NAV_E_OTHER, /* contexts; where a stream ends, rows until it is known */
    NAV_E_COLUMNS
};

/* The state that the next event is encoded against. */
struct nav_events_past {
    uint64_t row;
    uint32_t lane;
    struct nav_events_lane {
        uint64_t insn, time;
    } * base;
    uint32_t n_base;
    struct nav_call_key *key, last; /* keys by number; the one that was new last */
    size_t n_keys, cap_keys;
};

struct nav_events {
    struct nav_events_past past;
    struct trod_map map; /* of keys */
    struct trod_buf column[NAV_E_COLUMNS];
    size_t n;
};

/* E is all zero at first. Returns 0 or TROD_ERR_NOMEM. */
int nav_events_put(struct nav_events *e, const struct nav_event *event);
/* What was put, appended to OUT; E begins again. Returns 0 or TROD_ERR_NOMEM. */
int nav_events_save(struct nav_events *e, struct trod_buf *out);
void nav_events_fini(struct nav_events *e);

struct nav_events_reader {
    struct nav_events_past past;
    struct trod_span column[NAV_E_COLUMNS];
    uint64_t left;
};

/* What nav_events_save wrote, which outlives R. Returns 0 or TROD_ERR_CORRUPT. */
int nav_events_open(struct nav_events_reader *r, struct trod_span in);
/* Returns 1, 0 (there are no more), TROD_ERR_CORRUPT or TROD_ERR_NOMEM. */
int nav_events_next(struct nav_events_reader *r, struct nav_event *out);
void nav_events_close(struct nav_events_reader *r);

#endif
