# test_order_jobs.sh - problems of several damaged files, in every order of their rows: the same ones in
# the same order for any number of threads, also where the first of them ends it all.
. "$TROD_SOURCE/tests/cli/lib.sh"
gen=$(dirname "$TROD")/../../tests/gen/trod-gen
[[ -x $gen ]] || { echo "no trod-gen"; exit 77; }

# damage FILE BYTES...: other bytes at these places
damage() {
    local file=$1 at
    shift
    for at in "$@"; do
        printf 'nonsense here' | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
    done
}

mkdir full drm zips
for i in 1 2 3; do
    "$gen" full --records $((2000 + 1000 * i)) >full/$i.full
    "$gen" drm-large --records $((90000 + 20000 * i)) >drm/$i.trace
    trod convert -q drm/$i.trace zips/$i.zip --to drmemtrace:chunk=20000
done
damage full/1.full 900000 1700000
damage full/2.full 500000 1300000 2100000
damage full/3.full 1100000
for i in 1 2 3; do
    damage drm/$i.trace $((300001 + 170000 * i)) $((900005 - 110000 * i))
    damage zips/$i.zip $((70000 * i))
done

# same_for COMMAND...: -j 1 says what must come of the others
same_for() {
    run trod "$@" -j 1
    local was=$got
    cp "$stdout" one
    cp "$stderr" one.err
    [[ -e out ]] && mv out one.out
    for jobs in 2 3; do
        run trod "$@" -j $jobs
        status "$was"
        same one "$stdout"
        same one.err "$stderr"
        [[ ! -e one.out ]] || same one.out out
        rm -f out
    done
    rm -f one.out
}

for dir in full drm zips; do
    for order in time dynamic dynamic:all,cores=2,quantum=300; do
        for strict in '' --strict; do
            # shellcheck disable=SC2086 # nothing or an option
            same_for count --format json --order $order $strict $dir/*
            # shellcheck disable=SC2086
            same_for convert -q --to csv --allow-loss --order $order $strict $dir/* out
        done
    done
    same_for waves --cycles -o out --order dynamic:all,cores=2,quantum=300 --strict $dir/*
done
# files that end in the middle of a record, one not long behind the other
"$gen" full --records 4000 >whole.full
for end in $(seq 2900012 9001 3100000); do
    for i in 0 1; do head -c $((end - 12 * i)) whole.full >cut$i.full; done
    for strict in '' --strict; do
        # shellcheck disable=SC2086
        same_for count --format json --order dynamic $strict cut1.full cut0.full
    done
done
finish
