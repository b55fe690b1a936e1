/*
 * like.c - groups of lines as points of the waves. Implements like.h, with like_put.c.
 *
 * A group ends where the time changes or a second instruction comes. Times never fall. Registers
 * are known by letter and number; what is written beside that is not looked at.
 */
#include "waves/like.h"

#include "core/grow.h"
#include "core/tarmac_time.h"
#include "trod/detail.h"
#include "waves/like_put.h"

#include <stdlib.h>
#include <string.h>

/* ---- the call tree: "o t:T ... : NAME" and "- t:T ... - t:T ..." lines */

static bool add_call(struct like *k, uint64_t time, const char *name)
{
    if (!trod_grow(&k->call, k->n_calls, &k->cap_calls, sizeof *k->call, 64))
        return false;
    k->call[k->n_calls++] = (struct like_call){time, name};
    return true;
}

/* A call of the call tree that is open: it ends at a line at or left of COLUMN. */
struct open_call {
    size_t column;
    const char *name;
};

/* The second time of a line, which a call goes on at. */
static uint64_t second_time(const char *line)
{
    const char *p = strstr(line + 1, " - t:");

    return p ? strtoull(p + 5, NULL, 10) : 0;
}

static int parse_calls(struct like *k)
{
    enum { DEEPEST = 4096 };
    struct open_call *stack = calloc(DEEPEST, sizeof *stack),
                     *sites = calloc(DEEPEST, sizeof *sites);
    uint64_t *resume = calloc(DEEPEST, sizeof *resume);
    size_t n = 0, m = 0;
    bool ok = stack && sites && resume;

    for (char *line = k->text, *next; ok && line && *line; line = next) {
        const size_t column = strspn(line, " ");
        char *end = strchr(line, '\n');

        next = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        /* calls that do not stand left of this line are over: their callers go on */
        for (; m > 0 && sites[m - 1].column >= column && ok; m--) {
            while (n > 0 && stack[n - 1].column >= sites[m - 1].column)
                n--;
            ok = add_call(k, resume[m - 1], n ? stack[n - 1].name : "");
        }
        if (n == DEEPEST || m == DEEPEST)
            continue;
        if (strncmp(line + column, "o t:", 4) == 0) {
            const char *name = strstr(line, " : ");

            stack[n].column = column;
            stack[n++].name = name ? name + 3 : "";
            ok = ok && add_call(k, strtoull(line + column + 4, NULL, 10), stack[n - 1].name);
        } else if (strncmp(line + column, "- t:", 4) == 0) {
            sites[m].column = column;
            resume[m++] = second_time(line + column);
        }
    }
    for (; m > 0 && ok; m--) {
        while (n > 0 && stack[n - 1].column >= sites[m - 1].column)
            n--;
        ok = add_call(k, resume[m - 1], n ? stack[n - 1].name : "");
    }
    free(stack);
    free(sites);
    free(resume);
    return ok ? 0 : TROD_ERR_NOMEM;
}

int like_new(struct like **out, const struct trod_waves_options *opt, struct trod_diag *diag)
{
    struct like *k = calloc(1, sizeof *k);
    const char *calls = opt->calls ? opt->calls : "";

    *out = NULL;
    if (!k)
        return TROD_ERR_NOMEM;
    k->opt = opt;
    k->diag = diag;
    k->text = malloc(strlen(calls) + 1);
    if (k->text)
        memcpy(k->text, calls, strlen(calls) + 1);
    if (!k->text || parse_calls(k) < 0) {
        like_free(k);
        return TROD_ERR_NOMEM;
    }
    *out = k;
    return 0;
}

void like_free(struct like *k)
{
    if (!k)
        return;
    free(k->text);
    free(k->call);
    free(k);
}

/* ---- registers */

/* Room in FILE that register NAME (LEN bytes) stands for and its bytes; NULL: it is none. */
static uint8_t *place_of(struct like_file *file, const uint8_t *name, size_t len, uint32_t size,
                         uint32_t *room)
{
    char letters[8];
    size_t n = 0, i = 0;
    unsigned number = 0;

    for (; i < len && n < 7 && ((name[i] | 32) >= 'a' && (name[i] | 32) <= 'z'); i++)
        letters[n++] = (char)(name[i] | 32);
    letters[n] = '\0';
    *room = 8;
    if (i == len || name[i] < '0' || name[i] > '9') {
        if (strcmp(letters, "sp") == 0)
            return size == 8 ? file->x[31] : file->x[13];
        if (strcmp(letters, "xsp") == 0 || strcmp(letters, "wsp") == 0)
            return file->x[31];
        if (strcmp(letters, "lr") == 0 || strcmp(letters, "msp") == 0)
            return file->x[letters[0] == 'l' ? 14 : 13];
        *room = 4;
        return strcmp(letters, "psr") == 0 || strcmp(letters, "cpsr") == 0 ? file->psr : NULL;
    }
    for (; i < len && name[i] >= '0' && name[i] <= '9' && number < 100; i++)
        number = 10 * number + (unsigned)(name[i] - '0');
    if (n != 1)
        return NULL;
    if (strchr("rwxe", letters[0]))
        return number <= (letters[0] == 'r' ? 15u : 30u) ? file->x[number] : NULL;
    *room = 16;
    return strchr("vqdsz", letters[0]) && number < LIKE_REGS ? file->v[number] : NULL;
}

/* Names that these tools know and that no signal shows. */
static bool is_other(const uint8_t *name, size_t len)
{
    static const char *const names[] = {"fpscr", "fpcr", "fpsr", "vpr"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t k = 0;

        while (k < len && names[i][k] && (name[k] | 32) == names[i][k])
            k++;
        if (!names[i][k])
            return true;
    }
    return len > 1 && (name[0] | 32) == 'p' && name[1] >= '0' && name[1] <= '9';
}

static void write_register(struct like *k, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i];
    const uint8_t *name = trod_batch_bytes(b, b->text[i]), *from = NULL;
    const struct trod_detail_reg *d = trod_batch_detail(b, i);
    uint32_t size = said & TROD_COL_SIZE ? b->size[i] : 8, room;
    uint8_t word[8], *to = place_of(&k->now, name, b->text[i].len, size, &room);

    if (!to)
        return;
    if (said & TROD_COL_DATA) {
        from = trod_batch_bytes(b, b->data[i]);
        size = b->data[i].len < size ? b->data[i].len : size;
    } else if (said & TROD_COL_VALUE) {
        for (unsigned n = 0; n < 8; n++)
            word[n] = (uint8_t)(b->value[i] >> (8 * n));
        from = word;
        size = size < 8 ? size : 8;
    }
    for (uint32_t n = 0; n < size && n < room; n++) {
        const size_t at = (size_t)(to + n - (uint8_t *)&k->now);

        ((uint8_t *)&k->written)[at] = 1;
        if (!from || (d && b->detail[i].len == sizeof *d && n < d->mask.len &&
                      trod_batch_bytes(b, d->mask)[n]))
            continue;
        to[n] = from[n];
        ((uint8_t *)&k->known)[at] = 1;
    }
}

/* ---- groups */

/* An event at TIME; INSN: an instruction. */
static int event(struct like *k, uint64_t time, bool insn)
{
    int r = 0;

    if (k->began && time < k->time)
        time = k->time;
    if (k->began && time == k->time && !(insn && k->has_insn))
        return 0;
    if (k->began) {
        r = like_put_group(k);
        k->number++;
    }
    k->began = true;
    k->time = time;
    k->has_insn = false;
    k->had_access = k->n_access > 0;
    k->n_access = 0;
    k->record = 0;
    memset(&k->written, 0, sizeof k->written);
    return r;
}

static void instruction(struct like *k, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i], flags = said & TROD_COL_FLAGS ? b->flags[i] : 0;
    const uint8_t *code = said & TROD_COL_CODE ? trod_batch_bytes(b, b->code[i]) : NULL;
    const uint32_t n = code ? b->code[i].len : 0;
    const unsigned iset = (flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT;
    const bool thumb = iset == TROD_ISET_T32 || iset == TROD_ISET_T32EE;

    k->has_insn = true;
    k->executed = !(flags & TROD_F_SKIPPED);
    k->pc = said & TROD_COL_ADDR ? b->addr[i] : 0;
    k->opcode = 0;
    for (uint32_t x = 0; x < n && n <= 4; x++)
        k->opcode |= (uint64_t)code[x] << (8 * x);
    if (thumb && n == 4)
        k->opcode = (k->opcode << 16 | k->opcode >> 16) & UINT32_MAX;
    like_text(k->insn, said & TROD_COL_TEXT ? (const char *)trod_batch_bytes(b, b->text[i]) : "",
              said & TROD_COL_TEXT ? b->text[i].len : 0);
}

/* Of a picture the words with the highest addresses come first. */
static int access_row(struct like *k, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i];
    const struct trod_detail_mem *d = trod_batch_detail(b, i);
    const bool picture = d && b->detail[i].len == sizeof *d && b->kind[i] != TROD_ATOMIC &&
                         (d->style == TROD_MEM_PICTURE || d->style == TROD_MEM_PICTURE_CONT);
    const bool more = said & TROD_COL_FLAGS && (b->flags[i] & TROD_F_CONT);
    uint32_t at = k->n_access;

    if (k->n_access == LIKE_ACCESSES)
        return trod_error(k->diag, TROD_ERR_LIMIT, "waves.accesses", NULL,
                          "more than %d accesses at one time, which tarmac-vcd refuses",
                          (int)LIKE_ACCESSES);
    if (!more)
        k->record = k->n_access;
    if (picture && more) {
        at = k->record;
        memmove(&k->access[at + 1], &k->access[at], (k->n_access - at) * sizeof k->access[0]);
    }
    k->n_access++;
    k->access[at] = (struct like_access){
        .write = b->kind[i] == TROD_WRITE,
        .addr = said & TROD_COL_ADDR    ? b->addr[i]
                : said & TROD_COL_PADDR ? b->paddr[i]
                                        : 0,
        .data = said & TROD_COL_VALUE ? b->value[i] : 0,
    };
    return 0;
}

static int row(struct like *k, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i];
    uint32_t room;
    int r;

    if (said & TROD_COL_TIME)
        k->row_time = trod_tarmac_time(b, i);
    if (b->kind[i] == TROD_NOTE && said & TROD_COL_TEXT && b->text[i].len == 6 &&
        memcmp(trod_batch_bytes(b, b->text[i]), "Tarmac", 6) == 0)
        return 0; /* the header belongs to no group */
    if (b->kind[i] == TROD_REG) {
        const uint8_t *name = said & TROD_COL_TEXT ? trod_batch_bytes(b, b->text[i]) : NULL;

        if (!name ||
            (!place_of(&k->now, name, b->text[i].len, 8, &room) && !is_other(name, b->text[i].len)))
            return 0; /* as if the line were not there */
    }
    r = event(k, k->row_time, b->kind[i] == TROD_INSTR);
    if (r < 0)
        return r;
    if (b->kind[i] == TROD_REG)
        write_register(k, b, i);
    else if (b->kind[i] == TROD_INSTR)
        instruction(k, b, i);
    else if (b->kind[i] == TROD_READ || b->kind[i] == TROD_WRITE)
        return access_row(k, b, i);
    return 0;
}

void like_survey(struct like *k, const struct trod_batch *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        k->a64 |= b->kind[i] == TROD_INSTR && b->have & b->has[i] & TROD_COL_FLAGS &&
                  (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT == TROD_ISET_A64;
}

int like_feed(struct like *k, const struct trod_batch *b, struct trod_buf *out)
{
    int r = 0;

    k->out = out;
    for (uint32_t i = 0; i < b->n && r == 0; i++)
        r = row(k, b, i);
    return r;
}

int like_end(struct like *k, struct trod_buf *out)
{
    int r = 0;

    k->out = out;
    if (k->began)
        r = like_put_group(k);
    return r == 0 ? like_put_end(k) : r;
}
