"""Maps as one SVG: a cell's colour is its share, its number the per cent."""

import html
import itertools

CELL = (15, 10)  # pixels
LABEL = 120  # room for names, of rows and of columns
# From a share on. Red ends where a third is reached, green begins at 0.6.
COLORS = [
    (0.0, "#67001f"),
    (0.02, "#a50f15"),
    (0.05, "#cb181d"),
    (0.1, "#ef6548"),
    (0.2, "#fc9272"),
    (0.33, "#fdd49e"),
    (0.45, "#fee391"),
    (0.6, "#d9ef8b"),
    (0.75, "#91cf60"),
    (0.85, "#31a354"),
]
DARK = {"#67001f", "#a50f15", "#cb181d", "#31a354"}  # white digits stand on them


def color(share):
    return [shade for least, shade in COLORS if share >= least][-1]


def draw(maps, title):
    parts, y, width = [], 40, 0
    for one in maps:
        parts.append(f'<text x="8" y="{y}" font-size="12">{html.escape(one.title)}</text>')
        parts.append(map_of(one, y + 8))
        y += 8 + LABEL + CELL[1] * len(one.rows) + 30
        width = max(width, LABEL + CELL[0] * len(one.columns) + 20)
    size = f'width="{max(width, 830)}" height="{y}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="8">'
    ground = '<rect width="100%" height="100%" fill="white"/>'
    name = f'<text x="8" y="18" font-size="14">{html.escape(title)}</text>'
    return "\n".join([head, ground, name, legend(24), *parts, "</svg>"]) + "\n"


def legend(y):
    boxes = []
    for k, (least, shade) in enumerate(COLORS):
        x = 320 + 50 * k
        boxes.append(f'<rect x="{x}" y="{y}" width="12" height="8" fill="{shade}"/>')
        boxes.append(f'<text x="{x + 15}" y="{y + 8}">≥ {least:g}</text>')
    return "".join(boxes)


def map_of(one, top):
    lines = []
    for k, name in enumerate(one.columns):
        x = LABEL + CELL[0] * k + 10
        lines.append(f'<text transform="translate({x} {top + LABEL - 4}) rotate(-90)">{html.escape(name)}</text>')
    for k, row in enumerate(one.rows):
        y = top + LABEL + CELL[1] * k
        shares = [one.shares.get((row, column)) for column in one.columns]
        lines.append(
            f'<text x="{LABEL - 4}" y="{y + 8}" text-anchor="end">{html.escape(row)}</text>' + row_of(shares, y)
        )
    return "\n".join(lines)


def row_of(shares, y):
    """Cells side by side of one colour are one rectangle; the digits of a row are a text for each of their colours."""
    parts, x = [], LABEL
    for shade, some in itertools.groupby(shares, lambda share: None if share is None else color(share)):
        width = CELL[0] * len(list(some))
        if shade:
            parts.append(f'<path fill="{shade}" d="M{x} {y}h{width}v{CELL[1]}h-{width}z"/>')
        x += width
    return "".join(parts) + digits(shares, y, False) + digits(shares, y, True)


def digits(shares, y, light):
    places, text = [], ""
    for k, share in enumerate(shares):
        if share is not None and (color(share) in DARK) == light:
            number = f"{100 * share:.0f}"
            left = LABEL + CELL[0] * k + (CELL[0] - 4 * len(number)) / 2
            places += [f"{left + 4 * i:g}" for i in range(len(number))]
            text += number
    fill = "white" if light else "#333"
    return f'<text font-size="7" fill="{fill}" y="{y + 8}" x="{" ".join(places)}">{text}</text>' if text else ""
