# test_browse_panes.sh - trod browse: panes that are scrolled, held and chosen from, changes of what they show, words
# that questions go on with, calls folded all over the trace, traces that grow side by side, other terminals.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
"$TROD" browse x </dev/null 2>&1 | grep -q 'without ncursesw' && { echo "skipped: no ncursesw"; exit 77; }
. "$TROD_SOURCE/tests/cli/browser.sh"

# each row of X0 and of 0x8004 is known: X0 is 1, 1, 2, 2, 3; the byte 0x11, 0x11, 0x12
cat >t.tarmac <<'END'
1 clk R X0 0000000000000001
1 clk R X1 0000000000008000
1 clk IT (1) 00001000 91000400 O EL1h_n : ADD x0,x0,#1
2 clk MW4 00008004 00000011
3 clk R X0 0000000000000001
4 clk R X0 0000000000000002
5 clk MW4 00008004 00000011
6 clk R X0 0000000000000002
7 clk MR4 00008004 00000011
8 clk MW1 00008004 12
9 clk R X0 0000000000000003
10 clk MW4 00009010 00000077
END

browser 80 24 t.tarmac
shows 'registers at row 0'
# changes of a register, of a byte
keys Tab ]
shows '^> +5 REG +X0 0*2$'
keys ]
shows '^> +10 REG +X0 0*3$'
keys ]
shows 'x0: the value is the same in all rows after row 10'
keys [
shows '^> +5 REG'
keys [
shows '^> +0 REG'
ask g 3
ask M 0x8000+1*4 # an address that is computed
shows '--- memory at 0x8000\+1\*4'
keys Tab Right Right Right Right
shows '\[\*\] memory'
keys ]
shows '^> +9 WRITE +00008004  12'
keys [
shows '^> +3 WRITE'

# two bytes together: the low one of them is another from row 9 on
keys 2 ']'
shows '^> +9 WRITE +00008004  12'
keys Right Enter
shows '^> +6 WRITE'
keys A
shows ': 0x8004..0x8005$'
keys Escape 1 '['
shows '^> +3 WRITE'
keys Left
ask g 3
shows 'registers at row 3'

# who writes and reads it
keys A Enter
shows '^ +3  write 0x8004 11 +by 0x1000$'
check grep -q '^ *8  read  0x8004 11' shown
check grep -q '^ *9  write 0x8004 12' shown
keys Down Down Enter
shows '^> +8 READ'
keys U Enter # the one that is chosen
shows 'reads of 0x8004: none before row 8'
keys w C-u
keys -l '0x8000+4..0x8000+7'
keys Enter
shows '^> +9 WRITE'

# the pane scrolls, and stays where it is
shows 'memory at 0x8000\+1\*4$'
keys NPage
shows '^.{48}00008048 '
shows 'memory at 0x8000\+1\*4 \+0x48'
keys PPage
shows '^.{48}00008000 .*12'
keys Up
shows '^.{48}00007ff8 '
mouse() { # BUTTON X Y
    keys -l "$(printf "\\033[M\\$(printf %o $((32 + $1)))\\$(printf %o $((33 + $2)))\\$(printf %o $((33 + $3)))")"
}
mouse 65 60 18
shows '^.{48}00008010 '
shows 'row 9( |$)' # the rows have not moved
keys M Enter
ask g 9
shows 'memory of the last access'
keys PPage # it follows no more
shows 'memory at 0x8000 -0x48'
ask M x1
shows 'memory at x1$'
shows '^.{48}00008000 '

# held: as it is here, what differs at the cursor is marked
keys L
shows 'memory at x1, held at row 9'
keys Home
shows '^.{48}00008000 .*\*12'
keys L
shows 'memory: as at the cursor'
shows '^.{48}00008000 .* -- '
keys Tab Tab L
shows 'registers held at row 0 '
keys End
shows 'row 11 of 12'
shows '^x0 +\*0*1 '
keys v v v
shows 'registers at row 11'
shows '^.{48}x0 +\*0*3( |$)'
keys L
shows '^--- registers at row 11 |\[\*\] registers at row 11 '
keys Tab Tab
# beside those at the second position
ask g 0
keys s End
shows 'row 11 of 12'
shows '^x0 +\*0*3 .*x0 +\*0*1'
shows 'registers at row 11 .*registers at row 0'

# the registers that the pane shows
ask R 'w0 x1-x2'
shows '^w0 +\*0*3 +x1 +\*0*8000 '
shows '^x2 +(unknown|-+) '
keys R C-u Enter
shows '^x0 +\*0*3 .*x1 '
ask R 'x1*'
shows '^x1 +\*0*8000( |$)'
check grep -vq '^x0' shown
keys R C-u Enter

# what differs: Enter goes there
keys v d
shows '^ memory: at row 0, at row 11'
check grep -q '^ 0000000000008004  -- ' shown
keys End Enter
shows '\[\*\] memory at 0x9010'
keys Tab d Down Enter
shows '^> +10 REG +X0'

# Tab goes on with words: places, names of expressions and kinds, registers
keys g
keys -l 'kind:wr'
keys Tab
shows 'kind:WRITE$'
keys Enter
shows '^> +3 WRITE'
keys M
keys -l '4+x'
keys Tab # more than one
shows '^ words to go on with'
shows '^ ?x0$'
keys Down Enter
shows ': 4\+x1$'
keys BSpace Tab Escape # nothing is chosen
shows ': 4\+x$'
keys Escape
keys /
keys -l 'kind == excep'
keys Tab
shows 'kind == EXCEPTION$'
keys Escape

keys q
over 0

# ---- calls: rows 2 to 9 are one of 0x1010, in which rows 5 and 6 are one of 0x1020; then 0x1020 again
{
    two_calls
    cat <<'END'
8 clk IT (8) 00001004 94000007 O EL1h_n : BL 0x1020
8 clk R X30 0000000000001008
9 clk IT (9) 00001020 d503201f O EL1h_n : NOP
10 clk IT (10) 00001024 d65f03c0 O EL1h_n : RET
11 clk IT (11) 00001008 d503201f O EL1h_n : NOP
END
} >calls.tarmac
for how in --no-index --quiet; do
    browser 80 30 $how calls.tarmac
    [[ $how == --no-index ]] || shows indexed
    ask g 5
    keys v v v v
    if [[ $how == --no-index ]]; then
        shows 'not without an index'
    else
        shows 'calls, 2 deep'
        shows '^.{48}  0 0x1020, row 3$'
        shows '^.{48}  2 0x1000$'
    fi
    keys v Home
    shows 'registers at row 0'
    ask D 0
    shows '2 calls folded'
    shows '^ +2 \[\+\] 0x1010: 8 rows, 6 instructions$'
    shows '^ +12 \[\+\] 0x1020: 2 rows, 2 instructions$'
    ask D 1
    shows '1 call folded'
    shows '^ +2 INSTR'
    shows '^ +5 \[\+\] 0x1020: 2 rows'
    shows '^ +12 INSTR' # the ones before are unfolded
    ask D 7
    shows 'no call is made at depth 7'
    ask D x
    shows "'x' is no depth"
    ask g 13
    keys C # the function at the cursor
    shows '0x1020$'
    keys Enter
    shows '2 calls folded'
    shows '^ +5 \[\+\] 0x1020: 2 rows'
    shows '^> +12 \[\+\] 0x1020: 2 rows'
    ask g 3
    keys '*' # within 0x1010 only
    shows '^ +6 INSTR'
    shows '^ +12 \[\+\] 0x1020'
    keys '}'
    shows '^ +13 INSTR'
    keys q
    over 0
done

# ---- where branches lead, which execution it is
. "$TROD_SOURCE/tests/cli/calls_model.sh"
if model_elf model.elf; then
    model 3 >model.tarmac
    browser 140 30 --symbols model.elf model.tarmac
    shows indexed
    ask p f
    shows 'execution 1 of 3 of 0x1020'
    keys n
    shows 'execution 2 of 3 of 0x1020'
    keys Home
    shows '<f>'
    keys g
    keys -l ne
    keys Tab
    shows ': never$'
    keys C-u
    keys -l f
    keys Enter
    shows 'row 2 of '
    keys Home
    keys C
    keys C-u
    keys -l f
    keys Enter
    shows '3 calls folded'
    shows '\[\+\] f: '
    keys q
    over 0
fi

# ---- traces that grow, side by side
for i in $(seq 0 11); do printf '%d clk R X0 %016x\n' "$i" "$((i + 16))"; done >one
sed '4s/.$/f/; 10s/.$/f/' one >two
head -n 6 one >one.tarmac
head -n 6 two >two.tarmac
browser 100 24 --no-index one.tarmac two.tarmac
shows '^ 1 difference '
keys End
shows '^> +5 REG .*15 +5 REG .*15$'
tail -n +7 one >>one.tarmac
tail -n +7 two >>two.tarmac
keys Down
shows '^> +6 REG .* 6 REG'
shows '^ 2 differences'
keys ]
shows '^> +9 REG .*19 +\| +9 REG .*1f$'
keys a End
shows '11 REG .*> +11 REG'
keys q
over 0

# T stays at the end
head -n 6 t.tarmac >grows.tarmac
browser 80 24 grows.tarmac
shows '^> +0 REG'
keys T
shows '^> +5 REG'
tail -n +7 t.tarmac | head -n 3 >>grows.tarmac
shows '^> +8 READ'
tail -n +10 t.tarmac >>grows.tarmac
shows '^> +11 WRITE'
keys Up
shows '^> +10 REG'
keys !
shows '^the end is followed'
check test "$(grep -c 'has grown' shown)" = 0 # that is what it is followed for
keys Escape
printf '11 clk R X0 0000000000000004\n' >>grows.tarmac
sleep 0.5
screen >shown
check grep -q -E '^> +10 REG' shown
check test -z "$(grep ' 12 REG' shown)"
keys q
over 0

# ---- terminals without colours, without much at all; a size that changes in a question and in a list
for term in vt100 vt220; do
    environment='NO_COLOR=1' browser 80 24 t.tarmac
    shows '^> +0 REG'
    keys End
    shows '^> +11 WRITE'
    in_tmux resize-window -x 60 -y 14
    shows '^--- registers at row 11'
    keys g
    in_tmux resize-window -x 70 -y 20
    keys -l 3
    keys Enter
    shows '^> +3 WRITE'
    keys '?'
    shows '^ keys'
    in_tmux resize-window -x 50 -y 12
    keys Escape
    shows '^> +3 WRITE'
    in_tmux resize-window -x 10 -y 3
    shows '^too small'
    keys Down Tab ]
    in_tmux resize-window -x 80 -y 24
    shows '^--- |^\[\*\] registers at row'
    keys q
    over 0
done
# the mouse, as terminals of today send it
term=xterm-256color browser 80 24 t.tarmac
shows '^> +0 REG'
keys -l $'\033[<0;6;7M\033[<0;6;7m'
shows '^> +4 REG'
keys -l $'\033[<65;6;7M'
shows '^> +7 REG'
keys -l $'\033[<0;30;15M\033[<0;30;15m'
shows '^\[\*\] registers at row 7'
keys '['
shows '^> +1 REG +X1' # the one that was chosen
keys q
over 0
finish
