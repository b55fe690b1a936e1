# test_compare_said.sh - compare: what is said of fields that differ is what view says of either side; traces of one format are
# compared in all they say, whatever dialect follows from their contents, and what is not compared is named.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq python3
needs_format csv
needs_format tt6
needs_format byu6
needs_format tarmac
needs_format full

# every pair of values of each field of the flags that has several bits: a row a pair, on side A with
# the first of them, on side B with the second
pairs() { # FIELD SHIFT VALUES
    local side
    for side in a b; do
        {
            echo kind,pc,flags
            for ((i = 0; i < $3; i++)); do
                for ((k = 0; k < $3; k++)); do
                    printf 'INSTR,0x%x,0x%x\n' $((4096 + 4 * (i * $3 + k))) $(($([[ $side == a ]] && echo $i || echo $k) << $2))
                done
            done
        } >$1.$side.csv
        run trod view --from csv --format json $1.$side.csv
        status 0
        jq -c "[.record, .$1 // \"none\"]" "$stdout" >$1.$side
    done
    # the rows whose values differ, by view
    jq -n -c --arg field $1 --slurpfile a $1.a --slurpfile b $1.b '[$a, $b] | transpose[] | select(.[0][1] != .[1][1]) |
        [.[0][0], $field, .[0][1], .[1][1]]' >$1.want
    check test "$(wc -l <$1.want)" -eq $(($3 * ($3 - 1)))
    run trod compare --from csv --track all --max 1000 --format json $1.a.csv $1.b.csv
    status 1
    jq -c '.comparisons[0].differences[] | .first_a as $row | .differs[] | [$row, .field, .a, .b]' "$stdout" >$1.said
    same $1.want $1.said
    run trod compare --from csv --track all --max 1000 $1.a.csv $1.b.csv
    status 1
    sed -n "s/^  $1: //p" "$stdout" >$1.text
    same <(jq -r '"\(.[2]) against \(.[3])"' $1.want) $1.text
    run trod compare --from csv --track all --max 1000 --format csv $1.a.csv $1.b.csv
    status 1
    sed -n 's/^comparisons\.0\.differences\.[0-9]*\.differs\.0\.[ab],//p' "$stdout" | paste -d' ' - - >$1.table
    same <(jq -r '"\(.[2]) \(.[3])"' $1.want) $1.table
}
pairs branch 0 12
pairs iset 4 6
pairs security 7 5

# values of Amber's records, which are big-endian: numbers as view has them, data in the order of the
# record; the dialect is TT6, and TT6 or TT6E, which follows from what the traces hold
cat >make.py <<'PY'
import struct
def words(*w):
    return struct.pack('>%dI' % len(w), *w)
def tt6(path, count, cr, long, last):
    data, pc = words(0x1000), 0x1000
    def blocks(n):
        nonlocal data, pc
        for i in range(n):
            data += words(0x60000000, 0x48000008, pc + 12)
            pc += 12
    blocks(12)
    data += words(0x20 << 16 | 2, 0xbee0, count) + words(2 << 16 | 1, cr) + words(0x41 << 16 | 3, *long) + words(last)
    pc += 4
    blocks(4)
    open(path, 'wb').write(data)
tt6('a.tt6', 1, 0x12345679, (1, 2, 0x03040506), 0x60000000)
tt6('b.tt6', 2, 0x1234567a, (1, 2, 0x03040507), 0x7c00222c) # dcbt: an access of TT6 alone
def byu6(path, change):
    rows = [(0x1000 + 8 * i, 0, 0x90 if i % 2 else 0xd0) for i in range(20)]
    for i, row in change.items():
        rows[i] = row
    open(path, 'wb').write(b''.join(struct.pack('>IBB', *row) for row in rows))
byu6('a.byu6', {})
byu6('b.byu6', {4: (0x1020, 0, 0xc0), 7: (0xdead0000, 0, 0x90)}) # D_READ, another address
full = open('a.full', 'rb').read()
STATE, GPR7 = 4 + 4, 8 + 4 * 7
at = 4 + 1004 * 5 + 4 + GPR7
open('b.full', 'wb').write(full[:at] + bytes([full[at] ^ 0x80]) + full[at + 1:])
open('state.a', 'w').write(full[4 + 1004 * 5 + 4:4 + 1004 * 6].hex())
open('state.b', 'w').write(open('b.full', 'rb').read()[4 + 1004 * 5 + 4:4 + 1004 * 6].hex())
PY
gzip -dc "$TROD_SOURCE/examples/sum.full.gz" >a.full
check python3 make.py
for f in a b; do
    run trod info $f.tt6
    cp "$stdout" info.$f
    run trod view --from tt6 --kind SYNC,MARKER --format json $f.tt6
    status 0
    jq -c 'select(.record > 0) | [.record, if .kind == "SYNC" then "0x\(.value)" else .value end]' "$stdout" >values.$f
done
check test "$(grep -h dialect info.a info.b | sort -u | wc -l)" -eq 2
for jobs in 1 2; do
    run trod compare -j $jobs --format json a.tt6 b.tt6
    status 1
    for f in a b; do
        jq -c '.comparisons[0].differences[] | select(.a[0].kind | . == "SYNC" or . == "MARKER") |
            [.first_a, (.differs[] | select(.field == "value") | .'$f')]' "$stdout" >said.$f
        same values.$f said.$f
    done
done
check test "$(wc -l <values.a)" -eq 3
# of long data the part around the first difference, as the record has it
run trod compare --max 100 --format json a.full b.full
status 1
for f in a b; do
    part=$(jq -r 'first(.comparisons[0].differences[] | select(.a[0].kind == "STATE") | .differs[] | select(.field == "value") | .'$f')' "$stdout")
    part=${part#...}
    last="the state of side $f: $part"
    check grep -q "${part%...}" state.$f
    check test ${#part} -gt 16
done

# byu6: complete and cached follow from the codes that occur
for jobs in 1 2; do
    run trod compare -j $jobs --from byu6 --format json a.byu6 b.byu6
    status 1
    json '[.comparisons[0].differences[].first_a] == [4, 7]'
    json '.comparisons[0].summary | .not_compared_a == 0 and (has("classes_not_compared") or has("fields_not_compared") | not)'
done

# the dialects of Tarmac are those of tracers, which do not report the same events: what is left out
# for that is named, and can be asked for
cat >fm.tarmac <<'T'
1 clk cpu0 IT (1) 00001000 d503201f O EL1h_n : NOP
1 clk cpu0 E 00001000 00000084 CoreEvent_CURRENT_SPx_SYNC
2 clk cpu0 IT (2) 00001004 d503201f O EL1h_n : NOP
2 clk cpu0 MARKER x
T
sed 's/00000084 CoreEvent_CURRENT_SPx_SYNC/00000085 CoreEvent_CURRENT_SPx_IRQ/' fm.tarmac >other.tarmac
run trod convert -q --allow-loss --from tarmac --to tarmac:dialect=es other.tarmac es.tarmac
status 0
run trod compare --from tarmac fm.tarmac other.tarmac
status 1
out_not 'not compared:'
run trod compare --from tarmac --from-b tarmac:dialect=es fm.tarmac es.tarmac
status 0
out_has '^  classes not compared: +event, other$'
out_has '^  fields not compared: +sub, flags, detail$'
run trod compare --from tarmac --from-b tarmac:dialect=es --track all fm.tarmac es.tarmac
status 1
out_not 'classes not compared'
# another format is another tracer
run trod convert -q --allow-loss --to csv fm.tarmac fm.csv
status 0
run trod compare fm.tarmac fm.csv
status 0
out_has '^  classes not compared: +event, other$'

# digits that are not known, and those that are not written, as view shows them
printf '1 clk cpu0 R psr x1000000\n' >known.a
printf '1 clk cpu0 R psr -1-00x01\n' >known.b
printf '1 clk cpu0 R psr 02000000\n' >known.c
for f in a b; do
    run trod view --from tarmac --format json known.$f
    status 0
    value=$(jq -r .value "$stdout")
    run trod compare --from tarmac known.$f known.c
    status 1
    check grep -q -F "  value: $value against 0x" "$stdout"
done
finish
