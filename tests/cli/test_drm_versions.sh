# test_drm_versions.sh - what is written as an older or newer version of drmemtrace is what that version has.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format drmemtrace
golden=$TROD_SOURCE/tests/golden/drmemtrace

# as N FILE: FILE as version N, losses allowed
as() {
    rm -f out.trace
    run trod convert -q --allow-loss --to "drmemtrace:version=$1,container=none" "$2" out.trace
    status 0
    run trod view --native --disassemble never out.trace
    status 0
}

# there are no versions above 7
run trod convert --to drmemtrace:version=8,container=none "$golden/version7.canonical.trace" out.trace
status 2
err_has 'versions from 1 to 7 are written'

# from 5 on branches say whether they are taken, and where they go
for version in 5 7; do
    as $version "$golden/version7.canonical.trace"
    out_has ' 75 d9 .*\(taken\)'
    out_has ' c3 .*\(target 0x7f0000002000\)'
done
as 4 "$golden/version7.canonical.trace"
out_not '\((un)?taken\)'
out_has ' 75 d9 '
check python3 -c '
import struct
types = {t for t, _, _ in struct.iter_unpack("<HHQ", open("out.trace", "rb").read())}
assert 13 in types and 47 in types and not types & {48, 49}, types'

# before 4 there are no opcodes: they are lost, and that is said
run trod convert --to drmemtrace:version=3,container=none "$golden/version7.canonical.trace" out.trace
status 2
err_has 'the trace is written without opcodes'
as 3 "$golden/version7.canonical.trace"
out_has 'filetype 0xc40'
out_has 'conditional jump'
out_not 'from module offset'

# up to 2 the places of events are offsets in modules
run trod convert --to drmemtrace:version=7,container=none "$golden/version2.trace" out.trace
status 2
err_has 'up to version 2 it is an offset in a module'

# 1 has no markers in its header
as 1 "$golden/version7.canonical.trace"
out_not 'version|filetype|line size|page size|chunk'
out_has '^ +1 +0: +W0.T872805 <marker: timestamp'
check python3 -c '
import struct
e = list(struct.iter_unpack("<HHQ", open("out.trace", "rb").read()))
assert [x[0] for x in e[:3]] == [25, 22, 24] and e[0][2] == 1, e[:3]'

# a trace without opcodes has none in a newer version either, and does not promise them
for name in windows filtered legacy-threads maybe-fetched; do
    as 7 "$golden/$name.trace"
    out_not 'filetype 0x[0-9a-f]*[2367abef][0-9a-f]{2}>'
    run trod check out.trace
    out_not 'read.damaged'
done

# behind a filtered warm-up branches have targets, and instructions were counted before
as 7 "$golden/filtered.trace"
run trod compare --compare all "$golden/filtered.trace" out.trace
status 0

# a system call that goes on somewhere else: something took over
as 4 "$TROD_SOURCE/tests/golden/full/records.canonical.full"
out_has 'kernel xfer from 0x102c to handler'
finish
