#!/usr/bin/env python3
"""Runs the snapshot tests of the command line: run.py --tally PATH [--update] [NAME...].

A case file holds commands and what each gives:
    $ command          run by sh in a directory with the files of fixtures.py; \\ at the end continues it
    > line             of standard output; "> " alone is an empty line
    ! line             of standard error
    = status
Lines that begin with # and empty lines are for readers. --update writes what the commands give now; look at the diff.
"""
import argparse
import difflib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import fixtures

HERE = pathlib.Path(__file__).resolve().parent


class Step:
    """A command with what it is to give, and the readers' lines before it."""

    def __init__(self, notes, command):
        self.notes, self.command = notes, command
        self.out, self.err, self.status = [], [], None


def parse(path):
    steps, notes = [], []
    for number, line in enumerate(path.read_text().split("\n")[:-1], 1):
        if line.startswith("$ "):
            steps.append(Step(notes, line[2:]))
            notes = []
        elif steps and steps[-1].command.endswith("\\") and line.startswith("  "):
            steps[-1].command += "\n" + line
        elif line.startswith("> "):
            steps[-1].out.append(line[2:])
        elif line.startswith("! "):
            steps[-1].err.append(line[2:])
        elif line.startswith("= "):
            steps[-1].status = int(line[2:])
        elif not line or line.startswith("#"):
            notes.append(line)
        else:
            sys.exit(f"{path}:{number}: not understood: {line}")
    return steps


def lines_of(data):
    """Lines of an output; one that lacks its end of line says so."""
    text = data.decode("utf-8", "backslashreplace")
    if not text:
        return []
    return text[:-1].split("\n") if text.endswith("\n") else (text + "<no end of line>").split("\n")


def run(step, directory, tally):
    environment = dict(os.environ, PATH=f"{directory}/.bin:{os.environ['PATH']}", LC_ALL="C", TALLY=str(tally),
                       CASES=str(HERE))
    environment.pop("TALLY_ISA", None)
    # In a session of its own, so that a step that takes too long is ended with all that it started.
    with subprocess.Popen(["sh", "-c", step.command], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as shell:
        try:
            out, err = shell.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            return [], ["<timed out>"], -1
    return lines_of(out), lines_of(err), shell.returncode


def report(name, step, got):
    print(f"FAILED {name}: $ {step.command}")
    for what, wanted, given in zip(("stdout", "stderr", "status"), (step.out, step.err, step.status), got):
        if what == "status" and wanted != given:
            print(f"  status {given}, not {wanted}")
        elif wanted != given:
            print(
                "\n".join(
                    "  " + line for line in difflib.unified_diff(wanted, given, f"{what} wanted", "given", lineterm="")
                )
            )


def write(path, steps):
    lines = []
    for step in steps:
        lines += step.notes + [f"$ {step.command}"]
        lines += [f"> {line}" for line in step.out] + [f"! {line}" for line in step.err] + [f"= {step.status}"]
    path.write_text("\n".join(lines) + "\n")


def run_file(path, tally, update):
    """The numbers of steps that passed and failed."""
    steps, passed, failed = parse(path), 0, 0
    with tempfile.TemporaryDirectory() as directory:
        fixtures.make(pathlib.Path(directory))
        (pathlib.Path(directory) / ".bin").mkdir()
        (pathlib.Path(directory) / ".bin" / "tally").symlink_to(tally)
        for step in steps:
            got = run(step, directory, tally)
            if update:
                step.out, step.err, step.status = got
            if got == (step.out, step.err, step.status):
                passed += 1
            else:
                failed += 1
                report(path.stem, step, got)
    if update:
        write(path, steps)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tally", required=True, type=pathlib.Path, help="the program to test")
    parser.add_argument("--update", action="store_true", help="write what the commands give now")
    parser.add_argument("names", nargs="*", help="only these cases")
    arguments = parser.parse_args()
    passed = failed = 0
    for path in sorted((HERE / "cases").glob("*.case")):
        if not arguments.names or path.stem in arguments.names:
            counts = run_file(path, arguments.tally.resolve(), arguments.update)
            passed, failed = passed + counts[0], failed + counts[1]
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
