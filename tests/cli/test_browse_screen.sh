# test_browse_screen.sh - trod browse in a terminal: what narrow screens show, questions, lists, the mouse, keys of
# other terminals, rows that are added while it is open; what rows say is what trod view says.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
"$TROD" browse x </dev/null 2>&1 | grep -q 'without ncursesw' && { echo "skipped: no ncursesw"; exit 77; }
. "$TROD_SOURCE/tests/cli/browser.sh"

{
    printf '1 clk R X%d 00000000000000%02x\n' 0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23
    printf '2 clk IT (1) 00001000 91000400 O EL1h_n : ADD x0,x0,#1\n2 clk R X0 0000000000000011\n'
    printf '3 clk IT (2) 00001004 f9000001 O EL1h_n : STR x1,[x0]\n3 clk MW8 00008000 00000000_00000011\n'
    printf '4 clk IT (3) 00001008 f9000001 O EL1h_n : STR x1,[x0]\n4 clk MW8 00008000 00000000_00000012\n'
    printf '5 clk R X0 -------------012\nwhat the  model said of it\n'
} >t.tarmac

# what rows say, the short ones too
same_values() { # TRACE
    trod view --format csv "$1" 2>/dev/null | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } {
        v = $at["value"]
        if ($at["kind"] ~ /^(REG|READ|WRITE|ATOMIC)$/) sub(/^0x/, "", v)
        if ($at["kind"] != "INSTR") print $1, $at["kind"], v }' >want
    browser 180 45 "$1"
    shows '^> +0 '
    keys o
    shows 'rows: short'
    checks=$((checks + 1))
    while read -r row kind value; do
        grep -q -E "^> ?  *$row |^ +$row " shown || { ask g "$row"; shows "^> *$row "; }
        grep -E "^>? *$row $kind( |\$)" shown | tr -s ' ' | grep -q -F -e " $value" || echo "row $row: $kind $value"
    done <want >differ
    [[ ! -s differ ]] || cat differ shown | wrong
    keys q
    over 0
}
same_values t.tarmac
trod gen recursion:depth=4,count=2 gen.trace >said
same_values gen.trace
browser 80 24 --at end t.tarmac
shows '^> +15 NOTE +what the model said of it$'

# a question that leaves no room for the answer is asked in short; no characters are cut apart
keys g
shows '^go to \(row, .*symbol\): *$'
keys Escape M
shows '^memory at \(address, .*\): *$'
keys Escape m
keys -l 'aäü'
shows '^name of the bookmark: aäü$'
keys BSpace BSpace
keys -l 'ö'
shows '^name of the bookmark: aö$'
keys Enter
browser 40 10 t.tarmac
shows 'row 0 of 16$'
keys M
shows '^memory at: *$'
keys Escape g
shows '^go to: *$'
keys Escape y
shows '^this key does nothing: \? is help'
# what is too long for the screen goes on in the next line
keys '?'
shows '^ Down j       the next row \(in a pane:$'
shows '^              down\)$'
keys Escape

# the wheel and clicks, as terminals send them: in the rows, in the panes, in lists
mouse() { # BUTTON X Y
    keys -l "$(printf "\\033[M\\$(printf %o $((32 + $1)))\\$(printf %o $((33 + $2)))\\$(printf %o $((33 + $3)))")"
    (($1)) || mouse 3 "$2" "$3"
}
up=64 down=65
browser 80 24 t.tarmac
shows 'row 0 of 16 '
mouse 0 5 6
shows '^> +4 REG '
mouse 65 5 6
shows '^> +7 REG '
ask g 8
shows 'registers at row 8'
mouse 0 30 17 # the second one of the fourth line
shows '^\[\*\] registers'
keys Enter
shows '^> +7 REG '
ask g 13
shows 'registers at row 13'
mouse 0 57 14 # the first byte
shows '\[\*\] memory'
keys Enter
shows '^> +11 WRITE'
keys '?'
shows '1 to 22 of'
mouse $down 5 5
shows ' 4 to 25 of'
mouse $up 5 5
shows ' 1 to 22 of'
keys Escape r
shows '^ registers:'
mouse 0 5 4 # the fourth one
keys Enter
shows '^> +3 REG '

# Enter in the rows: the last write of what the row touches
ask g 13
shows 'registers at row 13'
mouse 0 5 12
keys End Up Up
shows '^> +13 WRITE'
keys Enter
shows '^> +11 WRITE'
ask g 9
keys Enter
shows '^> +0 REG '
keys End Enter
shows 'this row touches neither a register nor memory'
keys q
over 0

# terminals send keys that TERM does not say (of "linux" what libgpm leaves behind is not ours to free)
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
for term in vt100 vt220 linux xterm; do
    browser 80 24 t.tarmac
    shows 'row 0 of 16 '
    keys -l $'\033[4~'
    shows 'row 15 of 16'
    keys -l $'\033[A'
    shows 'row 14 of 16'
    keys -l $'\033[1~'
    shows 'row 0 of 16'
    keys -l $'\033OB'
    shows 'row 1 of 16'
    keys -l $'\033[6~'
    shows 'row 11 of 16'
    keys q
    over 0
done
term=screen

# the panes change places with the length of addresses: nothing stays behind
printf '1 clk R X0 0000000000000001\n2 clk MW8 000000ff00008000 00000000_00000011\n3 clk MW8 00008000 00000000_00000012\n' >wide.tarmac
printf '%d clk R X0 0000000000000001\n' $(seq 4 3000) >>wide.tarmac
browser 100 24 --no-index wide.tarmac
shows 'row 0'
for row in 1 2 1 2; do
    ask g $row
    shows "registers at row $row"
    shows "^x0 .* 0*(ff00008000|8000)[ *]1$row"
    screen >before_redraw
    keys C-l
    sleep 0.2
    screen >after_redraw
    same after_redraw before_redraw
done
keys q
over 0

# a trace that grows while it is open
for how in --no-index --quiet; do
    rm -f grows.tarmac*
    head -n 9 t.tarmac >grows.tarmac
    browser 80 24 $how --at end grows.tarmac
    shows '^> +8 INSTR'
    keys Down
    shows 'row 8 of 9 '
    tail -n +10 t.tarmac >>grows.tarmac
    keys Down
    shows '^> +9 REG +X0 0000000000000011'
    shows 'the trace has grown'
    keys End
    shows 'row 15 of 16 '
    ask g 13
    shows 'registers at row 13'
    shows '^x0 +\*?0000000000000011'
    keys q
    over 0
done
# a trace that grows while its index is made gets the index of all its rows
lines=$(fewer 400000 20000)
seq 1 "$lines" | sed 's/.*/& clk R X0 0000000000000011/' >long.tarmac
cp long.tarmac longer.tarmac
browser 80 24 --quiet longer.tarmac
shows '^> +0 REG'
cat t.tarmac >>longer.tarmac
keys End
shows "^> +$((lines + 15)) "
for ((i = 0; i < 300; i++)); do # the index is made behind what is seen
    "$TROD" index --info --format json longer.tarmac >info 2>errors &&
        jq -e ".traces[0].rows == $lines + 16" info >jq && break
    sleep 0.1
done
check test "$i" -lt 300
keys q
over 0
: >grows.tarmac
browser 80 24 --from tarmac grows.tarmac
shows 'the trace has no rows'
cat t.tarmac >grows.tarmac
keys End
shows 'row 15 of 16 '
keys q
over 0
finish
