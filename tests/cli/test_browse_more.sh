# test_browse_more.sh - trod browse: what is looked for, calls folded, two positions, two traces,
# several cpus, source, the index that is made meanwhile.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
"$TROD" browse x </dev/null 2>&1 | grep -q 'without ncursesw' && { echo "skipped: no ncursesw"; exit 77; }
. "$TROD_SOURCE/tests/cli/browser.sh"

{
    two_calls
    cat <<'END'
8 clk IT (8) 00001004 f9000001 O EL1h_n : STR x1,[x0]
8 clk MW8 00008000 00000000_00000011
9 clk E 00001008 00000005 CoreEvent_IRQ
10 clk IT (9) 00001008 f9000001 O EL1h_n : STR x1,[x0]
10 clk MW8 00008000 00000000_00000012
END
} >calls.tarmac
browser 80 24 calls.tarmac
shows 'indexed'
shows '^> +0 INSTR'
keys -
shows '^ +2 \[\+\] 0x1010: 8 rows, 6 instructions$'
keys Down Down
shows '^> +2 \[\+\] 0x1010'
keys Down
shows '^> +10 INSTR'
ask g 5 # into the fold, which opens
shows '^> +5 INSTR'
keys B
shows '^ +0 +0x1020 +called at 0x1014, row 3$'
shows '^ +1 +0x1010 +called at 0x1000, row 0$'
shows '^ +2 +0x1000 +since before row 0$'
keys Down Enter
shows '^> +0 INSTR'
ask g 6
keys -
shows '^> +5 \[\+\] 0x1020: 2 rows, 2 instructions$'
keys +
shows '^ +6 INSTR'
ask g 2
shows '^> +2 INSTR'
keys '{'
shows '1 call folded'
shows '^ +5 \[\+\] 0x1020'
shows '^ +7 INSTR'
keys '}'
shows '^ +6 INSTR'
keys Home '{'
shows '^ +2 \[\+\] 0x1010: 8 rows, 6 instructions$'
keys '}'
shows '^ +6 INSTR'
ask g 10
keys -
shows 'the cursor is in no call'

# expressions, writes, visits, exceptions: rows as trod find and trod who tell them
keys Home
ask / 'kind == WRITE && value == 0x12'
shows 'row 14 of 15'
keys f
shows 'not found after row 14'
ask / 'kind == INSTR && addr >= 0x1018'
shows 'not found after'
keys F
shows 'row 9 of 15' # 13 is 0x1008
keys F
shows 'row 7 of 15'
keys F F F
shows 'row 5 of 15'
keys F
shows 'not found before row 5'
ask / 'nonsense =='
shows '^> +5 '
keys e
shows 'row 12 of 15'
keys E
shows 'EXCEPTION: none before row 12'
ask W x30
shows 'row 8 of 15'
ask W lr
shows 'row 4 of 15'
ask w 0x8003
shows 'row 11 of 15'
ask w 0x8000..0x8fff
shows 'row 14 of 15'
ask w x30
shows 'writes of x30: none after row 14'
ask w rubbish
shows 'writes of rubbish: none after row 14'
ask P 0x1008
shows 'row 13 of 15'
keys n
shows 'executions of 0x1008: none after row 13'
keys Home n
shows 'executions of 0x1000: none after row 0'
ask p 0x1020
shows 'row 5 of 15'
ask g 14
shows 'registers at row 14'
keys Tab
shows '^\[\*\] registers'
keys Enter # of the first one, x30
shows 'row 8 of 15'
ask g end
ask M 0x8000
shows 'memory at 0x8000'
keys Tab Enter Tab
shows 'row 11 of 15'

# two positions
keys s End
shows 'registers at row 14'
keys d
shows '^ 0000000000008000 +11 +12$'
check grep -q '^ registers: at row 11, at row 14$' shown
keys Escape x
shows 'row 11 of 15'
shows '^@ +14 '
keys s
shows '^>@ ? *11 ' # the cursor is seen on that row as well
keys v v
shows 'instructions'
shows '^.{48}>0*1004  STR x1,\[x0\]$|>00001004  STR'
shows ' 00001000  BL 0x1010'
keys q
over 0

# several cpus
sed 'p; s/ clk \([IRM]\)/ clk cpu1 \1/' calls.tarmac | awk '{ if (!(/cpu1/)) sub(/ clk /, " clk cpu0 "); print }' >two.tarmac
browser 100 24 two.tarmac
shows '^> +0 '
n=$(trod info --format json two.tarmac | jq '.streams // .threads | length' 2>/dev/null)
keys c
shows 'only '
keys c
shows 'only '
keys c
shows 'all rows'
keys q
over 0

# two traces: one value changed, one row missing in the second, one inserted
sed -e 's/0000_00000012$/0000_00000013/' -e '5d' -e '8a 6 clk R X5 0000000000000007' calls.tarmac >other.tarmac
browser 110 24 calls.tarmac other.tarmac
shows '^ 3 differences'
shows '^> +0 INSTR.* 0 INSTR'
shows '^ +3 INSTR.* +3 INSTR'
keys ]
shows '^> +4 REG +X30 0000000000001018 +<$'
shows '^ +5 INSTR.* +4 INSTR'
keys ]
shows '^ +> +7 REG +X5 0*7$'
shows '^> +8 REG .* +8 REG '
keys ]
shows '^> +14 WRITE .*12 +\| +14 WRITE .*13$'
keys ]
shows 'no difference after row 14'
keys a
shows '^    calls.tarmac +\[\*\] other.tarmac'
shows '\| > +14 WRITE +00008000  0000000000000013'
keys -
shows 'side by side nothing is folded'
keys [
shows 'row 7 of 15'
keys z
shows '^ other.tarmac  tarmac'
keys q
over 0
browser 80 24 calls.tarmac calls.tarmac
shows '^ 0 differences: they are equal'
keys a ] q
over 0

# no index is made where none is wanted, or where it cannot be written; then all is as before
rm -f *.trodx
browser 80 24 --no-index calls.tarmac
shows '^> +0 INSTR'
keys End -
shows '^> +14 WRITE'
keys i I E q
over 0
check test ! -e calls.tarmac.trodx

# addresses only, and a directory
printf '0x1000 R\n0x1008 W\n0x2000 R\n' >addresses
browser 80 24 --from ramulator addresses
shows 'this format has addresses only, no registers'
keys e
shows 'EXCEPTION: none after row 0'
keys n
shows 'no instruction is near'
keys -
shows 'the cursor is in no call'
keys d
shows 'there is no second position'
keys q
over 0

# places by symbols, the source line of the cursor, instructions by address
. "$TROD_SOURCE/tests/cli/calls_model.sh"
if model_elf model.elf; then
    model 3 >model.tarmac
    mkdir sources && mv model.elf.s sources
    line=$(($(grep -n '^f:' sources/model.elf.s | cut -d: -f1) + 1))
    browser 110 30 --symbols model.elf --source sources model.tarmac
    ask g f:2
    row=$(trod find --format json model.tarmac 'kind == INSTR && addr == 0x1020' | jq -s '.[1].record // .[1].row')
    shows "^> +$row .*00001020"
    keys v
    shows "--- model.elf.s:$line\$"
    shows " > +$line +nopl"
    keys v
    shows '--- instructions at f$'
    shows '>00001020  STP x29,x30'
    keys q
    over 0
fi

# --where: the first row from --at on, then as f and F go on
browser 80 24 --where 'kind == INSTR && addr >= 0x1010' calls.tarmac
shows '^> +2 INSTR'
keys f
shows 'row 3 of 15'
keys F
shows 'row 2 of 15'
browser 80 24 --at 12 --where 'kind == WRITE' calls.tarmac
shows '^> +14 WRITE'
browser 80 24 --at 11 --where 'kind == WRITE' calls.tarmac # the place itself is one
shows '^> +11 WRITE'
browser 80 24 --where 'value == 999' calls.tarmac
shows 'not found from row 0: value == 999'
keys q
over 0
browser 80 24 --where 'valu == 999' calls.tarmac
over 2
check grep -q "'valu'" errors

# every key that ? shows is in the manual, and the other way round
browser 100 70 calls.tarmac
keys '?'
shows '^ keys'
shows 'Esc: back$' # all of it is there
screen | sed -n 's/^ .\{13\}\([a-z].*\)$/\1/p' | sort >help
sed -n '/^\.Sh KEYS/,/^\.El/p' "$TROD_SOURCE/docs/man/trod-browse.1" | grep '^[A-Z].*\.$' |
    sed 's/\.$//; s/^./\L&/' | sort >man
check test "$(wc -l <help)" -gt 30
same man help
keys q q
over 0

# Registers that panes have no room for: r shows all digits and flags, Enter goes to the write; d tells what only
# one of the positions knows, and wide values that differ in their low digits alone.
low=0123456789abcdeffedcba9876543210
cat >wide.tarmac <<EOF
1 clk IT (1) 00001000 91000400 O EL1h_n : ADD x0,x0,#1
1 clk R V0 ${low}
2 clk R cpsr 600003c5
3 clk R z1 ${low}${low}${low}${low}
4 clk R V0 ${low%0}8
5 clk R SP_EL1 0000000000001000
6 clk R X0 0000000000000001
EOF
browser 80 24 wide.tarmac
shows 'row 0 of 7'
ask g 1
shows 'registers at row 1'
keys s End
shows 'registers at row 6'
keys d
shows "^ v0 +$low\$"
shows "^ {12}${low%0}8\$"
shows '^ sp_el1 +unknown +0000000000001000$'
keys Escape
keys x
shows 'registers at row 1'
keys d
shows "^ v0 +${low%0}8\$"
shows '^ sp_el1 +0000000000001000 +unknown$'
keys Escape
keys s d
shows '^ nothing differs$'
keys Escape End r
shows '^.cpsr +2  600003c5  nZCv DAIF EL1h$'
shows "^.v0 +4  ${low%0}8\$"
shows '^.sp_el1 +5  0000000000001000$'
keys Down Enter
shows '^>  +2 REG +cpsr'
# what is too long to be told says how long it is
printf '7 clk R ZA %02096d\n' 7 >>wide.tarmac
keys q
over 0
browser 80 24 wide.tarmac
ask g end
keys r
shows '^.za +7  1048 bytes: \.\.0{20}'
keys Escape
# what is told is told whole
ask g nonsense
shows "^the trace has no place 'nonsense': it is no place, and no symbols are given\$"
keys Home Down
shows 'row 1 of 8'
# a bookmark does not hide the cursor
ask m here
shows "^>' ? *1 "
keys q
over 0
finish
