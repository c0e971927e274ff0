"""Reductions of Dask arrays: the same bits whatever the chunks and the workers are.

>>> import dask.array, tally_reduce.dask as tally
>>> x = dask.array.from_array([1e16, 1.0, -1e16, 3.0], chunks=2)
>>> float(tally.sum(x).compute())
4.0
>>> tally.mean(x.reshape(2, 2), axis=0).compute().tolist()
[0.0, 2.0]

There is a function for each operator but dot: `sum` is `reduce(x, "sum")`. A chunk becomes a State for each of its
results; states are merged in a tree and finished.
"""

from __future__ import annotations

from functools import partial
from math import prod as product

import dask.array as da
import numpy as np
from dask.core import flatten

from . import _core, _operators, _partials
from ._types import Stats


def reduce(
    x, op, /, *, axis=None, keepdims=False, dtype=None, nan="propagate", accuracy="exact", ddof=0, split_every=None
):
    """Reduces some axes of a Dask array (all: axis=None); nothing is computed yet.

    x: a Dask array, or what dask.array.asarray takes; op: the name of an operator, but dot; axis: an int or several.
    dtype, nan, accuracy and ddof are as in tally_reduce.reduce, split_every as in Dask: how many chunks are merged at
    once. Returns a Dask array of the shape that is left; minmax has pairs along a last axis, stats gives six arrays.

    Each result is a State of 0.2 to 8 KB for each chunk, so many results take memory: then rechunk, so that the axes
    that are reduced have few chunks. Where order shows (docs/order.md), and for argmin and argmax, several axes are
    rechunked so that only the first of them has several chunks.

    Raises ValueError for an operator or axes that do not exist, for chunks of unknown size where order shows, TypeError
    for a dtype that the operator does not take. What depends on values (no values without a result, a sum of integers
    that does not fit) is raised by compute().

    >>> import dask.array, tally_reduce.dask as tally
    >>> tally.reduce(dask.array.ones((4, 3), chunks=2), "sum", axis=0).compute().tolist()
    [4.0, 4.0, 4.0]
    """
    x = da.asarray(x)
    op = _operators.check_op(op, ddof, _partials.NAMES)
    axes = _operators.axes_of(axis, x.ndim)
    words = {"nan": nan, "accuracy": accuracy, **({"ddof": ddof} if ddof else {})}
    _core.State(op, x.dtype, **words)  # raises for what it does not take
    dtypes = _partials.result_dtypes(op, dtype, x.dtype)
    in_order = _core._order_shows(op, x.dtype, accuracy)
    if in_order:
        if np.isnan([n for k in axes for n in x.chunks[k]]).any():
            raise ValueError(f"{op} needs the sizes of chunks: x.compute_chunk_sizes()")
        x = x.rechunk({k: -1 for k in axes[1:]})
    partials = x.map_blocks(
        _make, op=op, axes=axes, words=words, in_order=in_order, dtype=object, meta=np.empty((0,) * x.ndim, object),
        chunks=tuple((1,) * len(sizes) if k in axes else sizes for k, sizes in enumerate(x.chunks)),
    )  # fmt: skip
    if axes:
        partials = da.reduction(
            partials, _unchanged, _merge, axis=axes, keepdims=keepdims, combine=partial(_merge, keepdims=True),
            concatenate=False, split_every=split_every, dtype=object,
            meta=np.empty((0,) * (x.ndim if keepdims else x.ndim - len(axes)), object),
        )  # fmt: skip
    finished = partials.map_blocks(_partials.finish, None if op == "stats" else dtypes, dtype=object)
    if op == "stats":
        return Stats(*(finished.map_blocks(_field, k, name, dtype=name) for k, name in enumerate(dtypes)))
    if op == "minmax":
        return da.stack([finished.map_blocks(_field, k, dtypes, dtype=dtypes) for k in (0, 1)], axis=-1)
    return finished.map_blocks(np.ndarray.astype, dtypes, dtype=dtypes)


__all__ = sorted(["reduce", *_operators.make_functions(reduce, None, globals(), _partials.NAMES)])


# ---- what runs on the workers ----


def _make(chunk, op, axes, words, in_order, block_info=None):
    first = 0
    if in_order and axes:
        first = block_info[0]["array-location"][axes[0]][0] * product(chunk.shape[k] for k in axes[1:])
    partials = _partials.make(chunk, op, axes, first, words)
    return partials.reshape([1 if k in axes else n for k, n in enumerate(chunk.shape)])


def _unchanged(chunk, axis=None, keepdims=None):
    return chunk


def _merge(chunks, axis=None, keepdims=None):
    """Merges nested lists of the partial results of chunks, which follow one another in C order."""
    merged = _partials.merge(list(flatten([chunks])))
    return merged if keepdims else merged.reshape([n for k, n in enumerate(merged.shape) if k not in axis])


def _field(finished, k, dtype):
    values = [finished[place][k] for place in np.ndindex(finished.shape)]
    return np.array(values, dtype).reshape(finished.shape)
