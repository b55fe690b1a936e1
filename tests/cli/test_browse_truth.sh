# test_browse_truth.sh - trod browse at random places: registers, memory, writes, visits and what is found are what trod
# state, who and find answer there; with an index and without.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
"$TROD" browse x </dev/null 2>&1 | grep -q 'without ncursesw' && { echo "skipped: no ncursesw"; exit 77; }
. "$TROD_SOURCE/tests/cli/browser.sh"

# Two cpus that write registers, read and write words of 1, 2, 4, 8 bytes; digits that are not known; wide registers.
awk 'BEGIN {
    srand(7)
    for (i = 0; i < 900; i++) {
        cpu = rand() < 0.5 ? 0 : 1; r = int(rand() * 6); n = 2 ^ int(rand() * 4)
        printf "%d clk cpu%d IT (%d) %08x 91000400 O EL1h_n : ADD x0,x0,#1\n", i, cpu, i, 4096 + 4 * int(rand() * 40)
        v = ""
        for (k = 0; k < 16; k++) v = v sprintf("%x", int(rand() * 16))
        what = rand()
        if (what < 0.4) printf "%d clk cpu%d R X%d %s\n", i, cpu, r, v
        else if (what < 0.5) printf "%d clk cpu%d R V%d %s%s\n", i, cpu, r, v, v
        else if (what < 0.6) printf "%d clk cpu%d R X%d %s\n", i, cpu, r, "--------" substr(v, 9)
        else printf "%d clk cpu%d M%s%d %08x %s\n", i, cpu, what < 0.8 ? "W" : "R", n,
                    32768 + n * int(rand() * 64 / n), substr(v, 1, 2 * n)
    }
}' >t.tarmac
rows=$(trod view --format csv t.tarmac | tail -n +2 | wc -l)
RANDOM=11

# The answers at row $1 stand on the screen; $2: how the browser was begun.
registers_at() {
    trod state --at "row:$1" --no-calls --format json t.tarmac |
        jq -r '.registers[] | "\(.register) \(.row) \(.value[2:])"' | sort >want
    keys r
    shows '^ registers:'
    screen | sed -n '2,/^ 1 to/p' | sed 's/^[ *]//' | awk 'NF >= 3 && $2 ~ /^[0-9]+$/ { print $1, $2, $3 }' | sort >got
    same want got
    keys Escape
    shows 'registers of cpu'
}
memory_at() {
    trod state --at "row:$1" --no-calls --memory 0x8000..0x803f --format json t.tarmac |
        jq -r '.memory[0].dump[].bytes' >want
    for ((i = 0; i < 50; i++)); do
        screen | grep -o -E '000080[0-3]0([ *][0-9a-f-]{2}){16}' | tr '*' ' ' | cut -c10- >got
        cmp -s want got && break
        sleep 0.02
    done
    same want got
}
# The row of the cursor is the one that the command's answer names, or the browser says that there is none.
goes_to() { # ROW WHERE-IT-WAS
    if [[ $1 == null || -z $1 ]]; then
        shows '(none (before|after)|not found (before|after)) row'
    else
        shows "^> *$1 "
    fi
    ask g "row:$2"
    shows "registers of cpu. at row $2 "
}
for how in '' --no-index; do
    browser 160 40 ${how:+$how} t.tarmac
    [[ -n $how ]] || shows indexed
    ask M 0x8000
    shows 'memory at 0x8000'
    for ((k = 0; k < 4; k++)); do
        row=$((RANDOM % rows))
        ask g "row:$row"
        shows "registers of cpu. at row $row "
        stream=$(trod view --range "$row..$row" --format json t.tarmac | jq -r '.cpu // .stream // .thread')
        registers_at $row
        memory_at $row
        for way in before:W after:w; do
            for what in register:x$((RANDOM % 6)) memory:0x$(printf %x $((0x8000 + RANDOM % 64))); do
                ask "${way#*:}" "${what#*:}"
                of=
                [[ $what != register* ]] || of=--stream=$stream
                goes_to "$(trod who "--${what%:*}" "${what#*:}" --writes "--${way%:*}" "row:$row" $of \
                    --format json t.tarmac 2>/dev/null | jq -r '.who[0].row // empty')" $row
            done
        done
        next=$(trod find --first --range "$((row + 1)).." --format json t.tarmac 'kind == WRITE && size == 4' |
            jq -r '.record // empty' | head -n 1)
        ask / 'kind == WRITE && size == 4'
        goes_to "$next" $row
    done
    keys q
    over 0
done

# ---- calls: the stack is that of trod state; what is folded is the same with an index and without, and the call there
. "$TROD_SOURCE/tests/cli/calls_model.sh"
model 4 3 >m.tarmac
trod view --format csv m.tarmac | tail -n +2 >rows.csv
rows=$(wc -l <rows.csv) random=$((RANDOM % $(wc -l <rows.csv)))
for how in '' --no-index; do
    browser 120 40 ${how:+$how} m.tarmac
    [[ -n $how ]] || shows indexed
    for row in 3 20 77 "$random" $((rows - 7)); do
        ask g "row:$row"
        shows "registers of cpu. at row $row "
        trod state --at "row:$row" --format json m.tarmac |
            jq -r '.calls[] | "\(.function) \(.from_row // "null")"' >want
        keys B
        shows '^ who called whom'
        screen | sed -n 's/^ *[0-9]\{1,\}  \(0x[0-9a-f]*\) .*\(row [0-9]*\)$/\1 \2 &/p' |
            awk '{ print $1, /since before/ ? "null" : $3 }' >got
        same want got
        keys Escape
        shows "registers of cpu. at row $row "
        keys -
        shows '\[\+\]|is in no call'
        grep -E '\[\+\]|is in no call' shown | sed 's/^>//; s/time .*//; s/ *$//' >>"folds$how"
        keys '}' '{'
        shows 'calls? folded'
        grep -E '\[\+\]|calls? folded' shown | sed 's/^>//; s/time .*//; s/ *$//' >>"folds$how"
        keys '}'
    done
    for key in 'D 0' 'D 1' 'C 0x1040'; do
        ask g row:0
        keys "${key% *}" C-u
        keys -l "${key#* }"
        keys Enter
        shows 'calls? folded'
        grep -E '\[\+\]|calls? folded' shown | sed 's/^>//; s/time .*//; s/ *$//' >>"folds$how"
        keys '}'
    done
    keys q
    over 0
done
check test "$(grep -c '\[+\]' folds)" -gt 12
same folds folds--no-index
finish
