"""Lengths of segments by (kind, argument), and the index that says them."""

import numpy as np


def _few(random, ends, count):
    return np.diff(np.array([0, *(int(count * end) for end in ends)]))


def _parts(random, parts, count):
    return np.diff(np.sort(np.concatenate([[0, count], random.integers(0, count, parts - 1)])))


def _geometric(random, mean, count):
    return random.geometric(1 / mean, int(1.1 * count / mean) + 1000)


def _lognormal(random, shape, count):
    center, width = shape
    return random.lognormal(center, width, int(1.5 * count / np.exp(center + width**2 / 2)) + 1000).astype(np.int64)


def _between(random, ends, count):
    low, high = ends
    return random.integers(low, high + 1, int(2.2 * count / (low + high)) + 1000)


def _turns(random, longest, count):
    return np.resize(np.arange(1, longest + 1), 2 * count // longest + longest)


def _power(random, exponent, count):
    """Longer than l with a probability of l^-exponent, none above a sixty-fourth of all."""
    longest, parts = max(1, count // 64), []
    while sum(int(part.sum()) for part in parts) < count:
        u = 1 - random.random(max(1000, count // 64))
        parts.append(np.minimum(u ** (-1 / exponent), longest).astype(np.int64))
    return np.concatenate(parts)


def _mostly_empty(random, ends, count):
    """Four in five have nothing."""
    low, high = ends
    n = int(11 * count / (low + high)) + 1000
    return np.where(random.random(n) < 0.8, 0, random.integers(low, high + 1, n))


def _each(random, length, count):
    return np.full(count // length + 1, length)


KINDS = {
    "few": _few,
    "parts": _parts,
    "geometric": _geometric,
    "lognormal": _lognormal,
    "between": _between,
    "turns": _turns,
    "power": _power,
    "mostly empty": _mostly_empty,
    "each": _each,
}


def offsets(shape, count):
    """int32: as many segments of that kind as `count` values fill; the last one takes what is left."""
    kind, argument = shape
    lengths = KINDS[kind](np.random.default_rng(3), argument, count)
    ends = np.cumsum(lengths, dtype=np.int64)
    full = int(np.searchsorted(ends, count))
    if full == len(ends):
        ends = np.append(ends, count)
    return np.concatenate([[0], ends[:full], [count]]).astype(np.int32)


def index(form, shape, count):
    """(index array of int32, number of segments)."""
    bounds = offsets(shape, count)
    segments = len(bounds) - 1
    if form == "offsets":
        return bounds, segments
    if form == "lengths":
        return np.diff(bounds).astype(np.int32), segments
    return np.repeat(np.arange(segments, dtype=np.int32), np.diff(bounds)), segments


def rows(shape, count):
    """(outer, length, inner) of at most `count` values; None where not one fits."""
    known = 1
    for extent in shape:
        known *= extent if extent > 0 else 1
    rest = count // known
    return tuple(rest if extent < 0 else extent for extent in shape) if rest > 0 else None
