"""Every example of README.md and docs/guide.md is compiled or run; pictures and tables that are made are up to date."""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/guide.md"]
LIBRARY = Path(os.environ.get("TALLY_LIBRARY", ROOT / "build/libtally.so"))
COMMAND = Path(os.environ.get("TALLY_COMMAND", ROOT / "build/tally"))


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)


def test_front_page_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


KERNELS = "accumulators device sums order exact_sums shared segments exact_segments rows production".split()
FOLDERS = "bench bench/cells bench/gpu cli tests/unit tools src src/cpu src/cuda src/merge src/simt".split() + [
    f"kernels/{name}" for name in KERNELS]
KINDS = r"c|h|py|sh|cpp|cu|cuh"
SOURCES = [path for top in "bench cli gallery include kernels python src tests tools".split()
           for path in (ROOT / top).rglob("*.*")]


@pytest.mark.parametrize("folder", FOLDERS)
def test_readme_of_a_folder_names_its_files(folder):
    text = (ROOT / folder / "README.md").read_text()
    named = set(re.findall(rf"[\w-]+\.(?:{KINDS})\b", text))
    inside = (ROOT / folder).rglob("*") if folder == "cli" else (ROOT / folder).iterdir()  # one page for all of cli
    files = [path for path in inside if re.fullmatch(rf"\.(?:{KINDS})", path.suffix)]
    # a header stands for its .c, and the other way round
    missing = [path.name for path in files if not named & {path.name, path.stem + ".c", path.stem + ".h"}]
    assert missing == []
    assert named - {path.name for path in SOURCES} == set()


def test_the_path_of_a_call_is_there():
    named = re.findall(r"`(\w+)`\s+\(`([\w/.]+)`", (ROOT / "CONTRIBUTING.md").read_text())
    assert len(named) >= 9
    for function, file in named:
        texts = [path.read_text() for path in ROOT.glob(f"src/**/{Path(file).name}") if str(path).endswith(file)]
        assert any(re.search(rf"\b{function}\(", text) for text in texts), f"{function} is not in {file}"


def test_c_examples():
    examples = blocks("README.md", "c")
    assert examples
    for text in examples:
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder, "example.c"), Path(folder, "example")
            source.write_text(text)
            subprocess.run(
                [
                    "cc",
                    "-std=c11",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-pedantic",
                    f"-I{ROOT}/include",
                    source,
                    "-o",
                    program,
                    LIBRARY,
                    f"-Wl,-rpath,{LIBRARY.parent.resolve()}",
                ],
                check=True,
            )
            done = subprocess.run([program], capture_output=True, text=True, check=True)
            expected = re.search(r"printf\(.*/\* (.*) \*/", text).group(1)
            assert done.stdout.strip() == expected
            assert done.stderr == ""


@pytest.mark.parametrize("page", PAGES)
def test_shell_examples(page):
    """Lines that begin with $ are typed, the blocks of a page one after the other in one folder; what follows each
    must be what it prints."""
    examples = blocks(page, "sh")
    assert examples
    with tempfile.TemporaryDirectory() as folder:
        for text in examples:
            for step in re.split(r"^\$ ", text, flags=re.M)[1:]:
                command, _, expected = step.partition("\n")
                command = command.replace("build/tally", shlex.quote(str(COMMAND.resolve())))
                command = command.replace("examples/data", shlex.quote(str(ROOT / "examples/data")))
                done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=True)
                assert done.stdout == expected, command


def test_map_of_the_tree():
    tree = (ROOT / "CONTRIBUTING.md").read_text().split("## Where things are")[1].split("```")[1]
    named = re.findall(r"^(\S+/) ", tree, re.M)
    assert named
    for folder in named:
        assert (ROOT / folder).is_dir(), folder


@pytest.mark.parametrize("tool", ["tools/draw_architecture.py", "tools/draw_ranks.py", "bench/results.py"])
def test_made_from_the_tree(tool):
    """The picture of the folders, and the tables and chart of results."""
    done = subprocess.run([sys.executable, ROOT / tool, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
