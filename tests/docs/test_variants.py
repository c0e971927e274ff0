"""Patches in bench/gpu/variants apply to the kernels as they are, alone or joined as their README has them."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VARIANTS = ROOT / "bench/gpu/variants"
JOINED = [words.split("+") for words in re.findall(r"\S+\.patch", (VARIANTS / "README.md").read_text())] if VARIANTS.exists() else []


@pytest.mark.parametrize("patches", JOINED, ids="+".join)
def test_applies(patches, tmp_path):
    for folder in ("kernels", "src"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for patch in patches:
        subprocess.run(["git", "apply", VARIANTS / Path(patch).name], cwd=tmp_path, check=True)


def test_all_are_told():
    assert {path.name for path in VARIANTS.glob("*.patch")} == {Path(patch).name for patches in JOINED for patch in patches}
