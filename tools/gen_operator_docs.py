#!/usr/bin/env python3
"""Writes what include/tally/tables.h says into docs/operators.md, between its markers; the rest of that page is by hand.

    tools/gen_operator_docs.py           rewrites the generated parts
    tools/gen_operator_docs.py --check   exit status 1, and a sentence, if a part is stale, or a page has no rule for an operator
"""
import pathlib
import re
import sys

from tables import CONSTANTS, mask, rows

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "operators.md"

ORDER = {"TALLY_ORDER_FREE": "free", "TALLY_ORDER_FREE_INTS": "free for integers", "TALLY_ORDER_FIXED": "fixed"}
EMPTY = {"TALLY_EMPTY_IS_IDENTITY": "a result", "TALLY_EMPTY_IS_REFUSED": "`TALLY_EMPTY`"}
NANS = {"TALLY_NANS_PLAIN": "propagate, skip", "TALLY_NANS_ORDER": "propagate, skip, total"}
KINDS = [("bool", 1), ("integers", 6), ("signed integers", 2), ("unsigned integers", 4), ("floats", 8)]
NARROW = ("f16", "bf16", "f32")

# Sections in which every operator must have a rule, and how a name is written there.
RULED = [("operators.md", "What each one computes", "`%s`"), ("operators.md", "Empty input", "`%s`"), ("operators.md", "NaN", "`%s`"),
         ("order.md", "What is combined", "%s"), ("states.md", "Layout", "%s")]


def types_of(words):
    """The mask of a row in words."""
    left = mask(words)
    if left == CONSTANTS["TALLY_ON_ALL"]:
        return "all"
    names = []
    for name, bits in KINDS:
        if left & bits == bits:
            names.append(name)
            left &= ~bits
    return ", ".join(names)


def result(gives, name, kind):
    """The words for the result type of an input type."""
    wide = {"TALLY_CLASS_FLOAT": "f32" if name in NARROW else "f64", "TALLY_CLASS_UINT": "u64"}.get(kind, "i64")
    floats = kind == "TALLY_CLASS_FLOAT"
    return {"TALLY_GIVES_WIDE": wide, "TALLY_GIVES_SAME": name, "TALLY_GIVES_INDEX": "i64", "TALLY_GIVES_TRUTH": "bool",
            "TALLY_GIVES_REAL": wide if floats else "f64", "TALLY_GIVES_MAGNITUDE": wide if floats else "u64",
            "TALLY_GIVES_PAIR": f"2 x {name}", "TALLY_GIVES_STATS": "`tally_stats`"}[gives]


def table(head, body):
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def operators():
    return table(["operator", "what it gives", "arrays", "types", "order", "empty input", "NaN policies"],
                 [[f"`{name}`", what, inputs, types_of(on), ORDER[order], EMPTY[empty], NANS[nans]]
                  for _, name, _, inputs, on, _, order, empty, nans, what in rows("TALLY_OPERATORS")])


def results():
    groups = {}
    for _, name, _, _, on, gives, *_ in rows("TALLY_OPERATORS"):
        groups.setdefault((gives, mask(on)), []).append(f"`{name}`")
    types = [(name, kind) for _, name, _, _, kind in rows("TALLY_TYPES")]
    body = []
    for (gives, on), names in groups.items():
        cells = [result(gives, name, kind) if mask(kind) & on else "" for name, kind in types]
        body.append([", ".join(names), *cells])
    return table(["operators", *(name for name, _ in types)], body)


def types():
    return table(["type", "bytes", "NumPy", "values in a leaf"],
                 [[f"`{name}`", size, "`" + numpy.lstrip("<|") + "`" if numpy else "none; `uint16` holds its bits", str(4096 // int(size))]
                  for _, name, numpy, size, _ in rows("TALLY_TYPES")])


def statuses():
    return table(["status", "number", "meaning"],
                 [[f"`TALLY_{name}`", number, sentence] for name, number, sentence in rows("TALLY_STATUSES")])


def made(page):
    for name, make in (("operators", operators), ("results", results), ("types", types), ("statuses", statuses)):
        part = re.compile(rf"(<!-- made from tables\.h: {name} -->\n).*?(<!-- end -->)", re.S)
        if len(part.findall(page)) != 1:
            sys.exit(f"{PAGE}: it needs one part between '<!-- made from tables.h: {name} -->' and '<!-- end -->'")
        page = part.sub(lambda match: match.group(1) + make() + "\n" + match.group(2), page)
    return page


def unruled():
    """Operators that a section of rules does not name."""
    for page, title, name in RULED:
        text = (PAGE.parent / page).read_text()
        section = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
        if section is None:
            yield f"docs/{page}: there is no section '{title}'"
            continue
        for row in rows("TALLY_OPERATORS"):
            if not re.search(rf"(?<!\w){re.escape(name % row[1])}(?!\w)", section.group(1)):
                yield f"docs/{page}: '{title}' says nothing of {row[1]}"


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    page = PAGE.read_text()
    fresh = made(page)
    faults = list(unruled())
    if arguments == ["--check"]:
        if fresh != page:
            faults.append("docs/operators.md is stale: run make generated, or tools/gen_operator_docs.py alone")
    elif fresh != page:
        PAGE.write_text(fresh)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
