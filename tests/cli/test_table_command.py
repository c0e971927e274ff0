"""Tables against a slow and obvious reader: Python's csv module and fractions. Random tables with all that RFC 4180
allows, groups small and large, files and pipes, one thread and several."""

import csv
import io
import math
import os
import pathlib
import random
import subprocess
from fractions import Fraction

import pytest

TALLY = os.environ.get("TALLY_COMMAND", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "tally"))
OPERATORS = ["sum", "mean", "min", "max", "count", "argmax", "minmax", "sumsq"]
MISSING = ["", "NA", "n/a", "NULL", " ", "-", "<na>", "None", "."]


def tally(directory, *arguments, data=None):
    done = subprocess.run([TALLY, *arguments], cwd=directory, capture_output=True, input=data, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


# ---- the oracle ----


def read_number(text):
    """An int, a float, or None for a missing value."""
    text = text.strip(" \t")
    if text.lower() in ("", "na", "n/a", "#n/a", "<na>", "null", "none", "-", "."):
        return None
    try:
        return int(text) if text.lstrip("+") != "-0" else -0.0
    except ValueError:
        return float(text)


def is_float(numbers):
    """The rule of types: a float among them, or integers that no 64-bit type holds."""
    return any(isinstance(x, float) for x in numbers)


def result(op, numbers):
    """What a command prints for the numbers, as ints and floats; None: blank."""
    if is_float(numbers):
        numbers = [float(x) for x in numbers]
    exact = [Fraction(x) for x in numbers]
    if op in ("sum", "sumsq"):
        total = sum((x * x if op == "sumsq" else x for x in exact), Fraction(0))
        return [float(total) if is_float(numbers) else int(total)]
    if op == "count":
        return [sum(x != 0 for x in numbers)]
    if not numbers:
        return [None] * (2 if op == "minmax" else 1)
    if op == "mean":
        return [float(sum(exact, Fraction(0)) / len(exact))]
    return {
        "min": [min(numbers)],
        "max": [max(numbers)],
        "minmax": [min(numbers), max(numbers)],
        "argmax": [numbers.index(max(numbers))],
    }[op]


def reduce_table(rows, wanted, keys):
    groups = {} if keys else {(): []}
    for row in rows:
        groups.setdefault(tuple(row[k] for k in keys), []).append(row)
    for key, members in groups.items():
        line = list(key)
        for op, column in wanted:
            numbers = [read_number(row[column]) for row in members]
            line += result(op, [x for x in numbers if x is not None])
        yield line


# ---- tables ----


def some_number(random_, kind):
    if kind == "int":
        return str(random_.randrange(-1000, 1000))
    if kind == "wide":
        return str(random_.choice([1, 2**53 + 1, 2**62, random_.randrange(0, 2**60)]))
    if kind == "large":
        return str(random_.choice([2**63 + 5, 7, 0]))
    if kind == "late":  # a fraction now and then
        return str(random_.randrange(2**40, 2**41)) if random_.random() < 0.999 else "0.5"
    return repr(random_.choice([-1, 1]) * random_.random() * 10.0 ** random_.randrange(-20, 20))


def some_key(random_, count):
    return random_.choice(["k", "Å", 'a"b', "x,y", "two\nlines", "", " s "]) + str(random_.randrange(count))


def write_field(random_, text, separator):
    must = any(c in text for c in f'"{separator}\n\r')
    if separator == ",":
        if must or random_.random() < 0.1:
            return '"' + text.replace('"', '""') + '"'
    return text


def make_table(seed, rows, groups, tabs):
    random_ = random.Random(seed)
    separator = "\t" if tabs else ","
    end = random_.choice(["\n", "\r\n"])
    kinds = ["int", "wide", "large", "late", "float"]
    titles = ["g", "h", *kinds]
    table = []
    for _ in range(rows):
        row = [some_key(random_, groups), random_.choice("abc")]
        if tabs:
            row[0] = row[0].replace("\n", " ")
        row += [
            random_.choice(MISSING) if random_.random() < 0.02 else some_number(random_, kind) for kind in kinds
        ]
        table.append(row)
    lines = [separator.join(write_field(random_, text, separator) for text in row) for row in [titles, *table]]
    text = end.join(lines) + (end if random_.random() < 0.5 else "")
    bom = b"\xef\xbb\xbf" if random_.random() < 0.3 else b""
    return table, bom + text.encode()


def same(printed, wanted):
    if wanted is None or isinstance(wanted, str):
        return printed == (wanted or "")
    if isinstance(wanted, int):
        return printed == str(wanted)
    return float(printed) == wanted and math.copysign(1, float(printed)) == math.copysign(1, wanted)


def check(status, out, err, expected):
    read = list(csv.reader(io.StringIO(out, newline="")))[1:]
    blank = any(cell is None for row in expected for cell in row)
    assert status == (1 if blank else 0), err
    assert len(read) == len(expected)
    for got, wanted in zip(read, expected):
        assert len(got) == len(wanted)
        assert all(same(*pair) for pair in zip(got, wanted)), (got, wanted)


@pytest.mark.parametrize("keys", [[], [0], [1, 0]], ids=str)
@pytest.mark.parametrize("rows, groups", [(0, 1), (1, 1), (3, 2), (500, 7), (5000, 1), (20000, 3)])
def test_random(tmp_path, rows, groups, keys):
    for seed in range(2):
        tabs = seed == 1
        table, data = make_table(f"{rows} {groups} {seed}", rows, groups, tabs)
        (tmp_path / "in").write_bytes(data)
        random_ = random.Random(seed)
        columns = ["int", "wide", "large", "late", "float"]
        wanted = [(op, random_.randrange(5)) for op in random_.sample(OPERATORS, 5)]
        if "minmax" in dict(wanted):
            wanted = [pair for pair in wanted if pair[0] not in ("min", "max")]
        beyond = {("sumsq", 1), ("sumsq", 2), ("sumsq", 3), ("sum", 2)}  # 64 bits do not hold these
        wanted = [pair for pair in wanted if pair not in beyond]
        words = [word for op, k in wanted for word in (op, columns[k])]
        words += ["--by", ",".join("gh"[k] for k in keys)] if keys else []
        words += ["--tsv" if tabs else "--csv", "--na", "skip", "--to", "csv"]
        if not wanted:
            continue
        expected = list(reduce_table(table, [(op, k + 2) for op, k in wanted], keys))
        check(*tally(tmp_path, *words, "in"), expected)
        for threads in "1", "3":
            check(*tally(tmp_path, *words, "-", "--threads", threads, data=data), expected)


def test_sorted(tmp_path):
    """--sorted gives what the table of groups gives, for keys in any of the orders, across blocks and files."""
    random_ = random.Random(5)
    rows = [(k, random_.randrange(100)) for k in range(60) for _ in range(random_.choice([1, 5, 9000]))]
    for make in (str, lambda k: f"{k:04}", lambda k: f"{k}.5"):
        for step in 1, -1:
            if make is str or step == 1:
                halves = rows[::step][:70000], rows[::step][70000:]
                for name, half in zip(("a.csv", "b.csv"), halves):
                    (tmp_path / name).write_text("k,v\n" + "".join(f"{make(k)},{v}\n" for k, v in half))
                words = ["sum", "v", "mean", "v", "--by", "k", "a.csv", "b.csv"]
                plain = tally(tmp_path, *words)
                assert plain[0] == 0
                assert plain == tally(tmp_path, *words, "--sorted")
                assert plain == tally(tmp_path, *words, "--sorted", "--threads", "3")


def test_unsorted(tmp_path):
    """A key that comes back is found wherever it does."""
    for far in 1, 10, 200000:
        lines = ["k,v", "b,1"] + ["c,1"] * far + ["b,2"]
        (tmp_path / "t.csv").write_text("\n".join(lines))
        status, out, err = tally(tmp_path, "sum", "v", "--by", "k", "t.csv", "--sorted")
        assert status == 1
        assert f"line {far + 3}: b " in err


@pytest.mark.parametrize("threads", ["1", "4"])
def test_first_line(tmp_path, threads):
    """The first line that is wrong is named, whatever comes behind it, with lines in quotes counted."""
    good = ['1,"a\nb"'] * 60000
    for at in 0, 1, 30000, 59999:
        for bad in ("x,1", "1", '"1', '1,"a"b', '1,a"b', ",1"):
            lines = list(good)
            lines[at] = bad
            for later in range(at + 1, len(lines), 7000):
                lines[later] = "y,z"
            (tmp_path / "t.csv").write_text("n,t\n" + "\n".join(lines) + "\n")
            status, _, err = tally(tmp_path, "sum", "n", "t.csv", "--threads", threads)
            assert status == 1
            assert err.count("\n") == 1
            assert f"line {2 * at + 2}: " in err, (bad, err)
