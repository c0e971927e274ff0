"""Every example in README.md is compiled or run, and its table of operators is the program's."""
import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
LIBRARY = Path(os.environ.get("TALLY_LIBRARY", ROOT / "build/libtally.so"))
COMMAND = Path(os.environ.get("TALLY_COMMAND", ROOT / "build/tally"))


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


def test_c_examples():
    examples = blocks("c")
    assert examples
    for text in examples:
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder, "example.c"), Path(folder, "example")
            source.write_text(text)
            subprocess.run(
                ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{ROOT}/include", source, "-o", program,
                 LIBRARY, f"-Wl,-rpath,{LIBRARY.parent.resolve()}"], check=True)
            done = subprocess.run([program], capture_output=True, text=True, check=True)
            expected = re.search(r"printf\(.*/\* (.*) \*/", text).group(1)
            assert done.stdout.strip() == expected
            assert done.stderr == ""


def test_shell_examples():
    """Lines that begin with $ are typed, in one folder; what follows each must be what it prints."""
    examples = blocks("sh")
    assert examples
    for text in examples:
        with tempfile.TemporaryDirectory() as folder:
            for step in re.split(r"^\$ ", text, flags=re.M)[1:]:
                command, _, expected = step.partition("\n")
                command = command.replace("build/tally", shlex.quote(str(COMMAND.resolve())))
                done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=True)
                assert done.stdout == expected, command


def test_operator_table():
    table = README.split("<!-- operators:")[1].split("\n\n")[0]
    named = [name for row in re.findall(r"^\| ([a-z0-9, ]+) \|", table, re.M)[1:] for name in row.split(", ")]
    listed = subprocess.run([COMMAND, "list"], capture_output=True, text=True, check=True).stdout
    existing = re.findall(r'^ *X\([A-Z0-9]+, +([a-z0-9]+), +[a-z0-9]+, +[12],', (ROOT / "include/tally/tables.h").read_text(), re.M)
    assert sorted(named) == sorted(existing)
    for name in existing:
        assert re.search(rf"^{name}\b", listed, re.M)


def test_links_and_paths():
    """Files that the front pages point to exist, and so do the folders of the map."""
    for page in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text()):
            assert (ROOT / target).exists(), f"{page} points to {target}"
    tree = README.split("## The tree")[1].split("```")[1]
    for folder in re.findall(r"^(\S+/) ", tree, re.M):
        assert (ROOT / folder).is_dir(), folder
