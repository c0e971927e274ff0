"""What tally_reduce.torch, tally_reduce.jax and tally_reduce.dask share: a function for each operator, made of `reduce`
and `segment_reduce` of that module, and what they check."""

from __future__ import annotations

from ._core import _takes_ddof, info

# Six arrays are no result of one dtype, and two inputs have two gradients.
NOT_HERE = ("stats", "dot")
NAMES = [name for name in info()["operators"] if name not in NOT_HERE]


def python_name(op):
    return op + "_" if op in ("and", "or") else op


def check_op(op, ddof, more=()):
    """The name of an operator of these modules, or of `more`."""
    op = op[:-1] if op in ("and_", "or_") else op
    if op not in NAMES and op not in more:
        raise ValueError(f"op: {op!r} is none of {', '.join([*NAMES, *more])}; others are in tally_reduce")
    if ddof and not _takes_ddof(op):
        raise TypeError(f"{op} takes no ddof")
    return op


def axes_of(axis, ndim):
    """The axes that are reduced, as a sorted tuple of ints from 0 on."""
    if axis is None:
        return tuple(range(ndim))
    axes = []
    for one in axis if isinstance(axis, (tuple, list)) else (axis,):
        if not -ndim <= one < ndim:
            raise ValueError(f"axis {one} is out of range for an array of {ndim} axes")
        axes.append(one % ndim)
    if len(set(axes)) < len(axes):
        raise ValueError("axis: one is named twice")
    return tuple(sorted(axes))


def choose_index(segment_ids, lengths, offsets):
    """How the segments are named, and the array that does it."""
    named = {"segment_ids": segment_ids, "lengths": lengths, "offsets": offsets}
    given = [(by, index) for by, index in named.items() if index is not None]
    if len(given) != 1:
        raise TypeError("name the segments in one way: segment_ids, lengths or offsets")
    return given[0]


def make_functions(reduce, segment_reduce, namespace, more=()):
    """Puts sum, segment_sum and so on into the namespace of a module; their names. segment_reduce may be None."""
    names = []
    for op in [*NAMES, *more]:
        makers = [(_whole, reduce, python_name(op)), (_segments, segment_reduce, f"segment_{op}")]
        for make, of, name in makers[: 2 if segment_reduce else 1]:
            function = make(of, op)
            function.__name__ = function.__qualname__ = name
            function.__module__ = namespace["__name__"]
            function.__doc__ = f"{of.__name__}(..., {op!r}); its docstring says what the arguments are."
            namespace[name] = function
            names.append(name)
    return names


def _whole(reduce, op):
    def function(x, /, **options):
        return reduce(x, op, **options)

    return function


def _segments(segment_reduce, op):
    def function(data, segment_ids=None, num_segments=None, **options):
        return segment_reduce(data, op, segment_ids=segment_ids, num_segments=num_segments, **options)

    return function
