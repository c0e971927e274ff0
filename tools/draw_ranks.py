#!/usr/bin/env python3
"""Draws docs/ranks.svg: one array on 3 ranks and on 2, as limbs and as plain f32 sums. Its numbers are computed here.

tools/draw_ranks.py            writes it
tools/draw_ranks.py --check    says whether it is what this would write
"""

import struct
import sys
from pathlib import Path

INK, BLUE, PALE, GREEN, RED, LINE = "#1b1f24", "#2f6fb3", "#dbe8f5", "#e2f1e5", "#f7dfdc", "#7a8691"
RADIX = 2**32
VALUES = [2 * RADIX, 3, -10, 3 * RADIX, 28, -5 * RADIX, 5, 2]
SPLITS = {"on 3 ranks": [0, 3, 6, 8], "on 2 ranks": [0, 4, 8]}
FILE = Path(__file__).resolve().parents[1] / "docs" / "ranks.svg"
out = []


def box(x, y, w, words, fill, weight="normal"):
    out.append(f'<rect x="{x}" y="{y}" width="{w}" height="26" rx="3" fill="{fill}" stroke="{LINE}"/>')
    text(x + w / 2, y + 18, words, "middle", weight)


def text(x, y, words, anchor="start", weight="normal", size=13):
    out.append(
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}">{words}</text>'
    )


def name(value):
    """A value as the picture has it."""
    return f"{value // RADIX}·2³²" if value % RADIX == 0 and value else str(value)


def limbs(value):
    """What a value adds to the two limbs: a node of one value."""
    return (value // RADIX, 0) if value % RADIX == 0 else (0, value)


def f32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def plain(values):
    total = 0.0
    for value in values:
        total = f32(total + value)
    return total


def panel(left, title, borders):
    """Each rank's values, its limbs, and its plain sum; then those of all."""
    text(left, 96, title, weight="bold", size=15)
    for at, words in ((240, "× 2³²"), (296, "× 1"), (364, "plain f32")):
        text(left + at, 96, words, "middle")
    y, nodes, sums = 106, [], []
    for begin, end in zip(borders, borders[1:]):
        part = VALUES[begin:end]
        nodes.append([sum(column) for column in zip(*map(limbs, part))])
        sums.append(plain(part))
        text(left, y + 18, ", ".join(map(name, part)))
        for at, limb in zip((214, 270), nodes[-1]):
            box(left + at, y, 52, limb, PALE)
        box(left + 332, y, 64, name(int(sums[-1])), RED)
        y += 32
    total = [sum(column) for column in zip(*nodes)]
    out.append(f'<line x1="{left}" y1="{y}" x2="{left + 396}" y2="{y}" stroke="{BLUE}" stroke-width="1.5"/>')
    y += 6
    text(left, y + 18, "added, in any order", weight="bold")
    for at, limb in zip((214, 270), total):
        box(left + at, y, 52, limb, GREEN, "bold")
    box(left + 332, y, 64, name(int(plain(sums))), RED, "bold")
    result = total[0] * RADIX + total[1]
    text(left, y + 50, f"The result: {result}, whose limbs are {total[0]} and {total[1]}.")
    return result, plain(sums)


def drawing():
    text(20, 30, "The whole: 8 values, whose sum is " + str(sum(VALUES)), weight="bold", size=15)
    for i, value in enumerate(VALUES):
        box(20 + i * 104, 42, 98, name(value), PALE)
    results = [panel(left, *split) for left, split in zip((20, 456), SPLITS.items())]
    assert all(exact == sum(VALUES) for exact, _ in results), "the limbs are wrong"
    assert len({lost for _, lost in results}) == len(SPLITS), "choose values whose plain sums show the split"
    text(20, 306, "Limbs are integers. Adding them loses nothing, so it does not matter which values were added first.")
    text(20, 326, "A plain sum drops digits wherever a large value stands, and the split decides where that is.")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 872 344" font-family="sans-serif" fill="{INK}">\n'
        '<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(out) + "\n</svg>\n"
    )


def main():
    picture = drawing()
    if "--check" not in sys.argv[1:]:
        FILE.write_text(picture)
    if not FILE.exists() or FILE.read_text() != picture:
        print("docs/ranks.svg is out of date: run tools/draw_ranks.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
