"""The calls that bench/python_calls.py and bench/gpu/python_calls.py time: for each case a statement of each library.
The first is the one that others are compared with. torch, jax ... are absent where they are not installed."""

import importlib

import numpy as np
import tally_reduce

ROWS = 4096  # segments; 16 vectors each


def find(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is missing: SKIPPED")
        return None


def data(scale=1):
    """Arrays of NumPy: `scale` times 2^20 values where an array is large."""
    rng = np.random.default_rng(1)
    x, big = np.arange(8.0), rng.standard_normal(scale << 20).astype("f4")
    segments = scale * ROWS
    return {
        "x": x, "m": x.reshape(2, 4), "starts": np.array([0, 2, 4]), "lengths": np.array([2, 2, 4]), "big": big,
        "grid": big.reshape(1024, -1), "offsets": np.arange(0, len(big) + 1, 16), "features": big.reshape(-1, 16),
        "row_offsets": np.arange(0, 16 * segments + 1, 16), "ids": np.arange(16 * segments) // 16,
        "any_ids": rng.integers(0, segments, 16 * segments), "segments": segments,
    }  # fmt: skip


def numpy_cases():
    small = {
        "8 f64": ["np.add.reduce(x)", "np.sum(x)", "tally_reduce.sum(x)", 'tally_reduce.reduce(x, "sum")'],
        "8 f64, max": ["np.maximum.reduce(x)", "np.max(x)", "tally_reduce.max(x)"],
        "2 x 4 f64, axis=1": ["np.add.reduce(m, axis=1)", "np.sum(m, axis=1)", "tally_reduce.sum(m, axis=1)"],
        "8 f64, 3 segments": ["np.add.reduceat(x, starts)", "tally_reduce.segment_sum(x, lengths=lengths)"],
    }
    large = {
        "2^20 f32, whole": ["np.sum(big)", "tally_reduce.sum(big)"],
        "1024 x 1024 f32, axis=0": ["np.sum(grid, axis=0)", "tally_reduce.sum(grid, axis=0)"],
        "1024 x 1024 f32, axis=1": ["np.sum(grid, axis=1)", "tally_reduce.sum(grid, axis=1)"],
        "1024 x 1024 f32, var, axis=1": ["np.var(grid, axis=1)", "tally_reduce.var(grid, axis=1)"],
        "2^20 f32, segments of 16": ["np.add.reduceat(big, offsets[:-1])",
                                     "tally_reduce.segment_sum(big, offsets=offsets)"],
        "65536 x 16 f32, segments of 16": ["np.add.reduceat(features, row_offsets[:-1])",
                                           "tally_reduce.segment_sum(features, offsets=row_offsets)"],
        "65536 x 16 f32, ids in any order": [
            "np.add.at(np.zeros((segments, 16), 'f4'), any_ids, features)",
            "tally_reduce.segment_sum(features, any_ids, segments, indices_are_sorted=False)"],
    }  # fmt: skip
    return small, large


def torch_cases(names, device):
    """Adds PyTorch's arrays to the names."""
    torch, on_torch = find("torch"), find("tally_reduce.torch")
    if not torch or not on_torch:
        return {}, {}
    place = {"device": device}
    names |= {
        "torch": torch, "on_torch": on_torch, "tx": torch.arange(8.0, **place),
        "tm": torch.arange(8.0, **place).reshape(2, 4), "t_lengths": torch.tensor([2, 2, 4], **place),
        **{f"t_{name}": torch.tensor(names[name], **place)
           for name in ("big", "grid", "offsets", "features", "row_offsets", "ids", "any_ids")},
        "zeros": lambda: torch.zeros(names["segments"], 16, **place),
    }  # fmt: skip
    small = {
        "tensor of 8 f32": ["torch.sum(tx)", "tally_reduce.sum(tx)", "on_torch.sum(tx)"],
        "tensor of 2 x 4 f32, axis=1": ["torch.sum(tm, 1)", "tally_reduce.sum(tm, axis=1)", "on_torch.sum(tm, axis=1)"],
        "tensor of 8 f32, 3 segments": ["torch.segment_reduce(tx, 'sum', lengths=t_lengths)",
                                        "tally_reduce.segment_sum(tx, lengths=t_lengths)"],
    }  # fmt: skip
    tally = "tally_reduce.segment_sum(t_features, "
    large = {
        "tensor, whole": ["torch.sum(t_big)", "tally_reduce.sum(t_big)"],
        "tensor, 1024 rows, axis=0": ["torch.sum(t_grid, 0)", "tally_reduce.sum(t_grid, axis=0)"],
        "tensor, 1024 rows, axis=1": ["torch.sum(t_grid, 1)", "tally_reduce.sum(t_grid, axis=1)"],
        "tensor, segments of 16": ["torch.segment_reduce(t_big, 'sum', offsets=t_offsets)",
                                   "tally_reduce.segment_sum(t_big, offsets=t_offsets)"],
        "tensor, segments of 16 vectors": ["zeros().index_add_(0, t_ids, t_features)",
                                           tally + "t_ids, segments)", tally + "offsets=t_row_offsets)",
                                           "on_torch.segment_sum(t_features, t_ids, segments)"],
        "tensor, vectors, ids in any order": ["zeros().index_add_(0, t_any_ids, t_features)",
                                              tally + "t_any_ids, segments, indices_are_sorted=False)"],
    }  # fmt: skip
    if find("torch_geometric"):
        names["pyg"] = importlib.import_module("torch_geometric.utils")
        for what, ids in (("tensor, segments of 16 vectors", "t_ids"), ("tensor, vectors, ids in any order",
                                                                        "t_any_ids")):  # fmt: skip
            large[what].insert(1, f"pyg.scatter(t_features, {ids}, 0, segments, 'sum')")
    return small, large


def jax_cases(names):
    """The same for JAX, on its default device."""
    jax, on_jax = find("jax"), find("tally_reduce.jax")
    if not jax or not on_jax:
        return {}, {}
    segments, asarray = names["segments"], jax.numpy.asarray

    def both(of_jax, of_tally):
        return jax.jit(of_jax), jax.jit(of_tally)

    names |= {
        "jx": asarray(names["x"], "f4"),
        **{f"j_{name}": asarray(names[name]) for name in ("big", "grid", "features", "ids", "any_ids")},
    }
    names["j_sum"], names["t_sum"] = both(jax.numpy.sum, on_jax.sum)
    names["j_rows"], names["t_rows"] = both(lambda x: jax.numpy.sum(x, 1), lambda x: on_jax.sum(x, axis=1))
    for word, is_sorted in (("sorted", True), ("any", False)):
        names[f"j_{word}"], names[f"t_{word}"] = both(
            lambda x, ids, s=is_sorted: jax.ops.segment_sum(x, ids, segments, indices_are_sorted=s),
            lambda x, ids, s=is_sorted: on_jax.segment_sum(x, ids, segments, indices_are_sorted=s),
        )

    def pair(call):
        return [f"{library}_{call}.block_until_ready()" for library in "jt"]

    return {"JAX, jitted, 8 f32": pair("sum(jx)")}, {
        "JAX, jitted, whole": pair("sum(j_big)"),
        "JAX, jitted, 1024 rows, axis=1": pair("rows(j_grid)"),
        "JAX, jitted, segments of 16 vectors": pair("sorted(j_features, j_ids)"),
        "JAX, jitted, vectors, ids in any order": pair("any(j_features, j_any_ids)"),
    }


def cupy_cases(names):
    cupy = find("cupy")
    if not cupy:
        return {}, {}
    names |= {"cupy": cupy, "cx": cupy.arange(8.0),
              **{f"c_{name}": cupy.asarray(names[name]) for name in ("big", "grid")}}  # fmt: skip
    return {"CuPy, 8 f64": ["cx.sum()", "tally_reduce.sum(cx)"]}, {
        "CuPy, whole": ["c_big.sum()", "tally_reduce.sum(c_big)"],
        "CuPy, 1024 rows, axis=0": ["c_grid.sum(0)", "tally_reduce.sum(c_grid, axis=0)"],
        "CuPy, 1024 rows, axis=1": ["c_grid.sum(1)", "tally_reduce.sum(c_grid, axis=1)"],
    }


def is_tally(statement):
    return statement.startswith(("tally_reduce", "on_torch", "t_", "c_reduce"))


def start(scale=1):
    return {"np": np, "tally_reduce": tally_reduce, **data(scale)}
