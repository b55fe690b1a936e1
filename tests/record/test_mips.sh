# test_mips.sh - mips and mipsel programs: Trace Matcher traces.
. "$TROD_SOURCE/tests/record/isa.sh"

tried=0
for kind in mips:big mipsel:little; do
    isa=${kind%:*} endian=${kind#*:}
    command -v "$isa-linux-gnu-gcc" >/dev/null && command -v "qemu-$isa" >/dev/null || continue
    tried=$((tried + 1))
    cross_program "$isa-linux-gnu-gcc -mno-abicalls -G0" \
        '__asm__ volatile("move $4, %0; li $2, 4001; syscall" : : "r"(total) : "$4", "$2");'
    logged "qemu-$isa"
    run trod record --to matcher:isa=mips32,endian=$endian -o work.trace -- ./work
    status $want
    err_has "^work.trace: $(grouped $(wc -l <want_pcs)) instructions and .*, $isa, as matcher"
    run trod check --from matcher work.trace
    status 0
    pcs --from matcher work.trace >got
    same want_pcs got
    run trod record --registers --to matcher:isa=mips32,endian=$endian -o values.trace -- ./work
    status $want
    run trod check --from matcher values.trace
    status 0
    pcs --from matcher values.trace >got
    same want_pcs got
    check grep -q ' R r[0-9]* [0-9a-f]*$' values.trace
done
[[ $tried -gt 0 ]] || { echo 'skipped: no cross compiler and QEMU for mips'; exit 77; }
finish
