"""The files that the cases of tests/cli read, made from nothing but Python."""
import itertools
import struct

CODES = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f2": "e", "f4": "f",
         "f8": "d", "b1": "?"}


def npy(descr, shape, data, fortran=False, version=1):
    """The bytes of a .npy file. descr is as in the header, quotes included."""
    text = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    start = 10 if version == 1 else 12
    text += " " * (-(start + len(text) + 1) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data


def pack(kind, values, order="<"):
    order = "<" if order == "|" else order
    return struct.pack(order + str(len(values)) + CODES[kind], *values)


def array(kind, values, order="<", **more):
    return npy(f"'{order}{kind}'", f"({len(values)},)", pack(kind, values, order), **more)


def fortran(values, shape):
    """Values in C order rearranged to Fortran order."""
    strides = [1] * len(shape)
    for d in reversed(range(len(shape) - 1)):
        strides[d] = strides[d + 1] * shape[d + 1]
    places = itertools.product(*[range(extent) for extent in reversed(shape)])
    return [values[sum(i * s for i, s in zip(reversed(place), strides))] for place in places]


def make(where):
    def put(name, data):
        (where / name).write_bytes(data if isinstance(data, bytes) else data.encode())

    ramp = list(range(1, 25))
    # every type, in its usual form
    for kind, name in (
        ("i1", "i8"),
        ("i2", "i16"),
        ("i4", "i32"),
        ("i8", "i64"),
        ("u1", "u8"),
        ("u2", "u16"),
        ("u4", "u32"),
        ("u8", "u64"),
        ("f2", "f16"),
        ("f4", "f32"),
        ("f8", "f64"),
    ):
        put(f"{name}.npy", array(kind, [3, 1, 2, 0, 5]))
    put("limits.npy", array("i8", [2**63 - 1, 2**63 - 1, 5]))
    put("bool.npy", array("b1", [True, False, True], order="|"))
    bf16 = [struct.unpack("<I", struct.pack("<f", x))[0] >> 16 for x in (3, 1, 2, 0, 5)]
    put("bf16.npy", npy("'|V2'", "(5,)", pack("u2", bf16)))
    put("bf16_u2.npy", array("u2", bf16))
    # forms
    put("v2.npy", array("i4", [1, 2, 3], version=2))
    put("v3.npy", array("i4", [1, 2, 3], version=3))
    put("big.npy", array("i4", [1, -2, 300000], order=">"))
    put("big_f8.npy", array("f8", [0.5, -2.25, 1e300], order=">"))
    put("scalar.npy", npy("'<f8'", "()", pack("f8", [2.5])))
    put("empty.npy", array("f8", []))
    put("no_rows.npy", npy("'<f4'", "(0, 3)", b""))
    put("no_columns.npy", npy("'<f4'", "(3, 0)", b""))
    put("cube.npy", npy("'<i4'", "(2, 3, 4)", pack("i4", ramp)))
    put("cube_f.npy", npy("'<i4'", "(2, 3, 4)", pack("i4", fortran(ramp, (2, 3, 4))), fortran=True))
    put("cube_f_big.npy", npy("'>f8'", "(2, 3, 4)", pack("f8", fortran(ramp, (2, 3, 4)), ">"), fortran=True))
    # damage
    put("truncated.npy", array("f8", [1, 2, 3])[:-1])
    put("longer.npy", array("f8", [1, 2, 3]) + b"x")
    put("header_cut.npy", array("f8", [1, 2, 3])[:50])
    put("magic_cut.npy", b"\x93NUM")
    put("zero.npy", b"")
    put("zero.txt", "")
    put("not.npy", "1 2 3\n")
    put("version9.npy", b"\x93NUMPY\x09\x00" + array("f8", [1])[8:])
    put("records.npy", npy("[('a', '<f4'), ('b', '<i8')]", "(1,)", bytes(12)))
    put("object.npy", npy("'|O'", "(1,)", bytes(8)))
    put("string.npy", npy("'<U3'", "(1,)", bytes(12)))
    put("complex.npy", npy("'<c16'", "(1,)", bytes(16)))
    put("date.npy", npy("'<M8[s]'", "(1,)", bytes(8)))
    put("longdouble.npy", npy("'<f16'", "(1,)", bytes(16)))
    put("huge.npy", npy("'<f8'", "(4611686018427387904, 4)", bytes(8)))
    put("negative.npy", npy("'<f8'", "(-1,)", bytes(8)))
    put("promise.npy", npy("'<f8'", "(1000000000000,)", bytes(8)))
    # text
    put("ints.txt", "3 1 4\n1 5 9\n2 6 5\n")
    put("floats.csv", "# a comment\n0.1,0.2,0.3\n1e3,-2.5\n")
    put("nans.txt", "nan 1 2 nan 4\n")
    put("only_nans.txt", "nan nan\n")
    put("infs.txt", "inf 1 -inf\n")
    put("bits.txt", "12 10 14\n")
    put("word.txt", "1 2\n3 four\n")
    put("commas.csv", "1,,2\n")
    put("binary.txt", b"\x00\x01\x02\x03")
    put("values.txt", "1 2 3 4 5 6\n")
    put("keys.txt", "0 0 2 2 2 3\n")
    put("keys_unsorted.txt", "0 2 1 2 2 3\n")
    put("keys_negative.txt", "-1 0 1 2 2 3\n")
    put("keys_float.txt", "0 0 1.5 2 2 3\n")
    put("keys_few.txt", "0 0 2\n")
    put("keys.npy", array("u1", [0, 0, 2, 2, 2, 3], order="|"))
    put("offsets.txt", "0 2 2 6\n")
    put("offsets_inner.txt", "1 3 5\n")
    put("offsets_down.txt", "0 4 2 6\n")
    put("offsets_far.txt", "0 2 7\n")
    put("lengths.txt", "2 0 3 1\n")
    put("lengths_few.txt", "2 3\n")
    put("lengths_negative.txt", "7 -1\n")
    # raw
    put("raw.f32", pack("f4", [1.5, 2.5]))
    put("raw.bin", pack("i2", [1, -2, 3]))
    put("odd.f64", bytes(9))
    # larger, for streams: whole leaves, and a rest
    many = [((k * 7919) % 1000003) / 1000 for k in range(50001)]
    put("many.npy", array("f8", many))
    put("many.f64", pack("f8", many))
    put("many.txt", "".join(f"{x!r}\n" for x in many))
    put("many_f.npy", npy("'<f8'", "(7, 7143)", pack("f8", fortran(many, (7, 7143))), fortran=True))
    # tables
    put("sales.csv", 'region,day,price,qty,temp\nnorth,1,2.5,3,10\nsouth,1,1.25,4,-2\n"north",2,3.5,1,11\n'
        '"we""st, far",2,9,100,NA\nsouth,3,0.1,7,1e3\n')
    put("sales2.csv", "day,qty,price,region,temp\r\n4,5,6,east,\r\n")
    put("sales3.csv", "day,price\n1,2\n")
    put("sales.tsv", 'region\tqty\n"a\t1\nb,c\t2\n"a\t3\n')
    put("pairs.csv", "x,1\ny,2\nx,3\n")
    put("twice.csv", "a,2,a\n1,10,100\n")
    put("types.csv", "i,u,f,huge,both\n9007199254740993,18446744073709551615,0.1,1,-1\n"
        "2,0,1,99999999999999999999,18446744073709551615\n")
