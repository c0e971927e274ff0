"""What the matrix is made of, each axis a table.

A rank says how early a row of a table is measured: the rank of a cell is the sum of its rows' ranks.
"""

import collections
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "python"))
import tally  # noqa: E402  the tests' binding: TALLY_LIBRARY names the library

Cell = collections.namedtuple("Cell", "op type accuracy segmentation data")


def cell_of(record):
    return Cell(*(record[axis] for axis in Cell._fields))


Segmentation = collections.namedtuple(
    "Segmentation", "name rank form shape"
)  # shape: of rows (outer, length, inner), -1 the rest; else see lengths.py

OPERATORS = {
    **dict.fromkeys(("sum", "mean", "var", "max"), 0),
    **dict.fromkeys(("norm2", "stats", "argmin", "logsumexp"), 1),
    **dict.fromkeys(("sumsq", "norm1", "prod", "min", "argmax", "minmax", "any", "count", "std", "dot"), 2),
    **dict.fromkeys(("all", "and", "or", "xor", "norminf"), 3),
}
OPERATORS.update({op: 3 for op in tally.OPERATORS if op not in OPERATORS})  # new ones
TYPES = {"f32": 0, "f64": 1, "bf16": 1, "f16": 2, "i32": 2, "u8": 2, "i64": 3, "i16": 3, "bool": 3}
# exact: sums of floats by default. fast: the same in the canonical order. only: what has no choice.
ACCURACIES = {"exact": 0, "fast": 1, "only": 0}


def rows(name, rank, outer, length, inner=1):
    return Segmentation(name, rank, "rows", (outer, length, inner))


def segmentations(form, prefix, rows):
    return [Segmentation(prefix + name, rank, form, (kind, argument)) for name, rank, kind, argument in rows]


SEGMENTATIONS = [
    Segmentation("whole", 0, "whole", None),
    rows("3 rows", 2, 3, -1),
    rows("64 rows", 0, 64, -1),
    *(rows(f"rows of {n}", rank, -1, n) for n, rank in
      ((50257, 1), (16385, 1), (4096, 2), (1000, 0), (768, 1), (255, 2), (64, 0), (10, 1), (3, 3), (2, 2))),
    *(rows(f"first x {n}", rank, 1, -1, n) for n, rank in
      ((2, 2), (3, 3), (8, 0), (10, 1), (64, 0), (255, 2), (768, 3), (1000, 1), (4096, 1), (50257, 2))),
    rows("first x 2^16", 2, 1, -1, 1 << 16),
    rows("first x 2^20", 0, 1, -1, 1 << 20),
    rows("3 x rest, first", 2, 1, 3, -1),
    rows("10 x rest, first", 3, 1, 10, -1),
    rows("middle 64, x 64", 2, -1, 64, 64),
    rows("middle 400, x 400", 2, -1, 400, 400),
    rows("middle rest, 64 x 8", 3, 64, -1, 8),
    *segmentations("offsets", "", [
        ("one", 0, "few", (1,)),
        ("four", 1, "few", (1 / 7, 1 / 2, 1 / 2 + 1e-6, 1)),
        ("100 long", 1, "parts", 100),
        ("geometric 20", 0, "geometric", 20),
        ("lognormal", 1, "lognormal", (2, 2)),
        ("0 to 2000", 1, "between", (0, 2000)),
        ("1 to 64 in turn", 2, "turns", 64),
        ("power 1.1", 1, "power", 1.1),
        ("power 0.5", 2, "power", 0.5),
        ("80% empty", 1, "mostly empty", (1, 63)),
    ]),
    *segmentations("offsets", "each ", [(str(n), rank, "each", n) for n, rank in (
        (1, 1), (2, 3), (3, 0), (6, 3), (8, 1), (12, 3), (24, 2), (48, 3), (100, 1), (128, 2), (300, 0), (1000, 2),
        (4096, 1), (5000, 3))]),
    *segmentations("lengths", "lengths, ", [("geometric 20", 3, "geometric", 20)]),
    *segmentations("segment_ids", "ids, ", [
        ("one", 3, "few", (1,)),
        ("geometric 20", 1, "geometric", 20),
        ("each 3", 2, "each", 3),
        ("each 300", 2, "each", 300),
        ("80% empty", 3, "mostly empty", (1, 63)),
    ]),
]  # fmt: skip
SEGMENTATION = {segmentation.name: segmentation for segmentation in SEGMENTATIONS}

# (rank, whether integers have it, whether it is hard: not what sums meet every day)
DATA = {
    "normal": (0, True, False),
    "uniform": (2, False, False),
    "cents": (3, False, False),
    "zeros": (2, True, False),
    "one inf": (3, False, False),
    "NaN in 1000": (2, False, False),
    "signs": (0, True, False),
    "wide": (2, False, True),
    "any bits": (2, True, True),
    "subnormal": (3, False, True),
}
# Data that neither overflow nor let a reader stop early; what is not here has all but signs.
ONLY_DATA = {"any": ["zeros"], "all": ["signs"], "prod": ["signs"]}


def kinds_of(op, type):
    floats = tally.TYPES[type].kind == "float"
    if op in ONLY_DATA:
        return ONLY_DATA[op]
    skipped = {"signs"} | ({"any bits"} if type == "bool" else set())
    return [kind for kind, (_, ints, _) in DATA.items() if kind not in skipped and (floats or ints)]


def accuracies_of(op, type):
    return ("exact", "fast") if tally.OPERATORS[op].exact(type) else ("only",)


def rank(cell):
    data = 0 if cell.op in ONLY_DATA else DATA[cell.data][0]
    ranks = OPERATORS[cell.op], TYPES[cell.type], ACCURACIES[cell.accuracy], SEGMENTATION[cell.segmentation].rank
    return sum(ranks) + data


def is_hard(cell_or_record):
    data = cell_or_record["data"] if isinstance(cell_or_record, dict) else cell_or_record.data
    return DATA[data][2]


def all_cells():
    return [
        Cell(op, type, accuracy, segmentation.name, data)
        for op in OPERATORS
        for type in TYPES
        if tally.OPERATORS[op].takes(type)
        for accuracy in accuracies_of(op, type)
        for segmentation in SEGMENTATIONS
        for data in kinds_of(op, type)
    ]


def chosen(cells, only):
    """The cells whose values are among those that `only` has for their axis: {"op": ["sum"], ...}."""
    return [cell for cell in cells if all(getattr(cell, axis) in words for axis, words in only.items() if words)]


def in_order(cells, together=500, steep=3):
    """A random order in which a rank more makes a cell come early `steep` times less often: what time allows is a
    sample of every axis, and of the low ranks nearly all. Cells of one type and data are together in each few
    hundred, as a machine makes their input once."""
    draw = random.Random(7)
    order = sorted(cells, key=lambda cell: draw.expovariate(1) * steep ** rank(cell))
    parts = (order[k : k + together] for k in range(0, len(order), together))
    return [cell for part in parts for cell in sorted(part, key=lambda cell: (cell.type, cell.data, cell.segmentation))]


def kernel(cell):
    """What is compiled for it."""
    return cell.op, cell.type, cell.accuracy, SEGMENTATION[cell.segmentation].form
