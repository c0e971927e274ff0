"""tally_reduce.jax: calls by jax.ffi, under jit and vmap, and their gradients. tools/jobs.sh python has JAX."""
import doctest
from functools import partial

import numpy as np
import pytest
import tally_reduce

jax = pytest.importorskip("jax", "0.5")
tally = pytest.importorskip("tally_reduce.jax")

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

jax.config.update("jax_enable_x64", True)
WITH_GRADIENTS = "sum mean max min prod logsumexp var std norm1 norm2 norminf sumsq".split()
FAILED = (jax.errors.JaxRuntimeError, ValueError)
rng = np.random.default_rng(1)
IDS = np.array([0, 0, 2, 2, 2])
SEGMENTATIONS = {
    "ids": {"segment_ids": IDS, "num_segments": 4},
    "unsorted": {"segment_ids": np.array([2, 0, 2, 1, 0]), "num_segments": 3, "indices_are_sorted": False},
    "drop": {"segment_ids": np.array([2, -1, 0, 9, 0], "i4"), "num_segments": 3, "indices_are_sorted": False,
             "out_of_range": "drop"},
    "lengths": {"lengths": np.array([2, 0, 3], "u1")},
    "offsets": {"offsets": np.array([1, 1, 4])},  # values outside of all segments
}  # fmt: skip


def check_twice(function, x):
    check_grads(function, (jnp.asarray(x),), order=2, modes=["rev"])


def data_for(name, x):
    whole = name.removeprefix("segment_").rstrip("_")
    return x.astype("i2") if whole in ("and", "or", "xor") else x


def calls_of(name):
    """Keywords of calls."""
    if name.startswith("segment_"):
        return [{"axis": 1, **how} for how in SEGMENTATIONS.values()]
    return [{}, {"axis": 1}, {"axis": (0, 2)}, {"axis": (1, 2), "keepdims": True}, {"axis": ()}]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u4", "?"])
def test_values_are_those_of_the_module(dtype):
    """Every operator, jitted, has the bits of tally_reduce."""
    x = jnp.asarray(rng.integers(0, 9, (2, 5, 3)) - (dtype[0] in "fi")).astype(dtype)
    names = [name for name in tally.__all__ if name not in ("reduce", "segment_reduce", "segment_softmax")]
    if dtype[0] != "f":
        names = [name for name in names if "logsumexp" not in name]
    wanted = {(name, k): np.asarray(getattr(tally_reduce, name)(data_for(name, np.asarray(x)), **words))
              for name in names for k, words in enumerate(calls_of(name))}  # fmt: skip
    got = jax.jit(lambda x: {(name, k): getattr(tally, name)(data_for(name, x), **words)
                             for name in names for k, words in enumerate(calls_of(name))})(x)  # fmt: skip
    for call in wanted:
        assert got[call].dtype == wanted[call].dtype, call
        np.testing.assert_array_equal(got[call], wanted[call], err_msg=str(call))


def test_bfloat16():
    x = jnp.array([[1, 2.5, -3], [4, 0.125, 6]], "bfloat16")
    assert tally.sum(x, axis=0).tolist() == [5, 2.625, 3] and tally.sum(x).dtype == x.dtype
    assert tally.segment_max(x, lengths=[2], dtype="f4").tolist() == [[4, 2.5, 6]]
    assert tally.minmax(x).tolist() == [-3, 6]


def test_exact_and_large():
    x = rng.standard_normal((300, 1000)) * 10.0 ** rng.integers(-200, 200, (300, 1000))
    for axis in (None, 0, 1):
        np.testing.assert_array_equal(tally.sum(x, axis=axis), tally_reduce.sum(x, axis=axis))
        np.testing.assert_array_equal(
            tally.sum(x, axis=axis, accuracy="fast"), tally_reduce.sum(x, axis=axis, accuracy="fast")
        )
    x[x > 1e100] = np.nan
    np.testing.assert_array_equal(tally.max(x, axis=0, nan="skip"), np.nanmax(x, axis=0))
    ids = np.sort(rng.integers(0, 50, 300))
    np.testing.assert_array_equal(tally.segment_var(x, ids, 50, ddof=1), tally_reduce.segment_var(x, ids, 50, ddof=1))


@pytest.mark.parametrize("op", WITH_GRADIENTS)
def test_gradients(op):
    x = rng.standard_normal((3, 4, 2))
    for axis in (None, 1, (0, 2)):
        check_twice(lambda v: tally.reduce(v, op, axis=axis), x)
    check_twice(lambda v: tally.reduce(v, op, axis=0, keepdims=True, nan="skip"), x)
    for how in SEGMENTATIONS.values():
        check_twice(lambda v: jnp.nan_to_num(tally.segment_reduce(v, op, **how)), rng.standard_normal((5, 2)))
    check_twice(lambda v: tally.segment_reduce(v, op, lengths=np.array([2, 3]), axis=1), rng.standard_normal((2, 5)))


def test_edges_of_gradients():
    nan = float("nan")
    for op, x, options, wanted in [
        ("max", [1.0, 3, 3, 2], {}, [0, 0.5, 0.5, 0]),
        ("min", [1.0, nan, 3], {"nan": "skip"}, [1, 0, 0]),
        ("mean", [1.0, nan, 3], {"nan": "skip"}, [0.5, 0, 0.5]),
        ("sum", [1.0, nan], {"nan": "skip"}, [1, 0]),
        ("prod", [2.0, 0, 3], {}, [0, 6, 0]),
        ("prod", [0.0, nan, 0], {"nan": "skip"}, [0, 0, 0]),
        ("logsumexp", [-np.inf, 0.0], {}, [0, 1]),
    ]:
        got = jax.grad(lambda v: tally.reduce(v, op, **options))(jnp.array(x))
        assert got.tolist() == wanted, op
    half = jnp.array([0.25, 3.5, -1], "bfloat16")
    assert jax.grad(tally.logsumexp)(half).dtype == half.dtype
    with pytest.raises(NotImplementedError):
        jax.grad(lambda v: tally.minmax(v).sum())(jnp.ones(3))
    assert jax.grad(lambda v: v * tally.mean(jnp.arange(3)))(2.0) == 1  # integers have no gradient


def test_softmax():
    x = rng.standard_normal((5, 2))
    got = tally.segment_softmax(x, IDS, 3)
    np.testing.assert_allclose(got, np.concatenate([jax.nn.softmax(x[:2], 0), jax.nn.softmax(x[2:], 0)]), rtol=1e-15)
    check_twice(lambda v: tally.segment_softmax(v, IDS, 3), x)
    check_twice(lambda v: tally.segment_softmax(v, lengths=np.array([3, 2])), x)


def test_vmap():
    x, ids = jnp.asarray(rng.standard_normal((3, 2, 5))), jnp.array([[0, 0, 1, 1, 1], [0, 1, 1, 1, 2], [0, 2, 2, 2, 2]])

    def one(v, i):
        return tally.segment_sum(v, i, 3, axis=-1)

    wanted = [[tally_reduce.segment_sum(np.asarray(v), np.asarray(i), 3, axis=1) for i in ids] for v in x]
    np.testing.assert_array_equal(jax.vmap(one, (0, None))(x, ids[1]), [row[1] for row in wanted])
    np.testing.assert_array_equal(jax.vmap(one, (None, 0))(x[1], ids), wanted[1])
    np.testing.assert_array_equal(jax.vmap(one)(x, ids), [wanted[k][k] for k in range(3)])
    both = jax.vmap(jax.vmap(one, (None, 0)), (0, None))
    np.testing.assert_array_equal(jax.jit(both)(x, ids), wanted)
    np.testing.assert_array_equal(jax.vmap(both, (2, None), 2)(x[:, :, None], ids), np.array(wanted)[:, :, None])
    np.testing.assert_array_equal(jax.vmap(partial(tally.minmax, axis=0), 1)(x), tally_reduce.minmax(x, axis=0))
    grads = jax.vmap(jax.grad(lambda v: tally.prod(v)))(x)
    np.testing.assert_allclose(grads, [jax.grad(jnp.prod)(v) for v in x])


def test_what_is_refused():
    x = jnp.ones((3, 2))
    for call, error in [
        (lambda: tally.sum(x, axis=2), ValueError),
        (lambda: tally.sum(x, axis=(0, -2)), ValueError),
        (lambda: tally.sum(x, nan="ignore"), ValueError),
        (lambda: tally.reduce(x, "stats"), ValueError),
        (lambda: tally.sum(x, ddof=1), TypeError),
        (lambda: tally.sum(x.astype("c16")), TypeError),
        (lambda: tally.xor(x), TypeError),
        (lambda: tally.max(x[:0]), ValueError),
        (lambda: tally.segment_sum(x, [0, 0], 3), ValueError),
        (lambda: tally.segment_sum(x, [0, 0, 0], -1), ValueError),
        (lambda: tally.segment_sum(x, jnp.ones(3), 3), TypeError),
        (lambda: tally.segment_sum(x), TypeError),
        (lambda: tally.segment_sum(x, lengths=[3], num_segments=1), TypeError),
        (lambda: tally.segment_sum(x, offsets=jnp.array([], int)), ValueError),
        (lambda: jax.jit(tally.segment_sum)(x, IDS[:3]), jax.errors.ConcretizationTypeError),
    ]:
        with pytest.raises(error):
            call()


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="a GPU's results come later, and report no values")
def test_errors_of_results():
    x = jnp.ones((3, 2))
    for call in [
        lambda: tally.segment_sum(x, [0, 0, 7], 3),
        lambda: tally.segment_sum(x, [1, 0, 1], 3),
        lambda: tally.segment_sum(x, lengths=[2, 2]),
        lambda: tally.sum(jnp.full(2, 2**62)),
    ]:
        with pytest.raises(FAILED):
            call().block_until_ready()


def test_nothing():
    assert tally.sum(jnp.ones((0, 3)), axis=0).tolist() == [0, 0, 0]
    assert np.isnan(tally.mean(jnp.ones(0))) and tally.sum(jnp.ones((3, 0)), axis=0).shape == (0,)
    assert tally.segment_sum(jnp.ones((0, 2)), jnp.array([], int), 3).tolist() == [[0, 0]] * 3
    assert tally.segment_sum(jnp.ones((3, 0)), IDS[:3], 3).shape == (3, 0)
    assert tally.segment_sum(jnp.ones(3), jnp.zeros(3, int), 0, out_of_range="drop").shape == (0,)
    assert tally.sum(5.0) == 5 and tally.segment_sum(jnp.ones(3), [0, 0, 2]).tolist() == [2, 0, 1]
    assert np.isnan(tally.max(jnp.array([np.nan]), nan="skip"))


def test_without_64_bits():
    with jax.enable_x64(False):
        got = tally.argmax(jnp.array([1.0, 3.0]))
        assert got.dtype == jnp.int32 and got == 1
        assert tally.sum(jnp.ones(3, jnp.int32)).dtype == jnp.int32
        if jax.default_backend() == "cpu":
            with pytest.raises(FAILED):
                tally.sum(jnp.full(3, 2**30, jnp.int32)).block_until_ready()
        assert jax.grad(lambda v: tally.segment_mean(v, IDS, 3)[0])(jnp.ones(5)).dtype == jnp.float32


def test_calls_on_threads():
    """XLA calls the handlers without the interpreter's lock, at once."""
    from concurrent.futures import ThreadPoolExecutor

    x = jnp.asarray(rng.standard_normal(100_000))
    functions = [jax.jit(partial(tally.var, ddof=k % 70, nan="skip")) for k in range(140)]
    wanted = [tally_reduce.var(np.asarray(x), ddof=k % 70) for k in range(140)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(2):
            assert [float(got) for got in pool.map(lambda f: f(x), functions)] == wanted


def test_docstrings():
    runner = doctest.DocTestRunner()
    for thing in (tally, tally.reduce, tally.segment_reduce, tally.segment_softmax):
        test = doctest.DocTestParser().get_doctest(thing.__doc__, {}, str(thing), None, 0)
        assert test.examples and runner.run(test).failed == 0


def test_handlers_refuse_what_does_not_fit():
    """What only jax.ffi_call itself can ask for: an error, and nothing is read or written beyond the buffers."""
    number = np.int64
    rows = {"op": number(0), "nan": number(0), "accuracy": number(0), "ddof": number(0)}
    how = {**rows, "segmentation": number(2), "outside": number(0)}
    x, ids = jnp.ones((1, 5, 2)), jnp.array(IDS)

    def call(target, shape, arrays, **words):
        result = jax.ShapeDtypeStruct(shape, words.pop("dtype", "f8"))
        return jax.ffi.ffi_call(target, result)(*arrays, **words)

    assert call("tally_reduce_rows", (1, 1, 2), [x], **rows).tolist() == [[[5, 5]]]
    assert call("tally_reduce_segments", (1, 3, 2), [x, ids], **how).tolist() == [[[2, 2], [0, 0], [3, 3]]]
    for target, shape, arrays, words in [
        ("rows", (1, 1, 1), [x], rows),
        ("rows", (1, 1, 2), [x[0, 0]], rows),
        ("rows", (1, 1, 2), [x, x], rows),
        ("rows", (1, 1, 2), [x], {}),
        ("rows", (1, 1, 2), [x], {**rows, "op": np.float64(0.5)}),
        ("rows", (1, 1, 2), [x], {**rows, "op": number(1000)}),
        ("rows", (1, 1, 2), [x], {**rows, "op": number(-1)}),
        ("rows", (1, 1, 2), [x], {**rows, "op": number(6)}),  # minmax gives pairs
        ("rows", (1, 1, 2), [x], {**rows, "op": number(16)}),  # stats
        ("rows", (1, 1, 2), [x], {**rows, "op": number(22)}),  # dot
        ("rows", (1, 1, 2), [x], {**rows, "nan": number(7)}),
        ("rows", (1, 1, 2), [x], {**rows, "ddof": number(-1)}),
        ("rows", (1, 1, 2), [x], {**rows, "dtype": "c8"}),
        ("rows", (1, 1, 2), [x], {**rows, "dtype": "float8_e4m3fn"}),
        ("segments", (1, 3, 2), [x, ids[:4]], how),
        ("segments", (1, 3, 2), [x, ids.astype("f4")], how),
        ("segments", (1, 3, 1), [x, ids], how),
        ("segments", (2, 3, 2), [x, ids], how),
        ("segments", (1, 3, 2, 2), [x, ids], how),
        ("segments", (1, 3, 2), [x, ids], {**how, "segmentation": number(3)}),
        ("segments", (1, 3, 2), [x, ids], {**how, "segmentation": number(4)}),
        ("segments", (1, 3, 2), [x, ids], {**how, "segmentation": number(5)}),
        ("segments", (1, 3, 2), [x, ids], {**how, "segmentation": number(6), "outside": number(2)}),
        ("segments", (1, 3, 2), [x, ids], {**how, "segmentation": number(6 + (1 << 32))}),
        ("segments", (1, 3, 2), [x, ids], rows),
        ("segments", (1, 5, 2), [x, ids], {**how, "segmentation": number(0)}),
        ("segments", (3, 1, 3, 2), [x[None], jnp.stack([ids, ids])], how),
    ]:
        with pytest.raises(FAILED):
            got = call("tally_reduce_" + target, shape, arrays, **words).block_until_ready()
            print(target, shape, words, got)  # shown where nothing is raised
