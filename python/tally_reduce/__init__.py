"""Tally: reductions of arrays and of segments, exact sums, the same bits everywhere, on the CPU and on GPUs.

>>> import tally_reduce
>>> from array import array
>>> tally_reduce.sum(array("d", [1e300, 1, -1e300]))
1.0

One function for each operator (`sum`, `mean`, `argmax` ...) and one for its segments (`segment_sum` ...); `reduce` and
`segment_reduce` take the operator by name. docs/python.md is the guide.
"""

from . import _nvrtc

_nvrtc.name_it()

from . import _core  # noqa: E402
from ._core import *  # noqa: E402, F403  (the functions of the table of operators)
from ._core import Plan, State, define, info, reduce, segment_reduce, warm  # noqa: E402
from ._types import Error, Stats  # noqa: E402

and_, or_ = getattr(_core, "and"), getattr(_core, "or")  # Python keeps these words
globals().pop("and"), globals().pop("or")

__version__ = info()["version"]
__all__ = sorted(
    ["Error", "Plan", "State", "Stats", "define", "info", "reduce", "segment_reduce", "warm", "and_", "or_"]
    + [name for name in info()["operators"] if name not in ("and", "or")]
    + ["segment_" + name for name in info()["operators"]]
)
