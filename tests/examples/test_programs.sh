# test_programs.sh - the programs of examples/programs say what `trod view`, jq and awk make of the
# same traces.
. "$TROD_SOURCE/tests/cli/lib.sh"
: "${TROD_PROGRAMS:?}"
command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }
examples=$TROD_SOURCE/examples

for file in hello.tarmac mips.trace boot.byu12 sum.full.gz sum.tt6 sum.trace.zip; do
    # loads by page, from the listing's rows
    trod view --format json "$examples/$file" 2>/dev/null |
        jq -r 'select(.kind == "READ" and .address) | .address | .[:-3] + "000"' |
        while read -r page; do printf '0x%x\n' "$page"; done | sort | uniq -c |
        awk '{ print $2, $1 }' | sort >want
    run "$TROD_PROGRAMS/loads_by_page" "$examples/$file"
    status 0
    sort "$stdout" >got
    same want got
    check awk 'NR > 1 && $2 > last { exit 1 } { last = $2 }' "$stdout"

    # the stores are those that the command writes; in TT6 and FULL they are nothing without their
    # instructions
    out=out.${file#*.}
    run "$TROD_PROGRAMS/stores_only" "$examples/$file" "$out"
    status 0
    trod convert --allow-loss --kind WRITE,ATOMIC "$examples/$file" "want.${file#*.}" 2>/dev/null
    check cmp "$out" "want.${file#*.}"
    [[ $file != sum.full.gz && $file != sum.tt6 ]] || continue
    for which in "$examples/$file" "$out"; do
        trod view --format json --kind WRITE,ATOMIC "$which" 2>/dev/null |
            jq -c '[.kind, .address, .size]' >"got.$([[ $which == "$out" ]] || echo want)"
    done
    same got.want got.
done

# two analyses in one pass
for file in hello.tarmac sum.full.gz sum.trace.zip; do
    run "$TROD_PROGRAMS/busy_caches" "$examples/$file"
    status 0
    {
        trod count --format json "$examples/$file" |
            jq -r '"instructions \(.total.fetched_instructions)"'
        trod cache --format json "$examples/$file" |
            jq -r '.caches[] | "\(.cache) \(.references) \(.misses)"'
    } >want
    out_is want
done

# what cannot be read, and what is damaged
for program in loads_by_page busy_caches; do
    run "$TROD_PROGRAMS/$program" nowhere.tarmac
    status 2
    err_has nowhere.tarmac
    run "$TROD_PROGRAMS/$program"
    status 2
done
run "$TROD_PROGRAMS/stores_only" nowhere.tarmac x.tarmac
status 2
check test ! -e x.tarmac
cp "$examples/hello.tarmac" same.tarmac # the library itself writes over nothing that it reads
run "$TROD_PROGRAMS/stores_only" same.tarmac same.tarmac
status 2
err_has "'same.tarmac' is input and output at once"
check cmp "$examples/hello.tarmac" same.tarmac
sed 's/X1 00000000000/X1 0000000g000/' "$examples/hello.tarmac" >damaged.tarmac
run "$TROD_PROGRAMS/loads_by_page" damaged.tarmac
status 2
err_has "not a digit"
out <<<"0x6000 1"
finish
