#!/usr/bin/env python3
"""bench/gpu/pairs.py LIBRARY LIBRARY... [-- OPTION...]: the same cells with one libtally.so after the other.

    bench/gpu/pairs.py before.so after.so -- --op sum,var --type f32 --segmentation "rows of 64" --data normal

OPTIONs are those of bench/gpu/matrix. Prints the share of the plain read for each cell, a column for each library.
Cells that a library had no time for are left out.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

MATRIX = pathlib.Path(__file__).resolve().parent / "matrix"
NAMES = ("op", "type", "accuracy", "segmentation", "data")


def measure(library, options, folder):
    """The share of each cell, by its names."""
    environment = {**os.environ, "TALLY_LIBRARY": str(pathlib.Path(library).resolve())}
    environment["TALLY_CACHE_DIR"] = str(folder / "cache")  # kernels are those of this library
    ended = subprocess.run([MATRIX, *options, "--out", folder], env=environment, stdout=subprocess.DEVNULL, check=False)
    if ended.returncode != 0:
        sys.exit(f"pairs: bench/gpu/matrix failed with {library}")
    (table,) = folder.glob("*.tsv")
    lines = [line for line in table.read_text().splitlines() if not line.startswith("#")]
    return {tuple(row[name] for name in NAMES): row["share"] for row in csv.DictReader(lines, delimiter="\t")}


def main():
    own, options = sys.argv[1:], []
    if "--" in own:
        own, options = own[: own.index("--")], own[own.index("--") + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="+", metavar="LIBRARY")
    chosen = parser.parse_args(own)
    with tempfile.TemporaryDirectory() as scratch:
        folders = [pathlib.Path(scratch) / str(i) for i in range(len(chosen.libraries))]
        shares = []
        for library, folder in zip(chosen.libraries, folders):
            folder.mkdir()
            print(f"pairs: {library}", file=sys.stderr)
            shares.append(measure(library, options, folder))
    for cell in sorted(set.intersection(*map(set, shares))):
        print("%-10s%-6s%-7s%-26s%-14s" % cell, *(f"{float(of[cell]):6.3f}" for of in shares))


if __name__ == "__main__":
    main()
