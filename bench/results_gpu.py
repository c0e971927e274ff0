"""The subjects of docs/results.md that a GPU measures: each function gives the paragraphs of one."""

import re

import report
from results_runs import date_of, lines, load, matrix_of, missed, number, path, source, table


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


DISTRIBUTIONS = {
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
        rows.append([name, *(number(of.get(distribution)) for distribution in DISTRIBUTIONS)])
        if who.startswith("tally") and op in ("sum", "argmin") and form.startswith("offsets"):
            found += [
                (f"{what}{' exact' if 'exact' in who else ''}, {form}, {DISTRIBUTIONS[distribution]}", of[distribution])
                for distribution in DISTRIBUTIONS
                if distribution in of
            ]
    text = path("gpu segments").with_suffix(".md").read_text()
    command, commit = re.search(r"`(bench_segments [^`]+)`.*? on ([0-9a-f]{7});", text).groups()
    return [
        table(["2^28 values", *DISTRIBUTIONS.values()], rows),
        missed(0.90, found),
        source("gpu segments", "NVIDIA H200", date_of("gpu segments"), commit, command),
    ]


ROWS = [  # of the matrix: along the last axis, then along the first and a middle one
    *(f"rows of {n}" for n in (10, 64, 255, 768, 1000, 4096, 50257)),
    "64 rows",
    *(f"first x {n}" for n in (2, 10, 64, 255, 1000, 4096, 50257, "2^20")),
    "middle 400, x 400",
    "middle 64, x 64",
]


def gpu_rows():
    records, about = matrix_of("gpu matrix")
    by = {
        (r["op"], r["type"], r["accuracy"], r["segmentation"]): r
        for r in records
        if r["data"] == "normal" and r["segmentation"] in ROWS
    }
    columns = [("sum", "f32", "exact"), ("sum", "f32", "fast"), ("var", "f32", "exact"), ("var", "f32", "fast")]
    columns += [("max", "f32", "only"), ("argmax", "f32", "only"), ("sum", "bf16", "exact"), ("sum", "bf16", "fast")]
    cell = lambda r: number(r["share"]) + (f", {number(r['share'] / float(r['ratio']))}" if r["ratio"] else "")
    rows = [[shape, *(cell(by[(*column, shape)]) for column in columns)] for shape in ROWS]
    head = ["2^26 values", *(f"{op} {type}{'' if how == 'only' else ' ' + how}" for op, type, how in columns)]
    beside = [((op, type, how), shape, r) for (op, type, how, shape), r in by.items() if r["ratio"]]
    found = lambda exact: [
        (f"{column[0]} {column[1]}, {shape}", float(r["ratio"]))
        for column, shape, r in beside
        if column in columns and (column[2] == "exact") == exact
    ]
    return [
        table(head, rows),
        f"PyTorch's time / Tally's. Exact: {missed(0.85, found(True))} Others: {missed(1.0, found(False))}",
        source("gpu matrix", about["name"], about["date"], "", about["command"]),
    ]


def gpu_exact():
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
    made = table(head, [row(data) for data in kinds])
    least = [(f"sum {type}, {data}", r["of_plain"]) for (type, data, who), r in gpu.items() if who == "tally"]
    return [made, missed(0.35, least), source_gpu()]


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
