# test_plugin.sh - the plug-ins of examples/plugins are built as docs/adding-an-analysis.md says and
# give the numbers that the records themselves give, for every -j.
. "$TROD_SOURCE/tests/cli/lib.sh"
elsewhere && [[ -z ${CXX:-} ]] && { echo "skipped: no C++ compiler for that machine"; exit 77; }
have cc c++ jq
doc=$TROD_SOURCE/docs/adding-an-analysis.md examples=$TROD_SOURCE/examples

# block MARK: the text between the fences below <!-- MARK -->
block() {
    awk -v mark="<!-- $1 -->" '
        $0 == mark { there = 1; next }
        there && /^```/ { if (inside) exit; inside = 1; next }
        inside' "$doc"
}

# the page shows the example, whole
{ block "file: src/analysis/sizes.c"; echo; block "plug-in: examples/plugins/sizes.c"; } >want
last="the page and the example"
same want "$examples/plugins/sizes.c"

flags=(-Wall -Wextra -Werror -fPIC -shared -I "$TROD_SOURCE/include")
check "${CC:-cc}" -std=c11 -Wpedantic "${flags[@]}" -o sizes.so "$examples/plugins/sizes.c"
check "${CXX:-c++}" -std=c++17 "${flags[@]}" -o ran.so "$examples/plugins/ran.cc"

# as the page says: without a slash the file is in this folder
run trod run --plugin sizes.so --list
status 0
out_has '^ *sizes +data accesses by size$'
run trod run --plugin sizes.so sizes "$examples/hello.tarmac"
status 0
block "output: trod sizes examples/hello.tarmac" >want
out_is want
# parts of one file in several processes
check trod convert -q --allow-loss --to drmemtrace:chunk=50 "$examples/sum.full.gz" parts.zip
run trod run --plugin sizes.so sizes,count parts.zip
cp "$stdout" want
for i in 0 1 2; do
    run trod run --plugin sizes.so --part $i/3 --save state.$i sizes,count parts.zip
    status 0
done
run trod merge --plugin sizes.so state.0 state.1 state.2
status 0
out_is want

# the slow way: every record, as trod view says it
for file in hello.tarmac sum.trace.zip sum.full.gz boot.byu12; do
    trod view --format json "$examples/$file" 2>/dev/null | jq -s -c '
        [.[] | select(.size and (.kind | . == "READ" or . == "WRITE" or . == "ATOMIC"))]
        | group_by([.size, 64] | min) | map({size: ([.[0].size, 64] | min),
            reads: map(select(.kind != "WRITE")) | length,
            writes: map(select(.kind != "READ")) | length})' >want
    for jobs in 1 4; do
        trod run --plugin ./sizes.so -j $jobs --format json sizes "$examples/$file" | jq -c .sizes >got
        last="sizes of $file"
        same want got
    done
    trod view --format json "$examples/$file" 2>/dev/null | jq -s -c '
        [.[] | select(.kind == "INSTR" and .opcode)] | group_by([.pc, .opcode])
        | map({pc: .[0].pc, executions: length}) | sort_by(.pc)' >want
    [[ $file == boot.byu12 ]] && continue # it has no instructions
    for jobs in 1 4; do
        trod run --plugin ./ran.so -j $jobs --format json ran "$examples/$file" >ran.$jobs
        jq -c '.instructions | map({pc, executions}) | sort_by(.pc)' ran.$jobs >got
        last="executions of $file"
        same want got
        same ran.1 ran.$jobs
    done
    check jq -e '.instructions | [.[].executions] | . == (sort | reverse)' ran.1
done
run trod run --plugin ./ran.so --format json ran "$examples/hello.tarmac"
json '.instructions[0].instruction | startswith("mov")'
# by module, function and line: the sum is that of the instructions, the owners those of trod hot
for by in module function line; do
    for jobs in 1 3; do
        run trod run --plugin ./ran.so -j $jobs --by $by --format json ran "$examples/sum.trace.zip"
        status 0
        json '([.owners[].executions] | add) == ([.instructions[].executions] | add) and
            ([.owners[].executions] | . == (sort | reverse))'
    done
    trod count --by $by --format json "$examples/sum.trace.zip" | jq -c --arg by ${by/line/source} \
        '[.owners[] | {(.[$by]): .instructions}] | add' >want
    jq -c --arg by ${by/line/source} '[.owners[] | {(.[$by]): .executions}] | add' "$stdout" >got
    same want got
done
run trod run --plugin ./sizes.so --by function sizes "$examples/hello.tarmac"
status 2
err_has "analysis 'sizes' has no results by function"
run trod run --plugin ./ran.so,./sizes.so --format json ran,sizes "$examples/sum.trace.zip"
status 0
json '.ran.instructions and .sizes.sizes'

# damaged and empty traces, and what is no plug-in
head -c 300 "$examples/hello.tarmac" >cut.tarmac
run trod run --plugin ./sizes.so sizes cut.tarmac
check test "$got" -le 2
: >empty.tarmac
run trod run --plugin ./sizes.so sizes empty.tarmac --from tarmac
check test "$got" -le 2
run trod run --plugin ./nowhere.so sizes "$examples/hello.tarmac"
status 2
err_has "plug-in './nowhere.so' cannot be loaded"
run trod run --plugin ./sizes.so,./sizes.so sizes "$examples/hello.tarmac"
status 2
err_has "there is an analysis called 'sizes' already"
sed 's/= TROD_PLUGIN_INTERFACE/= TROD_PLUGIN_INTERFACE + 1/' "$examples/plugins/sizes.c" >other.c
check "${CC:-cc}" -std=c11 "${flags[@]}" -o other.so other.c
run trod run --plugin ./other.so sizes "$examples/hello.tarmac"
status 2
err_has "plug-in './other.so' was built for version [0-9]+ of the interface, this trod has version [0-9]+: build it again"

# broken FROM TO MESSAGE: the plug-in whose source has TO instead of FROM is refused
broken() {
    sed "s/$1/$2/" "$examples/plugins/sizes.c" >broken.c
    check "${CC:-cc}" -std=c11 -fPIC -shared -I "$TROD_SOURCE/include" -o broken.so broken.c
    run trod run --plugin broken.so sizes "$examples/hello.tarmac"
    status 2
    err_has "$3"
    out </dev/null
}
broken '.*TROD_PLUGIN_INTERFACE;' '' "'broken.so' is no plug-in: it does not define trod_plugin_interface"
broken 'trod_plugin_analyses' 'others' "'broken.so' is no plug-in: it does not define trod_plugin_analyses"
broken '\.name = "sizes",' '' "plug-in 'broken.so': analysis '' has no name"
broken '"sizes",' '"a,b",' "analysis 'a,b' needs another name, without any of \":,=/\" and without blanks"
for member in title init feed result; do
    broken "^    \\.$member = .*" '' "plug-in 'broken.so': analysis 'sizes' has no $member"
done
broken '^    \.load = .*' '' "analysis 'sizes' has no save and load, or neither"

# what it does, and its options
run trod run --plugin sizes.so --list sizes
status 0
out_has '^sizes: data accesses by size$'
out_has '^Counts reads and writes by the number of bytes they touch'
out_has '^It has no options\.$'
run trod run --list count,sizes
status 2
err_has "no analysis is called 'sizes'"
run trod run --list count
status 0
out_has '^  footprint='
run trod run count:footprint=x,sync "$examples/hello.tarmac"
status 2
err_has "analysis 'count': option 'footprint': 'x' is not one of"
finish
