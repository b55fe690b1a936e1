"""gen_ppc.py FILE... - execute programs of `trod gen --to full` and compare registers at each step.

A slow machine of the instructions that occur (PowerPC Programming Environments Manual, chapter 8), written
from the manual: only what mfspr reads of performance counters is taken from the trace. Each state must be what
execution made of the state before, and each load must find what was stored. Prints instructions, loads and stores.
"""
import struct
import sys

RECORD = 1004


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


class Machine:
    """Registers of a state, and the memory that was seen."""

    def __init__(self, words, memory):
        self.pc, self.msr, self.gpr = words[0], words[1], list(words[2:34])
        self.cr, self.xer, self.lr, self.rest = words[34], words[35], words[36], words[37:]
        self.memory, self.loads, self.stores = memory, 0, 0

    def words(self):
        return (self.pc, self.msr, *self.gpr, self.cr, self.xer, self.lr, *self.rest)

    def load(self, address, found):
        self.loads += 1
        return self.memory.setdefault(address, found)

    def step(self, op, after):
        """Execute OP; AFTER: the next state, for what comes from outside."""
        rt, ra = op >> 21 & 31, op >> 16 & 31
        base, imm = (self.gpr[ra] if ra else 0), signed(op & 0xFFFF, 16)
        following = self.pc + 4
        major = op >> 26
        if major == 14:  # addi
            self.gpr[rt] = base + imm & 0xFFFFFFFF
        elif major == 11 and rt >> 2 == 0:  # cmpwi cr0
            a = signed(self.gpr[ra], 32)
            bits = 8 if a < imm else 4 if a > imm else 2
            self.cr = self.cr & 0x0FFFFFFF | (bits | self.xer >> 31) << 28
        elif major == 32:  # lwz
            self.gpr[rt] = self.load(base + imm & 0xFFFFFFFF, after[2 + rt])
        elif major in (36, 37):  # stw, stwu
            address = base + imm & 0xFFFFFFFF
            self.memory[address] = self.gpr[rt]
            self.stores += 1
            if major == 37:
                self.gpr[ra] = address
        elif major == 18:  # b, bl
            following = self.pc + signed(op & 0x3FFFFFC, 26)
            if op & 1:
                self.lr = self.pc + 4
        elif major == 16 and rt == 4:  # bne
            if not self.cr >> (31 - ra) & 1:
                following = self.pc + signed(op & 0xFFFC, 16)
        elif op == 0x4E800020:  # blr
            following = self.lr
        elif major == 31 and op >> 1 & 0x3FF in (339, 467):  # mfspr, mtspr
            spr = ra | (op >> 11 & 31) << 5
            if op >> 1 & 0x3FF == 467:
                assert spr == 8
                self.lr = self.gpr[rt]
            elif spr == 8:
                self.gpr[rt] = self.lr
            else:
                assert spr in (937, 938, 943)
                self.gpr[rt] = after[2 + rt]
        else:
            raise ValueError(f"opcode {op:08x} at {self.pc:08x}")
        self.pc = following & 0xFFFFFFFF


def main():
    instructions = loads = stores = 0
    # threads share what nobody stores; what they store they load themselves or as it was
    memory = {}
    for name in sys.argv[1:]:
        with open(name, "rb") as file:
            data = file.read()
        assert data[:4] == b"\xa1\x11\x8e\x17" and (len(data) - 4) % RECORD == 0, name
        records = [struct.unpack(">251I", data[at : at + RECORD]) for at in range(4, len(data), RECORD)]
        for number, (now, after) in enumerate(zip(records, records[1:])):
            machine = Machine(now[1:], memory)
            machine.step(now[0], after[1:])
            if machine.words() != after[1:]:
                words = [n for n, pair in enumerate(zip(machine.words(), after[1:])) if pair[0] != pair[1]]
                sys.exit(f"{name}: words {words} of state {number + 1} do not follow from {now[0]:08x}")
            loads += machine.loads
            stores += machine.stores
        instructions += len(records)
    print(instructions, loads, stores)


main()
