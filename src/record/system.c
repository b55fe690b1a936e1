/*
 * system.c - whole machines: which QEMU, and how it is called.
 *
 * Implements docs/recording.md, "Whole systems". Reads of an image no more than the ELF header.
 */
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "qemu-system-";

static const struct {
    unsigned machine, class; /* of the ELF header */
    const char *package;
    struct rec_target t;
} systems[] = {
    {3,
     1,
     "qemu-system-x86",
     {.isa_name = "i386",
      .qemu = "qemu-system-i386",
      .isa = TROD_ISA_X86_32,
      .endian = TROD_ENDIAN_LITTLE,
      .plain = REC_X86,
      .addr_bits = 32,
      .system = true}},
    {183,
     2,
     "qemu-system-arm",
     {.isa_name = "aarch64",
      .qemu = "qemu-system-aarch64",
      .isa = TROD_ISA_A64,
      .endian = TROD_ENDIAN_LITTLE,
      .plain = REC_A64,
      .addr_bits = 64,
      .system = true}},
    {40,
     1,
     "qemu-system-arm",
     {.isa_name = "arm",
      .qemu = "qemu-system-arm",
      .isa = TROD_ISA_ARM,
      .endian = TROD_ENDIAN_LITTLE,
      .plain = REC_ARM,
      .addr_bits = 32,
      .system = true}},
};

enum { SYSTEMS = sizeof systems / sizeof *systems };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool rec_system_wanted(const struct trod_record_options *opt)
{
    return opt->system ||
           (opt->qemu && strncmp(base_name(opt->qemu), prefix, sizeof prefix - 1) == 0);
}

/* The machine that QEMU is for, SYSTEMS: none that is known. */
static size_t by_name(const char *qemu)
{
    size_t i = 0;

    while (i < SYSTEMS && strcmp(base_name(qemu), systems[i].t.qemu) != 0)
        i++;
    return i;
}

/* What the image PATH is for; no ELF file: a disk of the first one. */
static int by_image(const char *path, size_t *found, struct trod_record_target *info,
                    struct trod_diag *diag)
{
    uint8_t head[20] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    const unsigned machine = head[18] | (unsigned)head[19] << 8;

    if (fd >= 0)
        close(fd);
    if (n < 0)
        return trod_error(diag, TROD_ERR_USAGE, "record.program", NULL, "cannot read '%s': %s",
                          path, strerror(errno));
    snprintf(info->program, sizeof info->program, "%s", path);
    info->image = true;
    info->elf = n == sizeof head && memcmp(head, "\177ELF", 4) == 0;
    if (*found < SYSTEMS)
        return TROD_OK;
    for (*found = 0; info->elf && *found < SYSTEMS; ++*found)
        if (systems[*found].machine == machine && systems[*found].class == head[4] && head[5] == 1)
            break;
    if (*found < SYSTEMS)
        return TROD_OK;
    return trod_error(
        diag, TROD_ERR_UNSUPPORTED, "record.isa", NULL,
        "'%s' is for machine %u (ELF e_machine, %s bits), of which no whole system can "
        "be recorded: those of i386, aarch64 and arm can",
        path, machine, head[4] == 2 ? "64" : "32");
}

int rec_system_of(char *const argv[], const struct trod_record_options *opt,
                  const struct rec_target **t, struct trod_record_target *info,
                  struct trod_diag *diag)
{
    size_t i = opt->qemu ? by_name(opt->qemu) : SYSTEMS;
    int rc;

    if (opt->qemu && i == SYSTEMS)
        return trod_error(diag, TROD_ERR_UNSUPPORTED, "record.qemu", NULL,
                          "'%s' is none of the machines that can be recorded: qemu-system-i386, "
                          "qemu-system-aarch64, qemu-system-arm",
                          opt->qemu);
    info->system = true;
    if (opt->system && (rc = by_image(argv[0], &i, info, diag)) < 0)
        return rc;
    *t = &systems[i].t;
    info->isa = (*t)->isa_name;
    info->package = systems[i].package;
    if (rec_look_up(opt->qemu ? opt->qemu : (*t)->qemu, info->qemu, sizeof info->qemu))
        return TROD_OK;
    if (opt->qemu)
        return trod_error(diag, TROD_ERR_USAGE, "record.qemu", NULL, "'%s' is no program",
                          opt->qemu);
    return trod_error(diag, TROD_ERR_UNSUPPORTED, "record.qemu", NULL,
                      "'%s' is missing, which is a whole %s machine: install the package %s, or "
                      "name a QEMU with --native",
                      (*t)->qemu, (*t)->isa_name, info->package);
}

/* Is one of the options A, B, C in ARGV? QEMU takes them with one hyphen or two. */
static bool given(char *const argv[], const char *a, const char *b, const char *c)
{
    const char *const names[] = {a, b, c};

    for (size_t i = 1; argv[i]; i++)
        for (size_t k = 0; k < 3; k++)
            if (argv[i][0] == '-' && names[k] &&
                strcmp(argv[i] + 1 + (argv[i][1] == '-'), names[k]) == 0)
                return true;
    return false;
}

size_t rec_system_words(const struct trod_record_target *info, char *const argv[], char **words)
{
    const bool arm = strcmp(info->isa, "i386") != 0;
    const struct {
        bool wanted;
        const char *option, *value;
    } all[] = {
        {arm && !given(argv, "M", "machine", NULL), "-M", "virt"},
        {strcmp(info->isa, "aarch64") == 0 && !given(argv, "cpu", NULL, NULL), "-cpu", "max"},
        {arm && !given(argv, "semihosting", "semihosting-config", NULL), "-semihosting", NULL},
        {!given(argv, "display", "nographic", NULL), "-display", "none"},
        {!given(argv, "serial", "nographic", NULL), "-serial", "stdio"},
        {!given(argv, "monitor", "nographic", NULL), "-monitor", "none"},
        {!given(argv, "no-reboot", "action", NULL), "-no-reboot", NULL},
        {!given(argv, "net", "nic", "netdev"), "-nic", "none"},
        {true, info->elf ? "-kernel" : "-hda", info->program},
    };
    size_t n = 0;

    if (!info->image)
        return 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i].wanted)
            continue;
        words[n++] = (char *)(uintptr_t)all[i].option;
        if (all[i].value)
            words[n++] = (char *)(uintptr_t)all[i].value;
    }
    return n;
}
