# browser.sh - for tests of trod browse: the browser in a terminal of tmux, keys in, screens out.
#
#   browser WIDTH HEIGHT ARG...   trod browse ARG... in a terminal of that size
#   keys KEY...                   as tmux send-keys takes them
#   ask KEY TEXT                  KEY, TEXT in the line that it asks for, Enter
#   shows REGEX                   the screen has such a line, sooner or later
#   screen                        the screen as text
#   over STATUS                   it has ended with that exit status, and left the terminal in order
#   two_calls                     rows of a trace: 2 to 9 are a call of 0x1010, 5 and 6 one of 0x1020 that it makes
have tmux
servers=0 server=
in_tmux() {
    env -u TMUX TMUX_TMPDIR="$tmp" tmux -S "$server" -f /dev/null "$@" 2>/dev/null
}
trap 'in_tmux kill-server; rm -rf "$tmp"' EXIT

browser() {
    local width=$1 height=$2
    shift 2
    last="trod browse $*"
    [[ -z $server ]] || in_tmux kill-server
    servers=$((servers + 1)) server=$tmp/tmux$servers
    printf '%q ' exec "$TROD" browse "$@" >command
    in_tmux new-session -d -x "$width" -y "$height" \
        "stty -g >before; LC_ALL=C.UTF-8 TERM=${term-screen} ${environment-} sh command 2>errors
         status=\$?; stty -g >after; echo \"status \$status\"; exec sleep 60"
}

keys() {
    last="keys $*"
    in_tmux send-keys "$@"
}

ask() {
    last="ask $*"
    in_tmux send-keys "$1" \; send-keys -l "$2" \; send-keys Enter
}

# the browser's own process
browser_pid() {
    pgrep -P "$(in_tmux display -p '#{pane_pid}')" -f "trod browse"
}

screen() {
    in_tmux capture-pane -p
}

shows() {
    local i
    checks=$((checks + 1))
    for ((i = 0; i < 1000; i++)); do
        screen >shown
        grep -q -E -e "$1" shown && return
        sleep 0.02
    done
    { echo "the screen has no line like: $1"; cat shown errors; } | wrong
}

over() {
    shows "^status $1\$"
    check cmp before after
}

two_calls() {
    cat <<'END'
1 clk IT (1) 00001000 94000004 O EL1h_n : BL 0x1010
1 clk R X30 0000000000001004
2 clk IT (2) 00001010 d503201f O EL1h_n : NOP
3 clk IT (3) 00001014 94000003 O EL1h_n : BL 0x1020
3 clk R X30 0000000000001018
4 clk IT (4) 00001020 d503201f O EL1h_n : NOP
5 clk IT (5) 00001024 d65f03c0 O EL1h_n : RET
6 clk IT (6) 00001018 aa0103fe O EL1h_n : MOV x30,x1
6 clk R X30 0000000000001004
7 clk IT (7) 0000101c d65f03c0 O EL1h_n : RET
END
}
