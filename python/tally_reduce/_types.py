"""Types that Python makes better than C."""

from typing import Any, NamedTuple


class Error(RuntimeError):
    """A GPU, its driver or its compiler failed, or this version of Tally cannot do what was asked."""


class Stats(NamedTuple):
    """What `stats` gives: six scalars, or six arrays of the results' shape."""

    count: Any
    min: Any
    max: Any
    sum: Any
    mean: Any
    var: Any
