#!/usr/bin/env python3
"""The dependency rule: which part of the tree may include which; and that kernels ask kernels/policy.h what they do,
not which names are defined. Prints what breaks the rules; exit status 1 if anything does.

    tools/check_layers.py [ROOT]
"""
import pathlib
import re
import sys

# Part -> the parts its files may include. A file belongs to the longest part its path begins with. Tests may see all.
MAY_INCLUDE = {
    "include": {"include"},
    "kernels": {"kernels"},
    "src": {"src", "kernels", "include"},
    "src/text": {"src/text"},
    "src/cpu": {"src/cpu", "src", "kernels", "include"},
    "src/merge": {"src/merge", "src/cpu", "src", "kernels", "include"},  # of src/cpu its instruction sets
    "src/cuda": {"src/cuda", "src/text", "src", "kernels", "include"},
    "src/simt": {
        "src/simt",
        "src/cuda",
        "src",
        "kernels",
        "include",
    },  # of src/cuda the headers: the platform it stands in for
    "src/simt/kernels": {
        "src/simt/kernels",
        "src/simt",
        "src",
        "kernels",
        "include",
    },  # a library of its own: the machine does not see it
    "src/ref": {"src/ref", "src", "kernels", "include"},
    "src/mpi": {"src/mpi", "include"},  # a library of its own, on the public interface
    "gallery/kernels": {"gallery/kernels", "kernels"},
    "gallery/host": {
        "gallery/host",
        "gallery/kernels",
        "src/simt",
        "src/cuda",
        "src",
        "kernels",
        "include",
    },  # runs kernels as backends do
    "cli": {"cli", "include"},
    "python": {"python", "include"},
    "bench": {"bench", "include"},
    "examples": {"examples", "include"},
}
# The same within the command, of which the gallery has a part; and its exercises, which are compiled by who does them.
WITHIN_CLI = {
    "cli": {"cli", "cli/base", "cli/formats", "cli/input", "cli/output", "cli/commands", "include"},
    "cli/base": {"cli/base"},
    "cli/formats": {"cli/formats", "include"},
    "cli/input": {"cli/input", "cli/formats", "cli/base", "include"},
    "cli/output": {"cli/output", "cli/formats", "cli/base", "include"},
    "cli/commands": {"cli/commands", "cli", "cli/input", "cli/output", "cli/formats", "cli/base", "include"},
    "gallery/exercises": {"gallery/exercises", "gallery/kernels"},
    "gallery/command": {
        "gallery/command",
        "gallery/kernels",
        "cli/commands",
        "cli",
        "cli/input",
        "cli/output",
        "cli/formats",
        "cli/base",
        "include",
    },
}
RULES = {**MAY_INCLUDE, **WITHIN_CLI}
# Device code compiled for the simulator finds its words there; for a GPU it is never read. The command knows the
# gallery by one header, which knows its host side by one.
EXCEPTIONS = {
    ("kernels/device/device.h", "src/simt/device.h"),
    ("cli/main.c", "gallery/command/gallery.h"),
    ("gallery/command/gallery.h", "gallery/host/gallery.h"),
}
INCLUDE_PATH = ["include", "src", "kernels", "cli", "."]  # as in CMakeLists.txt
GENERATED = {"kernel_list.h", "operator_guards.h"}
PUBLIC_NEEDS = {"stddef.h", "stdint.h"}  # all the public headers ask of a C library
MAY_NEED = {"include/tally/tally_mpi.h": {"mpi.h"}}  # and this one of another
# Kernels ask whether a name is defined in policy.h alone, and before #error. Elsewhere a switch is 0 or 1, read with
# #if. kernels/device may ask which compiler reads it, by the compiler's names, and sets what is not given:
POLICY = "kernels/policy.h"
GIVEN = {
    "TALLY_LOG_FAN",  # by a build for tests (CONTRIBUTING.md)
    "TALLY_LOG_CHUNK_FAN",
    "TALLY_FEWER",  # by the host, which compiles again if registers spill (src/cuda/compiler.c)
    "TALLY_LANE_AGAIN",  # by the text of a form, before all else (kernels/production/segments/segments.h)
    "TALLY_HAS_FMA",  # by src/cpu/target.h for the instruction set of a unit
    "TALLY_ON_GPU",  # by src/simt/kernels/instances.h for the simulator
}
ASKS = re.compile(r"^\s*#\s*(?:ifdef|ifndef|(?:el)?if\b.*\bdefined\b)")
NAMES = re.compile(r"(?:#\s*ifn?def|\bdefined)\s*\(?\s*(\w+)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def part_of(path):
    return max((part for part in RULES if path.startswith(part + "/")), key=len, default=None)


def find(root, file, name):
    for folder in [file.parent] + [root / folder for folder in INCLUDE_PATH]:
        if (folder / name).is_file():
            return (folder / name).resolve().relative_to(root).as_posix()
    return None


def broken_rules(root, file):
    name_here = file.relative_to(root).as_posix()
    here = part_of(name_here)
    for number, line in enumerate(file.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        bracket, name = match.groups()
        target = find(root, file, name)
        where = f"{file.relative_to(root)}:{number}"
        if target:
            there = part_of(target)
            if there not in RULES[here] and (name_here, target) not in EXCEPTIONS:
                yield f"{where}: {here} may not include {target}"
        elif bracket == '"' and name not in GENERATED:
            yield f'{where}: "{name}" is not in the tree; write <{name}> if it belongs to the system'
        elif here == "include" and name not in PUBLIC_NEEDS | MAY_NEED.get(name_here, set()):
            yield f"{where}: a public header may only need {', '.join(sorted(PUBLIC_NEEDS))}"


def directives(lines):
    """Each directive and where it stands, with the lines that a backslash joins to it."""
    number = 0
    while number < len(lines):
        first, text = number, lines[number]
        while text.endswith("\\") and number + 1 < len(lines):
            number += 1
            text = text[:-1] + lines[number]
        number += 1
        if text.lstrip().startswith("#"):
            yield first + 1, text, lines[number] if number < len(lines) else ""


def broken_switches(root, file):
    here = file.relative_to(root).as_posix()
    if not here.startswith("kernels/") or here == POLICY:
        return
    for number, text, next_line in directives(file.read_text().splitlines()):
        if not ASKS.match(text) or re.match(r"\s*#\s*error\b", next_line):
            continue
        names = NAMES.findall(text)
        is_guard = names[0].endswith("_H") and next_line.split()[:2] == ["#define", names[0]]
        in_device = here.startswith("kernels/device/")
        if not is_guard and not (in_device and all(name in GIVEN or name.startswith("__") for name in names)):
            yield f"{here}:{number}: whether {', '.join(names)} is defined is for {POLICY} to ask"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    files = [
        file
        for top in sorted({part.split("/")[0] for part in RULES})
        for file in sorted((root / top).rglob("*"))
        if file.suffix in {".c", ".h", ".cpp", ".def"}
    ]
    broken = [rule for file in files for check in (broken_rules, broken_switches) for rule in check(root, file)]
    print(*broken, f"layers: {len(files)} files, {len(broken)} broken rules", sep="\n")
    return 1 if broken or not files else 0


if __name__ == "__main__":
    sys.exit(main())
