/*
 * state.c - registers and memory at the cursor, and what changed there.
 *
 * Implements "the state at the cursor" of model.h. A value changed if it is not what it was at the
 * place where the cursor was before.
 */
#include "browse/model.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool browse_state_there(const struct browse *b)
{
    return b->state && trod_nav_state_row(b->state) == b->cursor;
}

int browse_state(struct browse *b)
{
    struct trod_nav_state *s;
    int rc;

    if (browse_state_there(b) || b->rows == 0)
        return 0;
    rc = trod_nav_state(b->nav, b->cursor, TROD_NAV_ROW_STREAM, &s);
    if (rc < 0)
        return rc;
    trod_nav_state_free(b->before);
    b->before = b->state;
    b->state = s;
    return 0;
}

/* ---- registers */

void browse_digits(char *out, size_t size, const uint8_t *value, const uint8_t *known, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    size_t most = 2 * n, at = 0;

    if (most >= size) { /* that there is more is said */
        at = (size_t)snprintf(out, size, "%zu bytes: ..", n);
        most = at < size ? size - 1 - at : 0;
    }
    for (size_t i = most; i-- > 0;) {
        const unsigned shift = i % 2 * 4;

        out[at++] = (known[i / 2] >> shift & 15) == 15 ? hex[value[i / 2] >> shift & 15] : '-';
    }
    out[at] = '\0';
}

static bool equal(const struct trod_nav_register *a, const struct trod_nav_register *b)
{
    return a->size == b->size && memcmp(a->value, b->value, a->size) == 0 &&
           memcmp(a->known, b->known, a->size) == 0;
}

/* Is R what it was before? That of another stream says nothing. */
static bool changed(const struct browse *b, size_t at, const struct trod_nav_register *r)
{
    struct trod_nav_register old;

    if (!b->before || trod_nav_state_stream(b->before) != trod_nav_state_stream(b->state))
        return false;
    if (trod_nav_state_register(b->before, at, &old) && strcmp(old.name, r->name) == 0)
        return !equal(&old, r);
    for (size_t i = 0; trod_nav_state_register(b->before, i, &old); i++)
        if (strcmp(old.name, r->name) == 0)
            return !equal(&old, r);
    return true;
}

bool browse_register(struct browse *b, size_t i, struct browse_register *out)
{
    struct trod_nav_register r;

    memset(out, 0, sizeof *out);
    for (size_t at = 0; b->state && trod_nav_state_register(b->state, at, &r); at++) {
        if (r.size == 0 || i-- > 0)
            continue;
        snprintf(out->name, sizeof out->name, "%s", r.name);
        browse_digits(out->value, sizeof out->value, r.value, r.known, r.size);
        if (!trod_nav_flags(trod_nav_meta(b->nav), &r, out->flags, sizeof out->flags))
            out->flags[0] = '\0';
        out->changed = changed(b, at, &r);
        out->row = r.row;
        return true;
    }
    return false;
}

/* ---- memory */

/* The value of register NAME, if all of its low 64 bits are known. */
static bool register_value(const struct browse *b, const char *name, uint64_t *out)
{
    uint8_t value[512], known[512];
    size_t n;

    if (!b->state || !trod_nav_state_named(b->state, name, value, known, sizeof value, &n) || !n)
        return false;
    *out = 0;
    for (size_t i = 0; i < n && i < 8; i++) {
        if (known[i] != 0xff)
            return false;
        *out |= (uint64_t)value[i] << (8 * i);
    }
    return true;
}

/* A number, a symbol or a register. */
static bool term(struct browse *b, const char *text, uint64_t *out)
{
    uint64_t size;

    if (trod_option_number(text, out) == 0 || register_value(b, text, out))
        return true;
    if (strcmp(text, "pc") == 0)
        return browse_pc(b, out);
    return b->opt.symbols && trod_symbols_address(b->opt.symbols, text, out, &size);
}

bool browse_address(struct browse *b, const char *text, uint64_t *addr)
{
    const size_t n = strlen(text);
    char left[256];
    uint64_t offset;

    if (n >= sizeof left)
        return false;
    if (term(b, text, addr))
        return true;
    for (size_t at = n; at-- > 1;) {
        if (text[at] != '+' && text[at] != '-')
            continue;
        memcpy(left, text, at);
        left[at] = '\0';
        if (!browse_address(b, left, addr) || trod_option_number(text + at + 1, &offset) != 0)
            return false;
        *addr += text[at] == '+' ? offset : 0 - offset;
        return true;
    }
    return false;
}

/* The address of the last access at or before the cursor. */
static bool last_access(struct browse *b, uint64_t *addr)
{
    enum { FAR = 2048 };
    const struct trod_batch *batch;
    uint32_t i;

    for (uint64_t k = 0; k < FAR && k <= b->cursor; k++) {
        if (browse_row(b, b->cursor - k, &batch, &i) <= 0)
            return false;
        if ((batch->kind[i] == TROD_READ || batch->kind[i] == TROD_WRITE ||
             batch->kind[i] == TROD_ATOMIC) &&
            (batch->have & batch->has[i] & TROD_COL_ADDR)) {
            *addr = batch->addr[i];
            return true;
        }
    }
    return false;
}

int browse_memory_read(struct browse *b, size_t n)
{
    struct browse_memory *m = &b->memory;
    struct trod_nav_byte *byte;
    uint64_t addr = m->addr;
    int rc;

    if (m->what[0])
        browse_address(b, m->what, &addr); /* what is not known here stays where it was */
    else if (!last_access(b, &addr) && !m->n)
        return 0;
    addr &= ~(uint64_t)15;
    if (n > BROWSE_BYTES)
        n = BROWSE_BYTES;
    if (n && addr + (n - 1) < addr)
        addr = 0 - (uint64_t)n;
    /* what is on the screen stays as long as it holds the access */
    if (!m->what[0] && m->n >= n && addr >= m->addr && addr - m->addr < n)
        addr = m->addr;
    byte = calloc(n + 1, sizeof *byte);
    if (!byte)
        return TROD_ERR_NOMEM;
    rc = b->rows ? trod_nav_memory(b->nav, b->cursor, addr, n, byte) : 0;
    if (rc == 0) {
        memcpy(m->before, m->byte, m->n * sizeof *m->byte);
        m->before_addr = m->addr;
        m->before_n = m->n;
        memcpy(m->byte, byte, n * sizeof *byte);
        m->addr = addr;
        m->n = n;
    }
    free(byte);
    return rc;
}

bool browse_memory_changed(const struct browse *b, size_t k)
{
    const struct browse_memory *m = &b->memory;
    const uint64_t at = m->addr + k;
    const struct trod_nav_byte *now = &m->byte[k], *was;

    if (k >= m->n || at < m->before_addr || at - m->before_addr >= m->before_n)
        return false;
    was = &m->before[at - m->before_addr];
    return (now->from == TROD_NAV_UNKNOWN) != (was->from == TROD_NAV_UNKNOWN) ||
           (now->from != TROD_NAV_UNKNOWN && now->value != was->value);
}
