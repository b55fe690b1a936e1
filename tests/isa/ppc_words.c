/*
 * Opcode words for comparing disassemblers, and what the comparisons share. See ppc_words.h.
 */
#include "ppc_words.h"

#include "fewer.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t random_word(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

struct ppc_words ppc_words_space(void)
{
    static const uint32_t patterns[] = {0, 0x00642800, 0x00600000, 0x00402000, 0x03fff800};
    enum {
        PATTERNS = sizeof patterns / sizeof *patterns,
        EXTRA = 3,
        SPRS = 3 * 1024,
        RANDOM = 100000
    };
    const size_t n = (size_t)64 * 2048 * (PATTERNS + EXTRA) + SPRS + RANDOM;
    struct ppc_words words = {malloc(n * sizeof(uint32_t)), 0};
    const size_t step = test_step();
    uint64_t state = 42;

    if (!words.w)
        return words;
    for (uint32_t major = 0; major < 64; major++)
        for (uint32_t low = 0; low < 2048; low++) {
            for (size_t i = 0; i < PATTERNS; i++)
                words.w[words.n++] = major << 26 | low | patterns[i];
            for (size_t i = 0; i < EXTRA; i++)
                words.w[words.n++] = major << 26 | low | (random_word(&state) & 0x03fff800);
        }
    for (uint32_t i = 0; i < 1024; i++) { /* mfspr, mtspr and mftb of every register */
        static const uint32_t moves[] = {0x7c6002a6, 0x7c6003a6, 0x7c6002e6};

        for (size_t m = 0; m < 3; m++)
            words.w[words.n++] = moves[m] | (i & 31) << 16 | (i >> 5) << 11;
    }
    while (words.n < n)
        words.w[words.n++] = random_word(&state);
    for (words.n = 0; words.n * step < n; words.n++)
        words.w[words.n] = words.w[words.n * step];
    return words;
}

struct ppc_words ppc_words_file(const char *path)
{
    struct ppc_words words = {NULL, 0};
    FILE *f = fopen(path, "rb");
    unsigned char b[4];
    size_t room = 0;

    while (f && fread(b, 1, 4, f) == 4) {
        if (words.n == room) {
            uint32_t *more = realloc(words.w, (room = room ? 2 * room : 4096) * sizeof *more);

            if (!more)
                break;
            words.w = more;
        }
        words.w[words.n++] =
            (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    if (f)
        fclose(f);
    return words;
}

struct ppc_known *ppc_known_find(struct ppc_known *known, size_t n, const char *ours,
                                 const char *const *theirs, size_t theirs_n)
{
    for (size_t i = 0; i < n; i++) {
        if (fnmatch(known[i].ours, ours, 0) != 0)
            continue;
        for (size_t j = 0; j < theirs_n; j++)
            if (fnmatch(known[i].theirs, theirs[j], 0) == 0) {
                known[i].seen++;
                return &known[i];
            }
    }
    return NULL;
}

void ppc_known_report(const char *title, const struct ppc_known *known, size_t n)
{
    printf("%s: known differences\n", title);
    for (size_t i = 0; i < n; i++)
        printf("  %7lu  %-12s | %-12s  %s\n", known[i].seen, known[i].ours, known[i].theirs,
               known[i].why);
}

void ppc_normalize(char *out, size_t size, const char *text)
{
    size_t n = 0;
    char last = ' ';

    while (*text && n + 12 < size) {
        if (isspace((unsigned char)*text)) {
            if (last != ' ' && last != ',')
                out[n++] = last = ' ';
            text++;
        } else if (text[0] == '0' && text[1] == 'x' && !isalnum((unsigned char)last)) {
            char *end;

            n += (size_t)snprintf(out + n, 12, "%lu", strtoul(text, &end, 16) & 0xffffffff);
            text = end;
            last = '0';
        } else {
            out[n++] = last = *text++;
        }
    }
    while (n && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
}
