"""The examples of docs/recipes.md are run. tools/jobs.sh python has what they need; what is missing is skipped."""
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
NEEDS = {"Dask": "dask.array", "MPI": "mpi4py", "torch.distributed": "torch", "Ray": "ray",
         "DuckDB": "duckdb pyarrow"}  # fmt: skip


ENVIRONMENT = {
    **os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1", "RAY_AUTH_MODE": "disabled",
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "MPI4PY_MPIABI": "openmpi", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}  # fmt: skip


def run(command, folder):
    return subprocess.run(command, shell=isinstance(command, str), cwd=folder, env=ENVIRONMENT, capture_output=True,
                          text=True, timeout=240)  # fmt: skip


def run_session(text, file):
    """In a process of its own, as Ray forks."""
    file.write_text(text)
    code = f"import doctest, sys; sys.exit(doctest.testfile({str(file)!r}, module_relative=False).failed)"
    done = run([sys.executable, "-c", code], ROOT)
    assert ">>>" in text and done.returncode == 0, done.stdout + done.stderr


def run_scripts(text, folder):
    """Each script (its first line names it) is written, and each shell session prints what the page says."""
    for name, body in re.findall(r"^```python\n# (\S+\.py)\n(.*?)^```$", text, re.M | re.S):
        (folder / name).write_text(body)
    commands = re.findall(r"^\$ (.*)\n((?:[^$`].*\n)*)", text, re.M)
    for command, wanted in commands:
        done = run(command.replace("mpiexec", "mpiexec.openmpi"), folder)
        assert (done.returncode, done.stdout) == (0, wanted), done.stderr
    assert commands


@pytest.mark.parametrize("name", SECTIONS)
def test_recipe(name, tmp_path):
    for module in NEEDS[name].split():
        pytest.importorskip(module)
    if name == "MPI" and not shutil.which("mpiexec.openmpi"):
        pytest.skip("there is no mpiexec.openmpi")
    session = "".join(re.findall(r"^```python\n(>>> .*?)^```$", SECTIONS[name], re.M | re.S))
    if session:
        run_session(session, tmp_path / "session.txt")
    else:
        run_scripts(SECTIONS[name], tmp_path)
