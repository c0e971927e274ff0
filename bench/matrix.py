"""The matrix on the CPU, beside NumPy; see bench/cells. Arrays are passed over in turns that exceed the largest cache
four times.

    bench/matrix [--threads N] [--seconds 540] [--log2 24]
                 [--op sum,var] [--type f32] [--segmentation "whole;rows of 64"] [--data normal]
    bench/matrix --list                 what there is to measure
"""

import os
import pathlib
import re
import statistics
import sys
import time

import numpy as np

import cases
import harness
import peers_numpy
import run as benchmark
from cells import axes, calls, keep, lengths, run, values

BEGAN = time.monotonic()
np.seterr(all="ignore")  # what NumPy says of infinities and NaN is known
SPAN = 4  # windows of an array together exceed the largest cache as many times
ROOM = 1 << 30  # bytes of results
BATCH = 5e-3  # seconds that are timed at once
PLAIN = 1 << 30  # bytes that plain reads go over


class Cpu:
    def __init__(self, options):
        model, caches = benchmark.cpu()
        self.cache = max(map(benchmark.size, caches.values()), default=32 << 20)
        self.count = 1 << options.log2
        self.threads = options.threads or axes.tally.lib.tally_cpu_threads()
        self.contexts = calls.contexts(threads=self.threads)
        self.name = f"cpu-{re.sub('[^a-z0-9]+', '-', model.lower()).strip('-')}-{self.threads}-threads"
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self.kept, self.out = keep.Kept(memory // 4), np.ones(1 << 20, "u1")
        self.harness = harness.load(options.build)
        self.big = harness.Buffer(PLAIN)
        self.big.fill("f32")
        self.shapes = None
        self.about = {
            "name": f"{model}, {self.threads} threads",
            "caches": ", ".join(f"{name} {size}" for name, size in caches.items()),
            "isa": axes.tally.lib.tally_cpu_isa().decode(),
            "peer": f"NumPy {np.__version__}, one thread",
            "load at start": os.getloadavg()[0],
        }

    # ---- memory

    def values(self, type, data, second):
        """Windows of the values, one behind the other."""

        def make():
            block = values.block(type, data, 2 if second else 1, min(values.BLOCK, self.count))
            size = self.count * block.itemsize
            many = np.empty((max(1, -(-SPAN * self.cache // size)), self.count), block.dtype)
            for window in many:
                for k, copy in enumerate(window.reshape(-1, block.size)):
                    copy[:] = np.roll(block, k * values.TURN)
                if values.single(type, data) is not None:
                    window[self.count // 3] = values.single(type, data)[0]
            return many

        return self.kept.get((type, data, second), make, lambda many: many.nbytes)

    def windows(self, type, data, second):
        return [window.ctypes.data for window in self.values(type, data, second)]

    def index(self, form, shape, count):
        return self.kept.get((form, shape), lambda: lengths.index(form, shape, count), lambda made: made[0].nbytes)

    def address(self, index):
        return index.ctypes.data

    def room(self, size):
        if size > ROOM:
            raise calls.Failure("no room for the results")
        if self.out.nbytes < size:
            self.out = np.ones(size + 64, "u1")  # written, so that no call waits for the system to give its pages
        return self.out.ctypes.data

    # ---- time

    def batch(self, works, number):
        began = time.perf_counter()
        for k in range(number):
            works[k % len(works)]()
        return (time.perf_counter() - began) / number

    def seconds(self, works):
        """(median, repeats); the first call warms, and is taken for it where it is long."""
        once = self.batch(works, 1)
        if once > run.LONG:
            return once, 1
        number = max(1, round(BATCH / once))
        return statistics.median(self.batch(works, number) for _ in range(run.LEAST)), run.LEAST

    def plain(self, size):
        """Bytes in a second of the fastest shape of plain_read.c over as many bytes."""
        size = min(size, PLAIN)
        jobs = [
            harness.Job(left=self.big.address + at, left_bytes=size, kind=harness.WHOLE, threads=self.threads)
            for at in range(0, PLAIN - size + 1, size)
        ]
        of = lambda shape: [
            harness.from_c(self.harness.plain, job.but(streams=shape[0], ahead=shape[1])) for job in jobs
        ]
        works = lambda shape: [lambda one=one: one.run(1) for one in of(shape)]
        self.shapes = self.shapes or self.best_shapes(works)
        return size / min(self.seconds(works(shape))[0] for shape in self.shapes for _ in range(2))

    def best_shapes(self, works):
        return sorted(cases.SHAPES, key=lambda shape: self.seconds(works(shape))[0])[:2]

    # ---- kernels and peers

    def ready(self, kernels, until):
        return {}

    def peer(self, cell, shape):
        """NumPy has no bf16; bool and u8 are alike to it but for their type."""
        form, dtype = axes.SEGMENTATION[cell.segmentation].form, axes.tally.TYPES[cell.type].numpy
        if not dtype:
            return None
        windows = [window.view(dtype)[: shape.values] for window in self.values(cell.type, cell.data, False)]
        if form == "whole" and cell.op in peers_numpy.WHOLE and axes.tally.OPERATORS[cell.op].inputs == 1:
            via, call = peers_numpy.WHOLE[cell.op]
            return via, [lambda x=x: call(x) for x in windows]
        if form == "rows" and cell.op in peers_numpy.ROWS:
            via, call = peers_numpy.ROWS[cell.op]
            return via, [lambda x=x: call(x, axis=1) for x in (x.reshape(shape.rows) for x in windows)]
        if form == "offsets" and cell.op in peers_numpy.SEGMENTS:
            via, call = peers_numpy.SEGMENTS[cell.op]
            starts = shape.index[:-1][np.diff(shape.index) > 0].astype(np.intp)
            return via, [lambda x=x: call(x, starts) for x in windows]
        return None


def add_options(parser):
    parser.add_argument(
        "--build", default=str(pathlib.Path(axes.tally.LIBRARY).parent), help="where libtallybench.so is"
    )
    parser.add_argument("--threads", type=int, default=0, help="default: all")


if __name__ == "__main__":
    sys.exit(run.main(run.options_of(__doc__, 540, 24, 3, add_options), Cpu, BEGAN))
