"""Arrays on a GPU have the bits of the CPU, on streams that are not the default: `tests/gpu.sh python`. What a machine
lacks (a GPU, PyTorch, CuPy, JAX) is skipped, and said."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tally_reduce as t

rng = np.random.default_rng(1)
VALUES = rng.standard_normal((60, 300)) * 10.0 ** rng.integers(-9, 9, (60, 300))
IDS = rng.integers(0, 9, 60)
SEGMENTATIONS = {
    "lengths": {"lengths": np.array([7, 0, 50, 3])},
    "offsets": {"offsets": np.array([3, 3, 40, 59], "i4")},
    "sorted ids": {"segment_ids": np.sort(IDS), "num_segments": 11},
    "unsorted ids": {"segment_ids": IDS, "num_segments": 11, "indices_are_sorted": False},
    "dropped ids": {"segment_ids": IDS.astype("i4") - 1, "num_segments": 5, "out_of_range": "drop"},
    "starts and ends": {"starts": np.array([5, 0, 60, 5]), "ends": np.array([9, 60, 60, 6])},
}
NAMES = ("lengths", "offsets", "segment_ids", "starts", "ends")


class Torch:
    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("torch sees no GPU")
        print("PyTorch", self.torch.__version__, self.torch.cuda.get_device_name())

    def make(self, x):
        return self.torch.tensor(x, device="cuda")

    def host(self, x):
        return x.cpu().numpy()

    def stream(self):
        stream = self.torch.cuda.Stream()
        return self.torch.cuda.stream(stream), stream

    def capture(self, work):
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            work()
        return graph.replay, self.torch.cuda.synchronize


class Cupy:
    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        if not self.cupy.cuda.is_available():
            pytest.skip("CuPy sees no GPU")
        print("CuPy", self.cupy.__version__)

    def make(self, x):
        return self.cupy.asarray(x)

    def host(self, x):
        return self.cupy.asnumpy(x)

    def stream(self):
        stream = self.cupy.cuda.Stream(non_blocking=True)
        return stream, stream

    def capture(self, work):
        stream = self.cupy.cuda.Stream(non_blocking=True)
        wait = self.cupy.cuda.Device().synchronize
        wait()
        with stream:
            stream.begin_capture()
            work()
            graph = stream.end_capture()
        return lambda: (wait(), graph.launch(stream)), wait


@pytest.fixture(params=[Torch, Cupy], ids=["torch", "cupy"])
def library(request):
    return request.param()


def same(library, got, wanted, what):
    for one, other in zip(got, wanted) if isinstance(wanted, t.Stats) else [(got, wanted)]:
        assert type(one) is type(library.make(np.ones(1))), what
        one, other = library.host(one), np.asarray(other)
        assert one.dtype == other.dtype and one.shape == other.shape, (what, one.dtype, one.shape)
        np.testing.assert_array_equal(one, other, err_msg=str(what))


def on_device(library, how):
    return {name: library.make(value) if name in NAMES else value for name, value in how.items()}


def take(op, dtype):
    return op != "dot" and (dtype[0] != "f" if op in ("and", "or", "xor") else dtype[0] == "f" or op != "logsumexp")


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i4", "?"])
def test_whole_arrays_and_axes(library, dtype):
    values = (VALUES if dtype[0] == "f" else VALUES % 50).astype("f4").astype(dtype)
    within, stream = library.stream()
    for op in (op for op in t.info()["operators"] if take(op, dtype)):
        wanted = [t.reduce(values, op, axis=axis) for axis in (None, 0, 1)]
        with within:
            x = library.make(values)
            got = [t.reduce(x, op, axis=axis) for axis in (None, 0, 1)]
        stream.synchronize()
        for axis, (one, other) in enumerate(zip(got, wanted)):
            if axis == 0 and op == "minmax":  # a pair of the whole array
                other = np.array(other)
            same(library, one, other, (op, axis))


def test_keywords(library):
    within, stream = library.stream()
    with within:
        x, y = library.make(VALUES), library.make(VALUES[::-1].copy())
        out = library.make(np.zeros(300, "f4"))
        got = [t.dot(x, y, axis=0), t.var(x, axis=1, ddof=1), t.sum(x, axis=1, keepdims=True, accuracy="fast"),
               t.sum(x, axis=0, dtype="f4"), t.max(x.T, axis=1)]  # fmt: skip
        assert t.sum(x, axis=0, out=out) is out
    stream.synchronize()
    wanted = [t.dot(VALUES, VALUES[::-1], axis=0), t.var(VALUES, axis=1, ddof=1),
              t.sum(VALUES, axis=1, keepdims=True, accuracy="fast"), t.sum(VALUES, axis=0, dtype="f4"),
              VALUES.max(0)]  # fmt: skip
    for one, other in zip([*got, out], [*wanted, wanted[3]]):
        same(library, one, other, "keywords")
    with pytest.raises(ValueError, match="same device"):
        t.sum(x, axis=0, out=np.zeros(300))
    with pytest.raises(ValueError, match="host memory"):
        t.sum(x, where=np.ones((60, 300), bool))


@pytest.mark.parametrize("how", SEGMENTATIONS)
def test_segments(library, how):
    """Numbers, features, features that lie apart, an axis in the middle; indices on the GPU and on the host; plans."""
    arrays = {
        "numbers": (VALUES[:, 0].copy(), 0), "features": (VALUES, 0), "few features": (VALUES[:, :3].copy(), 0),
        "axis 1": (VALUES.reshape(5, 60, 60), 1),
    }  # fmt: skip
    within, stream = library.stream()
    for name, (values, axis) in arrays.items():
        for op in ("sum", "argmax", "mean", "prod", "minmax", "stats", "logsumexp"):
            wanted = t.segment_reduce(values, op, axis=axis, **SEGMENTATIONS[how])
            with within:
                x, index = library.make(values), on_device(library, SEGMENTATIONS[how])
                got = {"on the GPU": t.segment_reduce(x, op, axis=axis, **index)}
                plan = t.Plan(60, dtype="f8", **index)
                got["plan"] = t.segment_reduce(x, op, axis=axis, plan=plan)
                got["on the host"] = t.segment_reduce(x, op, axis=axis, **SEGMENTATIONS[how])
                if values.ndim == 2:  # one feature lies behind the other
                    across = library.make(np.ascontiguousarray(values.T)).T
                    got["apart"] = t.segment_reduce(across, op, axis=axis, **index)
            stream.synchronize()
            for way, one in got.items():
                same(library, one, wanted, (name, op, way))


def test_streams_order_work(library):
    """What reads an array comes behind what writes it, without any wait of the host's."""
    big = np.ones(1 << 24, "f4")
    t.sum(library.make(big))  # compiled before
    for _ in range(3):
        within, stream = library.stream()
        with within:
            x = library.make(big)
            for _ in range(50):
                x += 1
            got = t.sum(x), t.sum(x, stream=stream), t.segment_sum(x, lengths=[1 << 23, 1 << 23])
            state = t.State("sum", "f4")
            state.push(x)
            x += 1
        stream.synchronize()
        assert [float(got[0]), float(got[1]), state.finish()] == [51.0 * (1 << 24)] * 3
        assert library.host(got[2]).tolist() == [51.0 * (1 << 23)] * 2


def test_another_stream_waits(library):
    """A stream that is passed, and is not the array's, comes behind what writes the array."""
    big = np.ones(1 << 24, "f4")
    t.sum(library.make(big))  # compiled before
    for _ in range(3):
        x = library.make(big)
        for _ in range(50):
            x += 1
        _, stream = library.stream()
        got = t.sum(x, stream=stream)
        stream.synchronize()
        assert float(got) == 51.0 * (1 << 24)


def test_graphs(library):
    """Calls are captured, and run again on other values."""
    x = library.make(VALUES)
    whole, columns, segments = (library.make(np.zeros(shape)) for shape in ((), 300, (11, 300)))
    index = on_device(library, SEGMENTATIONS["unsorted ids"])
    plan = t.Plan(60, dtype="f8", **index)

    def work():
        t.sum(x, out=whole)
        t.var(x, axis=0, out=columns)
        t.segment_sum(x, plan=plan, out=segments)

    work()  # compiles
    replay, wait = library.capture(work)
    x *= 2
    replay()
    wait()
    same(library, whole, t.sum(2 * VALUES), "whole")
    same(library, columns, t.var(2 * VALUES, axis=0), "columns")
    same(library, segments, t.segment_sum(2 * VALUES, **SEGMENTATIONS["unsorted ids"]), "segments")


def test_wrong_segments(library):
    x = library.make(VALUES)
    for how in ({"lengths": [61]}, {"offsets": [3, 2]}, {"segment_ids": [0] * 59 + [2], "num_segments": 2},
                {"segment_ids": [1] + [0] * 59, "num_segments": 2}, {"starts": [3], "ends": [2]},
                {"segment_ids": [0] * 59 + [2], "num_segments": 2, "indices_are_sorted": False}):  # fmt: skip
        index = {name: np.array(value) if name in NAMES else value for name, value in how.items()}
        with pytest.raises(ValueError):
            t.segment_sum(x, checked=True, **on_device(library, index))
        with pytest.raises(ValueError):
            t.Plan(60, **on_device(library, index))
    with pytest.raises(ValueError, match="num_segments"):
        t.segment_sum(x, library.make(np.zeros(60, "i8")))
    with pytest.raises(TypeError, match="int32"):
        t.segment_sum(x, library.make(np.zeros(60, "i2")), 2)
    assert library.host(t.segment_sum(x, library.make(np.zeros(60, "i8")), 1, checked=True)).shape == (1, 300)


def test_gradients_of_torch():
    """Values and gradients of the CPU, on a stream that is not the default, compiled too."""
    library = Torch()
    torch = library.torch
    tally = pytest.importorskip("tally_reduce.torch")
    x = torch.randn(64, 5, dtype=torch.float64)
    ids = torch.randint(0, 10, (64,))
    ways = [{"segment_ids": ids.sort().values, "num_segments": 10},
            {"segment_ids": ids, "num_segments": 9, "indices_are_sorted": False, "out_of_range": "drop"},
            {"lengths": torch.tensor([10, 0, 54])}]  # fmt: skip
    for op in "sum mean max min prod logsumexp var std norm1 norm2 norminf sumsq".split():
        for how in ways:
            results = []
            for device in ("cpu", "cuda"):
                index = {name: one.to(device) if name in NAMES else one for name, one in how.items()}
                with torch.cuda.stream(torch.cuda.Stream()):
                    leaf = x.to(device).requires_grad_()
                    sums = tally.segment_reduce(leaf, op, **index), tally.reduce(leaf, op, axis=0)
                    (grad,) = torch.autograd.grad(sum(one.nan_to_num(0, 0, 0).sum() for one in sums), leaf)
                    results.append([one.detach().cpu() for one in (*sums, grad)])
            print(op, how.keys())  # shown where it fails
            for one, other in zip(results[0][:2], results[1][:2]):
                np.testing.assert_array_equal(one, other)
            torch.testing.assert_close(results[0][2], results[1][2])
    softmax = tally.segment_softmax(x.cuda(), ids.cuda(), 10, indices_are_sorted=False)
    torch.testing.assert_close(softmax.cpu(), tally.segment_softmax(x, ids, 10, indices_are_sorted=False))
    for backend in ("aot_eager", "inductor"):
        torch._dynamo.reset()
        function = torch.compile(lambda v: tally.segment_mean(v, ways[0]["segment_ids"].cuda(), 10).sum() + 1,
                                 fullgraph=True, backend=backend)  # fmt: skip
        wanted = tally.segment_mean(x, **ways[0]).sum() + 1
        torch.testing.assert_close(function(x.cuda()).cpu(), wanted)


def test_jax():
    """jit, vmap and grad on a GPU: the values of the module on the CPU, gradients of the CPU."""
    jax = pytest.importorskip("jax", "0.5")
    if jax.default_backend() == "cpu":
        pytest.skip("JAX sees no GPU")
    tally = pytest.importorskip("tally_reduce.jax")
    jax.config.update("jax_enable_x64", True)
    print("JAX", jax.__version__, jax.devices())
    x = jax.numpy.asarray(VALUES)
    for op in ("sum", "max", "argmin", "var", "logsumexp", "prod"):
        for axis in (None, 0, 1):
            got = jax.jit(lambda v: tally.reduce(v, op, axis=axis))(x)
            np.testing.assert_array_equal(np.asarray(got), t.reduce(VALUES, op, axis=axis), err_msg=f"{op} {axis}")
        for name, how in SEGMENTATIONS.items():
            if "starts" in how:
                continue
            got = jax.jit(lambda v: tally.segment_reduce(v, op, **how))(x)
            np.testing.assert_array_equal(np.asarray(got), t.segment_reduce(VALUES, op, **how), err_msg=f"{op} {name}")
    ids = SEGMENTATIONS["unsorted ids"]
    batched = jax.vmap(lambda v: tally.segment_sum(v, **ids), in_axes=1)(x)
    np.testing.assert_array_equal(np.asarray(batched).T, t.segment_sum(VALUES, **ids))
    gradient = jax.grad(lambda v: tally.segment_logsumexp(v / 1e9, **ids)[:9].sum())
    with jax.default_device(jax.devices("cpu")[0]):
        wanted = np.asarray(gradient(jax.device_put(VALUES, jax.devices("cpu")[0])))
    np.testing.assert_allclose(np.asarray(gradient(x)), wanted, rtol=1e-12)


def test_all_reduce_by_nccl(tmp_path):
    """One rank: what NCCL's all_gather_object needs, and states of tensors on a GPU."""
    torch = Torch().torch
    if not torch.distributed.is_nccl_available():
        pytest.skip("this PyTorch has no NCCL")
    tally = pytest.importorskip("tally_reduce.torch")
    torch.distributed.init_process_group("nccl", init_method=f"file://{tmp_path}/meeting", rank=0, world_size=1)
    try:
        x = torch.tensor(VALUES, device="cuda")
        for op in ("sum", "prod", "argmax", "stats"):
            for words in ({}, {"axis": 1}):
                got, wanted = tally.all_reduce(x, op, **words), t.reduce(VALUES, op, **words)
                for one, other in zip(got, wanted) if op == "stats" else [(got, wanted)]:
                    assert one.device == x.device
                    np.testing.assert_array_equal(one.cpu(), other)
    finally:
        torch.distributed.destroy_process_group()


def test_all_reduce_on_two_gpus(tmp_path):
    """A process for each of two GPUs (rank_checks.py); `tests/gpu.sh nccl` runs it."""
    torch = Torch().torch
    if torch.cuda.device_count() < 2 or not torch.distributed.is_nccl_available():
        pytest.skip("there are no two GPUs, or this PyTorch has no NCCL")
    script, meeting = Path(__file__).with_name("rank_checks.py"), tmp_path / "meeting"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ranks = [subprocess.Popen([sys.executable, script, "nccl", str(rank), "2", meeting], env=environment)
             for rank in range(2)]  # fmt: skip
    try:
        assert [rank.wait(timeout=120) for rank in ranks] == [0, 0]
    finally:
        for rank in ranks:
            rank.kill()
