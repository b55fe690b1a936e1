/*
 * naive_tarmac.c - a yardstick: the plain way to read Tarmac text of Fast Models and count what is
 * in it.
 *
 *   naive_tarmac FILE
 *
 * One character after the other to the columns that `trod count` uses, then sums over these. A line
 * is "TIME clk CPU" and IT or IS (INDEX) ADDR:PADDR OPCODE ISET MODE : TEXT, MRn or MWn ADDR:PADDR
 * DATA, or R NAME VALUE; it is taken to be that, nothing is checked and no footprint is kept.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 1 << 20 };
enum { OTHER, INSTR, READ, WRITE, REG, KINDS };

struct row {
    uint8_t kind;
    uint32_t flags, size;
    uint64_t time, addr, paddr;
};

static uint64_t kinds[KINDS], bytes[KINDS], skipped, last;
static uint8_t value[256]; /* of hexadecimal digits; 0xff for all else */

static uint64_t decimal(const char **p)
{
    uint64_t v = 0;

    for (; **p >= '0' && **p <= '9'; ++*p)
        v = v * 10 + (uint64_t)(**p - '0');
    return v;
}

static uint64_t hexadecimal(const char **p, uint32_t *digits)
{
    uint64_t v = 0;

    for (*digits = 0;; ++*p) {
        uint8_t d = value[(uint8_t) * *p];

        if (d > 15)
            return v;
        v = v << 4 | d;
        ++*digits;
    }
}

static const char *word(const char *p)
{
    while (*p > ' ')
        p++;
    return *p == ' ' ? p + 1 : p;
}

static const char *address(const char *p, struct row *r)
{
    uint32_t digits;

    r->addr = hexadecimal(&p, &digits);
    if (*p == ':') {
        p++;
        r->paddr = hexadecimal(&p, &digits);
    }
    return word(p);
}

static void take(const char *p, struct row *r)
{
    uint32_t digits;

    *r = (struct row){.time = decimal(&p)};
    p = word(word(word(p))); /* to the unit, the cpu, the type */
    if (p[0] == 'I') {
        r->kind = INSTR;
        r->flags = p[1] == 'S';
        p = address(word(word(p)), r);
        (void)hexadecimal(&p, &digits);
        r->size = digits / 2;
    } else if (p[0] == 'M') {
        r->kind = p[1] == 'R' ? READ : WRITE;
        r->size = (uint32_t)(p[2] - '0');
        p = address(word(p), r);
        (void)hexadecimal(&p, &digits);
        if (*p == '_') {
            p++;
            (void)hexadecimal(&p, &digits);
        }
    } else if (p[0] == 'R') {
        r->kind = REG;
        p = word(word(p));
        (void)hexadecimal(&p, &digits);
        r->size = digits / 2;
    }
}

static void line(const char *p)
{
    struct row r;

    take(p, &r);
    kinds[r.kind]++;
    bytes[r.kind] += r.size;
    skipped += r.flags;
    last = r.time;
}

int main(int argc, char **argv)
{
    static char block[BLOCK];
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    size_t n, rest = 0;

    if (!f)
        return 2;
    memset(value, 0xff, sizeof value);
    for (uint8_t i = 0; i < 16; i++)
        value[(uint8_t) "0123456789abcdef"[i]] = value[(uint8_t) "0123456789ABCDEF"[i]] = i;
    while ((n = fread(block + rest, 1, BLOCK - rest, f)) > 0) {
        const char *p = block, *end = block + rest + n, *nl;

        for (; (nl = memchr(p, '\n', (size_t)(end - p))) != NULL; p = nl + 1)
            line(p);
        rest = (size_t)(end - p);
        memmove(block, p, rest);
    }
    fclose(f);
    printf("instructions %" PRIu64 " skipped %" PRIu64 " loads %" PRIu64 " stores %" PRIu64
           " registers %" PRIu64 " bytes %" PRIu64 " %" PRIu64 " until %" PRIu64 "\n",
           kinds[INSTR], skipped, kinds[READ], kinds[WRITE], kinds[REG], bytes[READ], bytes[WRITE],
           last);
    return 0;
}
