# test_run.sh - several analyses in one pass; parts of a run, saved and merged; what cannot be.
. "$TROD_SOURCE/tests/cli/lib.sh"
. "$TROD_SOURCE/tests/cli/shared_out.sh"

# parts NAME N: the trace in N processes is what one process finds
parts() {
    local i states=
    run trod run count -j 1 --format json "$1"
    status 0
    cp "$stdout" one
    for ((i = 0; i < $2; i++)); do
        run trod run count -j $((1 + i % 3)) --part $i/$2 --save $i.state "$1"
        status 0
        out </dev/null
        states="$i.state $states" # in any order
    done
    run trod merge --format json $states
    status 0
    same one "$stdout"
}
for n in 1 2 3 5; do
    parts dir $n
    parts t.zip $n
    parts t.tarmac $n
done
check test "$(jq .total.fetched_instructions one)" = 200000

# plain files whose parts go on from what came before; each process passes over the others' parts
trod gen zipf:lines=3000,count=250000 plain.trace >/dev/null
trod gen zipf:lines=3000,count=250000 plain.byu12 --to byu12 >/dev/null
for f in plain.trace plain.byu12; do
    check test "$(stat -c %s $f)" -gt $((9 << 20))
    for n in 1 3 4 2; do
        parts $f $n
    done
    check test "$(stat -c %s 0.state)" -gt 1000 # each had something to read
    check test "$(stat -c %s 1.state)" -gt 1000
done
# damaged ones: the same results, and together the same messages
messages() {
    cat "$@" | sed 's/ (record [0-9]*, / (/' | grep ': ' | sort
}
for f in trace byu12; do
    { head -c 5000000 plain.$f; printf 'damaged\n\1\377'; tail -c +5000001 plain.$f; } >shifted.$f
    { head -c 7200000 plain.$f; head -c 1200 /dev/zero | tr '\0' '\377'; tail -c +7201201 plain.$f; } >over.$f
    head -c 10000006 plain.$f >cut.$f
    for damage in shifted over cut; do
        from=${f/trace/drmemtrace}
        run trod run count --from $from -j 1 --format json $damage.$f
        was=$got
        [[ $damage.$f == over.byu12 ]] || check test "$was" != 0 # there any byte is a record's
        cp "$stdout" one
        messages "$stderr" >one.err
        for n in 2 3 4; do
            worst=0
            for ((i = 0; i < n; i++)); do
                run trod run count --from $from -j $((1 + i % 3)) --part $i/$n --save $i.state $damage.$f
                ((got > worst)) && worst=$got
                cp "$stderr" $i.err
            done
            check test "$worst" = "$was"
            run trod merge --format json $(seq -f %g.state 0 $((n - 1)))
            status "$was"
            [[ $was == 0 ]] || err_has 'part [0-3]/[2-4] met problems, which were reported when it was read$'
            same one "$stdout"
            messages $(seq -f %g.err 0 $((n - 1))) >got.err
            same one.err got.err
        done
    done
done
# check would find the records of one file among those of another
for order in '--order time check' '--order time check,info'; do
    run trod run $order dir
    status 2
    err_has "analysis 'check' looks at all records of each file .* other than --order file$"
done
run trod run --order file check,info dir
status 0
run trod run --order time check t.tarmac
status 0

# one analysis several times: each has a member of its own; count is that of trod count, as JSON
run trod run --format json cache,cache:preset=zen2,count,cache:classify t.tarmac
status 0
json 'keys == ["cache", "cache_2", "cache_3", "count", "files", "format"]'
trod run cache,cache:preset=zen2 t.tarmac >twice.txt
check grep -q '(2)$' twice.txt
for f in dir "$TROD_SOURCE/examples/sum.trace.zip"; do
    trod count --format json "$f" >one
    run trod run --format json count "$f"
    same one "$stdout"
    run trod run -q --part 0/1 --save 0.state count "$f"
    run trod merge --format json 0.state
    same one "$stdout"
done
run trod run --by thread --format json info dir
json '.streams_2 | length > 1'

# --strict ends at the first of two damaged lines, in parts too: those behind it are left out
awk 'NR == 100000 || NR == 200000 { $7 = "zz" } { print }' t.tarmac >two.tarmac
run trod run count --strict --format json two.tarmac
status 2
cp "$stdout" one
for n in 2 3 4; do
    for ((i = 0; i < n; i++)); do
        run trod run count --strict --part $i/$n --save $i.state two.tarmac
    done
    run trod merge --format json $(seq -f %g.state 0 $((n - 1)))
    status 2
    err_has 'met problems, .*: the parts after it are left out \(--strict\)$'
    same one "$stdout"
done

run trod run count --part 0/2 --save 0.state t.tarmac
run trod run count --part 1/2 --save 1.state t.tarmac

# accesses of instructions that the trace does not have
pins=$TROD_SOURCE/tests/golden/memtrace_x86/model.canonical.memtrace_x86
run trod run mix --by function "$pins"
cp "$stdout" one
check grep -q '(no symbol) ' one
for ((i = 0; i < 2; i++)); do
    run trod run mix --by function --part $i/2 --save pins$i.state "$pins"
    status 0
done
run trod merge pins0.state pins1.state
status 0
same one "$stdout"

# ---- states that cannot be merged
run trod merge 0.state
status 2
err_has 'part 1/2 is missing'
run trod merge 1.state
status 2
err_has 'part 0/2 is missing'
run trod merge 0.state 1.state 0.state
status 2
err_has "part 0/2 is given twice: '0.state' and '0.state'"
run trod run count --part 1/2 --save other.state dir
run trod merge 0.state other.state
status 2
err_has "'0.state' and 'other.state' are parts of different runs"
run trod run count:footprint=none --part 1/2 --save other.state t.tarmac
run trod merge 0.state other.state
status 2
err_has 'parts of different runs: their analyses or their options differ'
# what changes what is read makes another run
mkdir modules
: >none.log
for options in '--from byu12|--from byu6|--from' '--from byu12||--from' '--strict||--strict' \
    '--module-dir modules||--module-dir' '--modules none.log||--modules' '--by thread||--by'; do
    IFS='|' read -r a b what <<<"$options"
    # shellcheck disable=SC2086 # options and their values
    run trod run count $a --part 0/2 --save a.state plain.byu12
    # shellcheck disable=SC2086
    run trod run count $b --part 1/2 --save b.state plain.byu12
    run trod merge a.state b.state
    status 2
    err_has "'a.state' and 'b.state' are parts of different runs: their options $what differ"
    out </dev/null
done
run trod merge 0.state nowhere.state
status 2
err_has "cannot open 'nowhere.state': No such file"
echo 'trod state' >text
for foreign in text t.zip t.tarmac /dev/null; do
    run trod merge 0.state "$foreign"
    status 2
    err_has 'is no state that trod run --save wrote'
    out </dev/null
done
size=$(wc -c <1.state)
for cut in 13 20 $((size / 2)) $((size - 1)); do
    head -c "$cut" 1.state >cut.state
    run trod merge 0.state cut.state
    status 2
    err_has "state 'cut.state' is damaged"
    out </dev/null
done
for at in 15 40 $((size / 2)) $((size - 9)) $((size - 1)); do
    cp 1.state bad.state
    byte=$(od -An -tu1 -j "$at" -N1 1.state)
    bytes "$(printf %02x $((byte ^ 1)))" | dd of=bad.state bs=1 seek="$at" conv=notrunc 2>/dev/null
    run trod merge 0.state bad.state
    status 2
    err_has "state 'bad.state' is damaged"
    out </dev/null
done
cp 1.state long.state
echo >>long.state
run trod merge 0.state long.state
status 2
err_has "state 'long.state' is damaged"

# ---- names of all kinds, and more files than the head of a state had room for
odd=$'a\nb \\n \\\\ c\\'
cp dir/t3.tarmac "$odd"
head -n 3 dir/t1.tarmac >three.tarmac
for files in odd many; do
    set -- "$odd" dir/t1.tarmac
    # shellcheck disable=SC2046 # words without blanks
    [[ $files == odd ]] || set -- $(yes three.tarmac | head -n 4100)
    run trod run count --format json "$@"
    status 0
    cp "$stdout" one
    for ((i = 0; i < 2; i++)); do
        run trod run count --part $i/2 --save $i.state "$@"
        status 0
    done
    run trod merge --format json 0.state 1.state
    status 0
    same one "$stdout"
done
# the rows that were chosen when a state of the whole trace was read
run trod run count --kind READ --format json t.tarmac
cp "$stdout" one
run trod run count --kind READ --save 0.state t.tarmac
status 0
run trod merge --format json 0.state
status 0
same one "$stdout"

# ---- parts that cannot be
for part in 2/2 1 1/0 -1/2 a/b 0/2x; do
    run trod run count --part $part --save x.state t.tarmac
    status 2
    err_has "option '--part'|I/N"
done
run trod run count --part 0/2 t.tarmac
status 2
err_has "'--part' needs '--save STATE'"
for option in '--interval 100' '--region 5..9' '--warmup 10' '--kind READ' '--limit 10' '--order time'; do
    run trod run count --part 0/2 --save x.state $option t.tarmac
    status 2
    err_has 'cannot be parted'
    # what is in the way is named
    case $option in
        --kind*) err_has 'cannot be parted: it has options that choose rows .*--kind' ;;
        --limit*) err_has 'cannot be parted: it has a region .*--limit' ;;
        --order*) err_has 'cannot be parted: .*--order file' ;;
        *) err_has "cannot be parted: it has a.*\\(${option% *}|intervals \\(${option% *}" ;;
    esac
    check test ! -e x.state
done
run trod run phases:list --part 0/2 --save x.state t.tarmac
status 2
err_has "cannot be parted: it has an analysis .*: 'phases'"
run trod run count --by core --part 0/2 --save x.state dir
status 2
err_has 'cannot be parted: it has results of cores \(--by core\)$'
check test "$(wc -l <"$stderr")" = 1
{ cat t.tarmac && echo '1 clk cpu0 IT (1) 0000zz00 d503201f O EL1h_n : X'; } >damaged.tarmac
for option in '--interval 100' '--by core'; do
    # refused before anything is read: nothing is said of the damage
    for from in t.tarmac damaged.tarmac; do
        # shellcheck disable=SC2086 # an option and its value
        run trod run count --save x.state $option $from
        status 2
        err_has 'cannot be saved'
        check test "$(wc -l <"$stderr")" = 1
        check test ! -e x.state
    done
done
for option in '-o x.txt' '--format json' '--format csv' '--plot'; do
    # shellcheck disable=SC2086 # an option and its value
    run trod run count --save x.state $option t.tarmac
    status 2
    err_has "option '--save' prints no results"
    check test ! -e x.state
    check test ! -e x.txt
done
# a file that is not there is no pipe, and is not counted among the files that were read
run trod run count dir nosuch --part 0/2 --save x.state
status 2
err_has "cannot be parted: it has a file that is not there: 'nosuch'"
run trod run count dir --part 0/2 --save x.state - <t.tarmac
status 2
err_has "cannot be parted: it has a pipe.*: '-'"
echo 'no trace' >no.trace
for jobs in 1 3; do
    run trod run count -j $jobs --format json dir nosuch no.trace nosuch2
    status 2
    json '.files == 7'
done
# standard input without a trace was not read either
for jobs in 1 3; do
    run sh -c "'$TROD' run count -j $jobs --format json dir - </dev/null"
    status 2
    json '.files == 7'
    run sh -c "cat t.tarmac | '$TROD' run count -j $jobs --format json nosuch dir -"
    status 2
    json '.files == 8'
done
mkfifo empty.fifo
: >empty.fifo &
run trod run count --format json dir empty.fifo
status 2
json '.files == 7'
wait
rm empty.fifo
run trod run count --save x.state dir nosuch
status 2
run trod merge --format json x.state
status 2
json '.files == 7'
rm x.state
run trod run sync --part 0/2 --save x.state t.zip
status 2
check test ! -e x.state

# ---- several analyses in one pass: each finds what it finds alone
run trod run count --format json t.zip
cp "$stdout" count.json
run trod run sync --format json t.zip
status 0
cp "$stdout" sync.json
for jobs in 1 2 3; do
    run trod run count,sync -j $jobs --format json t.zip
    status 0
    json '(.count | length) > 0 and (.sync | length) > 0'
    for each in count sync; do
        jq -S ".$each" "$stdout" >a
        jq -S 'del(.format, .files)' $each.json >b
        same b a
    done
done
# what is listed has rows that were counted: those of the third cpu come behind the limit, which one analysis may see
awk 'BEGIN { for (i = 0; i < 9000; i++) printf "%d clk cpu%d IT (%d) %08x d503201f O EL1h_n : NOP\n", i,
                 i < 6000 ? i % 2 : 2, i + 1, 32768 + 4 * i }' >three.tarmac
for what in sync sync,functions; do
    for jobs in 1 3; do
        run trod run $what -j $jobs --limit 999 --format json three.tarmac
        status 0
        json '(.sync // .).threads | [.[] | [.thread, .instructions]] == [["cpu0", 500], ["cpu1", 499]]'
    done
done
# with what it says of markers and of the ends of intervals, too, whatever columns the others want
sum=$TROD_SOURCE/examples/sum.trace.zip
for with in count,hot check,syscalls,count; do
    for interval in '' '--interval 20' '--interval 30:rows'; do
        # shellcheck disable=SC2086 # an option and its value
        run trod run info,$with $interval --format json "$sum"
        [[ $got == 0 ]] || continue # check looks at whole traces
        cp "$stdout" both
        for each in info count; do
            # shellcheck disable=SC2086
            run trod run $each $interval --format json "$sum"
            [[ -z $interval ]] || json '[.intervals[].time_end] | length > 1 and all(. != null)'
            jq -S 'del(.format, .files)' "$stdout" >a
            jq -S ".$each" both >b
            same a b
        done
    done
done
# lists, as trod run --list shows them: what the sub-command finds with the same value
alike() # COMMAND SPEC OPTION...
{
    run trod "$1" "${@:3}" --format json t.zip
    status 0
    jq -S 'del(.format, .files)' "$stdout" >a
    run trod run "mix,$2,count" --format json t.zip
    status 0
    jq -S ".$1" "$stdout" >b
    check test "$(jq length b)" -gt 0
    same a b
}
alike deps deps:window=8,32,width=2,4 --window 8,32 --width 2,4
alike deps deps:latency=load=9,store=2,top=3 --latency load=9,store=2 --top 3
alike branches branches:predictors=bimodal,gshare,top=4 --predictors bimodal,gshare --top 4
alike calls calls:weight=loads,stores,list --weight loads,stores --list
alike cache cache:sweep=size=4K..16K,ways=1..4,line=64 --sweep size=4K..16K,ways=1..4,line=64
for spec in deps:window=8,widht=4 deps:widht=4; do
    run trod run $spec t.zip
    status 2
    err_has "analysis 'deps': unknown option 'widht'; did you mean 'width'"
done
run trod run deps:window=8,wide t.zip
status 2
err_has "'wide'"
run trod run nothing t.zip
status 2
err_has "no analysis is called 'nothing'"
run trod run coutn t.zip
status 2
err_has "did you mean 'count'"

# ---- what looks at whole traces does not find missing what was left out
for option in '--kind INSTR' '--interval 100' '--region 5..9' '--warmup 10' '--limit 10' '--by core'; do
    # shellcheck disable=SC2086 # an option and its value
    run trod run count,check $option t.zip
    status 2
    err_has "analysis 'check' looks at all records of each file"
    out </dev/null
done

# ---- intervals, regions, warm-up, threads: numbers known from how the trace was made
run trod run count --format json --interval 60000 t.tarmac
status 0
json '[.intervals[].total.fetched_instructions] == [60000, 60000, 60000, 20000]'
run trod run count --format json --region 1..1000 t.tarmac
status 0
cp "$stdout" region
lines 1000 1 >head.tarmac
run trod run count --format json head.tarmac
jq -S 'del(.times, .time)' region >a
jq -S 'del(.times, .time)' "$stdout" >b
same b a
run trod run count --format json --by thread t.tarmac
status 0
json '.streams | length == 2'

# ---- Ctrl-C: what was found so far, and that it is not all. Who wrote so far writes nothing any
# more and keeps the pipe open; half a record at the end is no row, and no damage.
mkfifo pipe
lines 30000 1 >part.tarmac
interrupted() # FILE JOBS
{
    local ended=false
    "$TROD" run count --format json -j "$2" pipe >"$stdout" 2>"$stderr" &
    pid=$!
    exec 3>pipe
    cat "$1" >&3
    sleep 1
    kill -INT $pid
    for _ in {1..300}; do
        kill -0 $pid 2>/dev/null || { ended=true && break; }
        sleep 0.1
    done
    exec 3>&-
    last="trod run -j $2 of $1, interrupted"
    $ended || kill -KILL $pid
    got=0
    wait $pid || got=$?
    status 2
    err <<<'trod: warning: interrupted: results are those of what was read'
    json '.partial == true and .total.rows > 1000'
}
{ cat part.tarmac && printf '30001 clk IT (30001) 0000'; } >half.tarmac
gzip -c part.tarmac | head -c 30000 >half.gz
interrupted half.tarmac 1
interrupted half.tarmac 2
interrupted half.gz 2

# A bus has fetches and accesses and no instructions: intervals are cut by rows, and what cannot be
# told is said to be so, as are intervals of instructions that there are none of.
for f in boot.byu6 boot.byu12; do
    f=$TROD_SOURCE/examples/$f
    rows=$(trod view --format json "$f" | wc -l)
    for c in branches syscalls functions schedule; do
        run trod "$c" --interval 20:rows --format json "$f"
        status 0
        json "[(.intervals // .interval_predictors)[].interval] | unique == [range(($rows + 19) / 20 | floor)]"
        json 'has("measure_note") | not'
        json '.note | test("^(no instructions are|the trace has no instructions and|the trace records no calls)")'
        run trod "$c" --interval 20 "$f"
        status 0
        out_has '^measure note: +the trace has no instructions that intervals could be counted in: --interval N:rows'
        out_has '^note: +(no instructions are|the trace has no instructions and|the trace records no calls)'
    done
    run trod mix -j 2 --region 1..20 --format json "$f"
    json '.measure_note | test("no instructions that a region could .* FROM..TO:rows")'
    run trod mix --warmup 20 --format json "$f"
    json '.measure_note | test("no instructions that a warm-up could .* N:rows")'
done
run trod branches --interval 20 --format json "$TROD_SOURCE/examples/hello.tarmac"
json '(has("note") or has("measure_note")) | not'
finish
