# test_without_pc.sh - functions are removed from a trace by their addresses (acid's -y, -z).
. "$TROD_SOURCE/tests/cli/lib.sh"

# A PowerPC trace: two instructions at 0x1000, a call of 0x2000, two there, back, one more.
printf '\0\0\20\0\140\0\0\0\110\0\17\375\0\0\40\0\140\0\0\0\116\200\0\40\0\0\20\10\140\0\0\0' >t.tt6
run trod convert --from tt6 t.tt6 all.tt6 --to tt6
status 0
same t.tt6 all.tt6
run trod view --from tt6 t.tt6 --kind INSTR --without-pc 0x2000..0x2fff --format json
status 0
check test "$(jq -r .address "$stdout" | tr '\n' ' ')" = '0x1000 0x1004 0x1008 '
run trod convert --from tt6 t.tt6 less.tt6 --to tt6 --without-pc 0x2000..0x2fff
status 0
# what is left chains: the call goes on where it returned to, through a joining branch
run trod check --from tt6 less.tt6 --only amber.
status 0
run trod view --from tt6 t.tt6 --without-pc nonsense
status 2
check grep -q 'without-pc' "$stderr"
finish
