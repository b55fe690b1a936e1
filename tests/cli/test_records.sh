# test_records.sh - what records of the binary formats say is seen: names of the documents, byte enables,
# attributes, effective addresses and third words, values of markers, threads and processes.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
needs_format byu6
needs_format tt6e

# ---- byu6: address (big-endian), byte enables (0: requested), control
{
    bytes 00 00 10 00 55 c0 # D_READ of bytes 1 3 5 7
    bytes 00 00 20 00 00 e0 # WRITE_BACK
    bytes 00 00 20 00 00 f0 # D_WRITE
    bytes 00 00 30 00 0f 80 # I_FETCH of the upper four
    bytes 00 00 40 00 00 57 # IO_READ, low nibble 7
} >t.byu6
run trod view --from byu6 --format json t.byu6
status 0
through jq -sc 'map([.text, .address, .size, .details.enables, .details.control_low])[]'
out <<'EOF'
["D_READ","0x1001",4,"0x55",null]
["WRITE_BACK","0x2000",8,"0x0",null]
["D_WRITE","0x2000",8,"0x0",null]
["I_FETCH","0x3004",4,"0xf",null]
["IO_READ","0x4000",8,"0x0",7]
EOF
run trod view --from byu6 --format csv --range 0 t.byu6
out_has ',D_READ,.*enables=0x55'
run trod view --from byu6 t.byu6
out_has ' WRITE_BACK +\{.*enables=0x00'
out_has ' D_READ +\{holes .*enables=0x55'
# an address is touched where its byte was requested, and nowhere else
for byte in 0 1 2 3 4 5 6 7; do
    run trod view --from byu6 --format json --address 0x100$byte t.byu6
    check test "$(wc -l <"$stdout")" = $((byte % 2))
done
run trod view --from byu6 --format json --address 0x1006..0x1fff t.byu6
check test "$(wc -l <"$stdout")" = 1
# the format's words beside the common ones
for kind in FETCH:3 fetch:3 D_WRITE:2 WRITE_BACK:1 WRITE:1,2 I_FETCH,D_READ:0,3; do
    run trod view --from byu6 --format json --kind "${kind%%:*}" t.byu6
    status 0
    through jq -s -r 'map(.record | tostring) | join(",")'
    out <<<"${kind##*:}"
done
run trod view --from byu6 --kind D_WRIT t.byu6
status 2
# counted by name: WRITE is D_WRITE and WRITE_BACK
run trod info --from byu6 --format json t.byu6
status 0
json '.files[0].names | map([.name, .rows]) == [["IO_READ",1],["I_FETCH",1],["D_READ",1],["WRITE_BACK",1],["D_WRITE",1]]'
run trod count --from byu6 --format json t.byu6
status 0
out_has '"D_WRITE", *"rows": *1'
out_has '"WRITE_BACK", *"rows": *1'

# ---- byu12: attributes
{
    bytes 00 10 00 00 01 08 03 00 01 00 00 00
    bytes 00 10 00 00 02 08 45 02 01 00 00 00
} >t.byu12
run trod view --from byu12 --format json t.byu12
through jq -c '[.text, .agent, .details]'
out <<'EOF'
["MEMREAD","0",{"memory":"write-back"}]
["MEMREADINV","2",{"memory":"write-through","attributes":"0x45"}]
EOF
# a word that is a kind of record as well as a name
bytes 00 10 00 00 32 00 03 00 01 00 00 00 >>t.byu12
run trod view --from byu12 --format json --kind FLUSH t.byu12
through jq -c '[.record, .kind, .text]'
out <<<'[2,"MARKER","FLUSH"]'

run trod count --from byu12 --format json t.byu12
out_has '"agent"'
out_not '"thread"'
# no path through threads that nothing orders; formats without such records are refused by name
run trod sync --from byu12 t.byu12
status 2
err_has 'byu12 has no synchronization records'
printf '\0\0\020\0\140\0\0\0' >plain.tt6
run trod sync --from tt6 plain.tt6
status 0
out_has 'sync_points|sync points'
out_not 'parallelism|critical'

# ---- tt6: escapes of any length in file order, names, recorded addresses, third words
word() {
    local w
    for w; do
        bytes ${w:0:2} ${w:2:2} ${w:4:2} ${w:6:2}
    done
}
{
    word 00001000                            # INITIAL_PC
    word 00070003 01020304 05060708 090a0b0c # an escape of three words
    word 00020001 20000000                   # condition register
    word 00210002 0000bee0 00000007          # SYNC_BROADCAST_SIGNAL, count 7
    word 7c2018ce 00002345                   # lvx v1,0,r3: 16 bytes at 2340
    word 7c0322ac 00003000 0203fffc          # dst r3,r4,0: 2 blocks of 16, 3 times, stride -4
    word 7c632c2a 00004000 2000000d          # lswx r3,r3,r5: 13 bytes
} >t.tt6
run trod view --from tt6 --format json t.tt6
status 0
through jq -c '[.kind, .text, .value, .address, .size, .details] | select(.[0] != "INSTR")'
out <<'EOF'
["MARKER","INITIAL_PC","0x1000",null,null,null]
["MARKER",null,"0102030405060708090a0b0c",null,null,null]
["MARKER","condition register value","0x20000000",null,null,null]
["SYNC","SYNC_BROADCAST_SIGNAL","7","0xbee0",null,null]
["READ",null,null,"0x2340",16,{"ea":"0x2345"}]
["PREFETCH",null,null,"0x3000",32,{"rb":"0x203fffc","count":3,"stride":-4}]
["READ",null,null,"0x4000",13,{"xer":"0x2000000d"}]
EOF
run trod view --from tt6 t.tt6
out_has '0102030405060708090a0b0c'
out_has ' SYNC_BROADCAST_SIGNAL '
out_has 'rb=0x0203fffc count=3 stride=-4'
run trod view --from tt6 --native t.tt6
out_has '^00210002 0000bee0 00000007 ESCAPE 0x21 SYNC_BROADCAST_SIGNAL$'
out_has '^00070003 01020304 05060708 090a0b0c ESCAPE 0x07 unknown$'
run trod view --from tt6 --format csv t.tt6
out_has 'ea=0x00002345'
run trod view --from tt6 --format json --kind SYNC_BROADCAST_SIGNAL t.tt6
check test "$(wc -l <"$stdout")" = 1
# what the tracer put in is not the program's: twi, then b 0x700 and rfi
{
    word 00001000 38600001 0c000000 48000702 00000700 4c000064 00001008 38600002
} >t.tt6e
run trod count --from tt6e --format json t.tt6e
status 0
out_has '"fetched_instructions": 3,'
out_has '"synthetic_instructions": 2,'
out_not '"exception_returns": [^0]'
run trod info --from tt6e --format json t.tt6e
json '.files[0].synthetic_instructions == 2 and (.files[0].kinds | map(select(.kind == "INSTR").rows) == [5])'
run trod view --from tt6e t.tt6e
out_has 'synthetic'
# each count of a sync point is given once, whoever gives it
word 00001000 00200002 0000bee0 00000001 60000000 >one.tt6
word 00002000 00300002 0000bee0 00000001 60000000 00200002 0000bee0 00000001 60000000 >two.tt6
word 00002000 00300002 0000bee0 00000001 60000000 00200002 0000bee0 00000002 60000000 >fine.tt6
run trod check --from tt6 one.tt6 two.tt6
status 1
out_has 'signal 1 on sync point 0xbee0 was given before'
run trod sync --from tt6 one.tt6 two.tt6
status 2
err_has 'two\.tt6: .*signal 1 on sync point 0xbee0 was given before'
run trod check --from tt6 one.tt6 fine.tt6
status 0
run trod sync --from tt6 one.tt6 fine.tt6
status 0
err </dev/null

# ---- drmemtrace (64-bit entries: type, size, value): whose the rows are, and what markers hold
drm() { bytes $(printf '%02x %02x %02x %02x ' $(($1 & 255)) $(($1 >> 8)) $(($2 & 255)) $(($2 >> 8))); shift 2; bytes "$@"; }
{
    drm 25 0 07 00 00 00 00 00 00 00   # header, version 7
    drm 28 12 07 00 00 00 00 00 00 00  # version
    drm 28 9 40 02 00 00 00 00 00 00   # file type x86-64 with encodings
    drm 22 4 39 30 00 00 00 00 00 00   # thread 12345
    drm 24 4 31 d4 00 00 00 00 00 00   # process 54321
    drm 28 2 10 00 00 00 00 00 00 00   # timestamp
    drm 28 3 02 00 00 00 00 00 00 00   # cpu
    drm 47 2 0f 05 00 00 00 00 00 00   # encoding: syscall
    drm 10 2 00 10 40 00 00 00 00 00   # instruction at 401000
    drm 10 2 00 10 40 00 00 00 00 00   # the same again
    drm 28 0 00 f0 ff ff ff 7f 00 00   # kernel event
    drm 28 4 00 00 00 00 01 00 00 00   # function 2^32
    drm 28 7 fc ff ff ff ff ff ff ff   # returned -4
    drm 23 4 39 30 00 00 00 00 00 00   # thread exit
    drm 26 0 00 00 00 00 00 00 00 00   # footer
} >t.trace
run trod view --format json t.trace
through jq -c 'select(.kind == "MARKER") | [.text, .value]'
out_has '^\["filetype","0x240"\]$'
out_has '^\["kernel-event","0x7ffffffff000"\]$'
out_has '^\["func-retval","-4"\]$'
out_has '^\["timestamp","16"\]$'
run trod view --format json t.trace
through jq -sc 'map(select(.kind == "INSTR") | [.thread, .tid, .pid, .cpu])'
out <<<'[["12345",12345,54321,null],["12345",12345,54321,null]]'
# types of records do not tell system calls from other instructions, encodings do
run trod count --format json t.trace
out_has '"system_call_instructions": 2'
run trod view --format json --kind INSTR t.trace
out_has '"branch": "syscall"'
run trod view --header always t.trace
out_has '^ *row .* thread '
out_has 'kernel-event'
out_not 'MARKER .*sub='
run trod view --format csv t.trace
through head -1
out_has ',thread,.*,tid,pid$'
finish
