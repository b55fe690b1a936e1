/*
 * negative.c - binary data that is no trace: headers of common file formats before plausible
 * bodies, arrays of numbers and pointers, sound, noise. Implements negative.h.
 */
#include "negative.h"

#include "gen.h"
#include "testlib.h"

#include <math.h>
#include <string.h>

enum { SIZE = 70000 };

static void add(struct trod_buf *b, const void *p, size_t n)
{
    if (trod_buf_add(b, p, n) < 0)
        test_die("out of memory");
}

static void add_number(struct trod_buf *b, uint64_t v, unsigned bytes, bool big)
{
    uint8_t p[8];

    for (unsigned i = 0; i < bytes; i++)
        p[big ? bytes - 1 - i : i] = (uint8_t)(v >> 8 * i);
    add(b, p, bytes);
}

/* A literal without its NUL. */
#define ADD(b, s) add((b), (s), sizeof(s) - 1)

static void noise(struct trod_buf *b, uint64_t seed)
{
    struct trod_gen g = gen_seed(seed);

    while (b->n < SIZE)
        add_number(b, gen_u64(&g), 8, false);
}

static void fill(struct trod_buf *b, uint8_t c)
{
    while (b->n < SIZE)
        add(b, &c, 1);
}

static void text(struct trod_buf *b, unsigned bytes, bool big)
{
    static const char s[] = "The quick brown fox jumps over 13 lazy dogs, at 10:42.\r\n";

    for (size_t i = 0; b->n < SIZE; i = (i + 1) % (sizeof s - 1))
        add_number(b, (uint8_t)s[i], bytes, big);
}

/* Rising numbers, by a step that varies a little or not at all. */
static void counters(struct trod_buf *b, unsigned bytes, bool big, uint64_t from, uint64_t vary)
{
    struct trod_gen g = gen_seed(vary);

    for (uint64_t v = from; b->n < SIZE; v += 1 + gen_below(&g, vary))
        add_number(b, v, bytes, big);
}

/* Pointers into a heap. */
static void pointers(struct trod_buf *b, unsigned bytes, bool big, uint64_t heap)
{
    struct trod_gen g = gen_seed(heap);

    while (b->n < SIZE)
        add_number(b, heap + gen_below(&g, 1 << 16) * 16, bytes, big);
}

static void sound(struct trod_buf *b)
{
    for (int i = 0; b->n < SIZE; i++)
        add_number(b, (uint64_t)(int64_t)(9000.0 * sin(i * 0.05)), 2, false);
}

static void doubles(struct trod_buf *b)
{
    for (int i = 0; b->n < SIZE; i++) {
        double d = i * 0.37;
        uint64_t v;

        memcpy(&v, &d, sizeof v);
        add_number(b, v, 8, false);
    }
}

/* Small records with small fields, as tables of programs have them. */
static void structs(struct trod_buf *b, unsigned bytes)
{
    struct trod_gen g = gen_seed(bytes);

    while (b->n < SIZE) {
        for (unsigned i = 0; i < bytes; i += 4)
            add_number(b, gen_below(&g, i == 0 ? 100000 : 20), 4, false);
    }
}

static void tar(struct trod_buf *b)
{
    static const char name[] = "folder/notes.txt";

    add(b, name, sizeof name);
    while (b->n < 100)
        add(b, "", 1);
    ADD(b, "0000644\0001000\0001000\00000000001750 14371452431 012345 0");
    while (b->n < 257)
        add(b, "", 1);
    ADD(b, "ustar\00000user");
    while (b->n < 512)
        add(b, "", 1);
    text(b, 1, false);
}

const char *negative_make(size_t i, struct trod_buf *b)
{
    b->n = 0;
    switch (i) {
    case 0:
        ADD(b, "\177ELF\002\001\001\0\0\0\0\0\0\0\0\0\003\0\076\0\001\0\0\0");
        return counters(b, 4, false, 0x1000, 60), "ELF";
    case 1:
        ADD(b, "\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\002\0\0\0\001\200\010\006\0\0\0");
        return noise(b, 1), "PNG";
    case 2:
        ADD(b, "\377\330\377\340\0\020JFIF\0\001\001\0\0\001\0\001\0\0\377\333");
        return noise(b, 2), "JPEG";
    case 3:
        add(b,
            "RIFF\044\020\001\0WAVEfmt "
            "\020\0\0\0\001\0\001\0\104\254\0\0\210\130\001\0\002\0\020\0",
            36);
        return sound(b), "WAV";
    case 4:
        return tar(b), "tar";
    case 5:
        add(b,
            "PK\003\004\024\0\0\0\0\0\143\130\045\127\0\0\0\0\160\021\001\0\160\021\001\0\010\0\0"
            "\0",
            30);
        ADD(b, "file.txt");
        return text(b, 1, false), "zip of a text";
    case 6:
        ADD(b, "\037\213\010\0\0\0\0\0\0\003");
        return noise(b, 3), "gzip, undecoded";
    case 7:
        return fill(b, 0), "zeros";
    case 8:
        return fill(b, 0xff), "0xff";
    case 9:
        return fill(b, ' '), "blanks";
    case 10:
        return fill(b, '\n'), "line ends";
    case 11:
        ADD(b, "\377\376");
        return text(b, 2, false), "UTF-16, little-endian";
    case 12:
        ADD(b, "\376\377");
        return text(b, 2, true), "UTF-16, big-endian";
    case 13:
        return counters(b, 4, false, 0, 1), "counter, 32 bits, little-endian";
    case 14:
        return counters(b, 4, true, 0, 1), "counter, 32 bits, big-endian";
    case 15:
        return counters(b, 8, false, 1700000000000u, 5000), "times, 64 bits, little-endian";
    case 16:
        return counters(b, 8, true, 1700000000000u, 5000), "times, 64 bits, big-endian";
    case 17:
        return counters(b, 2, true, 0, 3), "counter, 16 bits, big-endian";
    case 18:
        return pointers(b, 8, false, 0x7f12a4000000), "pointers, 64 bits, little-endian";
    case 19:
        return pointers(b, 4, true, 0x10010000), "pointers, 32 bits, big-endian";
    case 20:
        return pointers(b, 4, false, 0x08050000), "pointers, 32 bits, little-endian";
    case 21:
        return sound(b), "sound without a header";
    case 22:
        return doubles(b), "doubles";
    case 23:
        return structs(b, 8), "records of 8 bytes";
    case 24:
        return structs(b, 12), "records of 12 bytes";
    case 25:
        return structs(b, 16), "records of 16 bytes";
    case 26:
        return structs(b, 20), "records of 20 bytes";
    default:
        if (i >= 60)
            return NULL;
        return noise(b, i), "noise";
    }
}
