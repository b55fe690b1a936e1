/*
 * tarmac_lines_data.h - heads and instructions of test_tarmac_lines.c, with the rows they become.
 */
#ifndef TROD_TEST_TARMAC_LINES_DATA_H
#define TROD_TEST_TARMAC_LINES_DATA_H

struct item {
    const char *line, *rows;
};

/* Heads: time, unit, source. */
static const struct item heads[] = {
    {"15 clk R r0 0000ab34", "REG t=15clk n=4 v=ab34 x=r0"},
    {"15 ps R r0 0000ab34", "REG t=15ps n=4 v=ab34 x=r0"},
    {"15 R r0 0000ab34", "REG t=15 n=4 v=ab34 x=r0"},
    {"271ns R r0 0000ab34", "REG t=271ns n=4 v=ab34 x=r0"},
    {"10.356000us R r0 0000ab34", "REG t=10.356000us n=4 v=ab34 x=r0"},
    {"13.5 ns R r0 0000ab34", "REG t=13.5ns n=4 v=ab34 x=r0"},
    {"13.5 R r0 0000ab34", "REG t=13.5 n=4 v=ab34 x=r0"},
    {"13 ms R r0 00000001", "REG t=13ms n=4 v=1 x=r0"},
    {"13 s R r0 00000001", "REG t=13s n=4 v=1 x=r0"},
    {"13 fs R r0 00000001", "REG t=13fs n=4 v=1 x=r0"},
    {"13 us R r0 00000001", "REG t=13us n=4 v=1 x=r0"},
    {"13 cs R r0 00000001", "REG t=13cs n=4 v=1 x=r0"},
    {"13 cyc R r0 00000001", "REG t=13cyc n=4 v=1 x=r0"},
    {"13 tic R r0 00000001", "REG t=13tic n=4 v=1 x=r0"},
    {"13 cycles R r0 00000001", "REG t=13cycles n=4 v=1 x=r0"},
    {"13 ticks R r0 00000001", "REG t=13ticks n=4 v=1 x=r0"},
    {"1 ticks cpu0 IT (1) 00001000 d503201f O EL1h_n : NOP",
     "INSTR t=1ticks s=cpu0 i=1 a=1000 n=4 c=1f2003d5 fl=A64 x=NOP [ mode=EL1h_n ]"},
    {"1 half-cycles css.cpu1 R r0 00000001", "REG t=1half-cycles s=css.cpu1 n=4 v=1 x=r0"},
    {"R X0 0000000000000001", "REG n=8 v=1 x=X0"},
    {"clk cpu0 R X0 0000000000000001", "REG u=clk s=cpu0 n=8 v=1 x=X0"},
    {"0x0d clk R r0 00000001", "REG t=13clk n=4 v=1 x=r0"},
    {"11 clk cpu0 R r0 00000001", "REG t=11clk s=cpu0 n=4 v=1 x=r0"},
    {"11 clk cpu0.thread1 R r0 00000001", "REG t=11clk s=cpu0.thread1 n=4 v=1 x=r0"},
    {"11 clk cpu_0_0 R r0 00000001", "REG t=11clk s=cpu_0_0 n=4 v=1 x=r0"},
    {"11 clk cluster0.cpu1 R r0 00000001", "REG t=11clk s=cluster0.cpu1 n=4 v=1 x=r0"},
    {"11 clk css.cluster0.cpu1 R r0 00000001", "REG t=11clk s=css.cluster0.cpu1 n=4 v=1 x=r0"},
    {"11 clk system.cpu R r0 00000001", "REG t=11clk s=system.cpu n=4 v=1 x=r0"},
    {"11 clk CPU0 R r0 00000001", "REG t=11clk s=CPU0 n=4 v=1 x=r0"},
    {"11 clk CPU R r0 00000001", "REG t=11clk s=CPU n=4 v=1 x=r0"},
    {"11 clk cpu[0] R r0 00000001", "REG t=11clk s=cpu[0] n=4 v=1 x=r0"},
    {"11 clk a/cpu0 R r0 00000001", "REG t=11clk s=a/cpu0 n=4 v=1 x=r0"},
    {"11 clk core3 R r0 00000001", "REG t=11clk s=core3 n=4 v=1 x=r0"},
    {"18446744073709551615 clk R r0 00000001", "REG t=18446744073709551615clk n=4 v=1 x=r0"},
    {"0 clk SIGNAL: SIGNAL=Abort STATE=N", "MARKER t=0clk v=0 x=Abort [ line ]"},
    {"0 clk SIGNAL: SIGNAL=?15 STATE=Y", "MARKER t=0clk v=1 x=?15 [ line ]"},
};

/* More units of their own than a trace can have. */
static const struct item units[] = {
    {"1 a R r0 00000001\n2 b R r0 00000001\n3 c R r0 00000001\n4 d R r0 00000001\n"
     "5 e R r0 00000001",
     "! tarmac.too-many-units line 5 caret 2\nREG t=1a n=4 v=1 x=r0\nREG t=2b n=4 v=1 x=r0\n"
     "REG t=3c n=4 v=1 x=r0\nREG t=4d n=4 v=1 x=r0"},
};

/* IT, IS, IF. */
static const struct item instrs[] = {
    {"10 clk IT (10) 00001000 d503201f O EL1h_n : NOP",
     "INSTR t=10clk i=10 a=1000 n=4 c=1f2003d5 fl=A64 x=NOP [ mode=EL1h_n ]"},
    {"10 clk IS (10) 00001000 54ffffa1 O EL3h_s : B.NE 0x1000",
     "INSTR t=10clk i=10 a=1000 n=4 c=a1ffff54 fl=A64,skipped x=\"B.NE 0x1000\" [ mode=EL3h_s ]"},
    {"10 clk IT (10) 0000800a:00000000800a_NS,00000000800c_NS e8900c00 T hyp_n : LDM r0,{r1,r2}",
     "INSTR t=10clk i=10 a=800a p=800a:NS n=4 c=90e8000c fl=T32 x=\"LDM r0,{r1,r2}\""
     " [ mode=hyp_n paddr2=800c:NS ]"},
    {"10 clk IT (10) 00001000:000000001000_S d503201f O EL1h_s : NOP",
     "INSTR t=10clk i=10 a=1000 p=1000:S n=4 c=1f2003d5 fl=A64 x=NOP [ mode=EL1h_s ]"},
    {"10 clk IT (10) 00001000:000000001000 d503201f O EL1h_s : NOP",
     "INSTR t=10clk i=10 a=1000 p=1000:S n=4 c=1f2003d5 fl=A64 x=NOP [ mode=EL1h_s ]"},
    {"10 clk IT (10) 00001000:000000001000_RT d503201f O el3t_rt : NOP",
     "INSTR t=10clk i=10 a=1000 p=1000:RT n=4 c=1f2003d5 fl=A64 x=NOP [ mode=el3t_rt ]"},
    {"10 clk IT (10) 00001000:000000001000_RL d503201f O EL2h_rl : NOP",
     "INSTR t=10clk i=10 a=1000 p=1000:RL n=4 c=1f2003d5 fl=A64 x=NOP [ mode=EL2h_rl ]"},
    {"10 clk IT (10) FFFFFF8008081000 D503201F O EL1h_n : NOP",
     "INSTR t=10clk i=10 a=ffffff8008081000 n=4 c=1f2003d5 fl=A64 x=NOP [ mode=EL1h_n ]"},
    {"10 clk IT (10) 8800001000 d503201f O EL1h_n : NOP",
     "INSTR t=10clk i=10 a=8800001000 n=4 c=1f2003d5 fl=A64 x=NOP [ mode=EL1h_n ]"},
    {"10 clk IT (10) 0x00001000 d503201f O EL1h_n : NOP",
     "INSTR t=10clk i=10 a=1000 n=4 c=1f2003d5 fl=A64 x=NOP [ mode=EL1h_n ]"},
    {"10 clk IT (10) 00001000 4770 T thread : BX lr",
     "INSTR t=10clk i=10 a=1000 n=2 c=7047 fl=T32 x=\"BX lr\" [ mode=thread ]"},
    {"10 clk IT (10) 00001000 f000b800 T thread_s : B.W x",
     "INSTR t=10clk i=10 a=1000 n=4 c=00f000b8 fl=T32 x=\"B.W x\" [ mode=thread_s ]"},
    {"10 clk IT (10) 00001000 f000_b800 T svc_s : B.W x",
     "INSTR t=10clk i=10 a=1000 n=4 c=00f000b8 fl=T32 x=\"B.W x\" [ mode=svc_s ]"},
    {"10 clk IT (10) 00001000 f000 b800 T svc_s : B.W x",
     "INSTR t=10clk i=10 a=1000 n=4 c=00f000b8 fl=T32 x=\"B.W x\" [ mode=svc_s ]"},
    {"10 clk IT (10) 00001000 e12fff1e A ---_- : BX lr",
     "INSTR t=10clk i=10 a=1000 n=4 c=1eff2fe1 fl=A32 x=\"BX lr\" [ mode=---_- ]"},
    {"10 clk IT (10) 00001000 4770 X usr_ns : BX lr",
     "INSTR t=10clk i=10 a=1000 n=2 c=7047 fl=T32EE x=\"BX lr\" [ mode=usr_ns ]"},
    {"10 clk IT (10) 00001000 4770 X usr_ns :\tBX lr \t",
     "INSTR t=10clk i=10 a=1000 n=2 c=7047 fl=T32EE x=\"BX lr\" [ mode=usr_ns ]"},
    {"10 clk IT (00001000) f000_b800 T usr_ns : B.W {pc}",
     "INSTR t=10clk a=1000 n=4 c=00f000b8 fl=T32 x=\"B.W {pc}\" [ mode=usr_ns ]"},
    {"10 clk IT (10) 00001000 1a J usr_ns : iload_0",
     "INSTR t=10clk i=10 a=1000 n=1 c=1a fl=JAZELLE x=iload_0 [ mode=usr_ns ]"},
    {"10 clk IT (10) 00001000 ea000006 A : B x",
     "INSTR t=10clk i=10 a=1000 n=4 c=060000ea fl=A32 x=\"B x\""},
    {"3041 cyc IT (00001000:00000006) 00001000 48f6 T16 LDR r0,[pc]",
     "INSTR t=3041cyc i=6 a=1000 n=2 c=f648 fl=T32 x=\"LDR r0,[pc]\""},
    {"3041 cyc IT (00001000:00000006) 00001000 f000b800 T32 B.W x",
     "INSTR t=3041cyc i=6 a=1000 n=4 c=00f000b8 fl=T32 x=\"B.W x\""},
    {"6000000 cs IT (00000000004d6eb8) 54fffea1 O ---_- : b.ne 0x4d6e8c",
     "INSTR t=6000000cs a=4d6eb8 n=4 c=a1feff54 fl=A64 x=\"b.ne 0x4d6e8c\" [ mode=---_- ]"},
    {"354ns IT 00000350 490d LDR r1,[pc]", "INSTR t=354ns a=350 n=2 c=0d49 x=\"LDR r1,[pc]\""},
    {"IT 00008008 EB00000C BL 0x8040", "INSTR a=8008 n=4 c=0c0000eb x=\"BL 0x8040\""},
    {"10 clk IF (10) 00001000 d503201f O EL1h_n : NOP",
     "INSTR t=10clk i=10 a=1000 n=4 c=1f2003d5 fl=A64 x=NOP [ mode=EL1h_n folded ]"},
    {"10 clk IT (abc) 0000100c d503201f O EL1h_n : NOP",
     "INSTR t=10clk a=100c n=4 c=1f2003d5 fl=A64 x=NOP [ mode=EL1h_n id=abc ]"},
    {"10 clk IT (10) 00001000 e1a00000 A svc_s",
     "INSTR t=10clk i=10 a=1000 n=4 c=0000a0e1 fl=A32 [ mode=svc_s ]"},
    {"10 clk IT (10) 00001000 b000 J svc_s",
     "INSTR t=10clk i=10 a=1000 n=2 c=00b0 fl=JAZELLE [ mode=svc_s ]"},
    {"10 clk IT (10) 00001000 e1a00000 A NOP",
     "INSTR t=10clk i=10 a=1000 n=4 c=0000a0e1 fl=A32 x=NOP"},
    {"10 clk IT (10) 00001000 0xe1a00000 A svc_s : NOP",
     "INSTR t=10clk i=10 a=1000 n=4 c=0000a0e1 fl=A32 x=NOP [ mode=svc_s ]"},
    {"10 clk IT EXC [0x18] IRQ", "EXCEPTION t=10clk v=18 x=IRQ [ exception ]"},
    {"10 clk IT Reset", "EXCEPTION t=10clk x=Reset [ exception ]"},
    {"250 clk cpu0 IT (2) 002105d8:0000002105d8 9100001f O EL3h_ns :   ADD   SP, X0, #0",
     "INSTR t=250clk s=cpu0 i=2 a=2105d8 p=2105d8:S n=4 c=1f000091 fl=A64 x=\"ADD   SP, X0, #0\""
     " [ mode=EL3h_ns ]"},
    {"250 clk IT (2) 00008000 e3a00000 A svc_ns : MOV R0, #0",
     "INSTR t=250clk i=2 a=8000 n=4 c=0000a0e3 fl=A32 x=\"MOV R0, #0\" [ mode=svc_ns ]"},
    {"10 clk IT (10) 00001000 d503201f O EL1h_n : { ? * \" / ;",
     "INSTR t=10clk i=10 a=1000 n=4 c=1f2003d5 fl=A64 x=\"{ ? * \" / ;\" [ mode=EL1h_n ]"},
    {"10 clk IT (10) 00001000 d503201f O EL1h_n : ",
     "INSTR t=10clk i=10 a=1000 n=4 c=1f2003d5 fl=A64 [ mode=EL1h_n ]"},
    {"10 clk IT (10) 00001000 -------- A svc_s : ?",
     "INSTR t=10clk i=10 a=1000 n=4 fl=A32 x=? [ mode=svc_s ]"},
    {"1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1",
     "INSTR t=1clk s=0 i=1 a=4 n=4 c=0100083c fl=A32 x=\"lui t0,0x1\" [ mode=svc ]"},
};

#endif
