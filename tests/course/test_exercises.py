"""The exercises: each has its mistake, which the simulator finds; each solution is right and reaches what is wanted."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TALLY = os.environ.get("TALLY_COMMAND", str(ROOT / "build" / "tally"))
FOUND = {
    1: "a wrong result, with threads in the order",
    2: "divergent barrier",
    3: "a wrong result",
    4: "TOO MANY   bank conflicts",
    5: "TOO MANY   divergent branches",
    6: "TOO MANY   transactions",
    7: "NOT RIGHT  compose",
    8: "a wrong result",
    9: "a wrong result, with threads in the order",
    10: "TOO MANY   barriers",
}
if shutil.which("cc") is None:
    pytest.skip("no C compiler", allow_module_level=True)


def grade(path, temporary=None):
    """temporary: a folder for the compiler that no other run uses."""
    command = [TALLY, "race", "--device", "simt", "--n", "600", "--mine", path]
    environment = os.environ | ({"TMPDIR": str(temporary)} if temporary else {})
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_list():
    listed = subprocess.run([TALLY, "race", "--fix", "0"], capture_output=True, text=True, check=True).stdout
    assert [int(line.split()[0]) for line in listed.splitlines()] == sorted(FOUND)


@pytest.mark.parametrize("number", FOUND)
def test_exercise(number, tmp_path):
    mine = tmp_path / "mine.h"
    subprocess.run([TALLY, "race", "--fix", str(number), "-o", mine], check=True)
    done = grade(mine)
    assert done.returncode == 1 and FOUND[number] in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("number", FOUND)
def test_solution(number):
    done = grade(ROOT / "gallery" / "exercises" / "solutions" / f"{number:02}.h")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^ *(\d+) (\w+) +right +\d+ +\d+ +[\d.]+% +(\d+) +(\d+)$", done.stdout, re.M)
    counts = {name: (int(conflicts), int(transactions)) for _, name, conflicts, transactions in rows}
    mine = counts["mine"]
    del counts["plain_read"], counts["merge_lists"]
    for column, what in enumerate(("bank conflicts", "transactions")):
        place = 1 + sum(one[column] < mine[column] for one in counts.values())
        assert f"mine: place {place} of {len(counts)} by {what}\n" in done.stdout


def test_refusals(tmp_path):
    mine, temporary = tmp_path / "mine.h", tmp_path / "temporary"
    temporary.mkdir()
    for text, why in (
        ("", "the first line of the kernel must say"),
        ("/* mine: sometimes, 256 threads, 512 each, 512 shared */\n", "not by sometimes"),
        ("/* mine: passes, 255 threads, 512 each, 512 shared */\n", "a power of two, not 255"),
        ("/* mine: passes, 256 threads, 0 each, 512 shared */\n", "not 0 and 512"),
        ("/* mine: passes, 256 threads, 512 each, 512 shared */\nTALLY_KERNEL_OF(mine) {", "does not compile"),
    ):
        mine.write_text(text)
        done = grade(mine, temporary)
        assert done.returncode == 1 and why in done.stderr, done.stderr
    assert "cannot be opened" in grade(tmp_path / "absent.h", temporary).stderr
    assert list(temporary.iterdir()) == []  # what is compiled is removed
