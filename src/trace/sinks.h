/*
 * sinks.h - the output files of a writer: which rows go to which, how many are open at once.
 */
#ifndef TROD_TRACE_SINKS_H
#define TROD_TRACE_SINKS_H

#include "io/output.h"
#include "trace/folder.h"
#include "trace/optspec.h"
#include "trod/writer.h"

/* One output file. */
struct trod_file_sink {
    struct trod_output *out; /* NULL: no row was kept yet */
    void *enc;
    uint32_t key;
    uint32_t parts;        /* begun in the archive */
    uint32_t newer, older; /* among those that are open, index + 1; 0: none */
    bool open;             /* not parked */
    bool whole;            /* copied without rows: written and sealed */
};

struct trod_sinks {
    const struct trod_optspec *spec;
    struct trod_output_options output;
    struct trod_crew *crew; /* compresses all files; NULL: who writes does */
    const struct trod_meta *meta;
    struct trod_diag *diag;
    struct trod_loss *loss;
    char *path;
    char suffix[16];
    bool directory;
    struct trod_folder folder; /* of a directory */
    uint32_t drops;
    struct trod_file_sink *sink;
    size_t n, cap;
    uint32_t *by_key; /* index + 1 */
    uint32_t n_keys;
    uint32_t newest, oldest, n_open, open_max;
};

/* Is PATH, for F, a directory to be filled rather than a file? */
bool trod_sinks_directory(const struct trod_format *f, const char *path,
                          const struct trod_output_options *output);

/*
 * S (spec, output, meta, diag, drops set by the caller) for PATH, which is copied. Returns 0 or an
 * error, reported.
 */
int trod_sinks_open(struct trod_sinks *s, const char *path);

/*
 * A file, if there is none yet: a folder without rows has a trace without rows, as a file has. It
 * is the first one that an encoder was made for, or that of stream 0. Returns 0 or an error,
 * reported.
 */
int trod_sinks_some(struct trod_sinks *s);

/* The sink for the rows of STREAM, made if it is new, open. */
int trod_sinks_of(struct trod_sinks *s, uint32_t stream, struct trod_file_sink **out);
/*
 * The same for rows that are left out: its encoder is to see them, also before the first row that
 * is kept. No file is made for them.
 */
int trod_sinks_encoder(struct trod_sinks *s, uint32_t stream, struct trod_file_sink **out);
/*
 * The sink of file KEY, whatever stream that is of, with an encoder and no file yet; valid until
 * the next one is made.
 */
int trod_sinks_keyed(struct trod_sinks *s, uint32_t key, struct trod_file_sink **out);
/* The file of K, which has none yet; it is not among those that are parked. 0 or an error. */
int trod_sinks_open_file(struct trod_sinks *s, struct trod_file_sink *k);
/* The sink itself, open; it becomes the one used last. */
int trod_sinks_use(struct trod_sinks *s, struct trod_file_sink *sink);

/* What follows goes to a new part of K's archive. */
int trod_sinks_part(struct trod_file_sink *sink);

/* All encoders have finished: the files that stand beside; then all files get their names. */
int trod_sinks_commit(struct trod_sinks *s, uint64_t *bytes);
void trod_sinks_fini(struct trod_sinks *s);

#endif
