/*
 * plugin.c - libtrod-qemu.so: collects what a program does under QEMU, for `trod record`.
 *
 * Implements docs/recording.md, "How it works"; see record/protocol.h. Serves every version of
 * QEMU's plugin interface from 1 (QEMU 7.2) on: what a version lacks is looked up at run time. It
 * decides nothing, formats nothing and writes no file.
 */
#define _GNU_SOURCE /* MAP_NORESERVE, process_vm_readv */
#include "record/plugin/collect.h"
#include "record/plugin/places.h"
#include "record/plugin/registers.h"
#include "record/plugin/signals.h"
#include "record/plugin/state.h"
#include "record/plugin/system.h"
#include "record/plugin/zeroes.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info,
                                           int argc, char **argv);

enum { PAGE = 4096, INSNS_MAX = 512 };

/* Bytes of an instruction: until version 2 a pointer is returned, from 3 on they are copied. */
typedef const void *(*data_1_fn)(const struct qemu_plugin_insn *);
typedef size_t (*data_3_fn)(const struct qemu_plugin_insn *, void *, size_t);

static union {
    void *symbol;
    data_1_fn one;
    data_3_fn three;
} insn_data;
static bool data_copies;

/* Where the code of the program lies; not every QEMU has it. */
static union {
    void *symbol;
    uint64_t (*call)(void);
} start_code;

static pthread_mutex_t translating = PTHREAD_MUTEX_INITIALIZER;

/*
 * The loader compares qemu_plugin_version with what it supports, and reads it after constructors
 * have run.
 */
__attribute__((constructor)) static void choose_version(void)
{
    if (dlsym(RTLD_DEFAULT, "qemu_plugin_register_vcpu_discon_cb"))
        qemu_plugin_version = 5;
    else if (dlsym(RTLD_DEFAULT, "qemu_plugin_read_memory_vaddr"))
        qemu_plugin_version = 4;
    else if (dlsym(RTLD_DEFAULT, "qemu_plugin_scoreboard_new"))
        qemu_plugin_version = 2;
}

static uint64_t hash_of(const struct rec_segment *s)
{
    uint64_t h = (s->n ^ (uint64_t)s->page << 20) * UINT64_C(0x9e3779b97f4a7c15);

    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t w[2];

        memcpy(w, s->insn[i].code, sizeof w);
        h = (h ^ s->insn[i].pc) * UINT64_C(0xff51afd7ed558ccd);
        h = (h ^ h >> 32 ^ w[0]) * UINT64_C(0xc4ceb9fe1a85ec53);
        h = (h ^ h >> 32 ^ w[1]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return h ^ h >> 29;
}

/* The recorder writes beside what is compared here. */
static bool same(const struct rec_segment *a, const struct rec_segment *b)
{
    if (a->n != b->n || a->page != b->page || a->next_page != b->next_page)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->insn[i].pc != b->insn[i].pc || a->insn[i].size != b->insn[i].size ||
            a->insn[i].thumb != b->insn[i].thumb ||
            memcmp(a->insn[i].code, b->insn[i].code, REC_INSN_CODE) != 0)
            return false;
    return true;
}

static const struct rec_segment *at(uint32_t place)
{
    return (const struct rec_segment *)(const void *)(rec_log(collect_shared) + 8 * (size_t)place);
}

/* Append S to the log, before NEXT in its chain; 0: it is full. */
static uint32_t append(const struct rec_segment *s, uint32_t next)
{
    struct rec_shared *shared = collect_shared;
    const bool asks = shared->registers;
    const size_t known = sizeof *s + s->n * sizeof s->insn[0];
    const size_t bytes = known + (asks ? sizeof(struct rec_writes) : 0);
    uint64_t to = atomic_fetch_add(&shared->log_used, bytes);
    struct rec_segment *entry;

    if (to + bytes > REC_LOG_BYTES) {
        atomic_fetch_or(&shared->trouble, REC_LOG_FULL);
        return 0;
    }
    entry = (struct rec_segment *)(void *)(rec_log(shared) + to);
    memcpy(entry, s, known);
    entry->next = next;
    return (uint32_t)(to / 8);
}

/*
 * The place of S in the log, where code has been translated before, here or in another process:
 * programs that are executed one after the other have the same libraries.
 */
static uint32_t place_of(const struct rec_segment *s)
{
    _Atomic uint32_t *chain = &rec_chains(collect_shared)[hash_of(s) % REC_CHAINS];
    uint32_t head = atomic_load_explicit(chain, memory_order_acquire), end = 0, place = 0;

    for (;;) {
        for (uint32_t i = head; i != end; i = at(i)->next)
            if (same(at(i), s)) {
                if (collect_shared->registers)
                    state_answered(i);
                return i;
            }
        end = head; /* what was there before is not compared again */
        place = append(s, head);
        if (place == 0)
            return 0;
        if (atomic_compare_exchange_strong(chain, &head, place))
            break;
    }
    if (collect_shared->registers)
        state_ask(place);
    return place;
}

static void describe(struct rec_insn *to, const struct qemu_plugin_insn *insn)
{
    size_t n = qemu_plugin_insn_size(insn);

    memset(to, 0, sizeof *to);
    to->pc = qemu_plugin_insn_vaddr(insn);
    to->size = (uint8_t)n;
    n = n < REC_INSN_CODE ? n : REC_INSN_CODE;
    if (data_copies)
        insn_data.three(insn, to->code, n);
    else
        memcpy(to->code, insn_data.one(insn), n);
}

/*
 * ARM: is what is being translated T32? The interface does not say. Where QEMU exports what it
 * gives to debuggers (7.2), the T bit of the cpsr does; else the sizes of the instructions: 2 bytes
 * are T32 only, and so is an odd halfword. What is left looks like the most likely one.
 */
static bool is_thumb(const struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    uint32_t cpsr;

    if (registers_read(REC_ARM_CPSR, &cpsr))
        return (cpsr & 1u << 5) != 0;
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

        if (qemu_plugin_insn_size(insn) == 2 || qemu_plugin_insn_vaddr(insn) & 2)
            return true;
    }
    return false;
}

/* Before the end of a page QEMU 7.2 counts the halfword behind a T32 instruction as one of it. */
static void fit_arm(struct rec_insn *in)
{
    const uint8_t size = !in->thumb || in->code[1] >= 0xe8 ? 4 : 2;

    if (in->size <= size)
        return;
    memset(in->code + size, 0, (size_t)in->size - size);
    in->size = size;
}

/* Does the instruction behind number I of TB begin in another page? */
static bool ends_page(const struct qemu_plugin_tb *tb, size_t i)
{
    const uint64_t here = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, i));
    const uint64_t next = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, i + 1));

    return (here ^ next) >> REC_PAGE_BITS != 0;
}

/*
 * An x86 instruction that ends with its page may go on behind it: QEMU 7.2 does not tell what is
 * there. The bytes that any instruction could have are read, if there are any.
 */
static void fit_x86(struct rec_insn *in, const struct qemu_plugin_insn *insn)
{
    uint8_t *host = qemu_plugin_insn_haddr(insn);
    const size_t n = REC_INSN_CODE - 1 - (size_t)in->size;
    struct iovec to = {in->code + in->size, n}, from = {host + in->size, n};

    if (!host || in->size >= REC_INSN_CODE - 1 || (in->pc + in->size) % PAGE != 0)
        return;
    in->thumb = process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)n;
    if (!in->thumb)
        memset(in->code + in->size, 0, n);
}

/*
 * Instructions are told apart where one may fail: all of a segment are executed, or all but the
 * last one's effects. Only the last one of a segment accesses memory.
 */
static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    static union {
        struct rec_segment s;
        uint8_t bytes[sizeof(struct rec_segment) + INSNS_MAX * sizeof(struct rec_insn)];
    } one;
    size_t n = qemu_plugin_tb_n_insns(tb);
    const unsigned isa = collect_shared->isa;
    const uint8_t thumb = isa == REC_ARM && is_thumb(tb);
    const bool machine = collect_shared->system;

    (void)id;
    if (collect_image == 0 && start_code.symbol &&
        atomic_load_explicit(&collect_shared->code, memory_order_relaxed) == 0)
        atomic_store(&collect_shared->code, start_code.call());
    pthread_mutex_lock(&translating);
    if (collect_shared->seeks)
        places_look(qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0)),
                    qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)));
    if (!machine && !collect_has_base())
        collect_base(qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0)),
                     qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)));
    if (isa == REC_A64 && !machine)
        zeroes_begin(tb);
    signals_translated(qemu_plugin_tb_get_insn(tb, 0),
                       qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)));
    one.s.page = !machine && collect_shared->placed ? collect_image : 0;
    for (size_t i = 0, from = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        struct rec_insn *to = &one.s.insn[i - from];

        describe(to, insn);
        to->thumb = thumb;
        if (isa == REC_ARM)
            fit_arm(to);
        else if (!machine && (isa == REC_X86 || isa == REC_X86_64))
            fit_x86(to, insn);
        if (from < i && registers_wanted(isa, to->code)) { /* they are read where it begins */
            one.s.n = (uint32_t)(i - from);
            collect_segment(qemu_plugin_tb_get_insn(tb, from), qemu_plugin_tb_get_insn(tb, i - 1),
                            place_of(&one.s), false);
            one.s.insn[0] = *to;
            to = one.s.insn;
            from = i;
        }
        if (i + 1 < n && i + 1 - from < INSNS_MAX && !collect_shared->registers &&
            rec_plain(isa, to->code, to->size) && !(machine && ends_page(tb, i)))
            continue;
        one.s.n = (uint32_t)(i + 1 - from);
        if (machine) {
            system_pages(&one.s);
            system_segment(tb, from, i, place_of(&one.s));
        } else {
            collect_segment(qemu_plugin_tb_get_insn(tb, from), insn, place_of(&one.s),
                            from == i && registers_wanted(isa, to->code));
            if (isa == REC_A64)
                zeroes_tell(tb, i, to->code);
        }
        from = i + 1;
    }
    pthread_mutex_unlock(&translating);
}

/* A process that was forked off has one thread, and nobody translates while it is. */
static void forked(void)
{
    pthread_mutex_init(&translating, NULL);
    collect_forked();
}

/*
 * The shared memory comes as file descriptor N: "fd=N". "image=K": the process is the K-th program
 * that was executed by one that is recorded.
 */
static bool attach(int argc, char **argv)
{
    struct rec_shared *s, *head;
    int fd = -1;

    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "fd=", 3) == 0)
            fd = (int)strtol(argv[i] + 3, NULL, 10);
        else if (strncmp(argv[i], "image=", 6) == 0)
            collect_image = (uint32_t)strtoul(argv[i] + 6, NULL, 10);
    if (fd < 0)
        return false;
    head = mmap(NULL, sizeof *head, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED || head->magic != REC_MAGIC || head->version != REC_VERSION)
        return false;
    s = mmap(NULL, head->total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    munmap(head, sizeof *head);
    close(fd);
    if (s == MAP_FAILED)
        return false;
    collect_shared = s;
    return true;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
    insn_data.symbol = dlsym(RTLD_DEFAULT, "qemu_plugin_insn_data");
    data_copies = info->version.cur >= 3;
    start_code.symbol = dlsym(RTLD_DEFAULT, "qemu_plugin_start_code");
    if (!insn_data.symbol || !attach(argc, argv) ||
        info->system_emulation != (collect_shared->system != 0))
        return 1;
    collect_begin(id, info->version.cur);
    registers_begin(collect_shared->isa, collect_shared->registers);
    if (registers_there()) {
        atomic_fetch_or(&collect_shared->gives, REC_GIVES_REGISTERS);
    } else if (collect_shared->registers || collect_shared->calls) {
        atomic_fetch_or(&collect_shared->trouble, REC_NO_REGISTERS);
        return 1;
    }
    if (collect_shared->system)
        system_begin(info->target_name);
    if (info->version.cur >= 4)
        atomic_fetch_or(&collect_shared->gives, REC_GIVES_VECTORS);
    atomic_fetch_or(&collect_shared->gives, REC_GIVES_VALUES); /* from the program's memory */
    pthread_atfork(NULL, NULL, forked);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_vcpu_init_cb(id, collect_thread);
    qemu_plugin_register_vcpu_exit_cb(id, collect_thread_end);
    if (!collect_shared->system) {
        qemu_plugin_register_vcpu_syscall_cb(id, collect_syscall);
        qemu_plugin_register_vcpu_syscall_ret_cb(id, collect_sysret);
    }
    atomic_store(&collect_shared->started, 1 + (uint32_t)info->version.cur);
    return 0;
}
