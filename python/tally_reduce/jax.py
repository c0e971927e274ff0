"""Reductions for jax.jit, jax.vmap and jax.grad: calls of Tally by jax.ffi.

>>> import jax, jax.numpy as jnp, tally_reduce.jax as tally
>>> x = jnp.array([1e8, 1.0, -1e8])
>>> float(jax.jit(tally.sum)(x))
1.0
>>> jax.grad(tally.prod)(jnp.array([2.0, 0.0, 4.0])).tolist()
[0.0, 8.0, 0.0]

There is a function for each operator but stats and dot: `sum` is `reduce(x, "sum")`, `segment_sum` is
`segment_reduce(data, "sum")`. All that give floats have gradients by reverse mode (jax.grad, jax.vjp), but minmax: of
any order, and of prod of several zeros the first two. There is no forward mode. Arrays are reduced where they lie: on
the CPU, or on a CUDA GPU in the order of JAX's stream. Errors that depend on values, as a sum of integers that does not
fit, are raised when the result is waited for. What is empty for its values alone (NaNs that are skipped) is NaN where
tally_reduce raises ValueError. Needs JAX 0.5 or later.
"""

from __future__ import annotations

from functools import partial
from math import prod as product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from . import _core, _operators
from ._gradients import WITHOUT_VALUES, Reduction, check_gradient, gradient

if not hasattr(jax, "ffi"):
    raise ImportError(f"tally_reduce.jax needs JAX 0.5 or later, and this is {jax.__version__}")

for _name, _platform, _handler in _core._xla_handlers():
    jax.ffi.register_ffi_target(_name, _handler, platform=_platform)

_OPS = {name: number for number, name in enumerate(_core.info()["operators"])}
_NANS = {"propagate": 0, "skip": 1, "total": 2}
_ACCURACIES = {"exact": 0, "fast": 1}
_SEGMENTATIONS = {"offsets": 0, "lengths": 1, "segment_ids": 2, "unsorted_ids": 6}
_OUTSIDE = {"error": 0, "drop": 1}


class _Options(NamedTuple):
    """What of a call is known when it is traced."""

    op: str
    axes: tuple[int, ...]
    dtype: str
    ddof: int
    nan: str
    accuracy: str
    by: str = ""
    segments: int = 0
    out_of_range: str = "error"


def _options(x, op, axes, dtype, ddof, nan, accuracy, by="", segments=0, out_of_range="error"):
    op = _operators.check_op(op, ddof)
    given = ((nan, "nan", _NANS), (accuracy, "accuracy", _ACCURACIES), (out_of_range, "out_of_range", _OUTSIDE))
    for word, name, words in given:
        if word not in words:
            raise ValueError(f"{name} is {word!r}, and must be one of {', '.join(words)}")
    natural = _core._result_dtype(op, x.dtype)
    dtype = jax.dtypes.canonicalize_dtype(natural if dtype is None else dtype)
    return _Options(op, axes, dtype.name, int(ddof), nan, accuracy, by, int(segments), out_of_range)


def _call(target, shape, options, *arrays, **more):
    pair = (2,) if options.op == "minmax" else ()
    numbers = {"op": _OPS[options.op], "nan": _NANS[options.nan], "accuracy": _ACCURACIES[options.accuracy],
               "ddof": options.ddof, **more}  # fmt: skip
    result = jax.ShapeDtypeStruct((*shape, *pair), options.dtype)
    call = jax.ffi.ffi_call(target, result, vmap_method="expand_dims")
    return call(*arrays, **{name: np.int64(number) for name, number in numbers.items()})


# ---- the functions of this module ----


def reduce(x, op, /, *, axis=None, keepdims=False, dtype=None, nan="propagate", accuracy="exact", ddof=0):
    """Reduces some axes of an array (all: axis=None).

    x: an array of any shape; op: the name of an operator; axis: an int or several; dtype: of the results. All but x are
    static under jit. nan, accuracy and ddof are as in tally_reduce.reduce. Returns an array of the shape that is left.
    Results of 64 bits have 32 where JAX has no 64 bits (jax_enable_x64); a value that does not fit them is an error.
    Gradients: values that tie for min and max get equal shares.

    Raises ValueError for axes or an operator that do not exist, or an empty array without a result; TypeError for a
    dtype that the operator does not take.

    >>> import jax.numpy as jnp, tally_reduce.jax as tally
    >>> tally.reduce(jnp.ones((2, 3)), "sum", axis=1).tolist()
    [3.0, 3.0]
    """
    x = jnp.asarray(x)
    axes = _operators.axes_of(axis, x.ndim)
    options = _options(x, op, axes, dtype, ddof, nan, accuracy)
    if x.size == 0 and 0 in (x.shape[k] for k in axes):
        _core.reduce(np.empty(0, "f4" if x.dtype == jnp.bfloat16 else x.dtype), options.op)  # raises, if there is none
    results = _reduce(x, options)
    return results if keepdims else results.reshape([n for k, n in enumerate(results.shape) if k not in axes])


def segment_reduce(
    data, op, /, segment_ids=None, num_segments=None, *, lengths=None, offsets=None, indices_are_sorted=True,
    out_of_range="error", axis=0, dtype=None, nan="propagate", accuracy="exact", ddof=0,
):  # fmt: skip
    """Reduces each segment of one axis of an array; all other axes are features.

    data: an array of one axis or more. The segments are named in one way: segment_ids, lengths or offsets, an array of
    integers with one axis, as in tally_reduce.segment_reduce. num_segments goes with segment_ids and is needed under
    jit; without it the largest id says it. Others are as in `reduce`. Returns an array with num_segments along the
    axis. Values outside of all segments get a gradient of 0.

    Raises ValueError and TypeError for arguments; segments that do not fit are an error of the result.

    >>> import jax.numpy as jnp, tally_reduce.jax as tally
    >>> tally.segment_reduce(jnp.arange(4.0), "sum", jnp.array([0, 0, 2, 2]), 3).tolist()
    [1.0, 0.0, 5.0]
    """
    data = jnp.asarray(data)
    by, index = _operators.choose_index(segment_ids, lengths, offsets)
    (axis,) = _operators.axes_of(axis, data.ndim)
    index, segments = _index(index, by, num_segments, data.shape[axis])
    if by == "segment_ids" and not (indices_are_sorted and out_of_range == "error"):
        by = "unsorted_ids"
    options = _options(data, op, (axis,), dtype, ddof, nan, accuracy, by, segments, out_of_range)
    return _segment_reduce(data, index, options)


def segment_softmax(
    data, segment_ids=None, num_segments=None, *, lengths=None, offsets=None, indices_are_sorted=True, axis=0
):
    """exp of each value, divided by the sum of exp over its segment: an array of data's shape and dtype.

    The largest value of a segment is subtracted first, and the sum is exact. Arguments and errors are as in
    `segment_reduce`; data must be floats, and every value must lie in a segment.

    >>> import jax.numpy as jnp, tally_reduce.jax as tally
    >>> tally.segment_softmax(jnp.array([5.0, 5.0, 9.0]), lengths=jnp.array([2, 1])).tolist()
    [0.5, 0.5, 1.0]
    """
    data = jnp.asarray(data)
    by, index = _operators.choose_index(segment_ids, lengths, offsets)
    (axis,) = _operators.axes_of(axis, data.ndim)
    index, segments = _index(index, by, num_segments, data.shape[axis])
    segmentation = {by: index, "indices_are_sorted": indices_are_sorted, "axis": axis}
    if by == "segment_ids":
        segmentation["num_segments"] = segments
    ids = _ids(index, by, data.shape[axis], segments)
    wide = data.astype(jnp.promote_types(data.dtype, jnp.float32))
    largest = segment_reduce(jax.lax.stop_gradient(wide), "max", **segmentation)
    exponentials = jnp.exp(wide - _spread(largest, ids, axis))
    sums = segment_reduce(exponentials, "sum", **segmentation)
    return (exponentials / _spread(sums, ids, axis)).astype(data.dtype)


__all__ = sorted(
    ["reduce", "segment_reduce", "segment_softmax", *_operators.make_functions(reduce, segment_reduce, globals())]
)


# ---- calls, and their gradients ----


def _index(index, by, num_segments, values):
    """The index as i32 or i64, and the number of segments."""
    index = jnp.asarray(index)
    if index.ndim != 1 or not jnp.issubdtype(index.dtype, jnp.integer):
        raise TypeError(f"{by} must be an array of integers with one axis")
    if index.dtype not in (jnp.int32, jnp.int64):
        index = index.astype(jax.dtypes.canonicalize_dtype(jnp.int64))
    if by != "segment_ids":
        if num_segments is not None:
            raise TypeError("num_segments goes with segment_ids")
        if by == "offsets" and len(index) == 0:
            raise ValueError("offsets has no values; for no segments it is [0]")
        return index, len(index) - (by == "offsets")
    if len(index) != values:
        raise ValueError(f"segment_ids has {len(index)} ids, and the axis has {values} values")
    if num_segments is None:
        num_segments = int(index.max()) + 1 if len(index) else 0
    if num_segments < 0:
        raise ValueError("num_segments must not be negative")
    return index, int(num_segments)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _reduce(x, options):
    """The results with a place of length 1 for each axis that is reduced."""
    axes = options.axes
    kept = [k for k, _ in enumerate(x.shape) if k not in axes]
    if axes and axes[-1] - axes[0] >= len(axes):  # others lie between them
        x = jnp.transpose(x, kept + list(axes))
        first, end = len(kept), x.ndim
    else:
        first, end = (axes[0], axes[-1] + 1) if axes else (x.ndim, x.ndim)
    before, length, after = (product(part) for part in (x.shape[:first], x.shape[first:end], x.shape[end:]))
    results = _call("tally_reduce_rows", (before, 1, after), options, x.reshape(before, length, after))
    shape = list(x.shape[:first] + x.shape[end:])
    for axis in axes:
        shape.insert(axis, 1)
    return results.reshape(*shape, *results.shape[3:])


def _reduce_forward(x, options):
    results = _reduce(x, options)
    return results, _saved(x, options, results)


def _reduce_backward(options, saved, grad):
    x, result, like = saved
    axes = options.axes
    return (
        _gradient(
            options, x, result, like, grad,
            total=lambda op, values: reduce(values, op, axis=axes, keepdims=True, nan=options.nan,
                                            accuracy=options.accuracy),
            spread=lambda results: jnp.broadcast_to(results, like.shape),
            counts=lambda: product(like.shape[k] for k in axes),
        ),
    )  # fmt: skip


_reduce.defvjp(_reduce_forward, _reduce_backward)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _segment_reduce(data, index, options):
    (axis,) = options.axes
    before, after = data.shape[:axis], data.shape[axis + 1 :]
    shape = (product(before), options.segments, product(after))
    flat = data.reshape(product(before), data.shape[axis], product(after))
    results = _call("tally_reduce_segments", shape, options, flat, index,
                    segmentation=_SEGMENTATIONS[options.by], outside=_OUTSIDE[options.out_of_range])  # fmt: skip
    return results.reshape(*before, options.segments, *after, *results.shape[3:])


def _segment_forward(data, index, options):
    results = _segment_reduce(data, index, options)
    return results, (*_saved(data, options, results), index)


def _segment_backward(options, saved, grad):
    data, result, like, index = saved
    (axis,) = options.axes
    ids = _ids(index, options.by, like.shape[axis], options.segments)
    segmentation = {options.by: index}
    if options.by.endswith("_ids"):
        segmentation = {"segment_ids": index, "num_segments": options.segments, "out_of_range": options.out_of_range,
               "indices_are_sorted": options.by == "segment_ids"}  # fmt: skip

    def counts():
        along = [options.segments if k == axis else 1 for k, _ in enumerate(like.shape)]
        return segment_reduce(jnp.ones(like.shape[axis], bool), "count", **segmentation).reshape(along)

    return _gradient(
        options, data, result, like, grad,
        total=lambda op, values: segment_reduce(values, op, axis=axis, nan=options.nan, accuracy=options.accuracy,
                                                **segmentation),
        spread=lambda results: _spread(results, ids, axis),
        counts=counts,
    ), None  # fmt: skip


_segment_reduce.defvjp(_segment_forward, _segment_backward)


class _Like(NamedTuple):
    """The shape and dtype of an array."""

    shape: tuple[int, ...]
    dtype: str


jax.tree_util.register_static(_Like)


def _saved(x, options, results):
    """What the gradient needs of a call."""
    like = _Like(x.shape, x.dtype.name)
    needed = options.op not in WITHOUT_VALUES or options.nan == "skip"
    return (x, results, like) if needed else (None, None, like)


def _gradient(options, x, result, like, grad, total, spread, counts):
    """The gradient of x, computed as float32 for halves; None for integers."""
    check_gradient(options.op)
    dtype = jnp.dtype(like.dtype)
    if not jnp.issubdtype(dtype, jnp.floating):
        return None
    wide = jnp.promote_types(jnp.promote_types(dtype, grad.dtype), jnp.float32)
    if x is not None:
        x = x.astype(wide)
        result = result if result.dtype == wide else total(options.op, x)
    it = Reduction(jnp, x, result, total, spread, counts, options.ddof, options.nan == "skip")
    return gradient(options.op, it, grad.astype(wide)).astype(dtype)


def _spread(results, ids, axis):
    """Each value's result; 0 for the id that is the number of segments."""
    none = jnp.zeros([1 if k == axis else n for k, n in enumerate(results.shape)], results.dtype)
    return jnp.take(jnp.concatenate([results, none], axis), ids, axis, mode="clip")


def _ids(index, by, values, segments):
    """The segment of each value; `segments` for values outside of all."""
    if by == "lengths":
        index = jnp.concatenate([jnp.zeros(1, index.dtype), jnp.cumsum(index)])
    if not by.endswith("_ids"):
        index = jnp.searchsorted(index, jnp.arange(values), side="right") - 1
    return jnp.where((index >= 0) & (index < segments), index, segments)
