# test_mix_reference.sh - what DynamoRIO's opcode_mix printed for the shared traces is what trod mix
# counts: the total, and every opcode whose name is that of one mnemonic (or stands in the table).
# Not compared are names that stand for other sets of instructions than a mnemonic does.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format drmemtrace
command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/drmemtrace
[[ -d $traces/reference ]] || { echo "skipped: no traces in $traces"; exit 77; }

# DynamoRIO's name and the mnemonics that it stands for; what has none here has the same name. The
# sums of a line are compared: mov with movabs, movd with movq, string instructions of every width.
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
BEGIN {
    n_words = split("jnz jne jz je jnb jae jnbe ja jnl jge jnle jg setnz setne setz sete setnb setae " \
        "setnbe seta setnl setge setnle setg cmovnz cmovne cmovz cmove cmovnb cmovae cmovnbe cmova " \
        "cmovnl cmovge cmovnle cmovg movabs mov endbr64 nop cwde cwd/cdq cdqe cwd/cdq cdq cwd/cdq " \
        "cqo cwd/cdq movd movd/q movq movd/q pushfq pushf popfq popf xlatb xlat jrcxz jecxz " \
        "cmpxchg16b cmpxchg8b", words, " ")
    for (i = 1; i < n_words; i += 2) same[words[i]] = words[i + 1]
    # string instructions and those of vectors share names; comparisons into mask registers (AVX-512)
    # are not known to every disassembler
    split("movs movsb movsw movsd movsq cmps cmpsd cmpsb cmpsw cmpsq lods lodsb lodsw lodsd lodsq stos " \
        "stosb stosw stosd stosq scas scasb scasw scasd scasq movlps movhlps movhps movlhps " \
        "<undecoded> (unknown) .byte kmovd vpcmpb vpcmpeqb vptestnmb vpternlogd vmovd vmovq", words, " ")
    for (i in words) leave[words[i]] = 1
}
/sets of categories/ { exit }
/total executed/ { print "total", $1; next }
/^ *[0-9]+ : / { c = $1; $1 = $2 = ""; sub(/^ +/, ""); count[name($0)] += c }
END { for (k in count) if (!(k in leave)) print k, count[k] }
A

compared=0 tables=0
for file in "$traces"/reference/*/opcode_mix.txt "$traces"/fresh/reference/*/opcode_mix.txt; do
    grep -q 'total executed' "$file" || continue # it said that it cannot read the trace
    name=$(basename "$(dirname "$file")") dir=$(dirname "$(dirname "$(dirname "$file")")")
    [[ -e $dir/$name ]] || continue
    trace=$dir/$name
    [[ $name != windows-* ]] || trace=$trace/trace/window.0000 # of several it reads the first
    awk -f names.awk "$file" | sort >want
    for jobs in 1 3; do
        run trod mix -j $jobs --format json "$trace"
        jq -r '"\(.instructions) : total executed", (.mnemonics[] | "\(.instructions) : \(.mnemonic)")' \
            "$stdout" | awk -f names.awk | sort >got
        last="trod mix -j $jobs $name"
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
