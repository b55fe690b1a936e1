# test_export_ctf.sh - `trod export --to ctf`: babeltrace2 reads every row, with its time and fields.
. "$TROD_SOURCE/tests/cli/lib.sh"
. "$TROD_SOURCE/tests/cli/calls_model.sh"
needs_format tarmac
have jq

model 3 2 >m.tarmac
run trod export -o m.ctf --format json m.tarmac
status 0
json '.events == 104 and .packets == 2 and .times_held == 0'
check grep -q '^/\* CTF 1.8 \*/' m.ctf/metadata
# the head of the first packet: magic, 16 bytes of uuid, stream 0
run sh -c 'head -c 4 m.ctf/stream0 | od -A n -t x4'
out <<<' c1fc1fc1'
run trod export --to ctf m.tarmac
status 2
err_has 'a folder of files'
run trod export --to ctf -o m.ctf m.tarmac
status 2
err_has 'not empty'
have babeltrace2

run babeltrace2 m.ctf
status 0
check test "$(wc -l <"$stdout")" = 104
cp "$stdout" events
run sh -c "grep -c ' instr: { cpu_id = 0 }' events; grep -c ' read: ' events; grep -c ' write: { cpu_id = 1 }' events"
out <<'END'
44
20
4
END
run sed -n -E '/cpu_id = 0/{s/^\[00:00:00\.0+([1-9][0-9]*)\] \([^)]*\)/\1/;p}' events
through sed -n '2,4p'
out <<'END'
2 instr: { cpu_id = 0 }, { has = 0x1439F, flags = 0x140, pc = 0x1004, size = 4, code_n = 4, code = [ [0] = 0x7, [1] = 0x0, [2] = 0x0, [3] = 0x94 ], text = "BL       {pc}+0x1c ; 0x1020" }
3 instr: { cpu_id = 0 }, { has = 0x1439F, flags = 0x140, pc = 0x1020, size = 4, code_n = 4, code = [ [0] = 0xFD, [1] = 0x7B, [2] = 0xBF, [3] = 0xA9 ], text = "STP      x29,x30,[sp,#-0x10]!" }
3 write: { cpu_id = 0 }, { has = 0xB9F, flags = 0x100, pc = 0x1020, size = 8, addr = 0x7FE0, paddr = 0x7FE0, value = 0x1, data_n = 0, data = [ ] }
END

# times that go back stand still; all kinds of rows; values wider than 64 bits; texts
cat >odd.tarmac <<'END'
10 ns cpu0 IT (1) 00001000 d503201f O EL1h_n : NOP
5 ns cpu0 R V0 00112233_44556677_8899aabb_ccddeeff
20 ns cpu0 E 00000000 00000005 CoreEvent_Test "quoted"
END
run trod export -o odd.ctf --format json odd.tarmac
json '.times_held == 1'
run babeltrace2 odd.ctf
status 0
out_has '^\[00:00:00\.000000010\] .* reg: .* data_n = 16, data = \[ \[0\] = 0xFF, .* \[15\] = 0x0 \], text = "V0"'
out_has '^\[00:00:00\.000000020\] '

# packets of 64 KiB: a long trace has many, and none of its rows is lost
model 200 >long.tarmac # 2 + 14 * 200 instructions, 1200 accesses
run trod export -o long.ctf --format json long.tarmac
json '.events == 4002 and .packets > 2'
run sh -c 'babeltrace2 long.ctf | wc -l'
out <<<4002
# no times: rows are counted
printf '\0\0\20\0\125\300\0\0\40\0\0\360' >m.byu6
run trod export --from byu6 -o m6.ctf m.byu6
status 0
run babeltrace2 m6.ctf
status 0
out_has '^\[00:00:00\.000000000\] .* read: '
out_has '^\[00:00:00\.000000001\] .* write: '
# an empty trace has no streams
: >empty.tarmac
run trod export --from tarmac -o empty.ctf empty.tarmac
status 0
finish
