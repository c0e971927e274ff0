"""Prints what a .npy file holds: its header's dictionary and its bytes as numbers. For records, the bytes in words
of 8."""

import ast
import struct
import sys

data = open(sys.argv[1], "rb").read()
start = 10 if data[6] == 1 else 12
length = int.from_bytes(data[8:start], "little")
header = ast.literal_eval(data[start:start + length].decode())
rest = data[start + length:]
descr = header["descr"]
codes = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f2": "e", "f4": "f",
         "f8": "d", "b1": "?", "V2": "H"}
print(descr, header["fortran_order"], header["shape"], "aligned" if (start + length) % 64 == 0 else "not aligned")
if isinstance(descr, list):
    form = "<" + "".join(codes.get(kind[1:]) or f"{kind[2:]}s" for _, kind in descr)
    print([values for values in struct.iter_unpack(form, rest)])
else:
    print([value for value, in struct.iter_unpack("<" + codes[descr[1:]], rest)])
