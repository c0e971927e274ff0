"""States, exchange of arrays, hostile input, threads, references, docstrings."""
import ast
import ctypes
import doctest
import gc
import inspect
import pathlib
import pickle
import subprocess
import sys
import threading
import time
from array import array

import numpy as np
import pytest
import tally_reduce as t

rng = np.random.default_rng(1)

# ---- states ----


def test_states_give_the_bits_of_one_call():
    x = rng.standard_normal(10007) * 10.0 ** rng.integers(-100, 100, 10007)
    for op in ("sum", "logsumexp", "prod", "argmax", "stats", "var"):
        for accuracy in ("exact", "fast"):
            parts = np.split(x, [0, 1, 4096, 4097, 9000])
            first, whole = 0, t.State(op, "f8", accuracy=accuracy)
            for part in parts:
                later = t.State(op, "f8", first=first, accuracy=accuracy)
                later.push(part)
                first += len(part)
                whole = pickle.loads(pickle.dumps(whole + later))
            assert (whole.count, whole.first, whole.op, whole.dtype) == (len(x), 0, op, "float64")
            wanted = t.reduce(x, op, accuracy=accuracy)
            assert whole.finish() == wanted or np.isnan(wanted)


def test_state_kinds_of_scalars_and_errors():
    state = t.State("sum", np.float32)
    assert type(state.finish()) is float
    state.push(np.ones(3, "f4"))
    assert type(state.finish()) is np.float32 and state.finish(dtype="f8") == 3
    state.push(np.ones((2, 3), "f4"))
    state.push(np.ones(6, "f4")[::2])
    assert state.finish() == 12
    for wrong in (np.ones(3), 3, None):
        with pytest.raises((TypeError, ValueError)):
            state.push(wrong)
    assert state.finish() == 12
    table = np.arange(24, dtype="f4").reshape(2, 3, 4)
    for x in (table.T, table[:, ::2], table[::-1, :, 1:3], np.asfortranarray(table), np.float32(3), table[:, :0],
              np.broadcast_to(table[0, 0], (5, 4)), np.broadcast_to(np.float32(2), 7)):  # fmt: skip
        in_order = t.State("argmax", "f4"), t.State("sum", "f4", accuracy="fast")
        for one in in_order:
            one.push(x), one.push(x)
        both = np.concatenate([np.ravel(x), np.ravel(x)])
        assert in_order[1].finish() == t.sum(both, accuracy="fast")
        assert not both.size or in_order[0].finish() == t.argmax(both)
    with pytest.raises(ValueError):
        t.State("min").finish()
    with pytest.raises(TypeError):
        t.State("and", "f8")
    with pytest.raises(ValueError):
        state.merge(t.State("max", "f4"))
    with pytest.raises(ValueError):
        state.merge(state)
    with pytest.raises(TypeError):
        state + 3
    saved = state.to_bytes()
    for cut in (b"", saved[:-1], saved[:20] + b"x" + saved[21:], saved + b"x"):
        with pytest.raises(ValueError):
            t.State.from_bytes(cut)
    low_high = t.State("minmax", "i2")
    low_high.push(np.array([3, -1], "i2"))
    assert low_high.finish() == (-1, 3)
    dot = t.State("dot")
    dot.push(np.ones(3), np.arange(3.0))
    assert dot.finish() == 3
    with pytest.raises(TypeError):
        dot.push(np.ones(3))


# ---- exchange ----


class Exporter:
    """An array behind DLPack: `legacy` has no max_version, as before DLPack 1.0."""

    def __init__(self, x, device=(1, 0), legacy=False):
        self.x, self.device, self.legacy, self.asked = x, device, legacy, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **words):
        if self.legacy and "max_version" in words:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.asked.append(words)
        return self.x.__dlpack__()


@pytest.mark.parametrize("legacy", [False, True])
def test_dlpack(legacy):
    x = rng.standard_normal((6, 4))
    for view in (x, x[::2], x.T, x[:0]):
        one = Exporter(view, legacy=legacy)
        assert t.sum(one) == t.sum(view)
        assert one.asked == [{} if legacy else {"max_version": (1, 0)}]
    before = sys.getrefcount(x)
    for _ in range(10):
        t.sum(Exporter(x))
    assert sys.getrefcount(x) == before


def test_used_capsules_and_wrong_answers():
    x = np.ones(3)
    capsule = x.__dlpack__()
    assert t.sum(capsule) == 3
    with pytest.raises(ValueError, match="not been used"):
        t.sum(capsule)
    for wrong in (3, None, "dltensor"):
        one = Exporter(x)
        one.__class__ = type("Wrong", (Exporter,), {"__dlpack__": lambda self, **words: wrong})
        with pytest.raises(ValueError):
            t.sum(one)
    for device in (3, "cpu", (1,), ("a", 0)):
        with pytest.raises((TypeError, ValueError, SystemError)):
            t.sum(Exporter(x, device=device))

    class Raises(Exporter):
        def __dlpack__(self, **words):
            raise BufferError("no")

    with pytest.raises(BufferError):
        t.sum(Raises(x))


def tensor(code=2, bits=64, lanes=1, device=1, major=1, flags=0, values=(1.0, 2.0, 4.0), axes=1,
           extent=3, data=True):  # fmt: skip
    """A versioned capsule of the caller's own making, and a list that gets an item when it is given back."""

    class Tensor(ctypes.Structure):
        pass

    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    Tensor._fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", deleter),
        ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("number", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
    ]  # fmt: skip
    memory, shape, gone = (ctypes.c_double * 3)(*values), (ctypes.c_int64 * 2)(extent, 2**61), []
    one = Tensor(major, 0, None, deleter(lambda _: gone.append(1)), flags,
                 ctypes.addressof(memory) if data else None, device, 0, axes, code,
                 bits, lanes, ctypes.addressof(shape), None, 0)  # fmt: skip
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = new(ctypes.addressof(one), b"dltensor_versioned", None)
    tensor.alive = (one, memory, shape)
    return capsule, gone


def test_versioned_capsules():
    capsule, gone = tensor()
    assert t.sum(capsule) == 7 and gone == [1]
    for wrong, error in [
        ({"code": 5, "bits": 128}, TypeError),
        ({"lanes": 4}, TypeError),
        ({"bits": 4}, TypeError),
        ({"device": 8}, TypeError),
        ({"major": 2}, BufferError),
        ({"axes": -1}, ValueError),
        ({"axes": 65}, ValueError),
        ({"axes": 2}, ValueError),
        ({"extent": -3}, ValueError),
        ({"data": False}, ValueError),
    ]:
        capsule, gone = tensor(**wrong)
        with pytest.raises(error):
            t.sum(capsule)
        assert gone == [1]
    capsule, gone = tensor(flags=1)
    with pytest.raises(ValueError, match="read-only"):
        t.sum(np.ones((3, 2)), axis=1, out=capsule)
    assert gone == [1]


def exchange(from_object, version=(1, 3), older=None):
    """A capsule of a C exchange API; `alive` keeps what it points to."""
    number, address = ctypes.c_uint32, ctypes.c_void_p
    kind = type("Exchange", (ctypes.Structure,), {"_fields_": [("major", number), ("minor", number), ("older", address)]
                                                  + [(name, address) for name in "abcde"]})  # fmt: skip
    callback = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(address))(from_object)
    table = kind(*version, older, None, ctypes.cast(callback, address), None, None, None)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [address, ctypes.c_char_p, address]
    exchange.alive.append((table, callback))
    return new(ctypes.addressof(table), b"dlpack_exchange_api", None), ctypes.addressof(table)


exchange.alive = []


def test_exchange_api():
    """Found on the type, in a version that is known; what it gives is given back; else __dlpack__ is asked."""
    given = []

    def from_object(one, out):
        capsule, gone = tensor()
        out[0] = ctypes.addressof(tensor.alive[0])
        given.append((gone, capsule, tensor.alive))
        return 0

    capsule, address = exchange(from_object)
    newer, _ = exchange(from_object, version=(2, 0), older=address)
    for api in (capsule, newer):
        one = type("Array", (), {"__dlpack_c_exchange_api__": api})()
        assert t.sum(one) == 7 and given[-1][0] == [1]
    too_new, _ = exchange(from_object, version=(2, 0))
    for wrong in (too_new, 3, None, np.ones(3).__dlpack__()):
        kind = type("Array", (Exporter,), {"__dlpack_c_exchange_api__": wrong})
        assert t.sum(kind(np.ones(3))) == 3
    assert len(given) == 2


def test_fake_gpu_arrays():
    """No GPU is needed to see which stream is asked for, and that nothing is read on the host."""
    x = np.ones(3)
    for stream, number in [(None, 1), (7, 7), (1, 1)]:
        one = Exporter(x, device=(2, 0))
        try:
            t.sum(one, stream=stream)
        except (t.Error, ValueError, TypeError):
            pass
        assert one.asked[0]["stream"] == number

    class Interface:
        def __init__(self, **more):
            self.__cuda_array_interface__ = {"shape": (3,), "typestr": "<f8", "data": (16, False), "version": 3, **more}

    if not t.info()["gpus"]:
        with pytest.raises(t.Error):
            t.sum(Interface())
    for more in [
        {"shape": [3]}, {"typestr": "<c16"}, {"data": None}, {"mask": x}, {"strides": (8, 8)}, {"stream": "x"},
        {"shape": ("a",)},
    ]:  # fmt: skip
        with pytest.raises(TypeError):
            t.sum(Interface(**more))
    with pytest.raises(ValueError, match="stream"):
        t.sum(Interface(stream=7), stream=8)
    with pytest.raises(TypeError):
        t.sum(Interface(), stream="x")


# ---- hostile input ----


def test_more_types_than_the_table_of_types_has():
    for k in range(50):
        one = type(f"Array{k}", (Exporter,), {})(np.ones(3))
        assert t.sum(one, out=np.zeros(())) == 3 and type(t.sum(np.ones(3))) is np.float64 and type(t.sum(one)) is float


def test_what_is_no_array():
    for wrong in (3, None, [1, 2], "abc", object(), np.float64, {"a": 1}):
        with pytest.raises(TypeError):
            t.sum(wrong)
    for wrong in (
        np.ones(3, "c16"), np.array(["a"]), np.array([None]), np.ones(3, "M8[s]"), np.zeros(3, [("a", "f8")]),
        np.ones(3, "g"),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            t.sum(wrong)
    with pytest.raises(TypeError, match="byte order"):
        t.sum(np.ones(3, ">f8"))
    assert t.sum(np.ones(3, ">u1")) == 3
    with pytest.raises(TypeError, match="define"):
        t.reduce(np.ones(3), lambda a, b: a + b)
    with pytest.raises(ValueError, match="no operator"):
        t.reduce(np.ones(3), "median")
    with pytest.raises(TypeError):
        t.and_(np.ones(3))
    for words in ({"accuracy": "good"}, {"nan": 3}):
        with pytest.raises(ValueError):
            t.sum(np.ones(3), **words)
    with pytest.raises(ValueError):
        t.var(np.ones(3), ddof=-1)


def test_out_that_cannot_be():
    x = np.ones((4, 4))
    locked = np.zeros(4)
    locked.flags.writeable = False
    for out in (locked, x[0], x[:, 0], x[1, ::-1]):
        with pytest.raises(ValueError):
            t.sum(x, axis=1, out=out)
    for out in (b"12345678", 3, [0] * 4, np.zeros(4, "c8")):
        with pytest.raises((TypeError, ValueError)):
            t.sum(x, axis=1, out=out)
    lengths = np.array([2, 2], "i8")
    with pytest.raises(ValueError, match="overlaps"):
        t.segment_reduce(np.ones(4, "i8"), "sum", lengths=lengths, out=lengths)
    mask = np.ones((4, 4), "?")
    with pytest.raises(ValueError, match="overlaps"):
        t.any(x, axis=1, where=mask, out=mask[0])


def test_an_export_locks_its_memory():
    memory = bytearray(800)
    plan_index = array("q", [0, 50])
    plan = t.Plan(50, offsets=plan_index)
    with pytest.raises(BufferError):
        plan_index.append(3)
    del plan
    plan_index.append(3)
    t.sum(memory)
    memory.append(1)


def test_define():
    op = t.define("text", name="mine", dtype="f4", identity=bytes(4))
    with pytest.raises(t.Error):
        t.reduce(np.ones(3, "f4"), op)
    with pytest.raises(TypeError, match="Python function"):
        t.define(max, name="mine", dtype="f4", identity=bytes(4))
    for words in ({"name": "no spaces"}, {"identity": b""}, {"name": "sum"}):
        with pytest.raises(ValueError):
            t.define("text", **{"name": "mine", "dtype": "f4", "identity": bytes(4), **words})


# ---- threads and references ----


def turns_beside_a_call(x):
    """How often this thread runs Python while another is in a long reduction."""
    inside, turns = threading.Event(), 0

    def work():
        inside.set()
        t.logsumexp(x)
        inside.clear()

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        turns += inside.is_set()
        time.sleep(0.001)
    return turns


def test_the_lock_is_released():
    """A busy machine may give this thread few turns beside one call, but not beside each of many."""
    x = np.ones(1 << 24)
    assert any(turns_beside_a_call(x) > 5 for _ in range(20))


def test_threads_agree():
    x = rng.standard_normal(50000)
    wanted = t.sum(x), t.var(x, ddof=1), t.sum(x, nan="skip")
    wrong = []

    def work():
        for _ in range(30):
            if (t.sum(x), t.var(x, ddof=1), t.sum(x, nan="skip")) != wanted:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_many_sets_of_options():
    for ddof in range(300):
        np.testing.assert_allclose(t.var(np.arange(1000.0), ddof=ddof), np.var(np.arange(1000.0), ddof=ddof))
    states = [t.State("var", ddof=ddof) for ddof in range(150)]
    for state in states:
        state.push(np.arange(1000.0))
    assert np.isclose(states[3].finish(), np.var(np.arange(1000.0), ddof=3), rtol=1e-12)


def test_nothing_leaks():
    x, lengths, out = np.ones((20, 30)), np.array([10, 10]), np.zeros(30)

    def calls():
        t.sum(x), t.sum(x, axis=0, out=out), t.stats(x, axis=1), t.minmax(x, axis=0)
        t.sum(x[::2, ::2], where=x[::2, ::2] > 0)
        t.segment_sum(x, lengths=lengths), t.segment_sum(x, lengths=[10, 10]), t.Plan(20, lengths=lengths)
        state = t.State("sum")
        state.push(x)
        state = pickle.loads(pickle.dumps(state + t.State("sum", first=600)))
        state.finish(), t.info(), t.define("text", name="mine", dtype="f4", identity=bytes(4)).name
        for wrong in (lambda: t.sum(x, axis=5), lambda: t.sum(x, axis=1, out=x[0]),
                      lambda: t.segment_sum(x, lengths=[21]),
                      lambda: t.sum(x, where=lengths), lambda: t.sum(Exporter(x, device=(9, 9)), dtype="x"),
                      lambda: t.State("sum", "i4").push(x), lambda: t.Plan(20, lengths=[21])):  # fmt: skip
            with pytest.raises((ValueError, TypeError)):
                wrong()

    def counts():
        gc.collect()
        return [sys.getrefcount(one) for one in (x, lengths, out, None, True, np.float64)], sys.getallocatedblocks()

    for _ in range(70):  # contexts are kept for that many sets of options
        calls()
    growth = []
    for _ in range(25):
        before, blocks = counts()
        for _ in range(20):
            calls()
        after, blocks_after = counts()
        growth.append(blocks_after - blocks)
        assert all(abs(a - b) < 15 for a, b in zip(before, after)), (before, after)
    assert min(growth) < 15, growth  # caches of Python grow too, and then no more


# ---- documentation ----


def test_docstrings():
    """Every function has one, with an example; the examples are run."""
    runner = doctest.DocTestRunner()
    things = {name: getattr(t, name) for name in t.__all__ if name not in ("Error", "Stats")}
    methods = ("push", "merge", "finish", "to_bytes", "from_bytes")
    things |= {f"State.{name}": getattr(t.State, name) for name in methods}
    for name, thing in things.items():
        doc = thing.__doc__
        assert doc and ">>>" in doc, name
        test = doctest.DocTestParser().get_doctest(doc, {}, name, None, 0)
        assert runner.run(test).failed == 0, name
    assert runner.summarize(verbose=False).attempted > 100


def test_stubs_name_what_there_is():
    """They are what the table says, and every function has the keywords that its signature in the docstring has."""
    root = pathlib.Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, root / "tools" / "gen_python_stubs.py", "--check"]).returncode == 0
    tree = ast.parse((root / "python" / "tally_reduce" / "__init__.pyi").read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and getattr(node.annotation, "id", None) in classes:
            functions[node.target.id] = classes[node.annotation.id].body[0]
    assert set(t.__all__) == (set(functions) | set(classes)) - {c for c in classes if c[0] == "_"} | {"Error", "Stats"}
    for name, node in functions.items():
        signature = inspect.signature(getattr(t, name))
        wanted = {name for name, one in signature.parameters.items() if one.kind is not one.POSITIONAL_ONLY}
        words = [one.arg for one in node.args.args + node.args.kwonlyargs]
        assert {word for word in words if word not in ("self", "data", "other")} == wanted - {"data", "other"}, name
