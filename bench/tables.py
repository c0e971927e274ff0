#!/usr/bin/env python3
"""Times columns of a table: tally beside datamash, Miller and DuckDB, as far as they are installed, in one run.

    bench/tables.py [--tally PATH] [--bytes N] [--threads N] [--folder DIR] [--rounds N]

Makes a CSV of five columns (a number, one of 1000 keys, a price with two decimals, a small integer, words) and asks for
the sum of the price, whole and for each key. Prints a table in Markdown: the least wall time of the rounds, the speed,
the processor time of that round, and the memory. The contenders take turns, and one that takes over 10 seconds has one
round. Results are compared with tally's. tools/setup.sh tables installs datamash and Miller; DuckDB is found where
Python can import it (pip install duckdb).
"""
import argparse
import csv
import importlib.util
import multiprocessing
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
DUCKDB = """
import duckdb, sys
connection = duckdb.connect()
connection.execute("set threads = " + sys.argv[2])
by = sys.argv[3] == "by"
query = f"select {'grp, ' if by else ''}sum(price) from read_csv('{sys.argv[1]}') {'group by 1' if by else ''}"
print(chr(10).join(",".join(map(str, row)) for row in connection.execute(query).fetchall()))
"""


def make_table(path, size):
    """Rows at random; after 32 MiB they come again, with other numbers in the first column."""
    random_ = random.Random(1)
    rows = [
        f",g{random_.randrange(1000):03},{random_.randrange(1024)}.{random_.randrange(100):02}"
        f",{random_.randrange(64)},{random_.choice(['open', 'paid in full'])}\n"
        for _ in range(1 << 20)
    ]
    with open(path, "w", encoding="ascii") as file:
        written = file.write("id,grp,price,qty,note\n")
        count = 0
        while written < size:
            block = "".join(f"{count + k}{row}" for k, row in enumerate(rows[: 1 << 16]))
            rows = rows[1 << 16 :] + rows[: 1 << 16]
            count += 1 << 16
            written += file.write(block)


def contenders(arguments, path):
    """Name -> for the whole and by key: a command, and what its input is."""
    made = {
        "tally": (
            [arguments.tally, "sum", "price", path, "--threads", str(arguments.threads), "--to", "csv"],
            [arguments.tally, "sum", "price", path, "--by", "grp", "--threads", str(arguments.threads), "--to", "csv"],
        )
    }
    if importlib.util.find_spec("duckdb"):
        python = [sys.executable, "-c", DUCKDB, path, str(arguments.threads)]
        made["DuckDB"] = ([*python, "all"], [*python, "by"])
    if shutil.which("datamash"):
        made["datamash"] = (
            ["datamash", "-t,", "--header-in", "sum", "3"],
            ["datamash", "-t,", "--header-in", "-s", "-g", "2", "sum", "3"],
        )
    if shutil.which("mlr"):
        sums = ["mlr", "--icsv", "--ocsv", "stats1", "-a", "sum", "-f", "price"]
        made["Miller"] = ([*sums, path], [*sums, "-g", "grp", path])
    return made


def measure(command, path):
    """Wall and processor seconds, MiB and what was printed."""
    with open(path, "rb") as file, tempfile.TemporaryFile() as out:
        start = time.monotonic()
        with subprocess.Popen(command, stdin=file, stdout=out) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - start
        out.seek(0)
        text = out.read().decode()
    if process.returncode != 0:
        sys.exit(f"{command[0]} failed")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def numbers(text):
    """Key -> sum, whatever the header and the order are."""
    rows = [row for row in csv.reader(text.splitlines()) if row and row[-1][-1].isdigit()]
    return {tuple(row[:-1]): float(row[-1]) for row in rows}


def compare(name, text, wanted):
    found, right = numbers(text), numbers(wanted)
    if found.keys() != right.keys() or any(abs(found[k] - right[k]) > 1e-6 * abs(right[k]) for k in right):
        sys.exit(f"{name} gives other sums than tally")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tally", default=str(ROOT / "build" / "tally"))
    parser.add_argument("--bytes", type=int, default=1000000000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", help="where the table is made (default: a temporary one)")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path = os.path.join(folder, "table.csv")
        # By another process: what this one has in memory counts as its children's when they begin.
        maker = multiprocessing.Process(target=make_table, args=(path, arguments.bytes))
        maker.start()
        maker.join()
        size = os.path.getsize(path)
        made = contenders(arguments, path)
        print(f"{size} bytes, {arguments.threads} threads, load {os.getloadavg()[0]:.1f}\n")
        print("| | contender | wall s | MB/s | processor s | MiB |\n| --- | --- | ---: | ---: | ---: | ---: |")
        for which, title in enumerate(("sum", "sum by key")):
            best, texts = {}, {}
            for _ in range(arguments.rounds):
                for name, commands in made.items():
                    if name not in best or best[name][0] < 10:
                        got = measure(commands[which], path)
                        best[name] = min(best.get(name, got[:3]), got[:3])
                        texts[name] = got[3]
            for name, (wall, processor, memory) in best.items():
                compare(name, texts[name], texts["tally"])
                print(f"| {title} | {name} | {wall:.2f} | {size / wall / 1e6:.0f} | {processor:.2f} | {memory:.0f} |")


if __name__ == "__main__":
    main()
