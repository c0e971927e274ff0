#!/usr/bin/env python3
"""Keeps what `tests/gpu.sh gallery` measured, in docs/measurements, and makes the pages that show it again.

    gallery/pages/keep.py OUT DATE COMMIT   OUT: the folder it wrote; COMMIT: of the sources that ran

It replaces gallery.md and .json (the races), gallery-sweep-*.svg and gallery-paper.md and .svg, and runs
gallery/pages/generate.py and bench/results.py. What people wrote about the numbers (Why of gallery/kernels,
gallery/pages/paper.md) is theirs to compare with them.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

from generate import table_rows

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "measurements"

# name of the race, its title, and what it is called among the measured runs
RACES = [
    ("race", "min of f32, whole", "whole"),
    ("race-sum", "sum of f32, whole", None),
    ("race-one", "min of f32, in one segment", "one"),
    ("race-random", "min of f32, in segments of 10 to 50", "random"),
    ("race-three", "min of f32, in segments of 3", "three"),
]

HOW = """\
`tests/gpu.sh gallery` on one {device} ({count} multiprocessors), {date}, commit {commit}. Each time is the median of 5
batches of at least 5 ms, runs one behind the other on the default stream, over copies of the values of 512 MiB or more
in turn, so that no cache holds them. GB/s are those of the values, with segments of values and segment ids (4 bytes
each); the share is that of the plain read, which is a kernel of the gallery. Kernels write elements; finishing them
into results is the host's and not in the time, but for host_finish, whose host part is. Outputs of segments are filled
with the identity before, not within, the time. Results are checked against the CPU's, all of them: "right". With sums
"tally" is the exact sum. One run each: differences of some percent mean nothing.
"""
ALONE = """\
What one block does, 1000 times in one launch, over as many values as it is for, which its cache holds: nanoseconds
for each.
"""
SWEEPS = """\
`tally race --sweep`: microseconds of a run over as many values as above, of the kernels that have the parameter; "-"
where one cannot have that value: too few blocks to share the work, too many threads, too little shared memory.
"""
PAPER = """\
`tests/gpu.sh gallery` on one {device}, {date}, commit {commit}; what it means is in gallery/pages/paper.md. Times
as in [gallery.md](gallery.md). The throughput of a launch is what it reads over the time that runs take longer with it
than without it.
"""


NUMBERS = {row["name"]: row["number"] for row in table_rows()}


def gigabytes(runner):
    return runner["bytes"] / runner["seconds"] / 1e9


def runs_of(race):
    """Each that ran, as the page of the course takes it."""
    plain = gigabytes(race["kernels"][0])
    for runner in race["kernels"]:
        if "seconds" in runner:
            row = {"kernel": runner["kernel"], "us": round(1e6 * runner["seconds"], 1),
                   "share": round(gigabytes(runner) / plain, 3)}  # fmt: skip
            kept = {key: runner[key] for key in ("registers", "threads", "resident") if runner.get(key)}
            yield row | kept


def text_of(race):
    """As tally race prints it."""
    plain = gigabytes(race["kernels"][0])
    segments = f" in {race['segments']} segments ({race['shape']})" if race["shape"] else ""
    head = [f"{'kernel':28}", "result", f"{'us':>10}", f"{'GB/s':>8}", f"{'share':>6}", "launches", f"{'blocks':>8}"]
    lines = [f"{race['op']} of {race['n']} {race['type']}{segments} on {race['device']}", "", "     " + " ".join(head)]
    for row in race["kernels"]:
        if "seconds" in row:
            us, speed, blocks = 1e6 * row["seconds"], gigabytes(row), f" {row['blocks'][0]:8}" if row["blocks"] else ""
            words = f"{NUMBERS.get(row['kernel'], ''):>4} {row['kernel']:28} {'right' if row['right'] else 'WRONG'} "
            lines.append(f"{words} {us:10.1f} {speed:8.1f} {speed / plain:6.3f} {row['launches']:8}{blocks}")
    refused = [row["refused"] for row in race["kernels"] if "refused" in row]
    return "\n".join(lines + ([""] + refused if refused else []))


def alone_of(race):
    return [
        {"kernel": row["kernel"], "n": row["n"], "ns": round(1e9 * row["seconds"])}
        for row in race.get("alone", [])
        if "seconds" in row
    ]


def alone_text(alone):
    """One block of each, a thousand times in a launch."""
    rows = "\n".join(f"| {row['kernel']} | {row['n']} | {row['ns']} |" for row in alone)
    return f"## One block alone\n\n{ALONE}\n| | values | ns |\n| --- | ---: | ---: |\n{rows}\n"


def sweep_of(file):
    """What tally race --sweep printed, as the page of the course takes it. The file is sweep-PARAMETER[-SHAPE].txt."""
    title, _, table = file.read_text().strip().partition("\n\n")
    head, *lines = table.splitlines()
    values = [int(word) for word in head[28:].split() if word.isdigit()]
    number = lambda word: None if word == "-" else float(word)  # noqa: E731
    return {"by": title.split(", by ")[1], "n": int(title.split()[2]), "shape": "".join(file.stem.split("-")[2:]),
            "values": values,
            "us": {line[:28].strip(): [number(word) for word in line[28:].split()] for line in lines}}  # fmt: skip


def sweep_files(out):
    """In the order of tests/gpu.sh: whole arrays first."""
    order = ["block", "each", "width", "height", "blocks", "lists"]
    key = lambda file: (file.stem.count("-"), order.index(file.stem.split("-")[1]))  # noqa: E731
    return sorted(out.glob("sweep-*.txt"), key=key)


def sweeps_text(out):
    """What tally race --sweep printed, and its charts."""
    parts = []
    for printed in sweep_files(out):
        shutil.copyfile(printed.with_suffix(".svg"), KEPT / f"gallery-{printed.stem}.svg")
        title, _, panels = printed.read_text().strip().partition("\n")
        parts.append(f"### {title}\n\n```\n{panels.strip()}\n```\n\n![{title}](gallery-{printed.stem}.svg)\n")
    return "\n".join([f"## Sweeps\n\n{SWEEPS}", *parts]) if parts else ""


def keep(out, date, commit):
    races = {name: json.loads((out / f"{name}.json").read_text()) for name, _, _ in RACES}
    first = races["race"]
    device = re.match(r"NVIDIA \w+", first["device"]).group()
    facts = {"device": device, "count": first["multiprocessors"], "date": date, "commit": commit}
    for old in KEPT.glob("gallery-sweep-*.svg"):
        old.unlink()
    alone = alone_of(first)
    text = [f"# The gallery on an {device.split()[1]}\n", HOW.format(**facts)]
    text += [f"## {title}\n\n```\n{text_of(races[name])}\n```\n" for name, title, _ in RACES]
    text += [alone_text(alone)] if alone else []
    text += [sweeps_text(out)]
    (KEPT / "gallery.md").write_text("\n".join(text).rstrip() + "\n")

    runs = {key: list(runs_of(races[name])) for name, _, key in RACES if key}
    record = {"device": device, "multiprocessors": first["multiprocessors"], "date": date, "commit": commit,
              "most_threads": first.get("most_threads"), "n": first["n"], "op": "min", "type": "f32", "runs": runs,
              "alone": alone,
              "sweeps": [sweep_of(printed) for printed in sweep_files(out)],
              "file": "docs/measurements/gallery.md"}  # fmt: skip
    (KEPT / "gallery.json").write_text(json.dumps(record, indent=1) + "\n")

    _, _, tables = (out / "paper.md").read_text().partition("\n")
    profile = out / "profile.md"
    text = f"# The paper's tables and figures on an {device.split()[1]}\n\n{PAPER.format(**facts)}{tables}"
    text += f"\n# From a profiler\n\n{profile.read_text()}" if profile.exists() else ""
    (KEPT / "gallery-paper.md").write_text(text)
    shutil.copyfile(out / "paper.svg", KEPT / "gallery-paper.svg")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    keep(pathlib.Path(sys.argv[1]), *sys.argv[2:])
    for maker in ("gallery/pages/generate.py", "bench/results.py"):
        subprocess.run([sys.executable, ROOT / maker], check=True)


if __name__ == "__main__":
    main()
