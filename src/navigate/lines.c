/*
 * lines.c - what is known of single bytes of memory at a row. Implements lines.h.
 *
 * The value of a byte is that of its last access at or before the row. Where there is none that
 * tells it, it is that of the first access after the row, if this is a read (hindsight). A read
 * that contradicts the last write shows that something wrote which is not traced.
 */
#include "navigate/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 64 };

int nav_lines_init(struct nav_lines *l, bool big)
{
    memset(l, 0, sizeof *l);
    l->big = big;
    l->mask = FIRST - 1;
    l->segment = UINT32_MAX;
    l->slot = calloc(FIRST, sizeof *l->slot);
    l->touched = calloc(FIRST, sizeof *l->touched);
    return l->slot && l->touched ? TROD_OK : TROD_ERR_NOMEM;
}

void nav_lines_fini(struct nav_lines *l)
{
    for (uint32_t i = 0; l->slot && i <= l->mask; i++)
        free(l->slot[i]);
    free(l->slot);
    free(l->touched);
    if (l->held) {
        free(l->held->at);
        free(l->held->order);
    }
    free(l->held);
    free(l->held_from);
    free(l->number);
    l->number = NULL;
    l->slot = l->touched = NULL;
    l->held = NULL;
    l->held_from = NULL;
}

static uint32_t place(struct nav_line *const *slot, uint32_t mask, uint64_t number)
{
    uint32_t i = (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

    while (slot[i] && slot[i]->number != number)
        i = (i + 1) & mask;
    return i;
}

struct nav_line *nav_lines_find(const struct nav_lines *l, uint64_t number)
{
    return l->slot[place(l->slot, l->mask, number)];
}

static int grow(struct nav_lines *l)
{
    const uint32_t mask = 2 * l->mask + 1;
    struct nav_line **slot = calloc((size_t)mask + 1, sizeof *slot);
    struct nav_line **touched = realloc(l->touched, ((size_t)mask + 1) * sizeof *touched);

    if (touched)
        l->touched = touched;
    if (!slot || !touched) {
        free(slot);
        return TROD_ERR_NOMEM;
    }
    for (uint32_t i = 0; i <= l->mask; i++)
        if (l->slot[i])
            slot[place(slot, mask, l->slot[i]->number)] = l->slot[i];
    free(l->slot);
    l->slot = slot;
    l->mask = mask;
    return TROD_OK;
}

static struct nav_line *line_of(struct nav_lines *l, uint64_t number)
{
    uint32_t i = place(l->slot, l->mask, number);

    if (l->slot[i])
        return l->slot[i];
    if (2 * l->n > l->mask) {
        if (grow(l) < 0)
            return NULL;
        i = place(l->slot, l->mask, number);
    }
    if (!(l->slot[i] = calloc(1, sizeof **l->slot)))
        return NULL;
    l->slot[i]->number = number;
    l->slot[i]->held = UINT32_MAX;
    for (unsigned k = 0; k < NAV_LINE; k++) {
        l->slot[i]->last[k].write = l->slot[i]->last[k].read = TROD_NOWHERE;
        l->slot[i]->now[k] = l->slot[i]->last[k];
    }
    l->n++;
    return l->slot[i];
}

size_t nav_lines_open(const struct nav_lines *l, uint64_t **out)
{
    size_t n = 0;

    if (!*out && !(*out = calloc((size_t)l->n + 1, sizeof **out)))
        return l->n;
    for (uint32_t i = 0; i < l->n; i++)
        if (nav_lines_find(l, l->number[i])->open)
            (*out)[n++] = l->number[i];
    return n;
}

int nav_lines_ask(struct nav_lines *l, uint64_t addr, uint64_t n)
{
    while (n) {
        const unsigned at = addr % NAV_LINE;
        const uint64_t some = n < NAV_LINE - at ? n : NAV_LINE - at;
        const uint64_t mask = (some == 64 ? UINT64_MAX : (UINT64_C(1) << some) - 1) << at;
        struct nav_line *line;

        if (l->n >= TROD_NAV_MEMORY / NAV_LINE && !nav_lines_find(l, addr / NAV_LINE))
            return TROD_ERR_LIMIT;
        if (!(line = line_of(l, addr / NAV_LINE)))
            return TROD_ERR_NOMEM;
        l->open += (uint64_t)__builtin_popcountll(mask & ~line->asked);
        line->open |= mask & ~line->asked;
        line->asked |= mask;
        addr += some;
        n -= some;
    }
    return TROD_OK;
}

static void access_byte(struct nav_byte *b, const struct nav_access *a, uint32_t k, uint64_t row)
{
    uint8_t value = 0;
    int known = nav_access_byte(a, k, &value);

    if (known < 0)
        return;
    if (a->writes) {
        b->write = row;
        b->read = TROD_NOWHERE;
        b->written = value;
        b->flags = known ? NAV_WROTE_KNOWN : 0;
    } else if (known) {
        b->read = row;
        b->seen = value;
        b->flags |= NAV_READ_KNOWN;
    }
}

/* The first access after the place decides. */
static void later_byte(struct nav_byte *b, const struct nav_access *a, uint32_t k, uint64_t row)
{
    uint8_t value = 0;
    int known = nav_access_byte(a, k, &value);

    if ((b->flags & NAV_CLOSED) || known < 0 || (!a->writes && !known))
        return;
    b->flags |= NAV_CLOSED;
    if (a->writes)
        return;
    b->flags |= NAV_LATER;
    b->read = row;
    b->seen = value;
}

static void access_line(struct nav_lines *l, struct nav_line *line, const struct nav_access *a,
                        uint64_t from, uint64_t to, uint64_t row)
{
    for (uint64_t left = to - from + 1, at = from; left; left--, at++) {
        const unsigned k = at % NAV_LINE;

        if (!(line->open >> k & 1))
            continue;
        if (!line->touched) {
            line->touched = true;
            l->touched[l->n_touched++] = line;
        }
        line->hit |= UINT64_C(1) << k;
        if (l->forward)
            later_byte(&line->now[k], a, (uint32_t)(at - a->addr), row);
        else
            access_byte(&line->now[k], a, (uint32_t)(at - a->addr), row);
    }
}

static int rows(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct nav_lines *l = user;

    for (uint32_t end = i + n; i < end; i++, row++) {
        struct nav_access a;
        uint64_t last;

        if (!nav_access_of(b, i, l->big, &a))
            continue;
        last = a.addr + (a.size - 1);
        for (uint64_t at = a.addr;;) {
            const uint64_t end_of_line = at | (NAV_LINE - 1);
            struct nav_line *line = nav_lines_find(l, at / NAV_LINE);

            if (line)
                access_line(l, line, &a, at, last < end_of_line ? last : end_of_line, row);
            if (end_of_line >= last)
                break;
            at = end_of_line + 1;
        }
    }
    return 1;
}

static void settle(struct nav_lines *l, struct nav_line *line, unsigned k)
{
    line->open &= ~(UINT64_C(1) << k);
    l->open--;
}

/* What the block said goes to what is known: it lies before all that were scanned so far. */
static void fold_back(struct nav_lines *l)
{
    for (uint32_t t = 0; t < l->n_touched; t++) {
        struct nav_line *line = l->touched[t];

        for (uint64_t hit = line->hit; hit; hit &= hit - 1) {
            const unsigned k = (unsigned)__builtin_ctzll(hit);
            struct nav_byte *now = &line->now[k], *last = &line->last[k];

            if (now->read != TROD_NOWHERE && last->read == TROD_NOWHERE) {
                last->read = now->read;
                last->seen = now->seen;
                last->flags |= NAV_READ_KNOWN;
                line->seen |= UINT64_C(1) << k;
            }
            if (now->write != TROD_NOWHERE) {
                last->write = now->write;
                last->written = now->written;
                last->flags |= now->flags & NAV_WROTE_KNOWN;
                settle(l, line, k);
            }
            *now = (struct nav_byte){.write = TROD_NOWHERE, .read = TROD_NOWHERE};
        }
        line->touched = false;
        line->hit = 0;
    }
    l->n_touched = 0;
}

static void fold_forward(struct nav_lines *l)
{
    for (uint32_t t = 0; t < l->n_touched; t++) {
        struct nav_line *line = l->touched[t];

        for (uint64_t hit = line->hit & line->open; hit; hit &= hit - 1) {
            const unsigned k = (unsigned)__builtin_ctzll(hit);

            if (!(line->now[k].flags & NAV_CLOSED))
                continue;
            if (line->now[k].flags & NAV_LATER) {
                line->last[k].read = line->now[k].read;
                line->last[k].seen = line->now[k].seen;
                line->last[k].flags |= NAV_LATER;
            }
            settle(l, line, k);
        }
        line->touched = false;
        line->hit = 0;
    }
    l->n_touched = 0;
}

/* Only bytes that nothing tells so far are looked for after the place. */
static void turn(struct nav_lines *l)
{
    l->open = 0;
    l->forward = true;
    for (uint32_t i = 0; i <= l->mask; i++) {
        struct nav_line *line = l->slot[i];

        if (!line)
            continue;
        line->open = 0;
        for (unsigned k = 0; k < NAV_LINE; k++)
            if ((line->asked >> k & 1) &&
                !(line->last[k].flags & (NAV_WROTE_KNOWN | NAV_READ_KNOWN)))
                line->open |= UINT64_C(1) << k;
        l->open += (uint64_t)__builtin_popcountll(line->open);
    }
}

struct onwards {
    struct nav_lines *lines;
};

/* After the place a scan ends as soon as nothing is left to learn. */
static int rows_later(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct nav_lines *l = ((struct onwards *)user)->lines;

    rows(l, b, i, n, row);
    fold_forward(l);
    return l->open > 0;
}

/*
 * What rows of STEPS of block K up to ROW say of the bytes that are open: the last step first. Of
 * a compressed file, to get to a step takes longer than to decode it: twice as many at a time.
 */
static int before(struct trod_nav *nav, struct nav_recall *recall, struct nav_lines *l, size_t k,
                  int steps, uint64_t row)
{
    const uint64_t begin = nav_block_first(nav, k);
    uint64_t end = nav_block_first(nav, k + 1), first, next;
    unsigned most = 1; /* steps at once */
    const bool all = row >= end - 1 || (nav->index && row >= nav->index->rows - 1);
    int rc = TROD_OK;

    if (all && nav_recall_can(recall, k, l->big)) {
        rc = nav_recall(recall, k, l);
        fold_back(l);
        return rc;
    }
    if (end > row && row < TROD_NOWHERE)
        end = row + 1;
    while (rc == TROD_OK && l->open && end > begin) {
        rc = nav_step_of(nav, end - 1, steps, &first, &next);
        for (unsigned i = 1; rc > 0 && i < most && first > begin; i++)
            rc = nav_step_of(nav, first - 1, NAV_ALL_STEPS, &first, &next);
        if (rc > 0) {
            rc = nav_scan(nav, first, end, rows, l);
            most = nav->index && nav->index->n_points ? 2 * most : 1;
        }
        fold_back(l);
        end = first;
    }
    return rc;
}

/* What rows of STEPS of block K after ROW say first. */
static int behind(struct trod_nav *nav, struct nav_recall *recall, struct nav_lines *l, size_t k,
                  int steps, uint64_t row)
{
    uint64_t at = nav_block_first(nav, k), end;
    struct onwards onwards = {l};
    int rc = TROD_OK;

    if (at > row && nav_recall_can(recall, k, l->big)) {
        rc = nav_recall(recall, k, l);
        fold_forward(l);
        return rc;
    }
    if (at <= row)
        at = row + 1;
    while (rc == TROD_OK && l->open && (rc = nav_step_next(nav, k, steps, &at, &end)) > 0) {
        rc = nav_scan(nav, at, end, rows_later, &onwards);
        at = end;
    }
    return rc;
}

int nav_lines_solve(struct trod_nav *nav, struct nav_lines *l, uint64_t row)
{
    const size_t own = nav_block_of(nav, row);
    const bool later =
        !nav->index || !nav->index->silent; /* reads may tell what was there before */
    struct nav_recall recall;
    int rc = nav_lines_prepare(nav, l);

    nav_recall_init(&recall, nav->index);
    l->forward = false;
    for (size_t k = own + 1; rc == TROD_OK && l->open && k-- > 0;)
        if ((rc = nav_block_touches(nav, k, l)) > 0)
            rc = before(nav, &recall, l, k, rc, row);
    if (rc == TROD_OK && later) {
        turn(l);
        l->segment = recall.segment = UINT32_MAX; /* bytes may be open that were not */
    }
    for (size_t k = own; rc == TROD_OK && later && l->open && k < nav_blocks(nav); k++)
        if ((rc = nav_block_touches(nav, k, l)) > 0)
            rc = behind(nav, &recall, l, k, rc, row);
    nav_recall_fini(&recall);
    return rc;
}

void nav_line_byte(const struct nav_line *line, unsigned k, struct trod_nav_byte *out)
{
    const struct nav_byte *b = &line->last[k];
    const bool wrote = b->write != TROD_NOWHERE && (b->flags & NAV_WROTE_KNOWN);

    *out = (struct trod_nav_byte){0, TROD_NAV_UNKNOWN, TROD_NOWHERE, TROD_NOWHERE};
    if (b->flags & NAV_LATER) {
        *out = (struct trod_nav_byte){b->seen, TROD_NAV_LATER, b->read, TROD_NOWHERE};
    } else if (!(b->flags & NAV_READ_KNOWN)) {
        if (wrote)
            *out = (struct trod_nav_byte){b->written, TROD_NAV_WRITTEN, b->write, TROD_NOWHERE};
        else if (b->write != TROD_NOWHERE)
            out->row = b->write;
    } else if (wrote && b->written != b->seen) {
        *out = (struct trod_nav_byte){b->seen, TROD_NAV_UNTRACED, b->read, b->write};
    } else if (b->write != TROD_NOWHERE) {
        *out = (struct trod_nav_byte){b->seen, TROD_NAV_WRITTEN, b->write, TROD_NOWHERE};
    } else {
        *out = (struct trod_nav_byte){b->seen, TROD_NAV_READ, b->read, TROD_NOWHERE};
    }
}
