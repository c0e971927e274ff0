#!/usr/bin/env python3
"""What a call costs from Python: tally_reduce beside NumPy, in one run, best of several rounds that take turns.

    PYTHONPATH=build/python bench/python_calls.py [--quick] [--write]

Prints a table in Markdown: times, and shares of the time that NumPy's first call takes. --write puts it into
docs/python.md.
"""
import argparse
import pathlib
import platform
import re
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
    yield f"Python {platform.python_version()}, NumPy {np.__version__}, {facts['isa']}, {facts['threads']} threads."
    yield ""
    yield "| what | call | time | of NumPy's |"
    yield "| --- | --- | ---: | ---: |"
    for cases, number, unit in ((SMALL, 5000, "ns"), (LARGE, 3, "us")):
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
