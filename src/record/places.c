/*
 * places.c - functions by name, in the program and its libraries, where they are loaded; and what
 * is loaded at all (modules.c).
 *
 * Implements docs/recording.md, "Functions of libraries". The plugin asks whenever code may have
 * been loaded; what it may translate next waits for the answer. Files are found in the list of
 * what QEMU has mapped (proc(5), /proc/PID/maps). Mappings that the machine itself may execute are
 * QEMU's own: those of the program are data to it.
 */
#include "record/record.h"

#include "trod/symbols.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAMES = 192, LOADS = 16, FOUND = 192, SAME = 8, PATH_BYTES = 4096 };

/* What is looked for. */
struct name {
    char name[64];
    uint32_t code;
    uint8_t arguments, returns;
};

/* A file that has been looked at, and where in it there is what is looked for. */
struct file {
    char *path;
    size_t n;
    struct {
        uint64_t offset;
        const struct name *what;
    } at[FOUND];
};

struct rec_places {
    struct rec_shared *shared;
    struct name names[NAMES];
    size_t n_names;
    const char *library[REC_FUNCTIONS]; /* by number of what was found: its file, of files */
    struct file *files;
    size_t n_files;
    struct rec_modules *modules; /* NULL: nobody wants to know what is loaded */
    struct trod_diag *diag;
    pthread_t thread;
    bool running;
    _Atomic bool stop;
};

int rec_places_new(struct rec_places **out, struct rec_shared *s, struct trod_diag *diag)
{
    struct rec_places *p = calloc(1, sizeof *p);

    *out = p;
    if (!p)
        return trod_error(diag, TROD_ERR_NOMEM, "record.memory", NULL, "out of memory");
    p->shared = s;
    p->diag = diag;
    return TROD_OK;
}

void rec_places_want(struct rec_places *p, const char *name, uint32_t code)
{
    rec_places_call(p, name, code, 0, false);
}

void rec_places_call(struct rec_places *p, const char *name, uint32_t code, unsigned arguments,
                     bool returns)
{
    struct name *n = &p->names[p->n_names];

    if (p->n_names == NAMES)
        return;
    snprintf(n->name, sizeof n->name, "%s", name);
    n->code = code;
    n->arguments = (uint8_t)arguments;
    n->returns = returns;
    p->n_names++;
}

void rec_places_tell(struct rec_places *p, struct rec_modules *m)
{
    p->modules = m;
}

bool rec_places_found(const struct rec_shared *s, uint32_t from, uint32_t to)
{
    const uint32_t n = atomic_load(&s->n_functions);

    for (uint32_t i = 0; i < n; i++)
        if (s->functions[i].code >= from && s->functions[i].code <= to)
            return true;
    return false;
}

const char *rec_places_library(const struct rec_places *p, uint32_t number)
{
    return number < REC_FUNCTIONS ? p->library[number] : NULL;
}

/* Where the byte that a file has for ADDRESS stands in it. */
static bool offset_of(const struct rec_segment_of_file *s, size_t n, uint64_t address,
                      uint64_t *offset)
{
    for (size_t i = 0; i < n; i++)
        if (s[i].code && address >= s[i].address && address - s[i].address < s[i].bytes) {
            *offset = address - s[i].address + s[i].offset;
            return true;
        }
    return false;
}

static void find_names(const struct rec_places *p, struct file *f, struct trod_symbols *symbols)
{
    struct rec_segment_of_file loads[LOADS];
    const size_t n = rec_elf_segments(f->path, loads, LOADS);

    for (size_t i = 0; i < p->n_names; i++) {
        uint64_t address[SAME];
        const size_t same = trod_symbols_named(symbols, p->names[i].name, address, SAME);

        for (size_t k = 0; k < same && f->n < FOUND; k++)
            if (offset_of(loads, n, address[k], &f->at[f->n].offset))
                f->at[f->n++].what = &p->names[i];
    }
}

/* What is known of the file PATH; NULL: nothing, memory is short. */
static const struct file *file_of(struct rec_places *p, const char *path)
{
    struct trod_symbols *symbols = NULL;
    struct rec_segment_of_file any;
    struct trod_diag quiet = {0};
    struct file *f;

    for (size_t i = 0; i < p->n_files; i++)
        if (strcmp(p->files[i].path, path) == 0)
            return &p->files[i];
    f = realloc(p->files, (p->n_files + 1) * sizeof *f);
    if (!f)
        return NULL;
    p->files = f;
    f += p->n_files;
    *f = (struct file){.path = strdup(path)};
    if (!f->path)
        return NULL;
    p->n_files++;
    /* much is mapped that is no program and no library */
    if (rec_elf_segments(path, &any, 1) && trod_symbols_new(&symbols) == TROD_OK &&
        trod_symbols_add(symbols, path, &quiet) == TROD_OK)
        find_names(p, f, symbols);
    trod_symbols_free(symbols);
    return f;
}

bool rec_places_has(struct rec_places *p, const char *path)
{
    const struct file *f = file_of(p, path);

    return f && f->n > 0;
}

/* The function WHAT of the file PATH is at ADDRESS. */
static void found(struct rec_places *p, uint64_t address, const struct name *what, const char *path)
{
    struct rec_shared *s = p->shared;
    const uint32_t n = atomic_load(&s->n_functions), code = what->code;

    for (uint32_t i = 0; i < n; i++)
        if (s->functions[i].address == address && s->functions[i].code == code &&
            s->functions[i].image == s->seeker_image)
            return;
    if (n == REC_FUNCTIONS)
        return;
    s->functions[n].address = address;
    s->functions[n].code = code;
    s->functions[n].image = s->seeker_image;
    s->functions[n].arguments = what->arguments;
    s->functions[n].returns = what->returns;
    p->library[n] = path;
    atomic_store_explicit(&s->n_functions, n + 1, memory_order_release);
}

/* A line of the list: "START-END rwxp OFFSET DEVICE INODE PATH". */
static void mapping(struct rec_places *p, char *line)
{
    const struct file *f;
    uint64_t start, end, offset;
    char *at, *may;
    const char *path = strchr(line, '/');
    bool executes;

    start = strtoull(line, &at, 16);
    end = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
    may = at + (*at == ' ');
    at = may + strcspn(may, " ");
    offset = strtoull(at, NULL, 16);
    executes = memchr(may, 'x', (size_t)(at - may)) != NULL;
    if (end <= start || !path)
        return;
    if (p->modules && start >= p->shared->guest_base)
        rec_modules_line(p->modules, path, start - p->shared->guest_base,
                         end - p->shared->guest_base, offset, executes);
    if (executes || p->n_names == 0 || !(f = file_of(p, path)))
        return;
    for (size_t i = 0; i < f->n; i++)
        if (f->at[i].offset >= offset && f->at[i].offset - offset < end - start)
            found(p, f->at[i].offset - offset + start - p->shared->guest_base, f->at[i].what,
                  f->path);
}

static void look(struct rec_places *p, uint32_t pid)
{
    char line[PATH_BYTES + 128];
    FILE *maps;

    snprintf(line, sizeof line, "/proc/%" PRIu32 "/maps", pid);
    maps = fopen(line, "re");
    if (!maps)
        return;
    while (fgets(line, sizeof line, maps)) {
        line[strcspn(line, "\n")] = '\0';
        mapping(p, line);
    }
    if (p->modules)
        rec_modules_end_file(p->modules);
    fclose(maps);
}

static void *work(void *user)
{
    struct rec_places *p = user;

    while (!atomic_load(&p->stop)) {
        const uint32_t pid = atomic_load(&p->shared->seeker);

        if (pid) {
            look(p, pid);
            atomic_store(&p->shared->seeker, 0);
        }
        while (sem_wait(&p->shared->seek) != 0)
            ;
    }
    return NULL;
}

int rec_places_begin(struct rec_places *p)
{
    if (p->n_names == 0 && !p->modules)
        return TROD_OK;
    p->shared->seeks = 1;
    p->running = pthread_create(&p->thread, NULL, work, p) == 0;
    return p->running ? TROD_OK
                      : trod_error(p->diag, TROD_ERR_NOMEM, "record.thread", NULL,
                                   "cannot start a thread");
}

void rec_places_end(struct rec_places *p)
{
    if (!p)
        return;
    atomic_store(&p->stop, true);
    if (p->running) {
        sem_post(&p->shared->seek);
        pthread_join(p->thread, NULL);
    }
    for (size_t i = 0; i < p->n_files; i++)
        free(p->files[i].path);
    free(p->files);
    free(p);
}
