/*
 * launch.c - the shared memory, where the plugin is, the start of the program.
 *
 * Implements docs/recording.md, "How it works". Linux only, as QEMU's user mode is.
 */
#define _GNU_SOURCE /* memfd_create */
#include "record/record.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, WORDS_MAX = 16 + REC_SYSTEM_WORDS };

static uint64_t pages(uint64_t n)
{
    return (n + 4095) & ~UINT64_C(4095);
}

bool rec_share_grow(struct rec_shared *s, uint32_t n)
{
    uint32_t have = atomic_load(&s->n_blocks);

    if (have >= REC_BLOCKS)
        return false;
    if (n > REC_BLOCKS - have)
        n = REC_BLOCKS - have;
    atomic_store(&s->n_blocks, have + n);
    for (uint32_t i = 0; i < n; i++)
        sem_post(&s->free);
    return true;
}

/* The system unlocks it when this thread ends, however that comes (pthread_mutexattr_setrobust). */
static void lock_alive(struct rec_shared *s)
{
    pthread_mutexattr_t a;

    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&s->alive, &a);
    pthread_mutexattr_destroy(&a);
    pthread_mutex_lock(&s->alive);
}

void rec_tell_follow(struct rec_shared *s, const struct trod_record_target *info, const char *cpu,
                     const char *plugin)
{
    struct rec_follow *f = &s->follow;
    FILE *program = fopen(info->program, "rbe");
    char path[PATH_MAX];

    if (program) {
        if (fread(f->head, 1, sizeof f->head, program) != sizeof f->head)
            memset(f->head, 0, sizeof f->head);
        fclose(program);
    }
    /* the program may change its folder */
    snprintf(f->qemu, sizeof f->qemu, "%s", realpath(info->qemu, path) ? path : info->qemu);
    if (info->sysroot[0])
        snprintf(f->sysroot, sizeof f->sysroot, "%s",
                 realpath(info->sysroot, path) ? path : info->sysroot);
    snprintf(f->plugin, sizeof f->plugin, "%s", realpath(plugin, path) ? path : plugin);
    snprintf(f->cpu, sizeof f->cpu, "%s", cpu ? cpu : "");
}

int rec_share_new(struct rec_shared **out, int *fd, const struct rec_target *t, bool memory,
                  bool registers, bool values, struct trod_diag *diag)
{
    struct rec_shared h = {.magic = REC_MAGIC, .version = REC_VERSION}, *s;

    h.slots = pages(sizeof h);
    h.states = pages(h.slots + REC_SLOTS * sizeof(struct rec_slot));
    h.chains = pages(h.states + REC_BLOCKS * sizeof(uint32_t));
    h.blocks = pages(h.chains + REC_CHAINS * sizeof(uint32_t));
    h.log = pages(h.blocks + (uint64_t)REC_BLOCKS * REC_BLOCK_WORDS * 8);
    h.total = h.log + REC_LOG_BYTES;
    *fd = memfd_create("trod-record", 0);
    if (*fd < 0 || ftruncate(*fd, (off_t)h.total) != 0)
        return trod_error(diag, TROD_ERR_IO, "record.memory", NULL, "cannot make shared memory: %s",
                          strerror(errno));
    s = mmap(NULL, h.total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0);
    if (s == MAP_FAILED)
        return trod_error(diag, TROD_ERR_NOMEM, "record.memory", NULL,
                          "cannot map shared memory: %s", strerror(errno));
    s->magic = h.magic;
    s->version = h.version;
    s->total = h.total;
    s->slots = h.slots;
    s->states = h.states;
    s->chains = h.chains;
    s->blocks = h.blocks;
    s->log = h.log;
    s->recorder = (uint32_t)getpid();
    s->follow.fd = (uint32_t)*fd;
    lock_alive(s);
    s->memory = memory;
    s->registers = registers;
    s->values = values && memory;
    s->isa = t->plain;
    s->system = t->system;
    memcpy(s->exec, t->exec, sizeof s->exec);
    atomic_store(&s->log_used, 64 + 8 * REC_REGS); /* place 0 is none; names of registers */
    sem_init(&s->full, 1, 0);
    sem_init(&s->free, 1, 0);
    sem_init(&s->ask, 1, 0);
    sem_init(&s->seek, 1, 0);
    rec_share_grow(s, REC_BLOCKS_FIRST);
    *out = s;
    return TROD_OK;
}

void rec_share_free(struct rec_shared *s, int fd)
{
    if (s) {
        pthread_mutex_unlock(&s->alive);
        munmap(s, s->total);
    }
    if (fd >= 0)
        close(fd);
}

/* Where it is installed, and where it is built: relative to the program that records. */
int rec_plugin_path(const char *given, char *out, size_t n, struct trod_diag *diag)
{
    static const char *const places[] = {"../lib/trod", "../" TROD_LIBDIR "/trod", "../record",
                                         "."};
    static const char file[] = "libtrod-qemu.so";
    char self[PATH_BYTES];
    ssize_t len;
    char *slash;

    if (!given)
        given = getenv("TROD_QEMU_PLUGIN");
    if (given && access(given, R_OK) == 0 && realpath(given, self)) {
        snprintf(out, n, "%s", self);
        return TROD_OK;
    }
    if (given)
        return trod_error(diag, TROD_ERR_UNSUPPORTED, "record.plugin", NULL,
                          "plugin '%s' cannot be read: %s", given, strerror(errno));
    len = readlink("/proc/self/exe", self, sizeof self - 1);
    self[len < 0 ? 0 : len] = '\0';
    slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(out, n, "%s/%s/%s", self, places[i], file) < (int)n && access(out, R_OK) == 0)
            return TROD_OK;
    return trod_error(diag, TROD_ERR_UNSUPPORTED, "record.plugin", NULL,
                      "%s is not found beside '%s': name it with --plugin", file, self);
}

/* "PATH,fd=N", commas in PATH doubled as QEMU's options want it. */
static void plugin_argument(char *out, size_t n, const char *path, int fd)
{
    size_t k = 0;

    for (; *path && k + 32 < n; path++) {
        if (*path == ',')
            out[k++] = ',';
        out[k++] = *path;
    }
    snprintf(out + k, n - k, ",fd=%d", fd);
}

int rec_launch(const struct trod_record_target *info, const char *cpu, char *const line[],
               char *const argv[], const char *plugin, int fd, pid_t *pid, struct trod_diag *diag)
{
    char option[PATH_BYTES + 64], **words;
    size_t n = 0, args = 0;
    int error;

    while (argv[args])
        args++;
    words = calloc(args + WORDS_MAX, sizeof *words);
    if (!words)
        return TROD_ERR_NOMEM;
    plugin_argument(option, sizeof option, plugin, fd);
    words[n++] = (char *)(uintptr_t)info->qemu;
    if (info->sysroot[0]) {
        words[n++] = (char *)(uintptr_t) "-L";
        words[n++] = (char *)(uintptr_t)info->sysroot;
    }
    if (cpu) {
        words[n++] = (char *)(uintptr_t) "-cpu";
        words[n++] = (char *)(uintptr_t)cpu;
    }
    words[n++] = (char *)(uintptr_t) "-plugin";
    words[n++] = option;
    if (info->system) {
        n += rec_system_words(info, argv, words + n);
    } else {
        words[n++] = (char *)(uintptr_t) "-0";
        words[n++] = line[0] ? line[0] : argv[0];
        words[n++] = (char *)(uintptr_t)info->program;
    }
    for (size_t i = 1; i < REC_LINE && line[0] && line[i]; i++)
        words[n++] = line[i];
    for (size_t i = info->system && !info->image ? 0 : 1; i < args; i++)
        words[n++] = argv[i];
    error = posix_spawn(pid, info->qemu, NULL, NULL, words, environ);
    free(words);
    if (error)
        return trod_error(diag, TROD_ERR_IO, "record.start", NULL, "cannot start '%s': %s",
                          info->qemu, strerror(error));
    return TROD_OK;
}
