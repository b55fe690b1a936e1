# test_arm.sh - arm programs, A32 and T32: Tarmac; drmemtrace for A32.
. "$TROD_SOURCE/tests/record/isa.sh"
have arm-linux-gnueabihf-gcc qemu-arm

leave='__asm__ volatile("mov r0, %0; mov r7, #1; svc #0" : : "r"(total) : "r0");'
for set in -marm -mthumb; do
    cross_program "arm-linux-gnueabihf-gcc $set -fomit-frame-pointer" "$leave"
    logged qemu-arm
    run trod record -o work.tarmac -- ./work
    status $want
    err_has "^work.tarmac: $(wc -l <want_pcs) instructions and .*, arm, as tarmac"
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
finish
