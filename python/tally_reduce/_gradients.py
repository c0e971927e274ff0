"""Gradients of reductions, written once for PyTorch and JAX.

`gradient` gives the gradient with respect to the values. It is made of operations that have gradients themselves, so
that second derivatives are right, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

# The gradient of these needs no values, unless NaNs are skipped.
WITHOUT_VALUES = ("sum", "mean")
# Of those that give floats these have a gradient, in _each.
WITH_GRADIENT = (
    "sum", "mean", "var", "std", "min", "max", "norminf", "prod", "logsumexp", "norm1", "sumsq", "norm2"
)  # fmt: skip


def check_gradient(op):
    if op not in WITH_GRADIENT:
        raise NotImplementedError(f"{op} has no gradient; these have: {', '.join(WITH_GRADIENT)}")


@dataclass
class Reduction:
    """What was reduced, and how. Results have a place (of length 1, or one for each segment) on the axes reduced."""

    xp: Any  # torch or jax.numpy
    x: Any  # the values; None if the gradient needs none
    result: Any
    total: Callable[[str, Any], Any]  # total(op, values): reduces values of x's shape in the same way
    spread: Callable[[Any], Any]  # the results, each at the places of its values: an array of x's shape
    counts: Callable[[], Any]  # how many values each result has: an int, or an array that broadcasts to the results
    ddof: int
    skip: bool  # whether NaNs are left out


def _counts(it, present, grad):
    """How many values each result has, as floats. 0 becomes harmless: no value gets that gradient, but 0/0 is NaN."""
    counts = (it.counts() if present is None else it.total("count", present)) + it.xp.zeros_like(grad)
    return it.xp.where(counts == 0, 1.0 + it.ddof, counts)


def _from_mean(it, x, present, grad):
    counts = _counts(it, present, grad)
    free = it.xp.where(counts > it.ddof, counts - it.ddof, float("nan"))
    return (x - it.spread(it.total("mean", it.x))) * it.spread(grad / free)


def _shared_by(it, chosen, grad):
    """Each result's gradient, in equal shares, to the values that are chosen."""
    counts = it.total("count", chosen)
    return it.xp.where(chosen, it.spread(grad / it.xp.where(counts == 0, 1, counts)), 0.0)


def _is_result(it, x, present, result):
    result = it.spread(result)
    chosen = (x == result) | (it.xp.isnan(x) & it.xp.isnan(result))
    return chosen if present is None else chosen & present


def _product_of_others(it, x):
    """For each value the product of the others. A zero cannot be divided out: those with one or two zeros are built
    from the product of what is not zero, such that their derivatives are right as well."""
    where, spread = it.xp.where, it.spread
    zero = x == 0
    rest = where(zero, 1.0, x)
    zeros, product = spread(it.total("count", zero)), spread(it.total("prod", rest))
    zero_sum = spread(it.total("sum", where(zero, x, 0.0)))
    of_zero = where(zeros == 1, product, where(zeros == 2, (zero_sum - x) * product, 0.0))
    of_rest = where(zeros == 0, product / rest, where(zeros == 1, zero_sum * product / rest, 0.0))
    return where(zero, of_zero, of_rest)


def gradient(op, it, grad):
    """The gradient with respect to the values, given the one of the results. NaNs that are skipped get 0. Values that
    tie for min, max and norminf get equal shares."""
    present, x = None, it.x
    if it.skip:
        present = ~it.xp.isnan(x)
        x = it.xp.where(present, x, 1.0 if op == "prod" else 0.0)
    each = _each(op, it, x, present, grad)
    return each if present is None else it.xp.where(present, each, 0.0)


def _each(op, it, x, present, grad):
    """The formulas. x has no NaN to skip."""
    xp, spread = it.xp, it.spread
    if op == "sum":
        return spread(grad)
    if op == "mean":
        return spread(grad / _counts(it, present, grad))
    if op == "var":
        return 2 * _from_mean(it, x, present, grad)
    if op == "std":
        return _from_mean(it, x, present, grad / xp.where(it.result > 0, it.result, 1.0))
    if op in ("min", "max"):
        return _shared_by(it, _is_result(it, x, present, it.result), grad)
    if op == "norminf":
        return _shared_by(it, _is_result(it, abs(x), present, it.result), grad) * xp.sign(x)
    if op == "prod":
        return spread(grad) * _product_of_others(it, x)
    if op == "logsumexp":
        return spread(grad) * xp.exp(x - spread(xp.where(it.result == -float("inf"), 0.0, it.result)))
    if op == "norm1":
        return spread(grad) * xp.sign(x)
    if op == "sumsq":
        return spread(grad) * 2 * x
    if op == "norm2":
        return spread(grad / xp.where(it.result == 0, 1.0, it.result)) * x
    raise NotImplementedError(f"{op} has no gradient")
