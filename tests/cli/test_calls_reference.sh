# test_calls_reference.sh - what Arm's Tarmac Trace Utilities print for the shared traces is what
# trod calls, profile and flame --like tarmac print, byte for byte: every output that is kept there.
. "$TROD_SOURCE/tests/cli/lib.sh"
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/tarmac
[[ -d $traces/reference ]] || { echo "skipped: no traces in $traces"; exit 77; }
sed -n 1000,2199p "$traces/calculator-aarch32-fastmodel.tarmac" >mid.tarmac

compared=0
for file in "$traces"/reference/*/{calltree,profile,flamegraph,callinfo}*.txt; do
    folder=$(dirname "$file")
    read -ra words <"$file"
    args=() input=
    for ((i = 1; i < ${#words[@]}; i++)); do
        case ${words[i]} in
            -q) ;;
            --image) args+=(--symbols "$traces/${words[++i]}") ;;
            --no-offsets) args+=(--no-offsets) ;;
            --debug=*) args+=(--matching) ;;
            trace.tarmac) input=$folder/trace.tarmac ;;
            mid.tarmac) input=mid.tarmac ;;
            *.tarmac) input=$traces/${words[i]} ;;
            *) args+=(--function "${words[i]}") ;;
        esac
    done
    case ${words[0]} in
        tarmac-profile) command=profile ;;
        tarmac-flamegraph) command=flame ;;
        *) command=calls ;;
    esac
    sed -e 1d -e '/^\[exit status/,$d' -e '/^\[standard error\]/,$d' "$file" >want
    run trod $command --like tarmac "${args[@]}" "$input"
    out_is want
    if grep -q '^\[exit status' "$file"; then # it gave up
        status 2
    else
        status 0
    fi
    compared=$((compared + 1))
done
echo "compared: $compared outputs"
check test "$compared" -ge 100
finish
