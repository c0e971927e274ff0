"""libtallybench.so through ctypes, and the way things are timed.

A contender is timed in samples. In each round every contender of a case gives one sample, in an order that moves on by
one from round to round, so that a drift of the machine hits all of them. A sample first waits until the threads that
the contender before it left spinning have gone to sleep, then makes untimed calls until its own are awake and spread
over the cores, then is timed over as many calls in a row as fill a few milliseconds. The time of a contender is the
median of its samples; its share of the plain read is the median of the shares in each round.
"""

import ctypes
import json
import math
import os
import pathlib
import statistics
import sys
import time

import numpy

SETTLE = 0.03  # seconds: libgomp's and OpenBLAS's idle threads spin for some 10 and 25 ms
WARM = 0.01  # seconds of untimed calls: threads that woke on one core need some milliseconds to be spread again
LONG = 0.1  # a call that lasts this long warms itself
SAMPLE = 0.005  # seconds that are timed at least
EMPTY = 1  # TALLY_EMPTY: some segment has no value, but all results are written
WHOLE, OFFSETS, LENGTHS, SEGMENT_IDS, ROWS = -1, 0, 1, 2, 3


class Job(ctypes.Structure):
    """bench_job of bench.h."""

    _fields_ = (
        [(name, ctypes.c_void_p) for name in ("left", "right", "index", "out")]
        + [
            (name, ctypes.c_int64)
            for name in (
                "count",
                "left_bytes",
                "right_bytes",
                "index_bytes",
                "out_bytes",
                "segments",
                "length",
                "inner",
            )
        ]
        + [
            (name, ctypes.c_int32)
            for name in ("op", "type", "kind", "index_type", "threads", "accuracy", "streams", "ahead")
        ]
    )

    def bytes(self):
        """What the job reads and writes; the one result of a whole array does not count."""
        return self.left_bytes + self.right_bytes + self.index_bytes + (self.out_bytes if self.kind != WHOLE else 0)

    def but(self, **changes):
        copy = Job.from_buffer_copy(self)
        for name, value in changes.items():
            setattr(copy, name, value)
        return copy


class Row(ctypes.Structure):
    """bench_row of bench.h."""

    _fields_ = [
        ("family", ctypes.c_char_p),
        ("via", ctypes.c_char_p),
        ("op", ctypes.c_int32),
        ("type", ctypes.c_int32),
        ("segmented", ctypes.c_int32),
        ("run", ctypes.c_void_p),
    ]

    def takes(self, job):
        if self.op not in (-1, job.op) or self.type not in (-1, job.type):
            return False
        if self.family == b"openblas" and job.count >= 2**31:  # its lengths are 32-bit
            return False
        if self.segmented in (-1, 0):
            return self.segmented == -1 or job.kind == WHOLE
        return job.kind == OFFSETS and self.segmented == 32 + 32 * (job.index_type == LIBRARY.types["i64"])


class Library:
    """libtallybench.so: names, memory, random data and the C contenders."""

    def __init__(self, build):
        places = [pathlib.Path(build) / "bench" / "libtallybench.so", pathlib.Path(build) / "libtallybench.so"]
        path = next((p for p in places if p.exists()), None)
        if not path:
            sys.exit(
                f"bench: no libtallybench.so under {build}; build it with: "
                f"cmake -S . -B {build} -DTALLY_BENCH=ON && cmake --build {build}"
            )
        self.c = ctypes.CDLL(str(path.resolve()))
        for name, result, *arguments in (
            ("bench_time", ctypes.c_double, ctypes.c_void_p, ctypes.POINTER(Job), ctypes.c_int64),
            ("bench_allocate", ctypes.c_void_p, ctypes.c_int64),
            ("bench_release", None, ctypes.c_void_p, ctypes.c_int64),
            ("bench_fill", None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64),
            ("bench_row_at", ctypes.POINTER(Row), ctypes.c_int),
            ("bench_op_name", ctypes.c_char_p, ctypes.c_int),
            ("bench_type_name", ctypes.c_char_p, ctypes.c_int),
            ("bench_type_numpy", ctypes.c_char_p, ctypes.c_int),
        ):
            function = getattr(self.c, name)
            function.restype, function.argtypes = result, arguments
        self.rows = list(self._list(lambda k: self.c.bench_row_at(k), lambda row: row.contents))
        self.ops = {name: k for k, name in enumerate(self._list(self.c.bench_op_name, bytes.decode))}
        self.types = {
            name: k + 1 for k, name in enumerate(self._list(lambda k: self.c.bench_type_name(k + 1), bytes.decode))
        }
        self.build = (
            json.loads(path.with_name("build.json").read_text()) if path.with_name("build.json").exists() else {}
        )
        self.plain = next(row for row in self.rows if row.family == b"plain")
        self.tally = next((row for row in self.rows if row.family == b"tally"), None)
        self.threads = (
            self.c.bench_threads()
            if self.tally
            else int(os.environ.get("OMP_NUM_THREADS") or len(os.sched_getaffinity(0)))
        )
        self.exact = bool(self.tally and self.c.bench_exact())

    def text(self, function):
        """What a C function without arguments says; "" where this build has none."""
        say = getattr(self.c, function, None)
        if not say:
            return ""
        say.restype = ctypes.c_char_p
        return say().decode()

    @staticmethod
    def _list(at, convert):
        k = 0
        while at(k):
            yield convert(at(k))
            k += 1

    def defined(self, op, type):
        return bool(self.c.bench_defined(self.ops[op], self.types[type]))

    def dtype(self, type):
        """The NumPy type, or None where NumPy has none (bf16)."""
        name = self.c.bench_type_numpy(self.types[type]).decode()
        return numpy.dtype(name) if name else None

    def size(self, type):
        return self.c.bench_type_bytes(self.types[type])

    def result(self, op, type):
        """(NumPy type or None, bytes) of one result; op and type by number."""
        if not self.tally:
            return None, 8
        result, size = ctypes.c_int(), ctypes.c_int64()
        self.check(self.c.bench_result(op, type, ctypes.byref(result), ctypes.byref(size)))
        numpy_name = (self.c.bench_type_numpy(result.value) or b"").decode()
        dtype = numpy.dtype(numpy_name) if numpy_name else None
        return dtype if dtype and dtype.itemsize == size.value else None, size.value

    def result_bytes(self, op, type):
        return self.result(self.ops[op], self.types[type])[1]

    def check(self, status):
        if status:
            raise RuntimeError(f"tally: {self.text('bench_message')}")


LIBRARY = None


def load(build):
    global LIBRARY
    LIBRARY = Library(build)
    return LIBRARY


class Buffer:
    """Memory of the C side, seen from both sides."""

    def __init__(self, size):
        self.size = (size + 4095) // 4096 * 4096
        self.address = LIBRARY.c.bench_allocate(self.size)
        if not self.address:
            sys.exit(f"bench: no memory for {size} bytes; try --bytes with less")
        self.bytes = numpy.ctypeslib.as_array((ctypes.c_uint8 * self.size).from_address(self.address))

    def close(self):
        LIBRARY.c.bench_release(self.address, self.size)

    def fill(self, type, kind="random", seed=1):
        """random: floats of either sign from 2^-3 up to 2, integers of all bits; ones: +1 and -1 (a product stays
        finite); zero; nonzero: random integers with the lowest bit set."""
        keep, put = fill_masks(type, kind)
        LIBRARY.c.bench_fill(self.address, self.size, keep, put, seed)

    def view(self, dtype, count=None):
        dtype = numpy.dtype(dtype)
        return self.bytes[: self.size // dtype.itemsize * dtype.itemsize].view(dtype)[:count]


FLOATS = {
    "f16": (16, 10, 15),
    "bf16": (16, 7, 127),
    "f32": (32, 23, 127),
    "f64": (64, 52, 1023),
}  # bits, mantissa, bias


def fill_masks(type, kind):
    bits = LIBRARY.size(type) * 8
    if type in FLOATS:
        _, mantissa, bias = FLOATS[type]
        sign, one = 1 << bits - 1, bias << mantissa
        keep, put = {
            "random": (sign | (4 << mantissa) - 1, one & ~((4 << mantissa) - 1)),
            "ones": (sign, one),
            "zero": (0, 0),
            "nonzero": (sign | (4 << mantissa) - 1, one & ~((4 << mantissa) - 1)),
        }[kind]
    else:
        every = 1 if type == "bool" else (1 << bits) - 1
        keep, put = {"random": (every, 0), "ones": (every, 0), "zero": (0, 0), "nonzero": (every & ~1, 1)}[kind]
    repeat = sum(1 << k for k in range(0, 64, bits))
    return keep * repeat, put * repeat


class Contender:
    """Something that is timed: run(calls) gives seconds per call; value() does the job once and gives its result (of
    the first segment), or None where there is no single number."""

    def __init__(self, family, via, size, run, value=lambda: None):
        self.family, self.via, self.bytes, self.run, self.value = family, via, size, run, value


def from_c(row, job, family=None, via=None):
    """A C contender on a job. The job is kept alive by the closure."""
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.POINTER(Job))(row.run)

    def value():
        result = function(ctypes.byref(job))
        if row.family != b"tally":
            return None if row.family == b"plain" else result
        if result != EMPTY:
            LIBRARY.check(int(result))
        dtype, size = LIBRARY.result(job.op, job.type)
        return dtype and numpy.frombuffer((ctypes.c_char * size).from_address(job.out), dtype)[0]

    run = lambda calls: LIBRARY.c.bench_time(row.run, ctypes.byref(job), calls)
    return Contender(family or row.family.decode(), via or row.via.decode(), job.bytes(), run, value)


def from_python(family, via, size, call):
    def run(calls):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - start) / calls

    return Contender(family, via, size, run, call)


def measure(contenders, repeats):
    """Gives one record for each contender."""
    values = [contender.value() for contender in contenders]
    once = [max(contender.run(1), 1e-9) for contender in contenders]
    seconds = [[] for _ in contenders]
    for turn in range(repeats):
        for k in range(len(contenders)):
            k = (k + turn) % len(contenders)
            time.sleep(SETTLE)
            if once[k] < LONG:
                contenders[k].run(calls_for(WARM, once[k]))
            seconds[k].append(contenders[k].run(calls_for(SAMPLE, once[k])))
    records = [record(*each) for each in zip(contenders, values, once, seconds)]
    compare_with_plain(records, seconds)
    return records


def calls_for(duration, once):
    return max(1, math.ceil(min(duration / once, 10_000_000)))


def record(contender, value, once, seconds):
    ordered = sorted(seconds)
    median = statistics.median(ordered)
    return {
        "contender": contender.family,
        "via": contender.via,
        "bytes": contender.bytes,
        "seconds": median,
        "least": ordered[0],
        "lower": ordered[len(ordered) // 4],
        "upper": ordered[-1 - len(ordered) // 4],
        "repeats": len(ordered),
        "calls": calls_for(SAMPLE, once),
        "gb_per_s": contender.bytes / median / 1e9,
        "of_plain": None,
        "value": float(value) if numpy.isscalar(value) and numpy.isfinite(value) else None,
    }


def compare_with_plain(records, seconds):
    """of_plain: the speed as a fraction of the plain read's (of its faster shape), the median over the rounds of the
    fraction within a round: the machine may change its pace between rounds without touching it."""
    plain = [k for k, r in enumerate(records) if r["contender"] == "plain"]
    if plain:
        best = min(plain, key=lambda k: records[k]["seconds"])
        pace = [s / records[best]["bytes"] for s in seconds[best]]
        for r, own in zip(records, seconds):
            r["of_plain"] = statistics.median(p * r["bytes"] / s for p, s in zip(pace, own))


def disagreements(case, records):
    """Sentences about peers whose result for the same values is not Tally's: a benchmark of wrong answers is none.
    Rounding is forgiven, also that of cancelling sums of random signs."""
    tally = next((r for r in records if r["contender"] == "tally"), None)
    if not tally or tally["value"] is None:
        return
    for r in records:
        another_sum = case["op"] == "sum" and r["via"].endswith("asum")
        if r["value"] is not None and r["bytes"] == tally["bytes"] and not another_sum:
            slack = 1e-3 * max(abs(tally["value"]), r["bytes"] ** 0.5) if case["op"] not in EXACT else 0
            if not abs(r["value"] - tally["value"]) <= slack and r["value"] != tally["value"]:
                peer = f"{r['contender']} ({r['via']}) gives {r['value']:.9g}"
                yield f"{' '.join(map(str, case.values()))}: {peer}, tally {tally['value']:.9g}"


EXACT = ("min", "max", "argmin", "argmax", "any", "all", "count", "and", "or", "xor", "norminf")


class Progress:
    """One line on stderr; on a terminal it is overwritten."""

    def __init__(self):
        self.start, self.terminal = time.monotonic(), sys.stderr.isatty()

    def say(self, text, end=False):
        text = f"[{time.monotonic() - self.start:6.0f} s] {text}"
        if self.terminal:
            print(f"\r{text[:118]:<118}", end="\n" if end else "", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)
