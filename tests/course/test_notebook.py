"""The notebook of the course: its cells run one after another, with a stand-in for what shows pictures."""

import json
import os
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIZES = {8192: 2048, 20000: 4000}  # fewer values for the simulator: what is printed has the same form


def test_cells(tmp_path, monkeypatch, capsys):
    shown = []
    stand_in = types.ModuleType("IPython.display")
    stand_in.HTML = stand_in.SVG = str
    stand_in.display = shown.append
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", stand_in)
    monkeypatch.setenv("TALLY_COMMAND", os.environ.get("TALLY_COMMAND", str(ROOT / "build" / "tally")))
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "gallery" / "course" / "course.ipynb").read_text())
    names, found = {}, set()
    for cell in notebook["cells"]:
        assert cell["cell_type"] in ("code", "markdown") and not cell.get("outputs")
        if cell["cell_type"] == "code":
            text = "".join(cell["source"])
            for size, less in SIZES.items():
                found |= {size} if f'"{size}"' in text else set()
                text = text.replace(f'"{size}"', f'"{less}"')
            exec(text, names)
    assert found == set(SIZES)
    printed = capsys.readouterr().out
    assert sum(text.startswith("<svg") for text in shown) == 3 and "width.svg" in shown and len(shown) == 7
    assert "columns of a matrix" in printed and (tmp_path / "width.svg").read_text().startswith("<svg")
    assert "NOT RIGHT" in printed and "right      min" in printed and "__global__ void tb2" in printed
    assert (tmp_path / "course.html").stat().st_size > 100000
