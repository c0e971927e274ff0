"""The goals of the GPU's matrix: the least share of the plain read that a cell should have."""

import re

BYTES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i16": 2, "u8": 1, "bool": 1}
HARD = {"wide", "any bits", "subnormal"}  # data, as in bench/cells/axes.py
PLAIN_SUMS = {"sum", "mean", "norm1", "dot"}
COSTLY = {"var", "std", "stats", "logsumexp"}
ROWS = re.compile(r"\d+ rows|rows of|first x|middle|\d+ x rest")
LONG = re.compile(r"whole|one|four|100 long|each")  # segmentations of one length, or of a few long segments

EXACT_HARD = {"sums": 0.07, "others": 0.04}
EXACT_HALVES = {"sums": 0.45, "others": 0.25}  # of 2-byte types
EXACT = {"sums": 0.6, "long sums": 0.85, "others": 0.4, "short others": 0.25, "stats": 0.25}
FAST = {"cheap": 0.65, "cheap rows": 0.85, "arg": 0.55, "costly": 0.25}  # half of it for types of 1 and 2 bytes
LONG_VALUES, SHORT_VALUES, ROW_VALUES = 1000, 8, 64

SENTENCE = (
    f"Goals, exact: sums {EXACT['sums']}, long ones {EXACT['long sums']}, others {EXACT['others']}, short ones of "
    f"these and stats {EXACT['stats']}; of 2-byte types {EXACT_HALVES['sums']} and {EXACT_HALVES['others']}, of hard "
    f"data {EXACT_HARD['sums']} and {EXACT_HARD['others']}. Fast, and what has no choice: {FAST['cheap']}, rows "
    f"{FAST['cheap rows']}, arg {FAST['arg']}, variances and logsumexp {FAST['costly']}; of narrow types half."
)


def length(record):
    return record["values"] / max(1, record["segments"])


def exact_goal(record):
    kind = "sums" if record["op"] in PLAIN_SUMS else "others"
    if record["data"] in HARD:
        return EXACT_HARD[kind]
    if BYTES[record["type"]] == 2:
        return EXACT_HALVES[kind]
    if record["op"] == "stats":
        return EXACT["stats"]
    if kind == "others":
        return EXACT["others" if length(record) >= SHORT_VALUES else "short others"]
    name = record["segmentation"]
    is_long = length(record) >= LONG_VALUES and (LONG.match(name) or (ROWS.match(name) and "first" not in name))
    return EXACT["long sums" if is_long else "sums"]


def fast_goal(record):
    if record["op"] in COSTLY:
        share = FAST["costly"]
    elif record["op"].startswith("arg"):
        share = FAST["arg"]
    else:
        is_rows = ROWS.match(record["segmentation"]) and length(record) >= ROW_VALUES
        share = FAST["cheap rows" if is_rows else "cheap"]
    return share if BYTES[record["type"]] >= 4 else share / 2


def goal(record):
    return exact_goal(record) if record["accuracy"] == "exact" else fast_goal(record)
