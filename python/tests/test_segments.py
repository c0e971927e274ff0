"""segment_reduce, segment_OP and Plan: each segment is compared with the same values reduced alone by NumPy."""
import hypothesis.strategies as st
import numpy as np
import pytest
import tally_reduce as t
from hypothesis import given, settings

rng = np.random.default_rng(1)


def ways(lengths, starts_too=True):
    lengths = np.asarray(lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype("i8")
    yield {"lengths": lengths.astype("i4")}
    yield {"lengths": lengths.tolist()}
    yield {"offsets": offsets}
    yield {"offsets": offsets.astype("u2")}
    yield {"offsets": np.repeat(offsets, 2)[::2]}
    yield {"segment_ids": np.repeat(np.arange(len(lengths)), lengths), "num_segments": len(lengths)}
    yield {"starts": offsets[:-1], "ends": offsets[1:]}
    yield {"starts": offsets[:-1].astype("i4"), "ends": offsets[1:].tolist()}
    n = int(lengths.sum())
    yield {"plan": t.Plan(n, lengths=lengths)}
    yield {"plan": t.Plan(n, starts=offsets[:-1], ends=offsets[1:])}


@settings(max_examples=60)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=9), st.integers(0, 3), st.integers(1, 4), st.booleans())
def test_all_ways(lengths, before, after, fortran):
    n = sum(lengths)
    x = rng.integers(-9, 9, (before, n, after)).astype("f4")
    x = np.asfortranarray(x) if fortran else x
    ends = np.cumsum(lengths)
    for op, oracle in [("sum", np.sum), ("argmax", np.argmax), ("min", np.min)]:
        for way in ways(lengths):
            got = t.segment_reduce(x, op, axis=1 if after % 2 else -2, **way)
            assert got.shape == (before, len(lengths), after)
            for s, (end, length) in enumerate(zip(ends, lengths)):
                if length:
                    np.testing.assert_array_equal(got[:, s], oracle(x[:, end - length : end], axis=1))
                elif op == "sum":
                    assert not got[:, s].any()


@settings(max_examples=60)
@given(st.lists(st.integers(-2, 7), max_size=30), st.integers(0, 6))
def test_ids_in_any_order(ids, segments):
    x = rng.standard_normal((len(ids), 2))
    ids = np.array(ids, "i4")
    got = t.segment_sum(x, ids, segments, indices_are_sorted=False, out_of_range="drop")
    first = t.segment_reduce(x, "argmin", segment_ids=ids, num_segments=segments, indices_are_sorted=False,
                             out_of_range="drop")
    assert got.shape == (segments, 2)
    for s in range(segments):
        for f in range(2):
            chosen = x[ids == s, f]
            assert got[s, f] == t.sum(chosen)
            if len(chosen):
                assert first[s, f] == np.argmin(chosen)
    if ((ids < 0) | (ids >= segments)).any():
        with pytest.raises(ValueError, match="out_of_range"):
            t.segment_sum(x, ids, segments, indices_are_sorted=False)


def test_sorted_ids_that_are_left_out():
    assert t.segment_sum(np.ones(5), [-1, 0, 0, 2, 7], 4, out_of_range="drop").tolist() == [2, 0, 1, 0]


def test_features_of_any_strides():
    """Vectors that lie together are reduced in one call, others one by one: the results are those of a copy."""
    base = rng.standard_normal((4, 6, 5, 3))
    ids = [2, 0, 1, 2, 2, 0]
    views = {
        "packed": base, "backwards": base[::-1, ::-1, ::-1, ::-1], "apart": base[..., ::3],
        "inner axis": base[:, :, 1:], "transposed": base.transpose(3, 1, 0, 2), "Fortran": np.asfortranarray(base),
        "one feature": base[:, :, :1, :1],
        "broadcast features": np.broadcast_to(base[:, :, :1], base.shape), "no features": base[:, :, :0],
        "broadcast": np.broadcast_to(base[:, :1], base.shape), "none before": base[:0],
    }  # fmt: skip
    for name, x in views.items():
        copy = np.ascontiguousarray(x)
        for op in ("sum", "argmax", "minmax", "prod"):
            for way in ({"lengths": [1, 3, 2]}, {"segment_ids": ids, "indices_are_sorted": False},
                        {"starts": [0, 1, 0], "ends": [6, 4, 1]}):  # fmt: skip
                got = t.segment_reduce(x, op, axis=1, **way)
                wanted = np.stack([t.segment_reduce(copy[:, :, f, g], op, axis=1, **way) for f in range(copy.shape[2])
                                   for g in range(copy.shape[3])], 2) if copy.size else got  # fmt: skip
                np.testing.assert_array_equal(got, wanted.reshape(got.shape), err_msg=f"{name} {op} {way}")
    x, y = views["transposed"], views["apart"].transpose(3, 1, 0, 2)
    np.testing.assert_array_equal(t.segment_dot(x[:1], y, lengths=[6], axis=1),
                                  t.segment_dot(x[:1].copy(), y.copy(), lengths=[6], axis=1))


def test_overlapping_ranges():
    x = np.arange(10.0)
    np.testing.assert_array_equal(t.segment_reduce(x, "sum", starts=[0, 2, 9, 4], ends=[10, 5, 9, 6]), [45, 9, 0, 9])


def test_num_segments_is_found():
    assert t.segment_sum(np.ones(4), np.array([0, 0, 2, 5])).tolist() == [2, 0, 1, 0, 0, 1]
    assert t.segment_sum(np.ones(4), np.array([5, 0, 2, 5]), indices_are_sorted=False).tolist() == [1, 0, 1, 0, 0, 2]
    assert t.segment_sum(np.ones(0), np.array([], "i8")).tolist() == []


def test_dot_stats_out_and_dtype():
    x, y = rng.standard_normal((6, 3)), rng.standard_normal((6, 3))
    got = t.segment_dot(x, y, lengths=[2, 4])
    np.testing.assert_allclose(got, [(x[:2] * y[:2]).sum(0), (x[2:] * y[2:]).sum(0)])
    np.testing.assert_array_equal(t.segment_stats(x, lengths=[2, 4]).max, [x[:2].max(0), x[2:].max(0)])
    np.testing.assert_array_equal(t.segment_minmax(x, lengths=[6])[0], np.stack([x.min(0), x.max(0)], -1))
    np.testing.assert_allclose(t.segment_var(x, lengths=[6], ddof=1)[0], x.var(0, ddof=1))
    out = np.zeros((2, 3), "f4")
    assert t.segment_sum(x, lengths=[2, 4], out=out) is out
    np.testing.assert_allclose(out, [x[:2].sum(0), x[2:].sum(0)], rtol=1e-6)
    assert t.segment_sum(x, lengths=[6], dtype="f4").dtype == np.float32


def test_bad_segments():
    with pytest.raises(TypeError, match="got 'segment_ids' twice"):
        t.segment_sum(np.ones(2), [0, 1], segment_ids=[0, 1])
    x = np.ones(5)
    for way in [
        {"lengths": [2, 4]},
        {"lengths": [-1, 2]},
        {"offsets": [0, 3, 2]},
        {"offsets": [0, 6]},
        {"offsets": []},
        {"offsets": np.array([0, 2**63], "u8")},
        {"segment_ids": [0, 0, 1]},
        {"segment_ids": [0, 1, 0, 1, 1]},
        {"segment_ids": [0, 0, 0, 0, 3], "num_segments": 3},
        {"segment_ids": [-1, 0, 0, 0, 0]},
        {"segment_ids": np.zeros((5, 1), "i4")},
        {"starts": [0], "ends": [6]},
        {"starts": [3], "ends": [2]},
        {"starts": [0], "ends": [1, 2]},
        {"segment_ids": [0] * 5, "num_segments": -1},
        {"segment_ids": [0] * 5, "out_of_range": "ignore"},
        {"plan": t.Plan(4, lengths=[4])},
    ]:
        with pytest.raises(ValueError):
            t.segment_reduce(x, "sum", **way)
    for way in [
        {},
        {"lengths": [5], "offsets": [0, 5]},
        {"starts": [0]},
        {"lengths": [1.5]},
        {"lengths": np.ones(2)},
        {"lengths": [5], "num_segments": 1},
        {"plan": 3},
    ]:
        with pytest.raises(TypeError):
            t.segment_reduce(x, "sum", **way)
    for count in (4, 6):  # one id for each value, or the library would read beyond them
        with pytest.raises(ValueError, match=f"{count} ids"):
            t.segment_sum(x, [0] * count)
    with pytest.raises((ValueError, MemoryError)):
        t.segment_sum(x, [0, 0, 0, 0, 2**62])
    with pytest.raises(ValueError):
        t.segment_sum(np.array(1.0), [0])


def test_plan():
    plan = t.Plan(6, segment_ids=np.array([0, 0, 2, 2, 2, 3]), num_segments=5)
    assert (plan.values, plan.segments) == (6, 5)
    x = np.arange(12.0).reshape(6, 2)
    np.testing.assert_array_equal(t.segment_sum(x, plan=plan)[:, 0], [2, 0, 18, 10, 0])
    unsorted = {"segment_ids": [2, 0, 9, 2, 0, -1], "num_segments": 4, "indices_are_sorted": False}
    plan = t.Plan(6, **unsorted, out_of_range="drop")
    for _ in range(2):
        np.testing.assert_array_equal(t.segment_sum(x, plan=plan)[:, 0], [10, 0, 6, 0])
    assert t.segment_reduce(x, "argmax", plan=plan)[:, 1].tolist() == [1, -1, 1, -1]
    with pytest.raises(ValueError):
        t.Plan(6, **unsorted)
    with pytest.raises(ValueError):
        t.Plan(6, starts=[0], ends=[7])
    with pytest.raises(ValueError):
        t.Plan(6, lengths=[7])
    with pytest.raises(ValueError):
        t.Plan(-1, lengths=[])
    with pytest.raises(TypeError):
        t.Plan(6)
    with pytest.raises(TypeError):
        t.Plan(6, lengths=[6], dtype="complex64")


def test_broadcast_axis():
    x = np.broadcast_to(np.array([2.0, 3.0]), (5, 2))
    np.testing.assert_array_equal(t.segment_sum(x, lengths=[2, 3]), [[4, 6], [6, 9]])
