#!/usr/bin/env python3
"""Segments of vectors of features, and ids in any order, on the CPU, beside NumPy. Prints a table in Markdown.

    TALLY_LIBRARY=build/libtally.so.0 bench/features.py [--log2 26] [--threads 2]

Values are f32, segments have geometric lengths (mean 20). A share is that of a plain pass: bytes of values and results
over the bytes in a second of the maximum of 512 MiB. Times are medians of 5 calls (NumPy: of 3).
"""

import argparse
import ctypes
import pathlib
import statistics
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python"))
import tally  # noqa: E402

FEATURES = (4, 16, 64, 256)
MEAN = 20
OFFSETS, UNSORTED = 0, 6


def seconds(work, rounds=5):
    work()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


class Tally:
    def __init__(self, accuracy, threads):
        self.context = ctypes.c_void_p()
        assert tally.lib.tally_context_create(None, ctypes.byref(self.context)) == 0
        options = tally.Options(size=ctypes.sizeof(tally.Options), accuracy=tally.ACCURACIES[accuracy])
        options.threads = threads
        assert tally.lib.tally_set_options(self.context, ctypes.byref(options)) == 0

    def reduce(self, op, type_name, x, segmentation, out):
        number, code = tally.TYPES[type_name].number, tally.OPERATORS[op].number
        arrays = tally.Array(x.ctypes.data, number, x.size, 0), tally.Array(out.ctypes.data, 0, out.size, 0)
        whole = lambda: tally.lib.tally_reduce(self.context, code, *arrays)  # noqa: E731
        given = self.context, code, arrays[0], segmentation, arrays[1]
        parts = lambda: tally.lib.tally_reduce_segments(*given)  # noqa: E731
        work = whole if segmentation is None else parts
        if work() != 0:
            raise RuntimeError(tally.lib.tally_message().decode())
        return work


def segments(kind, index, count, inner):
    return tally.Segments(kind, index.ctypes.data, tally.TYPES["i64"].number, count, 0, inner, None, 0)


def one_feature(random, threads, rounds=7):
    values, count = 1 << 23, 1 << 20
    x, ids, out = random.standard_normal(values), random.integers(0, count, values), np.zeros(count)
    segmentation = segments(UNSORTED, ids, count, 1)
    contenders = {
        "Tally, exact": Tally("best", threads).reduce("sum", "f64", x, segmentation, out),
        "fast": Tally("fast", threads).reduce("sum", "f64", x, segmentation, out),
        "np.bincount": lambda: np.bincount(ids, weights=x, minlength=count),
        "np.add.at": lambda: np.add.at(out, ids, x),
    }
    times = {name: [] for name in contenders}
    for _ in range(rounds):  # they take turns
        for name, work in contenders.items():
            begin = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - begin)
    shown = ", ".join(f"{name} {1e3 * statistics.median(times[name]):.0f}" for name in contenders)
    print(f"\n2^23 f64 into 2^20 segments by random ids, ms: {shown}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log2", type=int, default=26)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    random = np.random.default_rng(1)
    big = random.standard_normal(1 << 27, dtype=np.float32)
    speed = big.nbytes / seconds(Tally("fast", options.threads).reduce("max", "f32", big, None, np.zeros(1, "f4")))
    del big
    print(f"plain pass {speed / 1e9:.1f} GB/s, {options.threads} threads\n")
    print("| features | offsets, fast | exact | unsorted, fast | exact | `np.add.reduceat` | `np.add.at`, unsorted |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for features in FEATURES:
        lengths = random.geometric(1 / MEAN, (1 << options.log2) // features // MEAN)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        vectors, count = int(offsets[-1]), len(lengths)
        x = random.standard_normal((vectors, features), dtype=np.float32)
        out = np.zeros((count, features), dtype=np.float32)
        ids = random.permutation(np.repeat(np.arange(count), lengths))
        segmentations = segments(OFFSETS, offsets, count, features), segments(UNSORTED, ids, count, features)
        works = [
            Tally(accuracy, options.threads).reduce("sum", "f32", x, segmentation, out)
            for segmentation in segmentations
            for accuracy in ("fast", "best")
        ]
        times = [seconds(work) for work in works]
        times.append(seconds(lambda: np.add.reduceat(x, offsets[:-1], axis=0), 3))
        times.append(seconds(lambda: np.add.at(out, ids, x), 3))
        shares = (f"{(x.nbytes + out.nbytes) / speed / t:.3f}" for t in times)
        print(f"| {features} | {' | '.join(shares)} |", flush=True)
    one_feature(random, options.threads)


if __name__ == "__main__":
    sys.exit(main())
