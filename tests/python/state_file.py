"""docs/states.md in Python: takes a saved state apart, puts one together, finishes a node; with nothing of Tally.
Exact nodes are read by exact_node.py."""
import dataclasses
import struct

import numpy as np

import order
from xxh3 import xxh3

HEADER = struct.Struct("<8sII32sHHIIIqqqqqqqq")
VERSION = 2
F64, I64 = "f64", "i64"
real = np.float64


@dataclasses.dataclass
class Saved:
    version: int
    type: str
    name: str
    nan: str
    exact: int
    ddof: int
    node_bytes: int
    value_bytes: int
    first: int
    end: int
    head_first: int
    leaf_begin: int
    leaf_end: int
    extra: bytes
    rungs: list  # (rank, leaf, node)
    head: list   # for each input: bytes
    tail: list


TYPES = ["", *order.SIZES, "struct"]  # by number
NANS = ["propagate", "skip", "total"]


def node_fields(op, type_name):
    """The types of a node's fields behind the count of values."""
    if order.ORACLES[op].fields:
        return order.ORACLES[op].fields(order.Problem(op, type_name, "propagate", 0))
    floats, size = type_name in order.FLOATS, 8 * order.SIZES[type_name]
    wide = "u64" if not floats else "f64" if type_name == "f64" else "f32"
    key = order.key_type(type_name)
    if not floats and op in ("sum", "norm1", "sumsq", "dot", "mean", "norm2", "var", "std", "stats"):
        few, more = ["u64", "u64"], ["u64"] * (3 if size == 64 else 2)
        return {"sum": few, "norm1": few, "mean": few, "sumsq": more, "norm2": more, "dot": more,
                "stats": [key, key] + few + more}.get(op, few + more)
    word = [f"u{size}"]
    fields = {"any": word, "all": word, "and": word, "or": word, "xor": word, "norminf": word,
              "sum": [wide], "prod": [wide], "norm1": [wide], "sumsq": [wide], "dot": [wide],
              "min": [key], "max": [key], "argmin": [key, I64], "argmax": [key, I64], "minmax": [key, key],
              "count": [I64], "mean": [F64], "norm2": [F64], "var": [F64, F64], "std": [F64, F64],
              "logsumexp": [F64, F64], "stats": [key, key, wide, F64, F64]}
    if op not in fields:
        raise ValueError(f"{op} has no node: name `fields` and `finish` in ORACLES of tests/python/order.py")
    return fields[op]


def parse(data, inputs):
    (magic, version, type_number, name, nan, exact, ddof, node_bytes, value_bytes, *where,
     head_count, tail_count, rung_count) = HEADER.unpack_from(data)
    if magic != b"TALLYST\0" or version != VERSION:
        raise ValueError("not a saved state")
    if int.from_bytes(data[-8:], "little") != xxh3(data[:-8]):
        raise ValueError("its bytes have changed")
    at = HEADER.size

    def take(count):
        nonlocal at
        at += count
        return data[at - count:at]

    extra = take(node_bytes)
    rungs = [(*struct.unpack("<qq", take(16)), take(node_bytes)) for _ in range(rung_count)]
    head = [take(head_count * value_bytes) for _ in range(inputs)]
    tail = [take(tail_count * value_bytes) for _ in range(inputs)]
    if at != len(data) - 8:
        raise ValueError("it is cut short or too long")
    return Saved(version, TYPES[type_number], name.rstrip(b"\0").decode(), NANS[nan], exact, ddof, node_bytes,
                 value_bytes, *where, extra, rungs, head, tail)


def build(s):
    data = HEADER.pack(b"TALLYST\0", s.version, TYPES.index(s.type), s.name.encode(), NANS.index(s.nan), s.exact,
                       s.ddof, s.node_bytes, s.value_bytes, s.first, s.end, s.head_first, s.leaf_begin, s.leaf_end,
                       len(s.head[0]) // s.value_bytes, len(s.tail[0]) // s.value_bytes, len(s.rungs))
    data += s.extra + b"".join(struct.pack("<qq", rank, leaf) + node for rank, leaf, node in s.rungs)
    data += b"".join(s.head) + b"".join(s.tail)
    return data + xxh3(data).to_bytes(8, "little")


# ---- nodes ----


def read_fields(op, type_name, node):
    """The count of values, then the fields: ints, or numpy floats."""
    values, at = [], 0
    for kind in [I64, *node_fields(op, type_name)]:
        size = int(kind[1:]) // 8
        raw = np.frombuffer(node, f"<{kind[0]}{size}", 1, at)[0]
        values.append(raw if kind[0] == "f" else int(raw))
        at += size
    if at != len(node):
        raise ValueError("the node has other fields")
    return values


def whole(words):
    """The number that words mean in two's complement."""
    return int.from_bytes(b"".join(order.pack("u64", word) for word in words), "little", signed=True)


def finish_integers(p, n, fields):
    """Of a node made of sums of integers."""
    if p.op in ("sum", "norm1", "sumsq", "dot"):
        return order.pack("u64", fields[0])
    if p.op == "mean":
        return order.pack(F64, whole(fields) / n if n else np.nan)
    if p.op == "norm2":
        return order.pack(F64, order.root(whole(fields)))
    keys, fields = (fields[:2], fields[2:]) if p.op == "stats" else ([], fields)
    total, squares = whole(fields[:2]), whole(fields[2:])
    apart, over = n * squares - total * total, n * (n - p.ddof)
    variance = np.nan if n <= p.ddof else order.root(apart, over) if p.op == "std" else apart / over
    if p.op != "stats":
        return order.pack(F64, variance)
    ends = [order.decode(p.type, int.from_bytes(order.winner(p.type, p.nan, n, key), "little")) for key in keys]
    return (
        order.pack("i64", n)
        + b"".join(order.pack(p.wide_type, end) for end in ends)
        + order.pack("u64", fields[0])
        + order.pack(F64, total / n if n else np.nan)
        + order.pack(F64, variance)
    )


def finish(op, type_name, nan, ddof, node):
    """The result of a node, as the bytes that tally_state_finish writes."""
    p = order.Problem(op, type_name, nan, ddof)
    n, *fields = read_fields(op, type_name, node)
    if not p.floats and op in ("sum", "norm1", "sumsq", "dot", "mean", "norm2", "var", "std", "stats"):
        return finish_integers(p, n, fields)
    first = fields[0]
    with np.errstate(all="ignore"):
        if order.ORACLES[op].finish:
            return order.ORACLES[op].finish(p, n, *fields)
        if op in ("sum", "norm1", "sumsq", "dot", "prod"):
            kind = p.magnitude_type if op in ("norm1", "sumsq") else p.wide_type
            return order.pack(kind, p.real(0) if p.floats and n == 0 and op != "prod" else first)
        if op in ("min", "max", "minmax"):
            return b"".join(order.winner(type_name, nan, n, key) for key in fields)
        if op in ("argmin", "argmax"):
            return order.pack(I64, fields[1] if n else -1)
        if op == "count":
            return order.pack(I64, first)
        if op in ("any", "all"):
            return order.pack("bool", first != 0)
        if op in ("and", "or", "xor"):
            return int(first & 1 if type_name == "bool" else first).to_bytes(p.size, "little")
        if op == "norminf":
            return order.pack(p.magnitude_type, order.decode(type_name, first) if p.floats else first)
        if op == "mean":
            return order.pack(p.real_type, p.real(first / real(n)))
        if op == "norm2":
            return order.pack(p.real_type, p.real(np.sqrt(first)))
        if op == "logsumexp":
            return order.pack(p.real_type, p.real(order.finish_logsumexp(*fields)))
        variance = fields[-1] / real(n - ddof) if n > max(ddof, 0) else real(np.nan)
        if op in ("var", "std"):
            return order.pack(p.real_type, p.real(np.sqrt(variance) if op == "std" else variance))
        word = F64 if p.floats else p.wide_type
        ends = [int.from_bytes(order.winner(type_name, nan, n, key), "little") for key in fields[:2]]
        words = [order.decode(type_name, raw) for raw in ends] + [fields[2] if n or not p.floats else p.real(0)]
        mean = fields[3] if n else real(np.nan)
        return (order.pack(I64, n) + b"".join(order.pack(word, real(w) if p.floats else w) for w in words) +
                order.pack(F64, mean) + order.pack(F64, variance))
