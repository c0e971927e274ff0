#!/usr/bin/env python3
"""What a call costs from Python: tally_reduce beside NumPy, PyTorch, torch_geometric and JAX (what is installed), in
one run, best of several rounds that take turns.

    PYTHONPATH=build/python bench/python_calls.py [--quick] [--write]

Prints a table in Markdown: times, and shares of the time that the other library's first call takes. --write puts it
and a chart into docs. bench/gpu/python_calls.py does the same on a GPU.
"""

import argparse
import html
import pathlib
import platform
import re
import sys
import timeit
from math import log2

import python_cases as cases

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"


def best(statements, number, rounds, names):
    """Nanoseconds of each: the rounds take turns, so that what else the machine does falls on all."""
    timers = [timeit.Timer(statement, globals=names) for statement in statements]
    for timer in timers:
        timer.timeit(1)
    times = [[timer.timeit(number) for timer in timers] for _ in range(rounds)]
    return [min(column) / number * 1e9 for column in zip(*times)]


def measure(rounds):
    """(case, [(statement, nanoseconds)]) of all cases."""
    names = cases.start()
    parts = [cases.numpy_cases(), cases.torch_cases(names, "cpu"), cases.jax_cases(names)]
    for k, number in ((0, 3000), (1, 3)):
        for part in parts:
            for what, statements in part[k].items():
                yield what, list(zip(statements, best(statements, number, rounds, names)))


def table(results):
    yield "| what | call | time | of the first |"
    yield "| --- | --- | ---: | ---: |"
    for what, calls in results:
        for statement, time in calls:
            shown = f"{time:.0f} ns" if max(calls, key=lambda call: call[1])[1] < 50_000 else f"{time / 1000:.0f} us"
            yield f"| {what} | `{statement}` | {shown} | {time / calls[0][1]:.2f} |"


def machine():
    facts = cases.tally_reduce.info()
    found = (("NumPy", "numpy"), ("PyTorch", "torch"), ("torch_geometric", "torch_geometric"), ("JAX", "jax"),
             ("CuPy", "cupy"))  # fmt: skip
    versions = [f"{word} {sys.modules[module].__version__}" for word, module in found if module in sys.modules]
    return f"Python {platform.python_version()}, {', '.join(versions)}, {facts['isa']}, threads: {facts['threads']}."


def chart(results, title):
    """For each case how many times as fast as the others' best call Tally's best is, on a logarithmic scale."""
    bar, left, unit = 16, 250, 110  # pixels; unit: of a factor of two
    lines, y = [], 44
    for what, calls in results:
        ours, theirs = ([time for call, time in calls if cases.is_tally(call) == wanted] for wanted in (True, False))
        factor = min(theirs) / min(ours)
        width = max(-2.2, min(3.2, log2(factor))) * unit
        zero = left + 2.2 * unit
        color = "#0b6e4f" if factor >= 1 else "#b23a48"
        lines.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{html.escape(what)}</text>')
        lines.append(f'<rect x="{zero + min(0, width):.1f}" y="{y}" width="{abs(width):.1f}" height="{bar - 4}" '
                     f'fill="{color}"/>')  # fmt: skip
        lines.append(f'<text x="{zero + max(0, width) + 4:.1f}" y="{y + 11}">{factor:.2f}</text>')
        y += bar
    zero = left + 2.2 * unit
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + 6 * unit}" height="{y + 10}" '
            'font-family="sans-serif" font-size="10"><rect width="100%" height="100%" fill="white"/>'
            f'<text x="8" y="18" font-size="13">{html.escape(title)}</text>'
            f'<path d="M{zero} 36V{y}" stroke="black" stroke-width="0.6"/>')  # fmt: skip
    return "\n".join([head, *lines, "</svg>"]) + "\n"


def replace_between(mark, text):
    page = DOCS / "python.md"
    whole = page.read_text()
    page.write_text(re.sub(rf"(<!-- {mark} -->\n).*?(<!-- end -->)", rf"\1{text}\n\2", whole, flags=re.S))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--write", action="store_true", help="write the table and the chart into docs")
    options = parser.parse_args()
    results = list(measure(5 if options.quick else 40))
    text = "\n".join([machine(), "", *table(results)])
    print(text)
    if options.write:
        replace_between("python calls", text)
        picture = chart(results, "From Python, on the CPU: how many times as fast Tally is")
        (DOCS / "python-calls.svg").write_text(picture)


if __name__ == "__main__":
    main()
