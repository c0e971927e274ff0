#!/usr/bin/env python3
"""Draws docs/architecture.svg: the folders of the code and which may include which, from the table of check_layers.py.

tools/draw_architecture.py            writes it
tools/draw_architecture.py --check    says whether it is what this would write, and whether every folder is in it
"""

import sys
from pathlib import Path

from check_layers import MAY_INCLUDE

ROOT = Path(__file__).resolve().parents[1]
INK, BLUE, PALE, GREEN, LINE = "#1b1f24", "#2f6fb3", "#dbe8f5", "#e2f1e5", "#7a8691"
WIDTH, HEIGHT = 960, 574
# Part: x, y, width, height, lines of text.
BOXES = {
    "cli": (40, 20, 130, 56, ["the command tally"]),
    "python": (190, 20, 130, 56, ["the Python module"]),
    "examples": (340, 20, 130, 56, ["programs to copy"]),
    "bench": (490, 20, 130, 56, ["beside its peers"]),
    "include": (
        40,
        120,
        580,
        62,
        ["tally.h: the interface; tally_merge.h: merges", "tables.h: the types, operators and statuses"],
    ),
    "src": (
        40,
        226,
        580,
        62,
        ["the core: checks a call, describes it, chooses a backend;", "states, plans, conversion"],
    ),
    "src/ref": (40, 332, 130, 78, ["the reference:", "slow, the same bits"]),
    "src/cpu": (190, 332, 130, 78, ["threads and", "vector code"]),
    "src/merge": (190, 424, 130, 30, []),
    "src/cuda": (340, 332, 130, 78, ["NVIDIA GPUs: driver", "and NVRTC, cache"]),
    "src/text": (340, 424, 130, 30, []),
    "src/simt": (490, 332, 130, 78, ["a simulated GPU", "in the driver's place"]),
    "src/mpi": (680, 120, 96, 62, ["ranks:", "libtally-mpi"]),
    "src/simt/kernels": (680, 332, 240, 78, ["the kernels, compiled for it:", "libtally-simt.so"]),
    "gallery/host": (680, 226, 240, 62, ["runs the gallery, for the", "command and the tests"]),
    "gallery/kernels": (788, 120, 132, 62, ["textbook kernels"]),
    "kernels": (40, 478, 880, 86, []),
}
KERNELS = [  # columns of the band beneath all: lines of folders, and what they are
    (["operators", "exact", "user"], "one file each"),
    (["types", "accumulators", "device shared"], "what all share"),
    (["order", "sums exact_sums", "compensated"], "one tree; exact sums"),
    (["partition segments chunks", "exact_segments rows", "exact_rows features merge"], "shapes of the data"),
    (["production"], "GPU kernels"),
]


def edges():
    """The pairs of MAY_INCLUDE, less those that follow from others, less those into kernels (a band beneath all)."""
    direct = {part: set(may) - {part} for part, may in MAY_INCLUDE.items()}
    return {
        (part, to)
        for part, may in direct.items()
        for to in may
        if not any(to in direct[between] for between in may) and to != "kernels"
    }


def lowest(part, to):
    """Where an arrow leaves a box and where it arrives: ((x, y), (x, y))."""
    (x, y, w, h, _), (tx, ty, tw, th, _) = BOXES[part], BOXES[to]
    if y + h <= ty or ty + th <= y:  # one above the other
        at = min(max(x + w / 2, tx + 10), tx + tw - 10)
        down = y + h <= ty
        return (x + w / 2, y + h if down else y), (at, ty if down else ty + th)
    right = x + w <= tx
    return (x + w if right else x, y + h / 2), (tx if right else tx + tw, ty + th / 2)


def drawing():
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'fill="{INK}">',
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{BLUE}"/></marker></defs>',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for part, (x, y, w, h, words) in BOXES.items():
        fill = GREEN if part in ("include", "kernels") else PALE
        out.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="4" fill="{fill}" stroke="{LINE}"/>')
        out.append(
            f'<text x="{x + w / 2}" y="{y + 22}" font-size="14" font-weight="bold" text-anchor="middle">{part}/</text>'
        )
        for k, line in enumerate(words):
            out.append(f'<text x="{x + w / 2}" y="{y + 40 + 16 * k}" font-size="12" text-anchor="middle">{line}</text>')
    x, y, w, _, _ = BOXES["kernels"]
    for k, (lines, words) in enumerate(KERNELS):
        at = x + (k + 0.5) * w / len(KERNELS)
        for line, folders in enumerate(lines):
            names = " ".join(f"{folder}/" for folder in folders.split())
            out.append(
                f'<text x="{at}" y="{y + 40 + 13 * line}" font-size="12" text-anchor="middle">{names}</text>'
            )
        out.append(f'<text x="{at}" y="{y + 80}" font-size="12" text-anchor="middle" fill="#555">{words}</text>')
    for part, to in sorted(edges()):
        (x1, y1), (x2, y2) = lowest(part, to)
        out.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{BLUE}" stroke-width="1.5" '
            f'marker-end="url(#a)"/>'
        )
    out.append('<text x="640" y="44" font-size="12">An arrow: includes headers of.</text>')
    out.append('<text x="640" y="62" font-size="12">All of src/ but src/text and src/mpi, and gallery/,</text>')
    out.append('<text x="640" y="76" font-size="12">include kernels/ too. tests/ see everything.</text>')
    out.append(
        '<text x="40" y="472" font-size="12">kernels/: what is reduced and how, once, in C that gcc, clang and NVRTC '
        "compile</text>"
    )
    return "\n".join([*out, "</svg>"]) + "\n"


def wrong():
    if set(BOXES) != set(MAY_INCLUDE):
        yield f"the boxes are not check_layers.py's parts: {', '.join(sorted(set(BOXES) ^ set(MAY_INCLUDE)))}"
    for part in BOXES:
        if not (ROOT / part).is_dir():
            yield f"there is no {part}/"
    folders = {folder.name for folder in (ROOT / "kernels").iterdir() if folder.is_dir()}
    if folders != {folder for lines, _ in KERNELS for line in lines for folder in line.split()}:
        yield f"the folders of kernels/ are {', '.join(sorted(folders))}"
    band = {part for part, may in MAY_INCLUDE.items() if "kernels" in may and part != "kernels"}
    if band != {part for part in MAY_INCLUDE if part.split("/")[0] in ("src", "gallery")} - {
        "src/text",
        "src/mpi",
    }:
        yield "not all of src/ but src/text and src/mpi, and gallery/, or others too, may include kernels/"


def main():
    file = ROOT / "docs" / "architecture.svg"
    reasons = list(wrong())
    if not reasons and "--check" not in sys.argv[1:]:
        file.write_text(drawing())
    if not reasons and (not file.exists() or file.read_text() != drawing()):
        reasons = ["docs/architecture.svg is out of date: run tools/draw_architecture.py"]
    print(*reasons, sep="\n", file=sys.stderr, end="\n" if reasons else "")
    return 1 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
