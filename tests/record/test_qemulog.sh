# test_qemulog.sh - the same program logged by QEMU itself and recorded by trod: the same instructions.
. "$TROD_SOURCE/tests/cli/lib.sh"
have gcc qemu-x86_64

cat >calls.s <<'EOS'
        .globl _start
_start: mov $300, %ecx
        xor %eax, %eax
1:      push %rcx
        call f
        pop %rcx
        dec %ecx
        jnz 1b
        lea buf(%rip), %rdi
        movabsq $0x1122334455667788, %rdx
        lock addq %rdx, (%rdi)
        mov $60, %eax
        xor %edi, %edi
        syscall
f:      test $1, %cl
        jz 2f
        addq $3, buf(%rip)
2:      ret
        .bss
buf:    .space 64
EOS
check gcc -nostdlib -static -o calls calls.s
check qemu-x86_64 -d in_asm,exec,nochain -D blocks.qemulog ./calls
check qemu-x86_64 -singlestep -d exec,nochain -D steps.qemulog ./calls
run trod record -o calls.d -- ./calls
status 0

# 2 + 300 * (push, call, test, jz, ret, pop, dec, jnz; every second time addq) + 6
run trod count blocks.qemulog
out_has 'fetched instructions: +2,558$|instructions: +2,558$'
for log in blocks steps; do
    run trod compare --track instr --compare pc $log.qemulog calls.d
    status 0
    out_has 'equal: +yes'
    run trod compare --track instr --compare pc -j 2 $log.qemulog calls.d
    status 0
done

# One instruction less is found, at its place.
sed '/^0x.*dec/d' blocks.qemulog >less.qemulog
run trod compare --track instr less.qemulog calls.d
status 1

# The same by the plugin's lines, made here from the recorded trace's own addresses: nothing but pc.
trod view --kind INSTR --format csv calls.d |
    awk -F, 'NR > 1 { printf "0, %s, 0x0, \"?\"\n", $6 }' >calls.execlog
run trod compare --track instr --compare pc calls.execlog calls.d
status 0

# What is executed, by the opcodes of the log.
run trod mix blocks.qemulog
out_has ' call +300 '
run trod branches blocks.qemulog
status 0
finish
