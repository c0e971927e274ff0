"""Tally beside PyTorch at shapes of rows, both axes, and small whole arrays: the time of a call on a stream, launches
included, and in a graph."""

import ctypes
import statistics
import sys
import time

import torch
import torch_calls
import warm

from cells import axes, calls, report, values

OPERATORS = ("sum", "mean", "max", "argmax", "var", "norm2", "logsumexp")
MI = 1 << 20
SHAPES = {  # (outer, length, inner): the middle is reduced
    "8192 x 768, last": (8192, 768, 1),
    "4096 x 1000, last": (4096, 1000, 1),
    "256 x 1024, last": (256, 1024, 1),
    "100 x 100, last": (100, 100, 1),
    "8192 x 768, first": (1, 8192, 768),
    "4096 x 1000, first": (1, 4096, 1000),
    "256 x 1024, first": (1, 256, 1024),
    "100 x 100, first": (1, 100, 100),
    "64 x 2^20, last": (64, MI, 1),
    "2^20 x 64, last": (MI, 64, 1),
    "4096 x 50257, last": (4096, 50257, 1),
    "4095 x 16385, last": (4095, 16385, 1),
    "2^16 x 4096, last": (1 << 16, 4096, 1),
    "2^24 x 10, last": (16 * MI, 10, 1),
    "64 x 2^20, first": (1, 64, MI),
    "2^20 x 64, first": (1, MI, 64),
    "4096 x 50257, first": (1, 4096, 50257),
    "2^16 x 4096, first": (1, 1 << 16, 4096),
    "2^24 x 10, first": (1, 16 * MI, 10),
    "2^23 x 8, first": (1, 8 * MI, 8),
    "640 cube, middle": (640, 640, 640),
    **{f"whole, 2^{log2}": (1, 1 << log2, 1) for log2 in range(6, 24, 2)},
}
ROUNDS = 5
BATCH = 1e-3  # seconds between two events
CALLS = (2, 100)  # at least, at most
NODES = 20  # calls in a graph at most: each has scratch memory of its own
FIELDS = ("op", "type", "shape", "contender", "stream", "graph")


class Bench:
    def __init__(self, types):
        self.stream = torch.cuda.Stream()
        self.contexts = calls.contexts()
        for context in self.contexts.values():
            context.options.stream = self.stream.cuda_stream
            axes.tally.check(axes.tally.lib.tally_set_options(context.handle, ctypes.byref(context.options)))
        most = max(outer * length * inner for outer, length, inner in SHAPES.values())
        self.values = {}
        for type in types:
            block = torch.from_numpy(values.block(type, "normal").view("u1")).cuda()
            size = most * values.size(type)
            self.values[type] = block.repeat(-(-size // block.numel()))[:size].view(torch_calls.TYPES[type])
        self.out = torch.empty(MI * 8 * 20, dtype=torch.uint8, device="cuda")
        torch.cuda.synchronize()

    def ready(self, ops, until):
        """Compiles what is measured."""
        each = [(op, type) for op in ops for type in self.values if axes.tally.OPERATORS[op].takes(type)]
        kernels = [
            (op, type, accuracy, form)
            for op, type in each
            for accuracy in axes.accuracies_of(op, type)
            for form in ("rows", "whole")
        ]
        for kernel, reason in warm.all_of(self.contexts, kernels, until).items():
            print(" ".join(kernel), reason, file=sys.stderr)

    def works(self, op, type, name):
        """{contender: call}."""
        outer, length, inner = rows = SHAPES[name]
        x = self.values[type][: outer * length * inner]
        whole = name.startswith("whole")
        shape = calls.Shape(x.numel(), outer * inner, None if whole else rows, None, 0, outer)
        works = {}
        for accuracy in axes.accuracies_of(op, type):
            cell = axes.Cell(
                op, type, accuracy, "whole" if whole else "rows of 64", "normal"
            )  # of the segmentation only the form counts
            context = self.contexts[accuracy]
            if calls.result_bytes(context, cell, shape) > self.out.numel():
                raise calls.Failure("no room for the results")
            works[accuracy] = calls.call(context, cell, shape, [x.data_ptr()], None, self.out.data_ptr())
        works["torch"] = torch_calls.along(op, type, x, None if whole else rows)
        return works

    def batch(self, work, number):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(number):
            work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3

    def captured(self, work, number):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream, capture_error_mode="relaxed"):
            for _ in range(number):
                work()
        return graph.replay

    def measure(self, op, type, name):
        """{contender: (seconds on a stream, seconds in a graph or None)}; the contenders take turns."""
        with torch.cuda.stream(self.stream):
            works = self.works(op, type, name)
            number = {}
            for who, work in works.items():
                work()
                once = self.batch(work, 3) / 3
                number[who] = max(CALLS[0], min(CALLS[1], int(BATCH / once)))
            stream = self.rounds(works, number, dict.fromkeys(works, 1))
        graphs, nodes = {}, {who: min(NODES, number[who]) for who in works}
        for who, work in works.items():
            try:
                graphs[who] = self.captured(work, nodes[who])
            except RuntimeError as reason:
                print(f"{op} {type} {name} {who}, graph: {str(reason)[:200]}", file=sys.stderr)
        with torch.cuda.stream(self.stream):
            replays = {who: -(-number[who] // nodes[who]) for who in graphs}
            graph = self.rounds(graphs, replays, nodes)
        return {who: (stream[who], graph.get(who)) for who in works}

    def rounds(self, works, number, per):
        """{contender: median seconds of one of the `per` calls in each of `number` works}."""
        times = {who: [] for who in works}
        for work in works.values():
            work()
        for _ in range(ROUNDS):
            for who, work in works.items():
                times[who].append(self.batch(work, number[who]) / number[who] / per[who])
        return {who: statistics.median(some) for who, some in times.items()}


def cell_text(found, who, way):
    """Its time, and how many times as fast as PyTorch it is."""
    if who not in found or found[who][way] is None:
        return ""
    seconds, peer = found[who][way], found["torch"][way]
    times = "" if who == "torch" or peer is None else f" ({peer / seconds:.2f})"
    return f"{1e6 * seconds:.1f}{times}"


def markdown(results, way, title):
    contenders = ("torch", "exact", "fast", "only")
    rows = [
        [f"{op} {type}", name, *(cell_text(found, who, way) for who in contenders)]
        for (op, type, name), found in results.items()
    ]
    return f"## {title}\n\n" + report.table(["", "shape", *contenders], rows)


def behind(results, way):
    """How many cells of each contender are slower than PyTorch."""
    lines = []
    for who in ("exact", "fast", "only"):
        ratios = [
            found["torch"][way] / found[who][way]
            for found in results.values()
            if who in found and found[who][way] and found["torch"][way]
        ]
        if ratios:
            slower = sum(ratio < 1 for ratio in ratios)
            lines.append(f"- {who}: {slower} of {len(ratios)} behind PyTorch, the worst {min(ratios):.2f}")
    return "\n".join(lines)


def keep_lines(results, path):
    with open(path, "w") as file:
        print(*FIELDS, sep="\t", file=file)
        for (op, type, name), found in results.items():
            for who, (stream, graph) in found.items():
                print(op, type, name, who, f"{stream:.5g}", f"{graph:.5g}" if graph else "", sep="\t", file=file)


def main(options):
    began = time.monotonic()
    types = options.type or ["f32"]
    bench, results, left = Bench(types), {}, []
    for op in options.op:
        if op not in OPERATORS:
            sys.exit(f"--torch has no '{op}'; it has {', '.join(OPERATORS)}")
    ops = [op for op in OPERATORS if not options.op or op in options.op]
    bench.ready(ops, began + options.seconds / 2 if options.seconds else None)
    for type in types:
        for name in [name for name in SHAPES if not options.shape or name in options.shape]:
            for op in [op for op in ops if torch_calls.takes(op, type)]:
                if options.seconds and time.monotonic() - began > options.seconds:
                    left.append(f"{op} {type} {name}: no time")
                    continue
                try:
                    results[op, type, name] = bench.measure(op, type, name)
                except (calls.Failure, RuntimeError) as reason:
                    left.append(f"{op} {type} {name}: {str(reason)[:200]}")
            print(f"[{time.monotonic() - began:5.0f} s] {type} {name}", file=sys.stderr, flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    keep_lines(results, options.out / "torch-shapes.tsv")
    ways = [(0, "On a stream"), (1, "In a graph")]
    parts = [f"# Rows and small arrays beside PyTorch {torch.__version__}, {torch.cuda.get_device_name()}"]
    parts.append(
        "µs of a call, back to back, and in brackets how many times as fast as PyTorch; small arrays stay in the L2."
    )
    parts += [markdown(results, way, title) + "\n\n" + behind(results, way) for way, title in ways]
    if left:
        parts += ["## Left out", "\n".join("- " + line for line in left)]
    text = "\n\n".join(parts) + "\n"
    (options.out / "torch-shapes.md").write_text(text)
    print(text)
    return 0
