"""Arrow's PyCapsule interface without Arrow: arrays that the tests make, and what is wrong with some."""
import ctypes
from array import array

import pytest
import tally_reduce as t

P, N = ctypes.c_void_p, ctypes.c_int64
RELEASE = ctypes.CFUNCTYPE(None, P)


class Schema(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("name", P), ("metadata", P), ("flags", N), ("n_children", N),
                ("children", P), ("dictionary", P), ("release", P), ("private", P)]  # fmt: skip


class Array(ctypes.Structure):
    _fields_ = [("length", N), ("nulls", N), ("offset", N), ("n_buffers", N), ("n_children", N), ("buffers", P),
                ("children", P), ("dictionary", P), ("release", P), ("private", P)]  # fmt: skip


new = ctypes.PYFUNCTYPE(ctypes.py_object, P, ctypes.c_char_p, P)(("PyCapsule_New", ctypes.pythonapi))
pointer = ctypes.PYFUNCTYPE(P, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
DESTRUCTOR = ctypes.PYFUNCTYPE(None, P)


class Producer:
    """An Arrow array of the memory of buffers (bit mask, then values or offsets), and perhaps one child. `gone` counts
    how often it was given back."""

    def __init__(self, kind, buffers, length, child=None, names=(b"arrow_schema", b"arrow_array"), **more):
        self.gone, self.names, self.child, self.memory = [], names, child, buffers
        addresses = [None if b is None else b.buffer_info()[0] for b in buffers]
        self.addresses = (P * max(1, len(buffers)))(*addresses)
        self.release = RELEASE(lambda _: self.gone.append(1))
        release = ctypes.cast(self.release, P)
        self.pointers = [(P * 1)(ctypes.addressof(one)) for one in (child.schema, child.array)] if child else None
        children = [ctypes.cast(one, P) for one in self.pointers] if child else [None, None]
        self.schema = Schema(format=kind, n_children=bool(child), children=children[0], release=release)
        words = {"nulls": 0, "n_buffers": len(buffers), "n_children": bool(child), **more}
        self.array = Array(length=length, buffers=ctypes.cast(self.addresses, P), children=children[1],
                           release=release, **words)  # fmt: skip
        self.destructor = DESTRUCTOR(lambda _: self.release(None))

    def __arrow_c_array__(self, requested_schema=None):
        destructor = ctypes.cast(self.destructor, P)
        return (new(ctypes.addressof(self.schema), self.names[0], None),
                new(ctypes.addressof(self.array), self.names[1], destructor))  # fmt: skip


VALUES = array("d", [1, 2, 4, 8, 16])
OFFSETS = array("i", [0, 2, 2, 5])


def values(**more):
    return Producer(b"g", [None, VALUES], **{"length": 5, **more})


def lists(child=None, **more):
    return Producer(b"+l", [None, OFFSETS], **{"length": 3, **more}, child=child or values())


def test_values_and_lists():
    for one, wanted in [
        (values(), 31),
        (values(length=2, offset=1), 6),
        (values(length=0), 0),
        (Producer(b"c", [None, array("b", [1, -3])], 2), -2),
        (Producer(b"L", [None, array("Q", [2**63, 1])], 2), 2**63 + 1),
        (Producer(b"b", [None, array("B", [0b10110, 0b1])], length=7, offset=2), 3),
        (Producer(b"g", [array("B", [0b11111]), VALUES], 5, nulls=-1), 31),
    ]:
        assert t.sum(one) == wanted and one.gone == [1]
    for one, wanted in [
        (lists(), [3, 0, 28]),
        (lists(length=2, offset=1), [0, 28]),
        (lists(length=0), []),
        (lists(values(offset=1, length=4), length=2), [6, 0]),
        (Producer(b"+L", [None, array("q", [1, 5])], 1, child=values()), [30]),
    ]:
        got = t.segment_sum(one)
        assert list(got) == wanted and one.gone == [1] and one.child.gone == []
    plan = t.Plan(5, lengths=(kept := Producer(b"i", [None, array("i", [5])], 1)))
    assert kept.gone == [] and t.segment_sum(VALUES, plan=plan).tolist() == [31]
    del plan
    assert kept.gone == [1]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: values(nulls=1), ValueError),
        (lambda: Producer(b"g", [array("B", [0b11011]), VALUES], 5, nulls=-1), ValueError),
        (lambda: values(length=-1), TypeError),
        (lambda: values(offset=-1), TypeError),
        (lambda: values(offset=2**63 - 1), TypeError),
        (lambda: values(length=2**62), ValueError),
        (lambda: values(n_buffers=3), TypeError),
        (lambda: values(n_children=1), TypeError),
        (lambda: Producer(b"g", [None, None], 5), TypeError),
        (lambda: Producer(b"", [None, VALUES], 5), TypeError),
        (lambda: Producer(None, [None, VALUES], 5), TypeError),
        (lambda: Producer(b"tsu:", [None, VALUES], 5), TypeError),
        (lambda: Producer(b"+w:2", [None], 2, child=values()), TypeError),
        (lambda: values(names=(b"arrow_schema", b"array")), TypeError),
        (lambda: values(names=(b"schema", b"arrow_array")), TypeError),
        (lambda: lists(nulls=1), ValueError),
        (lambda: lists(values(nulls=2)), ValueError),
        (lambda: lists(values(length=4)), ValueError),  # the offsets go beyond
        (lambda: lists(lists()), TypeError),
        (lambda: lists(n_children=0), TypeError),
        (lambda: Producer(b"+l", [None, None], 3, child=values()), TypeError),
        (lambda: Producer(b"+l", [None, array("i", [0, 3, 2])], 2, child=values()), ValueError),
    ],
)
def test_what_is_refused(make, error):
    one = make()
    with pytest.raises(error):
        t.segment_sum(one) if one.child else t.sum(one)
    assert len(one.gone) == (one.names[1] is not None)


def test_released_and_no_capsules():
    one = values()
    one.schema.release = None
    with pytest.raises(TypeError, match="given back"):
        t.sum(one)
    for wrong in (None, 3, (), (1, 2), [one, one]):
        kind = type("Wrong", (), {"__arrow_c_array__": lambda self: wrong})
        with pytest.raises(TypeError):
            t.sum(kind())
    with pytest.raises(TypeError, match="segment_reduce"):
        t.sum(lists())
