"""What exact sums of floats must be: the true value, of Python's whole numbers, rounded once by a few lines of them.

Nothing here knows limbs, levels or an order of addition, and nothing of Tally. A value is its sign and its size in
units of the type's smallest subnormal, which makes every finite one a whole number.
"""
import dataclasses
import math

import order

TOTALS = ("sum", "mean", "norm1", "sumsq", "norm2", "dot", "var", "std", "stats")


def scale(type_name):
    """The smallest subnormal is 2^-scale."""
    exponent, fraction = order.FLOATS[type_name]
    return (1 << (exponent - 1)) - 2 + fraction


# ---- one rounding ----


def nearest(type_name, above, below=1):
    """above / below to the nearest float of a type, ties to even: as bits. Zero is +0."""
    exponent, fraction = order.FLOATS[type_name]
    sign, above = (1 if above < 0 else 0) << (exponent + fraction), abs(above)
    above <<= scale(type_name)  # units are the smallest subnormal now
    ulp = max(0, above.bit_length() - below.bit_length() - 1 - fraction)  # at most one too low
    if above >> (ulp + fraction + 1) >= below:
        ulp += 1
    kept, rest = divmod(above, below << ulp)
    rest = 2 * rest - (below << ulp)
    kept += rest > 0 or (rest == 0 and kept & 1)
    # A kept integer bit adds one to the exponent's field, and so does one that rounding carries out.
    return sign | min((ulp << fraction) + kept, ((1 << exponent) - 1) << fraction)


GUARD = 1280  # binary places of a root: far below the smallest f64, so that only a sticky bit is needed behind them


def nearest_root(type_name, above, below=1):
    """The square root of above / below, rounded once."""
    square, rest = divmod(above << 2 * GUARD, below)
    root = math.isqrt(square)
    return nearest(type_name, 2 * root + (rest != 0 or root * root != square), 2 << GUARD)


def special(type_name, value):
    """The bits of -0, an infinity, or the NaN that results carry."""
    exponent, fraction = order.FLOATS[type_name]
    if value != value:
        return int.from_bytes(order.nan_bytes(type_name), "little")
    sign = (math.copysign(1, value) < 0) << (exponent + fraction)
    return sign | (((1 << exponent) - 1) << fraction if value else 0)


# ---- terms and their sums ----


@dataclasses.dataclass
class Term:
    negative: bool
    size: object  # a whole number; inf or nan

    def __mul__(self, other):
        sizes = self.size, other.size
        if any(size != size for size in sizes):
            size = math.nan
        elif math.inf in sizes:
            size = math.nan if 0 in sizes else math.inf
        else:
            size = sizes[0] * sizes[1]
        return Term(self.negative != other.negative, size)


def term(type_name, raw):
    exponent, fraction = order.FLOATS[type_name]
    power, size = raw >> fraction & ((1 << exponent) - 1), raw & ((1 << fraction) - 1)
    if power == (1 << exponent) - 1:
        size = math.nan if size else math.inf
    elif power:
        size = (size | 1 << fraction) << (power - 1)
    return Term(bool(raw >> (exponent + fraction)), size)


def total(terms):
    """A whole number, or what none can say: inf, -inf, nan, -0.0 (only negative zeros, and at least one)."""
    endless = {t.negative for t in terms if t.size == math.inf}
    if any(t.size != t.size for t in terms) or len(endless) == 2:
        return math.nan
    if endless:
        return -math.inf if True in endless else math.inf
    if terms and all(t.negative and t.size == 0 for t in terms):
        return -0.0
    return sum(-t.size if t.negative else t.size for t in terms)


def rounded(out, value, places, count=1, root=False):
    """The bits of value * 2^-places / count, or of its root."""
    if isinstance(value, float):
        return special(out, value)
    return (nearest_root if root else nearest)(out, value, count << places)


def spread(out, terms, places, ddof, root=False):
    """By definition: squared distances from the mean, here times the square of the count."""
    n, whole = len(terms), total(terms)
    if n <= ddof or whole != whole or whole in (math.inf, -math.inf):
        return special(out, math.nan)
    whole = int(whole)
    squares = sum((n * (-t.size if t.negative else t.size) - whole) ** 2 for t in terms)
    return rounded(out, squares, 2 * places, n * n * (n - ddof), root)


# ---- operators ----


def natural(type_name):
    return "f64" if type_name == "f64" else "f32"


def present(type_name, nan, *arrays):
    """The values, as tuples of bits, that a policy counts."""
    values = list(zip(*map(order.bits, arrays)))
    if nan == "skip":
        values = [v for v in values if not any(order.is_nan(type_name, raw) for raw in v)]
    return values


def reduce(op, type_name, x, y=None, nan="propagate", ddof=0, out=None):
    """The bytes of the result in type `out` (none: the natural one), and whether no value was present."""
    values = present(type_name, nan, *(v for v in (x, y) if v is not None))
    terms, places, n = [term(type_name, raw) for raw, *_ in values], scale(type_name), len(values)
    out = out or natural(type_name)
    if op == "stats":
        return stats(type_name, values, terms, ddof), n == 0
    if op in ("var", "std"):
        found = spread(out, terms, places, ddof, op == "std")
    elif op in ("sum", "mean", "norm1"):
        whole = total([Term(False, t.size) for t in terms] if op == "norm1" else terms)
        if op == "mean":
            found = rounded(out, whole, places, n) if n else special(out, math.nan)
        else:
            found = rounded(out, whole, places)
    else:
        seconds = [term(type_name, v[1]) for v in values] if op == "dot" else terms
        found = rounded(out, total([a * b for a, b in zip(terms, seconds)]), 2 * places, root=op == "norm2")
    return found.to_bytes(order.SIZES[out], "little"), n == 0


def stats(type_name, values, terms, ddof):
    n, places, narrow = len(values), scale(type_name), natural(type_name)
    whole, raws = total(terms), [raw for (raw,) in values]
    ends = [math.nan] * 2
    if n and not any(order.is_nan(type_name, raw) for raw in raws):
        raws.sort(key=lambda raw: order.total_key(type_name, raw))
        ends = [order.decode(type_name, raw) for raw in (raws[0], raws[-1])]
    words = [*ends, order.decode(narrow, rounded(narrow, whole, places)),
             order.decode("f64", rounded("f64", whole, places, n)) if n else math.nan,
             order.decode("f64", spread("f64", terms, places, ddof))]
    return order.pack("i64", n) + b"".join(order.pack("f64", float(word)) for word in words)
