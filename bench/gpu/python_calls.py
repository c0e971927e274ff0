#!/usr/bin/env python3
"""What a call costs from Python on a GPU: tally_reduce beside PyTorch, torch_geometric, JAX and CuPy (what is there).

    PYTHONPATH=build/dev python3 bench/gpu/python_calls.py [--out FOLDER] [--quick]

or `tests/gpu.sh python-bench`. Small arrays: host time of a call, which does not wait. Large ones (2^26 values of f32
in 1024 rows or segments of 16 values or vectors): time of a call when many are enqueued. Each is the best of several
rounds that take turns. Prints a table, and writes it to FOLDER/python-gpu.md with a chart beside it.
"""

import argparse
import ctypes
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import python_calls as calls  # noqa: E402
import python_cases as cases  # noqa: E402

SCALE = 64  # times 2^20 values


class Array(ctypes.Structure):
    """tally_array, and tally_output."""

    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("count", ctypes.c_int64),
                ("stride", ctypes.c_int64)]  # fmt: skip


def c_case(names):
    """The C call, from Python by ctypes: above it is what the module adds. Nothing where there is no libtally.so."""
    found = [path for folder in ("build/dev", "build") for path in pathlib.Path(folder).glob("libtally.so*")]
    if not found or "tx" not in names:
        print("libtally.so is missing: the C call is SKIPPED")
        return {}
    call = ctypes.CDLL(str(found[0].resolve())).tally_reduce
    call.argtypes = [ctypes.c_void_p, ctypes.c_int, Array, Array]
    facts = cases.tally_reduce.info()
    op, f32 = facts["operators"].index("sum"), facts["dtypes"].index("float32") + 1
    out = names["torch"].zeros(1, device="cuda")
    names |= {"c_reduce": call, "op": op, "c_in": Array(names["tx"].data_ptr(), f32, 8, 0),
              "c_out": Array(out.data_ptr(), f32, 1, 0), "kept": out}  # fmt: skip
    statement = "c_reduce(None, op, c_in, c_out)"
    if eval(statement, names) != 0:
        print("the C call fails: SKIPPED")
        return {}
    return {"the C call on 8 f32, by ctypes": ["tally_reduce.sum(tx)", statement]}


def wait_for(names):
    """A function that waits for the GPU."""
    if "torch" in names:
        return names["torch"].cuda.synchronize
    if "cupy" in names:
        return names["cupy"].cuda.Device().synchronize
    return lambda: None  # JAX's statements wait


def best(statements, number, rounds, names, wait, host):
    """Nanoseconds of each call: of the host, or until all is done."""
    compiled = [compile(f"for _ in range({number}): {statement}", statement, "exec") for statement in statements]
    times = [[] for _ in statements]
    for round in range(rounds + 1):
        for k, code in enumerate(compiled):
            wait()
            start = time.perf_counter()
            exec(code, names)
            if not host:
                wait()
            times[k].append((time.perf_counter() - start) / number * 1e9)
            wait()
    return [min(column[1:]) for column in times]


def measure(rounds):
    small_names, names = cases.start(), cases.start(SCALE)
    small = [part(small_names)[0] for part in (lambda n: cases.torch_cases(n, "cuda"), cases.cupy_cases,
                                               cases.jax_cases)]  # fmt: skip
    large = [part(names)[1] for part in (lambda n: cases.torch_cases(n, "cuda"), cases.cupy_cases, cases.jax_cases)]
    small.append(c_case(small_names))
    for parts, of, number in ((small, small_names, 200), (large, names, 10)):
        wait = wait_for(of)
        for part in parts:
            for what, statements in part.items():
                right = []
                for statement in statements:  # a library may lack one
                    try:
                        exec(statement, of)
                        right.append(statement)
                    except Exception as error:
                        print(f"{what}: {statement}: SKIPPED, {type(error).__name__}: {str(error)[:150]}")
                if right:
                    yield what, list(zip(right, best(right, number, rounds, of, wait, parts is small)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--out", default=".", help="the folder for python-gpu.md and python-gpu.svg")
    options = parser.parse_args()
    results = list(measure(3 if options.quick else 15))
    gpus = cases.tally_reduce.info()["gpus"]
    text = "\n".join([f"{gpus[0]['name'] if gpus else 'no GPU'}. {calls.machine()}", "", *calls.table(results)])
    print(text)
    folder = pathlib.Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "python-gpu.md").write_text(text + "\n")
    both = [row for row in results if len({cases.is_tally(call) for call, _ in row[1]}) == 2]
    (folder / "python-gpu.svg").write_text(calls.chart(both, "From Python, on a GPU: how many times as fast Tally is"))


if __name__ == "__main__":
    main()
