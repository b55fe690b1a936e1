# test_export_timeline.sh - calls over time (Chrome trace events, Perfetto, speedscope): spans, threads, counters
# and flows of a program whose numbers are known (calls_model.sh), limits, clocks.
. "$TROD_SOURCE/tests/cli/lib.sh"
. "$TROD_SOURCE/tests/cli/calls_model.sh"
needs_format tarmac
have jq

# An instruction a tick from 1 on. The call J (from 0) of f begins at 3 + 14 J and ends at 14 + 14 J; its calls of g
# last from 5 to 8 and from 9 to 12 (+ 14 J). main goes from 1 to the end.
model 2 1 >m.tarmac
model_elf prog || { echo "skipped: no assembler for x86-64"; exit 77; }

# ---- Chrome trace events
run trod export --symbols prog -o m.chrome.json --format json m.tarmac
status 0
json '.clock == "time" and .calls == 11 and .calls_left_out == 0 and .lanes == 2'
run jq -c '.traceEvents[] | select(.ph == "B" or .ph == "E") | [.tid, .ts, .ph, .name]' m.chrome.json
status 0
out <<'END'
[2,1,"B","main"]
[2,3,"B","f"]
[2,5,"B","g"]
[2,8,"E","g"]
[2,9,"B","g"]
[2,12,"E","g"]
[2,14,"E","f"]
[2,17,"B","f"]
[2,19,"B","g"]
[2,22,"E","g"]
[2,23,"B","g"]
[2,26,"E","g"]
[2,28,"E","f"]
[2,31,"E","main"]
[3,1,"B","main"]
[3,3,"B","f"]
[3,5,"B","g"]
[3,8,"E","g"]
[3,9,"B","g"]
[3,12,"E","g"]
[3,14,"E","f"]
[3,17,"E","main"]
END
run jq -c '[.traceEvents[] | select(.ph == "M") | [.tid, .name, .args[]]]' m.chrome.json
out <<'END'
[[2,"process_name","m.tarmac (1 us = 1 clk)"],[2,"thread_name","cpu0"],[2,"thread_sort_index",0],[3,"thread_name","cpu1"],[3,"thread_sort_index",1]]
END
# counters: 4 reads and 2 writes a call of f, and none is lost
run jq -c '[.traceEvents[] | select(.ph == "C") | .args] | [(map(.reads) | add), (map(.writes) | add)]' m.chrome.json
out <<<'[12,6]'
run jq -c '.traceEvents[] | select(.ph == "C" and .ts == 3) | [.name, .args]' m.chrome.json
out <<<'["accesses per 1 clk",{"reads":0,"writes":4}]'
# real time
sed 's/ clk / ns /' m.tarmac >ns.tarmac
run trod export --symbols prog --to chrome ns.tarmac
through jq -c '[.traceEvents[] | select(.ph == "B" and .name == "f") | .ts]'
out <<<'[0.003,0.017,0.003]'
# counted instructions: those of each thread, from 0
run trod export --symbols prog --to chrome:clock=instructions m.tarmac
through jq -c '[.traceEvents[] | select(.ph == "B" and .name == "f") | .ts], .otherData.clock'
out <<'END'
[2,16,2]
"instructions"
END
# a time that goes back is no clock
sed 's/^9 clk cpu0/2 clk cpu0/' m.tarmac >back.tarmac
run trod export --symbols prog --to chrome back.tarmac
through jq -c '[.traceEvents[] | select(.ph == "B" and .name == "f") | .ts]'
out <<<'[2,16,2]'
# a trace that begins inside g: its callers stand around it
run trod view --native --stream cpu0 --instructions 5.. m.tarmac
cp "$stdout" inside.tarmac
run trod export --symbols prog --to chrome inside.tarmac
through jq -c '.traceEvents[] | select(.ph == "B" or .ph == "E") | [.ts, .ph, .name]'
through head -5
out <<'END'
[5,"B","main"]
[5,"B","f"]
[5,"B","g"]
[8,"E","g"]
[9,"B","g"]
END

# ---- speedscope: sorted, nested, all closed
run trod export --symbols prog -o m.speedscope.json m.tarmac
status 0
run jq -c '.profiles[] | [.name, .unit, .startValue, .endValue, (.events | length)]' m.speedscope.json
out <<'END'
["cpu0","none",1,31,14]
["cpu1","none",1,17,8]
END
run jq -c '.shared.frames as $f | .profiles[1].events[] | [.type, $f[.frame].name, .at]' m.speedscope.json
out <<'END'
["O","main",1]
["O","f",3]
["O","g",5]
["C","g",8]
["O","g",9]
["C","g",12]
["C","f",14]
["C","main",17]
END
run jq -c '.profiles[] | reduce .events[] as $e ({stack: [], at: 0, good: true};
    .good = (.good and $e.at >= .at) | .at = $e.at |
    if $e.type == "O" then .stack += [$e.frame]
    else .good = (.good and .stack[-1] == $e.frame) | .stack = .stack[:-1] end) | [.good, .stack]' m.speedscope.json
out <<'END'
[true,[]]
[true,[]]
END
run jq -c '.shared.frames[] | [.name, (.file | split("/")[-1]), .line]' m.speedscope.json
out <<'END'
["main","prog.s",5]
["f","prog.s",15]
["g","prog.s",25]
END
# a profile opens in speedscope's own importer, where that is installed
if command -v speedscope >/dev/null && command -v node >/dev/null &&
    schema=$(dirname "$(readlink -f "$(command -v speedscope)")")/../dist/release/file-format-schema.json &&
    [[ -r $schema ]] && python3 -c 'import jsonschema' 2>/dev/null; then
    check python3 -c 'import json, jsonschema, sys; jsonschema.validate(*map(json.load, map(open, sys.argv[1:])))' \
        m.speedscope.json "$schema"
else
    echo "not tried: speedscope's schema is not here"
fi

# ---- Perfetto
run trod export --symbols prog -o m.pftrace m.tarmac
status 0
if command -v protoc >/dev/null; then
    # the part of perfetto_trace.proto that is used
    cat >perfetto.proto <<'END'
syntax = "proto2";
package perfetto;
message Trace { repeated TracePacket packet = 1; }
message TracePacket {
  optional uint64 timestamp = 8; optional uint32 trusted_packet_sequence_id = 10; optional TrackEvent track_event = 11;
  optional InternedData interned_data = 12; optional uint32 sequence_flags = 13; optional TrackDescriptor track_descriptor = 60;
}
message TrackDescriptor {
  optional uint64 uuid = 1; optional string name = 2; optional Process process = 3; optional Thread thread = 4;
  optional uint64 parent_uuid = 5; optional Counter counter = 8;
}
message Process { optional int32 pid = 1; optional string process_name = 6; }
message Thread { optional int32 pid = 1; optional int32 tid = 2; optional string thread_name = 5; }
message Counter { optional int32 unit = 3; }
message TrackEvent {
  optional uint64 name_iid = 10; optional uint64 track_uuid = 11; optional int32 type = 9; repeated string categories = 22;
  optional string name = 23; optional int64 counter_value = 30; repeated fixed64 flow_ids = 47;
  repeated fixed64 terminating_flow_ids = 48;
}
message InternedData { repeated EventName event_names = 2; }
message EventName { optional uint64 iid = 1; optional string name = 2; }
END
    run sh -c 'protoc --decode perfetto.Trace perfetto.proto <m.pftrace'
    status 0
    out_not '^ *[0-9]+:' # a field that the subset does not know
    cp "$stdout" decoded
    # name, type, time in microseconds of the events of cpu1's track; names by their numbers
    run awk '/event_names/ {iid = ""} /^      iid:/ {iid = $2} /^      name:/ {name[iid] = $2}
        /^packet/ {type = track = event = time = ""} /^  timestamp:/ {time = $2} /^    type:/ {type = $2}
        /^    track_uuid:/ {track = $2} /^    name_iid:/ {event = name[$2]}
        /^}/ && track == 17 {print type, time, event}' decoded
    out <<'END'
1 1000 "main"
1 3000 "f"
1 5000 "g"
2 8000 
1 9000 "g"
2 12000 
2 14000 
2 17000 
END
    # the first packet of the sequence clears it, each says that it needs names; threads hang below the process
    run sh -c 'grep sequence_flags decoded | sort | uniq -c; grep -c parent_uuid decoded'
    through sed 's/^ *//; s/  */ /g'
    check grep -qx '1 sequence_flags: 3' "$stdout"
    check grep -qx 4 "$stdout"
    run awk '/^    type: 4/ {c = 1} /^    track_uuid:/ {t = $2} /^    counter_value:/ {sum[t] += $2} END {print sum[2], sum[3]}' decoded
    out <<<'12 6'
else
    echo "not tried: protoc is not here"
fi

# ---- limits: 1 + 200 + 400 calls, room for 250: those of g (3 instructions) are left out
model 200 >long.tarmac
for to in chrome speedscope perfetto; do
    run trod export --symbols prog --to $to:limit=500 -o long.out --format json long.tarmac
    status 0
    err_has '400 calls shorter than 4 ticks are left out'
    json '.calls == 201 and .calls_left_out == 400'
done
run trod export --symbols prog --to chrome:limit=500 -q long.tarmac
cp "$stdout" long.json
run jq -c '.otherData.calls_left_out, [.traceEvents[] | select(.ph == "C") | .args.reads] == [],
    ([.traceEvents[] | select(.ph == "C") | .args.reads] | add),
    ([.traceEvents[] | select(.ph == "C") ] | length < 1026)' long.json
out <<'END'
400
false
800
true
END
for to in chrome:limit=500 speedscope perfetto; do # any number of threads, the same bytes
    trod export -q -j 1 --to $to --symbols prog -o one.out long.tarmac
    trod export -q -j 4 --to $to --symbols prog -o four.out long.tarmac
    check cmp one.out four.out
done

# rows of a file belong to it, however far the thread that decodes is
model 150 >second.tarmac
for to in chrome folded callgrind dot; do
    rm -rf one.out
    trod export -q -j 1 --to $to --symbols prog -o one.out long.tarmac second.tarmac long.tarmac
    for round in 1 2 3; do
        rm -rf four.out
        trod export -q -j 4 --to $to --symbols prog -o four.out long.tarmac second.tarmac long.tarmac
        check diff -r one.out four.out
    done
done

# ---- synchronization: a signal and the wait for it are one flow, each in a call of its thread
word() {
    local w
    for w; do
        bytes ${w:0:2} ${w:2:2} ${w:4:2} ${w:6:2}
    done
}
{ word 00001000 60000000 60000000 00200002 0000bee0 00000007 60000000; } >one.tt6
{ word 00002000 60000000 00300002 0000bee0 00000007 60000000; } >two.tt6
if trod formats tt6 >/dev/null 2>&1; then
    run trod export --from tt6 --to chrome one.tt6 two.tt6
    status 0
    through jq -c '.traceEvents[] | select(.cat == "sync") | [.ph, .tid, .ts, .name, .id, .bp, .args.count]'
    out <<'END'
["i",2,1,"signal 0xbee0",null,null,"7"]
["s",2,1,"sync 0xbee0",1,null,null]
["i",3,0,"wait 0xbee0",null,null,"7"]
["f",3,0,"sync 0xbee0",1,"e",null]
END
    run trod export --from tt6 -o sync.pftrace one.tt6 two.tt6
    status 0
    if command -v protoc >/dev/null; then
        run sh -c 'protoc --decode perfetto.Trace perfetto.proto <sync.pftrace | grep -A 1 -e flow_ids -e "name: \"[sw]"'
        out_has ' flow_ids: 1$'
        out_has ' terminating_flow_ids: 1$'
        out_has '"wait 0xbee0"'
    fi
fi

# ---- nothing to show
: >empty.tarmac
for to in chrome speedscope; do
    run trod export --from tarmac --to $to empty.tarmac
    status 0
    json 'type == "object"'
done
run trod export --from tarmac --to perfetto -o e.pftrace empty.tarmac
status 0
run trod export --to chrome:limit=x m.tarmac
status 2
finish
