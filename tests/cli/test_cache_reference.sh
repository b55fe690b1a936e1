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
    files=$((files + 1))
    with=$(sed -n '1s/^# cmd: drmemtrace_launcher //p' "$1" | sed 's/-indir *\( -\|$\)/\1/')
    trace=$(trace_of "$2")
    folder=$(dirname "$1")
    with=$(sed "s#-config_file #-config_file $folder/#; s#-v2p_file #-v2p_file $folder/#" <<<"$with")
    run trod cache --quiet --like drcachesim --with "$with" "$trace"
    status 0
    blocks "$1" >want
    blocks "$stdout" >got
    same want got
}

for file in "$traces"/reference/*/cache_configs/*.txt; do
    drcachesim "$file" "$(basename "$(dirname "$(dirname "$file")")")"
done
for file in "$traces"/reference/*/{cache_simulator,TLB_simulator,miss_analyzer}*.txt; do
    grep -q 'results:$' "$file" || continue
    drcachesim "$file" "$(basename "$(dirname "$file")")"
done

# the miss files of the runs that wrote one, line by line (the tool compresses none)
for trace in synthetic-cache offline-func-trace; do
    file=$traces/reference/$trace/cache_configs/miss_file
    [[ -e $file.misses ]] || continue
    with=$(sed -n '1s/^# cmd: drmemtrace_launcher //p' "$file.txt" | sed 's/-indir *[^ ]*//; s/misses.gz/m.txt/')
    run trod cache --quiet --like drcachesim --with "$with" "$(trace_of $trace)"
    status 0
    same "$file.misses" m.txt
    rm m.txt
    files=$((files + 1))
done

for file in "$traces"/reference/dinero/*.*.txt; do
    name=${file##*/}
    files=$((files + 1))
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
done
# Cachegrind and Callgrind on the references that Lackey lists; Callgrind's count of instructions has not the last block's
folder=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/valgrind
for file in "$folder"/{cachegrind,callgrind}*_[123].txt; do
    [[ -e $file ]] || continue
    name=${file##*/}
    with=$(sed -n '1s/.*\(--tool=.*\) [^ ]*$/\1/p' "$file")
    run trod cache --quiet --like "${name%%_*}" --with "$with" "$folder/lackey.txt.gz"
    status 0
    tail -n +2 "$file" >want
    [[ $name == cachegrind* ]] || sed -i 's/121755/121760/; s/121,755/121,760/' want
    same want "$stdout"
    files=$((files + 1))
done
((files > 340)) || echo "only $files reference files" | wrong
finish
