# test_arm.sh - arm programs, A32 and T32: Tarmac; drmemtrace for A32.
. "$TROD_SOURCE/tests/record/isa.sh"
have arm-linux-gnueabihf-gcc qemu-arm

leave='__asm__ volatile("mov r0, %0; mov r7, #1; svc #0" : : "r"(total) : "r0");'
for set in -marm -mthumb; do
    cross_program "arm-linux-gnueabihf-gcc $set -fomit-frame-pointer" "$leave"
    logged qemu-arm
    run trod record -o work.tarmac -- ./work
    status $want
    err_has "^work.tarmac: $(grouped $(wc -l <want_pcs)) instructions and .*, arm, as tarmac"
    run trod check work.tarmac
    status 0
    pcs work.tarmac >got
    same want_pcs got
    case $set in
    -marm) letter=A ;;
    -mthumb) letter=T ;;
    esac
    last="instruction set of $set"
    check test "$(grep -c " IT .* $letter " work.tarmac)" = "$(wc -l <want_pcs)"
    if [[ $set == -marm ]]; then
        run trod record -o work.d -- ./work
        run trod check work.d
        status 0
    fi
done
# a T32 instruction of four bytes that ends a page, and code after IT that is not in its block
cat >edge.s <<'EOS'
        .syntax unified
        .thumb
        .globl _start
        .thumb_func
_start: b.w far
        .balign 4096
        .space 4090
        .thumb_func
far:    cmp r0, r0
        mov.w r1, #1
        it ne
        addne r1, #1
        movs r7, #1
        mov r0, r1
        svc #0
EOS
check arm-linux-gnueabihf-gcc -nostdlib -static -Wl,-Ttext=0x20000 -o edge edge.s
run trod record --registers -o edge.tarmac -- ./edge
status 1
run trod check edge.tarmac
status 0
sed -n 's/.* \(I[TS]\) ([0-9]*) [0-9a-f]*\(...\) \([0-9a-f]*\) T usr : .*/\1 \2 \3/p' edge.tarmac >got
same - got <<'EOS'
IT 000 f001bffb
IT ffa 4280
IT ffc f04f0101
IT 000 bf18
IS 002 3101
IT 004 2701
IT 006 4608
IT 008 df00
EOS
finish
