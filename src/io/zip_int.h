/*
 * zip_int.h - an archive that is being read, for the files zip_*.c.
 */
#ifndef TROD_IO_ZIP_INT_H
#define TROD_IO_ZIP_INT_H

#include "points.h"
#include "zip.h"

enum { ZIP_ENCRYPTED = 1 }; /* flag of a member */

/* How far a member is decoded. */
struct zip_decoder {
    struct trod_zip_bytes in;
    struct trod_zip_codec *codec;
    uint64_t begun; /* where its packed bytes begin in the archive */
    uint64_t left;  /* packed bytes of it to come; TROD_NOWHERE: until it ends itself */
    uint64_t made;  /* bytes of it, those held back included */
    uint32_t crc;   /* of these */
};

enum zip_step {
    ZIP_CORRUPT = -1,
    ZIP_GOES_ON,
    ZIP_ENDS,
    ZIP_STARVED,  /* the archive ends, or what is said to be the member's bytes */
    ZIP_TOO_LONG, /* more bytes than the directory says: only so many are made */
};

/* D, whose input stands at the bytes of M, begins it. Returns 0 or TROD_ERR_UNSUPPORTED. */
int zip_decode_begin(struct zip_decoder *d, const struct trod_zip_member *m);
/*
 * One step of M, which D is in, into *MADE bytes at OUT, which is set to those made. *WHY says what
 * is corrupt.
 */
enum zip_step zip_decode(struct zip_decoder *d, const struct trod_zip_member *m, uint8_t *out,
                         size_t *made, const char **why);

struct zip_ahead;

/* A header behind the bytes of some member: offset, hash of its name, checksum. */
struct zip_header {
    uint64_t at, name;
    uint32_t crc;
};

struct zip {
    struct trod_source inner;
    struct zip_decoder dec;
    struct trod_zip_member now;  /* the member being read, as it is read (zip_place) */
    bool scanning;               /* no central directory */
    bool open;                   /* a member is being read */
    bool sound;                  /* the last one was good to its end */
    bool inside;                 /* it was entered at a point: its checksum is not known */
    size_t next;                 /* member to open next; that before it is being read */
    uint64_t delivered;          /* bytes of the decoded stream */
    size_t coming;               /* bytes that will be before a problem that is met now */
    enum trod_damage_left left;  /* of the problem that is reported next, alone */
    uint8_t hold[TROD_ZIP_STEP]; /* made but not delivered: it may have to be thrown away */
    size_t n_hold;
    uint8_t *small; /* what did not fit the room of a tiny read */
    size_t n_small, small_at;

    pthread_mutex_t lock; /* of what follows */
    struct trod_zip_list list;

    bool searched; /* for headers that stand behind members (zip_place.c) */
    struct zip_header *found;
    size_t n_found, cap_found;

    struct trod_damages damages;
    struct trod_point *point; /* where reading may go on inside a member; NULL: nowhere */
    struct zip_ahead *ahead;  /* threads that decode members to come; NULL: none */
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

/* Keep a problem of MEMBER (SIZE_MAX: of none) at this place. Returns STATUS. */
int zip_problem(struct zip *z, size_t member, int status, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* --- where members are (zip_place.c) --- */

/*
 * Is the header of member K of LIST where the directory says, and do both agree? Then B stands
 * behind it.
 */
bool zip_agrees(struct trod_zip_bytes *b, const struct trod_zip_list *list, size_t k);
/*
 * The directory was just read. Where its offsets of headers are all wrong by one number, as bytes
 * were put before the archive, they are put right and this is reported.
 */
void zip_shift(struct zip *z);
/*
 * Go to the bytes of member K and set z->now. What is wrong with its header or its entry is
 * reported; false: they are nowhere.
 */
bool zip_place(struct zip *z, size_t k);
/*
 * Do the bytes at DATA of the archive, read as M says, end by themselves as it says? *SIZE: how
 * many they make.
 */
bool zip_decodes(struct zip *z, const struct trod_zip_member *m, uint64_t data, uint64_t *size);

/* --- members that are decoded ahead (zip_ahead.c) --- */

/* The member being read has got so far that those behind it will be wanted: threads begin them. */
void zip_ahead_start(struct zip *z);
/* What a thread has made of the member just opened, if any has, is used: the rest is decoded from
 * there. */
void zip_ahead_adopt(struct zip *z);
/*
 * Up to CAP bytes of what was made of the member being read, to OUT. Returns how many; 0: none is
 * left. *ENDS: the member ends with them.
 */
size_t zip_ahead_take(struct zip *z, uint8_t *out, size_t cap, bool *ends);
/* Reading goes on somewhere else: what was made of the member being read is not wanted. */
void zip_ahead_moved(struct zip *z);
void zip_ahead_free(struct zip_ahead *a);

#endif
