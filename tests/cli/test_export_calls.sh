# test_export_calls.sh - views of calls, each opened by what it is for, with the numbers of a program that are
# known (calls_model.sh): folded stacks, Callgrind, pprof, DOT.
. "$TROD_SOURCE/tests/cli/lib.sh"
. "$TROD_SOURCE/tests/cli/calls_model.sh"
needs_format tarmac
have jq

# cpu0: main calls f 3 times, cpu1: 2 times. Instructions: main 11 + 8, f 15 + 10, g 18 + 12, 74 in all; reads: f 6 + 4,
# g 6 + 4; writes: f 6 + 4; calls: f 5, g 10
model 3 2 >m.tarmac
run trod count --format json m.tarmac
json '.total | .fetched_instructions == 74 and .data_loads == 20 and .data_stores == 10'
model_elf prog || { echo "skipped: no assembler for x86-64"; exit 77; }

# ---- folded stacks
run trod export --to folded --symbols prog m.tarmac
status 0
out <<'END'
cpu0;main 11
cpu0;main;f 15
cpu0;main;f;g 18
cpu1;main 8
cpu1;main;f 10
cpu1;main;f;g 12
END
run trod export --to folded:count=reads --symbols prog m.tarmac
out <<'END'
cpu0;main;f 6
cpu0;main;f;g 6
cpu1;main;f 4
cpu1;main;f;g 4
END
run trod export --to folded:count=writes --symbols prog --stream cpu1 m.tarmac
out <<<'cpu1;main;f 4'
run trod export --to folded m.tarmac
out_has '^cpu0;0x1000;0x1020;0x1040 18$'
run trod convert --symbols prog m.tarmac m.folded --format json
status 0
json '.stacks == 6 and .instructions == 74'
# any number of threads, the same bytes; a trace that begins inside g, and its callers that are found later
for to in folded callgrind dot pprof; do
    trod export -j 1 --to $to --symbols prog -o one.out m.tarmac 2>/dev/null
    trod export -j 4 --to $to --symbols prog -o four.out m.tarmac 2>/dev/null
    check cmp one.out four.out
done
# the trace begins at the first instruction of g: f and main are known when they are returned to
run trod view --native --stream cpu0 --instructions 5.. m.tarmac
cp "$stdout" inside.tarmac
run trod export --to folded --symbols prog inside.tarmac
out <<'END'
cpu0;main 9
cpu0;main;f 13
cpu0;main;f;g 18
END

# ---- Callgrind
run trod export --symbols prog -o m.callgrind --format json m.tarmac
status 0
json '.functions == 3 and .calls == 15 and .instructions == 74 and .reads == 20 and .writes == 10'
run head -1 m.callgrind
out <<<'# callgrind format'
run sed -n '/^fn=(1)/,/^$/p' m.callgrind
out <<'END'
fn=(1) main
0x1000 5 2
+4 6 5
cfn=(2) f
calls=5 0x1020 15
* 6 55 20 10
+4 7 5
+4 8 5
+4 9 2

END
if command -v callgrind_annotate >/dev/null; then
    run callgrind_annotate --inclusive=yes --tree=both --auto=no m.callgrind
    status 0
    out_has '^74 \(100\.0%\) 20 \(100\.0%\) 10 \(100\.0%\) +PROGRAM TOTALS'
    out_has '^74 \(100\.0%\) 20 \(100\.0%\) 10 \(100\.0%\) +\*  .*prog\.s:main '
    out_has '^55 .*20 .*10 .*> +.*prog\.s:f \(5x\)'
    out_has '^30 .*10 .*> +.*prog\.s:g \(10x\)'
    run callgrind_annotate --inclusive=no --auto=yes m.callgrind
    out_has '^25 .*10 .*10 .*prog\.s:f '
    out_has '^30 .*10 .*prog\.s:g '
else
    echo "not tried: callgrind_annotate is not here"
fi

# caches: code and data are two lines each, which are missed once
run trod export --to callgrind:cache --symbols prog m.tarmac
status 0
out_has '^events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw$'
out_has '^summary: 74 20 10 2 1 1 2 1 1$'
out_has '^0x1000 5 2 0 0 1 0 0 1$' # main's first instruction, in both cpus
run trod export --to callgrind:cache --symbols prog m.tarmac
through sed -n '/^fn=(3)/,/^$/p'
out <<'END'
fn=(3)
0x1040 25 10 10 0 1 1 0 1 1
+4 26 10
+4 27 10

END
# a cache of one line: each call of f reads 0x8000 and 0x7fe0 in turn; the calls of main miss 2 * 200 times in all
model 200 >long.tarmac
run trod export --to callgrind:cache,D1=64/1/64 --symbols prog -o long.callgrind --format json long.tarmac
status 0
json '.I1mr == 2 and .D1mr == 400 and .D1mw == 1 and .ILmr == 2 and .DLmr == 1 and .DLmw == 1'
run sed -n '/^calls=200 /{n;p;}' long.callgrind
out <<'END'
* 6 2200 800 400 1 400 1 1 1 1
* 16 600 200 0 1 200 0 1 1
* 17 600 200
END
run trod cache --like callgrind --with '--D1=64,1,64' long.tarmac
out_has 'D1 *misses: *401 *\( *400 rd *\+ *1 wr\)'
run trod export --to callgrind:cache,D1=65/1/64 long.tarmac
status 2

# ---- DOT
run trod export --symbols prog --to dot m.tarmac
status 0
out_has '^  f0 -> f1 \[label="5 calls\\n55 Ir"\];$'
out_has '^  f1 -> f2 \[label="10 calls\\n30 Ir"\];$'
cp "$stdout" m.dot
if command -v dot >/dev/null; then
    run dot -Tplain m.dot
    status 0
    out_has '^node f0 .* "main\\nself 19\\nwith calls 74" '
    out_has '^edge f1 f2 '
else
    echo "not tried: dot is not here"
fi
run trod export --symbols prog -o x.gv --format json --to dot:share=500 m.tarmac # f and main have half of all
json '.functions == 2 and .functions_left_out == 1 and .calls_shown == 1'

# ---- pprof
run trod export --symbols prog -o m.pb.gz --format json m.tarmac
status 0
json '.samples == 8 and .functions == 3' # g is called from two places of f
cat >profile.proto <<'END'
syntax = "proto3";
package pprof;
message Profile {
  repeated ValueType sample_type = 1; repeated Sample sample = 2; repeated Mapping mapping = 3;
  repeated Location location = 4; repeated Function function = 5; repeated string string_table = 6;
  int64 default_sample_type = 14;
}
message ValueType { int64 type = 1; int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
message Label { int64 key = 1; int64 str = 2; int64 num = 3; }
message Mapping { uint64 id = 1; uint64 start = 2; uint64 limit = 3; int64 filename = 5; bool has_functions = 7; }
message Location { uint64 id = 1; uint64 mapping_id = 2; uint64 address = 3; repeated Line line = 4; }
message Line { uint64 function_id = 1; int64 line = 2; }
message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; }
END
if command -v protoc >/dev/null; then
    run sh -c 'gzip -dc m.pb.gz | protoc --decode pprof.Profile profile.proto'
    status 0
    out_not '^ *[0-9]+:' # a field that the subset does not know
    cp "$stdout" decoded
    # values of the samples: reads, writes, instructions
    run awk '/^sample \{/ {n = 0} /^  value:/ {sum[n++] += $2} END {print sum[0], sum[1], sum[2]}' decoded
    out <<<'20 10 74'
    run awk '/^location/ {at = ""} /^  address:/ {print $2}' decoded
    through sort -n
    out <<'END'
4096
4100
4128
4132
4136
4160
END
else
    echo "not tried: protoc is not here"
fi
if command -v go >/dev/null && go tool pprof -h >/dev/null 2>&1; then
    run env HOME="$tmp" go tool pprof -top m.pb.gz
    out_has '^ *30 40\.54% .* 30 40\.54%  g'
    out_has '^ *19 25\.68% .* 74   100%  main'
else
    echo "not tried: go tool pprof is not here"
fi

# ---- recursion: f calls itself 3000 times. Every second line of a stack N deep would have N names; below 500 all is one
awk 'function i(pc, code) { n++; printf "%d clk cpu0 IT (%d) %08x %s O EL1h_n : X\n", n, n, pc, code }
BEGIN { for (k = 0; k < 3000; k++) { i(4096, "a9bf7bfd"); i(4100, "97ffffff") } i(4096, "a9bf7bfd"); i(4108, "d65f03c0")
    for (k = 0; k < 3000; k++) { i(4104, "a8c17bfd"); i(4108, "d65f03c0") } }' >deep.tarmac
run trod export --to folded -o deep.folded --format json deep.tarmac
status 0
json '.stacks == 500 and .instructions == 12002 and .calls_too_deep == 2501'
run sh -c 'head -1 deep.folded; tail -1 deep.folded | tr ";" "\n" | wc -l; tail -1 deep.folded | grep -o " .*"'
out <<'END'
cpu0;0x1000 4
501
 10006
END
run trod export --to pprof:depth=3 -o deep.pb.gz --format json deep.tarmac
json '.samples == 3 and .calls_too_deep == 2998'
# of a recursive function the outermost activation alone counts
run trod export --to callgrind deep.tarmac
out_has '^calls=3000 0x1000$'
out_has '^\* 0$'

# ---- a trace without instructions has no calls
printf '\0\0\0\0\1\4\0\0\0\0\0\0' >m.byu12
for to in folded callgrind pprof dot; do
    run trod export --from byu12 --to $to -o empty.out --format json m.byu12
    status 0
done
: >empty.tarmac
run trod export --from tarmac --to folded empty.tarmac
status 0
out </dev/null
finish
