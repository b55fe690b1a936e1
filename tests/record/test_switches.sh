# test_switches.sh - a recorded kernel that switches between two tasks at every system call: the calls of each
# task are those that it made, whatever ran in between.
. "$TROD_SOURCE/tests/record/isa.sh"
. "$TROD_SOURCE/tests/record/system.sh"
have gcc aarch64-linux-gnu-gcc qemu-system-aarch64 jq

linking='-nostdlib -static -Wl,--build-id=none,-Ttext=0x40100000,-z,noexecstack'

# Task A calls work_a 5 times, each of which yields once; so does each work_b of task B, which never ends. The
# handler keeps a task's registers on its stack and returns to the other one.
cat >tasks.s <<'EOS'
        .macro function name
        .globl \name
        .type \name, %function
        .endm
        .macro ends name
        .size \name, . - \name
        .endm
        function _start
_start: ldr x0, =vectors
        msr vbar_el1, x0
        isb
        ldr x0, =stack_a
        mov sp, x0
        ldr x1, =frame_b
        ldr x2, =other
        str x1, [x2]
        b task_a
        ends _start
        function task_a
task_a: mov x19, #5
1:      bl work_a
        subs x19, x19, #1
        b.ne 1b
        ldr x1, =block
        mov w0, #0x18
        hlt #0xf000
        b .
        ends task_a
        function work_a
work_a: stp x29, x30, [sp, #-16]!
        bl leaf
        bl yield
        bl leaf
        ldp x29, x30, [sp], #16
        ret
        ends work_a
        function task_b
task_b: bl work_b
        b task_b
        ends task_b
        function work_b
work_b: stp x29, x30, [sp, #-16]!
        bl leaf
        bl yield
        ldp x29, x30, [sp], #16
        ret
        ends work_b
        function yield
yield:  svc #0
        ret
        ends yield
        function leaf
leaf:   ret
        ends leaf
        function handler
handler: sub sp, sp, #32
        stp x19, x30, [sp]
        mrs x0, elr_el1
        mrs x1, spsr_el1
        stp x0, x1, [sp, #16]
        ldr x2, =other
        ldr x3, [x2]
        mov x4, sp
        str x4, [x2]
        mov sp, x3
        ldp x0, x1, [sp, #16]
        msr elr_el1, x0
        msr spsr_el1, x1
        ldp x19, x30, [sp]
        add sp, sp, #32
        eret
        ends handler
        .ltorg
        .balign 2048
vectors:
        .skip 0x200
        b handler
        .balign 2048
block:  .quad 0x20026, 3
other:  .quad 0
        .balign 16
        .skip 1024
stack_a:
        .skip 1024
frame_b: .quad 0, 0, task_b, 0x3c5
EOS
check aarch64-linux-gnu-gcc $linking -o tasks tasks.s
run trod record --system --registers -o tasks.tarmac -- tasks
status 3
run trod check tasks.tarmac
status 0

# calls: work_a 5; work_b 5, the last of which is open; each yields once; leaf 5 * 2 + 5. Instructions: work_a 10 with
# all that it calls; work_b 8, the last one 5. What a task's system calls led to is nobody's but the handler's.
for index in "" indexed; do
    test -z "$index" || trod index -q tasks.tarmac
    run trod profile --format json --symbols tasks tasks.tarmac
    status 0
    json '[.functions[] | select(.function | IN("work_a", "work_b", "yield", "leaf")) | {key: .function,
        value: [.calls, .inclusive]}] | from_entries ==
        {"work_a": [5, 50], "work_b": [5, 37], "yield": [10, 19], "leaf": [15, 15]}'
    json '.task_switches == 10'
    run trod calls --format json --final-stack --symbols tasks tasks.tarmac
    json '[.final_stack[].function] | contains(["work_b", "yield"]) and (index("work_a") | not)'
done
finish
