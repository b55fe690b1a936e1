# test_cache_reference.sh - trod cache prints what DynamoRIO's simulators, its miss analyzer and Dinero
# IV printed for the shared traces: every file, every line. Caches that belong to no core, and lists
# of cpus, come in the order of a hash table there: blocks are compared by name, cpus as sets.
. "$TROD_SOURCE/tests/cli/lib.sh"
have awk
needs_format drmemtrace
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/drmemtrace
[[ -d $traces/reference ]] || { echo "skipped: no traces in $traces"; exit 77; }

# Lines with the block they belong to, so that the order of the blocks does not matter.
blocks() {
    awk '/results:$/ { on = 1 } !on || /^[#[]/ || !NF { next }
        /^Core .*traced CPU/ {
            sub(/\)$/, "")
            n = split($0, part, /[:,] #/)
            line = part[1]
            for (i = 2; i <= n; i++) for (j = i + 1; j <= n; j++)
                if (part[j] + 0 < part[i] + 0) { t = part[i]; part[i] = part[j]; part[j] = t }
            for (i = 2; i <= n; i++) line = line " #" part[i]
            $0 = line
        }
        /^[^ ]/ { block = $0; number = 0 }
        { printf "%s|%03d|%s\n", block, number++, $0 }' "$1" | sort
}

trace_of() {
    local path=$traces/$1
    [[ -d $path/trace ]] && path=$path/trace
    echo "$path"
}

files=0
drcachesim() { # FILE TRACE
    local with trace folder
    with=$(sed -n '1s/^# cmd: drmemtrace_launcher //p' "$1" | sed 's/-indir *\( -\|$\)/\1/')
    trace=$(trace_of "$2")
    folder=$(dirname "$1")
    with=$(sed "s#-config_file #-config_file $folder/#; s#-v2p_file #-v2p_file $folder/#" <<<"$with")
    run trod cache --quiet --like drcachesim --with "$with" "$trace"
    status 0
    blocks "$1" >want
    blocks "$stdout" >got
    same want got
    files=$((files + 1))
}

for file in "$traces"/reference/*/cache_configs/*.txt; do
    drcachesim "$file" "$(basename "$(dirname "$(dirname "$file")")")"
done
for file in "$traces"/reference/*/{cache_simulator,TLB_simulator,miss_analyzer}*.txt; do
    grep -q 'results:$' "$file" || continue
    drcachesim "$file" "$(basename "$(dirname "$file")")"
done

# the miss file of the run that wrote one, line by line
if [[ -e $traces/reference/synthetic-cache/cache_configs/miss_file.misses ]]; then
    run trod cache --quiet --like drcachesim --with "-no_core_sharded -LL_size 512K -LL_assoc 8 -LL_miss_file m.txt" \
        "$(trace_of synthetic-cache)"
    status 0
    same "$traces/reference/synthetic-cache/cache_configs/miss_file.misses" m.txt
fi

for file in "$traces"/reference/dinero/*.*.txt; do
    name=${file##*/}
    case $name in
        simple_app.*) trace=drmemtrace.simple_app.trace.zip ;;
        *) trace=offline-legacy-trace.gz ;;
    esac
    with=$(sed -n '1s/^# cmd: dineroIV //p' "$file" |
        sed 's/ <.*//; s/(addresses of 32 bits, as shipped)/-address-bits 32/')
    run trod cache --quiet --like dinero --with "$with" "$traces/$trace"
    status 0
    tail -n +2 "$file" >want
    same want "$stdout"
    files=$((files + 1))
done
((files > 100)) || echo "only $files reference files" | wrong
finish
