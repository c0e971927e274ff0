"""The values of a cell: a block of random ones, which is repeated.

Values are numpy arrays as they lie in memory: bf16 and f16 as their bits.
"""

import numpy as np

BLOCK = 1 << 20
TURN = 4099  # values by which a block's copies are turned: else columns of an array as wide as it hold one value
RAW = {
    "f64": "f8",
    "f32": "f4",
    "f16": "u2",
    "bf16": "u2",
    "i64": "i8",
    "i32": "i4",
    "i16": "i2",
    "u8": "u1",
    "bool": "u1",
}
FLOATS = {"f64": (52, 11), "f32": (23, 8), "f16": (10, 5), "bf16": (7, 8)}  # bits of the fraction, of the exponent
WIDE = {"f16": 10}  # binades to either side, where 60 are too many
SPREAD = 30  # of normal integers; those of u8 are folded to 0 and up


def size(type):
    return np.dtype(RAW[type]).itemsize


def from_f64(x, type):
    """Floats of the type, to nearest even."""
    if type in ("f64", "f32"):
        return x.astype(RAW[type])
    if type == "f16":
        return x.astype("f2").view("u2")
    bits = x.astype("f4").view("u4").astype("u8")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("u2")


def _bits(random, type, count):
    width = size(type)
    return random.integers(0, 256, count * width, "u1").view(f"u{width}")


def _finite_bits(random, type, count):
    bits = _bits(random, type, count)
    if type in FLOATS:
        fraction, exponent = FLOATS[type]
        ones = bits.dtype.type(((1 << exponent) - 1) << fraction)
        bits[bits & ones == ones] ^= bits.dtype.type(1 << fraction + exponent - 1)
    return bits.view(RAW[type])


def _subnormal(random, type, count):
    bits = _bits(random, type, count)
    fraction, exponent = FLOATS[type]
    return (bits & bits.dtype.type(1 << fraction + exponent | (1 << fraction) - 1)).view(RAW[type])


def _integers(random, type, kind, count):
    x = random.standard_normal(count)
    if kind == "signs":
        return np.where(x < 0, 1 if type in ("u8", "bool") else -1, 1).astype(RAW[type])
    if type == "bool":
        return (x < 0).astype("u1")
    x = np.rint(SPREAD * x)
    return np.minimum(np.abs(x), 255).astype("u1") if type == "u8" else x.astype(RAW[type])


def _floats(random, type, kind, count):
    if kind == "uniform":
        return from_f64(random.random(count), type)
    if kind == "cents":
        return from_f64(
            (
                random.integers(-100_000, 100_000, count) / 100
                if type != "f16"
                else random.integers(-1000, 1000, count) / 100
            ),
            type,
        )
    x = random.standard_normal(count)
    if kind == "signs":
        x = np.copysign(1.0, x)
    if kind == "wide":
        reach = WIDE.get(type, 60)
        x = np.ldexp(x, random.integers(-reach, reach + 1, count))
    if kind == "NaN in 1000":
        x[random.integers(0, 1000, count) == 0] = np.nan
    return from_f64(x, type)


def block(type, kind, seed=1, count=BLOCK):
    random = np.random.default_rng(seed)
    if kind == "zeros":
        return np.zeros(count, RAW[type])
    if kind == "any bits":
        return _finite_bits(random, type, count)
    if kind == "subnormal":
        return _subnormal(random, type, count)
    return (_floats if type in FLOATS else _integers)(random, type, kind, count)


def single(type, kind):
    """What one value of the whole is instead, a third of the way; None: nothing."""
    return from_f64(np.array([np.inf]), type) if kind == "one inf" else None
