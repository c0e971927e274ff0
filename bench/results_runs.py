"""What the results are made of: the current runs in docs/measurements, and the words and tables of bench/results.py."""

import csv
import functools
import gzip
import json
import pathlib
import re
import statistics

import report

ROOT = pathlib.Path(__file__).resolve().parents[1]
RUNS = {  # the current run of each subject, in docs/measurements
    "cpu": "cpu-2026-11-22-amd-epyc-2-threads-whole.json",
    "cpu segments": "cpu-2026-11-22-amd-epyc-2-threads-segments-parts.json",
    "cpu exact": "cpu-2026-11-22-amd-epyc-2-threads-exact-parts.json",
    "cpu matrix": "matrix-cpu-intel-r-xeon-r-processor-2-threads.tsv.gz",
    "gpu": "gpu-2026-11-27-nvidia-h200.json",
    "gpu segments": "gpu-2026-11-27-nvidia-h200-segments.jsonl",
    "gpu matrix": "matrix-gpu-nvidia-h200.tsv.gz",
    "gallery": "gallery.md",
}
OUTLIER = 1.3  # a plain read this much faster than the run's median: the row is not compared


# ---- reading ----


def path(subject):
    return ROOT / "docs" / "measurements" / RUNS[subject]


def beside(subject, ending):
    """The name of the file of that ending beside the run's."""
    return RUNS[subject].removesuffix(".gz").rsplit(".", 1)[0] + ending


def load(subject):
    return json.loads(path(subject).read_text())


def lines(subject):
    return [json.loads(line) for line in path(subject).read_text().splitlines()]


@functools.cache
def matrix_of(subject):
    """A matrix: its records, and what its last line says of the run."""
    with gzip.open(path(subject), "rt") as file:
        text = file.read().splitlines()
    records = csv.DictReader((line for line in text if not line.startswith("#")), delimiter="\t")
    about = json.loads(text[-1][1:])
    numbers = {"share": float, "values": int, "segments": int}
    return [{**record, **{name: of(record[name]) for name, of in numbers.items()}} for record in records], about


def shares(records, section):
    """[(labels, {contender: share of the plain read}, whether the plain read is an outlier)] of one section."""
    found = [(labels, best) for labels, best in report.cases_of(records) if labels["section"] == section]
    typical = statistics.median(best["plain"]["gb_per_s"] for _, best in found if "plain" in best)
    return [
        (
            labels,
            {who: record["of_plain"] for who, record in best.items()},
            best["plain"]["gb_per_s"] > OUTLIER * typical,
        )
        for labels, best in found
        if "plain" in best
    ]


# ---- writing ----


def number(share):
    if share is None:
        return ""
    if share < 0.0005:
        return "< 0.001"
    return f"{share:.2f}" if share >= 0.095 else f"{share:.3f}"


def table(head, rows):
    text = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    return "\n".join(text + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def source(subject, machine, date, commit, command):
    page = beside(subject, ".md")
    commit = f", commit {commit}" if commit else ""
    command = re.sub(r"/usr/bin/python3 |/work/\w+/", "", command)
    return f"{machine}, {date[:10]}{commit}. [The run](measurements/{page}). Command: `{command}`."


def date_of(subject):
    return re.search(r"\d{4}-\d\d-\d\d", RUNS[subject]).group()


def missed(goal, found):
    """A sentence: which of [(name, share)] are below the goal."""
    below = [f"{name} {number(share)}" for name, share in sorted(found, key=lambda one: one[1]) if share < goal]
    if not below:
        return f"Goal: {goal:.2f}. All {len(found)} reach it."
    rest = f"; and {len(below) - 12} others" if len(below) > 12 else ""
    return f"Goal: {goal:.2f}. Missed by {len(below)} of {len(found)}: {'; '.join(below[:12])}{rest}."
