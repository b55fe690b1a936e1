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

# Lines of source, those of a function inlined from another file too, as addr2line has them: of a
# program that lies anywhere, and of one that lies where it was linked.
have addr2line jq
cat >inner.h <<'EOS'
static inline __attribute__((always_inline)) long mixed(long a, long b)
{
    if ((a ^ b) & 4)
        return a * 3 + b;
    return a - b;
}
long other(long n);
EOS
cat >other.c <<'EOS'
#include "inner.h"
__attribute__((noinline)) long other(long n)
{
    long x = 1;
    while (n-- > 0)
        x = mixed(x, n) | 1;
    return x;
}
EOS
cat >outer.c <<'EOS'
#include "inner.h"
__attribute__((noinline)) static long outer(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += mixed(i, sum);
    return sum;
}
volatile long sum;
int main(void)
{
    sum = outer(60) + other(50);
    return 0;
}
EOS
ours='(inner[.]h|outer[.]c|other[.]c):[0-9]+'
for kind in pie static; do
    flags=-static at=0
    [[ $kind == static ]] || flags='-pie -fPIE'
    # shellcheck disable=SC2086
    check gcc -g -O1 $flags -o $kind outer.c other.c
    run trod record -o $kind.d -- ./$kind
    status 0
    [[ $kind == static ]] || at=$(awk -F ', *' '$NF ~ "/pie$" { print $3; exit }' pie.d/trace/modules.log)
    trod view --kind INSTR --format csv $kind.d |
        awk -F , 'NR == 1 { for (i = 1; $i != "address"; i++); next } { n[$i]++ }
                  END { for (a in n) print a, n[a] }' >ran
    # address, executions, file and line
    while read -r a n; do printf '0x%x\n' $((a - at)); done <ran | addr2line -s -e $kind 2>/dev/null |
        sed 's/ (.*//' | paste -d ' ' ran - | grep -E " $ours\$" >truth
    awk '{ n[$3] += $2 } END { for (l in n) print n[l], l }' truth | sort >lines
    for f in inner.h outer.c other.c; do check grep -q " $f:" lines; done
    out_lines() { jq -r "$1 | select(.source // \"\" | test(\"/$ours\$\")) | $2" "$stdout" | sed 's|[^ ]*/||' | sort; }

    run trod hot --top 0 --by line --format json $kind.d
    out_lines '.hot_sources[]' '"\(.executed) \(.source)"' >hot
    check diff lines hot
    out_lines '.owners[]' '"\(.executed) \(.source)"' >hot
    check diff lines hot
    run trod hot --top 0 --format csv $kind.d
    check test "$(grep -cE "$PWD/inner[.]h:3,$(sed -n 's/ inner[.]h:3$//p' lines)," "$stdout")" = 1
    run trod hot --top 0 $kind.d
    out_has "^ *$PWD/inner[.]h:3 +"
    run trod branches --top 0 --by line --format json $kind.d
    out_lines '.static_branches[]' '"\(.address) \(.executions) \(.source)"' >branches
    check test "$(grep -c inner.h: branches)" -ge 2
    check test "$(sort truth | grep -cxFf branches -)" = "$(wc -l <branches)"
    json '[.static_branches[] | select(.source // "" | test("inner[.]h:")) | .function] | unique == ["other", "outer"]'
    run trod mix --by line --format json $kind.d
    out_lines '.owners[]' '"\(.instructions) \(.source)"' >mix
    check diff lines mix
done
finish
