# test_find.sh - trod find, and --where in commands: the same rows as the older options choose, rows
# around them, counts, exit statuses. Expected rows are read off examples/hello.tarmac.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq python3

hello=$TROD_SOURCE/examples/hello.tarmac
sum=$TROD_SOURCE/examples/sum.trace.zip
tt6=$TROD_SOURCE/examples/sum.tt6

# found, not found, no expression, no file
run trod find "$hello" 'kind == WRITE && value == 0x2b' --format json
status 0
json '.record == 16 and .address == "0x6400"'
run trod find "$hello" 'kind == WRITE && value == 42'
status 1
check test ! -s "$stdout"
run trod find "$hello" 'kind == WRIET'
status 2
err_has "no record is called 'WRIET'"
err_has '^            \^$'
run trod find "$hello"
status 2
err_has 'something is missing'
run trod find "$tmp/none" 'row == 0'
status 2
run trod find "$hello" --where 'row == 0' --count --format json
status 0
json '.found == 1 and .rows >= 1'

# first, limit, count; rows around
run trod find "$hello" 'kind == WRITE' --format json --first
json '.record == 5'
run trod find "$hello" 'kind == WRITE' --format json -n 2
through jq -c .record
out <<END
5
6
END
run trod find "$hello" 'kind == WRITE' --count --format json
json '.found == 3 and .rows == 24'
run trod find "$hello" 'kind == WRITE' -C 1 --format json
through jq -c '[.record, .found]'
out <<END
[4,false]
[5,true]
[6,true]
[7,false]
[15,false]
[16,true]
[17,false]
END
run trod find "$hello" 'kind == WRITE' -B 2 -A 1
through sed -E 's/^(..) *([0-9]+) .*/\1\2/'
out <<END
  3
  4
> 5
> 6
  7
--
  14
  15
> 16
  17
END
run trod find "$hello" 'row in {0, 23}' -C 3 --format csv
through cut -d, -f1,2
out <<END
found,record
true,0
false,1
false,2
false,3
false,20
false,21
false,22
true,23
END
run trod find "$hello" 'row == 5' --range 5..5 -B 2 --format json
through jq -c .record
out <<END
3
4
5
END
run trod find "$hello" 'row == 5' -B 2000
status 2

# rows before a match lie in the batch before: 20,000 rows, every 1,000th with 3 before it
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%d clk IT (%d) %08x e1a00000 A svc_s : MOV r0,r0\n", i, i, 32768 + 4 * i }' >long.tarmac
run trod find long.tarmac 'row % 1000 == 96' -B 3 --format json
through jq -c .record
for ((i = 96; i < 20000; i += 1000)); do printf '%s\n' $((i - 3)) $((i - 2)) $((i - 1)) "$i"; done | out
run trod find long.tarmac 'row % 4096 == 1' -B 1000 -n 3 --count --format json
json '.found == 3'
run trod find long.tarmac 'row == 4097' -B 1000 --format json
through jq -s -c '[length, .[0].record, .[-1].record]'
out <<<'[1001,3097,4097]'

# pc, function and the like of accesses: of the instruction before
run trod find "$hello" 'kind == WRITE && pc == 0x8008' --count --format json
json '.found == 2'

# the same rows as older options choose: view, convert
pair() {
    local file=$1 expression=$2
    shift 2
    run trod view "$file" --format json "$@"
    status 0
    cp "$stdout" want
    run trod view "$file" --format json --where "$expression"
    status 0
    same want "$stdout"
    run trod find "$file" "$expression" --format json
    same want "$stdout"
}
for file in "$hello" "$sum" "$tt6"; do
    pair "$file" 'kind in {WRITE, READ}' --kind WRITE,READ
    pair "$file" 'kind == MEMORY' --kind memory
    pair "$file" 'touches(0x8000..0x8010, 0x6400, 0x0..0x100)' --address 0x8000..0x8010,0x6400,0..0x100
    pair "$file" 'row in 7..19' --range 7..19
    pair "$file" 'index in 3..5' --instructions 3..5
    pair "$file" 'text ~ "[xr]0"' --text '[xr]0'
    pair "$file" 'kind != INSTR || !(pc in 0x8000..0x8008)' --where 'not (kind == INSTR and 0x8008 >= pc and pc >= 0x8000)'
done
# two processors that number their own instructions, one behind the other: those of the second are found, too
awk 'BEGIN { for (c = 0; c < 2; c++) for (i = 1; i <= 9000; i++)
    printf "%d clk cpu%d IT (%d) %08x d503201f O EL1h_n : NOP\n", ++t, c, i, 4096 + 4 * i }' >two.tarmac
sed '9000q; s/ cpu0//' two.tarmac >one.tarmac
for index in no made; do
    pair two.tarmac 'index in 3..5' --instructions 3..5
    check test "$(grep -c INSTR "$stdout")" -eq 6
    pair one.tarmac 'index in 3..5' --instructions 3..5
    run trod view one.tarmac --instructions 99999..100000
    status 0
    out </dev/null
    err_has 'none of the rows that were read matches'
    [[ $index == made ]] || trod index -q two.tarmac one.tarmac
done
pair "$hello" 'time in 3..5' --time 3..5
pair "$hello" 'register in {x1, X2}' --register x1,X2
pair "$hello" 'stream == cpu0 && cpu == 0' --stream cpu0
pair "$sum" "type == timestamp" --kind timestamp
run trod convert "$hello" all.tarmac --kind REG -q
run trod convert "$hello" where.tarmac --where 'kind == REG' -q
status 0
check cmp all.tarmac where.tarmac
run trod view "$hello" --where 'kind == REG' --tail 1 --format json
json '.record == 19'
run trod view "$hello" --kind REG --where 'value == 1' --format json
json '.record == 3'

# every command that chooses rows has the option; analyses see the same rows as with older ones
for command in $(trod --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
    trod "$command" --help >help
    ! grep -q -e '--kind KIND' help || check grep -q -e '--where EXPRESSION' help
    # nothing but the sizes of traces is asked for: each runs in a moment
    grep -q -e '--where EXPRESSION' help || continue
    case $command in view | find | convert | compare | check | run) continue ;; esac
    case $command in state | who | browse) continue ;; esac # it chooses places there: test_where.sh
    file=$sum
    run trod "$command" "$file" --address 0..0xfffffffffff --format json
    cp "$stdout" want
    kept=$got
    run trod "$command" "$file" --where 'touches(..0xfffffffffff)' --format json
    same want "$stdout"
    check test "$kept" = "$got"
done
run trod run count,mix "$sum" --kind INSTR --format json
cp "$stdout" want
run trod run count,mix "$sum" --where 'kind == INSTR' --format json
status 0
same want "$stdout"

# compare: rows left out are skipped; the difference lies in one of the others
sed 's/2b$/2c/' "$hello" >other.tarmac
check test "$(diff "$hello" other.tarmac | grep -c '^<')" -eq 2
run trod compare "$hello" other.tarmac
status 1
run trod compare "$hello" other.tarmac --where 'kind == INSTR || value not in {0x2b, 0x2c}' --format json
status 0
run trod compare "$hello" other.tarmac --where 'value in {0x2b, 0x2c} && kind == WRITE' --format json
status 1
json '[.. | objects | select(has("differences")) | .differences] | length > 0'
run trod compare "$hello" other.tarmac --where 'valu == 1'
status 2
err_has "did you mean 'value'"

# check: what is found at rows that are not asked for does not count
sed 's/^9 clk/2 clk/' "$hello" >bad.tarmac
run trod check bad.tarmac
status 1
run trod check bad.tarmac --where 'row == 0'
status 0
run trod check bad.tarmac --where 'time == 2 && kind == INSTR'
status 1
run trod check bad.tarmac --where 'row == '
status 2

# help and manual have every name
run trod help where
status 0
sed -n -E 's/^  ([a-z]+)  .*/\1/p' "$stdout" >names
check test "$(wc -l <names)" -gt 60
while read -r name; do
    check grep -q -E -e "^\.It (Li|Fn) .*\b$name\b" "$TROD_SOURCE/docs/man/trod-where.7"
done <names

# any number of threads shows the same lines: also where columns become wider late, and of damage
awk 'BEGIN {
    for (i = 0; i < 60000; i++) {
        wide = i % 20000 == 19999 ? "ffff0000" : ""
        printf "%d clk cpu%d IT (%d) %s%08x %s O EL1h_n : X%s\n", i * (i > 50000 ? 10000 : 1), i % 2,
               i + 1, wide, 4 * i, i % 3 ? "d503201f" : "f9400001", i % 7000 ? "" : " a longer text"
        if (i % 3 == 0)
            printf "%d clk cpu%d MR8 %s%08x 00000000_%08x\n", i, i % 2, wide, 8388608 + i * 8 % 65536, i
        if (i % 25000 == 24999)
            printf "%d clk cpu0 IT (%d) 0000zz00 d503201f O EL1h_n : X\n", i, i + 1
    }
}' >many.tarmac
gzip -c many.tarmac >many.tarmac.gz
threads() {
    local was
    run trod "$@" -j 1
    was=$got
    cp "$stdout" want
    cp "$stderr" want.err
    for jobs in 2 5; do
        run trod "$@" -j $jobs
        status $was
        same want "$stdout"
        same want.err "$stderr"
    done
}
for file in many.tarmac many.tarmac.gz; do
    threads view $file
    threads view $file --where 'kind == READ && value % 7 == 3'
    threads find $file 'kind == READ && value % 7 == 3' --format csv
done
threads view many.tarmac --format json --kind READ,NOTE
threads view many.tarmac --format csv --header never -d always
threads view many.tarmac --times previous --stream cpu1
threads view many.tarmac --tail 7
threads view many.tarmac --range 30000..50000
threads view many.tarmac --strict
threads view many.tarmac --kind WALK
threads find many.tarmac 'kind == READ && value % 7 == 3' --count
threads find many.tarmac 'kind == READ && value % 700 == 3' -C 3
threads find many.tarmac 'kind == READ && pc % 700 == 0' --count
threads find many.tarmac 'row > 50000 && kind == READ' --count

# Code that changes in rows that are not shown: the third opcode at an address lies where the first one did.
python3 - code.trace <<'END'
import struct, sys
entry = lambda type, size, value: struct.pack('<HHQ', type, size, value)
encoding = lambda code: struct.pack('<HH', 47, len(code)) + code.ljust(8, b'\0')
x, other = entry(10, 2, 0x401000), entry(10, 2, 0x500000)
out = entry(25, 0, 7) + entry(28, 12, 7) + entry(28, 9, 0x240) + entry(22, 4, 1) + entry(24, 4, 1)
out += entry(28, 2, 16) + entry(28, 3, 2) + encoding(b'\x66\x90') + x + x + encoding(b'\x66\x90') + 9000 * other
out += encoding(b'\x31\xc0') + x + 9000 * other + encoding(b'\x89\xc8') + x + x + entry(23, 4, 1) + entry(26, 0, 0)
open(sys.argv[1], 'wb').write(out)
END
for jobs in 1 3; do
    for command in view find; do
        run trod $command code.trace --where 'addr == 0x401000 && !newcode' -j $jobs
        through sed -E "s|.* 2  ([0-9a-f]{4}) .*|\1|"
        out <<<$'6690\n89c8'
    done
done

# With an index only where rows may be that match is read. The rows are those that are found without one: kinds
# and addresses in all forms; accesses that are aborted, have no size, are wide, lie beside the bytes.
awk 'BEGIN {
    for (i = 0; i < 80000; i++) {
        a = (i * 7919) % 120011 * 64 + i % 60
        if (i % 3 == 0) printf "%d clk IT (%d) %08x e1a00000 A svc_s : MOV r0,r0\n", i, i, 32768 + 4 * (i % 9000)
        else if (i % 30011 == 1) printf "%d clk MW4 %08x XXXXXXXX\n", i, a
        else if (i % 30011 == 2) printf "%d clk MR4 %08x (ABORTED)\n", i, a
        else if (i % 3 == 1) printf "%d clk MW4 %08x %08x\n", i, a, i
        else printf "%d clk R r%d %08x\n", i, i % 13, i
    }
    print "80000 clk E 00008000 00000001 CoreEvent_Reset"
}' >wide.tarmac
mkdir ix
trod gen random:lines=9000,count=30000 wide.tt6e -q >gen
all=('--format csv' '--count' '--format json -C 3' '--format csv --first' '--format csv -n 3 -A 5000')
turn=0
for file in wide.tarmac wide.tt6e; do
    run trod index --index ix "$file" -q
    status 0
    run trod view "$file" --kind READ,WRITE --range 70000..71000 --format json
    at=$(head -n 1 "$stdout" | jq -r .address)
    run trod view "$file" --kind INSTR --range 50000..50100 --format json
    pc=$(head -n 1 "$stdout" | jq -r .address)
    for expression in "addr == $at" "kind == MEMORY && addr in $at..$((at + 9))" "$at + 0 == addr && size < 9" \
        "touches($((at + 1))..$((at + 2)))" "kind in {WRITE, READ} && touches($((at - 70)), $((at + 3))) && value != 1" \
        "addr == $pc" "kind == INSTR && touches($((pc + 3)))" "addr < 0x9 || addr in {$at, $pc}" \
        'kind == EXCEPTION || kind in {EVENT, MARKER}' 'kind != INSTR && addr == 1' 'not (addr > 0x40)' \
        "kind == REG && row >= 70000" "70010 >= row && row > 69990" 'row in {3..5, 40000} || row == 79999' 'row < 0' \
        'time in 40000..40100 && kind != REG' 'time >= 79990 || row == 1' "pc == $pc && row > 9000" \
        "kind == INSTR && pc == $pc" "kind == WRITE && touches($at) && pc > 0x8000" "row > 60000 && pc in $pc..$((pc + 40))" \
        "kind == WRITE && kind == READ" "(kind == READ || kind == ATOMIC) && addr >= $at && addr <= $((at + 63))"; do
        options=${all[turn++ % 5]}
        # shellcheck disable=SC2086 # options are words
        run trod find --no-index "$file" "$expression" $options
        was=$got
        cp "$stdout" want
        # shellcheck disable=SC2086
        run trod find --index ix "$file" "$expression" $options
        status "$was"
        same want "$stdout"
    done
done
# it is used: damage in it is noticed, and the answer is right all the same
run trod find --index ix wide.tarmac 'kind == EXCEPTION' --format csv
cp "$stdout" want
check test "$(wc -l <want)" -gt 1
python3 - ix/wide.tarmac.trodx <<'END'
import sys
b = bytearray(open(sys.argv[1], 'rb').read())
for i in range(len(b) // 50, 49 * len(b) // 50):
    b[i] ^= 1
open(sys.argv[1], 'wb').write(b)
END
for expression in 'touches(0x40..0x4f)' 'row >= 79000' 'time > 79000' 'kind == INSTR && pc == 0x8000' 'value == 70001'; do
    run trod find --index ix wide.tarmac "$expression" --first
    err_has 'is not used'
done

# what trod-where(7) says of rows that do not say something, of digits that are not known, and of upper and lower case
cat >said.tarmac <<'END'
1 clk IT (1) 00001000 d503201f O EL1h_n : NOP
1 clk R X0 xxxxxxxx_00000003
1 clk R x1 00000000_00000003
1 clk MW4 00002000 00000004
END
for index in no yes; do
    test $index = no || trod index -q said.tarmac
    while read -r found expression; do
        run trod find said.tarmac --count "$expression"
        out_has "^found: +$found\$"
    done <<'END'
1 value != 3
2 value not in {3}
2 !(value in {3})
2 value == 3
1 value == 3 && !unknown
1 register ~ /^x/
2 register ~ /^x/i
2 register != x7
END
done

finish
