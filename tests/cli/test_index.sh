# test_index.sh - `trod index`: made, found, told about, refused; answers are those without it.
. "$TROD_SOURCE/tests/cli/lib.sh"
. "$TROD_SOURCE/tests/cli/calls_model.sh"
have jq

for i in $(seq 1 200); do
    printf '%d clk IT (%d) %08x d503201f O EL1h_n : NOP\n' "$i" "$i" $((4096 + i % 10 * 4))
    printf '%d clk MW8 %016x %016x\n' "$i" $((32768 + i % 50 * 8)) "$i"
    printf '%d clk R X%d %016x\n' "$i" $((i % 5)) "$i"
done >t.tarmac

cp t.tarmac v.tarmac

run trod index --info t.tarmac
status 1
out_has '^  index: +none$'
run trod index t.tarmac
status 0
err_has '^made t.tarmac.trodx$'
# a terminal does not obey names
cp t.tarmac $'t\e[31m\n.tarmac'
run trod index $'t\e[31m\n.tarmac'
status 0
err_has '^made t\\x1b\[31m\\x0a.tarmac.trodx$'
rm t*31m*
check test -s t.tarmac.trodx
run trod index t.tarmac
err_has 'is there and fits'
run trod index --info --format json t.tarmac
status 0
json '.traces[0] | .rows == 600 and .instructions == 200 and .blocks == 1 and .resumable and .damaged_places == 0'

for question in 'state --at 300 --memory 0x8000..0x81ff' 'state --at time:150' 'state --diff 100,200' \
    'who --register x3 --before 400 --count 4' 'who --memory 0x8010..0x8017 --after 0' \
    'who --executes 0x1008 --count 30' 'state --at 0x1004:12' 'state --at insn:77' 'state --at kind:WRITE:150' 'state --at kind:reg' \
    'who --kind WRITE --before 333 --count 5' 'who --kind instr --after 333' 'state --at line:555'; do
    trod ${question%% *} --no-index --format json ${question#* } t.tarmac >want
    run trod ${question%% *} --format json ${question#* } t.tarmac
    out_is want
done

# rows from a place on
for rows in '--range 444..446' '--time 150..151' '--time 300' '--at line:445 --head 2' '--at 0x1004:12 --head 1'; do
    trod view --format json --no-index $rows t.tarmac >want 2>/dev/null
    run trod view --format json $rows t.tarmac
    status 0
    out_is want
done
run trod view --at 444 --head 1 t.tarmac
out_has '^ *444 +149 clk +- +INSTR'
run trod view --at 3 --range 4..5 t.tarmac
status 2

# times with a decimal point, which options have without it
awk 'BEGIN { for (i = 0; i < 70000; i++) printf "%d.%d ns IT (%d) %08x e1a00000 A svc_s : NOP\n", i / 2, i % 2 * 5, i, 32768 + i % 99 }' >half.tarmac
run trod index half.tarmac
status 0
for rows in '--time 300001..300012' '--at time:300003 --head 2' '--where time>=349990'; do
    trod view --format json --no-index $rows half.tarmac >want
    check test -s want
    run trod view --format json $rows half.tarmac
    status 0
    out_is want
done
run trod state --format json --no-calls --at time:300005 half.tarmac
json '.at.row == 60001 and .at.time == 300005'

# in another folder
mkdir there
run trod index --index there t.tarmac
status 0
check test -s there/t.tarmac.trodx
rm t.tarmac.trodx
run trod index --info --format json --index there t.tarmac
json '.traces[0].index == "there/t.tarmac.trodx"'

# of compressed traces
gzip -k t.tarmac
run trod index t.tarmac.gz
status 0
trod state --no-index --format json --at 444 --memory 0x8000..0x80ff t.tarmac.gz >want
run trod state --format json --at 444 --memory 0x8000..0x80ff t.tarmac.gz
out_is want

# compressed in one piece: said, and answered; in blocks it is neither
awk 'BEGIN { for (i = 0; i < 150000; i++) printf "%d clk R X0 %016x\n", i, i }' >long.tarmac
xz -0 -T1 -k long.tarmac
run trod index long.tarmac.xz
status 0
err_has '^long.tarmac.xz: compressed in one piece, which every question decompresses from the beginning'
run trod index --info --format json long.tarmac.xz
json '.traces[0] | .whole_files == 1 and .blocks > 1'
run trod who --format json --register x0 --before 140000 long.tarmac.xz
json '.who[0].row == 139999'
xz -0 -T1 --block-size=1MiB -c long.tarmac >blocks.tarmac.xz
run trod index blocks.tarmac.xz
check test "$(wc -l <"$stderr")" = 1
run trod index --info --format json blocks.tarmac.xz t.tarmac.gz
json '[.traces[].whole_files] == [0, 0]'

# windows of compressed traces wait in a temporary file without a name
gzip -ck long.tarmac >long.tarmac.gz
TMPDIR=$PWD/nowhere run trod index long.tarmac.gz
status 2
err_has 'cannot be kept in a temporary file .in .TMPDIR, or /tmp.: No such file'
check test ! -e long.tarmac.gz.trodx
TMPDIR=$PWD run trod index long.tarmac.gz
status 0
check test -z "$(find . -name 'trod-*')"

# the same with one thread
trod index -q -j 1 --again --index there t.tarmac.gz
check cmp t.tarmac.gz.trodx there/t.tarmac.gz.trodx

# a damaged one is not used by the questions that come to the damage, and made anew
trod state --no-index --at 3 --memory 0x8000..0x80ff t.tarmac >want
run trod index t.tarmac
printf X | dd of=t.tarmac.trodx bs=1 seek=16 conv=notrunc 2>/dev/null
run trod state --at 3 --memory 0x8000..0x80ff t.tarmac
out_is want
status 0
err_has "index 't.tarmac.trodx' is not used: it is damaged"
run trod index t.tarmac
err_has '^made t.tarmac.trodx$'
run trod state --at 3 t.tarmac
check test ! -s "$stderr"

# nor is one of another trace, or of the trace as it was
sed 's/X3/X4/' t.tarmac >u.tarmac
cp t.tarmac.trodx u.tarmac.trodx
run trod who --register x4 u.tarmac
err_has "index 'u.tarmac.trodx' is not used: it is of another trace"
echo '201 clk R X0 0000000000000000' >>t.tarmac
run trod who --register x0 t.tarmac
err_has "is not used: the trace has grown since"
out_has ' 600 '

# what has grown is brought up to date; what has none stays without
rm -f u.tarmac.trodx
run trod index --upgrade u.tarmac
status 0
check test ! -e u.tarmac.trodx
run trod index --upgrade t.tarmac
err_has '^made t.tarmac.trodx$'
run trod who --format json --register x0 t.tarmac
json '.who[0].row == 600'

# several files that are one trace; a directory
mkdir two
for i in 0 1; do
    awk -v i=$i '{ if (int((NR - 1) / 300) == i) print }' v.tarmac >two/$i.tarmac
done
run trod index --together two/0.tarmac two/1.tarmac
status 0
run trod index --together --info --format json two/0.tarmac two/1.tarmac
json '.traces[0] | .rows == 600 and .files == 2 and .blocks == 2 and .resumable'
for question in 'state --at 444 --memory 0x8000..0x81ff' 'who --register x3 --before 400 --count 4' \
    'view --at 299 --head 3' 'view --range 310..312'; do
    trod ${question%% *} --no-index --format json ${question#* } two/0.tarmac two/1.tarmac >want
    run trod ${question%% *} --format json ${question#* } two/0.tarmac two/1.tarmac
    status 0
    out_is want
done
run trod index --together --info two/1.tarmac two/0.tarmac
status 1
touch -d 2001-01-01 two/1.tarmac
run trod index --together --info two/0.tarmac two/1.tarmac
status 0
echo '201 clk R X0 0000000000000000' >>two/1.tarmac
run trod index --together --info two/0.tarmac two/1.tarmac
status 1
err_has 'is not used: the trace has grown since'

# what counts calls gets them from the index: of main 2 + 3 K instructions, of f 5 K, of g 6 K; K is 2500 and 200
model 2500 200 >m.tarmac
trod index -q m.tarmac
run trod index --info --format json m.tarmac
json '.traces[0].activations == 2 + 2700 + 5400'
questions=(calls 'calls --list --most 0' 'calls --final-stack' 'calls --depth 2' profile 'profile --weight time' flame
    'flame --weight time --reverse' 'flame --svg' 'calls --list --format csv')
for i in "${!questions[@]}"; do
    trod ${questions[i]} --no-index m.tarmac >"want.$i"
done
trod run calls,profile --limit 100000000 m.tarmac >want.run
trod flame --against m.tarmac --no-index m.tarmac >want.against
# not a line of the trace is read: what lies between the parts of it that its index is compared with is another
cp -p m.tarmac m.was
check test "$(stat -c %s m.tarmac)" -gt 3000000
dd if=/dev/zero of=m.tarmac bs=1000 seek=1500 count=500 conv=notrunc 2>/dev/null
touch -r m.was m.tarmac
for i in "${!questions[@]}"; do
    run trod ${questions[i]} m.tarmac
    status 0
    out_is "want.$i"
    check test ! -s "$stderr"
done
run trod run calls,profile m.tarmac
out_is want.run
run trod flame --against m.tarmac m.tarmac
out_is want.against
run trod profile --format json m.tarmac
json '[.functions[] | [.calls, .exclusive]] | sort == [[2, 8104], [2700, 13500], [5400, 16200]]'
run trod calls --function 0x1040 --format json m.tarmac # arguments of so many calls: it is read
json '.instructions < 37804'
mv m.was m.tarmac

# arguments of few calls are looked for near them: of h, 0x5010, at the beginning and at the end
{
    called() {
        echo "$1 clk cpu0 R X0 000000000000000$2"
        echo "$1 clk cpu0 IT (1) 00005000 94000004 O EL1h_n : BL 0x5010"
        echo "$1 clk cpu0 R X30 0000000000005004"
        echo "$1 clk cpu0 IT (1) 00005010 d65f03c0 O EL1h_n : RET"
        echo "$1 clk cpu0 IT (1) 00005004 d503201f O EL1h_n : NOP"
    }
    echo '0 clk cpu0 IT (1) 00005004 d503201f O EL1h_n : NOP'
    echo '0 clk cpu0 R X1 0000000000000077'
    called 0 1
    model 2500 200
    called 100000 2
    called 100001 3
} >h.tarmac
trod index -q h.tarmac
trod calls --function 0x5010 --no-index h.tarmac >want
check test "$(grep -cE '0x5010 +0x[123], 0x77 ' want)" -eq 3
cp -p h.tarmac h.was
dd if=/dev/zero of=h.tarmac bs=1000 seek=1500 count=500 conv=notrunc 2>/dev/null
touch -r h.was h.tarmac
run trod calls --function 0x5010 h.tarmac
status 0
out_is want
check test ! -s "$stderr"

# the same of random programs whose registers are written by all their names, wholly and in part
random_program() {
    awk -v seed="$1" -v lines="$2" -v named="$3" '
    function r(n) { return int(rand() * n) }
    BEGIN {
        srand(seed); t = 100; pc[0] = 4096; pc[1] = 8192
        split("94000004 94000004 d65f03c0 d65f03c0 d63f0020 14000002 d503201f d503201f", code)
        split("X0 X1 X2 x3 W0 R1 X0<31:0> SP_EL1 X4 r2 LR", reg)
        for (i = 1; i <= lines; i++) {
            c = named ? r(8) == 0 : 0; k = 1 + r(8); t += r(4); cpu = named ? "cpu" c " " : ""
            if (r(9) == 0 || i == 1) printf "%d clk %sR X1 %016x\n", t, cpu, r(99999)
            printf "%d clk %sIT (%d) %08x %s O EL1h_n : x\n", t, cpu, i, pc[c], code[k]
            if (k < 3) printf "%d clk %sR X30 %016x\n", t, cpu, pc[c] + 4
            while (r(3) == 0) {
                n = 1 + r(11); v = sprintf("%016x", r(1000000))
                if (reg[n] ~ /W|<|^R1|r2/) v = substr(v, 9)
                if (r(6) == 0) gsub(/0/, "-", v)
                if (r(20) == 0) gsub(/./, "-", v)
                if (r(12) == 0) gsub(/[0-4]/, "x", v)
                printf "%d clk %sR %s %s\n", t, cpu, reg[n], v
            }
            pc[c] = k >= 7 && r(20) ? pc[c] + 4 : 4096 + 4 * r(40) + 1024 * c
        }
    }'
}
arguments=0
for seed in 1 2 3 4 5 6 7 8; do
    random_program "$seed" $((seed * 60)) $((seed % 2)) >random.tarmac
    random_program $((seed + 100)) 300 $((seed % 2)) >second.tarmac
    trod index -q random.tarmac second.tarmac
    for functions in 0x1010,0x1020 0x1030,0x1430,0x1090 0x1400,0x1010,0x1098; do
        for files in random.tarmac 'random.tarmac second.tarmac'; do
            trod calls --no-index --most 16 --function $functions $files >want
            run trod calls --most 16 --function $functions $files
            out_is want
            arguments=$((arguments + $(grep -cE ' 0x[0-9a-f]+, 0x' want)))
        done
    done
done
check test "$arguments" -gt 50

# an index that is damaged, or of the trace as it was, is not used
for k in 1 2 3 4 5 6 7; do
    cp m.tarmac.trodx good
    printf '\245\132' | dd of=m.tarmac.trodx bs=1 seek=$(($(stat -c %s good) * k / 8)) conv=notrunc 2>/dev/null
    run trod calls m.tarmac
    status 0
    out_is want.0
    mv good m.tarmac.trodx
done
echo '' >>m.tarmac
run trod calls m.tarmac
out_is want.0
err_has "index 'm.tarmac.trodx' is not used: the trace has grown since"
run trod calls --no-index m.tarmac
check test ! -s "$stderr"

# in another folder; of several files, with one index and with one each
model 40 >two/a.tarmac
model 60 30 >two/b.tarmac
trod calls --no-index two/a.tarmac two/b.tarmac >want
for how in '--together' ''; do
    rm -f two/*.trodx two.trodx
    trod index -q $how two/a.tarmac two/b.tarmac
    run trod calls two/a.tarmac two/b.tarmac
    status 0
    out_is want
done
# that they are used is said where their traces are damaged; each is of its own streams, rows and files
sed '$a9 clk R X0 zz' two/b.tarmac >two/c.tarmac
trod index -q two/c.tarmac
for question in 'calls --list --format json' profile; do
    trod $question --no-index two/b.tarmac two/a.tarmac two/c.tarmac >want 2>/dev/null
    run trod $question two/b.tarmac two/a.tarmac two/c.tarmac
    status 2
    out_is want
    err_has 'trace has 1 damaged place, reported when it was indexed'
done
trod index -q --index there two/b.tarmac
trod calls --no-index two/b.tarmac >want
run trod calls --index there two/b.tarmac
out_is want
run trod calls - <two/b.tarmac
status 0
out_is want

run trod index nothing.tarmac
status 2
: >empty
run trod index empty
status 2
run trod index - <t.tarmac
status 2

# so is one of another version
run trod index t.tarmac
err_has 'is there and fits'
printf '\002' | dd of=t.tarmac.trodx bs=1 seek=8 conv=notrunc 2>/dev/null
run trod state --at 3 t.tarmac
status 0
err_has "index 't.tarmac.trodx' is not used: it is of another version"
run trod index t.tarmac
err_has '^made t.tarmac.trodx$'
run trod index --info --format json t.tarmac
json '.traces[0] | .memory_blocks == .blocks and .bytes_of.memory > 0'
json '.traces[0] | .shapes > 0 and .blocks_with_others == 0 and .bytes_of.shapes > 0 and .bytes_of.values > 0 and .bytes_of.classes > 0'

# an index or a list of bookmarks in the folder of a trace is no file of it
for format in tt6 drmemtrace; do
    needs_format $format
    mkdir folder.$format
    trod gen -q --to $format cyclic:lines=3 folder.$format/ >/dev/null
    trod view folder.$format >want
    run trod index folder.$format
    status 0
    in=$(find folder.$format -name '*.trodx')
    check test -n "$in"
    : >"${in%.trodx}.trodmarks"
    run trod view folder.$format
    status 0
    out_is want
    err </dev/null
    run trod index --info --format json folder.$format
    json '.traces[0].index != "none" and .traces[0].files == 1'
done

# the same index with any number of threads
trod gen --to tarmac cyclic:lines=3000,laps=6 large.tarmac >/dev/null
trod gen cyclic:lines=3000,laps=12 large.trace >/dev/null
for file in large.tarmac large.trace; do
    trod index -q -j 1 --index there $file
    for jobs in 2 3 5; do
        run trod index -q -j $jobs --again $file
        status 0
        check cmp $file.trodx there/$file.trodx
    done
done
finish
