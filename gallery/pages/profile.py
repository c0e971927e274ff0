#!/usr/bin/env python3
"""The columns of the paper's Tables I and III that come from a profiler, as Markdown: by Nsight Compute (ncu), on a
machine with a GPU.

    gallery/pages/profile.py TALLY    TALLY: the command

Each kernel is profiled in its first run of `tally race`, one launch after another.
"""
import csv
import io
import subprocess
import sys

VALUES = 30 << 20

WARPS = "sm__warps_active.avg.per_cycle_active"
BLOCKS = "launch__grid_size"
BRANCHES = "smsp__sass_branch_targets.sum"
DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"

# kernel, its name in the paper, launches, and what the paper has of a GTX 480
TABLE_1 = [
    ("tb2", "TB2", 3, "46.24, 36.37, 7.88"),
    ("tb4_warp", "TB4-warp", 3, "45.12, 22.21, 7.35"),
    ("matrix", "Matrix", 3, "39.48, 20.85, 6.24"),
    ("persistent_matrix", "Persistent Matrix", 2, "45.25, 7.82"),
    ("diffwarps", "DiffWarps", 2, "41.95, 8.83"),
]
TABLE_3 = [
    ("tb2", "TB2, whole", 3, "0.56, 0.70, 0.56"),
    ("segmented_tb2", "TB2, one segment", 3, "2.74, 2.74, 2.704"),
    ("tb4_warp", "TB4-warp, whole", 3, "0.42, 0.42, 0.42"),
    ("segmented_tb4_warp", "TB4-warp, one segment", 3, "24.77, 24.81, 24.81"),
]


def profile(tally, kernel, launches, metrics):
    """Of each launch, the metrics by name."""
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--kill", "yes",
               "--metrics", ",".join(metrics), "--kernel-name", f"regex:^tally_gallery_{kernel}_min_",
               "--launch-count", str(launches), tally, "race", "--n", str(VALUES)]  # fmt: skip
    if kernel.startswith("segmented_"):
        command += ["--segments", "one"]
    # killed, the program has no exit status that says anything
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout
    table = [line for line in printed.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(table))))[1:]  # the first row has the units
    if len(rows) != launches:
        sys.exit(f"profile.py: ncu gave {len(rows)} launches of {kernel}, not {launches}; it printed\n{printed}")
    return [{name: float(row[name].replace(",", "")) for name in metrics} for row in rows]


def print_table(head, tally, rows, metrics, number):
    """A row for each kernel: its blocks, `number` of its launches, and the paper's numbers."""
    print(f"{head}\n\n| | blocks | here | GTX 480 |\n| --- | ---: | ---: | ---: |")
    for kernel, title, launches, paper in rows:
        found = profile(tally, kernel, launches, [BLOCKS, *metrics])
        blocks = ", ".join(f"{launch[BLOCKS]:.0f}" for launch in found)
        print(f"| {title} | {blocks} | {', '.join(map(number, found))} | {paper} |", flush=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print_table(
        f"## Table I, aw/ac: active warps by active cycle of a multiprocessor, launch by launch\n\n"
        f"min of {VALUES} f32; {WARPS} of Nsight Compute.",
        sys.argv[1], TABLE_1, [WARPS], lambda launch: f"{launch[WARPS]:.2f}",
    )  # fmt: skip
    print_table(
        f"\n## Table III: divergent branches, %, launch by launch\n\n"
        f"min of {VALUES} f32; {DIVERGENT} of {BRANCHES}.",
        sys.argv[1], TABLE_3, [BRANCHES, DIVERGENT],
        lambda launch: f"{100 * launch[DIVERGENT] / max(launch[BRANCHES], 1):.2f}",
    )  # fmt: skip


if __name__ == "__main__":
    main()
