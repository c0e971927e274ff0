#!/usr/bin/env python3
"""Ends tally while it writes a large result, by each signal that ends programs: the old file or the new one is
there, and nothing else."""

import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.environ["CASES"])
import fixtures  # noqa: E402

VALUES = 1 << 23
with open("wide.npy", "wb") as file:
    file.write(fixtures.npy("'|u1'", f"({VALUES}, 1)", b""))
    file.truncate(file.tell() + VALUES)
for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    caught = attempts = 0
    while caught < 2 and attempts < 20:
        attempts += 1
        with open("kept.npy", "wb") as file:
            file.write(fixtures.array("i8", [7]))
        with subprocess.Popen(["tally", "sum", "wide.npy", "--axis", "1", "-o", "kept.npy"]) as child:
            while child.poll() is None and not any(name.startswith(".tally.") for name in os.listdir(".")):
                time.sleep(0.001)
            child.send_signal(ending)
        left = [name for name in os.listdir(".") if name.startswith(".tally.")]
        size = os.path.getsize("kept.npy")
        if left or size not in (136, 128 + 8 * VALUES):
            print(ending.name, "left", left, size)
        caught += child.returncode == -ending
    if caught == 0:
        print(ending.name, "never came in time")
