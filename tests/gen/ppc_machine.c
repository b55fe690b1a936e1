/*
 * ppc_machine.c - see ppc_machine.h.
 */
#include "ppc_machine.h"

#include <string.h>

enum form { D, DU, X, XU, DS, MULTI, NB, XER, VEC, STREAM, LINE };
enum bank { GPR, FPR, VR, NO };

/* Instructions with accesses. size 0: from elsewhere. */
static const struct listed {
    uint8_t major;
    uint16_t minor;
    uint8_t form, access, size, bank, class;
} list[] = {
    {32, 0, D, ACCESS_READ, 4, GPR, CLASS_MEMORY},          /* lwz */
    {33, 0, DU, ACCESS_READ, 4, GPR, CLASS_MEMORY},         /* lwzu */
    {34, 0, D, ACCESS_READ, 1, GPR, CLASS_MEMORY},          /* lbz */
    {35, 0, DU, ACCESS_READ, 1, GPR, CLASS_MEMORY},         /* lbzu */
    {36, 0, D, ACCESS_WRITE, 4, GPR, CLASS_MEMORY},         /* stw */
    {37, 0, DU, ACCESS_WRITE, 4, GPR, CLASS_MEMORY},        /* stwu */
    {38, 0, D, ACCESS_WRITE, 1, GPR, CLASS_MEMORY},         /* stb */
    {39, 0, DU, ACCESS_WRITE, 1, GPR, CLASS_MEMORY},        /* stbu */
    {40, 0, D, ACCESS_READ, 2, GPR, CLASS_MEMORY},          /* lhz */
    {41, 0, DU, ACCESS_READ, 2, GPR, CLASS_MEMORY},         /* lhzu */
    {42, 0, D, ACCESS_READ, 2, GPR, CLASS_MEMORY},          /* lha */
    {43, 0, DU, ACCESS_READ, 2, GPR, CLASS_MEMORY},         /* lhau */
    {44, 0, D, ACCESS_WRITE, 2, GPR, CLASS_MEMORY},         /* sth */
    {45, 0, DU, ACCESS_WRITE, 2, GPR, CLASS_MEMORY},        /* sthu */
    {46, 0, MULTI, ACCESS_READ, 0, GPR, CLASS_MEMORY},      /* lmw */
    {47, 0, MULTI, ACCESS_WRITE, 0, GPR, CLASS_MEMORY},     /* stmw */
    {48, 0, D, ACCESS_READ, 4, FPR, CLASS_MEMORY},          /* lfs */
    {49, 0, DU, ACCESS_READ, 4, FPR, CLASS_MEMORY},         /* lfsu */
    {50, 0, D, ACCESS_READ, 8, FPR, CLASS_MEMORY},          /* lfd */
    {51, 0, DU, ACCESS_READ, 8, FPR, CLASS_MEMORY},         /* lfdu */
    {52, 0, D, ACCESS_WRITE, 4, FPR, CLASS_MEMORY},         /* stfs */
    {53, 0, DU, ACCESS_WRITE, 4, FPR, CLASS_MEMORY},        /* stfsu */
    {54, 0, D, ACCESS_WRITE, 8, FPR, CLASS_MEMORY},         /* stfd */
    {55, 0, DU, ACCESS_WRITE, 8, FPR, CLASS_MEMORY},        /* stfdu */
    {58, 0, DS, ACCESS_READ, 8, GPR, CLASS_MEMORY},         /* ld */
    {58, 2, DS, ACCESS_READ, 4, GPR, CLASS_MEMORY},         /* lwa */
    {62, 0, DS, ACCESS_WRITE, 8, GPR, CLASS_MEMORY},        /* std */
    {31, 7, VEC, ACCESS_READ, 1, VR, CLASS_MEMORY},         /* lvebx */
    {31, 39, VEC, ACCESS_READ, 2, VR, CLASS_MEMORY},        /* lvehx */
    {31, 71, VEC, ACCESS_READ, 4, VR, CLASS_MEMORY},        /* lvewx */
    {31, 103, VEC, ACCESS_READ, 16, VR, CLASS_MEMORY},      /* lvx */
    {31, 359, VEC, ACCESS_READ, 16, VR, CLASS_MEMORY},      /* lvxl */
    {31, 135, VEC, ACCESS_WRITE, 1, VR, CLASS_MEMORY},      /* stvebx */
    {31, 167, VEC, ACCESS_WRITE, 2, VR, CLASS_MEMORY},      /* stvehx */
    {31, 199, VEC, ACCESS_WRITE, 4, VR, CLASS_MEMORY},      /* stvewx */
    {31, 231, VEC, ACCESS_WRITE, 16, VR, CLASS_MEMORY},     /* stvx */
    {31, 487, VEC, ACCESS_WRITE, 16, VR, CLASS_MEMORY},     /* stvxl */
    {31, 20, X, ACCESS_READ, 4, GPR, CLASS_MEMORY},         /* lwarx */
    {31, 84, X, ACCESS_READ, 8, GPR, CLASS_MEMORY},         /* ldarx */
    {31, 150, X, ACCESS_WRITE, 4, GPR, CLASS_MEMORY},       /* stwcx. */
    {31, 214, X, ACCESS_WRITE, 8, GPR, CLASS_MEMORY},       /* stdcx. */
    {31, 21, X, ACCESS_READ, 8, GPR, CLASS_MEMORY},         /* ldx */
    {31, 53, XU, ACCESS_READ, 8, GPR, CLASS_MEMORY},        /* ldux */
    {31, 23, X, ACCESS_READ, 4, GPR, CLASS_MEMORY},         /* lwzx */
    {31, 55, XU, ACCESS_READ, 4, GPR, CLASS_MEMORY},        /* lwzux */
    {31, 87, X, ACCESS_READ, 1, GPR, CLASS_MEMORY},         /* lbzx */
    {31, 119, XU, ACCESS_READ, 1, GPR, CLASS_MEMORY},       /* lbzux */
    {31, 279, X, ACCESS_READ, 2, GPR, CLASS_MEMORY},        /* lhzx */
    {31, 311, XU, ACCESS_READ, 2, GPR, CLASS_MEMORY},       /* lhzux */
    {31, 310, X, ACCESS_READ, 4, GPR, CLASS_MEMORY},        /* eciwx */
    {31, 438, X, ACCESS_WRITE, 4, GPR, CLASS_MEMORY},       /* ecowx */
    {31, 341, X, ACCESS_READ, 4, GPR, CLASS_MEMORY},        /* lwax */
    {31, 373, XU, ACCESS_READ, 4, GPR, CLASS_MEMORY},       /* lwaux */
    {31, 343, X, ACCESS_READ, 2, GPR, CLASS_MEMORY},        /* lhax */
    {31, 375, XU, ACCESS_READ, 2, GPR, CLASS_MEMORY},       /* lhaux */
    {31, 534, X, ACCESS_READ, 4, GPR, CLASS_MEMORY},        /* lwbrx */
    {31, 790, X, ACCESS_READ, 2, GPR, CLASS_MEMORY},        /* lhbrx */
    {31, 535, X, ACCESS_READ, 4, FPR, CLASS_MEMORY},        /* lfsx */
    {31, 567, XU, ACCESS_READ, 4, FPR, CLASS_MEMORY},       /* lfsux */
    {31, 599, X, ACCESS_READ, 8, FPR, CLASS_MEMORY},        /* lfdx */
    {31, 631, XU, ACCESS_READ, 8, FPR, CLASS_MEMORY},       /* lfdux */
    {31, 149, X, ACCESS_WRITE, 8, GPR, CLASS_MEMORY},       /* stdx */
    {31, 181, XU, ACCESS_WRITE, 8, GPR, CLASS_MEMORY},      /* stdux */
    {31, 151, X, ACCESS_WRITE, 4, GPR, CLASS_MEMORY},       /* stwx */
    {31, 183, XU, ACCESS_WRITE, 4, GPR, CLASS_MEMORY},      /* stwux */
    {31, 215, X, ACCESS_WRITE, 1, GPR, CLASS_MEMORY},       /* stbx */
    {31, 247, XU, ACCESS_WRITE, 1, GPR, CLASS_MEMORY},      /* stbux */
    {31, 407, X, ACCESS_WRITE, 2, GPR, CLASS_MEMORY},       /* sthx */
    {31, 439, XU, ACCESS_WRITE, 2, GPR, CLASS_MEMORY},      /* sthux */
    {31, 662, X, ACCESS_WRITE, 4, GPR, CLASS_MEMORY},       /* stwbrx */
    {31, 918, X, ACCESS_WRITE, 2, GPR, CLASS_MEMORY},       /* sthbrx */
    {31, 663, X, ACCESS_WRITE, 4, FPR, CLASS_MEMORY},       /* stfsx */
    {31, 695, XU, ACCESS_WRITE, 4, FPR, CLASS_MEMORY},      /* stfsux */
    {31, 727, X, ACCESS_WRITE, 8, FPR, CLASS_MEMORY},       /* stfdx */
    {31, 759, XU, ACCESS_WRITE, 8, FPR, CLASS_MEMORY},      /* stfdux */
    {31, 983, X, ACCESS_WRITE, 4, FPR, CLASS_MEMORY},       /* stfiwx */
    {31, 597, NB, ACCESS_READ, 0, GPR, CLASS_MEMORY},       /* lswi */
    {31, 725, NB, ACCESS_WRITE, 0, GPR, CLASS_MEMORY},      /* stswi */
    {31, 533, XER, ACCESS_READ, 0, GPR, CLASS_EXTENDED},    /* lswx */
    {31, 661, XER, ACCESS_WRITE, 0, GPR, CLASS_EXTENDED},   /* stswx */
    {31, 342, STREAM, ACCESS_TOUCH, 0, NO, CLASS_EXTENDED}, /* dst */
    {31, 374, STREAM, ACCESS_TOUCH, 0, NO, CLASS_EXTENDED}, /* dstst */
    {31, 278, LINE, ACCESS_TOUCH, 32, NO, CLASS_CACHE},     /* dcbt */
    {31, 246, LINE, ACCESS_TOUCH, 32, NO, CLASS_CACHE},     /* dcbtst */
    {31, 54, LINE, ACCESS_CACHE, 32, NO, CLASS_CACHE},      /* dcbst */
    {31, 86, LINE, ACCESS_CACHE, 32, NO, CLASS_CACHE},      /* dcbf */
    {31, 470, LINE, ACCESS_CACHE, 32, NO, CLASS_CACHE},     /* dcbi */
    {31, 758, LINE, ACCESS_CACHE, 32, NO, CLASS_CACHE},     /* dcba */
    {31, 982, LINE, ACCESS_CACHE, 32, NO, CLASS_CACHE},     /* icbi */
    {31, 1014, LINE, ACCESS_WRITE, 32, NO, CLASS_CACHE},    /* dcbz */
};

enum { LISTED = sizeof list / sizeof *list };

bool machine_listed(unsigned i, uint32_t *major, uint32_t *minor, enum machine_class *class)
{
    if (i >= LISTED)
        return false;
    *major = list[i].major;
    *minor = list[i].minor;
    *class = (enum machine_class)list[i].class;
    return true;
}

static unsigned field(uint32_t opcode, unsigned first, unsigned last)
{
    return opcode >> (31 - last) & ((2u << (last - first)) - 1);
}

static const struct listed *find(uint32_t opcode)
{
    uint32_t major = field(opcode, 0, 5), minor = field(opcode, 21, 30);

    for (unsigned i = 0; i < LISTED; i++) {
        const struct listed *l = &list[i];

        if (l->major == major && (major == 31   ? l->minor == minor
                                  : major == 58 ? l->minor == (opcode & 3)
                                                : true))
            return l;
    }
    return NULL;
}

static int32_t extend(uint32_t v)
{
    return (int32_t)(v ^ 0x8000) - 0x8000;
}

static uint32_t address_of(const struct machine *m, const struct listed *l, uint32_t opcode)
{
    unsigned ra = field(opcode, 11, 15), rb = field(opcode, 16, 20);
    uint32_t base = ra ? m->gpr[ra] : 0;

    switch (l->form) {
    case D:
    case DU:
    case MULTI:
        return base + (uint32_t)extend(opcode & 0xffff);
    case DS:
        return base + (uint32_t)extend(opcode & 0xfffc);
    case NB:
    case STREAM:
        return base;
    default:
        return base + m->gpr[rb];
    }
}

static uint32_t size_of(const struct machine *m, const struct listed *l, uint32_t opcode)
{
    unsigned rt = field(opcode, 6, 10), nb = field(opcode, 16, 20);

    switch (l->form) {
    case MULTI:
        return 4 * (32 - rt);
    case NB:
        return nb ? nb : 32;
    case XER:
        return m->xer & 0x7f;
    case STREAM:
        nb = m->gpr[nb] >> 24 & 31;
        return 16 * (nb ? nb : 32);
    default:
        return l->size;
    }
}

static uint8_t *at(struct machine *m, uint32_t address)
{
    return &m->memory[address % MACHINE_MEMORY];
}

/* Registers get what memory holds; all of a register changes, the exact bytes do not matter here.
 */
static void load(struct machine *m, const struct listed *l, uint32_t opcode, uint32_t first,
                 uint32_t size)
{
    unsigned rt = field(opcode, 6, 10);

    if (l->bank == VR) {
        for (uint32_t i = 0; i < size; i++)
            m->vr[rt][(first + i) & 15] = *at(m, first + i);
        m->vrvalid |= 0x80000000u >> rt;
        return;
    }
    for (uint32_t done = 0; done < size;) {
        uint64_t v = 0;
        uint32_t n = l->form == MULTI || l->form == NB || l->form == XER ? 4 : size;

        for (uint32_t i = 0; i < n; i++)
            v = v << 8 | (done + i < size ? *at(m, first + done + i) : 0);
        if (l->bank == FPR)
            m->fpr[rt] = v;
        else
            m->gpr[rt] = (uint32_t)v;
        rt = (rt + 1) % 32;
        done += n;
    }
}

static void store(struct machine *m, uint32_t opcode, uint32_t first, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++)
        *at(m, first + i) = (uint8_t)(m->gpr[field(opcode, 6, 10)] + 7 * i + first);
}

static void access_memory(struct machine *m, const struct listed *l, struct machine_step *s)
{
    unsigned ra = field(s->opcode, 11, 15);

    s->class = l->class;
    s->access = l->access;
    s->ea = address_of(m, l, s->opcode);
    s->size = size_of(m, l, s->opcode);
    s->first = l->form == VEC || l->form == LINE ? s->ea & ~(s->size - 1) : s->ea;
    s->third = l->form == XER ? m->xer : m->gpr[field(s->opcode, 16, 20)];
    if (s->access == ACCESS_READ)
        load(m, l, s->opcode, s->first, s->size);
    if (s->access == ACCESS_WRITE)
        store(m, s->opcode, s->first, s->size);
    if (l->form == DU || l->form == XU)
        m->gpr[ra] = s->ea;
}

/* bc, bclr, bcctr: whether BO and BI let the branch be taken. */
static bool taken(struct machine *m, uint32_t opcode)
{
    unsigned bo = field(opcode, 6, 10), bi = field(opcode, 11, 15);
    bool ctr = true, cond = true;

    if (!(bo & 4))
        ctr = (--m->ctr != 0) != ((bo & 2) != 0);
    if (!(bo & 16))
        cond = (m->cr >> (31 - bi) & 1) == (bo >> 3 & 1);
    return ctr && cond;
}

static void branch(struct machine *m, struct machine_step *s)
{
    uint32_t op = s->opcode, target = 0, base = op & 2 ? 0 : s->pc, lr = m->lr;
    bool go = true;

    s->class = CLASS_FLOW;
    switch (field(op, 0, 5)) {
    case 16:
        go = taken(m, op);
        target = base + (uint32_t)extend(op & 0xfffc);
        break;
    case 17:
        return;
    case 18:
        target = base + ((((op & 0x3fffffc) ^ 0x2000000)) - 0x2000000);
        break;
    default:
        if (field(op, 21, 30) == 50 || field(op, 21, 30) == 18) {
            s->next = m->lr; /* of no interrupt: goes on where the caller wants */
            return;
        }
        go = taken(m, op);
        target = (field(op, 21, 30) == 16 ? lr : m->ctr) & ~3u;
    }
    if (op & 1)
        m->lr = s->pc + 4;
    if (go)
        s->next = target;
}

static void move(struct machine *m, uint32_t opcode)
{
    unsigned rt = field(opcode, 6, 10), spr = field(opcode, 16, 20) << 5 | field(opcode, 11, 15);
    uint32_t *reg = spr == 1 ? &m->xer : spr == 8 ? &m->lr : spr == 9 ? &m->ctr : &m->vrsave;

    if (field(opcode, 21, 30) == 467)
        *reg = m->gpr[rt];
    else
        m->gpr[rt] = *reg;
}

static void compute(struct machine *m, struct machine_step *s)
{
    uint32_t op = s->opcode, major = field(op, 0, 5);
    unsigned rt = field(op, 6, 10), ra = field(op, 11, 15), rb = field(op, 16, 20);
    uint32_t base = ra ? m->gpr[ra] : 0;

    s->class = CLASS_COMPUTE;
    s->trap = major == 3;
    if (major == 14)
        m->gpr[rt] = base + (uint32_t)extend(op & 0xffff);
    else if (major == 15)
        m->gpr[rt] = base + (op << 16);
    else if (major == 24)
        m->gpr[ra] = m->gpr[rt] | (op & 0xffff);
    else if (major == 11)
        m->cr = (m->cr & 0x0fffffff) | ((int32_t)m->gpr[ra] < extend(op & 0xffff)   ? 0x80000000
                                        : (int32_t)m->gpr[ra] > extend(op & 0xffff) ? 0x40000000
                                                                                    : 0x20000000);
    else if (major == 31 && field(op, 22, 30) == 266)
        m->gpr[rt] = m->gpr[ra] + m->gpr[rb];
    else if (major == 31 && (field(op, 21, 30) == 467 || field(op, 21, 30) == 339))
        move(m, op);
}

void machine_step(struct machine *m, struct machine_step *s)
{
    uint32_t at_pc = (m->pc - MACHINE_CODE) / 4, major;
    const struct listed *l;

    memset(s, 0, sizeof *s);
    s->pc = m->pc;
    s->opcode = m->program[at_pc % m->length];
    s->next = m->pc + 4;
    major = field(s->opcode, 0, 5);
    l = find(s->opcode);
    if (l)
        access_memory(m, l, s);
    else if (major == 16 || major == 17 || major == 18 ||
             (major == 19 && (field(s->opcode, 21, 30) == 16 || field(s->opcode, 21, 30) == 528 ||
                              field(s->opcode, 21, 30) == 50 || field(s->opcode, 21, 30) == 18)))
        branch(m, s);
    else
        compute(m, s);
    m->pc = s->next;
}

static uint8_t *put32(uint8_t *p, uint32_t v)
{
    for (int k = 24; k >= 0; k -= 8)
        *p++ = (uint8_t)(v >> k);
    return p;
}

void machine_full(const struct machine *m, uint8_t *out)
{
    uint8_t *p = out;

    memset(out, 0, 1004);
    p = put32(p, m->program[(m->pc - MACHINE_CODE) / 4 % m->length]);
    p = put32(p, m->pc);
    p = put32(p, m->msr);
    for (int i = 0; i < 32; i++)
        p = put32(p, m->gpr[i]);
    p = put32(put32(put32(p, m->cr), m->xer), m->lr);
    p = put32(put32(put32(p, m->ctr), m->mq), m->vrsave);
    for (int i = 0; i < 32; i++)
        p = put32(put32(p, (uint32_t)(m->fpr[i] >> 32)), (uint32_t)m->fpr[i]);
    p = put32(p + 4, m->fpscr);
    memcpy(p, m->vr, sizeof m->vr);
    memcpy(p + 512, m->vscr, 16);
    put32(p + 544, m->vrvalid);
}

unsigned machine_tt6(const struct machine_step *s, bool extended, uint32_t *words)
{
    unsigned n = 0;

    words[n++] = s->opcode;
    if (s->class == CLASS_FLOW)
        words[n++] = s->next;
    else if (s->class == CLASS_MEMORY || s->class == CLASS_EXTENDED ||
             (s->class == CLASS_CACHE && extended))
        words[n++] = s->ea;
    if (s->class == CLASS_EXTENDED)
        words[n++] = s->third;
    if (s->trap && extended) {
        const uint32_t pair[] = {0x48000702, 0x700, 0x4c000064, s->next};

        memcpy(words + n, pair, sizeof pair);
        n += 4;
    }
    return n;
}

static uint32_t d_form(uint32_t major, uint32_t rt, uint32_t ra, uint32_t d)
{
    return major << 26 | rt << 21 | ra << 16 | (d & 0xffff);
}

static uint32_t x_form(uint32_t rt, uint32_t ra, uint32_t rb, uint32_t minor)
{
    return UINT32_C(31) << 26 | rt << 21 | ra << 16 | rb << 11 | minor << 1;
}

/* One instruction of the list: r1 is the base, r2 the index, r4 on are written. */
static uint32_t listed_opcode(const struct listed *l, unsigned i)
{
    uint32_t rt = 4 + i % 20;

    if (l->form == STREAM)
        return x_form(i & 3, 1, 3, l->minor);
    if (l->form == LINE)
        return x_form(0, 1, 2, l->minor);
    if (l->form == NB)
        return x_form(4, 1, i % 13, l->minor);
    if (l->form == XER)
        return x_form(4, 1, 2, l->minor);
    if (l->major == 31)
        return x_form(rt, 1, 2, l->minor) | (l->minor == 150 || l->minor == 214);
    if (l->form == MULTI)
        return d_form(l->major, 28, 1, 16);
    return d_form(l->major, rt, 1, l->form == DS ? 8 * i % 512 | l->minor : 8 * i % 512);
}

void machine_init(struct machine *m)
{
    uint32_t *p = m->program, *loop, *body, *call;

    memset(m, 0, sizeof *m);
    for (unsigned i = 0; i < MACHINE_MEMORY; i++)
        m->memory[i] = (uint8_t)(i * 31 + (i >> 8));
    m->pc = MACHINE_CODE;
    m->msr = 0xd030;
    loop = p;                        /* all over again from here */
    *p++ = d_form(15, 1, 0, 0x2000); /* lis r1,0x2000 */
    *p++ = d_form(14, 2, 0, 0x123);  /* li r2,0x123 */
    *p++ = d_form(15, 3, 0, 0x0204); /* lis r3,0x204: stream of 2 * 16 bytes, 4 blocks */
    *p++ = d_form(24, 3, 3, 0x40);   /* ori r3,r3,0x40 */
    *p++ = d_form(14, 25, 25, 5);    /* addi r25,r25,5 */
    *p++ = d_form(11, 0, 25, 60);    /* cmpwi r25,60 */
    *p++ = d_form(16, 12, 0, 8);     /* blt +8 */
    *p++ = d_form(14, 25, 0, 0);     /* li r25,0 */
    *p++ = x_form(25, 1, 0, 467);    /* mtxer r25: bytes of lswx, stswx */
    *p++ = d_form(14, 31, 0, 3);     /* li r31,3 */
    *p++ = x_form(31, 9, 0, 467);    /* mtctr r31 */
    body = p;
    for (unsigned i = 0; i < LISTED; i++)
        *p++ = listed_opcode(&list[i], i);
    *p++ = d_form(11, 0, 25, 40);                       /* cmpwi r25,40 */
    *p++ = d_form(16, 12, 2, 8);                        /* beq +8 */
    *p++ = x_form(29, 25, 2, 266);                      /* add r29,r25,r2 */
    *p = d_form(16, 16, 0, (uint32_t)(4 * (body - p))); /* bdnz body */
    p++;
    call = p;
    *p++ = 0x48000001 | 32;                                     /* bl +32 */
    *p++ = d_form(3, 31, 0, 0);                                 /* twi 31,r0,0 */
    *p++ = 0x44000002;                                          /* sc */
    *p++ = 0x4c00012c;                                          /* isync */
    *p = 0x48000000 | ((uint32_t)(4 * (loop - p)) & 0x3fffffc); /* b loop */
    p++;
    while (p < call + 8)
        *p++ = 0x60000000;        /* nop */
    *p++ = x_form(28, 8, 0, 339); /* mflr r28 */
    *p++ = x_form(28, 9, 0, 467); /* mtctr r28 */
    *p++ = 0x429f0005;            /* bcl 20,31,+4 */
    *p++ = x_form(28, 8, 0, 467); /* mtlr r28 */
    *p++ = d_form(11, 0, 25, 30); /* cmpwi r25,30 */
    *p++ = 0x4d820020;            /* beqlr */
    *p++ = 0x4d820420;            /* beqctr */
    *p++ = d_form(16, 4, 2, 12);  /* bne +12 */
    *p++ = 0x4e800020;            /* blr */
    *p++ = 0x60000000;            /* nop */
    *p++ = 0x4e800420;            /* bctr */
    m->length = (uint32_t)(p - m->program);
}
