"""tally explain --paper: what stands where in Figures 1 and 2, against what the kernels' texts say must happen."""

import os
import pathlib
import re
import subprocess
import xml.etree.ElementTree as xml

import pytest

TALLY = os.environ.get("TALLY_COMMAND", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "tally"))
LANES = 4


def draw(kernel, *arguments):
    """[(y, height, x, words)] of the boxes, each with the first words written into it."""
    command = [TALLY, "explain", kernel, "--paper", "-o", "-", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    tree = xml.fromstring(done.stdout)
    texts = [(float(e.get("x")), float(e.get("y")), e.text) for e in tree.iter() if e.tag.endswith("text")]
    boxes = []
    for e in tree.iter():
        if e.get("class") in ("sh", "in"):
            x, y, wide, high = (float(e.get(name)) for name in ("x", "y", "width", "height"))
            words = [text for at, line, text in texts if x < at < x + wide and y < line < y + high]
            boxes.append((y, high, x, words[0] if words else ""))
    return boxes


def numbers(words):
    """The inputs that "load 0-3,8-11" names."""
    runs = re.findall(r"(\d+)(?:-(\d+))?", words)
    return {i for first, last in runs for i in range(int(first), int(last or first) + 1)}


def rows_of(boxes):
    return [[words for y, _, _, words in sorted(boxes, key=lambda b: b[2]) if y == at]
            for at in sorted({b[0] for b in boxes})]  # fmt: skip


def test_matrix():
    """Values lie row by row with an unused cell behind; a row's thread folds it; then a tree."""
    rows = rows_of(draw("matrix"))
    folds = [["0-3", "0-7", "0-15"], ["4-7"], ["8-11", "8-15"], ["12-15"]]
    assert rows == [[str(LANES * r + c) for c in range(LANES)] + [""] + folds[r] for r in range(LANES)]


@pytest.mark.parametrize("count", [17, 32, 64])
def test_one_block_is_drawn(count):
    """Neither the other blocks nor the launch that folds what they leave."""
    assert draw("matrix", "--n", str(count)) == draw("matrix")


@pytest.mark.parametrize("count", [1, 5, 15])
def test_matrix_in_part(count):
    """Cells beyond the input hold nothing."""
    rows = rows_of(draw("matrix", "--n", str(count)))
    cells = [words for row in rows for words in row[:LANES]]
    assert [words for words in cells if words] == [str(i) for i in range(count)]


def parts(kernel, verb, *arguments):
    """matrix -> (top, bottom) of what is loaded of it, or folded."""
    found = {}
    for y, high, _, words in draw(kernel, *arguments):
        for matrix in {i // 16 for i in numbers(words)} if words.startswith(verb) else ():
            top, bottom, inputs = found.get(matrix, (y, y + high, set()))
            found[matrix] = (min(y, top), max(y + high, bottom), inputs | numbers(words))
    return found


@pytest.mark.parametrize("count", [16, 33, 64])
@pytest.mark.parametrize("kernel", ["diffwarps", "persistent_matrix"])
def test_each_matrix_is_loaded_before_it_is_folded(kernel, count):
    loads, folds = (parts(kernel, verb, "--n", str(count)) for verb in ("load", "fold"))
    assert set().union(*(inputs for _, _, inputs in loads.values())) == set(range(count))
    assert {m: inputs for m, (_, _, inputs) in loads.items()} == {m: inputs for m, (_, _, inputs) in folds.items()}
    assert all(loads[m][1] < folds[m][0] for m in loads)


def test_only_producers_overlap():
    """Left, matrix m + 1 is loaded while matrix m is folded; right, never: so that the left ends sooner."""
    ends = {}
    for kernel, overlaps in (("diffwarps", True), ("persistent_matrix", False)):
        loads, folds = parts(kernel, "load"), parts(kernel, "fold")
        assert len(loads) == len(folds) == 4
        for m in range(3):
            assert (loads[m + 1][0] < folds[m][1]) == overlaps
        ends[kernel] = folds[3][1]
    assert ends["diffwarps"] < ends["persistent_matrix"]


def test_steps():
    """A warp loads two rows of a matrix, one after the other; to fold one takes 3 columns and 2 levels of a tree."""
    for kernel in ("diffwarps", "persistent_matrix"):
        boxes = [(words.split()[0], high) for _, high, _, words in draw(kernel)]
        assert set(boxes) == {("load", 2 * 20 - 2), ("fold", 5 * 20 - 2), ("store", 20 - 2)}


def test_refused():
    for arguments, why in (
        (("tb2", "--paper", "-o", "-"), "the paper has figures of matrix, persistent_matrix and diffwarps"),
        (("matrix", "--paper"), "--paper draws; name a file with -o"),
    ):
        done = subprocess.run([TALLY, "explain", *arguments], capture_output=True, text=True)
        assert done.returncode == 2 and why in done.stderr and done.stdout == ""
