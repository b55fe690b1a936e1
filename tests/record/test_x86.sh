# test_x86.sh - x86-64 programs: every instruction and every access, against QEMU's own log, against
# Valgrind's lackey, and against what the program must do by the manual.
. "$TROD_SOURCE/tests/cli/lib.sh"
have gcc qemu-x86_64

# pcs TRACE: the addresses of its instructions; codes: their opcodes; accesses: kind, address, size
pcs() {
    trod view --kind INSTR --format csv "$1" | awk -F, 'NR > 1 { print $6 }' | sed 's/^0x0*//'
}

codes() {
    trod view --kind INSTR --format csv "$1" | awk -F, 'NR > 1 { print $9 }'
}

accesses() {
    trod view --kind READ,WRITE --format csv "$1" | awk -F, 'NR > 1 { print $2, $6, $8 }' |
        sed 's/ 0x0*/ /'
}

# 1. A loop, a string operation of 5 and of 0 iterations, an atomic access, a system call: the
# numbers follow from the text of the program.
cat >loop.s <<'EOS'
        .globl _start
_start: mov $1000, %ecx
1:      push %rcx
        addq $3, buf(%rip)
        pop %rcx
        dec %ecx
        jnz 1b
        lea buf(%rip), %rdi
        mov $5, %ecx
        cld
        rep stosb
        xor %ecx, %ecx
        rep stosb
        lock xadd %eax, buf(%rip)
        movdqu %xmm0, buf(%rip)
        setl buf(%rip)
        mov $60, %eax
        mov $9, %edi
        syscall
        .bss
buf:    .space 64
EOS
check gcc -nostdlib -static -o loop loop.s
run trod record -o loop.d -- ./loop
status 9
err_has '^loop.d: 5,017 instructions and 4,009 accesses of 1 thread of 1 process, x86-64, as drmemtrace$'
run trod check loop.d
status 0
run trod count loop.d
out_has 'fetched instructions: +5,013$'  # 1 + 5 * 1000 + 12
out_has 'non fetched instructions: +4$' # iterations 2 to 5 of rep stosb
out_has 'data loads: +2,001$'            # addq, pop; xadd
out_has 'data stores: +2,008$'           # push, addq; 5 stosb; xadd, movdqu, setl
run trod view loop.d
out_has 'WRITE .* 16  - '

# 2. The same number of instructions as QEMU executes one by one, and the accesses that Valgrind
# sees: their order, addresses and sizes.
cat >work.c <<'EOS'
static int a[64];
static long total;
static char text[100];

static int fill(int n)
{
    for (int i = 0; i < 64; i++)
        a[i] = i * n ^ 5;
    return a[n & 63];
}

static void copy(char *to, const char *from)
{
    while ((*to++ = *from++))
        ;
}

__attribute__((noreturn)) void _start(void)
{
    for (int i = 1; i < 20; i++) {
        total += fill(i);
        copy(text + i, "a text to be copied");
    }
    __asm__ volatile("syscall" : : "a"(60), "D"(total & 63));
    __builtin_unreachable();
}
EOS
check gcc -O1 -nostdlib -static -fno-pie -no-pie -fno-stack-protector -fno-tree-loop-distribute-patterns \
    -o work work.c
qemu-x86_64 -singlestep -d nochain,exec -D log ./work
want=$?
run trod record -o work.trace -- ./work
status $want
err_has "^work.trace: $(grouped $(grep -c '^Trace' log)) instructions and "
run trod check work.trace
status 0
pcs work.trace >pcs
sed -n 's/^Trace 0: [^[]*\[[0-9a-f]*\/0*\([0-9a-f]*\)\/.*/\1/p' log >want_pcs
check test -s want_pcs
same want_pcs pcs
if command -v valgrind >/dev/null; then
    # loads, stores; M is both. Only what the program itself has: stacks lie elsewhere
    valgrind --tool=lackey --trace-mem=yes --log-file=lackey ./work
    sed -n 's/^ \([LSM]\) 0*\([0-9a-f]*\),\([0-9]*\)$/\1 \2 \3/p' lackey |
        awk 'length($2) <= 6 { if ($1 != "S") print "READ", $2, $3; if ($1 != "L") print "WRITE", $2, $3 }' >want
    check test -s want
    accesses work.trace | awk 'length($2) <= 6' >got
    same want got
fi

# 3. Only a part; only instructions.
run trod record -o part.trace --skip 100 --take 50 -- ./work
status $want
err_has '^part.trace: 50 instructions and '
pcs part.trace >pcs
sed -n 101,150p want_pcs >part_pcs
same part_pcs pcs
run trod record -o bare.trace --no-memory -- ./work
status $want
err_has "^bare.trace: $(grouped $(grep -c '^Trace' log)) instructions and 0 accesses"
run trod check bare.trace
status 0

# 4. Code that changes itself: each time the bytes that were executed.
cat >self.s <<'EOS'
        .globl _start
        .section .text, "awx"
_start: mov $3, %ecx
1:      movb %cl, 2f+1(%rip)
2:      mov $0x77, %al
        dec %ecx
        jnz 1b
        mov $60, %eax
        mov $0, %edi
        syscall
EOS
check gcc -nostdlib -static -Wl,-N -o self self.s
run trod record -o self.trace -- ./self
status 0
err_has '^self.trace: 16 instructions and 3 accesses'
run trod check self.trace
status 0
codes self.trace | grep '^b0' >codes
printf 'b003\nb002\nb001\n' >want
same want codes

# 5. Programs of this machine: the dynamic loader, libraries, vector instructions, x87.
for program in 'ls -l /' 'gzip -c /bin/ls' 'sh -c :'; do
    rm -rf real
    run trod record -q -o real -- $program
    status 0
    run trod check real
    status 0
done
cat >script <<'EOS'
#!/bin/sh
exit 4
EOS
chmod +x script
run trod record -o script.d -- ./script one two
status 4
# 9. Instructions on two pages: whole, once, with what follows them.
cat >pages.s <<'EOS'
        .globl _start
_start: mov $3, %ecx
        jmp 1f
        .balign 4096
        .space 4090
1:      addl $1, buf(%rip)
        jmp 2f
        .balign 4096
        .space 4094
2:      dec %ecx
        .byte 0x0f, 0x85
        .long 1b - . - 4
        mov $60, %eax
        mov $6, %edi
        jmp 3f
        .balign 4096
        .space 4095
3:      syscall
        .bss
buf:    .space 64
EOS
check gcc -nostdlib -static -Wl,-Ttext=0x401000 -o pages pages.s
run trod record -o pages.d -- ./pages
status 6
err_has '^pages.d: 18 instructions and 6 accesses'
run trod check pages.d
status 0
codes pages.d >got
check test "$(grep -c '^8305.*01$' got)" = 3
check test "$(grep -c '^0f85........$' got)" = 3
check test "$(grep -c '^0f05$' got)" = 1
run trod count pages.d
out_has 'fetched instructions: +18$'

# The values of accesses: what the text of the program says, of every size, and where an instruction
# reads and writes.
cat >values.s <<'EOS'
        .globl _start
_start: movb $0x11, buf(%rip)
        movw $0x2222, buf+2(%rip)
        movl $0x33333333, buf+4(%rip)
        movabs $0x4444555566667777, %rax
        mov %rax, buf+8(%rip)
        mov buf(%rip), %rbx
        addq $1, buf+8(%rip)
        push %rax
        pop %rcx
        lock xadd %eax, buf+4(%rip)
        movdqu buf(%rip), %xmm0
        movdqu %xmm0, buf+17(%rip)
        mov $60, %eax
        xor %edi, %edi
        syscall
        .bss
buf:    .space 64
EOS
cat >want <<'EOS'
WRITE 1 0x11
WRITE 2 0x2222
WRITE 4 0x33333333
WRITE 8 0x4444555566667777
READ 8 0x3333333322220011
READ 8 0x4444555566667777
WRITE 8 0x4444555566667778
WRITE 8 0x4444555566667777
READ 8 0x4444555566667777
READ 4 0x33333333
WRITE 4 0x9999aaaa
READ 16 0x44445555666677789999aaaa22220011
WRITE 16 0x44445555666677789999aaaa22220011
EOS
check gcc -nostdlib -static -o values values.s
run trod record --values -o values.csv -- ./values
status 0
trod view --kind READ,WRITE values.csv | awk '{ print $5, $7, $8 }' >got
same want got

# Of a compiled program: what is read is what was written there last.
run trod record --values -o values.csv -- ./work
status $want
trod view --kind READ,WRITE --format json values.csv >rows
check python3 - rows <<'EOP'
import json, sys

memory, known, rows = {}, 0, [json.loads(line) for line in open(sys.argv[1])]
for row in rows:
    value = int(row["value"], 16).to_bytes(row["size"], "little")
    at = int(row["address"], 16)
    for i, byte in enumerate(value):
        if row["kind"] == "READ" and at + i in memory:
            known += 1
            assert memory[at + i] == byte, row
        memory[at + i] = byte
assert known >= 18 * len("a text to be copied"), known
EOP
run trod record --values -o none.d -- ./values
status 125
err_has 'drmemtrace has no place for the values of accesses: csv, tarmac and matcher have'
run trod record --values --no-memory -o none.csv -- ./values
status 125
err_has 'values of accesses are wanted, and no accesses are recorded'
finish
