"""What a NumPy user would call for each operator. None where NumPy has no counterpart."""

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

ROWS = {"sum": ("np.sum", np.sum), "max": ("np.max", np.max), "argmin": ("np.argmin", np.argmin)}
