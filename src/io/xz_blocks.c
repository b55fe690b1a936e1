/*
 * xz_blocks.c - where the streams and blocks of an xz file begin ("The .xz File Format" 1.1.0, 2
 * and 4: the index at the end of each stream says it), and decoding from a block on.
 */
#include "trod_config.h"

#if TROD_HAVE_LZMA

#include "frames.h"
#include "xz.h"

#include <stdlib.h>

enum { LOOK = 1 << 16, INDEX_MEMORY = 1 << 24, CHECK_AT = 7 };

#if LZMA_VERSION >= 50040002

/* The indexes of all streams of S; NULL: it has none that is sound, or liblzma cannot. */
static lzma_index *index_of(struct trod_source *s)
{
    lzma_stream z = LZMA_STREAM_INIT;
    lzma_index *index = NULL;
    uint8_t *buf = malloc(LOOK);
    lzma_ret ret = buf ? lzma_file_info_decoder(&z, &index, INDEX_MEMORY, s->size) : LZMA_MEM_ERROR;
    uint64_t at = 0;

    while (ret == LZMA_OK) {
        struct trod_fault fault = {0};
        size_t n = 0;

        if (z.avail_in == 0) {
            if (trod_source_pread(s, buf, LOOK, at, &n, &fault) != TROD_OK || n == 0)
                break;
            z.next_in = buf;
            z.avail_in = n;
            at += n;
        }
        ret = lzma_code(&z, LZMA_RUN);
        if (ret == LZMA_SEEK_NEEDED) {
            at = z.seek_pos;
            z.avail_in = 0;
            ret = LZMA_OK;
        }
    }
    lzma_end(&z);
    free(buf);
    return ret == LZMA_STREAM_END ? index : NULL;
}

bool trod_xz_find(struct trod_frames *f, struct trod_source *s, uint64_t *decoded)
{
    lzma_index *index = index_of(s);
    lzma_index_iter at;
    bool sound = index != NULL;

    if (!sound)
        return false;
    lzma_index_iter_init(&at, index);
    while (sound && !lzma_index_iter_next(&at, LZMA_INDEX_ITER_NONEMPTY_BLOCK))
        sound = trod_frames_add(f,
                                at.block.number_in_stream == 1 ? at.stream.compressed_offset
                                                               : at.block.compressed_file_offset,
                                at.block.uncompressed_file_offset);
    *decoded = lzma_index_uncompressed_size(index);
    lzma_index_end(index, NULL);
    return sound && f->n > 1 && f->at[0].packed == 0;
}

#else

bool trod_xz_find(struct trod_frames *f, struct trod_source *s, uint64_t *decoded)
{
    (void)f, (void)s, (void)decoded;
    return false;
}

#endif

struct trod_xz_blocks {
    lzma_stream z;
    lzma_block block;
    lzma_filter filters[LZMA_FILTERS_MAX + 1];
    lzma_index *index;
    enum { BETWEEN, INSIDE, IN_INDEX, IN_FOOTER, BEHIND } state;
    uint8_t check;
};

static void free_filters(struct trod_xz_blocks *b)
{
    for (size_t i = 0; i < LZMA_FILTERS_MAX && b->filters[i].id != LZMA_VLI_UNKNOWN; i++) {
        free(b->filters[i].options);
        b->filters[i].options = NULL;
    }
    b->filters[0].id = LZMA_VLI_UNKNOWN;
}

int trod_xz_blocks_new(struct trod_xz_blocks **out, struct trod_stage *s)
{
    struct trod_xz_blocks *b = calloc(1, sizeof *b);

    *out = b;
    if (!b)
        return TROD_ERR_NOMEM;
    b->filters[0].id = LZMA_VLI_UNKNOWN;
    /* all streams of a file have the same check, or the first block tells */
    return trod_frame_look(s->source, CHECK_AT, &b->check, 1) ? TROD_OK : TROD_ERR_CORRUPT;
}

void trod_xz_blocks_free(struct trod_xz_blocks *b)
{
    if (!b)
        return;
    lzma_end(&b->z);
    lzma_index_end(b->index, NULL);
    free_filters(b);
    free(b);
}

/* N bytes of input are at hand. */
static bool have(struct trod_stage *s, size_t n)
{
    while (s->n < n && trod_stage_more(s))
        ;
    return s->n >= n;
}

/* What begins between two blocks: another one, or the index. */
static lzma_ret begin(struct trod_xz_blocks *b, struct trod_stage *s)
{
    lzma_ret ret;

    if (!have(s, 1))
        return LZMA_BUF_ERROR;
    if (*s->p == 0) {
        b->state = IN_INDEX;
        return lzma_index_decoder(&b->z, &b->index, INDEX_MEMORY);
    }
    b->block = (lzma_block){.version = 1, .check = b->check & 15, .filters = b->filters};
    b->block.header_size = lzma_block_header_size_decode(*s->p);
    if (!have(s, b->block.header_size))
        return LZMA_BUF_ERROR;
    ret = lzma_block_header_decode(&b->block, NULL, s->p);
    if (ret != LZMA_OK) {
        b->filters[0].id = LZMA_VLI_UNKNOWN;
        return ret;
    }
    ret = lzma_raw_decoder_memusage(b->filters) > TROD_DECODER_MEMORY
              ? LZMA_MEMLIMIT_ERROR
              : lzma_block_decoder(&b->z, &b->block);
    trod_stage_use(s, b->block.header_size);
    b->state = INSIDE;
    return ret;
}

/* Behind the index: the footer of the stream. */
static lzma_ret footer(struct trod_xz_blocks *b, struct trod_stage *s)
{
    lzma_stream_flags flags;

    if (!have(s, LZMA_STREAM_HEADER_SIZE))
        return LZMA_BUF_ERROR;
    b->state = BEHIND;
    return lzma_stream_footer_decode(&flags, s->p) == LZMA_OK
               ? (trod_stage_use(s, LZMA_STREAM_HEADER_SIZE), LZMA_OK)
               : LZMA_DATA_ERROR;
}

lzma_ret trod_xz_blocks_read(struct trod_xz_blocks *b, struct trod_stage *s, uint8_t *out,
                             size_t cap, size_t *n)
{
    lzma_ret ret = LZMA_OK;

    while (ret == LZMA_OK && *n < cap && b->state != BEHIND) {
        if (b->state == BETWEEN) {
            ret = begin(b, s);
            continue;
        }
        if (b->state == IN_FOOTER) {
            ret = footer(b, s);
            continue;
        }
        if (s->n == 0 && *n)
            return LZMA_OK; /* what was made goes out before more is waited for */
        if (s->n == 0 && !trod_stage_more(s))
            return LZMA_BUF_ERROR;
        b->z.next_in = s->p;
        b->z.avail_in = s->n;
        b->z.next_out = out + *n;
        b->z.avail_out = cap - *n;
        ret = lzma_code(&b->z, LZMA_RUN);
        trod_stage_use(s, s->n - b->z.avail_in);
        *n = cap - b->z.avail_out;
        if (ret == LZMA_STREAM_END) {
            if (b->state == INSIDE)
                free_filters(b);
            b->state = b->state == INSIDE ? BETWEEN : IN_FOOTER;
            ret = LZMA_OK;
        }
    }
    return ret == LZMA_OK && b->state == BEHIND ? LZMA_STREAM_END : ret;
}

#else
struct trod_io_xz_blocks_is_empty; /* ISO C wants a declaration in a file */
#endif
