/*
 * ctf.h - what the events of the view "ctf" are made of.
 */
#ifndef TROD_EXPORT_CTF_H
#define TROD_EXPORT_CTF_H

#include "trod/buf.h"
#include "trod/export.h"
#include "trod/format.h"

/* Which fields an event has, by the kind of its row. */
enum ctf_layout { CTF_INSN, CTF_ACCESS, CTF_REG, CTF_OTHER };

enum {
    CTF_COLUMNS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_TIME |
                  TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_PC | TROD_COL_TARGET | TROD_COL_VALUE |
                  TROD_COL_SUB | TROD_COL_CODE | TROD_COL_DATA | TROD_COL_TEXT
};

enum ctf_layout ctf_layout_of(unsigned kind);

struct ctf_facts {
    uint8_t uuid[16];
    const char *source;
    uint8_t unit; /* of the trace's times */
    bool timed;   /* false: it has none, events count rows */
};

/* Append the text of the metadata. Returns 0 or TROD_ERR_NOMEM. */
int ctf_metadata(struct trod_buf *out, const struct ctf_facts *facts, const struct trod_meta *meta);

#endif
