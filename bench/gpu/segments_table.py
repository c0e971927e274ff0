#!/usr/bin/env python3
"""What bench_segments measured: a table (a row for each contender, its share of the plain pass by segmentation), a
chart of that, and one of equal segments by their length.

    bench/gpu/segments_table.py FILE.jsonl [CHART.svg [CURVE.svg]]
"""

import json
import pathlib
import sys

TITLES = {"=1": "all 1", "=3": "all 3", "power": "power law", "half and threes": "half, and threes"}
SEGMENTATIONS = [
    "one",
    "10 to 50",
    "=3",
    "=1",
    "power",
    "80% empty",
    "half and threes",
    "=4096",
    "=300",
]  # of the table; others are the curve's alone
BARS = [  # of the chart: who, type, form, color, caption
    ("tally", "f32", "offsets i32", "#6bbf9c", "Tally, canonical order"),
    ("tally exact", "f32", "offsets i32", "#0b6e4f", "Tally, exact"),
    ("tally", "f32", "segment ids i32", "#c9e5d8", "Tally, canonical order, segment ids"),
    ("CUB DeviceSegmentedReduce", "f32", "offsets i32", "#d98e04", "CUB DeviceSegmentedReduce"),
    ("CUB ReduceByKey", "f32", "segment ids i32", "#e9c46a", "CUB ReduceByKey"),
]


def title(segmentation):
    return TITLES.get(segmentation, "all " + segmentation[1:] if segmentation.startswith("=") else segmentation)


def load(path):
    rows = {}
    for line in open(path):
        one = json.loads(line)
        rows.setdefault((one["who"], one["op"], one["type"], one["form"]), {})[one["segments"]] = one
    return rows, [segmentation for segmentation in SEGMENTATIONS if any(segmentation in row for row in rows.values())]


def table(rows, segmentations):
    print("| | " + " | ".join(map(title, segmentations)) + " |\n| --- |" + " ---: |" * len(segmentations))
    for key, row in rows.items():
        cells = []
        for segmentation in segmentations:
            one = row.get(segmentation)
            if one is None or one["us"] < 0:
                cells.append("")
            elif key[0].startswith("plain"):
                cells.append("%.0f GB/s" % one["gbps"])
            else:
                cells.append("%.3f%s" % (one["share"], " WRONG" if one["note"].startswith("OTHER") else ""))
        print("| %s | %s |" % (" ".join(key), " | ".join(cells)))
    for key, row in rows.items():
        for segmentation, one in row.items():
            if one["note"]:
                print("%s, %s: %s" % (" ".join(key), segmentation, one["note"]))


def chart(style, rows, segmentations, path):
    figure, axis = style.plt.subplots(figsize=(12, 4), constrained_layout=True)
    for k, (who, kind, form, color, caption) in enumerate(BARS):
        row = rows.get((who, "sum", kind, form), {})
        shares = [row[segmentation]["share"] if segmentation in row else 0 for segmentation in segmentations]
        axis.bar([i + (k - 2) / 6 for i in range(len(segmentations))], shares, 1 / 6, color=color, label=caption)
    axis.axhline(0.9, color="#999999", linewidth=0.7, linestyle="--")
    axis.set_xticks(range(len(segmentations)), [title(segmentation) for segmentation in segmentations])
    axis.set_title("Sum of 2^28 f32 in segments: share of a plain pass over as many bytes (dashed: 0.9)")
    axis.legend(frameon=False, ncols=6, loc="upper center", bbox_to_anchor=(0.5, -0.08))
    figure.savefig(path, metadata={"Date": None})


def curve(style, rows, path):
    figure, axis = style.plt.subplots(figsize=(8, 4), constrained_layout=True)
    for who, kind, form, color, caption in BARS[:2]:
        row = rows.get((who, "sum", kind, form), {})
        points = sorted(
            (int(segmentation[1:]) if segmentation[0] == "=" else one["values"], one["share"])
            for segmentation, one in row.items()
            if segmentation[0] == "=" or segmentation == "one"
        )
        axis.plot(
            [length for length, _ in points],
            [share for _, share in points],
            marker="o",
            markersize=3,
            color=color,
            label=caption,
        )
    axis.axhline(0.9, color="#999999", linewidth=0.7, linestyle="--")
    axis.set_xscale("log")
    axis.set_ylim(0, 1.15)
    axis.set_xlabel("values in each segment")
    axis.set_title(
        "Sum of 2^28 f32 in equal segments: share of a plain pass over as many bytes (dashed: 0.9)", fontsize=9
    )
    axis.legend(frameon=False, loc="lower right")
    figure.savefig(path, metadata={"Date": None})


def charts(rows, segmentations, path, curve_path=None):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
    try:
        import chart as style  # bench/chart.py
    except ImportError as reason:
        print(f"no chart: {reason} (Debian: python3-matplotlib)")
        return
    chart(style, rows, segmentations, path)
    if curve_path is not None:
        curve(style, rows, curve_path)


measured = load(sys.argv[1])
table(*measured)
if len(sys.argv) > 2:
    charts(*measured, *sys.argv[2:])
