/*
 * qemu_api.h - what the plugin uses of QEMU's interface for plugins, versions 1 to 5.
 *
 * Declarations written from QEMU's public documentation ("QEMU TCG Plugins", plugin API). They are
 * looked up in the program that loads the plugin; nothing is linked. qemu_plugin_insn_data is the
 * one function whose form depends on the version, so it is not declared but looked up; so is
 * qemu_plugin_start_code, which builds of version 10.0 do not export.
 */
#ifndef TROD_RECORD_QEMU_API_H
#define TROD_RECORD_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;

struct qemu_info_t {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus, max_vcpus;
    } system;
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_CB_RW_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void (*qemu_plugin_vcpu_fn)(qemu_plugin_id_t id, unsigned vcpu);
typedef void (*qemu_plugin_tb_fn)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_plugin_exec_fn)(unsigned vcpu, void *user);
typedef void (*qemu_plugin_mem_fn)(unsigned vcpu, uint32_t info, uint64_t vaddr, void *user);
typedef void (*qemu_plugin_exit_fn)(qemu_plugin_id_t id, void *user);
typedef void (*qemu_plugin_syscall_fn)(qemu_plugin_id_t id, unsigned vcpu, int64_t num, uint64_t a1,
                                       uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5,
                                       uint64_t a6, uint64_t a7, uint64_t a8);
typedef void (*qemu_plugin_sysret_fn)(qemu_plugin_id_t id, unsigned vcpu, int64_t num, int64_t ret);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_fn fn);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_fn fn);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_fn fn);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_exit_fn fn, void *user);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_syscall_fn fn);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id, qemu_plugin_sysret_fn fn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_exec_fn fn,
                                            enum qemu_plugin_cb_flags flags, void *user);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_mem_fn fn,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
                                      void *user);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t info, uint64_t vaddr);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *haddr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *haddr);
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *insn);

#endif
