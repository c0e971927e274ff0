"""Reductions for PyTorch's autograd and torch.compile: operators registered with torch.library.

>>> import torch, tally_reduce.torch as tally
>>> x = torch.tensor([1e16, 1.0, -1e16], dtype=torch.float64, requires_grad=True)
>>> tally.sum(x).backward()
>>> x.grad.tolist()
[1.0, 1.0, 1.0]
>>> tally.segment_softmax(torch.zeros(3), torch.tensor([0, 0, 1]), 2).tolist()
[0.5, 0.5, 1.0]

There is a function for each operator but stats and dot: `sum` is `reduce(x, "sum")`, `segment_sum` is
`segment_reduce(data, "sum")`. torch.compile keeps each call in its graph as torch.ops.tally_reduce.reduce or
torch.ops.tally_reduce.segment_reduce. All that give floats have first and second derivatives, but minmax. torch.vmap
works; torch.func.grad does not, as PyTorch has none for registered operators. Needs PyTorch 2.5 or later.
"""

from __future__ import annotations

import builtins  # an operator may take the name of a function
from math import prod as product

import torch

from . import _core, _operators, _partials
from ._gradients import WITHOUT_VALUES, Reduction, check_gradient, gradient

if not hasattr(torch.library, "register_vmap"):
    raise ImportError(f"tally_reduce.torch needs PyTorch 2.5 or later, and this is {torch.__version__}")

_library = torch.library.Library("tally_reduce", "DEF")
_library.define(
    "reduce(Tensor x, str op, int[] axes, bool keepdims, ScalarType? dtype, int ddof, str nan, str accuracy) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
_library.define(
    "segment_reduce(Tensor data, str op, Tensor index, str by, SymInt num_segments, int axis, ScalarType? dtype, "
    "int ddof, str nan, str accuracy, bool indices_are_sorted, str out_of_range) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
_reduce = torch.ops.tally_reduce.reduce.default
_segment_reduce = torch.ops.tally_reduce.segment_reduce.default


# ---- the functions of this module ----


def reduce(x, op, /, *, axis=None, keepdims=False, dtype=None, nan="propagate", accuracy="exact", ddof=0):
    """Reduces some axes of a tensor (all: axis=None) on the tensor's device.

    x: a tensor of any shape; op: the name of an operator; axis: an int or several; dtype: a torch.dtype for the
    results. nan, accuracy and ddof are as in tally_reduce.reduce. Returns a tensor of the shape that is left.
    Gradients: values that tie for min and max get equal shares.

    Raises ValueError for axes or an operator that do not exist, or an empty tensor without a result; TypeError for a
    dtype that the operator does not take; OverflowError for integers that do not fit.

    >>> import torch, tally_reduce.torch as tally
    >>> tally.reduce(torch.ones(2, 3), "sum", axis=1).tolist()
    [3.0, 3.0]
    """
    axes = _operators.axes_of(axis, x.ndim)
    return _reduce(x, _operators.check_op(op, ddof), list(axes), keepdims, dtype, ddof, nan, accuracy)


def segment_reduce(
    data, op, /, segment_ids=None, num_segments=None, *, lengths=None, offsets=None, indices_are_sorted=True,
    out_of_range="error", axis=0, dtype=None, nan="propagate", accuracy="exact", ddof=0,
):  # fmt: skip
    """Reduces each segment of one axis of a tensor; all other axes are features.

    data: a tensor of one axis or more. The segments are named in one way: segment_ids, lengths or offsets, a tensor of
    integers with one axis, as in tally_reduce.segment_reduce. Without num_segments, the largest id says it, which waits
    for a GPU and breaks a graph. Others are as in `reduce`. Returns a tensor with num_segments along the axis. Values
    outside of all segments get a gradient of 0.

    Raises ValueError for segments that do not fit, TypeError for other arguments.

    >>> import torch, tally_reduce.torch as tally
    >>> tally.segment_reduce(torch.arange(4.0), "max", torch.tensor([0, 0, 2, 2]), 3).tolist()
    [1.0, nan, 3.0]
    """
    by, index = _operators.choose_index(segment_ids, lengths, offsets)
    index = torch.as_tensor(index)
    if by == "lengths":
        num_segments = index.shape[0]
    elif by == "offsets":
        num_segments = index.shape[0] - 1
    elif num_segments is None:
        num_segments = int(index.max()) + 1 if index.numel() else 0
    (axis,) = _operators.axes_of(axis, data.ndim)
    return _segment_reduce(
        data, _operators.check_op(op, ddof), index, by, num_segments, axis, dtype, ddof, nan, accuracy,
        indices_are_sorted, out_of_range,
    )  # fmt: skip


def segment_softmax(
    data, segment_ids=None, num_segments=None, *, lengths=None, offsets=None, indices_are_sorted=True, axis=0
):
    """exp of each value, divided by the sum of exp over its segment: a tensor of data's shape and dtype.

    The largest value of a segment is subtracted first, and the sum is exact. Arguments and errors are as in
    `segment_reduce`; data must be floats, and every value must lie in a segment.

    >>> import torch, tally_reduce.torch as tally
    >>> tally.segment_softmax(torch.tensor([5.0, 5.0, 9.0]), lengths=torch.tensor([2, 1])).tolist()
    [0.5, 0.5, 1.0]
    """
    by, index = _operators.choose_index(segment_ids, lengths, offsets)
    segmentation = {by: index, "num_segments": num_segments, "indices_are_sorted": indices_are_sorted, "axis": axis}
    wide = data.to(torch.promote_types(data.dtype, torch.float32))
    largest = segment_reduce(wide.detach(), "max", **segmentation)
    (axis,) = _operators.axes_of(axis, data.ndim)
    ids = _ids(torch.as_tensor(index), by, data.shape[axis], largest.shape[axis], data.device)
    exponentials = torch.exp(wide - _spread(largest, ids, axis))
    sums = segment_reduce(exponentials, "sum", **segmentation)
    return (exponentials / _spread(sums, ids, axis)).to(data.dtype)


def all_reduce(
    x, op, /, group=None, *, axis=None, keepdims=False, dtype=None, nan="propagate", accuracy="exact", ddof=0
):  # fmt: skip
    """Reduces a tensor that is distributed over the ranks of torch.distributed, and gives each rank the results.

    x: this rank's part; the values of a rank follow those of the rank before it. op: the name of an operator, but dot.
    group: a process group (the default one: None), all of whose ranks must call. axis: None reduces all values of all
    ranks to one; an int or several reduce these axes, along which parts may have any extents, also 0; () reduces no
    axis, so that element k is that of the elements k of all ranks, as torch.distributed.all_reduce does it. Other
    keywords are as in `reduce`. Returns a tensor on x's device (for stats six), without a gradient. The bits are those
    of `reduce` for the whole tensor, however it is shared out.

    Where the order of values does not show (docs/order.md) a node for each result is sent, 9 to 1728 bytes, 128 for an
    exact sum of float32 and 584 of float64; those of exact sums and counts are added by all_reduce as int64. Elsewhere
    a State for each result is sent from each rank to all by all_gather_object (0.2 to 8 KB): that is meant for few
    results. A tensor on a GPU is reduced there, and the call waits; with NCCL the current GPU must be the rank's own.

    Raises what `reduce` raises. If a rank's arguments are wrong, it raises that on this rank and tally_reduce.Error on
    the others; ValueError if ranks disagree on op, dtypes, axes or the shape that is left.
    """
    from torch import distributed

    if distributed.get_rank(group) < 0:
        raise ValueError("this process is not in the group")

    def gather(mine):
        everyone = [None] * distributed.get_world_size(group)
        distributed.all_gather_object(everyone, mine, group)
        return everyone

    def add(nodes):
        sums = torch.frombuffer(nodes, dtype=torch.int64)
        there = sums.cuda() if distributed.get_backend(group) == "nccl" else sums
        distributed.all_reduce(there, group=group)
        if there is not sums:
            sums.copy_(there)

    def make_array(values, dtype, shape):
        return torch.tensor(values, dtype=getattr(torch, dtype), device=x.device).reshape(shape)

    words = {"nan": nan, "accuracy": accuracy, "ddof": ddof}
    return _partials.reduce_over_ranks(
        gather, distributed.get_rank(group), x.detach(), op, axis, keepdims, dtype, words, make_array, add
    )


__all__ = sorted(
    ["all_reduce", "reduce", "segment_reduce", "segment_softmax"]
    + _operators.make_functions(reduce, segment_reduce, globals())
)


# ---- kernels ----


def _dtype_of(data, op, dtype):
    return dtype or getattr(torch, _core._result_dtype(op, data.dtype))


@torch.library.impl(_library, "reduce", "CPU")
@torch.library.impl(_library, "reduce", "CUDA")
def _reduce_kernel(x, op, axes, keepdims, dtype, ddof, nan, accuracy):
    words = {"ddof": ddof} if ddof else {}
    if dtype is not None:
        words["dtype"] = dtype
    return _core.reduce(x.detach(), op, axis=tuple(axes), keepdims=keepdims, nan=nan, accuracy=accuracy, **words)


@torch.library.impl(_library, "segment_reduce", "CPU")
@torch.library.impl(_library, "segment_reduce", "CUDA")
def _segment_kernel(data, op, index, by, num_segments, axis, dtype, ddof, nan, accuracy, indices_are_sorted,
                    out_of_range):  # fmt: skip
    words = {"ddof": ddof} if ddof else {}
    if dtype is not None:
        words["dtype"] = dtype
    if by == "segment_ids":
        words |= {"num_segments": num_segments, "out_of_range": out_of_range, "indices_are_sorted": indices_are_sorted}
    words[by] = index
    return _core.segment_reduce(data.detach(), op, axis=axis, nan=nan, accuracy=accuracy, **words)


@torch.library.register_fake("tally_reduce::reduce", lib=_library)
def _reduce_fake(x, op, axes, keepdims, dtype, ddof, nan, accuracy):
    shape = [1 if k in axes else n for k, n in enumerate(x.shape) if keepdims or k not in axes]
    return x.new_empty(shape + [2] * (op == "minmax"), dtype=_dtype_of(x, op, dtype))


@torch.library.register_fake("tally_reduce::segment_reduce", lib=_library)
def _segment_fake(data, op, index, by, num_segments, axis, dtype, *_):
    shape = [num_segments if k == axis else n for k, n in enumerate(data.shape)]
    return data.new_empty(shape + [2] * (op == "minmax"), dtype=_dtype_of(data, op, dtype))


# ---- gradients ----


def _spread(results, ids, axis):
    """Each value's result; 0 for id num_segments."""
    none = results.new_zeros([1 if k == axis else n for k, n in enumerate(results.shape)])
    return torch.cat([results, none], axis).index_select(axis, ids)


def _ids(index, by, values, segments, device):
    """The segment of each value; `segments` for values outside of all."""
    index = index.to(device=device, dtype=torch.int64)
    if by == "lengths":
        index = torch.cat([index.new_zeros(1), index.cumsum(0)])
    if by != "segment_ids":
        index = torch.searchsorted(index, torch.arange(values, device=device), right=True) - 1
    return torch.where((index >= 0) & (index < segments), index, segments)


def _setup(ctx, inputs, output):
    x, op = inputs[:2]
    ctx.call = inputs[1:]
    ctx.shape, ctx.dtype = x.shape, x.dtype
    nan, accuracy = inputs[6:8] if len(inputs) == 8 else inputs[8:10]
    ctx.words = {"nan": nan, "accuracy": accuracy}
    ctx.has_values = op not in WITHOUT_VALUES or nan == "skip"
    tensors = [x, output] if ctx.has_values else []
    if len(inputs) > 8:
        tensors.append(inputs[2])
    ctx.save_for_backward(*tensors)


def _gradient(ctx, grad, op, ddof, kept, total, spread, counts):
    """The gradient of x, computed as float32 for halves. kept: results, with a place for each axis of x."""
    check_gradient(op)
    wide = torch.promote_types(torch.promote_types(ctx.dtype, grad.dtype), torch.float32)
    x = result = None
    if ctx.has_values:
        x, result = ctx.saved_tensors[:2]
        x = x.to(wide)
        result = kept(result) if result.dtype == wide else total(op, x)
    it = Reduction(torch, x, result, total, spread, counts, ddof, ctx.words["nan"] == "skip")
    return gradient(op, it, kept(grad).to(wide)).to(ctx.dtype)


def _reduce_backward(ctx, grad):
    op, axes, keepdims, _, ddof, _, _ = ctx.call
    shape = [1 if k in axes else n for k, n in enumerate(ctx.shape)]
    sizes = [ctx.shape[k] for k in axes]
    x = _gradient(
        ctx, grad, op, ddof, lambda results: results.reshape(shape),
        total=lambda op, values: reduce(values, op, axis=tuple(axes), keepdims=True, **ctx.words),
        spread=lambda results: results.expand(ctx.shape),
        counts=lambda: product(sizes),
    )  # fmt: skip
    return x, *[None] * len(ctx.call)


def _segment_backward(ctx, grad):
    op, _, by, segments, axis, _, ddof, _, _, indices_are_sorted, out_of_range = ctx.call
    index = ctx.saved_tensors[-1]
    ids = _ids(index, by, ctx.shape[axis], segments, grad.device)
    segmentation = {by: index, "num_segments": segments, "indices_are_sorted": indices_are_sorted,
                    "out_of_range": out_of_range}  # fmt: skip
    along = [segments if k == axis else 1 for k, _ in enumerate(ctx.shape)]

    def counts():
        present = torch.ones(ctx.shape[axis], dtype=torch.bool, device=grad.device)
        return segment_reduce(present, "count", **segmentation).reshape(along)

    x = _gradient(
        ctx, grad, op, ddof, lambda results: results,
        total=lambda op, values: segment_reduce(values, op, axis=axis, **segmentation, **ctx.words),
        spread=lambda results: _spread(results, ids, axis),
        counts=counts,
    )  # fmt: skip
    return x, *[None] * len(ctx.call)


torch.library.register_autograd("tally_reduce::reduce", _reduce_backward, setup_context=_setup, lib=_library)
torch.library.register_autograd("tally_reduce::segment_reduce", _segment_backward, setup_context=_setup, lib=_library)


# ---- vmap: the batch is one more axis that is kept ----


@torch.library.register_vmap("tally_reduce::reduce", lib=_library)
def _reduce_vmap(info, in_dims, x, op, axes, *others):
    return _reduce(x.movedim(in_dims[0], 0), op, [axis + 1 for axis in axes], *others), 0


@torch.library.register_vmap("tally_reduce::segment_reduce", lib=_library)
def _segment_vmap(info, in_dims, data, op, index, by, segments, axis, *others):
    if in_dims[2] is None:
        return _segment_reduce(data.movedim(in_dims[0], 0), op, index, by, segments, axis + 1, *others), 0
    batches = builtins.range(info.batch_size)
    rows = [data.select(in_dims[0], k) if in_dims[0] is not None else data for k in batches]
    indices = [index.select(in_dims[2], k) for k in batches]
    return torch.stack([_segment_reduce(*pair, by, segments, axis, *others)
                        for pair in zip(rows, [op] * len(rows), indices)]), 0  # fmt: skip
