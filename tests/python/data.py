"""Arrays to reduce: every type, ordinary values and the awkward ones."""
import struct

import numpy as np
from hypothesis import strategies as st

import tally
from conftest import SEED

FLAVOURS = {"bool": 2, "int": 2, "uint": 2, "float": 6}
SPECIALS = {2: [np.inf, -np.inf, 0.0, -0.0, 1e30, np.nan], 5: [-np.inf, 0.0, -0.0, 1e30]}
PAIRS = [(op, t) for t in tally.TYPES for op, row in tally.OPERATORS.items() if row.takes(t)]
NAMES = ["-".join(pair) for pair in PAIRS]


def generator(*words):
    return np.random.default_rng([SEED, *(sum(map(ord, word)) if isinstance(word, str) else word for word in words)])


def policies(op, type_name):
    if tally.TYPES[type_name].kind != "float":
        return ["propagate"]
    return ["propagate", "skip"] + (["total"] if tally.OPERATORS[op].nans == "TALLY_NANS_ORDER" else [])


def encode(type_name, values):
    """Floats as they lie in memory; those of bf16 are cut off, not rounded."""
    if type_name == "f16":
        return values.astype("f2").view("u2")
    if type_name == "bf16":
        return (values.astype("f4").view("u4") >> 16).astype("u2")
    return values.astype(tally.RAW[type_name])


def some_values(type_name, count, flavour, random):
    """flavour: 0 plain, 1 any bits; for floats 2 a few specials, 3 all -0, 4 all NaN, 5 specials without NaN."""
    row, raw = tally.TYPES[type_name], np.dtype(tally.RAW[type_name])
    if row.kind == "bool":
        return random.integers(0, [2, 256][flavour], count).astype("u1")
    if flavour == 1:
        return np.frombuffer(random.bytes(count * row.size), raw).copy()
    if row.kind != "float":
        return random.integers(0, 10, count).astype(raw)
    values = random.standard_normal(count) * 10
    if flavour in (2, 5) and count:
        where = random.integers(0, count, count // 50 + 1)
        values[where] = random.choice(SPECIALS[flavour], len(where))
    if flavour == 3:
        values[:] = -0.0
    if flavour == 4:
        values[:] = np.nan
    with np.errstate(over="ignore"):
        return encode(type_name, values)


def leaf_length(type_name):
    return 4096 // tally.TYPES[type_name].size


@st.composite
def problems(draw, most=100, ops=None):
    """An operator, a type it takes, options, and arrays of up to `most` values: bits by hypothesis."""
    op, type_name = draw(st.sampled_from([pair for pair in PAIRS if ops is None or pair[0] in ops]))
    nan = draw(st.sampled_from(policies(op, type_name)))
    row = tally.TYPES[type_name]
    if row.kind == "float":
        width, letter = {"f64": (64, "<d"), "f32": (32, "<f"), "bf16": (32, "<f"), "f16": (16, "<e")}[type_name]

        def bits_of(value):  # named, here and elsewhere: a lambda has hypothesis parse its file for each example
            return int.from_bytes(struct.pack(letter, value)[-row.size:], "little")
        one = st.floats(width=width).map(bits_of)
        one = one | st.integers(0, 2 ** (8 * row.size) - 1)
    else:
        one = st.integers(0, 2 ** (8 * row.size) - 1) | st.integers(0, 3)
    lists = st.lists(one, max_size=most)
    bits = draw(lists)
    x = np.array(bits, f"u{row.size}").view(tally.RAW[type_name])
    y = None
    if tally.OPERATORS[op].inputs == 2:
        y = np.array(draw(st.lists(one, min_size=len(bits), max_size=len(bits))), x.view(f"u{row.size}").dtype)
        y = y.view(tally.RAW[type_name])
    return op, type_name, nan, draw(st.integers(0, 3)), x, y


@st.composite
def long_problems(draw, leaves=3):
    """The same over up to `leaves` leaves: numpy's values, and specials where hypothesis puts them."""
    op, type_name = draw(st.sampled_from(PAIRS))
    nan = draw(st.sampled_from(policies(op, type_name)))
    count = draw(st.integers(0, leaves * leaf_length(type_name)))
    random = generator(draw(st.integers(0, 1000)))
    flavour = draw(st.integers(0, FLAVOURS[tally.TYPES[type_name].kind] - 1))
    x = some_values(type_name, count, flavour, random)
    y = some_values(type_name, count, flavour, random) if tally.OPERATORS[op].inputs == 2 else None
    return op, type_name, nan, draw(st.integers(0, 3)), x, y
