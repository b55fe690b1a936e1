/*
 * symbols.c - addresses to names, from the symbol tables of ELF files, through libelf.
 *
 * Implements trod/symbols.h; document: System V ABI, "Symbol Table". Mapping symbols ($a, $t, $d,
 * $x of the ELF for the Arm architecture) are no names. Lines of source: lines.c.
 */
#include "trod/symbols.h"

#include "core/grow.h"
#include "core/reason.h"
#include "isa/functions.h"
#include "isa/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trod/option.h"
#include "trod_config.h"

#if TROD_HAVE_ELF
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>
#endif

enum { FUNCTION = 8 }; /* ranks of functions begin here */

struct symbol {
    uint64_t at, end; /* addresses in the trace; end 0: to be found */
    uint64_t limit;   /* end of its section */
    size_t name;      /* in names */
    uint8_t rank;     /* of several at an address the highest is shown */
};

struct raw {
    uint64_t at, size;
    size_t name;
};

struct trod_symbols {
    struct symbol *list;
    size_t n, cap;
    char *names;
    size_t names_n, names_cap;
    size_t last; /* found last: neighbours ask for the same */
    bool sorted;
    struct trod_line_files files;
    struct symbol *function; /* by address, one of each */
    size_t n_functions;
    struct raw *raw; /* all, in the order of the tables */
    size_t n_raw, cap_raw;
};

int trod_symbols_new(struct trod_symbols **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : TROD_ERR_NOMEM;
}

void trod_symbols_free(struct trod_symbols *s)
{
    if (!s)
        return;
    free(s->list);
    free(s->function);
    free(s->raw);
    free(s->names);
    trod_line_files_free(&s->files);
    free(s);
}

size_t trod_symbols_count(const struct trod_symbols *s)
{
    return s->n;
}

static int by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

#if TROD_HAVE_ELF

static int add_symbol(struct trod_symbols *s, const struct symbol *symbol, const char *name)
{
    size_t len = strlen(name) + 1;

    if (!trod_grow(&s->list, s->n, &s->cap, sizeof *s->list, 1024) ||
        !trod_grow(&s->raw, s->n_raw, &s->cap_raw, sizeof *s->raw, 1024))
        return TROD_ERR_NOMEM;
    if (s->names_n + len > s->names_cap) {
        size_t cap = s->names_cap ? 2 * s->names_cap + len : 65536 + len;
        char *p = realloc(s->names, cap);

        if (!p)
            return TROD_ERR_NOMEM;
        s->names = p;
        s->names_cap = cap;
    }
    s->list[s->n] = *symbol;
    s->list[s->n++].name = s->names_n;
    s->raw[s->n_raw++] =
        (struct raw){symbol->at, symbol->end ? symbol->end - symbol->at : 0, s->names_n};
    memcpy(s->names + s->names_n, name, len);
    s->names_n += len;
    return 0;
}

/* $a, $t.1, $d, $x: where code and data begin, not what they are called. */
static bool is_mapping(const char *name)
{
    return name[0] == '$' && name[1] && strchr("atdx", name[1]) && (!name[2] || name[2] == '.');
}

static bool wanted(const GElf_Sym *sym, const char *name)
{
    unsigned type = GELF_ST_TYPE(sym->st_info);

    return name && name[0] && !is_mapping(name) && sym->st_shndx != SHN_UNDEF &&
           sym->st_shndx < SHN_LORESERVE &&
           (type == STT_FUNC || type == STT_NOTYPE || type == STT_OBJECT || type == STT_GNU_IFUNC);
}

static uint8_t rank_of(const GElf_Sym *sym)
{
    unsigned type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);

    return (uint8_t)((type == STT_FUNC || type == STT_GNU_IFUNC ? FUNCTION
                      : type == STT_OBJECT                      ? 4
                                                                : 0) +
                     (sym->st_size ? 2 : 0) + (bind == STB_GLOBAL ? 1 : 0));
}

static int add_section(struct trod_symbols *s, Elf *elf, Elf_Scn *scn, const GElf_Shdr *header,
                       unsigned machine, uint64_t slide)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t n = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

    for (size_t i = 1; i < n && i < INT32_MAX; i++) {
        GElf_Sym sym;
        GElf_Shdr in;
        struct symbol symbol = {0};
        const char *name;
        int r;

        if (!gelf_getsym(data, (int)i, &sym))
            break;
        name = elf_strptr(elf, header->sh_link, sym.st_name);
        if (!wanted(&sym, name))
            continue;
        if (!gelf_getshdr(elf_getscn(elf, sym.st_shndx), &in) || !(in.sh_flags & SHF_ALLOC))
            continue;
        /* bit 0 of a function's address says Thumb */
        if (machine == EM_ARM && GELF_ST_TYPE(sym.st_info) == STT_FUNC)
            sym.st_value &= ~(uint64_t)1;
        symbol.at = sym.st_value + slide;
        symbol.end = sym.st_size ? symbol.at + sym.st_size : 0;
        symbol.limit = in.sh_addr + in.sh_size + slide;
        symbol.rank = rank_of(&sym);
        r = add_symbol(s, &symbol, name);
        if (r != 0)
            return r;
    }
    return 0;
}

/* The symbol table, or the dynamic one of a stripped file. */
static int add_tables(struct trod_symbols *s, Elf *elf, unsigned machine, uint64_t slide)
{
    static const unsigned types[] = {SHT_SYMTAB, SHT_DYNSYM};
    size_t before = s->n;

    for (size_t t = 0; t < 2 && s->n == before; t++) {
        Elf_Scn *scn = NULL;

        while ((scn = elf_nextscn(elf, scn)) != NULL) {
            GElf_Shdr header;
            int r;

            if (!gelf_getshdr(scn, &header) || header.sh_type != types[t])
                continue;
            r = add_section(s, elf, scn, &header, machine, slide);
            if (r != 0)
                return r;
        }
    }
    return 0;
}

/* Address of the first loadable segment as the file has it, and behind the last one. */
static uint64_t first_address(Elf *elf, uint64_t *end)
{
    uint64_t least = UINT64_MAX;
    size_t n = 0;

    *end = 0;
    if (elf_getphdrnum(elf, &n) != 0)
        return 0;
    for (size_t i = 0; i < n && i < INT32_MAX; i++) {
        GElf_Phdr p;

        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD)
            continue;
        least = p.p_vaddr < least ? p.p_vaddr : least;
        *end = p.p_vaddr + p.p_memsz > *end ? p.p_vaddr + p.p_memsz : *end;
    }
    return least == UINT64_MAX ? 0 : least;
}

static int add_file(struct trod_symbols *s, int fd, const char *path, bool moved, uint64_t load,
                    struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(path);
    size_t before = s->n;
    uint64_t first, end, slide;
    GElf_Ehdr header;
    Elf *elf;
    int r = TROD_ERR_CORRUPT;

    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) {
        trod_error(diag, r, "symbols.elf", &at, "no ELF file, or a damaged one");
    } else {
        first = first_address(elf, &end);
        slide = moved ? load - first : 0;
        r = add_tables(s, elf, header.e_machine, slide);
        if (r == 0)
            r = trod_line_files_add(&s->files, path, first + slide, end + slide, slide);
        if (r == 0)
            s->files.at[s->files.n - 1].unplaced = !moved && header.e_type == ET_DYN;
    }
    elf_end(elf);
    if (r == 0 && s->n == before)
        trod_warning(diag, TROD_OK, "symbols.none", &at, "no symbols in this file");
    return r;
}

/* Split "PATH@ADDRESS"; a path may contain '@'. */
static int split_spec(char *path, bool *moved, uint64_t *load, struct trod_diag *diag)
{
    char *sign = strrchr(path, '@');

    *moved = false;
    *load = 0;
    if (!sign || access(path, R_OK) == 0)
        return 0;
    if (trod_option_number(sign + 1, load) != 0)
        return trod_error(diag, TROD_ERR_USAGE, "symbols.address", NULL,
                          "'%s' is no load address of '%.*s'", sign + 1, (int)(sign - path), path);
    *moved = true;
    *sign = 0;
    return 0;
}

static bool is_list(int fd)
{
    static const char begin[] = "Module Table: version";
    char head[sizeof begin - 1];

    return pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
           memcmp(head, begin, sizeof head) == 0;
}

static int add_list(struct trod_symbols *s, const char *path, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(path);
    size_t added;
    const int r = trod_symbols_modules(s, path, &added, diag);

    if (r == 0 && added == 0)
        trod_warning(diag, TROD_OK, "symbols.none", &at,
                     "none of the files in this list of modules is there as it was");
    return r;
}

/* The functions of the list from FIRST on, among those there are. */
static int add_functions(struct trod_symbols *s, size_t first)
{
    const size_t most = s->n_functions + (s->n - first);
    struct symbol *p = most ? realloc(s->function, most * sizeof *p) : NULL;
    size_t n = 0;

    if (!p)
        return most ? TROD_ERR_NOMEM : 0;
    s->function = p;
    for (size_t i = first; i < s->n; i++)
        if (s->list[i].rank >= FUNCTION)
            p[s->n_functions++] = s->list[i];
    if (s->n_functions == 0)
        return 0;
    qsort(p, s->n_functions, sizeof *p, by_address);
    for (size_t i = 0; i < s->n_functions; i++)
        if (n == 0 || p[n - 1].at != p[i].at)
            p[n++] = p[i];
    s->n_functions = n;
    for (size_t i = 0; i < n; i++) {
        const uint64_t after = i + 1 < n ? p[i + 1].at : UINT64_MAX;

        if (p[i].end == 0)
            p[i].end = p[i].limit;
        if (after < p[i].end)
            p[i].end = after;
    }
    return 0;
}

int trod_symbols_add(struct trod_symbols *s, const char *spec, struct trod_diag *diag)
{
    const size_t first = s->n;
    char *path = malloc(strlen(spec) + 1);
    struct trod_place at;
    char why[TROD_REASON];
    bool moved;
    uint64_t load;
    int fd, r;

    if (!path)
        return TROD_ERR_NOMEM;
    memcpy(path, spec, strlen(spec) + 1);
    r = split_spec(path, &moved, &load, diag);
    at = trod_place_path(path);
    if (r == 0) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            r = trod_error(diag, TROD_ERR_IO, "symbols.open", &at, "cannot be opened: %s",
                           trod_reason(errno, why));
        } else if (is_list(fd)) {
            r = add_list(s, path, diag);
            close(fd);
        } else {
            r = add_file(s, fd, path, moved, load, diag);
            close(fd);
            if (r == 0)
                r = add_functions(s, first);
        }
    }
    if (r == TROD_ERR_NOMEM)
        trod_error(diag, r, "symbols.memory", &at, "out of memory");
    s->sorted = false;
    free(path);
    return r;
}

#else

int trod_symbols_add(struct trod_symbols *s, const char *spec, struct trod_diag *diag)
{
    (void)s;
    return trod_error(diag, TROD_ERR_UNSUPPORTED, "symbols.unsupported", NULL,
                      "symbols of '%s' cannot be read: this trod was built without libelf", spec);
}

#endif

/*
 * Sort, keep the best of each address, drop labels inside functions (what is wanted is function and
 * offset), give ends to those without a size.
 */
static void sort(struct trod_symbols *s)
{
    uint64_t function_end = 0;
    size_t n = 0;

    s->sorted = true;
    s->last = 0;
    if (s->n == 0)
        return;
    qsort(s->list, s->n, sizeof *s->list, by_address);
    for (size_t i = 0; i < s->n; i++) {
        const struct symbol *x = &s->list[i];

        if ((n > 0 && s->list[n - 1].at == x->at) || (x->rank < 4 && x->at < function_end))
            continue;
        if (x->rank >= FUNCTION && x->end > function_end)
            function_end = x->end;
        s->list[n++] = *x;
    }
    s->n = n;
    for (size_t i = 0; i < n; i++) {
        if (s->list[i].end == 0) {
            s->list[i].end = s->list[i].limit;
            if (i + 1 < n && s->list[i + 1].at < s->list[i].end)
                s->list[i].end = s->list[i + 1].at;
        }
    }
}

bool trod_symbols_find(struct trod_symbols *s, uint64_t address, const char **name,
                       uint64_t *offset)
{
    size_t lo = 0, hi;

    if (!s->sorted)
        sort(s);
    if (s->n == 0)
        return false;
    /* the symbol found last, as long as no other begins inside it */
    if (address >= s->list[s->last].at &&
        (s->last + 1 == s->n || address < s->list[s->last + 1].at)) {
        lo = s->last;
    } else {
        for (hi = s->n; hi - lo > 1;) {
            size_t mid = lo + (hi - lo) / 2;

            if (s->list[mid].at <= address)
                lo = mid;
            else
                hi = mid;
        }
    }
    s->last = lo;
    if (address < s->list[lo].at || address >= s->list[lo].end)
        return false;
    *name = s->names + s->list[lo].name;
    *offset = address - s->list[lo].at;
    return true;
}

/* How many functions begin at or before ADDRESS. */
static size_t functions_to(const struct trod_symbols *s, uint64_t address)
{
    size_t lo = 0, hi = s->n_functions;

    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;

        if (s->function[mid].at <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void range_of(const struct trod_symbols *s, size_t i, struct trod_symbol_range *out)
{
    *out = (struct trod_symbol_range){s->function[i].at, s->function[i].end,
                                      s->names + s->function[i].name};
}

bool trod_symbols_function(const struct trod_symbols *s, uint64_t address,
                           struct trod_symbol_range *out)
{
    const size_t n = functions_to(s, address);

    if (n == 0 || address >= s->function[n - 1].end)
        return false;
    range_of(s, n - 1, out);
    return true;
}

bool trod_symbols_function_after(const struct trod_symbols *s, uint64_t address,
                                 struct trod_symbol_range *out)
{
    const size_t n = functions_to(s, address);

    if (n == s->n_functions)
        return false;
    range_of(s, n, out);
    return true;
}

int trod_symbols_of_functions(struct trod_symbols **out, const struct trod_symbol_range *at,
                              size_t n)
{
    struct trod_symbols *s;
    int rc = trod_symbols_new(out);

    if (rc < 0)
        return rc;
    s = *out;
    s->names = calloc(1, 1);
    s->function = calloc(n + 1, sizeof *s->function);
    s->sorted = true;
    if (!s->names || !s->function)
        return TROD_ERR_NOMEM;
    for (; s->n_functions < n; s->n_functions++)
        s->function[s->n_functions] =
            (struct symbol){.at = at[s->n_functions].begin, .end = at[s->n_functions].end};
    return TROD_OK;
}

bool trod_symbols_raw(const struct trod_symbols *s, size_t i, struct trod_symbol_raw *out)
{
    if (i >= s->n_raw)
        return false;
    *out = (struct trod_symbol_raw){s->raw[i].at, s->raw[i].size, s->names + s->raw[i].name};
    return true;
}

bool trod_symbols_file(const struct trod_symbols *s, uint64_t address, const char **path)
{
    return trod_line_files_find(&s->files, address, path);
}

bool trod_symbols_line(struct trod_symbols *s, uint64_t address, const char **file, uint32_t *line)
{
    return trod_line_files_line(&s->files, address, file, line);
}

size_t trod_symbols_named(const struct trod_symbols *s, const char *name, uint64_t *addresses,
                          size_t max)
{
    size_t n = 0, k;

    for (size_t i = 0; i < s->n && n < max; i++) {
        if (strcmp(s->names + s->list[i].name, name) != 0)
            continue;
        for (k = 0; k < n && addresses[k] != s->list[i].at; k++)
            ;
        if (k == n)
            addresses[n++] = s->list[i].at;
    }
    return n;
}

bool trod_symbols_address(struct trod_symbols *s, const char *name, uint64_t *address,
                          uint64_t *size)
{
    if (!s->sorted)
        sort(s);
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->names + s->list[i].name, name) == 0) {
            *address = s->list[i].at;
            *size = s->list[i].end - s->list[i].at;
            return true;
        }
    }
    return false;
}

bool trod_symbols_at(struct trod_symbols *s, size_t i, const char **name, uint64_t *address,
                     uint64_t *size)
{
    if (!s->sorted)
        sort(s);
    if (i >= s->n)
        return false;
    *name = s->names + s->list[i].name;
    *address = s->list[i].at;
    *size = s->list[i].end - s->list[i].at;
    return true;
}

bool trod_symbols_module(const struct trod_symbols *s, size_t i, const char **path, uint64_t *from,
                         uint64_t *to)
{
    if (i >= s->files.n)
        return false;
    *path = s->files.at[i].path;
    *from = s->files.at[i].from;
    *to = s->files.at[i].to;
    return true;
}

bool trod_symbols_unplaced(const struct trod_symbols *s, size_t i)
{
    return i < s->files.n && s->files.at[i].unplaced;
}

bool trod_symbols_placed(const struct trod_symbols *s)
{
    for (size_t i = 0; s && i < s->files.n; i++)
        if (s->files.at[i].unplaced)
            return false;
    return true;
}

int trod_symbols_lines(struct trod_symbols *s,
                       int (*each)(void *user, uint64_t address, const char *file, uint32_t line),
                       void *user)
{
    return trod_line_files_each(&s->files, each, user);
}
