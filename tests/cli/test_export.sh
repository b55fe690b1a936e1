# test_export.sh - `trod export`: choosing a view, its output, tables (SQLite) and coverage (drcov, lcov), each
# looked at with the program that it is for.
. "$TROD_SOURCE/tests/cli/lib.sh"
. "$TROD_SOURCE/tests/cli/calls_model.sh"
needs_format tarmac
have jq

model 3 >m.tarmac # 2 + 14 * 3 = 44 instructions, 12 reads, 6 writes
model_elf prog && symbols=1 || symbols=

# ---- which view, where to
run trod export m.tarmac
status 2
err_has 'nothing says what to write'
run trod export --to nothing m.tarmac
status 2
err_has "no view is called 'nothing'"
run trod export --to sqlit m.tarmac
err_has "did you mean 'sqlite'"
run trod export --to lcov:x=1 m.tarmac
status 2
run trod export --to drcov:module=nonsense m.tarmac
status 2
err_has 'PATH@FROM..TO'
run trod export -o m.tarmac --to drcov:module=p@0..0x1fff m.tarmac
status 2
err_has 'input and output at once'
run trod export --to sqlite m.tarmac
status 2
err_has 'name one with -o'
run trod formats lcov
status 0
out_has 'leaves out: '
run trod formats --format json
json '[.formats[] | select(.access == "export") | .name] | index("sqlite") != null'
# no suffix of a view is one of a format
run sh -c "'$TROD' formats --format json | jq -r '.formats[].suffixes | split(\" \")[]' | sort | uniq -d |
    grep -v -e '^\.trc$' -e '^\.log$' -e '^\.txt$' -e '^\.trace$' -e '^\.tarmac$' -e '^\.gz$'"
out </dev/null

# ---- drcov: blocks, by hand from the program: main's beginning to its call, behind the call to the
# branch, its target to the call, behind the loop; f to its call, between the calls, behind them; g
run trod export -o m.drcov --to drcov:module=prog.elf@0x1000..0x10ff --format json m.tarmac
status 0
json '.blocks == 8 and .blocks_outside == 0 and .rows_chosen == 62'
run sh -c 'head -c $(($(stat -c %s m.drcov) - 64)) m.drcov'
out <<'END'
DRCOV VERSION: 2
DRCOV FLAVOR: drcov-64
Module Table: version 2, count 1
Columns: id, base, end, entry, path
 0, 0x0000000000001000, 0x0000000000001100, 0x0000000000000000, prog.elf
BB Table: 8 bbs
END
run sh -c 'tail -c 64 m.drcov | od -A n -v -t u2 -w8'
out <<'END'
     0     0     8     0
     4     0     4     0
     8     0     8     0
    16     0     4     0
    32     0     8     0
    40     0     4     0
    44     0     8     0
    64     0    12     0
END
# a module that ends before g
run trod export -o m.drcov --to drcov:module=p@0x1000..0x103f --format json m.tarmac
json '.blocks == 7 and .blocks_outside == 1'
# by suffix, as a conversion too, and only a part
run trod convert --range 0..0 m.tarmac x.drcov --to drcov:module=p@0..0xffff --format json
status 0
json '.blocks == 1 and .rows_chosen == 1'
run sh -c "'$TROD' export -o x.drcov m.tarmac"
status 2
err_has -- '--symbols'

# ---- lcov
if [[ $symbols ]]; then
    run trod export --symbols prog -o m.info --format json m.tarmac
    status 0
    json '.lines == 15 and .lines_executed == 13'
    # prog.s: .text, then name lines (3 a function); the counts are those of the program
    run grep -E '^(FN|FNDA|FNF|FNH|BRDA|BRF|BRH|DA|LF|LH)' m.info
    out <<'END'
FN:5,main
FN:15,f
FN:25,g
FN:32,never
FNDA:1,main
FNDA:3,f
FNDA:6,g
FNDA:0,never
FNF:4
FNH:3
BRDA:8,0,0,2
BRDA:8,0,1,1
BRF:2
BRH:2
DA:5,1
DA:6,3
DA:7,3
DA:8,3
DA:9,1
DA:15,3
DA:16,3
DA:17,3
DA:18,3
DA:19,3
DA:25,6
DA:26,6
DA:27,6
DA:32,0
DA:33,0
LF:15
LH:13
END
    run trod export --symbols prog --to lcov m.tarmac
    out_is m.info
    if command -v lcov >/dev/null; then
        run sh -c 'lcov --rc lcov_branch_coverage=1 --summary m.info 2>&1'
        out_has 'lines.*: 86.7% \(13 of 15 lines\)'
        out_has 'functions.*: 75.0% \(3 of 4 functions\)'
        out_has 'branches.*: 100.0% \(2 of 2 branches\)'
        check genhtml --quiet --branch-coverage -o html m.info
        check grep -rq never html
    else
        echo "not tried: lcov is not here"
    fi
else
    echo "not tried: lcov wants an assembler for x86-64"
fi
run trod export --to lcov m.tarmac
status 2
err_has -- '--symbols'

# ---- sqlite
if trod export -o m.db m.tarmac 2>.why; then
    if command -v sqlite3 >/dev/null; then
        run trod export --to sqlite -o m.db ${symbols:+--symbols prog} --format json m.tarmac
        status 0
        json '.table_rows == 62 and .sites == 13 and .streams == 1'
        run sqlite3 m.db 'pragma integrity_check; pragma application_id;
            select k.name, count(*) from row join kind k on k.id = row.kind group by 1 order by 1;
            select stream, pc_hex, text, count(*) from instr where pc = 0x1040 group by 1, 2, 3;
            select kind, addr_hex, size, value, pc, count(*) from access group by 1, 2, 3, 4, 5 order by 1, 2, 5;
            select hex(code), branch from site where pc in (0x1004, 0x1010, 0x100c) order by pc;
            select value from meta where key in ("format", "isa", "unit", "rows") order by key'
        status 0
        out <<'END'
ok
1953656676
INSTR|44
READ|12
WRITE|6
cpu0|0x1040|LDR      x2,[x1,#0]|6
READ|0x7fe0|8|1|4140|3
READ|0x7fe8|8|1|4140|3
READ|0x8000|8|1|4160|6
WRITE|0x7fe0|8|1|4128|3
WRITE|0x7fe8|8|1|4128|3
07000094|call
C1FFFF54|conditional
C0035FD6|return
tarmac
A64
62
clk
END
        [[ ! $symbols ]] || {
            run sqlite3 m.db 'select symbol, count(*) from instr group by 1 order by 2 desc'
            out <<'END'
g|18
f|15
main|11
END
        }
        # numbers of 2^63 and more are negative; what is not said is null
        cat >big.tarmac <<'END'
1 clk IT (1) ffff000000001000 d503201f O EL1h_n : NOP
1 clk MW8 ffffffffffffffff 80000000_00000000
2 clk R X7 00000000000000ff
END
        run trod export -o big.db big.tarmac
        status 0
        run sqlite3 big.db 'select addr, value, stream is null, time from row where kind = 3;
            select addr_hex from access; select pc_hex from instr; select text, value from row where kind = 7'
        out <<'END'
-1|-9223372036854775808|1|1
0xffffffffffffffff
0xffff000000001000
X7|255
END
    else
        echo "not tried: sqlite3 is not here"
    fi
    # an existing file is replaced when the new one is whole, never before
    cp m.db before.db
    run trod export -o m.db --to sqlite no-such-file
    status 2
    check cmp m.db before.db
    run sh -c 'ls -A | grep "^\.trod-"'
    out </dev/null
    # damage: what could be read is there
    head -n 10 m.tarmac >damaged.tarmac
    echo '9 clk cpu0 IT (8' >>damaged.tarmac
    run trod export -o damaged.db --format json damaged.tarmac
    status 2
    json '.table_rows == 10 and .errors == 1'
    : >empty.tarmac
    run trod export --from tarmac -o empty.db --format json empty.tarmac
    status 0
    json '.table_rows == 0'
else
    check grep -q 'without SQLite' .why
fi
finish
