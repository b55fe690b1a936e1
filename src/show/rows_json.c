/*
 * rows_json.c - rows as JSON, an object a line, and as CSV.
 *
 * 64-bit addresses and values are strings "0x..": they do not survive as JSON numbers.
 */
#include <string.h>

#include "show/rows.h"

static char *word(char *p, const char *s)
{
    size_t n = strlen(s);

    memcpy(p, s, n);
    return p + n;
}

/* ,"NAME": */
static char *key(char *p, const char *name)
{
    p = word(p, ", \"");
    p = word(p, name);
    return word(p, "\": ");
}

static char *json_number(char *p, const char *name, uint64_t v)
{
    return trod_put_u64(key(p, name), v);
}

static char *json_hex(char *p, const char *name, uint64_t v)
{
    p = trod_put_hex(word(key(p, name), "\"0x"), v, 1);
    *p++ = '"';
    return p;
}

static char *json_text(char *p, const char *name, const char *s, size_t n, bool cut)
{
    p = key(p, name);
    *p++ = '"';
    p = trod_put_json(p, s, n);
    if (cut)
        p = word(p, "...");
    *p++ = '"';
    return p;
}

static char *json_word(char *p, const char *name, const char *s)
{
    return json_text(p, name, s, strlen(s), false);
}

static char *json_flags(const struct trod_batch *b, uint32_t i, char *p)
{
    const char *names[SHOW_FLAGS];
    uint32_t f = b->flags[i];
    size_t n = show_flag_names(b, i, names);
    const char *iset = show_iset_name((f & TROD_F_ISET) >> TROD_F_ISET_SHIFT);
    const char *sec = show_sec_name((f & TROD_F_SEC) >> TROD_F_SEC_SHIFT);
    const char *branch = trod_branch_name(f & TROD_F_BRANCH);

    if ((f & TROD_F_BRANCH) && branch)
        p = json_word(p, "branch", branch);
    if (iset)
        p = json_word(p, "iset", iset);
    if (sec)
        p = json_word(p, "security", sec);
    if (n == 0)
        return p;
    p = key(p, "flags");
    for (size_t k = 0; k < n; k++) {
        p = word(p, k ? ", \"" : "[\"");
        p = word(word(p, names[k]), "\"");
    }
    *p++ = ']';
    return p;
}

/* Opcode, value and what the text columns hold. */
static char *json_contents(struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p)
{
    struct show_text text = show_text_of(r, b, i);
    char *before, *start;

    if (show_has(b, i, TROD_COL_CODE) && b->code[i].len) {
        p = word(key(p, "opcode"), "\"");
        p = word(show_put_opcode(r, b, i, p), "\"");
    }
    before = p;
    start = p = word(key(p, "value"), "\"");
    p = show_put_value(b, i, p);
    p = p == start ? before : word(p, "\"");
    if (r->symbols) {
        before = p;
        start = p = word(key(p, "symbol"), "\"");
        p = show_put_symbol(r, b, i, p);
        p = p == start ? before : word(p, "\"");
    }
    if (text.n)
        p = json_text(p, "text", text.p, text.n, text.cut);
    return p;
}

static char *json_notes(const struct trod_batch *b, uint32_t i, char *p)
{
    struct show_note notes[SHOW_NOTES];
    size_t n = show_notes_of(b, i, notes);

    if (n == 0)
        return p;
    p = word(key(p, "details"), "{");
    for (size_t k = 0; k < n; k++) {
        char *start = p;

        if (notes[k].type == SHOW_NOTE_TEXT)
            p = json_text(p, notes[k].name, notes[k].text.p, notes[k].text.n, notes[k].text.cut);
        else if (notes[k].type == SHOW_NOTE_NUMBER)
            p = json_number(p, notes[k].name, notes[k].number);
        else if (notes[k].type == SHOW_NOTE_SIGNED)
            p = show_put_signed(key(p, notes[k].name), notes[k].number);
        else if (notes[k].type == SHOW_NOTE_HEX || notes[k].type == SHOW_NOTE_BYTE)
            p = json_hex(p, notes[k].name, notes[k].number);
        else
            p = word(key(p, notes[k].name), "true");
        if (k == 0) {
            memmove(start, start + 2, (size_t)(p - start) - 2); /* no comma before the first */
            p -= 2;
        }
    }
    *p++ = '}';
    return p;
}

/* Thread and process of stream N, where they are known. */
static char *json_owner(const struct trod_meta *m, uint32_t n, char *p)
{
    if (n >= m->n_streams)
        return p;
    if (m->streams[n].tid != TROD_NOWHERE)
        p = json_number(p, "tid", m->streams[n].tid);
    if (m->streams[n].pid != TROD_NOWHERE)
        p = json_number(p, "pid", m->streams[n].pid);
    return p;
}

char *trod_show_json(struct trod_show *r, const struct trod_batch *b, uint32_t i, uint64_t record,
                     char *p)
{
    show_turn(r, b, i);
    p = trod_put_u64(word(p, "{\"record\": "), record);
    p = json_word(p, "kind", trod_kind_name(b->kind[i]));
    if (show_has(b, i, TROD_COL_TIME)) {
        const char *unit = show_unit(b, i, r->meta);

        p = show_put_time(r, b, i, key(p, "time"));
        if (*unit)
            p = json_word(p, "unit", unit);
    }
    if (show_has(b, i, TROD_COL_STREAM)) {
        char name[SHOW_NAME_MAX];

        p = json_text(p, show_stream_word(r->meta), name,
                      (size_t)(show_put_stream(b, i, r->meta, name) - name), false);
        p = json_owner(r->meta, b->stream[i], p);
    }
    if (show_has(b, i, TROD_COL_ADDR))
        p = json_hex(p, "address", b->addr[i]);
    if (show_has(b, i, TROD_COL_PADDR))
        p = json_hex(p, "physical", b->paddr[i]);
    if (show_has(b, i, TROD_COL_SIZE))
        p = json_number(p, "size", b->size[i]);
    p = json_contents(r, b, i, p);
    if (show_has(b, i, TROD_COL_PC))
        p = json_hex(p, "pc", b->pc[i]);
    if (show_has(b, i, TROD_COL_TARGET))
        p = json_hex(p, "target", b->target[i]);
    if (show_has(b, i, TROD_COL_INDEX))
        p = json_number(p, "index", b->index[i]);
    if (show_has(b, i, TROD_COL_SUB)) {
        const char *name = show_sub_name(b->kind[i], b->sub[i]);

        p = name ? json_word(p, "sub", name) : json_number(p, "sub", b->sub[i]);
    }
    if (show_has(b, i, TROD_COL_FLAGS))
        p = json_flags(b, i, p);
    return word(json_notes(b, i, p), "}\n");
}

char *trod_show_csv_header(const struct trod_show *r, char *p)
{
    p = word(word(p, "record,kind,time,unit,"), show_stream_word(r->meta));
    p = word(p, ",address,physical,size,opcode,value,text,pc,target,index,sub,branch,iset,security,"
                "flags,details,tid,pid");
    return word(p, r->symbols ? ",symbol\n" : "\n");
}

static char *csv_hex(const struct trod_batch *b, uint32_t i, uint32_t column, const uint64_t *v,
                     char *p)
{
    if (show_has(b, i, column))
        p = trod_put_hex(word(p, "0x"), v[i], 1);
    *p++ = ',';
    return p;
}

static char *csv_text(char *p, struct show_text t)
{
    p = trod_put_csv(p, t.p, t.n);
    *p++ = ',';
    return p;
}

static char *csv_word(char *p, const char *s)
{
    if (s)
        p = word(p, s);
    *p++ = ',';
    return p;
}

static char *csv_flags(const struct trod_batch *b, uint32_t i, char *p)
{
    const char *names[SHOW_FLAGS];
    uint32_t f = show_has(b, i, TROD_COL_FLAGS) ? b->flags[i] : 0;
    size_t n = f ? show_flag_names(b, i, names) : 0;

    p = csv_word(p, f & TROD_F_BRANCH ? trod_branch_name(f & TROD_F_BRANCH) : NULL);
    p = csv_word(p, show_iset_name((f & TROD_F_ISET) >> TROD_F_ISET_SHIFT));
    p = csv_word(p, show_sec_name((f & TROD_F_SEC) >> TROD_F_SEC_SHIFT));
    for (size_t k = 0; k < n; k++) {
        if (k > 0)
            *p++ = ' ';
        p = word(p, names[k]);
    }
    return p;
}

/* The details as one field, "name=value name=value". */
static char *csv_notes(const struct trod_batch *b, uint32_t i, char *p)
{
    struct show_note notes[SHOW_NOTES];
    char all[SHOW_NOTES * SHOW_NOTE_MAX];
    size_t n = show_notes_of(b, i, notes);
    char *end = all;

    *p++ = ',';
    for (size_t k = 0; k < n; k++) {
        if (k > 0)
            *end++ = ' ';
        end = show_put_note(&notes[k], end);
    }
    return trod_put_csv(p, all, (size_t)(end - all));
}

/* What stands before the address. */
static char *csv_front(const struct trod_show *r, const struct trod_batch *b, uint32_t i,
                       uint64_t record, char *p)
{
    p = csv_word(trod_put_u64(p, record), NULL);
    p = csv_word(p, trod_kind_name(b->kind[i]));
    if (show_has(b, i, TROD_COL_TIME))
        p = show_put_time(r, b, i, p);
    *p++ = ',';
    if (show_has(b, i, TROD_COL_TIME)) {
        const char *unit = show_unit(b, i, r->meta); /* any word of the trace */

        p = trod_put_csv(p, unit, unit ? strlen(unit) : 0);
    }
    *p++ = ',';
    if (show_has(b, i, TROD_COL_STREAM)) {
        char name[SHOW_NAME_MAX];

        p = trod_put_csv(p, name, (size_t)(show_put_stream(b, i, r->meta, name) - name));
    }
    *p++ = ',';
    return p;
}

/* Thread and process of row I, where they are known: two fields. */
static char *csv_owner(const struct trod_meta *m, const struct trod_batch *b, uint32_t i, char *p)
{
    const struct trod_stream *s = show_has(b, i, TROD_COL_STREAM) && b->stream[i] < m->n_streams
                                      ? &m->streams[b->stream[i]]
                                      : NULL;

    *p++ = ',';
    if (s && s->tid != TROD_NOWHERE)
        p = trod_put_u64(p, s->tid);
    *p++ = ',';
    return s && s->pid != TROD_NOWHERE ? trod_put_u64(p, s->pid) : p;
}

char *trod_show_csv(struct trod_show *r, const struct trod_batch *b, uint32_t i, uint64_t record,
                    char *p)
{
    show_turn(r, b, i);
    p = csv_front(r, b, i, record, p);
    p = csv_hex(b, i, TROD_COL_ADDR, b->addr, p);
    p = csv_hex(b, i, TROD_COL_PADDR, b->paddr, p);
    if (show_has(b, i, TROD_COL_SIZE))
        p = trod_put_u64(p, b->size[i]);
    *p++ = ',';
    if (show_has(b, i, TROD_COL_CODE) && b->code[i].len)
        p = show_put_opcode(r, b, i, p);
    *p++ = ',';
    p = csv_word(show_put_value(b, i, p), NULL);
    p = csv_text(p, show_text_of(r, b, i));
    p = csv_hex(b, i, TROD_COL_PC, b->pc, p);
    p = csv_hex(b, i, TROD_COL_TARGET, b->target, p);
    if (show_has(b, i, TROD_COL_INDEX))
        p = trod_put_u64(p, b->index[i]);
    *p++ = ',';
    if (show_has(b, i, TROD_COL_SUB)) {
        const char *name = show_sub_name(b->kind[i], b->sub[i]);

        p = name ? word(p, name) : trod_put_u64(p, b->sub[i]);
    }
    *p++ = ',';
    p = csv_flags(b, i, p);
    p = csv_notes(b, i, p);
    p = csv_owner(r->meta, b, i, p);
    if (r->symbols) {
        *p++ = ',';
        p = show_put_symbol(r, b, i, p);
    }
    *p++ = '\n';
    return p;
}
