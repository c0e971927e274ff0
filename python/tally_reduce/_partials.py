"""Partial results of the parts of an array: what tally_reduce.dask, tally_reduce.mpi and torch.all_reduce share.

The partial results of a part are a NumPy array of objects, of the shape of the axes that are kept: for each result the
bytes of a State. States are merged in the order of the parts, so the result has the bits of one call with all values.
"""

from __future__ import annotations

from math import prod

import numpy as np

from . import _core
from ._operators import axes_of, check_op
from ._types import Error, Stats

NAMES = ("stats",)  # operators that are reduced in parts, beside those of _operators.NAMES


def make(x, op, axes, first, words):
    """The partial results of one part. first: how many values of each result come before those of this part; words:
    keywords of State."""
    kept = [k for k in range(x.ndim) if k not in axes]
    order = (*kept, *axes)
    rows = x.permute(order) if hasattr(x, "permute") else x.transpose(order)  # PyTorch; NumPy and others
    results = np.empty([x.shape[k] for k in kept], object)
    for place in np.ndindex(results.shape):
        state = _core.State(op, x.dtype, first=first, **words)
        state.push(rows[place].reshape(-1))
        results[place] = state.to_bytes()
    return results


def merge(parts):
    """The partial results of parts that follow one another."""
    if len(parts) == 1:
        return parts[0]
    results = np.empty(parts[0].shape, object)
    for place in np.ndindex(results.shape):
        state = _core.State.from_bytes(parts[0][place])
        for part in parts[1:]:
            state.merge(_core.State.from_bytes(part[place]))
        results[place] = state.to_bytes()
    return results


def finish(partials, dtype):
    """The results as Python's: numbers, pairs of minmax, and the tuples of stats, in an array of objects."""
    results = np.empty(partials.shape, object)
    for place in np.ndindex(results.shape):
        results[place] = _core.State.from_bytes(partials[place]).finish(dtype=dtype)
    return results


def result_dtypes(op, dtype, input_dtype):
    """The name of the dtype of the results; for stats six of them. dtype: what the caller asks for, or None."""
    if op != "stats":
        return _core._dtype_name(dtype) if dtype is not None else _core._result_dtype(op, input_dtype)
    if dtype is not None:
        raise TypeError("stats has the dtypes it has; dtype is not supported")
    name = _core._dtype_name(input_dtype)
    word = "float64" if "float" in name else "uint64" if name.startswith("u") else "int64"
    return ["int64", word, word, word, "float64", "float64"]


def arrays_of(finished, dtypes, make_array):
    """The arrays of finished results: make_array(nested list, name of a dtype, shape)."""
    flat = [finished[place] for place in np.ndindex(finished.shape)]
    if isinstance(dtypes, list):
        fields = ([one[k] for one in flat] for k in range(6))
        return Stats(*(make_array(field, name, finished.shape) for field, name in zip(fields, dtypes)))
    pair = (2,) if flat and isinstance(flat[0], tuple) else ()
    return make_array(flat, dtypes, finished.shape + pair)


# ---- ranks ----


def _collect(gather, compute, keep=False):
    """What compute() gives on each rank, or with `keep` on this one. If it raises on one rank, all ranks raise, and
    none waits for ever."""
    mine = error = None
    try:
        mine = compute()
    except Exception as caught:
        error = caught
    everyone = gather((None if keep else mine, error and f"{type(error).__name__}: {error}"))
    if error is not None:
        raise error
    for rank, (_, message) in enumerate(everyone):
        if message is not None:
            raise Error(f"rank {rank} could not reduce its part: {message}")
    return mine if keep else [value for value, _ in everyone]


CHUNK_BYTES = 1 << 24  # of nodes, that are sent at once


def _by_nodes(gather, add, x, name, axes, first, options, facts, result_dtype):
    """The results, by nodes: where the order of values does not show, they are merged in any order."""
    size, adds = facts
    kept = [k for k in range(x.ndim) if k not in axes]
    results, length = prod(x.shape[k] for k in kept), prod(x.shape[k] for k in axes)
    order = (*kept, *axes)
    rows = (x.permute(order) if hasattr(x, "permute") else x.transpose(order)).reshape(results, length)
    step, finished = max(1, CHUNK_BYTES // size), []
    kind = name, x.dtype

    def make_some(begin):
        some = rows[begin : begin + step]
        if hasattr(some, "contiguous"):
            some = some.contiguous()
        elif not some.flags.c_contiguous:
            some = some.copy()
        nodes = _core._make_nodes(some, some.shape[0], *kind, **options)
        if first:
            _core._shift_nodes(nodes, first, *kind, **options)
        return nodes

    for begin in range(0, results, step):
        if adds and add:
            nodes = _collect(gather, lambda: make_some(begin), keep=True)
            add(nodes)
        else:
            nodes, *others = _collect(gather, lambda: make_some(begin))
            nodes = bytearray(nodes)
            for other in others:
                _core._merge_nodes(nodes, other, *kind, **options)
        finished += _core._finish_nodes(nodes, result_dtype, *kind, **options)
    array = np.empty(results, object)
    for place, result in enumerate(finished):
        array[place] = result
    return array.reshape([x.shape[k] for k in kept])


def reduce_over_ranks(gather, rank, x, op, axis, keepdims, dtype, words, make_array, add=None):
    """Reduces an array whose parts lie on ranks, in rank order. gather(object) gives the objects of all ranks;
    add(bytearray) replaces its 64-bit integers by their sums over all ranks. None: there is no such way."""

    def describe():
        name, axes = check_op(op, words["ddof"], NAMES), axes_of(axis, x.ndim)
        kept = [n for k, n in enumerate(x.shape) if k not in axes]
        options = {word: value for word, value in words.items() if word != "ddof" or value}
        _core.State(name, x.dtype, **options)  # raises for what it does not take
        call = (name, _core._dtype_name(x.dtype), axes, kept, options, result_dtypes(name, dtype, x.dtype))
        return call, prod(x.shape[k] for k in axes)

    calls, counts = zip(*_collect(gather, describe))
    for other, call in enumerate(calls):
        if call != calls[0]:
            raise ValueError(f"ranks 0 and {other} call with {calls[0]} and {call}, which must be the same")
    name, input_dtype, axes, _, options, dtypes = calls[0]
    in_order = _core._order_shows(name, input_dtype, options["accuracy"])
    first, result_dtype = sum(counts[:rank]) if in_order else 0, None if name == "stats" else dtypes
    facts = _core._node_facts(name, x.dtype, **options)
    if facts is not None:
        finished = _by_nodes(gather, add, x, name, axes, first, options, facts, result_dtype)
    else:
        finished = finish(merge(_collect(gather, lambda: make(x, name, axes, first, options))), result_dtype)
    if keepdims:
        finished = finished.reshape([1 if k in axes else n for k, n in enumerate(x.shape)])
    return arrays_of(finished, dtypes, make_array)
