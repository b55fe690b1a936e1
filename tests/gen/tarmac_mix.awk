# tarmac_mix.awk - lines of one kind by turns with instructions, made of a trace of tarmac-fm.
#
#   trod-gen tarmac-fm --records N | awk -v kind=KIND -v lines=LINES -f tests/gen/tarmac_mix.awk
#
# KIND: vectors (registers of 128 bits), sve (of 512), wide (accesses of 16 bytes), events
# (exceptions), system (registers of many names), halves (opcodes of 16 and 32 bits by turns). The
# trace has LINES lines if N is twice as many, or the trace is given twice.

BEGIN {
    names = split("SCTLR_EL1 TTBR0_EL1 TTBR1_EL1 TCR_EL1 ESR_EL1 FAR_EL1 ELR_EL1 SPSR_EL1 " \
                  "VBAR_EL1 MAIR_EL1 SP_EL0 TPIDR_EL0 CPACR_EL1 CNTKCTL_EL1 AMAIR_EL1 " \
                  "CONTEXTIDR_EL1 FPCR NZCV", name, " ")
}

# BITS of a value, in groups of 32.
function value(bits,    v) {
    for (v = ""; bits > 0; bits -= 32) {
        x = (x * 69069 + 12345) % 4294967296
        v = v (v == "" ? "" : "_") sprintf("%08x", x)
    }
    return v
}

$4 != "IT" && $4 != "IS" || n >= lines { next }

{
    head = $1 " " $2 " " $3
    address = sprintf("%08x", 1048576 + n * 16 % 65536)
    if (kind == "halves" && n % 4)
        print head, $4, $5, $6, substr($7, 1, 4), "T", $9, ": NOP"
    else
        print
    if (kind == "vectors")
        print head " R V" n / 2 % 32 " " value(128)
    else if (kind == "sve")
        print head " R Z" n / 2 % 32 " " value(512)
    else if (kind == "wide")
        print head " M" (n % 6 ? "R" : "W") "16 " address " " value(128)
    else if (kind == "events")
        print head " E " address " 00000084 CoreEvent_CURRENT_SPx_SYNC"
    else if (kind == "system")
        print head " R " name[n / 2 % names + 1] " " value(32) value(32)
    else
        print head " R r" (n % 4 ? "10 " : "13_svc ") value(32)
    n += 2
}
