#!/usr/bin/env python3
"""docs/results.md, docs/speed.svg and the table of speed in README.md, from the runs in docs/measurements.

    bench/results.py            writes them
    bench/results.py --check    says which of them differ from what it would write (a test does that)

A new run replaces the older one of its machine and subject: change its name in RUNS.
"""

import csv
import gzip
import json
import pathlib
import re
import statistics
import sys
import textwrap

import report
import results_chart

ROOT = pathlib.Path(__file__).resolve().parents[1]
RUNS = {  # the current run of each subject, in docs/measurements
    "cpu": "cpu-2026-11-22-amd-epyc-2-threads-whole.json",
    "cpu segments": "cpu-2026-11-22-amd-epyc-2-threads-segments-parts.json",
    "cpu exact": "cpu-2026-11-22-amd-epyc-2-threads-exact-parts.json",
    "cpu matrix": "matrix-cpu-intel-r-xeon-r-processor-2-threads.tsv.gz",
    "gpu": "gpu-2026-11-22-nvidia-h200.json",
    "gpu segments": "gpu-2026-11-23-segments-owners.jsonl",
    "gpu rows": "gpu-2026-11-22-rows.jsonl",
    "gpu matrix": "matrix-gpu-nvidia-h100-80gb-hbm3.tsv.gz",
    "gallery": "gallery.md",
}
HARD = {"wide", "any bits", "subnormal"}  # as in bench/cells/axes.py
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
    text = path(subject).read_text().replace("owners", "segment ids")  # as runs before the word changed say
    return [json.loads(line) for line in text.splitlines()]


def matrix_of(subject):
    """A matrix: its records, and what its last line says of the run."""
    with gzip.open(path(subject), "rt") as file:
        text = file.read().splitlines()
    records = csv.DictReader((line for line in text if not line.startswith("#")), delimiter="\t")
    about = json.loads(text[-1][1:])
    named = lambda record: record.get("segmentation") or record["cut"]  # as runs before the word changed say
    return [{**record, "segmentation": named(record), "share": float(record["share"])} for record in records], about


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


def source_cpu(subject):
    about = load(subject)["about"]
    machine = f"{about['machine']['cpu']}, {about['threads']['tally']} threads, {about['versions']['tally_isa']}"
    return source(subject, machine, about["date"], about["versions"]["commit"], about["command"])


def missed(goal, found):
    """A sentence: which of [(name, share)] are below the goal."""
    below = [f"{name} {number(share)}" for name, share in sorted(found, key=lambda one: one[1]) if share < goal]
    if not below:
        return f"Goal: {goal:.2f}. All {len(found)} reach it."
    rest = f"; and {len(below) - 12} others" if len(below) > 12 else ""
    return f"Goal: {goal:.2f}. Missed by {len(below)} of {len(found)}: {'; '.join(below[:12])}{rest}."


# ---- the subjects ----

PEERS = ("numpy", "openblas", "openmp", "std")


def cpu_whole():
    rows, found = [], []
    for labels, of, outlier in shares(load("cpu")["records"], "whole"):
        name = f"{labels['op']} {labels['type']}"
        rows.append(
            [name + (" (†)" if outlier else ""), *(number(of.get(who)) for who in ("tally", "tally fast", *PEERS))]
        )
        if not outlier:
            found.append((name, of["tally"]))
    head = ["", "Tally", "Tally fast", *(report.TITLES[who] for who in PEERS)]
    return [table(head, rows), missed(0.95, found), source_cpu("cpu")]


CASES = ["one", "3", "10..50", "power 1.1", "huge + 10..50", "80% empty", "300", "4096"]
CASE_TITLES = {
    "one": "one segment",
    "3": "3 values each",
    "10..50": "10 to 50 values",
    "power 1.1": "power law",
    "huge + 10..50": "half in one, then 10 to 50",
    "300": "300 values each",
    "4096": "4096 values each",
}


def cpu_segments():
    of = {
        (labels["op"], labels["type"], labels["case"], labels["cut"]): (by, outlier)
        for labels, by, outlier in shares(load("cpu segments")["records"], "segments")
    }
    columns = [
        ("sum f32", ("sum", "f32", "offsets i32"), "tally"),
        ("fast", ("sum", "f32", "offsets i32"), "tally fast"),
        ("NumPy", ("sum", "f32", "offsets i32"), "numpy"),
        ("OpenMP", ("sum", "f32", "offsets i32"), "openmp"),
        ("by lengths", ("sum", "f32", "lengths i32"), "tally"),
        ("by ids", ("sum", "f32", "segment ids i32"), "tally"),
        ("sum f64", ("sum", "f64", "offsets i64"), "tally"),
        ("fast", ("sum", "f64", "offsets i64"), "tally fast"),
        ("var f32", ("var", "f32", "offsets i64"), "tally"),
        ("var f64", ("var", "f64", "offsets i64"), "tally"),
    ]
    rows, found = [], []
    for case in CASES:
        row = [CASE_TITLES.get(case, case)]
        for title, (op, type, cut), who in columns:
            by, outlier = of.get((op, type, case, cut), ({}, False))
            row.append(number(by.get(who)) + (" (†)" if outlier and who in by else ""))
            if who in ("tally", "tally fast") and who in by and not outlier and op == "sum":
                found.append(
                    (
                        f"{op} {type} {who.replace('tally', '').strip() or 'exact'}, {CASE_TITLES.get(case, case)}, "
                        f"{cut}".replace("segment ids", "ids"),
                        by[who],
                    )
                )
        rows.append(row)
    return [table(["", *(title for title, _, _ in columns)], rows), missed(0.80, found), source_cpu("cpu segments")]


def cpu_cache():
    found = [
        (labels, best) for labels, best in report.cases_of(load("cpu exact")["records"]) if labels["section"] == "cache"
    ]
    rows, late = [], []
    for labels, best in found:
        if labels["op"] not in ("sum", "dot", "var") or labels["count"] not in (100, 10000, 1000000):
            continue
        row = [f"{labels['op']} {labels['type']}, {labels['count']} values"]
        rows.append(
            row
            + [report.duration(best[who]["seconds"]) if who in best else "" for who in ("tally", "tally fast", *PEERS)]
        )
        if labels["count"] == 10000 and labels["op"] == "sum":
            for who, goal in (("tally", 3), ("tally fast", 1.3)):
                ratio = best[who]["seconds"] / best["openblas"]["seconds"]
                late.append(f"{labels['type']} {who.replace('tally', '').strip() or 'exact'} {ratio:.2f} (goal {goal})")
    head = ["", "Tally", "Tally fast", *(report.TITLES[who] for who in PEERS)]
    return [
        table(head, rows),
        "Time of a sum of 10000 values, as a multiple of OpenBLAS's: " + "; ".join(late) + ".",
        source_cpu("cpu exact"),
    ]


def accuracy():
    """The exact sum costs nothing on ordinary data; how much elsewhere depends on how far apart the values are."""
    of = {
        (labels["op"], labels["type"], labels["case"]): (by, outlier)
        for labels, by, outlier in shares(load("cpu exact")["records"], "exact")
    }
    kinds = list(dict.fromkeys(case for _, _, case in of))
    ops = list(dict.fromkeys((op, type) for op, type, _ in of))
    share = lambda key, who: number(of[key][0].get(who)) + (" (†)" if of[key][1] else "")
    rows = [[kind, *(share((op, type, kind), "tally") for op, type in ops if (op, type, kind) in of)] for kind in kinds]
    on_cpu = table(["CPU", *(" ".join(op) for op in ops)], rows)
    goal = [
        (f"{op} {type}, {kind}", by["tally"])
        for (op, type, kind), (by, outlier) in of.items()
        if kind in ("uniform", "normal", "cancelling") and not outlier
    ]
    gpu = {
        (r["type"], r["data"], r["contender"]): r
        for r in load("gpu")["records"]
        if r["section"] == "exact" and r["op"] == "sum"
    }
    kinds = list(dict.fromkeys(data for _, data, _ in gpu))
    row = lambda data: [
        data,
        *(
            number(gpu[type, data, who]["of_plain"])
            for type in ("f32", "f64")
            for who in ("tally", "tally fast", "cub")
        ),
    ]
    head = ["GPU", "sum f32", "fast", "CUB", "sum f64", "fast", "CUB"]
    on_gpu = table(head, [row(data) for data in kinds])
    least = [(f"sum {type}, {data}", r["of_plain"]) for (type, data, who), r in gpu.items() if who == "tally"]
    return [
        on_cpu,
        missed(0.95, goal) + " (Ordinary data: uniform, normal, cancelling.)",
        source_cpu("cpu exact"),
        on_gpu,
        missed(0.35, least),
        source_gpu(),
    ]


def source_gpu():
    about = load("gpu")["about"]
    return source("gpu", about["gpu"], about["date"], about["commit"], about["command"])


def faster(of, record):
    """Some contenders have two ways; the faster one counts."""
    of[record["contender"]] = max(of.get(record["contender"], 0), record["of_plain"])


def gpu_whole():
    by = {}
    for r in load("gpu")["records"]:
        if r["section"] == "whole":
            faster(by.setdefault((r["op"], r["type"]), {}), r)
    whos = ("tally", "tally fast", "cub", "torch")
    rows = [[" ".join(key), *(number(of.get(who)) for who in whos)] for key, of in by.items() if "tally" in of]
    found = [(" ".join(key), of["tally"]) for key, of in by.items() if "tally" in of]
    return [table(["1 GiB", "Tally", "Tally fast", "CUB", "PyTorch"], rows), missed(0.97, found), source_gpu()]


def gpu_sizes():
    by = {}
    for r in load("gpu")["records"]:
        if r["section"] == "sizes":
            of = by.setdefault((r["mode"], r["bytes"]), {})
            of[r["contender"]] = min(of.get(r["contender"], r["seconds"]), r["seconds"])
    whos = ("plain", "tally", "tally fast", "cub", "torch")
    size = lambda n: next(f"{n >> k} {unit}" for k, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "B")) if n >> k)
    rows = [
        [f"{size(n)}, {mode}", *(report.duration(of[who]) if who in of else "" for who in whos)]
        for (mode, n), of in by.items()
    ]
    late = [
        f"{size(n)} {mode} {of['cub'] / of['tally']:.2f}"
        for (mode, n), of in by.items()
        if n <= 1 << 26 and of["cub"] / of["tally"] < 1
    ]
    text = f"Goal up to 64 MiB: never slower than CUB. Missed by {len(late)}: {', '.join(late)} (CUB's time / Tally's)."
    return [table(["sum of f32", "plain read", "Tally", "Tally fast", "CUB", "PyTorch"], rows), text, source_gpu()]


CUTS = {
    "one": "one",
    "10 to 50": "10 to 50",
    "=3": "all 3",
    "=1": "all 1",
    "power": "power law",
    "80% empty": "80% empty",
    "half and threes": "half, and threes",
    "=300": "all 300",
    "=4096": "all 4096",
}


def gpu_segment_rows():
    by = {}
    for r in lines("gpu segments"):
        if r["us"] > 0:
            by.setdefault((r["who"], r["op"], r["type"], r["form"]), {})[r["segments"]] = r["share"]
    return by


def gpu_segments():
    rows, found = [], []
    for (who, op, type, form), of in gpu_segment_rows().items():
        if who == "plain pass":
            continue
        what = type if op == type else f"{op} {type}"
        name = f"{who.replace('tally', 'Tally')}, {what}, {form.replace('segment ids', 'ids')}"
        if who == "tally" and op in ("sum", "mean"):
            name = name.replace("Tally", "Tally fast")
        rows.append([name, *(number(of.get(cut)) for cut in CUTS)])
        if who.startswith("tally") and op in ("sum", "argmin") and form.startswith("offsets"):
            found += [
                (f"{what}{' exact' if 'exact' in who else ''}, {form}, {CUTS[cut]}", of[cut])
                for cut in CUTS
                if cut in of
            ]
    text = path("gpu segments").with_suffix(".md").read_text()
    command, commit = re.search(r"`(bench_segments [^`]+)`.*? on ([0-9a-f]{7});", text).groups()
    return [
        table(["2^28 values", *CUTS.values()], rows),
        missed(0.90, found),
        source("gpu segments", "NVIDIA H200", date_of("gpu segments"), commit, command),
    ]


def gpu_rows():
    rows, found = [], []
    for r in lines("gpu rows"):
        name = f"{r['op']} {r['type']}, {r['shape']}"
        rows.append([name, *(number(r["of_plain"].get(who)) for who in ("tally", "tally fast", "torch"))])
        found.append((name, r["of_plain"].get("tally fast", r["of_plain"]["tally"])))
    text = missed(0.90, found) + " (Fast, where there are two.)"
    return [
        table(["2^28 values", "Tally", "Tally fast", "PyTorch"], rows),
        text,
        source("gpu rows", "NVIDIA H200", date_of("gpu rows"), r["commit"], "bench/gpu/run.sh"),
    ]


def floor(record):
    """The least share that the goals allow a cell of the GPU's matrix."""
    if record["accuracy"] != "exact":
        return 0.25
    return 0.15 if record["data"] in HARD else 0.5


def matrix(subject):
    records, about = matrix_of(subject)
    groups = {}
    for r in records:
        groups.setdefault((r["op"], r["accuracy"]), []).append(r)
    rows = []
    for (op, kind), some in sorted(groups.items(), key=lambda one: (one[0][1] != "exact", one[0][1], one[0][0])):
        ordinary = [r["share"] for r in some if r["data"] not in HARD]
        hard = [r["share"] for r in some if r["data"] in HARD]
        worst = min(some, key=lambda r: r["share"])
        rows.append(
            [
                op + ("" if kind == "only" else f" {kind}"),
                len(some),
                number(statistics.median(ordinary)) if ordinary else "",
                number(min(ordinary)) if ordinary else "",
                number(min(hard)) if hard else "",
                sum(r["share"] < floor(r) for r in some),
                f"{worst['type']}, {worst['segmentation']}, {worst['data']}",
            ]
        )
    below = sum(r["share"] < floor(r) for r in records)
    head = ["", "cells", "median", "worst, ordinary data", "worst, hard data", "below the floor", "the worst cell"]
    text = (
        f"{len(records)} of {about['cells']} cells. Floor: 0.5 for exact sums of ordinary data, 0.15 for those of "
        f"hard data, 0.25 for all else. "
        f"Below it: {below} of {len(records)}."
    )
    heat = beside(subject, ".svg")
    return [
        table(head, rows),
        text,
        f"![heat map](measurements/{heat})",
        source(subject, about["name"], about["date"], "", about["command"]),
    ]


def compiling():
    first = {}
    for r in load("gpu")["records"]:
        if r["contender"] in ("tally", "tally fast") and "first_call" in r:
            key = f"{r['op']} {r['type']}", r["contender"]
            first[key] = max(first.get(key, 0), r["first_call"])
    names = list(dict.fromkeys(name for name, _ in first))
    cell = lambda name, who: report.duration(first[name, who]) if (name, who) in first else ""
    rows = [[name, cell(name, "tally"), cell(name, "tally fast")] for name in names]
    over = [
        f"{name} {report.duration(t)}" for (name, _), t in sorted(first.items(), key=lambda one: -one[1]) if t > 0.5
    ]
    text = f"Goal: 0.5 s, 1.5 s for the slowest. Over 0.5 s: {', '.join(over) or 'none'}."
    ready = matrix_of("gpu matrix")[1]["kernels"]
    return [
        table(["first call", "Tally", "Tally fast"], rows),
        text,
        source_gpu(),
        f"Ahead of the GPU's matrix, on 16 cores: {ready}.",
    ]


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
        "A random sample of all operators, types, segmentations and data. The floor is the goal of the GPU's matrix; "
        "the CPU's has none of its own.",
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
    ("GPU: rows", "Shares of a plain pass that reads and writes as many bytes.", gpu_rows),
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
        "*Tally* is the default, exact for sums of floats; *fast* is `TALLY_FAST`, the plain sum in canonical order. "
        "A blank means that it was not measured or does not exist.",
        f"(†): in this row the plain read was more than {OUTLIER} times as fast as its median in the run. The host is "
        "shared, and such a plain read makes every share beside it too small. Such rows are not compared with the "
        "goal.",
        "Builds, mutation tests and what was tried and not kept are records of their own: "
        "[build](measurements/build-2026-11-22.md), "
        "[mutations](measurements/mutations-2026-11-22.md), [notes on the H200](measurements/gpu-notes.md), "
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
    cut = {
        (labels["op"], labels["type"], labels["case"], labels["cut"]): of
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
            cut["sum", "f32", case, "offsets i32"],
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
    below = sum(r["share"] < floor(r) for r in records)
    worst = min(records, key=lambda r: r["share"])
    choice = "" if worst["accuracy"] == "only" else worst["accuracy"] + " "
    words = (
        "CPU: two threads of an AMD EPYC. GPU: an NVIDIA H200. The goals are 0.95 to 0.97 for whole arrays and 0.80 to "
        "0.90 for segments. They are not all reached. Of all operators, types, segmentations and data, "
        f"{len(records)} cells were sampled on an {about['name'].split(',')[0]}, and {below} are below their floor; "
        f"the worst, {number(worst['share'])} of the plain read, is "
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
        ROOT / "docs" / "speed.svg": results_chart.draw(gpu_segment_rows(), CUTS),
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
