# test_frames.sh - a compressed text file of several frames or members is read in parts on several
# threads: results and messages are those of one thread, of plain text, and where it is damaged.
. "$TROD_SOURCE/tests/cli/lib.sh"
for tool in zstd lz4 gzip; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done

xz=false
! command -v xz >/dev/null || xz=true
more=()

rows=$(fewer 200000 40000) # six lines of them damaged
awk -v rows=$rows 'BEGIN {
    for (i = 0; i < rows; i++) {
        printf "%d clk cpu%d IT (%d) %08x %s O EL1h_n : X\n", i, i % 2, i + 1, 4 * i,
               i % 3 ? "d503201f" : "f9400001"
        if (i % 3 == 0)
            printf "%d clk cpu%d MR8 %08x 00000000_00000001\n", i, i % 2, 8388608 + i * 8 % 65536
        if (i % (rows * 3 / 20) == rows * 3 / 20 - 1)
            printf "%d clk cpu0 IT (%d) 0000zz00 d503201f O EL1h_n : X\n", i, i + 1
    }
}' >t.tarmac
split -b $rows -a 3 t.tarmac part. # not at lines
for part in part.???; do
    zstd -q -c "$part" >>t.tarmac.zst
    lz4 -q -c --content-size "$part" >>t.tarmac.lz4
    lz4 -q -c --no-frame-crc -B4 -BX --content-size "$part" >>u.tarmac.lz4
    gzip -n -c "$part" >member
    n=$(($(wc -c <member) + 8 - 1)) # BGZF: 8 bytes more, of which the field says all less one
    bytes 1f 8b 08 04 00 00 00 00 00 ff 06 00 42 43 02 00 \
        "$(printf '%02x %02x' $((n & 255)) $((n >> 8)))" >>t.tarmac.gz
    tail -c +11 member >>t.tarmac.gz
    gzip -c "$part" >>u.tarmac.gz # members that do not say their lengths
    ! $xz || xz -0 -c "$part" >>u.tarmac.xz
done
zstd -q -c t.tarmac >one.tarmac.zst # a single frame
cat t.tarmac | zstd -q -c >unsaid.tarmac.zst
if $xz; then # streams; blocks, of which another stream has some
    head -c $((20 * rows)) t.tarmac | xz -0 --block-size=$((3 * rows / 2)) -c >t.tarmac.xz
    head -c 8 /dev/zero >>t.tarmac.xz # padding
    tail -c +$((20 * rows + 1)) t.tarmac | xz -0 --block-size=$((5 * rows / 4)) -c >>t.tarmac.xz
    more=(t.tarmac.xz u.tarmac.xz)
fi

run trod count -j 1 --format json t.tarmac
status 2
cp "$stdout" want
sed 's/[a-z]*\.tarmac[.a-z0-9]*/FILE/g' "$stderr" >want.err
check test "$(grep -c FILE want.err)" = 6
for file in t.tarmac t.tarmac.zst t.tarmac.lz4 u.tarmac.lz4 t.tarmac.gz u.tarmac.gz one.tarmac.zst unsaid.tarmac.zst "${more[@]}"; do
    for jobs in 1 2 3 8; do
        run trod count -j $jobs --format json $file
        status 2
        out_is want
        sed 's/[a-z]*\.tarmac[.a-z0-9]*/FILE/g' "$stderr" >err
        same want.err err
    done
done


# damage: what one thread reads, and says, all say
for file in t.tarmac.zst t.tarmac.lz4 t.tarmac.gz u.tarmac.gz "${more[@]}"; do
    size=$(wc -c <$file)
    places="$((size / 20)) $((size / 3)) $((size / 2 + 7)) $((size - 30))"
    [[ $file == t.tarmac.[zlg]* ]] || places=$((size / 3))
    for at in $places; do
        cp $file bad
        bytes ff 00 ff 00 ff | dd of=bad bs=1 seek=$at conv=notrunc 2>/dev/null
        run trod count -j 1 --format json bad
        was=$got
        cp "$stdout" want
        cp "$stderr" want.err
        for jobs in 2 3; do
            run trod count -j $jobs --format json bad
            status $was
            out_is want
            err <want.err
        done
    done
    head -c $((size * 2 / 3)) $file >bad
    run trod count -j 1 --format json bad
    status 2
    cp "$stdout" want
    cp "$stderr" want.err
    run trod count -j 3 --format json bad
    status 2
    out_is want
    err <want.err
    { cat $file; echo more; } >bad
    run trod count -j 1 --format json bad
    cp "$stdout" want
    run trod count -j 3 --format json bad
    out_is want
done

# a member of records, among the last, that makes more bytes than it says
gen=$(dirname "$TROD")/../../tests/gen/trod-gen
if [[ -x $gen ]] && trod formats tt6 >/dev/null 2>&1 && command -v python3 >/dev/null; then
    "$gen" tt6 --records 1200000 >t.tt6
    run trod convert -q -f tt6 t.tt6 t.tt6.gz
    python3 - <<'END'
import struct
b = bytearray(open('t.tt6.gz', 'rb').read())
ends = [0]
while ends[-1] < len(b):  # MiGz: the field MZ says the bytes between a header of 20 bytes and a trailer of 8
    ends.append(ends[-1] + 20 + struct.unpack_from('<I', b, ends[-1] + 16)[0] + 8)
made, = struct.unpack_from('<I', b, ends[-3] - 4)
struct.pack_into('<I', b, ends[-3] - 4, made - 1)
open('bad.tt6.gz', 'wb').write(b)
END
    run trod count -j 1 --format json bad.tt6.gz
    was=$got
    cp "$stdout" want
    cp "$stderr" want.err
    for jobs in 2 3; do
        run trod count -j $jobs --format json bad.tt6.gz
        status $was
        out_is want
        err <want.err
    done
fi

# going into the middle of it gives the rows of plain text
for file in t.tarmac.zst t.tarmac.lz4 t.tarmac.gz u.tarmac.gz; do
    run trod view --range $((5 * rows / 4))..$((5 * rows / 4 + 10)) t.tarmac
    cp "$stdout" want
    run trod view --range $((5 * rows / 4))..$((5 * rows / 4 + 10)) $file
    out_is want
done

# parts by hand, where a compressed file is one piece
run trod run count --format json t.tarmac
jq 'del(.format)' "$stdout" >want
for i in 0 1 2; do
    run trod run count --part $i/3 --save $i.state t.tarmac.zst
done
run trod merge --format json 0.state 1.state 2.state
jq 'del(.format)' "$stdout" >merged
same want merged
finish
