"""The library and the command against order.py, which computes what docs/order.md says: bit for bit.

Accuracy is fast, because otherwise sums of floats have no order (test_exact.py)."""
import ctypes
import json
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import data
import order
import tally

CONTEXTS = {}


def context(nan="propagate", **options):
    key = nan, *sorted(options.items())
    if key not in CONTEXTS:
        CONTEXTS[key] = tally.Context(nan=nan, accuracy="fast", **options)
    return CONTEXTS[key]


def status_of(op, empties):
    return "EMPTY" if any(empties) and tally.OPERATORS[op].empty == "TALLY_EMPTY_IS_REFUSED" else "OK"


def spread(x, step):
    """The same values `step` places apart, backwards when step is negative."""
    apart = np.full(abs(step) * len(x), 77, x.dtype)
    view = apart[::step] if step > 0 else apart[::-1][::-step]
    view[:] = x
    return view


@pytest.mark.parametrize("type_name", order.SIZES)
def test_decode_all(type_name):
    """numpy reads floats as docs/order.md has them, and many integers are read as one is."""
    raws = order.bits(data.some_values(type_name, 1000, 0, data.generator("decode", type_name)))
    shift = 8 * max(order.SIZES[type_name] - 2, 0)  # from end to end: both signs, subnormals, NaNs
    raws += [raw << shift for raw in range(0, 1 << 8 * min(order.SIZES[type_name], 2), 61)]
    for raw, many in zip(raws, order.decode_all(type_name, raws), strict=True):
        one = order.decode(type_name, raw)
        assert type(one) is type(many) and (one != one and many != many or one == many), raw
        assert one != one or np.signbit(one) == np.signbit(many), raw


def lengths_of(type_name):
    leaf = data.leaf_length(type_name)
    return [1, 0, 2, 7, 0, 8, 9, 64, 65, leaf // 8, leaf // 8 + 1, leaf - 1, leaf, leaf + 1, 3 * leaf + 5, 3, 0, 0]


@pytest.mark.parametrize("op,type_name", data.PAIRS, ids=data.NAMES)
def test_segments_and_arrays(op, type_name):
    """Segments in every form, strided, by the reference and alone: one expected value for all of them."""
    flavours = data.FLAVOURS[tally.TYPES[type_name].kind]
    for number, nan in enumerate(data.policies(op, type_name)):
        random = data.generator(op, type_name, number)
        lengths = np.array(lengths_of(type_name))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        segment_ids = np.repeat(np.arange(len(lengths)), lengths)
        parts = [[data.some_values(type_name, n, (i + number) % flavours, random) for i, n in enumerate(lengths)]
                 for _ in range(tally.OPERATORS[op].inputs)]
        slices = list(zip(*parts))
        expected, empties = zip(*(order.reduce(op, type_name, *slice, nan=nan, ddof=1) for slice in slices))
        inputs = [np.concatenate(part) for part in parts]
        second = dict(zip("y", inputs[1:]))
        on = context(nan, ddof=1)
        for form, index in [("offsets", offsets), ("offsets", offsets.astype("i4")), ("lengths", lengths),
                           ("segment_ids", segment_ids.astype("i4"))]:
            found = on.segments(op, type_name, inputs[0], form, index, len(lengths), **second)
            assert list(zip(lengths, found.bytes)) == list(zip(lengths, expected)), (nan, form)
            assert found.status == status_of(op, empties)
        for step in (3, -2):
            apart = [spread(x, step) for x in inputs]
            found = on.segments(op, type_name, apart[0], "lengths", lengths, **dict(zip("y", apart[1:])))
            assert list(zip(lengths, found.bytes)) == list(zip(lengths, expected)), (nan, step)
        found = context(nan, ddof=1, backend=2).segments(op, type_name, inputs[0], "offsets", offsets, **second)
        assert found.bytes == list(expected), nan
        for slice, result, empty in zip(slices, expected, empties):
            found = on.reduce(op, type_name, *slice)
            assert (found.bytes, found.status) == ([result], status_of(op, [empty])), (nan, len(slice[0]))
            found = on.reduce(op, type_name, *(spread(x, 2) for x in slice))
            assert found.bytes == [result], (nan, len(slice[0]), "strided")


@pytest.mark.parametrize("op,type_name", data.PAIRS, ids=data.NAMES)
def test_rows(op, type_name):
    """Every axis of a few shapes, side by side and strided."""
    flavours = data.FLAVOURS[tally.TYPES[type_name].kind]
    leaf, inputs = data.leaf_length(type_name), tally.OPERATORS[op].inputs
    shapes = [(3, 7, 5), (2, 66, 1), (1, 9, 70), (2, 0, 3), (1, leaf + leaf // 8 + 1, 2)]
    for number, (outer, length, inner) in enumerate(shapes):
        random = data.generator(op, type_name, number, 9)
        nan = data.policies(op, type_name)[number % len(data.policies(op, type_name))]
        arrays = [data.some_values(type_name, outer * length * inner, number % flavours, random) for _ in range(inputs)]
        cubes = [x.reshape(outer, length, inner) for x in arrays]
        expected, empties = zip(*(order.reduce(op, type_name, *(x[o, :, i] for x in cubes), nan=nan)
                                  for o in range(outer) for i in range(inner)))
        for step in (1, 3):
            x, *y = (spread(x, step) for x in arrays)
            found = context(nan).segments(op, type_name, x, "rows", None, outer, length, inner, **dict(zip("y", y)))
            assert found.bytes == list(expected), (nan, outer, length, inner, step)
            assert found.status == status_of(op, empties)


@given(data.problems())
@settings(max_examples=1000)
def test_any_bits(problem):
    op, type_name, nan, ddof, x, y = problem
    expected, empty = order.reduce(op, type_name, x, y, nan, ddof)
    found = context(nan, ddof=ddof).reduce(op, type_name, x, y)
    assert (found.bytes, found.status) == ([expected], status_of(op, [empty]))


@given(data.problems(), st.data())
@settings(max_examples=500)
def test_any_cut(problem, draws):
    op, type_name, nan, ddof, x, y = problem
    cuts = sorted(draws.draw(st.lists(st.integers(0, len(x)), max_size=8)))
    offsets = np.array([0, *cuts, len(x)])
    found = context(nan, ddof=ddof).segments(op, type_name, x, "offsets", offsets, y=y)
    for a, b, result in zip(offsets, offsets[1:], found.bytes):
        assert result == order.reduce(op, type_name, x[a:b], None if y is None else y[a:b], nan, ddof)[0], (a, b)


@pytest.mark.parametrize("type_name", ["f32", "f64", "bf16", "f16"])
def test_logsumexp_of_tiny_maxima(type_name):
    """The page's pivot, whatever number a kernel takes in place of a tiny one: maxima of either sign about where e^x
    rounds to 1, where a kernel may look, and subnormal; the other values of any sizes below."""
    fraction, exponent = {"f32": (23, 8), "f64": (52, 11), "bf16": (7, 8), "f16": (10, 5)}[type_name]
    random, bias, raw = data.generator("tiny maxima", type_name), (1 << exponent - 1) - 1, tally.RAW[type_name]
    word = np.dtype(raw).str.replace("f", "u")
    lengths, values = [], []
    edges = [0, 1, 2] + [bias + e + k for e in (-120, -108, -60, -54, -30, -25, -12) for k in (-1, 0, 1)]
    for most in [e for e in edges if e >= 0] * 8:
        n = int(random.integers(2, 70))
        fields = random.integers(0, most + 1, n)
        fields[0] = most
        large = random.random(n) < 0.1
        large[0] = False
        fields[large] = random.integers(0, bias + 7, large.sum())
        signs = np.where(large | (random.random() < 0.5), 1, random.integers(0, 2, n))
        bits = (signs << exponent + fraction) | (fields << fraction) | random.integers(0, 1 << fraction, n)
        bits[random.random(n) < 0.1] = bits[0]
        values.append(bits.astype(word).view(raw))
        lengths.append(n)
    together = np.concatenate(values)
    found = context().segments("logsumexp", type_name, together, "lengths", np.array(lengths), len(lengths))
    assert found.bytes == [order.reduce("logsumexp", type_name, x)[0] for x in values]
    for x, one in zip(values, found.bytes):
        assert context().reduce("logsumexp", type_name, x).bytes == [one]


# ---- states ----


@given(data.long_problems(), st.data())
@settings(max_examples=400)
def test_states(problem, draws):
    """However a run is cut into states, pushed, saved, loaded and merged: the bits of the whole."""
    op, type_name, nan, ddof, x, y = problem
    on = context(nan, ddof=ddof)
    expected, empty = order.reduce(op, type_name, x, y, nan, ddof)
    boundaries = [0, *sorted(draws.draw(st.lists(st.integers(0, len(x)), max_size=4))), len(x)]
    states = []
    for begin, end in zip(boundaries, boundaries[1:]):
        state = on.state(op, type_name, begin)
        pushes = [begin, *sorted(draws.draw(st.lists(st.integers(begin, end), max_size=3))), end]
        for a, b in zip(pushes, pushes[1:]):
            state.push(x[a:b], None if y is None else y[a:b])
        if draws.draw(st.booleans()):
            state = on.load(op, type_name, state.save())
        states.append(state)
    while len(states) > 1:
        at = draws.draw(st.integers(0, len(states) - 2))
        states[at].merge(states.pop(at + 1))
    found = states[0].finish()
    assert (found.bytes, found.status) == ([expected], status_of(op, [empty]))
    assert states[0].count == len(x)


# ---- the caller's operators: combine is a hash of its operands, so the tree itself shows ----


def hash_pair(a, b):
    """0 is the identity."""
    return b if a == 0 else a if b == 0 else (a * 6364136223846793005 + b * 1442695040888963407 + 12345) % 2**64


def at(address, count, words):
    return np.frombuffer((ctypes.c_uint64 * (count * words)).from_address(address), "u8")[::words]


def hash_operator(on, name, size, commutative):
    """An operator over structs of `size` bytes whose first word is what counts, with accumulators of 24 bytes."""

    def lift(accs, values, count, first, _):
        at(accs, count, 3)[:] = at(values, count, size // 8) ^ (first + np.arange(count)).astype("u8")

    def combine(left, right, count, _):
        a, b = at(left, count, 3), at(right, count, 3)
        mixed = a * np.uint64(6364136223846793005) + b * np.uint64(1442695040888963407) + np.uint64(12345)
        a[:] = np.where(a == 0, b, np.where(b == 0, a, mixed))

    def finish(results, accs, count, _):
        at(results, count, 1)[:] = at(accs, count, 3)

    identity = (ctypes.c_char * 24)()
    keep = tally.LIFT(lift), tally.COMBINE(combine), tally.FINISH(finish), identity
    number, _ = on.define(name=name.encode(), input=tally.STRUCT, input_size=size, acc_size=24,
                          result=tally.TYPES["u64"].number, commutative=commutative, lift=keep[0], combine=keep[1],
                          finish=keep[2], identity=ctypes.addressof(identity))
    return number, keep


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("commutative", [0, 1])
@pytest.mark.parametrize("size", [8, 24, 64])
def test_callers_operator(size, commutative, threads):
    on = tally.Context(threads=threads)
    op, keep = hash_operator(on, "tree", size, commutative)
    leaf = 1 << (4096 // size).bit_length() - 1

    def expected(words):
        lifted = [int(w) ^ i for i, w in enumerate(words)]
        leaves = [lifted[i:i + leaf] for i in range(0, len(lifted), leaf)]
        if commutative:
            nodes = [order.leaf_tree(part, 8 if len(part) <= 64 else leaf // 8, hash_pair) for part in leaves]
        else:
            nodes = [order.ordered_leaf(part, hash_pair) for part in leaves]
        return order.pairs_tree(nodes, hash_pair).to_bytes(8, "little") if nodes else bytes(8)

    random = data.generator("hash", size, commutative)
    lengths = [0, 1, 6, 7, 8, 13, 14, 15, 63, 64, 65, leaf - 1, leaf, leaf + 1, 3 * leaf + 10, 16 * leaf, 0]
    if threads > 1:
        lengths.append(400_000 // size)
    structs = random.integers(1, 2**63, (sum(lengths), size // 8)).astype("u8")
    values = structs.view(f"V{size}")[:, 0]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    slices = [slice(a, b) for a, b in zip(offsets, offsets[1:])]
    wanted = [expected(structs[s, 0]) for s in slices]
    assert on.segments(op, tally.STRUCT, values, "offsets", offsets).bytes == wanted
    for s, one in zip(slices, wanted):
        assert on.reduce(op, tally.STRUCT, values[s]).bytes == [one]
    rows = structs[:66 * 5].view(f"V{size}")[:, 0]
    found = on.segments(op, tally.STRUCT, rows, "rows", None, 1, 66, 5).bytes
    assert found == [expected(structs[i:66 * 5:5, 0]) for i in range(5)]
    whole = slices[14]
    for boundary in (1, 7, leaf, leaf + 3, 2 * leaf):
        one = on.state(op, tally.STRUCT).push(values[whole][:boundary])
        two = on.load(op, tally.STRUCT, on.state(op, tally.STRUCT, boundary).push(values[whole][boundary:]).save())
        assert one.merge(two).finish().bytes == [wanted[14]], boundary
    del keep


# ---- the command ----

NUMPY = {t: row.numpy for t, row in tally.TYPES.items() if row.numpy}


def command(directory, *arguments):
    return subprocess.run([tally.COMMAND, *arguments], cwd=directory, capture_output=True, text=True, timeout=60)


@given(data.problems(most=200, ops=[op for op in tally.OPERATORS if op != "stats"]), st.data())
@settings(max_examples=120)
def test_command(tmp_path_factory, problem, draws):
    """.npy in, .npy out."""
    op, type_name, nan, ddof, x, y = problem
    if type_name not in NUMPY or len(x) == 0:
        return
    directory = tmp_path_factory.mktemp("command")
    x, y = (v if v is None or type_name != "bool" else (v != 0).astype("u1") for v in (x, y))
    names = []
    for name, values in zip("xy", (x, y)):
        if values is not None:
            np.save(directory / f"{name}.npy", values.view(NUMPY[type_name]))
            names.append(f"{name}.npy")
    cuts = sorted(draws.draw(st.lists(st.integers(0, len(x)), max_size=5)))
    offsets = np.array([0, *cuts, len(x)])
    np.save(directory / "cut.npy", offsets)
    slices = [(x[a:b], None if y is None else y[a:b]) for a, b in zip(offsets, offsets[1:])]
    expected = [order.reduce(op, type_name, *values, nan, ddof) for values in slices]
    if status_of(op, [empty for _, empty in expected]) == "EMPTY":
        return
    divisor = ["--ddof", str(ddof)] if op in ("var", "std") else []
    done = command(directory, op, *names, "--offsets", "cut.npy", "--nan", nan, *divisor, "-o", "out.npy",
                   "--accuracy", "fast", "--overflow", "wrap")
    assert done.returncode == 0, done.stderr
    out = np.load(directory / "out.npy")
    assert out.tobytes() == b"".join(result for result, _ in expected)


def test_command_stats(tmp_path):
    x = data.some_values("f64", 3000, 0, data.generator("stats"))
    np.save(tmp_path / "x.npy", x)
    done = command(tmp_path, "stats", "x.npy", "--json", "--accuracy", "fast")
    expected, _ = order.reduce("stats", "f64", x)
    words = json.loads(done.stdout)["result"]
    floats = np.frombuffer(expected[8:], "<f8")
    assert words["count"] == 3000
    assert [words[name] for name in ("min", "max", "sum", "mean", "var")] == floats.tolist()
