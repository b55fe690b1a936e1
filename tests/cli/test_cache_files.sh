# test_cache_files.sh - trod cache: the files that it reads and writes are different ones, and configurations are files.
. "$TROD_SOURCE/tests/cli/lib.sh"

awk 'BEGIN { print "kind,pc,addr,size"; for (; i < 600; i++) print "READ," 4096 + i % 7 "," i * 37 % 400 * 64 ",8" }' >t.csv
printf 'cache L1 size=1K\n' >own.conf
mkdir dir
cp t.csv dir/a.csv
cp t.csv dir/b.csv
ln -s t.csv link.csv
ln t.csv hard.csv
cp "$TROD" program

# refused MESSAGE OPTIONS...: and nothing that was there is another file now
refused() {
    local want=$1 before
    shift
    before=$(cksum ./*.c* dir/* program)
    run trod cache "$@"
    status 2
    err_has "$want"
    check test "$(cksum ./*.c* dir/* program)" = "$before"
}
at_once='is input and output at once'

# misses of the last level
for out in t.csv ./t.csv "$PWD/t.csv" link.csv hard.csv dir/../t.csv; do
    refused "'$out' $at_once" --misses "$out" t.csv
done
refused "'dir/b.csv' $at_once" --misses dir/b.csv dir
refused "'own.conf' $at_once" --config own.conf --misses own.conf -T csv t.csv
refused "'program' $at_once" --misses program -T csv --by function --symbols program t.csv
refused "'program' $at_once" --misses program -T csv --by function --symbols program@0x1000 t.csv
refused "--misses and the result both go to 'm.csv'" --misses m.csv -o ./m.csv t.csv
check test ! -e m.csv
run trod cache --misses dir/c.csv -o result.txt t.csv
status 0
check test -s dir/c.csv
rm dir/c.csv

# those of DynamoRIO's simulator
like() {
    printf '%s\n' --like drcachesim --with "-no_core_sharded -cores 1 $1"
}
mapfile -t options < <(like '-LL_miss_file link.csv')
refused "'link.csv' $at_once" "${options[@]}" t.csv
mapfile -t options < <(like '-LL_miss_file dir/b.csv')
refused "'dir/b.csv' $at_once" "${options[@]}" dir
mapfile -t options < <(like '-simulator_type miss_analyzer -LL_miss_file t.csv')
refused "'t.csv' $at_once" "${options[@]}" t.csv
mapfile -t options < <(like '-LL_miss_file same.txt')
refused "misses and the result both go to 'same.txt'" "${options[@]}" -o ./same.txt t.csv
check test ! -e same.txt
caches() {
    printf '%s\n' 'num_cores 1' "L1I { type instruction core 0 size 1K assoc 2 parent LL $1 }" \
        "L1D { type data core 0 size 1K assoc 2 parent LL $2 }" "LL { size 4K assoc 2 $3 }"
}
mapfile -t options < <(like '-config_file m.conf')
caches '' '' 'miss_file m.conf' >m.conf
refused "'m.conf' $at_once" "${options[@]}" t.csv
caches '' 'miss_file m.txt' 'miss_file ./m.txt' >m.conf
refused "misses of 'L1D' and of 'LL' both go to './m.txt'" "${options[@]}" t.csv
caches '' 'miss_file m.txt' 'miss_file n.txt' >m.conf
run trod cache "${options[@]}" -o result.txt t.csv
status 0
check test -s m.txt
check test -s n.txt
# what lies there from the last time is written anew
run trod cache "${options[@]}" -o result.txt t.csv
status 0

# a configuration is read several times
not_a_file='is no file, but a pipe or a device'
run trod cache --config /dev/stdin t.csv < <(cat own.conf)
status 2
err_has "'/dev/stdin' $not_a_file"
run trod cache --config - t.csv <own.conf
status 2
err_has "'-' $not_a_file"
mkfifo fifo
run timeout 20 "$TROD" cache --config fifo t.csv
status 2
err_has "'fifo' $not_a_file"
run timeout 20 "$TROD" cache --like drcachesim --with '-config_file fifo' t.csv
status 2
err_has "'fifo' $not_a_file"
run timeout 20 "$TROD" profile --weight cache.L1:config=fifo t.csv
err_has "'fifo' $not_a_file"
finish
