/*
 * target.c - what a program is: its file, its instruction set, the QEMU that runs it.
 *
 * Implements docs/recording.md, "Which programs". Reads the ELF header and the name of the
 * interpreter ("System V ABI", chapters 4 and 5), nothing more.
 */
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEAD = 4096,
    PATH_BYTES = 4096,
    SEGMENTS = 16,
};

/* e_machine, class (1: 32 bits, 2: 64), data (1: little-endian, 2: big) and what belongs to it. */
static const struct {
    uint16_t machine;
    uint8_t class, data;
    struct rec_target t;
} targets[] = {
    {62,
     2,
     1,
     {"x86-64",
      "qemu-x86_64",
      "x86_64-linux-gnu",
      TROD_ISA_X86_64,
      TROD_ENDIAN_LITTLE,
      REC_X86_64,
      64,
      {59, 322, 231},
      false}},
    {3,
     1,
     1,
     {"i386",
      "qemu-i386",
      "i686-linux-gnu",
      TROD_ISA_X86_32,
      TROD_ENDIAN_LITTLE,
      REC_X86,
      32,
      {11, 358, 252},
      false}},
    {183,
     2,
     1,
     {"aarch64",
      "qemu-aarch64",
      "aarch64-linux-gnu",
      TROD_ISA_A64,
      TROD_ENDIAN_LITTLE,
      REC_A64,
      64,
      {221, 281, 94},
      false}},
    {40,
     1,
     1,
     {"arm",
      "qemu-arm",
      "arm-linux-gnueabihf",
      TROD_ISA_ARM,
      TROD_ENDIAN_LITTLE,
      REC_ARM,
      32,
      {11, 387, 248},
      false}},
    {20,
     1,
     2,
     {"powerpc",
      "qemu-ppc",
      "powerpc-linux-gnu",
      TROD_ISA_PPC32,
      TROD_ENDIAN_BIG,
      REC_PPC,
      32,
      {11, 362, 234},
      false}},
    {8,
     1,
     2,
     {"mips",
      "qemu-mips",
      "mips-linux-gnu",
      TROD_ISA_MIPS32,
      TROD_ENDIAN_BIG,
      REC_MIPS,
      32,
      {4011, 4356, 4246},
      false}},
    {8,
     1,
     1,
     {"mipsel",
      "qemu-mipsel",
      "mipsel-linux-gnu",
      TROD_ISA_MIPS32,
      TROD_ENDIAN_LITTLE,
      REC_MIPSEL,
      32,
      {4011, 4356, 4246},
      false}},
};

static bool is_program(const char *path)
{
    struct stat st;

    return access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Why ARGV[0] cannot be run. */
static int not_found(const char *name, struct trod_diag *diag)
{
    struct stat st;

    if (!strchr(name, '/') || stat(name, &st) != 0)
        return trod_error(diag, TROD_ERR_USAGE, "record.program", NULL,
                          "'%s' is no program that can be found", name);
    if (!S_ISREG(st.st_mode))
        return trod_error(diag, TROD_ERR_USAGE, "record.program", NULL, "'%s' is %s, no program",
                          name, S_ISDIR(st.st_mode) ? "a folder" : "not a regular file");
    return trod_error(diag, TROD_ERR_USAGE, "record.program", NULL,
                      "'%s' is not executable: chmod +x makes it so", name);
}

/* NAME as a shell finds it. False: not there. */
bool rec_look_up(const char *name, char *out, size_t n)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return snprintf(out, n, "%s", name) < (int)n && is_program(out);
    for (path = path ? path : "/bin:/usr/bin"; *path;) {
        size_t len = strcspn(path, ":");

        if (snprintf(out, n, "%.*s%s%s", (int)len, path, len ? "/" : "", name) < (int)n &&
            is_program(out))
            return true;
        path += len + (path[len] == ':');
    }
    return false;
}

/* First bytes of PATH. Returns their number or an error, reported. */
static int read_head(const char *path, uint8_t *head, size_t n, struct trod_diag *diag)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, head, n);

    if (fd >= 0)
        close(fd);
    if (got < 0)
        return trod_error(diag, TROD_ERR_USAGE, "record.program", NULL, "cannot read '%s': %s",
                          path, strerror(errno));
    return (int)got;
}

/* The interpreter (PT_INTERP) that the ELF header HEAD names, if it lies in what was read. */
static const char *loader_of(const uint8_t *head, size_t n)
{
    const bool wide = head[4] == 2, big = head[5] == 2;
    const size_t size = wide ? 56 : 32;
    uint64_t at = wide ? rec_elf_field(head + 32, 8, big) : rec_elf_field(head + 28, 4, big);
    uint64_t count = rec_elf_field(head + (wide ? 56 : 44), 2, big);

    for (uint64_t i = 0; i < count && at + (i + 1) * size <= n; i++) {
        const uint8_t *p = head + at + i * size;
        uint64_t from = wide ? rec_elf_field(p + 8, 8, big) : rec_elf_field(p + 4, 4, big);

        if (rec_elf_field(p, 4, big) == 3 && from < n && memchr(head + from, '\0', n - from))
            return (const char *)head + from;
    }
    return NULL;
}

/* The address of the first executable segment of PATH, as it was linked; 0: unknown. */
static uint64_t code_of(const char *path)
{
    struct rec_segment_of_file s[SEGMENTS];
    const size_t n = rec_elf_segments(path, s, SEGMENTS);
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < n; i++)
        if (s[i].code && s[i].address < least)
            least = s[i].address;
    return least == UINT64_MAX ? 0 : least;
}

/* A folder with the loader of a program of another machine than this one. */
static void find_sysroot(const struct rec_target *t, const char *loader, char *out, size_t n)
{
    char path[PATH_BYTES];

    out[0] = '\0';
    if (!loader || getenv("QEMU_LD_PREFIX") || access(loader, R_OK) == 0)
        return;
    snprintf(path, sizeof path, "/usr/%s%s", t->triplet, loader);
    if (access(path, R_OK) == 0)
        snprintf(out, n, "/usr/%s", t->triplet);
}

/* "#!INTERPRETER [ARGUMENT]": LINE gets its words and PROGRAM the interpreter. */
static int follow_script(uint8_t *head, size_t n, char *program, char *line[REC_LINE],
                         struct trod_diag *diag)
{
    char *p = (char *)head + 2, *end, *word, *rest;

    head[n < HEAD ? n : HEAD - 1] = '\0';
    end = strpbrk(p, "\r\n");
    if (end)
        *end = '\0';
    word = p + strspn(p, " \t");
    rest = word + strcspn(word, " \t");
    if (*rest) {
        *rest++ = '\0';
        rest += strspn(rest, " \t");
    }
    if (line[0])
        return trod_error(diag, TROD_ERR_UNSUPPORTED, "record.script", NULL,
                          "'%s' is a script whose interpreter is a script", program);
    line[0] = strdup(word);
    line[1] = *rest ? strdup(rest) : strdup(program);
    line[2] = *rest ? strdup(program) : NULL;
    if (!line[0] || !line[1] || (*rest && !line[2]))
        return TROD_ERR_NOMEM;
    if (!rec_look_up(word, program, PATH_BYTES))
        return trod_error(diag, TROD_ERR_USAGE, "record.program", NULL,
                          "interpreter '%s' of the script '%s' is not there", word,
                          line[2] ? line[2] : line[1]);
    return TROD_OK;
}

static int find_qemu(const struct rec_target *t, const struct trod_record_options *opt,
                     struct trod_record_target *info, struct trod_diag *diag)
{
    const char *name = opt->qemu ? opt->qemu : t->qemu, *dir = getenv("TROD_QEMU_DIR");

    if (!opt->qemu && dir && *dir &&
        snprintf(info->qemu, sizeof info->qemu, "%s/%s", dir, t->qemu) < (int)sizeof info->qemu &&
        is_program(info->qemu))
        return TROD_OK;
    if (rec_look_up(name, info->qemu, sizeof info->qemu))
        return TROD_OK;
    if (opt->qemu)
        return trod_error(diag, TROD_ERR_USAGE, "record.qemu", NULL, "'%s' is no program",
                          opt->qemu);
    return trod_error(
        diag, TROD_ERR_UNSUPPORTED, "record.qemu", NULL,
        "'%s' is missing, which runs %s programs: install the package %s (dynamically "
        "linked: Debian 12 has it), or name a QEMU with --native",
        t->qemu, t->isa_name, info->package);
}

static int match(const uint8_t *head, size_t n, const char *program, const struct rec_target **t,
                 struct trod_diag *diag)
{
    unsigned machine;

    if (n < 64 || memcmp(head, "\177ELF", 4) != 0)
        return trod_error(diag, TROD_ERR_UNSUPPORTED, "record.not-elf", NULL,
                          "'%s' is neither an ELF program nor a script", program);
    machine = (unsigned)rec_elf_field(head + 18, 2, head[5] == 2);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (targets[i].machine == machine && targets[i].class == head[4] &&
            targets[i].data == head[5]) {
            *t = &targets[i].t;
            return TROD_OK;
        }
    return trod_error(
        diag, TROD_ERR_UNSUPPORTED, "record.isa", NULL,
        "'%s' is a program for machine %u (ELF e_machine, %s, %s-endian), which cannot "
        "be recorded",
        program, machine, head[4] == 2 ? "64 bits" : "32 bits", head[5] == 2 ? "big" : "little");
}

int rec_target_of(char *const argv[], const struct trod_record_options *opt,
                  const struct rec_target **t, struct trod_record_target *info,
                  char *line[REC_LINE], struct trod_diag *diag)
{
    uint8_t head[HEAD];
    int n, rc = TROD_OK;

    if (!rec_look_up(argv[0], info->program, sizeof info->program))
        return not_found(argv[0], diag);
    for (;;) {
        n = read_head(info->program, head, sizeof head, diag);
        if (n < 0)
            return n;
        if (n < 2 || memcmp(head, "#!", 2) != 0)
            break;
        rc = follow_script(head, (size_t)n, info->program, line, diag);
        if (rc < 0)
            return rc;
    }
    rc = match(head, (size_t)n, info->program, t, diag);
    if (rc < 0)
        return rc;
    info->isa = (*t)->isa_name;
    info->code = code_of(info->program);
    info->package = "qemu-user";
    info->dynamic = loader_of(head, (size_t)n) != NULL;
    if (opt->sysroot)
        snprintf(info->sysroot, sizeof info->sysroot, "%s", opt->sysroot);
    else
        find_sysroot(*t, loader_of(head, (size_t)n), info->sysroot, sizeof info->sysroot);
    return find_qemu(*t, opt, info, diag);
}
