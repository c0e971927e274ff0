#!/usr/bin/env python3
"""Writes what include/tally/tables.h and the operators' files say into docs/operators.md, order.md and states.md.

Parts between markers are made of tables.h. Rules of an operator are rows in tables of those pages: written by hand for
the operators that share a row, and copied from the operator's file where its first comment has them:

    /* range: the largest value minus the smallest.
     *
     * Rule: In f32, or of f64 in f64; of integers the true difference.
     * Empty: floats NaN; integers 0
     * NaN: NaN | left out
     * Node: K of the smallest, K of the largest
     */

An operator whose order shows also has "Order: column | above | result".

    tools/gen_operator_docs.py           rewrites the generated parts
    tools/gen_operator_docs.py --check   exit status 1, and a sentence, if a part is stale, or a page has no rule for an
    operator
"""
import pathlib
import re
import sys
import textwrap

from tables import CONSTANTS, mask, rows

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

ORDER = {"TALLY_ORDER_FREE": "free", "TALLY_ORDER_FREE_INTS": "free for integers", "TALLY_ORDER_FIXED": "fixed"}
EMPTY = {"TALLY_EMPTY_IS_IDENTITY": "a result", "TALLY_EMPTY_IS_REFUSED": "`TALLY_EMPTY`"}
NANS = {"TALLY_NANS_PLAIN": "propagate, skip", "TALLY_NANS_ORDER": "propagate, skip, total"}
KINDS = [("bool", 1), ("integers", 6), ("signed integers", 2), ("unsigned integers", 4), ("floats", 8)]
NARROW = ("f16", "bf16", "f32")

# Sections in which every operator must have a rule: the word of the rule in an operator's file, the page, the section,
# how a name is written there, and how the table with the rules begins.
RULED = [
    ("Rule", "operators.md", "What each one computes", "`%s`", "| operators | rule |"),
    ("Empty", "operators.md", "Empty input", "`%s`", "| operators | status | what is written |"),
    ("NaN", "operators.md", "NaN", "`%s`", "| operators | `propagate` | `skip` | `total` |"),
    ("Order", "order.md", "What is combined", "%s", "| operator | column | above | result |"),
    ("Node", "states.md", "Layout", "%s", "| operators | fields |"),
]


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
    return {"TALLY_GIVES_WIDE": wide, "TALLY_GIVES_SAME": name, "TALLY_GIVES_INDEX": "i64",
            "TALLY_GIVES_COUNT": "i64", "TALLY_GIVES_TRUTH": "bool",
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
    types = [(name, kind) for _, name, _, _, kind in rows("TALLY_TYPES")]
    groups = {}  # by their cells
    for _, name, _, _, on, gives, *_ in rows("TALLY_OPERATORS"):
        cells = tuple(result(gives, name, kind) if mask(kind) & mask(on) else "" for name, kind in types)
        groups.setdefault(cells, []).append(f"`{name}`")
    body = [[", ".join(names), *cells] for cells, names in groups.items()]
    return table(["operators", *(name for name, _ in types)], body)


def types():
    return table(
        ["type", "bytes", "NumPy", "values in a leaf"],
        [
            [
                f"`{name}`",
                size,
                "`" + numpy.lstrip("<|") + "`" if numpy else "none; `uint16` holds its bits",
                str(4096 // int(size)),
            ]
            for _, name, numpy, size, _ in rows("TALLY_TYPES")
        ],
    )


def statuses():
    return table(["status", "number", "meaning"],
                 [[f"`TALLY_{name}`", number, sentence] for name, number, sentence in rows("TALLY_STATUSES")])


def order_free():
    """The operators whose order never shows."""
    names = [row[1] for row in rows("TALLY_OPERATORS") if row[6] == "TALLY_ORDER_FREE"]
    return textwrap.fill("For every type: " + ", ".join(names[:-1]) + f" and {names[-1]}.", 120)


PARTS = {
    "operators.md": {"operators": operators, "results": results, "types": types, "statuses": statuses},
    "order.md": {"order-free": order_free},
    "states.md": {},
}


def with_parts(name, page):
    for part_name, make in PARTS[name].items():
        part = re.compile(rf"(<!-- made from tables\.h: {part_name} -->\n).*?(<!-- end -->)", re.S)
        if len(part.findall(page)) != 1:
            sys.exit(f"{name}: it needs one part between '<!-- made from tables.h: {part_name} -->' and '<!-- end -->'")
        page = part.sub(lambda match: match.group(1) + make() + "\n" + match.group(2), page)
    return page


def rules_of(kernel):
    """The rules in the first comment of an operator's file, by their words."""
    comment = re.match(r"/\*(.*?)\*/", (ROOT / "kernels" / "operators" / f"{kernel}.h").read_text(), re.S).group(1)
    lines = [re.sub(r"^ \* ?", "", line).rstrip() for line in comment.split("\n")]
    rules, word = {}, None
    for line in lines[1:]:
        match = re.match(rf"({'|'.join(rule[0] for rule in RULED)}): (.*)", line)
        if match:
            word = match.group(1)
            rules[word] = match.group(2)
        elif word and line.strip():
            rules[word] += " " + line.strip()
        else:
            word = None
    return rules


def cells(row, word, rule):
    """A rule as the cells of its table's row, behind the name."""
    parts = [part.strip() for part in rule.split(" | ")]
    if word == "Empty":
        return ["`TALLY_EMPTY`" if row[7] == "TALLY_EMPTY_IS_REFUSED" else "`TALLY_OK`", *parts]
    return parts + [""] * (3 - len(parts)) if word == "NaN" else parts


def with_rules(name, page):
    """The page with a row for each operator whose file has the rule, at the end of the rule's table."""
    for word, of_page, title, form, head in RULED:
        for row in rows("TALLY_OPERATORS") if of_page == name else []:
            rule = rules_of(row[2]).get(word)
            if rule is None:
                continue
            line = "| " + " | ".join([form % row[1], *cells(row, word, rule)]) + " |"
            begin = page.index(head, page.index(f"## {title}\n"))
            end = page.index("\n\n", begin)
            others = [old for old in page[begin:end].split("\n") if not old.startswith(f"| {form % row[1]} |")]
            page = page[:begin] + "\n".join([*others, line]) + page[end:]
    return page


def unruled(pages):
    """Operators that a section of rules does not name."""
    for word, page, title, name, _ in RULED:
        section = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", pages[page], re.M | re.S)
        if section is None:
            yield f"docs/{page}: there is no section '{title}'"
            continue
        for row in rows("TALLY_OPERATORS"):
            if not re.search(rf"(?<!\w){re.escape(name % row[1])}(?!\w)", section.group(1)):
                wanted = f"kernels/operators/{row[2]}.h needs a line '{word}: ...', then make generated"
                yield f"docs/{page}: '{title}' says nothing of {row[1]}: {wanted}"


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    pages, faults = {}, []
    for name in PARTS:
        page = (DOCS / name).read_text()
        pages[name] = with_rules(name, with_parts(name, page))
        if pages[name] != page and arguments == ["--check"]:
            faults.append(f"docs/{name} is stale: run make generated, or tools/gen_operator_docs.py alone")
        elif pages[name] != page:
            (DOCS / name).write_text(pages[name])
    faults += unruled(pages)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
