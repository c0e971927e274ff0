"""bench/results.py on small inputs. That docs/results.md is what it makes is in test_readme.py."""

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import goals  # noqa: E402
import results_runs as runs  # noqa: E402


def test_number():
    assert [runs.number(x) for x in (None, 1.004, 0.96, 0.0123, 0.0001)] == ["", "1.00", "0.96", "0.012", "< 0.001"]


def test_missed():
    assert runs.missed(0.9, [("a", 0.95), ("b", 0.9)]) == "Goal: 0.90. All 2 reach it."
    assert runs.missed(0.9, [("a", 0.5), ("b", 0.4), ("c", 1)]) == "Goal: 0.90. Missed by 2 of 3: b 0.40; a 0.50."
    assert "and 3 others." in runs.missed(0.9, [(str(k), 0.1) for k in range(15)])


@pytest.mark.parametrize(
    "op, kind, accuracy, segmentation, data, segments, share",
    [
        ("sum", "f32", "exact", "rows of 1000", "normal", 1000, 0.85),
        ("sum", "f32", "exact", "first x 1000", "normal", 1000, 0.6),
        ("mean", "f64", "exact", "lognormal", "cents", 100, 0.6),
        ("sum", "bf16", "exact", "whole", "normal", 1, 0.45),
        ("var", "f32", "exact", "each 8", "normal", 125000, 0.4),
        ("var", "f32", "exact", "each 6", "normal", 166666, 0.25),
        ("stats", "f16", "exact", "one", "wide", 1, 0.04),
        ("max", "u8", "only", "first x 10", "normal", 10, 0.425),
        ("sum", "i32", "only", "3 x rest, first", "normal", 333333, 0.65),
        ("argmin", "f32", "only", "whole", "wide", 1, 0.55),
        ("var", "f16", "fast", "whole", "wide", 1, 0.125),
    ],
)
def test_goals(op, kind, accuracy, segmentation, data, segments, share):
    record = {"op": op, "type": kind, "accuracy": accuracy, "segmentation": segmentation, "data": data}
    assert goals.goal({**record, "values": 10**6, "segments": segments}) == share


def test_outliers_of_the_plain_read():
    """A row whose plain read is far above the median is marked."""
    one = lambda op, who, speed, share: {"section": "whole", "op": op, "type": "f32", "contender": who, "bytes": 1,
                                         "gb_per_s": speed, "of_plain": share}  # fmt: skip
    records = []
    for op, speed in (("a", 36), ("b", 35), ("c", 60)):
        records += [one(op, "plain", speed, 1), one(op, "tally", 30, 0.9)]
    assert [(labels["op"], outlier) for labels, _, outlier in runs.shares(records, "whole")] == [
        ("a", False), ("b", False), ("c", True)]  # fmt: skip


@pytest.mark.parametrize("subject", runs.RUNS)
def test_runs_are_there(subject):
    assert runs.path(subject).exists()


def test_no_other_runs():
    """A run that a newer one replaced is deleted: history is git's."""
    kept = {Path(name).stem for name in runs.RUNS.values()}
    others = {"cpu-2026-11-21-intel-r-xeon-r-processor-16-threads", "gpu-2026-11-23-nvidia-h200-segments-by-length"}
    files = (ROOT / "docs" / "measurements").iterdir()
    found = {file.stem for file in files if file.suffix in (".json", ".jsonl", ".tsv")}
    assert found - others <= kept


def test_hard_data_and_types_are_those_of_the_matrix():
    text = (ROOT / "bench" / "cells" / "axes.py").read_text()
    rows = re.findall(r'^    "([^"]+)": \(\d, (?:True|False), (True|False)\),$', text, re.M)
    assert {name for name, hard in rows if hard == "True"} == goals.HARD
    types = re.search(r"^TYPES = \{(.*)\}", text, re.M)[1]
    assert set(re.findall(r'"(\w+)"', types)) == set(goals.BYTES)


def test_a_number_of_the_page():
    """One number, from the file to the page, by hand."""
    records = json.loads(runs.path("gpu").read_text())["records"]
    share = next(r["of_plain"] for r in records
                 if (r["section"], r["op"], r["type"], r["contender"]) == ("whole", "var", "f64", "tally"))  # fmt: skip
    section = (ROOT / "docs" / "results.md").read_text().split("## GPU: whole arrays")[1]
    assert f"| var f64 | {share:.2f} |" in section
