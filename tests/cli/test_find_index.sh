# test_find_index.sh - trod find with an index, by names of functions, instructions and values: the rows that a
# reading of the whole trace finds, without reading where they cannot be.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3 jq

# Twelve functions, one after the other with some calls of others, on one cpu or two. The second cpu executes a
# function that nobody else does, once, and writes registers a long time after that.
cat >make.py <<'PY'
import random, sys
cpus = int(sys.argv[1])
r = random.Random(cpus)
out, stay = [], 0
for i in range(150000):
    phase, cpu = i // 12500, r.randrange(cpus)
    name = f'cpu{cpu} ' if cpus > 1 else ''
    if cpu == 1 and i > 50000:
        if stay == 0:
            out.append(f'{i} clk {name}IT ({i}) 00020010 d503201f O EL1h_n : NOP')
            stay = 1
        elif i % 997 == 0:
            out.append(f'{i} clk {name}R X{i % 29} {r.getrandbits(64):016X}')
        continue
    f = phase if r.random() > .001 else r.randrange(12)
    if f == 5 and phase != 5:
        f = 6
    pc = 0x10000 + 0x100 * f + 4 * r.randrange(64)
    out.append(f'{i} clk {name}IT ({i}) {pc:08x} {0xd5030000 + pc:08x} O EL1h_n : HINT #{f}')
    if i % 2:
        out.append(f'{i} clk {name}R X{i % 29} {r.randrange(1 << r.randrange(8, 64)):016X}')
    elif i % 3:
        out.append(f'{i} clk {name}M{"RW"[i % 4 // 2]}8 {0x8000 + r.randrange(512) * 8:08x} {i // 5000:08x}_{r.getrandbits(32):08x}')
print('\n'.join(out))
PY
functions=()
for i in {0..11}; do functions+=("f$i:$((0x10000 + 0x100 * i)):0x100"); done
python3 "$TROD_SOURCE/tests/cli/elf_functions.py" code.elf 0x10000 0x10000 "${functions[@]}" alone:0x20000:0x40
mkdir ix

all=('--format csv' '--count' '--format json -C 3' '--format csv --first' '--format csv -n 3 -A 5000' '--format csv -B 40' '' '-C 2')
turn=0
# EXPRESSION [OPTION...]: with an index as without
pair() {
    local options=${all[turn++ % ${#all[@]}]} was
    # shellcheck disable=SC2086 # options are words
    run trod find --no-index "$file" -S code.elf "$@" $options
    was=$got
    cp "$stdout" want
    # shellcheck disable=SC2086
    run trod find --index ix "$file" -S code.elf "$@" $options
    status "$was"
    same want "$stdout"
}
# turns: are few tried, then each expression on one of the two traces
expressions=0
turns() {
    ((${TROD_TEST_FEWER:-1} < 4 || (expressions++ + cpus) % 2))
}
for cpus in 1 2; do
    expressions=0
    file=$cpus.tarmac
    python3 make.py $cpus >"$file"
    run trod index --index ix "$file" -q
    status 0
    for expression in 'function == f5' 'function == "f5" && kind == WRITE' 'function in {f3, f5, nothing}' \
        'function ~ /^f1[01]$/ && kind != INSTR' 'function ~ "ALONE"' 'function ~ /ALONE/i' 'function == alone && kind == REG' \
        'kind == INSTR && function == f5' 'symbol == f5 && kind == INSTR' 'symbol ~ /^f[45]$/' 'module == code.elf && row < 90' \
        'module ~ /none/' 'function == f5 && time < 64000' 'function == f5 && row > 110000 && kind == READ' \
        'function == alone && row > 150000' 'function == f5 || row == 17' 'function != f5 && row > 200000' \
        'pc in 0x10500..0x10520 && kind == REG' 'pc == 0x20010' 'pc in {0x20010, 0x10504, 0x10700..0x10703} && kind in {REG, READ}' \
        'kind == WRITE && addr == 0x8040 && function == f5' 'kind == WRITE && addr in 0x8040..0x80ff && pc > 0x10000' \
        'function == f5 && function == f6' 'index in 60000..60100 && function == f5'; do
        turns || continue
        for _ in $(seq "$(fewer 3 1)"); do pair "$expression"; done
    done
    # values: of a register, of an access, few, of none; bounds of few
    run trod view "$file" --kind REG,WRITE --range 90000..90400 --format json
    mapfile -t values < <(jq -r '.value | select(test("^0x[0-9a-f]+$"))' "$stdout" | sed -n '1~60p')
    check test ${#values[@]} -gt 2
    for v in "${values[@]}"; do
        for expression in "value == $v" "value in {$v, $((${values[0]} + 1)), 0x123}" "$v == value && kind != REG" \
            "value in $((v - 3))..$((v + 4)) || row == 9" "value <= $v && value >= $v && function ~ /^f/" \
            "kind == REG && function == f5 && value == $v" "value == $v || (value == 12345 && kind == READ)"; do
            drawn || continue
            pair "$expression"
        done
    done
    for expression in 'value == 0' 'value < 3' 'value == 3 && value == 4' 'value != 5 && row < 10' 'value + 1 == 5' \
        'value in 0..40 && row > 150000' 'value == 0xffffffffffffffff' 'value > 0xfffffffffffffffd'; do
        pair "$expression"
    done
    # what instructions are, names of registers, kinds of what belongs to an address
    for expression in 'text ~ /HINT #5/' 'disasm ~ "HINT #(3|7)$" && row > 90000' 'mnemonic == nop' 'mnemonic == none' \
        'register == x7 && row < 5000' 'register in {x3, q1} && function == f5' 'register ~ /^X2[0-9]$/ || text ~ /none/' \
        'opcode == 0xd5040010' 'opcode & 0xffff == 0x0504 && time > 1000' 'opcode ~ /^d504050/' '!(disasm ~ /HINT/) && kind == INSTR' \
        'function == f5 && kind == REG && value > 5' 'pc in 0x10504..0x10510 && kind == WRITE' 'pc in 0x10500..0x10510 && kind == ATOMIC' \
        'has(opcode) && mnemonic != hint' 'text ~ /#5/ && !(time < 70000)' 'pc == 0x20010 && kind in {REG, READ}'; do
        turns || continue
        for _ in $(seq "$(fewer 2 1)"); do pair "$expression"; done
    done
    pair 'row > 5' --text 'HINT #5'
    pair 'row > 5' --register x7,q0 --range 3000..9000
    # the listing of view is as wide as without, however many threads there are
    for part in '--range 90000..90900' '--range 17..25000 --kind REG' '--where row>=70000&&row<90000'; do
        # shellcheck disable=SC2086
        run trod view --no-index -j 2 $part "$file"
        cp "$stdout" want
        # shellcheck disable=SC2086
        run trod view --index ix -j 1 $part "$file"
        same want "$stdout"
    done
    pair 'kind == INSTR' --pc f5
    pair 'row > 5' --pc alone,0x10500..0x10510 --range 1000..200000
done

# Rows that name their instruction where no instruction is executed.
python3 - >named.out <<'PY'
for i in range(100000):
    print(f'0x{0x10000 + 0x100 * (i // 9000) + i % 64:x}: {"RW"[i % 2]} 0x{0x7000 + i % 4096:x}')
print('#eof')
PY
file=named.out
run trod index --index ix "$file" -q
status 0
for expression in 'function == f5' 'pc == 0x10509' 'kind == WRITE && pc in 0x10500..0x10504' 'function ~ /f[37]/ && addr == 0x7003'; do
    for _ in $(seq "$(fewer 3 1)"); do pair "$expression"; done
done

# What cannot have such rows is not read: it is something else by now, and nobody notices.
file=1.tarmac
cp -p "$file" kept.tarmac
run trod view "$file" --kind REG --range 70000..70100 --format json
v=$(jq -r .value "$stdout" | head -n 1)
for expression in 'function == f5' 'kind == WRITE && function ~ /^f5/' "value == $v" 'disasm ~ /HINT #5$/ && row < 140000' \
    'text ~ /CoreEvent/ || mnemonic == frinta || opcode == 0xd5040010'; do
    run trod find --index ix "$file" -S code.elf "$expression" --format csv
    status 0
    cp "$stdout" want
    python3 - "$file" <<'PY'
import os, sys
s = os.stat(sys.argv[1])
with open(sys.argv[1], 'r+b') as f:
    for at in (2 << 20, s.st_size * 3 // 4):
        f.seek(at)
        f.write(b'#' * (512 << 10))
os.utime(sys.argv[1], ns=(s.st_atime_ns, s.st_mtime_ns))
PY
    run trod find --index ix "$file" -S code.elf "$expression" --format csv
    same want "$stdout"
    check test ! -s "$stderr"
    cp -p kept.tarmac "$file"
done

# alike WHAT...: is found in $file with its index as without
alike() {
    run trod find --no-index "$file" "$@"
    cp "$stdout" want
    run trod find --index ix "$file" "$@"
    same want "$stdout"
}

# Where half of the trace may match, and nothing before it, reading begins there.
python3 - >late.tarmac <<'PY'
for i in range(250000):
    print(f'{i} clk IT ({i}) ' + ('00010000 d503201f O EL1h_n : NOP' if i < 120000 else '00020000 91000400 O EL1h_n : ADD x0,x0,#1'))
PY
file=late.tarmac
run trod index --index ix "$file" -q
status 0
for options in '' '--format csv -C 3' '--format json -B 7' '-j 3' '--count'; do
    for expression in 'disasm ~ /ADD/ && time > 3' 'pc == 0x20000 && row % 2 == 1'; do
        # shellcheck disable=SC2086 # options are words
        alike "$expression" $options
    done
done
run trod find --index ix "$file" 'disasm ~ /ADD/ && time > 3' --format csv
cp "$stdout" want
python3 - "$file" <<'PY'
import os, sys
s = os.stat(sys.argv[1])
with open(sys.argv[1], 'r+b') as f:
    f.seek(1 << 20)
    f.write(b'#' * (2 << 20))
os.utime(sys.argv[1], ns=(s.st_atime_ns, s.st_mtime_ns))
PY
run trod find --index ix "$file" 'disasm ~ /ADD/ && time > 3' --format csv
same want "$stdout"
check test ! -s "$stderr"

# It does begin there also where more of them come after a gap.
python3 - >gap.tarmac <<'PY'
for i in range(250000):
    here = 30000 <= i < 35000 or i >= 100000
    print(f'{i} clk IT ({i}) ' + ('00020000 91000400 O EL1h_n : ADD x0,x0,#1' if here else '00010000 d503201f O EL1h_n : NOP'))
PY
file=gap.tarmac
run trod index --index ix "$file" -q
status 0
for options in '' '--count'; do
    for expression in 'addr == 0x20000' 'disasm ~ /ADD/ && time > 3'; do
        # shellcheck disable=SC2086 # options are words
        alike "$expression" $options
    done
done

# What lists count is not read at all: with all but the ends of the trace lost the counts are the same.
python3 - >few.tarmac <<'PY'
import random
r = random.Random(5)
for i in range(120000):
    pc = 0x10000 + 4 * r.randrange(300)
    print(f'{i} clk IT ({i}) {pc:08x} {0xd5030000 + pc:08x} O EL1h_n : HINT #{pc % 11}')
    if i % 200 == 0:
        print(f'{i} clk R X{i % 7} {r.randrange(9):016X}')
    if i % 150 == 0:
        print(f'{i} clk MR8 {0x8000 + r.randrange(512) * 8:08x} 00000000_{r.randrange(9):08x}')
PY
file=few.tarmac
run trod index --index ix "$file" -q
status 0
counts=('kind == READ' 'kind != INSTR' '!(kind == READ || kind == REG)' 'value == 3' 'value != 3' 'value > 4 && kind == REG' 'has(value)' \
    'kind == READ && value == 3' 'disasm ~ /#[3-5]/' 'mnemonic == hint && !(text ~ /7/)' 'register == x3' 'opcode == 0xd5040010' \
    'pc in 0x10000..0x10080' 'pc == 0x10040 && kind == INSTR' 'pc in {0x10040, 0x10100} && kind != INSTR' 'has(register) || kind == READ' \
    'function == f1' 'function in {f0, f3} && kind == INSTR' 'function == nothing')
# how rows look and what they have in common, where all of a kind do, none, or only some
counts+=('disasm ~ /#[3-5]/ && size == 4' 'disasm ~ /#[3-5]/ && size == 8' 'text ~ /X3/ && size == 8' 'text ~ /#3|X3/ && size > 4' 'opcode == 0xd5040010 && !taken' \
    'register == x3 && kind == REG && stream == 0' 'text ~ /#3|X3/ && kind == REG && size > 4' 'text ~ /#3/ && stream == cpu7')
# of a part, or of the first ones: how many rows were looked at is told, too
parts=('--range 300..900' '--range 119500..120200' '--range 120500..' '--range 900000..' '--limit 4' '--first --range 120300..' '--limit 100 --range 300..700' \
    '--instructions 1000..1100' '--instructions ..500 --range 300..' '--instructions ..500 --range 120000..' '--instructions 119950..' \
    '--instructions 119950..119990 --range 200..' '--instructions 900000..' '--instructions 119900.. --limit 4')
# by what many rows have in common, with or without bounds that whole blocks keep
counts+=('size == 8' 'size < 8 && !(kind == REG)' 'kind == READ && size in {4, 8}' 'taken' '!(taken || untaken)' 'branch == conditional || size > 4' \
    'kernel' 'has(time)' '!has(addr)' 'stream == 0' 'stream == cpu7' 'flags & 0xffff == 0x240' 'has(value) && size == 8' 'time >= 0' \
    'time in 0..200000 && kind == REG' 'time > 900000' 'addr >= 0x8000' 'addr in 0x8000..0x8fff && size == 8' 'addr < 0x10000 && time < 200000' \
    'addr in 0x8800..0x88ff && kind in {READ, WRITE}')
for expression in "${counts[@]}"; do
    run trod find --no-index "$file" "$expression" --count -S code.elf
    cat "$stdout" >>want.counts
    run trod find --index ix "$file" "$expression" --count -S code.elf
    cat "$stdout" >>got.counts
done
for part in "${parts[@]}"; do
    for expression in 'kind == REG' 'value == 3' 'row < 121300 && kind == READ && addr > 0x8100' 'function == f1'; do
        # shellcheck disable=SC2086
        run trod find --no-index "$file" "$expression" --count -S code.elf $part
        cat "$stdout" >>want.counts
        # shellcheck disable=SC2086
        run trod find --index ix "$file" "$expression" --count -S code.elf $part
        cat "$stdout" >>got.counts
    done
done
check grep -q 'rows: *901' want.counts
same want.counts got.counts
python3 - "$file" <<'PY'
import os, sys
s = os.stat(sys.argv[1])
with open(sys.argv[1], 'r+b') as f:
    f.seek(1 << 20)
    f.write(b'#' * (s.st_size - (1 << 21)))
os.utime(sys.argv[1], ns=(s.st_atime_ns, s.st_mtime_ns))
PY
rm got.counts
for expression in "${counts[@]}"; do
    run trod find --index ix "$file" "$expression" --count -S code.elf
    cat "$stdout" >>got.counts
    check test ! -s "$stderr"
done
for part in "${parts[@]}"; do
    for expression in 'kind == REG' 'value == 3' 'row < 121300 && kind == READ && addr > 0x8100' 'function == f1'; do
        # shellcheck disable=SC2086
        run trod find --index ix "$file" "$expression" --count -S code.elf $part
        cat "$stdout" >>got.counts
        check test ! -s "$stderr"
    done
done
same want.counts got.counts

# So it is with values, of which rows of a block have thousands, and with ranges of them; where a bound of times lies in a block, it is read.
python3 - >often.tarmac <<'PY'
import random
r = random.Random(6)
for i in range(120000):
    if i % 16 == 0:
        print(f'{i} clk IT ({i}) 00010000 d5030000 O EL1h_n : HINT #0')
    print(f'{i} clk R X{i % 7} {r.choice([0, 1, 2, r.getrandbits(40), 77, i // 30000 + 1000]):016X}')
    if i % 3 == 0:
        print(f'{i} clk M{"RW"[i % 2]}4 {0x8000 + r.randrange(4096) * 4:08x} {r.choice([0, 5, r.getrandbits(32)]):08x}')
PY
file=often.tarmac
run trod index --index ix "$file" -q
status 0
rm -f want.counts got.counts
counts=('value == 0' 'value == 1 && kind == REG' 'value in {2, 77, 5}' 'value != 0' 'value != 5 && kind == READ' 'value == 0x12345' 'value in {1000, 1003}' \
    'value in 0..5' 'value > 1 && kind != REG' 'value >= 1' 'value == 0 && kind in {WRITE, ATOMIC}' 'value == 1001 && kind == INSTR' \
    'value > 1003' 'value < 0x8000000000 && kind == REG' 'value in 0x20000000..0xa000000000' '0x7fffffff >= value' 'value in {0..0x2000, 0x1234567.., 77}' \
    'value == 0 && size == 4' 'value > 0x4000000 && size == 4 && kind == READ' 'value <= 0x9876543210 && time >= 0' 'value > 0xffffffffff')
for expression in "${counts[@]}" 'value > 1003 && time > 90000' 'value == 0 && time > 90000'; do
    for options in '--no-index' '--index ix'; do
        # shellcheck disable=SC2086 # options are words
        run trod find $options "$file" "$expression" --count
        cat "$stdout" >>"${options:2:2}.counts"
    done
done
same no.counts in.counts
cp -p "$file" kept.tarmac
python3 - "$file" <<'PY'
import os, sys
s = os.stat(sys.argv[1])
with open(sys.argv[1], 'r+b') as f:
    f.seek(1 << 20)
    f.write(b'#' * (s.st_size - (1 << 21)))
os.utime(sys.argv[1], ns=(s.st_atime_ns, s.st_mtime_ns))
PY
for expression in "${counts[@]}"; do
    run trod find --index ix "$file" "$expression" --count
    cat "$stdout" >>got.counts
    check test ! -s "$stderr"
done
head -n "$(wc -l <got.counts)" no.counts >want.counts
same want.counts got.counts

# Instructions of two sizes in each block: which are of one, of those that look alike, is known without reading them.
python3 - >sizes.tarmac <<'PY'
import random
r = random.Random(7)
codes = ['4770', 'bf00', '4608', 'f000b800', 'f3af8000', 'ea4f0001', 'b510', '6808', 'f8d01004']
for i in range(120000):
    at = r.randrange(300)
    print(f'{i} clk IT ({i}) {0x10000 + 4 * at:08x} {codes[at % len(codes)]} T svc_ns : X{at % 7}')
    if i % 9 == 0:
        print(f'{i} clk MR4 {0x8000 + r.randrange(512) * 8:08x} {r.randrange(9):08x}')
PY
file=sizes.tarmac
counts=('disasm ~ /mov/ && size == 2' 'disasm ~ /mov/ && size == 4' 'text ~ /X[1-3]/ && size > 2' 'disasm ~ /ldr/ && size != 4' 'opcode < 0x5000 && size == 2' \
    'disasm ~ /b/ && size in {2, 4} && iset == T32' 'text ~ /X[45]/ && size == 4 && kind == INSTR' '!(text ~ /X/) && size == 4' 'text ~ /X2/ && size == 3')
without() {
    rm -f no.counts
    for expression in "${counts[@]}"; do
        run trod find --no-index "$file" "$expression" --count
        cat "$stdout" >>no.counts
    done
}
with() {
    rm -f in.counts
    for expression in "${counts[@]}"; do
        run trod find --index ix "$file" "$expression" --count
        cat "$stdout" >>in.counts
        check test ! -s "$stderr"
    done
}
run trod index --index ix "$file" -q
without
with
same no.counts in.counts
cp "$file" changed.tarmac
python3 - "$file" <<'PY'
import os, sys
s = os.stat(sys.argv[1])
with open(sys.argv[1], 'r+b') as f:
    f.seek(1 << 20)
    f.write(b'#' * (s.st_size - (1 << 21)))
os.utime(sys.argv[1], ns=(s.st_atime_ns, s.st_mtime_ns))
PY
with
same no.counts in.counts
# Instructions become longer ones: these are looked at.
file=changed.tarmac
sed -i '70000,$s/ 000100\(0\|2\)0 [0-9a-f]* T/ 000100\10 f3af8000 T/' "$file"
run trod index --index ix "$file" -q
without
with
same no.counts in.counts

# Of several cpus, each with numbers of its own, what has other numbers is not read.
python3 - >cpus.tarmac <<'PY'
import random
r = random.Random(8)
at = [1] * 4
for i in range(150000):
    cpu = r.randrange(4)
    print(f'{i} clk cpu{cpu} IT ({at[cpu]}) {0x10000 + 4 * r.randrange(300):08x} d503201f O EL1h_n : NOP')
    at[cpu] += 1
PY
file=cpus.tarmac
run trod index --index ix "$file" -q
parts=('--instructions 100..120' '--instructions 37000..' '--instructions ..50 --kind INSTR' '--instructions 37100..37110 --stream cpu2')
for options in '--no-index' '--index ix'; do
    for part in "${parts[@]}"; do
        # shellcheck disable=SC2086
        run trod find $options "$file" 'kind == INSTR' --count $part
        cat "$stdout" >>"${options:2:2}.cpus"
        # shellcheck disable=SC2086
        run trod find $options "$file" 'size == 4' $part
        cat "$stdout" >>"${options:2:2}.cpus"
        check test ! -s "$stderr"
    done
    if [[ $options == --no-index ]]; then
        python3 - "$file" <<'PY'
import os, sys
s = os.stat(sys.argv[1])
with open(sys.argv[1], 'r+b') as f:
    f.seek(s.st_size // 3)
    f.write(b'#' * (s.st_size // 3))
os.utime(sys.argv[1], ns=(s.st_atime_ns, s.st_mtime_ns))
PY
    fi
done
check grep -q 'found: *84' no.cpus
same no.cpus in.cpus

# Record numbers that a damaged trace has do not number its rows, with an index or without.
cp "$TROD_SOURCE/tests/golden/drmemtrace/chunks.damaged.trace" chunks.trace
run trod index --from drmemtrace chunks.trace
for row in 9 12 13 14; do
    run trod find --from drmemtrace --no-index chunks.trace "row >= $row"
    cp "$stdout" want.rows
    run trod find --from drmemtrace chunks.trace "row >= $row"
    same want.rows "$stdout"
done
check test "$(wc -l <want.rows)" -eq 1

# an instruction at the last address is not one without an address
cat >last.csv <<'END'
kind,addr,value,text
INSTR,,1,
INSTR,0xffffffffffffffff,,nop
END
trod index -q --from csv last.csv
for expression in 'has(text) && kind == INSTR' 'mnemonic != "fp12"' 'has(addr)' 'text == "nop"'; do
    trod find --from csv --count last.csv "$expression" >got
    trod find --from csv --no-index --count last.csv "$expression" >want
    same want got
done
finish
