# shared_out.sh - traces that a run shares out: dir/, seven files of one program each; t.tarmac and t.zip, one
# file of several pieces and of several chunks.

# instructions N, SEED: that many, every third one loads
lines() {
    awk -v n="$1" -v seed="$2" 'BEGIN {
        for (i = 0; i < n; i++) {
            printf "%d clk cpu%d IT (%d) %08x %s O EL1h_n : X\n", i, (i + seed) % 2, i + 1,
                   65536 * seed + 4 * i, i % 3 ? "d503201f" : "f9400001"
            if (i % 3 == 0)
                printf "%d clk cpu%d MR8 %08x 00000000_00000001\n", i, (i + seed) % 2,
                       8388608 + i * 8 % 65536
        }
    }'
}
mkdir dir
for i in 1 2 3 4 5 6 7; do
    lines $((1000 * i)) $i >dir/t$i.tarmac
done
lines 200000 1 >t.tarmac # several pieces of 4 MiB
run trod convert t.tarmac t.zip --to drmemtrace:chunk=80000 --allow-loss
status 0
