/*
 * ctf_meta.c - the metadata of the view "ctf", in the Trace Stream Description Language.
 *
 * Implements ctf.h; document: Common Trace Format v1.8.3, "TSDL".
 */
#include "export/clock.h"
#include "export/ctf.h"

#include <ctype.h>
#include <string.h>

enum { MOST_NAMES = 4096 }; /* streams whose names are listed */

enum ctf_layout ctf_layout_of(unsigned kind)
{
    switch (kind) {
    case TROD_INSTR:
        return CTF_INSN;
    case TROD_READ:
    case TROD_WRITE:
    case TROD_PREFETCH:
    case TROD_FLUSH:
        return CTF_ACCESS;
    case TROD_REG:
        return CTF_REG;
    default:
        return CTF_OTHER;
    }
}

static const char types[] =
    "/* CTF 1.8 */\n\n"
    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
    "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "typealias integer { size = 8; align = 8; signed = false; base = 16; } := xint8_t;\n"
    "typealias integer { size = 32; align = 8; signed = false; base = 16; } := xint32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; base = 16; } := xint64_t;\n\n";

static const char stream[] =
    "typealias integer { size = 64; align = 8; signed = false; map = clock.trace.value; } := "
    "clock_t;\n\n"
    "stream {\n\tid = 0;\n\tpacket.context := struct {\n\t\tclock_t timestamp_begin;\n"
    "\t\tclock_t timestamp_end;\n\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n"
    "\t\tuint64_t packet_seq_num;\n\t\tuint64_t events_discarded;\n\t\tuint32_t cpu_id;\n\t};\n"
    "\tevent.header := struct {\n\t\tuint16_t id;\n\t\tclock_t timestamp;\n\t};\n};\n";

/* Fields in the order in which put_fields of ctf.c writes them. */
static const char first[] = "\t\txint32_t has;\n\t\txint32_t flags;\n\t\txint64_t pc;\n"
                            "\t\tuint32_t size;\n";
static const char insn[] = "\t\tuint32_t code_n;\n\t\txint8_t code[code_n];\n\t\tstring text;\n";
static const char addresses[] = "\t\txint64_t addr;\n\t\txint64_t paddr;\n";
static const char value[] = "\t\txint64_t value;\n\t\tuint32_t data_n;\n"
                            "\t\txint8_t data[data_n];\n";
static const char text_field[] = "\t\tstring text;\n";
static const char other[] = "\t\txint64_t target;\n\t\tuint16_t sub;\n";

/* N bytes at P inside quotes. */
static int quoted(struct trod_buf *out, const char *p, size_t n)
{
    int r = trod_buf_add(out, "\"", 1);

    for (size_t i = 0; r == 0 && i < n; i++) {
        const unsigned char c = (unsigned char)p[i];

        if (c == '"' || c == '\\')
            r = trod_buf_printf(out, "\\%c", c);
        else
            r = trod_buf_printf(out, "%c", c < ' ' || c > '~' ? '?' : c);
    }
    return r == 0 ? trod_buf_add(out, "\"", 1) : r;
}

static int put_env(struct trod_buf *out, const struct ctf_facts *f, const struct trod_meta *meta)
{
    const char *unit = trod_meta_unit_name(meta, f->unit);
    int r = trod_buf_printf(out, "env {\n\tdomain = \"ust\";\n\ttracer_name = \"trod\";\n"
                                 "\tsource = ");

    if (r == 0)
        r = quoted(out, f->source, strlen(f->source));
    if (r == 0)
        r = trod_buf_printf(out, ";\n\tformat = \"%s\";\n\tisa = \"%s\";\n\ttime_unit = ",
                            meta->format ? meta->format : "", trod_isa_name(meta->isa));
    if (r == 0)
        r = f->timed ? quoted(out, unit, strlen(unit)) : quoted(out, "row", 3);
    for (uint32_t i = 0; r == 0 && i < meta->n_streams && i < MOST_NAMES; i++) {
        r = trod_buf_printf(out, ";\n\tstream%u = ", (unsigned)i);
        if (r == 0)
            r = quoted(out, meta->streams[i].name, meta->streams[i].name_len);
    }
    return r == 0 ? trod_buf_printf(out, ";\n};\n\n") : r;
}

static int put_clock(struct trod_buf *out, const struct ctf_facts *f, const struct trod_meta *meta)
{
    const char *unit = trod_meta_unit_name(meta, f->unit);
    const bool real = export_is_time(f->unit);

    return trod_buf_printf(
        out,
        "clock {\n\tname = \"trace\";\n\tdescription = \"%s%s\";\n\tfreq = 1000000000;\n};\n\n",
        !f->timed ? "1 ns = 1 row"
        : real    ? "time of the trace"
                  : "1 ns = 1 ",
        !f->timed || real ? ""
        : *unit           ? unit
                          : "tick");
}

static int put_events(struct trod_buf *out)
{
    int r = 0;

    for (unsigned kind = 0; r == 0 && kind < TROD_KINDS; kind++) {
        const enum ctf_layout layout = ctf_layout_of(kind);
        char name[24];
        size_t n = 0;

        for (const char *p = trod_kind_name(kind); *p && n + 1 < sizeof name; p++)
            name[n++] = (char)tolower((unsigned char)*p);
        name[n] = 0;
        r = trod_buf_printf(out,
                            "\nevent {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n"
                            "\tfields := struct {\n%s%s%s%s%s%s\t};\n};\n",
                            name, kind, first, layout == CTF_INSN ? insn : "",
                            layout == CTF_ACCESS || layout == CTF_OTHER ? addresses : "",
                            layout != CTF_INSN ? value : "",
                            layout == CTF_REG || layout == CTF_OTHER ? text_field : "",
                            layout == CTF_OTHER ? other : "");
    }
    return r;
}

int ctf_metadata(struct trod_buf *out, const struct ctf_facts *f, const struct trod_meta *meta)
{
    const uint8_t *u = f->uuid;
    int r = trod_buf_printf(out, "%strace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"", types);

    for (unsigned i = 0; r == 0 && i < 16; i++)
        r = trod_buf_printf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
    if (r == 0)
        r = trod_buf_printf(out, "\";\n\tbyte_order = le;\n\tpacket.header := struct {\n"
                                 "\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n"
                                 "\t\tuint32_t stream_id;\n\t};\n};\n\n");
    if (r == 0)
        r = put_env(out, f, meta);
    if (r == 0)
        r = put_clock(out, f, meta);
    if (r == 0)
        r = trod_buf_printf(out, "%s", stream);
    return r == 0 ? put_events(out) : r;
}
