# test_locality.sh - trod locality as users see it, on streams whose answers are known by a closed
# form, against a simulation in awk, and for every number of threads.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq awk
needs_format tarmac

# reads of N lines again and again, ROUNDS times
scan() {
    awk -v n="$1" -v rounds="$2" -v base="${3:-4096}" 'BEGIN {
        for (r = 0; r < rounds; r++)
            for (i = 0; i < n; i++)
                printf "%d clk MR8 %08x 00000000_00000000\n", t++, (base + i) * 64 + 8
    }'
}

# ---- closed forms
scan 100 20 >scan.tarmac
run trod locality --format json --histogram scan.tarmac
status 0
json '.references == 2000 and .lines == 100 and .cold == 100 and .read_references == 2000'
json '.distances == [{from: 99, to: 99, instr: 0, read: 1900, write: 0, prefetch: 0, share: 95}]'
json '[.miss_ratio_curve[] | select(.lines < 100) | .misses] | all(. == 2000)'
json '[.miss_ratio_curve[] | select(.lines >= 100) | .misses] | all(. == 100)'
json '.median_distance == 99 and .mean_distance == 99 and .standard_deviation == 0'
json '.top_lines[0] == {line: "0x40000", references: 20, distant: 0} and (.top_lines | length) == 10'

# direct mapped, 64 sets: 2(M - S) misses a round; 2 ways: only the first
run trod locality --format json --ways 2 scan.tarmac
json '.set_associative[] | select(.sets == 64 and .ways == 1) | .misses == 100 + 19 * 72'
json '.set_associative[] | select(.sets == 64 and .ways == 2) | .misses == 100 and .bytes == 8192'

# footprint and working set: min(w, M)
run trod locality --format json --times --window 250 scan.tarmac
json '[.footprint[] | select(.window > 1) | .footprint == ([.window, 100] | min)] | all'
json '.mean_reuse_time == 100'
json '.reuse_times == [{from: 64, to: 127, references: 1900, share: 95}]'
json '[.windows[].lines] == [100, 100, 100, 100, 100, 100, 100, 100]'
json '[.models[] | select(.bytes < 6400) | .aet] | all(. == 1)'

# 8 of 64 bytes of each line are touched, in a cache that holds none and in one that holds all
run trod locality --format json --touched 3200 scan.tarmac
json '.touched == [{touched: 8, residencies: 2000, share: 100}] and .touched_share == 12.5'
run trod locality --format json --touched 6400 scan.tarmac
json '.touched == [{touched: 8, residencies: 100, share: 100}]'

# lines of 128 bytes: half as many, each twice in a row
run trod locality --format json --line 128 scan.tarmac
json '.lines == 50 and .miss_ratio_curve[0].misses == 1000'
run trod locality --format json --line 1 scan.tarmac
json '.lines == 100 and .cold == 100'

# a reference of 8 bytes at the end of a line belongs to one line, or with --crossing to two
printf '%s\n' '1 clk MR8 0000103c 00000000_00000000' '2 clk MR8 0000103c 00000000_00000000' >x.tarmac
run trod locality --format json x.tarmac
json '.references == 2 and .lines == 1'
run trod locality --format json --crossing x.tarmac
json '.references == 4 and .lines == 2 and .miss_ratio_curve[0].misses == 4'
# behind the last line of all addresses comes the first one, here and in caches
printf 'kind,stream,pc,addr,size\nREAD,1,0x400,0xfffffffffffffff8,16\nREAD,1,0x400,0x0,8\n' >top.csv
for jobs in 1 3; do
    run trod locality -j $jobs --format json --crossing top.csv
    json '.references == 3 and .lines == 2 and .cold == 2 and .max_distance == 0'
    run trod locality -j $jobs --format json --crossing --per line --size 4096 top.csv
    json '[.owners[] | [.address, .references]] | sort == [["0x0", 2], ["0xffffffffffffffc0", 1]]'
done
run trod cache --format json top.csv
json '[.caches[] | select(.cache == "L1D") | .references, .misses] == [3, 2]'

# ---- sites: two instructions, one with a stride of 64, one that stays
awk 'BEGIN {
    for (i = 0; i < 1000; i++) {
        printf "%d clk IT (%d) 00001000 f9400001 O EL1h_n : LDR x1,[x0]\n", t++, 2 * i + 1
        printf "%d clk MR8 %08x 00000000_00000000\n", t, 65536 + 64 * i
        printf "%d clk IT (%d) 00001004 f9400022 O EL1h_n : LDR x2,[x1]\n", t++, 2 * i + 2
        printf "%d clk MR8 00008000 00000000_00000000\n", t
    }
}' >sites.tarmac
run trod locality --format json --strides --per instruction --size 4096 sites.tarmac
status 0
json '.strides == [{address: "0x1000", references: 1000, stride: 64, share: 100},
    {address: "0x1004", references: 1000, stride: 0, share: 100}]'
cp -r "$TROD_SOURCE/examples/walks" walks
for jobs in 1 2; do
    run trod locality --format json -j $jobs --strides --top 3 --symbols walks/walks walks/walks.d
    status 0
    json '[.strides[] | [.function, .stride]] == [["by_rows", 8], ["by_columns", 512], ["(no symbol)", 4]]'
done
run trod locality --format json --strides --per instruction --size 4096 sites.tarmac
json '[.owners[] | {address, references, misses}] == [
    {address: "0x1000", references: 2000, misses: 1001},
    {address: "0x1004", references: 2000, misses: 1}]'
run trod locality --format json --per page --size 4096 --refs data --top 100 sites.tarmac
json '.owners[0].misses == 64 and ([.owners[].references] | max) == 1000'
run trod locality --format json --per line --size 4096 --refs data --top 2000 sites.tarmac
json '(.owners | length) == 1001 and ([.owners[].misses] | add) == 1001'
run trod locality --format json --refs instr sites.tarmac
json '.references == 2000 and .lines == 1'
run trod locality --format json --refs write sites.tarmac
json '.references == 0'

# intervals: the cache stays warm
run trod locality --format json --interval 500 --size 1Mi --refs data sites.tarmac
json '[.streams[0].intervals[].cold] == [251, 250, 250, 250]'
# a warm-up ends before the next instruction; it is not counted, its lines are known
run trod locality --format json --warmup 1000 --refs data sites.tarmac
json '.references == 1000 and .cold == 500'

# ---- a stream against Mattson's stack in awk, and parts of an archive against the whole
awk 'BEGIN {
    srand(7)
    for (i = 0; i < 60000; i++) {
        a = int(3000 * exp(-8 * rand())) * 64
        printf "%d clk IT (%d) %08x d503201f O EL1h_n : NOP\n", i, i + 1, 65536 + 4 * int(rand() * 900)
        printf "%d clk M%s8 %08x 00000000_00000000\n", i, rand() < 0.5 ? "R" : "W", 8388608 + a
    }
}' >r.tarmac
run trod convert r.tarmac r.trace.zip --to drmemtrace:chunk=7000 --allow-loss
status 0
awk '{ a = $3 == "IT" ? $5 : $4; print substr(a, 1, 6) + 0 == a ? a : a }' r.tarmac |
    awk 'function hex(s, i, v) {
            for (i = 1; i <= length(s); i++)
                v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
            return v
        }
        {
            line = int(hex($1) / 64)
            for (d = 0; d < n && stack[d] != line; d++)
                ;
            if (d == n)
                n++
            else
                count[d]++
            for (; d > 0; d--)
                stack[d] = stack[d - 1]
            stack[0] = line
        }
        END { for (d in count) print d, count[d] }' | sort -n >want
for jobs in 1 2 3 8; do
    for file in r.tarmac r.trace.zip; do
        run trod locality -j $jobs --histogram --format json $file
        status 0
        jq -r '.distances[] | "\(.from) \(.instr + .read + .write + .prefetch)"' "$stdout" >got
        same want got
        jq 'del(.format)' "$stdout" >all.$file.$jobs
        same all.$file.1 all.$file.$jobs
    done
    for how in "--times" "--window 1000" "--ways 8" "--touched 4096" "--strides" "--per instruction" \
        "--sample 4" "--memory 4Mi" "--shared" "--limit-lines 100"; do
        [[ $jobs == 1 ]] || drawn || continue
        # shellcheck disable=SC2086
        run trod locality -q -j $jobs $how --format json r.trace.zip
        status 0
        cp "$stdout" "how.$jobs.${how// /}"
        same "how.1.${how// /}" "how.$jobs.${how// /}"
    done
done

# large enough to be parted by threads: a plain file, and an archive whose members are
run trod gen zipf:lines=20000,count=250000 zipf.trace --to drmemtrace
status 0
run trod convert zipf.trace zipf.trace.zip --to drmemtrace:chunk=100000
status 0
for file in zipf.trace zipf.trace.zip; do
    for jobs in 1 2 3 8; do
        [[ $jobs == 1 ]] || drawn || continue
        run trod locality -j $jobs --histogram --times --top 100 --format json $file
        status 0
        cp "$stdout" parted.$jobs
        same parted.1 parted.$jobs
    done
done

# ---- parts that several processes read, of one thread and of several
run trod gen sharing threads.dir/ --to drmemtrace
status 0
parts() { # N PLAN FILE
    local i
    rm -f part.*
    for ((i = 0; i < $1; i++)); do
        run trod run --part $i/"$1" --save part.$i "$2" "$3"
        status 0
    done
    run trod merge --format json part.*
    status 0
    cp "$stdout" merged
    run trod run --format json "$2" "$3"
    status 0
    same "$stdout" merged
}
for plan in locality:histogram locality:times,deps locality:like=reuse_distance locality:like=reuse_time; do
    for n in 1 3; do
        parts $n $plan r.trace.zip
    done
    parts 2 $plan threads.dir
done
head -c $(($(wc -c <part.0) / 2)) part.0 >half
run trod merge half part.1
status 2
run trod run --part 0/2 --save no.state locality:sample=4 r.trace.zip
status 2
err_has 'cannot be parted'
check test ! -e no.state

# ---- another tool's rules, our words; its text
run trod locality --like reuse_distance --format json r.trace.zip
status 0
json '.references == 120000 and .instruction_references == 60000'
jq '.lines, .cold, .miss_ratio_curve' "$stdout" >like
jq '.lines, .cold, .miss_ratio_curve' all.r.trace.zip.1 >own
same own like
run trod locality --like reuse_time --format json scan.tarmac
json '.references == 2000 and .mean_reuse_time == 100'
run trod locality --like reuse_time scan.tarmac
out <<'EOF2'
Reuse time tool aggregated results:
Total accesses: 2000
Total instructions: 0
Mean reuse time: 100.00
Reuse time histogram:
Distance       Count  Percent  Cumulative
     100        1900  100.00%     100.00%
EOF2

# one cache in front of threads that came one after the other is no cache of threads: that is said
run trod locality --shared scan.tarmac x.tarmac
status 0
run trod locality --shared --order time scan.tarmac x.tarmac
status 0
json_lines=$(trod locality --shared --order time --format json scan.tarmac x.tarmac | jq .references)
check test "$json_lines" = 2002

# ---- what is wrong is said
run trod locality --line 48 scan.tarmac
status 2
err_has 'size of a line must be a power of two, not 48'
run trod locality --sample 10 --limit-lines 5 scan.tarmac
status 2
run trod locality --sample 2 scan.tarmac
status 0
out_has '^sample: +too small: about 8000 lines are needed'
out_has '^sampling rate: +0.5'
# 1,720,320 bytes for each sample: memory that is too little for all is refused
run trod locality --shared --memory 1720319 scan.tarmac
status 2
err_has "^trod: option 'memory': a sample takes more than 1720319 bytes: say 1720320 or more$"
run trod locality --shared --memory 1720320 scan.tarmac
check test ! -s "$stderr"
run trod locality --memory 3440639 scan.tarmac
status 2
err_has 'say 3440640 or more'
run trod locality --memory 3440640 scan.tarmac # enough for the sum, not for the thread
err_has '^trod: warning: of --memory 3440640 a sample gets 860160 bytes: it takes more, at least 1720320$'
check test "$(wc -l <"$stderr")" = 1
run trod locality --memory 6881280 scan.tarmac
check test ! -s "$stderr"
run trod locality --plot scan.tarmac
cp "$stdout" plot
run trod mrc --plot scan.tarmac
out_is plot
status 0
out_has '^ 1.0000 \+'
run trod locality --format csv scan.tarmac
out_has '^lines,bytes,misses,miss_ratio,instr,data$'

# what the tools of DynamoRIO do not have is refused beside --like
for more in --shared --crossing --times --strides --plot '--touched 4K' '--window 4' '--per page' '--interval 4' '--warmup 4'; do
    for like in reuse_distance reuse_time; do
        run trod locality --like $like $more scan.tarmac
        status 2
        err_has "cannot be combined with .*--like|--like cannot be combined with .*${more%% *}|intervals cannot"
        out </dev/null
    done
done
for more in '--limit-lines 9' '--refs instr'; do
    run trod locality --like reuse_time $more scan.tarmac
    status 2
    err_has 'counts all data references'
done
run trod locality --by function scan.tarmac
status 2
err_has "an option of its own, 'locality:per=function'"

# what only the warm-up touched is not counted: neither lines nor what lists have are others than those of the rows behind
# it; with a limit lines are among them that were forgotten since, and with samples those of the sample
awk 'BEGIN { srand(8); print "kind,stream,pc,addr,size"
    for (i = 0; i < 400; i++) {
        at = 32768 + 64 * int(rand() * (i < 200 ? 90 : 40))
        printf "INSTR,t%d,0x1000,,4\nREAD,t%d,0x1000,%d,4\n", i % 2, i % 2, at } }' >warm.csv
awk -F, 'NR > 401 { n[$1 == "READ" ? $4 : 4096]++ } END { for (a in n) printf "0x%x %d\n", a, n[a] }' warm.csv | sort >want
lines=$(wc -l <want)
touched=$(awk -F, 'NR > 1 { n[$1 == "READ" ? $4 : 4096] } END { print length(n) }' warm.csv)
check test "$lines" -lt "$touched"
for more in '' '--memory 64M' '--limit-lines 9' '--limit-lines 9 --shared' --shared; do
    run trod locality --top 1000 --warmup 400:rows $more --format json warm.csv
    status 0
    json ".references == 400 and .lines == $lines"
    [[ $more != --memory* ]] || json ".sampled_lines == $lines and .sampled_references == 400"
    [[ -z ${more%--shared} ]] || continue
    cp "$stdout" all
    for list in top_lines distant_lines; do
        jq -r ".$list[] | \"\\(.line) \\(.references)\"" all | sort >got
        check cmp got want
    done
done
run trod locality --warmup 400:rows --shared --per line --top 1000 --format json warm.csv
through jq -r '.owners[] | "\(.address) \(.references)"'
through sort
out_is want
# each thread counts what it touched itself
run trod locality --warmup 400:rows --format json warm.csv
json "[.streams[].lines] == [$(for t in t0 t1; do
    awk -F, -v t=$t 'NR > 401 && $2 == t { n[$1 == "READ" ? $4 : 4096] } END { print length(n) }' warm.csv
done | paste -sd,)]"
# the curve still goes to all lines that may be in between
json ".miss_ratio_curve[-1].misses == .cold and .miss_ratio_curve[-1].lines >= $lines"
# bytes of lines in a cache of 16: those that rows behind the warm-up touch, whether the line came before or in it
awk -F, -v OFS=, 'BEGIN { srand(9) } $1 == "READ" { $4 += 4 * int(rand() * 16) } { print }' warm.csv >bytes.csv
awk -F, 'function leave(line) { if (n[line]) count[n[line]]++
             for (i = 0; i < 64; i++) delete bit[line, i]
             delete n[line]; delete used[line] }
    NR > 1 { line = int(($1 == "READ" ? $4 : 4096) / 64)
        if (!(line in used) && length(used) == 16) {
            oldest = line
            for (k in used) if (oldest == line || used[k] < used[oldest]) oldest = k
            leave(oldest) }
        used[line] = NR
        from = ($1 == "READ" ? $4 : 4096) % 64
        for (i = from; NR > 401 && i < from + 4; i++) if (!bit[line, i]++) n[line]++ }
    END { for (k in used) left[k]; for (k in left) leave(k)
          for (k = 1; k <= 64; k++) if (count[k]) print k, count[k] }' bytes.csv >want
for more in '' '--memory 64M' '--limit-lines 300'; do
    run trod locality --shared --touched 1K --warmup 400:rows $more --format json bytes.csv
    through jq -r '.touched[] | "\(.touched) \(.residencies)"'
    out_is want
done

# lines so large that caches of them have more bytes than 64 bits count
printf '%s\n' kind,pc,addr,size INSTR,0x1000,0x1000,4 READ,0x1000,0xf000000000000000,4 READ,0x1000,0x5000000000000000,4 >high.csv
for shift in 63 62; do
    run trod locality --shared --line "$(printf %u $((1 << shift)))" --ways 2 --times --format json high.csv
    status 0
    for table in miss_ratio_curve set_associative models; do
        json "[.$table[].bytes] | length > 1 and .[0] > 1e18 and all(. != 0) and .[-1] == null"
    done
    json "all(.miss_ratio_curve[]; .lines < $((1 << 64 - shift)) or .bytes == null)"
done

# a limit: the curve ends with it, lists say what they have, and caches of which nothing is known are refused
run trod locality --limit-lines 20 scan.tarmac
status 0
out_has '^most referenced lines of those still remembered$'
out_has '^lines with most distant references of those still remembered$'
run trod locality --limit-lines 20 --format json scan.tarmac
json '.miss_ratio_curve[-1].lines == 20 and .miss_ratio_curve[-2].lines == 16'
run trod locality --limit-lines 200 --format json scan.tarmac # more than there are: as without
json '.miss_ratio_curve[-1] | .lines == 128 and .misses == 100'
run trod locality --like reuse_distance --limit-lines 20 --format json scan.tarmac
json '.miss_ratio_curve[-1].lines == 128'
for more in '--per line' '--interval 10' '--touched 32K' '--size 1344'; do
    run trod locality --limit-lines 20 $more scan.tarmac
    status 2
    err_has ': a cache of [0-9]+ bytes has [0-9]+ lines, and --limit-lines 20 forgets all but so many: say 1280 or less'
done
run trod locality --limit-lines 20 --per line --size 1343 scan.tarmac
status 0
run trod locality --limit-lines 1 --plot scan.tarmac
status 2
err_has 'one point'
run trod locality --limit-lines 2 --plot scan.tarmac
status 0

# a cache of less than a line is none
for more in '--touched 63' '--size 63 --per line' '--size 63' '--touched 64K --line 128K' '--per line --line 64K' '--interval 10 --line 64K'; do
    run trod locality $more scan.tarmac
    status 2
    err_has ": a cache of (63|65536|32768) bytes holds no line of (64|131072|65536): say (64|131072|65536) or more"
done

# references of no known instruction are nobody's, and none of the instruction at 0; fetches of a bus are their own
printf '%s\n' kind,stream,pc,addr,size INSTR,a,0x0,0x0,4 READ,a,0,0x1000,8 READ,b,,0x4000,8 >none.csv
for type in 00 00 01 03; do bytes 00 10 00 00 $type 08 03 00 01 00 00 00; done >bus.byu12
bytes 00 20 00 00 00 08 03 00 01 00 00 00 >>bus.byu12
for more in '' --shared '--sample 1'; do
    run trod locality $more --per instruction --format json none.csv
    json '[.owners[] | [.address, .references]] == [["0x0", 2], ["(none)", 1]]'
    run trod locality $more --per instruction --from byu12 --format json bus.byu12
    json '[.owners[] | [.address, .references]] | sort == [["(none)", 2], ["0x1000", 2], ["0x2000", 1]]'
    run trod locality $more --per function --from byu12 --format json bus.byu12
    json '[.owners[] | [.function, .references]] | sort == [["(no symbol)", 3], ["(none)", 2]]'
done
run trod locality --warmup 2:rows --per instruction --from byu12 --format json bus.byu12
json '[.owners[] | [.address, .references, .misses]] == [["0x2000", 1, 1], ["(none)", 2, 0]]'
# who refers is the same to both
run trod cache --by instruction --top 0 --format json bus.byu12
jq -c '[.by[] | [.instruction, .references]] | sort' "$stdout" >want
run trod locality --crossing --per instruction --top 100 --format json bus.byu12
jq -c '[.owners[] | [.address, .references]] | sort' "$stdout" >got
same want got

# a chart of nothing
echo 'kind,addr,size' >nothing.csv
run trod locality --plot nothing.csv
status 0
echo 'no references' | out
run trod cache --sweep size=4K --plot nothing.csv
status 0
echo 'no references' | out
finish
