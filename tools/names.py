#!/usr/bin/env python3
"""tools/names.py [NAME...]: writes the list of src/names.h anew, and the guards of src/instance.h.

Listed are the functions, types and constants of the headers that a unit of C includes once for each type, and NAMEs:
those that macros make, which are not found here. What no header says any more is left out. --check: only sees that
nothing is missing and nothing is left over.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMES, INSTANCE = ROOT / "src/names.h", ROOT / "src/instance.h"
SUFFIXES = ["", "2", "_aim", "_t", "2_t", "_aim_t"]  # that templates give to what they define
# Definitions begin in the first column: the text is formatted.
DEFINITIONS = [
    r"^(?:TALLY_(?:FN|ONCE|LONG|RARE|INLINE)|static)\b[^;={}]*?\b(\w+)\s*\([^;{]*\)\s*\{",
    r"^\} (\w+);",
    r"^typedef [^{;]*?\b(\w+)(?:\[[^;]*\])?;",
]
CONSTANTS = r"^enum(?: \w+)? \{(.*?)\}"


def definitions(text):
    """The plain names that a header defines."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = {name for pattern in DEFINITIONS for name in re.findall(pattern, text, re.M)}
    for constants in re.findall(CONSTANTS, text, re.M | re.S):
        found |= set(re.findall(r"(?:^|,)\s*(\w+)", constants))
    return {name for name in found if name[0].islower() and not name.startswith("tally_")}


def guard_of(text):
    guard = re.search(r"^#ifndef (\w+_H)$", text, re.M)
    return guard[1] if guard else None


def is_said(name, words):
    return any(name.endswith(suffix) and name[: len(name) - len(suffix)] in words for suffix in SUFFIXES)


def with_list(text, pattern, lines):
    """The text with these lines in the place of those of the pattern."""
    places = list(re.finditer(pattern, text, re.M))
    return text[: places[0].start()] + "".join(lines) + text[places[-1].end() :]


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    names, instance = NAMES.read_text(), INSTANCE.read_text()
    listed = set(re.findall(r"^#define (\w+) TALLY_N\(\1\)$", names, re.M))
    guards = set(re.findall(r"^#undef (\w+_H)$", instance, re.M))
    headers = [path for folder in ("kernels", "src", "gallery") for path in (ROOT / folder).rglob("*.h")]
    headers = [path for path in headers if path not in (NAMES, ROOT / "kernels/device/nvrtc.h")]
    texts = [path.read_text() for path in headers]
    of_operators = [path.parent.name in ("operators", "exact") for path in headers]  # CMake has their guards
    for path, text, is_operator in zip(headers, texts, of_operators):
        if path.is_relative_to(ROOT / "kernels") and not is_operator and definitions(text):
            guards.add(guard_of(text))
    guards &= {guard_of(text) for text in texts}
    words = set(re.findall(r"\w+", " ".join(texts)))
    wanted = {name for name in listed | set(arguments) if is_said(name, words)}
    for text, is_operator in zip(texts, of_operators):
        if is_operator or guard_of(text) in guards:
            wanted |= definitions(text)
    lines = [f"#define {name} TALLY_N({name})\n" for name in sorted(wanted, key=lambda name: (name.lower(), name))]
    new = {
        NAMES: with_list(names, r"^#define (\w+) TALLY_N\(\1\)\n", lines),
        INSTANCE: with_list(instance, r"^#undef \w+_H\n", [f"#undef {guard}\n" for guard in sorted(guards)]),
    }
    old = {NAMES: names, INSTANCE: instance}
    stale = [path for path in new if new[path] != old[path]]
    if "--check" not in sys.argv:
        for path in stale:
            path.write_text(new[path])
        return 0
    for path in stale:
        differ = set(new[path].split("\n")) ^ set(old[path].split("\n"))
        words = sorted({line.split()[1] for line in differ if line})
        print(f"{path.relative_to(ROOT)}: {' '.join(words[:9]) or 'its order'}: run tools/names.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
