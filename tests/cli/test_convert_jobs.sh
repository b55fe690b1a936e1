# test_convert_jobs.sh - what convert writes and says is the same, byte for byte, for any number of
# threads: formats into others, filters, damaged input, and where it ends early.
. "$TROD_SOURCE/tests/cli/lib.sh"
gen=$(dirname "$TROD")/../../tests/gen/trod-gen
[[ -x $gen ]] || { echo "no trod-gen"; exit 77; }

"$gen" drm-large --records 90000 >drm.trace
"$gen" tarmac-fm --records 60000 >fm.tarmac
"$gen" tt6 --records 60000 >a.tt6
trod convert -q drm.trace drm.zip --to drmemtrace:chunk=20000
# damage: some lines, some bytes, a cut end
awk 'NR % 9000 == 77 {print "12 clk cpu0 IT (x) zz"; next} {print}' fm.tarmac | head -c -20 >bad.tarmac
{ head -c 500000 drm.trace; printf 'nonsense here'; tail -c +500000 drm.trace; } | head -c -5 >bad.trace

# inside OUT: all that it says. Libraries compress small files in more than one way, from run to run
inside() {
    find "$1" -type f | sort | while read -r file; do
        [[ -d $1 ]] && basename "$file"
        case $(head -c 2 "$file" | od -An -tx1) in
        ' 50 4b') unzip -p "$file" ;;
        ' 1f 8b') zcat "$file" ;;
        *) cat "$file" ;;
        esac | cksum
    done
}

# same_for INPUT OUT OPTION...: -j 1 says what must come of the others
same_for() {
    local in=$1 out=$2
    shift 2
    rm -rf one "$out"
    run trod convert -j 1 "$in" "$out" --format json "$@"
    local was=$got
    [[ -e $out ]] && mv "$out" one || mkdir one
    cp "$stdout" one.out
    cp "$stderr" one.err
    for jobs in 2 3; do
        run trod convert -j $jobs "$in" "$out" --format json "$@"
        status "$was"
        [[ -e $out ]] || mkdir "$out"
        check test "$(inside one)" = "$(inside "$out")"
        same one.out "$stdout"
        same one.err "$stderr"
        rm -rf "$out"
    done
}

for in in drm.trace drm.zip bad.trace; do
    same_for $in out.tarmac --allow-loss
    same_for $in out.zip --to drmemtrace:chunk=30000
    same_for $in out.zip --to drmemtrace --where 'kind == INSTR || addr % 3 == 0'
done
for in in fm.tarmac bad.tarmac; do
    same_for $in out.d/ --to drmemtrace --allow-loss
    same_for $in out.csv --to csv --allow-loss
    same_for $in out.tarmac --to tarmac:dialect=es --allow-loss --limit 20000
    same_for $in out.zip --to drmemtrace --allow-loss --range 30000..30100
done
# formats that keep no opcodes and look at them
for to in champsim cloudsuite cbp2025; do
    for in in drm.trace a.tt6; do same_for $in out.$to --to $to --allow-loss; done
done
same_for a.tt6 out.d/ --to drmemtrace --allow-loss
same_for a.tt6 out.tt6 --kind INSTR --allow-loss
# refused in the middle, at the first row that cannot be kept
same_for bad.trace out.tarmac
same_for bad.tarmac out.tarmac --strict

# said_alike COMMAND...: the same is said, and the exit status is the same, however many threads read
said_alike() {
    run trod "$@" -j 1
    local was=$got
    cp "$stderr" one.err
    for jobs in 2 3; do
        run trod "$@" -j $jobs
        status "$was"
        same one.err "$stderr"
    done
}
# reading ends before the damage, near it or behind it
{ head -c 600000 drm.trace; printf '\xff\x7f%10s'; tail -c +600013 drm.trace; } >worse.trace
for rows in $(seq 25000 2900 54000); do
    said_alike convert --head "$rows" --to csv --allow-loss worse.trace out.csv
    said_alike convert --range "100..$rows" --to csv --allow-loss worse.trace out.csv
    said_alike hide --range "0..$rows" --to drmemtrace:chunk=0 worse.trace out.trace
    said_alike view --range "$rows..$((rows + 20))" worse.trace
    said_alike find --range "100..$rows" worse.trace 'kind == WRITE' --limit 9000
done
finish
