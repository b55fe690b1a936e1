# test_gen.sh - `trod gen`: what the patterns say must be found is found, in every format; the code
# is what an assembler would have made of it; wrong options are refused.
. "$TROD_SOURCE/tests/cli/lib.sh"

# answer NAME: of the pattern generated last
answer() { jq -r ".$1" answers.json; }

# --- instructions, loads and stores as `count` finds them; the rules of each format are kept
for format in drmemtrace tarmac matcher tt6 tt6e full lackey dinero; do
    for pattern in cyclic:lines=50,laps=3 strided:count=70,stride=24 random:lines=9,count=80 \
        zipf:lines=20,count=90,skew=0.8 stack:depth=40,laps=2 loop:trips=5,count=7 \
        recursion:depth=4,count=3 producer:items=30,lines=4 sharing:count=20; do
        name=${pattern%%:*} out=t.$format
        [[ $format =~ drmemtrace|tarmac|tt6$|full || $name =~ stack|recursion ]] || continue
        case $format:$name in
        tt6*:producer | tt6*:sharing | full:producer | full:sharing) out=t.d/ ;;
        esac
        rm -rf t.*
        run trod gen --to $format --format json $pattern $out
        status 0
        cp "$stdout" answers.json
        run trod check --from $format $out
        status 0
        run trod view --from $format --format json $out
        jq -s '{i: map(select(.kind == "INSTR" and ((.flags // []) | index("synthetic") | not)))
                | length, r: map(select(.kind == "READ")) | length,
                w: map(select(.kind == "WRITE")) | length}' "$stdout" >got.json
        check test "$(jq -r '"\(.i) \(.r) \(.w)"' got.json)" = \
            "$(jq -r '"\(.instructions) \(.loads) \(.stores)"' answers.json)"
        [[ $format == full ]] || continue
        # a machine of its own makes the same of each instruction
        python3 "$TROD_SOURCE/tests/cli/gen_ppc.py" $(find $out -type f) >got 2>&1 || true
        check test "$(cat got)" = "$(jq -r '"\(.instructions) \(.loads) \(.stores)"' answers.json)"
    done
done
run trod gen --to tt6 recursion:depth=4,count=3 t.tt6
run trod gen --to full recursion:depth=4,count=3 t.full
run trod compare t.tt6 t.full
status 0
# each format that has instructions and accesses, by its usual instruction set
for format in stf champsim cloudsuite cbp2025 csv dinerox dinerob memtrace_simple gem5packet; do
    for pattern in recursion:depth=4,count=3 sharing:count=20; do
        rm -rf t.*
        mkdir t.d
        case $format in # a file for each thread
        stf | champsim | cloudsuite | cbp2025) out=t.d/ ;;
        *) out=t.d/all ;;
        esac
        run trod gen --to $format --format json $pattern $out
        status 0
        cp "$stdout" answers.json
        run trod view --from $format --format json t.d/*
        jq -sr '[.[].kind] | map(select(. == "INSTR"), select(. == "READ"), select(. == "WRITE")) |
                "\(map(select(. == "INSTR")) | length) \(map(select(. == "READ")) | length) " +
                "\(map(select(. == "WRITE")) | length)"' "$stdout" >got
        check test "$(cat got)" = "$(jq -r '"\(.instructions) \(.loads) \(.stores)"' answers.json)"
    done
done
for format in byu6 byu12; do
    run trod gen --to $format --format json stack:depth=40,laps=2 t.$format
    status 0
    run trod count --from $format --format json t.$format
    json '.total | .bus_reads == 80 and .bus_writes == 80'
done

# --- what the analyses find
run trod gen --format json cyclic:lines=100,laps=3 c.trace
cp "$stdout" answers.json
run trod locality --kind MEMORY --format json c.trace
json ".references == 300 and .lines == $(answer data_lines) and .cold == $(answer cold_misses) and
      .mean_distance == $(answer reuse_distance) and .max_distance == $(answer reuse_distance)"
# 64 lines are too few; 128 are enough, also in sets of two
for shape in size=4096,ways=64:lru_misses_with_fewer size=8192,ways=2:lru_misses_with_all_lines; do
    run trod cache --sweep ${shape%:*},line=64 --format json c.trace
    json "[.sweep[] | select(.stream == \"data\") | .misses] == [$(answer ${shape#*:})]"
done
run trod gen --format json loop:trips=8,count=100 l.trace
cp "$stdout" answers.json
run trod branches --predictors taken --format json l.trace
json ".predictors[0] | .branches == $(answer conditional_branches) and
      .wrong == $(answer mispredicted_if_always_taken)"
# opcodes of big-endian programs are numbers in text: two loops with one head, an entry and 800 trips
for isa in mips32 ppc32; do
    run trod gen --to matcher --isa $isa loop:trips=8,count=100 l.matcher
    status 0
    check grep -q " 00010000 $([[ $isa = mips32 ]] && echo 24840004 || echo 38630004) " l.matcher
    run trod mix --format json l.matcher
    status 0
    err_has 'does not say what instruction set .*--from matcher:isa=NAME'
    for order in auto little big; do
        run trod run mix,hot,branches --from matcher:isa=$isa,endian=$order --format json l.matcher
        status 0
        check test ! -s "$stderr"
        json '.hot.loops == 1 and .hot.hot_loops[0].iterations == 800 and .hot.hot_loops[0].entries == 1 and
              .branches.branches == 899 and .branches.unresolved == 1 and (.mix.categories[] | select(.category == "conditional branch") |
              .instructions) == 900'
    done
done
run trod gen --format json recursion:depth=5,count=10 r.trace
cp "$stdout" answers.json
run trod branches --predictors ras:depth=5,ras:depth=4 --format json r.trace
json ".predictors | .[0].branches == $(answer returns) and .[0].wrong == 0 and .[1].wrong == 10"
run trod gen --format json stack:depth=512,laps=3 s.trace
cp "$stdout" answers.json
run trod locality --kind MEMORY --format json s.trace
json ".miss_ratio_curve[0] | .lines == 1 and .misses == $(answer lru_misses_with_one_line)"
run trod gen --format json sharing:count=50 f.d
cp "$stdout" answers.json
run trod cache --preset cortex-a53 --sharing --format json f.d
json ".sharing | .false_sharing == $(answer lines_falsely_shared) and
      .lines[0].invalidations == $(answer invalidations)"
run trod gen --format json producer:items=40,lines=8 p.d
cp "$stdout" answers.json
run trod cache --preset cortex-a53 --sharing --format json p.d
json ".sharing | .false_sharing == 0 and ([.lines[].invalidations] | add) == $(answer copies_invalidated)"

# --- the code, as objdump reads it
listing() { # ISA: what the trace of the pattern that calls and loads has as disassembly
    run trod gen --isa $1 --to drmemtrace recursion:depth=2,count=1 i.trace
    status 0
    run trod check i.trace
    status 0
    run trod view --kind INSTR --format json i.trace
    status 0
    jq -r '.text // .disassembly // empty' "$stdout" >text
}
listing x86-64
check grep -q '^call' text
check grep -q '^ret' text
listing a64
check grep -q '^bl ' text
check grep -q '^ldr' text
check grep -q '^str' text
run trod gen --to stf recursion:depth=2,count=1 i.stf
run trod view --kind INSTR --format json i.stf
jq -r '.text // .disassembly // empty' "$stdout" | head -n 8 >text
check diff text - <<'END'
jal ra, 0x10008
sd ra, 0(sp)
bne a0, a2, 0x10014
jal ra, 0x10008
sd ra, 0(sp)
bne a0, a2, 0x10014
ld ra, 0(sp)
jalr zero, 0(ra)
END

# --- what cannot be generated
refused() { # TEXT ARGUMENT...
    local text=$1
    shift
    run trod gen "$@"
    status 2
    err_has "$text"
}
refused "no pattern is called 'cyclicc'" cyclicc x.trace
refused 'is not between 1 and' cyclic:lines=0 x.trace
refused 'are multiples of a word' strided:stride=3 x.trace
refused 'more than 31 bits can address' cyclic:lines=1M,line=4096 x.trace
refused 'is no number from 0 to 100' zipf:skew=x x.trace
refused 'the stack has room for' recursion:depth=1M x.trace
refused 'PowerPC' --isa x86-64 --to full cyclic x.full
for out in x.tt6 x.trace x.zip x.trace.gz x.memtrace; do
    to=drmemtrace
    [[ $out == x.tt6 ]] && to=tt6
    refused "$to has a file for each thread: name a directory, '$out/'" --to $to sharing $out
    check test ! -e $out
done
refused "drmemtrace has a file for each thread: name a directory, 'OUT/'" producer -
for out in x.trace/ x.d; do
    run trod gen --to drmemtrace sharing $out
    status 0
    check test "$(find "$out" -name '*.trace.*' | wc -l)" = 2
done
rm -r x.trace x.d
run trod gen --to drmemtrace cyclic x.trace
status 0
check test -f x.trace
rm x.trace
refused 'a pattern and a file are needed' cyclic
check test ! -e x.trace
check test ! -e x.full
run trod gen --list --format json
json '[.patterns[].pattern] | index("zipf") != null'
run trod gen --seed cyclic x.trace
status 2
# the trace alone goes to standard output
run trod gen --to tarmac cyclic:lines=2,laps=1 -
check test "$(grep -c ' MR' "$stdout")" = 2
finish
