/*
 * state.c - the state at the cursor, its memory, and what changed there.
 *
 * Implements "the state at the cursor" of model.h; registers.c has the registers. A value changed
 * if it is not what it was at the place where the cursor was before.
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

/* ---- memory */

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

/* The address that is asked for, if it is known here. */
static void named(struct browse *b, uint64_t *addr)
{
    uint64_t at;

    if (browse_address(b, b->memory.what, &at)) /* what is not known here stays where it was */
        *addr = (at & ~(uint64_t)15) + (uint64_t)b->memory.offset;
}

int browse_memory_read(struct browse *b, size_t n)
{
    struct browse_memory *m = &b->memory;
    struct trod_nav_byte *byte;
    uint64_t addr = m->addr;
    int rc;

    if (m->held)
        addr = m->held_addr;
    else if (m->what[0])
        named(b, &addr);
    else if (last_access(b, &addr))
        addr &= ~(uint64_t)15;
    else if (!m->n)
        return 0;
    if (n > BROWSE_BYTES)
        n = BROWSE_BYTES;
    if (n && addr + (n - 1) < addr)
        addr = 0 - (uint64_t)n;
    /* what is on the screen stays as long as it holds the access */
    if (!m->what[0] && !m->held && m->n >= n && addr >= m->addr && addr - m->addr < n)
        addr = m->addr;
    byte = calloc(2 * n + 1, sizeof *byte);
    if (!byte)
        return TROD_ERR_NOMEM;
    rc = b->rows ? trod_nav_memory(b->nav, m->held ? m->row : b->cursor, addr, n, byte) : 0;
    if (rc == 0 && b->rows && m->held)
        rc = trod_nav_memory(b->nav, b->cursor, addr, n, byte + n);
    if (rc == 0) {
        if (m->held)
            memcpy(m->before, byte + n, n * sizeof *byte);
        else
            memcpy(m->before, m->byte, m->n * sizeof *m->byte);
        m->before_addr = m->held ? addr : m->addr;
        m->before_n = m->held ? n : m->n;
        memcpy(m->byte, byte, n * sizeof *byte);
        m->addr = addr;
        m->n = n;
    }
    free(byte);
    return rc;
}

void browse_memory_at(struct browse *b, uint64_t addr)
{
    struct browse_memory *m = &b->memory;

    snprintf(m->what, sizeof m->what, "0x%llx", (unsigned long long)addr);
    m->offset = 0;
    m->held_addr = addr & ~(uint64_t)15;
}

void browse_memory_scroll(struct browse *b, int64_t bytes)
{
    struct browse_memory *m = &b->memory;

    if (m->n == 0)
        return;
    if (bytes < 0 && m->addr < 0 - (uint64_t)bytes)
        bytes = -(int64_t)m->addr;
    if (m->held) {
        m->held_addr += (uint64_t)bytes;
        return;
    }
    if (!m->what[0]) { /* it follows no more */
        snprintf(m->what, sizeof m->what, "0x%llx", (unsigned long long)m->addr);
        m->offset = (int64_t)(m->addr & 15);
    }
    m->offset += bytes;
}

void browse_memory_hold(struct browse *b)
{
    struct browse_memory *m = &b->memory;

    m->held = !m->held && m->n;
    m->row = b->cursor;
    m->held_addr = m->addr;
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
