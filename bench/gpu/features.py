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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log2", type=int, default=28)
    parser.add_argument("--op", default="sum")
    parser.add_argument("--type", default="f32")
    parser.add_argument("--features", type=int, nargs="*", default=FEATURES)
    parser.add_argument("--out")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    dtype, total = TORCH[options.type], 1 << options.log2
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
    rows = []

    def tell(features, name, bytes_, work):
        try:
            time = seconds(work)
        except Exception as error:  # noqa: BLE001
            print(f"{features:5} {name:32} {str(error)[:150]}")
            return
        rows.append((features, name, time * 1e6, bytes_ / speed / time))
        print(f"{features:5} {name:32} {time * 1e6:10.0f} us {bytes_ / speed / time:6.3f}", flush=True)

    torch.manual_seed(1)
    for features in options.features:
        vectors = total // features
        lengths = torch.empty(vectors // MEAN, device="cuda").geometric_(1 / MEAN).long()
        offsets = torch.cat([torch.zeros(1, dtype=torch.long, device="cuda"), lengths.cumsum(0)])
        vectors = int(offsets[-1])
        count = lengths.numel()
        x = torch.randn(vectors * features, device="cuda").to(dtype)
        size = x.element_size() * (x.numel() + count * features)
        ids = torch.repeat_interleave(torch.arange(count, device="cuda"), lengths)
        shuffled = ids[torch.randperm(vectors, device="cuda")]
        out = torch.empty(count * features, dtype=torch.float64, device="cuda")
        begins, ends = offsets[:-1].contiguous(), offsets[1:].contiguous()
        order = torch.randperm(count, device="cuda")
        begins, ends = begins[order].contiguous(), ends[order].contiguous()
        for accuracy in ("fast", "best"):
            t = Tally(accuracy)
            tell(
                features,
                f"offsets {accuracy}",
                size,
                t.reduce(options.op, options.type, x, segments(OFFSETS, offsets, count, features), out),
            )
            tell(
                features,
                f"begin-end {accuracy}",
                size,
                t.reduce(options.op, options.type, x, segments(BEGIN_END, begins, count, features, ends), out),
            )
            segmentation = segments(UNSORTED, shuffled, count, features)
            tell(features, f"unsorted {accuracy}", size, t.reduce(options.op, options.type, x, segmentation, out))
            plan = t.plan(options.type, vectors, segments(UNSORTED, shuffled, count, 0))
            planned = tally.Segments(PLANNED, None, 0, 0, 0, features, None, 0, plan)
            tell(
                features, f"unsorted, planned, {accuracy}", size, t.reduce(options.op, options.type, x, planned, out)
            )
            tally.lib.tally_plan_close(plan)
            tally.lib.tally_context_destroy(t.context)
        if not options.no_peers:
            wide = x.view(vectors, features)
            zeros = torch.zeros(count, features, device="cuda", dtype=dtype)
            if features == 1:
                tell(features, "torch.sort(ids, stable)", size, lambda: torch.sort(shuffled, stable=True))
            if options.op == "sum":
                tell(
                    features,
                    "torch segment_reduce",
                    size,
                    lambda: torch.segment_reduce(wide, "sum", offsets=offsets, axis=0),
                )
                tell(features, "torch index_add_", size, lambda: zeros.index_add_(0, shuffled, wide))
                torch.use_deterministic_algorithms(True)
                tell(features, "torch index_add_, deterministic", size, lambda: zeros.index_add_(0, shuffled, wide))
                torch.use_deterministic_algorithms(False)
        del x, out
        torch.cuda.empty_cache()
    if options.out:
        with open(options.out, "w") as file:
            file.write("features\twhat\tmicroseconds\tshare\n")
            file.writelines(f"{f}\t{n}\t{t:.1f}\t{s:.4f}\n" for f, n, t, s in rows)


if __name__ == "__main__":
    sys.exit(main())
