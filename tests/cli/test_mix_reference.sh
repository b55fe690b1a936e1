# test_mix_reference.sh - what DynamoRIO's opcode_mix printed for the shared traces is what trod mix
# counts: the total, and every line of its table of opcodes. Where names stand for other sets of
# instructions than mnemonics do, sums are compared; so is that of all sets of categories that are
# branches. Nothing is left out: the lines of both sides add up to the total.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format drmemtrace
command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/drmemtrace
[[ -d $traces/reference ]] || { echo "skipped: no traces in $traces"; exit 77; }

# DynamoRIO's name and the mnemonics that it stands for; what has none here has the same name. The
# sums of a line are compared: mov with movabs, movd with movq, string instructions of every width.
# Names of groups that both use, for different instructions: string instructions and those of
# vectors share some; comparisons into mask registers (AVX-512) are not known to every disassembler.
cat >names.awk <<'A'
function name(s) {
    sub(/^lock /, "", s)
    if (s in same) return same[s]
    if (s ~ /^(rep|repe|repne) (movs|stos|cmps|scas|lods)[bwdq]?$/) {
        sub(/^repe /, "rep ", s)
        sub(/[bwdq]$/, "", s)
        if (s ~ /^rep(ne)? (mov|sto|cmp|sca|lod)$/) s = s "s"
    }
    return s
}
function group(as, names,   i, n, w) {
    n = split(names, w, " ")
    for (i = 1; i <= n; i++) same[w[i]] = as
}
BEGIN {
    n_words = split("jnz jne jz je jnb jae jnbe ja jnl jge jnle jg setnz setne setz sete setnb setae " \
        "setnbe seta setnl setge setnle setg cmovnz cmovne cmovz cmove cmovnb cmovae cmovnbe cmova " \
        "cmovnl cmovge cmovnle cmovg movabs mov endbr64 nop cwde cwd/cdq cdqe cwd/cdq cdq cwd/cdq " \
        "cqo cwd/cdq movd movd/q movq movd/q pushfq pushf popfq popf xlatb xlat jrcxz jecxz " \
        "cmpxchg16b cmpxchg8b", words, " ")
    for (i = 1; i < n_words; i += 2) same[words[i]] = words[i + 1]
    group("movs and movsd", "movs movsb movsw movsd movsq")
    group("cmps and cmpsd", "cmps cmpsb cmpsw cmpsd cmpsq")
    group("lods", "lods lodsb lodsw lodsd lodsq")
    group("stos", "stos stosb stosw stosd stosq")
    group("scas", "scas scasb scasw scasd scasq")
    group("movlps and movhlps", "movlps movhlps")
    group("movhps and movlhps", "movhps movlhps")
    group("unknown, and masks", "<undecoded> (unknown) .byte kmovd vpcmpb vpcmpeqb vptestnmb " \
        "vpternlogd vmovd vmovq")
}
/sets of categories/ { categories = 1; next }
categories && / branch/ { branches += $1 }
categories { next }
/total executed/ { print "total", $1; total = $1; next }
/^ *[0-9]+ : / { c = $1; all += c; $1 = $2 = ""; sub(/^ +/, ""); count[name($0)] += c }
END {
    for (k in count) print k, count[k]
    print "branches and system calls", branches + 0
    if (all != total) print "the lines add up to", all
}
A
# the same lines of trod's result, its branches as one set of categories
lines='"\(.instructions) : total executed", (.mnemonics[] | "\(.instructions) : \(.mnemonic)"),
    "sets of categories",
    (.categories[] | select(.category | test("jump|call|return|branch")) | "\(.instructions) : branch")'

compared=0 tables=0
for file in "$traces"/{,fresh/}reference/*/*opcode_mix*.txt; do
    grep -q 'total executed' "$file" || continue # it said that it cannot read the trace
    name=$(basename "$(dirname "$file")") dir=$(dirname "$(dirname "$(dirname "$file")")")
    trace=$dir/${name//.trace-//trace-} # forked.trace-1 is forked/trace-1
    [[ -e $dir/$name ]] && trace=$dir/$name
    [[ -e $trace ]] || continue
    [[ $name != windows-* ]] || trace=$trace/trace/window.0000 # of several it reads the first
    awk -f names.awk "$file" | sort >want
    options=
    [[ $file != */interval_* ]] || options="--interval 20000" # the tool prints all of them as one
    for jobs in 1 3; do
        # shellcheck disable=SC2086 # two words or none
        run trod mix -j $jobs --format json $options "$trace"
        jq -r "$lines" "$stdout" | awk -f names.awk | sort >got
        # without opcodes nothing but its categories says of a system call that it is one
        [[ $name != regdeps ]] || sed -i '/^branches and/d' want got
        last="trod mix -j $jobs $options $name"
        same want got
    done
    tables=$((tables + 1)) compared=$((compared + $(wc -l <want)))
done
echo "$tables tables, $compared opcodes"
check test "$compared" -gt 0
# threads that move between cpus: instructions by the last CPU_ID marker of their thread
moved=$traces/drmemtrace.threadsig.x64.tracedir
trod view --format csv "$moved" >moved.csv 2>/dev/null
awk -F, '$2 == "MARKER" && $15 == 3 { on[$5] = $10 }
         $2 == "INSTR" { n[on[$5]]++ }
         END { for (c in n) print c, n[c] }' moved.csv | sort >want
check test "$(wc -l <want)" -gt 8
run trod mix --by core --format json -j 2 "$moved"
jq -r '.cores[] | "\(.core) \(.instructions)"' "$stdout" | sort >got
same want got
finish
