"""What a NumPy user would call for each operator. None where NumPy has no counterpart."""

import math

import numpy as np


def _logsumexp(x):
    top = x.max()
    return top + np.log(np.exp(x - top).sum())


WHOLE = {
    "sum": ("np.sum", np.sum),
    "prod": ("np.prod", np.prod),
    "min": ("np.min", np.min),
    "max": ("np.max", np.max),
    "argmin": ("np.argmin", np.argmin),
    "argmax": ("np.argmax", np.argmax),
    "minmax": ("np.min, np.max", lambda x: (x.min(), x.max())),
    "any": ("np.any", np.any),
    "all": ("np.all", np.all),
    "count": ("np.count_nonzero", np.count_nonzero),
    "and": ("np.bitwise_and.reduce", np.bitwise_and.reduce),
    "or": ("np.bitwise_or.reduce", np.bitwise_or.reduce),
    "xor": ("np.bitwise_xor.reduce", np.bitwise_xor.reduce),
    "mean": ("np.mean", np.mean),
    "var": ("np.var", np.var),
    "std": ("np.std", np.std),
    "stats": ("np.min, max, sum, mean, var", lambda x: (x.size, x.min(), x.max(), x.sum(), x.mean(), x.var())),
    "norm1": ("np.abs, sum", lambda x: np.abs(x).sum()),
    "norm2": ("np.linalg.norm", np.linalg.norm),
    "norminf": ("np.abs, max", lambda x: np.abs(x).max()),
    "sumsq": ("np.vdot", lambda x: np.vdot(x, x)),
    "logsumexp": ("np.max, exp, sum, log", _logsumexp),
    "dot": ("np.dot", np.dot),
}

# reduceat gives x[start] for an empty segment, so it is asked for the others only, and given their starts for free.
SEGMENTS = {
    "sum": ("np.add.reduceat", np.add.reduceat),
    "min": ("np.minimum.reduceat", np.minimum.reduceat),
    "max": ("np.maximum.reduceat", np.maximum.reduceat),
    "argmin": ("np.minimum.reduceat (values, not indices)", np.minimum.reduceat),
}

ROWS = {op: WHOLE[op] for op in ("sum", "prod", "min", "max", "argmin", "argmax", "any", "all", "mean", "var", "std")}


# ---- exact sums ----


def exact_sums():
    """(who, via, call) of what else gives the true sum of an array."""
    yield "fsum", "math.fsum", math.fsum
    try:
        import xsum
    except ImportError:
        return

    def by_xsum(x):
        total = xsum.xsum_large()
        total.add(np.asarray(x, np.float64))
        return total.round()

    yield "xsum", "xsum_large (Neal)", by_xsum


def _exponents(lowest, highest):
    """Random digits and signs, exponents even between two powers of two."""

    def fill(x):
        random = np.random.default_rng(1)
        for part in np.array_split(x, max(1, x.size >> 22)):
            part[:] = np.ldexp(random.uniform(1, 2, part.size) * random.choice([-1, 1], part.size),
                               random.integers(lowest, highest, part.size)).astype(x.dtype)

    return fill


def _drawn(draw):
    def fill(x):
        random = np.random.default_rng(1)
        for part in np.array_split(x, max(1, x.size >> 22)):
            part[:] = draw(random, part.size)

    return fill


def _every_bit(x):
    """Any finite bits."""
    random, bits = np.random.default_rng(1), x.view(f"u{x.itemsize}")
    for part, floats in zip(np.array_split(bits, max(1, x.size >> 22)), np.array_split(x, max(1, x.size >> 22))):
        part[:] = random.integers(0, 1 << 8 * x.itemsize, part.size, bits.dtype, endpoint=False)
        floats[~np.isfinite(floats)] = 1


def _outliers(x):
    """Values near one, and in every thousandth place one near the largest, of either sign in turn."""
    _drawn(lambda random, n: random.random(n))(x)
    large = np.finfo(x.dtype).max / 4
    x[::2000], x[1000::2000] = large, -large


def _alternating(x):
    """Every second value near the largest, of either sign in turn."""
    _drawn(lambda random, n: random.random(n))(x)
    large = np.finfo(x.dtype).max / 4
    x[::4], x[2::4] = large, -large


def _sparse(x):
    """Zeros, but for every tenth value."""
    _drawn(lambda random, n: random.random(n) * (random.random(n) < 0.1))(x)


CLASSES = {
    "uniform": _drawn(lambda random, n: random.random(n)),
    "normal": _drawn(lambda random, n: random.standard_normal(n)),
    "cancelling": _drawn(lambda random, n: np.resize([1e6, -1e6], n) + random.standard_normal(n)),
    "60 binades": _exponents(-30, 30),
    "200 binades": _exponents(-100, 100),
    "sparse": _sparse,
    "outliers": _outliers,
    "alternating": _alternating,
    "any bits": _every_bit,
}
