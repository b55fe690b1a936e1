# test_operands.sh - x86 operands that QEMU accesses in pieces, beyond their end, or not as a whole: one
# access each, of the bytes that the manual says. Descriptors that QEMU reads are no accesses.
. "$TROD_SOURCE/tests/cli/lib.sh"
have gcc qemu-x86_64

# accesses TRACE: kind, bytes behind buf, size
accesses() {
    local buf
    buf=$(nm "${1%.*}" | awk '$3 == "buf" { print $1 }')
    trod view --kind READ,WRITE --format csv "$1" |
        while IFS=, read -r _ kind _ _ _ addr _ size _; do
            [[ $kind != kind ]] && echo "$kind $((addr - 16#$buf)) $size"
        done
}

cat >pieces.s <<'EOS'
        .globl _start
_start: lea buf(%rip), %rbx
        vpsllw 32(%rbx), %ymm0, %ymm1
        vcvtdq2pd 48(%rbx), %ymm1
        vaddss 4(%rbx), %xmm0, %xmm1
        vmovdqu (%rbx), %ymm1
        fbld 64(%rbx)
        fbstp 80(%rbx)
        fnstenv 128(%rbx)
        fldenv 128(%rbx)
        data16 fnstenv 128(%rbx)
        data16 fldenv 128(%rbx)
        fnsave 256(%rbx)
        frstor 256(%rbx)
        fxsave 512(%rbx)
        fxrstor 512(%rbx)
        mov $60, %eax
        xor %edi, %edi
        syscall
        .data
        .balign 64
buf:    .space 64
        .byte 0x21, 0x43, 0x65, 0x87, 0x09, 0x11, 0x22, 0x33, 0x44, 0x80
        .space 1014
EOS
check gcc -nostdlib -static -o pieces pieces.s
cat >want <<'EOS'
READ 32 16
READ 48 16
READ 4 4
READ 0 32
READ 64 10
WRITE 80 10
WRITE 128 28
READ 128 28
WRITE 128 14
READ 128 14
WRITE 256 108
READ 256 108
WRITE 512 512
READ 512 512
EOS
run trod record -o pieces.d -- ./pieces
status 0
run trod check pieces.d
status 0
accesses pieces.d >got
same want got
run trod record --values -o pieces.csv -- ./pieces
status 0
accesses pieces.csv >got
same want got
# what is put together backwards has the value that memory has
trod view --kind READ,WRITE pieces.csv | awk '$7 == 10 { print $5, $8 }' >got
printf '%s\n' 'READ 0x80443322110987654321' 'WRITE 0x80443322110987654321' >want
same want got

# Addresses of prefetches and of cache operations are not told, which is said.
cat >hints.s <<'EOS'
        .globl _start
_start: prefetcht0 buf(%rip)
        clflush buf(%rip)
        mov buf(%rip), %rax
        mov $60, %eax
        xor %edi, %edi
        syscall
        .bss
buf:    .space 64
EOS
check gcc -nostdlib -static -o hints hints.s
run trod record -o hints.d -- ./hints
status 0
err_has '^2 prefetches or cache operations without an address, which QEMU does not tell$'
run trod record --no-memory -o bare.d -- ./hints
status 0
check test "$(grep -c 'without an address' "$stderr")" = 0

command -v qemu-i386 >/dev/null && echo 'int main(void) { return 0; }' |
    gcc -m32 -x c -c -o /dev/null - 2>/dev/null || finish
cat >far.s <<'EOS'
        .globl _start
_start: mov $top, %esp
        push %ds
        pop %es
        mov %ds, buf
        mov buf, %es
        mov %ds, %eax
        mov %eax, %fs
        movl $buf, buf+8
        mov %ds, buf+12
        les buf+8, %edx
        lds buf+8, %edx
        lfs buf+8, %edx
        mov %cs, buf+12
        movl $1f, buf+8
        ljmp *buf+8
1:      movl $2f, buf+8
        lcall *buf+8
        mov $1, %eax
        xor %ebx, %ebx
        int $0x80
2:      lret
        .data
        .balign 64
buf:    .space 256
top:
EOS
check gcc -m32 -nostdlib -static -Wl,-z,noexecstack -o far far.s
cat >want <<'EOS'
WRITE 252 4
READ 252 4
WRITE 0 2
READ 0 2
WRITE 8 4
WRITE 12 2
READ 8 6
READ 8 6
READ 8 6
WRITE 12 2
WRITE 8 4
READ 8 6
WRITE 8 4
READ 8 6
WRITE 248 8
READ 248 8
EOS
run trod record -o far.d -- ./far
status 0
run trod check far.d
status 0
accesses far.d >got
same want got
finish
