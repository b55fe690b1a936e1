# calls_model.sh - a program whose numbers are known, for the tests of views. main calls f K times, f calls g
# twice. Instructions: main 2 + 3 K, f 5 K, g 6 K. Calls: f K, g 2 K. Reads: f 2 K, g 2 K; writes: f 2 K.
#
#   model K [K1] >FILE  its trace (Tarmac, A64): cpu0 with K, and cpu1 with K1; an instruction each tick
#   model_elf FILE      its symbols and lines, in FILE.s; false where there is no assembler for them

# shellcheck disable=SC2317
model() {
    awk -v k0="$1" -v k1="${2:-0}" '
    function i(cpu, pc, code, text) {
        n[cpu]++
        printf "%d clk %s IT (%d) %08x:%012x_NS %s O EL1h_n : %s\n", n[cpu], cpu, n[cpu], pc, pc,
            code, text
    }
    function m(cpu, what, addr) {
        printf "%d clk %s %s8 %08x:%012x_NS 00000000_00000001\n", n[cpu], cpu, what, addr, addr
    }
    function g(cpu) {
        i(cpu, 4160, "f9400022", "LDR      x2,[x1,#0]"); m(cpu, "MR", 32768)
        i(cpu, 4164, "91000c42", "ADD      x2,x2,#3")
        i(cpu, 4168, "d65f03c0", "RET")
    }
    function f(cpu) {
        i(cpu, 4128, "a9bf7bfd", "STP      x29,x30,[sp,#-0x10]!")
        m(cpu, "MW", 32736); m(cpu, "MW", 32744)
        i(cpu, 4132, "94000007", "BL       {pc}+0x1c ; 0x1040"); g(cpu)
        i(cpu, 4136, "94000006", "BL       {pc}+0x18 ; 0x1040"); g(cpu)
        i(cpu, 4140, "a8c17bfd", "LDP      x29,x30,[sp],#0x10")
        m(cpu, "MR", 32736); m(cpu, "MR", 32744)
        i(cpu, 4144, "d65f03c0", "RET")
    }
    function run(cpu, k,    left) {
        if (!k) return
        i(cpu, 4096, sprintf("%08x", 3531603968 + 32 * k), "MOV      x0,#" k)
        for (left = k; left > 0; left--) {
            i(cpu, 4100, "94000007", "BL       {pc}+0x1c ; 0x1020"); f(cpu)
            i(cpu, 4104, "f1000400", "SUBS     x0,x0,#1")
            i(cpu, 4108, "54ffffc1", "B.NE     {pc}-0x8 ; 0x1004")
        }
        i(cpu, 4112, "d65f03c0", "RET")
    }
    BEGIN { run("cpu0", k0); run("cpu1", k1) }'
}

model_elf() {
    command -v as >/dev/null && command -v ld >/dev/null && [[ $(uname -m) == x86_64 ]] || return 1
    awk 'function code(n) { while (n--) print "\tnopl 1(%rax)" }
    function begin(name) { printf "\t.globl %s\n\t.type %s, @function\n%s:\n", name, name, name }
    function end(name) { printf "\t.size %s, .-%s\n", name, name }
    BEGIN {
        print "\t.text"
        begin("main"); code(5); end("main"); print "\t.skip 12"
        begin("f"); code(5); end("f"); print "\t.skip 12"
        begin("g"); code(3); end("g")
        begin("never"); code(2); end("never")
    }' >"$1.s"
    as -g -o "$1.o" "$1.s" && ld -e main -Ttext=0x1000 -o "$1" "$1.o" 2>/dev/null
}
