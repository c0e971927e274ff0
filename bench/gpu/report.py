#!/usr/bin/env python3
"""Merges the JSON lines of bench_gpu and torch_peers.py into gpu-DATE-GPU.json, .md and .svg.

    bench/gpu/report.py FOLDER FILE...      # FILE: JSON lines, or a .json that this wrote before
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import report  # noqa: E402  bench/report.py: tables, durations, cases

report.MEASURED += ("windows", "first_call", "capture", "warning", "error")
report.TITLES.update({"cub": "CUB", "torch": "PyTorch"})
FAMILIES = ["tally", "tally fast", "cub", "torch"]
CAPTIONS = {
    "whole": "Whole arrays: share of the plain read",
    "exact": "Sums by class of data: share of the plain read",
    "sizes": "Sums of f32 by size: time of a call",
}


def load(paths):
    about, records, failures, dropped, spent, checks, wrong = {}, [], [], [], {}, 0, 0
    for path in paths:
        text = pathlib.Path(path).read_text()
        if path.endswith(".json"):
            kept = json.loads(text)
            return kept
        for line in filter(str.strip, text.splitlines()):
            entry = json.loads(line)
            if "about" in entry:
                about.update(entry["about"])
            elif "summary" in entry:
                summary = entry["summary"]
                dropped += summary["dropped"]
                spent.update(summary.get("spent", {"PyTorch": summary["seconds"]}))
                checks += summary.get("checks", 0)
                wrong += summary.get("wrong", 0)
                about.setdefault("finished", []).append(pathlib.Path(path).name)
            elif "failed" in entry:
                failures.append(
                    f"{entry['failed']['contender']}, {entry['failed']['case']}: {entry['failed']['error']}"
                )
            else:
                if "error" in entry or "warning" in entry:
                    failures.append(f"{named(entry)}: {entry.get('error') or entry['warning']}")
                if "seconds" in entry:
                    records.append(entry)
    plain = {}  # the plain read of as many bytes, for peers of another process
    for r in records:
        if r["contender"] == "plain":
            plain.setdefault((r["bytes"], r["mode"]), []).append(r["seconds"])
    for r in records:
        if "of_plain" not in r and (r["bytes"], r["mode"]) in plain:
            times = sorted(plain[r["bytes"], r["mode"]])
            r["of_plain"] = times[len(times) // 2] / r["seconds"]
    unfinished = [pathlib.Path(path).name for path in paths if pathlib.Path(path).name not in about.get("finished", [])]
    failures += [f"{name} has no summary: that run broke off" for name in unfinished]
    about.update({"checks": checks, "wrong": wrong, "spent": spent, "dropped": dropped})
    return {"about": about, "failures": failures, "records": records}


def named(r):
    return " ".join(str(r[k]) for k in ("contender", "section", "op", "type", "data", "bytes", "mode"))


def size(count):
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count} {unit}"
        count //= 1024
    return f"{count} GiB"


def ratio(best, rival):
    """How many times as fast as the rival Tally is."""
    return f"{best[rival]['seconds'] / best['tally']['seconds']:.2f} x" if {"tally", rival} <= best.keys() else "—"


def section_table(section, cases):
    families = [f for f in FAMILIES if any(f in best for _, best in cases)]
    timed = section == "sizes"
    constant = lambda key: len({labels[key] for labels, _ in cases}) == 1
    names = [
        k for k in ("op", "type", "data", "mode", "where") if not constant(k) or (k in ("op", "type") and not timed)
    ]
    head = [*names, "bytes", "plain read", *(report.TITLES[f] for f in families)]
    rivals = [f for f in ("cub", "torch") if f in families]
    rows = [head + [f"Tally / {report.TITLES[f]}" for f in rivals]]
    for labels, best in sorted(cases, key=lambda case: order(section, *case)):
        any_record = next(iter(best.values()))
        row = [labels[k] for k in names] + [size(any_record["bytes"])]
        if timed:
            row += [report.duration(best[f]["seconds"]) if f in best else "—" for f in ("plain", *families)]
        else:
            row.append(f"{best['plain']['gb_per_s']:.0f} GB/s" if "plain" in best else "—")
            row += [share(best, f) for f in families]
        rows.append(row + [ratio(best, f) for f in rivals])
    return report.table(rows)


def share(best, family):
    if family not in best:
        return "—"
    part = best[family].get("of_plain")
    return f"{part:.3f} ({best[family]['gb_per_s']:.0f})" if part else f"({best[family]['gb_per_s']:.0f})"


def order(section, labels, best):
    bytes_read = next(iter(best.values()))["bytes"]
    return (
        (labels["mode"] != "stream", bytes_read) if section == "sizes" else (-bytes_read if section == "whole" else 0,)
    )


def markdown(results):
    about = results["about"]
    version = lambda number: f"{number // 1000}.{number % 1000 // 10}"
    cub = about["cub"]
    lines = [
        f"# GPU measurements, {about['date'][:10]}",
        "",
        f"- Machine: {about['gpu']}, {about['sms']} multiprocessors, {about['l2_bytes'] / 2**20:.0f} MiB of L2, "
        f"{about['memory_bytes'] / 2**30:.0f} GiB; driver for CUDA {version(about['driver'])}.",
        f"- Command: `{about['command']}`",
        f"- Tally {about['tally']} ({about['commit']}); CUB {cub // 100000}.{cub // 100 % 1000}.{cub % 100}, CUDA "
        f"{version(about['runtime'])}"
        + (f"; PyTorch {about['torch']}." if "torch" in about else "."),
        f"- Times are of back-to-back calls between two events, on a stream or in a graph of as many nodes in a "
        f"chain; medians of "
        f"{about['rounds']} rounds in which each contender has one batch (PyTorch: in a process of its own, "
        f"afterwards). Random data, "
        "warm. Cases larger than a quarter of the L2 go through windows that together exceed it four times; smaller "
        "ones stay in the L2.",
        "- A share is the speed as a fraction of the plain read, the best of seven shapes, in the same rounds; in "
        "brackets GB/s. "
        "Tally / peer: how many times as fast. CUB's sum of narrow types is the faster of two: into the type itself, "
        "where it wraps or "
        "saturates, and into the wide type that Tally gives.",
        f"- {about['checks']} results of Tally were compared with the CPU's or with a second call, bit for bit: "
        f"{about['wrong']} wrong "
        "or failed.",
    ]
    for section, caption in CAPTIONS.items():
        cases = [case for case in report.cases_of(results["records"]) if case[0]["section"] == section]
        if cases:
            lines += ["", f"## {caption}", "", section_table(section, cases)]
    first = [r for r in results["records"] if r["contender"].startswith("tally") and r.get("first_call", 0) > 0]
    if first:
        slow = max(first, key=lambda r: r["first_call"])
        lines += [
            "",
            f"The longest first call of Tally, compiling included: {report.duration(slow['first_call'])}, "
            f"{named(slow)}.",
        ]
    for title, texts in (("Warnings", results["failures"]), ("Dropped for want of time", about["dropped"])):
        if texts:
            lines += ["", f"## {title}", "", *(f"- {text}" for text in texts)]
    lines += ["", "Time went to: " + ", ".join(f"{k} {v:.1f} s" for k, v in about["spent"].items()) + "."]
    return "\n".join(lines) + "\n"


def draw(results, path):
    import chart

    chart.COLORS = {
        **{k: chart.COLORS[k] for k in ("tally", "tally fast")},
        "cub": "#d98e04",
        "torch": "#b23a48",
        "plain": chart.COLORS["plain"],
    }
    chart.FAMILIES = FAMILIES
    cases = report.cases_of(results["records"])
    sizes = {best["plain"]["bytes"] for labels, best in cases if labels["section"] == "whole" and "plain" in best}
    large = 1 << 30 if 1 << 30 in sizes else max(sizes, default=0)

    def of(section, **only):
        for labels, best in cases:
            if labels["section"] != section or any(labels[k] != v for k, v in only.items()) or "plain" not in best:
                continue
            if section != "whole" or best["plain"]["bytes"] == large:
                yield labels, best

    figure, axes = chart.plt.subplots(3, 2, figsize=(14, 16), constrained_layout=True)
    chart.heat(axes[0][0], list(of("whole")))
    chart.bars(axes[0][1], list(of("whole", type="f32")), lambda l: l["op"], f"Whole arrays of f32, {size(large)}")
    chart.bars(axes[1][0], list(of("exact")), lambda l: f"{l['type']} {l['data']}", "Sums by class of data, 1 GiB")
    chart.bars(axes[1][1], list(of("whole", op="sum")), lambda l: l["type"], f"Sum by type, {size(large)}")
    for axis, mode in zip(axes[2], ("stream", "graph")):
        swept = sorted(of("sizes", mode=mode), key=lambda case: case[0]["count"])
        chart.lines(axis, swept, "count", lambda r: r["seconds"] * 1e6, f"Sum of f32, {mode}: µs a call", True)
    about = results["about"]
    figure.suptitle(f"Tally {about['tally']} ({about['commit']}) on {about['gpu']}, {about['date'][:10]}", fontsize=11)
    figure.savefig(path, metadata={"Date": None})
    chart.plt.close(figure)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    results = load(sys.argv[2:])
    about = results["about"]
    if "gpu" not in about:
        sys.exit("report.py: none of these files comes from bench_gpu")
    name = re.sub("[^a-z0-9]+", "-", about["gpu"].lower()).strip("-")
    stem = pathlib.Path(sys.argv[1]) / f"gpu-{about['date'][:10]}-{name}"
    stem.parent.mkdir(parents=True, exist_ok=True)
    path = lambda ending: stem.with_name(stem.name + ending)
    head = json.dumps({k: v for k, v in results.items() if k != "records"}, indent=1)
    body = ",\n".join(json.dumps(report.tidy(r)) for r in results["records"])  # one record a line
    path(".json").write_text(head[:-2] + ',\n "records": [\n' + body + "\n]}\n")
    text = markdown(results)
    path(".md").write_text(text)
    print(text)
    try:
        draw(results, path(".svg"))
    except ImportError as reason:
        print(f"no chart: {reason} (Debian: python3-matplotlib)")
    print(f"kept: {path('.json')}, .md, .svg")


if __name__ == "__main__":
    main()
