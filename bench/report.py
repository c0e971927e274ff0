"""Results as JSON, as Markdown tables (aligned, so that they read as well in a terminal) and as one SVG chart."""

import json

PEERS = ["numpy", "openblas", "openmp", "std", "fsum", "xsum"]
CAPTIONS = {
    "whole": "Whole arrays from memory: speed as a fraction of the plain read",
    "exact": "Exact sums by class of data, from memory: speed as a fraction of the plain read",
    "segments": "Segments from memory: speed as a fraction of a plain pass that reads and writes as many bytes",
    "rows": "Rows and other axes, from memory: speed as a fraction of a plain pass that reads and writes as many bytes",
    "cache": "In cache: time of a call",
    "threads": "Threads: speed as a fraction of the plain read with as many",
    "dispatch": "Small calls: time of a call",
}
TITLES = {
    "plain": "plain read",
    "tally": "Tally",
    "tally fast": "Tally fast",
    "numpy": "NumPy",
    "openblas": "OpenBLAS",
    "openmp": "OpenMP",
    "std": "std par_unseq",
    "fsum": "math.fsum",
    "xsum": "xsum",
}
MEASURED = (
    "contender",
    "via",
    "bytes",
    "seconds",
    "least",
    "lower",
    "upper",
    "repeats",
    "calls",
    "gb_per_s",
    "of_plain",
    "value",
)


def cases_of(records):
    """[(labels, {family: its fastest record})] in the order of measuring."""
    found = {}
    for r in records:
        labels = {k: v for k, v in r.items() if k not in MEASURED}
        best = found.setdefault(json.dumps(labels), (labels, {}))[1]
        if r["contender"] not in best or r["gb_per_s"] > best[r["contender"]]["gb_per_s"]:
            best[r["contender"]] = r
    return list(found.values())


def fraction(best, family):
    """Of the plain read; None where it was not measured."""
    return best[family]["of_plain"] if family in best else None


def duration(seconds):
    for unit, scale in (("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def table(rows):
    """Aligned Markdown; the first row is the head, the first column is text, numbers are right-aligned."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    right = [all(row[k][:1] in "0123456789<-—" for row in rows[1:]) for k in range(len(widths))]
    line = lambda row: "| " + " | ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right)) + " |"
    rule = "| " + " | ".join("-" * (w - 1) + ":" if r else "-" * w for w, r in zip(widths, right)) + " |"
    return "\n".join([line(rows[0]), rule, *map(line, rows[1:])])


def section_table(section, cases):
    families = [f for f in ("tally", "tally fast", *PEERS) if any(f in best for _, best in cases)]
    names = [k for k in cases[0][0] if k != "section"]
    in_time = section in ("cache", "dispatch")
    rows = [[*names, "plain read", *(TITLES[f] for f in families)]]
    if in_time:
        rows[0].append("Tally / OpenBLAS")
    else:
        rows[0].append("Tally / best peer")
    for labels, best in cases:
        row = [labels[k] for k in names]
        if in_time:
            row += [duration(best[f]["seconds"]) if f in best else "—" for f in ("plain", *families)]
            row.append(
                f"{best['tally']['seconds'] / best['openblas']['seconds']:.2f}"
                if {"tally", "openblas"} <= best.keys()
                else "—"
            )
        else:
            row.append(f"{best['plain']['gb_per_s']:.1f} GB/s")
            row += [part_mark(best, f) for f in families]
            rivals = [fraction(best, f) for f in PEERS if f in best]
            row.append(f"{fraction(best, 'tally') / max(rivals):.2f} x" if rivals and "tally" in best else "—")
        rows.append(row)
    return table(rows)


def part_mark(best, family):
    if family not in best:
        return "—"
    return f"{fraction(best, family):.3f}" + ("*" if best[family]["bytes"] < best["plain"]["bytes"] else "")


def markdown(results):
    about = results["about"]
    machine, versions, method = about["machine"], about["versions"], about["method"]
    caches = ", ".join(f"{name} {size}" for name, size in machine["caches"].items())
    lines = [
        f"# CPU measurements, {about['date'][:10]}",
        "",
        f"- Machine: {machine['cpu']}, {machine['cores']} cores, {caches}, {machine['memory_bytes'] / 2**30:.0f} GiB; "
        f"{machine['kernel']}; load at start {machine['load_at_start']:.2f}.",
        f"- Command: `{about['command']}`",
        f"- Tally {versions['tally']} ({versions['commit']}, {versions['tally_isa']}, {versions['tally_default']} by "
        f"default), {about['threads']['tally']} threads; NumPy {versions['numpy']}; {versions['openblas']}; "
        f"{versions['std']}; {versions['compiler']}, peers with `{versions['peer_flags'].replace(';', ' ')}`.",
        f"- Arrays from memory: {method['bytes'] >> 20} MiB ({method['segment_bytes'] >> 20} MiB of values where "
        f"segmented), random data, warm; medians of {method['repeats']} interleaved repeats, all in one process. A "
        f"star marks a peer that got a smaller array ({method['part_bytes'] >> 20} MiB at most) because it takes over "
        f"{method['peers_slower_than_s_get_part']:g} s on the whole one.",
    ]
    for section in CAPTIONS:
        cases = [case for case in cases_of(results["records"]) if case[0]["section"] == section]
        if cases:
            lines += ["", f"## {CAPTIONS[section]}", "", section_table(section, cases)]
    if results.get("warnings"):
        lines += ["", "## Warnings", "", *(f"- {text}" for text in results["warnings"])]
    return "\n".join(lines) + "\n"


def write(results, stem):
    stem.parent.mkdir(parents=True, exist_ok=True)
    path = lambda ending: stem.with_name(stem.name + ending)
    head, records = json.dumps({k: v for k, v in results.items() if k != "records"}, indent=1), results["records"]
    body = ",\n".join(json.dumps(tidy(r)) for r in records)  # one record a line: readable, and diffs are small
    path(".json").write_text(head[:-2] + ',\n "records": [\n' + body + "\n]}\n")
    text = markdown(results)
    path(".md").write_text(text)
    print(text)
    try:
        import chart
    except ImportError as reason:
        print(f"no chart: {reason} (Debian: python3-matplotlib)")
    else:
        chart.draw(results, cases_of(records), path(".svg"))
    print(f"kept: {path('.json')}, .md, .svg")


def tidy(record):
    return {k: float(f"{v:.5g}") if isinstance(v, float) and k != "value" else v for k, v in record.items()}
