# states.sh - the registers at each instruction, from QEMU's own log and from a trace: a line an
# instruction, its address and then the registers in one order.
#
#   logged_states QEMU ISA   runs ./work one instruction at a time: its status in $want, the states in
#                            ./want_states (a64, arm, ppc, mips); how each QEMU does it is found out
#   recorded QEMU OPTION...  trod record under the same conditions
#   tarmac_states ISA TRACE  those of a Tarmac or Trace Matcher text
#   full_states TRACE        those of a FULL trace: what logged_states ppc gives
. "$TROD_SOURCE/tests/record/isa.sh"

# Log lines of one state, numbers in one field each; a pattern of two hex numbers is a mask.
declare -A log_states=(
    [a64]='{ gsub(/SP=/, " X31="); gsub(/=/, " ") }
        / ?PC /, /SP|X31/ { for (i = 1; i < NF; i++) if ($i ~ /^(PC|X[0-9][0-9])$/) s = s " " $(i + 1) }
        /^PSTATE / { print s, substr($2, 1, 1); s = "" }'
    [arm]='{ gsub(/=/, " ") }
        /^R[01][0-9] / { for (i = 2; i <= NF; i += 2) if ($(i - 1) == "R15") pc = $i; else s = s " " $i }
        /^PSR / { print " " pc s, substr($2, 1, 1); s = "" }'
    [mips]='/^pc=/ { gsub(/(pc|HI|LO)=0x/, ""); pc = $1; lohi = $3 " " $2 }
        /^GPR/ { for (i = 3; i <= NF; i += 2) s = s " " $i }
        /^GPR28/ { print " " pc s, lohi; s = "" }'
    [ppc]='/^NIP / { nip = $2; s = $4 " " $6 " " $8 }
        /^MSR / { msr = $2 }
        /^GPR/ { for (i = 2; i <= NF; i++) s = s " " substr($i, 9) }
        /^CR / { s = s " " $2 " " msr }
        /^FPR/ { for (i = 2; i <= NF; i++) s = s " " $i }
        /^FPSCR/ { print " " nip, s, $2 }'
)

# The stack holds the environment: it is the same in every run, and at the same place.
plainly() {
    env -i QEMU_RAND_SEED=1 ${place:+QEMU_RESERVED_VA=$place} "$@"
}

# recorded QEMU OPTION...: trod record with them
recorded() {
    local qemu=$1
    shift
    plainly "$TROD" record --native "$qemu" --plugin "$TROD_QEMU_PLUGIN" "$@"
}

logged_states() {
    local how=cpu one=-one-insn-per-tb
    "$1" -help | grep -q -e "$one" || one=-singlestep
    [[ $2 != ppc ]] || how=cpu,fpu
    place=
    [[ $one == -singlestep || $2 != a64 ]] || place=0x100000000
    plainly "$1" $one -d "nochain,$how" -D log ./work
    want=$?
    awk "${log_states[$2]}" log >want_states
    check test -s want_states
    rm log
}

# Names of the registers, in the order of the log; the digits of an address.
declare -A state_names=(
    [a64]="$(printf 'X%d ' {0..30}) SP_EL0 cpsr"
    [arm]="$(printf 'r%d ' {0..12}) r13_usr r14_usr cpsr"
    [mips]="$(printf 'r%d ' {0..31}) lo hi"
)

tarmac_states() {
    local digits=8
    [[ $1 != a64 ]] || digits=16
    awk -v names="${state_names[$1]}" -v digits=$digits 'BEGIN { n = split(names, name, " ") }
        $0 ~ / I[TS] \(/ {
            sub(/.* I[TS] \([0-9]*\) /, "")
            pc = sprintf("%" digits "s", $1)
            gsub(/ /, "0", pc)
            s = " " pc
            for (i = 1; i <= n; i++) s = s " " reg[name[i]]
            print s
        }
        / R / { sub(/.* R /, ""); reg[$1] = $1 == "cpsr" ? substr($2, 1, 1) : $2 }' "$2"
}

full_states() {
    trod view --native --from full "$1" | awk '{
        s = " " $2 " " $38 " " $39 " " $37
        for (i = 4; i < 36; i++) s = s " " $i
        s = s " " $36 " " $3
        for (i = 42; i < 106; i += 2) s = s " " $i $(i + 1)
        print s, $107
    }'
}
