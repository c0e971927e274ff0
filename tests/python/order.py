"""docs/order.md in Python: every operator over every type, one value at a time, with nothing of Tally.

`reduce` gives the bytes of the result. Floats are numpy scalars, because their arithmetic is IEEE 754 of one width, to
nearest even, never contracted; integers are Python's, so that wrap-around is written where it happens. Values come as
the numbers 0 ... 2^bits - 1 that stand for their bits (`bits`), whatever their type.
"""
import dataclasses
import math
import struct
from collections.abc import Callable

import numpy as np

F32, F64 = np.float32, np.float64
LEAF_BYTES, STRIPE_BYTES, SMALL_LEAF, SMALL_COLUMNS, GROUP = 4096, 512, 64, 8, 7
SIZES = {"bool": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8, "f16": 2, "bf16": 2,
         "f32": 4, "f64": 8}
FLOATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}  # bits of exponent and fraction
RAW = {1: "u1", 2: "<u2", 4: "<u4", 8: "<u8"}


# ---- the shape ----


def leaf_tree(items, columns, combine):
    """The columns of one leaf top to bottom, then halves on halves."""
    column = list(items[:columns])
    for i in range(columns, len(items)):
        column[i % columns] = combine(column[i % columns], items[i])
    half = columns // 2
    while half:
        for c in range(len(column) - half):
            column[c] = combine(column[c], column[c + half])
        column = column[:half]
        half //= 2
    return column[0]


def pairs_tree(nodes, merge):
    """Neighbours, level by level; one without a neighbour goes up as it is."""
    while len(nodes) > 1:
        nodes = [merge(*nodes[i:i + 2]) if i + 1 < len(nodes) else nodes[i] for i in range(0, len(nodes), 2)]
    return nodes[0]


def columns_of(count, value_bytes):
    return SMALL_COLUMNS if count <= SMALL_LEAF else STRIPE_BYTES // value_bytes


def ordered_leaf(items, combine):
    """A leaf of an operator that does not commute: groups of seven, left to right, then neighbours."""
    groups = []
    for g in range(0, len(items), GROUP):
        group = items[g]
        for item in items[g + 1:g + GROUP]:
            group = combine(group, item)
        groups.append(group)
    return pairs_tree(groups, combine)


# ---- values ----


def bits(values):
    """A numpy array of any dtype as the numbers that its bytes are."""
    return np.ascontiguousarray(values).view(RAW[values.dtype.itemsize]).tolist()


def is_nan(type_name, raw):
    exponent, fraction = FLOATS[type_name]
    return raw & ((1 << (exponent + fraction)) - 1) > ((1 << exponent) - 1) << fraction


def decode(type_name, raw):
    """The number that bits mean: a Python int, or a float of the width that is computed in."""
    if type_name not in FLOATS:
        if type_name[0] == "u":
            return raw
        size = 8 * SIZES[type_name]
        return int(raw != 0) if type_name == "bool" else raw - (raw >> (size - 1) << size)
    size = 8 * SIZES[type_name]
    width = F64 if type_name == "f64" else F32
    exponent, fraction = FLOATS[type_name]
    sign = -1.0 if raw >> (size - 1) else 1.0
    power, significand = raw >> fraction & ((1 << exponent) - 1), raw & ((1 << fraction) - 1)
    if power == (1 << exponent) - 1:
        return width(math.nan if significand else math.copysign(math.inf, sign))
    bias = (1 << (exponent - 1)) - 1
    if power == 0:
        return width(math.copysign(math.ldexp(significand, 1 - bias - fraction), sign))
    return width(math.copysign(math.ldexp(significand | 1 << fraction, power - bias - fraction), sign))


def decode_all(type_name, raws):
    """decode of each. numpy reads floats: that takes less time."""
    size = SIZES[type_name]
    if type_name in FLOATS:
        words = np.array(raws, RAW[size])
        if type_name == "bf16":
            words = words.astype("<u4") << np.uint32(16)
        return list(words.view("<f2").astype(F32) if type_name == "f16" else words.view(F64 if size == 8 else F32))
    if type_name == "bool":
        return [int(raw != 0) for raw in raws]
    signs = 0 if type_name[0] == "u" else 1 << (8 * size - 1)
    return [(raw ^ signs) - signs for raw in raws]


def total_key(type_name, raw):
    """Orders like IEEE 754 totalOrder for floats (-NaN ... -0, +0 ... +NaN), by value for the rest."""
    if type_name not in FLOATS:
        return decode(type_name, raw)
    top = 8 * SIZES[type_name] - 1
    return -1 - (raw - (1 << top)) if raw >> top else raw


def pack(type_name, value):
    if type_name == "bool":
        return bytes([bool(value)])
    if type_name in FLOATS:
        if value != value:
            return {"f32": b"\0\0\xc0\x7f", "f64": b"\0\0\0\0\0\0\xf8\x7f"}[type_name]
        return struct.pack({"f32": "<f", "f64": "<d"}[type_name], value)
    return (int(value) % (1 << 8 * SIZES[type_name])).to_bytes(SIZES[type_name], "little")


def nan_bytes(type_name):
    """The NaN that results carry: quiet, positive, without payload."""
    exponent, fraction = FLOATS[type_name]
    raw = ((1 << exponent) - 1) << fraction | 1 << (fraction - 1)
    return raw.to_bytes(SIZES[type_name], "little")


class Problem:
    """What is reduced: the type, the widths it implies, and the policy."""

    def __init__(self, op, type_name, nan, ddof):
        self.op, self.type, self.nan, self.ddof = op, type_name, nan, ddof
        self.size, self.floats = SIZES[type_name], type_name in FLOATS
        self.skips = nan == "skip" and self.floats
        self.real_type = "f32" if self.floats and type_name != "f64" else "f64"
        self.real = {"f32": F32, "f64": F64}[self.real_type]
        unsigned = type_name[0] == "u"
        self.wide_type = self.real_type if self.floats else "u64" if unsigned else "i64"
        self.magnitude_type = self.real_type if self.floats else "u64"

    def present(self, raw):
        return not (self.skips and is_nan(self.type, raw))

    def leaves(self, values):
        length = LEAF_BYTES // self.size
        return [values[i:i + length] for i in range(0, len(values), length)]

    def leaf(self, items, combine):
        return leaf_tree(items, columns_of(len(items), self.size), combine)


def add(a, b):
    return a + b


# ---- sums and products ----


def summed(p, values, lift, finish_type, empty, absent, combine=add, wrap=True):
    """Operators whose accumulator is one number, of the same kind in the leaf and above it. values: tuples of bits."""
    nodes, count = [], 0
    for leaf in p.leaves(values):
        there = [all(map(p.present, v)) for v in leaf] if p.skips else [True] * len(leaf)
        numbers = zip(*(decode_all(p.type, raws) for raws in zip(*leaf)))
        items = [lift(*v) if t else absent for v, t in zip(numbers, there)]
        nodes.append(p.leaf(items, combine))
        count += sum(there)
    if p.floats and count == 0:
        return pack(finish_type, p.real(empty)), True
    return pack(finish_type, pairs_tree(nodes, combine) if nodes else empty), count == 0


def reduce_sum(p, values):
    minus_zero = p.real(-0.0) if p.floats else 0
    lift = {"sum": lambda v: v, "norm1": abs, "sumsq": lambda v: v * v, "dot": lambda v, w: v * w}[p.op]
    return summed(p, values, lift, p.magnitude_type if p.op in ("norm1", "sumsq") else p.wide_type, 0, minus_zero)


def reduce_prod(p, values):
    one = p.real(1) if p.floats else 1
    modulo = (lambda a, b: a * b) if p.floats else (lambda a, b: a * b % 2**64)
    return summed(p, values, lambda v: v, p.wide_type, 1, one, modulo)


# ---- integers: exact sums, one rounding ----


def root(above, below=1):
    """The square root of above / below, rounded once: Python rounds a quotient of integers correctly."""
    places = 700
    square, rest = divmod(above << 2 * places, below)
    whole = math.isqrt(square)
    return (2 * whole + (rest != 0 or whole * whole != square)) / (2 << places)


def integer_mean(p, values):
    v = decode_all(p.type, [raw for (raw,) in values])
    if p.op == "norm2":
        return pack("f64", root(sum(k * k for k in v))), not v
    return pack("f64", sum(v) / len(v) if v else math.nan), not v


def integer_moments(p, values):
    v = decode_all(p.type, [raw for (raw,) in values])
    n, whole = len(v), sum(v)
    if n <= p.ddof:
        return n, F64(whole / n) if n else F64(np.nan), F64(np.nan)
    apart, over = n * sum(k * k for k in v) - whole * whole, n * (n - p.ddof)
    return n, F64(whole / n), F64(root(apart, over) if p.op == "std" else apart / over)


# ---- mean and norm2: f64 above the leaf ----


def reduce_mean(p, values):
    """mean, norm2: what a leaf sums in the input's width is an f64 above it."""
    if not p.floats:
        return integer_mean(p, values)
    nodes, count = [], 0
    for leaf in p.leaves(values):
        items = []
        for (raw,), v in zip(leaf, decode_all(p.type, [raw for (raw,) in leaf])):
            v = v if p.op == "mean" else v * v
            items.append(v if p.present(raw) else p.real(-0.0 if p.op == "mean" else 0.0))
        nodes.append(F64(p.leaf(items, add)))
        count += sum(p.present(raw) for (raw,) in leaf)
    total = pairs_tree(nodes, add) if nodes else F64(0)
    if p.op == "mean":
        return pack(p.real_type, p.real(total / F64(count))), count == 0
    return pack(p.real_type, p.real(np.sqrt(total)) if count else p.real(0)), count == 0


# ---- moments ----


def leaf_moments(p, leaf):
    """The mean of one leaf and its sum of squared deviations, both f64, and the count of values behind them."""
    raws = [raw for (raw,) in leaf]
    numbers = list(zip(decode_all(p.type, raws), map(p.present, raws)))
    n = sum(there for _, there in numbers)
    first = p.leaf([p.real(v) if there else p.real(-0.0) for v, there in numbers], add)
    if n == 0:
        return 0, F64(0), F64(0)
    pivot = p.real(first) / p.real(n)
    rests = [p.real(v) - pivot if there else p.real(0) for v, there in numbers]
    rest = p.leaf(rests, add)
    squares = p.leaf([r * r for r in rests], add)
    if not np.isfinite(pivot):
        return n, F64(pivot), F64(np.nan)
    shift = F64(rest) / F64(n)
    deviations = F64(squares) - F64(rest) * shift
    return n, F64(pivot) + shift, F64(0) if deviations < 0 else deviations


def join_moments(a, b):
    (na, mean_a, squares_a), (nb, mean_b, squares_b) = a, b
    if na == 0:
        return b
    if nb == 0:
        return a
    share = F64(nb) / F64(na + nb)
    apart = mean_b - mean_a
    mean = mean_a + apart * share if np.isfinite(apart) else mean_a + mean_b
    return na + nb, mean, squares_a + squares_b + apart * apart * (F64(na) * share)


def moments(p, values):
    if not p.floats:
        return integer_moments(p, values)
    nodes = [leaf_moments(p, leaf) for leaf in p.leaves(values)]
    n, mean, squares = pairs_tree(nodes, join_moments) if nodes else (0, F64(0), F64(0))
    variance = squares / F64(n - p.ddof) if n > p.ddof else F64(np.nan)
    return n, (mean if n else F64(np.nan)), variance


def reduce_var(p, values):
    n, _, variance = moments(p, values)
    if not p.floats:
        return pack("f64", variance), n == 0
    return pack(p.real_type, p.real(np.sqrt(variance) if p.op == "std" else variance)), n == 0


def reduce_stats(p, values):
    n, mean, variance = moments(p, values)
    word = "f64" if p.floats else p.wide_type
    least, most = extreme(p, values, -1), extreme(p, values, 1)
    total, _ = reduce_sum(Problem("sum", p.type, p.nan, p.ddof), values)
    if p.floats:
        total = pack("f64", F64(np.frombuffer(total, "<f4" if p.real_type == "f32" else "<f8")[0]))
        least, most = (pack("f64", F64(decode(p.type, raw))) for raw in (least, most))
    else:
        least, most = (pack(word, decode(p.type, raw)) for raw in (least, most))
    return pack("i64", n) + least + most + total + pack("f64", mean) + pack("f64", variance), n == 0


# ---- order ----


def key_type(type_name):
    """The integer that orders like a value of the type (docs/states.md, K)."""
    return f"{'i' if type_name in FLOATS or type_name[0] == 'i' else 'u'}{8 * SIZES[type_name]}"


def value_of_key(type_name, key):
    """The bits that a key stands for: those of a negative float are flipped below its sign."""
    size = 8 * SIZES[type_name]
    if type_name in FLOATS and key < 0:
        key = -1 - key + 2 ** (size - 1)
    return key % 2**size


def winner(type_name, nan, n, key):
    raw = value_of_key(type_name, key)
    if type_name in FLOATS and (n == 0 or (nan != "total" and is_nan(type_name, raw))):
        return nan_bytes(type_name)
    return int(raw != 0 if type_name == "bool" else raw).to_bytes(SIZES[type_name], "little")


def extreme(p, values, direction):
    """The bits of the smallest (-1) or largest (1) value."""
    seen = [raw for (raw,) in values if p.present(raw)]
    if p.floats and p.nan != "total" and (not seen or any(is_nan(p.type, raw) for raw in seen)):
        return int.from_bytes(nan_bytes(p.type), "little")
    if not seen:
        if p.floats:
            return int.from_bytes(nan_bytes(p.type), "little")
        if p.type == "bool":
            return 1 if direction < 0 else 0
        ends = 1 << 8 * p.size
        low, high = (-ends // 2, ends // 2 - 1) if p.type[0] == "i" else (0, ends - 1)
        return (high if direction < 0 else low) % ends
    if p.type == "bool":
        seen = [int(raw != 0) for raw in seen]
    return max(seen, key=lambda raw: direction * total_key(p.type, raw))


def reduce_extreme(p, values):
    directions = {"min": [-1], "max": [1], "minmax": [-1, 1]}[p.op]
    empty = not any(p.present(raw) for (raw,) in values)
    return b"".join(extreme(p, values, d).to_bytes(p.size, "little") for d in directions), empty


def reduce_arg(p, values):
    best, place = None, -1
    for i, (raw,) in enumerate(values):
        if not p.present(raw):
            continue
        if p.floats and p.nan == "propagate" and is_nan(p.type, raw):
            return pack("i64", i), False
        key = total_key(p.type, raw) * (1 if p.op == "argmax" else -1)
        if best is None or key > best:
            best, place = key, i
    return pack("i64", place), place < 0


def reduce_norminf(p, values):
    seen = decode_all(p.type, [raw for (raw,) in values if p.present(raw)])
    most = p.real(0) if p.floats else 0
    for v in seen:
        most = abs(v) if v != v or abs(v) > most else most
        if most != most:
            break
    return pack(p.magnitude_type, most), not seen


# ---- truth and bits ----


def reduce_truth(p, values):
    """any, all, count: a NaN is not zero, and a NaN that is skipped is not there."""
    there = [v != 0 for v in decode_all(p.type, [raw for (raw,) in values if p.present(raw)])]
    result = {"any": any, "all": all, "count": sum}[p.op](there)
    return pack("i64" if p.op == "count" else "bool", result), not there


def reduce_bits(p, values):
    mask = 1 if p.type == "bool" else (1 << 8 * p.size) - 1
    result = mask if p.op == "and" else 0
    for (raw,) in values:
        raw = int(raw != 0) if p.type == "bool" else raw
        result = result & raw if p.op == "and" else result | raw if p.op == "or" else result ^ raw
    return result.to_bytes(p.size, "little"), not values


# ---- logsumexp ----

EXP = {
    F32: dict(magic=12582912.0, bits=32, fraction=23, view=(np.uint32, np.float32), least=-87.0, most=88.0,
              inverse="0x1.715476p+0", high="0x1.62e400p-1", low="0x1.7f7d1cp-20",
              terms="0x1.6d7532p-10 0x1.126fa6p-7 0x1.5554acp-5 0x1.555404p-3 0x1p-1 0x1p+0 0x1p+0"),
    F64: dict(magic=6755399441055744.0, bits=64, fraction=52, view=(np.uint64, np.float64), least=-708.0, most=709.0,
              inverse="0x1.71547652b82fep+0", high="0x1.62e42fee00000p-1", low="0x1.a39ef35793c76p-33",
              terms="0x1.af631d0059becp-26 0x1.28b4057f44145p-22 0x1.71ddf5749d126p-19 0x1.a01991ac8730ap-16 "
                    "0x1.a01a01b14378fp-13 0x1.6c16c187fbe02p-10 0x1.111111110f225p-7 0x1.555555554f0cfp-5 "
                    "0x1.555555555555ap-3 0x1.0000000000011p-1 0x1p+0 0x1p+0"),
}
for _width, _e in EXP.items():
    _e["terms"] = [_width(float.fromhex(term)) for term in _e["terms"].split()]
    for _name in ("inverse", "high", "low"):
        _e[_name] = _width(float.fromhex(_e[_name]))
    _e["magic"] = _width(_e["magic"])


def exp(x):
    width = type(x)
    e = EXP[width]
    if x != x or x > e["most"]:
        return x
    if x < e["least"]:
        return width(0)
    shifted = x * e["inverse"] + e["magic"]
    n = shifted - e["magic"]
    r = (x - n * e["high"]) - n * e["low"]
    polynomial = e["terms"][0]
    for term in e["terms"][1:]:
        polynomial = polynomial * r + term
    integer, real = e["view"]
    scaled = int(polynomial.view(integer)) + (int(shifted.view(integer)) << e["fraction"])
    return integer(scaled % (1 << e["bits"])).view(real)


LN2_HIGH, LN2_LOW = F64(float.fromhex("0x1.62e42fee00000p-1")), F64(float.fromhex("0x1.a39ef35793c76p-33"))


def log(x):
    if x == 0:
        return F64(-np.inf)
    if not np.isfinite(x):
        return x
    raw = int(x.view(np.int64))
    n = (raw - 0x3FE6A09E667F3BCD) >> 52
    m = np.int64(raw - (n << 52)).view(F64)
    s = (m - F64(1)) / (m + F64(1))
    z = s * s
    p = F64(1) / F64(21)
    for k in range(19, 2, -2):
        p = p * z + F64(1) / F64(k)
    p = p * z * s + s
    return F64(2) * p + F64(n) * LN2_LOW + F64(n) * LN2_HIGH


def finish_logsumexp(most, total):
    if total == 0:
        return F64(-np.inf)
    return most + log(total) if np.isfinite(most) else log(total)


def reduce_logsumexp(p, values):
    def leaf_node(leaf):
        numbers = decode_all(p.type, [raw for (raw,) in leaf])
        most = max((v for v in numbers if v == v), default=p.real(-np.inf))
        pivot = most if np.isfinite(most) else p.real(0)
        items = [exp(v - pivot) if p.present(raw) else p.real(0) for v, (raw,) in zip(numbers, leaf)]
        return F64(most), F64(p.leaf(items, add))

    def merge(a, b):
        most = max(a[0], b[0])
        return most, add(*(total if m == most else total * exp(m - most) for m, total in (a, b)))

    count = sum(p.present(raw) for (raw,) in values)
    nodes = [leaf_node(leaf) for leaf in p.leaves(values)]
    most, total = pairs_tree(nodes, merge) if nodes else (F64(-np.inf), F64(0))
    return pack(p.real_type, p.real(finish_logsumexp(most, total))), count == 0


@dataclasses.dataclass
class Oracle:
    """What an operator gives, and what its node holds (docs/states.md).

    reduce(problem, values): the bytes of the result, and whether no value was present.
    fields(problem): the types of a node's fields behind the count of values ("u8", "i64", "f32" ...).
    finish(problem, n, *fields): the bytes of a node's result. state_file.py has both for the operators that leave them
    out here. A new operator names all three: of a node of two keys, for example,

        "range": Oracle(reduce_range, lambda problem: [key_type(problem.type)] * 2, finish_range)

    where finish_range(problem, n, low, high) makes numbers of the keys by value_of_key.
    """

    reduce: Callable
    fields: Callable | None = None
    finish: Callable | None = None


ORACLES = {
    **dict.fromkeys(("sum", "norm1", "sumsq", "dot"), Oracle(reduce_sum)),
    "prod": Oracle(reduce_prod),
    **dict.fromkeys(("min", "max", "minmax"), Oracle(reduce_extreme)),
    **dict.fromkeys(("argmin", "argmax"), Oracle(reduce_arg)),
    **dict.fromkeys(("any", "all", "count"), Oracle(reduce_truth)),
    **dict.fromkeys(("and", "or", "xor"), Oracle(reduce_bits)),
    **dict.fromkeys(("mean", "norm2"), Oracle(reduce_mean)),
    **dict.fromkeys(("var", "std"), Oracle(reduce_var)),
    "stats": Oracle(reduce_stats),
    "norminf": Oracle(reduce_norminf),
    "logsumexp": Oracle(reduce_logsumexp),
}


def reduce(op, type_name, x, y=None, nan="propagate", ddof=0):
    """The bytes of the result, and whether no value was present. x, y: numpy arrays, any dtype of the type's size."""
    values = list(zip(bits(x))) if y is None else list(zip(bits(x), bits(y)))
    with np.errstate(all="ignore"):
        return ORACLES[op].reduce(Problem(op, type_name, nan, ddof), values)
