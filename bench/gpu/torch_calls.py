"""How PyTorch does what an operator does along one dimension."""

import torch

TYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "u8": torch.uint8,
    "bool": torch.bool,
}
WIDE = {"f16": torch.float32, "bf16": torch.float32}  # what Tally gives
norm = torch.linalg.vector_norm
CALLS = {  # operator: (name, call(x, dim, type), whether it takes floats only)
    "sum": ("sum", lambda x, dim, t: torch.sum(x, dim, dtype=WIDE.get(t)), False),
    "prod": ("prod", lambda x, dim, t: torch.prod(x, dim, dtype=WIDE.get(t)), False),
    "min": ("amin", lambda x, dim, t: torch.amin(x, dim), False),
    "max": ("amax", lambda x, dim, t: torch.amax(x, dim), False),
    "argmin": ("argmin", lambda x, dim, t: torch.argmin(x, dim), False),
    "argmax": ("argmax", lambda x, dim, t: torch.argmax(x, dim), False),
    "minmax": ("aminmax", lambda x, dim, t: torch.aminmax(x, dim=dim), False),
    "any": ("any", lambda x, dim, t: torch.any(x, dim), False),
    "all": ("all", lambda x, dim, t: torch.all(x, dim), False),
    "count": ("count_nonzero", lambda x, dim, t: torch.count_nonzero(x, dim), False),
    "mean": ("mean", lambda x, dim, t: torch.mean(x, dim, dtype=WIDE.get(t)), True),
    "var": ("var", lambda x, dim, t: torch.var(x, dim, correction=0), True),
    "std": ("std", lambda x, dim, t: torch.std(x, dim, correction=0), True),
    "norm1": ("vector_norm 1", lambda x, dim, t: norm(x, 1, dim, dtype=WIDE.get(t)), True),
    "norm2": ("vector_norm", lambda x, dim, t: norm(x, 2, dim, dtype=WIDE.get(t)), True),
    "norminf": ("vector_norm inf", lambda x, dim, t: norm(x, float("inf"), dim), True),
    "logsumexp": ("logsumexp", lambda x, dim, t: torch.logsumexp(x, dim), True),
}
SEGMENTS = ("sum", "mean", "max", "min")  # of segment_reduce, floats only


def takes(op, type):
    return op in CALLS and (type in ("f64", "f32", "f16", "bf16") or not CALLS[op][2])


def along(op, type, x, rows):
    """A function without arguments: of a flat x all (rows None), or the middle axis of (outer, length, inner)."""
    call = CALLS[op][1]
    if rows is None:
        return lambda: call(x, 0, type)
    shaped = x.view(*rows) if rows[2] > 1 else x.view(*rows[:2])
    return lambda: call(shaped, 1, type)


def of_segments(op, x, offsets):
    """offsets: i64."""
    return lambda: torch.segment_reduce(x, op, offsets=offsets)
