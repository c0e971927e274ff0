#!/usr/bin/env python3
"""docs/results.md, docs/speed.svg and the table of speed in README.md, from the runs in docs/measurements.

    bench/results.py            writes them
    bench/results.py --check    says which of them differ from what it would write (a test does that)

A new run replaces the older one of its machine and subject: change its name in RUNS (bench/results_runs.py).
"""

import json
import re
import statistics
import sys
import textwrap

import goals
import report
import results_chart
from results_cpu import CASE_TITLES, PEERS, cpu_cache, cpu_exact, cpu_segments, cpu_whole
from results_gpu import DISTRIBUTIONS, compiling, faster, gpu_exact, gpu_rows, gpu_segment_rows, gpu_segments, gpu_sizes
from results_gpu import gpu_whole
from results_runs import OUTLIER, ROOT, beside, load, matrix_of, number, path, shares, source, table


# ---- the subjects of both ----


def matrix(subject):
    records, about = matrix_of(subject)
    groups = {}
    for r in records:
        groups.setdefault((r["op"], r["accuracy"]), []).append(r)
    rows = []
    for (op, kind), some in sorted(groups.items(), key=lambda one: (one[0][1] != "exact", one[0][1], one[0][0])):
        ordinary = [r["share"] for r in some if r["data"] not in goals.HARD]
        hard = [r["share"] for r in some if r["data"] in goals.HARD]
        worst = min(some, key=lambda r: r["share"])
        rows.append(
            [
                op + ("" if kind == "only" else f" {kind}"),
                len(some),
                number(statistics.median(ordinary)) if ordinary else "",
                number(min(ordinary)) if ordinary else "",
                number(min(hard)) if hard else "",
                sum(r["share"] < goals.goal(r) for r in some),
                f"{worst['type']}, {worst['segmentation']}, {worst['data']}",
            ]
        )
    below = sum(r["share"] < goals.goal(r) for r in records)
    head = ["", "cells", "median", "worst, ordinary data", "worst, hard data", "below the goal", "the worst cell"]
    text = (
        f"{len(records)} of {about['cells']} cells. {goals.SENTENCE} Below its goal: {below} of {len(records)}."
    )
    heat = beside(subject, ".svg")
    return [
        table(head, rows),
        text,
        f"![heat map](measurements/{heat})",
        source(subject, about["name"], about["date"], "", about["command"]),
    ]


def accuracy():
    return [*cpu_exact(), *gpu_exact()]


def gallery():
    """From the text that `tally race` printed: the share of the plain read of each kernel."""
    titles, by = [], {}
    about = json.loads(path("gallery").with_suffix(".json").read_text())
    for title, body in re.findall(r"^## (.*?)\n.*?^```\n(.*?)^```", path("gallery").read_text(), re.M | re.S):
        found = re.findall(r"^ +\d* +(\w+) +right +[\d.]+ +[\d.]+ +([\d.]+) ", body, re.M)
        if found:
            titles.append(title)
            for kernel, share in found:
                by.setdefault(kernel, {})[title] = float(share)
    rows = [[kernel, *(number(of.get(title)) for title in titles)] for kernel, of in by.items()]
    return [
        table(["kernel", *titles], rows),
        source("gallery", about["device"], about["date"], about["commit"], "tests/gpu.sh gallery"),
    ]


SUBJECTS = [  # title, sentence, what makes the paragraphs
    ("CPU: whole arrays", "Arrays of 512 MiB, from memory.", cpu_whole),
    (
        "CPU: segments",
        "256 MiB of values. Offsets are i32 for f32, i64 for f64 and var. Shares of a plain pass over as many bytes.",
        cpu_segments,
    ),
    ("CPU: arrays in cache", "The time of a call.", cpu_cache),
    (
        "CPU: the matrix",
        "A random sample of all operators, types, segmentations and data. The goals are those of the GPU's matrix; the "
        "CPU's has none of its own.",
        lambda: matrix("cpu matrix"),
    ),
    ("GPU: whole arrays", "", gpu_whole),
    ("GPU: small and large arrays", "The time of a call, on a stream or in a CUDA graph.", gpu_sizes),
    (
        "GPU: segments",
        "Shares of a plain pass that reads and writes as many bytes. ReduceByKey reads ids; its share is of the pass "
        "with offsets. `affine` is a caller's own operator, which does not commute.",
        gpu_segments,
    ),
    (
        "GPU: rows",
        "Shares of the plain read: Tally, and PyTorch where it was measured. `rows of 64` lie side by side, `first x "
        "64` are 64 results along the first axis, `middle 400, x 400` are arrays of 400 x 400 along the middle axis.",
        gpu_rows,
    ),
    ("GPU: the matrix", "A random sample, as above.", lambda: matrix("gpu matrix")),
    (
        "Accuracy",
        "An exact sum is the true sum, rounded once; tests hold it to GMP and MPFR ([exact.md](exact.md)). What is "
        "measured here is its price, by class of data. `bits`, `any bits` and `200 binades` are the hard ones.",
        accuracy,
    ),
    (
        "Compile times",
        "The first call on a GPU, with no kernel in the cache. mean shares the kernel of sum, which is there by then.",
        compiling,
    ),
    ("Gallery", "The textbook's kernels beside Tally's: share of the plain read.", gallery),
]


def page():
    text = [
        "# Results",
        "<!-- Made by bench/results.py from docs/measurements. Do not edit: run it. -->",
        "Every number here comes from a file in [measurements](measurements/README.md), which also says how it was "
        "measured. "
        "A number without a unit is a share: the speed as a fraction of the *plain read*, the fastest kernel that "
        "only loads the same bytes, in the same run. "
        "*Tally* is the default, exact for sums of floats; *fast* is `TALLY_FAST`, which rounds each addition, in "
        "canonical order. "
        "A blank means that it was not measured or does not exist.",
        f"(†): in this row the plain read was more than {OUTLIER} times as fast as its median in the run. The host "
        "is shared, and such a plain read makes every share beside it too small. Such rows are not compared with the "
        "goal.",
        "Builds, mutation tests and what was tried and not kept are records of their own: "
        "[build](measurements/build-2026-11-22.md), "
        "[mutations](measurements/mutations-2026-11-27.md), [notes on the H200](measurements/gpu-notes.md), "
        "[what bounds the cells of the GPU](measurements/gpu-bounds-2026-11-29.md), "
        "[the paper of 2012](measurements/gallery-paper.md), "
        "[a Xeon with 16 threads](measurements/cpu-2026-11-21-intel-r-xeon-r-processor-16-threads.md).",
    ]
    for title, sentence, make in SUBJECTS:
        text += [f"## {title}", *([sentence] if sentence else []), *make()]
    return "\n\n".join(text) + "\n"


# ---- the README's table and chart ----


def front():
    """[(name, Tally, Tally fast, {peer: share})] of the README."""
    whole = {(labels["op"], labels["type"]): of for labels, of, _ in shares(load("cpu")["records"], "whole")}
    segments = {
        (labels["op"], labels["type"], labels["case"], labels["form"]): of
        for labels, of, _ in shares(load("cpu segments")["records"], "segments")
    }
    rows = []
    add = lambda name, of, peers: rows.append(
        (name, of.get("tally"), of.get("tally fast"), {p: of[p] for p in peers if p in of})
    )
    for op in ("sum", "var", "stats"):
        add(f"CPU, {op} f32, 512 MiB", whole[op, "f32"], PEERS)
    for case in ("3", "10..50"):
        add(
            f"CPU, sum f32, segments of {CASE_TITLES[case]}".replace(" values", "").replace(" each", ""),
            segments["sum", "f32", case, "offsets i32"],
            PEERS,
        )
    gpu = {}
    for r in load("gpu")["records"]:
        if r["section"] == "whole":
            faster(gpu.setdefault((r["op"], r["type"]), {}), r)
    for op in ("sum", "var"):
        add(f"GPU, {op} f32, 1 GiB", gpu[op, "f32"], ("cub", "torch"))
    by = gpu_segment_rows()
    for name, case in (("3", "=3"), ("10 to 50", "10 to 50"), ("a power law", "power")):
        get = lambda who, form="offsets i32": by[who, "sum", "f32", form][case]
        peers = {
            "CUB DeviceSegmentedReduce": get("CUB DeviceSegmentedReduce"),
            "CUB ReduceByKey": get("CUB ReduceByKey", "segment ids i32"),
        }
        rows.append((f"GPU, sum f32, segments of {name}", get("tally exact"), get("tally"), peers))
    return rows


def front_table():
    names = {**report.TITLES, "cub": "CUB", "torch": "PyTorch"}
    rows = []
    for name, exact, fast, peers in front():
        best = max(peers, key=peers.get)
        rows.append([name, number(exact), number(fast), f"{number(peers[best])} {names.get(best, best)}"])
    return table(["share of the plain read", "Tally", "Tally fast", "best peer"], rows)


def front_text():
    records, about = matrix_of("gpu matrix")
    wanted = [goals.goal(r) for r in records]
    below = sum(r["share"] < goal for r, goal in zip(records, wanted))
    worst = min(records, key=lambda r: r["share"])
    choice = "" if worst["accuracy"] == "only" else worst["accuracy"] + " "
    words = (
        "CPU: two threads of an AMD EPYC. GPU: an NVIDIA H200. The goals are 0.95 to 0.97 for whole arrays and 0.80 to "
        "0.90 for segments. They are not all reached. Of all operators, types, segmentations and data, "
        f"{len(records)} cells were measured on an {about['name'].split(',')[0]}, and {below} are below their goals, "
        f"{min(wanted)} to {max(wanted)}; the worst, {number(worst['share'])} of the plain read, is "
        f"{choice}{worst['op']} of {worst['type']}, `{worst['segmentation']}`, `{worst['data']}`. [All results, where "
        "the goals are missed, and the commands](docs/results.md)."
    )
    return f"{front_table()}\n\n{textwrap.fill(words, 120, break_on_hyphens=False)}"


# ---- all of it ----

MARKS = "<!-- speed: made by bench/results.py -->\n", "\n<!-- /speed -->"


def made():
    """{file: what it should have}."""
    readme = ROOT / "README.md"
    text = readme.read_text()
    before, rest = text.split(MARKS[0])
    _, after = rest.split(MARKS[1])
    return {
        ROOT / "docs" / "results.md": page(),
        ROOT / "docs" / "speed.svg": results_chart.draw(gpu_segment_rows(), DISTRIBUTIONS),
        readme: before + MARKS[0] + front_text() + MARKS[1] + after,
    }


def main():
    stale = [file for file, text in made().items() if not file.exists() or file.read_text() != text]
    if "--check" in sys.argv[1:]:
        for file in stale:
            print(f"{file.relative_to(ROOT)} is not what docs/measurements says: run bench/results.py", file=sys.stderr)
        return 1 if stale else 0
    for file, text in made().items():
        file.write_text(text)
        print(f"wrote {file.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
