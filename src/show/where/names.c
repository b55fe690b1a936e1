/*
 * names.c - what expressions may name. Implements trod-where(7), "Names".
 */
#include <string.h>
#include <strings.h>

#include "show/where/where_int.h"

#define BR(name) (1u << TROD_BR_##name)

enum {
    WANT_TEXT = TROD_COL_KIND | TROD_COL_TEXT | TROD_COL_CODE | TROD_COL_ADDR | TROD_COL_FLAGS,
    WANT_CODE = TROD_COL_KIND | TROD_COL_CODE | TROD_COL_FLAGS,
    WANT_BRANCH = WANT_CODE | TROD_COL_ADDR,
    WANT_TAKEN = WANT_BRANCH | TROD_COL_TARGET | TROD_COL_SIZE,
    WANT_PLACE = TROD_COL_KIND | TROD_COL_PC | TROD_COL_ADDR | TROD_COL_STREAM,
    WANT_DETAILS = TROD_COL_KIND | TROD_COL_DETAIL | TROD_COL_SIZE | TROD_COL_ADDR,
    WANT_MODE = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_DETAIL,
    CALLS = BR(CALL) | BR(ICALL),
    THUMB = 1u << TROD_ISET_T32 | 1u << TROD_ISET_T32EE
};

#define NUMBER(name, column, want, text)                                                           \
    {                                                                                              \
        {name, "number", text}, TYPE_NUMBER, column, false, want, 0                                \
    }
#define TEXT(name, column, symbols, want, text)                                                    \
    {                                                                                              \
        {name, "text", text}, TYPE_TEXT, column, symbols, want, 0                                  \
    }
#define WORD(name, column, want, text)                                                             \
    {                                                                                              \
        {name, "word", text}, TYPE_WORD, column, false, want, 0                                    \
    }
#define STREAM(name, text)                                                                         \
    {                                                                                              \
        {name, "stream", text}, TYPE_STREAM, COL_STREAM, false, TROD_COL_STREAM, 0                 \
    }
#define WHEN(name, column, want, arg, text)                                                        \
    {                                                                                              \
        {name, "condition", text}, TYPE_BOOL, column, false, want, arg                             \
    }
#define FLAG(name, bit, text) WHEN(name, COL_FLAG, TROD_COL_FLAGS, bit, text)
#define FUNCTION(name, column, want, text)                                                         \
    {                                                                                              \
        {name, "function", text}, TYPE_NONE, column, false, want, 0                                \
    }

static const struct where_name names[] = {
    NUMBER("row", COL_ROW, 0, "number of the row in the trace, from 0"),
    NUMBER("index", COL_INDEX, TROD_COL_INDEX, "number of the instruction, as the trace counts"),
    NUMBER("instruction", COL_INDEX, TROD_COL_INDEX, NULL),
    NUMBER("time", COL_TIME, TROD_COL_TIME, "in the unit of the trace, without decimals"),
    NUMBER("pc", COL_PC, WANT_PLACE, "address of the instruction that the row belongs to"),
    NUMBER("addr", COL_ADDR, TROD_COL_ADDR, "virtual address: of the instruction or the data"),
    NUMBER("address", COL_ADDR, TROD_COL_ADDR, NULL),
    NUMBER("paddr", COL_PADDR, TROD_COL_PADDR, "physical address"),
    NUMBER("physical", COL_PADDR, TROD_COL_PADDR, NULL),
    NUMBER("size", COL_SIZE, TROD_COL_SIZE, "bytes"),
    NUMBER("value", COL_VALUE, TROD_COL_VALUE, "of up to 64 bits: read, written, of a register"),
    NUMBER("target", COL_TARGET, TROD_COL_TARGET, "where execution goes on, where the trace says"),
    NUMBER("opcode", COL_OPCODE, WANT_CODE, "opcode as it is shown, of up to 8 bytes"),
    NUMBER("core", COL_CORE, TROD_COL_CORE, "core that the order of the trace runs the row on"),
    NUMBER("sub", COL_SUB, TROD_COL_SUB, "number of the type of a record"),
    NUMBER("flags", COL_FLAGS, TROD_COL_FLAGS, "bits of enum trod_flag"),
    NUMBER("tid", COL_TID, TROD_COL_STREAM, "number that the system gave the thread"),
    NUMBER("pid", COL_PID, TROD_COL_STREAM, "number that the system gave its process"),
    {{"offset", "number", "bytes from the beginning of the function"},
     TYPE_NUMBER,
     COL_OFFSET,
     true,
     WANT_PLACE,
     0},
    {{"line", "number", "line of the source"}, TYPE_NUMBER, COL_LINE, true, WANT_PLACE, 0},
    STREAM("stream", "the thread, cpu or agent: by name or number, as for --stream"),
    STREAM("thread", NULL),
    STREAM("cpu", NULL),
    STREAM("agent", NULL),
    WORD("kind", COL_KIND, TROD_COL_KIND, "what happened: the words of --kind"),
    WORD("branch", COL_BRANCH, WANT_BRANCH, "kind of a branch, by the trace or its opcode"),
    WORD("iset", COL_ISET, TROD_COL_FLAGS, "instruction set: A32, T32, T32EE, A64"),
    WORD("security", COL_SECURITY, TROD_COL_FLAGS, "of the physical address: s, ns, root, realm"),
    TEXT("text", COL_TEXT, false, WANT_TEXT, "disassembly, or name of a register, event, marker"),
    TEXT("disasm", COL_DISASM, false, WANT_TEXT, "disassembly of an instruction"),
    TEXT("mnemonic", COL_MNEMONIC, false, WANT_TEXT, "first word of it"),
    TEXT("register", COL_REGISTER, false, TROD_COL_KIND | TROD_COL_TEXT, "that a REG row writes"),
    TEXT("type", COL_RECORD_TYPE, false, TROD_COL_KIND | TROD_COL_SUB,
         "what the format calls the record"),
    TEXT("unit", COL_UNIT, false, TROD_COL_TIME | TROD_COL_UNIT, "of the time"),
    TEXT("data", COL_DATA, false, WANT_DETAILS | TROD_COL_DATA | TROD_COL_FLAGS,
         "values of more than 64 bits, in hexadecimal as shown"),
    TEXT("details", COL_DETAILS, false, WANT_DETAILS, "what else the record says: NAME=VALUE ..."),
    TEXT("function", COL_FUNCTION, true, WANT_PLACE, "symbol that pc lies in"),
    TEXT("symbol", COL_SYMBOL, true, TROD_COL_ADDR, "symbol that addr lies in"),
    TEXT("module", COL_MODULE, true, WANT_PLACE, "file of --symbols that pc lies in"),
    TEXT("source", COL_SOURCE, true, WANT_PLACE, "source file that pc belongs to"),
    WHEN("taken", COL_TAKEN, WANT_TAKEN, 0, "a branch that was made"),
    WHEN("untaken", COL_UNTAKEN, WANT_TAKEN, 0, "a conditional branch that was not"),
    WHEN("conditional", COL_BRANCH_IN, WANT_BRANCH, BR(COND) | BR(COND_TAKEN) | BR(COND_UNTAKEN),
         "a conditional branch"),
    WHEN("direct", COL_BRANCH_IN, WANT_BRANCH, BR(DIRECT) | BR(CALL),
         "a branch or call to an address in the opcode"),
    WHEN("indirect", COL_BRANCH_IN, WANT_BRANCH, BR(INDIRECT) | BR(ICALL) | BR(RETURN),
         "a branch, call or return to an address in a register or in memory"),
    WHEN("call", COL_BRANCH_IN, WANT_BRANCH, CALLS, "a call of a function"),
    WHEN("return", COL_BRANCH_IN, WANT_BRANCH, BR(RETURN), "a return from a function"),
    WHEN("syscall", COL_BRANCH_IN, WANT_BRANCH, BR(SYSCALL),
         "an instruction that calls the system"),
    WHEN("thumb", COL_ISET_IN, TROD_COL_FLAGS, THUMB, "of instruction set T32 or T32EE"),
    WHEN("kernel", COL_KERNEL, WANT_MODE, 0, "privileged code, where the trace tells"),
    WHEN("user", COL_USER, WANT_MODE, 0, "unprivileged code, where the trace tells"),
    FLAG("skipped", TROD_F_SKIPPED, "fetched, but its condition failed"),
    FLAG("aborted", TROD_F_ABORTED, "the access or the fetch failed"),
    FLAG("exclusive", TROD_F_EXCLUSIVE, "an exclusive access"),
    FLAG("unprivileged", TROD_F_UNPRIV, "a translated (unprivileged) access"),
    FLAG("locked", TROD_F_LOCKED, "a locked access"),
    FLAG("privileged", TROD_F_PRIV, "a privileged access"),
    FLAG("unknown", TROD_F_UNKNOWN, "some digits of the value are not known"),
    FLAG("partial", TROD_F_PARTIAL, "only some bits are written"),
    FLAG("synthetic", TROD_F_SYNTHETIC, "put in by the tracer"),
    FLAG("nofetch", TROD_F_NOFETCH, "executed, but not fetched again"),
    FLAG("newcode", TROD_F_NEWCODE, "its opcode is given again"),
    FLAG("fetch", TROD_F_IFETCH, "an access to code"),
    FLAG("uncached", TROD_F_UNCACHED, "an access that is not cached"),
    FLAG("io", TROD_F_IO, "an access to input/output space"),
    FLAG("holes", TROD_F_HOLES, "the bytes touched are not neighbours"),
    FUNCTION("has", COL_HAS, 0, "has(NAME): does the row say that?"),
    FUNCTION("touches", COL_TOUCHES,
             TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_SIZE | TROD_COL_FLAGS | TROD_COL_DETAIL,
             "touches(RANGE,...): is one of these bytes touched? As --address"),
    FUNCTION("at", COL_AT, 0, "at(\"SYMBOL\"): its address"),
    FUNCTION("span", COL_SPAN, 0, "span(\"SYMBOL\"): the range of its addresses"),
};

const struct where_name *where_name_at(size_t i)
{
    return i < sizeof names / sizeof names[0] ? &names[i] : NULL;
}

const struct where_name *where_name_find(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].public.name, name) == 0)
            return &names[i];
    return NULL;
}

const struct trod_where_name *trod_where_name_at(size_t i)
{
    return i < sizeof names / sizeof names[0] ? &names[i].public : NULL;
}

const char *where_word_at(unsigned column, unsigned i)
{
    static const unsigned most[] = {TROD_BR_OTHER, TROD_ISET_A64, TROD_SEC_REALM};
    const char *word;

    if (column < COL_BRANCH || column > COL_SECURITY || i > most[column - COL_BRANCH])
        return NULL;
    word = column == COL_BRANCH ? trod_branch_name(i)
           : column == COL_ISET ? show_iset_name(i)
                                : show_sec_name(i);
    return word && i > 0 ? word : "";
}

int where_word_find(unsigned column, const char *word)
{
    const char *s;

    for (unsigned i = 0; (s = where_word_at(column, i)); i++)
        if (*s && strcasecmp(s, word) == 0)
            return (int)i;
    return -1;
}
