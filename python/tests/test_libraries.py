"""Arrays of libraries that are too large for make check: `tools/jobs.sh python` has them. What is missing is skipped.
"""
import gc
import sys

import numpy as np
import pytest
import tally_reduce as t

VALUES = np.arange(12.0).reshape(3, 4)


def check(x, kind):
    """Results are arrays of the same library, and have NumPy's values."""
    for op, oracle in [("sum", np.sum), ("max", np.max), ("mean", np.mean), ("argmax", np.argmax)]:
        for axis in (None, 0, 1):
            print(op, axis)  # shown where a test fails
            got = getattr(t, op)(x, axis=axis)
            assert isinstance(got, kind)
            np.testing.assert_array_equal(np.asarray(got), oracle(VALUES, axis=axis))
    print("segments, stats")
    rows = t.segment_sum(x, lengths=[1, 0, 2])
    assert isinstance(rows, kind)
    np.testing.assert_array_equal(np.asarray(rows), [VALUES[0], [0] * 4, VALUES[1:].sum(0)])
    stats = t.stats(x, axis=1)
    assert isinstance(stats.max, kind)
    np.testing.assert_array_equal(np.asarray(stats.max), VALUES.max(1))


def test_jax():
    """On JAX's default device: a GPU, where there is one."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    print("JAX", jax.__version__, jax.devices())
    for device in {jax.devices()[0], jax.devices("cpu")[0]}:
        x = jax.device_put(VALUES, device)
        check(x, jax.Array)
        half = t.sum(x.astype("bfloat16"), axis=0)
        assert half.dtype == "bfloat16" and half.tolist() == [12, 15, 18, 21]
        assert half.devices() == t.stats(x, axis=0).max.devices() == {device}
        ids = jax.device_put(np.array([0, 0, 1]), device)
        np.testing.assert_array_equal(t.segment_sum(x, ids, 2), jax.ops.segment_sum(x, ids, 2))
        with pytest.raises(TypeError, match="written"):
            t.sum(x, axis=0, out=jax.numpy.zeros(4))
    for transform in (jax.jit, jax.vmap, jax.grad):
        with pytest.raises(TypeError, match="tally_reduce.jax"):
            transform(t.sum)(jax.numpy.ones(3))


@pytest.mark.parametrize("library", ["torch", "jax", "pyarrow", "pandas"])
def test_nothing_leaks(library):
    """An array is given back after each call, and so is one that is refused."""
    module = pytest.importorskip(library)
    x = {"torch": lambda: module.tensor(VALUES), "jax": lambda: module.numpy.asarray(VALUES),
         "pyarrow": lambda: module.array(VALUES[0]), "pandas": lambda: module.Series(VALUES[0])}[library]()  # fmt: skip

    def calls():
        t.sum(x), t.stats(x, axis=0), t.segment_sum(x, lengths=[1] * len(x))
        for wrong in (lambda: t.sum(x, axis=7), lambda: t.segment_sum(x, lengths=[9]), lambda: t.xor(x)):
            with pytest.raises((ValueError, TypeError)):
                wrong()

    calls()
    gc.collect()
    before = sys.getrefcount(x)
    for _ in range(50):
        calls()
    gc.collect()
    assert abs(sys.getrefcount(x) - before) < 5


def test_array_api_strict():
    strict = pytest.importorskip("array_api_strict")
    x = strict.asarray(VALUES)
    check(x, type(x))


def test_torch():
    torch = pytest.importorskip("torch")
    x = torch.tensor(VALUES)
    check(x, torch.Tensor)
    assert t.sum(x.T, axis=0).tolist() == VALUES.sum(1).tolist()
    assert t.sum(x.to(torch.bfloat16), axis=1).dtype == torch.bfloat16
    out = torch.zeros(3, dtype=torch.float64)
    assert t.sum(x, axis=1, out=out) is out and out.tolist() == VALUES.sum(1).tolist()
    with pytest.raises(ValueError):
        t.sum(x, axis=0, out=x[0])
    for wrong in (x.clone().requires_grad_(), torch.nn.Parameter(x)):
        with pytest.raises(ValueError, match="tally_reduce.torch"):
            t.sum(wrong)
    assert t.sum(torch.nn.Parameter(x, requires_grad=False)) == VALUES.sum()
    lazy = torch.tensor([1 + 2j, 3 + 4j]).conj().imag  # its memory is not negated yet
    with pytest.raises(ValueError, match="resolve_neg"):
        t.sum(lazy)
    assert t.sum(lazy.resolve_neg()) == -6
    for wrong in (torch.eye(3).to_sparse(), torch.ones(3, device="meta"), torch.ones(3, dtype=torch.complex64),
                  torch.ones(3).to(torch.float8_e4m3fn)):  # fmt: skip
        with pytest.raises((BufferError, RuntimeError, TypeError, ValueError)):
            t.sum(wrong)
    for dtype in (torch.bool, torch.int8, torch.uint16, torch.int64, torch.float16, torch.bfloat16, torch.float32):
        ones = torch.ones(2, 3).to(dtype)
        for op in ("max", "minmax", "argmax", "sum"):
            got = t.reduce(ones, op, axis=1)
            wanted = t.reduce(ones.numpy(), op, axis=1) if dtype != torch.bfloat16 else None
            assert got.shape[0] == 2 and got.device == x.device and got.is_contiguous()
            assert wanted is None or got.numpy().dtype == wanted.dtype and (got.numpy() == wanted).all()
    assert t.sum(x[:0], axis=0).tolist() == [0] * 4 and t.sum(x[:, :0], axis=0).shape == (0,)
    assert t.max(torch.ones(3).to(torch.bfloat16)).dtype == torch.bfloat16


def test_pandas():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1.0, 2.0, 4.0])
    assert t.sum(series) == 7 and type(t.sum(series)) is np.float64
    assert t.segment_sum(series, pandas.Series([0, 0, 1])).tolist() == [3, 4]
    assert np.isnan(t.sum(pandas.Series([1, None]))) and t.sum(pandas.Series([1, None]), nan="skip") == 1
    for dtype, wanted in [("Int16", 3), ("boolean", 2), ("Float32", 3)]:
        assert t.sum(pandas.Series([1, 2] if dtype != "boolean" else [True, True], dtype=dtype)) == wanted
        with pytest.raises(ValueError, match="missing"):
            t.sum(pandas.Series([1, None], dtype=dtype))
        with pytest.raises(ValueError, match="missing"):
            t.segment_sum(np.ones(2), pandas.Series([1, None], dtype="Int64"))
    for wrong in (pandas.Series(["a"]), pandas.Series([None, {}]), pandas.Series(["a"], dtype="category")):
        with pytest.raises(TypeError):
            t.sum(wrong)
    assert t.max(pandas.Index([3, 4])) == 4


def test_arrow():
    """Arrays of every kind that can be read, beside NumPy; lists are segments."""
    arrow = pytest.importorskip("pyarrow")
    kinds = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
    for kind in [*kinds, "float16", "float32", "float64", "bool_"]:
        values = np.array([1, 0, 4, 0, 5, 7, 0, 0, 9, 1, 1], getattr(np, kind))
        x = arrow.array(values)
        for part, wanted in [(x, values), (x[3:], values[3:]), (x[2:9], values[2:9]), (x[5:5], values[5:5])]:
            got = t.sum(part)
            assert got == t.sum(wanted) and type(got) is type(t.sum(wanted)), kind
        assert t.segment_max(x, lengths=[3, 8]).tolist() == t.segment_max(values, lengths=[3, 8]).tolist()
    assert t.sum(arrow.array([1, 2, None])[:2]) == 3
    assert t.sum(arrow.chunked_array([[1, 2], [4]])) == t.sum(arrow.chunked_array([[1, 2, 4]])) == 7
    rows = [[1.0, 2.0], [], [3.0], [4.0, 5.0, 6.0]]
    for kind in (arrow.list_, arrow.large_list):
        lists = arrow.array(rows, kind(arrow.float64()))
        assert t.segment_sum(lists).tolist() == [3, 0, 3, 15]
        assert t.segment_argmax(lists[2:]).tolist() == [0, 2] and t.segment_reduce(lists[:0], "sum").tolist() == []
        assert t.segment_mean(arrow.chunked_array([lists, lists]), dtype="f4")[[0, 7]].tolist() == [1.5, 5]
        assert t.segment_reduce(lists.values, "sum", offsets=lists.offsets).tolist() == [3, 0, 3, 15]
    for wrong in (arrow.array([1, None]), arrow.array([[1], None]), arrow.array([[1, None]])):
        with pytest.raises(ValueError, match="nulls"):
            t.segment_sum(wrong) if arrow.types.is_list(wrong.type) else t.sum(wrong)
    for wrong in (
        lambda: t.sum(lists),
        lambda: t.segment_sum(lists, lengths=[1] * 4),
        lambda: t.segment_sum(lists, plan=t.Plan(6, lengths=[6])),
        lambda: t.segment_dot(lists, lists),
        lambda: t.State("sum").push(lists),
        lambda: t.segment_sum(np.ones(6), lengths=lists),
        lambda: t.segment_sum(arrow.array([[[1]]])),
        lambda: t.sum(arrow.array(["a"])),
        lambda: t.sum(arrow.array([1, 2, 1]).dictionary_encode()),
        lambda: t.sum(arrow.record_batch({"a": [1]})),
        lambda: t.segment_sum(arrow.array([[1, 2]], arrow.list_(arrow.int64(), 2))),
        lambda: t.segment_sum(arrow.array([1, 2])),
    ):
        with pytest.raises(TypeError):
            wrong()
