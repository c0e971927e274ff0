"""Saved states against docs/states.md: state_file.py reads what the library writes, and writes what it reads."""
import dataclasses
import struct

import numpy as np
import pytest

import data
import exact_node
import order
import state_file
import tally
import truth


def example(op, type_name, nan, first, count, number=0, accuracy="fast"):
    """A state of `count` values from `first` on, and its values."""
    flavours = data.FLAVOURS[tally.TYPES[type_name].kind]
    random = data.generator("saved", op, type_name, number)
    arrays = [data.some_values(type_name, count, number % flavours, random) for _ in range(tally.OPERATORS[op].inputs)]
    return tally.Context(nan=nan, ddof=1, accuracy=accuracy).state(op, type_name, first).push(*arrays), arrays


def indexed(op, result, first):
    """Indices are those of the whole."""
    if op in ("argmin", "argmax") and result != b"\xff" * 8:
        return order.pack("i64", int.from_bytes(result, "little") + first)
    return result


@pytest.mark.parametrize("op,type_name", data.PAIRS, ids=data.NAMES)
def test_layout(op, type_name):
    """Where order shows a head, a ladder and a tail; else one node over everything."""
    leaf, inputs, size = data.leaf_length(type_name), tally.OPERATORS[op].inputs, tally.TYPES[type_name].size
    runs = [(0, 0), (0, 5), (3 * leaf - 10, 3 * leaf + 17), (leaf + 1, 3), (leaf, 4 * leaf)]
    for number, (first, count) in enumerate(runs):
        nan = data.policies(op, type_name)[number % len(data.policies(op, type_name))]
        state, arrays = example(op, type_name, nan, first, count, number)
        bits = state.save()
        saved = state_file.parse(bits, inputs)
        end = first + count
        shows = tally.OPERATORS[op].order_shows(type_name, "fast")
        head_first = first if shows else end
        begin = -(-head_first // leaf)
        boundary = min(begin * leaf, end)
        stop = max(begin, end // leaf)
        assert dataclasses.astuple(saved)[:8] == (2, type_name, op, nan, 0, 1, len(saved.extra), size)
        assert dataclasses.astuple(saved)[8:13] == (first, end, head_first, begin, stop)
        if shows:
            assert saved.extra == bytes(saved.node_bytes)
        else:
            expected, _ = order.reduce(op, type_name, *arrays, nan=nan, ddof=1)
            assert state_file.finish(op, type_name, nan, 1, saved.extra) == indexed(op, expected, first)
        assert saved.head == [x[head_first - first:boundary - first].tobytes() for x in arrays]
        assert saved.tail == [x[max(stop * leaf - first, boundary - first):].tobytes() for x in arrays]
        at = begin
        for rank, where, node in saved.rungs:
            assert where == at and at % 2**rank == 0
            part = slice(at * leaf - first, (at + 2**rank) * leaf - first)
            expected, _ = order.reduce(op, type_name, *(x[part] for x in arrays), nan=nan, ddof=1)
            assert state_file.finish(op, type_name, nan, 1, node) == expected
            at += 2**rank
        assert at == stop
        assert state_file.build(saved) == bits


EXACT = [(op, type_name) for op, type_name in data.PAIRS if tally.OPERATORS[op].exact(type_name)]
EXACT_NAMES = ["-".join(pair) for pair in EXACT]


def saved_exact(op, type_name, nan, first, count, node):
    """The state that has one exact node, made of nothing of Tally."""
    end, size, words = first + count, order.SIZES[type_name], exact_node.build(node)
    boundary = -(-end // (4096 // size))
    nothing = [b""] * tally.OPERATORS[op].inputs
    return state_file.build(state_file.Saved(2, type_name, op, nan, 1, 1, len(words), size, first, end, end, boundary,
                                             boundary, words, [], nothing, nothing))


@pytest.mark.parametrize("op,type_name", EXACT, ids=EXACT_NAMES)
def test_exact_layout(op, type_name):
    """Every byte follows from the values; limbs and evidence mean the true result."""
    assert set(exact_node.PARTS) == {row.name for row in tally.OPERATORS.values() if row.identifier in tally.EXACT_SUMS}
    for number, (first, count) in enumerate([(0, 0), (0, 5), (700, 900), (513, 3), (4096, 1500), (1, 600)]):
        for nan in ("propagate", "skip"):
            state, arrays = example(op, type_name, nan, first, count, number, "best")
            node = exact_node.of_values(op, type_name, *arrays, nan=nan)
            assert node == node.settled()
            bits = state.save()
            assert bits == saved_exact(op, type_name, nan, first, count, node), (number, nan)
            saved = state_file.parse(bits, len(arrays))
            assert exact_node.parse(op, type_name, saved.extra) == node
            for out in [None] if op == "stats" else [None, *order.FLOATS]:
                expected, _ = truth.reduce(op, type_name, *arrays, nan=nan, ddof=1, out=out)
                assert exact_node.finish(op, type_name, 1, saved.extra, out) == expected
                assert state.finish(out).bytes == [expected]


@pytest.mark.parametrize("op,type_name", EXACT, ids=EXACT_NAMES)
def test_exact_merge(op, type_name):
    """Nodes merge by adding their words and carrying; so may anyone who has the bytes, 100 of them before one carry."""
    states, arrays = [], []
    for number in range(6):
        state, values = example(op, type_name, "skip", 0, 70 * number, number, "exact")
        states.append(state)
        arrays.append(values)
    nodes = [exact_node.parse(op, type_name, state_file.parse(state.save(), len(arrays[0])).extra) for state in states]
    merged, by_hand = states[0], nodes[0]
    for state, node in zip(states[1:], nodes[1:]):
        merged.merge(state)
        by_hand = by_hand.merge(node)
        assert state_file.parse(merged.save(), len(arrays[0])).extra == exact_node.build(by_hand)
    # Only carried at the end, and not by us: what is loaded is settled.
    many = dataclasses.replace(nodes[1], n=100 * nodes[1].n, numbers={
        name: exact_node.Number(a.origin, [100 * word for word in a.evidence], [100 * limb for limb in a.limbs])
        for name, a in nodes[1].numbers.items()})
    loaded = tally.Context().load(op, type_name, saved_exact(op, type_name, "skip", 0, many.n, many))
    values = [np.tile(x, 100) for x in arrays[1]]
    assert loaded.finish().bytes == [truth.reduce(op, type_name, *values, nan="skip", ddof=1)[0]]
    again = state_file.parse(loaded.save(), len(values))
    assert again.extra == exact_node.build(many.settled())
    assert exact_node.parse(op, type_name, again.extra) == exact_node.of_values(op, type_name, *values, nan="skip")


def test_written_by_hand():
    """A ladder of the floats 0 ... 1,999,999 that no library made, and of integers one node."""
    leaf, fast = 512, tally.Context(accuracy="fast")
    saved = state_file.Saved(2, "f64", "sum", "propagate", 0, 0, 16, 8, 0, 2_000_000, 0, 0, 3906, bytes(16), [],
                             [b""], [np.arange(3906.0 * leaf, 2_000_000).tobytes()])
    at = 0
    for rank in range(11, -1, -1):
        if 3906 >> rank & 1:
            values = range(at * leaf, (at + 2**rank) * leaf)
            saved.rungs.append((rank, at, struct.pack("<qd", len(values), sum(values))))
            at += 2**rank
    state = fast.load("sum", "f64", state_file.build(saved))
    assert state.finish().bytes == [struct.pack("<d", sum(range(2_000_000)))]
    assert state.save() == state_file.build(saved)
    saved = state_file.Saved(2, "i64", "sum", "propagate", 0, 0, 24, 8, 0, 2_000_000, 2_000_000, 3907, 3907,
                             struct.pack("<qqq", 2_000_000, sum(range(2_000_000)), 0), [], [b""], [b""])
    state = tally.Context().load("sum", "i64", state_file.build(saved))
    assert int.from_bytes(state.finish().bytes[0], "little") == sum(range(2_000_000))
    assert state.save() == state_file.build(saved)


def test_the_largest_number():
    """2^57 of the largest f32 fit, and carry into the sign's limb; words that mean the same settle to the same."""
    most = int(float(np.finfo("f4").max)) << 160
    number = exact_node.Number(-160, [0, 0, 0, 1], exact_node.limbs_of(-most << 56, 11))
    node = exact_node.Node(2**56, (), {"sum": number})
    state = tally.Context().load("mean", "f32", saved_exact("mean", "f32", "propagate", 0, 2**56, node))
    assert state.finish().bytes == [struct.pack("<f", -np.finfo("f4").max)]
    number.limbs[3] += 7 << 32
    number.limbs[4] -= 7
    number.evidence[2:] = [5, -3]
    again = tally.Context().load("mean", "f32", saved_exact("mean", "f32", "propagate", 0, 2**56, node))
    assert again.save() == state.save()


def refused(saved, sentence, op="sum", type_name="f32"):
    with pytest.raises(tally.Failure, match=sentence) as failure:
        tally.Context().load(op, type_name, saved)
    assert failure.value.status == "BAD_STATE"


def test_refused():
    state, _ = example("sum", "f32", "propagate", 1020, 3000)
    bits = state.save()
    saved = state_file.parse(bits, 1)
    assert tally.Context().load("sum", "f32", bits).save() == bits
    for length in (0, 1, 100, len(bits) - 1):
        refused(bits[:length], "damaged")
    for at in range(0, len(bits), 37):
        refused(bits[:at] + bytes([bits[at] ^ 4]) + bits[at + 1:], "damaged")
    for field, value, sentence in [
        ("version", 1, "version"), ("version", 3, "version"), ("exact", 1, "sizes"), ("exact", 2, "options"),
        ("type", "i32", "sizes"), ("type", "struct", "go together"),
        ("name", "plus", "not defined"), ("ddof", 1001, "options"), ("node_bytes", 16, "sizes"),
        ("value_bytes", 8, "sizes"), ("first", -1, "contradict"), ("first", 1024, "contradict"),
        ("end", 4021, "contradict"), ("end", 2**60, "contradict"), ("head_first", 1021, "contradict"),
        ("leaf_begin", 2, "contradict"), ("leaf_end", 4, "contradict"),
        ("rungs", [], "follow"), ("rungs", saved.rungs[::-1], "follow"),
        ("rungs", [(1, 1, saved.rungs[0][2])], "follow"), ("rungs", [(-1, 1, saved.rungs[0][2])], "follow"),
        ("rungs", [(0, 1, b"\x01\x04" + bytes(10)), *saved.rungs[1:]], "follow"), ("tail", [b""], "contradict"),
    ]:
        refused(state_file.build(dataclasses.replace(saved, **{field: value})), sentence)


def test_refused_without_order():
    """One node, which counts no more than there is, and no values beside it."""
    for op, type_name, accuracy in (("sum", "f32", "best"), ("max", "f32", "fast"), ("sum", "i32", "best")):
        exact = int((op, type_name) == ("sum", "f32"))
        state, _ = example(op, type_name, "propagate", 1020, 3000, 0, accuracy)
        saved = state_file.parse(state.save(), 1)
        assert saved.exact == exact
        rest = saved.extra[8:]
        for fields, sentence in [
            ({"exact": 1 - exact}, "sizes|options"), ({"exact": 2}, "options"), ({"exact": 0x100}, "options"),
            ({"extra": (3001).to_bytes(8, "little") + rest}, "count"), ({"extra": b"\xff" * 8 + rest}, "count"),
            ({"head_first": 1020, "leaf_begin": 1, "leaf_end": 3, "extra": bytes(8) + rest, "head": [bytes(16)],
              "rungs": [(0, 1, saved.extra), (0, 2, saved.extra)], "tail": [bytes(4 * (4020 - 3072))]}, "keeps values"),
            ({"end": 4021, "tail": [bytes(4)]}, "contradict"), ({"extra": saved.extra[:-8]}, "short"),
            ({"extra": saved.extra + bytes(8)}, "long"),
        ]:
            refused(state_file.build(dataclasses.replace(saved, **fields)), sentence, op, type_name)


@pytest.mark.parametrize("accuracy", ["best", "fast"])
def test_merged_out_of_place(accuracy):
    """Where order cannot show, states opened at 0 count as following; extra holds everything."""
    on = tally.Context(accuracy=accuracy)
    for op, type_name in data.PAIRS:
        inputs, row = tally.OPERATORS[op].inputs, tally.OPERATORS[op]
        exact = accuracy == "best" and row.exact(type_name)
        random = data.generator("order-free", op, type_name)
        lengths = random.integers(0, (1 if exact else 2) * data.leaf_length(type_name), 3)
        parts = [[data.some_values(type_name, n, 0, random) for n in lengths] for _ in range(inputs)]
        states = [on.state(op, type_name).push(*values) for values in zip(*parts)]
        if row.order_shows(type_name, accuracy):
            if lengths[0]:
                with pytest.raises(tally.Failure, match="BAD_ORDER"):
                    states[0].merge(states[1])
            continue
        merged = states[0].merge(states[1])
        merged = on.load(op, type_name, merged.save()).merge(states[2])
        saved = state_file.parse(merged.save(), inputs)
        assert (saved.first, saved.end, saved.head_first) == (0, sum(lengths), sum(lengths))
        expected, _ = (truth if exact else order).reduce(op, type_name, *(np.concatenate(part) for part in parts))
        assert merged.finish().bytes == [expected], (op, type_name)
        if exact:
            assert exact_node.finish(op, type_name, 0, saved.extra) == expected
        else:
            assert state_file.finish(op, type_name, "propagate", 0, saved.extra) == expected


def test_merge_refused():
    on, best = tally.Context(accuracy="fast"), tally.Context()
    state = on.state("sum", "f32").push(np.ones(5, "f4"))
    for other, status in [(on.state("sum", "f32", 6), "BAD_ORDER"), (on.state("sum", "f32", 4), "BAD_ORDER"),
                          (on.state("sum", "f32"), "BAD_ORDER"), (on.state("max", "f32", 5), "BAD_ARGUMENT"),
                          (on.state("sum", "f64", 5), "BAD_ARGUMENT"), (state, "BAD_ARGUMENT"),
                          (best.state("sum", "f32", 5), "BAD_ARGUMENT"),
                          (tally.Context(nan="skip", accuracy="fast").state("sum", "f32", 5), "BAD_ARGUMENT"),
                          (tally.Context(ddof=1, accuracy="fast").state("sum", "f32", 5), "BAD_ARGUMENT")]:
        with pytest.raises(tally.Failure, match=status):
            state.merge(other)
    with pytest.raises(tally.Failure, match="BAD_ORDER"):
        on.state("sum", "f32", 5).finish()
    exact = best.state("sum", "f32", 5).push(np.ones(3, "f4"))
    assert exact.finish().bytes == [struct.pack("<f", 3)]  # order cannot show, so neither does where it begins
    with pytest.raises(tally.Failure, match="BAD_ORDER"):
        exact.merge(best.state("sum", "f32", 7))  # neither following nor from 0
    with pytest.raises(tally.Failure, match="BAD_ARGUMENT"):
        exact.merge(on.state("sum", "f32", 8))
    for accuracy in ("best", "fast"):  # of an operator that is no sum the accuracy does not matter
        tally.Context(accuracy="fast").state("max", "f32").merge(tally.Context(accuracy=accuracy).state("max", "f32"))
    later = on.state("argmax", "f32", 5).push(np.arange(3, dtype="f4"))
    assert later.finish().bytes == [order.pack("i64", 7)]  # places are those of the whole
