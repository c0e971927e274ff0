"""One SVG: what share of the plain read each contender reaches, and how long small calls take."""

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update(
    {
        "svg.hashsalt": "tally",
        "svg.fonttype": "none",
        "font.size": 8,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)
import matplotlib.pyplot as plt  # noqa: E402

from report import TITLES, fraction  # noqa: E402

COLORS = {
    "tally": "#0b6e4f",
    "tally fast": "#6bbf9c",
    "numpy": "#4b6cb7",
    "openblas": "#d98e04",
    "openmp": "#b23a48",
    "std": "#7b5ea7",
    "plain": "#999999",
}
FAMILIES = [f for f in COLORS if f != "plain"]


def draw(results, cases, path):
    of = lambda section, **only: [
        (labels, best)
        for labels, best in cases
        if labels["section"] == section and all(labels.get(k) == v for k, v in only.items())
    ]
    figure, axes = plt.subplots(3, 2, figsize=(14, 16), constrained_layout=True)
    heat(axes[0][0], of("whole"))
    bars(axes[0][1], of("whole", type="f32"), lambda l: l["op"], "Whole arrays of f32 from memory")
    bars(
        axes[1][0],
        of("segments", type="f32", op="sum", form="offsets i64"),
        lambda l: l["case"],
        "Segments, sum of f32, by length",
    )
    bars(
        axes[1][1],
        of("rows", type="f32", op="sum"),
        lambda l: f"{l['case']}, axis {l['axis']}",
        "One axis of an array, sum of f32",
    )
    lines(
        axes[2][0],
        of("cache", type="f32", op="sum"),
        "count",
        lambda r: r["seconds"] * 1e9,
        "Sum of f32 in cache: ns a call",
        logarithmic=True,
    )
    lines(
        axes[2][1],
        of("threads"),
        "threads",
        lambda r: r["gb_per_s"],
        "Sum of f32 from memory by threads: GB/s",
        logarithmic=False,
    )
    about = results["about"]
    figure.suptitle(
        f"Tally {about['versions']['tally']} on {about['machine']['cpu']}, {about['threads']['tally']} threads, "
        f"{about['method']['bytes'] >> 20} MiB, {about['date'][:10]}",
        fontsize=11,
    )
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def heat(axis, cases):
    """Tally's share, operator by type."""
    axis.set_title("Tally, whole arrays: share of the plain read")
    types, ops = (list(dict.fromkeys(labels[k] for labels, _ in cases)) for k in ("type", "op"))
    shares = {(labels["op"], labels["type"]): fraction(best, "tally") for labels, best in cases}
    grid = [[shares.get((op, t)) or float("nan") for t in types] for op in ops]
    if not grid:
        return axis.axis("off")
    axis.imshow(grid, aspect="auto", cmap="RdYlGn", vmin=0.5, vmax=1.0)
    axis.set_xticks(range(len(types)), types)
    axis.set_yticks(range(len(ops)), ops)
    for y, row in enumerate(grid):
        for x, share in enumerate(row):
            if share == share:
                axis.text(x, y, f"{share:.2f}", ha="center", va="center", fontsize=7)


def bars(axis, cases, name, title):
    """Shares of the plain read, side by side."""
    axis.set_title(title + ": share of the plain read")
    families = [f for f in FAMILIES if any(f in best for _, best in cases)]
    height = 0.8 / max(1, len(families))
    for k, family in enumerate(families):
        places = [y + (k - (len(families) - 1) / 2) * height for y in range(len(cases))]
        axis.barh(
            places,
            [fraction(best, family) or 0 for _, best in cases],
            height,
            label=TITLES[family],
            color=COLORS[family],
        )
    axis.set_yticks(range(len(cases)), [name(labels) for labels, _ in cases])
    axis.invert_yaxis()
    axis.axvline(1, color="black", linewidth=0.6)
    if families:
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.04), ncol=len(families), frameon=False)


def lines(axis, cases, along, value, title, logarithmic):
    axis.set_title(title)
    for family in COLORS:
        points = [(labels[along], value(best[family])) for labels, best in cases if family in best]
        if points:
            axis.plot(*zip(*points), marker="o", markersize=3, label=TITLES[family], color=COLORS[family])
    axis.set_xlabel({"count": "values"}.get(along, along))
    if logarithmic:
        axis.set_xscale("log")
        axis.set_yscale("log")
    else:
        axis.set_ylim(bottom=0)
        axis.set_xticks([labels[along] for labels, _ in cases])
    if cases:
        axis.legend()
