#!/usr/bin/env python3
"""No source line of more than 120 columns, and none in pages that are written by hand, tables and links aside. Prints
those that are longer; exit status 1 if there are any.

    tools/check_lines.py [ROOT]
"""
import pathlib
import sys

COLUMNS = 120
FOLDERS = ["include", "kernels", "src", "gallery", "cli", "python", "tests", "bench", "examples", "tools", "cmake"]
KINDS = {".c", ".h", ".cpp", ".cu", ".def", ".py", ".sh", ".cmake", ".in", ""}
FILES = ["Makefile", "CMakeLists.txt", "tests/CMakeLists.txt", "bench/CMakeLists.txt", "examples/CMakeLists.txt"]
FILES += ["python/CMakeLists.txt"]
# Rows whose columns are read down.
TABLES = ["include/tally/tables.h"]
PAGES = ["README.md", "CONTRIBUTING.md", "docs/*.md", "docs/design/*.md"]
NOT_WRAPPED = ["docs/results.md"]  # it is made
# Between these marks a table keeps its columns.
TABLE = "clang-format off", "clang-format on"


def long_lines(path):
    inside = False
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if TABLE[0] in line:
            inside = True
        if TABLE[1] in line:
            inside = False
        if path.suffix == ".md" and (line.startswith("|") or "](" in line):
            continue
        if len(line) > COLUMNS and not inside:
            yield number, len(line)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    files = [root / name for name in FILES]
    for folder in FOLDERS:
        files += [file for file in sorted((root / folder).rglob("*")) if file.is_file() and file.suffix in KINDS]
    pages = [page for pattern in PAGES for page in sorted(root.glob(pattern))]
    files += [page for page in pages if page not in [root / name for name in NOT_WRAPPED]]
    files = [file for file in dict.fromkeys(files) if file not in [root / name for name in TABLES]]
    files = [file for file in files if "corpus" not in file.parts and "__pycache__" not in file.parts]
    found = [
        f"{file.relative_to(root)}:{number}: {length} columns" for file in files for number, length in long_lines(file)
    ]
    print(*found, f"lines: {len(files)} files, {len(found)} lines of more than {COLUMNS} columns", sep="\n")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
