/*
 * naive_drm.c - a yardstick: the plain way to read a drmemtrace file and count what is in it.
 *
 *   naive_drm FILE
 *
 * One entry of 12 bytes after the other to the columns that `trod count` uses, then sums over
 * these. Nothing is checked, nothing is kept of encodings or footprints, and there is one thread of
 * a 64-bit program. FILE is not compressed.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 4096, ENTRY = 12 };
enum { NOTHING, INSTR, READ, WRITE, OTHER, KINDS };

static struct {
    uint8_t kind[ROWS];
    uint16_t sub[ROWS];
    uint32_t flags[ROWS], size[ROWS], stream[ROWS];
    uint64_t addr[ROWS];
} row;

static uint64_t kinds[KINDS], bytes[KINDS], branches[16];

static unsigned kind_of(unsigned type)
{
    if ((type >= 10 && type <= 16) || type == 31 || type == 48 || type == 49)
        return INSTR;
    if (type == 0 || type == 1)
        return type ? WRITE : READ;
    return type == 47 || (type >= 22 && type <= 26 && type != 23) ? NOTHING : OTHER;
}

static uint32_t branch_of(unsigned type)
{
    return type >= 11 && type <= 16 ? type - 10 : type == 48 || type == 49 ? type - 40 : 0;
}

static void count(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        kinds[row.kind[i]]++;
        bytes[row.kind[i]] += row.size[i];
        branches[row.flags[i] & 15] += row.kind[i] == INSTR;
    }
}

int main(int argc, char **argv)
{
    static uint8_t buffer[ROWS * ENTRY];
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    size_t n;

    if (!f)
        return 2;
    while ((n = fread(buffer, ENTRY, ROWS, f)) > 0) {
        unsigned rows = 0;

        for (size_t i = 0; i < n; i++) {
            const uint8_t *p = buffer + i * ENTRY;
            uint16_t type, size;
            uint64_t addr;

            memcpy(&type, p, 2);
            memcpy(&size, p + 2, 2);
            memcpy(&addr, p + 4, 8);
            if (kind_of(type) == NOTHING)
                continue;
            row.kind[rows] = (uint8_t)kind_of(type);
            row.sub[rows] = type;
            row.flags[rows] = branch_of(type);
            row.size[rows] = size;
            row.stream[rows] = 0;
            row.addr[rows++] = (uint64_t)((int64_t)(addr << 16) >> 16);
        }
        count(rows);
    }
    fclose(f);
    printf("instructions %" PRIu64 " loads %" PRIu64 " stores %" PRIu64 " bytes %" PRIu64
           " %" PRIu64 " calls %" PRIu64 "\n",
           kinds[INSTR], kinds[READ], kinds[WRITE], bytes[READ], bytes[WRITE], branches[4]);
    return 0;
}
