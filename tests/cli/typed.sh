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

# typed PAGE: the commands in its fenced blocks ("$ ..."), each with the lines that follow
typed() {
    local inside=no command= line status
    while IFS= read -r line; do
        if [[ $line == '```'* || $line == '$ '* ]] && [[ -n $command ]]; then
            last=$command
            status=0
            PATH=$(dirname "$TROD"):$PATH bash -c "$command" >.typed 2>/dev/null || status=$?
            check test $status == 0
            check shown .shown .typed
            command=
        fi
        case $line in
        '```'*) [[ $inside == yes ]] && inside=no || inside=yes ;;
        '$ '*)
            [[ $inside == no ]] || command=${line#\$ }
            : >.shown
            ;;
        *) [[ -z $command ]] || printf '%s\n' "$line" >>.shown ;;
        esac
    done <"$1"
}
