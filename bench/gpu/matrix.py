"""The matrix on one GPU, beside PyTorch; see bench/cells. Times are of the GPU: calls back to back between two events,
behind a pause in which they are put on the stream, so that the host's time is not in them. Arrays are passed over in
turns that exceed the L2 four times.

    bench/gpu/matrix [--seconds 540] [--log2 26]
                     [--op sum,var] [--type f32] [--segmentation "whole;rows of 64"] [--data normal]
    bench/gpu/matrix --torch            shapes of rows and small arrays beside PyTorch, on a stream and in a graph
    bench/gpu/matrix --list             what there is to measure
"""

import ctypes
import pathlib
import re
import statistics
import sys
import time

BEGAN = time.monotonic()
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import torch  # noqa: E402
import torch_calls  # noqa: E402
import torch_shapes  # noqa: E402
import warm  # noqa: E402

from cells import axes, calls, keep, lengths, run, values  # noqa: E402

SPAN = 4  # windows of an array together exceed the L2 as many times
BATCH = 0.25e-3  # seconds of calls between two events
MOST_CALLS = 20
ROOM = 6 << 30  # bytes of results
KEPT = 80 << 30  # bytes of values and indexes
PLAIN = 1 << 30  # bytes that plain reads go over


class Timer:
    def __init__(self):
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.cycles = 0  # of the GPU's clock in a second
        for _ in range(2):
            million = self.batch([lambda: torch.cuda._sleep(1_000_000)], 1, 0)
            self.cycles = 1e6 / million

    def batch(self, works, number, pause):
        """Seconds of a call; the host's own time for one in self.host."""
        torch.cuda._sleep(int(min(pause, 3e-3) * self.cycles))
        self.begin.record()
        began = time.perf_counter()
        for k in range(number):
            works[k % len(works)]()
        self.host = (time.perf_counter() - began) / number
        self.end.record()
        self.end.synchronize()
        return self.begin.elapsed_time(self.end) * 1e-3 / number

    def seconds(self, works):
        """(median, repeats)."""
        for _ in range(2):  # the first warms
            once = self.batch(works, 1, 100e-6)
            if once > run.LONG:
                return once, 1
        number = max(1, min(MOST_CALLS, round(BATCH / once)))
        pause = 20e-6 + 1.3 * number * self.host
        repeats = run.LEAST if once < 0.01 else 3
        return statistics.median(self.batch(works, number, pause) for _ in range(repeats)), repeats


class Gpu:
    def __init__(self, options):
        torch.cuda.init()
        properties = torch.cuda.get_device_properties(0)
        self.name = "gpu-" + re.sub("[^a-z0-9]+", "-", properties.name.lower()).strip("-")
        self.l2, self.count, self.timer = properties.L2_cache_size, 1 << options.log2, Timer()
        self.contexts = calls.contexts()
        self.kept, self.out = keep.Kept(KEPT), torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
        self.big = torch.randn(PLAIN // 4, device="cuda")
        self.given = options.plain_gbps
        self.library = open_plain(options.plain_read) if options.plain_read else None
        self.sms = properties.multi_processor_count
        self.about = {
            "name": f"{properties.name}, {self.sms} multiprocessors, {self.l2 >> 20} MiB of L2",
            "peer": f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}",
            "plain read by": (
                "--plain-gbps"
                if self.given
                else "the fastest of torch.sum, amax" + (", plain_read.cuh" if self.library else "")
            ),
        }

    # ---- memory

    def times(self, size):
        """How many arrays of that size exceed the L2."""
        return max(1, -(-SPAN * self.l2 // size))

    def values(self, type, data, second):
        """Windows of the values, one behind the other, as bytes."""

        def make():
            block = values.block(type, data, 2 if second else 1, min(values.BLOCK, self.count))
            one = torch.from_numpy(block.view("u1")).cuda()
            turn = values.TURN * block.itemsize
            one = torch.cat([one.roll(k * turn) for k in range(self.count // block.size)])
            single = values.single(type, data)
            if single is not None:
                place = self.count // 3 * single.itemsize
                one[place : place + single.itemsize] = torch.from_numpy(single.view("u1")).cuda()
            return one.repeat(self.times(one.numel()))

        return self.kept.get((type, data, second), make, lambda tensor: tensor.numel())

    def windows(self, type, data, second):
        whole, size = self.values(type, data, second), self.count * values.size(type)
        return [whole.data_ptr() + k * size for k in range(whole.numel() // size)]

    def index(self, form, shape, count):
        def make():
            index, segments = lengths.index(form, shape, count)
            return torch.from_numpy(index).cuda(), segments

        return self.kept.get((form, shape), make, lambda made: made[0].nbytes)

    def address(self, index):
        return index.data_ptr()

    def room(self, size):
        if size > ROOM:
            raise calls.Failure("no room for the results")
        if self.out.numel() < size:
            self.out = torch.empty(size + 64, dtype=torch.uint8, device="cuda")
        return self.out.data_ptr()

    # ---- time

    def seconds(self, works):
        return self.timer.seconds(works)

    def plain(self, size):
        """Bytes in a second of the fastest read of as many bytes there is here."""
        if self.given:
            return self.given * 1e9
        size = min(size, PLAIN)
        floats = [self.big[k : k + size // 4] for k in range(0, PLAIN // 4 - size // 4 + 1, size // 4)]
        tries = [[lambda x=x: torch.sum(x) for x in floats], [lambda x=x: torch.amax(x) for x in floats]]
        tries.append([lambda x=x: torch.amax(x) for x in (one.view(torch.int32) for one in floats)])
        if self.library:
            tries += [
                [lambda x=x, k=k: self.plain_read(k, x, size) for x in floats]
                for k in range(self.library.plain_read_shapes())
            ]
        return size / min(statistics.median(self.seconds(works)[0] for _ in range(3)) for works in tries)

    def plain_read(self, shape, x, size):
        self.library.plain_read(shape, self.sms, x.data_ptr(), size, self.out.data_ptr(), None)

    # ---- kernels and peers

    def ready(self, kernels, until):
        began = time.monotonic()
        late = warm.all_of(self.contexts, kernels, until)
        spent = time.monotonic() - began
        self.about["kernels"] = f"{len(kernels) - len(late)} of {len(kernels)} sets compiled or loaded in {spent:.0f} s"
        return late

    def peer(self, cell, shape):
        form, dtype = axes.SEGMENTATION[cell.segmentation].form, torch_calls.TYPES[cell.type]
        size = self.count * values.size(cell.type)
        whole = self.values(cell.type, cell.data, False)
        windows = [part.view(dtype)[: shape.values] for part in whole.split(size)]
        if form in ("whole", "rows") and torch_calls.takes(cell.op, cell.type):
            return torch_calls.CALLS[cell.op][0], [
                torch_calls.along(cell.op, cell.type, x, shape.rows) for x in windows
            ]
        floats = axes.tally.TYPES[cell.type].kind == "float"
        if form == "offsets" and cell.op in torch_calls.SEGMENTS and floats:
            offsets = self.kept.get((cell.segmentation, "i64"), shape.index.long, lambda tensor: tensor.nbytes)
            return "segment_reduce", [torch_calls.of_segments(cell.op, x, offsets) for x in windows]
        return None


def open_plain(path):
    library = ctypes.CDLL(str(pathlib.Path(path).resolve()))
    library.plain_read.restype = ctypes.c_char_p
    library.plain_read.argtypes = [
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    return library


def add_options(parser):
    parser.add_argument("--plain-gbps", type=float, default=0, help="the plain read, in place of measuring it")
    parser.add_argument("--plain-read", help="plain_read_library.cu, compiled (nvcc -shared): one more way to read")
    parser.add_argument(
        "--torch", action="store_true", help="shapes of rows and small arrays beside PyTorch, and nothing else"
    )
    parser.add_argument(
        "--shape",
        type=run.some_of(torch_shapes.SHAPES, ";"),
        default=[],
        help="with --torch: some of the shapes of torch_shapes.py, by ';'",
    )


if __name__ == "__main__":
    chosen = run.options_of(__doc__, 540, 26, 5, add_options)
    if chosen.shape and not chosen.torch:
        sys.exit("--shape is for --torch: without it --segmentation chooses")
    sys.exit(torch_shapes.main(chosen) if chosen.torch else run.main(chosen, Gpu, BEGAN))
