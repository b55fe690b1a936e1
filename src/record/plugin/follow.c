/*
 * follow.c - programs that the program executes: QEMU is started with the plugin for them as well.
 *
 * Implements follow.h and docs/recording.md, "Programs that are executed"; execve(2), System V ABI,
 * chapter 4. QEMU hands execve to the system, which knows nothing of the recording. So the call is
 * made here, for a QEMU of its own, before QEMU makes it. What cannot be recorded is left to QEMU
 * and counted.
 */
#define _GNU_SOURCE /* process_vm_readv, AT_EMPTY_PATH */
#include "record/plugin/follow.h"

#include "record/plugin/collect.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    HEAD = 256,    /* bytes of a script that the system looks at */
    NESTED = 5,    /* scripts whose interpreters are scripts */
    EXTRA = 32,    /* words of QEMU's command line beside the program's own */
    ROOM = 1 << 28 /* addresses for arguments and environment; more than the system takes */
};

/* Memory that is only taken. */
struct room {
    char *p, *end;
};

struct call {
    struct room room;
    char *path;
    char **argv, **envp;
    size_t argc;
    char *words[EXTRA]; /* of interpreters, in front of ARGV + 1 */
    size_t n_words;
    char link[REC_PATH], line[NESTED][HEAD];
};

static _Thread_local uint32_t pending; /* 1 + the entry of the program that is counted */

enum { UNNAMED = REC_LOSSES + 1 };

/* --- the program's memory --- */

static void *take(struct room *m, size_t n)
{
    char *p = m->p;

    n = (n + 7) & ~(size_t)7;
    if (n > (size_t)(m->end - m->p))
        return NULL;
    m->p += n;
    return p;
}

static bool read_bytes(uint64_t address, void *to, size_t n)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): the program's memory is part of QEMU's */
    struct iovec here = {to, n}, there = {(void *)(collect_host_base() + address), n};

    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n;
}

static char *read_string(struct room *m, uint64_t address)
{
    char *s = m->p;
    size_t n = 0;

    for (;;) {
        const size_t more = PAGE - (address + n) % PAGE;

        if (more > (size_t)(m->end - s) - n || !read_bytes(address + n, s + n, more))
            return NULL;
        if (memchr(s + n, '\0', more))
            return take(m, strlen(s) + 1) ? s : NULL;
        n += more;
    }
}

static bool read_pointer(uint64_t address, uint64_t i, uint64_t *to)
{
    const bool wide = collect_shared->follow.head[4] == 2,
               big = collect_shared->follow.head[5] == 2;
    const size_t n = wide ? 8 : 4;
    uint8_t b[8];

    if (!read_bytes(address + i * n, b, n))
        return false;
    *to = 0;
    for (size_t k = 0; k < n; k++)
        *to |= (uint64_t)b[big ? n - 1 - k : k] << 8 * k;
    return true;
}

/* The strings of a list that a null pointer ends. No list is an empty one. */
static char **read_list(struct room *m, uint64_t address, size_t *count)
{
    uint64_t p = 0;
    size_t n = 0;
    char **list;

    while (address && read_pointer(address, n, &p) && p)
        n++;
    if (address && p)
        return NULL;
    list = take(m, (n + 1) * sizeof *list);
    for (size_t i = 0; list && i < n; i++)
        if (!read_pointer(address, i, &p) || !(list[i] = read_string(m, p)))
            return NULL;
    if (list)
        list[n] = NULL;
    *count = n;
    return list;
}

/* --- what is executed --- */

/* A file that is named by a link of the process: it has another meaning once QEMU has begun. */
static bool read_link(struct call *c, const char *name)
{
    const ssize_t n = readlink(name, c->link, sizeof c->link - 1);

    if (n <= 0 || n >= (ssize_t)sizeof c->link - 1)
        return false;
    c->link[n] = '\0';
    return c->link[0] == '/';
}

/* "/proc/self/exe" is QEMU's file, where the program means its own. */
static bool own_file(struct call *c)
{
    union {
        void *symbol;
        const char *(*call)(void);
    } binary = {dlsym(RTLD_DEFAULT, "qemu_plugin_path_to_binary")};
    const char *self = binary.symbol ? binary.call() : NULL;
    char number[64];

    snprintf(number, sizeof number, "/proc/%d/exe", (int)getpid());
    if (strcmp(c->path, number) != 0 && strcmp(c->path, "/proc/self/exe") != 0 &&
        strcmp(c->path, "/proc/thread-self/exe") != 0)
        return false;
    if (self)
        snprintf(c->link, sizeof c->link, "%s", self);
    c->path = self ? c->link : c->path;
    return self != NULL;
}

static enum rec_lost name_file(struct call *c, bool at, const uint64_t a[5])
{
    char name[64], *path = read_string(&c->room, a[at ? 1 : 0]);

    if (!path)
        return REC_LOST_READ;
    c->path = path;
    if (at && path[0] != '/' && (int)a[0] != AT_FDCWD) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", (int)a[0]);
        if (!read_link(c, name))
            return REC_LOST_READ;
        c->path = c->link;
        if (path[0] && strlen(c->link) + strlen(path) + 2 <= sizeof c->link)
            strcat(strcat(c->link, "/"), path);
    } else if (strncmp(path, "/proc/", 6) == 0 && !own_file(c) && read_link(c, path)) {
        c->path = c->link;
    }
    return REC_LOST_NONE;
}

/* May the caller execute PATH, and with which rights does it run? */
static enum rec_lost rights(const char *path, bool *fails)
{
    struct stat st;

    *fails = stat(path, &st) != 0 || !S_ISREG(st.st_mode) || access(path, X_OK) != 0;
    if (*fails)
        return REC_LOST_NONE;
    if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
        (st.st_mode & S_ISGID && st.st_gid != getegid()) ||
        (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0))
        return REC_LOST_RIGHTS;
    return REC_LOST_NONE;
}

/* First bytes of PATH. Returns how many, negative: it cannot be read. */
static ssize_t read_head(const char *path, char head[HEAD])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd < 0 ? -1 : read(fd, head, HEAD - 1);

    if (fd >= 0)
        close(fd);
    if (n >= 0)
        head[n] = '\0';
    return n;
}

/* "#!INTERPRETER [ARGUMENT]" in LINE: it is executed, with the script as its argument. */
static bool interpreter(struct call *c, char *line)
{
    char *name = line + 2 + strspn(line + 2, " \t"), *rest, *end = strchr(line, '\n');

    if (end)
        *end = '\0';
    rest = name + strcspn(name, " \t");
    if (*rest)
        *rest++ = '\0';
    rest += strspn(rest, " \t");
    for (end = rest + strlen(rest); end > rest && strchr(" \t", end[-1]); end--)
        end[-1] = '\0';
    if (!*name || c->n_words + 3 > EXTRA)
        return false;
    /* what there was so far comes behind: the script in place of its own first word */
    memmove(c->words + (*rest ? 3 : 2), c->words + (c->n_words ? 1 : 0),
            (c->n_words ? c->n_words - 1 : 0) * sizeof *c->words);
    c->n_words = (*rest ? 3 : 2) + (c->n_words ? c->n_words - 1 : 0);
    c->words[0] = name;
    if (*rest)
        c->words[1] = rest;
    c->words[*rest ? 2 : 1] = c->path;
    c->path = name;
    return true;
}

/* Follow interpreters to an ELF file of this instruction set. FAILS: the system is going to. */
static enum rec_lost look_at(struct call *c, bool *fails)
{
    const uint8_t *mine = collect_shared->follow.head;

    for (unsigned i = 0; i < NESTED; i++) {
        const uint8_t *head = (const uint8_t *)c->line[i];
        enum rec_lost why = rights(c->path, fails);
        ssize_t n;

        if (*fails || why != REC_LOST_NONE)
            return why;
        n = read_head(c->path, c->line[i]);
        if (n < 0)
            return REC_LOST_READ;
        if (n >= 20 && memcmp(head, "\177ELF", 4) == 0)
            return head[4] == mine[4] && head[5] == mine[5] && memcmp(head + 18, mine + 18, 2) == 0
                       ? REC_LOST_NONE
                       : REC_LOST_ISA;
        if (n < 2 || memcmp(head, "#!", 2) != 0 || !interpreter(c, c->line[i]))
            return REC_LOST_FORM;
    }
    *fails = true; /* ELOOP */
    return REC_LOST_NONE;
}

/* --- the call --- */

/* "FILE,fd=N,image=K", commas of FILE doubled as QEMU wants it. */
static char *plugin_option(struct room *m, int fd, uint32_t image)
{
    const char *file = collect_shared->follow.plugin;
    const size_t size = 2 * strlen(file) + 64;
    char *s = take(m, size), *p = s;

    for (; s && *file; file++) {
        if (*file == ',')
            *p++ = ',';
        *p++ = *file;
    }
    if (s)
        snprintf(p, size - (size_t)(p - s), ",fd=%d,image=%u", fd, (unsigned)image);
    return s;
}

/*
 * Variables of the loader are the program's, not QEMU's: they go there as QEMU's option -E, which
 * has no commas.
 */
static size_t split_environment(struct call *c, char **words, size_t n, size_t most)
{
    size_t kept = 0;

    for (size_t i = 0; c->envp[i]; i++) {
        if (strncmp(c->envp[i], "LD_", 3) == 0 && !strchr(c->envp[i], ',') && n + 2 <= most) {
            words[n++] = (char *)(uintptr_t) "-E";
            words[n++] = c->envp[i];
        } else {
            c->envp[kept++] = c->envp[i];
        }
    }
    c->envp[kept] = NULL;
    return n;
}

/* Does not return if it succeeds. */
static enum rec_lost execute(struct call *c)
{
    struct rec_follow *f = &collect_shared->follow;
    const uint32_t image = 1 + atomic_fetch_add(&collect_shared->images, 1);
    const size_t most = 4 * EXTRA + c->argc;
    char **words = take(&c->room, most * sizeof *words), *path = take(&c->room, REC_PATH + 2);
    char memory[64];
    size_t n = 0;
    int fd;

    snprintf(memory, sizeof memory, "/proc/%u/fd/%u", (unsigned)collect_shared->recorder,
             (unsigned)f->fd);
    fd = open(memory, O_RDWR); /* NOLINT(android-cloexec-open): it is for the next program */
    if (fd >= 0 && words && path && f->qemu[0] && strlen(c->path) < REC_PATH) {
        words[n++] = f->qemu;
        if (f->sysroot[0]) {
            words[n++] = (char *)(uintptr_t) "-L";
            words[n++] = f->sysroot;
        }
        if (f->cpu[0]) {
            words[n++] = (char *)(uintptr_t) "-cpu";
            words[n++] = f->cpu;
        }
        words[n++] = (char *)(uintptr_t) "-plugin";
        words[n++] = plugin_option(&c->room, fd, image);
        n = split_environment(c, words, n, 3 * EXTRA - 4);
        words[n++] = (char *)(uintptr_t) "-0";
        words[n++] = c->n_words ? c->words[0] : c->argc ? c->argv[0] : (char *)(uintptr_t) "";
        snprintf(path, REC_PATH + 2, "%s%s", c->path[0] == '-' ? "./" : "", c->path);
        words[n++] = path;
        for (size_t i = 1; i < c->n_words; i++)
            words[n++] = c->words[i];
        for (size_t i = 1; i < c->argc; i++)
            words[n++] = c->argv[i];
        words[n] = NULL;
        execve(f->qemu, words, c->envp);
    }
    if (fd >= 0)
        close(fd);
    atomic_fetch_sub(&collect_shared->images, 1);
    return REC_LOST_SYSTEM;
}

static void count(enum rec_lost why, const char *path)
{
    atomic_fetch_add(&collect_shared->lost, 1);
    pending = UNNAMED;
    for (uint32_t i = 0; i < REC_LOSSES; i++) {
        uint32_t none = REC_LOST_NONE;

        if (!atomic_compare_exchange_strong(&collect_shared->losses[i].why, &none, why))
            continue;
        snprintf(collect_shared->losses[i].path, sizeof collect_shared->losses[i].path, "%s", path);
        pending = 1 + i;
        return;
    }
}

void follow(bool at, const uint64_t arguments[5])
{
    const struct rec_follow *f = &collect_shared->follow;
    const uint64_t *lists = arguments + (at ? 2 : 1);
    enum rec_lost why = REC_LOST_READ;
    bool fails = false;
    size_t unused;
    struct call *c;

    if (collect_shared->system || collect_alone() ||
        (f->no_children && (uint32_t)getpid() != atomic_load(&collect_shared->first)))
        return;
    c = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0);
    if (c == MAP_FAILED) {
        count(REC_LOST_SYSTEM, "");
        return;
    }
    c->room = (struct room){(char *)(c + 1), (char *)c + ROOM};
    if (collect_has_base())
        why = name_file(c, at, arguments);
    if (why == REC_LOST_NONE)
        why = look_at(c, &fails);
    if (why == REC_LOST_NONE && !fails) {
        c->argv = read_list(&c->room, lists[0], &c->argc);
        c->envp = read_list(&c->room, lists[1], &unused);
        why = c->argv && c->envp ? execute(c) : REC_LOST_READ;
    }
    if (why != REC_LOST_NONE && !fails)
        count(why, c->path ? c->path : "");
    munmap(c, ROOM);
}

void follow_failed(void)
{
    if (!pending)
        return;
    atomic_fetch_sub(&collect_shared->lost, 1);
    if (pending <= REC_LOSSES)
        atomic_store(&collect_shared->losses[pending - 1].why, REC_LOST_NONE);
    pending = 0;
}
