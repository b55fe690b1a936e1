/*
 * Names: registers, special purpose registers, groups, base mnemonics.
 *
 * Documents: PEM 8.2 (mfspr, mtspr: SPR numbers); the user's manuals of the 601, 603, 604, 7400
 * and 7450 for the implementation's own SPRs, AltiVec PEM (VRSAVE). A number that means different
 * things on different processors has the name of the 7450 or 970.
 */
#include "ppc_int.h"

#define EIGHT(p, n0, n1, n2, n3, n4, n5, n6, n7)                                                   \
    p #n0, p #n1, p #n2, p #n3, p #n4, p #n5, p #n6, p #n7
#define NAMES_32(p)                                                                                \
    EIGHT(p, 0, 1, 2, 3, 4, 5, 6, 7), EIGHT(p, 8, 9, 10, 11, 12, 13, 14, 15),                      \
        EIGHT(p, 16, 17, 18, 19, 20, 21, 22, 23), EIGHT(p, 24, 25, 26, 27, 28, 29, 30, 31)

static const char gpr_names[32][4] = {NAMES_32("r")};
static const char fpr_names[32][4] = {NAMES_32("f")};
static const char vr_names[32][4] = {NAMES_32("v")};
static const char cr_names[8][4] = {EIGHT("cr", 0, 1, 2, 3, 4, 5, 6, 7)};
static const char special_names[15][8] = {
    "lr",  "ctr",  "xer.ca", "xer.ov", "xer.cnt", "fpscr", "vscr", "vrsave",
    "msr", "srr0", "srr1",   "mq",     "tb",      "sr",    "spr",
};

struct spr_name {
    uint16_t spr;
    char name[10];
};

/* Sorted by number. */
static const struct spr_name sprs[] = {
    {0, "mq"},        {1, "xer"},       {4, "rtcu"},      {5, "rtcl"},     {8, "lr"},
    {9, "ctr"},       {18, "dsisr"},    {19, "dar"},      {20, "rtcu"},    {21, "rtcl"},
    {22, "dec"},      {25, "sdr1"},     {26, "srr0"},     {27, "srr1"},    {136, "ctrl"},
    {152, "ctrl"},    {256, "vrsave"},  {268, "tb"},      {269, "tbu"},    {272, "sprg0"},
    {273, "sprg1"},   {274, "sprg2"},   {275, "sprg3"},   {276, "sprg4"},  {277, "sprg5"},
    {278, "sprg6"},   {279, "sprg7"},   {280, "asr"},     {282, "ear"},    {284, "tbl"},
    {285, "tbu"},     {287, "pvr"},     {304, "hsprg0"},  {305, "hsprg1"}, {310, "hdec"},
    {311, "hior"},    {314, "hsrr0"},   {315, "hsrr1"},   {528, "ibat0u"}, {529, "ibat0l"},
    {530, "ibat1u"},  {531, "ibat1l"},  {532, "ibat2u"},  {533, "ibat2l"}, {534, "ibat3u"},
    {535, "ibat3l"},  {536, "dbat0u"},  {537, "dbat0l"},  {538, "dbat1u"}, {539, "dbat1l"},
    {540, "dbat2u"},  {541, "dbat2l"},  {542, "dbat3u"},  {543, "dbat3l"}, {560, "ibat4u"},
    {561, "ibat4l"},  {562, "ibat5u"},  {563, "ibat5l"},  {564, "ibat6u"}, {565, "ibat6l"},
    {566, "ibat7u"},  {567, "ibat7l"},  {568, "dbat4u"},  {569, "dbat4l"}, {570, "dbat5u"},
    {571, "dbat5l"},  {572, "dbat6u"},  {573, "dbat6l"},  {574, "dbat7u"}, {575, "dbat7l"},
    {928, "ummcr2"},  {935, "ubamr"},   {936, "ummcr0"},  {937, "upmc1"},  {938, "upmc2"},
    {939, "usiar"},   {940, "ummcr1"},  {941, "upmc3"},   {942, "upmc4"},  {943, "usdar"},
    {944, "mmcr2"},   {945, "pmc5"},    {946, "pmc6"},    {951, "bamr"},   {952, "mmcr0"},
    {953, "pmc1"},    {954, "pmc2"},    {955, "siar"},    {956, "mmcr1"},  {957, "pmc3"},
    {958, "pmc4"},    {959, "sdar"},    {976, "dmiss"},   {977, "dcmp"},   {978, "hash1"},
    {979, "hash2"},   {980, "tlbmiss"}, {981, "ptehi"},   {982, "ptelo"},  {983, "l3pm"},
    {1008, "hid0"},   {1009, "hid1"},   {1010, "iabr"},   {1011, "ictrl"}, {1013, "dabr"},
    {1014, "msscr0"}, {1015, "msssr0"}, {1016, "ldstcr"}, {1017, "l2cr"},  {1018, "l3cr"},
    {1019, "ictc"},   {1020, "thrm1"},  {1021, "thrm2"},  {1022, "thrm3"}, {1023, "pir"},
};

static const char *const group_names[] = {
    "none",   "integer", "float", "vector", "load", "store", "cache",
    "branch", "trap",    "cr",    "move",   "sync", "mmu",
};

unsigned trod_ppc_op_count(void)
{
    return OP_COUNT;
}

const char *trod_ppc_op_name(unsigned op)
{
    return op < OP_COUNT ? trod_ppc_ops[op].name : NULL;
}

const char *trod_ppc_group_name(unsigned group)
{
    return group < sizeof group_names / sizeof *group_names ? group_names[group] : NULL;
}

const char *trod_ppc_reg_name(enum trod_ppc_bank bank, unsigned n)
{
    switch (bank) {
    case TROD_PPC_GPR:
        return n < 32 ? gpr_names[n] : NULL;
    case TROD_PPC_FPR:
        return n < 32 ? fpr_names[n] : NULL;
    case TROD_PPC_VR:
        return n < 32 ? vr_names[n] : NULL;
    case TROD_PPC_CR:
        return n < 8 ? cr_names[n] : NULL;
    case TROD_PPC_SPECIAL:
        return n < sizeof special_names / sizeof *special_names ? special_names[n] : NULL;
    default:
        return NULL;
    }
}

const char *trod_ppc_spr_name(unsigned spr)
{
    size_t lo = 0, hi = sizeof sprs / sizeof *sprs;

    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;

        if (sprs[mid].spr == spr)
            return sprs[mid].name;
        if (sprs[mid].spr < spr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}
