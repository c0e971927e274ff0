#!/usr/bin/env python3
"""Segments as people hold them, on one GPU: vectors of features, begins and ends, ids in any order, beside PyTorch.

    bench/gpu/features.py [--log2 28] [--op sum] [--type f32] [--features 4 64] [--out FILE.tsv]

Segments have geometric lengths (mean 20). A share is that of a plain pass: bytes of values and results over the bytes
in a second of the fastest read of 1 GiB. Times are medians of calls between two events.
TALLY_LIBRARY names the library.
"""

import argparse
import ctypes
import pathlib
import statistics
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "python"))
import tally  # noqa: E402

TORCH = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16, "i32": torch.int32}
FEATURES = (1, 4, 16, 64, 256)
MEAN = 20
OFFSETS, BEGIN_END, UNSORTED, PLANNED = 0, 5, 6, 4


def seconds(work, repeats=7):
    work()
    times = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(1_000_000)
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3)
    return statistics.median(times)


class Tally:
    def __init__(self, accuracy):
        self.context = ctypes.c_void_p()
        assert tally.lib.tally_context_create(None, ctypes.byref(self.context)) == 0
        options = tally.Options(size=ctypes.sizeof(tally.Options), accuracy=tally.ACCURACIES[accuracy])
        options.stream = torch.cuda.current_stream().cuda_stream
        self.check(tally.lib.tally_set_options(self.context, ctypes.byref(options)))

    def check(self, status):
        if status:
            raise RuntimeError(tally.lib.tally_message().decode())

    def reduce(self, op, type_name, x, segmentation, out):
        number = tally.TYPES[type_name].number
        array = tally.Array(x.data_ptr(), number, x.numel(), 0)
        result = tally.Array(out.data_ptr(), 0, out.numel(), 0)
        code = tally.OPERATORS[op].number
        return lambda: self.check(tally.lib.tally_reduce_segments(self.context, code, array, segmentation, result))

    def plan(self, type_name, vectors, segmentation):
        plan = ctypes.c_void_p()
        self.check(
            tally.lib.tally_plan_open(
                self.context, tally.TYPES[type_name].number, ctypes.c_int64(vectors), segmentation, ctypes.byref(plan)
            )
        )
        return plan


def segments(kind, index, count, inner, ends=None, outside=0):
    return tally.Segments(
        kind,
        index.data_ptr(),
        tally.TYPES["i64"].number,
        count,
        0,
        inner,
        ends.data_ptr() if ends is not None else None,
        outside,
    )


def plain():
    big = torch.randn(1 << 28, device="cuda")
    return 4 * big.numel() / min(seconds(lambda: torch.sum(big)), seconds(lambda: torch.amax(big)))


class Problem:
    """Vectors of that number of features in segments, their indices, and room for results."""

    def __init__(self, options, features):
        lengths = torch.empty((1 << options.log2) // features // MEAN, device="cuda").geometric_(1 / MEAN).long()
        self.options, self.features, self.count = options, features, lengths.numel()
        self.offsets = torch.cat([torch.zeros(1, dtype=torch.long, device="cuda"), lengths.cumsum(0)])
        self.vectors = int(self.offsets[-1])
        self.x = torch.randn(self.vectors * features, device="cuda").to(TORCH[options.type])
        ids = torch.repeat_interleave(torch.arange(self.count, device="cuda"), lengths)
        self.shuffled = ids[torch.randperm(self.vectors, device="cuda")]
        order = torch.randperm(self.count, device="cuda")
        self.begins, self.ends = self.offsets[:-1][order].contiguous(), self.offsets[1:][order].contiguous()
        self.out = torch.empty(self.count * features, dtype=torch.float64, device="cuda")
        self.bytes = self.x.element_size() * (self.x.numel() + self.count * features)

    def segments(self, kind, index, ends=None):
        return segments(kind, index, self.count, self.features, ends)


def measure_tally(problem, accuracy, tell):
    t = Tally(accuracy)

    def reduce(segmentation):
        return t.reduce(problem.options.op, problem.options.type, problem.x, segmentation, problem.out)

    tell(f"offsets {accuracy}", reduce(problem.segments(OFFSETS, problem.offsets)))
    tell(f"begin-end {accuracy}", reduce(problem.segments(BEGIN_END, problem.begins, problem.ends)))
    tell(f"unsorted {accuracy}", reduce(problem.segments(UNSORTED, problem.shuffled)))
    ids = segments(UNSORTED, problem.shuffled, problem.count, 0)
    plan = t.plan(problem.options.type, problem.vectors, ids)
    planned = tally.Segments(PLANNED, None, 0, 0, 0, problem.features, None, 0, plan)
    tell(f"unsorted, planned, {accuracy}", reduce(planned))
    tally.lib.tally_plan_close(plan)
    tally.lib.tally_context_destroy(t.context)


def measure_torch(problem, tell):
    ids, wide = problem.shuffled, problem.x.view(problem.vectors, problem.features)
    zeros = torch.zeros(problem.count, problem.features, device="cuda", dtype=problem.x.dtype)
    if problem.features == 1:
        tell("torch.sort(ids, stable)", lambda: torch.sort(ids, stable=True))
    if problem.options.op == "sum":
        tell("torch segment_reduce", lambda: torch.segment_reduce(wide, "sum", offsets=problem.offsets, axis=0))
        tell("torch index_add_", lambda: zeros.index_add_(0, ids, wide))
        torch.use_deterministic_algorithms(True)
        tell("torch index_add_, deterministic", lambda: zeros.index_add_(0, ids, wide))
        torch.use_deterministic_algorithms(False)


def measure(options, speed):
    """Prints a line for each number of features and way, and gives them: (features, name, microseconds, share)."""
    rows = []
    for features in options.features:
        problem = Problem(options, features)

        def tell(name, work, problem=problem):
            try:
                time = seconds(work)
            except Exception as error:  # noqa: BLE001
                print(f"{problem.features:5} {name:32} {str(error)[:150]}")
                return
            share = problem.bytes / speed / time
            rows.append((problem.features, name, time * 1e6, share))
            print(f"{problem.features:5} {name:32} {time * 1e6:10.0f} us {share:6.3f}", flush=True)

        for accuracy in ("fast", "best"):
            measure_tally(problem, accuracy, tell)
        if not options.no_peers:
            measure_torch(problem, tell)
        del problem, tell  # the memory of one at a time
        torch.cuda.empty_cache()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log2", type=int, default=28)
    parser.add_argument("--op", default="sum")
    parser.add_argument("--type", default="f32")
    parser.add_argument("--features", type=int, nargs="*", default=FEATURES)
    parser.add_argument("--out")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    tally.lib.tally_plan_open.argtypes = [
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_int64,
        tally.Segments,
        ctypes.c_void_p,
    ]
    speed = plain()
    print(f"{torch.cuda.get_device_name()}, plain read {speed / 1e9:.0f} GB/s, ", end="")
    print(f"{options.op} of {options.type}, 2^{options.log2} values")
    torch.manual_seed(1)
    rows = measure(options, speed)
    if options.out:
        with open(options.out, "w") as file:
            file.write("features\twhat\tmicroseconds\tshare\n")
            file.writelines(f"{f}\t{n}\t{t:.1f}\t{s:.4f}\n" for f, n, t, s in rows)


if __name__ == "__main__":
    sys.exit(main())
