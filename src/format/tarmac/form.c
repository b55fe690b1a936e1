/*
 * form.c - makes forms of lines whose fields are known.
 *
 * See form.h.
 */
#include "format/tarmac/form.h"

/* What the places of a field may be, but for the text. */
struct kind {
    uint8_t text, most, off, least;
};

static void put(struct tm_form *f, unsigned at, struct kind k)
{
    struct tm_part *t = &f->part[at / TM_PART];

    t->text[at % TM_PART] = k.text;
    t->most[at % TM_PART] = k.most;
    t->off[at % TM_PART] = k.off;
    t->least[at % TM_PART] = k.least;
}

static void put_field(struct tm_form *f, struct tm_field field, struct kind k)
{
    for (unsigned i = 0; i < field.n; i++)
        put(f, field.at + i, k);
}

/* Pairs of digits of FIELD, the last pair first; places without a digit are 0x80, which is 0. */
static void pick(uint8_t *to, struct tm_field field)
{
    memset(to, 0x80, 16);
    for (unsigned i = 0; i < field.n; i++)
        to[i ^ 1] = (uint8_t)(field.n - 1 - i);
}

/* The digits of FIELD in their order, the last at the end; places without a digit as above. */
static void pick_decimal(uint8_t *to, struct tm_field field)
{
    memset(to, 0x80, 16);
    for (unsigned i = 0; i < field.n && i < 16; i++)
        to[16u - field.n + i] = (uint8_t)i;
}

void tm_form_keep(struct tm_form *f, const uint8_t *line, unsigned len, const struct tm_layout *l)
{
    static const struct kind decimal = {'0', 9, 0, 9}, lower = {'0', 9, 'a' ^ '0', 5},
                             upper = {'0', 9, 'A' ^ '0', 5},
                             name = {0x40, 0x3f, '0' ^ 0x40, 9}, /* letters, '_' and digits */
        byte = {0x60, 6, '.' ^ 0x60, 11};                        /* '`' to 'f', '.' to '9' */

    f->parts = (uint8_t)(len > 2 * TM_PART ? (len + TM_PART - 1) / TM_PART : 2);
    memset(f->part, 0, f->parts * sizeof *f->part);
    for (unsigned i = 0; i < f->parts; i++) {
        const unsigned at = i * TM_PART, left = len > at ? len - at : 0;
        const unsigned n = left < TM_PART ? left : TM_PART;

        memcpy(f->part[i].text, line + at, n);
        memset(f->part[i].most + n, UINT8_MAX, TM_PART - n);
        memset(f->part[i].least + n, UINT8_MAX, TM_PART - n);
    }
    put_field(f, l->time, decimal);
    put_field(f, l->index, decimal);
    put_field(
        f, (struct tm_field){(uint8_t)(l->vaddr.at + l->zeros), (uint8_t)(l->vaddr.n - l->zeros)},
        lower);
    for (unsigned i = l->bytes.at; i < (unsigned)l->bytes.at + l->bytes.n; i++)
        if (line[i] != ' ')
            put(f, i, byte);
    put_field(f, l->paddr, lower);
    put_field(f, l->code, l->upper ? upper : lower);
    for (unsigned i = l->more.at; i < (unsigned)l->more.at + l->more.n; i++)
        if (line[i] != '_')
            put(f, i, l->upper ? upper : lower);
    for (unsigned i = l->name.at; i < (unsigned)l->name.at + l->name.n; i++)
        if (tm_is_digit(line[i]) || (line[i] & 0xc0) == 0x40)
            put(f, i, name);
    if (l->pair)
        put(f, l->pair_at, (struct kind){line[l->pair_at], 0, line[l->pair_at] ^ l->pair, 0});
    pick(f->pick, l->vaddr);
    pick(f->pick + 16, l->paddr);
    pick_decimal(f->pick_time, l->time);
    pick_decimal(f->pick_index, l->index);
    f->len = (uint8_t)len;
    f->time = l->time;
    f->index = l->index;
    f->vaddr = l->vaddr;
    f->paddr = l->paddr;
    f->pair_at = l->pair_at;
    f->code = l->code;
    f->upper = l->upper;
}
