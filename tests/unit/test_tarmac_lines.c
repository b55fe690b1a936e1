/*
 * test_tarmac_lines.c - every line variant that is read, each with the rows it must become.
 *
 * The lines are those of docs/formats/tarmac.md and docs/formats/trace-matcher.md; the rows beside
 * them were worked out by hand from these pages (and the manuals they cite), in the notation of
 * tests/common/tarmac_rows.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tarmac_lines_data.h"
#include "tarmac_rows.h"

/* ES and what belongs to it. */
static const struct item es[] = {
    {"41000 ns ES (00000000:e59ff018) A svc: LDR pc,[pc]",
     "INSTR t=41000ns a=0 n=4 c=18f09fe5 fl=A32 x=\"LDR pc,[pc]\" [ mode=svc ]"},
    {"41000 ns ES (00000000:03a06001) A svc: CCFAIL MOVEQ r6,#1",
     "INSTR t=41000ns a=0 n=4 c=0160a003 fl=A32,skipped x=\"MOVEQ r6,#1\" [ mode=svc ]"},
    {"      41000 tic ES  (0000000000210750:aa1f03e9) O el3h_s:         MOV      x9,xzr",
     "INSTR t=41000tic a=210750 n=4 c=e9031faa fl=A64 x=\"MOV      x9,xzr\" [ mode=el3h_s ]"},
    {"11519 tic ES (10000b58:--------) T thrd_s:",
     "INSTR t=11519tic a=10000b58 n=4 fl=T32,aborted [ mode=thrd_s ]"},
    {"17000 ns ES EXC [0x00] Reset", "EXCEPTION t=17000ns v=0 x=Reset [ exception ]"},
    {"17000 ns ES EXC Reset", "EXCEPTION t=17000ns x=Reset [ exception ]"},
    {"17000 ns ES Reset", "EXCEPTION t=17000ns x=Reset [ exception ]"},
    {"17000 ns ES IRQ", "EXCEPTION t=17000ns x=IRQ [ exception ]"},
    {"17000 ns EXC [0x200] Synchronous current EL",
     "EXCEPTION t=17000ns v=200 x=\"Synchronous current EL\" [ exception ]"},
    {"17000 ns EXC [1] Reset", "EXCEPTION t=17000ns v=1 x=Reset [ exception ]"},
    {"                    BR (00000080) A", "BRANCH to=80 fl=other,A32"},
    {"                    R SP_EL3 0000000000100000", "REG n=8 v=100000 x=SP_EL3"},
    {"10 clk LD 00000300 ........ ........ 00000800 ........ 0000000300 NM ISH INC",
     "READ t=10clk a=304 p=304: n=4 v=800 [ note=\"NM ISH INC\" base=300 ]"},
    {"10 clk ST 00000300 ........ 44444444 ........ 2222..11 S:0000000300 nGnRnE OSH",
     "WRITE t=10clk a=300 p=300:S n=1 v=11 [ note=\"nGnRnE OSH\" base=300 ]\n"
     "WRITE + t=10clk a=302 p=302:S n=2 v=2222 [ note=\"nGnRnE OSH\" base=300 ]\n"
     "WRITE + t=10clk a=308 p=308:S n=4 v=44444444 [ note=\"nGnRnE OSH\" base=300 ]"},
    {"10 clk LD 00000300 0f0e0d0c0b0a0908 0706050403020100 NS:0000001300 INC",
     "READ t=10clk a=300 p=1300:NS n=8 v=706050403020100 [ note=INC base=300 ]\n"
     "READ + t=10clk a=308 p=1308:NS n=8 v=f0e0d0c0b0a0908 [ note=INC base=300 ]"},
    {"10 clk LD 00000300 ........ ........ ........ ####ab##",
     "READ t=10clk a=300 n=4 v=ab00 fl=unknown [ mask=ff00ffff base=300 ]"},
    {"10 clk LD 00000300 ........ ........ ........ ..####..",
     "READ t=10clk a=301 n=2 fl=unknown [ base=300 ]"},
    {"10 clk LD 0000030c ........ ........ ........ 0403...."
     "\n          0000031c ........ ........ ........ ....0201",
     "READ t=10clk a=30e n=2 v=403 [ base=30c ]\n"
     "READ t=10clk^ a=31c n=2 v=201 [ base=31c ]"},
    {"     41000 tic ES  (00000000:e59ff018) A svc:           LDR      pc,[pc]"
     "\n                    LD 00000020 ........ ........ ........ 00000800",
     "INSTR t=41000tic a=0 n=4 c=18f09fe5 fl=A32 x=\"LDR      pc,[pc]\" [ mode=svc ]\n"
     "READ t=41000tic^ a=20 n=4 v=800 [ base=20 ]"},
    {"41000 ns ES EXC 0x10", "EXCEPTION t=41000ns v=10 [ exception ]"},
    {"17000 ns EXC 0x10", "EXCEPTION t=17000ns v=10 [ exception ]"},
    {"17000 ns EXC 0x200 Synchronous", "EXCEPTION t=17000ns v=200 x=Synchronous [ exception ]"},
    {"10 clk R R1 00000000   ST 200016c0 00...... ........ ........ ........",
     "REG t=10clk n=4 v=0 x=R1\nWRITE + t=10clk a=200016cf n=1 v=0 [ base=200016c0 ]"},
};

/* R. */
static const struct item regs[] = {
    {"1 clk R X0 0000000000000001", "REG t=1clk n=8 v=1 x=X0"},
    {"1 clk R X0 00000000_00000001", "REG t=1clk n=8 v=1 x=X0"},
    {"1 clk R X0 00000000:00000001", "REG t=1clk n=8 v=1 x=X0"},
    {"1 clk R X0 01234567 89abcdef", "REG t=1clk n=8 v=123456789abcdef x=X0"},
    {"1 clk R X1 000000000002305C", "REG t=1clk n=8 v=2305c x=X1"},
    {"1 clk R r13_svc 00001000", "REG t=1clk n=4 v=1000 x=r13_svc"},
    {"1 clk R r13_main_s 00001000", "REG t=1clk n=4 v=1000 x=r13_main_s"},
    {"1 clk R MSP_NS 20001000", "REG t=1clk n=4 v=20001000 x=MSP_NS"},
    {"1 clk R LR 00000000002105e0", "REG t=1clk n=8 v=2105e0 x=LR"},
    {"1 clk R S3_3_C15_C2_0 0000000000000001", "REG t=1clk n=8 v=1 x=S3_3_C15_C2_0"},
    {"1 clk R R1 (USR) 00000800", "REG t=1clk n=4 v=800 x=R1 [ note=USR ]"},
    {"1 clk R SCTLR (AARCH32) 00c50838", "REG t=1clk n=4 v=c50838 x=SCTLR [ note=AARCH32 ]"},
    {"1 clk R R1 (USR NS) 00000800", "REG t=1clk n=4 v=800 x=R1 [ note=\"USR NS\" ]"},
    {"1 clk R r13 20001fff (MSP)", "REG t=1clk n=4 v=20001fff x=r13 [ comment=(MSP) ]"},
    {"1 clk R cpsr 20000000 __C_", "REG t=1clk n=4 v=20000000 x=cpsr [ comment=__C_ ]"},
    {"1 clk R cpsr 600003c5 (nZCv)", "REG t=1clk n=4 v=600003c5 x=cpsr [ comment=(nZCv) ]"},
    {"1 clk R cpsr 1220023cd", "REG t=1clk n=5 v=1220023cd x=cpsr"},
    {"1 clk R CPSR 1220023cd", "REG t=1clk n=5 v=1220023cd x=CPSR"},
    {"1 clk R cpsr 3cd", "REG t=1clk n=2 v=3cd x=cpsr"},
    {"1 clk R cpsr (N=0 Z=1) 600003c5", "REG t=1clk n=4 v=600003c5 x=cpsr [ note=\"N=0 Z=1\" ]"},
    {"1 clk R FPCR 01230123:23452345", "REG t=1clk n=8 v=123012323452345 x=FPCR"},
    {"8463 clk cpu0 R z31 00000000_00000000_00000000_00000000",
     "REG t=8463clk s=cpu0 n=16 d=00000000000000000000000000000000 x=z31"},
    {"1 clk R Z0 0f0e0d0c_0b0a0908_07060504_03020100",
     "REG t=1clk n=16 d=000102030405060708090a0b0c0d0e0f x=Z0"},
    {"1 clk R P0 a682", "REG t=1clk n=2 v=a682 x=P0"},
    {"1 clk R P1 01010101_01010101", "REG t=1clk n=8 v=101010101010101 x=P1"},
    {"1 clk R V0<127:64> ffeeddccbbaa9988",
     "REG t=1clk n=8 v=ffeeddccbbaa9988 fl=partial x=V0 [ bits=127:64 ]"},
    {"1 clk R X0<31:0> 00000001", "REG t=1clk n=4 v=1 fl=partial x=X0 [ bits=31:0 ]"},
    {"1 clk R FOO<6:3> 5", "REG t=1clk n=1 v=5 fl=partial x=FOO [ bits=6:3 ]"},
    {"1 clk R sp <31:0> 00000001", "REG t=1clk n=4 v=1 fl=partial x=sp [ bits=31:0 ]"},
    {"1 clk R Q0 -------- -------- 3ff6a09e 667f3bcd",
     "REG t=1clk n=16 d=cd3b7f669ea0f63f0000000000000000 fl=partial x=Q0"
     " [ mask=0000000000000000ffffffffffffffff ]"},
    {"1 clk R V5<63:0> 00000000", "REG t=1clk n=8 v=0 fl=partial x=V5 [ bits=63:0 ]"},
    {"1 clk R X1 --------", "REG t=1clk n=4 fl=partial x=X1"},
    {"1 clk R X1 xxxxxxxx", "REG t=1clk n=4 fl=unknown x=X1"},
    {"1 clk R Q0 -------- -------- xxxxxxxx 667f3bcd",
     "REG t=1clk n=16 d=cd3b7f66000000000000000000000000 fl=unknown,partial x=Q0"
     " [ mask=00000000ffffffffffffffffffffffff unwritten=0000000000000000ffffffffffffffff ]"},
    {"1 clk R X1 ?x?x----",
     "REG t=1clk n=4 fl=unknown,partial x=X1 [ mask=ffffffff unwritten=ffff0000 ]"},
    {"1 clk R X0 00000001", "REG t=1clk n=4 v=1 x=X0"},
    {"1 clk R r0 1", "REG t=1clk n=1 v=1 x=r0"},
    {"1 clk R psr xx0xxXxx", "REG t=1clk n=4 v=0 fl=unknown x=psr [ mask=ffff0fff ]"},
    {"1 clk R psr xx1xxxxx", "REG t=1clk n=4 v=100000 fl=unknown x=psr [ mask=ffff0fff ]"},
    {"1 clk R X0 0x0000000000000001", "REG t=1clk n=8 v=1 x=X0"},
    {"1 clk R DC CVAU 0000000000001000", "REG t=1clk n=8 v=1000 x=\"DC CVAU\" [ system ]"},
    {"1 clk R IC IALLU", "REG t=1clk x=\"IC IALLU\" [ system ]"},
    {"1 clk R TLBI VAE1IS 0000000000001000", "REG t=1clk n=8 v=1000 x=\"TLBI VAE1IS\" [ system ]"},
    {"1 clk R AT S1E1R 0000000000001000", "REG t=1clk n=8 v=1000 x=\"AT S1E1R\" [ system ]"},
    {"1 clk R X31 0000000000001000", "REG t=1clk n=8 v=1000 x=X31"},
    {"1 clk R sp_svc 00001000", "REG t=1clk n=4 v=1000 x=sp_svc"},
};

/* MR, MW and MU in one line. */
static const struct item mems[] = {
    {"2 clk MR4 00008034 000029b4", "READ t=2clk a=8034 n=4 v=29b4"},
    {"2 clk MW8 0000cbf0:00000000cbf0_NS 00000000_0000cbd0",
     "WRITE t=2clk a=cbf0 p=cbf0:NS n=8 v=cbd0"},
    {"2 clk MW4X 00008034 000029b4", "WRITE t=2clk a=8034 n=4 v=29b4 fl=exclusive"},
    {"2 clk MW4T 00008034 000029b4", "WRITE t=2clk a=8034 n=4 v=29b4 fl=unpriv"},
    {"2 clk MW4L 00008034 000029b4", "WRITE t=2clk a=8034 n=4 v=29b4 fl=locked"},
    {"2 clk MR4 X 00008034 000029b4", "READ t=2clk a=8034 n=4 v=29b4 fl=exclusive"},
    {"2 cs W04 X 00008034 000029b4", "WRITE t=2cs a=8034 n=4 v=29b4 fl=exclusive"},
    {"2 clk MR16 400171e0 0011223344556677 8899aabbccddeeff",
     "READ t=2clk a=400171e0 n=16 d=ffeeddccbbaa99887766554433221100"},
    {"2 clk MR16 400171e0 00112233445566778899aabbccddeeff",
     "READ t=2clk a=400171e0 n=16 d=ffeeddccbbaa99887766554433221100"},
    {"2 clk MW16 400171e0 00112233_44556677_8899aabb_ccddeeff",
     "WRITE t=2clk a=400171e0 n=16 d=ffeeddccbbaa99887766554433221100"},
    {"2 clk MW16 1000 00000000_00000001 00000000_00000002",
     "WRITE t=2clk a=1000 n=16 d=02000000000000000100000000000000"},
    {"2 clk MR3 00008034 0029b4", "READ t=2clk a=8034 n=3 v=29b4"},
    {"2 clk MR7 00008034 000000000029b4", "READ t=2clk a=8034 n=7 v=29b4"},
    {"2 clk MR4 28491000 (ABORTED)", "READ t=2clk a=28491000 n=4 fl=aborted [ note=ABORTED ]"},
    {"2 clk MW4 28491000 (abort)", "WRITE t=2clk a=28491000 n=4 fl=aborted [ note=abort ]"},
    {"2 clk MW4X 28491000 00000001 (EXCLUSIVE FAIL)",
     "WRITE t=2clk a=28491000 n=4 v=1 fl=exclusive,aborted [ note=\"EXCLUSIVE FAIL\" ]"},
    {"2 clk MSW4___D 201fffec xxxxxxxx", "WRITE t=2clk a=201fffec n=4 fl=unknown [ attr=D ]"},
    {"2 clk MR4 1000 --------", "READ t=2clk a=1000 n=4 fl=partial"},
    {"2 clk MR4 1000 ........", "READ t=2clk a=1000 n=4 fl=unknown"},
    {"2 clk MR4 1000 ????????", "READ t=2clk a=1000 n=4 fl=unknown"},
    {"2 clk MR4 1000 0x00000001", "READ t=2clk a=1000 n=4 v=1"},
    {"2 clk MR4 0x1000 00000001", "READ t=2clk a=1000 n=4 v=1"},
    {"2 clk MR4 1000 12xx5678", "READ t=2clk a=1000 n=4 v=12005678 fl=unknown [ mask=0000ff00 ]"},
    {"2 clk MR2_I 0000010a b5100000", "READ t=2clk a=10a n=2 v=b5100000 fl=ifetch [ attr=I ]"},
    {"2 clk MR64 00001000 00000001",
     "! tarmac.short-value line 1 caret 20\nREAD t=2clk a=1000 n=64 v=1"},
    {"2 clk MW4 00001000 1", "! tarmac.short-value line 1 caret 19\nWRITE t=2clk a=1000 n=4 v=1"},
    {"2 clk MR4 1000:2000_RT 00000001", "READ t=2clk a=1000 p=2000:RT n=4 v=1"},
    {"2 clk MNW4___D 2002fa00 efbeefbe", "WRITE t=2clk a=2002fa00 n=4 v=beefbeef [ attr=D ]"},
    {"2 clk MNR4___I 00000100 efbeefbe", "READ t=2clk a=100 n=4 v=efbeefbe fl=ifetch [ attr=I ]"},
    {"2 clk MNR4___A 00000100 efbeefbe", "READ t=2clk a=100 n=4 v=efbeefbe [ attr=A ]"},
    {"2 clk MNW4____ (00000050:000000a8) 05011000 00000003",
     "WRITE t=2clk a=5011000 n=4 v=3 [ insn=50 serial=a8 ]"},
    {"2 clk MCW4___R (00000050:000000a8) TRANSFER 00000001",
     "BUS t=2clk n=4 v=1 [ write coprocessor note=TRANSFER insn=50 serial=a8 ]"},
    {"2 clk MR4_D 00001000 00000001", "READ t=2clk a=1000 n=4 v=1 [ attr=D ]"},
    {"2 clk MR2_I 00001000 4770", "READ t=2clk a=1000 n=2 v=4770 fl=ifetch [ attr=I ]"},
    {"MNR4O___ 00008008 EB00000C", "READ a=8008 n=4 v=eb00000c fl=ifetch"},
    {"MNR8____ 00008098 00007804 00007828", "READ a=8098 n=8 v=782800007804"},
    {"MI", "BUS [ idle ]"},
    {"MIO", "BUS [ idle ]"},
    {"MNR4____ 00008098 (wait)", "BUS p=8098: [ idle note=wait ]"},
    {"2 clk MR4X 00008098 (wait)", "BUS t=2clk p=8098: [ idle note=wait ]"},
    {"2 clk MR4 X 00008098 (wait)", "BUS t=2clk p=8098: [ idle note=wait ]"},
    {"2 cs R04 X 00008098 (wait)", "BUS t=2cs p=8098: [ idle note=wait ]"},
    {"2 clk MR4 00001000 00000001 tag=3", "READ t=2clk a=1000 n=4 v=1 [ note=tag=3 ]"},
    {"2 clk MW8 00001000 00000000_00000001 tag=3  pas=ns",
     "WRITE t=2clk a=1000 n=8 v=1 [ note=\"tag=3  pas=ns\" ]"},
    {"6000001 cs R08 00001000 0000000000000001", "READ t=6000001cs a=1000 n=8 v=1"},
    {"6000001 cs W16 00001000 00000000000000010000000000000002",
     "WRITE t=6000001cs a=1000 n=16 d=02000000000000000100000000000000"},
    {"2 clk MR32 1000 "
     "00000000_00000000_00000000_00000000_00000000_00000000_00000000_00000001",
     "READ t=2clk a=1000 n=32 d=01000000000000000000000000000000"
     "00000000000000000000000000000000"},
    {"2 clk cpu0 MU8_LDCLR 00001000:000000001000 00000000_00000001",
     "ATOMIC t=2clk s=cpu0 a=1000 p=1000:S n=8 v=1 x=LDCLR"},
    {"2 clk MU4_LDADD 00001000 00000001", "ATOMIC t=2clk a=1000 n=4 v=1 x=LDADD"},
    {"2 clk MU4_SWP 00001000 00000001", "ATOMIC t=2clk a=1000 n=4 v=1 x=SWP"},
    {"2 clk MU4_SWPA 00001000 00000001", "ATOMIC t=2clk a=1000 n=4 v=1 x=SWPA"},
    {"2 clk MU4_CASA 00001000 00000001", "ATOMIC t=2clk a=1000 n=4 v=1 x=CASA"},
    {"2 clk MU4_ADD 00001000 12345678", "ATOMIC t=2clk a=1000 n=4 v=12345678 x=ADD"},
    {"2 clk MU8_CAS 00001000 00000000_00000001 00000000_00000002",
     "ATOMIC t=2clk a=1000 n=8 v=1 x=CAS [ more=00000000_00000002 ]"},
    {"2 clk MU16_CASP 00001000 00000000_00000001_00000000_00000002",
     "ATOMIC t=2clk a=1000 n=16 d=02000000000000000100000000000000 x=CASP"},
    {"2 clk MU4_SWP 00001000 old=00000001 new=00000002",
     "ATOMIC t=2clk a=1000 n=4 v=1 x=SWP [ more=new=00000002 ]"},
};

/* Everything below the program, and events. */
static const struct item systems[] = {
    {"5 clk cpu0 FD (11) 00001000 00002000 A",
     "BRANCH t=5clk s=cpu0 i=11 a=1000 to=2000 fl=direct,A32"},
    {"5 clk FI (11) 00001000:000000001000_NS 00002000:000000002000_NS T",
     "BRANCH t=5clk i=11 a=1000 p=1000:NS to=2000 fl=indirect,T32 [ to=2000:NS ]"},
    {"5 clk FR (11) 00001000 00002000 O",
     "BRANCH t=5clk i=11 a=1000 to=2000 fl=exception-return,A64"},
    {"0 ps CACHE MAINTENANCE Instruction and Data cache Invalidate All to PoU 00000000",
     "CACHE_OP t=0ps v=0 x=\"Instruction and Data cache Invalidate All to PoU\""
     " [ data instr invalidate ]"},
    {"0 ps cpu0 CACHE MAINTENANCE Data cache Clean by MVA to PoC 80001000:000080001000_NS 4K Normal"
     " NonShareable",
     "CACHE_OP t=0ps s=cpu0 a=80001000 p=80001000:NS x=\"Data cache Clean by MVA to PoC\""
     " [ data clean page=4K memtype=\"Normal NonShareable\" ]"},
    {"1947 clk cpu0 CACHE cpu.cpu0.l1icache LINE 0096 ALLOC 0x0000152112c0",
     "CACHE_LINE t=1947clk s=cpu0 p=152112c0:S v=96 sub=1 x=cpu.cpu0.l1icache"},
    {"1947 clk cpu0 CACHE l2 LINE 00ff EVICT 0x0000152112c0_NS",
     "CACHE_LINE t=1947clk s=cpu0 p=152112c0:NS v=ff sub=6 x=l2"},
    {"1951 clk cpu0 TTW ITLB LPAE 1:3 000016390010 00000000152204c3 : BLOCK ATTRIDX=0 NS=0",
     "WALK t=1951clk s=cpu0 p=16390010:S v=152204c3 x=BLOCK"
     " [ side=ITLB format=LPAE 1:3 attrs=\"ATTRIDX=0 NS=0\" ]"},
    {"1951 clk cpu0 TTU DTLB VMSA 1:2 000016390010 00000001 : FAULT",
     "WALK t=1951clk s=cpu0 p=16390010:S v=1 x=FAULT [ update side=DTLB format=VMSA 1:2 ]"},
    {"1951 clk cpu0 TTW DTLB LPAE 2:1 000016390010 0000000000000000 : ABORTED",
     "WALK t=1951clk s=cpu0 p=16390010:S v=0 fl=aborted x=ABORTED [ side=DTLB format=LPAE 2:1 ]"},
    {"1951 clk cpu0 TLB FILL cpu.cpu0.ITLB 64K 0x00020000, nG asid=0:0x0015220000 Normal"
     " NonShareable Inner=WriteBackWriteAllocate Outer=WriteBackWriteAllocate xn=0 pxn=0"
     " ContiguousHint =0",
     "TLB t=1951clk s=cpu0 a=20000 p=15220000:S n=65536 sub=0 x=cpu.cpu0.ITLB"
     " [ bytes=10000 sec=S nG asid=0 memtype=\"Normal NonShareable Inner=WriteBackWriteAllocate"
     " Outer=WriteBackWriteAllocate\" attrs=\"xn=0 pxn=0 ContiguousHint =0\" ]"},
    {"1 clk TLB FILL d 4K 0x1000 EL3_s:0x0015220000 Device-nGnRnE (StronglyOrdered) Cont =0",
     "TLB t=1clk a=1000 p=15220000:S n=4096 sub=0 x=d"
     " [ bytes=1000 el=EL3_s sec=S memtype=\"Device-nGnRnE (StronglyOrdered)\" attrs=\"Cont =0\" "
     "]"},
    {"1 clk WALKCACHE EVICT wc 1G 0x40000000_NS EL1_n vmid=42, nG asid=10",
     "TLB t=1clk a=40000000 n=1073741824 sub=3 x=wc"
     " [ bytes=40000000 el=EL1_n sec=NS vmid=2a nG asid=a ]"},
    {"1 clk TLB EVICT l2 4K 0x1000\tEL1_n\tvmid=1,\tnG\tasid=2",
     "TLB t=1clk a=1000 n=4096 sub=1 x=l2 [ bytes=1000 el=EL1_n sec=S vmid=1 nG asid=2 ]"},
    {"1 clk TLB EVICT l2 4K 0x1000 nG asid=2",
     "TLB t=1clk a=1000 n=4096 sub=1 x=l2 [ bytes=1000 sec=S nG asid=2 ]"},
    {"1 clk TLB EVICT l2 4K 0x1000 EL1_n vmid=1 pas=NS, nG asid=2",
     "TLB t=1clk a=1000 n=4096 sub=1 x=l2"
     " [ bytes=1000 el=\"EL1_n vmid=1 pas=NS\" sec=S vmid=1 nG asid=2 ]"},
    {"1 clk TLB EVICT l2 4K 0x1000 EL1_n vmid=0x1f, nG asid=0x10",
     "TLB t=1clk a=1000 n=4096 sub=1 x=l2 [ bytes=1000 el=EL1_n sec=S vmid=1f nG asid=10 ]"},
    {"1 clk TLB EVICT l2 512G 0x40000000 EL2_n",
     "TLB t=1clk a=40000000 sub=1 x=l2 [ bytes=8000000000 el=EL2_n sec=S ]"},
    {"1 clk cpu0 CACHE L1 D LINE 00ff DIRTY 0x0000152112c0",
     "CACHE_LINE t=1clk s=cpu0 p=152112c0:S v=ff sub=3 x=\"L1 D\""},
    {"1 clk TTW cpu0 stage two TLB LPAE 2:3 000016390010 01 : TABLE A=0",
     "WALK t=1clk p=16390010:S v=1 x=TABLE [ side=\"cpu0 stage two TLB\" format=LPAE 2:3 attrs=A=0 "
     "]"},
    {"1 clk cpu0 TTW Data TLB LPAE 1:3 000016390010 00000000_152204c3 : BLOCK NS=0",
     "WALK t=1clk s=cpu0 p=16390010:S v=152204c3 x=BLOCK"
     " [ side=\"Data TLB\" format=LPAE 1:3 attrs=NS=0 ]"},
    {"1 clk TLB EVICT l2 0x1000 0x1000 EL2_n",
     "TLB t=1clk a=1000 n=4096 sub=1 x=l2 [ bytes=1000 el=EL2_n sec=S ]"},
    {"1 clk E - 00000001 CoreEvent_Reset", "EXCEPTION t=1clk v=1 x=CoreEvent_Reset [ exception ]"},
    {"1 clk E 00000001 CoreEvent_Reset", "EXCEPTION t=1clk v=1 x=CoreEvent_Reset [ exception ]"},
    {"1 clk E - abt 00000019 CoreEvent_ModeChange",
     "MODE t=1clk v=19 x=CoreEvent_ModeChange [ mode mode=abt ]"},
    {"1 clk E 00008100 00000084 CoreEvent_CURRENT_SPx_SYNC",
     "EXCEPTION t=1clk a=8100 v=84 x=CoreEvent_CURRENT_SPx_SYNC [ exception ]"},
    {"1 clk cpu0 E 00000000:000000000000 00000001 CoreEvent_Reset",
     "EXCEPTION t=1clk s=cpu0 a=0 p=0:S v=1 x=CoreEvent_Reset [ exception ]"},
    {"1 clk E 00008100 00000012 00000003 CoreEvent_SWI",
     "EXCEPTION t=1clk a=8100 v=3 x=CoreEvent_SWI [ exception value1=12 ]"},
    {"1 clk E 00001000 abt 00000019 CoreEvent_ModeChange",
     "MODE t=1clk a=1000 v=19 x=CoreEvent_ModeChange [ mode mode=abt ]"},
    {"1 clk E 00001000 EL3h 00000005 00000019 CoreEvent_ModeChange",
     "MODE t=1clk a=1000 v=19 x=CoreEvent_ModeChange [ mode mode=EL3h value1=5 ]"},
    {"1 clk E 00001000 0000000E CoreEvent_ImpDataAbort",
     "EXCEPTION t=1clk a=1000 v=e x=CoreEvent_ImpDataAbort [ exception ]"},
    {"1 clk E DebugEvent_HaltingDebugState 00000000",
     "MARKER t=1clk v=0 x=DebugEvent_HaltingDebugState [ debug ]"},
    {"1 clk E <00001000> 00000084 CoreEvent_CURRENT_SPx_SYNC",
     "EXCEPTION t=1clk a=1000 v=84 x=CoreEvent_CURRENT_SPx_SYNC [ exception ]"},
    {"1 clk E <00001000:000000001000_NS> abt 00000019 CoreEvent_ModeChange",
     "MODE t=1clk a=1000 p=1000:NS v=19 x=CoreEvent_ModeChange [ mode mode=abt ]"},
    {"1 clk E HRESETn 0", "MARKER t=1clk v=0 x=HRESETn [ signal ]"},
    {"1 clk E INT_READY 0", "MARKER t=1clk v=0 x=INT_READY [ signal ]"},
    {"1 clk E ATOMIC 1", "MARKER t=1clk v=1 x=ATOMIC [ signal ]"},
    {"1 clk E 00000048 00000000 10005", "MARKER t=1clk a=48 v=10005 [ core value1=0 ]"},
    {"1 clk E 00000048 00000000 00000007", "EXCEPTION t=1clk a=48 v=7 [ exception value1=0 ]"},
    {"4782 clk CADI E simulation_stopped", "MARKER t=4782clk x=simulation_stopped [ debugger ]"},
    {"1 clk BW4D__S I_____ O_____ 3 000080001000 78563412",
     "BUS t=1clk p=80001000:S n=4 d=78563412 [ write inner=0 outer=0 master=3 ]"},
    {"1 clk cpu0 BR8IXPN IWRCBS O__C__ m1 000080001000 01020304_05060708",
     "BUS t=1clk s=cpu0 p=80001000:NS n=8 d=0102030405060708 fl=exclusive,priv,ifetch"
     " [ inner=1f outer=4 master=m1 ]"},
    {"1 clk BR4DL_N I_____ O_____ 3 000080001000 78563412",
     "BUS t=1clk p=80001000:NS n=4 d=78563412 fl=locked [ inner=0 outer=0 master=3 ]"},
    {"BNR4O___ A0000000 00000C1E", "BUS p=a0000000: n=4 d=1e0c0000 fl=ifetch"},
    {"BNR8____ A0000000 00000001 00000002", "BUS p=a0000000: n=8 d=0100000002000000"},
};

/* What is kept without meaning. */
static const struct item notes[] = {
    {"", "NOTE"},
    {"# x", "NOTE x=#"},
    {"// x", "NOTE x=//"},
    {"; x", "NOTE x=;"},
    {"====", "NOTE x===== "},
    {"@x", "NOTE x=@x"},
    {"/x", "NOTE x=/x"},
    {"Tarmac Text Rev 3t", "NOTE x=Tarmac"},
    {"Date: Mon", "NOTE x=Date:"},
    {"Source: Armulator", "NOTE x=Source:"},
    {"Options: x", "NOTE x=Options:"},
    {"1 clk MARKER x", "NOTE t=1clk x=MARKER"},
    {"1 clk MRS x", "NOTE t=1clk x=MRS"},
    {"1 clk MPU x", "NOTE t=1clk x=MPU"},
    {"1 clk cpu0 INFO_EXCEPTION_REASON what", "NOTE t=1clk s=cpu0 x=INFO_EXCEPTION_REASON"},
    {"1 clk cpu0 INFO_EXCEPTION_RETURN 1", "NOTE t=1clk s=cpu0 x=INFO_EXCEPTION_RETURN"},
    {"1 clk WFI_START", "NOTE t=1clk x=WFI_START"},
    {"1 clk SW_TRACE text", "NOTE t=1clk x=SW_TRACE"},
    {"1 clk P x", "NOTE t=1clk x=P"},
    {"1 clk ES=what", "NOTE t=1clk x=ES=what"},
    {"Then R says so", "NOTE x=Then"},
    {"10 apples and pears", "NOTE t=10 x=apples"},
};

/* Records that cannot be understood: what is reported, and where. */
static const struct item bad[] = {
    {"1 clk IT (1x) 00001000 d503201f O EL1h_n : NOP", "! tarmac.bad-number line 1 caret 11"},
    {"1 clk IT (1) 0000100g d503201f O EL1h_n : NOP", "! tarmac.bad-number line 1 caret 20"},
    {"1 clk IT (0000100g:6) 00001000 48f6 T16 LDR", "! tarmac.bad-number line 1 caret 17"},
    {"1 clk IT (1) 00000000000010000 d503201f O EL1h_n : NOP",
     "INSTR t=1clk i=1 a=10000 n=4 c=1f2003d5 fl=A64 x=NOP [ mode=EL1h_n ]"},
    {"1 clk IT (1) 10000000000000000 d503201f O EL1h_n : NOP", "! tarmac.too-wide line 1 caret 13"},
    {"1 clk IT (18446744073709551616) 00001000 d503201f O EL1h_n : NOP",
     "! tarmac.too-wide line 1 caret 10"},
    {"1 clk IT (1) 00001000", "! tarmac.missing-field line 1 caret 21"},
    {"1 clk IT (1) 00001000 d5032 O EL1h_n : NOP", "! tarmac.bad-number line 1 caret 22"},
    {"1 clk IT (1 00001000 d503201f O EL1h_n : NOP", "! tarmac.bad-field line 1 caret 44"},
    {"1 clk IT (1) 00001000:000000001000_XX d503201f O EL1h_n : NOP",
     "! tarmac.bad-field line 1 caret 34"},
    {"1 clk ES (00001000 d503201f) O EL1h_n: NOP", "! tarmac.missing-field line 1 caret 27"},
    {"1 clk ES (00001000:d503201f) Q EL1h_n: NOP", "! tarmac.bad-field line 1 caret 29"},
    {"1 clk R", "! tarmac.missing-field line 1 caret 7"},
    {"1 clk R r0", "! tarmac.missing-field line 1 caret 10"},
    {"1 clk R r0 zz", "! tarmac.bad-number line 1 caret 11"},
    {"1 clk R r0 12_", "! tarmac.bad-number line 1 caret 13"},
    {"1 clk R V0<64:127> 00", "! tarmac.bad-field line 1 caret 11"},
    {"1 clk MR4 00001000", "! tarmac.missing-field line 1 caret 18"},
    {"1 clk MR4 00001000 0000000001", "! tarmac.too-wide line 1 caret 19"},
    {"1 clk MR8 a 11111111_22222222_33333333", "! tarmac.too-wide line 1 caret 12"},
    {"1 clk MR4 00001000 00000001 what", "! tarmac.bad-field line 1 caret 28"},
    {"1 clk MR4 00001000 00000001 tag=", "! tarmac.bad-field line 1 caret 28"},
    {"1 clk MR4 00001000 00000001 tag=3 4", "! tarmac.bad-field line 1 caret 34"},
    {"1 clk LD 00000300 ........ ........ ........", "! tarmac.missing-field line 1 caret 44"},
    {"1 clk LD 00000300 ........ ........ ........ .......", "! tarmac.bad-field line 1 caret 45"},
    {"1 clk LD 00000300 ........ ........ ........ 1.......",
     "! tarmac.bad-number line 1 caret 45"},
    {"1 clk LD 00000300 ........ ........ ........ ??......",
     "! tarmac.bad-number line 1 caret 45"},
    {"1 clk TLB FILL x 4K 0x1000 EL3_s", "! tarmac.missing-field line 1 caret 32"},
    {"1 clk CACHE l2 LINE 00ff EVICT 0x1000 2 clk", "! tarmac.bad-field line 1 caret 38"},
    {"1 clk BR (00000080) A R", "! tarmac.bad-field line 1 caret 22"},
    {"1 clk TLB EVICT x 4K 0x1000 EL1_n vmid=2a", "! tarmac.bad-number line 1 caret 40"},
    {"1 clk TLB EVICT x 4K 0x1000 EL1_n nG asid=", "! tarmac.missing-field line 1 caret 42"},
    {"1 clk TLB DROP x 4K 0x1000 EL3_s", "! tarmac.bad-field line 1 caret 10"},
    {"1 clk TTW ITLB LPAE 1-3 0 0 : BLOCK", "! tarmac.bad-field line 1 caret 20"},
    {"1 clk BR4D__S I_____ O____ 3 0 00000000", "! tarmac.bad-field line 1 caret 21"},
    {"1 clk BR4D__S I_____ O_____ 3 0 000000", "! tarmac.bad-number line 1 caret 32"},
    {"-1 clk R r0 00000001", "! tarmac.bad-time line 1 caret 0"},
    {"12345678901234567890123 clk R r0 00000001", "! tarmac.too-wide line 1 caret 0"},
};

/* Lines that Trace Matcher reads in its own way. */
static const struct item matcher[] = {
    {"1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1",
     "INSTR t=1clk s=0 i=1 a=4 n=4 c=0100083c fl=A32 x=\"lui t0,0x1\" [ mode=svc ]"},
    {"10 clk MR8 00103fc4 0010400000000000", "READ t=10clk a=103fc4 n=8 v=10400000000000"},
    {"14 clk R r8 00000000", "REG t=14clk n=4 v=0 x=r8"},
    {"10 clk MR4X 00103fc4 00000001", "READ t=10clk a=103fc4 n=4 v=1 fl=priv"},
    {"10 clk MW4T 00103fc4 00000001", "WRITE t=10clk a=103fc4 n=4 v=1 fl=unpriv"},
    {"1 clk 3 IS (1) 00000004 3c08 T usr_ns : x",
     "INSTR t=1clk s=3 i=1 a=4 n=2 c=083c fl=T32,skipped x=x [ mode=usr_ns ]"},
    {"1 clk 0 IT (1) 00000004 0123456789abcdef A svc_s : long",
     "INSTR t=1clk s=0 i=1 a=4 n=8 c=efcdab8967452301 fl=A32 x=long [ mode=svc_s ]"},
    {"1 clk 0 IT (1) 00000004 0123456789abcdef T svc_s : long",
     "INSTR t=1clk s=0 i=1 a=4 n=8 c=23016745ab89efcd fl=T32 x=long [ mode=svc_s ]"},
    {"1 instructions 0 IT (1) 00000004 3c080001 A svc : x\n1 instructions R r8 00000000",
     "INSTR t=1instructions s=0 i=1 a=4 n=4 c=0100083c fl=A32 x=x [ mode=svc ]\n"
     "REG t=1instructions s=0^ n=4 v=0 x=r8"},
};

static const struct item matcher_big[] = {
    {"1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1",
     "INSTR t=1clk s=0 i=1 a=4 n=4 c=3c080001 fl=A32 x=\"lui t0,0x1\" [ mode=svc ]"},
};

static const struct item thumb[] = {
    {"354ns IT 00000350 490d LDR r1,[pc]",
     "INSTR t=354ns a=350 n=2 c=0d49 fl=T32 x=\"LDR r1,[pc]\""},
    {"354ns IT 00000350 f000b800 B.W x", "INSTR t=354ns a=350 n=4 c=00f000b8 fl=T32 x=\"B.W x\""},
};

/* Without a blank at the end. */
static size_t trimmed(const char *s, size_t n)
{
    while (n && (s[n - 1] == ' ' || s[n - 1] == '\n'))
        n--;
    (void)s;
    return n;
}

static size_t check(const char *format, const char *opt, const struct item *item, size_t n,
                    const char *end)
{
    const struct trod_format *f = trod_format_find(format, strlen(format));
    size_t wrong = 0;

    for (size_t i = 0; i < n; i++) {
        struct trod_buf text = {0}, rows = {0}, want = {0};

        if (trod_buf_printf(&text, "%s%s", item[i].line, end) < 0 ||
            trod_buf_printf(&want, "%s", item[i].rows) < 0)
            test_die("out of memory");
        tarmac_rows_of(f, opt, text.p, text.n, &rows);
        if (trimmed((char *)rows.p, rows.n) != trimmed((char *)want.p, want.n) ||
            memcmp(rows.p, want.p, trimmed((char *)rows.p, rows.n)) != 0) {
            print_message("line:     %s\nexpected: %.*s\nrows:     %.*s", item[i].line, (int)want.n,
                          want.n ? (char *)want.p : "", (int)rows.n, rows.n ? (char *)rows.p : "");
            print_message("\n");
            wrong++;
        }
        trod_buf_fini(&text);
        trod_buf_fini(&rows);
        trod_buf_fini(&want);
    }
    return wrong;
}

#define CHECK(format, opt, items, end)                                                             \
    assert_int_equal(check(format, opt, items, sizeof(items) / sizeof *(items), end), 0)

static void test_heads(void **state)
{
    (void)state;
    CHECK("tarmac", "", heads, "\n");
    CHECK("tarmac", "", units, "\n");
}

static void test_instrs(void **state)
{
    (void)state;
    CHECK("tarmac", "", instrs, "\n");
    CHECK("tarmac", "iset=thumb", thumb, "\n");
}

static void test_es(void **state)
{
    (void)state;
    CHECK("tarmac", "", es, "\n");
}

static void test_regs(void **state)
{
    (void)state;
    CHECK("tarmac", "", regs, "\n");
}

static void test_mems(void **state)
{
    (void)state;
    CHECK("tarmac", "", mems, "\n");
}

static void test_systems(void **state)
{
    (void)state;
    CHECK("tarmac", "", systems, "\n");
}

static void test_notes(void **state)
{
    (void)state;
    CHECK("tarmac", "", notes, "\n");
}

static void test_bad(void **state)
{
    (void)state;
    CHECK("tarmac", "", bad, "\n");
}

static void test_matcher(void **state)
{
    (void)state;
    CHECK("matcher", "", matcher, "\n");
    CHECK("matcher", "endian=big", matcher_big, "\n");
}

/* The same with carriage returns, with blanks at the end, and without any line end. */
static void test_line_ends(void **state)
{
    (void)state;
    CHECK("tarmac", "", heads, "\r\n");
    CHECK("tarmac", "", instrs, "\r\n");
    CHECK("tarmac", "", es, "\r\n");
    CHECK("tarmac", "", regs, "\r\n");
    CHECK("tarmac", "", mems, "\r\n");
    CHECK("tarmac", "", systems, "\r\n");
    CHECK("tarmac", "", bad, "\r\n");
    CHECK("tarmac", "", regs, "  \n");
    CHECK("tarmac", "", mems, " \n");
    CHECK("tarmac", "", systems, " \n");
    CHECK("tarmac", "", heads, "");
    CHECK("tarmac", "", instrs, "");
    CHECK("tarmac", "", regs, "");
    CHECK("tarmac", "", mems, "");
    CHECK("tarmac", "", systems, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),   cmocka_unit_test(test_instrs),
        cmocka_unit_test(test_es),      cmocka_unit_test(test_regs),
        cmocka_unit_test(test_mems),    cmocka_unit_test(test_systems),
        cmocka_unit_test(test_notes),   cmocka_unit_test(test_bad),
        cmocka_unit_test(test_matcher), cmocka_unit_test(test_line_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
