#!/usr/bin/env python3
"""Tally beside the plain read, NumPy, OpenBLAS, OpenMP and std::reduce, in one process, on the same memory.

    bench/run.py --build build              everything: memory-sized arrays, segments, rows, caches, threads
    bench/run.py --build build --quick      f32 and f64 only, fewer repeats
    bench/run.py --report FILE.json         tables and chart again from kept results

Results go to docs/measurements/ (or --out DIR): cpu-DATE-MACHINE.json, .md and .svg (a chart, which git ignores
there); the table also to stdout. How things are timed: harness.py. What is measured: cases.py.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

import numpy

import cases
import harness
import report

HERE = pathlib.Path(__file__).resolve().parent
SECTIONS = {
    "whole": "whole",
    "exact": "exact",
    "segments": "segments",
    "rows": "rows",
    "cache": "cache",
    "threads": "threads_scaling",
    "dispatch": "dispatch",
}


def size(text):
    match = re.fullmatch(r"(\d+)\s*([kmg]?)i?b?", text.lower())
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no size; write 1Gi or 64Mi")
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[match[2]]


def names(text):
    return text.split(",")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="the build directory (default: build)")
    parser.add_argument("--quick", action="store_true", help="f32 and f64 only, 5 repeats")
    parser.add_argument("--bytes", type=size, default=1 << 30, help="bytes of an array from memory (default 1Gi)")
    parser.add_argument(
        "--segment-bytes", type=size, help="bytes of the values of a segmented array (default: a quarter of --bytes)"
    )
    parser.add_argument("--repeats", type=int, help="samples of each contender (default 9, quick 5)")
    parser.add_argument("--seconds", type=float, default=0, help="cases that would begin later are left out")
    parser.add_argument("--threads", type=int, default=0, help="default: OMP_NUM_THREADS, or all cores")
    parser.add_argument("--sections", type=names, default=list(SECTIONS), help=f"some of {','.join(SECTIONS)}")
    parser.add_argument("--ops", type=names, help="only these operators")
    parser.add_argument("--types", type=names, help="only these types")
    parser.add_argument(
        "--out", type=pathlib.Path, default=HERE.parent / "docs" / "measurements", help="directory of the results"
    )
    parser.add_argument("--report", type=pathlib.Path, metavar="JSON", help="measure nothing; show these results again")
    options = parser.parse_args()
    options.repeats = options.repeats or (5 if options.quick else 9)
    options.segment_bytes = options.segment_bytes or options.bytes // 4
    for section in options.sections:
        if section not in SECTIONS:
            parser.error(f"no section '{section}'; there are {', '.join(SECTIONS)}")
    return options


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=HERE, timeout=20).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def cpu():
    """The model and the caches, as Linux tells them."""
    try:
        info = pathlib.Path("/proc/cpuinfo").read_text()
        model = re.search(r"model name\s*: (.*)", info)[1]
    except (OSError, TypeError):
        model = platform.processor() or platform.machine()
    caches = {}
    for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        read = lambda name: (index / name).read_text().strip()
        caches[f"L{read('level')} {read('type').lower()}"] = read("size")
    return model, caches


def surroundings(bench):
    """Who measured what, where and how."""
    library, options = bench.library, bench.options
    model, caches = cpu()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "command": " ".join([sys.executable, *sys.argv]),
        "machine": {
            "cpu": model,
            "cores": len(os.sched_getaffinity(0)),
            "caches": caches,
            "memory_bytes": memory,
            "kernel": platform.platform(),
            "load_at_start": os.getloadavg()[0],
            "huge_pages": "madvise, for the input",
        },
        "threads": {"tally": bench.threads, "openblas": bench.blas_threads, "numpy": 1, "others": bench.threads},
        "environment": {
            name: value for name, value in os.environ.items() if re.match(r"(OMP|GOMP|OPENBLAS|TBB|TALLY)_", name)
        },
        "versions": {
            "tally": library.text("bench_tally_version") or "absent",
            "tally_isa": library.text("bench_tally_isa"),
            "tally_default": "exact" if library.exact else "fast",
            "commit": output_of("git", "describe", "--always", "--dirty") or os.environ.get("COMMIT", ""),
            "compiler": library.build.get("compiler", ""),
            "build_type": library.build.get("build_type", ""),
            "peer_flags": library.build.get("peer_flags", ""),
            "numpy": numpy.__version__,
            "python": platform.python_version(),
            "openblas": library.text("openblas_get_config") or "absent",
            "libc": " ".join(platform.libc_ver()),
            "std": "libstdc++ on TBB" if any(row.family == b"std" for row in library.rows) else "absent",
        },
        "method": {
            "bytes": options.bytes,
            "segment_bytes": options.segment_bytes,
            "repeats": options.repeats,
            "settle_s": harness.SETTLE,
            "warm_s": harness.WARM,
            "sample_s": harness.SAMPLE,
            "peers_slower_than_s_get_part": cases.SLOW,
            "part_bytes": cases.PART,
            "time": "median of interleaved repeats, warm; of_plain: median of the fractions within each round",
        },
    }


def small_inputs(options, caches):
    """Warnings where "from memory" would be a lie."""
    largest = max((size(text) for text in caches.values()), default=0)
    return [
        f"{what}: {given >> 20} MiB is less than four times the largest cache ({largest >> 20} MiB); "
        "its speeds are partly the cache's"
        for what, given in (("whole, rows, threads", options.bytes), ("segments", options.segment_bytes))
        if given < 4 * largest
    ]


def main():
    options = arguments()
    if options.report:
        report.write(json.loads(options.report.read_text()), options.report.with_suffix(""))
        return
    library = harness.load(options.build)
    progress = harness.Progress()
    bench = cases.Bench(options, library, progress)
    results = {"about": surroundings(bench), "records": []}
    warnings = small_inputs(options, results["about"]["machine"]["caches"])
    for family in (b"tally", b"openblas", b"std"):
        if not any(row.family == family for row in library.rows):
            warnings.append(f"{family.decode()} is not in this build and is not measured")
    if os.getloadavg()[0] > 0.5:
        warnings.append(f"the machine is busy (load {os.getloadavg()[0]:.1f}); timings are noisy")
    began, late = time.monotonic(), False
    for section in options.sections:
        for labels, contenders in getattr(bench, SECTIONS[section])():
            late = late or 0 < options.seconds < time.monotonic() - began
            if late:
                break
            case = {"section": section, **labels}
            progress.say("  ".join(map(str, case.values())))
            records = harness.measure(list(contenders), options.repeats)
            results["records"] += [{**case, **record} for record in records]
            if section == "whole":
                warnings += harness.disagreements(case, records)
    progress.say("done", end=True)
    if late:
        warnings.append(f"{options.seconds:g} seconds were not enough: what would have come later is left out")
    results["warnings"] = warnings
    machine = re.sub(r"[^a-z0-9]+", "-", f"{results['about']['machine']['cpu']} {bench.threads} threads".lower()).strip(
        "-"
    )
    report.write(results, options.out / f"cpu-{results['about']['date'][:10]}-{machine}")
    for text in warnings:
        print(f"warning: {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
