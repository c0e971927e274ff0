"""tally emit: what it prints defines each of Tally's functions that it calls. It leaves out what a kernel does not use;
a definition that it cannot read, as one made by a macro, is left out too. NVRTC would say so; it is not everywhere."""

import os
import pathlib
import re
import subprocess

import pytest

TALLY = os.environ.get("TALLY_COMMAND", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "tally"))


def emit(*arguments):
    done = subprocess.run([TALLY, "emit", *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return re.sub(r"/\*.*?\*/", "", done.stdout, flags=re.DOTALL)


@pytest.mark.parametrize("accuracy", ["exact", "fast"])
@pytest.mark.parametrize("kind", ["f64", "f16", "u8"])
@pytest.mark.parametrize("operator", ["sum", "stats", "argmin", "dot", "count"])
def test_all_functions_are_defined(operator, kind, accuracy):
    source = emit(operator, kind, "--accuracy", accuracy)
    called = set(re.findall(r"\b(tally_\w+)\s*\(", source))
    defined = set(re.findall(r"^(?:TALLY_|static |#define ).*?\b(tally_\w+)\s*\(", source, re.MULTILINE))
    entries = set(re.findall(r"__global__[^;{]*?\b(tally_\w+)\s*\(const", source))
    assert len(entries) == 1
    assert called <= defined | entries, f"not defined: {called - defined - entries}"
