"""docs/operators.md says what include/tally/tables.h says, and names every operator; examples on the pages hold."""
import subprocess
import sys

import numpy as np
import pytest

import order
import tally


def test_operators_page():
    done = subprocess.run([sys.executable, tally.ROOT / "tools" / "gen_operator_docs.py", "--check"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_gallery_page():
    done = subprocess.run([sys.executable, tally.ROOT / "gallery" / "pages" / "generate.py", "--check",
                           "--tally", tally.COMMAND],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_plain_cuda():
    """gallery/cuda is what its kernels' texts give; without clang-format it says that it was skipped."""
    done = subprocess.run([sys.executable, tally.ROOT / "gallery" / "cuda" / "generate.py", "--check"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if "SKIPPED" in done.stdout:
        pytest.skip(done.stdout.strip())


def test_constants_of_order_page():
    """What order.py computes with is what the page prints, and the page what kernels/accumulators/elementary.h has."""
    page = (tally.ROOT / "docs" / "order.md").read_text()
    text = (tally.ROOT / "kernels" / "accumulators" / "elementary.h").read_text()
    f32, f64 = ([row.split(" | ")[k].strip(" |") for row in page.splitlines() if row.startswith("| ") and "0x1." in row]
                for k in (1, 2))
    for width, cells, suffix in ((np.float32, f32, "f"), (np.float64, f64, "")):
        printed = [word for cell in cells for word in cell.split(", ")]
        e = order.EXP[width]
        computed = [e["inverse"], e["high"], e["low"], *e["terms"]]
        assert [width(float.fromhex(word)) for word in printed] == computed
        for word in printed:
            if word.startswith("0x1."):
                assert word + suffix in text, word


def test_examples_of_operators_page():
    on = tally.Context()
    assert on.reduce("argmin", "f64", np.array([0.0, -0.0])).bytes == [order.pack("i64", 1)]
    found = on.reduce("argmin", "f64", np.array([]), out="u8")
    assert (found.bytes, found.status) == ([b"\0"], "OVERFLOW")
    assert on.reduce("norminf", "i8", np.array([-128], "i1")).bytes == [order.pack("u64", 128)]
    found = tally.Context(ddof=1).reduce("var", "f64", np.array([1.0]))
    assert (found.bytes, found.status) == ([order.pack("f64", np.nan)], "OK")
