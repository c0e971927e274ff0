"""Draws docs/order.svg: a leaf as columns and stripes, the halving of columns, and the pairing of leaves."""
import sys
from pathlib import Path

INK, BLUE, PALE, LINE = "#1b1f24", "#2f6fb3", "#dbe8f5", "#7a8691"
parts = []


def box(x, y, w, h, fill=PALE):
    parts.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{fill}" stroke="{LINE}" rx="2"/>')


def text(x, y, words, size=13, anchor="start", weight="normal"):
    parts.append(f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{INK}">'
                 f'{words}</text>')


def line(x1, y1, x2, y2, arrow=False):
    end = ' marker-end="url(#a)"' if arrow else ""
    parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{BLUE}" stroke-width="1.5"{end}/>')


def leaf():
    text(20, 28, "A leaf: 4096 bytes, 8 stripes of 512", 15, weight="bold")
    for row in range(8):
        for column in range(8):
            box(20 + column * 34, 44 + row * 20, 32, 18)
        text(300, 57 + row * 20, f"stripe {row}", 11)
    for column in range(8):
        line(36 + column * 34, 206, 36 + column * 34, 224, True)
    text(20, 246, "1. each column is combined top to bottom", 12)


def halves():
    text(400, 28, "Then the columns, by halves", 15, weight="bold")
    width = 8
    for step in range(4):
        y = 44 + step * 48
        for column in range(width):
            box(400 + column * 34, y, 32, 18, BLUE if width == 1 else PALE)
        for column in range(width // 2):
            line(416 + (column + width // 2) * 34, y + 18, 416 + column * 34 + 6, y + 46, True)
        width //= 2
    text(400, 246, "2. column c takes column c + half behind it", 12)


def pairs():
    text(20, 292, "Then the leaves, by adjacent pairs", 15, weight="bold")
    centres = [50 + i * 100 for i in range(7)]
    y = 306
    for i, x in enumerate(centres):
        box(x - 40, y, 80, 20)
        text(x, y + 14, f"leaf {i}", 11, "middle")
    while len(centres) > 1:
        above, y = centres, y + 44
        centres = [(above[i] + above[i + 1]) / 2 if i + 1 < len(above) else above[i] for i in range(0, len(above), 2)]
        for i, x in enumerate(above):
            line(x, y - 24, centres[i // 2], y - 2, True)
        for x in centres:
            box(x - 14, y, 28, 20, BLUE if len(centres) == 1 else PALE)
    text(
        20,
        y + 48,
        "3. the shape depends on the number of leaves alone, so any threads may take any aligned run of leaves",
        12,
    )


leaf()
halves()
pairs()
svg = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 500" font-family="sans-serif">'
       f'<defs><marker id="a" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">'
       f'<path d="M0,0 L6,3 L0,6 z" fill="{BLUE}"/></marker></defs><rect width="720" height="500" fill="#fff"/>'
       + "\n".join(parts) + "</svg>\n")
Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "docs/order.svg").write_text(svg)
