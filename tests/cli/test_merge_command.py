"""tally merge against numpy.sort: files of every form and type, more of them than may be open, larger than what is
merged at once, from pipes; and the locale, which does not matter to it or to tables."""

import os
import pathlib
import pty
import resource
import shutil
import subprocess

import numpy as np
import pytest

TALLY = os.environ.get("TALLY_COMMAND", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "tally"))
TYPES = {"b1": "bool", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64", "u1": "u8", "u2": "u16", "u4": "u32",
         "u8": "u64", "f2": "f16", "f4": "f32", "f8": "f64"}  # fmt: skip


def tally(directory, *arguments, **more):
    done = subprocess.run([TALLY, *arguments], cwd=directory, capture_output=True, timeout=120, check=False, **more)
    return done.returncode, done.stdout, done.stderr.decode()


def some_values(random, kind, count):
    if kind == "b1":
        return random.random(count) < 0.3
    if kind[0] == "f":
        values = (random.standard_normal(count) * 100).astype(kind)
        values[random.random(count) < 0.2] = 0
        values[random.random(count) < 0.1] *= -1
        values[random.random(count) < 0.02] = np.nan
        return values
    limits = np.iinfo(kind)
    if random.random() < 0.5:
        limits = type("few", (), {"min": max(limits.min, -20), "max": 20})
    return random.integers(limits.min, limits.max, count, dtype=kind, endpoint=True)


def write(path, values, form):
    if form == "npy":
        np.save(path, values if values.size % 2 else values.astype(values.dtype.newbyteorder(">")))
    elif form == "raw":
        values.tofile(path)
    else:
        words = [str(bool(x)).lower() for x in values] if values.dtype == bool else [repr(x.item()) for x in values]
        path.write_text("\n".join(words) + "\n")


@pytest.mark.parametrize("kind", TYPES)
def test_random(tmp_path, kind):
    random = np.random.default_rng(ord(kind[0]) + int(kind[1]))
    for count in 1, 2, 5, 40:
        parts, names = [], []
        for k in range(count):
            parts.append(np.sort(some_values(random, kind, int(random.integers(0, 3000))), kind="stable"))
            form = ("npy", "raw", "txt")[int(random.integers(0, 3))]
            names.append(f"{k}.{TYPES[kind] if form == 'raw' else form}")
            write(tmp_path / names[-1], parts[-1], form)
        wanted = np.sort(np.concatenate(parts), kind="stable")
        words = ["merge", *names, "--type", TYPES[kind], "--threads", "2"]
        assert tally(tmp_path, *words, "-o", "out.npy") == (0, b"", "")
        got = np.load(tmp_path / "out.npy")
        assert got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes()
        assert tally(tmp_path, *words, "-o", "out.bin") == (0, b"", "")
        assert (tmp_path / "out.bin").read_bytes() == wanted.tobytes()


def test_larger_than_what_is_merged_at_once(tmp_path):
    values = np.arange(13000000, dtype="f8")
    steps = [values[::2], values[1:9000000:2], values[9000001::2]]
    for k, part in enumerate(steps):
        part.tofile(tmp_path / f"{k}.f64")
    assert tally(tmp_path, "merge", "0.f64", "1.f64", "2.f64", "-o", "out.f64") == (0, b"", "")
    assert (tmp_path / "out.f64").read_bytes() == values.tobytes()
    with open(tmp_path / "1.f64", "rb") as pipe, subprocess.Popen(["cat"], stdin=pipe, stdout=subprocess.PIPE) as cat:
        words = "merge", "0.f64", "-", "2.f64", "-o", "out.f64", "--type", "f64", "--raw"
        assert tally(tmp_path, *words, stdin=cat.stdout) == (0, b"", "")
    assert (tmp_path / "out.f64").read_bytes() == values.tobytes()
    part = steps[0].copy()
    part[5500000] = 3.5  # where a second piece has begun
    part.tofile(tmp_path / "0.f64")
    status, _, complaint = tally(tmp_path, "merge", "0.f64", "1.f64", "2.f64", "-o", "none.f64")
    assert status == 1 and "0.f64: it is not sorted: value 5500001 (3.5) belongs before value 5500000" in complaint
    assert not (tmp_path / "none.f64").exists()


def test_more_files_than_may_be_open(tmp_path):
    names = []
    for k in range(2000):
        names.append(f"{k}.txt" if k % 2 else f"{k}.i64")
        write(tmp_path / names[-1], np.arange(k, 20000, 2000, dtype="i8"), "txt" if k % 2 else "raw")
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))  # noqa: E731
    status, out, complaint = tally(tmp_path, "merge", *names, preexec_fn=few)
    assert (status, complaint) == (0, "")
    assert out.decode().split() == [str(k) for k in range(20000)]


def test_file_that_is_replaced(tmp_path):
    """A file that is another one when it is read on is refused."""
    (tmp_path / "a.txt").write_text("1\n2\n")
    os.mkfifo(tmp_path / "b")
    words = [TALLY, "merge", "a.txt", "b", "--type", "i64"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        with open(tmp_path / "b", "w", encoding="ascii") as pipe:  # a.txt has been looked at, and is laid aside
            (tmp_path / "new").write_text("3\n")
            os.rename(tmp_path / "new", tmp_path / "a.txt")
            pipe.write("5\n")
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == 1 and b"a.txt: another file took its place" in complaint


def test_locale(tmp_path):
    """Commas for points, other orders of letters, other thousands: nothing changes."""
    (tmp_path / "t.csv").write_text("k,v\nÄ,1.5\nz,1000000.25\nÄ,1e3\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("1.5\n1e3\n")
    plain = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    other = {"PATH": os.environ["PATH"], "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "LOCPATH": str(tmp_path)}
    made = shutil.which("localedef") and subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")], capture_output=True, check=False
    )
    for words in ["sum", "v", "max", "v", "--by", "k", "t.csv"], ["merge", "a.txt", "a.txt"], ["stats", "a.txt"]:
        results = [tally(tmp_path, *words, env=env) for env in (plain, other)]
        assert results[0] == results[1] and results[0][0] == 0
    if not made or made.returncode != 0:
        pytest.skip("no German locale can be made here (Debian: locales)")


def test_bar(tmp_path):
    """On a terminal, after a second, when the numbers do not go there too."""
    write(tmp_path / "a.i64", np.arange(1000), "raw")
    for output, drawn in (" -o out.i64", True), ("", False):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(tmp_path)
            os.execvp("sh", ["sh", "-c", f"(seq 9; sleep 1.2; seq 10 200000) | '{TALLY}' merge a.i64 -{output}"])
        shown = b""
        try:
            while piece := os.read(terminal, 65536):
                shown += piece
        except OSError:  # how Linux says that the other side has gone
            pass
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert (b"GB/s" in shown) == drawn
        assert drawn or shown.endswith(b"200000\r\n")
