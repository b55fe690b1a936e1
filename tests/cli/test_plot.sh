# test_plot.sh - charts in the terminal: --plot of the analyses, their width, ASCII where the locale is not
# UTF-8.
. "$TROD_SOURCE/tests/cli/lib.sh"
examples=$TROD_SOURCE/examples
utf8() {
    LC_ALL=C.UTF-8 "$@"
}

# 28 of 50 instructions are integer, 9 are loads (examples/sum.c)
run trod mix --plot "$examples/sum.trace.zip"
status 0
out_has '^instructions by category$'
out_has '^  integer +56.00 #+$'
out_has '^  load +18.00 #+$'
out_not '[^ -~]'
check test "$(wc -L <"$stdout")" -le 80
longest=$(sed -n 's/^  integer .* \(#*\)$/\1/p' "$stdout")
third=$(sed -n 's/^  load  .* \(#*\)$/\1/p' "$stdout")
check test "$(((${#longest} * 18 + 28) / 56))" = "${#third}"
run utf8 trod mix --plot "$examples/sum.trace.zip"
out_has '^  integer +56.00 (█)+$'
COLUMNS=60 run utf8 trod mix --plot "$examples/sum.trace.zip"
check test "$(LC_ALL=C.UTF-8 wc -L <"$stdout")" -le 60
run trod mix --plot --format json "$examples/sum.trace.zip"
out_has '"mnemonics"'

run trod run mix,hot,branches --plot "$examples/sum.trace.zip"
status 0
out_has '^hottest basic blocks$'
out_has '^  0x401013 +64.00 #+$'
out_has '^branches by kind$'
run trod phases --list --interval 10 --plot "$examples/sum.trace.zip"
status 0
out_has '^  misses, at most [0-9]+$'
out_has '^  from left to right: interval 0 to 4$'
run trod mix --interval 10 --plot "$examples/sum.trace.zip"
out_has '^  instructions, 10 everywhere$'
out_has '^  kernel, 0 everywhere$'
run trod functions --plot "$examples/sum.trace.zip"
status 0
err_has 'nothing of this result can be drawn'
check test ! -s "$stdout"

# the charts that analyses have of their own
run trod locality --plot "$examples/sum.trace.zip"
status 0
out_not '[^ -~]'
run utf8 trod locality --plot "$examples/sum.trace.zip"
check grep -q "$(printf '\342\240')" "$stdout"
run trod locality --plot --width 60 "$examples/sum.trace.zip"
check test "$(wc -L <"$stdout")" -le 60
run trod cache --sweep size=64..1K,ways=1..2 --plot "$examples/sum.trace.zip"
status 0
out_not '[^ -~]'
finish
