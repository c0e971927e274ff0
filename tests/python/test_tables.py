"""However a row of include/tally/tables.h is written, both readers understand it or say which row they do not."""
import ast
import builtins
import shutil
import subprocess

import pytest
import tables
import tally

ROW = (
    "X(RANGE, range, range, 1, TALLY_ON_ALL, TALLY_GIVES_MAGNITUDE, TALLY_ORDER_FREE, TALLY_EMPTY_IS_REFUSED, "
    'TALLY_NANS_PLAIN, "largest, minus smallest")'
)
LAST = '"the sum of products of two arrays")'
GOOD = {
    "as others": ROW,
    "over two lines": ROW.replace("TALLY_GIVES_MAGNITUDE,", "TALLY_GIVES_MAGNITUDE, \\\n    "),
    "a digit in a name": ROW.replace("range", "range2"),
    "three classes": ROW.replace("TALLY_ON_ALL", "TALLY_CLASS_INT | TALLY_CLASS_UINT | TALLY_CLASS_FLOAT"),
    "in brackets": ROW.replace("TALLY_ON_ALL", "(TALLY_CLASS_INT | TALLY_CLASS_FLOAT)"),
    "a comment": ROW.replace("1,", "1 /* array, */,", 1),
}
BAD = {
    "three inputs": ROW.replace("1,", "3,", 1),
    "a capital in a name": ROW.replace("range", "Range"),
    "a field too few": ROW.replace(" TALLY_ORDER_FREE,", ""),
    "another order": ROW.replace("TALLY_ORDER_FREE", "FREE"),
    "a number for types": ROW.replace("TALLY_ON_ALL", "15"),
}


def with_row(row):
    assert tables.TEXT.count(LAST) == 1
    return tables.TEXT.replace(LAST, LAST + " \\\n    " + row)


def listed(folder, text):
    """What CMake understands of a tables.h."""
    (folder / "tally").mkdir()
    (folder / "tally" / "tables.h").write_text(text)
    script = tally.ROOT / "cmake" / "rows.cmake"
    return subprocess.run(["cmake", "-DCMAKE_C_COMPILER=cc", f"-Dtables={folder}/tally/tables.h", "-P", script],
                          capture_output=True, text=True)  # fmt: skip


needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")


@needs_cmake
def test_all_rows(tmp_path):
    done = listed(tmp_path, tables.TEXT)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count('operator "') == len(tables.rows("TALLY_OPERATORS"))
    assert done.stderr.count('exact "') == len(tables.rows("TALLY_EXACT_SUMS"))


@needs_cmake
@pytest.mark.parametrize("name", GOOD)
def test_rows_that_cmake_understands(name, tmp_path):
    done = listed(tmp_path, with_row(GOOD[name]))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count('operator "') == len(tables.rows("TALLY_OPERATORS")) + 1
    assert 'operator "RANGE"' in done.stderr


@needs_cmake
@pytest.mark.parametrize("name", BAD)
def test_rows_that_cmake_refuses(name, tmp_path):
    done = listed(tmp_path, with_row(BAD[name]))
    assert done.returncode != 0
    assert "is not understood" in done.stderr or "cannot list" in done.stderr


@pytest.mark.parametrize("name", GOOD)
def test_rows_in_python(name):
    rows = tables.rows("TALLY_OPERATORS", with_row(GOOD[name]))
    assert len(rows) == len(tables.rows("TALLY_OPERATORS")) + 1
    new = next(row for row in rows if row[0] == "RANGE")
    assert new[-1] == "largest, minus smallest" and len(new) == 10
    assert tables.mask(new[4]) == {"three classes": 14, "in brackets": 10}.get(name, 15)


@pytest.mark.parametrize("text", [ROW.replace(" TALLY_ORDER_FREE,", ""), ROW[:-1], "Y" + ROW, ROW + " X"])
def test_rows_that_python_refuses(text):
    with pytest.raises(ValueError):
        tables.rows("TALLY_OPERATORS", with_row(text))


def test_operators_hide_no_function_that_a_module_uses():
    """tally_reduce and its modules have a function for each operator, in the place of Python's own of that name."""
    for path in sorted((tally.ROOT / "python" / "tally_reduce").glob("*.py")):
        text = path.read_text()
        used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        hidden = used & set(dir(builtins)) & set(tally.OPERATORS) if "globals()" in text else set()
        assert not hidden, f"{path.name} uses Python's {hidden}, which an operator hides there: write it otherwise"
