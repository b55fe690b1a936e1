/*
 * row.h - one row, taken out of its batch in a form that can be matched with any other format's.
 *
 * Rows are counted: queues, contexts and differences that wait share them. They come from a pool of
 * the run (pool.c), so that taking a row costs no call of malloc.
 */
#ifndef TROD_COMPARE_ROW_H
#define TROD_COMPARE_ROW_H

#include "compare/fields.h"
#include "core/hash.h"
#include "core/times.h"
#include "trod/compare.h"

enum { CMP_NAME = 64, CMP_TEXT = 200, CMP_READS = 3, CMP_CLASSES = 48, CMP_NAMES = 512 };
enum { CMP_WORD = 1024 };

struct cmp_read {
    uint64_t addr;
    uint32_t size;
};

struct cmp_row {
    struct trod_compare_row pub;
    uint64_t addr, target, pc; /* where the other side has them (slides) */
    uint64_t name_id;          /* of the canonical name or the disassembly; 0: none */
    uint64_t base_id;          /* of a register's name without its bank */
    uint64_t mode;             /* hash of the mode, 0: none */
    uint64_t subject;          /* rows that agree have the same */
    uint64_t exact;            /* and rows that say all in full have this in common as well, or 0 */
    uint64_t place;            /* how many rows of its lane and side came before it */
    struct cmp_row *owner;     /* the instruction it belongs to, counted; NULL: none known */
    struct cmp_read *reads;    /* of an INSTR: what its READ rows read */
    uint8_t *wide;             /* a value beyond 64 bits: its bytes, as many with the bits that are
                                * known, as many with those that are not written */
    uint64_t unwritten;        /* bits of value that are not known because they are not written */
    struct cmp_detail detail;  /* where details or modes are compared */
    const char *word;          /* name, record not understood, disassembly where it is compared: */
    uint32_t word_len;         /* the first CMP_WORD bytes */
    uint32_t refs, wide_size;
    uint8_t cls;      /* number of its class: bit of enum trod_track */
    uint8_t mode_sec; /* security suffix of the mode, 0: none */
    uint8_t unit;
    uint8_t n_reads, pool_class;
    bool banked;
    uint16_t bits; /* of the register that its name stands for, 0: all */
};

/* What a register's name stands for. */
struct cmp_name {
    uint64_t key; /* the raw name, up to 8 bytes; 0: empty slot */
    uint64_t id, base, mask;
    unsigned bits; /* the width it implies, 0: none */
    bool banked, ignored;
};

struct cmp_pool {
    void *free[CMP_CLASSES]; /* lists, by size */
    void *chunks;
};

/* What rows are read and matched with: the rules of a run, and what is known of a side. */
struct cmp_rules {
    const struct trod_compare_options *opt;
    struct cmp_pool *pool;
    const struct trod_meta *meta[2];
    enum trod_isa isa; /* whose register names */
    bool big_endian;   /* data */
    bool endian_known;
    /* the opcodes of one side are little-endian and those of the other big-endian: both are taken
     * most significant byte first */
    bool mixed_code;
    struct cmp_fields fields; /* what counts */
    uint32_t track;           /* classes that count */
    uint8_t tick;             /* unit that ticks of the window are of, as meta[0] numbers it */
    struct trod_slide slides[TROD_COMPARE_SLIDES];
    size_t n_slides;
    uint64_t mask_name[TROD_COMPARE_MASKS]; /* ids of opt->masks */
    uint64_t ignored[TROD_COMPARE_MASKS];   /* ids of opt->ignore_registers */
    uint64_t alias[2][TROD_COMPARE_PAIRS];  /* ids of opt->aliases */
    struct cmp_name names[CMP_NAMES];       /* of late, by raw name */
};

/* Ids of names and texts are hashes, never 0: of hash H, of N bytes at P. */
static inline uint64_t cmp_id(uint64_t h)
{
    h ^= h >> 32;
    return h ? h : 1;
}

static inline uint64_t cmp_id_of(const char *p, size_t n)
{
    return cmp_id(trod_fnv(TROD_FNV, p, n));
}

/* Class number of each kind; TROD_TRACK_CLASSES: never compared. */
extern const uint8_t cmp_class_of[TROD_KINDS];

/*
 * The opcode of instruction I of B, side SIDE: its first MAX bytes to OUT, in an order that is the
 * same for both sides. Returns their number.
 */
uint32_t cmp_code_of(const struct cmp_rules *rules, const struct trod_batch *b, uint32_t i,
                     int side, uint8_t *out, uint32_t max);

/*
 * Take row I of B, side SIDE, in a row of its own with one reference. NULL: no memory.
 */
struct cmp_row *cmp_row_take(const struct trod_batch *b, uint32_t i, int side,
                             struct cmp_rules *rules);
/* Another reference; one less. */
static inline struct cmp_row *cmp_row_keep(struct cmp_row *row)
{
    row->refs++;
    return row;
}
void cmp_row_drop(struct cmp_pool *pool, struct cmp_row *row);
/* ROW belongs to instruction OWNER (NULL: to none that is known). */
void cmp_row_own(struct cmp_pool *pool, struct cmp_row *row, struct cmp_row *owner);

/* The detail of instruction I that gives a mode; NULL: none does. */
const struct trod_detail_instr *cmp_mode_of(const struct trod_batch *b, uint32_t i);

/* What a row says that is not understood: its record from the type word on, without line end. */
struct trod_slice cmp_note_of(const struct trod_batch *b, uint32_t i);

/* Flags of row I, 0 where it gives none. */
static inline uint32_t cmp_flags_of(const struct trod_batch *b, uint32_t i)
{
    return b->have & b->has[i] & TROD_COL_FLAGS ? b->flags[i] : 0;
}

/* N bytes, zeroed; *CLS is to be handed back with them. NULL: no memory. */
void *cmp_pool_take(struct cmp_pool *pool, size_t n, uint8_t *cls);
void cmp_pool_give(struct cmp_pool *pool, void *p, uint8_t cls);
void cmp_pool_fini(struct cmp_pool *pool);

/* Find anew where ROW of SIDE lies: slides have changed. */
void cmp_row_slide(struct cmp_row *row, int side, const struct cmp_rules *rules);

/* Address ADDR of SIDE where the other side has it. */
uint64_t cmp_slide(const struct cmp_rules *rules, int side, uint64_t addr);

/* Whether value A of side 0 is value B of side 1 as an address, in the bits of MASK. */
bool cmp_value_slides(const struct cmp_rules *rules, uint64_t a, uint64_t b, uint64_t mask);

/*
 * The columns in which rows A (side 0) and B (side 1) contradict each other; 0 when they agree in
 * all that both say. TROD_COL_KIND when they are not comparable at all.
 */
uint32_t cmp_row_differs(const struct cmp_row *a, const struct cmp_row *b,
                         const struct cmp_rules *rules);

/* explain.c: the fields in which A and B differ, with what they say. Returns how many. */
size_t cmp_row_explain(const struct cmp_row *a, const struct cmp_row *b,
                       const struct cmp_rules *rules,
                       struct trod_compare_field out[TROD_COMPARE_FIELDS]);

/* Whether two units have other names; A and B: the traces that number them. */
bool cmp_unit_names_differ(const struct trod_meta *a, unsigned unit_a, const struct trod_meta *b,
                           unsigned unit_b);

/* The same; only units of a trace's own have names that must be looked at. */
static inline bool cmp_units_differ(const struct trod_meta *a, unsigned unit_a,
                                    const struct trod_meta *b, unsigned unit_b)
{
    if ((unit_a & 15) < TROD_UNITS && (unit_b & 15) < TROD_UNITS)
        return (unit_a & 15) != (unit_b & 15);
    return cmp_unit_names_differ(a, unit_a, b, unit_b);
}

/*
 * Which of TROD_COL_TIME and TROD_COL_UNIT differ of times T and U in units UNIT_T and UNIT_U, of
 * columns BOTH. Times that can be compared are: 10.5 us and 10500 ns are one.
 */
static inline uint32_t cmp_times_differ(const struct trod_meta *const meta[2], uint32_t both,
                                        uint64_t t, uint8_t unit_t, uint64_t u, uint8_t unit_u)
{
    const uint32_t time = both & TROD_COL_TIME, unit = both & TROD_COL_UNIT;
    int power;

    if (!unit || (unit_t == unit_u && (unit_t & 15) < TROD_UNITS))
        return t != u ? time : 0;
    if (!time)
        return cmp_units_differ(meta[0], unit_t, meta[1], unit_u) ? unit : 0;
    if (trod_time_power(unit_t, &power) ? !trod_time_power(unit_u, &power)
                                        : cmp_units_differ(meta[0], unit_t, meta[1], unit_u))
        return unit | (t != u ? time : 0);
    return trod_time_compare(t, unit_t, u, unit_u) ? time : 0;
}

/* The unit of the time of ROW, of SIDE. */
static inline uint8_t cmp_unit(const struct cmp_rules *rules, int side, const struct cmp_row *row)
{
    return row->pub.has & TROD_COL_UNIT ? row->unit : rules->meta[side]->unit;
}

/* Can times of SIDE in UNIT be measured in ticks of the window? */
static inline bool cmp_ticks(const struct cmp_rules *rules, int side, uint8_t unit)
{
    int power;

    return trod_time_power(rules->tick, &power)
               ? trod_time_power(unit, &power)
               : !cmp_units_differ(rules->meta[0], rules->tick, rules->meta[side], unit);
}

/* What STREAM of SIDE is called, "" where it has no name. */
const char *cmp_stream(const struct cmp_rules *rules, int side, uint32_t stream);
/* The number of the process that STREAM of SIDE belongs to, TROD_NOWHERE where it is not known. */
uint64_t cmp_pid(const struct cmp_rules *rules, int side, uint32_t stream);

/* Byte I of the value of R, and which of its bits are known. What is beyond a value is zero. */
uint8_t cmp_value_byte(const struct cmp_row *r, uint32_t i, uint8_t *known);
/* Number of the highest byte in which the values of A and B, N bytes, contradict each other, or -1.
 */
int64_t cmp_value_differs_at(const struct cmp_row *a, const struct cmp_row *b, uint32_t n,
                             const struct cmp_rules *rules);

/* Bits of flags of A and B that differ and count. */
uint32_t cmp_flags_differ(uint32_t a, uint32_t b, const struct cmp_fields *f);

/* Whether A and B are about the same thing: the same register, the same address, the same event. */
bool cmp_row_same_subject(const struct cmp_row *a, const struct cmp_row *b);

/* A key under which equal subjects fall; for instructions address and opcode. */
uint64_t cmp_row_key(const struct cmp_row *r, bool with_code);

/* What register name NAME stands for. */
struct cmp_name cmp_name_of(const struct cmp_rules *rules, const char *name, size_t len);
/* The same through the table of names. Valid until the next call. */
const struct cmp_name *cmp_name_find(struct cmp_rules *rules, const char *name, size_t len);
/* Fill ids of masks, ignored registers and aliases from the options; rules->isa is set. */
void cmp_names_prepare(struct cmp_rules *rules);

#endif
