# test_again.sh - instructions that QEMU begins more than once: code beside data that is written, and
# iterations of string operations, with accesses and without. Numbers follow from the program.
. "$TROD_SOURCE/tests/cli/lib.sh"
have gcc qemu-x86_64

pcs() {
    trod view --kind INSTR --format csv "$1" | awk -F, 'NR > 1 { print $6 }'
}

cat >beside.s <<'EOS'
        .globl _start
        .section .text, "awx"
_start: mov $10, %ebx
1:      incq data(%rip)
        lea data(%rip), %rdi
        mov $5, %ecx
        rep stosb
        lea data(%rip), %rsi
        mov $3, %ecx
        rep movsb
        mov %rsp, %rbp
        lea stack(%rip), %rsp
        call *where(%rip)
2:      pop %rax
        mov %rbp, %rsp
        dec %ebx
        jnz 1b
        mov $60, %eax
        xor %edi, %edi
        syscall
where:  .quad 2b
data:   .space 128
stack:
EOS
check gcc -nostdlib -static -Wl,-N -o beside beside.s
# 20 instructions an iteration: 12, and 5 and 3 of the string operations
run trod record -o beside.d -- ./beside
status 0
err_has '^beside.d: 204 instructions and 160 accesses'
run trod check beside.d
status 0
run trod count beside.d
out_has 'data loads: +60$'   # incq, 3 movsb, call, pop
out_has 'data stores: +100$' # incq, 5 stosb, 3 movsb, call
# each access once, in the order of the program, with what it moved
run trod record -q --values -o beside.csv -- ./beside
status 0
trod view --kind READ,WRITE --format csv beside.csv | awk -F, 'NR > 1 && NR < 18 { print $2, $8 }' >got
cat >want <<'EOS'
READ 8
WRITE 8
WRITE 1
WRITE 1
WRITE 1
WRITE 1
WRITE 1
READ 1
WRITE 1
READ 1
WRITE 1
READ 1
WRITE 1
READ 8
WRITE 8
READ 8
EOS
same want got

# String operations of no, one and several iterations; with accesses and without they are counted alike.
cat >strings.s <<'EOS'
        .globl _start
_start: lea from(%rip), %rsi
        lea to(%rip), %rdi
        mov $3, %ecx
        rep movsq
        mov $4, %ecx
        rep movsl
        lea from(%rip), %rsi
        lea same(%rip), %rdi
        mov $9, %ecx
        repe cmpsb
        xor %ecx, %ecx
        repe cmpsb
        mov $1, %ecx
        rep lodsw
        lea from(%rip), %rdi
        mov $'c', %al
        mov $9, %ecx
        repne scasb
        mov $60, %eax
        xor %edi, %edi
        syscall
        .data
from:   .ascii "abcdefghabcdefghijklmnopqrstuvwxyz0123456789"
same:   .ascii "abcdXfgh"
        .balign 64
to:     .space 64
EOS
check gcc -nostdlib -static -o strings strings.s
# 15 others and a cmpsb that does nothing; 3 movsq, 4 movsl, 5 cmpsb (e and X differ), lodsw, 3 scasb
run trod record -o strings.d -- ./strings
status 0
err_has '^strings.d: 32 instructions and 28 accesses'
run trod check strings.d
status 0
run trod record -o bare.d --no-memory -- ./strings
status 0
err_has '^bare.d: 32 instructions and 0 accesses'
pcs strings.d >want
pcs bare.d >got
same want got
# so that a place means the same
for at in 5 8 15; do
    run trod record -q -o all.d --skip $at --take 4 -- ./strings
    status 0
    run trod record -q -o part.d --no-memory --skip $at --take 4 -- ./strings
    status 0
    pcs all.d >want
    pcs part.d >got
    same want got
    check test "$(wc -l <got)" = 4
    rm -r all.d part.d
done
finish
