# test_syscalls.sh - arguments and results of system calls, as drmemtrace's FUNC_* markers.
. "$TROD_SOURCE/tests/cli/lib.sh"
have gcc qemu-x86_64

cat >calls.s <<'EOF'
        .globl _start
_start: mov $1, %eax            # write(1, text, 3)
        mov $1, %edi
        lea text(%rip), %rsi
        mov $3, %edx
        syscall
        mov $3, %eax            # close(77): EBADF, 9
        mov $77, %edi
        syscall
        mov $39, %eax           # getpid: not asked for
        syscall
        mov $60, %eax           # exit(5)
        mov $5, %edi
        syscall
text:   .ascii "ab\n"
EOF
check gcc -nostdlib -static -o calls calls.s
text=$((0x$(nm calls | sed -n 's/^\([0-9a-f]*\) . text$/\1/p')))
run trod record --syscalls write:3,3:1,exit -o calls.d -- ./calls
status 5
out <<<ab
run trod check calls.d
status 0
# markers 4 FUNC_ID, 6 FUNC_ARG, 7 FUNC_RETVAL, 24 SYSCALL, 30 SYSCALL_FAILED: number and value
trod view --format csv --kind MARKER calls.d | cut -d, -f10,15 >markers
while IFS=, read -r value number; do
    [[ $number != [467] && $number != 30 ]] || printf '%d %u\n' "$number" "$value"
done <markers >got
base=4294967296
cat >want <<EOF
4 $((base + 1))
6 1
6 $text
6 3
4 $((base + 1))
7 3
4 $((base + 3))
6 77
4 $((base + 3))
7 18446744073709551607
30 9
4 $((base + 60))
6 5
EOF
# exit has six arguments in the trace, what is in the other registers: its first is known
head -13 got >first
same want first
run trod record --syscalls all:0 -o all.d -- ./calls
status 5
run trod check all.d
status 0
# what is none
run trod record --syscalls nosuch -o x.d -- ./calls
status 125
err_has "'nosuch' is no system call of x86-64 programs"
run trod record --syscalls write:7 -o x.d -- ./calls
status 125
err_has "how many arguments are recorded, 0 to 6"
run trod record --to matcher --syscalls write -o x.matcher -- ./calls
status 125
err_has 'matcher has no place for system calls'
check test ! -e x.d
finish
