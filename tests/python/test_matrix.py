"""bench/cells: the cells of the matrix, their input, the loop with its limit of time, and what is made of records.

No GPU is needed, and no time is measured."""

import collections
import pathlib
import sys
import time
import types
import xml.etree.ElementTree

import numpy as np
import pytest

import tally

sys.path.insert(0, str(pathlib.Path(tally.ROOT) / "bench"))
from cells import axes, calls, keep, lengths, report, run, svg, values  # noqa: E402

COUNT = 1 << 16


def cell(op="sum", type="f32", accuracy="exact", segmentation="whole", data="normal"):
    return axes.Cell(op, type, accuracy, segmentation, data)


# ---- axes ----


def test_every_operator_has_a_rank():
    assert set(axes.OPERATORS) == set(tally.OPERATORS)


def test_cells_are_legal_and_all_there_are():
    cells = axes.all_cells()
    assert len(set(cells)) == len(cells)
    for axis, names in (
        ("op", axes.OPERATORS),
        ("type", axes.TYPES),
        ("segmentation", axes.SEGMENTATION),
        ("data", axes.DATA),
        ("accuracy", axes.ACCURACIES),
    ):
        assert {getattr(one, axis) for one in cells} == set(names)
    for op, type, accuracy, _, data in {one._replace(segmentation="") for one in cells}:
        assert tally.OPERATORS[op].takes(type)
        assert (accuracy == "only") != tally.OPERATORS[op].exact(type)
        assert data in ("zeros", "normal", "any bits", "signs") or tally.TYPES[type].kind == "float"


def test_order_is_a_sample_that_begins_with_low_ranks():
    cells = axes.all_cells()
    order = axes.in_order(cells)
    assert sorted(order) == sorted(cells) and order == axes.in_order(cells)
    first = collections.Counter(map(axes.rank, order[:2000]))
    all_of = collections.Counter(map(axes.rank, cells))
    parts = [first[rank] / all_of[rank] for rank in range(6)]
    assert parts == sorted(parts, reverse=True) and parts[0] > 0.95
    for axis, names in (
        ("op", axes.OPERATORS),
        ("type", axes.TYPES),
        ("segmentation", axes.SEGMENTATION),
        ("data", axes.DATA),
    ):
        assert {getattr(one, axis) for one in order[:5000]} == set(names)


def test_chosen_by_axis():
    only = {"op": ["sum"], "type": ["f32", "u8"], "segmentation": ["whole"], "data": ["normal"], "accuracy": []}
    assert set(axes.chosen(axes.all_cells(), only)) == {cell(), cell(accuracy="fast"), cell(type="u8", accuracy="only")}


@pytest.mark.parametrize(
    "words, why",
    [
        (["--op", "sum,summ"], "there is no 'summ'; there are sum, mean, var"),
        (["--type", "f31"], "there is no 'f31'; there are f32"),
        (["--accuracy", "quick"], "there is no 'quick'; there are exact, fast, only"),
        (["--segmentation", "whole;rows of 65"], "there is no 'rows of 65'; there are whole; 3 rows"),
        (["--data", "odd"], "there is no 'odd'; there are normal"),
        (["--op", "and", "--type", "f32"], "no operator takes such a type"),
    ],
)
def test_what_the_table_does_not_have_is_refused(words, why, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["matrix", *words])
    with pytest.raises(SystemExit) as left:
        run.options_of("", 1, 16, 3)
    assert left.value.code == 2 and why in capsys.readouterr().err


# ---- input ----


@pytest.mark.parametrize(
    "segmentation", [one for one in axes.SEGMENTATIONS if one.form not in ("rows", "whole")], ids=lambda one: one.name
)
def test_segments_fill_the_array(segmentation):
    index, segments = lengths.index(segmentation.form, segmentation.shape, COUNT)
    assert index.dtype == np.int32
    x = np.ones(COUNT, np.float32)
    found = tally.Context().segments("count", "f32", x, segmentation.form, index, count=segments)
    assert sum(int.from_bytes(one, "little") for one in found.bytes) == COUNT and len(found.bytes) == segments


def test_lengths_are_what_they_are_called():
    each = np.diff(lengths.offsets(("each", 300), COUNT))
    assert set(each[:-1]) == {300} and each[-1] == COUNT % 300
    assert 18 < np.diff(lengths.offsets(("geometric", 20), COUNT)).mean() < 22
    assert 0.77 < (np.diff(lengths.offsets(("mostly empty", (1, 63)), COUNT)) == 0).mean() < 0.83
    assert list(np.diff(lengths.offsets(("turns", 64), COUNT))[:65]) == [*range(1, 65), 1]
    assert len(lengths.offsets(("few", (1,)), COUNT)) == 2
    assert lengths.rows((-1, 1000, 1), COUNT) == (65, 1000, 1)
    assert lengths.rows((1, -1, COUNT * 2), COUNT) is None


def as_floats(type, block):
    if type == "bf16":
        return (block.astype("u4") << 16).view("f4").astype("f8")
    return block.view("f2").astype("f8") if type == "f16" else block.astype("f8")


@pytest.mark.parametrize("type", list(values.FLOATS))
def test_floats_are_what_they_are_called(type):
    of = lambda kind: as_floats(type, values.block(type, kind, count=10000))
    assert abs(of("normal").std() - 1) < 0.05 and (of("zeros") == 0).all()
    assert 0 <= of("uniform").min() and of("uniform").max() <= 1
    assert set(of("signs")) == {-1, 1}
    assert 2 < np.isnan(of("NaN in 1000")).sum() < 30
    assert np.isfinite(of("any bits")).all() and np.isfinite(of("wide")).all()
    least = {"f16": 2**-14, "bf16": 2**-126, "f32": 2**-126, "f64": 2**-1022}[type]
    assert (np.abs(of("subnormal")) < least).all() and (of("subnormal") != 0).mean() > 0.9
    spread = np.log2(np.abs(of("wide")[of("wide") != 0]))
    assert spread.max() - spread.min() > (20 if type == "f16" else 110)
    assert as_floats(type, values.single(type, "one inf")) == np.inf and values.single(type, "normal") is None


def test_bf16_is_rounded_to_nearest_even():
    x = np.array([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20])
    assert list(values.from_f64(x, "bf16")) == [0x3F80, 0x3F82, 0x3F81]


@pytest.mark.parametrize("type", list(axes.TYPES))
def test_every_kind_of_every_type_has_its_size(type):
    for op in axes.OPERATORS:
        if tally.OPERATORS[op].takes(type):
            for kind in axes.kinds_of(op, type):
                assert values.block(type, kind, count=16).itemsize == tally.TYPES[type].size


def test_kept_things_leave_in_the_order_of_their_use():
    kept, made = keep.Kept(10), []
    take = lambda key: kept.get(key, lambda: made.append(key) or key, lambda _: 4)
    for key in "ab" "a" "c" "a" "b":
        assert take(key) == key
    assert made == ["a", "b", "c", "b"]


# ---- the loop ----


class Machine:
    """Has numpy's memory, reduces, and makes up the time: a nanosecond a byte, a tenth of that for sums."""

    name, count, about = "machine", COUNT, {"name": "a machine"}

    def __init__(self):
        self.contexts, self.kept, self.out = calls.contexts(threads=1), [], np.zeros(1 << 22, "u1")
        self.peers = 0

    def windows(self, type, data, second):
        self.kept.append(values.block(type, data, 1 + second, COUNT))
        return [self.kept[-1].ctypes.data]

    def index(self, form, shape, count):
        return lengths.index(form, shape, count)

    def address(self, index):
        self.kept.append(index)
        return index.ctypes.data

    def room(self, size):
        if size > self.out.nbytes:
            raise calls.Failure("no room for the results")
        return self.out.ctypes.data

    def plain(self, size):
        return 2e9

    def seconds(self, works):
        works[0]()
        return 1e-3, 5

    def peer(self, one, shape):
        self.peers += 1
        return ("peer", [lambda: None]) if one.op == "sum" else None


def test_bytes_are_values_index_and_results():
    context = calls.contexts(threads=1)["exact"]
    shape = lambda one: calls.shape_of(one.segmentation, 1024, lengths.index)
    of = lambda **axis: calls.bytes_of(context, cell(**axis), shape(cell(**axis)))
    assert of() == 4096 + 4
    assert of(segmentation="each 8") == 4096 + 4 * 129 + 4 * 128
    assert of(op="dot", segmentation="each 8") == 2 * 4096 + 4 * 129 + 4 * 128
    assert of(segmentation="ids, each 3") == 4096 + 4096 + 4 * 342
    assert of(op="stats", segmentation="rows of 64") == 4096 + 16 * 48
    assert of(op="minmax", type="u8", segmentation="first x 8") == 1024 + 8 * 2


@pytest.mark.parametrize(
    "one",
    [
        cell(op, segmentation=name)
        for op in ("sum", "dot", "minmax")
        for name in ("whole", "first x 8", "each 3", "ids, each 3")
    ],
    ids=lambda one: f"{one.op} {one.segmentation}",
)
def test_a_cell_is_the_call_it_names(one):
    machine, on = Machine(), tally.Context()
    one = one._replace(accuracy=axes.accuracies_of(one.op, one.type)[0])
    shape = calls.shape_of(one.segmentation, COUNT, lengths.index)
    works = run.Bench(machine, -1).works(one, shape, machine.contexts[one.accuracy])
    works[0]()
    x, y = (values.block("f32", "normal", seed, COUNT) for seed in (1, 2))
    y = y if one.op == "dot" else None
    if one.segmentation == "whole":
        wanted = on.reduce(one.op, "f32", x, y)
    elif shape.rows:
        outer, length, inner = shape.rows
        wanted = on.segments(one.op, "f32", x, "rows", None, outer, length, inner, y=y)
    else:
        form = axes.SEGMENTATION[one.segmentation].form
        wanted = on.segments(one.op, "f32", x, form, shape.index, shape.segments, y=y)
    found = b"".join(wanted.bytes)
    assert machine.out.tobytes()[: len(found)] == found and len(found) == calls.result_bytes(
        machine.contexts["exact"], one, shape
    )


def test_records_are_kept_and_read_again(tmp_path):
    machine, log = Machine(), run.Log(tmp_path / "m.tsv")
    bench = run.Bench(machine, 99)
    cells = [
        cell(),
        cell(accuracy="fast"),
        cell(op="max", accuracy="only", segmentation="each 3"),
        cell(segmentation="first x 2^20"),
    ]
    records, left = run.measure_all(bench, cells, None, log)
    log.end({"name": "x"})
    assert [record["op"] for record in records] == ["sum", "sum", "max"] and left == {
        "the array is too small": [cells[3]]
    }
    assert records[0]["share"] == pytest.approx((4 * COUNT + 4) / 1e-3 / 2e9)
    assert records[0]["ratio"] == 1 and records[2]["ratio"] is None and machine.peers == 2
    again, about = run.load(tmp_path / "m.tsv")
    assert about == {"name": "x"} and len(again) == 3
    assert {k: again[0][k] for k in ("op", "segmentation", "values", "repeats", "peer")} == {
        k: records[0][k] for k in ("op", "segmentation", "values", "repeats", "peer")
    }
    assert again[0]["share"] == pytest.approx(records[0]["share"], rel=1e-4)


def test_cells_that_were_delayed_are_measured_again(tmp_path):
    log, bench = run.Log(tmp_path / "m.tsv"), run.Bench(Machine(), -1)
    records, _ = run.measure_all(bench, [cell(data=data) for data in ("normal", "uniform", "zeros")], None, log)
    share = records[1]["share"]
    records[1]["share"] = share / 10
    run.measure_again(bench, records, None, log)
    log.end({"name": "x"})
    assert records[1]["share"] == pytest.approx(share)
    assert [one["data"] for one in run.load(tmp_path / "m.tsv")[0]] == ["normal", "uniform", "zeros"]
    records[1]["share"] = share / 10
    run.measure_again(bench, records, time.monotonic() - 1, log)
    assert records[1]["share"] == share / 10


def test_no_time_leaves_cells_out_aloud(tmp_path):
    log = run.Log(tmp_path / "m.tsv")
    records, left = run.measure_all(run.Bench(Machine(), -1), [cell(), cell(data="wide")], time.monotonic() - 1, log)
    assert not records and len(left["no time"]) == 2
    sentences = report.left_out(records, left)
    assert "2 cells: no time" in sentences and "nothing was measured of op sum" in sentences
    assert any("rank 0: 0 of 1, rank 2: 0 of 1" in sentence for sentence in sentences)


def test_a_machine_that_fails_is_left_alone(tmp_path):
    machine = Machine()
    machine.windows = lambda *_: (_ for _ in ()).throw(RuntimeError("the device is lost"))
    cells = axes.in_order(axes.all_cells())[:100]
    records, left = run.measure_all(run.Bench(machine, -1), cells, None, run.Log(tmp_path / "m.tsv"))
    assert (
        not records
        and len(left["the device is lost"]) == run.FAILURES
        and len(left["the machine failed"]) == 100 - run.FAILURES
    )


def test_a_whole_run(tmp_path, capsys):
    options = types.SimpleNamespace(
        report=None,
        list=False,
        seconds=0,
        out=tmp_path,
        peers=0,
        rank=2,
        op=["sum", "var"],
        type=["f32"],
        accuracy=[],
        segmentation=[],
        data=[],
        log2=16,
    )
    assert run.main(options, Machine_that_is_ready, time.monotonic()) == 0
    out = capsys.readouterr().out
    assert "Worst share of ordinary data" in out and "not compiled" in out
    for ending in ("tsv", "md", "svg"):
        assert (tmp_path / f"matrix-machine.{ending}").stat().st_size > 500
    before = (tmp_path / "matrix-machine.md").read_text()
    assert "\n## The ten worst cells\n" in before
    options.report = [tmp_path / "matrix-machine.tsv"]
    assert run.main(options, None, 0) == 0
    assert [line[:12] for line in (tmp_path / "matrix-machine.md").read_text().splitlines()] == [
        line[:12] for line in before.splitlines()
    ]
    records, about = run.load(options.report[0])
    later = tmp_path / "later.tsv"
    log = run.Log(later)
    log.add({**records[0], "share": 123.0})
    log.end(about)
    options.report.append(later)
    options.out = tmp_path / "both"
    assert run.main(options, None, 0) == 0
    both, about = run.load(options.out / "matrix-machine.tsv")
    assert [record["share"] for record in both] == [123.0, *(record["share"] for record in records[1:])]
    assert "; then " in about["command"]


class Machine_that_is_ready(Machine):
    def __init__(self, options):
        super().__init__()

    def ready(self, kernels, until):
        return {kernels[-1]: "not compiled in time"}


# ---- what is made of records ----


def record(share, ratio=None, **axis):
    one = cell(**axis)
    return {
        **one._asdict(),
        "rank": axes.rank(one),
        "values": 1,
        "segments": 1,
        "bytes": 1,
        "seconds": 1e-3 / share,
        "repeats": 5,
        "share": share,
        "peer": "peer" if ratio else None,
        "peer_seconds": 1.0 if ratio else None,
        "ratio": ratio,
    }


RECORDS = [
    record(0.9),
    record(0.5, 2.0, segmentation="each 3"),
    record(0.012, 0.5, segmentation="each 6"),
    record(0.6, 1.5, segmentation="each 8"),
    record(0.3, segmentation="each 8", data="wide"),
    record(0.7, accuracy="fast", segmentation="each 8"),
    record(0.8, op="max", accuracy="only", segmentation="each 8"),
]


def test_worst_cells_come_first():
    assert [one["share"] for one in report.worst_cells(RECORDS, 3)] == [0.012, 0.3, 0.5]


def test_cliffs_stand_out_from_their_neighbours():
    assert [one["segmentation"] for one in report.cliffs(RECORDS)] == ["each 6"]


def test_maps_have_the_worst_of_each_cell():
    ordinary, hard, by_data = report.maps([*RECORDS, record(0.4, segmentation="each 8", data="zeros")])
    assert ordinary.shares["sum f32 exact", "each 8"] == 0.4 and hard.shares["sum f32 exact", "each 8"] == 0.3
    assert ordinary.rows == ["sum f32 exact", "sum f32 fast", "max f32"]
    assert ordinary.columns == ["whole", "each 3", "each 6", "each 8"]
    assert by_data.shares["sum f32 exact", "normal"] == 0.012


def test_text_of_a_map():
    lines = report.text_of(next(iter(report.maps(RECORDS)))).splitlines()
    assert lines[-3].split() == ["sum", "f32", "exact", "90", "50", "1.2", "60"]
    assert lines[-1].split() == ["max", "f32", ".", ".", ".", "80"]
    assert "".join(f"{line:29}"[28] for line in lines[1:7]) == "each 8"


def test_markdown_says_the_worst():
    text = report.markdown(RECORDS, {"name": "a machine", "cells": 99, "left_out": ["2 cells: no time"]}, "chart.svg")
    assert "| sum | 0.012 / 0.70 |" in text and "| sum f32 exact, each 6, normal | 0.012 |" in text
    assert "| each 8 | 0.60 sum f32 | 0.30 sum f32 | 0.70 sum f32 | 0.80 max f32 |" in text
    assert "| sum f32 exact | 3 | 1 | 1.50 | 0.50 each 6 (peer) |" in text
    assert "7 of 99 cells" in text and "- 2 cells: no time" in text and "![heat map](chart.svg)" in text


def test_svg_has_a_colour_and_a_number_for_each_cell():
    root = xml.etree.ElementTree.fromstring(svg.draw(list(report.maps(RECORDS)), "a <title>"))
    texts = ["".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")]
    fills = [one.get("fill") for one in root.iter("{http://www.w3.org/2000/svg}path")]
    assert "a <title>" in texts and "sum f32 exact" in texts
    assert svg.color(0.9) in fills and svg.color(0.012) in fills
    assert svg.color(0) == svg.COLORS[0][1] and svg.color(5) == svg.COLORS[-1][1]
    for one in root.iter("{http://www.w3.org/2000/svg}text"):
        if one.get("font-size") == "7":
            assert len(one.get("x").split()) == len(one.text)
