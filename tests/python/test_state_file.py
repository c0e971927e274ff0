"""Saved states against docs/states.md: state_file.py reads what the library writes, and writes what it reads."""
import dataclasses

import numpy as np
import pytest

import data
import order
import state_file
import tally


def example(op, type_name, nan, first, count, number=0):
    """A state of `count` values from `first` on, and its values."""
    flavours = data.FLAVOURS[tally.TYPES[type_name].kind]
    random = data.generator("saved", op, type_name, number)
    arrays = [data.some_values(type_name, count, number % flavours, random) for _ in range(tally.OPERATORS[op].inputs)]
    return tally.Context(nan=nan, ddof=1).state(op, type_name, first).push(*arrays), arrays


@pytest.mark.parametrize("op,type_name", data.PAIRS, ids=data.NAMES)
def test_layout(op, type_name):
    leaf, inputs = data.leaf_length(type_name), tally.OPERATORS[op].inputs
    runs = [(0, 0), (0, 5), (3 * leaf - 10, 3 * leaf + 17), (leaf + 1, 3), (leaf, 4 * leaf)]
    for number, (first, count) in enumerate(runs):
        nan = data.policies(op, type_name)[number % len(data.policies(op, type_name))]
        state, arrays = example(op, type_name, nan, first, count, number)
        bits = state.save()
        saved = state_file.parse(bits, inputs)
        end = first + count
        begin = -(-first // leaf)
        border = min(begin * leaf, end)
        stop = max(begin, end // leaf)
        size = tally.TYPES[type_name].size
        assert dataclasses.astuple(saved)[:7] == (1, type_name, op, nan, 1, len(saved.extra), size)
        assert dataclasses.astuple(saved)[7:12] == (first, end, first, begin, stop)
        assert saved.extra == bytes(saved.node_bytes)
        assert saved.head == [x[:border - first].tobytes() for x in arrays]
        assert saved.tail == [x[max(stop * leaf - first, border - first):].tobytes() for x in arrays]
        at = begin
        for rank, where, node in saved.rungs:
            assert where == at and at % 2**rank == 0
            part = slice(at * leaf - first, (at + 2**rank) * leaf - first)
            expected, _ = order.reduce(op, type_name, *(x[part] for x in arrays), nan=nan, ddof=1)
            if op in ("argmin", "argmax") and expected != b"\xff" * 8:
                expected = order.pack("i64", int.from_bytes(expected, "little") + at * leaf)
            assert state_file.finish(op, type_name, nan, 1, node) == expected
            at += 2**rank
        assert at == stop
        assert state_file.build(saved) == bits


def test_written_by_hand():
    """A state of the integers 0 ... 1,999,999 that no library made."""
    leaf = 512
    saved = state_file.Saved(1, "i64", "sum", "propagate", 0, 16, 8, 0, 2_000_000, 0, 0, 3906, bytes(16), [],
                             [b""], [np.arange(3906 * leaf, 2_000_000).tobytes()])
    at = 0
    for rank in range(11, -1, -1):
        if 3906 >> rank & 1:
            values = range(at * leaf, (at + 2**rank) * leaf)
            node = len(values).to_bytes(8, "little") + sum(values).to_bytes(8, "little")
            saved.rungs.append((rank, at, node))
            at += 2**rank
    state = tally.Context().load("sum", "i64", state_file.build(saved))
    assert int.from_bytes(state.finish().bytes[0], "little") == sum(range(2_000_000))
    assert state.save() == state_file.build(saved)


def refused(saved, sentence):
    with pytest.raises(tally.Failure, match=sentence) as failure:
        tally.Context().load("sum", "f32", saved)
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
        ("version", 2, "version"), ("type", "i32", "sizes"), ("type", "struct", "go together"),
        ("name", "plus", "not defined"), ("ddof", 1001, "options"), ("node_bytes", 16, "sizes"),
        ("value_bytes", 8, "sizes"), ("first", -1, "contradict"), ("first", 1024, "contradict"),
        ("end", 4021, "contradict"), ("end", 2**60, "contradict"), ("head_first", 1021, "contradict"),
        ("leaf_begin", 2, "contradict"), ("leaf_end", 4, "contradict"),
        ("extra", (1).to_bytes(12, "little"), "count"), ("rungs", [], "follow"), ("rungs", saved.rungs[::-1], "follow"),
        ("rungs", [(1, 1, saved.rungs[0][2])], "follow"), ("rungs", [(-1, 1, saved.rungs[0][2])], "follow"),
        ("rungs", [(0, 1, b"\x01\x04" + bytes(10)), *saved.rungs[1:]], "follow"), ("tail", [b""], "contradict"),
    ]:
        refused(state_file.build(dataclasses.replace(saved, **{field: value})), sentence)


def test_merged_out_of_place():
    """Where order cannot show, states opened at 0 count as following; extra holds what came before."""
    on = tally.Context()
    for op, type_name in data.PAIRS:
        inputs = tally.OPERATORS[op].inputs
        random = data.generator("order-free", op, type_name)
        lengths = random.integers(0, 2 * data.leaf_length(type_name), 3)
        parts = [[data.some_values(type_name, n, 0, random) for n in lengths] for _ in range(inputs)]
        states = [on.state(op, type_name).push(*values) for values in zip(*parts)]
        if tally.OPERATORS[op].order_shows(type_name):
            if lengths[0]:
                with pytest.raises(tally.Failure, match="BAD_ORDER"):
                    states[0].merge(states[1])
            continue
        merged = states[0].merge(states[1])
        merged = on.load(op, type_name, merged.save()).merge(states[2])
        saved = state_file.parse(merged.save(), inputs)
        assert (saved.first, saved.end, saved.head_first) == (0, sum(lengths), sum(lengths))
        expected, _ = order.reduce(op, type_name, *(np.concatenate(part) for part in parts))
        assert merged.finish().bytes == [expected], (op, type_name)
        assert state_file.finish(op, type_name, "propagate", 0, saved.extra) == expected


def test_merge_refused():
    on = tally.Context()
    state = on.state("sum", "f32").push(np.ones(5, "f4"))
    for other, status in [(on.state("sum", "f32", 6), "BAD_ORDER"), (on.state("sum", "f32", 4), "BAD_ORDER"),
                          (on.state("sum", "f32"), "BAD_ORDER"), (on.state("max", "f32", 5), "BAD_ARGUMENT"),
                          (on.state("sum", "f64", 5), "BAD_ARGUMENT"), (state, "BAD_ARGUMENT"),
                          (tally.Context(nan="skip").state("sum", "f32", 5), "BAD_ARGUMENT"),
                          (tally.Context(ddof=1).state("sum", "f32", 5), "BAD_ARGUMENT")]:
        with pytest.raises(tally.Failure, match=status):
            state.merge(other)
    with pytest.raises(tally.Failure, match="BAD_ORDER"):
        on.state("sum", "f32", 5).finish()
    later = on.state("argmax", "f32", 5).push(np.arange(3, dtype="f4"))
    assert later.finish().bytes == [order.pack("i64", 7)]  # places are those of the whole
