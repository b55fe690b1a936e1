/*
 * nav_symbols.h - functions that random programs (nav_calls.h) go through, as an ELF file, for
 * tests.
 */
#ifndef NAV_SYMBOLS_H
#define NAV_SYMBOLS_H

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gen.h"
#include "testlib.h"
#include "trod/symbols.h"

enum { NAV_FUNCTIONS = 12 };

/* An executable for AArch64 of N functions SYM, as a file, PATH (System V ABI, "Object Files"). */
static inline void save_elf(const char *path, const Elf64_Sym *sym, size_t n)
{
    static const char names[] = "\0f";
    struct {
        Elf64_Ehdr head;
        Elf64_Phdr load;
        Elf64_Shdr section[4];
        Elf64_Sym sym[1 + NAV_FUNCTIONS];
        char names[sizeof names];
    } file = {
        .head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                             EV_CURRENT},
                 .e_type = ET_EXEC,
                 .e_machine = EM_AARCH64,
                 .e_version = EV_CURRENT,
                 .e_ehsize = sizeof(Elf64_Ehdr),
                 .e_phentsize = sizeof(Elf64_Phdr),
                 .e_phnum = 1,
                 .e_shentsize = sizeof(Elf64_Shdr),
                 .e_shnum = 4},
        .load = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x1000, .p_memsz = 0x2000},
        .section = {{.sh_type = SHT_NULL},
                    {.sh_type = SHT_NOBITS,
                     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                     .sh_addr = 0x1000,
                     .sh_size = 0x2000},
                    {.sh_type = SHT_SYMTAB, .sh_link = 3, .sh_entsize = sizeof(Elf64_Sym)},
                    {.sh_type = SHT_STRTAB, .sh_size = sizeof names}},
    };

    file.head.e_phoff = (size_t)((char *)&file.load - (char *)&file);
    file.head.e_shoff = (size_t)((char *)file.section - (char *)&file);
    file.section[2].sh_offset = (size_t)((char *)file.sym - (char *)&file);
    file.section[2].sh_size = (1 + n) * sizeof *sym;
    file.section[3].sh_offset = (size_t)(file.names - (char *)&file);
    memcpy(file.names, names, sizeof names);
    memcpy(file.sym + 1, sym, n * sizeof *sym);
    test_save(path, &file, sizeof file);
}

/* Random functions where wild_program goes, written to PATH. Skips where trod cannot read them. */
static inline struct trod_symbols *random_functions(struct trod_gen *g, const char *path)
{
    Elf64_Sym sym[NAV_FUNCTIONS];
    struct trod_symbols *s;
    uint64_t at = 0x1000;
    size_t n = 0;
    int rc;

    memset(sym, 0, sizeof sym);
    for (; n < NAV_FUNCTIONS && at < 0x14a0; n++) {
        const uint64_t size = 4 + 4 * gen_below(g, 24);

        sym[n] = (Elf64_Sym){.st_name = 1,
                             .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                             .st_shndx = 1,
                             .st_value = at,
                             .st_size = size};
        at += size + (gen_below(g, 4) == 0 ? 8 : 0);
        at = at >= 0x10a0 && at < 0x1400 ? 0x1400 : at;
    }
    save_elf(path, sym, n);
    assert_int_equal(trod_symbols_new(&s), 0);
    rc = trod_symbols_add(s, path, NULL);
    if (rc == TROD_ERR_UNSUPPORTED) {
        trod_symbols_free(s);
        return NULL;
    }
    assert_int_equal(rc, 0);
    assert_int_equal(trod_symbols_count(s), n);
    return s;
}

#endif
