"""docs/speed.svg: segments on a GPU, Tally beside CUB, by the distribution of their lengths."""

BARS = [
    ("tally exact", "offsets i32", "#0b6e4f", "Tally (exact)"),
    ("tally", "offsets i32", "#6bbf9c", "Tally fast"),
    ("CUB ReduceByKey", "segment ids i32", "#e9c46a", "CUB ReduceByKey"),
    ("CUB DeviceSegmentedReduce", "offsets i32", "#d98e04", "CUB DeviceSegmentedReduce"),
]


def draw(by, distributions):
    """The chart as SVG. by[contender, operator, type, form][distribution]: a share. distributions: {name: title}."""
    width, height, left, top = 900, 300, 50, 60
    step, scale = (width - left - 10) / len(distributions), 200 / 1.1
    bottom = top + 200
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{left}" y="20" font-size="15">Sum of 2^28 f32 in segments on an H200: share of a plain pass '
        f"over as many bytes</text>",
    ]
    for k, (_, _, color, caption) in enumerate(BARS):
        x = left + 190 * k
        out.append(
            f'<rect x="{x}" y="32" width="12" height="12" fill="{color}"/><text x="{x + 18}" y="43">{caption}</text>'
        )
    for share in (0, 0.5, 1):
        y = bottom - share * scale
        out.append(
            f'<line x1="{left}" y1="{y:.1f}" x2="{width - 10}" y2="{y:.1f}" stroke="#ccc"/><text x="{left - 8}" '
            f'y="{y + 4:.1f}" text-anchor="end">{share}</text>'
        )
    for i, (distribution, title) in enumerate(distributions.items()):
        x = left + i * step
        for k, (who, form, color, _) in enumerate(BARS):
            share = by[who, "sum", "f32", form][distribution]
            out.append(
                f'<rect x="{x + 8 + k * 18:.1f}" y="{bottom - share * scale:.1f}" width="16" '
                f'height="{share * scale:.1f}" fill="{color}"><title>{title}: {share:.3f}</title></rect>'
            )
        out.append(f'<text x="{x + step / 2:.1f}" y="{bottom + 18}" text-anchor="middle">{title}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"
