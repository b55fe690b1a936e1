# test_args.sh - usage, help, version, options in every form, suggestions.
. "$TROD_SOURCE/tests/cli/lib.sh"

run trod
status 2
out </dev/null
err_has '^usage: trod COMMAND'

for help in --help -h help; do
    run trod $help
    status 0
    out_has '^usage: trod COMMAND'
    err </dev/null
done

run trod --version
status 0
out_has '^trod [0-9]+\.[0-9]+\.[0-9]+$'

run trod veiw
status 2
out </dev/null
err <<'EOF'
trod: unknown command 'veiw'; did you mean 'view'?
trod: see 'trod --help'
EOF

run trod help nothing
status 2
err_has "unknown command 'nothing'"

run trod view
status 2
err <<'EOF'
trod: no file given: trod view FILE...
trod: see 'trod view --help'
EOF

run trod convert one
status 2
err_has '^trod: something is missing: trod convert IN\.\.\. OUT$'

run trod completion bash zsh
status 2
err_has "unexpected argument 'zsh'"

run trod view --rang 1..2 x
status 2
err <<'EOF'
trod: unknown option '--rang'; did you mean '--range'?
trod: see 'trod view --help'
EOF

# an abbreviation is no option, however clear it is
run trod view --addr=1 x
status 2
err_has "unknown option '--addr'; did you mean '--address'\?"

run trod view -Z x
status 2
err_has "unknown option '-Z'$"

run trod view x --range
status 2
err_has "option '--range' needs a value"

run trod view --range 9..1 x
status 2
err_has "option '--range': '9\.\.1' is not a range"

run trod view --kind REDA x
status 2
err_has "no records are called 'REDA'; did you mean 'READ'\?"

run trod view --format jsno x
status 2
err_has "'jsno' is not one of text, json or csv; did you mean 'json'\?"

# options in every form; each must reach the opening of the file
for form in '--range=1..2' '--range 1..2' '-r 1..2' '-r1..2' '-qr1..2' '--quiet=yes'; do
    run trod view $form missing
    status 2
    err_has "^trod: missing: .*[Nn]o such file"
done
run trod view missing --quiet
status 2
err_has "^trod: missing: .*[Nn]o such file"

# behind -- everything is a file
run trod view -- --quiet
status 2
err_has "^trod: --quiet: .*[Nn]o such file"

run trod view --from nothing "$0"
status 2
err_has "unknown format 'nothing'; .trod formats. lists them"

run trod formats nothing
status 2
err_has "no format is called 'nothing'"

# the completion is a script, and completes commands, options and values
run trod completion bash
status 0
check bash -n "$stdout"
cp "$stdout" completion
# the words as bash parts them, and the line, as it does: nothing stands around : and =
complete_words() {
    (
        local line=$* glue
        for glue in : =; do
            line=${line// $glue/$glue}
            line=${line//$glue /$glue}
        done
        COMP_LINE=${LINE_TYPED-$line}
        . ./completion
        COMP_WORDS=("$@")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        COMPREPLY=()
        _trod
        printf '%s\n' "${COMPREPLY[@]}"
    )
}
run complete_words trod vi
out <<'EOF'
view
EOF
run complete_words trod view --disas
out <<'EOF'
--disassemble
EOF
run complete_words trod view --color al
out <<'EOF'
always
EOF
run complete_words trod view --kind WR
out <<'EOF'
WRITE
EOF
run complete_words trod check --only drm.pc-
out_has '^drm\.pc-'
run complete_words trod convert --compress zs
out <<'EOF'
zstd
EOF
run complete_words trod compare --track instr,m
out <<'EOF'
instr,mem
EOF
# bash parts words at colons and equals signs, and replaces what stands behind the last one
for option in '--to' '--to ='; do
    run complete_words trod convert $option tarmac : dia
    out_has '^dialect=es$'
    out_not '^tarmac'
    run complete_words trod convert $option tarmac :
    out_has '^dialect=es$'
    run complete_words trod convert $option tarmac : dialect =
    out_has '^es$'
    run complete_words trod convert $option tarmac : dialect = e
    out <<'EOF'
es
EOF
    run complete_words trod convert $option tarma
    out_has '^tarmac:dialect=es$'
done
run complete_words trod convert --to =
out_has '^tarmac$'
run complete_words trod view --kind = READ,WR
out <<'EOF'
READ,WRITE
EOF
# other shells do not part them: the whole argument is replaced
run complete_words trod convert --to=tarmac:dialect=e
out <<'EOF'
--to=tarmac:dialect=es
EOF
run complete_words trod convert --to tarmac:dialect=e
out <<'EOF'
tarmac:dialect=es
EOF
mkdir files && touch files/a:b files/c
run complete_words trod view files/a :
out <<'EOF'
b
EOF
run complete_words trod view --output = files/
through sort
out <<'EOF'
files/a:b
files/c
EOF
LINE_TYPED='trod view files/a: files/' run complete_words trod view files/a : files/
through sort
out <<'EOF'
files/a:b
files/c
EOF
run complete_words trod record -o x -- tru
out_has '^true$'
run complete_words trod record -o x -- sort --output = files/
through sort
out <<'EOF'
files/a:b
files/c
EOF
run trod completion zsh
status 0
out_has '^autoload -U \+X bashcompinit && bashcompinit$'
check bash -c "sed 1,2d '$stdout' | bash -n"
run trod completion fish
status 0
out_has "^complete -c trod -n '__fish_seen_subcommand_from view' -l head -r -d 'the first N"
out_has "^complete -c trod -n '__fish_seen_subcommand_from convert' -l compress -s z -x -a 'gzip zstd"
for shell in fish zsh; do
    command -v $shell >/dev/null || continue
    trod completion $shell >completion.$shell
    check $shell -n completion.$shell
done
run trod completion tcsh
status 2
err_has "no completion for 'tcsh'"
finish
