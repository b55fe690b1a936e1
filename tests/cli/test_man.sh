# test_man.sh - every option of every command is in its man page and in --help, and the other way.
. "$TROD_SOURCE/tests/cli/lib.sh"

# What --help shows: "  -x, --name ..." and "      --name ..."
help_options() {
    trod "$1" --help | sed -n -E 's/^  (-[a-zA-Z], |    )--([a-z0-9-]+).*/\2/p' | sort
}

# What the page lists: ".It Fl x , Fl -name ..." and ".It Fl -name ..."
man_options() {
    sed -n -E 's/^\.It (Fl [a-zA-Z] , )?Fl -([a-z0-9-]+).*/\2/p' "$1" | sort
}

help_letters() {
    trod "$1" --help | sed -n -E 's/^  -([a-zA-Z]), --([a-z0-9-]+).*/\1 \2/p' | sort
}

man_letters() {
    sed -n -E 's/^\.It Fl ([a-zA-Z]) , Fl -([a-z0-9-]+).*/\1 \2/p' "$1" | sort
}

commands=$(trod --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
check test -n "$commands"
for command in $commands; do
    page=$TROD_SOURCE/docs/man/trod-$command.1
    last="trod $command --help"
    check test -r "$page"
    help_options "$command" >help
    check test -s help
    check sh -c "test -z \"\$(uniq -d help)\""
    man_options "$page" >man
    same help man
    help_letters "$command" >help
    man_letters "$page" >man
    same help man
    check grep -q "^\.It Xr trod-$command 1" "$TROD_SOURCE/docs/man/trod.1"
    run trod help "$command"
    status 0
    trod "$command" --help >help
    same help "$stdout"
    run trod "$command" -h
    same help "$stdout"
    # nothing is wider than what it was made for
    for width in 80 100; do
        COLUMNS=$width trod "$command" --help | awk -v w=$width 'length($0) > w' >wide
        check test ! -s wide
    done
done
ls "$TROD_SOURCE"/docs/man/trod-*.1 | sed 's/.*trod-\(.*\)\.1/\1/' | sort >man
printf '%s\n' $commands | sort >help
same help man
if command -v mandoc >/dev/null; then
    check mandoc -T lint -W warning "$TROD_SOURCE"/docs/man/*.[17]
fi
finish
