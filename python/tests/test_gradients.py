"""The formulas of tally_reduce.torch and tally_reduce.jax, with NumPy's arrays, beside differences of results."""
import numpy as np
import pytest
import tally_reduce as t
from tally_reduce import _core, _gradients, _operators

rng = np.random.default_rng(1)
BITS = ("and", "or", "xor")  # not of floats
FLOATS = [op for op in _operators.NAMES if op not in BITS and _core._result_dtype(op, "f8") == "float64"]


def reduction(op, x, ddof, nan):
    """What reduces axis 1 of an array."""

    def total(op, values):
        return t.reduce(values, op, axis=1, keepdims=True, nan=nan)

    words = {"ddof": ddof} if ddof else {}
    result = t.reduce(x, op, axis=1, keepdims=True, nan=nan, **words)
    return _gradients.Reduction(np, x, result, total, lambda results: np.broadcast_to(results, x.shape),
                                lambda: x.shape[1], ddof, nan == "skip")  # fmt: skip


def differences(op, x, weights, ddof, nan):
    words = {"ddof": ddof} if ddof else {}
    gradient = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        low, high = x.copy(), x.copy()
        low[place] -= 1e-5
        high[place] += 1e-5
        change = t.reduce(high, op, axis=1, nan=nan, **words) - t.reduce(low, op, axis=1, nan=nan, **words)
        gradient[place] = (change * weights[:, 0]).sum() / 2e-5
    return gradient


@pytest.mark.parametrize("op", _gradients.WITH_GRADIENT)
@pytest.mark.parametrize("case", ["plain", "ddof", "skip", "zeros"])
def test_formulas(op, case):
    of_case = {"ddof": [op for op in FLOATS if _core._takes_ddof(op)], "zeros": ("prod", "sum", "mean", "var")}
    if op not in of_case.get(case, FLOATS):
        return
    x = rng.permutation(np.linspace(-2, 3, 15)).reshape(3, 5)  # no two are equal, and none is 0
    nan, ddof = "skip" if case == "skip" else "propagate", int(case == "ddof")
    if case == "skip":
        x[0, 1], x[1, :4] = np.nan, np.nan
    if case == "zeros":
        x[0, 1], x[1, :2], x[2, :3] = 0, 0, 0
    weights = rng.standard_normal((3, 1))
    got = _gradients.gradient(op, reduction(op, x, ddof, nan), weights)
    wanted = np.nan_to_num(differences(op, x, weights, ddof, nan))
    if op == "std" and case == "skip":
        wanted[1] = 0  # of one value, where the square root has no slope
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-8)


def test_a_skipped_nan_shares_no_tie():
    x = np.array([[np.nan, 0.0, -1.0, 0.0]])
    got = _gradients.gradient("max", reduction("max", x, 0, "skip"), np.ones((1, 1)))
    assert got.tolist() == [[0, 0.5, 0, 0.5]]


def test_every_operator_has_one_or_says_so():
    for op in _operators.NAMES:
        if op in _gradients.WITH_GRADIENT:
            _gradients.check_gradient(op)
        else:
            with pytest.raises(NotImplementedError):
                _gradients.check_gradient(op)
    with pytest.raises(NotImplementedError):
        _gradients.gradient("median", reduction("sum", np.ones((1, 2)), 0, "propagate"), np.ones((1, 1)))


def test_arguments_that_both_modules_check():
    assert _operators.axes_of(None, 3) == (0, 1, 2) and _operators.axes_of((-1, 0), 3) == (0, 2)
    assert _operators.axes_of((), 3) == () and _operators.axes_of(None, 0) == ()
    for axis in (3, -4, (0, 0), (0, -3)):
        with pytest.raises(ValueError):
            _operators.axes_of(axis, 3)
    assert _operators.check_op("and_", 0) == "and" and _operators.check_op("std", 1) == "std"
    for op, ddof, error in [("dot", 0, ValueError), ("stats", 0, ValueError), ("mean", 1, TypeError)]:
        with pytest.raises(error):
            _operators.check_op(op, ddof)
    assert _operators.choose_index(None, 3, None) == ("lengths", 3)
    for three in [(None, None, None), (1, 2, None)]:
        with pytest.raises(TypeError):
            _operators.choose_index(*three)
