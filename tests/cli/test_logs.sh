# test_logs.sh - logs and traces of other tools: recognised by content, viewed, converted, compared, damaged; STF in chunks.
. "$TROD_SOURCE/tests/cli/lib.sh"
golden=$TROD_SOURCE/tests/golden

# each is recognised by its content, whatever it is called
for format in execlog qemulog spike rvvitext gem5exec perfscript stf; do
    for file in "$golden/$format"/*; do
        [[ $file == *damaged* ]] && continue
        cp "$file" trace
        run trod info --format json trace
        status 0
        json ".files[0].format == \"$format\""
    done
done

# the same instructions logged by QEMU's blocks, by its plugin, by Spike, and as RVVI-TEXT: equal by pc
cat >blocks.log <<'EOL'
IN: main
0x0000000080000000:  00000297          auipc           t0,0
0x0000000080000004:  0285              addi            t0,t0,1
0x0000000080000006:  0052b023          sd              t0,0(t0)

Trace 0: 0x7f0100 [0000000000000000/0000000080000000/00207600/00000200] main
Trace 0: 0x7f0100 [0000000000000000/0000000080000000/00207600/00000200] main
EOL
cat >plugin.log <<'EOL'
0, 0x80000000, 0x297, "auipc t0,0"
0, 0x80000004, 0xb0230285, "addi t0,t0,1"
0, 0x80000006, 0x52b023, "sd t0,0(t0)", store, 0x80000001
0, 0x80000000, 0x297, "auipc t0,0"
0, 0x80000004, 0xb0230285, "addi t0,t0,1"
0, 0x80000006, 0x52b023, "sd t0,0(t0)", store, 0x80000001
EOL
cat >spike.log <<'EOL'
core   0: 3 0x0000000080000000 (0x00000297) x5  0x0000000080000000
core   0: 3 0x0000000080000004 (0x0285) x5  0x0000000080000001
core   0: 3 0x0000000080000006 (0x0052b023) mem 0x0000000080000001 0x0000000080000001
core   0: 3 0x0000000080000000 (0x00000297) x5  0x0000000080000000
core   0: 3 0x0000000080000004 (0x0285) x5  0x0000000080000001
core   0: 3 0x0000000080000006 (0x0052b023) mem 0x0000000080000001 0x0000000080000001
EOL
cat >rvvi.log <<'EOL'
VERSION 0 4
RET 80000000 00000297 X 5 0000000080000000
RET 80000004 0285 X 5 0000000080000001 \
RET 80000006 0052b023 MEM D 8 80000001 80000001 0
RET 80000000 00000297 RET 80000004 0285 \
    RET 80000006 0052b023 MEM D 8 80000001 80000001 0
EOL
for log in plugin spike rvvi; do
    run trod compare --track instr --compare pc --from qemulog:isa=riscv64 blocks.log blocks.log
    status 0
    run trod compare --track instr --compare pc blocks.log $log.log
    status 0
done
sed -i '5s/80000004/80000014/' spike.log
run trod compare --track instr --compare pc blocks.log spike.log
status 1

# RISC-V opcodes are decoded: kinds of instructions, branches, disassembly
run trod mix plugin.log --from execlog:isa=riscv64
out_has '^  store +2 '
out_has '^  c +2 '
run trod branches "$golden/spike/both.spike"
status 0
run trod view --disassemble always --kind INSTR "$golden/spike/old.spike"
out_has 'auipc t0, 0$'
out_has 'ld t1, 8\(t0\)$'
out_has 'c.jr ra$'

# they convert, with what is lost named; the other way there is nothing to write
run trod convert --to drmemtrace --allow-loss plugin.log plugin.d --from execlog:isa=riscv64
status 0
run trod compare --track instr --compare pc plugin.log plugin.d
status 0
run trod convert "$golden/tarmac/"*canonical*.tarmac out.spike
status 2
err_has 'spike'

# damage: message with file, line and place; what is good stays
run trod view "$golden/execlog/lines.damaged.execlog" --kind INSTR
err_has 'lines.damaged.execlog:2: an opcode'
out_has '0x00001020'
run trod view "$golden/rvvitext/lines.damaged.rvvi"
err_has 'lines.damaged.rvvi:5: warning: element is not known: passed over'
err_has 'lines.damaged.rvvi:11: mode is not 0 to 3'
err_has 'lines.damaged.rvvi:12: line is cut off: '
out_has '0x0000101c +4 +3e800093'

# modes of harts and the time go on at the points of an index
{ cat "$golden/rvvitext/harts.rvvi"
  for ((i = 0; i < 20000; i++)); do printf 'HART %d RET %x 00000013 X 5 %08x TIME 10\n' $((i % 2)) $((4 * i)) $i; done; } >long.rvvi
run trod view --range 35000..35020 --format json long.rvvi
status 0
mv "$stdout" serial.json
run trod index -q long.rvvi
status 0
run trod view --range 35000..35020 --format json long.rvvi
out_is serial.json

# STF in chunks: a head, a zstd frame for each, an index that is stepped over
if command -v zstd >/dev/null; then
    le64() { printf "$(printf '\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) 0 0 0 0 0)"; }
    plain=$golden/stf/records.stf
    head -c 200 "$plain" | zstd -q >a.zst
    tail -c +201 "$plain" | zstd -q >b.zst
    index=$((20 + $(cat a.zst b.zst | wc -c)))
    { printf ZSTF; le64 10; le64 $index; cat a.zst b.zst; le64 2; le64 0; le64 0; le64 200; } >both.zstf
    trod view "$plain" >want
    run trod view both.zstf
    status 0
    out_is want
    { printf ZSTF; le64 10; le64 0; cat a.zst b.zst; } >unfinished.zstf
    run trod view unfinished.zstf
    status 0
    out_is want
    head -c $((index - 3)) both.zstf >cut.zstf
    run trod view cut.zstf
    status 2
    err_has 'cut.zstf: .*cut short'
    out_has 'mtvec' # what came before
    head -c 12 both.zstf >head.zstf
    run trod view head.zstf
    status 2
fi
finish
