# test_rows.sh - texts and records of simulators and memory tracers: what they become, by hand from
# docs/formats; a trace written as its verified export is; the same analyses from an import as from
# its source; what valgrind itself prints; bad and doubtful inputs.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
golden=$TROD_SOURCE/tests/golden
model=$golden/tarmac/model.canonical.tarmac

# exports of one trace that the consumers accepted, byte for byte
while read -r format file; do
    run trod convert -q --allow-loss --to "$format" "$model" out
    status 0
    check cmp "$golden/$format/$file" out
    rm -f out
    # without leave to lose anything nothing is written
    run trod convert --to "$format" "$model" out
    status 2
    err_has 'lost would be: .*values'
    check test ! -e out
    # and back the same way
    run trod convert -q --from "$format" --to "$format" "$golden/$format/$file" out
    status 0
    check cmp "$golden/$format/$file" out
    rm -f out
done <<'END'
dinero model.canonical.din
dinerox model.canonical.xdin
dinerob model.canonical.dinb
lackey model.canonical.lackey
pinatrace model.canonical.pinatrace
memtrace_x86 model.canonical.memtrace_x86
memtrace_simple model.canonical.memtrace_simple
gem5packet model.canonical.ptrc
END

# a file a cpu: ChampSim's records with the registers of the opcodes
for format in champsim cloudsuite; do
    mkdir cpus
    run trod convert -q --allow-loss --to $format "$model" cpus/
    status 0
    for cpu in 0 1; do
        check cmp "$golden/$format/model-cpu$cpu.canonical.$format" cpus/0000$cpu.cpu$cpu.$format
    done
    # back from the files: the branches that the opcodes have
    run trod count --format json cpus
    status 0
    json '[.. | objects | select(.kind? == "INSTR") | .rows][0] == 31'
    rm -r cpus
    run trod convert --to $format "$model" both.$format
    status 2
    err_has 'lost would be'
done
# what the opcodes say of branches, the registers say of them again
for source in "$golden/tarmac/model.canonical.tarmac" "$TROD_SOURCE/examples/sum.trace.zip"; do
    mkdir cpus
    run trod convert -q --allow-loss --to champsim "$source" cpus/
    status 0
    trod branches --format json "$source" | jq '.. | objects | select(has("static"))' >want
    run trod branches --format json cpus
    status 0
    through jq '.. | objects | select(has("static"))'
    check diff want "$stdout"
    rm -r cpus
done
run trod convert -q --allow-loss "$model" cpu.champsim.xz
status 0
run trod info --format json cpu.champsim.xz
status 0
json '.files[0].format == "champsim"'

# kinds of branches by their registers (the table of docs/formats/champsim.md)
run trod view --kind INSTR --format json "$golden/champsim/kinds.canonical.champsim"
status 0
through jq -c '[.address, .branch, .target]'
out <<'END'
["0x1000",null,null]
["0x1004","direct","0x2000"]
["0x2000","indirect","0x3000"]
["0x3000","taken","0x3010"]
["0x3010","untaken",null]
["0x3014","call","0x4000"]
["0x4000","indirect-call","0x5000"]
["0x5000",null,null]
["0x5004","return","0x4004"]
["0x4004","other","0x4008"]
["0x4008",null,null]
END
# more addresses than a record has places for, and address 0, are lost and counted
printf 'I  00001000,4\n S 00000010,4\n S 00000020,4\n S 00000030,4\n L 00000000,4\n' >m.lackey
run trod convert --allow-loss --to champsim m.lackey m.champsim
status 0
err_has 'lost: 1 of 1 READ rows'
err_has 'lost: 1 of 3 WRITE rows'
check test "$(stat -c %s m.champsim)" = 64
rm m.lackey m.champsim

# branch traces: as many instructions, branches and conditional ones as the championship's reader
# counted in these files (NUM_INSTRUCTIONS, NUM_BR, NUM_CONDITIONAL_BR)
while read -r cpu instructions branches conditional; do
    run trod branches --format json "$golden/bt9/model-cpu$cpu.bt9"
    status 0
    json ".instructions == $instructions and .branches == $branches"
    json "[.. | objects | select(.kind? == \"conditional\") | .executions][0] == $conditional"
done <<'END'
0 21 9 2
1 10 6 3
END
# and the same addresses, outcomes and targets from the opcodes of the source
for file in bt9/model-cpu0.bt9 cbp2025/model-cpu0.canonical.cbp2025 champsim/model-cpu0.canonical.champsim; do
    run trod branches --format json "$golden/$file"
    status 0
    json '.branches == 9 or .branches == 10' # the last one may have no target
done
run trod view --format json "$golden/cbp2025/classes.cbp2025"
status 0
through jq -c 'select(.kind != "INSTR") | [.kind, .address, .size, .value, .text]'
out <<'END'
["REG",null,8,"0x0000000000000005","x0"]
["READ","0x8000",32,null,null]
["REG",null,16,"0x112233445566778899aabbccddeeff00","v0"]
["REG",null,16,"0x00000000000000000000000000000001","v1"]
["REG",null,8,"0x0000000000007ff0","sp"]
["WRITE","0xfffffffffffffff0",8,null,null]
["REG",null,16,"0xffffffffffffffffffffffffffffffff","v31"]
["REG",null,8,"0x0000000080000000","nzcv"]
["REG",null,8,"0x0000000000000000","xzr"]
["REG",null,8,"0x0000000000004050","x30"]
["REG",null,8,"0x0000000000005004","x30"]
END
run trod view --from cbp2025 "$golden/cbp2025/class.damaged.cbp2025"
status 2
err_has 'class.damaged.cbp2025: not a record of an instruction'

# CSV: all rows and the columns that its header has, there and back
run trod convert -q --allow-loss "$model" t.csv
status 0
# as the example has it, but for the blanks of the disassembly and the index of accesses
cut -d, -f 1-5,7-12 t.csv >a
cut -d, -f 1-5,7-12 "$golden/csv/model.canonical.csv" >b
check diff a b
run trod convert -q t.csv u.csv
status 0
check cmp t.csv u.csv
run trod view --from csv:kind=write --format json - <<'END'
bytes,Address,SIZE,addr
1,2,0x10,64
END
status 0
through jq -c '[.kind, .address, .size, .text]'
out <<'END'
["WRITE","0x40",16,null]
["NOTE",null,null,"bytes=1 Address=2"]
END
run trod view --from csv - </dev/null
status 0
run trod view --from csv - <<<'a,b,c'
status 2
err_has 'first line should name the columns: none is known'
run trod view --from csv --format json "$golden/csv/bad.damaged.csv"
status 2
err_has 'bad.damaged.csv:3: not a record of the table: it should be a number'
err_has 'bad.damaged.csv:12: not a record of the table: a quoted text has no end'
through jq -c .address
out <<'END'
"0x10"
"0x20"
null
END
rm -f a b t.csv u.csv

# caches and stack distances from an import are those of the source (of one cpu: imports have none)
grep ' cpu0 ' "$model" >one.tarmac
for format in dinerox dinerob lackey memtrace_simple csv; do
    run trod convert -q --allow-loss --to $format one.tarmac one
    status 0
    for analysis in cache locality; do
        trod $analysis --format json one.tarmac | jq 'del(.files, .format, .trace) | del(.. | .stream?)' >want
        run trod $analysis --from $format --format json one
        status 0
        through jq 'del(.files, .format, .trace) | del(.. | .stream?)'
        check diff want "$stdout"
    done
    rm one
done

# din: labels, the size that the simulator takes, pc of the fetch before
run trod view --format json "$golden/dinero/labels.canonical.din"
through jq -c '[.kind, .address, .size, .pc]'
out <<'END'
["INSTR","0x1000",4,"0x1000"]
["WRITE","0xffffffffffffffff",4,"0x1000"]
["READ","0x7fff1000",4,"0x1000"]
["NOTE","0x20",4,"0x1000"]
["CACHE_OP","0x40",4,"0x1000"]
["CACHE_OP","0x0",4,"0x1000"]
["INSTR","0x1004",4,"0x1004"]
["READ","0x0",4,"0x1004"]
END

# pixie: count, block, access; 2 of 4 bytes at 0x1000, a load of 8 by the third, annulled, syscall
{
    bytes 0c 00 04 00 # block at word 0x400
    bytes 21 00 20 08 # two instructions, then one that loads 8 bytes
    bytes 0d 00 00 00 # annulled
    bytes 1e 00 00 00 # one more, then a system call
    bytes 02 00 30 00 # stores 4 bytes
} >t.pixie32
run trod view --from pixie32 --format json t.pixie32
status 0
through jq -c '[.kind, .address, .size, .pc, .flags]'
out <<'END'
["INSTR","0x1000",4,"0x1000",null]
["INSTR","0x1004",4,"0x1004",null]
["INSTR","0x1008",4,"0x1008",null]
["READ","0x2008",8,"0x1008",null]
["INSTR","0x100c",4,"0x100c",["skipped"]]
["INSTR","0x1010",4,"0x1010",null]
["INSTR","0x1014",4,"0x1014",null]
["INSTR","0x1018",4,"0x1018",null]
["WRITE","0x3000",4,"0x1018",null]
END

# an atomic access is a read and a write where there is no line for it
printf 'I  00001000,4\n M 00002000,8\n' >m.lackey
run trod convert -q --allow-loss m.lackey m.xdin
status 0
check diff m.xdin - <<'END'
i 1000 4
r 2000 8
w 2000 8
END
run trod convert -q --allow-loss m.lackey m.pinatrace
check diff m.pinatrace - <<'END'
0x1000: R 0x2000
0x1000: W 0x2000
#eof
END

# doubtful: named, and settled by --from or by the suffix
cp "$golden/dinero/model.canonical.din" doubt
run trod count doubt
status 2
err_has 'may be dinero, .*--from'
run trod count --from dinero doubt
status 0
mv doubt doubt.din
run trod info --format json doubt.din
status 0
json '.files[0].format == "dinero"'

# bad lines: told with their place and stepped over; strict stops
run trod view --from lackey --format json "$golden/lackey/bad.damaged.lackey"
status 2
err_has 'bad.damaged.lackey:4: not a line of lackey: .*begin with'
err_has 'bad.damaged.lackey:13: line of lackey is cut off|bad.damaged.lackey:14: line of lackey is cut off'
through jq -c '[.kind, .address, .size]'
out <<'END'
["NOTE",null,null]
["INSTR","0x1000",4]
["INSTR","0x1004",4]
["READ","0x8008",4]
END
run trod view --strict --from lackey --format json "$golden/lackey/bad.damaged.lackey"
status 2
check test "$(wc -l <"$stdout")" -le 2
{
    printf '2 1000\n1 '
    head -c 100000 /dev/zero | tr '\0' 1
    printf '\n2 1004\n'
} >long.din
run trod view --from dinero --format json long.din
status 2
err_has 'long.din:2: line of dinero is longer'
through jq -c .address
out <<'END'
"0x1000"
"0x1004"
END
: >empty
run trod view --from dinero empty
status 0

# lackey's blocks of code are notes with an address, and stay where they were
run trod view --format json "$golden/lackey/superblocks.canonical.lackey"
status 0
through jq -c '[.kind, .address, .text]'
out <<'END'
["NOTE",null,"==19311== Lackey, an example Valgrind tool"]
["NOTE","0x401ab70","SB 0401ab70"]
["INSTR","0x401ab70",null]
["INSTR","0x401ab73",null]
["WRITE","0x1fff0006d8",null]
["NOTE","0x401b770","SB 0401b770"]
["INSTR","0x401b770",null]
["WRITE","0x1fff0006d0",null]
["INSTR","0x401b771",null]
["NOTE","0x401b7e7","SB 0401b7e7"]
END
run trod convert -q "$golden/lackey/superblocks.canonical.lackey" back.lackey
status 0
check cmp "$golden/lackey/superblocks.canonical.lackey" back.lackey

# pinatrace with sizes and values: another tool of Pin's examples; what is copied keeps them
run trod view --format json "$golden/pinatrace/values.pinatrace"
status 0
through jq -c '[.kind, .pc, .address, .size, .value]'
out <<'END'
["READ","0x7f3a4c0","0x7ffe10",8,"0x00000000000001ff"]
["WRITE","0x7f3a4c3","0x7ffe08",4,"0x00000000"]
["WRITE","0x7f3a4c7","0x7ffe10",16,null]
["READ","0x7f3a4c9","0x0",1,null]
["READ","0x7f3a4cb","0x7ffe18",2,"0xffff"]
["WRITE","0x7f3a4cd","0x7ffe20",8,"0xffffffffffffffff"]
END
run trod convert -q "$golden/pinatrace/values.pinatrace" back.pinatrace
status 0
check diff <(grep -v '^#$\|^# ' "$golden/pinatrace/values.pinatrace") back.pinatrace
run trod convert -q --allow-loss "$golden/pinatrace/values.pinatrace" values.csv
run trod convert values.csv from.pinatrace
status 2
err_has 'lost would be: sizes'
for bad in '0x1: R 0x2 1 0x100' '0x1: R 0x2 1x' '0x1: R 0x2 16 12' '0x1: R 0x2 4 0x1 2'; do
    run trod count --from pinatrace - <<<"$bad"
    status 2
    err_has 'not a line of pinatrace'
done

# a table as a spreadsheet writes it: a mark in front, CRLF, blanks
run trod view --format json "$golden/csv/spreadsheet.csv"
status 0
through jq -c '[.kind, .pc, .address, .size]'
out <<'END'
["READ","0x1000","0x8010",8]
["WRITE","0x1000","0x8018",4]
END

# what valgrind prints: as many rows as lines, and the same text back
if command -v valgrind >/dev/null &&
    valgrind --tool=lackey --trace-mem=yes --log-file=real.log true 2>/dev/null; then
    run trod count --format json real.log
    status 0
    for pair in I:INSTR ' L':READ ' S':WRITE ' M':ATOMIC ==:NOTE; do
        n=$(grep -c "^${pair%:*}" real.log)
        json "[.. | objects | select(.kind? == \"${pair#*:}\") | .rows][0] == $n"
    done
    run trod convert -q real.log back.lackey
    status 0
    check cmp real.log back.lackey
    # rows in, rows out: through other formats that hold sizes
    grep -v '^==' real.log | sed 's/^ M\(.*\)/ L\1\n S\1/' >plain.lackey
    run trod convert -q --allow-loss real.log real.xdin
    status 0
    run trod convert -q real.xdin again.lackey
    status 0
    check cmp plain.lackey again.lackey
else
    echo "note: no valgrind that runs here: its output is not tried"
fi
finish
