#!/usr/bin/env python3
"""Rows along both axes on one GPU: the plain read of as many bytes, Tally exact and fast, and PyTorch, in turn. Every result of Tally is compared
with the CPU's bits. JSON lines go to --out, a table to stdout.

    TALLY_LIBRARY=build/libtally.so PLAIN_READ=build/libplain_read.so bench/gpu/rows.py [--out FILE] [--quick] [--only TEXT]

PLAIN_READ is plain_read_library.cu, compiled. Times are medians of rounds of back-to-back calls between two events."""
import argparse
import ctypes
import json
import os
import pathlib
import statistics
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "python"))
import tally  # noqa: E402  the tests' binding

KI = 1024
# (name, outer, length, inner): what is reduced is the middle
SHAPES = [
    ("16Ki x 16Ki, last axis", 16 * KI, 16 * KI, 1),
    ("16Ki x 16Ki, first axis", 1, 16 * KI, 16 * KI),
    ("1Mi x 256, last axis", KI * KI, 256, 1),
    ("1Mi x 256, first axis", 1, KI * KI, 256),
    ("64Mi x 4, last axis", 64 * KI * KI, 4, 1),
    ("64Mi x 4, first axis", 1, 64 * KI * KI, 4),
    ("3 x 10^8, last axis", 3, 10**8, 1),
    ("3 x 10^8, first axis", 1, 3, 10**8),
    ("10^8 x 3, last axis", 10**8, 3, 1),
    ("10^8 x 3, first axis", 1, 10**8, 3),
    ("640 cube, middle axis", 640, 640, 640),
    ("1Mi x 255, last axis", KI * KI, 255, 1),
]
DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "u8": torch.uint8}
CASES = [("sum", "f32", s) for s in SHAPES] + [(op, t, s) for op, t in (("var", "f32"), ("sum", "f64"), ("sum", "bf16"), ("sum", "u8"), ("argmin", "f32"))
                                               for s in SHAPES[:7] + SHAPES[10:11]]
TORCH = {"sum": lambda x: torch.sum(x, 1), "var": lambda x: torch.var_mean(x, 1), "argmin": lambda x: torch.argmin(x, 1)}


def make(kind, count):
    torch.manual_seed(1)
    if kind == "u8":
        return torch.randint(0, 256, (count,), dtype=torch.uint8, device="cuda")
    x = torch.empty(count, dtype=DTYPES[kind], device="cuda")
    for part in x.split(1 << 28):
        part.normal_()
    return x


class Bench:
    def __init__(self, options):
        self.options, self.held = options, (None, None)
        self.stream = torch.cuda.Stream()
        self.sms = torch.cuda.get_device_properties(0).multi_processor_count
        self.plain = ctypes.CDLL(os.environ["PLAIN_READ"])
        self.plain.plain_read.restype = ctypes.c_char_p
        self.plain.plain_read.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
        self.word = torch.zeros(16, dtype=torch.uint8, device="cuda")
        self.contexts = {(accuracy, place): self.context(accuracy, place) for accuracy in ("best", "fast") for place in ("gpu", "cpu")}

    def context(self, accuracy, place):
        context = tally.Context(accuracy=accuracy)
        if place == "gpu":
            context.options.stream = self.stream.cuda_stream
            tally.check(tally.lib.tally_set_options(context.handle, ctypes.byref(context.options)))
        return context

    def batch(self, work, calls):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(self.stream):
            begin.record()
            for _ in range(calls):
                work()
            end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3 / calls

    def data(self, kind, count):
        if self.held[0] != kind or self.held[1].numel() < count:
            self.held = (None, None)
            torch.cuda.empty_cache()
            self.held = (kind, make(kind, count))
            torch.cuda.synchronize()
        return self.held[1][:count]

    def reduce(self, context, op, kind, address, shape, out, results):
        _, outer, length, inner = shape
        number = tally.TYPES[kind].number
        cut = tally.Segments(tally.CUTS["rows"], None, 0, outer, length, inner)
        return tally.lib.tally_reduce_segments(context.handle, tally.OPERATORS[op].number, tally.Array(address, number, outer * length * inner, 0), cut,
                                               tally.Array(out, 0, results, 0))

    def right(self, accuracy, op, kind, x, shape, got, size):
        """Whether the first results have the bits that the CPU gives; all of them where they are few values."""
        name, outer, length, inner = shape
        some = max(1, min(outer, (1 << 25) // (length * inner)))
        if outer == 1 or some == outer:
            some = outer
        host = x[: some * length * inner].view(torch.uint8).cpu().numpy() if kind != "u8" else x[: some * length * inner].cpu().numpy()
        wanted = np.empty(some * inner * size, np.uint8)
        tally.check(self.reduce(self.contexts[accuracy, "cpu"], op, kind, host.ctypes.data, (name, some, length, inner), wanted.ctypes.data, some * inner))
        return bool((got[: wanted.size].cpu().numpy() == wanted).all())

    def measure(self, op, kind, shape):
        name, outer, length, inner = shape
        x, results = self.data(kind, outer * length * inner), outer * inner
        size = self.contexts["best", "cpu"].result(op, kind)[1]
        bytes_read = x.numel() * x.element_size()
        shaped = x.view(outer, length, inner)
        works, right = {}, {}
        for k in range(self.plain.plain_read_shapes()):
            works["plain %d" % k] = lambda k=k: self.plain.plain_read(k, self.sms, x.data_ptr(), bytes_read, self.word.data_ptr(), self.stream.cuda_stream)
        for accuracy in ("best", "fast"):
            if accuracy == "fast" and not tally.OPERATORS[op].exact(kind):
                continue
            out = torch.full((results * size,), 171, dtype=torch.uint8, device="cuda")
            torch.cuda.synchronize()
            context = self.contexts[accuracy, "gpu"]
            tally.check(self.reduce(context, op, kind, x.data_ptr(), shape, out.data_ptr(), results))
            torch.cuda.synchronize()
            word = "tally" if accuracy == "best" else "tally fast"
            if not self.options.no_check:
                right[word] = self.right(accuracy, op, kind, x, shape, out, size)
            works[word] = lambda context=context, out=out: self.reduce(context, op, kind, x.data_ptr(), shape, out.data_ptr(), results)
        if not self.options.no_torch:
            works["torch"] = lambda: TORCH[op](shaped)
        times, calls = {word: [] for word in works}, {}
        for word, work in works.items():
            self.batch(work, 1)
            calls[word] = max(2, min(10, int(4e-3 / max(self.batch(work, 2), 1e-6))))
        for _ in range(self.options.rounds):
            for word, work in works.items():
                times[word].append(self.batch(work, calls[word]))
        medians = {word: statistics.median(each) for word, each in times.items()}
        plain = min(seconds for word, seconds in medians.items() if word.startswith("plain"))
        medians = {"plain": plain, **{word: s for word, s in medians.items() if not word.startswith("plain")}}
        # A plain pass would write the results too.
        share = {word: (plain * (bytes_read + results * size) / bytes_read) / s for word, s in medians.items()}
        return {"section": "rows", "op": op, "type": kind, "shape": name, "outer": outer, "length": length, "inner": inner, "bytes": bytes_read,
                "result_bytes": results * size, "seconds": medians, "of_plain": share, "right": right}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=os.devnull)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose title contains one of these, separated by |")
    parser.add_argument("--quick", action="store_true", help="sums of f32")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--no-check", action="store_true")
    options = parser.parse_args()
    bench, wrong = Bench(options), 0
    print("| | TB/s of the plain read | Tally, exact | Tally, fast | PyTorch |\n| --- | ---: | ---: | ---: | ---: |")
    with open(options.out, "w") as out:
        for op, kind, shape in CASES[: len(SHAPES)] if options.quick else CASES:
            title = f"{op} {kind}, {shape[0]}"
            if not any(text in title for text in options.only.split("|")):
                continue
            try:
                record = bench.measure(op, kind, shape)
            except (RuntimeError, tally.Failure) as reason:
                print(f"| {title} | {str(reason)[:200]}", flush=True)
                wrong += 1
                continue
            print(json.dumps(record), file=out, flush=True)
            cells = [f"{record['of_plain'][word]:.2f}" if word in record["of_plain"] else "" for word in ("tally", "tally fast", "torch")]
            bad = [word for word, is_right in record["right"].items() if not is_right]
            wrong += len(bad)
            print(f"| {title} | {record['bytes'] / record['seconds']['plain'] * 1e-12:.2f} | " + " | ".join(cells) + " |" +
                  (f" OTHER BITS: {', '.join(bad)}" if bad else ""), flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
