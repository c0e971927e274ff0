"""What `tally help tables` says of Parquet and Arrow: DuckDB's command and pyarrow hand columns on without loss. For
the lane "python", as neither is small; elsewhere it is skipped."""

import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
from fractions import Fraction

import pytest

TALLY = os.environ.get("TALLY_COMMAND", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "tally"))
ARROW = "import sys, pyarrow.ipc, pyarrow.csv; table = pyarrow.ipc.open_file('sales.arrow').read_all(); "
ARROW += "pyarrow.csv.write_csv(table, sys.stdout.buffer)"
COMMANDS = {
    "Parquet": ["duckdb", "-c", "copy (from 'sales.parquet') to '/dev/stdout' (format csv)"],
    "Arrow": [sys.executable, "-c", ARROW],
}


@pytest.mark.parametrize("form", COMMANDS)
def test_without_loss(tmp_path, form):
    arrow = pytest.importorskip("pyarrow")
    command = COMMANDS[form]
    beside = pathlib.Path(sys.executable).parent / command[0]
    command[0] = str(beside) if beside.exists() else command[0]
    if not shutil.which(command[0]):
        pytest.skip("no duckdb (pip install duckdb-cli)")
    import pyarrow.ipc
    import pyarrow.parquet

    random_ = random.Random(1)
    bits = [random_.getrandbits(64) for _ in range(4000)]
    prices = [x for x in (struct.unpack("d", struct.pack("Q", b))[0] for b in bits) if x == x and abs(x) < 1e300]
    counts = [random_.getrandbits(53) for _ in prices]
    keys = [random_.choice(["a,b", 'Å"x', "two\nlines"]) for _ in prices]
    table = arrow.table({"price": prices, "qty": counts, "region": keys})
    arrow.parquet.write_table(table, tmp_path / "sales.parquet")
    with arrow.OSFile(str(tmp_path / "sales.arrow"), "wb") as file, arrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    text = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout
    words = [TALLY, "sum", "price,qty", "--by", "region", "--csv", "--to", "jsonl", "-"]
    out = subprocess.run(words, input=text, capture_output=True, check=True).stdout.decode()
    for line, key in zip(out.splitlines(), dict.fromkeys(keys)):
        row = json.loads(line)
        of_key = [k for k, name in enumerate(keys) if name == key]
        assert row["region"] == key
        assert row["qty_sum"] == sum(counts[k] for k in of_key)
        assert row["price_sum"] == float(sum(Fraction(prices[k]) for k in of_key))
