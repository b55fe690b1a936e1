# typed.sh - what a page of the documentation shows is what comes when its commands are typed.

# shown WANT GOT: is GOT what WANT shows, a line "..." standing for any lines?
shown() {
    local -a want got
    local i=0 line any=no
    mapfile -t want <"$1"
    mapfile -t got <"$2"
    for line in "${want[@]}"; do
        if [[ $line == ... ]]; then
            any=yes
            continue
        fi
        if [[ $any == yes ]]; then
            while ((i < ${#got[@]})) && [[ ${got[i]} != "$line" ]]; do
                i=$((i + 1))
            done
        fi
        [[ $i -lt ${#got[@]} && ${got[i]} == "$line" ]] || { echo "not there: $line"; cat "$2"; return 1; }
        any=no
        i=$((i + 1))
    done
    [[ $any == yes || $i == ${#got[@]} ]] || { echo "more than is shown"; cat "$2"; return 1; }
}

# typed PAGE [MOST]: the commands in its fenced blocks ("$ ..."), each with the lines that follow: its output,
# messages included. The exit status is MOST (0) at the most. "<!-- screen: WxH ARGS; KEYS -->" before a block:
# what trod browse ARGS shows in a terminal of that size after KEYS, functions of browser.sh ("ask g row:3").
typed() {
    local inside=no command= line status screen=
    while IFS= read -r line; do
        if [[ $line == '```'* || $line == '$ '* ]] && [[ -n $command ]]; then
            last=$command
            status=0
            PATH=$(dirname "$TROD"):$PATH bash -c "$command" >.typed 2>&1 || status=$?
            check test $status -le "${2:-0}"
            check shown .shown .typed
            command=
        fi
        if [[ $line == '```'* && $inside == yes && -n $screen ]]; then
            seen "$screen"
            screen=
        fi
        case $line in
        '<!-- screen: '*)
            screen=${line#<!-- screen: }
            : >.shown
            ;;
        '```'*) [[ $inside == yes ]] && inside=no || inside=yes ;;
        '$ '*)
            [[ $inside == no ]] || command=${line#\$ }
            : >.shown
            ;;
        *) [[ $inside == no || -z $command$screen ]] || printf '%s\n' "$line" >>.shown ;;
        esac
    done <"$1"
}

# seen SCREEN: the browser shows what is in .shown
seen() {
    local size=${1%% *} arguments=${1#* } keys= i
    arguments=${arguments% -->}
    [[ $arguments != *';'* ]] || keys=${arguments#*;} arguments=${arguments%%;*}
    declare -F browser >/dev/null || return 0
    mkdir -p .browsed # the browser makes an index, which the commands of the page know nothing of
    # shellcheck disable=SC2086 # ARGS are words
    browser "${size%x*}" "${size#*x}" --index .browsed $arguments
    shows 'registers at row 0' # what changes is marked against what was seen
    eval "$keys"
    last="the screen of: $1"
    for ((i = 0; i < 200; i++)); do
        screen >.typed
        ! shown .shown .typed >/dev/null || break
        sleep 0.05
    done
    check shown .shown .typed
}
