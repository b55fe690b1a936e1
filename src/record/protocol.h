/*
 * protocol.h - the memory that the QEMU plugin and the recorder share.
 *
 * Implements docs/recording.md, "How it works". The plugin only collects: the threads of the
 * traced program fill blocks of 64-bit events; a full block is handed to the recorder and a free
 * one taken. The memory outlives the program, so what a killed program has written is there to be
 * read. Nobody holds a lock, so nobody can die with one: a block belongs to whom its state says.
 * Static instructions are described once, in a log that is only appended to: a stretch of them that
 * is always executed as a whole is known by its place in the log.
 */
#ifndef TROD_RECORD_PROTOCOL_H
#define TROD_RECORD_PROTOCOL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>

enum {
    REC_MAGIC = 0x74726f64, /* "trod" */
    REC_VERSION = 6,
    REC_BLOCK_WORDS = 8192,
    REC_BLOCK_HEAD = 8,    /* words of struct rec_block */
    REC_BLOCK_SLACK = 512, /* words behind the place where a new block is begun */
    REC_EVENT_WORDS = 280, /* the largest event */
    REC_BLOCKS = 32768,    /* at the most; memory is taken as they are used */
    REC_BLOCKS_FIRST = 128,
    REC_SLOTS = 65536,
    REC_INSN_CODE = 16,
    REC_WRITES = 40,      /* registers that an instruction writes, at the most */
    REC_REGS = 128,       /* numbers of registers */
    REC_MAYBE = 0x8000,   /* of such a number: it may be written; reported only if it changes */
    REC_ASKS = 64,        /* questions of the plugin at a time */
    REC_CHAINS = 1 << 16, /* of entries of the log, by their content */
    REC_PATH = 4096,
    REC_CPU = 64,
    REC_LOSSES = 16, /* programs that were lost and are named */
    REC_LOST_NAME = 256
};

#define REC_LOG_BYTES (UINT64_C(1) << 29)

/* What the low 32 bits of an event are for is in bits 56 to 62; bit 63: a memory access. */
enum rec_event {
    REC_SEGMENT, /* low 32 bits: place in the log / 8. Bits 32 to 55 are 0 */
    REC_MEMORY, /* low bits: REC_STORE >> 32 and size; then the address: one of more than 59 bits */
    REC_SYSCALL, /* low 32 bits: number; then the time, 6 arguments */
    REC_SYSRET,  /* low 32 bits: number; then the time, the value */
    REC_SYNC,    /* low 32 bits: enum rec_sync; then the sync point, its count in the upper half */
    REC_REGISTERS, /* low 32 bits: 3; then so many values, as the instruction before wants */
    REC_STATE, /* registers that the instruction before has written; low 32 bits: words that follow:
                  a register's number and, from bit 16 on, how many words its value has; the value,
                  lowest word first; the next register */
    REC_ALL,   /* the same: all registers, whoever wrote them */
    REC_VALUE, /* low 32 bits: words that follow: what the access before moved, as in memory */
    REC_PHYSICAL, /* low 32 bits: enum rec_physical; then the physical addresses of the access
                     before: of its first byte, of its first byte in the next page */
    REC_PORT, /* low 16 bits: port that is accessed; from bit 16 on log 2 of the bytes, REC_PORT_OUT
               */
    REC_EXEC, /* the process is another program from here on. Low 32 bits: its image */
    REC_CALL, /* low 16 bits: number of a function; from bit 16 on how many arguments follow behind
                 the return address */
    REC_RETURN, /* low 32 bits: number of the function that returns; then its result */
    REC_MODE,   /* low 32 bits: REC_MODE_BITS of the program status from the next instruction on */
    REC_SIGNALLED, /* a handler begins. Low 32 bits: number of the signal; then the address at which
                      what it interrupted goes on */
    REC_EVENTS
};

#define REC_EVENT_MEMORY  (UINT64_C(1) << 63)
#define REC_EVENT_STORE   (UINT64_C(1) << 62)
#define REC_EVENT_SIZE    59 /* log 2 of the bytes: bits 59 to 61 */
#define REC_EVENT_ADDRESS ((UINT64_C(1) << REC_EVENT_SIZE) - 1)
#define REC_EVENT_TYPE    56

enum rec_physical { REC_DEVICE = 1 }; /* it is no memory */

enum { REC_PORT_SIZE = 16, REC_PORT_OUT = 1 << 20 };

/* Arm: mode or exception level, and which exceptions are masked; not the flags. */
enum { REC_MODE_BITS = 0x3df };

enum { REC_PAGE_BITS = 12 };

/* A static instruction. */
struct rec_insn {
    uint64_t pc;
    uint8_t size;
    uint8_t thumb; /* ARM: 1: T32, 0: A32. x86: 1: more bytes may belong to it than SIZE: they are
                      in code */
    /* The recorder's own: */
    uint8_t length; /* bytes of the instruction */
    uint8_t text_len;
    uint32_t flags;  /* enum rec_insn_flag | enum trod_flag; 0: not looked at */
    uint32_t access; /* bytes that one access is expected to have: read | write << 16 */
    uint32_t text;   /* disassembly: place in the log, 0: none */
    uint8_t code[REC_INSN_CODE];
};

/*
 * An entry of the log: N instructions that are executed as a whole. Of a whole machine: 1 + the
 * number of the physical page in which they begin, and of the one that the last one reaches into
 * (0: not known), and all begin in one page. Of programs, where places are looked for: PAGE is the
 * image. Entries whose contents have the same hash form a chain.
 */
struct rec_segment {
    uint32_t n, page, next_page, next; /* NEXT: place / 8, 0: the last of its chain */
    struct rec_insn insn[];
};

/*
 * Behind an entry of the log, where registers are wanted (then entries are of one instruction): the
 * registers that it writes, by their numbers in QEMU's debugger interface (and of vectors from
 * REC_VECTORS on). Filled in by the recorder when the plugin asks.
 */
struct rec_writes {
    _Atomic uint32_t known; /* 0: not filled in yet */
    uint16_t n;
    uint8_t jumps; /* where it goes on does not follow from its address */
    uint8_t any;   /* it is not known which it writes: all that change are reported */
    uint16_t reg[REC_WRITES];
};

/* The head of a block; REC_BLOCK_WORDS - REC_BLOCK_HEAD events follow. */
struct rec_block {
    uint32_t slot, cpu;
    uint64_t seq;  /* number among the blocks of its slot */
    uint64_t time; /* microseconds since 1970 when its first event was written */
    uint64_t words;
    uint64_t unused[4];
};

/* States of a block: free, handed over, or 2 + the slot that fills it. */
enum rec_state { REC_FREE, REC_FULL, REC_OWNED };

enum rec_slot_state { REC_SLOT_NONE, REC_SLOT_LIVE, REC_SLOT_ENDED };

/* A thread of the program. p, base and end are addresses in its process. */
struct rec_slot {
    uint64_t *p, *end, *base;
    uint64_t seq;
    uint32_t block;
    uint32_t pid, tid;
    uint32_t vcpu;
    _Atomic uint32_t state;
    uint32_t unused[3];
};

/* What the plugin must know of the instruction set, to see what cannot fail. */
enum rec_isa { REC_X86, REC_X86_64, REC_A64, REC_ARM, REC_PPC, REC_MIPS, REC_MIPSEL, REC_OTHER };

/* Numbers of registers, where the recorder and the plugin both have to know them. */
enum {
    REC_X86_EDX = 2,
    REC_X86_SP = 4,
    REC_X86_64_SP = 7,
    REC_PPC_SP = 1,
    REC_PPC_FPR = 32,
    REC_PPC_MSR = 65,
    REC_PPC_CR = 66,
    REC_PPC_LR = 67,
    REC_PPC_CTR = 68,
    REC_PPC_XER = 69,
    REC_PPC_FPSCR = 70,
    REC_PPC_VR = 71,
    REC_PPC_VSCR = 103,
    REC_PPC_VRSAVE = 104,
    REC_A64_SP = 31,
    REC_A64_CPSR = 33,
    REC_A64_V = 34,
    REC_A64_FPSR = 66,
    REC_A64_FPCR = 67,
    REC_ARM_SP = 13,
    REC_ARM_CPSR = 25,
    REC_ARM_D = 34, /* with the interface for plugins only */
    REC_ARM_FPSCR = 66,
    REC_MIPS_SP = 29,
    REC_MIPS_LO = 33,
    REC_MIPS_HI = 34,
    REC_MIPS_F = 38
};

/* Codes of the Amber document's synchronization records. */
enum rec_sync { REC_SIGNAL = 0x20, REC_BROADCAST = 0x21, REC_WAIT = 0x30, REC_TRY_WAIT = 0x31 };

/* The same for where recording begins and ends. */
enum { REC_AT_START = 1, REC_AT_STOP = 2 };

/* Codes from here on: the function of that number among those that are recorded by name. */
enum { REC_CALLED = 0x100 };

enum { REC_FUNCTIONS = 512, REC_ARGUMENTS = 8, REC_POINTS = 1 << 14 };

/* A mutex or condition variable. */
struct rec_point {
    _Atomic uint32_t address, count;
};

/* Reasons why something is missing in the recording. */
enum rec_trouble {
    REC_LOG_FULL = 1 << 0,    /* too much code */
    REC_NO_SLOT = 1 << 1,     /* too many threads */
    REC_BAD_PLUGIN = 1 << 2,  /* the plugin could not begin */
    REC_NO_REGISTERS = 1 << 3 /* they are wanted, and this QEMU has no way to them */
};

/* What the plugin found that QEMU can tell. */
enum rec_gives {
    REC_GIVES_REGISTERS = 1 << 0,
    REC_GIVES_VECTORS = 1 << 1,
    REC_GIVES_VALUES = 1 << 2
};

/* Why a program that was executed is not in the trace. */
enum rec_lost {
    REC_LOST_NONE,
    REC_LOST_ISA,    /* it has another instruction set */
    REC_LOST_FORM,   /* neither an ELF file nor a script */
    REC_LOST_RIGHTS, /* it runs with other rights (set-user-ID and the like) */
    REC_LOST_READ,   /* its file or its arguments cannot be read */
    REC_LOST_SYSTEM, /* QEMU could not be started, or has no way to the shared memory */
    REC_LOST_REASONS
};

/* What executes programs: how QEMU is started once more. Written before the first program begins.
 */
struct rec_follow {
    uint8_t head[20]; /* of the ELF file: class, byte order and machine of programs to follow */
    uint32_t fd;      /* of the shared memory, of the recorder */
    uint32_t no_children;
    char qemu[REC_PATH], sysroot[REC_PATH], plugin[REC_PATH], cpu[REC_CPU];
};

struct rec_shared {
    uint32_t magic, version;
    uint64_t total;                              /* bytes of all */
    uint64_t slots, states, chains, blocks, log; /* offsets */
    pthread_mutex_t alive; /* robust, and locked by the recorder for as long as it lives */
    struct rec_follow follow;
    _Atomic uint32_t images; /* programs that were executed and followed */
    _Atomic uint32_t first;  /* process of the first program */
    _Atomic uint32_t lost;   /* programs that were executed and not followed */
    struct {
        _Atomic uint32_t why; /* enum rec_lost */
        char path[REC_LOST_NAME];
    } losses[REC_LOSSES];
    uint32_t recorder;               /* its process */
    uint32_t memory;                 /* are accesses wanted? */
    uint32_t registers;              /* are registers wanted? */
    uint32_t values;                 /* are the values of accesses wanted? */
    uint32_t isa;                    /* enum rec_isa */
    uint32_t system;                 /* a whole machine, not a program */
    uint32_t exec[4];                /* system calls after which the process may be another */
    _Atomic uint32_t started;        /* the plugin has begun: 1 + version of its API */
    _Atomic uint32_t stop;           /* nothing more is wanted */
    _Atomic uint32_t trouble;        /* enum rec_trouble */
    _Atomic uint64_t code;           /* where the program's code lies, 0: not known yet */
    _Atomic uint32_t gives;          /* enum rec_gives: what this QEMU can tell */
    _Atomic uint32_t asks[REC_ASKS]; /* entries of the log: what do they write? 0: none */
    _Atomic uint32_t n_slots, n_blocks;
    _Atomic uint64_t log_used;
    sem_t full, free, ask, seek;
    uint32_t calls;          /* are calls of functions wanted? */
    uint32_t pthreads;       /* are records of synchronization wanted? */
    uint32_t seeks;          /* are functions looked for by name? */
    _Atomic uint32_t seeker; /* a process that has loaded code and waits, 0: none */
    uint64_t guest_base;     /* where it has the program's address 0 */
    uint32_t seeker_image;   /* its image */
    uint32_t placed;         /* are places looked for? Then entries of the log tell images apart */
    /* Functions that were found, as they are: more may come. */
    _Atomic uint32_t n_functions;
    struct {
        uint64_t address;
        uint32_t code, image; /* code: enum rec_sync, REC_AT_START, REC_AT_STOP, REC_CALLED ... */
        uint8_t arguments;    /* REC_CALLED ...: how many are recorded */
        uint8_t returns;      /* and its result */
    } functions[REC_FUNCTIONS];
    struct rec_point points[REC_POINTS];
};

static inline struct rec_slot *rec_slots(struct rec_shared *s)
{
    return (struct rec_slot *)((char *)s + s->slots);
}

static inline _Atomic uint32_t *rec_states(struct rec_shared *s)
{
    return (_Atomic uint32_t *)((char *)s + s->states);
}

static inline _Atomic uint32_t *rec_chains(struct rec_shared *s)
{
    return (_Atomic uint32_t *)((char *)s + s->chains);
}

static inline struct rec_block *rec_block(struct rec_shared *s, uint32_t i)
{
    return (struct rec_block *)((char *)s + s->blocks + (uint64_t)i * REC_BLOCK_WORDS * 8);
}

static inline uint64_t *rec_words(struct rec_block *b)
{
    return (uint64_t *)b + REC_BLOCK_HEAD;
}

static inline uint8_t *rec_log(struct rec_shared *s)
{
    return (uint8_t *)s + s->log;
}

#endif
