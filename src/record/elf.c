/*
 * elf.c - the segments of an ELF file.
 *
 * Document: System V ABI, chapters 4 and 5. Reads what stands in the first bytes of the file, where
 * linkers put the program headers; symbols are trod/symbols.h's.
 */
#include "record/record.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 4096 };

uint64_t rec_elf_field(const uint8_t *p, unsigned n, bool big)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < n; i++)
        v |= (uint64_t)p[big ? n - 1 - i : i] << 8 * i;
    return v;
}

size_t rec_elf_segments(const char *path, struct rec_segment_of_file *out, size_t max)
{
    uint8_t head[HEAD];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, head, sizeof head);
    const size_t n = got < 0 ? 0 : (size_t)got;
    size_t size, found = 0;
    uint64_t at, count;
    bool wide, big;

    if (fd >= 0)
        close(fd);
    if (n < sizeof(Elf64_Ehdr) || memcmp(head, ELFMAG, SELFMAG) != 0)
        return 0;
    wide = head[EI_CLASS] == ELFCLASS64;
    big = head[EI_DATA] == ELFDATA2MSB;
    size = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    at = wide ? rec_elf_field(head + 32, 8, big) : rec_elf_field(head + 28, 4, big);
    count = rec_elf_field(head + (wide ? 56 : 44), 2, big);
    for (uint64_t i = 0; i < count && found < max && at < n && at + (i + 1) * size <= n; i++) {
        const uint8_t *p = head + at + i * size;
        const unsigned word = wide ? 8 : 4;

        if (rec_elf_field(p, 4, big) != PT_LOAD)
            continue;
        out[found++] =
            (struct rec_segment_of_file){.offset = rec_elf_field(p + (wide ? 8 : 4), word, big),
                                         .address = rec_elf_field(p + (wide ? 16 : 8), word, big),
                                         .bytes = rec_elf_field(p + (wide ? 32 : 16), word, big),
                                         .memory = rec_elf_field(p + (wide ? 40 : 20), word, big),
                                         .code = rec_elf_field(p + (wide ? 4 : 24), 4, big) & PF_X};
    }
    return found;
}
