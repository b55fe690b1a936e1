# test_formats.sh - recordings in formats that hold part of a program: the exit status is the program's, and what could
# not be written in the end is refused before it runs; amounts of nothing; what the summary counts.
. "$TROD_SOURCE/tests/cli/lib.sh"
have gcc qemu-x86_64

cat >work.s <<'EOS'
        .globl _start
_start: mov $50, %ecx
1:      push %rcx
        pop %rcx
        dec %ecx
        jnz 1b
        mov $1, %eax            # write(1, text, 4)
        mov $1, %edi
        lea text(%rip), %rsi
        mov $4, %edx
        syscall
        mov $60, %eax
        mov $42, %edi
        syscall
text:   .ascii "ran\n"
EOS
check gcc -nostdlib -static -o work work.s

for format in drmemtrace champsim cloudsuite dinero dinerox dinerob gem5packet instrace memtrace_simple pinatrace ramulator \
    dramsim3 memtrace_x86 lackey csv; do
    "$TROD" formats "$format" >/dev/null 2>&1 || continue
    rm -rf out
    run trod record -o out --to $format -- ./work
    status 42
    check test -s out -o -d out
done
# what is left out is said
run trod record -o out.pinatrace -- ./work
err_has '^lost: 209 INSTR rows$'

# tt6 holds no opcodes of x86, whatever is allowed: the program does not run
for to in tt6 tt6e full; do
    for allow in '' --allow-loss; do
        run trod record $allow -o out.$to -- ./work
        status 125
        err_has "$to has no word for x86-64 instructions: use --to with one of .*drmemtrace"
        check test "$(grep -c allow-loss "$stderr")" = 0
        check test ! -s "$stdout" -a ! -e out.$to
    done
done
run trod record -o out.stf -- ./work
status 125
err_has 'or say --allow-loss'
check test ! -s "$stdout"

# no instructions, no bytes
for option in take size-limit; do
    run trod record --$option 0 -o none.csv -- ./work
    status 125
    err_has "--$option 0 records nothing"
    check test ! -s "$stdout" -a ! -e none.csv
done
run trod record --take 1 -o one.csv -- ./work
status 42
check test "$(wc -l <one.csv)" = 2

# instructions that the disassembler does not know are counted where they are recorded: rdsspq, which Capstone 4 lacks
cat >odd.s <<'EOS'
        .globl _start, wanted
_start: .byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8
        nop
wanted: nop
        mov $60, %eax
        xor %edi, %edi
        syscall
EOS
check gcc -nostdlib -static -o odd odd.s
run trod record -o odd.csv -- ./odd
status 0
if grep -q '1 different instruction is unknown to the disassembler' "$stderr"; then
    run trod record --start wanted -o odd.csv -- ./odd
    status 0
    check test "$(grep -c 'unknown to the disassembler' "$stderr")" = 0
else
    echo 'not tested: the disassembler knows rdsspq'
fi
finish
