/*
 * blocks_save.c - translated blocks as bytes, and back. Implements ql_save and ql_load of blocks.h.
 *
 * The log is a list of blocks, each with its instructions, and of places of the host where they are
 * executed: 0 and a block, 1 and a place with the number of its block.
 */
#include "format/qemu/blocks.h"

#include "core/pack.h"

#include <string.h>

enum { BLOCK, PLACE };

static int put_insn(const struct ql_blocks *s, const struct ql_insn *i, struct trod_buf *out)
{
    int rc = trod_pack(out, i->pc);

    if (rc == TROD_OK)
        rc = trod_pack(out, i->iset);
    if (rc == TROD_OK)
        rc = trod_pack(out, i->code_n);
    if (rc == TROD_OK && i->code_n)
        rc = trod_buf_add(out, s->pool + i->code, i->code_n);
    if (rc == TROD_OK)
        rc = trod_pack(out, i->text_n);
    if (rc == TROD_OK && i->text_n)
        rc = trod_buf_add(out, s->pool + i->text, i->text_n);
    return rc;
}

static int put_insns(const struct ql_blocks *s, size_t from, size_t n, struct trod_buf *out)
{
    int rc = trod_pack(out, n);

    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        rc = put_insn(s, &s->insn[from + i], out);
    return rc;
}

int ql_save(struct ql_blocks *s, struct trod_buf *state, struct trod_buf *log)
{
    size_t fresh = 0;
    int rc = TROD_OK;

    for (; rc == TROD_OK && s->logged < s->n_blocks; s->logged++)
        if ((rc = trod_pack(log, BLOCK)) == TROD_OK)
            rc = put_insns(s, s->block[s->logged].first, s->block[s->logged].n, log);
    for (uint32_t i = 0; rc == TROD_OK && i <= s->by_host.mask; i++) {
        if (!s->by_host.slot[i].value || s->by_host.slot[i].logged)
            continue;
        s->by_host.slot[i].logged = true;
        if ((rc = trod_pack(log, PLACE)) == TROD_OK &&
            (rc = trod_pack(log, s->by_host.slot[i].key)) == TROD_OK)
            rc = trod_pack(log, s->by_host.slot[i].value);
    }
    for (size_t i = 0; i < s->n_blocks; i++)
        fresh += s->block[i].fresh;
    if (rc == TROD_OK)
        rc = trod_pack(state, fresh);
    for (size_t i = 0; rc == TROD_OK && i < s->n_blocks; i++)
        if (s->block[i].fresh)
            rc = trod_pack(state, i);
    if (rc == TROD_OK)
        rc = trod_pack(state, s->open);
    return rc < 0 || !s->open ? rc : put_insns(s, s->open_insns, s->n_insns - s->open_insns, state);
}

/* ---- and back */

static bool get_bytes(struct trod_span *in, size_t most, const uint8_t **p, size_t *n)
{
    uint64_t v;

    if (trod_unpack(in, &v) < 0 || v > most || v > in->n)
        return false;
    *p = in->p;
    *n = (size_t)v;
    in->p += v;
    in->n -= (size_t)v;
    return true;
}

/* The instructions of the block that has begun. */
static int get_insns(struct ql_blocks *s, struct trod_span *in)
{
    uint64_t n, iset;
    int rc = TROD_OK;

    if (trod_unpack(in, &n) < 0 || n > QL_BLOCK_MAX)
        return TROD_ERR_CORRUPT;
    while (rc == TROD_OK && n--) {
        struct ql_code c = {0};
        const uint8_t *code, *text;
        size_t code_n, text_n;

        if (trod_unpack(in, &c.pc) < 0 || trod_unpack(in, &iset) < 0 || iset > UINT8_MAX ||
            !get_bytes(in, QL_CODE_MAX, &code, &code_n) ||
            !get_bytes(in, UINT16_MAX, &text, &text_n))
            return TROD_ERR_CORRUPT;
        memcpy(c.code, code, code_n);
        c.code_n = (unsigned)code_n;
        c.iset = (unsigned)iset;
        c.text = text;
        c.text_end = text + text_n;
        rc = ql_add(s, &c);
    }
    return rc == TROD_ERR_LIMIT ? TROD_ERR_CORRUPT : rc;
}

static int get_log(struct ql_blocks *s, struct trod_span *log)
{
    int rc = TROD_OK;

    while (rc == TROD_OK && log->n) {
        const size_t before = s->n_blocks;
        uint64_t what, host, number;

        if (trod_unpack(log, &what) < 0 || what > PLACE)
            return TROD_ERR_CORRUPT;
        if (what == PLACE) {
            if (trod_unpack(log, &host) < 0 || trod_unpack(log, &number) < 0 || number == 0 ||
                number > s->n_blocks)
                return TROD_ERR_CORRUPT;
            rc = ql_bind(s, &s->block[number - 1], host);
            continue;
        }
        rc = ql_begin(s);
        if (rc == TROD_OK)
            rc = get_insns(s, log);
        if (rc == TROD_OK)
            rc = ql_end(s);
        if (rc == TROD_OK && s->n_blocks != before + 1)
            rc = TROD_ERR_CORRUPT;
    }
    return rc;
}

int ql_load(struct ql_blocks *s, struct trod_span *state, struct trod_span *log)
{
    uint64_t fresh, number, open;
    int rc = get_log(s, log);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < s->n_blocks; i++)
        s->block[i].fresh = false;
    for (uint32_t i = 0; i <= s->by_host.mask; i++)
        s->by_host.slot[i].logged = true;
    s->logged = s->n_blocks;
    if (trod_unpack(state, &fresh) < 0)
        return TROD_ERR_CORRUPT;
    while (fresh--) {
        if (trod_unpack(state, &number) < 0 || number >= s->n_blocks)
            return TROD_ERR_CORRUPT;
        s->block[number].fresh = true;
    }
    if (trod_unpack(state, &open) < 0 || open > 1)
        return TROD_ERR_CORRUPT;
    if (!open)
        return TROD_OK;
    rc = ql_begin(s);
    return rc < 0 ? rc : get_insns(s, state);
}
