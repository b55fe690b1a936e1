# test_state_slow.sh - `trod state` and `trod who` against lists of all rows, at random places of traces of every
# family, without an index and with one.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3

traces=()
for format in tarmac matcher drmemtrace tt6 tt6e full byu6 byu12; do
    needs_format $format
    for pattern in stack:depth=9,laps=6 random:lines=5,count=90,seed=3 recursion:depth=5,count=6 \
        producer:items=30,lines=3 sharing:count=25; do
        # one thread cannot be written to what has no threads, nor bus traces two
        trod gen --to $format "$pattern" "${pattern%%:*}.$format" >/dev/null 2>&1 && traces+=("${pattern%%:*}.$format")
    done
done
check test "${#traces[@]}" -ge 24
# values that change behind the trace's back: reads that contradict, of all sizes and places; short, and of
# more than a block of an index, with memory that is seldom touched
for n in 300 17000; do
    awk -v n=$n 'BEGIN { srand(5); t = 1
    for (i = 1; i <= n; i++) {
        s = 2 ^ int(rand() * 4); a = 32768 + s * int(rand() * 64 / s)
        if (n > 300 && rand() < 0.01) a += 65536 + 512 * int(rand() * 20)
        printf "%d clk IT (%d) %08x d503201f O EL1h_n : NOP\n", t, i, 4096 + 4 * i
        v = ""; for (k = 0; k < s; k++) v = v sprintf("%02x", rand() * 3)
        if (s == 8) v = substr(v, 1, 8) "_" substr(v, 9)
        printf "%d clk M%s%d %08x %s\n", t++, rand() < 0.4 ? "W" : "R", s, a, v
    }
}' >random$n.tarmac.txt
    traces+=(random$n.tarmac.txt)
done
for format in matcher csv; do
    trod convert --allow-loss --to $format random300.tarmac.txt values.$format 2>/dev/null
    traces+=(values.$format)
done
# real ones, where they are
shared=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}
for trace in byu12/course.tr tarmac/calculator-aarch32-fastmodel.tarmac tarmac/calculator-aarch64-gem5.tarmac \
    drmemtrace/fresh/forked/trace-2/trace/drmemtrace.fe.02818.1719.trace.zip valgrind/lackey.txt.gz; do
    test ! -f "$shared/$trace" || { cp "$shared/$trace" . && traces+=("${trace##*/}"); }
done
for index in "" indexed; do
    test -z "$index" || for trace in "${traces[@]}"; do trod index -q "$trace"; done
    check python3 "$TROD_SOURCE/tests/cli/state_slow.py" "$TROD" "1${#index}" "$(fewer 8 2)" "${traces[@]}"
done
finish
