/*
 * collect.c - events into blocks, on the threads of the program.
 *
 * Implements collect.h; see record/protocol.h for the events and for who owns which memory.
 * Nothing is formatted or looked up per event: a segment's event is the word that was registered
 * with it, an access is one word.
 */
#define _GNU_SOURCE /* sched_getcpu, syscall: of no system but Linux, as QEMU's user mode */
#include "record/plugin/collect.h"
#include "record/plugin/calls.h"
#include "record/plugin/follow.h"
#include "record/plugin/places.h"
#include "record/plugin/plain.h"
#include "record/plugin/registers.h"
#include "record/plugin/signals.h"
#include "record/plugin/state.h"
#include "record/plugin/sync.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LANES = 1 << 16, PATIENCE_NS = 100000000 };

static const uint32_t no_block = UINT32_MAX;

struct rec_shared *collect_shared;
uint32_t collect_image;

/* Events of threads that have no slot, or that nobody wants any more, go here. */
static uint64_t waste[REC_BLOCK_WORDS];
static struct rec_slot nowhere;

/*
 * What makes QEMU forget a plugin. Before version 2 of the interface it is not used: QEMU frees the
 * lists of calls for accesses, but a processor whose last instruction left its block on the way
 * still refers to one, and the next access that a helper makes would go by it.
 */
static qemu_plugin_id_t plugin;
static union {
    void *symbol;
    void (*call)(qemu_plugin_id_t id, void (*done)(qemu_plugin_id_t));
} reset;

static void forgotten(qemu_plugin_id_t id)
{
    (void)id;
}

static struct rec_slot *lanes[LANES]; /* by number of the vcpu */
static uint32_t lanes_used;
static _Thread_local struct rec_slot *mine;

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Whatever was written before it is there when the recorder, or a debugger, sees P. */
static inline void advance(struct rec_slot *s, uint64_t *p)
{
    uint64_t *volatile *at = &s->p;

    atomic_signal_fence(memory_order_release);
    *at = p;
}

static void discard(struct rec_slot *s)
{
    if (s->block == no_block) {
        s->base = waste;
        s->end = waste + REC_BLOCK_WORDS - REC_BLOCK_SLACK;
    }
    advance(s, s->base);
}

static void hand_over(struct rec_slot *s)
{
    uint32_t block = s->block;

    if (block == no_block)
        return;
    rec_block(collect_shared, block)->words = (uint64_t)(s->p - s->base);
    s->block = no_block;
    discard(s); /* full: the next event begins a block */
    s->p = s->end + REC_BLOCK_SLACK;
    atomic_store_explicit(&rec_states(collect_shared)[block], REC_FULL, memory_order_release);
    sem_post(&collect_shared->full);
}

bool collect_alone(void)
{
    struct rec_shared *shared = collect_shared;

    if (atomic_load(&shared->stop))
        return true;
    /* the recorder has it locked, its end gives it to whoever asks first */
    if (pthread_mutex_trylock(&shared->alive) == EBUSY)
        return false;
    atomic_store(&shared->stop, 1);
    return true;
}

/* Wait until there is a free block. False: there is no recorder any more. */
static bool wait_for_block(void)
{
    struct rec_shared *shared = collect_shared;

    while (sem_trywait(&shared->free) != 0) {
        struct timespec t;

        if (collect_alone())
            return false;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += PATIENCE_NS;
        if (t.tv_nsec >= 1000000000L) {
            t.tv_nsec -= 1000000000L;
            t.tv_sec++;
        }
        if (sem_timedwait(&shared->free, &t) == 0)
            return true;
    }
    return true;
}

static uint32_t take_block(uint32_t slot)
{
    struct rec_shared *shared = collect_shared;
    _Atomic uint32_t *state = rec_states(shared);

    if (!wait_for_block())
        return no_block;
    for (;;) { /* a free one is ours; others may take what we look at */
        uint32_t n = atomic_load(&shared->n_blocks);

        for (uint32_t i = 0; i < n; i++) {
            uint32_t expected = REC_FREE;

            if (atomic_load_explicit(&state[i], memory_order_relaxed) == REC_FREE &&
                atomic_compare_exchange_strong(&state[i], &expected, REC_OWNED + slot))
                return i;
        }
        if (atomic_load(&shared->stop))
            return no_block;
    }
}

/*
 * Nothing more is recorded, for as long as this process lives: where QEMU can, it forgets the
 * plugin and what that has put into translated code, and the program runs as without it.
 */
static void leave(void)
{
    static _Atomic bool left;
    int *singlestep = dlsym(RTLD_DEFAULT, "singlestep");

    if (atomic_exchange(&left, true))
        return;
    if (singlestep)
        *singlestep = 0;
    if (reset.symbol && !collect_shared->system)
        reset.call(plugin, forgotten);
}

/* Give S a block to write to, with the first event of its thread the thread's number as well. */
static void __attribute__((noinline)) refill(struct rec_slot *s)
{
    struct rec_shared *shared = collect_shared;
    uint32_t block, number = (uint32_t)(s - rec_slots(shared));
    struct rec_block *b;

    if (s == &nowhere || atomic_load(&shared->stop)) {
        discard(s);
        if (s != &nowhere)
            leave();
        return;
    }
    mine = s;
    if (s->tid == 0) {
        s->pid = (uint32_t)getpid();
        s->tid = shared->system ? 1 + s->vcpu : (uint32_t)syscall(SYS_gettid);
        atomic_store(&s->state, REC_SLOT_LIVE);
    }
    hand_over(s);
    block = take_block(number);
    if (block == no_block) {
        discard(s);
        leave();
        return;
    }
    b = rec_block(shared, block);
    *b = (struct rec_block){
        .slot = number, .cpu = (uint32_t)sched_getcpu(), .seq = s->seq++, .time = now()};
    s->base = rec_words(b);
    s->end = s->base + REC_BLOCK_WORDS - REC_BLOCK_HEAD - REC_BLOCK_SLACK;
    advance(s, s->base);
    s->block = block;
}

/* Where S's next event goes, one that may be the first of a block. */
static inline uint64_t *room(struct rec_slot *s)
{
    if (s->p >= s->end)
        refill(s);
    return s->p;
}

/* The same for what belongs to the event before: blocks are seldom cut there. */
static inline uint64_t *room_behind(struct rec_slot *s)
{
    if (s->p >= s->end + REC_BLOCK_SLACK - REC_EVENT_WORDS)
        refill(s);
    return s->p;
}

uint64_t *collect_room(unsigned vcpu, bool behind)
{
    return behind ? room_behind(lanes[vcpu % LANES]) : room(lanes[vcpu % LANES]);
}

void collect_advance(unsigned vcpu, uint64_t *p)
{
    advance(lanes[vcpu % LANES], p);
}

void collect_words(unsigned vcpu, const uint64_t *words, size_t n)
{
    struct rec_slot *s = lanes[vcpu % LANES];
    uint64_t *p = s->base ? room_behind(s) : room(s);

    memcpy(p, words, n * sizeof *words);
    advance(s, p + n);
}

static struct rec_slot *new_slot(unsigned vcpu)
{
    struct rec_shared *shared = collect_shared;
    uint32_t number = atomic_fetch_add(&shared->n_slots, 1);
    struct rec_slot *s = rec_slots(shared) + number;

    if (number >= REC_SLOTS) {
        atomic_fetch_sub(&shared->n_slots, 1);
        atomic_fetch_or(&shared->trouble, REC_NO_SLOT);
        return &nowhere;
    }
    s->vcpu = vcpu;
    s->block = no_block;
    state_thread(vcpu);
    calls_thread(vcpu);
    return s;
}

/* Later versions of QEMU say what was moved (qemu_plugin_mem_value, as documented). */
struct mem_value {
    int type;
    union {
        uint64_t words[2];
        uint8_t bytes[16];
    } data;
};
static union {
    void *symbol;
    struct mem_value (*call)(uint32_t info);
} get_value;

/* The block that S was writing to is complete: what wrote to it is gone. */
static void give_up(struct rec_slot *s, uint32_t number)
{
    const uint32_t i = s->block;

    if (i >= REC_BLOCKS || atomic_load(&rec_states(collect_shared)[i]) != REC_OWNED + number)
        return;
    s->block = no_block;
    if (s->p >= s->base && s->p < s->base + REC_BLOCK_WORDS)
        rec_block(collect_shared, i)->words = (uint64_t)(s->p - s->base);
    atomic_store_explicit(&rec_states(collect_shared)[i], REC_FULL, memory_order_release);
    sem_post(&collect_shared->full);
}

/*
 * The process has been another program until now: its threads have ended but one, which goes on
 * under the number of the process, in the slot that had it. NULL: none had.
 */
static struct rec_slot *adopt(void)
{
    const uint32_t n = atomic_load(&collect_shared->n_slots), self = (uint32_t)getpid();
    struct rec_slot *found = NULL;

    for (uint32_t i = 0; i < n && i < REC_SLOTS; i++) {
        struct rec_slot *s = rec_slots(collect_shared) + i;

        if (s->pid != self || atomic_load(&s->state) != REC_SLOT_LIVE)
            continue;
        give_up(s, i);
        if (s->tid != self) {
            atomic_store(&s->state, REC_SLOT_ENDED);
            continue;
        }
        if (found)
            atomic_store(&found->state, REC_SLOT_ENDED);
        found = s;
    }
    if (!found)
        return NULL;
    found->vcpu = 0;
    found->p = found->end = found->base = NULL;
    state_thread(0);
    calls_thread(0);
    return found;
}

void collect_begin(qemu_plugin_id_t id, int version)
{
    uint32_t none = 0;

    plugin = id;
    atomic_compare_exchange_strong(&collect_shared->first, &none, (uint32_t)getpid());
    reset.symbol = version >= 2 ? dlsym(RTLD_DEFAULT, "qemu_plugin_reset") : NULL;
    get_value.symbol = dlsym(RTLD_DEFAULT, "qemu_plugin_mem_get_value");
    nowhere.block = no_block;
    for (size_t i = 0; i < LANES; i++)
        lanes[i] = &nowhere;
}

void collect_thread(qemu_plugin_id_t id, unsigned vcpu)
{
    static bool executed;

    (void)id;
    if (vcpu >= LANES) {
        atomic_fetch_or(&collect_shared->trouble, REC_NO_SLOT);
        return;
    }
    if (vcpu >= lanes_used)
        lanes_used = vcpu + 1;
    if (collect_image && vcpu == 0 && !executed) {
        executed = true;
        lanes[0] = adopt();
        if (lanes[0]) {
            uint64_t *p = room(lanes[0]);

            *p = (uint64_t)REC_EXEC << REC_EVENT_TYPE | collect_image;
            advance(lanes[0], p + 1);
        }
    }
    if (lanes[vcpu] == &nowhere || !lanes[vcpu])
        lanes[vcpu] = new_slot(vcpu);
    registers_thread();
}

void collect_thread_end(qemu_plugin_id_t id, unsigned vcpu)
{
    struct rec_slot *s = lanes[vcpu % LANES];

    (void)id;
    if (s == &nowhere)
        return;
    hand_over(s);
    atomic_store(&s->state, REC_SLOT_ENDED);
    lanes[vcpu % LANES] = &nowhere;
}

void collect_forked(void)
{
    unsigned vcpu = mine ? mine->vcpu : 0;

    for (uint32_t i = 0; i < lanes_used; i++)
        lanes[i] = &nowhere;
    lanes[vcpu] = new_slot(vcpu);
    mine = NULL;
}

static void on_segment(unsigned vcpu, void *word)
{
    struct rec_slot *s = lanes[vcpu % LANES];
    uint64_t *p = room(s);

    *p = (uintptr_t)word;
    advance(s, p + 1);
}

static const struct rec_segment *entry(size_t place)
{
    return (const struct rec_segment *)(const void *)(rec_log(collect_shared) + 8 * place);
}

const struct rec_insn *collect_insn(void *word)
{
    return entry((uintptr_t)word)->insn;
}

/*
 * What comes before INSN: what the instruction before it did to registers, calls that synchronize
 * threads, where these are wanted. Returns what P becomes.
 */
uint64_t *collect_before(unsigned vcpu, const struct rec_insn *insn, uint64_t *p)
{
    uint64_t words[2];

    if (collect_shared->registers)
        p = state_step(vcpu, insn, p);
    if (collect_shared->calls)
        p = calls_step(vcpu, insn, p);
    if (!collect_shared->pthreads || !sync_step(vcpu, insn, words))
        return p;
    p[0] = words[0];
    p[1] = words[1];
    return p + 2;
}

static void on_step(unsigned vcpu, void *word)
{
    struct rec_slot *s = lanes[vcpu % LANES];
    uint64_t *p = collect_before(vcpu, collect_insn(word), room(s));

    *p = (uintptr_t)word;
    advance(s, p + 1);
}

/* The same for an instruction of PowerPC whose access is to be known by its registers. */
static void on_registers(unsigned vcpu, void *word)
{
    const struct rec_insn *insn = collect_insn(word);
    struct rec_slot *s = lanes[vcpu % LANES];
    uint64_t *p = collect_before(vcpu, insn, room(s));
    uint32_t a = 0, b = 0, xer = 0;

    p[0] = (uintptr_t)word;
    registers_read(insn->code[1] & 31, &a);
    registers_read(insn->code[2] >> 3, &b);
    registers_read(REC_PPC_XER, &xer);
    p[1] = (uint64_t)REC_REGISTERS << REC_EVENT_TYPE | 3;
    p[2] = a;
    p[3] = b;
    p[4] = xer;
    advance(s, p + 5);
}

static void on_memory(unsigned vcpu, uint32_t info, uint64_t addr, void *user)
{
    struct rec_slot *s = lanes[vcpu % LANES];
    uint64_t what = (uint64_t)qemu_plugin_mem_size_shift(info) << REC_EVENT_SIZE;
    uint64_t *p = room_behind(s);

    (void)user;
    if (qemu_plugin_mem_is_store(info))
        what |= REC_EVENT_STORE;
    if (addr <= REC_EVENT_ADDRESS) {
        *p = REC_EVENT_MEMORY | what | addr;
        advance(s, p + 1);
        return;
    }
    p[0] = (uint64_t)REC_MEMORY << REC_EVENT_TYPE | what >> 32;
    p[1] = addr;
    advance(s, p + 2);
}

/* From an address of the program to where its bytes are here. */
static _Atomic uintptr_t host_base;
static _Atomic bool host_known;

/* The N bytes that the access INFO at ADDR moved, as in memory, to TO. */
static void moved(uint32_t info, uint64_t addr, size_t n, uint8_t *to)
{
    const unsigned isa = collect_shared->isa;
    struct mem_value v;

    if (!get_value.symbol) { /* what is in memory behind the access */
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): the program's memory is part of QEMU's */
        memcpy(to, (const void *)(atomic_load_explicit(&host_base, memory_order_relaxed) + addr),
               n);
        return;
    }
    v = get_value.call(info);
    for (size_t i = 0; i < n; i++)
        to[i] = v.data.bytes[isa == REC_PPC || isa == REC_MIPS ? n - 1 - i : i];
}

/* The same with what was moved. */
static void on_value(unsigned vcpu, uint32_t info, uint64_t addr, void *user)
{
    struct rec_slot *s = lanes[vcpu % LANES];
    const size_t n = (size_t)1 << qemu_plugin_mem_size_shift(info);
    uint64_t *p;

    on_memory(vcpu, info, addr, user);
    if (n > 16)
        return;
    p = room_behind(s);
    p[0] = (uint64_t)REC_VALUE << REC_EVENT_TYPE | (n + 7) / 8;
    p[1] = p[2] = 0;
    moved(info, addr, n, (uint8_t *)(p + 1));
    advance(s, p + 1 + (n + 7) / 8);
}

bool collect_has_base(void)
{
    return atomic_load_explicit(&host_known, memory_order_relaxed);
}

uintptr_t collect_host_base(void)
{
    return atomic_load(&host_base);
}

void collect_base(const void *host, uint64_t addr)
{
    if (!host || atomic_load(&host_known))
        return;
    atomic_store(&host_base, (uintptr_t)host - (uintptr_t)addr);
    atomic_store(&host_known, true);
}

bool collect_memory(const struct rec_insn *insn)
{
    return collect_shared->memory || rec_repeats(collect_shared->isa, insn->code, insn->size);
}

void collect_segment(struct qemu_plugin_insn *first, struct qemu_plugin_insn *last, uint32_t place,
                     bool with_registers)
{
    const bool step =
        collect_shared->pthreads || collect_shared->registers || collect_shared->calls;

    if (place == 0)
        return;
    qemu_plugin_register_vcpu_insn_exec_cb(first,
                                           with_registers ? on_registers
                                           : step         ? on_step
                                                          : on_segment,
                                           with_registers || step ? registers_flags()
                                                                  : QEMU_PLUGIN_CB_NO_REGS,
                                           (void *)(uintptr_t)place);
    if (collect_memory(&entry(place)->insn[entry(place)->n - 1]))
        qemu_plugin_register_vcpu_mem_cb(
            last, collect_shared->values && atomic_load(&host_known) ? on_value : on_memory,
            QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

/* As many arguments as the callback of the plugin API has. */
/* NOLINTNEXTLINE(readability-function-size) */
void collect_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2,
                     uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    struct rec_slot *s = lanes[vcpu % LANES];
    uint64_t *p = room_behind(s);

    (void)id;
    (void)a7;
    (void)a8;
    if (collect_shared->seeks)
        places_called(num, a5);
    signals_called(num, a2);
    p[0] = (uint64_t)REC_SYSCALL << REC_EVENT_TYPE | (uint32_t)num;
    p[1] = now();
    p[2] = a1;
    p[3] = a2;
    p[4] = a3;
    p[5] = a4;
    p[6] = a5;
    p[7] = a6;
    advance(s, p + 8);
    for (size_t i = 0; i < sizeof collect_shared->exec / sizeof collect_shared->exec[0]; i++)
        if (s != &nowhere && num > 0 && (uint32_t)num == collect_shared->exec[i]) {
            hand_over(s);
            if (i < 2)
                follow(i == 1, (const uint64_t[]){a1, a2, a3, a4, a5});
        }
}

void collect_sysret(qemu_plugin_id_t id, unsigned vcpu, int64_t num, int64_t ret)
{
    struct rec_slot *s = lanes[vcpu % LANES];
    uint64_t *p = room(s);

    (void)id;
    follow_failed();
    if (collect_shared->seeks)
        places_loaded(num);
    p[0] = (uint64_t)REC_SYSRET << REC_EVENT_TYPE | (uint32_t)num;
    p[1] = now();
    p[2] = (uint64_t)ret;
    advance(s, p + 3);
}
