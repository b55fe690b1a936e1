/*
 * parse.c - parses a line of perf script.
 *
 * Implements script.h. What is printed depends on the fields that were asked for (-F) and is not
 * labelled, so the parts of a line are recognised by their form: "[001]" a cpu, "12.345678:" a
 * time, a word with a colon behind it the event, 0xFROM/0xTO/... a branch, "|OP LOAD|" the kind of
 * an access.
 */
#include "format/perf/script.h"

struct word {
    const uint8_t *p, *e;
};

static bool next_word(struct ln_line *l, struct word *w)
{
    ln_blanks(l);
    w->p = l->p;
    while (l->p < l->e && *l->p != ' ' && *l->p != '\t')
        l->p++;
    w->e = l->p;
    return w->e > w->p;
}

static bool is_text(const struct word *w, const char *text)
{
    const size_t n = strlen(text);

    return (size_t)(w->e - w->p) == n && memcmp(w->p, text, n) == 0;
}

static bool has_prefix(const struct word *w, const char *text)
{
    const size_t n = strlen(text);

    return (size_t)(w->e - w->p) >= n && memcmp(w->p, text, n) == 0;
}

/* The word is a number in base 10 or 16, up to END, where it may go on. */
static bool number(const struct word *w, unsigned base, uint64_t *out, const uint8_t **end)
{
    const uint8_t *p = w->p;
    uint64_t v = 0;

    for (; p < w->e && ln_digit(*p) < base; p++) {
        if (v > (UINT64_MAX - ln_digit(*p)) / base)
            return false;
        v = v * base + ln_digit(*p);
    }
    *out = v;
    *end = p;
    return p > w->p;
}

/* All of the word is one. */
static bool whole_number(const struct word *w, unsigned base, uint64_t *out)
{
    const uint8_t *end;

    return number(w, base, out, &end) && end == w->e;
}

/* ---- the head: COMM PID/TID [CPU] SECONDS: */

static bool is_time(const struct word *w, struct ps_sample *s)
{
    struct word part = *w;
    const uint8_t *end;
    uint64_t seconds, rest;

    if (!number(&part, 10, &seconds, &end) || end == w->e || *end != '.')
        return false;
    part.p = end + 1;
    if (!number(&part, 10, &rest, &end) || end + 1 != w->e || *end != ':')
        return false;
    s->decimals = (unsigned)(end - part.p);
    if (s->decimals != 6 && s->decimals != 9)
        return false;
    s->has_time =
        !__builtin_mul_overflow(seconds, s->decimals == 6 ? 1000000u : 1000000000u, &s->time) &&
        !__builtin_add_overflow(s->time, rest, &s->time);
    return s->has_time;
}

static bool is_cpu(const struct word *w)
{
    uint64_t cpu;
    const struct word inner = {w->p + 1, w->e - 1};

    return w->e - w->p >= 5 && *w->p == '[' && w->e[-1] == ']' && whole_number(&inner, 10, &cpu);
}

/* "1234" or "1234/1235": process and thread. -1 is a thread that perf does not know. */
static bool is_tid(const struct word *w, struct ps_sample *s)
{
    const uint8_t *end;
    struct word tid = *w;

    s->pid = TROD_NOWHERE;
    if (*w->p == '-') {
        s->tid = TROD_NOWHERE;
        return is_text(w, "-1") || is_text(w, "-1/-1");
    }
    if (!number(w, 10, &s->tid, &end))
        return false;
    if (end < w->e && *end == '/') {
        s->pid = s->tid;
        tid.p = end + 1;
        return whole_number(&tid, 10, &s->tid);
    }
    return end == w->e;
}

/*
 * Parse up to the time. The name of the command may contain blanks and digits: the last word before
 * the cpu, or before the time, is the thread.
 */
static bool parse_head(struct ln_line *l, struct ps_sample *s)
{
    struct word before = {NULL, NULL}, w;
    const uint8_t *const start = l->p;
    bool tid = false;

    while (next_word(l, &w)) {
        if (is_time(&w, s)) {
            if (!s->has_cpu)
                tid = before.p && is_tid(&before, s);
            s->has_tid = tid && s->tid != TROD_NOWHERE;
            return tid;
        }
        if (is_cpu(&w) && before.p && is_tid(&before, s)) {
            s->has_cpu = true;
            tid = true;
        }
        before = w;
    }
    l->p = start;
    return false;
}

/* ---- branch stacks */

static uint8_t kind_of(const struct word *w)
{
    static const struct {
        const char *name;
        uint8_t kind;
    } kinds[] = {
        {"COND", TROD_BR_COND_TAKEN}, {"UNCOND", TROD_BR_DIRECT},  {"IND", TROD_BR_INDIRECT},
        {"CALL", TROD_BR_CALL},       {"IND_CALL", TROD_BR_ICALL}, {"RET", TROD_BR_RETURN},
        {"SYSCALL", TROD_BR_SYSCALL}, {"SYSRET", TROD_BR_ERET},    {"COND_CALL", TROD_BR_CALL},
        {"COND_RET", TROD_BR_RETURN}, {"ERET", TROD_BR_ERET},      {"IRQ", TROD_BR_OTHER},
        {"SERROR", TROD_BR_OTHER},    {"NO_TX", TROD_BR_OTHER},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_text(w, kinds[i].name))
            return kinds[i].kind;
    return TROD_BR_OTHER;
}

/* The next part of the word *W, up to a slash that is not in parentheses; false: there is none. */
static bool next_part(struct word *w, struct word *part)
{
    unsigned depth = 0;

    if (w->p >= w->e)
        return false;
    part->p = w->p;
    for (; w->p < w->e && (*w->p != '/' || depth > 0); w->p++) {
        depth += *w->p == '(';
        depth -= *w->p == ')' && depth > 0;
    }
    part->e = w->p;
    w->p += w->p < w->e;
    return true;
}

/* "0x401136", "0x401136(prog)"; 0 stands for what is not known. */
static bool branch_address(const struct word *part, uint64_t *out)
{
    struct word digits = {part->p + 2, part->e};
    const uint8_t *end;

    return part->e - part->p > 2 && part->p[0] == '0' && part->p[1] == 'x' &&
           number(&digits, 16, out, &end) && (end == part->e || *end == '(');
}

/* 0xFROM/0xTO/M|P|-/X|-/A|-/CYCLES[/TYPE[/SPEC]] */
static bool parse_branch(const struct word *w, struct ps_branch *b)
{
    struct word rest = *w, part;

    *b = (struct ps_branch){.kind = TROD_BR_OTHER};
    if (!next_part(&rest, &part) || !branch_address(&part, &b->from) || !next_part(&rest, &part) ||
        !branch_address(&part, &b->to))
        return false;
    if (!next_part(&rest, &part))
        return false;
    b->predicted = is_text(&part, "M") ? PS_MISPREDICTED : is_text(&part, "P") ? PS_PREDICTED : 0;
    for (int i = 0; i < 2; i++) /* in a transaction, its abort */
        next_part(&rest, &part);
    if (next_part(&rest, &part))
        b->has_cycles = whole_number(&part, 10, &b->cycles) && b->cycles > 0;
    if (next_part(&rest, &part))
        b->kind = kind_of(&part);
    return true;
}

/* ---- what stands behind the time */

/* Numbers since the last word that was none. */
struct numbers {
    uint64_t v[PS_NUMBERS];
    unsigned n;
    bool placed; /* the symbol or the file has come: the next number is a physical address */
};

/* A word that is no number ends a row of them: address and place of the instruction. */
static void place(struct ps_sample *s, struct numbers *n)
{
    if (n->n && !n->placed) {
        s->ip = n->v[n->n - 1];
        s->has_ip = true;
        if (n->n > 1 && !s->has_addr) {
            s->addr = n->v[0];
            s->has_addr = true;
        }
        n->placed = true;
    }
    n->n = 0;
}

/* |OP begins what an access was: before it stand the address, if asked for, and the same in bits.
 */
static void begin_op(struct ps_sample *s, struct numbers *n)
{
    if (n->n > 1 && !s->has_addr) {
        s->addr = n->v[0];
        s->has_addr = true;
    }
    n->n = 0;
}

static void parse_op(const struct word *w, struct ps_sample *s)
{
    if (has_prefix(w, "LOAD|"))
        s->op = PS_LOAD;
    else if (has_prefix(w, "STORE|"))
        s->op = PS_STORE;
}

/* "insn: 48 89 e7". False: a byte has one digit. */
static bool parse_code(struct ln_line *l, struct ps_sample *s)
{
    const uint8_t *before = l->p;
    struct word w;
    uint64_t byte;

    while (s->code_n < PS_CODE && next_word(l, &w) && whole_number(&w, 16, &byte)) {
        if (w.e - w.p == 1)
            return false;
        if (w.e - w.p > 2)
            break;
        s->code[s->code_n++] = (uint8_t)byte;
        before = l->p;
    }
    l->p = before;
    return true;
}

/* The event: "cycles:u:"; what says that rows are accesses where nothing else does. */
static void parse_event(const struct word *w, struct ps_sample *s, struct numbers *n)
{
    s->event = w->p;
    s->event_end = w->e - 1;
    if (n->n) {
        s->period = n->v[0];
        s->has_period = true;
    }
    n->n = 0;
    if (ln_find(w->p, w->e, "mem-loads", 9))
        s->op = PS_LOAD;
    else if (ln_find(w->p, w->e, "mem-stores", 10))
        s->op = PS_STORE;
}

/* A short word of letters behind a number is a function: "add", "fade". */
static bool is_name(const struct word *w)
{
    for (const uint8_t *p = w->p; p < w->e; p++)
        if (*p <= '9')
            return false;
    return w->e - w->p < 8;
}

/* The period is decimal; all else is not. */
static bool is_number(const struct word *w, const struct ln_line *l, unsigned before, uint64_t *v)
{
    struct ln_line ahead = *l;
    struct word next;

    if (before && is_name(w))
        return false;
    if (whole_number(w, 10, v) && next_word(&ahead, &next) && next.e[-1] == ':' &&
        !is_text(&next, "insn:") && !is_text(&next, "ilen:"))
        return true;
    return whole_number(w, 16, v);
}

static enum ln_result parse_rest(struct ln_line *l, struct ps_sample *s)
{
    struct numbers n = {.n = 0};
    struct word w;
    bool target = false, in_op = false;
    uint64_t v;

    while (next_word(l, &w)) {
        if (has_prefix(&w, "0x") && memchr(w.p, '/', (size_t)(w.e - w.p))) {
            place(s, &n);
            if (s->n_branches == PS_BRANCHES)
                l->warning = "sample has more branches than there is room for: 1024 are given";
            else if (!parse_branch(&w, &s->branch[s->n_branches]))
                return l->p = w.p, ln_bad(l, "0xFROM/0xTO/... of a branch is due here");
            else
                s->n_branches++;
        } else if (is_text(&w, "insn:")) {
            place(s, &n);
            if (!parse_code(l, s))
                return ln_bad(l, "two digits of a byte are due here");
        } else if (is_text(&w, "ilen:")) {
            place(s, &n);
            next_word(l, &w);
        } else if (has_prefix(&w, "|OP")) {
            begin_op(s, &n);
            in_op = true;
        } else if (in_op && !s->op && memchr(w.p, '|', (size_t)(w.e - w.p))) {
            parse_op(&w, s);
        } else if (is_text(&w, "=>")) {
            place(s, &n);
            target = true;
        } else if (is_number(&w, l, n.n, &v)) {
            if (target && !s->has_target) {
                s->target = v;
                s->has_target = true;
            } else if (n.placed && s->has_addr && !s->has_paddr && !target) {
                s->paddr = v;
                s->has_paddr = true;
            } else if (!n.placed && n.n < PS_NUMBERS) {
                n.v[n.n++] = v;
            }
        } else if (w.e[-1] == ':' && s->event == NULL && !n.placed) {
            parse_event(&w, s, &n);
        } else if (!in_op || memchr(w.p, '+', (size_t)(w.e - w.p)) || *w.p == '(' || *w.p == '[') {
            place(s, &n);
        }
    }
    place(s, &n);
    return LN_OK;
}

enum ln_result ps_parse(struct ln_line *l, struct ps_sample *s)
{
    memset(s, 0, offsetof(struct ps_sample, branch));
    l->why = NULL;
    if (!parse_head(l, s)) {
        ln_blanks(l);
        /* -F brstack alone: nothing but branches */
        if (l->e - l->p < 6 || memcmp(l->p, "0x", 2) != 0 ||
            !memchr(l->p, '/', (size_t)(l->e - l->p)))
            return LN_BAD;
        s->has_tid = s->has_time = s->has_cpu = false;
    }
    return parse_rest(l, s);
}
