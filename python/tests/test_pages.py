"""The examples of docs/python.md and of the README are run, in one session each, and print what the page says."""
import doctest
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_examples(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = "".join(re.findall(r"^```python\n(>>> .*?)^```$", (ROOT / page).read_text(), re.M | re.S))
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    assert test.examples
    runner = doctest.DocTestRunner()
    assert runner.run(test).failed == 0
    assert os.getcwd() == str(ROOT)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_scripts(library):
    """The scripts of docs/python.md for PyTorch and JAX run."""
    pytest.importorskip(library)
    blocks = re.findall(r"^```python\n(import .*?)^```$", (ROOT / "docs" / "python.md").read_text(), re.M | re.S)
    found = [block for block in blocks if f"tally_reduce.{library}" in block]
    assert found
    for block in found:
        exec(block, {})
