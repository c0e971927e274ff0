"""Each kernel as plain CUDA (gallery/cuda), compiled as C++ for the CPU and run there: the result is right at lengths
around what a block takes. nvcc compiles it too, where there is one."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FILES = sorted((HERE.parents[1] / "gallery" / "cuda").glob("*.cu"))
LENGTHS = {"merge_lists": (1, 33, 100)}
OF_ONE_BLOCK = {"interleaved": (1, 2, 33, 1000), "halves": (1, 2, 33, 1000)}


def name_of(file):
    return file.stem[4:]


COMPILE = ["g++", "-std=c++20", "-O1", "-w", "-pthread"]


@pytest.fixture(scope="module")
def headers(tmp_path_factory):
    """What all of them include, parsed once: that takes most of a kernel's time to compile."""
    header = tmp_path_factory.mktemp("headers") / "headers.h"
    included = sorted(set(re.findall("^#include <.*>$", FILES[0].read_text(), re.M)))
    header.write_text("\n".join([*included, f'#include "{HERE / "on_cpu.h"}"\n']))
    subprocess.run([*COMPILE, "-x", "c++-header", "-o", f"{header}.gch", header], check=True)
    return header


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_runs(file, headers, tmp_path):
    text = re.sub(r"(\w+)<<<(.*?), (.*?)>>>\(", r"launch(\2, \3, \1, ", file.read_text())
    source = tmp_path / "kernel.cpp"
    source.write_text(f'#include "{headers}"\n{text}')
    subprocess.run([*COMPILE, "-o", tmp_path / "kernel", source], check=True)
    for length in {**OF_ONE_BLOCK, **LENGTHS}.get(name_of(file), (1, 3, 513, 2500)):
        done = subprocess.run([tmp_path / "kernel", str(length)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "plain_read" in done.stdout or done.stdout.endswith("right\n")


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_nvcc(file, tmp_path):
    command = ["nvcc", "-arch=sm_90", "-c", "-o", tmp_path / "kernel.o", file]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_no_macros():
    """What a student reads is CUDA: no word of the contract is left."""
    for file in FILES:
        assert re.findall(r"\b(?:TALLY|tally)_\w+", file.read_text()) == [], file.name
