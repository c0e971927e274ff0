#!/usr/bin/env python3
"""The dependency rule again, by what is linked: whose functions and data each folder of src/ uses.

Of another backend it may use its table of functions (tally__backend, tally__platform) and the public interface. Prints
what breaks the rule; exit status 1 if anything does.

    tools/check_symbols.py BUILD
"""

import pathlib
import re
import subprocess
import sys

from check_layers import RULES, part_of

OPEN_TO_ALL = re.compile(r"^(tally__(cpu|reference|cuda|simt)_backend|tally__(nvidia|simt)_platform|tally_[a-z]\w*)$")


def symbols(objects):
    """Of each object file: the names that it defines for others, and those that it uses."""
    out = subprocess.run(["nm", "-g", *objects], capture_output=True, text=True, check=True).stdout
    file, defines, uses = str(objects[0]), {}, {}
    for line in out.splitlines():
        if line.endswith(":"):
            file = line[:-1]
            continue
        words = line.split()
        if len(words) >= 2:
            (uses if words[-2] in "Uw" else defines).setdefault(words[-1], set()).add(file)
    return defines, uses


def main():
    build = pathlib.Path(sys.argv[1])
    folder = build / "CMakeFiles" / "tally_objects.dir"
    objects = sorted(str(path) for path in folder.glob("src/**/*.o"))
    if not objects:
        print(f"there are no objects of src/ in {folder}: build the library first", file=sys.stderr)
        return 2
    defines, uses = symbols(objects)
    broken = set()
    for name, users in uses.items():
        for user in users:
            here = part_of(pathlib.Path(user).relative_to(folder).as_posix())
            for definer in defines.get(name, ()):
                there = part_of(pathlib.Path(definer).relative_to(folder).as_posix())
                if there not in RULES[here] and not OPEN_TO_ALL.match(name):
                    broken.add(f"{pathlib.Path(user).relative_to(folder)}: {here} may not use {name} of {there}")
    print(*sorted(broken), f"symbols: {len(objects)} objects, {len(broken)} broken rules", sep="\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
