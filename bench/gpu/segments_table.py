#!/usr/bin/env python3
"""What bench_segments and torch_segments.py measured, as a table: a row for each contender, the share of the plain pass for each cut."""

import json
import sys

rows, cuts = {}, []
for line in open(sys.argv[1]):
    one = json.loads(line)
    key = " ".join(one[k] for k in ("who", "op", "type", "form"))
    rows.setdefault(key, {})[one["segments"]] = one
    if one["segments"] not in cuts:
        cuts.append(one["segments"])
print("| | " + " | ".join(cuts) + " |\n| --- |" + " ---: |" * len(cuts))
for key, row in rows.items():
    cells = []
    for cut in cuts:
        one = row.get(cut)
        if one is None or one["us"] < 0:
            cells.append("")
        elif key.startswith("plain"):
            cells.append("%.0f GB/s" % one["gbps"])
        else:
            cells.append("%.3f%s" % (one["share"], " WRONG" if one["note"].startswith("OTHER") else ""))
    print("| %s | %s |" % (key, " | ".join(cells)))
for key, row in rows.items():
    for cut, one in row.items():
        if one["note"]:
            print("%s, %s: %s" % (key, cut, one["note"]))
