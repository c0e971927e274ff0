"""Arrays that are distributed over ranks: threads stand for them in make check; MPI and torch.distributed, by several
processes, are for `tools/jobs.sh python`."""
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import rank_checks
import tally_reduce as t
from tally_reduce import _core, _partials

SCRIPT = Path(rank_checks.__file__)


class Threads:
    """Ranks that are threads."""

    def __init__(self, size):
        self.size, self.objects, self.barrier = size, [None] * size, threading.Barrier(size, timeout=60)

    def all_reduce(self, rank, adds):
        def gather(mine):
            self.barrier.wait()
            self.objects[rank] = mine
            self.barrier.wait()
            return list(self.objects)

        def add(nodes):
            nodes[:] = sum(np.frombuffer(other, "i8") for other in gather(bytes(nodes))).tobytes()

        def make_array(values, dtype, shape):
            return np.array(values, dtype).reshape(shape)[()]

        def all_reduce(x, op, *, axis=None, keepdims=False, dtype=None, nan="propagate", accuracy="exact", ddof=0):
            words = {"nan": nan, "accuracy": accuracy, "ddof": ddof}
            return _partials.reduce_over_ranks(
                gather, rank, x, op, axis, keepdims, dtype, words, make_array, add if adds else None
            )

        return all_reduce


@pytest.mark.parametrize("size, adds", [(1, True), (2, True), (3, True), (2, False)])
def test_threads(size, adds, monkeypatch):
    monkeypatch.setattr(_partials, "CHUNK_BYTES", 2000)  # some nodes of several
    threads = Threads(size)
    with ThreadPoolExecutor(size) as pool:
        ranks = [pool.submit(rank_checks.check, threads.all_reduce(rank, adds), rank, size) for rank in range(size)]
        for rank in ranks:
            rank.result()


def test_wrong_nodes():
    """What _partials.py would never pass is refused."""
    x, kind = np.arange(6.0), ("sum", "float64")
    nodes = _core._make_nodes(x, 3, *kind)
    assert len(nodes) == 3 * _core._node_facts(*kind)[0] and _core._finish_nodes(nodes, None, *kind) == [1, 5, 9]
    assert _core._make_nodes(x[:0], 0, *kind) == b"" and _core._finish_nodes(b"", "float32", *kind) == []
    assert _core._node_facts("prod", "float64") is None and _core._node_facts("sum", "float64", accuracy="fast") is None
    damaged = bytearray(b"\xff" * len(nodes))
    for call, error in [
        (lambda: _core._make_nodes(x, 4, *kind), ValueError),
        (lambda: _core._make_nodes(x, -1, *kind), ValueError),
        (lambda: _core._make_nodes(x[::2], 3, *kind), ValueError),
        (lambda: _core._make_nodes(x, 3, "prod", "float64"), t.Error),
        (lambda: _core._make_nodes(x, 3, "sum", "float32"), ValueError),
        (lambda: _core._merge_nodes(nodes, nodes[:-8], *kind), ValueError),
        (lambda: _core._merge_nodes(nodes[:-8], nodes[:-8], *kind), ValueError),
        (lambda: _core._merge_nodes(bytes(nodes), nodes, *kind), TypeError),
        (lambda: _core._merge_nodes(nodes, damaged, *kind), ValueError),
        (lambda: _core._shift_nodes(damaged, 1, "argmax", "float64"), ValueError),
        (lambda: _core._finish_nodes(nodes[:-1], None, *kind), ValueError),
        (lambda: _core._finish_nodes(damaged, None, *kind), ValueError),
        (lambda: _core._finish_nodes(nodes, "float96", *kind), TypeError),
    ]:
        with pytest.raises(error):
            call()


def environment(**more):
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1", **more}


@pytest.mark.parametrize("size", [2, 3])
def test_torch(size, tmp_path):
    pytest.importorskip("torch", "2.5")
    command = [sys.executable, SCRIPT, "torch"]
    ranks = [subprocess.Popen([*command, str(rank), str(size), tmp_path / "meeting"], env=environment())
             for rank in range(size)]  # fmt: skip
    try:
        assert [rank.wait(timeout=240) for rank in ranks] == [0] * size
    finally:
        for rank in ranks:
            rank.kill()


# More ranks of MPICH than processors take a minute: each waits by spinning.
@pytest.mark.parametrize("implementation, size", [*(("openmpi", n) for n in (1, 2, 3, 5)), ("mpich", 2)])
def test_mpi(implementation, size, tmp_path):
    """mpi4py's wheel opens libmpi.so.12 of MPICH, which Debian calls libmpich.so.12."""
    pytest.importorskip("mpi4py")
    mpiexec = shutil.which(f"mpiexec.{implementation}")
    if not mpiexec:
        pytest.skip(f"there is no mpiexec.{implementation}")
    more, options = {"MPI4PY_MPIABI": implementation}, []
    if implementation == "openmpi":
        options = ["--oversubscribe", *(["--allow-run-as-root"] if os.getuid() == 0 else [])]
    else:
        (tmp_path / "libmpi.so.12").symlink_to("/usr/lib/x86_64-linux-gnu/libmpich.so.12")
        more["LD_LIBRARY_PATH"] = str(tmp_path)
    command = [mpiexec, *options, "-n", str(size), sys.executable, SCRIPT, "mpi"]
    done = subprocess.run(command, env=environment(**more), capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and f"{size} ranks passed" in done.stdout, done.stdout + done.stderr
    assert (implementation == "mpich") == ("MPICH" in done.stdout)
