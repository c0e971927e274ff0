"""What is made of records: maps of worst shares as text, Markdown and SVG, the worst cells, and what was left out."""

import collections
import pathlib
import statistics

from cells import axes, svg

Map = collections.namedtuple("Map", "title rows columns shares")  # shares: {(row, column): share}

ABOUT_SHARES = (
    "A share is (bytes of values + index + results) / time / plain read of as many bytes as the values have, measured "
    "in the same run. Ordinary data: normal, uniform, cents, zeros, one infinity, NaN in 1000, and +1 and -1; hard "
    "data: values times 2^-60..60 (f16: 2^-10..10), any finite bits, subnormals."
)


def name_of(record):
    return f"{record['op']} {record['type']}" + ("" if record["accuracy"] == "only" else f" {record['accuracy']}")


def full_name(record):
    return f"{name_of(record)}, {record['segmentation']}, {record['data']}"


def worst_by(records, key):
    """{key(record): its record of the lowest share}."""
    worst = {}
    for record in records:
        k = key(record)
        if k not in worst or record["share"] < worst[k]["share"]:
            worst[k] = record
    return worst


def make_map(title, records, row, column, rows, columns):
    shares = {k: record["share"] for k, record in worst_by(records, lambda r: (row(r), column(r))).items()}
    present = lambda names, side: [name for name in names if any(k[side] == name for k in shares)]
    return Map(title, present(rows, 0), present(columns, 1), shares)


def row_names():
    """Of each operator, type and accuracy, in the order of the tables."""
    cells = (
        axes.Cell(op, type, accuracy, None, None)
        for op in axes.tally.OPERATORS
        for type in axes.TYPES
        for accuracy in axes.ACCURACIES
    )
    return [name_of(cell._asdict()) for cell in cells]


def maps(records):
    rows, segmentations, data = row_names(), list(axes.SEGMENTATION), list(axes.DATA)
    segmentation = lambda record: record["segmentation"]
    for title, hard in (("ordinary data", False), ("hard data", True)):
        some = [record for record in records if axes.is_hard(record) == hard]
        if some:
            yield make_map(f"Worst share of {title}, by segmentation", some, name_of, segmentation, rows, segmentations)
    yield make_map(
        "Worst share of all segmentations, by data", records, name_of, lambda record: record["data"], rows, data
    )


# ---- text ----


def percent(share):
    """Three characters at most."""
    if share is None:
        return "."
    return f"{100 * share:.0f}" if share >= 0.095 else f"{100 * share:.1f}"


def text_of(one):
    """The map in per cent, its columns' names from top to bottom."""
    width = max(map(len, one.rows), default=0)
    height = max(map(len, one.columns), default=0)
    lines = [one.title + ", per cent"]
    for k in range(height):
        lines.append((" " * width + "".join(f"{name.rjust(height)[k]:>4}" for name in one.columns)).rstrip())
    for row in one.rows:
        lines.append(
            row.ljust(width) + "".join(f"{percent(one.shares.get((row, column))):>4}" for column in one.columns)
        )
    return "\n".join(lines)


def worst_cells(records, number=10):
    return sorted(records, key=lambda record: record["share"])[:number]


def cliffs(records, part=1 / 3):
    """Cells below a third of the lower of their neighbours: the segmentations before and after of the same form."""
    shares = {axes.cell_of(record): record["share"] for record in records}
    found = []
    for record in records:
        key = axes.cell_of(record)
        k = axes.SEGMENTATIONS.index(axes.SEGMENTATION[key.segmentation])
        near = [
            axes.SEGMENTATIONS[j]
            for j in (k - 1, k + 1)
            if 0 <= j < len(axes.SEGMENTATIONS) and axes.SEGMENTATIONS[j].form == axes.SEGMENTATIONS[k].form
        ]
        beside = [key._replace(segmentation=segmentation.name) for segmentation in near]
        around = [shares[one] for one in beside if one in shares]
        if around and record["share"] < part * min(around):
            found.append((record["share"] / min(around), record))
    return [record for _, record in sorted(found, key=lambda pair: pair[0])]


def delayed(records, part=1 / 2):
    """Cells that something else may have delayed: below half of the median of the same cell with other data, of hard
    data or of ordinary ones."""
    like = lambda record: (axes.cell_of(record)._replace(data=""), axes.is_hard(record))
    groups = collections.defaultdict(list)
    for record in records:
        groups[like(record)].append(record["share"])
    return [record for record in records if record["share"] < part * statistics.median(groups[like(record)])]


# ---- Markdown ----


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def share_text(record):
    return "" if record is None else f"{record['share']:.3f}" if record["share"] < 0.1 else f"{record['share']:.2f}"


def by_operator(records):
    """Worst share of each operator and type: exact / fast where there are two."""
    worst = worst_by(records, lambda record: (record["op"], record["type"], record["accuracy"]))
    types = [type for type in axes.TYPES if any(k[1] == type for k in worst)]
    rows = []
    for op in axes.tally.OPERATORS:
        of = lambda type: [share_text(worst.get((op, type, accuracy))) for accuracy in axes.ACCURACIES]
        cells = [" / ".join(text for text in of(type) if text) for type in types]
        if any(cells):
            rows.append([op, *cells])
    return table(["", *types], rows)


def by_cut(records):
    """Of each segmentation the worst cell: exact sums of ordinary and of hard data, all else."""
    groups = {
        "exact, ordinary data": lambda record: record["accuracy"] == "exact" and not axes.is_hard(record),
        "exact, hard data": lambda record: record["accuracy"] == "exact" and axes.is_hard(record),
        "fast": lambda record: record["accuracy"] == "fast",
        "operators without a choice": lambda record: record["accuracy"] == "only",
    }
    of = lambda record: record["segmentation"]
    found = {group: worst_by(filter(takes, records), of) for group, takes in groups.items()}
    rows = []
    for segmentation in axes.SEGMENTATION:
        worst = [found[group].get(segmentation) for group in groups]
        if any(worst):
            rows.append([segmentation, *(f"{share_text(r)} {r['op']} {r['type']}" if r else "" for r in worst)])
    return table(["", *groups], rows)


def cells_table(records):
    duration = lambda seconds: f"{1e6 * seconds:.4g} µs"
    return table(["cell", "share", "time"], [[full_name(r), share_text(r), duration(r["seconds"])] for r in records])


def peers_table(records):
    """How many times as fast as its peer Tally is, for each operator, type and accuracy: the median and the worst."""
    groups = collections.defaultdict(list)
    for record in records:
        if record["ratio"]:
            groups[name_of(record)].append(record)
    rows = []
    for name in row_names():
        if name in groups:
            some = sorted(groups[name], key=lambda record: record["ratio"])
            behind = sum(record["ratio"] < 1 for record in some)
            rows.append(
                [
                    name,
                    len(some),
                    behind,
                    f"{some[len(some) // 2]['ratio']:.2f}",
                    f"{some[0]['ratio']:.2f} {some[0]['segmentation']} ({some[0]['peer']})",
                ]
            )
    return table(["", "shapes", "behind", "median", "worst"], rows) if rows else ""


def left_out(records, left):
    """Sentences: what was not measured, and why."""
    measured = [axes.cell_of(record) for record in records]
    unmeasured = [cell for cells in left.values() for cell in cells]
    sentences = [
        f"{len(cells)} cells: {reason}" for reason, cells in sorted(left.items(), key=lambda pair: -len(pair[1]))
    ]
    counts = [collections.Counter(map(axes.rank, cells)) for cells in (measured, unmeasured)]
    parts = [f"rank {rank}: {counts[0][rank]} of {counts[0][rank] + counts[1][rank]}" for rank in sorted(counts[1])]
    if parts:
        sentences.append("measured of the ranks that are not whole: " + ", ".join(parts))
    for axis in axes.Cell._fields:
        never = {getattr(cell, axis) for cell in unmeasured} - {getattr(cell, axis) for cell in measured}
        if never:
            sentences.append(f"nothing was measured of {axis} " + ", ".join(sorted(never)))
    return sentences


def markdown(records, about, chart):
    skipped = ("left_out", "cells", "plain_gb_per_s", "seconds", "name")
    facts = [f"- {key}: {value}" for key, value in about.items() if key not in skipped]
    plain = "; ".join(
        f"{size} {', '.join(map(str, speeds))}" for size, speeds in about.get("plain_gb_per_s", {}).items()
    )
    steep = cliffs(records)
    parts = [
        f"# The matrix, {about.get('name', '')}",
        "\n".join(
            [
                *facts,
                f"- plain read in GB/s, least, median and most: {plain}",
                f"- {len(records)} of {about.get('cells', '?')} cells. {ABOUT_SHARES}",
            ]
        ),
        f"![heat map]({chart})",
        "## Worst share of each operator and type",
        "Exact / fast where there are two. Ordinary data, all segmentations.",
        by_operator([record for record in records if not axes.is_hard(record)]),
        "The same, hard data (operators and types that have some).",
        by_operator([record for record in records if axes.is_hard(record)]),
        "## Worst share of each segmentation",
        by_cut(records),
        "## The ten worst cells",
        cells_table(worst_cells(records)),
        f"## Cells below a third of their neighbours: {len(steep)}",
        cells_table(steep[:10]) if steep else "None.",
    ]
    peers = peers_table(records)
    if peers:
        parts += ["## Beside the peer: how many times as fast", peers]
    if about.get("left_out"):
        parts += ["## Left out", "\n".join(f"- {sentence}" for sentence in about["left_out"])]
    return "\n\n".join(parts) + "\n"


def write(records, about, stem):
    """stem.md and stem.svg, and to stdout the maps, the worst cells and what was left out."""
    stem = pathlib.Path(stem)
    path = lambda ending: stem.with_name(stem.name + ending)
    drawn = list(maps(records))
    text = markdown(records, about, path(".svg").name)
    path(".md").write_text(text)
    path(".svg").write_text(svg.draw(drawn, f"Tally on {about.get('name', '')}: share of the plain read"))
    print("\n\n".join(map(text_of, drawn)), "\n\n" + text)
    print(f"kept: {path('.tsv')}, .md, .svg")
