/*
 * drmemtrace.c - the driver of DynamoRIO's offline traces: detection, start and stop, descriptor.
 *
 * Implements docs/formats/drmemtrace.md, "Recognising it". Raw files, as the tracer leaves them,
 * are recognised here and made into traces in raw.c.
 */
#include "core/endian.h"
#include "format/drmemtrace/beside.h"
#include "format/drmemtrace/decode.h"
#include "format/drmemtrace/dir.h"
#include "format/drmemtrace/encode.h"
#include "format/drmemtrace/native.h"
#include "format/drmemtrace/raw.h"

#include <inttypes.h>
#include <string.h>

/* Width of the entries of a trace that begins with the N bytes at P, 0 if it is none. */
static unsigned entry_width(const uint8_t *p, size_t n)
{
    const unsigned widths[] = {DRM_ENTRY_64, DRM_ENTRY_32};

    if (n < DRM_ENTRY_32 || trod_load_le32(p) != DRM_HEADER)
        return 0;
    for (int i = 0; i < 2; i++) {
        unsigned w = widths[i], type;
        uint64_t version;

        if (n < w)
            continue;
        version = w == DRM_ENTRY_64 ? trod_load_le64(p + 4) : trod_load_le32(p + 4);
        if (n == w && version <= UINT8_MAX)
            return w;
        if (n < w + 2u || version > UINT8_MAX)
            continue;
        type = trod_load_le16(p + w);
        if (type == DRM_MARKER || type == DRM_THREAD || type == DRM_PID)
            return w;
    }
    return 0;
}

/*
 * Width of the entries of the N bytes at P if, behind BEFORE entries of any kind, the next
 * N_MARKERS are these MARKERS; else 0.
 */
static unsigned marker_width(const uint8_t *p, size_t n, unsigned before, const unsigned *markers,
                             unsigned n_markers)
{
    const unsigned widths[] = {DRM_ENTRY_64, DRM_ENTRY_32};

    for (int i = 0; i < 2; i++) {
        const size_t w = widths[i];
        unsigned same = 0;

        while (same < n_markers && n >= (before + same + 1) * w &&
               trod_load_le32(p + (before + same) * w) == (DRM_MARKER | markers[same] << 16))
            same++;
        if (same == n_markers)
            return widths[i];
    }
    return 0;
}

/* Width of the entries of a trace that begins with another chunk than its first, 0: it is none. */
static unsigned chunk_width(const uint8_t *p, size_t n)
{
    const unsigned markers[] = {TROD_DRM_RECORD_ORDINAL, TROD_DRM_TIMESTAMP, TROD_DRM_CPU_ID};

    return marker_width(p, n, 0, markers, 3);
}

unsigned drm_damaged_width(const uint8_t *p, size_t n)
{
    const unsigned markers[] = {TROD_DRM_VERSION, TROD_DRM_FILETYPE};

    return marker_width(p, n, 1, markers, 2);
}

static int bid(const struct trod_probe *probe, const char **dialect)
{
    const struct trod_span *head = &probe->head;
    unsigned width = entry_width(head->p, head->n);

    if (width) /* type, size, version, and the types that may come next */
        return (width == DRM_ENTRY_64 ? 16 + 16 + 56 : 16 + 16 + 24) + 14;
    if (chunk_width(head->p, head->n))
        return 3 * (16 + 16);
    if (drm_damaged_width(head->p, head->n))
        return 2 * (16 + 16);
    if (raw_begins(head->p, head->n)) {
        *dialect = raw_dialect;
        return 3 + 5 + 3 + 29;
    }
    return 0;
}

void drm_filetype(struct drm_call *c, uint64_t bits, const uint8_t *p)
{
    const struct trod_place at = drm_place(c, p);
    struct drm_dec *d = c->d;

    static const struct {
        uint32_t bit;
        enum trod_isa isa;
    } isas[] = {
        {TROD_DRM_REGDEPS, TROD_ISA_REGDEPS}, {TROD_DRM_AARCH64, TROD_ISA_A64},
        {TROD_DRM_ARM32, TROD_ISA_ARM},       {TROD_DRM_X86_32, TROD_ISA_X86_32},
        {TROD_DRM_X86_64, TROD_ISA_X86_64},
    };

    if (d->meta->filetype == 0)
        d->meta->filetype = bits;
    if (!(bits & TROD_DRM_ENCODINGS))
        d->side->source = 0;
    else if (!d->pc_known)
        drm_side_begin(d->side);
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        if (!(bits & isas[i].bit))
            continue;
        if (d->meta->isa == TROD_ISA_UNKNOWN)
            d->meta->isa = isas[i].isa;
        else if (d->meta->isa != isas[i].isa)
            trod_warning(c->diag, TROD_OK, "drmemtrace.isa", &at,
                         "this is code of %s, and that of the files before of %s: its opcodes are "
                         "decoded as theirs; read it by itself",
                         trod_isa_name(isas[i].isa), trod_isa_name(d->meta->isa));
        break;
    }
    if (d->width == DRM_ENTRY_64 && !d->stored)
        d->shift = bits & TROD_DRM_AARCH64 ? 8 : 16;
}

static int start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    const struct drm_options *o = opt;
    const struct trod_place at = trod_place_offset(NULL, head->offset);
    struct drm_dec *d = dec;
    uint64_t version = DRM_VERSION_MAX;
    unsigned width = entry_width(head->p, head->n);
    const unsigned damaged = width ? 0 : drm_damaged_width(head->p, head->n);
    const bool headless = width + damaged == 0;
    const uint8_t *says = head->p; /* the version */
    int rc;

    if (damaged)
        says += width = damaged;
    if (headless)
        width = chunk_width(head->p, head->n);
    if (width == 0)
        return trod_error(diag, TROD_ERR_CORRUPT, "drmemtrace.no-header", &at,
                          "trace does not begin with a header");
    if (headless) {
        rc = trod_error(diag, TROD_ERR_CORRUPT, "drmemtrace.no-header", &at,
                        "trace begins in a later chunk: its header is lost, and with it thread, "
                        "file type and instruction set");
        if (diag && diag->strict)
            return rc;
    } else {
        version = width == DRM_ENTRY_64 ? trod_load_le64(says + 4) : trod_load_le32(says + 4);
    }
    if (version > DRM_VERSION_MAX)
        return trod_error(diag, TROD_ERR_UNSUPPORTED, "drmemtrace.version", &at,
                          "format version %" PRIu64 " is not known: trod reads versions up to %d",
                          version, DRM_VERSION_MAX);
    *d = (struct drm_dec){.meta = meta,
                          .file = meta->file,
                          .width = (uint8_t)width,
                          .stored = o->addresses == DRM_STORED,
                          .headless = headless,
                          .bad_header = damaged != 0,
                          .entered = headless,
                          .version = version};
    if (width == DRM_ENTRY_64 && !d->stored)
        d->shift = 16;
    if ((rc = drm_side_new(&d->side)) < 0)
        return rc;
    if ((rc = drm_switch(d, 0)) < 0) {
        drm_side_free(d->side);
        d->side = NULL;
        return rc;
    }
    d->side->thread[d->thread].skip = headless;
    meta->endian = TROD_ENDIAN_LITTLE;
    meta->unit = TROD_UNIT_US;
    if (meta->addr_bits == 0)
        meta->addr_bits = width == DRM_ENTRY_64 ? 64 : 32;
    if (meta->version == 0)
        meta->version = (uint32_t)version;
    return TROD_OK;
}

static void stop(void *dec)
{
    struct drm_dec *d = dec;

    drm_side_free(d->side);
    d->side = NULL;
}

/* Instruction N (from 1) lies in the chunk of which each but the last has chunk_size of them. */
static uint64_t member(const void *dec, uint64_t instruction)
{
    const struct drm_dec *d = dec;

    return d->chunk_size && instruction ? (instruction - 1) / d->chunk_size : TROD_NOWHERE;
}

/* A chunk begins with the number of records before it, except the first one. */
static uint64_t rows_before(const void *dec, const uint8_t *p, size_t n)
{
    const struct drm_dec *d = dec;

    /* where the first chunk is lost, rows are counted from the first that is there */
    if (d->headless || n < d->width || trod_load_le16(p) != DRM_MARKER ||
        trod_load_le16(p + 2) != TROD_DRM_RECORD_ORDINAL)
        return TROD_NOWHERE;
    return d->width == DRM_ENTRY_64 ? trod_load_le64(p + 4) : trod_load_le32(p + 4);
}

/*
 * Behind a jump: the chunk repeats the number of records and the time; all other state begins anew.
 */
static void enter(void *dec, uint64_t chunk)
{
    struct drm_dec *d = dec;

    d->instrs = d->chunk_base = chunk * d->chunk_size;
    d->chunks = chunk;
    d->entered = d->jumped = true;
    d->bad_header = false;
    d->time_known = d->pc_known = d->has_target = d->footer = false;
    d->in_syscall = d->in_switch = false;
    d->depth = 0;
    d->code_n = 0;
    d->flush_type = 0;
    d->next_pc = 0;
    d->side->thread[d->thread].skip = true;
    d->side->source = 0;
    drm_side_begin(d->side);
}

static const struct trod_jump jump = {member, rows_before, enter};

static const char *const suffixes[] = {".trace", ".memtrace", NULL};
static const char *const dialects[] = {raw_dialect, NULL};
static const char *const address_names[] = {"canonical", "stored", NULL};
static const char *const yes_no[] = {"auto", "yes", "no", NULL};
static const char *const entry_bytes[] = {"auto", "8", "12", NULL};

static const struct trod_option options[] = {
    {.name = "addresses",
     .type = TROD_OPT_ENUM,
     .offset = offsetof(struct drm_options, addresses),
     .arg = "HOW",
     .text = "canonical: with their upper bits as the processor sees them; stored: as in the file",
     .choices = address_names},
    {.name = "version",
     .type = TROD_OPT_U64,
     .offset = offsetof(struct drm_options, version),
     .arg = "N",
     .text = "writing: version of the trace, 1 to 7 (that of the source, 2 at least; else 7)"},
    {.name = "chunk",
     .type = TROD_OPT_U64,
     .offset = offsetof(struct drm_options, chunk),
     .arg = "N",
     .text = "writing: instructions a chunk of a zip archive (10000000)"},
    {.name = "encodings",
     .type = TROD_OPT_ENUM,
     .offset = offsetof(struct drm_options, encodings),
     .arg = "YES",
     .text = "writing: opcode bytes (auto: where the format has a name for the instruction set)",
     .choices = yes_no},
    {.name = "entry",
     .type = TROD_OPT_ENUM,
     .offset = offsetof(struct drm_options, entry),
     .arg = "BYTES",
     .text = "writing: bytes an entry (auto: 8 for ARM and 32-bit x86, else 12)",
     .choices = entry_bytes},
    {.name = "app",
     .type = TROD_OPT_STR,
     .offset = offsetof(struct drm_options, app),
     .arg = "NAME",
     .text = "writing: name of the program, in file names (trod)"},
    {.name = "container",
     .type = TROD_OPT_STR,
     .offset = offsetof(struct drm_options, container),
     .arg = "NAME",
     .text = "writing a directory: zip, zip-zstd, zip-stored, gzip, lz4, zstd or none (zip)"},
    {.type = TROD_OPT_END},
};

const struct trod_format trod_format_drmemtrace = {
    .name = "drmemtrace",
    .title = "DynamoRIO offline trace",
    .suffixes = suffixes,
    .dialects = dialects,
    .reads = DRM_READS,
    .writes = DRM_WRITES,
    .row_max = DRM_ROW_MAX,
    .isas = 1u << TROD_ISA_ARM | 1u << TROD_ISA_A64 | 1u << TROD_ISA_X86_32 |
            1u << TROD_ISA_X86_64 | 1u << TROD_ISA_RISCV64 | 1u << TROD_ISA_REGDEPS,
    .kinds = 1u << TROD_NOTE | 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE |
             1u << TROD_PREFETCH | 1u << TROD_FLUSH | 1u << TROD_MARKER | 1u << TROD_THREAD,
    .flags = TROD_FMT_PER_STREAM | TROD_FMT_MAGIC | TROD_FMT_CONTAINER | TROD_FMT_TIMESTAMPS |
             TROD_FMT_BRANCHES | TROD_FMT_MARKERS | TROD_FMT_FOLLOWS,
    .record_rows = DRM_BUNDLE_MAX,
    .run_markers = 1u << TROD_DRM_TIMESTAMP | 1u << TROD_DRM_CPU_ID,
    .options = options,
    .options_size = sizeof(struct drm_options),
    .dec_size = sizeof(struct drm_dec),
    .enc_size = sizeof(struct drm_enc),
    .bid = bid,
    .start = start,
    .stop = stop,
    .decode = drm_decode,
    .begin = drm_begin,
    .target = drm_target,
    .encode = drm_encode,
    .pass = drm_pass,
    .finish = drm_finish,
    .keeps = drm_keeps,
    .drop = drm_drop,
    .layout = &drm_layout,
    .beside = &drm_beside,
    .info = &drm_info,
    .native = drm_native,
    .sub_name = drm_sub_name,
    .subs = TROD_DRM_MARKERS,
    .value_form = drm_value_form,
    .streams = "thread",
    .filetype_name = drm_filetype_name,
    .save = drm_save,
    .load = drm_load,
    .rest = drm_rest,
    .wake = drm_wake,
    .jump = &jump,
    .resolve = drm_resolve,
    .remake = drm_remake,
    .copy = drm_copy,
    .parts = &drm_parts,
};
