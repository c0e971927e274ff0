"""reduce and the functions of operators, with NumPy, math.fsum and fractions as oracles."""
import itertools
import math
from array import array
from fractions import Fraction

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
import tally_reduce as t
from hypothesis import given, settings

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
INTS = [dtype for dtype in DTYPES if dtype[0] in "iu"]
rng = np.random.default_rng(1)


def values(shape, dtype):
    """Small integers: NumPy's sums of them are exact too."""
    return rng.integers(0, 2 if dtype == "?" else 7, shape).astype(dtype)


def layouts(x):
    """The same values in other places."""
    yield "C", x
    yield "Fortran", np.asfortranarray(x)
    apart = np.zeros(tuple(2 * n + 1 for n in x.shape), x.dtype)
    view = apart[tuple(slice(1, 2 * n + 1, 2) for n in x.shape)]
    view[...] = x
    yield "apart", view
    turned = np.ascontiguousarray(x[tuple(slice(None, None, -1) for _ in x.shape)])
    yield "backwards", turned[tuple(slice(None, None, -1) for _ in x.shape)]
    misaligned = np.frombuffer(b"x" + x.tobytes(), dtype=np.uint8)[1:].view(x.dtype) if x.ndim == 1 else x
    yield "misaligned", misaligned.reshape(x.shape)


ORACLES = {
    "sum": np.sum,
    "prod": np.prod,
    "min": np.min,
    "max": np.max,
    "any": np.any,
    "all": np.all,
    "count": np.count_nonzero,
    "mean": np.mean,
    "var": np.var,
    "std": np.std,
}


def same(got, wanted, exact=True):
    assert np.shape(got) == np.shape(wanted)
    assert np.asarray(got).dtype == np.asarray(wanted).dtype
    if exact:
        np.testing.assert_array_equal(got, wanted)
    else:
        tolerance = 1e-3 if np.asarray(got).dtype == "f2" else 1e-6
        np.testing.assert_allclose(np.asarray(got, "f8"), np.asarray(wanted, "f8"), rtol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ORACLES)
def test_axes_and_layouts(op, dtype):
    exact = op not in ("mean", "var", "std", "prod")
    for shape in [(7,), (3, 5), (2, 1, 3, 2)]:
        x = values(shape, dtype)
        subsets = [s for n in range(len(shape) + 1) for s in itertools.combinations(range(len(shape)), n)]
        for name, view in layouts(x):
            for axis in [None, *range(-len(shape), len(shape)), *[s for s in subsets if len(s) > 1]]:
                for keepdims in (name == "apart",):
                    wanted = ORACLES[op](x, axis=axis, keepdims=keepdims)
                    if op == "count":
                        wanted = np.asarray(wanted, "i8")[()]
                    same(getattr(t, op)(view, axis=axis, keepdims=keepdims), wanted, exact)


@pytest.mark.parametrize("op", ["argmin", "argmax"])
def test_positions(op):
    for shape in [(9,), (4, 5), (3, 4, 5)]:
        x = values(shape, "i4")
        for name, view in layouts(x):
            for axis in [None, *range(len(shape))]:
                same(getattr(t, op)(view, axis=axis), getattr(np, op)(x, axis=axis))


def test_long_strided_rows_are_read_in_place():
    x = rng.standard_normal((7, 900, 4))
    for axis in (0, 1, 2, (0, 1), (1, 2), None):
        for view in (x, x[:, ::2, :], x[::2, :, 1:3], x.transpose(2, 0, 1), x[:, :, ::-1]):
            got = t.sum(view, axis=axis)
            moved = np.asarray(view)
            axes = tuple(range(3)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
            keep = [k for k in range(3) if k not in axes]
            rows = moved.transpose(keep + list(axes)).reshape([moved.shape[k] for k in keep] + [-1])
            wanted = np.array([math.fsum(row) for row in rows.reshape(-1, rows.shape[-1])]).reshape(rows.shape[:-1])
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_zero_axes_and_no_values(dtype):
    scalar = np.array(3).astype(dtype)
    same(t.sum(scalar), np.sum(scalar))
    same(t.max(scalar), scalar[()])
    for shape, axis in [((0,), None), ((0,), 0), ((3, 0), 1), ((3, 0), 0), ((0, 3), 0)]:
        empty = np.zeros(shape, dtype)
        same(t.sum(empty, axis=axis), np.sum(empty, axis=axis))
        if np.sum(empty, axis=axis).size:
            for op in ("min", "argmax"):
                with pytest.raises(ValueError):
                    getattr(t, op)(empty, axis=axis)
            assert np.isnan(t.mean(empty, axis=axis)).all()
    same(t.min(np.zeros((0, 3), dtype), axis=1), np.min(np.zeros((0, 3), dtype), axis=1))


@settings(max_examples=200)
@given(hnp.arrays("f8", st.integers(0, 50), elements=st.floats(allow_nan=False, allow_infinity=False, width=64)))
def test_sums_are_exact(x):
    try:
        wanted = math.fsum(x)
    except OverflowError:
        total = sum(map(Fraction, x.tolist()))
        try:
            wanted = float(total)
        except OverflowError:
            wanted = math.inf if total > 0 else -math.inf
    assert t.sum(x) == wanted
    if len(x) and math.isfinite(wanted):
        assert t.mean(x) == float(sum(map(Fraction, x.tolist())) / len(x))


@settings(max_examples=100)
@given(
    hnp.arrays(
        st.sampled_from(["i4", "f4", "f8", "u2"]),
        hnp.array_shapes(min_dims=1, max_dims=4, max_side=5),
        elements=st.integers(0, 9),
    ),
    st.data(),
)
def test_where_and_initial(x, data):
    axis = data.draw(st.one_of(st.none(), st.integers(0, x.ndim - 1)))
    mask = data.draw(hnp.arrays("?", hnp.broadcastable_shapes(x.shape, max_dims=x.ndim, min_side=1, max_side=5)
                                .filter(lambda s: np.broadcast_shapes(s, x.shape) == x.shape)))
    same(t.sum(x, axis=axis, where=mask), np.sum(x, axis=axis, where=mask))
    same(t.sum(x, axis=axis, initial=5), np.sum(x, axis=axis, initial=5))
    same(t.max(x, axis=axis, where=mask, initial=4), np.max(x, axis=axis, where=mask, initial=4))
    same(t.prod(x, axis=axis, where=mask, initial=2), np.prod(x, axis=axis, where=mask, initial=2), exact=False)
    same(t.count(x, axis=axis, where=mask), np.sum((x != 0) & mask, axis=axis))


def test_initial_must_be_a_value_of_the_dtype():
    with pytest.raises(OverflowError):
        t.sum(np.ones(3, "i1"), initial=1000)
    with pytest.raises(OverflowError):
        t.sum(np.ones(3, "u8"), initial=-1)
    with pytest.raises(TypeError):
        t.sum(np.ones(3, "i4"), initial=0.5)
    with pytest.raises(TypeError):
        t.mean(np.ones(3), initial=0.5)
    assert t.min(np.zeros(0, "f2"), initial=1.5) == 1.5


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_nan(dtype):
    x = np.array([3, np.nan, 1, -np.inf], dtype)
    assert np.isnan(t.sum(x)) and np.isnan(t.min(x)) and t.argmin(x) == np.argmin(x) == 1
    assert t.min(x, nan="skip") == -np.inf and t.max(x, nan="skip") == 3 and t.argmax(x, nan="skip") == 0
    assert t.argmax(x, nan="total") == 1
    with pytest.raises(ValueError):
        t.max(x[1:2], nan="skip")
    with pytest.raises(ValueError):
        t.max(x, nan="ignore")


def test_dtype_and_out():
    x = np.array([1e300, 1, -1e300, 0.5])
    assert t.sum(x) == 1.5
    wide = rng.standard_normal(5000) * 10.0 ** rng.integers(-9, 9, 5000)
    assert t.sum(wide) == math.fsum(wide) != t.sum(wide, accuracy="fast")
    for dtype in ["f4", np.float32, np.dtype("f4"), "float32", "<f4"]:
        assert type(t.sum(x, dtype=dtype)) is np.float32
    assert t.sum(np.array([1, 2], "i4"), dtype="f8") == 3
    with pytest.raises(OverflowError):
        t.sum(x, dtype="i4")
    with pytest.raises(TypeError):
        t.sum(x, dtype="c16")
    with pytest.raises(TypeError, match="other things"):
        t.sum(x, dtype="i8")
    m = values((3, 4), "f8")
    for out in (np.zeros(3), np.zeros(7)[1::2], np.zeros((3, 2)).T[0], np.zeros(3, "f4"), np.zeros(3)[::-1]):
        assert t.sum(m, axis=1, out=out) is out
        np.testing.assert_array_equal(out, m.sum(1))
    zero = np.zeros(())
    assert t.sum(m, out=zero) is zero and zero == m.sum()
    with pytest.raises(ValueError, match="shape"):
        t.sum(m, axis=1, out=np.zeros(4))
    with pytest.raises(TypeError):
        t.sum(m, axis=1, out=np.zeros(3), dtype="f4")


def test_dtypes_follow_numpy():
    for dtype in DTYPES:
        x = np.ones(3, dtype)
        for op in ("sum", "prod", "mean", "max", "var", "any"):
            assert getattr(t, op)(x).dtype == getattr(np, op)(x).dtype, (op, dtype)


def test_integer_sums_do_not_wrap():
    x = np.array([2**63 - 1, 1], "i8")
    with pytest.raises(OverflowError):
        t.sum(x)
    assert t.sum(x, dtype="f8") == 2.0**63 and t.sum(x, dtype="uint64") == 2**63
    assert t.mean(x) == 2.0**62


def test_var_ddof_and_stats():
    x = values((4, 6), "f8")
    np.testing.assert_allclose(t.var(x, axis=1, ddof=1), np.var(x, axis=1, ddof=1))
    with pytest.raises(TypeError):
        t.sum(x, ddof=1)
    whole, rows = t.stats(x), t.stats(x, axis=1)
    assert (whole.count, whole.min, whole.max, whole.sum) == (24, x.min(), x.max(), x.sum())
    np.testing.assert_array_equal(rows.sum, x.sum(1))
    np.testing.assert_array_equal(rows.count, [6] * 4)
    assert rows.min.dtype == np.float64 and t.stats(x.astype("u1"), axis=0).max.dtype == np.uint64


def test_minmax_and_bits():
    x = values((3, 5), "u2")
    np.testing.assert_array_equal(t.minmax(x, axis=1), np.stack([x.min(1), x.max(1)], -1))
    low, high = t.minmax(x)
    assert (low, high) == (x.min(), x.max())
    for name, oracle in [("and_", np.bitwise_and), ("or_", np.bitwise_or), ("xor", np.bitwise_xor)]:
        same(getattr(t, name)(x, axis=0), oracle.reduce(x, axis=0))
        same(t.reduce(x, name, axis=0), oracle.reduce(x, axis=0))


def test_dot():
    x, y = rng.standard_normal((3, 40, 5)), rng.standard_normal((3, 40, 5))
    assert t.dot(x, y) == float(sum(Fraction(a) * Fraction(b) for a, b in zip(x.ravel(), y.ravel())))
    for axis in (0, 1, 2, (0, 2)):
        np.testing.assert_allclose(t.dot(x, y, axis=axis), (x * y).sum(axis), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(t.dot(x, np.asfortranarray(y), axis=1), (x * y).sum(1), rtol=1e-9, atol=1e-12)
    assert t.reduce(x[0, 0], y[0, 0], "dot") == t.dot(x[0, 0], y[0, 0])
    for other in (y[:2], y.astype("f4"), y.ravel()):
        with pytest.raises(ValueError):
            t.dot(x, other)
    with pytest.raises(TypeError):
        t.dot(x)


def test_broadcast_axes():
    x = np.broadcast_to(np.array([[1.0], [2.0]]), (2, 5))
    np.testing.assert_array_equal(t.sum(x, axis=1), [5, 10])
    np.testing.assert_array_equal(t.sum(x, axis=0), [3] * 5)
    assert t.sum(x) == 15 and t.argmax(x) == 5


def test_plain_buffers_need_no_numpy():
    assert type(t.sum(array("d", [1, 2]))) is float and type(t.sum(b"abc")) is int
    grid = memoryview(array("i", range(6))).cast("B").cast("i", (2, 3))
    sums = t.sum(grid, axis=1)
    assert type(sums) is memoryview and sums.tolist() == [3, 12] and sums.format == "q"
    assert t.stats(grid, axis=1).max.tolist() == [2, 5]


def test_axis_errors():
    x = values((2, 3), "f8")
    for axis in (2, -3, (0, 0), (0, 2), (0, -2)):
        with pytest.raises(ValueError):
            t.sum(x, axis=axis)
    for axis in (1.0, "0", (0, None)):
        with pytest.raises(TypeError):
            t.sum(x, axis=axis)
    with pytest.raises(TypeError, match="no argument 'axes'"):
        t.sum(x, axes=0)


def test_more_threads_and_sizes():
    for n in (1, 511, 512, 513, 4095, 4096, 4097, 100003):
        x = rng.standard_normal(n) * 10.0 ** rng.integers(-200, 200, n)
        assert t.sum(x) == math.fsum(x)
        assert t.sum(x[::-3]) == math.fsum(x[::-3])
