#!/usr/bin/env python3
"""PyTorch's reductions over the same sizes, timed as bench_gpu times: back-to-back calls between two events, the median
of some batches, windows that together exceed the L2. JSON lines with bench_gpu's labels go to --out, progress to
stderr.
"""

import argparse
import json
import statistics
import sys
import time

import torch

SPAN = 4  # windows together exceed the L2 this many times; a case of up to a quarter of the L2 stays in it
TYPES = {
    "f32": torch.float32,
    "f64": torch.float64,
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "i32": torch.int32,
    "u8": torch.uint8,
    "i64": torch.int64,
    "i16": torch.int16,
}
WIDE = {"f16": torch.float32, "bf16": torch.float32}  # what Tally gives
# Tally's operator: (how PyTorch calls it, call, types)
FLOATS = ("f32", "f64", "bf16", "f16")
ALL = tuple(TYPES)
CALLS = {
    "sum": ("sum", lambda x, t: torch.sum(x, dtype=WIDE.get(t)), ALL),
    "min": ("min", lambda x, t: torch.min(x), ALL),
    "argmin": ("argmin", lambda x, t: torch.argmin(x), ALL),
    "minmax": ("aminmax", lambda x, t: torch.aminmax(x), ALL),
    "mean": ("mean", lambda x, t: torch.mean(x, dtype=WIDE.get(t)), FLOATS),
    "var": ("var_mean", lambda x, t: torch.var_mean(x), FLOATS),
    "dot": ("dot", lambda x, t: torch.dot(x[: x.numel() // 2], x[x.numel() // 2 :]), FLOATS),
    "norm2": ("linalg.vector_norm", lambda x, t: torch.linalg.vector_norm(x, dtype=WIDE.get(t)), FLOATS),
    "logsumexp": ("logsumexp", lambda x, t: torch.logsumexp(x, 0), FLOATS),
    "norm1": ("linalg.vector_norm 1", lambda x, t: torch.linalg.vector_norm(x, 1, dtype=WIDE.get(t)), FLOATS),
    "norminf": ("linalg.vector_norm inf", lambda x, t: torch.linalg.vector_norm(x, float("inf")), FLOATS),
    "max": ("max", lambda x, t: torch.max(x), ALL),
    "argmax": ("argmax", lambda x, t: torch.argmax(x), ALL),
    "std": ("std", lambda x, t: torch.std(x), FLOATS),
    "count": ("count_nonzero", lambda x, t: torch.count_nonzero(x), ALL),
    "prod": ("prod", lambda x, t: torch.prod(x, dtype=WIDE.get(t)), ALL),
    "any": ("any", lambda x, t: torch.any(x), ALL),
    "all": ("all", lambda x, t: torch.all(x), ALL),
}
MAIN = ("sum", "min", "argmin", "minmax", "mean", "var", "dot", "norm2")


def data_for(op, kind):  # as data_for in cases.cuh
    if op in ("any", "all", "prod"):
        return {"any": "zeros", "all": "nonzero", "prod": "signs"}[op]
    return "uniform" if kind in FLOATS else "random"


def cases(quick):
    """(section, op, type, bytes, graph), the most important first."""
    for graph in (False, True):
        for log2 in range(8, 29 if graph else 33, 2):
            if not quick or log2 % 4 == 0 or log2 == 30:
                yield "sizes", "sum", "f32", 1 << log2, graph
    for kind in ("f32", "f64") if quick else ("f32", "f64", "bf16", "f16"):
        for op in MAIN + (("logsumexp",) if kind == "f32" else ()):
            yield "whole", op, kind, 1 << 30, False
    for kind in ("u8", "i32", "i16", "i64"):
        for op in ("sum",) if quick and kind != "u8" else ("sum", "min", "argmin", "minmax"):
            yield "whole", op, kind, 1 << 30, False
    if quick:
        return
    for op in CALLS:
        if op not in MAIN:
            for kind in ("f32", "f64"):
                if (op, kind) != ("logsumexp", "f32"):
                    yield "whole", op, kind, 1 << 30, False
    for kind in ALL:
        for op in MAIN:
            yield "whole", op, kind, 1 << 28, False
    for op in ("sum", "min", "argmin", "var"):
        for kind in ("f32", "f64", "u8", "bf16"):
            yield "whole", op, kind, 1 << 32, False
    for op in CALLS:
        for kind in ("bf16", "f16", "u8", "i32", "i16", "i64"):
            if op not in MAIN:
                yield "whole", op, kind, 1 << 30, False


def make(kind, data, count):
    torch.manual_seed(1)
    dtype = TYPES[kind]
    if data == "zeros":
        return torch.zeros(count, dtype=dtype, device="cuda")
    if data == "nonzero" or (data == "signs" and kind == "u8"):
        return torch.ones(count, dtype=dtype, device="cuda")
    if data == "signs":
        return (torch.randint(0, 2, (count,), device="cuda", dtype=torch.int8) * 2 - 1).to(dtype)
    if kind in FLOATS:
        return torch.rand(count, dtype=dtype, device="cuda")
    span = {"u8": (0, 256), "i16": (-(2**15), 2**15), "i32": (-(2**31), 2**31), "i64": (-(2**32), 2**32)}[kind]
    return torch.randint(*span, (count,), dtype=dtype, device="cuda")


class Bench:
    def __init__(self, rounds):
        properties = torch.cuda.get_device_properties(0)
        self.l2, self.rounds = properties.L2_cache_size, rounds
        self.held = (None, None)
        self.stream = torch.cuda.Stream()

    def windows(self, op, kind, size):
        count = 1 if size * 4 <= self.l2 or size >= SPAN * self.l2 else -(-SPAN * self.l2 // size)
        width = torch.empty(0, dtype=TYPES[kind]).element_size()
        values = count * size // width
        key = (kind, data_for(op, kind))
        if self.held[0] != key or self.held[1].numel() < values:
            self.held = (None, None)
            torch.cuda.empty_cache()
            self.held = (key, make(*key, values))
            torch.cuda.synchronize()
        return [self.held[1][k * size // width : (k + 1) * size // width] for k in range(count)]

    def batch(self, work, calls):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3 / calls

    def measure(self, section, op, kind, size, graph):
        via, call, kinds = CALLS[op]
        windows = self.windows(op, kind, size)

        def work(calls):
            for k in range(calls):
                call(windows[k % len(windows)], kind)

        began = time.perf_counter()
        with torch.cuda.stream(self.stream):
            work(1)
            torch.cuda.synchronize()
            first = time.perf_counter() - began
            each = self.batch(lambda: work(3), 3)
            calls = max(20 if size <= 1 << 28 else 5, min(100 if graph else 300, int(2e-3 / each)))
            run = lambda: work(calls)
            if graph:
                recorded = torch.cuda.CUDAGraph()
                with torch.cuda.graph(recorded, stream=self.stream):
                    work(calls)
                run = recorded.replay
            self.batch(run, calls)
            times = sorted(self.batch(run, calls) for _ in range(self.rounds))
        seconds = statistics.median(times)
        return {
            "section": section,
            "op": op,
            "type": kind,
            "data": data_for(op, kind),
            "count": windows[0].numel() // (2 if op == "dot" else 1),
            "mode": "graph" if graph else "stream",
            "where": "L2" if size * 4 <= self.l2 else "memory",
            "contender": "torch",
            "via": via,
            "bytes": size,
            "windows": len(windows),
            "seconds": seconds,
            "least": times[0],
            "lower": times[len(times) // 4],
            "upper": times[len(times) * 3 // 4],
            "repeats": len(times),
            "calls": calls,
            "gb_per_s": size / seconds * 1e-9,
            "first_call": first,
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="-")
    parser.add_argument(
        "--seconds", type=float, default=0, help="drop the least important cases after as many; 0: never"
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    began = time.perf_counter()
    out = sys.stdout if options.out == "-" else open(options.out, "w")
    line = lambda record: print(json.dumps(record), file=out, flush=True)
    line({"about": {"torch": torch.__version__, "torch_cuda": torch.version.cuda, "torch_command": " ".join(sys.argv)}})
    bench, dropped, done = Bench(options.rounds), [], 0
    for case in cases(options.quick):
        section, op, kind, size, graph = case
        title = f"{section} {op} {kind} {size} bytes {'graph' if graph else 'stream'}"
        if kind not in CALLS[op][2]:
            continue
        if options.seconds and time.perf_counter() - began > options.seconds:
            dropped.append(title)
            continue
        try:
            record = bench.measure(*case)
        except (RuntimeError, NotImplementedError) as reason:
            print(f"torch {title}: {reason}", file=sys.stderr)
            line({"failed": {"case": title, "contender": "torch", "error": str(reason).split("\n")[0]}})
            continue
        done += 1
        line(record)
        print(f"torch {title}: {record['seconds'] * 1e6:.2f} us, {record['gb_per_s']:.0f} GB/s", file=sys.stderr)
    for title in dropped:
        print(f"dropped, no time: torch {title}", file=sys.stderr)
    seconds = time.perf_counter() - began
    line({"summary": {"cases": done, "dropped": ["torch " + title for title in dropped], "seconds": seconds}})
    print(f"{seconds:8.2f} s for PyTorch, {done} cases, {len(dropped)} dropped", file=sys.stderr)


if __name__ == "__main__":
    main()
