# test_mips.sh - mips programs: Trace Matcher traces.
. "$TROD_SOURCE/tests/record/isa.sh"
have mips-linux-gnu-gcc qemu-mips

cross_program 'mips-linux-gnu-gcc -mno-abicalls -G0' \
    '__asm__ volatile("move $4, %0; li $2, 4001; syscall" : : "r"(total) : "$4", "$2");'
logged qemu-mips
run trod record --to matcher:isa=mips32,endian=big -o work.trace -- ./work
status $want
err_has "^work.trace: $(wc -l <want_pcs) instructions and .*, mips, as matcher"
run trod check --from matcher work.trace
status 0
pcs --from matcher work.trace >got
same want_pcs got
finish
