"""The CPU and the simulated GPU, on random rows and segments of floats with everything that sums find hard: the same
bits. Lengths are around those where a GPU changes from one kernel to another (docs/design/012)."""
import numpy as np
import pytest

import data
import tally

CPU, SIMT = 1, 4  # tally_backend
CASES = 100  # of each test
OPERATORS = ["sum", "mean", "norm1", "norm2", "sumsq", "var", "std", "stats"]
FRACTION = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7}
LENGTHS = [1, 2, 3, 5, 8, 10, 16, 17, 31, 33, 64, 65, 100, 127, 129, 190, 255, 300, 380]
INNER = [1, 1, 1, 2, 3, 4, 8, 33, 64, 257]
SPECIALS = [[np.inf], [-np.inf], [np.inf, -np.inf], [np.nan], [np.inf, -np.inf, np.nan]]
contexts = {}


def context(backend, nan, ddof, accuracy):
    key = backend, nan, ddof, accuracy
    if key not in contexts:
        contexts[key] = tally.Context(backend=backend, nan=nan, ddof=ddof, accuracy=accuracy)
    return contexts[key]


def bits_of(type_name, exponents, random):
    """Floats of such exponents, as bits are, with any fraction and sign."""
    raw, fraction = np.dtype(tally.RAW[type_name]), FRACTION[type_name]
    sign = 8 * raw.itemsize - 1
    unsigned = np.dtype(f"u{raw.itemsize}")
    low = random.integers(0, 2**fraction, len(exponents), dtype="u8")
    signs = random.integers(0, 2, len(low), "u8") << np.uint64(sign)
    bits = low | exponents.astype("u8") << np.uint64(fraction) | signs
    return bits.astype(unsigned).view(raw)


def hard_values(type_name, count, random):
    raw = np.dtype(tally.RAW[type_name])
    infinite = 2 ** (8 * raw.itemsize - 1 - FRACTION[type_name]) - 1
    kind = random.integers(10)
    if kind < 3:
        exponents = [np.full(count, infinite - 1), np.zeros(count), random.integers(0, infinite, count)][kind]
        x = bits_of(type_name, exponents, random)
    else:
        ties = random.choice([1, 2.0 ** -FRACTION[type_name], 2.0 ** -(FRACTION[type_name] + 1), -1], count)
        spread = 10 if type_name == "f16" else 60
        wide = random.standard_normal(count) * 2.0 ** random.integers(-spread, spread + 1, count)
        cancelling = np.where(np.arange(count) % 2 == 0, wide, -np.roll(wide, 1))
        zeros = random.choice([0.0, -0.0], count)
        same = np.full(count, random.choice([1.1, -3e-5, -0.0]))
        normal = random.standard_normal(count)
        x = data.encode(type_name, [ties, wide, cancelling, zeros, same, normal, normal][kind - 3])
    if random.random() < 0.4:
        where = random.random(count) < random.choice([0.3, 0.01, 0.002])
        specials = random.choice(SPECIALS[random.integers(len(SPECIALS))], count)
        x = np.where(where, data.encode(type_name, specials), x)
    return x


def check(op, type_name, x, segmentation, seen, accuracy="best", **shape):
    nan, ddof = seen
    found = [context(b, nan, ddof, accuracy).segments(op, type_name, x, segmentation, **shape) for b in (CPU, SIMT)]
    cpu, simt = ([bytes(result) for result in one.bytes] for one in found)
    assert found[0].status == found[1].status
    other = [i for i in range(len(cpu)) if cpu[i] != simt[i]]
    assert not other, f"{op} {type_name} {nan} ddof {ddof}: results {other[:5]} of {len(cpu)}"


def choices(random):
    return (
        str(random.choice(OPERATORS)),
        str(random.choice(list(FRACTION))),
        (str(random.choice(["propagate", "skip"])), int(random.integers(3))),
    )


@pytest.mark.parametrize("seed", range(2))
def test_rows(seed):
    random = data.generator("rows", seed)
    for _ in range(CASES):
        op, type_name, seen = choices(random)
        length, inner = int(random.choice(LENGTHS)), int(random.choice(INNER))
        outer = int(random.choice([1, 3, 40, 200])) if inner == 1 else int(random.choice([1, 3, 9]))
        x = hard_values(type_name, outer * length * inner, random)
        check(op, type_name, x, "rows", seen, count=outer, length=length, inner=inner)


@pytest.mark.parametrize("seed", range(2))
def test_segments(seed):
    random = data.generator("segments", seed)
    for _ in range(CASES):
        op, type_name, seen = choices(random)
        count, mean = int(random.choice([1, 7, 60, 400])), float(random.choice([1, 3, 12, 60, 300]))
        lengths = random.geometric(1 / (mean + 1), count) - 1
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(random.choice(["i4", "i8"]))
        x = hard_values(type_name, int(offsets[-1]), random)
        check(op, type_name, x, "offsets", seen, index=offsets)


@pytest.mark.parametrize("op", ["var", "std", "stats", "logsumexp"])
def test_read_twice(op):
    """Operators that read a leaf twice, in canonical order: lengths around those where a GPU goes from one thread for a
    segment to 8 lanes and to a warp, alone and mixed, from anywhere."""
    random = data.generator("read twice", op)
    for length in (1, 4, 5, 8, 9, 16, 17, 33, 63, 64, 65, 100, 0, 0, 0, 0):
        _, type_name, seen = choices(random)
        count, start = int(random.choice([3, 40, 700])), int(random.integers(16))
        lengths = np.full(count, length) if length else random.geometric(1 / random.choice([3, 12, 40]), count) - 1
        ends = np.concatenate([[0], np.cumsum(lengths)]).astype("i4")
        x = hard_values(type_name, start + int(ends[-1]), random)
        check(op, type_name, x, "offsets", seen, accuracy="fast", index=start + ends)


@pytest.mark.parametrize("op", OPERATORS)
def test_largest(op):
    """Sums that overflow f64 on their way, in equal segments, with and without an infinity of the other sign."""
    random = data.generator("largest", 0)
    for length in (1, 2, 3, 8, 9, 40, 700):
        for type_name in ("f64", "f32"):
            count = max(2800 // length, 64)
            offsets = np.arange(count + 1, dtype="i4") * length
            infinite = 2 ** (8 * np.dtype(tally.RAW[type_name]).itemsize - 1 - FRACTION[type_name]) - 1
            x = bits_of(type_name, np.full(count * length, infinite - 1), random)
            x = np.where(random.random(len(x)) < random.choice([0, 0.5, 0.9]), -np.abs(x), np.abs(x))
            x = np.where(random.random(len(x)) < 0.2 / length, x.dtype.type(np.inf), x)
            check(op, type_name, x, "offsets", ("propagate", 0), index=offsets)


@pytest.mark.parametrize("type_name", FRACTION)
def test_cancelling_apart(type_name):
    """Large values that others far behind them cancel, so that what is left is small."""
    random = data.generator("cancelling", type_name)
    for length in (3, 7, 9, 30, 100, 700, 3000):
        count, outer = max(2000 // length, 5), length // 3
        spread = random.integers(0, 12 if type_name == "f16" else 60, (count, outer))
        large = random.standard_normal((count, outer)) * 2.0**spread
        x = random.standard_normal((count, length))
        x[:, :outer], x[:, length - outer :] = large, -large[:, ::-1]
        x = data.encode(type_name, x.reshape(-1))
        offsets = np.arange(count + 1, dtype="i4") * length
        for op in ("sum", "mean", "norm1", "var", "stats"):
            check(op, type_name, x, "offsets", ("propagate", 0), index=offsets)


@pytest.mark.parametrize("type_name", FRACTION)
def test_cancelling_powers(type_name):
    """Powers of two of all sizes, each beside its negative, in any order, around a 1 that is left."""
    random = data.generator("powers", type_name)
    least, most = {"f16": (-6, 7), "bf16": (-60, 60), "f32": (-60, 60), "f64": (-500, 500)}[type_name]
    for length in (5, 9, 21, 71):
        count = max(3000 // length, 60)
        powers = 2.0 ** random.integers(least, most, (count, length // 2))
        x = random.permuted(np.concatenate([powers, -powers, np.ones((count, 1))], axis=1), axis=1)
        x = data.encode(type_name, x.reshape(-1))
        offsets = np.arange(count + 1, dtype="i4") * length
        for op in OPERATORS:
            check(op, type_name, x, "offsets", ("propagate", 1), index=offsets)
            check(op, type_name, x, "rows", ("propagate", 1), count=count, length=length, inner=1)


@pytest.mark.parametrize("type_name", FRACTION)
def test_near(type_name):
    """Values of a segment that differ by some units in the last place: nearly all of a spread cancels."""
    random = data.generator("near", type_name)
    unsigned = np.dtype(f"u{np.dtype(tally.RAW[type_name]).itemsize}")
    for length in (2, 3, 5, 20, 70):
        count = max(2000 // length, 100)
        firsts = data.encode(type_name, random.standard_normal(count)).view(unsigned)
        x = (firsts[:, None] + random.integers(0, 9, (count, length), dtype=unsigned)).view(tally.RAW[type_name])
        offsets = np.arange(count + 1, dtype="i4") * length
        for op in OPERATORS:
            for ddof in (0, 1):
                seen = "propagate", ddof
                check(op, type_name, x.reshape(-1), "offsets", seen, index=offsets)
                check(op, type_name, x.reshape(-1), "rows", seen, count=count, length=length, inner=1)
                check(op, type_name, x.T.reshape(-1), "rows", seen, count=1, length=length, inner=count)
