/*
 * beside.c - what the files beside a drmemtrace trace add to its rows.
 *
 * Implements struct trod_beside: opcodes of traces without encodings (modules.log, encodings.bin),
 * physical addresses (v2p.textproto, and the markers in the trace), names of functions
 * (funclist.log) and of system calls in the text of their markers.
 */
#include "format/drmemtrace/beside.h"

#include "core/grow.h"
#include "format/drmemtrace/code_file.h"
#include "format/drmemtrace/entries.h"
#include "format/drmemtrace/modules.h"
#include "isa/module_text.h"
#include "trod/buf.h"
#include "trod/insn.h"
#include "trod/syscalls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, CHECKED = 2000, TEXT_BYTES = 160 };

static const size_t file_limit = (size_t)1 << 28;

struct page {
    uint64_t number; /* + 1; 0: an empty place */
    uint64_t frame;
};

struct beside {
    struct trod_diag *diag;
    const struct trod_meta *meta;
    struct drm_modules *modules; /* NULL: none */
    struct trod_insn_decoder *insn;
    uint64_t checked, misfits;
    struct trod_function *function;
    size_t n_functions;
    struct trod_module *module;
    size_t n_modules, cap_modules;
    struct page *page;
    uint32_t page_mask, n_pages;
    uint64_t page_size, physical;
    bool has_physical, more;
};

/* --- physical addresses --- */

static struct page *place(struct page *table, uint32_t mask, uint64_t number)
{
    uint32_t at = (uint32_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 32);

    while (table[at & mask].number && table[at & mask].number != number + 1)
        at++;
    return &table[at & mask];
}

static bool map_page(struct beside *s, uint64_t number, uint64_t frame)
{
    struct page *p;

    if (!s->page || 2 * s->n_pages > s->page_mask) {
        uint32_t size = s->page ? 2 * (s->page_mask + 1) : 1 << 10;
        struct page *table = size ? calloc(size, sizeof *table) : NULL;

        if (!table)
            return false;
        for (uint32_t i = 0; s->page && i <= s->page_mask; i++)
            if (s->page[i].number)
                *place(table, size - 1, s->page[i].number - 1) = s->page[i];
        free(s->page);
        s->page = table;
        s->page_mask = size - 1;
    }
    p = place(s->page, s->page_mask, number);
    s->n_pages += p->number == 0;
    *p = (struct page){number + 1, frame};
    return true;
}

static uint64_t page_size(const struct beside *s)
{
    return s->page_size ? s->page_size : s->meta->page_size ? s->meta->page_size : 4096;
}

/* Physical addresses of the rows [FROM, TO), as far as their pages are known. */
static void translate(const struct beside *s, struct trod_batch *b, uint32_t from, uint32_t to)
{
    const uint64_t size = page_size(s);

    for (uint32_t i = from; s->n_pages && i < to; i++) {
        const struct page *p;

        if (!(b->has[i] & TROD_COL_ADDR))
            continue;
        p = place(s->page, s->page_mask, b->addr[i] / size);
        if (!p->number)
            continue;
        b->paddr[i] = p->frame * size + b->addr[i] % size;
        b->has[i] |= TROD_COL_PADDR;
    }
}

/* Markers are few: as long as no page is known, the rows between them need no look. */
static void fill_physical(struct beside *s, struct trod_batch *b)
{
    uint32_t from = 0;

    while (from < b->n) {
        const uint8_t *marker = memchr(b->kind + from, TROD_MARKER, b->n - from);
        const uint32_t at = marker ? (uint32_t)(marker - b->kind) : b->n;

        translate(s, b, from, at);
        from = at + 1;
        if (!marker)
            break;
        if (b->sub[at] == TROD_DRM_PHYSICAL_ADDRESS) {
            s->physical = b->value[at];
            s->has_physical = true;
        } else if (b->sub[at] == TROD_DRM_VIRTUAL_ADDRESS && s->has_physical) {
            map_page(s, b->value[at] / page_size(s), s->physical / page_size(s));
            s->has_physical = false;
        } else {
            translate(s, b, at, at + 1);
        }
    }
    b->have |= TROD_COL_PADDR;
}

/* One line of v2p.textproto: "key: value". */
static void v2p_line(struct beside *s, char *line, uint64_t *virtual_address)
{
    char *colon = strchr(line, ':'), *key = line, *end;
    uint64_t v;

    while (*key == ' ' || *key == '\t')
        key++;
    if (*key == '#' || !colon)
        return;
    *colon = '\0';
    v = strtoull(colon + 1, &end, 0);
    if (strcmp(key, "page_size") == 0)
        s->page_size = v;
    if (strcmp(key, "virtual_address") == 0)
        *virtual_address = v;
    if (strcmp(key, "physical_address") == 0) {
        map_page(s, *virtual_address / page_size(s), v / page_size(s));
        *virtual_address = 0; /* which a further pair may leave out */
    }
}

/* --- names --- */

/* "id,num_args,0xaddr[,flag...],library!symbol" */
static bool function_line(struct trod_function *f, const char *line)
{
    const char *name = strrchr(line, ',');
    char *end;

    f->id = strtoull(line, &end, 10);
    if (end == line || *end != ',' || !name || !name[1])
        return false;
    f->arguments = (uint32_t)strtoul(end + 1, &end, 10);
    f->address = *end == ',' ? strtoull(end + 1, NULL, 16) : 0;
    f->noret = strstr(line, ",noret,") != NULL;
    f->name = strdup(name + 1);
    return f->name != NULL;
}

static void add_function(struct beside *s, const char *line)
{
    struct trod_function f, *p = NULL;
    bool known = false;

    if (!function_line(&f, line))
        return;
    for (size_t i = 0; i < s->n_functions; i++)
        known = known || (s->function[i].id == f.id && strcmp(s->function[i].name, f.name) == 0);
    if (!known)
        p = realloc(s->function, (s->n_functions + 1) * sizeof *p);
    if (!p) {
        free((void *)(uintptr_t)f.name);
        return;
    }
    s->function = p;
    p[s->n_functions++] = f;
}

static const char *function_name(const struct beside *s, uint64_t id)
{
    for (size_t i = 0; i < s->n_functions; i++)
        if (s->function[i].id == id)
            return s->function[i].name;
    return NULL;
}

/* Set the text of marker ROW to its text followed by NAME. */
static void add_text(struct trod_batch *b, uint32_t row, const char *name)
{
    const char *marker = drm_marker_name(b->sub[row]);
    char text[TEXT_BYTES];
    int n = name ? snprintf(text, sizeof text, "%s %s", marker, name) : 0;
    struct trod_slice s;
    void *p = n > 0 ? trod_batch_pool(b, (uint32_t)n, &s) : NULL;

    if (!p)
        return;
    memcpy(p, text, (size_t)n);
    b->text[row] = s;
    b->has[row] |= TROD_COL_TEXT;
}

static void fill_text(const struct beside *s, struct trod_batch *b)
{
    const uint64_t base = TROD_DRM_SYSCALL_BASE(b->meta->addr_bits);
    const uint8_t *const end = b->kind + b->n;

    for (const uint8_t *at = b->kind; (at = memchr(at, TROD_MARKER, (size_t)(end - at))); at++) {
        const uint32_t i = (uint32_t)(at - b->kind);

        if (b->sub[i] == TROD_DRM_SYSCALL || b->sub[i] == TROD_DRM_SYSCALL_TRACE_START)
            add_text(b, i, trod_syscall_name(b->meta->isa, b->value[i]));
        else if (b->sub[i] == TROD_DRM_FUNC_ID && b->value[i] >= base)
            add_text(b, i, trod_syscall_name(b->meta->isa, b->value[i] - base));
        else if (b->sub[i] == TROD_DRM_FUNC_ID)
            add_text(b, i, function_name(s, b->value[i]));
    }
}

/* --- opcodes --- */

/*
 * Does the code at PC give an instruction as long as the trace says? Checked for the first ones
 * only.
 */
static void check_length(struct beside *s, uint64_t pc, const uint8_t *code, uint32_t size)
{
    const struct trod_insn *n;

    if (s->checked++ == 0 &&
        trod_insn_decoder_new(&s->insn,
                              s->meta->isa == TROD_ISA_UNKNOWN ? TROD_ISA_X86_64 : s->meta->isa,
                              TROD_ENDIAN_LITTLE) < 0)
        s->checked = CHECKED;
    if (!s->insn)
        return;
    n = trod_insn_decode(s->insn, TROD_ISET_NONE, pc, code, size);
    s->misfits += !n->valid || n->size != size;
    if (s->checked == CHECKED && s->misfits > CHECKED / 100)
        trod_warning(s->diag, TROD_ERR_CORRUPT, "drmemtrace.module-changed", NULL,
                     "%" PRIu64 " of the first %d opcodes from files beside the trace do not have "
                     "the length the trace says: the files have changed",
                     s->misfits, CHECKED);
}

static void fill_code(struct beside *s, struct trod_batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        const uint8_t *code;
        void *p;

        if (b->kind[i] != TROD_INSTR || b->has[i] & TROD_COL_CODE)
            continue;
        code = drm_modules_code(s->modules, b->addr[i], b->size[i]);
        if (!code || b->size[i] > DRM_CODE_MAX ||
            !(p = trod_batch_pool(b, b->size[i], &b->code[i])))
            continue;
        memcpy(p, code, b->size[i]);
        b->has[i] |= TROD_COL_CODE;
        if (s->checked < CHECKED)
            check_length(s, b->addr[i], code, b->size[i]);
    }
}

static void fill(void *state, struct trod_batch *b)
{
    struct beside *s = state;
    const uint32_t marker = TROD_COL_SUB | TROD_COL_VALUE;

    /* of a trace with encodings rows may lack their opcode because it was given before */
    const bool given = b->want & TROD_WANT_NEW_CODE && s->meta->filetype & TROD_DRM_ENCODINGS;

    if (b->want & b->have & TROD_COL_CODE && s->modules && !given &&
        (b->have & (TROD_COL_ADDR | TROD_COL_SIZE)) == (TROD_COL_ADDR | TROD_COL_SIZE))
        fill_code(s, b);
    if (s->more && b->want & TROD_COL_PADDR && b->have & TROD_COL_ADDR &&
        (b->have & marker) == marker)
        fill_physical(s, b);
    if (s->more && b->want & b->have & TROD_COL_TEXT && (b->have & marker) == marker)
        fill_text(s, b);
}

/* --- files --- */

static int read_beside(const struct beside *s, const char *path, struct trod_buf *out)
{
    const struct trod_place at = trod_place_path(path);
    const char *why;
    int rc = drm_read_file(path, file_limit, out, &why);

    if (rc < 0)
        trod_warning(s->diag, rc, "drmemtrace.beside", &at, "cannot read '%s': %s", path, why);
    return rc;
}

/* Call LINE for each line of the text file at PATH, without its line end. */
static void each_line(struct beside *s, const char *path,
                      void (*line)(struct beside *, char *, uint64_t *))
{
    struct trod_buf b = {0};
    uint64_t memory = 0;

    if (read_beside(s, path, &b) < 0 || trod_buf_add(&b, "", 1) < 0) {
        trod_buf_fini(&b);
        return;
    }
    for (char *p = (char *)b.p; *p;) {
        char *end = p + strcspn(p, "\r\n"), *next = end + (*end ? 1 : 0);

        *end = '\0';
        line(s, p, &memory);
        p = next;
    }
    trod_buf_fini(&b);
}

static void name_line(struct beside *s, char *line, uint64_t *memory)
{
    (void)memory;
    add_function(s, line);
}

static int open_modules(struct beside *s, const char *path, const char *dir)
{
    int rc = s->modules ? TROD_OK : drm_modules_new(&s->modules);

    return rc < 0 ? rc : drm_modules_add(s->modules, path, dir, s->diag);
}

/* Call EACH for every mapping in TEXT, the list of modules at PATH. */
static int each_module(const struct trod_buf *text, const char *path,
                       int (*each)(void *user, const struct trod_module *m), void *user,
                       struct trod_diag *diag)
{
    struct trod_place at = trod_place_path(path);
    struct module_line *line = malloc(sizeof *line);
    struct module_text t;
    uint64_t base = 0;
    int rc = TROD_OK;

    if (!line)
        return TROD_ERR_NOMEM;
    if (!module_text_begin(&t, text->p, text->n)) {
        trod_warning(diag, TROD_ERR_CORRUPT, "drmemtrace.modules", &at,
                     "list of modules does not begin with 'Module Table: version'");
        t.left = 0;
    }
    while (rc == TROD_OK && t.left > 0 && t.p < t.end) {
        if (!module_text_next(&t, line)) {
            at.line = t.line;
            trod_warning(diag, TROD_ERR_CORRUPT, "drmemtrace.module-line", &at,
                         "line of the list of modules is damaged");
            continue;
        }
        if (t.version < MODULES_CONTAINING || line->containing == line->id)
            base = line->start;
        if (line->end > line->start && line->path[0])
            rc = each(user, &(struct trod_module){line->path, line->start, line->end, base});
    }
    free(line);
    return rc;
}

static int keep_module(void *user, const struct trod_module *m)
{
    struct beside *s = user;
    char *path;

    if (!trod_grow(&s->module, s->n_modules, &s->cap_modules, sizeof *s->module, 16) ||
        !(path = strdup(m->path)))
        return TROD_ERR_NOMEM;
    s->module[s->n_modules] = *m;
    s->module[s->n_modules++].path = path;
    return TROD_OK;
}

/* Remember where files were mapped; damage of the list is reported by what looks for code. */
static int list_modules(struct beside *s, const char *path)
{
    struct trod_buf text = {0};
    const char *why;
    int rc = TROD_OK;

    if (drm_read_file(path, file_limit, &text, &why) == TROD_OK)
        rc = each_module(&text, path, keep_module, s, NULL);
    trod_buf_fini(&text);
    return rc;
}

static int open_generated(struct beside *s, const char *path)
{
    struct trod_buf b = {0};
    int rc = s->modules ? TROD_OK : drm_modules_new(&s->modules);

    if (rc == TROD_OK && read_beside(s, path, &b) == TROD_OK)
        rc = drm_modules_generated(s->modules, b.p, b.n, path, s->diag);
    trod_buf_fini(&b);
    return rc;
}

bool drm_find_beside(const char *path, const char *name, char *out, size_t n)
{
    static const char *const folders[] = {"", "../raw/", "../aux/", "../", "raw/", "aux/"};
    const char *slash = strrchr(path, '/');
    int dir = slash ? (int)(slash - path) + 1 : 0;

    if (strcmp(path, "-") == 0)
        return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (snprintf(out, n, "%.*s%s%s", dir, path, folders[i], name) < (int)n &&
            access(out, R_OK) == 0)
            return true;
    return false;
}

/* The file with ROLE, called NAME; its path to OUT. */
static bool find_file(const struct trod_files *files, enum trod_role role, const char *name,
                      char *out, size_t n)
{
    for (size_t i = 0; i < files->n; i++)
        if (files->file[i].role == role)
            return snprintf(out, n, "%s", files->file[i].path) < (int)n;
    /* the directory was not given as a whole */
    return drm_find_beside(files->n ? files->file[0].path : "-", name, out, n);
}

static void close_beside(void *state)
{
    struct beside *s = state;

    drm_modules_free(s->modules);
    trod_insn_decoder_free(s->insn);
    for (size_t i = 0; i < s->n_functions; i++)
        free((void *)(uintptr_t)s->function[i].name);
    free(s->function);
    for (size_t i = 0; i < s->n_modules; i++)
        free((void *)(uintptr_t)s->module[i].path);
    free(s->module);
    free(s->page);
    free(s);
}

static int open_beside(void **out, const struct trod_files *files,
                       const struct trod_beside_options *opt, struct trod_meta *meta,
                       struct trod_diag *diag)
{
    struct beside *s = calloc(1, sizeof *s);
    char path[PATH_BYTES];
    int rc = TROD_OK;

    *out = NULL;
    if (!s)
        return TROD_ERR_NOMEM;
    *s = (struct beside){.diag = diag, .meta = meta, .more = opt->more};
    if (opt->modules)
        rc = open_modules(s, opt->modules, opt->module_dir);
    else if (!(meta->filetype & TROD_DRM_ENCODINGS) &&
             find_file(files, TROD_ROLE_MODULES, "modules.log", path, sizeof path))
        open_modules(s, path, opt->module_dir);
    if (!(meta->filetype & TROD_DRM_ENCODINGS) &&
        find_file(files, TROD_ROLE_ENCODINGS, "encodings.bin", path, sizeof path))
        open_generated(s, path);
    if (rc == TROD_OK && s->more && opt->modules)
        rc = list_modules(s, opt->modules);
    else if (rc == TROD_OK && s->more &&
             find_file(files, TROD_ROLE_MODULES, "modules.log", path, sizeof path))
        rc = list_modules(s, path);
    if (s->more && find_file(files, TROD_ROLE_FUNCTIONS, "funclist.log", path, sizeof path))
        each_line(s, path, name_line);
    if (s->more && find_file(files, TROD_ROLE_V2P, "v2p.textproto", path, sizeof path))
        each_line(s, path, v2p_line);
    if (rc < 0) {
        close_beside(s);
        return rc;
    }
    meta->functions = s->function;
    meta->n_functions = (uint32_t)s->n_functions;
    meta->modules = s->module;
    meta->n_modules = (uint32_t)s->n_modules;
    if (meta->isa == TROD_ISA_UNKNOWN && s->modules)
        meta->isa = drm_modules_isa(s->modules);
    *out = s;
    return TROD_OK;
}

static int modules(const struct trod_files *files, const struct trod_beside_options *opt,
                   int (*each)(void *user, const struct trod_module *m), void *user,
                   struct trod_diag *diag)
{
    const struct beside reads = {.diag = diag};
    struct trod_buf text = {0};
    char found[PATH_BYTES];
    const char *path = opt->modules;
    int rc = TROD_OK;

    if (!path && find_file(files, TROD_ROLE_MODULES, "modules.log", found, sizeof found))
        path = found;
    if (path && read_beside(&reads, path, &text) == TROD_OK)
        rc = each_module(&text, path, each, user, diag);
    trod_buf_fini(&text);
    return rc;
}

const struct trod_beside drm_beside = {
    .columns = TROD_COL_CODE | TROD_COL_PADDR | TROD_COL_TEXT,
    .open = open_beside,
    .fill = fill,
    .close = close_beside,
    .modules = modules,
};
