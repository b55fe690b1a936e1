# test_export_cbp2016.sh - `trod export --to cbp2016`: the graph of branches is that of a model in awk, reads back as
# the instructions that were written, and predicts as they do; streams, exceptions, empty traces.
. "$TROD_SOURCE/tests/cli/lib.sh"
. "$TROD_SOURCE/tests/cli/calls_model.sh"
needs_format tarmac
have jq

# The BT9 trace of the instructions of CPU in Tarmac text, from the texts of its instructions. The last edge stands
# at ENDS: nothing says where the last return leads to.
bt9_model() {
    awk -v cpu="$1" -v name="$2" '
    function hex(text,    v, i) {
        for (i = 1; i <= length(text); i++) v = 16 * v + index("0123456789abcdef", substr(text, i, 1)) - 1
        return v
    }
    function node(pc, code, text) {
        if (!(pc in number)) {
            number[pc] = ++nodes
            at[nodes] = pc
            head[nodes] = sprintf("NODE %d 0x%x - 0x%s 4 class: %s", nodes, pc, code,
                text ~ /^BL/ ? "CALL+DIR+UCD" : text ~ /^RET/ ? "RET+IND+UCD" : "JMP+DIR+CND")
        }
        return number[pc]
    }
    function edge(src, dst, taken, target, others,    key, way) {
        key = src " " dst " " (taken ? "T" : "N") " " sprintf("0x%x", target) " - " others
        if (!(key in id)) { id[key] = edges + 0; text_of[edges + 0] = key; edges++ }
        passed[id[key]]++
        sequence[steps++] = id[key]
        way = src " " target
        if (taken) { yes[src]++; if (!(way in seen)) { seen[way] = 1; targets[src]++ } } else no[src]++
    }
    $3 == cpu && $4 == "IT" {
        split($6, a, ":"); pc = hex(a[1]); n++
        text = $11
        if (n == 1) { target = pc; taken = 1; src = 0 }
        else if (asks) { taken = pc != behind; target = pc }
        asks = 0
        if (text !~ /^(BL|RET|B\.)/) { others++; next }
        branch = node(pc, $7, text)
        edge(src, branch, taken, target, others)
        src = branch; others = 0; behind = pc + 4; asks = 1; taken = 1; target = 0
    }
    END {
        edge(src, 0, taken, target, others)
        print "BT9_SPA_TRACE_FORMAT\nbt9_minor_version: 0\nhas_physical_address: 0\nmd5_checksum:"
        print "conversion_date:\noriginal_stf_input_file: " name
        print "total_instruction_count: " n "\nbranch_instruction_count: " steps "\nBT9_NODES\nNODE 0 0 - 0 0"
        for (i = 1; i <= nodes; i++)
            printf "%s behavior: %s+%s taken_cnt: %d not_taken_cnt: %d tgt_cnt: %d\n", head[i],
                (!no[i] ? "AT" : yes[i] ? "DYN" : "ANT"), (targets[i] > 1 ? "IND" : "DIR"), yes[i], no[i], targets[i]
        print "BT9_EDGES"
        for (i = 0; i < edges; i++) print "EDGE " i " " text_of[i] " traverse_cnt: " passed[i]
        print "BT9_EDGE_SEQUENCE"
        for (i = 0; i < steps; i++) print sequence[i]
        print "EOF"
    }'
}

model 3 2 >m.tarmac
for cpu in cpu0 cpu1; do
    run trod export --stream $cpu -o $cpu.bt9.trace --format json m.tarmac
    status 0
    json '.edges_twice == 0 and .branches > 10'
    bt9_model $cpu m.tarmac <m.tarmac >want
    last="the graph of $cpu"
    same want $cpu.bt9.trace
done
# read back: the addresses of all instructions
run sh -c "'$TROD' view --kind INSTR --stream cpu0 --format json m.tarmac | jq -r .addr >want
    '$TROD' view --kind INSTR --format json cpu0.bt9.trace | jq -r .addr | diff want -"
out </dev/null
# compressed by its name, and to standard output
run sh -c "'$TROD' export --stream cpu0 -o c.bt9.trace.gz m.tarmac && zcat c.bt9.trace.gz | cmp - cpu0.bt9.trace &&
    '$TROD' convert --stream cpu0 --to cbp2016 m.tarmac - | cmp - cpu0.bt9.trace"
status 0

run trod export --to cbp2016 m.tarmac
status 2
err_has 'choose one with --stream'

# an exception behind a branch that was there before: said, because the championship's reader refuses it
{
    for pc in 1000 1004 1000 1008 100c; do
        case $pc in 1004 | 100c) op=17ffffff ;; *) op=d503201f ;; esac
        echo "1 clk cpu0 IT (1) 0000$pc $op O EL1h_n : X"
    done
    echo "1 clk cpu0 IT (1) 00001000 d503201f O EL1h_n : X"
    echo "1 clk cpu0 IT (1) 00001004 17ffffff O EL1h_n : X"
    echo "1 clk cpu0 IT (1) 00001000 d503201f O EL1h_n : X"
    echo "1 clk cpu0 IT (1) 00001004 17ffffff O EL1h_n : X"
} >e.tarmac
run trod export --to cbp2016 -o e.bt9.trace --format json e.tarmac
json '.edges_twice == 1 and .branches == 4'
err_has "championship's reader refuses"
run sh -c "'$TROD' view --kind INSTR --format json e.bt9.trace | jq -r .addr | wc -l"
out <<<9

# nothing in it
head -n 1 m.tarmac | sed 's/ IT .*/ R x0 00000000 00000001/' >none.tarmac
run trod export --to cbp2016 -o none.bt9.trace --format json none.tarmac
json '.branches == 0 and .edges == 0'
run trod count none.bt9.trace
status 0

# predictors see the same branches; btfn does not: the file does not say where a branch that is not taken would go
for file in sum.trace.zip sum.tt6; do
    run trod export --to cbp2016 -o x.bt9.trace "$TROD_SOURCE/examples/$file"
    status 0
    for of in "$TROD_SOURCE/examples/$file" x.bt9.trace; do
        trod branches --format json "$of" |
            jq '[.instructions, .branches, .kinds, [.predictors[] | select(.predictor != "btfn") | [.predictor, .wrong]]]'
    done >both
    run sh -c 'n=$(($(wc -l <both) / 2)); head -n $n both >a; tail -n $n both | cmp a -'
    status 0
done

# the graphs that the championship's reader took: all but where the last return leads to
for cpu in 0 1; do
    ref=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/interchange
    [[ -e $ref/bt9/model.cpu$cpu.bt9 ]] || { echo "skipped: no reference of bt9"; break; }
    run trod export --to cbp2016 --stream cpu$cpu -o r.bt9.trace "$ref/model.tarmac"
    status 0
    run sh -c "sed 's/ 0 T 0x[0-9a-f]* - 0 traverse/ 0 T 0x200 - 0 traverse/' r.bt9.trace | diff - $ref/bt9/model.cpu$cpu.bt9"
    out </dev/null
done
finish
