# test_count.sh - trod count as users see it: Tarmac text made here, so that the numbers are known.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format tarmac
have jq

# 100 instructions in a loop of 10, each with a register; every second one reads, every fifth writes
awk 'BEGIN {
    for (i = 0; i < 100; i++) {
        printf "%d clk IT (%d) %08x e2800001 A svc_s : ADD r0,r0,#1\n", i, i + 1, 32768 + i % 10 * 4
        printf "%d clk R r0 %08x\n", i, i
        if (i % 2 == 0) printf "%d clk MR4 %08x 00000001\n", i, 65536 + i * 4
        if (i % 5 == 0) printf "%d clk MW8 %08x 00000001_00000002\n", i, 65536 + 64 * i
    }
}' >loop.tarmac

run trod count loop.tarmac
status 0
out_has '^format: +tarmac$'
out_has '^  rows: +270$'
out_has '^  fetched instructions: +100$'
out_has '^  unique fetched instructions: +10$'
out_has '^  data loads: +50$'
out_has '^  data stores: +20$'
out_has '^  bytes read: +200$'
out_has '^  bytes written: +160$'
out_has '^  unique code bytes: +40$'
out_has '^  unique code lines: +1$'
out_has '^    REG +100$'
# what Tarmac cannot know is absent
out_not 'encodings|kernel|idle markers|non fetched|prefetches|branches'

# reads at 65536 + 8 k, k < 50: 7 lines of 64; writes at 65536 + 320 k, k < 20: 20 lines, of which
# those of k = 0 and 1 (lines 0 and 5) are among the reads
run trod count --format json loop.tarmac
status 0
json '.total.unique_data_lines == 7 + 20 - 2 and .total.line_size == 64'
json '.total.unique_data_bytes == 50 * 4 + 20 * 8 - 4 - 4'
run trod count --format json --line-size 32 loop.tarmac
json '.total.line_size == 32 and .total.unique_code_lines == 2'
run trod count --footprint none --format json loop.tarmac
json '.total | has("unique_data_bytes") | not'

# every way of reading gives the same
run trod count --format json loop.tarmac
cp "$stdout" want.json
for jobs in 1 2 7; do
    run trod count --format json -j "$jobs" loop.tarmac
    same want.json "$stdout"
done
gzip -k loop.tarmac
run trod count --format json loop.tarmac.gz
same want.json "$stdout"
"$TROD" count --format json - <loop.tarmac >got.json
same want.json got.json

# several files are one trace: cpu0 goes on in the second
run trod count --format json loop.tarmac loop.tarmac.gz
status 0
json '.files == 2 and .total.fetched_instructions == 200'
json '.total.unique_fetched_instructions == 10 and (.threads_counts | length) <= 1'

# part of a trace
run trod count --format json --kind INSTR,WRITE --range 0..134 loop.tarmac
status 0
json '.total.rows == 60 and .total.data_stores == 10 and (.total | has("data_loads"))'
run trod count --format json --address 0x8000..0x8007 loop.tarmac
json '.total.fetched_instructions == 20'

run trod count --format csv loop.tarmac
status 0
out_has '^total.fetched_instructions,100$'

# trouble is told, what could be read is counted
{ cat loop.tarmac; echo "5 clk IT (zz"; } >bad.tarmac
run trod count --format json bad.tarmac
status 2
json '.total.fetched_instructions == 100'
run trod count loop.tarmac missing.tarmac
status 2
err_has 'missing.tarmac'
run trod count --line-size 48 loop.tarmac
status 2
err_has "line size '48'"
run trod count --footprint some loop.tarmac
status 2
run trod count
status 2

# byte enables with holes (active low): 0x55 enables bytes 1, 3, 5 and 7 of the double word, 0xaa the
# others; the second pair of records overlaps in nothing, the last one touches what the first did
{
    printf '\000\000\020\000\125\300' # D_READ 1000, enables 55
    printf '\000\000\020\100\125\300' # D_READ 1040, enables 55
    printf '\000\000\020\100\252\360' # D_WRITE 1040, enables aa
    printf '\000\000\020\000\125\360' # D_WRITE 1000, enables 55
} >holes.byu6
run trod count -f byu6 --format json holes.byu6
status 0
json '.total.unique_data_bytes == 4 + 4 + 4'
json '.total.unique_data_lines == 2'
json '.total.bytes_read == 8 and .total.bytes_written == 8'

# intervals of a trace whose numbers are summed up file by file
run trod count --interval 20 --format json "$TROD_SOURCE/examples/sum.trace.zip"
status 0
json '[.intervals[].total.fetched_instructions] == [20, 20, 10] and .total.fetched_instructions == 50'

# large accesses count with all their bytes: 256 KiB and a byte, half of it again in the second file, and 4 GiB less a byte
printf '%s\n' kind,pc,addr,size INSTR,0x1000,0x1000,4 READ,0x1000,0xc000,262145 >large.csv
printf '%s\n' kind,pc,addr,size INSTR,0x1000,0x1000,4 WRITE,0x1000,0x2c000,262144 \
    READ,0x1000,0x100000000,4294967295 READ,0x1000,0x100000010,16 >larger.csv
for footprint in exact auto; do
    run trod count --footprint $footprint --format json large.csv
    status 0
    json '.total.unique_data_bytes == 262145 and .total.unique_data_lines == 4097'
    for jobs in 1 2; do
        run trod count --footprint $footprint --format json -j $jobs large.csv larger.csv
        json ".total.unique_data_bytes == $((131072 + 262144 + 4294967295)) and
            .total.unique_data_lines == $((2048 + 4096 + (1 << 26)))"
    done
done
for part in 0 1; do run trod run count --part $part/2 --save part.$part large.csv larger.csv; done
trod count large.csv larger.csv >want
run trod merge part.1 part.0
out_is want

finish
