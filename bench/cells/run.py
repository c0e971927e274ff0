"""Measures cells on a machine within a limit of time, and keeps the records as lines of tabs.

A machine has:
    name, about (a dict), count (of values), contexts
    ready(kernels, until)         {kernel that is not ready then: why}
    windows(type, data, second)   addresses of as many values each; second: of the operator's second input
    index(form, shape, count)     (index, segments)
    address(index), room(bytes)   addresses, of room for results
    plain(bytes)                  bytes in a second
    seconds(works)                (median seconds of a call, repeats)
    peer(cell, shape)             (name, works), or None
"""

import argparse
import collections
import gzip
import json
import os
import pathlib
import statistics
import sys
import time

from cells import axes, calls, report

FIELDS = (
    "op type accuracy segmentation data rank values segments bytes seconds repeats share peer peer_seconds ratio"
).split()
NUMBERS = {"rank": int, "values": int, "segments": int, "bytes": int, "repeats": int}
NUMBERS.update(dict.fromkeys(("seconds", "share", "peer_seconds", "ratio"), float))
LONG = 0.1  # a call that takes as many seconds is not repeated
LEAST = 5  # repeats of others
FRESH = 20  # seconds that a plain read is good for
FAILURES = 25  # in a row end a run: a GPU that has failed once refuses all that follows


def some_of(table, separator=","):
    """For an option that takes words of a table: others are refused."""

    def words(text):
        for word in text.split(separator):
            if word not in table:
                known = f"{separator} ".join(table)
                raise argparse.ArgumentTypeError(f"there is no '{word}'; there are {known}")
        return text.split(separator)

    return words


def options_of(description, seconds, log2, peers, add=lambda parser: None):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--seconds", type=float, default=seconds, help=f"for all of it (default {seconds}); 0: no limit"
    )
    parser.add_argument("--log2", type=int, default=log2, help=f"2^LOG2 values (default {log2})")
    parser.add_argument(
        "--peers", type=int, default=peers, metavar="RANK", help=f"to this rank (default {peers}); -1: none"
    )
    parser.add_argument("--rank", type=int, default=99, help="leave out the cells of higher ranks")
    for axis, table in (
        ("op", axes.OPERATORS),
        ("type", axes.TYPES),
        ("accuracy", axes.ACCURACIES),
        ("segmentation", axes.SEGMENTATION),
        ("data", axes.DATA),
    ):
        parser.add_argument(
            f"--{axis}",
            type=some_of(table, "," if axis != "segmentation" else ";"),
            default=[],
            help=f"some of {', '.join(table)}"
            if axis != "segmentation"
            else "some of those that --list prints, by ';'",
        )
    parser.add_argument("--list", action="store_true", help="print the segmentations and how many cells each rank has")
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        default=pathlib.Path(os.environ.get("OUT", "build/matrix")),
        help="folder of the results",
    )
    parser.add_argument(
        "--report",
        type=pathlib.Path,
        nargs="+",
        metavar="TSV",
        help="measure nothing; make the tables of these records again. Of several files a cell of a later one replaces "
        "that of an earlier one, and all of them go to OUT",
    )
    add(parser)
    options = parser.parse_args()
    if not options.report and not chosen(options):
        parser.error("no operator takes such a type, accuracy and data in these ranks")
    return options


def chosen(options):
    only = {axis: getattr(options, axis) for axis in ("op", "type", "accuracy", "segmentation", "data")}
    return [cell for cell in axes.in_order(axes.chosen(axes.all_cells(), only)) if axes.rank(cell) <= options.rank]


def list_cells(cells):
    for segmentation in axes.SEGMENTATIONS:
        print(f"{segmentation.rank}  {segmentation.form:8} {segmentation.name}")
    ranks = collections.Counter(map(axes.rank, cells))
    for rank, number in sorted(ranks.items()):
        print(f"rank {rank:2}: {number:6} cells")
    print(f"in all:  {len(cells):6} cells")


class Plain:
    """The plain read of as many bytes as a cell's values have, measured again every so often: a shared machine changes
    its pace."""

    def __init__(self, machine):
        self.machine, self.speeds, self.when = machine, collections.defaultdict(list), {}

    def speed(self, size):
        """Bytes in a second: the median of the last three."""
        if time.monotonic() > self.when.get(size, 0) + FRESH:
            self.speeds[size].append(self.machine.plain(size))
            self.when[size] = time.monotonic()
        return statistics.median(self.speeds[size][-3:])

    def about(self):
        """Least, median, most, in GB/s."""
        of = lambda speeds: (min(speeds), statistics.median(speeds), max(speeds))
        return {
            f"{size >> 20} MiB": [round(speed / 1e9, 1) for speed in of(speeds)]
            for size, speeds in sorted(self.speeds.items())
        }


class Bench:
    def __init__(self, machine, peers):
        self.machine, self.peers, self.plain = machine, peers, Plain(machine)
        self.peer_seconds = {}

    def works(self, cell, shape, context):
        """The call over each window of the values."""
        machine, pair = self.machine, axes.tally.OPERATORS[cell.op].inputs == 2
        inputs = [machine.windows(cell.type, cell.data, second) for second in (False, True)[: 1 + pair]]
        index = None if shape.index is None else machine.address(shape.index)
        out = machine.room(calls.result_bytes(context, cell, shape))
        return [calls.call(context, cell, shape, window, index, out) for window in zip(*inputs)]

    def measure(self, cell):
        machine, context = self.machine, self.machine.contexts[cell.accuracy]
        shape = calls.shape_of(cell.segmentation, machine.count, machine.index)
        works = self.works(cell, shape, context)
        seconds, repeats = machine.seconds(works)
        size = calls.bytes_of(context, cell, shape)
        plain = self.plain.speed(machine.count * axes.tally.TYPES[cell.type].size)
        peer, peer_seconds = self.peer(cell, shape)
        return {
            **cell._asdict(),
            "rank": axes.rank(cell),
            "values": shape.values,
            "segments": shape.results,
            "bytes": size,
            "seconds": seconds,
            "repeats": repeats,
            "share": size / seconds / plain,
            "peer": peer,
            "peer_seconds": peer_seconds,
            "ratio": peer_seconds / seconds if peer_seconds else None,
        }

    def peer(self, cell, shape):
        """(name, seconds), measured once for all accuracies."""
        key = cell._replace(accuracy="")
        if axes.rank(cell) > self.peers or (cell.data != "normal" and cell.op not in axes.ONLY_DATA):
            return None, None
        if key not in self.peer_seconds:
            self.peer_seconds[key] = None, None
            try:
                found = self.machine.peer(cell, shape)
                if found:
                    self.peer_seconds[key] = found[0], self.machine.seconds(found[1])[0]
            except (RuntimeError, TypeError, ValueError, MemoryError) as reason:
                print(f"peer of {' '.join(cell)}: {str(reason)[:150]}", file=sys.stderr)
        return self.peer_seconds[key]


class Log:
    """What is measured, line by line, so that a run that is cut short has left something."""

    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = open(path, "w")
        print(*FIELDS, sep="\t", file=self.file, flush=True)

    def add(self, record):
        text = lambda value: "" if value is None else f"{value:.5g}" if isinstance(value, float) else str(value)
        print(*(text(record[field]) for field in FIELDS), sep="\t", file=self.file, flush=True)

    def end(self, about):
        print("#" + json.dumps(about), file=self.file, flush=True)


def load(path):
    """(records, about) of a file of Log's, which may be one of gzip's. Of a cell that was measured again, the last."""
    records, about = {}, {}
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as file:
        lines = file.read().splitlines()
    for number, line in enumerate(lines):
        if line.startswith("#"):
            about = json.loads(line[1:])
        elif number:
            record = dict(zip(FIELDS, line.split("\t")))
            records[axes.cell_of(record)] = {
                k: (NUMBERS[k](v) if v else None) if k in NUMBERS else v or None for k, v in record.items()
            }
    return list(records.values()), about


def load_all(paths):
    """(records, about) of several: a cell of a later file replaces that of an earlier one."""
    loaded = [load(path) for path in paths]
    cells = {axes.cell_of(record): record for records, _ in loaded for record in records}
    about = dict(loaded[0][1])
    for (_, later), path in zip(loaded[1:], paths[1:]):
        about["command"] += f"; then {later['command']} ({later['date']})"
    return list(cells.values()), about


def measure_all(bench, cells, until, log):
    """(records, {reason: cells that are left out for it})."""
    records, left, in_a_row, said = [], collections.defaultdict(list), 0, time.monotonic()
    for k, cell in enumerate(cells):
        if until and time.monotonic() > until:
            left["no time"] += cells[k:]
            break
        if in_a_row >= FAILURES:
            left["the machine failed"] += cells[k:]
            break
        try:
            records.append(bench.measure(cell))
            log.add(records[-1])
            in_a_row = 0
        except (calls.Failure, axes.tally.Failure, RuntimeError, MemoryError) as reason:
            left[str(reason).split("\n")[0][:120]].append(cell)
            in_a_row += "too small" not in str(reason) and "no room" not in str(reason)
        if time.monotonic() - said > 10:
            said = time.monotonic()
            print(
                f"[{until - said if until else 0:5.0f} s left] {k + 1} of {len(cells)} cells, rank {axes.rank(cell)}",
                file=sys.stderr,
                flush=True,
            )
    return records, left


def measure_again(bench, records, until, log):
    """Those that something else may have delayed: on a shared host some cells of a run take many times as long, others
    each time. The faster of both counts."""
    for record in report.delayed(records):
        if until and time.monotonic() > until:
            break
        try:
            again = bench.measure(axes.cell_of(record))
        except (calls.Failure, axes.tally.Failure, RuntimeError, MemoryError) as reason:
            print(f"no cell is measured again: {str(reason)[:150]}", file=sys.stderr)
            break
        if again["share"] > record["share"]:
            record.update(again)
            log.add(record)


def report_again(options):
    records, about = load_all(options.report)
    name = options.report[0].name.split(".tsv")[0]
    if len(options.report) == 1:
        report.write(records, about, options.report[0].with_name(name))
        return
    log = Log(options.out / f"{name}.tsv")
    for record in records:
        log.add(record)
    log.end(about)
    report.write(records, about, options.out / name)


def kernels_of(cells):
    """In the order of their first cell."""
    return list(dict.fromkeys(map(axes.kernel, cells)))


def main(options, make_machine, began):
    if options.report:
        report_again(options)
        return 0
    cells = chosen(options)
    if options.list:
        list_cells(cells)
        return 0
    until = began + options.seconds if options.seconds else None
    machine = make_machine(options)
    stem = options.out / f"matrix-{machine.name}"
    log = Log(stem.with_name(stem.name + ".tsv"))
    late = machine.ready(kernels_of(cells), began + 0.45 * options.seconds if options.seconds else None)
    left = collections.defaultdict(list)
    for cell in cells:
        if axes.kernel(cell) in late:
            left[late[axes.kernel(cell)]].append(cell)
    ready = [cell for cell in cells if axes.kernel(cell) not in late]
    bench = Bench(machine, options.peers)
    warmed = time.monotonic()
    records, others = measure_all(bench, ready, until and until - 0.02 * options.seconds, log)
    measure_again(bench, records, until, log)
    for reason, some in others.items():
        left[reason] += some
    about = {
        **machine.about,
        "command": " ".join(sys.argv),
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "log2": options.log2,
        "plain_gb_per_s": bench.plain.about(),
        "seconds": {"until ready": round(warmed - began, 1), "in all": round(time.monotonic() - began, 1)},
        "cells": len(cells),
        "left_out": report.left_out(records, left),
    }
    log.end(about)
    report.write(records, about, stem)
    return 1 if "the machine failed" in left or not records else 0
