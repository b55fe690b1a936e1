# test_report.sh - trod report: the numbers of the page are those of its JSON and of each analysis alone,
# names that look like markup, traces without this or that, damaged and empty ones.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq python3
examples=$TROD_SOURCE/examples
page="python3 $TROD_SOURCE/tests/cli/report_page.py"

# report FILE ARGUMENT...: page and JSON, compared
report() {
    run trod report -o p.html "$@"
    status 0
    run trod report -o p.json --format json "$@"
    status 0
    check $page p.html p.json
    check test "$(wc -c <p.html)" -lt 3000000
    cp p.json "$stdout"
}

# a program whose numbers are known (examples/sum.c)
report "$examples/sum.trace.zip"
json '.trace.complete == true and .trace.format == "drmemtrace" and .info.rows == 73'
json '.mix.instructions == 50 and .hot.loops == 1 and .hot.hot_code[0].text == "add edx, dword ptr [rax]"'
json '.flame.frames[1] == {"parent": 0, "name": "0x401028", "total": 50, "self": 10}'
json '.cache.caches[0].references == 51 and .locality.lines == 4 and .phases.interval_phases[0].misses == 2'
json '.syscalls.calls[0].name == "exit" and .schedule.chart[0].tid == 13352 and .check.findings == []'
json '.shortened == []'

# what it says is what each analysis says alone, and what one run of them says
all=count:top=20,check,mix,hot:top=30,profile,branches,locality:times,cache,phases:list,schedule,syscalls:top=50,functions
alone() {
    jq -S 'del(.format, .files)' >alone
    jq -S "$1" p.json >here
    same alone here
}
for spec in mix hot:top=30 branches locality:times cache phases:list; do
    trod run --format json "$spec" "$examples/sum.trace.zip" | alone ".${spec%%:*}"
done
trod flame --format json "$examples/sum.trace.zip" >flame.json
check jq -e --slurpfile f flame.json '.flame.total == $f[0].total and .flame.frames[0].total == $f[0].total and
    ([.flame.frames[].self] | add) == ([$f[0].stacks[].count] | add)' p.json
for file in sum.tt6 hello.tarmac; do
    report "$examples/$file"
    trod run --format json $all "$examples/$file" >all.json
    jq 'del(.count.threads_counts)' all.json | alone '{count, check, mix, hot, profile, branches, locality,
        cache, phases, schedule, syscalls, functions} | del(.count.threads_counts)'
    # the page has the table of threads that people read
    check jq -e --slurpfile a all.json '[.count.threads_counts[] | [.thread, .instructions, .loads]] ==
        [$a[0].count.threads_counts[] | [.thread, .fetched_instructions, .data_loads]]' p.json
done
report "$examples/boot.byu12"
json '.flame.absent | test("no instructions")'
for file in boot.byu12 kinds.stf sum.trace.zip; do
    run trod sync "$examples/$file"
    status 2
    reason=$(sed 's/^trod: //' "$stderr")
    report "$examples/$file"
    check jq -e --arg r "$reason" '.sync == {absent: $r}' p.json
done
run trod report -o p.html "$examples/boot.byu12"
has p.html '<p class="absent">traces of format byu12 have no instructions'

check test "$(jq .check.total p.json)" = "$(trod check --format json "$examples/boot.byu12" | jq .total)"

# nothing depends on the number of threads
trod report -j 1 "$examples/sum.trace.zip" >one
trod report -j 3 "$examples/sum.trace.zip" >three
same one three

# names that look like markup
mkdir -p "d"
bad='"><script>alert(1)<x>.zip'
cp "$examples/sum.trace.zip" "d/$bad"
report "d/$bad"
json '.trace.files[0].file | test("<script>")'
if command -v as ld >/dev/null && [[ $(uname -m) == x86_64 ]]; then
    printf '.globl "</script><script>f()", _start\n.type "</script><script>f()",@function\n.type _start,@function
        "</script><script>f()": .skip 0x28\n.size "</script><script>f()", 0x28\n_start: .skip 64\n.size _start,64\n' >s.s
    if as -o s.o s.s && ld -Ttext=0x401000 -o s.elf s.o; then
        report --symbols s.elf "$examples/sum.trace.zip"
        json '.flame.frames[2].name == "</script><script>f()" and .flame.frames[2].total == 40'
        check test "$(grep -c '<script' p.html)" = 2
    fi
fi
report --title '</title><script>' "$examples/hello.din"
has p.html '<title>&lt;/title&gt;&lt;script&gt;</title>'

# other analyses, a part, fewer rows
report --run mix,cache:preset=zen2 --limit 10 "$examples/sum.trace.zip"
json 'keys == ["cache", "drmemtrace", "mix", "shortened", "trace", "trod"] and .mix.instructions == 10'
report --rows 2 --warmup 10 "$examples/sum.trace.zip"
json '.mix.instructions == 40 and (.mix.mnemonics | length) == 2'
json '[.shortened[] | select(.table == "mix.mnemonics")][0].kept == 2'
run trod report --run nothing "$examples/sum.trace.zip"
status 2
run trod report --format text "$examples/sum.trace.zip"
status 2

# two traces: what is the same in both differs in nothing, what is not is said with both values
run trod report -o two.html --against "$examples/sum.trace.zip" "$examples/sum.trace.zip"
status 0
run trod report --format json --against "$examples/sum.trace.zip" "$examples/sum.trace.zip"
json '.first == .second and ([.differences[].different] | add) == 0 and .differences.mix.compared > 100'
cp "$stdout" two.json
check $page two.html two.json
trod report --format json --limit 20 "$examples/sum.trace.zip" >short.json
trod convert --range 0..29 "$examples/sum.trace.zip" short.trace.zip 2>/dev/null
report --against short.trace.zip "$examples/sum.trace.zip"
json '.first.mix.instructions == 50 and .second.mix.instructions < 50'
json '.second.mix.instructions as $n | .differences.mix.differences[] | select(.path == "instructions") |
    .first == 50 and .second == $n and .difference == $n - 50'
has p.html '<h3 class="which">.*sum.trace.zip</h3>'
# of one file whose wait cannot complete sync says what it says alone, and so do all others
run trod report --format json "$examples/records.tt6e"
status 2
err_has 'wait cannot complete'
check test "$(wc -l <"$stderr")" = 1
trod report --format json --run mix "$examples/records.tt6e" >mix.json 2>mix.err
check test ! -s mix.err -a "$(jq .trace.complete mix.json)" = true
json '.trace.complete == false and .trace.errors == 1 and (.trace.problems | length) == 1'
cp "$stdout" p.json
trod sync --format json "$examples/records.tt6e" 2>/dev/null | alone .sync
trod mix --format json "$examples/records.tt6e" | alone .mix
trod check --format json "$examples/records.tt6e" | jq .total >want
jq .check.total p.json >got
same want got

# a pipe cannot be read twice: without an order that all take, there is no sync of it
for order in '' --order=file --order=sync; do
    run trod report ${order:+"$order"} --format json <(cat "$examples/records.tt6e")
    if [[ $order != '' ]]; then
        json '.sync | has("waits")'
        continue
    fi
    status 0
    err </dev/null
    json '.trace.complete and (.sync | keys == ["absent"] and (.absent | test("--order sync")))'
    trod mix --format json "$examples/records.tt6e" | jq .instructions >want
    jq .mix.instructions "$stdout" >got
    same want got
done
status 2
err_has 'wait cannot complete'
json '.trace.complete == false'
trod sync --format json "$examples/records.tt6e" 2>/dev/null | jq .waits >want
jq .sync.waits "$stdout" >got
same want got

# the differences are those that trod diff finds between the saved results
trod report --format json --against "$examples/hello.tarmac" "$examples/records.tt6e" >two.json 2>/dev/null
mapfile -t sections < <(jq -r '.differences | keys[] | select(. != "flame")' two.json)
check test ${#sections[@]} -gt 10
for section in "${sections[@]}"; do
    jq ".first.$section" two.json >first.json
    jq ".second.$section" two.json >second.json
    trod diff --format json first.json second.json >diff.json
    check jq -e --slurpfile d diff.json ".differences.$section == \$d[0]" two.json
done
for file in records.tt6e hello.tarmac; do
    trod flame --format json "$examples/$file" | jq 'del(.format, .files)' >"$file.flame"
done
trod diff --format json records.tt6e.flame hello.tarmac.flame >diff.json
check jq -e --slurpfile d diff.json '.differences.flame == $d[0]' two.json
report --against "$examples/boot.byu12" "$examples/sum.trace.zip"
json '.second.flame.absent and .first.flame.total == 50 and (.differences | has("flame") | not)'
run trod report -o without.html --against nowhere.trace "$examples/sum.trace.zip"
status 2
err_has "cannot open 'nowhere.trace': No such file"
check test ! -e without.html

# of a part of a trace nothing is found missing
for option in '--region 3..20' '--kind INSTR' '--limit 10' '--warmup 5'; do
    # shellcheck disable=SC2086 # an option and its value
    run trod report --format json $option "$examples/sum.trace.zip"
    status 0
    json '(.check.absent | test("all records")) and .trace.complete and .trace.errors == 0 and .mix.instructions > 0'
done

# of several files check finds what it finds alone in that order: their rows come in turns, and between them
# rows of idle cores, which are of no file
told() {
    jq -S 'del(.total) | walk(if type == "object" then with_entries(select(.value != null)) else . end)'
}
as_check() {
    trod check --format json "$@" | told >alone
    for jobs in 1 3; do
        run trod report -q -j $jobs --format json "$@"
        status 0
        jq .check "$stdout" | told >here
        same alone here
    done
}
for f in 0 1; do # a time that goes back, an opcode that is none
    printf "%s cpu$f IT (%d) %08x %s O EL1h_n : NOP\n" 10 1 4096 d503201f $((12 + f)) 2 4100 d503201f 11 3 4104 ffffffff
done | sed 's/^[0-9]*/& ns/' >both.tarmac
grep cpu0 both.tarmac >one.tarmac
grep cpu1 both.tarmac >two.tarmac
as_check --order time one.tarmac two.tarmac
check jq -e '[.rules[].rule] == ["tarmac.time", "tarmac.opcode-valid"]' alone
trod report --format json one.tarmac two.tarmac >here
check jq -e '.check.rules | length == 2' here
as_check --order file one.tarmac two.tarmac
run trod report -q --format json --order time <(cat one.tarmac) <(cat two.tarmac)
status 0
json '.check.rules | length == 2'
trod gen -q --to drmemtrace sharing:count=60 threads >/dev/null
for order in time dynamic:cores=2 recorded:lockstep; do
    as_check --order $order threads
    check jq -e '.findings == []' alone
done

# damaged and empty traces: a report that says so
head -c 400 "$examples/sum.full.gz" >cut.full.gz
run trod report -o cut.html cut.full.gz
status 2
err_has 'cut.full.gz'
has cut.html 'Not all of this trace could be read'
run trod report --format json cut.full.gz
json '.trace.complete == false and (.trace.problems | length) > 0 and .mix.instructions > 0'
json '.check.rules[0].rule == "read.damaged"'
: >empty
run trod report -o empty.html empty
status 2
has empty.html 'the input is empty'
run trod report --format json --from tarmac empty
status 0
json '.trace.complete and .mix.instructions == 0'

# of no file there is no report
for format in html json; do
    run trod report --format $format -o none.$format nowhere.trace
    status 2
    err_has "cannot open 'nowhere.trace': No such file"
    check test ! -e none.$format
done
run trod report nowhere.trace
status 2
out </dev/null
run trod report
status 2

# a pipe, which can be read but once: all of it is there
trod report --format json - <"$examples/hello.tarmac" | jq 'del(.trace.files, .trace.file_bytes)' >want
trod report --format json <(cat "$examples/hello.tarmac") | jq 'del(.trace.files, .trace.file_bytes)' >got
check jq -e '.mix.instructions == 12' want
same want got

# Ctrl-C while a pipe is read: a whole page, a whole JSON, of what was read; a second trace is not begun. The rows
# behind the signal are what lets the reader see it; they may be counted or not.
awk 'BEGIN { for (n = 1; n <= 30000; n++)
    printf "%d clk cpu0 IT (%d) %08x:%012x_NS 91000421 O EL1h_n : ADD\n", n, n, 4096 + n % 64 * 4, 4096 + n % 64 * 4 }' >part.tarmac
mkfifo pipe
# interrupted FILE ARGUMENT...
interrupted() {
    local pid
    env --default-signal=INT "$TROD" report --from tarmac -o "$@" pipe 2>"$stderr" &
    pid=$!
    exec 3>pipe
    cat part.tarmac >&3
    sleep 0.5
    kill -INT $pid
    cat part.tarmac >&3 2>/dev/null
    exec 3>&-
    wait $pid
    last="trod report $*, interrupted"
    err_has 'interrupted: results are those of what was read'
}
interrupted stopped.json --format json
cp stopped.json "$stdout"
json '.trace.complete == false and .trace.partial and .mix.instructions > 0 and .mix.instructions <= 60000'
json '.trace.problems[0].kind == "run.interrupted"'
check python3 -c 'import json; json.load(open("stopped.json"))'
interrupted stopped.html
has stopped.html 'Not all of this trace could be read'
check test "$(tail -c 8 stopped.html)" = '</html>'
awk 'sub(/.*<script type="application.json" id="data">/, "") { on = 1 } on && sub(/<.script>.*/, "") { print; exit } on' \
    stopped.html >inside.json
check $page stopped.html inside.json
interrupted stopped.json --format json --against "$examples/sum.trace.zip"
err_has 'sum.trace.zip: warning: interrupted: not read'
cp stopped.json "$stdout"
json '.first.trace.partial and .second.trace.partial and (.second | keys == ["trace"]) and .differences == {}'
interrupted stopped.html --against "$examples/sum.trace.zip"
has stopped.html 'interrupted: not read'

# a file of Amber is read once for all and once for sync: whichever pass Ctrl-C ends, the report is not complete and
# says what it is of. When a signal comes, as a part of the time that the whole takes, decides which pass it is.
trod gen cyclic:lines=1000,laps=2000 twice.tt6.gz >/dev/null
milliseconds=$(date +%s%3N)
run trod report --run sync,count --format json twice.tt6.gz
milliseconds=$(($(date +%s%3N) - milliseconds))
status 0
json '.trace.complete and (.sync.threads | length) == 1 and .count.total.rows > 0'
instructions=$(jq .count.total.rows "$stdout")
passes=
for part in 1 2 5 6 7 8 9 4 3 12 16 24; do
    env --default-signal=INT "$TROD" report --run sync,count --format json twice.tt6.gz >"$stdout" 2>"$stderr" &
    pid=$!
    sleep "$(printf '%d.%03d' $((milliseconds * part / 10 / 1000)) $((milliseconds * part / 10 % 1000)))"
    kill -INT $pid 2>/dev/null
    got=0
    wait $pid || got=$?
    last="trod report twice.tt6.gz, interrupted after $part tenths of the time"
    # before, between and behind the passes a signal ends the command as it ends any
    [[ $got == 130 || $got == 0 ]] && continue
    status 2
    err <<<'trod: warning: interrupted: results are those of what was read'
    json '.trace | .complete == false and .partial and .errors == 0 and .warnings == 1 and
        [.problems[].kind] == ["run.interrupted"]'
    if [[ $(jq .count.partial "$stdout") == true ]]; then
        passes+=1
        json '.sync | keys == ["absent"] and (.absent | startswith("interrupted"))'
    else
        passes+=2
        json ".sync.partial and .count.total.rows == $instructions"
    fi
    [[ $passes == *1* && $passes == *2* ]] && break
done
last="trod report twice.tt6.gz, interrupted in passes $passes"
check test "${passes/1/}" != "$passes" -a "${passes/2/}" != "$passes"
finish
