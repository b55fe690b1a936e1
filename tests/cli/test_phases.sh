# test_phases.sh - trod phases: a program of two phases, files of vectors and pictures, the same
# numbers for every number of threads, damaged and empty traces.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
examples=$TROD_SOURCE/examples

# 3000 instructions: 200 trips of a loop of five without accesses, 400 of another that loads
awk 'function i(pc, op) { n++
         printf "%d clk cpu0 IT (%d) %08x:%012x_NS %s O EL1h_n : X\n", n, n, pc, pc, op }
     BEGIN { for (t = 0; t < 200; t++) {
                 for (k = 0; k < 4; k++) i(32768 + 4 * k, "91000421")
                 i(32784, "54ffff81") }
             for (t = 0; t < 400; t++) {
                 i(36864, "f9400041")
                 printf "%d clk cpu0 MR8 %08x:%012x_NS 00000000_00000000\n", n, 65536 + 64 * t, 65536 + 64 * t
                 for (k = 1; k < 4; k++) i(36864 + 4 * k, "91000421")
                 i(36880, "54ffff81") } }' >two.tarmac
for jobs in 1 2 5; do
    run trod phases -j $jobs --interval 100 --list --bb v$jobs.bb --format json two.tarmac
    status 0
    cp "$stdout" two.$jobs
done
same two.1 two.2
same two.1 two.5
same v1.bb v2.bb
cp two.1 "$stdout"
json '.instructions == 3000 and .intervals == 30 and .interval_instructions == 100'
json '[.phases[] | [.intervals, .instructions, .length]] | sort == [[10, 1000, 100], [20, 2000, 100]]'
json '[.phases[] | .weight] | sort == [33.33, 66.67]'
json '[.interval_phases[] | .phase] | (.[:10] | unique | length) == 1 and (.[10:] | unique | length) == 1'
# 400 loads of 400 lines; the seams between intervals lie between the load and its access
json '[.interval_phases[] | .misses] | add == 400'
json '[.interval_phases[] | .lines] | .[:10] == ([range(10)] | map(0)) and .[10:] == ([range(20)] | map(20))'
json '[.estimates[] | select(.what != "misses an instruction") | .error | fabs] | max < 0.01'
json '.mix_error < 0.01 and (.scores | length) == 10'
json '(.similarity | length) == 30 and .similarity[0].alike[:2] == "@@" and .similarity[0].alike[58:] == "  "'
check test "$(wc -l <v1.bb)" = 30
check test "$(head -1 v1.bb)" = 'T:1:100 '
check test "$(tail -1 v1.bb)" = 'T:2:100 '

# the chosen intervals and their weights as files of SimPoint: each analysed by itself, they give what is estimated
run trod phases --interval 100 --simpoints chosen --format json two.tarmac
status 0
cp "$stdout" all.json
jq -r '.phases[] | "\(.point) \(.phase)"' all.json >want
same want chosen.simpoints
while read -r interval phase; do
    weight=$(awk -v phase="$phase" '$2 == phase { print $1 }' chosen.weights)
    trod run mix --region $((interval * 100 + 1))..$(((interval + 1) * 100)) --format json two.tarmac |
        jq --argjson weight "$weight" '$weight * ([.categories[] | select(.category == "load").instructions] | add // 0)'
done <chosen.simpoints | jq -s add >loads
jq -n --slurpfile all all.json '$all[0].estimates[] | select(.what == "load").estimated' >want
check awk 'NR == FNR { want = $1; next } { exit !(want > 0 && $1 - want < 0.001 && want - $1 < 0.001) }' want loads
run trod phases --interval 100 --simpoints nowhere/chosen two.tarmac
status 2

# without --interval: about a thousand, at first of 1000 instructions
run trod phases --list --format json two.tarmac
json '.intervals == 3 and [.interval_phases[] | .instructions] == [1000, 1000, 1000]'
json '[.interval_phases[] | .lines] == [0, 200, 200]'
run trod phases --seed 7 --format json --interval 100 two.tarmac
json '[.phases[] | .weight] | sort == [33.33, 66.67]'

# several files: in parts, on several threads, by thread; intervals end with their files
for n in 1 2 3 4 5; do head -$((n * 700)) two.tarmac | sed "s/cpu0/cpu$n/" >part$n.tarmac; done
run trod phases -j 1 --list --format json part?.tarmac
status 0
json '[.interval_phases[].first] == ([foreach (.interval_phases[].instructions) as $i ([0, 0]; [.[1], .[1] + $i]; .[0])])'
cp "$stdout" whole
for n in 1 2 3 4 5; do grep -c ' IT ' part$n.tarmac; done |
    awk '{ for (; $1 > 1000; $1 -= 1000) print 1000; print $1 }' >want
jq '.interval_phases[].instructions' whole >got
same want got
run trod phases -j 3 --list --format json part?.tarmac
out_is whole
run trod phases --format json part?.tarmac
cp "$stdout" brief
run trod phases -j 3 --format json part?.tarmac
out_is brief
for parts in 2 3 7; do
    rm -f state.*
    for ((part = 0; part < parts; part++)); do
        run trod run --part $part/$parts --save state.$part phases part?.tarmac
        status 0
    done
    run trod merge --format json state.*
    out_is brief
done
run trod phases --by thread --list --format json part?.tarmac
jq 'del(.streams)' "$stdout" >got
jq . whole >want
same want got
run trod phases --stream cpu3 --list --format json part?.tarmac
jq 'del(.format, .files)' "$stdout" >want
run trod phases --by thread --list --format json part?.tarmac
jq '.streams[] | select(.stream == "cpu3") | del(.stream)' "$stdout" >got
same want got
for option in bb=x.bb list; do
    run trod run --part 0/2 --save state phases:$option part?.tarmac
    status 2
done

# pictures
run trod phases --interval 100 --picture p.pgm two.tarmac
status 0
check test "$(head -c 13 p.pgm | tr '\n' ' ')" = 'P5 30 30 255 '
check test "$(wc -c <p.pgm)" = 913
# PNG: the same pixels, its codes right (python3's zlib reads it)
cat >png.py <<'P'
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n"
chunks, at = [], 8
while at < len(data):
    n, kind = struct.unpack(">I4s", data[at:at + 8])
    body = data[at + 8:at + 8 + n]
    assert struct.unpack(">I", data[at + 8 + n:at + 12 + n])[0] == zlib.crc32(kind + body)
    chunks.append((kind, body))
    at += 12 + n
assert [kind for kind, body in chunks] == [b"IHDR", b"IDAT", b"IEND"]
side, side2, bits, colour, packing, filters, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
assert (side, bits, colour, packing, filters, interlace) == (side2, 8, 0, 0, 0, 0)
lines = zlib.decompress(chunks[1][1])
assert len(lines) == side * (side + 1)
lines = [lines[y * (side + 1):(y + 1) * (side + 1)] for y in range(side)]
assert all(line[0] == 0 for line in lines)
open(sys.argv[2], "wb").write(b"P5\n%d %d\n255\n" % (side, side) + b"".join(line[1:] for line in lines))
P
for interval in 100 10; do # 30 intervals, and more bytes than a stored block has
    run trod phases --interval $interval --picture p.pgm two.tarmac
    run trod phases --interval $interval --picture p.png two.tarmac
    status 0
    if command -v python3 >/dev/null; then
        check python3 png.py p.png p.again
        same p.pgm p.again
    fi
done
run trod phases --interval 100 --picture p.html two.tarmac
status 0
check test "$(grep -c '<rect' p.html)" = 930
check grep -q '</html>' p.html
run trod phases --picture /nonexistent/p.pgm two.tarmac
status 2

for wrong in '--dimensions 0' '--dimensions 65' '--most-phases 0' '--most-phases 65'; do
    # shellcheck disable=SC2086 # options and their values
    run trod phases $wrong two.tarmac
    status 2
    check test ! -s "$stdout"
done

for file in hello.tarmac mips.trace sum.tt6 records.tt6e sum.full.gz sum.trace.zip boot.byu6; do
    for jobs in 1 3; do
        run trod phases -j $jobs --interval 10 --format json "$examples/$file"
        status 0
        cp "$stdout" phases.$jobs
    done
    same phases.1 phases.3
    check jq -e '([.phases[] | .instructions] | add // 0) == .instructions' phases.1
done
run trod run --format json mix,phases,deps two.tarmac
status 0

: >empty.tarmac
run trod phases --from tarmac --format json --bb empty.bb --picture empty.pgm empty.tarmac
json '.instructions == 0 and .phases == [] and .similarity == []'
check test -e empty.bb
run trod phases --from tarmac --picture empty.png empty.tarmac
status 0
! command -v python3 >/dev/null || check python3 png.py empty.png empty.again
head -c 300 "$examples/sum.trace.zip" >cut.trace.zip
run trod phases cut.trace.zip
status 2
head -c 20000 two.tarmac >cut.tarmac
run trod phases --format json cut.tarmac
json '.instructions > 200'
finish
