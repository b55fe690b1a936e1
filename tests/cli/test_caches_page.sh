# test_caches_page.sh - what docs/caches.md shows of a recorded program is what comes, and a fresh
# recording says the same of its matrix.
. "$TROD_SOURCE/tests/cli/lib.sh"
. "$TROD_SOURCE/tests/cli/typed.sh"

cp -r "$TROD_SOURCE/examples/walks/." .
sed -n '/^## A recorded program/,/^## Conf/p' "$TROD_SOURCE/docs/caches.md" >page
check test "$(grep -c '^\$ trod cache' page)" -ge 5
typed page

# 512 lines: one walk by rows, one by columns
matrix() {
    run trod cache --config small.conf --by data --top 0 --symbols "$1" --format json "$2"
    status 0
    json '[.by[] | select(.data == "grid")] == [{data: "grid", references: 8192, L1I: 0, L1D: 4608, L2: 512}]'
    json '.caches as $c | [.by[] | .references] | add == ($c[0].references + $c[1].references)'
    json '.caches as $c | [[.by[] | .L1I], [.by[] | .L1D], [.by[] | .L2]] | map(add) == [$c[].misses]'
    json '[.by[] | select(.data | test("heap")) | .references] == [400]'
}
matrix walks walks.d

# reuse distances of the same owners: 32 lines hold no column
owners() { # PER KEY OPTIONS...
    local per=$1
    shift
    run trod locality -q --refs data --per "$per" --size 2Ki --top 100000 --symbols walks --format json "$@" walks.d
    status 0
    json '([.owners[].references] | add) == .references'
    json '.miss_size as $s | ([.owners[].misses] | add) == (.miss_ratio_curve[] | select(.bytes == $s) | .misses)'
}
owners data --shared
json '[.owners[] | select(.data == "grid") | [.references, .misses]] == [[8192, 4608]]'
owners block --shared
json '[.owners[] | select(.block | test("64 bytes from make_list"))] | length == 100'
owners region --shared
json '[.owners[] | select(.region == "(heap)") | .references] == [400]'
owners module
json '[.owners[] | select(.module == "walks")] | length == 1'
owners source
owners function # and its return address
json '[.owners[] | select(.function == "by_columns") | .misses] == [4097]'
run trod locality --per data walks.d
status 2
err_has 'say --shared'
run trod locality --per data --shared --strides walks.d
status 2

# shares of what the first caches count, which is more than accesses where these cross lines
run trod cache --config small.conf --format json walks.d
json '(.caches[0].references + .caches[1].references) as $all | $all > .references and
      all(.caches[]; (.total_percent - .misses * 100 / $all | fabs) < 0.0006)'

# the second level alone, fed with what the first one misses, in every format that has sizes
run trod cache --config small.conf --format json walks.d
status 0
jq '.caches[2] | del(.mpki, .total_percent)' "$stdout" >want
for format in csv dinerox lackey drmemtrace tarmac; do
    run trod cache -q --config first.conf --misses "l1.$format" --to $format walks.d
    status 0
    run trod cache -q --config second.conf --format json "l1.$format"
    status 0
    jq '.caches[0] | del(.mpki, .total_percent)' "$stdout" >got
    same want got
done
for j in 2 4; do
    run trod cache -q -j $j --config first.conf --misses again.csv walks.d
    status 0
    check cmp again.csv l1.csv
done
run trod cache --like dinero --misses x.csv walks.d
status 2
run trod cache --sweep size=4K --misses x.csv walks.d
status 2
run trod cache --to csv walks.d
status 2
err_has 'format of --misses'
run trod cache --misses x.nothing walks.d
status 2
err_has 'no suffix of a format'
run trod cache --misses nowhere/x.csv walks.d
status 2
err_has nowhere/x.csv
if [[ -w /dev/full ]]; then
    run trod cache --misses /dev/full --to csv walks.d
    status 2
    err_has '/dev/full'
fi
for bad in 'writebacks 48' 'writebacks' 'writebacks 8G'; do
    printf 'cache L size=4K ways=1\n%s\n' "$bad" >bad.conf
    run trod cache --config bad.conf walks.d
    status 2
    err_has 'bad.conf.*2'
done

if command -v qemu-x86_64 >/dev/null && command -v cc >/dev/null && [[ $(uname -m) == x86_64 ]] && ! elsewhere &&
    cc -O1 -fno-pie -no-pie -o fresh walks.c 2>/dev/null; then
    run trod record -q --heap --start main -o fresh.d/ -- ./fresh
    if [[ $got == 0 ]]; then
        matrix fresh fresh.d
    fi
fi
finish
