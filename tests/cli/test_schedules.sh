#!/usr/bin/env bash
# Schedule files of copies, whole and filtered, against a second computation from the copies' own entries (docs/formats/drmemtrace.md, "Schedule files").
. "$TROD_SOURCE/tests/cli/lib.sh"

# little WIDTH VALUE: its bytes; e TYPE SIZE VALUE: an entry
little() {
    local i v=$2
    for ((i = 0; i < $1; i++, v >>= 8)); do printf "\\x$(printf %02x $((v & 255)))"; done
}
e() {
    little 2 "$1"
    little 2 "$2"
    little 8 "$3"
}

# thread TID CPU LOOPS [TIME]: a file; each third loop is on another cpu
thread() {
    local i t=$((${4:-1000} + $1))
    e 25 0 7
    e 28 12 7
    e 28 9 $((0xe40))
    e 22 4 "$1"
    e 24 4 77
    e 28 10 64
    e 28 20 10000
    e 28 18 4096
    for ((i = 0; i < $3; i++, t += 10)); do
        e 28 2 $t
        e 28 3 $((i % 3 ? $2 : 5))
        [[ $i == 0 ]] && e 47 4 $((0x00408b48))
        e 10 4 $((0x1000)) # mov 0(%rax), %rax
        e 0 8 $((0x8000 + i))
        [[ $i == 0 ]] && e 47 2 $((0xf8eb + 0x200)) # jmp back
        e 11 2 $((0x1004))
    done
    e 23 4 "$1"
    e 26 0 0
}

# entries FILE: its entries as "type size value", numbers in hexadecimal
entries() {
    case $1 in
    *.zip) unzip -p "$1" ;;
    *) cat "$1" ;;
    esac | od -An -v -w12 -tx2 --endian=little | awk '{ print $1, $2, $6 $5 $4 $3 }'
}

# expected DIR: the schedule of all threads
expected() {
    for f in "$1"/*.trace*; do
        entries "$f" | awk '
            $1 == "0016" { tid = $3 }
            $1 ~ /^(000a|000b|000c|000d|000e|000f|0010|001f|0030|0031)$/ && $2 != "0000" { n++ }
            $1 == "001c" && $2 == "0015" { hide_time = hide_cpu = 1 }
            $1 == "001c" && $2 == "0002" { if (hide_time) hide_time = 0; else time = $3 }
            $1 == "001c" && $2 == "0003" {
                if (hide_cpu) { hide_cpu = 0; next }
                print tid, time, $3, sprintf("%016x", n)
            }'
    done | sort -u -k2,2 -k3,3 -k1,1 -k4,4 | awk '$1 != last { print } { last = $1 }'
}

# schedule_is DIR: the serial schedule in DIR is what its files say, and check finds nothing against it
schedule_is() {
    gzip -dc "$1/serial_schedule.bin.gz" | od -An -v -w32 -tx8 --endian=little | sed 's/^ //' >got
    expected "$1" >want
    same want got
}

mkdir -p source/trace
thread 7 1 40 >source/trace/drmemtrace.x.00007.0001.trace
thread 9 2 25 >source/trace/drmemtrace.x.00009.0002.trace
thread 8 3 30 >source/trace/drmemtrace.x.00008.0003.trace
run trod convert source copy
status 0
schedule_is copy/trace
while read -r filter; do
    rm -rf part
    # shellcheck disable=SC2086
    run trod convert $filter source part
    status 0
    schedule_is part/trace
    # a file's thread is the one of its name
    for f in part/trace/*.trace*; do
        tid=$(entries "$f" | awk '$1 == "0016" { print $3; exit }')
        check test "$((16#$tid))" = "$(basename "$f" | cut -d. -f3 | sed 's/^0*//')"
    done
    run trod check part
    out_not 'schedule'
done <<'END'
--range 30..150
--range 31..150
--range 150..320
--kind INSTR
--kind READ
--kind MARKER
--instructions 10..20
--time 1100..1200
--stream 8,9
--stream 9 --kind READ
--order time --kind READ
END

# one that says something else, and one whose unknown cpu is cut to 32 bits, are found
gzip -dc part/trace/serial_schedule.bin.gz >entries
printf '\001' | dd of=entries bs=1 seek=16 conv=notrunc 2>/dev/null
gzip -c entries >part/trace/serial_schedule.bin.gz
run trod check part
status 1
out_has 'schedule.serial'
run trod convert --to drmemtrace "$TROD_SOURCE/examples/hello.tarmac" unknown --allow-loss
status 0
schedule_is unknown/trace
run trod check unknown
status 0
gzip -dc unknown/trace/serial_schedule.bin.gz >entries
printf '\0\0\0\0' | dd of=entries bs=1 seek=20 conv=notrunc 2>/dev/null
gzip -c entries >unknown/trace/serial_schedule.bin.gz
run trod check unknown
status 1
out_has 'schedule.serial'

# windows in folders of their own are one trace; its copy has them again
for w in 0000 0001; do
    mkdir -p "windows/trace/window.$w"
    for t in 7 8; do
        thread $t $t $((10 + t)) $((1000 + 5000 * 10#$w)) >"plain.$t"
        { head -c 96 "plain.$t" && e 28 14 $((10#$w)) && tail -c +97 "plain.$t"; } \
            >"windows/trace/window.$w/drmemtrace.x.0000$t.000$w.trace"
    done
done
run trod info windows --format json
json '.files[0] | .files == 4 and .rows == 378'
run trod convert windows both
status 0
check test "$(find both -name 'drmemtrace*' | wc -l)" = 4
for w in 0000 0001; do
    schedule_is both/trace/window.$w
done
run trod check both
out_not 'schedule'
run trod view --order recorded --kind INSTR both
check test "$(wc -l <"$stdout")" = 140
rm -rf part
run trod convert --kind INSTR windows part
status 0
for w in 0000 0001; do
    schedule_is part/trace/window.$w
done

# what the tracer left without a finished trace is read as it is
dir=left/drmemtrace.x.00012.0345.dir
mkdir -p $dir/{raw,trace}
printf '\x40\0\0\0\0\0\x08\xc4\x0c\0\0\0\0\0\0\x40\x0c\0\0\0\0\0\0\x60\0\0\0\0\0\0\0\xc1' \
    >$dir/raw/drmemtrace.x.00012.0345.raw
for d in $dir $dir/raw $dir/trace; do
    run trod info "$d"
    status 0
    out_has 'line size: *64'
    err_has 'no modules.log beside the raw trace'
done
run trod info left
status 2
err_has "holds 1 output folder of the tracer.*'drmemtrace.x.00012.0345.dir'"
# files that are cores: whose idle time, switches and letters they have
if command -v python3 >/dev/null; then
    export PYTHONDONTWRITEBYTECODE=1
    check python3 "$TROD_SOURCE/tests/cli/core_files_slow.py" "$TROD" 0 "$(fewer 15 6)"
    check python3 "$TROD_SOURCE/tests/cli/schedule_slow.py" "$TROD" 0 "$(fewer 40 10)"
fi
finish
