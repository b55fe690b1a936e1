# test_width.sh - what commands print fits the terminal: tables and fields are folded to 80 columns, nothing
# is left out, and where standard output is no terminal nothing is folded.
# label: slow
. "$TROD_SOURCE/tests/cli/lib.sh"
have script jq

# on WIDTH COMMAND...: what it prints on a terminal of so many columns
on() {
    TERM=xterm TROD_PAGER= timeout 60 script -qec "stty cols $1 rows 24; ${*:2} 2>/dev/null" /dev/null </dev/null |
        tr -d '\r' | sed 's/\x1b\[[0-9;]*[mK]//g'
}
[ "$(on 80 'test -t 1 && echo yes')" = yes ] || { echo "skipped: no terminals here"; exit 77; }

examples=$TROD_SOURCE/examples
cp "$examples"/{hello.tarmac,mips.trace,boot.byu6,boot.byu12,sum.tt6,records.tt6e,sum.full.gz,sum.trace.zip} .
traces=(*.tarmac *.trace *.byu6 *.byu12 *.tt6 *.tt6e *.gz *.zip)
[[ ${#traces[@]} == 8 ]] || { echo "not every example is there"; exit 1; }

# fits COMMAND...: no line is longer than 80 columns, and all words that a pipe gets are there
fits() {
    last=$*
    checks=$((checks + 2))
    on 80 "'$TROD' $*" >folded
    awk 'length($0) > 80 { print length($0) ": " $0 }' folded >long
    [[ ! -s long ]] || wrong <long
    "$TROD" "$@" 2>/dev/null | tr -s ' |,;:' '\n' | sort -u >words
    tr -s ' |,;:' '\n' <folded | sort -u | comm -23 words - >lost
    [[ -s words && ! -s lost ]] || { echo "words that are not there:"; head -20 lost; } | wrong
}

# every analysis of every example that has what it needs
mapfile -t analyses < <(trod run --list --format json | jq -r '.analyses[].name')
[[ ${#analyses[@]} -gt 4 ]] || { echo "no list of analyses"; exit 1; }
for trace in "${traces[@]}"; do
    fits info "$trace"
    for analysis in "${analyses[@]}"; do
        "$TROD" "$analysis" "$trace" >all 2>&1 || [[ $? == 1 ]] || continue # columns that it lacks
        fits "$analysis" "$trace"
    done
done
fits sync sum.tt6
fits sync records.tt6e
fits formats
for format in tarmac matcher byu6 byu12 drmemtrace tt6 tt6e full; do
    fits formats "$format"
done
fits check --rules
fits compare hello.tarmac hello.tarmac
fits run count,mix sum.trace.zip
fits count --detail wide sum.trace.zip
mapfile -t commands < <(trod --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\)  .*/\1/p')
[[ ${#commands[@]} -gt 14 ]] || { echo "no list of commands"; exit 1; }
for command in "${commands[@]}"; do
    fits "$command" --help
done

# a wide terminal has the whole table in one block, a pipe always
run on 1200 "'$TROD' count --detail wide sum.trace.zip"
out_has 'thread +tid +pid +file .* unique_data_lines$'
run trod count --detail wide sum.trace.zip
out_has 'thread +tid +pid +file .* unique_data_lines$'
run on 80 "'$TROD' count --detail wide sum.trace.zip"
out_not 'thread +tid +pid +file .* unique_data_lines$'
run env COLUMNS=80 "$TROD" check --rules
out_has 'tarmac.translation  *warning .*  *TarmacTrace, common address definition$'

# a file is not folded
run on 80 "'$TROD' count --detail wide -o wide.txt sum.trace.zip"
check grep -E 'thread +tid .* unique_data_lines$' wide.txt

# digits are grouped for people only
yes '1 clk cpu0 R X0 0000000000000001' | head -n 12345 >many.tarmac
run trod info many.tarmac
out_has '^  rows: +12,345$'
out_has '^  file bytes: +[0-9]+,[0-9]{3} bytes \([0-9.]+ KiB\)$'
out_has '^    REG +12,345 '
run trod count many.tarmac
out_has '^  rows: +12,345$'
run trod count --format json many.tarmac
json '.total.rows == 12345'
run trod info --format csv many.tarmac
out_has 'rows,12345$'
finish
