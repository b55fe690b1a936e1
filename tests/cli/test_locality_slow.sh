# test_locality_slow.sh - every number of `trod locality` against lists, and samples against the same lines weighed one by one.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3

export PYTHONDONTWRITEBYTECODE=1
slow() { check python3 "$TROD_SOURCE/tests/cli/$1" "$TROD" "${@:2}"; }
slow locality_slow.py 0 "$(fewer 40 10)"
slow locality_slow.py 289 290 # lines of one byte, and the last byte of the address space
slow locality_slow.py 295 296 # references that go on at address 0
slow locality_slow_sample.py 0 "$(fewer 40 10)"

# a single reference that comes again, and none: as the tool prints them
printf 'kind,addr,size\nREAD,0x40,4\nREAD,0x1040,4\nREAD,0x2040,4\nREAD,0x40,4\n' >one.csv
run trod locality --like reuse_distance one.csv
status 0
out_has '^Reuse distance median: 2$'
# as many lines as --top says
run trod locality --like reuse_distance --top 2 one.csv
status 0
out_has '^Top 2 frequently referenced cache lines$'
out_has '^Top 2 distant repeatedly referenced cache lines$'
check test "$(grep -c '^ *0x' "$stdout")" -eq 4
head -4 one.csv >none.csv
run trod locality --like reuse_distance none.csv
status 0
out_has '^Reuse distance mean: -nan$'
out_not '^Reuse distance median'
out_has '^Reuse distance standard deviation: -nan$'

# a warm-up is not counted in a sample, either: all lines are known behind it
awk 'BEGIN { print "kind,addr,size"; for (i = 0; i < 4000; i++) printf "READ,%d,1\n", i % 1000 * 64 }' >warm.csv
run trod locality -q --shared --sample 2 --warmup 1000:rows --interval 1000:rows --size 1Mi --format json warm.csv
status 0
json '[.intervals[] | [.references, .cold, .misses]] == [[1000, 0, 0], [1000, 0, 0], [1000, 0, 0]]'

# nor has an interval of a sample more misses than references
run trod locality -q --shared --sample 30 --interval 100:rows --size 64 --format json warm.csv
status 0
json '[.intervals[] | select(.misses > .references)] == []'
finish
