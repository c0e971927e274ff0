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
# the rows of Table III as tally race --paper has them
TABLE_3 = {
    "TB2, whole": "tb2",
    "TB2, one segment": "segmented_tb2",
    "TB4-warp, whole": "tb4_warp",
    "TB4-warp, one segment": "segmented_tb4_warp",
}


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


def print_warps(tally):
    print(f"## Table I, aw/ac: active warps by active cycle of a multiprocessor, launch by launch\n\n"
          f"min of {VALUES} f32; {WARPS} of Nsight Compute.\n\n"
          f"| | blocks | here | GTX 480 |\n| --- | ---: | ---: | ---: |")  # fmt: skip
    for kernel, title, launches, paper in TABLE_1:
        found = profile(tally, kernel, launches, [BLOCKS, WARPS])
        blocks = ", ".join(f"{launch[BLOCKS]:.0f}" for launch in found)
        print(f"| {title} | {blocks} | {', '.join(f'{launch[WARPS]:.2f}' for launch in found)} | {paper} |", flush=True)


def print_branches(tally):
    """Table III as the command prints it, with a column more."""
    command = [tally, "race", "--paper", "--device", "simt"]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    print(f"\n## Table III: divergent branches, %, launch by launch\n\n"
          f"min of {VALUES} f32; {DIVERGENT} of {BRANCHES}.\n\n"
          f"| | blocks | named by the kernel, counted by the simulator | here, by ncu | GTX 480 |\n"
          f"| --- | ---: | ---: | ---: | ---: |")  # fmt: skip
    for line in printed.splitlines():
        title, *cells = (cell.strip() for cell in line.strip("| ").split("|"))
        if title in TABLE_3:
            blocks, counted, paper = cells
            found = profile(tally, TABLE_3[title], 3, [BLOCKS, BRANCHES, DIVERGENT])
            if ", ".join(f"{launch[BLOCKS]:.0f}" for launch in found) != blocks:
                sys.exit(f"profile.py: {title} has other blocks than {blocks}")
            shares = ", ".join(f"{100 * launch[DIVERGENT] / max(launch[BRANCHES], 1):.2f}" for launch in found)
            print(f"| {title} | {blocks} | {counted} | {shares} | {paper} |", flush=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print_warps(sys.argv[1])
    print_branches(sys.argv[1])


if __name__ == "__main__":
    main()
