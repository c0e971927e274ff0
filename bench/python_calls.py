#!/usr/bin/env python3
"""What a call costs from Python: tally_reduce beside NumPy, PyTorch and JAX (what is installed), in one run, best of
several rounds that take turns.

    PYTHONPATH=build/python bench/python_calls.py [--quick] [--write]

Prints a table in Markdown: times, and shares of the time that the other library's first call takes. --write puts it
into docs/python.md.
"""
import argparse
import pathlib
import platform
import re
import sys
import timeit

import numpy as np
import tally_reduce

SMALL = {
    "8 f64": ["np.add.reduce(x)", "np.sum(x)", "tally_reduce.sum(x)", 'tally_reduce.reduce(x, "sum")'],
    "8 f64, max": ["np.maximum.reduce(x)", "np.max(x)", "tally_reduce.max(x)"],
    "2 x 4 f64, axis=1": ["np.add.reduce(m, axis=1)", "np.sum(m, axis=1)", "tally_reduce.sum(m, axis=1)"],
    "8 f64, 3 segments": ["np.add.reduceat(x, starts)", "tally_reduce.segment_sum(x, lengths=lengths)"],
}
LARGE = {
    "2^20 f32, whole": ["np.sum(big)", "tally_reduce.sum(big)"],
    "1024 x 1024 f32, axis=0": ["np.sum(grid, axis=0)", "tally_reduce.sum(grid, axis=0)"],
    "1024 x 1024 f32, axis=1": ["np.sum(grid, axis=1)", "tally_reduce.sum(grid, axis=1)"],
    "1024 x 1024 f32, var, axis=1": ["np.var(grid, axis=1)", "tally_reduce.var(grid, axis=1)"],
    "2^20 f32, segments of 16": ["np.add.reduceat(big, many)", "tally_reduce.segment_sum(big, offsets=offsets)"],
    "65536 x 16 f32, segments of 16": [
        "np.add.reduceat(features, rows)",
        "tally_reduce.segment_sum(features, offsets=row_offsets)",
    ],
}
TORCH_SMALL = {
    "tensor of 8 f32": ["torch.sum(tx)", "tally_reduce.sum(tx)", "on_torch.sum(tx)"],
    "tensor of 2 x 4 f32, axis=1": ["torch.sum(tm, 1)", "tally_reduce.sum(tm, axis=1)", "on_torch.sum(tm, axis=1)"],
}
TORCH_LARGE = {
    "tensor of 2^20 f32": ["torch.sum(tbig)", "tally_reduce.sum(tbig)"],
    "tensor of 65536 x 16 f32, segments of 16": [
        "torch.zeros(4096, 16).index_add_(0, tids, tfeatures)",
        "on_torch.segment_sum(tfeatures, tids, 4096)",
    ],
}
JAX_SMALL = {"JAX, jitted, 8 f32": ["jsum(jx).block_until_ready()", "tsum(jx).block_until_ready()"]}
JAX_LARGE = {
    "JAX, jitted, 2^20 f32": ["jsum(jbig).block_until_ready()", "tsum(jbig).block_until_ready()"],
    "JAX, jitted, 65536 x 16 f32, segments of 16": [
        "jsegments(jfeatures, jids).block_until_ready()",
        "tsegments(jfeatures, jids).block_until_ready()",
    ],
}


def torch_variables(names):
    """Adds PyTorch's to the names; the cases. Nothing where it is missing."""
    try:
        import tally_reduce.torch as on_torch
        import torch
    except ImportError:
        print("PyTorch is missing: SKIPPED")
        return {}, {}
    x = torch.arange(8.0)
    names |= {
        "torch": torch, "on_torch": on_torch, "tx": x, "tm": x.reshape(2, 4), "tbig": torch.tensor(names["big"]),
        "tfeatures": torch.tensor(names["features"]), "tids": torch.arange(65536) // 16,
    }  # fmt: skip
    return TORCH_SMALL, TORCH_LARGE


def jax_variables(names):
    """The same for JAX."""
    try:
        import jax
        import tally_reduce.jax as on_jax
    except ImportError:
        print("JAX is missing: SKIPPED")
        return {}, {}
    asarray = jax.numpy.asarray
    names |= {
        "jsum": jax.jit(jax.numpy.sum), "tsum": jax.jit(on_jax.sum), "jx": asarray(names["x"], "f4"),
        "jbig": asarray(names["big"]), "jfeatures": asarray(names["features"]), "jids": jax.numpy.arange(65536) // 16,
        "jsegments": jax.jit(lambda x, ids: jax.ops.segment_sum(x, ids, 4096, indices_are_sorted=True)),
        "tsegments": jax.jit(lambda x, ids: on_jax.segment_sum(x, ids, 4096)),
    }  # fmt: skip
    return JAX_SMALL, JAX_LARGE


def variables():
    rng = np.random.default_rng(1)
    x = np.arange(8.0)
    big = rng.standard_normal(1 << 20).astype("f4")
    offsets = np.arange(0, (1 << 20) + 1, 16)
    row_offsets = np.arange(0, 65537, 16)
    return {
        "np": np, "tally_reduce": tally_reduce, "x": x, "m": x.reshape(2, 4), "starts": np.array([0, 2, 4]),
        "lengths": np.array([2, 2, 4]), "big": big, "grid": big.reshape(1024, 1024), "many": offsets[:-1],
        "offsets": offsets, "features": big.reshape(65536, 16), "rows": row_offsets[:-1], "row_offsets": row_offsets,
    }  # fmt: skip


def best(statements, number, rounds, names):
    """Nanoseconds of each: the rounds take turns, so that what else the machine does falls on all."""
    timers = [timeit.Timer(statement, globals=names) for statement in statements]
    times = [[timer.timeit(number) for timer in timers] for _ in range(rounds)]
    return [min(column) / number * 1e9 for column in zip(*times)]


def table(rounds):
    names = variables()
    facts = tally_reduce.info()
    others = [torch_variables(names), jax_variables(names)]
    versions = [f"{word} {sys.modules[module].__version__}"
                for word, module in (("NumPy", "numpy"), ("PyTorch", "torch"), ("JAX", "jax"))
                if module in sys.modules]  # fmt: skip
    yield f"Python {platform.python_version()}, {', '.join(versions)}, {facts['isa']}, {facts['threads']} threads."
    yield ""
    yield "| what | call | time | of the first |"
    yield "| --- | --- | ---: | ---: |"
    small, large = SMALL | others[0][0] | others[1][0], LARGE | others[0][1] | others[1][1]
    for cases, number, unit in ((small, 5000, "ns"), (large, 3, "us")):
        for what, statements in cases.items():
            times = best(statements, number, rounds, names)
            for statement, time in zip(statements, times):
                shown = time if unit == "ns" else time / 1000
                yield f"| {what} | `{statement}` | {shown:.0f} {unit} | {time / times[0]:.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--write", action="store_true", help="write the table into docs/python.md")
    options = parser.parse_args()
    lines = "\n".join(table(5 if options.quick else 40))
    print(lines)
    if options.write:
        page = pathlib.Path(__file__).resolve().parents[1] / "docs" / "python.md"
        text = page.read_text()
        page.write_text(re.sub(r"(<!-- python calls -->\n).*?(<!-- end -->)", rf"\1{lines}\n\2", text, flags=re.S))


if __name__ == "__main__":
    main()
