# lib.sh - what the command-line tests share: run a command, say what is expected, count what differs.
#
#   run COMMAND...    runs it in $tmp; trod stands for the trod under test
#   status N          its exit status
#   out, err          its whole standard output, error: the text on standard input
#   out_has, err_has  a line that matches the regular expression
#   out_not           no such line
#   out_is FILE       standard output is that file, byte for byte
#   through COMMAND   pass standard output through a command before looking at it
#   json FILTER       jq -e FILTER holds for standard output
#   check COMMAND...  any other command that must succeed
#   drawn             is this one of the combinations that are tried (TROD_TEST_FEWER)?
#
# A test script sources this first and ends with `finish`.
set -u
export LC_ALL=C TERM=dumb
unset NO_COLOR COLUMNS PAGER TROD_PAGER LESS 2>/dev/null
: "${TROD:?}" "${TROD_SOURCE:?}"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
stdout=$tmp/.stdout stderr=$tmp/.stderr
checks=0 last=

trod() {
    "$TROD" "$@"
}

run() {
    last=$*
    "$@" >"$stdout" 2>"$stderr"
    got=$?
}

# wrong: report what stands on standard input, with the place in the test script
wrong() {
    printf '%s:%s: after: %s\n' "${0##*/}" "$(line_of_test)" "$last"
    sed 's/^/    /'
    echo x >>"$tmp/.failed"
}

line_of_test() {
    local i
    for ((i = 1; i < ${#BASH_SOURCE[@]}; i++)); do
        [[ ${BASH_SOURCE[i]} == "$0" ]] && { echo "${BASH_LINENO[i - 1]}"; return; }
    done
}

status() {
    checks=$((checks + 1))
    [[ $got == "$1" ]] ||
        { printf 'exit status %s, expected %s; stderr:\n' "$got" "$1"; head -5 "$stderr"; } | wrong
}

# both_short A B: files of one short text without NUL, seen without another process; of others diff says more
both_short() {
    local a b
    [[ -f $1 && -f $2 ]] || return 1
    # status 0: more than that, or a NUL
    ! IFS= read -r -d '' -n 4096 a <"$1" && ! IFS= read -r -d '' -n 4096 b <"$2" && [[ $a == "$b" ]]
}

same() {
    checks=$((checks + 1))
    ! both_short "$1" "$2" || return 0
    diff -u --label expected --label got "$1" "$2" >"$tmp/.diff" || wrong <"$tmp/.diff"
}

# text FILE: it is what stands on standard input
text() {
    if [[ /dev/stdin -ef /dev/null && ! -s $1 ]]; then
        checks=$((checks + 1))
        return
    fi
    cat >"$tmp/.want"
    same "$tmp/.want" "$1"
}

out() {
    text "$stdout"
}

err() {
    text "$stderr"
}

out_is() {
    checks=$((checks + 1))
    ! both_short "$1" "$stdout" || return 0
    cmp "$1" "$stdout" >"$tmp/.diff" 2>&1 || wrong <"$tmp/.diff"
}

has() {
    checks=$((checks + 1))
    grep -q -E -e "$2" "$1" || { echo "no line matches: $2"; head -20 "$1"; } | wrong
}

out_has() {
    has "$stdout" "$1"
}

err_has() {
    has "$stderr" "$1"
}

out_not() {
    checks=$((checks + 1))
    ! grep -E -e "$1" "$stdout" >"$tmp/.diff" || { echo "lines match: $1"; cat "$tmp/.diff"; } | wrong
}

through() {
    "$@" <"$stdout" >"$tmp/.through" 2>&1
    mv "$tmp/.through" "$stdout"
}

json() {
    checks=$((checks + 1))
    jq -e "$1" "$stdout" >"$tmp/.diff" 2>&1 ||
        { echo "does not hold: $1"; head -20 "$tmp/.diff"; } | wrong
}

check() {
    checks=$((checks + 1))
    "$@" >"$tmp/.diff" 2>&1 || { echo "failed: $*"; head -20 "$tmp/.diff"; } | wrong
}

# have COMMAND...: skip the test where a tool is missing
have() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
    done
}

# elsewhere: does the trod under test run in an emulator (scripts/cross)? It cannot load what is of this machine, and
# the recorder's QEMU cannot load its plug-in.
elsewhere() {
    [[ -n ${TROD_EMULATED:-} ]]
}

# fewer N LEAST: N, or the part of it that is made in an emulator, LEAST or more; see tests/common/fewer.h
fewer() {
    local few=$(($1 / ${TROD_TEST_FEWER:-1}))
    echo $((few > $2 ? few : $2))
}

# drawn: is this combination of many one that is tried here? One of each TROD_TEST_FEWER that follow each other, the
# same in every run; which of them has no period that would meet the same of a list again and again
combinations=0
drawn() {
    local n=${TROD_TEST_FEWER:-1} x
    x=$(((combinations / n + 1) * 2654435761 & 0xffffffff))
    x=$(((x ^ x >> 15) * 2246822519 & 0xffffffff))
    ((combinations++ % n == (x ^ x >> 13) % n))
}

# needs_format NAME: skip the test where this build does not have the format
needs_format() {
    trod formats "$1" >/dev/null 2>&1 || { echo "skipped: no format $1"; exit 77; }
}

# grouped N: as text says it to people
grouped() {
    sed -e ':again' -e 's/\([0-9]\)\([0-9]\{3\}\)\(,\|$\)/\1,\2\3/' -e 't again' <<<"$1"
}

# bytes HEX...: the bytes
bytes() {
    local h
    for h in $*; do
        printf "\\x$h"
    done
}

# result_keys: the keys that the sources of analyses name, one a line; those that are put together are not seen
result_keys() {
    grep -rhPzo --include='*.c' 'trod_result_(?!describe)[a-z0-9]+\([a-z->.]+,\s*"[^"]+"|trod_emit_[a-z0-9]+\([a-z->.]+,\s*"[^"]+"|\{"[^"]+", TROD_COLUMN_' \
        "$TROD_SOURCE"/src/{analysis,callstack,check,sim,format,cli/cmd_info.c,cli/cmd_flame.c} |
        tr '\0' '\n' | sed -n 's/^[^"]*"\([^"]*\)".*/\1/p' | sort -u
}

finish() {
    local failures=0
    [[ ! -e $tmp/.failed ]] || failures=$(wc -l <"$tmp/.failed")
    [[ $checks -gt 0 ]] || { echo "no checks"; exit 1; }
    echo "$checks checks, $failures wrong"
    [[ $failures == 0 ]]
    exit
}
