# test_registers.sh - registers and values of accesses: FULL, Tarmac and Trace Matcher traces against
# QEMU's own log of the processor's state before each instruction.
. "$TROD_SOURCE/tests/record/isa.sh"

# The stack lies where environment and arguments leave it: the same for QEMU and for us.
clean() {
    env -i PATH="$PATH" TROD_QEMU_PLUGIN="$TROD_QEMU_PLUGIN" "$@"
}

# states QEMU: ./work one instruction at a time; a line each "PC NAME=VALUE ..." in ./states, values
# without leading zeros, names as traces have them.
states() {
    clean "$1" -singlestep -d nochain,cpu -D log -0 ./work ./work
    want=$?
    awk -v isa="$2" '
        function value(v) { sub(/^0x/, "", v); sub(/^0+/, "", v); return tolower(v == "" ? "0" : v) }
        function flush() { if (pc != "") print pc line; line = "" }
        function add(name, v) { line = line " " name "=" value(v) }
        isa == "ppc" && $1 == "NIP" {
            flush(); pc = value($2); add("lr", $4); add("ctr", $6); add("xer", $8)
        }
        isa == "ppc" && $1 == "MSR" { add("srr1", $2) }
        isa == "ppc" && /^GPR/ { n = substr($1, 4) + 0; for (i = 0; i < 4; i++) add("r" n + i, $(i + 2)) }
        isa == "ppc" && /^CR / { add("cr", $2) }
        isa == "a64" && /^ PC=/ { flush() }
        isa == "arm" && /^R00=/ { flush() }
        isa == "a64" || isa == "arm" {
            gsub(/= +/, "=")
            for (i = 1; i <= NF; i++) {
                if (split($i, part, "=") < 2) continue
                name = part[1]
                if (name == "PC" || name == "R15") pc = value(part[2])
                else if (name == "SP") add("SP_EL0", part[2])
                else if (name == "PSTATE" || name == "PSR") add("cpsr", part[2])
                else if (name ~ /^X[0-9]/) add("X" substr(name, 2) + 0, part[2])
                else if (name ~ /^R1[34]/) add("r" substr(name, 2) "_usr", part[2])
                else if (name ~ /^R[0-9]/) add("r" substr(name, 2) + 0, part[2])
            }
        }
        isa == "mips" && /^pc=/ {
            flush()
            pc = value(substr($1, 4)); add("hi", substr($2, 4)); add("lo", substr($3, 4))
        }
        isa == "mips" && /^GPR/ {
            n = substr($1, 4) + 0
            for (i = 0; i < 4; i++) if (n + i) add("r" n + i, $(2 * i + 3))
        }
        END { flush() }' log >states
    check test -s states
    rm log
}

# explained: whether the register rows in ./rows ("I" address; "R" name value) are what ./states
# says: each row the value before the next instruction, each change a row.
explained() {
    awk '
        function parse(text, to,   n, i, part, word) {
            n = split(text, word, " ")
            for (i = 2; i <= n; i++) { split(word[i], part, "="); to[part[1]] = part[2] }
            return word[1]
        }
        function settle(   name) {
            if (!n || (getline text < "states") <= 0) return
            delete next_state
            parse(text, next_state)
            for (name in next_state)
                if (next_state[name] != state[name] && !(name in row)) {
                    print "no row: instruction " n ": " name " = " next_state[name]; bad++
                }
            for (name in row)
                if (name in next_state && row[name] != next_state[name]) {
                    print "instruction " n ": " name " = " row[name] ", not " next_state[name]; bad++
                }
            for (name in next_state) state[name] = next_state[name]
        }
        BEGIN { getline text < "states"; first = parse(text, state) }
        $1 == "I" {
            if (n) settle(); else if ($2 != first) { print "begins at " $2 ", not " first; bad++ }
            n++; delete row
        }
        $1 == "R" { row[$2] = $3; rows++ }
        END { print n " instructions, " rows " rows" > "/dev/stderr"; exit bad > 0 || rows < 10 }' rows
}

rows() {
    trod view --kind INSTR,REG --format json "$@" |
        jq -r 'if .kind == "INSTR" then "I " + .address[2:] else "R \(.text) \(.value[2:])" end' |
        sed -E 's/ 0+([0-9a-f])/ \1/g' >rows
}

# What is read is what was written there last, byte by byte.
consistent() {
    trod view --kind READ,WRITE --format json "$@" |
        jq -r 'select(.value) | [.kind, .address[2:], .size, .value[2:]] | @tsv' |
        awk -v big="$big" '
            function number(h,   i, n) {
                for (i = 1; i <= length(h); i++) n = 16 * n + index("0123456789abcdef", substr(h, i, 1)) - 1
                return n
            }
            {
                at = number($2)
                while (length($4) < 2 * $3) $4 = "0" $4
                for (i = 0; i < $3; i++) {
                    byte = big ? substr($4, 2 * i + 1, 2) : substr($4, 2 * ($3 - i) - 1, 2)
                    if ($1 == "WRITE") memory[at + i] = byte
                    else if ((at + i) in memory) {
                        known++
                        if (memory[at + i] != byte) { print $2 " + " i ": " byte ", not " memory[at + i]; bad++ }
                    }
                }
            }
            END { exit bad > 0 || known < 40 }'
}

tried=0
if command -v powerpc-linux-gnu-gcc qemu-ppc >/dev/null; then
    tried=$((tried + 1)) big=1
    cross_program powerpc-linux-gnu-gcc \
        '__asm__ volatile("mr 3, %0; li 0, 1; sc" : : "r"(total) : "0", "3");'
    states qemu-ppc ppc
    run clean "$TROD" record -o work.full -- ./work
    status $want
    err_has "^work.full: $(grouped $(wc -l <states)) instructions and .*, powerpc, as full"
    run trod check work.full
    status 0
    # all of a state: of each record the words srr0, srr1, r0 to r31, cr, xer, lr, ctr
    trod view --native work.full | awk '
        function value(v) { sub(/^0+/, "", v); return v == "" ? "0" : v }
        {
            printf "%s lr=%s ctr=%s xer=%s srr1=%s", value($2), value($38), value($39), value($37), value($3)
            for (i = 0; i < 32; i++) printf " r%d=%s", i, value($(4 + i))
            print " cr=" value($36)
        }' >got
    check test "$(wc -l <got)" -eq "$(wc -l <states)"
    same states got
    run clean "$TROD" record --to tt6e -o work.tt6e -- ./work
    status $want
    run trod convert --to tt6e work.full again.tt6e --allow-loss
    trod view --format csv again.tt6e | cut -d, -f2- >want_rows
    trod view --format csv work.tt6e | cut -d, -f2- >got_rows
    same want_rows got_rows
    run clean "$TROD" record --to matcher --registers -o work.matcher -- ./work
    status $want
    check consistent work.matcher
fi
if command -v aarch64-linux-gnu-gcc qemu-aarch64 >/dev/null; then
    tried=$((tried + 1)) big=
    cross_program aarch64-linux-gnu-gcc \
        '__asm__ volatile("mov x0, %0; mov x8, #93; svc #0" : : "r"((unsigned long)total) : "x0", "x8");'
    states qemu-aarch64 a64
    run clean "$TROD" record --to tarmac --registers -o work.tarmac -- ./work
    status $want
    run trod check work.tarmac
    status 0
    rows work.tarmac
    check explained
    check consistent work.tarmac
fi
if command -v arm-linux-gnueabihf-gcc qemu-arm >/dev/null; then
    for how in -marm -mthumb; do
        tried=$((tried + 1)) big=
        cross_program "arm-linux-gnueabihf-gcc $how -fomit-frame-pointer" \
            '__asm__ volatile("mov r0, %0; mov r7, #1; svc #0" : : "r"(total) : "r0");'
        states qemu-arm arm
        run clean "$TROD" record --to tarmac --registers -o work.tarmac -- ./work
        status $want
        run trod check work.tarmac
        status 0
        rows work.tarmac
        check explained
        check consistent work.tarmac
    done
fi
if command -v mips-linux-gnu-gcc qemu-mips >/dev/null; then
    tried=$((tried + 1)) big=1
    cross_program 'mips-linux-gnu-gcc -mno-abicalls -G0' \
        '__asm__ volatile("move $4, %0; li $2, 4001; syscall" : : "r"(total) : "$2", "$4");'
    states qemu-mips mips
    run clean "$TROD" record --to matcher --registers -o work.matcher -- ./work
    status $want
    rows --from matcher work.matcher
    check explained
    check consistent --from matcher work.matcher
fi
[[ $tried -gt 0 ]] || { echo 'skipped: no cross compiler and QEMU'; exit 77; }
finish
