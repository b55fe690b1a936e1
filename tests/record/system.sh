# system.sh - whole machines recorded.
#
#   multiboot_i386   compiles ./boot, a kernel that turns paging on and ends QEMU with status 7
#   boot_exit        the device by which it does so
. "$TROD_SOURCE/tests/cli/lib.sh"

boot_exit='-device isa-debug-exit,iobase=0xf4,iosize=4'

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
        incl 0xfee00020             # a device
        movl $0xc0000ffd, %eax
        call *%eax
        movl $3, %eax
        outl %eax, $0xf4
1:      jmp 1b
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
