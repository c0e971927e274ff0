"""The examples of docs/recipes.md are run. tools/lanes.sh python has what they need; what is missing is skipped."""
import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "recipes.md").read_text()
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
NEEDS = {"Dask": "dask.array", "MPI": "mpi4py", "torch.distributed": "torch", "Ray": "ray", "DuckDB": "duckdb"}


def run_session(name, text):
    test = doctest.DocTestParser().get_doctest(text, {}, name, "docs/recipes.md", 0)
    assert test.examples and doctest.DocTestRunner().run(test).failed == 0


def run_scripts(text, folder):
    """Each script (its first line names it) is written, and each shell session prints what the page says."""
    for name, body in re.findall(r"^```python\n# (\S+\.py)\n(.*?)^```$", text, re.M | re.S):
        (folder / name).write_text(body)
    paths = os.pathsep.join(path for path in (str(Path(sys.executable).parent), os.environ["PATH"]))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1", "PATH": paths,
           "MPI4PY_MPIABI": "openmpi", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # fmt: skip
    commands = re.findall(r"^\$ (.*)\n((?:[^$`].*\n)*)", text, re.M)
    for command, wanted in commands:
        command = command.replace("mpiexec", "mpiexec.openmpi")
        done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True, timeout=240)
        assert (done.returncode, done.stdout) == (0, wanted), done.stderr
    assert commands


@pytest.mark.parametrize("name", SECTIONS)
def test_recipe(name, monkeypatch, tmp_path):
    pytest.importorskip(NEEDS[name])
    if name == "MPI" and not shutil.which("mpiexec.openmpi"):
        pytest.skip("there is no mpiexec.openmpi")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # of Ray's workers
    session = "".join(re.findall(r"^```python\n(>>> .*?)^```$", SECTIONS[name], re.M | re.S))
    if session:
        run_session(name, session)
    else:
        run_scripts(SECTIONS[name], tmp_path)
