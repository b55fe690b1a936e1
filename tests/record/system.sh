# system.sh - whole machines recorded.
#
#   multiboot_i386   compiles ./boot, a kernel that turns paging on and ends QEMU with status 7
#   boot_exit        the device by which it does so
#   one_by_one QEMU  prints the option that makes each instruction a block of its own
#   bare_a64         ./bare.s, which takes exceptions at two levels, turns translation on, waits for
#                    a timer and ends QEMU with status 5
#   bare_arm         ./bare.s, the same in the modes of A32 and T32, without translation, status 6
. "$TROD_SOURCE/tests/cli/lib.sh"

boot_exit='-device isa-debug-exit,iobase=0xf4,iosize=4'

one_by_one() {
    "$1" -help | grep -q one-insn-per-tb && echo '-accel tcg,one-insn-per-tb=on' || echo -singlestep
}

# Virtual 0xc0000000 and the three pages behind it are physical 0x202000, 0x201000, 0x204000, 0x203000.
multiboot_i386() {
    cat >boot.s <<'EOS'
        .text
        .long 0x1badb002, 0, -0x1badb002
        .globl _start
        .equ stack, 0x180000
        .equ directory, 0x110000
        .equ table, 0x111000
_start: movl $stack, %esp
        movl $directory, %edi
        movl $0x83, (%edi)
        movl $table + 3, 0xc00(%edi)
        movl $0xfec00083, 0xfec(%edi)
        movl $0x202003, table
        movl $0x201003, table + 4
        movl $0x204003, table + 8
        movl $0x203003, table + 12
        movl %cr4, %eax
        orl $0x10, %eax
        movl %eax, %cr4
        movl %edi, %cr3
        movl $piece, %esi
        movl $0x202ffd, %edi        # last bytes of virtual page 0, then page 1
        movl $3, %ecx
        .balign 8
        rep movsb
        movl $0x201000, %edi
        movl $2, %ecx
        .balign 8
        rep movsl
        movsb
        movl %cr0, %eax
        orl $0x80000000, %eax
        movl %eax, %cr0
        movl $0x11223344, 0xc0000010
        movl 0xc0001020, %eax
        movl %eax, 0xc0002ffe       # across two pages
        lock addl $1, 0xc0000020
        fldl 0xc0001021
        movb $0x5a, %al
        outb %al, $0x80
        movw $0x71, %dx
        inb %dx, %al
        movw $0xcf8, %dx
        movl $0x80000000, %eax
        outl %eax, %dx
        movw $0xcfc, %dx
        inw %dx, %ax
        movl $bytes, %esi
        movw $0x80, %dx
        movl $3, %ecx
        .balign 8
        rep outsb
        movl $0xc0000040, %edi
        movw $0xcf8, %dx
        insl
        movw $0x71, %dx
        movl $2, %ecx
        .balign 8
        rep insb
        incl 0xfee00020             # a device
        movl $0xc0000ffd, %eax
        call *%eax
        movl $3, %eax
        outl %eax, $0xf4
done:   hlt                         # later versions of QEMU end a little later
        jmp done
        .org 0x300
piece:  movl $0x12345678, %ebx      # its bytes lie in two pages
        addl %ebx, 0xc0001040
        ret
        .org 0x400
bytes:  .byte 1, 2, 3
EOS
    check gcc -m32 -nostdlib -static -Wl,--build-id=none,-Ttext=0x100000,-z,noexecstack \
        -o boot boot.s
}

bare_a64() {
    cat >bare.s <<'EOS'
        .globl _start
_start: adr x0, vectors
        msr vbar_el1, x0
        ldr x1, =stack
        mov sp, x1
        mov x0, #(3 << 20)
        msr cpacr_el1, x0
        isb
        svc #7                      // EL1 to EL1
        ldr x2, =0x123456780000     // nowhere: an abort at EL1
        ldr x3, [x2]
        adr x0, user
        msr elr_el1, x0
        mov x0, #0x3c0
        msr spsr_el1, x0
        eret
user:   svc #1                      // EL0 to EL1
        mov x5, #5
        ldr x2, =0x123456780000
        str x5, [x2, #8]            // an abort at EL0
        udf #0
        brk #3
        mov x6, #2
1:      subs x6, x6, #1
        b.ne 1b
        svc #9
        b .
        .balign 2048
vectors:
        .rept 16
        .balign 128
        b handler
        .endr
        .balign 128
handler:
        stp x0, x1, [sp, #-16]!
        mrs x0, esr_el1
        lsr x1, x0, #26
        cbnz x11, 4f
        cmp x1, #0x15               // svc
        b.ne 2f
        and x0, x0, #0xffff
        cmp x0, #9
        b.eq kernel
        b 3f
2:      mrs x0, elr_el1             // a fault: the instruction behind it
        add x0, x0, #4
        msr elr_el1, x0
3:      ldp x0, x1, [sp], #16
        eret
4:      msr cntv_ctl_el0, xzr       // the timer
        mov x10, #1
        b 3b
kernel: ldr x0, =table              // 0x40000000 is there at 0xc0000000 too
        ldr x1, =0x40000701
        str x1, [x0, #8]
        str x1, [x0, #24]
        mov x1, #0xff
        msr mair_el1, x1
        ldr x1, =0x200803519        // 39 bits, 4 KiB, TTBR0 only
        orr x1, x1, #(1 << 23)
        msr tcr_el1, x1
        msr ttbr0_el1, x0
        isb
        mrs x1, sctlr_el1
        orr x1, x1, #1
        msr sctlr_el1, x1
        isb
        ldr x2, =datum + 0x80000000
        ldr x3, [x2]
        str x3, [x2, #8]
        ldr x4, =there + 0x80000000
        br x4
there:  ldr x4, =back
        br x4
back:   mrs x1, sctlr_el1
        bic x1, x1, #1
        msr sctlr_el1, x1
        isb
        mov x11, #1                 // an interrupt of the timer
        mov x0, #0x08000000         // GIC
        mov w1, #1
        str w1, [x0]
        mov w2, #(1 << 27)
        str w2, [x0, #0x100]
        mov x0, #0x08010000
        mov w2, #0xff
        str w2, [x0, #4]
        str w1, [x0]
        mov x2, #1000
        msr cntv_tval_el0, x2
        msr cntv_ctl_el0, x1
        msr daifclr, #2
1:      cbz x10, 1b
leave:  ldr x1, =block
        mov w0, #0x18
        hlt #0xf000
        b .
        .ltorg
        .balign 16
block:  .quad 0x20026, 5
datum:  .quad 0x1122334455667788, 0
        .space 512
stack:
        .balign 4096
table:  .space 4096
EOS
}

bare_arm() {
    cat >bare.s <<'EOS'
        .syntax unified
        .arch armv7-a
        .arm
        .globl _start
_start: ldr r0, =vectors
        mcr p15, 0, r0, c12, c0, 0  @ VBAR
        cps #0x17
        ldr sp, =stack_abt
        cps #0x1b
        ldr sp, =stack_und
        cps #0x13
        ldr sp, =stack
        svc #1                      @ in its own mode: lr is lost, sp not
        ldr r2, =0xf0000000         @ nowhere: an abort
        ldr r3, [r2]
        udf #0
        mov r4, #0x10
        msr spsr_cxsf, r4
        ldr lr, =user
        movs pc, lr
user:   svc #2
        ldr r2, =0xf0000000
        str r4, [r2]
        cmp r4, #0
        svceq #7                    @ not taken
        blx thumb
        svc #9
        b .
        .thumb
        .thumb_func
thumb:  movs r0, #1
        svc #3
        bx lr
        .arm
        .balign 32
vectors:
        b .
        b undefined
        b call
        b .
        b abort
        b .
        b .
        b .
undefined:
        movs pc, lr
abort:  subs pc, lr, #4
call:   push {r0, lr}
        mrs r0, spsr
        tst r0, #0x20
        ldrhne r0, [lr, #-2]
        andne r0, r0, #0xff
        ldreq r0, [lr, #-4]
        biceq r0, r0, #0xff000000
        cmp r0, #9
        ldmne sp!, {r0, pc}^
        ldr r1, =block
        mov r0, #0x20
        svc #0x123456
        b .
        .ltorg
block:  .word 0x20026, 6
        .space 256
stack_abt:
        .space 256
stack_und:
        .space 256
stack:
EOS
}
