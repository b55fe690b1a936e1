"""long_members.py OUT NUMBER: a gzip file of members that say their lengths (BGZF) of Dinero's text,
of which member NUMBER makes more than it says, and so is damaged: what lies behind it seems to begin
inside it."""
import struct
import sys
import zlib

MEMBER, LINES = 60000, 1200000


def member(data, more=b""):
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    packed = packer.compress(data + more) + packer.flush()
    size = 18 + len(packed) + 8
    head = struct.pack("<4BIBBHBBHH", 31, 139, 8, 4, 0, 0, 255, 6, 66, 67, 2, size - 1)
    assert len(head) == 18, len(head)
    return head + packed + struct.pack("<II", zlib.crc32(data), len(data))


text = b"".join(b"%d %x\n" % (i % 3, 0x10000000 + 64 * (i * 7919 % 65536)) for i in range(LINES))
with open(sys.argv[1], "wb") as out:
    for k in range(0, len(text), MEMBER):
        part = text[k : k + MEMBER]
        out.write(member(part, b"1 2\n" * 300 if k // MEMBER == int(sys.argv[2]) else b""))
