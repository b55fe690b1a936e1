/*
 * enc_flow.c - instructions on their way out: kinds of branches, directions, continuity.
 *
 * Implements docs/formats/drmemtrace-writing.md, "Branches". Whether a branch was taken, and where
 * an indirect one went, is seen from the instruction that follows it in its thread; until that
 * comes its entries are held. An instruction that nothing leads to is put behind a KERNEL_EVENT.
 */
#include "format/drmemtrace/encode.h"

#include <string.h>

/* An instruction that has come. */
struct insn {
    uint64_t pc, target;
    uint32_t size, flags;
    const uint8_t *code;
    uint32_t code_n;
    bool has_target;
    uint16_t type; /* native only */
};

static bool x86(const struct drm_enc *e)
{
    return e->meta->isa == TROD_ISA_X86_64 || e->meta->isa == TROD_ISA_X86_32;
}

/* Record type of a branch whose direction needs no telling. */
static unsigned type_of(const struct drm_enc *e, unsigned branch, const struct drm_seen *seen)
{
    switch (branch) {
    case TROD_BR_DIRECT:
        return DRM_DIRECT_JUMP;
    case TROD_BR_COND:
        return DRM_CONDITIONAL_JUMP;
    case TROD_BR_COND_TAKEN:
        return DRM_TAKEN_JUMP;
    case TROD_BR_COND_UNTAKEN:
        return DRM_UNTAKEN_JUMP;
    case TROD_BR_CALL:
        return DRM_DIRECT_CALL;
    case TROD_BR_ICALL:
        return DRM_INDIRECT_CALL;
    case TROD_BR_RETURN:
        return DRM_RETURN;
    case TROD_BR_ERET:
        return x86(e) ? DRM_RETURN : DRM_INDIRECT_JUMP;
    case TROD_BR_INDIRECT:
    case TROD_BR_OTHER:
        return DRM_INDIRECT_JUMP;
    case TROD_BR_SYSCALL:
        return x86(e) && seen && seen->len == 2 && seen->code[0] == 0x0f && seen->code[1] == 0x34
                   ? DRM_SYSENTER
                   : DRM_INSTR;
    default:
        return DRM_INSTR;
    }
}

unsigned drm_flow_branch(const struct drm_enc *e)
{
    return drm_type_info(drm_old_type(e, type_of(e, e->branch, NULL)))->flags & TROD_F_BRANCH;
}

static bool is_indirect(unsigned branch)
{
    return branch == TROD_BR_INDIRECT || branch == TROD_BR_ICALL || branch == TROD_BR_RETURN ||
           branch == TROD_BR_ERET || branch == TROD_BR_OTHER;
}

/* Does S, an encoding of a REGDEPS trace, say that it may be a branch? Of which kind it does not.
 */
static bool may_branch(const struct drm_seen *s)
{
    enum { CATEGORY = 10, BRANCH = 8 };

    return s->len < 4 || trod_load_le32(s->code) >> CATEGORY & BRANCH;
}

/*
 * What the opcode of S says of control flow, where there are rules for its instruction set. On MIPS
 * the flow changes behind the delay slot, not behind the branch.
 */
static void classify(struct drm_enc *e, struct drm_seen *s)
{
    struct drm_enc_side *side = e->side;
    const struct trod_insn *insn;

    s->known = s->has_target = 0;
    if (e->meta->isa == TROD_ISA_REGDEPS) {
        s->known = !may_branch(s);
        s->branch = TROD_BR_NONE;
        return;
    }
    if (e->meta->isa == TROD_ISA_MIPS32 || e->meta->isa == TROD_ISA_MIPS64)
        return;
    if (!side->insn && !side->no_insn)
        side->no_insn =
            trod_insn_decoder_new(&side->insn, e->meta->isa, e->meta->endian) != TROD_OK;
    if (!side->insn)
        return;
    insn = trod_insn_decode(side->insn, s->iset, s->pc, s->code, s->len);
    if (!insn->valid)
        return;
    s->known = 1;
    s->branch = insn->branch;
    s->has_target = (insn->flags & TROD_INSN_TARGET) != 0;
    s->target = insn->target;
}

/* What is known of the code at INSN's pc; its bytes are those of INSN from here on. */
static struct drm_seen *look_up(struct drm_enc *e, const struct insn *n)
{
    const uint8_t iset = (uint8_t)((n->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT);
    const uint32_t len = n->code_n < DRM_CODE_MAX ? n->code_n : DRM_CODE_MAX;
    struct drm_seen *s = drm_seen_at(e->side, n->pc);

    if (!s || (s->len == len && s->iset == iset && memcmp(s->code, n->code, len) == 0))
        return s;
    s->len = (uint8_t)len;
    s->iset = iset;
    s->epoch = 0;
    memcpy(s->code, n->code, len);
    if (!e->native || n->type == DRM_CONDITIONAL_JUMP)
        classify(e, s);
    return s;
}

/* Write the entries that are held back. */
static void release(struct drm_enc *e, struct trod_room *out)
{
    size_t n = (size_t)e->n_hold * e->width;

    memcpy(out->p, e->hold, n);
    out->p += n;
    e->records += e->hold_records;
    e->hold_records = 0;
    e->n_hold = 0;
    e->n_waiting = 0;
    e->held.any = false;
}

void drm_flow_wait(struct drm_enc *e, const struct trod_batch *b, uint32_t row, uint32_t lost)
{
    struct trod_loss_held held = trod_loss_hold(b, row);
    struct drm_waiting *w = &e->waiting[e->n_waiting];

    held.lost = lost;
    if (e->n_waiting > 0 && w[-1].row.kind == held.kind && w[-1].row.columns == held.columns &&
        w[-1].row.flags == held.flags && w[-1].row.lost == lost) {
        w[-1].n++;
    } else if (e->n_waiting < DRM_HOLD_MAX) {
        *w = (struct drm_waiting){held, 1};
        e->n_waiting++;
    }
}

static void remember(struct drm_enc *e, uint64_t pc, uint64_t next, bool branch)
{
    e->has_last = true;
    e->last_pc = pc;
    e->next_pc = next;
    e->last_branch = branch;
}

/* Branch types whose direction or target is not known until the next instruction, NEXT if KNOWN. */
static unsigned resolve(struct drm_enc *e, bool known, uint64_t next, uint64_t *target)
{
    const struct drm_held *h = &e->held;
    const uint64_t fall = h->pc + h->size;

    *target = 0;
    if (!h->known) { /* no rules: it is a branch if something else follows */
        if (!known || next == fall || next == h->pc)
            return DRM_INSTR;
        *target = next;
        return DRM_INDIRECT_JUMP;
    }
    if (h->branch == TROD_BR_COND) {
        bool taken = known && !h->skipped && (h->has_target ? next == h->target : next != fall);

        return taken ? DRM_TAKEN_JUMP : DRM_UNTAKEN_JUMP;
    }
    *target = known ? next : fall;
    return type_of(e, h->branch, h->seen);
}

void drm_flow_settle(struct drm_enc *e, struct trod_room *out, bool known, uint64_t next)
{
    const struct drm_held h = e->held;
    uint64_t target = h.target, after = h.pc + h.size;
    unsigned type = h.type;

    if (!h.any)
        return;
    if (!type)
        type = resolve(e, known && !h.event, next, &target);
    drm_put_instr(e, out, drm_old_type(e, type), h.size, h.pc, h.seen,
                  h.type ? h.has_target : target != 0, target);
    if (type == DRM_TAKEN_JUMP)
        after = h.has_target ? h.target : next;
    else if (target)
        after = target;
    remember(e, h.pc, after, drm_turns(type));
    release(e, out);
}

void drm_flow_end(struct drm_enc *e, struct trod_room *out)
{
    const struct drm_held *h = &e->held;
    /* of a program that was recorded, and of a part that was cut out, this is the end */
    const char *why = e->markers ? NULL : "the trace ends before it shows where its branch goes on";

    drm_flow_pending(e, out);
    if (e->meta->isa == TROD_ISA_REGDEPS)
        e->held.known = false; /* its encoding tells what it is: the record type need not */
    if (h->any && (h->type ? !e->cut_data : !h->known))
        drm_flow_settle(e, out, false, 0);
    if (h->any) {
        fmt_aims_drop(&e->aims, h->row.stream);
        trod_loss_late(e->loss, &e->shown, TROD_COL_TARGET, why);
        trod_loss_dropped(e->loss, &h->row, why);
    }
    fmt_aims_end(&e->aims, e->loss);
    for (uint32_t i = 0; i < e->n_waiting; i++)
        for (uint32_t n = e->waiting[i].n; n > 0; n--)
            trod_loss_dropped(e->loss, &e->waiting[i].row, why);
    e->held.any = false;
}

struct trod_room *drm_flow_room(struct drm_enc *e, struct trod_room *out, struct trod_room *hold)
{
    if (e->held.any && e->n_hold + 4 > DRM_HOLD_MAX)
        drm_flow_settle(e, out, false, 0);
    if (!e->held.any)
        return out;
    hold->p = e->hold + (size_t)e->n_hold * e->width;
    hold->end = e->hold + sizeof e->hold;
    e->records_before = e->records;
    return hold;
}

void drm_flow_put(struct drm_enc *e, const struct trod_room *out, const struct trod_room *used)
{
    if (used == out)
        return;
    e->n_hold = (uint32_t)(used->p - e->hold) / e->width;
    e->hold_records += (uint32_t)(e->records - e->records_before);
    e->records = e->records_before;
}

void drm_flow_pending(struct drm_enc *e, struct trod_room *out)
{
    struct trod_room hold, *to;

    if (!e->pending)
        return;
    to = drm_flow_room(e, out, &hold);
    drm_put_pending(e, to);
    drm_flow_put(e, out, to);
}

/* The instruction at PC does not follow from the last one: write that an event led there. */
static void break_flow(struct drm_enc *e, struct trod_room *out)
{
    drm_put_marker(e, out, TROD_DRM_KERNEL_EVENT, e->next_pc ? e->next_pc : e->last_pc);
}

/* Times before the instruction of ROW. No time stands between a branch and what follows it. */
static int times(struct drm_enc *e, struct trod_room *out, uint64_t now)
{
    bool due = !e->has_time || !e->has_cpu;

    if (!due && e->has_last && e->last_branch && !(e->n_late && e->transfer))
        return TROD_OK;
    if (e->n_late)
        return drm_put_late(e, out);
    if (e->native)
        due = due || drm_time_on(e, now);
    else
        due = due || (drm_time_on(e, now) && e->instrs - e->time_at >= DRM_TIME_EVERY);
    return due ? drm_put_now(e, out, now) : TROD_OK;
}

static void hold(struct drm_enc *e, const struct insn *n, struct drm_seen *seen, unsigned branch,
                 bool known)
{
    e->held = (struct drm_held){.any = true,
                                .known = known,
                                .branch = (uint8_t)branch,
                                .skipped = (n->flags & TROD_F_SKIPPED) != 0,
                                .size = (uint16_t)n->size,
                                .pc = n->pc,
                                .seen = seen};
    if (seen && seen->known && known) {
        e->held.has_target = seen->has_target;
        e->held.target = seen->target;
    }
    e->pc = n->pc;
    e->has_pc = true;
}

/* An instruction of a drmemtrace trace: its type is known unless it is of an old one. */
static void native_instr(struct drm_enc *e, const struct insn *n, struct drm_seen *seen,
                         struct trod_room *out)
{
    const struct drm_type_info *info = drm_type_info(n->type);
    const bool wants = e->version >= DRM_VERSION_BRANCH_INFO && !e->ifiltered;
    /* where a warm-up is filtered, the rest is not */
    bool has_target = n->has_target && info->indirect && e->version >= DRM_VERSION_BRANCH_INFO;

    if (wants && (n->type == DRM_CONDITIONAL_JUMP || (info->indirect && !n->has_target))) {
        hold(e, n, seen, info->flags & TROD_F_BRANCH, true);
        return;
    }
    if (e->keep_all) {
        hold(e, n, seen, 0, true);
        e->held.type = n->type;
        e->held.has_target = has_target;
        e->held.target = n->target;
        return;
    }
    drm_put_instr(e, out, drm_old_type(e, n->type), n->size, n->pc, seen, has_target, n->target);
    remember(e, n->pc, has_target ? n->target : n->pc + n->size, drm_turns(n->type));
}

/* The same of any other source. Returns whether its record says the target that its row does. */
static bool foreign_instr(struct drm_enc *e, const struct insn *n, struct drm_seen *seen,
                          struct trod_room *out)
{
    const unsigned said = n->flags & TROD_F_BRANCH;
    const bool skipped = (n->flags & TROD_F_SKIPPED) != 0;
    const bool regdeps =
        e->meta->isa == TROD_ISA_REGDEPS; /* of these only the row tells the kind */
    bool known = (seen && seen->known) || said != TROD_BR_NONE;
    unsigned branch = seen && seen->known && !regdeps ? seen->branch : said;
    uint64_t next = n->pc + n->size;
    unsigned type;

    if (branch == TROD_BR_COND && (said == TROD_BR_COND_TAKEN || said == TROD_BR_COND_UNTAKEN))
        branch = said;
    if (skipped && (branch == TROD_BR_CALL || branch == TROD_BR_DIRECT || branch == TROD_BR_COND))
        branch = TROD_BR_COND_UNTAKEN;
    e->branch = (uint8_t)branch;
    if (n->flags & TROD_F_NOFETCH) {
        drm_put_instr(e, out, DRM_NO_FETCH, n->size, n->pc, seen, false, 0);
        remember(e, n->pc, next, false);
        return false;
    }
    if (e->version >= DRM_VERSION_BRANCH_INFO && known && n->has_target && is_indirect(branch)) {
        drm_put_instr(e, out, type_of(e, branch, seen), n->size, n->pc, seen, true, n->target);
        remember(e, n->pc, n->target, true);
        return true;
    }
    if (e->version >= DRM_VERSION_BRANCH_INFO && !e->ifiltered &&
        (!known || branch == TROD_BR_COND || is_indirect(branch))) {
        hold(e, n, seen, branch, known);
        return false;
    }
    type = type_of(e, branch, seen);
    if (type != DRM_UNTAKEN_JUMP && type != DRM_INSTR) /* behind a system call comes an event */
        next = seen && seen->known && seen->has_target ? seen->target
               : n->has_target                         ? n->target
                                                       : next;
    drm_put_instr(e, out, drm_old_type(e, type), n->size, n->pc, seen, false, 0);
    remember(e, n->pc, next, drm_turns(type));
    return false;
}

static struct insn insn_of(const struct drm_enc *e, const struct trod_batch *b, uint32_t row)
{
    const uint32_t has = b->have & b->has[row];
    struct insn n = {.pc = has & TROD_COL_ADDR ? b->addr[row] : b->pc[row],
                     .flags = has & TROD_COL_FLAGS ? b->flags[row] : 0,
                     .size = has & TROD_COL_SIZE ? b->size[row] : 0,
                     .type = has & TROD_COL_SUB && e->native ? b->sub[row] : DRM_INSTR};

    if (has & TROD_COL_CODE && b->code[row].len) {
        n.code = trod_batch_bytes(b, b->code[row]);
        n.code_n = b->code[row].len;
    }
    if (n.size == 0)
        n.size = n.code_n ? n.code_n : 4;
    if (n.code_n && drm_code_sized(e))
        n.size = n.code_n < DRM_CODE_MAX ? n.code_n : DRM_CODE_MAX;
    if (n.size > UINT16_MAX)
        n.size = UINT16_MAX;
    if (has & TROD_COL_TARGET) {
        n.has_target = true;
        n.target = b->target[row];
    }
    if (e->native && drm_type_info(n.type)->class != DRM_C_INSTR)
        n.type = DRM_INSTR;
    if (e->width == DRM_ENTRY_32) {
        n.pc &= UINT32_MAX;
        n.target &= UINT32_MAX;
    }
    return n;
}

/* The instruction of a string operation that is executed again. */
static bool is_again(const struct drm_enc *e, const struct insn *n)
{
    return n->pc == e->last_pc && !e->last_branch && x86(e) && n->code_n > 1 &&
           (n->code[0] == 0xf2 || n->code[0] == 0xf3 || n->code[1] == 0xf2 || n->code[1] == 0xf3);
}

int drm_flow_instr(struct drm_enc *e, const struct trod_batch *b, uint32_t row,
                   struct trod_room *out)
{
    const uint32_t stream = trod_batch_stream(b, row);
    struct insn n = insn_of(e, b, row);
    struct drm_seen *seen = NULL;
    int rc;

    drm_flow_pending(e, out);
    drm_flow_settle(e, out, true, n.pc);
    if (drm_chunk_full(e)) {
        drm_chunk_end(e, out);
        return DRM_FLOW_PART;
    }
    if (e->new_chunk)
        drm_chunk_begin(e, out);
    e->shown = fmt_aims_settle(&e->aims, e->loss, stream, drm_read_back(e, n.pc));
    if (!e->native && !e->ifiltered && e->has_last && !e->transfer && n.pc != e->next_pc) {
        if (is_again(e, &n))
            n.flags |= TROD_F_NOFETCH;
        if (!(n.flags & TROD_F_NOFETCH))
            break_flow(e, out);
        e->last_branch = false;
    }
    rc = times(e, out, drm_enc_time(e, b, row));
    if (rc < 0)
        return rc;
    if (n.code_n && (e->encodings || !e->native || e->version >= DRM_VERSION_BRANCH_INFO) &&
        !(seen = look_up(e, &n)))
        return TROD_ERR_NOMEM;
    e->transfer = false;
    if (e->native)
        native_instr(e, &n, seen, out);
    else if (foreign_instr(e, &n, seen, out))
        drm_lose_width(e, b, row, TROD_COL_TARGET, b->target[row]);
    else if (n.has_target && e->meta->format)
        fmt_aims_set(&e->aims, e->loss, b, row, stream);
    if (e->held.any)
        e->held.row = trod_loss_hold(b, row);
    return DRM_FLOW_DONE;
}
