"""The subjects of docs/results.md that a CPU measures: each function gives the paragraphs of one."""

import report
from results_runs import load, missed, number, shares, source, table

PEERS = ("numpy", "openblas", "openmp", "std")


def source_cpu(subject):
    about = load(subject)["about"]
    machine = f"{about['machine']['cpu']}, {about['threads']['tally']} threads, {about['versions']['tally_isa']}"
    return source(subject, machine, about["date"], about["versions"]["commit"], about["command"])


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
        (labels["op"], labels["type"], labels["case"], labels["form"]): (by, outlier)
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
        for title, (op, type, form), who in columns:
            by, outlier = of.get((op, type, case, form), ({}, False))
            row.append(number(by.get(who)) + (" (†)" if outlier and who in by else ""))
            if who in ("tally", "tally fast") and who in by and not outlier and op == "sum":
                found.append(
                    (
                        f"{op} {type} {who.replace('tally', '').strip() or 'exact'}, {CASE_TITLES.get(case, case)}, "
                        f"{form}".replace("segment ids", "ids"),
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


def cpu_exact():
    """The exact sum costs nothing on ordinary data; how much elsewhere depends on how far apart the values are."""
    of = {
        (labels["op"], labels["type"], labels["case"]): (by, outlier)
        for labels, by, outlier in shares(load("cpu exact")["records"], "exact")
    }
    kinds = list(dict.fromkeys(case for _, _, case in of))
    ops = list(dict.fromkeys((op, type) for op, type, _ in of))
    share = lambda key, who: number(of[key][0].get(who)) + (" (†)" if of[key][1] else "")
    rows = [[kind, *(share((op, type, kind), "tally") for op, type in ops if (op, type, kind) in of)] for kind in kinds]
    made = table(["CPU", *(" ".join(op) for op in ops)], rows)
    goal = [
        (f"{op} {type}, {kind}", by["tally"])
        for (op, type, kind), (by, outlier) in of.items()
        if kind in ("uniform", "normal", "cancelling") and not outlier
    ]
    return [
        made,
        missed(0.95, goal) + " (Ordinary data: uniform, normal, cancelling.)",
        source_cpu("cpu exact"),
    ]
