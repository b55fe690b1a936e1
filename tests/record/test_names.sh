# test_names.sh - the list of modules that a recording has beside it: addresses get the names that the
# program and its libraries have, with nothing said; never those of another file.
. "$TROD_SOURCE/tests/cli/lib.sh"
have gcc qemu-x86_64

cat >work.c <<'EOS'
#include <stdio.h>
#include <stdlib.h>

static int table[4000];

__attribute__((noinline)) int deeper(int n)
{
    return n < 2 ? n : deeper(n - 1) + deeper(n - 2);
}

__attribute__((noinline)) int walks(void)
{
    int sum = 0;

    for (int i = 0; i < 4000; i += 16)
        sum += table[i]++;
    return sum;
}

int main(void)
{
    printf("%d %d\n", deeper(10), walks());
    return 0;
}
EOS
check gcc -O1 -fno-optimize-sibling-calls -o work work.c
run trod record -o work.d -- ./work
status 0
check grep -q "^Module Table: version 5, count [0-9]*$" work.d/trace/modules.log
check grep -q "  $PWD/work$" work.d/trace/modules.log
check grep -q "/libc\.so\.6$" work.d/trace/modules.log
check test "$(sed 1,2d work.d/trace/modules.log | wc -l)" = \
    "$(sed -n 's/.*, count //p' work.d/trace/modules.log)"

run trod check work.d
status 0
run trod profile --format json work.d
# deeper(10) calls itself 176 times
json '.functions[] | select(.function == "deeper") | .calls == 177'
json '[.functions[].function] | index("deeper") and index("walks")'
run trod calls work.d
out_has '^ *main .*'
run trod hot work.d
out_has '^  deeper '
run trod cache --by function work.d
status 0
out_has '^ *walks '
# one of its files has its names too
run trod profile "$(ls work.d/trace/*.zip | grep -v schedule)"
out_has '^  deeper '
run trod view --symbols work.d/trace/modules.log --pc walks --limit 1 work.d
status 0
check test -s "$stdout"

# A copy keeps the list.
run trod convert --to drmemtrace work.d copy.d
status 0
same work.d/trace/modules.log copy.d/trace/modules.log

# The program is another one by now: no names.
printf 'char much[300000]; int deeper(void) { return 0; } int main(void) { return deeper(); }' |
    gcc -x c -o work -
run trod hot work.d
out_not '^  deeper '
run trod calls --symbols work.d/trace/modules.log work.d
status 0
check mv work work.away
run trod calls work.d
status 0
out_not ' main '

# One program executes another, at the same addresses: neither is in the list.
check mv work.away work
run trod record -o two.d -- env ./work
status 0
check test "$(grep -c -e "/work$" -e "/env$" two.d/trace/modules.log)" = 0

# Damaged lists end nothing.
for damage in 's/version 5/version 99/' 's/0x/zz/' '1d' 's/, /,/3'; do
    sed -i.kept "$damage" work.d/trace/modules.log
    run trod calls work.d
    check test "$got" -le 2
    mv work.d/trace/modules.log.kept work.d/trace/modules.log
done
finish
