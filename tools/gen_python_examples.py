#!/usr/bin/env python3
"""Adds to python/src/examples.h an example for each operator of include/tally/tables.h that has none.

The command computes it. Existing rows stay as they are: look at the new one, and make it better if you like.

    tools/gen_python_examples.py --tally build/tally
"""

import argparse
import re
import subprocess
import sys
import tempfile
from array import array
from pathlib import Path

import tables

FILE = Path(__file__).resolve().parents[1] / "python" / "src" / "examples.h"
VALUES, PARTNERS = [3, 1, 4, 1], [1, 0, 2, 5]  # as the top of examples.h has them
REAL = ("TALLY_GIVES_REAL",)


def number(text, is_real):
    """A result of the command as Python prints it."""
    if text in ("true", "false"):
        return text.capitalize()
    return repr(float(text)) if is_real else text


def results(command, row, code, *options):
    """The results of an operator over the values of the examples, each a list of numbers."""
    _, name, _, inputs, _, gives, *_ = row
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for k, values in enumerate((VALUES, PARTNERS)[: int(inputs)]):
            file = Path(folder) / f"{k}.raw"
            file.write_bytes(array(code, values).tobytes())
            files.append(str(file))
        lengths = Path(folder) / "lengths.txt"
        lengths.write_text("2 2\n")
        options = [str(lengths) if option == "LENGTHS" else option for option in options]
        type_name = {"h": "i16", "d": "f64"}[code]
        done = subprocess.run(
            [command, name, *files, "--raw", "--type", type_name, *options], capture_output=True, text=True
        )
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    is_real = gives in REAL or code == "d" and gives not in ("TALLY_GIVES_INDEX", "TALLY_GIVES_COUNT")
    return [[number(word, is_real) for word in line.split("\t")] for line in done.stdout.splitlines()]


def example(command, row):
    """A row of examples.h."""
    code = "h" if tables.mask(row[4]) & tables.CONSTANTS["TALLY_CLASS_INT"] else "d"
    whole = results(command, row, code)[0]
    segments = results(command, row, code, "--lengths", "LENGTHS")
    tuples = len(whole) > 1
    shown = f"({', '.join(whole)})" if tuples else whole[0]
    parts = ", ".join(f"[{', '.join(part)}]" if tuples else part[0] for part in segments)
    return f'    {{"{row[1]}", "{code}", "{shown}", "", "[{parts}]"}},\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tally", required=True)
    command = parser.parse_args().tally
    text = FILE.read_text()
    begin = text.index("static const example examples[] = {\n")
    end = text.index("};\n", begin)
    known = set(re.findall(r'^    \{"(\w+)"', text[begin:end], re.M))
    new = "".join(example(command, row) for row in tables.rows("TALLY_OPERATORS") if row[1] not in known)
    if new:
        FILE.write_text(text[:end] + new + text[end:])


if __name__ == "__main__":
    main()
