"""gallery/pages/keep.py: what tests/gpu.sh gallery writes becomes the files that the pages are made of."""

import importlib
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SWEEP = """min of 1000 f32, segments: random on NVIDIA H100 80GB HBM3, by columns of a matrix

microseconds                        8        16       128  columns of a matrix
segmented_matrix                 12.5         9        11
segmented_diffwarps                14      10.5         -
"""


@pytest.fixture
def keep(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "gallery" / "pages")
    module = importlib.import_module("keep")
    yield module
    for name in ("keep", "generate"):
        sys.modules.pop(name, None)


def race(**also):
    row = {"kernel": "plain_read", "right": True, "blocks": [8], "launches": 1, "seconds": 1e-6, "bytes": 4000,
           "threads": 256, "registers": 20, "shared_bytes": 0, "resident": 8}  # fmt: skip
    rows = [row, {**row, "kernel": "tb2", "seconds": 4e-6}, {"kernel": "halves", "refused": "too long"}]
    return {"op": "min", "type": "f32", "n": 1000, "segments": 0, "shape": "", "device": "NVIDIA H100 80GB HBM3",
            "multiprocessors": 132, "most_threads": 2048, "kernels": rows, **also}  # fmt: skip


def test_keep(keep, monkeypatch, tmp_path):
    out, kept = tmp_path / "out", tmp_path / "kept"
    out.mkdir(), kept.mkdir()
    (kept / "gallery-sweep-old.svg").write_text("of the run before")
    alone = [{"kernel": "tb2", "n": 512, "right": True, "seconds": 1.5e-6}]
    for name, _, _ in keep.RACES:
        (out / f"{name}.json").write_text(json.dumps(race(alone=alone)))
    for name in ("sweep-width-random", "sweep-block"):
        (out / f"{name}.txt").write_text(SWEEP)
        (out / f"{name}.svg").write_text("<svg/>")
    (out / "paper.md").write_text("# made on a GPU\n\nits tables\n")
    (out / "paper.svg").write_text("<svg/>")
    monkeypatch.setattr(keep, "KEPT", kept)
    keep.keep(out, "2026-11-26", "abcdef1")
    record = json.loads((kept / "gallery.json").read_text())
    assert (record["date"], record["commit"], record["multiprocessors"]) == ("2026-11-26", "abcdef1", 132)
    assert record["runs"]["whole"][1] == {"kernel": "tb2", "us": 4.0, "share": 0.25, "registers": 20, "threads": 256,
                                          "resident": 8}  # fmt: skip
    assert record["alone"] == [{"kernel": "tb2", "n": 512, "ns": 1500}]
    assert [(sweep["by"], sweep["shape"]) for sweep in record["sweeps"]] == [
        ("columns of a matrix", ""), ("columns of a matrix", "random")]  # fmt: skip
    assert record["sweeps"][1]["values"] == [8, 16, 128]
    assert record["sweeps"][1]["us"]["segmented_diffwarps"] == [14, 10.5, None]
    text = (kept / "gallery.md").read_text()
    assert "halves" not in text and "too long" in text and "commit abcdef1" in text
    assert sorted(file.name for file in kept.glob("*.svg")) == [
        "gallery-paper.svg", "gallery-sweep-block.svg", "gallery-sweep-width-random.svg"]  # fmt: skip
    assert "(gallery-sweep-width-random.svg)" in text and "its tables" in (kept / "gallery-paper.md").read_text()
