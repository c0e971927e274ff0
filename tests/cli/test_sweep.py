"""tally race --sweep on the simulator: each number is that of a race with the parameter; the chart has each line."""

import json
import os
import pathlib
import subprocess

import pytest

TALLY = os.environ.get("TALLY_COMMAND", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "tally"))
COUNTS = {"transactions of 128 bytes": "transactions", "bank conflicts": "bank_conflicts",
          "divergent branches of warps": "divergent"}  # fmt: skip


def race(*arguments):
    command = [TALLY, "race", "--device", "simt", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def read(printed):
    """metric -> value -> kernel -> number, without the values that a kernel cannot have."""
    tables = {}
    for part in printed.split("\n\n")[1:]:
        head, *lines = part.splitlines()
        table = tables[head[:28].strip()] = {int(value): {} for value in head[28:].split() if value.isdigit()}
        for line in lines:
            for value, number in zip(table, line[28:].split(), strict=True):
                if number != "-":
                    table[value][line[:28].strip()] = float(number)
    return tables


@pytest.mark.parametrize(
    "parameter, values, kernel, where",
    [
        ("block", [256], "two_loads", ()),
        ("block", [64], "segmented_tb2", ("--segments", "three")),
        ("blocks", [2], "persistent_matrix", ("--n", "1100")),
        ("blocks", [1], "segmented_diffwarps", ("--segments", "random")),
        ("each", [16], "vector_loads", ()),
        ("width", [16], "diffwarps", ()),
        ("height", [64], "segmented_persistent_matrix", ("--segments", "random", "--n", "2100")),
        ("lists", [8, 128], "merge_lists", ("--n", "130")),
    ],
)
def test_as_raced(parameter, values, kernel, where):
    where = where if "--n" in where else ("--n", "600", *where)
    swept = race("--sweep", parameter, *where)
    assert swept.returncode == 0, swept.stderr
    tables = read(swept.stdout)
    for value in values:
        raced = json.loads(race(f"--{parameter}", str(value), "--json", *where).stdout)
        counts = next(k for k in raced["kernels"] if k["kernel"] == kernel)
        assert {m: tables[m][value][kernel] for m in COUNTS} == {m: counts[name] for m, name in COUNTS.items()}


def test_what_a_kernel_cannot_have():
    """two_loads has blocks of 256 threads at most; last_block of 1024; a tree has a barrier for each level. Two
    matrices with their segment ids fill shared memory before one does."""
    barriers = read(race("--sweep", "block", "--n", "600").stdout)["barriers of a block"]
    assert list(barriers) == [32, 64, 128, 256, 512, 1024]
    assert [v for v in barriers if "two_loads" in barriers[v]] == [32, 64, 128, 256]
    assert [barriers[v]["tb2"] for v in (32, 64, 128, 256)] == [6, 7, 8, 9]
    barriers = read(race("--sweep", "height", "--segments", "one", "--n", "8000").stdout)["barriers of a block"]
    assert [v for v in barriers if "segmented_diffwarps" in barriers[v]] == [32, 64]
    assert [barriers[v]["segmented_persistent_matrix"] for v in (32, 64, 128)] == [4, 2, 2]


def test_chart(tmp_path):
    assert race("--sweep", "blocks", "--n", "1100", "--chart", str(tmp_path / "c.svg")).returncode == 0
    drawn = (tmp_path / "c.svg").read_text()
    assert drawn.count("<polyline") == 4 * 6 and drawn.count(">diffwarps<") == 4 and "nan" not in drawn


@pytest.mark.parametrize(
    "arguments, status, why",
    [
        (("--sweep", "threads"), 2, "--sweep takes block, each, width, height, blocks or lists, not 'threads'"),
        (("--sweep", "block", "--block", "64"), 2, "race --sweep takes no --block"),
        (("--sweep", "height", "--width", "64"), 2, "race --sweep takes no --width"),
        (("--width", "48"), 2, "--width takes a power of two, not 48"),
        (("--height", "16"), 2, "--height takes an integer from 32 to 128, not '16'"),
        (("--sweep", "block", "--json"), 2, "race --sweep takes no --json"),
        (("--sweep", "lists", "--segments", "one"), 2, "takes no --segments"),
        (("--sweep", "block", "--segments", "four"), 2, "--segments takes one, random, three or single"),
        (("--sweep", "block", "--chart", "-"), 2, "standard output has the table"),
        (("--sweep", "lists", "--op", "sum"), 1, "no kernel can have that parameter"),
        (("--sweep", "block", "--op", "summ"), 2, "there is no operator summ"),
        (("--sweep", "lists", "--n", "9", "--chart", "/nonexistent/c.svg"), 1, "/nonexistent/c.svg"),
    ],
)
def test_refused(arguments, status, why):
    done = race(*arguments)
    assert (done.returncode, why in done.stderr) == (status, True), done.stderr
