# test_export_speedscope.sh - speedscope (npm) in a browser opens what trod export writes for it, and shows the
# numbers of a program that are known (calls_model.sh).
. "$TROD_SOURCE/tests/cli/lib.sh"
. "$TROD_SOURCE/tests/cli/calls_model.sh"
have chromium base64
command -v speedscope >/dev/null ||
    { echo "skipped: no speedscope (npm install -g speedscope)"; exit 77; }
page=$(dirname "$(readlink -f "$(command -v speedscope)")")/../dist/release/index.html
[[ -r $page ]] || { echo "skipped: no page of speedscope at $page"; exit 77; }
export HOME=$tmp

model 3 >m.tarmac
symbols=() names=(main f g)
model_elf prog && symbols=(--symbols prog) || names=(0x1000 0x1020 0x1040)
# opened FILE: its table of functions, "total self name" a line
opened() {
    printf 'speedscope.loadFileFromBase64("%s", "%s")' "$1" "$(base64 -w0 "$1")" >load.js
    timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --allow-file-access-from-files \
        --user-data-dir="$tmp/profile" --virtual-time-budget=5000 --dump-dom \
        "file://$page#view=sandwich&localProfilePath=$tmp/load.js" 2>/dev/null |
        sed 's:</tr>:\n:g' | sed -n 's:<[^>]*>: :g; s/^.* \([0-9.]*\)[^ 0-9.]* ([0-9.%&lt;]*)  *\([0-9.]*\)[^ 0-9.]* ([0-9.%&lt;]*)  *\([^ ]*\) *$/\1 \2 \3/p' |
        sed 's/\([0-9]\)\.00/\1/g' | sort -k 3
}
printf '%s\n' "44 11 ${names[0]}" "33 15 ${names[1]}" "18 18 ${names[2]}" | sort -k 3 >want
for out in m.trace.json m.speedscope.json m.pb.gz m.folded; do
    run trod export "${symbols[@]}" -o $out m.tarmac
    status 0
    last="speedscope with $out"
    opened $out | grep -v ' cpu0$' >got # in folded stacks the thread is a frame
    same want got
done
finish
