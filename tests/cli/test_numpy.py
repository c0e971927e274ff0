"""The command against NumPy: arrays of every type, shape, order and version, there and back, and the digits of
floats."""

import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")

TALLY = os.environ.get("TALLY_COMMAND", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "tally"))
TYPES = [
    "?",
    "i1",
    "<i2",
    ">i2",
    "<i4",
    ">i4",
    "<i8",
    ">i8",
    "u1",
    "<u2",
    ">u4",
    "<u8",
    "<f2",
    ">f2",
    "<f4",
    ">f4",
    "<f8",
    ">f8",
]
SHAPES = [(), (1,), (7,), (0,), (3, 5), (2, 3, 4), (4, 1, 3), (2, 0, 3), (2, 2, 2, 3)]


def tally(directory, *arguments):
    done = subprocess.run([TALLY, *arguments], cwd=directory, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def reduced(directory, *arguments):
    tally(directory, *arguments, "-o", "out.npy")
    return np.load(directory / "out.npy")


def some_array(kind, shape, order):
    values = np.random.default_rng(1).integers(0, 50, shape).astype(kind)
    return np.asarray(values, order=order)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", TYPES)
def test_array(tmp_path, kind, shape, order):
    array = some_array(kind, shape, order)
    version = [(1, 0), (2, 0), (3, 0)][array.size % 3]
    with open(tmp_path / "in.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    total = reduced(tmp_path, "sum", "in.npy")
    assert total.shape == () and total == array.sum(dtype="f8")
    if array.size == 0:
        return
    assert reduced(tmp_path, "argmax", "in.npy") == np.argmax(array)
    for axis in range(-len(shape), len(shape)):
        axis_argument = ["--axis", str(axis)]
        if (axis + TYPES.index(kind)) % 2:  # each axis of a shape has both operators, of different types
            assert np.array_equal(reduced(tmp_path, "argmin", "in.npy", *axis_argument), np.argmin(array, axis=axis))
            continue
        pairs = reduced(tmp_path, "minmax", "in.npy", *axis_argument)
        assert pairs.dtype == array.dtype.newbyteorder("=")
        assert np.array_equal(pairs, np.stack([array.min(axis=axis), array.max(axis=axis)], -1))


def digits(text):
    return len(text.lower().split("e")[0].replace("-", "").replace(".", "").strip("0"))


@pytest.mark.parametrize("kind,low,high", [("f8", -300, 300), ("f4", -44, 38), ("f2", -8, 5)])
def test_fewest_digits(tmp_path, kind, low, high):
    random = np.random.default_rng(2)
    values = random.standard_normal(5000) * 10.0 ** random.integers(low, high, 5000)
    powers = 2.0 ** np.arange(*{"f8": (-1074, 1024), "f4": (-149, 128), "f2": (-24, 16)}[kind])
    with np.errstate(over="ignore"):
        values = np.concatenate([values, powers]).astype(kind)
    values = values[np.isfinite(values)]
    np.save(tmp_path / "values.npy", values)
    np.save(tmp_path / "keys.npy", np.arange(len(values)))
    printed = tally(tmp_path, "max", "values.npy", "--by", "keys.npy").split()
    assert np.array_equal(np.array([np.dtype(kind).type(text) for text in printed]), values)
    for text, value in zip(printed, values):
        assert digits(text) == digits(np.format_float_scientific(value, unique=True, trim="-")), (text, value)


def test_stats_records(tmp_path):
    np.save(tmp_path / "in.npy", np.arange(10.0))
    row = reduced(tmp_path, "stats", "in.npy")
    assert row.dtype.names == ("count", "min", "max", "sum", "mean", "var")
    assert row.item() == (10, 0.0, 9.0, 45.0, 4.5, 8.25)
