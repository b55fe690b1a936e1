# test_members.sh - bits of a drmemtrace archive are flipped: what is read, said and found is the same on any number of
# threads, is said once, and of members that are good no row is lost.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format drmemtrace
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }

seeds=$(fewer 3 2)
chunk=66000 # instructions, whose entries and accesses have 12 bytes: members large enough for parts
run trod gen -q --to drmemtrace:chunk=$chunk zipf:lines=4000,count=$((chunk * 4 / 3)) good.zip
status 0
run trod view --format csv good.zip
status 0
cp "$stdout" good.csv

# flip SEED: two bits of the data of one member, or of two, of bad.zip are others; the numbers of these
flip() {
    python3 - "$1" <<'END'
import random, struct, sys, zipfile
data = bytearray(open("good.zip", "rb").read())
members = zipfile.ZipFile("good.zip").infolist()
draw = random.Random(int(sys.argv[1]))
for flipped in range(2):
    k = draw.randrange(len(members))
    at = members[k].header_offset
    at += 30 + sum(struct.unpack_from("<2H", data, at + 26))
    data[at + draw.randrange(members[k].compress_size)] ^= 1 << draw.randrange(8)
    print(k)
open("bad.zip", "wb").write(data)
END
}

# keeps BAD...: of each member but these, the rows of its instructions and what they access are in rows.csv
keeps() {
    python3 - $chunk "$@" <<'END'
import csv, sys
def rows(path):
    names, *rest = csv.reader(open(path, errors="replace"))
    at = [names.index(name) for name in ("kind", "time", "address", "size")]
    return [",".join(row[i] for i in at) for row in rest]
chunk, bad = int(sys.argv[1]), {int(k) for k in sys.argv[2:]}
good, read = rows("good.csv"), "\n".join(rows("rows.csv"))
begins = [i for i, row in enumerate(good) if row.startswith("INSTR")]
for k in range((len(begins) + chunk - 1) // chunk):
    last = min((k + 1) * chunk, len(begins)) - 1
    if k not in bad and "\n".join(good[begins[k * chunk]:begins[last] + 1]) not in read:
        sys.exit("rows of member %d are lost" % k)
END
}

for ((seed = 0; seed < seeds; seed++)); do
    bad=$(flip $seed)
    for how in count check view; do
        more=(--format json)
        [[ $how != view ]] || more=(--format csv)
        run trod $how -j 1 "${more[@]}" bad.zip
        was=$got
        check test "$was" -ne 0
        cp "$stdout" want
        cp "$stderr" want.err
        check test -z "$(sort want.err | uniq -d)"
        for jobs in 2 3; do
            [[ $how == count || $jobs == 2 ]] || continue # all read it alike
            run trod $how -j $jobs "${more[@]}" bad.zip
            status "$was"
            out_is want
            err <want.err
        done
    done
    cp want rows.csv
    check keeps $bad
done
finish
