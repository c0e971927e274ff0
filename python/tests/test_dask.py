"""tally_reduce.dask: the bits of one call, whatever the chunks and the scheduler. tools/jobs.sh python has Dask."""
import doctest

import numpy as np
import pytest
import tally_reduce

da = pytest.importorskip("dask.array")
tally = pytest.importorskip("tally_reduce.dask")

rng = np.random.default_rng(1)
VALUES = rng.standard_normal((7, 5, 6)) * 10.0 ** rng.integers(-9, 4, (7, 5, 6))
OPS = [op for op in tally_reduce.info()["operators"] if op != "dot"]


def same(got, wanted, what):
    for one, other in zip(got, wanted) if isinstance(wanted, tally_reduce.Stats) else [(got, wanted)]:
        computed, other = np.asarray(one.compute()), np.asarray(other)
        assert computed.dtype == one.dtype == other.dtype and computed.shape == one.shape == other.shape, what
        np.testing.assert_array_equal(computed, other, err_msg=str(what))


@pytest.mark.parametrize("chunks", [(7, 5, 6), (2, 2, 2), (1, 5, 3), ((1, 6), (5,), (2, 4))])
@pytest.mark.parametrize("dtype", ["f8", "f2", "u2", "?"])
def test_every_operator(chunks, dtype):
    values = (np.abs(VALUES) % 100 if dtype == "u2" else VALUES).astype(dtype)
    x = da.from_array(values, chunks=chunks)
    for op in OPS:
        if dtype[0] == "f" if op in ("and", "or", "xor") else dtype[0] != "f" and op == "logsumexp":
            continue
        for axis in (None, 1, (0, 2), ()):
            for accuracy in ("exact", "fast"):
                words = {"axis": axis, "accuracy": accuracy}
                wanted = tally_reduce.reduce(values, op, keepdims=axis == 1, **words)
                same(tally.reduce(x, op, keepdims=axis == 1, split_every=2, **words), wanted, (op, words))


def test_long_and_keywords():
    values = (rng.standard_normal(20_011) * 10.0 ** rng.integers(-20, 20, 20_011)).astype("f4")
    values[77] = np.nan
    for chunks in (1000, 4097, 20_011, ((1, 0, 20_010),)):
        x = da.from_array(values, chunks=chunks)
        for op in ("sum", "prod", "logsumexp", "argmin", "var"):
            for accuracy in ("exact", "fast"):
                words = {"nan": "skip", "accuracy": accuracy, "dtype": "f8" if op != "argmin" else None}
                same(tally.reduce(x, op, **words), tally_reduce.reduce(values, op, **words), (op, words, chunks))
        same(tally.std(x, ddof=3, nan="skip"), tally_reduce.std(values, ddof=3, nan="skip"), "ddof")
        assert np.isnan(tally.sum(x).compute())


def test_arrays_of_dask():
    """What no NumPy array is behind: broadcast chunks, chunks of unknown sizes, several results at once."""
    ones = da.ones((100, 30), chunks=(17, 30))
    assert tally.sum(ones).compute() == 3000 and (tally.sum(ones, axis=0) + 1).sum().compute() == 3030
    kept = ones[ones[:, 0] > 0]
    assert tally.sum(kept).compute() == 3000
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        tally.argmax(kept)
    assert tally.argmax(kept.compute_chunk_sizes()).compute() == 0
    assert da.compute(tally.min(ones), tally.max(2 * ones)) == (1, 2)
    assert tally.sum([1, 2, 3]).compute() == 6


def test_errors():
    x = da.from_array(VALUES, chunks=2)
    for wrong in (lambda: tally.reduce(x, "average"), lambda: tally.reduce(x, "dot"), lambda: tally.sum(x, axis=3),
                  lambda: tally.sum(x, axis=(1, 1)), lambda: tally.sum(x, nan="maybe")):  # fmt: skip
        with pytest.raises(ValueError):
            wrong()
    for wrong in (lambda: tally.xor(x), lambda: tally.sum(x.astype("c16")), lambda: tally.sum(x, ddof=1),
                  lambda: tally.sum(x, dtype="S3"), lambda: tally.stats(x, dtype="f4")):  # fmt: skip
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError):
        tally.max(x[:0]).compute()
    with pytest.raises(OverflowError):
        tally.sum(da.full(4, 2**62, chunks=1)).compute()


def test_cluster():
    """States go from process to process."""
    distributed = pytest.importorskip("distributed")
    x = da.from_array(VALUES, chunks=2)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster):
            for op in ("sum", "argmax", "prod", "stats"):
                same(tally.reduce(x, op), tally_reduce.reduce(VALUES, op), op)
                same(tally.reduce(x, op, axis=0), tally_reduce.reduce(VALUES, op, axis=0), op)


def test_functions_and_docstrings():
    assert {name.rstrip("_") for name in tally.__all__} == {"reduce", *OPS}
    runner = doctest.DocTestRunner()
    for thing in (tally, tally.reduce):
        test = doctest.DocTestParser().get_doctest(thing.__doc__, {}, str(thing), None, 0)
        assert test.examples and runner.run(test).failed == 0
