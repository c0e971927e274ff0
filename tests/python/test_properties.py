"""What results mean, against oracles that know nothing of order or limbs: Python's integers, fractions, NumPy."""
import ctypes
import math
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import data
import order
import tally

CONTEXT, FAST = tally.Context(), tally.Context(accuracy="fast")
INTEGERS = [t for t, row in tally.TYPES.items() if row.kind in ("bool", "int", "uint")]
EPSILON = {"f16": 2.0**-23, "bf16": 2.0**-23, "f32": 2.0**-23, "f64": 2.0**-52}  # of what is computed in


def dtype_of(op, type_name):
    number, _ = CONTEXT.result(op, type_name)
    return np.dtype(tally.RAW[list(tally.TYPES)[number - 1]])


def result(op, type_name, x, y=None, context=CONTEXT):
    found = context.reduce(op, type_name, x, y).bytes[0]
    return np.frombuffer(found, dtype_of(op, type_name))[0].item()


def truncated(value, dtype):
    """An integer modulo 2^64, as the result's type shows it."""
    value %= 2**64
    return value - 2**64 if dtype.kind == "i" and value >= 2**63 else value


@st.composite
def integers(draw, most=300):
    type_name = draw(st.sampled_from(INTEGERS))
    if type_name == "bool":
        low, high = 0, 1
    else:
        info = np.iinfo(tally.RAW[type_name])
        low, high = info.min, info.max
    one = st.integers(low, high) | st.sampled_from([low, high]) | st.integers(max(low, -3), min(high, 3))
    return type_name, np.array(draw(st.lists(one, min_size=1, max_size=most)), tally.RAW[type_name])


@st.composite
def floats(draw, types=("f32", "f64"), least=1, most=300, largest=1e30):
    type_name = draw(st.sampled_from(types))
    width = 64 if type_name == "f64" else 32
    largest = float(np.dtype(f"f{width // 8}").type(largest))
    one = st.floats(-largest, largest, width=width)
    near = draw(st.floats(-2.0**20, 2.0**20, width=width))

    def near_by(k):
        return near * (1 + k * 2.0**-20)
    close = st.integers(-1000, 1000).map(near_by)
    return type_name, np.array(draw(st.lists(one, min_size=least, max_size=most) |
                                    st.lists(close, min_size=least, max_size=most)), f"f{width // 8}")


# ---- integers: exact, modulo 2^64 ----


@given(integers())
@settings(max_examples=400)
def test_integers(problem):
    type_name, x = problem
    v = [int(value) for value in x]
    exact = {"sum": sum(v), "prod": math.prod(v), "norm1": sum(map(abs, v)), "sumsq": sum(k * k for k in v),
             "norminf": max(map(abs, v)), "min": min(v), "max": max(v), "argmin": v.index(min(v)),
             "argmax": v.index(max(v)), "any": any(v), "all": all(v), "count": sum(k != 0 for k in v)}
    for op, value in exact.items():
        assert result(op, type_name, x) == truncated(value, dtype_of(op, type_name)), op
    assert result("dot", type_name, x, x[::-1].copy()) == truncated(sum(a * b for a, b in zip(v, v[::-1])),
                                                                    dtype_of("dot", type_name))
    for op, ufunc in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        assert result(op, type_name, x) == ufunc.reduce(x), op


@given(integers())
@settings(max_examples=200)
def test_integer_mean_and_variance(problem):
    type_name, x = problem
    v = [Fraction(int(value)) for value in x]
    mean = sum(v) / len(v)
    size, magnitude = EPSILON["f64"], float(max(map(abs, v)))
    assert abs(Fraction(result("mean", type_name, x)) - mean) <= len(v) * size * magnitude
    check_variance(result("var", type_name, x), v, size, magnitude)


# ---- floats: exactly; in canonical order within bounds that docs/order.md states ----


def exact(values):
    return [Fraction(float(value)) for value in values]


def check_root(found, square, type_name):
    """The nearest float to the root of a Fraction: the points halfway to its neighbours lie on either side."""
    real = np.dtype(f"f{order.SIZES[type_name]}").type
    below, above = (Fraction(float(np.nextafter(real(found), real(to)))) for to in (-np.inf, np.inf))
    assert found >= 0 and ((below + Fraction(found)) / 2) ** 2 * (below >= 0) <= square
    assert square <= ((Fraction(found) + above) / 2) ** 2


@given(floats(largest=1e18, most=20), st.integers(0, 2))
@settings(max_examples=150)
def test_exact_floats(problem, ddof):
    """By Python's fractions, and its own rounding to even."""
    type_name, x = problem
    v, y = exact(x), x[::-1].copy()
    n, squares = len(v), sum(k * k for k in v)
    mean = sum(v) / n
    context = tally.Context(ddof=ddof)
    for op, value in {"sum": sum(v), "mean": mean, "norm1": sum(map(abs, v)), "sumsq": squares,
                      "dot": sum(a * b for a, b in zip(v, v[::-1]))}.items():
        found = context.reduce(op, type_name, x, y if op == "dot" else None).bytes[0]
        minus_zero = value == 0 and op in ("sum", "mean", "dot") and int.from_bytes(found, "little") != 0
        if minus_zero:  # test_exact.py says when
            assert result(op, type_name, x, y if op == "dot" else None) == 0
        else:
            assert int.from_bytes(found, "little") == nearest(type_name, value), op
    check_root(result("norm2", type_name, x), squares, type_name)
    if n <= ddof:
        assert all(math.isnan(result(op, type_name, x, context=context)) for op in ("var", "std"))
        return
    variance = sum((k - mean) ** 2 for k in v) / (n - ddof)
    found = context.reduce("var", type_name, x).bytes[0]
    assert int.from_bytes(found, "little") == nearest(type_name, variance)
    check_root(result("std", type_name, x, context=context), variance, type_name)


@given(floats())
@settings(max_examples=300)
def test_float_sums(problem):
    type_name, x = problem
    eps, v = EPSILON[type_name], exact(x)
    n = len(v)
    sums = {"sum": (sum(v), sum(map(abs, v))), "norm1": (sum(map(abs, v)),) * 2}
    if type_name == "f64":
        assert result("sum", type_name, x) == math.fsum(x)
    for op, (value, size) in sums.items():  # one leaf: at most 15 additions, each eps / 2
        assert abs(Fraction(result(op, type_name, x, context=FAST)) - value) <= 8 * Fraction(eps) * size, op
    mean = Fraction(result("mean", type_name, x, context=FAST))
    least = Fraction(2) ** (-1074 if type_name == "f64" else -149)
    assert abs(mean - sum(v) / n) <= Fraction(eps) * sum(map(abs, v)) + least


@given(floats(largest=1e15))
@settings(max_examples=300)
def test_float_squares(problem):
    type_name, x = problem
    eps, v = Fraction(EPSILON[type_name]), exact(x)
    n, least = len(v), Fraction(2) ** (-1074 if type_name == "f64" else -149)
    squares = sum(k * k for k in v)
    bound = 9 * eps * squares + n * least
    assert abs(Fraction(result("sumsq", type_name, x, context=FAST)) - squares) <= bound
    norm = Fraction(result("norm2", type_name, x, context=FAST))
    assert abs(norm * norm - squares) <= bound + 4 * eps * squares + least
    y = x[::-1].copy()
    products = [a * b for a, b in zip(v, v[::-1])]
    bound = 9 * eps * sum(map(abs, products)) + n * least
    assert abs(Fraction(result("dot", type_name, x, y, FAST)) - sum(products)) <= bound


def check_variance(found, values, eps, largest):
    """The bound of docs/order.md, and a subnormal more: a leaf's in the width of the input, the joins' in f64."""
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / len(values)
    sigma, joins = math.sqrt(variance), 2.0**-52 * largest
    bound = 64 * eps * (sigma + 32 * eps * largest) ** 2 + 32 * joins * (sigma + joins)
    assert abs(float(Fraction(found) - variance)) <= bound + 1e-44, (found, float(variance), bound)


@given(floats(largest=1e15))
@settings(max_examples=300)
def test_variance(problem):
    type_name, x = problem
    check_variance(result("var", type_name, x, context=FAST), exact(x), EPSILON[type_name], float(np.abs(x).max()))


def test_variance_far_from_zero():
    """Many leaves whose deviations are small beside their mean: where the textbook formula has no digit left."""
    for type_name, offset in (("f32", 1e6), ("f64", 1e12), ("i32", 2 * 10**9), ("i64", 9 * 10**18)):
        deviations = data.generator("far").standard_normal(10000) * 10
        x = (deviations if type_name[0] == "f" else np.rint(deviations).astype("i8")) + offset
        x = x.astype(tally.RAW[type_name])
        values = [Fraction(v.item()) for v in x]
        check_variance(result("var", type_name, x, context=FAST), values, EPSILON.get(type_name, 2.0**-52), offset)


@given(floats(types=("f32", "f64"), largest=600))
@settings(max_examples=150)
def test_logsumexp(problem):
    type_name, x = problem
    wide = x.astype(np.longdouble)
    most = wide.max()
    true = float(most + np.log(np.exp(wide - most).sum()))
    found = result("logsumexp", type_name, x)
    assert abs(found - true) <= 16 * EPSILON[type_name] * (1 + abs(true))


@given(floats(), st.sampled_from(["min", "max", "argmin", "argmax", "norminf", "any", "all", "count"]))
@settings(max_examples=300)
def test_order_and_truth(problem, op):
    type_name, x = problem
    oracle = {"norminf": lambda v: np.abs(v).max(), "count": np.count_nonzero}.get(op) or getattr(np, op)
    if op in ("argmin", "argmax"):
        x = x + 0  # -0 is below 0 for Tally, and equal to it for NumPy
    assert result(op, type_name, x) == oracle(x)


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, math.nan, -math.nan, math.inf, -math.inf]), min_size=1))
@settings(max_examples=300)
def test_ties_and_nans(values):
    x = np.array(values)
    numbers = [v for v in values if v == v]
    signed = [(v, math.copysign(1, v)) for v in values]
    for op, pick in (("argmin", min), ("argmax", max)):
        if len(numbers) < len(values):
            wanted = next(i for i, v in enumerate(values) if v != v)
        else:
            wanted = signed.index(pick(signed))
        assert result(op, "f64", x) == wanted
        if numbers:
            first = [k for k, v in enumerate(values) if v == v and signed[k] == pick(s for s in signed if s[0] == s[0])]
            assert result(op, "f64", x, context=tally.Context(nan="skip")) == first[0]
    low, high = (result(op, "f64", x) for op in ("min", "max"))
    assert (low != low) == (high != high) == (len(numbers) < len(values))
    if len(numbers) == len(values):
        assert (low, math.copysign(1, low)) == min(signed) and (high, math.copysign(1, high)) == max(signed)
    else:
        skip = tally.Context(nan="skip")  # exact operations only: a skipped value keeps its column
        for op in ("sum", "prod", "max", "mean", "norm2", "norminf", "count"):
            assert skip.reduce(op, "f64", x).bytes == CONTEXT.reduce(op, "f64", np.array(numbers, "f8")).bytes


# ---- results in another type ----


def nearest(type_name, value):
    """A Fraction to the nearest float of a type, ties to even: as bits."""
    exponent, fraction = order.FLOATS[type_name]
    bias = (1 << (exponent - 1)) - 1
    sign, value = (1 if value < 0 else 0) << (exponent + fraction), abs(value)
    power = 1 - bias
    if value:
        power = max(power, value.numerator.bit_length() - value.denominator.bit_length() - 1)  # at most one too low
    while value >= Fraction(2) ** (power + 1):
        power += 1
    kept = round(value / Fraction(2) ** (power - fraction))  # ties to even
    bits = kept if power == 1 - bias else kept + ((power + bias - 1) << fraction)
    return sign | min(bits, ((1 << exponent) - 1) << fraction)


def halved(k):
    return k / 2


@given(st.sampled_from(list(tally.TYPES)), st.data())
@settings(max_examples=600)
def test_results_converted(out, draws):
    """max of one value, which is that value, to every other type."""
    type_name = draws.draw(st.sampled_from(list(tally.TYPES)))
    row, target = tally.TYPES[type_name], tally.TYPES[out]
    if row.kind == "float":
        drawn = draws.draw(st.floats(width=64) | st.integers(-2**65, 2**65).map(float) | st.floats(-70000, 70000) |
                           st.integers(-600, 600).map(halved))
        with np.errstate(over="ignore"):
            x = data.encode(type_name, np.array([drawn]))
    else:
        info = np.iinfo(tally.RAW[type_name])
        x = np.array([draws.draw(st.integers(info.min, info.max))], tally.RAW[type_name])
        if row.kind == "bool":
            x = (x != 0).astype("u1")
    assume(out != type_name)
    value = order.decode(type_name, order.bits(x)[0])
    found = CONTEXT.reduce("max", type_name, x, out=out)
    bits = int.from_bytes(found.bytes[0], "little")
    finite = row.kind != "float" or math.isfinite(value)
    if target.kind == "float":
        assert found.status == "OK"
        sign = 1 << (8 * target.size - 1) if row.kind == "float" and math.copysign(1, value) < 0 else 0
        exponent, fraction = order.FLOATS[out]
        infinity = ((1 << exponent) - 1) << fraction
        if not finite:
            assert bits == (infinity | sign if value == value else infinity | 1 << (fraction - 1))
        else:
            assert bits == nearest(out, Fraction(value if row.kind != "float" else float(value))) | sign
        return
    low, high = (0, 1) if out == "bool" else (np.iinfo(target.numpy).min, np.iinfo(target.numpy).max)
    if finite:
        whole = round(Fraction(float(value)) if row.kind == "float" else value)  # ties to even
    else:
        whole = 0 if value != value else low if value < 0 else high
    written = min(max(whole, low), high)
    assert bits == written % 2 ** (8 * target.size)
    assert found.status == ("OK" if finite and whole == value and written == whole else "OVERFLOW")


# ---- one answer ----


@given(data.problems(most=300), st.data())
@settings(max_examples=150)
def test_cuts_agree(problem, draws):
    """Offsets, lengths, segment_ids and rows that say the same give the same; so does each slice alone."""
    op, type_name, nan, ddof, x, y = problem
    on = tally.Context(nan=nan, ddof=ddof)
    rows = draws.draw(st.sampled_from([k for k in range(1, len(x) + 1) if len(x) % k == 0] or [1]))
    lengths = np.full(rows, len(x) // rows)
    if draws.draw(st.booleans()):
        boundaries = sorted(draws.draw(st.lists(st.integers(0, len(x)), min_size=rows - 1, max_size=rows - 1)))
        lengths = np.diff([0, *boundaries, len(x)])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    segment_ids = np.repeat(np.arange(rows), lengths)
    second = {} if y is None else {"y": y}
    expected = on.segments(op, type_name, x, "offsets", offsets, **second).bytes
    assert on.segments(op, type_name, x, "lengths", lengths.astype("i4"), **second).bytes == expected
    assert on.segments(op, type_name, x, "segment_ids", segment_ids, rows, **second).bytes == expected
    if len(set(lengths.tolist())) == 1:
        assert on.segments(op, type_name, x, "rows", None, rows, int(lengths[0]), **second).bytes == expected
    for a, b, one in zip(offsets, offsets[1:], expected):
        assert on.reduce(op, type_name, x[a:b], None if y is None else y[a:b]).bytes == [one]


def digests(*numbers_of_threads):
    """Every operator, type and accuracy over enough values that threads are woken: for each number of threads one
    digest of all results."""
    import hashlib
    found = [hashlib.sha256() for _ in numbers_of_threads]
    subjects = [(*pair, "fast") for pair in data.PAIRS]
    subjects += [(op, type_name, "best") for op, type_name in data.PAIRS if tally.OPERATORS[op].exact(type_name)]
    for op, type_name, accuracy in subjects:
        random = data.generator(op, type_name, 5)
        size = tally.TYPES[type_name].size
        count = 500_001 // size
        for nan in data.policies(op, type_name):
            x, *y = (data.some_values(type_name, count, 0 if nan == "propagate" else 1, random)
                     for _ in range(tally.OPERATORS[op].inputs))
            second = dict(zip("y", y))
            cut = np.sort(random.integers(0, count, 300))
            inner = 7 if nan == "propagate" else 200
            rows = count // inner
            grid, beside = x[:rows * inner], {name: v[:rows * inner] for name, v in second.items()}
            for of_threads, threads in zip(found, numbers_of_threads):
                on = tally.Context(nan=nan, threads=threads, accuracy=accuracy)
                of_threads.update(on.reduce(op, type_name, x, *y).bytes[0])
                for one in on.segments(op, type_name, x, "offsets", cut, **second).bytes:
                    of_threads.update(one)
                for one in on.segments(op, type_name, grid, "rows", None, 1, rows, inner, **beside).bytes:
                    of_threads.update(one)
    return [of_threads.hexdigest() for of_threads in found]


def test_threads_and_instruction_sets():
    """1, 2 and 3 threads, and each level of TALLY_ISA in a process of its own: the same bits."""
    expected, *others = digests(1, 2, 3)
    assert others == [expected, expected]
    here = os.path.dirname(__file__)
    program = "import test_properties, tally; print(tally.lib.tally_cpu_isa().decode(), *test_properties.digests(0))"
    levels = set()
    for level in ("baseline", "avx2"):
        done = subprocess.run([sys.executable, "-c", program], cwd=here, capture_output=True, text=True, timeout=80,
                              env={**os.environ, "TALLY_ISA": level, "TALLY_LIBRARY": tally.LIBRARY})
        assert done.returncode == 0, done.stderr
        isa, found = done.stdout.split()
        levels.add(isa)
        assert found == expected, isa
    print("levels", tally.lib.tally_cpu_isa().decode(), *sorted(levels))


# ---- exp and log ----

HELPER = """
#include "accumulators/elementary.h"
void exp_f32(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = tally_exp_f32(x[i]); }
void exp_f64(const double *x, double *y, long n) { for (long i = 0; i < n; i++) y[i] = tally_exp_f64(x[i]); }
void log_f64(const double *x, double *y, long n) { for (long i = 0; i < n; i++) y[i] = tally_log_f64(x[i]); }
"""


@pytest.fixture(scope="module")
def elementary(tmp_path_factory):
    place = tmp_path_factory.mktemp("elementary")
    (place / "helper.c").write_text(HELPER)
    try:
        subprocess.run(["gcc", "-O2", "-std=c11", "-ffp-contract=off", "-shared", "-fPIC", "-I",
                        tally.ROOT / "kernels", "helper.c", "-o", "helper.so"], cwd=place, check=True)
    except FileNotFoundError:
        pytest.skip("no gcc")
    lib = ctypes.CDLL(place / "helper.so")

    def call(name, x):
        y = np.empty_like(x)
        getattr(lib, name)(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(x.size))
        return y

    return call


def arguments(name):
    random, count = data.generator(name), 10**6
    if name == "log_f64":
        near = 1 + np.expm1(2.0 ** -random.integers(1, 30, count // 2) * (1 - 0.02 * random.random(count // 2)))
        return np.concatenate([near, np.exp(random.uniform(-700, 700, count // 4)), random.uniform(0.5, 2, count // 4)])
    least, dtype = (-87, "f4") if name == "exp_f32" else (-708, "f8")
    close = -np.exp(random.uniform(-40, np.log(-least), count // 2))
    return np.concatenate([random.uniform(least, 0, count // 2), close]).astype(dtype)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no wider float to measure with")
@pytest.mark.parametrize("name,bound", [("exp_f32", 1.5), ("exp_f64", 1.5), ("log_f64", 2.0)])
def test_elementary(elementary, name, bound):
    """The bounds that kernels/accumulators/elementary.h states."""
    x = arguments(name)
    x = x[(x >= {"exp_f32": -87, "exp_f64": -708}.get(name, 0))]
    found, true = elementary(name, x), {"exp": np.exp, "log": np.log}[name[:3]](x.astype(np.longdouble))
    unit = np.spacing(np.abs(true).astype(x.dtype)).astype(np.longdouble)
    worst = float((np.abs(found - true) / unit).max())
    print(f"{name}: {worst:.3f} ulp over {x.size} arguments")
    assert worst < bound


@pytest.mark.parametrize("name", ["exp_f32", "exp_f64", "log_f64"])
def test_elementary_as_written_down(elementary, name):
    """order.py computes the same bits."""
    x = arguments(name)[::2000]
    ends = [0.0, -np.inf, np.inf, np.nan, 1.0]
    if name != "log_f64":
        ends += [-0.0, -87.0, -87.5, -708.0, -709.0, 88.0]
    x = np.concatenate([x, np.array(ends, x.dtype)])
    with np.errstate(all="ignore"):
        wanted = np.array([order.log(v) if name == "log_f64" else order.exp(v) for v in x], x.dtype)
    found = elementary(name, x)
    same = (found.view(f"u{x.itemsize}") == wanted.view(f"u{x.itemsize}")) | ((found != found) & (wanted != wanted))
    assert same.all(), x[~same]
