#!/usr/bin/env python3
"""The dependency rule again, by what is linked: whose functions and data each folder of src/ uses.

Of another backend it may use its table of functions (tally__backend, tally__platform) and the public interface. Files
use one another in one direction, too: no file uses a file that uses it, directly or through others. Prints what breaks
the rules; exit status 1 if anything does.

    tools/check_symbols.py BUILD
"""

import graphlib
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


def source_of(folder, object):
    return pathlib.Path(object).relative_to(folder).as_posix().removesuffix(".o")


def circles(used_by):
    """used_by[file][other]: a name of the other that the file uses. The first circle of files, as a sentence."""
    try:
        graphlib.TopologicalSorter(used_by).prepare()
    except graphlib.CycleError as error:
        files = error.args[1][::-1]
        steps = [f"{file} uses {used_by[file][other]} of {other}" for file, other in zip(files, files[1:])]
        return {"a circle: " + ", ".join(steps)}
    return set()


def main():
    build = pathlib.Path(sys.argv[1])
    folder = build / "CMakeFiles" / "tally_objects.dir"
    objects = sorted(str(path) for path in folder.glob("src/**/*.o"))
    if not objects:
        print(f"there are no objects of src/ in {folder}: build the library first", file=sys.stderr)
        return 2
    defines, uses = symbols(objects)
    broken, used_by = set(), {}
    for name, users in uses.items():
        for user in (source_of(folder, object) for object in users):
            for definer in (source_of(folder, object) for object in defines.get(name, ())):
                here, there = part_of(user), part_of(definer)
                if there not in RULES[here] and not OPEN_TO_ALL.match(name):
                    broken.add(f"{user}: {here} may not use {name} of {there}")
                if user != definer:
                    used_by.setdefault(user, {}).setdefault(definer, name)
    broken |= circles(used_by)
    print(*sorted(broken), f"symbols: {len(objects)} objects, {len(broken)} broken rules", sep="\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
