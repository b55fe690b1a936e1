# test_readme.sh - the README's tour is typed, and what it shows is what comes; every format has an
# example that is recognised by its content.
. "$TROD_SOURCE/tests/cli/lib.sh"
. "$TROD_SOURCE/tests/cli/typed.sh"

ln -s "$TROD_SOURCE/examples" examples
bin=$(dirname "$TROD")
can_record=yes
command -v qemu-x86_64 >/dev/null && [[ $(uname -m) == x86_64 ]] && ! elsewhere || can_record=no

# type_in COMMAND: its whole output in .typed; what it shows is in .shown
type_in() {
    last=$1
    if [[ $1 == export\ * ]] || { [[ $can_record == no ]] && [[ $1 == *" record "* || $1 == *ls.d* ]]; }; then
        return
    fi
    PATH=$bin:$PATH bash -c "$1" >.typed 2>&1
    [[ $? -le 2 ]] || echo "exit status over 2" >>.typed
    [[ -s .shown ]] || { [[ $1 == sed* ]] && return; }
    check shown .shown .typed
}

sed -n '/^## A tour/,/^## /p' "$TROD_SOURCE/README.md" >tour
check grep -q '^\$ trod ' tour
inside=no command=
while IFS= read -r line; do
    case $line in
    '```'*)
        [[ -z $command ]] || type_in "$command"
        command=
        [[ $inside == yes ]] && inside=no || inside=yes
        ;;
    '$ '*)
        [[ $inside == yes ]] || continue
        [[ -z $command ]] || type_in "$command"
        command=${line#\$ }
        : >.shown
        ;;
    *)
        [[ $inside == no || -z $command ]] || printf '%s\n' "$line" >>.shown
        ;;
    esac
done <tour

for format in $(trod formats --format csv | sed -n 's/^\([a-z0-9]*\),read, write.*/\1/p; s/^\([a-z0-9]*\),"read.*/\1/p'); do
    found=
    for file in examples/*; do
        [[ $file != *.md && $file != *.c ]] || continue
        [[ $(trod info --quick --format json "$file" 2>/dev/null | grep -c "\"format\": \"$format\"") == 0 ]] ||
            found=$file
    done
    last="an example of $format"
    check test -n "$found"
done
finish
