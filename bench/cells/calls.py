"""A cell as a call of Tally: what it reads and writes, and the call itself. The machine says where things lie."""

import collections

from cells import lengths
from cells.axes import SEGMENTATION, tally

Shape = collections.namedtuple("Shape", "values results rows index index_bytes segments")
DONE = ("OK", "EMPTY", "OVERFLOW")  # all results are written
BEST = {"exact": "best", "only": "best", "fast": "fast"}


class Failure(Exception):
    pass


def contexts(**options):
    """{accuracy: context}."""
    made = {word: tally.Context(accuracy=word, wraps=False, **options) for word in set(BEST.values())}
    return {accuracy: made[word] for accuracy, word in BEST.items()}


def shape_of(segmentation, count, index_of):
    """What a segmentation of `count` values is; index_of(form, kind, count) gives (an index with .nbytes, segments)."""
    form, shape = SEGMENTATION[segmentation].form, SEGMENTATION[segmentation].shape
    if form == "whole":
        return Shape(count, 1, None, None, 0, 1)
    if form == "rows":
        extents = lengths.rows(shape, count)
        if extents is None:
            raise Failure("the array is too small")
        outer, length, inner = extents
        return Shape(outer * length * inner, outer * inner, extents, None, 0, outer)
    index, segments = index_of(form, shape, count)
    return Shape(count, segments, None, index, index.nbytes, segments)


def result_bytes(context, cell, shape):
    return context.result(cell.op, cell.type)[1] * shape.results


def bytes_of(context, cell, shape):
    """What a cell reads and writes."""
    inputs = tally.OPERATORS[cell.op].inputs
    return shape.values * tally.TYPES[cell.type].size * inputs + shape.index_bytes + result_bytes(context, cell, shape)


def segments_of(segmentation, shape, index_address):
    form = SEGMENTATION[segmentation].form
    if form == "rows":
        outer, length, inner = shape.rows
        return tally.Segments(tally.SEGMENTATIONS["rows"], None, 0, outer, length, inner)
    return tally.Segments(tally.SEGMENTATIONS[form], index_address, tally.TYPES["i32"].number, shape.segments, 0, 0)


def call(context, cell, shape, inputs, index_address, out_address):
    """A function without arguments; `inputs` are addresses."""
    kind = tally.TYPES[cell.type].number
    arrays = [tally.Array(address, kind, shape.values, 0) for address in inputs]
    out = tally.Array(out_address, 0, shape.results, 0)
    pair = "_pair" if len(arrays) == 2 else ""
    handle, number = context.handle, tally.OPERATORS[cell.op].number
    if SEGMENTATION[cell.segmentation].form == "whole":
        function, arguments = getattr(tally.lib, "tally_reduce" + pair), (handle, number, *arrays, out)
    else:
        segments = segments_of(cell.segmentation, shape, index_address)
        function = getattr(tally.lib, "tally_reduce_segments" + pair)
        arguments = (handle, number, *arrays, segments, out)

    def run():
        status = function(*arguments)
        if status and tally.STATUSES[status] not in DONE:
            raise Failure(f"{tally.STATUSES[status]}: {tally.lib.tally_message().decode()}")

    return run
