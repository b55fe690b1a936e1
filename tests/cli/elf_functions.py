# an ELF64 executable for AArch64 whose functions are NAME ADDRESS SIZE
import struct, sys
def elf(path, funcs, base, size):
    strtab = b'\0'; syms = struct.pack('<IBBHQQ', 0, 0, 0, 0, 0, 0)
    for name, at, n in funcs:
        syms += struct.pack('<IBBHQQ', len(strtab), 0x12, 0, 1, at, n); strtab += name.encode() + b'\0'
    shstr = b'\0.text\0.symtab\0.strtab\0.shstrtab\0'
    off = 64 + 56; body = syms + strtab + shstr
    so = off; to = so + len(syms); ho = to + len(strtab); sh = ho + len(shstr)
    head = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 2, 183, 1, base, 64, sh, 0, 64, 56, 1, 64, 5, 4)
    ph = struct.pack('<IIQQQQQQ', 1, 5, 0, base, base, 120, size, 4096)
    def s(n, t, f, a, o, z, l, i, e): return struct.pack('<IIQQQQIIQQ', n, t, f, a, o, z, l, i, 8, e)
    secs = bytes(64) + s(1, 8, 6, base, 120, size, 0, 0, 0) + s(7, 2, 0, 0, so, len(syms), 3, 1, 24) + s(15, 3, 0, 0, to, len(strtab), 0, 0, 0) + s(23, 3, 0, 0, ho, len(shstr), 0, 0, 0)
    open(path, 'wb').write(head + ph + body + secs)
if __name__ == '__main__':
    path, base, size = sys.argv[1], int(sys.argv[2], 0), int(sys.argv[3], 0)
    elf(path, [(a.split(':')[0], int(a.split(':')[1], 0), int(a.split(':')[2], 0)) for a in sys.argv[4:]], base, size)
