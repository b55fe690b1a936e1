# test_system_arm.sh - aarch64 and arm machines: Tarmac traces with modes, exceptions and physical
# addresses, against the log that the same QEMU writes while it is recorded.
. "$TROD_SOURCE/tests/record/states.sh"
. "$TROD_SOURCE/tests/record/system.sh"
have aarch64-linux-gnu-gcc arm-linux-gnueabihf-gcc qemu-system-aarch64 qemu-system-arm

logging="-d int,exec,nochain,cpu -D log $(one_by_one qemu-system-arm)"
linking='-nostdlib -static -Wl,--build-id=none,-Ttext=0x40100000,-z,noexecstack'

# recorded_with_log TRACE OPTION...: ./bare; ./log without what QEMU was stopped before
recorded_with_log() {
    run trod record --system -o "$@" -- bare $logging
    awk '/^Trace|^Taking|^Exception/ { printf "%s", block; block = "" }
         /^Stopped/ { block = ""; next }
         { block = block $0 "\n" }
         END { printf "%s", block }' log >clean_log
}

executed() {
    sed -n 's/^Trace 0: [^[]*\[[0-9a-f]*\/0*\([0-9a-f]*\)\/.*/\1/p' clean_log
}

# states_of ISA TRACE: as tarmac_states, names of registers by the mode of the instruction
states_of() {
    awk -v isa="$1" '
        $0 ~ / I[TS] \(/ {
            sub(/.* I[TS] \([0-9]*\) /, "")
            sub(/:.*/, "", $1)
            bank = $4 == "sys" ? "usr" : $4
            s = " " (isa == "a64" ? "00000000" $1 : $1)
            for (i = 0; i < (isa == "a64" ? 31 : 13); i++) s = s " " reg[(isa == "a64" ? "X" : "r") i]
            if (isa == "a64") s = s " " reg["SP_" (bank ~ /t$/ ? "EL0" : substr(bank, 1, 3))]
            else s = s " " reg["r13_" bank] " " reg["r14_" bank]
            print s, reg["cpsr"]
        }
        / R / { sub(/.* R /, ""); reg[$1] = $1 == "cpsr" ? substr($2, 1, 1) : $2 }' "$2"
}

# compared ISA: what both machines have in common; exceptions are in ./want_events
compared() {
    run trod check --severity warning bare.tarmac
    status 0
    executed >want
    pcs bare.tarmac >got
    same want got
    sed -n 's/.* E /E /p' bare.tarmac >got
    same want_events got
    recorded_with_log all.tarmac --registers
    run trod check --severity warning all.tarmac
    status 0
    grep -v '^\.\.\.\|^Exception\|^AArch32' clean_log | awk "${log_states[$1]}" >want
    states_of "$1" all.tarmac >got
    check test -s want
    same want got
}

# --- aarch64 ---

bare_a64
check aarch64-linux-gnu-gcc $linking -o bare bare.s
recorded_with_log bare.tarmac
status 5
err_has '^bare.tarmac: [0-9,]* instructions and [0-9,]* accesses of 1 processor, aarch64, as tarmac'
# exceptions and returns from them: vectors are 0x80 bytes each
awk 'BEGIN { split("SYNC IRQ FIQ ABORT", kind, " "); digits = "0123456789abcdef" }
     /^\.\.\.from EL/ { from = substr($2, 3); to = substr($4, 3) }
     /^\.\.\.with ELR/ { elr = substr($3, 3) }
     /^\.\.\.to EL/ {
         at = index(digits, substr($4, length($4) - 2, 1)) - 1
         at = 2 * (at % 8) + (substr($4, length($4) - 1, 1) == "8")
         printf "E %s %08x CoreEvent_%s_%s\n", elr, 128 + at,
             from == to ? "CURRENT_SPx" : "LOWER_64", kind[at % 4 + 1]
         if (from != to) printf "E %s EL%sh 00000019 CoreEvent_ModeChange\n", substr($4, 3), to
     }
     /^Exception return/ && $5 != $8 {
         printf "E %s %st 00000019 CoreEvent_ModeChange\n", substr($10, 3), $8
     }' clean_log >want_events
check test "$(grep -c _SYNC want_events)" = 7
check test "$(grep -c _IRQ want_events)" = 1
compared a64
# the level of each instruction
sed -n 's/^PSTATE=.* \(EL[0-3][ht]\) .*/\1/p' clean_log >want
sed -n 's/.* O \(EL[0-3][ht]\) : .*/\1/p' all.tarmac >got
same want got
# 0xc0000000 is physical 0x40000000 while translation is on
datum=$(nm bare | sed -n 's/^0*4\([0-9a-f]*\) . datum$/\1/p')
there=$(nm bare | sed -n 's/^0*4\([0-9a-f]*\) . there$/\1/p')
last='physical addresses of aarch64'
check grep -q " MR8 c$datum:00004$datum 11223344_55667788" all.tarmac
check grep -q " MW8 c.*:00004$(printf %07x $((0x$datum + 8))) 11223344_55667788" all.tarmac
check grep -q " IT ([0-9]*) c$there:00004$there " all.tarmac

# --- arm ---

bare_arm
check arm-linux-gnueabihf-gcc $linking -o bare bare.s
recorded_with_log bare.tarmac
status 6
# the log says which exception, the states say where and in which mode
awk 'BEGIN { size["A"] = 4; size["T"] = 2; digits = "0123456789abcdef" }
     function hex(s,    i, v) {
         for (i = 1; i <= length(s); i++) v = 16 * v + index(digits, substr(s, i, 1)) - 1
         return v
     }
     /^Taking exception.*SVC/ { event = sprintf("%08x 00000003 CoreEvent_SWI", hex(pc) + size[set]) }
     /^Taking exception.*Undef/ { event = pc " 00000002 CoreEvent_UndefinedInstr" }
     /^Taking exception.*Data/ { event = pc " 00000005 CoreEvent_DataAbort" }
     /R15=/ { sub(/.*R15=/, ""); pc = $1 }
     /^PSR=/ {
         set = $(NF - 1)
         if (event != "") print "E " event
         event = ""
         sub(/32$/, "", $NF)
         if (mode != "" && mode != $NF) print "E", pc, $NF, "00000019 CoreEvent_ModeChange"
         mode = $NF
     }' clean_log >want_events
check test "$(grep -c SWI want_events)" = 4
check test "$(grep -c Abort want_events)" = 2
compared arm
# the mode of each instruction, the banks of its registers; a condition that does not hold
sed -n 's/^PSR=.* \([a-z]*\)32$/\1/p' clean_log >want
sed -n 's/.* I[TS] ([0-9]*) [^ ]* [^ ]* [AT] \([a-z]*\) : .*/\1/p' all.tarmac >got
same want got
last='arm: names of registers, conditions'
check grep -q ' R r13_abt ' all.tarmac
check grep -q ' R r14_und ' all.tarmac
check grep -q ' IS .* A usr : svceq #7$' all.tarmac
finish
