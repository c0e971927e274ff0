#!/usr/bin/env python3
"""PyTorch's segment_reduce over the cuts of bench_segments.cu, in its lines of JSON; the share is of a read of as many bytes by torch.sum."""

import json
import statistics
import sys

import torch

LOG2 = 28
CUTS = ["one", "10 to 50", "=3", "=1", "80% empty", "=4096", "=300"]


def lengths_of(name, values):
    torch.manual_seed(7)
    if name == "one":
        return torch.tensor([values])
    if name.startswith("="):
        each = int(name[1:])
        lengths = torch.full((-(-values // each),), each)
    elif name == "10 to 50":
        lengths = torch.randint(10, 51, (values // 10,))
    else:
        lengths = torch.randint(1, 64, (values // 4,)) * (torch.rand(values // 4) < 0.2)
    ends = torch.cumsum(lengths, 0).clamp(max=values)
    ends = ends[: int(torch.searchsorted(ends, torch.tensor(values))) + 1]
    return torch.diff(ends, prepend=torch.tensor([0]))


def seconds_of(call, rounds):
    call()
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3)
    return statistics.median(times)


def main():
    values = 1 << LOG2
    x = torch.randn(values, device="cuda")
    plain = seconds_of(lambda: torch.sum(x), 5) / (4 * values)
    for name in CUTS:
        lengths = lengths_of(name, values)
        offsets = torch.cat([torch.tensor([0]), torch.cumsum(lengths, 0)]).cuda()
        seconds = seconds_of(lambda: torch.segment_reduce(x, "sum", offsets=offsets), 3)
        count = len(lengths)
        size = 4 * values + 12 * count
        print(json.dumps({"segments": name, "who": "PyTorch segment_reduce", "op": "sum", "type": "f32", "form": "offsets i64", "values": values,
                          "count": count, "bytes": size, "us": seconds * 1e6, "gbps": size / seconds * 1e-9, "share": plain * size / seconds,
                          "note": ""}))
        sys.stdout.flush()
        del offsets


if __name__ == "__main__":
    main()
