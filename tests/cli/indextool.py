"""What Arm's tarmac-indextool says of traces (indextool.header.txt, indextool.seq.txt) against what trod view and info say of them.

usage: indextool.py TROD FOLDER. FOLDER has a folder for each trace. Prints what differs; exit status 1 if anything does.
"""
import json
import pathlib
import re
import subprocess
import sys

TROD, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
ISAS = {'AArch64': ('A64',), 'AArch32': ('A32', 'T32', 'ARM')}
wrong = looked = 0


def differs(trace, what):
    global wrong
    wrong += 1
    print(f'{trace}: {what}')


def trod(*args):
    return subprocess.run([TROD, *args], capture_output=True, text=True, check=False).stdout


def header(trace, text):
    info = json.loads(trod('info', '--format', 'json', str(trace)))
    want = re.search(r'^Architecture: (\S+)', text, re.M).group(1)
    got = json.dumps(info)
    if not any(f'"{isa}' in got for isa in ISAS[want]):
        differs(trace, f'{want} is not said')


def sequence(trace, text):
    """A node's time is that of its first line, and does not go back; its PC is that of its instruction."""
    rows = json.loads('[' + ','.join(trod('view', '--format', 'json', str(trace)).splitlines()) + ']')
    lines = trace.read_text().splitlines()
    if len(rows) != len(lines):
        return 0
    rows = [row for row, line in zip(rows, lines) if not line.startswith('Tarmac ')]  # which it does not count
    time, times = 0, []
    for row in rows:
        time = max(time, row.get('time', time))
        times.append(time)
    nodes = re.findall(r'Line range: start (\d+), extent (\d+)\n.*\n\s+Modification time: (\d+)\n\s+PC: (\w+)', text)
    for start, extent, want, pc in nodes:
        first = int(start) - 1
        executed = [int(r['address'], 16) + (r.get('iset') == 'T32') for r in rows[first:first + int(extent)]
                    if r['kind'] == 'INSTR']  # bit 0 says Thumb
        if executed and executed[-1] != int(pc, 16):
            differs(trace, f'line {start} has PC {pc}, not {executed[-1]:#x}')
        if times[int(start) - 1] != int(want):
            differs(trace, f'line {start} has time {want}, not {times[int(start) - 1]}')
    if sum(int(extent) for _, extent, _, _ in nodes) != len(rows):
        differs(trace, 'nodes do not have all lines')
    return len(nodes)


for folder in sorted(FOLDER.iterdir()):
    found = folder / 'trace.tarmac'
    if not found.exists():
        continue
    if (folder / 'indextool.header.txt').exists():
        looked += 1
        header(found, (folder / 'indextool.header.txt').read_text())
    if (folder / 'indextool.seq.txt').exists():
        looked += sequence(found, (folder / 'indextool.seq.txt').read_text())
print(f'{looked} headers and nodes')
sys.exit(1 if wrong or looked < 20 else 0)
