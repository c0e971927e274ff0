"""Exact sums of floats: the true value rounded once, whatever the order, the segments, the threads.

Against truth.py (Python's whole numbers), math.fsum, and what must hold of any exact sum (Neal, "Fast exact summation
using small and large superaccumulators", 2015)."""
import math
import random
import struct
import subprocess
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import data
import order
import tally
import truth

INF, NAN = math.inf, math.nan
FLOATS = tuple(order.FLOATS)
CONTEXTS = {}


def context(**options):
    key = tuple(sorted(options.items()))
    if key not in CONTEXTS:
        CONTEXTS[key] = tally.Context(**options)
    return CONTEXTS[key]


def raw_array(type_name, bits):
    return np.array(bits, f"u{order.SIZES[type_name]}").view(tally.RAW[type_name])


def f64(values):
    return np.array(values, "f8")


def sum_of(x, type_name="f64", op="sum", out=None, **options):
    """As a Python float."""
    found = context(**options).reduce(op, type_name, x, out=out).bytes[0]
    return float(order.decode(out or truth.natural(type_name), int.from_bytes(found, "little")))


def same(a, b):
    """The same float, sign of zero included; NaN is NaN."""
    return struct.pack("<d", a) == struct.pack("<d", b) or (a != a and b != b)


# ---- the oracle ----


def test_roundings_of_the_oracle():
    """Where Python, its square root and NumPy's casts round as well, they agree."""
    draw = random.Random(1)
    for turn in range(3000):
        value = Fraction(draw.getrandbits(draw.randint(1, 150)), draw.getrandbits(60) | 1)
        value *= Fraction(2) ** draw.randint(-1150, 1050)
        try:
            wanted = value.numerator / value.denominator
        except OverflowError:
            wanted = INF
        assert order.decode("f64", truth.nearest("f64", value.numerator, value.denominator)) == wanted
        x = math.ldexp(draw.random(), draw.randint(-1080, 1023))
        assert order.decode("f64", truth.nearest_root("f64", *x.as_integer_ratio())) == math.sqrt(x)
        power = draw.randint(-160, 130) if turn % 2 else draw.randint(-26, 17)
        x = math.ldexp(draw.choice([-1, 1]) * draw.random(), power)
        with np.errstate(over="ignore"):
            for type_name in ("f16", "f32"):
                cast = np.array([x], "f8").astype(tally.TYPES[type_name].numpy)
                if x:
                    assert truth.nearest(type_name, *x.as_integer_ratio()) == order.bits(cast)[0], (type_name, x)


# ---- any values ----


@st.composite
def awkward(draw, type_name, most=40):
    """Bits that a fast path might be wrong about: any, near one another, cancelling, subnormal, extreme, special."""
    exponent, fraction = order.FLOATS[type_name]
    sign, infinity = 1 << (exponent + fraction), ((1 << exponent) - 1) << fraction
    finite = st.integers(0, infinity - 1)
    base = draw(st.integers(0, (1 << exponent) - 2))

    def near(step, rest):
        return min(max(base + step, 0), (1 << exponent) - 2) << fraction | rest

    def power(field):
        return field << fraction
    kinds = {
        "any": finite,
        "near": st.builds(near, st.integers(-3, 3), st.integers(0, (1 << fraction) - 1)),
        "subnormal": st.integers(0, 3 << fraction),
        "extreme": st.sampled_from([infinity - 1, infinity - 2, infinity >> 1, 1, 2, 0, base << fraction]),
        "powers": st.integers(0, (1 << exponent) - 2).map(power),
        "zero": st.just(0),
    }
    one = kinds[draw(st.sampled_from(list(kinds)))]
    one = draw(st.sampled_from([one, one | finite]))
    flags = st.sampled_from([0, sign])
    if draw(st.booleans()):
        flags = st.just(draw(flags))
    bits = [k | s for k, s in draw(st.lists(st.tuples(one, flags), max_size=most))]
    if draw(st.booleans()):  # cancel all but a little, far apart
        bits += [k ^ sign for k in bits[:draw(st.integers(0, len(bits)))]]
    if draw(st.integers(0, 4)) == 0:
        nans = infinity | 1, infinity | sign | 1 << (fraction - 1)
        specials = st.sampled_from([infinity, infinity | sign, *nans, 0, sign])
        for special in draw(st.lists(specials, max_size=3)):
            bits.insert(draw(st.integers(0, len(bits))), special)
    return raw_array(type_name, bits)


@st.composite
def sums(draw, ops=truth.TOTALS, most=40):
    """An operator made of sums, a float type, options, arrays."""
    op, type_name = draw(st.sampled_from(ops)), draw(st.sampled_from(FLOATS))
    x, y = draw(awkward(type_name, most)), None
    if op == "dot":
        y = np.resize(draw(awkward(type_name, most)), len(x)) if draw(st.booleans()) else x[::-1].copy()
    return op, type_name, draw(st.sampled_from(["propagate", "skip"])), draw(st.integers(0, 2)), x, y


@given(sums(), st.sampled_from([None, *FLOATS]), st.sampled_from([0, 2]))
@settings(max_examples=600)
def test_any_values(problem, out, backend):
    op, type_name, nan, ddof, x, y = problem
    out = None if op == "stats" else out
    expected, empty = truth.reduce(op, type_name, x, y, nan, ddof, out)
    found = context(nan=nan, ddof=ddof, backend=backend).reduce(op, type_name, x, y, out=out)
    refused = empty and tally.OPERATORS[op].empty == "TALLY_EMPTY_IS_REFUSED"
    assert (found.bytes, found.status) == ([expected], "EMPTY" if refused else "OK")


@given(sums(), st.data())
@settings(max_examples=300)
def test_any_cut(problem, draws):
    op, type_name, nan, ddof, x, y = problem
    on = context(nan=nan, ddof=ddof)
    cuts = sorted(draws.draw(st.lists(st.integers(0, len(x)), max_size=5)))
    found = on.segments(op, type_name, x, "offsets", np.array([0, *cuts, len(x)]), y=y).bytes
    for a, b, one in zip([0, *cuts], [*cuts, len(x)], found):
        assert one == truth.reduce(op, type_name, x[a:b], None if y is None else y[a:b], nan, ddof)[0], (a, b)
    inner = draws.draw(st.integers(1, 7))
    x, y = (None if v is None else v[:len(v) // inner * inner] for v in (x, y))
    found = on.segments(op, type_name, x, "rows", None, 1, len(x) // inner, inner, y=y).bytes
    for k, one in enumerate(found):
        expected, _ = truth.reduce(op, type_name, x[k::inner], None if y is None else y[k::inner], nan, ddof)
        assert one == expected, (k, inner)


def wide_values(type_name, count, flavour, random):
    """More flavours than data.py has: 6 few exponents, 7 many, 8 cancelling far apart, 9 with rare outliers."""
    if flavour < 6:
        return data.some_values(type_name, count, flavour, random)
    reach = {"f16": 14, "bf16": 120, "f32": 120, "f64": 1000}[type_name]
    powers = random.integers(-reach, reach, count) if flavour != 6 else random.integers(-reach // 8, reach // 8, count)
    if flavour == 9:
        powers[random.random(count) < 0.99] = 0
    values = np.ldexp(random.random(count) * random.choice([-1, 1], count), powers)
    if flavour == 8:
        values[count // 2:2 * (count // 2)] = -values[:count // 2]
    return data.encode(type_name, values)


@pytest.mark.parametrize("type_name", FLOATS)
@pytest.mark.parametrize("op", truth.TOTALS)
def test_many_values(op, type_name):
    """Long enough for whole tiles, several of them, threads, and a rest; strided and from any address too."""
    for flavour, count in enumerate((3000, 700, 1500, 2000, 600, 2500, 3000, 2100, 3100, 2300)):
        random_ = data.generator("exact", op, type_name, flavour)
        nan = "propagate" if flavour % 2 else "skip"
        arrays = [wide_values(type_name, count, flavour, random_) for _ in range(tally.OPERATORS[op].inputs)]
        expected, _ = truth.reduce(op, type_name, *arrays, nan=nan, ddof=1)
        for threads in (1, 2):
            on = context(nan=nan, ddof=1, threads=threads)
            assert on.reduce(op, type_name, *arrays).bytes == [expected], (flavour, threads)
        apart = [np.repeat(v, 2)[::2] for v in arrays]
        assert on.reduce(op, type_name, *apart).bytes == [expected], (flavour, "strided")
        backwards = [v[::-1] for v in arrays]
        assert on.reduce(op, type_name, *backwards).bytes == [expected], (flavour, "backwards")
        state = on.state(op, type_name)
        for a, b in ((0, 1), (1, count // 3), (count // 3, count)):
            state.push(*(v[a:b] for v in arrays))
        assert state.finish().bytes == [expected], (flavour, "state")


# ---- CPython's math.fsum ----

TELESCOPE = [1.7**i for i in range(1001)]
FSUM = [  # from CPython's Lib/test/test_math.py, testFsum
    ([], 0.0),
    ([0.0], 0.0),
    ([1e100, 1.0, -1e100, 1e-100, 1e50, -1.0, -1e50], 1e-100),
    ([2.0**53, -0.5, -2.0**-54], 2.0**53 - 1.0),
    ([2.0**53, 1.0, 2.0**-100], 2.0**53 + 2.0),
    ([2.0**53 + 10.0, 1.0, 2.0**-100], 2.0**53 + 12.0),
    ([2.0**53 - 4.0, 0.5, 2.0**-54], 2.0**53 - 3.0),
    ([1 / n for n in range(1, 1001)], float.fromhex("0x1.df11f45f4e61ap+2")),
    ([(-1.0)**n / n for n in range(1, 1001)], float.fromhex("-0x1.62a2af1bd3624p-1")),
    ([1e16, 1.0, 1e-16], 10000000000000002.0),
    ([1e16 - 2.0, 1.0 - 2.0**-53, -(1e16 - 2.0), -(1.0 - 2.0**-53)], 0.0),
    ([2.0**n - 2.0**(n + 50) + 2.0**(n + 52) for n in range(-1074, 972, 2)] + [-2.0**1022],
     float.fromhex("0x1.5555555555555p+970")),
    ([b - a for a, b in zip(TELESCOPE, TELESCOPE[1:])] + [-TELESCOPE[1000]], -TELESCOPE[0]),
    # where fsum gives up, or says so by an exception
    ([INF, 1.0], INF),
    ([-INF, -INF, 1e308], -INF),
    ([INF, -INF], NAN),
    ([NAN, INF], NAN),
    ([1e308, 1e308], INF),
    ([1e308, 1e308, -1e308], 1e308),
    ([1e308] * 1000 + [-1e308] * 999, 1e308),
]


@pytest.mark.parametrize("values,wanted", FSUM, ids=range(len(FSUM)))
def test_fsum_vectors(values, wanted):
    for x in (values, values[::-1], sorted(values)):
        for backend in (0, 2):
            assert same(sum_of(f64(x), backend=backend), wanted)
        assert sum_of(-f64(x)) == -wanted or wanted != wanted


def test_fsum_random():
    """CPython's random test: long cancelling sums; and plain numbers, enough of them for threads."""
    draw = random.Random(7)
    for _ in range(40):
        values, running = [7, 1e100, -7, -1e100, -9e-20, 8e-20] * 10, 0.0
        for _ in range(200):
            value = draw.gauss(0, draw.random()) ** 7 - running
            running += value
            values.append(value)
        draw.shuffle(values)
        assert sum_of(f64(values)) == math.fsum(values)
    for number, make in enumerate([lambda r, n: r.standard_normal(n), lambda r, n: r.random(n) - 0.5,
                                   lambda r, n: np.ldexp(r.random(n) - 0.5, r.integers(-300, 300, n)),
                                   lambda r, n: np.exp(8 * r.standard_normal(n)) * r.choice([-1, 1], n)]):
        x = make(data.generator("fsum", number), 200_003)
        wanted = math.fsum(x)
        for threads in (1, 2, 3):
            assert sum_of(x, threads=threads) == wanted
        assert sum_of(x, op="norm1") == math.fsum(abs(x))
        narrow = np.ldexp(np.frexp(x)[0], np.frexp(x)[1] // 4).astype("f4")
        assert sum_of(narrow, "f32", out="f64") == math.fsum(narrow.astype("f8"))


@given(st.lists(st.floats(-1e300, 1e300), max_size=100))
@settings(max_examples=500)
def test_fsum_any(values):
    wanted = math.fsum(values)
    found = sum_of(f64(values))
    assert found == wanted
    if values and all(v == 0 and math.copysign(1, v) < 0 for v in values):
        assert same(found, -0.0)  # where fsum says +0
    elif found == 0:
        assert same(found, 0.0)


# ---- what holds of every exact sum ----


@given(sums(), st.data())
@settings(max_examples=300)
def test_any_order_and_split(problem, draws):
    """Shuffled, cut into states, pushed in pieces, saved, loaded, merged in any order: the same saved bytes."""
    op, type_name, nan, ddof, x, y = problem
    on = context(nan=nan, ddof=ddof)
    whole = on.state(op, type_name).push(x, y)
    bits = whole.save()
    turned = np.array(draws.draw(st.permutations(range(len(x)))), "i8")
    x, y = x[turned], None if y is None else y[turned]
    cuts = [0, *sorted(draws.draw(st.lists(st.integers(0, len(x)), max_size=5))), len(x)]
    states = []
    for a, b in zip(cuts, cuts[1:]):
        middle = draws.draw(st.integers(a, b))
        state = on.state(op, type_name)
        for part in (slice(a, middle), slice(middle, b)):
            state.push(x[part], None if y is None else y[part])
        if draws.draw(st.booleans()):
            state = on.load(op, type_name, state.save())
        states.append(state)
    while len(states) > 1:
        later = states.pop(draws.draw(st.integers(0, len(states) - 1)))
        states[draws.draw(st.integers(0, len(states) - 1))].merge(later)
    assert states[0].save() == bits
    out = None if op == "stats" else draws.draw(st.sampled_from([None, *FLOATS]))
    assert states[0].finish(out).bytes == [truth.reduce(op, type_name, x, y, nan, ddof, out)[0]]


@given(sums(ops=("sum", "mean", "dot", "norm1", "norm2", "sumsq", "var", "std")))
@settings(max_examples=200)
def test_negation(problem):
    """-x has the negative sum, and the same norms and spread."""
    op, type_name, nan, ddof, x, y = problem
    sign = 1 << (8 * order.SIZES[type_name] - 1)
    negative = raw_array(type_name, [raw ^ sign for raw in order.bits(x)])
    on = context(nan=nan, ddof=ddof)
    out = truth.natural(type_name)
    raws = [int.from_bytes(on.reduce(op, type_name, v, y).bytes[0], "little") for v in (x, negative)]
    found, turned = (order.decode(out, raw) for raw in raws)
    if op in ("sum", "mean", "dot") and found != 0:
        assert turned == -found or (turned != turned and found != found)
    else:  # of zeros only the signs may differ: -0 and -0 is -0, +0 and -0 is +0
        assert turned == found or (turned != turned and found != found)


@given(st.sampled_from(FLOATS), st.data())
@settings(max_examples=150)
def test_x_then_minus_x(type_name, draws):
    bits = [raw for raw in order.bits(draws.draw(awkward(type_name))) if np.isfinite(order.decode(type_name, raw))]
    sign = 1 << (8 * order.SIZES[type_name] - 1)
    both = [*bits, *(raw ^ sign for raw in bits)]
    draws.draw(st.randoms(use_true_random=False)).shuffle(both)
    x = raw_array(type_name, both)
    for op in ("sum", "mean") if bits else ("sum",):
        for out in FLOATS:
            assert same(sum_of(x, type_name, op, out), 0.0)


@pytest.mark.parametrize("out", FLOATS)
@pytest.mark.parametrize("type_name", FLOATS)
def test_ties(type_name, out):
    """Halfway between neighbours the even one; the smallest subnormal of the input moves it, from however far."""
    exponent, fraction = order.FLOATS[out]
    least = 2.0 ** -truth.scale(type_name)
    powers = {"f16": 14, "bf16": 100, "f32": 100, "f64": 1000}
    for at in (0, 5, -(truth.scale(type_name) // 2), min(powers[type_name], powers[out]) - 1):
        ulp, half = math.ldexp(1, at - fraction), math.ldexp(0.5, at - fraction)
        one = math.ldexp(1, at)
        if at - fraction < 2 - truth.scale(out) or half < 2 * least:
            continue
        for sign in (1, -1):
            for terms, wanted in [
                ([one, half], one),                          # tie: to the even one below
                ([one, half, least], one + ulp),             # just above
                ([one, ulp, half], one + 2 * ulp),           # tie: to the even one above
                ([one, ulp, half, -least], one + ulp),       # just below
                ([one, -half / 2], one),                     # below a power of two places are half as far apart
                ([one, -half / 2, -least], one - half),
                ([one, -half, -half / 2], one - 2 * half),
                ([one, -half, -half / 2, least], one - half),
            ]:
                if min(map(abs, terms)) < least:
                    continue
                for x in (terms, terms[::-1]):
                    with np.errstate(over="ignore", under="ignore"):
                        values = data.encode(type_name, sign * f64(x))
                    assert sum_of(values, type_name, out=out) == sign * wanted, (at, x)


def test_one_rounding():
    """1 + 2^-11 + 2^-60 goes to f16 as one rounding: through f32 it would be a tie, and 1."""
    x = f64([1.0, 2.0**-11, 2.0**-60])
    assert sum_of(x, out="f16") == 1 + 2.0**-10
    assert sum_of(f64([1.0, 2.0**-24, 2.0**-80]), out="f32") == 1 + 2.0**-23
    assert sum_of(np.array([1.0, 2.0**-8, 2.0**-40], "f4"), "f32", out="bf16") == 1 + 2.0**-7
    assert sum_of(np.array([2.0**24, 1.0], "f4"), "f32", out="f64") == 2.0**24 + 1  # more digits than f32 has
    assert sum_of(np.array([3e38] * 4, "f4"), "f32", out="f64") == 4 * float(np.float32(3e38))
    assert sum_of(np.array([3e38] * 4, "f4"), "f32", op="norm2", out="f64") == 2 * float(np.float32(3e38))


@pytest.mark.parametrize("type_name", ("f32", "f64"))
def test_only_the_result_overflows(type_name):
    """Sums and squares may pass beyond the largest float as long as what comes out does not."""
    exponent, fraction = order.FLOATS[type_name]
    dtype = tally.TYPES[type_name].numpy
    most = float(np.finfo(dtype).max)
    least = 2.0 ** -truth.scale(type_name)
    half = math.ldexp(1, (1 << (exponent - 1)) - 2 - fraction)  # of the last place of the largest

    def of(values, op="sum", repeat=1):
        return sum_of(np.array(values * repeat, dtype), type_name, op)

    assert of([most, most, -most]) == most
    assert of([most] * 500 + [-most] * 499) == most
    assert of([most, half]) == INF
    assert of([most, half, -least]) == most
    assert of([-most, -half]) == -INF
    assert of([most, half, -half, -most, least]) == least
    assert of([most], "mean", 700) == most
    assert of([most, -most], "mean", 300) == 0
    assert of([most, most], "norm1") == INF
    assert of([most, 0.0], "norm2") == most
    assert of([most], "sumsq") == INF
    assert of([most / 4], "norm2", 16) == most
    assert of([most / 4, -most / 4], "std", 50) == most / 4
    assert of([most], "var", 100) == 0
    assert of([least], "norm2", 16) == 4 * least
    assert of([least], "sumsq") == 0
    x = np.array([most, most, 1.0], dtype)
    y = np.array([most, -most, 3.0], dtype)
    assert order.decode(type_name, int.from_bytes(context().reduce("dot", type_name, x, y).bytes[0], "little")) == 3


def test_huge_and_tiny():
    """A tiny value shows where the huge ones are gone, in any order."""
    tiny, huge = 2.0**-1074, 2.0**1023
    for x in ([huge, tiny, -huge], [tiny, huge, -huge], [huge, -huge, tiny]):
        assert sum_of(f64(x)) == tiny
        assert sum_of(f64(x * 700)) == 700 * tiny
    assert sum_of(f64([1e-300] * 1000 + [1.0])) == 1.0
    assert sum_of(f64([2.0**-53] * 1000 + [1.0])) == 1.0 + 1000 * 2.0**-53  # which one by one would vanish


def test_variance_far_from_zero():
    """Where the textbook formula in floats has no digit left."""
    x = f64([1e15 + k for k in (0.0, 0.25, 0.5, 0.75)])
    assert sum_of(x, op="var") == 0.078125 and sum_of(x, op="mean") == 1e15 + 0.375
    assert sum_of(f64([0.1] * 1000), op="var") == 0
    assert sum_of(f64([0.1] * 1000), op="mean") == 0.1


def test_zeros():
    minus, plus = f64([-0.0] * 3), f64([0.0, -0.0])
    assert same(sum_of(minus), -0.0) and same(sum_of(plus), 0.0) and same(sum_of(f64([])), 0.0)
    assert same(sum_of(minus, op="mean"), -0.0) and same(sum_of(minus, op="norm1"), 0.0)
    assert same(sum_of(f64([1.0, -1.0])), 0.0) and same(sum_of(f64([NAN, -0.0]), nan="skip"), -0.0)
    assert same(sum_of(f64([NAN]), nan="skip"), 0.0)
    tiny = f64([-(2.0**-1074), 0.0])
    assert same(sum_of(tiny, op="mean"), -0.0)  # half of it rounds to the even zero and keeps its sign
    assert same(sum_of(tiny, out="f16"), -0.0)


def test_exact_is_the_best_and_not_the_fast():
    x = f64([1e16, 1.0, 1.0, -1e16])  # columns 0 and 2, then 1 and 3, then both: each 1 is lost
    assert [sum_of(x, accuracy=accuracy) for accuracy in ("best", "exact", "fast")] == [2.0, 2.0, 0.0]


# ---- the command ----


def command(directory, *arguments, stdin=None):
    done = subprocess.run([tally.COMMAND, *arguments], cwd=directory, capture_output=True, timeout=60, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().strip()


@pytest.mark.parametrize("kind", ["spread", "cancelling", "plain"])
def test_command(tmp_path, kind):
    """A file forwards, backwards, piped, as text, with one thread and two: one line, and it is fsum's."""
    random_ = data.generator("command", kind)
    x = random_.standard_normal(40_001)
    if kind == "spread":
        x = np.ldexp(x, random_.integers(-200, 200, x.size))
    if kind == "cancelling":
        x[20_001:] = -x[:20_000] * (1 + 2.0**-52)
        random_.shuffle(x)
    wanted = math.fsum(x)
    for name, values in (("forwards", x), ("backwards", x[::-1])):
        np.save(tmp_path / f"{name}.npy", values)
        values.tofile(tmp_path / f"{name}.f64")
        (tmp_path / f"{name}.txt").write_text("".join(f"{v!r}\n" for v in values.tolist()))
    found = set()
    for name in ("forwards", "backwards"):
        for threads in ("1", "2"):
            found.add(command(tmp_path, "sum", f"{name}.npy", "--threads", threads))
        found.add(command(tmp_path, "sum", f"{name}.txt", "--accuracy", "exact"))
        found.add(command(tmp_path, "sum", f"{name}.f64", "--device", "reference"))
        with open(tmp_path / f"{name}.npy", "rb") as pipe:
            found.add(command(tmp_path, "sum", "-", stdin=pipe))
    assert len(found) == 1
    assert float(found.pop()) == wanted
    for op in ("mean", "norm1", "sumsq", "norm2", "var", "std"):
        printed = {command(tmp_path, op, f"{name}.npy") for name in ("forwards", "backwards")}
        assert len(printed) == 1
        few = tmp_path / "few.npy"
        np.save(few, x[:500])
        expected, _ = truth.reduce(op, "f64", x[:500])
        assert float(command(tmp_path, op, "few.npy")) == order.decode("f64", int.from_bytes(expected, "little"))
