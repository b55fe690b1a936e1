# test_system.sh - machines with two processors, killed ones, disks; what cannot be recorded.
. "$TROD_SOURCE/tests/record/isa.sh"
. "$TROD_SOURCE/tests/record/system.sh"
have gcc aarch64-linux-gnu-gcc qemu-system-i386 qemu-system-aarch64

linking='-nostdlib -static -Wl,--build-id=none,-Ttext=0x40100000,-z,noexecstack'

# Two processors: the second one stores what it was begun with, for the first one to see.
cat >two.s <<'EOS'
        .globl _start
_start: ldr x0, =0xc4000003         // PSCI: CPU_ON
        mov x1, #1
        adr x2, second
        mov x3, #7
        hvc #0
        ldr x5, =flag
1:      ldr w6, [x5]
        cbz w6, 1b
        ldr x1, =block
        mov w0, #0x18
        hlt #0xf000
        b .
second: mov x8, x0
        ldr x5, =flag
        str w8, [x5]
3:      wfi
        b 3b
        .ltorg
        .balign 8
block:  .quad 0x20026, 4
flag:   .word 0
EOS
check aarch64-linux-gnu-gcc $linking -o two two.s
run trod record --system --registers -o two.tarmac -- two -smp 2
status 4
err_has '^two.tarmac: .* of 2 processors, aarch64, as tarmac'
run trod check two.tarmac
status 0
# up to its store: the first processor may end the machine before the wfi
sed -n 's/.* cpu1 I[TS] ([0-9]*) \([0-9a-f]*\):.*/\1/p' two.tarmac | head -3 >got
second=$(nm two | sed -n 's/^0*\([0-9a-f]*\) . second$/\1/p')
for i in 0 4 8; do printf '%x\n' $((0x$second + i)); done >want
same want got
last='stores of the second processor'
check test "$(grep -c ' cpu1 MW4 .* 00000007$' two.tarmac)" = 1
check grep -q ' cpu0 MR4 .* 00000007$' two.tarmac

# A machine that is killed leaves what it did until then.
cat >spin.s <<'EOS'
        .globl _start
_start: add x0, x0, #1
        b _start
EOS
check aarch64-linux-gnu-gcc $linking -o spin spin.s
trod record --system --take 20000 -o spin.tarmac -- spin -pidfile pid 2>.err &
for _ in {1..200}; do
    [[ -s pid ]] && break
    sleep 0.05
done
sleep 0.5
kill -KILL "$(cat pid)"
wait $!
got=$?
last='trod record of a machine that is killed'
status 137
check grep -q 'ended by signal 9' .err
run trod check spin.tarmac
status 0
check test "$(grep -c ' IT (' spin.tarmac)" = 20000

# A disk: 16-bit code that the firmware loads to 0x7c00.
cat >sector.s <<'EOS'
        .code16
        .globl _start
_start: cli                      # the timer's interrupts would lead to the firmware
        xorw %ax, %ax
        movw %ax, %ds
        movw $0x1234, 0x600
        movw $0x80, %dx
        movb $1, %al
        outb %al, %dx
        movw $0xf4, %dx
        movw $4, %ax
        outw %ax, %dx
done:   hlt
        jmp done
        .org 510
        .word 0xaa55
EOS
if gcc -m32 -nostdlib -static -Wl,--build-id=none,-Ttext=0x7c00,--oformat=binary -o sector sector.s; then
    run trod record --system --start 0x7c00 --take 12 -o disk.byu6 -- sector \
        -device isa-debug-exit,iobase=0xf4,iosize=2
    status 9
    run trod check disk.byu6
    status 0
    run trod view --native disk.byu6
    out <<'EOS'
00007c00 fe I_FETCH
00007c00 f9 I_FETCH
00007c00 e7 I_FETCH
00007c00 1f I_FETCH
00007c08 f8 I_FETCH
00000600 fc D_WRITE
00007c08 c7 I_FETCH
00007c08 3f I_FETCH
00007c10 fe I_FETCH
00000080 fe IO_WRITE
00007c10 f1 I_FETCH
00007c10 8f I_FETCH
00007c10 7f I_FETCH
000000f0 cf IO_WRITE
EOS
fi

# What is told to whom it does not work for.
run trod record --native qemu-system-ppc -o x.tarmac -- -kernel two
status 125
err_has "^trod: 'qemu-system-ppc' is none of the machines that can be recorded: qemu-system-i386,"
run trod record --system -o x.tarmac -- nothing
status 125
err_has "^trod: cannot read 'nothing': No such file"
run trod record --system -o x.tarmac -- /bin/true
status 125
err_has "^trod: '/bin/true' is for machine 62 "
run trod record --system --registers -o x.byu6 -- sector
status 125
err_has '^trod: registers of i386'
check test ! -e x.byu6 -a ! -e x.tarmac
finish
