#!/opt/torch/.venv/bin/python3
"""What bounds a cell of the matrix: the GPU's counters for each kernel of one call, by Nsight Compute (ncu).

    bench/gpu/counters.py --op var --type bf16 --segmentation "rows of 768;each 100" --data normal

Options are those of bench/gpu/matrix. TALLY_LIBRARY names the library, if it is not build/libtally.so. Prints a table:
a kernel's time, its registers and instructions for each value of the cell, how busy memory, issue slots and the pipe of
f64 are, how many warps there are, and why warps wait: cycles a warp waits for each instruction, for the two worst
reasons. Kernels of less than a twentieth of a call's time are left out. Clocks are left alone, and the call is warm.
"""

import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

STALL, PER_ISSUE = "smsp__average_warps_issue_stalled_", "_per_issue_active.ratio"
STALLS = {
    "long_scoreboard": "memory",
    "short_scoreboard": "shared memory",
    "barrier": "barrier",
    "math_pipe_throttle": "arithmetic pipe",
    "wait": "latency of arithmetic",
    "lg_throttle": "load queue",
    "mio_throttle": "shared memory queue",
    "branch_resolving": "branches",
    "no_instruction": "instruction cache",
    "not_selected": "other warps",
    "dispatch_stall": "dispatch",
    "membar": "fence",
}
SHARES = {
    "DRAM": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "L2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "L1": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "issue": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "f64": "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
    "warps": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
TIME, REGISTERS = "gpu__time_duration.sum", "launch__registers_per_thread"
INSTRUCTIONS = "smsp__inst_executed.sum"  # of warps
METRICS = [TIME, REGISTERS, INSTRUCTIONS, *SHARES.values(), *(STALL + name + PER_ISSUE for name in STALLS)]
LEAST = 0.05  # of a call's time
MARK = "spin_kernel"  # stands before the kernels of a cell
CHILD = "TALLY_COUNTERS"  # the variable that tells a process that ncu watches it
UNITS = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3}


def run_cells():
    """Under ncu: one call of each cell, behind a mark."""
    import matrix
    import torch
    from cells import calls, run

    options = run.options_of(__doc__, 0, 26, -1, matrix.add_options)
    cells, machine = run.chosen(options), matrix.Gpu(options)
    machine.ready(run.kernels_of(cells), None)
    bench, profiler = run.Bench(machine, -1), torch.cuda.cudart()
    for cell in cells:
        shape = calls.shape_of(cell.segmentation, machine.count, machine.index)
        works = bench.works(cell, shape, machine.contexts[cell.accuracy])
        for work in works * 2:
            work()
        torch.cuda.synchronize()
        profiler.cudaProfilerStart()
        torch.cuda._sleep(1)
        works[0]()
        torch.cuda.synchronize()
        profiler.cudaProfilerStop()
        print("cell:", shape.values, *cell, sep="\t", flush=True)


def number(text):
    return float(text.replace(",", "") or "nan")


def kernels_of(log):
    """For each mark a list of rows, one for each kernel; and the unit of times in microseconds."""
    rows = csv.DictReader(line for line in log.read_text().splitlines() if line.startswith('"'))
    units, found = next(rows), []
    for row in rows:
        if MARK in row["Kernel Name"]:
            found.append([])
        else:
            found[-1].append(row)
    return found, UNITS[units[TIME]]


def line_of(cell, values, row, unit):
    stalls = sorted(((number(row[STALL + name + PER_ISSUE]), word) for name, word in STALLS.items()), reverse=True)
    shares = [f"{number(row[name]):.0f}%" for name in SHARES.values()]
    waits = ", ".join(f"{word} {cycles:.1f}" for cycles, word in stalls[:2])
    name = row["Kernel Name"].split("(")[0].removeprefix("tally_")
    each = number(row[INSTRUCTIONS]) * 32 / values
    return [*cell, name, f"{number(row[TIME]) * unit:.1f}", row[REGISTERS], f"{each:.1f}", *shares, waits]


def main():
    if CHILD in os.environ:
        run_cells()
        return
    if shutil.which("ncu") is None:
        sys.exit("counters: there is no ncu (Nsight Compute) in PATH; CUDA's toolkit has it in its folder bin")
    with tempfile.TemporaryDirectory() as scratch:
        log = pathlib.Path(scratch) / "ncu.csv"
        command = ["ncu", "--profile-from-start", "off", "--clock-control", "none", "--csv", "--page", "raw"]
        command += ["--metrics", ",".join(METRICS), "--log-file", log, sys.executable, __file__, *sys.argv[1:]]
        ended = subprocess.run(command, env={**os.environ, CHILD: "1"}, stdout=subprocess.PIPE, text=True, check=False)
        if ended.returncode != 0:
            sys.exit(f"counters: ncu ended with {ended.returncode}: {ended.stdout[-500:]}\n{log.read_text()[-500:]}")
        cells = [line.split("\t")[1:] for line in ended.stdout.splitlines() if line.startswith("cell:")]
        found, unit = kernels_of(log)
    head = ["op", "type", "accuracy", "segmentation", "data", "kernel", "us", "registers", "instructions", *SHARES]
    head += ["cycles waited for"]
    print("| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * 6 + ["---:"] * 9 + ["---"]) + " |", sep="\n")
    for (values, *cell), rows in zip(cells, found):
        whole = sum(number(row[TIME]) for row in rows)
        for row in rows:
            if number(row[TIME]) >= LEAST * whole:
                print("| " + " | ".join(line_of(cell, int(values), row, unit)) + " |")


if __name__ == "__main__":
    main()
