/*
 * A program to disassemble: integers, 64-bit arithmetic, floating point, switches, strings,
 * AltiVec. It is compiled for PowerPC by tests/isa/test_ppc_objdump and never run.
 */
#include <altivec.h>
#include <stdint.h>
#include <string.h>

struct node {
    struct node *next;
    int64_t sum;
    double weight;
    char name[24];
};

vector float scale(vector float a, vector float b, vector float c);
vector unsigned char pick(vector unsigned char a, vector unsigned char b, vector signed short s);
int any_above(const vector signed int *v, int n, vector signed int limit);
double walk(struct node *list, int kind);
uint32_t hash(const unsigned char *s, uint32_t n);
int64_t divide(int64_t a, int64_t b, int shift);

vector float scale(vector float a, vector float b, vector float c)
{
    return vec_madd(vec_re(a), vec_rsqrte(b), vec_floor(c));
}

vector unsigned char pick(vector unsigned char a, vector unsigned char b, vector signed short s)
{
    vector unsigned char p = (vector unsigned char)vec_perm(s, s, a);

    return vec_sel(vec_adds(a, p), vec_sld(b, p, 5), vec_cmpgt(a, vec_splat(b, 3)));
}

int any_above(const vector signed int *v, int n, vector signed int limit)
{
    for (int i = 0; i < n; i++)
        if (vec_any_gt(v[i], limit))
            return i;
    return -1;
}

double walk(struct node *list, int kind)
{
    double total = 0;

    for (; list; list = list->next) {
        switch (kind & 7) {
        case 0:
            total += list->weight;
            break;
        case 1:
            total -= (double)list->sum;
            break;
        case 2:
            total *= list->weight + 1;
            break;
        case 3:
            total = total / list->weight;
            break;
        case 4:
            total += (float)list->name[3];
            break;
        default:
            total = -total;
            break;
        }
        memcpy(list->name, "another name", 13);
    }
    return total;
}

uint32_t hash(const unsigned char *s, uint32_t n)
{
    uint32_t h = 0x811c9dc5;

    while (n--)
        h = ((h ^ *s++) * 0x01000193) ^ (h << 7 | h >> 25);
    return h;
}

int64_t divide(int64_t a, int64_t b, int shift)
{
    return ((a << shift) / b) ^ (a * b) ^ ((uint64_t)a >> (64 - shift));
}
