# test_traces.sh - real traces, where they are: info, view and native listings of every one.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}
[[ -d $traces ]] || { echo "skipped: no traces at $traces"; exit 77; }

# tarmac: text that comes back as it is, dialects by name of the file
for f in "$traces"/tarmac/*.tarmac; do
    [[ -e $f ]] || continue
    run trod info --format json "$f"
    status 0
    dialect=fm
    [[ $f == *-es-* ]] && dialect=es
    [[ $f == *-gem5* ]] && dialect=gem5
    json ".files[0] | .format == \"tarmac\" and .dialect == \"$dialect\" and .errors == 0"
    # as many instructions as lines that say so
    n=$(grep -c -E ' (IT|IS|ES) +\(' "$f")
    json ".files[0].kinds[] | select(.kind == \"INSTR\") | .rows == $n"
    run trod view --native "$f"
    status 0
    out_is "$f"
    rows=$(trod info --format json "$f" | jq '.files[0].rows')
    run trod view --format csv "$f"
    check test "$(wc -l <"$stdout")" = $((rows + 1))
    run trod view --format json "$f"
    check test "$(jq -c .record "$stdout" | wc -l)" = "$rows"
    run trod view "$f"
    check test "$(wc -l <"$stdout")" = "$rows"
done

# functions as the symbol table has them: the first instruction of main
f=$traces/tarmac/calculator-aarch64-fastmodel.tarmac elf=$traces/tarmac/calculator-aarch64.elf
if [[ -e $f && -e $elf ]] && command -v readelf >/dev/null; then
    at=$(readelf -sW "$elf" | awk '$8 == "main" {print $2; exit}')
    if [[ -n $at ]]; then
        run trod view --symbols "$elf" --kind INSTR --pc "0x$at" --format csv "$f"
        status 0
        through sed 1d
        out_has ',main$'
    fi
fi

# byu12: twelve bytes a record
f=$traces/byu12/course.tr
if [[ -e $f ]]; then
    run trod info --format json "$f"
    status 0
    json ".files[0] | .format == \"byu12\" and .rows == $(($(stat -c %s "$f") / 12))"
    run trod convert -q "$f" copy.byu12
    status 0
    check cmp "$f" copy.byu12
fi

# drmemtrace: threads as the directory's files
for f in "$traces"/drmemtrace/*; do
    case ${f##*/} in README.md | reference | fresh) continue ;; esac # fresh: a folder of folders
    [[ -e $f ]] || continue
    run trod info --format json "$f"
    status 0
    json '.files[0] | .format == "drmemtrace" and .rows > 0 and .errors == 0'
    json '.files[0].kinds | map(.rows) | add == '"$(jq '.files[0].rows' "$stdout")"
    run trod view --range 0..99 --format json "$f"
    status 0
    check test "$(jq -c .record "$stdout" | wc -l)" = 100
done
f=$traces/drmemtrace/drmemtrace.threadsig.x64.tracedir
if [[ -e $f ]]; then
    # 0xe40: the bits 6, 9, 10 and 11 of the file type
    run trod info --format json "$f"
    json '.files[0] | .filetype == "0xe40" and .filetype_bits == ["x86-64", "encodings", "syscall-numbers", "blocking-syscalls"]'
    # every thread's file begins with a version
    json ".files[0].markers | map({(.type): .rows}) | add | .version == $(ls "$f"/*.trace.zip | wc -l)"
fi
finish
