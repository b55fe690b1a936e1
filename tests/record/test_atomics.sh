# test_atomics.sh - the trace sources of Tarmac: atomic operations of A64 as MR and MU lines, letters
# of exclusive accesses, program flow, each source by itself. Expected values follow from the program.
. "$TROD_SOURCE/tests/record/isa.sh"
have aarch64-linux-gnu-gcc qemu-aarch64

cat >work.c <<'EOS'
static unsigned long v = 5, pair[2] __attribute__((aligned(16)));
static unsigned w = 7;
static unsigned char b = 3;
__attribute__((noreturn)) void _start(void)
{
    unsigned n = 2;
    __asm__("" : "+r"(n)); /* a loop that the compiler cannot unroll */
    for (; n > 0; n--) {
        unsigned long old = 8;
        __asm__ volatile("ldaddal %1, %0, [%2]" : "=r"(old) : "r"(3ul), "r"(&v) : "memory");
        __asm__ volatile("stset %w0, [%1]" : : "r"(16u), "r"(&w) : "memory");
        __asm__ volatile("swpb %w1, %w0, [%2]" : "=r"(old) : "r"(9), "r"(&b) : "memory");
        old = 8;
        __asm__ volatile("casal %0, %1, [%2]" : "+r"(old) : "r"(77ul), "r"(&v) : "memory");
        __asm__ volatile("mov x4, #0\n mov x5, #0\n mov x6, #1\n mov x7, #2\n"
                         "caspal x4, x5, x6, x7, [%0]" : : "r"(pair) : "x4", "x5", "x6", "x7", "memory");
        __asm__ volatile("ldxr %0, [%1]\n add %0, %0, #1\n stxr w9, %0, [%1]"
                         : "=&r"(old) : "r"(&v) : "w9", "memory");
    }
    __asm__ volatile("mov x0, #0\n mov x8, #93\n svc #0" : : : "x0", "x8");
    __builtin_unreachable();
}
EOS
aarch64-linux-gnu-gcc -march=armv8.1-a -O1 -nostdlib -static -fno-stack-protector -fno-pie -no-pie \
    -Wl,-e,_start -o work work.c 2>/dev/null || { echo "no compiler for armv8.1-a"; exit 77; }
at() { aarch64-linux-gnu-nm work | sed -n "s/^0*\([0-9a-f]*\) [bBdD] $1\$/\1/p" | awk '{ printf "%8s", $1 }' | tr ' ' 0; }

run trod record --registers -o work.tarmac -- ./work
status 0
sed -n 's/^[0-9]* us cpu[0-9]* \(M[RWU][0-9].*\)/\1/p' work.tarmac | grep -v ' 00[0-9a-f]* --' >got
cat >want <<EOS
MR8 $(at v) 00000000_00000005
MU8_ADD $(at v) 00000000_00000008
MR4 $(at w) 00000007
MU4_ORR $(at w) 00000017
MR1 $(at b) 03
MU1_SWP $(at b) 09
MR8 $(at v) 00000000_00000008
MU8_CAS $(at v) 00000000_0000004d
MR16 $(at pair) 00000000_00000000_00000000_00000000
MU16_CAS $(at pair) 00000000_00000002_00000000_00000001
MR8X $(at v) 00000000_0000004d
MW8X $(at v) 00000000_0000004e
MR8 $(at v) 00000000_0000004e
MU8_ADD $(at v) 00000000_00000051
MR4 $(at w) 00000017
MU4_ORR $(at w) 00000017
MR1 $(at b) 09
MU1_SWP $(at b) 09
MR8 $(at v) 00000000_00000051
MU8_CAS $(at v) 00000000_00000051
MR16 $(at pair) 00000000_00000002_00000000_00000001
MU16_CAS $(at pair) 00000000_00000002_00000000_00000001
MR8X $(at v) 00000000_00000051
MW8X $(at v) 00000000_00000052
EOS
same want got
check grep -q ' : ldaddal ' work.tarmac
check test "$(grep -c '\.byte' work.tarmac)" -eq 0
# the disassembler knows them, and so does check
run trod check work.tarmac
status 0

# Other formats have no word for it: a read and a write.
run trod record -o work.d -- ./work
status 0
check test "$(trod view --kind READ work.d | wc -l)" -eq "$(trod view --kind WRITE work.d | wc -l)"

# kinds SOURCES: the kinds of the rows of a recording of them
kinds() {
    run trod record --sources "$1" -o part.tarmac -- ./work
    status 0
    trod view --format csv part.tarmac | awk -F, 'NR > 1 { print $2 }' | sort -u | tr '\n' ' ' >got
}
while read -r source want; do
    last="--sources $source"
    kinds "$source"
    check test "$(cat got)" = "$want "
done <<'EOS'
instructions INSTR
flow BRANCH
registers REG
memory READ WRITE
updates ATOMIC
instructions,updates ATOMIC INSTR
EOS
kinds flow
# the loop goes back once: the branch is at the end of the first iteration
trod view --kind INSTR --format csv work.d | awk -F, 'NR > 1 { print $6 }' >pcs
last=
while read -r pc; do
    [[ -z $last ]] || ((pc == last + 4)) || printf '%08x %08x O\n' "$last" "$pc"
    last=$pc
done <pcs >want
sed 's/.* FD ([0-9]*) //; s/.* FI ([0-9]*) //' part.tarmac >got
check test -s want
same want got

# What the disassembler does not know is said: PTRUE of SVE (Capstone 5 knows it, 4 does not).
cat >sve.c <<'EOS'
__attribute__((noreturn)) void _start(void)
{
    __asm__ volatile(".inst 0x2518e3e0\n mov x0, #0\n mov x8, #93\n svc #0");
    __builtin_unreachable();
}
EOS
check aarch64-linux-gnu-gcc -O1 -nostdlib -static -Wl,-e,_start -o sve sve.c
QEMU_CPU=max run trod record -o sve.tarmac -- ./sve
status 0
if grep -q ' : \.byte' sve.tarmac; then
    err_has "1 different instruction is unknown to the disassembler [(]Capstone"
else
    check grep -qi ' : ptrue' sve.tarmac
fi

for bad in bus cache walks tlb; do
    run trod record --sources "$bad" -o no.tarmac -- ./work
    status 125
    err_has "'$bad' cannot be recorded"
done
run trod record --sources loads -o no.tarmac -- ./work
status 125
err_has "'loads' is no trace source"
run trod record --sources memory -o no.d -- ./work
status 125
err_has "drmemtrace has no trace sources"
run trod record --sources flow --to matcher:isa=a64 -o no.matcher -- ./work
status 125
err_has "matcher has no records of 'flow'"
finish
