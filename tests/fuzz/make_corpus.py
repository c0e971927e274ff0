#!/usr/bin/env python3
"""Writes the seed inputs of the fuzz targets: good ones and broken ones. Run from anywhere; needs nothing but
Python."""

import pathlib
import struct

here = pathlib.Path(__file__).resolve().parent / "corpus"


def header(version, text, length=None):
    data = text.encode("latin1")
    length = len(data) if length is None else length
    pack = "<H" if version == 1 else "<I"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack(pack, length) + data


def dictionary(descr="'<f8'", fortran="False", shape="(3,)"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }          \n" % (descr, fortran, shape)


npy = {
    "good_v1": header(1, dictionary()) + bytes(24),
    "good_v2_fortran": header(2, dictionary("'>i4'", "True", "(2, 3)")) + bytes(24),
    "good_v3_scalar": header(3, dictionary("'|b1'", shape="()")) + bytes(1),
    "good_python2": header(1, dictionary("'<u2'", shape="(3L, 4L)")) + bytes(24),
    "good_bf16": header(1, dictionary("'|V2'", shape="(0, 9223372036854775807)")),
    "bad_truncated_magic": b"\x93NUM",
    "bad_truncated_header": header(1, dictionary())[:40],
    "bad_length_huge": header(2, dictionary(), 0xFFFFFFFF),
    "bad_version": b"\x93NUMPY\x09\x00" + header(1, dictionary())[8:],
    "bad_negative": header(1, dictionary(shape="(-3,)")),
    "bad_overflow": header(1, dictionary(shape="(4294967296, 4294967296, 4294967296)")),
    "bad_extent": header(1, dictionary(shape="(99999999999999999999,)")),
    "bad_records": header(1, dictionary("[('a', '<f4'), ('b', '<i8')]")),
    "bad_object": header(1, dictionary("'|O'")),
    "bad_complex": header(1, dictionary("'<c16'")),
    "bad_long_double": header(1, dictionary("'<f16'")),
    "bad_keys": header(1, "{'descr': '<f8', 'shape': (3,), 'colour': 1}"),
    "bad_twice": header(1, "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}"),
    "bad_dimensions": header(1, dictionary(shape="(" + "1, " * 65 + ")")),
    "bad_string": header(1, "{'descr': '<f8"),
    "bad_behind": header(1, dictionary() + "import os"),
}
text = {
    "good_integers": b"\x001 2 3\n-4, 5,\n",
    "good_floats": b"\x001.5e3 -0.1 nan inf -inf .5 5. 1e-320 # end\n",
    "good_u64": b"\x0018446744073709551615 1\n",
    "good_f16": b"\x0a0.1 65504 1e-7 5.9604644775390625e-8 2049\n",
    "good_bf16": b"\x0b0.1 3.38e38 9.18e-41\n",
    "good_f32": b"\x0c0.1 16777217 3.4028235e38 1e-45\n",
    "good_bool": b"\x01true 0 1 FALSE\n",
    "good_mark": b"\x00\xef\xbb\xbf1 2\n",
    "good_promoted": b"\x001 9223372036854775808 -2.5 99999999999999999999\n",
    "good_late_float": b"\x000 -0 7 -0 18446744073709551615 -0 -0.0 .5\n",
    "bad_word": b"\x001 2\nabc\n",
    "bad_commas": b"\x001,,2\n",
    "bad_leading_comma": b"\x00,1\n",
    "bad_mixed": b"\x00-1 18446744073709551615\n",
    "bad_range": b"\x02128\n",
    "bad_fraction": b"\x043.5\n",
    "bad_beyond": b"\x001e999\n",
    "bad_binary": b"\x00\x00\x01\x02\xff",
    "bad_hex": b"\x000x10\n",
    "bad_long": b"\x00" + b"1" * 1001,
    "bad_exponent": b"\x001e+ 2\n",
}
# two bytes: options and the size of blocks
table = {
    "good_quotes": b'\x00\x05a,"b ""x""","c\nd"\r\n1,2,"k,1"\r\n-3,4.5,k2\r\n',
    "good_numbers": b'\x00\x051,2,"k,1"\r\n-3,4.5,"k ""2"""\r\n',
    "good_tabs": b"\x01\x031\t2\tx\n3\t4\t\"y\n",
    "good_skip": b"\x02\x071,,a\nn/a,2,b\n.,-,a\n",
    "good_nan": b"\x04\x091,,a\n#N/A,2,b\n",
    "good_sorted": b"\x08\x021,1,a\n2,2,a\n3,3,b\n",
    "good_large": b"\x00\x0418446744073709551615,-1,a\n99999999999999999999,7,a\n-0,0,b\n",
    "good_f32": b"\x50\x0b0.1,1e-45,x\n",
    "good_one_column": b"\x02\x041\n2\n\n3\n",
    "good_blank_lines": b"\x00\x041,2\n\n\r\n3,4\n",
    "bad_beyond": b"\x00\x041,1e400,a\n",
    "bad_width": b"\x00\x061,2,a\n1,2\n",
    "bad_end": b'\x00\x081,2,"a\n1,2,b\n',
    "bad_behind": b'\x00\x0c1,2,"a"b\n',
    "bad_within": b'\x00\x0a1,2,a"b\n"',
    "bad_nul": b"\x00\x051,2,\x00\n",
}
for name, files in (("npy", npy), ("text", text), ("table", table)):
    (here / name).mkdir(parents=True, exist_ok=True)
    for file, data in files.items():
        (here / name / file).write_bytes(data)
