"""What is measured: each section is a generator of (labels, contenders)."""

import os

import numpy as np

import harness
import peers_numpy
from harness import LENGTHS, OFFSETS, SEGMENT_IDS, ROWS, WHOLE, Buffer, Job, from_c, from_python

FULL_TYPES = ["f32", "f64", "f16", "bf16", "i32", "i64", "u8", "i16", "bool"]
QUICK_TYPES = ["f32", "f64"]
FILL = {"prod": "ones", "any": "zero", "all": "nonzero"}  # data that neither overflow nor let a reader stop early
FILL_BOOL = {  # where two values are all there are, NumPy stops at the first that decides
    **dict.fromkeys(("min", "argmin", "and", "all", "prod"), "nonzero"),
    **dict.fromkeys(("max", "argmax", "or", "any", "norminf", "sumsq", "dot"), "zero"),
}
SHAPES = [(streams, ahead) for streams in (1, 2, 4, 8) for ahead in (0, 512, 2048, 8192)]
IN_CACHE = [10**2, 10**3, 10**4, 10**5, 10**6]
SLOW = 0.3  # seconds a peer may take on the whole input; a slower one gets a part of it
PART = 128 << 20  # bytes of that part: still larger than the caches
FAST = 1  # TALLY_FAST
EXACT = ["sum", "norm2", "dot", "var", "stats"]  # what differs by class of data


class Bench:
    """One run: the options, the library, the memory, and the plain read's best shapes."""

    def __init__(self, options, library, progress):
        self.options, self.library, self.progress = options, library, progress
        self.threads = options.threads or library.threads
        self.blas_threads = int(os.environ.get("OPENBLAS_NUM_THREADS") or self.threads)
        self.types = options.types or (QUICK_TYPES if options.quick else FULL_TYPES)
        self.ops = options.ops or list(library.ops)
        self.data, self.out = Buffer(options.bytes), Buffer(1 << 16)
        self.filled, self.shapes = None, {}

    def kind(self, type, op):
        return (FILL_BOOL if type == "bool" else FILL).get(op, "random")

    def fill(self, type, op=None):
        wanted = (type, self.kind(type, op))
        if self.filled != wanted:
            self.data.fill(*wanted)
            self.filled = wanted

    def wants(self, op, type):
        return op in self.ops and type in self.types and self.library.defined(op, type)

    # ---- contenders

    def plain(self, job):
        """The plain read in its two best shapes; the report takes the faster one."""
        for streams, ahead in self.best_shapes(job.threads):
            yield from_c(
                self.library.plain, job.but(streams=streams, ahead=ahead), via=f"{streams} streams, prefetch {ahead}"
            )

    def best_shapes(self, threads):
        if threads not in self.shapes:
            self.progress.say(f"plain read, {threads} threads: choosing among {len(SHAPES)} shapes")
            job = Job(left=self.data.address, left_bytes=self.data.size, kind=WHOLE, threads=threads)
            trials = harness.measure([from_c(self.library.plain, job.but(streams=s, ahead=a)) for s, a in SHAPES], 3)
            ranked = sorted(range(len(SHAPES)), key=lambda k: trials[k]["seconds"])
            self.shapes[threads] = [SHAPES[k] for k in ranked[:2]]
        return self.shapes[threads]

    def tally(self, job):
        """Tally as it is by default, and, once that is exact, fast beside it."""
        if self.library.tally:
            yield from_c(self.library.tally, job)
            if self.library.exact:
                yield from_c(self.library.tally, job.but(accuracy=FAST), "tally fast")

    def c_peers(self, job):
        """(row, job) of each peer in C and C++."""
        for row in self.library.rows:
            if row.family not in (b"plain", b"tally") and row.takes(job):
                yield row, job.but(threads=self.blas_threads) if row.family == b"openblas" else job

    def affordable(self, make, count, size):
        """make(count): on all values, or, where that takes too long, on a part of them."""
        some = max(1, count // 16)
        pilot = make(some)
        pilot.value()
        return make(count if pilot.run(1) * count / some <= SLOW else min(count, PART // size))

    # ---- whole arrays

    def whole_job(self, op, type, count, threads=None):
        """`count` values from the start of the data; dot takes its second input from the middle."""
        op_number, size = self.library.ops[op], self.library.size(type)
        pair = self.library.c.bench_op_inputs(op_number) == 2
        return Job(
            left=self.data.address,
            right=self.data.address + self.data.size // 2 if pair else None,
            out=self.out.address,
            count=count,
            left_bytes=count * size,
            right_bytes=count * size if pair else 0,
            op=op_number,
            type=self.library.types[type],
            kind=WHOLE,
            threads=threads or self.threads,
        )

    def whole_contenders(self, op, type, count):
        job, size = self.whole_job(op, type, count), self.library.size(type)
        yield from self.plain(job)
        yield from self.tally(job)
        for row, peer in self.c_peers(job):
            part = lambda n: peer.but(count=n, left_bytes=n * size, right_bytes=n * size if peer.right else 0)
            yield self.affordable(lambda n: from_c(row, part(n)), count, size)
        dtype = self.library.dtype(type)
        if dtype is not None and op in peers_numpy.WHOLE:
            via, call = peers_numpy.WHOLE[op]
            x, y = self.data.view(dtype), self.data.bytes[self.data.size // 2 :].view(dtype)
            inputs = (lambda n: (x[:n], y[:n])) if job.right else (lambda n: (x[:n],))
            make = lambda n: from_python("numpy", via, n * size * (2 if job.right else 1), lambda: call(*inputs(n)))
            yield self.affordable(make, count, size)

    def whole(self):
        """Every operator and type, from memory."""
        for type in self.types:
            for op in sorted(self.ops, key=lambda op: self.kind(type, op)):
                if self.wants(op, type):
                    self.fill(type, op)
                    pair = self.library.c.bench_op_inputs(self.library.ops[op]) == 2
                    count = self.data.size // self.library.size(type) // (2 if pair else 1)
                    yield {"op": op, "type": type}, self.whole_contenders(op, type, count)

    def exact_peers(self, x, count, size):
        """What else gives the true sum of the first `count` values of x; fsum gives up where a part of it overflows."""
        for who, via, call in peers_numpy.exact_sums():
            make = lambda n: from_python(who, via, n * size, lambda: call(x[:n]))
            try:
                peer = self.affordable(make, count, size)
                peer.run(1)
            except OverflowError:
                continue
            yield peer

    def exact(self):
        """What is made of exact sums, by class of data; sums beside what else gives the true one: math.fsum, and Neal's
        xsum where it is installed (pip install xsum)."""
        for type in ("f32", "f64"):
            if type not in self.types:
                continue
            dtype, size = self.library.dtype(type), self.library.size(type)
            x = self.data.view(dtype)
            for name, make in peers_numpy.CLASSES.items():
                make(x)
                self.filled = None
                for op in EXACT:
                    if op in self.ops:
                        pair = self.library.c.bench_op_inputs(self.library.ops[op]) == 2
                        count = self.data.size // size // (2 if pair else 1)
                        job = self.whole_job(op, type, count)
                        peers = self.exact_peers(x, count, size) if op == "sum" else []
                        yield {"op": op, "type": type, "case": name}, [*self.plain(job), *self.tally(job), *peers]

    def cache(self):
        """Arrays that stay in the caches: the time of a call."""
        for type in ("f32", "f64"):
            for op in ("sum", "norm1", "dot", "var", "max"):
                for count in IN_CACHE:
                    if self.wants(op, type) and count * self.library.size(type) <= self.data.size // 2:
                        self.fill(type)
                        yield {"op": op, "type": type, "count": count}, self.whole_contenders(op, type, count)

    def threads_scaling(self):
        """1 .. N threads, from memory; and what one call costs when there is next to nothing to read."""
        self.fill("f32")
        count = self.data.size // 4
        for threads in range(1, self.threads + 1):
            job = self.whole_job("sum", "f32", count, threads)
            peers = [from_c(row, peer.but(threads=threads)) for row, peer in self.c_peers(job)]
            yield {"op": "sum", "type": "f32", "threads": threads}, [*self.plain(job), *self.tally(job), *peers]

    def dispatch(self):
        """The time of one call on 1 and on 16 values, and of one that is worth a second thread."""
        self.fill("f32")
        for count in (1, 16, 80_000):
            yield {"op": "sum", "type": "f32", "count": count}, self.whole_contenders("sum", "f32", count)

    # ---- segments

    def segments(self):
        """Uneven segments, in each form that they can have."""
        for type in ("f32", "f64"):
            count = min(self.data.size, self.options.segment_bytes) // self.library.size(type)
            for name, lengths in length_cases(count):
                offsets = np.zeros(len(lengths) + 1, np.int64)
                np.cumsum(lengths, out=offsets[1:])
                for op in ("sum", "mean", "var", "argmin", "stats"):
                    if op in self.ops and type in self.types:
                        self.fill(type)
                        for form, kind, index in forms_of(offsets, lengths, every=(op, type) == ("sum", "f32")):
                            labels = {"op": op, "type": type, "case": name, "segments": len(lengths), "form": form}
                            yield from self.segments_case(labels, kind, index, offsets)

    def segments_case(self, labels, kind, index, offsets):
        op, type, segments = labels["op"], labels["type"], labels["segments"]
        size, values = self.library.size(type), int(offsets[-1])
        out = Buffer(segments * self.library.result_bytes(op, type))
        job = Job(
            left=self.data.address,
            index=index.ctypes.data,
            out=out.address,
            count=values,
            left_bytes=values * size,
            index_bytes=index.nbytes,
            out_bytes=segments * self.library.result_bytes(op, type),
            segments=segments,
            op=self.library.ops[op],
            type=self.library.types[type],
            kind=kind,
            index_type=self.library.types["i32" if index.itemsize == 4 else "i64"],
            threads=self.threads,
        )
        contenders = [*self.plain(job), *self.tally(job), *(from_c(row, peer) for row, peer in self.c_peers(job))]
        if op in peers_numpy.SEGMENTS:
            via, call = peers_numpy.SEGMENTS[op]
            x = self.data.view(self.library.dtype(type), values)
            starts = offsets[:-1][np.diff(offsets) > 0]
            contenders.append(from_python("numpy", via, job.bytes(), lambda: call(x, starts)))
        yield labels, contenders
        out.close()

    # ---- rows

    def rows(self):
        """One axis of a matrix, from very many short rows to two very long ones, and the middle axis of a cube."""
        for op, type in (("sum", "f32"), ("sum", "f64"), ("max", "f32"), ("argmin", "f32")):
            if not self.wants(op, type):
                continue
            self.fill(type)
            count = self.data.size // self.library.size(type)
            for shape, axis in row_shapes(count):
                yield from self.axis_case(op, type, shape, axis)

    def axis_case(self, op, type, shape, axis):
        size, values = self.library.size(type), int(np.prod(shape))
        outer, inner = int(np.prod(shape[:axis])), int(np.prod(shape[axis + 1 :]))
        out_bytes = outer * inner * self.library.result_bytes(op, type)
        out = Buffer(out_bytes)
        job = Job(
            left=self.data.address,
            out=out.address,
            count=values,
            left_bytes=values * size,
            out_bytes=out_bytes,
            segments=outer,
            length=shape[axis],
            inner=inner,
            op=self.library.ops[op],
            type=self.library.types[type],
            kind=ROWS,
            threads=self.threads,
        )
        via, call = peers_numpy.ROWS[op]
        x = self.data.view(self.library.dtype(type), values).reshape(shape)

        def numpy_on(n):  # as many of the results as n values give
            keep = max(1, int(n) * shape[0] // values)
            part = x[:keep] if axis else x.reshape(shape[0], inner)[:, : max(1, inner * int(n) // values)]
            return from_python("numpy", via, job.bytes() * part.size // values, lambda: call(part, axis=axis))

        labels = {"op": op, "type": type, "case": " x ".join(map(str, shape)), "axis": axis, "length": shape[axis]}
        yield labels, [*self.plain(job), *self.tally(job), self.affordable(numpy_on, values, size)]
        out.close()


def length_cases(count):
    """(name, lengths of the segments) that use about `count` values."""
    rng = np.random.default_rng(1)
    fits = lambda lengths: lengths[: np.searchsorted(np.cumsum(lengths), count, side="right")]
    few = lambda n: fits(rng.integers(10, 51, n // 30 + 1))
    yield "one", np.array([count])
    yield "3", np.full(count // 3, 3)
    yield "10..50", few(count)
    yield "power 1.1", fits(np.minimum((1 - rng.random(count // 4 + 1)) ** (-1 / 1.1), count // 8).astype(np.int64))
    yield "huge + 10..50", fits(np.concatenate([few(count // 4), [count // 2], few(count // 4)]))
    some = few(count)
    mostly_empty = np.zeros(len(some) * 5, np.int64)
    mostly_empty[np.sort(rng.permutation(len(mostly_empty))[: len(some)])] = some
    yield "80% empty", mostly_empty
    yield "300", np.full(count // 300, 300)
    yield "4096", np.full(count // 4096, 4096)


def forms_of(offsets, lengths, every):
    """(name, kind, index array): 64-bit offsets, and where `every` form is wanted the five others."""
    yield "offsets i64", OFFSETS, offsets
    if every:
        yield "offsets i32", OFFSETS, offsets.astype(np.int32)
        yield "lengths i64", LENGTHS, np.ascontiguousarray(lengths, np.int64)
        yield "lengths i32", LENGTHS, lengths.astype(np.int32)
        segment_ids = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        yield "segment_ids i32", SEGMENT_IDS, segment_ids
        yield "segment_ids i64", SEGMENT_IDS, segment_ids.astype(np.int64)


def row_shapes(count):
    """(shape, axis)."""
    for width in (2, 3, 8, 100, 10**4, count // 10**4, count // 8, count // 2):
        for axis in (1, 0):
            yield (count // width, width), axis
    for middle in (
        (count // 64, 8, 8),
        (100, count // 300, 3),
        (100, count // 10**4, 100),
        (10, count // 10**5, 10**4),
        (1000, 1000, count // 10**6),
    ):
        yield middle, 1
