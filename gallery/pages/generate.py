#!/usr/bin/env python3
"""Writes gallery.md from the opening comments of gallery/kernels/NNN_name.h, their table, and what a GPU measured.

    gallery/pages/generate.py           rewrites the page; with --tally COMMAND the pictures too
    gallery/pages/generate.py --check   exit status 1, and a sentence, if something is stale or a comment lacks a part
"""
import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "gallery" / "pages"
PAGE = PAGES / "gallery.md"
KERNELS = ROOT / "gallery" / "kernels"
MEASURED = ROOT / "docs" / "measurements" / "gallery.json"

NEEDED = ["Idea", "Source", "Requires", "Steps", "Work", "Predict", "Answer", "Why", "In short", "Next"]
NEEDS = {"TALLY_KEEPS_ORDER": "any associative operator", "TALLY_COMMUTES": "commutative operators"}
CHAPTERS = json.loads((ROOT / "gallery" / "course" / "chapters.json").read_text())

FIGURES = {"matrix": "Figure 1", "persistent_matrix": "Figure 2, right", "diffwarps": "Figure 2, left"}

HEAD = """<!-- Made by gallery/pages/generate.py from gallery/kernels: change the comments there, not this page. -->
# The gallery: parallel reduction, one idea after another

These are the kernels of the texts that Tally comes from, in teaching order: each changes one thing, and the
measured time says whether that pays. They are kept faithful to their idea and its cost; what had to change since is
said with each, and [errata](errata.md) lists what is wrong in the texts, with proofs. They take any of Tally's
operators and types, are tested as Tally's own kernels are, and are no part of the library. `tally course -o
course.html` makes a page of them to learn from, with their code as plain CUDA ([gallery/cuda](../cuda)) and pictures
that move.

```
tally race --list                         the kernels
tally race --n 67108864                   all of them on the GPU here, checked and timed beside Tally's own way
tally race --segments three --chart c.svg with segments, and a chart
tally race --device simt --op compose     without a GPU: divergence, bank conflicts, transactions; any change of order
tally race values.npy                     over values of your own
tally race --sweep block --chart c.svg    blocks of 32 to 1024 threads; also each, width, height, blocks, lists
tally race --paper                        the tables and figures of the paper behind kernels 16 to 26
tally explain tb2 -o tb2.svg              the steps of a kernel as a picture, drawn from a run on the simulator
tally explain diffwarps --paper -o d.svg  a figure of the paper, drawn from such a run
```

Words. An **element** is an accumulator: a lifted value, or several combined. The **identity** is the element that
changes nothing. A block's threads share **shared memory** and meet at a **barrier**; 32 of them are a **warp**, which
**diverges** when some lanes take a branch and some do not. Shared memory has 32 **banks** of 4 bytes; lanes that want
different words of one bank wait for one another. Global memory comes in **transactions** of 128 bytes.

In the pictures a box is an element, with the values in it; below it the thread that made it. A thick line is a barrier,
a dashed one holds for a warp. Warps have 4 lanes there, memory 4 banks, and matrices 4 rows of 4: 16 values show what
32 lanes show in a thousand. The colour below a box is its bank.

"Measured" is the time of one run over 2^26 f32, min, on an @DEVICE@, and the share of the speed of a plain read
(@SPEED@ TB/s) ([all of it](../../@FILE@)).@ALONE@
"""


def table_rows():
    text = (KERNELS / "table.h").read_text()
    body = re.search(r"#define TALLY_GALLERY\(X\)(.*?)clang-format on", text, re.S).group(1)
    body = re.sub(r"\s*\\\n\s*", " ", body)  # a row in one line
    for row in csv.reader(re.findall(r"\bX\((.*?\")\)", body), skipinitialspace=True):
        yield dict(
            zip(
                "number name plan needs threads least each shared segment_ids source what".split(),
                (word.strip() for word in row),
            )
        )


def head(record):
    read = record["runs"]["whole"][0]
    speed = f"{4 * record['n'] / read['us'] / 1e6:.1f}"
    words = {"@DEVICE@": record["device"].split()[-1], "@SPEED@": speed, "@FILE@": record["file"]}
    alone = '\n"Alone" is the time of one block, over the values that it is for.'
    words["@ALONE@"] = alone if record["alone"] else ""
    text = HEAD
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return text


def opening(path, number, name):
    """The parts of the opening comment, in order."""
    comment = re.match(r"/\* (.*?)\*/", path.read_text(), re.S)
    text = re.sub(r"\n \* ?", "\n", comment.group(1)) if comment else ""
    title, _, rest = text.partition("\n\n")
    if not title.startswith(f"{number:03d} {name}: "):
        sys.exit(f"{path.name}: it does not begin with '{number:03d} {name}: '")
    parts, key = {}, None
    for line in rest.strip().splitlines():
        word = re.match(r"([A-Z][\w ]*?)(?:\.|(?=:)) ?(.*)", line)
        if word and not line.startswith(" "):
            key = word.group(1)
            parts[key] = word.group(2).lstrip(": ")
        else:
            parts[key] += " " + line.strip()
    missing = [need for need in NEEDED if need not in parts]
    if missing:
        sys.exit(f"{path.name}: its opening comment says nothing of {', '.join(missing)}")
    return title.split(": ", 1)[1].rstrip("."), parts


def numbers(name, record):
    """What was measured of a kernel, in words; "" if nothing was."""
    words = {"whole": "", "one": "one segment: ", "random": "segments of 10 to 50: ", "three": "segments of 3: "}
    found = [
        f"{words[shape]}{row['us']:.0f} µs, {row['share']:.2f}"
        for shape, rows in record["runs"].items()
        for row in rows
        if row["kernel"] == name != "merge_lists"
    ]
    alone = [f"alone: {row['n']} values in {row['ns']} ns" for row in record["alone"] if row["kernel"] == name]
    return "; ".join(found + alone)


def page():
    record = json.loads(MEASURED.read_text())
    lines = [head(record)]
    rows = {int(row["number"]): row for row in table_rows()}
    first = {chapter["kernels"][0]: chapter for chapter in CHAPTERS}
    for number in [number for chapter in CHAPTERS for number in chapter["kernels"]]:
        row = rows.pop(number)
        name = row["name"]
        title, parts = opening(KERNELS / f"{number:03d}_{name}.h", number, name)
        if number in first:
            text = first[number]["text"]
            lines.append(f"## {first[number]['title']}\n" + (f"\n{text}\n" if text else ""))
        lines.append(f"### {number}. {name}: {title}\n")
        lines.append(
            f"[{number:03d}_{name}.h](../kernels/{number:03d}_{name}.h); {NEEDS[row['needs']]}; blocks of "
            f"{row['threads']} threads"
            + (f", {row['shared']} elements of shared memory" if row["shared"] != "0" else "")
            + ".\n"
        )
        for key, text in parts.items():
            lines.append(
                textwrap.fill(f"**{key}.** {text}", 147, break_long_words=False, break_on_hyphens=False) + "\n"
            )
        if numbers(name, record):
            lines.append(f"**Measured.** {numbers(name, record)}\n")
        if (PAGES / f"{name}.svg").exists():
            lines.append(f"![the steps of {name}]({name}.svg)\n")
        if name in FIGURES:
            lines.append(f"![the paper's {FIGURES[name]}]({name}_figure.svg)\n")
    if rows:
        sys.exit(f"chapters.json has no place for {list(rows)}")
    return "\n".join(lines)


def pictures(tally):
    """path -> text of every kernel's picture, and of the paper's figures, as the command draws them."""

    def draw(name, *options):
        command = [tally, "explain", name, "-o", "-", *options]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    for row in table_rows():
        if row["plan"] != "TALLY_PLAN_READ":
            yield PAGES / f"{row['name']}.svg", draw(row["name"])
    for name in FIGURES:
        yield PAGES / f"{name}_figure.svg", draw(name, "--paper")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tally")
    arguments = parser.parse_args()
    made = dict(pictures(arguments.tally)) if arguments.tally else {}
    made[PAGE] = page()
    made[ROOT / "gallery" / "course" / "measured.json"] = MEASURED.read_text()
    for path, fresh in made.items():
        if path.exists() and path.read_text() == fresh:
            continue
        if arguments.check:
            sys.exit(f"{path.relative_to(ROOT)}: it is stale: run gallery/pages/generate.py --tally COMMAND")
        path.write_text(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
