# test_browse.sh - trod browse in a terminal: what is on the screen is what trod view and trod state
# print for the same rows; moving, jumps, panes, bookmarks; the terminal is left as it was.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
trod browse --help | grep -q . || exit 1
"$TROD" browse x </dev/null 2>&1 | grep -q 'without ncursesw' && { echo "skipped: no ncursesw"; exit 77; }
. "$TROD_SOURCE/tests/cli/browser.sh"

# A loop: each trip writes x0, x1 and a word; 5 rows a trip behind 2 rows.
{
    echo '0 clk R X0 0000000000000000'
    echo '0 clk R cpsr 600003c5'
    for i in $(seq 1 400); do
        printf '%d clk IT (%d) 00001000 91000400 O EL1h_n : ADD x0,x0,#1\n' $((10 * i)) $((2 * i - 1))
        printf '%d clk R X0 %016x\n' $((10 * i)) "$i"
        printf '%d clk IT (%d) 00001004 f8008421 O EL1h_n : STR x1,[x1],#8\n' $((10 * i + 5)) $((2 * i))
        printf '%d clk MW8 %08x 00000000_%08x\n' $((10 * i + 5)) $((0x8000 + 8 * i)) $((i * 3))
        printf '%d clk R X1 %016x\n' $((10 * i + 5)) $((0x8008 + 8 * i))
    done
} >t.tarmac

# The rows on the screen are those of trod view: as many columns as there is room for.
same_rows() { # FIRST LAST, the screen's lines 3 and on
    trod view --range "$1..$2" t.tarmac | tr -s ' ' | sed 's/^ //' >want
    sed -n "3,$(($2 - $1 + 3))p" shown | sed 's/^.//' | tr -s ' ' | sed 's/^ //; s/ $//' >got
    paste -d '\n' want got | awk 'NR % 2 { want = $0; next } index(want, $0) != 1 { print "want " want "; got " $0; bad = 1 }
        END { exit bad }' >differ || wrong <differ
    checks=$((checks + 1))
}
# Registers and memory on the screen are those of trod state.
same_state() { # ROW ADDRESS
    local i
    trod state --at "$1" --memory "$2..$(printf '0x%x' $(($2 + 15)))" --format json t.tarmac >state.json
    jq -r '.registers[] | .register + " " + .value[2:]' state.json >registers
    jq -r '.memory[0].dump[0].bytes' state.json >bytes
    checks=$((checks + 1))
    for ((i = 0; i < 100; i++)); do # memory comes behind the registers
        screen >shown
        while read -r name value; do
            grep -q -E "(^| )$name *[ *]$value( |\$)" shown || echo "$name is not $value"
        done <registers >differ
        grep -E " 0*$(printf '%x' $(($2)))[ *]" shown | tr '*' ' ' | grep -q -F "$(cat bytes)" ||
            echo "memory is not $(cat bytes)" >>differ
        [[ -s differ ]] || return
        sleep 0.02
    done
    cat differ shown | wrong
}

browser 140 30 t.tarmac
shows '^> *0 .* REG .*X0'
shows 'registers at row 0' # what changes is marked against what was seen
same_rows 0 16
keys Down Down Down
shows 'registers at row 3'
shows '^> *3 .*X0$'
shows '^x0 *\*0000000000000001' # what changed is marked
ask g 'row:1500'
shows 'registers at row 1500'
same_state 1500 0x8960
keys Up
shows 'registers at row 1499'
shows '^> *1499 '
keys NPage
shows '^> *1515 '
keys End
shows '^> *2001 .*row 2001 of 2002|row 2001 of 2002  100%'
same_rows 1985 2001
keys Home
shows '^> *0 '
ask t 2005
shows 'time 2005  row 999 '
ask l 500
shows 'row 499 '
ask g 0x1004:7
shows 'row 34 '
keys i
shows 'row 37 '
keys I I
shows 'row 32 '
ask g nowhere
shows "has no place 'nowhere'"
ask M x1-16
shows '--- memory at x1-16'
same_state 32 0x8030
keys M Enter
shows 'memory of the last access'
keys '>' '>'
shows 'row 32 '
keys Tab Right
shows '^\[\*\] registers'

# the cursor into the middle of the rows
ask g row:1000
keys j j j C-l
for ((i = 0; i < 50; i++)); do
    screen >shown
    [[ $(grep -n '^> *1003 ' shown) != 10:* ]] || break
    sleep 0.02
done
check grep -q '^10:' <(grep -n '^> *1003 ' shown)
ask g 0x1004:7
shows 'row 34 '
keys I
shows 'row 32 '

# bookmarks are kept
ask m 'here it is'
ask m again
keys Home "'"
shows '^ *32  again$'
keys Enter
shows 'row 32 '
check grep -qx '32 again' t.tarmac.trodmarks
keys q
over 0
printf 'rubbish\n40 later\n' >>t.tarmac.trodmarks
browser 80 24 --at 30% t.tarmac
shows '^> *600 (REG|INSTR|WRITE)' # on 80 columns rows are short
keys !
shows "1 lines of 't.tarmac.trodmarks' are no bookmarks"
keys Escape "'" Down
shows '^ *40  later'
keys d
shows '1 to 1 of 1 '
check grep -qx '32 again' t.tarmac.trodmarks
check grep -vq later t.tarmac.trodmarks
keys Escape
shows '^> *600 '
keys o
shows 'rows: short'
keys o
shows '600 +3?[0-9]+ clk'
same_rows 595 605
keys '?'
shows '^ keys'
keys Escape
shows '^> *600 '
keys y
shows 'this key does nothing'
in_tmux resize-window -x 60 -y 15
shows '^--- registers at row 600'
in_tmux resize-window -x 30 -y 5
shows '^too small'
in_tmux resize-window -x 100 -y 40
shows '^> *600 '
# the wheel, a click: as terminals send them
keys -l "$(printf '\033[M %c%c' '!' '#')"
shows 'row [0-9]+ of|row [0-9]+$'
kill -TERM "$(browser_pid)"
over 143

# bad terminals, bad traces
term=nonsense browser 80 24 t.tarmac
over 2
check grep -q "the terminal 'nonsense' (TERM) is not known" errors
term=dumb browser 80 24 t.tarmac
over 2
run trod browse t.tarmac
status 2
err_has 'is no terminal, which the browser needs'
run trod browse -
status 2
browser 80 24 absent.tarmac
over 2
check grep -q absent.tarmac errors
browser 80 24 --at 99999 t.tarmac
over 2
check grep -q "has no place '99999'" errors
browser 80 24 --colors changed=purple t.tarmac
over 2
check grep -q "'changed=purple' is no colour" errors
: >empty
browser 80 24 --from tarmac empty
shows 'the trace has no rows'
keys Down End i m q
over 0
{ head -n 50 t.tarmac; echo '3 clk IT (1) 0000100'; tail -n 50 t.tarmac; } >bad.tarmac
browser 80 24 bad.tarmac
shows 'row 0'
keys End !
shows '^line 51: '
keys Escape q
over 0
finish
