/*
 * zip_int.h - an archive that is being read, for zip.c and zip_point.c.
 */
#ifndef TROD_IO_ZIP_INT_H
#define TROD_IO_ZIP_INT_H

#include "points.h"
#include "zip.h"

struct problem {
    uint64_t at;   /* in the decoded stream */
    size_t member; /* SIZE_MAX: none */
    int status;
    const char *kind;
    char text[120];
};

struct zip {
    struct trod_source inner;
    struct trod_zip_bytes in;
    struct trod_zip_codec *codec;
    bool scanning;  /* no central directory */
    bool open;      /* a member is being read */
    bool sound;     /* the last one was good to its end */
    bool inside;    /* it was entered at a point: its checksum is not known */
    size_t next;    /* member to open next; that before it is being read */
    uint64_t begun; /* where its packed bytes begin in the archive */
    uint64_t left;  /* packed bytes of it to come; TROD_NOWHERE: until it ends itself */
    uint64_t made;  /* bytes of it, those held back included */
    uint32_t crc;
    uint64_t delivered;          /* bytes of the decoded stream */
    size_t coming;               /* bytes that will be before a problem that is met now */
    uint8_t hold[TROD_ZIP_STEP]; /* made but not delivered: it may have to be thrown away */
    size_t n_hold;
    uint8_t *small; /* what did not fit the room of a tiny read */
    size_t n_small, small_at;

    pthread_mutex_t lock; /* of what follows */
    struct trod_zip_list list;
    struct problem *problems;
    size_t n_problems, cap_problems;
    uint64_t lost;      /* problems past TROD_ZIP_PROBLEMS */
    uint64_t first_bad; /* the smallest AT of a problem; TROD_NOWHERE: none */

    struct trod_point *point; /* where reading may go on inside a member; NULL: nowhere */
};

static inline struct zip *zip_of(const struct trod_source *s)
{
    return s->archive;
}

/*
 * The member that was just opened goes on at its point, whose bits begin in byte AT of the archive.
 * False: it cannot.
 */
bool trod_zip_enter(struct zip *z, uint64_t at);

#endif
